//! Expectations taken from recordings of the controller.

use super::*;
use crate::value::TextBuilder;
use crate::value::origin::Origin;
use serde_json::json;

fn config(helm: &str) -> PostRender<'static> {
    PostRender {
        helm: helm.parse().unwrap(),
        strategy: Strategy::Combined,
        hr_name: "app",
        hr_namespace: "ns",
        post_renderers: None,
        common_metadata: None,
    }
}

fn rendered(text: &str) -> Result<Stored, String> {
    let files = [TemplateOutput { path: "c/templates/a.yaml".into(), text: text.into() }];
    post_render(&files, &config("4.2.2"), &Origins::new(true))
}

#[test]
fn f_340_every_document_gets_the_labels_of_origin() {
    let stored = rendered("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n").unwrap();
    let labels = &stored.manifest[0].object["metadata"]["labels"];
    assert_eq!(labels, &json!({"helm.toolkit.fluxcd.io/name": "app", "helm.toolkit.fluxcd.io/namespace": "ns"}));
}

fn documents(files: &[(&str, &str)], config: &PostRender<'_>) -> Result<Vec<(String, String)>, String> {
    let files: Vec<TemplateOutput> = files
        .iter()
        .map(|(name, text)| TemplateOutput { path: format!("app/templates/{name}"), text: (*text).into() })
        .collect();
    let stored = post_render(&files, config, &Origins::new(true))?;
    let name = |d: &StoredDocument| (d.source.clone(), d.object["metadata"]["name"].to_string().replace('"', ""));
    let hooks = stored.hooks.iter().map(|h| name(&h.document)).map(|(source, n)| (source, format!("hook {n}")));
    Ok(stored.manifest.iter().map(name).chain(hooks).collect())
}

fn named(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{k: v}}\n")
}

fn hook_text(name: &str, events: &str) -> String {
    named(name).replace("{name", &format!("{{annotations: {{helm.sh/hook: '{events}'}}, name"))
}

#[test]
fn f_326_f_383_items_of_typed_lists_move_to_the_end_and_lose_their_file() {
    let item = |name: &str| named(name).trim_end().replace('\n', "\n  ");
    let list = |kind: &str, name: &str| format!("apiVersion: v1\nkind: {kind}\nitems:\n- {}\n", item(name));
    let text = format!("{}---\n{}---\n{}", list("ConfigMapList", "c"), list("List", "a"), named("b"));
    for (helm, expected) in [
        (
            "4.2.2",
            [("app/templates/a.yaml", "a"), ("app/templates/a.yaml", "b"), ("generated-by-postrender-2.yaml", "c")],
        ),
        ("3.19.2", [("", "b"), ("", "c"), ("", "a")]),
    ] {
        let found = documents(&[("a.yaml", &text)], &config(helm)).unwrap();
        assert_eq!(found, expected.map(|(s, n)| (s.to_owned(), n.to_owned())), "{helm}");
    }
}

#[test]
fn f_345_and_f_346_strategies_decide_what_happens_to_a_hook_and_its_twin() {
    let hook = hook_text("same", "pre-install");
    let files = [("a.yaml", named("same")), ("h.yaml", hook)];
    let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (*n, t.as_str())).collect();
    let run = |strategy| documents(&files, &PostRender { strategy, ..config("4.2.2") });
    assert_eq!(
        run(Strategy::Combined).unwrap_err(),
        "error while running post render on files: may not add resource with an already registered id: \
         ConfigMap.v1.[noGrp]/same.[noNs]"
    );
    let both = [("app/templates/a.yaml", "same"), ("app/templates/h.yaml", "hook same")]
        .map(|(s, n)| (s.to_owned(), n.to_owned()));
    assert_eq!(run(Strategy::Separate).unwrap(), both);
    assert_eq!(run(Strategy::NoHooks).unwrap(), both);
}

#[test]
fn f_343_patches_make_hooks_and_take_files_away() {
    let patch = |op: &str, name: &str| json!([{"kustomize": {"patches": [{"patch": op, "target": {"kind": "ConfigMap", "name": name}}]}}]);
    let add = "- op: add\n  path: /metadata/annotations/helm.sh~1hook\n  value: post-install\n";
    let remove = "- {op: remove, path: /metadata/annotations}\n";
    let text = format!("{}---\n{}", named("a"), named("b"));
    for (helm, op, expected) in [
        ("4.2.2", add, [("app/templates/a.yaml", "a"), ("app/templates/a.yaml", "hook b")]),
        ("4.2.2", remove, [("app/templates/a.yaml", "a"), ("generated-by-postrender-1.yaml", "b")]),
        ("3.19.2", add, [("", "a"), ("", "b")]),
    ] {
        let renderers = patch(op, "b");
        let config = PostRender { post_renderers: Some(&renderers), ..config(helm) };
        let found = documents(&[("a.yaml", &text)], &config).unwrap();
        assert_eq!(found, expected.map(|(s, n)| (s.to_owned(), n.to_owned())), "{helm} {op}");
    }
}

#[test]
fn f_339_renderers_common_metadata_and_labels_of_origin_follow_each_other() {
    let renderers = json!([{"kustomize": {"patches": [{
        "patch": "- op: add\n  path: /metadata/labels\n  value: {team: patch, helm.toolkit.fluxcd.io/name: x, p: yes}",
        "target": {"kind": "ConfigMap"},
    }]}}]);
    let common = json!({"labels": {"team": "common"}});
    let config = PostRender { post_renderers: Some(&renderers), common_metadata: Some(&common), ..config("4.2.2") };
    let text = named("a");
    let files = [TemplateOutput { path: "app/templates/a.yaml".into(), text: text.as_str().into() }];
    // A boolean label is what the API machinery refuses.
    assert_eq!(
        post_render(&files, &config, &Origins::new(true)).err().unwrap(),
        "unable to build kubernetes objects from release manifest: unable to decode \"\": json: cannot unmarshal \
         bool into Go struct field ObjectMeta.metadata.labels of type string"
    );
    let renderers = json!([{"kustomize": {"patches": [{
        "patch": "- op: add\n  path: /metadata/labels\n  value: {team: patch, helm.toolkit.fluxcd.io/name: x}",
        "target": {"kind": "ConfigMap"},
    }]}}]);
    let config = PostRender { post_renderers: Some(&renderers), ..config };
    let stored = post_render(&files, &config, &Origins::new(true)).unwrap();
    let labels = json!({
        "team": "common", "helm.toolkit.fluxcd.io/name": "app", "helm.toolkit.fluxcd.io/namespace": "ns",
    });
    assert_eq!(stored.manifest[0].object["metadata"]["labels"], labels);
}

#[test]
fn f_357_a_block_at_the_end_of_a_document_keeps_what_each_helm_leaves_it() {
    let block =
        |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata:\n  k: |\n    x\n");
    let text = format!("{}---\n{}", block("a"), block("b"));
    for (helm, expected) in [("3.19.2", ["x\n", "x\n"]), ("4.2.2", ["x", "x\n"]), ("4.2.4", ["x\n", "x\n"])] {
        let files = [TemplateOutput { path: "app/templates/a.yaml".into(), text: text.as_str().into() }];
        let stored = post_render(&files, &config(helm), &Origins::new(true)).unwrap();
        let found: Vec<&Json> = stored.manifest.iter().map(|d| &d.object["data"]["k"]).collect();
        assert_eq!(found, expected, "{helm}");
    }
}

#[test]
fn f_324_errors_of_reading_name_the_file_as_each_helm_does() {
    for (helm, text, error) in [
        (
            "4.2.2",
            "- a",
            "error merging manifests: parsing app/templates/a.yaml: wrong node kind: expected \
          MappingNode but got SequenceNode: node contents:\n- a",
        ),
        (
            "4.2.2",
            "a: b: c",
            "error merging manifests: parsing app/templates/a.yaml: MalformedYAMLError: yaml: \
          mapping values are not allowed in this context",
        ),
        (
            "3.19.2",
            "a: b: c",
            "YAML parse error on app/templates/a.yaml: error converting YAML to JSON: yaml: \
          mapping values are not allowed in this context",
        ),
        (
            "3.19.2",
            "hello",
            "YAML parse error on app/templates/a.yaml: error unmarshaling JSON: while decoding \
          JSON: json: cannot unmarshal string into Go value of type releaseutil.SimpleHead",
        ),
    ] {
        assert_eq!(documents(&[("a.yaml", text)], &config(helm)).unwrap_err(), error);
    }
}

#[test]
fn hooks_of_unknown_types_are_sorted_out_and_weights_are_read() {
    let files = [("a.yaml", hook_text("odd", "sometimes")), ("b.yaml", hook_text("good", "pre-install, TEST"))];
    let files: Vec<TemplateOutput> = files
        .iter()
        .map(|(name, text)| TemplateOutput { path: format!("app/templates/{name}"), text: text.as_str().into() })
        .collect();
    let stored = post_render(&files, &config("4.2.2"), &Origins::new(true)).unwrap();
    assert_eq!(stored.hooks.len(), 1);
    assert_eq!(stored.hooks[0].events, ["pre-install", "test"]);
    assert_eq!((stored.hooks[0].weight, &*stored.hooks[0].delete_policies[0]), (0, "before-hook-creation"));
}

#[test]
fn f_325_a_document_without_a_name_fails() {
    assert!(rendered("apiVersion: v1\nkind: ConfigMap\n").err().unwrap().contains("missing metadata.name"));
}

#[test]
fn f_382_helm_3_words_a_document_without_kind_and_metadata_in_its_own_way() {
    let failed = |helm: &str, text: &str| documents(&[("a.yaml", text)], &config(helm)).unwrap_err();
    for helm in ["3.17.1", "3.19.2"] {
        let error = failed(helm, "data: {k: v}\n");
        assert_eq!(error, "error while running post render on files: missing Resource metadata", "{helm}");
    }
    for (helm, text) in [("4.2.2", "data: {k: v}\n"), ("3.19.2", "metadata: {name: x}\n")] {
        assert!(failed(helm, text).contains("missing kind in object"), "{helm}");
    }
}

#[test]
fn f_348_the_same_object_twice_fails() {
    let one = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    let error = rendered(&format!("{one}---\n{one}")).err().unwrap();
    assert!(error.ends_with("already registered id: ConfigMap.v1.[noGrp]/a.[noNs]"), "{error}");
}

#[test]
fn leaves_and_documents_know_their_origins() {
    let origins = Origins::new(true);
    let gate = origins.only(Origin::Release("IsUpgrade"));
    let fact = origins.only(Origin::KubeVersion);
    let mut text = TextBuilder::default();
    text.push(b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: \"", gate);
    text.push(b"1.30", origins.union(gate, fact));
    text.push(b"\"\n", gate);
    let files = [TemplateOutput { path: "c/templates/a.yaml".into(), text: text.finish() }];
    let stored = post_render(&files, &config("4.2.2"), &origins).unwrap();
    let document = &stored.manifest[0];
    assert_eq!(document.whole, gate);
    assert_eq!(document.leaves[".data.x"], origins.union(gate, fact));
}

#[test]
fn a_stored_manifest_is_read_with_its_sources() {
    let text = "---\n# Source: c/templates/a.yaml\nkind: A\nmetadata:\n  name: a\n---\n# Source: c/templates/b.yaml\nkind: B\n";
    let documents = parse_manifest(text).unwrap();
    let sources: Vec<&str> = documents.iter().map(|d| d.source.as_str()).collect();
    assert_eq!(sources, ["c/templates/a.yaml", "c/templates/b.yaml"]);
}
