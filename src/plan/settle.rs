//! What Flux does by itself: releases reconcile, write, and set off others, until nothing more happens.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::{Value as Json, json};

use super::chain::flatten;
use super::charts::Charts;
use super::gather::{HELM_GROUP, Subject, subject_of};
use super::render::{Doc, Mode, Renderer, write_docs};
use crate::cluster::object::{Object, ObjectKey};
use crate::cluster::overlay::Overlay;
use crate::cluster::snapshot::{Facts, Snapshot};
use crate::cluster::storage::{StoredRelease, encode};
use crate::codec::yaml::emit_json;
use crate::flux::digest::{config_digest, release_digest};
use crate::flux::settings::{ControllerVersion, Settings};
use crate::flux::{Action, Exit, HelmRelease, Outcome, simulate};
use crate::report::contract::ReleaseRef;
use crate::value::origin::{Origin, OriginSet};

/// One revision that the controller writes.
pub struct Written {
    /// Which release.
    pub release: ReleaseRef,
    /// `install`, `upgrade`, …
    pub action: Action,
    /// Revision number.
    pub version: i64,
    /// Objects of the stored manifest, in order.
    pub manifest: Vec<Doc>,
    /// Fields that differ from render to render, by object and position path.
    pub volatile: BTreeSet<(ObjectKey, String)>,
    /// Why nothing was written after all.
    pub error: Option<String>,
}

/// Most runs of the controller that are followed.
const MAX_RUNS: usize = 200;

/// Lets every release that `triggered` names reconcile, and whatever that sets off, on `cluster`. Actions are taken to
/// succeed once they render and all kinds are served.
pub fn settle(cluster: &mut Snapshot, charts: &Charts, settings: &Settings, triggered: &[ReleaseRef]) -> Vec<Written> {
    let renderer = Renderer { settings: settings.clone() };
    let mut queue: Vec<ReleaseRef> = triggered.to_vec();
    queue.sort();
    burn_behind_dependencies(cluster, charts, settings, &queue);
    let mut written = Vec::new();
    for _ in 0..MAX_RUNS {
        if queue.is_empty() {
            break;
        }
        let release = queue.remove(0);
        let Some(object) = cluster.get(&release_key(&release)).present() else { continue };
        let hr = HelmRelease::new(object.json.clone());
        ensure_chart(cluster, charts, &hr);
        let subject = subject_of(&hr, cluster, charts, settings, &mut Vec::new());
        match simulate(&hr, cluster, &subject.stored, settings).outcome {
            // Another release of the queue may make it ready.
            Outcome::Exited(Exit::DependencyNotReady(_)) if !queue.is_empty() => {
                acknowledge(cluster, &hr, false);
                queue.push(release);
            }
            Outcome::Decided { action: action @ (Action::Install | Action::Upgrade), .. } => {
                let done = act(cluster, &renderer, &subject, &hr, action);
                if done.error.is_none() {
                    let touched = record(cluster, &subject, &hr, &done);
                    for next in touched.into_iter().flat_map(|key| woken(cluster, settings, &key)) {
                        if next != release && !queue.contains(&next) {
                            queue.push(next);
                        }
                    }
                } else {
                    acknowledge(cluster, &hr, true);
                }
                written.push(done);
            }
            Outcome::Decided { .. } => acknowledge(cluster, &hr, true),
            _ => acknowledge(cluster, &hr, false),
        }
    }
    written
}

/// Releases that are stamped together with one they depend on: their first attempt finds it unready (`F-60`).
fn burn_behind_dependencies(cluster: &mut Snapshot, charts: &Charts, settings: &Settings, queue: &[ReleaseRef]) {
    let mut acts = BTreeSet::new();
    let mut waiting = Vec::new();
    for release in queue {
        let Some(object) = cluster.get(&release_key(release)).present() else { continue };
        let hr = HelmRelease::new(object.json.clone());
        let subject = subject_of(&hr, cluster, charts, settings, &mut Vec::new());
        let outcome = simulate(&hr, cluster, &subject.stored, settings).outcome;
        if matches!(outcome, Outcome::Decided { action: Action::Install | Action::Upgrade, .. }) {
            acts.insert(release.clone());
        }
        waiting.push((hr, subject.depends_on));
    }
    for (hr, depends_on) in waiting {
        if depends_on.iter().any(|d| acts.contains(d)) {
            acknowledge(cluster, &hr, false);
        }
    }
}

/// Renders and applies, if everything can be applied.
fn act(cluster: &Snapshot, renderer: &Renderer, subject: &Subject, hr: &HelmRelease, action: Action) -> Written {
    let now = renderer.render(subject, cluster, &Mode::Now);
    let unserved = now.docs.iter().find(|doc| cluster.discovery.resource(&doc.api_version, &doc.key.kind).is_none());
    let unserved =
        unserved.map(|doc| format!("no matches for kind {:?} in version {:?}", doc.key.kind, doc.api_version));
    let volatile = now.docs.iter().flat_map(|doc| doc.leaves.iter().map(move |(path, set)| (doc, path, *set)));
    let volatile =
        volatile.filter(|(_, _, set)| is_volatile(*set, &now)).map(|(doc, path, _)| (doc.key.clone(), path.clone()));
    Written {
        release: ReleaseRef { namespace: hr.namespace.clone(), name: hr.name.clone() },
        action,
        version: subject.stored.first().map_or(0, |r| r.version) + 1,
        volatile: volatile.collect(),
        error: now.error.clone().or(unserved),
        manifest: now.docs,
    }
}

/// Whether a value came from chance, the clock, or what the API server alone decides.
fn is_volatile(set: OriginSet, now: &super::render::Rendered) -> bool {
    flatten(set, &now.origins, &now.gates).iter().any(|origin| match origin {
        Origin::Random(_) | Origin::Clock(_) => true,
        Origin::Lookup { path, .. } => [".metadata.resourceVersion", ".metadata.uid", ".metadata.creationTimestamp"]
            .iter()
            .any(|own| path.ends_with(own)),
        _ => false,
    })
}

/// The releases that a written object makes the controller look at: itself, or who takes values from it (`F-61`).
pub fn woken(cluster: &Snapshot, settings: &Settings, key: &ObjectKey) -> Vec<ReleaseRef> {
    if key.group == HELM_GROUP && key.kind == "HelmRelease" {
        return vec![ReleaseRef { namespace: key.namespace.clone(), name: key.name.clone() }];
    }
    let Some(object) = cluster.get(key).present() else { return Vec::new() };
    let label = object.json.pointer("/metadata/labels/reconcile.fluxcd.io~1watch").and_then(Json::as_str);
    let watched = key.group.is_empty() && label == Some("Enabled") && settings.controller >= ControllerVersion(1, 4, 0);
    if !watched {
        return Vec::new();
    }
    let releases = cluster.list(HELM_GROUP, "HelmRelease", Some(&key.namespace)).present().unwrap_or_default();
    let refers = |hr: &Object| {
        let refs = hr.json.pointer("/spec/valuesFrom").and_then(Json::as_array);
        refs.into_iter().flatten().any(|r| r["kind"] == key.kind.as_str() && r["name"] == key.name.as_str())
    };
    releases
        .iter()
        .filter(|hr| refers(hr))
        .map(|hr| ReleaseRef { namespace: hr.key.namespace.clone(), name: hr.key.name.clone() })
        .collect()
}

/// Releases that the controller goes on trying without a trigger: they failed or wait.
pub fn retried(cluster: &Snapshot) -> Vec<ReleaseRef> {
    let releases = cluster.objects().filter(|o| o.key.group == HELM_GROUP && o.key.kind == "HelmRelease");
    releases
        .map(|o| HelmRelease::new(o.json.clone()))
        .filter(|hr| {
            hr.condition("Ready") == Some("False")
                && hr.condition("Stalled") != Some("True")
                && !hr.flag("/spec/suspend")
        })
        .map(|hr| ReleaseRef { namespace: hr.namespace, name: hr.name })
        .collect()
}

fn release_key(release: &ReleaseRef) -> ObjectKey {
    ObjectKey {
        group: HELM_GROUP.into(),
        kind: "HelmRelease".into(),
        namespace: release.namespace.clone(),
        name: release.name.clone(),
    }
}

/// The HelmChart that the controller writes for a HelmRelease, packaged at once (`F-12`).
fn ensure_chart(cluster: &mut Snapshot, charts: &Charts, hr: &HelmRelease) {
    let (kind, namespace, name) = hr.source();
    let key =
        ObjectKey { group: "source.toolkit.fluxcd.io".into(), kind, namespace: namespace.clone(), name: name.clone() };
    let range = match hr.text("/spec/chart/spec/version") {
        "" => "*",
        range => range,
    };
    let known = cluster.get(&key).present().filter(|chart| chart.text("/spec/version") == range);
    if key.kind != "HelmChart" || known.is_some() {
        return;
    }
    let wanted = hr.text("/spec/chart/spec/chart").rsplit('/').next().unwrap_or_default().to_owned();
    let Some(chart) = charts.newest(&wanted, range) else { return };
    let object = json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmChart",
        "metadata": {"name": name, "namespace": namespace, "generation": 1},
        "spec": {"chart": wanted, "version": range},
        "status": {"observedGeneration": 1, "observedChartName": chart.name(), "artifact": {"revision": chart.version()}},
    });
    cluster.apply([(key, Object::new(object, Default::default()).map(Rc::new))]);
}

/// The end of every run: the request counts as handled (`F-59`); the force token and the generation only if the run got
/// to the release (`F-57`, `F-68`).
fn acknowledge(cluster: &mut Snapshot, hr: &HelmRelease, reached: bool) {
    update(cluster, hr, |status, hr| {
        if let Some(requested) = hr.annotation("reconcile.fluxcd.io/requestedAt") {
            status.insert("lastHandledReconcileAt".into(), requested.into());
        }
        if !reached {
            return;
        }
        if let Some(forced) = hr.annotation("reconcile.fluxcd.io/forceAt") {
            status.insert("lastHandledForceAt".into(), forced.into());
        }
        status.insert("observedGeneration".into(), hr.generation().into());
    });
}

fn update(
    cluster: &mut Snapshot,
    hr: &HelmRelease,
    change: impl FnOnce(&mut serde_json::Map<String, Json>, &HelmRelease),
) {
    let key = release_key(&ReleaseRef { namespace: hr.namespace.clone(), name: hr.name.clone() });
    let Some(object) = cluster.get(&key).present() else { return };
    let mut json = (*object.json).clone();
    let Some(map) = json.as_object_mut() else { return };
    let status = map.entry("status").or_insert_with(|| json!({}));
    if let Some(status) = status.as_object_mut() {
        change(status, hr);
    }
    cluster.apply([(key, Object::new(json, object.source.clone()).map(Rc::new))]);
}

/// What a successful release action leaves behind: its objects, the stored revision, the history, Ready. Returns the
/// objects that changed.
fn record(cluster: &mut Snapshot, subject: &Subject, hr: &HelmRelease, done: &Written) -> Vec<ObjectKey> {
    let (action, version, docs) = (&done.action, done.version, &done.manifest);
    let mut overlay = Overlay::new(&*cluster);
    write_docs(subject, docs, &mut overlay);
    let edits = overlay.into_edits();
    let touched = cluster.apply(edits);
    let chart = subject.chart.as_ref();
    let metadata = chart.map(|c| Json::Object(c.meta.clone())).unwrap_or_default();
    let manifest: String =
        docs.iter().map(|d| format!("---\n# Source: {}\n{}", d.source, emit_json(&d.object))).collect();
    let config =
        if subject.values.as_object().is_some_and(|v| !v.is_empty()) { subject.values.clone() } else { Json::Null };
    let payload = json!({
        "name": subject.helm_name, "namespace": subject.namespace, "version": version, "info": {"status": "deployed"},
        "chart": {"metadata": metadata}, "config": config, "manifest": manifest, "hooks": null,
    });
    let name = format!("sh.helm.release.v1.{}.v{version}", subject.helm_name);
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
        "metadata": {"name": name, "namespace": hr.storage_namespace(), "labels": {"owner": "helm", "name": subject.helm_name}},
        "data": {"release": encode(&payload)},
    });
    let Some(object) = Object::new(secret, Default::default()).map(Rc::new) else { return touched };
    let stored = StoredRelease {
        name: subject.helm_name.clone(),
        namespace: subject.namespace.clone(),
        version,
        status: "deployed".into(),
        json: Rc::new(payload),
        object: object.clone(),
    };
    let snapshot = json!({
        "apiVersion": "v2", "action": action.to_string(), "status": "deployed", "version": version,
        "name": subject.helm_name, "namespace": subject.namespace,
        "chartName": chart.map(|c| c.name()), "chartVersion": chart.map(|c| c.version()),
        "configDigest": config_digest(&subject.values),
        "digest": release_digest(&stored, "", ControllerVersion(1, 6, 0)),
    });
    cluster.apply([(object.key.clone(), Some(object))]);
    acknowledge(cluster, hr, true);
    let ready = json!({"type": "Ready", "status": "True", "observedGeneration": hr.generation()});
    update(cluster, hr, |status, hr| {
        let mut history = vec![snapshot];
        history.extend(status.get("history").and_then(Json::as_array).cloned().unwrap_or_default());
        status.insert("history".into(), Json::Array(history));
        status.insert("conditions".into(), json!([ready]));
        status.insert("storageNamespace".into(), hr.storage_namespace().into());
    });
    touched
}
