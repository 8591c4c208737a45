//! Chance: what is drawn anew, what only looks so, and pairs of which one half is.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::Analyst;
use crate::cluster::lookup::object_of;
use crate::plan::chain::flatten;
use crate::plan::fact::Fact;
use crate::plan::render::{Doc, Rendered};
use crate::report::contract::Class;
use crate::value::origin::{Origin, OriginSet};

/// Functions whose chance is but salt: the value says the same with another one.
const SALTED: [&str; 3] = ["htpasswd", "bcrypt", "encryptAES"];

impl Analyst<'_> {
    /// Whether a field took what the release itself had drawn before its own object could be read back: once that is read,
    /// the field changes for the last time, and nothing was missing.
    pub(super) fn own_chance(&mut self, facts: &BTreeSet<Fact>, doc: &Doc, path: &str) -> bool {
        let own = |fact: &Fact| {
            let key = fact.lookup().map(|key| object_of(self.facts, key));
            key.is_some_and(|key| key != doc.key && self.stored.contains_key(&key) && self.now.holds(&key))
        };
        if !facts.iter().all(own) {
            return false;
        }
        let without = self.without(facts);
        without.doc(&doc.key).is_some_and(|other| {
            let set = other.origins_at(Some(path), &without.origins);
            !draws(set, &without).is_empty()
        })
    }

    /// Halves of pairs: a value that is kept by its own guard, while the value that it was made from is drawn anew.
    pub(super) fn pairs(&mut self) {
        let rotated = |class: Class| class == Class::WouldRotate;
        if !self.found.iter().any(|f| rotated(f.class)) {
            return;
        }
        let now = self.now;
        let secrets = || now.docs.iter().filter(|doc| doc.key.kind == "Secret");
        let anew: Vec<(&Doc, &String)> = secrets()
            .flat_map(|doc| {
                doc.leaves.iter().filter(|(_, set)| draws_credential(**set, now)).map(move |(path, _)| (doc, path))
            })
            .collect();
        let guards: BTreeSet<Fact> =
            now.lookups.iter().filter(|l| l.found).map(|l| Fact::Lookup(l.key.clone())).collect();
        for guard in guards {
            let Some(key) = guard.lookup().map(|key| object_of(self.facts, key)) else { continue };
            let Some(doc) = now.doc(&key).filter(|doc| self.stored.contains_key(&doc.key)) else { continue };
            let without = self.without(&BTreeSet::from([guard.clone()]));
            let Some(other) = without.doc(&key) else { continue };
            // What is drawn anew, by the draws that it has where nothing is read back.
            let sources: BTreeSet<Rc<str>> = anew
                .iter()
                .filter_map(|(doc, path)| without.doc(&doc.key)?.leaves.get(*path).copied())
                .flat_map(|set| draws(set, &without))
                .filter(|site| !is_salt(site))
                .collect();
            let coupled = |(path, set): (&String, &OriginSet)| {
                let made = draws(*set, &without).iter().any(|site| sources.contains(site));
                let kept = doc.leaves.get(path).is_some_and(|set| !draws_credential(*set, now));
                (made && kept).then(|| path.clone())
            };
            let fields: Vec<String> = other.leaves.iter().filter_map(coupled).collect();
            if !fields.is_empty() {
                self.push(Class::Mismatch, &key, fields, Vec::new());
            }
        }
    }
}

/// The random functions that a value goes back to, by call site.
pub fn draws(set: OriginSet, rendered: &Rendered) -> BTreeSet<Rc<str>> {
    let origins = flatten(set, &rendered.origins, &rendered.gates).into_iter();
    origins.filter_map(|o| if let Origin::Random(site) = o { Some(site) } else { None }).collect()
}

/// Whether a credential is drawn: chance that is more than salt.
pub fn draws_credential(set: OriginSet, rendered: &Rendered) -> bool {
    draws(set, rendered).iter().any(|site| !is_salt(site))
}

/// Whether the chance of a call is but salt.
pub fn is_salt(site: &str) -> bool {
    SALTED.iter().any(|function| site.ends_with(&format!(" {function}")))
}
