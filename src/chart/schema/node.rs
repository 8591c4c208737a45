//! JSON as schemas see it: numbers are exact and keep their spelling.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::number::Number;
use crate::codec::float;
use crate::codec::json::{go_lossy, read};
use crate::value::{IntType, MAX_DEPTH, Repr, Text, Value};

/// Members of an object, in the order of their names.
pub type Members = BTreeMap<String, Node>;

/// A JSON value, cheap to clone.
#[derive(Debug, Clone)]
pub enum Node {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    Text(Rc<str>),
    /// An array.
    List(Rc<Vec<Node>>),
    /// An object.
    Map(Rc<Members>),
}

impl read::Tree for Node {
    fn null() -> Self {
        Node::Null
    }
    fn bool(value: bool) -> Self {
        Node::Bool(value)
    }
    fn number(text: &str, _: f64) -> Self {
        Node::Number(Number::new(text))
    }
    fn text(text: Text) -> Self {
        Node::Text(text.lossy().into())
    }
    fn list(items: Vec<Self>) -> Self {
        Node::List(Rc::new(items))
    }
    fn map(entries: BTreeMap<Text, Self>) -> Self {
        Node::Map(Rc::new(entries.into_iter().map(|(key, node)| (key.lossy().into_owned(), node)).collect()))
    }
}

impl Node {
    /// Values as they are validated: doubles have the shortest spelling that reads back the same.
    pub fn from_value(value: &Value) -> Node {
        Node::from_nested(value, 0)
    }

    fn from_nested(value: &Value, depth: usize) -> Node {
        match value.repr() {
            Repr::Bool(b) => Node::Bool(*b),
            Repr::Int(int, IntType::Uint | IntType::Uint64) => Node::Number(Number::new(&(*int as u64).to_string())),
            Repr::Int(int, _) => Node::Number(Number::new(&int.to_string())),
            Repr::Float(double) => Node::Number(Number::new(&float::json(*double).unwrap_or_else(|| "0".into()))),
            Repr::Str(text) => Node::Text(go_lossy(text.bytes()).into()),
            Repr::List(list) if depth < MAX_DEPTH => {
                Node::List(Rc::new(list.items.iter().map(|item| Node::from_nested(item, depth + 1)).collect()))
            }
            Repr::Map(map) if depth < MAX_DEPTH => {
                let entries = map.entries();
                let members = entries
                    .iter()
                    .map(|(key, item)| (go_lossy(key.bytes()).into_owned(), Node::from_nested(item, depth + 1)));
                Node::Map(Rc::new(members.collect()))
            }
            _ => Node::Null,
        }
    }

    /// The members, if it is an object.
    pub fn as_map(&self) -> Option<&Rc<Members>> {
        match self {
            Node::Map(members) => Some(members),
            _ => None,
        }
    }

    /// The items, if it is an array.
    pub fn as_list(&self) -> Option<&Rc<Vec<Node>>> {
        match self {
            Node::List(items) => Some(items),
            _ => None,
        }
    }

    /// The text, if it is a string.
    pub fn as_text(&self) -> Option<&Rc<str>> {
        match self {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Node::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The number, if it is one.
    pub fn as_number(&self) -> Option<&Number> {
        match self {
            Node::Number(number) => Some(number),
            _ => None,
        }
    }

    /// How many values it consists of, itself included: the work of comparing it.
    pub fn weight(&self) -> u64 {
        match self {
            Node::List(items) => items.iter().fold(1, |sum, item| sum + item.weight()),
            Node::Map(members) => members.values().fold(1, |sum, item| sum + item.weight()),
            _ => 1,
        }
    }
}

/// Numbers are equal if their values are.
impl PartialEq for Node {
    fn eq(&self, other: &Node) -> bool {
        match (self, other) {
            (Node::Null, Node::Null) => true,
            (Node::Bool(a), Node::Bool(b)) => a == b,
            (Node::Number(a), Node::Number(b)) => a.compare(b).is_eq(),
            (Node::Text(a), Node::Text(b)) => a == b,
            (Node::List(a), Node::List(b)) => a == b,
            (Node::Map(a), Node::Map(b)) => a == b,
            _ => false,
        }
    }
}

/// A token of a JSON pointer: `~` and `/` escaped.
pub fn token(text: &str) -> String {
    text.replace('~', "~0").replace('/', "~1")
}

/// What a token of a JSON pointer stands for; `None` if `~` is followed by neither 0 nor 1.
pub fn untoken(token: &str) -> Option<String> {
    let mut parts = token.split('~');
    let mut out = parts.next()?.to_owned();
    for part in parts {
        let (mark, rest) =
            if let Some(rest) = part.strip_prefix('0') { ('~', rest) } else { ('/', part.strip_prefix('1')?) };
        out.push(mark);
        out.push_str(rest);
    }
    Some(out)
}
