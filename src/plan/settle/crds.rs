//! Definitions of kinds that a chart brings along in `crds/`: applied before it is rendered (`F-30`, `F-347`, `F-360`).

use serde_json::{Value as Json, json};

use crate::chart::Chart;
use crate::cluster::object::{Object, ObjectKey};
use crate::cluster::overlay::Overlay;
use crate::cluster::snapshot::{Facts, Snapshot};
use crate::flux::cycle::Request;
use crate::flux::model::origin_labels;
use crate::flux::postrender::parse_manifest;
use crate::flux::settings::{ControllerVersion, Settings};
use crate::flux::{Action, HelmRelease};

/// Applies them under the policy of the action; returns what changed.
pub(super) fn apply(
    cluster: &mut Snapshot,
    chart: Option<&Chart>,
    request: &Request<'_>,
    settings: &Settings,
) -> Vec<ObjectKey> {
    let action = if *request.action == Action::Install { "install" } else { "upgrade" };
    let policy = request.hr.text(&format!("/spec/{action}/crds"));
    let (Some(chart), false) = (chart, policy == "Skip") else { return Vec::new() };
    // Client-side apply leaves alone what is there.
    let creates = policy != "CreateReplace" && settings.controller < ControllerVersion(1, 5, 0);
    let mut overlay = Overlay::new(&*cluster);
    for (_, bytes) in all(chart) {
        for document in parse_manifest(&String::from_utf8_lossy(&bytes)).unwrap_or_default() {
            let there = Object::new(document.object.clone(), Default::default())
                .is_some_and(|o| cluster.get(&o.key).present().is_some());
            if document.object.get("kind").and_then(Json::as_str) == Some("CustomResourceDefinition")
                && !(creates && there)
            {
                overlay.put(labelled(document.object, request.hr), "", None);
            }
        }
    }
    let edits = overlay.into_edits();
    cluster.apply(edits)
}

/// The files, those of sub-charts included.
fn all(chart: &Chart) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<(String, Vec<u8>)> = chart.deps.iter().flat_map(all).collect();
    found.extend(chart.crds.iter().cloned());
    found
}

/// The object with the labels of its origin.
fn labelled(mut object: Json, hr: &HelmRelease) -> Json {
    let metadata = object.get_mut("metadata").and_then(Json::as_object_mut);
    let labels = metadata.map(|m| m.entry("labels").or_insert_with(|| json!({})));
    if let Some(labels) = labels.and_then(Json::as_object_mut) {
        labels.extend(origin_labels(&hr.name, &hr.namespace).map(|(key, value)| (key.to_owned(), value.into())));
    }
    object
}
