//! Arguments in, results out: what the functions share.
//!
//! The caller has counted and converted the arguments already, so the readers here need no errors: what cannot be is
//! read as empty.

use std::borrow::Cow;

use crate::base::budget::{Exhausted, MAX_OUTPUT};
use crate::template::func::{Call, FuncError, walkable};
use crate::template::print;
use crate::value::{List, ListType, Map, OriginId, OriginSet, Origins, Repr, Text, TextBuilder, Value};

pub use crate::value::NIL_POINTER;

/// What one entry of a new map or list counts for among the bytes that functions make.
pub const ENTRY: usize = 96;

/// What a new map counts for, besides its entries.
pub const MAP: usize = 512;

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
            let items = native.data().and_then(|data| data.as_list().map(|list| list.items.to_vec()));
            Some(Cow::Owned(items.unwrap_or_default()))
        }
        _ => None,
    }
}

/// Go's `strval`: a string as it is, bytes as a string, anything else as `%v` prints it.
pub fn strval(call: &mut Call<'_>, value: &Value) -> Result<Text, FuncError> {
    match value.repr() {
        Repr::List(list) if list.ty == ListType::Byte => {
            let bytes: Vec<u8> = list.items.iter().map(|b| b.as_int().unwrap_or(0) as u8).collect();
            Ok(Text::marked(bytes, value.deep_origins(call.origins)))
        }
        _ => show(call, value),
    }
}

/// What `%v` prints, with marks.
pub fn show(call: &mut Call<'_>, value: &Value) -> Result<Text, FuncError> {
    let shown = match value.repr() {
        Repr::Str(text) => owned(text, value.origins, call.origins),
        _ => {
            walkable(call, value)?;
            print::go_v_text(value, call.helm, call.origins)
        }
    };
    room(shown.len())?;
    Ok(shown)
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

/// What a value inside a container depends on besides itself: the container's origins, but for the place that the
/// container is, since what is inside has a longer place of its own.
pub fn inner(call: &Call<'_>, container: &Value) -> OriginSet {
    if container.origins.is_empty() || container.at == OriginId::NONE {
        return container.origins;
    }
    let ids = call.origins.ids(container.origins);
    call.origins.union_all(ids.iter().filter(|id| **id != container.at).map(|id| call.origins.single(*id)))
}

/// Whether something stands for what the cluster does not hold yet.
pub fn is_hole(value: &Value) -> bool {
    matches!(value.repr(), Repr::Hole(_))
}

/// The value and everything inside it, depending on `more` too: for what was read out of a text.
pub fn stamp(call: &Call<'_>, value: Value, more: OriginSet) -> Value {
    if more.is_empty() {
        return value;
    }
    let repr = match value.repr() {
        Repr::List(list) => {
            let items: Vec<Value> = list.items.iter().map(|item| stamp(call, item.clone(), more)).collect();
            Repr::List(List { items: items.into(), ty: list.ty }.into())
        }
        Repr::Map(map) => {
            let entries = map.entries();
            let stamped = entries.iter().map(|(key, item)| (key.clone(), stamp(call, item.clone(), more)));
            Repr::Map(Map::new(stamped.collect(), map.ty()))
        }
        other => other.clone(),
    };
    Value::new(repr).under(call.origins.union(value.origins, more), call.origins)
}
