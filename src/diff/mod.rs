//! How two objects differ, by path.

pub mod object;

pub use object::{Change, changes, equal};
