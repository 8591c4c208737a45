//! Arguments in, results out: what the functions share.
//!
//! The caller has counted and converted the arguments already, so the readers here need no errors: what cannot be is
//! read as empty.

use std::borrow::Cow;

use crate::base::budget::{Exhausted, MAX_OUTPUT};
use crate::template::func::{Call, FuncError};
use crate::value::{ListType, Map, OriginId, OriginSet, Origins, Repr, Text, TextBuilder, Value};

/// The error of an access through nil.
pub const NIL_POINTER: &str = "runtime error: invalid memory address or nil pointer dereference";

/// Most elements of a list that a function makes.
pub const MAX_ITEMS: usize = 2_000_000;

/// An argument; nil if there is none.
pub fn any(args: &[Value], index: usize) -> &Value {
    args.get(index).unwrap_or(&Value::NIL)
}

/// A string argument; a hole gives its label.
pub fn text(args: &[Value], index: usize) -> Text {
    match any(args, index).repr() {
        Repr::Str(text) => text.clone(),
        Repr::Hole(hole) => Text::marked(hole.label.as_bytes(), any(args, index).origins),
        _ => Text::default(),
    }
}

/// An `int` or `int64` argument.
pub fn int(args: &[Value], index: usize) -> i64 {
    any(args, index).as_int().unwrap_or(0)
}

/// A map argument; a nil map is none.
pub fn map(args: &[Value], index: usize) -> Option<&Map> {
    any(args, index).as_map()
}

/// Fails if a text of `bytes` bytes is too much.
pub fn room(bytes: usize) -> Result<(), FuncError> {
    if bytes as u64 > MAX_OUTPUT {
        return Err(Exhausted { what: "bytes of output", limit: MAX_OUTPUT }.into());
    }
    Ok(())
}

/// Fails if a list of `items` elements is too much.
pub fn room_for(items: usize) -> Result<(), FuncError> {
    if items > MAX_ITEMS {
        return Err(Exhausted { what: "elements of a list", limit: MAX_ITEMS as u64 }.into());
    }
    Ok(())
}

/// Go panicked.
pub fn panic<T>(message: impl Into<String>) -> Result<T, FuncError> {
    Err(FuncError::Panic(message.into()))
}

/// A `string` result; its marks become origins.
pub fn made(call: &Call<'_>, text: Text) -> Result<Value, FuncError> {
    Ok(Value::text_in(text, call.origins))
}

/// The elements of a slice, `None` for what is no slice.
pub fn items(value: &Value) -> Option<Cow<'_, [Value]>> {
    match value.repr() {
        Repr::List(list) => Some(Cow::Borrowed(&list.items)),
        Repr::Native(native) if matches!(native.kind(), "slice" | "array") => {
            let items = native.data().and_then(|data| data.as_list().map(|list| list.items.clone()));
            Some(Cow::Owned(items.unwrap_or_default()))
        }
        _ => None,
    }
}

/// Go's `strval`: a string as it is, bytes as a string, anything else as `%v` prints it.
pub fn strval(call: &Call<'_>, value: &Value) -> Result<Text, FuncError> {
    match value.repr() {
        Repr::List(list) if list.ty == ListType::Byte => {
            let bytes: Vec<u8> = list.items.iter().map(|b| b.as_int().unwrap_or(0) as u8).collect();
            Ok(Text::marked(bytes, value.deep_origins(call.origins)))
        }
        _ => show(call, value),
    }
}

/// What `%v` prints, with marks.
pub fn show(call: &Call<'_>, value: &Value) -> Result<Text, FuncError> {
    if let Repr::Str(text) = value.repr() {
        return Ok(owned(text, value.origins, call.origins));
    }
    let mut out = TextBuilder::default();
    print(&mut out, value, OriginSet::EMPTY, call.origins, 0)?;
    Ok(out.finish())
}

/// The text with marks for everything its value depends on.
pub fn owned(text: &Text, of: OriginSet, origins: &Origins) -> Text {
    if of.is_empty() || origins.union(text.mark_union(origins), of) == text.mark_union(origins) {
        return text.clone();
    }
    let mut out = TextBuilder::default();
    out.push_under(text, of, origins);
    out.finish()
}

fn print(
    out: &mut TextBuilder,
    value: &Value,
    above: OriginSet,
    origins: &Origins,
    depth: usize,
) -> Result<(), FuncError> {
    room(out.len())?;
    if depth > crate::value::MAX_DEPTH {
        return Err(Exhausted { what: "levels of nesting", limit: crate::value::MAX_DEPTH as u64 }.into());
    }
    let here = origins.union(above, value.origins);
    match value.repr() {
        Repr::Nil => out.push(b"<nil>", here),
        Repr::Bool(value) => out.push(if *value { b"true" } else { b"false" }, here),
        Repr::Int(value, ty) if ty.is_unsigned() => out.push((*value as u64).to_string().as_bytes(), here),
        Repr::Int(value, _) => out.push(value.to_string().as_bytes(), here),
        Repr::Float(value) => out.push(crate::codec::float::g(*value).as_bytes(), here),
        Repr::Str(text) => out.push_under(&owned(text, value.origins, origins), above, origins),
        Repr::Hole(hole) => out.push(hole.label.as_bytes(), here),
        Repr::Native(native) => out.push(native.print(false, false).as_bytes(), here),
        Repr::List(list) => {
            out.push(b"[", here);
            for (index, item) in list.items.iter().enumerate() {
                if index > 0 {
                    out.push(b" ", here);
                }
                print(out, item, here, origins, depth + 1)?;
            }
            out.push(b"]", here);
        }
        Repr::Map(map) => {
            out.push(b"map[", here);
            for (index, (key, item)) in map.entries().iter().enumerate() {
                if index > 0 {
                    out.push(b" ", here);
                }
                out.push_under(key, here, origins);
                out.push(b":", here);
                print(out, item, here, origins, depth + 1)?;
            }
            out.push(b"]", here);
        }
    }
    Ok(())
}

/// What a value inside a container depends on besides itself: the container's origins, but for the place that the
/// container is, since what is inside has a longer place of its own.
pub fn inner(call: &Call<'_>, container: &Value) -> OriginSet {
    if container.origins.is_empty() || container.at == OriginId::NONE {
        return container.origins;
    }
    let ids = call.origins.ids(container.origins);
    call.origins.union_all(ids.iter().filter(|id| **id != container.at).map(|id| call.origins.single(*id)))
}

/// The place of a key of a map, for what depends on whether the key is there.
pub fn place(call: &Call<'_>, map: &Value, key: &Text) -> OriginId {
    call.origins.descend(map.at, &key.lossy())
}

/// What everything that is written now depends on: the branches around the call.
pub fn context(_call: &Call<'_>) -> OriginSet {
    OriginSet::EMPTY
}
