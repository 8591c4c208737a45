//! What waits for facts that are missing, what no fact can bring, and what nobody collected.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::{Analyst, reference};
use crate::cluster::lookup::object_of;
use crate::diff;
use crate::plan::fact::{Fact, facts_of};
use crate::plan::render::{Doc, Mode, Rendered};
use crate::report::contract::{Chain, Class, Finding};
use crate::value::origin::{LookupKey, OriginSet};

impl Analyst<'_> {
    /// What would appear or fill up once the facts exist that are missing now.
    pub(super) fn waiting(&mut self) {
        let absent = self.now.lookups.iter().any(|l| !l.found) || !self.missing_apis().is_empty();
        if !absent && !self.reads_missing_field() {
            return;
        }
        let hoped = self.hoped();
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
                let chains = self.awaited(&hoped, doc, doc.identity(&hoped.origins), None);
                if !chains.is_empty() {
                    self.push(Class::SkippedWaiting, &doc.key, Vec::new(), chains);
                }
            } else if let Some(before) = before {
                self.hollow_waiting(&hoped, before, doc);
            }
        }
    }

    /// Which of the facts that nobody collected the render depends on: it differs where they are hoped for.
    fn uncollected(&mut self, hoped: &Rendered) {
        let now = self.now;
        let asked = |set: OriginSet, rendered: &Rendered| -> Vec<LookupKey> {
            let facts = facts_of(set, rendered).into_keys();
            let lookups = facts.filter_map(|fact| fact.lookup().map(|key| (**key).clone()));
            lookups.filter(|key| now.uncollected.contains(key)).collect()
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

    /// Whether a branch or a field of the manifest depends on a field that a present object lacks.
    fn reads_missing_field(&self) -> bool {
        let now = self.now;
        let sets = now.gates.iter().map(|g| g.reads).chain(now.docs.iter().flat_map(|d| d.leaves.values().copied()));
        let all = now.origins.union_all(sets);
        let facts = facts_of(all, now);
        let mut read = facts.iter().flat_map(|(fact, fields)| fields.iter().map(move |field| (fact, field)));
        read.any(|(fact, field)| !field.is_empty() && self.is_missing(fact, field))
    }

    fn hollow_waiting(&mut self, hoped: &Rendered, before: &Doc, doc: &Doc) {
        let mut fields = Vec::new();
        let mut chains = Vec::new();
        let object = reference(&doc.key);
        let rotates = |f: &Finding| f.class == Class::WouldRotate && f.object.as_ref() == Some(&object);
        for change in diff::changes(&before.object, &doc.object) {
            // A field that some fact fills already carries no fallback, even if another fact could fill it otherwise.
            let filled = facts_of(before.origins_at(change.old.as_deref(), &self.now.origins), self.now);
            let by_lookup = |fact: &Fact| fact.lookup().is_some() && self.holds(fact);
            if change.old.is_some() && filled.keys().any(by_lookup) {
                continue;
            }
            // What reads itself back waits for nothing: the force makes it.
            let itself = |fact: &Fact| fact.lookup().is_some_and(|key| object_of(self.facts, key) == doc.key);
            if !filled.is_empty() && filled.keys().all(itself) {
                continue;
            }
            // What is drawn anew by every render is no fallback that is kept.
            if self.found.iter().any(|f| rotates(f) && f.fields.contains(&change.path)) {
                continue;
            }
            let set = doc.origins_at(change.new.as_deref(), &hoped.origins);
            let found = self.awaited(hoped, doc, set, Some(&change.path));
            if !found.is_empty() {
                fields.push(change.path);
                chains.extend(found);
            }
        }
        if !fields.is_empty() && self.stored.contains_key(&doc.key) {
            self.push(Class::HollowWaiting, &doc.key, fields, chains);
        }
    }

    /// The missing facts without which the object (or the field at `path`) stays as it is.
    pub(super) fn awaited(&mut self, hoped: &Rendered, doc: &Doc, set: OriginSet, path: Option<&str>) -> Vec<Chain> {
        let mut chains = Vec::new();
        let candidates: Vec<_> = facts_of(set, hoped)
            .into_iter()
            .map(|(fact, fields)| {
                let missing: BTreeSet<Rc<str>> = fields.into_iter().filter(|f| self.is_missing(&fact, f)).collect();
                (fact, missing)
            })
            .filter(|(_, fields)| !fields.is_empty())
            .collect();
        let alone = candidates.len() == 1;
        for (fact, fields) in candidates {
            let decides = alone || {
                let other = self.hoped_but(Some(fact.clone()));
                match (path, other.doc(&doc.key)) {
                    (None, found) => found.is_none(),
                    (Some(path), Some(other)) => {
                        diff::changes(&other.object, &doc.object).iter().any(|c| diff::touch(&c.path, path))
                    }
                    (Some(_), _) => true,
                }
            };
            if decides {
                chains.extend(self.chains(hoped, (set, &doc.source), &fact, &fields));
            }
        }
        chains
    }

    /// Objects behind closed gates that would ask the cluster if only the values let them.
    pub(super) fn never(&mut self) {
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
}
