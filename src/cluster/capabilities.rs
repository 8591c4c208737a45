//! What Helm believes of a cluster that it does not ask (`H-22`): the lists compiled into each version.
//!
//! Facts read off the programs by rendering `.Capabilities` without a cluster.

use std::collections::BTreeSet;

use crate::base::version::HelmVersion;

/// The Kubernetes minor (of 1.x) whose client library a Helm is built on: from this version of Helm onward.
const CLIENTS: &[((u16, u16), u16)] = &[((3, 17), 32), ((3, 22), 37), ((4, 1), 35), ((4, 2), 36), ((4, 3), 37)];

/// Held by every measured client library.
const ALWAYS: (u16, u16) = (0, u16::MAX);

/// Group, and its versions with the first and last Kubernetes minor of the client libraries that hold them.
type Group = (&'static str, &'static [(&'static str, (u16, u16))]);

const GROUPS: &[Group] = &[
    ("", &[("v1", ALWAYS)]),
    ("admissionregistration.k8s.io", &[("v1", ALWAYS), ("v1alpha1", ALWAYS), ("v1beta1", ALWAYS)]),
    ("apiextensions.k8s.io", &[("v1", ALWAYS), ("v1beta1", ALWAYS)]),
    ("apps", &[("v1", ALWAYS), ("v1beta1", ALWAYS), ("v1beta2", ALWAYS)]),
    ("authentication.k8s.io", &[("v1", ALWAYS), ("v1alpha1", ALWAYS), ("v1beta1", ALWAYS)]),
    ("authorization.k8s.io", &[("v1", ALWAYS), ("v1beta1", ALWAYS)]),
    ("autoscaling", &[("v1", ALWAYS), ("v2", ALWAYS), ("v2beta1", (0, 35)), ("v2beta2", (0, 35))]),
    ("batch", &[("v1", ALWAYS), ("v1beta1", ALWAYS)]),
    ("certificates.k8s.io", &[("v1", ALWAYS), ("v1alpha1", ALWAYS), ("v1beta1", ALWAYS)]),
    ("coordination.k8s.io", &[("v1", ALWAYS), ("v1alpha2", ALWAYS), ("v1beta1", ALWAYS)]),
    ("discovery.k8s.io", &[("v1", ALWAYS), ("v1beta1", ALWAYS)]),
    ("events.k8s.io", &[("v1", ALWAYS), ("v1beta1", ALWAYS)]),
    ("extensions", &[("v1beta1", ALWAYS)]),
    ("flowcontrol.apiserver.k8s.io", &[("v1", ALWAYS), ("v1beta1", ALWAYS), ("v1beta2", ALWAYS), ("v1beta3", ALWAYS)]),
    ("internal.apiserver.k8s.io", &[("v1alpha1", ALWAYS)]),
    ("lifecycle.k8s.io", &[("v1alpha1", (37, u16::MAX))]),
    ("networking.k8s.io", &[("v1", ALWAYS), ("v1alpha1", (0, 32)), ("v1beta1", ALWAYS)]),
    ("node.k8s.io", &[("v1", ALWAYS), ("v1alpha1", ALWAYS), ("v1beta1", ALWAYS)]),
    ("policy", &[("v1", ALWAYS), ("v1beta1", ALWAYS)]),
    ("rbac.authorization.k8s.io", &[("v1", ALWAYS), ("v1alpha1", ALWAYS), ("v1beta1", ALWAYS)]),
    (
        "resource.k8s.io",
        &[("v1", (35, u16::MAX)), ("v1alpha3", ALWAYS), ("v1beta1", ALWAYS), ("v1beta2", (35, u16::MAX))],
    ),
    (
        "scheduling.k8s.io",
        &[
            ("v1", ALWAYS),
            ("v1alpha1", (0, 35)),
            ("v1alpha2", (36, 36)),
            ("v1alpha3", (37, u16::MAX)),
            ("v1beta1", ALWAYS),
        ],
    ),
    ("storage.k8s.io", &[("v1", ALWAYS), ("v1alpha1", ALWAYS), ("v1beta1", ALWAYS)]),
    ("storagemigration.k8s.io", &[("v1", (37, u16::MAX)), ("v1alpha1", (0, 32)), ("v1beta1", (35, u16::MAX))]),
];

/// The Kubernetes minor of the client library in this Helm: that of the newest measured Helm of the same major that is
/// not newer; of the oldest, if all are.
fn client_minor(helm: HelmVersion) -> u16 {
    let (major, minor, _) = helm.number;
    let same: Vec<_> = CLIENTS.iter().filter(|((m, _), _)| *m == major).collect();
    let known = same.iter().rev().find(|((_, n), _)| *n <= minor).or(same.first());
    known.map_or(32, |(_, kubernetes)| *kubernetes)
}

/// `.Capabilities.KubeVersion` without a cluster and without `--kube-version` (`H-22`).
///
/// Helm 3.22 is given the version of its client library, as released programs are; one built from the module proxy says
/// `v1.20.0`.
pub fn default_kube_version(helm: HelmVersion) -> String {
    format!("v1.{}.0", client_minor(helm))
}

/// `.Capabilities.APIVersions` without a cluster, before `--api-versions` (`H-22`): group versions, no kinds.
pub fn default_api_versions(helm: HelmVersion) -> BTreeSet<String> {
    let minor = client_minor(helm);
    let held = |(first, last): (u16, u16)| (first..=last).contains(&minor);
    GROUPS
        .iter()
        .flat_map(|(group, versions)| {
            versions.iter().filter(|(_, range)| held(*range)).map(move |(version, _)| match *group {
                "" => (*version).to_owned(),
                group => format!("{group}/{version}"),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h_22_each_helm_brings_the_list_of_its_client_library() {
        // Helm, its Kubernetes, how many group versions it prints, some that it has, some that it lacks.
        type Row = (&'static str, &'static str, usize, &'static [&'static str], &'static [&'static str]);
        let rows: &[Row] = &[
            ("3.17.3", "v1.32.0", 56, &["autoscaling/v2beta2", "networking.k8s.io/v1alpha1"], &["resource.k8s.io/v1"]),
            ("3.22.0", "v1.37.0", 57, &["resource.k8s.io/v1", "lifecycle.k8s.io/v1alpha1"], &["autoscaling/v2beta2"]),
            (
                "4.1.4",
                "v1.35.0",
                57,
                &["autoscaling/v2beta1", "scheduling.k8s.io/v1alpha1"],
                &["storagemigration.k8s.io/v1"],
            ),
            (
                "4.2.2",
                "v1.36.0",
                55,
                &["scheduling.k8s.io/v1alpha2"],
                &["autoscaling/v2beta1", "lifecycle.k8s.io/v1alpha1"],
            ),
            (
                "4.3.2",
                "v1.37.0",
                57,
                &["storagemigration.k8s.io/v1", "policy/v1beta1"],
                &["scheduling.k8s.io/v1alpha2"],
            ),
        ];
        for (helm, kubernetes, count, has, lacks) in rows {
            let helm: HelmVersion = helm.parse().unwrap();
            let versions = default_api_versions(helm);
            assert_eq!((default_kube_version(helm).as_str(), versions.len()), (*kubernetes, *count), "{helm}");
            assert!(has.iter().all(|v| versions.contains(*v)), "{helm}");
            assert!(!lacks.iter().any(|v| versions.contains(*v)), "{helm}");
        }
    }
}
