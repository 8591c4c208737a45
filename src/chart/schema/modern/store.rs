//! Documents that schemas lie in: resources, anchors, and what a reference leads to.

use std::collections::{BTreeMap, BTreeSet};

use super::draft::{Draft, Shape};
use super::meta;
use crate::base::budget::Budget;
use crate::chart::schema::Refusal;
use crate::chart::schema::node::{Node, token, untoken};
use crate::codec::goquote;
use crate::funcs::net::url::{Url, escape_fragment, unescape_fragment};

/// A part of a document with a name of its own.
#[derive(Debug, Clone)]
pub struct Resource {
    /// Its address.
    pub id: String,
    /// The draft it is written in.
    pub draft: Draft,
    /// Pointers of what has a plain name in it.
    pub anchors: BTreeMap<String, String>,
    /// Which of them are dynamic.
    pub dynamic: BTreeSet<String>,
}

/// One file.
pub struct Document {
    url: String,
    /// Its content.
    pub node: Node,
    /// Its resources by pointer; the whole is one.
    pub resources: BTreeMap<String, Resource>,
    collected: BTreeSet<String>,
}

/// A place in a document.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Address of the document.
    pub url: String,
    /// JSON pointer.
    pub pointer: String,
}

impl Place {
    /// The place as an address, quoted.
    pub fn quoted(&self) -> String {
        quote(&format!("{}#{}", self.url, escape_fragment(&self.pointer)))
    }
}

/// A text in double quotes, as errors show it.
pub fn quote(text: &str) -> String {
    goquote::quote(text.as_bytes())
}

/// Address and decoded fragment.
pub fn split(reference: &str) -> Result<(&str, String), String> {
    let (url, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    Ok((url, unescape_fragment(fragment)?))
}

/// An address relative to another.
fn joined(base: &str, reference: &str) -> Result<String, String> {
    let base = Url::parse(base.as_bytes())?;
    let url = Url::parse(reference.as_bytes())?;
    Ok(String::from_utf8_lossy(&base.join(&url).print()).into_owned())
}

/// What lies at a pointer.
pub fn at<'n>(node: &'n Node, pointer: &str) -> Option<&'n Node> {
    pointer.split('/').skip(1).try_fold(node, |node, part| match node {
        Node::Map(members) => members.get(&untoken(part)?),
        Node::List(items) => items.get(part.parse::<usize>().ok()?),
        _ => None,
    })
}

impl Document {
    /// Its address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The resource that a pointer lies in, with the resource's own pointer.
    pub fn resource(&self, pointer: &str) -> Option<(&str, &Resource)> {
        let mut here = pointer;
        loop {
            if let Some((own, resource)) = self.resources.get_key_value(here) {
                return Some((own, resource));
            }
            here = &here[..here.rfind('/')?];
        }
    }

    fn by_id(&self, id: &str) -> Option<&str> {
        self.resources.iter().find(|(_, resource)| resource.id == id).map(|(pointer, _)| pointer.as_str())
    }

    /// The pointer that a fragment means in a resource.
    fn fragment(&self, base: &str, id: &str, fragment: &str) -> Result<String, Refusal> {
        if fragment.is_empty() || fragment.starts_with('/') {
            return Ok(format!("{base}{fragment}"));
        }
        let anchor = self.resources.get(base).and_then(|resource| resource.anchors.get(fragment));
        anchor.cloned().ok_or_else(|| {
            let reference = quote(&format!("{id}#{}", escape_fragment(fragment)));
            Refusal::Invalid(format!("anchor in {reference} not found in schema {}", quote(&self.url)))
        })
    }

    fn place(&self, pointer: &str) -> Place {
        Place { url: self.url.clone(), pointer: pointer.to_owned() }
    }
}

/// All documents of one validation.
pub struct Store<'b> {
    documents: BTreeMap<String, Document>,
    /// `urn:` addresses hold schemas that everything satisfies (`H-44`).
    pub ignores_urns: bool,
    /// What may be spent.
    pub budget: &'b Budget,
}

/// Checks a place of a document against its metaschema.
pub type Check<'c> = &'c dyn Fn(&Document, &str) -> Result<(), Refusal>;

impl<'b> Store<'b> {
    /// A store that knows the metaschemas.
    pub fn new(ignores_urns: bool, budget: &'b Budget) -> Self {
        Store { documents: BTreeMap::new(), ignores_urns, budget }
    }

    /// A document that was loaded.
    pub fn get(&self, url: &str) -> Option<&Document> {
        self.documents.get(url)
    }

    fn load(&self, url: &str) -> Result<Node, Refusal> {
        if let Some(node) = meta::document(url) {
            return Ok(node);
        }
        let failing = format!("failing loading {}", quote(url));
        let (scheme, rest) = url.split_once(':').unwrap_or_default();
        match scheme {
            "file" => {
                let path = rest.strip_prefix("//").unwrap_or(rest);
                Err(Refusal::Invalid(format!("{failing}: open {path}: no such file or directory")))
            }
            "http" | "https" => {
                let get = format!("{failing}: HTTP request failed for {url}: Get {}", quote(url));
                Err(Refusal::Unknown(format!("{get}: schemas are not fetched here")))
            }
            "urn" if self.ignores_urns => Ok(Node::Bool(true)),
            _ => Err(Refusal::Invalid(format!("{failing}: no URLLoader registered for {}", quote(url)))),
        }
    }

    /// Loads a document if it is not there yet, and checks it against its metaschema.
    ///
    /// # Errors
    /// The validator's text.
    pub fn open(&mut self, url: &str, check: Check<'_>) -> Result<(), Refusal> {
        if self.documents.contains_key(url) {
            return Ok(());
        }
        let node = self.load(url)?;
        self.add(url, node, check)
    }

    /// Adds a document.
    ///
    /// # Errors
    /// The validator's text.
    pub fn add(&mut self, url: &str, node: Node, check: Check<'_>) -> Result<(), Refusal> {
        let mut document = Document {
            url: url.to_owned(),
            node: node.clone(),
            resources: BTreeMap::new(),
            collected: BTreeSet::new(),
        };
        self.collect(&mut document, &node, url, "", Draft::D2020)?;
        if meta::document(url).is_none() {
            check(&document, "")?;
        }
        self.documents.insert(url.to_owned(), document);
        Ok(())
    }

    /// Finds what names a schema and the schemas below it have.
    fn collect(&self, into: &mut Document, node: &Node, base: &str, at: &str, outer: Draft) -> Result<(), Refusal> {
        self.budget.write(at.len() + 64)?;
        if !into.collected.insert(at.to_owned()) {
            return Ok(());
        }
        let new =
            |id: &str, draft| Resource { id: id.to_owned(), draft, anchors: BTreeMap::new(), dynamic: BTreeSet::new() };
        let Some(members) = node.as_map() else {
            if at.is_empty() {
                into.resources.insert(String::new(), new(base, outer));
            }
            return Ok(());
        };
        let mut draft = self.draft_of(node, &into.place(at), outer)?;
        let mut id = id_of(node, draft);
        if id.is_none() && !at.is_empty() {
            draft = outer;
            id = id_of(node, outer);
        }
        let mut base = base.to_owned();
        if let Some(id) = &id {
            base = joined(&base, id)
                .map_err(|_| Refusal::Invalid(format!("error in parsing id at {}", into.place(at).quoted())))?;
        }
        if id.is_some() || at.is_empty() {
            match into.by_id(&base).map(str::to_owned) {
                Some(other) if other != at => {
                    let (id, url) = (quote(&base), quote(&into.url));
                    let (one, two) = if other.as_str() < at { (other.as_str(), at) } else { (at, other.as_str()) };
                    return Err(Refusal::Invalid(format!(
                        "duplicate id {id} in {url} at {} and {}",
                        quote(one),
                        quote(two)
                    )));
                }
                Some(_) => {}
                None => {
                    into.resources.insert(at.to_owned(), new(&base, draft));
                }
            }
        }
        let draft = self.anchors(into, node, &base, at)?;
        for keyword in draft.keywords() {
            let Some(below) = members.get(keyword.name) else { continue };
            let here = format!("{at}/{}", token(keyword.name));
            match (keyword.shape, below) {
                (Shape::Many | Shape::OneOrMany, Node::List(items)) => {
                    for (index, item) in items.iter().enumerate() {
                        self.collect(into, item, &base, &format!("{here}/{index}"), draft)?;
                    }
                }
                (Shape::Named, Node::Map(named)) => {
                    for (name, item) in named.iter() {
                        self.collect(into, item, &base, &format!("{here}/{}", token(name)), draft)?;
                    }
                }
                (Shape::One | Shape::OneOrMany, item) => self.collect(into, item, &base, &here, draft)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Notes the plain names of a schema in its resource, and returns that resource's draft.
    fn anchors(&self, into: &mut Document, node: &Node, base: &str, at: &str) -> Result<Draft, Refusal> {
        let (url, place) = (into.url.clone(), into.place(at));
        let Some(resource) = into.resources.values_mut().find(|resource| resource.id == base) else {
            return Ok(Draft::D2020);
        };
        let draft = resource.draft;
        let text = |key: &str| node.as_map().and_then(|m| m.get(key)).and_then(Node::as_text).map(|t| t.to_string());
        let mut names = Vec::new();
        if draft < Draft::D2019 {
            if let Some(id) = text(draft.id()).filter(|_| !has(node, "$ref")) {
                let (_, fragment) = split(&id)
                    .map_err(|_| Refusal::Invalid(format!("error in parsing anchor at {}", place.quoted())))?;
                names.extend(Some(fragment).filter(|f| !f.is_empty() && !f.starts_with('/')));
            }
        } else {
            names.extend(text("$anchor"));
        }
        if let Some(name) = text("$dynamicAnchor").filter(|_| draft >= Draft::D2020) {
            resource.dynamic.insert(name.clone());
            names.push(name);
        }
        for name in names {
            let known = resource.anchors.entry(name.clone()).or_insert_with(|| at.to_owned());
            if known != at {
                let (one, two) = (quote(known), quote(at));
                let error = format!("duplicate anchor {} in {} at {one} and {two}", quote(&name), quote(&url));
                return Err(Refusal::Invalid(error));
            }
        }
        Ok(draft)
    }

    /// The draft that a schema's `$schema` asks for.
    fn draft_of(&self, node: &Node, place: &Place, outer: Draft) -> Result<Draft, Refusal> {
        let Some(url) = node.as_map().and_then(|m| m.get("$schema")).and_then(Node::as_text) else { return Ok(outer) };
        if let Some(draft) = Draft::of_url(url) {
            return Ok(draft);
        }
        let plain = url.split('#').next().unwrap_or_default();
        if let Err(error) = Url::parse(plain.as_bytes()) {
            return Err(Refusal::Invalid(format!("invalid $schema in {}: {error}", place.quoted())));
        }
        if place.pointer.is_empty() && plain == place.url {
            return Err(Refusal::Invalid(format!("draft {} is not supported", quote(plain))));
        }
        let node = self.load(plain)?;
        self.draft_of(&node, &Place { url: plain.to_owned(), pointer: String::new() }, outer)
    }

    /// The place that a reference leads to, from a schema at `from`.
    ///
    /// # Errors
    /// The validator's text.
    pub fn resolve(&mut self, from: &Place, reference: &str, check: Check<'_>) -> Result<Place, Refusal> {
        let parsing = |error: String| Refusal::Invalid(format!("error in parsing {}: {error}", quote(reference)));
        let (path, fragment) = split(reference).map_err(parsing)?;
        let base = self.get(&from.url).and_then(|d| d.resource(&from.pointer)).map(|(_, r)| r.id.clone());
        let target = joined(&base.unwrap_or_default(), path).map_err(parsing)?;
        if let Some(document) = self.get(&from.url) {
            let local = if target == document.url { Some("") } else { document.by_id(&target) };
            if let Some(pointer) = local {
                let pointer = document.fragment(pointer, &target, &fragment)?;
                return Ok(document.place(&pointer));
            }
        }
        self.open(&target, check)?;
        let Some(document) = self.get(&target) else { return Ok(from.clone()) };
        let pointer = document.fragment("", &target, &fragment)?;
        Ok(document.place(&pointer))
    }

    /// The schema at a place, which no keyword may have led to before.
    ///
    /// # Errors
    /// The validator's text.
    pub fn schema(&mut self, place: &Place, check: Check<'_>) -> Result<Node, Refusal> {
        let Some(mut document) = self.documents.remove(&place.url) else { return Ok(Node::Null) };
        let result = self.schema_in(&mut document, place, check);
        self.documents.insert(place.url.clone(), document);
        result
    }

    fn schema_in(&self, document: &mut Document, place: &Place, check: Check<'_>) -> Result<Node, Refusal> {
        if place.pointer.split('/').skip(1).any(|part| untoken(part).is_none()) {
            return Err(Refusal::Invalid(format!("invalid json-pointer {}", place.quoted())));
        }
        let Some(node) = at(&document.node, &place.pointer).cloned() else {
            return Err(Refusal::Invalid(format!("json-pointer in {} not found", place.quoted())));
        };
        if !document.collected.contains(&place.pointer) {
            let (base, draft) = document
                .resource(&place.pointer)
                .map(|(_, r)| (r.id.clone(), r.draft))
                .unwrap_or((String::new(), Draft::D2020));
            self.collect(document, &node, &base, &place.pointer, draft)?;
            if meta::document(&place.url).is_none() {
                check(document, &place.pointer)?;
            }
        }
        Ok(node)
    }
}

fn has(node: &Node, key: &str) -> bool {
    node.as_map().is_some_and(|members| members.contains_key(key))
}

/// The name that a schema gives itself, without fragment.
fn id_of(node: &Node, draft: Draft) -> Option<String> {
    if draft < Draft::D2019 && has(node, "$ref") {
        return None;
    }
    let id = node.as_map()?.get(draft.id())?.as_text()?;
    Some(id.split('#').next().unwrap_or_default().to_owned()).filter(|id| !id.is_empty())
}
