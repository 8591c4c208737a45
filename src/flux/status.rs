//! Writing the status of a HelmRelease: conditions, counters, history.

use std::rc::Rc;

use serde_json::{Value as Json, json};

use super::digest::{common_metadata, config_digest, doubles, post_renderers, release_digest};
use super::model::{HelmRelease, Snapshot};
use super::settings::{ControllerVersion, Settings};
use crate::cluster::storage::StoredRelease;

impl HelmRelease {
    fn status_mut(&mut self) -> Option<&mut serde_json::Map<String, Json>> {
        let json = Rc::make_mut(&mut self.json).as_object_mut()?;
        let status = json.entry("status").or_insert_with(|| json!({}));
        if !status.is_object() {
            *status = json!({});
        }
        status.as_object_mut()
    }

    /// Writes a status field.
    pub(super) fn set(&mut self, field: &str, value: impl Into<Json>) {
        if let Some(status) = self.status_mut() {
            status.insert(field.to_owned(), value.into());
        }
    }

    /// Takes a status field away.
    pub(super) fn unset(&mut self, field: &str) {
        if let Some(status) = self.status_mut() {
            status.remove(field);
        }
    }

    /// Adds one to a counter of the status.
    pub(super) fn count(&mut self, field: &str) {
        let old = self.number(&format!("/status/{field}")).unwrap_or(0);
        self.set(field, old.saturating_add(1));
    }

    /// Sets the failure counters to zero (`F-83`).
    pub(super) fn clear_failures(&mut self) {
        for field in ["failures", "installFailures", "upgradeFailures"] {
            self.unset(field);
        }
    }

    /// Adds the finalizer (`F-70`).
    pub(super) fn add_finalizer(&mut self) {
        let Some(json) = Rc::make_mut(&mut self.json).as_object_mut() else { return };
        let Some(metadata) = json.entry("metadata").or_insert_with(|| json!({})).as_object_mut() else { return };
        let list = metadata.entry("finalizers").or_insert_with(|| json!([]));
        if let Some(list) = list.as_array_mut() {
            list.push("finalizers.fluxcd.io".into());
        }
    }

    /// Writes a condition for the generation of the run.
    pub(super) fn mark(&mut self, kind: &str, status: &str, reason: &str, message: &str) {
        let generation = self.generation();
        let entry = json!({
            "type": kind, "status": status, "reason": reason, "message": message, "observedGeneration": generation,
        });
        let Some(conditions) = self.conditions_mut() else { return };
        match conditions.iter_mut().find(|c| c.get("type").and_then(Json::as_str) == Some(kind)) {
            Some(old) => *old = entry,
            None => conditions.push(entry),
        }
        // The order in which templates and people see them.
        let rank = |c: &Json| {
            let kind = c.get("type").and_then(Json::as_str).unwrap_or_default();
            let first = ["Stalled", "Reconciling", "Ready"].iter().position(|k| *k == kind).unwrap_or(3);
            (first, kind.to_owned())
        };
        conditions.sort_by_key(rank);
    }

    /// Takes conditions away.
    pub(super) fn unmark(&mut self, kinds: &[&str]) {
        if let Some(conditions) = self.conditions_mut() {
            conditions.retain(|c| !c.get("type").and_then(Json::as_str).is_some_and(|t| kinds.contains(&t)));
        }
    }

    fn conditions_mut(&mut self) -> Option<&mut Vec<Json>> {
        let status = self.status_mut()?;
        let conditions = status.entry("conditions").or_insert_with(|| json!([]));
        if !conditions.is_array() {
            *conditions = json!([]);
        }
        conditions.as_array_mut()
    }

    /// Writes the history.
    pub(super) fn set_history(&mut self, history: Vec<Snapshot>) {
        self.set("history", history.into_iter().map(|s| s.json).collect::<Vec<_>>());
    }

    /// Ready from the conditions of the actions, and the observed digests (`F-115`).
    pub(super) fn summarize(&mut self, settings: &Settings) {
        let tests = self.flag("/spec/test/enable");
        if !tests {
            self.unmark(&["TestSuccess"]);
        }
        let counts_tests = tests && !self.flag("/spec/test/ignoreFailures");
        let kinds = ["Remediated", "TestSuccess", "Released"];
        let mut best: Option<(i64, Json, &str)> = None;
        for kind in kinds.into_iter().filter(|k| *k != "TestSuccess" || counts_tests) {
            let Some(entry) = self.condition_entry(kind) else { continue };
            let generation = entry.get("observedGeneration").and_then(Json::as_i64).unwrap_or(0);
            // A later candidate has lower priority: it must be of a newer generation to win.
            if best.as_ref().is_none_or(|(old, _, _)| generation > *old) {
                best = Some((generation, entry.clone(), kind));
            }
        }
        if let Some((_, entry, kind)) = best {
            let text = |field: &str| entry.get(field).and_then(Json::as_str).unwrap_or_default().to_owned();
            let status = if kind == "Remediated" { "False".to_owned() } else { text("status") };
            self.mark("Ready", &status, &text("reason"), &text("message"));
            if status == "True" {
                self.unmark(&["Stalled"]);
            }
        }
        if settings.controller >= ControllerVersion(1, 5, 0) {
            self.observe_digests(settings);
        }
    }

    /// Stores the digests of post-renderers and common metadata of the present spec.
    pub(super) fn observe_digests(&mut self, settings: &Settings) {
        let mut digests = vec![(
            "observedPostRenderersDigest",
            post_renderers(self.json.pointer("/spec/postRenderers"), settings.digest),
        )];
        if settings.controller >= ControllerVersion(1, 4, 0) {
            let digest = common_metadata(self.json.pointer("/spec/commonMetadata"), settings.digest);
            digests.push(("observedCommonMetadataDigest", digest));
        }
        for (field, digest) in digests {
            match digest.is_empty() {
                true => self.unset(field),
                false => self.set(field, digest),
            }
        }
    }
}

/// The entry of the history that tells of a stored revision (`F-156`).
///
/// `exact` says that it has just been made and not been through storage (`F-143`).
pub(super) fn snapshot_of(
    stored: &StoredRelease,
    action: &str,
    oci: &str,
    settings: &Settings,
    exact: bool,
) -> Snapshot {
    let config = stored.config().cloned().unwrap_or_else(|| json!({}));
    let config = if exact { config } else { doubles(config, 0) };
    let mut entry = json!({
        "name": stored.name, "namespace": stored.namespace, "version": stored.version, "status": stored.status,
        "chartName": stored.chart_metadata("name"), "chartVersion": stored.chart_metadata("version"),
        "configDigest": config_digest(&config, settings.digest),
        "digest": release_digest(stored, oci, settings, exact),
    });
    let mut set = |field: &str, value: &str| {
        if let (false, Some(map)) = (value.is_empty(), entry.as_object_mut()) {
            map.insert(field.to_owned(), value.into());
        }
    };
    if settings.controller >= ControllerVersion(1, 5, 0) {
        set("apiVersion", "v2");
        set("action", action);
    }
    set("appVersion", stored.chart_metadata("appVersion"));
    set("ociDigest", oci);
    Snapshot { version: stored.version, json: entry }
}

/// An entry of the history, rewritten after its revision changed; digest of the artifact and tests stay (`F-159`).
pub(super) fn rewritten(old: &Snapshot, stored: &StoredRelease, action: &str, settings: &Settings) -> Snapshot {
    let mut new = snapshot_of(stored, action, old.text("ociDigest"), settings, false);
    if let (Some(hooks), Some(map)) = (old.json.get("testHooks"), new.json.as_object_mut()) {
        map.insert("testHooks".into(), hooks.clone());
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready(conditions: Json, spec: Json) -> (String, String) {
        let json = json!({"metadata": {"generation": 2}, "spec": spec, "status": {"conditions": conditions}});
        let mut hr = HelmRelease::new(Rc::new(json));
        hr.summarize(&Settings::default());
        let text =
            |field: &str| hr.condition_entry("Ready").and_then(|c| c[field].as_str()).unwrap_or_default().to_owned();
        (text("status"), text("reason"))
    }

    fn condition(kind: &str, status: &str, reason: &str, generation: i64) -> Json {
        json!({"type": kind, "status": status, "reason": reason, "observedGeneration": generation})
    }

    #[test]
    fn f_115_ready_copies_the_newest_and_most_important_condition() {
        let released = condition("Released", "True", "UpgradeSucceeded", 2);
        let remediated = condition("Remediated", "True", "RollbackSucceeded", 2);
        let old = condition("Remediated", "True", "RollbackSucceeded", 1);
        let test = condition("TestSuccess", "False", "TestFailed", 2);
        for (conditions, spec, status, reason) in [
            (json!([released]), json!({}), "True", "UpgradeSucceeded"),
            (json!([released, remediated]), json!({}), "False", "RollbackSucceeded"),
            (json!([old, released]), json!({}), "True", "UpgradeSucceeded"),
            (json!([released, test]), json!({"test": {"enable": true}}), "False", "TestFailed"),
            (
                json!([released, test]),
                json!({"test": {"enable": true, "ignoreFailures": true}}),
                "True",
                "UpgradeSucceeded",
            ),
            (json!([released, test]), json!({}), "True", "UpgradeSucceeded"),
        ] {
            assert_eq!(ready(conditions.clone(), spec), (status.into(), reason.into()), "{conditions}");
        }
    }
}
