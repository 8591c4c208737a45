//! Digests (`F-112`, `F-127` to `F-155`).

use serde_json::json;

use super::super::decide::{Action, State};
use super::super::decide_tests::Setup;
use super::super::digest::{Algorithm, common_metadata, config_digest, config_matches, post_renderers};

const NOTHING: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

#[test]
fn f_112_what_values_digests_tell_apart() {
    let digest = |values: serde_json::Value| config_digest(&values, Algorithm::Sha256);
    assert_eq!(digest(json!({})), NOTHING);
    assert_eq!(digest(json!(null)), NOTHING);
    for (a, b, same) in [
        (json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1}), true),
        (json!({"a": 1}), json!({"a": 1.0}), true),
        (json!({"a": null}), json!({}), false),
        (json!({"a": {}}), json!({}), false),
        (json!({"a": "1"}), json!({"a": 1}), false),
        (json!({"a": "é"}), json!({"a": "e\u{301}"}), false),
    ] {
        assert_eq!(digest(a.clone()) == digest(b.clone()), same, "{a} {b}");
    }
}

#[test]
fn f_127_digests_that_do_not_match() {
    for stored in [
        "",
        "sha512:invalid",
        "sha256:3f3641788a2d4abda3534eaa90c90b54916e4c6e3a5b2e1b24758b7bfa701ecd",
        "sha256:9933f58f8bf459eb199d59ebc8a05683f3944e1242d9f5467d99aa2cf08a5370",
        "sha1:a856118d270c0db44a9019d51e2bba4fc3e6bac7",
    ] {
        assert!(!config_matches(stored, &json!({"foo": "bar"})), "{stored}");
    }
}

#[test]
fn f_9_f_155_stored_digests_are_compared_by_the_algorithm_they_name() {
    let values = json!({"foo": "bar"});
    for algorithm in [Algorithm::Sha256, Algorithm::Sha384, Algorithm::Sha512, Algorithm::Blake3] {
        assert!(config_matches(&config_digest(&values, algorithm), &values), "{algorithm:?}");
    }
    let nothing = "blake3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
    assert_eq!(config_digest(&json!({}), Algorithm::Blake3), nothing);
}

#[test]
fn f_148_what_digests_of_renderers_tell_apart() {
    let digest = |spec: serde_json::Value| post_renderers(Some(&spec), Algorithm::Sha256);
    let patch = |text: &str| json!([{"kustomize": {"patches": [{"patch": text}]}}]);
    assert_eq!(post_renderers(None, Algorithm::Sha256), "");
    assert_ne!(digest(json!([])), digest(json!([{}])));
    assert_ne!(digest(patch("a: 1")), digest(patch("a: 1 # x")));
    assert_ne!(digest(patch("a: 1")), digest(patch("{\"a\": 1}")));
    assert_eq!(digest(json!([{"kustomize": {"patches": []}}])), digest(json!([{"kustomize": {}}])));
    let image = |extra: serde_json::Value| {
        let mut image = json!({"name": "n"});
        image.as_object_mut().unwrap().extend(extra.as_object().cloned().unwrap());
        json!([{"kustomize": {"images": [image]}}])
    };
    assert_eq!(digest(image(json!({"newTag": ""}))), digest(image(json!({}))));
    let two = json!([{"kustomize": {"patches": [{"patch": "a"}, {"patch": "b"}]}}]);
    let split = json!([{"kustomize": {"patches": [{"patch": "a"}]}}, {"kustomize": {"patches": [{"patch": "b"}]}}]);
    let turned = json!([{"kustomize": {"patches": [{"patch": "b"}, {"patch": "a"}]}}]);
    assert!(digest(two.clone()) != digest(split) && digest(two) != digest(turned));
}

#[test]
fn f_149_f_151_digests_of_common_metadata() {
    let digest = |spec: serde_json::Value| common_metadata(Some(&spec), Algorithm::Sha256);
    assert_eq!(common_metadata(None, Algorithm::Sha256), "");
    let labels = json!({"labels": {"new-label": "new-label-value", "common-label": "test-label-value"}});
    assert_eq!(digest(labels), "sha256:81978b1fb56035cad7fe3cd3d987270d88bc68ea591ace2e7501c0ae7ac5ad04");
}

#[test]
fn f_141_what_the_digest_of_a_release_leaves_out() {
    let edited = |edit: &dyn Fn(&mut serde_json::Value)| {
        let mut setup = Setup::new(&["deployed"]);
        let (_, all) = setup.release();
        let history = setup.hr["status"]["history"].clone();
        let mut payload = (*all[0].json).clone();
        edit(&mut payload);
        setup.store(1, "deployed", payload);
        setup.hr["status"]["history"] = history;
        setup
    };
    let test = json!([{"name": "t", "events": ["test", "post-upgrade"], "last_run": {"phase": "Failed"}}]);
    edited(&|p| p["hooks"] = test.clone()).gives(State::InSync, Action::None);
    edited(&|p| p["apply_method"] = "csa".into()).gives(State::InSync, Action::None);
    edited(&|p| p["chart"]["templates"] = json!([{"name": "x"}])).gives(State::InSync, Action::None);
    edited(&|p| p["chart"]["values"] = json!({"x": 1})).gives(State::InSync, Action::None);
    edited(&|p| p["info"]["description"] = "by hand".into()).gives(State::Unmanaged, Action::Upgrade);
    edited(&|p| p["manifest"] = "x".into()).gives(State::Unmanaged, Action::Upgrade);
    edited(&|p| p["config"] = json!({"x": 1})).gives(State::Unmanaged, Action::Upgrade);
    edited(&|p| p["hooks"] = json!([{"name": "h", "events": ["pre-install"]}]))
        .gives(State::Unmanaged, Action::Upgrade);
}
