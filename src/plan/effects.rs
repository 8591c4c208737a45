//! What a force brings about besides its own objects: children it waits for, markers it deletes and the next upgrade makes
//! again, stores that keep an old password.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::findings::{Analysis, reference};
use super::gather::{HELM_GROUP, Subject};
use crate::cluster::object::ObjectKey;
use crate::cluster::snapshot::Facts;
use crate::flux::HelmRelease;
use crate::report::contract::{Class, Danger, Finding, Key, ObjectRef};

/// HelmReleases that a release renders: with the poller (the default) its upgrade waits for each of them (`F-9`).
pub fn children<'a>(subject: &Subject, analysis: &'a Analysis) -> Vec<&'a ObjectKey> {
    let hr = subject.helm_release.as_deref();
    let strategy = hr.and_then(|hr| hr.pointer("/spec/waitStrategy/name")).and_then(Json::as_str);
    let no_wait = hr.and_then(|hr| hr.pointer("/spec/upgrade/disableWait")).and_then(Json::as_bool) == Some(true);
    if hr.is_none() || strategy == Some("legacy") || no_wait {
        return Vec::new();
    }
    let docs = analysis.now.docs.iter().map(|doc| &doc.key);
    docs.filter(|key| key.group == HELM_GROUP && key.kind == "HelmRelease").collect()
}

/// Children that are not ready now: a forced parent waits for them until its timeout, and then fails.
pub fn unready(children: &[&ObjectKey], facts: &dyn Facts) -> Vec<Danger> {
    let waits = |key: &&&ObjectKey| {
        facts.get(key).present().is_some_and(|object| {
            let child = HelmRelease::new(object.json.clone());
            child.condition("Ready") != Some("True") || child.observed_generation() != child.generation()
        })
    };
    let danger = |key: &&ObjectKey| Danger { kind: "waits".into(), object: reference(key), consumers: Vec::new() };
    children.iter().filter(waits).map(danger).collect()
}

/// Objects that are deleted only because they exist: a chart that makes something only where it is missing.
pub fn created_once(findings: &[Finding]) -> BTreeSet<ObjectRef> {
    let itself = |finding: &&Finding| {
        let Some(object) = finding.object.as_ref().filter(|_| finding.class == Class::WouldDelete) else {
            return false;
        };
        !finding.chains.is_empty() && finding.chains.iter().any(|chain| chain.key == object.to_string())
    };
    findings.iter().filter(itself).filter_map(|f| f.object.clone()).collect()
}

/// Guards of drawn values that read an object which nobody makes, the release itself neither: a name that does not fit.
pub fn guards_of_nothing(findings: &[Finding], keys: &[Key]) -> BTreeSet<String> {
    let nobody =
        |key: &&str| keys.iter().any(|k| k.key == **key && k.exists == "absent" && k.producer.kind == "unknown");
    let drawn = findings.iter().filter(|f| f.class == Class::WouldRotate);
    drawn
        .flat_map(|finding| {
            finding.object.iter().flat_map(|object| finding.chains.iter().map(move |c| (object, &*c.key)))
        })
        .filter(|(_, key)| nobody(key))
        .map(|(object, key)| format!("{object} is drawn anew for want of {key}, which nobody in the snapshot makes"))
        .collect()
}

/// Objects of Kubernetes that a release moves to another group: there is one of them behind both names.
pub fn moved(findings: &[Finding]) -> Vec<String> {
    let of = |classes: &'static [Class]| {
        let found = findings.iter().filter(|f| classes.contains(&f.class));
        found.filter_map(|f| f.object.as_ref())
    };
    let built_in = |group: &str| !group.contains('.') || group.ends_with(".k8s.io");
    let mut notes = Vec::new();
    for old in of(&[Class::WouldDelete]) {
        let same = |new: &&ObjectRef| {
            let named = (&new.kind, &new.namespace, &new.name) == (&old.kind, &old.namespace, &old.name);
            named && new.group != old.group && built_in(&new.group) && built_in(&old.group)
        };
        if let Some(new) = of(&[Class::WouldCreate, Class::Skipped]).find(same) {
            notes.push(format!("{old} of {} is the one of {}: deleting it deletes both", old.group, new.group));
        }
    }
    notes
}

/// What goes with a rotation: a store that keeps what it was first told.
pub fn stateful(dangers: &[Danger], analysis: &Analysis) -> Vec<String> {
    let keeps = |user: &&ObjectRef| {
        let doc = analysis.now.docs.iter().find(|doc| reference(&doc.key) == **user);
        doc.is_some_and(|doc| {
            let claims = doc.object.pointer("/spec/volumeClaimTemplates").and_then(Json::as_array);
            let volumes = doc.object.pointer("/spec/template/spec/volumes").and_then(Json::as_array);
            claims.is_some_and(|claims| !claims.is_empty())
                || volumes.into_iter().flatten().any(|volume| volume.get("persistentVolumeClaim").is_some())
        })
    };
    let rotates = dangers.iter().filter(|danger| danger.kind == "rotates");
    rotates
        .flat_map(|danger| danger.consumers.iter().filter(keeps).map(move |user| (danger, user)))
        .map(|(danger, user)| format!("{user} uses {} and keeps the old value in its volume", danger.object))
        .collect()
}
