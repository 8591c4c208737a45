//! `render`: what `helm template --dry-run=server` prints.

use std::io::Write;
use std::path::Path;

use helm_render_predictor::api::{RenderArgs as Request, set_file_paths, template};
use helm_render_predictor::base::version::HelmVersion;

use crate::args::{DryRun, RenderArgs};
use crate::exit::Exit;
use crate::files;

/// Prints the rendered manifest, or the error as Helm words it.
pub fn run(args: &RenderArgs) -> Exit {
    let helm: HelmVersion = match args.helm.parse() {
        Ok(helm) => helm,
        Err(error) => {
            eprintln!("error: {error}");
            return Exit::Usage;
        }
    };
    let request = match request(args) {
        Ok(request) => request,
        Err(error) => {
            eprintln!("Error: {error}");
            return Exit::Problems;
        }
    };
    let (output, exit) = match template(&request, helm) {
        Ok(output) => (output, Exit::Clean),
        Err(error) => {
            let advice = if error.advises_debug { "\n\nUse --debug flag to render out invalid YAML" } else { "" };
            eprintln!("Error: {}{advice}", error.message);
            (error.output, Exit::Problems)
        }
    };
    let _ = std::io::stdout().lock().write_all(&output);
    exit
}

/// Reads all files that the flags name.
pub(super) fn request(args: &RenderArgs) -> Result<Request, files::ReadError> {
    let (name, chart) = match &args.chart[..] {
        [name, chart] => (name.as_str(), chart),
        [chart] => ("release-name", chart),
        _ => unreachable!("clap asks for one or two"),
    };
    let read = |path: String| {
        let content = files::one(&path);
        (path, content)
    };
    let set_file =
        args.set_file.iter().map(|text| (text.clone(), set_file_paths(text).into_iter().map(read).collect()));
    Ok(Request {
        chart: if Path::new(chart).exists() { Some(files::chart(chart)?) } else { None },
        chart_path: chart.clone(),
        name: name.to_owned(),
        namespace: args.namespace.clone(),
        values: args.values.iter().cloned().map(read).collect(),
        set: args.set.clone(),
        set_string: args.set_string.clone(),
        set_json: args.set_json.clone(),
        set_file: set_file.collect(),
        set_literal: args.set_literal.clone(),
        kube_version: args.kube_version.clone(),
        api_versions: args.api_versions.clone(),
        is_upgrade: args.is_upgrade,
        include_crds: args.include_crds,
        show_only: args.show_only.clone(),
        no_hooks: args.no_hooks,
        skip_tests: args.skip_tests,
        validate: args.validate,
        take_ownership: args.take_ownership,
        client: args.dry_run == DryRun::Client,
        debug: args.debug,
        skip_schema_validation: args.skip_schema_validation,
        snapshot: files::snapshot(&args.snapshot)?,
        ..Request::default()
    })
}
