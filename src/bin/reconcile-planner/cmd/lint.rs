//! `lint`: a chart without a cluster.

use helm_render_predictor::api;
use helm_render_predictor::base::version::HelmVersion;
use helm_render_predictor::report::lint;

use super::{print, render};
use crate::args::{LintArgs, Output};
use crate::exit::Exit;

/// Prints the hazards.
pub fn run(args: &LintArgs) -> Exit {
    let helm: HelmVersion = match args.render.helm.parse() {
        Ok(helm) => helm,
        Err(error) => {
            eprintln!("error: {error}");
            return Exit::Usage;
        }
    };
    let request = match render::request(&args.render) {
        Ok(request) => request,
        Err(error) => {
            eprintln!("error: {error}");
            return Exit::Usage;
        }
    };
    let found = match api::lint(&request, helm) {
        Ok(found) => found,
        Err(error) => {
            eprintln!("error: {}", error.message);
            return Exit::Problems;
        }
    };
    match args.output {
        Output::Text => print(&lint::text(&found)),
        Output::Json => print(&(lint::json(&found) + "\n")),
    }
    match (&found.error, found.items.is_empty()) {
        (Some(_), _) => Exit::Problems,
        (None, true) => Exit::Clean,
        (None, false) => Exit::Findings,
    }
}
