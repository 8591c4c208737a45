//! `values.schema.json`: whether values satisfy it, as the validator of that Helm says it (`H-41` to `H-44`).

mod classic;
mod modern;
pub mod node;
pub mod number;

use super::Chart;
use crate::base::budget::{Budget, Exhausted};
use crate::base::version::{HelmVersion, Quirk};
use crate::value::{Map, Repr, Value};
use node::Node;

/// Why values are not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// They do not satisfy the schema, or it is none: Helm's text.
    Invalid(String),
    /// It cannot be told here: a schema would have to be fetched, or a limit was reached.
    Unknown(String),
}

impl From<Exhausted> for Refusal {
    fn from(limit: Exhausted) -> Self {
        Refusal::Unknown(limit.to_string())
    }
}

impl Refusal {
    /// The text, whichever it is.
    pub fn text(self) -> String {
        match self {
            Refusal::Invalid(text) | Refusal::Unknown(text) => text,
        }
    }
}

/// Checks merged values against the schemas of a chart and of the charts below it, each with its own part of the values.
///
/// # Errors
/// Helm's text, each chart's faults under its name; the limit, if one was reached.
pub fn validate(chart: &Chart, values: &Map, helm: HelmVersion) -> Result<(), Refusal> {
    let mut told = String::new();
    let mut known = true;
    let value = Value::new(Repr::Map(values.clone()));
    collect(chart, &value, helm, &Budget::default(), &mut |name, refusal| {
        known &= matches!(refusal, Refusal::Invalid(_));
        told.push_str(&format!("{name}:\n{}", refusal.text()));
    });
    if told.is_empty() {
        return Ok(());
    }
    let text = format!("values don't meet the specifications of the schema(s) in the following chart(s):\n{told}");
    Err(if known { Refusal::Invalid(text) } else { Refusal::Unknown(text) })
}

fn collect(chart: &Chart, values: &Value, helm: HelmVersion, budget: &Budget, tell: &mut dyn FnMut(&str, Refusal)) {
    if let Some(schema) = &chart.schema {
        let node = Node::from_value(values);
        let result = if helm.has(Quirk::Schema2020) {
            modern::validate(schema, &node, helm, budget)
        } else {
            classic::validate(schema, &node, budget)
        };
        if let Err(refusal) = result {
            tell(chart.name(), refusal);
        }
    }
    for dep in &chart.deps {
        if let Some(below) = values.as_map().and_then(|map| map.get(dep.name().as_bytes())) {
            collect(dep, &below, helm, budget, tell);
        }
    }
}
