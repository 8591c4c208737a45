//! Just enough of a template language to call functions: literals, parentheses, pipes, variables, fields of values.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::base::budget::Exhausted;
use crate::template::func::{Call, Engine, FuncDef, FuncError, Param, Site, World};
use crate::value::origin::LookupKey;
use crate::value::{Map, MapType, Origins, Repr, Text, TextBuilder, Value};

/// What `.Values` holds in the recorded cases.
const VALUES: &str = "{s: hello, empty: '', n: null, i: 7, big: 3000000, f: 2.5, neg: -5, t: true, l: [1, 2, 3], \
    ls: [b, a, c], le: [], lm: [1, a, null, 2.5, true], m: {a: 1, b: x, c: {d: 2}}, me: {}, u: \"héllo wörld ñandú\"}";

pub struct NoWorld;

impl World for NoWorld {
    fn lookup(&self, _: &LookupKey, _: &Origins) -> Result<Value, String> {
        Ok(Value::map(BTreeMap::new()))
    }
    fn now(&self) -> i128 {
        0
    }
    fn entropy(&self, site: &str, count: u32) -> u64 {
        site.len() as u64 + u64::from(count)
    }
}

pub struct NoEngine(pub Cell<u32>);

impl Engine for NoEngine {
    fn execute(&mut self, name: &str, _: &Value) -> Result<Value, FuncError> {
        Ok(Value::text(format!("<{name}>")))
    }
    fn execute_text(&mut self, text: &Text, _: &Value) -> Result<Value, FuncError> {
        Ok(Value::text(text.clone()))
    }
    fn defines(&self, _: &str) -> bool {
        true
    }
    fn note_lookup(&mut self, _: &LookupKey, _: &Value) {
        self.0.set(self.0.get() + 1);
    }
    fn step(&mut self) -> Result<(), Exhausted> {
        Ok(())
    }
}

/// Calls a function as the engine would.
pub fn call(name: &str, args: &[Value], origins: &Origins) -> Result<Value, FuncError> {
    let helm = "4.2.2".parse().unwrap();
    let def = super::super::all().find(|def| def.name == name).unwrap_or_else(|| panic!("no function {name}"));
    let site = Site { template: "t.yaml", line: 1, column: 0 };
    (def.run)(&mut Call { origins, helm, world: &NoWorld, site, engine: &mut NoEngine(Cell::new(0)) }, args)
}

/// The output, quoted as `%q` does it; or `ERR name: text`.
pub fn render(template: &str) -> String {
    let origins = Origins::new(false);
    let values = crate::codec::yaml::helm_unmarshal(VALUES.as_bytes()).unwrap();
    let entries = values.as_map().unwrap().entries().clone();
    let values = Value::new(Repr::Map(Map::new(entries, MapType::Values)));
    let mut mini = Mini { origins: &origins, values, variables: BTreeMap::new() };
    let mut out = TextBuilder::default();
    let mut rest = template;
    while let Some((plain, action)) = rest.split_once("{{") {
        out.push(plain.as_bytes(), Default::default());
        let end = closing(action);
        match mini.action(action[..end].trim()) {
            Ok(value) => {
                let shown = call("toString", std::slice::from_ref(&value), &origins).unwrap();
                if !value.is_nil() {
                    out.push_text(shown.as_text().unwrap());
                }
            }
            Err(error) => return error,
        }
        rest = &action[end + 2..];
    }
    out.push(rest.as_bytes(), Default::default());
    let mut quoted = TextBuilder::default();
    super::super::runes::quote(&mut quoted, &out.finish());
    quoted.finish().lossy().into_owned()
}

/// Where `}}` is, outside of strings.
fn closing(action: &str) -> usize {
    let mut quoted = false;
    let bytes = action.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quoted => at += 1,
            b'"' => quoted = !quoted,
            b'}' if !quoted && bytes.get(at + 1) == Some(&b'}') => return at,
            _ => {}
        }
        at += 1;
    }
    panic!("unclosed {action}")
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Open,
    Close,
    Pipe,
    Text(Vec<u8>),
    Word(String),
}

fn tokens(source: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        match first {
            ' ' => rest = &rest[1..],
            '(' => (tokens.push(Token::Open), rest = &rest[1..]).1,
            ')' => (tokens.push(Token::Close), rest = &rest[1..]).1,
            '|' => (tokens.push(Token::Pipe), rest = &rest[1..]).1,
            '"' => {
                let mut text = Vec::new();
                let mut chars = rest[1..].char_indices();
                let mut end = 0;
                while let Some((at, c)) = chars.next() {
                    match c {
                        '"' => {
                            end = at + 2;
                            break;
                        }
                        '\\' => match chars.next().map(|(_, c)| c) {
                            Some('n') => text.push(b'\n'),
                            Some('t') => text.push(b'\t'),
                            Some(kind @ ('x' | 'u' | 'U')) => {
                                let len = match kind {
                                    'x' => 2,
                                    'u' => 4,
                                    _ => 8,
                                };
                                let code: String = (0..len).filter_map(|_| chars.next()).map(|(_, c)| c).collect();
                                let code = u32::from_str_radix(&code, 16).unwrap();
                                if kind == 'x' {
                                    text.push(code as u8);
                                } else {
                                    text.extend(char::from_u32(code).unwrap().to_string().bytes());
                                }
                            }
                            Some(c) => text.extend(c.to_string().bytes()),
                            None => {}
                        },
                        c => text.extend(c.to_string().bytes()),
                    }
                }
                tokens.push(Token::Text(text));
                rest = &rest[end..];
            }
            _ => {
                let end = rest.find([' ', '(', ')', '|']).unwrap_or(rest.len());
                tokens.push(Token::Word(rest[..end].to_owned()));
                rest = &rest[end..];
            }
        }
    }
    tokens
}

struct Mini<'o> {
    origins: &'o Origins,
    values: Value,
    variables: BTreeMap<String, Value>,
}

impl Mini<'_> {
    fn action(&mut self, source: &str) -> Result<Value, String> {
        let (variable, source) = match source.split_once(":=") {
            Some((name, source)) if name.starts_with('$') => (Some(name.trim().to_owned()), source),
            _ => (None, source),
        };
        let tokens = tokens(source);
        let mut at = 0;
        let value = self.pipeline(&tokens, &mut at)?;
        assert_eq!(at, tokens.len(), "{source}");
        match variable {
            Some(name) => {
                self.variables.insert(name, value);
                Ok(Value::NIL)
            }
            None => Ok(value),
        }
    }

    fn pipeline(&mut self, tokens: &[Token], at: &mut usize) -> Result<Value, String> {
        let mut value = self.command(tokens, at, None)?;
        while tokens.get(*at) == Some(&Token::Pipe) {
            *at += 1;
            value = self.command(tokens, at, Some(value))?;
        }
        Ok(value)
    }

    fn command(&mut self, tokens: &[Token], at: &mut usize, piped: Option<Value>) -> Result<Value, String> {
        let function = match tokens.get(*at) {
            Some(Token::Word(word)) => super::super::all().find(|def| def.name == word),
            _ => None,
        };
        let Some(def) = function else { return self.operand(tokens, at, Param::Any) };
        *at += 1;
        let mut args = Vec::new();
        while let Some(Token::Word(_) | Token::Text(_) | Token::Open) = tokens.get(*at) {
            let param = param(def, args.len());
            args.push(self.operand(tokens, at, param)?);
        }
        args.extend(piped);
        assert!(args.len() >= def.params.len(), "{}", def.name);
        call(def.name, &args, self.origins).map_err(|error| match error {
            FuncError::Error(text) | FuncError::Panic(text) => format!("ERR {}: {text}", def.name),
            other => format!("ERR {other:?}"),
        })
    }

    fn operand(&mut self, tokens: &[Token], at: &mut usize, param: Param) -> Result<Value, String> {
        let token = tokens.get(*at).cloned();
        *at += 1;
        Ok(match token {
            Some(Token::Text(text)) => Value::text(text),
            Some(Token::Open) => {
                let value = self.pipeline(tokens, at)?;
                assert_eq!(tokens.get(*at), Some(&Token::Close));
                *at += 1;
                match tokens.get(*at) {
                    Some(Token::Word(path)) if path.starts_with('.') && !path.starts_with(".Values") => {
                        *at += 1;
                        field(&value, path)
                    }
                    _ => value,
                }
            }
            Some(Token::Word(word)) => match word.as_str() {
                "nil" => Value::NIL,
                "true" | "false" => Value::bool(word == "true"),
                _ if word.starts_with(".Values") => field(&self.values, &word[".Values".len()..]),
                _ if word.starts_with('$') => {
                    let (name, path) = word.split_at(word.find('.').unwrap_or(word.len()));
                    field(&self.variables[name], path)
                }
                _ => match super::super::all().any(|def| def.name == word) {
                    true => {
                        *at -= 1;
                        let one = &tokens[*at..*at + 1];
                        *at += 1;
                        self.command(one, &mut 0, None)?
                    }
                    false => match (param, word.parse::<i64>()) {
                        (Param::Float, _) | (_, Err(_)) => Value::float(word.parse().expect(&word)),
                        (Param::Int64, Ok(int)) => Value::int64(int),
                        (_, Ok(int)) => Value::int(int),
                    },
                },
            },
            other => panic!("{other:?} in {tokens:?}"),
        })
    }
}

fn param(def: &FuncDef, index: usize) -> Param {
    def.params.get(index).copied().or(def.variadic).unwrap_or(Param::Any)
}

fn field(value: &Value, path: &str) -> Value {
    path.split('.')
        .filter(|name| !name.is_empty())
        .fold(value.clone(), |value, name| value.as_map().and_then(|map| map.get(name.as_bytes())).unwrap_or_default())
}
