//! When Flux notices by itself that values changed.

use serde_json::Value as Json;

use super::gather::Subject;
use crate::cluster::object::ObjectKey;
use crate::cluster::snapshot::Facts;
use crate::flux::settings::Settings;

/// Label with which an object of values sets its releases off (`F-61`).
const WATCH: &str = "/metadata/labels/reconcile.fluxcd.io~1watch";

/// When a release is upgraded whose values changed in the objects that `valuesFrom` names; none where that is not why.
pub fn values_noticed(subject: &Subject, facts: &dyn Facts, settings: &Settings) -> Option<String> {
    let hr = subject.helm_release.as_deref()?;
    if subject.decision.action == "none" || subject.decision.reason != "release config values changed" {
        return None;
    }
    let text = |json: &Json, field: &str| json.get(field).and_then(Json::as_str).unwrap_or_default().to_owned();
    let named = hr.pointer("/spec/valuesFrom").and_then(Json::as_array)?;
    let objects: Vec<ObjectKey> = named
        .iter()
        .map(|from| ObjectKey {
            group: String::new(),
            kind: text(from, "kind"),
            namespace: subject.release.namespace.clone(),
            name: text(from, "name"),
        })
        .collect();
    let watched = |key: &ObjectKey| {
        let object = facts.get(key).present();
        object.is_some_and(|o| o.json.pointer(WATCH).and_then(Json::as_str) == Some("Enabled"))
    };
    let first = objects.first()?;
    if !settings.watches_values() {
        return Some(format!(
            "this controller watches no objects of values: a change of {first} is noticed at the next run"
        ));
    }
    let interval = hr.pointer("/spec/interval").and_then(Json::as_str).unwrap_or_default();
    Some(match objects.iter().find(|key| !watched(key)) {
        Some(key) => format!(
            "{key} carries no label reconcile.fluxcd.io/watch: Enabled: a change of it is noticed at the next run, within {interval} (F-61)"
        ),
        None => format!("{first} is watched: Flux notices a change of it at once (F-61)"),
    })
}
