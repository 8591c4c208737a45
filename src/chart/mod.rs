//! Charts: loading, dependencies, values.

pub mod archive;
pub mod deps;
pub mod documents;
pub mod files;
pub mod ignore;
pub mod load;
pub mod metadata;
pub mod schema;
pub mod set;
pub mod values;

pub use load::{Chart, Files};
