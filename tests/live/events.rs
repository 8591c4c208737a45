//! Kubernetes events of HelmReleases: recorded against predicted, by type and reason.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use helm_render_predictor::cluster::object::Object;
use helm_render_predictor::cluster::snapshot::Snapshot;
use helm_render_predictor::flux::Outcome;
use helm_render_predictor::plan::settle::Settled;
use libtest_mimic::Failed;
use serde_json::Value as Json;

/// What a step knows of its events beside those of its runs.
pub struct Seen<'a> {
    /// The first runs, which began before the events of the step: what they told may stand in the step before.
    pub early: usize,
    /// The cluster before: what is retried tells its old failure again.
    pub begin: &'a Snapshot,
    /// Releases of which the step may have seen a part only.
    pub partly: &'a dyn Fn(&str) -> bool,
}

/// Compares the events of a step.
pub fn same_events(step: &Json, settled: &Settled, seen: &Seen<'_>) -> Result<(), Failed> {
    let mut certain: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut possible: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut unknown = BTreeSet::new();
    for (at, (release, cycle)) in settled.runs.iter().enumerate() {
        if matches!(cycle.decision.outcome, Outcome::Unknown { .. }) {
            unknown.insert(release.name.as_str());
        }
        let kind = |warning: bool| if warning { "Warning" } else { "Normal" };
        let all = cycle.events.iter().map(|e| format!("{} {}", kind(e.warning), e.reason));
        let into = if at < seen.early { &mut possible } else { &mut certain };
        into.entry(&release.name).or_default().extend(all);
    }
    let mut recorded: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for event in step["outcome"]["events"].as_array().into_iter().flatten() {
        let text = |field: &str| event[field].as_str().unwrap_or_default();
        if let Some(name) = text("object").strip_prefix("HelmRelease/") {
            // In other namespaces than the episode's, its namespace stands before the name.
            let name = name.rsplit('/').next().unwrap_or(name);
            recorded.entry(name).or_default().insert(format!("{} {}", text("type"), text("reason")));
        }
    }
    let again = |name: &str| -> BTreeSet<String> {
        let mine = |o: &&Rc<Object>| o.key.kind == "HelmRelease" && o.key.name == name;
        let objects = seen.begin.objects().filter(mine);
        let conditions = objects.filter_map(|o| o.json.pointer("/status/conditions")?.as_array().cloned()).flatten();
        // No condition tells of a HelmChart that cannot be written (F-254).
        let behind = |o: &Rc<Object>| o.json["metadata"]["generation"] != o.json["status"]["observedGeneration"];
        let unwritten = seen.begin.objects().filter(mine).any(behind).then(|| "HelmChartSyncErr".to_owned());
        let failed =
            conditions.filter(|c| c["status"] == "False").filter_map(|c| Some(c["reason"].as_str()?.to_owned()));
        failed.chain(unwritten).collect()
    };
    let none = BTreeSet::new();
    let names: BTreeSet<&str> = certain.keys().chain(recorded.keys()).copied().collect();
    let mut wrong = Vec::new();
    for name in names.into_iter().filter(|name| !unknown.contains(name)) {
        let (want, got) = (recorded.get(name).unwrap_or(&none), certain.get(name).unwrap_or(&none));
        let (early, again) = (possible.get(name).unwrap_or(&none), again(name));
        let missing = |event: &&String| !(seen.partly)(name) && !want.contains(*event);
        let extra = |event: &&String| {
            let reason = event.split(' ').nth(1).unwrap_or_default();
            !got.contains(*event) && !early.contains(*event) && !again.contains(reason)
        };
        if want.iter().any(|event| extra(&event)) || got.iter().any(|event| missing(&event)) {
            wrong.push(format!("events of {name}: recorded {want:?}, predicted {got:?}"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ").into()) }
}
