//! One step of an episode: its events applied to the snapshot before, and what the controller then does.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use helm_render_predictor::flux::cycle::{Cycle, Requeue};
use helm_render_predictor::plan::settle::{Settled, retried, settle};
use helm_render_predictor::report::contract::ReleaseRef;
use libtest_mimic::Failed;
use serde_json::Value as Json;

use crate::before::rewind;
use crate::episode::Episode;
use crate::events::{Seen, same_events};
use crate::exempt::{Exemption, reason};
use crate::given::{Recorded, as_stored, given_sources, spelled_anew};
use crate::hand::{cut_off, run_helm, stops};
use crate::revisions::same_digests;
use crate::status::Judge;
use crate::tally::TALLY;
use crate::timing::{interrupts, ran, runs_before_event, stamp_conditions, ticks};
use crate::write::{apply_event, patches_nothing, releases};

impl Episode {
    /// Compares every step.
    pub fn check(&self, exempt: &[Exemption]) -> Result<(), Failed> {
        let mut wrong = Vec::new();
        let steps = self.json["steps"].as_array().ok_or("no steps")?;
        for step in steps {
            let number = step["step"].as_u64().ok_or("a step without number")?;
            let title = step["title"].as_str().unwrap_or_default();
            // A step that breaks the harness does not hide the others.
            let judged = catch_unwind(AssertUnwindSafe(|| self.judge(step, number)));
            let problems = judged.unwrap_or_else(|panic| {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                vec![format!("panic: {}", text.unwrap_or_default())]
            });
            TALLY.judged();
            for problem in problems {
                match reason(exempt, &self.name, number, &problem) {
                    Some(why) => TALLY.exempted(format!("{} step {number}: {why}", self.name)),
                    None => wrong.push(format!("step {number} ({title}): {problem}")),
                }
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
    }

    /// What differs in a step.
    fn judge(&self, step: &Json, number: u64) -> Vec<String> {
        let digests = || same_digests(&self.snapshot(number)?, &self.settings_at(number)?);
        // Nothing binds the digests of payloads that somebody edited.
        let digests = if self.edits_storage(number) { Ok(()) } else { digests() };
        let message = |problem: Failed| problem.message().unwrap_or_default().to_owned();
        let digests = digests.err().map(message).into_iter();
        match self.step(step, number) {
            Ok(problems) => digests.chain(problems).collect(),
            Err(problem) => digests.chain([message(problem)]).collect(),
        }
    }

    fn step(&self, step: &Json, number: u64) -> Result<Vec<String>, Failed> {
        let mut cluster = self.before(number)?;
        let after = self.snapshot(number)?;
        cluster.coverage.namespaces.extend(after.coverage.namespaces.clone());
        let mut triggered = BTreeSet::new();
        let mut applied = self.applied_before(number);
        let settings = self.settings_at(number)?;
        let stamps = |event: &Json| {
            let patch = &event["patch"];
            let stamp = &patch["patch"]["metadata"]["annotations"]["reconcile.fluxcd.io/requestedAt"];
            (patch["kind"] == "HelmRelease" && stamp.is_string()).then(|| patch["metadata"]["name"].clone())
        };
        let place = format!("{} step {number}", self.name);
        let begun = rewind(&mut cluster, &after);
        let mut fate = Recorded {
            place,
            step,
            after: &after,
            begun,
            early: true,
            stopped: stops(step),
            unloaded: BTreeMap::new(),
        };
        let mut settled = Settled::default();
        let events = step["event"].as_array().ok_or("a step without event")?;
        let mut early = runs_before_event(step, &cluster);
        early.extend(fate.begun.keys().cloned());
        early.sort();
        early.dedup();
        if !early.is_empty() {
            settled.extend(settle(&mut cluster, &self.charts(number - 1)?, &settings, &early, &mut fate));
        }
        fate.early = false;
        let (first, early) = (cluster.clone(), settled.runs.len());
        let retrying: BTreeSet<ReleaseRef> = retried(&cluster).into_iter().collect();
        for (at, event) in events.iter().enumerate() {
            let interrupts = interrupts(&cluster, step, event);
            let begun = cluster.clone();
            if interrupts {
                let mut now: BTreeSet<ReleaseRef> = std::mem::take(&mut triggered);
                now.extend(retried(&cluster));
                let now: Vec<ReleaseRef> = now.into_iter().collect();
                settled.extend(settle(&mut cluster, &self.charts(number)?, &settings, &now, &mut fate));
            }
            if patches_nothing(&cluster, event) {
                // What is patched comes from a run that the events before started.
                let now: Vec<ReleaseRef> = std::mem::take(&mut triggered).into_iter().collect();
                settled.extend(settle(&mut cluster, &self.charts(number)?, &settings, &now, &mut fate));
                if patches_nothing(&cluster, event) {
                    continue;
                }
            }
            if let Some(command) = event["command"].as_str() {
                run_helm(&mut cluster, &fate, command);
            }
            apply_event(&mut cluster, event, &settings, &mut triggered, &mut applied)?;
            if interrupts {
                stamp_conditions(&mut cluster, &begun, event);
            }
            // Another token for the same release is not seen before the run that this one starts has ended.
            let stamp = stamps(event);
            if stamp.is_some() && events[at + 1..].iter().any(|later| stamps(later) == stamp) {
                let now: Vec<ReleaseRef> = std::mem::take(&mut triggered).into_iter().collect();
                settled.extend(settle(&mut cluster, &self.charts(number)?, &settings, &now, &mut fate));
            }
        }
        as_stored(&mut cluster, &after);
        let before = cluster.clone();
        given_sources(&mut cluster, &fate, &settings, &mut triggered);
        triggered.extend(retried(&cluster));
        spelled_anew(&mut cluster, &fate, &mut triggered);
        // Time passes in a step that waits for an interval: who ran in it is told by the recording.
        let title = step["title"].as_str().unwrap_or_default();
        if ["interval", "later", "tick"].iter().any(|word| title.contains(word)) {
            triggered.extend(releases(&cluster).into_iter().filter(|r| ran(step, &r.name) != Some(0)));
        }
        let triggered: Vec<ReleaseRef> = triggered.into_iter().collect();
        settled.extend(settle(&mut cluster, &self.charts(number)?, &settings, &triggered, &mut fate));
        // Where the interval is short it passes within the step: how often is told by the recording.
        for (release, times) in ticks(step, &cluster, &settled) {
            fate.given("an interval passes", format!("the interval of {} passes {times} times", release.name));
            for _ in 0..times {
                settled.extend(settle(
                    &mut cluster,
                    &self.charts(number)?,
                    &settings,
                    std::slice::from_ref(&release),
                    &mut fate,
                ));
            }
        }
        if fate.stopped {
            fate.given("the controller is stopped", "the controller is stopped while it acts".into());
            cut_off(&mut cluster, &mut settled);
        }
        let revisions = self.compare(step, &settled.written, &settled.runs, &cluster, &before, &after);
        let status = Judge { step, settled: &settled, retrying: &retrying, begin: &before }.judge(&cluster, &after);
        let again = [Requeue::Backoff, Requeue::Immediate, Requeue::Retry];
        let partly = |name: &str| {
            let runs = settled.runs.iter().filter(|(r, _)| r.name == name);
            step["settled"] == false
                || retrying.iter().any(|r| r.name == name)
                || runs.map(|(_, cycle)| cycle.requeue).any(|requeue| again.contains(&requeue))
        };
        let events = same_events(step, &settled, &Seen { early, begin: &first, partly: &partly });
        let problems = [revisions, status, events].into_iter().filter_map(|r| Some(r.err()?.message()?.to_owned()));
        let problems: Vec<String> = problems.collect();
        if problems.is_empty() {
            return Ok(problems);
        }
        let run = |(release, cycle): &(ReleaseRef, Cycle)| {
            let done: Vec<String> = cycle.done.iter().map(|d| format!("{} {:?}", d.action, d.error)).collect();
            format!("    {release}: {:?} {done:?} {:?}", cycle.decision.outcome, cycle.requeue)
        };
        let runs: Vec<String> = settled.runs.iter().map(run).collect();
        let runs = runs.join("\n");
        Ok(problems.into_iter().map(|problem| format!("{problem}\n{runs}")).collect())
    }
}
