//! From input files to a snapshot. What cannot be used is named; everything else goes on.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value as Json;

use super::discovery::{Discovery, Resource};
use super::object::{Object, Source, fold_string_data, group_of};
use super::read::{self, Read};
use super::snapshot::{Forbidden, Snapshot};
use crate::base::diag::Diagnostic;

/// Reads files, in whatever order they come; the result does not depend on it.
pub fn import(files: &[(String, Vec<u8>)]) -> (Snapshot, Vec<Diagnostic>) {
    import_as(files, None)
}

/// The same, with the version of Kubernetes to take where the files do not tell one.
pub fn import_as(files: &[(String, Vec<u8>)], version: Option<&str>) -> (Snapshot, Vec<Diagnostic>) {
    let mut importer = Importer { version: version.map(str::to_owned), ..Importer::default() };
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
    /// Version of Kubernetes.
    version: Option<String>,
    snapshot: Snapshot,
    problems: Vec<Diagnostic>,
}

impl Importer {
    fn file(&mut self, name: &str, bytes: &[u8]) {
        let file: Rc<str> = name.into();
        let (documents, problems) = read::documents(name, bytes);
        self.snapshot.coverage.lossy |= !problems.is_empty();
        self.problems.extend(problems);
        for Read { json, line, items } in documents {
            self.document(json, Source { file: file.clone(), line }, &items);
        }
    }

    /// Takes one document; `lines` are those on which the items of a list start, where known.
    fn document(&mut self, json: Json, source: Source, lines: &[u32]) {
        let text = |pointer: &str| json.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
        match (text("/apiVersion"), text("/kind")) {
            ("reconcile-planner/v1", "Coverage") => return self.coverage(&json),
            ("oracle.helm/v1", "ClusterProfile") => return self.profiles.push(json),
            (_, "APIResourceList") => return self.lists.push(json),
            _ => {}
        }
        if let Some(git) = json.pointer("/serverVersion/gitVersion").or_else(|| json.pointer("/version/gitVersion")) {
            self.version = git.as_str().map(str::to_owned);
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
            for (i, mut item) in items.into_iter().enumerate() {
                // Items of typed lists may leave out what the list says.
                if let Json::Object(fields) = &mut item
                    && !item_kind.is_empty()
                {
                    fields.entry("kind").or_insert_with(|| item_kind.clone().into());
                    fields.entry("apiVersion").or_insert_with(|| item_api.clone().into());
                }
                let line = lines.get(i).copied().unwrap_or(source.line);
                self.document(item, Source { line, ..source.clone() }, &[]);
            }
            return;
        }
        if json.is_null() || json.get("serverVersion").is_some() {
            return;
        }
        self.object(json, source);
    }

    fn object(&mut self, mut json: Json, source: Source) {
        // No server returns it, but people write it by hand.
        if json.get("stringData").is_some() && json["kind"] == "Secret" && json["apiVersion"] == "v1" {
            fold_string_data(&mut json);
        }
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
            self.version = Some(git.to_owned());
        }
    }

    /// The settings of a recorded cluster.
    fn profile(&mut self, json: &Json) {
        let Some(spec) = json.get("spec") else { return };
        let text = |value: &Json, name: &str| value.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
        let list = |name: &str| spec.get(name).and_then(Json::as_array).cloned().unwrap_or_default();
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
        let told = |profile: &Json| Some(profile.pointer("/spec/kubeVersion")?.as_str()?.to_owned());
        if let Some(version) = self.profiles.iter().filter_map(told).next_back().or(self.version.take()) {
            self.snapshot.discovery = Discovery::of(&version);
        }
        if self.profiles.iter().any(|profile| profile.pointer("/spec/builtins") == Some(&Json::Bool(false))) {
            self.snapshot.discovery.clear();
        }
        for list in std::mem::take(&mut self.lists) {
            self.snapshot.discovery.add_list(&list);
        }
        for profile in std::mem::take(&mut self.profiles) {
            self.profile(&profile);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn files(files: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
        files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
    }

    fn config_map(name: &str, version: u32, value: &str) -> String {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: d\n  resourceVersion: \"{version}\"\n\
             data:\n  a: {value}\n"
        )
    }

    /// Each object as `key file:line`, each problem as `file:line`.
    fn seen(input: &[(String, Vec<u8>)]) -> (Vec<String>, Vec<String>) {
        let (snapshot, problems) = import(input);
        let objects = snapshot.objects().map(|o| format!("{} {}:{}", o.key, o.source.file, o.source.line));
        let problems = problems.iter().map(|p| {
            assert!(p.remedy.is_some(), "{p}");
            format!("{}:{}", p.file.as_deref().unwrap_or_default(), p.line.unwrap_or(0))
        });
        (objects.collect(), problems.collect())
    }

    #[test]
    fn what_is_broken_is_named_and_everything_else_is_read() {
        let (a, b) = (config_map("a", 1, "x"), config_map("b", 1, "x"));
        let json = |name: &str| {
            format!(r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}","namespace":"d"}}}}"#)
        };
        let a_item = "apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a, namespace: d}";
        type Row<'a> = (&'a str, String, &'a [&'a str], &'a [&'a str]);
        let rows: &[Row<'_>] = &[
            (
                "a broken document between whole ones",
                format!("{a}---\nfoo: [1\nbar: }}\n---\n{b}"),
                &["ConfigMap d/a f:1", "ConfigMap d/b f:13"],
                &["f:11"],
            ),
            ("a last document that is cut off", format!("{a}---\n{b}  b: \"x"), &["ConfigMap d/a f:1"], &["f:18"]),
            ("a cut off JSON file", format!("{}\n{{\"kind\": \"Conf", json("a")), &["ConfigMap d/a f:1"], &["f:2"]),
            (
                "JSON objects one after the other",
                format!("{}\n{}\n", json("a"), json("b")),
                &["ConfigMap d/a f:1", "ConfigMap d/b f:2"],
                &[],
            ),
            ("garbage after a JSON object", format!("{}\n{{\"a\" 1}}\n", json("a")), &["ConfigMap d/a f:1"], &["f:2"]),
            (
                "an array of objects",
                format!("[{},\n{}]", json("a"), json("b")),
                &["ConfigMap d/a f:1", "ConfigMap d/b f:2"],
                &[],
            ),
            (
                "an item without kind in a YAML list",
                format!("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  metadata: {{name: x}}\n- {a_item}\n"),
                &["ConfigMap d/a f:6"],
                &["f:4"],
            ),
            (
                "items of a JSON list",
                format!(
                    "{{\"apiVersion\":\"v1\",\n\"kind\":\"List\",\"metadata\":{{\"items\":[1,\n2]}},\n\"items\":[\n{},\n{}\n]}}",
                    json("a"),
                    json("b")
                ),
                &["ConfigMap d/a f:5", "ConfigMap d/b f:6"],
                &[],
            ),
            (
                "JSON documents between markers, with an escape that YAML has no name for",
                format!(
                    "---\n{}\n---\n{}\n",
                    json("a"),
                    json("b").replace("\"d\"}", r#""d","annotations":{"x":"\ud83d\ude00"}}"#)
                ),
                &["ConfigMap d/a f:2", "ConfigMap d/b f:4"],
                &[],
            ),
            ("nothing", String::new(), &[], &[]),
        ];
        for (name, text, objects, problems) in rows {
            let (found, named) = seen(&files(&[("f", text)]));
            assert_eq!((found, named), (owned(objects), owned(problems)), "{name}");
        }
    }

    #[test]
    fn cut_and_garbled_files_are_read_without_panic() {
        let list = r#"{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a\"]","namespace":"d"}},[],"x",{}]}"#;
        let text = format!("{list}\n---\n{}---\n- [a, {{b: *c}}]\n", config_map("a", 1, "\u{e4}\n"));
        let texts = [text.as_str(), &text[list.len() + 1..], &format!("[{list},{list}]")];
        for text in texts {
            let bytes = text.as_bytes();
            for at in 0..bytes.len() {
                let mut garbled = bytes.to_vec();
                for byte in *b"\"[]{}\\\n\0,-\xff" {
                    garbled[at] = byte;
                    let (snapshot, problems) = import(&[("f".to_owned(), garbled.clone())]);
                    assert!(snapshot.len() <= 2 && problems.iter().all(|p| p.line.is_some()));
                }
                import(&[("f".to_owned(), bytes[..at].to_vec())]);
            }
        }
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|t| (*t).to_owned()).collect()
    }

    #[test]
    fn items_of_typed_lists_take_their_kind_from_the_list() {
        let list = "apiVersion: v1\nkind: SecretList\nitems:\n- metadata: {name: a, namespace: d}\n";
        assert_eq!(seen(&files(&[("f", list)])), (owned(&["Secret d/a f:4"]), vec![]));
    }

    #[test]
    fn of_two_copies_the_newer_one_counts_in_any_order() {
        let (old, new) = (config_map("a", 9, "x"), config_map("a", 10, "y"));
        let mut input = files(&[("1", &new), ("2", &old), ("3", &config_map("b", 1, "z"))]);
        let expected = (owned(&["ConfigMap d/a 1:1", "ConfigMap d/b 3:1"]), vec![]);
        assert_eq!(seen(&input), expected);
        input.reverse();
        assert_eq!(seen(&input), expected);
        let same = files(&[("1", &old), ("2", &old)]);
        assert_eq!(seen(&same), (owned(&["ConfigMap d/a 1:1"]), vec![]), "identical copies are one");
        let tie = files(&[("2", &config_map("a", 9, "other")), ("1", &old)]);
        assert_eq!(seen(&tie), (owned(&["ConfigMap d/a 1:1"]), owned(&["2:1"])), "a tie is told");
    }

    #[test]
    fn a_file_that_lost_something_makes_absence_uncertain_where_it_is_only_assumed() {
        use super::super::snapshot::Facts;
        use crate::base::Known;
        let missing = |text: &str| {
            let (snapshot, _) = import(&files(&[("f", text)]));
            let key = super::super::object::ObjectKey {
                group: String::new(),
                kind: "ConfigMap".into(),
                namespace: "d".into(),
                name: "missing".into(),
            };
            snapshot.get(&key)
        };
        let whole = config_map("a", 1, "x");
        let broken = format!("{whole}---\na: [\n");
        let declared = format!("apiVersion: reconcile-planner/v1\nkind: Coverage\ncomplete: true\n---\n{broken}");
        assert!(matches!(missing(&whole), Known::Absent));
        assert!(matches!(missing(&broken), Known::Uncollected));
        assert!(matches!(missing(&declared), Known::Absent), "what was declared stands");
    }
}
