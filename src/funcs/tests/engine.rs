//! Calls functions as templates do, with the engine itself.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::base::budget::Budget;
use crate::base::version::HelmVersion;
use crate::template::error::{Cause, ExecError};
use crate::template::eval::{Options, Run, strip_no_value};
use crate::template::func::{Call, FuncError, Site, World};
use crate::template::set::{FuncTable, TemplateSet};
use crate::value::origin::LookupKey;
use crate::value::{Map, MapType, Origins, Repr, Value};

/// What `.Values` holds in the recorded cases.
const VALUES: &str = "{s: hello, empty: '', n: null, i: 7, big: 3000000, f: 2.5, neg: -5, t: true, l: [1, 2, 3], \
    ls: [b, a, c], le: [], lm: [1, a, null, 2.5, true], m: {a: 1, b: x, c: {d: 2}}, me: {}, u: \"héllo wörld ñandú\"}";

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

/// Executes a template in which `dot` is the dot.
pub fn execute(template: &str, dot: &Value, origins: &Origins) -> Result<Value, Box<ExecError>> {
    let helm: HelmVersion = "4.2.2".parse().unwrap();
    let mut set = TemplateSet::new(Rc::new(FuncTable::new(super::super::all(), helm)));
    set.parse("t.yaml", template.as_bytes()).unwrap();
    let (budget, options) = (Budget::default(), Options::default());
    Run::new(Rc::new(set), &NoWorld, origins, &budget, &options).render("t.yaml", dot)
}

/// The output, quoted as `%q` does it; or `ERR name: text`.
pub fn render(template: &str) -> String {
    let origins = Origins::new(false);
    let values = crate::codec::yaml::helm_unmarshal(VALUES.as_bytes()).unwrap();
    let entries = values.as_map().unwrap().entries().clone();
    let values = Value::new(Repr::Map(Map::new(entries, MapType::Values)));
    let dot = Value::map(BTreeMap::from([("Values".into(), values)]));
    match execute(template, &dot, &origins) {
        Ok(value) => crate::codec::goquote::quote(strip_no_value(value.as_text().unwrap()).bytes()),
        Err(error) => match &error.cause {
            Cause::Called(name, text) => format!("ERR {name}: {text}"),
            Cause::Abort(text) => format!("ERR fail: {text}"),
            _ => format!("ERR {}", error.one_line()),
        },
    }
}

/// Calls a function directly, past the engine's checks and joins.
pub fn call(name: &str, args: &[Value], origins: &Origins) -> Result<Value, FuncError> {
    let helm: HelmVersion = "4.2.2".parse().unwrap();
    let def = super::super::all().find(|def| def.name == name).unwrap_or_else(|| panic!("no function {name}"));
    let set = TemplateSet::new(Rc::new(FuncTable::new(super::super::all(), helm)));
    let (budget, options) = (Budget::default(), Options::default());
    let mut run = Run::new(Rc::new(set), &NoWorld, origins, &budget, &options);
    let site = Site { template: "t.yaml", line: 1, column: 0 };
    let context = Default::default();
    (def.run)(&mut Call { origins, helm, world: &NoWorld, site, context, engine: &mut run }, args)
}
