//! Sources and what is loaded of them (`F-3`, `F-200` to `F-233`).

use serde_json::{Value as Json, json};

use super::super::decide_tests::Setup;
use super::super::helmchart;
use super::super::settings::Settings;
use super::super::settled::{Holds, settled_object};
use super::super::source::{Loads, chart_identity, with_digest};
use super::super::upstream::{is_revision, suffix};
use super::release;
use crate::cluster::object::{Object, ObjectKey};
use crate::cluster::snapshot::Snapshot;

const HEX: &str = "9933f58f8bf459eb199d59ebc8a05683f3944e1242d9f5467d99aa2cf08a5370";

fn object(kind: &str, spec: Json, status: Json) -> Object {
    let json = json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": kind,
        "metadata": {"name": "c", "namespace": "n", "generation": 3}, "spec": spec, "status": status,
    });
    Object::new(json, Default::default()).unwrap()
}

fn loads(kind: &str, status: Json, settings: &Settings) -> Loads {
    let mut setup = Setup::new(&["deployed"]).spec(json!({"chartRef": {"kind": kind, "name": "c"}}));
    setup.facts.insert(object(kind, json!({}), status));
    let (hr, _) = setup.release();
    chart_identity(&hr, &setup.facts, settings)
}

#[track_caller]
fn version(kind: &str, status: Json, settings: &Settings) -> (String, String) {
    let chart = loads(kind, status, settings).chart().unwrap();
    (chart.version, chart.oci_digest)
}

#[test]
fn f_3_f_205_f_230_a_helm_chart_tells_name_and_version() {
    let status = json!({"artifact": {"revision": "1.2.3+4"}, "observedChartName": "other"});
    let chart = loads("HelmChart", status, &Settings::default()).chart().unwrap();
    assert_eq!((chart.name.as_str(), chart.version.as_str(), chart.oci_digest.as_str()), ("other", "1.2.3+4", ""));
    assert_eq!(loads("HelmChart", json!({}), &Settings::default()), Loads::Unknown);
}

#[test]
fn f_80_f_204_f_231_f_281_f_293_an_oci_artifact_puts_its_digest_into_the_version() {
    let status = |revision: String| json!({"artifact": {"revision": revision}});
    let now = Settings::default();
    let digest = format!("sha256:{HEX}");
    assert_eq!(
        version("OCIRepository", status(format!("1.0.0@{digest}")), &now),
        ("1.0.0+9933f58f8bf4".into(), digest.clone())
    );
    let tagged = version("OCIRepository", status(format!("latest@{digest}")), &now);
    assert_eq!(tagged, ("1.0.0+9933f58f8bf4".into(), format!("latest@{digest}")), "the version is the history's");
    let off = Settings { no_digest_tracking: true, ..Settings::default() };
    assert_eq!(
        version("OCIRepository", status(format!("1.0.0@{digest}")), &off),
        ("1.0.0".into(), digest),
        "still recorded"
    );
    assert!(matches!(loads("OCIRepository", status("1.0.0@sha256:short".into()), &now), Loads::Refused(_)), "F-80");
}

#[test]
fn f_206_f_233_an_external_artifact_with_a_plain_version_has_no_digest() {
    let status = |revision: &str| json!({"artifact": {"revision": revision}});
    let now = Settings::default();
    assert_eq!(version("ExternalArtifact", status("2.0.0"), &now), ("2.0.0".into(), String::new()));
    let digest = format!("main@sha256:{HEX}");
    assert_eq!(version("ExternalArtifact", status(&digest), &now).0, "1.0.0+9933f58f8bf4");
}

#[test]
fn f_231_f_232_versions_are_printed_again_with_the_digest() {
    let digest = format!("sha256:{HEX}");
    for (chart, revision, want) in [
        ("1.2.3", format!("1.2.3@{digest}"), Some("1.2.3+9933f58f8bf4")),
        ("1.2.3", format!("1.2.4@{digest}"), None),
        ("1.2.3", digest.clone(), Some("1.2.3+9933f58f8bf4")),
        ("1.2.3", "sha:123456".to_owned(), None),
        ("1.2.3", format!("{digest}:x"), None),
        ("0.1.0", format!("0.1.0_20241101123015@{digest}"), Some("0.1.0+9933f58f8bf4")),
        ("v0.1.0", format!("0.1.0@{digest}"), Some("0.1.0+9933f58f8bf4")),
        ("0.1.0", format!("v0.1.0@{digest}"), Some("0.1.0+9933f58f8bf4")),
        ("0.1.0+own", format!("0.1.0@{digest}"), Some("0.1.0+9933f58f8bf4")),
        ("1.2.3-rc.1", format!("1.2.3-rc.1@{digest}"), Some("1.2.3-rc.1+9933f58f8bf4")),
        ("1.2", format!("1.2@{digest}"), Some("1.2.0+9933f58f8bf4")),
    ] {
        assert_eq!(with_digest(chart, &revision).ok().map(|(v, _)| v).as_deref(), want, "{chart} {revision}");
    }
}

#[test]
fn f_220_f_221_f_222_the_suffix_of_a_packaged_chart() {
    let of = |strategy: &str, files: Json, kind: &str, revision: &str| {
        let chart = object("HelmChart", json!({"reconcileStrategy": strategy, "valuesFiles": files}), json!({}));
        suffix(&chart, &object(kind, json!({}), json!({"artifact": {"revision": revision}}))).unwrap_or_default()
    };
    let git = "main@sha1:abcdef1234567890abcdef1234567890abcdef12";
    let two = json!(["values.yaml", "prod.yaml"]);
    assert_eq!(of("ChartVersion", json!([]), "GitRepository", git), "");
    assert_eq!(of("Revision", json!([]), "GitRepository", git), "abcdef123456");
    assert_eq!(of("Revision", two.clone(), "GitRepository", git), "abcdef123456.3");
    assert_eq!(of("ChartVersion", two.clone(), "GitRepository", git), "3");
    assert_eq!(
        of("ChartVersion", json!(["values.yaml"]), "GitRepository", git),
        "",
        "the default file alone counts as none"
    );
    assert_eq!(of("Revision", two, "HelmRepository", "sha256:abc"), "3", "the strategy is ignored");
    assert_eq!(of("Revision", json!([]), "Bucket", &format!("sha256:{HEX}")), "9933f58f8bf4");
}

#[test]
fn f_200_f_201_f_203_revisions_may_be_named_by_a_part() {
    for (revision, wanted, is) in [
        ("main@sha1:7efe12ed990e", "7efe12ed", true),
        ("main@sha1:7efe12ed990e", "main@sha1:7efe12ed990e", true),
        ("main@sha1:7efe12ed990e", "sha1:7efe12ed990e", true),
        ("refs/heads/main@sha1:7efe12ed990e", "refs/heads/main", true),
        ("v1.2.3@sha1:7efe12ed990e", "v1.2.3", true),
        ("sha256:7efe12ed990e", "7efe12ed", true),
        ("main@sha1:7efe12ed990e", "7efe12", false),
        ("main@sha1:7efe12ed990e", "8efe12ed", false),
        ("main@sha1:7efe12ed990e", "", false),
    ] {
        assert_eq!(is_revision(revision, wanted), is, "{revision} {wanted}");
    }
}

/// The first condition that does not hold, as `field` and whether it is waited for.
fn first(objects: &[Object], key: &ObjectKey, revision: Option<&str>) -> String {
    let mut facts = Snapshot::default();
    facts.coverage.complete = true;
    objects.iter().for_each(|o| facts.insert(o.clone()));
    let settled = settled_object(key, &facts, revision);
    settled.first().map_or("settled".to_owned(), |c| match c.holds {
        Holds::Waits => format!("wait {} {}", c.object.kind, c.field),
        Holds::Blocked => format!("blocked {} {}", c.object.kind, c.field),
        Holds::Yes | Holds::Unknown => format!("unknown {} {}", c.object.kind, c.field),
    })
}

fn merged(mut json: Json, with: &[(&str, Json)]) -> Object {
    for (pointer, value) in with {
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        json.pointer_mut(parent).unwrap()[field] = value.clone();
    }
    Object::new(json, Default::default()).unwrap()
}

fn git(with: &[(&str, Json)]) -> Object {
    let base = json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository",
        "metadata": {"name": "g", "namespace": "n", "generation": 2, "annotations": {}},
        "spec": {}, "status": {
            "observedGeneration": 2, "artifact": {"revision": "main@sha1:7efe12ed990e"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    });
    merged(base, with)
}

#[test]
fn f_207_to_f_213_f_276_f_277_when_a_source_has_settled() {
    let condition =
        |kind: &str, status: &str| json!([{"type": kind, "status": status}, {"type": "Ready", "status": "True"}]);
    let asked = ("/metadata/annotations/reconcile.fluxcd.io~1requestedAt", json!("t"));
    let asked = |handled: &str| {
        let mut object = (*git(&[("/status/lastHandledReconcileAt", json!(handled))]).json).clone();
        object["metadata"]["annotations"]["reconcile.fluxcd.io/requestedAt"] = asked.1.clone();
        Object::new(object, Default::default()).unwrap()
    };
    for (object, revision, want) in [
        (git(&[]), None, "settled"),
        (git(&[]), Some("7efe12ed"), "settled"),
        (git(&[]), Some("0000000"), "wait GitRepository artifact"),
        (git(&[("/spec/suspend", json!(true))]), None, "blocked GitRepository suspend"),
        (git(&[("/status/observedGeneration", json!(1))]), None, "wait GitRepository generation"),
        (git(&[("/status/conditions", condition("ArtifactOutdated", "True"))]), None, "wait GitRepository artifact"),
        (git(&[("/status/conditions", condition("Reconciling", "True"))]), None, "wait GitRepository ready"),
        (git(&[("/status/conditions", condition("Stalled", "True"))]), None, "blocked GitRepository stalled"),
        (
            git(&[("/status/conditions", json!([{"type": "Ready", "status": "False"}]))]),
            None,
            "wait GitRepository ready",
        ),
        (git(&[("/status/conditions", json!([]))]), None, "wait GitRepository ready"),
        (git(&[("/status/artifact", Json::Null)]), None, "wait GitRepository artifact"),
        (asked("t"), None, "settled"),
        (asked("s"), None, "wait GitRepository request"),
    ] {
        assert_eq!(first(std::slice::from_ref(&object), &object.key, revision), want, "{}", object.json);
    }
}

fn chart(with: &[(&str, Json)]) -> Object {
    let base = json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmChart",
        "metadata": {"name": "h", "namespace": "n", "generation": 1},
        "spec": {"chart": "c", "reconcileStrategy": "Revision", "sourceRef": {"kind": "GitRepository", "name": "g"}},
        "status": {
            "observedGeneration": 1, "observedSourceArtifactRevision": "main@sha1:7efe12ed990e",
            "artifact": {"revision": "1.0.0+7efe12ed990e"}, "conditions": [{"type": "Ready", "status": "True"}],
        },
    });
    merged(base, with)
}

#[test]
fn f_214_f_215_f_224_f_250_f_278_when_a_helm_chart_has_settled() {
    let old = json!("main@sha1:000000000000");
    for (object, source, want) in [
        (chart(&[]), git(&[]), "settled"),
        (chart(&[("/status/observedSourceArtifactRevision", old)]), git(&[]), "wait HelmChart source"),
        (chart(&[("/status/artifact", json!({"revision": "1.0.0+000000000000"}))]), git(&[]), "wait HelmChart version"),
        (chart(&[]), git(&[("/status/observedGeneration", json!(1))]), "wait GitRepository generation"),
        (
            chart(&[("/status/conditions", json!([{"type": "ArtifactOutdated", "status": "True"}]))]),
            git(&[]),
            "wait HelmChart artifact",
        ),
        (
            chart(&[("/status/conditions", json!([{"type": "Stalled", "status": "True"}]))]),
            git(&[]),
            "blocked HelmChart stalled",
        ),
    ] {
        assert_eq!(first(&[object.clone(), source], &object.key, None), want, "{}", object.json);
    }
    assert_eq!(first(&[chart(&[])], &chart(&[]).key, None), "unknown GitRepository object");
}

#[test]
fn f_202_an_oci_helm_repository_is_no_source_to_wait_for() {
    let repository = json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmRepository",
        "metadata": {"name": "g", "namespace": "n", "generation": 1}, "spec": {"type": "oci"},
    });
    let repository = Object::new(repository, Default::default()).unwrap();
    let reference = ("/spec/sourceRef/kind", json!("HelmRepository"));
    let object = chart(&[reference, ("/status/artifact", json!({"revision": "1.0.0"}))]);
    assert_eq!(first(&[repository.clone(), object.clone()], &object.key, None), "settled");
    assert_eq!(first(&[repository.clone(), object.clone()], &object.key, Some("1.0.0")), "settled");
    assert_eq!(first(&[repository, object.clone()], &object.key, Some("1.0.1")), "wait HelmChart artifact");
}

#[test]
fn f_12_f_222_fields_that_the_template_does_not_set_survive() {
    let spec = json!({"interval": "5m", "chart": {"spec": {"chart": "c", "sourceRef": {"kind": "GitRepository", "name": "g"}}}});
    let hr = release(json!({"metadata": {"name": "a", "namespace": "n"}, "spec": spec}));
    let mut live = helmchart::written(&hr, None).unwrap();
    live["spec"]["suspend"] = true.into();
    assert!(helmchart::written(&hr, Some(&Object::new(live.clone(), Default::default()).unwrap())).is_none());
    live["spec"]["version"] = "9".into();
    let again = helmchart::written(&hr, Some(&Object::new(live, Default::default()).unwrap())).unwrap();
    assert_eq!((again["spec"]["suspend"].clone(), again["spec"]["version"].clone()), (json!(true), json!("*")));
}

#[test]
fn f_265_a_kustomization_has_settled_when_it_applied_what_its_source_holds() {
    let base = json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
        "metadata": {"name": "k", "namespace": "n", "generation": 2},
        "spec": {"sourceRef": {"kind": "GitRepository", "name": "g"}}, "status": {
            "observedGeneration": 2, "lastAppliedRevision": "main@sha1:7efe12ed990e",
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    });
    for (with, want) in [
        (vec![], "settled"),
        (vec![("/status/observedGeneration", json!(-1))], "wait Kustomization generation"),
        (vec![("/status/lastAppliedRevision", json!("main@sha1:0"))], "wait Kustomization revision"),
        (vec![("/spec/suspend", json!(true))], "blocked Kustomization suspend"),
        (vec![("/status/conditions", json!([]))], "wait Kustomization ready"),
    ] {
        let object = merged(base.clone(), &with);
        assert_eq!(first(&[object.clone(), git(&[])], &object.key, None), want, "{with:?}");
    }
}
