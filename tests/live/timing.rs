//! What the recording tells of the order in time: runs that were under way when an event came.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use helm_render_predictor::cluster::object::Object;
use helm_render_predictor::cluster::snapshot::{Facts, Snapshot};
use helm_render_predictor::flux::HelmRelease;
use helm_render_predictor::plan::settle::{Settled, retried};
use helm_render_predictor::report::contract::ReleaseRef;
use serde_json::Value as Json;

use crate::write::{helm_release, releases};

/// How often the controller ran a release in a step.
pub fn ran(step: &Json, release: &str) -> Option<u64> {
    step["outcome"]["helmreleases"][release]["reconciled_times"].as_u64()
}

/// Releases that ran before the event of the step took hold: the snapshot before lies inside a run, or before one that
/// was due (the first moves show a run, not yet the event).
pub fn runs_before_event(step: &Json, cluster: &Snapshot) -> Vec<ReleaseRef> {
    let restarts = step["event"].as_array().into_iter().flatten().any(|e| e["other"].is_string());
    if restarts {
        return Vec::new();
    }
    let moves = step["outcome"]["moves"].as_array();
    let mut early = BTreeSet::new();
    let mut seen: BTreeMap<&str, i64> = BTreeMap::new();
    for entry in moves.into_iter().flatten() {
        let Some(name) = entry["release"].as_str() else { continue };
        let event =
            ["generation", "requestedAt", "forceAt", "resetAt", "suspend"].iter().any(|k| entry.get(*k).is_some());
        if event {
            seen.entry(name).or_insert_with(|| entry["generation"].as_i64().unwrap_or(0));
        } else if entry["conditions"].is_object() {
            match seen.get(name) {
                None => {
                    early.insert(name.to_owned());
                }
                // A Ready of the generation before that the snapshot does not have yet.
                Some(generation) if *generation > 1 && !early.contains(name) => {
                    let ready = &entry["conditions"]["Ready"];
                    let older = ready["observedGeneration"].as_i64().is_some_and(|g| g < *generation);
                    if older && ready["status"] != "Unknown" && Some(&ready["reason"]) != reason(cluster, name).as_ref()
                    {
                        early.insert(name.to_owned());
                    }
                }
                Some(_) => {}
            }
        }
    }
    // Where the event never shows, what runs follows from it.
    early.retain(|name| seen.contains_key(name.as_str()));
    let waits = retried(cluster);
    waits.into_iter().filter(|r| early.contains(&r.name) || runs_now(cluster, r)).collect()
}

/// The reason of the condition Ready of a release.
pub fn reason(cluster: &Snapshot, name: &str) -> Option<Json> {
    let release = releases(cluster).into_iter().find(|r| r.name == name)?;
    let object = cluster.get(&helm_release(&release)).present()?;
    HelmRelease::new(object.json.clone()).condition_reason("Ready").map(Json::from)
}

/// Whether the snapshot lies inside a run of a release that has loaded its chart and its values.
pub fn runs_now(cluster: &Snapshot, release: &ReleaseRef) -> bool {
    let Some(object) = cluster.get(&helm_release(release)).present() else { return false };
    let hr = HelmRelease::new(object.json.clone());
    let message = hr.condition_entry("Reconciling").and_then(|c| c.get("message")?.as_str());
    // A run that failed leaves the message behind.
    hr.condition("Ready") == Some("Unknown") && message.is_some_and(|message| message.starts_with("Running '"))
}

/// Whether a run began between two changes of a release's spec: the moves show it between the two generations.
pub fn ran_between(step: &Json, release: &str, generation: i64) -> bool {
    let moves = step["outcome"]["moves"].as_array().into_iter().flatten();
    let mine = moves.filter(|m| m["release"] == release);
    let mut begun = None;
    for entry in mine {
        if let Some(now) = entry["generation"].as_i64() {
            if begun == Some(true) && now > generation {
                return true;
            }
            begun = (now == generation).then_some(false);
        }
        let message = entry["conditions"]["Reconciling"]["message"].as_str();
        if begun.is_some() && message.is_some_and(|m| m.starts_with("Running '")) {
            begun = Some(true);
        }
    }
    false
}

/// Whether an event changes the spec of a release while a run of the spec before is under way.
pub fn interrupts(cluster: &Snapshot, step: &Json, event: &Json) -> bool {
    let body = &event["patch"];
    if body["kind"] != "HelmRelease" || !body["patch"]["spec"].is_object() {
        return false;
    }
    let object = Object::new(body.clone(), Default::default()).and_then(|o| cluster.get(&o.key).present());
    let generation = object.and_then(|o| o.json.pointer("/metadata/generation").and_then(Json::as_i64));
    let name = body["metadata"]["name"].as_str().unwrap_or_default();
    generation.is_some_and(|g| ran_between(step, name, g) || ends_suspended(step, name, g + 1))
}

/// Whether a release that was suspended at a generation still writes the end of a run.
pub fn ends_suspended(step: &Json, release: &str, generation: i64) -> bool {
    let moves = step["outcome"]["moves"].as_array().into_iter().flatten().filter(|m| m["release"] == release);
    let later = moves.skip_while(|m| m["generation"] != generation || m["suspend"] != true);
    let messages = later.filter_map(|m| m["conditions"]["Ready"]["message"].as_str());
    messages.skip_while(|m| !m.starts_with("Running '")).nth(1).is_some()
}

/// The end of a run stamps the generation that it finds on the conditions that it changes, and on Ready (F-247).
pub fn stamp_conditions(cluster: &mut Snapshot, begun: &Snapshot, event: &Json) {
    let Some(named) = Object::new(event["patch"].clone(), Default::default()) else { return };
    let Some(object) = cluster.get(&named.key).present() else { return };
    let old = begun.get(&named.key).present();
    let changed = |condition: &Json| {
        let conditions = old.as_ref().and_then(|o| o.json.pointer("/status/conditions")?.as_array());
        let then = conditions.into_iter().flatten().find(|c| c["type"] == condition["type"]);
        let same = |field: &str| then.is_some_and(|then| then[field] == condition[field]);
        condition["type"] == "Ready" || !(same("status") && same("reason") && same("message"))
    };
    let mut json = (*object.json).clone();
    let generation = json["metadata"]["generation"].clone();
    for condition in json["status"]["conditions"].as_array_mut().into_iter().flatten().filter(|c| changed(c)) {
        condition["observedGeneration"] = generation.clone();
    }
    cluster.apply([(named.key, Object::new(json, Default::default()).map(Rc::new))]);
}

/// Releases whose interval is over within the step, by how often the controller ran them beyond what set it off.
pub fn ticks(step: &Json, cluster: &Snapshot, settled: &Settled) -> Vec<(ReleaseRef, u64)> {
    let short = |release: &&ReleaseRef| {
        let interval = cluster.get(&helm_release(release)).present().map(|o| o.text("/spec/interval").to_owned());
        let spelled = interval.unwrap_or_default();
        let seconds = spelled.strip_suffix('s').and_then(|n| n.parse::<u64>().ok());
        seconds.is_some_and(|seconds| seconds <= 30)
    };
    let all = releases(cluster);
    let beyond = all.iter().filter(short).filter_map(|release| {
        let seen = settled.runs.iter().filter(|(r, _)| r == release).count() as u64;
        let more = ran(step, &release.name)?.saturating_sub(seen);
        (more > 0).then(|| (release.clone(), more))
    });
    beyond.collect()
}
