//! The vectors of tokens, states and actions (`F-58`, `F-173` to `F-176`).

use std::rc::Rc;

use serde_json::{Map as JsonMap, Value as Json, json};

use super::decide::{Action, Decision, Exit, Outcome, State, honoured, simulate, simulate_forced};
use super::model::HelmRelease;
use super::settings::Settings;
use super::status::snapshot_of;
use crate::cluster::object::Object;
use crate::cluster::snapshot::Snapshot;
use crate::cluster::storage::{StoredRelease, stored};

/// A HelmRelease `n/a` with a ready HelmChart at 1.0.0, and revisions with these statuses, oldest first, all of them in
/// its history.
pub(super) struct Setup {
    pub facts: Snapshot,
    pub hr: Json,
}

impl Setup {
    pub fn new(statuses: &[&str]) -> Setup {
        let mut facts = Snapshot::default();
        facts.coverage.namespaces.insert("n".into());
        let chart = json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmChart",
            "metadata": {"name": "c", "namespace": "n", "generation": 1},
            "status": {"observedGeneration": 1, "observedChartName": "c", "artifact": {"revision": "1.0.0"}},
        });
        facts.insert(Object::new(chart, Default::default()).unwrap());
        for (at, status) in statuses.iter().enumerate() {
            facts.insert(secret(at as i64 + 1, status));
        }
        let settings = Settings::default();
        let history: Vec<Json> =
            stored(&facts, "n", "a").0.iter().map(|r| snapshot_of(r, "", "", &settings, false).json).collect();
        let hr = json!({
            "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
            "metadata": {"name": "a", "namespace": "n", "generation": 1, "finalizers": ["finalizers.fluxcd.io"]},
            "spec": {"chartRef": {"kind": "HelmChart", "name": "c"}},
            "status": {
                "observedGeneration": 1, "lastAttemptedGeneration": 1, "lastAttemptedRevision": "1.0.0",
                "storageNamespace": "n", "history": history,
            },
        });
        Setup { facts, hr }
    }

    /// Stores a revision whose payload has these parts too, and puts all revisions into the history again.
    pub fn store(&mut self, version: i64, status: &str, parts: Json) {
        let mut payload = payload(version, status);
        payload.as_object_mut().unwrap().extend(parts.as_object().cloned().unwrap_or_default());
        self.facts.insert(secret_of(version, &payload));
        self.hr["status"]["history"] = self.history(&Settings::default());
    }

    /// The history as a controller of that version writes it.
    pub fn seen_by(mut self, settings: &Settings) -> Setup {
        self.hr["status"]["history"] = self.history(settings);
        self
    }

    fn history(&self, settings: &Settings) -> Json {
        let all = stored(&self.facts, "n", "a").0;
        all.iter().map(|r| snapshot_of(r, "", "", settings, false).json).collect::<Vec<_>>().into()
    }

    /// Stores a revision that the history does not know.
    pub fn store_foreign(&mut self, version: i64, status: &str) {
        self.facts.insert(secret(version, status));
    }

    pub fn with(mut self, part: &str, fields: Json) -> Setup {
        let into = self.hr[part].as_object_mut().unwrap();
        into.extend(fields.as_object().cloned().unwrap_or_else(JsonMap::new));
        self
    }

    pub fn spec(self, fields: Json) -> Setup {
        self.with("spec", fields)
    }

    pub fn status(self, fields: Json) -> Setup {
        self.with("status", fields)
    }

    pub fn tokens(mut self, requested: &str, forced: &str) -> Setup {
        self.hr["metadata"]["annotations"] =
            json!({"reconcile.fluxcd.io/requestedAt": requested, "reconcile.fluxcd.io/forceAt": forced});
        self
    }

    pub fn release(&self) -> (HelmRelease, Vec<StoredRelease>) {
        (HelmRelease::new(Rc::new(self.hr.clone())), stored(&self.facts, "n", "a").0)
    }

    pub fn decision(&self) -> Decision {
        let (hr, stored) = self.release();
        simulate(&hr, &self.facts, &stored, &Settings::default())
    }

    #[track_caller]
    pub fn gives(&self, state: State, action: Action) {
        match self.decision().outcome {
            Outcome::Decided { state: s, action: a, .. } => assert_eq!((s, a), (state, action)),
            other => panic!("{other:?}"),
        }
    }
}

fn payload(version: i64, status: &str) -> Json {
    json!({
        "name": "a", "namespace": "n", "version": version, "info": {"status": status},
        "chart": {"metadata": {"name": "c", "version": "1.0.0"}}, "manifest": "",
    })
}

fn secret(version: i64, status: &str) -> Object {
    secret_of(version, &payload(version, status))
}

fn secret_of(version: i64, payload: &Json) -> Object {
    let json = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {
            "name": format!("sh.helm.release.v1.a.v{version}"), "namespace": "n",
            "labels": {"owner": "helm", "name": "a", "version": version.to_string()},
        },
        "data": {"release": crate::cluster::storage::encode(payload)},
    });
    Object::new(json, Default::default()).unwrap()
}

#[test]
fn f_55_f_58_a_token_is_honoured_once_and_only_with_a_request_of_the_same_text() {
    for (requested, forced, handled, handled_force, want) in [
        (Some("b"), Some("b"), "", "", true),
        (Some("b"), Some("c"), "", "", false),
        (Some("b"), Some("b"), "a", "b", false),
        (Some("b"), Some("b"), "b", "a", false),
        (None, None, "", "a", false),
        (Some("b"), Some("b"), "a", "a", true),
        (Some(""), Some(""), "", "", false),
    ] {
        let mut annotations = JsonMap::new();
        for (name, value) in [("requestedAt", requested), ("forceAt", forced)] {
            if let Some(value) = value {
                annotations.insert(format!("reconcile.fluxcd.io/{name}"), value.into());
            }
        }
        let hr = json!({
            "metadata": {"annotations": annotations},
            "status": {"lastHandledReconcileAt": handled, "lastHandledForceAt": handled_force},
        });
        let got = honoured(&HelmRelease::new(Rc::new(hr)), "reconcile.fluxcd.io/forceAt", "lastHandledForceAt");
        assert_eq!(got, want, "R={requested:?} F={forced:?} LR={handled} LF={handled_force}");
    }
}

#[test]
fn f_173_states() {
    Setup::new(&["deployed"]).gives(State::InSync, Action::None);
    Setup::new(&[]).gives(State::Absent, Action::Install);
    Setup::new(&["deployed"]).status(json!({"history": []})).gives(State::Unmanaged, Action::Upgrade);
    let wrong = |digest: &str, api: &str| {
        let mut setup = Setup::new(&["deployed"]);
        setup.hr["status"]["history"][0]["digest"] = digest.into();
        setup.hr["status"]["history"][0]["apiVersion"] = api.into();
        setup
    };
    let nothing = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    wrong("sha256:invalid", "v2").gives(State::Unmanaged, Action::Upgrade);
    wrong(nothing, "v2").gives(State::Unmanaged, Action::Upgrade);
    wrong(nothing, "v1").gives(State::InSync, Action::None);
    Setup::new(&["pending-install"]).status(json!({"history": []})).gives(State::Locked, Action::Unlock);
    let tests = |hooks: Json| {
        let mut setup = Setup::new(&["deployed"]).spec(json!({"test": {"enable": true}}));
        setup.hr["status"]["lastAttemptedReleaseAction"] = "install".into();
        setup.hr["status"]["history"][0]["testHooks"] = hooks;
        setup
    };
    tests(Json::Null).gives(State::Untested, Action::Test);
    tests(json!({"a": {"phase": "Succeeded"}, "b": {}})).gives(State::Untested, Action::Test);
    tests(json!({"a": {"phase": "Failed"}, "b": {}})).gives(State::Failed, Action::Upgrade);
}

#[test]
fn f_26_f_96_to_f_99_what_makes_a_release_out_of_sync() {
    let reason = |setup: &Setup| match setup.decision().outcome {
        Outcome::Decided { state: State::OutOfSync, reason, .. } => reason,
        other => format!("{other:?}"),
    };
    let values = Setup::new(&["deployed"]).spec(json!({"values": {"a": 1}}));
    assert_eq!(reason(&values), "release config values changed");
    let mut chart = Setup::new(&["deployed"]);
    let newer = json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmChart",
        "metadata": {"name": "c", "namespace": "n", "generation": 1},
        "status": {"observedGeneration": 1, "observedChartName": "c", "artifact": {"revision": "1.0.1"}},
    });
    chart.facts.insert(Object::new(newer, Default::default()).unwrap());
    assert_eq!(reason(&chart), "release chart changed");
    let renderers = json!({"postRenderers": [{}]});
    let seen = Setup::new(&["deployed"]).spec(renderers.clone());
    assert!(reason(&seen).contains("InSync"), "without a new generation nothing is compared");
    let mut new = Setup::new(&["deployed"]).spec(renderers);
    new.hr["metadata"]["generation"] = 2.into();
    assert_eq!(reason(&new), "postrenderers digest has changed");
    let mut metadata = Setup::new(&["deployed"]).spec(json!({"commonMetadata": {"labels": {"a": "b"}}}));
    metadata.hr["metadata"]["generation"] = 2.into();
    assert_eq!(reason(&metadata), "common metadata digest has changed");
}

#[test]
fn f_174_f_175_actions() {
    Setup::new(&["deployed"]).tokens("force", "force").gives(State::InSync, Action::Upgrade);
    let exhausted = || Setup::new(&[]).status(json!({"installFailures": 1}));
    exhausted().gives(State::Absent, Action::RetriesExceeded);
    exhausted().tokens("t", "t").gives(State::Absent, Action::Install);
    let behind = || {
        let values = Setup::new(&["deployed"]).spec(json!({"values": {"a": 1}}));
        values.status(json!({"upgradeFailures": 1}))
    };
    behind().gives(State::OutOfSync, Action::RetriesExceeded);
    behind().tokens("t", "t").gives(State::OutOfSync, Action::Upgrade);
    let mut changed = behind();
    changed.hr["metadata"]["generation"] = 2.into();
    changed.gives(State::OutOfSync, Action::Upgrade);
}

#[test]
fn f_176_what_follows_a_failed_release() {
    let failed = |last: &str, fields: Json| {
        let setup = Setup::new(&["superseded", "deployed", "failed"]);
        setup.status(json!({"lastAttemptedReleaseAction": last})).status(fields)
    };
    let retries = |action: &str, count: i64| json!({action: {"remediation": {"retries": count}}});
    failed("", json!({})).gives(State::Failed, Action::Upgrade);
    failed("upgrade", json!({"upgradeFailures": 0})).gives(State::Failed, Action::Upgrade);
    failed("upgrade", json!({"upgradeFailures": 1})).gives(State::Failed, Action::RetriesExceeded);
    failed("upgrade", json!({"upgradeFailures": 1})).tokens("t", "t").gives(State::Failed, Action::Upgrade);
    failed("install", json!({"installFailures": 2}))
        .spec(retries("install", 3))
        .gives(State::Failed, Action::Uninstall);
    let strategy = json!({"install": {"strategy": {"name": "RetryOnFailure"}}});
    failed("install", json!({"installFailures": 1})).spec(strategy).gives(State::Failed, Action::Upgrade);
    let one = json!({"upgradeFailures": 1});
    failed("upgrade", one.clone()).spec(retries("upgrade", 2)).gives(State::Failed, Action::Rollback { to: 2 });
    let only = Setup::new(&["failed"]).status(json!({"lastAttemptedReleaseAction": "upgrade", "upgradeFailures": 1}));
    only.spec(retries("upgrade", 2)).gives(State::Failed, Action::MissingRollbackTarget);
    let mut edited = failed("upgrade", one).spec(retries("upgrade", 2));
    edited.facts.insert(secret(2, "superseded"));
    edited.gives(State::Failed, Action::Upgrade);
}

#[test]
fn f_60_a_force_on_a_suspended_release_is_burnt() {
    let setup = Setup::new(&["deployed"]).spec(json!({"suspend": true}));
    let (hr, stored) = setup.release();
    let decision = simulate_forced(&hr, &setup.facts, &stored, &Settings::default(), "fresh");
    assert_eq!(decision.outcome, Outcome::Exited(Exit::Suspended));
    assert!(decision.trace.iter().any(|check| check.rule == "F-71"));
}

#[test]
fn f_90_storage_that_nobody_collected_is_unknown_not_absent() {
    let mut setup = Setup::new(&[]);
    setup.facts.coverage.namespaces.clear();
    assert!(matches!(setup.decision().outcome, Outcome::Unknown { .. }));
}
