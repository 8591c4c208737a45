//! The values that the controller composes: inline, references, target paths (`F-40` to `F-54`).
//!
//! Maps and lists are shared between what goes in and what comes out, as in the controller: a write through a target
//! path may reach the inline values too (`F-52`).

use std::collections::BTreeMap;
use std::rc::Rc;

use data_encoding::BASE64;
use serde_json::Value as Json;

use super::decide::Check;
use super::digest::in_doubles;
use super::model::HelmRelease;
use crate::base::Known;
use crate::base::version::HelmVersion;
use crate::chart::set::{self, Mode};
use crate::cluster::object::ObjectKey;
use crate::cluster::snapshot::Facts;
use crate::codec::json::{value_from_json_floats, value_to_json};
use crate::codec::yaml::{self, Kind, Node};
use crate::diff;
use crate::value::{List, Map, MapType, Repr, Text, Value};

/// What composition gave.
#[derive(Debug, Clone, PartialEq)]
pub enum Composed {
    /// The values, and what happened silently on the way.
    Values {
        /// The values.
        json: Json,
        /// Silent faults, each with its rule (`F-40`, `F-53`).
        notes: Vec<Check>,
    },
    /// Which of two keys wins is drawn anew at every composition (`F-44b`).
    Drawn {
        /// Which keys of which object.
        what: String,
    },
    /// A referenced object was not collected.
    Missing {
        /// Which.
        what: String,
    },
    /// The controller stops with this text (`F-46`).
    Error(String),
}

/// Composes the values of a HelmRelease from what the cluster holds now, with the parser of target paths of the Helm inside.
pub fn compose(hr: &HelmRelease, facts: &dyn Facts, helm: HelmVersion) -> Composed {
    let mut notes = Vec::new();
    let inline = inline(hr, &mut notes);
    match layered(hr, facts, helm, &inline) {
        Ok((json, writes)) => {
            notes.extend(overridden(hr, facts, helm, (&inline, &json), writes));
            Composed::Values { json, notes }
        }
        Err(stop) => stop,
    }
}

/// Data that is written at a target path.
type Write = (Reference, Vec<u8>);

/// The values over this inline part, and the writes at target paths on the way (`F-41`).
fn layered(
    hr: &HelmRelease,
    facts: &dyn Facts,
    helm: HelmVersion,
    inline: &Map,
) -> Result<(Json, Vec<Write>), Composed> {
    let mut acc = Map::new(BTreeMap::new(), MapType::Any);
    let mut writes = Vec::new();
    for reference in hr.json.pointer("/spec/valuesFrom").and_then(Json::as_array).into_iter().flatten() {
        let source = Reference::read(reference, hr).map_err(Composed::Error)?;
        let Some(data) = source.data(facts)? else { continue };
        if source.target.is_empty() {
            if let Some(key) = drawn(&data) {
                let what =
                    format!("which of the keys that read {key:?} in {} wins, drawn at random (F-44b)", source.name);
                return Err(Composed::Drawn { what });
            }
            acc = merge(&acc, &parse(&data).map_err(|cause| Composed::Error(source.failed(&cause)))?, 0);
        } else {
            acc = merge(&acc, inline, 0);
            let mut before = Vec::new();
            lists(&acc, &mut Vec::new(), &mut before, 0);
            let written = write(&acc, &source.target, &data, source.literal, helm);
            share(&before, &acc, inline);
            written.map_err(|cause| Composed::Error(source.failed(&cause)))?;
            writes.push((source, data));
        }
    }
    let result = merge(&acc, inline, 0);
    Ok((value_to_json(&Value::new(Repr::Map(result))), writes))
}

/// Writes at target paths that are not seen in the result, but would be without the inline values (`F-53`).
fn overridden(
    hr: &HelmRelease,
    facts: &dyn Facts,
    helm: HelmVersion,
    (inline, result): (&Map, &Json),
    writes: Vec<Write>,
) -> Vec<Check> {
    let lost: Vec<Write> = writes.into_iter().filter(|write| !holds(result, write, helm)).collect();
    if lost.is_empty() || inline.entries().is_empty() {
        return Vec::new();
    }
    let Ok((alone, _)) = layered(hr, facts, helm, &Map::new(BTreeMap::new(), MapType::Any)) else { return Vec::new() };
    let by_inline = lost.into_iter().filter(|write| holds(&alone, write, helm));
    let said = by_inline.map(|(Reference { kind, namespace, name, key, target, .. }, _)| Check {
        rule: "F-53",
        text: format!(
            "the inline values override key {key:?} of {kind} {namespace}/{name} at targetPath {target:?}: what is written \
             there is lost"
        ),
    });
    said.collect()
}

/// Whether values stay as they are when a write is done again.
fn holds(values: &Json, (source, data): &Write, helm: HelmVersion) -> bool {
    let before = value_from_json_floats(values);
    let Some(map) = before.as_map().cloned() else { return true };
    let written = write(&map, &source.target, data, source.literal, helm);
    let after = value_to_json(&Value::new(Repr::Map(map)));
    written.is_err() || diff::equal(&in_doubles(values.clone()), &in_doubles(after))
}

fn inline(hr: &HelmRelease, notes: &mut Vec<Check>) -> Map {
    let empty = || Map::new(BTreeMap::new(), MapType::Any);
    let Some(json) = hr.json.pointer("/spec/values").filter(|v| v.is_object()) else { return empty() };
    if let Some(path) = swallowed(json, "spec.values") {
        let text = format!("the inline values cannot be read by the controller and count as empty: {path}");
        notes.push(Check { rule: "F-40", text });
        return empty();
    }
    value_from_json_floats(&folded(json.clone(), 0)).as_map().cloned().unwrap_or_else(empty)
}

/// Next-line characters in texts fold as line breaks do in quoted YAML (`F-40`).
fn folded(json: Json, depth: usize) -> Json {
    if depth > crate::value::MAX_DEPTH {
        return json;
    }
    match json {
        Json::String(text) if text.contains('\u{85}') => Json::String(fold(&text)),
        Json::Array(list) => Json::Array(list.into_iter().map(|item| folded(item, depth + 1)).collect()),
        Json::Object(map) => Json::Object(map.into_iter().map(|(k, v)| (k, folded(v, depth + 1))).collect()),
        other => other,
    }
}

/// One next-line character, with the spaces around it, is a space; of `n` there remain `n - 1` line breaks.
fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{85}') {
        out.push_str(rest[..at].trim_end_matches(' '));
        let run = rest[at..].trim_start_matches([' ', '\u{85}']);
        let breaks = rest[at..rest.len() - run.len()].matches('\u{85}').count();
        match breaks {
            1 => out.push(' '),
            n => out.extend(std::iter::repeat_n('\n', n - 1)),
        }
        rest = run;
    }
    out.push_str(rest);
    out
}

/// Where the controller's reading of inline values fails silently, if it does (`F-40`).
fn swallowed(json: &Json, path: &str) -> Option<String> {
    let bad = |text: &str, key: bool| {
        text.chars().any(|c| {
            matches!(c, '\u{7f}' | '\u{80}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
                || (key && c == '\u{85}')
        })
    };
    match json {
        Json::String(text) if bad(text, false) => Some(format!("{path} holds a control character")),
        Json::Array(list) => list.iter().enumerate().find_map(|(i, item)| swallowed(item, &format!("{path}[{i}]"))),
        Json::Object(map) => map.iter().find_map(|(k, v)| {
            if bad(k, true) {
                return Some(format!("{path} has the key {}, with a control character", k.escape_debug()));
            }
            if crate::codec::json::go_compact(&Json::String(k.clone())).chars().count() > 1024 {
                return Some(format!("{path} has a key of more than 1024 characters"));
            }
            swallowed(v, &format!("{path}.{k}"))
        }),
        _ => None,
    }
}

/// One entry of `spec.valuesFrom`.
pub(super) struct Reference {
    kind: String,
    namespace: String,
    name: String,
    key: String,
    /// Where its data goes; "" for the root.
    pub(super) target: String,
    optional: bool,
    /// Whether the data is taken as it is.
    pub(super) literal: bool,
}

impl Reference {
    /// Reads an entry.
    ///
    /// # Errors
    /// The controller's text for a kind that cannot be referenced.
    pub(super) fn read(json: &Json, hr: &HelmRelease) -> Result<Reference, String> {
        let text = |field: &str| json.get(field).and_then(Json::as_str).unwrap_or_default().to_owned();
        let flag = |field: &str| json.get(field).and_then(Json::as_bool).unwrap_or(false);
        let kind = text("kind");
        if kind != "ConfigMap" && kind != "Secret" {
            return Err(format!("unsupported values reference kind '{kind}'"));
        }
        let key = if text("valuesKey").is_empty() { "values.yaml".to_owned() } else { text("valuesKey") };
        Ok(Reference {
            kind,
            namespace: hr.namespace.clone(),
            name: text("name"),
            key,
            target: text("targetPath"),
            optional: flag("optional"),
            literal: flag("literal"),
        })
    }

    /// What the values that it gives are called: `Secret ns/name`, with the key unless it is the default one.
    pub(super) fn label(&self) -> String {
        let key = if self.key == "values.yaml" { String::new() } else { format!(" {}", self.key) };
        format!("{} {}/{}{key}", self.kind, self.namespace, self.name)
    }

    fn failed(&self, cause: &str) -> String {
        let optional = if self.optional { " optional" } else { "" };
        format!(
            "could not resolve{optional} {} chart values reference '{}/{}' with key '{}': {cause}",
            self.kind, self.namespace, self.name, self.key
        )
    }

    /// The referenced bytes; `None` if an optional one is missing.
    pub(super) fn data(&self, facts: &dyn Facts) -> Result<Option<Vec<u8>>, Composed> {
        let key = ObjectKey {
            group: String::new(),
            kind: self.kind.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        };
        let object = match facts.get(&key) {
            Known::Present(object) => object,
            Known::Absent if self.optional => return Ok(None),
            Known::Absent => {
                let plural = if self.kind == "Secret" { "secrets" } else { "configmaps" };
                return Err(Composed::Error(self.failed(&format!("{plural} {:?} not found", self.name))));
            }
            Known::Uncollected => return Err(Composed::Missing { what: key.to_string() }),
        };
        let Some(text) = object.json.get("data").and_then(|d| d.get(&self.key)).and_then(Json::as_str) else {
            if self.optional {
                return Ok(None);
            }
            return Err(Composed::Error(self.failed("key not found")));
        };
        if self.kind == "ConfigMap" {
            return Ok(Some(text.as_bytes().to_vec()));
        }
        match BASE64.decode(text.as_bytes()) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(_) => Err(Composed::Missing { what: format!("{key} (its data is redacted or no base64)") }),
        }
    }
}

/// Values out of the data of a reference.
pub(super) fn parse(data: &[u8]) -> Result<Map, String> {
    let value = yaml::helm_unmarshal_into(data, "common.Values")?;
    Ok(value.as_map().cloned().unwrap_or_else(|| Map::new(BTreeMap::new(), MapType::Any)))
}

/// A key that stands twice in one map, in different types and with different values: which one wins is drawn at random
/// (`F-44b`).
fn drawn(data: &[u8]) -> Option<String> {
    type Type = (std::mem::Discriminant<Repr>, bool);
    fn walk(node: Node<'_>, depth: usize) -> Option<String> {
        if depth > crate::value::MAX_DEPTH {
            return None;
        }
        match node.kind() {
            Kind::Seq => node.items().find_map(|item| walk(item, depth + 1)),
            Kind::Map => {
                let mut seen: BTreeMap<String, Vec<(Type, Node<'_>)>> = BTreeMap::new();
                for (key, value) in node.entries() {
                    if let (Ok(text), Ok(resolved)) = (yaml::key_text(key), yaml::to_value(key)) {
                        let is_number = matches!(resolved.repr(), Repr::Int(..) | Repr::Float(_));
                        let float = is_number && key.text().is_some_and(|t| t.contains(['.', 'e', 'E']));
                        let ty = (std::mem::discriminant(resolved.repr()), float);
                        let of_text = seen.entry(text).or_default();
                        // Of one type, the last one wins.
                        of_text.retain(|(other, _)| *other != ty);
                        of_text.push((ty, value));
                    }
                    if let Some(found) = walk(value, depth + 1) {
                        return Some(found);
                    }
                }
                let differ = |values: &[(Type, Node<'_>)]| {
                    values.windows(2).any(|pair| match (yaml::to_json(pair[0].1), yaml::to_json(pair[1].1)) {
                        (Ok(a), Ok(b)) => a != b,
                        _ => true,
                    })
                };
                seen.into_iter().find(|(_, values)| differ(values)).map(|(text, _)| text)
            }
            Kind::Scalar(..) | Kind::Alias => None,
        }
    }
    let document = yaml::parse_first(data).ok().flatten()?;
    walk(document.root(), 0)
}

/// A new map with `a`'s entries and `b`'s over them (`F-42`); what is on one side only is shared.
fn merge(a: &Map, b: &Map, depth: usize) -> Map {
    let mut entries = a.entries().clone();
    for (key, value) in b.entries().iter() {
        let both = entries.get(key).and_then(Value::as_map).cloned().zip(value.as_map().cloned());
        let merged = match both {
            Some((x, y)) if depth < crate::value::MAX_DEPTH => Value::new(Repr::Map(merge(&x, &y, depth + 1))),
            _ => value.clone(),
        };
        entries.insert(key.clone(), merged);
    }
    Map::new(entries, MapType::Any)
}

/// The lists of a tree, with the way to each; lists in lists belong to the outermost.
fn lists(map: &Map, way: &mut Vec<Text>, found: &mut Vec<(Vec<Text>, Rc<List>)>, depth: usize) {
    if depth > crate::value::MAX_DEPTH {
        return;
    }
    for (key, value) in map.entries().iter() {
        way.push(key.clone());
        match value.repr() {
            Repr::List(list) => found.push((way.clone(), list.clone())),
            Repr::Map(inner) => lists(inner, way, found, depth + 1),
            _ => {}
        }
        way.pop();
    }
}

/// An element that was overwritten is so wherever the list is shared; a list that grew is a new one (`F-52`).
fn share(before: &[(Vec<Text>, Rc<List>)], acc: &Map, inline: &Map) {
    for (way, old) in before {
        let mut here = Some(Value::new(Repr::Map(acc.clone())));
        for key in way {
            here = here.and_then(|v| v.as_map().and_then(|m| m.get(key.bytes())));
        }
        let Some(new) = here else { continue };
        if let Repr::List(list) = new.repr()
            && !Rc::ptr_eq(list, old)
            && list.items.len() == old.items.len()
        {
            replace(inline, old, &new, 0);
        }
    }
}

/// Puts `new` wherever `old` is.
fn replace(map: &Map, old: &Rc<List>, new: &Value, depth: usize) {
    if depth > crate::value::MAX_DEPTH {
        return;
    }
    let entries = map.entries().clone();
    for (key, value) in entries {
        match value.repr() {
            Repr::List(list) if Rc::ptr_eq(list, old) => map.insert(key, new.clone()),
            Repr::Map(inner) => replace(inner, old, new, depth + 1),
            _ => {}
        }
    }
}

/// Writes data at a target path (`F-47`, `F-48`).
pub(super) fn write(into: &Map, path: &str, data: &[u8], literal: bool, helm: HelmVersion) -> Result<(), String> {
    let text = String::from_utf8_lossy(data).into_owned();
    let quoted = |quote: char| text.starts_with(quote) && text.ends_with(quote);
    let (typed, value) = if literal {
        let escaped: String =
            text.chars().flat_map(|c| if r"\,[]{}".contains(c) { vec!['\\', c] } else { vec![c] }).collect();
        (false, escaped)
    } else if quoted('"') || quoted('\'') {
        (false, text.trim_matches(['"', '\'']).to_owned())
    } else {
        (true, text.clone())
    };
    let mut read = |raw: &str| Ok(if typed { set::typed(raw) } else { Value::text(Text::from(raw)) });
    set::parse(&format!("{path}={value}"), Mode::Plain, helm, into, &mut read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::object::Object;
    use crate::cluster::snapshot::Snapshot;
    use serde_json::json;

    fn composed(inline: Json, refs: &[(&str, &str)]) -> Json {
        let mut facts = Snapshot::default();
        let mut from = Vec::new();
        for (i, (path, data)) in refs.iter().enumerate() {
            let name = format!("r{i}");
            let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "n"}, "data": {"values.yaml": data}});
            facts.insert(Object::new(object, Default::default()).unwrap());
            from.push(if path.is_empty() {
                json!({"kind": "ConfigMap", "name": name})
            } else {
                json!({"kind": "ConfigMap", "name": name, "targetPath": path})
            });
        }
        let hr = json!({"metadata": {"name": "x", "namespace": "n"}, "spec": {"values": inline, "valuesFrom": from}});
        match compose(&HelmRelease::new(Rc::new(hr)), &facts, HelmVersion::cli(4, 2, 2)) {
            Composed::Values { json, .. } => json,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn f_54_references_are_merged_in_order_and_inline_last() {
        let got = composed(
            json!({"other": "values"}),
            &[("", "flat: value\nnested:\n  configuration: value\n"), ("", "flat:\n  nested: value\nnested: value\n")],
        );
        assert_eq!(got, json!({"flat": {"nested": "value"}, "nested": "value", "other": "values"}));
    }

    #[test]
    fn f_53_writes_through_a_target_path_reach_shared_inline_maps() {
        assert_eq!(composed(json!({"b": "inline"}), &[("b", "ref")]), json!({"b": "inline"}));
        assert_eq!(composed(json!({"a": {"b": "inline"}}), &[("a.b", "ref")]), json!({"a": {"b": "ref"}}));
        assert_eq!(
            composed(json!({"a": {"b": "inline"}}), &[("", "a: {x: 1}"), ("a.b", "ref")]),
            json!({"a": {"b": "inline", "x": 1.0}})
        );
        let twice = composed(json!({"a": {"b": "inline", "c": "inline"}}), &[("a.b", "ref1"), ("a.c", "ref2")]);
        assert_eq!(twice, json!({"a": {"b": "ref1", "c": "inline"}}));
        let list = |refs: &[(&str, &str)]| composed(json!({"l": ["i0", "i1"]}), refs)["l"].clone();
        assert_eq!(list(&[("l[0]", "ref")]), json!(["ref", "i1"]));
        assert_eq!(list(&[("l[0]", "r0"), ("l[1]", "r1")]), json!(["r0", "r1"]));
        assert_eq!(composed(json!({"l": ["i0"]}), &[("l[1]", "ref")]), json!({"l": ["i0"]}));
        let nested = |refs: &[(&str, &str)]| composed(json!({"n": {"l": ["i0", "i1"]}}), refs)["n"]["l"].clone();
        assert_eq!(nested(&[("n.l[3]", "g"), ("n.l[0]", "s")]), json!(["s", "i1", null, "g"]));
        assert_eq!(nested(&[("n.l[0]", "s"), ("n.l[3]", "g")]), json!(["s", "i1"]));
        let maps = composed(json!({"l": [{"a": "i"}]}), &[("l[0].a", "ref")]);
        assert_eq!(maps, json!({"l": [{"a": "ref"}]}));
        let root = composed(json!({"l": ["i0", "i1"]}), &[("", "l: [r0, r1, r2]"), ("l[0]", "ref")]);
        assert_eq!(root, json!({"l": ["ref", "i1"]}));
        let two = composed(json!({"a": {"x": "i"}, "b": {"x": "i"}}), &[("a.x", "r1"), ("b.x", "r2")]);
        assert_eq!(two, json!({"a": {"x": "r1"}, "b": {"x": "i"}}));
    }

    #[test]
    fn f_40_next_line_characters_fold() {
        for (text, want) in [("a\u{85}b", "a b"), ("a  \u{85} b", "a b"), ("a\u{85} \u{85}b", "a\nb"), ("\u{85}", " ")]
        {
            assert_eq!(composed(json!({"k": text}), &[]), json!({"k": want}), "{text:?}");
        }
        assert_eq!(composed(json!({"k": "v", "bad": "\u{7f}"}), &[]), json!({}), "all is swallowed");
    }

    #[test]
    fn f_44b_keys_of_different_type_with_the_same_text_are_drawn_at_random() {
        for (data, random) in [
            ("1: a\n'1': b\n", true),
            ("x:\n  true: a\n  'true': b\n", true),
            ("1: a\n1.0: b\n", true),
            ("yes: a\ntrue: b\n", false),
            ("010: a\n8: b\n", false),
            ("a: 1\na: 2\n", false),
            ("1: a\n'1': a\n", false),
            ("1: a\n'1': {b: c}\n", true),
            ("1: a\n'1': b\n1: b\n", false),
        ] {
            assert_eq!(drawn(data.as_bytes()).is_some(), random, "{data}");
        }
    }

    #[test]
    fn f_50_data_at_a_path_is_typed_as_set_does() {
        for (data, want) in [
            ("", json!("")),
            ("\"\"", json!("")),
            ("1.5", json!("1.5")),
            ("+5", json!(5)),
            ("TRUE", json!(true)),
            ("{1,true,x}", json!([1, true, "x"])),
            ("\"1\"", json!("1")),
        ] {
            assert_eq!(composed(json!({}), &[("a.b", data)]), json!({"a": {"b": want}}), "{data}");
        }
    }
}
