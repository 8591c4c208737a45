//! State of a release and the action on it (`F-90` to `F-110`).

use serde_json::Value as Json;

use super::decide::{Action, Exit, Outcome, State, Trace};
use super::digest::{common_metadata, config_matches, is_valid, post_renderers, release_matches};
use super::drift;
use super::model::{HelmRelease, Snapshot};
use super::settings::{ControllerVersion, Settings};
use super::source::ChartIdentity;
use super::why::compares_metadata;
use crate::base::Known;
use crate::cluster::snapshot::Facts;
use crate::cluster::storage::{StoredRelease, is_storage};

/// What a pass of the loop looks at (`F-111`).
pub(super) struct Pass<'a> {
    /// The HelmRelease with its status of now.
    pub hr: &'a HelmRelease,
    /// The cluster.
    pub facts: &'a dyn Facts,
    /// Stored revisions, newest first.
    pub stored: &'a [StoredRelease],
    /// Version and flags.
    pub settings: &'a Settings,
    /// The chart that is loaded.
    pub chart: &'a ChartIdentity,
    /// Composed values.
    pub values: &'a Json,
    /// A force token is honoured (`F-57`).
    pub force: bool,
    /// The failure counters count as zero (`F-83`).
    pub reset: bool,
    /// What drift detection finds, if that is given.
    pub drift: Option<drift::Drift>,
}

impl Pass<'_> {
    /// State and action.
    pub fn decide(&self, trace: &mut Trace) -> Outcome {
        match self.state(trace) {
            Ok((state, reason)) => {
                let action = self.action(state);
                let forced = self.force && self.force_matters(state);
                let token = match (self.force, forced) {
                    (true, true) => " (force token honoured)",
                    (true, false) => " (force token consumed without effect, F-62)",
                    _ => "",
                };
                let rule = match state {
                    State::InSync => "F-106",
                    State::Locked => "F-107",
                    State::Absent => "F-108",
                    State::Failed => "F-110",
                    _ => "F-109",
                };
                trace.check(rule, format!("{state:?} → {action}{token}"));
                Outcome::Decided { state, reason, action, forced }
            }
            Err(outcome) => outcome,
        }
    }

    /// The first condition that holds (`F-90` to `F-102`).
    fn state(&self, trace: &mut Trace) -> Result<(State, String), Outcome> {
        let hr = self.hr;
        let Some(newest) = self.stored.first() else { return self.nothing_stored(trace) };
        let status = newest.status.as_str();
        trace.check("F-90", format!("stored: v{} {status}", newest.version));
        if matches!(status, "pending-install" | "pending-upgrade" | "pending-rollback") {
            let reason = format!("release with status '{status}'");
            trace.check("F-91", reason.clone());
            return Ok((State::Locked, reason));
        }
        let history = hr.history();
        let Some(current) = history.first() else {
            trace.check("F-92", "status.history is empty");
            return Ok(match status {
                "uninstalled" => (State::Absent, "found uninstalled release in storage".into()),
                _ => (State::Unmanaged, "found existing release in storage".into()),
            });
        };
        if let Some(reason) = self.foreign(newest, current, trace) {
            return Ok((State::Unmanaged, reason.into()));
        }
        match status {
            "deployed" => {}
            "failed" => {
                trace.check("F-94", "the stored release is failed");
                return Ok((State::Failed, String::new()));
            }
            "uninstalled" => {
                trace.check("F-95", "the stored release is uninstalled");
                return Ok((State::Absent, "found uninstalled release in storage".into()));
            }
            other => {
                let text = format!("unable to determine state for release with status '{other}'");
                trace.check("F-95", text.clone());
                return Err(Outcome::Exited(Exit::StateError(text)));
            }
        }
        if let Some(reason) = self.out_of_sync(newest, current, trace)? {
            return Ok((State::OutOfSync, reason.into()));
        }
        if hr.flag("/spec/test/enable") {
            if !tested(&current.json, self.settings.controller) {
                trace.check("F-100", "tests are enabled and have not run");
                return Ok((State::Untested, "release has not been tested".into()));
            }
            let last = hr.text("/status/lastAttemptedReleaseAction");
            if !last.is_empty() && !ignores_tests(hr) && test_failed(&current.json) {
                trace.check("F-101", "a test failed, and failures of tests count");
                return Ok((State::Failed, "release has test in failed phase".into()));
            }
        }
        self.drifted(newest, trace)
    }

    fn nothing_stored(&self, trace: &mut Trace) -> Result<(State, String), Outcome> {
        let namespace = self.hr.storage_namespace();
        let secrets = match self.facts.list("", "Secret", Some(&namespace)) {
            Known::Uncollected => {
                trace.check("F-90", "Helm's storage was not collected");
                return Err(Outcome::Unknown { missing: vec![format!("Secrets of namespace {namespace}")] });
            }
            known => known.present().unwrap_or_default(),
        };
        if self.hr.json.pointer("/spec/kubeConfig").is_some_and(|k| !k.is_null()) {
            trace.check("F-18", "the release and its storage are on another cluster");
            return Err(Outcome::Unknown { missing: vec!["Helm's storage on the cluster of spec.kubeConfig".into()] });
        }
        let name = self.hr.release_name();
        if secrets.iter().any(|o| is_storage(o) && o.text("/metadata/labels/name") == name) {
            trace.check("F-90", "Helm's storage does not decode");
            return Err(Outcome::Exited(Exit::StateError("Helm's storage does not decode".into())));
        }
        trace.check("F-90", "no release in storage");
        Ok((State::Absent, "no release in storage for object".into()))
    }

    /// Why the stored release is not the one that the history tells of (`F-93`).
    fn foreign(&self, newest: &StoredRelease, current: &Snapshot, trace: &mut Trace) -> Option<&'static str> {
        let legacy = current.text("apiVersion") != "v2";
        if legacy && self.settings.controller >= ControllerVersion(1, 5, 0) {
            trace.check("F-93", "the history was written by an older controller: not compared with the stored release");
            return None;
        }
        let digest = current.text("digest");
        if !is_valid(digest) {
            trace.check("F-93", "the digest in status.history is none");
            return Some("release digest verification error");
        }
        if !release_matches(digest, newest, current.text("ociDigest"), self.settings.controller) {
            trace.check("F-93", "the stored release is not the one in status.history");
            return Some("release not observed to be made for object");
        }
        trace.check("F-93", "the stored release is the one in status.history");
        None
    }

    /// Why a deployed release has to be upgraded (`F-96` to `F-99`).
    fn out_of_sync(
        &self,
        newest: &StoredRelease,
        current: &Snapshot,
        trace: &mut Trace,
    ) -> Result<Option<&'static str>, Outcome> {
        let (name, version) = (newest.chart_metadata("name"), newest.chart_metadata("version"));
        if name != self.chart.name || version != self.chart.version {
            let wanted = format!("{}@{}", self.chart.name, self.chart.version);
            trace.check("F-96", format!("chart {name}@{version} is stored, {wanted} is wanted"));
            return Ok(Some("release chart changed"));
        }
        trace.check("F-96", format!("chart {name}@{version} is the wanted one"));
        if self.settings.controller < ControllerVersion(1, 4, 0) && random_order(self.values) {
            trace.check("F-374", "maps in lists of lists: the digest of the values comes out at random");
            return Err(Outcome::Unknown {
                missing: vec!["the values digest, which is drawn at random (F-374)".into()],
            });
        }
        if !config_matches(current.text("configDigest"), self.values) {
            trace.check("F-97", "the digest of the composed values differs");
            return Ok(Some("release config values changed"));
        }
        trace.check("F-97", "the digest of the composed values is the stored one");
        if !compares_metadata(self.hr, self.settings) {
            trace.check("F-98", "no new generation: post-renderers and common metadata are not compared");
            return Ok(None);
        }
        let hr = self.hr;
        if post_renderers(hr.json.pointer("/spec/postRenderers"), self.settings.digest)
            != hr.text("/status/observedPostRenderersDigest")
        {
            trace.check("F-98", "post-renderers changed with the new generation");
            return Ok(Some("postrenderers digest has changed"));
        }
        if self.settings.controller >= ControllerVersion(1, 4, 0)
            && common_metadata(hr.json.pointer("/spec/commonMetadata"), self.settings.digest)
                != hr.text("/status/observedCommonMetadataDigest")
        {
            trace.check("F-99", "common metadata changed with the new generation");
            return Ok(Some("common metadata digest has changed"));
        }
        trace.check("F-99", "post-renderers and common metadata are the observed ones");
        Ok(None)
    }

    fn drifted(&self, newest: &StoredRelease, trace: &mut Trace) -> Result<(State, String), Outcome> {
        let hr = self.hr;
        if matches!(hr.text("/spec/driftDetection/mode"), "enabled" | "warn") {
            let seen = hr.condition("Drifted") == Some("True");
            let found = self.drift.clone().unwrap_or_else(|| drift::drift(hr, newest, self.facts));
            match found {
                drift::Drift::Refused(why) => {
                    let text = format!("unable to determine cluster state: {why}");
                    trace.check("F-102", text.clone());
                    return Err(Outcome::Exited(Exit::StateError(text)));
                }
                drift::Drift::Found(what) => {
                    trace.check("F-102", format!("drifted: {what}"));
                    return Ok((State::Drifted, what));
                }
                drift::Drift::Unsure if seen => {
                    trace.check("F-102", "drift detection is on, and the last run found drift");
                    return Ok((State::Drifted, "detected changes in cluster state".into()));
                }
                drift::Drift::Unsure => {
                    trace.check("F-105", "drift detection is on; part of the objects could not be compared")
                }
                drift::Drift::None => trace.check("F-102", "drift detection is on and finds nothing"),
            }
        }
        trace.check("F-103", "in sync: templates, lookups and capabilities are not looked at");
        Ok((State::InSync, "release in-sync with desired state".into()))
    }

    /// The action table (`F-106` to `F-110`).
    fn action(&self, state: State) -> Action {
        match state {
            State::InSync if self.force => Action::Upgrade,
            State::InSync => Action::None,
            State::Locked => Action::Unlock,
            State::Absent if self.exhausted("install") && !self.force => Action::RetriesExceeded,
            State::Absent => Action::Install,
            State::Unmanaged => Action::Upgrade,
            State::OutOfSync if self.exhausted("upgrade") && !self.force => Action::RetriesExceeded,
            State::OutOfSync => Action::Upgrade,
            State::Drifted if self.hr.text("/spec/driftDetection/mode") == "enabled" => Action::CorrectDrift,
            State::Drifted => Action::None,
            State::Untested => Action::Test,
            State::Failed => self.failed(),
        }
    }

    /// States in which a force makes a difference (`F-62`).
    fn force_matters(&self, state: State) -> bool {
        match state {
            State::InSync => true,
            State::Absent => self.exhausted("install"),
            State::OutOfSync => self.exhausted("upgrade"),
            State::Failed => self.counter(self.hr.text("/status/lastAttemptedReleaseAction")) > 0,
            State::Drifted | State::Untested | State::Locked | State::Unmanaged => false,
        }
    }

    /// Failures that count, of `install` or `upgrade`.
    fn counter(&self, action: &str) -> i64 {
        if self.reset {
            return 0;
        }
        self.hr.number(&format!("/status/{action}Failures")).unwrap_or(0)
    }

    fn exhausted(&self, action: &str) -> bool {
        let retries = self.hr.number(&format!("/spec/{action}/remediation/retries")).unwrap_or(0);
        retries >= 0 && self.counter(action) > retries && !retries_by_strategy(self.hr, self.settings, action)
    }

    /// What follows a failed release (`F-110`).
    fn failed(&self) -> Action {
        let hr = self.hr;
        let last = hr.text("/status/lastAttemptedReleaseAction");
        if last.is_empty() || self.force || retries_by_strategy(hr, self.settings, last) || self.counter(last) <= 0 {
            return Action::Upgrade;
        }
        let retries = hr.number(&format!("/spec/{last}/remediation/retries")).unwrap_or(0);
        let exhausted = retries >= 0 && self.counter(last) > retries;
        if exhausted && !remediates_last(hr, last) {
            return Action::RetriesExceeded;
        }
        if remediates_by_uninstall(hr, last) {
            return Action::Uninstall;
        }
        let history = hr.history();
        let Some(previous) = previous(&history, ignores_tests(hr)) else { return Action::MissingRollbackTarget };
        let legacy = previous.text("apiVersion") != "v2" && self.settings.controller >= ControllerVersion(1, 5, 0);
        let stored = self.stored.iter().find(|r| r.version == previous.version);
        let intact = stored.is_some_and(|stored| {
            let oci = previous.text("ociDigest");
            legacy || release_matches(previous.text("digest"), stored, oci, self.settings.controller)
        });
        if intact { Action::Rollback { to: previous.version } } else { Action::Upgrade }
    }
}

/// Whether failures of `install` or `upgrade` are answered by the strategy RetryOnFailure (`F-36`).
pub(super) fn retries_by_strategy(hr: &HelmRelease, settings: &Settings, action: &str) -> bool {
    if settings.controller < ControllerVersion(1, 4, 0) || action.is_empty() {
        return false;
    }
    match hr.text(&format!("/spec/{action}/strategy/name")) {
        "RetryOnFailure" => true,
        "" => settings.default_to_retry && hr.json.pointer(&format!("/spec/{action}/strategy")).is_none(),
        _ => false,
    }
}

/// `remediateLastFailure` of an action, with its default (`F-31`, `F-32`).
pub(super) fn remediates_last(hr: &HelmRelease, action: &str) -> bool {
    let set = hr.json.pointer(&format!("/spec/{action}/remediation/remediateLastFailure")).and_then(Json::as_bool);
    let retries = hr.number(&format!("/spec/{action}/remediation/retries")).unwrap_or(0);
    set.unwrap_or(action == "upgrade" && retries > 0)
}

/// Whether a failed action is remedied by an uninstall, not by a rollback (`F-31`, `F-32`).
pub(super) fn remediates_by_uninstall(hr: &HelmRelease, action: &str) -> bool {
    action == "install" || hr.text("/spec/upgrade/remediation/strategy") == "uninstall"
}

/// Whether failed tests do not count (`F-33`).
pub(super) fn ignores_tests(hr: &HelmRelease) -> bool {
    let last = hr.text("/status/lastAttemptedReleaseAction");
    let own = hr.json.pointer(&format!("/spec/{last}/remediation/ignoreTestFailures")).and_then(Json::as_bool);
    own.unwrap_or_else(|| hr.flag("/spec/test/ignoreFailures"))
}

/// The revision to roll back to: the first deployed or superseded one after the latest (`F-137`).
pub(super) fn previous(history: &[Snapshot], ignore_tests: bool) -> Option<&Snapshot> {
    let good = |s: &&Snapshot| matches!(s.text("status"), "deployed" | "superseded");
    history.iter().skip(1).filter(good).find(|s| ignore_tests || !test_failed(&s.json))
}

/// Number of entries that a truncation keeps (`F-138`; with `retry`, `F-139`).
pub(super) fn kept(history: &[Snapshot], ignore_tests: bool, retry: bool) -> usize {
    const MOST: usize = 5;
    if retry || history.len() < 2 {
        return history.len().min(MOST);
    }
    match previous(history, ignore_tests) {
        Some(previous) => history.iter().position(|s| std::ptr::eq(s, previous)).map_or(history.len(), |at| at + 1),
        None => history.len().min(MOST),
    }
}

/// Phases of the tests of a revision; `None` if they never ran.
fn phases(snapshot: &Json) -> Option<Vec<&str>> {
    let hooks = snapshot.get("testHooks")?.as_object()?;
    Some(hooks.values().map(|h| h.get("phase").and_then(Json::as_str).unwrap_or_default()).collect())
}

fn test_failed(snapshot: &Json) -> bool {
    phases(snapshot).is_some_and(|phases| phases.contains(&"Failed"))
}

/// Whether the tests of a revision count as run (`F-142`, `F-308`).
fn tested(snapshot: &Json, controller: ControllerVersion) -> bool {
    let Some(phases) = phases(snapshot) else { return false };
    // 1.6.2 stands for the recorded build, which had the rule of 1.6.3.
    controller < ControllerVersion(1, 6, 2) || phases.contains(&"Failed") || phases.iter().all(|p| *p == "Succeeded")
}

/// Whether values hold a map of several keys below a list in a list (`F-374`).
fn random_order(values: &Json) -> bool {
    fn walk(json: &Json, in_list: bool, nested: bool, depth: usize) -> bool {
        if depth > crate::value::MAX_DEPTH {
            return false;
        }
        match json {
            Json::Array(list) => list.iter().any(|item| walk(item, true, nested || in_list, depth + 1)),
            Json::Object(map) => (nested && map.len() > 1) || map.values().any(|v| walk(v, false, nested, depth + 1)),
            _ => false,
        }
    }
    walk(values, false, false, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn history(entries: &[(i64, &str, Json)]) -> Vec<Snapshot> {
        let entry = |(version, status, hooks): &(i64, &str, Json)| Snapshot {
            version: *version,
            json: json!({"version": version, "status": status, "testHooks": hooks}),
        };
        entries.iter().map(entry).collect()
    }

    #[test]
    fn f_158_truncation_keeps_up_to_the_rollback_target() {
        let none = Json::Null;
        let failed = json!({"t": {"phase": "Failed"}});
        let one = history(&[
            (4, "deployed", none.clone()),
            (3, "failed", none.clone()),
            (2, "superseded", none.clone()),
            (1, "superseded", none.clone()),
        ]);
        assert_eq!((kept(&one, false, false), kept(&one, false, true)), (3, 4));
        let two = history(&[
            (4, "deployed", none.clone()),
            (3, "superseded", failed.clone()),
            (2, "superseded", none.clone()),
        ]);
        assert_eq!((kept(&two, false, false), kept(&two, true, false)), (3, 2));
        let three = history(&[
            (6, "deployed", none.clone()),
            (5, "failed", none.clone()),
            (4, "failed", none.clone()),
            (3, "failed", none.clone()),
            (2, "failed", none.clone()),
            (1, "failed", none.clone()),
        ]);
        assert_eq!(kept(&three, false, false), 5);
        assert_eq!(kept(&history(&[(1, "deployed", none.clone())]), false, false), 1);
        let four =
            history(&[(3, "failed", none.clone()), (2, "deployed", none.clone()), (1, "superseded", none.clone())]);
        assert_eq!(previous(&four, false).map(|s| s.version), Some(2));
        let five = history(&[(4, "deployed", none), (3, "superseded", failed)]);
        assert!(previous(&five, false).is_none());
    }

    #[test]
    fn f_142_f_158_f_308_tests_count_as_run_when_all_succeeded_or_one_failed() {
        let now = ControllerVersion(1, 6, 3);
        for (hooks, want) in [
            (Json::Null, false),
            (json!({}), true),
            (json!({"a": {"phase": "Succeeded"}, "b": {}}), false),
            (json!({"a": {"phase": "Failed"}, "b": {}}), true),
            (json!({"a": null}), false),
            (json!({"a": {"phase": "Running"}}), false),
        ] {
            assert_eq!(tested(&json!({"testHooks": hooks}), now), want, "{hooks}");
        }
        assert!(tested(&json!({"testHooks": {"a": {"phase": "Running"}}}), ControllerVersion(1, 5, 0)), "F-308");
    }

    #[test]
    fn f_374_only_maps_below_lists_in_lists_have_no_order() {
        assert!(random_order(&json!({"l": [[{"a": 1, "b": 2}]]})));
        assert!(random_order(&json!({"l": [[{"x": {"a": 1, "b": 2}}]]})));
        for stable in
            [json!({"l": [{"a": 1, "b": 2}]}), json!({"l": [[{"a": 1}]]}), json!({"l": [{"m": [{"a": 1, "b": 2}]}]})]
        {
            assert!(!random_order(&stable), "{stable}");
        }
    }
}
