//! Reading and writing of data formats exactly as Helm's libraries do.

pub mod base64;
pub mod float;
pub mod goquote;
pub mod json;
mod marks;
pub mod toml;
pub mod yaml;
