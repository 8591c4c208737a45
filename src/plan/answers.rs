//! Answers about one release: whether it has settled, and why the controller does what it does.

use std::collections::BTreeSet;

use super::assume::{Choices, settings};
use super::charts::Charts;
use super::cycles;
use super::findings::reference;
use super::gather::{HELM_GROUP, Subject, described, subject_of};
use super::redact::Redactor;
use super::render::{Mode, Renderer};
use super::silent::lost;
use crate::chart::Chart;
use crate::cluster::import::import;
use crate::cluster::object::ObjectKey;
use crate::cluster::snapshot::{Facts, Snapshot};
use crate::flux::cycle::Requeue;
use crate::flux::helmchart;
use crate::flux::readiness::unready;
use crate::flux::settings::Settings;
use crate::flux::settled::{Holds, Settled as Found, release_key, settled as conditions, settled_object};
use crate::flux::{self, Action, HelmRelease, Outcome, why as reasons};
use crate::report::answers::{Answer, Basis, Condition, Run, SETTLED_VERSION, Settled, Stamped, WHY_VERSION, Why};
use crate::report::contract::{Check, ReleaseRef};
use crate::report::silent::Silent;

/// Files and choices of a question.
pub struct Asked<'a> {
    /// Snapshot files.
    pub snapshot: &'a [(String, Vec<u8>)],
    /// Chart folders and archives.
    pub charts: &'a [(String, Vec<u8>)],
    /// What steers the answer.
    pub choices: &'a Choices,
}

/// Most objects of a release that are named as not ready.
const MOST_UNREADY: usize = 20;

/// What was read.
struct World {
    facts: Snapshot,
    charts: Charts,
    settings: Settings,
    basis: Basis,
}

impl Asked<'_> {
    fn read(&self) -> World {
        let (mut facts, mut diagnostics) = import(self.snapshot);
        facts.coverage.complete |= self.choices.assume_complete;
        let mut assumptions = Vec::new();
        let settings = settings(&facts, self.choices, &mut assumptions, &mut diagnostics);
        let (charts, problems) = Charts::read(self.charts, settings.controller.helm());
        diagnostics.extend(problems);
        facts.artifacts.extend(charts.artifacts());
        let basis = Basis {
            helm_controller: settings.controller.to_string(),
            helm: settings.controller.helm().to_string(),
            assumptions,
            diagnostics,
        };
        World { facts, charts, settings, basis }
    }

    /// Whether a HelmRelease, or a source, HelmChart or Kustomization if `kind` says so, has settled at its present
    /// generation and at a revision of its source (`F-245`); `None` if the snapshot holds no such object.
    pub fn settled(&self, kind: &str, release: &ReleaseRef, revision: Option<&str>) -> Option<Settled> {
        let mut world = self.read();
        let group = match kind {
            "HelmRelease" => HELM_GROUP,
            "Kustomization" => "kustomize.toolkit.fluxcd.io",
            _ => "source.toolkit.fluxcd.io",
        };
        let ReleaseRef { namespace, name } = release.clone();
        let key = ObjectKey { group: group.into(), kind: kind.into(), namespace, name };
        let object = world.facts.get(&key).present()?;
        let subject = HelmRelease::new(object.json.clone());
        let mut answer = match kind {
            "HelmRelease" => world.release_settled(&subject, revision),
            _ => {
                let found = settled_object(&key, &world.facts, revision);
                world.answer(&key, &subject, found)
            }
        };
        world.behind_parent(&key, &subject, &mut answer);
        answer.notes.extend(world.circles(&key, &subject));
        world.finish();
        answer.basis = world.basis;
        Some(answer)
    }

    /// The next run of a HelmRelease, and with `stamp` what a force would do; `None` if the snapshot holds none.
    pub fn why(&self, release: &ReleaseRef, stamp: bool) -> Option<Why> {
        let mut world = self.read();
        let hr = world.helm_release(release)?;
        let subject = world.subject(&hr);
        let decide = |hr: &HelmRelease| flux::simulate(hr, &world.facts, &subject.stored, &world.settings);
        let decision = decide(&hr);
        let redactor = Redactor::new(&subject, None, &world.facts);
        let not_looked_at = checks(&reasons::not_looked_at(&hr, &decision, &world.settings));
        let stamped = stamp.then(|| {
            let hr = reasons::stamped(&hr, &fresh(&hr));
            let decision = decide(&hr);
            let (fate, because) = reasons::fate(&hr, &decision);
            let run = run(&hr, &decision, &world.settings, &redactor);
            Stamped { token: fate.name(), because: masked(&because, &redactor), run }
        });
        let next = run(&hr, &decision, &world.settings, &redactor);
        let mut silent: Vec<Silent> = subject.silent.iter().map(|silent| redactor.silent(silent)).collect();
        if subject.can_render() {
            let renderer = Renderer::new(world.settings.clone());
            let now = renderer.render(&subject, &world.facts, &Mode::Now);
            silent.extend(lost(&renderer, &subject, &world.facts, &now));
        }
        world.finish();
        let (contract, release) = (WHY_VERSION, release.clone());
        Some(Why { contract, release, next, stamped, not_looked_at, silent, basis: world.basis })
    }
}

/// A token that the release has not seen.
fn fresh(hr: &HelmRelease) -> String {
    let mut token = "<now>".to_owned();
    while ["lastHandledReconcileAt", "lastHandledForceAt"].iter().any(|f| hr.text(&format!("/status/{f}")) == token) {
        token.push('+');
    }
    token
}

impl World {
    fn helm_release(&self, release: &ReleaseRef) -> Option<HelmRelease> {
        let ReleaseRef { namespace, name } = release.clone();
        let key = ObjectKey { group: HELM_GROUP.into(), kind: "HelmRelease".into(), namespace, name };
        Some(HelmRelease::new(self.facts.get(&key).present()?.json.clone()))
    }

    fn subject(&mut self, hr: &HelmRelease) -> Subject {
        subject_of(hr, &self.facts, &self.charts, &self.settings, &mut self.basis.diagnostics)
    }

    fn finish(&mut self) {
        self.basis.diagnostics.sort();
        self.basis.diagnostics.dedup();
    }

    /// An answer from conditions; what follows from the release is added by the callers.
    fn answer(&self, key: &ObjectKey, object: &HelmRelease, found: Found) -> Settled {
        let first = found.first().map(condition);
        Settled {
            contract: SETTLED_VERSION,
            object: reference(key),
            answer: first.as_ref().map_or(Answer::Settled, |c| c.answer),
            generation: object.generation(),
            source_revision: Some(found.source_revision).filter(|r| !r.is_empty()),
            chart_version: found.chart.map(|chart| chart.version),
            revision: None,
            expected_revision: None,
            first,
            conditions: found.conditions.iter().map(condition).collect(),
            traps: checks(&found.traps),
            notes: Vec::new(),
            basis: self.basis.clone(),
        }
    }

    fn release_settled(&mut self, hr: &HelmRelease, revision: Option<&str>) -> Settled {
        let found = conditions(hr, &self.facts, &self.settings, revision);
        let mut answer = self.answer(&release_key(hr), hr, found);
        let subject = self.subject(hr);
        let decision = flux::simulate(hr, &self.facts, &subject.stored, &self.settings);
        answer.revision = hr.history().first().map(|s| s.version);
        answer.expected_revision = next_revision(&decision, &subject);
        if let (Some(next), Answer::Settled) = (answer.expected_revision, answer.answer) {
            answer.notes.push(format!("all that F-245 asks for holds, but the next run makes revision {next}"));
        }
        if answer.answer == Answer::Settled {
            answer.notes.extend(self.unready(&subject));
        }
        let redactor = Redactor::new(&subject, None, &self.facts);
        for condition in answer.conditions.iter_mut().chain(&mut answer.first) {
            condition.text = redactor.mask(&condition.text);
        }
        answer
    }

    /// Objects of the stored manifest that are not what they should be: `F-245` does not ask for them.
    fn unready(&self, subject: &Subject) -> Vec<String> {
        let state = |key: &ObjectKey| {
            let why = unready(&self.facts.get(key).present()?.json)?;
            Some(format!("{key} is not ready: {why}"))
        };
        let mut found: Vec<String> = subject.stored_docs.iter().filter_map(|doc| state(&doc.key)).collect();
        if found.len() > MOST_UNREADY {
            let more = found.len() - MOST_UNREADY;
            found.truncate(MOST_UNREADY);
            found.push(format!("{more} more objects are not ready"));
        }
        found
    }

    /// An object that another release renders has settled only if that release has: else it may be changed or deleted by
    /// the revision that is still to come.
    fn behind_parent(&mut self, key: &ObjectKey, object: &HelmRelease, answer: &mut Settled) {
        let Some(parent) = cycles::parent(&object.json, &self.facts) else { return };
        let own = release_key(&parent);
        if own == *key || helmchart::generated(&parent).as_ref() == Some(key) {
            return;
        }
        let above = self.release_settled(&parent, None);
        let subject = self.subject(&parent);
        let say = |answer: &mut Settled, holds: Answer, text: String| {
            let behind = Condition {
                rule: "F-340".into(),
                object: reference(&own),
                field: "parent".into(),
                answer: holds,
                text,
            };
            // A doomed object is not waited for, whatever state it is in.
            if answer.first.is_none() || holds == Answer::Blocked {
                answer.answer = holds;
                answer.first = Some(behind.clone());
            }
            answer.conditions.push(behind);
        };
        match above.first {
            None => {
                let held = subject.stored_docs.iter().any(|doc| doc.key == *key);
                if let (false, Some(newest)) = (held, subject.stored.first()) {
                    let text = format!("its revision {} does not hold it: superseded, ignore it", newest.version);
                    say(answer, Answer::Blocked, text);
                }
            }
            Some(first) => {
                let doomed = above.expected_revision.and_then(|revision| self.doomed(key, subject, revision));
                if let Some(text) = doomed {
                    say(answer, Answer::Blocked, text);
                    return;
                }
                let expect = above.expected_revision.map_or_else(String::new, |v| format!("; expect its revision {v}"));
                let text = format!("it has not settled: {} {}: {}{expect}", first.object, first.field, first.text);
                say(answer, first.answer, text);
            }
        }
    }

    /// What to say if the next revision of its release deletes an object: that, and what takes its place.
    fn doomed(&self, key: &ObjectKey, mut subject: Subject, revision: i64) -> Option<String> {
        if subject.chart.is_none() {
            // The new chart is not to be had: names that carry the revision show in the old one, too.
            let known = subject.stored.first().and_then(|r| Chart::from_release(r.chart()?).ok());
            subject.chart = known.filter(|chart| chart.missing_dependencies().is_empty());
        }
        let renderer = Renderer::new(self.settings.clone());
        let rendered = renderer.render(&subject, &self.facts, &Mode::Now);
        if rendered.error.is_some() || rendered.holds(key) {
            return None;
        }
        let stored: BTreeSet<&ObjectKey> = subject.stored_docs.iter().map(|doc| &doc.key).collect();
        let new = rendered.docs.iter().map(|doc| &doc.key);
        let new: Vec<String> =
            new.filter(|k| k.kind == key.kind && !stored.contains(k)).map(|k| reference(k).to_string()).collect();
        let instead = if new.is_empty() { String::new() } else { format!("; wait for {} instead", new.join(", ")) };
        Some(format!("WOULD_DELETE at its revision {revision}{instead}"))
    }

    /// Circles that the object is in, and those of what its newest revision holds.
    fn circles(&mut self, key: &ObjectKey, object: &HelmRelease) -> Vec<String> {
        let mut keys = vec![key.clone()];
        if key.kind == "HelmRelease" {
            keys.extend(self.subject(object).stored_docs.iter().map(|doc| doc.key.clone()));
        }
        cycles::notes(&keys, &self.facts)
    }
}

/// The Helm revision that the run makes, if it makes one.
fn next_revision(decision: &flux::Decision, subject: &Subject) -> Option<i64> {
    let makes = matches!(decision.outcome, Outcome::Decided { action: Action::Install | Action::Upgrade, .. });
    makes.then(|| subject.stored.first().map_or(0, |r| r.version) + 1)
}

fn condition(found: &flux::settled::Condition) -> Condition {
    Condition {
        rule: found.rule.to_owned(),
        object: reference(&found.object),
        field: found.field.to_owned(),
        answer: match found.holds {
            Holds::Yes => Answer::Settled,
            Holds::Waits => Answer::Wait,
            Holds::Blocked => Answer::Blocked,
            Holds::Unknown => Answer::Unknown,
        },
        text: found.text.clone(),
    }
}

fn checks(found: &[flux::Check]) -> Vec<Check> {
    found.iter().map(|c| Check { rule: c.rule.to_owned(), text: c.text.clone() }).collect()
}

fn masked(check: &flux::Check, redactor: &Redactor) -> Check {
    Check { rule: check.rule.to_owned(), text: redactor.mask(&check.text) }
}

fn run(hr: &HelmRelease, decision: &flux::Decision, settings: &Settings, redactor: &Redactor) -> Run {
    let requeue = reasons::requeue(decision, settings).map(|requeue| match requeue {
        Requeue::Interval => "interval",
        Requeue::Dependency => "dependency-interval",
        Requeue::Retry => "retry-interval",
        Requeue::Immediate => "immediate",
        Requeue::Backoff => "backoff",
        Requeue::None => "none",
    });
    Run {
        writes: checks(&reasons::writes(hr, decision, settings)),
        requeue,
        decision: redactor.decision(&described(hr, decision)),
    }
}
