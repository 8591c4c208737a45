//! What somebody does with Helm beside the controller, and what a stop of the controller cuts off.

use std::rc::Rc;

use helm_render_predictor::cluster::object::Object;
use helm_render_predictor::cluster::snapshot::{Facts, Snapshot};
use helm_render_predictor::cluster::storage::{self, StoredRelease, encode, stored};
use helm_render_predictor::flux::HelmRelease;
use helm_render_predictor::plan::settle::Settled;
use serde_json::Value as Json;

use crate::given::Recorded;
use crate::write::{helm_release, releases};

/// A helm command is run: the revisions that it writes or removes are those of the recording which no history of a
/// HelmRelease tells of.
pub fn run_helm(cluster: &mut Snapshot, recorded: &Recorded<'_>, command: &str) {
    recorded.given("somebody runs helm", command.to_owned());
    for release in releases(cluster) {
        let Some(object) = cluster.get(&helm_release(&release)).present() else { continue };
        let hr = HelmRelease::new(object.json.clone());
        let all = |facts: &Snapshot| stored(facts, &hr.storage_namespace(), &hr.release_name()).0;
        let (then, now) = (all(cluster), all(recorded.after));
        let known: Vec<i64> = hr.history().iter().map(|h| h.version).collect();
        let told = recorded.step["outcome"]["helmreleases"][&release.name]["history"].as_array();
        let new: Vec<i64> = told.into_iter().flatten().filter_map(|h| h["version"].as_i64()).collect();
        let theirs = |version: i64| new.contains(&version) && !known.contains(&version);
        let mine: Vec<StoredRelease> = now.into_iter().filter(|r| !theirs(r.version)).collect();
        // What the controller wrote later has superseded the newest of them, or removed the older ones.
        let superseded = mine.first().is_some_and(|r| r.status == "superseded");
        let newest = mine.first().map(|r| r.version);
        let gone = then.iter().filter(|r| !mine.iter().any(|m| m.version == r.version));
        let mut edits: Vec<_> = gone.map(|r| (r.object.key.clone(), None)).collect();
        edits.extend(mine.into_iter().map(|r| {
            let redeployed = superseded && Some(r.version) == newest;
            let object = if redeployed { deployed(&r) } else { Some(r.object.clone()) };
            (r.object.key.clone(), object)
        }));
        cluster.apply(edits);
    }
    // What the command made of the objects.
    let own = |o: &Object| o.key.group.ends_with("toolkit.fluxcd.io") || storage::is_storage(o);
    let others: Vec<Rc<Object>> = recorded.after.objects().filter(|o| !own(o)).cloned().collect();
    let there = |object: &Object| others.iter().any(|o| o.key == object.key);
    let gone: Vec<_> = cluster.objects().filter(|o| !own(o) && !there(o)).map(|o| (o.key.clone(), None)).collect();
    cluster.apply(gone);
    cluster.apply(others.iter().map(|o| (o.key.clone(), Some(o.clone()))).collect::<Vec<_>>());
}

/// A revision as it was before it was superseded.
fn deployed(revision: &StoredRelease) -> Option<Rc<Object>> {
    let mut payload = (*revision.json).clone();
    payload["info"]["status"] = "deployed".into();
    let mut json = (*revision.object.json).clone();
    json["data"]["release"] = encode(&payload).into();
    json["metadata"]["labels"]["status"] = "deployed".into();
    Object::new(json, Default::default()).map(Rc::new)
}

/// Whether the controller is stopped in a step and does not come back.
pub fn stops(step: &Json) -> bool {
    let other = |word: &str| {
        let events = step["event"].as_array().into_iter().flatten();
        events.filter_map(|e| e["other"].as_str()).any(|o| o.contains("controller") && o.contains(word))
    };
    other("stopped") && !other("started")
}

/// A controller that is stopped stores the action under way as failed, but writes no status any more (F-165).
pub fn cut_off(cluster: &mut Snapshot, settled: &mut Settled) {
    for (((release, cycle), writes), state) in settled.runs.iter().zip(&settled.writes).zip(&mut settled.states) {
        let acts = |json: &&Rc<Json>| {
            let hr = HelmRelease::new((*json).clone());
            let message = hr.condition_entry("Ready").and_then(|c| Some(c.get("message")?.as_str()?.to_owned()));
            message.is_some_and(|m| m.starts_with("Running '"))
        };
        let Some(last) = writes.iter().rev().find(acts).filter(|_| !cycle.done.is_empty()) else { continue };
        let object = Object::new((**last).clone(), Default::default()).map(Rc::new);
        *state = object.clone();
        cluster.apply([(helm_release(release), object)]);
    }
}
