//! `render`: what `helm template --dry-run=server` prints.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;

use helm_render_predictor::api::{RenderArgs as Request, template};
use helm_render_predictor::base::version::HelmVersion;

use crate::args::RenderArgs;
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
            eprintln!("Error: {}", error.message);
            (error.output, Exit::Problems)
        }
    };
    let _ = std::io::stdout().lock().write_all(&output);
    exit
}

/// Reads all files that the flags name.
fn request(args: &RenderArgs) -> Result<Request, files::ReadError> {
    let (name, chart) = match &args.chart[..] {
        [name, chart] => (name.as_str(), chart),
        [chart] => ("release-name", chart),
        _ => unreachable!("clap asks for one or two"),
    };
    let read = |path: &String| files::one(path).map(|bytes| (path.clone(), bytes));
    let set_file = args.set_file.iter().map(|text| {
        let paths = text.split(',').filter_map(|part| part.split_once('=')).map(|(_, path)| path);
        let contents = paths.filter_map(|path| fs::read(path).ok().map(|bytes| (path.to_owned(), bytes)));
        (text.clone(), contents.collect::<BTreeMap<_, _>>())
    });
    Ok(Request {
        chart: files::chart(chart)?,
        name: name.to_owned(),
        namespace: args.namespace.clone(),
        values: args.values.iter().map(read).collect::<Result<_, _>>()?,
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
        snapshot: files::snapshot(&args.snapshot)?,
        ..Request::default()
    })
}
