//! What the post-renderer makes of a document: the next generation of the library, then JSON, then YAML (F-350–F-358).

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value as Json};

use super::emit::{through_json_key, through_json_text};
use super::node::{Kind, Node, Style};
use super::resolve::{AliasCount, is_merge_tag, json_float, lossy};
use super::scalar::{self, Scalar};
use crate::codec::goquote::quote;
use crate::codec::{base64, float};

pub(super) const TAG_PREFIX: &str = "tag:yaml.org,2002:";

/// The JSON a node means after post-rendering: only `true` and `false` are truth words, dates become RFC 3339 text,
/// explicit keys win over merged ones.
///
/// # Errors
/// The text that Flux shows behind its dump of the map: `yaml: unmarshal errors:\n  line 3: mapping key "a" already
/// defined at line 2` (F-354), `json: unsupported type: map[interface {}]interface {}` (F-353), `duplicate merge key`
/// (F-355), `yaml: control characters are not allowed` (F-358) and others.
pub fn to_json_v3(node: Node<'_>) -> Result<Json, String> {
    let mut decoder = Decoder {
        aliases: AliasCount::default(),
        depth: 0,
        duplicates: Vec::new(),
        general_map: false,
        unsupported: None,
    };
    let json = decoder.decode(node, true)?;
    if !decoder.duplicates.is_empty() {
        return Err(format!("yaml: unmarshal errors:\n  {}", decoder.duplicates.join("\n  ")));
    }
    if decoder.general_map {
        return Err("json: unsupported type: map[interface {}]interface {}".into());
    }
    match decoder.unsupported {
        Some(number) => Err(format!("json: unsupported value: {}", float::g(number))),
        None => Ok(json),
    }
}

struct Decoder {
    aliases: AliasCount,
    depth: usize,
    /// Repeated keys, told all at once at the end.
    duplicates: Vec<String>,
    /// A map below the top has keys that are no strings: JSON refuses it.
    general_map: bool,
    /// An infinity or NaN.
    unsupported: Option<f64>,
}

impl Decoder {
    fn decode(&mut self, node: Node<'_>, top: bool) -> Result<Json, String> {
        self.aliases.count().map_err(yaml)?;
        if self.depth > super::MAX_DEPTH {
            return Err(yaml(format!("exceeded max depth of {}", super::MAX_DEPTH)));
        }
        self.depth += 1;
        let json = match node.kind() {
            Kind::Alias => self.through(node, |d, target| d.decode(target, top)),
            Kind::Scalar(text, style) => self.scalar(text, style, node.tag()),
            Kind::Seq => node.items().map(|item| self.decode(item, false)).collect::<Result<_, _>>().map(Json::Array),
            Kind::Map => self.map(node, top),
        };
        self.depth -= 1;
        json
    }

    fn through<'d, T>(
        &mut self,
        alias: Node<'d>,
        then: impl FnOnce(&mut Self, Node<'d>) -> Result<T, String>,
    ) -> Result<T, String> {
        self.aliases.enter(alias).map_err(yaml)?;
        let result = then(self, alias.target());
        self.aliases.leave(alias);
        result
    }

    fn scalar(&mut self, text: &str, style: Style, tag: Option<&str>) -> Result<Json, String> {
        let found = match tag {
            Some("!") => scalar::resolve(text),
            None if style == Style::Plain => scalar::resolve(text),
            None => Scalar::Str,
            Some(tag) => match tag.strip_prefix(TAG_PREFIX) {
                Some("binary") => {
                    let bytes = base64::decode_lenient(text.as_bytes())
                        .ok_or_else(|| yaml("!!binary value contains invalid base64 data".to_owned()))?;
                    return string(&lossy(bytes));
                }
                Some(name @ ("bool" | "int" | "float" | "null" | "timestamp")) => {
                    let found = modern(scalar::resolve_with(text, name == "timestamp"), text);
                    match (name, found) {
                        ("float", Scalar::Int(int)) => Scalar::Float(int as f64),
                        _ if found.short_tag().strip_prefix("!!") == Some(name) => found,
                        _ => {
                            let found = found.short_tag();
                            return Err(yaml(format!("cannot decode {found} `{text}` as a !!{name}")));
                        }
                    }
                }
                _ => Scalar::Str,
            },
        };
        match modern(found, text) {
            Scalar::Null => Ok(Json::Null),
            Scalar::Bool(b) => Ok(Json::Bool(b)),
            Scalar::Int(int) => Ok(Json::from(int)),
            Scalar::Uint(uint) => Ok(Json::from(uint as f64)),
            Scalar::Float(number) if number.is_finite() => Ok(json_float(number)),
            Scalar::Float(number) => {
                self.unsupported.get_or_insert(number);
                Ok(Json::Null)
            }
            Scalar::Timestamp => Ok(Json::String(rfc3339(text))),
            Scalar::Str => string(text),
        }
    }

    fn map(&mut self, node: Node<'_>, top: bool) -> Result<Json, String> {
        let mut entries = BTreeMap::new();
        self.fill(node, top, &mut entries)?;
        let is_set = node.tag().and_then(|t| t.strip_prefix(TAG_PREFIX)) == Some("set");
        let mut map = Map::new();
        for (key, value) in entries {
            let value = if is_set && value.is_null() { Json::String(String::new()) } else { value };
            map.insert(key, value);
        }
        Ok(Json::Object(map))
    }

    /// Adds the entries of a mapping that are not there yet; merged ones last.
    fn fill(&mut self, map: Node<'_>, top: bool, entries: &mut BTreeMap<String, Json>) -> Result<(), String> {
        if self.find_duplicates(map)? {
            return Ok(());
        }
        let mut merged = None;
        let mut own = Vec::with_capacity(map.entries().len());
        for (key, value) in map.entries() {
            if is_merge(key) {
                merged = Some(value);
                continue;
            }
            let Kind::Scalar(text, style) = key.target().kind() else {
                self.general_map = true;
                continue;
            };
            if text == "<<" && style != Style::Plain {
                continue;
            }
            let tag = key.target().tag();
            let stringy = match tag {
                None => style != Style::Plain || modern(scalar::resolve(text), text) == Scalar::Str,
                Some("!") => modern(scalar::resolve(text), text) == Scalar::Str,
                Some(tag) => {
                    let name = tag.strip_prefix(TAG_PREFIX);
                    !matches!(name, Some("bool" | "int" | "float" | "null" | "timestamp"))
                }
            };
            let null = tag.is_none() && style == Style::Plain && scalar::resolve(text) == Scalar::Null;
            self.general_map |= null || (!stringy && !top);
            self.aliases.count().map_err(yaml)?;
            let value = self.decode(value, false)?;
            own.push((through_json_key(text).map_err(yaml)?, value));
        }
        // In a merge the entries that are there already win; inside one map there are no repeated keys.
        for (key, value) in own {
            entries.entry(key).or_insert(value);
        }
        match merged {
            Some(node) => self.merge(node, entries),
            None => Ok(()),
        }
    }

    fn merge(&mut self, node: Node<'_>, entries: &mut BTreeMap<String, Json>) -> Result<(), String> {
        match node.kind() {
            Kind::Seq => node.items().try_for_each(|item| self.merge_one(item, entries)),
            _ => self.merge_one(node, entries),
        }
    }

    fn merge_one(&mut self, node: Node<'_>, entries: &mut BTreeMap<String, Json>) -> Result<(), String> {
        if !matches!(node.target().kind(), Kind::Map) {
            return Err(yaml("map merge requires map or sequence of maps as the value".to_owned()));
        }
        self.aliases.count().map_err(yaml)?;
        self.depth += 1;
        if self.depth > super::MAX_DEPTH {
            return Err(yaml(format!("exceeded max depth of {}", super::MAX_DEPTH)));
        }
        // The merged map stands for keys of this one, whose kind of keys counts: it is as if at the top.
        let result = match node.kind() {
            Kind::Alias => self.through(node, |d, target| d.fill(target, true, entries)),
            _ => self.fill(node, true, entries),
        };
        self.depth -= 1;
        result
    }

    /// Notes repeated keys, which are compared as written: `5` and `'5'` are the same.
    fn find_duplicates(&mut self, map: Node<'_>) -> Result<bool, String> {
        let mut lines: HashMap<(bool, &str), Vec<u32>> = HashMap::new();
        let mut order = Vec::new();
        let mut merges = 0;
        for (key, _) in map.entries() {
            merges += usize::from(is_merge(key));
            let name = match key.kind() {
                Kind::Scalar(text, _) => (false, text),
                Kind::Alias => (true, key.target().anchor().unwrap_or_default()),
                Kind::Map | Kind::Seq => continue,
            };
            let seen = lines.entry(name).or_default();
            if seen.is_empty() {
                order.push(name);
            }
            seen.push(key.span().start.line);
        }
        if merges > 1 {
            return Err("duplicate merge key".into());
        }
        let before = self.duplicates.len();
        for name in order {
            let Some(seen) = lines.get(&name) else { continue };
            // All pairs, as the real one tells them; a bound keeps this from growing with the square.
            for (index, first) in seen.iter().enumerate().take(MAX_PAIRS) {
                for again in seen.iter().skip(index + 1).take(MAX_PAIRS) {
                    self.duplicates.push(format!(
                        "line {again}: mapping key {} already defined at line {first}",
                        quote(name.1.as_bytes())
                    ));
                }
            }
        }
        Ok(self.duplicates.len() > before)
    }
}

/// Most repetitions of one key that are told one by one.
const MAX_PAIRS: usize = 100;

fn yaml(problem: impl std::fmt::Display) -> String {
    format!("yaml: {problem}")
}

fn string(text: &str) -> Result<Json, String> {
    through_json_text(text).map(|text| Json::String(text.into_owned())).map_err(yaml)
}

/// The truth words of YAML 1.1 other than true and false are strings to this generation (F-350).
pub(super) fn modern(found: Scalar, text: &str) -> Scalar {
    match found {
        Scalar::Bool(_) if !scalar::is_truth_word(text) => Scalar::Str,
        other => other,
    }
}

pub(super) fn is_merge(key: Node<'_>) -> bool {
    match (key.kind(), key.tag()) {
        (Kind::Scalar("<<", Style::Plain), None | Some("!")) => true,
        (Kind::Scalar("<<", _), Some(tag)) => is_merge_tag(tag),
        _ => false,
    }
}

/// A date or time as Go's JSON prints it (F-351).
fn rfc3339(text: &str) -> String {
    let Some(found) = scalar::timestamp(text) else { return text.to_owned() };
    let (year, month, day) = found.date;
    let (hour, minute, second) = found.time;
    let nanos = found.fraction.get(..9).unwrap_or(found.fraction).trim_end_matches('0');
    let fraction = if nanos.is_empty() { String::new() } else { format!(".{nanos}") };
    let zone = match found.offset {
        0 => "Z".to_owned(),
        minutes => {
            let sign = if minutes < 0 { '-' } else { '+' };
            let minutes = minutes.unsigned_abs();
            format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
        }
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::yaml::parse_first;

    fn rendered(text: &str) -> Result<Json, String> {
        let document = parse_first(text.as_bytes()).map_err(|e| e.text)?.expect("a document");
        to_json_v3(document.root())
    }

    #[test]
    fn scalars_change_as_the_post_renderer_changes_them() {
        for (text, json) in [
            ("a: yes\nb: on\nc: true\ny: n", r#"{"a":"yes","b":"on","c":true,"y":"n"}"#),
            ("a: 2024-01-02", r#"{"a":"2024-01-02T00:00:00Z"}"#),
            ("a: 2024-01-02 03:04:05", r#"{"a":"2024-01-02T03:04:05Z"}"#),
            ("a: 2024-1-2T3:4:5.100Z", r#"{"a":"2024-01-02T03:04:05.1Z"}"#),
            ("a: 2024-01-02T03:04:05+00:00", r#"{"a":"2024-01-02T03:04:05Z"}"#),
            ("a: 2024-01-02T03:04:05.1234567899-05:30", r#"{"a":"2024-01-02T03:04:05.123456789-05:30"}"#),
            ("a: 2024-01-02T03:04:05-0500", r#"{"a":"2024-01-02T03:04:05-0500"}"#),
            ("a: '2024-01-02'\nb: !!str 2024-01-02", r#"{"a":"2024-01-02","b":"2024-01-02"}"#),
            ("a: ! 5\nb: 010\nc: 1.0", r#"{"a":5,"b":8,"c":1}"#),
            ("a: !!set {x, z}", r#"{"a":{"x":"","z":""}}"#),
            ("010: x", r#"{"010":"x"}"#),
            ("b: &b {x: 1, z: 2}\nc: {x: 0, <<: *b}", r#"{"b":{"x":1,"z":2},"c":{"x":0,"z":2}}"#),
            ("c: {<<: [{x: 1}, {x: 2, z: 3}]}", r#"{"c":{"x":1,"z":3}}"#),
            ("c: {\"<<\": {x: 1}, z: 2}", r#"{"c":{"z":2}}"#),
            ("a: \"x\\Ny\"", r#"{"a":"x y"}"#),
        ] {
            assert_eq!(rendered(text).map(|j| j.to_string()).as_deref(), Ok(json), "{text:?}");
        }
    }

    #[test]
    fn what_the_post_renderer_refuses() {
        for (text, error) in [
            ("a: {8080: x}", "json: unsupported type: map[interface {}]interface {}"),
            ("a: {true: x}", "json: unsupported type: map[interface {}]interface {}"),
            ("a: {2024-01-02: x}", "json: unsupported type: map[interface {}]interface {}"),
            ("a: 1\nb: 2\na: 3", "yaml: unmarshal errors:\n  line 3: mapping key \"a\" already defined at line 1"),
            ("m:\n  5: 1\n  '5': 2", "yaml: unmarshal errors:\n  line 3: mapping key \"5\" already defined at line 2"),
            ("a: {<<: {x: 1}, <<: {z: 2}}", "duplicate merge key"),
            ("a: !!bool yes", "yaml: cannot decode !!str `yes` as a !!bool"),
            ("a: .inf", "json: unsupported value: +Inf"),
            ("a: \"\\x7f\"", "yaml: control characters are not allowed"),
            ("a: &a [*a]", "yaml: anchor 'a' value contains itself"),
        ] {
            assert_eq!(rendered(text), Err(error.to_owned()), "{text:?}");
        }
    }
}
