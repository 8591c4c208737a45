//! What a release's render hides, and what a forced render would do: stored against now, each fact supposed otherwise in turn.

mod compare;
mod hooks;
mod lookups;
mod missing;
mod rotation;

pub use rotation::{draws, draws_credential, is_salt};

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value as Json;

use super::chain::chain;
use super::fact::{Fact, Reads, facts_of};
use super::gather::Subject;
use super::render::{Doc, Mode, Rendered, Renderer, account, rendered_at};
use crate::base::Known;
use crate::cluster::lookup::{can_exist, lookup, object_of, rule_for};
use crate::cluster::object::ObjectKey;
use crate::cluster::snapshot::Facts;
use crate::report::contract::{Chain, Class, Danger, Expected, Finding, ObjectRef};
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
    /// Facts that findings depend on, with the fields.
    pub deciding: BTreeMap<Fact, BTreeSet<String>>,
    /// Facts that were not collected and on which the render depends.
    pub unknown: Unknown,
    /// Of a first install that fails: the missing facts each of which alone makes it fail, with the fields that are read.
    pub stopped_by: Reads,
    /// The same install with what is missing hoped for.
    pub hoped: Option<Rc<Rendered>>,
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
    /// Fields of Secrets whose bytes were blacked out: whether they change something is not known.
    pub bytes: BTreeSet<String>,
    /// Whether the service account may ask for them is not known: a force may fail.
    pub access: BTreeSet<LookupKey>,
}

impl Unknown {
    /// Whether everything that matters was collected.
    pub fn is_empty(&self) -> bool {
        self.additions.is_empty() && self.bytes.is_empty() && !self.is_blind()
    }

    /// Whether it is not known what a force does.
    pub fn is_blind(&self) -> bool {
        !self.effects.is_empty() || !self.access.is_empty()
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
        otherwise: BTreeMap::new(),
        served: BTreeMap::new(),
        hoped: BTreeMap::new(),
        found: Vec::new(),
        expected: Expected::default(),
        dangers: BTreeSet::new(),
        deciding: BTreeMap::new(),
        unknown: Unknown { access: now.doubtful.clone(), ..Unknown::default() },
        stopped_by: Reads::new(),
        notes: Vec::new(),
    };
    analyst.lookups();
    if let Some(error) = &now.error {
        analyst.render_error(error);
    } else {
        analyst.compare();
        analyst.pairs();
        analyst.waiting();
        analyst.never();
        analyst.hooks();
        analyst.apply_errors();
    }
    let Analyst { mut found, mut expected, dangers, deciding, unknown, stopped_by, hoped, notes, .. } = analyst;
    let hoped = hoped.get(&None).filter(|_| !stopped_by.is_empty()).cloned();
    found.sort_by(|a, b| (a.class, &a.object, &a.fields).cmp(&(b.class, &b.object, &b.fields)));
    expected.created.sort();
    expected.changed.sort_by(|a, b| a.object.cmp(&b.object));
    expected.deleted.sort();
    expected.rotated.sort();
    let mut dangers: Vec<Danger> = dangers.into_iter().collect();
    // Nothing is written then.
    if found.iter().any(|f| f.class == Class::ApplyError) {
        expected = Expected::default();
        dangers.clear();
    }
    Analysis { findings: found, now, expected, dangers, deciding, unknown, stopped_by, hoped, notes }
}

/// Most facts that are supposed otherwise together.
const MOST_TOGETHER: usize = 12;

struct Analyst<'a> {
    renderer: &'a Renderer,
    subject: &'a Subject,
    facts: &'a dyn Facts,
    stored: BTreeMap<ObjectKey, &'a Doc>,
    now: &'a Rendered,
    /// Renders with facts supposed otherwise, made when first asked for.
    otherwise: BTreeMap<BTreeSet<Fact>, Rc<Rendered>>,
    /// Renders with an API version served besides, made when first asked for.
    served: BTreeMap<Rc<str>, Rc<Rendered>>,
    /// Renders in which what is missing is hoped for, except for one fact, made when first asked for.
    hoped: BTreeMap<Option<Fact>, Rc<Rendered>>,
    found: Vec<Finding>,
    expected: Expected,
    dangers: BTreeSet<Danger>,
    deciding: BTreeMap<Fact, BTreeSet<String>>,
    unknown: Unknown,
    stopped_by: Reads,
    notes: Vec<String>,
}

impl Analyst<'_> {
    /// The render in which these facts are otherwise.
    fn without(&mut self, facts: &BTreeSet<Fact>) -> Rc<Rendered> {
        if let Some(rendered) = self.otherwise.get(facts) {
            return rendered.clone();
        }
        let rendered = Rc::new(self.renderer.render(self.subject, self.facts, &Mode::Without(facts.clone())));
        self.otherwise.insert(facts.clone(), rendered.clone());
        rendered
    }

    /// The render with this API version served besides.
    fn served(&mut self, api: &Rc<str>) -> Rc<Rendered> {
        let render = || Rc::new(self.renderer.render(self.subject, self.facts, &Mode::Served(api.clone())));
        self.served.entry(api.clone()).or_insert_with(render).clone()
    }

    /// The facts among `reads` that decide something: each alone, or, where none does, the smallest set of them found
    /// that does it together (two facts that can each give the same value).
    fn deciding(&mut self, reads: &Reads, otherwise: impl Fn(&Rendered) -> bool) -> Vec<BTreeSet<Fact>> {
        let facts: Vec<BTreeSet<Fact>> =
            reads.keys().filter(|fact| self.holds(fact)).map(|fact| BTreeSet::from([fact.clone()])).collect();
        let alone: Vec<BTreeSet<Fact>> = facts.iter().filter(|fact| otherwise(&self.without(fact))).cloned().collect();
        let mut together: BTreeSet<Fact> = facts.into_iter().flatten().collect();
        if !alone.is_empty() || !(2..=MOST_TOGETHER).contains(&together.len()) || !otherwise(&self.without(&together)) {
            return alone;
        }
        for fact in together.clone() {
            together.remove(&fact);
            if !otherwise(&self.without(&together)) {
                together.insert(fact);
            }
        }
        vec![together]
    }

    /// The render in which what is missing is hoped for.
    fn hoped(&mut self) -> Rc<Rendered> {
        self.hoped_but(None)
    }

    /// The same, except for one fact.
    fn hoped_but(&mut self, except: Option<Fact>) -> Rc<Rendered> {
        if let Some(hoped) = self.hoped.get(&except) {
            return hoped.clone();
        }
        let mode = Mode::Hoped { served: Rc::new(self.missing_apis()), except: except.clone() };
        let hoped = Rc::new(self.renderer.render(self.subject, self.facts, &mode));
        self.hoped.insert(except, hoped.clone());
        hoped
    }

    /// API versions that the render asked for, that are not served, and that may come.
    fn missing_apis(&self) -> BTreeSet<Rc<str>> {
        let discovery = self.facts.discovery();
        let served = discovery.api_versions();
        let asked = self.now.origins.all().into_iter().filter_map(|origin| match origin {
            Origin::ApiVersion(api) => Some(api),
            _ => None,
        });
        asked.filter(|api| !served.contains(&**api) && discovery.may_come(api)).collect()
    }

    /// Whether the fact holds on this state, so that it can be supposed away.
    fn holds(&self, fact: &Fact) -> bool {
        match fact {
            Fact::Lookup(key) => self.now.lookups.iter().any(|l| l.key == *key && l.found),
            Fact::ApiVersion(api) => self.facts.discovery().api_versions().contains(&**api),
            Fact::KubeVersion | Fact::Install | Fact::Revision => true,
            Fact::Clock => rendered_at(self.subject).is_some(),
            // Values that are the stored ones decide nothing that is new.
            Fact::Values(_) => self.subject.values_moved(),
        }
    }

    /// Whether a field that was read is not there, or blank, on this state of the cluster, and may come.
    fn is_missing(&self, fact: &Fact, field: &str) -> bool {
        match fact {
            Fact::Lookup(key) if !can_exist(self.facts, key) => false,
            Fact::Lookup(key) if key.name.is_empty() => !self.holds(fact),
            Fact::Lookup(key) => match self.facts.get(&object_of(self.facts, key)) {
                Known::Present(object) => blank(&object.json, Some(field)),
                Known::Absent | Known::Uncollected => true,
            },
            Fact::ApiVersion(api) => !self.holds(fact) && self.facts.discovery().may_come(api),
            Fact::KubeVersion | Fact::Install | Fact::Revision | Fact::Clock | Fact::Values(_) => false,
        }
    }

    fn push(&mut self, class: Class, object: &ObjectKey, fields: Vec<String>, mut chains: Vec<Chain>) {
        chains.sort();
        chains.dedup();
        self.found.push(Finding { class, object: Some(reference(object)), fields, error: None, chains });
    }

    /// The chains from something of a document to the fields of a fact that decides it.
    fn chains(
        &mut self,
        rendered: &Rendered,
        (set, source): (OriginSet, &str),
        fact: &Fact,
        fields: &BTreeSet<Rc<str>>,
    ) -> Vec<Chain> {
        let deciding = self.deciding.entry(fact.clone()).or_default();
        deciding.extend(fields.iter().map(|field| field.to_string()));
        fields.iter().map(|field| chain(set, fact, field, rendered, source)).collect()
    }

    /// The render fails. If it does so for want of a fact that nobody collected, that is all that can be said.
    fn render_error(&mut self, error: &str) {
        if !self.now.uncollected.is_empty() && self.hoped().error.is_none() {
            self.unknown.effects = self.now.uncollected.clone();
            self.notes.push(format!("if nothing of what was not collected exists, the render fails: {error}"));
            return;
        }
        if let Some(account) = account(self.subject, self.facts, &self.renderer.settings)
            && let Some(last) = self.now.lookups.last()
            && lookup(&account, &last.key, &self.now.origins).is_err()
            && lookup(self.facts, &last.key, &self.now.origins).is_ok()
        {
            let rule = rule_for(self.facts, &last.key);
            self.notes.push(format!("a role of {} needs this rule: {rule}", account.user()));
        }
        self.found.push(Finding {
            class: Class::RenderError,
            object: None,
            fields: Vec::new(),
            error: Some(error.to_owned()),
            chains: Vec::new(),
        });
        if self.subject.stored.is_empty() {
            self.stopped_by = self.stops();
        }
    }

    /// The missing facts each of which alone keeps the render from succeeding, where it would with all of them.
    fn stops(&mut self) -> Reads {
        let hoped = self.hoped();
        if hoped.error.is_some() {
            return Reads::new();
        }
        let lookups = hoped.lookups.iter().map(|l| Fact::Lookup(l.key.clone()));
        let apis = self.missing_apis().into_iter().map(Fact::ApiVersion);
        let missing: BTreeSet<Fact> = lookups.chain(apis).filter(|fact| self.is_missing(fact, "")).collect();
        let mut read = facts_of(hoped.origins.union_all(hoped.docs.iter().map(|doc| doc.whole)), &hoped);
        for set in hoped.docs.iter().flat_map(|doc| doc.leaves.values()) {
            for (fact, fields) in facts_of(*set, &hoped) {
                read.entry(fact).or_default().extend(fields);
            }
        }
        missing
            .into_iter()
            .filter(|fact| self.hoped_but(Some(fact.clone())).error.is_some())
            .map(|fact| (fact.clone(), read.remove(&fact).unwrap_or_default()))
            .collect()
    }

    /// Kinds that the server does not know: Helm maps every object, those of the stored manifest first, before it writes
    /// anything (`F-172`).
    fn apply_errors(&mut self) {
        let unserved = |doc: &&Doc| self.facts.discovery().resource(&doc.api_version, &doc.key.kind).is_none();
        let stored = self.subject.stored_docs.iter().filter(unserved).map(|doc| (doc, true));
        let new = self.now.docs.iter().filter(unserved).map(|doc| (doc, false));
        let mut errors: BTreeMap<&ObjectKey, String> = BTreeMap::new();
        for (doc, stored) in stored.chain(new) {
            let of = if stored { "unable to build kubernetes objects from current release manifest: " } else { "" };
            let error = format!("{of}no matches for kind \"{}\" in version \"{}\"", doc.key.kind, doc.api_version);
            errors.entry(&doc.key).or_insert(error);
        }
        for (key, error) in errors {
            self.found.push(Finding {
                class: Class::ApplyError,
                object: Some(reference(key)),
                fields: Vec::new(),
                error: Some(error),
                chains: Vec::new(),
            });
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
        crate::diff::at(object, path).is_none_or(|value| match value {
            Json::Null => true,
            Json::String(text) => text.is_empty(),
            Json::Array(list) => list.is_empty(),
            Json::Object(map) => map.is_empty(),
            _ => false,
        })
    })
}
