use super::*;
use crate::value::Origins;

fn from_yaml(text: &[u8]) -> String {
    match helm_unmarshal(text) {
        Ok(value) => json::emit(&value, &Origins::new(false)).map_or_else(|e| e, |t| t.lossy().into_owned()),
        Err(error) => error,
    }
}

#[test]
fn errors_read_as_helm_prints_them() {
    for (text, error) in [
        (&b"a: [1"[..], "yaml: line 1: did not find expected ',' or ']'"),
        (b"a: b: c", "yaml: mapping values are not allowed in this context"),
        (b"x: 1\na: b: c", "yaml: line 2: mapping values are not allowed in this context"),
        (b"x: 1\na: @x", "yaml: line 2: found character that cannot start any token"),
        (b"a: @x", "yaml: found character that cannot start any token"),
        (b"x: 1\n- a\n", "yaml: line 1: did not find expected key"),
        (b"a:\n\t- b", "yaml: line 2: found character that cannot start any token"),
        (b"a: \"x\ny: 1", "yaml: line 2: found unexpected end of stream"),
        (b"%YAML 1.2\n---\na: 1", "yaml: found incompatible YAML document"),
        (b"\n%YAML 1.2\n---\na: 1", "yaml: line 1: found incompatible YAML document"),
        (b"a: \"\\/\"", "yaml: found unknown escape character"),
        (b"\n\na: \"x\n\n \\/\"", "yaml: line 5: found unknown escape character"),
        (b"a: \"\\ud83d\\ude00\"", "yaml: found invalid Unicode character escape code"),
        (b"a: \xff", "yaml: invalid leading UTF-8 octet"),
        (b"\n\na: \x7f", "yaml: control characters are not allowed"),
        (b"a: *x", "yaml: unknown anchor 'x' referenced"),
        (b"a: &x [*x]", "yaml: anchor 'x' value contains itself"),
        (b"? [a]\n: 1", r#"yaml: invalid map key: []interface {}{"a"}"#),
        (b"? {b: 1}\n: 2", r#"yaml: invalid map key: map[interface {}]interface {}{"b":1}"#),
        (b"~: 1", "unsupported map key of type: %!s(<nil>), key: <nil>, value: 1"),
        (
            b"~: {x: 1, y: [1, 2.5, null, true, s]}",
            "unsupported map key of type: %!s(<nil>), key: <nil>, value: map[interface {}]interface {}{\"x\":1, \
             true:[]interface {}{1, 2.5, interface {}(nil), true, \"s\"}}",
        ),
        (b"18446744073709551615: 1", "unsupported map key of type: uint64, key: 0xffffffffffffffff, value: 1"),
        (b"<<: 1", "yaml: map merge requires map or sequence of maps as the value"),
        (b"a: .inf", "json: unsupported value: +Inf"),
        (b"a: [http://x/?q=1]", "yaml: did not find expected ',' or ']'"),
        (b"\na: {u: http://x/?q=1}", "yaml: line 1: did not find expected ',' or '}'"),
        (b"\n\na: [b\n c?d]", "yaml: line 3: did not find expected ',' or ']'"),
        (b"a: \"\\u12\"", "yaml: did not find expected hexdecimal number"),
        (b"a: !!int x", "yaml: cannot decode !!str `x` as a !!int"),
        (b"a: !!binary \"%%\"", "yaml: !!binary value contains invalid base64 data"),
    ] {
        let expected = format!("error converting YAML to JSON: {error}");
        assert_eq!(from_yaml(text), expected, "{:?}", String::from_utf8_lossy(text));
    }
    for (text, kind) in [("1", "number"), ("[1]", "array"), ("a\nb", "string"), ("yes", "bool")] {
        let expected = format!(
            "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {kind} into Go value of type \
             map[string]interface {{}}"
        );
        assert_eq!(from_yaml(text.as_bytes()), expected);
    }
}

#[test]
fn values_read_as_helm_reads_them() {
    for (text, json) in [
        ("", "{}"),
        ("# nothing", "{}"),
        ("null\n---\nb: 2", "{}"),
        ("a: 1\n--- @x", r#"{"a":1}"#),
        ("a: ! 5", r#"{"a":"5"}"#),
        ("a: !!float 5\nb: !!str 5\nc: !!binary aGk=", r#"{"a":5,"b":"5","c":"hi"}"#),
        ("y: yes\n010: x\n1e3: z", r#"{"1000":"z","8":"x","true":true}"#),
        ("b: &b {x: 1, y1: 2}\nc: {x: 0, <<: *b, y1: 3}", r#"{"b":{"x":1,"y1":2},"c":{"x":1,"y1":3}}"#),
        ("\"<<\": {a: 1}", r#"{"\u003c\u003c":{"a":1}}"#),
        ("a: 9007199254740993\nb: 99999999999999999999", r#"{"a":9007199254740992,"b":100000000000000000000}"#),
        ("a: |\n  foo", r#"{"a":"foo"}"#),
        ("a: 1\na: 2", r#"{"a":2}"#),
        ("a: x\n\u{feff}b: \u{feff}y", "{\"a\":\"x\",\"\u{feff}b\":\"\u{feff}y\"}"),
        ("\u{feff}é: {c:}", r#"{"é":{"c:":null}}"#),
        ("{b:1, x:, ^y:}", r#"{"^y:":null,"b:1":null,"x:":null}"#),
    ] {
        assert_eq!(from_yaml(text.as_bytes()), json, "{text:?}");
    }
}

#[test]
fn nodes_know_their_place_and_are_found_by_path() {
    let text = "# note\nspec:\n  ключ: &k [one, \"two\"]\n  again: *k\n  010: eight\n  block: |\n    a\n    b\n";
    let document = parse_first(text.as_bytes()).expect("it parses").expect("a document");
    let at = |path: &[Step<'_>]| {
        let node = document.root().get(path.iter().copied()).expect("the path leads somewhere");
        (&text[node.span().range()], node.span().start.line, node.span().start.column)
    };
    use Step::{Index, Key};
    assert_eq!(at(&[Key("spec"), Key("ключ"), Index(1)]), ("\"two\"", 3, 18));
    assert_eq!(at(&[Key("spec"), Key("again"), Index(0)]), ("one", 3, 13));
    assert_eq!(at(&[Key("spec"), Key("8")]), ("eight", 5, 8));
    assert_eq!(at(&[Key("spec"), Key("block")]), ("|\n    a\n    b\n", 6, 10));
    assert!(document.root().get([Key("spec"), Key("none")]).is_none());
}

#[test]
fn every_document_of_a_stream_is_given() {
    let text = "a: 1\n---\n# only a comment\n---\nb: 2\n...\n---\n[c]\n";
    let documents = parse_all(text.as_bytes()).expect("it parses");
    let shown: Vec<String> =
        documents.iter().map(|d| to_json(d.root()).map_or_else(|e| e, |j| j.to_string())).collect();
    assert_eq!(shown, [r#"{"a":1}"#, "null", r#"{"b":2}"#, r#"["c"]"#]);
    assert!(parse_all(b"").expect("it parses").is_empty());
}

#[test]
fn integers_stay_integers_in_objects() {
    let text = "a: 9007199254740993\nb: 1.0\nc: 1e3\nd: 0.5\ne: -0.0";
    let document = parse_first(text.as_bytes()).expect("it parses").expect("a document");
    let json = to_json(document.root()).expect("it resolves");
    assert_eq!(json.to_string(), r#"{"a":9007199254740993,"b":1,"c":1000,"d":0.5,"e":0}"#);
}

#[test]
fn hostile_documents_end_in_errors() {
    let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
    for level in 1..20 {
        let below = format!("*a{}", level - 1);
        bomb += &format!("a{level}: &a{level} [{}]\n", [below.as_str(); 9].join(","));
    }
    let excessive = "error converting YAML to JSON: yaml: document contains excessive aliasing";
    assert_eq!(from_yaml(bomb.as_bytes()), excessive);
    assert!(from_yaml("[".repeat(100_000).as_bytes()).contains("exceeded max depth"));
    assert!(from_yaml("a: ".repeat(5_000).as_bytes()).contains("mapping values are not allowed"));
    let deep = MAX_DEPTH - 1;
    let text = format!("a: {}{}", "[".repeat(deep), "]".repeat(deep));
    let document = parse_first(text.as_bytes()).expect("it parses").expect("a document");
    let value = to_value(document.root()).expect("it resolves");
    assert!(emit(&value, &Origins::new(false)).is_ok());
    assert!(json::emit(&value, &Origins::new(false)).is_ok());
    assert!(to_json_v3(document.root()).is_ok());
}
