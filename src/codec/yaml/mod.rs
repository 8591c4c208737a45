//! YAML as Helm and Flux read and write it.
//!
//! [`parse_first`] and [`parse_all`] give [`Document`]s: trees of nodes with their places in the text. What the scalars
//! of a tree mean is decided by [`to_value`] and [`to_json`] (YAML 1.1 through JSON, as Helm reads values and
//! templates) or by [`to_json_v3`] (as the post-renderer of Helm 4 does).

mod differ;
mod emit;
mod event;
mod node;
mod order;
mod resolve;
mod resolve3;
pub mod scalar;
mod style;
mod write;

use std::collections::BTreeMap;

pub use differ::{Difference, differences};
pub use emit::{digest_text, emit, emit_json, emit_pretty};
pub use event::YamlError;
pub use node::{Document, Kind, Node, Pos, Span, Step, Style, parse_all, parse_first};
pub use resolve::{key_text, to_json, to_json_printed, to_value};
pub use resolve3::to_json_v3;

use crate::codec::json;
use crate::value::{Repr, Value};

/// Nesting beyond which a document is refused (Go's limit is 10 000, which no real document comes near).
pub const MAX_DEPTH: usize = 400;

/// Reads the first document as a mapping, as `fromYaml`, values files and `valuesFrom` do (F-44): nothing and null are
/// the empty map, numbers are `float64`.
///
/// # Errors
/// Helm's text, e.g. `error converting YAML to JSON: yaml: line 2: …`.
pub fn helm_unmarshal(bytes: &[u8]) -> Result<Value, String> {
    helm_unmarshal_into(bytes, "map[string]interface {}")
}

/// As [`helm_unmarshal`], for a Go map type of another name (`common.Values` in errors of values files).
pub fn helm_unmarshal_into(bytes: &[u8], go_type: &str) -> Result<Value, String> {
    let value = helm_unmarshal_any(bytes)?;
    match value.repr() {
        Repr::Map(_) => Ok(value),
        Repr::Nil => Ok(Value::map(BTreeMap::new())),
        _ => Err(cannot_unmarshal(&value, go_type)),
    }
}

/// Reads the first document as a list, as `fromYamlArray` does; nothing and null are the empty list.
pub fn helm_unmarshal_array(bytes: &[u8]) -> Result<Value, String> {
    let value = helm_unmarshal_any(bytes)?;
    match value.repr() {
        Repr::List(_) => Ok(value),
        Repr::Nil => Ok(Value::list(Vec::new())),
        _ => Err(cannot_unmarshal(&value, "[]interface {}")),
    }
}

/// Reads the first document, whatever it is; nothing is nil.
pub fn helm_unmarshal_any(bytes: &[u8]) -> Result<Value, String> {
    let converting = |text: String| format!("error converting YAML to JSON: {text}");
    match parse_first(bytes).map_err(|e| converting(e.text))? {
        Some(document) => to_value(document.root()).map_err(converting),
        None => Ok(Value::NIL),
    }
}

fn cannot_unmarshal(value: &Value, go_type: &str) -> String {
    format!("error unmarshaling JSON: while decoding JSON: {}", json::cannot_unmarshal(value, go_type))
}

#[cfg(test)]
mod digest_tests;
#[cfg(test)]
mod emit_tests;
#[cfg(test)]
mod tests;
