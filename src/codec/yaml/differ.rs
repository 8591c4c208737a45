//! Where a document means one thing to Helm and another, or nothing, to the post-renderer (`F-350` to `F-358`).

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::emit::{through_json_key, through_json_text};
use super::node::{Kind, Node, Span, Style};
use super::resolve::{key_text, to_json};
use super::resolve3::{TAG_PREFIX, is_merge, modern, to_json_v3};
use super::scalar::{self, Scalar};

/// One place at which the readings differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The rule.
    pub rule: &'static str,
    /// The post-renderer refuses the document for it; otherwise it reads something else.
    pub refused: bool,
    /// Where in the object: `.data.a`, `.spec.ports[0]`.
    pub path: String,
    /// What happens to it. Texts of values are not told, except words and dates.
    pub text: String,
    /// Where in the document.
    pub span: Span,
}

/// The differences in a document that Helm itself can read, in the order of the text.
pub fn differences(root: Node<'_>) -> Vec<Difference> {
    let mut walk = Walk { found: Vec::new() };
    walk.node(root, &mut String::new(), 0);
    walk.found
}

/// Equality in which numbers are their values.
fn alike(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(x), Json::Number(y)) => x == y || x.as_f64() == y.as_f64(),
        (Json::Array(x), Json::Array(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| alike(x, y)),
        (Json::Object(x), Json::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(key, x)| y.get(key).is_some_and(|y| alike(x, y)))
        }
        _ => a == b,
    }
}

struct Walk {
    found: Vec<Difference>,
}

impl Walk {
    fn say(&mut self, rule: &'static str, refused: bool, path: &str, node: Node<'_>, text: String) {
        self.found.push(Difference { rule, refused, path: path.to_owned(), text, span: node.span() });
    }

    fn node(&mut self, node: Node<'_>, path: &mut String, depth: usize) {
        if depth > super::MAX_DEPTH {
            return;
        }
        match node.kind() {
            // What an alias stands for is told where it is written.
            Kind::Alias => {}
            Kind::Scalar(text, style) => self.scalar(node, text, style, path),
            Kind::Seq => {
                for (i, item) in node.items().enumerate() {
                    self.below(item, &format!("[{i}]"), path, depth);
                }
            }
            Kind::Map => self.map(node, path, depth),
        }
    }

    fn below(&mut self, node: Node<'_>, step: &str, path: &mut String, depth: usize) {
        let length = path.len();
        path.push_str(step);
        self.node(node, path, depth + 1);
        path.truncate(length);
    }

    fn scalar(&mut self, node: Node<'_>, text: &str, style: Style, path: &str) {
        let Ok(direct) = to_json(node) else { return };
        let plain = node.tag().is_none() && style == Style::Plain;
        match to_json_v3(node) {
            Ok(modern) if alike(&direct, &modern) => {}
            Err(_) if through_json_text(text).is_err() => {
                self.say("F-358", true, path, node, "a control character, which the post-renderer refuses".into());
            }
            Err(error) => self.say("F-352", true, path, node, format!("its tag is refused: {error}")),
            Ok(Json::String(_)) if plain && direct.is_boolean() => {
                let said = format!("`{text}` is {direct} to Helm, and the text {text:?} to the post-renderer");
                self.say("F-350", false, path, node, said);
            }
            Ok(Json::String(new)) if plain && scalar::resolve(text) == Scalar::Timestamp => {
                self.say("F-351", false, path, node, format!("`{text}` becomes the text {new:?}"));
            }
            Ok(_) if node.tag().is_some() => {
                self.say("F-352", false, path, node, "its tag means another type to the post-renderer".into());
            }
            Ok(_) => {
                let said = "a next-line character, which is read as a line break and folds";
                self.say("F-358", false, path, node, said.into());
            }
        }
    }

    fn map(&mut self, map: Node<'_>, path: &mut String, depth: usize) {
        let top = depth == 0;
        let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
        let mut merges = 0;
        for (key, value) in map.entries() {
            if is_merge(key) {
                merges += 1;
                if merges == 2 {
                    self.say("F-355", true, path, key, "a second `<<` in one map, which is refused".into());
                }
                self.merge(map, key, value, path);
                self.below(value, ".<<", path, depth);
                continue;
            }
            // Keys that are no scalars, and aliases, fail or hold both ways.
            let Kind::Scalar(text, style) = key.kind() else {
                self.below(value, ".?", path, depth);
                continue;
            };
            if text == "<<" && style != Style::Plain {
                self.say("F-355", false, path, key, "a quoted \"<<\" key vanishes with its value".into());
                continue;
            }
            let line = key.span().start.line;
            if let Some(first) = seen.insert(text, line) {
                let said =
                    format!("key {text:?} is there twice, which is refused ({} lines above)", line.abs_diff(first));
                self.say("F-354", true, path, key, said);
            }
            self.key(key, text, style, top, path);
            let step = format!(".{text}");
            self.below(value, &step, path, depth);
        }
        if map.tag().and_then(|tag| tag.strip_prefix(TAG_PREFIX)) == Some("set") && !map.entries().len().eq(&0) {
            self.say("F-352", false, path, map, "members of a !!set become empty texts".into());
        }
    }

    fn key(&mut self, key: Node<'_>, text: &str, style: Style, top: bool, path: &str) {
        if through_json_key(text).is_err() {
            let said = "a key that is too long or holds a control character, which the post-renderer refuses";
            return self.say("F-358", true, path, key, said.into());
        }
        let plain = match key.tag() {
            None => style == Style::Plain,
            Some(tag) => tag == "!",
        };
        let found = scalar::resolve(text);
        if !plain || found == Scalar::Null {
            return;
        }
        let direct = key_text(key).unwrap_or_else(|_| text.to_owned());
        match modern(found, text) {
            Scalar::Str if direct != text => {
                let said = format!("key `{text}` is {direct:?} to Helm, and stays {text:?} to the post-renderer");
                self.say("F-350", false, path, key, said);
            }
            Scalar::Str => {}
            _ if !top => {
                let said = format!("key `{text}` is no text, which is refused below the top of a document: quote it");
                self.say("F-353", true, path, key, said);
            }
            _ if direct != text => {
                let said = format!("key `{text}` is {direct:?} to Helm, and stays {text:?} to the post-renderer");
                self.say("F-353", false, path, key, said);
            }
            _ => {}
        }
    }

    /// Keys in front of a `<<` that it overrides for Helm, and that win for the post-renderer.
    fn merge(&mut self, map: Node<'_>, merge: Node<'_>, value: Node<'_>, path: &str) {
        let from = match value.target().kind() {
            Kind::Seq => value.target().items().map(Node::target).collect(),
            _ => vec![value.target()],
        };
        let merged: BTreeMap<&str, Node<'_>> = from
            .into_iter()
            .rev()
            .filter(|node| matches!(node.kind(), Kind::Map))
            .flat_map(|node| node.entries().filter_map(|(key, value)| Some((key.target().text()?, value))))
            .collect();
        let before = map.entries().take_while(|(key, _)| key.span() != merge.span());
        for (key, own) in before {
            let Some(other) = key.text().and_then(|text| merged.get(text)) else { continue };
            let same = matches!((to_json(own), to_json(*other)), (Ok(a), Ok(b)) if a == b);
            if !same {
                let name = key.text().unwrap_or_default();
                let said =
                    format!("key {name:?} stands before `<<`: Helm takes the merged value, the post-renderer this one");
                self.say("F-355", false, path, key, said);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::yaml::parse_first;

    fn told(text: &str) -> Vec<(&'static str, bool, String)> {
        let document = parse_first(text.as_bytes()).unwrap().unwrap();
        assert!(to_json(document.root()).is_ok(), "{text:?} is read by Helm");
        let found = differences(document.root());
        let refused = to_json_v3(document.root()).is_err();
        assert_eq!(refused, found.iter().any(|d| d.refused), "{text:?}: {found:?}");
        if !refused {
            let same = alike(&to_json(document.root()).unwrap(), &to_json_v3(document.root()).unwrap());
            assert_eq!(same, found.is_empty(), "{text:?}: {found:?}");
        }
        found.into_iter().map(|d| (d.rule, d.refused, d.path)).collect()
    }

    #[test]
    fn each_place_is_told_with_its_rule() {
        for (text, rule, refused, path) in [
            ("a: {b: yes}", "F-350", false, ".a.b"),
            ("a: [no, x]", "F-350", false, ".a[0]"),
            ("a: {on: x}", "F-350", false, ".a"),
            ("a: 2024-01-02", "F-351", false, ".a"),
            ("a: ! 5", "F-352", false, ".a"),
            ("a: !!bool yes", "F-352", true, ".a"),
            ("a: !!set {x, z}", "F-352", false, ".a"),
            ("a: {8080: x}", "F-353", true, ".a"),
            ("a: {true: x}", "F-353", true, ".a"),
            ("010: x", "F-353", false, ""),
            ("a: 1\nb: 2\na: 3", "F-354", true, ""),
            ("a:\n  b: 1\n  'b': 2", "F-354", true, ".a"),
            ("b: &b {x: 1}\nc: {x: 0, <<: *b}", "F-355", false, ".c"),
            ("b: &b {x: 1}\nc: {<<: *b, <<: *b}", "F-355", true, ".c"),
            ("c: {\"<<\": {x: 1}, z: 2}", "F-355", false, ".c"),
            ("a: \"\\x7f\"", "F-358", true, ".a"),
            ("a: \"x\\Ny\"", "F-358", false, ".a"),
            ("\"a\\x7f\": 1", "F-358", true, ""),
        ] {
            assert_eq!(told(text), [(rule, refused, path.to_owned())], "{text:?}");
        }
        let long = format!("? {}\n: 1", "k".repeat(1030));
        assert_eq!(told(&long), [("F-358", true, String::new())]);
    }

    #[test]
    fn what_both_read_alike_is_not_told() {
        for text in [
            "a: true\nb: 'yes'\nc: \"no\"\nd: !!str yes\ne: y1",
            "a: '2024-01-02'\nb: 2024-02-30\nc: 24-1-1\nd: 2024-01-02T03:04:05-0500",
            "a: 010\nb: 1_000\nc: 1e3\nd: 0x1F\ne: ~\nf: 1:30\ng: 5.",
            "a: {'8080': x, \"true\": z}\n5: x",
            "b: &b {x: 1}\nc: {<<: *b, x: 0}\nd: {x: 1, <<: *b}\ne: [*b, *b]",
            "a: \"\\x01\\t\\L\"\nb: |\n  x\nc: >\n  x\n",
        ] {
            assert_eq!(told(text), [], "{text:?}");
        }
    }
}
