//! What a service account may ask the API server for: roles, bindings, aggregated cluster roles (`F-24`, L7).

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::Value as Json;

use super::discovery::Discovery;
use super::object::{Object, ObjectKey};
use super::snapshot::{Access, ArtifactChart, Facts, Question};
use crate::base::Known;

/// API group of roles and bindings.
const GROUP: &str = "rbac.authorization.k8s.io";

/// One rule, with the namespace in which it holds; everywhere without one.
struct Grant {
    namespace: Option<String>,
    rule: Json,
}

/// A state of the cluster as one service account sees it (`F-24`).
pub struct AsUser<'a> {
    base: &'a dyn Facts,
    user: String,
    grants: Vec<Grant>,
    /// Whether a role that is bound to it was not collected.
    open: bool,
}

impl<'a> AsUser<'a> {
    /// The cluster as that service account sees it.
    pub fn service_account(base: &'a dyn Facts, namespace: &str, name: &str) -> AsUser<'a> {
        let user = format!("system:serviceaccount:{namespace}:{name}");
        let mut seen = AsUser { base, user, grants: Vec::new(), open: false };
        let list = |kind: &str| base.list(GROUP, kind, None).present().unwrap_or_default();
        let cluster_roles = list("ClusterRole");
        for binding in list("RoleBinding").iter().chain(&list("ClusterRoleBinding")) {
            let own = Some(binding.key.namespace.clone()).filter(|ns| !ns.is_empty());
            if subjects(binding).any(|subject| is_meant(subject, own.as_deref(), namespace, name)) {
                seen.grant(binding, own, &cluster_roles);
            }
        }
        seen
    }

    fn grant(&mut self, binding: &Object, namespace: Option<String>, cluster_roles: &[Rc<Object>]) {
        let name = binding.text("/roleRef/name");
        let wide = binding.text("/roleRef/kind") == "ClusterRole";
        let key = ObjectKey {
            group: GROUP.into(),
            kind: if wide { "ClusterRole" } else { "Role" }.into(),
            namespace: if wide { String::new() } else { binding.key.namespace.clone() },
            name: name.to_owned(),
        };
        let rules = match self.base.get(&key) {
            Known::Present(_) if wide => cluster_rules(name, cluster_roles, &mut BTreeSet::new()),
            Known::Present(role) => rules(&role),
            // What every cluster brings along.
            Known::Uncollected if wide && name == "cluster-admin" => {
                vec![serde_json::json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]})]
            }
            Known::Uncollected => {
                self.open = true;
                return;
            }
            Known::Absent => return,
        };
        self.grants.extend(rules.into_iter().map(|rule| Grant { namespace: namespace.clone(), rule }));
    }

    /// Whether all bindings were collected that could allow something in a namespace.
    fn knows_all(&self, namespace: &str) -> bool {
        let collected = |kind: &str, namespace: &str| {
            let nobody =
                ObjectKey { group: GROUP.into(), kind: kind.into(), namespace: namespace.into(), name: String::new() };
            !matches!(self.base.get(&nobody), Known::Uncollected)
        };
        collected("ClusterRoleBinding", "") && (namespace.is_empty() || collected("RoleBinding", namespace))
    }
}

fn subjects(binding: &Object) -> impl Iterator<Item = &Json> {
    binding.json.get("subjects").and_then(Json::as_array).into_iter().flatten()
}

fn rules(role: &Object) -> Vec<Json> {
    role.json.get("rules").and_then(Json::as_array).cloned().unwrap_or_default()
}

/// Whether a subject of a binding is the service account, or a group that it is in.
fn is_meant(subject: &Json, binding: Option<&str>, namespace: &str, name: &str) -> bool {
    let text = |field: &str| subject.get(field).and_then(Json::as_str).unwrap_or_default();
    match text("kind") {
        "ServiceAccount" => {
            let own = Some(text("namespace")).filter(|ns| !ns.is_empty()).or(binding);
            text("name") == name && own == Some(namespace)
        }
        "User" => text("name") == format!("system:serviceaccount:{namespace}:{name}"),
        "Group" => {
            let of_namespace = format!("system:serviceaccounts:{namespace}");
            ["system:serviceaccounts", "system:authenticated", &of_namespace].contains(&text("name"))
        }
        _ => false,
    }
}

/// The rules of a cluster role, with those of the roles that it collects by their labels.
fn cluster_rules(name: &str, all: &[Rc<Object>], seen: &mut BTreeSet<String>) -> Vec<Json> {
    let Some(role) = all.iter().find(|role| role.key.name == name) else { return Vec::new() };
    if !seen.insert(name.to_owned()) {
        return Vec::new();
    }
    let mut found = rules(role);
    let selectors = role.json.pointer("/aggregationRule/clusterRoleSelectors").and_then(Json::as_array);
    for selector in selectors.into_iter().flatten() {
        for other in all.iter().filter(|other| other.key.name != name && selected(selector, other)) {
            found.extend(cluster_rules(&other.key.name, all, seen));
        }
    }
    found
}

/// Whether a label selector selects an object.
fn selected(selector: &Json, object: &Object) -> bool {
    let label = |key: &str| object.json.get("metadata").and_then(|m| m.get("labels")?.get(key)?.as_str());
    let equal = selector.get("matchLabels").and_then(Json::as_object);
    let expressions = selector.get("matchExpressions").and_then(Json::as_array);
    equal.into_iter().flatten().all(|(key, value)| label(key) == value.as_str())
        && expressions.into_iter().flatten().all(|expression| {
            let found = label(expression["key"].as_str().unwrap_or_default());
            let listed = || {
                let values = expression["values"].as_array();
                values.into_iter().flatten().any(|value| value.as_str() == found)
            };
            match expression["operator"].as_str().unwrap_or_default() {
                "In" => found.is_some() && listed(),
                "NotIn" => found.is_none() || !listed(),
                "Exists" => found.is_some(),
                "DoesNotExist" => found.is_none(),
                _ => false,
            }
        })
}

/// Whether a rule lists one of these, or everything.
fn lists(rule: &Json, field: &str, wanted: &str) -> bool {
    let values = rule.get(field).and_then(Json::as_array);
    values.into_iter().flatten().any(|value| value.as_str().is_some_and(|v| v == "*" || v == wanted))
}

/// Whether a rule allows what is asked.
fn allows(rule: &Json, asked: &Question<'_>) -> bool {
    let names = rule.get("resourceNames").and_then(Json::as_array).filter(|names| !names.is_empty());
    lists(rule, "apiGroups", asked.group)
        && lists(rule, "resources", asked.plural)
        && lists(rule, "verbs", asked.verb)
        && names.is_none_or(|names| !asked.name.is_empty() && names.iter().any(|n| n.as_str() == Some(asked.name)))
}

impl Facts for AsUser<'_> {
    fn get(&self, key: &ObjectKey) -> Known<Rc<Object>> {
        self.base.get(key)
    }
    fn list(&self, group: &str, kind: &str, namespace: Option<&str>) -> Known<Vec<Rc<Object>>> {
        self.base.list(group, kind, namespace)
    }
    fn discovery(&self) -> &Discovery {
        self.base.discovery()
    }
    fn access(&self, asked: &Question<'_>) -> Access {
        let granted = self.grants.iter().any(|grant| {
            let here = grant.namespace.as_deref().is_none_or(|ns| !asked.namespace.is_empty() && ns == asked.namespace);
            here && allows(&grant.rule, asked)
        });
        match self.base.access(asked) {
            Access::Refused => Access::Refused,
            _ if granted => Access::Allowed,
            _ if self.open || !self.knows_all(asked.namespace) => Access::Unknown,
            _ => Access::Refused,
        }
    }
    fn user(&self) -> &str {
        &self.user
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
    use serde_json::json;

    use super::*;

    fn asked<'a>(verb: &'a str, name: &'a str) -> Question<'a> {
        Question { group: "", plural: "secrets", namespace: "n", name, verb }
    }

    #[test]
    fn a_rule_with_names_allows_no_list() {
        let rule = json!({"apiGroups": [""], "resources": ["secrets"], "verbs": ["*"], "resourceNames": ["a"]});
        assert!(allows(&rule, &asked("get", "a")));
        assert!(!allows(&rule, &asked("get", "b")));
        assert!(!allows(&rule, &asked("list", "")));
    }

    #[test]
    fn subjects_are_accounts_users_and_groups() {
        let meant = |subject: Json| is_meant(&subject, Some("n"), "n", "a");
        assert!(meant(json!({"kind": "ServiceAccount", "name": "a"})));
        assert!(!meant(json!({"kind": "ServiceAccount", "name": "a", "namespace": "m"})));
        assert!(meant(json!({"kind": "User", "name": "system:serviceaccount:n:a"})));
        assert!(meant(json!({"kind": "Group", "name": "system:authenticated"})));
        assert!(!meant(json!({"kind": "Group", "name": "system:serviceaccounts:m"})));
        assert!(!is_meant(&json!({"kind": "ServiceAccount", "name": "a"}), None, "n", "a"));
    }
}
