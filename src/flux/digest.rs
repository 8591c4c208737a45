//! Digests as the controller computes them.

use serde_json::{Map as JsonMap, Value as Json};
use sha2::{Digest, Sha256, Sha384, Sha512};

use super::settings::{ControllerVersion, Settings};
use crate::cluster::storage::StoredRelease;
use crate::codec::json::go_compact;
use crate::codec::yaml::digest_text;

/// Algorithm of new digests: flag `--snapshot-digest-algo` (`F-9`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub enum Algorithm {
    #[default]
    Sha256,
    Sha384,
    Sha512,
    Blake3,
}

impl Algorithm {
    /// The algorithm of that name.
    pub fn named(name: &str) -> Option<Algorithm> {
        match name {
            "sha256" => Some(Algorithm::Sha256),
            "sha384" => Some(Algorithm::Sha384),
            "sha512" => Some(Algorithm::Sha512),
            "blake3" => Some(Algorithm::Blake3),
            _ => None,
        }
    }

    /// `sha256:…` of bytes.
    pub fn digest(self, bytes: &[u8]) -> String {
        match self {
            Algorithm::Sha256 => format!("sha256:{}", hex(&Sha256::digest(bytes))),
            Algorithm::Sha384 => format!("sha384:{}", hex(&Sha384::digest(bytes))),
            Algorithm::Sha512 => format!("sha512:{}", hex(&Sha512::digest(bytes))),
            Algorithm::Blake3 => format!("blake3:{}", blake3::hash(bytes).to_hex()),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// The digest of `bytes` by the algorithm that a stored digest names; `None` if it names none that is known (`F-9`).
fn like(stored: &str, bytes: &[u8]) -> Option<String> {
    let (algorithm, _) = stored.split_once(':')?;
    Some(Algorithm::named(algorithm)?.digest(bytes))
}

/// The text under the values digest (`F-112`); values without keys have none.
fn values_text(values: &Json) -> String {
    match values {
        Json::Object(map) if !map.is_empty() => digest_text(values),
        _ => String::new(),
    }
}

/// `configDigest` of composed values (`F-112`).
pub fn config_digest(values: &Json, algorithm: Algorithm) -> String {
    algorithm.digest(values_text(values).as_bytes())
}

/// Whether a stored digest is that of these values, by the algorithm it names.
pub fn config_matches(stored: &str, values: &Json) -> bool {
    like(stored, values_text(values).as_bytes()).is_some_and(|digest| digest == stored)
}

/// Whether a stored digest is that of this stored release (`F-121`, `F-291`, `F-373`).
pub fn release_matches(stored: &str, release: &StoredRelease, oci: &str, controller: ControllerVersion) -> bool {
    let text = go_ordered(&observation(release, oci, controller, false)) + "\n";
    like(stored, text.as_bytes()).is_some_and(|digest| digest == stored)
}

/// `history[].digest` of a stored release. `exact` says that it has not been through storage yet: integers that came
/// from a target path are still exact (`F-143`).
pub fn release_digest(release: &StoredRelease, oci: &str, settings: &Settings, exact: bool) -> String {
    let text = go_ordered(&observation(release, oci, settings.controller, exact)) + "\n";
    settings.digest.digest(text.as_bytes())
}

/// Numbers as they come out of storage: all are doubles.
pub fn in_doubles(json: Json) -> Json {
    doubles(json, 0)
}

pub(super) fn doubles(json: Json, depth: usize) -> Json {
    if depth > crate::value::MAX_DEPTH {
        return json;
    }
    match json {
        Json::Number(n) => n.as_f64().and_then(serde_json::Number::from_f64).map_or(Json::Number(n), Json::Number),
        Json::Array(list) => Json::Array(list.into_iter().map(|item| doubles(item, depth + 1)).collect()),
        Json::Object(map) => Json::Object(map.into_iter().map(|(k, v)| (k, doubles(v, depth + 1))).collect()),
        other => other,
    }
}

/// Whether a digest has the form of one.
pub fn is_valid(digest: &str) -> bool {
    let Some((algorithm, hex)) = digest.split_once(':') else { return false };
    let length = match algorithm {
        "sha256" | "blake3" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => return false,
    };
    hex.len() == length && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// `observedPostRenderersDigest` (`F-148`).
pub fn post_renderers(spec: Option<&Json>, algorithm: Algorithm) -> String {
    let Some(Json::Array(list)) = spec else { return String::new() };
    let pick = |json: &Json, always: &[&str], fields: &[&str]| {
        let mut out = Vec::new();
        for field in fields {
            match json.get(*field) {
                Some(value) if always.contains(field) || !is_empty(value) => {
                    out.push(((*field).to_owned(), Ordered::Plain(value.clone())))
                }
                None if always.contains(field) => out.push(((*field).to_owned(), Ordered::Plain("".into()))),
                _ => {}
            }
        }
        out
    };
    let elements = list
        .iter()
        .map(|element| {
            let Some(kustomize) = element.get("kustomize") else { return Ordered::Map(Vec::new()) };
            let mut inner = Vec::new();
            if let Some(Json::Array(patches)) = kustomize.get("patches").filter(|p| !is_empty(p)) {
                let patches = patches.iter().map(|patch| {
                    let mut out = pick(patch, &["patch"], &["patch"]);
                    if let Some(target) = patch.get("target") {
                        let fields =
                            ["group", "version", "kind", "namespace", "name", "annotationSelector", "labelSelector"];
                        out.push(("target".into(), Ordered::Map(pick(target, &[], &fields))));
                    }
                    Ordered::Map(out)
                });
                inner.push(("patches".into(), Ordered::List(patches.collect())));
            }
            if let Some(Json::Array(images)) = kustomize.get("images").filter(|i| !is_empty(i)) {
                let fields = ["name", "newName", "newTag", "digest"];
                let images = images.iter().map(|image| Ordered::Map(pick(image, &["name"], &fields)));
                inner.push(("images".into(), Ordered::List(images.collect())));
            }
            Ordered::Map(vec![("kustomize".into(), Ordered::Map(inner))])
        })
        .collect();
    algorithm.digest((go_ordered(&Ordered::List(elements)) + "\n").as_bytes())
}

/// `observedCommonMetadataDigest` (`F-149`).
pub fn common_metadata(spec: Option<&Json>, algorithm: Algorithm) -> String {
    let Some(spec) = spec.filter(|s| s.is_object()) else { return String::new() };
    let fields = ["annotations", "labels"].iter().filter_map(|field| {
        let value = spec.get(*field).filter(|v| !is_empty(v))?;
        Some(((*field).to_owned(), Ordered::Plain(value.clone())))
    });
    algorithm.digest((go_ordered(&Ordered::Map(fields.collect())) + "\n").as_bytes())
}

fn is_empty(json: &Json) -> bool {
    match json {
        Json::Null => true,
        Json::Bool(value) => !value,
        Json::Number(number) => number.as_f64() == Some(0.0),
        Json::String(text) => text.is_empty(),
        Json::Array(list) => list.is_empty(),
        Json::Object(map) => map.is_empty(),
    }
}

/// JSON whose maps keep the order of a Go struct.
enum Ordered {
    Map(Vec<(String, Ordered)>),
    List(Vec<Ordered>),
    Plain(Json),
}

fn go_ordered(value: &Ordered) -> String {
    match value {
        Ordered::Plain(json) => go_compact(json),
        Ordered::List(items) => format!("[{}]", items.iter().map(go_ordered).collect::<Vec<_>>().join(",")),
        Ordered::Map(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(k, v)| format!("{}:{}", go_compact(&Json::String(k.clone())), go_ordered(v)))
                .collect();
            format!("{{{}}}", fields.join(","))
        }
    }
}

/// The observation of a release that its digest covers (`F-121`).
fn observation(release: &StoredRelease, oci: &str, controller: ControllerVersion, exact: bool) -> Ordered {
    let json = &*release.json;
    let old = controller < ControllerVersion(1, 5, 0);
    let plain = |field: &str| Ordered::Plain(json.get(field).cloned().unwrap_or(Json::Null));
    let mut fields = vec![
        ("name".to_owned(), plain("name")),
        ("version".to_owned(), plain("version")),
        ("info".to_owned(), info(json.get("info"), old)),
        ("chartMetadata".to_owned(), metadata(json.pointer("/chart/metadata"))),
    ];
    let config = json.get("config").filter(|c| !is_empty(c)).cloned().unwrap_or(Json::Null);
    let config = if exact { config } else { doubles(config, 0) };
    fields.push(("config".into(), Ordered::Plain(config)));
    fields.push(("manifest".into(), Ordered::Plain(json.get("manifest").cloned().unwrap_or_else(|| "".into()))));
    let hooks: Vec<Ordered> = json
        .get("hooks")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .filter(|hook| {
            let events = hook.get("events").and_then(Json::as_array);
            !events.into_iter().flatten().any(|e| e.as_str() == Some("test"))
        })
        .map(|hook| hook_fields(hook, old))
        .collect();
    fields.push(("hooks".into(), if hooks.is_empty() { Ordered::Plain(Json::Null) } else { Ordered::List(hooks) }));
    fields.push(("namespace".into(), plain("namespace")));
    if !oci.is_empty() {
        fields.push(("ociDigest".into(), Ordered::Plain(oci.into())));
    }
    Ordered::Map(fields)
}

fn info(info: Option<&Json>, old: bool) -> Ordered {
    let empty = Json::Object(JsonMap::new());
    let info = info.unwrap_or(&empty);
    let mut out = Vec::new();
    for field in ["first_deployed", "last_deployed", "deleted"] {
        time(&mut out, field, info.get(field), old);
    }
    for field in ["description", "status", "notes"] {
        if let Some(value) = info.get(field).filter(|v| !is_empty(v)) {
            out.push((field.to_owned(), Ordered::Plain(value.clone())));
        }
    }
    Ordered::Map(out)
}

/// A time, in the form that reading and writing it gives; absent ones are written as "" by old versions (`F-291`).
fn time(out: &mut Vec<(String, Ordered)>, field: &str, value: Option<&Json>, always: bool) {
    let text = value.and_then(Json::as_str).unwrap_or_default();
    let text = normal_time(text);
    if !text.is_empty() || always {
        out.push((field.to_owned(), Ordered::Plain(text.into())));
    }
}

/// RFC 3339 with a fraction without trailing zeros and `Z` for no offset; the zero time is "".
fn normal_time(text: &str) -> String {
    if text.is_empty() || text.starts_with("0001-01-01T00:00:00") {
        return String::new();
    }
    let Some(split) = text.get(19..).and_then(|rest| rest.find(['Z', '+', '-'])) else { return text.to_owned() };
    let (stamp, zone) = text.split_at(19 + split);
    let (seconds, fraction) = stamp.split_once('.').unwrap_or((stamp, ""));
    let fraction = fraction.trim_end_matches('0');
    let zone = if matches!(zone, "+00:00" | "-00:00") { "Z" } else { zone };
    if fraction.is_empty() { format!("{seconds}{zone}") } else { format!("{seconds}.{fraction}{zone}") }
}

const METADATA: &[&str] = &[
    "name",
    "home",
    "sources",
    "version",
    "description",
    "keywords",
    "maintainers",
    "icon",
    "apiVersion",
    "condition",
    "tags",
    "appVersion",
    "deprecated",
    "annotations",
    "kubeVersion",
    "dependencies",
    "type",
];

fn metadata(metadata: Option<&Json>) -> Ordered {
    let Some(metadata) = metadata else { return Ordered::Map(Vec::new()) };
    let mut out = Vec::new();
    for field in METADATA {
        let Some(value) = metadata.get(*field).filter(|v| !is_empty(v)) else { continue };
        let list = |fields: &[&str], always: &[&str]| {
            let items = value.as_array().into_iter().flatten().map(|item| {
                let mut inner = Vec::new();
                for name in fields {
                    match item.get(*name) {
                        Some(value) if !is_empty(value) => {
                            inner.push(((*name).to_owned(), Ordered::Plain(value.clone())))
                        }
                        _ if always.contains(name) => inner.push(((*name).to_owned(), Ordered::Plain("".into()))),
                        _ => {}
                    }
                }
                Ordered::Map(inner)
            });
            Ordered::List(items.collect())
        };
        let ordered = match *field {
            "maintainers" => list(&["name", "email", "url"], &[]),
            "dependencies" => list(
                &["name", "version", "repository", "condition", "tags", "enabled", "import-values", "alias"],
                &["name", "repository"],
            ),
            _ => Ordered::Plain(value.clone()),
        };
        out.push(((*field).to_owned(), ordered));
    }
    Ordered::Map(out)
}

fn hook_fields(hook: &Json, old: bool) -> Ordered {
    let mut out = Vec::new();
    let put = |out: &mut Vec<(String, Ordered)>, field: &str| {
        if let Some(value) = hook.get(field).filter(|v| !is_empty(v)) {
            out.push((field.to_owned(), Ordered::Plain(value.clone())));
        }
    };
    for field in ["name", "kind", "path", "manifest", "events"] {
        put(&mut out, field);
    }
    let run = hook.get("last_run");
    let mut last = Vec::new();
    for field in ["started_at", "completed_at"] {
        time(&mut last, field, run.and_then(|r| r.get(field)), old);
    }
    let phase = run.and_then(|r| r.get("phase")).cloned().unwrap_or_else(|| "".into());
    last.push(("phase".into(), Ordered::Plain(phase)));
    out.push(("last_run".into(), Ordered::Map(last)));
    put(&mut out, "weight");
    put(&mut out, "delete_policies");
    if !old {
        put(&mut out, "output_log_policies");
    }
    Ordered::Map(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn f_122_to_f_124_values_digests() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(config_digest(&json!({}), Algorithm::Sha256), empty);
        assert_eq!(config_digest(&Json::Null, Algorithm::Sha256), empty);
        let foo = "sha256:1dabc4e3cbbd6a0818bd460f3a6c9855bfe95d506c74726bc0f2edb0aecb1f4e";
        assert_eq!(config_digest(&json!({"foo": "bar"}), Algorithm::Sha256), foo);
        assert!(config_matches(foo, &json!({"foo": "bar"})));
    }

    fn stored(json: Json) -> StoredRelease {
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "n"}});
        let text = |field: &str| json.pointer(field).and_then(Json::as_str).unwrap_or_default().to_owned();
        StoredRelease {
            name: text("/name"),
            namespace: text("/namespace"),
            version: json["version"].as_i64().unwrap_or_default(),
            status: text("/info/status"),
            json: std::rc::Rc::new(json),
            object: std::rc::Rc::new(crate::cluster::object::Object::new(secret, Default::default()).unwrap()),
        }
    }

    #[test]
    fn f_121_f_140_f_144_to_f_147_f_291_f_373_observations_of_releases() {
        let now = ControllerVersion(1, 6, 3);
        let bare = json!({"name": "foo", "version": 0, "info": {}, "chart": {"metadata": {}}, "namespace": ""});
        for (controller, release, oci, digest) in [
            (now, bare.clone(), "", "f1498f27a16a09cd7e1ee610d924df065c03d30035638babc95dd9a8d412ce4d"),
            (ControllerVersion(1, 4, 5), bare, "", "91b6773f7696d3eb405708a07e2daedc6e69664dabac8e10af7d570d09f947d5"),
            (
                now,
                json!({
                    "name": "a", "version": 1, "namespace": "n", "info": {"status": "failed"}, "config": {},
                    "chart": {"metadata": {"name": "c", "version": "0.1.0"}},
                    "hooks": [{"name": "t", "events": ["test"], "last_run": {"phase": "Failed"}}],
                }),
                "",
                "a4a3c725b8cd43e94aa63745e72089b1f35f9014ac730f43473cceb0bcd9cb07",
            ),
            (
                now,
                json!({
                    "name": "podinfo", "version": 2, "namespace": "podinfo", "apply_method": "ssa",
                    "info": {
                        "first_deployed": "2024-05-07T04:54:21.120000Z", "deleted": "",
                        "last_deployed": "2024-05-07T04:54:55.000000001+00:00",
                        "description": "Upgrade complete", "status": "deployed", "notes": "a <b> & c\n",
                    },
                    "chart": {"metadata": {
                        "name": "podinfo", "version": "6.6.1+0cc9a8446c95", "apiVersion": "v1", "appVersion": "6.6.1",
                        "keywords": [], "annotations": {"b": "2", "a": "1"}, "unknown": "x",
                        "dependencies": [{"name": "redis", "version": "1.x", "repository": "", "enabled": true}],
                    }},
                    "config": {"replicaCount": 2, "big": 1e21, "small": 1e-7, "z": 1.50, "a": {"y": null, "x": [1, "é"]}},
                    "manifest": "---\n# Source: podinfo/templates/svc.yaml\nkind: Service\t\"x\" 'y' <&>\n",
                    "hooks": [
                        {
                            "name": "h1", "kind": "Job", "path": "podinfo/templates/h1.yaml", "manifest": "kind: Job",
                            "events": ["post-install", "post-upgrade"], "weight": -5,
                            "last_run": {
                                "started_at": "2024-05-07T04:54:56Z", "completed_at": "2024-05-07T04:54:57.5Z",
                                "phase": "Succeeded",
                            },
                            "delete_policies": ["before-hook-creation"],
                        },
                        {"name": "t1", "events": ["test"], "last_run": {"phase": ""}},
                    ],
                }),
                "sha256:0cc9a8446c95009ef382f5eade883a67c257f77d50f84e78ecef2aac9428d1e5",
                "71983925da613152ec092e23e86fdc588f5c022001c709bf3d94befa62f9a109",
            ),
        ] {
            let settings = Settings { controller, ..Settings::default() };
            let release = stored(release);
            assert_eq!(release_digest(&release, oci, &settings, false), format!("sha256:{digest}"), "{}", release.name);
            assert!(release_matches(&format!("sha256:{digest}"), &release, oci, controller));
        }
    }

    #[test]
    fn f_125_f_126_order_of_keys_and_other_algorithms_do_not_matter() {
        let values = json!({"replicas": 3, "test": {
            "632bd82398e71231a98004b6": "value4", "632bd80235a05f4192aefade": "value1",
            "632bd817c559818a52307da2": "value3", "632bd80ddf416cf32fd50679": "value2",
        }});
        let digest = "sha256:8a980fcbeadd6f05818f07e8aec14070c22250ca3d96af1fcd5f93b3e85b4d70";
        assert_eq!(config_digest(&values, Algorithm::Sha256), digest);
        let stored = "sha512:b5f9cd4855ca3b08afd602557f373069b1732ce2e6d52341481b0d38f1938452\
                      e9d7759ab177c66699962b592f20ceded03eea3cd405d8670578c47842e2c550";
        assert!(config_matches(stored, &json!({"foo": "bar", "baz": {"cool": "stuff"}})));
    }

    #[test]
    fn f_150_patches_are_hashed_byte_by_byte() {
        let patch = |replicas: u8| {
            let text = format!(
                "\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: test\nspec:\n  replicas: {replicas}\n"
            );
            let target = json!({"kind": "Deployment", "name": "test"});
            let spec = json!([{"kustomize": {"patches": [{"patch": text, "target": target}]}}]);
            post_renderers(Some(&spec), Algorithm::Sha256)
        };
        assert_eq!(patch(2), "sha256:59b8880db074b5f682ea8f29b304628122db46c63f3f7b7bc98d004e9fd45300");
        assert_eq!(patch(3), "sha256:5abe60bf6556877169284d833b9438a437eaf78be3b6454a85ed6f6ced9fc25c");
    }

    #[test]
    fn f_127_what_is_no_digest_never_matches() {
        for stored in ["", "sha512:invalid", "sha1:a856118d270c0db44a9019d51e2bba4fc3e6bac7"] {
            assert!(!config_matches(stored, &json!({"foo": "bar"})), "{stored}");
        }
    }

    #[test]
    fn f_151_to_f_153_metadata_and_post_renderers() {
        let one = json!({"labels": {"common-label": "test-label-value"}, "annotations": {"common-annotation": "test-annotation-value"}});
        assert_eq!(
            common_metadata(Some(&one), Algorithm::Sha256),
            "sha256:966889f004ccb41f12738e234804d4a9663e5a29a055d527fc224ce79ebc8769"
        );
        assert_eq!(
            common_metadata(Some(&json!({})), Algorithm::Sha256),
            "sha256:ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356"
        );
        assert_eq!(
            post_renderers(Some(&json!([])), Algorithm::Sha256),
            "sha256:37517e5f3dc66819f61f5a7bb8ace1921282415f10551d2defa5c3eb0985b570"
        );
        let images = json!([{"kustomize": {"images": [{"name": "nginx", "newName": "reg/nginx", "newTag": "1.2", "digest": "sha256:ab"}]}}, {}]);
        assert_eq!(
            post_renderers(Some(&images), Algorithm::Sha256),
            "sha256:e4ea15d3c3e4e5c8929b3f8fb08890019ef1ddbb33a68155601280cc8f7bf7e0"
        );
        assert_eq!(post_renderers(None, Algorithm::Sha256), "");
    }
}
