//! Whether the objects above a HelmRelease have settled: sources (`F-213`), HelmCharts (`F-224`), Kustomizations (`F-265`).

use serde_json::Value as Json;

use super::decide::REQUESTED;
use super::model::HelmRelease;
use super::settled::{Holds, Settled};
use crate::base::Known;
use crate::cluster::object::{Object, ObjectKey};
use crate::cluster::snapshot::Facts;

/// API group of the sources.
pub(super) const SOURCES: &str = "source.toolkit.fluxcd.io";

/// Conditions of a source and of what it is made from, upstream first.
pub(super) fn chain(out: &mut Settled, key: &ObjectKey, facts: &dyn Facts, revision: Option<&str>) {
    if key.kind != "HelmChart" {
        if let Some(source) = find(out, key, facts) {
            out.source_revision = source.text("/status/artifact/revision").to_owned();
            match key.kind.as_str() {
                // Third parties write it: only its artifact counts (F-206).
                "ExternalArtifact" => artifact(out, key, &source, revision),
                _ => source_settled(out, key, &source, revision),
            }
        }
        return;
    }
    let chart = facts.get(key);
    let above = chart.clone().present().map(|chart| source_of(&chart));
    let upstream = above.as_ref().and_then(|key| facts.get(key).present());
    let is_static = upstream.as_ref().is_some_and(|source| is_static(source));
    let by_chart = above.as_ref().is_some_and(|k| k.kind == "HelmRepository") && revision.is_some();
    if let Some(above) = above.as_ref().filter(|_| !is_static)
        && let Some(source) = find(out, above, facts)
    {
        let seen = source.text("/status/artifact/revision");
        out.source_revision = seen.to_owned();
        // An index has a digest only; a revision of it may also be given as the version of the chart.
        let revision = revision.filter(|wanted| !by_chart || is_revision(seen, wanted));
        source_settled(out, above, &source, revision);
    }
    if let Some(chart) = find(out, key, facts) {
        let seen = out.source_revision.clone();
        let version = revision.filter(|wanted| by_chart && !is_revision(&seen, wanted));
        source_settled(out, key, &chart, version);
        if let (false, Some(source)) = (is_static, &upstream) {
            packaged(out, key, &chart, source);
        }
    }
}

/// The object; its absence is a condition that fails.
fn find(out: &mut Settled, key: &ObjectKey, facts: &dyn Facts) -> Option<std::rc::Rc<Object>> {
    match facts.get(key) {
        Known::Present(object) => return Some(object),
        // Flux serves these kinds: one that nothing tells of was not collected.
        Known::Absent if facts.discovery().namespaced(&key.group, &key.kind).is_none() => {
            out.add("F-213", key, "object", Holds::Unknown, "was not collected");
        }
        Known::Absent if key.kind == "HelmChart" => {
            out.add("F-12", key, "object", Holds::Waits, "missing; the next run of its HelmRelease writes it");
        }
        Known::Absent => out.add("F-213", key, "object", Holds::Blocked, "missing"),
        Known::Uncollected => out.add("F-213", key, "object", Holds::Unknown, "was not collected"),
    }
    None
}

/// The source that a HelmChart or Kustomization names.
pub(super) fn source_of(object: &Object) -> ObjectKey {
    let text = |field: &str| object.text(&format!("/spec/sourceRef/{field}")).to_owned();
    let namespace = if text("namespace").is_empty() { object.key.namespace.clone() } else { text("namespace") };
    ObjectKey { group: SOURCES.into(), kind: text("kind"), namespace, name: text("name") }
}

/// A HelmRepository of type `oci` has no artifact and is never reconciled (`F-202`).
pub(super) fn is_static(source: &Object) -> bool {
    source.key.kind == "HelmRepository" && source.text("/spec/type") == "oci"
}

/// Whether a revision is the one asked for: the whole of it, its part before or behind the last separator, or the
/// beginning of its hash.
pub(super) fn is_revision(revision: &str, wanted: &str) -> bool {
    let hash = revision.rsplit(':').next().unwrap_or_default();
    let (tag, digest) = revision.split_once('@').unwrap_or((revision, revision));
    let begins = wanted.len() >= 7 && wanted.bytes().all(|b| b.is_ascii_hexdigit()) && hash.starts_with(wanted);
    !wanted.is_empty() && (revision == wanted || digest == wanted || tag == wanted || begins)
}

/// Conditions that every reconciled source shares (`F-213`).
///
/// That an artifact is being built comes first: it is the most that can be said of a run under way.
fn source_settled(out: &mut Settled, key: &ObjectKey, source: &Object, revision: Option<&str>) {
    let object = HelmRelease::new(source.json.clone());
    if object.flag("/spec/suspend") {
        let text = "suspended: requests are acknowledged without a fetch (F-208)";
        out.add("F-213", key, "suspend", Holds::Blocked, text);
    }
    let building = |kind: &str, status: &str| {
        let entry = object.condition_entry(kind).filter(|c| c.get("status").and_then(Json::as_str) == Some(status));
        let message = entry.and_then(|c| c.get("message")?.as_str()).unwrap_or_default();
        message.starts_with("building artifact")
    };
    if object.condition("ArtifactOutdated") == Some("True")
        || building("Reconciling", "True")
        || building("Ready", "Unknown")
    {
        out.add("F-211", key, "artifact", Holds::Waits, "a newer artifact is being built");
    }
    observed(out, key, &object);
    requested(out, key, &object);
    let reason = |kind: &str| object.condition_reason(kind).unwrap_or("no reason").to_owned();
    if object.condition("Stalled") == Some("True") {
        out.add("F-213", key, "stalled", Holds::Blocked, format!("stalled: {}", reason("Stalled")));
    }
    let running = object.condition("Reconciling") == Some("True");
    let ready = object.condition("Ready").unwrap_or("absent");
    let text = match (ready, running) {
        ("False", _) => format!("Ready is False: {}", reason("Ready")),
        (_, true) => "a run is under way (Reconciling is True)".to_owned(),
        _ => format!("Ready is {ready}"),
    };
    out.wait("F-213", key, "ready", ready == "True" && !running, text);
    artifact(out, key, source, revision);
}

fn artifact(out: &mut Settled, key: &ObjectKey, source: &Object, revision: Option<&str>) {
    let seen = source.text("/status/artifact/revision");
    let text = match revision {
        _ if seen.is_empty() => "it has no artifact".to_owned(),
        Some(wanted) if !is_revision(seen, wanted) => format!("artifact {seen}, wanted {wanted}"),
        _ => format!("artifact {seen}"),
    };
    let holds = !seen.is_empty() && revision.is_none_or(|wanted| is_revision(seen, wanted));
    out.wait("F-213", key, "artifact", holds, text);
}

fn observed(out: &mut Settled, key: &ObjectKey, object: &HelmRelease) {
    let observed = object.number("/status/observedGeneration").unwrap_or(-1);
    let generation = object.generation();
    let text = format!("observed {observed}, generation {generation}");
    out.wait("F-213", key, "generation", observed == generation, text);
}

fn requested(out: &mut Settled, key: &ObjectKey, object: &HelmRelease) {
    let Some(requested) = object.annotation(REQUESTED) else { return };
    let handled = object.text("/status/lastHandledReconcileAt");
    let text = format!("handled {}, requested {requested}", if handled.is_empty() { "none" } else { handled });
    out.wait("F-213", key, "request", handled == requested, text);
}

/// A HelmChart was packaged from the present artifact of its source (`F-220`, `F-224`).
fn packaged(out: &mut Settled, key: &ObjectKey, chart: &Object, source: &Object) {
    let wanted = source.text("/status/artifact/revision");
    let seen = chart.text("/status/observedSourceArtifactRevision");
    let text = match seen == wanted {
        true => format!("packaged from {seen}"),
        false => format!("packaged from {}, the source is at {wanted}", if seen.is_empty() { "nothing" } else { seen }),
    };
    out.wait("F-224", key, "source", seen == wanted, text);
    if let Some(suffix) = suffix(chart, source) {
        let version = chart.text("/status/artifact/revision");
        let has = version.split_once('+').map_or("", |(_, metadata)| metadata);
        let text = format!("version {version}, wanted +{suffix}");
        out.wait("F-220", key, "version", has == suffix, text);
    }
}

/// The build metadata that the version of a packaged chart gets; `None` if it gets none (`F-220`).
pub(super) fn suffix(chart: &Object, source: &Object) -> Option<String> {
    let files = chart.json.pointer("/spec/valuesFiles").and_then(Json::as_array);
    let with_files = files.is_some_and(|files| match &files[..] {
        [] => false,
        [one] => one.as_str() != Some("values.yaml"),
        _ => true,
    });
    let packs = matches!(source.key.kind.as_str(), "GitRepository" | "Bucket");
    let revision = source.text("/status/artifact/revision");
    let hash = revision.rsplit(':').next().unwrap_or_default();
    let mut parts = Vec::new();
    if packs && chart.text("/spec/reconcileStrategy") == "Revision" {
        parts.push(hash.chars().take(12).collect::<String>());
    }
    if with_files {
        let generation = chart.json.pointer("/metadata/generation").and_then(Json::as_i64).unwrap_or(0);
        parts.push(generation.to_string());
    }
    (!parts.is_empty()).then(|| parts.join("."))
}

/// A Kustomization has applied the present artifact of its source (`F-265`).
pub(super) fn kustomization(out: &mut Settled, key: &ObjectKey, facts: &dyn Facts, revision: Option<&str>) {
    let Some(object) = find(out, key, facts) else { return };
    let source = source_of(&object);
    chain(out, &source, facts, revision);
    let state = HelmRelease::new(object.json.clone());
    if state.flag("/spec/suspend") {
        out.add("F-265", key, "suspend", Holds::Blocked, "suspended");
    }
    observed(out, key, &state);
    requested(out, key, &state);
    if let Some(source) = facts.get(&source).present() {
        let (applied, wanted) =
            (state.text("/status/lastAppliedRevision"), source.text("/status/artifact/revision").to_owned());
        out.wait("F-265", key, "revision", applied == wanted, format!("applied {applied}, the source is at {wanted}"));
    }
    let running = state.condition("Reconciling") == Some("True");
    let ready = state.condition("Ready").unwrap_or("absent");
    out.wait("F-265", key, "ready", ready == "True" && !running, format!("Ready is {ready}"));
}
