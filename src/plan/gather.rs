//! The releases of a snapshot: HelmReleases with their storage, and releases that no HelmRelease owns.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::Value as Json;

use super::charts::Charts;
use super::render::Doc;
use super::silent::silent;
use super::values_files::ValuesFiles;
use crate::base::diag::Diagnostic;
use crate::chart::Chart;
use crate::cluster::object::ObjectKey;
use crate::cluster::snapshot::{Facts, Snapshot};
use crate::cluster::storage::{StoredRelease, is_storage, stored};
use crate::diff;
use crate::flux::digest::in_doubles;
use crate::flux::postrender::parse_manifest;
use crate::flux::preserve::{defaults, predecessor, preserved};
use crate::flux::settings::Settings;
use crate::flux::{self, Action, Composed, Exit, HelmRelease, Outcome, State};
use crate::report::contract::{Check, Decision, ReleaseRef};
use crate::report::silent::Silent;

/// Whether Flux moves a release by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moves {
    /// It is in sync: only a force renders it.
    Only,
    /// It will be rendered at its next reconcile, and why.
    ByItself(String),
    /// It failed and is retried.
    Retries,
    /// It will be rendered once nothing blocks it any more.
    Later {
        /// Why it will be.
        what: String,
        /// What blocks it.
        by: String,
    },
    /// A force would be lost, and why.
    Blocked(String),
    /// The snapshot does not tell, and what is missing.
    Unknown(Vec<String>),
}

/// One release with everything that a prediction starts from.
pub struct Subject {
    /// Namespace and name of the HelmRelease; of the Helm release where there is none.
    pub release: ReleaseRef,
    /// Namespace into which objects without one are put.
    pub namespace: String,
    /// Name of the Helm release.
    pub helm_name: String,
    /// The HelmRelease.
    pub helm_release: Option<Rc<Json>>,
    /// The chart to render; none if it is not to be had.
    pub chart: Option<Chart>,
    /// The user's values, composed.
    pub values: Json,
    /// What each part of the values gives by itself, where there are several.
    pub layers: Vec<(Rc<str>, Json)>,
    /// What Flux would do with it.
    pub decision: Decision,
    /// Whether it moves by itself.
    pub moves: Moves,
    /// Releases it depends on.
    pub depends_on: BTreeSet<ReleaseRef>,
    /// Stored revisions, newest first.
    pub stored: Vec<StoredRelease>,
    /// Objects of the newest stored manifest.
    pub stored_docs: Vec<Doc>,
    /// Hooks of the newest stored revision.
    pub stored_hooks: Vec<Doc>,
    /// What would have to be collected before it can be rendered.
    pub missing: Vec<String>,
    /// What its objects give away and nothing tells.
    pub silent: Vec<Silent>,
}

impl Subject {
    /// A chart with values that nobody installed.
    pub fn alone(name: &str, namespace: &str, chart: Chart, values: Json) -> Subject {
        Subject {
            release: ReleaseRef { namespace: namespace.to_owned(), name: name.to_owned() },
            namespace: namespace.to_owned(),
            helm_name: name.to_owned(),
            helm_release: None,
            chart: Some(chart),
            values,
            layers: Vec::new(),
            decision: Decision {
                state: "Absent".into(),
                reason: "nobody installed it".into(),
                action: "none".into(),
                trace: Vec::new(),
            },
            moves: Moves::Only,
            depends_on: BTreeSet::new(),
            stored: Vec::new(),
            stored_docs: Vec::new(),
            stored_hooks: Vec::new(),
            missing: Vec::new(),
            silent: Vec::new(),
        }
    }

    /// Whether everything that a render needs is there.
    pub fn can_render(&self) -> bool {
        self.missing.is_empty()
    }
}

impl Subject {
    /// Whether the values are others than those of the stored revision.
    pub fn values_moved(&self) -> bool {
        let Some(newest) = self.stored.first() else { return false };
        let stored = newest.config().cloned().map_or(Json::Null, in_doubles);
        let nothing = |json: &Json| json.is_null() || json.as_object().is_some_and(serde_json::Map::is_empty);
        !(diff::equal(&stored, &self.values) || nothing(&stored) && nothing(&self.values))
    }

    /// `spec.suspend`
    pub fn suspended(&self) -> bool {
        let hr = self.helm_release.as_deref();
        hr.and_then(|hr| hr.pointer("/spec/suspend")).and_then(Json::as_bool).unwrap_or(false)
    }
}

/// Group of Flux's HelmReleases.
pub const HELM_GROUP: &str = "helm.toolkit.fluxcd.io";

/// All releases of a snapshot, by namespace and name.
pub fn gather(
    facts: &Snapshot,
    charts: &Charts,
    settings: &Settings,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Subject> {
    let mut subjects = Vec::new();
    let mut owned: BTreeSet<(String, String)> = BTreeSet::new();
    for object in facts.objects().filter(|o| o.key.group == HELM_GROUP && o.key.kind == "HelmRelease") {
        let hr = HelmRelease::new(object.json.clone());
        owned.insert((hr.storage_namespace(), hr.release_name()));
        subjects.push(subject_of(&hr, facts, charts, settings, diagnostics));
    }
    let plain: BTreeSet<(String, String)> = facts
        .objects()
        .filter(|o| o.key.group.is_empty() && is_storage(o))
        .map(|o| (o.key.namespace.clone(), o.text("/metadata/labels/name").to_owned()))
        .filter(|id| !owned.contains(id))
        .collect();
    for (namespace, name) in plain {
        subjects.extend(unmanaged(&namespace, &name, facts, charts, diagnostics));
    }
    subjects.sort_by(|a, b| a.release.cmp(&b.release));
    subjects
}

/// A HelmRelease with everything that a prediction starts from.
pub fn subject_of(
    hr: &HelmRelease,
    facts: &Snapshot,
    charts: &Charts,
    settings: &Settings,
    diagnostics: &mut Vec<Diagnostic>,
) -> Subject {
    let (stored, problems) = stored(facts, &hr.storage_namespace(), &hr.release_name());
    diagnostics.extend(problems);
    let decision = flux::simulate(hr, facts, &stored, settings);
    let forced = flux::simulate_forced(hr, facts, &stored, settings, "reconcile-planner");
    let mut missing = Vec::new();
    let composed = flux::compose(hr, facts, settings.controller.helm());
    let values = match &composed {
        Composed::Values { json, .. } => json.clone(),
        Composed::Missing { what } | Composed::Drawn { what } => {
            missing.push(what.clone());
            Json::Null
        }
        // The controller stops there: what is stored is the best that can be rendered.
        Composed::Error(_) => stored.first().and_then(|r| r.config().cloned()).map_or(Json::Null, in_doubles),
    };
    let wanted = flux::chart_identity(hr, facts, settings).chart();
    let (kind, source_namespace, source_name) = hr.source();
    let source =
        ObjectKey { group: "source.toolkit.fluxcd.io".into(), kind, namespace: source_namespace, name: source_name };
    let artifact = facts.get(&source).present();
    let artifact = artifact.and_then(|o| charts.archive(o.text("/status/artifact/digest")).cloned());
    let artifact = artifact.map(|mut chart| {
        if let Some(wanted) = wanted.as_ref().filter(|_| source.kind != "HelmChart") {
            chart.meta.insert("version".into(), wanted.version.clone().into());
        }
        chart
    });
    let layers = facts.get(&source).present().map(|o| ValuesFiles::of(&o)).unwrap_or_default();
    let chart = artifact.or_else(|| chart_of(&stored, charts, wanted.as_ref(), &layers, &mut missing));
    let (values, chart) = preserve(hr, &stored, values, chart);
    if hr.json.pointer("/spec/kubeConfig").is_some_and(|remote| !remote.is_null()) {
        missing.push("the cluster of spec.kubeConfig: lookups, capabilities and Helm's storage belong to it".into());
    }
    let freed = freed(hr, &decision).map(|hr| flux::simulate(&hr, facts, &stored, settings));
    let moves = moves(&decision, &forced, freed.as_ref());
    Subject {
        release: ReleaseRef { namespace: hr.namespace.clone(), name: hr.name.clone() },
        namespace: hr.release_namespace(),
        helm_name: hr.release_name(),
        helm_release: Some(hr.json.clone()),
        chart,
        values,
        layers: if hr.json.pointer("/spec/valuesFrom").is_some() {
            let layers = flux::layers::layers(hr, facts, settings.controller.helm());
            layers.into_iter().map(|(label, json)| (label.into(), json)).collect()
        } else {
            Vec::new()
        },
        depends_on: hr.depends_on().into_iter().map(|d| ReleaseRef { namespace: d.namespace, name: d.name }).collect(),
        decision: described(hr, &decision),
        moves,
        stored_docs: docs(&stored, &hr.release_namespace(), facts, diagnostics),
        stored_hooks: hooks(&stored, &hr.release_namespace(), facts),
        silent: silent(hr, facts, &stored, settings, (&decision, &composed)),
        stored,
        missing,
    }
}

/// Values and chart as an upgrade takes them (`F-29`).
fn preserve(hr: &HelmRelease, stored: &[StoredRelease], values: Json, chart: Option<Chart>) -> (Json, Option<Chart>) {
    let current = predecessor(stored).and_then(|version| stored.iter().find(|r| r.version == version));
    let Some(current) = current else { return (values, chart) };
    let chart = chart.map(|mut chart| {
        if let Some(defaults) = defaults(hr, current) {
            chart.values = Rc::new(defaults);
        }
        chart
    });
    (preserved(hr, &values, current), chart)
}

fn unmanaged(
    namespace: &str,
    name: &str,
    facts: &Snapshot,
    charts: &Charts,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Subject> {
    let (stored, problems) = stored(facts, namespace, name);
    diagnostics.extend(problems);
    let newest = stored.first()?;
    let values = newest.config().cloned().map_or(Json::Null, in_doubles);
    let release_namespace = newest.namespace.clone();
    let mut missing = Vec::new();
    let chart = chart_of(&stored, charts, None, &ValuesFiles::default(), &mut missing);
    Some(Subject {
        release: ReleaseRef { namespace: namespace.to_owned(), name: name.to_owned() },
        helm_name: name.to_owned(),
        helm_release: None,
        chart,
        values,
        layers: Vec::new(),
        depends_on: BTreeSet::new(),
        decision: Decision {
            state: "NotFluxManaged".into(),
            reason: "no HelmRelease owns it".into(),
            action: "none".into(),
            trace: Vec::new(),
        },
        moves: Moves::Only,
        stored_docs: docs(&stored, &release_namespace, facts, diagnostics),
        stored_hooks: hooks(&stored, &release_namespace, facts),
        namespace: release_namespace,
        stored,
        missing,
        silent: Vec::new(),
    })
}

/// The chart that the next render uses: one that was given, else the stored one if it is whole and the wanted version.
fn chart_of(
    stored: &[StoredRelease],
    charts: &Charts,
    wanted: Option<&flux::ChartIdentity>,
    layers: &ValuesFiles,
    missing: &mut Vec<String>,
) -> Option<Chart> {
    let newest = stored.first();
    let (name, version) = match (wanted, newest) {
        (Some(wanted), _) => (wanted.name.clone(), wanted.version.clone()),
        (None, Some(newest)) => (newest.chart_metadata("name").to_owned(), newest.chart_metadata("version").to_owned()),
        (None, None) => {
            missing.push("the chart: neither a stored release nor a source tells which".into());
            return None;
        }
    };
    // The controller loads what the source holds: a chart that was given stands for that, the stored one for what it was.
    let given = charts.get(&name, &version).and_then(|chart| {
        let mut chart = layers.applied(chart).map_err(|what| missing.push(what)).ok()?;
        // Flux may have added build metadata; templates see the version that it loads.
        chart.meta.insert("version".into(), version.clone().into());
        Some(chart)
    });
    let found = given.or_else(|| {
        let kept = newest.filter(|r| r.chart_metadata("name") == name && r.chart_metadata("version") == version)?;
        Chart::from_release(kept.chart()?).ok().filter(|chart| chart.missing_dependencies().is_empty())
    });
    if found.is_none() {
        missing.push(format!("chart {name} {version} (give it with --charts: the snapshot does not hold it whole)"));
    }
    found
}

fn docs(stored: &[StoredRelease], namespace: &str, facts: &Snapshot, diagnostics: &mut Vec<Diagnostic>) -> Vec<Doc> {
    let Some(newest) = stored.first() else { return Vec::new() };
    match parse_manifest(newest.manifest()) {
        Ok(documents) => documents.into_iter().map(|d| Doc::new(d, namespace, facts)).collect(),
        Err(error) => {
            let source = &newest.object.source;
            let problem =
                Diagnostic::error(format!("{}: the stored manifest cannot be read: {error}", newest.object.key));
            diagnostics.push(
                problem
                    .at(&*source.file, (source.line > 0).then_some(source.line))
                    .remedy("the release has to be upgraded once before it can be predicted"),
            );
            Vec::new()
        }
    }
}

/// Hooks of the newest revision; what cannot be read of them is left out.
fn hooks(stored: &[StoredRelease], namespace: &str, facts: &Snapshot) -> Vec<Doc> {
    let hooks = stored.first().and_then(|newest| newest.json.get("hooks")?.as_array());
    let texts = hooks.into_iter().flatten().filter_map(|hook| hook["manifest"].as_str());
    let documents = texts.filter_map(|text| parse_manifest(text).ok()).flatten();
    documents.map(|document| Doc::new(document, namespace, facts)).collect()
}

/// A release that is suspended or waits for its dependencies as it will be afterwards.
fn freed(hr: &HelmRelease, decision: &flux::Decision) -> Option<HelmRelease> {
    let Outcome::Exited(Exit::Suspended | Exit::DependencyNotReady(_)) = &decision.outcome else { return None };
    let mut json = (*hr.json).clone();
    let spec = json.get_mut("spec")?.as_object_mut()?;
    spec.remove("suspend");
    spec.remove("dependsOn");
    Some(HelmRelease::new(Rc::new(json)))
}

/// Whether Flux moves it by itself, and whether a force would get through.
fn moves(decision: &flux::Decision, forced: &flux::Decision, freed: Option<&flux::Decision>) -> Moves {
    let freed = freed.map(|freed| &freed.outcome);
    if let (Outcome::Exited(exit), Some(Outcome::Decided { action: Action::Install | Action::Upgrade, reason, .. })) =
        (&decision.outcome, freed)
    {
        return Moves::Later { what: reason.clone(), by: exit.to_string() };
    }
    match &decision.outcome {
        Outcome::Unknown { missing } => Moves::Unknown(missing.clone()),
        // F-81: it is uninstalled, and the run after that installs it anew.
        Outcome::Exited(exit @ Exit::TargetChanged(_)) => Moves::ByItself(exit.to_string()),
        Outcome::Exited(exit) => Moves::Blocked(exit.to_string()),
        Outcome::Decided { state: State::Failed, action, .. }
            if !matches!(action, Action::None | Action::RetriesExceeded) =>
        {
            Moves::Retries
        }
        Outcome::Decided { action: Action::Install | Action::Upgrade, reason, .. } => Moves::ByItself(reason.clone()),
        Outcome::Decided { state: State::Drifted, .. } => Moves::Blocked("drifted".into()),
        Outcome::Decided { .. } => match &forced.outcome {
            Outcome::Decided { action: Action::Install | Action::Upgrade, .. } => Moves::Only,
            Outcome::Decided { state, .. } => Moves::Blocked(format!("state {state:?}")),
            Outcome::Exited(exit) => Moves::Blocked(exit.to_string()),
            Outcome::Unknown { missing } => Moves::Unknown(missing.clone()),
        },
    }
}

/// A decision as reports show it.
pub(super) fn described(hr: &HelmRelease, decision: &flux::Decision) -> Decision {
    let (state, reason, action) = match &decision.outcome {
        // F-69: a suspended release is only let go.
        Outcome::Exited(exit @ Exit::Deleted)
            if !hr.flag("/spec/suspend") && !hr.text("/status/storageNamespace").is_empty() =>
        {
            (exit.name().to_owned(), exit.to_string(), "uninstall".to_owned())
        }
        Outcome::Exited(exit) => (exit.name().to_owned(), exit.to_string(), "none".to_owned()),
        Outcome::Decided { state, reason, action, .. } => (format!("{state:?}"), reason.clone(), action.to_string()),
        Outcome::Unknown { missing } => ("Unknown".to_owned(), missing.join(", "), "unknown".to_owned()),
    };
    let trace = decision.trace.iter().map(|c| Check { rule: c.rule.to_owned(), text: c.text.clone() }).collect();
    Decision { state, reason, action, trace }
}
