//! One document: from text with marks to an object with the origins of its leaves.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{StoredDocument, blocks};
use crate::codec::yaml::{self, Document, Kind, Node, Style};
use crate::value::{OriginSet, Origins, Text};

/// Most nesting whose leaves are told apart.
const MAX_DEPTH: usize = 100;

/// A document that was read.
pub struct Parsed {
    /// The object, or why the post-renderer refuses it.
    pub object: Result<Json, String>,
    /// Origins of its leaves.
    pub leaves: BTreeMap<String, OriginSet>,
    /// What its existence depends on.
    pub whole: OriginSet,
}

/// How a document is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// As post-renderers read; errors are those of merging (`F-324`). The number says how often folded text is written
    /// and read on the way (`F-356`).
    PostRender(usize),
    /// As Helm reads a document directly: YAML 1.1.
    Direct,
}

/// Parses a document; `None` if it holds nothing (`F-323`).
///
/// # Errors
/// The text of the condition.
pub fn parse(path: &str, text: &Text, reading: Reading, origins: &Origins) -> Result<Option<Parsed>, String> {
    let failed = |problem: String| match reading {
        Reading::PostRender(_) => format!("error merging manifests: parsing {path}: MalformedYAMLError: {problem}"),
        Reading::Direct => format!("YAML parse error on {path}: error converting YAML to JSON: {problem}"),
    };
    let Some(document) = yaml::parse_first(text.bytes()).map_err(|e| failed(e.text))? else { return Ok(None) };
    let root = document.root();
    if let Kind::Scalar("" | "~" | "null" | "Null" | "NULL", Style::Plain) = root.target().kind() {
        return Ok(None);
    }
    let object = match reading {
        Reading::PostRender(passes) => {
            if let Some(wrong) = wrong_kind(root) {
                let problem = contents(wrong, text);
                return Err(format!("error merging manifests: parsing {path}: {problem}"));
            }
            yaml::to_json_v3(root).map(|mut object| {
                blocks::refold(&mut object, root, passes);
                object
            })
        }
        Reading::Direct => {
            let object = yaml::to_json(root).map_err(failed)?;
            if let Some(problem) = head_problem(&object) {
                return Err(format!(
                    "YAML parse error on {path}: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal \
                     {problem}"
                ));
            }
            Ok(object)
        }
    };
    let mut leaves = BTreeMap::new();
    if origins.tracking() && !text.marks().is_empty() {
        collect(root, String::new(), text, origins, 0, &mut leaves);
    }
    let whole = existence(root, text, origins);
    Ok(Some(Parsed { object, leaves, whole }))
}

/// A document as Helm reads it directly, and the object; `None` if there is none, or Helm cannot read it.
pub fn direct(text: &Text) -> Option<(Document, Json)> {
    let document = yaml::parse_first(text.bytes()).ok()??;
    let object = yaml::to_json(document.root()).ok()?;
    let readable = object.is_object() && head_problem(&object).is_none();
    readable.then_some((document, object))
}

/// The node that should be a mapping and is none.
fn wrong_kind(root: Node<'_>) -> Option<Node<'_>> {
    let is_map = |node: Node<'_>| matches!(node.target().kind(), Kind::Map);
    if !is_map(root) {
        return Some(root.target());
    }
    let (_, metadata) = root.entry("metadata")?;
    let null = matches!(metadata.target().kind(), Kind::Scalar("" | "~" | "null" | "Null" | "NULL", Style::Plain));
    if !is_map(metadata) {
        return (!null).then_some(metadata.target());
    }
    let (_, annotations) = metadata.target().entry("annotations")?;
    matches!(annotations.target().kind(), Kind::Seq).then_some(annotations.target())
}

fn contents(node: Node<'_>, text: &Text) -> String {
    let found = if matches!(node.kind(), Kind::Seq) { "Sequence" } else { "Scalar" };
    let shown = text.bytes().get(node.span().range()).unwrap_or_default();
    let shown = String::from_utf8_lossy(shown);
    format!("wrong node kind: expected MappingNode but got {found}Node: node contents:\n{}", shown.trim_end())
}

/// What of a document's head has the wrong type for Helm, in Go's words.
fn head_problem(object: &Json) -> Option<String> {
    const METADATA: &str = "type struct { Name string \"json:\\\"name\\\"\"; Annotations map[string]string \
                            \"json:\\\"annotations\\\"\" }";
    let kind = |json: &Json| match json {
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Bool(_) => "bool",
        Json::Number(_) => "number",
        _ => "object",
    };
    if !object.is_object() && !object.is_null() {
        return Some(format!("{} into Go value of type releaseutil.SimpleHead", kind(object)));
    }
    // Numbers and booleans become texts where Helm wants texts.
    let no_text = |json: &&Json| json.is_array() || json.is_object();
    if let Some((name, found)) =
        ["apiVersion", "kind"].into_iter().find_map(|f| Some((f, object.get(f).filter(no_text)?)))
    {
        return Some(format!("{} into Go struct field SimpleHead.{name} of type string", kind(found)));
    }
    let metadata = object.get("metadata").filter(|m| !m.is_null())?;
    if !metadata.is_object() {
        return Some(format!("{} into Go struct field SimpleHead.metadata of {METADATA}", kind(metadata)));
    }
    if let Some(found) = metadata.get("name").filter(no_text) {
        return Some(format!("{} into Go struct field .metadata.name of type string", kind(found)));
    }
    let annotations = metadata.get("annotations").filter(|a| !a.is_null())?;
    let Some(map) = annotations.as_object() else {
        return Some(format!(
            "{} into Go struct field .metadata.annotations of type map[string]string",
            kind(annotations)
        ));
    };
    let found = map.values().find(no_text)?;
    Some(format!("{} into Go struct field .metadata.annotations of type string", kind(found)))
}

/// The origins of all marks that touch a byte range.
pub fn marks(text: &Text, range: std::ops::Range<usize>, origins: &Origins) -> OriginSet {
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
