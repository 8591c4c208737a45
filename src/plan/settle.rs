//! What Flux does by itself: releases reconcile, write, and set off others, until nothing more happens.

mod crds;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use data_encoding::BASE64;
use serde_json::{Value as Json, json};

use super::chain::flatten;
use super::charts::Charts;
use super::gather::{HELM_GROUP, Subject, subject_of};
use super::render::{Doc, Mode, Renderer, write_docs};
use crate::cluster::object::{Object, ObjectKey};
use crate::cluster::overlay::Overlay;
use crate::cluster::snapshot::{Facts, Snapshot};
use crate::cluster::storage::{StoredRelease, stored};
use crate::codec::yaml::emit_json;
use crate::flux::cycle::{Applied, Cycle, Done, Helm, Request, Requeue, reconcile, test_hooks};
use crate::flux::postrender::parse_manifest;
use crate::flux::settings::{ControllerVersion, Settings};
use crate::flux::{Action, Drift, Exit, HelmRelease, Outcome, Unloadable, simulate};
use crate::report::contract::ReleaseRef;
use crate::value::origin::{Origin, OriginSet};

/// One revision that the controller writes.
pub struct Written {
    /// Which release.
    pub release: ReleaseRef,
    /// `install`, `upgrade`, …
    pub action: Action,
    /// Revision number.
    pub version: i64,
    /// Objects of the stored manifest, in order.
    pub manifest: Vec<Doc>,
    /// Fields that differ from render to render, by object and position path.
    pub volatile: BTreeSet<(ObjectKey, String)>,
    /// Why nothing was written after all.
    pub error: Option<String>,
    /// Why the revision is stored as failed.
    pub failed: Option<String>,
}

/// What happened until nothing more did.
#[derive(Default)]
pub struct Settled {
    /// Revisions written, in order, and attempts at them.
    pub written: Vec<Written>,
    /// Runs of the controller, in order.
    pub runs: Vec<(ReleaseRef, Cycle)>,
    /// The HelmRelease as each of these runs left it; nothing if it is gone.
    pub states: Vec<Option<Rc<Object>>>,
    /// The HelmRelease as each write of its status left it in these runs, the last one included.
    pub writes: Vec<Vec<Rc<Json>>>,
}

impl Settled {
    /// Takes over what happened after.
    pub fn extend(&mut self, later: Settled) {
        self.written.extend(later.written);
        self.runs.extend(later.runs);
        self.states.extend(later.states);
        self.writes.extend(later.writes);
    }
}

/// How a revision that renders is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is stored as deployed.
    Succeeds,
    /// It is stored as failed.
    Fails(String),
    /// It fails before it is stored.
    Refused(String),
}

/// What the world makes of what the controller does: the part that no rule foretells.
pub trait Fate {
    /// How the API server and the hooks take a revision that renders.
    fn verdict(&mut self, hr: &HelmRelease, action: &Action, version: i64) -> Verdict {
        let _ = (hr, action, version);
        Verdict::Succeeds
    }

    /// Why a test hook of a revision fails, if it does.
    fn fails(&mut self, hr: &HelmRelease, version: i64, hook: &str) -> Option<String> {
        let _ = (hr, version, hook);
        None
    }

    /// Why the uninstall of a deleted HelmRelease fails, if it does.
    fn refuses_removal(&mut self, hr: &HelmRelease) -> Option<String> {
        let _ = hr;
        None
    }

    /// What drift detection finds, where that is given (`F-105`).
    fn drift(&mut self, hr: &HelmRelease) -> Option<Drift> {
        let _ = hr;
        None
    }

    /// The revision as the snapshot holds it, if Helm had begun to write it when the snapshot was taken: it has been
    /// rendered before.
    fn begun(&mut self, hr: &HelmRelease, version: i64) -> Option<StoredRelease> {
        let _ = (hr, version);
        None
    }

    /// Why the archive of a release's chart cannot be loaded, if it cannot (`F-79`).
    fn unloadable(&mut self, hr: &HelmRelease) -> Option<Unloadable> {
        let _ = hr;
        None
    }

    /// The HelmChart once source-controller has dealt with its new generation; `None` to take it from the charts given.
    fn packaged(&mut self, chart: &ObjectKey) -> Option<Rc<Object>> {
        let _ = chart;
        None
    }
}

/// Everything succeeds.
pub struct AllSucceeds;

impl Fate for AllSucceeds {}

/// Most runs of the controller that are followed, and most of one release.
const MAX_RUNS: usize = 300;
const MAX_RUNS_EACH: usize = 25;

/// Lets every release that `triggered` names reconcile, and whatever that sets off, on `cluster`. Actions are taken to
/// succeed once they render and all kinds are served, unless `fate` has it otherwise.
pub fn settle(
    cluster: &mut Snapshot,
    charts: &Charts,
    settings: &Settings,
    triggered: &[ReleaseRef],
    fate: &mut dyn Fate,
) -> Settled {
    let mut queue: Vec<ReleaseRef> = triggered.to_vec();
    queue.sort();
    let mut side = Side {
        charts,
        settings,
        renderer: Renderer::new(settings.clone()),
        fate,
        written: Vec::new(),
        touched: Vec::new(),
        writes: Vec::new(),
    };
    cluster.artifacts.extend(charts.artifacts());
    let burnt = burn_behind_dependencies(cluster, &mut side, &queue);
    let mut waiting: BTreeSet<ReleaseRef> = BTreeSet::new();
    let mut counts: BTreeMap<ReleaseRef, usize> = BTreeMap::new();
    let mut runs: Vec<(ReleaseRef, Cycle)> = Vec::new();
    let mut states: Vec<Option<Rc<Object>>> = Vec::new();
    let mut writes: Vec<Vec<Rc<Json>>> = Vec::new();
    for ran in burnt {
        runs.push((ran.release, ran.cycle));
        states.push(ran.state);
        writes.push(ran.writes);
    }
    for _ in 0..MAX_RUNS {
        if queue.is_empty() {
            break;
        }
        let release = queue.remove(0);
        let count = counts.entry(release.clone()).or_default();
        *count += 1;
        if *count > MAX_RUNS_EACH {
            continue;
        }
        let key = release_key(&release);
        let before = cluster.get(&key).present();
        side.writes.clear();
        let Some(cycle) = reconcile(cluster, &key, settings, &mut side) else { continue };
        writes.push(std::mem::take(&mut side.writes));
        let after = cluster.get(&key).present();
        // What waits for this release looks at its readiness only (F-261).
        let acted = !cycle.done.is_empty() || readiness(before.as_deref()) != readiness(after.as_deref());
        side.rollbacks(cluster, &release, &cycle.done);
        let (packaged, mut woken_now) = package(cluster, &mut side);
        woken_now
            .extend(side.touched.drain(..).collect::<Vec<_>>().iter().flat_map(|key| woken(cluster, settings, key)));
        for next in woken_now {
            if !queue.contains(&next) {
                queue.push(next);
            }
        }
        match cycle.requeue {
            Requeue::Immediate if !queue.contains(&release) => queue.push(release.clone()),
            // Another attempt shows whether the failure lasts: in sync with the old revision, it is mended (F-106, F-148a).
            Requeue::Backoff
                if !queue.contains(&release) && runs.iter().rev().all(|(r, c)| *r != release || *c != cycle) =>
            {
                queue.push(release.clone());
            }
            Requeue::Dependency | Requeue::Backoff | Requeue::Retry => {
                waiting.insert(release.clone());
            }
            _ => {}
        }
        runs.push((release.clone(), cycle));
        states.push(after);
        // What waits looks again; it is worth following once something has changed.
        if acted || packaged {
            let others: Vec<ReleaseRef> = waiting.iter().filter(|r| packaged || **r != release).cloned().collect();
            for other in others {
                waiting.remove(&other);
                if !queue.contains(&other) {
                    queue.push(other);
                }
            }
        }
    }
    Settled { written: side.written, runs, states, writes }
}

/// What dependents see of a release (`F-261`).
fn readiness(object: Option<&Object>) -> Option<(i64, i64, Option<String>)> {
    let hr = HelmRelease::new(object?.json.clone());
    Some((hr.generation(), hr.observed_generation(), hr.condition("Ready").map(str::to_owned)))
}

/// One run of the controller.
struct Ran {
    release: ReleaseRef,
    cycle: Cycle,
    state: Option<Rc<Object>>,
    writes: Vec<Rc<Json>>,
}

/// Releases that are stamped together with one they depend on: their first attempt finds it unready (`F-60`).
fn burn_behind_dependencies(cluster: &mut Snapshot, side: &mut Side<'_>, queue: &[ReleaseRef]) -> Vec<Ran> {
    let mut acts = BTreeSet::new();
    let mut waiting = Vec::new();
    let mut ran = Vec::new();
    for release in queue {
        let Some(object) = cluster.get(&release_key(release)).present() else { continue };
        let hr = HelmRelease::new(object.json.clone());
        let revisions = stored(cluster, &hr.storage_namespace(), &hr.release_name()).0;
        let outcome = simulate(&hr, cluster, &revisions, side.settings).outcome;
        if matches!(outcome, Outcome::Decided { action: Action::Install | Action::Upgrade, .. }) {
            acts.insert(release.clone());
        }
        if matches!(outcome, Outcome::Exited(Exit::Suspended)) {
            continue;
        }
        let depends: Vec<ReleaseRef> =
            hr.depends_on().into_iter().map(|d| ReleaseRef { namespace: d.namespace, name: d.name }).collect();
        waiting.push((release.clone(), depends));
    }
    for (release, depends_on) in waiting {
        let Some(busy) = depends_on.iter().find(|d| acts.contains(d)) else { continue };
        // While the other one acts, its Ready is Unknown.
        let key = release_key(busy);
        let Some(before) = cluster.get(&key).present() else { continue };
        let mut json = (*before.json).clone();
        if let Some(status) = json.get_mut("status").and_then(Json::as_object_mut) {
            status
                .insert("conditions".into(), json!([{"type": "Ready", "status": "Unknown", "reason": "Progressing"}]));
        }
        cluster.apply([(key.clone(), Object::new(json, before.source.clone()).map(Rc::new))]);
        side.writes.clear();
        let own = release_key(&release);
        if let Some(cycle) = reconcile(cluster, &own, side.settings, side) {
            let state = cluster.get(&own).present();
            ran.push(Ran { release, cycle, state, writes: std::mem::take(&mut side.writes) });
        }
        cluster.apply([(key, Some(before))]);
    }
    ran
}

/// Helm, as far as it is played here.
struct Side<'a> {
    charts: &'a Charts,
    settings: &'a Settings,
    renderer: Renderer,
    fate: &'a mut dyn Fate,
    written: Vec<Written>,
    /// Objects that changed.
    touched: Vec<ObjectKey>,
    /// The HelmRelease as this run wrote it, again and again.
    writes: Vec<Rc<Json>>,
}

impl Side<'_> {
    /// Revisions that rollbacks wrote.
    fn rollbacks(&mut self, cluster: &Snapshot, release: &ReleaseRef, done: &[Done]) {
        for step in done {
            let (Action::Rollback { .. }, Some(version)) = (&step.action, step.version) else { continue };
            let Some(object) = cluster.get(&release_key(release)).present() else { continue };
            let hr = HelmRelease::new(object.json.clone());
            let all = stored(cluster, &hr.storage_namespace(), &hr.release_name()).0;
            let manifest = all.iter().find(|r| r.version == version).map(|r| documents(r, cluster)).unwrap_or_default();
            self.written.push(Written {
                release: release.clone(),
                action: step.action.clone(),
                version,
                manifest,
                volatile: BTreeSet::new(),
                error: None,
                failed: step.error.clone(),
            });
        }
    }
}

impl Side<'_> {
    /// The end of an action that was under way when the snapshot was taken: what it stored is what it had rendered.
    fn finish(&mut self, cluster: &mut Snapshot, request: &Request<'_>, begun: &StoredRelease) -> Applied {
        let hr = request.hr;
        let manifest = documents(begun, cluster);
        let mut overlay = Overlay::new(&*cluster);
        for doc in &manifest {
            overlay.put(doc.object.clone(), &begun.namespace, None);
        }
        let edits = overlay.into_edits();
        self.touched.extend(cluster.apply(edits));
        let failed = match self.fate.verdict(hr, request.action, request.version) {
            Verdict::Succeeds => None,
            Verdict::Fails(why) | Verdict::Refused(why) => Some(why),
        };
        self.written.push(Written {
            release: ReleaseRef { namespace: hr.namespace.clone(), name: hr.name.clone() },
            action: request.action.clone(),
            version: request.version,
            manifest,
            volatile: BTreeSet::new(),
            error: None,
            failed: failed.clone(),
        });
        let part = |field: &str| begun.json.get(field).cloned().unwrap_or_default();
        let payload = json!({"chart": part("chart"), "manifest": part("manifest"), "hooks": part("hooks")});
        Applied::Stored { payload, failed }
    }
}

fn documents(revision: &StoredRelease, cluster: &Snapshot) -> Vec<Doc> {
    let parsed = parse_manifest(revision.manifest()).unwrap_or_default();
    parsed.into_iter().map(|d| Doc::new(d, &revision.namespace, cluster)).collect()
}

impl Helm for Side<'_> {
    fn release(&mut self, cluster: &mut Snapshot, request: &Request<'_>) -> Applied {
        let hr = request.hr;
        if let Some(begun) = self.fate.begun(hr, request.version) {
            return self.finish(cluster, request, &begun);
        }
        let release = ReleaseRef { namespace: hr.namespace.clone(), name: hr.name.clone() };
        let mut subject = subject_of(hr, cluster, self.charts, self.settings, &mut Vec::new());
        subject.values = request.values.clone();
        self.touched.extend(crds::apply(cluster, subject.chart.as_ref(), request, self.settings));
        let now = self.renderer.render(&subject, cluster, &Mode::Now);
        let unserved = now.docs.iter().find(|d| cluster.discovery.resource(&d.api_version, &d.key.kind).is_none());
        let unserved = unserved.map(|d| format!("no matches for kind {:?} in version {:?}", d.key.kind, d.api_version));
        let gone =
            subject.stored_docs.iter().find(|d| cluster.discovery.resource(&d.api_version, &d.key.kind).is_none());
        let gone = gone.filter(|_| *request.action == Action::Upgrade).map(|d| {
            let kind = format!("no matches for kind {:?} in version {:?}", d.key.kind, d.api_version);
            format!("unable to build kubernetes objects from current release manifest: {kind}")
        });
        let leaves = now.docs.iter().flat_map(|doc| doc.leaves.iter().map(move |(path, set)| (doc, path, *set)));
        let volatile = leaves
            .filter(|(_, _, set)| is_volatile(*set, &now))
            .map(|(doc, path, _)| (doc.key.clone(), path.clone()))
            .collect();
        let mut error = now.error.clone().or(gone).or(unserved);
        let mut failed = None;
        if error.is_none() {
            match self.fate.verdict(hr, request.action, request.version) {
                Verdict::Succeeds => {}
                Verdict::Fails(why) => failed = Some(why),
                Verdict::Refused(why) => error = Some(why),
            }
        }
        let applied = match &error {
            Some(error) => Applied::Refused(error.clone()),
            None => {
                let mut overlay = Overlay::new(&*cluster);
                write_docs(&subject, &now.docs, &mut overlay);
                let edits: Vec<_> =
                    overlay.into_edits().into_iter().map(|(key, object)| numbered(cluster, key, object)).collect();
                self.touched.extend(cluster.apply(edits));
                let manifest: String =
                    now.docs.iter().map(|d| format!("---\n# Source: {}\n{}", d.source, emit_json(&d.object))).collect();
                let hooks: Vec<Json> = now.hooks.iter().map(hook).collect();
                let payload = json!({"chart": stored_chart(&subject), "manifest": manifest, "hooks": hooks});
                Applied::Stored { payload, failed: failed.clone() }
            }
        };
        self.written.push(Written {
            release,
            action: request.action.clone(),
            version: request.version,
            volatile,
            error,
            failed,
            manifest: now.docs,
        });
        applied
    }

    fn test(&mut self, _: &mut Snapshot, hr: &HelmRelease, revision: &StoredRelease) -> Vec<(String, Option<String>)> {
        let hooks = test_hooks(hr, revision).into_iter();
        hooks.map(|hook| (hook.clone(), self.fate.fails(hr, revision.version, &hook))).collect()
    }

    fn restore(&mut self, cluster: &mut Snapshot, _: &HelmRelease, revision: &StoredRelease) -> Result<(), String> {
        let mut overlay = Overlay::new(&*cluster);
        for doc in documents(revision, cluster) {
            overlay.put(doc.object, &revision.namespace, None);
        }
        let edits = overlay.into_edits();
        self.touched.extend(cluster.apply(edits));
        Ok(())
    }

    fn refuses_removal(&mut self, hr: &HelmRelease, _: &StoredRelease) -> Option<String> {
        self.fate.refuses_removal(hr)
    }

    fn drift(&mut self, hr: &HelmRelease) -> Option<Drift> {
        self.fate.drift(hr)
    }

    fn unloadable(&mut self, hr: &HelmRelease) -> Option<Unloadable> {
        self.fate.unloadable(hr)
    }

    fn wrote(&mut self, hr: &HelmRelease) {
        self.writes.push(hr.json.clone());
    }

    fn remove(&mut self, cluster: &mut Snapshot, _: &HelmRelease, revision: &StoredRelease) {
        for doc in documents(revision, cluster) {
            let policy = doc.object.pointer("/metadata/annotations/helm.sh~1resource-policy").and_then(Json::as_str);
            if policy != Some("keep") {
                cluster.apply([(doc.key, None)]);
            }
        }
    }
}

/// A written HelmRelease gets its generation from the API server: one more with each change of the spec (`F-56`).
fn numbered(cluster: &Snapshot, key: ObjectKey, object: Option<Rc<Object>>) -> (ObjectKey, Option<Rc<Object>>) {
    let Some(new) = object.clone().filter(|_| key.group == HELM_GROUP) else { return (key, object) };
    let old = cluster.get(&key).present();
    let generation = |o: &Object| o.json.pointer("/metadata/generation").and_then(Json::as_i64).unwrap_or(0);
    let next = match &old {
        Some(old) => generation(old) + i64::from(old.json.get("spec") != new.json.get("spec")),
        None => 1,
    };
    let mut json = (*new.json).clone();
    if let Some(metadata) = json.get_mut("metadata").and_then(Json::as_object_mut) {
        metadata.insert("generation".into(), next.into());
    }
    (key, Object::new(json, new.source.clone()).map(Rc::new))
}

/// The chart as it is stored with a release (`F-170`).
fn stored_chart(subject: &Subject) -> Json {
    let Some(chart) = &subject.chart else { return Json::Null };
    let file = |(name, bytes): (&String, &Vec<u8>)| json!({"name": name, "data": BASE64.encode(bytes)});
    let templates: Vec<Json> = chart.templates.iter().map(|(name, bytes)| file((name, bytes))).collect();
    let files: Vec<Json> = chart.files.iter().map(file).collect();
    json!({
        "metadata": chart.meta, "templates": templates, "files": files, "values": *chart.values,
        "schema": chart.schema.as_ref().map(|s| BASE64.encode(s)),
    })
}

/// A hook as it is stored.
fn hook(doc: &Doc) -> Json {
    let events = doc.object.pointer("/metadata/annotations/helm.sh~1hook").and_then(Json::as_str).unwrap_or_default();
    // The name of former times.
    let named = |event| if event == "test-success" { "test" } else { event };
    let events: Vec<&str> = events.split(',').map(str::trim).filter(|e| !e.is_empty()).map(named).collect();
    json!({
        "name": doc.key.name, "kind": doc.key.kind, "path": doc.source, "events": events,
        "manifest": emit_json(&doc.object), "last_run": {"phase": ""},
    })
}

/// Whether a value came from chance, the clock, or what the API server alone decides.
fn is_volatile(set: OriginSet, now: &super::render::Rendered) -> bool {
    flatten(set, &now.origins, &now.gates).iter().any(|origin| match origin {
        Origin::Random(_) | Origin::Clock(_) => true,
        Origin::Lookup { path, .. } => {
            let own = [".metadata.resourceVersion", ".metadata.uid", ".metadata.creationTimestamp"];
            // The address under which the API server is reached (L4).
            own.iter().any(|own| path.ends_with(own)) || path.starts_with(".serverAddressByClientCIDRs")
        }
        _ => false,
    })
}

/// The releases that a written object makes the controller look at: itself, or who takes values from it (`F-61`).
pub fn woken(cluster: &Snapshot, settings: &Settings, key: &ObjectKey) -> Vec<ReleaseRef> {
    if key.group == HELM_GROUP && key.kind == "HelmRelease" {
        return vec![ReleaseRef { namespace: key.namespace.clone(), name: key.name.clone() }];
    }
    let Some(object) = cluster.get(key).present() else { return Vec::new() };
    let label = object.json.pointer("/metadata/labels/reconcile.fluxcd.io~1watch").and_then(Json::as_str);
    let watched = key.group.is_empty() && label == Some("Enabled") && settings.watches_values();
    if !watched {
        return Vec::new();
    }
    let refers = |hr: &Object| {
        let refs = hr.json.pointer("/spec/valuesFrom").and_then(Json::as_array);
        let reference = if key.kind == "Secret" { "secretRef" } else { "configMapRef" };
        let remote = hr.json.pointer(&format!("/spec/kubeConfig/{reference}/name")).and_then(Json::as_str);
        remote == Some(&key.name)
            || refs.into_iter().flatten().any(|r| r["kind"] == key.kind.as_str() && r["name"] == key.name.as_str())
    };
    releases(cluster, Some(&key.namespace)).into_iter().filter(|hr| refers(hr)).map(|hr| reference(&hr)).collect()
}

fn releases(cluster: &Snapshot, namespace: Option<&str>) -> Vec<Rc<Object>> {
    cluster.list(HELM_GROUP, "HelmRelease", namespace).present().unwrap_or_default()
}

fn reference(hr: &Object) -> ReleaseRef {
    ReleaseRef { namespace: hr.key.namespace.clone(), name: hr.key.name.clone() }
}

/// The releases that a source with a new artifact, or one that became ready, wakes (`F-240` to `F-244`).
pub fn woken_by_source(cluster: &Snapshot, settings: &Settings, key: &ObjectKey) -> Vec<ReleaseRef> {
    let Some(source) = cluster.get(key).present() else { return Vec::new() };
    let revision = source.text("/status/artifact/revision");
    let mine = |hr: &HelmRelease| {
        let (kind, namespace, name) = hr.source();
        // F-298: older controllers look sources up without their kind.
        let same = kind == key.kind || settings.controller < ControllerVersion(1, 4, 0);
        same && namespace == key.namespace && name == key.name
    };
    let skipped = |hr: &HelmRelease| {
        let is = |kind: &str| hr.condition(kind) == Some("True");
        let ready = is("Ready") && !is("Stalled") && !is("Reconciling");
        let busy = is("Reconciling") && !is("Stalled") && settings.controller >= ControllerVersion(1, 5, 2);
        let seen = match key.kind.as_str() {
            "HelmChart" => hr.text("/status/lastAttemptedRevision") == revision,
            // A plain version carries no digest (F-243).
            "ExternalArtifact" if !revision.contains(':') => hr.text("/status/lastAttemptedRevision") == revision,
            _ => hr.text("/status/lastAttemptedRevisionDigest") == revision.rsplit('@').next().unwrap_or_default(),
        };
        (ready || busy) && seen
    };
    let all = releases(cluster, None).into_iter().map(|o| HelmRelease::new(o.json.clone()));
    all.filter(|hr| mine(hr) && !skipped(hr)).map(|hr| ReleaseRef { namespace: hr.namespace, name: hr.name }).collect()
}

/// Releases that the controller goes on trying without a trigger: they failed or wait.
pub fn retried(cluster: &Snapshot) -> Vec<ReleaseRef> {
    let all = releases(cluster, None).into_iter().map(|o| HelmRelease::new(o.json.clone()));
    all.filter(|hr| {
        // An action that runs goes on by itself; there is no second run beside it.
        let acts = hr.condition_entry("Reconciling").and_then(|c| c.get("message")?.as_str());
        if acts.is_some_and(|message| message.starts_with("Running '")) {
            let revisions = stored(cluster, &hr.storage_namespace(), &hr.release_name()).0;
            if revisions.first().is_some_and(|r| r.status.starts_with("pending-")) {
                return false;
            }
        }
        // No condition tells of a HelmChart that could not be written (F-254).
        let unfinished = hr.condition("Ready") == Some("False")
            || hr.condition("Reconciling") == Some("True")
            || (1..hr.generation()).contains(&hr.observed_generation());
        unfinished && hr.condition("Stalled") != Some("True") && !hr.flag("/spec/suspend")
    })
    .map(|hr| ReleaseRef { namespace: hr.namespace, name: hr.name })
    .collect()
}

fn release_key(release: &ReleaseRef) -> ObjectKey {
    ObjectKey {
        group: HELM_GROUP.into(),
        kind: "HelmRelease".into(),
        namespace: release.namespace.clone(),
        name: release.name.clone(),
    }
}

/// The version that source-controller gives a packaged chart: of its Chart.yaml, and where other things decide its content
/// too, these as build metadata (`F-220` to `F-222`).
fn chart_version(chart: &Object, source_revision: Option<&str>, base: &str) -> String {
    let mut parts = Vec::new();
    let kind = chart.text("/spec/sourceRef/kind");
    if kind != "HelmRepository" && chart.text("/spec/reconcileStrategy") == "Revision" {
        let hash = source_revision.and_then(|r| r.rsplit(':').next()).unwrap_or_default();
        parts.push(hash.chars().take(12).collect::<String>());
    }
    let files = chart.json.pointer("/spec/valuesFiles").and_then(Json::as_array).cloned().unwrap_or_default();
    if !files.is_empty() && files != ["values.yaml"] {
        parts.push(chart.json.pointer("/metadata/generation").map(Json::to_string).unwrap_or_default());
    }
    if parts.is_empty() {
        return base.to_owned();
    }
    let numbers = base.strip_prefix('v').unwrap_or(base).split('+').next().unwrap_or_default();
    let (numbers, pre) = numbers.split_once('-').map_or((numbers, String::new()), |(n, pre)| (n, format!("-{pre}")));
    let missing = 2usize.saturating_sub(numbers.matches('.').count());
    format!("{numbers}{}{pre}+{}", ".0".repeat(missing), parts.join("."))
}

/// HelmCharts with a new generation are packaged; returns whether there were any, and the releases that this wakes.
fn package(cluster: &mut Snapshot, side: &mut Side<'_>) -> (bool, Vec<ReleaseRef>) {
    let all = cluster.list("source.toolkit.fluxcd.io", "HelmChart", None).present().unwrap_or_default();
    let mut found = Vec::new();
    let mut any = false;
    for chart in all {
        let generation = chart.json.pointer("/metadata/generation").and_then(Json::as_i64);
        if chart.json.pointer("/status/observedGeneration").and_then(Json::as_i64) == generation {
            continue;
        }
        let done = match side.fate.packaged(&chart.key) {
            Some(done) => Some(done),
            None => packaged(&chart, cluster, side.charts).map(Rc::new),
        };
        if done.is_some() {
            cluster.apply([(chart.key.clone(), done)]);
            any = true;
            found.extend(woken_by_source(cluster, side.settings, &chart.key));
        }
    }
    (any, found)
}

fn packaged(chart: &Object, cluster: &Snapshot, charts: &Charts) -> Option<Object> {
    let source = ObjectKey {
        group: chart.key.group.clone(),
        kind: chart.text("/spec/sourceRef/kind").to_owned(),
        namespace: chart.key.namespace.clone(),
        name: chart.text("/spec/sourceRef/name").to_owned(),
    };
    let source_revision = cluster.get(&source).present().map(|o| o.text("/status/artifact/revision").to_owned());
    let wanted = chart.text("/spec/chart").rsplit('/').next().unwrap_or_default();
    let mut json = (*chart.json).clone();
    let generation = json.pointer("/metadata/generation").cloned().unwrap_or_default();
    let status = json.get_mut("status").and_then(Json::as_object_mut)?;
    status.insert("observedGeneration".into(), generation);
    match charts.newest(wanted, chart.text("/spec/version")) {
        Some(found) => {
            status.insert("observedChartName".into(), found.name().into());
            let revision = chart_version(chart, source_revision.as_deref(), found.version());
            status.insert("artifact".into(), json!({"revision": revision}));
            status.insert("conditions".into(), json!([{"type": "Ready", "status": "True"}]));
        }
        None => {
            let stalled =
                |kind: &str, status: &str| json!({"type": kind, "status": status, "reason": "InvalidChartReference"});
            status.insert("conditions".into(), json!([stalled("Stalled", "True"), stalled("Ready", "False")]));
        }
    }
    Object::new(json, chart.source.clone())
}
