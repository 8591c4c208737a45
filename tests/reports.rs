//! Symptoms from public issue trackers: each file below `fixtures/reports` (or below `REPORTS`) is one test, named after
//! the report. Its README says what a file may hold.
//!
//! A file tells a chart, its values, the cluster at the last render and now, and the answers owed. `cases` are merged over
//! it (RFC 7386), each with answers of its own. Sets are compared exactly; a release that `plan` does not name must be
//! IN_SYNC without a finding.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

mod support;

use std::collections::BTreeSet;

use helm_render_predictor::api::{Inputs, Options, RenderArgs, lint, template};
use helm_render_predictor::base::version::HelmVersion;
use helm_render_predictor::codec::yaml;
use helm_render_predictor::report::Report;
use helm_render_predictor::report::contract::{Chain, Finding, ObjectRef, Release, ReleaseRef};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value as Json, json};
use support::installed::{chart_files, cluster, merge, snapshot};

fn main() {
    let root = support::folder("REPORTS", "fixtures/reports");
    let trials = support::yaml_files(&root).into_iter().map(|(name, bytes)| {
        let name = name.trim_end_matches(".yaml").to_owned();
        Trial::test(name.clone(), move || check(&name, &bytes))
    });
    let trials = trials.collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn check(name: &str, bytes: &[u8]) -> Result<(), Failed> {
    let document = yaml::parse_first(bytes).map_err(|e| format!("{e:?}"))?.ok_or("an empty file")?;
    let story = yaml::to_json(document.root()).map_err(|e| format!("{e:?}"))?;
    if story["report"] != name || story["says"].as_str().is_none_or(str::is_empty) {
        return Err("`report` must be the file's name, and `says` tell the symptom".into());
    }
    let mut cases: Vec<(String, Json)> = Vec::new();
    match story["cases"].as_object() {
        None => cases.push((String::new(), story.clone())),
        Some(all) => {
            for (case, patch) in all {
                let mut whole = story.clone();
                merge(&mut whole, patch);
                cases.push((format!("{case}: "), whole));
            }
        }
    }
    let mut wrong = Vec::new();
    for (case, story) in cases {
        let mut found = Vec::new();
        answers(&story, &mut found);
        wrong.extend(found.into_iter().map(|problem| format!("{case}{problem}")));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

fn answers(story: &Json, wrong: &mut Vec<String>) {
    let expect = &story["expect"];
    let mut asked = 0;
    for (question, wanted) in expect.as_object().into_iter().flatten() {
        asked += 1;
        match question.as_str() {
            "plan" => plan(story, wanted, wrong),
            "waves" | "blocked" | "commands" if !expect["plan"].is_null() => {}
            "whatif" => each(wanted, |one| what_if(story, one, wrong)),
            "offline" => each(wanted, |one| offline(story, one, wrong)),
            "lint" => each(wanted, |one| linted(story, one, wrong)),
            "render" => each(wanted, |one| rendered(story, one, wrong)),
            "settled" => each(wanted, |one| settled(story, one, wrong)),
            "why" => each(wanted, |one| why(story, one, wrong)),
            other => wrong.push(format!("nobody can answer {other:?}")),
        }
    }
    if asked == 0 {
        wrong.push("nothing is expected".into());
    }
}

fn each(wanted: &Json, mut ask: impl FnMut(&Json)) {
    match wanted.as_array() {
        Some(all) => all.iter().for_each(&mut ask),
        None => ask(wanted),
    }
}

fn text<'j>(json: &'j Json, field: &str) -> &'j str {
    json[field].as_str().unwrap_or_default()
}

fn texts(json: &Json) -> Vec<String> {
    json.as_array().into_iter().flatten().map(|t| t.as_str().expect("a list of texts").to_owned()).collect()
}

fn inputs(story: &Json) -> Inputs {
    let (snapshot, charts) = snapshot(story);
    let options = Options {
        controller: story["controller"].as_str().map(str::to_owned),
        controller_args: texts(&story["controllerArgs"]),
        latent: true,
        ..Options::default()
    };
    Inputs { snapshot, charts, options }
}

/// A set that has to be equal, where it is expected at all.
fn same_set(what: &str, found: impl IntoIterator<Item = String>, wanted: &Json, wrong: &mut Vec<String>) {
    if wanted.is_null() {
        return;
    }
    let found: BTreeSet<String> = found.into_iter().collect();
    let wanted: BTreeSet<String> = texts(wanted).into_iter().collect();
    for extra in found.difference(&wanted) {
        wrong.push(format!("{what}: extra {extra}"));
    }
    for missing in wanted.difference(&found) {
        wrong.push(format!("{what}: missing {missing}"));
    }
}

/// A word, or a word with its arguments.
fn same_answer(what: &str, found: &str, wanted: &str, wrong: &mut Vec<String>) {
    let fits = if wanted.contains('(') { found == wanted } else { found.split('(').next() == Some(wanted) };
    if !fits {
        wrong.push(format!("{what}: {found}, expected {wanted}"));
    }
}

fn holds(what: &str, found: &str, wanted: &Json, wrong: &mut Vec<String>) {
    let all = wanted.as_str().map(|one| vec![one.to_owned()]).unwrap_or_else(|| texts(wanted));
    for part in all {
        if !found.contains(&part) {
            wrong.push(format!("{what}: {found:?} does not name {part:?}"));
        }
    }
}

fn plan(story: &Json, wanted: &Json, wrong: &mut Vec<String>) {
    let report = inputs(story).plan();
    let nothing = json!({"verdict": "IN_SYNC", "findings": {}});
    for release in &report.releases {
        let name = release.release.to_string();
        release_as_expected(release, wanted.get(&name).unwrap_or(&nothing), wrong);
    }
    for name in wanted.as_object().into_iter().flatten().map(|(name, _)| name) {
        if !report.releases.iter().any(|r| r.release.to_string() == *name) {
            wrong.push(format!("{name}: not in the report"));
        }
    }
    waves(&report, story, wrong);
    let errors = wanted.as_object().into_iter().flatten().filter(|(_, release)| !release["error"].is_null()).count();
    if report.diagnostics.len() > errors {
        let problems: Vec<String> = report.diagnostics.iter().map(ToString::to_string).collect();
        wrong.push(format!("at most {errors} diagnostics expected: {problems:?}"));
    }
}

fn waves(report: &Report, story: &Json, wrong: &mut Vec<String>) {
    let waves: Vec<Vec<String>> =
        report.plan.waves.iter().map(|w| w.steps.iter().map(|s| s.release.to_string()).collect()).collect();
    let wanted: Vec<Vec<String>> = story["expect"]["waves"].as_array().into_iter().flatten().map(texts).collect();
    if waves != wanted {
        wrong.push(format!("waves {waves:?}, expected {wanted:?}"));
    }
    let steps = report.plan.waves.iter().flat_map(|w| &w.steps).flat_map(|s| &s.commands);
    let blocks = report.plan.blocked.iter().flat_map(|b| &b.commands);
    let commands: Vec<&str> = steps.chain(blocks).map(String::as_str).collect();
    holds("commands", &commands.join("\n"), &story["expect"]["commands"], wrong);
    let blocked: Vec<String> = report.plan.blocked.iter().map(|b| b.release.to_string()).collect();
    let wanted = texts(&story["expect"]["blocked"]);
    if blocked != wanted {
        wrong.push(format!("blocked {blocked:?}, expected {wanted:?}"));
    }
}

fn fact(chain: &Chain) -> String {
    if chain.field.is_empty() { chain.key.clone() } else { format!("{} {}", chain.key, chain.field) }
}

fn names(objects: &[ObjectRef]) -> impl Iterator<Item = String> + '_ {
    objects.iter().map(ToString::to_string)
}

/// Findings by class, and what they say of facts, places, fields and errors.
fn classes(name: &str, findings: &[Finding], wanted: &Json, wrong: &mut Vec<String>) {
    let of_class = |class: &str| findings.iter().filter(|f| f.class.word() == class).collect::<Vec<_>>();
    let classes: BTreeSet<&str> = findings.iter().map(|f| f.class.word()).collect();
    let wanted_classes: BTreeSet<&str> =
        wanted["findings"].as_object().into_iter().flatten().map(|(class, _)| class.as_str()).collect();
    for class in classes.union(&wanted_classes) {
        let found = of_class(class).into_iter().map(|f| f.object.as_ref().map(ToString::to_string).unwrap_or_default());
        let objects = wanted["findings"].get(*class).unwrap_or(&Json::Null);
        let objects = if objects.is_null() { json!([]) } else { objects.clone() };
        same_set(&format!("{name}: {class}"), found, &objects, wrong);
    }
    let chains = findings.iter().flat_map(|f| &f.chains);
    same_set(&format!("{name}: facts"), chains.map(fact), &wanted["facts"], wrong);
    let helpers = findings.iter().flat_map(|f| &f.chains).map(|c| c.place.clone());
    same_set(&format!("{name}: places"), helpers, &wanted["places"], wrong);
    let fields = findings.iter().flat_map(|f| {
        f.fields
            .iter()
            .map(|field| format!("{}{field}", f.object.as_ref().map(|o| format!("{o} ")).unwrap_or_default()))
    });
    same_set(&format!("{name}: fields"), fields, &wanted["fields"], wrong);
    let errors: Vec<&str> = findings.iter().filter_map(|f| f.error.as_deref()).collect();
    if !wanted["error"].is_null() {
        holds(&format!("{name}: error"), &errors.join("\n"), &wanted["error"], wrong);
    }
}

fn release_as_expected(release: &Release, wanted: &Json, wrong: &mut Vec<String>) {
    let name = &release.release;
    let verdict = release.verdict.to_string();
    same_answer(&format!("{name}"), &verdict, text(wanted, "verdict"), wrong);
    classes(&name.to_string(), &release.findings, wanted, wrong);
    let dangers = release.dangers.iter().map(|d| format!("{} {}", d.kind, d.object));
    same_set(&format!("{name}: dangers"), dangers, &wanted["dangers"], wrong);
    let consumers = release.dangers.iter().flat_map(|d| names(&d.consumers));
    same_set(&format!("{name}: consumers"), consumers, &wanted["consumers"], wrong);
    let latent = release.latent.iter().map(|l| format!("{}: {}", l.key, l.supposed));
    same_set(&format!("{name}: latent"), latent, &wanted["latent"], wrong);
    let producers = release.keys.iter().map(|k| {
        let own = if k.producer.self_produced.is_some() { " itself" } else { "" };
        let by = k.producer.release.as_ref().map(|r| format!(" {r}")).unwrap_or_default();
        format!("{}: {}{by}{own}", k.key, k.producer.kind)
    });
    same_set(&format!("{name}: producers"), producers, &wanted["producers"], wrong);
    let force = &wanted["force"];
    if !force.is_null() {
        let entry = |does: &str| if force[does].is_null() { json!([]) } else { force[does].clone() };
        same_set(&format!("{name}: creates"), names(&release.force.created), &entry("creates"), wrong);
        let changed = release.force.changed.iter().map(|c| c.object.to_string());
        same_set(&format!("{name}: changes"), changed, &entry("changes"), wrong);
        same_set(&format!("{name}: deletes"), names(&release.force.deleted), &entry("deletes"), wrong);
        same_set(&format!("{name}: rotates"), names(&release.force.rotated), &entry("rotates"), wrong);
    }
    let silent = release.silent.iter().map(|silent| silent.state.word().to_owned());
    same_set(&format!("{name}: silent"), silent, &wanted["silent"], wrong);
    if !wanted["notes"].is_null() {
        holds(&format!("{name}: notes"), &release.notes.join("\n"), &wanted["notes"], wrong);
    }
    for field in ["state", "action", "reason"] {
        let found = match field {
            "state" => &release.decision.state,
            "action" => &release.decision.action,
            _ => &release.decision.reason,
        };
        if !wanted[field].is_null() && wanted[field] != **found {
            wrong.push(format!("{name}: {field} {found:?}, expected {}", wanted[field]));
        }
    }
}

fn offline(story: &Json, wanted: &Json, wrong: &mut Vec<String>) {
    let served = texts(&wanted["served"]);
    let flags = wanted["kubernetes"].as_str().map(|kubernetes| (kubernetes, &*served));
    for answer in inputs(story).offline(flags) {
        let name = answer.release.to_string();
        let Some(wanted) = wanted["releases"].get(&name) else {
            if !answer.findings.is_empty() {
                wrong.push(format!("offline {name}: {:?}", answer.findings));
            }
            continue;
        };
        let name = format!("offline {name}");
        let safe = if wanted["findings"].is_null() { "SAFE_CLIENT_SIDE" } else { "NOT_SAFE_CLIENT_SIDE" };
        same_answer(&name, answer.verdict, safe, wrong);
        classes(&name, &answer.findings, wanted, wrong);
        same_set(&format!("{name}: asked"), answer.asked, &wanted["asked"], wrong);
    }
}

fn what_if(story: &Json, wanted: &Json, wrong: &mut Vec<String>) {
    let found = inputs(story)
        .what_if(wanted["helm"].as_str(), wanted["kubernetes"].as_str(), &texts(&wanted["served"]))
        .unwrap_or_else(|e| panic!("{e}"));
    let releases = found.iter().map(|w| w.release.to_string());
    let named: Vec<Json> = wanted["releases"].as_object().into_iter().flatten().map(|(name, _)| json!(name)).collect();
    same_set("whatif", releases, &Json::Array(named), wrong);
    for answer in found {
        let name = answer.release.to_string();
        let Some(wanted) = wanted["releases"].get(&name) else { continue };
        let objects = answer.objects.iter().map(|o| format!("{} {}", o.does, o.object));
        same_set(&format!("whatif {name}"), objects, &wanted["objects"], wrong);
        let causes = answer.objects.iter().flat_map(|o| o.causes.clone()).chain(answer.error_causes.clone());
        let causes = causes
            .map(|cause| cause.split(['`', ' ']).find(|w| w.starts_with("H-")).map_or(cause.clone(), str::to_owned));
        same_set(&format!("whatif {name}: causes"), causes, &wanted["causes"], wrong);
        if wanted["error"].is_null() != answer.error_after.is_none() {
            wrong.push(format!("whatif {name}: {:?}", answer.error_after));
        }
        holds("whatif error", answer.error_after.as_deref().unwrap_or_default(), &wanted["error"], wrong);
    }
}

/// The only release, or the one that the question names.
fn release_of<'s>(story: &'s Json, question: &Json) -> (&'s str, &'s str, &'s Json) {
    let mut all = story["releases"].as_object().into_iter().flatten();
    let (id, release) = match question["release"].as_str() {
        Some(name) => all.find(|(id, _)| *id == name).expect("the release of the question"),
        None => all.next().expect("a release"),
    };
    let (namespace, name) = id.split_once('/').expect("NAMESPACE/NAME");
    (namespace, name, release)
}

fn arguments(story: &Json, question: &Json) -> RenderArgs {
    let (namespace, name, release) = release_of(story, question);
    let values = &release["values"];
    RenderArgs {
        chart: Some(chart_files(release, name)),
        name: name.to_owned(),
        namespace: namespace.to_owned(),
        values: if values.is_null() {
            Vec::new()
        } else {
            // As the file would be written: numbers as they stand there.
            vec![("values.yaml".to_owned(), Ok(values.to_string().into_bytes()))]
        },
        set: texts(&question["set"]),
        set_string: texts(&question["setString"]),
        api_versions: texts(&question["apiVersions"]),
        kube_version: question["kubeVersion"].as_str().or(story["kubernetes"].as_str()).map(str::to_owned),
        is_upgrade: question["upgrade"] == true,
        client: question["client"] == true,
        snapshot: vec![cluster(story), support::helm::core_group()],
        take_ownership: true,
        chart_path: ".".into(),
        ..RenderArgs::default()
    }
}

fn linted(story: &Json, wanted: &Json, wrong: &mut Vec<String>) {
    let helm: HelmVersion = wanted["helm"].as_str().unwrap_or("4.2").parse().unwrap();
    let found = match lint(&arguments(story, wanted), helm) {
        Ok(found) => found,
        Err(error) => return wrong.push(format!("lint: {error:?}")),
    };
    match (&found.error, &wanted["error"]) {
        (None, Json::Null) => {}
        (Some(error), wanted) if !wanted.is_null() => holds("lint: error", error, wanted, wrong),
        (found, wanted) => wrong.push(format!("lint: error {found:?}, expected {wanted}")),
    }
    let items = found.items.iter().map(|item| {
        let objects = names(&item.objects).collect::<Vec<_>>().join(", ");
        let because = item.chain.as_ref().map(fact).filter(|f| !f.is_empty()).map(|f| format!(" < {f}"));
        format!("{}: {objects}{}", item.hazard.word(), because.unwrap_or_default())
    });
    same_set("lint", items, &wanted["items"], wrong);
    let all: Vec<&str> = found.items.iter().filter_map(|item| item.text.as_deref()).collect();
    holds("lint", &all.join("\n"), &wanted["texts"], wrong);
}

fn rendered(story: &Json, wanted: &Json, wrong: &mut Vec<String>) {
    let versions = if wanted["helm"].is_null() { json!(["4.2"]) } else { wanted["helm"].clone() };
    each(&versions, |version| {
        let version = version.as_str().expect("a version of Helm");
        let what = format!("render by {version}");
        match (template(&arguments(story, wanted), version.parse().unwrap()), wanted["error"].is_null()) {
            (Ok(out), true) => {
                let out = String::from_utf8(out).unwrap();
                if let Some(text) = wanted["text"].as_str()
                    && out.trim_end() != text.trim_end()
                {
                    wrong.push(format!("{what}:\n{out}\nexpected:\n{text}"));
                }
                let objects = helm_render_predictor::flux::postrender::parse_manifest(&out)
                    .unwrap()
                    .into_iter()
                    .map(|d| format!("{} {}", text(&d.object, "kind"), text(&d.object["metadata"], "name")));
                same_set(&what, objects, &wanted["objects"], wrong);
                holds(&what, &out, &wanted["holds"], wrong);
                for part in texts(&wanted["lacks"]) {
                    if out.contains(&part) {
                        wrong.push(format!("{what}: holds {part:?}"));
                    }
                }
            }
            (Err(error), false) => holds(&what, &error.message, &wanted["error"], wrong),
            (Ok(_), false) => wrong.push(format!("{what} succeeds, expected {}", wanted["error"])),
            (Err(error), true) => wrong.push(format!("{what}: {}", error.message)),
        }
    });
}

fn reference(id: &str) -> ReleaseRef {
    let (namespace, name) = id.split_once('/').expect("NAMESPACE/NAME");
    ReleaseRef { namespace: namespace.to_owned(), name: name.to_owned() }
}

fn settled(story: &Json, wanted: &Json, wrong: &mut Vec<String>) {
    let (kind, id) = text(wanted, "ask").split_once(' ').expect("KIND NAMESPACE/NAME");
    let Some(found) = inputs(story).settled(kind, &reference(id), wanted["revision"].as_str()) else {
        return wrong.push(format!("settled: no {kind} {id}"));
    };
    let first = found.first.as_ref();
    let mut answer = found.answer.word().to_owned();
    if let Some(first) = first {
        answer.push_str(&format!("({} {})", first.object, first.field));
    }
    same_answer("settled", &answer, text(wanted, "answer"), wrong);
    holds("settled", first.map(|c| c.text.as_str()).unwrap_or_default(), &wanted["text"], wrong);
    same_set("settled: traps", found.traps.iter().map(|t| t.rule.clone()), &wanted["traps"], wrong);
    holds("settled: notes", &found.notes.join("\n"), &wanted["notes"], wrong);
    if wanted["expected"].is_i64() && wanted["expected"].as_i64() != found.expected_revision {
        wrong.push(format!("settled: revision {:?} is next", found.expected_revision));
    }
}

fn why(story: &Json, wanted: &Json, wrong: &mut Vec<String>) {
    let id = text(wanted, "release");
    let stamp = !wanted["token"].is_null();
    let Some(found) = inputs(story).why(&reference(id), stamp) else {
        return wrong.push(format!("why: no HelmRelease {id}"));
    };
    let decision = &found.next.decision;
    for (field, found) in [("state", &decision.state), ("action", &decision.action), ("reason", &decision.reason)] {
        if !wanted[field].is_null() && wanted[field] != **found {
            wrong.push(format!("why {id}: {field} {found:?}, expected {}", wanted[field]));
        }
    }
    let rules: Vec<String> = decision.trace.iter().map(|c| c.rule.clone()).collect();
    for rule in texts(&wanted["rules"]) {
        if !rules.contains(&rule) {
            wrong.push(format!("why {id}: {rule} is not among the checks {rules:?}"));
        }
    }
    let ignored: Vec<String> = found.not_looked_at.iter().map(|c| c.text.clone()).collect();
    holds(&format!("why {id}: not looked at"), &ignored.join("\n"), &wanted["notLookedAt"], wrong);
    if let Some(token) = wanted["token"].as_str() {
        let stamped = found.stamped.as_ref();
        let became = stamped.map(|s| s.token).unwrap_or_default();
        if became != token {
            wrong
                .push(format!("why {id}: the token is {became} ({:?}), expected {token}", stamped.map(|s| &s.because)));
        }
        let action = stamped.map(|s| s.run.decision.action.as_str()).unwrap_or_default();
        if !wanted["stampedAction"].is_null() && wanted["stampedAction"] != action {
            wrong.push(format!("why {id}: stamped, {action:?}"));
        }
    }
}
