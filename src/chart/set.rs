//! Helm's `--set` syntax: `a.b[0]=x,c={1,2}`.
//!
//! Values go into a tree of maps and lists; what is written last wins.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::value::{List, ListType, Map, MapType, Repr, Text, Value};

/// Most names on one path (Helm's own limit).
const MAX_NAMES: usize = 30;
/// Largest list index (Helm's own limit).
const MAX_INDEX: usize = 65_536;

/// How values behind `=` are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// `--set`: booleans, null and integers are recognized.
    Typed,
    /// `--set-string`: everything is text.
    Text,
    /// `--set-literal`: everything behind `=` is text, whatever is in it.
    Literal,
}

/// Parses assignments into `into`. `value` turns a raw text into a value (for `--set-file`, the file's content).
///
/// # Errors
/// Helm's text, without what the command line puts in front.
pub fn parse(
    text: &str,
    mode: Mode,
    into: &Map,
    value: &mut dyn FnMut(&str) -> Result<Value, String>,
) -> Result<(), String> {
    let mut parser = Parser { rest: text.chars().collect(), at: 0, mode, value };
    loop {
        match parser.key(into, 0)? {
            More::Yes => {}
            More::No | More::End => return Ok(()),
        }
    }
}

/// A scalar as `--set` reads it.
pub fn typed(text: &str) -> Value {
    match text {
        _ if text.eq_ignore_ascii_case("true") => Value::bool(true),
        _ if text.eq_ignore_ascii_case("false") => Value::bool(false),
        _ if text.eq_ignore_ascii_case("null") => Value::NIL,
        "0" => Value::int64(0),
        _ if !text.starts_with('0') => text.parse::<i64>().map_or_else(|_| Value::text(text), Value::int64),
        _ => Value::text(text),
    }
}

#[derive(PartialEq, Eq)]
enum More {
    Yes,
    No,
    /// The text ended where a name or an index was to come: what was begun is dropped.
    End,
}

struct Parser<'v> {
    rest: Vec<char>,
    at: usize,
    mode: Mode,
    value: &'v mut dyn FnMut(&str) -> Result<Value, String>,
}

impl Parser<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.get(self.at).copied();
        self.at += usize::from(c.is_some());
        c
    }

    /// Reads up to one of `stops`; a backslash makes the next character ordinary.
    fn until(&mut self, stops: &[char]) -> (String, Option<char>) {
        let mut out = String::new();
        while let Some(c) = self.next() {
            match c {
                c if stops.contains(&c) => return (out, Some(c)),
                '\\' if self.mode != Mode::Literal || !stops.is_empty() => match self.next() {
                    Some(c) => out.push(c),
                    None => return (out, None),
                },
                c => out.push(c),
            }
        }
        (out, None)
    }

    fn key(&mut self, map: &Map, depth: usize) -> Result<More, String> {
        if depth > MAX_NAMES {
            return Err(format!(
                "value name nested level is greater than maximum supported nested level of {MAX_NAMES}"
            ));
        }
        let stops: &[char] = if self.mode == Mode::Literal { &['=', '[', '.'] } else { &['=', '[', ',', '.'] };
        let (name, stop) = self.until(stops);
        match stop {
            None if name.is_empty() => Ok(More::End),
            None => Err(format!("key {name:?} has no value")),
            Some('[') => {
                let Some(index) = self.index()? else { return Ok(More::End) };
                let old = map.get(name.as_bytes());
                let list = match old.as_ref().map(Value::repr) {
                    None => Vec::new(),
                    Some(Repr::List(list)) => list.items.clone(),
                    Some(_) => return Err(conversion(old.as_ref(), "[]interface {}")),
                };
                let (list, more) = self.item(list, index, depth)?;
                set(map, &name, list);
                Ok(more)
            }
            Some('=') => {
                let ends = self.at >= self.rest.len();
                let (value, more) = self.assigned()?;
                let more = if ends { More::End } else { more };
                if name.is_empty() && self.mode != Mode::Literal {
                    return Ok(more);
                }
                map.insert(name.as_str(), value);
                Ok(more)
            }
            Some(',') => {
                map.insert(name.as_str(), Value::text(""));
                Err(format!("key {name:?} has no value (cannot end with ,)"))
            }
            Some(_) => {
                let old = map.get(name.as_bytes());
                let inner = match old.as_ref().map(Value::repr) {
                    None => Map::new(BTreeMap::new(), MapType::Any),
                    Some(Repr::Map(inner)) => inner.clone(),
                    Some(_) => return Err(conversion(old.as_ref(), "map[string]interface {}")),
                };
                let more = self.key(&inner, depth + 1)?;
                if inner.is_empty() && more != More::End {
                    return Err(format!("key map {name:?} has no value"));
                }
                if !inner.is_empty() && !name.is_empty() {
                    map.insert(name.as_str(), Value::new(Repr::Map(inner)));
                }
                Ok(more)
            }
        }
    }

    /// The index behind `[`; none if the text ends in it.
    fn index(&mut self) -> Result<Option<usize>, String> {
        let (text, stop) = self.until(&[']']);
        if stop.is_none() {
            return Ok(None);
        }
        let index: i64 =
            text.parse().map_err(|_| format!("error parsing index: strconv.Atoi: parsing {text:?}: invalid syntax"))?;
        match usize::try_from(index) {
            Err(_) => Err(format!("error parsing index: negative {index} index not allowed")),
            Ok(index) if index > MAX_INDEX => Err(format!(
                "error parsing index: index of {index} is greater than maximum supported index of {MAX_INDEX}"
            )),
            Ok(index) => Ok(Some(index)),
        }
    }

    /// What follows an index: `=value`, `[index]`, `.key`.
    fn item(&mut self, mut list: Vec<Value>, index: usize, depth: usize) -> Result<(Vec<Value>, More), String> {
        if depth > MAX_NAMES {
            return Err(format!(
                "value name nested level is greater than maximum supported nested level of {MAX_NAMES}"
            ));
        }
        let (before, stop) = self.until(&['=', '[', '.']);
        if !before.is_empty() {
            return Err(format!("unexpected data at end of array index: {before:?}"));
        }
        let old = list.get(index).cloned();
        let (value, more) = match stop {
            None => return Ok((list, More::No)),
            Some('=') => self.assigned()?,
            Some('[') => {
                let Some(next) = self.index()? else { return Ok((list, More::End)) };
                let inner = match old.as_ref().map(Value::repr) {
                    None | Some(Repr::Nil) => Vec::new(),
                    Some(Repr::List(list)) => list.items.clone(),
                    Some(_) => return Err(conversion(old.as_ref(), "[]interface {}")),
                };
                let (inner, more) = self.item(inner, next, depth + 1)?;
                (Value::list(inner), more)
            }
            Some(_) => {
                let inner = match old.as_ref().map(Value::repr) {
                    Some(Repr::Map(inner)) => inner.clone(),
                    _ => Map::new(BTreeMap::new(), MapType::Any),
                };
                let more = self.key(&inner, depth + 1)?;
                (Value::new(Repr::Map(inner)), more)
            }
        };
        if list.len() <= index {
            list.resize(index + 1, Value::NIL);
        }
        list[index] = value;
        Ok((list, more))
    }

    /// The value behind `=`.
    fn assigned(&mut self) -> Result<(Value, More), String> {
        if self.mode == Mode::Literal {
            let text: String = self.rest[self.at.min(self.rest.len())..].iter().collect();
            self.at = self.rest.len();
            return Ok((Value::text(text), More::No));
        }
        match self.rest.get(self.at) {
            Some('{') => {
                self.at += 1;
                let list = self.list()?;
                match self.next() {
                    None => Ok((list, More::No)),
                    Some(',') => Ok((list, More::Yes)),
                    Some(_) => {
                        self.at -= 1;
                        Ok((list, More::Yes))
                    }
                }
            }
            _ => {
                let (text, stop) = self.until(&[',']);
                let value = self.scalar(&text)?;
                Ok((value, if stop.is_some() { More::Yes } else { More::No }))
            }
        }
    }

    fn scalar(&mut self, text: &str) -> Result<Value, String> {
        (self.value)(text)
    }

    fn list(&mut self) -> Result<Value, String> {
        let mut items = Vec::new();
        loop {
            let (text, stop) = self.until(&[',', '}']);
            match stop {
                None => return Err("list must terminate with '}'".into()),
                Some('}') => {
                    let item = self.scalar(&text)?;
                    items.push(item);
                    return Ok(Value::new(Repr::List(Rc::new(List { items, ty: ListType::Any }))));
                }
                Some(_) => {
                    let item = self.scalar(&text)?;
                    items.push(item);
                }
            }
        }
    }
}

fn set(map: &Map, name: &str, list: Vec<Value>) {
    if !name.is_empty() {
        map.insert(Text::from(name), Value::list(list));
    }
}

fn conversion(found: Option<&Value>, wanted: &str) -> String {
    let ty = match found.map(Value::repr) {
        Some(Repr::Map(_)) => "map[string]interface {}",
        Some(Repr::List(_)) => "[]interface {}",
        Some(Repr::Bool(_)) => "bool",
        Some(Repr::Str(_)) => "string",
        Some(Repr::Int(..)) => "int64",
        Some(Repr::Float(_)) => "float64",
        _ => "nil",
    };
    format!("interface conversion: interface {{}} is {ty}, not {wanted}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_all(texts: &[&str], mode: Mode) -> Result<String, String> {
        let map = Map::new(BTreeMap::new(), MapType::Any);
        for text in texts {
            let mut value = |raw: &str| Ok(if mode == Mode::Typed { typed(raw) } else { Value::text(raw) });
            parse(text, mode, &map, &mut value)?;
        }
        Ok(serde_json::Value::Object(super::super::values::to_json(&map)).to_string())
    }

    #[test]
    fn assignments_build_trees() {
        let cases = [
            ("a=1,b=x", r#"{"a":1,"b":"x"}"#),
            ("a.b.c=true", r#"{"a":{"b":{"c":true}}}"#),
            ("l[1]=x", r#"{"l":[null,"x"]}"#),
            ("l={a,2,null}", r#"{"l":["a",2,null]}"#),
            ("l[0].k=v,l[0].m=w", r#"{"l":[{"k":"v","m":"w"}]}"#),
            (r"a\.b=x\,y", r#"{"a.b":"x,y"}"#),
            ("a=1.5,b=00009,c=+5", r#"{"a":"1.5","b":"00009","c":5}"#),
            ("a=b=c", r#"{"a":"b=c"}"#),
        ];
        for (text, want) in cases {
            assert_eq!(set_all(&[text], Mode::Typed).unwrap(), want, "{text}");
        }
        assert_eq!(set_all(&["a=1,b=true"], Mode::Text).unwrap(), r#"{"a":"1","b":"true"}"#);
    }

    #[test]
    fn what_has_no_value_is_an_error() {
        assert_eq!(set_all(&["a"], Mode::Typed).unwrap_err(), r#"key "a" has no value"#);
        assert_eq!(set_all(&["a.=x"], Mode::Typed).unwrap_err(), r#"key map "a" has no value"#);
        assert!(set_all(&["a=x", "a.b=c"], Mode::Typed).unwrap_err().contains("is string, not map"));
    }
}
