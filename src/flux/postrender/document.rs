//! One document: from text with marks to an object with the origins of its leaves.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{PostRender, StoredDocument};
use crate::codec::yaml::{self, Kind, Node};
use crate::value::{OriginSet, Origins, Text};

/// Most nesting whose leaves are told apart.
const MAX_DEPTH: usize = 100;

/// Parses a document; `None` if it holds nothing (`F-323`).
pub fn parse(
    path: &str,
    text: &Text,
    config: &PostRender<'_>,
    origins: &Origins,
) -> Result<Option<StoredDocument>, String> {
    let _ = config;
    let failed = |problem: String| format!("error merging manifests: parsing {path}: MalformedYAMLError: {problem}");
    let Some(document) = yaml::parse_first(text.bytes()).map_err(|e| failed(e.text))? else { return Ok(None) };
    let root = document.root();
    match root.target().kind() {
        Kind::Map => {}
        Kind::Scalar("" | "~" | "null" | "Null" | "NULL", _) => return Ok(None),
        Kind::Scalar(..) => return Err(wrong_kind(path, "Scalar")),
        _ => return Err(wrong_kind(path, "Sequence")),
    }
    let object = yaml::to_json_v3(root).map_err(|e| format!("error while running post render on files: {e}"))?;
    let mut leaves = BTreeMap::new();
    if origins.tracking() && !text.marks().is_empty() {
        collect(root, String::new(), text, origins, 0, &mut leaves);
    }
    let whole = existence(root, text, origins);
    Ok(Some(StoredDocument { source: path.to_owned(), object, leaves, whole }))
}

fn wrong_kind(path: &str, found: &str) -> String {
    format!(
        "error merging manifests: parsing {path}: wrong node kind: expected MappingNode but got {found}Node: node contents:"
    )
}

/// The origins of all marks that touch a byte range.
fn marks(text: &Text, range: std::ops::Range<usize>, origins: &Origins) -> OriginSet {
    let (start, end) = (range.start as u32, range.end as u32);
    let first = text.marks().partition_point(|m| m.end <= start);
    let touching = text.marks()[first..].iter().take_while(|m| m.start < end.max(start + 1));
    origins.union_all(touching.map(|m| m.origins))
}

fn collect(
    node: Node<'_>,
    path: String,
    text: &Text,
    origins: &Origins,
    depth: usize,
    leaves: &mut BTreeMap<String, OriginSet>,
) {
    let node = node.target();
    match node.kind() {
        Kind::Map if depth < MAX_DEPTH => {
            for (key, value) in node.entries() {
                let Some(name) = key.text() else { continue };
                let below = format!("{path}.{name}");
                // Who decided that the key is there decides about everything under it.
                let own = marks(text, key.span().range(), origins);
                let before = leaves.len();
                collect(value, below.clone(), text, origins, depth + 1, leaves);
                if !own.is_empty() && leaves.len() == before {
                    leaves.insert(below, own);
                } else if !own.is_empty() {
                    join(leaves, &below, own, origins);
                }
            }
        }
        Kind::Seq if depth < MAX_DEPTH => {
            for (i, item) in node.items().enumerate() {
                collect(item, format!("{path}[{i}]"), text, origins, depth + 1, leaves);
            }
        }
        _ => {
            let set = marks(text, node.span().range(), origins);
            if !set.is_empty() {
                leaves.insert(path, set);
            }
        }
    }
}

/// Adds origins to every leaf below a path, and to the path itself.
fn join(leaves: &mut BTreeMap<String, OriginSet>, path: &str, own: OriginSet, origins: &Origins) {
    for (leaf, set) in leaves.range_mut(path.to_owned()..) {
        if !leaf.starts_with(path) {
            break;
        }
        *set = origins.union(*set, own);
    }
    leaves.entry(path.to_owned()).or_insert(own);
}

/// What decides that the document is there, and what it is called.
fn existence(root: Node<'_>, text: &Text, origins: &Origins) -> OriginSet {
    let mut sets = Vec::new();
    for field in ["apiVersion", "kind"] {
        if let Some((key, value)) = root.entry(field) {
            sets.push(marks(text, key.span().range(), origins));
            sets.push(marks(text, value.span().range(), origins));
        }
    }
    if let Some((key, metadata)) = root.entry("metadata") {
        sets.push(marks(text, key.span().range(), origins));
        for field in ["name", "namespace"] {
            if let Some((_, value)) = metadata.target().entry(field) {
                sets.push(marks(text, value.span().range(), origins));
            }
        }
    }
    origins.union_all(sets)
}

/// The documents of a stored manifest, with the files that `# Source:` lines name.
pub fn parse_manifest(text: &str) -> Result<Vec<StoredDocument>, String> {
    let mut found = Vec::new();
    for part in parts(text) {
        let source = part.lines().find_map(|line| line.strip_prefix("# Source: ")).unwrap_or_default().to_owned();
        let Some(document) = yaml::parse_first(part.as_bytes()).map_err(|e| e.text)? else { continue };
        let object = yaml::to_json(document.root())?;
        if !object.is_object() {
            continue;
        }
        let kind = object.get("kind").and_then(Json::as_str).unwrap_or_default();
        if kind == "List" && object.get("items").is_some() {
            for item in object.get("items").and_then(Json::as_array).cloned().unwrap_or_default() {
                found.push(stored(&source, item));
            }
            continue;
        }
        found.push(stored(&source, object));
    }
    Ok(found)
}

fn stored(source: &str, object: Json) -> StoredDocument {
    StoredDocument { source: source.to_owned(), object, leaves: BTreeMap::new(), whole: OriginSet::EMPTY }
}

/// Cuts at lines that are `---`.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_end() == "---" {
            parts.push(&text[start..at]);
            start = at + line.len();
        }
        at += line.len();
    }
    parts.push(&text[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}
