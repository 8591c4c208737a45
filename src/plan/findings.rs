//! What a release's render hides, and what a forced render would do: stored against now, each fact emptied in turn.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value as Json;

use super::chain::{chain, flatten, lookups_of};
use super::gather::Subject;
use super::render::{Doc, Mode, Rendered, Renderer};
use crate::base::Known;
use crate::cluster::lookup::{can_exist, object_of};
use crate::cluster::object::ObjectKey;
use crate::cluster::snapshot::Facts;
use crate::diff;
use crate::report::contract::{Chain, Changed, Class, Danger, Expected, Finding, ObjectRef};
use crate::value::origin::{LookupKey, Origin, OriginSet};

/// Everything found out about one release on one state of the cluster.
pub struct Analysis {
    /// Findings, sorted by class and object.
    pub findings: Vec<Finding>,
    /// The render as a force would do it on this state.
    pub now: Rendered,
    /// What that force does.
    pub expected: Expected,
    /// What it breaks or restarts.
    pub dangers: Vec<Danger>,
    /// Lookups that findings depend on, with the fields.
    pub deciding: BTreeMap<Rc<LookupKey>, BTreeSet<String>>,
    /// Facts that were not collected and on which the render depends.
    pub unknown: Unknown,
    /// What could not be looked into, in words.
    pub notes: Vec<String>,
}

/// Facts that nobody collected: what the render makes of them decides how much can be said.
#[derive(Debug, Clone, Default)]
pub struct Unknown {
    /// If they exist, objects come that are not there: a force brings no harm, but "nothing to do" is not certain.
    pub additions: BTreeSet<LookupKey>,
    /// If they exist, something that is there changes, goes, or renders at all: what a force does is not known.
    pub effects: BTreeSet<LookupKey>,
}

impl Unknown {
    /// Whether everything that matters was collected.
    pub fn is_empty(&self) -> bool {
        self.additions.is_empty() && self.effects.is_empty()
    }
}

/// Compares one release's stored manifest with a render on `facts`.
pub fn analyse(renderer: &Renderer, subject: &Subject, facts: &dyn Facts) -> Analysis {
    let now = renderer.render(subject, facts, &Mode::Now);
    let mut analyst = Analyst {
        renderer,
        subject,
        facts,
        stored: subject.stored_docs.iter().map(|doc| (doc.key.clone(), doc)).collect(),
        now: &now,
        without: BTreeMap::new(),
        found: Vec::new(),
        expected: Expected::default(),
        dangers: BTreeSet::new(),
        deciding: BTreeMap::new(),
        unknown: Unknown::default(),
        notes: Vec::new(),
    };
    if let Some(error) = &now.error {
        analyst.render_error(error);
    } else {
        analyst.compare();
        analyst.waiting();
        analyst.never();
        analyst.apply_errors();
    }
    let Analyst { mut found, mut expected, dangers, deciding, unknown, notes, .. } = analyst;
    found.sort_by(|a, b| (a.class, &a.object, &a.fields).cmp(&(b.class, &b.object, &b.fields)));
    expected.created.sort();
    expected.changed.sort_by(|a, b| a.object.cmp(&b.object));
    expected.deleted.sort();
    expected.rotated.sort();
    let dangers = dangers.into_iter().collect();
    Analysis { findings: found, now, expected, dangers, deciding, unknown, notes }
}

struct Analyst<'a> {
    renderer: &'a Renderer,
    subject: &'a Subject,
    facts: &'a dyn Facts,
    stored: BTreeMap<ObjectKey, &'a Doc>,
    now: &'a Rendered,
    /// Renders with one fact emptied, made when first asked for.
    without: BTreeMap<Rc<LookupKey>, Rc<Rendered>>,
    found: Vec<Finding>,
    expected: Expected,
    dangers: BTreeSet<Danger>,
    deciding: BTreeMap<Rc<LookupKey>, BTreeSet<String>>,
    unknown: Unknown,
    notes: Vec<String>,
}

impl Analyst<'_> {
    /// The render in which the lookup finds nothing.
    fn without(&mut self, key: &Rc<LookupKey>) -> Rc<Rendered> {
        if let Some(rendered) = self.without.get(key) {
            return rendered.clone();
        }
        let rendered = Rc::new(self.renderer.render(self.subject, self.facts, &Mode::Without(key.clone())));
        self.without.insert(key.clone(), rendered.clone());
        rendered
    }

    fn found_now(&self, key: &LookupKey) -> bool {
        self.now.lookups.iter().any(|l| *l.key == *key && l.found)
    }

    fn push(&mut self, class: Class, object: &ObjectKey, fields: Vec<String>, chains: Vec<Chain>) {
        self.found.push(Finding { class, object: Some(reference(object)), fields, error: None, chains });
    }

    fn chain_to(
        &mut self,
        rendered: &Rendered,
        set: OriginSet,
        key: &Rc<LookupKey>,
        fields: &BTreeSet<Rc<str>>,
    ) -> Vec<Chain> {
        fields
            .iter()
            .map(|field| {
                self.deciding.entry(key.clone()).or_default().insert(field.to_string());
                chain(set, key, field, &rendered.origins, &rendered.gates, &rendered.lookups)
            })
            .collect()
    }

    /// The render fails. If it does so for want of a fact that nobody collected, that is all that can be said.
    fn render_error(&mut self, error: &str) {
        if !self.now.uncollected.is_empty() {
            let hoped = self.hoped(None);
            if hoped.error.is_none() {
                self.unknown.effects = self.now.uncollected.clone();
                self.notes.push(format!("if nothing of what was not collected exists, the render fails: {error}"));
                return;
            }
        }
        self.found.push(Finding {
            class: Class::RenderError,
            object: None,
            fields: Vec::new(),
            error: Some(error.to_owned()),
            chains: Vec::new(),
        });
    }

    fn compare(&mut self) {
        let now = self.now;
        for doc in &now.docs {
            match self.stored.get(&doc.key).copied() {
                None => self.added(doc),
                Some(stored) => {
                    self.changed(stored, doc);
                    if matches!(self.facts.get(&doc.key), Known::Absent) {
                        self.push(Class::DeletedLive, &doc.key, Vec::new(), Vec::new());
                        self.expected.created.push(reference(&doc.key));
                    }
                }
            }
        }
        let rendered: BTreeSet<&ObjectKey> = now.docs.iter().map(|d| &d.key).collect();
        let gone: Vec<ObjectKey> = self.stored.keys().filter(|k| !rendered.contains(k)).cloned().collect();
        for key in gone {
            self.removed(&key);
        }
    }

    /// Rendered now, not stored: which facts, emptied, take it away again?
    fn added(&mut self, doc: &Doc) {
        self.expected.created.push(reference(&doc.key));
        let mut chains = Vec::new();
        for (key, fields) in lookups_of(doc.whole, &self.now.origins, &self.now.gates) {
            if self.found_now(&key) && !self.without(&key).holds(&doc.key) {
                chains.extend(self.chain_to(self.now, doc.whole, &key, &fields));
            }
        }
        let class = if chains.is_empty() { Class::WouldCreate } else { Class::Skipped };
        self.push(class, &doc.key, Vec::new(), chains);
    }

    /// In both: what differs, and which fact, emptied, gives the stored value back?
    fn changed(&mut self, stored: &Doc, doc: &Doc) {
        let changes = diff::changes(&stored.object, &doc.object);
        if changes.is_empty() {
            return;
        }
        let mut by_class: BTreeMap<Class, (Vec<String>, Vec<Chain>)> = BTreeMap::new();
        for change in &changes {
            let set = doc.origins_at(change.new.as_deref(), &self.now.origins);
            let (class, chains) = self.cause(stored, doc, change, set);
            let entry = by_class.entry(class).or_default();
            entry.0.push(change.path.clone());
            entry.1.extend(chains);
        }
        let fields: Vec<String> = changes.iter().map(|c| c.path.clone()).collect();
        if by_class.contains_key(&Class::WouldRotate) {
            self.expected.rotated.push(reference(&doc.key));
            self.dangers.insert(Danger { kind: "rotates".into(), object: reference(&doc.key) });
        }
        if restarts(&doc.key, &fields) {
            self.dangers.insert(Danger { kind: "restarts".into(), object: reference(&doc.key) });
        }
        self.expected.changed.push(Changed { object: reference(&doc.key), fields });
        for (class, (fields, mut chains)) in by_class {
            chains.sort();
            chains.dedup();
            self.push(class, &doc.key, fields, chains);
        }
    }

    fn cause(&mut self, stored: &Doc, doc: &Doc, change: &diff::Change, set: OriginSet) -> (Class, Vec<Chain>) {
        let origins = flatten(set, &self.now.origins, &self.now.gates);
        let mut stale = Vec::new();
        let mut hollow = Vec::new();
        for (key, fields) in lookups_of(set, &self.now.origins, &self.now.gates) {
            if !self.found_now(&key) {
                continue;
            }
            let emptied = self.without(&key);
            let differs = emptied
                .doc(&doc.key)
                .is_none_or(|other| diff::changes(&other.object, &doc.object).iter().any(|c| c.path == change.path))
                || emptied.error.is_some();
            if !differs {
                continue; // the fact does not decide this field
            }
            let as_stored = emptied.doc(&doc.key).is_some_and(|other| {
                !diff::changes(&stored.object, &other.object).iter().any(|c| c.path == change.path)
            });
            let chains = self.chain_to(self.now, set, &key, &fields);
            if as_stored || blank(&stored.object, change.old.as_deref()) {
                hollow.extend(chains)
            } else {
                stale.extend(chains)
            }
        }
        if !hollow.is_empty() {
            return (Class::Hollow, hollow);
        }
        if !stale.is_empty() {
            return (Class::Stale, stale);
        }
        let random = origins.iter().any(|o| matches!(o, Origin::Random(_)));
        if random && doc.key.kind == "Secret" {
            return (Class::WouldRotate, Vec::new());
        }
        if random || origins.iter().any(|o| matches!(o, Origin::Clock(_) | Origin::Release("Revision"))) {
            return (Class::Noise, Vec::new());
        }
        (Class::WouldChange, Vec::new())
    }

    /// Stored, not rendered now.
    fn removed(&mut self, object: &ObjectKey) {
        let kept = self.facts.get(object).present().is_some_and(|live| {
            live.json.pointer("/metadata/annotations/helm.sh~1resource-policy").and_then(Json::as_str) == Some("keep")
        });
        let mut chains = Vec::new();
        let keys: BTreeSet<Rc<LookupKey>> =
            self.now.lookups.iter().filter(|l| l.found).map(|l| l.key.clone()).collect();
        for key in keys {
            let emptied = self.without(&key);
            if let Some(doc) = emptied.doc(object) {
                let fields = lookups_of(doc.whole, &emptied.origins, &emptied.gates).remove(&key).unwrap_or_default();
                chains.extend(self.chain_to(&emptied, doc.whole, &key, &fields));
            }
        }
        if kept {
            self.push(Class::Orphaned, object, Vec::new(), chains);
        } else {
            self.expected.deleted.push(reference(object));
            self.dangers.insert(Danger { kind: "deletes".into(), object: reference(object) });
            self.push(Class::WouldDelete, object, Vec::new(), chains);
        }
    }

    /// The render in which what is missing is hoped for.
    fn hoped(&self, except: Option<Rc<LookupKey>>) -> Rendered {
        self.renderer.render(self.subject, self.facts, &Mode::Hoped { except })
    }

    /// Which of the facts that nobody collected the render depends on: it differs where they are hoped for.
    fn uncollected(&mut self, hoped: &Rendered) {
        let now = self.now;
        let asked = |set: OriginSet, rendered: &Rendered| -> Vec<LookupKey> {
            let keys = lookups_of(set, &rendered.origins, &rendered.gates).into_keys();
            keys.filter(|key| now.uncollected.contains(&**key)).map(|key| (*key).clone()).collect()
        };
        if now.uncollected.is_empty() {
            return;
        }
        for doc in &hoped.docs {
            match now.doc(&doc.key) {
                None if self.stored.contains_key(&doc.key) => self.unknown.effects.extend(asked(doc.whole, hoped)),
                None => self.unknown.additions.extend(asked(doc.whole, hoped)),
                Some(before) => {
                    for change in diff::changes(&before.object, &doc.object) {
                        self.unknown
                            .effects
                            .extend(asked(doc.origins_at(change.new.as_deref(), &hoped.origins), hoped));
                        self.unknown.effects.extend(asked(before.origins_at(change.old.as_deref(), &now.origins), now));
                    }
                }
            }
        }
        for doc in now.docs.iter().filter(|doc| !hoped.holds(&doc.key)) {
            self.unknown.effects.extend(asked(doc.whole, now));
        }
    }

    /// What would appear or fill up once the facts exist that are missing now.
    fn waiting(&mut self) {
        let absent: BTreeSet<Rc<LookupKey>> =
            self.now.lookups.iter().filter(|l| !l.found).map(|l| l.key.clone()).collect();
        let incomplete = self.reads_missing_field();
        if absent.is_empty() && !incomplete {
            return;
        }
        let hoped = self.hoped(None);
        if let Some(error) = &hoped.error {
            // What a stand-in cannot answer (a number, a certificate) may stop a render that the real fact would not.
            self.notes
                .push(format!("what waits for missing facts cannot be told, the render with them fails: {error}"));
            self.unknown.effects.extend(self.now.uncollected.iter().cloned());
            return;
        }
        self.uncollected(&hoped);
        for doc in &hoped.docs {
            let before = self.now.doc(&doc.key);
            if before.is_none() && !self.stored.contains_key(&doc.key) {
                let chains = self.awaited(&hoped, &doc.key, doc.whole, None);
                if !chains.is_empty() {
                    self.push(Class::SkippedWaiting, &doc.key, Vec::new(), chains);
                }
            } else if let Some(before) = before {
                self.hollow_waiting(&hoped, before, doc);
            }
        }
    }

    /// Whether a field that was read is not there, or blank, on this state of the cluster.
    fn is_missing(&self, key: &LookupKey, field: &str) -> bool {
        if !can_exist(self.facts, key) {
            return false;
        }
        if key.name.is_empty() {
            let found = self.now.lookups.iter().any(|l| *l.key == *key && l.found);
            return !found;
        }
        match self.facts.get(&object_of(self.facts, key)) {
            Known::Present(object) => blank(&object.json, Some(field)),
            Known::Absent | Known::Uncollected => true,
        }
    }

    /// Whether a branch or a field of the manifest depends on a field that a present object lacks.
    fn reads_missing_field(&self) -> bool {
        let now = self.now;
        let sets = now.gates.iter().map(|g| g.reads).chain(now.docs.iter().flat_map(|d| d.leaves.values().copied()));
        let all = now.origins.union_all(sets);
        lookups_of(all, &now.origins, &now.gates)
            .iter()
            .any(|(key, fields)| fields.iter().any(|field| !field.is_empty() && self.is_missing(key, field)))
    }

    fn hollow_waiting(&mut self, hoped: &Rendered, before: &Doc, doc: &Doc) {
        let mut fields = Vec::new();
        let mut chains = Vec::new();
        for change in diff::changes(&before.object, &doc.object) {
            // A field that some fact fills already carries no fallback, even if another fact could fill it otherwise.
            let filled = before.origins_at(change.old.as_deref(), &self.now.origins);
            let filled = lookups_of(filled, &self.now.origins, &self.now.gates);
            if change.old.is_some() && filled.keys().any(|key| self.found_now(key)) {
                continue;
            }
            let set = doc.origins_at(change.new.as_deref(), &hoped.origins);
            let found = self.awaited(hoped, &doc.key, set, Some(&change.path));
            if !found.is_empty() {
                fields.push(change.path);
                chains.extend(found);
            }
        }
        if !fields.is_empty() && self.stored.contains_key(&doc.key) {
            chains.sort();
            chains.dedup();
            self.push(Class::HollowWaiting, &doc.key, fields, chains);
        }
    }

    /// The missing facts without which the object (or the field at `path`) stays as it is.
    fn awaited(&mut self, hoped: &Rendered, object: &ObjectKey, set: OriginSet, path: Option<&str>) -> Vec<Chain> {
        let mut chains = Vec::new();
        let lookups = lookups_of(set, &hoped.origins, &hoped.gates);
        let candidates: Vec<_> = lookups
            .into_iter()
            .map(|(key, fields)| {
                let missing: BTreeSet<Rc<str>> = fields.into_iter().filter(|f| self.is_missing(&key, f)).collect();
                (key, missing)
            })
            .filter(|(_, fields)| !fields.is_empty())
            .collect();
        let alone = candidates.len() == 1;
        for (key, fields) in candidates {
            let decides = alone || {
                let other = self.hoped(Some(key.clone()));
                match (path, other.doc(object), hoped.doc(object)) {
                    (None, found, _) => found.is_none(),
                    (Some(path), Some(other), Some(doc)) => {
                        diff::changes(&other.object, &doc.object).iter().any(|c| c.path == path)
                    }
                    (Some(_), _, _) => true,
                }
            };
            if decides {
                chains.extend(self.chain_to(hoped, set, &key, &fields));
            }
        }
        chains
    }

    /// Objects behind closed gates that would ask the cluster if only the values let them.
    fn never(&mut self) {
        let closed = self.renderer.never_opened(self.subject, self.now, self.facts);
        if closed.is_empty() {
            return;
        }
        let forced = self.renderer.render(self.subject, self.facts, &Mode::Forced(closed));
        for doc in &forced.docs {
            let known = self.now.holds(&doc.key) || self.stored.contains_key(&doc.key);
            if !known && !self.found.iter().any(|f| f.object.as_ref() == Some(&reference(&doc.key))) {
                let place = forced.gate_of(doc.whole);
                let chains = place
                    .map(|(place, condition)| Chain {
                        place,
                        condition,
                        helpers: Vec::new(),
                        lookup: String::new(),
                        key: String::new(),
                        field: String::new(),
                    })
                    .into_iter()
                    .collect();
                self.push(Class::SkippedNever, &doc.key, Vec::new(), chains);
            }
        }
    }

    /// Kinds that the server does not know: Helm maps every object before it writes anything.
    fn apply_errors(&mut self) {
        for doc in &self.now.docs {
            if self.facts.discovery().resource(&doc.api_version, &doc.key.kind).is_none() {
                let error = format!("no matches for kind \"{}\" in version \"{}\"", doc.key.kind, doc.api_version);
                self.found.push(Finding {
                    class: Class::ApplyError,
                    object: Some(reference(&doc.key)),
                    fields: Vec::new(),
                    error: Some(error),
                    chains: Vec::new(),
                });
            }
        }
    }
}

/// An object as the report names it.
pub fn reference(key: &ObjectKey) -> ObjectRef {
    ObjectRef {
        group: key.group.clone(),
        kind: key.kind.clone(),
        namespace: key.namespace.clone(),
        name: key.name.clone(),
    }
}

/// Whether a value is nothing, or nothing but empty.
fn blank(object: &Json, path: Option<&str>) -> bool {
    path.is_none_or(|path| {
        super::render::at(object, path).is_none_or(|value| match value {
            Json::Null => true,
            Json::String(text) => text.is_empty(),
            Json::Array(list) => list.is_empty(),
            Json::Object(map) => map.is_empty(),
            _ => false,
        })
    })
}

/// Whether these fields of a workload make a new pod template.
fn restarts(object: &ObjectKey, fields: &[String]) -> bool {
    let workload = object.group == "apps" && matches!(object.kind.as_str(), "Deployment" | "StatefulSet" | "DaemonSet");
    workload && fields.iter().any(|f| f.starts_with(".spec.template"))
}
