//! The identity of an object inside a post-renderer (`F-348`).

use std::fmt;

use super::tree::Tree;
use crate::cluster::kinds::BUILTINS;

/// Group, version, kind, name and namespace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ident {
    /// API group; "" for the core.
    pub group: String,
    /// Version in the group.
    pub version: String,
    /// Kind.
    pub kind: String,
    /// Name.
    pub name: String,
    /// Namespace as written; "" for none.
    pub namespace: String,
}

impl Ident {
    /// What an object says about itself.
    pub fn of(tree: &Tree) -> Ident {
        let text = |keys: &[&str]| tree.get(keys).map(Tree::scalar).unwrap_or_default();
        let api_version = text(&["apiVersion"]);
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        Ident {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: text(&["kind"]),
            name: text(&["metadata", "name"]),
            namespace: text(&["metadata", "namespace"]),
        }
    }

    fn cluster_scoped(&self) -> bool {
        let api = BUILTINS.iter().find(|b| {
            let (group, version) = b.group_version.split_once('/').unwrap_or(("", b.group_version));
            group == self.group && version == self.version
        });
        api.is_some_and(|api| api.resources.iter().any(|(kind, _, namespaced, _)| *kind == self.kind && !namespaced))
    }

    /// The namespace that counts when objects are compared.
    pub fn effective_namespace(&self) -> &str {
        if self.cluster_scoped() {
            "_non_namespaceable_"
        } else if self.namespace.is_empty() {
            "default"
        } else {
            &self.namespace
        }
    }

    /// What makes two objects the same.
    pub fn key(&self) -> (String, String, String, String, String) {
        (
            self.group.clone(),
            self.version.clone(),
            self.kind.clone(),
            self.name.clone(),
            self.effective_namespace().to_owned(),
        )
    }
}

impl fmt::Display for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or = |text: &str, none: &'static str| if text.is_empty() { none.to_owned() } else { text.to_owned() };
        let (kind, version) = (or(&self.kind, "[noKind]"), or(&self.version, "[noVer]"));
        let (group, name) = (or(&self.group, "[noGrp]"), or(&self.name, "[noName]"));
        write!(f, "{kind}.{version}.{group}/{name}.{}", or(&self.namespace, "[noNs]"))
    }
}
