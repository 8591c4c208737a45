//! What a controller finds in an expression without an object: names, types, functions.

use std::fmt;
use std::rc::Rc;

use super::calls::{BEYOND, FUNCTIONS};
use super::parse::Node;
use super::value::Value;

/// The type of a part, as far as the text tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// Only the data tell.
    Dyn,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    Text,
    Bytes,
    List(Rc<Type>),
    Map(Rc<(Type, Type)>),
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Dyn => f.write_str("dyn"),
            Type::Null => f.write_str("null_type"),
            Type::Bool => f.write_str("bool"),
            Type::Int => f.write_str("int"),
            Type::Uint => f.write_str("uint"),
            Type::Double => f.write_str("double"),
            Type::Text => f.write_str("string"),
            Type::Bytes => f.write_str("bytes"),
            Type::List(of) => write!(f, "list({of})"),
            Type::Map(of) => write!(f, "map({}, {})", of.0, of.1),
        }
    }
}

impl Type {
    /// The type that a letter of the table of functions stands for.
    fn of(letter: u8) -> Type {
        match letter {
            b'b' => Type::Bool,
            b'i' => Type::Int,
            b'u' => Type::Uint,
            b'd' => Type::Double,
            b's' => Type::Text,
            b'y' => Type::Bytes,
            b'l' => Type::List(Rc::new(Type::Dyn)),
            b'L' => Type::List(Rc::new(Type::Text)),
            b'm' => Type::Map(Rc::new((Type::Dyn, Type::Dyn))),
            _ => Type::Dyn,
        }
    }

    /// Whether one may stand for the other.
    fn fits(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Dyn, _) | (_, Type::Dyn) => true,
            (Type::List(a), Type::List(b)) => a.fits(b),
            (Type::Map(a), Type::Map(b)) => a.0.fits(&b.0) && a.1.fits(&b.1),
            (a, b) => a == b,
        }
    }

    /// What two that stand side by side have in common.
    fn join(self, other: Type) -> Type {
        if self == other { self } else { Type::Dyn }
    }
}

/// Types as values.
const TYPES: &[&str] = &["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"];

/// Finds types.
pub struct Checker {
    /// Names and their types, the innermost last.
    scope: Vec<(String, Type)>,
    /// The first function that this program does not know.
    pub beyond: Option<String>,
}

impl Checker {
    /// With variables of which only the data tell more.
    pub fn new(variables: &[&str]) -> Checker {
        let scope = variables.iter().map(|name| ((*name).to_owned(), Type::Dyn)).collect();
        Checker { scope, beyond: None }
    }

    /// The type of a part.
    pub fn check(&mut self, node: &Node) -> Result<Type, String> {
        match node {
            Node::Literal(value) => Ok(match value {
                Value::Null => Type::Null,
                Value::Bool(_) => Type::Bool,
                Value::Int(_) => Type::Int,
                Value::Uint(_) => Type::Uint,
                Value::Double(_) => Type::Double,
                Value::Text(_) => Type::Text,
                Value::Bytes(_) => Type::Bytes,
                _ => Type::Dyn,
            }),
            Node::Name(name) => {
                let known = self.scope.iter().rev().find(|(known, _)| known == name);
                match known {
                    Some((_, of)) => Ok(of.clone()),
                    None if TYPES.contains(&name.as_str()) => {
                        self.beyond.get_or_insert_with(|| format!("the type {name}"));
                        Ok(Type::Dyn)
                    }
                    None => Err(format!("undeclared reference to '{name}'")),
                }
            }
            Node::Field(of, field) => match self.check(of)? {
                Type::Dyn => Ok(Type::Dyn),
                Type::Map(of) => Ok(of.1.clone()),
                other => Err(format!("type '{other}' does not support field selection of '{field}'")),
            },
            Node::Has(of, field) => match self.check(of)? {
                Type::Dyn | Type::Map(_) => Ok(Type::Bool),
                other => Err(format!("type '{other}' does not support field selection of '{field}'")),
            },
            Node::Choice(parts) => {
                let asked = self.check(&parts[0])?;
                let (yes, no) = (self.check(&parts[1])?, self.check(&parts[2])?);
                if asked.fits(&Type::Bool) && yes.fits(&no) {
                    Ok(yes.join(no))
                } else {
                    Err(format!("found no matching overload for '_?_:_' applied to '({asked}, {yes}, {no})'"))
                }
            }
            Node::List(items) => {
                let mut of: Option<Type> = None;
                for item in items {
                    let next = self.check(item)?;
                    of = Some(of.map_or(next.clone(), |of| of.join(next)));
                }
                Ok(Type::List(Rc::new(of.unwrap_or(Type::Dyn))))
            }
            Node::Map(entries) => {
                let mut of: Option<(Type, Type)> = None;
                for (key, value) in entries {
                    let (key, value) = (self.check(key)?, self.check(value)?);
                    of = Some(match of {
                        Some((k, v)) => (k.join(key), v.join(value)),
                        None => (key, value),
                    });
                }
                Ok(Type::Map(Rc::new(of.unwrap_or((Type::Dyn, Type::Dyn)))))
            }
            Node::Each(name, over, variable, bodies) => self.each(name, over, variable, bodies),
            Node::Call(name, method, args) => {
                let args = args.iter().map(|arg| self.check(arg)).collect::<Result<Vec<_>, _>>()?;
                self.call(name, *method, &args)
            }
        }
    }

    fn each(&mut self, name: &str, over: &Node, variable: &str, bodies: &[Node]) -> Result<Type, String> {
        let of = match self.check(over)? {
            Type::Dyn => Type::Dyn,
            Type::List(of) => (*of).clone(),
            Type::Map(of) => of.0.clone(),
            other => {
                return Err(format!("expression of type '{other}' cannot be range of a comprehension"));
            }
        };
        self.scope.push((variable.to_owned(), of.clone()));
        let found = bodies.iter().map(|body| self.check(body)).collect::<Result<Vec<_>, _>>();
        self.scope.pop();
        let found = found?;
        let maps = name == "map";
        // All but what `map` makes is asked whether it holds.
        let asked = &found[..found.len() - usize::from(maps)];
        if let Some(other) = asked.iter().find(|of| !of.fits(&Type::Bool)) {
            return Err(format!("found no matching overload for '{name}' applied to '{other}'"));
        }
        Ok(match (name, found.last()) {
            ("map", Some(made)) => Type::List(Rc::new(made.clone())),
            ("filter", _) => Type::List(Rc::new(of)),
            _ => Type::Bool,
        })
    }

    fn call(&mut self, name: &str, method: bool, args: &[Type]) -> Result<Type, String> {
        let shown = || args.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
        match (name, args) {
            ("==" | "!=", [a, b]) if a.fits(b) || [a, b].contains(&&Type::Null) => return Ok(Type::Bool),
            ("[]", [Type::List(of), index]) if index.fits(&Type::Int) => return Ok((**of).clone()),
            ("[]", [Type::Map(of), key]) if key.fits(&of.0) => return Ok(of.1.clone()),
            ("[]", [Type::Dyn, _]) => return Ok(Type::Dyn),
            ("+", [Type::List(a), Type::List(b)]) if a.fits(b) => {
                return Ok(Type::List(Rc::new((**a).clone().join((**b).clone()))));
            }
            ("dyn", [_]) if !method => return Ok(Type::Dyn),
            _ => {}
        }
        if BEYOND.contains(&name) {
            self.beyond.get_or_insert_with(|| format!("{name}()"));
            return Ok(Type::Dyn);
        }
        let mut named = FUNCTIONS.iter().filter(|f| f.name == name).peekable();
        if named.peek().is_none() {
            return Err(format!("undeclared reference to '{name}'"));
        }
        let takes = |signature: &str| {
            let letters = signature.as_bytes();
            letters.len() == args.len() && letters.iter().zip(args).all(|(letter, arg)| Type::of(*letter).fits(arg))
        };
        let fitting = named.filter(|f| if method { f.method } else { f.plain });
        let results: Vec<Type> = fitting
            .flat_map(|f| f.takes.split(' ').zip(f.gives.bytes().cycle()))
            .filter(|(signature, _)| takes(signature))
            .map(|(_, gives)| Type::of(gives))
            .collect();
        let found = results.into_iter().reduce(Type::join);
        found.ok_or_else(|| format!("found no matching overload for '{name}' applied to '({})'", shown()))
    }
}
