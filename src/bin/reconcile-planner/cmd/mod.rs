//! The commands. Each reads files, asks the library, prints.

pub mod explain;
pub mod plan;
pub mod render;

use helm_render_predictor::api::{Inputs, Options};
use helm_render_predictor::base::diag::Severity;
use helm_render_predictor::report::Report;

use crate::args::Sources;
use crate::exit::Exit;
use crate::files;

/// Reads everything and computes the report.
fn report(inputs: &[String], sources: &Sources) -> Result<Report, files::ReadError> {
    let inputs = Inputs {
        snapshot: files::snapshot(inputs)?,
        charts: files::charts(&sources.charts)?,
        options: Options { controller: sources.controller.clone(), assume_complete: sources.assume_complete },
    };
    Ok(inputs.plan())
}

/// The status that a report ends with: problems of the input before findings.
fn status(report: &Report) -> Exit {
    if report.diagnostics.iter().any(|d| d.severity == Severity::Error) {
        Exit::Problems
    } else if report.releases.iter().any(|r| !r.findings.is_empty()) {
        Exit::Findings
    } else {
        Exit::Clean
    }
}

/// Prints what could not be read.
fn unreadable(error: &files::ReadError) -> Exit {
    eprintln!("error: {error} (check the path and its permissions)");
    Exit::Usage
}

/// Prints to standard output; a reader that has gone away is no error.
fn print(text: &str) {
    use std::io::Write;
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}
