//! The commands. Each reads files, asks the library, prints.

pub mod answers;
pub mod diff;
pub mod explain;
pub mod lint;
pub mod offline;
pub mod plan;
pub mod render;
pub mod whatif;

use helm_render_predictor::api::{Inputs, Options};
use helm_render_predictor::base::diag::Severity;
use helm_render_predictor::report::Report;

use crate::args::Sources;
use crate::exit::Exit;
use crate::files;

/// Reads everything.
fn inputs(snapshot: &[String], sources: &Sources) -> Result<Inputs, files::ReadError> {
    let options = Options {
        controller: sources.controller.clone(),
        controller_args: sources.controller_args.clone(),
        assume_complete: sources.assume_complete,
        latent: sources.latent,
    };
    Ok(Inputs { snapshot: files::snapshot(snapshot)?, charts: files::charts(&sources.charts)?, options })
}

/// Reads everything and computes the report.
fn report(snapshot: &[String], sources: &Sources) -> Result<Report, files::ReadError> {
    Ok(inputs(snapshot, sources)?.plan())
}

/// Namespace and name of a release as it is typed.
fn release_name(text: &str) -> Option<(&str, &str)> {
    let found = text.split_once('/').filter(|(namespace, name)| !namespace.is_empty() && !name.is_empty());
    if found.is_none() {
        eprintln!("error: {text:?} is no release (give NAMESPACE/RELEASE)");
    }
    found
}

/// The status that a report ends with: problems of the input before findings.
fn status(report: &Report) -> Exit {
    if report.diagnostics.iter().any(|d| d.severity == Severity::Error) {
        Exit::Problems
    } else if report.releases.iter().any(|r| !r.findings.is_empty() || !r.silent.is_empty()) {
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
