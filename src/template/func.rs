//! What a template function is, and what it may reach.

use crate::base::budget::Exhausted;
use crate::base::version::HelmVersion;
use crate::value::origin::LookupKey;
use crate::value::{MAX_DEPTH, OriginSet, Origins, Repr, Text, Value};

/// The only door to facts, time and chance. The engine records every use; an implementation answers, and nothing else.
pub trait World {
    /// What the cluster answers to a lookup (L1–L10), each node located (`Value::at`) and with its origin.
    ///
    /// The error is the text that Helm shows behind `error calling lookup: `.
    fn lookup(&self, key: &LookupKey, origins: &Origins) -> Result<Value, String>;
    /// The time of the render, in nanoseconds since 1970 UTC.
    fn now(&self) -> i128;
    /// Whether a field that a looked-up object lacks is to be hoped for (answered by a hole), in an optimistic render.
    fn hopes(&self, key: &LookupKey, path: &str) -> bool {
        let _ = (key, path);
        false
    }
    /// Seed of a random function: the same for the same call site and count.
    fn entropy(&self, site: &str, count: u32) -> u64;
}

/// What a function's result depends on. The caller joins the origins; a function cannot drop them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// On everything inside its arguments. The safe default.
    Deep,
    /// On the arguments' own origins; what is inside them keeps its own (`dict`, `index`, `default`, `hasKey`).
    Shallow,
    /// As `Shallow`, and a hole among the arguments is passed in instead of making the result a hole.
    Open,
    /// The result is one of the arguments or comes out of the engine with its own origins (`include`, `tpl`, `lookup`);
    /// nothing is joined.
    Own,
}

/// Whether equal arguments give equal results, and what else the function reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing but its arguments.
    Pure,
    /// Facts of the cluster.
    Fact,
    /// Chance: the result is volatile.
    Entropy,
    /// The clock: the result is volatile.
    Clock,
    /// Ends the render (`fail`, `required`).
    Abort,
}

/// Go type of a parameter: decides conversion of constants and the wording of argument errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Param {
    /// `interface {}`: anything, nil included.
    Any,
    /// `string`
    Str,
    /// `int`
    Int,
    /// `int64`
    Int64,
    /// `uint32`
    Uint32,
    /// `float64`
    Float,
    /// `bool`
    Bool,
    /// `map[string]interface {}`
    Map,
    /// `[]interface {}`
    List,
    /// `[]string`
    Strings,
    /// A named type that only the functions themselves make, by its Go name (`time.Time`).
    Named(&'static str),
    /// `reflect.Value` as the builtins take it: anything but "no value at all".
    Reflect,
}

/// One template function: an entry of the table.
pub struct FuncDef {
    /// Name in templates.
    pub name: &'static str,
    /// Fixed parameters.
    pub params: &'static [Param],
    /// The type of any further arguments.
    pub variadic: Option<Param>,
    /// What the result depends on.
    pub flow: Flow,
    /// What else it reads.
    pub effect: Effect,
    /// Which versions of Helm have it.
    pub since: fn(HelmVersion) -> bool,
    /// The function. Arguments have been counted, checked and converted as Go does it.
    pub run: fn(&mut Call<'_>, &[Value]) -> Result<Value, FuncError>,
    /// What it does, in one line.
    pub doc: &'static str,
}

/// Why a function failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FuncError {
    /// The function returned an error: shown as `error calling NAME: TEXT`.
    Error(String),
    /// Go would have panicked inside the function; Go's template package shows it in the same way.
    Panic(String),
    /// A template that the function executed failed: shown as `error calling NAME: `, this text, and the inner error.
    Template(String, Box<super::error::ExecError>),
    /// The template to execute is not defined.
    NoTemplate(String),
    /// A limit of ours was reached.
    Limit(Exhausted),
}

impl From<Exhausted> for FuncError {
    fn from(limit: Exhausted) -> Self {
        FuncError::Limit(limit)
    }
}

/// What a running function may reach: the engine, the world, the version.
pub struct Call<'a> {
    /// Interning table of origins.
    pub origins: &'a Origins,
    /// The Helm that is imitated.
    pub helm: HelmVersion,
    /// Facts, time, chance.
    pub world: &'a dyn World,
    /// The call site: `template:line:column function`.
    pub site: Site<'a>,
    /// The branches around the call: what is written into a shared map depends on them.
    pub context: OriginSet,
    /// The engine itself, for functions that execute templates.
    pub engine: &'a mut dyn Engine,
}

/// Where a call stands.
#[derive(Debug, Clone, Copy)]
pub struct Site<'a> {
    /// Template (file) name.
    pub template: &'a str,
    /// Line, from 1.
    pub line: u32,
    /// Byte column, from 0, as Go counts.
    pub column: u32,
}

/// What functions may ask of the engine.
pub trait Engine {
    /// Executes a defined template with that dot (`include`, `template`); the text comes with its origins.
    fn execute(&mut self, name: &str, dot: &Value) -> Result<Value, FuncError>;
    /// Parses and executes a text as a template among the defined ones (`tpl`).
    fn execute_text(&mut self, text: &Text, dot: &Value) -> Result<Value, FuncError>;
    /// Whether a template of that name is defined.
    fn defines(&self, name: &str) -> bool;
    /// Records a lookup at the running call: what it answered, if it did not fail, and what its name was built from.
    fn note_lookup(&mut self, key: &LookupKey, answer: Option<&Value>, name: OriginSet);
    /// What a map answers for a key (`found`, or nil): a missing entry knows where it is missing.
    fn entry(&self, map: &Value, key: &str, found: Option<Value>) -> Value;
    /// A field or element of a hole: a deeper hole.
    fn below(&self, hole: &Value, step: &str) -> Value;
    /// How often this was asked for the site before: tells the turns of a loop apart for [`World::entropy`].
    fn evaluation(&self, site: &str) -> u32;
    /// Takes one step of the budget.
    fn step(&mut self) -> Result<(), Exhausted>;
    /// Takes the steps that reading so many bytes counts for.
    fn work(&mut self, bytes: usize) -> Result<(), Exhausted>;
    /// Takes so many bytes of what functions may make.
    fn make(&mut self, bytes: usize) -> Result<(), Exhausted>;
}

/// Takes a step for everything inside a value that is about to be written. Maps may hold a map twice, level by level:
/// such a value takes forever to write, and ends the render here.
pub fn walkable(call: &mut Call<'_>, value: &Value) -> Result<(), FuncError> {
    fn walk(call: &mut Call<'_>, value: &Value, depth: usize) -> Result<(), FuncError> {
        call.engine.step()?;
        if depth > MAX_DEPTH {
            return Ok(());
        }
        match value.repr() {
            Repr::List(list) => list.items.iter().try_for_each(|item| walk(call, item, depth + 1)),
            Repr::Map(map) => map.entries().values().try_for_each(|item| walk(call, item, depth + 1)),
            _ => Ok(()),
        }
    }
    walk(call, value, 0)
}
