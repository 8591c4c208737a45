//! Fields of the HelmRelease, flags and gates (`F-8` to `F-39`).

use serde_json::json;

use super::super::cycle::test_hooks;
use super::super::decide::{Action, Exit, Outcome, State};
use super::super::decide_tests::Setup;
use super::super::digest::Algorithm;
use super::super::settings::{ControllerVersion, Settings};
use super::super::state::{ignores_tests, remediates_by_uninstall, remediates_last, retries_by_strategy};
use super::super::storage;
use super::release;
use crate::cluster::object::Object;
use crate::cluster::snapshot::Snapshot;
use crate::cluster::storage::stored;

#[test]
fn f_8_f_9_flags_and_gates_are_read_as_the_controller_reads_them() {
    let of = |args: &[&str]| Settings::with_args(ControllerVersion(1, 6, 3), args);
    let gates = of(&["--feature-gates=DefaultToRetryOnFailure=true,UseHelm3Defaults=true", "--x"]);
    assert!(gates.default_to_retry && gates.helm3_defaults && !gates.external_artifact);
    let split = of(&["--feature-gates", "ExternalArtifact=true", "--feature-gates=DisableConfigWatchers=true"]);
    assert!(split.external_artifact && split.no_config_watch);
    assert!(!of(&["--feature-gates=ExternalArtifact=true,ExternalArtifact=false"]).external_artifact, "the last wins");
    assert!(of(&["--no-cross-namespace-refs"]).no_cross_namespace);
    assert!(of(&["--no-cross-namespace-refs=true", "--log-level=info"]).no_cross_namespace);
    assert!(!of(&["--no-cross-namespace-refs=false"]).no_cross_namespace);
    assert_eq!(of(&["--snapshot-digest-algo=sha512"]).digest, Algorithm::Sha512);
    assert_eq!(of(&["--watch-label-selector=a=b,c"]).watch_selector, "a=b,c");
    let default = of(&[]);
    assert!(!default.no_digest_tracking && !default.additive_ready_expr && default.digest == Algorithm::Sha256);
}

#[test]
fn f_10_a_release_has_exactly_one_kind_of_chart() {
    let invalid = |setup: Setup| matches!(setup.decision().outcome, Outcome::Exited(Exit::Invalid(_)));
    assert!(invalid(Setup::new(&["deployed"]).spec(json!({"chart": {"spec": {}}}))), "both");
    assert!(invalid(Setup::new(&["deployed"]).spec(json!({"chartRef": null}))), "neither");
}

#[test]
fn f_14_f_15_f_16_f_18_identity_of_the_release() {
    let of = |spec: serde_json::Value| release(json!({"metadata": {"name": "a", "namespace": "n"}, "spec": spec}));
    for (spec, name, namespace, storage) in [
        (json!({}), "a", "n", "n"),
        (json!({"targetNamespace": "t"}), "t-a", "t", "n"),
        (json!({"targetNamespace": "t", "releaseName": "r"}), "r", "t", "n"),
        (json!({"storageNamespace": "s", "releaseName": "r"}), "r", "n", "s"),
    ] {
        let hr = of(spec.clone());
        let got = (hr.release_name(), hr.release_namespace(), hr.storage_namespace());
        assert_eq!(got, (name.to_owned(), namespace.to_owned(), storage.to_owned()), "{spec}");
    }
    assert_eq!(of(json!({"releaseName": "x".repeat(60)})).release_name().len(), 53);
    for (chart_ref, want) in [
        (json!({"kind": "OCIRepository", "name": "o"}), ("OCIRepository", "n", "o")),
        (json!({"kind": "HelmChart", "name": "c", "namespace": "m"}), ("HelmChart", "m", "c")),
    ] {
        let (kind, namespace, name) = of(json!({"chartRef": chart_ref})).source();
        assert_eq!((kind.as_str(), namespace.as_str(), name.as_str()), want);
    }
    let remote = Setup::new(&[]).spec(json!({"kubeConfig": {"secretRef": {"name": "k"}}}));
    assert!(matches!(remote.decision().outcome, Outcome::Unknown { .. }), "storage is on the remote cluster");
}

#[test]
fn f_20_f_71_a_suspended_release_is_left_alone() {
    let setup = Setup::new(&["failed"]).spec(json!({"suspend": true}));
    assert_eq!(setup.decision().outcome, Outcome::Exited(Exit::Suspended));
}

#[test]
fn f_19_f_21_f_24_f_27_f_28_f_30_f_284_options_of_actions_never_release() {
    for fields in [
        json!({"interval": "1h"}),
        json!({"timeout": "1m"}),
        json!({"serviceAccountName": "deployer"}),
        json!({"postRenderStrategy": "nohooks"}),
        json!({"waitStrategy": {"name": "legacy"}, "persistentClient": false}),
        json!({"upgrade": {"force": true, "crds": "Skip", "serverSideApply": "enabled", "timeout": "9m"}}),
        json!({"install": {"crds": "CreateReplace", "disableHooks": true}, "rollback": {"force": true}}),
        json!({"uninstall": {"keepHistory": true}, "maxHistory": 2}),
    ] {
        let mut setup = Setup::new(&["deployed"]).spec(fields);
        setup.hr["metadata"]["generation"] = 2.into();
        setup.gives(State::InSync, Action::None);
    }
}

#[test]
fn f_23_old_revisions_are_pruned_but_never_the_deployed_one() {
    let add = |statuses: &[&str], most: Option<i64>, status: &str| {
        let mut setup = Setup::new(statuses);
        if let Some(most) = most {
            setup = setup.spec(json!({"maxHistory": most}));
        }
        let (hr, all) = setup.release();
        let version = all.first().map_or(0, |r| r.version) + 1;
        let payload = json!({"name": "a", "namespace": "n", "version": version, "info": {"status": status}});
        storage::add(&mut setup.facts, &hr, &payload);
        let left = stored(&setup.facts, "n", "a").0;
        left.iter().rev().map(|r| format!("{} {}", r.version, r.status)).collect::<Vec<_>>().join(", ")
    };
    let five = ["superseded", "superseded", "superseded", "superseded", "deployed"];
    assert_eq!(add(&five, None, "deployed"), "2 superseded, 3 superseded, 4 superseded, 5 superseded, 6 deployed");
    assert_eq!(add(&["deployed", "failed", "failed"], Some(2), "failed"), "1 deployed, 4 failed");
    assert_eq!(add(&["superseded", "deployed"], Some(0), "deployed"), "1 superseded, 2 superseded, 3 deployed");
}

#[test]
fn f_25_f_105_drift_detection_is_off_unless_it_is_asked_for() {
    let gone = |mode: &str| {
        let mut setup = Setup::new(&[]);
        let manifest = "---\n# Source: c/templates/a.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: gone\n";
        setup.store(1, "deployed", json!({"manifest": manifest}));
        if mode.is_empty() { setup } else { setup.spec(json!({"driftDetection": {"mode": mode}})) }
    };
    gone("").gives(State::InSync, Action::None);
    gone("disabled").gives(State::InSync, Action::None);
    gone("warn").gives(State::Drifted, Action::None);
    gone("enabled").gives(State::Drifted, Action::CorrectDrift);
}

#[test]
fn f_31_f_32_f_33_defaults_of_remediation() {
    let hr =
        |spec: serde_json::Value| release(json!({"spec": spec, "status": {"lastAttemptedReleaseAction": "upgrade"}}));
    let retries =
        |n: i64| hr(json!({"upgrade": {"remediation": {"retries": n}}, "install": {"remediation": {"retries": n}}}));
    assert!(!remediates_last(&retries(0), "upgrade") && remediates_last(&retries(1), "upgrade"));
    assert!(!remediates_last(&retries(1), "install"), "installs are not remediated last by default");
    assert!(remediates_last(&hr(json!({"install": {"remediation": {"remediateLastFailure": true}}})), "install"));
    assert!(remediates_by_uninstall(&retries(1), "install") && !remediates_by_uninstall(&retries(1), "upgrade"));
    assert!(remediates_by_uninstall(&hr(json!({"upgrade": {"remediation": {"strategy": "uninstall"}}})), "upgrade"));
    assert!(!ignores_tests(&hr(json!({}))));
    assert!(ignores_tests(&hr(json!({"test": {"ignoreFailures": true}}))), "the default is that of the tests");
    let own = json!({"test": {"ignoreFailures": true}, "upgrade": {"remediation": {"ignoreTestFailures": false}}});
    assert!(!ignores_tests(&hr(own)));
}

#[test]
fn f_34_f_35_retries_are_exhausted_when_the_counter_is_above_them() {
    for (retries, failures, exhausted) in [(0, 0, false), (0, 1, true), (2, 2, false), (2, 3, true), (-1, 99, false)] {
        let values = Setup::new(&["deployed"]).spec(json!({"values": {"a": 1}}));
        let setup = values.spec(json!({"upgrade": {"remediation": {"retries": retries}}}));
        let setup = setup.status(json!({"upgradeFailures": failures, "installFailures": 99}));
        setup.gives(State::OutOfSync, if exhausted { Action::RetriesExceeded } else { Action::Upgrade });
    }
    let none = Setup::new(&["failed"]).status(json!({"upgradeFailures": 9, "installFailures": 9}));
    none.gives(State::Failed, Action::Upgrade);
}

#[test]
fn f_36_f_296_the_strategy_to_retry_is_named_or_the_default_by_a_gate() {
    let with = |spec: serde_json::Value, gate: bool, controller| {
        let settings = Settings { default_to_retry: gate, controller, ..Settings::default() };
        retries_by_strategy(&release(json!({"spec": spec})), &settings, "upgrade")
    };
    let now = ControllerVersion(1, 6, 3);
    let retry = json!({"upgrade": {"strategy": {"name": "RetryOnFailure"}}});
    let other = json!({"upgrade": {"strategy": {"name": "RemediateOnFailure"}}});
    assert!(with(retry.clone(), false, now) && !with(json!({}), false, now));
    assert!(with(json!({}), true, now) && !with(other, true, now));
    assert!(!with(retry, false, ControllerVersion(1, 3, 0)), "not known before 1.4");
}

#[test]
fn f_39_filters_choose_the_tests() {
    let payload = json!({
        "name": "a", "namespace": "n", "version": 1,
        "hooks": [
            {"name": "x", "events": ["test"]}, {"name": "y", "events": ["test"]}, {"name": "z", "events": ["test"]},
            {"name": "other", "events": ["pre-install"]},
        ],
    });
    let mut setup = Setup::new(&[]);
    setup.store(1, "deployed", payload);
    let (_, all) = setup.release();
    for (filters, want) in [
        (json!([]), vec!["x", "y", "z"]),
        (json!([{"name": "y"}]), vec!["y"]),
        (json!([{"name": "y", "exclude": true}]), vec!["x", "z"]),
        (json!([{"name": "x"}, {"name": "y"}, {"name": "x", "exclude": true}]), vec!["y"]),
    ] {
        let hr = release(json!({"spec": {"test": {"enable": true, "filters": filters}}}));
        assert_eq!(test_hooks(&hr, &all[0]), want, "{filters}");
    }
}

#[test]
fn f_8_the_deployment_tells_version_and_flags() {
    let detect = |image: &str, args: serde_json::Value| {
        let mut facts = Snapshot::default();
        let containers = json!([{"name": "other", "image": "x:v1"}, {"name": "c", "image": image, "args": args}]);
        let deployment = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "flux", "namespace": "f"},
            "spec": {"template": {"spec": {"containers": containers}}},
        });
        facts.insert(Object::new(deployment, Default::default()).unwrap());
        Settings::detect(&facts)
    };
    let found = detect(
        "registry:5000/fluxcd/helm-controller:v1.5.3@sha256:00",
        json!(["--feature-gates=ExternalArtifact=true"]),
    );
    let found = found.unwrap().unwrap();
    assert_eq!((found.controller, found.external_artifact), (ControllerVersion(1, 5, 3), true));
    assert_eq!(found.controller.helm().to_string(), "4.1.4");
    assert!(detect("ghcr.io/fluxcd/helm-controller:latest", json!([])).unwrap().is_err(), "no version that is known");
    assert!(detect("ghcr.io/fluxcd/source-controller:v1.5.0", json!([])).is_none());
}
