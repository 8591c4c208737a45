//! Deep merging of maps, as the template functions do it (values of charts follow other rules).

use crate::base::budget::Exhausted;
use crate::template::func::{Call, FuncError};
use crate::value::{MAX_DEPTH, Map, MapType, OriginSet, Repr, Text, Value};

/// Whose value stays when both maps have one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The target's, unless it is empty.
    KeepFull,
    /// The source's, empty or not.
    Overwrite,
}

/// Merges `from` into `to`, in place; what is added depends on `under` too.
///
/// Lists are values, not merged. Nil in the source counts as missing unless it overwrites. Maps that are added are
/// shared with the source, not copied.
pub fn into(call: &mut Call<'_>, to: &Map, from: &Map, under: OriginSet, mode: Mode) -> Result<(), FuncError> {
    below(call, to, from, under, mode, 0)
}

fn below(
    call: &mut Call<'_>,
    to: &Map,
    from: &Map,
    under: OriginSet,
    mode: Mode,
    depth: usize,
) -> Result<(), FuncError> {
    if depth > MAX_DEPTH {
        return Err(Exhausted { what: "levels of nesting", limit: MAX_DEPTH as u64 }.into());
    }
    let source: Vec<(Text, Value)> = from.entries().iter().map(|(k, v)| (k.clone(), v.clone())).collect();
    for (key, value) in source {
        call.engine.step()?;
        if value.is_nil() {
            if mode == Mode::Overwrite {
                put(call, to, from, key, value, under)?;
            }
            continue;
        }
        let held = to.get(key.bytes());
        if let (Some(inner_from), Some(inner_to)) = (value.as_map(), held.as_ref().and_then(Value::as_map)) {
            let under = call.origins.union(under, super::args::inner(call, &value));
            below(call, inner_to, inner_from, under, mode, depth + 1)?;
        }
        let full = held.as_ref().filter(|held| held.truth());
        let stays = match (full, value.repr()) {
            (None, _) => false,
            (Some(_), Repr::List(_)) => mode == Mode::KeepFull,
            (Some(held), Repr::Map(_)) if held.as_map().is_some() => true,
            _ => mode == Mode::KeepFull,
        };
        if !stays {
            put(call, to, from, key, value, under)?;
        }
    }
    Ok(())
}

fn put(call: &Call<'_>, to: &Map, from: &Map, key: Text, value: Value, under: OriginSet) -> Result<(), FuncError> {
    if to.ty() == MapType::Str && from.ty() != MapType::Str {
        let message = "reflect.Value.SetMapIndex: value of type interface {} is not assignable to type string";
        return Err(FuncError::Panic(message.into()));
    }
    to.insert(key, value.under(under, call.origins));
    Ok(())
}
