//! Calls functions through the engine: from a template, or one by one.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::base::budget::Budget;
use crate::base::version::HelmVersion;
use crate::template::error::{Cause, ExecError};
use crate::template::eval::{Options, Run, strip_no_value};
use crate::template::func::{Call, FuncError, Site, World};
use crate::template::set::{FuncTable, TemplateSet};
use crate::value::origin::LookupKey;
use crate::value::{Map, MapType, OriginSet, Origins, Repr, Text, TextBuilder, Value};

/// What `.Values` holds in the recorded cases.
const VALUES: &str = "{s: hello, empty: '', n: null, i: 7, big: 3000000, f: 2.5, neg: -5, t: true, l: [1, 2, 3], \
    ls: [b, a, c], le: [], lm: [1, a, null, 2.5, true], m: {a: 1, b: x, c: {d: 2}}, me: {}, u: \"héllo wörld ñandú\"}";

/// A cluster without objects.
pub struct NoWorld;

impl World for NoWorld {
    fn lookup(&self, _: &LookupKey, _: &Origins) -> Result<Value, String> {
        Ok(Value::map(BTreeMap::new()))
    }
    fn now(&self) -> i128 {
        0
    }
    fn entropy(&self, site: &str, count: u32) -> u64 {
        site.len() as u64 + u64::from(count)
    }
}

const HELM: HelmVersion = HelmVersion { number: (4, 2, 2), go: 26, embedded: false, flipped: None };

thread_local! {
    static TABLE: Rc<FuncTable> = Rc::new(FuncTable::new(super::super::all(), HELM));
}

fn templates() -> TemplateSet {
    TemplateSet::new(TABLE.with(Rc::clone))
}

/// Calls a function by itself, under a branch that depends on `context`. Nothing is joined to the result.
pub fn call_under(name: &str, args: &[Value], origins: &Origins, context: OriginSet) -> Result<Value, FuncError> {
    let def = TABLE.with(|table| table.get(name)).unwrap_or_else(|| panic!("no function {name}"));
    let site = Site { template: "t.yaml", line: 1, column: 0 };
    let (budget, options) = (Budget::default(), Options::default());
    let mut run = Run::new(Rc::new(templates()), &NoWorld, origins, &budget, &options);
    (def.run)(&mut Call { origins, helm: HELM, world: &NoWorld, site, context, engine: &mut run }, args)
}

/// Calls a function by itself, under no branch.
pub fn call(name: &str, args: &[Value], origins: &Origins) -> Result<Value, FuncError> {
    call_under(name, args, origins, OriginSet::EMPTY)
}

/// Executes a template with that dot.
pub fn execute(template: &str, dot: &Value, origins: &Origins) -> Result<Text, Box<ExecError>> {
    let mut set = templates();
    set.parse("t.yaml", template.as_bytes()).unwrap_or_else(|error| panic!("{template}: {error}"));
    let (budget, options) = (Budget::default(), Options::default());
    let written = Run::new(Rc::new(set), &NoWorld, origins, &budget, &options).render("t.yaml", dot)?;
    Ok(strip_no_value(written.as_text().unwrap()))
}

/// The output, quoted as `%q` does it; or `ERR name: text`.
pub fn render(template: &str) -> String {
    let values = crate::codec::yaml::helm_unmarshal(VALUES.as_bytes()).unwrap();
    let entries = values.as_map().unwrap().entries().clone();
    let values = Value::new(Repr::Map(Map::new(entries, MapType::Values)));
    let dot = Value::map([("Values".into(), values)].into());
    match execute(template, &dot, &Origins::new(false)) {
        Ok(text) => {
            let mut quoted = TextBuilder::default();
            super::super::runes::quote(&mut quoted, &text);
            quoted.finish().lossy().into_owned()
        }
        Err(error) => match error.cause {
            Cause::Called(name, text) => format!("ERR {name}: {text}"),
            Cause::Text(text) => format!("ERR {text}"),
            other => format!("ERR {other:?}"),
        },
    }
}
