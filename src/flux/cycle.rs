//! A whole run of the controller: prerequisites, then states and actions until nothing is left to do (`F-68`, `F-111`),
//! with what it writes to the status of the HelmRelease and to Helm's storage.

mod actions;
mod ends;
mod helm;

use super::decide::{
    Action, Decision, Exit, FORCED, Outcome, Prepared, REQUESTED, RESET, State, Trace, Unloadable, honoured,
    prerequisites, reset_reason, wrong_health_check,
};
use super::digest::{config_digest, post_renderers};
use super::helmchart;
use super::model::HelmRelease;
use super::settings::{ControllerVersion, Settings};
use super::state::{Pass, retries_by_strategy};
use super::storage;
use crate::cluster::object::{Object, ObjectKey};
use crate::cluster::snapshot::{Facts, Snapshot};

use ends::full_name;
pub use helm::{Applied, Helm, Request, test_hooks};

/// When the controller looks again without being triggered (`F-68`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Requeue {
    /// After `spec.interval`.
    Interval,
    /// After the interval for dependencies, 30 s by default.
    Dependency,
    /// After the retry interval of the strategy.
    Retry,
    /// At once.
    Immediate,
    /// With growing delays.
    Backoff,
    /// Not before something is written.
    #[default]
    None,
}

/// One action of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// What was done.
    pub action: Action,
    /// Revision that was written, if any.
    pub version: Option<i64>,
    /// Why it failed.
    pub error: Option<String>,
}

/// A Kubernetes event that a run records on its HelmRelease (`F-272`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// `Warning`, not `Normal`.
    pub warning: bool,
    /// Its reason.
    pub reason: &'static str,
}

/// A run of the controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle {
    /// The first decision: the exit, or the state that the run found.
    pub decision: Decision,
    /// The actions, in order.
    pub done: Vec<Done>,
    /// The events, in order; a run that finds the release in sync records none (`F-270`).
    pub events: Vec<Event>,
    /// When it looks again.
    pub requeue: Requeue,
}

/// Most passes of the loop.
const MAX_PASSES: usize = 20;

/// Runs the controller once for a HelmRelease; `None` if it is not there.
pub fn reconcile(cluster: &mut Snapshot, key: &ObjectKey, settings: &Settings, helm: &mut dyn Helm) -> Option<Cycle> {
    let object = cluster.get(key).present()?;
    let hr = HelmRelease::new(object.json.clone());
    let requested = hr.annotation(REQUESTED).map(str::to_owned);
    let mut run = Run {
        cluster,
        key,
        settings,
        helm,
        hr,
        trace: Trace::default(),
        first: None,
        done: Vec::new(),
        events: Vec::new(),
        chart: Default::default(),
    };
    let requeue = run.go();
    if matches!(requeue, Requeue::Interval | Requeue::Retry | Requeue::None) && !run.unknown() {
        let generation = run.hr.generation();
        run.hr.set("observedGeneration", generation);
    }
    if let Some(requested) = requested {
        run.hr.set("lastHandledReconcileAt", requested);
    }
    run.persist();
    let Run { trace, first, done, events, .. } = run;
    let outcome = first.unwrap_or(Outcome::Unknown { missing: Vec::new() });
    Some(Cycle { decision: Decision { trace: trace.0, outcome }, done, events, requeue })
}

struct Run<'a> {
    cluster: &'a mut Snapshot,
    key: &'a ObjectKey,
    settings: &'a Settings,
    helm: &'a mut dyn Helm,
    hr: HelmRelease,
    trace: Trace,
    first: Option<Outcome>,
    done: Vec<Done>,
    events: Vec<Event>,
    /// Name and version of the chart that is loaded.
    chart: (String, String),
}

/// Kinds of actions: a run does each once (`F-111`).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Release,
    Remediate,
    Test,
    Unlock,
    Drift,
}

fn kind_of(action: &Action) -> Option<Kind> {
    match action {
        Action::Install | Action::Upgrade => Some(Kind::Release),
        Action::Rollback { .. } | Action::Uninstall => Some(Kind::Remediate),
        Action::Test => Some(Kind::Test),
        Action::Unlock => Some(Kind::Unlock),
        Action::CorrectDrift => Some(Kind::Drift),
        Action::None | Action::RetriesExceeded | Action::MissingRollbackTarget => None,
    }
}

impl Run<'_> {
    fn event(&mut self, warning: bool, reason: &'static str) {
        self.events.push(Event { warning, reason });
    }

    fn unknown(&self) -> bool {
        matches!(self.first, Some(Outcome::Unknown { .. }) | None)
    }

    fn persist(&mut self) {
        if matches!(self.first, Some(Outcome::Exited(Exit::Deleted))) && !self.stuck() {
            self.cluster.apply([(self.key.clone(), None)]);
            return;
        }
        let object = Object::new((*self.hr.json).clone(), Default::default()).map(std::rc::Rc::new);
        if object.is_some() {
            self.cluster.apply([(self.key.clone(), object)]);
            self.helm.wrote(&self.hr);
        }
    }

    /// Whether the uninstall of a deleted HelmRelease failed: the finalizer stays (`F-69`).
    fn stuck(&self) -> bool {
        self.events.iter().any(|e| e.reason == "UninstallFailed")
    }

    fn go(&mut self) -> Requeue {
        if !self.hr.text("/metadata/deletionTimestamp").is_empty() {
            return self.exit(Exit::Deleted);
        }
        if !self.hr.has_finalizer() {
            self.trace.check("F-70", "the finalizer is missing: this run only adds it, and burns tokens");
            self.hr.add_finalizer();
            return self.exit(Exit::FinalizerMissing);
        }
        if self.hr.flag("/spec/suspend") {
            self.trace.check("F-71", "suspended: nothing is done, tokens are burnt");
            return self.exit(Exit::Suspended);
        }
        if let Some(text) = wrong_health_check(&self.hr, self.settings) {
            self.trace.check("F-72", text.clone());
            return self.exit(Exit::InvalidExpression(text));
        }
        self.adopt_digest();
        if helmchart::generated(&self.hr).is_some() && !helmchart::nameable(&self.hr) {
            let text = helmchart::UNNAMEABLE.to_owned();
            self.event(false, "HelmChartSyncErr");
            self.trace.check("F-73", text.clone());
            return self.exit(Exit::ChartNotWritten(text));
        }
        if let Err(why) = self.write_chart() {
            self.trace.check("F-73", why.clone());
            return self.exit(Exit::ChartNotWritten(why));
        }
        self.hr.unmark(&["Stalled"]);
        self.hr.mark("Reconciling", "True", "Progressing", "Fulfilling prerequisites");
        self.persist();
        let unloadable = self.helm.unloadable(&self.hr);
        let prepared = match prerequisites(&self.hr, self.cluster, self.settings, unloadable, &mut self.trace) {
            Ok(prepared) => prepared,
            Err(Outcome::Exited(exit)) => return self.exit(exit),
            Err(outcome) => {
                self.first = Some(outcome);
                return Requeue::None;
            }
        };
        self.chart = (prepared.chart.name.clone(), prepared.chart.version.clone());
        self.recover();
        self.attempt(&prepared);
        self.passes(prepared)
    }

    /// The HelmChart of the template is brought up to date (`F-12`, `F-13`).
    fn write_chart(&mut self) -> Result<(), String> {
        let key = helmchart::generated(&self.hr);
        let old = self.hr.text("/status/helmChart").to_owned();
        if let Some((namespace, name)) = old.split_once('/')
            && key.as_ref().is_none_or(|k| k.namespace != namespace || k.name != name)
        {
            self.delete_chart();
            self.hr.unset("helmChart");
        }
        let Some(key) = key else { return Ok(()) };
        if let Some(why) = helmchart::no_namespace(&self.hr, &key, self.cluster) {
            self.event(false, "HelmChartSyncErr");
            return Err(why);
        }
        let live = self.cluster.get(&key).present();
        if let Some(json) = helmchart::written(&self.hr, live.as_deref()) {
            self.event(false, if live.is_none() { "HelmChartCreated" } else { "HelmChartConfigured" });
            self.cluster.apply([(key.clone(), Object::new(json, Default::default()).map(std::rc::Rc::new))]);
        }
        self.hr.set("helmChart", format!("{}/{}", key.namespace, key.name));
        Ok(())
    }

    /// Deletes the HelmChart that the status names (`F-13`, `F-69`).
    fn delete_chart(&mut self) {
        let Some((namespace, name)) = self.hr.text("/status/helmChart").split_once('/') else { return };
        let (group, kind) = ("source.toolkit.fluxcd.io".to_owned(), "HelmChart".to_owned());
        let chart = ObjectKey { group, kind, namespace: namespace.to_owned(), name: name.to_owned() };
        if self.cluster.get(&chart).present().is_some() {
            self.event(false, "HelmChartDeleted");
        }
        self.cluster.apply([(chart, None)]);
    }

    /// An empty digest of post-renderers is filled in by older controllers (`F-294`, `F-375b`).
    fn adopt_digest(&mut self) {
        let hr = &self.hr;
        let old = self.settings.controller < ControllerVersion(1, 5, 0);
        if !old || hr.generation() != hr.observed_generation() {
            return;
        }
        let digest = post_renderers(hr.json.pointer("/spec/postRenderers"), self.settings.digest);
        if !digest.is_empty() && hr.text("/status/observedPostRenderersDigest").is_empty() {
            self.hr.set("observedPostRenderersDigest", digest);
        }
    }

    fn exit(&mut self, exit: Exit) -> Requeue {
        let mut stuck = false;
        let (reason, message) = match &exit {
            Exit::Invalid(_) | Exit::Suspended | Exit::ChartNotWritten(_) => ("", String::new()),
            Exit::FinalizerMissing => ("", String::new()),
            Exit::Deleted => {
                let all = storage::revisions(self.cluster, &self.hr);
                let uninstalls = !self.hr.flag("/spec/suspend") && !self.hr.text("/status/storageNamespace").is_empty();
                stuck = uninstalls && !self.uninstall_all(&all);
                if !stuck && !self.hr.flag("/spec/suspend") {
                    self.delete_chart();
                }
                ("", String::new())
            }
            Exit::AccessDenied(text) => {
                self.stall("AccessDenied", text);
                ("AccessDenied", text.clone())
            }
            Exit::InvalidExpression(text) => {
                let text = format!("Reconciliation failed terminally due to configuration error: {text}");
                self.stall("InvalidCELExpression", &text);
                ("InvalidCELExpression", text)
            }
            Exit::DependencyNotReady(text) => ("DependencyNotReady", text.clone()),
            // F-75: a source that cannot be read is an error, one that is not ready is waited for.
            Exit::SourceNotReady(text) if text.starts_with("could not get") => ("ArtifactFailed", text.clone()),
            Exit::SourceNotReady(text) => ("SourceNotReady", text.clone()),
            Exit::ChartRefused(text) => ("ChartMutateError", text.clone()),
            Exit::ValuesError(text) => ("ValuesError", text.clone()),
            Exit::NotLoaded(why @ Unloadable::Gone) => ("ArtifactFailed", format!("{why}. Retrying in 30s")),
            Exit::NotLoaded(why) => ("ArtifactFailed", why.to_string()),
            Exit::StateError(text) => ("StateError", format!("Could not determine release state: {text}")),
            Exit::TargetChanged(_) => {
                self.leave_target();
                ("", String::new())
            }
        };
        let requeue = if stuck { Requeue::Backoff } else { exit.requeue(self.settings) };
        if !reason.is_empty() {
            self.hr.mark("Ready", "False", reason, &message);
        }
        match &exit {
            Exit::DependencyNotReady(_) => self.event(false, "DependencyNotReady"),
            Exit::InvalidExpression(_) => self.event(true, "InvalidCELExpression"),
            Exit::AccessDenied(_) => self.event(true, "AccessDenied"),
            Exit::ValuesError(_) => self.event(true, "ValuesError"),
            Exit::NotLoaded(Unloadable::Broken(_)) => self.event(true, "ArtifactFailed"),
            _ => {}
        }
        // F-295: the wait of older controllers is an interval, but no success.
        let waits = requeue == Requeue::Interval;
        self.first.get_or_insert(Outcome::Exited(exit));
        if waits { Requeue::Dependency } else { requeue }
    }

    /// Uninstalls what the history tells of, and forgets it (`F-81`).
    fn leave_target(&mut self) {
        let history = self.hr.history();
        if let Some(current) = history.first() {
            let namespace = self.hr.text("/status/storageNamespace").to_owned();
            let all = crate::cluster::storage::stored(self.cluster, &namespace, current.text("name")).0;
            if let Some(revision) = all.first() {
                self.helm.remove(self.cluster, &self.hr, revision);
                let message = format!("Helm uninstall succeeded for release {}", full_name(current));
                self.hr.mark("Released", "False", "UninstallSucceeded", &message);
                self.event(false, "UninstallSucceeded");
                self.hr.summarize(self.settings);
            }
            storage::delete(self.cluster, &all);
        }
        self.hr.set_history(Vec::new());
        self.hr.clear_failures();
        self.hr.unset("storageNamespace");
    }

    /// A Ready that tells of a prerequisite which holds now becomes Unknown (`F-87`).
    fn recover(&mut self) {
        let stale = matches!(
            self.hr.condition_reason("Ready"),
            Some(
                "AccessDenied"
                    | "DependencyNotReady"
                    | "SourceNotReady"
                    | "ArtifactFailed"
                    | "ValuesError"
                    | "ChartMutateError"
                    | "RESTClientError"
                    | "FactoryError"
            )
        );
        if stale && self.hr.condition("Ready") == Some("False") {
            self.hr.mark("Ready", "Unknown", "Progressing", "reconciliation in progress");
        }
    }

    /// Counters, and what was attempted last (`F-83`, `F-84`).
    fn attempt(&mut self, prepared: &Prepared) {
        self.hr.set("storageNamespace", self.hr.storage_namespace());
        if let Some(why) = reset_reason(&self.hr, &prepared.chart, &prepared.values) {
            self.trace.check("F-83", format!("failure counts are reset: {why}"));
            self.hr.clear_failures();
        }
        if let Some(token) = self.hr.annotation(RESET).map(str::to_owned) {
            self.hr.set("lastHandledResetAt", token);
        }
        self.hr.set("lastAttemptedGeneration", self.hr.generation());
        self.hr.set("lastAttemptedRevision", prepared.chart.version.clone());
        self.hr.set("lastAttemptedConfigDigest", config_digest(&prepared.values, self.settings.digest));
        match prepared.chart.oci_digest.as_str() {
            "" => self.hr.unset("lastAttemptedRevisionDigest"),
            digest => self.hr.set("lastAttemptedRevisionDigest", digest),
        }
    }

    /// The loop (`F-111`).
    fn passes(&mut self, mut prepared: Prepared) -> Requeue {
        let mut kinds: Vec<Kind> = Vec::new();
        for _ in 0..MAX_PASSES {
            let force = honoured(&self.hr, FORCED, "lastHandledForceAt");
            let stored = storage::revisions(self.cluster, &self.hr);
            let pass = Pass {
                hr: &self.hr,
                facts: self.cluster,
                stored: &stored,
                settings: self.settings,
                chart: &prepared.chart,
                values: &prepared.values,
                force,
                reset: false,
                drift: self.helm.drift(&self.hr),
            };
            let outcome = pass.decide(&mut self.trace);
            self.first.get_or_insert_with(|| outcome.clone());
            let (action, state) = match outcome {
                Outcome::Decided { action, state, reason, .. } => {
                    if state == State::Drifted {
                        self.drifted(&reason);
                    }
                    if state == State::Unmanaged {
                        // F-109: before it is known whether this run may act.
                        self.hr.set_history(Vec::new());
                    }
                    (action, state)
                }
                Outcome::Exited(exit) => return self.exit(exit),
                unknown @ Outcome::Unknown { .. } => {
                    // What the run did before leaves what follows as open.
                    self.first = Some(unknown);
                    return Requeue::None;
                }
            };
            if let Some(token) = self.hr.annotation(FORCED).map(str::to_owned) {
                self.hr.set("lastHandledForceAt", token);
            }
            let last = self.hr.text("/status/lastAttemptedReleaseAction").to_owned();
            let retry = retries_by_strategy(&self.hr, self.settings, &last);
            let retries = retry && !last.is_empty();
            let rolls_back = matches!(action, Action::Rollback { .. } | Action::MissingRollbackTarget);
            if state == State::InSync || state == State::Failed && (retries || rolls_back) {
                self.truncate(retries);
            }
            if matches!(state, State::InSync | State::Untested) && self.hr.condition("Remediated") == Some("True") {
                self.hr.unmark(&["Remediated"]);
                self.released(true, "upgrade", None);
            }
            match action {
                Action::None => return self.rest(state == State::InSync),
                Action::RetriesExceeded => {
                    let what = if state == State::Absent { "install" } else { last.as_str() };
                    let count = self.hr.number(&format!("/status/{what}Failures")).unwrap_or(0);
                    return self.stall("RetriesExceeded", &format!("Failed to {what} after {count} attempt(s)"));
                }
                Action::MissingRollbackTarget => {
                    return self.stall(
                        "MissingRollbackTarget",
                        "Failed to perform remediation: missing target release for rollback: cannot remediate failed release",
                    );
                }
                _ => {}
            }
            let Some(kind) = kind_of(&action) else { return Requeue::None };
            if kinds.contains(&kind) {
                return self.again(&last, retry);
            }
            self.persist();
            let remediation = kind == Kind::Remediate;
            match self.act(&action, &prepared, &stored) {
                Err(()) => {
                    let last = self.hr.text("/status/lastAttemptedReleaseAction").to_owned();
                    let retry = retries_by_strategy(&self.hr, self.settings, &last);
                    return if retry { self.retry_later() } else { Requeue::Backoff };
                }
                Ok(()) if remediation => return self.remediated(&last, retry),
                Ok(()) => kinds.push(kind),
            }
            if action == Action::Upgrade && self.hr.flag("/spec/upgrade/preserveValues") {
                // F-29: Helm merges into the very map that the run compares with.
                let newest = storage::revisions(self.cluster, &self.hr).into_iter().next();
                prepared.values = newest.and_then(|r| r.config().cloned()).unwrap_or(prepared.values);
            }
            self.persist();
        }
        Requeue::Backoff
    }
}
