//! Strategic merge patches: lists of the built-in kinds merge by their keys (`F-343`).

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::tree::{Node, Tree};
use crate::value::OriginSet;

/// What is known of a node's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Schema {
    /// Nothing: lists are replaced.
    Unknown,
    /// A whole object of a built-in kind.
    Root(Spec),
    Meta,
    Spec(Spec),
    Template,
    JobTemplate,
    Container,
    Status,
    /// A list merged by keys; its elements are of the type.
    List(&'static [&'static str], Element),
    /// A list of scalars that grows.
    Scalars,
}

/// What the `spec` of a kind is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spec {
    Other,
    Pod,
    Workload,
    Cron,
    Service,
    ServiceAccount,
    Webhooks,
    PodTemplate,
}

/// What the elements of a merged list are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Container,
    Other,
}

impl Element {
    fn schema(self) -> Schema {
        match self {
            Element::Container => Schema::Container,
            Element::Other => Schema::Spec(Spec::Other),
        }
    }
}

const BUILTIN_GROUPS: &[&str] = &["", "apps", "autoscaling", "batch", "policy"];

fn root(api_version: &str, kind: &str) -> Schema {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    if !BUILTIN_GROUPS.contains(&group) && !group.ends_with(".k8s.io") {
        return Schema::Unknown;
    }
    Schema::Root(match (group, kind) {
        ("", "Pod") => Spec::Pod,
        ("", "ReplicationController") | ("apps", _) | ("batch", "Job") => Spec::Workload,
        ("batch", "CronJob") => Spec::Cron,
        ("", "Service") => Spec::Service,
        ("", "ServiceAccount") => Spec::ServiceAccount,
        ("", "PodTemplate") => Spec::PodTemplate,
        ("admissionregistration.k8s.io", _) => Spec::Webhooks,
        ("", _) | ("autoscaling" | "policy", _) => Spec::Other,
        (group, _) if BUILTIN_APIS.contains(&group) => Spec::Other,
        _ => return Schema::Unknown,
    })
}

const BUILTIN_APIS: &[&str] = &[
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
];

fn field(schema: Schema, key: &str) -> Schema {
    use Schema::{Container, JobTemplate, List, Meta, Root, Scalars, Status, Template, Unknown};
    let by_name = List(&["name"], Element::Other);
    match (schema, key) {
        (Unknown, _) => Unknown,
        (Root(_) | Template | JobTemplate, "metadata") => Meta,
        (Root(_), "status") => Status,
        (Root(Spec::ServiceAccount), "secrets") | (Root(Spec::Webhooks), "webhooks") => by_name,
        (Root(Spec::PodTemplate), "template") => Template,
        (Root(spec), "spec") => Schema::Spec(spec),
        (Template, "spec") => Schema::Spec(Spec::Pod),
        (JobTemplate, "spec") => Schema::Spec(Spec::Workload),
        (Schema::Spec(Spec::Workload), "template") => Template,
        (Schema::Spec(Spec::Cron), "jobTemplate") => JobTemplate,
        (Schema::Spec(Spec::Service), "ports") => List(&["port", "protocol"], Element::Other),
        (Schema::Spec(Spec::Pod), "containers" | "initContainers" | "ephemeralContainers") => {
            List(&["name"], Element::Container)
        }
        (Schema::Spec(Spec::Pod), "volumes" | "imagePullSecrets" | "schedulingGates" | "resourceClaims") => by_name,
        (Schema::Spec(Spec::Pod), "hostAliases") => List(&["ip"], Element::Other),
        (Schema::Spec(Spec::Pod), "topologySpreadConstraints") => {
            List(&["topologyKey", "whenUnsatisfiable"], Element::Other)
        }
        (Container, "env") => by_name,
        (Container, "ports") => List(&["containerPort", "protocol"], Element::Other),
        (Container, "volumeMounts") => List(&["mountPath"], Element::Other),
        (Container, "volumeDevices") => List(&["devicePath"], Element::Other),
        (Meta, "finalizers") => Scalars,
        (Meta, "ownerReferences") => List(&["uid"], Element::Other),
        (Status, "conditions") => List(&["type"], Element::Other),
        _ => Schema::Spec(Spec::Other),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Directive {
    Merge,
    Replace,
    Delete,
}

/// Merges a patch into an object; `None` if the patch deletes it.
///
/// # Errors
/// Nodes of different kinds, unknown directives.
pub fn merge(dest: Tree, patch: Tree) -> Result<Option<Tree>, String> {
    let schema = root(dest.text(&["apiVersion"]), dest.text(&["kind"]));
    walk(Some(dest), Some(patch), schema)
}

fn walk(dest: Option<Tree>, patch: Option<Tree>, schema: Schema) -> Result<Option<Tree>, String> {
    let Some(patch) = patch else { return Ok(dest) };
    let first = dest.as_ref().filter(|d| !d.is_null()).unwrap_or(&patch);
    if !patch.is_null() && first.kind_name() != patch.kind_name() {
        return Err(format!(
            "wrong node kind: expected {} but got {}: node contents:\n{}",
            first.kind_name(),
            patch.kind_name(),
            patch.flow()
        ));
    }
    match (first.node.shape(), schema) {
        (Shape::Map, _) => map(dest, patch, schema),
        (Shape::Seq, Schema::List(keys, element)) => list(dest, patch, keys, element),
        (Shape::Seq, Schema::Scalars) => scalars(dest, patch),
        _ if patch.is_null() => Ok(None),
        _ => Ok(Some(patch)),
    }
}

enum Shape {
    Leaf,
    Seq,
    Map,
}

impl Node {
    fn shape(&self) -> Shape {
        match self {
            Node::Leaf(_) => Shape::Leaf,
            Node::Seq(_) => Shape::Seq,
            Node::Map(_) => Shape::Map,
        }
    }
}

fn map(dest: Option<Tree>, mut patch: Tree, schema: Schema) -> Result<Option<Tree>, String> {
    let directive = match patch.map_mut().and_then(|m| m.remove("$patch")) {
        None => Directive::Merge,
        Some(found) => match found.as_text() {
            Some("merge") => Directive::Merge,
            Some("replace") => Directive::Replace,
            Some("delete") => Directive::Delete,
            other => return Err(format!("unknown patch strategy '{}'", other.unwrap_or_default())),
        },
    };
    if directive == Directive::Delete || patch.is_null() {
        return Ok(None);
    }
    let dest = dest.filter(|d| !d.is_null() && directive == Directive::Merge);
    let own = dest.as_ref().map_or(OriginSet::EMPTY, |d| d.own);
    let mut out = match dest.map(|d| d.node) {
        Some(Node::Map(map)) => map,
        _ => BTreeMap::new(),
    };
    let Node::Map(patch) = patch.node else { return Ok(None) };
    for (key, value) in patch {
        let old = out.remove(&key);
        if let Some(merged) = walk(old, Some(value), field(schema, &key))? {
            out.insert(key, merged);
        }
    }
    Ok(Some(Tree { own, node: Node::Map(out) }))
}

/// Takes a `$patch` element out of a list.
fn list_directive(items: &mut Vec<Tree>) -> Result<Directive, String> {
    let only = |tree: &Tree| tree.map().is_some_and(|m| m.len() == 1 && m.contains_key("$patch"));
    let Some(at) = items.iter().position(only) else { return Ok(Directive::Merge) };
    let found = items.remove(at);
    match found.text(&["$patch"]) {
        "delete" => Ok(Directive::Delete),
        "replace" => Ok(Directive::Replace),
        "merge" => Ok(Directive::Merge),
        other => Err(format!("unknown patch strategy '{other}'")),
    }
}

fn take(tree: Option<Tree>) -> (OriginSet, Vec<Tree>) {
    match tree {
        Some(Tree { own, node: Node::Seq(items) }) => (own, items),
        _ => (OriginSet::EMPTY, Vec::new()),
    }
}

fn value_of(item: &Tree, key: &str) -> String {
    match item.map().and_then(|m| m.get(key)).map(|t| &t.node) {
        Some(Node::Leaf(Json::String(text))) => text.clone(),
        Some(Node::Leaf(Json::Null)) | None => String::new(),
        Some(Node::Leaf(other)) => other.to_string(),
        _ => String::new(),
    }
}

/// Elements of the patch come first, merged with those of the same keys; then the others.
fn list(
    dest: Option<Tree>,
    patch: Tree,
    keys: &'static [&'static str],
    element: Element,
) -> Result<Option<Tree>, String> {
    if patch.is_null() {
        return Ok(None);
    }
    let (_, mut items) = take(Some(patch));
    let directive = list_directive(&mut items)?;
    if directive == Directive::Delete {
        return Ok(None);
    }
    let dest = dest.filter(|d| !d.is_null() && directive == Directive::Merge);
    let (own, mut old) = take(dest);
    let mut out: Vec<Tree> = Vec::new();
    for item in items {
        // Keys that the patch does not give do not take part in the comparison, unless none is given.
        let given: Vec<(&str, String)> =
            keys.iter().map(|k| (*k, value_of(&item, k))).filter(|(_, v)| !v.is_empty()).collect();
        let matches = |other: &Tree| !given.is_empty() && given.iter().all(|(k, v)| value_of(other, k) == *v);
        let before = old.iter().position(matches).map(|at| old.remove(at));
        let Some(merged) = walk(before, Some(item), element.schema())? else { continue };
        if merged.map().is_some_and(BTreeMap::is_empty) {
            continue;
        }
        match out.iter_mut().find(|other| matches(other)) {
            Some(place) => *place = merged,
            None => out.push(merged),
        }
    }
    out.extend(old);
    Ok(Some(Tree { own, node: Node::Seq(out) }))
}

fn scalars(dest: Option<Tree>, patch: Tree) -> Result<Option<Tree>, String> {
    if patch.is_null() {
        return Ok(None);
    }
    let (_, mut out) = take(Some(patch));
    let directive = list_directive(&mut out)?;
    if directive == Directive::Delete {
        return Ok(None);
    }
    let (own, old) = take(dest.filter(|_| directive == Directive::Merge));
    for item in old {
        if !out.iter().any(|other| other.node == item.node) {
            out.push(item);
        }
    }
    Ok(Some(Tree { own, node: Node::Seq(out) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn merged(object: Json, patch: Json) -> Option<Json> {
        merge(Tree::constant(object), Tree::constant(patch)).unwrap().map(|t| t.json())
    }

    #[test]
    fn containers_merge_by_name_and_the_patched_come_first() {
        let pod = |containers: Json| json!({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": containers}});
        let old = pod(json!([{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1", "args": ["x"]}]));
        let patch = pod(json!([{"name": "new"}, {"name": "b", "args": ["z"]}]));
        let new = json!([{"name": "new"}, {"name": "b", "image": "b:1", "args": ["z"]}, {"name": "a", "image": "a:1"}]);
        assert_eq!(merged(old.clone(), patch), Some(pod(new)));
        let gone = pod(json!([{"name": "a", "$patch": "delete"}]));
        assert_eq!(merged(old, gone), Some(pod(json!([{"name": "b", "image": "b:1", "args": ["x"]}]))));
    }

    #[test]
    fn lists_of_unknown_kinds_are_replaced() {
        let object =
            |list: Json| json!({"apiVersion": "example.test/v1", "kind": "Thing", "spec": {"containers": list}});
        let patch = object(json!([{"name": "b"}]));
        assert_eq!(merged(object(json!([{"name": "a"}])), patch.clone()), Some(patch));
    }

    #[test]
    fn nulls_and_directives_remove() {
        let old = json!({"kind": "ConfigMap", "apiVersion": "v1", "data": {"a": "1", "b": "2"}});
        let with = |data: Json| json!({"kind": "ConfigMap", "apiVersion": "v1", "data": data});
        assert_eq!(merged(old.clone(), with(json!({"a": null}))), Some(with(json!({"b": "2"}))));
        assert_eq!(merged(old.clone(), with(json!({"$patch": "replace", "c": "3"}))), Some(with(json!({"c": "3"}))));
        assert_eq!(merged(old, json!({"$patch": "delete"})), None);
    }
}
