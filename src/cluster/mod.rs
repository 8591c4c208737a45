//! The cluster: snapshots and what was collected, discovery, lookups, edits on top, Helm's storage.

pub mod discovery;
pub mod import;
pub mod kinds;
pub mod lookup;
pub mod object;
pub mod overlay;
pub mod rbac;
mod read;
mod redacted;
pub mod snapshot;
pub mod storage;
pub mod world;
