//! Events of an episode, applied to a snapshot as the API server does.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use helm_render_predictor::cluster::object::{Object, ObjectKey};
use helm_render_predictor::cluster::snapshot::{Facts, Snapshot};
use helm_render_predictor::flux::settings::Settings;
use helm_render_predictor::plan::settle::woken;
use helm_render_predictor::report::contract::ReleaseRef;
use libtest_mimic::Failed;
use serde_json::Value as Json;

use crate::tally::TALLY;

pub fn patches_nothing(cluster: &Snapshot, event: &Json) -> bool {
    let patched = event.get("patch").and_then(|body| Object::new(body.clone(), Default::default()));
    patched.is_some_and(|object| cluster.get(&object.key).present().is_none())
}

/// Applies a write as the API server does, and notes which HelmReleases it makes the controller look at (`F-56`).
///
/// `applied` holds what was applied last, object by object: what a later apply lacks of it goes away.
pub fn apply_event(
    cluster: &mut Snapshot,
    event: &Json,
    settings: &Settings,
    triggered: &mut BTreeSet<ReleaseRef>,
    applied: &mut BTreeMap<ObjectKey, Json>,
) -> Result<(), Failed> {
    let event = event.as_object().ok_or("an event that is no map")?;
    for (kind, body) in event {
        match kind.as_str() {
            "apply" => {
                let object = Object::new(body.clone(), Default::default()).ok_or("an object without identity")?;
                let old = cluster.get(&object.key).present();
                let mut json = old.as_ref().map_or_else(|| serde_json::json!({}), |o| (*o.json).clone());
                if let Some(previous) = applied.insert(object.key.clone(), body.clone()) {
                    prune(&mut json, &previous, body);
                }
                merge(&mut json, body, false);
                write(cluster, &object.key, old, json, settings, triggered);
            }
            "patch" => {
                let object = Object::new(body.clone(), Default::default()).ok_or("a patch without identity")?;
                let old = cluster.get(&object.key).present().ok_or("a patch of nothing")?;
                let mut json = (*old.json).clone();
                merge(&mut json, &body["patch"], true);
                write(cluster, &object.key, Some(old), json, settings, triggered);
            }
            "delete" => {
                let object = Object::new(body.clone(), Default::default()).ok_or("a deletion without identity")?;
                let old = cluster.get(&object.key).present();
                // The deletion of a watched values object wakes who takes values from it (F-61).
                triggered.extend(woken(cluster, settings, &object.key));
                match old.filter(|_| object.key.kind == "HelmRelease") {
                    Some(old) => {
                        let mut json = (*old.json).clone();
                        json["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
                        let generation = json["metadata"]["generation"].as_i64().unwrap_or(0) + 1;
                        json["metadata"]["generation"] = generation.into();
                        let release = ReleaseRef { namespace: old.key.namespace.clone(), name: old.key.name.clone() };
                        triggered.insert(release);
                        cluster.apply([(old.key.clone(), Object::new(json, Default::default()).map(Rc::new))]);
                    }
                    None => {
                        cluster.apply([(object.key, None)]);
                    }
                }
            }
            "publish" | "git commit" | "files" | "push" | "exit" | "storage" | "command" => {}
            "other" if body.as_str().is_some_and(|o| o.starts_with("helm-controller started")) => {
                triggered.extend(releases(cluster));
            }
            "other" => {}
            other => TALLY.open(format!("event {other:?} is not known to this harness: judged as if it did nothing")),
        }
    }
    Ok(())
}

pub fn write(
    cluster: &mut Snapshot,
    key: &ObjectKey,
    old: Option<Rc<Object>>,
    mut json: Json,
    settings: &Settings,
    triggered: &mut BTreeSet<ReleaseRef>,
) {
    let requested = |json: &Json| json.pointer("/metadata/annotations/reconcile.fluxcd.io~1requestedAt").cloned();
    let spec_changed = old.as_ref().is_none_or(|o| o.json.get("spec") != json.get("spec"));
    if spec_changed {
        let generation = old.as_ref().and_then(|o| o.json.pointer("/metadata/generation")?.as_i64()).unwrap_or(0) + 1;
        json["metadata"]["generation"] = generation.into();
    }
    let asked = requested(&json).is_some() && old.as_ref().is_none_or(|o| requested(&o.json) != requested(&json));
    if key.kind == "HelmRelease" && (spec_changed || asked) {
        triggered.insert(ReleaseRef { namespace: key.namespace.clone(), name: key.name.clone() });
    }
    cluster.apply([(key.clone(), Object::new(json, Default::default()).map(Rc::new))]);
    if key.kind != "HelmRelease" {
        triggered.extend(woken(cluster, settings, key));
    }
}

/// Takes away what was applied before and is not any more.
pub fn prune(live: &mut Json, previous: &Json, new: &Json) {
    let (Some(live), Some(previous)) = (live.as_object_mut(), previous.as_object()) else { return };
    for (key, old) in previous {
        match (new.get(key), live.get_mut(key)) {
            (None, _) => {
                live.remove(key);
            }
            (Some(new), Some(live)) => prune(live, old, new),
            _ => {}
        }
    }
}

/// JSON merge patch; `deletes` says whether null takes a key away.
pub fn merge(into: &mut Json, patch: &Json, deletes: bool) {
    let Json::Object(patch) = patch else {
        *into = patch.clone();
        return;
    };
    if !into.is_object() {
        *into = serde_json::json!({});
    }
    let Json::Object(map) = into else { return };
    for (key, value) in patch {
        if deletes && value.is_null() {
            map.remove(key);
        } else {
            merge(map.entry(key.clone()).or_insert(Json::Null), value, deletes);
        }
    }
}

pub fn releases(cluster: &Snapshot) -> Vec<ReleaseRef> {
    let all = cluster.objects().filter(|o| o.key.kind == "HelmRelease");
    all.map(|o| ReleaseRef { namespace: o.key.namespace.clone(), name: o.key.name.clone() }).collect()
}

/// The HelmRelease that a reference names.
pub fn helm_release(release: &ReleaseRef) -> ObjectKey {
    ObjectKey {
        group: "helm.toolkit.fluxcd.io".into(),
        kind: "HelmRelease".into(),
        namespace: release.namespace.clone(),
        name: release.name.clone(),
    }
}
