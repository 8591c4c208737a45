//! What another Helm, or another Kubernetes, would render: release by release, object by object, with the cause of each
//! difference.

use std::collections::{BTreeMap, BTreeSet};

use super::differences::between;
use super::fact::{Fact, facts_of};
use super::gather::Subject;
use super::redact::Redactor;
use super::render::{Doc, Mode, Rendered, Renderer};
use crate::base::version::Quirk;
use crate::cluster::object::ObjectKey;
use crate::cluster::snapshot::Facts;
use crate::diff;
use crate::report::contract::WhatIf;

/// One side of the comparison.
pub struct Side<'a> {
    /// The Helm.
    pub renderer: &'a Renderer,
    /// The cluster.
    pub facts: &'a dyn Facts,
}

/// How one release's render differs between two sides; `None` if it does not.
pub fn what_if(before: &Side<'_>, after: &Side<'_>, subject: &Subject) -> Option<WhatIf> {
    let old = before.renderer.render(subject, before.facts, &Mode::Now);
    let new = after.renderer.render(subject, after.facts, &Mode::Now);
    let differing = differing(&old, &new);
    if differing.is_empty() && old.error == new.error {
        return None;
    }
    let redactor = Redactor::new(subject, Some(&old), before.facts);
    let docs: BTreeMap<&ObjectKey, &Doc> = old.docs.iter().map(|doc| (&doc.key, doc)).collect();
    let mut objects = between(&docs, &new, Some(&redactor));
    let mut causes: BTreeMap<ObjectKey, BTreeSet<String>> = BTreeMap::new();
    let mut of_error = BTreeSet::new();
    for quirk in changed_quirks(before, after) {
        // With this one difference alone: what changes already?
        let renderer = before.renderer.flipped(quirk);
        let alone = renderer.render(subject, before.facts, &Mode::Now);
        for key in self::differing(&old, &alone).intersection(&differing) {
            causes.entry(key.clone()).or_default().insert(quirk.rule().to_owned());
        }
        if alone.error != old.error {
            of_error.insert(quirk.rule().to_owned());
        }
    }
    let flips = capabilities(before, after, [&old, &new]);
    for fact in &flips {
        for rendered in [&old, &new] {
            let docs = rendered.docs.iter().filter(|doc| differing.contains(&doc.key));
            for doc in docs.filter(|doc| depends(doc, rendered, fact)) {
                causes.entry(doc.key.clone()).or_default().insert(fact.to_string());
            }
        }
    }
    if old.error != new.error && of_error.is_empty() {
        of_error.extend(flips.iter().map(ToString::to_string));
    }
    for object in &mut objects {
        let cause = causes.iter().find(|(key, _)| super::findings::reference(key) == object.object);
        object.causes = cause.map(|(_, causes)| causes.iter().cloned().collect()).unwrap_or_default();
    }
    Some(WhatIf {
        release: subject.release.clone(),
        error_before: old.error.as_deref().map(|error| redactor.mask(error)),
        error_after: new.error.as_deref().map(|error| redactor.mask(error)),
        error_causes: of_error.into_iter().collect(),
        objects,
    })
}

/// Objects that are in one only, or are not equal.
fn differing(a: &Rendered, b: &Rendered) -> BTreeSet<ObjectKey> {
    let one_way = |a: &Rendered, b: &Rendered| -> Vec<ObjectKey> {
        let differs = |doc: &&Doc| b.doc(&doc.key).is_none_or(|other| !diff::equal(&doc.object, &other.object));
        a.docs.iter().filter(differs).map(|doc| doc.key.clone()).collect()
    };
    one_way(a, b).into_iter().chain(one_way(b, a)).collect()
}

/// The rules by which the two versions of Helm differ.
fn changed_quirks(before: &Side<'_>, after: &Side<'_>) -> Vec<Quirk> {
    let (old, new) = (before.renderer.helm(), after.renderer.helm());
    Quirk::ALL.iter().copied().filter(|quirk| old.has(*quirk) != new.has(*quirk)).collect()
}

/// The capabilities that were asked for and that the two clusters do not have alike.
fn capabilities(before: &Side<'_>, after: &Side<'_>, renders: [&Rendered; 2]) -> BTreeSet<Fact> {
    let (old, new) = (before.facts.discovery(), after.facts.discovery());
    let (had, has) = (old.api_versions(), new.api_versions());
    let asked = renders.iter().flat_map(|rendered| rendered.origins.all());
    let facts = asked.filter_map(|origin| Fact::of(&origin)).map(|(fact, _)| fact);
    facts
        .filter(|fact| match fact {
            Fact::ApiVersion(api) => had.contains(&**api) != has.contains(&**api),
            Fact::KubeVersion => old.version != new.version,
            _ => false,
        })
        .collect()
}

/// Whether anything of a document goes back to the fact.
fn depends(doc: &Doc, rendered: &Rendered, fact: &Fact) -> bool {
    let all = rendered.origins.union_all(doc.leaves.values().copied().chain([doc.whole]));
    facts_of(all, rendered).contains_key(fact)
}
