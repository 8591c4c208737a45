//! The functions that belong to the language itself.

use super::complex::Complex;
use super::func::{Call, Effect, Flow, FuncDef, FuncError, Param, walkable};
use super::printf;
use crate::base::version::Quirk;
use crate::codec::json::go_lossy;
use crate::value::{OriginSet, Repr, Text, TextBuilder, Value};

const fn def(
    name: &'static str,
    params: &'static [Param],
    variadic: Option<Param>,
    flow: Flow,
    run: fn(&mut Call<'_>, &[Value]) -> Result<Value, FuncError>,
    doc: &'static str,
) -> FuncDef {
    FuncDef { name, params, variadic, flow, effect: Effect::Pure, since: |_| true, run, doc }
}

use Param::{Any, Reflect, Str};

/// The table of the language's own functions.
pub const FUNCS: &[FuncDef] = &[
    def("and", &[Reflect], Some(Reflect), Flow::Own, never, "The first empty argument, else the last."),
    def("or", &[Reflect], Some(Reflect), Flow::Own, never, "The first argument that is not empty, else the last."),
    def("not", &[Reflect], None, Flow::Open, not, "Whether the argument is empty."),
    def("len", &[Reflect], None, Flow::Shallow, len, "Number of elements, or of bytes of a string."),
    def("index", &[Reflect], Some(Reflect), Flow::Open, index, "Elements of nested maps and lists."),
    def("slice", &[Reflect], Some(Reflect), Flow::Shallow, slice, "A part of a string or list."),
    def("print", &[], Some(Any), Flow::Open, print, "Arguments as text."),
    def("println", &[], Some(Any), Flow::Open, println, "Arguments as a line."),
    def("printf", &[Str], Some(Any), Flow::Open, sprintf, "Arguments in a format."),
    def("html", &[], Some(Any), Flow::Deep, html, "Arguments as text, escaped for HTML."),
    def("js", &[], Some(Any), Flow::Deep, js, "Arguments as text, escaped for JavaScript."),
    def("urlquery", &[], Some(Any), Flow::Deep, urlquery, "Arguments as text, escaped for a URL's query."),
    def("call", &[Reflect], Some(Reflect), Flow::Deep, call_value, "Calls a function value; templates have none."),
    def("eq", &[Reflect], Some(Reflect), Flow::Open, eq, "Whether the first argument equals one of the others."),
    def("ne", &[Reflect, Reflect], None, Flow::Open, ne, "Whether the arguments differ."),
    def("lt", &[Reflect, Reflect], None, Flow::Open, lt, "Whether the first argument is less."),
    def("le", &[Reflect, Reflect], None, Flow::Open, le, "Whether the first argument is less or equal."),
    def("gt", &[Reflect, Reflect], None, Flow::Open, gt, "Whether the first argument is greater."),
    def("ge", &[Reflect, Reflect], None, Flow::Open, ge, "Whether the first argument is greater or equal."),
];

type Answer = Result<Value, FuncError>;

fn error<T>(text: impl Into<String>) -> Result<T, FuncError> {
    Err(FuncError::Error(text.into()))
}

fn arg(args: &[Value], i: usize) -> &Value {
    args.get(i).unwrap_or(&Value::NIL)
}

fn is_hole(value: &Value) -> bool {
    matches!(value.repr(), Repr::Hole(_))
}

/// `and` and `or` are evaluated by the engine, argument by argument.
fn never(_: &mut Call<'_>, args: &[Value]) -> Answer {
    Ok(arg(args, 0).clone())
}

fn not(_: &mut Call<'_>, args: &[Value]) -> Answer {
    Ok(Value::bool(!arg(args, 0).truth()))
}

fn len(call: &mut Call<'_>, args: &[Value]) -> Answer {
    let value = arg(args, 0);
    let n = match value.repr() {
        Repr::Str(text) => text.len(),
        Repr::List(list) => list.items.len(),
        Repr::Map(map) => map.len(),
        Repr::Nil => return error("len of nil pointer"),
        Repr::Native(native) => match native.elements() {
            Some(data) => return len(call, &[data]),
            None => return error(format!("len of type {}", value.pointee_name(call.helm))),
        },
        _ => return error(format!("len of type {}", value.type_name(call.helm))),
    };
    Ok(Value::int(n as i64))
}

/// An index into a list or string below `limit`, as Go checks it; behind the last item it goes wrong later.
fn position(call: &Call<'_>, index: &Value, limit: usize) -> Result<usize, FuncError> {
    match index.repr() {
        Repr::Int(i, ty) => {
            let i = if ty.is_unsigned() { i128::from(*i as u64) } else { i128::from(*i) };
            if i < 0 || i >= limit as i128 {
                return error(format!("index out of range: {i}"));
            }
            Ok(i as usize)
        }
        Repr::Native(native) if native.kind() == "int" && native.data().is_some() => {
            position(call, &native.data().unwrap_or_default(), limit)
        }
        Repr::Nil => error("cannot index slice/array with nil"),
        _ => error(format!("cannot index slice/array with type {}", index.type_name(call.helm))),
    }
}

fn index(call: &mut Call<'_>, args: &[Value]) -> Answer {
    let mut item = arg(args, 0).clone();
    if item.is_nil() {
        return error("index of untyped nil");
    }
    for key in args.get(1..).unwrap_or_default() {
        if is_hole(&item) || is_hole(key) {
            let hole = if is_hole(&item) { &item } else { key };
            let step = key.as_text().map(|t| t.lossy().into_owned()).unwrap_or_else(|| "[]".into());
            item = call.engine.below(hole, &step);
            continue;
        }
        let outer = item.origins;
        let found = match item.repr() {
            Repr::Map(map) => {
                let Some(text) = key.as_text() else {
                    return match key.repr() {
                        Repr::Nil => error("value is nil; should be of type string"),
                        _ => error(format!("value has type {}; should be string", key.type_name(call.helm))),
                    };
                };
                let found = map.get(text.bytes());
                call.engine.entry(&item, &text.lossy(), found)
            }
            Repr::List(list) => {
                let i = position(call, key, list.items.len() + 1)?;
                let item = list.items.get(i).cloned();
                item.ok_or_else(|| FuncError::Error("reflect: slice index out of range".into()))?
            }
            Repr::Str(text) => {
                let i = position(call, key, text.len() + 1)?;
                let byte = text.bytes().get(i).copied();
                let byte = byte.ok_or_else(|| FuncError::Error("reflect: string index out of range".into()))?;
                Value::new(Repr::Int(i64::from(byte), crate::value::IntType::Uint8))
            }
            Repr::Native(native) => match native.elements() {
                Some(data) => match (native.kind(), key.as_text().and_then(|key| native.field(&key.lossy()))) {
                    ("map", Some(found)) => found,
                    _ => index(call, &[data, key.clone()])?,
                },
                _ => return error(format!("can't index item of type {}", item.pointee_name(call.helm))),
            },
            Repr::Nil => return error("index of nil pointer"),
            _ => return error(format!("can't index item of type {}", item.type_name(call.helm))),
        };
        item = found.under(outer, call.origins);
    }
    Ok(item)
}

fn slice(call: &mut Call<'_>, args: &[Value]) -> Answer {
    let item = arg(args, 0);
    let bounds = args.get(1..).unwrap_or_default();
    if item.is_nil() {
        return error("slice of untyped nil");
    }
    if bounds.len() > 3 {
        return error(format!("too many slice indexes: {}", bounds.len()));
    }
    let size = match item.repr() {
        Repr::Str(_) if bounds.len() == 3 => return error("cannot 3-index slice a string"),
        Repr::Str(text) => text.len(),
        Repr::List(list) => list.items.len(),
        _ => return error(format!("can't slice item of type {}", item.pointee_name(call.helm))),
    };
    let mut at = [0, size, size];
    for (slot, bound) in at.iter_mut().zip(bounds) {
        *slot = position(call, bound, size + 1)?;
    }
    if at[0] > at[1] {
        return error(format!("invalid slice index: {} > {}", at[0], at[1]));
    }
    Ok(match item.repr() {
        Repr::Str(text) => Value::text(text.slice(at[0], at[1])),
        Repr::List(list) => Value::typed_list(list.items[at[0]..at[1]].to_vec(), list.ty),
        _ => Value::NIL,
    })
}

fn print(call: &mut Call<'_>, args: &[Value]) -> Answer {
    Ok(Value::text_in(printf::sprint(args, call.helm, call.origins), call.origins))
}

fn println(call: &mut Call<'_>, args: &[Value]) -> Answer {
    Ok(Value::text_in(printf::sprintln(args, call.helm, call.origins), call.origins))
}

fn sprintf(call: &mut Call<'_>, args: &[Value]) -> Answer {
    let empty = Text::default();
    let format = match arg(args, 0).repr() {
        Repr::Hole(_) => return Ok(arg(args, 0).clone()),
        Repr::Str(text) => text,
        _ => &empty,
    };
    args.iter().skip(1).try_for_each(|arg| walkable(call, arg))?;
    let text = printf::sprintf(format, args.get(1..).unwrap_or_default(), call.helm, call.origins);
    Ok(Value::text_in(text, call.origins))
}

/// Arguments as the escaping functions see them.
fn seen(call: &Call<'_>, args: &[Value]) -> Text {
    if let [only] = args
        && let Some(text) = only.as_text()
    {
        return text.clone();
    }
    let shown = |arg: &Value| match arg.repr() {
        Repr::Nil => Value::text("<no value>"),
        Repr::Native(native) if native.kind() == "ptr" && args.len() == 1 => {
            Value::text(super::print::pointee_text(arg, call.helm, call.origins))
        }
        _ => arg.clone(),
    };
    let args: Vec<Value> = args.iter().map(shown).collect();
    printf::sprint(&args, call.helm, call.origins)
}

fn escaped(call: &Call<'_>, args: &[Value], escape: impl Fn(char, &mut String)) -> Value {
    let text = seen(call, args);
    let mut out = String::new();
    for c in go_lossy(text.bytes()).chars() {
        escape(c, &mut out);
    }
    Value::text(out)
}

fn html(call: &mut Call<'_>, args: &[Value]) -> Answer {
    Ok(escaped(call, args, |c, out| match c {
        '\0' => out.push('\u{FFFD}'),
        '"' => out.push_str("&#34;"),
        '\'' => out.push_str("&#39;"),
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        c => out.push(c),
    }))
}

fn js(call: &mut Call<'_>, args: &[Value]) -> Answer {
    Ok(escaped(call, args, |c, out| match c {
        '\\' => out.push_str("\\\\"),
        '\'' => out.push_str("\\'"),
        '"' => out.push_str("\\\""),
        '<' => out.push_str("\\u003C"),
        '>' => out.push_str("\\u003E"),
        '&' => out.push_str("\\u0026"),
        '=' => out.push_str("\\u003D"),
        c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04X}", c as u32)),
        c if c.is_ascii() || crate::codec::goquote::is_print(c) => out.push(c),
        c => out.push_str(&format!("\\u{:04X}", c as u32)),
    }))
}

fn urlquery(call: &mut Call<'_>, args: &[Value]) -> Answer {
    let text = seen(call, args);
    let mut out = TextBuilder::default();
    for b in text.bytes() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(&[*b], OriginSet::EMPTY),
            b' ' => out.push(b"+", OriginSet::EMPTY),
            _ => out.push(format!("%{b:02X}").as_bytes(), OriginSet::EMPTY),
        }
    }
    Ok(Value::text(out.finish()))
}

fn call_value(call: &mut Call<'_>, args: &[Value]) -> Answer {
    let value = arg(args, 0);
    if value.is_nil() {
        return error("call of nil");
    }
    error(format!("non-function {{}} of type {}", value.type_name(call.helm)))
}

/// The kinds that Go compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Basic {
    Bool,
    Int,
    Uint,
    Float,
    Complex,
    Str,
}

fn basic(value: &Value) -> Option<Basic> {
    match value.repr() {
        Repr::Bool(_) => Some(Basic::Bool),
        Repr::Int(_, ty) => Some(if ty.is_unsigned() { Basic::Uint } else { Basic::Int }),
        Repr::Float(_) => Some(Basic::Float),
        Repr::Str(_) => Some(Basic::Str),
        Repr::Native(native) if matches!(native.kind(), "int" | "int64") => Some(Basic::Int),
        Repr::Native(native) if native.as_any().is::<Complex>() => Some(Basic::Complex),
        _ => None,
    }
}

fn incompatible<T>(call: &Call<'_>, a: &Value, b: &Value) -> Result<T, FuncError> {
    if !call.helm.has(Quirk::NamesComparedTypes) {
        return error("incompatible types for comparison");
    }
    let name = |v: &Value| if v.is_nil() { "<nil>".to_owned() } else { v.type_name(call.helm) };
    error(format!("incompatible types for comparison: {} and {}", name(a), name(b)))
}

fn eq(call: &mut Call<'_>, args: &[Value]) -> Answer {
    let first = arg(args, 0);
    let others = args.get(1..).unwrap_or_default();
    if others.is_empty() {
        return error("missing argument for comparison");
    }
    if args.iter().any(is_hole) {
        return Ok(Value::bool(true));
    }
    for other in others {
        if equal(call, first, other)? {
            return Ok(Value::bool(true));
        }
    }
    Ok(Value::bool(false))
}

fn equal(call: &Call<'_>, a: &Value, b: &Value) -> Result<bool, FuncError> {
    match (basic(a), basic(b)) {
        (Some(x), Some(y)) if x != y => match (a.repr(), b.repr()) {
            (Repr::Int(i, s), Repr::Int(j, t)) if s.is_unsigned() != t.is_unsigned() => {
                let (signed, unsigned) = if s.is_unsigned() { (*j, *i) } else { (*i, *j) };
                Ok(signed >= 0 && signed == unsigned)
            }
            _ => incompatible(call, a, b),
        },
        (Some(_), Some(_)) => Ok(match (a.repr(), b.repr()) {
            (Repr::Bool(x), Repr::Bool(y)) => x == y,
            (Repr::Int(x, _), Repr::Int(y, _)) => x == y,
            (Repr::Float(x), Repr::Float(y)) => x == y,
            (Repr::Str(x), Repr::Str(y)) => x == y,
            (Repr::Native(x), Repr::Native(y)) if basic(a) == Some(Basic::Complex) => {
                x.as_any().downcast_ref::<Complex>() == y.as_any().downcast_ref::<Complex>()
            }
            _ => native_int(a) == native_int(b),
        }),
        // One of them has no kind that compares: nil goes with anything, a kind only with itself.
        _ if a.is_nil() || b.is_nil() => Ok((a.is_nil() || a.is_typed_nil()) && (b.is_nil() || b.is_typed_nil())),
        (None, None) => opaque(call, a, b),
        _ => incompatible(call, a, b),
    }
}

/// Equality of two values that are no plain ones, neither of them nil.
fn opaque(call: &Call<'_>, a: &Value, b: &Value) -> Result<bool, FuncError> {
    let (a_type, b_type) = (a.type_name(call.helm), b.type_name(call.helm));
    if a.kind() != b.kind() {
        let (a, b) = (shown(call, a, "%s"), shown(call, b, "%v"));
        return error(format!("non-comparable types {a}: {a_type}, {b_type}: {b}"));
    }
    if a.is_typed_nil() || b.is_typed_nil() {
        return Ok(a.is_typed_nil() && b.is_typed_nil());
    }
    let equal = match (a.repr(), b.repr()) {
        // Go asks only whether the second can be compared; values of two types are no equals.
        (Repr::Native(x), Repr::Native(y)) if a_type == b_type => x.equals(&**y),
        (_, Repr::Native(y)) => y.equals(&**y).map(|_| false),
        _ => None,
    };
    equal.map_or_else(|| error(format!("non-comparable type {}: {b_type}", shown(call, b, "%s"))), Ok)
}

fn native_int(value: &Value) -> Option<i64> {
    match value.repr() {
        Repr::Int(i, _) => Some(*i),
        Repr::Native(native) => native.data().and_then(|d| d.as_int()),
        _ => None,
    }
}

fn shown(call: &Call<'_>, value: &Value, format: &str) -> String {
    let text = super::printf::sprintf(&format.into(), std::slice::from_ref(value), call.helm, call.origins);
    text.lossy().into_owned()
}

fn ne(call: &mut Call<'_>, args: &[Value]) -> Answer {
    if args.iter().any(is_hole) {
        return Ok(Value::bool(true));
    }
    Ok(Value::bool(!equal(call, arg(args, 0), arg(args, 1))?))
}

/// Order of two basic values: `Some(true)` if the first is less.
fn less(call: &Call<'_>, a: &Value, b: &Value) -> Result<bool, FuncError> {
    let (Some(x), Some(y)) = (basic(a), basic(b)) else { return error("invalid type for comparison") };
    match (a.repr(), b.repr()) {
        (Repr::Int(i, s), Repr::Int(j, t)) => Ok(match (s.is_unsigned(), t.is_unsigned()) {
            (false, false) => i < j,
            (true, true) => (*i as u64) < (*j as u64),
            (false, true) => *i < 0 || (*i as u64) < (*j as u64),
            (true, false) => *j >= 0 && (*i as u64) < (*j as u64),
        }),
        _ if x != y => incompatible(call, a, b),
        (Repr::Float(i), Repr::Float(j)) => Ok(i < j),
        (Repr::Str(i), Repr::Str(j)) => Ok(i.bytes() < j.bytes()),
        (Repr::Bool(_), _) => error("invalid type for comparison"),
        _ if x == Basic::Complex => error("invalid type for comparison"),
        _ => Ok(native_int(a) < native_int(b)),
    }
}

fn lt(call: &mut Call<'_>, args: &[Value]) -> Answer {
    if args.iter().any(is_hole) {
        return Ok(Value::bool(true));
    }
    Ok(Value::bool(less(call, arg(args, 0), arg(args, 1))?))
}

fn le(call: &mut Call<'_>, args: &[Value]) -> Answer {
    if args.iter().any(is_hole) {
        return Ok(Value::bool(true));
    }
    let (a, b) = (arg(args, 0), arg(args, 1));
    Ok(Value::bool(less(call, a, b)? || equal(call, a, b)?))
}

fn gt(call: &mut Call<'_>, args: &[Value]) -> Answer {
    if args.iter().any(is_hole) {
        return Ok(Value::bool(true));
    }
    let (a, b) = (arg(args, 0), arg(args, 1));
    Ok(Value::bool(!(less(call, a, b)? || equal(call, a, b)?)))
}

fn ge(call: &mut Call<'_>, args: &[Value]) -> Answer {
    if args.iter().any(is_hole) {
        return Ok(Value::bool(true));
    }
    Ok(Value::bool(!less(call, arg(args, 0), arg(args, 1))?))
}
