//! "Has been reconciled" and the traps on the way (`F-245` to `F-259`).

use serde_json::{Value as Json, json};

use super::super::digest::{Algorithm, config_digest};
use super::super::settings::Settings;
use super::super::settled::{Holds, Settled, settled};
use super::release;
use crate::cluster::object::Object;
use crate::cluster::snapshot::Snapshot;

/// GitRepository, HelmChart and HelmRelease, all of them settled.
struct Chain {
    git: Json,
    chart: Json,
    hr: Json,
    more: Vec<Json>,
}

impl Chain {
    fn new() -> Chain {
        let revision = "main@sha1:7efe12ed990e0123";
        let ready = json!([{"type": "Ready", "status": "True", "observedGeneration": 2, "reason": "UpgradeSucceeded"}]);
        let digest = config_digest(&json!({"a": 1}), Algorithm::Sha256);
        let source = |kind: &str, name: &str| {
            json!({
                "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": kind,
                "metadata": {"name": name, "namespace": "n", "generation": 2, "annotations": {}},
                "spec": {}, "status": {"observedGeneration": 2, "artifact": {"revision": revision}, "conditions": ready},
            })
        };
        let spec =
            json!({"chart": "c", "reconcileStrategy": "Revision", "sourceRef": {"kind": "GitRepository", "name": "g"}});
        let mut chart = source("HelmChart", "n-a");
        chart["spec"] = spec.clone();
        chart["spec"]["version"] = "*".into();
        chart["spec"]["interval"] = "5m".into();
        chart["status"]["artifact"]["revision"] = "1.0.0+7efe12ed990e".into();
        chart["status"]["observedSourceArtifactRevision"] = revision.into();
        chart["status"]["observedChartName"] = "c".into();
        let hr = json!({
            "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
            "metadata": {"name": "a", "namespace": "n", "generation": 2, "finalizers": ["finalizers.fluxcd.io"], "annotations": {"reconcile.fluxcd.io/requestedAt": "t"}},
            "spec": {"interval": "5m", "chart": {"spec": spec}, "values": {"a": 1}},
            "status": {
                "observedGeneration": 2, "lastAttemptedGeneration": 2, "lastAttemptedRevision": "1.0.0+7efe12ed990e",
                "lastAttemptedConfigDigest": digest, "lastHandledReconcileAt": "t", "helmChart": "n/n-a", "storageNamespace": "n",
                "history": [{"version": 3, "status": "deployed", "chartName": "c", "chartVersion": "1.0.0+7efe12ed990e", "configDigest": digest, "lastDeployed": "2024-05-02T00:00:00Z"}],
                "conditions": ready,
            },
        });
        Chain { git: source("GitRepository", "g"), chart, hr, more: Vec::new() }
    }

    fn answer(&self) -> Settled {
        let mut facts = Snapshot::default();
        facts.coverage.complete = true;
        for json in [&self.git, &self.chart, &self.hr].into_iter().chain(&self.more) {
            facts.insert(Object::new(json.clone(), Default::default()).unwrap());
        }
        settled(&release(self.hr.clone()), &facts, &Settings::default(), Some("7efe12ed"))
    }

    fn first(&self) -> String {
        let answer = self.answer();
        answer.first().map_or("settled".to_owned(), |c| {
            let word = if c.holds == Holds::Blocked { "blocked" } else { "wait" };
            format!("{word} {} {} {}", c.object.kind, c.field, c.rule)
        })
    }

    fn traps(&self) -> Vec<&'static str> {
        self.answer().traps.into_iter().map(|t| t.rule).collect()
    }

    fn hr(mut self, pointer: &str, value: Json) -> Chain {
        put(&mut self.hr, pointer, value);
        self
    }

    fn chart(mut self, pointer: &str, value: Json) -> Chain {
        put(&mut self.chart, pointer, value);
        self
    }

    fn git(mut self, pointer: &str, value: Json) -> Chain {
        put(&mut self.git, pointer, value);
        self
    }
}

fn put(json: &mut Json, pointer: &str, value: Json) {
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    json.pointer_mut(parent).unwrap()[field.replace("~1", "/")] = value;
}

fn ready(status: &str, reason: &str, generation: i64) -> Json {
    json!([{"type": "Ready", "status": status, "reason": reason, "observedGeneration": generation}])
}

#[test]
fn f_245_each_condition_by_itself() {
    assert_eq!(Chain::new().first(), "settled");
    assert!(Chain::new().traps().is_empty());
    for (chain, want) in [
        (Chain::new().git("/status/artifact/revision", json!("main@sha1:0")), "wait GitRepository artifact F-213"),
        (Chain::new().chart("/status/observedGeneration", json!(1)), "wait HelmChart generation F-213"),
        (Chain::new().hr("/metadata/deletionTimestamp", json!("now")), "blocked HelmRelease deletion F-245"),
        (Chain::new().hr("/spec/suspend", json!(true)), "blocked HelmRelease suspend F-253"),
        (Chain::new().hr("/metadata/generation", json!(3)), "wait HelmRelease generation F-245"),
        (Chain::new().hr("/status/observedGeneration", json!(1)), "wait HelmRelease generation F-245"),
        (Chain::new().hr("/status/lastAttemptedGeneration", json!(1)), "wait HelmRelease generation F-245"),
        (
            Chain::new().hr("/metadata/annotations/reconcile.fluxcd.io~1requestedAt", json!("u")),
            "wait HelmRelease request F-245",
        ),
        (Chain::new().chart("/spec/version", json!("2.x")), "wait HelmChart spec F-224"),
        (Chain::new().hr("/status/lastAttemptedRevision", json!("1.0.0+0")), "wait HelmRelease chart F-245"),
        (Chain::new().hr("/status/lastAttemptedRevisionDigest", json!("sha256:x")), "wait HelmRelease chart F-245"),
        (Chain::new().hr("/spec/values", json!({"a": 2})), "wait HelmRelease values F-245"),
        (
            Chain::new().hr("/spec/valuesFrom", json!([{"kind": "Secret", "name": "gone"}])),
            "blocked HelmRelease values F-77",
        ),
        (Chain::new().hr("/status/history", json!([])), "wait HelmRelease history F-245"),
        (Chain::new().hr("/status/history/0/status", json!("pending-upgrade")), "wait HelmRelease history F-245"),
        (Chain::new().hr("/status/history/0/chartVersion", json!("0.9")), "wait HelmRelease history F-245"),
        (Chain::new().hr("/status/history/0/configDigest", json!("sha256:x")), "wait HelmRelease history F-245"),
        (Chain::new().hr("/status/history/0/ociDigest", json!("sha256:x")), "wait HelmRelease history F-245"),
        (Chain::new().hr("/status/conditions", json!([])), "wait HelmRelease ready F-245"),
        (Chain::new().hr("/status/conditions", ready("True", "UpgradeSucceeded", 1)), "wait HelmRelease ready F-245"),
        (Chain::new().hr("/status/conditions", ready("Unknown", "Progressing", 2)), "wait HelmRelease ready F-245"),
        (Chain::new().hr("/status/helmChart", json!("n/old")), "wait HelmRelease helmChart F-245"),
    ] {
        assert_eq!(chain.first(), want, "{}", chain.hr);
    }
    let kept = Chain::new().hr("/spec/upgrade", json!({"preserveValues": true}));
    assert_eq!(kept.hr("/status/history/0/configDigest", json!("sha256:x")).first(), "settled", "F-29");
}

#[test]
fn f_246_what_a_watcher_gives_up_on() {
    for (reason, gives_up) in [
        ("UpgradeFailed", true),
        ("ValuesError", true),
        ("Progressing", false),
        ("DependencyNotReady", false),
        ("SourceNotReady", false),
    ] {
        let first = Chain::new().hr("/status/conditions", ready("False", reason, 2)).first();
        assert_eq!(first.starts_with("blocked"), gives_up, "{reason}: {first}");
    }
    let early =
        Chain::new().hr("/metadata/generation", json!(3)).hr("/status/conditions", ready("False", "ValuesError", 3));
    assert_eq!(early.first(), "blocked HelmRelease generation F-246");
    let older =
        Chain::new().hr("/metadata/generation", json!(3)).hr("/status/conditions", ready("False", "ValuesError", 2));
    assert_eq!(older.first(), "wait HelmRelease generation F-245", "of the generation before");
    let stalled = json!([{"type": "Stalled", "status": "True", "reason": "RetriesExceeded", "observedGeneration": 2}]);
    assert_eq!(Chain::new().hr("/status/conditions", stalled).first(), "blocked HelmRelease ready F-246");
    let mut missing = ready("False", "ArtifactFailed", 2);
    assert_eq!(Chain::new().hr("/status/conditions", missing.clone()).first(), "blocked HelmRelease ready F-246");
    missing[0]["message"] = "Source not ready: artifact not found. Retrying in 30s".into();
    assert_eq!(Chain::new().hr("/status/conditions", missing).first(), "wait HelmRelease ready F-245");
}

#[track_caller]
fn sets(chain: Chain, trap: &str) {
    assert!(chain.traps().contains(&trap), "{trap} is not among {:?}", chain.traps());
    assert_ne!(chain.first(), "settled");
}

#[test]
fn f_247_to_f_256_and_f_259_each_trap_by_name() {
    sets(
        Chain::new()
            .hr("/metadata/generation", json!(3))
            .hr("/status/conditions", ready("True", "UpgradeSucceeded", 3)),
        "F-247",
    );
    sets(Chain::new().git("/status/observedGeneration", json!(1)), "F-248");
    sets(Chain::new().hr("/status/lastAttemptedRevision", json!("1.0.0+0")), "F-249");
    sets(Chain::new().chart("/status/observedSourceArtifactRevision", json!("main@sha1:0")), "F-250");
    sets(Chain::new().hr("/metadata/generation", json!(3)), "F-251");
    sets(Chain::new().hr("/status/lastHandledReconcileAt", json!("s")), "F-251");
    let running = json!([{"type": "Ready", "status": "True", "observedGeneration": 2}, {"type": "Reconciling", "status": "True"}]);
    sets(Chain::new().hr("/status/conditions", running), "F-252");
    sets(Chain::new().hr("/spec/suspend", json!(true)), "F-253");
    sets(Chain::new().hr("/status/lastAttemptedGeneration", json!(1)), "F-253");
    sets(Chain::new().git("/spec/suspend", json!(true)), "F-253");
    sets(Chain::new().hr("/metadata/generation", json!(3)).hr("/spec/interval", json!("9m")), "F-254");
    let retrying = json!([{"type": "Ready", "status": "False", "reason": "UpgradeFailed", "observedGeneration": 2}, {"type": "Reconciling", "status": "True"}]);
    sets(Chain::new().hr("/status/conditions", retrying), "F-255");
    sets(Chain::new().hr("/status/history/0/chartVersion", json!("0.9")), "F-256");
    sets(Chain::new().hr("/spec/values", json!({"a": 2})), "F-259");
}

#[test]
fn f_257_f_218_f_279_f_280_new_content_under_an_old_version_is_named() {
    let strategy = |chain: Chain| {
        let chain = chain.chart("/spec/reconcileStrategy", json!("ChartVersion"));
        chain.hr("/spec/chart/spec/reconcileStrategy", json!("ChartVersion"))
    };
    let times = strategy(Chain::new()).git("/status/artifact/lastUpdateTime", json!("2024-05-03T00:00:00Z"));
    let times = times.chart("/status/artifact/lastUpdateTime", json!("2024-05-01T00:00:00Z"));
    assert_eq!((times.first().as_str(), times.traps()), ("settled", vec!["F-257"]));
    let again = Chain::new().chart("/status/artifact/lastUpdateTime", json!("2024-05-03T00:00:00Z"));
    assert_eq!(again.traps(), ["F-257"]);
}

#[test]
fn f_258_a_dependency_may_be_ready_for_its_own_old_revision() {
    let mut chain = Chain::new().hr("/spec/dependsOn", json!([{"name": "d"}]));
    let mut other = Chain::new().hr;
    other["metadata"]["name"] = "d".into();
    other["spec"] =
        json!({"chartRef": {"kind": "HelmChart", "name": "n-a"}, "dependsOn": [{"name": "a"}], "values": {"a": 1}});
    chain.more.push(other.clone());
    assert!(chain.traps().is_empty());
    other["status"]["lastAttemptedRevision"] = "1.0.0+0".into();
    chain.more = vec![other];
    assert_eq!(chain.traps(), ["F-258"]);
}
