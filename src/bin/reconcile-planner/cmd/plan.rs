//! `plan`: the whole report.

use helm_render_predictor::report::table;

use super::{print, report, status, unreadable};
use crate::args::{Output, PlanArgs};
use crate::exit::Exit;

/// Prints the plan.
pub fn run(args: &PlanArgs) -> Exit {
    let report = match report(&args.inputs, &args.sources) {
        Ok(report) => report,
        Err(error) => return unreadable(&error),
    };
    match args.sources.output {
        Output::Text => print(&table::plan(&report)),
        Output::Json => print(&(report.to_json() + "\n")),
    }
    status(&report)
}
