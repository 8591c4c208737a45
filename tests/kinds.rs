//! The table of built-in kinds against the metadata of k8s-openapi, for the same version of Kubernetes.
//!
//! Groups that an API server does not serve by default (alpha and beta versions) are in the crate and not in the table.

use std::collections::BTreeMap;

use helm_render_predictor::cluster::kinds::BUILTINS;
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope, Resource, SubResourceScope};

/// Whether objects live in namespaces; `None` for what only exists below another resource.
trait Scope {
    const NAMESPACED: Option<bool>;
}
impl Scope for ClusterResourceScope {
    const NAMESPACED: Option<bool> = Some(false);
}
impl Scope for NamespaceResourceScope {
    const NAMESPACED: Option<bool> = Some(true);
}
impl Scope for SubResourceScope {
    const NAMESPACED: Option<bool> = None;
}

fn row<R: Resource>() -> (&'static str, &'static str, &'static str, Option<bool>)
where
    R::Scope: Scope,
{
    (R::API_VERSION, R::KIND, R::URL_PATH_SEGMENT, R::Scope::NAMESPACED)
}

macro_rules! rows {
    ($($($part:ident)::+,)*) => { vec![$(row::<k8s_openapi::$($part)::+>(),)*] };
}

/// Every top-level resource of the crate.
#[rustfmt::skip]
fn crate_rows() -> Vec<(&'static str, &'static str, &'static str, Option<bool>)> {
    rows![
    api::admissionregistration::v1::MutatingWebhookConfiguration,
    api::admissionregistration::v1::ValidatingAdmissionPolicy,
    api::admissionregistration::v1::ValidatingAdmissionPolicyBinding,
    api::admissionregistration::v1::ValidatingWebhookConfiguration,
    api::admissionregistration::v1alpha1::MutatingAdmissionPolicy,
    api::admissionregistration::v1alpha1::MutatingAdmissionPolicyBinding,
    api::admissionregistration::v1beta1::MutatingAdmissionPolicy,
    api::admissionregistration::v1beta1::MutatingAdmissionPolicyBinding,
    api::apiserverinternal::v1alpha1::StorageVersion,
    api::apps::v1::ControllerRevision,
    api::apps::v1::DaemonSet,
    api::apps::v1::Deployment,
    api::apps::v1::ReplicaSet,
    api::apps::v1::StatefulSet,
    api::authentication::v1::SelfSubjectReview,
    api::authentication::v1::TokenReview,
    api::authorization::v1::LocalSubjectAccessReview,
    api::authorization::v1::SelfSubjectAccessReview,
    api::authorization::v1::SelfSubjectRulesReview,
    api::authorization::v1::SubjectAccessReview,
    api::autoscaling::v1::HorizontalPodAutoscaler,
    api::autoscaling::v2::HorizontalPodAutoscaler,
    api::batch::v1::CronJob,
    api::batch::v1::Job,
    api::certificates::v1::CertificateSigningRequest,
    api::certificates::v1alpha1::ClusterTrustBundle,
    api::certificates::v1beta1::ClusterTrustBundle,
    api::certificates::v1beta1::PodCertificateRequest,
    api::coordination::v1::Lease,
    api::coordination::v1alpha2::LeaseCandidate,
    api::coordination::v1beta1::LeaseCandidate,
    api::core::v1::Binding,
    api::core::v1::ComponentStatus,
    api::core::v1::ConfigMap,
    api::core::v1::Endpoints,
    api::core::v1::Event,
    api::core::v1::LimitRange,
    api::core::v1::Namespace,
    api::core::v1::Node,
    api::core::v1::PersistentVolume,
    api::core::v1::PersistentVolumeClaim,
    api::core::v1::Pod,
    api::core::v1::PodTemplate,
    api::core::v1::ReplicationController,
    api::core::v1::ResourceQuota,
    api::core::v1::Secret,
    api::core::v1::Service,
    api::core::v1::ServiceAccount,
    api::discovery::v1::EndpointSlice,
    api::events::v1::Event,
    api::flowcontrol::v1::FlowSchema,
    api::flowcontrol::v1::PriorityLevelConfiguration,
    api::networking::v1::IPAddress,
    api::networking::v1::Ingress,
    api::networking::v1::IngressClass,
    api::networking::v1::NetworkPolicy,
    api::networking::v1::ServiceCIDR,
    api::networking::v1beta1::IPAddress,
    api::networking::v1beta1::ServiceCIDR,
    api::node::v1::RuntimeClass,
    api::policy::v1::PodDisruptionBudget,
    api::rbac::v1::ClusterRole,
    api::rbac::v1::ClusterRoleBinding,
    api::rbac::v1::Role,
    api::rbac::v1::RoleBinding,
    api::resource::v1::DeviceClass,
    api::resource::v1::ResourceClaim,
    api::resource::v1::ResourceClaimTemplate,
    api::resource::v1::ResourceSlice,
    api::resource::v1alpha3::DeviceTaintRule,
    api::resource::v1beta1::DeviceClass,
    api::resource::v1beta1::ResourceClaim,
    api::resource::v1beta1::ResourceClaimTemplate,
    api::resource::v1beta1::ResourceSlice,
    api::resource::v1beta2::DeviceClass,
    api::resource::v1beta2::ResourceClaim,
    api::resource::v1beta2::ResourceClaimTemplate,
    api::resource::v1beta2::ResourceSlice,
    api::scheduling::v1::PriorityClass,
    api::scheduling::v1alpha1::Workload,
    api::storage::v1::CSIDriver,
    api::storage::v1::CSINode,
    api::storage::v1::CSIStorageCapacity,
    api::storage::v1::StorageClass,
    api::storage::v1::VolumeAttachment,
    api::storage::v1::VolumeAttributesClass,
    api::storage::v1beta1::VolumeAttributesClass,
    api::storagemigration::v1beta1::StorageVersionMigration,
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::APIGroup,
    apimachinery::pkg::apis::meta::v1::APIGroupList,
    apimachinery::pkg::apis::meta::v1::APIResourceList,
    apimachinery::pkg::apis::meta::v1::APIVersions,
    kube_aggregator::pkg::apis::apiregistration::v1::APIService,
    ]
}

#[test]
fn plurals_and_scopes_are_those_of_k8s_openapi() {
    let table: BTreeMap<(&str, &str), (&str, bool)> = BUILTINS
        .iter()
        .flat_map(|group| group.resources.iter().map(|r| ((group.group_version, r.0), (r.1, r.2))))
        .collect();
    let mut compared = 0;
    for (group_version, kind, plural, namespaced) in crate_rows() {
        let Some(found) = table.get(&(group_version, kind)) else { continue };
        assert_eq!((found.0, Some(found.1)), (plural, namespaced), "{group_version} {kind}");
        compared += 1;
    }
    assert!(compared >= 60, "only {compared} kinds compared");
}

#[test]
fn every_kind_of_a_served_group_version_is_in_the_table() {
    for (group_version, kind, plural, namespaced) in crate_rows() {
        // Documents of discovery itself (APIGroup, Status) have no place in a URL.
        if plural.is_empty() {
            continue;
        }
        if let Some(group) = BUILTINS.iter().find(|group| group.group_version == group_version) {
            let known = group.resources.iter().any(|r| r.0 == kind);
            assert!(known || namespaced.is_none(), "{group_version} {kind} is missing");
        }
    }
}
