//! `lint` of documents that Helm prints and Flux's post-rendering refuses or changes: each rule with what it is about, and
//! with the nearest things that it is not about.
#![allow(clippy::disallowed_methods)]

use helm_render_predictor::api::{RenderArgs, lint};
use helm_render_predictor::base::version::HelmVersion;
use helm_render_predictor::report::contract::{Hazard, Lint, LintItem};

const HEAD: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

fn linted_by(helm: &str, templates: &[(&str, &str)]) -> Lint {
    let mut chart = vec![("Chart.yaml".to_owned(), b"apiVersion: v2\nname: c\nversion: 1.0.0\n".to_vec())];
    chart.extend(templates.iter().map(|(name, text)| (format!("templates/{name}"), text.as_bytes().to_vec())));
    let args = RenderArgs { name: "r".into(), namespace: "n".into(), chart: Some(chart), ..RenderArgs::default() };
    let helm: HelmVersion = helm.parse().unwrap();
    lint(&args, helm).unwrap_or_else(|e| panic!("{e:?}"))
}

/// Hazard, rule and place of what post-rendering refuses or changes.
fn told(items: &[LintItem]) -> Vec<(Hazard, &str, &str)> {
    let about = items.iter().filter(|item| item.rule.is_some());
    about.map(|item| (item.hazard, item.rule.unwrap(), item.place.as_deref().unwrap_or_default())).collect()
}

fn is(text: &str, hazard: Hazard, rule: &str, line: u32) {
    let found = linted_by("4.2.2", &[("a.yaml", text)]);
    let place = format!("c/templates/a.yaml:{line}");
    assert_eq!(told(&found.items), [(hazard, rule, place.as_str())], "{text}");
    assert_eq!(found.error.is_some(), hazard == Hazard::Refused, "{text}: {:?}", found.error);
}

fn refused(text: &str, rule: &str, line: u32) {
    is(text, Hazard::Refused, rule, line);
}

fn altered(text: &str, rule: &str, line: u32) {
    is(text, Hazard::Altered, rule, line);
}

fn fine(text: &str) {
    let found = linted_by("4.2.2", &[("a.yaml", text)]);
    assert_eq!(told(&found.items), [], "{text}");
    assert_eq!(found.error, None, "{text}");
}

fn data(line: &str) -> String {
    format!("{HEAD}data:\n  {line}\n")
}

#[test]
fn f_325_objects_need_a_kind_and_a_name() {
    refused("apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n", "F-325", 1);
    refused("apiVersion: batch/v1\nkind: Job\nmetadata:\n  generateName: x-\n", "F-325", 3);
    refused("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"\"}\n", "F-325", 3);
    refused("apiVersion: v1\nmetadata: {name: a}\n", "F-325", 1);
    refused("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  data: {a: b}\n", "F-325", 4);
    fine("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n");
    fine(&data("a: b"));
    fine("# nothing\n---\n~\n");
}

#[test]
fn f_341_labels_are_a_map_or_nothing() {
    refused("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: x\n", "F-341", 5);
    refused("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: [x]\n", "F-341", 5);
    fine("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels:\n");
    fine("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: {}\n");
}

#[test]
fn f_348_no_object_is_there_twice() {
    refused(&format!("{HEAD}---\n{HEAD}"), "F-348", 7);
    let hook = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations: {helm.sh/hook: pre-install}\n";
    refused(&format!("{HEAD}---\n{hook}"), "F-348", 8);
    refused(&format!("{HEAD}---\n{}", HEAD.replace("name: a", "name: a, namespace: default")), "F-348", 7);
    fine(&format!("{HEAD}---\n{}", HEAD.replace("name: a", "name: a, namespace: other")));
    fine(&format!("{HEAD}---\n{}", HEAD.replace("ConfigMap", "Secret")));
    let found = linted_by("4.2.2", &[("a.yaml", HEAD), ("b.yaml", HEAD)]);
    assert_eq!(told(&found.items), [(Hazard::Refused, "F-348", "c/templates/b.yaml:3")]);
    assert!(found.items[0].text.as_ref().unwrap().contains("c/templates/a.yaml"), "{found:?}");
}

#[test]
fn f_350_truth_words_become_texts() {
    altered(&data("a: yes"), "F-350", 5);
    altered(&data("on: x"), "F-350", 5);
    altered(&format!("{HEAD}list: [a, n]\n"), "F-350", 4);
    fine(&data("a: 'yes'"));
    fine(&data("a: true"));
    fine(&data("a: yess"));
}

#[test]
fn f_351_dates_become_times() {
    altered(&data("a: 2024-01-02"), "F-351", 5);
    altered(&data("a: 2024-01-02 03:04:05"), "F-351", 5);
    fine(&data("a: \"2024-01-02\""));
    fine(&data("a: 2024-02-30"));
    fine(&data("a: 2024-01"));
}

#[test]
fn f_352_tags_mean_other_types() {
    altered(&data("a: ! 5"), "F-352", 5);
    refused(&data("a: !!bool yes"), "F-352", 5);
    fine(&data("a: !!str 5"));
    fine(&data("a: !!int 5"));
}

#[test]
fn f_353_keys_are_texts_below_the_top() {
    refused(&data("8080: x"), "F-353", 5);
    refused(&data("true: x"), "F-353", 5);
    altered(&format!("{HEAD}010: x\n"), "F-353", 4);
    fine(&data("'8080': x"));
    fine(&data("a8080: x"));
}

#[test]
fn f_354_keys_stand_once() {
    refused(&data("a: b\n  b: c\n  a: d"), "F-354", 7);
    refused(&data("5a: b\n  \"5a\": c"), "F-354", 6);
    refused("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: {x: w}\n  labels: {z: w}\n", "F-354", 6);
    fine(&data("a: {b: c}\n  b: {b: c}"));
}

#[test]
fn f_355_explicit_keys_win_over_merged_ones() {
    altered(&format!("{HEAD}x: &x {{a: 1}}\nz:\n  a: 2\n  <<: *x\n"), "F-355", 6);
    altered(&data("\"<<\": {a: b}"), "F-355", 5);
    refused(&format!("{HEAD}x: &x {{a: 1}}\nz:\n  <<: *x\n  <<: *x\n"), "F-355", 7);
    fine(&format!("{HEAD}x: &x {{a: 1}}\nz:\n  <<: *x\n  a: 2\n"));
}

#[test]
fn f_356_folded_texts_gain_line_breaks() {
    altered(&data("a: >\n    x\n      y\n    z\n  b: c"), "F-356", 5);
    fine(&data("a: >\n    x\n    y\n  b: c"));
    fine(&data("a: |\n    x\n      y\n    z\n  b: c"));
}

#[test]
fn f_357_a_block_at_the_end_loses_its_line_break() {
    altered(&format!("{}---\n{}", data("a: |\n    x"), HEAD.replace("name: a", "name: b")), "F-357", 5);
    fine(&format!("{}---\n{}", data("a: |-\n    x"), HEAD.replace("name: a", "name: b")));
    fine(&format!("{}---\n{}", data("a: |\n    x\n  b: c"), HEAD.replace("name: a", "name: b")));
    let text = format!("{}---\n{}", data("a: |\n    x"), HEAD.replace("name: a", "name: b"));
    assert_eq!(told(&linted_by("4.2.4", &[("a.yaml", &text)]).items), [], "4.2.4 cuts nothing");
}

#[test]
fn f_358_f_359_control_characters_and_long_keys_are_refused() {
    refused(&data("a: \"x\\x7fy\""), "F-358", 5);
    refused(&data("\"a\\x9f\": x"), "F-358", 5);
    refused(&data(&format!("? {}\n  : x", "k".repeat(1030))), "F-358", 5);
    altered(&data("a: \"x\\Ny\""), "F-358", 5);
    fine(&data("a: \"x\\x01\\ty\""));
    fine(&data(&format!("{}: x", "k".repeat(900))));
}

#[test]
fn places_are_those_that_print_the_text() {
    let helpers = "{{- define \"d\" }}\nx: 1\nflag: {{ .Values.flag | default \"yes\" }}\n{{- end }}\n";
    let text = format!("{HEAD}data:\n  {{{{- include \"d\" . | nindent 2 }}}}\n");
    let found = linted_by("4.2.2", &[("a.yaml", &text), ("_helpers.tpl", helpers)]);
    assert_eq!(told(&found.items), [(Hazard::Altered, "F-350", "c/templates/a.yaml:5")]);
    assert!(found.items[0].text.as_ref().unwrap().contains("printed by c/templates/_helpers.tpl:3"), "{found:?}");
}

#[test]
fn hooks_of_helm_3_are_stored_as_they_are_printed() {
    let hook = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations: {helm.sh/hook: pre-install}\ndata: {a: yes}\n";
    assert_eq!(told(&linted_by("3.19", &[("a.yaml", hook)]).items), []);
    assert_eq!(
        told(&linted_by("4.2.2", &[("a.yaml", hook)]).items),
        [(Hazard::Altered, "F-350", "c/templates/a.yaml:6")]
    );
    let plain = data("a: yes");
    assert_eq!(
        told(&linted_by("3.19", &[("a.yaml", &plain)]).items),
        [(Hazard::Altered, "F-350", "c/templates/a.yaml:5")]
    );
}
