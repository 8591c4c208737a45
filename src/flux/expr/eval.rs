//! The value of an expression on objects.

use serde_json::Value as Json;

use super::Trouble;
use super::calls::call;
use super::parse::Node;
use super::value::Value;

/// Most steps, so that nested macros end.
const MAX_STEPS: usize = 200_000;

/// The value of an expression.
pub fn evaluate<'a>(node: &Node, variables: &[(&str, &'a Json)]) -> Result<Value<'a>, Trouble> {
    let scope = variables.iter().map(|(name, json)| ((*name).to_owned(), Value::of(json))).collect();
    Evaluation { scope, steps: 0 }.value(node)
}

struct Evaluation<'a> {
    scope: Vec<(String, Value<'a>)>,
    steps: usize,
}

/// What a test among others comes to: `Err` counts only if no other decides (`&&`, `||`, `all`, `exists`).
fn decide<'a>(found: &Result<Value<'a>, Trouble>) -> Option<bool> {
    match found {
        Ok(Value::Bool(holds)) => Some(*holds),
        _ => None,
    }
}

fn no_bool<'a>(found: Result<Value<'a>, Trouble>) -> Trouble {
    match found {
        Ok(other) => Trouble::Fails(format!("no such overload: a {} is neither true nor false", other.kind())),
        Err(trouble) => trouble,
    }
}

impl<'a> Evaluation<'a> {
    fn value(&mut self, node: &Node) -> Result<Value<'a>, Trouble> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return Err(Trouble::Beyond("more steps than are taken here".into()));
        }
        match node {
            Node::Literal(value) => Ok(value.clone()),
            Node::Name(name) => {
                let known = self.scope.iter().rev().find(|(known, _)| known == name);
                known
                    .map(|(_, value)| value.clone())
                    .ok_or_else(|| Trouble::Fails(format!("no such attribute: {name}")))
            }
            Node::Field(of, field) => {
                let of = self.value(of)?;
                match of.under(&Value::Text(field.as_str().into())) {
                    Some(Some(value)) => Ok(value),
                    Some(None) => Err(Trouble::Fails(format!("no such key: {field}"))),
                    None => Err(Trouble::Fails(format!("no such key: {field} of a {}", of.kind()))),
                }
            }
            Node::Has(of, field) => {
                let of = self.value(of)?;
                let found = of.under(&Value::Text(field.as_str().into()));
                found.map(|found| Value::Bool(found.is_some())).ok_or_else(|| Trouble::Fails("no such overload".into()))
            }
            Node::Choice(parts) => match self.value(&parts[0])? {
                Value::Bool(true) => self.value(&parts[1]),
                Value::Bool(false) => self.value(&parts[2]),
                other => Err(no_bool(Ok(other))),
            },
            Node::List(items) => {
                let items = items.iter().map(|item| self.value(item)).collect::<Result<Vec<_>, _>>()?;
                Ok(Value::List(items.into()))
            }
            Node::Map(entries) => {
                let mut all: Vec<(Value<'a>, Value<'a>)> = Vec::new();
                for (key, value) in entries {
                    let (key, value) = (self.value(key)?, self.value(value)?);
                    if all.iter().any(|(k, _)| k.equals(&key)) {
                        return Err(Trouble::Fails("a key twice in a map".into()));
                    }
                    all.push((key, value));
                }
                Ok(Value::Map(all.into()))
            }
            Node::Call(name, _, args) => match (name.as_str(), args.as_slice()) {
                ("&&", [a, b]) => self.both(a, b, false),
                ("||", [a, b]) => self.both(a, b, true),
                ("[]", [of, index]) => {
                    let (of, index) = (self.value(of)?, self.value(index)?);
                    at(&of, &index)
                }
                ("dyn", [of]) => self.value(of),
                _ => {
                    let args = args.iter().map(|arg| self.value(arg)).collect::<Result<Vec<_>, _>>()?;
                    // What is long costs more.
                    self.steps += args.iter().filter_map(Value::size).sum::<usize>() / 16;
                    call(name, &args)
                }
            },
            Node::Each(name, over, variable, bodies) => self.each(name, over, variable, bodies),
        }
    }

    /// `&&` and `||`: one side may decide whatever becomes of the other.
    fn both(&mut self, a: &Node, b: &Node, decisive: bool) -> Result<Value<'a>, Trouble> {
        let a = self.value(a);
        if decide(&a) == Some(decisive) {
            return Ok(Value::Bool(decisive));
        }
        let b = self.value(b);
        match (decide(&a), decide(&b)) {
            (_, Some(b)) if b == decisive => Ok(Value::Bool(decisive)),
            (Some(_), Some(_)) => Ok(Value::Bool(!decisive)),
            (None, _) => Err(no_bool(a)),
            _ => Err(no_bool(b)),
        }
    }

    fn each(&mut self, name: &str, over: &Node, variable: &str, bodies: &[Node]) -> Result<Value<'a>, Trouble> {
        let over = self.value(over)?;
        let Some(items) = over.range() else {
            return Err(Trouble::Fails(format!("no such overload: {name} over a {}", over.kind())));
        };
        let mut made = Vec::new();
        let mut count = 0;
        let mut trouble = None;
        for item in items {
            self.scope.push((variable.to_owned(), item.clone()));
            let first = self.value(&bodies[0]);
            let second = match (bodies.get(1), decide(&first)) {
                (Some(body), Some(true)) => Some(self.value(body)),
                _ => None,
            };
            self.scope.pop();
            match (name, decide(&first)) {
                ("all", Some(false)) => return Ok(Value::Bool(false)),
                ("exists", Some(true)) => return Ok(Value::Bool(true)),
                ("all" | "exists", None) => trouble = Some(no_bool(first)),
                ("map", _) if bodies.len() == 1 => made.push(first?),
                ("map", Some(true)) => made.extend(second.transpose()?),
                ("filter", Some(true)) => made.push(item),
                ("exists_one", Some(true)) => count += 1,
                (_, Some(_)) => {}
                (_, None) => return Err(no_bool(first)),
            }
        }
        match (name, trouble) {
            (_, Some(trouble)) => Err(trouble),
            ("all", None) => Ok(Value::Bool(true)),
            ("exists", None) => Ok(Value::Bool(false)),
            ("exists_one", None) => Ok(Value::Bool(count == 1)),
            _ => Ok(Value::List(made.into())),
        }
    }
}

/// An element of a list, or what is under a key.
fn at<'a>(of: &Value<'a>, index: &Value<'a>) -> Result<Value<'a>, Trouble> {
    if let Some(found) = of.under(index) {
        return found.ok_or_else(|| Trouble::Fails("no such key".into()));
    }
    let items = of.items().ok_or_else(|| Trouble::Fails(format!("no such overload: {}[]", of.kind())))?;
    let place = match index {
        Value::Int(at) => usize::try_from(*at).ok(),
        Value::Uint(at) => usize::try_from(*at).ok(),
        Value::Double(at) if at.fract() == 0.0 && *at >= 0.0 => Some(*at as usize),
        Value::Double(_) => None,
        other => return Err(Trouble::Fails(format!("unsupported index type '{}' in list", other.kind()))),
    };
    place.and_then(|place| items.get(place).cloned()).ok_or_else(|| Trouble::Fails("index out of bounds".into()))
}
