//! The functions that Helm gives to templates: the text library's and Helm's own, one file per subject.
//!
//! Each file has its part of the table as `FUNCS`; [`all`] joins the parts.

mod args;
mod case;
pub mod convert;
pub mod crypto;
pub mod dates;
pub mod defaults;
pub mod dicts;
pub mod durations;
pub mod encode;
pub mod helm;
pub mod lists;
pub mod math;
mod merge;
pub mod net;
pub mod paths;
pub mod random;
pub mod re2;
pub mod reflect;
pub mod regex;
mod runes;
pub mod semver;
pub mod strings;

use crate::base::version::HelmVersion;
use crate::template::func::{Call, Effect, Flow, FuncDef, FuncError, Param};
use crate::value::Value;

/// The parts of the table.
const PARTS: &[&[FuncDef]] = &[
    case::FUNCS,
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

/// The code of a function.
type Run = fn(&mut Call<'_>, &[Value]) -> Result<Value, FuncError>;

/// A function of fixed arguments that reads nothing else and that every version has.
const fn pure(name: &'static str, params: &'static [Param], flow: Flow, run: Run, doc: &'static str) -> FuncDef {
    FuncDef { name, params, variadic: None, flow, effect: Effect::Pure, since: always, run, doc }
}

/// As [`pure`], with any number of further arguments of that type.
const fn many(
    name: &'static str,
    params: &'static [Param],
    rest: Param,
    flow: Flow,
    run: Run,
    doc: &'static str,
) -> FuncDef {
    FuncDef { name, params, variadic: Some(rest), flow, effect: Effect::Pure, since: always, run, doc }
}

/// Where the chance of a random function starts.
fn seed(call: &Call<'_>, function: &str) -> u64 {
    let site = format!("{}:{}:{} {function}", call.site.template, call.site.line, call.site.column);
    call.world.entropy(&site, call.engine.evaluation(&site))
}

/// The next of a row of well-mixed numbers (SplitMix64).
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A `since` for functions that every version has.
pub fn always(_: HelmVersion) -> bool {
    true
}

#[cfg(test)]
mod tests;
