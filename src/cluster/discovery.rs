//! What the API server serves: kinds by group version, and its version.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::kinds::{BUILTINS, FORMER, SINCE};

/// A served resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Kind.
    pub kind: String,
    /// Plural, as in URLs.
    pub plural: String,
    /// Whether objects of it live in namespaces.
    pub namespaced: bool,
    /// Whether it can be got and listed (reviews, for instance, can only be created).
    pub readable: bool,
}

/// Version of Kubernetes, as `/version` tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KubeVersion {
    /// `v1.35.4`
    pub git: String,
    /// `1`
    pub major: String,
    /// `35`
    pub minor: String,
}

impl KubeVersion {
    /// From a git version; servers put a `v` in front.
    pub fn new(git: &str) -> Self {
        let plain = git.strip_prefix('v').unwrap_or(git);
        let mut numbers = plain.split(['.', '-', '+']);
        let mut next = || numbers.next().unwrap_or_default().to_owned();
        KubeVersion { git: format!("v{plain}"), major: next(), minor: next() }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Group {
    resources: BTreeMap<String, Resource>,
    sub_kinds: BTreeSet<String>,
    /// Advertised, but its server does not answer.
    broken: bool,
}

/// Everything served.
#[derive(Debug, Clone)]
pub struct Discovery {
    groups: BTreeMap<String, Group>,
    /// Version of Kubernetes.
    pub version: KubeVersion,
    /// Whether the version was told by the input.
    pub version_known: bool,
}

impl Default for Discovery {
    /// The built-in kinds of Kubernetes.
    fn default() -> Self {
        let groups = BUILTINS
            .iter()
            .map(|builtin| {
                let resources = builtin.resources.iter().map(|&(kind, plural, namespaced, readable)| {
                    (kind.to_owned(), Resource { kind: kind.into(), plural: plural.into(), namespaced, readable })
                });
                let sub_kinds = builtin.sub_kinds.iter().map(|k| (*k).to_owned()).collect();
                (builtin.group_version.to_owned(), Group { resources: resources.collect(), sub_kinds, broken: false })
            })
            .collect();
        Discovery { groups, version: KubeVersion::new("v1.35.0"), version_known: false }
    }
}

impl Discovery {
    /// What a server of that version serves by itself.
    pub fn of(version: &str) -> Self {
        let mut discovery =
            Discovery { version: KubeVersion::new(version), version_known: true, ..Discovery::default() };
        let Ok(minor) = discovery.version.minor.parse::<u16>() else { return discovery };
        for (gv, kinds, _) in SINCE.iter().filter(|(_, _, since)| minor < *since) {
            if let Some(group) = discovery.groups.get_mut(*gv) {
                group.resources.retain(|kind, _| !kinds.contains(&kind.as_str()));
            }
        }
        discovery.groups.retain(|_, group| !group.resources.is_empty());
        for &(gv, kind, plural, namespaced, _) in FORMER.iter().filter(|former| minor <= former.4) {
            discovery.add(gv, Resource { kind: kind.into(), plural: plural.into(), namespaced, readable: true });
        }
        discovery
    }

    /// Whether the group version is served.
    pub fn serves(&self, group_version: &str) -> bool {
        self.groups.contains_key(group_version)
    }

    /// Whether the group version is advertised, but not answered for.
    pub fn is_broken(&self, group_version: &str) -> bool {
        self.groups.get(group_version).is_some_and(|g| g.broken)
    }

    /// The resource of a kind.
    pub fn resource(&self, group_version: &str, kind: &str) -> Option<&Resource> {
        self.groups.get(group_version)?.resources.get(kind)
    }

    /// The group version and kind that somebody means by a word (a kind in any spelling, or a plural), who asks in this
    /// group version.
    pub fn called(&self, word: &str, group_version: &str) -> Option<(&str, &str)> {
        let meant = |r: &&Resource| r.kind.eq_ignore_ascii_case(word) || r.plural.eq_ignore_ascii_case(word);
        let all = self.groups.iter().filter_map(|(gv, g)| Some((&**gv, &*g.resources.values().find(meant)?.kind)));
        all.min_by_key(|(gv, _)| (*gv != group_version, super::object::group_of(gv).contains('.')))
    }

    /// Whether the group version is one of Kubernetes itself: its kinds come and go with the server only.
    pub fn is_builtin(&self, group_version: &str) -> bool {
        self.serves(group_version) && BUILTINS.iter().any(|b| b.group_version == group_version)
    }

    /// Whether objects of a kind live in namespaces: of what is served (by any version of the group), or else of the kinds
    /// that Kubernetes serves in other versions of its own.
    pub fn scope(&self, group: &str, kind: &str) -> Option<bool> {
        let of = |gv: &str| super::object::group_of(gv) == group;
        let built_in = || {
            let mut all = BUILTINS.iter().filter(|b| of(b.group_version)).flat_map(|b| b.resources);
            all.find(|resource| resource.0 == kind).map(|resource| resource.2)
        };
        let former = || FORMER.iter().find(|former| of(former.0) && former.1 == kind).map(|former| former.3);
        self.namespaced(group, kind).or_else(built_in).or_else(former)
    }

    /// Whether objects of a kind live in namespaces; by any version of the group.
    pub fn namespaced(&self, group: &str, kind: &str) -> Option<bool> {
        self.groups
            .iter()
            .filter(|(gv, _)| super::object::group_of(gv) == group)
            .find_map(|(_, g)| g.resources.get(kind))
            .map(|r| r.namespaced)
    }

    /// What `.Capabilities.APIVersions` holds (`F-361`): group versions, and kinds within them.
    pub fn api_versions(&self) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        for (gv, group) in self.groups.iter().filter(|(_, g)| !g.broken) {
            all.insert(gv.clone());
            all.extend(group.resources.keys().chain(&group.sub_kinds).map(|kind| format!("{gv}/{kind}")));
        }
        all
    }

    /// Whether an API version or resource (`a.io/v1`, `a.io/v1/Kind`) that is not served may come with its definition:
    /// kinds of Kubernetes itself come and go with its version only, and a group that is served in other versions has
    /// chosen them.
    pub fn may_come(&self, api: &str) -> bool {
        let mut parts = api.splitn(3, '/');
        let (group, version, kind) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
        let (Some(version), true) = (version, group.contains('.')) else { return false };
        if BUILTINS.iter().any(|b| super::object::group_of(b.group_version) == group) {
            return false;
        }
        match (self.groups.get(&format!("{group}/{version}")), kind) {
            (Some(served), Some(kind)) => !served.resources.contains_key(kind),
            (Some(_), None) => false,
            (None, _) => !self.groups.keys().any(|gv| super::object::group_of(gv) == group),
        }
    }

    /// Adds a resource.
    pub fn add(&mut self, group_version: &str, resource: Resource) {
        self.groups.entry(group_version.to_owned()).or_default().resources.insert(resource.kind.clone(), resource);
    }

    /// Adds an API version (`a.io/v1`) or a resource of it (`a.io/v1/Kind`), as flags name them.
    pub fn add_api(&mut self, api: &str) {
        let core = api.starts_with("v1/") || api == "v1";
        let (version, kind) = match api.splitn(if core { 2 } else { 3 }, '/').collect::<Vec<_>>()[..] {
            [version, kind] if core => (version.to_owned(), Some(kind)),
            [group, version, kind] => (format!("{group}/{version}"), Some(kind)),
            _ => (api.to_owned(), None),
        };
        let group = self.groups.entry(version).or_default();
        if let Some(kind) = kind {
            group.sub_kinds.insert(kind.to_owned());
        }
    }

    /// Takes a group version away.
    pub fn remove(&mut self, group_version: &str) {
        self.groups.remove(group_version);
    }

    /// Takes a kind away; a group version without kinds is not served.
    pub fn remove_kind(&mut self, group: &str, kind: &str) {
        for (_, g) in self.groups.iter_mut().filter(|(gv, _)| super::object::group_of(gv) == group) {
            g.resources.remove(kind);
        }
        self.groups.retain(|gv, g| super::object::group_of(gv) != group || !g.resources.is_empty());
    }

    /// Marks a group version as advertised but not answered for.
    pub fn mark_broken(&mut self, group_version: &str) {
        self.groups.entry(group_version.to_owned()).or_default().broken = true;
    }

    /// Takes all built-in kinds away.
    pub fn clear(&mut self) {
        self.groups.clear();
    }

    /// Adds an `APIResourceList`, replacing what was known of its group version.
    pub fn add_list(&mut self, list: &Json) {
        let Some(gv) = list.get("groupVersion").and_then(Json::as_str) else { return };
        let mut group = Group::default();
        for entry in list.get("resources").and_then(Json::as_array).into_iter().flatten() {
            let text = |name: &str| entry.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
            let (name, kind) = (text("name"), text("kind"));
            if name.contains('/') {
                group.sub_kinds.insert(kind);
                continue;
            }
            let namespaced = entry.get("namespaced").and_then(Json::as_bool).unwrap_or(false);
            let verbs = entry.get("verbs").and_then(Json::as_array);
            let readable = verbs.is_none_or(|v| v.iter().any(|verb| verb.as_str() == Some("get")));
            group.resources.insert(kind.clone(), Resource { kind, plural: name, namespaced, readable });
        }
        group.sub_kinds.retain(|kind| !group.resources.contains_key(kind));
        self.groups.insert(gv.to_owned(), group);
    }

    /// Adds what a CustomResourceDefinition serves.
    pub fn add_crd(&mut self, crd: &Json) {
        let text = |pointer: &str| crd.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
        let (group, kind, plural) = (text("/spec/group"), text("/spec/names/kind"), text("/spec/names/plural"));
        let namespaced = text("/spec/scope") != "Cluster";
        for version in crd.pointer("/spec/versions").and_then(Json::as_array).into_iter().flatten() {
            let served = version.get("served").and_then(Json::as_bool).unwrap_or(true);
            if let Some(name) = version.get("name").and_then(Json::as_str).filter(|_| served) {
                let gv = format!("{group}/{name}");
                let resource = Resource { kind: kind.into(), plural: plural.into(), namespaced, readable: true };
                self.add(&gv, resource);
                if version.pointer("/subresources/scale").is_some() {
                    self.groups.entry(gv).or_default().sub_kinds.insert("Scale".into());
                }
            }
        }
    }

    /// Takes away what a CustomResourceDefinition serves.
    pub fn remove_crd(&mut self, crd: &Json) {
        let text = |pointer: &str| crd.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
        self.remove_kind(text("/spec/group"), text("/spec/names/kind"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f_361_kinds_and_sub_resource_kinds_are_api_versions() {
        let versions = Discovery::default().api_versions();
        for yes in ["v1", "apps/v1", "v1/ConfigMap", "apps/v1/Deployment", "apps/v1/Scale", "v1/Eviction"] {
            assert!(versions.contains(yes), "{yes}");
        }
        for no in
            ["policy/v1/Eviction", "autoscaling/v1/Scale", "v1/ConfigMapList", "v1/Status", "apps", "v1/configmaps"]
        {
            assert!(!versions.contains(no), "{no}");
        }
    }

    #[test]
    fn what_is_served_depends_on_the_version() {
        let serves = |version: &str, gv: &str, kind: &str| Discovery::of(version).resource(gv, kind).is_some();
        assert!(
            serves("v1.22.4", "policy/v1beta1", "PodSecurityPolicy")
                && !serves("1.22", "autoscaling/v2", "HorizontalPodAutoscaler")
        );
        assert!(
            !serves("v1.33.1", "policy/v1beta1", "PodSecurityPolicy")
                && serves("v1.33.1", "networking.k8s.io/v1", "IPAddress")
        );
        assert!(!Discovery::of("v1.33.1").serves("resource.k8s.io/v1"));
        assert_eq!(Discovery::of("1.35.0").api_versions(), Discovery::default().api_versions());
        assert_eq!(Discovery::of("1.35.0").version.git, "v1.35.0");
    }

    #[test]
    fn a_crd_serves_its_versions_until_it_goes() {
        let crd = serde_json::json!({"spec": {"group": "a.b", "scope": "Cluster", "names": {"kind": "X", "plural": "xs"},
            "versions": [{"name": "v1", "served": true}, {"name": "v0", "served": false}]}});
        let mut discovery = Discovery::default();
        discovery.add_crd(&crd);
        assert!(discovery.serves("a.b/v1") && !discovery.serves("a.b/v0"));
        assert!(!discovery.resource("a.b/v1", "X").unwrap().namespaced);
        discovery.remove_crd(&crd);
        assert!(!discovery.serves("a.b/v1"));
    }
}
