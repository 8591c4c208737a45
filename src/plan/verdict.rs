//! The answer for one release, from what Flux will do, what its render hides, and where it stands in the order.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::findings::Analysis;
use super::gather::{Moves, Subject};
use super::render::Doc;
use crate::report::contract::{Class, Finding, ReleaseRef, Verdict};

/// What the verdict is made from.
pub struct Case<'a> {
    /// The release.
    pub subject: &'a Subject,
    /// Its analysis in the state in which it would be forced; none if it could not be rendered.
    pub analysis: Option<&'a Analysis>,
    /// Its findings as reported.
    pub findings: &'a [Finding],
    /// Its wave, if it is in the plan.
    pub wave: Option<usize>,
    /// Releases to be forced before it.
    pub after: Vec<ReleaseRef>,
    /// The circle it is in.
    pub cycle: Option<Vec<String>>,
    /// The circle of a first install that fails for want of what only it would make.
    pub own: Option<Vec<String>>,
}

/// Sums a release up. The second part are remarks that a single word cannot carry.
pub fn verdict(case: &Case<'_>) -> (Verdict, Vec<String>) {
    let mut notes = Vec::new();
    let of = |class: Class| case.findings.iter().filter(move |f| f.class == class);
    if case.subject.helm_release.is_none() {
        return (Verdict::NotFluxManaged, notes);
    }
    if let Some(cycle) = &case.cycle {
        return (Verdict::Deadlock { cycle: cycle.clone() }, notes);
    }
    let Some(analysis) = case.analysis else {
        return (without_render(case.subject), notes);
    };
    if let Some(cycle) = own_kind(case, analysis) {
        return (Verdict::Deadlock { cycle }, notes);
    }
    if let Some(cycle) = &case.own {
        return (Verdict::Deadlock { cycle: cycle.clone() }, notes);
    }
    if let Some(error) = failure(case.findings) {
        return (
            match &case.subject.moves {
                Moves::ByItself(_) | Moves::Retries | Moves::Later { .. } => Verdict::HealsByRetry { error },
                _ => Verdict::ForceFails { error },
            },
            notes,
        );
    }
    if let Moves::ByItself(what) = &case.subject.moves {
        return (Verdict::HealsOnChange { what: what.clone(), blocked_by: None }, notes);
    }
    if let Moves::Later { what, by } = &case.subject.moves {
        return (Verdict::HealsOnChange { what: what.clone(), blocked_by: Some(by.clone()) }, notes);
    }
    if case.wave.is_some() {
        if let Moves::Blocked(by) = &case.subject.moves {
            return (Verdict::ForceBlocked { by: by.clone() }, notes);
        }
        for finding in of(Class::SkippedWaiting) {
            notes.extend(finding.object.as_ref().map(|o| format!("{o} goes on waiting after this force")));
        }
        return (
            if case.after.is_empty() {
                Verdict::ForceNow
            } else {
                Verdict::ForceAfter { releases: case.after.clone() }
            },
            notes,
        );
    }
    if !analysis.unknown.is_empty() {
        return (Verdict::Unknown { missing: uncollected(analysis) }, notes);
    }
    let waiting: BTreeSet<String> = of(Class::SkippedWaiting)
        .chain(of(Class::HollowWaiting))
        .flat_map(|f| &f.chains)
        .map(|c| if c.field.is_empty() { c.key.clone() } else { format!("{} {}", c.key, c.field) })
        .collect();
    let never = of(Class::SkippedNever).count();
    if of(Class::SkippedWaiting).next().is_some() {
        notes.push("FORCE_FUTILE: a force now would leave the waiting objects out again".to_owned());
        return (Verdict::Wait { fields: waiting.into_iter().collect() }, notes);
    }
    if never > 0 {
        let reason = format!("{never} objects stand behind values, not behind the cluster: change the values");
        return (Verdict::ForceFutile { reason }, notes);
    }
    if !waiting.is_empty() {
        return (Verdict::Wait { fields: waiting.into_iter().collect() }, notes);
    }
    match &case.subject.moves {
        Moves::Unknown(missing) => (Verdict::Unknown { missing: missing.clone() }, notes),
        _ => (Verdict::InSync, notes),
    }
}

/// The circle of a kind that the manifest itself defines, beside objects of it: nothing is applied before all is mapped.
fn own_kind(case: &Case<'_>, analysis: &Analysis) -> Option<Vec<String>> {
    let release = &case.subject.release;
    case.findings.iter().filter(|f| f.class == Class::ApplyError).filter_map(|f| f.object.as_ref()).find_map(|object| {
        let defines = |doc: &&Doc| {
            let text = |pointer: &str| doc.object.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
            doc.key.kind == "CustomResourceDefinition"
                && text("/spec/group") == object.group
                && text("/spec/names/kind") == object.kind
        };
        let crd = analysis.now.docs.iter().find(defines)?;
        Some(vec![release.to_string(), crd.key.to_string(), object.to_string(), release.to_string()])
    })
}

fn without_render(subject: &Subject) -> Verdict {
    let mut missing = subject.missing.clone();
    if let Moves::Unknown(more) = &subject.moves {
        missing.extend(more.iter().cloned());
    }
    Verdict::Unknown { missing }
}

/// What to collect, in words.
fn uncollected(analysis: &Analysis) -> Vec<String> {
    let unknown = &analysis.unknown;
    let keys: BTreeSet<_> = unknown.additions.iter().chain(&unknown.effects).collect();
    let objects = keys.into_iter().map(|key| format!("{key} (its kind was not collected there)"));
    let rules = (!unknown.access.is_empty()).then(|| {
        let asked: Vec<String> = unknown.access.iter().map(ToString::to_string).collect();
        let user = analysis.now.user.as_deref().unwrap_or_default();
        format!("roles and bindings of {user} (whether it may read {})", asked.join(", "))
    });
    let bytes = unknown.bytes.iter().map(|field| format!("{field} (its bytes were taken out of the snapshot)"));
    objects.chain(bytes).chain(rules).collect()
}

/// Why a forced render would fail, if it would.
fn failure(findings: &[Finding]) -> Option<String> {
    findings.iter().find(|f| matches!(f.class, Class::RenderError | Class::ApplyError)).and_then(|f| f.error.clone())
}
