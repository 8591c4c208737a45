//! The next run in words: how it ends, what it writes down, what it does not look at, and what becomes of a token.

use serde_json::Value as Json;

use super::cycle::Requeue;
use super::decide::{Action, Check, Decision, Exit, FORCED, Outcome, REQUESTED, RESET, Trace};
use super::model::HelmRelease;
use super::settings::{ControllerVersion, Settings};

/// What becomes of a force token (`F-57` to `F-64`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It makes the release render.
    Honoured,
    /// It is consumed without effect: the state takes another action or none (`F-62`).
    Spent,
    /// It is lost: the run ends before it is looked at (`F-60`).
    Burnt,
    /// The snapshot does not tell.
    Unknown,
}

impl Fate {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Fate::Honoured => "honoured",
            Fate::Spent => "spent",
            Fate::Burnt => "burnt",
            Fate::Unknown => "unknown",
        }
    }
}

/// What becomes of a force token that the run of this decision sees.
pub fn fate(hr: &HelmRelease, decision: &Decision) -> (Fate, Check) {
    let mut trace = Trace::default();
    if !hr.has_finalizer() {
        let text = "the run that first sees the token only adds the finalizer: stamp a new one later";
        return (Fate::Burnt, Check { rule: "F-59", text: text.into() });
    }
    let fate = match &decision.outcome {
        Outcome::Exited(exit) => {
            trace.check("F-60", format!("the run ends before the token is looked at ({exit}): stamp a new one later"));
            Fate::Burnt
        }
        Outcome::Decided { forced: true, action, .. } => {
            trace.check("F-62", format!("the token is honoured: {action}"));
            Fate::Honoured
        }
        Outcome::Decided { state, action, .. } => {
            trace.check("F-62", format!("the token changes nothing in state {state:?}: {action}"));
            Fate::Spent
        }
        Outcome::Unknown { missing } => {
            trace.check("F-60", format!("unknown without {}", missing.join(", ")));
            Fate::Unknown
        }
    };
    let check = trace.0.pop().unwrap_or(Check { rule: "F-60", text: String::new() });
    (fate, check)
}

/// When the controller looks again after a run that ends so; `None` if the action's result decides (`F-68`, `F-111`).
pub fn requeue(decision: &Decision, settings: &Settings) -> Option<Requeue> {
    match &decision.outcome {
        Outcome::Exited(exit) => Some(exit.requeue(settings)),
        Outcome::Decided { action: Action::None, .. } => Some(Requeue::Interval),
        Outcome::Decided { action: Action::RetriesExceeded | Action::MissingRollbackTarget, .. } => Some(Requeue::None),
        Outcome::Decided { .. } | Outcome::Unknown { .. } => None,
    }
}

/// What the run writes to the status besides conditions (`F-57`, `F-59`, `F-68`, `F-84`).
pub fn writes(hr: &HelmRelease, decision: &Decision, settings: &Settings) -> Vec<Check> {
    let mut trace = Trace::default();
    let reaches = matches!(decision.outcome, Outcome::Decided { .. });
    if let Outcome::Unknown { .. } = decision.outcome {
        return Vec::new();
    }
    if matches!(decision.outcome, Outcome::Exited(Exit::Invalid(_))) {
        trace.check("F-10", "nothing: the object is refused before its status is handled");
        return trace.0;
    }
    if reaches {
        trace.check("F-84", format!("lastAttemptedGeneration := {}", hr.generation()));
        for (annotation, field) in [(FORCED, "lastHandledForceAt"), (RESET, "lastHandledResetAt")] {
            if let Some(token) = hr.annotation(annotation) {
                trace.check("F-57", format!("{field} := {token}"));
            }
        }
    }
    if let Some(token) = hr.annotation(REQUESTED) {
        trace.check("F-59", format!("lastHandledReconcileAt := {token}, whatever came of it"));
    }
    let advances = match &decision.outcome {
        Outcome::Exited(exit) => matches!(exit, Exit::Suspended | Exit::AccessDenied(_) | Exit::InvalidExpression(_)),
        _ => true,
    };
    match requeue(decision, settings) {
        Some(_) if advances => trace.check("F-68", format!("observedGeneration := {}", hr.generation())),
        Some(_) => trace.check("F-68", format!("observedGeneration stays {}", hr.observed_generation())),
        None => {}
    }
    trace.0
}

/// Inputs that the decision does not rest on (`F-103`).
pub fn not_looked_at(hr: &HelmRelease, decision: &Decision, settings: &Settings) -> Vec<Check> {
    let mut trace = Trace::default();
    trace.check("F-4", "templates, default values, schema, files and sub-charts of the chart");
    trace.check("F-103", "what lookups find, capabilities, the version of Kubernetes, images");
    trace.check("F-103", "digest and time of the source's artifact, beyond what the version carries");
    if hr.source().0 == "HelmChart" {
        trace.check("F-78", "the source above the HelmChart, and whether the HelmChart is Ready");
    }
    if hr.json.pointer("/spec/postRenderStrategy").is_some() {
        trace.check("F-27", "spec.postRenderStrategy");
    }
    let options = ["install", "upgrade", "rollback", "uninstall", "waitStrategy", "timeout", "serviceAccountName"];
    let set: Vec<&str> = options.into_iter().filter(|o| hr.json["spec"].get(o).is_some_and(|v| !v.is_null())).collect();
    if !set.is_empty() {
        trace.check(
            "F-28",
            format!("options of actions, except how failures are handled: spec.{}", set.join(", spec.")),
        );
    }
    match &decision.outcome {
        Outcome::Exited(exit) => {
            let text = format!("everything after the exit {}: {}", exit.name(), exit.unseen());
            trace.check("F-68", text);
        }
        _ if !compares_metadata(hr, settings) => {
            trace.check("F-98", "spec.postRenderers and spec.commonMetadata: no new generation");
        }
        _ => {}
    }
    trace.0
}

/// Whether this run compares post-renderers and common metadata (`F-98`, `F-294`, `F-375`).
pub(super) fn compares_metadata(hr: &HelmRelease, settings: &Settings) -> bool {
    if settings.controller >= ControllerVersion(1, 5, 0) {
        return hr.observed_generation() != hr.generation();
    }
    let ready = hr.condition_entry("Ready");
    ready.is_some_and(|r| r.get("observedGeneration").and_then(Json::as_i64) != Some(hr.generation()))
}

/// The HelmRelease with all annotations of a force stamped with this token.
pub fn stamped(hr: &HelmRelease, token: &str) -> HelmRelease {
    let mut json = (*hr.json).clone();
    if let Some(metadata) = json.get_mut("metadata").and_then(Json::as_object_mut) {
        let annotations = metadata.entry("annotations").or_insert_with(|| serde_json::json!({}));
        if let Some(annotations) = annotations.as_object_mut() {
            annotations.insert(REQUESTED.to_owned(), token.into());
            annotations.insert(FORCED.to_owned(), token.into());
        }
    }
    HelmRelease::new(std::rc::Rc::new(json))
}
