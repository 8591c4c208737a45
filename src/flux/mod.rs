//! What helm-controller decides, and what it makes of rendered text. Rules are cited by number (`F-n`).

pub mod cycle;
pub mod decide;
#[cfg(test)]
mod decide_tests;
pub mod digest;
mod drift;
mod expr;
pub mod helmchart;
pub mod layers;
pub mod model;
pub mod postrender;
pub mod preserve;
pub mod readiness;
#[cfg(test)]
mod rules;
pub mod settings;
pub mod settled;
pub mod silent;
pub mod source;
mod state;
mod status;
mod storage;
mod traps;
mod upstream;
pub mod values;
pub mod why;

pub use decide::{Action, Check, Decision, Exit, Outcome, State, Unloadable, simulate, simulate_forced};
pub use drift::Drift;
pub use model::HelmRelease;
pub use source::{ChartIdentity, Loads, chart_identity};
pub use values::{Composed, compose};
