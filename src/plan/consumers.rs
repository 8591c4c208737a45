//! Who uses a Secret or ConfigMap: workloads that mount or read it, releases that take values from it.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::findings::reference;
use super::render::Doc;
use crate::cluster::object::ObjectKey;
use crate::cluster::snapshot::Facts;
use crate::report::contract::ObjectRef;

/// Kinds that hold pod templates, with their group.
const WORKLOADS: [(&str, &str); 6] = [
    ("", "Pod"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("batch", "CronJob"),
    ("batch", "Job"),
];

/// The objects of a manifest and of the cluster that name a Secret or ConfigMap where its data is used.
pub fn consumers(wanted: &ObjectKey, docs: &[Doc], facts: &dyn Facts) -> Vec<ObjectRef> {
    let mut found: BTreeSet<ObjectRef> = BTreeSet::new();
    for doc in docs.iter().filter(|d| d.key.namespace == wanted.namespace && uses(&d.object, wanted, 0)) {
        found.insert(reference(&doc.key));
    }
    for (group, kind) in WORKLOADS {
        let live = facts.list(group, kind, Some(&wanted.namespace)).present().unwrap_or_default();
        // What a controller made of a template follows that template.
        let own = live.iter().filter(|o| o.json.pointer("/metadata/ownerReferences/0").is_none());
        found.extend(own.filter(|o| uses(&o.json, wanted, 0)).map(|o| reference(&o.key)));
    }
    found.into_iter().collect()
}

/// Whether a value holds a reference to the object, in one of the forms that Kubernetes and Flux have for it.
fn uses(value: &Json, wanted: &ObjectKey, depth: usize) -> bool {
    let secret = wanted.kind == "Secret";
    let named = |reference: &Json| reference["name"] == wanted.name.as_str();
    match value {
        Json::Object(map) if depth < 60 => map.iter().any(|(field, child)| match (field.as_str(), secret) {
            ("secretRef" | "secretKeyRef" | "secret", true)
            | ("configMapRef" | "configMapKeyRef" | "configMap", false)
                if named(child) =>
            {
                true
            }
            ("secretName", true) => *child == wanted.name.as_str(),
            ("imagePullSecrets", true) => child.as_array().is_some_and(|list| list.iter().any(named)),
            ("valuesFrom", _) => {
                child.as_array().is_some_and(|list| list.iter().any(|r| r["kind"] == wanted.kind.as_str() && named(r)))
            }
            _ => uses(child, wanted, depth + 1),
        }),
        Json::Array(list) if depth < 60 => list.iter().any(|child| uses(child, wanted, depth + 1)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_way_to_use_a_secret_is_known() {
        let secret = ObjectKey { kind: "Secret".into(), name: "s".into(), ..ObjectKey::default() };
        for pod in [
            json!({"volumes": [{"secret": {"secretName": "s"}}]}),
            json!({"volumes": [{"projected": {"sources": [{"secret": {"name": "s"}}]}}]}),
            json!({"containers": [{"env": [{"valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]}]}),
            json!({"containers": [{"envFrom": [{"secretRef": {"name": "s"}}]}]}),
            json!({"imagePullSecrets": [{"name": "s"}]}),
            json!({"valuesFrom": [{"kind": "Secret", "name": "s"}]}),
        ] {
            assert!(uses(&json!({"spec": pod}), &secret, 0), "{pod}");
        }
        assert!(!uses(&json!({"spec": {"volumes": [{"configMap": {"name": "s"}}]}}), &secret, 0));
    }
}
