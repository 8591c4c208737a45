//! What a real Helm was told and what it printed.

use helm_render_predictor::api::{RenderArgs, set_file_paths};

/// The cluster's version where a case names none.
pub const DEFAULT_KUBE_VERSION: &str = "v1.33.1";

/// What the server of the recordings serves in its core group: no sub-resources but `scale` and `status`.
pub fn core_group() -> (String, Vec<u8>) {
    ("core.json".to_owned(), include_bytes!("../../fixtures/micro/core.json").to_vec())
}

/// A snapshot document that says which version the cluster has.
pub fn profile(kube_version: &str) -> (String, Vec<u8>) {
    let version = serde_json::Value::from(kube_version);
    let text = format!("apiVersion: oracle.helm/v1\nkind: ClusterProfile\nspec: {{kubeVersion: {version}}}\n");
    ("~profile.yaml".to_owned(), text.into_bytes())
}

/// Takes flags of `helm template`; `read` gives the content of a file that a flag names.
pub fn flags(args: &mut RenderArgs, flags: impl IntoIterator<Item = String>, read: impl Fn(&str) -> Option<Vec<u8>>) {
    let mut flags = flags.into_iter();
    let content = |path: &str| read(path).ok_or_else(|| format!("open {path}: no such file or directory"));
    while let Some(flag) = flags.next() {
        let mut next = || flags.next().unwrap_or_else(|| panic!("{flag} without a value"));
        match flag.as_str() {
            "--name" => args.name = next(),
            "--namespace" => args.namespace = next(),
            "--kube-version" => args.kube_version = Some(next()),
            "-f" => {
                let name = next();
                let content = content(&name);
                args.values.push((name, content));
            }
            "-s" | "--show-only" => args.show_only.push(next()),
            "-a" | "--api-versions" => args.api_versions.extend(next().split(',').map(str::to_owned)),
            "--set" => args.set.push(next()),
            "--set-string" => args.set_string.push(next()),
            "--set-json" => args.set_json.push(next()),
            "--set-literal" => args.set_literal.push(next()),
            "--set-file" => {
                let text = next();
                let files = set_file_paths(&text).into_iter().map(|path| (path.clone(), content(&path)));
                args.set_file.push((text, files.collect()));
            }
            "--is-upgrade" => args.is_upgrade = true,
            "--include-crds" => args.include_crds = true,
            "--no-hooks" => args.no_hooks = true,
            "--skip-tests" => args.skip_tests = true,
            "--take-ownership" => args.take_ownership = true,
            "--skip-schema-validation" => args.skip_schema_validation = true,
            other => panic!("unknown flag {other}"),
        }
    }
}

/// The error that Helm reports, without warnings, log lines and advice.
pub fn core(stderr: &str) -> String {
    // Recorded runs of a Helm that crashed hold its stack too.
    if let Some(panic) = stderr.lines().find(|line| line.starts_with("panic: ")) {
        return panic.trim().to_owned();
    }
    let start = match stderr.rfind("\nError: ") {
        Some(at) => at + "\nError: ".len(),
        None if stderr.starts_with("Error: ") => "Error: ".len(),
        None => 0,
    };
    let error = stderr.get(start..).unwrap_or_default();
    error.split("\n\nUse --debug flag to render out invalid YAML").next().unwrap_or_default().trim().to_owned()
}

/// Whether one of the texts that Helm reported is this one; lines may come in any order, as Helm prints them.
pub fn same_error(wanted: &[String], mine: &str) -> Result<(), String> {
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    if wanted.iter().any(|w| w == mine || sorted(w) == sorted(mine)) {
        return Ok(());
    }
    Err(format!("errors differ\n- {}\n+ {mine}", wanted.join("\n- ")))
}

/// The first lines in which two outputs differ.
pub fn difference(wanted: &str, got: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (wanted.split('\n').collect(), got.split('\n').collect());
    let at = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let part = |lines: &[&str], sign: &str| -> String {
        lines.iter().skip(at).take(4).map(|line| format!("\n{sign} {line}")).collect()
    };
    format!("line {} differs:{}{}", at + 1, part(&a, "-"), part(&b, "+"))
}
