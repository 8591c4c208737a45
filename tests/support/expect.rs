//! What a report owes: verdicts, findings as exact sets, deciding keys, dangers, the waves of the plan.

use std::collections::{BTreeMap, BTreeSet};

use helm_render_predictor::api::Inputs;
use helm_render_predictor::report::contract::Release;
use helm_render_predictor::report::{Report, explain, table};
use libtest_mimic::Failed;
use serde_json::Value as Json;

/// Compares a report with what is expected of it. A release that is not named must be IN_SYNC and without a finding.
pub fn report_as_expected(report: &Report, expect: &Json) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    for release in &report.releases {
        let name = release.release.to_string();
        match expect["releases"].get(&name) {
            Some(wanted) => release_as_expected(report, release, wanted, &mut wrong),
            None if release.verdict.word() != "IN_SYNC"
                || !release.findings.is_empty()
                || !release.silent.is_empty() =>
            {
                wrong.push(format!(
                    "{name}: {} with {:?} and {:?}, expected IN_SYNC",
                    release.verdict,
                    release.findings.iter().map(|f| (f.class.word(), &f.object)).collect::<Vec<_>>(),
                    silent(release)
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
    plan_as_expected(report, expect, &mut wrong);
    if report.diagnostics.len() as u64 != expect["diagnostics"].as_u64().unwrap_or(0) {
        let problems: Vec<String> = report.diagnostics.iter().map(ToString::to_string).collect();
        wrong.push(format!("{} diagnostics expected: {problems:?}", expect["diagnostics"]));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Compares what renderers without a cluster make of each release with the findings that `offline` lists by release.
pub fn offline_as_expected(inputs: &Inputs, expect: &Json) -> Result<(), Failed> {
    let Some(releases) = expect["offline"].as_object() else { return Ok(()) };
    let mut wrong = Vec::new();
    let answers = inputs.offline(None);
    for (name, wanted) in releases {
        let Some(answer) = answers.iter().find(|answer| answer.release.to_string() == *name) else {
            wrong.push(format!("{name}: no answer offline"));
            continue;
        };
        let found = answer.findings.iter().map(|finding| {
            (finding.class.word().to_owned(), finding.object.as_ref().map_or_else(String::new, ToString::to_string))
        });
        let found: BTreeSet<(String, String)> = found.collect();
        let want = classes(wanted);
        let verdict = if want.is_empty() { "SAFE_CLIENT_SIDE" } else { "NOT_SAFE_CLIENT_SIDE" };
        if found != want || answer.verdict != verdict {
            wrong.push(format!("{name} offline: {} {found:?}, expected {verdict} {want:?}", answer.verdict));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Pairs of class and object out of a map of lists.
fn classes(wanted: &Json) -> BTreeSet<(String, String)> {
    let all = wanted.as_object().into_iter().flatten();
    all.flat_map(|(class, objects)| {
        let names = objects.as_array().unwrap().iter();
        names.map(move |name| (class.clone(), name.as_str().unwrap_or_default().to_owned()))
    })
    .collect()
}

/// Whether each text occurs in what a person reads about the release.
fn texts_as_expected(report: &Report, release: &Release, texts: &Json, wrong: &mut Vec<String>) {
    let (namespace, name) = (&release.release.namespace, &release.release.name);
    let mut shown = table::plan(report);
    shown += &explain::explain(report, namespace, name, None).unwrap_or_default();
    for text in texts.as_array().into_iter().flatten().filter_map(Json::as_str) {
        if !shown.contains(text) {
            wrong.push(format!("{namespace}/{name}: {text:?} is not said in\n{shown}"));
        }
    }
}

fn release_as_expected(report: &Report, release: &Release, wanted: &Json, wrong: &mut Vec<String>) {
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
    let want = classes(&wanted["findings"]);
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
    if let Some(latent) = wanted["latent"].as_array() {
        let found: Vec<String> = release.latent.iter().map(|l| format!("{}: {}", l.key, l.supposed)).collect();
        let want: Vec<&str> = latent.iter().filter_map(Json::as_str).collect();
        if found != want {
            wrong.push(format!("{name}: latent {found:#?}, expected {want:#?}"));
        }
    }
    let states: Vec<&str> = wanted["silent"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    if silent(release) != states {
        wrong.push(format!("{name}: silent {:?}, expected {states:?}", silent(release)));
    }
    texts_as_expected(report, release, &wanted["texts"], wrong);
    if let Some(keys) = wanted["keys"].as_object() {
        keys_as_expected(release, keys, wrong);
    }
}

/// The silent states as an expectation names them: `TOKEN_BURNT F-60`.
pub fn silent(release: &Release) -> Vec<String> {
    release.silent.iter().map(|silent| format!("{} {}", silent.state.word(), silent.rule)).collect()
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
    let want: Vec<Vec<String>> =
        expect.get("waves").map(|w| serde_json::from_value(w.clone()).unwrap()).unwrap_or_default();
    if waves != want {
        wrong.push(format!("waves {waves:?}, expected {want:?}"));
    }
    let blocked: Vec<String> = report.plan.blocked.iter().map(|b| b.release.to_string()).collect();
    let want: Vec<String> =
        expect.get("blocked").map(|w| serde_json::from_value(w.clone()).unwrap()).unwrap_or_default();
    if blocked != want {
        wrong.push(format!("blocked {blocked:?}, expected {want:?}"));
    }
}
