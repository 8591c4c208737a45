//! The way from rendered text to stored objects, rule by rule (`F-320` to `F-359`, `F-370` to `F-372`).

use super::*;
use serde_json::json;

const H4: &str = "4.2.2";
const H3: &str = "3.19.2";

fn stored(helm: &str, strategy: Strategy, files: &[(&str, &str)], spec: &Json) -> Result<Stored, String> {
    let config = PostRender {
        helm: helm.parse().unwrap(),
        strategy,
        hr_name: "app",
        hr_namespace: "ns",
        post_renderers: spec.get("postRenderers"),
        common_metadata: spec.get("commonMetadata"),
    };
    let file = |(name, text): &(&str, &str)| TemplateOutput { path: format!("c/{name}"), text: (*text).into() };
    post_render(&files.iter().map(file).collect::<Vec<_>>(), &config, &Origins::new(true))
}

fn of(helm: &str, text: &str) -> Result<Stored, String> {
    let strategy = if helm == H3 { Strategy::NoHooks } else { Strategy::Combined };
    stored(helm, strategy, &[("templates/a.yaml", text)], &json!({}))
}

/// Names of the stored documents, or the error.
fn names(helm: &str, text: &str) -> Result<Vec<String>, String> {
    let name = |d: &StoredDocument| d.object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    of(helm, text).map(|stored| stored.manifest.iter().map(name).collect())
}

fn map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n")
}

/// What becomes of `k: TEXT` in a document.
fn value(helm: &str, text: &str) -> Result<Json, String> {
    let stored = of(helm, &format!("{}data:\n  k: {text}\n", map("a")))?;
    Ok(stored.manifest[0].object["data"]["k"].clone())
}

#[test]
fn f_320_nothing_rendered_is_an_empty_manifest() {
    for helm in [H4, H3] {
        assert_eq!(names(helm, "").unwrap(), Vec::<String>::new());
        assert_eq!(names(helm, " \n\n").unwrap(), Vec::<String>::new());
    }
}

#[test]
fn f_321_f_322_where_documents_end() {
    for helm in [H4, H3] {
        let two = |separator: &str| names(helm, &format!("{}{separator}{}", map("a"), map("b")));
        assert_eq!(two("---\n").unwrap(), ["a", "b"], "{helm}");
        assert_eq!(two("--- # x\n").unwrap(), ["a", "b"], "{helm}");
        assert_eq!(two("---").unwrap(), ["a", "b"], "{helm}: glued to the text");
        assert_eq!(two("...\n").unwrap(), ["a"], "{helm}: what follows is lost");
        assert_eq!(names(helm, &map("a").replace('\n', "\r\n")).unwrap(), ["a"], "{helm}");
        assert!(two("----\n").is_err(), "{helm}: a `-` is left");
        assert!(names(helm, &format!("%YAML 1.2\n---\n{}", map("a"))).is_err(), "{helm}");
    }
    let marked = format!("\u{feff}{}", map("a"));
    assert_eq!(names(H4, &marked).unwrap(), ["a"]);
    assert!(names(H3, &marked).unwrap_err().contains("apiVersion not set"));
}

#[test]
fn f_323_documents_without_content() {
    for helm in [H4, H3] {
        for empty in ["# x\n", "null\n", "~\n"] {
            assert_eq!(names(helm, &format!("{}---\n{empty}", map("a"))).unwrap(), ["a"], "{helm} {empty}");
        }
        for bad in ["text\n", "[]\n", "- a\n"] {
            assert!(names(helm, &format!("{}---\n{bad}", map("a"))).is_err(), "{helm} {bad}");
        }
    }
    let with = format!("{}---\n{{}}\n", map("a"));
    assert!(names(H4, &with).unwrap_err().contains("missing kind in object"));
    assert_eq!(names(H3, &with).unwrap(), ["a"]);
}

#[test]
fn f_325_f_359_kind_and_name_are_asked_for() {
    for (text, cause) in [
        ("apiVersion: v1\nmetadata: {name: a}\n", "missing kind in object"),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a}\n", "missing metadata.name in object"),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: null}\n", "missing metadata.name in object"),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ''}\n", "missing metadata.name in object"),
    ] {
        for helm in [H4, H3] {
            let error = names(helm, text).unwrap_err();
            assert!(
                error.starts_with("error while running post render on files: ") && error.contains(cause),
                "{error}"
            );
        }
    }
}

#[test]
fn f_330_f_331_f_332_f_380_order_and_files() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n";
    let odd = "apiVersion: x/v1\nkind: Aaa\nmetadata: {name: o}\n";
    let (a, b, z) = (map("a"), format!("{odd}---\n{}", map("b")), format!("{}---\n{secret}", map("z")));
    let files = [("templates/a.yaml", a.as_str()), ("templates/B.yaml", &b), ("charts/s/templates/z.yaml", &z)];
    let lines = |helm, strategy| {
        let stored = stored(helm, strategy, &files, &json!({})).unwrap();
        let line = |d: &StoredDocument| format!("{} {}", d.source, d.object["metadata"]["name"].as_str().unwrap());
        stored.manifest.iter().map(line).collect::<Vec<_>>()
    };
    let want = [
        "c/charts/s/templates/z.yaml s",
        "c/charts/s/templates/z.yaml z",
        "c/templates/B.yaml b",
        "c/templates/a.yaml a",
        "c/templates/B.yaml o",
    ];
    assert_eq!(lines(H4, Strategy::Combined), want);
    assert_eq!(lines(H3, Strategy::NoHooks), [" s", " z", " b", " a", " o"], "no files");
}

#[test]
fn f_341_labels_are_made_and_checked() {
    let labels = |text: &str| {
        let stored = of(H4, &format!("{}  labels: {text}\n", map("a")))?;
        Ok::<Json, String>(stored.manifest[0].object["metadata"]["labels"].clone())
    };
    let origin = json!({"helm.toolkit.fluxcd.io/name": "app", "helm.toolkit.fluxcd.io/namespace": "ns"});
    for empty in ["null", "{}", ""] {
        assert_eq!(labels(empty).unwrap(), origin, "{empty}");
    }
    for (bad, kind) in [("text", "ScalarNode"), ("[a]", "SequenceNode")] {
        let error = labels(bad).unwrap_err();
        let want = format!(
            "considering field 'metadata/labels' of object ConfigMap.v1.[noGrp]/a.[noNs]: wrong node kind: expected \
             MappingNode but got {kind}"
        );
        assert!(error.contains(&want), "{error}");
    }
    let common = json!({"commonMetadata": {"labels": {"x": "010", "y": "yes"}, "annotations": {"n": "1"}}});
    let text = format!("{}  labels: {{x: own}}\n", map("a"));
    let got = stored(H4, Strategy::Combined, &[("templates/a.yaml", &text)], &common).unwrap();
    let metadata = &got.manifest[0].object["metadata"];
    assert_eq!(
        (&metadata["labels"]["x"], &metadata["labels"]["y"], &metadata["annotations"]["n"]),
        (&json!("010"), &json!("yes"), &json!("1"))
    );
}

#[test]
fn f_342_f_387_annotations_that_are_dropped() {
    let annotations = |helm: &str, text: &str| {
        let stored = of(helm, &format!("{}  annotations: {text}\n", map("a"))).unwrap();
        stored.manifest[0].object["metadata"].get("annotations").cloned()
    };
    assert_eq!((annotations(H4, "{}"), annotations(H4, "null")), (None, None));
    assert_eq!(annotations(H3, "{}"), Some(json!({})));
    for dropped in [
        "config.kubernetes.io/index",
        "internal.config.kubernetes.io/index",
        "internal.config.kubernetes.io/seqindent",
        "postrenderer.helm.sh/postrender-filename",
    ] {
        assert_eq!(annotations(H4, &format!("{{{dropped}: x, own: y}}")), Some(json!({"own": "y"})), "{dropped}");
        assert_eq!(annotations(H4, &format!("{{{dropped}: x}}")), None, "{dropped}");
        assert_eq!(annotations(H3, &format!("{{{dropped}: x}}")), Some(json!({dropped: "x"})), "{dropped}");
    }
}

#[test]
fn f_344_f_371_f_381_hooks_take_part_in_combined_renders() {
    let hook = format!("{}  annotations: {{helm.sh/hook: pre-install}}\n", map("h"));
    let label = |strategy| {
        let stored = stored(H4, strategy, &[("templates/a.yaml", &hook)], &json!({})).unwrap();
        stored.hooks[0].document.object["metadata"]["labels"]["helm.toolkit.fluxcd.io/name"].clone()
    };
    assert_eq!((label(Strategy::Combined), label(Strategy::Separate)), (json!("app"), json!("app")));
    assert_eq!(label(Strategy::NoHooks), Json::Null, "F-346");
    let old = stored(H3, Strategy::NoHooks, &[("templates/a.yaml", &hook)], &json!({})).unwrap();
    let metadata = &old.hooks[0].document.object["metadata"];
    assert!(metadata.get("labels").is_none(), "F-381: stored as rendered");
}

#[test]
fn f_350_words_that_are_booleans_to_helm_stay_texts() {
    for word in ["y", "Y", "n", "yes", "Yes", "NO", "on", "Off"] {
        assert_eq!(value(H4, word).unwrap(), json!(word));
        assert_eq!(value(H3, word).unwrap(), json!(word));
    }
    assert_eq!((value(H4, "true").unwrap(), value(H4, "FALSE").unwrap()), (json!(true), json!(false)));
}

#[test]
fn f_351_dates_become_times() {
    for (text, want) in [
        ("2024-01-02", "2024-01-02T00:00:00Z"),
        ("2024-1-2", "2024-01-02T00:00:00Z"),
        ("2024-01-02 03:04:05", "2024-01-02T03:04:05Z"),
        ("2024-01-02T03:04:05.100Z", "2024-01-02T03:04:05.1Z"),
        ("2024-01-02T03:04:05+00:00", "2024-01-02T03:04:05Z"),
        ("2024-01-02T03:04:05+02:00", "2024-01-02T03:04:05+02:00"),
        ("2024-01-02T03:04:05", "2024-01-02T03:04:05"),
        ("2024-01-02T03:04:05-0500", "2024-01-02T03:04:05-0500"),
        ("24-1-1", "24-1-1"),
        ("2024-02-30", "2024-02-30"),
        ("2024-01", "2024-01"),
        ("'2024-01-02'", "2024-01-02"),
        ("!!str 2024-01-02", "2024-01-02"),
    ] {
        assert_eq!(value(H4, text).unwrap(), json!(want), "{text}");
    }
}

#[test]
fn f_352_tags() {
    assert_eq!(value(H4, "! 5").unwrap(), json!(5));
    assert_eq!(value(H4, "!!str 5").unwrap(), json!("5"));
    assert_eq!(value(H4, "!!timestamp 2024-01-02").unwrap(), json!("2024-01-02T00:00:00Z"));
    assert!(value(H4, "!!bool yes").unwrap_err().contains("cannot decode !!str `yes` as a !!bool"));
}

#[test]
fn f_353_keys_that_are_no_texts() {
    for key in ["8080", "1.5", "true", "2024-01-02", ".inf"] {
        let error = of(H4, &format!("{}data:\n  {key}: x\n", map("a"))).err().unwrap();
        assert!(error.contains("json: unsupported type: map[interface {}]interface {}"), "{key}: {error}");
    }
    let top = of(H4, &format!("{}010: x\nyes: y\n", map("a"))).unwrap();
    assert_eq!((&top.manifest[0].object["010"], &top.manifest[0].object["yes"]), (&json!("x"), &json!("y")));
    assert!(of(H4, &format!("{}data: {{~: x}}\n", map("a"))).is_err());
}

#[test]
fn f_354_a_key_twice() {
    let error = of(H4, &format!("{}data:\n  k: 1\n  k: 2\n", map("a"))).err().unwrap();
    assert!(error.contains("mapping key \"k\" already defined at line"), "{error}");
    assert!(of(H4, &format!("{}data:\n  5: 1\n  '5': 2\n", map("a"))).is_err());
}

#[test]
fn f_355_merge_keys() {
    let data = |text: &str| {
        of(H4, &format!("{}b: &b {{x: '1', z: '1'}}\ndata:\n{text}", map("a")))
            .map(|s| s.manifest[0].object["data"].clone())
    };
    assert_eq!(data("  x: '0'\n  <<: *b\n").unwrap(), json!({"x": "0", "z": "1"}), "explicit keys win");
    assert_eq!(data("  \"<<\": *b\n  k: v\n").unwrap(), json!({"k": "v"}), "a quoted one vanishes");
    assert!(data("  <<: *b\n  <<: *b\n").is_err());
}

#[test]
fn f_358_characters_that_do_not_pass() {
    for bad in ["\\x7f", "\\x80", "\\uFFFE"] {
        let error = value(H4, &format!("\"x{bad}\"")).unwrap_err();
        assert!(error.contains("control characters are not allowed"), "{bad}: {error}");
    }
    assert_eq!(value(H4, "\"x\\Ny\"").unwrap(), json!("x y"));
    for fine in ["\\L", "\\uFEFF", "\\x01"] {
        assert!(value(H4, &format!("\"x{fine}y\"")).is_ok(), "{fine}");
    }
}

#[test]
fn f_370_f_372_what_is_live_beside_what_is_stored() {
    let text = format!("{}  labels: {{app.kubernetes.io/managed-by: me}}\n", map("a"));
    let stored = of(H4, &text).unwrap();
    let document = &stored.manifest[0];
    assert_eq!(document.object["metadata"]["labels"]["app.kubernetes.io/managed-by"], json!("me"));
    assert!(document.object["metadata"].get("namespace").is_none());
    let live = live_form(document, "rel", "target");
    assert_eq!(live["metadata"]["labels"]["app.kubernetes.io/managed-by"], json!("Helm"));
    assert_eq!(live["metadata"]["annotations"]["meta.helm.sh/release-name"], json!("rel"));
    assert_eq!(live["metadata"]["annotations"]["meta.helm.sh/release-namespace"], json!("target"));
}
