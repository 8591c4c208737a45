//! Cases as data: a cluster at T0, charts and releases that Flux installs on it, what happens until T1, and what the
//! report owes then. `fixtures/scenarios/cases/README.md` tells the format.

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use helm_render_predictor::api::{Inputs, Options};
use helm_render_predictor::cluster::import::import;
use helm_render_predictor::cluster::object::{Object, Source};
use helm_render_predictor::cluster::snapshot::Snapshot;
use helm_render_predictor::codec::yaml;
use helm_render_predictor::flux::settings::Settings;
use helm_render_predictor::plan::charts::Charts;
use helm_render_predictor::plan::settle::{AllSucceeds, settle};
use helm_render_predictor::report::contract::ReleaseRef;
use serde_json::{Map, Value as Json, json};

/// What Flux brings along.
const FLUX_KINDS: [&str; 3] = [
    "helm.toolkit.fluxcd.io/v2 HelmRelease",
    "source.toolkit.fluxcd.io/v1 HelmChart",
    "source.toolkit.fluxcd.io/v1 HelmRepository",
];

/// One case, with its variation merged in.
pub struct Case {
    /// Its name: that of the file, and that of the variation behind a slash.
    pub name: String,
    /// The whole of it.
    pub json: Json,
}

/// The cases of a folder's YAML files, by name.
pub fn cases(folder: &Path) -> Vec<Case> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "yaml"));
    paths.sort();
    paths.iter().flat_map(|path| variations(path)).collect()
}

fn variations(path: &Path) -> Vec<Case> {
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let document = yaml::parse_first(&fs::read(path).unwrap()).unwrap_or_else(|e| panic!("{name}: {e:?}"));
    let mut json = yaml::to_json(document.unwrap().root()).unwrap_or_else(|e| panic!("{name}: {e}"));
    let variations = json.as_object_mut().and_then(|map| map.remove("variations")).unwrap_or(Json::Null);
    let mut found = Vec::new();
    for (variation, patch) in variations.as_object().into_iter().flatten() {
        let mut merged = json.clone();
        merge(&mut merged, patch);
        found.push(Case { name: format!("{name}/{variation}"), json: merged });
    }
    if json.get("expect").is_some() {
        found.insert(0, Case { name, json });
    }
    found
}

/// A JSON merge patch; what it says about `expect` and `after` stands instead of what was there.
fn merge(into: &mut Json, patch: &Json) {
    let (Json::Object(map), Json::Object(changes)) = (&mut *into, patch) else {
        *into = patch.clone();
        return;
    };
    for (key, change) in changes {
        match change {
            Json::Null => drop(map.remove(key)),
            _ if key == "expect" || key == "after" => drop(map.insert(key.clone(), change.clone())),
            _ => merge(map.entry(key.clone()).or_insert(Json::Object(Map::new())), change),
        }
    }
}

impl Case {
    /// What the program is given: the snapshot at T1, and the charts.
    pub fn inputs(&self) -> Inputs {
        let charts = self.chart_files();
        let (read, problems) = Charts::read(&charts, Settings::default().controller.helm());
        assert!(problems.is_empty(), "{problems:?}");
        let mut cluster = import(&[self.world(), self.coverage(&json!({"takenAt": "2026-03-02T08:00:00Z"}))]).0;
        let all = self.releases();
        let early: Vec<ReleaseRef> =
            all.iter().filter(|(_, about)| about["installed"] != false).map(|(release, _)| release.clone()).collect();
        settle(&mut cluster, &read, &Settings::default(), &early, &mut AllSucceeds);
        for step in self.steps() {
            self.step(&mut cluster, step, &read);
        }
        let mut snapshot = vec![dump(&cluster), self.coverage(&self.json["coverage"])];
        if let Some(text) = self.json["raw"].as_str() {
            snapshot.push(("raw.yaml".into(), text.as_bytes().to_vec()));
        }
        let given = self.json["chartsGiven"] != false;
        let options = match self.json.get("options") {
            Some(options) => serde_json::from_value(options.clone()).unwrap(),
            None => Options::default(),
        };
        Inputs { snapshot, charts: if given { charts } else { Vec::new() }, options }
    }

    fn steps(&self) -> Vec<&Json> {
        match &self.json["after"] {
            Json::Array(steps) => steps.iter().collect(),
            Json::Null => Vec::new(),
            step => vec![step],
        }
    }

    fn step(&self, cluster: &mut Snapshot, step: &Json, charts: &Charts) {
        let known = ["objects", "served", "unserved", "gone", "patch", "reconcile"];
        for key in step.as_object().unwrap().keys() {
            assert!(known.contains(&key.as_str()), "{}: a step has no {key}", self.name);
        }
        let served = texts(&step["served"]).into_iter().map(crd);
        let written = step["objects"].as_array().into_iter().flatten().cloned().chain(served);
        let edits: Vec<_> = written.map(object).map(|o| (o.key.clone(), Some(Rc::new(o)))).collect();
        cluster.apply(edits);
        for kind in texts(&step["unserved"]) {
            let key = object(crd(kind)).key;
            cluster.apply([(key, None)]);
        }
        for (name, patch) in step["patch"].as_object().into_iter().flatten() {
            let old = self.named(cluster, name);
            let mut json = (*old.json).clone();
            merge(&mut json, patch);
            if json.get("spec") != old.json.get("spec") && old.key.kind == "HelmRelease" {
                let generation = json["metadata"]["generation"].as_i64().unwrap_or(1);
                json["metadata"]["generation"] = (generation + 1).into();
            }
            cluster.apply([(old.key.clone(), Some(Rc::new(object(json))))]);
        }
        for name in texts(&step["gone"]) {
            let key = self.named(cluster, name).key.clone();
            cluster.apply([(key, None)]);
        }
        let runs: Vec<ReleaseRef> = texts(&step["reconcile"]).into_iter().map(reference).collect();
        if !runs.is_empty() {
            settle(cluster, charts, &Settings::default(), &runs, &mut AllSucceeds);
        }
    }

    /// The object that a name such as `Secret ns/name` stands for.
    fn named(&self, cluster: &Snapshot, name: &str) -> Rc<Object> {
        let found = cluster.objects().find(|o| o.key.to_string() == name).cloned();
        found.unwrap_or_else(|| panic!("{}: there is no {name}", self.name))
    }

    fn releases(&self) -> Vec<(ReleaseRef, &Json)> {
        let all = self.json["releases"].as_object().into_iter().flatten();
        all.map(|(name, about)| (reference(name), about)).collect()
    }

    /// The cluster at T0: what the case says, its HelmReleases, and where their charts come from.
    fn world(&self) -> (String, Vec<u8>) {
        let mut items: Vec<Json> = FLUX_KINDS.iter().map(|kind| crd(kind)).collect();
        for part in [&self.json, &self.json["before"]] {
            items.extend(texts(&part["served"]).into_iter().map(crd));
            items.extend(part["objects"].as_array().into_iter().flatten().cloned());
        }
        items.push(json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmRepository",
            "metadata": {"name": "charts", "namespace": "flux-system", "generation": 1},
            "spec": {"url": "https://charts.example.org", "interval": "5m"},
            "status": {"observedGeneration": 1, "artifact": {"revision": "sha256:ab", "digest": "sha256:ab"},
                "conditions": [{"type": "Ready", "status": "True", "observedGeneration": 1}]},
        }));
        for (release, about) in self.releases() {
            let chart = about["chart"].as_str().unwrap();
            let meta = &self.json["charts"][chart]["meta"];
            let mut hr = json!({
                "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
                "metadata": {"name": release.name, "namespace": release.namespace, "generation": 1,
                    "finalizers": ["finalizers.fluxcd.io"]},
                "spec": {"interval": "5m", "chart": {"spec": {
                    "chart": meta["name"].as_str().unwrap_or(chart), "version": meta["version"].as_str().unwrap_or("1.0.0"),
                    "sourceRef": {"kind": "HelmRepository", "name": "charts", "namespace": "flux-system"},
                }}},
            });
            for key in ["metadata", "spec", "status"] {
                if let Some(patch) = about.get(key) {
                    merge(hr.as_object_mut().unwrap().entry(key).or_insert(json!({})), patch);
                }
            }
            if let Some(values) = about.get("values") {
                hr["spec"]["values"] = values.clone();
            }
            items.push(hr);
        }
        let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
        ("world.json".to_owned(), list.to_string().into_bytes())
    }

    fn coverage(&self, patch: &Json) -> (String, Vec<u8>) {
        let mut coverage = json!({
            "apiVersion": "reconcile-planner/v1", "kind": "Coverage", "metadata": {"name": "case"}, "complete": true,
            "takenAt": "2026-06-01T03:00:00Z", "kubernetesVersion": "v1.35.4",
        });
        if !patch.is_null() {
            merge(&mut coverage, patch);
        }
        ("coverage.json".to_owned(), coverage.to_string().into_bytes())
    }

    /// The charts as files, a folder each.
    pub fn chart_files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = Vec::new();
        for (name, chart) in self.json["charts"].as_object().into_iter().flatten() {
            chart_files(name, name, chart, &mut files);
        }
        files
    }
}

fn chart_files(folder: &str, name: &str, chart: &Json, files: &mut Vec<(String, Vec<u8>)>) {
    let mut meta = json!({"apiVersion": "v2", "name": name, "version": "1.0.0"});
    merge(&mut meta, chart.get("meta").unwrap_or(&json!({})));
    let mut add = |path: String, bytes: Vec<u8>| files.push((format!("{folder}/{path}"), bytes));
    add("Chart.yaml".into(), meta.to_string().into_bytes());
    let values = chart.get("values").unwrap_or(&Json::Null);
    add("values.yaml".into(), if values.is_null() { Vec::new() } else { values.to_string().into_bytes() });
    for (place, key) in [("templates/", "templates"), ("crds/", "crds"), ("", "files")] {
        for (path, text) in chart[key].as_object().into_iter().flatten() {
            add(format!("{place}{path}"), text.as_str().unwrap().as_bytes().to_vec());
        }
    }
    for key in chart.as_object().unwrap().keys() {
        assert!(
            ["meta", "values", "templates", "crds", "files", "charts"].contains(&key.as_str()),
            "a chart has no {key}"
        );
    }
    for (sub, chart) in chart["charts"].as_object().into_iter().flatten() {
        chart_files(&format!("{folder}/charts/{sub}"), sub, chart, files);
    }
}

/// All objects as a file.
fn dump(cluster: &Snapshot) -> (String, Vec<u8>) {
    let items: Vec<&Json> = cluster.objects().map(|o| &*o.json).collect();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
    ("snapshot.json".to_owned(), list.to_string().into_bytes())
}

fn object(json: Json) -> Object {
    let text = json.to_string();
    Object::new(json, Source::default()).unwrap_or_else(|| panic!("no object: {text}"))
}

fn texts(json: &Json) -> Vec<&str> {
    json.as_array().into_iter().flatten().map(|text| text.as_str().unwrap()).collect()
}

fn reference(name: &str) -> ReleaseRef {
    let (namespace, name) = name.split_once('/').unwrap();
    ReleaseRef { namespace: namespace.to_owned(), name: name.to_owned() }
}

/// The definition of `a.io/v1 Kind`, or of `a.io/v1 Kind cluster`.
fn crd(text: &str) -> Json {
    let mut words = text.split(' ');
    let (api, kind) = (words.next().unwrap(), words.next().unwrap_or_else(|| panic!("no kind in {text:?}")));
    let (group, version) = api.split_once('/').unwrap_or_else(|| panic!("no group in {text:?}"));
    let (singular, plural) = (kind.to_lowercase(), format!("{}s", kind.to_lowercase()));
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group, "scope": if words.next() == Some("cluster") { "Cluster" } else { "Namespaced" },
            "names": {"kind": kind, "listKind": format!("{kind}List"), "plural": plural, "singular": singular},
            "versions": [{"name": version, "served": true, "storage": true}],
        },
    })
}
