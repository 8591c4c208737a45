//! What a server is asked about rendered objects before they are installed (`H-45`): whether each can be mapped to a served
//! kind, and whether what exists belongs to the release.

use serde_json::Value as Json;

use super::manifest::Document;
use super::scope::Release;
use crate::base::version::{HelmVersion, Quirk};
use crate::cluster::object::{ObjectKey, group_of};
use crate::cluster::snapshot::Facts;
use crate::codec::yaml;
use crate::value::Text;

/// A rendered object that is served.
struct Mapped {
    object: Json,
    key: ObjectKey,
}

/// Checks what is no hook, as an install does, or, if the release `owns` what it meets, an upgrade.
///
/// # Errors
/// Helm's text.
pub fn check(
    documents: &[Document],
    release: &Release,
    owns: bool,
    facts: &dyn Facts,
    helm: HelmVersion,
) -> Result<(), String> {
    let mapped = build(documents, &release.namespace, facts)
        .map_err(|e| format!("unable to build kubernetes objects from release manifest: {e}"))?;
    if owns {
        return Ok(());
    }
    let unable = if helm.has(Quirk::Wording4) { "unable" } else { "Unable" };
    for Mapped { object, key } in &mapped {
        let Some(existing) = facts.get(key).present() else { continue };
        let problems = foreign(&existing.json, release);
        if !problems.is_empty() {
            let kind = object.get("kind").and_then(Json::as_str).unwrap_or_default();
            return Err(format!(
                "{unable} to continue with install: {kind} {:?} in namespace {:?} exists and cannot be imported into the \
                 current release: invalid ownership metadata; {}",
                key.name,
                key.namespace,
                problems.join("; ")
            ));
        }
    }
    Ok(())
}

/// The objects of all documents, or everything that is wrong with them.
fn build(documents: &[Document], namespace: &str, facts: &dyn Facts) -> Result<Vec<Mapped>, String> {
    let (mut mapped, mut problems) = (Vec::new(), Vec::<String>::new());
    let mut tell = |problem: String| {
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    };
    'documents: for document in documents.iter().filter(|d| !d.hook) {
        let Some(object) = read(&document.text)? else { continue };
        if let Some(problem) = invalid(&object) {
            // What cannot be validated ends the reading.
            tell(format!("error validating \"\": error validating data: {problem}"));
            break;
        }
        let items = match object.get("items") {
            Some(Json::Array(items)) if is_list(&object) => items.clone(),
            _ => vec![object],
        };
        for object in items {
            match map(object, namespace, facts) {
                Ok(object) => mapped.push(object),
                Err(problem) if problem.starts_with("error validating") => {
                    tell(problem);
                    break 'documents;
                }
                Err(problem) => tell(problem),
            }
        }
    }
    match &problems[..] {
        [] => Ok(mapped),
        [one] => Err(one.clone()),
        _ => Err(format!("[{}]", problems.join(", "))),
    }
}

fn read(text: &Text) -> Result<Option<Json>, String> {
    let Some(document) = yaml::parse_first(text.bytes()).map_err(|e| e.text)? else { return Ok(None) };
    let root = document.root();
    let mut object = yaml::to_json(root)?;
    // In the middle of the manifest a byte order mark is part of the first key.
    if text.bytes().starts_with("\u{feff}".as_bytes())
        && let Some(first) = root.entries().next().and_then(|(key, _)| key.text().map(str::to_owned))
        && let Some(map) = object.as_object_mut()
        && let Some(value) = map.remove(&first)
    {
        map.insert(format!("\u{feff}{first}"), value);
    }
    Ok(if object.is_null() { None } else { Some(object) })
}

fn is_list(object: &Json) -> bool {
    object.get("kind").and_then(Json::as_str).is_some_and(|kind| kind.ends_with("List"))
}

/// What of an object's type cannot be validated.
fn invalid(object: &Json) -> Option<String> {
    if !object.is_object() {
        return Some("invalid object to validate".into());
    }
    let told: Vec<String> = ["apiVersion", "kind"]
        .into_iter()
        .filter_map(|field| match object.get(field) {
            None | Some(Json::Null) => Some(format!("{field} not set")),
            Some(Json::String(text)) if text.is_empty() => Some(format!("{field} not set")),
            Some(Json::String(_)) => None,
            Some(_) => Some(format!("{field} isn't string type")),
        })
        .collect();
    match &told[..] {
        [] if is_list(object) && !object.get("items").is_some_and(Json::is_array) => {
            Some("invalid object to validate".into())
        }
        [] => None,
        [one] => Some(one.clone()),
        _ => Some(format!("[{}]", told.join(", "))),
    }
}

/// The served kind of an object, and its identity.
fn map(object: Json, namespace: &str, facts: &dyn Facts) -> Result<Mapped, String> {
    if let Some(problem) = invalid(&object) {
        return Err(format!("error validating \"\": error validating data: {problem}"));
    }
    if let Some(problem) = undecodable(&object) {
        return Err(format!("unable to decode \"\": json: cannot unmarshal {problem}"));
    }
    let text = |pointer: &str| object.pointer(pointer).and_then(Json::as_str).unwrap_or_default().to_owned();
    let (version, kind, name, own) =
        (text("/apiVersion"), text("/kind"), text("/metadata/name"), text("/metadata/namespace"));
    let Some(resource) = facts.discovery().resource(&version, &kind) else {
        return Err(format!(
            "resource mapping not found for name: {name:?} namespace: {own:?} from \"\": no matches for kind {kind:?} in \
             version {version:?}\nensure CRDs are installed first"
        ));
    };
    let namespace = match (resource.namespaced, own.is_empty()) {
        (false, _) => String::new(),
        (true, true) => namespace.to_owned(),
        (true, false) => own,
    };
    let key = ObjectKey { group: group_of(&version).to_owned(), kind, namespace, name };
    Ok(Mapped { object, key })
}

/// What of the metadata has the wrong type, in Go's words.
fn undecodable(object: &Json) -> Option<String> {
    let metadata = object.get("metadata")?;
    ["annotations", "labels", "name", "namespace"].into_iter().find_map(|field| {
        let value = metadata.get(field)?;
        let found = match value {
            Json::Object(map) if field.ends_with('s') => map.values().find_map(not_text),
            _ => not_text(value),
        }?;
        Some(format!("{found} into Go struct field ObjectMeta.metadata.{field} of type string"))
    })
}

fn not_text(value: &Json) -> Option<&'static str> {
    match value {
        Json::Null | Json::String(_) => None,
        Json::Bool(_) => Some("bool"),
        Json::Number(_) => Some("number"),
        Json::Array(_) => Some("array"),
        Json::Object(_) => Some("object"),
    }
}

/// Why an existing object does not belong to the release.
fn foreign(existing: &Json, release: &Release) -> Vec<String> {
    let wanted = [
        ("label", "labels", "app.kubernetes.io/managed-by", "Helm"),
        ("annotation", "annotations", "meta.helm.sh/release-name", release.name.as_str()),
        ("annotation", "annotations", "meta.helm.sh/release-namespace", release.namespace.as_str()),
    ];
    let problem = |(what, field, key, value): (&str, &str, &str, &str)| {
        let found = existing.get("metadata").and_then(|m| m.get(field)?.get(key)?.as_str());
        match found {
            Some(found) if found == value => None,
            Some(found) => {
                Some(format!("{what} validation error: key {key:?} must equal {value:?}: current value is {found:?}"))
            }
            None => Some(format!("{what} validation error: missing key {key:?}: must be set to {value:?}")),
        }
    };
    wanted.into_iter().filter_map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::object::{Object, Source};
    use crate::cluster::snapshot::Snapshot;

    fn checked(texts: &[&str], existing: &[Json], owns: bool) -> String {
        let mut snapshot = Snapshot::default();
        for json in existing {
            snapshot.insert(Object::new(json.clone(), Source::default()).unwrap());
        }
        let document = |text: &&str| Document {
            path: "c/templates/t.yaml".into(),
            text: (*text).into(),
            kind: String::new(),
            hook: false,
            test: false,
        };
        let documents: Vec<Document> = texts.iter().map(document).collect();
        let release = Release { name: "r".into(), namespace: "n".into(), revision: 1, is_upgrade: false };
        let result = check(&documents, &release, owns, &snapshot, "4.2".parse().unwrap());
        result.err().unwrap_or_default().replace("unable to build kubernetes objects from release manifest: ", "")
    }

    #[test]
    fn h_45_objects_have_to_be_of_served_kinds() {
        let unserved = |kind: &str| {
            format!(
                "resource mapping not found for name: \"x\" namespace: \"\" from \"\": no matches for kind \"{kind}\" in \
                 version \"v1\"\nensure CRDs are installed first"
            )
        };
        let a = "apiVersion: v1\nkind: Aa\nmetadata: {name: x}";
        let b = "apiVersion: v1\nkind: Bb\nmetadata: {name: x}";
        let validating = "error validating \"\": error validating data: ";
        for (texts, want) in [
            (&["# nothing"][..], String::new()),
            (&[a], unserved("Aa")),
            (&[a, b, a], format!("[{}, {}]", unserved("Aa"), unserved("Bb"))),
            (&["x: 1", a], format!("{validating}[apiVersion not set, kind not set]")),
            (&["apiVersion: v1\nkind: List"], format!("{validating}invalid object to validate")),
            (&["apiVersion: v1\nkind: 1"], format!("{validating}kind isn't string type")),
            (
                &["apiVersion: v1\nkind: Secret\nmetadata: {labels: {a: 1}}"],
                "unable to decode \"\": json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type \
                 string"
                    .into(),
            ),
        ] {
            assert_eq!(checked(texts, &[], false), want, "{texts:?}");
        }
    }

    #[test]
    fn h_45_what_exists_has_to_belong_to_the_release() {
        let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: x}";
        let secret = |labels: Json, annotations: Json| {
            serde_json::json!({"apiVersion": "v1", "kind": "Secret", "metadata":
                {"name": "x", "namespace": "n", "labels": labels, "annotations": annotations}})
        };
        let helm = serde_json::json!({"app.kubernetes.io/managed-by": "Helm"});
        let own = serde_json::json!({"meta.helm.sh/release-name": "r", "meta.helm.sh/release-namespace": "n"});
        assert_eq!(checked(&[text], &[secret(helm.clone(), own.clone())], false), "");
        let foreign = [secret(Json::Null, own)];
        assert!(checked(&[text], &foreign, false).ends_with(
            "Secret \"x\" in namespace \"n\" exists and cannot be imported into the current release: invalid ownership \
             metadata; label validation error: missing key \"app.kubernetes.io/managed-by\": must be set to \"Helm\""
        ));
        assert_eq!(checked(&[text], &foreign, true), "");
        let other = serde_json::json!({"meta.helm.sh/release-name": "o", "meta.helm.sh/release-namespace": "n"});
        assert!(checked(&[text], &[secret(helm, other)], false).ends_with(
            "annotation validation error: key \"meta.helm.sh/release-name\" must equal \"r\": current value is \"o\""
        ));
    }
}
