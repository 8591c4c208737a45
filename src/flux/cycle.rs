//! A whole run of the controller: prerequisites, then states and actions until nothing is left to do (`F-68`, `F-111`),
//! with what it writes to the status of the HelmRelease and to Helm's storage.

use serde_json::{Value as Json, json};

use super::decide::{
    Action, Decision, Exit, FORCED, Outcome, Prepared, REQUESTED, RESET, State, Trace, honoured, prerequisites,
    reset_reason,
};
use super::digest::{config_digest, post_renderers};
use super::drift::Drift;
use super::helmchart;
use super::model::{HelmRelease, Snapshot as Entry};
use super::settings::{ControllerVersion, Settings};
use super::state::{Pass, ignores_tests, kept, remediates_by_uninstall, retries_by_strategy};
use super::status::{rewritten, snapshot_of};
use super::storage;
use crate::cluster::object::{Object, ObjectKey};
use crate::cluster::snapshot::{Facts, Snapshot};
use crate::cluster::storage::StoredRelease;
use crate::funcs::durations;

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

/// An install or upgrade to be rendered and applied.
pub struct Request<'a> {
    /// The HelmRelease.
    pub hr: &'a HelmRelease,
    /// Install or upgrade.
    pub action: &'a Action,
    /// Number of the new revision.
    pub version: i64,
    /// Composed values.
    pub values: &'a Json,
}

/// What Helm made of an install or upgrade.
pub enum Applied {
    /// It stored a revision: `chart`, `manifest`, `hooks` of its payload; with a text, the revision is failed.
    Stored {
        /// Parts of the payload; `config` too, if it is not the composed values.
        payload: Json,
        /// Why it failed after all.
        failed: Option<String>,
    },
    /// It failed before anything was stored.
    Refused(String),
}

/// The side of Helm: renders, applies and tests.
pub trait Helm {
    /// Renders and applies. The objects are written to the cluster by this call, the revision is not.
    fn release(&mut self, cluster: &mut Snapshot, request: &Request<'_>) -> Applied;
    /// Runs the tests of the newest revision: the phase of each hook by name.
    fn test(&mut self, cluster: &mut Snapshot, hr: &HelmRelease, revision: &StoredRelease) -> Vec<(String, bool)> {
        let _ = cluster;
        test_hooks(hr, revision).into_iter().map(|name| (name, true)).collect()
    }
    /// Applies the objects of a stored revision again.
    fn restore(&mut self, cluster: &mut Snapshot, hr: &HelmRelease, revision: &StoredRelease) -> Result<(), String> {
        let _ = (cluster, hr, revision);
        Ok(())
    }
    /// Why a deletion hook or the API server refuses the uninstall of a deleted HelmRelease, if it does.
    fn refuses_removal(&mut self, hr: &HelmRelease, revision: &StoredRelease) -> Option<String> {
        let _ = (hr, revision);
        None
    }
    /// What drift detection finds, where that is given (`F-105`); `None` to compare with the cluster.
    fn drift(&mut self, hr: &HelmRelease) -> Option<Drift> {
        let _ = hr;
        None
    }
    /// Deletes the objects of a stored revision.
    fn remove(&mut self, cluster: &mut Snapshot, hr: &HelmRelease, revision: &StoredRelease) {
        let _ = (cluster, hr, revision);
    }
}

/// Names of the test hooks of a stored revision that the filters let run (`F-39`).
pub fn test_hooks(hr: &HelmRelease, revision: &StoredRelease) -> Vec<String> {
    let filters = hr.json.pointer("/spec/test/filters").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    let excludes = |filter: &&Json| filter.get("exclude").and_then(Json::as_bool).unwrap_or(false);
    let (out, only): (Vec<&Json>, Vec<&Json>) = filters.iter().partition(excludes);
    let names = |list: &[&Json], name: &str| list.iter().any(|f| f.get("name").and_then(Json::as_str) == Some(name));
    let hooks = revision.json.get("hooks").and_then(Json::as_array);
    let is_test = |hook: &&Json| {
        let events = hook.get("events").and_then(Json::as_array);
        events.into_iter().flatten().any(|e| e.as_str() == Some("test"))
    };
    let name = |hook: &Json| hook.get("name").and_then(Json::as_str).map(str::to_owned);
    let all = hooks.into_iter().flatten().filter(is_test).filter_map(name);
    all.filter(|name| (only.is_empty() || names(&only, name)) && !names(&out, name)).collect()
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
        self.adopt_digest();
        if helmchart::generated(&self.hr).is_some() && !helmchart::nameable(&self.hr) {
            let text = "the name of the HelmRelease is longer than 63 bytes, which no label may be".to_owned();
            self.trace.check("F-73", text.clone());
            return self.exit(Exit::ChartNotWritten(text));
        }
        self.write_chart();
        self.hr.unmark(&["Stalled"]);
        self.hr.mark("Reconciling", "True", "Progressing", "Fulfilling prerequisites");
        let prepared = match prerequisites(&self.hr, self.cluster, self.settings, &mut self.trace) {
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
    fn write_chart(&mut self) {
        let key = helmchart::generated(&self.hr);
        let old = self.hr.text("/status/helmChart").to_owned();
        if let Some((namespace, name)) = old.split_once('/')
            && key.as_ref().is_none_or(|k| k.namespace != namespace || k.name != name)
        {
            let (group, kind) = ("source.toolkit.fluxcd.io".to_owned(), "HelmChart".to_owned());
            let stale = ObjectKey { group, kind, namespace: namespace.to_owned(), name: name.to_owned() };
            if self.cluster.get(&stale).present().is_some() {
                self.event(false, "HelmChartDeleted");
            }
            self.cluster.apply([(stale, None)]);
            self.hr.unset("helmChart");
        }
        let Some(key) = key else { return };
        let live = self.cluster.get(&key).present();
        if let Some(json) = helmchart::written(&self.hr, live.as_deref()) {
            self.event(false, if live.is_none() { "HelmChartCreated" } else { "HelmChartConfigured" });
            self.cluster.apply([(key.clone(), Object::new(json, Default::default()).map(std::rc::Rc::new))]);
        }
        self.hr.set("helmChart", format!("{}/{}", key.namespace, key.name));
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
                ("", String::new())
            }
            Exit::AccessDenied(text) => {
                self.stall("AccessDenied", text);
                ("AccessDenied", text.clone())
            }
            Exit::DependencyNotReady(text) => ("DependencyNotReady", text.clone()),
            // F-75: a source that cannot be read is an error, one that is not ready is waited for.
            Exit::SourceNotReady(text) if text.starts_with("could not get") => ("ArtifactFailed", text.clone()),
            Exit::SourceNotReady(text) => ("SourceNotReady", text.clone()),
            Exit::ChartRefused(text) => ("ChartMutateError", text.clone()),
            Exit::ValuesError(text) => ("ValuesError", text.clone()),
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
            Exit::ValuesError(_) => self.event(true, "ValuesError"),
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
                    (action, state)
                }
                Outcome::Exited(exit) => return self.exit(exit),
                Outcome::Unknown { .. } => return Requeue::None,
            };
            if let Some(token) = self.hr.annotation(FORCED).map(str::to_owned) {
                self.hr.set("lastHandledForceAt", token);
            }
            let last = self.hr.text("/status/lastAttemptedReleaseAction").to_owned();
            let retry = retries_by_strategy(&self.hr, self.settings, &last);
            if matches!(state, State::InSync | State::Failed) {
                self.truncate(retry && !last.is_empty());
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

    /// No action is left (`F-106`, `F-111` b).
    fn rest(&mut self, in_sync: bool) -> Requeue {
        let new = self.settings.controller >= ControllerVersion(1, 5, 0);
        if in_sync {
            let failed = match self.hr.condition_reason("Released") {
                Some("InstallFailed") => Some("install"),
                Some("UpgradeFailed") => Some("upgrade"),
                _ => None,
            };
            if let (true, Some(action)) = (new, failed) {
                self.released(true, action, None);
            }
            if matches!(self.hr.text("/spec/driftDetection/mode"), "enabled" | "warn")
                && self.settings.controller >= ControllerVersion(1, 6, 0)
            {
                self.hr.mark("Drifted", "False", "NoDriftDetected", "No drift detected against the cluster state");
            }
        }
        self.hr.unmark(&["Reconciling"]);
        self.hr.summarize(self.settings);
        if !new && self.hr.condition("Ready") == Some("True") {
            self.hr.observe_digests(self.settings);
        }
        Requeue::Interval
    }

    /// Drift is told by condition and event before anything is done about it (`F-109`, `F-307`).
    fn drifted(&mut self, what: &str) {
        self.event(true, "DriftDetected");
        if self.settings.controller >= ControllerVersion(1, 6, 0) {
            let release = self.hr.history().first().map(versioned).unwrap_or_default();
            let message = format!("Cluster state of release {release} has drifted from the desired state:\n{what}");
            self.hr.mark("Drifted", "True", "DriftDetected", &message);
        }
    }

    fn stall(&mut self, reason: &str, message: &str) -> Requeue {
        self.hr.unmark(&["Reconciling"]);
        self.hr.mark("Stalled", "True", reason, message);
        Requeue::None
    }

    fn retry_later(&mut self) -> Requeue {
        let last = self.hr.text("/status/lastAttemptedReleaseAction");
        let interval = self.hr.text(&format!("/spec/{last}/strategy/retryInterval"));
        let message = format!("retrying after {}", spelled(if interval.is_empty() { "5m" } else { interval }));
        self.hr.mark("Reconciling", "True", "ProgressingWithRetry", &message);
        Requeue::Retry
    }

    fn exhausted(&self, action: &str) -> bool {
        let retries = self.hr.number(&format!("/spec/{action}/remediation/retries")).unwrap_or(0);
        let counter = self.hr.number(&format!("/status/{action}Failures")).unwrap_or(0);
        retries >= 0 && counter > retries
    }

    /// The run ends, and the next one goes on (`F-111` c, f).
    fn again_at_once(&mut self) -> Requeue {
        let ready = self.hr.condition_entry("Ready").and_then(|c| c.get("message")?.as_str()).unwrap_or_default();
        let message = ready.to_owned();
        self.hr.mark("Reconciling", "True", "ProgressingWithRetry", &message);
        Requeue::Immediate
    }

    /// The next action is of a kind that this run has done (`F-111` c).
    fn again(&mut self, last: &str, retry: bool) -> Requeue {
        if retry {
            return self.retry_later();
        }
        if last.is_empty() || !self.exhausted(last) {
            return self.again_at_once();
        }
        self.hr.unmark(&["Reconciling"]);
        Requeue::Interval
    }

    /// A remediation is through (`F-111` f, `F-301`).
    fn remediated(&mut self, last: &str, retry: bool) -> Requeue {
        if retry {
            return self.retry_later();
        }
        let reinstalls = last == "upgrade"
            && remediates_by_uninstall(&self.hr, last)
            && self.settings.controller >= ControllerVersion(1, 5, 0);
        if last.is_empty() || !self.exhausted(last) || reinstalls {
            return self.again_at_once();
        }
        let count = self.hr.number(&format!("/status/{last}Failures")).unwrap_or(0);
        self.stall("RetriesExceeded", &format!("Failed to {last} after {count} attempt(s)"))
    }

    fn truncate(&mut self, retry: bool) {
        let mut history = self.hr.history();
        let keep = kept(&history, ignores_tests(&self.hr), retry);
        if keep < history.len() {
            history.truncate(keep);
            self.hr.set_history(history);
        }
    }

    /// The condition Released after an action or a repair (`F-106`, `F-113`).
    fn released(&mut self, ok: bool, action: &str, error: Option<&str>) {
        let reason = match (ok, action) {
            (true, "install") => "InstallSucceeded",
            (true, _) => "UpgradeSucceeded",
            (false, "install") => "InstallFailed",
            (false, _) => "UpgradeFailed",
        };
        let message = match (ok, self.hr.history().first()) {
            (true, Some(current)) => format!("Helm {action} succeeded for release {}", full_name(current)),
            _ => {
                let release = format!("{}/{}", self.hr.release_namespace(), self.hr.release_name());
                let chart = format!("{}@{}", self.chart.0, self.chart.1);
                format!("Helm {action} failed for release {release} with chart {chart}: {}", error.unwrap_or_default())
            }
        };
        self.hr.mark("Released", if ok { "True" } else { "False" }, reason, &message);
    }

    /// Runs an action; `Err` if it failed without storing anything.
    fn act(&mut self, action: &Action, prepared: &Prepared, stored: &[StoredRelease]) -> Result<(), ()> {
        match action {
            Action::Install => self.release(action, "install", prepared, stored),
            Action::Upgrade => self.release(action, "upgrade", prepared, stored),
            Action::Unlock => {
                if let Some(newest) = stored.first() {
                    let why = format!("Release unlocked from stale '{}' state", newest.status);
                    storage::mark(self.cluster, &self.hr, newest, "failed", Some(&why));
                    self.hr.mark("Released", "False", "PendingRelease", &why);
                    self.event(true, "PendingRelease");
                    self.hr.summarize(self.settings);
                    self.rewrite(newest.version, "");
                    self.note(action, Some(newest.version), None);
                }
                Ok(())
            }
            Action::Test => {
                self.test(stored);
                Ok(())
            }
            Action::Rollback { to } => self.rollback(*to, stored),
            Action::Uninstall => {
                self.uninstall(stored);
                Ok(())
            }
            Action::CorrectDrift => {
                if let Some(newest) = stored.first() {
                    let result = self.helm.restore(self.cluster, &self.hr, newest);
                    match result.is_ok() {
                        true => self.event(false, "DriftCorrected"),
                        false => self.event(true, "DriftCorrectionFailed"),
                    }
                    self.note(action, None, result.err());
                }
                Ok(())
            }
            Action::None | Action::RetriesExceeded | Action::MissingRollbackTarget => Err(()),
        }
    }

    /// Ready tells that an action runs (`F-111` d).
    fn progress(&mut self, action: &str) {
        let own = self.hr.text(&format!("/spec/{action}/timeout")).to_owned();
        let timeout = [own.as_str(), self.hr.text("/spec/timeout"), "5m"].into_iter().find(|t| !t.is_empty());
        let message = format!("Running '{action}' action with timeout of {}", spelled(timeout.unwrap_or_default()));
        self.hr.mark("Ready", "Unknown", "Progressing", &message);
        self.hr.mark("Reconciling", "True", "Progressing", &message);
    }

    fn note(&mut self, action: &Action, version: Option<i64>, error: Option<String>) {
        self.done.push(Done { action: action.clone(), version, error });
    }

    fn release(
        &mut self,
        action: &Action,
        name: &str,
        prepared: &Prepared,
        stored: &[StoredRelease],
    ) -> Result<(), ()> {
        let install = *action == Action::Install;
        let unmanaged = !install && self.first_is_unmanaged(stored);
        if install || unmanaged {
            self.hr.set_history(Vec::new());
        }
        self.hr.set("lastAttemptedReleaseAction", name);
        self.hr.unmark(&["TestSuccess", "Remediated"]);
        let version = stored.first().map_or(0, |r| r.version) + 1;
        let failure = if install { "InstallFailed" } else { "UpgradeFailed" };
        let success = if install { "InstallSucceeded" } else { "UpgradeSucceeded" };
        self.progress(name);
        let blocked = storage::refusal(install, &self.hr, stored, self.settings.controller)
            .or_else(|| storage::hidden(self.cluster, &self.hr, version).then(|| "release: already exists".to_owned()));
        let applied = match blocked {
            Some(error) => Applied::Refused(error),
            None => {
                let request = Request { hr: &self.hr, action, version, values: &prepared.values };
                self.helm.release(self.cluster, &request)
            }
        };
        match applied {
            Applied::Refused(error) => {
                self.hr.count("failures");
                self.released(false, name, Some(&error));
                self.event(true, failure);
                self.hr.summarize(self.settings);
                self.note(action, None, Some(error));
                Err(())
            }
            Applied::Stored { payload, failed } => {
                let payload = self.payload(payload, version, failed.as_deref(), name, prepared, stored);
                storage::add(self.cluster, &self.hr, &payload);
                self.observe(name, &prepared.chart.oci_digest, predecessor(stored));
                match failed.is_some() {
                    true => self.event(true, failure),
                    false => self.event(false, success),
                }
                match &failed {
                    Some(error) => {
                        self.hr.count("failures");
                        self.hr.count(&format!("{name}Failures"));
                        self.released(false, name, Some(error));
                    }
                    None => {
                        if retries_by_strategy(&self.hr, self.settings, name) {
                            self.hr.clear_failures();
                        }
                        self.released(true, name, None);
                        if self.hr.flag("/spec/test/enable") {
                            self.hr.mark("TestSuccess", "Unknown", "AwaitingTests", "awaiting test results");
                        }
                    }
                }
                self.hr.summarize(self.settings);
                self.note(action, Some(version), failed);
                Ok(())
            }
        }
    }

    /// Whether the pass that led here found the release unmanaged: its history goes before the upgrade (`F-109`).
    fn first_is_unmanaged(&self, stored: &[StoredRelease]) -> bool {
        let (Some(newest), history) = (stored.first(), self.hr.history()) else { return false };
        let Some(current) = history.first() else { return true };
        let legacy = current.text("apiVersion") != "v2" && self.settings.controller >= ControllerVersion(1, 5, 0);
        let oci = current.text("ociDigest");
        !legacy && !super::digest::release_matches(current.text("digest"), newest, oci, self.settings.controller)
    }

    fn payload(
        &self,
        parts: Json,
        version: i64,
        failed: Option<&str>,
        action: &str,
        prepared: &Prepared,
        stored: &[StoredRelease],
    ) -> Json {
        let complete = if action == "install" { "Install complete" } else { "Upgrade complete" };
        let mut config = prepared.values.clone();
        if action == "upgrade" && self.hr.flag("/spec/upgrade/preserveValues") {
            // F-29: the new values over those of the revision before.
            let mut merged = stored.first().and_then(|r| r.config().cloned()).unwrap_or_else(|| json!({}));
            lay_over(&mut merged, &config, 0);
            config = merged;
        }
        let empty = config.as_object().is_none_or(serde_json::Map::is_empty);
        let mut payload = json!({
            "name": self.hr.release_name(), "namespace": self.hr.release_namespace(), "version": version,
            "info": {
                "status": if failed.is_some() { "failed" } else { "deployed" },
                "description": failed.unwrap_or(complete),
            },
            "config": if empty { Json::Null } else { config },
            "chart": {"metadata": {"name": prepared.chart.name, "version": prepared.chart.version}},
            "manifest": "", "hooks": null,
        });
        if let (Some(into), Json::Object(parts)) = (payload.as_object_mut(), parts) {
            into.extend(parts);
        }
        payload
    }

    /// The history after an action: the newest revision in front, the one before rewritten (`F-159`).
    fn observe(&mut self, action: &str, oci: &str, predecessor: Option<i64>) {
        let all = storage::revisions(self.cluster, &self.hr);
        let Some(newest) = all.first() else { return };
        let mut history = self.hr.history();
        history.retain(|s| s.version != newest.version);
        if let Some(older) = history.iter_mut().find(|s| Some(s.version) == predecessor)
            && let Some(stored) = all.iter().find(|r| r.version == older.version)
        {
            *older = rewritten(older, stored, "", self.settings);
        }
        history.insert(0, snapshot_of(newest, action, oci, self.settings, true));
        self.hr.set_history(history);
    }

    /// Rewrites the entry of one revision, if the history has it.
    fn rewrite(&mut self, version: i64, action: &str) {
        let all = storage::revisions(self.cluster, &self.hr);
        let Some(stored) = all.iter().find(|r| r.version == version) else { return };
        let mut history: Vec<Entry> = self.hr.history();
        if let Some(entry) = history.iter_mut().find(|s| s.version == version) {
            *entry = rewritten(entry, stored, action, self.settings);
            self.hr.set_history(history);
        }
    }

    fn test(&mut self, stored: &[StoredRelease]) {
        let Some(newest) = stored.first() else { return };
        let results = self.helm.test(self.cluster, &self.hr, newest);
        let failed = results.iter().any(|(_, ok)| !ok);
        let hooks: serde_json::Map<String, Json> = results
            .into_iter()
            .map(|(name, ok)| (name, json!({"phase": if ok { "Succeeded" } else { "Failed" }})))
            .collect();
        let mut history = self.hr.history();
        if let Some(map) = history.first_mut().and_then(|s| s.json.as_object_mut()) {
            map.insert("testHooks".into(), Json::Object(hooks));
        }
        self.hr.set_history(history);
        if failed {
            let name = self.hr.history().first().map(full_name).unwrap_or_default();
            self.hr.mark("TestSuccess", "False", "TestFailed", &format!("Helm test failed for release {name}"));
            self.event(true, "TestFailed");
            self.hr.count("failures");
            let last = self.hr.text("/status/lastAttemptedReleaseAction").to_owned();
            if !ignores_tests(&self.hr) && !last.is_empty() {
                self.hr.count(&format!("{last}Failures"));
            }
        } else {
            let name = self.hr.history().first().map(full_name).unwrap_or_default();
            self.hr.mark("TestSuccess", "True", "TestSucceeded", &format!("Helm test succeeded for release {name}"));
            self.event(false, "TestSucceeded");
        }
        self.hr.summarize(self.settings);
        self.note(&Action::Test, None, failed.then(|| "a test failed".to_owned()));
    }

    fn rollback(&mut self, to: i64, stored: &[StoredRelease]) -> Result<(), ()> {
        let action = Action::Rollback { to };
        let Some(target) = stored.iter().find(|r| r.version == to) else { return Err(()) };
        let version = stored.first().map_or(0, |r| r.version) + 1;
        let result = self.helm.restore(self.cluster, &self.hr, target);
        let mut payload = (*target.json).clone();
        if let Some(map) = payload.as_object_mut() {
            map.insert("version".into(), version.into());
            let status = if result.is_ok() { "deployed" } else { "failed" };
            map.insert("info".into(), json!({"status": status, "description": format!("Rollback to {to}")}));
        }
        storage::add(self.cluster, &self.hr, &payload);
        self.observe_all("rollback");
        let (status, reason) = if result.is_ok() { ("True", "RollbackSucceeded") } else { ("False", "RollbackFailed") };
        if result.is_err() {
            self.hr.count("failures");
        }
        let target = self.hr.history().into_iter().find(|s| s.version == to).map(|s| full_name(&s)).unwrap_or_default();
        let result_word = if result.is_ok() { "succeeded" } else { "failed" };
        let message = format!("Helm rollback to previous release {target} {result_word}");
        self.hr.mark("Remediated", status, reason, &message);
        self.event(result.is_err(), reason);
        self.hr.summarize(self.settings);
        self.note(&action, Some(version), result.err());
        Ok(())
    }

    /// Like [`Self::observe`], with the action's name on every entry that is rewritten (`F-156`).
    fn observe_all(&mut self, action: &str) {
        let all = storage::revisions(self.cluster, &self.hr);
        let Some(newest) = all.first() else { return };
        let mut history = self.hr.history();
        history.retain(|s| s.version != newest.version);
        for entry in &mut history {
            let stored = all.iter().find(|r| r.version == entry.version);
            if let Some(stored) = stored.filter(|r| r.status != entry.text("status")) {
                *entry = rewritten(entry, stored, action, self.settings);
            }
        }
        let target = history.iter().find(|s| matches!(s.text("status"), "superseded" | "deployed"));
        let oci = target.map(|s| s.text("ociDigest").to_owned()).unwrap_or_default();
        history.insert(0, snapshot_of(newest, action, &oci, self.settings, false));
        self.hr.set_history(history);
    }

    /// An uninstall as remediation: Ready is not summarized (`F-113`).
    fn uninstall(&mut self, stored: &[StoredRelease]) {
        let keep = self.hr.flag("/spec/uninstall/keepHistory");
        if let Some(newest) = stored.first() {
            self.helm.remove(self.cluster, &self.hr, newest);
            let status = if keep { "uninstalled" } else { "uninstalling" };
            storage::mark(self.cluster, &self.hr, newest, status, Some("Uninstallation complete"));
            self.rewrite(newest.version, "uninstall-remediation");
        }
        if !keep {
            storage::delete(self.cluster, stored);
        }
        let name = self.hr.history().first().map(full_name).unwrap_or_default();
        let message = format!("Helm uninstall remediation for release {name} succeeded");
        self.hr.mark("Remediated", "True", "UninstallSucceeded", &message);
        self.event(false, "UninstallSucceeded");
        self.note(&Action::Uninstall, None, None);
    }

    /// Uninstalls a deleted HelmRelease's release; false if a hook or the API server refuses (`F-69`).
    fn uninstall_all(&mut self, stored: &[StoredRelease]) -> bool {
        let Some(newest) = stored.first() else { return true };
        if let Some(error) = self.helm.refuses_removal(&self.hr, newest) {
            storage::mark(
                self.cluster,
                &self.hr,
                newest,
                "uninstalling",
                Some("Deletion in progress (or silently failed)"),
            );
            self.rewrite(newest.version, "uninstall");
            let name = self.hr.history().first().map(full_name).unwrap_or_default();
            let message = format!("Helm uninstall failed for release {name}: {error}");
            self.hr.mark("Released", "False", "UninstallFailed", &message);
            self.hr.count("failures");
            self.event(true, "UninstallFailed");
            self.hr.summarize(self.settings);
            return false;
        }
        self.helm.remove(self.cluster, &self.hr, newest);
        self.event(false, "UninstallSucceeded");
        storage::delete(self.cluster, stored);
        true
    }
}

/// The revision that an upgrade replaces, and writes too: the newest deployed one, else the newest (`F-159`, `F-172`).
fn predecessor(stored: &[StoredRelease]) -> Option<i64> {
    stored.iter().find(|r| r.status == "deployed").or(stored.first()).map(|r| r.version)
}

/// A revision as messages name it.
fn versioned(entry: &Entry) -> String {
    format!("{}/{}.v{}", entry.text("namespace"), entry.text("name"), entry.version)
}

/// The same with its chart.
fn full_name(entry: &Entry) -> String {
    format!("{} with chart {}@{}", versioned(entry), entry.text("chartName"), entry.text("chartVersion"))
}

/// A duration as the controller prints it: `5m` is `5m0s`.
fn spelled(duration: &str) -> String {
    durations::parse(duration.as_bytes()).map_or_else(|_| duration.to_owned(), durations::text)
}

/// Lays maps over maps; anything else is replaced.
fn lay_over(into: &mut Json, new: &Json, depth: usize) {
    match (into, new) {
        (Json::Object(into), Json::Object(new)) if depth < crate::value::MAX_DEPTH => {
            for (key, value) in new {
                lay_over(into.entry(key.clone()).or_insert(Json::Null), value, depth + 1);
            }
        }
        (into, new) => *into = new.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(entries: &[(i64, &str)]) -> Vec<StoredRelease> {
        let mut cluster = Snapshot::default();
        let hr = HelmRelease::new(std::rc::Rc::new(json!({"metadata": {"name": "a", "namespace": "n"}})));
        for (version, status) in entries {
            let payload = json!({"name": "a", "namespace": "n", "version": version, "info": {"status": status}});
            storage::write(&mut cluster, &hr, &payload);
        }
        storage::revisions(&cluster, &hr)
    }

    #[test]
    fn f_159_an_upgrade_rewrites_the_revision_that_it_replaces() {
        for (entries, want) in [
            (vec![(1, "deployed")], Some(1)),
            (vec![(1, "deployed"), (2, "failed")], Some(1)),
            (vec![(1, "superseded"), (2, "failed"), (3, "failed")], Some(3)),
            (vec![], None),
        ] {
            assert_eq!(predecessor(&stored(&entries)), want, "{entries:?}");
        }
    }

    #[test]
    fn f_111_durations_are_told_in_full() {
        for (written, told) in [("5m", "5m0s"), ("20s", "20s"), ("1h", "1h0m0s"), ("90s", "1m30s"), ("odd", "odd")] {
            assert_eq!(spelled(written), told);
        }
    }
}
