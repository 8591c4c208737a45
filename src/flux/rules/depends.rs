//! Dependencies (`F-260` to `F-264`).

use serde_json::{Value as Json, json};

use super::super::decide::{Action, Exit, Outcome, State};
use super::super::decide_tests::Setup;
use super::super::settings::{ControllerVersion, Settings};
use super::super::simulate;
use crate::cluster::object::Object;

fn needing(setup: Setup, depends_on: Json, others: &[Json]) -> Setup {
    let mut setup = setup.spec(json!({"dependsOn": depends_on}));
    for other in others {
        setup.facts.insert(Object::new(other.clone(), Default::default()).unwrap());
    }
    setup
}

fn other(namespace: &str, name: &str, generation: i64, ready: &str) -> Json {
    json!({
        "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
        "metadata": {"name": name, "namespace": namespace, "generation": generation},
        "status": {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": ready}]},
    })
}

#[track_caller]
fn waits(setup: &Setup, why: &str) {
    match setup.decision().outcome {
        Outcome::Exited(Exit::DependencyNotReady(text)) => assert!(text.contains(why), "{text}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn f_22_f_260_dependencies_are_read_in_order_from_any_namespace() {
    let list = json!([{"name": "d"}, {"name": "e", "namespace": "m"}]);
    let ready = [other("n", "d", 1, "True"), other("m", "e", 1, "True")];
    needing(Setup::new(&["deployed"]), list.clone(), &ready).gives(State::InSync, Action::None);
    waits(&needing(Setup::new(&["deployed"]), list.clone(), &ready[..1]), "unable to get 'm/e' dependency");
    let first = [other("n", "d", 1, "False"), other("m", "e", 1, "False")];
    waits(&needing(Setup::new(&["deployed"]), list, &first), "dependency 'n/d' is not ready");
}

#[test]
fn f_261_f_264_ready_at_its_generation_is_enough() {
    let list = json!([{"name": "d"}]);
    for (generation, ready, passes) in
        [(1, "True", true), (2, "True", false), (1, "False", false), (1, "Unknown", false)]
    {
        let setup = needing(Setup::new(&["deployed"]), list.clone(), &[other("n", "d", generation, ready)]);
        assert_eq!(matches!(setup.decision().outcome, Outcome::Decided { .. }), passes, "{generation} {ready}");
    }
    let mut busy = other("n", "d", 1, "True");
    busy["spec"] = json!({"suspend": true});
    busy["metadata"]["annotations"] = json!({"reconcile.fluxcd.io/requestedAt": "t"});
    busy["status"]["conditions"] =
        json!([{"type": "Reconciling", "status": "True"}, {"type": "Ready", "status": "True"}]);
    needing(Setup::new(&["deployed"]), list, &[busy]).gives(State::InSync, Action::None);
}

#[test]
fn f_262_expressions_replace_the_built_in_rule() {
    let by = |expression: &str, found: &[Json]| {
        let list = json!([{"name": "d", "readyExpr": expression}]);
        needing(Setup::new(&["deployed"]), list, found)
    };
    // A dependency that is not ready, by its own word.
    let found = [other("n", "d", 2, "False")];
    by("dep.metadata.generation == 2 && self.metadata.name == 'a'", &found).gives(State::InSync, Action::None);
    waits(&by("dep.metadata.name == 'zzz'", &found), "dependency 'n/d' is not ready according to readyExpr eval");
    let missing = "failed to evaluate the CEL expression 'dep.status.x == 'x'': no such key: x";
    waits(&by("dep.status.x == 'x'", &found), missing);
    // An expression is looked at only after its dependency was found.
    waits(&by("(((", &[]), "unable to get 'n/d' dependency");
    for wrong in ["(((", "dep.metadata.name", "dep.x =="] {
        let outcome = by(wrong, &found).decision().outcome;
        assert!(matches!(outcome, Outcome::Exited(Exit::InvalidExpression(_))), "F-74: {wrong}: {outcome:?}");
    }
    match by("timestamp(dep.status.x) == timestamp(self.spec.y)", &found).decision().outcome {
        Outcome::Unknown { missing } => assert!(missing[0].contains("timestamp(dep.status.x)"), "{missing:?}"),
        other => panic!("{other:?}"),
    }
    let setup = by("dep.metadata.generation == 2", &found);
    let (hr, all) = setup.release();
    let additive = Settings { additive_ready_expr: true, ..Settings::default() };
    let old = Settings { controller: ControllerVersion(1, 3, 0), ..Settings::default() };
    for (settings, rule) in [(additive, "F-8: the built-in rule comes on top"), (old, "F-296")] {
        let outcome = simulate(&hr, &setup.facts, &all, &settings).outcome;
        assert!(matches!(outcome, Outcome::Exited(Exit::DependencyNotReady(_))), "{rule}: {outcome:?}");
    }
}

#[test]
fn f_263_a_cycle_is_not_noticed_and_dormant_while_all_are_ready() {
    let mut back = other("n", "d", 1, "True");
    back["spec"] = json!({"dependsOn": [{"name": "a"}]});
    needing(Setup::new(&["deployed"]), json!([{"name": "d"}]), &[back]).gives(State::InSync, Action::None);
    let itself = needing(Setup::new(&["deployed"]), json!([{"name": "a"}]), &[other("n", "a", 1, "False")]);
    waits(&itself, "dependency 'n/a' is not ready");
}
