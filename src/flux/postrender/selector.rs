//! Which objects a patch is for (`F-343`).

use std::rc::Rc;

use serde_json::Value as Json;

use super::ident::Ident;
use super::tree::Tree;
use crate::funcs::re2::{self, Regex};

/// A `target`: every field that is given must match.
pub struct Selector {
    group: Option<Rc<Regex>>,
    version: Option<Rc<Regex>>,
    kind: Option<Rc<Regex>>,
    name: Option<Rc<Regex>>,
    namespace: Option<Rc<Regex>>,
    labels: Vec<Requirement>,
    annotations: Vec<Requirement>,
}

/// One part of a label selector.
struct Requirement {
    key: String,
    rule: Rule,
}

enum Rule {
    Exists,
    Missing,
    In(Vec<String>),
    NotIn(Vec<String>),
}

impl Selector {
    /// Reads a `target`.
    ///
    /// # Errors
    /// What is no regular expression or label selector.
    pub fn new(target: &Json) -> Result<Selector, String> {
        let text = |field: &str| target.get(field).and_then(Json::as_str).unwrap_or_default();
        let regex = |field: &str| match text(field) {
            "" => Ok(None),
            pattern => re2::compile(format!("^(?:{pattern})$").as_bytes())
                .map(Some)
                .map_err(|_| format!("error parsing regexp: `^(?:{pattern})$`")),
        };
        Ok(Selector {
            group: regex("group")?,
            version: regex("version")?,
            kind: regex("kind")?,
            name: regex("name")?,
            namespace: regex("namespace")?,
            labels: requirements(text("labelSelector"))?,
            annotations: requirements(text("annotationSelector"))?,
        })
    }

    /// Whether it selects an object, which was called `before` when this renderer read it.
    pub fn selects(&self, tree: &Tree, before: &Ident) -> bool {
        let now = Ident::of(tree);
        let fits = |regex: &Option<Rc<Regex>>, text: &str| regex.as_ref().is_none_or(|r| r.is_match(text.as_bytes()));
        fits(&self.group, &now.group)
            && fits(&self.version, &now.version)
            && fits(&self.kind, &now.kind)
            && (fits(&self.name, &before.name) || fits(&self.name, &now.name))
            && (fits(&self.namespace, before.effective_namespace()) || fits(&self.namespace, now.effective_namespace()))
            && self.labels.iter().all(|r| r.holds(tree, "labels"))
            && self.annotations.iter().all(|r| r.holds(tree, "annotations"))
    }
}

impl Requirement {
    fn holds(&self, tree: &Tree, field: &str) -> bool {
        let value = tree.get(&["metadata", field, &self.key]).and_then(Tree::as_text);
        match &self.rule {
            Rule::Exists => value.is_some(),
            Rule::Missing => value.is_none(),
            Rule::In(values) => value.is_some_and(|v| values.iter().any(|w| w == v)),
            Rule::NotIn(values) => value.is_none_or(|v| values.iter().all(|w| w != v)),
        }
    }
}

/// Parses `a=b,c!=d,e in (f,g),h notin (i),j,!k`.
fn requirements(text: &str) -> Result<Vec<Requirement>, String> {
    let mut found = Vec::new();
    let mut depth = 0i32;
    let parts = text.split(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth <= 0
    });
    for part in parts.map(str::trim).filter(|p| !p.is_empty()) {
        let words = |list: &str| -> Option<Vec<String>> {
            let list = list.trim().strip_prefix('(')?.strip_suffix(')')?;
            Some(list.split(',').map(|w| w.trim().to_owned()).collect())
        };
        let (key, rule) = if let Some(key) = part.strip_prefix('!') {
            (key, Rule::Missing)
        } else if let Some((key, value)) = part.split_once("!=") {
            (key, Rule::NotIn(vec![value.trim().to_owned()]))
        } else if let Some((key, value)) = part.split_once('=') {
            (key, Rule::In(vec![value.trim_start_matches('=').trim().to_owned()]))
        } else if let Some((key, list)) = part.split_once(" notin ") {
            (key, Rule::NotIn(words(list).ok_or_else(|| unreadable(text))?))
        } else if let Some((key, list)) = part.split_once(" in ") {
            (key, Rule::In(words(list).ok_or_else(|| unreadable(text))?))
        } else {
            (part, Rule::Exists)
        };
        let key = key.trim();
        if key.is_empty() || key.contains(char::is_whitespace) {
            return Err(unreadable(text));
        }
        found.push(Requirement { key: key.to_owned(), rule });
    }
    Ok(found)
}

fn unreadable(text: &str) -> String {
    format!("unable to parse requirement: {text}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_given_field_must_match_as_a_whole() {
        let tree = Tree::constant(json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web-1", "labels": {"a": "b", "tier": "x"}},
        }));
        for (target, selected) in [
            (json!({}), true),
            (json!({"kind": "Deployment|Secret"}), true),
            (json!({"kind": "Deploy"}), false),
            (json!({"group": "apps", "version": "v.", "name": "web-.*"}), true),
            (json!({"namespace": "default"}), true),
            (json!({"namespace": "other"}), false),
            (json!({"labelSelector": "a=b,tier in (x, y),!gone,a"}), true),
            (json!({"labelSelector": "a!=b"}), false),
            (json!({"labelSelector": "tier notin (z)"}), true),
            (json!({"annotationSelector": "a"}), false),
        ] {
            let selector = Selector::new(&target).unwrap();
            assert_eq!(selector.selects(&tree, &Ident::of(&tree)), selected, "{target}");
        }
    }
}
