//! What helm-controller decides, and what it makes of rendered text. Rules are cited by number (`F-n`).

pub mod cycle;
pub mod decide;
pub mod digest;
mod drift;
pub mod helmchart;
pub mod model;
pub mod postrender;
pub mod settings;
mod state;
mod status;
mod storage;
pub mod values;

pub use decide::{
    Action, ChartIdentity, Check, Decision, Exit, Outcome, State, chart_identity, simulate, simulate_forced,
};
pub use model::HelmRelease;
pub use values::{Composed, compose};
