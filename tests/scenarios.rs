//! Acceptance scenarios: each folder below `fixtures/scenarios` (or below `SCENARIOS`) is one test.
//!
//! `expect/NAME.json` names the releases that are not in sync with their verdict, findings (as exact sets), deciding keys and
//! dangers, and the waves of the plan. A release that it does not name must be IN_SYNC and without a finding.
//!
//! With `lines` it tells a log instead: each line has a snapshot in a folder of its own, a question, and the answer of `settled`.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use helm_render_predictor::api::Inputs;
use helm_render_predictor::report::Report;
use helm_render_predictor::report::contract::{Release, ReleaseRef};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value as Json;

fn main() {
    let root = support::folder("SCENARIOS", "fixtures/scenarios");
    let trials = support::folders(&root)
        .into_iter()
        .filter_map(|path| {
            let name = path.file_name()?.to_string_lossy().into_owned();
            let expect = root.join("expect").join(format!("{name}.json"));
            expect.exists().then(|| Trial::test(name, move || check(&path, &expect)))
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn check(folder: &Path, expect: &Path) -> Result<(), Failed> {
    let expect: Json = serde_json::from_slice(&std::fs::read(expect)?)?;
    if let Some(lines) = expect["lines"].as_array() {
        let wrong: Vec<String> = lines.iter().filter_map(|line| line_as_expected(folder, line).err()).collect();
        return if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) };
    }
    let inputs = Inputs { snapshot: support::yaml_files(folder), ..Inputs::default() };
    let report = inputs.plan();
    let mut wrong = Vec::new();
    for release in &report.releases {
        let name = release.release.to_string();
        match expect["releases"].get(&name) {
            Some(wanted) => release_as_expected(release, wanted, &mut wrong),
            None if release.verdict.word() != "IN_SYNC" || !release.findings.is_empty() => {
                wrong.push(format!(
                    "{name}: {} with {} findings, expected IN_SYNC",
                    release.verdict,
                    release.findings.len()
                ));
            }
            None => {}
        }
    }
    for name in expect["releases"].as_object().into_iter().flatten().map(|(name, _)| name) {
        if !report.releases.iter().any(|r| r.release.to_string() == *name) {
            wrong.push(format!("{name}: not in the report"));
        }
    }
    plan_as_expected(&report, &expect, &mut wrong);
    if report.diagnostics.len() as u64 != expect["diagnostics"].as_u64().unwrap_or(0) {
        let problems: Vec<String> = report.diagnostics.iter().map(ToString::to_string).collect();
        wrong.push(format!("{} diagnostics expected: {problems:?}", expect["diagnostics"]));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// One line of a log: the snapshot of that moment, a question, and what `settled` owes.
fn line_as_expected(folder: &Path, line: &Json) -> Result<(), String> {
    let text = |field: &str| line[field].as_str().unwrap_or_default();
    let wrong = |what: String| Err(format!("line {} at {}, {}: {what}", text("line"), text("at"), text("ask")));
    let snapshot = support::yaml_files(&folder.join(text("line")));
    let inputs = Inputs { snapshot, ..Inputs::default() };
    let [kind, namespace, name] = text("ask").split('/').collect::<Vec<_>>()[..] else {
        return wrong("ask for KIND/NAMESPACE/NAME".into());
    };
    let release = ReleaseRef { namespace: namespace.to_owned(), name: name.to_owned() };
    let Some(got) = inputs.settled(kind, &release, line["revision"].as_str()) else {
        return if text("answer") == "ABSENT" { Ok(()) } else { wrong("it is not there".into()) };
    };
    let first = got.first.as_ref();
    let object = first.map(|c| c.object.to_string()).unwrap_or_default();
    let field = first.map(|c| c.field.as_str()).unwrap_or_default();
    if (got.answer.word(), object.as_str(), field) != (text("answer"), text("object"), text("field")) {
        return wrong(format!("{}({object} {field})", got.answer.word()));
    }
    if line["text"].is_string() && first.map(|c| c.text.as_str()) != line["text"].as_str() {
        return wrong(format!("{first:?}"));
    }
    if line["expected"].as_i64() != got.expected_revision && line["expected"].is_i64() {
        return wrong(format!("expected revision {:?}", got.expected_revision));
    }
    let traps = serde_json::json!(got.traps.iter().map(|t| &t.rule).collect::<Vec<_>>());
    if line["traps"].is_array() && line["traps"] != traps {
        return wrong(format!("traps {traps}"));
    }
    let notes = serde_json::json!(got.notes);
    if line["notes"].is_array() && line["notes"] != notes {
        return wrong(format!("notes {notes}"));
    }
    Ok(())
}

fn release_as_expected(release: &Release, wanted: &Json, wrong: &mut Vec<String>) {
    let name = &release.release;
    let (verdict, want) = (release.verdict.to_string(), wanted["verdict"].as_str().unwrap());
    let fits = if want.contains('(') { verdict == want } else { release.verdict.word() == want };
    if !fits {
        wrong.push(format!("{name}: {verdict}, expected {want}"));
    }
    if let Some(error) = wanted["error"].as_str()
        && !verdict.contains(error)
    {
        wrong.push(format!("{name}: {verdict:?} does not name {error:?}"));
    }
    let mut found: BTreeSet<(String, String)> = BTreeSet::new();
    for finding in &release.findings {
        let object = finding.object.as_ref().map_or_else(String::new, ToString::to_string);
        if !found.insert((finding.class.word().to_owned(), object.clone())) {
            wrong.push(format!("{name}: {} {object} is reported twice", finding.class.word()));
        }
    }
    let mut want = BTreeSet::new();
    for (class, objects) in wanted["findings"].as_object().into_iter().flatten() {
        want.extend(
            objects.as_array().unwrap().iter().map(|o| (class.clone(), o.as_str().unwrap_or_default().to_owned())),
        );
    }
    for (class, object) in found.difference(&want) {
        wrong.push(format!("{name}: extra {class} {object}"));
    }
    for (class, object) in want.difference(&found) {
        wrong.push(format!("{name}: missing {class} {object}"));
    }
    if let Some(dangers) = wanted["dangers"].as_array() {
        let found: Vec<String> = release.dangers.iter().map(|d| format!("{} {}", d.kind, d.object)).collect();
        let want: Vec<&str> = dangers.iter().filter_map(Json::as_str).collect();
        if found != want {
            wrong.push(format!("{name}: dangers {found:?}, expected {want:?}"));
        }
    }
    if let Some(keys) = wanted["keys"].as_object() {
        keys_as_expected(release, keys, wrong);
    }
}

fn keys_as_expected(release: &Release, keys: &serde_json::Map<String, Json>, wrong: &mut Vec<String>) {
    let found: BTreeMap<&str, Json> = release
        .keys
        .iter()
        .map(|k| {
            let producer = serde_json::json!({
                "kind": k.producer.kind,
                "release": k.producer.release.as_ref().map(ToString::to_string),
                "selfProduced": k.producer.self_produced,
            });
            let key = serde_json::json!({
                "fields": k.fields, "evaluations": k.evaluations, "exists": k.exists, "producer": producer,
            });
            (k.key.as_str(), key)
        })
        .collect();
    let want: BTreeMap<&str, Json> = keys.iter().map(|(k, v)| (k.as_str(), v.clone())).collect();
    if found != want {
        wrong.push(format!("{}: keys\n  {found:?}\nexpected\n  {want:?}", release.release));
    }
}

fn plan_as_expected(report: &Report, expect: &Json, wrong: &mut Vec<String>) {
    let waves: Vec<Vec<String>> =
        report.plan.waves.iter().map(|w| w.steps.iter().map(|s| s.release.to_string()).collect()).collect();
    let want: Vec<Vec<String>> = serde_json::from_value(expect["waves"].clone()).unwrap();
    if waves != want {
        wrong.push(format!("waves {waves:?}, expected {want:?}"));
    }
    let blocked: Vec<String> = report.plan.blocked.iter().map(|b| b.release.to_string()).collect();
    let want: Vec<String> = serde_json::from_value(expect["blocked"].clone()).unwrap();
    if blocked != want {
        wrong.push(format!("blocked {blocked:?}, expected {want:?}"));
    }
}
