//! The cluster as a step finds it: the snapshot before, brought up to what the step before tells of its end.

use std::collections::BTreeMap;
use std::rc::Rc;

use helm_render_predictor::cluster::object::Object;
use helm_render_predictor::cluster::snapshot::{Facts, Snapshot};
use helm_render_predictor::cluster::storage::{StoredRelease, stored};
use helm_render_predictor::flux::HelmRelease;
use helm_render_predictor::flux::settings::ControllerVersion;
use helm_render_predictor::report::contract::ReleaseRef;
use libtest_mimic::Failed;
use serde_json::{Value as Json, json};

use crate::episode::Episode;
use crate::status::{differences, messages, told};
use crate::write::{helm_release, releases};

impl Episode {
    /// The snapshot before a step; where the outcome of the step before is later, with the status that it tells.
    pub fn before(&self, number: u64) -> Result<Snapshot, Failed> {
        let mut cluster = self.snapshot(number - 1)?;
        let steps = self.json["steps"].as_array();
        let Some(step) = steps.into_iter().flatten().find(|s| s["step"] == number - 1) else { return Ok(cluster) };
        for release in releases(&cluster) {
            let key = helm_release(&release);
            let Some(object) = cluster.get(&key).present() else { continue };
            let mut later = told(step, &release, &object.json);
            if !fits(&cluster, &HelmRelease::new(Rc::new(later.clone()))) {
                continue;
            }
            whole(&mut later, &object.json, self.json["controller"].as_str().unwrap_or_default());
            if !differences(&later, &object.json, false).is_empty() || messages(&later) != messages(&object.json) {
                cluster.apply([(key, Object::new(later, Default::default()).map(Rc::new))]);
            }
        }
        Ok(cluster)
    }
}

/// The revision that Helm is writing.
fn pending(cluster: &Snapshot, hr: &HelmRelease) -> Option<StoredRelease> {
    let newest = stored(cluster, &hr.storage_namespace(), &hr.release_name()).0.into_iter().next();
    newest.filter(|r| r.status.starts_with("pending-"))
}

/// Whether the newest entry of a history tells of the newest stored revision.
fn fits(cluster: &Snapshot, hr: &HelmRelease) -> bool {
    let newest = stored(cluster, &hr.storage_namespace(), &hr.release_name()).0.into_iter().next();
    match (newest, hr.history().first()) {
        (Some(stored), Some(told)) => stored.version == told.version && stored.status == told.text("status"),
        (Some(stored), None) => !stored.status.starts_with("pending-"),
        (None, told) => told.is_none(),
    }
}

/// Gives the entries of a history the fields that an outcome leaves out.
fn whole(later: &mut Json, snapshot: &Json, controller: &str) {
    let hr = HelmRelease::new(Rc::new(later.clone()));
    let old: Vec<Json> = snapshot["status"]["history"].as_array().cloned().unwrap_or_default();
    for entry in later["status"]["history"].as_array_mut().into_iter().flatten() {
        let same = old.iter().find(|o| o["version"] == entry["version"]);
        let mut rest = same.cloned().unwrap_or_else(|| {
            let mut rest = json!({"name": hr.release_name(), "namespace": hr.release_namespace()});
            if controller.parse().is_ok_and(|version: ControllerVersion| version >= ControllerVersion(1, 5, 0)) {
                rest["apiVersion"] = "v2".into();
            }
            rest
        });
        for field in ["action", "ociDigest", "testHooks"] {
            rest.as_object_mut().map(|rest| rest.remove(field));
        }
        if let (Some(rest), Some(entry)) = (rest.as_object_mut(), entry.as_object()) {
            rest.extend(entry.clone());
        }
        *entry = rest;
    }
}

/// Revisions that Helm was writing when the snapshot was taken, and that the step sees through. The cluster is taken back
/// to where these actions began.
pub fn rewind(cluster: &mut Snapshot, after: &Snapshot) -> BTreeMap<ReleaseRef, StoredRelease> {
    let mut begun = BTreeMap::new();
    for release in releases(cluster) {
        let key = helm_release(&release);
        let Some(object) = cluster.get(&key).present() else { continue };
        let hr = HelmRelease::new(object.json.clone());
        let acts = hr.condition_entry("Reconciling").and_then(|c| c.get("message")?.as_str());
        if !acts.is_some_and(|message| message.starts_with("Running '")) {
            continue;
        }
        let Some(begun_then) = pending(cluster, &hr) else { continue };
        if pending(after, &hr).is_some_and(|r| r.version == begun_then.version) {
            continue;
        }
        let mut json = (*object.json).clone();
        let note =
            |json: &Json, name: &str| json["metadata"]["annotations"][format!("reconcile.fluxcd.io/{name}")].clone();
        let asked = note(&json, "requestedAt");
        // The run under way has marked its token as handled before it acted (F-63), and ends with the request (F-59).
        let under_way = asked.is_string() && json["status"]["lastHandledReconcileAt"] != asked;
        if under_way
            && note(&json, "forceAt") == asked
            && let Some(status) = json["status"].as_object_mut()
        {
            status.remove("lastHandledForceAt");
        }
        cluster
            .apply([(begun_then.object.key.clone(), None), (key, Object::new(json, Default::default()).map(Rc::new))]);
        begun.insert(release, begun_then);
    }
    begun
}
