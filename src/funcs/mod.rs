//! The functions that Helm gives to templates: the text library's and Helm's own, one file per subject.
//!
//! Each file has its part of the table as `FUNCS`; [`all`] joins the parts.

pub mod convert;
pub mod crypto;
pub mod dates;
pub mod defaults;
pub mod dicts;
pub mod durations;
pub mod encode;
pub mod goquote;
pub mod helm;
pub mod lists;
pub mod math;
pub mod net;
pub mod paths;
pub mod random;
pub mod re2;
pub mod reflect;
pub mod regex;
pub mod semver;
pub mod strings;

use crate::base::version::HelmVersion;
use crate::template::func::FuncDef;

/// The parts of the table.
const PARTS: &[&[FuncDef]] = &[
    convert::FUNCS,
    crypto::FUNCS,
    dates::FUNCS,
    defaults::FUNCS,
    dicts::FUNCS,
    durations::FUNCS,
    encode::FUNCS,
    helm::FUNCS,
    lists::FUNCS,
    math::FUNCS,
    net::FUNCS,
    paths::FUNCS,
    random::FUNCS,
    reflect::FUNCS,
    regex::FUNCS,
    semver::FUNCS,
    strings::FUNCS,
];

/// Every function that some version of Helm registers.
pub fn all() -> impl Iterator<Item = &'static FuncDef> {
    PARTS.iter().flat_map(|part| part.iter())
}

/// The functions that this version of Helm registers, sorted by name.
pub fn table(helm: HelmVersion) -> Vec<&'static FuncDef> {
    let mut table: Vec<&'static FuncDef> = all().filter(|def| (def.since)(helm)).collect();
    table.sort_by_key(|def| def.name);
    table
}

/// A `since` for functions that every version has.
pub fn always(_: HelmVersion) -> bool {
    true
}
