//! Answers about one release: whether it has settled, and why the controller does what it does. Version 1.
//!
//! Field names and meanings are an interface, as those of the report are.

use std::fmt::Write;

use serde::Serialize;

use super::contract::{Check, Decision, ObjectRef, ReleaseRef};
use super::silent::Silent;
use crate::base::diag::Diagnostic;

/// Name and version of [`Settled`].
pub const SETTLED_VERSION: &str = "reconcile-planner/settled/v1";

/// Name and version of [`Why`].
pub const WHY_VERSION: &str = "reconcile-planner/why/v1";

/// Which controller an answer is for, and what was assumed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Basis {
    /// Version of helm-controller.
    pub helm_controller: String,
    /// Version of the Helm inside it.
    pub helm: String,
    /// What was assumed because the snapshot does not say it.
    pub assumptions: Vec<String>,
    /// Problems of the input, by file and line.
    pub diagnostics: Vec<Diagnostic>,
}

/// The answer in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Answer {
    /// Every condition holds.
    Settled,
    /// Not yet; controllers are at it, or will be.
    Wait,
    /// Not, and not without somebody's doing: a watcher should give up.
    Blocked,
    /// The snapshot does not hold what the answer needs.
    Unknown,
}

impl Answer {
    /// The word, as it is printed.
    pub fn word(self) -> &'static str {
        match self {
            Answer::Settled => "SETTLED",
            Answer::Wait => "WAIT",
            Answer::Blocked => "BLOCKED",
            Answer::Unknown => "UNKNOWN",
        }
    }
}

/// One condition of `F-245`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Its rule.
    pub rule: String,
    /// The object it is about.
    pub object: ObjectRef,
    /// What of it: `generation`, `request`, `artifact`, `chart`, `values`, `history`, `ready`, …
    pub field: String,
    /// How it stands: [`Answer::Settled`] if it holds.
    pub answer: Answer,
    /// What was compared, and with which result.
    pub text: String,
}

/// Whether a release has settled.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Settled {
    /// [`SETTLED_VERSION`].
    pub contract: &'static str,
    /// The object that was asked about.
    pub object: ObjectRef,
    /// The answer: that of the first condition that does not hold.
    pub answer: Answer,
    /// `metadata.generation` of the object: the answer is for this one.
    pub generation: i64,
    /// Revision of the source above it that the answer is for.
    pub source_revision: Option<String>,
    /// Chart version that the release has to be made of.
    pub chart_version: Option<String>,
    /// Newest Helm revision in `status.history`.
    pub revision: Option<i64>,
    /// Helm revision that the next run makes, if it makes one.
    pub expected_revision: Option<i64>,
    /// The first condition that does not hold.
    pub first: Option<Condition>,
    /// All conditions, in order of dependence.
    pub conditions: Vec<Condition>,
    /// Why a watcher of `Ready=True` would stop too early here, by rule.
    pub traps: Vec<Check>,
    /// Remarks: objects that the next revision deletes, targets to wait for instead, cycles.
    pub notes: Vec<String>,
    /// Which controller the answer is for.
    pub basis: Basis,
}

/// The next run of the controller, and what becomes of a force.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Why {
    /// [`WHY_VERSION`].
    pub contract: &'static str,
    /// The release.
    pub release: ReleaseRef,
    /// The next run, as things stand.
    pub next: Run,
    /// The next run, if both annotations were stamped now with a fresh token.
    pub stamped: Option<Stamped>,
    /// Inputs that the decision does not rest on, by rule.
    pub not_looked_at: Vec<Check>,
    /// What the snapshot gives away and no condition tells.
    pub silent: Vec<Silent>,
    /// Which controller the answer is for.
    pub basis: Basis,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// State, action and the checks that led there.
    pub decision: Decision,
    /// What it writes to the status besides conditions, by rule.
    pub writes: Vec<Check>,
    /// When the controller looks again without a trigger: `interval`, `dependency-interval`, `retry-interval`,
    /// `immediate`, `backoff`, `none`; nothing if the result of the action decides.
    pub requeue: Option<&'static str>,
}

/// A run that sees a fresh force token.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Stamped {
    /// `honoured`, `spent` (consumed without effect), `burnt` (lost) or `unknown`.
    pub token: &'static str,
    /// Why.
    pub because: Check,
    /// The run.
    pub run: Run,
}

impl Settled {
    /// The answer as JSON: the same bytes on every platform.
    pub fn to_json(&self) -> String {
        json(self)
    }

    /// The answer in words.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let _ = match &self.first {
            None => writeln!(out, "{}  {}", self.answer.word(), self.object),
            Some(c) => writeln!(out, "{}({} {})  {}: {}", self.answer.word(), c.object, c.field, self.object, c.text),
        };
        if let (Some(expected), Some(now)) = (self.expected_revision, self.revision) {
            let _ = writeln!(out, "expect revision {expected}; it is at {now}");
        }
        for condition in &self.conditions {
            let mark = if condition.answer == Answer::Settled { "ok" } else { condition.answer.word() };
            let Condition { rule, object, field, text, .. } = condition;
            let _ = writeln!(out, "  {mark:<8}{rule:<7}{object} {field}: {text}");
        }
        for trap in &self.traps {
            let _ = writeln!(out, "  trap    {:<7}{}", trap.rule, trap.text);
        }
        for note in &self.notes {
            let _ = writeln!(out, "note: {note}");
        }
        basis(&mut out, &self.basis);
        out
    }
}

impl Why {
    /// The answer as JSON: the same bytes on every platform.
    pub fn to_json(&self) -> String {
        json(self)
    }

    /// The answer in words.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "{}: the next run", self.release);
        run(&mut out, &self.next);
        if let Some(stamped) = &self.stamped {
            let _ = writeln!(out, "stamped now, both annotations with a fresh token: {}", stamped.token);
            let _ = writeln!(out, "  {:<7}{}", stamped.because.rule, stamped.because.text);
            run(&mut out, &stamped.run);
        }
        let _ = writeln!(out, "not looked at:");
        checks(&mut out, &self.not_looked_at);
        for line in self.silent.iter().flat_map(Silent::lines) {
            let _ = writeln!(out, "{line}");
        }
        basis(&mut out, &self.basis);
        out
    }
}

fn run(out: &mut String, run: &Run) {
    checks(out, &run.decision.trace);
    let Decision { state, reason, action, .. } = &run.decision;
    let because = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
    let _ = writeln!(out, "  state {state}{because}, action: {action}");
    if let Some(requeue) = run.requeue {
        let _ = writeln!(out, "  looks again: {requeue}");
    }
    if !run.writes.is_empty() {
        let _ = writeln!(out, "  writes:");
        for check in &run.writes {
            let _ = writeln!(out, "    {:<7}{}", check.rule, check.text);
        }
    }
}

fn checks(out: &mut String, checks: &[Check]) {
    for check in checks {
        let _ = writeln!(out, "  {:<7}{}", check.rule, check.text);
    }
}

fn basis(out: &mut String, basis: &Basis) {
    let _ = writeln!(out, "helm-controller {}, Helm {}", basis.helm_controller, basis.helm);
    for note in &basis.assumptions {
        let _ = writeln!(out, "assumed: {note}");
    }
    super::table::diagnostics(out, &basis.diagnostics);
}

fn json(answer: &impl Serialize) -> String {
    serde_json::to_string_pretty(answer).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}
