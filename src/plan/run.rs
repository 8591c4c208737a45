//! The whole run: files in, report out.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::assume::{Choices, settings};
use super::certificates;
use super::charts::Charts;
use super::differences::differences;
use super::effects;
use super::fact::Fact;
use super::findings::{Analysis, analyse};
use super::gather::{Moves, Subject, gather};
use super::keys::{keys, kind_of};
use super::latent::latent;
use super::misasked::misasked;
use super::offline::offline;
use super::producer::Index;
use super::redact::Redactor;
use super::render::Renderer;
use super::silent::lost;
use super::steps;
use super::timing::values_noticed;
use super::verdict::{Case, verdict};
use super::waves::{Ordered, order, predicted};
use super::whatif::{Side, what_if};
use crate::base::diag::Diagnostic;
use crate::base::version::HelmVersion;
use crate::cluster::discovery::{Discovery, KubeVersion};
use crate::cluster::import::import;
use crate::cluster::lookup::object_of;
use crate::cluster::overlay::Overlay;
use crate::cluster::snapshot::Snapshot;
use crate::flux::settings::Settings;
use crate::report::contract::{
    Class, Danger, Difference, Finding, Key, Latent, Offline, Plan, Release, ReleaseRef, Report, SnapshotInfo, VERSION,
    Verdict, WhatIf,
};
use crate::report::silent::Silent;

/// A snapshot that was read, and its releases.
pub struct Session {
    facts: Snapshot,
    settings: Settings,
    subjects: Vec<Subject>,
    renderer: Renderer,
    choices: Choices,
    assumptions: Vec<String>,
    diagnostics: Vec<Diagnostic>,
}

impl Session {
    /// Reads files: of the snapshot, and of charts.
    pub fn open(snapshot: &[(String, Vec<u8>)], charts: &[(String, Vec<u8>)], choices: &Choices) -> Session {
        let (mut facts, mut diagnostics) = import(snapshot);
        facts.coverage.complete |= choices.assume_complete;
        let mut assumptions = Vec::new();
        let settings = settings(&facts, choices, &mut assumptions, &mut diagnostics);
        let (charts, problems) = Charts::read(charts, settings.controller.helm());
        diagnostics.extend(problems);
        facts.artifacts.extend(charts.artifacts());
        if !facts.discovery.version_known {
            assumptions.push(format!("Kubernetes is {}: the snapshot does not tell", facts.discovery.version.git));
        }
        let subjects = gather(&facts, &charts, &settings, &mut diagnostics);
        let renderer = Renderer::new(settings.clone());
        Session { facts, settings, subjects, renderer, choices: choices.clone(), assumptions, diagnostics }
    }

    /// Predicts every release and plans what to force.
    pub fn report(mut self) -> Report {
        let ordered = order(&self.renderer, &self.subjects, &self.facts);
        let index = Index::new(&self.subjects, &predicted(&ordered, &self.subjects));
        let mut diagnostics = std::mem::take(&mut self.diagnostics);
        let releases: Vec<Release> =
            (0..self.subjects.len()).map(|i| release(&self, &ordered, &index, i, &mut diagnostics)).collect();
        let plan = plan(&self.subjects, &ordered, &releases);
        diagnostics.sort();
        diagnostics.dedup();
        Report {
            contract: VERSION,
            snapshot: SnapshotInfo {
                taken_at: self.facts.taken_text.clone(),
                kubernetes: self.facts.discovery.version.git.clone(),
                helm_controller: self.settings.controller.to_string(),
                helm: self.settings.controller.helm().to_string(),
                objects: self.facts.len(),
            },
            assumptions: self.assumptions,
            diagnostics,
            releases,
            plan,
        }
    }

    /// Which releases another Helm (`helm`), another version of Kubernetes (`kubernetes`), or API versions served besides
    /// (`served`, as `a.io/v1` or `a.io/v1/Kind`) would render otherwise.
    pub fn what_if(&self, helm: Option<HelmVersion>, kubernetes: Option<&str>, served: &[String]) -> Vec<WhatIf> {
        let mut discovery = self.facts.discovery.clone();
        discovery.version = kubernetes.map_or(discovery.version, KubeVersion::new);
        served.iter().for_each(|api| discovery.add_api(api));
        let other = Overlay::with_discovery(&self.facts, discovery);
        let renderer = Renderer::new(self.settings.clone()).with_helm(helm.unwrap_or(self.renderer.helm()));
        let before = Side { renderer: &self.renderer, facts: &self.facts };
        let after = Side { renderer: &renderer, facts: &other };
        self.subjects.iter().filter(|s| s.can_render()).filter_map(|s| what_if(&before, &after, s)).collect()
    }

    /// What a renderer without a cluster makes of each release. It is told the capabilities of the snapshot, as Argo CD
    /// passes them on, or only those of `flags`: a version of Kubernetes, and API versions besides the built-in ones.
    pub fn offline(&self, flags: Option<(&str, &[String])>) -> Vec<Offline> {
        let told = flags.map(|(kubernetes, served)| {
            let mut discovery = Discovery::of(kubernetes);
            served.iter().for_each(|api| discovery.add_api(api));
            Rc::new(discovery)
        });
        let subjects = self.subjects.iter().filter(|s| s.can_render());
        subjects.map(|subject| offline(&self.renderer, subject, &self.facts, told.as_ref())).collect()
    }

    /// What a force of one release would change, field by field; `None` if there is no such release. Data of Secrets is
    /// hidden unless `show_secrets`.
    ///
    /// # Errors
    /// Why it cannot be rendered.
    pub fn difference(&self, release: &ReleaseRef, show_secrets: bool) -> Option<Result<Vec<Difference>, String>> {
        let subject = self.subjects.iter().find(|s| s.release == *release)?;
        if !subject.can_render() {
            return Some(Err(format!("missing: {}", subject.missing.join(", "))));
        }
        let analysis = analyse(&self.renderer, subject, &self.facts);
        let redactor = Redactor::new(subject, Some(&analysis.now), &self.facts);
        Some(match &analysis.now.error {
            Some(error) if show_secrets => Err(error.clone()),
            Some(error) => Err(redactor.mask(error)),
            None => Ok(differences(subject, &analysis, (!show_secrets).then_some(&redactor))),
        })
    }
}

/// Findings as they are reported: what is there on the snapshot, with what the release's own wave changes of it.
fn merged(first: &Analysis, last: Option<&Analysis>) -> Vec<Finding> {
    let mut found = first.findings.clone();
    let Some(last) = last else { return found };
    for finding in &last.findings {
        let same = |f: &Finding| f.object == finding.object;
        // Something that is waited for and comes with an earlier wave is hollow, no longer waiting.
        let old = match finding.class {
            Class::Hollow => {
                found.iter().position(|f| same(f) && matches!(f.class, Class::HollowWaiting | Class::Hollow))
            }
            class => found.iter().position(|f| same(f) && f.class == class),
        };
        match old {
            Some(i) if finding.class == Class::Hollow => found[i] = finding.clone(),
            Some(_) => {}
            // An object that waits now and appears in its wave stays SKIPPED_WAITING: that is what holds today.
            None if finding.class == Class::Skipped
                && found.iter().any(|f| same(f) && f.class == Class::SkippedWaiting) => {}
            None => found.push(finding.clone()),
        }
    }
    found.sort_by(|a, b| (a.class, &a.object, &a.fields).cmp(&(b.class, &b.object, &b.fields)));
    found
}

fn release(
    session: &Session,
    ordered: &Ordered,
    index: &Index,
    i: usize,
    diagnostics: &mut Vec<Diagnostic>,
) -> Release {
    let Session { facts, subjects, renderer, choices, .. } = session;
    let subject = &subjects[i];
    let first = ordered.first.get(i).and_then(Option::as_ref);
    let last = ordered.later.get(&i);
    let redactor = Redactor::new(subject, ordered.final_analysis(i).map(|a| &a.now), facts);
    let mut findings = first.map(|first| merged(first, last)).unwrap_or_default();
    for error in findings.iter_mut().filter_map(|f| f.error.as_mut()) {
        *error = redactor.mask(error);
    }
    if let Some(error) = first.filter(|a| a.unknown.is_empty()).and_then(|a| a.now.error.as_ref()) {
        let masked = redactor.mask(error).replace('\n', " ");
        let problem = Diagnostic::error(format!("{} does not render: {masked}", subject.release));
        let problem = match place_of(error) {
            Some((file, line)) => problem.at(file, line),
            None => problem,
        };
        diagnostics.push(problem.remedy("see the finding of that release; the others were predicted"));
    }
    let after: Vec<ReleaseRef> = ordered
        .after
        .get(&i)
        .into_iter()
        .flatten()
        .filter(|p| ordered.wave.contains_key(*p))
        .map(|p| subjects[*p].release.clone())
        .collect();
    let cycle = ordered
        .cycles
        .iter()
        .find(|c| c.contains(&i))
        .map(|c| c.iter().map(|m| subjects[*m].release.to_string()).collect());
    let own = first.and_then(|first| waits_for_itself(subject, first, index, facts));
    let wave = ordered.wave.get(&i).copied();
    let case = Case { subject, analysis: first, findings: &findings, wave, after, cycle, own };
    let (verdict, mut notes) = verdict(&case);
    let keys = keys(subject, ordered, index, facts, i);
    notes.extend(circular_notes(&keys, &verdict));
    for lookup in first.into_iter().flat_map(|a| &a.now.uncollected) {
        notes.push(format!("{lookup} was not collected: it is taken as absent; collect its kind to be certain"));
    }
    let renders = first.into_iter().map(|a| &a.now);
    notes.extend(
        misasked(renders, &facts.discovery)
            .into_values()
            .map(|(place, text)| redactor.mask(&format!("{}:{}: {text}", place.file, place.line))),
    );
    notes.extend(first.into_iter().flat_map(|a| &a.notes).map(|note| redactor.mask(note)));
    let newest = subject.stored.first();
    let mut dangers: Vec<Danger> = ordered.final_analysis(i).map(|a| a.dangers.clone()).unwrap_or_default();
    if let Some(analysis) = ordered.final_analysis(i) {
        let children = effects::children(subject, analysis);
        if ordered.wave.contains_key(&i) {
            dangers.extend(effects::unready(&children, facts));
            let waits = children.iter().map(|child| format!("the force waits for {child} to be ready (F-9)"));
            notes.extend(waits);
        }
        notes.extend(effects::stateful(&dangers, analysis));
    }
    if subject.decision.action == "uninstall" {
        let dependents = subjects.iter().filter(|other| other.depends_on.contains(&subject.release));
        notes.extend(
            dependents.map(|other| format!("{} depends on it: an uninstall does not wait for it", other.release)),
        );
    }
    notes.extend(values_noticed(subject, facts, &session.settings));
    notes.extend(effects::guards_of_nothing(&findings, &keys));
    notes.extend(effects::moved(&findings));
    notes.extend(first.into_iter().flat_map(|analysis| certificates::reused(analysis, facts)));
    for object in effects::created_once(&findings) {
        notes.push(format!("{object}: the next upgrade deletes it, the upgrade after that makes it again"));
    }
    let mut silent: Vec<Silent> = subject.silent.iter().map(|silent| redactor.silent(silent)).collect();
    silent.extend(first.and_then(|first| lost(renderer, subject, facts, &first.now)));
    Release {
        release: subject.release.clone(),
        silent,
        flux_managed: subject.helm_release.is_some(),
        suspended: subject.suspended(),
        chart: newest.map(|r| format!("{}@{}", r.chart_metadata("name"), r.chart_metadata("version"))),
        revision: newest.map(|r| r.version),
        decision: redactor.decision(&subject.decision),
        verdict,
        force: first.map(|a| a.expected.clone()).unwrap_or_default(),
        dangers,
        findings,
        keys,
        latent: match first {
            Some(first) if choices.latent => latent(renderer, subject, facts, &first.now)
                .into_iter()
                .map(|latent| Latent { error: redactor.mask(&latent.error), ..latent })
                .collect(),
            _ => Vec::new(),
        },
        notes,
    }
}

/// The circle of a first install that stops at a fact out of its own closure: no retry makes it (a render never sees what
/// it is about to apply, L8).
fn waits_for_itself(subject: &Subject, analysis: &Analysis, index: &Index, facts: &Snapshot) -> Option<Vec<String>> {
    analysis.stopped_by.iter().find_map(|(fact, fields)| {
        let fields = fields.iter().map(ToString::to_string).collect();
        let producer = match fact {
            Fact::Lookup(key) => index.producer(&subject.release, &object_of(facts, key), &fields, facts),
            Fact::ApiVersion(api) => index.server(&subject.release, &kind_of(api), facts),
            _ => return None,
        };
        producer.self_produced?;
        let through = producer.release.filter(|maker| *maker != subject.release).map(|maker| maker.to_string());
        let start = subject.release.to_string();
        Some([start.clone()].into_iter().chain(through).chain([fact.to_string(), start]).collect())
    })
}

/// `file:line` at the start of a template error.
fn place_of(error: &str) -> Option<(String, u32)> {
    let start = error.find("templates/")?;
    let begin = error[..start].rfind([' ', '(', '\n']).map_or(0, |i| i + 1);
    let mut parts = error[begin..].split(':');
    let file = parts.next()?.to_owned();
    let digits: String = parts.next()?.chars().take_while(char::is_ascii_digit).collect();
    Some((file, digits.parse().ok()?))
}

/// What a release's own closure makes cannot be waited for by an error: say so where it matters.
fn circular_notes(keys: &[Key], verdict: &Verdict) -> Vec<String> {
    let wanted = matches!(verdict, Verdict::ForceNow | Verdict::ForceAfter { .. } | Verdict::Wait { .. });
    keys.iter()
        .filter(|_| wanted)
        .filter_map(|key| {
            let depth = key.producer.self_produced?;
            Some(format!(
                "{} is made in the release's own closure ({depth} objects deep): to fail instead of to skip would deadlock, and dependsOn cannot wait for it",
                key.key
            ))
        })
        .collect()
}

fn plan(subjects: &[Subject], ordered: &Ordered, releases: &[Release]) -> Plan {
    let mut plan = Plan { throttle_seconds: 300, ..Plan::default() };
    let last = ordered.wave.values().copied().max().unwrap_or(0);
    let needed: BTreeSet<usize> = ordered.after.values().flatten().copied().collect();
    // A suspended release is resumed in its step where others wait for it; what else blocks has to be removed by hand.
    let blocked = |i: &usize| {
        let resumed = subjects[*i].suspended() && needed.contains(i);
        matches!(subjects[*i].moves, Moves::Blocked(_)) && !resumed
    };
    for number in 1..=last {
        let members = ordered.wave.iter().filter(|(i, wave)| **wave == number && !blocked(i)).map(|(i, _)| *i);
        let steps: Vec<_> = members.map(|i| steps::step(subjects, ordered, releases, i, number, last)).collect();
        if !steps.is_empty() {
            plan.waves.push(crate::report::contract::Wave { number: plan.waves.len() + 1, steps });
        }
    }
    plan.blocked = ordered.wave.keys().filter(|i| blocked(i)).map(|i| steps::blocked(&subjects[*i], last)).collect();
    plan
}
