//! State and action, history, storage (`F-90` to `F-116`, `F-137` to `F-142`, `F-156` to `F-172`).

use serde_json::{Value as Json, json};

use super::super::decide::{Action, Exit, Outcome, State};
use super::super::decide_tests::Setup;
use super::super::settings::{ControllerVersion, Settings};
use super::super::status::{rewritten, snapshot_of};
use super::super::{simulate, storage};
use crate::cluster::object::Object;
use crate::cluster::storage::{decode, encode, stored};

fn outcome(setup: &Setup) -> Outcome {
    setup.decision().outcome
}

#[test]
fn f_90_f_160_nothing_stored_is_absent_and_nothing_readable_an_error() {
    Setup::new(&[]).gives(State::Absent, Action::Install);
    let mut gone = Setup::new(&["deployed"]);
    gone.facts = Setup::new(&[]).facts;
    gone.gives(State::Absent, Action::Install);
    let mut broken = Setup::new(&[]);
    broken.facts.insert(raw("bm90IGEgcmVsZWFzZQ==", "Secret"));
    assert!(matches!(outcome(&broken), Outcome::Exited(Exit::StateError(_))));
    broken.store_foreign(1, "deployed");
    broken.gives(State::Unmanaged, Action::Upgrade);
}

#[test]
fn f_91_f_107_f_165_pending_revisions_are_locked_whatever_the_history_says() {
    for status in ["pending-install", "pending-upgrade", "pending-rollback"] {
        Setup::new(&["deployed", status]).gives(State::Locked, Action::Unlock);
        Setup::new(&[status]).status(json!({"history": []})).tokens("t", "t").gives(State::Locked, Action::Unlock);
    }
}

#[test]
fn f_92_f_164_a_lost_history_makes_a_release_unmanaged() {
    for (status, state) in [
        ("deployed", State::Unmanaged),
        ("failed", State::Unmanaged),
        ("superseded", State::Unmanaged),
        ("uninstalling", State::Unmanaged),
        ("uninstalled", State::Absent),
    ] {
        let setup = Setup::new(&[status]).status(json!({"history": []}));
        let action = if state == State::Absent { Action::Install } else { Action::Upgrade };
        setup.gives(state, action);
    }
}

#[test]
fn f_93_f_161_f_162_storage_that_is_not_the_historys_is_unmanaged() {
    let mut newer = Setup::new(&["deployed"]);
    newer.store_foreign(2, "deployed");
    newer.gives(State::Unmanaged, Action::Upgrade);
    let mut failed = Setup::new(&["deployed"]);
    failed.store_foreign(2, "failed");
    failed.gives(State::Unmanaged, Action::Upgrade);
    let mut older = Setup::new(&["superseded", "superseded", "deployed"]);
    older.facts = Setup::new(&["superseded", "superseded"]).facts;
    older.gives(State::Unmanaged, Action::Upgrade);
    for status in ["uninstalled", "uninstalling"] {
        let mut by_hand = Setup::new(&["deployed"]);
        by_hand.store_foreign(1, status);
        by_hand.gives(State::Unmanaged, Action::Upgrade);
    }
    let mut legacy = Setup::new(&["deployed"]);
    legacy.hr["status"]["history"][0].as_object_mut().unwrap().remove("apiVersion");
    legacy.hr["status"]["history"][0]["digest"] = "sha256:0".into();
    legacy.gives(State::InSync, Action::None);
    let (hr, all) = legacy.release();
    let old = Settings { controller: ControllerVersion(1, 4, 5), ..Settings::default() };
    let old = simulate(&hr, &legacy.facts, &all, &old).outcome;
    assert!(matches!(old, Outcome::Decided { state: State::Unmanaged, .. }), "F-291, F-373: {old:?}");
}

#[test]
fn f_94_f_95_statuses_of_the_known_revision() {
    Setup::new(&["failed"]).gives(State::Failed, Action::Upgrade);
    Setup::new(&["uninstalled"]).gives(State::Absent, Action::Install);
    for status in ["superseded", "uninstalling", "unknown"] {
        match outcome(&Setup::new(&[status])) {
            Outcome::Exited(Exit::StateError(text)) => {
                assert_eq!(text, format!("unable to determine state for release with status '{status}'"));
            }
            other => panic!("{status}: {other:?}"),
        }
    }
}

#[test]
fn f_98_f_99_f_155_renderers_and_metadata_are_compared_as_texts_of_a_new_generation() {
    let sha512 = Settings { digest: super::super::digest::Algorithm::Sha512, ..Settings::default() };
    let mut setup =
        Setup::new(&["deployed"]).spec(json!({"postRenderers": [{}], "commonMetadata": {"labels": {"a": "b"}}}));
    setup.hr["metadata"]["generation"] = 2.into();
    let spec = setup.hr["spec"].clone();
    let seen = |setup: &mut Setup, algorithm| {
        let renderers = super::super::digest::post_renderers(Some(&spec["postRenderers"]), algorithm);
        let metadata = super::super::digest::common_metadata(Some(&spec["commonMetadata"]), algorithm);
        setup.hr["status"]["observedPostRenderersDigest"] = renderers.into();
        setup.hr["status"]["observedCommonMetadataDigest"] = metadata.into();
    };
    seen(&mut setup, super::super::digest::Algorithm::Sha256);
    setup.gives(State::InSync, Action::None);
    let (hr, all) = setup.release();
    let other = simulate(&hr, &setup.facts, &all, &sha512).outcome;
    assert!(matches!(other, Outcome::Decided { state: State::OutOfSync, .. }), "another algorithm: {other:?}");
    setup.hr["metadata"]["generation"] = 1.into();
    let (hr, all) = setup.release();
    let same = simulate(&hr, &setup.facts, &all, &sha512).outcome;
    assert!(matches!(same, Outcome::Decided { state: State::InSync, .. }), "values compare by their own: {same:?}");
}

#[test]
fn f_100_f_101_f_142_tests_that_have_not_run_or_failed() {
    let tests = |hooks: Json, spec: Json, last: &str| {
        let mut setup = Setup::new(&["deployed"]).spec(json!({"test": {"enable": true}})).spec(spec);
        setup.hr["status"]["lastAttemptedReleaseAction"] = last.into();
        setup.hr["status"]["history"][0]["testHooks"] = hooks;
        setup
    };
    let failed = json!({"a": {"phase": "Failed"}});
    tests(Json::Null, json!({}), "install").gives(State::Untested, Action::Test);
    tests(json!({}), json!({}), "install").gives(State::InSync, Action::None);
    tests(json!({"a": null}), json!({}), "install").gives(State::Untested, Action::Test);
    tests(failed.clone(), json!({}), "upgrade").gives(State::Failed, Action::Upgrade);
    tests(failed.clone(), json!({}), "").gives(State::InSync, Action::None);
    let ignored = json!({"test": {"enable": true, "ignoreFailures": true}});
    tests(failed, ignored, "upgrade").gives(State::InSync, Action::None);
}

#[test]
fn f_102_f_104_f_109_drift_is_what_the_stored_manifest_lacks_in_the_cluster() {
    let manifest =
        "---\n# Source: c/templates/a.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n  k: v\n";
    let drift = |live: Option<Json>, ignore: Json| {
        let mut setup = Setup::new(&[]);
        setup.store(1, "deployed", json!({"manifest": manifest}));
        if let Some(live) = live {
            setup.facts.insert(Object::new(live, Default::default()).unwrap());
        }
        setup.spec(json!({"driftDetection": {"mode": "enabled", "ignore": ignore}}))
    };
    let live = |data: Json| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "n"}, "data": data});
    drift(None, json!([])).gives(State::Drifted, Action::CorrectDrift);
    drift(Some(live(json!({"k": "w"}))), json!([])).gives(State::Drifted, Action::CorrectDrift);
    drift(Some(live(json!({"k": "v", "more": "x"}))), json!([])).gives(State::InSync, Action::None);
}

#[test]
fn f_103_f_4_what_is_not_looked_at_changes_nothing() {
    let mut setup = Setup::new(&["deployed"]);
    setup.hr["status"]["history"][0]["ociDigest"] = Json::Null;
    for (field, value) in [
        ("lastAttemptedGeneration", json!(7)),
        ("lastAttemptedRevision", json!("9.9.9")),
        ("lastAttemptedRevisionDigest", json!("sha256:x")),
        ("lastAttemptedConfigDigest", json!("sha256:y")),
    ] {
        setup.hr["status"][field] = value;
    }
    setup.gives(State::InSync, Action::None);
    let mut chart = json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmChart",
        "metadata": {"name": "c", "namespace": "n", "generation": 1},
        "status": {"observedGeneration": 1, "observedChartName": "c", "artifact": {"revision": "1.0.0", "digest": "sha256:other"}},
    });
    setup.facts.insert(Object::new(chart.clone(), Default::default()).unwrap());
    setup.gives(State::InSync, Action::None);
    chart["status"]["conditions"] =
        json!([{"type": "Ready", "status": "False"}, {"type": "FetchFailed", "status": "True"}]);
    setup.facts.insert(Object::new(chart, Default::default()).unwrap());
    setup.gives(State::InSync, Action::None);
}

#[test]
fn f_106_f_108_f_109_f_110_forces_beat_exhausted_retries() {
    let exhausted = json!({"installFailures": 1, "upgradeFailures": 1, "lastAttemptedReleaseAction": "upgrade"});
    let with = |setup: Setup| setup.status(exhausted.clone());
    with(Setup::new(&[])).gives(State::Absent, Action::RetriesExceeded);
    with(Setup::new(&[])).tokens("t", "t").gives(State::Absent, Action::Install);
    with(Setup::new(&["failed"])).gives(State::Failed, Action::RetriesExceeded);
    with(Setup::new(&["failed"])).tokens("t", "t").gives(State::Failed, Action::Upgrade);
    with(Setup::new(&["deployed"])).gives(State::InSync, Action::None);
    with(Setup::new(&["deployed"])).status(json!({"history": []})).gives(State::Unmanaged, Action::Upgrade);
}

#[test]
fn f_137_f_166_the_rollback_target_must_be_there_and_unchanged() {
    let failed = |statuses: &[&str]| {
        let setup = Setup::new(statuses).spec(json!({"upgrade": {"remediation": {"retries": 2}}}));
        setup.status(json!({"lastAttemptedReleaseAction": "upgrade", "upgradeFailures": 1}))
    };
    failed(&["superseded", "deployed", "failed"]).gives(State::Failed, Action::Rollback { to: 2 });
    failed(&["superseded", "failed", "failed"]).gives(State::Failed, Action::Rollback { to: 1 });
    failed(&["failed", "failed"]).gives(State::Failed, Action::MissingRollbackTarget);
    let mut gone = failed(&["deployed", "failed"]);
    let kept = gone.hr["status"]["history"].clone();
    gone.facts = Setup::new(&[]).facts;
    gone.store_foreign(2, "failed");
    gone.hr["status"]["history"] = kept;
    gone.gives(State::Failed, Action::Upgrade);
}

#[test]
fn f_156_f_157_f_159_elements_of_the_history() {
    let mut setup = Setup::new(&[]);
    setup.store(1, "superseded", json!({"chart": {"metadata": {"name": "c", "version": "1.0.0", "appVersion": "7"}}}));
    setup.store(2, "deployed", json!({"config": {"a": 1}}));
    let (hr, all) = setup.release();
    assert_eq!(hr.history().iter().map(|s| s.version).collect::<Vec<_>>(), [2, 1]);
    let mut mixed = setup.hr.clone();
    mixed["status"]["history"].as_array_mut().unwrap().reverse();
    let mixed = super::release(mixed);
    assert_eq!(mixed.history().iter().map(|s| s.version).collect::<Vec<_>>(), [2, 1], "sorted before use");
    let now = Settings::default();
    let entry = snapshot_of(&all[1], "upgrade", "sha256:o", &now, false);
    let text = |field: &str| entry.json[field].as_str().unwrap_or("-").to_owned();
    assert_eq!(
        ["apiVersion", "action", "appVersion", "chartName", "chartVersion", "ociDigest", "status"].map(text),
        ["v2", "upgrade", "7", "c", "1.0.0", "sha256:o", "superseded"]
    );
    let old = Settings { controller: ControllerVersion(1, 4, 5), ..Settings::default() };
    let old = snapshot_of(&all[1], "upgrade", "", &old, false).json;
    assert!(old.get("apiVersion").is_none() && old.get("action").is_none(), "F-290: {old}");
    let mut before = entry;
    before.json["testHooks"] = json!({"t": {"phase": "Succeeded"}});
    let after = rewritten(&before, &all[1], "", &now).json;
    assert_eq!((after["ociDigest"].clone(), after.get("action")), (json!("sha256:o"), None));
    assert_eq!(after["testHooks"], json!({"t": {"phase": "Succeeded"}}));
}

fn raw(release: &str, kind: &str) -> Object {
    let json = json!({
        "apiVersion": "v1", "kind": kind,
        "metadata": {"name": "sh.helm.release.v1.a.v1", "namespace": "n", "labels": {"owner": "helm", "name": "a"}},
        "data": {"release": release},
    });
    Object::new(json, Default::default()).unwrap()
}

#[test]
fn f_163_labels_decide_what_helm_sees() {
    let mut setup = Setup::new(&["deployed"]);
    let (hr, all) = setup.release();
    let mut json = (*all[0].object.json).clone();
    json["metadata"]["labels"]["status"] = "failed".into();
    json["metadata"]["labels"]["version"] = "9".into();
    setup.facts.insert(Object::new(json.clone(), Default::default()).unwrap());
    setup.gives(State::InSync, Action::None);
    json["metadata"]["labels"]["owner"] = "me".into();
    setup.facts.insert(Object::new(json, Default::default()).unwrap());
    setup.gives(State::Absent, Action::Install);
    assert!(storage::hidden(&setup.facts, &hr, 1) && !storage::hidden(&setup.facts, &hr, 2));
}

#[test]
fn f_167_f_168_f_169_f_170_payloads_in_secrets_and_config_maps() {
    let payload = json!({"name": "a", "namespace": "n", "version": 3, "info": {"status": "deployed", "deleted": ""}, "chart": {"metadata": {"name": "c"}}, "manifest": "m", "hooks": null});
    let secret = encode(&payload);
    let inner = String::from_utf8(data_encoding::BASE64.decode(secret.as_bytes()).unwrap()).unwrap();
    let plain = data_encoding::BASE64.encode(payload.to_string().as_bytes());
    for (data, kind) in [
        (secret.clone(), "Secret"),
        (inner.clone(), "ConfigMap"),
        (data_encoding::BASE64.encode(plain.as_bytes()), "Secret"),
        (plain, "ConfigMap"),
    ] {
        let read = decode(&std::rc::Rc::new(raw(&data, kind))).unwrap();
        assert_eq!((read.version, read.status.as_str(), read.manifest()), (3, "deployed", "m"), "{kind}");
    }
    let cut = data_encoding::BASE64.encode(&inner.as_bytes()[..inner.len() / 2]);
    let foreign = data_encoding::BASE64.encode(data_encoding::BASE64.encode(b"[1, 2]").as_bytes());
    for broken in [cut, foreign, String::new(), "%%%".into(), data_encoding::BASE64.encode(b"\x1f\x8b\x08")] {
        assert!(decode(&std::rc::Rc::new(raw(&broken, "Secret"))).is_err(), "{broken}");
    }
    let mut setup = Setup::new(&[]);
    let (hr, _) = setup.release();
    storage::write(&mut setup.facts, &hr, &payload);
    let all = stored(&setup.facts, "n", "a").0;
    assert_eq!(
        (all[0].object.key.name.as_str(), all[0].object.text("/type")),
        ("sh.helm.release.v1.a.v3", "helm.sh/release.v1")
    );
    assert_eq!(all[0].object.text("/metadata/labels/version"), "3");
}

#[test]
fn f_114_f_172_f_313_what_helm_asks_of_its_storage() {
    let refusal = |install: bool, statuses: &[&str], spec: Json| {
        let (hr, all) = Setup::new(statuses).spec(spec).release();
        storage::refusal(install, &hr, &all, ControllerVersion(1, 6, 3)).unwrap_or_default()
    };
    let replace = json!({"install": {"replace": true}});
    assert_eq!(refusal(true, &[], json!({})), "");
    assert!(refusal(true, &["uninstalled"], json!({})).contains("cannot reuse a name"));
    assert_eq!(refusal(true, &["uninstalled"], replace.clone()), "");
    assert_eq!(refusal(true, &["failed"], replace.clone()), "");
    assert!(refusal(true, &["deployed"], replace).contains("cannot reuse a name"));
    assert_eq!(refusal(false, &["deployed", "failed"], json!({})), "");
    assert_eq!(refusal(false, &["failed"], json!({})), "");
    assert!(refusal(false, &["pending-upgrade"], json!({})).contains("in progress"));
    assert!(refusal(false, &["uninstalled"], json!({})).contains("has no deployed releases"));
    let (hr, all) = Setup::new(&["deployed"]).release();
    let old = storage::refusal(true, &hr, &all, ControllerVersion(1, 4, 5));
    assert_eq!(old.as_deref(), Some("cannot re-use a name that is still in use"));
    let mut setup = Setup::new(&["failed", "failed"]);
    let (hr, _) = setup.release();
    let payload = json!({"name": "a", "namespace": "n", "version": 3, "info": {"status": "deployed"}});
    storage::add(&mut setup.facts, &hr, &payload);
    let statuses: Vec<String> = stored(&setup.facts, "n", "a").0.into_iter().map(|r| r.status).collect();
    assert_eq!(statuses, ["deployed", "superseded", "failed"], "the newest failed one is superseded");
}
