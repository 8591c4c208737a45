//! `cargo run --release --manifest-path tests/benches/peers/Cargo.toml`: other template engines on a template that all of
//! them can run (no function of sprig's, no provenance), and serde_yaml on a document that it reads as Helm does.

#[path = "../../measure.rs"]
mod measure;

use helm_render_predictor::api::{RenderArgs, template};
use helm_render_predictor::codec::yaml;
use helm_render_predictor::value::Origins;
use measure::{in_turn, ratio};
use serde_json::{Value as Json, json};

const TEMPLATE: &str = "{{ define \"label\" }}app: {{ . }}{{ end }}{{ range $i, $e := .Values.list }}\n- name: {{ $e.name }}\n  \
    index: {{ $i }}\n  {{ template \"label\" $e.name }}\n  {{ if eq $e.tier \"web\" }}port: {{ printf \"%s-%s\" $e.name $e.tier }}{{ else }}none: \
    {{ len $e.name }}{{ end }}\n{{ end }}";

const ITEMS: usize = 2000;

fn list() -> Vec<Json> {
    (0..ITEMS).map(|i| json!({"name": format!("n{i}"), "tier": if i % 2 == 0 { "web" } else { "db" }})).collect()
}

fn main() {
    templates();
    documents();
}

fn templates() {
    let values = serde_json::to_vec(&json!({"list": list()})).unwrap();
    let args = |untracked| RenderArgs {
        chart: Some(vec![
            ("Chart.yaml".into(), b"apiVersion: v2\nname: a\nversion: 1.0.0\n".to_vec()),
            ("templates/a.yaml".into(), TEMPLATE.into()),
        ]),
        name: "x".into(),
        namespace: "default".into(),
        values: vec![("v.json".into(), values.clone())],
        client: true,
        untracked,
        ..RenderArgs::default()
    };
    let helm = "4.1".parse().unwrap();
    let data = json!({"Values": {"list": list()}});
    let for_gotmpl = gotmpl::to_value(&data).unwrap();
    let for_gotemplate = gotemplate_value(&data);
    let for_gtmpl = gtmpl_value(&data);
    let gotmpl = || gotmpl::Template::new("a").parse(TEMPLATE).unwrap().execute_to_string(&for_gotmpl).unwrap();
    let gotemplate = || gotemplate::TextTemplates::parse("a", TEMPLATE).unwrap().execute(&for_gotemplate).unwrap();
    let gtmpl = || {
        let mut parsed = gtmpl::Template::default();
        parsed.parse(TEMPLATE).unwrap();
        parsed.render(&gtmpl::Context::from(for_gtmpl.clone())).unwrap()
    };
    let ours = String::from_utf8(template(&args(false), helm).unwrap()).unwrap();
    for (name, text) in [("gotmpl", gotmpl()), ("gotemplate", gotemplate()), ("gtmpl", gtmpl())] {
        assert!(ours.trim_end().ends_with(text.trim_end()), "{name} renders something else");
    }
    let sides: [(&str, &mut dyn FnMut()); 5] = [
        ("this, values read, provenance on", &mut || drop(template(&args(false), helm).unwrap())),
        ("this, values read, provenance off", &mut || drop(template(&args(true), helm).unwrap())),
        ("gotmpl, values given", &mut || drop(gotmpl())),
        ("gotemplate, values given", &mut || drop(gotemplate())),
        ("gtmpl, values given", &mut || drop(gtmpl())),
    ];
    compare("a template over 2000 elements", sides);
}

fn documents() {
    let text = serde_yaml::to_string(&json!({"items": list()})).unwrap();
    let value = yaml::helm_unmarshal(text.as_bytes()).unwrap();
    let theirs: Json = serde_yaml::from_str(&text).unwrap();
    let origins = Origins::new(false);
    println!("YAML of {} kB", text.len() / 1000);
    compare(
        "read",
        [
            ("this", &mut || drop(yaml::helm_unmarshal(text.as_bytes()).unwrap())),
            ("serde_yaml", &mut || drop(serde_yaml::from_str::<Json>(&text).unwrap())),
        ],
    );
    compare(
        "print",
        [
            ("this", &mut || drop(yaml::emit(&value, &origins).unwrap())),
            ("serde_yaml", &mut || drop(serde_yaml::to_string(&theirs).unwrap())),
        ],
    );
}

fn compare<const N: usize>(what: &str, sides: [(&str, &mut dyn FnMut()); N]) {
    let names: Vec<String> = sides.iter().map(|(name, _)| (*name).to_owned()).collect();
    let all = in_turn(15, sides.map(|(_, side)| side));
    for (name, rounds) in names.iter().zip(&all) {
        println!("{what}, {name:<34} {rounds}; x {:.2} of ours", ratio(rounds, &all[0]));
    }
}

fn gotemplate_value(json: &Json) -> gotemplate::Value {
    match json {
        Json::Array(items) => gotemplate::Value::from(items.iter().map(gotemplate_value).collect::<Vec<_>>()),
        Json::Object(map) => gotemplate::Value::map(map.iter().map(|(key, value)| (key.as_str(), gotemplate_value(value)))),
        other => gotemplate::Value::str(other.as_str().unwrap_or_default()),
    }
}

fn gtmpl_value(json: &Json) -> gtmpl::Value {
    match json {
        Json::Array(items) => gtmpl::Value::Array(items.iter().map(gtmpl_value).collect()),
        Json::Object(map) => gtmpl::Value::Object(map.iter().map(|(key, value)| (key.clone(), gtmpl_value(value))).collect()),
        other => gtmpl::Value::String(other.as_str().unwrap_or_default().to_owned()),
    }
}
