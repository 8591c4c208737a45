//! Whole runs of the controller, with a Helm that does as it is told (`F-12`, `F-13`, `F-29`, `F-37`, `F-38`, `F-59` to
//! `F-64`, `F-70`, `F-81` to `F-87`, `F-106`, `F-111` to `F-116`, `F-138`, `F-139`, `F-143`, `F-177` to `F-179`).

use serde_json::{Value as Json, json};

use super::super::cycle::{Applied, Cycle, Helm, Request, Requeue, reconcile, test_hooks};
use super::super::decide::Action;
use super::super::decide_tests::Setup;
use super::super::model::HelmRelease;
use super::super::settings::Settings;
use crate::cluster::object::{Object, ObjectKey};
use crate::cluster::snapshot::{Facts, Snapshot};
use crate::cluster::storage::{StoredRelease, stored};

/// What the next release actions come to.
#[derive(Clone, Copy)]
enum Fate {
    Deploys,
    /// It fails after the first write.
    Fails,
    /// It fails before.
    Refused,
}

struct Told {
    fate: Fate,
    tests_pass: bool,
    parts: Json,
}

impl Helm for Told {
    fn release(&mut self, _: &mut Snapshot, _: &Request<'_>) -> Applied {
        let failed = matches!(self.fate, Fate::Fails).then(|| "hook failed".to_owned());
        match self.fate {
            Fate::Refused => Applied::Refused("template error".into()),
            _ => Applied::Stored { payload: self.parts.clone(), failed },
        }
    }

    fn test(&mut self, _: &mut Snapshot, hr: &HelmRelease, revision: &StoredRelease) -> Vec<(String, Option<String>)> {
        let error = (!self.tests_pass).then(|| "a test failed".to_owned());
        test_hooks(hr, revision).into_iter().map(|name| (name, error.clone())).collect()
    }
}

/// A cluster with one release, and the controller's view of it after each run.
struct Story {
    facts: Snapshot,
    key: ObjectKey,
    settings: Settings,
    helm: Told,
}

impl Story {
    fn new(setup: Setup) -> Story {
        let object = Object::new(setup.hr, Default::default()).unwrap();
        let mut facts = setup.facts;
        let key = object.key.clone();
        facts.insert(object);
        let helm = Told { fate: Fate::Deploys, tests_pass: true, parts: json!({}) };
        Story { facts, key, settings: Settings::default(), helm }
    }

    fn fate(mut self, fate: Fate) -> Story {
        self.helm.fate = fate;
        self
    }

    /// Every release has a test, which passes or fails.
    fn tests(mut self, pass: bool) -> Story {
        self.helm.tests_pass = pass;
        self.helm.parts = json!({"hooks": [{"name": "t", "kind": "Pod", "events": ["test"]}]});
        self
    }

    fn controller(mut self, version: &str) -> Story {
        self.settings.controller = version.parse().unwrap();
        self
    }

    fn run(&mut self) -> Cycle {
        reconcile(&mut self.facts, &self.key, &self.settings, &mut self.helm).unwrap()
    }

    fn hr(&self) -> HelmRelease {
        HelmRelease::new(self.facts.get(&self.key).present().unwrap().json.clone())
    }

    fn edit(&mut self, edit: impl FnOnce(&mut Json)) {
        let mut json = (*self.hr().json).clone();
        edit(&mut json);
        self.facts.insert(Object::new(json, Default::default()).unwrap());
    }

    /// Newest first: `2 deployed/upgrade, 1 superseded`.
    fn history(&self) -> String {
        let one = |s: &super::super::model::Snapshot| {
            let action = s.text("action");
            let action = if action.is_empty() { String::new() } else { format!("/{action}") };
            format!("{} {}{action}", s.version, s.text("status"))
        };
        self.hr().history().iter().map(one).collect::<Vec<_>>().join(", ")
    }

    fn ready(&self) -> String {
        let hr = self.hr();
        let (status, reason) = (hr.condition("Ready").unwrap_or("-"), hr.condition_reason("Ready").unwrap_or("-"));
        format!("{status} {reason}")
    }

    fn stalled(&self) -> String {
        self.hr().condition_reason("Stalled").unwrap_or("-").to_owned()
    }

    fn counters(&self) -> (i64, i64, i64) {
        let of = |field: &str| self.hr().number(&format!("/status/{field}")).unwrap_or(0);
        (of("failures"), of("installFailures"), of("upgradeFailures"))
    }

    fn status(&self, field: &str) -> String {
        self.hr().text(&format!("/status/{field}")).to_owned()
    }

    fn stored(&self) -> Vec<String> {
        stored(&self.facts, "n", "a").0.iter().map(|r| format!("{} {}", r.version, r.status)).collect()
    }
}

fn changed(statuses: &[&str]) -> Setup {
    let mut setup = Setup::new(statuses).spec(json!({"values": {"a": 1}}));
    setup.hr["metadata"]["generation"] = 2.into();
    setup
}

#[test]
fn f_177_runs_that_succeed() {
    let gives = |setup: Setup, want: &str| {
        let mut story = Story::new(setup);
        let cycle = story.run();
        assert_eq!((story.history().as_str(), cycle.requeue), (want, Requeue::Interval));
    };
    gives(Setup::new(&["deployed"]), "1 deployed");
    gives(changed(&["deployed"]), "2 deployed/upgrade, 1 superseded");
    gives(Setup::new(&[]), "1 deployed/install");
    gives(Setup::new(&["deployed"]).status(json!({"history": []})), "2 deployed/upgrade");
    gives(Setup::new(&["pending-install"]).status(json!({"history": []})), "2 deployed/upgrade");
    let mut pending = Setup::new(&["deployed"]);
    pending.store_foreign(2, "pending-upgrade");
    gives(pending, "3 deployed/upgrade");
    let mut by_hand = Setup::new(&["deployed"]);
    by_hand.store_foreign(2, "deployed");
    gives(by_hand, "3 deployed/upgrade");
    let mut gone = Setup::new(&["deployed"]);
    gone.facts = Setup::new(&[]).facts;
    gives(gone, "1 deployed/install");
    let mut newest_gone = Setup::new(&["superseded", "superseded", "deployed", "deployed"]);
    newest_gone.facts = Setup::new(&["superseded", "superseded", "deployed"]).facts;
    gives(newest_gone, "4 deployed/upgrade");
}

#[test]
fn f_178_f_34_installs_that_fail() {
    let failing = |spec: Json, want: &str, stalled: &str, requeue: Requeue| {
        let mut story = Story::new(Setup::new(&[]).spec(spec.clone())).fate(Fate::Fails);
        let cycle = story.run();
        assert_eq!(
            (story.history().as_str(), story.stalled().as_str(), cycle.requeue),
            (want, stalled, requeue),
            "{spec}"
        );
    };
    let last = json!({"install": {"remediation": {"remediateLastFailure": true}}, "uninstall": {"keepHistory": true}});
    let retry = json!({"install": {"strategy": {"name": "RetryOnFailure"}}});
    failing(json!({}), "1 failed/install", "RetriesExceeded", Requeue::None);
    failing(last, "1 uninstalled/uninstall-remediation", "RetriesExceeded", Requeue::None);
    failing(retry.clone(), "1 failed/install", "-", Requeue::Retry);
    let testing = |spec: Json, tests: Json| {
        let setup = Setup::new(&[]).spec(spec).spec(json!({"test": tests}));
        let mut story = Story::new(setup).tests(false);
        let cycle = story.run();
        (story.history(), story.stalled(), cycle.requeue)
    };
    let last = json!({"install": {"remediation": {"remediateLastFailure": true}}});
    let (history, stalled, requeue) = testing(last, json!({"enable": true}));
    assert!(history.ends_with("/uninstall-remediation"), "{history}");
    assert_eq!((stalled.as_str(), requeue), ("RetriesExceeded", Requeue::None));
    let got = testing(retry, json!({"enable": true}));
    assert_eq!((got.0.as_str(), got.2), ("1 deployed/install", Requeue::Retry));
    let got = testing(json!({}), json!({"enable": true, "ignoreFailures": true}));
    assert_eq!(got, ("1 deployed/install".to_owned(), "-".to_owned(), Requeue::Interval));
}

#[test]
fn f_179_f_301_f_379_upgrades_that_fail() {
    let failing = |spec: Json, version: &str| {
        let mut story = Story::new(changed(&["deployed"]).spec(spec)).fate(Fate::Fails).controller(version);
        let cycle = story.run();
        (story.history(), story.stalled(), cycle.requeue)
    };
    let of = |history: &str, stalled: &str, requeue| (history.to_owned(), stalled.to_owned(), requeue);
    let now = "1.6.3";
    assert_eq!(failing(json!({}), now), of("2 failed/upgrade, 1 deployed", "RetriesExceeded", Requeue::None));
    let rollback = json!({"upgrade": {"remediation": {"remediateLastFailure": true}}});
    let want = of("3 deployed/rollback, 2 failed/upgrade, 1 superseded/rollback", "RetriesExceeded", Requeue::None);
    assert_eq!(failing(rollback, now), want);
    let uninstall = json!({"upgrade": {"remediation": {"remediateLastFailure": true, "strategy": "uninstall"}}, "uninstall": {"keepHistory": true}});
    let (history, stalled, requeue) = failing(uninstall.clone(), now);
    assert!(history.starts_with("2 uninstalled/uninstall-remediation, 1 "), "{history}");
    assert_eq!((stalled.as_str(), requeue), ("-", Requeue::Immediate));
    let (_, stalled, requeue) = failing(uninstall, "1.4.5");
    assert_eq!((stalled.as_str(), requeue), ("RetriesExceeded", Requeue::None), "F-301");
    let retry = json!({"upgrade": {"strategy": {"name": "RetryOnFailure"}}});
    assert_eq!(failing(retry, now), of("2 failed/upgrade, 1 deployed", "-", Requeue::Retry));
    let mut exhausted = Setup::new(&["deployed"]).spec(json!({"values": {"a": 1}}));
    exhausted = exhausted.status(json!({"upgradeFailures": 1, "lastAttemptedReleaseAction": "upgrade"}));
    let mut story = Story::new(exhausted);
    let cycle = story.run();
    assert!(cycle.done.is_empty());
    assert_eq!(
        (story.history().as_str(), story.stalled().as_str(), cycle.requeue),
        ("1 deployed", "RetriesExceeded", Requeue::None)
    );
}

#[test]
fn f_179_a_failing_test_of_an_upgrade_is_rolled_back() {
    let spec = json!({"upgrade": {"remediation": {"remediateLastFailure": true}}, "test": {"enable": true}});
    let mut setup = changed(&["deployed"]).spec(spec);
    setup.hr["status"]["history"][0]["testHooks"] = json!({});
    let mut story = Story::new(setup).tests(false);
    story.run();
    assert!(
        story.history().starts_with("3 deployed/rollback, 2 superseded/rollback, 1 superseded"),
        "{}",
        story.history()
    );
    assert_eq!(story.stalled(), "RetriesExceeded");
}

#[test]
fn f_37_f_111_only_failures_that_wrote_to_storage_are_counted() {
    let mut refused = Story::new(changed(&["deployed"])).fate(Fate::Refused);
    let cycle = refused.run();
    assert_eq!((refused.counters(), cycle.requeue), ((1, 0, 0), Requeue::Backoff));
    assert_eq!(refused.ready(), "False UpgradeFailed");
    let mut written = Story::new(changed(&["deployed"])).fate(Fate::Fails);
    written.run();
    assert_eq!(written.counters(), (1, 0, 1));
    let retry = json!({"install": {"strategy": {"name": "RetryOnFailure"}}});
    let mut waits = Story::new(Setup::new(&[]).spec(retry)).fate(Fate::Refused);
    assert_eq!(waits.run().requeue, Requeue::Retry, "nothing stored, with a strategy to retry");
}

#[test]
fn f_38_f_83_counters_go_back_to_zero_by_configuration_not_by_success() {
    let retry = json!({"install": {"strategy": {"name": "RetryOnFailure"}}});
    let mut story = Story::new(Setup::new(&[]).spec(retry)).fate(Fate::Fails);
    story.run();
    assert_eq!(story.counters(), (1, 1, 0));
    story.helm.fate = Fate::Deploys;
    story.run();
    assert_eq!(
        (story.counters(), story.ready().as_str()),
        ((1, 1, 0), "True UpgradeSucceeded"),
        "healed by the upgrade"
    );
    let both = json!({"install": {"strategy": {"name": "RetryOnFailure"}}, "upgrade": {"strategy": {"name": "RetryOnFailure"}}});
    let mut story = Story::new(Setup::new(&[]).spec(both)).fate(Fate::Fails);
    story.run();
    story.helm.fate = Fate::Deploys;
    story.run();
    assert_eq!(story.counters(), (0, 0, 0));
    let reset = |edit: &dyn Fn(&mut Json)| {
        let mut story = Story::new(changed(&["deployed"])).fate(Fate::Fails);
        story.run();
        story.edit(|json| edit(json));
        story.helm.fate = Fate::Deploys;
        let done = story.run().done;
        (story.counters().2, done.len())
    };
    assert_eq!(reset(&|_| {}), (1, 0), "exhausted");
    assert_eq!(reset(&|hr| hr["metadata"]["generation"] = 3.into()).0, 0);
    assert_eq!(reset(&|hr| hr["spec"]["values"] = json!({"a": 2})).0, 0);
    let reset_token = json!({"reconcile.fluxcd.io/requestedAt": "t", "reconcile.fluxcd.io/resetAt": "t"});
    assert_eq!(reset(&|hr| hr["metadata"]["annotations"] = reset_token.clone()), (0, 1));
    let late = json!({"reconcile.fluxcd.io/requestedAt": "u", "reconcile.fluxcd.io/resetAt": "t"});
    assert_eq!(reset(&|hr| hr["metadata"]["annotations"] = late.clone()), (1, 0));
}

#[test]
fn f_57_f_59_f_63_f_84_what_a_run_writes_down() {
    let mut setup = changed(&["deployed"]).tokens("t", "t");
    setup.hr["metadata"]["annotations"]["reconcile.fluxcd.io/resetAt"] = "z".into();
    let mut story = Story::new(setup);
    story.run();
    assert_eq!(
        ["lastHandledReconcileAt", "lastHandledForceAt", "lastHandledResetAt"].map(|f| story.status(f)),
        ["t", "t", "z"]
    );
    assert_eq!((story.status("lastAttemptedRevision"), story.status("storageNamespace")), ("1.0.0".into(), "n".into()));
    assert_eq!(story.hr().number("/status/lastAttemptedGeneration"), Some(2));
    assert_eq!(story.hr().number("/status/observedGeneration"), Some(2));
    let again = story.run();
    assert!(again.done.is_empty(), "F-63: the token is spent: {again:?}");
    let mut seen = Story::new(Setup::new(&["deployed"]).tokens("t", "u"));
    seen.run();
    assert_eq!(seen.status("lastHandledForceAt"), "u", "handled although not honoured");
}

#[test]
fn f_60_f_64_f_71_f_282_tokens_of_runs_that_end_early_are_lost() {
    let lost = |setup: Setup, heal: &dyn Fn(&mut Json)| {
        let mut story = Story::new(setup.tokens("t", "t"));
        story.run();
        assert_eq!(
            (story.status("lastHandledReconcileAt"), story.status("lastHandledForceAt")),
            ("t".into(), String::new())
        );
        story.edit(|json| heal(json));
        let cycle = story.run();
        assert!(cycle.done.is_empty(), "{cycle:?}");
    };
    lost(Setup::new(&["deployed"]).spec(json!({"suspend": true})), &|hr| hr["spec"]["suspend"] = false.into());
    lost(Setup::new(&["deployed"]).spec(json!({"dependsOn": [{"name": "a", "namespace": "n"}]})), &|hr| {
        hr["spec"].as_object_mut().unwrap().remove("dependsOn");
    });
    lost(Setup::new(&["deployed"]).spec(json!({"valuesFrom": [{"kind": "Secret", "name": "gone"}]})), &|hr| {
        hr["spec"].as_object_mut().unwrap().remove("valuesFrom");
    });
}

#[test]
fn f_70_the_run_that_adds_the_finalizer_burns_tokens() {
    let mut setup = Setup::new(&["deployed"]).tokens("t", "t");
    setup.hr["metadata"].as_object_mut().unwrap().remove("finalizers");
    let mut story = Story::new(setup);
    let first = story.run();
    assert_eq!((first.requeue, story.status("lastHandledReconcileAt")), (Requeue::Immediate, "t".to_owned()));
    assert!(story.hr().has_finalizer());
    assert!(story.run().done.is_empty(), "F-59: burnt");
}

#[test]
fn f_62_forces_are_spent_where_another_action_is_due() {
    let mut untested = Story::new(Setup::new(&["deployed"]).spec(json!({"test": {"enable": true}})).tokens("t", "t"));
    let cycle = untested.run();
    assert_eq!(cycle.done.iter().map(|d| d.action.clone()).collect::<Vec<_>>(), [Action::Test]);
    assert_eq!(untested.status("lastHandledForceAt"), "t");
    let mut locked = Setup::new(&["deployed"]);
    locked.store_foreign(2, "pending-upgrade");
    let mut locked = Story::new(locked.tokens("t", "t"));
    let actions: Vec<Action> = locked.run().done.into_iter().map(|d| d.action).collect();
    assert_eq!(actions, [Action::Unlock, Action::Upgrade], "one upgrade, that of the unmanaged release");
}

#[test]
fn f_69_deletion_uninstalls_unless_suspended() {
    let deleted = |suspend: bool| {
        let mut setup = Setup::new(&["deployed"]).spec(json!({"suspend": suspend}));
        setup.hr["metadata"]["deletionTimestamp"] = "2024-01-01T00:00:00Z".into();
        let mut story = Story::new(setup);
        story.run();
        (story.facts.get(&story.key).present().is_some(), story.stored().len())
    };
    assert_eq!(deleted(false), (false, 0));
    assert_eq!(deleted(true), (false, 1), "the release is left behind");
}

#[test]
fn f_11_f_12_f_13_f_73_the_helm_chart_of_the_template() {
    let template = json!({"spec": {"chart": "c", "sourceRef": {"kind": "HelmRepository", "name": "r"}}});
    let mut setup = Setup::new(&["deployed"]).tokens("t", "t");
    setup.hr["spec"] = json!({"interval": "5m", "chart": template});
    let mut story = Story::new(setup);
    let cycle = story.run();
    let key = ObjectKey {
        group: "source.toolkit.fluxcd.io".into(),
        kind: "HelmChart".into(),
        namespace: "n".into(),
        name: "n-a".into(),
    };
    let chart = story.facts.get(&key).present().unwrap();
    assert_eq!((chart.text("/spec/version"), chart.text("/metadata/labels/helm.toolkit.fluxcd.io~1name")), ("*", "a"));
    assert_eq!((story.status("helmChart").as_str(), story.ready().as_str()), ("n/n-a", "False SourceNotReady"));
    assert_eq!(
        (cycle.requeue, story.status("lastHandledReconcileAt").as_str()),
        (Requeue::Dependency, "t"),
        "the token is burnt"
    );
    story.edit(|hr| hr["spec"] = json!({"chartRef": {"kind": "HelmChart", "name": "c"}}));
    story.run();
    assert!(story.facts.get(&key).present().is_none() && story.status("helmChart").is_empty(), "F-13");
    let mut long = Setup::new(&["deployed"]);
    long.hr["metadata"]["name"] = "x".repeat(64).into();
    long.hr["spec"] = json!({"interval": "5m", "chart": {"spec": {"chart": "c", "sourceRef": {"kind": "HelmRepository", "name": "r"}}}});
    let mut long = Story::new(long);
    assert_eq!((long.run().requeue, long.ready().as_str()), (Requeue::Backoff, "- -"), "F-73: no condition");
}

#[test]
fn f_68_f_74_f_76_f_77_f_87_exits_wait_and_recover() {
    let mut story = Story::new(Setup::new(&["deployed"]).spec(json!({"dependsOn": [{"name": "none"}]})));
    story.facts.coverage.complete = true;
    story.edit(|hr| hr["metadata"]["generation"] = 2.into());
    assert_eq!((story.run().requeue, story.ready().as_str()), (Requeue::Dependency, "False DependencyNotReady"));
    assert_eq!(story.hr().number("/status/observedGeneration"), Some(1), "F-68");
    assert_eq!(story.hr().condition("Reconciling"), Some("True"), "F-87: it stays in place");
    story.edit(|hr| {
        hr["spec"] =
            json!({"chartRef": {"kind": "HelmChart", "name": "c"}, "valuesFrom": [{"kind": "Secret", "name": "x"}]})
    });
    assert_eq!((story.run().requeue, story.ready().as_str()), (Requeue::Backoff, "False ValuesError"));
    story.edit(|hr| hr["spec"] = json!({"chartRef": {"kind": "HelmChart", "name": "gone"}}));
    assert_eq!((story.run().requeue, story.ready().as_str()), (Requeue::Backoff, "False ArtifactFailed"), "F-75");
    story.edit(|hr| hr["spec"] = json!({"chartRef": {"kind": "ExternalArtifact", "name": "e"}}));
    assert_eq!((story.run().requeue, story.ready().as_str()), (Requeue::None, "False AccessDenied"), "F-75");
    assert_eq!((story.stalled().as_str(), story.hr().condition("Reconciling")), ("AccessDenied", None));
    story.edit(|hr| hr["spec"] = json!({"chartRef": {"kind": "HelmChart", "name": "c"}}));
    assert_eq!((story.run().requeue, story.stalled().as_str()), (Requeue::Interval, "-"));
    assert_ne!(story.hr().condition("Ready"), Some("False"));
    assert_eq!(story.hr().condition("Reconciling"), None);
}

#[test]
fn f_81_f_82_f_306_a_changed_target_starts_over() {
    let moved = |fields: Json| {
        let setup = Setup::new(&["deployed"]).spec(fields).status(json!({"upgradeFailures": 2, "failures": 2}));
        let mut story = Story::new(setup);
        let cycle = story.run();
        (cycle.requeue, story.history(), story.counters().2, story.status("storageNamespace"))
    };
    let over = (Requeue::Immediate, String::new(), 0, String::new());
    assert_eq!(moved(json!({"storageNamespace": "s"})), over);
    assert_eq!(moved(json!({"targetNamespace": "t", "releaseName": "a"})), over);
    assert_eq!(moved(json!({"releaseName": "b"})), over);
    let rename = |spec: Json, version: &str| {
        let mut setup = Setup::new(&["deployed"]).spec(spec);
        setup.hr["status"]["history"][0]["chartName"] = "old".into();
        Story::new(setup).controller(version).run().requeue
    };
    let in_place = json!({"upgrade": {"chartNameChangeStrategy": "InPlaceUpdate"}});
    assert_eq!(rename(json!({}), "1.6.3"), Requeue::Immediate);
    assert_eq!(rename(in_place.clone(), "1.6.3"), Requeue::Interval);
    assert_eq!(rename(in_place, "1.5.3"), Requeue::Immediate, "F-306: always anew");
}

#[test]
fn f_106_f_116_f_174_f_300_f_376_an_in_sync_run_repairs_conditions() {
    let condition = |kind: &str, status: &str, reason: &str| json!({"type": kind, "status": status, "reason": reason, "observedGeneration": 1});
    let repaired = |conditions: Json, version: &str| {
        let settings = Settings { controller: version.parse().unwrap(), ..Settings::default() };
        let setup = Setup::new(&["deployed"]).seen_by(&settings).status(json!({"conditions": conditions}));
        let mut story = Story::new(setup).controller(version);
        assert!(story.run().done.is_empty());
        (story.ready(), story.hr().condition("Remediated").is_some())
    };
    let failed =
        json!([condition("Released", "False", "UpgradeFailed"), condition("Remediated", "True", "RollbackSucceeded")]);
    assert_eq!(repaired(failed, "1.6.3"), ("True UpgradeSucceeded".into(), false));
    let installed =
        json!([condition("Released", "False", "InstallFailed"), condition("Ready", "False", "InstallFailed")]);
    assert_eq!(repaired(installed.clone(), "1.6.3"), ("True InstallSucceeded".into(), false));
    assert_eq!(repaired(installed, "1.4.5").0, "False InstallFailed", "F-300, F-376");
}

#[test]
fn f_29_kept_values_upgrade_at_every_run() {
    let mut setup = Setup::new(&[]).spec(json!({"values": {"a": 1}, "upgrade": {"preserveValues": true}}));
    setup.store(1, "deployed", json!({"config": {"b": 2}}));
    let mut story = Story::new(setup);
    for version in 2..4 {
        let cycle = story.run();
        assert_eq!((cycle.done.len(), cycle.requeue), (1, Requeue::Interval));
        let (_, stored) = (version, stored(&story.facts, "n", "a").0);
        assert_eq!(
            (stored[0].version, stored[0].config().cloned()),
            (version, Some(json!({"a": 1.0, "b": 2}))),
            "merged"
        );
    }
}

#[test]
fn f_143_integers_that_storage_does_not_keep_make_an_endless_loop() {
    let run = |number: &str| {
        let mut setup = Setup::new(&[]);
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "n"}, "data": {"values.yaml": number}});
        setup.facts.insert(Object::new(map, Default::default()).unwrap());
        let from = json!([{"kind": "ConfigMap", "name": "m", "targetPath": "x"}]);
        let mut story = Story::new(setup.spec(json!({"valuesFrom": from})));
        let cycle = story.run();
        (cycle.requeue, story.history().is_empty())
    };
    assert_eq!(run("9007199254740993").0, Requeue::Immediate);
    assert_eq!(run("9007199254740992"), (Requeue::Interval, false));
    assert_eq!(run("1000000000000000001").0, Requeue::Immediate);
    assert_eq!(run("1000000000000000000"), (Requeue::Interval, false));
}

#[test]
fn f_113_f_154_conditions_of_actions() {
    let mut story = Story::new(Setup::new(&[]).spec(json!({"test": {"enable": true}}))).tests(true);
    story.run();
    let hr = story.hr();
    assert_eq!(
        (hr.condition_reason("Released"), hr.condition_reason("TestSuccess")),
        (Some("InstallSucceeded"), Some("TestSucceeded"))
    );
    let message = hr.condition_entry("Released").and_then(|c| c["message"].as_str()).unwrap_or_default();
    assert_eq!(message, "Helm install succeeded for release n/a.v1 with chart c@1.0.0");
    assert_eq!(hr.text("/status/lastAttemptedReleaseAction"), "install", "F-154");
    let spec = json!({"upgrade": {"remediation": {"remediateLastFailure": true, "strategy": "uninstall"}}});
    let mut story = Story::new(changed(&["deployed"]).spec(spec)).fate(Fate::Fails);
    story.run();
    assert_eq!(story.ready(), "False UpgradeFailed", "an uninstall does not summarize");
    assert_eq!(story.hr().condition_reason("Remediated"), Some("UninstallSucceeded"));
    assert!(story.history().starts_with("2 uninstalling/uninstall-remediation"), "{}", story.history());
    assert!(story.stored().is_empty());
}

#[test]
fn f_138_f_139_histories_are_cut_by_in_sync_and_failed_runs() {
    let cut = |statuses: &[&str], spec: Json, last: &str| {
        let setup = Setup::new(statuses).spec(spec).status(json!({"lastAttemptedReleaseAction": last}));
        let mut story = Story::new(setup);
        story.run();
        story.hr().history().len()
    };
    let four = ["superseded", "superseded", "failed", "deployed"];
    assert_eq!(cut(&four, json!({}), "upgrade"), 3);
    assert_eq!(cut(&four, json!({"upgrade": {"strategy": {"name": "RetryOnFailure"}}}), "upgrade"), 4);
    // F-110: a failed release keeps its whole history unless it is rolled back.
    let failed = ["superseded", "superseded", "superseded", "deployed", "failed"];
    let setup = Setup::new(&failed).status(json!({"lastAttemptedReleaseAction": "upgrade", "upgradeFailures": 1}));
    let mut story = Story::new(setup).fate(Fate::Fails);
    story.run();
    assert!(story.hr().history().len() == failed.len(), "{}", story.history());
}

#[test]
fn f_148a_a_failing_change_of_renderers_is_lost_and_f_294_not_for_older_controllers() {
    let lost = |version: &str| {
        let settings = Settings { controller: version.parse().unwrap(), ..Settings::default() };
        let mut setup = Setup::new(&["deployed"]).spec(json!({"postRenderers": [{}]})).seen_by(&settings);
        setup.hr["status"]["conditions"] = json!([{"type": "Ready", "status": "True", "observedGeneration": 1}]);
        setup.hr["metadata"]["generation"] = 2.into();
        let mut story = Story::new(setup).fate(Fate::Refused).controller(version);
        story.run();
        story.helm.fate = Fate::Deploys;
        let second = story.run().done.len();
        (second, story.ready())
    };
    assert_eq!(lost("1.6.3"), (0, "True UpgradeSucceeded".to_owned()));
    assert_eq!(lost("1.4.5").1, "False UpgradeFailed");
}

#[test]
fn f_163_a_hidden_secret_still_holds_its_name() {
    let mut setup = Setup::new(&["deployed"]);
    let (_, all) = setup.release();
    let mut json = (*all[0].object.json).clone();
    json["metadata"]["labels"]["name"] = "other".into();
    setup.facts.insert(Object::new(json, Default::default()).unwrap());
    let mut story = Story::new(setup);
    let cycle = story.run();
    assert_eq!(cycle.done[0].error.as_deref(), Some("release: already exists"));
    assert_eq!((cycle.requeue, story.counters()), (Requeue::Backoff, (1, 0, 0)));
}

#[test]
fn f_295_f_378_older_controllers_wait_for_an_unready_source_without_success() {
    let mut setup = Setup::new(&["deployed"]);
    let chart = json!({"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmChart", "metadata": {"name": "c", "namespace": "n", "generation": 2}, "status": {"observedGeneration": 1}});
    setup.facts.insert(Object::new(chart, Default::default()).unwrap());
    setup.hr["metadata"]["generation"] = 2.into();
    let mut story = Story::new(setup).controller("1.2");
    story.run();
    assert_eq!(story.hr().number("/status/observedGeneration"), Some(1));
    assert_eq!(story.ready(), "False SourceNotReady");
}

#[test]
fn f_375b_older_controllers_fill_in_an_empty_digest_of_renderers() {
    let observed = |version: &str| {
        let settings = Settings { controller: version.parse().unwrap(), ..Settings::default() };
        let conditions =
            json!([{"type": "Ready", "status": "False", "reason": "UpgradeFailed", "observedGeneration": 1}]);
        let setup = Setup::new(&["deployed"]).spec(json!({"postRenderers": [{}]})).seen_by(&settings);
        let mut story = Story::new(setup.status(json!({"conditions": conditions}))).controller(version);
        assert!(story.run().done.is_empty());
        !story.status("observedPostRenderersDigest").is_empty()
    };
    assert!(observed("1.2.0") && observed("1.4.5"));
}
