//! Whether a value satisfies a schema, and why not.

use std::collections::BTreeSet;

use super::compile::{Id, Schema, Schemas};
use super::draft::Draft;
use super::report::{Fault, Kind, shown};
use crate::base::budget::Budget;
use crate::base::version::{HelmVersion, Quirk};
use crate::chart::schema::Refusal;
use crate::chart::schema::node::{Members, Node, token};

/// Most schemas that apply inside each other.
const MAX_DEPTH: usize = 1_500;

/// Which draft's metaschema is meant at a place of a schema that is checked.
pub type Meta<'m> = &'m dyn Fn(&str) -> Option<Id>;

/// A run over one value.
pub struct Checker<'s> {
    schemas: &'s Schemas,
    budget: &'s Budget,
    /// Places are told where older validators tell wrong ones (`H-43`).
    pub(super) places: bool,
    path: Vec<String>,
    depth: usize,
    meta: Option<Meta<'s>>,
}

/// How a schema came to be applied.
#[derive(Clone, Copy)]
pub(super) struct Scope<'p> {
    id: Id,
    keyword: Option<&'static str>,
    level: usize,
    root: Option<Id>,
    parent: Option<&'p Scope<'p>>,
}

/// Parts of a value that no schema has looked at yet.
#[derive(Default)]
struct Open {
    names: BTreeSet<String>,
    items: BTreeSet<usize>,
}

impl Open {
    fn is_empty(&self) -> bool {
        self.names.is_empty() && self.items.is_empty()
    }
}

enum Outcome {
    Fits(Open),
    Fails(Fault),
}

/// The application of one schema to one value.
pub(super) struct Frame<'f> {
    pub(super) schema: &'f Schema,
    pub(super) scope: Scope<'f>,
    pub(super) faults: Vec<Fault>,
    open: Open,
    /// Nobody reads the reasons.
    brief: bool,
}

impl Frame<'_> {
    pub(super) fn opened(&mut self, name: &str) {
        self.open.names.remove(name);
    }

    pub(super) fn opened_item(&mut self, index: usize) {
        self.open.items.remove(&index);
    }

    fn enough(&self) -> bool {
        self.brief && !self.faults.is_empty()
    }
}

impl<'s> Checker<'s> {
    /// A run; `meta` if the value is a schema itself.
    pub fn new(schemas: &'s Schemas, budget: &'s Budget, helm: HelmVersion, meta: Option<Meta<'s>>) -> Self {
        let places = helm.has(Quirk::PlacesSchemaFaults);
        Checker { schemas, budget, places, path: Vec::new(), depth: 0, meta }
    }

    /// The faults of a value.
    ///
    /// # Errors
    /// The limit that was reached.
    pub fn check(&mut self, id: Id, value: &Node) -> Result<Vec<Fault>, Refusal> {
        let root = self.meta.is_some().then_some(id);
        let scope = Scope { id, keyword: None, level: 0, root, parent: None };
        match self.apply(scope, value, false, false)? {
            Outcome::Fits(_) => Ok(Vec::new()),
            Outcome::Fails(fault) => Ok(fault.ungrouped()),
        }
    }

    fn at(&self) -> String {
        self.path.iter().flat_map(|part| ["/".to_owned(), token(part)]).collect()
    }

    pub(super) fn fault(&self, words: String, causes: Vec<Fault>) -> Result<Fault, Refusal> {
        self.kind(Kind::Words(words), causes)
    }

    fn kind(&self, kind: Kind, causes: Vec<Fault>) -> Result<Fault, Refusal> {
        let at = self.at();
        let size = if let Kind::Words(words) = &kind { words.len() } else { 0 };
        self.budget.write(at.len() + size + 64)?;
        Ok(Fault { at, kind, causes })
    }

    /// Counts work that grows with a value.
    pub(super) fn work(&self, size: u64) -> Result<(), Refusal> {
        (0..size).try_for_each(|_| self.budget.step()).map_err(Refusal::from)
    }

    /// Another schema for the same value.
    pub(super) fn same(
        &mut self,
        frame: &mut Frame<'_>,
        id: Id,
        value: &Node,
        brief: bool,
    ) -> Result<Option<Fault>, Refusal> {
        self.reference(frame, id, None, value, brief)
    }

    fn reference(
        &mut self,
        frame: &mut Frame<'_>,
        id: Id,
        keyword: Option<&'static str>,
        value: &Node,
        brief: bool,
    ) -> Result<Option<Fault>, Refusal> {
        let scope = Scope { id, keyword, parent: Some(&frame.scope), ..frame.scope };
        let outcome = self.apply(scope, value, brief || frame.brief, !frame.open.is_empty())?;
        match outcome {
            Outcome::Fails(fault) => Ok(Some(fault)),
            Outcome::Fits(open) => {
                frame.open.names.retain(|name| open.names.contains(name));
                frame.open.items.retain(|index| open.items.contains(index));
                Ok(None)
            }
        }
    }

    /// A schema for a part of the value.
    pub(super) fn part(
        &mut self,
        frame: &Frame<'_>,
        id: Id,
        part: &Node,
        name: &str,
    ) -> Result<Option<Fault>, Refusal> {
        self.path.push(name.to_owned());
        let scope =
            Scope { id, keyword: None, level: frame.scope.level + 1, parent: Some(&frame.scope), ..frame.scope };
        let outcome = self.apply(scope, part, frame.brief, false);
        self.path.pop();
        Ok(if let Outcome::Fails(fault) = outcome? { Some(fault) } else { None })
    }

    /// A schema for the name of a property: a value of its own.
    pub(super) fn name(&mut self, frame: &Frame<'_>, id: Id, name: &str) -> Result<Option<Vec<Fault>>, Refusal> {
        let path = std::mem::take(&mut self.path);
        let scope =
            Scope { id, keyword: None, level: frame.scope.level + 1, parent: Some(&frame.scope), ..frame.scope };
        let outcome = self.apply(scope, &Node::Text(name.into()), frame.brief, false);
        self.path = path;
        Ok(if let Outcome::Fails(fault) = outcome? { Some(fault.ungrouped()) } else { None })
    }

    fn apply(&mut self, scope: Scope<'_>, value: &Node, brief: bool, keep: bool) -> Result<Outcome, Refusal> {
        self.budget.step()?;
        if self.depth >= MAX_DEPTH {
            return Err(Refusal::Unknown(format!("schemas apply inside each other deeper than {MAX_DEPTH} levels")));
        }
        self.depth += 1;
        let outcome = self.apply_here(self.switched(scope), value, brief, keep);
        self.depth -= 1;
        outcome
    }

    /// At the start of an embedded schema of another draft, that draft's metaschema applies.
    fn switched<'p>(&self, scope: Scope<'p>) -> Scope<'p> {
        match self.meta.filter(|_| scope.root == Some(scope.id)).and_then(|meta| meta(&self.at())) {
            Some(id) => Scope { id, root: Some(id), ..scope },
            None => scope,
        }
    }

    fn apply_here(&mut self, scope: Scope<'_>, value: &Node, brief: bool, keep: bool) -> Result<Outcome, Refusal> {
        let schemas = self.schemas;
        let Some(schema) = schemas.all.get(scope.id) else { return Ok(Outcome::Fits(Open::default())) };
        let open = self.unseen(schema, value, keep)?;
        match schema.truth {
            Some(true) => return Ok(Outcome::Fits(open)),
            Some(false) => return Ok(Outcome::Fails(self.fault("false schema".into(), Vec::new())?)),
            None => {}
        }
        if let Some(words) = self.cycle(&scope) {
            return Ok(Outcome::Fails(self.fault(words, Vec::new())?));
        }
        let mut frame = Frame { schema, scope, faults: Vec::new(), open, brief };
        if let Some(words) = self.plain(schema, value)? {
            return Ok(Outcome::Fails(self.fault(words, Vec::new())?));
        }
        self.all(&mut frame, value)?;
        let Frame { mut faults, open, .. } = frame;
        Ok(match faults.len() {
            0 => Outcome::Fits(open),
            1 => faults.pop().map_or(Outcome::Fits(open), Outcome::Fails),
            _ => Outcome::Fails(self.kind(Kind::Group, faults)?),
        })
    }

    fn all(&mut self, frame: &mut Frame<'_>, value: &Node) -> Result<(), Refusal> {
        let schema = frame.schema;
        if let Some(id) = schema.refs.get("$ref") {
            self.referred(frame, *id, "$ref", value)?;
            if schema.draft < Draft::D2019 {
                return Ok(());
            }
        }
        match value {
            Node::Map(members) => self.object(frame, members, value)?,
            Node::List(items) => self.array(frame, items)?,
            Node::Text(text) => self.text(frame, text)?,
            Node::Number(number) => self.number(frame, number)?,
            Node::Null | Node::Bool(_) => {}
        }
        if frame.enough() {
            return Ok(());
        }
        if let Some(id) = schema.refs.get("$recursiveRef") {
            let id = self.recursive(frame, *id);
            self.referred(frame, id, "$recursiveRef", value)?;
        }
        if let Some(id) = schema.refs.get("$dynamicRef") {
            let id = self.dynamic(frame, *id);
            self.referred(frame, id, "$dynamicRef", value)?;
        }
        self.combine(frame, value)?;
        self.unevaluated(frame, value)
    }

    fn referred(&mut self, frame: &mut Frame<'_>, id: Id, keyword: &'static str, value: &Node) -> Result<(), Refusal> {
        if let Some(fault) = self.reference(frame, id, Some(keyword), value, false)? {
            let causes = fault.ungrouped();
            let fault = self.kind(Kind::Reference, causes)?;
            frame.faults.push(fault);
        }
        Ok(())
    }

    /// Where `$recursiveRef` leads: to the outermost resource that says so.
    fn recursive(&self, frame: &Frame<'_>, id: Id) -> Id {
        let recurses = |id: Id| {
            self.schemas
                .all
                .get(id)
                .is_some_and(|s| s.keys.get("$recursiveAnchor").and_then(Node::as_bool) == Some(true))
        };
        if !recurses(id) {
            return id;
        }
        self.outermost(frame, id, |resource, id| recurses(id).then_some(id).filter(|_| resource.truth.is_none()))
    }

    /// Where `$dynamicRef` leads: to the outermost resource that has the anchor.
    fn dynamic(&self, frame: &Frame<'_>, id: Id) -> Id {
        let target = self.schemas.all.get(id).and_then(|s| s.keys.get("$dynamicAnchor")).and_then(Node::as_text);
        match &frame.schema.dynamic {
            Some(name) if target.is_some_and(|anchor| **anchor == **name) => {
                self.outermost(frame, id, |resource, _| resource.dynamic_anchors.get(name).copied())
            }
            _ => id,
        }
    }

    fn outermost(&self, frame: &Frame<'_>, fallback: Id, find: impl Fn(&Schema, Id) -> Option<Id>) -> Id {
        let mut found = fallback;
        let mut scope = Some(&frame.scope);
        while let Some(here) = scope {
            let resource = self.schemas.all.get(here.id).map(|schema| schema.resource);
            if let Some(id) = resource.and_then(|id| find(self.schemas.all.get(id)?, id)) {
                found = id;
            }
            scope = here.parent;
        }
        found
    }

    /// Whether references lead back to a schema that is being applied to the same value.
    fn cycle(&self, scope: &Scope<'_>) -> Option<String> {
        let mut other = scope.parent;
        while let Some(before) = other.filter(|before| before.level == scope.level) {
            if before.id == scope.id {
                let target = self.schemas.all.get(scope.id)?.place.quoted();
                let (one, two) = (self.keywords(scope), self.keywords(before));
                return Some(format!("both {one} and {two} resolve to {target} causing reference cycle"));
            }
            other = before.parent;
        }
        None
    }

    /// The keywords that led to a schema, as a path.
    fn keywords(&self, scope: &Scope<'_>) -> String {
        let mut parts = Vec::new();
        let mut here = scope;
        while let Some(parent) = here.parent {
            parts.push(match here.keyword {
                Some(keyword) => format!("/{keyword}"),
                None => {
                    let pointer = |id: Id| self.schemas.all.get(id).map_or("", |schema| &*schema.place.pointer);
                    pointer(here.id).strip_prefix(pointer(parent.id)).unwrap_or_default().to_owned()
                }
            });
            here = parent;
        }
        parts.reverse();
        parts.concat()
    }

    /// Keywords about the value as such; the first that is violated is the only one told.
    fn plain(&self, schema: &Schema, value: &Node) -> Result<Option<String>, Refusal> {
        if let Some(types) = schema.keys.get("type") {
            let wanted: Vec<&str> = match types {
                Node::Text(one) => vec![one],
                Node::List(some) => some.iter().filter_map(Node::as_text).map(|name| &**name).collect(),
                _ => Vec::new(),
            };
            let own = type_of(value);
            let whole = value.as_number().is_some_and(|n| n.is_integer());
            if !wanted.is_empty() && !wanted.iter().any(|name| *name == own || whole && *name == "integer") {
                let wanted = TYPES.iter().copied().filter(|name| wanted.contains(name)).collect::<Vec<_>>();
                return Ok(Some(format!("got {own}, want {}", wanted.join(" or "))));
            }
        }
        if let Some(wanted) = schema.keys.get("const").filter(|_| schema.draft >= Draft::D6) {
            self.work(value.weight())?;
            if wanted != value {
                return Ok(Some(shown(wanted).map_or("'const' failed".into(), |text| format!("value must be {text}"))));
            }
        }
        if let Some(Node::List(wanted)) = schema.keys.get("enum") {
            self.work(value.weight() * wanted.len() as u64)?;
            if !wanted.contains(value) {
                let all: Option<Vec<String>> = wanted.iter().map(shown).collect();
                return Ok(Some(match all.as_deref() {
                    None => "'enum' failed".into(),
                    Some([only]) => format!("value must be {only}"),
                    Some(all) => format!("value must be one of {}", all.join(", ")),
                }));
            }
        }
        let fault = schema.format.and_then(|format| format.fault(value));
        Ok(fault.map(|(name, error)| {
            format!("{} is not valid {name}: {error}", shown(value).unwrap_or_else(|| "value".into()))
        }))
    }

    /// Parts that no keyword of the schema looks at by itself.
    fn unseen(&self, schema: &Schema, value: &Node, keep: bool) -> Result<Open, Refusal> {
        let mut open = Open::default();
        let has = |keyword: &str| schema.one.contains_key(keyword);
        let seen = |keyword: &str| schema.many.get(keyword).map_or(0, Vec::len);
        match value {
            Node::Map(members) if !has("additionalProperties") && (keep || has("unevaluatedProperties")) => {
                self.work(members.len() as u64)?;
                open.names = members.keys().cloned().collect();
            }
            Node::List(items) if keep || has("unevaluatedItems") => {
                let seen = match schema.draft {
                    Draft::D2020 if has("items") => items.len(),
                    Draft::D2020 => seen("prefixItems"),
                    _ if has("additionalItems") || has("items") => items.len(),
                    _ => seen("items"),
                };
                self.work(items.len() as u64)?;
                open.items = (seen..items.len()).collect();
            }
            _ => {}
        }
        Ok(open)
    }

    fn unevaluated(&mut self, frame: &mut Frame<'_>, value: &Node) -> Result<(), Refusal> {
        if let (Some(id), Node::Map(members)) = (frame.schema.one.get("unevaluatedProperties"), value) {
            for name in std::mem::take(&mut frame.open.names) {
                let Some(part) = members.get(&name) else { continue };
                let fault = self.part(frame, *id, part, &name)?;
                frame.faults.extend(fault);
            }
        }
        if let (Some(id), Node::List(items)) = (frame.schema.one.get("unevaluatedItems"), value) {
            for index in std::mem::take(&mut frame.open.items) {
                let Some(part) = items.get(index) else { continue };
                let fault = self.part(frame, *id, part, &index.to_string())?;
                frame.faults.extend(fault);
            }
        }
        Ok(())
    }

    /// `not`, `allOf`, `anyOf`, `oneOf`, `if`.
    fn combine(&mut self, frame: &mut Frame<'_>, value: &Node) -> Result<(), Refusal> {
        let schema = frame.schema;
        if let Some(id) = schema.one.get("not")
            && self.same(frame, *id, value, true)?.is_none()
        {
            frame.faults.push(self.fault("'not' failed".into(), Vec::new())?);
        }
        if let Some(ids) = schema.many.get("allOf") {
            let mut faults = Vec::new();
            for id in ids {
                faults.extend(self.same(frame, *id, value, false)?);
            }
            if !faults.is_empty() {
                frame.faults.push(self.fault("'allOf' failed".into(), faults)?);
            }
        }
        if let Some(ids) = schema.many.get("anyOf").filter(|ids| !ids.is_empty()) {
            self.any_of(frame, ids, value)?;
        }
        if let Some(ids) = schema.many.get("oneOf").filter(|ids| !ids.is_empty()) {
            self.one_of(frame, ids, value)?;
        }
        if let Some(id) = schema.one.get("if") {
            let branch = if self.same(frame, *id, value, true)?.is_none() { "then" } else { "else" };
            if let Some(id) = schema.one.get(branch) {
                let fault = self.same(frame, *id, value, false)?;
                frame.faults.extend(fault);
            }
        }
        Ok(())
    }

    fn any_of(&mut self, frame: &mut Frame<'_>, ids: &[Id], value: &Node) -> Result<(), Refusal> {
        let mut faults = Vec::new();
        let mut matched = false;
        for id in ids {
            match self.same(frame, *id, value, false)? {
                Some(fault) => faults.push(fault),
                None => {
                    matched = true;
                    // What the others look at still counts as looked at.
                    if frame.open.is_empty() {
                        break;
                    }
                }
            }
        }
        if !matched {
            frame.faults.push(self.fault("'anyOf' failed".into(), faults)?);
        }
        Ok(())
    }

    fn one_of(&mut self, frame: &mut Frame<'_>, ids: &[Id], value: &Node) -> Result<(), Refusal> {
        let mut faults = Vec::new();
        let mut first = None;
        for (index, id) in ids.iter().enumerate() {
            match (self.same(frame, *id, value, first.is_some())?, first) {
                (Some(fault), _) => faults.push(fault),
                (None, None) => first = Some(index),
                (None, Some(first)) => {
                    let words = format!("'oneOf' failed, subschemas {first}, {index} matched");
                    frame.faults.push(self.fault(words, Vec::new())?);
                    return Ok(());
                }
            }
        }
        if first.is_none() {
            frame.faults.push(self.fault("'oneOf' failed, none matched".into(), faults)?);
        }
        Ok(())
    }
}

/// JSON's types, in the order in which errors list them.
const TYPES: [&str; 7] = ["null", "boolean", "number", "integer", "string", "array", "object"];

fn type_of(value: &Node) -> &'static str {
    match value {
        Node::Null => "null",
        Node::Bool(_) => "boolean",
        Node::Number(_) => "number",
        Node::Text(_) => "string",
        Node::List(_) => "array",
        Node::Map(_) => "object",
    }
}

/// Members that a list of names asks for and that are not there.
pub(super) fn missing<'n>(names: &'n [Node], members: &Members) -> Vec<&'n str> {
    names.iter().filter_map(Node::as_text).map(|name| &**name).filter(|name| !members.contains_key(*name)).collect()
}
