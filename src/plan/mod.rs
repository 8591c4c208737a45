//! From a snapshot to findings, verdicts and a plan.
//!
//! The phases, in order: [`gather`] finds the releases; [`render`] renders one of them on some state of the cluster and
//! post-renders it as helm-controller would; [`findings`] compares that with what is stored, and empties facts one by one
//! to see which of them decide; [`producer`] says who makes a fact; [`waves`] orders the forces, each wave on the cluster
//! that the waves before it leave behind; [`verdict`] sums up.

pub mod answers;
pub mod assume;
mod certificates;
pub mod chain;
pub mod charts;
pub mod consumers;
mod cycles;
pub mod differences;
mod effects;
pub mod fact;
pub mod findings;
pub mod follows;
pub mod gather;
mod keys;
pub mod latent;
pub mod lint;
mod misasked;
mod offline;
pub mod producer;
pub mod redact;
pub mod render;
pub mod run;
pub mod settle;
mod silent;
pub mod steps;
#[cfg(test)]
mod tests;
mod timing;
#[cfg(test)]
mod trigger_tests;
mod values_files;
pub mod verdict;
pub mod waves;
pub mod whatif;

pub use run::Session;
