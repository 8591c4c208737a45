//! `diff`: stored against predicted, one release.

use helm_render_predictor::report::difference;

use super::{inputs, print, release_name, unreadable};
use crate::args::{DiffArgs, Output};
use crate::exit::Exit;

/// Prints the differences.
pub fn run(args: &DiffArgs) -> Exit {
    let Some((namespace, name)) = release_name(&args.release) else { return Exit::Usage };
    let inputs = match inputs(&args.snapshot, &args.sources) {
        Ok(inputs) => inputs,
        Err(error) => return unreadable(&error),
    };
    let differences = match inputs.diff(namespace, name, args.show_secrets) {
        Some(Ok(differences)) => differences,
        Some(Err(error)) => {
            eprintln!("error: {} does not render: {error}", args.release);
            return Exit::Problems;
        }
        None => {
            eprintln!("error: the snapshot holds no release {} (plan lists them)", args.release);
            return Exit::Usage;
        }
    };
    match args.sources.output {
        Output::Text => print(&difference::text(&differences)),
        Output::Json => print(&(difference::json(&differences) + "\n")),
    }
    if differences.is_empty() { Exit::Clean } else { Exit::Findings }
}
