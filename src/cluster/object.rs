//! Objects of the cluster and what identifies them.

use std::fmt;
use std::rc::Rc;

use serde_json::Value as Json;

/// Identity of an object: group, kind, namespace, name. The version is not part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// API group; "" for the core group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace; "" for cluster-scoped objects.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl fmt::Display for ObjectKey {
    /// `Deployment cozy-system/controller`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.kind)?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}

/// What the API server makes of `stringData` of a Secret: it goes into `data`, over what is there.
pub fn fold_string_data(json: &mut Json) {
    let Some(map) = json.as_object_mut() else { return };
    let Some(Json::Object(strings)) = map.remove("stringData") else { return };
    let data = map.entry("data").or_insert_with(|| Json::Object(Default::default()));
    if let Some(data) = data.as_object_mut() {
        for (key, value) in strings {
            if let Some(text) = value.as_str() {
                data.insert(key, data_encoding::BASE64.encode(text.as_bytes()).into());
            }
        }
    }
}

/// Where an object was read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Source {
    /// Input file, as its provider named it.
    pub file: Rc<str>,
    /// Line on which the object starts, from 1; 0 if unknown.
    pub line: u32,
}

/// An object as the API server returns it.
#[derive(Clone)]
pub struct Object {
    /// `group/version`, or `v1`.
    pub api_version: String,
    /// Its identity.
    pub key: ObjectKey,
    /// The whole object.
    pub json: Rc<Json>,
    /// Where it was read.
    pub source: Source,
}

impl Object {
    /// Reads the identity off an object; `None` without kind or name.
    pub fn new(json: Json, source: Source) -> Option<Object> {
        let text = |pointer: &str| json.pointer(pointer).and_then(Json::as_str).unwrap_or_default().to_owned();
        let api_version = text("/apiVersion");
        let key = ObjectKey {
            group: group_of(&api_version).to_owned(),
            kind: text("/kind"),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
        };
        if api_version.is_empty() || key.kind.is_empty() || key.name.is_empty() {
            return None;
        }
        Some(Object { api_version, key, json: Rc::new(json), source })
    }

    /// A string at a JSON pointer; "" if there is none.
    pub fn text(&self, pointer: &str) -> &str {
        self.json.pointer(pointer).and_then(Json::as_str).unwrap_or_default()
    }

    /// An annotation.
    pub fn annotation(&self, name: &str) -> Option<&str> {
        self.json.get("metadata")?.get("annotations")?.get(name)?.as_str()
    }
}

impl fmt::Debug for Object {
    /// Identity only: the content may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.key)
    }
}

/// The group of an `apiVersion`; "" for the core group.
pub fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}
