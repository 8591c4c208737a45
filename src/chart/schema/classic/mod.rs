//! The validator of Helm before 3.18.6 (`H-41` to `H-44`): a mixture of draft-04, 06 and 07, unless `$schema` names one of
//! them. Keywords beside `$ref` are ignored, formats are always checked.

mod check;
mod format;
mod mail;
mod parse;
mod pool;

use super::Refusal;
use super::node::Node;
use crate::base::budget::Budget;
use crate::codec::json::read::decode;

/// Checks values against a schema.
///
/// # Errors
/// The validator's text, or the limit that was reached.
pub fn validate(schema: &[u8], value: &Node, budget: &Budget) -> Result<(), Refusal> {
    // What follows the first value is not read.
    let (node, _) = decode::<Node>(schema).map_err(Refusal::Invalid)?;
    let (mut pool, root) = pool::Pool::new(&node, budget)?;
    let schemas = parse::Parser::parse(&mut pool, &root)?;
    let verdict = check::Checker::new(&schemas, budget).verdict(0, value)?;
    if verdict.faults.is_empty() {
        return Ok(());
    }
    Err(Refusal::Invalid(verdict.faults.iter().map(|line| format!("- {line}\n")).collect()))
}
