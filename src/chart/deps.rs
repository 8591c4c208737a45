//! Sub-charts: aliases, conditions, tags, import-values.

use std::collections::BTreeMap;

use serde_json::{Map as JsonMap, Value as Json};

use super::load::Chart;
use super::values::{Merging, at_path, coalesce, tables, to_json};
use crate::base::version::{HelmVersion, Quirk};
use crate::codec::json::value_from_json_floats;
use crate::funcs::semver::{Constraints, Version};
use crate::template::print::go_v;
use crate::value::{Map, MapType, Repr, Text, Value};

/// Switches sub-charts on and off, gives them their aliases, and takes over what they export, as Helm does before it
/// renders.
///
/// # Errors
/// Helm's text.
pub fn process(chart: &mut Chart, user: &Map, merging: Merging<'_>) -> Result<(), String> {
    enable(chart, user, "", merging, 0)?;
    import(chart, merging, 0)
}

/// Whether a version satisfies a constraint; what cannot be read does not.
pub fn in_range(constraint: &str, version: &str, helm: HelmVersion) -> bool {
    match (Version::parse(version, helm), Constraints::parse(constraint, helm)) {
        (Ok(version), Ok(constraints)) => constraints.check(&version),
        _ => false,
    }
}

fn name_of(dependency: &JsonMap<String, Json>) -> &str {
    dependency.get("name").and_then(Json::as_str).unwrap_or_default()
}

fn text<'j>(dependency: &'j JsonMap<String, Json>, field: &str) -> &'j str {
    dependency.get(field).and_then(Json::as_str).unwrap_or_default()
}

fn fits(dependency: &JsonMap<String, Json>, chart: &Chart, merging: Merging<'_>) -> bool {
    name_of(dependency) == chart.name() && in_range(text(dependency, "version"), chart.version(), merging.helm)
}

fn enable(chart: &mut Chart, values: &Map, path: &str, merging: Merging<'_>, depth: usize) -> Result<(), String> {
    if depth > 32 {
        return Err("sub-charts are nested too deep".into());
    }
    let mut declared = chart.declared();
    if !chart.meta.contains_key("dependencies") {
        return Ok(());
    }
    let existing = std::mem::take(&mut chart.deps);
    let mut deps: Vec<Chart> =
        existing.iter().filter(|dep| !declared.iter().any(|d| fits(d, dep, merging))).cloned().collect();
    for dependency in &mut declared {
        if let Some(found) = existing.iter().find(|dep| fits(dependency, dep, merging)) {
            let mut dep = found.clone();
            if let Some(alias) = dependency.get("alias").filter(|a| a.as_str().is_some_and(|a| !a.is_empty())) {
                dep.meta.insert("name".into(), alias.clone());
            }
            deps.push(dep);
        }
        if let Some(alias) = dependency.get("alias").filter(|a| a.as_str().is_some_and(|a| !a.is_empty())).cloned() {
            dependency.insert("name".into(), alias);
        }
        dependency.insert("enabled".into(), true.into());
    }
    chart.deps = deps;
    let merged = coalesce(chart, values, false, merging)?;
    by_tags(&mut declared, &merged);
    by_conditions(&mut declared, &merged, path);
    let off: Vec<String> = declared
        .iter()
        .filter(|d| d.get("enabled") != Some(&Json::Bool(true)))
        .map(|d| name_of(d).to_owned())
        .collect();
    chart.deps.retain(|dep| !off.iter().any(|name| name == dep.name()));
    for dep in &mut chart.deps {
        let below = format!("{path}{}.", dep.name());
        enable(dep, &merged, &below, merging, depth + 1)?;
    }
    declared.retain(|d| d.get("enabled") == Some(&Json::Bool(true)));
    if declared.is_empty() {
        // No list at all: what is not declared imports nothing.
        chart.meta.remove("dependencies");
    } else {
        chart.meta.insert("dependencies".into(), Json::Array(declared.into_iter().map(Json::Object).collect()));
    }
    Ok(())
}

fn by_tags(declared: &mut [JsonMap<String, Json>], values: &Map) {
    let Some(tags) = at_path(values, "tags").as_ref().and_then(Value::as_map).cloned() else { return };
    for dependency in declared {
        let (mut yes, mut no) = (false, false);
        for tag in dependency.get("tags").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str) {
            match tags.get(tag.as_bytes()).map(|v| v.repr().clone()) {
                Some(Repr::Bool(true)) => yes = true,
                Some(Repr::Bool(false)) => no = true,
                _ => {}
            }
        }
        dependency.insert("enabled".into(), (yes || !no).into());
    }
}

fn by_conditions(declared: &mut [JsonMap<String, Json>], values: &Map, path: &str) {
    for dependency in declared {
        let conditions = text(dependency, "condition").trim().to_owned();
        for condition in conditions.split(',').filter(|c| !c.is_empty()) {
            let found = at_path(values, &format!("{path}{}", condition.trim()));
            if let Some(Repr::Bool(on)) = found.as_ref().map(Value::repr) {
                dependency.insert("enabled".into(), (*on).into());
                break;
            }
        }
    }
}

fn import(chart: &mut Chart, merging: Merging<'_>, depth: usize) -> Result<(), String> {
    if depth > 32 {
        return Err("sub-charts are nested too deep".into());
    }
    for dep in &mut chart.deps {
        import(dep, merging, depth + 1)?;
    }
    if !chart.meta.contains_key("dependencies") {
        return Ok(());
    }
    let none = Map::new(BTreeMap::new(), MapType::Any);
    let merged = coalesce(chart, &none, true, merging)?;
    let imported = Map::new(BTreeMap::new(), MapType::Any);
    let mut declared = chart.declared();
    for dependency in &mut declared {
        let name = name_of(dependency).to_owned();
        let Some(Json::Array(imports)) = dependency.get_mut("import-values") else { continue };
        for entry in imports {
            let (child, parent) = match &*entry {
                Json::Object(map) => (word(map.get("child"), merging.helm)?, word(map.get("parent"), merging.helm)?),
                Json::String(export) => (format!("exports.{export}"), ".".to_owned()),
                _ => continue,
            };
            *entry = serde_json::json!({"child": child, "parent": parent});
            let found = at_path(&merged, &format!("{name}.{child}"));
            if let Some(found) = found.as_ref().and_then(Value::as_map) {
                let wrapped = wrap(&parent, Value::new(Repr::Map(found.clone())).deep_copy());
                tables(&imported, &wrapped, true, merging, 0);
            }
        }
    }
    chart.meta.insert("dependencies".into(), Json::Array(declared.into_iter().map(Json::Object).collect()));
    tables(&merged, &imported, true, merging, 0);
    chart.values = std::rc::Rc::new(to_json(&merged));
    Ok(())
}

/// A path of import-values: what is no text counts as what Go prints of it, or ends the run (`H-39`).
fn word(value: Option<&Json>, helm: HelmVersion) -> Result<String, String> {
    if let Some(Json::String(text)) = value {
        return Ok(text.clone());
    }
    let value = value_from_json_floats(value.unwrap_or(&Json::Null));
    if helm.has(Quirk::ImportValuesNumbers) {
        return Ok(String::from_utf8_lossy(&go_v(&value, helm)).into_owned());
    }
    let ty = if value.is_nil() { "nil".to_owned() } else { value.type_name(helm) };
    Err(format!("panic: interface conversion: interface {{}} is {ty}, not string"))
}

/// `a.b` and a table become tables around it; `.` leaves it at the top.
fn wrap(path: &str, value: Value) -> Map {
    let inner = value.as_map().cloned().unwrap_or_else(|| Map::new(BTreeMap::new(), MapType::Any));
    if path == "." {
        return inner;
    }
    path.split('.').rev().filter(|p| !p.is_empty()).fold(inner, |inner, part| {
        let entries = BTreeMap::from([(Text::from(part), Value::new(Repr::Map(inner)))]);
        Map::new(entries, MapType::Any)
    })
}
