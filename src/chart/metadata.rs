//! Chart.yaml: its fields and their types, and what Helm checks.

use serde_json::{Map as JsonMap, Value as Json};

use crate::base::version::{HelmVersion, Quirk};
use crate::codec::json::number_text;
use crate::codec::yaml;
use crate::funcs::semver::Version;

/// Go type of a field.
#[derive(Clone, Copy)]
pub enum Ty {
    /// `string`; numbers and booleans are taken as text.
    Text,
    /// `bool`
    Bool,
    /// `[]string`
    Texts,
    /// `map[string]string`
    TextMap,
    /// `[]interface {}`
    Anys,
    /// A list of pointers to a struct: the struct's name, the list's Go type in Helm 3, the fields.
    Structs(&'static str, &'static str, &'static [Field]),
}

/// A field of a struct: Go name, JSON name, type, whether JSON leaves it out when it is empty.
pub type Field = (&'static str, &'static str, Ty, bool);

/// Fields of Chart.yaml, in the order of the struct.
pub const METADATA: &[Field] = &[
    ("Name", "name", Ty::Text, true),
    ("Home", "home", Ty::Text, true),
    ("Sources", "sources", Ty::Texts, true),
    ("Version", "version", Ty::Text, true),
    ("Description", "description", Ty::Text, true),
    ("Keywords", "keywords", Ty::Texts, true),
    ("Maintainers", "maintainers", Ty::Structs("Maintainer", "[]*chart.Maintainer", MAINTAINER), true),
    ("Icon", "icon", Ty::Text, true),
    ("APIVersion", "apiVersion", Ty::Text, true),
    ("Condition", "condition", Ty::Text, true),
    ("Tags", "tags", Ty::Text, true),
    ("AppVersion", "appVersion", Ty::Text, true),
    ("Deprecated", "deprecated", Ty::Bool, true),
    ("Annotations", "annotations", Ty::TextMap, true),
    ("KubeVersion", "kubeVersion", Ty::Text, true),
    ("Dependencies", "dependencies", Ty::Structs("Dependency", "[]*chart.Dependency", DEPENDENCY), true),
    ("Type", "type", Ty::Text, true),
];

/// Fields of a maintainer.
pub const MAINTAINER: &[Field] =
    &[("Name", "name", Ty::Text, true), ("Email", "email", Ty::Text, true), ("URL", "url", Ty::Text, true)];

/// Fields of a dependency.
pub const DEPENDENCY: &[Field] = &[
    ("Name", "name", Ty::Text, false),
    ("Version", "version", Ty::Text, true),
    ("Repository", "repository", Ty::Text, false),
    ("Condition", "condition", Ty::Text, true),
    ("Tags", "tags", Ty::Texts, true),
    ("Enabled", "enabled", Ty::Bool, true),
    ("ImportValues", "import-values", Ty::Anys, true),
    ("Alias", "alias", Ty::Text, true),
];

/// Fields of a lock file; when it was made does not matter.
const LOCK: &[Field] = &[
    ("Digest", "digest", Ty::Text, false),
    ("Dependencies", "dependencies", Ty::Structs("Dependency", "[]*chart.Dependency", DEPENDENCY), false),
];

/// Reads Chart.yaml into `meta`.
///
/// # Errors
/// Helm's text, without the name of the file.
pub fn read(bytes: &[u8], into: &mut JsonMap<String, Json>, helm: HelmVersion) -> Result<(), String> {
    let whole = if helm.major() >= 4 { "loader.chartBase" } else { "chart.Metadata" };
    read_as(bytes, (METADATA, "Metadata", whole), into, helm)
}

/// Reads the fields of Chart.yaml that requirements.yaml has, into `meta`.
///
/// # Errors
/// As [`read`].
pub fn requirements(bytes: &[u8], into: &mut JsonMap<String, Json>, helm: HelmVersion) -> Result<(), String> {
    let whole = format!("{}.Metadata", package(helm));
    read_as(bytes, (METADATA, "Metadata", &whole), into, helm)
}

/// Lock files only have to be readable.
///
/// # Errors
/// As [`read`].
pub fn lock(bytes: &[u8], helm: HelmVersion) -> Result<(), String> {
    let whole = format!("{}.Lock", package(helm));
    read_as(bytes, (LOCK, "Lock", &whole), &mut JsonMap::new(), helm)
}

fn read_as(
    bytes: &[u8],
    (fields, name, whole): (&[Field], &str, &str),
    into: &mut JsonMap<String, Json>,
    helm: HelmVersion,
) -> Result<(), String> {
    let value = yaml::helm_unmarshal_any(bytes)?;
    let unmarshaling = |text: String| format!("error unmarshaling JSON: while decoding JSON: json: {text}");
    let json = match yaml::parse_first(bytes).ok().flatten() {
        // Whole numbers keep their digits.
        Some(document) => yaml::to_json(document.root()).unwrap_or_else(|_| crate::codec::json::value_to_json(&value)),
        None => Json::Null,
    };
    match json {
        Json::Null => Ok(()),
        Json::Object(map) => structure(map, fields, name, "", helm, into).map_err(unmarshaling),
        other => Err(unmarshaling(format!("cannot unmarshal {} into Go value of type {whole}", kind(&other)))),
    }
}

fn structure(
    map: JsonMap<String, Json>,
    fields: &[Field],
    name: &str,
    path: &str,
    helm: HelmVersion,
    into: &mut JsonMap<String, Json>,
) -> Result<(), String> {
    for (key, value) in map {
        // JSON finds fields in any case.
        let exact = fields.iter().find(|f| f.1 == key);
        let Some(field) = exact.or_else(|| fields.iter().find(|f| f.1.eq_ignore_ascii_case(&key))) else { continue };
        if value.is_null() {
            continue;
        }
        let place = (name, format!("{path}{}", field.1));
        into.insert(field.1.to_owned(), typed(value, field.2, &place, helm)?);
    }
    Ok(())
}

fn typed(value: Json, ty: Ty, place: &(&str, String), helm: HelmVersion) -> Result<Json, String> {
    let cannot = |value: &Json, ty: &str| {
        format!("cannot unmarshal {} into Go struct field {}.{} of type {ty}", kind(value), place.0, place.1)
    };
    match (ty, value) {
        (Ty::Text, value) => match text(&value) {
            Some(text) => Ok(Json::String(text)),
            None => Err(cannot(&value, "string")),
        },
        (Ty::Bool, Json::Bool(value)) => Ok(value.into()),
        (Ty::Bool, value) => Err(cannot(&value, "bool")),
        (Ty::Texts, Json::Array(items)) => {
            let items = items.into_iter().map(|item| match text(&item) {
                Some(text) => Ok(Json::String(text)),
                None => Err(cannot(&item, "string")),
            });
            Ok(Json::Array(items.collect::<Result<_, _>>()?))
        }
        (Ty::Texts, value) => Err(cannot(&value, "[]string")),
        (Ty::TextMap, Json::Object(map)) => {
            let entries = map.into_iter().map(|(key, item)| match text(&item) {
                Some(text) => Ok((key, Json::String(text))),
                None => Err(cannot(&item, "string")),
            });
            Ok(Json::Object(entries.collect::<Result<_, _>>()?))
        }
        (Ty::TextMap, value) => Err(cannot(&value, "map[string]string")),
        (Ty::Anys, value @ Json::Array(_)) => Ok(value),
        (Ty::Anys, value) => Err(cannot(&value, "[]interface {}")),
        (Ty::Structs(name, _, fields), Json::Array(items)) => {
            let items = items.into_iter().map(|item| match item {
                Json::Null => Ok(Json::Null),
                Json::Object(map) => {
                    let mut inner = JsonMap::new();
                    structure(map, fields, name, &format!("{}.", place.1), helm, &mut inner)?;
                    Ok(Json::Object(inner))
                }
                other => Err(cannot(&other, &format!("{}.{name}", package(helm)))),
            });
            Ok(Json::Array(items.collect::<Result<_, _>>()?))
        }
        (Ty::Structs(name, ..), value) => Err(cannot(&value, &format!("[]*{}.{name}", package(helm)))),
    }
}

fn package(helm: HelmVersion) -> &'static str {
    if helm.major() >= 4 { "v2" } else { "chart" }
}

/// A scalar where text is asked for; null is the empty text.
fn text(value: &Json) -> Option<String> {
    match value {
        Json::Null => Some(String::new()),
        Json::String(text) => Some(text.clone()),
        Json::Bool(value) => Some(value.to_string()),
        Json::Number(number) => Some(number_text(number)),
        Json::Array(_) | Json::Object(_) => None,
    }
}

fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "bool",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

/// Takes out of the texts of Chart.yaml what cannot be shown, as Helm does before it checks them; white space becomes
/// spaces.
pub fn sanitize(meta: &mut JsonMap<String, Json>) {
    fn cleaned(value: &mut Json) {
        match value {
            Json::String(text) => {
                let shown = |c: char| match c.is_whitespace() {
                    true => Some(' '),
                    false => Some(c).filter(|c| crate::codec::goquote::is_print(*c)),
                };
                if text.chars().any(|c| shown(c) != Some(c)) {
                    *text = text.chars().filter_map(shown).collect();
                }
            }
            Json::Array(items) => items.iter_mut().for_each(cleaned),
            _ => {}
        }
    }
    let texts = [
        "name",
        "description",
        "home",
        "icon",
        "condition",
        "tags",
        "appVersion",
        "kubeVersion",
        "sources",
        "keywords",
    ];
    for name in texts {
        meta.get_mut(name).into_iter().for_each(cleaned);
    }
    let inside = [
        ("maintainers", &["name", "email", "url"][..]),
        ("dependencies", &["name", "version", "repository", "condition", "tags"]),
    ];
    for (list, names) in inside {
        for item in meta.get_mut(list).and_then(Json::as_array_mut).into_iter().flatten() {
            for name in names {
                item.get_mut(*name).into_iter().for_each(cleaned);
            }
        }
    }
}

/// What Helm checks of Chart.yaml after loading.
///
/// # Errors
/// Helm's text.
pub fn validate(meta: &JsonMap<String, Json>, helm: HelmVersion) -> Result<(), String> {
    let field = |name: &str| meta.get(name).and_then(Json::as_str).unwrap_or_default();
    let fail = |text: String| Err(format!("validation: {text}"));
    let (name, version) = (field("name"), field("version"));
    if name.is_empty() {
        return fail("chart.metadata.name is required".into());
    }
    if matches!(name, "." | "..") && helm.has(Quirk::RefusesDotNames) {
        return fail(format!("chart.metadata.name {name:?} is not allowed"));
    }
    if name.contains('/') {
        return fail(format!("chart.metadata.name {name:?} is invalid"));
    }
    if version.is_empty() {
        return fail("chart.metadata.version is required".into());
    }
    if Version::parse(version, helm).is_err() {
        return fail(format!("chart.metadata.version {version:?} is invalid"));
    }
    if !matches!(field("type"), "" | "application" | "library") {
        return fail("chart.metadata.type must be application or library".into());
    }
    let list = |name: &str| meta.get(name).and_then(Json::as_array).into_iter().flatten();
    if list("maintainers").any(Json::is_null) {
        return fail("maintainers must not contain empty or null nodes".into());
    }
    let mut names = std::collections::BTreeSet::new();
    for dependency in list("dependencies") {
        let field = |name: &str| dependency.get(name).and_then(Json::as_str).unwrap_or_default();
        if dependency.is_null() {
            return fail("dependencies must not contain empty or null nodes".into());
        }
        let (name, alias) = (field("name"), field("alias"));
        if !alias.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')) {
            return fail(format!("dependency {name:?} has disallowed characters in the alias"));
        }
        let known = if alias.is_empty() { name } else { alias };
        if !names.insert(known) {
            return fail(format!("more than one dependency with name or alias {known:?}"));
        }
    }
    Ok(())
}

/// What `helm template` asks of a chart before it renders it.
///
/// # Errors
/// Helm's text.
pub fn installable(chart: &super::Chart, helm: HelmVersion) -> Result<(), String> {
    if !matches!(chart.text("type"), "" | "application") {
        return Err(format!("{} charts are not installable", chart.text("type")));
    }
    let names = chart.declared();
    let names = names.iter().map(|d| d.get("name").and_then(Json::as_str).unwrap_or_default());
    let missing: Vec<&str> = names.filter(|name| !chart.deps.iter().any(|dep| dep.name() == *name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let article = if helm.has(Quirk::Wording4) { "an" } else { "An" };
    let quote = if helm.has(Quirk::Wording42) { '\'' } else { '`' };
    Err(format!(
        "{article} error occurred while checking for chart dependencies. You may need to run {quote}helm dependency \
         build{quote} to fetch missing dependencies: found in Chart.yaml, but missing in charts/ directory: {}",
        missing.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(text: &str, helm: &str) -> Result<JsonMap<String, Json>, String> {
        let helm = helm.parse().unwrap();
        let mut meta = JsonMap::new();
        read(text.as_bytes(), &mut meta, helm)?;
        validate(&meta, helm)?;
        Ok(meta)
    }

    #[test]
    fn numbers_are_text_where_text_is_asked_for() {
        let meta = loaded("name: a\nversion: 1\nappVersion: 20240101123456\nDescription: true\n", "4.2").unwrap();
        assert_eq!((&meta["appVersion"], &meta["description"]), (&"20240101123456".into(), &"true".into()));
    }

    #[test]
    fn what_helm_refuses_is_refused_in_its_words() {
        let field = "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal";
        for (text, helm, error) in [
            ("name: [a]", "4.2", format!("{field} array into Go struct field Metadata.name of type string")),
            (
                "dependencies: x",
                "3.17",
                format!("{field} string into Go struct field Metadata.dependencies of type []*chart.Dependency"),
            ),
            (
                "dependencies: [{name: {}}]",
                "4.1",
                format!("{field} object into Go struct field Dependency.dependencies.name of type string"),
            ),
            ("name: ..\nversion: 1", "4.2", "validation: chart.metadata.name \"..\" is not allowed".into()),
            ("name: a\nversion: x", "4.2", "validation: chart.metadata.version \"x\" is invalid".into()),
            (
                "name: a\nversion: 1\ndependencies: [{name: x, alias: b}, {name: b}]",
                "4.2",
                "validation: more than one dependency with name or alias \"b\"".into(),
            ),
        ] {
            assert_eq!(loaded(text, helm).unwrap_err(), error, "{text}");
        }
        assert!(loaded("name: ..\nversion: 1", "3.17").is_ok(), "H-38");
    }
}
