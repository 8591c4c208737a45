//! Predicts what a Helm release under Flux will do next.

pub mod api;
pub mod base;
pub mod chart;
pub mod cluster;
pub mod codec;
pub mod diff;
pub mod flux;
pub mod funcs;
pub mod plan;
pub mod render;
pub mod report;
pub mod template;
pub mod value;
#[cfg(target_arch = "wasm32")]
pub mod wasm;
