//! `reconcile-planner`: what Flux will not render again, why, and what to force in which order.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)] // the one place that touches the outside

mod args;
mod cmd;
mod exit;
mod files;

use clap::Parser;

/// Stack of the thread that works: templates call each other as deep as Helm lets them.
const STACK: usize = 256 << 20;

fn main() -> std::process::ExitCode {
    let command = match args::Args::try_parse() {
        Ok(args) => args.command,
        Err(error) => return usage(&error),
    };
    let work = move || match command {
        args::Command::Plan(args) => cmd::plan::run(&args),
        args::Command::Explain(args) => cmd::explain::run(&args),
        args::Command::Diff(args) => cmd::diff::run(&args),
        args::Command::Settled(args) => cmd::answers::settled(&args),
        args::Command::Why(args) => cmd::answers::why(&args),
        args::Command::Whatif(args) => cmd::whatif::run(&args),
        args::Command::Offline(args) => cmd::offline::run(&args),
        args::Command::Lint(args) => cmd::lint::run(&args),
        args::Command::Render(args) => cmd::render::run(&args),
    };
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(work);
    let done = worker.ok().and_then(|thread| thread.join().ok());
    done.unwrap_or(exit::Exit::Problems).into()
}

/// Prints what clap has to say: help and version end with 0, a wrong command line with a status that no answer has.
fn usage(error: &clap::Error) -> std::process::ExitCode {
    let _ = error.print();
    if error.use_stderr() { exit::Exit::Usage.into() } else { std::process::ExitCode::SUCCESS }
}
