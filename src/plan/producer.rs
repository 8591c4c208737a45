//! Who makes a fact, and how that is known.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value as Json;

use super::gather::Subject;
use crate::base::Known;
use crate::cluster::object::{Object, ObjectKey};
use crate::cluster::snapshot::Facts;
use crate::report::contract::{Producer, ReleaseRef};

/// Labels with which a platform says which of its own objects a HelmRelease stands for: group, kind, name.
const BEHIND: [&str; 3] =
    ["apps.cozystack.io/application.group", "apps.cozystack.io/application.kind", "apps.cozystack.io/application.name"];

/// Most objects that one render closure follows.
const MAX_CLOSURE: usize = 100_000;

/// Which release makes which object, and which object stands behind which.
pub struct Index {
    /// Objects of stored manifests, and of predicted ones, with their release.
    made_by: BTreeMap<ObjectKey, Made>,
    /// Objects by release.
    makes: BTreeMap<ReleaseRef, BTreeSet<ObjectKey>>,
    /// A release by the object that it stands behind.
    behind: BTreeMap<ObjectKey, (ReleaseRef, String)>,
    /// Objects of manifests that name a Secret or another object in a field: named → (namer, field, release).
    names: BTreeMap<(String, String), Vec<Mention>>,
}

/// An object of a manifest that names another: itself, the field, its release.
type Mention = (ObjectKey, String, ReleaseRef);

struct Made {
    release: ReleaseRef,
    predicted: bool,
}

/// Group of Flux's HelmReleases.
const HELM_GROUP: &str = "helm.toolkit.fluxcd.io";

impl Index {
    /// Indexes what the releases have stored, and what a forced render of them would add.
    pub fn new(subjects: &[Subject], predicted: &BTreeMap<ReleaseRef, Vec<(ObjectKey, Json)>>) -> Self {
        let mut index =
            Index { made_by: BTreeMap::new(), makes: BTreeMap::new(), behind: BTreeMap::new(), names: BTreeMap::new() };
        for subject in subjects {
            for doc in &subject.stored_docs {
                index.add(&subject.release, &doc.key, &doc.object, false);
            }
            if let Some(hr) = &subject.helm_release {
                index.stands_behind(&subject.release, hr);
            }
        }
        for (release, objects) in predicted {
            for (key, object) in objects {
                index.add(release, key, object, true);
            }
        }
        index
    }

    fn add(&mut self, release: &ReleaseRef, key: &ObjectKey, object: &Json, predicted: bool) {
        self.makes.entry(release.clone()).or_default().insert(key.clone());
        self.made_by.entry(key.clone()).or_insert_with(|| Made { release: release.clone(), predicted });
        mentions(object, String::new(), 0, &mut |field, text| {
            let at = (key.namespace.clone(), text.to_owned());
            self.names.entry(at).or_default().push((key.clone(), field.to_owned(), release.clone()));
        });
    }

    fn stands_behind(&mut self, release: &ReleaseRef, hr: &Json) {
        let text = |path: &str| hr.pointer(path).and_then(Json::as_str).map(str::to_owned);
        let label = |name: &str| text(&format!("/metadata/labels/{}", name.replace('/', "~1")));
        if let [Some(group), Some(kind), Some(name)] = BEHIND.map(label) {
            let object = ObjectKey { group, kind, namespace: release.namespace.clone(), name };
            self.behind.insert(object, (release.clone(), format!("label {} of HelmRelease {release}", BEHIND[2])));
        }
        for owner in hr.pointer("/metadata/ownerReferences").and_then(Json::as_array).into_iter().flatten() {
            let field = |name: &str| owner.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
            let api = field("apiVersion");
            let group = api.rsplit_once('/').map_or("", |(group, _)| group).to_owned();
            let object =
                ObjectKey { group, kind: field("kind"), namespace: release.namespace.clone(), name: field("name") };
            self.behind.insert(object, (release.clone(), format!("owner reference of HelmRelease {release}")));
        }
    }

    /// Who makes `wanted`, which `reader` looks up and reads `fields` of.
    pub fn producer(
        &self,
        reader: &ReleaseRef,
        wanted: &ObjectKey,
        fields: &BTreeSet<String>,
        facts: &dyn Facts,
    ) -> Producer {
        let live = facts.get(wanted);
        let mut producer = match self.made_by.get(wanted) {
            Some(made) => {
                let evidence = if made.predicted {
                    format!("a forced render of {} makes it", made.release)
                } else {
                    format!("in the stored manifest of {}", made.release)
                };
                Producer { release: Some(made.release.clone()), ..Producer::named("release", evidence) }
            }
            None => self.other(wanted, &live),
        };
        if let Known::Present(object) = &live {
            producer.field_writer = writer(object, fields);
        } else if producer.kind == "release" && fields.iter().any(|f| f.starts_with(".status")) {
            producer.field_writer = Some("a controller (releases do not write status)".to_owned());
        }
        if let Some(release) = &producer.release {
            producer.self_produced = self.depth(reader, release, wanted);
        }
        producer
    }

    /// Who makes the API server serve a group, for `reader` to ask for it: whoever brings a definition of it.
    pub fn server(&self, reader: &ReleaseRef, served: &ObjectKey, facts: &dyn Facts) -> Producer {
        let live = facts.list("apiextensions.k8s.io", "CustomResourceDefinition", None).present().unwrap_or_default();
        let live = live.iter().map(|crd| &crd.key);
        // The name of a definition is its plural and its group.
        let defines = |key: &&ObjectKey| {
            let group = key.name.split_once('.').map(|(_, group)| group);
            key.kind == "CustomResourceDefinition" && group == Some(&*served.group)
        };
        match self.made_by.keys().chain(live).find(defines) {
            Some(crd) => self.producer(reader, crd, &BTreeSet::new(), facts),
            None => Producer::named("unknown", format!("nothing in the snapshot defines kinds of {}", served.group)),
        }
    }

    fn other(&self, wanted: &ObjectKey, live: &Known<std::rc::Rc<Object>>) -> Producer {
        if let Known::Present(object) = live {
            let text = |path: &str| object.json.pointer(path).and_then(Json::as_str);
            let name = text("/metadata/annotations/meta.helm.sh~1release-name");
            let namespace = text("/metadata/annotations/meta.helm.sh~1release-namespace");
            if let (Some(name), Some(namespace)) = (name, namespace) {
                let release = ReleaseRef { namespace: namespace.to_owned(), name: name.to_owned() };
                let evidence = format!("its Helm annotations name {release}");
                return Producer { release: Some(release), ..Producer::named("release", evidence) };
            }
            // What Flux applies out of a chart's crds/ carries its labels only.
            let name = text("/metadata/labels/helm.toolkit.fluxcd.io~1name");
            let namespace = text("/metadata/labels/helm.toolkit.fluxcd.io~1namespace");
            if let (Some(name), Some(namespace)) = (name, namespace) {
                let release = ReleaseRef { namespace: namespace.to_owned(), name: name.to_owned() };
                let evidence = format!("its labels name HelmRelease {release}");
                return Producer { release: Some(release), ..Producer::named("release", evidence) };
            }
            if let Some(owner) = object.json.pointer("/metadata/ownerReferences/0") {
                let field = |name: &str| owner.get(name).and_then(Json::as_str).unwrap_or_default();
                let evidence = format!("owned by {} {}", field("kind"), field("name"));
                return Producer::named("owner", evidence);
            }
        }
        if let Some((namer, field, release)) = self.namer(wanted) {
            let evidence = format!("{namer} of {release} names it in {field}");
            return Producer { release: Some(release.clone()), ..Producer::named("controller", evidence) };
        }
        Producer { evidence: Vec::new(), ..Producer::named("unknown", "") }
    }

    /// An object of some release that names the wanted one in a field for such names (`credentialsSecretName`).
    fn namer(&self, wanted: &ObjectKey) -> Option<&Mention> {
        let kind = wanted.kind.to_lowercase();
        let fits = |field: &str| {
            let last = field.rsplit(['.', '[']).find(|part| !part.ends_with(']')).unwrap_or_default().to_lowercase();
            let parent = field.to_lowercase();
            (last.contains("name") && parent.contains(&kind)) || last.contains(&kind)
        };
        // A consumer (a pod that mounts the Secret) names it too; whoever is no workload is asked to make it.
        let consumes =
            |key: &ObjectKey| matches!(key.group.as_str(), "" | "apps" | "batch" | "networking.k8s.io" | HELM_GROUP);
        self.names
            .get(&(wanted.namespace.clone(), wanted.name.clone()))?
            .iter()
            .filter(|(key, field, _)| fits(field) && !consumes(key))
            .min_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)))
    }

    /// Over how many objects `reader`'s own render leads to `wanted`, which `maker` makes; `None` if it does not.
    fn depth(&self, reader: &ReleaseRef, maker: &ReleaseRef, wanted: &ObjectKey) -> Option<usize> {
        let mut seen = BTreeSet::from([reader.clone()]);
        let mut queue = VecDeque::from([(reader.clone(), 1)]);
        while let Some((release, depth)) = queue.pop_front() {
            let objects = self.makes.get(&release);
            if objects.is_some_and(|o| o.contains(wanted)) || &release == maker {
                return Some(depth);
            }
            if seen.len() > MAX_CLOSURE {
                return None;
            }
            for object in objects.into_iter().flatten() {
                let next = if object.group == HELM_GROUP && object.kind == "HelmRelease" {
                    let namespace = if object.namespace.is_empty() { &release.namespace } else { &object.namespace };
                    Some(ReleaseRef { namespace: namespace.clone(), name: object.name.clone() })
                } else {
                    self.behind.get(object).map(|(release, _)| release.clone())
                };
                if let Some(next) = next.filter(|next| seen.insert(next.clone())) {
                    queue.push_back((next, depth + 1));
                }
            }
        }
        None
    }
}

/// Calls `found` with each string leaf that could be a name, and its path.
fn mentions(value: &Json, path: String, depth: usize, found: &mut impl FnMut(&str, &str)) {
    match value {
        Json::Object(map) if depth < 50 => {
            for (key, child) in map.iter().filter(|(key, _)| depth > 0 || *key != "metadata") {
                mentions(child, format!("{path}.{key}"), depth + 1, found);
            }
        }
        Json::Array(list) if depth < 50 => {
            for (i, child) in list.iter().enumerate() {
                mentions(child, format!("{path}[{i}]"), depth + 1, found);
            }
        }
        Json::String(text) if !text.is_empty() && text.len() <= 253 => found(&path, text),
        _ => {}
    }
}

/// Who wrote the first of these fields, by the live object's managed fields.
fn writer(object: &Object, fields: &BTreeSet<String>) -> Option<String> {
    let managed = object.json.pointer("/metadata/managedFields")?.as_array()?;
    fields.iter().find_map(|field| {
        let pointer: String = field.split('.').filter(|s| !s.is_empty()).map(|s| format!("/f:{s}")).collect();
        managed.iter().find_map(|entry| {
            entry.get("fieldsV1")?.pointer(&pointer)?;
            entry.get("manager")?.as_str().map(str::to_owned)
        })
    })
}
