//! Helm's `--set` syntax: `a.b[0]=x,c={1,2}`.
//!
//! Values go into a tree of maps and lists; what is written last wins.

use std::collections::BTreeMap;

use crate::base::version::{HelmVersion, Quirk};
use crate::codec::{goquote, json};
use crate::value::{Map, MapType, Repr, Text, Value};

/// Most dots on one path (Helm's own limit).
const MAX_NAMES: usize = 30;
/// Most indices in a row; Helm has no limit.
const MAX_INDICES: usize = 1000;
/// Largest list index (Helm's own limit).
const MAX_INDEX: i64 = 65_536;

/// How values behind `=` are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// `--set`, `--set-string`, `--set-file`: lists in braces, commas between assignments.
    Plain,
    /// `--set-literal`: everything behind `=` is text, whatever is in it.
    Literal,
    /// `--set-json`: a JSON value.
    Json,
}

/// Parses assignments into `into`. `value` turns a raw text into a value (for `--set-file`, the file's content).
///
/// # Errors
/// Helm's text, without what the command line puts in front.
pub fn parse(
    text: &str,
    mode: Mode,
    helm: HelmVersion,
    into: &Map,
    value: &mut dyn FnMut(&str) -> Result<Value, String>,
) -> Result<(), String> {
    let mut parser = Parser { rest: text.chars().collect(), at: 0, mode, helm, value };
    loop {
        match parser.key(into, 0) {
            Ok(()) => {}
            Err(Stop::End) => return Ok(()),
            Err(Stop::Error(text)) => return Err(text),
        }
    }
}

/// The raw texts that the assignments ask `value` for: with `--set-file`, the files to read.
pub fn raw_values(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let scratch = Map::new(BTreeMap::new(), MapType::Any);
    // What cannot be parsed has no values to ask for, in any version.
    let helm = HelmVersion::cli(3, 17, 3);
    let _ = parse(text, Mode::Plain, helm, &scratch, &mut |raw| {
        found.push(raw.to_owned());
        Ok(Value::text(""))
    });
    found
}

/// A scalar as `--set` reads it.
pub fn typed(text: &str) -> Value {
    let is = |word: &str| text.replace('\u{17f}', "s").eq_ignore_ascii_case(word);
    match text {
        _ if is("true") => Value::bool(true),
        _ if is("false") => Value::bool(false),
        _ if is("null") => Value::NIL,
        "0" => Value::int64(0),
        _ if !text.starts_with('0') => text.parse::<i64>().map_or_else(|_| Value::text(text), Value::int64),
        _ => Value::text(text),
    }
}

/// Why an assignment is not followed by another.
enum Stop {
    /// The text is over. What was set in lists on the way may be lost, as in Helm.
    End,
    /// Helm's text.
    Error(String),
}

type Step<T = ()> = Result<T, Stop>;

fn fail<T>(text: impl Into<String>) -> Step<T> {
    Err(Stop::Error(text.into()))
}

struct Parser<'v> {
    rest: Vec<char>,
    at: usize,
    mode: Mode,
    helm: HelmVersion,
    value: &'v mut dyn FnMut(&str) -> Result<Value, String>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += usize::from(c.is_some());
        c
    }

    /// Reads up to one of `stops`; but for literals, a backslash makes the next character ordinary.
    fn until(&mut self, stops: &[char]) -> (String, Option<char>) {
        let mut out = String::new();
        while let Some(c) = self.next() {
            match c {
                c if stops.contains(&c) => return (out, Some(c)),
                '\\' if self.mode != Mode::Literal => match self.next() {
                    Some(c) => out.push(c),
                    None => return (out, None),
                },
                c => out.push(c),
            }
        }
        (out, None)
    }

    /// One assignment, or the rest of it behind a dot.
    fn key(&mut self, map: &Map, depth: usize) -> Step {
        let stops: &[char] = if self.mode == Mode::Literal { &['=', '[', '.'] } else { &['=', '[', ',', '.'] };
        let (name, stop) = self.until(stops);
        match stop {
            None if name.is_empty() => Err(Stop::End),
            None => fail(format!("key {name:?} has no value")),
            Some('[') => self.indexed(map, &name, depth),
            Some('=') => {
                let (value, then) = self.assigned()?;
                set(map, &name, value);
                then
            }
            Some(',') => fail(format!("key {name:?} has no value (cannot end with ,)")),
            Some(_) => self.below(map, &name, depth + 1),
        }
    }

    /// What follows `name[`.
    fn indexed(&mut self, map: &Map, name: &str, depth: usize) -> Step {
        let index = self.index()?;
        let mut list = match map.get(name.as_bytes()) {
            None => Vec::new(),
            Some(old) => list_of(&old)?,
        };
        let then = self.item(&mut list, index, depth, 0);
        set(map, name, Value::list(list));
        then
    }

    /// What follows `name.`
    fn below(&mut self, map: &Map, name: &str, depth: usize) -> Step {
        if depth > MAX_NAMES {
            return fail(format!(
                "value name nested level is greater than maximum supported nested level of {MAX_NAMES}"
            ));
        }
        let old = map.get(name.as_bytes());
        let inner = match old.as_ref().map(Value::repr) {
            None => Map::new(BTreeMap::new(), MapType::Any),
            Some(Repr::Map(inner)) => inner.clone(),
            Some(_) => return fail(conversion(old.as_ref(), "map[string]interface {}")),
        };
        let then = self.key(&inner, depth);
        if inner.is_empty() && then.is_ok() {
            return fail(format!("key map {name:?} has no value"));
        }
        if !inner.is_empty() {
            set(map, name, Value::new(Repr::Map(inner)));
        }
        then
    }

    /// The index behind `[`.
    fn index(&mut self) -> Step<i64> {
        let (text, stop) = self.until(&[']']);
        if stop.is_none() {
            let ends = self.helm.has(Quirk::CutIndexEnds);
            return if ends { Err(Stop::End) } else { fail("error parsing index: EOF") };
        }
        text.parse().or_else(|error: std::num::ParseIntError| {
            use std::num::IntErrorKind::{NegOverflow, PosOverflow};
            let what = match error.kind() {
                PosOverflow | NegOverflow => "value out of range",
                _ => "invalid syntax",
            };
            fail(format!("error parsing index: strconv.Atoi: parsing {}: {what}", goquote::quote(text.as_bytes())))
        })
    }

    /// What follows an index: `=value`, `[index]`, `.key`.
    fn item(&mut self, list: &mut Vec<Value>, index: i64, depth: usize, indices: usize) -> Step {
        if index < 0 {
            return fail(format!("negative {index} index not allowed"));
        }
        if indices > MAX_INDICES {
            return fail(format!("more than {MAX_INDICES} indices in a row"));
        }
        let (before, stop) = self.until(&['=', '[', '.']);
        if !before.is_empty() {
            let shown: Vec<String> = before.chars().map(goquote::quote_char).collect();
            return fail(format!("unexpected data at end of array index: [{}]", shown.join(" ")));
        }
        let place = usize::try_from(index).unwrap_or(usize::MAX);
        match stop {
            None => Err(Stop::End),
            Some('=') => {
                // That the text ends here is found out by whoever reads on.
                let (value, _) = self.assigned()?;
                put(list, index, value)
            }
            Some('[') => {
                let next = self.index()?;
                let mut inner = match list.get(place) {
                    None => Vec::new(),
                    Some(old) if old.is_nil() => Vec::new(),
                    Some(old) => list_of(old)?,
                };
                self.item(&mut inner, next, depth, indices + 1)?;
                put(list, index, Value::list(inner))
            }
            Some(_) => {
                let inner = match list.get(place).map(Value::repr) {
                    Some(Repr::Map(inner)) => inner.clone(),
                    _ => Map::new(BTreeMap::new(), MapType::Any),
                };
                if let Some(old) = list.get_mut(place) {
                    *old = Value::new(Repr::Map(inner.clone()));
                }
                self.key(&inner, depth)?;
                put(list, index, Value::new(Repr::Map(inner)))
            }
        }
    }

    /// The value behind `=`, and how the text goes on.
    fn assigned(&mut self) -> Step<(Value, Step)> {
        let mode = self.mode;
        match mode {
            Mode::Json if self.nothing() => Ok((Value::NIL, Ok(()))),
            Mode::Literal => {
                let text: String = self.rest.get(self.at..).unwrap_or_default().iter().collect();
                self.at = self.rest.len();
                Ok((Value::text(text), Ok(())))
            }
            Mode::Json => {
                let text: String = self.rest.get(self.at..).unwrap_or_default().iter().collect();
                let (value, length) = json::parse_prefix(text.as_bytes()).map_err(Stop::Error)?;
                self.at += text.get(..length).unwrap_or_default().chars().count();
                self.nothing();
                Ok((value, Ok(())))
            }
            Mode::Plain if self.peek().is_none() => Ok((Value::text(""), Err(Stop::End))),
            Mode::Plain if self.peek() == Some('{') => {
                self.at += 1;
                Ok((self.list()?, Ok(())))
            }
            Mode::Plain => {
                let (text, _) = self.until(&[',']);
                Ok((self.scalar(&text)?, Ok(())))
            }
        }
    }

    /// Skips blanks; whether there is nothing but them before the next comma, which is skipped too.
    fn nothing(&mut self) -> bool {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
        matches!(self.peek(), None | Some(',')) && {
            self.next();
            true
        }
    }

    fn scalar(&mut self, text: &str) -> Step<Value> {
        (self.value)(text).map_err(Stop::Error)
    }

    /// The items behind `{`, and a comma behind the closing brace.
    fn list(&mut self) -> Step<Value> {
        let mut items = Vec::new();
        loop {
            let (text, stop) = self.until(&[',', '}']);
            if stop.is_none() {
                return fail("list must terminate with '}'");
            }
            if stop == Some('}') && self.peek() == Some(',') {
                self.at += 1;
            }
            items.push(self.scalar(&text)?);
            if stop == Some('}') {
                return Ok(Value::list(items));
            }
        }
    }
}

/// Names that are empty are dropped.
fn set(map: &Map, name: &str, value: Value) {
    if !name.is_empty() {
        map.insert(Text::from(name), value);
    }
}

/// Puts an item into a list, which grows up to it.
fn put(list: &mut Vec<Value>, index: i64, value: Value) -> Step {
    if index > MAX_INDEX {
        return fail(format!("index of {index} is greater than maximum supported index of {MAX_INDEX}"));
    }
    let index = usize::try_from(index).unwrap_or_default();
    if list.len() <= index {
        list.resize(index + 1, Value::NIL);
    }
    list[index] = value;
    Ok(())
}

fn list_of(value: &Value) -> Step<Vec<Value>> {
    match value.repr() {
        Repr::List(list) => Ok(list.items.to_vec()),
        _ => fail(conversion(Some(value), "[]interface {}")),
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
    format!("unable to parse key: interface conversion: interface {{}} is {ty}, not {wanted}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_all(texts: &[&str], mode: Mode) -> Result<String, String> {
        let map = Map::new(BTreeMap::new(), MapType::Any);
        for text in texts {
            parse(text, mode, HelmVersion::cli(3, 17, 3), &map, &mut |raw| Ok(typed(raw)))?;
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
            assert_eq!(set_all(&[text], Mode::Plain).unwrap(), want, "{text}");
        }
        assert_eq!(set_all(&[r"a=1,b=true\"], Mode::Literal).unwrap(), r#"{"a":"1,b=true\\"}"#);
        let json = set_all(&[r#"a={"x":[1]} ,b=,c= 2"#], Mode::Json).unwrap();
        assert_eq!(json, r#"{"a":{"x":[1.0]},"b":null,"c":2.0}"#);
    }

    #[test]
    fn what_has_no_value_is_an_error() {
        assert_eq!(set_all(&["a"], Mode::Plain).unwrap_err(), r#"key "a" has no value"#);
        assert_eq!(set_all(&["a.=x"], Mode::Plain).unwrap_err(), r#"key map "a" has no value"#);
        assert!(set_all(&["a=x", "a.b=c"], Mode::Plain).unwrap_err().contains("is string, not map"));
        assert_eq!(set_all(&["a["], Mode::Plain).unwrap_err(), "error parsing index: EOF");
        let four = Map::new(BTreeMap::new(), MapType::Any);
        parse("a=1,c[0].d[", Mode::Plain, HelmVersion::cli(4, 2, 2), &four, &mut |raw| Ok(typed(raw))).unwrap();
        assert_eq!(serde_json::Value::Object(super::super::values::to_json(&four)).to_string(), r#"{"a":1,"c":[]}"#);
        assert_eq!(set_all(&["a[0]x='"], Mode::Plain).unwrap_err(), "unexpected data at end of array index: ['x']");
        assert_eq!(set_all(&["a[65537]"], Mode::Plain).unwrap(), r#"{"a":[]}"#);
        assert!(set_all(&["a[65537]=1"], Mode::Plain).unwrap_err().starts_with("index of 65537 is greater"));
    }

    #[test]
    fn paths_have_limits() {
        assert!(set_all(&[&format!("{}a=1", "a.".repeat(31))], Mode::Plain).unwrap_err().contains("level of 30"));
        assert!(set_all(&[&format!("{}a=1", "a.".repeat(30))], Mode::Plain).is_ok());
        assert!(set_all(&[&format!("a{}=1", "[0]".repeat(2000))], Mode::Plain).is_err());
    }
}
