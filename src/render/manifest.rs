//! The documents of all files, sorted as Helm does it.

use serde_json::Value as Json;

use super::Output;
use crate::base::version::{HelmVersion, Quirk};
use crate::chart::documents::{HOOK_EVENTS, rank, split};
use crate::codec::yaml;
use crate::value::Text;

/// One document of the output.
pub struct Document {
    /// Path of its template.
    pub path: String,
    /// Its text.
    pub text: Text,
    /// Its kind.
    pub kind: String,
    /// It is a hook.
    pub hook: bool,
    /// It is a test hook.
    pub test: bool,
}

/// The documents of all files in install order: manifests first, then hooks.
///
/// # Errors
/// Helm's text, and which file it is about.
pub fn documents(files: &[Output], helm: HelmVersion) -> Result<Vec<Document>, String> {
    let mut manifests = Vec::new();
    let mut hooks = Vec::new();
    for file in files {
        if !is_printed(file) {
            continue;
        }
        for text in split(&file.text, helm) {
            let head = head(&text, helm).map_err(|e| format!("YAML parse error on {}: {e}", file.path))?;
            let kind = text_of(head.get("kind")).unwrap_or_default();
            let annotation = text_of(head.pointer("/metadata/annotations/helm.sh~1hook"));
            let Some(events) = annotation else {
                manifests.push(Document { path: file.path.clone(), text, kind, hook: false, test: false });
                continue;
            };
            let events: Vec<String> = events.split(',').map(|e| e.trim().to_lowercase()).collect();
            if events.iter().any(|e| !HOOK_EVENTS.contains(&e.as_str())) {
                continue; // Helm leaves out hooks of unknown types
            }
            let test = events.iter().any(|e| e.starts_with("test"));
            hooks.push(Document { path: file.path.clone(), text, kind, hook: true, test });
        }
    }
    manifests.sort_by_key(|d| rank(&d.kind, helm));
    hooks.sort_by_key(|d| rank(&d.kind, helm));
    manifests.extend(hooks);
    Ok(manifests)
}

/// Whether a file is part of the output: no partial, no notes, not blank.
pub fn is_printed(file: &Output) -> bool {
    let name = file.path.rsplit('/').next().unwrap_or(&file.path);
    !(name.starts_with('_') || file.path.ends_with("NOTES.txt") || is_blank(file.text.bytes()))
}

/// What Helm reads of a document to sort it.
fn head(text: &Text, helm: HelmVersion) -> Result<Json, String> {
    let value = yaml::helm_unmarshal_any(text.bytes())?;
    let json = crate::codec::json::value_to_json(&value);
    let cannot = |what: &str, field: &str, ty: &str| {
        Err(format!(
            "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {what} into Go {field} of type {ty}"
        ))
    };
    match &json {
        Json::Null => return Ok(Json::Null),
        Json::Object(_) => {}
        other => {
            return cannot(
                json_name(other),
                "value",
                if helm.has(Quirk::Wording4) { "util.SimpleHead" } else { "releaseutil.SimpleHead" },
            );
        }
    }
    for field in ["apiVersion", "kind"] {
        match json.get(field) {
            found if found.is_none_or(is_text) => {}
            found => {
                let other = found.unwrap_or(&Json::Null);
                let name = if field == "kind" { "kind" } else { "apiVersion" };
                return cannot(json_name(other), &format!("struct field SimpleHead.{name}"), "string");
            }
        }
    }
    match json.get("metadata") {
        None | Some(Json::Null | Json::Object(_)) => {}
        Some(other) => {
            return cannot(
                json_name(other),
                "struct field SimpleHead.metadata",
                "struct { Name string \"json:\\\"name\\\"\"; Annotations map[string]string \"json:\\\"annotations\\\"\" }",
            );
        }
    }
    match json.pointer("/metadata/name") {
        found if found.is_none_or(is_text) => {}
        found => {
            return cannot(json_name(found.unwrap_or(&Json::Null)), "struct field .metadata.name", "string");
        }
    }
    if let Some(annotations) = json.pointer("/metadata/annotations") {
        match annotations {
            Json::Null => {}
            Json::Object(map) => {
                if let Some(other) = map.values().find(|v| !is_text(v)) {
                    return cannot(json_name(other), "struct field .metadata.annotations", "string");
                }
            }
            other => return cannot(json_name(other), "struct field .metadata.annotations", "map[string]string"),
        }
    }
    Ok(json)
}

/// Helm takes scalars as text where it asks for text.
fn is_text(json: &Json) -> bool {
    !json.is_array() && !json.is_object()
}

/// A scalar as text; null, like nothing, is none.
fn text_of(json: Option<&Json>) -> Option<String> {
    match json? {
        Json::String(text) => Some(text.clone()),
        Json::Bool(value) => Some(value.to_string()),
        Json::Number(number) => Some(crate::codec::json::number_text(number)),
        _ => None,
    }
}

fn json_name(json: &Json) -> &'static str {
    match json {
        Json::Bool(_) => "bool",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
        Json::Null => "null",
    }
}

fn is_blank(bytes: &[u8]) -> bool {
    String::from_utf8_lossy(bytes).trim().is_empty()
}
