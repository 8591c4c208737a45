//! Whether an object that a release made has become what it should be, as kstatus tells it: `Ready=True` of the HelmRelease
//! only says that it had, at the end of the last action.

use serde_json::Value as Json;

use super::model::condition_of;

/// Why an object is not ready; none where nothing says so.
pub fn unready(object: &Json) -> Option<String> {
    let number = |pointer: &str| object.pointer(pointer).and_then(Json::as_i64);
    let text = |pointer: &str| object.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
    if !text("/metadata/deletionTimestamp").is_empty() {
        return Some("it is being deleted".to_owned());
    }
    let generation = number("/metadata/generation");
    if let (Some(generation), Some(seen)) = (generation, number("/status/observedGeneration"))
        && generation != seen
    {
        return Some(format!("its controller has seen generation {seen} of {generation}"));
    }
    let count = |pointer: &str| number(pointer).unwrap_or(0);
    let of = |what: &str, have: i64, want: i64| (have < want).then(|| format!("{have} of {want} {what}"));
    let replicas = number("/spec/replicas").unwrap_or(1);
    let group = text("/apiVersion").split_once('/').map_or("", |(group, _)| group);
    match (group, text("/kind")) {
        ("apps", "Deployment") => of("updated", count("/status/updatedReplicas"), replicas)
            .or_else(|| of("ready", count("/status/readyReplicas"), replicas))
            .or_else(|| of("available", count("/status/availableReplicas"), replicas)),
        ("apps", "StatefulSet" | "ReplicaSet") => of("ready", count("/status/readyReplicas"), replicas),
        ("apps", "DaemonSet") => {
            let wanted = count("/status/desiredNumberScheduled");
            of("updated", count("/status/updatedNumberScheduled"), wanted)
                .or_else(|| of("ready", count("/status/numberReady"), wanted))
        }
        ("", "PersistentVolumeClaim") => phase(object, &["Bound"]),
        ("", "Pod") if text("/status/phase") == "Running" => condition(object, "Ready", "True"),
        ("", "Pod") => phase(object, &["Succeeded"]),
        ("batch", "Job") => condition(object, "Failed", "False"),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => condition(object, "Established", "True"),
        _ => [("Reconciling", "False"), ("Stalled", "False"), ("Ready", "True")]
            .iter()
            .find_map(|(kind, good)| condition(object, kind, good))
            .or_else(|| phase(object, DONE).filter(|_| condition_of(object, "Ready").is_none() && group.contains('.'))),
    }
}

/// Phases in which custom resources stay.
const DONE: &[&str] = &[
    "Active",
    "Available",
    "Bound",
    "Complete",
    "Completed",
    "Deployed",
    "Healthy",
    "Online",
    "Provisioned",
    "Ready",
    "Running",
    "Succeeded",
];

/// A condition that is there and not as it should be.
fn condition(object: &Json, kind: &str, good: &str) -> Option<String> {
    let found = condition_of(object, kind)?;
    let text = |field: &str| found.get(field).and_then(Json::as_str).unwrap_or_default();
    let reason = if text("reason").is_empty() { String::new() } else { format!(" ({})", text("reason")) };
    (text("status") != good).then(|| format!("{kind}={}{reason}", text("status")))
}

/// A phase that is there and none of these.
fn phase(object: &Json, good: &[&str]) -> Option<String> {
    let found = object.pointer("/status/phase")?.as_str()?;
    (!good.contains(&found)).then(|| format!("phase {found}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_workload_is_ready_when_its_own_generation_is_up() {
        let mut object = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"generation": 3}, "spec": {"replicas": 2},
            "status": {"observedGeneration": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2},
        });
        assert_eq!(unready(&object).unwrap(), "its controller has seen generation 2 of 3");
        object["status"]["observedGeneration"] = 3.into();
        assert_eq!(unready(&object), None);
        object["status"]["readyReplicas"] = 1.into();
        assert_eq!(unready(&object).unwrap(), "1 of 2 ready");
    }

    #[test]
    fn other_objects_go_by_their_conditions_or_phase() {
        let object = |status: Json| json!({"apiVersion": "a.test/v1", "kind": "X", "metadata": {}, "status": status});
        let ready = |status: &str| json!({"conditions": [{"type": "Ready", "status": status, "reason": "R"}]});
        assert_eq!(unready(&object(ready("True"))), None);
        assert_eq!(unready(&object(ready("Unknown"))).unwrap(), "Ready=Unknown (R)");
        assert_eq!(unready(&object(json!({"phase": "Importing"}))).unwrap(), "phase Importing");
        assert_eq!(unready(&object(json!({"phase": "Bound"}))), None);
        assert_eq!(unready(&json!({"apiVersion": "v1", "kind": "ConfigMap"})), None);
    }
}
