//! An episode on disk: its steps, snapshots, charts and settings.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use helm_render_predictor::cluster::import::import;
use helm_render_predictor::cluster::object::{Object, ObjectKey};
use helm_render_predictor::cluster::snapshot::Snapshot;
use helm_render_predictor::flux::settings::Settings;
use helm_render_predictor::plan::charts::Charts;
use libtest_mimic::Failed;
use serde_json::Value as Json;

use crate::support;
use crate::text::yaml;

pub struct Episode {
    /// Family and name.
    pub name: String,
    pub folder: PathBuf,
    pub json: Json,
    discovery: Option<Arc<[u8]>>,
}

impl Episode {
    pub fn read(name: String, folder: PathBuf, discovery: Option<Arc<[u8]>>) -> Result<Episode, Failed> {
        let json = yaml(&std::fs::read(folder.join("episode.yaml"))?)?;
        Ok(Episode { name, folder, json, discovery })
    }

    /// Whether somebody else than the controller wrote to Helm's storage in this step or before.
    pub fn edits_storage(&self, step: u64) -> bool {
        let steps = self.json["steps"].as_array();
        let earlier = steps.into_iter().flatten().filter(|s| s["step"].as_u64().is_some_and(|n| n <= step));
        earlier.flat_map(|s| s["event"].as_array().into_iter().flatten()).any(|event| {
            let by_hand = event.get("command").is_some();
            let stops = event["other"].as_str().is_some_and(|o| o.contains("stopped"));
            let mut bodies = event.as_object().into_iter().flat_map(|e| e.values());
            by_hand
                || stops
                || bodies.any(|b| {
                    let name = b["metadata"]["name"].as_str().unwrap_or_default();
                    name.starts_with("sh.helm.release") || b["patch"]["status"].is_object()
                })
        })
    }

    pub fn namespaces(&self, snapshot: &Snapshot) -> BTreeSet<String> {
        let mut all: BTreeSet<String> = snapshot.objects().map(|o| o.key.namespace.clone()).collect();
        all.extend(self.json["namespace"].as_str().map(str::to_owned));
        let steps = self.json["steps"].as_array();
        for event in steps.into_iter().flatten().flat_map(|s| s["event"].as_array().into_iter().flatten()) {
            for body in event.as_object().into_iter().flat_map(|e| e.values()) {
                for pointer in ["/metadata/namespace", "/spec/targetNamespace", "/spec/storageNamespace"] {
                    all.extend(body.pointer(pointer).and_then(Json::as_str).map(str::to_owned));
                }
                for pointer in ["/patch/spec/targetNamespace", "/patch/spec/storageNamespace"] {
                    all.extend(body.pointer(pointer).and_then(Json::as_str).map(str::to_owned));
                }
            }
        }
        all.remove("");
        all
    }

    /// What the steps before applied, object by object.
    pub fn applied_before(&self, step: u64) -> BTreeMap<ObjectKey, Json> {
        let steps = self.json["steps"].as_array();
        let earlier = steps.into_iter().flatten().filter(|s| s["step"].as_u64().is_some_and(|n| n < step));
        let events = earlier.flat_map(|s| s["event"].as_array().into_iter().flatten());
        let bodies = events.filter_map(|e| e.get("apply"));
        let bodies = bodies.filter_map(|b| Some((Object::new(b.clone(), Default::default())?.key, b.clone())));
        // What was there before the first step came the same way.
        let first = self.snapshot(0).ok().into_iter().flat_map(|s| s.objects().cloned().collect::<Vec<_>>());
        let given = first.filter(|o| matches!(o.key.kind.as_str(), "ConfigMap" | "Secret")).map(|o| {
            let labels = &o.json["metadata"]["labels"];
            (o.key.clone(), serde_json::json!({"metadata": {"labels": labels}, "data": o.json["data"]}))
        });
        given.chain(bodies).collect()
    }

    /// The controller's settings at a step: a restart may have changed its flags.
    pub fn settings_at(&self, step: u64) -> Result<Settings, Failed> {
        let mut flags: Vec<&str> =
            self.json["controller_flags"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        let steps = self.json["steps"].as_array();
        let events = steps.into_iter().flatten().flat_map(|s| s["event"].as_array().into_iter().flatten());
        if events.filter_map(|e| e["other"].as_str()).any(|o| o.starts_with("helm-controller started with")) {
            // The flags of the episode are those of the restart.
            flags.clear();
        }
        let earlier = steps.into_iter().flatten().filter(|s| s["step"].as_u64().is_some_and(|n| n <= step));
        for event in earlier.flat_map(|s| s["event"].as_array().into_iter().flatten()) {
            if let Some(started) = event["other"].as_str().and_then(|o| o.strip_prefix("helm-controller started")) {
                flags = started.split_whitespace().filter(|w| w.starts_with("--")).collect();
            }
        }
        Ok(Settings::with_args(self.json["controller"].as_str().unwrap_or_default().parse()?, &flags))
    }

    /// Charts published before the end of a step: later content of a version replaces earlier one; the Git tree is the
    /// newest.
    pub fn charts(&self, step: u64) -> Result<Charts, Failed> {
        let helm = self.settings_at(step)?.controller.helm();
        let mut files = Vec::new();
        let mut published: Vec<(u64, String)> = Vec::new();
        for (folder, about) in self.json["charts"].as_object().into_iter().flatten() {
            let at = about["published_at_step"].as_u64().unwrap_or(0);
            if at <= step {
                published.push((at, folder.clone()));
            }
        }
        published.sort();
        let mut archives = Vec::new();
        for (order, (_, name)) in published.iter().enumerate() {
            let folder = self.folder.join("charts").join(name);
            if folder.exists() {
                // The number keeps the order: of two with the same version, the later one counts.
                let packed = vec![(format!("{order:04}-{name}.tgz"), support::packed(&folder)?)];
                if let Some(digest) = self.json["charts"][name]["digest"].as_str() {
                    let (alone, _) = Charts::read(&packed, helm);
                    archives.push((format!("sha256:{}", digest.trim_start_matches("sha256:")), alone));
                }
                files.extend(packed);
            }
        }
        // A commit is told by the files that it changes.
        let mut tree: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let commits = 0..=self.commit(step).unwrap_or(0);
        for commit in commits.map(|s| self.folder.join("git").join(s.to_string())).filter(|t| t.exists()) {
            let mut inside = Vec::new();
            support::all_files(&commit, "", &mut inside);
            tree.extend(inside);
        }
        files.extend(tree);
        let (mut charts, problems) = Charts::read(&files, helm);
        for (digest, alone) in archives {
            charts.add_archive(digest, &alone);
        }
        match problems.first() {
            Some(problem) => Err(problem.to_string().into()),
            None => Ok(charts),
        }
    }

    /// Discovery without the groups whose CRD the releases of the first step made.
    fn without_own_kinds(&self, discovery: &[u8]) -> Result<Vec<u8>, Failed> {
        let mut json: Json = serde_json::from_slice(discovery)?;
        let after = self.snapshot(1)?;
        let made = |o: &&Rc<Object>| {
            let labels = &o.json["metadata"]["labels"];
            labels["app.kubernetes.io/managed-by"] == "Helm" || labels["helm.toolkit.fluxcd.io/name"].is_string()
        };
        let crds = after.objects().filter(|o| o.key.kind == "CustomResourceDefinition").filter(made);
        let groups: BTreeSet<String> = crds.map(|o| o.text("/spec/group").to_owned()).collect();
        for list in json.as_object_mut().into_iter().flat_map(|map| map.values_mut()).filter_map(Json::as_array_mut) {
            let group =
                |list: &Json| list["groupVersion"].as_str().and_then(|gv| gv.split('/').next()).map(str::to_owned);
            list.retain(|list| group(list).is_none_or(|group| !groups.contains(&group)));
        }
        Ok(serde_json::to_vec(&json)?)
    }

    /// The commit, by the step of its push, that the GitRepository holds after a step: the newest one when its revision
    /// showed for the first time.
    fn commit(&self, step: u64) -> Option<u64> {
        let newest = |until: u64| (0..=until).rev().find(|s| self.folder.join("git").join(s.to_string()).exists());
        newest(step)?;
        let revision = |step: u64| {
            let snapshot = self.snapshot(step).ok()?;
            let git = snapshot.objects().find(|o| o.key.kind == "GitRepository").cloned()?;
            Some(git.text("/status/artifact/revision").to_owned()).filter(|r| !r.is_empty())
        };
        let Some(held) = revision(step) else { return newest(step) };
        newest((0..=step).find(|s| revision(*s).as_ref() == Some(&held))?)
    }

    /// The cluster after a step: the namespace is whole; what the episode's kinds are is told by discovery.
    pub fn snapshot(&self, step: u64) -> Result<Snapshot, Failed> {
        let mut files = Vec::new();
        files.extend(self.discovery.iter().map(|bytes| ("discovery.json".to_owned(), bytes.to_vec())));
        if step > 0 && !self.folder.join(format!("snapshot-{step}.yaml")).exists() {
            return Err(format!("there is no snapshot-{step}.yaml").into());
        }
        for name in [format!("snapshot-{step}.yaml"), format!("discovery-{step}.json")] {
            if let Ok(bytes) = std::fs::read(self.folder.join(&name)) {
                files.push((name, bytes));
            }
        }
        if step == 0 && !self.folder.join("discovery-0.json").exists() {
            // What is served before the first step is what is served after it, as far as CRDs do not tell.
            if let Ok(bytes) = std::fs::read(self.folder.join("discovery-1.json")) {
                files.push(("discovery-1.json".into(), self.without_own_kinds(&bytes)?));
            }
        }
        let (mut snapshot, problems) = import(&files);
        // Everything in the namespaces concerned; of what has no namespace, only what the episode is about.
        snapshot.coverage.namespaces = self.namespaces(&snapshot);
        match problems.first() {
            Some(problem) => Err(problem.to_string().into()),
            None => Ok(snapshot),
        }
    }
}
