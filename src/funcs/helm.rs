//! Helm's own functions: templates, facts, and the data formats.

use std::rc::Rc;

use super::args::{any, made, text};
use super::{always, pure};
use crate::base::version::{HelmVersion, Quirk};
use crate::codec::{json, toml, yaml};
use crate::template::func::{Call, Effect, Flow, FuncDef, FuncError, Param as P};
use crate::value::origin::LookupKey;
use crate::value::{ListType, Origins, Repr, Text, Value};

/// Marks around the messages of `fail` and `required`: where Helm reports the failure it shows only what is between the
/// first [`WARN_START`] and the last [`WARN_END`], behind `execution error at (FILE:LINE:COLUMN): `.
pub const WARN_START: &str = "HELM_ERR_START";
/// See [`WARN_START`].
pub const WARN_END: &str = "HELM_ERR_END";

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
    let name = text(args, 0);
    call.engine.execute(&name.lossy(), any(args, 1))
}

fn tpl(call: &mut Call<'_>, args: &[Value]) -> Out {
    call.engine.execute_text(&text(args, 0), any(args, 1))
}

fn warning(message: &Text) -> FuncError {
    FuncError::Error(format!("{WARN_START}{}{WARN_END}", message.lossy()))
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
    let word = |index| -> Rc<str> { text(args, index).lossy().into() };
    let key = LookupKey { api_version: word(0), kind: word(1), namespace: word(2), name: word(3) };
    let answer = call.world.lookup(&key, call.origins).map_err(FuncError::Error)?;
    call.engine.note_lookup(&key, &answer);
    let asked = call.origins.union_all(args.iter().map(|arg| arg.origins));
    Ok(answer.under(asked, call.origins))
}

fn get_host_by_name(_: &mut Call<'_>, _: &[Value]) -> Out {
    Ok(Value::text(""))
}

type Writer = fn(&Value, &Origins) -> Result<Text, String>;

/// Writes, or nothing.
fn written(call: &Call<'_>, args: &[Value], writer: Writer) -> Out {
    made(call, writer(any(args, 0), call.origins).unwrap_or_default())
}

/// Writes, or fails.
fn must_write(call: &Call<'_>, args: &[Value], writer: Writer) -> Out {
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
    let written = toml::emit(any(args, 0), call.helm, call.origins).unwrap_or_else(Text::from);
    made(call, written)
}

fn must_to_toml(call: &mut Call<'_>, args: &[Value]) -> Out {
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

/// A map that says what went wrong.
fn map_or_error(read: Result<Value, String>) -> Value {
    read.unwrap_or_else(|error| Value::map([("Error".into(), Value::text(error))].into()))
}

/// A list that says what went wrong.
fn list_or_error(read: Result<Value, String>) -> Value {
    read.unwrap_or_else(|error| Value::list(vec![Value::text(error)]))
}

fn from_yaml(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(map_or_error(yaml::helm_unmarshal(text(args, 0).bytes())))
}

fn from_yaml_array(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(list_or_error(yaml::helm_unmarshal_array(text(args, 0).bytes())))
}

fn from_toml(call: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(map_or_error(toml::parse(text(args, 0).bytes(), call.helm)))
}

fn from_json(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(map_or_error(json::parse_map(text(args, 0).bytes())))
}

fn from_json_array(_: &mut Call<'_>, args: &[Value]) -> Out {
    let text = text(args, 0);
    // A JSON null makes the list nil, which is written as null again.
    if matches!(json::parse(text.bytes()), Ok(value) if matches!(value.repr(), Repr::Nil)) {
        return Ok(Value::typed_list(Vec::new(), ListType::Nil));
    }
    Ok(list_or_error(json::parse_array(text.bytes())))
}

fn must_from_json(_: &mut Call<'_>, args: &[Value]) -> Out {
    json::parse(text(args, 0).bytes()).map_err(FuncError::Error)
}
