//! `settled` and `why`: one release, answered.

use helm_render_predictor::api::Inputs;
use helm_render_predictor::base::diag::Severity;
use helm_render_predictor::report::answers::Answer;
use helm_render_predictor::report::contract::ReleaseRef;

use super::{inputs, print, unreadable};
use crate::args::{Output, SettledArgs, Snapshot, Sources, WhyArgs};
use crate::exit::Exit;

/// Prints whether a release has settled.
pub fn settled(args: &SettledArgs) -> Exit {
    let parts: Vec<&str> = args.object.split('/').collect();
    let (kind, namespace, name) = match parts[..] {
        [namespace, name] => ("HelmRelease", namespace, name),
        [kind, namespace, name] => (kind, namespace, name),
        _ => return no_such(&args.object, "give NAMESPACE/NAME"),
    };
    let inputs = match read(&args.snapshot, &args.sources) {
        Ok(inputs) => inputs,
        Err(exit) => return exit,
    };
    let Some(answer) = inputs.settled(kind, &release(namespace, name), args.revision.as_deref()) else {
        return no_such(&args.object, "the snapshot does not hold it");
    };
    match args.sources.output {
        Output::Text => print(&answer.to_text()),
        Output::Json => print(&(answer.to_json() + "\n")),
    }
    match answer.answer {
        Answer::Settled => Exit::Clean,
        Answer::Wait => Exit::Wait,
        Answer::Blocked => Exit::Blocked,
        Answer::Unknown => Exit::Unknown,
    }
}

/// Prints what the controller does next, and why.
pub fn why(args: &WhyArgs) -> Exit {
    let Some((namespace, name)) = args.release.split_once('/') else {
        return no_such(&args.release, "give NAMESPACE/NAME");
    };
    let inputs = match read(&args.snapshot, &args.sources) {
        Ok(inputs) => inputs,
        Err(exit) => return exit,
    };
    let Some(answer) = inputs.why(&release(namespace, name), args.stamp) else {
        return no_such(&args.release, "the snapshot does not hold its HelmRelease");
    };
    match args.sources.output {
        Output::Text => print(&answer.to_text()),
        Output::Json => print(&(answer.to_json() + "\n")),
    }
    let broken = answer.basis.diagnostics.iter().any(|d| d.severity == Severity::Error);
    if broken { Exit::Problems } else { Exit::Clean }
}

fn read(snapshot: &Snapshot, sources: &Sources) -> Result<Inputs, Exit> {
    let files = [&snapshot.inputs[..], &snapshot.snapshot[..]].concat();
    inputs(&files, sources).map_err(|error| unreadable(&error))
}

fn release(namespace: &str, name: &str) -> ReleaseRef {
    ReleaseRef { namespace: namespace.to_owned(), name: name.to_owned() }
}

fn no_such(object: &str, why: &str) -> Exit {
    eprintln!("error: {object:?}: {why}");
    Exit::Usage
}
