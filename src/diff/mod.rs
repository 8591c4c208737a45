//! How two objects differ, by path.

pub mod object;
pub mod path;

pub use object::{Change, changes, equal, touch};
pub use path::at;
