//! Recorded episodes of a real helm-controller, step by step: below `fixtures/live` (or below `LIVE_EPISODES`), one test
//! per episode.
//!
//! For each step the snapshot before and the event are the inputs; the predicted revisions (which release, which action,
//! which number) and, for each, the objects of the stored manifest in order, must be what was recorded. A step in which
//! the controller wrote nothing must be predicted to write nothing. What no rule can know is given in `GIVEN`.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use helm_render_predictor::cluster::import::import;
use helm_render_predictor::cluster::object::{Object, ObjectKey};
use helm_render_predictor::cluster::snapshot::{Facts, Snapshot};
use helm_render_predictor::cluster::storage;
use helm_render_predictor::diff;
use helm_render_predictor::flux::postrender::parse_manifest;
use helm_render_predictor::flux::settings::Settings;
use helm_render_predictor::plan::charts::Charts;
use helm_render_predictor::plan::settle::{Written, retried, settle, woken};
use helm_render_predictor::report::contract::ReleaseRef;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value as Json;

fn main() {
    let root = support::folder("LIVE_EPISODES", "fixtures/live");
    let discovery = std::fs::read(root.join("discovery.json")).ok();
    let mut trials = Vec::new();
    for family in support::folders(&root) {
        for episode in support::folders(&family).into_iter().filter(|e| e.join("episode.yaml").exists()) {
            let name = episode.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
            let discovery = discovery.clone();
            trials.push(Trial::test(name, move || Episode::read(&episode, discovery)?.check()));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn yaml(bytes: &[u8]) -> Result<Json, Failed> {
    let document = helm_render_predictor::codec::yaml::parse_first(bytes)?.ok_or("empty file")?;
    Ok(helm_render_predictor::codec::yaml::to_json(document.root())?)
}

struct Episode {
    folder: PathBuf,
    json: Json,
    charts: Charts,
    discovery: Option<Vec<u8>>,
    settings: Settings,
}

impl Episode {
    fn read(folder: &Path, discovery: Option<Vec<u8>>) -> Result<Episode, Failed> {
        let json = yaml(&std::fs::read(folder.join("episode.yaml"))?)?;
        let mut files = Vec::new();
        if folder.join("charts").exists() {
            support::all_files(&folder.join("charts"), "", &mut files);
        }
        let (charts, problems) = Charts::read(&files);
        if let Some(problem) = problems.first() {
            return Err(problem.to_string().into());
        }
        let controller = json["controller"].as_str().unwrap_or_default().parse()?;
        let settings = Settings { controller, ..Settings::default() };
        Ok(Episode { folder: folder.to_owned(), json, charts, discovery, settings })
    }

    /// The cluster after a step: the namespace is whole; what the episode's kinds are is told by discovery.
    fn snapshot(&self, step: u64) -> Result<Snapshot, Failed> {
        let mut files = Vec::new();
        files.extend(self.discovery.clone().map(|bytes| ("discovery.json".to_owned(), bytes)));
        for name in [format!("snapshot-{step}.yaml"), format!("discovery-{step}.json")] {
            if let Ok(bytes) = std::fs::read(self.folder.join(&name)) {
                files.push((name, bytes));
            }
        }
        if step == 0 && !self.folder.join("discovery-0.json").exists() {
            // What is served before the first step is what is served after it, as far as CRDs do not tell.
            if let Ok(bytes) = std::fs::read(self.folder.join("discovery-1.json")) {
                files.push(("discovery-1.json".into(), bytes));
            }
        }
        let (mut snapshot, problems) = import(&files);
        snapshot.coverage.complete = true;
        match problems.first() {
            Some(problem) => Err(problem.to_string().into()),
            None => Ok(snapshot),
        }
    }

    fn check(&self) -> Result<(), Failed> {
        let mut wrong = Vec::new();
        let steps = self.json["steps"].as_array().ok_or("no steps")?;
        for step in steps {
            let number = step["step"].as_u64().ok_or("a step without number")?;
            let title = step["title"].as_str().unwrap_or_default();
            if let Err(problem) = self.step(step, number) {
                wrong.push(format!("step {number} ({title}): {}", problem.message().unwrap_or_default()));
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
    }

    fn step(&self, step: &Json, number: u64) -> Result<(), Failed> {
        let mut cluster = self.snapshot(number - 1)?;
        let mut triggered = BTreeSet::new();
        for event in step["event"].as_array().ok_or("a step without event")? {
            apply_event(&mut cluster, event, &self.settings, &mut triggered)?;
        }
        triggered.extend(retried(&cluster));
        let triggered: Vec<ReleaseRef> = triggered.into_iter().collect();
        let written = settle(&mut cluster, &self.charts, &self.settings, &triggered);
        self.compare(step, &written, &self.snapshot(number)?)
    }

    fn compare(&self, step: &Json, written: &[Written], after: &Snapshot) -> Result<(), Failed> {
        // Recorded: each Secret that appeared with the revision it holds; rewritten older ones are not new.
        let mut recorded: BTreeMap<String, &str> = BTreeMap::new();
        for entry in step["outcome"]["stored_releases_written"].as_array().into_iter().flatten() {
            let status = entry["status"].as_str().unwrap_or_default();
            if status != "superseded" {
                recorded.insert(entry["secret"].as_str().unwrap_or_default().to_owned(), status);
            }
        }
        let mut predicted = BTreeMap::new();
        // A render that fails, or a kind that is not served, writes nothing (F-172).
        for w in written.iter().filter(|w| w.error.is_none()) {
            predicted.insert(format!("sh.helm.release.v1.{}.v{}", w.release.name, w.version), w);
        }
        let (want, got): (Vec<_>, Vec<_>) = (recorded.keys().collect(), predicted.keys().collect());
        if want != got {
            return Err(format!("recorded {want:?}, predicted {got:?}").into());
        }
        for (secret, w) in predicted {
            let key = ObjectKey {
                group: "".into(),
                kind: "Secret".into(),
                namespace: w.release.namespace.clone(),
                name: secret,
            };
            // A later revision within the same step may have pushed it out.
            let Some(object) = after.get(&key).present() else { continue };
            let stored = storage::decode(&object)?;
            same_manifest(w, stored.manifest())?;
        }
        Ok(())
    }
}

/// The same documents in the same order with the same source, each equal as an object.
fn same_manifest(written: &Written, manifest: &str) -> Result<(), Failed> {
    let recorded = parse_manifest(manifest)?;
    let name = |object: &Json| {
        format!(
            "{}/{}",
            object["kind"].as_str().unwrap_or_default(),
            object["metadata"]["name"].as_str().unwrap_or_default()
        )
    };
    let want: Vec<(String, String)> = recorded.iter().map(|d| (d.source.clone(), name(&d.object))).collect();
    let got: Vec<(String, String)> = written.manifest.iter().map(|d| (d.source.clone(), name(&d.object))).collect();
    if want != got {
        return Err(format!("{} v{}: recorded {want:?}, predicted {got:?}", written.release, written.version).into());
    }
    for (recorded, predicted) in recorded.iter().zip(&written.manifest) {
        let mut changes = diff::changes(&recorded.object, &predicted.object);
        // Masked: what the predictor itself knows to be volatile.
        changes.retain(|c| {
            !c.new.as_ref().is_some_and(|path| written.volatile.contains(&(predicted.key.clone(), path.clone())))
        });
        if !changes.is_empty() {
            let paths: Vec<&str> = changes.iter().map(|c| c.path.as_str()).collect();
            return Err(format!(
                "{} v{}: {} differs at {paths:?}",
                written.release,
                written.version,
                name(&recorded.object)
            )
            .into());
        }
    }
    Ok(())
}

/// Applies a write as the API server does, and notes which HelmReleases it makes the controller look at (`F-56`).
fn apply_event(
    cluster: &mut Snapshot,
    event: &Json,
    settings: &Settings,
    triggered: &mut BTreeSet<ReleaseRef>,
) -> Result<(), Failed> {
    let event = event.as_object().ok_or("an event that is no map")?;
    for (kind, body) in event {
        match kind.as_str() {
            "apply" => {
                let object = Object::new(body.clone(), Default::default()).ok_or("an object without identity")?;
                let old = cluster.get(&object.key).present();
                let mut json = old.as_ref().map_or_else(|| serde_json::json!({}), |o| (*o.json).clone());
                merge(&mut json, body, false);
                write(cluster, &object.key, old, json, settings, triggered);
            }
            "patch" => {
                let object = Object::new(body.clone(), Default::default()).ok_or("a patch without identity")?;
                let old = cluster.get(&object.key).present().ok_or("a patch of nothing")?;
                let mut json = (*old.json).clone();
                merge(&mut json, &body["patch"], true);
                write(cluster, &object.key, Some(old), json, settings, triggered);
            }
            "delete" => {
                let object = Object::new(body.clone(), Default::default()).ok_or("a deletion without identity")?;
                cluster.apply([(object.key, None)]);
            }
            "publish" => {}
            other => return Err(format!("event {other:?} is not known to this harness").into()),
        }
    }
    Ok(())
}

fn write(
    cluster: &mut Snapshot,
    key: &ObjectKey,
    old: Option<Rc<Object>>,
    mut json: Json,
    settings: &Settings,
    triggered: &mut BTreeSet<ReleaseRef>,
) {
    let requested = |json: &Json| json.pointer("/metadata/annotations/reconcile.fluxcd.io~1requestedAt").cloned();
    let spec_changed = old.as_ref().is_none_or(|o| o.json.get("spec") != json.get("spec"));
    if spec_changed {
        let generation = old.as_ref().and_then(|o| o.json.pointer("/metadata/generation")?.as_i64()).unwrap_or(0) + 1;
        json["metadata"]["generation"] = generation.into();
    }
    let asked = requested(&json).is_some() && old.as_ref().is_none_or(|o| requested(&o.json) != requested(&json));
    if key.kind == "HelmRelease" && (spec_changed || asked) {
        triggered.insert(ReleaseRef { namespace: key.namespace.clone(), name: key.name.clone() });
    }
    cluster.apply([(key.clone(), Object::new(json, Default::default()).map(Rc::new))]);
    if key.kind != "HelmRelease" {
        triggered.extend(woken(cluster, settings, key));
    }
}

/// JSON merge patch; `deletes` says whether null takes a key away.
fn merge(into: &mut Json, patch: &Json, deletes: bool) {
    let Json::Object(patch) = patch else {
        *into = patch.clone();
        return;
    };
    if !into.is_object() {
        *into = serde_json::json!({});
    }
    let Json::Object(map) = into else { return };
    for (key, value) in patch {
        if deletes && value.is_null() {
            map.remove(key);
        } else {
            merge(map.entry(key.clone()).or_insert(Json::Null), value, deletes);
        }
    }
}
