//! A state of the cluster with edits on top: what later waves find.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value as Json;

use super::discovery::Discovery;
use super::import::is_crd;
use super::object::{Object, ObjectKey, Source, fold_string_data};
use super::snapshot::{Access, ArtifactChart, Facts, Question};
use crate::base::Known;

/// Edits on top of a state of the cluster.
pub struct Overlay<'a> {
    base: &'a dyn Facts,
    /// Objects written, and (`None`) deleted.
    edits: BTreeMap<ObjectKey, Option<Rc<Object>>>,
    discovery: Option<Box<Discovery>>,
}

impl<'a> Overlay<'a> {
    /// No edits yet.
    pub fn new(base: &'a dyn Facts) -> Self {
        Overlay { base, edits: BTreeMap::new(), discovery: None }
    }

    /// No edits, but other things served.
    pub fn with_discovery(base: &'a dyn Facts, discovery: Discovery) -> Self {
        Overlay { base, edits: BTreeMap::new(), discovery: Some(Box::new(discovery)) }
    }

    /// Writes an object as a release's apply would: over what is there, without the fields that `previous` (the object as
    /// the release wrote it last) had and this one lacks. `stringData` goes into `data`, a missing namespace is
    /// `namespace`, cluster-scoped objects have none. CRDs make their kinds served.
    pub fn put(&mut self, mut json: Json, namespace: &str, previous: Option<&Json>) {
        let text = |pointer: &str| json.pointer(pointer).and_then(Json::as_str).unwrap_or_default().to_owned();
        let (api_version, kind) = (text("/apiVersion"), text("/kind"));
        let group = super::object::group_of(&api_version);
        let namespaced = self.discovery().namespaced(group, &kind).unwrap_or(true);
        if let Some(meta) = json.get_mut("metadata").and_then(Json::as_object_mut) {
            if !namespaced {
                meta.remove("namespace");
            } else if meta.get("namespace").and_then(Json::as_str).unwrap_or_default().is_empty() {
                meta.insert("namespace".into(), namespace.into());
            }
        }
        if kind == "Secret" && api_version == "v1" {
            fold_string_data(&mut json);
        }
        let Some(mut object) = Object::new(json, Source::default()) else { return };
        if let Known::Present(old) = self.get(&object.key) {
            let mut merged = (*old.json).clone();
            if let Some(previous) = previous {
                prune(&mut merged, previous, &object.json, 0);
            }
            lay_over(&mut merged, &object.json, 0);
            object.json = Rc::new(merged);
        }
        if is_crd(&object.api_version, &object.key.kind) {
            self.discovery_mut().add_crd(&object.json);
        }
        self.edits.insert(object.key.clone(), Some(Rc::new(object)));
    }

    /// Deletes an object.
    pub fn delete(&mut self, key: &ObjectKey) {
        if let Known::Present(old) = self.get(key)
            && is_crd(&old.api_version, &old.key.kind)
        {
            self.discovery_mut().remove_crd(&old.json);
        }
        self.edits.insert(key.clone(), None);
    }

    /// What was written (or, without an object, deleted).
    pub fn into_edits(self) -> Vec<(ObjectKey, Option<Rc<Object>>)> {
        self.edits.into_iter().collect()
    }

    fn discovery_mut(&mut self) -> &mut Discovery {
        let base = self.base;
        self.discovery.get_or_insert_with(|| Box::new(base.discovery().clone()))
    }
}

/// Most nesting of objects that is merged.
const MAX_DEPTH: usize = 200;

/// Takes away what was written before and is not any more.
fn prune(live: &mut Json, previous: &Json, new: &Json, depth: usize) {
    let (Some(live), Some(previous)) = (live.as_object_mut(), previous.as_object()) else { return };
    for (key, old) in previous {
        match (new.get(key), live.get_mut(key)) {
            (None, _) => {
                live.remove(key);
            }
            (Some(new), Some(live)) if depth < MAX_DEPTH => prune(live, old, new, depth + 1),
            _ => {}
        }
    }
}

/// Lays maps over maps; anything else is replaced.
fn lay_over(live: &mut Json, new: &Json, depth: usize) {
    match (live, new) {
        (Json::Object(live), Json::Object(new)) if depth < MAX_DEPTH => {
            for (key, value) in new {
                match live.get_mut(key) {
                    Some(old) => lay_over(old, value, depth + 1),
                    None => {
                        live.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (live, new) => *live = new.clone(),
    }
}

impl Facts for Overlay<'_> {
    fn get(&self, key: &ObjectKey) -> Known<Rc<Object>> {
        match self.edits.get(key) {
            Some(Some(object)) => Known::Present(object.clone()),
            Some(None) => Known::Absent,
            None => self.base.get(key),
        }
    }

    fn list(&self, group: &str, kind: &str, namespace: Option<&str>) -> Known<Vec<Rc<Object>>> {
        let fits =
            |key: &ObjectKey| key.group == group && key.kind == kind && namespace.is_none_or(|ns| key.namespace == ns);
        let base = self.base.list(group, kind, namespace);
        let certain = !matches!(base, Known::Uncollected);
        let mut found: BTreeMap<ObjectKey, Rc<Object>> =
            base.present().unwrap_or_default().into_iter().map(|o| (o.key.clone(), o)).collect();
        for (key, edit) in self.edits.iter().filter(|(key, _)| fits(key)) {
            match edit {
                Some(object) => found.insert(key.clone(), object.clone()),
                None => found.remove(key),
            };
        }
        if found.is_empty() && !certain {
            return Known::Uncollected;
        }
        Known::Present(found.into_values().collect())
    }

    fn discovery(&self) -> &Discovery {
        self.discovery.as_deref().unwrap_or_else(|| self.base.discovery())
    }

    fn access(&self, asked: &Question<'_>) -> Access {
        self.base.access(asked)
    }

    fn user(&self) -> &str {
        self.base.user()
    }

    fn taken(&self) -> i128 {
        self.base.taken()
    }

    fn list_version(&self) -> &str {
        self.base.list_version()
    }

    fn artifact(&self, digest: &str) -> Option<&ArtifactChart> {
        self.base.artifact(digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::snapshot::Snapshot;
    use serde_json::json;

    #[test]
    fn writes_are_seen_as_the_api_server_stores_them() {
        let snapshot = Snapshot::default();
        let mut overlay = Overlay::new(&snapshot);
        overlay.put(
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "b"}}),
            "ns",
            None,
        );
        let key = ObjectKey { group: "".into(), kind: "Secret".into(), namespace: "ns".into(), name: "s".into() };
        let Known::Present(found) = overlay.get(&key) else { panic!("not found") };
        assert_eq!(found.json["data"], json!({"a": "Yg=="}));
        overlay.put(
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"c": "Yg=="}}),
            "ns",
            Some(&json!({"data": {"a": "Yg=="}})),
        );
        let Known::Present(found) = overlay.get(&key) else { panic!("not found") };
        assert_eq!(found.json["data"], json!({"c": "Yg=="}), "what the release wrote before is gone");
        overlay.delete(&key);
        assert!(matches!(overlay.get(&key), Known::Absent));
    }
}
