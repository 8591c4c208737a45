//! Stored against now: what a force creates, changes and deletes, and which fact decides each.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value as Json;

use super::rotation::{draws, draws_credential};
use super::{Analyst, blank, reference};
use crate::base::Known;
use crate::cluster::object::ObjectKey;
use crate::diff::{self, at};
use crate::plan::chain::flatten;
use crate::plan::consumers::consumers;
use crate::plan::fact::{Fact, Reads, facts_of};
use crate::plan::gather::Moves;
use crate::plan::render::{Doc, Mode, Rendered};
use crate::report::contract::{Chain, Changed, Class, Danger};
use crate::template::gate::{Gate, LookupUse};
use crate::value::origin::{Origin, OriginSet};

impl Analyst<'_> {
    pub(super) fn compare(&mut self) {
        let now = self.now;
        for doc in &now.docs {
            match self.stored.get(&doc.key).copied() {
                None => self.added(doc),
                Some(stored) => {
                    self.changed(stored, doc);
                    // Of a kind that is not served nothing can be restored: that is an error of its own.
                    let served = self.facts.discovery().resource(&doc.api_version, &doc.key.kind).is_some();
                    if served && matches!(self.facts.get(&doc.key), Known::Absent) {
                        self.push(Class::DeletedLive, &doc.key, Vec::new(), Vec::new());
                        self.expected.created.push(reference(&doc.key));
                    }
                }
            }
        }
        let gone: Vec<ObjectKey> = self.stored.keys().filter(|k| !now.holds(k)).cloned().collect();
        for key in gone {
            self.removed(&key);
        }
    }

    /// Rendered now, not stored: which facts, supposed otherwise, take it away again?
    fn added(&mut self, doc: &Doc) {
        self.expected.created.push(reference(&doc.key));
        let set = doc.identity(&self.now.origins);
        let mut chains = Vec::new();
        let mut hidden = false;
        let reads = facts_of(set, self.now);
        for fact in self.deciding(&reads, |otherwise| !otherwise.holds(&doc.key)).into_iter().flatten() {
            // What comes with every revision anew was not hidden before.
            hidden |= match fact {
                Fact::Revision => self.stays(doc),
                Fact::Values(_) => false,
                _ => true,
            };
            chains.extend(self.chains(self.now, (set, &doc.source), &fact, &reads[&fact]));
        }
        let class = if hidden { Class::Skipped } else { Class::WouldCreate };
        if chains.is_empty() {
            chains = self.for_want_of(set, doc, |hoped| !hoped.holds(&doc.key));
        }
        self.push(class, &doc.key, Vec::new(), chains);
    }

    /// Whether the revision after the next one still has the object.
    fn stays(&mut self, doc: &Doc) -> bool {
        let later = self.renderer.render(self.subject, self.facts, &Mode::Later);
        later.holds(&doc.key)
    }

    /// In both: what differs, and which fact, supposed otherwise, gives the stored value back?
    fn changed(&mut self, stored: &Doc, doc: &Doc) {
        let mut changes = diff::changes(&stored.object, &doc.object);
        changes.retain(|change| !self.of_redacted(doc.origins_at(place(doc, change), &self.now.origins)));
        if changes.is_empty() {
            return;
        }
        let mut by_class: BTreeMap<Class, (Vec<String>, Vec<Chain>)> = BTreeMap::new();
        for change in &changes {
            let set = doc.origins_at(place(doc, change), &self.now.origins);
            let (class, chains) = self.cause(stored, doc, change, set);
            let entry = by_class.entry(class).or_default();
            entry.0.push(change.path.clone());
            entry.1.extend(chains);
        }
        let fields: Vec<String> = changes.iter().map(|c| c.path.clone()).collect();
        if by_class.contains_key(&Class::WouldRotate) {
            self.expected.rotated.push(reference(&doc.key));
            let consumers = consumers(&doc.key, &self.now.docs, self.facts);
            self.dangers.insert(Danger { kind: "rotates".into(), object: reference(&doc.key), consumers });
        }
        if restarts(&doc.key, &fields) {
            self.danger("restarts", &doc.key);
        }
        self.expected.changed.push(Changed { object: reference(&doc.key), fields });
        for (class, (fields, chains)) in by_class {
            self.push(class, &doc.key, fields, chains);
        }
    }

    /// Whether something goes back to bytes that were blacked out: then it is not known whether it changes.
    fn of_redacted(&mut self, set: OriginSet) -> bool {
        if self.now.redacted.is_empty() {
            return false;
        }
        let origins = flatten(set, &self.now.origins, &self.now.gates);
        let fields = origins.into_iter().filter_map(|origin| match origin {
            Origin::Lookup { key, path } => Some(((*key).clone(), path.to_string())),
            _ => None,
        });
        let read: BTreeSet<String> = fields
            .filter(|field| self.now.redacted.contains(field))
            .map(|(key, path)| format!("{key} {path}"))
            .collect();
        let any = !read.is_empty();
        self.unknown.bytes.extend(read);
        any
    }

    fn cause(&mut self, stored: &Doc, doc: &Doc, change: &diff::Change, set: OriginSet) -> (Class, Vec<Chain>) {
        let (mut stale, mut hollow, mut once, mut other) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut reads = facts_of(set, self.now);
        // A time that is printed is noise; what it opens and closes is told of the whole object.
        reads.remove(&Fact::Clock);
        let as_stored = |other: &Rendered| {
            let changes = |other: &Doc| diff::changes(&stored.object, &other.object);
            other.doc(&doc.key).is_some_and(|other| !changes(other).iter().any(|c| diff::touch(&c.path, &change.path)))
        };
        for facts in self.deciding(&reads, |otherwise| differs_at(otherwise, doc, &change.path)) {
            let stored_without = as_stored(&self.without(&facts));
            let listed = facts.iter().all(|fact| self.had_items(fact, stored, doc));
            let of_cluster = facts.iter().any(Fact::is_of_cluster);
            let own_chance = self.own_chance(&facts, doc, change.new.as_deref().unwrap_or(&change.path));
            let mut chains = Vec::new();
            for fact in facts {
                chains.extend(self.chains(self.now, (set, &doc.source), &fact, &reads[&fact]));
            }
            match of_cluster {
                true if own_chance => once.extend(chains),
                true if listed => stale.extend(chains),
                true if stored_without || (!change.grows && blank(&stored.object, change.old.as_deref())) => {
                    hollow.extend(chains);
                }
                true => stale.extend(chains),
                false => other.extend(chains),
            }
        }
        if !hollow.is_empty() {
            return (Class::Hollow, hollow);
        }
        if !stale.is_empty() {
            return (Class::Stale, stale);
        }
        if !once.is_empty() {
            let text = "covers a value that was never stored: the next upgrade sets it right, and later ones leave it";
            self.notes.push(format!("{} of {} {text}", change.path, doc.key));
            return (Class::Noise, once);
        }
        if other.is_empty() {
            let gone = self.served_before(reads.keys().cloned(), as_stored);
            if !gone.is_empty() {
                let of = (set, &*doc.source);
                let chains = gone.iter().flat_map(|fact| self.chains(self.now, of, fact, &nothing()));
                return (Class::Stale, chains.collect());
            }
            if self.subject.moves == Moves::Only && draws(set, self.now).is_empty() {
                let closed = self.closed_where_it_was_made(doc);
                if !closed.is_empty() {
                    return (Class::Stale, closed);
                }
            }
            other = self.for_want_of(set, doc, |hoped| differs_at(hoped, doc, &change.path));
        }
        let origins = flatten(set, &self.now.origins, &self.now.gates);
        let random = origins.iter().any(|o| matches!(o, Origin::Random(_)));
        if random && doc.key.kind == "Secret" && draws_credential(set, self.now) {
            return (Class::WouldRotate, other);
        }
        if random || origins.iter().any(|o| matches!(o, Origin::Clock(_) | Origin::Release("Revision"))) {
            return (Class::Noise, other);
        }
        (Class::WouldChange, other)
    }

    /// The missing facts for want of which something is as it is now: with them hoped for, it is otherwise.
    fn for_want_of(&mut self, set: OriginSet, doc: &Doc, otherwise: impl Fn(&Rendered) -> bool) -> Vec<Chain> {
        let mut missing = facts_of(set, self.now);
        missing.retain(|fact, fields| {
            fields.retain(|field| self.is_missing(fact, field));
            !fields.is_empty()
        });
        let hoped = if missing.is_empty() { return Vec::new() } else { self.hoped() };
        if hoped.error.is_some() || !otherwise(&hoped) {
            return Vec::new();
        }
        let mut chains = Vec::new();
        for (fact, fields) in missing {
            chains.extend(self.chains(self.now, (set, &doc.source), &fact, &fields));
        }
        chains
    }

    fn danger(&mut self, kind: &str, object: &ObjectKey) {
        self.dangers.insert(Danger { kind: kind.to_owned(), object: reference(object), consumers: Vec::new() });
    }

    /// Stored, not rendered now.
    fn removed(&mut self, object: &ObjectKey) {
        let kept = self.facts.get(object).present().is_some_and(|live| {
            live.json.pointer("/metadata/annotations/helm.sh~1resource-policy").and_then(Json::as_str) == Some("keep")
        });
        let mut chains = Vec::new();
        for fact in self.asked() {
            let otherwise = self.without(&BTreeSet::from([fact.clone()]));
            if let Some(doc) = otherwise.doc(object) {
                let set = doc.identity(&otherwise.origins);
                let fields = facts_of(set, &otherwise).remove(&fact).unwrap_or_default();
                chains.extend(self.chains(&otherwise, (set, &doc.source), &fact, &fields));
            }
        }
        if chains.is_empty() {
            chains = self.gone_with_facts(object);
        }
        if chains.is_empty() {
            let all = self.now.origins.all();
            let asked = all.iter().filter_map(Fact::of).map(|(fact, _)| fact);
            for fact in self.served_before(asked, |before| before.holds(object)) {
                chains.extend(self.chains(self.now, (OriginSet::EMPTY, ""), &fact, &nothing()));
            }
        }
        if chains.is_empty() && self.subject.moves == Moves::Only {
            chains = self.asked_where_it_was_made(object);
        }
        if kept {
            self.push(Class::Orphaned, object, Vec::new(), chains);
        } else {
            self.expected.deleted.push(reference(object));
            self.danger("deletes", object);
            self.push(Class::WouldDelete, object, Vec::new(), chains);
        }
    }

    /// API versions among these facts that are not served, and with any of which it is as it was.
    fn served_before(&mut self, facts: impl Iterator<Item = Fact>, as_it_was: impl Fn(&Rendered) -> bool) -> Vec<Fact> {
        let gone: BTreeSet<Fact> = facts.filter(|fact| !self.holds(fact)).collect();
        let put_back = |fact: &Fact| match fact {
            Fact::ApiVersion(api) => {
                let before = self.served(api);
                before.error.is_none() && as_it_was(&before)
            }
            _ => false,
        };
        gone.into_iter().filter(put_back).collect()
    }

    /// The facts that hold and that the render depends on.
    fn asked(&self) -> BTreeSet<Fact> {
        let all = self.now.origins.all();
        all.iter().filter_map(Fact::of).map(|(fact, _)| fact).filter(|fact| self.holds(fact)).collect()
    }

    /// What the template of a stored object asks for. With chart and values as they were, one of these facts must have
    /// changed (a list may have lost an item): which one, the state of now does not tell.
    fn asked_where_it_was_made(&mut self, object: &ObjectKey) -> Vec<Chain> {
        let now = self.now;
        let Some(source) = self.stored.get(object).map(|doc| doc.source.clone()) else { return Vec::new() };
        // Helm 3 forgets after a post-renderer which file an object came from.
        let outermost = |l: &&LookupUse| {
            let template = l.stack.first().map_or(&l.place.file, |frame| &frame.template);
            source.is_empty() || **template == *source
        };
        let keys: BTreeSet<_> = now.lookups.iter().filter(outermost).map(|l| l.key.clone()).collect();
        let facts = keys.into_iter().map(Fact::Lookup);
        facts.flat_map(|fact| self.chains(now, (OriginSet::EMPTY, &source), &fact, &nothing())).collect()
    }

    /// Whether a list had items when the object was stored: without any, something else of it would be otherwise.
    fn had_items(&mut self, fact: &Fact, stored: &Doc, doc: &Doc) -> bool {
        if fact.lookup().is_none_or(|key| !key.name.is_empty()) {
            return false;
        }
        let without = self.without(&BTreeSet::from([fact.clone()]));
        let Some(other) = without.doc(&doc.key) else { return false };
        let changed = diff::changes(&stored.object, &doc.object);
        let lost = diff::changes(&doc.object, &other.object);
        let kept =
            |lost: &diff::Change| lost.old.is_some() && changed.iter().all(|c| !diff::touch(&c.path, &lost.path));
        let part_of_list = |lost: &diff::Change| changed.iter().any(|c| c.grows && c.path.starts_with(&lost.path));
        lost.iter().any(|lost| kept(lost) || part_of_list(lost))
    }

    /// The facts for which branches of an object's template are closed. With chart and values as they were, what is
    /// written there now without a fact of its own was written by one of these branches before.
    fn closed_where_it_was_made(&mut self, doc: &Doc) -> Vec<Chain> {
        let now = self.now;
        let own = |gate: &&Gate| gate.stack.first().is_none_or(|frame| *frame.template == *doc.source);
        let mut closed = Reads::new();
        for gate in now.gates.iter().filter(|gate| !gate.open).filter(own) {
            for (fact, fields) in facts_of(gate.reads, now) {
                closed.entry(fact).or_default().extend(fields);
            }
        }
        closed.retain(|fact, _| fact.lookup().is_some());
        let mut chains = Vec::new();
        for (fact, fields) in closed {
            chains.extend(self.chains(now, (OriginSet::EMPTY, &doc.source), &fact, &fields));
        }
        chains
    }

    /// The missing facts that would bring a stored object back.
    fn gone_with_facts(&mut self, object: &ObjectKey) -> Vec<Chain> {
        let hoped = self.hoped();
        match hoped.doc(object) {
            Some(doc) if hoped.error.is_none() => self.awaited(&hoped, doc, doc.identity(&hoped.origins), None),
            _ => Vec::new(),
        }
    }
}

/// The field of a fact that has none.
fn nothing() -> BTreeSet<Rc<str>> {
    BTreeSet::from([Rc::from("")])
}

/// Where a change lies in the new object; what is gone lay in what is left around it.
fn place<'c>(doc: &Doc, change: &'c diff::Change) -> Option<&'c str> {
    change.new.as_deref().or_else(|| {
        let mut path = change.old.as_deref()?;
        while at(&doc.object, path).is_none() {
            path = &path[..path.rfind(['.', '['])?];
        }
        Some(path).filter(|path| !path.is_empty())
    })
}

/// Whether the document has another value there, or is not there at all.
fn differs_at(rendered: &Rendered, doc: &Doc, path: &str) -> bool {
    rendered.error.is_some()
        || rendered
            .doc(&doc.key)
            .is_none_or(|other| diff::changes(&other.object, &doc.object).iter().any(|c| diff::touch(&c.path, path)))
}

/// Whether these fields of a workload make a new pod template.
fn restarts(object: &ObjectKey, fields: &[String]) -> bool {
    let workload = object.group == "apps" && matches!(object.kind.as_str(), "Deployment" | "StatefulSet" | "DaemonSet");
    workload && fields.iter().any(|f| f.starts_with(".spec.template"))
}
