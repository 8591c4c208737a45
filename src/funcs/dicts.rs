//! Map functions. Maps are shared: `set`, `unset` and the merges change the map they are given.

use std::collections::BTreeMap;

use super::args::{ENTRY, MAP, any, inner, is_hole, map, panic, strval, text};
use super::merge::{self, Mode};
use super::{many, pure, strings};
use crate::base::budget::Exhausted;
use crate::template::func::{Call, Flow, FuncDef, FuncError, Param as P};
use crate::value::{List, MAX_DEPTH, Map, MapType, Repr, Value};

/// This file's part of the function table.
pub const FUNCS: &[FuncDef] = &[
    pure("deepCopy", &[P::Any], Flow::Own, deep_copy, "A copy that shares no map."),
    many("dict", &[], P::Any, Flow::Own, dict, "A map of keys and values."),
    many("dig", &[], P::Any, Flow::Own, dig, "A value some maps deep, or a default."),
    pure("get", &[P::Map, P::Str], Flow::Own, get, "The value of a key; an empty string if it is missing."),
    pure("hasKey", &[P::Map, P::Str], Flow::Own, has_key, "Whether the map has the key."),
    many("keys", &[], P::Map, Flow::Shallow, keys, "The keys, sorted map by map (any order in Go)."),
    many("merge", &[P::Map], P::Map, Flow::Own, merge_keep, "Adds what the first map lacks or has empty."),
    many("mergeOverwrite", &[P::Map], P::Map, Flow::Own, merge_over, "Puts later maps over the first."),
    pure("mustDeepCopy", &[P::Any], Flow::Own, deep_copy, "As `deepCopy`."),
    many("mustMerge", &[P::Map], P::Map, Flow::Own, merge_keep, "As `merge`."),
    many("mustMergeOverwrite", &[P::Map], P::Map, Flow::Own, merge_over, "As `mergeOverwrite`."),
    many("omit", &[P::Map], P::Str, Flow::Shallow, omit, "The map without those keys."),
    many("pick", &[P::Map], P::Str, Flow::Shallow, pick, "The map with just those keys."),
    many("pluck", &[P::Str], P::Map, Flow::Shallow, pluck, "The key's values of all maps that have it."),
    pure("set", &[P::Map, P::Str, P::Any], Flow::Own, set, "Sets a key in place."),
    pure("unset", &[P::Map, P::Str], Flow::Own, unset, "Removes a key in place."),
    pure("values", &[P::Map], Flow::Shallow, values, "The values, in order of their keys (any order in Go)."),
];

type Out = Result<Value, FuncError>;

fn dict(call: &mut Call<'_>, args: &[Value]) -> Out {
    call.engine.make(MAP + args.len() * ENTRY)?;
    let mut entries = BTreeMap::new();
    for pair in args.chunks(2) {
        let key = strval(call, any(pair, 0))?;
        entries.insert(key, pair.get(1).cloned().unwrap_or_else(|| Value::text("")));
    }
    let keys = call.origins.union_all(args.iter().step_by(2).map(|key| key.deep_origins(call.origins)));
    Ok(Value::map(entries).under(keys, call.origins))
}

/// What a map holds under a key, and whether it holds anything: what is missing knows where, and may be a hole.
fn entry(call: &Call<'_>, holder: &Value, key: &Value) -> (Value, bool) {
    let name = text(std::slice::from_ref(key), 0);
    if is_hole(holder) {
        return (call.engine.below(holder, &name.lossy()), true);
    }
    if is_hole(key) {
        return (key.clone(), true);
    }
    let found = holder.as_map().and_then(|map| map.get(name.bytes()));
    let there = found.is_some();
    let value = call.engine.entry(holder, &name.lossy(), found);
    let there = there || is_hole(&value);
    let reads = call.origins.union(inner(call, holder), key.origins);
    (value.under(reads, call.origins), there)
}

/// Something else in place of what is missing: it depends on what the missing depends on, and while it is empty it is
/// missing there.
fn instead(call: &Call<'_>, missing: &Value, instead: Value) -> Value {
    let mut value = instead.under(missing.origins, call.origins);
    if !value.truth() {
        value.at = missing.at;
    }
    value
}

fn get(call: &mut Call<'_>, args: &[Value]) -> Out {
    let (value, there) = entry(call, any(args, 0), any(args, 1));
    Ok(if there { value } else { instead(call, &value, Value::text("")) })
}

fn has_key(call: &mut Call<'_>, args: &[Value]) -> Out {
    let holder = any(args, 0);
    let (value, there) = entry(call, holder, any(args, 1));
    if is_hole(&value) {
        return Ok(value);
    }
    let at = call.origins.single(call.origins.descend(holder.at, &text(args, 1).lossy()));
    let reads = call.origins.union_all([at, inner(call, holder), any(args, 1).origins]);
    Ok(Value::bool(there).under(reads, call.origins))
}

fn set(call: &mut Call<'_>, args: &[Value]) -> Out {
    let (holder, key) = (any(args, 0), text(args, 1));
    if is_hole(holder) {
        return Ok(holder.clone());
    }
    call.engine.make(ENTRY)?;
    let map = holder.as_map().filter(|map| map.ty() != MapType::Nil);
    let Some(map) = map else { return panic("assignment to entry in nil map") };
    let under = call.origins.union(call.context, any(args, 1).origins);
    map.insert(key, any(args, 2).clone().under(under, call.origins));
    Ok(holder.clone())
}

fn unset(_: &mut Call<'_>, args: &[Value]) -> Out {
    if let Some(map) = map(args, 0) {
        map.entries_mut().remove(text(args, 1).bytes());
        return Ok(any(args, 0).clone());
    }
    Ok(Value::new(Repr::Map(Map::new(BTreeMap::new(), MapType::Nil))))
}

fn pluck(_: &mut Call<'_>, args: &[Value]) -> Out {
    let key = text(args, 0);
    let maps = args.iter().skip(1).filter_map(Value::as_map);
    Ok(Value::list(maps.filter_map(|map| map.get(key.bytes())).collect()))
}

fn keys(call: &mut Call<'_>, args: &[Value]) -> Out {
    let mut keys = Vec::new();
    for map in args.iter().filter_map(Value::as_map) {
        keys.extend(map.entries().keys().cloned());
        super::args::room_for(keys.len())?;
    }
    Ok(strings::strings(call, keys))
}

fn values(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::list(map(args, 0).map(|map| map.entries().values().cloned().collect()).unwrap_or_default()))
}

fn pick(_: &mut Call<'_>, args: &[Value]) -> Out {
    let mut picked = BTreeMap::new();
    if let Some(map) = map(args, 0) {
        for index in 1..args.len() {
            let key = text(args, index);
            if let Some(value) = map.get(key.bytes()) {
                picked.insert(key, value);
            }
        }
    }
    Ok(Value::map(picked))
}

fn omit(_: &mut Call<'_>, args: &[Value]) -> Out {
    let mut kept = map(args, 0).map(|map| map.entries().clone()).unwrap_or_default();
    for index in 1..args.len() {
        kept.remove(text(args, index).bytes());
    }
    Ok(Value::map(kept))
}

fn merge_keep(call: &mut Call<'_>, args: &[Value]) -> Out {
    merge_all(call, args, Mode::KeepFull)
}

fn merge_over(call: &mut Call<'_>, args: &[Value]) -> Out {
    merge_all(call, args, Mode::Overwrite)
}

fn merge_all(call: &mut Call<'_>, args: &[Value], mode: Mode) -> Out {
    if let Some(hole) = args.iter().find(|arg| is_hole(arg)) {
        return Ok(hole.clone());
    }
    let mut target = any(args, 0).clone();
    let nil_map = target.as_map().is_some_and(|map| map.ty() == MapType::Nil);
    if (target.is_nil() || nil_map) && args.len() > 1 {
        target = Value::map(BTreeMap::new()).under(target.origins, call.origins);
    }
    for source in args.iter().skip(1) {
        if let (Some(to), Some(from)) = (target.as_map().cloned(), source.as_map()) {
            let under = call.origins.union(call.context, inner(call, source));
            merge::into(call, &to, from, under, mode)?;
        }
        target = target.under(source.origins, call.origins);
    }
    Ok(target)
}

fn deep_copy(call: &mut Call<'_>, args: &[Value]) -> Out {
    let value = any(args, 0);
    if value.is_nil() {
        return panic("reflect: call of reflect.Value.Type on zero Value");
    }
    copy(call, value, 0)
}

fn copy(call: &mut Call<'_>, value: &Value, depth: usize) -> Out {
    call.engine.step()?;
    call.engine.make(if value.as_map().is_some() { MAP } else { ENTRY })?;
    if depth > MAX_DEPTH {
        return Err(Exhausted { what: "levels of nesting", limit: MAX_DEPTH as u64 }.into());
    }
    let repr = match value.repr() {
        Repr::List(list) => {
            let items: Result<Vec<Value>, _> = list.items.iter().map(|item| copy(call, item, depth + 1)).collect();
            Repr::List(List { items: items?.into(), ty: list.ty }.into())
        }
        Repr::Map(map) => {
            let entries: Result<_, FuncError> =
                map.entries().iter().map(|(key, item)| Ok((key.clone(), copy(call, item, depth + 1)?))).collect();
            Repr::Map(Map::new(entries?, map.ty()))
        }
        Repr::Native(native) => native.copied().map_or_else(|| value.repr().clone(), |copy| copy.repr().clone()),
        other => other.clone(),
    };
    let mut copied = Value::new(repr).under(value.origins, call.origins);
    copied.at = value.at;
    Ok(copied)
}

fn dig(call: &mut Call<'_>, args: &[Value]) -> Out {
    let [keys @ .., default, map] = args else { return panic("dig needs at least three arguments") };
    if keys.is_empty() {
        return panic("dig needs at least three arguments");
    }
    let not = |value: &Value, wanted: &str| {
        let is = if value.is_nil() { "nil".to_owned() } else { value.type_name(call.helm) };
        FuncError::Panic(format!("interface conversion: interface {{}} is {is}, not {wanted}"))
    };
    let is_map = |value: &Value| value.as_map().is_some_and(|map| matches!(map.ty(), MapType::Any | MapType::Nil));
    if !is_map(map) && !is_hole(map) {
        return Err(not(map, "map[string]interface {}"));
    }
    if let Some(key) = keys.iter().find(|key| key.as_text().is_none() && !is_hole(key)) {
        return Err(not(key, "string"));
    }
    let mut at = map.clone();
    for key in keys {
        if !is_map(&at) && !is_hole(&at) {
            return Err(not(&at, "map[string]interface {}"));
        }
        let (value, there) = entry(call, &at, key);
        if !there {
            return Ok(instead(call, &value, default.clone()));
        }
        at = value;
    }
    Ok(at)
}
