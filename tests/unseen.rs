//! Why this program exists: a release that is in sync stays so, whatever happens to what its templates look at.
//!
//! Each release of the shipped scenarios that is in sync is decided upon again after changes of templates, default values,
//! capabilities and other objects of the cluster (`F-4`, `F-103`).
#![allow(clippy::disallowed_methods)]

mod support;

use std::rc::Rc;

use helm_render_predictor::cluster::import::import;
use helm_render_predictor::cluster::object::{Object, ObjectKey};
use helm_render_predictor::cluster::snapshot::Snapshot;
use helm_render_predictor::cluster::storage::{decode, encode, is_storage, stored};
use helm_render_predictor::flux::settings::Settings;
use helm_render_predictor::flux::{Decision, HelmRelease, Outcome, State, simulate};
use serde_json::{Value as Json, json};

/// A source of numbers that is the same at every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % sides
    }
}

fn decision(hr: &HelmRelease, facts: &Snapshot) -> Decision {
    let all = stored(facts, &hr.storage_namespace(), &hr.release_name()).0;
    simulate(hr, facts, &all, &Settings::default())
}

/// Objects that the controller itself reads: Flux's own, Helm's storage, and where values come from.
fn is_input(object: &Object, releases: &[HelmRelease]) -> bool {
    let refers = |hr: &HelmRelease| {
        let refs = hr.json.pointer("/spec/valuesFrom").and_then(Json::as_array);
        hr.namespace == object.key.namespace
            && refs.into_iter().flatten().any(|r| r["kind"] == *object.key.kind && r["name"] == *object.key.name)
    };
    object.key.group.ends_with(".fluxcd.io")
        || object.key.group.ends_with("toolkit.fluxcd.io")
        || is_storage(object)
        || releases.iter().any(refers)
}

/// A change to something that renders look at and the controller does not.
fn change(facts: &mut Snapshot, releases: &[HelmRelease], dice: &mut Dice) -> String {
    let objects: Vec<Rc<Object>> = facts.objects().cloned().collect();
    match dice.roll(4) {
        0 => {
            let storage: Vec<&Rc<Object>> = objects.iter().filter(|o| is_storage(o)).collect();
            let object = storage[dice.roll(storage.len() as u64) as usize];
            let mut payload = (*decode(object).unwrap().json).clone();
            let chart = payload["chart"].as_object_mut().unwrap();
            chart.insert("templates".into(), json!([{"name": "templates/x.yaml", "data": "e3sgZmFpbCAieCIgfX0="}]));
            chart.insert("values".into(), json!({"other": dice.roll(100)}));
            chart.insert("files".into(), json!([]));
            chart.insert("schema".into(), json!("e30="));
            let mut json = (*object.json).clone();
            json["data"]["release"] = encode(&payload).into();
            put(facts, &object.key, json);
            format!("templates, values and files of {}", object.key)
        }
        1 => {
            facts.discovery.version.git = format!("v1.{}.0", dice.roll(60));
            let group = format!("g{}.example.org", dice.roll(1000));
            facts.discovery.add_crd(&json!({"spec": {
                "group": group, "scope": "Namespaced", "names": {"kind": "Thing", "plural": "things"},
                "versions": [{"name": "v1", "served": true}],
            }}));
            "version and API groups".to_owned()
        }
        deletes => {
            let others: Vec<&Rc<Object>> = objects.iter().filter(|o| !is_input(o, releases)).collect();
            let Some(object) = others.get(dice.roll(others.len().max(1) as u64) as usize) else { return String::new() };
            if deletes == 2 {
                facts.apply([(object.key.clone(), None)]);
                return format!("{} is gone", object.key);
            }
            let mut json = (*object.json).clone();
            json["data"] = json!({"changed": format!("{}", dice.roll(1000))});
            json["status"] = json!({"changed": dice.roll(1000)});
            put(facts, &object.key, json);
            format!("{} is another", object.key)
        }
    }
}

fn put(facts: &mut Snapshot, key: &ObjectKey, json: Json) {
    facts.apply([(key.clone(), Object::new(json, Default::default()).map(Rc::new))]);
}

#[test]
fn what_is_in_sync_stays_so_whatever_its_templates_would_see() {
    let mut checked = 0;
    for folder in support::folders(&support::folder("SCENARIOS", "fixtures/scenarios")) {
        let (facts, _) = import(&support::yaml_files(&folder));
        let releases: Vec<HelmRelease> = facts
            .objects()
            .filter(|o| o.key.kind == "HelmRelease")
            .map(|o| HelmRelease::new(o.json.clone()))
            .filter(|hr| hr.json.pointer("/spec/driftDetection").is_none())
            .collect();
        let in_sync: Vec<(&HelmRelease, Decision)> = releases
            .iter()
            .map(|hr| (hr, decision(hr, &facts)))
            .filter(|(_, d)| matches!(d.outcome, Outcome::Decided { state: State::InSync, .. }))
            .collect();
        if in_sync.is_empty() {
            continue;
        }
        for seed in 0..4 {
            let mut dice = Dice(seed);
            let mut facts = facts.clone();
            let mut changes = Vec::new();
            for _ in 0..8 {
                changes.push(change(&mut facts, &releases, &mut dice));
            }
            for (hr, before) in &in_sync {
                assert_eq!(decision(hr, &facts), *before, "{}/{} after {changes:?}", hr.namespace, hr.name);
                checked += 1;
            }
        }
    }
    assert!(checked > 100, "{checked} decisions checked");
}
