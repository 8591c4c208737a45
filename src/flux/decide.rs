//! The next reconcile: the checks in order, each with its rule, the first exit taken, or the state and the action.

use std::fmt;

use serde_json::Value as Json;

use super::digest::{common_metadata, config_matches, is_valid, post_renderers, release_matches};
use super::model::HelmRelease;
use super::settings::{ControllerVersion, Settings};
use super::values::{Composed, compose};
use crate::base::Known;
use crate::cluster::object::ObjectKey;
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
    /// `F-71`
    Suspended,
    /// `F-74`
    DependencyNotReady(String),
    /// `F-76`
    SourceNotReady(String),
    /// `F-77`
    ValuesError(String),
    /// `F-69`
    Deleted,
    /// `F-70`
    FinalizerMissing,
    /// `F-81`
    TargetChanged(String),
    /// `F-90`, `F-95`
    StateError(String),
}

impl Exit {
    /// One word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Exit::Suspended => "Suspended",
            Exit::DependencyNotReady(_) => "DependencyNotReady",
            Exit::SourceNotReady(_) => "SourceNotReady",
            Exit::ValuesError(_) => "ValuesError",
            Exit::Deleted => "Deleted",
            Exit::FinalizerMissing => "FinalizerMissing",
            Exit::TargetChanged(_) => "TargetChanged",
            Exit::StateError(_) => "StateError",
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Suspended => f.write_str("suspended"),
            Exit::DependencyNotReady(text) => write!(f, "dependency: {text}"),
            Exit::SourceNotReady(text) => write!(f, "source: {text}"),
            Exit::ValuesError(text) => write!(f, "values: {text}"),
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

/// Name and version of the chart that the controller would load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChartIdentity {
    /// Name.
    pub name: String,
    /// Version, with what the controller appends to it (`F-231`).
    pub version: String,
}

/// Annotations and status fields of the tokens (`F-55`).
const REQUESTED: &str = "reconcile.fluxcd.io/requestedAt";
const FORCED: &str = "reconcile.fluxcd.io/forceAt";

/// The next reconcile, as things stand.
pub fn simulate(hr: &HelmRelease, facts: &dyn Facts, stored: &[StoredRelease], settings: &Settings) -> Decision {
    let requested = hr.annotation(REQUESTED);
    let forced = hr.annotation(FORCED);
    let honoured = match (forced, requested) {
        (Some(f), Some(r)) => {
            f == r && hr.text("/status/lastHandledReconcileAt") != r && hr.text("/status/lastHandledForceAt") != f
        }
        _ => false,
    };
    Run { hr, facts, stored, settings, force: honoured, trace: Vec::new() }.go()
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
    Run { hr, facts, stored, settings, force: fresh, trace: Vec::new() }.go()
}

/// The chart that the controller would load (`F-3`, `F-230`); `None` if its source is not in the snapshot.
pub fn chart_identity(hr: &HelmRelease, facts: &dyn Facts) -> Option<ChartIdentity> {
    let (kind, namespace, name) = hr.source();
    let key = ObjectKey { group: "source.toolkit.fluxcd.io".into(), kind: kind.clone(), namespace, name };
    let last = hr.history().into_iter().next();
    let Known::Present(source) = facts.get(&key) else {
        let last = last?;
        return Some(ChartIdentity {
            name: last.text("chartName").to_owned(),
            version: last.text("chartVersion").to_owned(),
        });
    };
    let revision = source.text("/status/artifact/revision");
    match kind.as_str() {
        "HelmChart" => {
            let name = match source.text("/status/observedChartName") {
                "" => last
                    .as_ref()
                    .map(|l| l.text("chartName").to_owned())
                    .unwrap_or_else(|| source.text("/spec/chart").to_owned()),
                name => name.to_owned(),
            };
            (!revision.is_empty()).then(|| ChartIdentity { name, version: revision.to_owned() })
        }
        _ => {
            // F-231: the tag is the version; the first 12 digits of the digest are its metadata.
            let (tag, digest) = revision.split_once('@').unwrap_or(("", revision));
            let hex: String = digest.rsplit(':').next().unwrap_or_default().chars().take(12).collect();
            let title =
                source.json.pointer("/status/artifact/metadata").and_then(|m| m.get("org.opencontainers.image.title"));
            let name = title
                .and_then(Json::as_str)
                .map(str::to_owned)
                .or_else(|| last.as_ref().map(|l| l.text("chartName").to_owned()))?;
            let plain = tag.replace('_', "+");
            let base = plain.trim_start_matches('v').split('+').next().unwrap_or_default().to_owned();
            let looks = base.split('.').next().is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
            let base =
                if looks { base } else { last?.text("chartVersion").split('+').next().unwrap_or_default().to_owned() };
            Some(ChartIdentity { name, version: format!("{base}+{hex}") })
        }
    }
}

struct Run<'a> {
    hr: &'a HelmRelease,
    facts: &'a dyn Facts,
    stored: &'a [StoredRelease],
    settings: &'a Settings,
    force: bool,
    trace: Vec<Check>,
}

impl Run<'_> {
    fn check(&mut self, rule: &'static str, text: impl Into<String>) {
        self.trace.push(Check { rule, text: text.into() });
    }

    fn go(mut self) -> Decision {
        let outcome = match self.prerequisites() {
            Ok((chart, values)) => self.state(&chart, &values),
            Err(outcome) => outcome,
        };
        Decision { trace: self.trace, outcome }
    }

    fn prerequisites(&mut self) -> Result<(ChartIdentity, Json), Outcome> {
        let hr = self.hr;
        if !hr.text("/metadata/deletionTimestamp").is_empty() {
            self.check("F-69", "it is being deleted");
            return Err(Outcome::Exited(Exit::Deleted));
        }
        let finalizers = hr.json.pointer("/metadata/finalizers").and_then(Json::as_array);
        if !finalizers.into_iter().flatten().any(|f| f.as_str() == Some("finalizers.fluxcd.io")) {
            self.check("F-70", "the finalizer is missing: the run only adds it, and burns tokens");
        }
        if hr.flag("/spec/suspend") {
            self.check("F-71", "suspended: nothing is done, tokens are burnt");
            return Err(Outcome::Exited(Exit::Suspended));
        }
        self.dependencies()?;
        let chart = self.source()?;
        let values = match compose(hr, self.facts) {
            Composed::Values { json, notes } => {
                for note in notes {
                    self.check("F-40", note);
                }
                json
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
        if let Some(changed) = self.target_changed(&chart) {
            self.check("F-82", format!("release target changed: {changed}"));
            return Err(Outcome::Exited(Exit::TargetChanged(changed)));
        }
        Ok((chart, values))
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
                    let text = format!("unable to get '{name}' dependency");
                    self.check("F-260", text.clone());
                    return Err(Outcome::Exited(Exit::DependencyNotReady(text)));
                }
                Known::Uncollected => {
                    self.check("F-260", format!("dependency '{name}' was not collected"));
                    return Err(Outcome::Unknown { missing: vec![key.to_string()] });
                }
            };
            if let Some(expression) = dependency.ready_expr {
                self.check("F-262", format!("dependency '{name}' by {expression}: not evaluated"));
                return Err(Outcome::Unknown { missing: vec![format!("readyExpr of '{name}': {expression}")] });
            }
            if found.generation() != found.observed_generation() || found.condition("Ready") != Some("True") {
                let text = format!("dependency '{name}' is not ready");
                self.check("F-261", text.clone());
                return Err(Outcome::Exited(Exit::DependencyNotReady(text)));
            }
            self.check("F-261", format!("dependency '{name}' is ready"));
        }
        Ok(())
    }

    /// Source readiness (`F-78`), and which chart it holds.
    fn source(&mut self) -> Result<ChartIdentity, Outcome> {
        let (kind, namespace, name) = self.hr.source();
        let shown = format!("{kind} '{namespace}/{name}'");
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
            Known::Present(source) => {
                let source_hr = HelmRelease::new(source.json.clone());
                let observed = source_hr.number("/status/observedGeneration");
                let stalled = source_hr.condition("Stalled") == Some("True")
                    && source_hr.condition("Reconciling") != Some("True");
                let why = if kind != "ExternalArtifact" && observed != Some(source_hr.generation()) {
                    Some("latest generation of object has not been reconciled")
                } else if kind != "ExternalArtifact" && stalled {
                    Some("it is stalled")
                } else if source.json.pointer("/status/artifact").is_none_or(Json::is_null) {
                    Some("does not have an artifact")
                } else {
                    None
                };
                if let Some(why) = why {
                    let text = format!("{shown} is not ready: {why}");
                    self.check("F-78", text.clone());
                    return Err(Outcome::Exited(Exit::SourceNotReady(text)));
                }
                self.check("F-78", format!("{shown} is ready at {}", source.text("/status/artifact/revision")));
            }
        }
        match chart_identity(self.hr, self.facts) {
            Some(chart) => Ok(chart),
            None => {
                self.check("F-3", "neither the source nor the history tells which chart is loaded");
                Err(Outcome::Unknown { missing: vec![key.to_string()] })
            }
        }
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
                let in_place = hr.text("/spec/upgrade/chartNameChangeStrategy") == "InPlaceUpdate";
                if in_place { None } else { differs("chart name", &chart.name, current.text("chartName")) }
            })
    }

    fn state(&mut self, chart: &ChartIdentity, values: &Json) -> Outcome {
        let hr = self.hr;
        let Some(newest) = self.stored.first() else {
            if !matches!(self.storage_collected(), Known::Absent | Known::Present(())) {
                self.check("F-90", "Helm's storage was not collected");
                return Outcome::Unknown { missing: vec![format!("Secrets of namespace {}", hr.storage_namespace())] };
            }
            if self.has_undecodable() {
                self.check("F-90", "Helm's storage does not decode");
                return Outcome::Exited(Exit::StateError("Helm's storage does not decode".into()));
            }
            self.check("F-90", "no release in storage");
            return self.decide(State::Absent, "no release in storage for object");
        };
        let status = newest.status.as_str();
        self.check("F-90", format!("stored: v{} {status}", newest.version));
        if status.starts_with("pending-") {
            self.check("F-91", format!("release with status '{status}'"));
            return self.decide(State::Locked, &format!("release with status '{status}'"));
        }
        let history = hr.history();
        let Some(current) = history.first() else {
            self.check("F-92", "status.history is empty");
            return match status {
                "uninstalled" => self.decide(State::Absent, "found uninstalled release in storage"),
                _ => self.decide(State::Unmanaged, "found existing release in storage"),
            };
        };
        let skips = self.settings.controller >= ControllerVersion(1, 5, 0) && current.text("apiVersion") != "v2";
        if !skips {
            let digest = current.text("digest");
            if !is_valid(digest) {
                self.check("F-93", "the digest in status.history is none");
                return self.decide(State::Unmanaged, "release digest verification error");
            }
            if !release_matches(digest, newest, current.text("ociDigest"), self.settings.controller) {
                self.check("F-93", "the stored release is not the one in status.history");
                return self.decide(State::Unmanaged, "release not observed to be made for object");
            }
            self.check("F-93", "the stored release is the one in status.history");
        }
        match status {
            "deployed" => {}
            "failed" => {
                self.check("F-94", "the stored release is failed");
                return self.decide(State::Failed, "");
            }
            "uninstalled" => {
                self.check("F-95", "the stored release is uninstalled");
                return self.decide(State::Absent, "found uninstalled release in storage");
            }
            other => {
                let text = format!("unable to determine state for release with status '{other}'");
                self.check("F-95", text.clone());
                return Outcome::Exited(Exit::StateError(text));
            }
        }
        let (name, version) = (newest.chart_metadata("name"), newest.chart_metadata("version"));
        if name != chart.name || version != chart.version {
            self.check("F-96", format!("chart {name}@{version} is stored, {}@{} is wanted", chart.name, chart.version));
            return self.decide(State::OutOfSync, "release chart changed");
        }
        self.check("F-96", format!("chart {name}@{version} is the wanted one"));
        if !config_matches(current.text("configDigest"), values) {
            self.check("F-97", "the digest of the composed values differs");
            return self.decide(State::OutOfSync, "release config values changed");
        }
        self.check("F-97", "the digest of the composed values is the stored one");
        if hr.observed_generation() != hr.generation() {
            if post_renderers(hr.json.pointer("/spec/postRenderers")) != hr.text("/status/observedPostRenderersDigest")
            {
                self.check("F-98", "post-renderers changed with the new generation");
                return self.decide(State::OutOfSync, "postrenderers digest has changed");
            }
            if common_metadata(hr.json.pointer("/spec/commonMetadata"))
                != hr.text("/status/observedCommonMetadataDigest")
            {
                self.check("F-99", "common metadata changed with the new generation");
                return self.decide(State::OutOfSync, "common metadata digest has changed");
            }
        }
        if hr.flag("/spec/test/enable") && !tested(&current.json) {
            self.check("F-100", "tests are enabled and have not run");
            return self.decide(State::Untested, "release has not been tested");
        }
        if matches!(hr.text("/spec/driftDetection/mode"), "enabled" | "warn") && hr.condition("Drifted") == Some("True")
        {
            self.check("F-102", "drift detection is on, and the last run found drift");
            return self.decide(State::Drifted, "detected changes in cluster state");
        }
        self.check("F-103", "in sync: templates, lookups and capabilities are not looked at");
        self.decide(State::InSync, "release in-sync with desired state")
    }

    fn storage_collected(&self) -> Known<()> {
        match self.facts.list("", "Secret", Some(&self.hr.storage_namespace())) {
            Known::Uncollected => Known::Uncollected,
            _ => Known::Present(()),
        }
    }

    fn has_undecodable(&self) -> bool {
        let name = self.hr.release_name();
        let secrets = self.facts.list("", "Secret", Some(&self.hr.storage_namespace())).present().unwrap_or_default();
        secrets.iter().any(|o| crate::cluster::storage::is_storage(o) && o.text("/metadata/labels/name") == name)
    }

    /// The action table (`F-106` to `F-110`).
    fn decide(&mut self, state: State, reason: &str) -> Outcome {
        let hr = self.hr;
        let force = self.force;
        let exhausted = |action: &str| {
            let retries = hr.number(&format!("/spec/{action}/remediation/retries")).unwrap_or(0);
            let counter = hr.number(&format!("/status/{action}Failures")).unwrap_or(0);
            retries >= 0 && counter > retries && !self.retries_by_strategy(action)
        };
        let action = match state {
            State::InSync if force => Action::Upgrade,
            State::InSync => Action::None,
            State::Locked => Action::Unlock,
            State::Absent if exhausted("install") && !force => Action::RetriesExceeded,
            State::Absent => Action::Install,
            State::Unmanaged => Action::Upgrade,
            State::OutOfSync if exhausted("upgrade") && !force => Action::RetriesExceeded,
            State::OutOfSync => Action::Upgrade,
            State::Drifted if hr.text("/spec/driftDetection/mode") == "enabled" => Action::CorrectDrift,
            State::Drifted => Action::None,
            State::Untested => Action::Test,
            State::Failed => self.failed(force),
        };
        self.check("F-106", format!("{state:?} → {action}{}", if force { " (force token honoured)" } else { "" }));
        Outcome::Decided { state, reason: reason.to_owned(), action, forced: force }
    }

    fn retries_by_strategy(&self, action: &str) -> bool {
        match self.hr.text(&format!("/spec/{action}/strategy/name")) {
            "RetryOnFailure" => true,
            "" => self.settings.default_to_retry,
            _ => false,
        }
    }

    /// What follows a failed release (`F-110`).
    fn failed(&self, force: bool) -> Action {
        let hr = self.hr;
        let last = hr.text("/status/lastAttemptedReleaseAction");
        if last.is_empty() || force || self.retries_by_strategy(last) {
            return Action::Upgrade;
        }
        let retries = hr.number(&format!("/spec/{last}/remediation/retries")).unwrap_or(0);
        let counter = hr.number(&format!("/status/{last}Failures")).unwrap_or(0);
        if counter <= 0 {
            return Action::Upgrade;
        }
        let exhausted = retries >= 0 && counter > retries;
        let last_too = hr
            .json
            .pointer(&format!("/spec/{last}/remediation/remediateLastFailure"))
            .and_then(Json::as_bool)
            .unwrap_or(last == "upgrade" && retries > 0);
        if exhausted && !last_too {
            return Action::RetriesExceeded;
        }
        if last == "install" || hr.text("/spec/upgrade/remediation/strategy") == "uninstall" {
            return Action::Uninstall;
        }
        let previous = hr.history().into_iter().skip(1).find(|s| matches!(s.text("status"), "deployed" | "superseded"));
        match previous {
            None => Action::MissingRollbackTarget,
            Some(previous) if self.stored.iter().any(|r| r.version == previous.version) => {
                Action::Rollback { to: previous.version }
            }
            Some(_) => Action::Upgrade,
        }
    }
}

/// Whether the tests of a revision count as run (`F-142`).
fn tested(snapshot: &Json) -> bool {
    let Some(hooks) = snapshot.get("testHooks").filter(|h| !h.is_null()) else { return false };
    let phases =
        hooks.as_object().into_iter().flatten().map(|(_, h)| h.get("phase").and_then(Json::as_str).unwrap_or_default());
    let phases: Vec<&str> = phases.collect();
    phases.contains(&"Failed") || phases.iter().all(|p| *p == "Succeeded")
}
