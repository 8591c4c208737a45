//! What the program says: the versioned contract, and the renderings of it for people. Computes nothing.

pub mod answers;
pub mod contract;
pub mod difference;
pub mod explain;
pub mod lint;
pub mod offline;
pub mod silent;
pub mod table;

pub use contract::Report;
