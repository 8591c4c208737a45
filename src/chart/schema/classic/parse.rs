//! From a document to schemas, with the classic validator's complaints about what is none.

use std::collections::BTreeMap;

use super::pool::{self, Draft, Pool};
use crate::chart::schema::Refusal;
use crate::chart::schema::node::{Members, Node};
use crate::chart::schema::number::Number;
use crate::codec::float;
use crate::funcs::re2;

/// Number of a schema.
pub type Id = usize;

/// A schema for what no other keyword describes.
#[derive(Debug, Clone, Copy)]
pub enum Rest {
    /// Allowed or not.
    Allowed(bool),
    /// Has to satisfy a schema.
    Schema(Id),
}

/// What has to be there as well.
#[derive(Debug, Clone)]
pub enum Dependency {
    /// These properties.
    Names(Vec<String>),
    /// The whole has to satisfy a schema.
    Schema(Id),
}

/// A schema.
#[derive(Debug, Default)]
pub struct Schema {
    draft: Option<Draft>,
    /// `true` or `false`.
    pub pass: Option<bool>,
    /// The schema it stands for.
    pub reference: Option<Id>,
    /// `type`
    pub types: Vec<String>,
    /// `properties`
    pub properties: BTreeMap<String, Id>,
    /// `additionalProperties`
    pub additional_properties: Option<Rest>,
    /// `patternProperties`
    pub patterns: BTreeMap<String, Id>,
    /// `dependencies`
    pub dependencies: BTreeMap<String, Dependency>,
    /// `items` as a list
    pub tuple: Vec<Id>,
    /// `additionalItems`
    pub additional_items: Option<Rest>,
    /// Keywords with one schema.
    pub one: BTreeMap<&'static str, Id>,
    /// `allOf`, `anyOf`, `oneOf`
    pub many: BTreeMap<&'static str, Vec<Id>>,
    /// Keywords with a number.
    pub numbers: BTreeMap<&'static str, Number>,
    /// Keywords with a count.
    pub counts: BTreeMap<&'static str, i64>,
    /// `pattern`
    pub pattern: Option<String>,
    /// `format`
    pub format: Option<String>,
    /// `required`
    pub required: Vec<String>,
    /// `uniqueItems`
    pub unique: bool,
    /// `const` as text
    pub constant: Option<String>,
    /// `enum` as texts
    pub options: Vec<String>,
}

/// Parses schemas.
pub struct Parser<'p, 'b> {
    pool: &'p mut Pool<'b>,
    /// What was parsed.
    pub schemas: Vec<Schema>,
    references: BTreeMap<String, Id>,
    depth: usize,
}

/// Schemas in each other that are read.
const MAX_DEPTH: usize = 1_000;

type Done = Result<(), Refusal>;

fn refuse<T>(text: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Invalid(text.into()))
}

fn wrong_type<T>(expected: &str, given: &str) -> Result<T, Refusal> {
    refuse(format!("Invalid type. Expected: {expected}, given: {given}"))
}

fn is_schema(node: &Node) -> bool {
    matches!(node, Node::Map(_) | Node::Bool(_))
}

/// A value as text: two values are equal if their texts are. Numbers are doubles.
pub fn canonical(node: &Node) -> String {
    crate::codec::json::go_compact(&plain(node))
}

fn plain(node: &Node) -> serde_json::Value {
    use serde_json::Value as Json;
    match node {
        Node::Null => Json::Null,
        Node::Bool(value) => Json::Bool(*value),
        Node::Number(number) => Json::from(number.double()),
        Node::Text(text) => Json::String(text.to_string()),
        Node::List(items) => Json::Array(items.iter().map(plain).collect()),
        Node::Map(members) => Json::Object(members.iter().map(|(key, item)| (key.clone(), plain(item))).collect()),
    }
}

/// A number as errors tell it: `1e+06`, `0.5`.
pub fn amount(number: &Number) -> String {
    let Some((digits, power)) = number.scientific() else { return "0".into() };
    let sign = if number.sign() < 0 { "-" } else { "" };
    let (first, rest) = digits.split_at(1);
    float::general(&format!("{sign}{first}.{rest}e{power}"), 6)
}

impl<'p, 'b> Parser<'p, 'b> {
    /// Parses the chart's schema, which gets the number 0.
    ///
    /// # Errors
    /// The validator's text.
    pub fn parse(pool: &'p mut Pool<'b>, root: &Node) -> Result<Vec<Schema>, Refusal> {
        let draft = pool::draft_of(root).map_err(Refusal::Invalid)?.unwrap_or(Draft::Hybrid);
        let mut parser = Parser { pool, schemas: Vec::new(), references: BTreeMap::new(), depth: 0 };
        parser.schemas.push(Schema { draft: Some(draft), ..Schema::default() });
        parser.fill(0, root)?;
        Ok(parser.schemas)
    }

    fn child(&mut self, node: &Node, draft: Draft) -> Result<Id, Refusal> {
        let id = self.schemas.len();
        self.schemas.push(Schema { draft: Some(draft), ..Schema::default() });
        self.fill(id, node)?;
        Ok(id)
    }

    fn fill(&mut self, id: Id, node: &Node) -> Done {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Refusal::Unknown(format!("schemas lie in each other deeper than {MAX_DEPTH} levels")));
        }
        let draft = self.schemas.get(id).and_then(|schema| schema.draft).unwrap_or(Draft::Hybrid);
        let mut schema = Schema { draft: Some(draft), ..Schema::default() };
        let result = self.read(&mut schema, node, draft);
        if let Some(slot) = self.schemas.get_mut(id) {
            *slot = schema;
        }
        self.depth -= 1;
        result
    }

    fn read(&mut self, schema: &mut Schema, node: &Node, draft: Draft) -> Done {
        if draft >= Draft::D6 && node.as_bool().is_some() {
            schema.pass = node.as_bool();
            return Ok(());
        }
        let Node::Map(keys) = node else { return refuse("Expected: valid schema, given: Invalid JSON") };
        self.head(keys, draft)?;
        if let Some(Node::Text(reference)) = keys.get("$ref") {
            // Keywords beside a reference are read only if it was met before; they never count.
            if let Some(id) = self.references.get(&**reference) {
                schema.reference = Some(*id);
            } else {
                schema.reference = Some(self.referenced(reference, draft)?);
                return Ok(());
            }
        }
        types(schema, keys)?;
        self.objects(schema, keys, draft)?;
        self.arrays(schema, keys, draft)?;
        numbers(schema, keys, draft)?;
        texts(schema, keys)?;
        lists(schema, keys, draft)?;
        self.combinators(schema, keys, draft)
    }

    /// What names and describes a schema, and the schemas that only references reach.
    fn head(&mut self, keys: &Members, draft: Draft) -> Done {
        let id = match draft {
            Draft::D4 => "id",
            Draft::Hybrid if keys.contains_key("id") => "id",
            _ => "$id",
        };
        match keys.get(id) {
            None => {}
            Some(Node::Text(text)) => {
                pool::parse(text).map_err(Refusal::Invalid)?;
            }
            Some(_) => return wrong_type("string", id),
        }
        match keys.get("definitions") {
            None => {}
            Some(Node::Map(schemas)) => {
                for node in schemas.values() {
                    if !is_schema(node) {
                        return wrong_type("array of schemas", "definitions");
                    }
                    self.child(node, draft)?;
                }
            }
            Some(_) => return wrong_type("array of schemas", "definitions"),
        }
        for key in ["title", "description", "$ref"] {
            if keys.get(key).is_some_and(|node| node.as_text().is_none()) {
                return wrong_type("string", key);
            }
        }
        if let Some(Node::Text(reference)) = keys.get("$ref") {
            pool::parse(reference).map_err(Refusal::Invalid)?;
        }
        Ok(())
    }

    fn referenced(&mut self, reference: &str, outer: Draft) -> Result<Id, Refusal> {
        let id = self.schemas.len();
        self.schemas.push(Schema::default());
        self.references.insert(reference.to_owned(), id);
        let (node, draft) = self.pool.find(reference)?;
        if !is_schema(&node) {
            return refuse("valid schema must be of type object");
        }
        if let Some(schema) = self.schemas.get_mut(id) {
            schema.draft = Some(draft.unwrap_or(outer));
        }
        self.fill(id, &node)?;
        Ok(id)
    }

    fn rest(&mut self, keys: &Members, key: &str, draft: Draft) -> Result<Option<Rest>, Refusal> {
        match keys.get(key) {
            None => Ok(None),
            Some(Node::Bool(allowed)) => Ok(Some(Rest::Allowed(*allowed))),
            Some(node @ Node::Map(_)) => Ok(Some(Rest::Schema(self.child(node, draft)?))),
            Some(_) => wrong_type("boolean/valid schema", key),
        }
    }

    fn objects(&mut self, schema: &mut Schema, keys: &Members, draft: Draft) -> Done {
        match keys.get("properties") {
            None => {}
            Some(Node::Map(schemas)) => {
                for (name, node) in schemas.iter() {
                    schema.properties.insert(name.clone(), self.child(node, draft)?);
                }
            }
            Some(_) => return refuse("properties must be of type object"),
        }
        schema.additional_properties = self.rest(keys, "additionalProperties", draft)?;
        match keys.get("patternProperties") {
            None => {}
            Some(Node::Map(schemas)) => {
                for (pattern, node) in schemas.iter() {
                    if re2::compile(pattern.as_bytes()).is_err() {
                        return refuse(format!("Invalid regex pattern '{pattern}'"));
                    }
                    schema.patterns.insert(pattern.clone(), self.child(node, draft)?);
                }
            }
            Some(_) => return wrong_type("valid schema", "patternProperties"),
        }
        if let Some(node) = keys.get("propertyNames").filter(|_| draft >= Draft::D6) {
            if !is_schema(node) {
                return wrong_type("valid schema", "patternProperties");
            }
            schema.one.insert("propertyNames", self.child(node, draft)?);
        }
        match keys.get("dependencies") {
            None => Ok(()),
            Some(Node::Map(all)) => all.iter().try_for_each(|(name, node)| self.dependency(schema, name, node, draft)),
            Some(_) => refuse("dependencies must be of type object"),
        }
    }

    fn dependency(&mut self, schema: &mut Schema, name: &str, node: &Node, draft: Draft) -> Done {
        let dependency = match node {
            Node::List(names) => {
                let texts: Option<Vec<String>> = names.iter().map(|n| Some(n.as_text()?.to_string())).collect();
                texts.map(Dependency::Names)
            }
            node if is_schema(node) => Some(Dependency::Schema(self.child(node, draft)?)),
            _ => None,
        };
        match dependency {
            Some(dependency) => {
                schema.dependencies.insert(name.to_owned(), dependency);
                Ok(())
            }
            None => refuse("dependency must be of type schema or array of strings"),
        }
    }

    fn arrays(&mut self, schema: &mut Schema, keys: &Members, draft: Draft) -> Done {
        let wrong = || wrong_type("valid schema/array of schemas", "items");
        match keys.get("items") {
            None => {}
            Some(Node::List(items)) => {
                for node in items.iter() {
                    if !is_schema(node) {
                        return wrong();
                    }
                    schema.tuple.push(self.child(node, draft)?);
                }
            }
            Some(node) if is_schema(node) => {
                schema.one.insert("items", self.child(node, draft)?);
            }
            Some(_) => return wrong(),
        }
        schema.additional_items = self.rest(keys, "additionalItems", draft)?;
        Ok(())
    }

    fn combinators(&mut self, schema: &mut Schema, keys: &Members, draft: Draft) -> Done {
        if let Some(node) = keys.get("contains").filter(|_| draft >= Draft::D6) {
            schema.one.insert("contains", self.child(node, draft)?);
        }
        for (key, told) in [("oneOf", "oneOf"), ("anyOf", "anyOf"), ("allOf", "anyOf")] {
            match keys.get(key) {
                None => {}
                Some(Node::List(nodes)) => {
                    let ids = nodes.iter().map(|node| self.child(node, draft));
                    let ids = ids.collect::<Result<_, _>>()?;
                    schema.many.insert(key, ids);
                }
                Some(_) => return refuse(format!("{told} must be of an array")),
            }
        }
        for (key, from) in [("not", Draft::D4), ("if", Draft::D7), ("then", Draft::D7), ("else", Draft::D7)] {
            let Some(node) = keys.get(key).filter(|_| draft >= from) else { continue };
            if !is_schema(node) {
                return refuse(format!("{key} must be of an object"));
            }
            schema.one.insert(key, self.child(node, draft)?);
        }
        Ok(())
    }
}

fn types(schema: &mut Schema, keys: &Members) -> Done {
    const KNOWN: [&str; 7] = ["array", "boolean", "integer", "number", "null", "object", "string"];
    let names = match keys.get("type") {
        None => return Ok(()),
        Some(Node::Text(name)) => vec![Node::Text(name.clone())],
        Some(Node::List(names)) => names.to_vec(),
        Some(_) => return wrong_type("string/array of strings", "type"),
    };
    for name in &names {
        let name = match name {
            Node::Text(name) => name.to_string(),
            Node::Number(_) => {
                let what = "interface conversion: interface {} is json.Number, not string";
                return refuse(format!("unable to validate schema: {what}"));
            }
            _ => return wrong_type("array of strings", "type"),
        };
        if !KNOWN.contains(&name.as_str()) {
            let known = KNOWN.join(" ");
            return refuse(format!(
                "has a primitive type that is NOT VALID -- given: /{name}/ Expected valid values are:[{known}]"
            ));
        }
        if schema.types.contains(&name) {
            return refuse(format!("{name} type is duplicated"));
        }
        schema.types.push(name);
    }
    Ok(())
}

fn numbers(schema: &mut Schema, keys: &Members, draft: Draft) -> Done {
    if let Some(node) = keys.get("multipleOf") {
        let Some(number) = node.as_number() else { return wrong_type("number", "multipleOf") };
        if number.sign() <= 0 {
            return refuse("multipleOf must be strictly greater than 0");
        }
        schema.numbers.insert("multipleOf", number.clone());
    }
    for (limit, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        match keys.get(limit) {
            None => {}
            Some(Node::Number(number)) => {
                schema.numbers.insert(limit, number.clone());
            }
            Some(_) => return refuse(format!("{limit} must be of a number")),
        }
        match (keys.get(exclusive), draft) {
            (None, _) => {}
            (Some(Node::Bool(strict)), Draft::D4 | Draft::Hybrid) => {
                if *strict {
                    let Some(number) = schema.numbers.remove(limit) else {
                        return refuse(format!("{exclusive} cannot be used without {limit}"));
                    };
                    schema.numbers.insert(exclusive, number);
                }
            }
            (Some(Node::Number(number)), Draft::D6 | Draft::D7 | Draft::Hybrid) => {
                schema.numbers.insert(exclusive, number.clone());
            }
            (Some(_), Draft::D4) => return wrong_type("boolean", exclusive),
            (Some(_), Draft::Hybrid) => return wrong_type("boolean/number", exclusive),
            (Some(_), _) => return wrong_type("number", exclusive),
        }
    }
    Ok(())
}

/// A keyword with a count.
fn count(schema: &mut Schema, keys: &Members, key: &'static str) -> Done {
    let Some(node) = keys.get(key) else { return Ok(()) };
    // However it is spelled, `3.0` is no integer here.
    let Some(count) = node.as_number().and_then(|number| number.text().parse::<i64>().ok()) else {
        return refuse(format!("{key} must be of an integer"));
    };
    if count < 0 {
        return refuse(format!("{key} must be greater than or equal to 0"));
    }
    schema.counts.insert(key, count);
    Ok(())
}

fn range(schema: &mut Schema, keys: &Members, least: &'static str, most: &'static str) -> Done {
    count(schema, keys, least)?;
    count(schema, keys, most)?;
    match (schema.counts.get(least), schema.counts.get(most)) {
        (Some(min), Some(max)) if min > max => refuse(format!("{least} cannot be greater than {most}")),
        _ => Ok(()),
    }
}

fn texts(schema: &mut Schema, keys: &Members) -> Done {
    range(schema, keys, "minLength", "maxLength")?;
    match keys.get("pattern") {
        None => {}
        Some(Node::Text(pattern)) => {
            if re2::compile(pattern.as_bytes()).is_err() {
                return refuse("pattern must be a valid regex");
            }
            schema.pattern = Some(pattern.to_string());
        }
        Some(_) => return refuse("pattern must be of a string"),
    }
    match keys.get("format") {
        None => {}
        Some(Node::Text(format)) => schema.format = Some(format.to_string()),
        Some(_) => return refuse("format must be of type string"),
    }
    range(schema, keys, "minProperties", "maxProperties")
}

fn lists(schema: &mut Schema, keys: &Members, draft: Draft) -> Done {
    match keys.get("required") {
        None => {}
        Some(Node::List(names)) => {
            for name in names.iter() {
                let Some(name) = name.as_text() else { return refuse("required must be of type string") };
                schema.required.push(name.to_string());
            }
            if pool::repeated(&schema.required) {
                return refuse("required items must be unique");
            }
        }
        Some(_) => return refuse("required must be of an array"),
    }
    count(schema, keys, "minItems")?;
    count(schema, keys, "maxItems")?;
    match keys.get("uniqueItems") {
        None => {}
        Some(Node::Bool(unique)) => schema.unique = *unique,
        Some(_) => return refuse("uniqueItems must be of a boolean"),
    }
    schema.constant = keys.get("const").filter(|_| draft >= Draft::D6).map(canonical);
    match keys.get("enum") {
        None => {}
        Some(Node::List(options)) => {
            schema.options = options.iter().map(canonical).collect();
            if pool::repeated(&schema.options) {
                return refuse("enum items must be unique");
            }
        }
        Some(_) => return refuse("enum must be of an array"),
    }
    Ok(())
}
