//! How a run ends, and what it says of it: conditions, and when the controller looks again.

use super::super::model::Snapshot as Entry;
use super::super::settings::ControllerVersion;
use super::super::state::{ignores_tests, kept, remediates_by_uninstall};
use super::{Requeue, Run};
use crate::funcs::durations;

impl Run<'_> {
    /// No action is left (`F-106`, `F-111` b).
    pub(super) fn rest(&mut self, in_sync: bool) -> Requeue {
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
    pub(super) fn drifted(&mut self, what: &str) {
        self.event(true, "DriftDetected");
        if self.settings.controller >= ControllerVersion(1, 6, 0) {
            let release = self.hr.history().first().map(versioned).unwrap_or_default();
            let message = format!("Cluster state of release {release} has drifted from the desired state:\n{what}");
            self.hr.mark("Drifted", "True", "DriftDetected", &message);
        }
    }

    pub(super) fn stall(&mut self, reason: &str, message: &str) -> Requeue {
        self.hr.unmark(&["Reconciling"]);
        self.hr.mark("Stalled", "True", reason, message);
        Requeue::None
    }

    pub(super) fn retry_later(&mut self) -> Requeue {
        let last = self.hr.text("/status/lastAttemptedReleaseAction");
        let interval = self.hr.text(&format!("/spec/{last}/strategy/retryInterval"));
        let message = format!("retrying after {}", spelled(if interval.is_empty() { "5m" } else { interval }));
        self.hr.mark("Reconciling", "True", "ProgressingWithRetry", &message);
        Requeue::Retry
    }

    pub(super) fn exhausted(&self, action: &str) -> bool {
        let retries = self.hr.number(&format!("/spec/{action}/remediation/retries")).unwrap_or(0);
        let counter = self.hr.number(&format!("/status/{action}Failures")).unwrap_or(0);
        retries >= 0 && counter > retries
    }

    /// The run ends, and the next one goes on (`F-111` c, f).
    pub(super) fn again_at_once(&mut self) -> Requeue {
        let ready = self.hr.condition_entry("Ready").and_then(|c| c.get("message")?.as_str()).unwrap_or_default();
        let message = ready.to_owned();
        self.hr.mark("Reconciling", "True", "ProgressingWithRetry", &message);
        Requeue::Immediate
    }

    /// The next action is of a kind that this run has done (`F-111` c).
    pub(super) fn again(&mut self, last: &str, retry: bool) -> Requeue {
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
    pub(super) fn remediated(&mut self, last: &str, retry: bool) -> Requeue {
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

    pub(super) fn truncate(&mut self, retry: bool) {
        let mut history = self.hr.history();
        let keep = kept(&history, ignores_tests(&self.hr), retry);
        if keep < history.len() {
            history.truncate(keep);
            self.hr.set_history(history);
        }
    }

    /// The condition Released after an action or a repair (`F-106`, `F-113`).
    pub(super) fn released(&mut self, ok: bool, action: &str, error: Option<&str>) {
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
}

/// A revision as messages name it.
pub(super) fn versioned(entry: &Entry) -> String {
    format!("{}/{}.v{}", entry.text("namespace"), entry.text("name"), entry.version)
}

/// The same with its chart.
pub(super) fn full_name(entry: &Entry) -> String {
    format!("{} with chart {}@{}", versioned(entry), entry.text("chartName"), entry.text("chartVersion"))
}

/// A duration as the controller prints it: `5m` is `5m0s`.
pub(super) fn spelled(duration: &str) -> String {
    durations::parse(duration.as_bytes()).map_or_else(|_| duration.to_owned(), durations::text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f_111_durations_are_told_in_full() {
        for (written, told) in [("5m", "5m0s"), ("20s", "20s"), ("1h", "1h0m0s"), ("90s", "1m30s"), ("odd", "odd")] {
            assert_eq!(spelled(written), told);
        }
    }
}
