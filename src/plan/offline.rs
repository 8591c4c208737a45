//! What a renderer without a cluster makes of a release (Argo CD, `helm template`, a dry run of the client), against its
//! render on the cluster.
//!
//! Every lookup finds nothing there (L9), each render is a first install, and whatever is drawn by chance is drawn again
//! by each of them.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::chain::{chain, flatten};
use super::fact::{Fact, facts_of};
use super::findings::{draws, draws_credential, reference};
use super::gather::Subject;
use super::redact::Redactor;
use super::render::{Doc, Mode, Rendered, Renderer};
use crate::cluster::discovery::Discovery;
use crate::cluster::snapshot::Facts;
use crate::diff;
use crate::report::contract::{Chain, Class, Finding, Offline};
use crate::value::origin::{Origin, OriginSet};

/// Compares a release's render on `facts` with one that has no cluster: it is told what the cluster serves, or only `flags`.
pub fn offline(renderer: &Renderer, subject: &Subject, facts: &dyn Facts, flags: Option<&Rc<Discovery>>) -> Offline {
    let inside = renderer.render(subject, facts, &Mode::Now);
    let outside = renderer.render(subject, facts, &Mode::Offline(flags.cloned()));
    let told = flags.map_or(facts.discovery(), |flags| &**flags);
    let mut comparison = Comparison {
        renderer,
        subject,
        facts,
        told,
        inside: &inside,
        outside: &outside,
        otherwise: BTreeMap::new(),
        found: Vec::new(),
    };
    match &outside.error {
        Some(error) => {
            let redactor = Redactor::new(subject, Some(&inside), facts);
            let chains = comparison.stops();
            comparison.push(Class::RenderError, None, Vec::new(), Some(redactor.mask(error)), chains);
        }
        None => comparison.compare(),
    }
    let mut findings = comparison.found;
    findings.sort_by(|a, b| (a.class, &a.object, &a.fields).cmp(&(b.class, &b.object, &b.fields)));
    let asked: BTreeSet<String> = outside.lookups.iter().map(|lookup| lookup.key.to_string()).collect();
    Offline {
        release: subject.release.clone(),
        verdict: if findings.is_empty() { "SAFE_CLIENT_SIDE" } else { "NOT_SAFE_CLIENT_SIDE" },
        asked: asked.into_iter().collect(),
        error_inside: inside.error.clone().map(|error| Redactor::new(subject, None, facts).mask(&error)),
        findings,
    }
}

struct Comparison<'a> {
    renderer: &'a Renderer,
    subject: &'a Subject,
    facts: &'a dyn Facts,
    told: &'a Discovery,
    inside: &'a Rendered,
    outside: &'a Rendered,
    /// The cluster's own render with one fact otherwise, made when first asked for.
    otherwise: BTreeMap<Fact, Rc<Rendered>>,
    found: Vec<Finding>,
}

impl Comparison<'_> {
    fn compare(&mut self) {
        let (inside, outside) = (self.inside, self.outside);
        for doc in inside.docs.iter().filter(|doc| !outside.holds(&doc.key)) {
            let set = doc.identity(&inside.origins);
            let chains = self.chains(inside, doc, set, |other| !other.holds(&doc.key));
            self.push(Class::SkippedNever, Some(doc), Vec::new(), None, chains);
        }
        for doc in &outside.docs {
            match inside.doc(&doc.key) {
                Some(there) => self.changed(there, doc),
                None => {
                    let set = doc.identity(&outside.origins);
                    let chains = self.chains(outside, doc, set, |other| other.holds(&doc.key));
                    self.push(Class::WouldCreate, Some(doc), Vec::new(), None, chains);
                }
            }
        }
    }

    /// In both: fields that differ, and fields that each render draws anew.
    fn changed(&mut self, there: &Doc, doc: &Doc) {
        let (inside, outside) = (self.inside, self.outside);
        let mut by_class: BTreeMap<Class, (BTreeSet<String>, Vec<Chain>)> = BTreeMap::new();
        for change in diff::changes(&there.object, &doc.object) {
            let set = doc.origins_at(change.new.as_deref(), &outside.origins);
            let drawn = self.chance(doc, set);
            let otherwise = |other: &Rendered| {
                let changes = |found: &Doc| diff::changes(&there.object, &found.object);
                other.doc(&doc.key).is_none_or(|found| changes(found).iter().any(|c| c.path == change.path))
            };
            let of_inside = there.origins_at(change.old.as_deref(), &inside.origins);
            let mut chains = self.chains(inside, there, of_inside, otherwise);
            if chains.is_empty() {
                chains = self.chains(outside, doc, set, otherwise);
            }
            let class = drawn.unwrap_or(if chains.is_empty() { Class::WouldChange } else { Class::Hollow });
            let entry = by_class.entry(class).or_default();
            entry.0.insert(change.path);
            entry.1.extend(chains);
        }
        for (path, set) in &doc.leaves {
            if let Some(class) = self.chance(doc, *set) {
                by_class.entry(class).or_default().0.insert(path.clone());
            }
        }
        for (class, (fields, chains)) in by_class {
            self.push(class, Some(doc), fields.into_iter().collect(), None, chains);
        }
    }

    /// Whether chance or the clock has a part in a value, and what that makes of the object.
    fn chance(&self, doc: &Doc, set: OriginSet) -> Option<Class> {
        if doc.key.kind == "Secret" && draws_credential(set, self.outside) {
            return Some(Class::WouldRotate);
        }
        let drawn = !draws(set, self.outside).is_empty();
        let clock =
            || flatten(set, &self.outside.origins, &self.outside.gates).iter().any(|o| matches!(o, Origin::Clock(_)));
        (drawn || clock()).then_some(Class::Noise)
    }

    /// Facts that the two answer otherwise.
    fn differs(&self, fact: &Fact) -> bool {
        match fact {
            Fact::Lookup(key) => key.name.is_empty() || self.inside.lookups.iter().any(|l| l.key == *key && l.found),
            Fact::ApiVersion(api) => {
                let has = |discovery: &Discovery| discovery.api_versions().contains(&**api);
                has(self.facts.discovery()) != has(self.told)
            }
            Fact::KubeVersion => self.facts.discovery().version != self.told.version,
            Fact::Install => !self.subject.stored.is_empty(),
            Fact::Revision | Fact::Clock => true,
            Fact::Values(_) => false,
        }
    }

    /// The chains from something to the facts that the two answer otherwise; of several, those that decide it alone, if any
    /// does: without it, the cluster's own render is otherwise too.
    fn chains(
        &mut self,
        of: &Rendered,
        doc: &Doc,
        set: OriginSet,
        otherwise: impl Fn(&Rendered) -> bool,
    ) -> Vec<Chain> {
        let reads: Vec<_> = facts_of(set, of).into_iter().filter(|(fact, _)| self.differs(fact)).collect();
        let alone: BTreeSet<Fact> = match reads.len() {
            0 | 1 => BTreeSet::new(),
            _ => reads.iter().map(|(fact, _)| fact).filter(|fact| otherwise(&self.without(fact))).cloned().collect(),
        };
        let decides = |fact: &Fact| alone.is_empty() || alone.contains(fact);
        reads
            .iter()
            .filter(|(fact, _)| decides(fact))
            .flat_map(|(fact, fields)| fields.iter().map(move |field| chain(set, fact, field, of, &doc.source)))
            .collect()
    }

    /// The cluster's own render with one fact otherwise.
    fn without(&mut self, fact: &Fact) -> Rc<Rendered> {
        if let Some(known) = self.otherwise.get(fact) {
            return known.clone();
        }
        let mode = Mode::Without(BTreeSet::from([fact.clone()]));
        let rendered = Rc::new(self.renderer.render(self.subject, self.facts, &mode));
        self.otherwise.insert(fact.clone(), rendered.clone());
        rendered
    }

    /// The facts for want of which the render fails.
    fn stops(&mut self) -> Vec<Chain> {
        if self.inside.error.is_some() {
            return Vec::new();
        }
        let all = self.inside.origins.all();
        let asked: BTreeSet<Fact> = all.iter().filter_map(Fact::of).map(|(fact, _)| fact).collect();
        let facts: Vec<Fact> = asked.into_iter().filter(|fact| self.differs(fact)).collect();
        let inside = self.inside;
        let stops = facts.into_iter().filter(|fact| self.without(fact).error.is_some());
        stops.map(|fact| chain(OriginSet::EMPTY, &fact, "", inside, "")).collect()
    }

    fn push(
        &mut self,
        class: Class,
        doc: Option<&Doc>,
        fields: Vec<String>,
        error: Option<String>,
        mut chains: Vec<Chain>,
    ) {
        chains.sort();
        chains.dedup();
        let object = doc.map(|doc| reference(&doc.key));
        self.found.push(Finding { class, object, fields, error, chains });
    }
}
