//! The rules of the specification, section by section. Each test is named after the rules that it proves.

mod depends;
mod digests;
mod fields;
mod flow;
mod runs;
mod settled;
mod sources;
mod states;
mod values;
mod versions;

use std::rc::Rc;

use serde_json::Value as Json;

use super::model::HelmRelease;

/// A HelmRelease from its object.
fn release(json: Json) -> HelmRelease {
    HelmRelease::new(Rc::new(json))
}
