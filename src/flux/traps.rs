//! Ways in which a watcher of `Ready=True` stops too early, each by name (`F-247` to `F-259`).

use serde_json::Value as Json;

use super::decide::{Check, REQUESTED, Trace};
use super::helmchart;
use super::model::HelmRelease;
use super::settings::Settings;
use super::settled::{Holds, Settled, release_key, settled};
use super::upstream::{SOURCES, source_of};
use crate::cluster::object::{Object, ObjectKey};
use crate::cluster::snapshot::Facts;

/// The traps that are set here.
pub(super) fn traps(hr: &HelmRelease, facts: &dyn Facts, settings: &Settings, settled: &Settled) -> Vec<Check> {
    let mut trace = Trace::default();
    let traps = Traps { hr, facts, settled };
    if hr.condition("Ready") == Some("True") {
        traps.of_sources(&mut trace);
        traps.of_release(&mut trace);
    }
    if traps.observed() && hr.condition("Ready") == Some("False") && hr.condition("Reconciling") == Some("True") {
        trace.check("F-255", "observedGeneration has caught up, but the release failed and is tried again");
    }
    traps.same_version(&mut trace);
    traps.dependencies(settings, &mut trace);
    trace.0
}

struct Traps<'a> {
    hr: &'a HelmRelease,
    facts: &'a dyn Facts,
    settled: &'a Settled,
}

impl Traps<'_> {
    fn observed(&self) -> bool {
        self.hr.observed_generation() == self.hr.generation()
    }

    fn attempted(&self) -> bool {
        self.hr.number("/status/lastAttemptedGeneration") == Some(self.hr.generation())
    }

    /// Whether a condition on such an object fails.
    fn fails(&self, about: impl Fn(&ObjectKey) -> bool, field: &str) -> bool {
        let fails = |holds| matches!(holds, Holds::Waits | Holds::Blocked);
        self.settled
            .conditions
            .iter()
            .any(|c| about(&c.object) && (field.is_empty() || c.field == field) && fails(c.holds))
    }

    /// Whether the HelmChart is not what the template asks for, or cannot be.
    fn unwritten(&self) -> bool {
        helmchart::generated(self.hr).is_some()
            && (!helmchart::nameable(self.hr) || self.fails(|key| key.kind == "HelmChart", "spec"))
    }

    fn of_sources(&self, trace: &mut Trace) {
        let upstream = |key: &ObjectKey| key.group == SOURCES && key.kind != "HelmChart";
        let chart = |key: &ObjectKey| key.kind == "HelmChart";
        if self.fails(upstream, "suspend") || self.fails(chart, "suspend") {
            trace.check("F-253", "a source is suspended: it acknowledges requests and generations without a fetch");
        } else if self.fails(upstream, "") {
            trace.check("F-248", "Ready tells of the revision before: the source itself has not settled");
        }
        if ["source", "version", "artifact", "ready", "generation"].iter().any(|field| self.fails(chart, field)) {
            trace.check("F-250", "Ready tells of the chart before: the HelmChart is not packaged yet");
        }
    }

    fn of_release(&self, trace: &mut Trace) {
        let hr = self.hr;
        let own = release_key(hr);
        let at = hr.condition_entry("Ready").and_then(|c| c.get("observedGeneration")?.as_i64());
        let requested = hr.annotation(REQUESTED);
        let answered = requested.is_none_or(|requested| requested == hr.text("/status/lastHandledReconcileAt"));
        if hr.flag("/spec/suspend") || (self.observed() && !self.attempted()) {
            trace.check("F-253", "generation and request were acknowledged without work; Ready is an old one");
        } else if at == Some(hr.generation()) && !(self.observed() && self.attempted()) {
            trace.check("F-247", "Ready carries the generation although it was never processed");
        }
        if !self.observed() || !answered {
            trace.check("F-251", "the run has not started: Ready is still True from before");
        }
        if hr.condition("Reconciling") == Some("True") {
            trace.check("F-252", "a run is under way, and Ready stays True while it checks");
        } else if !self.observed() && answered && self.unwritten() {
            let text =
                "no sign of a run: if there was one, its HelmChart could not be written, which no condition tells";
            trace.check("F-254", text);
        }
        let lags = self.fails(|key| *key == own, "chart");
        if lags && self.observed() && self.attempted() {
            trace.check("F-249", "Ready at this generation, but with an older chart than the source holds");
        }
        let current = hr.history().into_iter().next();
        let attempted = hr.text("/status/lastAttemptedRevision");
        if current.is_some_and(|current| current.text("chartVersion") != attempted) {
            trace.check("F-256", "the newest revision is not of the chart version that was attempted last");
        }
        if self.observed() && self.fails(|key| *key == own, "values") {
            trace.check("F-259", "Ready for the values of before: an object they come from has changed");
        }
    }

    /// New content under an equal chart version is not released (`F-257`).
    fn same_version(&self, trace: &mut Trace) {
        let (kind, namespace, name) = self.hr.source();
        if kind != "HelmChart" || self.fails(|_| true, "") {
            return;
        }
        let key = ObjectKey { group: SOURCES.into(), kind, namespace, name };
        let Some(chart) = self.facts.get(&key).present() else { return };
        let time = |object: &Object| object.text("/status/artifact/lastUpdateTime").to_owned();
        let Some(source) = self.facts.get(&source_of(&chart)).present() else { return };
        let packs = matches!(source.key.kind.as_str(), "GitRepository" | "Bucket");
        if packs && chart.text("/spec/reconcileStrategy") != "Revision" && time(&chart) < time(&source) {
            let text = "the source is newer than the chart: its version is the same, so its content is not released";
            trace.check("F-257", text);
        }
        let history = self.hr.history();
        let deployed = history.first().and_then(|s| s.json.get("lastDeployed").and_then(Json::as_str));
        if deployed.is_some_and(|deployed| deployed < time(&chart).as_str()) {
            trace.check("F-257", "the chart was packaged again under the same version after the release was made");
        }
    }

    /// Dependencies count as ready for their own old revisions (`F-258`).
    fn dependencies(&self, settings: &Settings, trace: &mut Trace) {
        for dependency in self.hr.depends_on() {
            let own = release_key(self.hr);
            let key = ObjectKey { namespace: dependency.namespace, name: dependency.name, ..own.clone() };
            let Some(object) = self.facts.get(&key).present().filter(|_| key != own) else { continue };
            let mut other = HelmRelease::new(object.json.clone());
            if other.condition("Ready") != Some("True") {
                continue;
            }
            // Not its own dependencies: members of a cycle would ask each other for ever.
            if let Some(json) = std::rc::Rc::make_mut(&mut other.json).get_mut("spec").and_then(Json::as_object_mut) {
                json.remove("dependsOn");
            }
            let answer = settled(&other, self.facts, settings, None);
            if let Some(first) = answer.first().filter(|c| c.holds != Holds::Unknown) {
                let text = format!("dependency {} counts as ready, but has not settled: {}", key, first.text);
                trace.check("F-258", text);
            }
        }
    }
}
