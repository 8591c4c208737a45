//! The expression language (CEL) of `readyExpr` and `healthCheckExprs`, as far as Flux's objects need it (`F-72`, `F-262`).
//!
//! Literals, fields, indices, operators, the macros `has`, `all`, `exists`, `exists_one`, `map` and `filter`, and the
//! functions on texts, lists, sets and numbers are here. What is beyond that (times, durations, formatting) is named, and
//! the answer stays open.

mod calls;
mod check;
mod eval;
mod parse;
mod token;
mod value;

use serde_json::Value as Json;

/// Why there is no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The expression fails on these objects.
    Fails(String),
    /// It asks for something that this program does not know.
    Beyond(String),
}

/// An expression that is to be true or false.
#[derive(Debug)]
pub struct Expression {
    root: parse::Node,
    beyond: Option<String>,
}

impl Expression {
    /// Reads an expression over these variables, each an object of which only the data tells what it holds.
    ///
    /// # Errors
    /// It is not well-formed, names something that does not exist, joins what does not go together, or is known to be
    /// something else than true or false: all that a controller finds without an object.
    pub fn compile(text: &str, variables: &[&str]) -> Result<Expression, String> {
        let refused = |why: String| format!("failed to parse the CEL expression '{text}': ERROR: {why}");
        let root = parse::parse(text).map_err(refused)?;
        let mut checker = check::Checker::new(variables);
        let found = checker.check(&root).map_err(refused)?;
        let beyond = checker.beyond;
        if beyond.is_none() && found != check::Type::Bool {
            return Err(format!("CEL expression output type mismatch: expected bool, got {found}"));
        }
        Ok(Expression { root, beyond })
    }

    /// Whether a text is well-formed, whatever its names stand for.
    ///
    /// # Errors
    /// It is not.
    pub fn well_formed(text: &str) -> Result<(), String> {
        let refused = |why| format!("failed to parse the CEL expression '{text}': ERROR: {why}");
        parse::parse(text).map(|_| ()).map_err(refused)
    }

    /// Its value on these objects.
    ///
    /// # Errors
    /// It has none, or it cannot be told.
    pub fn holds(&self, variables: &[(&str, &Json)]) -> Result<bool, Trouble> {
        if let Some(what) = &self.beyond {
            return Err(Trouble::Beyond(what.clone()));
        }
        match eval::evaluate(&self.root, variables)? {
            value::Value::Bool(holds) => Ok(holds),
            other => Err(Trouble::Fails(format!("a {} is neither true nor false", other.kind()))),
        }
    }
}

#[cfg(test)]
mod tests;
