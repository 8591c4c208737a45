//! Whether the cluster still holds what the stored manifest says (`F-104`, `F-105`).

use serde_json::Value as Json;

use super::model::HelmRelease;
use super::postrender::parse_manifest;
use crate::base::Known;
use crate::cluster::object::{Object, ObjectKey};
use crate::cluster::snapshot::Facts;
use crate::cluster::storage::StoredRelease;

/// What drift detection finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Drift {
    /// Nothing.
    None,
    /// The first difference.
    Found(String),
    /// The API server refuses the dry run: the state cannot be told (`F-102`).
    Refused(String),
    /// Nothing for certain: objects were not collected, or fields differ that the API server may write in its own way.
    Unsure,
}

/// Annotation and label that take an object out of drift detection.
const DISABLED: &str = "helm.toolkit.fluxcd.io/driftDetection";

/// Compares the stored manifest with the cluster.
pub(super) fn drift(hr: &HelmRelease, stored: &StoredRelease, facts: &dyn Facts) -> Drift {
    let Ok(documents) = parse_manifest(stored.manifest()) else { return Drift::Unsure };
    if hr.json.pointer("/spec/kubeConfig").is_some_and(|k| !k.is_null()) {
        return Drift::Unsure;
    }
    let ignores = hr.json.pointer("/spec/driftDetection/ignore").and_then(Json::as_array);
    let has_ignores = ignores.is_some_and(|i| !i.is_empty());
    let mut unsure = false;
    for document in &documents {
        let Some(object) = Object::new(document.object.clone(), Default::default()) else { continue };
        let meta =
            |kind: &str| object.json.pointer(&format!("/metadata/{kind}")).and_then(|m| m.get(DISABLED)).cloned();
        if meta("labels").or_else(|| meta("annotations")) == Some("disabled".into()) {
            continue;
        }
        let namespaced = facts.discovery().namespaced(&object.key.group, &object.key.kind);
        let namespace = match namespaced {
            Some(false) => String::new(),
            _ if object.key.namespace.is_empty() => stored.namespace.clone(),
            _ => object.key.namespace.clone(),
        };
        let key = ObjectKey { namespace, ..object.key.clone() };
        match facts.get(&key) {
            Known::Absent => return Drift::Found(format!("{} removed", shown(&key))),
            Known::Uncollected => unsure = true,
            Known::Present(live) => {
                let mut path = String::new();
                match differs(&object.json, &live.json, &mut path, 0) {
                    Some(true) if !has_ignores => return Drift::Found(format!("{} changed at {path}", shown(&key))),
                    Some(_) => unsure = true,
                    None => {}
                }
            }
        }
    }
    if unsure { Drift::Unsure } else { Drift::None }
}

/// An object as the controller's messages name it.
fn shown(key: &ObjectKey) -> String {
    let place = if key.namespace.is_empty() { String::new() } else { format!("{}/", key.namespace) };
    format!("{}/{place}{}", key.kind, key.name)
}

/// Whether a wanted value is not in the live object: `Some(true)` for certain, `Some(false)` perhaps. `path` leads there.
fn differs(wanted: &Json, live: &Json, path: &mut String, depth: usize) -> Option<bool> {
    if depth > crate::value::MAX_DEPTH {
        return None;
    }
    match (wanted, live) {
        (Json::Object(wanted), Json::Object(live)) => {
            let mut perhaps = None;
            for (key, value) in wanted {
                if depth == 0 && matches!(key.as_str(), "apiVersion" | "kind" | "status") || value.is_null() {
                    continue;
                }
                let before = path.len();
                path.push('.');
                path.push_str(key);
                let found = match live.get(key) {
                    Some(live) => differs(value, live, path, depth + 1),
                    // Empty values and Secret's stringData are not kept as written.
                    None => Some(false),
                };
                match found {
                    Some(true) => return found,
                    Some(false) => perhaps = Some(false),
                    None => {}
                }
                path.truncate(before);
            }
            perhaps
        }
        (Json::Array(wanted), Json::Array(live)) if wanted.len() == live.len() => {
            let found: Vec<Option<bool>> =
                wanted.iter().zip(live).map(|(w, l)| differs(w, l, &mut path.clone(), depth + 1)).collect();
            match found {
                // Order and defaults of list elements are the API server's.
                found if found.iter().any(Option::is_some) => Some(false),
                _ => None,
            }
        }
        (Json::Number(a), Json::Number(b)) => (a.as_f64() != b.as_f64()).then_some(true),
        (Json::Bool(a), Json::Bool(b)) => (a != b).then_some(true),
        (Json::String(a), Json::String(b)) if a == b => None,
        // Quantities and durations are rewritten.
        (Json::String(a), Json::String(b)) => {
            let number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
            Some(!(number(a) && number(b)))
        }
        (a, b) => (a != b).then_some(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn f_104_only_managed_fields_count() {
        let live = json!({"spec": {"replicas": 5, "own": true, "cpu": "1"}, "data": {"a": "x"}});
        for (wanted, want) in [
            (json!({"spec": {"replicas": 5}}), None),
            (json!({"spec": {"replicas": 2}}), Some(true)),
            (json!({"spec": {"cpu": "1000m"}}), Some(false)),
            (json!({"data": {"a": "y"}}), Some(true)),
            (json!({"data": {"b": "y"}}), Some(false)),
        ] {
            assert_eq!(differs(&wanted, &live, &mut String::new(), 0), want, "{wanted}");
        }
    }
}
