//! What results depend on.

use std::rc::Rc;

use super::engine::{call, call_under, execute};
use crate::value::origin::{LookupKey, Origin};
use crate::value::{Hole, OriginSet, Origins, Repr, Text, Value};

/// A value at a field of a looked-up object.
fn fact(origins: &Origins, path: &str, repr: Repr) -> Value {
    let key = LookupKey { api_version: "v1".into(), kind: "Secret".into(), namespace: "ns".into(), name: "x".into() };
    let at = origins.intern(Origin::Lookup { key: Rc::new(key), path: path.into() });
    let repr = match repr {
        Repr::Str(text) => Repr::Str(Text::marked(text.bytes(), origins.single(at))),
        other => other,
    };
    Value::new(repr).located(at, origins)
}

fn text_fact(origins: &Origins, path: &str, text: &str) -> Value {
    fact(origins, path, Repr::Str(text.into()))
}

/// The paths of lookups that a value depends on.
fn reads(origins: &Origins, set: OriginSet) -> Vec<String> {
    let path = |origin| match origin {
        Origin::Lookup { path, .. } => path.to_string(),
        other => format!("{other:?}"),
    };
    origins.members(set).into_iter().map(path).collect()
}

/// Each marked range with what it depends on.
fn marked(origins: &Origins, value: &Value) -> Vec<(String, Vec<String>)> {
    let text = value.as_text().unwrap();
    let range = |m: &crate::value::text::Mark| text.slice(m.start as usize, m.end as usize).lossy().into_owned();
    text.marks().iter().map(|m| (range(m), reads(origins, m.origins))).collect()
}

fn one_mark(range: &str, path: &str) -> Vec<(String, Vec<String>)> {
    vec![(range.into(), vec![path.into()])]
}

#[test]
fn marks_follow_their_bytes_through_text_functions() {
    let o = &Origins::new(true);
    let name = &text_fact(o, ".name", "Bucket-1");
    let t = |text: &str| Value::text(text);
    let int = Value::int;
    for (function, args, text, range) in [
        ("quote", vec![name.clone()], "\"Bucket-1\"", "Bucket-1"),
        ("squote", vec![name.clone(), t("x")], "'Bucket-1' 'x'", "Bucket-1"),
        ("cat", vec![t("a"), name.clone()], "a Bucket-1", "Bucket-1"),
        ("indent", vec![int(2), name.clone()], "  Bucket-1", "Bucket-1"),
        ("nindent", vec![int(2), name.clone()], "\n  Bucket-1", "Bucket-1"),
        ("trunc", vec![int(3), name.clone()], "Buc", "Buc"),
        ("substr", vec![int(2), int(4), name.clone()], "ck", "ck"),
        ("trimSuffix", vec![t("-1"), name.clone()], "Bucket", "Bucket"),
        ("trimAll", vec![t("B1"), name.clone()], "ucket-", "ucket-"),
        ("replace", vec![t("x"), name.clone(), t("a-x-b")], "a-Bucket-1-b", "Bucket-1"),
        ("replace", vec![t("-1"), t("!"), name.clone()], "Bucket!", "Bucket"),
        ("upper", vec![name.clone()], "BUCKET-1", "BUCKET-1"),
        ("kebabcase", vec![name.clone()], "bucket-1", "bucket-1"),
        ("camelcase", vec![name.clone()], "Bucket1", "Bucket1"),
        ("abbrev", vec![int(6), name.clone()], "Buc...", "Buc"),
        ("join", vec![t("/"), Value::list(vec![t("a"), name.clone()])], "a/Bucket-1", "Bucket-1"),
        ("base", vec![text_fact(o, ".name", "a/Bucket-1")], "Bucket-1", "Bucket-1"),
        ("wrap", vec![int(3), text_fact(o, ".name", "ab")], "ab", "ab"),
        ("toString", vec![name.clone()], "Bucket-1", "Bucket-1"),
    ] {
        let made = call(function, &args, o).unwrap();
        assert_eq!(made.as_text().unwrap().lossy(), text, "{function}");
        assert_eq!(marked(o, &made), one_mark(range, ".name"), "{function}");
    }
}

#[test]
fn printed_numbers_depend_on_where_they_came_from() {
    let o = &Origins::new(true);
    let list = Value::list(vec![Value::text("n"), fact(o, ".count", Repr::Float(3.0))]);
    let made = call("quote", &[list], o).unwrap();
    assert_eq!(made.as_text().unwrap().lossy(), "\"[n 3]\"");
    assert_eq!(marked(o, &made), one_mark("3", ".count"));
    assert_eq!(reads(o, made.origins), [".count"]);
}

#[test]
fn a_default_depends_on_what_was_empty_and_keeps_its_place() {
    let o = &Origins::new(true);
    let gone = fact(o, ".data", Repr::Nil);
    let empty = call("default", &[Value::map(Default::default()), gone.clone()], o).unwrap();
    assert_eq!(reads(o, empty.origins), [".data"]);
    let missing = call("get", &[empty, Value::text("password")], o).unwrap();
    assert_eq!(reads(o, missing.origins), [".data", ".data.password"]);
    assert!(matches!(o.get(missing.at), Some(Origin::Lookup { path, .. }) if &*path == ".data.password"));

    let set = call("default", &[text_fact(o, ".other", "d"), Value::text("given")], o).unwrap();
    assert_eq!(reads(o, set.origins), Vec::<String>::new(), "the default was not used");
    let kept = call("default", &[Value::text("d"), text_fact(o, ".x", "y")], o).unwrap();
    assert_eq!(marked(o, &kept), one_mark("y", ".x"));
}

#[test]
fn choices_depend_on_what_decided_them() {
    let o = &Origins::new(true);
    let (a, b) = (text_fact(o, ".a", "a"), text_fact(o, ".b", "b"));
    let flag = fact(o, ".flag", Repr::Bool(false));
    assert_eq!(reads(o, call("ternary", &[a.clone(), b.clone(), flag], o).unwrap().origins), [".b", ".flag"]);
    let none = text_fact(o, ".none", "");
    assert_eq!(reads(o, call("coalesce", &[none, b, a], o).unwrap().origins), [".b", ".none"]);
}

#[test]
fn a_field_depends_on_its_own_place_and_not_on_the_object() {
    let o = &Origins::new(true);
    let data = Repr::Map(crate::value::Map::new(
        [("k".into(), text_fact(o, ".data.k", "v"))].into(),
        crate::value::MapType::Any,
    ));
    let data = fact(o, ".data", data);
    let read = |function: &str, args: &[Value]| reads(o, call(function, args, o).unwrap().origins);
    assert_eq!(read("get", &[data.clone(), Value::text("k")]), [".data.k"]);
    assert_eq!(read("get", &[data.clone(), Value::text("z")]), [".data", ".data.z"]);
    assert_eq!(read("hasKey", &[data.clone(), Value::text("k")]), [".data.k"]);
    assert_eq!(read("dig", &[Value::text("k"), Value::text("none"), data.clone()]), [".data.k"]);
    assert_eq!(read("dig", &[Value::text("z"), Value::text("none"), data.clone()]), [".data", ".data.z"]);
    let found = call("get", &[data.clone(), Value::text("z")], o).unwrap();
    assert!(matches!(o.get(found.at), Some(Origin::Lookup { path, .. }) if &*path == ".data.z"));
}

#[test]
fn containers_leave_origins_to_what_is_inside() {
    let o = &Origins::new(true);
    let fact = text_fact(o, ".x", "v");
    for (function, args) in
        [("dict", vec![Value::text("k"), fact.clone()]), ("list", vec![Value::text("k"), fact.clone()])]
    {
        let made = call(function, &args, o).unwrap();
        assert!(made.origins.is_empty(), "{function}");
        assert_eq!(reads(o, made.deep_origins(o)), [".x"], "{function}");
    }
    let by_key = call("dict", &[fact.clone(), Value::int(1)], o).unwrap();
    assert_eq!(reads(o, by_key.origins), [".x"], "a key that is a fact makes the map one");
    let target = Value::map(Default::default());
    let same = call("set", &[target.clone(), Value::text("k"), fact.clone()], o).unwrap();
    assert!(same.origins.is_empty());
    assert_eq!(reads(o, target.as_map().unwrap().get(b"k").unwrap().origins), [".x"]);
    let gate = o.only(Origin::KubeVersion);
    call_under("set", &[target.clone(), Value::text("b"), Value::int(1)], o, gate).unwrap();
    assert_eq!(target.as_map().unwrap().get(b"b").unwrap().origins, gate, "what a branch sets depends on it");
    call("unset", &[target.clone(), Value::text("b")], o).unwrap();
    let merged = call("merge", &[Value::map(Default::default()), target], o).unwrap();
    assert_eq!(reads(o, merged.deep_origins(o)), [".x"]);
}

#[test]
fn holes_are_printed_by_their_label_and_pass_through_choices() {
    let o = &Origins::new(true);
    let hole = fact(o, ".status.name", Repr::Hole(Rc::new(Hole { label: "<name>".into() })));
    let text = |function: &str, args: &[Value]| {
        let made = call(function, args, o).unwrap();
        assert_eq!(reads(o, made.origins), [".status.name"], "{function}");
        made.as_text().unwrap().lossy().into_owned()
    };
    assert_eq!(text("quote", std::slice::from_ref(&hole)), "\"<name>\"");
    assert_eq!(text("nindent", &[Value::int(2), hole.clone()]), "\n  <name>");
    assert_eq!(text("toYaml", &[call("dict", &[Value::text("k"), hole.clone()], o).unwrap()]), "k: <name>");
    let is_hole = |function: &str, args: &[Value]| {
        assert!(matches!(call(function, args, o).unwrap().repr(), Repr::Hole(_)), "{function}");
    };
    is_hole("default", &[Value::text("d"), hole.clone()]);
    is_hole("required", &[Value::text("message"), hole.clone()]);
    is_hole("coalesce", &[Value::text(""), hole.clone()]);
    is_hole("dig", &[Value::text("a"), Value::text("b"), Value::text("none"), hole.clone()]);
    is_hole("first", &[Value::list(vec![hole.clone()])]);
    assert!(!call("empty", &[hole], o).unwrap().truth());
}

#[test]
fn what_is_read_out_of_a_text_depends_on_it_however_deep() {
    let o = &Origins::new(true);
    let dot = Value::map([("text".into(), text_fact(o, ".data.config", "a: {b: [1, x]}"))].into());
    for template in
        ["{{ (fromYaml .text).a.b }}", "{{ index (splitList \"[\" .text) 0 }}", "{{ (split \":\" .text)._0 }}"]
    {
        let text = execute(template, &dot, o).unwrap();
        assert_eq!(reads(o, text.mark_union(o)), [".data.config"], "{template}");
    }
}

#[test]
fn pipelines_keep_facts_apart_from_what_is_around_them() {
    let o = &Origins::new(true);
    let dot = Value::map([("name".into(), text_fact(o, ".name", "Bucket"))].into());
    for (template, output, mark) in [
        ("host: {{ printf \"%s.example\" .name | lower | quote }}", "host: \"bucket.example\"", "bucket"),
        ("{{ dict \"a\" \"plain\" \"b\" .name | toYaml | nindent 2 }}", "\n  a: plain\n  b: Bucket", "Bucket"),
        ("{{ list \"x\" .name | join \"-\" | trunc 4 }}", "x-Bu", "Bu"),
        (
            "{{ $d := dict \"n\" .name }}{{ $d.n | default \"none\" }}/{{ $d.m | default \"none\" }}",
            "Bucket/none",
            "Bucket",
        ),
        ("{{ .name | b64enc }}!", "QnVja2V0!", "QnVja2V0"),
    ] {
        let text = execute(template, &dot, o).unwrap();
        assert_eq!(text.lossy(), output);
        assert_eq!(marked(o, &Value::text(text)), one_mark(mark, ".name"), "{template}");
    }
}
