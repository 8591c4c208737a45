//! `explain`: one release, or one object of it.

use helm_render_predictor::report::explain;

use super::{inputs, print, release_name, status, unreadable};
use crate::args::{ExplainArgs, Output};
use crate::exit::Exit;

/// Prints the chains.
pub fn run(args: &ExplainArgs) -> Exit {
    let Some((namespace, name)) = release_name(&args.release) else { return Exit::Usage };
    let mut report = match inputs(&args.snapshot, &args.sources) {
        Ok(mut inputs) => {
            inputs.options.latent = true;
            inputs.plan()
        }
        Err(error) => return unreadable(&error),
    };
    let Some(text) = explain::explain(&report, namespace, name, args.object.as_deref()) else {
        eprintln!("error: the snapshot holds no release {} (plan lists them)", args.release);
        return Exit::Usage;
    };
    report.releases.retain(|r| r.release.namespace == namespace && r.release.name == name);
    match args.sources.output {
        Output::Text => print(&text),
        Output::Json => print(&(report.to_json() + "\n")),
    }
    status(&report)
}
