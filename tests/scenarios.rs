//! Acceptance scenarios: each folder below `fixtures/scenarios` (or below `SCENARIOS`) is one test.
//!
//! `expect/NAME.json` names the releases that are not in sync with their verdict, findings (as exact sets), deciding keys and
//! dangers, and the waves of the plan. A release that it does not name must be IN_SYNC and without a finding.
//!
//! With `lines` it tells a log instead: each line has a snapshot in a folder of its own, a question, and the answer of `settled`.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

mod support;

use std::path::Path;

use helm_render_predictor::api::Inputs;
use helm_render_predictor::report::contract::ReleaseRef;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value as Json;
use support::{case, expect};

fn main() {
    let root = support::folder("SCENARIOS", "fixtures/scenarios");
    let mut trials: Vec<Trial> = support::folders(&root)
        .into_iter()
        .filter_map(|path| {
            let name = path.file_name()?.to_string_lossy().into_owned();
            let expect = root.join("expect").join(format!("{name}.json"));
            expect.exists().then(|| Trial::test(name, move || check(&path, &expect)))
        })
        .collect();
    trials.extend(case::cases(&root.join("cases")).into_iter().map(|case| {
        Trial::test(case.name.clone(), move || {
            let (inputs, expect) = (case.inputs(), &case.json["expect"]);
            expect::report_as_expected(&inputs.plan(), expect)?;
            expect::offline_as_expected(&inputs, expect)
        })
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn check(folder: &Path, expect: &Path) -> Result<(), Failed> {
    let expect: Json = serde_json::from_slice(&std::fs::read(expect)?)?;
    if let Some(lines) = expect["lines"].as_array() {
        let wrong: Vec<String> = lines.iter().filter_map(|line| line_as_expected(folder, line).err()).collect();
        return if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) };
    }
    let inputs = Inputs { snapshot: support::yaml_files(folder), ..Inputs::default() };
    expect::report_as_expected(&inputs.plan(), &expect)
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
