//! `render`: what `helm template --dry-run=server` prints.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Component, Path, PathBuf};

use helm_render_predictor::api::{RenderArgs as Request, name_of, set_file_paths, template, template_parts};
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
    let named = name(args, helm).and_then(|name| {
        let request = request(args).map_err(|error| error.to_string())?;
        Ok(Request { name, ..request })
    });
    let request = match named {
        Ok(request) => request,
        Err(error) => {
            eprintln!("Error: {error}");
            return Exit::Problems;
        }
    };
    if let Some(folder) = &args.output_dir {
        return match write(folder, args, &request, helm) {
            Ok(()) => Exit::Clean,
            Err(error) => {
                eprintln!("Error: {error}");
                Exit::Problems
            }
        };
    }
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

/// What the release is called.
fn name(args: &RenderArgs, helm: HelmVersion) -> Result<String, String> {
    match &args.chart[..] {
        [_, _] if args.generate_name => Err("cannot set --generate-name and also specify a name".into()),
        [_, _] if !args.name_template.is_empty() => Err("cannot set --name-template and also specify a name".into()),
        [name, _] => Ok(name.clone()),
        _ if !args.name_template.is_empty() => name_of(&args.name_template, helm),
        _ => Ok("release-name".into()),
    }
}

/// Writes the rendered files into a folder, as Helm does: a file anew, with all its documents; hooks behind what is there.
fn write(folder: &str, args: &RenderArgs, request: &Request, helm: HelmVersion) -> Result<(), String> {
    let parts = template_parts(request, helm).map_err(|error| error.message)?;
    let mut written = BTreeSet::new();
    for part in parts {
        let mut path = PathBuf::from(folder);
        if args.release_name && part.of_release {
            path.push(&request.name);
        }
        if Path::new(&part.path).components().any(|part| !matches!(part, Component::Normal(_))) {
            return Err(format!("{} leads out of {folder}: nothing is written there", part.path));
        }
        path.push(&part.path);
        files::put(&path, &part.text, part.hook || written.contains(&path))?;
        println!("wrote {}", path.display());
        written.insert(path);
    }
    match args.show_only.first() {
        Some(template) => Err(format!("could not find template {template} in chart")),
        None => {
            println!();
            Ok(())
        }
    }
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
