//! The state of a cluster at one moment, and how much of it was collected.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::discovery::Discovery;
use super::object::{Object, ObjectKey};
use crate::base::Known;

/// A state of the cluster that can be asked: a snapshot, or one with edits on top.
pub trait Facts {
    /// The object of that identity.
    fn get(&self, key: &ObjectKey) -> Known<Rc<Object>>;
    /// The objects of a kind, in one namespace or in all, by namespace and name.
    fn list(&self, group: &str, kind: &str, namespace: Option<&str>) -> Known<Vec<Rc<Object>>>;
    /// What is served.
    fn discovery(&self) -> &Discovery;
    /// Whether the API server answers a request.
    fn access(&self, asked: &Question<'_>) -> Access {
        let _ = asked;
        Access::Allowed
    }
    /// Who asks, as refusals name him.
    fn user(&self) -> &str {
        USER
    }
    /// When the state was seen, in nanoseconds since 1970 UTC; 0 if unknown.
    fn taken(&self) -> i128;
    /// What lists answer as `metadata.resourceVersion`.
    fn list_version(&self) -> &str;
    /// The chart in the artifact with that digest (`sha256:…`), where the artifact itself was given.
    fn artifact(&self, digest: &str) -> Option<&ArtifactChart> {
        let _ = digest;
        None
    }
}

/// Who the recorded API server says is asking, where nothing else is known.
const USER: &str = "system:serviceaccount:flux-system:oracle";

/// Whether the one who asks may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// He may.
    Allowed,
    /// He may not (L7).
    Refused,
    /// The roles and bindings that tell were not collected.
    Unknown,
}

/// One request, as roles allow or refuse it.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// API group; "" for the core group.
    pub group: &'a str,
    /// Plural of the resource.
    pub plural: &'a str,
    /// Namespace; "" for the whole cluster.
    pub namespace: &'a str,
    /// Name; "" where many are asked for.
    pub name: &'a str,
    /// `get`, `list`, …
    pub verb: &'a str,
}

/// What the Chart.yaml in a source's artifact says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactChart {
    /// Name.
    pub name: String,
    /// Version, without what Flux appends to it.
    pub version: String,
}

/// A rule that refuses requests, of recorded clusters.
#[derive(Debug, Clone, Default)]
pub struct Forbidden {
    /// API group.
    pub group: String,
    /// Plural of the resource.
    pub plural: String,
    /// Namespace; any if none is given.
    pub namespace: Option<String>,
    /// Verbs; any if none is given.
    pub verbs: Vec<String>,
}

/// What was collected, as far as it was declared.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    /// Some of the input could not be read: that objects were seen somewhere does not tell that all were.
    pub lossy: bool,
    /// Everything: what is not there does not exist.
    pub complete: bool,
    /// Namespaces of which everything was collected.
    pub namespaces: BTreeSet<String>,
    /// Group and kind, with namespaces (`*` for all).
    pub kinds: BTreeMap<(String, String), BTreeSet<String>>,
}

/// Objects, what is served, what was collected.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    objects: BTreeMap<ObjectKey, Rc<Object>>,
    /// Namespaces in which objects of a group and kind were seen.
    seen: BTreeMap<(String, String), BTreeSet<String>>,
    /// What is served.
    pub discovery: Discovery,
    /// What was declared as collected.
    pub coverage: Coverage,
    /// When it was taken, in nanoseconds since 1970 UTC; 0 if unknown.
    pub taken: i128,
    /// The same as the input wrote it.
    pub taken_text: Option<String>,
    /// What lists answer as `metadata.resourceVersion`.
    pub list_version: String,
    /// Refused requests.
    pub forbidden: Vec<Forbidden>,
    /// Charts in artifacts that were given beside the snapshot, by digest.
    pub artifacts: BTreeMap<String, ArtifactChart>,
}

impl Snapshot {
    /// Adds an object, replacing one of the same identity.
    pub fn insert(&mut self, object: Object) {
        let kind = (object.key.group.clone(), object.key.kind.clone());
        self.seen.entry(kind).or_default().insert(object.key.namespace.clone());
        self.objects.insert(object.key.clone(), Rc::new(object));
    }

    /// Writes and deletes objects; CRDs make and end the serving of their kinds. Returns what was written and is new or
    /// has another spec or other data.
    pub fn apply(&mut self, edits: impl IntoIterator<Item = (ObjectKey, Option<Rc<Object>>)>) -> Vec<ObjectKey> {
        let mut changed = Vec::new();
        for (key, object) in edits {
            let old = self.objects.remove(&key);
            let crd = |o: &Rc<Object>| super::import::is_crd(&o.api_version, &o.key.kind);
            let Some(object) = object else {
                if let Some(old) = old.filter(crd) {
                    self.discovery.remove_crd(&old.json);
                }
                continue;
            };
            if crd(&object) {
                self.discovery.add_crd(&object.json);
            }
            let differs = |field: &str| old.as_ref().and_then(|o| o.json.get(field)) != object.json.get(field);
            if old.is_none() || differs("spec") || differs("data") {
                changed.push(key.clone());
            }
            let kind = (key.group.clone(), key.kind.clone());
            self.seen.entry(kind).or_default().insert(key.namespace.clone());
            self.objects.insert(key, object);
        }
        changed
    }

    /// All objects, by identity.
    pub fn objects(&self) -> impl Iterator<Item = &Rc<Object>> {
        self.objects.values()
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Whether the absence of objects of this kind in this namespace (`None`: in all) is certain.
    ///
    /// Without a declaration, a kind counts as collected where objects of it were seen: in the namespace asked for, or,
    /// for all namespaces, in more than one; but nowhere if some of the input was lost. Kinds that are not served have no
    /// objects.
    fn collected(&self, group: &str, kind: &str, namespace: Option<&str>) -> bool {
        if self.coverage.complete || self.discovery.namespaced(group, kind).is_none() {
            return true;
        }
        let id = (group.to_owned(), kind.to_owned());
        let declared = |ns: &str| {
            self.coverage.namespaces.contains(ns)
                || self.coverage.kinds.get(&id).is_some_and(|all| all.contains("*") || all.contains(ns))
        };
        let seen = self.seen.get(&id).filter(|_| !self.coverage.lossy);
        match namespace {
            Some(ns) => declared(ns) || seen.is_some_and(|seen| seen.contains(ns) || seen.len() > 1),
            None => {
                self.coverage.kinds.get(&id).is_some_and(|all| all.contains("*")) || seen.is_some_and(|s| s.len() > 1)
            }
        }
    }
}

impl Facts for Snapshot {
    fn get(&self, key: &ObjectKey) -> Known<Rc<Object>> {
        match self.objects.get(key) {
            Some(object) => Known::Present(object.clone()),
            None if self.collected(&key.group, &key.kind, Some(&key.namespace)) => Known::Absent,
            None => Known::Uncollected,
        }
    }

    fn list(&self, group: &str, kind: &str, namespace: Option<&str>) -> Known<Vec<Rc<Object>>> {
        let from = ObjectKey {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: namespace.unwrap_or_default().to_owned(),
            name: String::new(),
        };
        let found: Vec<Rc<Object>> = self
            .objects
            .range(from..)
            .take_while(|(k, _)| k.group == group && k.kind == kind && namespace.is_none_or(|ns| k.namespace == ns))
            .map(|(_, object)| object.clone())
            .collect();
        if found.is_empty() && !self.collected(group, kind, namespace) {
            return Known::Uncollected;
        }
        Known::Present(found)
    }

    fn discovery(&self) -> &Discovery {
        &self.discovery
    }

    fn access(&self, asked: &Question<'_>) -> Access {
        let refused = self.forbidden.iter().any(|rule| {
            rule.group == asked.group
                && rule.plural == asked.plural
                && rule.namespace.as_ref().is_none_or(|ns| ns == asked.namespace)
                && (rule.verbs.is_empty() || rule.verbs.iter().any(|v| v == asked.verb || v == "*"))
        });
        if refused { Access::Refused } else { Access::Allowed }
    }

    fn taken(&self) -> i128 {
        self.taken
    }

    fn list_version(&self) -> &str {
        &self.list_version
    }

    fn artifact(&self, digest: &str) -> Option<&ArtifactChart> {
        self.artifacts.get(digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn secret(namespace: &str, name: &str) -> Object {
        let json = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": namespace, "name": name}});
        Object::new(json, Default::default()).unwrap()
    }

    fn key(kind: &str, namespace: &str) -> ObjectKey {
        ObjectKey { group: String::new(), kind: kind.into(), namespace: namespace.into(), name: "missing".into() }
    }

    #[test]
    fn absence_is_only_certain_where_somebody_looked() {
        let mut snapshot = Snapshot::default();
        snapshot.insert(secret("a", "x"));
        assert!(matches!(snapshot.get(&key("Secret", "a")), Known::Absent));
        assert!(matches!(snapshot.get(&key("Secret", "b")), Known::Uncollected));
        assert!(matches!(snapshot.get(&key("ConfigMap", "a")), Known::Uncollected));
        snapshot.insert(secret("c", "y"));
        assert!(matches!(snapshot.get(&key("Secret", "b")), Known::Absent), "collected over several namespaces");
        snapshot.coverage.complete = true;
        assert!(matches!(snapshot.get(&key("ConfigMap", "a")), Known::Absent));
    }
}
