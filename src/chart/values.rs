//! Values: layers laid over each other as Helm does it, each leaf with the layer it came from.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Map as JsonMap, Value as Json};

use super::load::Chart;
use crate::base::version::{HelmVersion, Quirk};
use crate::codec::json::{value_from_json, value_from_json_floats};
use crate::codec::yaml;
use crate::template::printf::sprintf;
use crate::value::origin::{Layer, Origin};
use crate::value::{Map, MapType, OriginId, Origins, Repr, Text, Value};

/// Most nesting of values that are merged.
const MAX_DEPTH: usize = 400;

/// What merging depends on.
#[derive(Clone, Copy)]
pub struct Merging<'a> {
    /// The Helm that is imitated.
    pub helm: HelmVersion,
    /// Table of origins.
    pub origins: &'a Origins,
}

/// A tree of values whose leaves know their layer.
pub fn layered(json: &Json, layer: Layer, origins: &Origins) -> Value {
    let at = origins.intern(Origin::Value { layer, path: "".into() });
    place(value_from_json_floats(json), at, origins)
}

/// The user's values, each leaf with the layer that gives it: the last of `layers` that holds it as it is, else the last
/// that holds it, else `rest`. Integers are real ones, as a target path writes them (`F-118`): all other numbers have to be
/// doubles.
pub fn layered_from(json: &Json, layers: &[(Rc<str>, Json)], rest: &str, origins: &Origins) -> Value {
    if !origins.tracking() {
        return value_from_json(json);
    }
    let holders: Vec<Holder<'_>> = layers.iter().map(|(name, json)| (name, json)).collect();
    place_from(json, &holders, &rest.into(), "", origins)
}

/// A layer's name, and what it holds at the place.
type Holder<'a> = (&'a Rc<str>, &'a Json);

fn place_from(json: &Json, holders: &[Holder<'_>], above: &Rc<str>, path: &str, origins: &Origins) -> Value {
    let same = holders.iter().rev().find(|(_, held)| crate::diff::equal(held, json));
    let giver = same.or(holders.last()).map_or(above, |(name, _)| *name);
    let at = || origins.intern(Origin::Value { layer: Layer::User(giver.clone()), path: path.into() });
    let below = |step: &dyn Fn(&Json) -> Option<&Json>| -> Vec<Holder<'_>> {
        holders.iter().filter_map(|(name, held)| Some((*name, step(held)?))).collect()
    };
    let mut value = match json {
        Json::Object(map) => {
            let placed = map.iter().map(|(key, child)| {
                let holders = below(&|held| held.get(key));
                let value = place_from(child, &holders, giver, &format!("{path}.{key}"), origins);
                (Text::from(key.as_str()), value)
            });
            Value::map(placed.collect())
        }
        Json::Array(list) => {
            let placed = list.iter().enumerate().map(|(i, child)| {
                let holders = below(&|held| held.get(i));
                place_from(child, &holders, giver, &format!("{path}[{i}]"), origins)
            });
            Value::list(placed.collect())
        }
        leaf => value_from_json(leaf).located(at(), origins),
    };
    value.at = at();
    value
}

fn place(value: Value, at: OriginId, origins: &Origins) -> Value {
    if !origins.tracking() {
        return value;
    }
    let mut value = match value.repr() {
        Repr::Map(map) => {
            let entries = map.entries();
            let placed =
                entries.iter().map(|(k, v)| (k.clone(), place(v.clone(), origins.descend(at, &k.lossy()), origins)));
            Value::new(Repr::Map(Map::new(placed.collect(), map.ty())))
        }
        Repr::List(list) => {
            let items = list.items.iter().enumerate();
            let items = items.map(|(i, v)| place(v.clone(), origins.descend(at, &format!("[{i}]")), origins)).collect();
            Value::typed_list(items, list.ty)
        }
        _ => value.located(at, origins),
    };
    value.at = at;
    value
}

/// A chart's own values.
fn own_values(chart: &Chart, path: &str, merging: Merging<'_>) -> Map {
    let json = Json::Object((*chart.values).clone());
    map_of(layered(&json, Layer::Chart(path.into()), merging.origins))
}

fn map_of(value: Value) -> Map {
    value.as_map().cloned().unwrap_or_else(|| Map::new(BTreeMap::new(), MapType::Any))
}

/// The user's values over a chart's and its sub-charts' own. `merge` keeps nulls, for what is merged again later.
///
/// # Errors
/// Helm's text.
pub fn coalesce(chart: &Chart, user: &Map, merge: bool, merging: Merging<'_>) -> Result<Map, String> {
    let copy = map_of(Value::new(Repr::Map(user.clone())).deep_copy());
    coalesce_chart(chart, &copy, chart.name(), merge, merging, 0)?;
    Ok(copy)
}

fn coalesce_chart(
    chart: &Chart,
    dest: &Map,
    path: &str,
    merge: bool,
    merging: Merging<'_>,
    depth: usize,
) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err("sub-charts are nested too deep".into());
    }
    own_over(chart, dest, path, merge, merging);
    for dep in &chart.deps {
        let below = match dest.get(dep.name().as_bytes()) {
            None => {
                let map = Map::new(BTreeMap::new(), MapType::Any);
                dest.insert(dep.name(), Value::new(Repr::Map(map.clone())));
                map
            }
            Some(value) => match value.as_map() {
                Some(map) => map.clone(),
                None => {
                    let shown = sprintf(&"%t".into(), std::slice::from_ref(&value), merging.helm, merging.origins);
                    return Err(format!("type mismatch on {}: {}", dep.name(), shown.lossy()));
                }
            },
        };
        globals(&below, dest, merging);
        coalesce_chart(dep, &below, &format!("{path}/charts/{}", dep.name()), merge, merging, depth + 1)?;
    }
    Ok(())
}

/// A chart's own values under those given. Towards a sub-chart's table nulls are kept: they speak to that chart.
fn own_over(chart: &Chart, dest: &Map, path: &str, merge: bool, merging: Merging<'_>) {
    let drops = merging.helm.has(Quirk::DropsDefaultNulls);
    let own = own_values(chart, path, merging);
    let own: Vec<(Text, Value)> = own.entries().iter().map(|(k, v)| (k.clone(), v.clone())).collect();
    for (key, value) in own {
        match dest.get(key.bytes()) {
            None if drops && !merge => {
                if !value.is_nil() {
                    dest.insert(key, without_nulls(&value, 0));
                }
            }
            None => dest.insert(key, value),
            Some(given) if given.is_nil() && !merge => {
                dest.entries_mut().remove(key.bytes());
            }
            Some(given) => {
                let merge = merge || chart.deps.iter().any(|dep| dep.name().as_bytes() == key.bytes());
                let value = if drops && !merge { without_nulls(&value, 0) } else { value };
                if let (Some(dst), Some(src)) = (given.as_map(), value.as_map()) {
                    tables(dst, src, merge, merging, 0);
                }
            }
        }
    }
}

/// A value without the nulls of its maps; those in lists stay (`H-1`).
fn without_nulls(value: &Value, depth: usize) -> Value {
    match value.repr() {
        Repr::Map(map) if depth < MAX_DEPTH => {
            let entries = map
                .entries()
                .iter()
                .filter(|(_, v)| !v.is_nil())
                .map(|(k, v)| (k.clone(), without_nulls(v, depth + 1)))
                .collect();
            let mut clean = Value::new(Repr::Map(Map::new(entries, map.ty())));
            clean.origins = value.origins;
            clean.at = value.at;
            clean
        }
        _ => value.clone(),
    }
}

/// `dst` wins over `src`, table by table.
pub fn tables(dst: &Map, src: &Map, merge: bool, merging: Merging<'_>, depth: usize) {
    if depth > MAX_DEPTH || dst.same(src) {
        return;
    }
    let keeps = merging.helm.has(Quirk::KeepsNullOverNestedNull);
    let source: Vec<(Text, Value)> = src.entries().iter().map(|(k, v)| (k.clone(), v.clone())).collect();
    for (key, value) in source {
        match dst.get(key.bytes()) {
            None => dst.insert(key, value),
            Some(given) if given.is_nil() && !merge => {
                if !(keeps && value.is_nil()) {
                    dst.entries_mut().remove(key.bytes());
                }
            }
            Some(given) => {
                if let (Some(dst), Some(src)) = (given.as_map(), value.as_map()) {
                    tables(dst, src, merge, merging, depth + 1);
                }
            }
        }
    }
}

/// The globals of the chart above reach the values below; they win there. Tables inside them are shared, not copied:
/// what a chart below adds deeper in them shows above too, as in Helm.
fn globals(below: &Map, above: &Map, merging: Merging<'_>) {
    let table = |map: &Map| match map.get(b"global") {
        None => Some(Map::new(BTreeMap::new(), MapType::Any)),
        Some(value) => value.as_map().cloned(),
    };
    let (Some(dst), Some(src)) = (table(below), table(above)) else { return };
    let source: Vec<(Text, Value)> = src.entries().iter().map(|(k, v)| (k.clone(), v.clone())).collect();
    for (key, value) in source {
        match (value.as_map(), dst.get(key.bytes())) {
            (Some(map), old) => {
                let copy = Map::new(map.entries().clone(), map.ty());
                match old.as_ref().map(Value::as_map) {
                    Some(None) => continue,
                    Some(Some(old)) => tables(&copy, old, true, merging, 0),
                    None => {}
                }
                let mut shared = Value::new(Repr::Map(copy));
                (shared.origins, shared.at) = (value.origins, value.at);
                dst.insert(key, shared);
            }
            (None, Some(old)) if old.as_map().is_some() => {}
            (None, _) => dst.insert(key, value),
        }
    }
    below.insert("global", Value::new(Repr::Map(dst)));
}

/// Values files (and `-f`) laid over each other: later ones win, nulls stay.
pub fn overlay(dst: &Map, src: &Map, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    let source: Vec<(Text, Value)> = src.entries().iter().map(|(k, v)| (k.clone(), v.clone())).collect();
    for (key, value) in source {
        if let (Some(new), Some(old)) = (value.as_map(), dst.get(key.bytes()).as_ref().and_then(Value::as_map)) {
            overlay(old, new, depth + 1);
        } else {
            dst.insert(key, value);
        }
    }
}

/// A values file as that Helm reads it (`H-34` to `H-37`): Helm 3 its first document, Helm 4 all of them, one over the
/// other.
///
/// # Errors
/// Helm's text.
pub fn read_file(bytes: &[u8], helm: HelmVersion) -> Result<Map, String> {
    let read = |bytes: &[u8]| yaml::helm_unmarshal(bytes).map(map_of);
    if !helm.has(Quirk::MultiDocumentValues) {
        return read(bytes);
    }
    let all = Map::new(BTreeMap::new(), MapType::Any);
    let mut document = Vec::new();
    let mut lines = bytes.split_inclusive(|b| *b == b'\n').peekable();
    while let Some(line) = lines.next() {
        let is_last = lines.peek().is_none();
        if is_last && !line.ends_with(b"\n") && line.len() % 4096 == 0 && helm.has(Quirk::LosesLastLine) {
            continue;
        }
        let line = line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
        if let Some(rest) = line.strip_prefix(b"---") {
            let rest = String::from_utf8_lossy(rest);
            let rest = rest.trim();
            if !rest.is_empty() && !rest.starts_with('#') {
                return Err(format!("error reading yaml document: invalid Yaml document separator: {rest}"));
            }
            if !document.is_empty() {
                lay_over(&all, &std::mem::take(&mut document), &read)?;
                continue;
            }
        }
        document.extend_from_slice(line);
        document.push(b'\n');
    }
    lay_over(&all, &document, &read)?;
    Ok(all)
}

fn lay_over(all: &Map, document: &[u8], read: &dyn Fn(&[u8]) -> Result<Map, String>) -> Result<(), String> {
    if !document.is_empty() {
        let map = read(document).map_err(|e| format!("cannot unmarshal yaml document: {e}"))?;
        overlay(all, &map, 0);
    }
    Ok(())
}

/// What lies at a dotted path; `None` if nothing does, or a table where `leaf` is asked for.
pub fn at_path(map: &Map, path: &str) -> Option<Value> {
    let mut map = map.clone();
    let mut parts = path.split('.').peekable();
    while let Some(part) = parts.next() {
        let value = map.get(part.as_bytes())?;
        if parts.peek().is_none() {
            return Some(value);
        }
        map = value.as_map()?.clone();
    }
    None
}

/// Plain JSON of a map.
pub fn to_json(map: &Map) -> JsonMap<String, Json> {
    match crate::codec::json::value_to_json(&Value::new(Repr::Map(map.clone()))) {
        Json::Object(map) => map,
        _ => JsonMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::rc::Rc;

    fn chart(name: &str, values: Json, deps: Vec<Chart>) -> Chart {
        let meta = json!({"name": name, "version": "1.0.0", "apiVersion": "v2"}).as_object().cloned().unwrap();
        Chart { meta, values: Rc::new(values.as_object().cloned().unwrap()), deps, ..Chart::default() }
    }

    fn merged(chart: &Chart, user: Json, helm: &str) -> Json {
        let origins = Origins::new(true);
        let merging = Merging { helm: helm.parse().unwrap(), origins: &origins };
        let user = map_of(layered(&user, Layer::User("user".into()), &origins));
        Json::Object(to_json(&coalesce(chart, &user, false, merging).unwrap()))
    }

    #[test]
    fn h_1_nulls_of_a_charts_own_values_are_no_values_from_4_2() {
        let chart = chart("a", json!({"top": null, "l": [null], "m": {"nn": null}}), vec![]);
        assert_eq!(merged(&chart, json!({}), "4.1"), json!({"top": null, "l": [null], "m": {"nn": null}}));
        assert_eq!(merged(&chart, json!({}), "4.2"), json!({"l": [null], "m": {}}));
    }

    #[test]
    fn h_3_nulls_of_the_user_remove_defaults_and_stay_where_there_is_none() {
        let chart = chart("a", json!({"m": {"a": 1.0}}), vec![]);
        for helm in ["3.17", "4.1", "4.2"] {
            assert_eq!(merged(&chart, json!({"m": {"a": null}, "new": null}), helm), json!({"m": {}, "new": null}));
        }
    }

    #[test]
    fn h_5_h_6_a_parents_null_speaks_to_the_sub_chart_when_the_user_speaks_to_it_too() {
        let parent = || {
            let sub = chart("sub", json!({"a": 1.0, "k": 1.0}), vec![]);
            chart("p", json!({"sub": {"a": null, "new": null}}), vec![sub])
        };
        let global = json!({});
        assert_eq!(merged(&parent(), json!({}), "4.1")["sub"], json!({"k": 1.0, "new": null, "global": global}));
        assert_eq!(merged(&parent(), json!({}), "4.2")["sub"], json!({"a": 1.0, "k": 1.0, "global": global}));
        let touched = json!({"k": 2.0, "new": null, "global": global});
        assert_eq!(merged(&parent(), json!({"sub": {"k": 2.0}}), "4.2")["sub"], touched);
    }

    #[test]
    fn h_34_h_35_helm_4_reads_all_documents_and_may_lose_the_last_line() {
        let read = |text: &str, helm: &str| {
            Json::Object(to_json(&read_file(text.as_bytes(), helm.parse().unwrap()).unwrap())).to_string()
        };
        assert_eq!(read("a: 1\n---\na: 2\nb: 3\n", "3.17"), r#"{"a":1.0}"#);
        assert_eq!(read("a: 1\n---\na: 2\nb: 3\n", "4.2"), r#"{"a":2.0,"b":3.0}"#);
        let long = format!("a: 1\nb: {}", "x".repeat(4093));
        assert_eq!(read(&long, "4.2"), r#"{"a":1.0}"#);
        assert!(read(&long, "4.3").contains("xxx"));
    }

    #[test]
    fn globals_reach_down_and_win() {
        let sub = chart("sub", json!({"global": {"g": "x", "own": "y"}}), vec![]);
        let parent = chart("a", json!({"global": {"g": "parent"}}), vec![sub]);
        let all = merged(&parent, json!({}), "4.2");
        assert_eq!(all["sub"]["global"], json!({"g": "parent", "own": "y"}));
    }
}
