//! The actions of a run: what each writes to the status, to Helm's storage, and to the cluster.

use serde_json::{Value as Json, json};

use super::super::decide::{Action, Prepared};
use super::super::model::Snapshot as Entry;
use super::super::preserve::{predecessor, preserved};
use super::super::state::{ignores_tests, retries_by_strategy};
use super::super::status::{rewritten, snapshot_of};
use super::super::storage;
use super::ends::{full_name, spelled};
use super::{Applied, Done, Request, Run};
use crate::cluster::storage::StoredRelease;

impl Run<'_> {
    /// Runs an action; `Err` if it failed without storing anything.
    pub(super) fn act(&mut self, action: &Action, prepared: &Prepared, stored: &[StoredRelease]) -> Result<(), ()> {
        match action {
            Action::Install => self.release(action, "install", prepared, stored),
            Action::Upgrade => self.release(action, "upgrade", prepared, stored),
            Action::Unlock => {
                if let Some(newest) = stored.first() {
                    let why = format!("Release unlocked from stale '{}' state", newest.status);
                    storage::mark(self.cluster, &self.hr, newest, "failed", Some(&why));
                    self.hr.mark("Released", "False", "PendingRelease", &why);
                    self.event(false, "PendingRelease");
                    self.hr.summarize(self.settings);
                    self.rewrite(newest.version, "");
                    self.note(action, Some(newest.version), None);
                }
                Ok(())
            }
            Action::Test => {
                self.test(stored);
                Ok(())
            }
            Action::Rollback { to } => self.rollback(*to, stored),
            Action::Uninstall => {
                self.uninstall(stored);
                Ok(())
            }
            Action::CorrectDrift => {
                if let Some(newest) = stored.first() {
                    let result = self.helm.restore(self.cluster, &self.hr, newest);
                    match result.is_ok() {
                        true => self.event(false, "DriftCorrected"),
                        false => self.event(true, "DriftCorrectionFailed"),
                    }
                    self.note(action, None, result.err());
                }
                Ok(())
            }
            Action::None | Action::RetriesExceeded | Action::MissingRollbackTarget => Err(()),
        }
    }

    /// Ready tells that an action runs (`F-111` d).
    pub(super) fn progress(&mut self, action: &str) {
        let timeout = spelled(self.hr.timeout(action));
        let message = format!("Running '{action}' action with timeout of {timeout}");
        self.hr.mark("Ready", "Unknown", "Progressing", &message);
        self.hr.mark("Reconciling", "True", "Progressing", &message);
    }

    fn note(&mut self, action: &Action, version: Option<i64>, error: Option<String>) {
        self.done.push(Done { action: action.clone(), version, error });
    }

    fn release(
        &mut self,
        action: &Action,
        name: &str,
        prepared: &Prepared,
        stored: &[StoredRelease],
    ) -> Result<(), ()> {
        let install = *action == Action::Install;
        if install {
            self.hr.set_history(Vec::new());
        }
        self.hr.set("lastAttemptedReleaseAction", name);
        self.hr.unmark(&["TestSuccess", "Remediated"]);
        let version = stored.first().map_or(0, |r| r.version) + 1;
        let failure = if install { "InstallFailed" } else { "UpgradeFailed" };
        let success = if install { "InstallSucceeded" } else { "UpgradeSucceeded" };
        self.progress(name);
        // Templates that look the HelmRelease up see it so.
        self.persist();
        let blocked = storage::refusal(install, &self.hr, stored, self.settings.controller)
            .or_else(|| storage::hidden(self.cluster, &self.hr, version).then(|| "release: already exists".to_owned()));
        let current = predecessor(stored).and_then(|version| stored.iter().find(|r| r.version == version));
        let values = match current.filter(|_| !install) {
            Some(current) => preserved(&self.hr, &prepared.values, current),
            None => prepared.values.clone(),
        };
        let applied = match blocked {
            Some(error) => Applied::Refused(error),
            None => {
                let request = Request { hr: &self.hr, action, version, values: &values };
                self.helm.release(self.cluster, &request)
            }
        };
        match applied {
            Applied::Refused(error) => {
                self.hr.count("failures");
                self.released(false, name, Some(&error));
                self.event(true, failure);
                self.hr.summarize(self.settings);
                self.note(action, None, Some(error));
                Err(())
            }
            Applied::Stored { payload, failed } => {
                let payload = self.payload(payload, version, failed.as_deref(), name, prepared, &values);
                storage::add(self.cluster, &self.hr, &payload);
                self.observe(name, &prepared.chart.oci_digest, predecessor(stored));
                match failed.is_some() {
                    true => self.event(true, failure),
                    false => self.event(false, success),
                }
                match &failed {
                    Some(error) => {
                        self.hr.count("failures");
                        self.hr.count(&format!("{name}Failures"));
                        self.released(false, name, Some(error));
                    }
                    None => {
                        if retries_by_strategy(&self.hr, self.settings, name) {
                            self.hr.clear_failures();
                        }
                        self.released(true, name, None);
                        if self.hr.flag("/spec/test/enable") {
                            self.hr.mark("TestSuccess", "Unknown", "AwaitingTests", "awaiting test results");
                        }
                    }
                }
                self.hr.summarize(self.settings);
                self.note(action, Some(version), failed);
                Ok(())
            }
        }
    }

    fn payload(
        &self,
        parts: Json,
        version: i64,
        failed: Option<&str>,
        action: &str,
        prepared: &Prepared,
        values: &Json,
    ) -> Json {
        let complete = if action == "install" { "Install complete" } else { "Upgrade complete" };
        let config = values.clone();
        let refused = failed.map(|error| {
            let what = if action == "install" { "Release" } else { "Upgrade" };
            format!("{what} {:?} failed: {error}", self.hr.release_name())
        });
        let empty = config.as_object().is_none_or(serde_json::Map::is_empty);
        let mut payload = json!({
            "name": self.hr.release_name(), "namespace": self.hr.release_namespace(), "version": version,
            "info": {
                "status": if failed.is_some() { "failed" } else { "deployed" },
                "description": refused.as_deref().unwrap_or(complete),
            },
            "config": if empty { Json::Null } else { config },
            "chart": {"metadata": {"name": prepared.chart.name, "version": prepared.chart.version}},
            "manifest": "", "hooks": null,
        });
        if let (Some(into), Json::Object(parts)) = (payload.as_object_mut(), parts) {
            into.extend(parts);
        }
        payload
    }

    /// The history after an action: the newest revision in front, the one before rewritten (`F-159`).
    fn observe(&mut self, action: &str, oci: &str, predecessor: Option<i64>) {
        let all = storage::revisions(self.cluster, &self.hr);
        let Some(newest) = all.first() else { return };
        let mut history = self.hr.history();
        history.retain(|s| s.version != newest.version);
        if let Some(older) = history.iter_mut().find(|s| Some(s.version) == predecessor)
            && let Some(stored) = all.iter().find(|r| r.version == older.version)
        {
            *older = rewritten(older, stored, "", self.settings);
        }
        history.insert(0, snapshot_of(newest, action, oci, self.settings, true));
        self.hr.set_history(history);
    }

    /// Rewrites the entry of one revision, if the history has it.
    fn rewrite(&mut self, version: i64, action: &str) {
        let all = storage::revisions(self.cluster, &self.hr);
        let Some(stored) = all.iter().find(|r| r.version == version) else { return };
        let mut history: Vec<Entry> = self.hr.history();
        if let Some(entry) = history.iter_mut().find(|s| s.version == version) {
            *entry = rewritten(entry, stored, action, self.settings);
            self.hr.set_history(history);
        }
    }

    fn test(&mut self, stored: &[StoredRelease]) {
        let Some(newest) = stored.first() else { return };
        let results = self.helm.test(self.cluster, &self.hr, newest);
        let failed = results.iter().find_map(|(_, error)| error.clone());
        let count = results.len();
        let hooks: serde_json::Map<String, Json> = results
            .into_iter()
            .map(|(name, error)| (name, json!({"phase": if error.is_none() { "Succeeded" } else { "Failed" }})))
            .collect();
        let mut history = self.hr.history();
        if let Some(map) = history.first_mut().and_then(|s| s.json.as_object_mut()) {
            map.insert("testHooks".into(), Json::Object(hooks));
        }
        self.hr.set_history(history);
        if let Some(error) = &failed {
            let name = self.hr.history().first().map(full_name).unwrap_or_default();
            let message = format!("Helm test failed for release {name}: {error}");
            self.hr.mark("TestSuccess", "False", "TestFailed", &message);
            self.event(true, "TestFailed");
            self.hr.count("failures");
            let last = self.hr.text("/status/lastAttemptedReleaseAction").to_owned();
            if !ignores_tests(&self.hr) && !last.is_empty() {
                self.hr.count(&format!("{last}Failures"));
            }
        } else {
            let name = self.hr.history().first().map(full_name).unwrap_or_default();
            let hooks = if count == 1 { "hook" } else { "hooks" };
            let message =
                format!("Helm test succeeded for release {name}: {count} test {hooks} completed successfully");
            self.hr.mark("TestSuccess", "True", "TestSucceeded", &message);
            self.event(false, "TestSucceeded");
        }
        self.hr.summarize(self.settings);
        self.note(&Action::Test, None, failed);
    }

    fn rollback(&mut self, to: i64, stored: &[StoredRelease]) -> Result<(), ()> {
        let action = Action::Rollback { to };
        let Some(target) = stored.iter().find(|r| r.version == to) else { return Err(()) };
        let version = stored.first().map_or(0, |r| r.version) + 1;
        let result = self.helm.restore(self.cluster, &self.hr, target);
        let mut payload = (*target.json).clone();
        if let Some(map) = payload.as_object_mut() {
            map.insert("version".into(), version.into());
            let status = if result.is_ok() { "deployed" } else { "failed" };
            map.insert("info".into(), json!({"status": status, "description": format!("Rollback to {to}")}));
        }
        storage::add(self.cluster, &self.hr, &payload);
        self.observe_all("rollback");
        let (status, reason) = if result.is_ok() { ("True", "RollbackSucceeded") } else { ("False", "RollbackFailed") };
        if result.is_err() {
            self.hr.count("failures");
        }
        let target = self.hr.history().into_iter().find(|s| s.version == to).map(|s| full_name(&s)).unwrap_or_default();
        let result_word = if result.is_ok() { "succeeded" } else { "failed" };
        let message = format!("Helm rollback to previous release {target} {result_word}");
        self.hr.mark("Remediated", status, reason, &message);
        self.event(result.is_err(), reason);
        self.hr.summarize(self.settings);
        self.note(&action, Some(version), result.err());
        Ok(())
    }

    /// Like [`Self::observe`], with the action's name on every entry that is rewritten (`F-156`).
    fn observe_all(&mut self, action: &str) {
        let all = storage::revisions(self.cluster, &self.hr);
        let Some(newest) = all.first() else { return };
        let mut history = self.hr.history();
        history.retain(|s| s.version != newest.version);
        for entry in &mut history {
            let stored = all.iter().find(|r| r.version == entry.version);
            if let Some(stored) = stored.filter(|r| r.status != entry.text("status")) {
                *entry = rewritten(entry, stored, action, self.settings);
            }
        }
        let target = history.iter().find(|s| matches!(s.text("status"), "superseded" | "deployed"));
        let oci = target.map(|s| s.text("ociDigest").to_owned()).unwrap_or_default();
        history.insert(0, snapshot_of(newest, action, &oci, self.settings, false));
        self.hr.set_history(history);
    }

    /// An uninstall as remediation: Ready is not summarized (`F-113`).
    fn uninstall(&mut self, stored: &[StoredRelease]) {
        let keep = self.hr.flag("/spec/uninstall/keepHistory");
        if let Some(newest) = stored.first() {
            self.helm.remove(self.cluster, &self.hr, newest);
            let status = if keep { "uninstalled" } else { "uninstalling" };
            storage::mark(self.cluster, &self.hr, newest, status, Some("Uninstallation complete"));
            self.rewrite(newest.version, "uninstall-remediation");
        }
        if !keep {
            storage::delete(self.cluster, stored);
        }
        let name = self.hr.history().first().map(full_name).unwrap_or_default();
        let message = format!("Helm uninstall remediation for release {name} succeeded");
        self.hr.mark("Remediated", "True", "UninstallSucceeded", &message);
        self.event(false, "UninstallSucceeded");
        self.note(&Action::Uninstall, None, None);
    }

    /// Uninstalls a deleted HelmRelease's release; false if a hook or the API server refuses (`F-69`).
    pub(super) fn uninstall_all(&mut self, stored: &[StoredRelease]) -> bool {
        let Some(newest) = stored.first() else { return true };
        if let Some(error) = self.helm.refuses_removal(&self.hr, newest) {
            storage::mark(
                self.cluster,
                &self.hr,
                newest,
                "uninstalling",
                Some("Deletion in progress (or silently failed)"),
            );
            self.rewrite(newest.version, "uninstall");
            let name = self.hr.history().first().map(full_name).unwrap_or_default();
            let message = format!("Helm uninstall failed for release {name}: {error}");
            self.hr.mark("Released", "False", "UninstallFailed", &message);
            self.hr.count("failures");
            self.event(true, "UninstallFailed");
            self.hr.summarize(self.settings);
            return false;
        }
        self.helm.remove(self.cluster, &self.hr, newest);
        self.event(false, "UninstallSucceeded");
        storage::delete(self.cluster, stored);
        true
    }
}
