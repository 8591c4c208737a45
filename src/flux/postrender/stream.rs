//! The documents that pass the post-renderers together, and what the controller does to them (`F-325`, `F-326`,
//! `F-339` to `F-342`, `F-348`).

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::ident::Ident;
use super::tree::{Node, Tree};
use super::{PostRender, kustomize};
use crate::flux::model::origin_labels;
use crate::value::OriginSet;

/// The annotation in which Helm 4 keeps a document's file while post-renderers run.
pub const FILE_MARK: &str = "postrenderer.helm.sh/postrender-filename";

/// Annotations of the tools on the way, which do not stay.
const TRANSIENT: &[&str] = &[
    "config.kubernetes.io/index",
    "internal.config.kubernetes.io/index",
    "internal.config.kubernetes.io/seqindent",
    FILE_MARK,
];

/// Most lists in lists that are opened.
const MAX_LISTS: usize = 50;

/// One document on its way.
pub struct Item {
    /// The object with the origins of its parts.
    pub tree: Tree,
    /// What its existence depends on.
    pub whole: OriginSet,
}

/// Runs all post-renderers over a stream.
///
/// # Errors
/// The text after `error while running post render on …: `.
pub fn run(items: Vec<Item>, config: &PostRender<'_>) -> Result<Vec<Item>, String> {
    let mut items = expand_lists(items)?;
    items.iter().try_for_each(|item| check(&item.tree))?;
    for entry in config.post_renderers.and_then(Json::as_array).into_iter().flatten() {
        if let Some(entry) = entry.get("kustomize").filter(|k| !k.is_null()) {
            items = kustomize::run(items, entry)?;
        }
    }
    check_twins(&items)?;
    let common = |field: &str| config.common_metadata.and_then(|m| m.get(field)).and_then(Json::as_object);
    let origin = origin_labels(config.hr_name, config.hr_namespace);
    let origin = if config.hr_name.is_empty() { &origin[..0] } else { &origin[..] };
    for item in &mut items {
        for (field, key, value) in ["labels", "annotations"]
            .into_iter()
            .flat_map(|field| common(field).into_iter().flatten().map(move |(k, v)| (field, k.as_str(), v.clone())))
            .chain(origin.iter().map(|(key, value)| ("labels", *key, Json::from(*value))))
        {
            set(&mut item.tree, field, key, value)?;
        }
    }
    Ok(items)
}

/// Takes the file mark off a document; "" where it has none. Transient annotations go with it (`F-342`).
pub fn unmark(tree: &mut Tree) -> String {
    let file = tree.text(&["metadata", "annotations", FILE_MARK]).to_owned();
    if let Some(annotations) = tree.get_mut(&["metadata", "annotations"]).and_then(Tree::map_mut)
        && let Some(path) = annotations.get("config.kubernetes.io/path").cloned()
    {
        annotations.entry("internal.config.kubernetes.io/path".to_owned()).or_insert(path);
    }
    kustomize::drop_annotations(tree, TRANSIENT);
    if let Some(metadata) = tree.get_mut(&["metadata"]).and_then(Tree::map_mut)
        && metadata.get("annotations").is_some_and(Tree::is_null)
    {
        metadata.remove("annotations");
    }
    file
}

/// Puts the file mark on a document.
pub fn mark(tree: &mut Tree, file: &str) {
    annotate(tree, FILE_MARK, file);
}

/// Sets an annotation, whatever stood in place of the map.
pub fn annotate(tree: &mut Tree, name: &str, value: &str) {
    let Some(object) = tree.map_mut() else { return };
    let below = |map: &mut std::collections::BTreeMap<String, Tree>, key: &str| {
        let entry = map.entry(key.to_owned()).or_insert_with(Tree::empty_map);
        // A text in place of annotations is silently replaced (F-324).
        if matches!(entry.node, Node::Leaf(_)) {
            *entry = Tree::empty_map();
        }
    };
    below(object, "metadata");
    let Some(metadata) = object.get_mut("metadata").and_then(Tree::map_mut) else { return };
    below(metadata, "annotations");
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Tree::map_mut) {
        annotations.insert(name.to_owned(), Tree::constant(value.into()));
    }
}

/// Items of lists move to the end of the stream, without their file (`F-326` b).
fn expand_lists(mut items: Vec<Item>) -> Result<Vec<Item>, String> {
    for _ in 0..MAX_LISTS {
        let is_list = |item: &Item| item.tree.text(&["kind"]).ends_with("List") && item.tree.get(&["items"]).is_some();
        if !items.iter().any(is_list) {
            break;
        }
        let (lists, mut rest): (Vec<Item>, Vec<Item>) = items.into_iter().partition(is_list);
        for list in lists {
            rest.extend(open_list(list)?);
        }
        items = rest;
    }
    Ok(items)
}

/// The items of a list.
///
/// # Errors
/// Its `items` are none.
pub fn open_list(mut list: Item) -> Result<Vec<Item>, String> {
    match list.tree.map_mut().and_then(|m| m.remove("items")).map(|t| t.node) {
        Some(Node::Seq(items)) => Ok(items.into_iter().map(|tree| Item { tree, whole: list.whole }).collect()),
        None | Some(Node::Leaf(Json::Null)) => Ok(Vec::new()),
        Some(_) => Err(format!("items in a {} is no list", list.tree.text(&["kind"]))),
    }
}

/// What every document must have (`F-325`).
fn check(tree: &Tree) -> Result<(), String> {
    let text = |keys: &[&str]| tree.get(keys).map(Tree::scalar).unwrap_or_default();
    let kind = text(&["kind"]);
    let about = || {
        let map = |field: &str| {
            let entries = tree.get(&["metadata", field]).and_then(Tree::map).into_iter().flatten();
            entries.map(|(k, v)| format!("{k}:{}", v.scalar())).collect::<Vec<_>>().join(" ")
        };
        format!(
            "{{{{{} {kind}}} {{{{{} {}}} map[{}] map[{}]}}}}",
            text(&["apiVersion"]),
            text(&["metadata", "name"]),
            text(&["metadata", "namespace"]),
            map("labels"),
            map("annotations")
        )
    };
    if kind.is_empty() {
        return Err(format!("missing kind in object {}", about()));
    }
    if text(&["metadata", "name"]).is_empty() && !kind.ends_with("List") {
        return Err(format!("missing metadata.name in object {}", about()));
    }
    Ok(())
}

/// No object may be there twice (`F-348`).
///
/// # Errors
/// The identity that is.
pub fn check_twins(items: &[Item]) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for item in items {
        let id = Ident::of(&item.tree);
        if !seen.insert(id.key()) {
            return Err(format!("may not add resource with an already registered id: {id}"));
        }
    }
    Ok(())
}

/// Sets a label or annotation (`F-341`).
fn set(tree: &mut Tree, field: &str, key: &str, value: Json) -> Result<(), String> {
    let wrong = |tree: &Tree, found: &Tree| {
        format!(
            "considering field 'metadata/{field}' of object {}: wrong node kind: expected MappingNode but got {}: node \
             contents:\n{}",
            Ident::of(tree),
            found.kind_name(),
            found.flow()
        )
    };
    let found = tree.get(&["metadata", field]);
    if let Some(found) = found.filter(|f| !f.is_null() && f.map().is_none()) {
        return Err(wrong(tree, found));
    }
    let Some(object) = tree.map_mut() else { return Ok(()) };
    let metadata = object.entry("metadata".to_owned()).or_insert_with(Tree::empty_map);
    let Some(metadata) = metadata.map_mut() else { return Ok(()) };
    let map = metadata.entry(field.to_owned()).or_insert_with(Tree::empty_map);
    if map.is_null() {
        *map = Tree::empty_map();
    }
    if let Some(map) = map.map_mut() {
        map.insert(key.to_owned(), Tree::constant(value));
    }
    Ok(())
}
