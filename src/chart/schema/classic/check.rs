//! Whether a value satisfies a schema, in the classic validator's words.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::format;
use super::parse::{Dependency, Id, Rest, Schema, amount, canonical};
use crate::base::budget::Budget;
use crate::chart::schema::Refusal;
use crate::chart::schema::node::{Members, Node};
use crate::chart::schema::number::Number;
use crate::funcs::re2;

/// Most schemas that apply inside each other. Helm itself runs out of stack and crashes.
const MAX_DEPTH: usize = 1_500;

/// Lines of faults, and how near the value is to the schema: `anyOf` and its kin tell the nearest one's faults.
#[derive(Default)]
pub struct Verdict {
    /// Faults, each with its place.
    pub faults: Vec<String>,
    score: i64,
}

impl Verdict {
    fn merge(&mut self, other: Verdict) {
        self.faults.extend(other.faults);
        self.score += other.score;
    }
}

/// A run over one value.
pub struct Checker<'s> {
    schemas: &'s [Schema],
    budget: &'s Budget,
    path: Vec<String>,
    depth: usize,
}

type Done = Result<(), Refusal>;

impl<'s> Checker<'s> {
    /// A run.
    pub fn new(schemas: &'s [Schema], budget: &'s Budget) -> Self {
        Checker { schemas, budget, path: Vec::new(), depth: 0 }
    }

    /// The verdict of one schema on a value.
    ///
    /// # Errors
    /// The limit that was reached.
    pub fn verdict(&mut self, id: Id, value: &Node) -> Result<Verdict, Refusal> {
        let mut verdict = Verdict::default();
        self.apply(id, value, &mut verdict)?;
        Ok(verdict)
    }

    fn part(&mut self, id: Id, value: &Node, name: &str) -> Result<Verdict, Refusal> {
        self.path.push(name.to_owned());
        let verdict = self.verdict(id, value);
        self.path.pop();
        verdict
    }

    fn field(&self) -> String {
        if self.path.is_empty() { "(root)".to_owned() } else { self.path.join(".") }
    }

    fn found(&self, verdict: &mut Verdict, words: &str) -> Done {
        let line = format!("{}: {words}", self.field());
        self.budget.write(line.len() + 32)?;
        verdict.faults.push(line);
        verdict.score -= 2;
        Ok(())
    }

    fn work(&self, size: u64) -> Done {
        (0..size).try_for_each(|_| self.budget.step()).map_err(Refusal::from)
    }

    fn apply(&mut self, id: Id, value: &Node, verdict: &mut Verdict) -> Done {
        self.budget.step()?;
        if self.depth >= MAX_DEPTH {
            return Err(Refusal::Unknown(format!("schemas apply inside each other deeper than {MAX_DEPTH} levels")));
        }
        self.depth += 1;
        let done = self.apply_here(id, value, verdict);
        self.depth -= 1;
        done
    }

    fn apply_here(&mut self, id: Id, value: &Node, verdict: &mut Verdict) -> Done {
        let schemas = self.schemas;
        let Some(schema) = schemas.get(id) else { return Ok(()) };
        if let Some(pass) = schema.pass {
            return if pass { Ok(()) } else { self.found(verdict, "False always fails validation") };
        }
        if let Some(id) = schema.reference {
            return self.apply(id, value, verdict);
        }
        let own = type_of(value);
        let fits = |name: &String| name == own || own == "integer" && name == "number";
        if !schema.types.is_empty() && !schema.types.iter().any(fits) {
            let expected = match &schema.types[..] {
                [only] => only.clone(),
                types => format!("[{}]", types.join(",")),
            };
            return self.found(verdict, &format!("Invalid type. Expected: {expected}, given: {own}"));
        }
        self.combine(schema, value, verdict)?;
        match value {
            Node::Number(number) => self.number(schema, number, verdict)?,
            Node::List(items) => self.array(schema, items, verdict)?,
            Node::Map(members) => self.object(schema, members, verdict)?,
            Node::Null | Node::Bool(_) | Node::Text(_) => {}
        }
        self.options(schema, value, verdict)?;
        match value {
            Node::Text(text) => self.text(schema, text, verdict)?,
            Node::Map(members) => {
                for (name, id) in &schema.properties {
                    if let Some(part) = members.get(name) {
                        let below = self.part(*id, part, name)?;
                        verdict.merge(below);
                    }
                }
            }
            _ => {}
        }
        verdict.score += 1;
        Ok(())
    }

    /// The first of the best verdicts among those that found faults, and how many found none.
    fn best(&mut self, ids: &[Id], value: &Node, stop: bool) -> Result<(Option<Verdict>, usize), Refusal> {
        let (mut best, mut valid): (Option<Verdict>, usize) = (None, 0);
        for id in ids {
            let verdict = self.verdict(*id, value)?;
            if verdict.faults.is_empty() {
                valid += 1;
                if stop {
                    break;
                }
            } else if best.as_ref().is_none_or(|best| verdict.score > best.score) {
                best = Some(verdict);
            }
        }
        Ok((best, valid))
    }

    fn combine(&mut self, schema: &Schema, value: &Node, verdict: &mut Verdict) -> Done {
        let many = |key: &str| schema.many.get(key).filter(|ids| !ids.is_empty());
        if let Some(ids) = many("anyOf") {
            let (best, valid) = self.best(ids, value, true)?;
            if valid == 0 {
                self.found(verdict, "Must validate at least one schema (anyOf)")?;
                best.into_iter().for_each(|best| verdict.merge(best));
            }
        }
        if let Some(ids) = many("oneOf") {
            let (best, valid) = self.best(ids, value, false)?;
            if valid != 1 {
                self.found(verdict, "Must validate one and only one schema (oneOf)")?;
                best.into_iter().filter(|_| valid == 0).for_each(|best| verdict.merge(best));
            }
        }
        if let Some(ids) = many("allOf") {
            let mut all = true;
            for id in ids {
                let below = self.verdict(*id, value)?;
                if !below.faults.is_empty() {
                    all = false;
                    verdict.merge(below);
                }
            }
            if !all {
                self.found(verdict, "Must validate all the schemas (allOf)")?;
            }
        }
        if let Some(id) = schema.one.get("not")
            && self.verdict(*id, value)?.faults.is_empty()
        {
            self.found(verdict, "Must not validate the schema (not)")?;
        }
        self.dependencies(schema, value, verdict)?;
        if let Some(id) = schema.one.get("if") {
            let holds = self.verdict(*id, value)?.faults.is_empty();
            let (key, words) = if holds {
                ("then", "Must validate \"then\" as \"if\" was valid")
            } else {
                ("else", "Must validate \"else\" as \"if\" was not valid")
            };
            if let Some(id) = schema.one.get(key) {
                let below = self.verdict(*id, value)?;
                if !below.faults.is_empty() {
                    self.found(verdict, words)?;
                    verdict.merge(below);
                }
            }
        }
        verdict.score += 1;
        Ok(())
    }

    fn dependencies(&mut self, schema: &Schema, value: &Node, verdict: &mut Verdict) -> Done {
        let Node::Map(members) = value else { return Ok(()) };
        let asked = schema.dependencies.iter().filter(|(name, _)| members.contains_key(*name));
        for dependency in asked.map(|(_, dependency)| dependency) {
            match dependency {
                Dependency::Schema(id) => self.apply(*id, value, verdict)?,
                Dependency::Names(names) => {
                    for missing in names.iter().filter(|name| !members.contains_key(*name)) {
                        self.found(verdict, &format!("Has a dependency on {missing}"))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// `const` and `enum`.
    fn options(&self, schema: &Schema, value: &Node, verdict: &mut Verdict) -> Done {
        if schema.constant.is_some() || !schema.options.is_empty() {
            self.work(value.weight())?;
            let text = canonical(value);
            if let Some(constant) = schema.constant.as_ref().filter(|constant| **constant != text) {
                self.found(verdict, &format!("{} does not match: {constant}", self.field()))?;
            }
            if !schema.options.is_empty() && !schema.options.contains(&text) {
                let options = schema.options.join(", ");
                self.found(verdict, &format!("{} must be one of the following: {options}", self.field()))?;
            }
        }
        verdict.score += 1;
        Ok(())
    }

    fn array(&mut self, schema: &Schema, items: &[Node], verdict: &mut Verdict) -> Done {
        if let Some(id) = schema.one.get("items") {
            for (index, item) in items.iter().enumerate() {
                let below = self.part(*id, item, &index.to_string())?;
                verdict.merge(below);
            }
        } else if !schema.tuple.is_empty() {
            for (index, (item, id)) in items.iter().zip(&schema.tuple).enumerate() {
                let below = self.part(*id, item, &index.to_string())?;
                verdict.merge(below);
            }
            match schema.additional_items {
                Some(Rest::Allowed(false)) if items.len() > schema.tuple.len() => {
                    self.found(verdict, "No additional items allowed on array")?;
                }
                Some(Rest::Schema(id)) => {
                    for (index, item) in items.iter().enumerate().skip(schema.tuple.len()) {
                        let below = self.part(id, item, &index.to_string())?;
                        verdict.merge(below);
                    }
                }
                _ => {}
            }
        }
        let size = items.len() as i64;
        if let Some(least) = schema.counts.get("minItems").filter(|least| size < **least) {
            self.found(verdict, &format!("Array must have at least {least} items"))?;
        }
        if let Some(most) = schema.counts.get("maxItems").filter(|most| size > **most) {
            self.found(verdict, &format!("Array must have at most {most} items"))?;
        }
        if schema.unique {
            let mut last: BTreeMap<String, usize> = BTreeMap::new();
            for (index, item) in items.iter().enumerate() {
                self.work(item.weight())?;
                if let Some(before) = last.insert(canonical(item), index) {
                    self.found(verdict, &format!("array items[{before},{index}] must be unique"))?;
                }
            }
        }
        if let Some(id) = schema.one.get("contains") {
            self.contains(*id, items, verdict)?;
        }
        verdict.score += 1;
        Ok(())
    }

    fn contains(&mut self, id: Id, items: &[Node], verdict: &mut Verdict) -> Done {
        let mut best: Option<Verdict> = None;
        for (index, item) in items.iter().enumerate() {
            let below = self.part(id, item, &index.to_string())?;
            if below.faults.is_empty() {
                return Ok(());
            }
            if best.as_ref().is_none_or(|best| below.score > best.score) {
                best = Some(below);
            }
        }
        self.found(verdict, "At least one of the items must match")?;
        best.into_iter().for_each(|best| verdict.merge(best));
        Ok(())
    }

    fn object(&mut self, schema: &Schema, members: &Members, verdict: &mut Verdict) -> Done {
        let size = members.len() as i64;
        if let Some(least) = schema.counts.get("minProperties").filter(|least| size < **least) {
            self.found(verdict, &format!("Must have at least {least} properties"))?;
        }
        if let Some(most) = schema.counts.get("maxProperties").filter(|most| size > **most) {
            self.found(verdict, &format!("Must have at most {most} properties"))?;
        }
        for name in &schema.required {
            if members.contains_key(name) {
                verdict.score += 1;
            } else {
                self.found(verdict, &format!("{name} is required"))?;
            }
        }
        for (name, part) in members {
            self.member(schema, name, part, verdict)?;
        }
        if let Some(id) = schema.one.get("propertyNames") {
            for name in members.keys() {
                let below = self.verdict(*id, &Node::Text(name.as_str().into()))?;
                if !below.faults.is_empty() {
                    self.found(verdict, &format!("Property name of \"{name}\" does not match"))?;
                    verdict.merge(below);
                }
            }
        }
        verdict.score += 1;
        Ok(())
    }

    /// What patterns, or the rest, say about a member.
    fn member(&mut self, schema: &Schema, name: &str, part: &Node, verdict: &mut Verdict) -> Done {
        self.work(1)?;
        let mut matched = false;
        for (pattern, id) in &schema.patterns {
            self.work(1)?;
            if re2::compile(pattern.as_bytes()).is_ok_and(|regex| regex.is_match(name.as_bytes())) {
                matched = true;
                let below = self.part(*id, part, name)?;
                verdict.merge(below);
            }
        }
        verdict.score += i64::from(matched);
        if matched || schema.properties.contains_key(name) {
            return Ok(());
        }
        match schema.additional_properties {
            Some(Rest::Allowed(false)) => self.found(verdict, &format!("Additional property {name} is not allowed")),
            Some(Rest::Schema(id)) => {
                let below = self.part(id, part, name)?;
                verdict.merge(below);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn text(&self, schema: &Schema, text: &str, verdict: &mut Verdict) -> Done {
        let length = text.chars().count() as i64;
        if let Some(least) = schema.counts.get("minLength").filter(|least| length < **least) {
            self.found(verdict, &format!("String length must be greater than or equal to {least}"))?;
        }
        if let Some(most) = schema.counts.get("maxLength").filter(|most| length > **most) {
            self.found(verdict, &format!("String length must be less than or equal to {most}"))?;
        }
        if let Some(pattern) = &schema.pattern
            && !re2::compile(pattern.as_bytes()).is_ok_and(|regex| regex.is_match(text.as_bytes()))
        {
            self.found(verdict, &format!("Does not match pattern '{pattern}'"))?;
        }
        self.format(schema, Some(text), verdict)?;
        verdict.score += 1;
        Ok(())
    }

    fn format(&self, schema: &Schema, text: Option<&str>, verdict: &mut Verdict) -> Done {
        match &schema.format {
            Some(format) if !format::fits(format, text) => {
                self.found(verdict, &format!("Does not match format '{format}'"))
            }
            _ => Ok(()),
        }
    }

    fn number(&self, schema: &Schema, number: &Number, verdict: &mut Verdict) -> Done {
        if let Some(factor) = schema.numbers.get("multipleOf").filter(|factor| !number.is_multiple_of(factor)) {
            self.found(verdict, &format!("Must be a multiple of {}", amount(factor)))?;
        }
        let bounds = [
            ("maximum", Ordering::Greater, false, "less than or equal to"),
            ("exclusiveMaximum", Ordering::Greater, true, "less than"),
            ("minimum", Ordering::Less, false, "greater than or equal to"),
            ("exclusiveMinimum", Ordering::Less, true, "greater than"),
        ];
        for (key, refused, strict, words) in bounds {
            let Some(bound) = schema.numbers.get(key) else { continue };
            let order = number.compare(bound);
            if order == refused || strict && order.is_eq() {
                self.found(verdict, &format!("Must be {words} {}", amount(bound)))?;
            }
        }
        self.format(schema, None, verdict)?;
        verdict.score += 1;
        Ok(())
    }
}

fn type_of(value: &Node) -> &'static str {
    match value {
        Node::Null => "null",
        Node::Bool(_) => "boolean",
        Node::Number(number) if number.is_integer() => "integer",
        Node::Number(_) => "number",
        Node::Text(_) => "string",
        Node::List(_) => "array",
        Node::Map(_) => "object",
    }
}
