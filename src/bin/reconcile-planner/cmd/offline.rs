//! `offline`: what Argo CD, `helm template` and other renderers without a cluster make of the releases.

use helm_render_predictor::report::offline;

use super::{inputs, print, unreadable};
use crate::args::{OfflineArgs, Output};
use crate::exit::Exit;

/// Version of Kubernetes of a renderer that nobody told one.
const UNTOLD: &str = "v1.35.0";

/// Prints what would be otherwise.
pub fn run(args: &OfflineArgs) -> Exit {
    let inputs = match inputs(&args.inputs, &args.sources) {
        Ok(inputs) => inputs,
        Err(error) => return unreadable(&error),
    };
    let told = args.only_flags || args.kube_version.is_some() || !args.api_versions.is_empty();
    let flags = told.then_some((args.kube_version.as_deref().unwrap_or(UNTOLD), &*args.api_versions));
    let found = inputs.offline(flags);
    match args.sources.output {
        Output::Text => print(&offline::text(&found)),
        Output::Json => print(&(offline::json(&found) + "\n")),
    }
    if found.iter().all(|release| release.findings.is_empty()) { Exit::Clean } else { Exit::Findings }
}
