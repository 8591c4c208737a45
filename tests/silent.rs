//! Silent states in recordings of a real controller: below `fixtures/silent` and `fixtures/live` (or below `LIVE_EPISODES`),
//! one test per episode that `fixtures/silent/list.txt` names.
//!
//! Each of its lines is `FAMILY/NAME STEP NAMESPACE/RELEASE STATE RULE`: what the snapshot after that step gives away. An
//! episode shows just these, of the steps that it has; one with the single line `FAMILY/NAME none` shows none. Below
//! `fixtures/silent` the episodes are cut down to their snapshots.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use helm_render_predictor::api::{Inputs, Options};
use helm_render_predictor::codec::yaml;
use helm_render_predictor::report::silent::TABLE;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value as Json;

fn main() {
    let roots = ["fixtures/silent", "fixtures/live"].map(|shipped| support::folder("LIVE_EPISODES", shipped));
    let mut trials = Vec::new();
    for (name, lines) in expected() {
        let folder = roots.iter().map(|root| root.join(&name)).find(|folder| folder.join("episode.yaml").exists());
        if let Some(folder) = folder {
            trials.push(Trial::test(name.clone(), move || check(&folder, &name, &lines)));
        }
    }
    assert!(!trials.is_empty(), "no episode of the list is below {}", roots[0].display());
    trials.push(Trial::test("every rule of the table has a case", every_rule_has_a_case));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// The cases of `tests/scenarios.rs` show each rule of the table, and none that it lacks.
fn every_rule_has_a_case() -> Result<(), Failed> {
    let mut shown = BTreeSet::new();
    for case in support::case::cases(&support::folder("", "fixtures/scenarios/cases")) {
        for (_, release) in case.json["expect"]["releases"].as_object().into_iter().flatten() {
            let states = release["silent"].as_array().into_iter().flatten().filter_map(Json::as_str);
            shown.extend(states.map(str::to_owned));
        }
    }
    let table: BTreeSet<String> = TABLE.iter().map(|row| format!("{} {}", row.state.word(), row.rule)).collect();
    if shown == table { Ok(()) } else { Err(format!("shown {shown:?}, in the table {table:?}").into()) }
}

/// The lines of the list, by episode.
fn expected() -> BTreeMap<String, BTreeSet<String>> {
    let text = std::fs::read_to_string(support::folder("", "fixtures/silent/list.txt")).unwrap();
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (episode, rest) = line.split_once(' ').unwrap_or_else(|| panic!("{line}: what of it?"));
        let lines = all.entry(episode.to_owned()).or_default();
        if rest != "none" {
            assert!(lines.insert(rest.to_owned()), "{line}: twice");
        }
    }
    all
}

fn check(folder: &Path, name: &str, expected: &BTreeSet<String>) -> Result<(), Failed> {
    let bytes = std::fs::read(folder.join("episode.yaml"))?;
    let document = yaml::parse_first(&bytes).map_err(|e| format!("{e:?}"))?.ok_or("an empty file")?;
    let episode = yaml::to_json(document.root()).map_err(|e| format!("{e:?}"))?;
    let mut found = BTreeSet::new();
    let steps: BTreeSet<u64> =
        episode["steps"].as_array().into_iter().flatten().filter_map(|step| step["step"].as_u64()).collect();
    let there =
        |line: &&String| line.split(' ').next().and_then(|step| step.parse().ok()).is_some_and(|n| steps.contains(&n));
    let expected: BTreeSet<String> = expected.iter().filter(there).cloned().collect();
    for &step in &steps {
        for release in inputs(folder, &episode, step)?.plan().releases {
            for silent in &release.silent {
                found.insert(format!("{step} {} {} {}", release.release, silent.state.word(), silent.rule));
            }
        }
    }
    let extra = found.difference(&expected).map(|line| format!("extra: {name} {line}"));
    let wrong: Vec<String> =
        extra.chain(expected.difference(&found).map(|line| format!("missing: {name} {line}"))).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// The snapshot after a step; charts are those of the release Secrets.
fn inputs(folder: &Path, episode: &Json, step: u64) -> Result<Inputs, Failed> {
    let mut snapshot = vec![("coverage.json".to_owned(), COVERAGE.as_bytes().to_vec())];
    for path in [
        support::folder("", "fixtures/live/discovery.json"),
        folder.join(format!("discovery-{step}.json")),
        folder.join(format!("snapshot-{step}.yaml")),
    ] {
        if path.exists() {
            snapshot.push((path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path)?));
        }
    }
    let flags = episode["controller_flags"].as_array().into_iter().flatten();
    let options = Options {
        controller: episode["controller"].as_str().map(str::to_owned),
        controller_args: flags.filter_map(Json::as_str).map(str::to_owned).collect(),
        ..Options::default()
    };
    Ok(Inputs { snapshot, options, ..Inputs::default() })
}

/// What was not recorded was not there.
const COVERAGE: &str =
    r#"{"apiVersion": "reconcile-planner/v1", "kind": "Coverage", "metadata": {"name": "recorded"}, "complete": true}"#;
