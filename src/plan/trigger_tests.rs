//! What wakes the controller (`F-61`, `F-240` to `F-244`, `F-297`).

use serde_json::{Value as Json, json};

use super::settle::woken_by_source;
use crate::cluster::object::{Object, ObjectKey};
use crate::cluster::snapshot::Snapshot;
use crate::flux::settings::Settings;

fn cluster(objects: &[Json]) -> Snapshot {
    let mut facts = Snapshot::default();
    for object in objects {
        facts.insert(Object::new(object.clone(), Default::default()).unwrap());
    }
    facts
}

fn release(name: &str, spec: Json, status: Json) -> Json {
    json!({"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "metadata": {"name": name, "namespace": "n"}, "spec": spec, "status": status})
}

fn source(kind: &str, name: &str, revision: &str) -> Json {
    json!({"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": kind, "metadata": {"name": name, "namespace": "n"}, "status": {"artifact": {"revision": revision}}})
}

fn key(group: &str, kind: &str, name: &str) -> ObjectKey {
    ObjectKey { group: group.into(), kind: kind.into(), namespace: "n".into(), name: name.into() }
}

fn woken_names(facts: &Snapshot, key: &ObjectKey, controller: &str) -> Vec<String> {
    let settings = Settings { controller: controller.parse().unwrap(), ..Settings::default() };
    woken_by_source(facts, &settings, key).into_iter().map(|r| r.name).collect()
}

const SOURCE: &str = "source.toolkit.fluxcd.io";

#[test]
fn f_240_f_241_f_244_f_297_a_chart_wakes_who_has_not_seen_it() {
    let template = json!({"chart": {"spec": {"chart": "c", "sourceRef": {"kind": "HelmRepository", "name": "r"}}}});
    let condition = |kind: &str| json!([{"type": kind, "status": "True"}]);
    let woken = |revision: &str, conditions: Json, controller: &str| {
        let status = json!({"lastAttemptedRevision": "1.0.0", "conditions": conditions});
        let facts = cluster(&[release("a", template.clone(), status), source("HelmChart", "n-a", revision)]);
        !woken_names(&facts, &key(SOURCE, "HelmChart", "n-a"), controller).is_empty()
    };
    assert!(woken("1.0.1", condition("Ready"), "1.6.3"));
    assert!(!woken("1.0.0", condition("Ready"), "1.6.3"));
    assert!(woken("1.0.0", json!([{"type": "Ready", "status": "False"}]), "1.6.3"), "not ready");
    assert!(!woken("1.0.0", condition("Reconciling"), "1.6.3"));
    assert!(woken("1.0.0", condition("Reconciling"), "1.5.0"), "F-297: Reconciling counts from 1.5.2");
    let other = cluster(&[release("b", template, json!({})), source("HelmChart", "n-a", "1.0.0")]);
    assert!(woken_names(&other, &key(SOURCE, "HelmChart", "n-a"), "1.6.3").is_empty());
}

#[test]
fn f_242_f_243_artifacts_are_compared_by_their_digest() {
    let hex = "a".repeat(64);
    let woken = |kind: &str, revision: &str, attempted: Json| {
        let spec = json!({"chartRef": {"kind": kind, "name": "s"}});
        let mut status = json!({"conditions": [{"type": "Ready", "status": "True"}]});
        status.as_object_mut().unwrap().extend(attempted.as_object().cloned().unwrap());
        let facts = cluster(&[release("a", spec, status), source(kind, "s", revision)]);
        !woken_names(&facts, &key(SOURCE, kind, "s"), "1.6.3").is_empty()
    };
    let digest = json!({"lastAttemptedRevisionDigest": format!("sha256:{hex}")});
    assert!(!woken("OCIRepository", &format!("1.0.0@sha256:{hex}"), digest.clone()));
    assert!(woken("OCIRepository", &format!("1.0.0@sha256:b{}", &hex[1..]), digest.clone()));
    assert!(!woken("ExternalArtifact", &format!("sha256:{hex}"), digest));
    assert!(!woken("ExternalArtifact", "1.0.0", json!({"lastAttemptedRevision": "1.0.0"})));
    assert!(woken("ExternalArtifact", "1.0.1", json!({"lastAttemptedRevision": "1.0.0"})));
    let tagged = json!({"lastAttemptedRevisionDigest": format!("latest@sha256:{hex}")});
    assert!(woken("OCIRepository", &format!("latest@sha256:{hex}"), tagged), "an extra run: the tag is part of it");
}

#[test]
fn f_61_f_259_f_287_values_wake_only_with_the_label() {
    let from = json!({"valuesFrom": [{"kind": "ConfigMap", "name": "v"}]});
    let woken = |labels: Json, settings: &Settings| {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "v", "namespace": "n", "labels": labels}});
        let facts = cluster(&[release("a", from.clone(), json!({})), release("b", json!({}), json!({})), map]);
        super::settle::woken(&facts, settings, &key("", "ConfigMap", "v"))
            .into_iter()
            .map(|r| r.name)
            .collect::<Vec<_>>()
    };
    let label = json!({"reconcile.fluxcd.io/watch": "Enabled"});
    assert_eq!(woken(label.clone(), &Settings::default()), ["a"]);
    assert!(woken(json!({}), &Settings::default()).is_empty());
    let off = Settings { no_config_watch: true, ..Settings::default() };
    assert!(woken(label, &off).is_empty());
    let facts = cluster(&[release("a", json!({}), json!({}))]);
    let itself = super::settle::woken(&facts, &Settings::default(), &key("helm.toolkit.fluxcd.io", "HelmRelease", "a"));
    assert_eq!(itself.len(), 1);
}

#[test]
fn f_298_older_controllers_confuse_sources_of_one_name() {
    let spec = json!({"chartRef": {"kind": "OCIRepository", "name": "s"}});
    let facts = cluster(&[release("a", spec, json!({})), source("HelmChart", "s", "1.0.0")]);
    assert_eq!(woken_names(&facts, &key(SOURCE, "HelmChart", "s"), "1.3.0"), ["a"]);
    assert!(woken_names(&facts, &key(SOURCE, "HelmChart", "s"), "1.4.0").is_empty());
}
