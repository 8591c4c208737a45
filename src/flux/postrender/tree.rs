//! An object whose every node knows its origins, so that patches can move parts around and keep them.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::value::OriginSet;

/// One node of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    /// Origins of the node itself, without what is below it.
    pub own: OriginSet,
    /// What it is.
    pub node: Node,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// A scalar or null.
    Leaf(Json),
    /// A list.
    Seq(Vec<Tree>),
    /// A map.
    Map(BTreeMap<String, Tree>),
}

impl Tree {
    /// A constant, such as a part of a patch.
    pub fn constant(json: Json) -> Tree {
        Tree::planted(json, String::new(), &BTreeMap::new())
    }

    /// An object with the origins of its position paths.
    pub fn plant(object: Json, leaves: &BTreeMap<String, OriginSet>) -> Tree {
        Tree::planted(object, String::new(), leaves)
    }

    fn planted(json: Json, path: String, leaves: &BTreeMap<String, OriginSet>) -> Tree {
        let own = leaves.get(&path).copied().unwrap_or_default();
        let below = |step: String| if leaves.is_empty() { String::new() } else { format!("{path}{step}") };
        let node = match json {
            Json::Object(map) => Node::Map(
                map.into_iter()
                    .map(|(key, value)| {
                        let path = below(format!(".{key}"));
                        (key, Tree::planted(value, path, leaves))
                    })
                    .collect(),
            ),
            Json::Array(items) => Node::Seq(
                items
                    .into_iter()
                    .enumerate()
                    .map(|(i, item)| Tree::planted(item, below(format!("[{i}]")), leaves))
                    .collect(),
            ),
            leaf => Node::Leaf(leaf),
        };
        Tree { own, node }
    }

    /// The object, and the origins by position path.
    pub fn harvest(self) -> (Json, BTreeMap<String, OriginSet>) {
        let mut leaves = BTreeMap::new();
        let json = self.harvested(String::new(), &mut leaves);
        (json, leaves)
    }

    fn harvested(self, path: String, leaves: &mut BTreeMap<String, OriginSet>) -> Json {
        let json = match self.node {
            Node::Leaf(json) => json,
            Node::Seq(items) => Json::Array(
                items.into_iter().enumerate().map(|(i, item)| item.harvested(format!("{path}[{i}]"), leaves)).collect(),
            ),
            Node::Map(map) => Json::Object(
                map.into_iter()
                    .map(|(key, value)| {
                        let value = value.harvested(format!("{path}.{key}"), leaves);
                        (key, value)
                    })
                    .collect(),
            ),
        };
        if !self.own.is_empty() {
            leaves.insert(path, self.own);
        }
        json
    }

    /// The object without origins.
    pub fn json(&self) -> Json {
        match &self.node {
            Node::Leaf(json) => json.clone(),
            Node::Seq(items) => Json::Array(items.iter().map(Tree::json).collect()),
            Node::Map(map) => Json::Object(map.iter().map(|(key, value)| (key.clone(), value.json())).collect()),
        }
    }

    /// How many nodes there are, and how deep they are nested.
    pub fn extent(&self) -> (usize, usize) {
        let add = |(nodes, depth): (usize, usize), below: &Tree| {
            let (more, deep) = below.extent();
            (nodes + more, depth.max(deep + 1))
        };
        match &self.node {
            Node::Leaf(_) => (1, 1),
            Node::Seq(items) => items.iter().fold((1, 1), add),
            Node::Map(map) => map.values().fold((1, 1), add),
        }
    }

    /// An empty map.
    pub fn empty_map() -> Tree {
        Tree { own: OriginSet::EMPTY, node: Node::Map(BTreeMap::new()) }
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self.node, Node::Leaf(Json::Null))
    }

    /// Its entries, if it is a map.
    pub fn map(&self) -> Option<&BTreeMap<String, Tree>> {
        if let Node::Map(map) = &self.node { Some(map) } else { None }
    }

    /// Its entries, if it is a map.
    pub fn map_mut(&mut self) -> Option<&mut BTreeMap<String, Tree>> {
        if let Node::Map(map) = &mut self.node { Some(map) } else { None }
    }

    /// The node below these keys.
    pub fn get(&self, keys: &[&str]) -> Option<&Tree> {
        keys.iter().try_fold(self, |here, key| here.map()?.get(*key))
    }

    /// The node below these keys.
    pub fn get_mut(&mut self, keys: &[&str]) -> Option<&mut Tree> {
        keys.iter().try_fold(self, |here, key| here.map_mut()?.get_mut(*key))
    }

    /// The text below these keys; "" where there is none.
    pub fn text(&self, keys: &[&str]) -> &str {
        self.get(keys).and_then(Tree::as_text).unwrap_or_default()
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        if let Node::Leaf(Json::String(text)) = &self.node { Some(text) } else { None }
    }

    /// A scalar as text; "" for null and what is none.
    pub fn scalar(&self) -> String {
        match &self.node {
            Node::Leaf(Json::String(text)) => text.clone(),
            Node::Leaf(Json::Null) | Node::Seq(_) | Node::Map(_) => String::new(),
            Node::Leaf(other) => other.to_string(),
        }
    }

    /// The node in flow style, as errors show it.
    pub fn flow(&self) -> String {
        match &self.node {
            Node::Seq(items) => format!("[{}]", items.iter().map(Tree::flow).collect::<Vec<_>>().join(", ")),
            Node::Map(map) => {
                format!("{{{}}}", map.iter().map(|(k, v)| format!("{k}: {}", v.flow())).collect::<Vec<_>>().join(", "))
            }
            Node::Leaf(_) => self.scalar(),
        }
    }

    /// How YAML calls its kind.
    pub fn kind_name(&self) -> &'static str {
        match self.node {
            Node::Leaf(_) => "ScalarNode",
            Node::Seq(_) => "SequenceNode",
            Node::Map(_) => "MappingNode",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Origins;
    use crate::value::origin::Origin;
    use serde_json::json;

    #[test]
    fn origins_stay_at_their_nodes() {
        let fact = Origins::new(true).only(Origin::KubeVersion);
        let leaves = BTreeMap::from([(".a[0].b".to_owned(), fact)]);
        let object = json!({"a": [{"b": 1}, {}], "c": null});
        assert_eq!(Tree::plant(object.clone(), &leaves).harvest(), (object, leaves));
    }
}
