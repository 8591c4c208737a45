//! Helm's storage: releases in Secrets and ConfigMaps (`F-167` to `F-170`).

use std::io::Read;
use std::rc::Rc;

use data_encoding::BASE64;
use serde_json::Value as Json;

use super::object::Object;
use super::snapshot::Facts;
use crate::base::diag::Diagnostic;

/// Largest release that is unpacked. Helm's own limit is that of a Secret, packed.
const MAX_RELEASE: u64 = 64 << 20;
/// Most commas in a release, and so most values of its JSON.
const MAX_COMMAS: usize = 2_000_000;

/// One stored revision of a release.
#[derive(Clone)]
pub struct StoredRelease {
    /// Name of the release.
    pub name: String,
    /// Namespace of the release.
    pub namespace: String,
    /// Revision number.
    pub version: i64,
    /// `deployed`, `failed`, `superseded`, …
    pub status: String,
    /// The whole payload.
    pub json: Rc<Json>,
    /// The object it was read from.
    pub object: Rc<Object>,
}

impl StoredRelease {
    /// The stored manifest.
    pub fn manifest(&self) -> &str {
        self.json.get("manifest").and_then(Json::as_str).unwrap_or_default()
    }

    /// The user's values of that revision.
    pub fn config(&self) -> Option<&Json> {
        self.json.get("config").filter(|c| !c.is_null())
    }

    /// The chart of that revision, without sub-charts.
    pub fn chart(&self) -> Option<&Json> {
        self.json.get("chart").filter(|c| !c.is_null())
    }

    /// A field of the chart's metadata.
    pub fn chart_metadata(&self, field: &str) -> &str {
        self.json.get("chart").and_then(|c| c.get("metadata")?.get(field)?.as_str()).unwrap_or_default()
    }
}

/// The stored revisions of a release, newest first, and what could not be decoded.
pub fn stored(facts: &dyn Facts, namespace: &str, name: &str) -> (Vec<StoredRelease>, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let mut problems = Vec::new();
    for kind in ["Secret", "ConfigMap"] {
        for object in facts.list("", kind, Some(namespace)).present().unwrap_or_default() {
            if !is_storage(&object) || object.text("/metadata/labels/name") != name {
                continue;
            }
            match decode(&object) {
                Ok(release) => found.push(release),
                Err(problem) => problems.push(
                    Diagnostic::error(format!("{}: {problem}", object.key))
                        .at(&*object.source.file, (object.source.line > 0).then_some(object.source.line))
                        .remedy("collect the Secret again; if it is broken in the cluster, Helm cannot read it either"),
                ),
            }
        }
    }
    found.sort_by_key(|r: &StoredRelease| std::cmp::Reverse(r.version));
    (found, problems)
}

/// Whether an object holds a release: the label decides (`F-163`).
pub fn is_storage(object: &Object) -> bool {
    object.text("/metadata/labels/owner") == "helm" && object.json.pointer("/data/release").is_some()
}

/// Decodes one stored revision. The error never holds any of the content.
pub fn decode(object: &Rc<Object>) -> Result<StoredRelease, String> {
    let text = object.text("/data/release");
    let outer = if object.key.kind == "Secret" {
        BASE64.decode(text.trim().as_bytes()).map_err(|_| "data.release is no base64".to_owned())?
    } else {
        text.as_bytes().to_vec()
    };
    let packed = BASE64.decode(outer.trim_ascii()).map_err(|_| "the release is no base64".to_owned())?;
    let bytes = if packed.starts_with(&[0x1f, 0x8b, 0x08]) {
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(&packed[..])
            .take(MAX_RELEASE + 1)
            .read_to_end(&mut bytes)
            .map_err(|_| "the release is no gzip, or cut off".to_owned())?;
        if bytes.len() as u64 > MAX_RELEASE {
            return Err(format!("the release is larger than {MAX_RELEASE} bytes unpacked"));
        }
        bytes
    } else {
        packed
    };
    if bytes.iter().filter(|b| **b == b',').count() > MAX_COMMAS {
        return Err(format!("the release holds more than {MAX_COMMAS} values"));
    }
    let json: Json = serde_json::from_slice(&bytes)
        .map_err(|e| format!("the release is no JSON (line {}, column {})", e.line(), e.column()))?;
    let field = |pointer: &str| json.pointer(pointer).and_then(Json::as_str).unwrap_or_default().to_owned();
    let version = json.get("version").and_then(Json::as_i64).ok_or("the release has no version")?;
    Ok(StoredRelease {
        name: field("/name"),
        namespace: field("/namespace"),
        version,
        status: field("/info/status"),
        json: Rc::new(json),
        object: object.clone(),
    })
}

/// Packs a payload as Helm stores it in a Secret's `data.release`.
pub fn encode(payload: &Json) -> String {
    use std::io::Write;
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let packed = packer.write_all(payload.to_string().as_bytes()).and_then(|()| packer.finish()).unwrap_or_default();
    BASE64.encode(BASE64.encode(&packed).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn secret(release: &str) -> Rc<Object> {
        let json = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "n"}, "data": {"release": release}});
        Rc::new(Object::new(json, Default::default()).unwrap())
    }

    #[test]
    fn a_release_survives_packing_and_unpacking() {
        let payload =
            json!({"name": "a", "namespace": "n", "version": 3, "info": {"status": "deployed"}, "manifest": "x"});
        let release = decode(&secret(&encode(&payload))).unwrap();
        assert_eq!((release.version, release.status.as_str(), release.manifest()), (3, "deployed", "x"));
    }

    #[test]
    fn broken_releases_are_named_without_their_content() {
        for broken in ["!", "aGVsbG8=", &BASE64.encode(BASE64.encode(b"{\"password\": \"hunter2\"").as_bytes())] {
            let error = decode(&secret(broken)).err().unwrap();
            assert!(!error.contains("hunter2") && !error.is_empty(), "{error}");
        }
    }
}
