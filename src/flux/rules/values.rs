//! Composition of values (`F-40` to `F-54`).

use data_encoding::BASE64;
use serde_json::{Value as Json, json};

use super::super::values::{Composed, compose};
use super::release;
use crate::cluster::object::Object;
use crate::cluster::snapshot::Snapshot;

/// Composes inline values and references (`{…, "at"?: targetPath}`); the objects are ConfigMaps `r0`, `r1`, ….
fn composed(inline: Json, refs: &[(&str, &str)]) -> Composed {
    let mut facts = Snapshot::default();
    let mut from = Vec::new();
    for (i, (path, data)) in refs.iter().enumerate() {
        facts.insert(config_map(&format!("r{i}"), json!({"values.yaml": data})));
        let mut reference = json!({"kind": "ConfigMap", "name": format!("r{i}")});
        if !path.is_empty() {
            reference["targetPath"] = (*path).into();
        }
        from.push(reference);
    }
    of(inline, json!(from), &facts)
}

fn of(inline: Json, from: Json, facts: &Snapshot) -> Composed {
    let hr = json!({"metadata": {"name": "x", "namespace": "n"}, "spec": {"values": inline, "valuesFrom": from}});
    compose(&release(hr), facts, crate::flux::settings::ControllerVersion(1, 6, 2).helm())
}

fn config_map(name: &str, data: Json) -> Object {
    let json =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "n"}, "data": data});
    Object::new(json, Default::default()).unwrap()
}

#[track_caller]
fn gives(inline: Json, refs: &[(&str, &str)], want: Json) {
    match composed(inline, refs) {
        Composed::Values { json, .. } => assert_eq!(in_numbers(json), in_numbers(want), "{refs:?}"),
        other => panic!("{refs:?}: {other:?}"),
    }
}

/// The same, with every number as a double: 1 and 1.0 are one value.
fn in_numbers(json: Json) -> Json {
    super::super::digest::in_doubles(json)
}

#[track_caller]
fn fails(inline: Json, refs: &[(&str, &str)], cause: &str) {
    match composed(inline, refs) {
        Composed::Error(text) => assert!(text.contains(cause), "{refs:?}: {text}"),
        other => panic!("{refs:?}: {other:?}"),
    }
}

/// What a root reference with this text gives.
#[track_caller]
fn reads(text: &str, want: Json) {
    gives(json!({}), &[("", text)], want);
}

#[test]
fn f_40_inline_values_are_doubles_and_may_be_swallowed_whole() {
    gives(json!({"big": 9007199254740993u64}), &[], json!({"big": 9007199254740992u64}));
    gives(Json::Null, &[], json!({}));
    for bad in ["\u{7f}", "\u{80}", "\u{84}", "\u{86}", "\u{9f}", "\u{fffe}", "\u{ffff}"] {
        gives(json!({"a": 1, "deep": [{"k": format!("x{bad}")}]}), &[], json!({}));
        gives(json!({"a": {(format!("x{bad}")): 1}}), &[], json!({}));
        gives(json!({"a": bad}), &[("", "b: 1")], json!({"b": 1}));
    }
    gives(json!({"a": {"x\u{85}": 1}}), &[], json!({}));
    let key = |n: usize| "k".repeat(n);
    gives(json!({(key(1022)): 1}), &[], json!({(key(1022)): 1}));
    gives(json!({(key(1023)): 1}), &[], json!({}));
    gives(json!({("<".repeat(171)): 1}), &[], json!({}));
    let Composed::Values { notes, .. } = composed(json!({"a": "\u{7f}"}), &[]) else { panic!() };
    assert_eq!(notes[0].rule, "F-40", "said aloud");
}

#[test]
fn f_41_f_42_maps_are_merged_lists_replaced_and_nulls_kept() {
    let (a, b) = ("m: {x: 1, q: {z: 1}}\nl: [1, 2]\np: 1\n", "m: {q: {w: 2}}\nl: [3]\np: null\n");
    reads(a, json!({"m": {"x": 1, "q": {"z": 1}}, "l": [1, 2], "p": 1}));
    gives(json!({}), &[("", a), ("", b)], json!({"m": {"x": 1, "q": {"z": 1, "w": 2}}, "l": [3], "p": null}));
    gives(json!({"m": 5}), &[("", a)], json!({"m": 5, "l": [1, 2], "p": 1}));
    gives(json!({"p": null}), &[("", a)], json!({"m": {"x": 1, "q": {"z": 1}}, "l": [1, 2], "p": null}));
}

#[test]
fn f_43_references_name_objects_and_keys() {
    let mut facts = Snapshot::default();
    facts.insert(config_map("c", json!({"values.yaml": "a: 1", "other": "b: 2"})));
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "n"},
        "data": {"values.yaml": BASE64.encode(b"c: 3")},
    });
    facts.insert(Object::new(secret, Default::default()).unwrap());
    let binary = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b", "namespace": "n"}, "binaryData": {"values.yaml": "eA=="}});
    facts.insert(Object::new(binary, Default::default()).unwrap());
    let all = json!([
        {"kind": "ConfigMap", "name": "c"}, {"kind": "ConfigMap", "name": "c", "valuesKey": "other"},
        {"kind": "Secret", "name": "s"},
    ]);
    let Composed::Values { json, .. } = of(json!({}), all, &facts) else { panic!() };
    assert_eq!(in_numbers(json), in_numbers(json!({"a": 1, "b": 2, "c": 3})));
    for (reference, cause) in [
        (json!({"kind": "Deployment", "name": "c"}), "unsupported values reference kind"),
        (json!({"kind": "ConfigMap", "name": "b"}), "key not found"),
    ] {
        match of(json!({}), json!([reference]), &facts) {
            Composed::Error(text) => assert!(text.contains(cause), "{text}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn f_44_the_first_document_counts_and_must_be_a_map() {
    for empty in ["", "# nothing\n", "null\n", "~", "null\n---\nb: 2\n", "---\n"] {
        reads(empty, json!({}));
    }
    reads("a: 1\n---\nb: 2\n", json!({"a": 1}));
    for bad in ["[]", "- a\n", "text", "5"] {
        fails(json!({}), &[("", bad)], "common.Values");
    }
}

#[test]
fn f_44a_plain_scalars() {
    for (texts, want) in [
        (&["y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"][..], json!(true)),
        (&["n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"], json!(false)),
        (&["~", "null", "Null", "NULL", ""], Json::Null),
        (&["010", "0o10", "8", "+8"], json!(8)),
        (&["0x1F", "0b11111", "31"], json!(31)),
        (&["08"], json!(8)),
        (&["1_000", "1e3", "1000."], json!(1000)),
        (&[".5"], json!(0.5)),
        (&["2024-01-02"], json!("2024-01-02")),
        (&["2024-01-02T03:04:05Z"], json!("2024-01-02T03:04:05Z")),
        (&["1:30"], json!("1:30")),
        (&["nULL"], json!("nULL")),
        (&["yEs"], json!("yEs")),
        (&["1e400"], json!("1e400")),
        (&["_1"], json!("_1")),
        (&["0x"], json!("0x")),
        (&["!!str 5", "! 5", "!unknown '5'"], json!("5")),
        (&["!!int '5'"], json!(5)),
        (&["!!binary aGk="], json!("hi")),
    ] {
        for text in texts {
            reads(&format!("k: {text}\n"), json!({"k": want}));
        }
    }
    for bad in [".inf", "-.inf", ".nan"] {
        fails(json!({}), &[("", &format!("k: {bad}\n"))], "json: unsupported value");
    }
}

#[test]
fn f_44b_keys_become_text() {
    for (key, want) in [
        ("y", "true"),
        ("No", "false"),
        ("010", "8"),
        ("1e3", "1000"),
        ("123456789012345678901234567890", "1.2345679e+29"),
        ("2024-01-02", "2024-01-02"),
        (".inf", ".inf"),
        ("'y'", "y"),
    ] {
        reads(&format!("{key}: v\n"), json!({(want): "v"}));
    }
    reads("a: 1\na: 2\n", json!({"a": 2}));
    reads("010: a\n8: b\n", json!({"8": "b"}));
    for bad in ["~: v\n", "? [a]\n: v\n", "k: {{ x }}\n", "9223372036854775808: v\n"] {
        assert!(matches!(composed(json!({}), &[("", bad)]), Composed::Error(_)), "{bad}");
    }
    let random = composed(json!({}), &[("", "1: a\n'1': b\n")]);
    assert!(matches!(random, Composed::Drawn { .. }), "drawn at random: {random:?}");
}

#[test]
fn f_44c_merge_keys_take_effect_where_they_stand() {
    reads("b: &b {x: 1, q: 1}\nc:\n  x: 0\n  <<: *b\n  q: 2\n", json!({"b": {"x": 1, "q": 1}, "c": {"x": 1, "q": 2}}));
    reads(
        "a: &a {x: 1}\nb: &b {x: 2, q: 2}\nc: {<<: [*a, *b]}\n",
        json!({"a": {"x": 1}, "b": {"x": 2, "q": 2}, "c": {"x": 1, "q": 2}}),
    );
    reads("a: {\"<<\": 1}\n", json!({"a": {"<<": 1}}));
    for bad in ["a: {<<: null}\n", "a: {<<: 5}\n", "a: *none\n", "a: &a {b: *a}\n"] {
        assert!(matches!(composed(json!({}), &[("", bad)]), Composed::Error(_)), "{bad}");
    }
}

#[test]
fn f_44d_the_text_of_a_reference() {
    reads("\u{feff}a: 1\n", json!({"a": 1}));
    reads("a: x\u{feff}y\n", json!({"a": "x\u{feff}y"}));
    reads("a: 1\rb: 2\r\nc: 3\u{85}d: 4\u{2028}", json!({"a": 1, "b": 2, "c": 3, "d": 4}));
    reads("{\"a\": \"\\u00e9\"}", json!({"a": "é"}));
    for bad in
        ["a: x\u{7f}\n", "a: \u{1}\n", "{\"a\": \"\\/\"}", "{\"a\": \"\\ud83d\\ude00\"}", "%YAML 1.2\n---\na: 1\n"]
    {
        assert!(matches!(composed(json!({}), &[("", bad)]), Composed::Error(_)), "{bad:?}");
    }
}

#[test]
fn f_45_f_46_what_is_missing_is_named_unless_it_is_optional() {
    let mut facts = Snapshot::default();
    facts.coverage.complete = true;
    facts.insert(config_map("c", json!({"values.yaml": "- a"})));
    let error = |reference: Json| match of(json!({}), json!([reference, {"kind": "Secret", "name": "later"}]), &facts) {
        Composed::Error(text) => text,
        other => format!("{other:?}"),
    };
    assert_eq!(
        error(json!({"kind": "ConfigMap", "name": "x"})),
        "could not resolve ConfigMap chart values reference 'n/x' with key 'values.yaml': configmaps \"x\" not found"
    );
    assert_eq!(
        error(json!({"kind": "Secret", "name": "x", "valuesKey": "k"})),
        "could not resolve Secret chart values reference 'n/x' with key 'k': secrets \"x\" not found"
    );
    assert_eq!(
        error(json!({"kind": "ConfigMap", "name": "c", "valuesKey": "k"})),
        "could not resolve ConfigMap chart values reference 'n/c' with key 'k': key not found"
    );
    assert_eq!(
        error(json!({"kind": "ConfigMap", "name": "c", "optional": true})),
        "could not resolve optional ConfigMap chart values reference 'n/c' with key 'values.yaml': error unmarshaling \
         JSON: while decoding JSON: json: cannot unmarshal array into Go value of type common.Values"
    );
    let optional = json!([
        {"kind": "ConfigMap", "name": "x", "optional": true},
        {"kind": "ConfigMap", "name": "c", "valuesKey": "k", "optional": true},
    ]);
    assert_eq!(of(json!({}), optional, &facts), Composed::Values { json: json!({}), notes: Vec::new() });
}

#[test]
fn f_47_f_50_data_at_a_path() {
    for (data, want) in [
        ("", json!("")),
        ("\"\"", json!("")),
        ("1.5", json!("1.5")),
        ("+5", json!(5)),
        ("-0", json!(0)),
        ("00009", json!("00009")),
        ("0", json!(0)),
        ("TRUE", json!(true)),
        ("null", Json::Null),
        ("true\n", json!("true\n")),
        ("{1,true,null,x,1.5}", json!([1, true, null, "x", "1.5"])),
        ("{}", json!([""])),
        ("v,", json!("v")),
        ("a=b=c", json!("a=b=c")),
        ("a\\\\b\\=c", json!("a\\b=c")),
        ("abc\\", json!("abc")),
        ("\"1\"", json!("1")),
        ("\"'x'\"", json!("x")),
        ("\"", json!("")),
        ("value1\\,value2", json!("value1,value2")),
    ] {
        gives(json!({}), &[("a.b", data)], json!({"a": {"b": want}}));
    }
    gives(json!({}), &[("a.b", "v,c.d=e")], json!({"a": {"b": "v"}, "c": {"d": "e"}}));
    fails(json!({}), &[("a.b", "\"a,b\"")], "key \"b\" has no value");
    fails(json!({}), &[("a.b", "{a,b} tail")], "key \" tail\" has no value");
}

#[test]
fn f_48_literal_data_is_taken_verbatim() {
    let mut facts = Snapshot::default();
    for (i, data) in ["a,b", "{x}", "k[0]=v", "back\\slash", "\"q\"", "5"].iter().enumerate() {
        facts.insert(config_map(&format!("c{i}"), json!({"values.yaml": data})));
        let from = json!([{"kind": "ConfigMap", "name": format!("c{i}"), "targetPath": "a\\.b.c", "literal": true}]);
        let want = Composed::Values { json: json!({"a.b": {"c": data}}), notes: Vec::new() };
        assert_eq!(of(json!({}), from, &facts), want, "{data}");
    }
}

#[test]
fn f_49_f_51_paths_and_what_stands_in_their_way() {
    gives(json!({}), &[("x[2]", "v")], json!({"x": [null, null, "v"]}));
    gives(json!({}), &[("n.kubernetes\\.io/role", "v")], json!({"n": {"kubernetes.io/role": "v"}}));
    gives(json!({}), &[("a[0].", "v")], json!({"a": [{}]}));
    gives(json!({}), &[("l[0].k", "v"), ("l[0].k", "w")], json!({"l": [{"k": "w"}]}));
    gives(json!({}), &[("", "l: [s]"), ("l[0].k", "v")], json!({"l": [{"k": "v"}]}));
    gives(json!({}), &[("", "l: [null]"), ("l[0][1]", "v")], json!({"l": [[null, "v"]]}));
    gives(json!({}), &[("", "a: {b: 1}"), ("a", "v")], json!({"a": "v"}));
    fails(json!({}), &[("a.", "v")], "key map \"a\" has no value");
    fails(json!({}), &[("a..b", "v")], "key map \"a\" has no value");
    fails(json!({}), &[("a[0]b", "v")], "unexpected data at end of array index");
    fails(json!({}), &[("a[65537]", "v")], "");
    fails(json!({}), &[(&vec!["a"; 32].join("."), "v")], "");
    gives(json!({}), &[(".a", "v,=b")], json!({}));
    for (root, path, is, not) in [
        ("a: 1.5", "a.b", "float64", "map[string]interface {}"),
        ("a: x", "a.b", "string", "map[string]interface {}"),
        ("a: true", "a.b", "bool", "map[string]interface {}"),
        ("a: null", "a.b", "nil", "map[string]interface {}"),
        ("a: []", "a.b", "[]interface {}", "map[string]interface {}"),
        ("a: {}", "a[0]", "map[string]interface {}", "[]interface {}"),
        ("a: x", "a[0]", "string", "[]interface {}"),
        ("a: null", "a[0]", "nil", "[]interface {}"),
    ] {
        let cause = format!("unable to parse key: interface conversion: interface {{}} is {is}, not {not}");
        fails(json!({}), &[("", root), (path, "v")], &cause);
    }
}

#[test]
fn f_52_f_53_every_vector_of_aliasing() {
    gives(json!({"b": "inline"}), &[("b", "ref")], json!({"b": "inline"}));
    gives(json!({"a": {"b": "inline"}}), &[("a.b", "ref")], json!({"a": {"b": "ref"}}));
    gives(json!({"a": {"b": "inline"}}), &[("", "a: {x: 1}"), ("a.b", "ref")], json!({"a": {"b": "inline", "x": 1}}));
    let two = json!({"a": {"b": "inline", "c": "inline"}});
    gives(two, &[("a.b", "ref1"), ("a.c", "ref2")], json!({"a": {"b": "ref1", "c": "inline"}}));
    gives(json!({"a": {"b": "inline"}}), &[("a.b", "ref"), ("", "a: {b: root}")], json!({"a": {"b": "ref"}}));
    gives(json!({"l": ["i0", "i1"]}), &[("l[0]", "ref")], json!({"l": ["ref", "i1"]}));
    gives(json!({"l": ["i0"]}), &[("l[1]", "ref")], json!({"l": ["i0"]}));
    gives(json!({"n": {"l": ["i0"]}}), &[("n.l[2]", "ref")], json!({"n": {"l": ["i0", null, "ref"]}}));
    gives(json!({"l": [{"a": "i"}]}), &[("l[0].a", "ref")], json!({"l": [{"a": "ref"}]}));
    gives(json!({"l": ["i0", "i1"]}), &[("l[0]", "r0"), ("l[1]", "r1")], json!({"l": ["r0", "r1"]}));
    let maps = json!({"a": {"x": "i"}, "b": {"x": "i"}});
    gives(maps, &[("a.x", "r1"), ("b.x", "r2")], json!({"a": {"x": "r1"}, "b": {"x": "i"}}));
    gives(json!({"a": {"b": "i"}}), &[("a.b", "r"), ("", "a: {x: 1}")], json!({"a": {"b": "r", "x": 1}}));
    let nested = json!({"n": {"l": ["i0", "i1"]}});
    gives(nested.clone(), &[("n.l[3]", "g"), ("n.l[0]", "s")], json!({"n": {"l": ["s", "i1", null, "g"]}}));
    gives(nested, &[("n.l[0]", "s"), ("n.l[3]", "g")], json!({"n": {"l": ["s", "i1"]}}));
    gives(json!({"a": {"b": "i", "c": "i"}}), &[("a.b", "v,a.c=w")], json!({"a": {"b": "v", "c": "w"}}));
    gives(json!({"l": ["i0", "i1"]}), &[("", "l: [r0, r1, r2]"), ("l[0]", "ref")], json!({"l": ["ref", "i1"]}));
    gives(json!({"a": {"b": null}}), &[("a.b", "ref")], json!({"a": {"b": "ref"}}));
    gives(json!({"a": null}), &[("a", "ref")], json!({"a": null}));
}

#[test]
fn f_54_the_vectors_of_the_controllers_own_tests() {
    gives(
        json!({"other": "values"}),
        &[("", "flat: value\nnested:\n  configuration: value\n"), ("", "flat:\n  nested: value\nnested: value\n")],
        json!({"flat": {"nested": "value"}, "nested": "value", "other": "values"}),
    );
    gives(json!({}), &[("merge.at.specific.path", "value")], json!({"merge": {"at": {"specific": {"path": "value"}}}}));
    gives(
        json!({"nested": {"configuration": ["list", "item", "option"]}}),
        &[("nested.configuration[0]", "value"), ("", "nested: {configuration: [one, two, three]}")],
        json!({"nested": {"configuration": ["value", "item", "option"]}}),
    );
    gives(
        json!({}),
        &[("", "nested: {configuration: [list, item, option]}"), ("nested.configuration[1]", "foo")],
        json!({"nested": {"configuration": ["list", "foo", "option"]}}),
    );
    fails(json!({}), &[("a", "[a,b,c]")], "has no value");
    fails(json!({}), &[("a", "kafka01.net:9092,kafka02.net:9092")], "has no value");
}
