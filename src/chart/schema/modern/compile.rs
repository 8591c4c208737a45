//! From documents to schemas that refer to each other by number.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::draft::{Draft, Shape};
use super::format::{self, Format};
use super::store::{Check, Place, Store, quote, split};
use crate::chart::schema::Refusal;
use crate::chart::schema::node::{Members, Node, token};
use crate::funcs::re2;

/// Number of a schema.
pub type Id = usize;

/// A schema: its own keywords, and where the schemas below it are.
#[derive(Debug)]
pub struct Schema {
    /// Where it stands.
    pub place: Place,
    /// The draft it is written in.
    pub draft: Draft,
    /// The resource it lies in.
    pub resource: Id,
    /// `true` or `false`, if it is no object.
    pub truth: Option<bool>,
    /// Its keywords.
    pub keys: Rc<Members>,
    /// Schemas of keywords that hold one.
    pub one: BTreeMap<&'static str, Id>,
    /// Schemas of keywords that hold a list.
    pub many: BTreeMap<&'static str, Vec<Id>>,
    /// Schemas of keywords that hold a map.
    pub named: BTreeMap<&'static str, BTreeMap<String, Id>>,
    /// What `$ref`, `$recursiveRef` and `$dynamicRef` lead to.
    pub refs: BTreeMap<&'static str, Id>,
    /// The plain name in `$dynamicRef`.
    pub dynamic: Option<String>,
    /// Of a resource: its dynamic anchors.
    pub dynamic_anchors: BTreeMap<String, Id>,
    /// The format to check.
    pub format: Option<Format>,
}

/// Schemas, the first one being the one asked for.
#[derive(Debug, Default)]
pub struct Schemas {
    /// By number.
    pub all: Vec<Schema>,
    index: BTreeMap<Place, Id>,
}

/// Compiles.
pub struct Compiler<'s, 'b> {
    /// Documents.
    pub store: &'s mut Store<'b>,
    /// Checks documents that references bring in.
    pub check: Check<'s>,
    /// Formats are checked in every draft.
    pub asserts_formats: bool,
}

impl Compiler<'_, '_> {
    /// Adds the schema at a place, and all it leads to.
    ///
    /// # Errors
    /// The validator's text.
    pub fn compile(&mut self, into: &mut Schemas, place: Place) -> Result<Id, Refusal> {
        let mut done = into.all.len();
        let id = self.enqueue(into, place)?;
        while done < into.all.len() {
            self.fill(into, done)?;
            done += 1;
        }
        Ok(id)
    }

    fn enqueue(&self, into: &mut Schemas, place: Place) -> Result<Id, Refusal> {
        if let Some(id) = into.index.get(&place) {
            return Ok(*id);
        }
        self.store.budget.write(2 * place.pointer.len() + 256)?;
        let id = into.all.len();
        into.index.insert(place.clone(), id);
        into.all.push(Schema {
            place,
            draft: Draft::D2020,
            resource: id,
            truth: None,
            keys: Rc::default(),
            one: BTreeMap::new(),
            many: BTreeMap::new(),
            named: BTreeMap::new(),
            refs: BTreeMap::new(),
            dynamic: None,
            dynamic_anchors: BTreeMap::new(),
            format: None,
        });
        Ok(id)
    }

    fn fill(&mut self, into: &mut Schemas, id: Id) -> Result<(), Refusal> {
        let Some(place) = into.all.get(id).map(|schema| schema.place.clone()) else { return Ok(()) };
        let node = self.store.schema(&place, self.check)?;
        let found = self.store.get(&place.url).and_then(|document| document.resource(&place.pointer));
        let Some((own, resource)) = found else { return Ok(()) };
        let (own, draft) = (Place { url: place.url.clone(), pointer: own.to_owned() }, resource.draft);
        let dynamic: Vec<(String, String)> = resource
            .anchors
            .iter()
            .filter(|(name, _)| own == place && draft >= Draft::D2020 && resource.dynamic.contains(*name))
            .map(|(name, pointer)| (name.clone(), pointer.clone()))
            .collect();
        let resource = self.enqueue(into, own)?;
        let mut anchors = BTreeMap::new();
        for (name, pointer) in dynamic {
            anchors.insert(name, self.enqueue(into, Place { url: place.url.clone(), pointer })?);
        }
        let mut parts = Parts::default();
        let keys = node.as_map().cloned().unwrap_or_default();
        self.references(into, &place, draft, &keys, &mut parts)?;
        let alone = draft < Draft::D2019 && parts.refs.contains_key("$ref");
        if !alone {
            self.below(into, &place, draft, &keys, &mut parts)?;
        }
        let format = keys.get("format").and_then(Node::as_text).and_then(|name| format::known(name));
        let Some(schema) = into.all.get_mut(id) else { return Ok(()) };
        schema.draft = draft;
        schema.resource = resource;
        schema.dynamic_anchors = anchors;
        schema.truth = node.as_bool();
        schema.format = format.filter(|_| !alone && (draft < Draft::D2019 || self.asserts_formats));
        schema.keys = if alone { Rc::default() } else { keys };
        schema.one = parts.one;
        schema.many = parts.many;
        schema.named = parts.named;
        schema.refs = parts.refs;
        schema.dynamic = parts.dynamic;
        Ok(())
    }

    fn references(
        &mut self,
        into: &mut Schemas,
        place: &Place,
        draft: Draft,
        keys: &Members,
        parts: &mut Parts,
    ) -> Result<(), Refusal> {
        let known = [
            ("$ref", Draft::D4, Draft::D2020),
            ("$recursiveRef", Draft::D2019, Draft::D2019),
            ("$dynamicRef", Draft::D2020, Draft::D2020),
        ];
        for (name, from, to) in known {
            let Some(text) = keys.get(name).and_then(Node::as_text).filter(|_| (from..=to).contains(&draft)) else {
                continue;
            };
            let target = self.store.resolve(place, text, self.check)?;
            parts.refs.insert(name, self.enqueue(into, target)?);
            if name == "$dynamicRef" {
                let fragment = split(text).map(|(_, fragment)| fragment).unwrap_or_default();
                parts.dynamic = Some(fragment).filter(|f| !f.is_empty() && !f.starts_with('/'));
            }
        }
        Ok(())
    }

    fn below(
        &self,
        into: &mut Schemas,
        place: &Place,
        draft: Draft,
        keys: &Members,
        parts: &mut Parts,
    ) -> Result<(), Refusal> {
        for keyword in draft.keywords().filter(|keyword| keyword.applied) {
            let Some(node) = keys.get(keyword.name) else { continue };
            let at = |path: &str| Place {
                url: place.url.clone(),
                pointer: format!("{}/{}{path}", place.pointer, keyword.name),
            };
            match (keyword.shape, node) {
                (Shape::Many | Shape::OneOrMany, Node::List(items)) => {
                    let ids = (0..items.len()).map(|index| self.enqueue(into, at(&format!("/{index}"))));
                    parts.many.insert(keyword.name, ids.collect::<Result<_, _>>()?);
                }
                (Shape::Named, Node::Map(named)) => {
                    if keyword.name == "patternProperties" {
                        named.keys().try_for_each(|pattern| expression(pattern, &at("")))?;
                    }
                    let schemas = named.iter().filter(|(_, node)| node.as_list().is_none());
                    let ids = schemas
                        .map(|(name, _)| Ok((name.clone(), self.enqueue(into, at(&format!("/{}", token(name))))?)));
                    parts.named.insert(keyword.name, ids.collect::<Result<_, Refusal>>()?);
                }
                (Shape::One | Shape::OneOrMany, _) => {
                    parts.one.insert(keyword.name, self.enqueue(into, at(""))?);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// What [`Schema`] gets at once.
#[derive(Default)]
struct Parts {
    one: BTreeMap<&'static str, Id>,
    many: BTreeMap<&'static str, Vec<Id>>,
    named: BTreeMap<&'static str, BTreeMap<String, Id>>,
    refs: BTreeMap<&'static str, Id>,
    dynamic: Option<String>,
}

fn expression(pattern: &str, place: &Place) -> Result<(), Refusal> {
    match re2::compile(pattern.as_bytes()) {
        Ok(_) => Ok(()),
        Err(error) => Err(Refusal::Invalid(format!("invalid regex {} at {}: {error}", quote(pattern), place.quoted()))),
    }
}
