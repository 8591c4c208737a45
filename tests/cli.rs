//! The binary itself: what it prints, and how it ends.
#![allow(clippy::disallowed_methods)]

mod support;

use std::path::PathBuf;
use std::process::{Command, Output};

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_reconcile-planner"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(args)
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A scratch folder of its own for each test.
fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    for (file, bytes) in support::yaml_files(&support::folder("", "fixtures/scenarios/s1-s2")) {
        std::fs::write(folder.join(file), bytes).unwrap();
    }
    folder
}

#[test]
fn the_readme_example_tells_what_is_skipped_and_what_to_type() {
    let output = run(&["plan", "fixtures/scenarios/s1-s2"]);
    let out = text(&output);
    assert_eq!(output.status.code(), Some(2), "findings end with 2");
    for line in [
        "9 SKIPPED because of BucketClaim tenant-root/bucket-cozy-backups .status.bucketName",
        "2 SKIPPED",
        "kubectl -n tenant-root annotate helmrelease bucket-cozy-backups-system reconcile.fluxcd.io/forceAt=\"$T1\" reconcile.fluxcd.io/requestedAt=\"$T1\" --overwrite --field-manager=flux-client-side-apply",
        "kubectl -n cozy-backup-controller annotate helmrelease backupstrategy-controller reconcile.fluxcd.io/forceAt=\"$T2\" reconcile.fluxcd.io/requestedAt=\"$T2\" --overwrite --field-manager=flux-client-side-apply",
        "Secret tenant-root/bucket-cozy-backups-system-credentials exists with a non-empty .data.bucketName",
    ] {
        assert!(out.contains(line), "missing {line:?} in\n{out}");
    }
}

#[test]
fn a_wrong_command_line_is_not_taken_for_findings() {
    for (args, status) in [(&["plan"][..], 64), (&["plan", "--nope", "x"], 64), (&["no-such"], 64), (&["--help"], 0)] {
        assert_eq!(run(args).status.code(), Some(status), "{args:?}");
    }
}

#[test]
fn a_difference_names_the_fact_behind_each_field_and_shows_secrets_only_when_asked() {
    let diff = ["diff", "tenant-root/bucket-cozy-backups-system", "-s", "fixtures/scenarios/s1-s2"];
    let hidden = text(&run(&diff));
    assert!(hidden.contains(
        "+ .data.accessKey: (12 bytes, hidden)   ← Secret tenant-root/bucket-cozy-backups-alice .data.BucketInfo"
    ));
    let shown = text(&run(&[&diff[..], &["--show-secrets"]].concat()));
    assert!(shown.contains("+ .data.accessKey: \"") && !shown.contains("hidden"));
}

#[test]
fn no_secret_value_is_printed() {
    for args in [
        &["plan", "fixtures/scenarios/s1-s2"][..],
        &["plan", "-o", "json", "fixtures/scenarios/s1-s2"],
        &["explain", "tenant-root/bucket-cozy-backups-system", "-s", "fixtures/scenarios/s1-s2"],
        &["diff", "tenant-root/bucket-cozy-backups-system", "-s", "fixtures/scenarios/s1-s2"],
    ] {
        let output = run(args);
        let all = text(&output) + &String::from_utf8_lossy(&output.stderr);
        for secret in ["example-secret-", "ZXhhbXBsZS1zZWNyZXQt", "AKSYSTEM"] {
            assert!(!all.contains(secret), "{secret} in the output of {args:?}");
        }
    }
}

#[test]
fn explain_prints_the_chain_from_the_object_to_who_makes_the_fact() {
    let out = text(&run(&[
        "explain",
        "cozy-backup-controller/backupstrategy-controller",
        "CNPG/cozy-default-cnpg",
        "-s",
        "fixtures/scenarios/s1-s2",
    ]));
    for part in [
        "SKIPPED CNPG cozy-default-cnpg",
        "templates/strategies-sql.yaml:2",
        "backups.bucketName",
        "templates/_helpers.tpl:7",
        "BucketClaim tenant-root/bucket-cozy-backups .status.bucketName",
        "release tenant-root/bucket-cozy-backups",
        "self-produced(2)",
    ] {
        assert!(out.contains(part), "missing {part:?} in\n{out}");
    }
}

#[test]
fn the_same_snapshot_gives_the_same_json_in_any_order_of_files() {
    let folder = "fixtures/scenarios/s1-s2";
    let whole = text(&run(&["plan", "-o", "json", folder]));
    assert_eq!(whole, text(&run(&["plan", "-o", "json", folder])), "twice in a row");
    let mut files: Vec<String> =
        ["cluster", "flux", "helm-secrets"].iter().map(|f| format!("{folder}/{f}.yaml")).collect();
    for _ in 0..files.len() {
        files.rotate_left(1);
        let mut args = vec!["plan", "-o", "json"];
        args.extend(files.iter().map(String::as_str));
        assert_eq!(whole, text(&run(&args)), "{files:?}");
    }
}

#[test]
fn a_truncated_file_is_named_and_the_rest_is_predicted() {
    let folder = scratch("truncated");
    std::fs::write(folder.join("extra.json"), "{\"apiVersion\": \"v1\",\n \"kind\": \"Li").unwrap();
    let output = run(&["plan", folder.to_str().unwrap()]);
    let out = text(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(out.contains("extra.json:2: the file ends in the middle of an object (collect it again"), "{out}");
    assert!(out.contains("9 SKIPPED"), "{out}");
}

#[test]
fn invalid_yaml_is_named_and_the_rest_is_predicted() {
    let folder = scratch("invalid");
    std::fs::write(folder.join("extra.yaml"), "apiVersion: v1\nkind: Secret\nmetadata: {name: x\ndata: y\nz: [\n\n\n")
        .unwrap();
    let output = run(&["plan", folder.to_str().unwrap()]);
    let out = text(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(out.contains("extra.yaml:") && out.contains("collect it again"), "{out}");
    assert!(out.contains("9 SKIPPED"), "{out}");
}

#[test]
fn a_release_secret_that_does_not_decode_is_named_without_its_content() {
    let folder = scratch("undecodable");
    let secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: sh.helm.release.v1.broken.v1\n  namespace: cozy-system\n  labels: {owner: helm, name: broken}\ntype: helm.sh/release.v1\ndata:\n  release: bm90IGEgcmVsZWFzZQ==\n";
    std::fs::write(folder.join("extra.yaml"), secret).unwrap();
    let output = run(&["plan", folder.to_str().unwrap()]);
    let out = text(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(out.contains("extra.yaml:1: Secret cozy-system/sh.helm.release.v1.broken.v1"), "{out}");
    assert!(!out.contains("bm90IGEg"), "{out}");
    assert!(out.contains("9 SKIPPED"), "{out}");
}

#[test]
fn a_chart_that_does_not_render_is_named_and_the_others_are_predicted() {
    let output = run(&["plan", "fixtures/scenarios/s2-g"]);
    let out = text(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        out.contains("bucket-system/templates/ui.yaml:4: tenant-root/bucket-cozy-backups-system does not render"),
        "{out}"
    );
    assert!(out.contains("9 SKIPPED"), "{out}");
}

#[test]
fn a_snapshot_without_findings_ends_with_0() {
    let folder = scratch("clean");
    for file in ["cluster.yaml", "flux.yaml", "helm-secrets.yaml"] {
        std::fs::remove_file(folder.join(file)).unwrap();
    }
    std::fs::write(folder.join("a.yaml"), "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n").unwrap();
    assert_eq!(run(&["plan", folder.to_str().unwrap()]).status.code(), Some(0));
}

#[test]
fn render_prints_what_helm_printed() {
    for (helm, file) in [("3.17", "helm-3.17.yaml"), ("4.1", "helm-4.1.yaml"), ("4.2", "helm-4.2.yaml")] {
        let output = run(&[
            "render",
            "backupstrategy-controller",
            "fixtures/charts/backupstrategy-controller",
            "--namespace",
            "cozy-backup-controller",
            "--is-upgrade",
            "--snapshot",
            "fixtures/golden/s1-cluster.yaml",
            "--helm",
            helm,
        ]);
        let want = std::fs::read_to_string(support::folder("", "fixtures/golden").join(file)).unwrap();
        assert_eq!(text(&output), want, "Helm {helm}");
    }
}

/// A chart with a hook, a test, a CRD, and a template that can be spoilt.
fn chart_with_hooks(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(folder.join("templates")).unwrap();
    std::fs::create_dir_all(folder.join("crds")).unwrap();
    let hook =
        |event: &str| format!("kind: Pod\nmetadata: {{name: {event}, annotations: {{helm.sh/hook: {event}}}}}\n");
    for (file, text) in [
        ("Chart.yaml", "apiVersion: v2\nname: d\nversion: 1.0.0\n".to_owned()),
        ("crds/x.yaml", "kind: CustomResourceDefinition\n".to_owned()),
        (
            "templates/a.yaml",
            "{{ if .Values.y }}\na: b: c\n{{ end }}\n{{ if .Values.t }}{{ fail \"no\" }}{{ end }}".to_owned(),
        ),
        ("templates/b.yaml", "apiVersion: a.io/v1\nkind: X\n".to_owned()),
        ("templates/hook.yaml", hook("post-install")),
        ("templates/test.yaml", hook("test")),
    ] {
        std::fs::write(folder.join(file), text).unwrap();
    }
    folder.to_str().unwrap().to_owned()
}

/// What each Helm printed for that chart with these flags.
#[test]
fn flags_pick_what_is_printed_as_helm_does() {
    let chart = chart_with_hooks("flags");
    let part = |file: &str, text: &str| format!("---\n# Source: d/{file}\n{text}\n");
    let crd = part("crds/x.yaml", "kind: CustomResourceDefinition\n");
    let pod = |event: &str| format!("kind: Pod\nmetadata: {{name: {event}, annotations: {{helm.sh/hook: {event}}}}}");
    for helm in ["3.17", "3.22", "4.1", "4.2", "4.3"] {
        // The newer keep the line end of a document, but for the manifest's last; 4.3 also when it picks a template.
        let keeps = if ["4.2", "4.3"].contains(&helm) { "\n" } else { "" };
        let b = part("templates/b.yaml", "apiVersion: a.io/v1\nkind: X");
        let hook = part("templates/hook.yaml", &(pod("post-install") + keeps));
        let test = part("templates/test.yaml", &(pod("test") + keeps));
        let shown = b.clone() + if helm == "4.3" { "\n" } else { "" };
        for (flags, want) in [
            (&[][..], format!("{b}{hook}{test}")),
            (&["--skip-tests"], format!("{b}{hook}")),
            (&["--no-hooks"], b.clone()),
            (&["--no-hooks", "--include-crds", "--skip-crds"], format!("{crd}{b}")),
            (&["--skip-crds", "--no-hooks", "--skip-tests"], b.clone()),
            (&["--show-only", "templates/b.yaml", "--dry-run=client"], shown),
        ] {
            let output = run(&[&["render", "r", &chart, "--helm", helm], flags].concat());
            assert_eq!(text(&output), want, "Helm {helm} with {flags:?}");
        }
    }
}

#[test]
fn files_and_names_of_releases_come_out_as_helm_makes_them() {
    let chart = chart_with_hooks("output");
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("written");
    let _ = std::fs::remove_dir_all(&folder);
    let out = folder.to_str().unwrap();
    let ask = |flags: &[&str]| {
        let output = run(&[&["render"], flags, &["--helm", "4.2"]].concat());
        (text(&output), String::from_utf8(output.stderr.clone()).unwrap())
    };
    let read = |path: &str| std::fs::read_to_string(folder.join(path)).unwrap();
    let (said, _) = ask(&["r", &chart, "--output-dir", out, "--include-crds", "--release-name", "--skip-tests"]);
    let wrote = ["d/crds/x.yaml", "r/d/templates/b.yaml", "r/d/templates/hook.yaml"];
    let want: String = wrote.iter().map(|path| format!("wrote {out}/{path}\n")).collect();
    assert_eq!(said, want + "\n");
    let hook = read("r/d/templates/hook.yaml");
    assert!(hook.starts_with("---\n# Source: d/templates/hook.yaml\nkind: Pod\n"), "{hook}");
    // Once more: hooks go on where a file is, everything else begins anew.
    let before = read("r/d/templates/b.yaml");
    ask(&["r", &chart, "--output-dir", out, "--release-name", "--skip-tests"]);
    assert_eq!((read("r/d/templates/hook.yaml"), read("r/d/templates/b.yaml")), (hook.repeat(2), before));
    let (_, error) = ask(&["r", &chart, "--output-dir", out, "--show-only", "templates/b.yaml"]);
    assert_eq!(error, "Error: could not find template templates/b.yaml in chart\n");

    let named = |flags: &[&str]| ask(&[flags, &[chart.as_str(), "--set", "name=1"]].concat());
    for (flags, want) in [
        (&["r", "-g"][..], "cannot set --generate-name and also specify a name"),
        (&["r", "--name-template", "x"], "cannot set --name-template and also specify a name"),
        (&["--name-template", "{{"], "template: name-template:1: unclosed action"),
        (&["--name-template", "{{ toYaml 1 }}"], "template: name-template:1: function \"toYaml\" not defined"),
        (&["--name-template", "X-{{ upper \"y\" }}"], "release name check failed: release name \"X-Y\": invalid"),
        (&[""], "release name check failed: release name \"\": no name provided"),
    ] {
        let (_, error) = named(flags);
        assert!(error.starts_with(&format!("Error: {want}")), "{flags:?}: {error}");
    }
    let (out, _) =
        named(&["-g", "--hide-notes", "--enable-dns", "--render-subchart-notes", "--disable-openapi-validation"]);
    assert!(out.starts_with("---\n# Source: d/templates/b.yaml\n"), "{out}");
}

#[test]
fn what_cannot_be_sorted_is_printed_for_debugging_and_validation_asks_the_cluster() {
    let chart = chart_with_hooks("debug");
    let ask = |flags: &[&str]| {
        let output = run(&[&["render", "r", &chart], flags].concat());
        (text(&output), String::from_utf8(output.stderr.clone()).unwrap())
    };
    let advice = "\n\nUse --debug flag to render out invalid YAML\n";
    for helm in ["3.22", "4.2"] {
        let (out, error) = ask(&["--set", "y=1", "--helm", helm]);
        assert!(out.is_empty() && error.ends_with(advice) && error.contains("YAML parse error on d/templates/a.yaml"));
        let (out, error) = ask(&["--set", "y=1", "--helm", helm, "--debug"]);
        assert!(out.contains("# Source: d/templates/a.yaml\n\na: b: c\n") && out.contains("kind: X"), "{out}");
        assert!(!error.contains(advice) && error.contains("YAML parse error"), "{error}");
        assert_eq!(ask(&["--set", "t=1", "--helm", helm, "--debug"]).0, "\n");
    }
    let snapshot = ["--snapshot", "fixtures/golden/s1-cluster.yaml", "--set", "n=1"];
    let checked = |flags: &[&str]| ask(&[&snapshot[..], flags].concat()).1;
    assert_eq!(checked(&["--helm", "3.22"]), "");
    for flags in [&["--helm", "3.22", "--validate"][..], &["--helm", "4.2"], &["--helm", "4.2", "--validate"]] {
        let error = checked(flags);
        assert!(error.contains("no matches for kind \"X\" in version \"a.io/v1\""), "{flags:?}: {error}");
        assert!(!error.contains(advice), "{error}");
    }
    assert_eq!(checked(&["--helm", "4.2", "--dry-run=client"]), "");
}

#[test]
fn templates_without_end_are_stopped() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("endless");
    std::fs::create_dir_all(folder.join("templates")).unwrap();
    std::fs::write(folder.join("Chart.yaml"), "apiVersion: v2\nname: endless\nversion: 0.1.0\n").unwrap();
    let cases = [
        (
            "{{ include \"r\" . }}{{ define \"r\" }}{{ include \"r\" . }}{{ end }}",
            "rendering template has a nested reference name: r",
        ),
        ("{{ define \"r\" }}{{ template \"r\" . }}{{ end }}{{ template \"r\" . }}", "exceeded maximum template depth"),
        ("{{ $t := \"{{ tpl .t . }}\" }}{{ tpl $t (dict \"t\" $t) }}", "exceeded maximum template depth"),
    ];
    for (template, want) in cases {
        std::fs::write(folder.join("templates/a.yaml"), format!("a: {template}\n")).unwrap();
        let output = run(&["render", "x", folder.to_str().unwrap()]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{template}");
        assert!(error.contains(want), "{want:?} is not in the error ({} bytes) of {template}", error.len());
    }
}

#[test]
fn settled_names_the_first_unmet_condition_and_ends_with_a_status_of_its_own() {
    let line = |n: &str| format!("fixtures/scenarios/s4/{n}");
    for (n, status, begins) in [
        (
            "10",
            3,
            "WAIT(HelmRelease sylva-system/sylva-units chart)  HelmRelease sylva-system/sylva-units: release still on",
        ),
        ("18", 0, "SETTLED  HelmRelease sylva-system/sylva-units\n"),
    ] {
        let output = run(&["settled", "sylva-system/sylva-units", "--revision", "7efe12ed", &line(n)]);
        assert_eq!(output.status.code(), Some(status), "{n}");
        assert!(text(&output).starts_with(begins), "{}", text(&output));
        let same = run(&["settled", "sylva-system/sylva-units", "--revision", "7efe12ed", "--snapshot", &line(n)]);
        assert_eq!(text(&same), text(&output), "the snapshot as a flag");
    }
    let doomed = run(&["settled", "HelmRelease/sylva-system/root-dependency-3", &line("12")]);
    assert_eq!(doomed.status.code(), Some(4), "{}", text(&doomed));
    let flux = std::fs::read_to_string(support::folder("", "fixtures/scenarios/s4/18/snapshot.yaml")).unwrap();
    let folder = scratch("uncollected");
    for file in ["cluster.yaml", "flux.yaml", "helm-secrets.yaml"] {
        std::fs::remove_file(folder.join(file)).unwrap();
    }
    let without = flux
        .replace("kind: GitRepository\n  metadata", "kind: Other\n  metadata")
        .replace("complete: true", "complete: false");
    std::fs::write(folder.join("a.yaml"), without).unwrap();
    let unknown = run(&["settled", "sylva-system/sylva-units", folder.to_str().unwrap()]);
    assert_eq!(unknown.status.code(), Some(5), "{}", text(&unknown));
    assert_eq!(run(&["settled", "a/b", &line("18")]).status.code(), Some(64));
    assert_eq!(run(&["settled", "a/b"]).status.code(), Some(64), "no snapshot");
}

#[test]
fn why_tells_the_checks_what_was_not_looked_at_and_what_a_force_would_do() {
    let folder = "fixtures/scenarios/s1-s2";
    let output = run(&["why", "cozy-backup-controller/backupstrategy-controller", "--stamp", folder]);
    let out = text(&output);
    assert_eq!(output.status.code(), Some(0), "{out}");
    for part in [
        "F-97   the digest of the composed values is the stored one",
        "state InSync (release in-sync with desired state), action: none",
        "looks again: interval",
        "stamped now, both annotations with a fresh token: honoured",
        "action: upgrade",
        "not looked at:",
        "F-103  what lookups find, capabilities, the version of Kubernetes, images",
        "assumed: helm-controller is 1.6.2, with default flags: its Deployment is not in the snapshot",
    ] {
        assert!(out.contains(part), "missing {part:?} in\n{out}");
    }
    let suspended =
        text(&run(&["why", "tenant-root/bucket-cozy-backups-system", "--stamp", "fixtures/scenarios/s2-a"]));
    assert!(suspended.contains("fresh token: burnt") && suspended.contains("F-60"), "{suspended}");
    assert_eq!(run(&["why", "a/b", folder]).status.code(), Some(64));
    let json = text(&run(&["why", "cozy-backup-controller/backupstrategy-controller", "-o", "json", folder]));
    assert!(json.starts_with("{\n  \"contract\": \"reconcile-planner/why/v1\""), "{json}");
}

#[test]
fn versions_and_flags_of_the_controller_are_read_or_given() {
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: flux, namespace: cozy-fluxcd}\nspec:\n  template:\n    spec:\n      containers:\n      - name: helm-controller\n        image: ghcr.io/fluxcd/helm-controller:v1.4.5@sha256:0000\n        args: [--feature-gates=DefaultToRetryOnFailure=true]\n";
    let folder = scratch("deployment");
    std::fs::write(folder.join("deployment.yaml"), deployment).unwrap();
    let (folder, release) = (folder.to_str().unwrap().to_owned(), "cozy-backup-controller/backupstrategy-controller");
    let out = text(&run(&["why", release, &folder]));
    assert!(out.contains("helm-controller 1.4.5, Helm 3.19.2") && !out.contains("assumed: helm-controller"), "{out}");
    let given = text(&run(&["why", release, "--controller", "1.2", &folder]));
    assert!(given.contains("helm-controller 1.2.0, Helm 3.17.1"), "{given}");
    let without = "fixtures/scenarios/s1-s2";
    let given = text(&run(&["why", release, "--controller", "1.5.3", without]));
    assert!(given.contains("assumed: helm-controller has default flags"), "{given}");
    let flags = "--controller-arg=--feature-gates=DefaultToRetryOnFailure=true";
    let given = text(&run(&["why", release, "--controller", "1.5.3", flags, without]));
    assert!(!given.contains("assumed: helm-controller"), "{given}");
}

#[test]
fn lint_tells_what_a_chart_hides_without_a_cluster() {
    let output = run(&["lint", "fixtures/charts/bucket-system", "--set", "users={a}"]);
    let out = text(&output);
    assert_eq!(output.status.code(), Some(2), "{out}");
    assert!(out.contains("GATE") && out.contains("fact: Secret"), "{out}");
}

#[test]
fn what_if_of_a_helm_that_is_none_is_refused() {
    assert_eq!(run(&["whatif", "fixtures/scenarios/s1-s2", "--helm", "9.9"]).status.code(), Some(64));
    assert_eq!(run(&["whatif", "fixtures/scenarios/s1-s2", "--helm", "4.1"]).status.code(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_told_as_helm_tells_it() {
    let chart = chart_with_hooks("links");
    let folder = std::path::absolute(&chart).unwrap();
    for (link, target) in [("a", "b"), ("b", "gone/file")] {
        let _ = std::fs::remove_file(folder.join(link));
        std::os::unix::fs::symlink(target, folder.join(link)).unwrap();
    }
    let output = run(&["render", "r", &chart, "--helm", "4.2"]);
    let at = folder.display();
    let want = format!("Error: error evaluating symlink {at}/a: lstat {at}/gone: no such file or directory\n");
    assert_eq!((String::from_utf8(output.stderr).unwrap(), output.status.code()), (want, Some(1)));
}
