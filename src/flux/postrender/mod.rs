//! From what templates printed to the stored manifest: rules `F-320` to `F-372`.
//!
//! Each document keeps the origins of its leaves, by position path, and of its existence.

mod document;
mod order;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map as JsonMap, Value as Json};

use crate::base::version::{HelmVersion, Quirk};
use crate::chart::documents::{HOOK_EVENTS, split};
use crate::value::{OriginSet, Origins, Text};
use document::parse;

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
    /// Name of the HelmRelease.
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
    let mut documents = Vec::new();
    for file in files {
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        if name.starts_with('_') || file.path.ends_with("NOTES.txt") || file.text.lossy().trim().is_empty() {
            continue; // F-320
        }
        for text in split(&file.text, config.helm) {
            if let Some(document) = parse(&file.path, &text, config, origins)? {
                documents.push(document);
            }
        }
    }
    let mut documents = expand_lists(documents);
    // Raw hooks pass by the post-renderers (F-346, F-381).
    let old = !config.helm.has(Quirk::PostRendersDocuments);
    let raw = |document: &StoredDocument| {
        (old || config.strategy == Strategy::NoHooks) && hook_events(&document.object).is_some()
    };
    check(documents.iter().filter(|d| !raw(d)))?;
    for document in documents.iter_mut().filter(|d| !raw(d)) {
        label(document, config)?;
    }
    let mut stored = Stored { manifest: Vec::new(), hooks: Vec::new() };
    for document in documents {
        match hook_events(&document.object) {
            None => stored.manifest.push(document),
            // Hooks of unknown types are sorted out.
            Some(events) if events.iter().any(|e| !HOOK_EVENTS.contains(&e.as_str())) => {}
            Some(events) => stored.hooks.push(hook(document, events)),
        }
    }
    order::sort(&mut stored.manifest, |d| d, config.helm);
    order::sort(&mut stored.hooks, |h| &h.document, config.helm);
    if old {
        // Helm 3 stores no source lines (F-332).
        stored.manifest.iter_mut().for_each(|d| d.source.clear());
    }
    Ok(stored)
}

fn annotation<'j>(object: &'j Json, name: &str) -> Option<&'j str> {
    object.get("metadata")?.get("annotations")?.get(name)?.as_str()
}

fn hook_events(object: &Json) -> Option<Vec<String>> {
    let events = annotation(object, "helm.sh/hook")?;
    Some(events.split(',').map(|e| e.trim().to_lowercase()).collect())
}

fn hook(document: StoredDocument, events: Vec<String>) -> StoredHook {
    let list = |name: &str| -> Vec<String> {
        let text = annotation(&document.object, name).unwrap_or_default();
        text.split(',').map(|p| p.trim().to_lowercase()).filter(|p| !p.is_empty()).collect()
    };
    let weight = annotation(&document.object, "helm.sh/hook-weight").and_then(|w| w.trim().parse().ok()).unwrap_or(0);
    let delete_policies = list("helm.sh/hook-delete-policy");
    StoredHook { document, events, weight, delete_policies }
}

/// Lists are replaced by their items: plain ones in place, others at the end of the stream (`F-326`).
fn expand_lists(documents: Vec<StoredDocument>) -> Vec<StoredDocument> {
    let mut out = Vec::new();
    let mut tail = Vec::new();
    for document in documents {
        let kind = document.object.get("kind").and_then(Json::as_str).unwrap_or_default();
        let Some(items) = document.object.get("items").filter(|_| kind.ends_with("List")) else {
            out.push(document);
            continue;
        };
        let in_place = matches!(kind, "List" | "ResourceList");
        for (i, item) in items.as_array().cloned().unwrap_or_default().into_iter().enumerate() {
            let prefix = format!(".items[{i}]");
            let leaves = document.leaves.iter().filter_map(|(path, set)| {
                let rest = path.strip_prefix(&prefix)?;
                rest.starts_with(['.', '[']).then(|| (rest.to_owned(), *set))
            });
            let item = StoredDocument {
                source: if in_place { document.source.clone() } else { String::new() },
                object: item,
                leaves: leaves.collect(),
                whole: document.whole,
            };
            if in_place { out.push(item) } else { tail.push(item) }
        }
    }
    out.extend(tail);
    out
}

/// What every document must have (`F-325`), and must not share (`F-348`).
fn check<'d>(documents: impl Iterator<Item = &'d StoredDocument>) -> Result<(), String> {
    const PREFIX: &str = "error while running post render on files: ";
    let mut seen = BTreeSet::new();
    for document in documents {
        let text = |pointer: &str| document.object.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
        let kind = text("/kind");
        if kind.is_empty() {
            return Err(format!("{PREFIX}missing kind in object"));
        }
        if text("/metadata/name").is_empty() && !kind.ends_with("List") {
            return Err(format!("{PREFIX}missing metadata.name in object"));
        }
        let (group, version) = text("/apiVersion").split_once('/').unwrap_or(("", text("/apiVersion")));
        let or = |text: &str, none: &str| if text.is_empty() { none.to_owned() } else { text.to_owned() };
        let id = format!(
            "{kind}.{version}.{}/{}.{}",
            or(group, "[noGrp]"),
            text("/metadata/name"),
            or(text("/metadata/namespace"), "[noNs]")
        );
        if !seen.insert(id.replace(".[noNs]", ".default")) {
            return Err(format!("{PREFIX}may not add resource with an already registered id: {id}"));
        }
    }
    Ok(())
}

/// Common metadata and the labels of origin (`F-339` to `F-342`).
fn label(document: &mut StoredDocument, config: &PostRender<'_>) -> Result<(), String> {
    let Some(metadata) = document.object.get_mut("metadata").and_then(Json::as_object_mut) else { return Ok(()) };
    let common = |field: &str| config.common_metadata.and_then(|m| m.get(field)).and_then(Json::as_object);
    let mut set = |metadata: &mut JsonMap<String, Json>, field: &str, key: &str, value: Json| -> Result<(), String> {
        let map = metadata.entry(field).or_insert_with(|| Json::Object(JsonMap::new()));
        if map.is_null() {
            *map = Json::Object(JsonMap::new());
        }
        let Some(map) = map.as_object_mut() else {
            return Err(format!(
                "error while running post render on files: considering field 'metadata/{field}': wrong node kind"
            ));
        };
        map.insert(key.to_owned(), value);
        document.leaves.remove(&format!(".metadata.{field}.{key}"));
        Ok(())
    };
    for (key, value) in common("labels").into_iter().flatten() {
        set(metadata, "labels", key, value.clone())?;
    }
    for (key, value) in common("annotations").into_iter().flatten() {
        set(metadata, "annotations", key, value.clone())?;
    }
    set(metadata, "labels", "helm.toolkit.fluxcd.io/name", config.hr_name.into())?;
    set(metadata, "labels", "helm.toolkit.fluxcd.io/namespace", config.hr_namespace.into())?;
    if config.helm.has(Quirk::PostRendersDocuments)
        && metadata.get("annotations").is_some_and(|a| a.is_null() || a.as_object().is_some_and(JsonMap::is_empty))
    {
        metadata.remove("annotations");
    }
    Ok(())
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
mod tests {
    use super::*;
    use crate::value::TextBuilder;
    use crate::value::origin::Origin;
    use serde_json::json;

    fn config(helm: &str) -> PostRender<'static> {
        PostRender {
            helm: helm.parse().unwrap(),
            strategy: Strategy::Combined,
            hr_name: "app",
            hr_namespace: "ns",
            post_renderers: None,
            common_metadata: None,
        }
    }

    fn rendered(text: &str) -> Result<Stored, String> {
        let files = [TemplateOutput { path: "c/templates/a.yaml".into(), text: text.into() }];
        post_render(&files, &config("4.2.2"), &Origins::new(true))
    }

    #[test]
    fn f_340_every_document_gets_the_labels_of_origin() {
        let stored = rendered("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n").unwrap();
        let labels = &stored.manifest[0].object["metadata"]["labels"];
        assert_eq!(labels, &json!({"helm.toolkit.fluxcd.io/name": "app", "helm.toolkit.fluxcd.io/namespace": "ns"}));
    }

    #[test]
    fn f_325_a_document_without_a_name_fails() {
        assert!(rendered("apiVersion: v1\nkind: ConfigMap\n").err().unwrap().contains("missing metadata.name"));
    }

    #[test]
    fn f_348_the_same_object_twice_fails() {
        let one = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
        let error = rendered(&format!("{one}---\n{one}")).err().unwrap();
        assert!(error.ends_with("already registered id: ConfigMap.v1.[noGrp]/a.[noNs]"), "{error}");
    }

    #[test]
    fn leaves_and_documents_know_their_origins() {
        let origins = Origins::new(true);
        let gate = origins.only(Origin::Release("IsUpgrade"));
        let fact = origins.only(Origin::KubeVersion);
        let mut text = TextBuilder::default();
        text.push(b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: \"", gate);
        text.push(b"1.30", origins.union(gate, fact));
        text.push(b"\"\n", gate);
        let files = [TemplateOutput { path: "c/templates/a.yaml".into(), text: text.finish() }];
        let stored = post_render(&files, &config("4.2.2"), &origins).unwrap();
        let document = &stored.manifest[0];
        assert_eq!(document.whole, gate);
        assert_eq!(document.leaves[".data.x"], origins.union(gate, fact));
    }

    #[test]
    fn a_stored_manifest_is_read_with_its_sources() {
        let text = "---\n# Source: c/templates/a.yaml\nkind: A\nmetadata:\n  name: a\n---\n# Source: c/templates/b.yaml\nkind: B\n";
        let documents = parse_manifest(text).unwrap();
        let sources: Vec<&str> = documents.iter().map(|d| d.source.as_str()).collect();
        assert_eq!(sources, ["c/templates/a.yaml", "c/templates/b.yaml"]);
    }
}
