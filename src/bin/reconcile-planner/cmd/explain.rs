//! `explain`: one release, or one object of it.

use helm_render_predictor::report::explain;

use super::{print, report, status, unreadable};
use crate::args::{ExplainArgs, Output};
use crate::exit::Exit;

/// Prints the chains.
pub fn run(args: &ExplainArgs) -> Exit {
    let Some((namespace, name)) = args.release.split_once('/') else {
        eprintln!("error: {:?} is no release (give NAMESPACE/RELEASE)", args.release);
        return Exit::Usage;
    };
    let mut report = match report(&args.snapshot, &args.sources) {
        Ok(report) => report,
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
