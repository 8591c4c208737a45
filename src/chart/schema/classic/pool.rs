//! Where references lead, as the classic validator looks it up.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::base::budget::Budget;
use crate::chart::schema::Refusal;
use crate::chart::schema::modern::meta;
use crate::chart::schema::node::{Members, Node};
use crate::codec::goquote;
use crate::funcs::net::url::Url;

/// What `$schema` may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Draft {
    /// draft-04
    D4,
    /// draft-06
    D6,
    /// draft-07
    D7,
    /// Anything else: a mixture of all three.
    Hybrid,
}

const DRAFTS: [(&str, Draft); 3] = [
    ("http://json-schema.org/draft-04/schema", Draft::D4),
    ("http://json-schema.org/draft-06/schema", Draft::D6),
    ("http://json-schema.org/draft-07/schema", Draft::D7),
];

/// A document, or a part of one with a name, and its draft if it says.
pub type Found = (Node, Option<Draft>);

/// Documents by address.
pub struct Pool<'b> {
    documents: BTreeMap<String, Found>,
    budget: &'b Budget,
}

/// An address as it is compared.
pub fn print(url: &Url) -> String {
    String::from_utf8_lossy(&url.print()).into_owned()
}

/// An address. The error is Go's text.
pub fn parse(text: &str) -> Result<Url, String> {
    Url::parse(text.as_bytes())
}

/// The address that a reference means in a document with that address.
fn inherit(base: &str, reference: &str) -> Result<String, String> {
    let mut base = parse(base)?;
    base.fragment.clear();
    Ok(print(&base.join(&parse(reference)?)))
}

/// The draft that a document names.
///
/// # Errors
/// The validator's text, if it is no schema.
pub fn draft_of(node: &Node) -> Result<Option<Draft>, String> {
    match node {
        Node::Bool(_) => Ok(None),
        Node::Map(members) => match members.get("$schema") {
            None => Ok(None),
            Some(Node::Text(url)) => {
                let url = print(&parse(url)?);
                Ok(DRAFTS.iter().find(|(known, _)| *known == url).map(|(_, draft)| *draft))
            }
            Some(_) => Err("$schema must be of type string".into()),
        },
        _ => Err("schema is invalid".into()),
    }
}

impl<'b> Pool<'b> {
    /// A pool with the chart's schema.
    ///
    /// # Errors
    /// The validator's text.
    pub fn new(node: &Node, budget: &'b Budget) -> Result<(Self, Node), Refusal> {
        let mut pool = Pool { documents: BTreeMap::new(), budget };
        let root = pool.add("", node)?;
        Ok((pool, root))
    }

    fn add(&mut self, address: &str, node: &Node) -> Result<Node, Refusal> {
        let draft = draft_of(node).map_err(Refusal::Invalid)?;
        let mut named = BTreeMap::new();
        let absolute = self.absolute(node, address, &mut named)?;
        for (name, node) in named {
            self.documents.entry(name).or_insert((node, draft));
        }
        self.documents.insert(address.to_owned(), (absolute.clone(), draft));
        Ok(absolute)
    }

    /// The same document with absolute references; collects what has a name.
    fn absolute(&self, node: &Node, base: &str, named: &mut BTreeMap<String, Node>) -> Result<Node, Refusal> {
        self.budget.step()?;
        let members = match node {
            Node::List(items) => {
                let items = items.iter().map(|item| self.absolute(item, base, named));
                return Ok(Node::List(Rc::new(items.collect::<Result<_, _>>()?)));
            }
            Node::Map(members) => members,
            _ => return Ok(node.clone()),
        };
        let key = if members.contains_key("id") { "id" } else { "$id" };
        let own = members.get(key).and_then(Node::as_text).and_then(|id| inherit(base, id).ok());
        let base = own.as_deref().unwrap_or(base);
        let mut out = Members::new();
        for (key, value) in members.iter() {
            let below = match (key.as_str(), value) {
                ("const" | "enum", _) => value.clone(),
                ("$ref", Node::Text(reference)) => match inherit(base, reference) {
                    Ok(absolute) => {
                        self.budget.write(absolute.len())?;
                        Node::Text(absolute.into())
                    }
                    Err(_) => value.clone(),
                },
                // Names of properties are no keywords.
                ("properties" | "dependencies" | "patternProperties", Node::Map(schemas)) => {
                    let schemas = schemas.iter();
                    let schemas = schemas.map(|(name, schema)| Ok((name.clone(), self.absolute(schema, base, named)?)));
                    Node::Map(Rc::new(schemas.collect::<Result<_, Refusal>>()?))
                }
                _ => self.absolute(value, base, named)?,
            };
            out.insert(key.clone(), below);
        }
        let node = Node::Map(Rc::new(out));
        if let Some(own) = own {
            named.entry(own).or_insert_with(|| node.clone());
        }
        Ok(node)
    }

    /// What a reference leads to.
    ///
    /// # Errors
    /// The validator's text.
    pub fn find(&mut self, reference: &str) -> Result<Found, Refusal> {
        if let Some(found) = self.documents.get(reference) {
            return Ok(found.clone());
        }
        let url = parse(reference).map_err(Refusal::Invalid)?;
        let mut whole = url.clone();
        whole.fragment.clear();
        let address = print(&whole);
        if !self.documents.contains_key(&address) {
            let node = load(&url, &whole, reference)?;
            self.add(&address, &node)?;
        }
        let (document, draft) = self.documents.get(&address).cloned().unwrap_or((Node::Null, None));
        let pointer = String::from_utf8_lossy(&url.fragment).into_owned();
        let found = (at(&document, &pointer).map_err(Refusal::Invalid)?, draft);
        self.documents.insert(reference.to_owned(), found.clone());
        Ok(found)
    }
}

/// A document from elsewhere. Only the metaschemas are at hand.
fn load(url: &Url, whole: &Url, reference: &str) -> Result<Node, Refusal> {
    let is_file = url.scheme == b"file";
    let full = if is_file { url.path.starts_with(b"/") } else { !url.scheme.is_empty() && !url.host.is_empty() };
    if !full {
        return Err(Refusal::Invalid(format!("Reference {reference} must be canonical")));
    }
    if is_file {
        let path = String::from_utf8_lossy(&url.path);
        return Err(Refusal::Invalid(format!("open {path}: no such file or directory")));
    }
    let address = print(whole);
    let known = DRAFTS.iter().find(|(known, _)| *known == address).and_then(|(known, _)| meta::document(known));
    if let Some(node) = known {
        return Ok(node);
    }
    let get = format!("Get {}", goquote::quote(address.as_bytes()));
    if matches!(&url.scheme[..], b"http" | b"https") {
        return Err(Refusal::Unknown(format!("{get}: schemas are not fetched here")));
    }
    Err(Refusal::Invalid(format!("{get}: unsupported protocol scheme {}", goquote::quote(&url.scheme))))
}

/// What lies at a JSON pointer; a fragment that is none means the whole.
fn at(document: &Node, pointer: &str) -> Result<Node, String> {
    if !pointer.starts_with('/') {
        return Ok(document.clone());
    }
    let mut node = document;
    for token in pointer.split('/').skip(1) {
        node = match node {
            Node::Map(members) => {
                let key = token.replace("~1", "/").replace("~0", "~");
                members.get(&key).ok_or_else(|| format!("Object has no key '{key}'"))?
            }
            Node::List(items) => {
                let index: i64 = token.parse().map_err(|_| format!("Invalid array index '{token}'"))?;
                let item = usize::try_from(index).ok().and_then(|index| items.get(index));
                item.ok_or_else(|| format!("Out of bound array[0,{}] index '{index}'", items.len()))?
            }
            _ => return Err(format!("Invalid token reference '{token}'")),
        };
    }
    Ok(node.clone())
}

/// Names that are told once.
pub fn repeated<'n>(names: impl IntoIterator<Item = &'n String>) -> bool {
    let mut seen = BTreeSet::new();
    !names.into_iter().all(|name| seen.insert(name))
}
