//! What Helm's actions do to its storage (`F-114`, `F-167`, `F-172`).

use std::rc::Rc;

use serde_json::{Value as Json, json};

use super::model::HelmRelease;
use super::settings::ControllerVersion;
use crate::cluster::object::{Object, ObjectKey};
use crate::cluster::snapshot::Snapshot;
use crate::cluster::storage::{StoredRelease, encode, stored};

/// Revisions of the release, newest first.
pub(super) fn revisions(cluster: &Snapshot, hr: &HelmRelease) -> Vec<StoredRelease> {
    stored(cluster, &hr.storage_namespace(), &hr.release_name()).0
}

/// Whether a Secret or ConfigMap of that revision is there although Helm does not see it (`F-163`).
pub(super) fn hidden(cluster: &Snapshot, hr: &HelmRelease, version: i64) -> bool {
    use crate::cluster::snapshot::Facts;
    let seen = revisions(cluster, hr).iter().any(|r| r.version == version);
    !seen && cluster.get(&key(hr, version)).present().is_some()
}

fn key(hr: &HelmRelease, version: i64) -> ObjectKey {
    ObjectKey {
        group: String::new(),
        kind: "Secret".into(),
        namespace: hr.storage_namespace(),
        name: format!("sh.helm.release.v1.{}.v{version}", hr.release_name()),
    }
}

/// Writes a revision; its number and status are those of the payload.
pub(super) fn write(cluster: &mut Snapshot, hr: &HelmRelease, payload: &Json) {
    let version = payload.get("version").and_then(Json::as_i64).unwrap_or(0);
    let status = payload.pointer("/info/status").and_then(Json::as_str).unwrap_or_default();
    let key = key(hr, version);
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
        "metadata": {
            "name": key.name, "namespace": key.namespace,
            "labels": {"owner": "helm", "name": hr.release_name(), "status": status, "version": version.to_string()},
        },
        "data": {"release": encode(payload)},
    });
    cluster.apply([(key, Object::new(secret, Default::default()).map(Rc::new))]);
}

/// Gives a stored revision another status.
pub(super) fn mark(cluster: &mut Snapshot, hr: &HelmRelease, stored: &StoredRelease, status: &str, why: Option<&str>) {
    let mut payload = (*stored.json).clone();
    if let Some(info) = payload.get_mut("info").and_then(Json::as_object_mut) {
        info.insert("status".into(), status.into());
        if let Some(why) = why {
            info.insert("description".into(), why.into());
        }
    }
    write(cluster, hr, &payload);
}

/// Deletes revisions.
pub(super) fn delete<'a>(cluster: &mut Snapshot, which: impl IntoIterator<Item = &'a StoredRelease>) {
    let keys: Vec<ObjectKey> = which.into_iter().map(|r| r.object.key.clone()).collect();
    cluster.apply(keys.into_iter().map(|key| (key, None)));
}

/// Why Helm refuses an install or upgrade because of what is stored (`F-114`, `F-313`).
pub(super) fn refusal(
    install: bool,
    hr: &HelmRelease,
    all: &[StoredRelease],
    controller: ControllerVersion,
) -> Option<String> {
    let newest = all.first()?;
    if install {
        let replaces = hr.flag("/spec/install/replace") && matches!(newest.status.as_str(), "uninstalled" | "failed");
        let text = match controller < ControllerVersion(1, 5, 0) {
            true => "cannot re-use a name that is still in use",
            false => "release name check failed: cannot reuse a name that is still in use",
        };
        return (!replaces).then(|| text.to_owned());
    }
    if newest.status.starts_with("pending-") {
        return Some("another operation (install/upgrade/rollback) is in progress".into());
    }
    let usable =
        all.iter().any(|r| r.status == "deployed") || matches!(newest.status.as_str(), "failed" | "superseded");
    (!usable).then(|| format!("{:?} has no deployed releases", hr.release_name()))
}

/// Stores a new revision: older ones are pruned (`F-23`), and superseded if it is deployed.
pub(super) fn add(cluster: &mut Snapshot, hr: &HelmRelease, payload: &Json) {
    let all = revisions(cluster, hr);
    let most = usize::try_from(hr.number("/spec/maxHistory").unwrap_or(5)).unwrap_or(5);
    if most > 0 && all.len() >= most {
        // `all` is newest first; the newest deployed one is never pruned.
        let deployed = all.iter().find(|r| r.status == "deployed").map(|r| r.version);
        let spare = all.len() + 1 - most;
        let doomed: Vec<&StoredRelease> =
            all.iter().rev().filter(|r| Some(r.version) != deployed).take(spare).collect();
        delete(cluster, doomed);
    }
    if payload.pointer("/info/status").and_then(Json::as_str) == Some("deployed") {
        let left = revisions(cluster, hr);
        let deployed: Vec<&StoredRelease> = left.iter().filter(|r| r.status == "deployed").collect();
        if deployed.is_empty() {
            // Without a deployed predecessor the newest is superseded, in whichever state (F-172).
            if let Some(newest) = left.first() {
                mark(cluster, hr, newest, "superseded", None);
            }
        }
        for old in deployed {
            mark(cluster, hr, old, "superseded", None);
        }
    }
    write(cluster, hr, payload);
}
