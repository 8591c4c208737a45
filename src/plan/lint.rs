//! A chart without a cluster: what each gate hides, what would deadlock, what rotates, what the next upgrade deletes.
//!
//! The chart is rendered as a first install on an empty cluster that serves every kind the chart asks for. Three renders
//! tell most: as it is, with everything hoped for, and with the values' gates forced open.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::chain::chain;
use super::fact::{Fact, facts_of};
use super::findings::{analyse, draws, is_salt, reference};
use super::gather::Subject;
use super::misasked::misasked;
use super::render::{Doc, Mode, Rendered, Renderer};
use crate::chart::Chart;
use crate::cluster::discovery::Resource;
use crate::cluster::lookup::object_of;
use crate::cluster::object::ObjectKey;
use crate::cluster::snapshot::Snapshot;
use crate::flux::postrender::hazards;
use crate::report::contract::{Chain, Class, Hazard, Lint, LintItem, ObjectRef};
use crate::value::origin::{LookupKey, Origin};

/// Most rounds of learning which kinds a chart asks for: each may open branches that ask for more.
const ROUNDS: usize = 40;

/// Analyses a chart with these values.
pub fn lint(renderer: &Renderer, name: &str, namespace: &str, chart: Chart, values: serde_json::Value) -> Lint {
    let mut subject = Subject::alone(name, namespace, chart, values);
    let (facts, served) = empty_cluster(renderer, &subject);
    let now = renderer.render(&subject, &facts, &Mode::Now);
    let hoped = renderer.render(&subject, &facts, &Mode::Hoped { served: served.clone(), except: None });
    // Values that no schema takes fail whatever the cluster holds; only the first of these renders asks the schema.
    let unchecked = || renderer.render(&subject, &facts, &Mode::Forced(BTreeSet::new()));
    if now.error.is_some() && unchecked().error != now.error {
        return Lint { error: now.error, items: Vec::new() };
    }
    let mut items = post_rendering(renderer, &subject, &facts, &served);
    if let (Some(_), Some(error)) = (&now.error, &hoped.error) {
        return Lint { error: Some(error.clone()), items };
    }
    // Where hope itself fails (somebody refuses what is there already), no fact is to blame for that.
    if hoped.error.is_none() {
        items.extend(error_gates(renderer, &subject, &facts, &served, &hoped));
    }
    let explained = items.iter().any(|item| item.hazard != Hazard::Altered);
    if let (Some(error), false) = (&now.error, explained) {
        items.push(together(error, &hoped));
    }
    // The next upgrade on the same cluster: what the first install stored, against what is found then.
    subject.stored_docs = renderer.render(&subject, &facts, &Mode::Now).docs;
    let analysis = analyse(renderer, &subject, &facts);
    items.extend(gates(&analysis.findings));
    if now.error.is_none() {
        items.extend(created_once(&now, &hoped));
    }
    let makes = if now.error.is_none() { &now } else { &hoped };
    items.extend(rotating(makes, &hoped));
    items.extend(self_produced(makes, &hoped, &facts));
    let badly = misasked([&now, &hoped], &facts.discovery);
    items.extend(badly.into_iter().map(|((hazard, key), (place, text))| LintItem {
        hazard,
        rule: None,
        place: None,
        chain: None,
        objects: vec![reference(&object_of(&facts, &key))],
        text: Some(format!("looked up at {}:{}: {text}", place.file, place.line)),
    }));
    items.sort();
    items.dedup();
    Lint { error: None, items }
}

/// What post-rendering refuses or changes, by rule and place; of what is hoped for only what the chart itself writes.
fn post_rendering(
    renderer: &Renderer,
    subject: &Subject,
    facts: &Snapshot,
    served: &Rc<BTreeSet<Rc<str>>>,
) -> Vec<LintItem> {
    let of = |mode: &Mode| {
        let rendered = renderer.written(subject, facts, mode);
        hazards(&rendered.files, renderer.helm(), &rendered.origins)
    };
    let mut all = of(&Mode::Now);
    let hoped = of(&Mode::Hoped { served: served.clone(), except: None });
    // Names that are hoped for are alike without being the same.
    all.extend(hoped.into_iter().filter(|hazard| !hazard.looked_up && hazard.rule != "F-348"));
    let mut found: BTreeMap<(Hazard, &'static str, String, String), BTreeSet<ObjectRef>> = BTreeMap::new();
    for hazard in all {
        let kind = if hazard.refused { Hazard::Refused } else { Hazard::Altered };
        let lines: Vec<String> = hazard.written.iter().map(|(file, line)| format!("{file}:{line}")).collect();
        let place = lines.first().cloned().unwrap_or(hazard.file);
        let at = if hazard.path.is_empty() { String::new() } else { format!("{}: ", hazard.path) };
        let through = match lines.get(1..).unwrap_or_default() {
            [] => String::new(),
            lines => format!(" (printed by {})", lines.join(", ")),
        };
        let text = format!("{at}{}{through}", hazard.text);
        found.entry((kind, hazard.rule, place, text)).or_default().insert(reference(&hazard.object));
    }
    let items = found.into_iter().map(|((hazard, rule, place, text), objects)| {
        let objects = objects.into_iter().collect();
        LintItem { hazard, rule: Some(rule), place: Some(place), chain: None, objects, text: Some(text) }
    });
    items.collect()
}

/// A cluster with nothing in it that serves what the chart asks for; and the API versions that may be hoped for.
fn empty_cluster(renderer: &Renderer, subject: &Subject) -> (Snapshot, Rc<BTreeSet<Rc<str>>>) {
    let mut facts = Snapshot::default();
    facts.coverage.complete = true;
    let mut served: Rc<BTreeSet<Rc<str>>> = Rc::default();
    for _ in 0..ROUNDS {
        let mut asked: BTreeSet<Rc<LookupKey>> = BTreeSet::new();
        let mut apis: BTreeSet<Rc<str>> = BTreeSet::new();
        let hoped = Mode::Hoped { served: served.clone(), except: None };
        for mode in [Mode::Now, hoped] {
            let rendered = renderer.render(subject, &facts, &mode);
            for origin in rendered.origins.all() {
                match origin {
                    Origin::ApiVersion(api) if facts.discovery.may_come(&api) => drop(apis.insert(api)),
                    Origin::Lookup { key, .. } => drop(asked.insert(key)),
                    _ => {}
                }
            }
            for doc in &rendered.docs {
                serve(&mut facts, &doc.api_version, &doc.key.kind, !doc.key.namespace.is_empty());
            }
        }
        let before = (facts.discovery.api_versions().len(), served.len());
        for key in &asked {
            serve(&mut facts, &key.api_version, &key.kind, !key.namespace.is_empty() || key.name.is_empty());
        }
        apis.extend(served.iter().cloned());
        served = Rc::new(apis);
        if before == (facts.discovery.api_versions().len(), served.len()) {
            break;
        }
    }
    (facts, served)
}

fn serve(facts: &mut Snapshot, api_version: &str, kind: &str, namespaced: bool) {
    // Kinds of Kubernetes are known: there are no others in its groups.
    let known = facts.discovery.is_builtin(api_version);
    if !api_version.is_empty() && !known && facts.discovery.resource(api_version, kind).is_none() && !kind.is_empty() {
        let plural = format!("{}s", kind.to_lowercase());
        facts.discovery.add(api_version, Resource { kind: kind.to_owned(), plural, namespaced, readable: true });
    }
}

/// What waits behind a fact, by fact and place.
fn gates(findings: &[crate::report::contract::Finding]) -> Vec<LintItem> {
    let mut found: BTreeMap<(Hazard, Chain), BTreeSet<ObjectRef>> = BTreeMap::new();
    for finding in findings {
        let hazard = match finding.class {
            Class::SkippedWaiting => Hazard::Gate,
            Class::HollowWaiting => Hazard::Fallback,
            Class::SkippedNever => Hazard::Never,
            _ => continue,
        };
        for chain in &finding.chains {
            found.entry((hazard, chain.clone())).or_default().extend(finding.object.clone());
        }
    }
    let item = |((hazard, chain), objects): ((Hazard, Chain), BTreeSet<ObjectRef>)| LintItem {
        hazard,
        rule: None,
        place: None,
        chain: Some(chain),
        objects: objects.into_iter().collect(),
        text: None,
    };
    found.into_iter().map(item).collect()
}

/// Objects that are rendered only as long as a fact is absent: the upgrade after that deletes them.
fn created_once(now: &Rendered, hoped: &Rendered) -> Vec<LintItem> {
    let once = now.docs.iter().filter(|doc| !hoped.holds(&doc.key));
    once.flat_map(|doc| {
        let set = doc.identity(&now.origins);
        // Only lookups are answered otherwise when hoping.
        let looked_up = facts_of(set, now).into_iter().filter(|(fact, _)| matches!(fact, Fact::Lookup(_)));
        looked_up.flat_map(move |(fact, fields)| {
            fields.into_iter().map(move |field| LintItem {
                hazard: Hazard::CreatedOnce,
                rule: None,
                place: None,
                chain: Some(chain(set, &fact, &field, now, &doc.source)),
                objects: vec![reference(&doc.key)],
                text: None,
            })
        })
    })
    .collect()
}

/// Random values in Secrets that no lookup replaces by the ones that are there.
fn rotating(now: &Rendered, hoped: &Rendered) -> Vec<LintItem> {
    let random = |doc: &Doc, path: &str, rendered: &Rendered| {
        let set = doc.leaves.get(path).copied().unwrap_or_default();
        draws(set, rendered).into_iter().find(|site| !is_salt(site))
    };
    let mut found = Vec::new();
    for doc in now.docs.iter().filter(|doc| doc.key.kind == "Secret") {
        for path in doc.leaves.keys() {
            let Some(site) = random(doc, path, now) else { continue };
            let guarded = hoped.doc(&doc.key).is_none_or(|other| random(other, path, hoped).is_none());
            if !guarded {
                found.push(LintItem {
                    hazard: Hazard::Rotates,
                    rule: None,
                    place: Some(site.split(':').take(2).collect::<Vec<_>>().join(":")),
                    chain: None,
                    objects: vec![reference(&doc.key)],
                    text: Some(format!("{path} is drawn anew by every render ({site})")),
                });
            }
        }
    }
    found
}

/// Lookups of objects that the chart itself makes: a first install never finds them.
fn self_produced(now: &Rendered, hoped: &Rendered, facts: &Snapshot) -> Vec<LintItem> {
    let made: BTreeSet<&ObjectKey> = now.docs.iter().chain(&hoped.docs).map(|doc| &doc.key).collect();
    let lookups = now.lookups.iter().chain(&hoped.lookups).map(|lookup| (&lookup.key, lookup));
    let once: BTreeMap<_, _> = lookups.collect();
    let own = once.into_iter().filter(|(key, _)| made.contains(&object_of(facts, key)));
    own.map(|(key, lookup)| LintItem {
        hazard: Hazard::SelfProduced,
        rule: None,
        place: None,
        chain: None,
        objects: vec![reference(&object_of(facts, key))],
        text: Some(format!("looked up at {}:{}", lookup.place.file, lookup.place.line)),
    })
    .collect()
}

/// A render that fails until several facts exist.
fn together(error: &str, hoped: &Rendered) -> LintItem {
    LintItem {
        hazard: Hazard::ErrorGate,
        rule: None,
        place: None,
        chain: None,
        objects: hoped.docs.iter().map(|doc| reference(&doc.key)).collect(),
        text: Some(error.to_owned()),
    }
}

/// For each fact: would its absence alone, with everything else there, fail the whole render? If the chart itself would make
/// the fact, the render never succeeds.
fn error_gates(
    renderer: &Renderer,
    subject: &Subject,
    facts: &Snapshot,
    served: &Rc<BTreeSet<Rc<str>>>,
    hoped: &Rendered,
) -> Vec<LintItem> {
    let asked: BTreeSet<Fact> = hoped.lookups.iter().map(|l| Fact::Lookup(l.key.clone())).collect();
    let mut found = Vec::new();
    for fact in asked {
        let mode = Mode::Hoped { served: served.clone(), except: Some(fact.clone()) };
        let Some(error) = renderer.render(subject, facts, &mode).error else { continue };
        let own = fact.lookup().is_some_and(|key| hoped.holds(&object_of(facts, key)));
        found.push(LintItem {
            hazard: if own { Hazard::Deadlock } else { Hazard::ErrorGate },
            rule: None,
            place: None,
            chain: None,
            objects: hoped.docs.iter().map(|doc| reference(&doc.key)).collect(),
            text: Some(format!("without {fact}: {error}")),
        });
    }
    found
}
