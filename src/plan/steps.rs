//! What a person types, and what he waits for.

use super::effects::created_once;
use super::findings::Analysis;
use super::follows::follows;
use super::gather::{Moves, Subject};
use super::waves::Ordered;
use crate::report::contract::{Blocked, ObjectRef, Release, Step};

/// Forces one release in a wave.
pub fn step(subjects: &[Subject], ordered: &Ordered, releases: &[Release], i: usize, wave: usize, last: usize) -> Step {
    let subject = &subjects[i];
    let analysis = ordered.final_analysis(i);
    let token = token(wave, last);
    let expected = analysis.map(|a| a.expected.clone()).unwrap_or_default();
    let after = ordered.after.get(&i).into_iter().flatten().filter(|p| ordered.wave.contains_key(*p));
    let revision = subject.stored.first().map_or(0, |r| r.version);
    let mut gate = Vec::new();
    let mut commands = Vec::new();
    if subject.helm_release.is_some() {
        if subject.suspended() {
            commands.push(resume(subject));
        }
        commands.extend(keep(analysis));
        commands.push(stamp(subject, &token));
        gate.push(format!("status.lastHandledForceAt = {token}"));
        gate.push(format!("status.history[0].version = {}", revision + 1));
        gate.push("Ready is True at the current generation".to_owned());
    } else {
        commands.push(format!(
            "# not Flux-managed: helm -n {} upgrade {} CHART --reuse-values",
            subject.namespace, subject.helm_name
        ));
        gate.push(format!("revision {} is deployed", revision + 1));
    }
    for object in &expected.created {
        let fields = awaited_fields(releases, object);
        let with =
            if fields.is_empty() { String::new() } else { format!(" with a non-empty {}", fields.join(" and ")) };
        gate.push(format!("{object} exists{with}"));
    }
    gate.push(format!(
        "(lastHandledForceAt = {token} with the old revision means that the token was burnt: remove the cause, stamp a new one)"
    ));
    Step {
        release: subject.release.clone(),
        after: after.map(|p| subjects[*p].release.clone()).collect(),
        commands,
        gate,
        expected,
        then: analysis.map(|a| follows(subjects, subject, a)).unwrap_or_default(),
    }
}

/// Keeps what the upgrade would delete only because it exists.
fn keep(analysis: Option<&Analysis>) -> Vec<String> {
    let objects = analysis.map(|a| created_once(&a.findings)).unwrap_or_default();
    let command = |o: &ObjectRef| {
        let namespace = if o.namespace.is_empty() { String::new() } else { format!("-n {} ", o.namespace) };
        let kind = o.kind.to_lowercase();
        let kind = if o.group.is_empty() { kind } else { format!("{kind}.{}", o.group) };
        format!("kubectl {namespace}annotate {kind} {} helm.sh/resource-policy=keep", o.name)
    };
    objects.iter().map(command).collect()
}

/// Fields of an object that other releases read.
fn awaited_fields(releases: &[Release], object: &crate::report::contract::ObjectRef) -> Vec<String> {
    let keys = releases.iter().flat_map(|r| &r.keys).filter(|k| k.object == *object && k.exists == "predicted");
    let mut fields: Vec<String> = keys.flat_map(|k| k.fields.iter().cloned()).filter(|f| !f.is_empty()).collect();
    fields.sort();
    fields.dedup();
    fields
}

/// A release that needs a force but cannot be forced now.
pub fn blocked(subject: &Subject, last: usize) -> Blocked {
    let by = if let Moves::Blocked(by) = &subject.moves { by.clone() } else { String::new() };
    let token = token(last + 1, last + 1);
    let mut commands = Vec::new();
    if subject.suspended() {
        commands.push(resume(subject));
    }
    commands.push(stamp(subject, &token));
    Blocked { release: subject.release.clone(), by, commands }
}

/// `"$T"`, or `"$T2"` where there are several waves.
fn token(wave: usize, last: usize) -> String {
    if last <= 1 { "\"$T\"".to_owned() } else { format!("\"$T{wave}\"") }
}

fn stamp(subject: &Subject, token: &str) -> String {
    format!(
        "kubectl -n {} annotate helmrelease {} reconcile.fluxcd.io/forceAt={token} reconcile.fluxcd.io/requestedAt={token} --overwrite --field-manager=flux-client-side-apply",
        subject.release.namespace, subject.release.name
    )
}

fn resume(subject: &Subject) -> String {
    format!(
        "kubectl -n {} patch helmrelease {} --type=merge -p '{{\"spec\":{{\"suspend\":false}}}}'",
        subject.release.namespace, subject.release.name
    )
}
