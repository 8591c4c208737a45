//! One entry of `spec.postRenderers`: patches, then images (`F-343`).

use serde_json::Value as Json;

use super::ident::Ident;
use super::references;
use super::selector::Selector;
use super::stream::{self, Item, check_twins};
use super::tree::Tree;
use super::{images, json6902, strategic};
use crate::codec::yaml;

/// Stands for the annotations that the tool keeps on objects while it works.
const OWN_MARK: &str = "internal.config.kubernetes.io/\u{0}";

/// An object and what it was called when this renderer read it.
struct Loaded {
    item: Item,
    before: Ident,
}

/// Runs the entry over a stream.
///
/// # Errors
/// The text after `error while running post render on …: `.
pub fn run(items: Vec<Item>, entry: &Json) -> Result<Vec<Item>, String> {
    check_twins(&items).map_err(|problem| {
        format!(
            "accumulating resources: accumulation err='accumulating resources from 'helm-output.yaml': {problem}': must \
             build at directory: '/helm-output.yaml': file is not directory"
        )
    })?;
    let local = |item: &Item| {
        let mark = item.tree.get(&["metadata", "annotations", "config.kubernetes.io/local-config"]);
        mark.is_some_and(|mark| mark.as_text() != Some("false"))
    };
    let mut loaded: Vec<Loaded> = items
        .into_iter()
        .filter(|item| !local(item))
        .map(|item| Loaded { before: Ident::of(&item.tree), item })
        .collect();
    // While patches run, every object has annotations: the tool keeps some of its own there.
    loaded.iter_mut().for_each(|l| stream::annotate(&mut l.item.tree, OWN_MARK, "0"));
    let list = |field: &str| entry.get(field).and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    for patch in list("patches") {
        let text = patch.get("patch").and_then(Json::as_str).unwrap_or_default();
        let target = patch.get("target").filter(|t| !t.is_null());
        apply(&mut loaded, text.trim(), target)?;
    }
    for entry in list("images") {
        loaded.iter_mut().for_each(|l| images::replace(&mut l.item.tree, entry));
    }
    let renamed: Vec<(Ident, String)> = loaded
        .iter()
        .filter(|l| l.before.name != l.item.tree.text(&["metadata", "name"]))
        .map(|l| (l.before.clone(), l.item.tree.text(&["metadata", "name"]).to_owned()))
        .collect();
    if !renamed.is_empty() {
        loaded.iter_mut().for_each(|l| references::rewrite(&mut l.item.tree, &renamed));
    }
    for l in &mut loaded {
        drop_annotations(&mut l.item.tree, &["config.kubernetes.io/origin", OWN_MARK]);
    }
    Ok(loaded.into_iter().map(|l| l.item).collect())
}

/// Takes annotations away; a map that is left empty goes too.
pub fn drop_annotations(tree: &mut Tree, names: &[&str]) {
    let Some(metadata) = tree.get_mut(&["metadata"]).and_then(Tree::map_mut) else { return };
    let Some(annotations) = metadata.get_mut("annotations").and_then(Tree::map_mut) else { return };
    for name in names {
        annotations.remove(*name);
    }
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
}

/// What the text of a patch is.
enum Patch {
    Operations(Json),
    Merge(Vec<Tree>),
}

fn read(text: &str) -> Result<Patch, String> {
    let source = || format!("[patch: {}]", crate::codec::goquote::quote(text.as_bytes()));
    let first = yaml::parse_first(text.as_bytes()).ok().flatten();
    if let Some(json) = first.as_ref().and_then(|d| yaml::to_json(d.root()).ok()).filter(json6902::is_patch) {
        return Ok(Patch::Operations(json));
    }
    let unreadable = || {
        let problem = format!("unable to parse SM or JSON patch from {}", source());
        format!("trouble configuring builtin PatchTransformer: {problem}")
    };
    let documents = yaml::parse_all(text.as_bytes()).map_err(|_| unreadable())?;
    let mut patches = Vec::new();
    for document in &documents {
        let json = yaml::to_json_v3(document.root()).map_err(|_| unreadable())?;
        if json.is_null() {
            continue;
        }
        let text = |pointer: &str| json.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
        if text("/kind").is_empty() || text("/metadata/name").is_empty() {
            return Err(unreadable());
        }
        patches.push(Tree::constant(json));
    }
    Ok(Patch::Merge(patches))
}

fn apply(loaded: &mut Vec<Loaded>, text: &str, target: Option<&Json>) -> Result<(), String> {
    let source = || format!("[patch: {}]", crate::codec::goquote::quote(text.as_bytes()));
    match (read(text)?, target) {
        (Patch::Operations(_), None) => Err(format!("must specify a target for JSON patch {}", source())),
        (Patch::Operations(operations), Some(target)) => {
            let selector = Selector::new(target)?;
            for l in loaded.iter_mut().filter(|l| selector.selects(&l.item.tree, &l.before)) {
                json6902::apply(&mut l.item.tree, &operations)?;
                stream::annotate(&mut l.item.tree, OWN_MARK, "0");
            }
            Ok(())
        }
        (Patch::Merge(mut patches), Some(target)) => {
            if patches.len() > 1 {
                return Err(format!(
                    "Multiple Strategic-Merge Patches in one `patches` entry is not allowed to set `patches.target` \
                     field: {}",
                    source()
                ));
            }
            let selector = Selector::new(target)?;
            let Some(patch) = patches.pop() else { return Ok(()) };
            merge(loaded, &patch, |l| selector.selects(&l.item.tree, &l.before))
        }
        (Patch::Merge(patches), None) => {
            for patch in patches {
                let id = Ident::of(&patch);
                let key = id.key();
                if !loaded.iter().any(|l| Ident::of(&l.item.tree).key() == key) {
                    return Err(format!(
                        "no resource matches strategic merge patch \"{id}\": no matches for Id {id}; failed to find \
                         unique target for patch {id}"
                    ));
                }
                merge(loaded, &patch, |l| Ident::of(&l.item.tree).key() == key)?;
            }
            Ok(())
        }
    }
}

/// Merges a patch into what is selected; identity stays.
fn merge(loaded: &mut Vec<Loaded>, patch: &Tree, selected: impl Fn(&Loaded) -> bool) -> Result<(), String> {
    let mut kept = Vec::with_capacity(loaded.len());
    for mut l in std::mem::take(loaded) {
        if !selected(&l) {
            kept.push(l);
            continue;
        }
        let fixed: Vec<(&[&str], Option<Tree>)> =
            [&["apiVersion"][..], &["kind"], &["metadata", "name"], &["metadata", "namespace"]]
                .into_iter()
                .map(|keys| (keys, l.item.tree.get(keys).cloned()))
                .collect();
        let Some(mut merged) = strategic::merge(l.item.tree, patch.clone())? else { continue };
        for (keys, value) in fixed {
            let Some((last, parents)) = keys.split_last() else { continue };
            let Some(parent) = merged.get_mut(parents).and_then(Tree::map_mut) else { continue };
            match value {
                Some(value) => drop(parent.insert((*last).to_owned(), value)),
                None => drop(parent.remove(*last)),
            }
        }
        l.item.tree = merged;
        kept.push(l);
    }
    *loaded = kept;
    Ok(())
}
