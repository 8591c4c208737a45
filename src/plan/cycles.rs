//! Circles of `dependsOn`, edge by edge, with the revision that rendered each (`F-263`).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value as Json;

use super::findings::reference;
use crate::cluster::object::ObjectKey;
use crate::cluster::snapshot::Facts;
use crate::cluster::storage::stored;
use crate::flux::HelmRelease;
use crate::flux::postrender::parse_manifest;

/// Objects that an object waits for.
fn needs(object: &Json, key: &ObjectKey) -> Vec<ObjectKey> {
    let list = object.pointer("/spec/dependsOn").and_then(Json::as_array);
    let text = |entry: &Json, field: &str| entry.get(field).and_then(Json::as_str).unwrap_or_default().to_owned();
    let one = |entry: &Json| {
        let namespace = Some(text(entry, "namespace")).filter(|n| !n.is_empty());
        ObjectKey {
            namespace: namespace.unwrap_or_else(|| key.namespace.clone()),
            name: text(entry, "name"),
            ..key.clone()
        }
    };
    list.into_iter().flatten().map(one).collect()
}

/// The shortest circle that leads from an object back to it; empty if there is none.
pub(super) fn circle(key: &ObjectKey, facts: &dyn Facts) -> Vec<ObjectKey> {
    let mut from: BTreeMap<ObjectKey, ObjectKey> = BTreeMap::new();
    let mut queue = VecDeque::from([key.clone()]);
    while let Some(here) = queue.pop_front() {
        let Some(object) = facts.get(&here).present() else { continue };
        for next in needs(&object.json, &here) {
            if next == *key {
                let mut path = vec![here.clone()];
                while let Some(before) = path.last().and_then(|last| from.get(last)).cloned() {
                    path.push(before);
                }
                path.reverse();
                return path;
            }
            if !from.contains_key(&next) {
                from.insert(next.clone(), here.clone());
                queue.push_back(next);
            }
        }
    }
    Vec::new()
}

/// The release that rendered an object, by its labels of origin (`F-340`).
pub(super) fn parent(object: &Json, facts: &dyn Facts) -> Option<HelmRelease> {
    let labels = object.pointer("/metadata/labels")?;
    let label = |name: &str| labels.get(format!("helm.toolkit.fluxcd.io/{name}"))?.as_str().map(str::to_owned);
    let key = ObjectKey {
        group: super::gather::HELM_GROUP.into(),
        kind: "HelmRelease".into(),
        namespace: label("namespace")?,
        name: label("name")?,
    };
    Some(HelmRelease::new(facts.get(&key).present()?.json.clone()))
}

/// The newest stored revision whose manifest holds the edge, and whether it is the newest of all.
fn rendered_by(from: &ObjectKey, to: &ObjectKey, facts: &dyn Facts) -> Option<(String, bool)> {
    let object = facts.get(from).present()?;
    let parent = parent(&object.json, facts)?;
    let revisions = stored(facts, &parent.storage_namespace(), &parent.release_name()).0;
    let holds = |manifest: &str| {
        let documents = parse_manifest(manifest).unwrap_or_default();
        documents.iter().any(|document| {
            let text = |pointer: &str| document.object.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
            text("/kind") == from.kind
                && text("/metadata/name") == from.name
                && needs(&document.object, from).contains(to)
        })
    };
    let at = revisions.iter().position(|revision| holds(revision.manifest()))?;
    let text = format!("revision {} of {}/{}", revisions[at].version, parent.namespace, parent.name);
    Some((text, at == 0))
}

/// What to say of the circles that these objects are in.
pub(super) fn notes(keys: &[ObjectKey], facts: &dyn Facts) -> Vec<String> {
    let mut notes = Vec::new();
    let mut told: BTreeSet<ObjectKey> = BTreeSet::new();
    for key in keys.iter().filter(|key| matches!(key.kind.as_str(), "Kustomization" | "HelmRelease")) {
        let path = circle(key, facts);
        if path.is_empty() || path.iter().any(|member| told.contains(member)) {
            continue;
        }
        let name = |k: &ObjectKey| {
            if k.namespace == key.namespace { k.name.clone() } else { format!("{}/{}", k.namespace, k.name) }
        };
        let names: Vec<String> = path.iter().skip(1).chain([key]).map(name).collect();
        notes.push(format!("dependency cycle: {}/{}/{} → {}", key.kind, key.namespace, key.name, names.join(" → ")));
        let mut revisions = BTreeSet::new();
        let mut last = true;
        for (at, from) in path.iter().enumerate() {
            let to = path.get(at + 1).unwrap_or(key);
            let (by, newest) = rendered_by(from, to, facts).unwrap_or(("no stored revision".to_owned(), true));
            notes.push(format!("{} → {}: {by}", name(from), name(to)));
            last &= newest;
            revisions.insert(by);
        }
        notes.push(match last {
            true => format!("all edges of {} are final: it does not resolve by itself", reference(key)),
            false => "MIXED_GENERATION: edges of different revisions; look again when the newest is applied".to_owned(),
        });
        told.extend(path);
    }
    notes
}
