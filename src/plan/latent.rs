//! Latent failures: which single change of a looked-up object would make the next upgrade fail.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::fact::Fact;
use super::gather::Subject;
use super::render::{Mode, Rendered, Renderer};
use crate::cluster::snapshot::Facts;
use crate::report::contract::Latent;
use crate::value::origin::{LookupKey, Origin};

/// Most renders that one release is given.
const MOST: usize = 200;

/// Supposes each object that the render found absent, without each of its parts that were read, and without each field.
pub fn latent(renderer: &Renderer, subject: &Subject, facts: &dyn Facts, now: &Rendered) -> Vec<Latent> {
    if now.error.is_some() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (key, path) in changes(now).into_iter().take(MOST) {
        let mode = if path.is_empty() {
            Mode::Without(BTreeSet::from([Fact::Lookup(key.clone())]))
        } else {
            Mode::WithoutField(key.clone(), path.clone())
        };
        if let Some(error) = renderer.render(subject, facts, &mode).error {
            let supposed = if path.is_empty() { "absent".to_owned() } else { format!("without {path}") };
            found.push(Latent { key: key.to_string(), supposed, error });
        }
    }
    found
}

/// What is taken away: objects, then parts of them from the outside in. Of a part whose loss fails, the fields in it are
/// tried all the same: they are other accidents.
fn changes(now: &Rendered) -> Vec<(Rc<LookupKey>, Rc<str>)> {
    let found: BTreeSet<&Rc<LookupKey>> =
        now.lookups.iter().filter(|l| l.found && !l.key.name.is_empty()).map(|l| &l.key).collect();
    let mut all: BTreeSet<(Rc<LookupKey>, Rc<str>)> = found.iter().map(|key| ((*key).clone(), "".into())).collect();
    for origin in now.origins.all() {
        if let Origin::Lookup { key, path } = origin
            && found.contains(&key)
            && !path.is_empty()
            && depth(&path) <= 2
        {
            all.insert((key, path));
        }
    }
    all.into_iter().collect()
}

/// Steps of a path: 1 for `.data`, 2 for `.data.password`.
fn depth(path: &str) -> usize {
    path.matches(['.', '[']).count()
}
