//! From input files to a snapshot. What cannot be used is named; everything else goes on.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value as Json;

use super::discovery::{KubeVersion, Resource};
use super::object::{Object, Source, group_of};
use super::snapshot::{Forbidden, Snapshot};
use crate::base::diag::Diagnostic;
use crate::codec::yaml;

/// Reads files, in whatever order they come; the result does not depend on it.
pub fn import(files: &[(String, Vec<u8>)]) -> (Snapshot, Vec<Diagnostic>) {
    let mut importer = Importer::default();
    let mut sorted: Vec<&(String, Vec<u8>)> = files.iter().collect();
    sorted.sort();
    for (name, bytes) in sorted {
        importer.file(name, bytes);
    }
    importer.finish()
}

#[derive(Default)]
struct Importer {
    objects: BTreeMap<super::object::ObjectKey, Object>,
    lists: Vec<Json>,
    profiles: Vec<Json>,
    snapshot: Snapshot,
    problems: Vec<Diagnostic>,
}

impl Importer {
    fn file(&mut self, name: &str, bytes: &[u8]) {
        let file: Rc<str> = name.into();
        let start = bytes.iter().position(|b| !b.is_ascii_whitespace());
        if start.is_some_and(|i| bytes[i] == b'{') {
            match serde_json::from_slice::<Json>(bytes) {
                Ok(json) => return self.document(json, Source { file, line: 1 }),
                Err(error) if error.is_eof() => return self.problems.push(truncated(name, error.line() as u32)),
                // YAML's flow style starts with a brace too.
                Err(_) => {}
            }
        }
        match yaml::parse_all(bytes) {
            Ok(documents) => {
                for document in documents {
                    let root = document.root();
                    let line = root.span().start.line;
                    match yaml::to_json(root) {
                        Ok(json) => self.document(json, Source { file: file.clone(), line }),
                        Err(text) => self.problems.push(
                            Diagnostic::error(text)
                                .at(name, line)
                                .remedy("give this object again as kubectl prints it"),
                        ),
                    }
                }
            }
            Err(error) => self.problems.push(unreadable(name, bytes, &error)),
        }
    }

    fn document(&mut self, json: Json, source: Source) {
        let text = |pointer: &str| json.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
        match (text("/apiVersion"), text("/kind")) {
            ("reconcile-planner/v1", "Coverage") => return self.coverage(&json),
            ("oracle.helm/v1", "ClusterProfile") => return self.profiles.push(json),
            (_, "APIResourceList") => return self.lists.push(json),
            _ => {}
        }
        if let Some(git) = json.pointer("/serverVersion/gitVersion").or_else(|| json.pointer("/version/gitVersion")) {
            self.version(git.as_str().unwrap_or_default());
        }
        for name in ["resources", "resources_beyond_base"] {
            if let Some(lists) = json.get(name).and_then(Json::as_array)
                && json.get("kind").is_none()
            {
                return self.lists.extend(lists.iter().cloned());
            }
        }
        let is_list = text("/kind").ends_with("List") && json.get("items").is_some_and(|i| i.is_array() || i.is_null());
        if is_list {
            let item_kind = text("/kind").trim_end_matches("List").to_owned();
            let item_api = text("/apiVersion").to_owned();
            let Json::Object(mut map) = json else { return };
            let Some(Json::Array(items)) = map.remove("items") else { return };
            for mut item in items {
                // Items of typed lists may leave out what the list says.
                if let Json::Object(fields) = &mut item
                    && !item_kind.is_empty()
                {
                    fields.entry("kind").or_insert_with(|| item_kind.clone().into());
                    fields.entry("apiVersion").or_insert_with(|| item_api.clone().into());
                }
                self.document(item, source.clone());
            }
            return;
        }
        if json.is_null() || json.get("serverVersion").is_some() {
            return;
        }
        self.object(json, source);
    }

    fn object(&mut self, json: Json, source: Source) {
        let (file, line) = (source.file.to_string(), source.line);
        let Some(object) = Object::new(json, source) else {
            let problem = Diagnostic::error("an object without apiVersion, kind or name")
                .at(file, line)
                .remedy("give objects as `kubectl get -o yaml` prints them");
            return self.problems.push(problem);
        };
        match self.objects.get(&object.key) {
            None => {
                self.objects.insert(object.key.clone(), object);
            }
            Some(old) if old.json == object.json => {}
            Some(old) => {
                let version = |o: &Object| o.text("/metadata/resourceVersion").parse::<u64>().unwrap_or(0);
                if version(&object) == version(old) {
                    self.problems.push(
                        Diagnostic::warning(format!(
                            "{} is there twice with different content; the first is used",
                            object.key
                        ))
                        .at(file, line)
                        .remedy("collect it once"),
                    );
                } else if version(&object) > version(old) {
                    self.objects.insert(object.key.clone(), object);
                }
            }
        }
    }

    fn version(&mut self, git: &str) {
        self.snapshot.discovery.version = KubeVersion::new(git);
        self.snapshot.discovery.version_known = true;
    }

    fn coverage(&mut self, json: &Json) {
        let coverage = &mut self.snapshot.coverage;
        coverage.complete |= json.get("complete").and_then(Json::as_bool).unwrap_or(false);
        let strings = |value: Option<&Json>| -> Vec<String> {
            value.and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect()
        };
        coverage.namespaces.extend(strings(json.get("completeNamespaces")));
        for entry in json.get("collected").and_then(Json::as_array).into_iter().flatten() {
            let text = |name: &str| entry.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
            coverage.kinds.entry((text("group"), text("kind"))).or_default().extend(strings(entry.get("namespaces")));
        }
        if let Some(taken) = json.get("takenAt").and_then(Json::as_str) {
            self.snapshot.taken_text = Some(taken.to_owned());
            self.snapshot.taken = super::world::parse_time(taken).unwrap_or(0);
        }
        if let Some(git) = json.get("kubernetesVersion").and_then(Json::as_str) {
            self.version(git);
        }
    }

    /// The settings of a recorded cluster.
    fn profile(&mut self, json: &Json) {
        let Some(spec) = json.get("spec") else { return };
        let text = |value: &Json, name: &str| value.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
        let list = |name: &str| spec.get(name).and_then(Json::as_array).cloned().unwrap_or_default();
        if spec.get("builtins").and_then(Json::as_bool) == Some(false) {
            self.snapshot.discovery.clear();
        }
        if let Some(git) = spec.get("kubeVersion").and_then(Json::as_str) {
            self.version(git);
        }
        if let Some(version) = spec.get("resourceVersion").and_then(Json::as_str) {
            self.snapshot.list_version = version.to_owned();
        }
        for gv in list("removed").iter().filter_map(Json::as_str) {
            self.snapshot.discovery.remove(gv);
        }
        for entry in list("apiResources") {
            let (group, version) = (text(&entry, "group"), text(&entry, "version"));
            let gv = if group.is_empty() { version } else { format!("{group}/{version}") };
            let namespaced = entry.get("namespaced").and_then(Json::as_bool).unwrap_or(true);
            let resource =
                Resource { kind: text(&entry, "kind"), plural: text(&entry, "plural"), namespaced, readable: true };
            self.snapshot.discovery.add(&gv, resource);
        }
        for rule in list("forbidden") {
            let verbs = rule.get("verbs").and_then(Json::as_array).into_iter().flatten();
            self.snapshot.forbidden.push(Forbidden {
                group: text(&rule, "group"),
                plural: text(&rule, "resource"),
                namespace: rule.get("namespace").and_then(Json::as_str).map(str::to_owned),
                verbs: verbs.filter_map(Json::as_str).map(str::to_owned).collect(),
            });
        }
        for gv in list("brokenGroups").iter().filter_map(Json::as_str) {
            self.snapshot.discovery.mark_broken(gv);
        }
        self.snapshot.coverage.complete = true;
    }

    fn finish(mut self) -> (Snapshot, Vec<Diagnostic>) {
        for profile in std::mem::take(&mut self.profiles) {
            self.profile(&profile);
        }
        for list in std::mem::take(&mut self.lists) {
            self.snapshot.discovery.add_list(&list);
        }
        for object in self.objects.values() {
            if is_crd(&object.api_version, &object.key.kind) {
                self.snapshot.discovery.add_crd(&object.json);
            }
        }
        for gv in self.broken() {
            self.snapshot.discovery.mark_broken(&gv);
        }
        for object in std::mem::take(&mut self.objects).into_values() {
            // What exists is served, even if its definition was not collected.
            if self.snapshot.discovery.resource(&object.api_version, &object.key.kind).is_none()
                && !self.snapshot.discovery.is_broken(&object.api_version)
            {
                let resource = Resource {
                    kind: object.key.kind.clone(),
                    plural: guess_plural(&object.key.kind),
                    namespaced: !object.key.namespace.is_empty(),
                    readable: true,
                };
                self.snapshot.discovery.add(&object.api_version, resource);
            }
            self.snapshot.insert(object);
        }
        if self.snapshot.list_version.is_empty() {
            self.snapshot.list_version = "1000".into();
        }
        self.problems.sort();
        self.problems.dedup();
        (self.snapshot, self.problems)
    }

    /// Group versions whose APIService says that its server does not answer.
    fn broken(&self) -> Vec<String> {
        self.objects
            .values()
            .filter(|o| o.key.group == "apiregistration.k8s.io" && o.key.kind == "APIService")
            .filter(|o| {
                let conditions = o.json.pointer("/status/conditions").and_then(Json::as_array);
                conditions.into_iter().flatten().any(|c| {
                    c.get("type").and_then(Json::as_str) == Some("Available")
                        && c.get("status").and_then(Json::as_str) == Some("False")
                })
            })
            .map(|o| format!("{}/{}", o.text("/spec/group"), o.text("/spec/version")))
            .collect()
    }
}

fn truncated(name: &str, line: u32) -> Diagnostic {
    Diagnostic::error("the file ends in the middle of an object")
        .at(name, line)
        .remedy("collect it again: the copy is cut off")
}

fn unreadable(name: &str, bytes: &[u8], error: &yaml::YamlError) -> Diagnostic {
    let lines = bytes.iter().filter(|b| **b == b'\n').count() as u32;
    let line = error.line.unwrap_or(1);
    if line > lines {
        return truncated(name, line);
    }
    Diagnostic::error(error.text.clone())
        .at(name, line)
        .remedy("this is no YAML or JSON as kubectl prints it; collect it again")
}

/// The plural of a kind that nothing declares.
pub fn guess_plural(kind: &str) -> String {
    let lower = kind.to_lowercase();
    if lower.ends_with('s') || lower.ends_with('x') || lower.ends_with("ch") {
        lower + "es"
    } else if let Some(stem) = lower.strip_suffix('y')
        && !stem.ends_with(['a', 'e', 'o', 'u'])
    {
        format!("{stem}ies")
    } else {
        lower + "s"
    }
}

/// Whether objects of this kind define kinds.
pub fn is_crd(api_version: &str, kind: &str) -> bool {
    group_of(api_version) == "apiextensions.k8s.io" && kind == "CustomResourceDefinition"
}
