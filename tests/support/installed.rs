//! A cluster told in few words: charts, values, and what the cluster held at the last render and holds now. What Flux and
//! Helm keep of it (HelmRelease, HelmChart, the release's Secret, the applied objects) is made here.

use helm_render_predictor::chart::{Chart, Files};
use helm_render_predictor::cluster::import::import;
use helm_render_predictor::cluster::object::Object;
use helm_render_predictor::cluster::storage::{StoredRelease, encode};
use helm_render_predictor::flux::digest::{config_digest, release_digest};
use helm_render_predictor::flux::postrender::{live_form, parse_manifest};
use helm_render_predictor::flux::settings::Settings;
use helm_render_predictor::plan::charts::Charts;
use helm_render_predictor::plan::gather::{Subject, gather};
use helm_render_predictor::plan::render::{Mode, Renderer};
use serde_json::{Map, Value as Json, json};
use std::rc::Rc;

/// A file of bytes with its name.
pub type File = (String, Vec<u8>);

/// Puts `patch` on `target` as RFC 7386 says; no patch changes nothing.
pub fn merge(target: &mut Json, patch: &Json) {
    if !patch.is_null() {
        merged(target, patch);
    }
}

fn merged(target: &mut Json, patch: &Json) {
    let Json::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    let target = target.as_object_mut().unwrap();
    for (key, value) in patch {
        if value.is_null() {
            target.remove(key);
        } else {
            merged(target.entry(key.clone()).or_insert(Json::Null), value);
        }
    }
}

/// `story` as it was at the last render: with what its `was` says on top.
fn past(story: &Json) -> Json {
    let mut past = story.clone();
    merge(&mut past, &story["was"]);
    past
}

/// The files of a chart, below a folder named after the release.
pub fn chart_files(release: &Json, name: &str) -> Vec<File> {
    let mut files =
        vec![("Chart.yaml".to_owned(), format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n").into_bytes())];
    for (path, content) in release["chart"].as_object().into_iter().flatten() {
        files.retain(|(other, _)| other != path);
        let text = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
        files.push((path.clone(), text.into_bytes()));
    }
    files
}

/// What the story tells of the cluster itself: its objects, what it serves, what it forbids.
fn world(story: &Json) -> Vec<Json> {
    let mut served = Vec::new();
    for api in story["served"].as_array().into_iter().flatten().filter_map(Json::as_str) {
        let (api, kind) = api.split_once(' ').unwrap_or_else(|| panic!("served: {api:?} is no `group/version Kind`"));
        let (kind, namespaced) = kind.strip_prefix("cluster-wide ").map_or((kind, true), |kind| (kind, false));
        let (group, version) = api.split_once('/').unwrap_or(("", api));
        let plural = format!("{}s", kind.to_lowercase());
        served.push(
            json!({"group": group, "version": version, "kind": kind, "plural": plural, "namespaced": namespaced}),
        );
    }
    let version = story["kubernetes"].as_str().unwrap_or("v1.35.4");
    let spec = json!({
        "kubeVersion": version, "apiResources": served,
        "forbidden": story["forbidden"], "removed": story["removed"], "brokenGroups": story["broken"],
    });
    let mut all = vec![
        json!({"apiVersion": "oracle.helm/v1", "kind": "ClusterProfile", "spec": spec}),
        json!({"apiVersion": "reconcile-planner/v1", "kind": "Coverage", "complete": true, "kubernetesVersion": version}),
    ];
    all.extend(story["cluster"].as_array().into_iter().flatten().cloned());
    all
}

/// Objects as a file of a snapshot.
fn file(name: &str, objects: &[Json]) -> File {
    let text: Vec<String> = objects.iter().map(Json::to_string).collect();
    (name.to_owned(), text.join("\n---\n").into_bytes())
}

/// The cluster alone, as `render` takes it.
pub fn cluster(story: &Json) -> File {
    file("cluster.yaml", &world(story))
}

/// Settings of the controller of the story.
fn settings(story: &Json) -> Settings {
    let arguments: Vec<String> =
        story["controllerArgs"].as_array().into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect();
    let version = story["controller"].as_str().map(|text| text.parse().unwrap());
    Settings::with_args(version.unwrap_or(Settings::default().controller), &arguments)
}

/// The whole snapshot, and the files of all charts.
pub fn snapshot(story: &Json) -> (Vec<File>, Vec<File>) {
    let mut objects = Vec::new();
    let mut charts = Vec::new();
    for (id, release) in story["releases"].as_object().into_iter().flatten() {
        let release = Installed::new(story, id, release);
        let files = chart_files(&release.now, &release.name);
        charts.extend(files.into_iter().map(|(path, bytes)| (format!("{}/{path}", id.replace('/', "-")), bytes)));
        objects.extend(release.objects());
    }
    let mut all = world(story);
    let told = identities(&all);
    objects.retain(|object| !told.contains(&identity(object)));
    all.extend(objects);
    (vec![file("cluster.yaml", &all)], charts)
}

fn identity(object: &Json) -> [String; 4] {
    let text = |pointer: &str| object.pointer(pointer).and_then(Json::as_str).unwrap_or_default().to_owned();
    let group = text("/apiVersion").rsplit_once('/').map(|(group, _)| group.to_owned()).unwrap_or_default();
    [group, text("/kind"), text("/metadata/namespace"), text("/metadata/name")]
}

fn identities(objects: &[Json]) -> Vec<[String; 4]> {
    objects.iter().map(identity).collect()
}

/// One release.
struct Installed<'a> {
    story: &'a Json,
    namespace: String,
    name: String,
    now: Json,
    past: Json,
    settings: Settings,
}

impl<'a> Installed<'a> {
    fn new(story: &'a Json, id: &str, release: &Json) -> Installed<'a> {
        let (namespace, name) = id.split_once('/').unwrap_or_else(|| panic!("{id}: no `NAMESPACE/NAME`"));
        Installed {
            story,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            now: release.clone(),
            past: past(release),
            settings: settings(story),
        }
    }

    fn by_flux(&self) -> bool {
        self.now["flux"] != false
    }

    fn chart(&self, release: &Json) -> Chart {
        let files: Files = chart_files(release, &self.name).into_iter().collect();
        Chart::from_folder_as(files, self.settings.controller.helm()).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }

    /// What is in the cluster because of it, now.
    fn objects(&self) -> Vec<Json> {
        let mut hr = self.helm_release(&self.now);
        let mut objects = Vec::new();
        if self.now["installed"] != false {
            let payload = self.payload();
            let revision = payload["version"].as_i64().unwrap_or(1);
            let secret = json!({
                "apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
                "metadata": {
                    "name": format!("sh.helm.release.v1.{}.v{revision}", self.name), "namespace": self.namespace,
                    "labels": {"owner": "helm", "name": self.name, "status": payload["info"]["status"], "version": revision.to_string()},
                },
                "data": {"release": encode(&payload)},
            });
            self.remember(&mut hr, &payload, &secret);
            objects.push(secret);
            objects.extend(self.applied(payload["manifest"].as_str().unwrap_or_default()));
        }
        if self.by_flux() {
            merge(&mut hr, &self.now["helmRelease"]);
            objects.extend([hr, self.helm_chart(), self.repository()]);
        }
        objects
    }

    /// The HelmRelease without its status, with the specification of that time.
    fn helm_release(&self, release: &Json) -> Json {
        let chart = self.chart(release);
        let mut hr = json!({
            "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
            "metadata": {"name": self.name, "namespace": self.namespace, "generation": 1, "finalizers": ["finalizers.fluxcd.io"]},
            "spec": {
                "interval": "5m", "values": release["values"],
                "chart": {"spec": {
                    "chart": chart.name(), "version": chart.version(),
                    "sourceRef": {"kind": "HelmRepository", "name": "charts", "namespace": "flux-system"},
                }},
            },
        });
        if release["values"].is_null() {
            hr["spec"].as_object_mut().unwrap().remove("values");
        }
        let mut patch = release["helmRelease"].clone();
        patch.as_object_mut().map(|patch| patch.remove("status"));
        merge(&mut hr, &patch);
        hr
    }

    fn helm_chart(&self) -> Json {
        let chart = self.chart(&self.now);
        let mut object = json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmChart",
            "metadata": {"name": format!("{}-{}", self.namespace, self.name), "namespace": "flux-system", "generation": 1},
            "spec": {
                "chart": chart.name(), "version": chart.version(), "reconcileStrategy": "ChartVersion",
                "interval": self.helm_release(&self.now)["spec"]["interval"],
                "sourceRef": {"kind": "HelmRepository", "name": "charts"},
            },
            "status": {
                "observedGeneration": 1, "observedChartName": chart.name(),
                "observedSourceArtifactRevision": format!("sha256:{}", "ab".repeat(32)),
                "artifact": {
                    "digest": format!("sha256:{}", "cd".repeat(32)), "revision": chart.version(),
                    "path": "chart.tgz", "url": "http://source/chart.tgz", "lastUpdateTime": DAY,
                },
                "conditions": [ready("ChartPullSucceeded", "pulled the chart")],
            },
        });
        merge(&mut object, &self.now["helmChart"]);
        object
    }

    fn repository(&self) -> Json {
        json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmRepository",
            "metadata": {"name": "charts", "namespace": "flux-system", "generation": 1},
            "spec": {"url": "http://charts", "interval": "5m"},
            "status": {
                "observedGeneration": 1,
                "artifact": {
                    "revision": format!("sha256:{}", "ab".repeat(32)), "digest": format!("sha256:{}", "ab".repeat(32)),
                    "path": "index.yaml", "url": "http://source/index.yaml", "lastUpdateTime": DAY,
                },
                "conditions": [ready("Succeeded", "stored artifact")],
            },
        })
    }

    /// The release as it was, on the cluster as it was.
    fn subject(&self) -> (Subject, Vec<File>) {
        let mut facts = world(&past(self.story));
        if self.by_flux() {
            let own = self.helm_release(&self.past);
            facts.retain(|object| identity(object) != identity(&own));
            facts.push(own);
        }
        // Another moment, other chances.
        facts.push(json!({"apiVersion": "reconcile-planner/v1", "kind": "Coverage", "complete": true, "takenAt": DAY}));
        let snapshot = vec![file("cluster.yaml", &facts)];
        let (facts, problems) = import(&snapshot);
        assert!(problems.is_empty(), "{problems:?}");
        if !self.by_flux() {
            let values = if self.past["values"].is_null() { json!({}) } else { self.past["values"].clone() };
            return (Subject::alone(&self.name, &self.namespace, self.chart(&self.past), values), snapshot);
        }
        let charts: Vec<File> = chart_files(&self.past, &self.name)
            .into_iter()
            .map(|(path, bytes)| (format!("chart/{path}"), bytes))
            .collect();
        let (charts, problems) = Charts::read(&charts, self.settings.controller.helm());
        assert!(problems.is_empty(), "{problems:?}");
        let mut subjects = gather(&facts, &charts, &self.settings, &mut Vec::new());
        subjects.retain(|subject| subject.release.name == self.name && subject.release.namespace == self.namespace);
        (subjects.remove(0), snapshot)
    }

    /// What Helm stored: the last render, with what was drawn by chance as the story tells it.
    fn payload(&self) -> Json {
        let (mut subject, snapshot) = self.subject();
        subject.chart = Some(self.chart(&self.past));
        let (facts, _) = import(&snapshot);
        let rendered = Renderer::new(self.settings.clone()).render(&subject, &facts, &Mode::Now);
        assert_eq!(rendered.error, None, "{}: the last render failed", self.name);
        let mut manifest = String::new();
        let mut drawn = self.now["drawn"].as_object().cloned().unwrap_or_default();
        for doc in &rendered.docs {
            let mut object = doc.object.clone();
            if let Some(patch) = drawn.remove(&doc.key.to_string()) {
                merge(&mut object, &patch);
            }
            if !self.by_flux() {
                unlabelled(&mut object);
            }
            manifest.push_str(&format!("---\n# Source: {}\n{object}\n", doc.source));
        }
        assert!(drawn.is_empty(), "not rendered: {drawn:?}");
        if let Some(text) = self.now["stored"].as_str() {
            text.clone_into(&mut manifest);
        }
        let chart = self.chart(&self.past);
        let status = self.now["status"].as_str().unwrap_or("deployed");
        json!({
            "name": self.name, "namespace": self.namespace, "version": self.now["revision"].as_i64().unwrap_or(1),
            "info": {"status": status, "first_deployed": DAY, "last_deployed": DAY, "description": "Install complete"},
            "chart": {"metadata": {"name": chart.name(), "version": chart.version(), "apiVersion": "v2"}, "templates": [], "values": {}},
            "config": subject.values, "manifest": manifest,
        })
    }

    /// What Flux remembers of the stored revision.
    fn remember(&self, hr: &mut Json, payload: &Json, secret: &Json) {
        let stored = StoredRelease {
            name: self.name.clone(),
            namespace: self.namespace.clone(),
            version: payload["version"].as_i64().unwrap_or(1),
            status: "deployed".into(),
            json: Rc::new(payload.clone()),
            object: Rc::new(Object::new(secret.clone(), Default::default()).unwrap()),
        };
        let (name, version) = (&payload["chart"]["metadata"]["name"], &payload["chart"]["metadata"]["version"]);
        let config = config_digest(&payload["config"], self.settings.digest);
        let message = format!(
            "Helm install succeeded for release {}/{}.v{} with chart {}@{}",
            self.namespace,
            self.name,
            stored.version,
            name.as_str().unwrap_or_default(),
            version.as_str().unwrap_or_default()
        );
        hr["status"] = json!({
            "observedGeneration": 1, "helmChart": format!("flux-system/{}-{}", self.namespace, self.name),
            "storageNamespace": self.namespace, "lastAttemptedGeneration": 1, "lastAttemptedReleaseAction": "install",
            "lastAttemptedRevision": version, "lastAttemptedConfigDigest": config,
            "history": [{
                "name": self.name, "namespace": self.namespace, "version": stored.version, "status": payload["info"]["status"],
                "chartName": name, "chartVersion": version, "apiVersion": "v2", "action": "install",
                "configDigest": config, "digest": release_digest(&stored, "", &self.settings, false),
                "firstDeployed": DAY, "lastDeployed": DAY,
            }],
            "conditions": [ready("InstallSucceeded", &message)],
        });
        let mut released = hr["status"]["conditions"][0].clone();
        released["type"] = "Released".into();
        hr["status"]["conditions"].as_array_mut().unwrap().push(released);
    }

    /// The stored objects, as they are live; but for those that the story says are gone.
    fn applied(&self, manifest: &str) -> Vec<Json> {
        let gone: Vec<&str> = self.now["gone"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        let documents = parse_manifest(manifest).unwrap_or_else(|e| panic!("{}: stored manifest: {e}", self.name));
        let served = import(&[file("cluster.yaml", &world(self.story))]).0;
        documents
            .iter()
            .map(|document| live_form(document, &self.name, &self.namespace))
            .filter_map(|mut object| {
                let [group, kind, namespace, _] = identity(&object);
                let scope = served.discovery.namespaced(&group, &kind)?;
                // The server answers in a version that it serves.
                let version = object["apiVersion"].as_str().unwrap_or_default().to_owned();
                if served.discovery.resource(&version, &kind).is_none() {
                    object["apiVersion"] = served.discovery.called(&kind, &version)?.0.into();
                }
                if scope && namespace.is_empty() {
                    object["metadata"]["namespace"] = self.namespace.clone().into();
                }
                encoded(&mut object);
                let shown = Object::new(object.clone(), Default::default()).unwrap().key.to_string();
                (!gone.contains(&shown.as_str())).then_some(object)
            })
            .collect()
    }
}

/// When everything was installed.
const DAY: &str = "2026-03-02T08:00:00Z";

fn ready(reason: &str, message: &str) -> Json {
    json!({"type": "Ready", "status": "True", "reason": reason, "message": message, "observedGeneration": 1, "lastTransitionTime": DAY})
}

/// What the API server makes of `stringData`.
fn encoded(object: &mut Json) {
    let Some(Json::Object(texts)) = object.as_object_mut().and_then(|o| o.remove("stringData")) else { return };
    let data = object.as_object_mut().unwrap().entry("data").or_insert_with(|| Json::Object(Map::new()));
    for (key, text) in texts {
        data[key] = data_encoding::BASE64.encode(text.as_str().unwrap_or_default().as_bytes()).into();
    }
}

/// Without the labels that only Flux puts on.
fn unlabelled(object: &mut Json) {
    let Some(metadata) = object["metadata"].as_object_mut() else { return };
    let Some(labels) = metadata.get_mut("labels").and_then(Json::as_object_mut) else { return };
    labels.retain(|key, _| !key.starts_with("helm.toolkit.fluxcd.io/"));
    if labels.is_empty() {
        metadata.remove("labels");
    }
}
