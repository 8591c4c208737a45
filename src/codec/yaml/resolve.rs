//! From nodes to values as Helm reads YAML: YAML 1.1, then JSON (F-44a–F-44c).

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value as Json;

use super::node::{Kind, Node, Style};
use super::scalar::{self, Scalar};
use crate::codec::goquote::quote;
use crate::codec::{base64, float};
use crate::value::{Text, Value};

const TAG_PREFIX: &str = "tag:yaml.org,2002:";

/// A resolved tree, still with typed keys.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Str(Vec<u8>),
    Seq(Vec<Tree>),
    Map(Vec<(Tree, Tree)>),
}

/// The value a node means to Helm: numbers are `float64`, keys are text. The text has no origins.
///
/// # Errors
/// Go's text as it stands behind `error converting YAML to JSON: `.
pub fn to_value(node: Node<'_>) -> Result<Value, String> {
    value(decode(node)?)
}

/// The JSON a node means to Kubernetes: integers of 64 bits stay integers, other numbers are doubles.
///
/// # Errors
/// As [`to_value`].
pub fn to_json(node: Node<'_>) -> Result<Json, String> {
    json(decode(node)?, false)
}

/// The JSON that a program printed as this YAML: as [`to_json`], but only `true` and `false` are truth words, and a number
/// with a fraction keeps it, be it zero.
///
/// # Errors
/// As [`to_value`].
pub fn to_json_printed(node: Node<'_>) -> Result<Json, String> {
    let mut decoder = Decoder { printed: true, ..Decoder::default() };
    json(decoder.decode(node).map_err(|text| format!("yaml: {text}"))?, true)
}

/// The text that a key node becomes (F-44b).
///
/// # Errors
/// Go's text if the node cannot be a key.
pub fn key_text(node: Node<'_>) -> Result<String, String> {
    let tree = decode(node)?;
    key(&tree, &Tree::Null).map(|text| String::from_utf8_lossy(&text).into_owned())
}

/// Decodes one tree: aliases expanded, merges done, scalars resolved.
pub(super) fn decode(node: Node<'_>) -> Result<Tree, String> {
    Decoder::default().decode(node).map_err(|text| format!("yaml: {text}"))
}

/// Go's protection against documents that grow by aliases.
#[derive(Default)]
pub(super) struct AliasCount {
    decoded: u64,
    aliased: u64,
    /// Aliases being expanded.
    active: HashSet<u32>,
}

impl AliasCount {
    /// Counts one decoded node.
    pub(super) fn count(&mut self) -> Result<(), String> {
        self.decoded += 1;
        if !self.active.is_empty() {
            self.aliased += 1;
        }
        let allowed = match self.decoded {
            ..=400_000 => 0.99,
            4_000_000.. => 0.10,
            n => 0.99 - 0.89 * ((n - 400_000) as f64 / 3_600_000.0),
        };
        if self.aliased > 100 && self.decoded > 1000 && self.aliased as f64 / self.decoded as f64 > allowed {
            return Err("document contains excessive aliasing".into());
        }
        Ok(())
    }

    /// An alias is being expanded.
    pub(super) fn enter(&mut self, alias: Node<'_>) -> Result<(), String> {
        if self.active.insert(alias.id()) {
            return Ok(());
        }
        Err(format!("anchor '{}' value contains itself", alias.target().anchor().unwrap_or_default()))
    }

    /// An alias is expanded.
    pub(super) fn leave(&mut self, alias: Node<'_>) {
        self.active.remove(&alias.id());
    }
}

#[derive(Default)]
struct Decoder {
    aliases: AliasCount,
    /// Truth words are `true` and `false` only.
    printed: bool,
    /// Nesting of what is being built, aliases expanded.
    depth: usize,
}

impl Decoder {
    fn decode(&mut self, node: Node<'_>) -> Result<Tree, String> {
        self.aliases.count()?;
        // The document's own depth is bounded, but a chain of anchors can multiply it.
        if self.depth > super::MAX_DEPTH {
            return Err(format!("exceeded max depth of {}", super::MAX_DEPTH));
        }
        self.depth += 1;
        let tree = self.decode_kind(node);
        self.depth -= 1;
        tree
    }

    fn decode_kind(&mut self, node: Node<'_>) -> Result<Tree, String> {
        match node.kind() {
            Kind::Alias => self.through(node, Self::decode),
            Kind::Scalar(text, style) => match scalar(text, style, node.tag())? {
                Tree::Bool(_) if self.printed && !scalar::is_truth_word(text) => Ok(Tree::Str(text.into())),
                tree => Ok(tree),
            },
            Kind::Seq => {
                let mut items = Vec::with_capacity(node.items().len());
                for item in node.items() {
                    items.push(self.decode(item)?);
                }
                Ok(Tree::Seq(items))
            }
            Kind::Map => {
                let mut entries = Entries::default();
                self.fill(node, &mut entries)?;
                Ok(Tree::Map(entries.pairs))
            }
        }
    }

    /// Expands an alias.
    fn through<'d, T>(
        &mut self,
        alias: Node<'d>,
        then: impl FnOnce(&mut Self, Node<'d>) -> Result<T, String>,
    ) -> Result<T, String> {
        self.aliases.enter(alias)?;
        let result = then(self, alias.target());
        self.aliases.leave(alias);
        result
    }

    /// Adds the entries of a mapping: merges at their position, later keys over earlier ones (F-44c).
    fn fill(&mut self, map: Node<'_>, entries: &mut Entries) -> Result<(), String> {
        for (key_node, value_node) in map.entries() {
            if is_merge(key_node) {
                self.merge(value_node, entries)?;
                continue;
            }
            let key = self.decode(key_node)?;
            if matches!(key, Tree::Seq(_) | Tree::Map(_)) {
                return Err(format!("invalid map key: {}", go_syntax(&key, 0)));
            }
            let value = self.decode(value_node)?;
            entries.set(key, value);
        }
        Ok(())
    }

    fn merge(&mut self, node: Node<'_>, entries: &mut Entries) -> Result<(), String> {
        let want_map = || Err("map merge requires map or sequence of maps as the value".to_owned());
        let mut one = |decoder: &mut Self, node: Node<'_>| {
            if !matches!(node.target().kind(), Kind::Map) {
                return want_map();
            }
            decoder.aliases.count()?;
            match node.kind() {
                Kind::Alias => decoder.through(node, |d, target| {
                    d.aliases.count()?;
                    d.fill(target, entries)
                }),
                _ => decoder.fill(node, entries),
            }
        };
        match node.kind() {
            // Backwards, so that the first map of the list wins.
            Kind::Seq => node.items().rev().try_for_each(|item| one(self, item)),
            _ => one(self, node),
        }
    }
}

/// A map under construction, in order of first appearance.
#[derive(Default)]
struct Entries {
    pairs: Vec<(Tree, Tree)>,
    places: HashMap<(u8, Vec<u8>), usize>,
}

impl Entries {
    fn set(&mut self, key: Tree, value: Tree) {
        // Keys of different type are different keys here, whatever their text (F-44b).
        let identity = match &key {
            Tree::Str(text) => (0, text.clone()),
            Tree::Bool(b) => (1, vec![u8::from(*b)]),
            Tree::Int(int) => (2, int.to_ne_bytes().to_vec()),
            Tree::Uint(uint) => (3, uint.to_ne_bytes().to_vec()),
            Tree::Float(number) => (4, number.to_bits().to_ne_bytes().to_vec()),
            Tree::Null | Tree::Seq(_) | Tree::Map(_) => (5, Vec::new()),
        };
        match self.places.entry(identity) {
            Entry::Occupied(at) => self.pairs[*at.get()].1 = value,
            Entry::Vacant(free) => {
                free.insert(self.pairs.len());
                self.pairs.push((key, value));
            }
        }
    }
}

fn is_merge(node: Node<'_>) -> bool {
    match (node.kind(), node.tag()) {
        (Kind::Scalar("<<", Style::Plain), None | Some("!")) => true,
        (Kind::Scalar("<<", _), Some(tag)) => is_merge_tag(tag),
        _ => false,
    }
}

pub(super) fn is_merge_tag(tag: &str) -> bool {
    tag.strip_prefix(TAG_PREFIX) == Some("merge")
}

fn scalar(text: &str, style: Style, tag: Option<&str>) -> Result<Tree, String> {
    let string = || Ok(Tree::Str(text.as_bytes().to_vec()));
    let Some(tag) = tag else {
        return if style == Style::Plain { Ok(tree(scalar::resolve(text), text)) } else { string() };
    };
    let Some(name) = tag.strip_prefix(TAG_PREFIX) else { return string() };
    let found = match name {
        "str" => return string(),
        "binary" => {
            return match base64::decode_lenient(text.as_bytes()) {
                Some(bytes) => Ok(Tree::Str(bytes)),
                None => Err("!!binary value contains invalid base64 data".into()),
            };
        }
        "bool" | "int" | "float" | "null" | "timestamp" => scalar::resolve_with(text, name == "timestamp"),
        _ => return string(),
    };
    match (name, found) {
        ("float", Scalar::Int(int)) => Ok(Tree::Float(int as f64)),
        _ if found.short_tag().strip_prefix("!!") == Some(name) => Ok(tree(found, text)),
        _ => Err(format!("cannot decode {} `{text}` as a !!{name}", found.short_tag())),
    }
}

fn tree(scalar: Scalar, text: &str) -> Tree {
    match scalar {
        Scalar::Null => Tree::Null,
        Scalar::Bool(b) => Tree::Bool(b),
        Scalar::Int(i) => Tree::Int(i),
        Scalar::Uint(u) => Tree::Uint(u),
        Scalar::Float(f) => Tree::Float(f),
        Scalar::Timestamp | Scalar::Str => Tree::Str(text.as_bytes().to_vec()),
    }
}

/// The text of a key; `value` is only for the error.
fn key(key: &Tree, value: &Tree) -> Result<Vec<u8>, String> {
    Ok(match key {
        Tree::Str(text) => return Ok(text.clone()),
        Tree::Bool(true) => "true".into(),
        Tree::Bool(false) => "false".into(),
        Tree::Int(int) => int.to_string(),
        Tree::Float(float) => match float::g32(*float).as_str() {
            "+Inf" => ".inf".into(),
            "-Inf" => "-.inf".into(),
            "NaN" => ".nan".into(),
            text => text.to_owned(),
        },
        Tree::Null | Tree::Uint(_) | Tree::Seq(_) | Tree::Map(_) => {
            let ty = match key {
                Tree::Null => "%!s(<nil>)",
                Tree::Uint(_) => "uint64",
                Tree::Seq(_) => "[]interface {}",
                _ => "map[interface {}]interface {}",
            };
            let spelled = |tree: &Tree| match tree {
                Tree::Null => "<nil>".to_owned(),
                other => go_syntax(other, 0),
            };
            return Err(format!("unsupported map key of type: {ty}, key: {}, value: {}", spelled(key), spelled(value)));
        }
    }
    .into_bytes())
}

fn value(tree: Tree) -> Result<Value, String> {
    Ok(match tree {
        Tree::Null => Value::NIL,
        Tree::Bool(b) => Value::bool(b),
        Tree::Int(int) => Value::float(int as f64),
        Tree::Uint(uint) => Value::float(uint as f64),
        Tree::Float(number) => Value::float(finite(number)?),
        Tree::Str(bytes) => Value::text(Text::new(valid(bytes))),
        Tree::Seq(items) => Value::list(items.into_iter().map(value).collect::<Result<_, _>>()?),
        Tree::Map(pairs) => {
            let mut entries = BTreeMap::new();
            for (k, v) in pairs {
                let text = key(&k, &v)?;
                entries.insert(Text::new(valid(text)), value(v)?);
            }
            Value::map(entries)
        }
    })
}

fn json(tree: Tree, printed: bool) -> Result<Json, String> {
    Ok(match tree {
        Tree::Null => Json::Null,
        Tree::Bool(b) => Json::Bool(b),
        Tree::Int(int) => Json::from(int),
        Tree::Uint(uint) => Json::from(uint as f64),
        Tree::Float(number) if printed => Json::from(finite(number)?),
        Tree::Float(number) => json_float(finite(number)?),
        Tree::Str(bytes) => Json::String(lossy(bytes)),
        Tree::Seq(items) => Json::Array(items.into_iter().map(|item| json(item, printed)).collect::<Result<_, _>>()?),
        Tree::Map(pairs) => {
            let mut entries = serde_json::Map::new();
            for (k, v) in pairs {
                let text = key(&k, &v)?;
                entries.insert(lossy(text), json(v, printed)?);
            }
            Json::Object(entries)
        }
    })
}

/// A double as Kubernetes reads its JSON text: one without fraction and exponent is an integer if it fits.
pub(super) fn json_float(number: f64) -> Json {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if number.fract() == 0.0 && (-LIMIT..LIMIT).contains(&number) {
        // Through the text, whose digits (shortest, then zeros) can differ from the exact value.
        if let Some(int) = float::json(number).and_then(|text| text.parse::<i64>().ok()) {
            return Json::from(int);
        }
    }
    Json::from(number)
}

fn finite(number: f64) -> Result<f64, String> {
    if number.is_finite() { Ok(number) } else { Err(format!("json: unsupported value: {}", float::g(number))) }
}

/// Bytes that are no UTF-8 become U+FFFD, one each, as in Go's JSON.
pub(super) fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|e| crate::codec::json::go_lossy(e.as_bytes()).into_owned())
}

fn valid(bytes: Vec<u8>) -> Vec<u8> {
    lossy(bytes).into_bytes()
}

/// Go's `%#v` of a decoded tree, maps sorted as `fmt` sorts them.
fn go_syntax(tree: &Tree, depth: usize) -> String {
    if depth > super::MAX_DEPTH {
        return "…".into();
    }
    match tree {
        Tree::Null => "interface {}(nil)".into(),
        Tree::Bool(b) => b.to_string(),
        Tree::Int(int) => int.to_string(),
        Tree::Uint(uint) => format!("{uint:#x}"),
        Tree::Float(number) => float::g(*number),
        Tree::Str(bytes) => quote(bytes),
        Tree::Seq(items) => {
            let items: Vec<String> = items.iter().map(|i| go_syntax(i, depth + 1)).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Tree::Map(pairs) => {
            let mut pairs: Vec<&(Tree, Tree)> = pairs.iter().collect();
            pairs.sort_by(|(a, _), (b, _)| key_order(a).cmp(&key_order(b)));
            let pairs: Vec<String> =
                pairs.iter().map(|(k, v)| format!("{}:{}", go_syntax(k, depth + 1), go_syntax(v, depth + 1))).collect();
            format!("map[interface {{}}]interface {{}}{{{}}}", pairs.join(", "))
        }
    }
}

fn key_order(tree: &Tree) -> (u8, i64, &[u8]) {
    match tree {
        Tree::Null => (0, 0, b""),
        Tree::Bool(b) => (2, (*b).into(), b""),
        Tree::Int(int) => (3, *int, b""),
        Tree::Float(number) => (4, *number as i64, b""),
        Tree::Str(text) => (1, 0, text),
        _ => (5, 0, b""),
    }
}
