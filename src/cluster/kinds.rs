//! The resources that a Kubernetes API server serves by itself: group/version, kind, plural, scope; and the kinds of
//! sub-resources, which count as served in the group they are listed under (`F-361`).
//!
//! Facts read off Kubernetes 1.35; tests compare them with a recorded discovery document and with
//! the metadata of k8s-openapi (`tests/kinds.rs`).

/// One group version.
pub struct Builtin {
    /// `group/version`, or `v1`.
    pub group_version: &'static str,
    /// Kind, plural, whether namespaced, whether it can be got and listed.
    pub resources: &'static [(&'static str, &'static str, bool, bool)],
    /// Kinds of sub-resources that are no kinds of their own here.
    pub sub_kinds: &'static [&'static str],
}

/// The table, in the order of discovery.
pub const BUILTINS: &[Builtin] = &[
    Builtin {
        group_version: "v1",
        resources: &[
            ("Binding", "bindings", true, false),
            ("ComponentStatus", "componentstatuses", false, true),
            ("ConfigMap", "configmaps", true, true),
            ("Endpoints", "endpoints", true, true),
            ("Event", "events", true, true),
            ("LimitRange", "limitranges", true, true),
            ("Namespace", "namespaces", false, true),
            ("Node", "nodes", false, true),
            ("PersistentVolume", "persistentvolumes", false, true),
            ("PersistentVolumeClaim", "persistentvolumeclaims", true, true),
            ("Pod", "pods", true, true),
            ("PodTemplate", "podtemplates", true, true),
            ("ReplicationController", "replicationcontrollers", true, true),
            ("ResourceQuota", "resourcequotas", true, true),
            ("Secret", "secrets", true, true),
            ("Service", "services", true, true),
            ("ServiceAccount", "serviceaccounts", true, true),
        ],
        sub_kinds: &[
            "Eviction",
            "NodeProxyOptions",
            "PodAttachOptions",
            "PodExecOptions",
            "PodPortForwardOptions",
            "PodProxyOptions",
            "Scale",
            "ServiceProxyOptions",
            "TokenRequest",
        ],
    },
    Builtin {
        group_version: "apiregistration.k8s.io/v1",
        resources: &[("APIService", "apiservices", false, true)],
        sub_kinds: &[],
    },
    Builtin {
        group_version: "apps/v1",
        resources: &[
            ("ControllerRevision", "controllerrevisions", true, true),
            ("DaemonSet", "daemonsets", true, true),
            ("Deployment", "deployments", true, true),
            ("ReplicaSet", "replicasets", true, true),
            ("StatefulSet", "statefulsets", true, true),
        ],
        sub_kinds: &["Scale"],
    },
    Builtin { group_version: "events.k8s.io/v1", resources: &[("Event", "events", true, true)], sub_kinds: &[] },
    Builtin {
        group_version: "authentication.k8s.io/v1",
        resources: &[
            ("SelfSubjectReview", "selfsubjectreviews", false, false),
            ("TokenReview", "tokenreviews", false, false),
        ],
        sub_kinds: &[],
    },
    Builtin {
        group_version: "authorization.k8s.io/v1",
        resources: &[
            ("LocalSubjectAccessReview", "localsubjectaccessreviews", true, false),
            ("SelfSubjectAccessReview", "selfsubjectaccessreviews", false, false),
            ("SelfSubjectRulesReview", "selfsubjectrulesreviews", false, false),
            ("SubjectAccessReview", "subjectaccessreviews", false, false),
        ],
        sub_kinds: &[],
    },
    Builtin {
        group_version: "autoscaling/v2",
        resources: &[("HorizontalPodAutoscaler", "horizontalpodautoscalers", true, true)],
        sub_kinds: &[],
    },
    Builtin {
        group_version: "autoscaling/v1",
        resources: &[("HorizontalPodAutoscaler", "horizontalpodautoscalers", true, true)],
        sub_kinds: &[],
    },
    Builtin {
        group_version: "batch/v1",
        resources: &[("CronJob", "cronjobs", true, true), ("Job", "jobs", true, true)],
        sub_kinds: &[],
    },
    Builtin {
        group_version: "certificates.k8s.io/v1",
        resources: &[("CertificateSigningRequest", "certificatesigningrequests", false, true)],
        sub_kinds: &[],
    },
    Builtin {
        group_version: "networking.k8s.io/v1",
        resources: &[
            ("IPAddress", "ipaddresses", false, true),
            ("Ingress", "ingresses", true, true),
            ("IngressClass", "ingressclasses", false, true),
            ("NetworkPolicy", "networkpolicies", true, true),
            ("ServiceCIDR", "servicecidrs", false, true),
        ],
        sub_kinds: &[],
    },
    Builtin {
        group_version: "policy/v1",
        resources: &[("PodDisruptionBudget", "poddisruptionbudgets", true, true)],
        sub_kinds: &[],
    },
    Builtin {
        group_version: "rbac.authorization.k8s.io/v1",
        resources: &[
            ("ClusterRole", "clusterroles", false, true),
            ("ClusterRoleBinding", "clusterrolebindings", false, true),
            ("Role", "roles", true, true),
            ("RoleBinding", "rolebindings", true, true),
        ],
        sub_kinds: &[],
    },
    Builtin {
        group_version: "storage.k8s.io/v1",
        resources: &[
            ("CSIDriver", "csidrivers", false, true),
            ("CSINode", "csinodes", false, true),
            ("CSIStorageCapacity", "csistoragecapacities", true, true),
            ("StorageClass", "storageclasses", false, true),
            ("VolumeAttachment", "volumeattachments", false, true),
            ("VolumeAttributesClass", "volumeattributesclasses", false, true),
        ],
        sub_kinds: &[],
    },
    Builtin {
        group_version: "admissionregistration.k8s.io/v1",
        resources: &[
            ("MutatingWebhookConfiguration", "mutatingwebhookconfigurations", false, true),
            ("ValidatingAdmissionPolicy", "validatingadmissionpolicies", false, true),
            ("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", false, true),
            ("ValidatingWebhookConfiguration", "validatingwebhookconfigurations", false, true),
        ],
        sub_kinds: &[],
    },
    Builtin {
        group_version: "apiextensions.k8s.io/v1",
        resources: &[("CustomResourceDefinition", "customresourcedefinitions", false, true)],
        sub_kinds: &[],
    },
    Builtin {
        group_version: "scheduling.k8s.io/v1",
        resources: &[("PriorityClass", "priorityclasses", false, true)],
        sub_kinds: &[],
    },
    Builtin { group_version: "coordination.k8s.io/v1", resources: &[("Lease", "leases", true, true)], sub_kinds: &[] },
    Builtin {
        group_version: "node.k8s.io/v1",
        resources: &[("RuntimeClass", "runtimeclasses", false, true)],
        sub_kinds: &[],
    },
    Builtin {
        group_version: "discovery.k8s.io/v1",
        resources: &[("EndpointSlice", "endpointslices", true, true)],
        sub_kinds: &[],
    },
    Builtin {
        group_version: "resource.k8s.io/v1",
        resources: &[
            ("DeviceClass", "deviceclasses", false, true),
            ("ResourceClaim", "resourceclaims", true, true),
            ("ResourceClaimTemplate", "resourceclaimtemplates", true, true),
            ("ResourceSlice", "resourceslices", false, true),
        ],
        sub_kinds: &[],
    },
    Builtin {
        group_version: "flowcontrol.apiserver.k8s.io/v1",
        resources: &[
            ("FlowSchema", "flowschemas", false, true),
            ("PriorityLevelConfiguration", "prioritylevelconfigurations", false, true),
        ],
        sub_kinds: &[],
    },
];

/// Kinds of the table that are served from a later minor version of Kubernetes 1 than 1.18 on.
pub const SINCE: &[(&str, &[&str], u16)] = &[
    ("networking.k8s.io/v1", &["Ingress", "IngressClass"], 19),
    ("events.k8s.io/v1", &["Event"], 19),
    ("certificates.k8s.io/v1", &["CertificateSigningRequest"], 19),
    ("node.k8s.io/v1", &["RuntimeClass"], 20),
    ("batch/v1", &["CronJob"], 21),
    ("policy/v1", &["PodDisruptionBudget"], 21),
    ("discovery.k8s.io/v1", &["EndpointSlice"], 21),
    ("autoscaling/v2", &["HorizontalPodAutoscaler"], 23),
    ("storage.k8s.io/v1", &["CSIStorageCapacity"], 24),
    ("authentication.k8s.io/v1", &["SelfSubjectReview"], 28),
    ("flowcontrol.apiserver.k8s.io/v1", &["FlowSchema", "PriorityLevelConfiguration"], 29),
    ("admissionregistration.k8s.io/v1", &["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"], 30),
    ("networking.k8s.io/v1", &["IPAddress", "ServiceCIDR"], 33),
    ("resource.k8s.io/v1", &["DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"], 34),
    ("storage.k8s.io/v1", &["VolumeAttributesClass"], 34),
];

/// Kinds that charts ask for and that are gone: group version, kind, plural, scope, last minor version that serves them.
pub const FORMER: &[(&str, &str, &str, bool, u16)] = &[
    ("apps/v1beta1", "Deployment", "deployments", true, 15),
    ("apps/v1beta1", "StatefulSet", "statefulsets", true, 15),
    ("apps/v1beta2", "DaemonSet", "daemonsets", true, 15),
    ("apps/v1beta2", "Deployment", "deployments", true, 15),
    ("apps/v1beta2", "ReplicaSet", "replicasets", true, 15),
    ("apps/v1beta2", "StatefulSet", "statefulsets", true, 15),
    ("extensions/v1beta1", "DaemonSet", "daemonsets", true, 15),
    ("extensions/v1beta1", "Deployment", "deployments", true, 15),
    ("extensions/v1beta1", "NetworkPolicy", "networkpolicies", true, 15),
    ("extensions/v1beta1", "PodSecurityPolicy", "podsecuritypolicies", false, 15),
    ("extensions/v1beta1", "ReplicaSet", "replicasets", true, 15),
    (
        "admissionregistration.k8s.io/v1beta1",
        "MutatingWebhookConfiguration",
        "mutatingwebhookconfigurations",
        false,
        21,
    ),
    (
        "admissionregistration.k8s.io/v1beta1",
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
        false,
        21,
    ),
    ("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", "customresourcedefinitions", false, 21),
    ("apiregistration.k8s.io/v1beta1", "APIService", "apiservices", false, 21),
    ("certificates.k8s.io/v1beta1", "CertificateSigningRequest", "certificatesigningrequests", false, 21),
    ("coordination.k8s.io/v1beta1", "Lease", "leases", true, 21),
    ("extensions/v1beta1", "Ingress", "ingresses", true, 21),
    ("networking.k8s.io/v1beta1", "Ingress", "ingresses", true, 21),
    ("networking.k8s.io/v1beta1", "IngressClass", "ingressclasses", false, 21),
    ("rbac.authorization.k8s.io/v1beta1", "ClusterRole", "clusterroles", false, 21),
    ("rbac.authorization.k8s.io/v1beta1", "ClusterRoleBinding", "clusterrolebindings", false, 21),
    ("rbac.authorization.k8s.io/v1beta1", "Role", "roles", true, 21),
    ("rbac.authorization.k8s.io/v1beta1", "RoleBinding", "rolebindings", true, 21),
    ("scheduling.k8s.io/v1beta1", "PriorityClass", "priorityclasses", false, 21),
    ("storage.k8s.io/v1beta1", "CSIDriver", "csidrivers", false, 21),
    ("storage.k8s.io/v1beta1", "CSINode", "csinodes", false, 21),
    ("storage.k8s.io/v1beta1", "StorageClass", "storageclasses", false, 21),
    ("storage.k8s.io/v1beta1", "VolumeAttachment", "volumeattachments", false, 21),
    ("autoscaling/v2beta1", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true, 24),
    ("batch/v1beta1", "CronJob", "cronjobs", true, 24),
    ("discovery.k8s.io/v1beta1", "EndpointSlice", "endpointslices", true, 24),
    ("events.k8s.io/v1beta1", "Event", "events", true, 24),
    ("node.k8s.io/v1beta1", "RuntimeClass", "runtimeclasses", false, 24),
    ("policy/v1beta1", "PodDisruptionBudget", "poddisruptionbudgets", true, 24),
    ("policy/v1beta1", "PodSecurityPolicy", "podsecuritypolicies", false, 24),
    ("autoscaling/v2beta2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true, 25),
    ("flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema", "flowschemas", false, 31),
    ("flowcontrol.apiserver.k8s.io/v1beta3", "PriorityLevelConfiguration", "prioritylevelconfigurations", false, 31),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::discovery::Discovery;
    use serde_json::Value as Json;
    use std::collections::BTreeMap;

    /// Kind, plural, scope, readability of every resource, and every sub-resource kind, as the API server listed them.
    #[test]
    fn the_table_is_what_the_api_server_serves() {
        let document: Json = serde_json::from_str(include_str!("../../fixtures/live/discovery.json")).unwrap();
        // The recorded cluster also serves what Flux's definitions add.
        let own = |list: &&Json| !list["groupVersion"].as_str().unwrap().contains(".fluxcd.io/");
        let lists: Vec<&Json> = document["resources"].as_array().unwrap().iter().filter(own).collect();
        let mut recorded: BTreeMap<String, BTreeMap<String, (String, bool, bool)>> = BTreeMap::new();
        for list in &lists {
            let group = recorded.entry(list["groupVersion"].as_str().unwrap().to_owned()).or_default();
            for entry in list["resources"].as_array().unwrap() {
                let text = |name: &str| entry[name].as_str().unwrap().to_owned();
                if !text("name").contains('/') {
                    let readable = entry["verbs"].as_array().unwrap().iter().any(|v| v == "get");
                    group.insert(text("kind"), (text("name"), entry["namespaced"] == true, readable));
                }
            }
        }
        let table: BTreeMap<String, BTreeMap<String, (String, bool, bool)>> = BUILTINS
            .iter()
            .map(|b| {
                let rows = b.resources.iter().map(|&(k, p, n, r)| (k.to_owned(), (p.to_owned(), n, r)));
                (b.group_version.to_owned(), rows.collect())
            })
            .collect();
        assert_eq!(table, recorded);

        let mut listed = Discovery::default();
        listed.clear();
        for list in lists {
            listed.add_list(list);
        }
        assert_eq!(Discovery::default().api_versions(), listed.api_versions(), "sub-resource kinds differ");
    }
}
