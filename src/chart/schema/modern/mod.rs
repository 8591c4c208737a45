//! The validator of Helm 3.18.6 and later, and of Helm 4 (`H-41` to `H-44`): 2020-12 unless `$schema` says otherwise.

mod check;
mod compile;
mod draft;
mod format;
mod hosts;
pub(super) mod meta;
mod parts;
mod report;
mod store;

use std::cell::OnceCell;

use super::Refusal;
use super::node::Node;
use crate::base::budget::Budget;
use crate::base::version::{HelmVersion, Quirk};
use crate::codec::json::read::decode;
use check::Checker;
use compile::{Compiler, Id, Schemas};
use draft::Draft;
use report::{Fault, quoted};
use store::{Document, Place, Store};

/// The address under which Helm adds the schema.
const ADDRESS: &str = "file:///values.schema.json";

thread_local! {
    static METASCHEMAS: OnceCell<(Schemas, Vec<(Draft, Id)>)> = const { OnceCell::new() };
}

/// Checks values against a schema.
///
/// # Errors
/// The validator's text, or the limit that was reached.
pub fn validate(schema: &[u8], value: &Node, helm: HelmVersion, budget: &Budget) -> Result<(), Refusal> {
    let (node, rest) = decode::<Node>(schema).map_err(Refusal::Invalid)?;
    if !rest.trim_ascii().is_empty() {
        return Err(Refusal::Invalid("invalid character after top-level value".into()));
    }
    let check = |document: &Document, pointer: &str| metacheck(document, pointer, helm, budget);
    let mut store = Store::new(helm.has(Quirk::IgnoresUrnRefs), budget);
    store.add(ADDRESS, node, &check)?;
    let mut schemas = Schemas::default();
    let place = Place { url: ADDRESS.into(), pointer: String::new() };
    let mut compiler = Compiler { store: &mut store, check: &check, asserts_formats: false };
    let id = compiler.compile(&mut schemas, place)?;
    match &Checker::new(&schemas, budget, helm, None).check(id, value)?[..] {
        [] => Ok(()),
        faults => Err(Refusal::Invalid(format!("{}\n", told(faults)))),
    }
}

fn told(faults: &[Fault]) -> String {
    let mut out = String::new();
    faults.iter().for_each(|fault| fault.tell(0, &mut out));
    out.truncate(out.trim_end_matches('\n').len());
    out
}

/// Whether a schema is one, by its metaschema.
fn metacheck(document: &Document, pointer: &str, helm: HelmVersion, budget: &Budget) -> Result<(), Refusal> {
    METASCHEMAS.with(|cell| {
        let (schemas, drafts) = cell.get_or_init(compiled);
        let of = |draft: Draft| drafts.iter().find(|(d, _)| *d == draft).map(|(_, id)| *id);
        let Some(draft) = document.resource(pointer).map(|(_, resource)| resource.draft) else { return Ok(()) };
        let (Some(id), Some(node)) = (of(draft), store::at(&document.node, pointer)) else { return Ok(()) };
        let embedded = |at: &str| document.resources.get(at).and_then(|resource| of(resource.draft));
        let faults = Checker::new(schemas, budget, helm, Some(&embedded)).check(id, node)?;
        if faults.is_empty() {
            return Ok(());
        }
        let place = Place { url: document.url().to_owned(), pointer: pointer.to_owned() }.quoted();
        let metaschema = quoted(&format!("{}#", draft.metaschema()));
        let told = told(&faults);
        Err(Refusal::Invalid(format!(
            "{place} is not valid against metaschema: jsonschema validation failed with {metaschema}\n{told}"
        )))
    })
}

/// All metaschemas; they are right, so nothing checks them.
fn compiled() -> (Schemas, Vec<(Draft, Id)>) {
    let budget = Budget::default();
    let mut store = Store::new(false, &budget);
    let mut schemas = Schemas::default();
    let trust = |_: &Document, _: &str| Ok(());
    let mut drafts = Vec::new();
    for draft in Draft::ALL {
        let place = Place { url: draft.metaschema().into(), pointer: String::new() };
        let opened = store.open(&place.url, &trust);
        let mut compiler = Compiler { store: &mut store, check: &trust, asserts_formats: true };
        if let Ok(id) = opened.and_then(|()| compiler.compile(&mut schemas, place)) {
            drafts.push((draft, id));
        }
    }
    (schemas, drafts)
}
