//! The group versions that each Helm knows by itself: `.Capabilities.APIVersions` without a server (`H-23`).

use crate::base::version::HelmVersion;

/// Group versions in Helm's order, by which of the release lines 3.17, 3.22, 4.1, 4.2 and 4.3 know them.
const TABLE: &[([bool; 5], &str)] = &[
    (
        [true, true, true, true, true],
        "v1 admissionregistration.k8s.io/v1 admissionregistration.k8s.io/v1alpha1 admissionregistration.k8s.io/v1beta1 internal.apiserver.k8s.io/v1alpha1 apps/v1 apps/v1beta1 apps/v1beta2 authentication.k8s.io/v1 authentication.k8s.io/v1alpha1 authentication.k8s.io/v1beta1 authorization.k8s.io/v1 authorization.k8s.io/v1beta1 autoscaling/v1 autoscaling/v2",
    ),
    ([true, false, true, false, false], "autoscaling/v2beta1 autoscaling/v2beta2"),
    (
        [true, true, true, true, true],
        "batch/v1 batch/v1beta1 certificates.k8s.io/v1 certificates.k8s.io/v1beta1 certificates.k8s.io/v1alpha1 coordination.k8s.io/v1alpha2 coordination.k8s.io/v1beta1 coordination.k8s.io/v1 discovery.k8s.io/v1 discovery.k8s.io/v1beta1 events.k8s.io/v1 events.k8s.io/v1beta1 extensions/v1beta1 flowcontrol.apiserver.k8s.io/v1 flowcontrol.apiserver.k8s.io/v1beta1 flowcontrol.apiserver.k8s.io/v1beta2 flowcontrol.apiserver.k8s.io/v1beta3",
    ),
    ([false, true, false, false, true], "lifecycle.k8s.io/v1alpha1"),
    ([true, true, true, true, true], "networking.k8s.io/v1"),
    ([true, false, false, false, false], "networking.k8s.io/v1alpha1"),
    (
        [true, true, true, true, true],
        "networking.k8s.io/v1beta1 node.k8s.io/v1 node.k8s.io/v1alpha1 node.k8s.io/v1beta1 policy/v1 policy/v1beta1 rbac.authorization.k8s.io/v1 rbac.authorization.k8s.io/v1beta1 rbac.authorization.k8s.io/v1alpha1",
    ),
    ([false, true, true, true, true], "resource.k8s.io/v1 resource.k8s.io/v1beta2"),
    ([true, true, true, true, true], "resource.k8s.io/v1beta1 resource.k8s.io/v1alpha3"),
    ([true, false, true, false, false], "scheduling.k8s.io/v1alpha1"),
    ([false, true, false, false, true], "scheduling.k8s.io/v1alpha3"),
    ([false, false, false, true, false], "scheduling.k8s.io/v1alpha2"),
    (
        [true, true, true, true, true],
        "scheduling.k8s.io/v1beta1 scheduling.k8s.io/v1 storage.k8s.io/v1beta1 storage.k8s.io/v1 storage.k8s.io/v1alpha1",
    ),
    ([true, false, false, false, false], "storagemigration.k8s.io/v1alpha1"),
    ([false, true, false, false, true], "storagemigration.k8s.io/v1"),
    ([false, true, true, true, true], "storagemigration.k8s.io/v1beta1"),
    ([true, true, true, true, true], "apiextensions.k8s.io/v1beta1 apiextensions.k8s.io/v1"),
];

/// Numbers of the release lines in the table.
const LINES: [(u16, u16); 5] = [(3, 17), (3, 22), (4, 1), (4, 2), (4, 3)];

/// What that Helm, or the nearest older one of its major, was built with.
pub fn compiled_in(helm: HelmVersion) -> Vec<String> {
    let (major, minor, _) = helm.number;
    let line = LINES.iter().rposition(|line| line.0 == major && line.1 <= minor).unwrap_or(0);
    TABLE
        .iter()
        .filter(|(known, _)| known.get(line).is_some_and(|known| *known))
        .flat_map(|(_, versions)| versions.split(' '))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_versions_are_known_without_a_server() {
        let known = |helm: &str| compiled_in(helm.parse().unwrap());
        for helm in ["3.17", "3.22", "4.1", "4.2", "4.3"] {
            assert!(known(helm).iter().any(|api| api == "policy/v1beta1"), "{helm}");
            assert!(!known(helm).iter().any(|api| api == "apps/v1/Deployment"), "{helm}");
        }
        assert_ne!(known("4.1"), known("4.2"));
    }
}
