//! List functions. Lists are immutable: each returns a new one.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::args::{ENTRY, NIL_POINTER, any, inner, int, is_hole, items, panic, room_for};
use super::convert::to_int;
use super::{many, pure, reflect};
use crate::template::func::{Call, Flow, FuncDef, FuncError, Param as P};
use crate::value::{Items, List, ListType, Repr, Value};

/// This file's part of the function table.
pub const FUNCS: &[FuncDef] = &[
    pure("append", &[P::Any, P::Any], Flow::Own, append, "The list and one more element."),
    pure("chunk", &[P::Int, P::Any], Flow::Shallow, chunk, "Lists of that many elements each."),
    pure("compact", &[P::Any], Flow::Deep, compact, "Without empty elements."),
    many("concat", &[], P::Any, Flow::Shallow, concat, "All lists in one."),
    pure("first", &[P::Any], Flow::Own, first, "The first element; nil of an empty list."),
    pure("has", &[P::Any, P::Any], Flow::Deep, has, "Whether the list (second) has the element (first)."),
    pure("initial", &[P::Any], Flow::Shallow, initial, "All but the last."),
    pure("last", &[P::Any], Flow::Shallow, last, "The last element; nil of an empty list."),
    many("list", &[], P::Any, Flow::Own, list, "A list of the arguments."),
    pure("mustAppend", &[P::Any, P::Any], Flow::Own, append, "As `append`."),
    pure("mustChunk", &[P::Int, P::Any], Flow::Shallow, chunk, "As `chunk`."),
    pure("mustCompact", &[P::Any], Flow::Deep, compact, "As `compact`."),
    pure("mustFirst", &[P::Any], Flow::Own, first, "As `first`."),
    pure("mustHas", &[P::Any, P::Any], Flow::Deep, has, "As `has`."),
    pure("mustInitial", &[P::Any], Flow::Shallow, initial, "As `initial`."),
    pure("mustLast", &[P::Any], Flow::Shallow, last, "As `last`."),
    pure("mustPrepend", &[P::Any, P::Any], Flow::Own, prepend, "As `prepend`."),
    pure("mustPush", &[P::Any, P::Any], Flow::Own, append, "As `append`."),
    pure("mustRest", &[P::Any], Flow::Shallow, rest, "As `rest`."),
    pure("mustReverse", &[P::Any], Flow::Shallow, reverse, "As `reverse`."),
    many("mustSlice", &[P::Any], P::Any, Flow::Shallow, slice, "As `slice`."),
    pure("mustUniq", &[P::Any], Flow::Deep, uniq, "As `uniq`."),
    many("mustWithout", &[P::Any], P::Any, Flow::Deep, without, "As `without`."),
    pure("prepend", &[P::Any, P::Any], Flow::Own, prepend, "One more element, then the list."),
    pure("push", &[P::Any, P::Any], Flow::Own, append, "As `append`."),
    pure("rest", &[P::Any], Flow::Shallow, rest, "All but the first."),
    pure("reverse", &[P::Any], Flow::Shallow, reverse, "In reverse order."),
    many("slice", &[P::Any], P::Any, Flow::Shallow, slice, "The elements from start to before end."),
    many("tuple", &[], P::Any, Flow::Own, list, "As `list`."),
    pure("uniq", &[P::Any], Flow::Deep, uniq, "Each element once."),
    many("without", &[P::Any], P::Any, Flow::Deep, without, "Without those elements."),
];

type Out = Result<Value, FuncError>;

/// The elements of the list to look at, or Go's failure: a panic for nil, else `cannot` and the kind.
fn shared<'v>(value: &'v Value, cannot: &str) -> Result<Cow<'v, [Value]>, FuncError> {
    match items(value) {
        Some(items) => Ok(items),
        None if value.is_nil() => panic(NIL_POINTER),
        None => Err(FuncError::Error(format!("{cannot} {}", value.kind()))),
    }
}

/// A copy of the elements of the list, or Go's failure.
fn elements(value: &Value, cannot: &str) -> Result<Vec<Value>, FuncError> {
    Ok(shared(value, cannot)?.into_owned())
}

/// `[]interface {}` that is nil, as functions return it that had nothing to put in.
fn nil_list() -> Value {
    Value::typed_list(Vec::new(), ListType::Nil)
}

fn list(call: &mut Call<'_>, args: &[Value]) -> Out {
    call.engine.make((1 + args.len()) * ENTRY)?;
    Ok(Value::list(args.to_vec()))
}

fn append(call: &mut Call<'_>, args: &[Value]) -> Out {
    let list = any(args, 0);
    if is_hole(list) {
        return Ok(list.clone());
    }
    call.engine.make(ENTRY)?;
    let item = any(args, 1).clone();
    let longer = match list.repr() {
        Repr::List(list) => {
            let items = Items::with(list, item);
            Value::new(Repr::List(List { items, ty: ListType::Any }.into()))
        }
        _ => {
            let mut items = elements(list, "Cannot push on type")?;
            items.push(item);
            Value::list(items)
        }
    };
    room_for(longer.as_list().map_or(0, |list| list.items.len()))?;
    Ok(longer.under(list.origins, call.origins))
}

fn prepend(call: &mut Call<'_>, args: &[Value]) -> Out {
    let list = any(args, 0);
    if is_hole(list) {
        return Ok(list.clone());
    }
    let mut items = elements(list, "Cannot prepend on type")?;
    items.insert(0, any(args, 1).clone());
    room_for(items.len())?;
    Ok(Value::list(items).under(list.origins, call.origins))
}

fn concat(_: &mut Call<'_>, args: &[Value]) -> Out {
    let mut all = Vec::new();
    for list in args {
        match items(list) {
            Some(items) => all.extend(items.iter().cloned()),
            None if list.is_nil() => return panic(NIL_POINTER),
            None => return panic(format!("Cannot concat type {} as list", list.kind())),
        }
        room_for(all.len())?;
    }
    Ok(if all.is_empty() { nil_list() } else { Value::list(all) })
}

fn first(call: &mut Call<'_>, args: &[Value]) -> Out {
    let list = any(args, 0);
    if is_hole(list) {
        return Ok(call.engine.below(list, "[0]"));
    }
    Ok(match shared(list, "Cannot find first on type")?.first() {
        Some(item) => item.clone().under(inner(call, list), call.origins),
        None => Value::NIL.under(list.origins, call.origins),
    })
}

fn last(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(shared(any(args, 0), "Cannot find last on type")?.last().cloned().unwrap_or_default())
}

fn rest(_: &mut Call<'_>, args: &[Value]) -> Out {
    let items = elements(any(args, 0), "Cannot find rest on type")?;
    Ok(match items.split_first() {
        Some((_, rest)) => Value::list(rest.to_vec()),
        None => nil_list(),
    })
}

fn initial(_: &mut Call<'_>, args: &[Value]) -> Out {
    let items = elements(any(args, 0), "Cannot find initial on type")?;
    Ok(match items.split_last() {
        Some((_, initial)) => Value::list(initial.to_vec()),
        None => nil_list(),
    })
}

fn reverse(_: &mut Call<'_>, args: &[Value]) -> Out {
    let mut items = elements(any(args, 0), "Cannot find reverse on type")?;
    items.reverse();
    Ok(Value::list(items))
}

fn compact(_: &mut Call<'_>, args: &[Value]) -> Out {
    let mut items = elements(any(args, 0), "Cannot compact on type")?;
    items.retain(Value::truth);
    Ok(Value::list(items))
}

fn among(call: &mut Call<'_>, list: &[Value], item: &Value) -> Result<bool, FuncError> {
    for other in list {
        call.engine.step()?;
        if reflect::equal(call, item, other)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn uniq(call: &mut Call<'_>, args: &[Value]) -> Out {
    let mut kept = Vec::new();
    // A text equals texts alone: those are looked up. What else there is, is compared with each other.
    let (mut texts, mut others) = (BTreeSet::new(), Vec::new());
    for item in elements(any(args, 0), "Cannot find uniq on type")? {
        let is_new = match item.repr() {
            Repr::Str(text) => texts.insert(text.clone()),
            _ if among(call, &others, &item)? => false,
            _ => {
                others.push(item.clone());
                true
            }
        };
        if is_new {
            kept.push(item);
        }
    }
    Ok(Value::list(kept))
}

fn without(call: &mut Call<'_>, args: &[Value]) -> Out {
    let mut kept = Vec::new();
    for item in elements(any(args, 0), "Cannot find without on type")? {
        if !among(call, args.get(1..).unwrap_or_default(), &item)? {
            kept.push(item);
        }
    }
    Ok(Value::list(kept))
}

fn has(call: &mut Call<'_>, args: &[Value]) -> Out {
    let list = any(args, 1);
    if list.is_nil() {
        return Ok(Value::bool(false));
    }
    let items = shared(list, "Cannot find has on type")?;
    Ok(Value::bool(among(call, &items, any(args, 0))?))
}

fn slice(_: &mut Call<'_>, args: &[Value]) -> Out {
    let list = any(args, 0);
    let items = elements(list, "list should be type of slice or array but")?;
    if items.is_empty() {
        return Ok(Value::NIL);
    }
    let start = args.get(1).map_or(0, to_int);
    let end = args.get(2).map_or(items.len() as i64, to_int);
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    match range.and_then(|(start, end)| items.get(start..end)) {
        Some(part) => Ok(Value::typed_list(part.to_vec(), list.as_list().map_or(ListType::Str, |list| list.ty))),
        None => panic("reflect.Value.Slice: slice index out of bounds"),
    }
}

/// Computed in floats as Go does it, which makes some negative sizes count as none.
fn chunk(_: &mut Call<'_>, args: &[Value]) -> Out {
    const OUT_OF_RANGE: &str = "runtime error: makeslice: len out of range";
    let size = int(args, 0);
    let items = elements(any(args, 1), "Cannot chunk type")?;
    let len = items.len() as f64;
    let chunks = ((len - 1.0) / size as f64).floor() + 1.0;
    if !(0.0..=(super::args::MAX_ITEMS as f64)).contains(&chunks) {
        return panic(OUT_OF_RANGE);
    }
    let mut made = Vec::new();
    let mut left = items.into_iter();
    for index in 0..chunks as usize {
        let mut take = size;
        if index + 1 == chunks as usize {
            take = match len % size as f64 {
                0.0 => size,
                rest => rest as i64,
            };
        }
        let Ok(take) = usize::try_from(take) else { return panic(OUT_OF_RANGE) };
        made.push(Value::list(left.by_ref().take(take).collect()));
    }
    Ok(Value::typed_list(made, ListType::Lists))
}
