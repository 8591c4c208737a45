//! Helm's own functions: templates, facts, and the data formats.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::args::{any, is_hole, made, stamp, text};
use super::{always, pure};
use crate::base::version::{HelmVersion, Quirk};
use crate::codec::{json, toml, yaml};
use crate::template::func::{Call, Effect, Flow, FuncDef, FuncError, Param as P, walkable};
use crate::value::origin::LookupKey;
use crate::value::{ListType, Map, MapType, Origins, Repr, Text, Value};

/// This file's part of the function table.
pub const FUNCS: &[FuncDef] = &[
    FuncDef {
        name: "fail",
        params: &[P::Str],
        variadic: None,
        flow: Flow::Deep,
        effect: Effect::Abort,
        since: always,
        run: fail,
        doc: "Ends the render with a message.",
    },
    pure("fromJson", &[P::Str], Flow::Deep, from_json, "Reads a JSON object; an error is under `Error`."),
    pure("fromJsonArray", &[P::Str], Flow::Deep, from_json_array, "Reads a JSON array; an error is its element."),
    pure("fromToml", &[P::Str], Flow::Deep, from_toml, "Reads TOML; an error is under `Error`."),
    pure("fromYaml", &[P::Str], Flow::Deep, from_yaml, "Reads a YAML mapping; an error is under `Error`."),
    pure("fromYamlArray", &[P::Str], Flow::Deep, from_yaml_array, "Reads a YAML list; an error is its element."),
    pure("getHostByName", &[P::Str], Flow::Deep, get_host_by_name, "Nothing, as host names are not resolved."),
    pure("include", &[P::Str, P::Any], Flow::Own, include, "Executes a template and returns its text."),
    FuncDef {
        name: "lookup",
        params: &[P::Str, P::Str, P::Str, P::Str],
        variadic: None,
        flow: Flow::Own,
        effect: Effect::Fact,
        since: always,
        run: lookup,
        doc: "An object of the cluster, or a list: apiVersion, kind, namespace, name.",
    },
    pure("mustFromJson", &[P::Str], Flow::Deep, must_from_json, "Reads any JSON, or fails."),
    pure("mustToJson", &[P::Any], Flow::Deep, must_to_json, "As `toJson`, or fails."),
    pure("mustToPrettyJson", &[P::Any], Flow::Deep, must_to_pretty_json, "As `toPrettyJson`, or fails."),
    pure("mustToRawJson", &[P::Any], Flow::Deep, to_raw_json, "As `toRawJson`."),
    FuncDef {
        name: "mustToToml",
        params: &[P::Any],
        variadic: None,
        flow: Flow::Deep,
        effect: Effect::Pure,
        since: has_must_to_toml,
        run: must_to_toml,
        doc: "As `toToml`, or fails.",
    },
    FuncDef {
        name: "mustToYaml",
        params: &[P::Any],
        variadic: None,
        flow: Flow::Deep,
        effect: Effect::Pure,
        since: has_must_to_yaml,
        run: must_to_yaml,
        doc: "As `toYaml`, or fails.",
    },
    FuncDef {
        name: "required",
        params: &[P::Str, P::Any],
        variadic: None,
        flow: Flow::Own,
        effect: Effect::Abort,
        since: always,
        run: required,
        doc: "The value; ends the render with the message if it is nil or an empty string.",
    },
    pure("toJson", &[P::Any], Flow::Deep, to_json, "Writes JSON; nothing if that is impossible."),
    pure("toPrettyJson", &[P::Any], Flow::Deep, to_pretty_json, "Writes indented JSON; nothing if impossible."),
    pure("toRawJson", &[P::Any], Flow::Deep, to_raw_json, "Writes JSON without HTML escapes, or fails."),
    pure("toToml", &[P::Any], Flow::Deep, to_toml, "Writes TOML; for what cannot be, the error's text."),
    pure("toYaml", &[P::Any], Flow::Deep, to_yaml, "Writes YAML; nothing if that is impossible."),
    pure("toYamlPretty", &[P::Any], Flow::Deep, to_yaml_pretty, "Writes YAML with indented lists."),
    pure("tpl", &[P::Str, P::Any], Flow::Own, tpl, "Executes a text as a template."),
];

type Out = Result<Value, FuncError>;

fn has_must_to_yaml(helm: HelmVersion) -> bool {
    helm.has(Quirk::MustToYaml)
}

fn has_must_to_toml(helm: HelmVersion) -> bool {
    helm.has(Quirk::MustToToml)
}

fn include(call: &mut Call<'_>, args: &[Value]) -> Out {
    if is_hole(any(args, 0)) {
        return Ok(any(args, 0).clone());
    }
    let name = text(args, 0);
    call.engine.execute(&name.lossy(), any(args, 1))
}

fn tpl(call: &mut Call<'_>, args: &[Value]) -> Out {
    if is_hole(any(args, 0)) {
        return Ok(any(args, 0).clone());
    }
    call.engine.execute_text(&text(args, 0), any(args, 1))
}

fn warning(message: &Text) -> FuncError {
    FuncError::Error(message.lossy().into_owned())
}

fn fail(_: &mut Call<'_>, args: &[Value]) -> Out {
    Err(warning(&text(args, 0)))
}

fn required(_: &mut Call<'_>, args: &[Value]) -> Out {
    let value = any(args, 1);
    if value.is_nil() || value.as_text().is_some_and(Text::is_empty) {
        return Err(warning(&text(args, 0)));
    }
    Ok(value.clone())
}

fn lookup(call: &mut Call<'_>, args: &[Value]) -> Out {
    if let Some(hole) = args.iter().find(|arg| is_hole(arg)) {
        return Ok(hole.clone());
    }
    let word = |index| -> Rc<str> { text(args, index).lossy().into() };
    let key = LookupKey { api_version: word(0), kind: word(1), namespace: word(2), name: word(3) };
    let answer = call.world.lookup(&key, call.origins);
    call.engine.note_lookup(&key, answer.as_ref().ok(), any(args, 3).origins);
    let asked = call.origins.union_all(args.iter().map(|arg| arg.origins));
    Ok(answer.map_err(FuncError::Error)?.under(asked, call.origins))
}

fn get_host_by_name(_: &mut Call<'_>, _: &[Value]) -> Out {
    Ok(Value::text(""))
}

type Writer = fn(&Value, &Origins) -> Result<Text, String>;

/// Writes, or nothing.
fn written(call: &mut Call<'_>, args: &[Value], writer: Writer) -> Out {
    walkable(call, any(args, 0))?;
    made(call, writer(any(args, 0), call.origins).unwrap_or_default())
}

/// Writes, or fails.
fn must_write(call: &mut Call<'_>, args: &[Value], writer: Writer) -> Out {
    walkable(call, any(args, 0))?;
    made(call, writer(any(args, 0), call.origins).map_err(FuncError::Error)?)
}

fn to_yaml(call: &mut Call<'_>, args: &[Value]) -> Out {
    written(call, args, yaml::emit)
}

fn must_to_yaml(call: &mut Call<'_>, args: &[Value]) -> Out {
    must_write(call, args, yaml::emit)
}

fn to_yaml_pretty(call: &mut Call<'_>, args: &[Value]) -> Out {
    written(call, args, yaml::emit_pretty)
}

fn to_toml(call: &mut Call<'_>, args: &[Value]) -> Out {
    if any(args, 0).is_nil() {
        return must_to_toml(call, args);
    }
    walkable(call, any(args, 0))?;
    let written = toml::emit(any(args, 0), call.helm, call.origins).unwrap_or_else(Text::from);
    made(call, written)
}

fn must_to_toml(call: &mut Call<'_>, args: &[Value]) -> Out {
    walkable(call, any(args, 0))?;
    made(call, toml::emit(any(args, 0), call.helm, call.origins).map_err(FuncError::Panic)?)
}

fn to_json(call: &mut Call<'_>, args: &[Value]) -> Out {
    written(call, args, json::emit)
}

fn must_to_json(call: &mut Call<'_>, args: &[Value]) -> Out {
    must_write(call, args, json::emit)
}

fn to_pretty_json(call: &mut Call<'_>, args: &[Value]) -> Out {
    written(call, args, json::emit_pretty)
}

fn must_to_pretty_json(call: &mut Call<'_>, args: &[Value]) -> Out {
    must_write(call, args, json::emit_pretty)
}

fn to_raw_json(call: &mut Call<'_>, args: &[Value]) -> Out {
    must_write(call, args, json::emit_raw)
}

/// What was read out of a text depends on it, however deep; what went wrong takes its place.
fn read(
    call: &Call<'_>,
    args: &[Value],
    reader: impl Fn(&[u8]) -> Result<Value, String>,
    wrong: fn(Value) -> Value,
) -> Out {
    let value = reader(text(args, 0).bytes()).unwrap_or_else(|error| wrong(Value::text(error)));
    Ok(stamp(call, value, any(args, 0).origins))
}

/// A map that says what went wrong.
fn error_map(error: Value) -> Value {
    Value::map([("Error".into(), error)].into())
}

/// A list that says what went wrong.
fn error_list(error: Value) -> Value {
    Value::list(vec![error])
}

fn from_yaml(call: &mut Call<'_>, args: &[Value]) -> Out {
    read(call, args, yaml::helm_unmarshal, error_map)
}

fn from_yaml_array(call: &mut Call<'_>, args: &[Value]) -> Out {
    read(call, args, yaml::helm_unmarshal_array, error_list)
}

fn from_toml(call: &mut Call<'_>, args: &[Value]) -> Out {
    let helm = call.helm;
    read(call, args, |bytes| toml::parse(bytes, helm, &super::dates::from_rfc3339), error_map)
}

fn from_json(call: &mut Call<'_>, args: &[Value]) -> Out {
    // A JSON null makes the map nil, which is written as null again.
    let map = |bytes: &[u8]| match json::parse(bytes) {
        Ok(value) if value.is_nil() => Ok(Value::new(Repr::Map(Map::new(BTreeMap::new(), MapType::Nil)))),
        _ => match json::parse_map(bytes) {
            Err((error, Some(value))) => {
                if let Some(map) = value.as_map() {
                    map.insert("Error", Value::text(error));
                }
                Ok(value)
            }
            read => read.map_err(|(error, _)| error),
        },
    };
    read(call, args, map, error_map)
}

fn from_json_array(call: &mut Call<'_>, args: &[Value]) -> Out {
    // A JSON null makes the list nil, which is written as null again.
    let array = |bytes: &[u8]| match json::parse(bytes) {
        Ok(value) if value.is_nil() => Ok(Value::typed_list(Vec::new(), ListType::Nil)),
        _ => json::parse_array(bytes),
    };
    read(call, args, array, error_list)
}

fn must_from_json(call: &mut Call<'_>, args: &[Value]) -> Out {
    let value = json::parse(text(args, 0).bytes()).map_err(FuncError::Error)?;
    Ok(stamp(call, value, any(args, 0).origins))
}
