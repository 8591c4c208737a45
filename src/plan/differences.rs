//! Stored against predicted, field by field, with the facts that each field goes back to.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::fact::{Fact, facts_of};
use super::findings::{Analysis, reference};
use super::gather::Subject;
use super::redact::Redactor;
use super::render::{Doc, Rendered};
use crate::cluster::object::ObjectKey;
use crate::diff::{self, at};
use crate::report::contract::{Difference, FieldDifference};
use crate::value::origin::OriginSet;

/// The differences between a release's stored manifest and its render now, by object. Data of Secrets is shown as its
/// length, unless `redactor` is none: then the user asked to see it.
pub fn differences(subject: &Subject, analysis: &Analysis, redactor: Option<&Redactor>) -> Vec<Difference> {
    let stored: BTreeMap<&ObjectKey, &Doc> = subject.stored_docs.iter().map(|doc| (&doc.key, doc)).collect();
    let mut all = between(&stored, &analysis.now, redactor);
    for difference in &mut all {
        let of = analysis.findings.iter().filter(|f| f.object.as_ref() == Some(&difference.object));
        difference.classes = of.map(|f| f.class).collect();
    }
    all
}

/// The differences between objects and a render; data of Secrets as in [`differences`].
pub fn between(stored: &BTreeMap<&ObjectKey, &Doc>, now: &Rendered, redactor: Option<&Redactor>) -> Vec<Difference> {
    let mut all = Vec::new();
    let show = |key: &ObjectKey, path: &str, value: Option<&Json>, from: &[Source]| -> Option<String> {
        let value = value?;
        let Some(redactor) = redactor else { return Some(value.to_string()) };
        let data = key.kind == "Secret" && (path.starts_with(".data") || path.starts_with(".stringData"));
        if data || from.iter().any(|source| source.secret) {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            return Some(format!("({} bytes, hidden)", text.len()));
        }
        Some(redactor.mask(&value.to_string()))
    };
    let nothing = Json::Null;
    for doc in &now.docs {
        let old = stored.get(&doc.key).map_or(&nothing, |old| &old.object);
        let changes = match old {
            Json::Null => leaves(&doc.object),
            old => diff::changes(old, &doc.object),
        };
        let fields: Vec<FieldDifference> = changes
            .into_iter()
            .map(|change| {
                let from = sources(doc.origins_at(change.new.as_deref(), &now.origins), now);
                let value = |object: &Json, path: Option<&String>| {
                    show(&doc.key, &change.path, path.and_then(|path| at(object, path)), &from)
                };
                FieldDifference {
                    old: value(old, change.old.as_ref()),
                    new: value(&doc.object, change.new.as_ref()),
                    from: from.iter().map(|source| source.fact.clone()).collect(),
                    path: change.path,
                }
            })
            .collect();
        if !fields.is_empty() {
            all.push(difference(&doc.key, if old.is_null() { "created" } else { "changed" }, fields));
        }
    }
    for key in stored.keys().filter(|key| !now.holds(key)) {
        all.push(difference(key, "deleted", Vec::new()));
    }
    all.sort_by(|a, b| a.object.cmp(&b.object));
    all
}

fn difference(key: &ObjectKey, does: &'static str, fields: Vec<FieldDifference>) -> Difference {
    Difference { object: reference(key), does, classes: Vec::new(), causes: Vec::new(), fields }
}

/// A fact that a value goes back to.
struct Source {
    /// As in [`Key::key`](crate::report::contract::Key::key), with the field.
    fact: String,
    /// Whether it is data of a Secret.
    secret: bool,
}

/// The facts that a value goes back to.
fn sources(set: OriginSet, now: &Rendered) -> Vec<Source> {
    let facts = facts_of(set, now).into_iter();
    facts
        .flat_map(|(fact, fields)| {
            let secret = match &fact {
                Fact::Lookup(key) => *key.kind == *"Secret",
                Fact::Values(label) => label.starts_with("Secret "),
                _ => false,
            };
            fields.into_iter().map(move |field| Source {
                // A gate on whether a Secret exists lets no data through.
                secret: secret && !field.is_empty(),
                fact: if field.is_empty() { fact.to_string() } else { format!("{fact} {field}") },
            })
        })
        .collect()
}

/// Every leaf of an object that is new, as a change.
fn leaves(object: &Json) -> Vec<diff::Change> {
    fn walk(value: &Json, path: String, depth: usize, found: &mut Vec<diff::Change>) {
        match value {
            Json::Object(map) if !map.is_empty() && depth < 200 => {
                map.iter().for_each(|(key, child)| walk(child, format!("{path}.{key}"), depth + 1, found));
            }
            Json::Array(list) if !list.is_empty() && depth < 200 => {
                list.iter().enumerate().for_each(|(i, child)| walk(child, format!("{path}[{i}]"), depth + 1, found));
            }
            _ => found.push(diff::Change { path: path.clone(), new: Some(path), old: None, grows: false }),
        }
    }
    let mut found = Vec::new();
    walk(object, String::new(), 0, &mut found);
    found
}
