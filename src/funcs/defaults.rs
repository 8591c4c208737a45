//! Defaults and choices: the result is one of the arguments, and depends on those that decided.

use super::args::any;
use super::{many, pure};
use crate::template::func::{Call, Flow, FuncDef, FuncError, Param as P};
use crate::value::{Map, OriginSet, Value};

/// This file's part of the function table.
pub const FUNCS: &[FuncDef] = &[
    many("all", &[], P::Any, Flow::Open, all, "Whether none is empty."),
    many("any", &[], P::Any, Flow::Open, one, "Whether one is not empty."),
    many("coalesce", &[], P::Any, Flow::Own, coalesce, "The first that is not empty."),
    many("default", &[P::Any], P::Any, Flow::Own, default, "The second, or the first if that is empty."),
    pure("empty", &[P::Any], Flow::Open, empty, "Whether it is zero, empty or nil."),
    pure("ternary", &[P::Any, P::Any, P::Bool], Flow::Own, ternary, "The first if the last is true, else the second."),
];

type Out = Result<Value, FuncError>;

fn empty(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::bool(!any(args, 0).truth()))
}

fn all(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::bool(args.iter().all(Value::truth)))
}

fn one(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::bool(args.iter().any(Value::truth)))
}

fn coalesce(call: &mut Call<'_>, args: &[Value]) -> Out {
    let mut passed = OriginSet::EMPTY;
    for value in args {
        if value.truth() {
            return Ok(value.clone().under(passed, call.origins));
        }
        passed = call.origins.union(passed, value.origins);
    }
    Ok(Value::NIL.under(passed, call.origins))
}

fn default(call: &mut Call<'_>, args: &[Value]) -> Out {
    let given = any(args, 1);
    if given.truth() {
        return Ok(given.clone());
    }
    let mut instead = any(args, 0).clone().under(given.origins, call.origins);
    // `(lookup …).data | default dict`: fields that are missing in the empty map are still missing in the object.
    if instead.as_map().is_some_and(Map::is_empty) {
        instead.at = given.at;
    }
    Ok(instead)
}

fn ternary(call: &mut Call<'_>, args: &[Value]) -> Out {
    let decides = any(args, 2);
    let chosen = any(args, usize::from(!decides.truth()));
    Ok(chosen.clone().under(decides.origins, call.origins))
}
