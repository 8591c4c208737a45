//! Signs of states that a snapshot gives away and no condition tells its owner, each with its rule.
//!
//! Everything that the simulator judges is asked of the simulator: composed values, the trace of the next run, readiness.
//! What a past run left behind is read off the status.

use super::decide::{Check, Decision, Exit, FORCED, Outcome, REQUESTED, RESET};
use super::digest::{config_digest, config_matches, in_doubles};
use super::helmchart;
use super::model::{HelmRelease, Snapshot};
use super::postrender::parse_manifest;
use super::preserve::{predecessor, preserved};
use super::settings::Settings;
use super::values::Composed;
use crate::base::Known;
use crate::cluster::object::{Object, ObjectKey};
use crate::cluster::snapshot::Facts;
use crate::cluster::storage::StoredRelease;
use crate::codec::json::go_compact;
use crate::funcs::{dates, durations};
use serde_json::Value as Json;

/// A sign of a silent state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sign {
    /// The rule that makes the state, with what shows it here.
    pub check: Check,
    /// Objects concerned besides the HelmRelease.
    pub objects: Vec<ObjectKey>,
}

/// The signs that a HelmRelease and what it refers to show, with its next run and the values that it composes.
pub fn signs(
    hr: &HelmRelease,
    facts: &dyn Facts,
    stored: &[StoredRelease],
    settings: &Settings,
    (decision, composed): (&Decision, &Composed),
) -> Vec<Sign> {
    if !hr.text("/metadata/deletionTimestamp").is_empty() {
        return Vec::new();
    }
    let mut found = Signs { hr, found: Vec::new() };
    found.chart(decision);
    found.values(composed, stored, settings);
    found.target(facts, stored, decision);
    found.past();
    found.tokens();
    found.drifted();
    found.found
}

/// How far clocks of people and of the cluster may be apart, in nanoseconds.
const SKEW: i128 = 60_000_000_000;

/// A time of a status or of a token, in nanoseconds.
fn time(text: &str) -> Option<i128> {
    dates::parse(b"2006-01-02T15:04:05.999999999Z07:00", text.as_bytes()).ok().map(|time| time.total_nanos())
}

struct Signs<'a> {
    hr: &'a HelmRelease,
    found: Vec<Sign>,
}

impl Signs<'_> {
    fn say(&mut self, rule: &'static str, text: impl Into<String>) {
        self.say_of(rule, text, Vec::new());
    }

    fn say_of(&mut self, rule: &'static str, text: impl Into<String>, objects: Vec<ObjectKey>) {
        self.found.push(Sign { check: Check { rule, text: text.into() }, objects });
    }

    /// A HelmChart that is never written, or that has lost its version (`F-73`, `F-225`).
    fn chart(&mut self, decision: &Decision) {
        let told = decision.trace.iter().find(|check| matches!(check.rule, "F-73" | "F-225"));
        if let Some(check) = told {
            self.say(check.rule, check.text.clone());
        } else if helmchart::generated(self.hr).is_some() && !helmchart::nameable(self.hr) {
            self.say("F-73", helmchart::UNNAMEABLE);
        }
    }

    /// Values that are not what they seem, or that make every run an upgrade (`F-29`, `F-40`, `F-44b`, `F-53`, `F-143`).
    fn values(&mut self, composed: &Composed, stored: &[StoredRelease], settings: &Settings) {
        let values = match composed {
            Composed::Values { json, notes } => {
                for note in notes {
                    self.say(note.rule, note.text.clone());
                }
                json
            }
            Composed::Drawn { what } => {
                self.say("F-44b", what.clone());
                return;
            }
            Composed::Missing { .. } | Composed::Error(_) => return,
        };
        if self.hr.flag("/spec/suspend") {
            return;
        }
        let mut inexact = Vec::new();
        inexact_numbers(values, &mut String::new(), &mut inexact);
        if !inexact.is_empty() {
            let text = format!("{}: an integer that no double holds, written at a targetPath", inexact.join(", "));
            self.say("F-143", text);
        }
        let current = predecessor(stored).and_then(|version| stored.iter().find(|r| r.version == version));
        let Some(current) = current else { return };
        let kept = preserved(self.hr, values, current);
        if !config_matches(&config_digest(&kept, settings.digest), values) {
            let text = format!(
                "spec.upgrade.preserveValues keeps what revision {} has and the values of now lack, so that what is \
                 stored never equals what is compared",
                current.version
            );
            self.say("F-29", text);
        }
    }

    /// What the uninstall before a change of the target namespace leaves behind, and whom it hits (`F-89`).
    fn target(&mut self, facts: &dyn Facts, stored: &[StoredRelease], decision: &Decision) {
        let history = self.hr.history();
        let (Some(current), Some(newest)) = (history.first(), stored.first()) else { return };
        let (old, new) = (current.text("namespace"), self.hr.release_namespace());
        if !matches!(decision.outcome, Outcome::Exited(Exit::TargetChanged(_))) || old == new {
            return;
        }
        let Ok(documents) = parse_manifest(newest.manifest()) else { return };
        let objects = documents.iter().filter_map(|d| Object::new(d.object.clone(), Default::default()));
        let adrift: Vec<ObjectKey> = objects
            .filter(|o| o.key.namespace.is_empty() && !kept(&o.json))
            .filter(|o| facts.discovery().namespaced(&o.key.group, &o.key.kind) != Some(false))
            .map(|o| o.key)
            .collect();
        let there = |namespace: &str| -> Vec<ObjectKey> {
            let moved = adrift.iter().map(|key| ObjectKey { namespace: namespace.to_owned(), ..key.clone() });
            moved.filter(|key| matches!(facts.get(key), Known::Present(_))).collect()
        };
        let (left, hit) = (there(old), there(&new));
        if !left.is_empty() {
            self.say_of("F-89", format!("the uninstall looks in {new}: these stay behind in {old}"), left);
        }
        if !hit.is_empty() {
            self.say_of("F-89", format!("the uninstall looks in {new} and deletes these, whoever owns them"), hit);
        }
    }

    /// Whether an upgrade was attempted after this revision was made, left none of its own, and is over: what shows is
    /// `Ready=True` for the old one (`F-116`, `F-37`).
    fn in_vain(&self, current: &Snapshot) -> bool {
        let hr = self.hr;
        let count = hr.number("/status/failures").unwrap_or(0);
        let quiet = hr.condition("Ready") == Some("True") && hr.condition("Reconciling") != Some("True");
        if !quiet || count == 0 || current.text("status") != "deployed" {
            return false;
        }
        match (hr.text("/status/lastAttemptedReleaseAction"), current.text("action")) {
            // Rolled back, and in sync all the same: it was no other chart and no other values.
            ("upgrade", "install" | "rollback") => true,
            ("upgrade", _) => {
                let (Some(made), Some(released)) = (time(current.text("lastDeployed")), self.since("Released")) else {
                    return false;
                };
                let forced = time(hr.text("/status/lastHandledForceAt"));
                forced.is_some_and(|at| made + SKEW < at && at <= released) || made + self.timeout() + SKEW < released
            }
            _ => false,
        }
    }

    fn since(&self, kind: &str) -> Option<i128> {
        time(self.hr.condition_entry(kind)?.get("lastTransitionTime")?.as_str()?)
    }

    /// How long an upgrade may take, in nanoseconds (`F-21`).
    fn timeout(&self) -> i128 {
        durations::parse(self.hr.timeout("upgrade").as_bytes()).map_or(i128::MAX / 4, i128::from)
    }

    /// Upgrades that failed without a trace: forced ones, and those for other post-renderers or metadata (F5, `F-148a`).
    fn past(&mut self) {
        let history = self.hr.history();
        let Some(current) = history.first().filter(|current| self.in_vain(current)) else { return };
        let token = self.hr.text("/status/lastHandledForceAt").to_owned();
        let rolled_back = current.text("action") == "rollback";
        let old = current.version;
        let made = time(current.text("lastDeployed"));
        let before = time(&token).zip(made).is_some_and(|(at, made)| at <= made && !rolled_back);
        if token.is_empty() || before {
            let what = "an upgrade for other post-renderers or common metadata failed and is not repeated";
            self.say("F-148a", format!("{what}: revision {old} is without them"));
        } else if rolled_back {
            self.say(
                "F5",
                format!("the force {token} failed and was rolled back: revision {old} is a copy of an older one"),
            );
        } else {
            self.say(
                "F5",
                format!("the force {token} failed before it wrote a revision: Ready tells of revision {old}"),
            );
        }
    }

    /// Tokens that are handled and came to nothing (`F-60`, `F-62`).
    fn tokens(&mut self) {
        for (annotation, handled) in [(FORCED, "lastHandledForceAt"), (RESET, "lastHandledResetAt")] {
            let hr = self.hr;
            let Some(token) = hr.annotation(annotation) else { continue };
            let seen = hr.annotation(REQUESTED) == Some(token) && hr.text("/status/lastHandledReconcileAt") == token;
            if !seen {
                continue;
            }
            if hr.text(&format!("/status/{handled}")) != token {
                let text = format!("{annotation} {token}: the request is handled, and no run has looked at this token");
                self.say("F-60", text);
            } else if annotation == FORCED && self.without_effect(token) {
                let token = token.to_owned();
                match hr.condition("Drifted") == Some("True") && self.compares() {
                    true => self.say("F-62", format!("{annotation} {token}: spent on a release that had drifted")),
                    false => self.say("F-60", format!("{annotation} {token}: handled, and no revision is newer")),
                }
            }
        }
    }

    /// Whether nothing was upgraded since a token that is a time.
    fn without_effect(&self, token: &str) -> bool {
        let history = self.hr.history();
        let Some(current) = history.first() else { return false };
        let over = self.hr.condition("Ready") == Some("True") && self.hr.condition("Reconciling") != Some("True");
        let (Some(at), Some(made)) = (time(token), time(current.text("lastDeployed"))) else { return false };
        let untouched = self.since("Released").is_some_and(|released| released < at);
        over && untouched && made + SKEW < at && !self.in_vain(current)
    }

    /// Whether drift detection is on.
    fn compares(&self) -> bool {
        matches!(self.hr.text("/spec/driftDetection/mode"), "enabled" | "warn")
    }

    /// `Drifted=True` that nobody takes back (`F-106`).
    fn drifted(&mut self) {
        if self.hr.condition("Drifted") == Some("True") && !self.compares() {
            let since = self.hr.condition_entry("Drifted").and_then(|c| c.get("lastTransitionTime")?.as_str());
            let since = since.map_or_else(String::new, |since| format!(" since {since}"));
            self.say("F-106", format!("Drifted=True{since}, and drift detection is off"));
        }
    }
}

/// Whether an uninstall leaves a stored object alone.
fn kept(object: &Json) -> bool {
    let annotation = object.pointer("/metadata/annotations").and_then(|a| a.get("helm.sh/resource-policy")?.as_str());
    annotation.is_some_and(|policy| policy.trim().eq_ignore_ascii_case("keep"))
}

/// Places of numbers that come out of storage otherwise than they went in (`F-143`).
fn inexact_numbers(values: &Json, path: &mut String, found: &mut Vec<String>) {
    let length = path.len();
    let mut below = |step: String, value: &Json| {
        path.push_str(&step);
        inexact_numbers(value, path, found);
        path.truncate(length);
    };
    match values {
        Json::Number(_) if go_compact(values) != go_compact(&in_doubles(values.clone())) => {
            found.push(path.trim_start_matches('.').to_owned());
        }
        Json::Array(list) => list.iter().enumerate().for_each(|(i, item)| below(format!("[{i}]"), item)),
        Json::Object(map) => map.iter().for_each(|(key, value)| below(format!(".{key}"), value)),
        _ => {}
    }
}
