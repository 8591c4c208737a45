//! From what templates printed to the stored manifest: rules `F-320` to `F-372`.
//!
//! Each document keeps the origins of its leaves, by position path, and of its existence.

mod blocks;
mod document;
mod hazards;
mod ident;
mod images;
mod json6902;
mod kustomize;
mod order;
mod references;
mod selector;
mod strategic;
mod stream;
mod tree;

use std::collections::BTreeMap;

use serde_json::{Map as JsonMap, Value as Json};

use crate::base::version::{HelmVersion, Quirk};
use crate::chart::documents::{HOOK_EVENTS, split};
use crate::value::{OriginSet, Origins, Text, TextBuilder};
use document::{Reading, parse};
pub use hazards::{Hazard, hazards};
use stream::Item;
use tree::Tree;

/// The text of one template file.
pub struct TemplateOutput {
    /// Path: `chart/templates/x.yaml`.
    pub path: String,
    /// What it rendered to.
    pub text: Text,
}

/// What takes part in post-rendering (`F-27`, `F-344` to `F-346`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Hooks and manifests in one stream.
    Combined,
    /// Hooks first, then manifests.
    Separate,
    /// Hooks are stored as rendered.
    NoHooks,
}

/// How a release is post-rendered.
pub struct PostRender<'a> {
    /// The Helm inside the controller.
    pub helm: HelmVersion,
    /// What takes part.
    pub strategy: Strategy,
    /// Name of the HelmRelease; "" where there is none: nobody marks its objects then.
    pub hr_name: &'a str,
    /// Namespace of the HelmRelease.
    pub hr_namespace: &'a str,
    /// `spec.postRenderers`
    pub post_renderers: Option<&'a Json>,
    /// `spec.commonMetadata`
    pub common_metadata: Option<&'a Json>,
}

/// One document of a manifest.
#[derive(Clone)]
pub struct StoredDocument {
    /// Template that it comes from; "" where the manifest does not tell.
    pub source: String,
    /// The object.
    pub object: Json,
    /// Origins of its leaves, by position path (`.spec.containers[0].image`); constants are left out.
    pub leaves: BTreeMap<String, OriginSet>,
    /// What its existence and identity depend on.
    pub whole: OriginSet,
}

/// One hook.
pub struct StoredHook {
    /// The document.
    pub document: StoredDocument,
    /// Events that run it.
    pub events: Vec<String>,
    /// Its weight.
    pub weight: i64,
    /// When it is deleted.
    pub delete_policies: Vec<String>,
}

/// What Helm stores of a render.
pub struct Stored {
    /// Objects in install order.
    pub manifest: Vec<StoredDocument>,
    /// Hooks in the same order.
    pub hooks: Vec<StoredHook>,
}

/// Takes rendered files through Helm's splitter and the controller's post-renderers.
///
/// # Errors
/// The text that the release's condition shows.
pub fn post_render(files: &[TemplateOutput], config: &PostRender<'_>, origins: &Origins) -> Result<Stored, String> {
    let mut files: Vec<&TemplateOutput> = files.iter().filter(|file| takes_part(file)).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let old = !config.helm.has(Quirk::PostRendersDocuments);
    let mut pool = match config.strategy {
        _ if old => return old_style(&files, config, origins),
        Strategy::Combined => combined(&files, config, origins)?,
        Strategy::Separate | Strategy::NoHooks => apart(&files, config, origins)?,
    };
    pool.sort_by(|a, b| a.source.cmp(&b.source));
    end_documents(&mut pool, config.helm);
    order::by_kind(&mut pool, config.helm);
    built(sort_out(pool))
}

fn built(stored: Stored) -> Result<Stored, String> {
    match unbuildable(&stored.manifest) {
        Some(problem) => Err(problem),
        None => Ok(stored),
    }
}

/// `F-320`
fn takes_part(file: &TemplateOutput) -> bool {
    let name = file.path.rsplit('/').next().unwrap_or(&file.path);
    !name.starts_with('_') && !file.path.ends_with("NOTES.txt") && !file.text.lossy().trim().is_empty()
}

/// Documents by whether they are hooks; hooks of unknown types go.
fn sort_out(documents: Vec<StoredDocument>) -> Stored {
    let mut stored = Stored { manifest: Vec::new(), hooks: Vec::new() };
    for document in documents {
        match hook_events(&document.object) {
            None => stored.manifest.push(document),
            Some(events) if !known(&events) => {}
            Some(events) => stored.hooks.push(hook(document, events)),
        }
    }
    stored
}

fn known(events: &[String]) -> bool {
    events.iter().all(|e| HOOK_EVENTS.contains(&e.as_str()))
}

/// Everything in one stream (`F-344`).
fn combined(
    files: &[&TemplateOutput],
    config: &PostRender<'_>,
    origins: &Origins,
) -> Result<Vec<StoredDocument>, String> {
    // Before 4.2 the post-renderer's input was not cut by Helm: documents are as written (H-17).
    let as_written = HelmVersion { number: (4, 2, 4), ..config.helm };
    let splitter = if config.helm.has(Quirk::KeepsTrailingSpace) { config.helm } else { as_written };
    let mut read = Vec::new();
    for file in files {
        for text in split(&file.text, splitter) {
            read.push((file.path.as_str(), text));
        }
    }
    streamed(read, "files", "", config, origins)
}

/// Runs one stream of Helm 4: marks files, post-renders, and takes the marks off again.
fn streamed(
    texts: Vec<(&str, Text)>,
    stream: &str,
    prefix: &str,
    config: &PostRender<'_>,
    origins: &Origins,
) -> Result<Vec<StoredDocument>, String> {
    let failed = |problem: String| format!("error while running post render on {stream}: {problem}");
    let mut items = Vec::new();
    let mut refused = None;
    for (path, text) in texts {
        let Some(parsed) = parse(path, &text, Reading::PostRender(2), origins).map_err(|e| match stream {
            "files" => e,
            _ => e.replacen("error merging manifests", &format!("error merging {stream}"), 1),
        })?
        else {
            continue;
        };
        let object = match parsed.object {
            Ok(object) => object,
            Err(problem) => {
                refused.get_or_insert(problem);
                continue;
            }
        };
        let item = Item { tree: Tree::plant(object, &parsed.leaves), whole: parsed.whole };
        let has = |key: &str| item.tree.get(&[key]).is_some();
        // F-326 a
        let wrapper = matches!(item.tree.text(&["kind"]), "List" | "ResourceList");
        if wrapper && (has("items") || has("functionConfig")) {
            items.extend(stream::open_list(item)?.into_iter().map(|item| (path, item)));
        } else {
            items.push((path, item));
        }
    }
    if let Some(problem) = refused {
        return Err(failed(refusal(&problem)));
    }
    let marked = items.into_iter().map(|(path, mut item)| {
        stream::mark(&mut item.tree, path);
        item
    });
    let items = stream::run(marked.collect(), config).map_err(failed)?;
    let finished = items.into_iter().enumerate().map(|(i, mut item)| {
        let mut source = stream::unmark(&mut item.tree);
        if source.is_empty() {
            source = format!("generated-by-postrender-{prefix}{i}.yaml"); // F-331
        }
        finish(item, source)
    });
    Ok(finished.collect())
}

/// How the controller words what it refuses (`F-352` to `F-358`). Where it prints the whole object in front, that is left
/// out.
fn refusal(problem: &str) -> String {
    const UNREAD: &[&str] = &["yaml: unmarshal errors", "yaml: cannot decode", "yaml: invalid map key"];
    if UNREAD.iter().any(|start| problem.starts_with(start)) {
        return format!("map[string]interface {{}}(nil): {problem}");
    }
    problem.strip_prefix("yaml: ").filter(|p| p.starts_with("map merge")).unwrap_or(problem).to_owned()
}

fn finish(item: Item, source: String) -> StoredDocument {
    let (object, leaves) = item.tree.harvest();
    StoredDocument { source, object, leaves, whole: item.whole }
}

/// A document as Helm sorts it before post-rendering.
struct Direct<'f> {
    path: &'f str,
    text: Text,
    document: StoredDocument,
}

/// Hooks and manifests by kind, as Helm reads them itself; hooks of unknown types are gone.
fn direct<'f>(
    files: &[&'f TemplateOutput],
    config: &PostRender<'_>,
    origins: &Origins,
) -> Result<(Vec<Direct<'f>>, Vec<Direct<'f>>), String> {
    let mut all = Vec::new();
    for file in files {
        for text in split(&file.text, config.helm) {
            let Some(parsed) = parse(&file.path, &text, Reading::Direct, origins)? else { continue };
            let object = parsed.object?;
            let document =
                StoredDocument { source: file.path.clone(), object, leaves: parsed.leaves, whole: parsed.whole };
            all.push(Direct { path: &file.path, text, document });
        }
    }
    all.sort_by_cached_key(|d| {
        let kind = d.document.object.get("kind").and_then(Json::as_str).unwrap_or_default();
        crate::chart::documents::rank(kind, config.helm)
    });
    let (mut hooks, manifests): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|d| hook_events(&d.document.object).is_some());
    hooks.retain(|d| hook_events(&d.document.object).is_some_and(|events| known(&events)));
    Ok((hooks, manifests))
}

/// Texts of a group as Helm glues them into files and cuts them again: by file, in the order of the group.
fn glued<'f>(mut group: Vec<Direct<'f>>, helm: HelmVersion) -> Vec<Direct<'f>> {
    group.sort_by(|a, b| a.path.cmp(b.path));
    let last: Vec<bool> =
        (0..group.len()).map(|i| group.get(i + 1).is_none_or(|next| next.path != group[i].path)).collect();
    for (part, last) in group.iter_mut().zip(last) {
        if last {
            continue;
        }
        let mut text = TextBuilder::default();
        if helm.has(Quirk::LineSeparators) {
            text.push_text(&part.text);
            text.push(b"\n", OriginSet::EMPTY);
        } else {
            let kept = part.text.bytes().trim_ascii_end().len();
            text.push_slice(&part.text, 0, kept);
        }
        part.text = text.finish();
    }
    group
}

/// Hooks and manifests in streams of their own (`F-345`), or hooks as rendered (`F-346`).
fn apart(files: &[&TemplateOutput], config: &PostRender<'_>, origins: &Origins) -> Result<Vec<StoredDocument>, String> {
    let (hooks, manifests) = direct(files, config, origins)?;
    let hooks = glued(hooks, config.helm);
    let texts = |group: Vec<Direct<'_>>| group.into_iter().map(|d| (d.path.to_owned(), d.text)).collect::<Vec<_>>();
    let run = |group: Vec<(String, Text)>, stream: &str| {
        let texts = group.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
        streamed(texts, stream, &format!("{stream}-"), config, origins)
    };
    let mut pool = Vec::new();
    if config.strategy == Strategy::Separate {
        pool.extend(run(texts(hooks), "hooks")?);
    } else {
        for hook in hooks {
            let Some(parsed) = parse(hook.path, &hook.text, Reading::Direct, origins)? else { continue };
            pool.push(StoredDocument { object: parsed.object?, ..hook.document });
        }
    }
    pool.extend(run(texts(glued(manifests, config.helm)), "manifests")?);
    Ok(pool)
}

/// Helm 3: sorted first, hooks as rendered, no source lines (`F-332`, `F-380` to `F-384`).
fn old_style(files: &[&TemplateOutput], config: &PostRender<'_>, origins: &Origins) -> Result<Stored, String> {
    let failed = |problem: String| format!("error while running post render on files: {problem}");
    let (hooks, manifests) = direct(files, config, origins)?;
    let mut items = Vec::new();
    for part in manifests {
        let mut text = TextBuilder::default();
        text.push_text(&part.text);
        text.push(b"\n", OriginSet::EMPTY);
        let Some(parsed) = parse(part.path, &text.finish(), Reading::PostRender(1), origins)? else { continue };
        let object = parsed.object.map_err(|problem| failed(refusal(&problem)))?;
        if object.as_object().is_some_and(JsonMap::is_empty) {
            continue; // F-323
        }
        // F-382: what has neither is no resource at all.
        if ["kind", "metadata"].iter().all(|field| object.get(field).is_none()) {
            return Err(failed("missing Resource metadata".to_owned()));
        }
        let mut tree = Tree::plant(object, &parsed.leaves);
        // A byte order mark becomes part of the first key (F-322).
        if part.text.bytes().starts_with("\u{feff}".as_bytes())
            && let Some(map) = tree.map_mut()
            && let Some(version) = map.remove("apiVersion")
        {
            map.insert("\u{feff}apiVersion".to_owned(), version);
        }
        items.push(Item { tree, whole: parsed.whole });
    }
    let manifest = stream::run(items, config).map_err(failed)?;
    let mut stored = sort_out(hooks.into_iter().map(|d| d.document).collect());
    stored.manifest = manifest.into_iter().map(|item| finish(item, String::new())).collect();
    built(stored)
}

/// What storing does to a text at the very end of a document (`F-357`): white space before a separator is cut (4.2.0 to
/// 4.2.3), and a block that keeps its line feeds gets the one that Helm writes after each document.
fn end_documents(pool: &mut [StoredDocument], helm: HelmVersion) {
    let last: Vec<bool> =
        (0..pool.len()).map(|i| pool.get(i + 1).is_none_or(|next| next.source != pool[i].source)).collect();
    for (document, last) in pool.iter_mut().zip(last) {
        let is_hook = hook_events(&document.object).is_some();
        let Some(text) = blocks::last_text(&mut document.object) else { continue };
        if !blocks::is_kept_block(text) {
            continue;
        }
        if !last && !helm.has(Quirk::LineSeparators) {
            let kept = text.trim_end_matches('\n').len();
            text.truncate(kept);
            if !is_hook {
                text.push('\n');
            }
        } else if !is_hook {
            text.push('\n');
        }
    }
}

/// An annotation as Helm reads it: numbers and booleans are texts.
fn annotation(object: &Json, name: &str) -> Option<String> {
    match object.get("metadata")?.get("annotations")?.get(name)? {
        Json::String(text) => Some(text.clone()),
        other @ (Json::Bool(_) | Json::Number(_)) => Some(other.to_string()),
        _ => None,
    }
}

fn hook_events(object: &Json) -> Option<Vec<String>> {
    let events = annotation(object, "helm.sh/hook")?;
    Some(events.split(',').map(|e| e.trim().to_lowercase()).collect())
}

/// What the API machinery refuses of metadata before anything is stored (`F-325a`).
fn unbuildable(documents: &[StoredDocument]) -> Option<String> {
    let type_of = |json: &Json| match json {
        Json::Null | Json::String(_) => None,
        Json::Bool(_) => Some("bool"),
        Json::Number(_) => Some("number"),
        Json::Array(_) => Some("array"),
        Json::Object(_) => Some("object"),
    };
    const BUILD: &str = "unable to build kubernetes objects from release manifest:";
    documents.iter().find_map(|document| {
        if document.object.get("apiVersion").and_then(Json::as_str).unwrap_or_default().is_empty() {
            return Some(format!("{BUILD} error validating \"\": error validating data: apiVersion not set"));
        }
        let metadata = document.object.get("metadata")?;
        let (field, found) = ["annotations", "labels", "name", "namespace"].into_iter().find_map(|field| {
            let value = metadata.get(field)?;
            let found = match value.as_object() {
                Some(map) if field.ends_with('s') => map.values().find_map(type_of),
                _ => type_of(value),
            };
            Some((field, found?))
        })?;
        Some(format!(
            "{BUILD} unable to decode \"\": json: cannot unmarshal \
             {found} into Go struct field ObjectMeta.metadata.{field} of type string"
        ))
    })
}

fn hook(document: StoredDocument, events: Vec<String>) -> StoredHook {
    let list = |name: &str| -> Vec<String> {
        let text = annotation(&document.object, name).unwrap_or_default();
        text.split(',').map(|p| p.trim().to_lowercase()).filter(|p| !p.is_empty()).collect()
    };
    let weight = annotation(&document.object, "helm.sh/hook-weight").and_then(|w| w.parse().ok()).unwrap_or(0);
    let mut delete_policies = list("helm.sh/hook-delete-policy");
    if delete_policies.is_empty() {
        // What Helm writes down when it runs the hook.
        delete_policies.push("before-hook-creation".to_owned());
    }
    StoredHook { document, events, weight, delete_policies }
}

/// The documents of a stored manifest.
///
/// # Errors
/// What of it is no YAML.
pub fn parse_manifest(text: &str) -> Result<Vec<StoredDocument>, String> {
    document::parse_manifest(text)
}

/// What Helm applies to the cluster (`F-370`).
pub fn live_form(document: &StoredDocument, release_name: &str, release_namespace: &str) -> Json {
    let mut object = document.object.clone();
    let Some(metadata) = object.get_mut("metadata").and_then(Json::as_object_mut) else { return object };
    let mut set = |field: &str, key: &str, value: &str| {
        let map = metadata.entry(field).or_insert_with(|| Json::Object(JsonMap::new()));
        if let Some(map) = map.as_object_mut() {
            map.insert(key.to_owned(), value.into());
        }
    };
    set("labels", "app.kubernetes.io/managed-by", "Helm");
    set("annotations", "meta.helm.sh/release-name", release_name);
    set("annotations", "meta.helm.sh/release-namespace", release_namespace);
    object
}

#[cfg(test)]
mod rule_tests;
#[cfg(test)]
mod tests;
