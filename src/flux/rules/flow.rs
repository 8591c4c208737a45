//! Steps before the release is looked at, and what `why` says of a run (`F-60`, `F-68` to `F-86`, `F-103`).

use serde_json::{Value as Json, json};

use super::super::cycle::Requeue;
use super::super::decide::{Decision, Exit, Outcome};
use super::super::decide_tests::Setup;
use super::super::settings::Settings;
use super::super::simulate;
use super::super::why::{Fate, fate, not_looked_at, requeue, stamped, writes};
use crate::cluster::object::Object;

fn source(kind: &str, generation: i64, status: Json) -> Object {
    let json = json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": kind,
        "metadata": {"name": "c", "namespace": "n", "generation": generation}, "status": status,
    });
    Object::new(json, Default::default()).unwrap()
}

#[test]
fn f_76_f_78_f_225_what_makes_a_source_ready() {
    let artifact = json!({"revision": "1.0.0"});
    let with = |extra: Json| {
        let mut status = json!({"observedGeneration": 1, "observedChartName": "c", "artifact": artifact});
        status.as_object_mut().unwrap().extend(extra.as_object().cloned().unwrap());
        status
    };
    for (status, why) in [
        (with(json!({"observedGeneration": 0})), "latest generation of object has not been reconciled"),
        (with(json!({"conditions": [{"type": "Stalled", "status": "True"}]})), "stalled"),
        (with(json!({"artifact": null})), "does not have an artifact"),
    ] {
        let mut setup = Setup::new(&["deployed"]);
        setup.facts.insert(source("HelmChart", 1, status.clone()));
        match setup.decision().outcome {
            Outcome::Exited(Exit::SourceNotReady(text)) => {
                assert!(text.starts_with("HelmChart 'n/c' is not ready: ") && text.contains(why), "{text}");
            }
            other => panic!("{status}: {other:?}"),
        }
    }
    let mut failing = Setup::new(&["deployed"]);
    failing.facts.insert(source("HelmChart", 1, with(json!({"conditions": [{"type": "Ready", "status": "False"}]}))));
    assert!(matches!(failing.decision().outcome, Outcome::Decided { .. }), "Ready is not asked for");
    let mut external = Setup::new(&["deployed"]).spec(json!({"chartRef": {"kind": "ExternalArtifact", "name": "c"}}));
    external.facts.insert(source("ExternalArtifact", 7, json!({"artifact": {"revision": "1.0.0"}})));
    let (hr, all) = external.release();
    let gate = Settings { external_artifact: true, ..Settings::default() };
    let outcome = simulate(&hr, &external.facts, &all, &gate).outcome;
    assert!(matches!(outcome, Outcome::Decided { .. }), "no generation is asked for: {outcome:?}");
}

#[test]
fn f_73_f_75_references_across_namespaces_may_be_denied() {
    let deny = Settings { no_cross_namespace: true, ..Settings::default() };
    let outcome = |spec: Json, settings: &Settings| {
        let mut setup = Setup::new(&["deployed"]);
        setup.hr["spec"] = spec;
        let (hr, all) = setup.release();
        simulate(&hr, &setup.facts, &all, settings).outcome
    };
    let reference = json!({"chartRef": {"kind": "HelmChart", "name": "c", "namespace": "m"}});
    assert!(matches!(outcome(reference, &deny), Outcome::Exited(Exit::AccessDenied(_))));
    let source = json!({"kind": "GitRepository", "name": "g", "namespace": "m"});
    let template = json!({"interval": "1m", "chart": {"spec": {"chart": "c", "sourceRef": source}}});
    assert!(matches!(outcome(template, &deny), Outcome::Exited(Exit::ChartNotWritten(_))));
    let own = json!({"chartRef": {"kind": "HelmChart", "name": "c"}});
    assert!(matches!(outcome(own, &deny), Outcome::Decided { .. }));
    let external = json!({"chartRef": {"kind": "ExternalArtifact", "name": "c"}});
    assert!(matches!(outcome(external, &Settings::default()), Outcome::Exited(Exit::AccessDenied(_))));
}

fn answers(setup: &Setup) -> (Option<Requeue>, Vec<&'static str>, Decision) {
    let settings = Settings::default();
    let (hr, _) = setup.release();
    let decision = setup.decision();
    let rules = writes(&hr, &decision, &settings).into_iter().map(|c| c.rule).collect();
    (requeue(&decision, &settings), rules, decision)
}

#[test]
fn f_68_f_283_when_the_controller_looks_again_and_what_it_writes() {
    let plain = answers(&Setup::new(&["deployed"]));
    assert_eq!((plain.0, plain.1), (Some(Requeue::Interval), vec!["F-84", "F-68"]));
    let tokens = answers(&Setup::new(&["deployed"]).tokens("t", "u"));
    assert_eq!(tokens.1, ["F-84", "F-57", "F-59", "F-68"]);
    let suspended = answers(&Setup::new(&["deployed"]).spec(json!({"suspend": true})).tokens("t", "t"));
    assert_eq!((suspended.0, suspended.1), (Some(Requeue::None), vec!["F-59", "F-68"]));
    let exceeded = answers(&Setup::new(&[]).status(json!({"installFailures": 1})));
    assert_eq!(exceeded.0, Some(Requeue::None));
    let upgrades = answers(&Setup::new(&["deployed"]).status(json!({"history": []})));
    assert_eq!(upgrades.0, None, "the result decides");
    let invalid = answers(&Setup::new(&["deployed"]).spec(json!({"chart": {}})));
    assert_eq!((invalid.0, invalid.1), (Some(Requeue::None), vec!["F-10"]));
}

#[test]
fn f_60_f_62_f_286_what_becomes_of_a_force() {
    let of = |setup: Setup| {
        let (hr, all) = setup.release();
        let hr = stamped(&hr, "fresh");
        let decision = simulate(&hr, &setup.facts, &all, &Settings::default());
        fate(&hr, &decision).0
    };
    assert_eq!(of(Setup::new(&["deployed"])), Fate::Honoured);
    assert_eq!(of(Setup::new(&["deployed"]).spec(json!({"suspend": true}))), Fate::Burnt);
    assert_eq!(of(Setup::new(&["deployed"]).spec(json!({"test": {"enable": true}}))), Fate::Spent);
    assert_eq!(of(Setup::new(&["pending-upgrade"])), Fate::Spent);
    assert_eq!(of(Setup::new(&["superseded"])), Fate::Burnt, "StateError");
    let mut new = Setup::new(&["deployed"]);
    new.hr["metadata"].as_object_mut().unwrap().remove("finalizers");
    assert_eq!(of(new), Fate::Burnt, "F-70");
    let mut blind = Setup::new(&[]);
    blind.facts.coverage.namespaces.clear();
    assert_eq!(of(blind), Fate::Unknown);
}

#[test]
fn f_2_f_103_f_288_inputs_that_are_not_looked_at_are_named() {
    let rules = |setup: &Setup| {
        let (hr, _) = setup.release();
        let all = not_looked_at(&hr, &setup.decision(), &Settings::default());
        all.into_iter().map(|c| c.rule).collect::<Vec<_>>()
    };
    let plain = rules(&Setup::new(&["deployed"]));
    assert_eq!(plain, ["F-4", "F-103", "F-103", "F-78", "F-98"]);
    let spec = json!({"postRenderStrategy": "nohooks", "upgrade": {"force": true}});
    assert!(["F-27", "F-28"].iter().all(|rule| rules(&Setup::new(&["deployed"]).spec(spec.clone())).contains(rule)));
    assert_eq!(rules(&Setup::new(&["deployed"]).spec(json!({"suspend": true}))).last(), Some(&"F-68"));
    let mut new = Setup::new(&["deployed"]);
    new.hr["metadata"]["generation"] = 2.into();
    assert!(!rules(&new).contains(&"F-98"), "a new generation is compared");
}
