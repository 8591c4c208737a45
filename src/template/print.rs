//! What values look like as text: Go's `%v`, and what an action writes.

use crate::base::version::HelmVersion;
use crate::codec::float;
use crate::value::{MAX_DEPTH, OriginSet, Origins, Repr, Text, TextBuilder, Value};

/// What Helm strips from finished texts: how a missing value shows.
pub const NO_VALUE: &str = "<no value>";

/// `fmt.Sprint` of one value, without marks.
pub fn go_v(value: &Value, _helm: HelmVersion) -> Vec<u8> {
    let mut out = Vec::new();
    let mut put = |bytes: &[u8], _| {
        out.extend_from_slice(bytes);
        out.len()
    };
    write(value, false, 0, &mut put, OriginSet::EMPTY, None);
    out
}

/// `fmt.Sprint` of one value; bytes keep the origins of the leaves they came from.
pub fn go_v_text(value: &Value, _helm: HelmVersion, origins: &Origins) -> Text {
    if let Repr::Str(text) = value.repr() {
        if value.origins.is_empty() || !text.mark_union(origins).is_empty() || text.is_empty() {
            return text.clone();
        }
        return Text::marked(text.bytes(), value.origins);
    }
    let mut out = TextBuilder::default();
    let mut put = |bytes: &[u8], set| {
        out.push(bytes, set);
        out.len()
    };
    write(value, false, 0, &mut put, OriginSet::EMPTY, Some(origins));
    out.finish()
}

/// What an action that yields `value` writes.
pub fn action_text(value: &Value, helm: HelmVersion, origins: &Origins) -> Text {
    match value.repr() {
        Repr::Nil => Text::marked(NO_VALUE.as_bytes(), value.origins),
        Repr::Native(native) => match native.written() {
            Some(text) => Text::marked(text.as_bytes(), value.origins),
            None => pointee_text(value, helm, origins),
        },
        _ => go_v_text(value, helm, origins),
    }
}

/// What an escaping function, and an action, prints of a value: of a pointer, what it points to.
pub fn pointee_text(value: &Value, helm: HelmVersion, origins: &Origins) -> Text {
    let shown = go_v_text(value, helm, origins);
    let is_pointer = matches!(value.repr(), Repr::Native(native) if native.kind() == "ptr");
    match shown.bytes() {
        [b'&', rest @ ..] if is_pointer => shown.slice(1, 1 + rest.len()),
        _ => shown,
    }
}

/// Most bytes of one print. Maps may hold a map twice, level by level: without a limit such a value never ends. The text
/// stops behind the limit, and so is more than a render may write.
const MAX_PRINT: usize = crate::base::budget::MAX_OUTPUT as usize;

/// Takes bytes and their origins; returns how many bytes there are.
type Put<'p> = dyn FnMut(&[u8], OriginSet) -> usize + 'p;

/// Writes a value; false when there is too much already.
#[allow(clippy::too_many_arguments)] // a walk with its state
fn write(
    value: &Value,
    plus: bool,
    depth: usize,
    out: &mut Put<'_>,
    around: OriginSet,
    origins: Option<&Origins>,
) -> bool {
    let set = match origins {
        Some(origins) => origins.union(around, value.origins),
        None => OriginSet::EMPTY,
    };
    if depth > MAX_DEPTH {
        return out(b"...", set) <= MAX_PRINT;
    }
    let length = match value.repr() {
        Repr::Nil => out(b"<nil>", set),
        Repr::Bool(value) => out(if *value { b"true" } else { b"false" }, set),
        Repr::Int(value, ty) if ty.is_unsigned() => out((*value as u64).to_string().as_bytes(), set),
        Repr::Int(value, _) => out(value.to_string().as_bytes(), set),
        Repr::Float(value) => out(float::g(*value).as_bytes(), set),
        Repr::Str(text) if text.marks().is_empty() || origins.is_none() => out(text.bytes(), set),
        Repr::Str(text) => {
            let mut at = 0;
            for mark in text.marks() {
                out(&text.bytes()[at..mark.start as usize], around);
                let own = origins.map_or(OriginSet::EMPTY, |o| o.union(around, mark.origins));
                out(&text.bytes()[mark.start as usize..mark.end as usize], own);
                at = mark.end as usize;
            }
            out(&text.bytes()[at..], around)
        }
        Repr::List(list) => {
            out(b"[", set);
            for (i, item) in list.items.iter().enumerate() {
                if i > 0 {
                    out(b" ", set);
                }
                if !write(item, plus, depth + 1, out, set, origins) {
                    return false;
                }
            }
            out(b"]", set)
        }
        Repr::Map(map) => {
            out(b"map[", set);
            for (i, (key, item)) in map.entries().iter().enumerate() {
                if i > 0 {
                    out(b" ", set);
                }
                out(key.bytes(), set);
                out(b":", set);
                if !write(item, plus, depth + 1, out, set, origins) {
                    return false;
                }
            }
            out(b"]", set)
        }
        // Inside of something, Go shows where a pointer points.
        Repr::Native(native) if depth > 0 && native.kind() == "ptr" && native.members().is_some() => {
            out(super::format::ADDRESS.as_bytes(), set)
        }
        Repr::Native(native) => out(native.print(plus, false).as_bytes(), set),
        Repr::Hole(hole) => out(hole.label.as_bytes(), set),
    };
    length <= MAX_PRINT
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn shown(value: Value) -> String {
        String::from_utf8(go_v(&value, HelmVersion::cli(4, 2, 2))).unwrap()
    }

    #[test]
    fn containers_show_as_go_prints_them() {
        let map = Value::map(BTreeMap::from([
            ("b".into(), Value::NIL),
            ("a".into(), Value::list(vec![Value::int(1), Value::text("x y")])),
        ]));
        assert_eq!(shown(map), "map[a:[1 x y] b:<nil>]");
        assert_eq!(shown(Value::float(1e6)), "1e+06");
        assert_eq!(shown(Value::float(100000.0)), "100000");
    }
}
