//! Hooks: those that a closed gate leaves out, and Secrets in them, which every upgrade makes anew.

use serde_json::Value as Json;

use super::rotation::draws_credential;
use super::{Analyst, reference};
use crate::plan::fact::{Fact, facts_of};
use crate::plan::render::Doc;
use crate::report::contract::{Class, Danger};

impl Analyst<'_> {
    /// A hook that is missing because a fact is, or that appears because one came; and what hooks draw by chance.
    pub(super) fn hooks(&mut self) {
        self.hooks_that_came();
        self.hooks_that_wait();
        let now = self.now;
        for hook in now.hooks.iter().filter(|hook| hook.key.kind == "Secret" && runs_on_upgrade(hook)) {
            let fields: Vec<String> = hook
                .leaves
                .iter()
                .filter(|(_, set)| draws_credential(**set, now))
                .map(|(path, _)| path.clone())
                .collect();
            if fields.is_empty() || self.subject.stored.is_empty() {
                continue;
            }
            let consumers = crate::plan::consumers::consumers(&hook.key, &now.docs, self.facts);
            self.dangers.insert(Danger { kind: "rotates".into(), object: reference(&hook.key), consumers });
            self.expected.rotated.push(reference(&hook.key));
            self.notes.push(format!("{} is a hook: deleted and made anew by every upgrade", hook.key));
            self.push(Class::WouldRotate, &hook.key, fields, Vec::new());
        }
    }

    /// Rendered now, not stored, and a fact of the cluster decides it: the run that it was made for has passed.
    fn hooks_that_came(&mut self) {
        let now = self.now;
        let known = |hook: &&Doc| self.subject.stored_hooks.iter().any(|old| old.key == hook.key);
        if self.subject.stored.is_empty() {
            return;
        }
        for hook in now.hooks.iter().filter(|hook| !known(hook)).collect::<Vec<_>>() {
            let set = hook.identity(&now.origins);
            let reads = facts_of(set, now);
            let holds = |hooks: &[Doc]| hooks.iter().any(|h| h.key == hook.key);
            let mut chains = Vec::new();
            for fact in self.deciding(&reads, |other| !holds(&other.hooks)).into_iter().flatten() {
                if fact.is_of_cluster() {
                    chains.extend(self.chains(now, (set, &hook.source), &fact, &reads[&fact]));
                }
            }
            if !chains.is_empty() {
                self.push(Class::HookSkipped, &hook.key, Vec::new(), chains);
            }
        }
    }

    /// Left out until a fact exists.
    fn hooks_that_wait(&mut self) {
        let now = self.now;
        let missing = now.gates.iter().any(|gate| {
            let reads = facts_of(gate.reads, now);
            reads.iter().any(|(fact, fields)| fields.iter().any(|field| self.is_missing(fact, field)))
        });
        if !missing || self.subject.stored.is_empty() {
            return;
        }
        let hoped = self.hoped();
        if hoped.error.is_some() {
            return;
        }
        let left_out = |hook: &&Doc| now.hooks.iter().all(|other| other.key != hook.key) && runs_on_upgrade(hook);
        for hook in hoped.hooks.iter().filter(left_out) {
            let set = hook.identity(&hoped.origins);
            let mut chains = Vec::new();
            for (fact, fields) in facts_of(set, &hoped) {
                let fields: std::collections::BTreeSet<_> =
                    fields.into_iter().filter(|field| self.is_missing(&fact, field)).collect();
                let without = |other: &crate::plan::render::Rendered| other.hooks.iter().all(|h| h.key != hook.key);
                if !fields.is_empty()
                    && (matches!(fact, Fact::Lookup(_)) || without(&self.hoped_but(Some(fact.clone()))))
                {
                    chains.extend(self.chains(&hoped, (set, &hook.source), &fact, &fields));
                }
            }
            if !chains.is_empty() {
                self.push(Class::HookSkipped, &hook.key, Vec::new(), chains);
            }
        }
    }
}

/// Whether an upgrade runs the hook.
fn runs_on_upgrade(hook: &Doc) -> bool {
    let events = hook.object.pointer("/metadata/annotations/helm.sh~1hook").and_then(Json::as_str).unwrap_or_default();
    events.split(',').any(|event| matches!(event.trim(), "pre-upgrade" | "post-upgrade"))
}
