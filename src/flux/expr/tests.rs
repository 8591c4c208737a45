use serde_json::json;

use super::{Expression, Trouble};

/// What an expression comes to on the two objects: `true`, `false`, `fails`, `beyond`, or `refused` before that.
fn comes_to(text: &str) -> &'static str {
    let own =
        json!({"metadata": {"name": "own", "namespace": "n", "generation": 3}, "spec": {"dependsOn": [{"name": "a"}]}});
    let dep = json!({
        "metadata": {"name": "a", "namespace": "n", "generation": 2, "labels": {"tier": "db", "x-y": "1"}},
        "spec": {"values": {"go": "yes", "n": 3, "f": 1.5, "flag": true, "list": [1, 2, 3], "none": null}},
        "status": {"observedGeneration": 2, "conditions": [
            {"type": "Ready", "status": "True"}, {"type": "Released", "status": "True", "reason": "InstallSucceeded"},
        ]},
    });
    match Expression::compile(text, &["self", "dep"]) {
        Err(_) => "refused",
        Ok(expression) => match expression.holds(&[("self", &own), ("dep", &dep)]) {
            Ok(true) => "true",
            Ok(false) => "false",
            Err(Trouble::Fails(_)) => "fails",
            Err(Trouble::Beyond(_)) => "beyond",
        },
    }
}

fn all(cases: &[(&str, &str)]) {
    for (text, want) in cases {
        assert_eq!(comes_to(text), *want, "{text}");
    }
}

#[test]
fn f_262_fields_are_followed() {
    all(&[
        ("dep.spec.values.go == 'yes'", "true"),
        ("dep.metadata.namespace == self.metadata.namespace", "true"),
        (
            "has(dep.spec.values) && has(self.spec.dependsOn) && dep.metadata.name == self.spec.dependsOn[0].name",
            "true",
        ),
        ("dep.metadata.labels['x-y'] == \"1\"", "true"),
        ("dep.status.noSuchField == 'x'", "fails"),
        ("has(dep.status.noSuchField)", "false"),
        ("has(dep.noSuch.field)", "fails"),
        ("has(dep.metadata.name.x)", "fails"),
        ("'tier' in dep.metadata.labels && !('app' in dep.metadata.labels)", "true"),
        ("dep.spec.values.none == null", "true"),
        ("dep.spec.values.list[2] == 3", "true"),
        ("dep.spec.values.list[3] == 3", "fails"),
        ("dep.spec.values.list['a'] == 3", "fails"),
    ]);
}

#[test]
fn f_262_macros_go_over_lists_and_keys() {
    all(&[
        ("dep.status.conditions.filter(c, c.type == 'Ready').all(c, c.status == 'True')", "true"),
        ("dep.status.conditions.exists(c, c.type == 'Stalled')", "false"),
        ("dep.status.conditions.exists_one(c, c.type == 'Ready')", "true"),
        ("dep.status.conditions.map(c, c.type) == ['Ready', 'Released']", "true"),
        ("dep.status.conditions.map(c, has(c.reason), c.reason) == ['InstallSucceeded']", "true"),
        ("dep.metadata.labels.all(k, k.size() > 2)", "true"),
        // What decides is not kept from it by what fails beside it.
        ("dep.status.conditions.exists(c, c.reason == 'InstallSucceeded')", "true"),
        ("dep.status.conditions.all(c, c.reason == 'InstallSucceeded')", "fails"),
        ("dep.status.conditions.exists_one(c, c.reason == 'InstallSucceeded')", "fails"),
        ("dep.status.noSuch || true", "true"),
        ("false && dep.status.noSuch", "false"),
        ("dep.status.noSuch && true", "fails"),
        ("dep.metadata.name.all(c, true)", "fails"),
        ("[].all(x, false) && ![].exists(x, true)", "true"),
        ("'abc'.all(x, true)", "refused"),
        ("dep.status.conditions.all(c.x, true)", "refused"),
    ]);
}

#[test]
fn f_262_operators_and_numbers() {
    all(&[
        ("1 + 2 * 3 == 7 && (1 + 2) * 3 == 9 && 7 / 2 == 3 && -7 % 3 == -1", "true"),
        (
            "dep.spec.values.n == 3 && dep.spec.values.n == 3.0 && dep.spec.values.f < 2 && 1u < dep.spec.values.f",
            "true",
        ),
        ("0x1F == 31 && 1e3 == 1000.0 && .5 < 1.0", "true"),
        ("1 == 1.0", "refused"),
        ("1 < 1.5 && 2u > 1", "true"),
        ("1 / 0 == 1", "fails"),
        ("9223372036854775807 + 1 > 0", "fails"),
        ("-9223372036854775808 < 0", "true"),
        ("9223372036854775808 > 0", "refused"),
        ("dep.metadata.generation == dep.status.observedGeneration ? true : false", "true"),
        ("!dep.spec.values.flag", "false"),
        ("!!dep.spec.values.flag", "true"),
        ("!dep.spec.values.go", "fails"),
        ("'a' + 'b' == 'ab' && [1] + [2] == [1, 2] && {'a': 1}.a == 1 && {1: 'x'}[1] == 'x'", "true"),
        ("{'a': 1, 'a': 2}.size() == 2", "fails"),
        ("int('5') == 5 && string(5) == '5' && double(2) == 2.0 && uint(3) == 3u && bool('true')", "true"),
        ("int('x') == 5", "fails"),
    ]);
}

#[test]
fn f_262_texts_and_sets() {
    all(&[
        (r#"'\u00e9\x41\n\'' == "éA\n'" && r'\n' == '\\n' && '''a'b''' == "a'b""#, "true"),
        ("dep.metadata.name.startsWith('a') && 'abc'.endsWith('bc') && 'abc'.contains('b')", "true"),
        ("'v1.2.3'.matches('^v[0-9.]+$')", "true"),
        ("'a,b'.split(',') == ['a', 'b'] && ['a', 'b'].join('-') == 'a-b' && 'aXa'.replace('a', 'b') == 'bXb'", "true"),
        (
            "'hello'.substring(1, 3) == 'el' && 'Hi'.lowerAscii() == 'hi' && ' x '.trim() == 'x' && 'abc'.indexOf('c') == 2",
            "true",
        ),
        ("'abc'.substring(2, 9) == ''", "fails"),
        (
            "sets.contains([1, 2, 3], dep.spec.values.list) && sets.intersects([1], [1, 2]) && !sets.equivalent([1], [2])",
            "true",
        ),
        ("base64.encode(b'hi') == 'aGk=' && base64.decode('aGk=') == b'hi'", "true"),
        ("size(dep.status.conditions) == 2 && size('é') == 1", "true"),
    ]);
}

#[test]
fn f_72_f_262_what_is_wrong_is_found_without_an_object() {
    for text in [
        "",
        "(((",
        "dep.metadata.name ==",
        "dep.metadata.name",
        "dep.spec.values.flag",
        "data.x ===",
        "1",
        "'x'",
        "dep.",
        "dep..x",
        "has(dep)",
        "has()",
        "foo(dep)",
        "dep.foo()",
        "other.x == 1",
        "'a' && true",
        "1 + 'a' == 2",
        "'open",
        "dep.x == 'a' dep",
        "[1, 2",
        "{'a'}",
        "dep.x = 1",
        "a.b.c",
        "if == 1",
        "dep.in == 1",
        "#",
        "1 ? true : false",
        "true ? 1 : 2",
        "[true]",
        "'\\q' == ''",
        "!1",
        "-'a' == 'b'",
        "size(1) == 1",
        "dep.x(",
        "dep.x.startsWith(1)",
    ] {
        assert_eq!(comes_to(text), "refused", "{text}");
    }
    let deep = format!("{}true{}", "(".repeat(500), ")".repeat(500));
    assert_eq!(comes_to(&deep), "refused");
    let long = format!("dep{} == 1", ".x".repeat(500));
    assert_eq!(comes_to(&long), "refused");
    assert!(Expression::well_formed("data.x === 1").is_err());
    assert!(Expression::well_formed("status.x == 1").is_ok());
}

#[test]
fn f_262_what_is_not_known_here_leaves_the_answer_open() {
    for text in
        ["timestamp(dep.x) < timestamp('2024-01-01T00:00:00Z')", "duration('1h') > duration('1m')", "type(dep) == map"]
    {
        assert_eq!(comes_to(text), "beyond", "{text}");
    }
    // Work is bounded.
    let list = format!("[{}]", vec!["1"; 200].join(","));
    let nested = format!("{list}.all(a, {list}.all(b, {list}.all(c, {list}.all(d, a + b + c + d > 0))))");
    assert_eq!(comes_to(&nested), "beyond");
}
