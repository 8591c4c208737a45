//! Latent failures: which single change of a looked-up object would make the next upgrade fail.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::chain::flatten;
use super::fact::Fact;
use super::gather::Subject;
use super::render::{Mode, Rendered, Renderer};
use crate::cluster::lookup::{can_exist, holds_data};
use crate::cluster::snapshot::Facts;
use crate::cluster::world::Unfilled;
use crate::report::contract::Latent;
use crate::value::origin::{LookupKey, Origin};

/// Most renders that one release is given.
const MOST: usize = 200;

/// Deepest field that is supposed missing, in steps: `.data.password` has 2.
const DEEPEST: usize = 6;

/// Supposes each object that the render found absent, without each of its parts that were read, and without each field;
/// and each object that it did not find present, but not filled yet.
pub fn latent(renderer: &Renderer, subject: &Subject, facts: &dyn Facts, now: &Rendered) -> Vec<Latent> {
    if now.error.is_some() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (key, change) in changes(now, facts).into_iter().take(MOST) {
        let (mode, supposed) = match change {
            Change::Gone => {
                let supposed = if key.name.is_empty() { "without items" } else { "absent" };
                (Mode::Without(BTreeSet::from([Fact::Lookup(key.clone())])), supposed.to_owned())
            }
            Change::Lacks(path) => {
                let supposed = format!("without {path}");
                (Mode::WithoutField(key.clone(), path), supposed)
            }
            Change::Unfilled(how) => {
                let part = if holds_data(&key) { "data" } else { "status" };
                let empty = if how == Unfilled::NoKey { "with empty" } else { "without" };
                (Mode::Unfilled(key.clone(), how), format!("present {empty} {part}"))
            }
        };
        if let Some(error) = renderer.render(subject, facts, &mode).error {
            found.push(Latent { key: key.to_string(), supposed, error });
        }
    }
    found.sort_by(|a, b| (&a.key, &a.supposed).cmp(&(&b.key, &b.supposed)));
    found
}

/// What may happen to a looked-up object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// It is deleted; of a list, every item.
    Gone,
    /// It loses a part. Of a part whose loss fails, the fields in it are tried all the same: they are other accidents.
    Lacks(Rc<str>),
    /// It is made, but not filled yet.
    Unfilled(Unfilled),
}

/// The changes to try, each once: whole objects, then what the render used of them, then their other parts near the top.
fn changes(now: &Rendered, facts: &dyn Facts) -> Vec<(Rc<LookupKey>, Change)> {
    let mut all: Vec<(Rc<LookupKey>, Change)> = Vec::new();
    let asked: BTreeSet<(&Rc<LookupKey>, bool)> = now.lookups.iter().map(|l| (&l.key, l.found)).collect();
    for (key, found) in &asked {
        match (found, key.name.is_empty()) {
            (true, _) => all.push(((*key).clone(), Change::Gone)),
            (false, false) if can_exist(facts, key) => {
                let unfilled = [Unfilled::Nothing, Unfilled::NoKey].map(Change::Unfilled);
                all.extend(unfilled.map(|change| ((*key).clone(), change)));
            }
            (false, _) => {}
        }
    }
    let held = |key: &Rc<LookupKey>| asked.contains(&(key, true)) && !key.name.is_empty();
    let mut tried: BTreeSet<(Rc<LookupKey>, Rc<str>)> = BTreeSet::new();
    let mut parts = |origins: BTreeSet<Origin>, deepest: usize| {
        for origin in origins {
            let Origin::Lookup { key, path } = origin else { continue };
            if held(&key) && !path.is_empty() && depth(&path) <= deepest && tried.insert((key.clone(), path.clone())) {
                all.push((key, Change::Lacks(path)));
            }
        }
    };
    let gates = now.gates.iter().map(|gate| gate.reads);
    let used = gates.chain(now.docs.iter().chain(&now.hooks).flat_map(|doc| doc.leaves.values().copied()));
    parts(flatten(now.origins.union_all(used), &now.origins, &now.gates), DEEPEST);
    parts(now.origins.all().into_iter().collect(), 2);
    all
}

/// Steps of a path: 1 for `.data`, 2 for `.data.password`.
fn depth(path: &str) -> usize {
    path.matches(['.', '[']).count()
}
