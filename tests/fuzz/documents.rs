//! Whole charts: documents, separators, hooks, kinds, comments, notes.

use helm_render_predictor::base::version::HelmVersion;

use super::case::{Case, Files};
use super::source::Source;
use super::yaml;

#[rustfmt::skip]
const KINDS: &[&str] = &[
    "ConfigMap", "Secret", "Service", "Deployment", "Namespace", "CustomResourceDefinition", "Ingress", "Job", "Widget", "ServiceAccount", "Role", "APIService",
    "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "List", "configmap", "", "123", "~", "Gadget", "PriorityClass", "Pod",
];
const SEPARATORS: &[&str] = &[
    "---\n",
    "\n---\n",
    "---\n---\n",
    "--- # c\n",
    "---  \n",
    "\r\n---\r\n",
    "----\n",
    "---x\n",
    " ---\n",
    "\n\n---\n\n",
    "---\t\n",
    "---",
    "\n---",
    "...\n",
    "---\n# only\n---\n",
];
const HOOKS: &[&str] = &[
    "pre-install",
    "post-install",
    "pre-install,post-upgrade",
    "test",
    "test-success",
    "nope",
    "crd-install",
    "pre-delete, post-delete",
    "",
    "Pre-Install",
    "pre-rollback",
];
const EXTRAS: &[&str] = &[
    "# comment\n",
    "\n",
    "  \n",
    "{{/* c */}}\n",
    "{{- if .Values.nope }}\na: b\n{{- end }}\n",
    "{{ .Values.nope }}\n",
    "data: {a: \"1\"}\n",
    "\t\n",
    "{{- range until 3 }}\nk{{ . }}: v\n{{- end }}\n",
    "spec:\n  a: |\n    text\n\n",
    "spec: |+\n  keep\n\n\n",
    "x: \"{{ .Release.Name }}\"\n",
    "\u{feff}# b\n",
];
const NAMES: &[&str] = &[
    "templates/a.yaml",
    "templates/b.yaml",
    "templates/sub/a.yaml",
    "templates/_part.yaml",
    "templates/z.txt",
    "templates/NOTES.txt",
    "templates/B.yaml",
    "templates/tests/t.yaml",
    "templates/_helpers.tpl",
    "templates/.hidden.yaml",
    "templates/a-b.yaml",
    "templates/a b.yaml",
    "crds/c.yaml",
    "templates/a.yml",
    "templates/sub/NOTES.txt",
    "templates/x",
];

fn annotations(source: &mut Source) -> String {
    if !source.chance(30) {
        return String::new();
    }
    let hook = source.pick(HOOKS);
    let mut text = format!("  annotations:\n    helm.sh/hook: {}\n", if hook.is_empty() { "\"\"" } else { hook });
    if source.chance(40) {
        text.push_str(&format!(
            "    helm.sh/hook-weight: {}\n",
            source.pick(&["\"1\"", "\"-5\"", "\"x\"", "\"\"", "\"10\"", "\" 1\"", "2"])
        ));
    }
    if source.chance(30) {
        text.push_str("    helm.sh/hook-delete-policy: hook-succeeded, before-hook-creation\n");
    }
    if source.chance(10) {
        text.push_str(source.pick(&[
            "    a: 1\n",
            "    b: null\n",
            "    helm.sh/resource-policy: keep\n",
            "    c: [x]\n",
        ]));
    }
    text
}

fn document(source: &mut Source) -> String {
    match source.below(14) {
        10 => source.some(3, |s| s.pick(EXTRAS).to_owned()),
        11 => yaml::text(source),
        12 => source
            .pick(&[
                "hello\n",
                "- a\n- b\n",
                "1\n",
                "{}\n",
                "null\n",
                "kind: 5\n",
                "metadata: x\n",
                "metadata: {annotations: []}\n",
            ])
            .to_owned(),
        _ => {
            let kind = source.pick(KINDS);
            let name = source.pick(&["x", "y", "x-1", "\"1\"", "{{ .Release.Name }}", "\"\""]);
            let before = source.some(1, |s| s.pick(EXTRAS).to_owned());
            let version = source.pick(&["apiVersion: v1\n", "apiVersion: apps/v1\n", "", "apiVersion: 1\n"]);
            let notes = annotations(source);
            let after = source.some(2, |s| s.pick(EXTRAS).to_owned());
            format!("{before}{version}kind: {kind}\nmetadata:\n  name: {name}\n{notes}{after}")
        }
    }
}

/// A chart of some files with some documents each.
pub fn documents(source: &mut Source, _: HelmVersion) -> Case {
    let mut files: Files = Vec::new();
    for _ in 0..1 + source.below(4) {
        let path = source.pick(NAMES);
        if files.iter().any(|(name, _)| name == path) {
            continue;
        }
        let mut text = if source.chance(25) { source.pick(SEPARATORS).to_owned() } else { String::new() };
        text.push_str(&document(source));
        for _ in 0..source.below(4) {
            text.push_str(source.pick(SEPARATORS));
            text.push_str(&document(source));
        }
        if source.chance(20) {
            text.push_str(source.pick(SEPARATORS));
        }
        files.push((path.into(), text.into_bytes()));
    }
    Case::Chart(files)
}
