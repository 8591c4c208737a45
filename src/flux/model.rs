//! A HelmRelease as the controller reads it: leniently.

use std::rc::Rc;

use serde_json::Value as Json;
use sha2::{Digest, Sha256};

/// A HelmRelease.
pub struct HelmRelease {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The whole object.
    pub json: Rc<Json>,
}

/// An entry of `spec.dependsOn`.
pub struct Dependency {
    /// Namespace of the HelmRelease.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// CEL expression that replaces the built-in rule (`F-262`).
    pub ready_expr: Option<String>,
}

/// An entry of `status.history`.
pub struct Snapshot {
    /// Helm revision.
    pub version: i64,
    /// The entry.
    pub json: Json,
}

impl Snapshot {
    /// A text of the entry.
    pub fn text(&self, field: &str) -> &str {
        self.json.get(field).and_then(Json::as_str).unwrap_or_default()
    }
}

impl HelmRelease {
    /// From the object.
    pub fn new(json: Rc<Json>) -> Self {
        let text = |pointer: &str| json.pointer(pointer).and_then(Json::as_str).unwrap_or_default().to_owned();
        HelmRelease { namespace: text("/metadata/namespace"), name: text("/metadata/name"), json }
    }

    /// A text at a JSON pointer; "" if there is none.
    pub fn text(&self, pointer: &str) -> &str {
        self.json.pointer(pointer).and_then(Json::as_str).unwrap_or_default()
    }

    /// A number at a JSON pointer.
    pub fn number(&self, pointer: &str) -> Option<i64> {
        self.json.pointer(pointer).and_then(Json::as_i64)
    }

    /// A boolean at a JSON pointer; false if there is none.
    pub fn flag(&self, pointer: &str) -> bool {
        self.json.pointer(pointer).and_then(Json::as_bool).unwrap_or(false)
    }

    /// An annotation; absent and empty differ.
    pub fn annotation(&self, name: &str) -> Option<&str> {
        self.json.get("metadata")?.get("annotations")?.get(name)?.as_str()
    }

    /// `metadata.generation`
    pub fn generation(&self) -> i64 {
        self.number("/metadata/generation").unwrap_or(0)
    }

    /// `status.observedGeneration`
    pub fn observed_generation(&self) -> i64 {
        self.number("/status/observedGeneration").unwrap_or(-1)
    }

    /// A condition's status (`True`, `False`, `Unknown`).
    pub fn condition(&self, kind: &str) -> Option<&str> {
        self.condition_entry(kind)?.get("status")?.as_str()
    }

    /// A condition's reason.
    pub fn condition_reason(&self, kind: &str) -> Option<&str> {
        self.condition_entry(kind)?.get("reason")?.as_str()
    }

    /// A whole condition.
    pub fn condition_entry(&self, kind: &str) -> Option<&Json> {
        condition_of(&self.json, kind)
    }

    /// Whether the controller has put its finalizer on it (`F-70`).
    pub fn has_finalizer(&self) -> bool {
        let finalizers = self.json.pointer("/metadata/finalizers").and_then(Json::as_array);
        finalizers.into_iter().flatten().any(|f| f.as_str() == Some("finalizers.fluxcd.io"))
    }

    /// Whether releases that depend on it take it for ready (`F-261`).
    pub fn counts_as_ready(&self) -> bool {
        self.generation() == self.observed_generation() && self.condition("Ready") == Some("True")
    }

    /// How long an action (`install`, `upgrade`, …) may take, as a duration is written (`F-21`).
    pub fn timeout(&self, action: &str) -> &str {
        let own = self.text(&format!("/spec/{action}/timeout"));
        [own, self.text("/spec/timeout")].into_iter().find(|text| !text.is_empty()).unwrap_or("5m")
    }

    /// `spec.dependsOn`
    pub fn depends_on(&self) -> Vec<Dependency> {
        let list = self.json.pointer("/spec/dependsOn").and_then(Json::as_array);
        list.into_iter()
            .flatten()
            .map(|d| {
                let text =
                    |field: &str| d.get(field).and_then(Json::as_str).filter(|t| !t.is_empty()).map(str::to_owned);
                Dependency {
                    namespace: text("namespace").unwrap_or_else(|| self.namespace.clone()),
                    name: text("name").unwrap_or_default(),
                    ready_expr: text("readyExpr"),
                }
            })
            .collect()
    }

    /// `status.history`, newest first (`F-157`).
    pub fn history(&self) -> Vec<Snapshot> {
        let list = self.json.pointer("/status/history").and_then(Json::as_array);
        let entry = |json: &Json| Snapshot {
            version: json.get("version").and_then(Json::as_i64).unwrap_or(0),
            json: json.clone(),
        };
        let mut history: Vec<Snapshot> = list.into_iter().flatten().map(entry).collect();
        history.sort_by_key(|s| std::cmp::Reverse(s.version));
        history
    }

    /// Name of the Helm release (`F-15`, `F-16`).
    pub fn release_name(&self) -> String {
        let target = self.text("/spec/targetNamespace");
        let full = match (self.text("/spec/releaseName"), target) {
            ("", "") => self.name.clone(),
            ("", target) => format!("{target}-{}", self.name),
            (name, _) => name.to_owned(),
        };
        shorten(&full)
    }

    /// Namespace of the Helm release (`F-18`).
    pub fn release_namespace(&self) -> String {
        match self.text("/spec/targetNamespace") {
            "" => self.namespace.clone(),
            namespace => namespace.to_owned(),
        }
    }

    /// Namespace of its storage (`F-18`).
    pub fn storage_namespace(&self) -> String {
        match self.text("/spec/storageNamespace") {
            "" => self.namespace.clone(),
            namespace => namespace.to_owned(),
        }
    }

    /// Kind, namespace and name of the source whose artifact it loads (`F-12`, `F-14`).
    pub fn source(&self) -> (String, String, String) {
        if let Some(reference) = self.json.pointer("/spec/chartRef") {
            let text = |field: &str| reference.get(field).and_then(Json::as_str).unwrap_or_default().to_owned();
            let namespace = if text("namespace").is_empty() { self.namespace.clone() } else { text("namespace") };
            return (text("kind"), namespace, text("name"));
        }
        let namespace = match self.text("/spec/chart/spec/sourceRef/namespace") {
            "" => self.namespace.clone(),
            namespace => namespace.to_owned(),
        };
        ("HelmChart".to_owned(), namespace, format!("{}-{}", self.namespace, self.name))
    }
}

/// Names of up to 53 bytes stay; longer ones are cut and get a hash (`F-16`).
pub fn shorten(name: &str) -> String {
    if name.len() <= 53 {
        return name.to_owned();
    }
    let hash = Sha256::digest(name.as_bytes());
    let hex: String = hash.iter().take(6).map(|b| format!("{b:02x}")).collect();
    let mut cut = 40;
    while !name.is_char_boundary(cut) {
        cut -= 1;
    }
    format!("{}-{hex}", &name[..cut])
}

/// A whole condition of any object.
pub fn condition_of<'o>(object: &'o Json, kind: &str) -> Option<&'o Json> {
    let conditions = object.pointer("/status/conditions").and_then(Json::as_array)?;
    conditions.iter().find(|c| c.get("type").and_then(Json::as_str) == Some(kind))
}

/// Labels that Flux puts on what it makes for a HelmRelease.
pub fn origin_labels<'n>(name: &'n str, namespace: &'n str) -> [(&'static str, &'n str); 2] {
    [("helm.toolkit.fluxcd.io/name", name), ("helm.toolkit.fluxcd.io/namespace", namespace)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f_17_long_release_names_are_cut_and_hashed() {
        for (full, want) in [
            ("release-name", "release-name"),
            (
                "release-name-with-very-long-name-which-is-longer-than-53-characters",
                "release-name-with-very-long-name-which-i-788ca0d0d7b0",
            ),
            (
                "another-release-name-with-very-long-name-which-is-longer-than-53-characters",
                "another-release-name-with-very-long-name-7e72150d5a36",
            ),
            ("", ""),
            (
                "a-very-lengthy-target-namespace-with-a-nice-object-name",
                "a-very-lengthy-target-namespace-with-a-n-97af5d7f41f3",
            ),
        ] {
            assert_eq!(shorten(full), want);
        }
        let a = |n: usize| "a".repeat(n);
        assert_eq!(shorten(&a(53)), a(53));
        assert_eq!(shorten(&a(54)), format!("{}-a3f01b693925", a(40)));
    }
}
