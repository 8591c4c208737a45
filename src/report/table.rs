//! The plan as a person reads it at three in the morning: what is wrong, what to type, what to wait for.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::base::diag::{Diagnostic, Severity};

use super::contract::{Class, Finding, Release, Report, Step};
use super::silent::{Silent, SilentState};

/// The whole report as text; `width` is the terminal's, in columns.
pub fn plan(report: &Report) -> String {
    let mut out = String::new();
    overview(&mut out, report);
    for release in report.releases.iter().filter(|r| !r.findings.is_empty() || !r.silent.is_empty()) {
        findings(&mut out, release);
    }
    steps(&mut out, report);
    for note in &report.assumptions {
        let _ = writeln!(out, "assumed: {note}");
    }
    diagnostics(&mut out, &report.diagnostics);
    out
}

/// Problems of the input, one a line.
pub(super) fn diagnostics(out: &mut String, problems: &[Diagnostic]) {
    for problem in problems {
        let severity = if problem.severity == Severity::Error { "error" } else { "warning" };
        let _ = writeln!(out, "{severity}: {problem}");
    }
}

fn overview(out: &mut String, report: &Report) {
    let rows: Vec<[String; 4]> = report
        .releases
        .iter()
        .map(|r| {
            let revision = r.revision.map_or_else(|| "-".to_owned(), |v| format!("v{v}"));
            [r.release.to_string(), revision, counts(r), r.verdict.to_string()]
        })
        .collect();
    let header = ["RELEASE", "REV", "FINDINGS", "VERDICT"].map(str::to_owned);
    let widths: Vec<usize> =
        (0..3).map(|i| rows.iter().chain([&header]).map(|row| row[i].chars().count()).max().unwrap_or(0)).collect();
    for row in [&header].into_iter().chain(&rows) {
        let _ = writeln!(
            out,
            "{:<a$}  {:<b$}  {:<c$}  {}",
            row[0],
            row[1],
            row[2],
            row[3],
            a = widths[0],
            b = widths[1],
            c = widths[2]
        );
    }
}

/// `9 SKIPPED, 1 HOLLOW, 1 TOKEN_BURNT`
fn counts(release: &Release) -> String {
    let mut classes: BTreeMap<Class, usize> = BTreeMap::new();
    for finding in &release.findings {
        *classes.entry(finding.class).or_default() += 1;
    }
    let mut states: BTreeMap<SilentState, usize> = BTreeMap::new();
    for silent in &release.silent {
        *states.entry(silent.state).or_default() += 1;
    }
    let classes = classes.iter().map(|(class, n)| format!("{n} {}", class.word()));
    let all: Vec<String> = classes.chain(states.iter().map(|(state, n)| format!("{n} {}", state.word()))).collect();
    if all.is_empty() { "-".to_owned() } else { all.join(", ") }
}

fn findings(out: &mut String, release: &Release) {
    let _ = writeln!(out, "\n{}: {}", release.release, release.verdict);
    // Findings of one class with one cause are said once.
    type Cause<'r> = (Class, Vec<String>, Option<&'r str>);
    let mut groups: BTreeMap<Cause<'_>, Vec<&Finding>> = BTreeMap::new();
    for finding in &release.findings {
        let mut causes: Vec<String> = finding.chains.iter().map(|c| fact(&c.key, &c.field)).collect();
        causes.dedup();
        groups.entry((finding.class, causes, finding.error.as_deref())).or_default().push(finding);
    }
    for ((class, causes, error), members) in groups {
        let because = if causes.is_empty() { String::new() } else { format!(" because of {}", causes.join(" and ")) };
        let _ = writeln!(out, "  {} {}{because}", members.len(), class.word());
        if let Some(error) = error {
            let _ = writeln!(out, "    {}", error.replace('\n', "\n    "));
        }
        for finding in members {
            if let Some(object) = &finding.object {
                let fields =
                    if finding.fields.is_empty() { String::new() } else { format!("  {}", finding.fields.join(", ")) };
                let _ = writeln!(out, "    {object}{fields}");
            }
        }
    }
    for key in &release.keys {
        let named =
            if key.named_by.is_empty() { String::new() } else { format!("named by {}, ", key.named_by.join(" and ")) };
        let _ = writeln!(
            out,
            "  {} ({named}{}, asked for {} time{}): {}",
            key.key,
            key.exists,
            key.evaluations,
            if key.evaluations == 1 { "" } else { "s" },
            super::explain::producer(&key.producer)
        );
    }
    for danger in &release.dangers {
        let users: Vec<String> = danger.consumers.iter().map(ToString::to_string).collect();
        let users = if users.is_empty() { String::new() } else { format!(" (used by {})", users.join(", ")) };
        let _ = writeln!(out, "  DANGEROUS: {} {}{users}", danger.kind, danger.object);
    }
    for line in release.silent.iter().flat_map(Silent::lines) {
        let _ = writeln!(out, "  {line}");
    }
    for latent in &release.latent {
        let error = latent.error.replace('\n', " ");
        let _ = writeln!(out, "  would fail if {} were {}: {error}", latent.key, latent.supposed);
    }
    for note in &release.notes {
        let _ = writeln!(out, "  note: {note}");
    }
}

/// `BucketClaim tenant-root/bucket .status.bucketName`
pub(super) fn fact(key: &str, field: &str) -> String {
    if field.is_empty() { key.to_owned() } else { format!("{key} {field}") }
}

fn steps(out: &mut String, report: &Report) {
    let plan = &report.plan;
    if plan.waves.is_empty() && plan.blocked.is_empty() {
        let _ = writeln!(out, "\nNothing to force.");
    }
    for wave in &plan.waves {
        let number = if plan.waves.len() > 1 { wave.number.to_string() } else { String::new() };
        let _ = writeln!(out, "\nWAVE {}   T{number}=$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)", wave.number);
        for step in &wave.steps {
            step_text(out, step);
        }
    }
    for blocked in &plan.blocked {
        let _ = writeln!(out, "\nBLOCKED {}: {}", blocked.release, blocked.by);
        for command in &blocked.commands {
            let _ = writeln!(out, "    {command}");
        }
    }
    if plan.waves.iter().any(|w| !w.steps.is_empty()) {
        let _ = writeln!(
            out,
            "\nForce one release at most every {} s; different releases need not wait for each other.",
            plan.throttle_seconds
        );
    }
}

fn step_text(out: &mut String, step: &Step) {
    let e = &step.expected;
    let _ = writeln!(
        out,
        "  {}: +{} created, {} changed, {} deleted, {} rotated",
        step.release,
        e.created.len(),
        e.changed.len(),
        e.deleted.len(),
        e.rotated.len()
    );
    for command in &step.commands {
        let _ = writeln!(out, "    {command}");
    }
    for follow in &step.then {
        let _ = writeln!(out, "    by itself then {} {}: {}", follow.does, follow.release, follow.because);
    }
    let _ = writeln!(out, "    go on when:");
    for line in &step.gate {
        let _ = writeln!(out, "      {line}");
    }
}
