//! `whatif`: another Helm, another Kubernetes.

use helm_render_predictor::report::difference;

use super::{inputs, print, unreadable};
use crate::args::{Output, WhatifArgs};
use crate::exit::Exit;

/// Prints what would be otherwise.
pub fn run(args: &WhatifArgs) -> Exit {
    let inputs = match inputs(&args.inputs, &args.sources) {
        Ok(inputs) => inputs,
        Err(error) => return unreadable(&error),
    };
    let found = match inputs.what_if(args.helm.as_deref(), args.kube_version.as_deref(), &args.api_versions) {
        Ok(found) => found,
        Err(error) => {
            eprintln!("error: {error}");
            return Exit::Usage;
        }
    };
    match args.sources.output {
        Output::Text => print(&difference::what_if_text(&found)),
        Output::Json => print(&(difference::what_if_json(&found) + "\n")),
    }
    if found.is_empty() { Exit::Clean } else { Exit::Findings }
}
