//! The YAML writers: outputs of the real Helm, marks, and the way back through the parser.

use super::*;
use crate::codec::json;
use crate::value::origin::Origin;
use crate::value::{OriginSet, Origins, Text, TextBuilder};

fn value(json_text: &str) -> Value {
    json::parse(json_text.as_bytes()).expect("test input is JSON")
}

fn to_yaml(json_text: &str) -> String {
    emit(&value(json_text), &Origins::new(false)).map_or_else(|e| e, |t| t.lossy().into_owned())
}

fn to_yaml_pretty(json_text: &str) -> String {
    emit_pretty(&value(json_text), &Origins::new(false)).map_or_else(|e| e, |t| t.lossy().into_owned())
}

#[test]
fn to_yaml_prints_what_helm_prints() {
    let long = "lorem ipsum dolor ".repeat(5);
    for (json, yaml) in [
        (r#""yes""#.to_owned(), "\"yes\"".to_owned()),
        ("null".into(), "null".into()),
        ("[]".into(), "[]".into()),
        (r#"[1,"two",{"k":[1,2]},["x"]]"#.into(), "- 1\n- two\n- k:\n  - 1\n  - 2\n- - x".into()),
        (
            r#"{"big":9007199254740993,"f2":1e3,"f5":1e21,"f6":1e-7,"e":{},"l":[],"n":null}"#.into(),
            "big: 9007199254740992\ne: {}\nf2: 1000\nf5: 1e+21\nf6: 1e-07\nl: []\n\"n\": null".into(),
        ),
        (r#"{"a10":1,"a2":2,"B":3,"":4}"#.into(), "\"\": 4\nB: 3\na2: 2\na10: 1".into()),
        (r#"{"k":"a\nb\n\n"}"#.into(), "k: |+\n  a\n  b\n".into()),
        (r#"{"k":"a\tb\nc"}"#.into(), r#"k: "a\tb\nc""#.into()),
        (r#"{"k":"x\u0085y"}"#.into(), "k: x y".into()),
        (r#"{"k":"x \u0085 \u0085y"}"#.into(), "k: |-\n  x\n  y".into()),
        (r#"{"k":"😀"}"#.into(), r#"k: "\U0001F600""#.into()),
        (r#"{"a\u0085b":1}"#.into(), "yaml: line 1: did not find expected ',' or '}'".into()),
        (format!(r#"{{"{}":1}}"#, "k".repeat(1023)), "yaml: did not find expected ',' or '}'".into()),
        (r#"{"k":12345678901234567890}"#.into(), "k: 12345678901234567000".into()),
        (format!(r#"{{"k":"{long}"}}"#), format!("k: '{}lorem\n  ipsum dolor '", "lorem ipsum dolor ".repeat(4))),
        (r#"{"k":"a\u007f"}"#.into(), "yaml: control characters are not allowed".into()),
    ] {
        assert_eq!(to_yaml(&json), yaml, "{json}");
    }
    assert_eq!(
        emit(&Value::float(f64::INFINITY), &Origins::new(false)),
        Err("error marshaling into JSON: json: unsupported value: +Inf".into())
    );
}

#[test]
fn to_yaml_pretty_indents_lists_and_does_not_fold() {
    let long = "lorem ipsum dolor ".repeat(9);
    for (json, yaml) in [
        (r#"{"b":[1,[2,[3]],{"d":1}]}"#.to_owned(), "b:\n  - 1\n  - - 2\n    - - 3\n  - d: 1".to_owned()),
        (r#"{"k":"a\tb\nc"}"#.into(), "k: |-\n  a\tb\n  c".into()),
        (r#"{"k":"a\u007f"}"#.into(), r#"k: "a\x7F""#.into()),
        (r#"{"a1-":2,"a1b":1,"zy":9007199254740993}"#.into(), "a1b: 1\na1-: 2\nzy: 9.007199254740992e+15".into()),
        (format!(r#"{{"k":"{long}x"}}"#), format!("k: {long}x")),
    ] {
        assert_eq!(to_yaml_pretty(&json), yaml, "{json}");
    }
}

/// The bytes of a text that came from `set`, ranges joined by `|`.
fn marked(text: &Text, set: OriginSet, origins: &Origins) -> String {
    let wanted = origins.ids(set);
    let ranges = text.marks().iter().filter(|m| origins.ids(m.origins).iter().any(|id| wanted.contains(id)));
    let ranges: Vec<String> =
        ranges.map(|m| text.slice(m.start as usize, m.end as usize).lossy().into_owned()).collect();
    ranges.join("|")
}

#[test]
fn marks_of_strings_reach_the_bytes_they_become() {
    let origins = Origins::new(true);
    let fact = origins.only(Origin::KubeVersion);
    let part = |before: &str, from_fact: &str, after: &str| {
        let mut builder = TextBuilder::default();
        builder.push(before.as_bytes(), OriginSet::EMPTY);
        builder.push(from_fact.as_bytes(), fact);
        builder.push(after.as_bytes(), OriginSet::EMPTY);
        Value::text_in(builder.finish(), &origins)
    };
    for (string, yaml, bytes) in [
        (part("host-", "fact", ".example"), "k: host-fact.example", "fact"),
        (part("a\n", "fact", "\nb"), "k: |-\n  a\n  fact\n  b", "|-\n|  fact"),
        (part("", "7", ""), "k: \"7\"", "\"7\""),
        (part("a\t", "f\"t", ""), r#"k: "a\tf\"t""#, r#""|f\"t""#),
    ] {
        let map = Value::map([(Text::from("k"), string)].into());
        let text = emit(&map, &origins).expect("it marshals");
        assert_eq!(text.lossy(), yaml);
        assert_eq!(marked(&text, fact, &origins), bytes, "{yaml}");
        let json = json::emit(&map, &origins).expect("it marshals");
        assert!(!json.marks().is_empty());
    }
}

#[test]
fn origins_of_numbers_and_containers_reach_their_bytes() {
    let origins = Origins::new(true);
    let fact = origins.only(Origin::KubeVersion);
    let number = Value::float(3.0).under(fact, &origins);
    let map = Value::map([(Text::from("a"), number), (Text::from("b"), Value::bool(true))].into());
    let text = emit(&map, &origins).expect("it marshals");
    assert_eq!(marked(&text, fact, &origins), " 3");
    // A map that depends on a fact as a whole (a branch chose it) marks all of its bytes.
    let text = emit(&map.under(fact, &origins), &origins).expect("it marshals");
    assert_eq!(marked(&text, fact, &origins), "a: 3\nb: true");
}

#[test]
fn a_located_map_marks_its_keys_and_leaves_mark_themselves() {
    use crate::value::origin::{Layer, Origin::Value as Leaf};
    let origins = Origins::new(true);
    let layer = Layer::Chart("app".into());
    let place = |path: &str| origins.intern(Leaf { layer: layer.clone(), path: path.into() });
    let leaf = Value::text("x").located(place(".m.a"), &origins);
    let map = Value::map([(Text::from("a"), leaf)].into()).located(place(".m"), &origins);
    let text = emit(&map, &origins).expect("it marshals");
    assert_eq!(marked(&text, origins.single(place(".m")), &origins), "a:");
    assert_eq!(marked(&text, origins.single(place(".m.a")), &origins), " x");
}

#[test]
fn holes_print_their_label() {
    let hole = Value::new(Repr::Hole(std::rc::Rc::new(crate::value::Hole { label: "<Secret a/b .data.x>".into() })));
    let text = emit(&Value::map([(Text::from("k"), hole)].into()), &Origins::new(false));
    assert_eq!(text.map(|t| t.lossy().into_owned()).as_deref(), Ok("k: <Secret a/b .data.x>"));
}

#[test]
fn a_knot_is_an_error_and_not_a_hang() {
    let map = Value::map(BTreeMap::new());
    if let Repr::Map(inner) = map.repr() {
        inner.insert("self", map.clone());
    }
    assert!(emit(&map, &Origins::new(false)).is_err());
    assert!(json::emit(&map, &Origins::new(false)).is_err());
    if let Repr::Map(inner) = map.repr() {
        inner.entries_mut().clear();
    }
}

/// A small deterministic generator (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }

    /// `<<` is left out: it is written plain, and is a merge when read (so does Helm).
    fn string(&mut self) -> String {
        const PIECES: &[&str] = &[
            "",
            "a",
            "yes",
            "null",
            "~",
            "0x1F",
            "1e3",
            ".5",
            "1:30",
            "2024-01-02",
            "- ",
            "? ",
            ": ",
            " #",
            "#",
            "'",
            "\"",
            "\\",
            "\t",
            "\n",
            "\n\n",
            " ",
            "  ",
            "é",
            "日本",
            "😀",
            "\u{a0}",
            "\u{2028}",
            "\u{feff}",
            "\u{7}",
            "\r",
            "{",
            "[",
            "}",
            "&",
            "*",
            "!",
            "|",
            ">",
            "%",
            "@",
            "`",
            "---",
            "...",
            "lorem ipsum dolor sit amet ",
        ];
        (0..=self.roll(5)).map(|_| PIECES[self.roll(PIECES.len())]).collect()
    }

    fn tree(&mut self, depth: usize) -> serde_json::Value {
        match self.roll(if depth > 4 { 6 } else { 10 }) {
            0 => serde_json::Value::Null,
            1 => self.roll(2).eq(&0).into(),
            2 => (self.roll(1 << 20) as f64 / 16.0 - 1000.0).into(),
            3..=5 => self.string().into(),
            6 | 7 => (0..self.roll(4)).map(|_| self.tree(depth + 1)).collect(),
            _ => {
                let entries = (0..self.roll(4)).map(|_| (self.string(), self.tree(depth + 1)));
                serde_json::Value::Object(entries.collect())
            }
        }
    }
}

#[test]
fn what_is_written_reads_back_as_the_same_value() {
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let origins = Origins::new(false);
    for _ in 0..2000 {
        let tree = json::value_from_json_floats(&dice.tree(0));
        let expected = json::go_compact(&json::value_to_json(&tree));
        // The pretty writer's blocks that begin with a tab cannot be read: Helm's cannot either.
        let pretty = if expected.contains("\\t") { emit(&tree, &origins) } else { emit_pretty(&tree, &origins) };
        for text in [emit(&tree, &origins), pretty] {
            // The final newline, which `toYaml` trims, can belong to a literal block.
            let text = format!("{}\n", text.expect("nothing in it is refused").lossy());
            let document = parse_first(text.as_bytes()).unwrap_or_else(|e| panic!("{e}:\n{text}"));
            let back = document.map_or(Ok(Value::NIL), |d| to_value(d.root())).expect("it resolves");
            assert_eq!(json::go_compact(&json::value_to_json(&back)), expected, "{text}");
        }
    }
}

#[test]
fn objects_print_as_kubectl_prints_them() {
    let object =
        serde_json::json!({"metadata": {"name": "a", "labels": {"x10": "1", "x9": "y"}}, "spec": {"n": 3, "f": 0.5}});
    let text = "metadata:\n  labels:\n    x9: \"y\"\n    x10: \"1\"\n  name: a\nspec:\n  f: 0.5\n  \"n\": 3\n";
    assert_eq!(emit_json(&object), text);
}
