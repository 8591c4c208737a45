//! Properties of findings: none without ambient inputs, none from what nobody reads, and the same in any order of input.
#![allow(clippy::disallowed_methods)]

mod support;

use helm_render_predictor::api::Inputs;
use helm_render_predictor::report::Report;
use serde_json::{Value as Json, json};
use support::case::{Case, cases};

/// A source of numbers that is the same at every run.
struct Dice(u64, u32);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % sides
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.roll(from.len())]
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.roll(i + 1));
        }
    }
}

fn all() -> Vec<Case> {
    cases(&support::folder("", "fixtures/scenarios/cases"))
}

/// The objects of the first file of a case's snapshot, changed.
fn with_objects(inputs: &mut Inputs, change: impl FnOnce(&mut Vec<Json>)) {
    let (_, bytes) = &mut inputs.snapshot[0];
    let mut list: Json = serde_json::from_slice(bytes).unwrap();
    change(list["items"].as_array_mut().unwrap());
    *bytes = list.to_string().into_bytes();
}

/// The report without what it says of the input itself.
fn answers(report: &Report) -> Json {
    let json: Json = serde_json::from_str(&report.to_json()).unwrap();
    json!({"releases": json["releases"], "plan": json["plan"]})
}

/// A line of a manifest's data that no cluster decides.
fn line(dice: &mut Dice, depth: usize) -> String {
    let value = dice.pick(&[".Values.a", ".Values.m.x", ".Values.none", ".Release.Name", ".Chart.Version", "\"t\""]);
    dice.1 += 1;
    let key = format!("k{}x", dice.1);
    match dice.roll(if depth > 2 { 4 } else { 8 }) {
        0 => format!("{key}: {{{{ {value} | default \"d\" | quote }}}}\n"),
        1 => format!("{key}: {{{{ printf \"%v-%v\" {value} .Release.Namespace | sha256sum | quote }}}}\n"),
        2 => format!("{key}: {{{{ .Values.m | toJson | quote }}}}\n"),
        3 => format!("{key}: {{{{ include \"help\" . | quote }}}}\n"),
        4 | 5 => format!("{{{{- if {value} }}}}\n{}{{{{- end }}}}\n", line(dice, depth + 1)),
        6 => format!("{{{{- range $i, $e := .Values.l }}}}\n{key}{{{{ $i }}}}: {{{{ $e | quote }}}}\n{{{{- end }}}}\n"),
        _ => format!("{{{{- with {value} }}}}\n{key}: {{{{ . | quote }}}}\n{{{{- end }}}}\n"),
    }
}

/// A chart that asks nothing of anybody, installed.
fn closed(dice: &mut Dice) -> Case {
    let mut templates = json!({"_h.tpl": "{{ define \"help\" }}{{ .Values.a }}-{{ len .Values.l }}{{ end }}"});
    for n in 0..=dice.roll(4) {
        let kind = dice.pick(&["ConfigMap", "Secret"]);
        let field = if kind == "Secret" { "stringData" } else { "data" };
        let lines: String = (0..=dice.roll(6)).map(|_| line(dice, 0)).collect();
        let body = lines.lines().map(|l| if l.starts_with("{{") { format!("{l}\n") } else { format!("  {l}\n") });
        let head = format!("apiVersion: v1\nkind: {kind}\nmetadata: {{name: o{n}}}\n{field}:\n  first: z\n");
        templates[format!("t{n}.yaml")] = (head + &body.collect::<String>()).into();
    }
    let values =
        json!({"a": format!("v{}", dice.roll(9)), "m": {"x": dice.roll(9), "e": ""}, "l": ["p", dice.roll(9), true]});
    let json = json!({
        "charts": {"app": {"values": values, "templates": templates}},
        "releases": {"demo/app": {"chart": "app", "values": {"a": format!("u{}", dice.roll(3)), "l": []}}},
    });
    Case { name: "closed".into(), json }
}

#[test]
fn a_chart_without_ambient_inputs_has_no_finding_on_an_unchanged_snapshot() {
    for seed in 0..150 {
        let case = closed(&mut Dice(seed, 0));
        let report = case.inputs().plan();
        let release = report.releases.iter().find(|r| r.release.name == "app").unwrap();
        let shown = || format!("seed {seed}: {} {:?}\n{:#}", release.verdict, release.findings, case.json);
        assert_eq!(release.revision, Some(1), "{}", shown());
        assert_eq!(release.verdict.word(), "IN_SYNC", "{}", shown());
        assert!(release.findings.is_empty() && release.silent.is_empty() && release.keys.is_empty(), "{}", shown());
        assert!(report.plan.waves.is_empty() && report.plan.blocked.is_empty(), "{}", shown());
    }
}

#[test]
fn what_nobody_reads_changes_nothing() {
    let mut checked = 0;
    for case in all() {
        let mut inputs = case.inputs();
        let before = answers(&inputs.plan());
        let mut namespaces = Vec::new();
        with_objects(&mut inputs, |items| {
            let mut all: Vec<String> =
                items.iter().filter_map(|o| o["metadata"]["namespace"].as_str().map(str::to_owned)).collect();
            all.sort();
            all.dedup();
            for namespace in &all {
                for name in ["unread", "app", "a"] {
                    items.push(json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                        "metadata": {"name": name, "namespace": namespace}, "spec": {"holderIdentity": "x"}}));
                }
            }
            namespaces = all;
        });
        let after = answers(&inputs.plan());
        assert_eq!(before, after, "{}: Leases in {namespaces:?}", case.name);
        checked += namespaces.len();
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn findings_do_not_depend_on_the_order_of_input() {
    for (seed, case) in all().iter().enumerate() {
        let mut dice = Dice(seed as u64, 0);
        let mut inputs = case.inputs();
        let before = answers(&inputs.plan());
        with_objects(&mut inputs, |items| dice.shuffle(items));
        inputs.snapshot[1..].reverse();
        dice.shuffle(&mut inputs.charts);
        assert_eq!(before, answers(&inputs.plan()), "{}", case.name);
    }
}
