//! Keys: the facts that findings depend on, with what they were named by, whether they exist, and who makes them.

use std::collections::{BTreeMap, BTreeSet};

use super::chain::flatten;
use super::fact::{Fact, facts_of};
use super::findings::{Analysis, reference};
use super::gather::Subject;
use super::producer::Index;
use super::waves::Ordered;
use crate::base::Known;
use crate::cluster::lookup::object_of;
use crate::cluster::object::ObjectKey;
use crate::cluster::snapshot::{Facts, Snapshot};
use crate::report::contract::{Key, Producer};
use crate::value::origin::{Layer, Origin};

/// The facts that findings of release `i` depend on.
pub fn keys(subject: &Subject, ordered: &Ordered, index: &Index, facts: &Snapshot, i: usize) -> Vec<Key> {
    let analyses = || ordered.first.get(i).and_then(Option::as_ref).into_iter().chain(ordered.later.get(&i));
    let mut fields: BTreeMap<Fact, BTreeSet<String>> = BTreeMap::new();
    for (fact, read) in analyses().flat_map(|analysis| &analysis.deciding) {
        fields.entry(fact.clone()).or_default().extend(read.iter().cloned());
    }
    let keys = fields.into_iter().map(|(fact, fields)| {
        let object = match &fact {
            Fact::Lookup(key) => object_of(facts, key),
            Fact::ApiVersion(api) => kind_of(api),
            Fact::Values(label) => layered(label),
            Fact::KubeVersion | Fact::Install | Fact::Revision | Fact::Clock => ObjectKey::default(),
        };
        let evaluations = ordered.final_analysis(i).map_or(0, |last| evaluations(&fact, last));
        let later =
            || analyses().any(|analysis| analysis.now.lookups.iter().any(|l| fact.lookup() == Some(&l.key) && l.found));
        let exists = match (&fact, facts.get(&object)) {
            (Fact::Lookup(key), _) if key.name.is_empty() => "present",
            (Fact::Lookup(_), Known::Present(_)) => "present",
            (Fact::Lookup(_), _) if later() => "predicted",
            (Fact::Lookup(_), Known::Absent) => "absent",
            (Fact::Lookup(_), Known::Uncollected) => "uncollected",
            (Fact::ApiVersion(api), _) if !facts.discovery.api_versions().contains(&**api) => "absent",
            _ => "present",
        };
        Key {
            key: fact.to_string(),
            object: reference(&object),
            api_version: match &fact {
                Fact::Lookup(key) => key.api_version.to_string(),
                Fact::ApiVersion(api) => api.splitn(3, '/').take(2).collect::<Vec<_>>().join("/"),
                _ => String::new(),
            },
            named_by: named_by(&fact, ordered.final_analysis(i)),
            evaluations,
            exists,
            producer: match &fact {
                Fact::Lookup(_) | Fact::Values(_) => index.producer(&subject.release, &object, &fields, facts),
                Fact::Clock => Producer::named("unknown", "time passes by itself"),
                Fact::ApiVersion(_) => index.server(&subject.release, &object, facts),
                Fact::KubeVersion => Producer::named("administrator", "the version of the cluster"),
                Fact::Install | Fact::Revision => Producer::named("flux", "the history of the release itself"),
            },
            fields: fields.into_iter().collect(),
        }
    });
    keys.collect()
}

/// Group and kind of an API version (`a.io/v1`) or resource (`a.io/v1/Kind`).
pub fn kind_of(api: &str) -> ObjectKey {
    let mut parts = api.splitn(3, '/');
    let group = parts.next().filter(|group| *group != api).unwrap_or_default().to_owned();
    ObjectKey { group, kind: parts.nth(1).unwrap_or_default().to_owned(), ..ObjectKey::default() }
}

/// What the name in a lookup was built from: values with the part that gives them, fields of the release.
fn named_by(fact: &Fact, analysis: Option<&Analysis>) -> Vec<String> {
    let Some(now) = analysis.map(|analysis| &analysis.now) else { return Vec::new() };
    let asked = now.lookups.iter().filter(|l| fact.lookup() == Some(&l.key));
    let origins: BTreeSet<Origin> = asked.flat_map(|l| flatten(l.name, &now.origins, &now.gates)).collect();
    let told = origins.into_iter().filter_map(|origin| match origin {
        Origin::Value { layer: Layer::User(label), path } => Some(format!(".Values{path} of {label}")),
        Origin::Value { layer: Layer::Chart(chart), path } => Some(format!(".Values{path} of chart {chart}")),
        Origin::Lookup { key, path } => Some(format!("{key} {path}").trim_end().to_owned()),
        _ => None,
    });
    told.collect()
}

/// The object behind a label of values: `Secret ns/name`, with the key behind it.
fn layered(label: &str) -> ObjectKey {
    let mut words = label.split(' ');
    let kind = words.next().unwrap_or_default().to_owned();
    let (namespace, name) = words.next().and_then(|id| id.split_once('/')).unwrap_or_default();
    ObjectKey { group: String::new(), kind, namespace: namespace.to_owned(), name: name.to_owned() }
}

/// How often a render asks for a fact: calls of the lookup, or branches that depend on it.
fn evaluations(fact: &Fact, analysis: &Analysis) -> usize {
    let now = &analysis.now;
    match fact.lookup() {
        Some(key) => now.lookups.iter().filter(|l| l.key == *key).count(),
        None => now.gates.iter().filter(|gate| facts_of(gate.reads, now).contains_key(fact)).count(),
    }
}
