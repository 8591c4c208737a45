//! What a force would do, against what recorded forces did: below `fixtures/live` (or below `LIVE_EPISODES`), one test per
//! episode that has a step in which somebody did nothing but force.
//!
//! From the snapshot before the step the report names, for each forced release, the objects that are created, changed (with
//! the fields) and deleted. The revision that the step wrote tells the truth: none may be missing, none may be extra.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use helm_render_predictor::api::{Inputs, Options};
use helm_render_predictor::base::Known;
use helm_render_predictor::cluster::import::import;
use helm_render_predictor::cluster::snapshot::{Facts, Snapshot};
use helm_render_predictor::cluster::storage::{self, StoredRelease, stored};
use helm_render_predictor::diff;
use helm_render_predictor::flux::HelmRelease;
use helm_render_predictor::flux::postrender::parse_manifest;
use helm_render_predictor::plan::render::Doc;
use helm_render_predictor::report::contract::{Class, Release};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value as Json, json};

fn main() {
    let root = support::folder("LIVE_EPISODES", "fixtures/live");
    let mut trials = Vec::new();
    for family in support::folders(&root) {
        for episode in support::folders(&family).into_iter().filter(|e| e.join("episode.yaml").exists()) {
            let bytes = std::fs::read(episode.join("episode.yaml")).unwrap();
            let json = helm_render_predictor::codec::yaml::parse_first(&bytes)
                .ok()
                .flatten()
                .and_then(|document| helm_render_predictor::codec::yaml::to_json(document.root()).ok());
            let Some(json) = json.filter(|json| steps(json).any(|step| !forced(step).is_empty())) else { continue };
            let name = episode.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
            let root = root.clone();
            trials.push(Trial::test(name, move || check(&root, &episode, &json)));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn steps(episode: &Json) -> impl Iterator<Item = &Json> {
    episode["steps"].as_array().into_iter().flatten()
}

/// The releases that a step forces, if it does nothing else: namespace and name.
fn forced(step: &Json) -> Vec<(String, String)> {
    let events: Vec<&Json> = step["event"].as_array().into_iter().flatten().collect();
    let force = |event: &&Json| {
        let patch = &event["patch"];
        let stamp =
            |key: &str| patch["patch"]["metadata"]["annotations"][format!("reconcile.fluxcd.io/{key}")].as_str();
        let both = stamp("forceAt").is_some() && stamp("forceAt") == stamp("requestedAt");
        let alone = patch["patch"].as_object().is_some_and(|p| p.len() == 1) && patch["kind"] == "HelmRelease";
        let text = |key: &str| patch["metadata"][key].as_str().unwrap_or_default().to_owned();
        (both && alone).then(|| (text("namespace"), text("name")))
    };
    let found: Vec<_> = events.iter().filter_map(force).collect();
    if found.len() == events.len() { found } else { Vec::new() }
}

fn check(root: &Path, folder: &Path, episode: &Json) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    for step in steps(episode) {
        let Some(number) = step["step"].as_u64() else { continue };
        let forced = forced(step);
        if forced.is_empty() {
            continue;
        }
        let title = step["title"].as_str().unwrap_or_default();
        let inputs = inputs(root, folder, episode, number - 1)?;
        let report = inputs.plan();
        let (before, _) = import(&inputs.snapshot);
        let (after, _) = import(&snapshot_files(root, folder, number)?);
        for (namespace, name) in forced {
            let release = report.releases.iter().find(|r| r.release.namespace == namespace && r.release.name == name);
            let release = release.ok_or_else(|| format!("{namespace}/{name} is not in the report"))?;
            if let Some(done) = done(&before, &after, &namespace, &name)? {
                // What a chart or values changed needs no fact.
                let again = published(episode, number).count() > 1;
                let only_facts = release.decision.state == "InSync" && !again;
                compare(release, &done, only_facts, &mut |problem| {
                    wrong.push(format!("step {number} ({title}): {name}: {problem}"))
                });
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

fn snapshot_files(root: &Path, folder: &Path, step: u64) -> Result<Vec<(String, Vec<u8>)>, Failed> {
    let mut files = Vec::new();
    for path in [
        root.join("discovery.json"),
        folder.join(format!("discovery-{step}.json")),
        folder.join(format!("snapshot-{step}.yaml")),
    ] {
        if path.exists() {
            files.push((path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path)?));
        }
    }
    Ok(files)
}

fn inputs(root: &Path, folder: &Path, episode: &Json, step: u64) -> Result<Inputs, Failed> {
    let snapshot = snapshot_files(root, folder, step)?;
    let held = |digest: &str| snapshot.iter().any(|(_, bytes)| String::from_utf8_lossy(bytes).contains(digest));
    // Of a version that was published again, what a source holds counts, else the newest.
    let mut newest: BTreeMap<(String, String), (bool, u64, &str)> = BTreeMap::new();
    for (name, about) in published(episode, step) {
        let digest = about["digest"].as_str().unwrap_or_default();
        if folder.join("charts").join(name).exists() {
            let entry = newest.entry((about["name"].to_string(), about["version"].to_string())).or_default();
            let at = about["published_at_step"].as_u64().unwrap_or_default();
            *entry = (*entry).max((!digest.is_empty() && held(digest), at, name));
        }
    }
    let mut charts = Vec::new();
    for (.., name) in newest.into_values() {
        let mut files = Vec::new();
        support::all_files(&folder.join("charts").join(name), "", &mut files);
        charts.extend(files.into_iter().map(|(path, bytes)| (format!("{name}/{path}"), bytes)));
    }
    let controller = episode["controller"].as_str().map(str::to_owned);
    let options = Options { controller, ..Options::default() };
    let mut snapshot = snapshot;
    snapshot.push(("coverage.json".to_owned(), coverage(root, folder, episode)?));
    Ok(Inputs { snapshot, charts, options })
}

/// The charts that were published up to a step.
fn published(episode: &Json, step: u64) -> impl Iterator<Item = (&str, &Json)> {
    let all = episode["charts"].as_object().into_iter().flatten();
    all.filter(move |(_, about)| about["published_at_step"].as_u64().is_some_and(|at| at <= step))
        .map(|(name, about)| (name.as_str(), about))
}

/// What was recorded: every served kind in the namespaces that occur, but for kinds that manifests hold and no snapshot
/// shows.
fn coverage(root: &Path, folder: &Path, episode: &Json) -> Result<Vec<u8>, Failed> {
    let mut kinds: BTreeSet<(String, String)> = BTreeSet::new();
    let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
    let mut made: BTreeSet<(String, String)> = BTreeSet::new();
    let mut namespaces: BTreeSet<String> = BTreeSet::from([String::new()]);
    namespaces.extend(episode["namespace"].as_str().map(str::to_owned));
    for step in steps(episode).filter_map(|s| s["step"].as_u64()) {
        let (cluster, _) = import(&snapshot_files(root, folder, step)?);
        for object in cluster.objects() {
            seen.insert((object.key.group.clone(), object.key.kind.clone()));
            namespaces.insert(object.key.namespace.clone());
            if let Ok(release) = storage::decode(&object.clone()) {
                for doc in parse_manifest(release.manifest()).unwrap_or_default() {
                    let key = Doc::new(doc, "", &cluster).key;
                    made.insert((key.group, key.kind));
                }
            }
        }
        for api in cluster.discovery.api_versions() {
            if let Some((version, kind)) = api.rsplit_once('/').filter(|(v, _)| cluster.discovery.serves(v)) {
                let group = version.split_once('/').map_or("", |(group, _)| group);
                kinds.insert((group.to_owned(), kind.to_owned()));
            }
        }
    }
    kinds.retain(|kind| seen.contains(kind) || !made.contains(kind));
    let collected: Vec<Json> = kinds
        .into_iter()
        .map(|(group, kind)| json!({"group": group, "kind": kind, "namespaces": namespaces}))
        .collect();
    Ok(serde_json::to_vec(&json!({"apiVersion": "reconcile-planner/v1", "kind": "Coverage", "collected": collected}))?)
}

/// What the recorded step did to the objects of a release.
struct Done {
    created: BTreeSet<String>,
    changed: BTreeMap<String, BTreeSet<String>>,
    deleted: BTreeSet<String>,
}

fn manifest(cluster: &Snapshot, namespace: &str, name: &str) -> Result<Option<(StoredRelease, Vec<Doc>)>, Failed> {
    let hr =
        cluster.objects().find(|o| o.key.kind == "HelmRelease" && o.key.namespace == namespace && o.key.name == name);
    let Some(hr) = hr.map(|o| HelmRelease::new(o.json.clone())) else { return Ok(None) };
    let (revisions, _) = stored(cluster, &hr.storage_namespace(), &hr.release_name());
    let Some(newest) = revisions.into_iter().next() else { return Ok(None) };
    let docs = parse_manifest(newest.manifest())?;
    let docs = docs.into_iter().map(|d| Doc::new(d, &hr.release_namespace(), cluster)).collect();
    Ok(Some((newest, docs)))
}

/// `None` if the step wrote no revision, or more than the one that was forced.
fn done(before: &Snapshot, after: &Snapshot, namespace: &str, name: &str) -> Result<Option<Done>, Failed> {
    let (Some((old, was)), Some((new, is))) = (manifest(before, namespace, name)?, manifest(after, namespace, name)?)
    else {
        return Ok(None);
    };
    // What failed half-way did not do what it set out to.
    if new.version != old.version + 1 || new.status != "deployed" {
        return Ok(None);
    }
    let was: BTreeMap<_, _> = was.into_iter().map(|doc| (doc.key.clone(), doc)).collect();
    let is: BTreeMap<_, _> = is.into_iter().map(|doc| (doc.key.clone(), doc)).collect();
    let mut done = Done { created: BTreeSet::new(), changed: BTreeMap::new(), deleted: BTreeSet::new() };
    for (key, doc) in &is {
        let Some(old) = was.get(key) else {
            done.created.insert(key.to_string());
            continue;
        };
        let fields: BTreeSet<String> = diff::changes(&old.object, &doc.object).into_iter().map(|c| c.path).collect();
        if !fields.is_empty() {
            done.changed.insert(key.to_string(), fields);
        }
        if matches!(before.get(key), Known::Absent) && after.get(key).present().is_some() {
            done.created.insert(key.to_string());
        }
    }
    let gone = was.keys().filter(|key| !is.contains_key(key) && after.get(key).present().is_none());
    done.deleted = gone.map(ToString::to_string).collect();
    Ok(Some(done))
}

fn compare(release: &Release, done: &Done, only_facts: bool, wrong: &mut dyn FnMut(String)) {
    let force = &release.force;
    let created: BTreeSet<String> = force.created.iter().map(ToString::to_string).collect();
    let deleted: BTreeSet<String> = force.deleted.iter().map(ToString::to_string).collect();
    let changed: BTreeMap<String, BTreeSet<String>> =
        force.changed.iter().map(|c| (c.object.to_string(), c.fields.iter().cloned().collect())).collect();
    if created != done.created {
        wrong(format!("creates {created:?}, recorded {:?}", done.created));
    }
    if changed != done.changed {
        wrong(format!("changes {changed:?}, recorded {:?}", done.changed));
    }
    if deleted != done.deleted {
        wrong(format!("deletes {deleted:?}, recorded {:?}", done.deleted));
    }
    // Whatever the force did has a finding, and a fact that decided it where the render depends on one.
    for object in done.created.iter().chain(done.changed.keys()).chain(&done.deleted) {
        let of = |f: &&helm_render_predictor::report::contract::Finding| {
            f.object.as_ref().is_some_and(|o| o.to_string() == *object)
        };
        let findings: Vec<_> = release.findings.iter().filter(of).collect();
        if findings.is_empty() {
            wrong(format!("no finding for {object}"));
        }
        let explains = [Class::WouldRotate, Class::Noise, Class::DeletedLive];
        for finding in findings.iter().filter(|f| only_facts && f.chains.is_empty() && !explains.contains(&f.class)) {
            wrong(format!("{} {object} has no fact that decides it", finding.class.word()));
        }
    }
    if done.created.is_empty() {
        for finding in release.findings.iter().filter(|f| f.class == Class::Skipped) {
            wrong(format!("SKIPPED {:?}, but the force created nothing", finding.object));
        }
    }
}
