//! Types, kinds and deep equality.

use super::args::{any, text};
use super::pure;
use crate::base::budget::Exhausted;
use crate::template::func::{Call, Flow, FuncDef, FuncError, Param as P};
use crate::value::{MAX_DEPTH, Repr, Value};

/// This file's part of the function table.
pub const FUNCS: &[FuncDef] = &[
    pure("deepEqual", &[P::Any, P::Any], Flow::Deep, deep_equal, "Whether both are the same through and through."),
    pure("kindIs", &[P::Str, P::Any], Flow::Shallow, kind_is, "Whether that is the value's kind."),
    pure("kindOf", &[P::Any], Flow::Shallow, kind_of, "The value's kind."),
    pure("typeIs", &[P::Str, P::Any], Flow::Shallow, type_is, "Whether that is the value's type."),
    pure("typeIsLike", &[P::Str, P::Any], Flow::Shallow, type_is_like, "As `typeIs`, or a pointer to it."),
    pure("typeOf", &[P::Any], Flow::Shallow, type_of, "The value's type."),
];

type Out = Result<Value, FuncError>;

fn type_of(call: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::text(any(args, 0).type_name(call.helm)))
}

fn type_is(call: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::bool(any(args, 1).type_name(call.helm).as_bytes() == text(args, 0).bytes()))
}

fn type_is_like(call: &mut Call<'_>, args: &[Value]) -> Out {
    let (name, like) = (any(args, 1).type_name(call.helm), text(args, 0));
    let pointee = name.strip_prefix('*').unwrap_or(&name);
    Ok(Value::bool(name.as_bytes() == like.bytes() || pointee.as_bytes() == like.bytes()))
}

fn kind_of(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::text(any(args, 0).kind()))
}

fn kind_is(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::bool(any(args, 1).kind().as_bytes() == text(args, 0).bytes()))
}

fn deep_equal(call: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::bool(equal(call, any(args, 0), any(args, 1))?))
}

/// Go's `reflect.DeepEqual`: types count, so `1` and `1.0` differ, and a nil slice equals no empty one.
pub(super) fn equal(call: &mut Call<'_>, a: &Value, b: &Value) -> Result<bool, FuncError> {
    equal_below(call, a, b, 0)
}

fn equal_below(call: &mut Call<'_>, a: &Value, b: &Value, depth: usize) -> Result<bool, FuncError> {
    if depth > MAX_DEPTH {
        return Err(Exhausted { what: "levels of nesting", limit: MAX_DEPTH as u64 }.into());
    }
    match (a.repr(), b.repr()) {
        (Repr::Nil, Repr::Nil) => Ok(true),
        (Repr::Bool(a), Repr::Bool(b)) => Ok(a == b),
        (Repr::Int(a, a_ty), Repr::Int(b, b_ty)) => Ok(a == b && a_ty == b_ty),
        (Repr::Float(a), Repr::Float(b)) => Ok(a == b),
        (Repr::Str(a), Repr::Str(b)) => Ok(a == b),
        (Repr::Hole(a), Repr::Hole(b)) => Ok(a == b),
        (Repr::List(a), Repr::List(b)) => {
            if a.ty != b.ty || a.items.len() != b.items.len() {
                return Ok(false);
            }
            if std::rc::Rc::ptr_eq(a, b) || a.ty.is_nil() {
                return Ok(true);
            }
            for (a, b) in a.items.iter().zip(&b.items) {
                call.engine.step()?;
                if !equal_below(call, a, b, depth + 1)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Repr::Map(a), Repr::Map(b)) => {
            if a.same(b) {
                return Ok(true);
            }
            if a.ty() != b.ty() || a.len() != b.len() {
                return Ok(false);
            }
            for ((a_key, a), (b_key, b)) in a.entries().iter().zip(b.entries().iter()) {
                call.engine.step()?;
                if a_key != b_key || !equal_below(call, a, b, depth + 1)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Repr::Native(a), Repr::Native(b)) => {
            if std::rc::Rc::ptr_eq(a, b) {
                return Ok(true);
            }
            if a.type_name(call.helm) != b.type_name(call.helm) || a.print(true, true) != b.print(true, true) {
                return Ok(false);
            }
            match (a.data(), b.data()) {
                (Some(a), Some(b)) => equal_below(call, &a, &b, depth + 1),
                (a, b) => Ok(a.is_none() && b.is_none()),
            }
        }
        _ => Ok(false),
    }
}
