//! The next reconcile: the checks in order, each with its rule, the first exit taken, or the state and the action.

use std::fmt;

use serde_json::Value as Json;

use super::cycle::Requeue;
use super::digest::config_matches;
use super::expr::{Expression, Trouble};
use super::helmchart;
use super::model::HelmRelease;
use super::settings::{ControllerVersion, Settings};
use super::source::{ChartIdentity, Loads, chart_identity};
use super::state::Pass;
use super::values::{Composed, compose};
use crate::base::Known;
use crate::cluster::object::{Object, ObjectKey};
use crate::cluster::snapshot::Facts;
use crate::cluster::storage::StoredRelease;

/// One check of the controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Its rule.
    pub rule: &'static str,
    /// What was compared, and with which result.
    pub text: String,
}

/// A step that ends the run before the release is looked at (`F-69` to `F-86`, `F-90`, `F-95`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// `F-10`
    Invalid(String),
    /// `F-75`
    AccessDenied(String),
    /// `F-71`
    Suspended,
    /// `F-72`, `F-74`
    InvalidExpression(String),
    /// `F-73`
    ChartNotWritten(String),
    /// `F-74`
    DependencyNotReady(String),
    /// `F-76`
    SourceNotReady(String),
    /// `F-80`
    ChartRefused(String),
    /// `F-77`
    ValuesError(String),
    /// `F-79`
    NotLoaded(Unloadable),
    /// `F-69`
    Deleted,
    /// `F-70`
    FinalizerMissing,
    /// `F-81`
    TargetChanged(String),
    /// `F-90`, `F-95`
    StateError(String),
}

/// Why the archive of a chart cannot be loaded: no snapshot tells of it (`F-79`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unloadable {
    /// The source's storage does not hold it.
    Gone,
    /// It is damaged, or the download fails for good.
    Broken(String),
}

impl fmt::Display for Unloadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unloadable::Gone => f.write_str("Source not ready: artifact not found"),
            Unloadable::Broken(why) => write!(f, "Could not load chart: {why}"),
        }
    }
}

impl Exit {
    /// One word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Exit::Invalid(_) => "Invalid",
            Exit::AccessDenied(_) => "AccessDenied",
            Exit::Suspended => "Suspended",
            Exit::InvalidExpression(_) => "InvalidCELExpression",
            Exit::ChartNotWritten(_) => "ChartNotWritten",
            Exit::DependencyNotReady(_) => "DependencyNotReady",
            Exit::SourceNotReady(_) => "SourceNotReady",
            Exit::ChartRefused(_) => "ChartMutateError",
            Exit::ValuesError(_) => "ValuesError",
            Exit::NotLoaded(_) => "ArtifactFailed",
            Exit::Deleted => "Deleted",
            Exit::FinalizerMissing => "FinalizerMissing",
            Exit::TargetChanged(_) => "TargetChanged",
            Exit::StateError(_) => "StateError",
        }
    }

    /// When the controller looks again (`F-68`).
    pub fn requeue(&self, settings: &Settings) -> Requeue {
        match self {
            Exit::Suspended | Exit::Deleted | Exit::Invalid(_) | Exit::AccessDenied(_) | Exit::InvalidExpression(_) => {
                Requeue::None
            }
            Exit::FinalizerMissing | Exit::TargetChanged(_) => Requeue::Immediate,
            Exit::DependencyNotReady(_) | Exit::NotLoaded(Unloadable::Gone) => Requeue::Dependency,
            // F-75: a source that cannot be read is an error, one that is not ready is waited for.
            Exit::SourceNotReady(text) if text.starts_with("could not get") => Requeue::Backoff,
            // F-295: older controllers wait for the interval.
            Exit::SourceNotReady(_) if settings.controller < ControllerVersion(1, 4, 0) => Requeue::Interval,
            Exit::SourceNotReady(_) => Requeue::Dependency,
            Exit::ChartNotWritten(_)
            | Exit::ChartRefused(_)
            | Exit::ValuesError(_)
            | Exit::NotLoaded(Unloadable::Broken(_))
            | Exit::StateError(_) => Requeue::Backoff,
        }
    }

    /// The inputs that a run which ends here has not come to (`F-69` to `F-86`).
    pub fn unseen(&self) -> &'static str {
        match self {
            Exit::Invalid(_) | Exit::Deleted | Exit::FinalizerMissing | Exit::Suspended | Exit::ChartNotWritten(_) => {
                "dependencies, source, values, storage, tokens"
            }
            Exit::DependencyNotReady(_) | Exit::InvalidExpression(_) => "source, values, storage, tokens",
            Exit::AccessDenied(_) | Exit::SourceNotReady(_) => "values, storage, tokens",
            Exit::ValuesError(_) => "the chart, storage, tokens",
            Exit::NotLoaded(_) | Exit::ChartRefused(_) | Exit::TargetChanged(_) => "storage, tokens",
            Exit::StateError(_) => "force tokens, and what would follow the state",
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Invalid(text) => write!(f, "invalid: {text}"),
            Exit::AccessDenied(text) => write!(f, "source: {text}"),
            Exit::Suspended => f.write_str("suspended"),
            Exit::InvalidExpression(text) => write!(f, "expression: {text}"),
            Exit::ChartNotWritten(text) => write!(f, "HelmChart: {text}"),
            Exit::DependencyNotReady(text) => write!(f, "dependency: {text}"),
            Exit::SourceNotReady(text) => write!(f, "source: {text}"),
            Exit::ChartRefused(text) => write!(f, "chart: {text}"),
            Exit::ValuesError(text) => write!(f, "values: {text}"),
            Exit::NotLoaded(why) => write!(f, "chart: {why}"),
            Exit::Deleted => f.write_str("being deleted"),
            Exit::FinalizerMissing => f.write_str("never reconciled yet"),
            Exit::TargetChanged(text) => write!(f, "release target changed: {text}"),
            Exit::StateError(text) => write!(f, "state: {text}"),
        }
    }
}

/// State of a release (`F-90` to `F-102`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum State {
    Absent,
    Locked,
    Unmanaged,
    OutOfSync,
    Untested,
    Failed,
    Drifted,
    InSync,
}

/// What the controller does about it (`F-106` to `F-110`).
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Action {
    None,
    Install,
    Upgrade,
    Unlock,
    Rollback { to: i64 },
    Uninstall,
    Test,
    CorrectDrift,
    RetriesExceeded,
    MissingRollbackTarget,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::None => f.write_str("none"),
            Action::Install => f.write_str("install"),
            Action::Upgrade => f.write_str("upgrade"),
            Action::Unlock => f.write_str("unlock"),
            Action::Rollback { to } => write!(f, "rollback to v{to}"),
            Action::Uninstall => f.write_str("uninstall"),
            Action::Test => f.write_str("test"),
            Action::CorrectDrift => f.write_str("correct drift"),
            Action::RetriesExceeded => f.write_str("none (retries exceeded)"),
            Action::MissingRollbackTarget => f.write_str("none (missing rollback target)"),
        }
    }
}

/// How the run goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It ends early.
    Exited(Exit),
    /// It gets to the release.
    Decided {
        /// State of the release.
        state: State,
        /// Why.
        reason: String,
        /// What is done.
        action: Action,
        /// A force token was honoured.
        forced: bool,
    },
    /// The snapshot does not hold what it takes.
    Unknown {
        /// What would have to be collected.
        missing: Vec<String>,
    },
}

/// The next reconcile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The checks, in order.
    pub trace: Vec<Check>,
    /// How it goes.
    pub outcome: Outcome,
}

/// Annotations and status fields of the tokens (`F-55`).
pub(super) const REQUESTED: &str = "reconcile.fluxcd.io/requestedAt";
pub(super) const FORCED: &str = "reconcile.fluxcd.io/forceAt";
pub(super) const RESET: &str = "reconcile.fluxcd.io/resetAt";

/// The checks of a run, in order.
#[derive(Debug, Default)]
pub(super) struct Trace(pub Vec<Check>);

impl Trace {
    /// Adds a check.
    pub fn check(&mut self, rule: &'static str, text: impl Into<String>) {
        self.0.push(Check { rule, text: text.into() });
    }
}

/// Whether a token of this kind is honoured (`F-57`): `F` for forces, `Z` for resets.
pub(super) fn honoured(hr: &HelmRelease, annotation: &str, handled: &str) -> bool {
    let (Some(token), Some(requested)) = (hr.annotation(annotation), hr.annotation(REQUESTED)) else { return false };
    token == requested
        && hr.text("/status/lastHandledReconcileAt") != requested
        && hr.text(&format!("/status/{handled}")) != token
}

/// The next reconcile, as things stand.
pub fn simulate(hr: &HelmRelease, facts: &dyn Facts, stored: &[StoredRelease], settings: &Settings) -> Decision {
    let force = honoured(hr, FORCED, "lastHandledForceAt");
    next(hr, facts, stored, settings, force)
}

/// The next reconcile, if both annotations were stamped now with a fresh token.
pub fn simulate_forced(
    hr: &HelmRelease,
    facts: &dyn Facts,
    stored: &[StoredRelease],
    settings: &Settings,
    token: &str,
) -> Decision {
    let fresh = token != hr.text("/status/lastHandledReconcileAt") && token != hr.text("/status/lastHandledForceAt");
    next(hr, facts, stored, settings, fresh)
}

fn next(hr: &HelmRelease, facts: &dyn Facts, stored: &[StoredRelease], settings: &Settings, force: bool) -> Decision {
    let mut trace = Trace::default();
    let outcome = match prerequisites(hr, facts, settings, None, &mut trace) {
        Ok(Prepared { chart, values }) => {
            let reset = reset_reason(hr, &chart, &values);
            if let Some(why) = reset {
                trace.check("F-83", format!("failure counts are reset: {why}"));
            }
            let (chart, values) = (&chart, &values);
            Pass { hr, facts, stored, settings, chart, values, force, reset: reset.is_some(), drift: None }
                .decide(&mut trace)
        }
        Err(outcome) => outcome,
    };
    Decision { trace: trace.0, outcome }
}

/// What is wrong with the first health check that does not compile (`F-72`), as far as its form tells; older controllers
/// know none (`F-312`).
pub(super) fn wrong_health_check(hr: &HelmRelease, settings: &Settings) -> Option<String> {
    if settings.controller < ControllerVersion(1, 5, 0) {
        return None;
    }
    let checks = hr.json.pointer("/spec/healthCheckExprs").and_then(Json::as_array);
    let fields = [("current", "Current"), ("inProgress", "InProgress"), ("failed", "Failed")];
    let texts = checks.into_iter().flatten().enumerate().flat_map(|(at, check)| {
        fields.into_iter().filter_map(move |(field, name)| Some((at, name, check.get(field)?.as_str()?)))
    });
    texts.filter(|(_, _, text)| !text.is_empty()).find_map(|(at, name, text)| {
        let why = Expression::well_formed(text).err()?;
        let place = format!("failed to create custom status evaluator for healthchecks[{at}]");
        Some(format!("{place}: failed to parse the expression {name}: {why}"))
    })
}

/// What a run has in hand when it comes to the release.
pub(super) struct Prepared {
    /// The chart.
    pub chart: ChartIdentity,
    /// The values.
    pub values: Json,
}

/// Why this run sets the failure counters to zero (`F-83`).
pub(super) fn reset_reason(hr: &HelmRelease, chart: &ChartIdentity, values: &Json) -> Option<&'static str> {
    let attempted = hr.text("/status/lastAttemptedConfigDigest");
    if honoured(hr, RESET, "lastHandledResetAt") {
        Some("a reset token is honoured")
    } else if hr.number("/status/lastAttemptedGeneration") != Some(hr.generation()) {
        Some("generation differs from last attempt")
    } else if hr.text("/status/lastAttemptedRevision") != chart.version {
        Some("chart version differs from last attempt")
    } else if !attempted.is_empty() && !config_matches(attempted, values) {
        Some("values differ from last attempt")
    } else {
        None
    }
}

/// The steps before the release is looked at (`F-69` to `F-85`).
pub(super) fn prerequisites(
    hr: &HelmRelease,
    facts: &dyn Facts,
    settings: &Settings,
    unloadable: Option<Unloadable>,
    trace: &mut Trace,
) -> Result<Prepared, Outcome> {
    Prerequisites { hr, facts, settings, unloadable, trace }.go()
}

struct Prerequisites<'a> {
    hr: &'a HelmRelease,
    facts: &'a dyn Facts,
    settings: &'a Settings,
    /// Why the chart cannot be loaded, where that is given.
    unloadable: Option<Unloadable>,
    trace: &'a mut Trace,
}

impl Prerequisites<'_> {
    fn check(&mut self, rule: &'static str, text: impl Into<String>) {
        self.trace.check(rule, text);
    }

    fn go(mut self) -> Result<Prepared, Outcome> {
        let hr = self.hr;
        let set = |pointer: &str| hr.json.pointer(pointer).is_some_and(|v| !v.is_null());
        if set("/spec/chart") == set("/spec/chartRef") {
            let text = "exactly one of spec.chart and spec.chartRef has to be set".to_owned();
            self.check("F-10", text.clone());
            return Err(Outcome::Exited(Exit::Invalid(text)));
        }
        if !hr.text("/metadata/deletionTimestamp").is_empty() {
            self.check("F-69", "it is being deleted");
            return Err(Outcome::Exited(Exit::Deleted));
        }
        if !hr.has_finalizer() {
            self.check("F-70", "the finalizer is missing: the run only adds it, and burns tokens");
        }
        if hr.flag("/spec/suspend") {
            self.check("F-71", "suspended: nothing is done, tokens are burnt");
            return Err(Outcome::Exited(Exit::Suspended));
        }
        if helmchart::generated(hr).is_some() && !helmchart::nameable(hr) {
            let text = helmchart::UNNAMEABLE.to_owned();
            self.check("F-73", text.clone());
            return Err(Outcome::Exited(Exit::ChartNotWritten(text)));
        }
        if let Some(why) = helmchart::generated(hr).and_then(|key| helmchart::no_namespace(hr, &key, self.facts)) {
            self.check("F-73", why.clone());
            return Err(Outcome::Exited(Exit::ChartNotWritten(why)));
        }
        if let Some(key) = helmchart::generated(hr)
            && self.settings.no_cross_namespace
            && key.namespace != hr.namespace
        {
            let text = format!("cross-namespace references are off, and its source is in namespace {}", key.namespace);
            self.check("F-73", text.clone());
            return Err(Outcome::Exited(Exit::ChartNotWritten(text)));
        }
        self.dependencies()?;
        let source = self.source()?;
        let values = match compose(hr, self.facts, self.settings.controller.helm()) {
            Composed::Values { json, notes } => {
                self.trace.0.extend(notes);
                json
            }
            Composed::Drawn { what } => {
                self.check("F-44b", what.clone());
                return Err(Outcome::Unknown { missing: vec![what] });
            }
            Composed::Missing { what } => {
                self.check("F-77", format!("{what} was not collected"));
                return Err(Outcome::Unknown { missing: vec![what] });
            }
            Composed::Error(error) => {
                self.check("F-77", error.clone());
                return Err(Outcome::Exited(Exit::ValuesError(error)));
            }
        };
        self.check("F-77", "values composed");
        let chart = self.load(source)?;
        if let Some(changed) = self.target_changed(&chart) {
            self.check("F-82", format!("release target changed: {changed}"));
            return Err(Outcome::Exited(Exit::TargetChanged(changed)));
        }
        Ok(Prepared { chart, values })
    }

    fn dependencies(&mut self) -> Result<(), Outcome> {
        for dependency in self.hr.depends_on() {
            let name = format!("{}/{}", dependency.namespace, dependency.name);
            let key = ObjectKey {
                group: "helm.toolkit.fluxcd.io".into(),
                kind: "HelmRelease".into(),
                namespace: dependency.namespace,
                name: dependency.name,
            };
            let found = match self.facts.get(&key) {
                Known::Present(object) => HelmRelease::new(object.json.clone()),
                Known::Absent => {
                    let text = format!(
                        "unable to get '{name}' dependency: helmreleases.helm.toolkit.fluxcd.io {:?} not found",
                        key.name
                    );
                    self.check("F-260", text.clone());
                    return Err(Outcome::Exited(Exit::DependencyNotReady(text)));
                }
                Known::Uncollected => {
                    self.check("F-260", format!("dependency '{name}' was not collected"));
                    return Err(Outcome::Unknown { missing: vec![key.to_string()] });
                }
            };
            let knows_expressions = self.settings.controller >= ControllerVersion(1, 4, 0);
            let expression = dependency.ready_expr.filter(|_| knows_expressions);
            // An expression replaces the built-in rule, unless a gate adds it to that.
            let built_in = expression.is_none() || self.settings.additive_ready_expr;
            if built_in && !found.counts_as_ready() {
                let text = format!("dependency '{name}' is not ready");
                self.check("F-261", text.clone());
                return Err(Outcome::Exited(Exit::DependencyNotReady(text)));
            }
            if let Some(expression) = expression {
                self.by_expression(&name, &key.name, &expression, &found)?;
                continue;
            }
            self.check("F-261", format!("dependency '{name}' is ready"));
        }
        Ok(())
    }

    /// Whether a dependency is ready by the expression of its entry (`F-262`).
    fn by_expression(&mut self, shown: &str, name: &str, text: &str, found: &HelmRelease) -> Result<(), Outcome> {
        let compiled = Expression::compile(text, &["self", "dep"]);
        let value = compiled.map(|e| e.holds(&[("self", &self.hr.json), ("dep", &found.json)]));
        let not_ready = match value {
            Ok(Ok(true)) => {
                self.check("F-262", format!("dependency '{shown}' is ready by {text}"));
                return Ok(());
            }
            Ok(Ok(false)) => format!("dependency '{shown}' is not ready according to readyExpr eval"),
            Ok(Err(Trouble::Fails(why))) => format!("failed to evaluate the CEL expression '{text}': {why}"),
            Ok(Err(Trouble::Beyond(what))) => {
                self.check("F-262", format!("dependency '{shown}' by {text}: {what} is not known here"));
                return Err(Outcome::Unknown { missing: vec![format!("readyExpr of '{shown}': {text}")] });
            }
            Err(why) => {
                let why = format!("terminal error: failed to evaluate dependency {name}: {why}");
                self.check("F-74", why.clone());
                return Err(Outcome::Exited(Exit::InvalidExpression(why)));
            }
        };
        self.check("F-262", not_ready.clone());
        Err(Outcome::Exited(Exit::DependencyNotReady(not_ready)))
    }

    /// Source readiness (`F-78`).
    fn source(&mut self) -> Result<ObjectKey, Outcome> {
        let (kind, namespace, name) = self.hr.source();
        let shown = format!("{kind} '{namespace}/{name}'");
        if let Some(why) = self.denied(&kind, &namespace) {
            self.check("F-75", format!("{shown}: {why}"));
            return Err(Outcome::Exited(Exit::AccessDenied(why)));
        }
        let key = ObjectKey { group: "source.toolkit.fluxcd.io".into(), kind: kind.clone(), namespace, name };
        match self.facts.get(&key) {
            Known::Absent if self.hr.json.pointer("/spec/chartRef").is_some() => {
                let text = format!("could not get Source object: {shown} not found");
                self.check("F-75", text.clone());
                return Err(Outcome::Exited(Exit::SourceNotReady(text)));
            }
            Known::Absent => {
                let text = format!("{shown} is not ready: latest generation of object has not been reconciled");
                self.check("F-12", format!("{shown} is missing and will be written again; {text}"));
                return Err(Outcome::Exited(Exit::SourceNotReady(text)));
            }
            Known::Uncollected => {
                self.check("F-75", format!("{shown} was not collected: its last known chart is assumed"))
            }
            Known::Present(source) if kind == "HelmChart" && self.rewrites(&source) => {
                let text = format!("{shown} is not ready: latest generation of object has not been reconciled");
                self.check("F-12", format!("the chart template changed: {shown} will be written first; {text}"));
                return Err(Outcome::Exited(Exit::SourceNotReady(text)));
            }
            Known::Present(source) => {
                let source_hr = HelmRelease::new(source.json.clone());
                let observed = source_hr.number("/status/observedGeneration");
                let stalled = source_hr.condition("Stalled") == Some("True")
                    && source_hr.condition("Reconciling") != Some("True");
                let message = |kind: &str| {
                    let text = source_hr.condition_entry(kind).and_then(|c| c.get("message")?.as_str());
                    text.filter(|t| !t.is_empty())
                };
                let why = if kind != "ExternalArtifact" && observed != Some(source_hr.generation()) {
                    let failing = source_hr.condition("Ready") == Some("False");
                    let failing = if failing { message("Ready") } else { None };
                    Some(failing.unwrap_or("latest generation of object has not been reconciled"))
                } else if kind != "ExternalArtifact" && stalled {
                    Some(message("Stalled").unwrap_or("it is stalled"))
                } else if source.json.pointer("/status/artifact").is_none_or(Json::is_null) {
                    Some("does not have an artifact")
                } else {
                    None
                };
                if let Some(why) = why {
                    let text = format!("{shown} is not ready: {why}");
                    self.check("F-78", text.clone());
                    let artifact = source.json.pointer("/status/artifact").is_some_and(|a| !a.is_null());
                    if stalled && artifact && source_hr.condition_reason("Stalled") == Some("InvalidChartReference") {
                        self.check("F-225", format!("{shown} keeps its artifact, but its chart has gone: {why}"));
                    }
                    return Err(Outcome::Exited(Exit::SourceNotReady(text)));
                }
                self.check("F-78", format!("{shown} is ready at {}", source.text("/status/artifact/revision")));
            }
        }
        Ok(key)
    }

    /// Which chart the source holds (`F-79`, `F-80`).
    fn load(&mut self, key: ObjectKey) -> Result<ChartIdentity, Outcome> {
        if let Some(why) = self.unloadable.take() {
            self.check("F-79", why.to_string());
            return Err(Outcome::Exited(Exit::NotLoaded(why)));
        }
        match chart_identity(self.hr, self.facts, self.settings) {
            Loads::Chart(chart) => Ok(chart),
            Loads::Refused(why) => {
                self.check("F-80", why.clone());
                Err(Outcome::Exited(Exit::ChartRefused(why)))
            }
            Loads::Unknown => {
                self.check("F-3", "neither the source nor the history tells which chart is loaded");
                Err(Outcome::Unknown { missing: vec![key.to_string()] })
            }
        }
    }

    /// Why the controller may not read a source (`F-8`, `F-9`, `F-75`).
    fn denied(&self, kind: &str, namespace: &str) -> Option<String> {
        if self.settings.no_cross_namespace && namespace != self.hr.namespace {
            return Some(format!("cross-namespace references are off, and it is in namespace {namespace}"));
        }
        let gated = kind == "ExternalArtifact" && !self.settings.external_artifact;
        gated.then(|| "the gate ExternalArtifact is off".to_owned())
    }

    /// Whether the run writes another spec into the HelmChart before it looks at it.
    fn rewrites(&self, chart: &Object) -> bool {
        helmchart::generated(self.hr).is_some() && helmchart::outdated(self.hr, chart)
    }

    fn target_changed(&self, chart: &ChartIdentity) -> Option<String> {
        let hr = self.hr;
        let history = hr.history();
        let current = history.first()?;
        let storage = hr.text("/status/storageNamespace");
        if storage.is_empty() {
            return None;
        }
        let differs = |what: &str, now: &str, then: &str| (now != then).then(|| format!("{what} {then} → {now}"));
        differs("storage namespace", &hr.storage_namespace(), storage)
            .or_else(|| differs("release namespace", &hr.release_namespace(), current.text("namespace")))
            .or_else(|| differs("release name", &hr.release_name(), current.text("name")))
            .or_else(|| {
                // F-306: older controllers know no strategy for it.
                let in_place = hr.text("/spec/upgrade/chartNameChangeStrategy") == "InPlaceUpdate"
                    && self.settings.controller >= ControllerVersion(1, 6, 0);
                if in_place { None } else { differs("chart name", &chart.name, current.text("chartName")) }
            })
    }
}
