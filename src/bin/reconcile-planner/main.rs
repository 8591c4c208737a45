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
    let command = args::Args::parse().command;
    let work = move || match command {
        args::Command::Plan(args) => cmd::plan::run(&args),
        args::Command::Explain(args) => cmd::explain::run(&args),
        args::Command::Render(args) => cmd::render::run(&args),
    };
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(work);
    let done = worker.ok().and_then(|thread| thread.join().ok());
    done.unwrap_or(exit::Exit::Problems).into()
}
