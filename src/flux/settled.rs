//! Whether a release has settled: the conditions of `F-245` in their order, each on one read of its object.

use serde_json::Value as Json;

use super::decide::{Check, REQUESTED};
use super::digest::config_matches;
use super::helmchart;
use super::model::HelmRelease;
use super::settings::Settings;
use super::source::{ChartIdentity, Loads, chart_identity};
use super::traps;
use super::upstream::{self, SOURCES};
use super::values::{Composed, compose};
use crate::base::Known;
use crate::cluster::object::ObjectKey;
use crate::cluster::snapshot::Facts;

/// How a condition stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// It holds.
    Yes,
    /// Not yet; controllers are at it, or will be.
    Waits,
    /// No, and not without somebody's doing (`F-246`: fail fast).
    Blocked,
    /// The snapshot does not tell.
    Unknown,
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// Its rule.
    pub rule: &'static str,
    /// The object it is about.
    pub object: ObjectKey,
    /// What of it: `generation`, `request`, `artifact`, `ready`, …
    pub field: &'static str,
    /// How it stands.
    pub holds: Holds,
    /// What was compared, and with which result.
    pub text: String,
}

/// The answer for one object.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settled {
    /// All conditions, in order of dependence.
    pub conditions: Vec<Condition>,
    /// Why a watcher of `Ready=True` would stop too early here (`F-247` to `F-259`).
    pub traps: Vec<Check>,
    /// Revision of the upstream source.
    pub source_revision: String,
    /// The chart that the release has to be made of.
    pub chart: Option<ChartIdentity>,
}

impl Settled {
    /// The first condition that does not hold; one that cannot be known only if no other fails.
    pub fn first(&self) -> Option<&Condition> {
        let fails = |c: &&Condition| matches!(c.holds, Holds::Waits | Holds::Blocked);
        self.conditions.iter().find(fails).or_else(|| self.conditions.iter().find(|c| c.holds == Holds::Unknown))
    }

    /// Adds a condition.
    pub(super) fn add(
        &mut self,
        rule: &'static str,
        object: &ObjectKey,
        field: &'static str,
        holds: Holds,
        text: impl Into<String>,
    ) {
        self.conditions.push(Condition { rule, object: object.clone(), field, holds, text: text.into() });
    }

    /// Adds a condition that holds or is waited for.
    pub(super) fn wait(
        &mut self,
        rule: &'static str,
        object: &ObjectKey,
        field: &'static str,
        holds: bool,
        text: impl Into<String>,
    ) {
        self.add(rule, object, field, if holds { Holds::Yes } else { Holds::Waits }, text);
    }
}

/// Key of a HelmRelease.
pub fn release_key(hr: &HelmRelease) -> ObjectKey {
    ObjectKey {
        group: "helm.toolkit.fluxcd.io".into(),
        kind: "HelmRelease".into(),
        namespace: hr.namespace.clone(),
        name: hr.name.clone(),
    }
}

/// Whether a HelmRelease has been reconciled, at its present generation and at `revision` of its source if one is given
/// (`F-245`).
pub fn settled(hr: &HelmRelease, facts: &dyn Facts, settings: &Settings, revision: Option<&str>) -> Settled {
    let mut settled = Settled::default();
    let (kind, namespace, name) = hr.source();
    let own = ObjectKey { group: SOURCES.into(), kind, namespace, name };
    upstream::chain(&mut settled, &own, facts, revision);
    let loads = chart_identity(hr, facts, settings);
    Release { hr, facts, settings, own: &own, key: release_key(hr), out: &mut settled }.conditions(&loads);
    settled.chart = loads.chart();
    settled.traps = traps::traps(hr, facts, settings, &settled);
    settled
}

/// Whether a source, HelmChart or Kustomization has settled (`F-213`, `F-224`, `F-265`).
pub fn settled_object(key: &ObjectKey, facts: &dyn Facts, revision: Option<&str>) -> Settled {
    let mut settled = Settled::default();
    match key.kind.as_str() {
        "Kustomization" => upstream::kustomization(&mut settled, key, facts, revision),
        _ => upstream::chain(&mut settled, key, facts, revision),
    }
    settled
}

/// What `F-246` lets a watcher give up on.
pub(super) fn failure(hr: &HelmRelease) -> Option<String> {
    let current = |kind: &str| {
        hr.condition_entry(kind).filter(|c| {
            let seen = c.get("observedGeneration").and_then(Json::as_i64);
            seen.is_none_or(|seen| seen == hr.generation())
        })
    };
    let reason = |c: &Json| c.get("reason").and_then(Json::as_str).unwrap_or_default().to_owned();
    let is = |c: &Json, status: &str| c.get("status").and_then(Json::as_str) == Some(status);
    if let Some(stalled) = current("Stalled").filter(|c| is(c, "True")) {
        return Some(format!("stalled: {}", reason(stalled)));
    }
    let ready = current("Ready").filter(|c| is(c, "False"))?;
    let message = ready.get("message").and_then(Json::as_str).unwrap_or_default();
    let waits = match reason(ready).as_str() {
        "Progressing" | "DependencyNotReady" | "SourceNotReady" => true,
        "ArtifactFailed" => message.contains("artifact not found"),
        _ => false,
    };
    let again = match hr.condition("Reconciling") == Some("True") {
        true => "; the controller tries again (F-255)",
        false => "",
    };
    (!waits).then(|| format!("Ready is False: {}{again}", reason(ready)))
}

struct Release<'a> {
    hr: &'a HelmRelease,
    facts: &'a dyn Facts,
    settings: &'a Settings,
    own: &'a ObjectKey,
    key: ObjectKey,
    out: &'a mut Settled,
}

impl Release<'_> {
    fn conditions(&mut self, loads: &Loads) {
        self.generation();
        self.template();
        let expected = match loads {
            Loads::Chart(chart) => Some(chart),
            Loads::Refused(why) => {
                self.out.add("F-80", &self.key, "chart", Holds::Blocked, why.clone());
                None
            }
            Loads::Unknown => {
                let text = "the source does not tell which chart is loaded";
                self.out.add("F-245", &self.key, "chart", Holds::Unknown, text);
                None
            }
        };
        if let Some(expected) = expected {
            self.attempted(expected);
        }
        self.values();
        if let Some(why) = failure(self.hr) {
            self.out.add("F-246", &self.key, "ready", Holds::Blocked, why);
        }
        self.history(expected);
        self.ready();
    }

    /// `F-245` (3) and (4).
    fn generation(&mut self) {
        let (hr, key) = (self.hr, &self.key);
        if !hr.text("/metadata/deletionTimestamp").is_empty() {
            self.out.add("F-245", key, "deletion", Holds::Blocked, "it is being deleted");
        }
        if hr.flag("/spec/suspend") {
            let text = "suspended: generations and requests are acknowledged without work";
            self.out.add("F-253", key, "suspend", Holds::Blocked, text);
        }
        let generation = hr.generation();
        let observed = hr.number("/status/observedGeneration").unwrap_or(-1);
        let attempted = hr.number("/status/lastAttemptedGeneration").unwrap_or(-1);
        let requested = hr.annotation(REQUESTED);
        let handled = hr.text("/status/lastHandledReconcileAt");
        let answered = requested.is_none_or(|requested| requested == handled);
        let text = format!("observed {observed}, attempted {attempted}, generation {generation}");
        let current = observed == generation && attempted == generation;
        match failure(hr).filter(|_| !current && answered) {
            Some(why) => self.out.add("F-246", key, "generation", Holds::Blocked, format!("{text}; {why}")),
            None => self.out.wait("F-245", key, "generation", current, text),
        }
        if let Some(requested) = requested {
            let text = format!("handled {}, requested {requested}", if handled.is_empty() { "none" } else { handled });
            self.out.wait("F-245", key, "request", answered, text);
        }
    }

    /// What the template asks for is what the HelmChart says (`F-224`), under the right name (`F-245` 9).
    fn template(&mut self) {
        let Some(wanted) = helmchart::generated(self.hr) else { return };
        if let Known::Present(chart) = self.facts.get(&wanted) {
            let outdated = helmchart::outdated(self.hr, &chart);
            let text = if outdated { "its spec is not what the chart template asks for" } else { "as its template" };
            self.out.wait("F-224", &wanted, "spec", !outdated, text);
        }
        let name = format!("{}/{}", wanted.namespace, wanted.name);
        let has = self.hr.text("/status/helmChart");
        self.out.wait("F-245", &self.key, "helmChart", has == name, format!("HelmChart {has}, wanted {name}"));
    }

    /// `F-245` (5).
    fn attempted(&mut self, expected: &ChartIdentity) {
        if self.facts.get(self.own).present().is_none() {
            return;
        }
        let attempted = self.hr.text("/status/lastAttemptedRevision");
        let digest = self.hr.text("/status/lastAttemptedRevisionDigest");
        let same = attempted == expected.version && digest == expected.oci_digest;
        let text = match same {
            true => format!("attempted chart version {attempted}"),
            false => format!("release still on {attempted}, the source holds {}", expected.version),
        };
        self.out.wait("F-245", &self.key, "chart", same, text);
    }

    /// `F-245` (6).
    fn values(&mut self) {
        let (hr, key) = (self.hr, &self.key);
        match compose(hr, self.facts, self.settings.controller.helm()) {
            Composed::Values { json, .. } => {
                let same = config_matches(hr.text("/status/lastAttemptedConfigDigest"), &json);
                let text = match same {
                    true => "the values of now were attempted",
                    false => "the values composed now are not those that were attempted last",
                };
                self.out.wait("F-245", key, "values", same, text);
            }
            Composed::Missing { what } => {
                self.out.add("F-245", key, "values", Holds::Unknown, format!("{what} was not collected"));
            }
            Composed::Drawn { what } => self.out.add("F-44b", key, "values", Holds::Unknown, what),
            Composed::Error(why) => self.out.add("F-77", key, "values", Holds::Blocked, why),
        }
    }

    /// `F-245` (7).
    fn history(&mut self, expected: Option<&ChartIdentity>) {
        let (hr, key) = (self.hr, &self.key);
        let history = hr.history();
        let Some(current) = history.first() else {
            self.out.add("F-245", key, "history", Holds::Waits, "no revision yet");
            return;
        };
        let (status, version) = (current.text("status"), current.text("chartVersion"));
        let text = format!("v{} is {status}, of chart version {version}", current.version);
        let made = status == "deployed" && version == hr.text("/status/lastAttemptedRevision");
        self.out.wait("F-245", key, "history", made, text);
        // F-29: with kept values Helm stores others than those that are compared.
        let same = current.text("configDigest") == hr.text("/status/lastAttemptedConfigDigest");
        if !same && !hr.flag("/spec/upgrade/preserveValues") {
            let text = format!("v{} was made with other values than were attempted last", current.version);
            self.out.add("F-245", key, "history", Holds::Waits, text);
        }
        let artifact = expected.is_none_or(|expected| current.text("ociDigest") == expected.oci_digest);
        if !artifact && !self.settings.no_digest_tracking {
            let text = format!("v{} was made of another artifact", current.version);
            self.out.add("F-245", key, "history", Holds::Waits, text);
        }
    }

    /// `F-245` (8).
    fn ready(&mut self) {
        let (hr, key) = (self.hr, &self.key);
        let running = hr.condition("Reconciling") == Some("True");
        let stalled = hr.condition("Stalled") == Some("True");
        let ready = hr.condition("Ready").unwrap_or("absent");
        let at = hr.condition_entry("Ready").and_then(|c| c.get("observedGeneration")?.as_i64());
        let text = match (running, stalled) {
            (true, _) => "a run is under way (Reconciling is True)".to_owned(),
            (_, true) => "Stalled is True".to_owned(),
            _ => format!("Ready is {ready} at generation {}", at.map_or_else(|| "none".to_owned(), |g| g.to_string())),
        };
        let holds = ready == "True" && at == Some(hr.generation()) && !running && !stalled;
        self.out.wait("F-245", key, "ready", holds, text);
    }
}
