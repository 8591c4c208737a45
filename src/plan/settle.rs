//! What Flux does by itself: releases reconcile, write, and set off others, until nothing more happens.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Value as Json, json};

use super::charts::Charts;
use super::gather::{Subject, subject_of};
use super::render::{Mode, Renderer, live_writes};
use crate::cluster::object::{Object, ObjectKey};
use crate::cluster::overlay::Overlay;
use crate::cluster::snapshot::{Facts, Snapshot};
use crate::cluster::storage::{StoredRelease, encode};
use crate::codec::yaml::emit_json;
use crate::flux::digest::{config_digest, release_digest};
use crate::flux::settings::Settings;
use crate::flux::{Action, Exit, HelmRelease, Outcome, simulate};
use crate::plan::render::Doc;
use crate::report::contract::ReleaseRef;

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
    /// Why nothing was written after all.
    pub error: Option<String>,
}

/// Most runs of the controller that are followed.
const MAX_RUNS: usize = 200;

/// Lets every release that `triggered` names reconcile, and whatever that sets off, on `cluster`. Actions are taken to
/// succeed once they render.
pub fn settle(cluster: &mut Snapshot, charts: &Charts, settings: &Settings, triggered: &[ReleaseRef]) -> Vec<Written> {
    let renderer = Renderer { settings: settings.clone() };
    let mut queue: Vec<ReleaseRef> = triggered.to_vec();
    queue.sort();
    let mut written = Vec::new();
    let mut failures: BTreeMap<ReleaseRef, usize> = BTreeMap::new();
    for _ in 0..MAX_RUNS {
        if queue.is_empty() {
            break;
        }
        let release = queue.remove(0);
        let key = release_key(&release);
        let Some(object) = cluster.get(&key).present() else { continue };
        let hr = HelmRelease::new(object.json.clone());
        ensure_chart(cluster, charts, &hr);
        let mut ignored = Vec::new();
        let subject = subject_of(&hr, cluster, charts, settings, &mut ignored);
        let decision = simulate(&hr, cluster, &subject.stored, settings);
        match decision.outcome {
            Outcome::Exited(Exit::DependencyNotReady(_)) if !queue.is_empty() => {
                // Another release of the queue may make it ready.
                queue.push(release);
                continue;
            }
            Outcome::Exited(
                Exit::Suspended | Exit::DependencyNotReady(_) | Exit::SourceNotReady(_) | Exit::ValuesError(_),
            ) => {
                acknowledge(cluster, &hr);
            }
            Outcome::Decided { action: action @ (Action::Install | Action::Upgrade), .. } => {
                let now = renderer.render(&subject, cluster, &Mode::Now);
                let version = subject.stored.first().map_or(0, |r| r.version) + 1;
                if let Some(error) = now.error {
                    written.push(Written {
                        release: release.clone(),
                        action,
                        version,
                        manifest: Vec::new(),
                        error: Some(error),
                    });
                    acknowledge(cluster, &hr);
                    *failures.entry(release).or_default() += 1;
                    continue;
                }
                let mut overlay = Overlay::new(&*cluster);
                live_writes(&subject, &now, &mut overlay);
                let edits = overlay.into_edits();
                let touched = cluster.apply(edits);
                record(cluster, &subject, &hr, &action, version, &now.docs);
                for changed in touched.into_iter().filter(|k| k.kind == "HelmRelease" && k.group == key.group) {
                    let next = ReleaseRef { namespace: changed.namespace, name: changed.name };
                    if !queue.contains(&next) && next != release {
                        queue.push(next);
                    }
                }
                written.push(Written { release, action, version, manifest: now.docs, error: None });
            }
            _ => acknowledge(cluster, &hr),
        }
    }
    written
}

fn release_key(release: &ReleaseRef) -> ObjectKey {
    ObjectKey {
        group: "helm.toolkit.fluxcd.io".into(),
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
    if key.kind != "HelmChart" || cluster.get(&key).present().is_some() {
        return;
    }
    let wanted = hr.text("/spec/chart/spec/chart").rsplit('/').next().unwrap_or_default().to_owned();
    let Some(chart) = charts.newest(&wanted) else { return };
    let object = json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmChart",
        "metadata": {"name": name, "namespace": namespace, "generation": 1},
        "spec": {"chart": wanted},
        "status": {"observedGeneration": 1, "observedChartName": chart.name(), "artifact": {"revision": chart.version()}},
    });
    cluster.apply([(key, Object::new(object, Default::default()).map(Rc::new))]);
}

/// The end of every run: the request counts as handled, the generation as observed (`F-59`).
fn acknowledge(cluster: &mut Snapshot, hr: &HelmRelease) {
    update(cluster, hr, |status, hr| {
        if let Some(requested) = hr.annotation("reconcile.fluxcd.io/requestedAt") {
            status.insert("lastHandledReconcileAt".into(), requested.into());
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

/// What a successful release action leaves behind: the stored revision, the history, Ready.
fn record(cluster: &mut Snapshot, subject: &Subject, hr: &HelmRelease, action: &Action, version: i64, docs: &[Doc]) {
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
    let Some(object) = Object::new(secret, Default::default()).map(Rc::new) else { return };
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
        "digest": release_digest(&stored, "", crate::flux::settings::ControllerVersion(1, 6, 0)),
    });
    cluster.apply([(object.key.clone(), Some(object))]);
    acknowledge(cluster, hr);
    let ready = json!({"type": "Ready", "status": "True", "observedGeneration": hr.generation()});
    update(cluster, hr, |status, hr| {
        let mut history = vec![snapshot];
        history.extend(status.get("history").and_then(Json::as_array).cloned().unwrap_or_default());
        status.insert("history".into(), Json::Array(history));
        status.insert("conditions".into(), json!([ready]));
        status.insert("storageNamespace".into(), hr.storage_namespace().into());
    });
}
