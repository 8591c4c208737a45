//! Keywords about objects, arrays, strings and numbers.

use std::cmp::Ordering;

use super::check::{Checker, Frame, missing};
use super::draft::Draft;
use super::report::{Fault, all_quoted, amount, count, quoted};
use crate::chart::schema::Refusal;
use crate::chart::schema::node::{Members, Node};
use crate::chart::schema::number::Number;
use crate::funcs::re2;

impl Checker<'_> {
    fn found(&self, frame: &mut Frame<'_>, words: String) -> Result<(), Refusal> {
        frame.faults.push(self.fault(words, Vec::new())?);
        Ok(())
    }

    /// A count against the keyword for the least or the most.
    fn counted(&self, frame: &mut Frame<'_>, keyword: &str, got: usize, refused: Ordering) -> Result<(), Refusal> {
        let Some(wanted) = frame.schema.keys.get(keyword).and_then(Node::as_number) else { return Ok(()) };
        let got = got as i64;
        if Number::new(&got.to_string()).compare(wanted) == refused {
            let wanted = wanted.integer().unwrap_or(i64::MAX);
            self.found(frame, format!("{keyword}: got {}, want {}", count(got), count(wanted)))?;
        }
        Ok(())
    }

    pub(super) fn object(&mut self, frame: &mut Frame<'_>, members: &Members, value: &Node) -> Result<(), Refusal> {
        let schema = frame.schema;
        self.counted(frame, "minProperties", members.len(), Ordering::Less)?;
        self.counted(frame, "maxProperties", members.len(), Ordering::Greater)?;
        if let Some(Node::List(names)) = schema.keys.get("required") {
            match missing(names, members)[..] {
                [] => {}
                [name] => self.found(frame, format!("missing property {}", quoted(name)))?,
                ref names => self.found(frame, format!("missing properties {}", all_quoted(names.iter().copied())))?,
            }
        }
        self.dependencies(frame, "dependencies", "dependencies", members, value)?;
        self.properties(frame, members)?;
        if let Some(id) = schema.one.get("propertyNames") {
            for name in members.keys() {
                if let Some(causes) = self.name(frame, *id, name)? {
                    let fault = self.fault(format!("invalid propertyName {}", quoted(name)), causes)?;
                    let at = if self.places { fault.at } else { String::new() };
                    frame.faults.push(Fault { at, ..fault });
                }
            }
        }
        if schema.draft >= Draft::D2019 {
            self.dependencies(frame, "dependentRequired", "dependentSchemas", members, value)?;
        }
        Ok(())
    }

    fn dependencies(
        &mut self,
        frame: &mut Frame<'_>,
        lists: &str,
        schemas: &str,
        members: &Members,
        value: &Node,
    ) -> Result<(), Refusal> {
        let schema = frame.schema;
        for (name, wanted) in schema.keys.get(lists).and_then(Node::as_map).into_iter().flat_map(|map| map.iter()) {
            let Some(wanted) = wanted.as_list().filter(|_| members.contains_key(name)) else { continue };
            let missing = missing(wanted, members);
            if !missing.is_empty() {
                self.found(frame, format!("properties {} required, if {} exists", all_quoted(missing), quoted(name)))?;
            }
        }
        for (name, id) in schema.named.get(schemas).into_iter().flatten() {
            if members.contains_key(name) {
                let fault = self.same(frame, *id, value, false)?;
                frame.faults.extend(fault);
            }
        }
        Ok(())
    }

    fn properties(&mut self, frame: &mut Frame<'_>, members: &Members) -> Result<(), Refusal> {
        let schema = frame.schema;
        let additional = schema.one.get("additionalProperties");
        let refused = schema.keys.get("additionalProperties").and_then(Node::as_bool) == Some(false);
        let mut unknown = Vec::new();
        for (name, part) in members {
            self.work(1)?;
            let own = schema.named.get("properties").and_then(|named| named.get(name)).copied();
            let mut ids: Vec<_> = own.into_iter().collect();
            for (pattern, id) in schema.named.get("patternProperties").into_iter().flatten() {
                self.work(1)?;
                if re2::compile(pattern.as_bytes()).is_ok_and(|regex| regex.is_match(name.as_bytes())) {
                    ids.push(*id);
                }
            }
            if ids.is_empty() {
                match additional {
                    None => continue,
                    Some(_) if refused => unknown.push(name.as_str()),
                    Some(id) => ids.push(*id),
                }
            }
            frame.opened(name);
            for id in ids {
                let fault = self.part(frame, id, part, name)?;
                frame.faults.extend(fault);
            }
        }
        if !unknown.is_empty() {
            self.found(frame, format!("additional properties {} not allowed", all_quoted(unknown)))?;
        }
        Ok(())
    }

    pub(super) fn array(&mut self, frame: &mut Frame<'_>, items: &[Node]) -> Result<(), Refusal> {
        self.counted(frame, "minItems", items.len(), Ordering::Less)?;
        self.counted(frame, "maxItems", items.len(), Ordering::Greater)?;
        if frame.schema.keys.get("uniqueItems").and_then(Node::as_bool) == Some(true)
            && let Some((first, second)) = self.twins(items)?
        {
            self.found(frame, format!("items at {first} and {second} are equal"))?;
        }
        self.items(frame, items)?;
        self.contains(frame, items)
    }

    /// The first two items that are equal.
    fn twins(&self, items: &[Node]) -> Result<Option<(usize, usize)>, Refusal> {
        for (second, item) in items.iter().enumerate() {
            self.work(item.weight() * second as u64)?;
            if let Some(first) = items.iter().take(second).position(|other| other == item) {
                return Ok(Some((first, second)));
            }
        }
        Ok(None)
    }

    fn items(&mut self, frame: &mut Frame<'_>, items: &[Node]) -> Result<(), Refusal> {
        let schema = frame.schema;
        let (tuple, rest) =
            if schema.draft < Draft::D2020 { ("items", "additionalItems") } else { ("prefixItems", "items") };
        let ids = schema.many.get(tuple).map_or(&[][..], Vec::as_slice);
        for (index, (item, id)) in items.iter().zip(ids).enumerate() {
            let fault = self.part(frame, *id, item, &index.to_string())?;
            frame.faults.extend(fault);
        }
        let one = (schema.draft < Draft::D2020).then(|| schema.one.get("items")).flatten();
        // Only `additionalItems` beside a list counts.
        let listed = schema.draft >= Draft::D2020 || schema.many.contains_key(tuple);
        let more = schema.one.get(rest).filter(|_| listed);
        let behind = items.get(ids.len().min(items.len())..).unwrap_or_default();
        if schema.draft < Draft::D2020 && more.is_some() && schema.keys.get(rest).and_then(Node::as_bool) == Some(false)
        {
            if !behind.is_empty() {
                self.found(frame, format!("last {} additionalItem(s) not allowed", count(behind.len() as i64)))?;
            }
            return Ok(());
        }
        // Older validators tell items behind a list as if they stood at its start.
        let first = if self.places { items.len() - behind.len() } else { 0 };
        for id in one.into_iter().chain(more) {
            for (index, item) in behind.iter().enumerate() {
                let fault = self.part(frame, *id, item, &(first + index).to_string())?;
                frame.faults.extend(fault);
            }
        }
        Ok(())
    }

    fn contains(&mut self, frame: &mut Frame<'_>, items: &[Node]) -> Result<(), Refusal> {
        let schema = frame.schema;
        let Some(id) = schema.one.get("contains") else { return Ok(()) };
        let (mut faults, mut matched) = (Vec::new(), Vec::new());
        for (index, item) in items.iter().enumerate() {
            match self.part(frame, *id, item, &index.to_string())? {
                Some(fault) => faults.push(fault),
                None => {
                    matched.push(index.to_string());
                    if schema.draft >= Draft::D2020 {
                        frame.opened_item(index);
                    }
                }
            }
        }
        let bound = |keyword: &str| {
            schema.keys.get(keyword).filter(|_| schema.draft >= Draft::D2019).and_then(|n| n.as_number()?.integer())
        };
        let (got, places) = (matched.len() as i64, matched.join(" "));
        if let Some(most) = bound("maxContains").filter(|most| got > *most) {
            let most = count(most);
            let words =
                format!("max {most} items required to match contains schema, but matched {got} items at {places}");
            self.found(frame, words)?;
        }
        let words = match bound("minContains") {
            Some(least) if got >= least => return Ok(()),
            Some(least) if got == 0 => {
                format!("min {} items required to match contains schema, but none matched", count(least))
            }
            Some(least) => {
                let least = count(least);
                format!("min {least} items required to match contains schema, but matched {got} items at {places}")
            }
            None if got > 0 => return Ok(()),
            None => "no items match contains schema".to_owned(),
        };
        frame.faults.push(self.fault(words, faults)?);
        Ok(())
    }

    pub(super) fn text(&self, frame: &mut Frame<'_>, text: &str) -> Result<(), Refusal> {
        let length = text.chars().count();
        self.counted(frame, "minLength", length, Ordering::Less)?;
        self.counted(frame, "maxLength", length, Ordering::Greater)?;
        if let Some(pattern) = frame.schema.keys.get("pattern").and_then(Node::as_text)
            && !re2::compile(pattern.as_bytes()).is_ok_and(|regex| regex.is_match(text.as_bytes()))
        {
            self.found(frame, format!("{} does not match pattern {}", quoted(text), quoted(pattern)))?;
        }
        Ok(())
    }

    pub(super) fn number(&self, frame: &mut Frame<'_>, got: &Number) -> Result<(), Refusal> {
        let keys = frame.schema.keys.clone();
        let mut bound = |limit: &str, exclusive: &str, refused: Ordering| -> Result<(), Refusal> {
            // In draft-04 the exclusive keyword turns the other one.
            let turned = keys.get(exclusive).and_then(Node::as_bool) == Some(true);
            let strict = keys.get(if turned { limit } else { exclusive }).and_then(Node::as_number);
            let loose = keys.get(limit).and_then(Node::as_number).filter(|_| !turned);
            if let Some(want) = loose.filter(|want| got.compare(want) == refused) {
                self.found(frame, format!("{limit}: got {}, want {}", amount(got), amount(want)))?;
            }
            if let Some(want) = strict.filter(|want| matches!(got.compare(want), o if o == refused || o.is_eq())) {
                self.found(frame, format!("{exclusive}: got {}, want {}", amount(got), amount(want)))?;
            }
            Ok(())
        };
        bound("minimum", "exclusiveMinimum", Ordering::Less)?;
        bound("maximum", "exclusiveMaximum", Ordering::Greater)?;
        if let Some(factor) = keys.get("multipleOf").and_then(Node::as_number).filter(|f| !got.is_multiple_of(f)) {
            self.found(frame, format!("multipleOf: got {}, want {}", amount(got), amount(factor)))?;
        }
        Ok(())
    }
}
