//! `reconcile-planner`: what Flux will not render again, why, and what to force in which order.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)] // the one place that touches the outside

mod args;
mod cmd;
mod exit;
mod files;

use clap::Parser;

fn main() -> std::process::ExitCode {
    let code = match args::Args::parse().command {
        args::Command::Plan(args) => cmd::plan::run(&args),
        args::Command::Explain(args) => cmd::explain::run(&args),
        args::Command::Render(args) => cmd::render::run(&args),
    };
    code.into()
}
