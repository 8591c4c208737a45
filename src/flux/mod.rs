//! What helm-controller decides, and what it makes of rendered text. Rules are cited by number (`F-n`).

pub mod decide;
pub mod digest;
pub mod model;
pub mod postrender;
pub mod settings;
pub mod values;

pub use decide::{
    Action, ChartIdentity, Check, Decision, Exit, Outcome, State, chart_identity, simulate, simulate_forced,
};
pub use model::HelmRelease;
pub use values::{Composed, compose};
