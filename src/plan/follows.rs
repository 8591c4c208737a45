//! What a force sets off elsewhere: releases that Flux then installs, upgrades or removes by itself.

use std::collections::BTreeSet;

use super::findings::Analysis;
use super::gather::{HELM_GROUP, Subject};
use crate::diff;
use crate::report::contract::{Follow, ReleaseRef};

/// The releases that move by themselves once `maker` is through.
pub fn follows(subjects: &[Subject], maker: &Subject, analysis: &Analysis) -> Vec<Follow> {
    let mut found: BTreeSet<Follow> = BTreeSet::new();
    let changed = |spec_only: bool| {
        analysis.now.docs.iter().filter(move |doc| {
            let stored = maker.stored_docs.iter().find(|old| old.key == doc.key);
            stored.is_none_or(|old| match spec_only {
                true => !diff::equal(&old.object["spec"], &doc.object["spec"]),
                false => !diff::equal(&old.object, &doc.object),
            })
        })
    };
    let release = |key: &crate::cluster::object::ObjectKey| ReleaseRef {
        namespace: if key.namespace.is_empty() { maker.namespace.clone() } else { key.namespace.clone() },
        name: key.name.clone(),
    };
    let mut add = |release: ReleaseRef, does: &'static str, because: String| {
        found.insert(Follow { release, does, because });
    };
    let is_release = |key: &crate::cluster::object::ObjectKey| key.group == HELM_GROUP && key.kind == "HelmRelease";
    for doc in changed(true).filter(|doc| is_release(&doc.key)) {
        let release = release(&doc.key);
        let known = subjects.iter().any(|s| s.release == release && !s.stored.is_empty());
        let does = if known { "upgrades" } else { "installs" };
        add(release, does, format!("{} renders its HelmRelease otherwise", maker.release));
    }
    for stored in maker.stored_docs.iter().filter(|old| is_release(&old.key) && !analysis.now.holds(&old.key)) {
        add(release(&stored.key), "uninstalls", format!("{} no longer renders its HelmRelease", maker.release));
    }
    for doc in changed(false).filter(|doc| matches!(doc.key.kind.as_str(), "ConfigMap" | "Secret")) {
        for reader in subjects.iter().filter(|s| s.release.namespace == doc.key.namespace) {
            let references = reader.helm_release.as_deref().and_then(|hr| hr.pointer("/spec/valuesFrom")?.as_array());
            let reads = |r: &serde_json::Value| {
                let kind = r["kind"].as_str().unwrap_or_default();
                kind == doc.key.kind && r["name"] == doc.key.name.as_str()
            };
            if references.into_iter().flatten().any(reads) {
                add(reader.release.clone(), "upgrades", format!("it takes values from {}", doc.key));
            }
        }
    }
    found.into_iter().filter(|f| f.release != maker.release).collect()
}
