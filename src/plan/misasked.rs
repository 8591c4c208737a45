//! Lookups that are written so that they can find nothing: kinds that are none, braces that nobody evaluates.

use std::collections::BTreeMap;

use super::render::Rendered;
use crate::cluster::discovery::Discovery;
use crate::report::contract::Hazard;
use crate::template::gate::Place;
use crate::value::origin::LookupKey;

/// Names by which people call kinds of Kubernetes, as `kubectl` takes them.
const SHORT: &[(&str, &str)] = &[
    ("cj", "CronJob"),
    ("cm", "ConfigMap"),
    ("crd", "CustomResourceDefinition"),
    ("csr", "CertificateSigningRequest"),
    ("deploy", "Deployment"),
    ("ds", "DaemonSet"),
    ("ep", "Endpoints"),
    ("hpa", "HorizontalPodAutoscaler"),
    ("ing", "Ingress"),
    ("limits", "LimitRange"),
    ("netpol", "NetworkPolicy"),
    ("no", "Node"),
    ("ns", "Namespace"),
    ("pc", "PriorityClass"),
    ("pdb", "PodDisruptionBudget"),
    ("po", "Pod"),
    ("pv", "PersistentVolume"),
    ("pvc", "PersistentVolumeClaim"),
    ("quota", "ResourceQuota"),
    ("rc", "ReplicationController"),
    ("rs", "ReplicaSet"),
    ("sa", "ServiceAccount"),
    ("sc", "StorageClass"),
    ("sts", "StatefulSet"),
    ("svc", "Service"),
];

/// What is the matter with the lookups of some renders: by hazard and key, with where it stands and what to say.
pub fn misasked<'r>(
    renders: impl IntoIterator<Item = &'r Rendered>,
    discovery: &Discovery,
) -> BTreeMap<(Hazard, LookupKey), (Place, String)> {
    let mut found = BTreeMap::new();
    for lookup in renders.into_iter().flat_map(|rendered| &rendered.lookups) {
        let key = &*lookup.key;
        let problems = [
            wrong_kind(discovery, key).map(|text| (Hazard::WrongKind, text)),
            braces(key).map(|text| (Hazard::BadArgument, text)),
        ];
        for (hazard, text) in problems.into_iter().flatten() {
            found.entry((hazard, key.clone())).or_insert_with(|| (lookup.place.clone(), text));
        }
    }
    found
}

/// A kind that a served group version does not have (L4): no error, and nothing is ever found.
fn wrong_kind(discovery: &Discovery, key: &LookupKey) -> Option<String> {
    if !discovery.serves(&key.api_version) || discovery.resource(&key.api_version, &key.kind).is_some() {
        return None;
    }
    let answer = if key.name.is_empty() { "lists nothing" } else { "finds nothing" };
    let text = format!("{} has no kind \"{}\": the lookup {answer}, and fails nowhere (L4)", key.api_version, key.kind);
    let short = SHORT.iter().find(|(short, _)| key.kind.eq_ignore_ascii_case(short)).map(|(_, kind)| *kind);
    Some(match discovery.called(short.unwrap_or(&key.kind), &key.api_version) {
        Some((api, kind)) => format!("{text}; the kind {kind} is in {api}"),
        None => text,
    })
}

/// Braces in an argument: texts in actions are no templates.
fn braces(key: &LookupKey) -> Option<String> {
    let arguments = [&key.api_version, &key.kind, &key.namespace, &key.name];
    let argument = arguments.into_iter().find(|argument| argument.contains("{{"))?;
    Some(format!("\"{argument}\" is asked for as it is written: nothing evaluates braces inside a text"))
}
