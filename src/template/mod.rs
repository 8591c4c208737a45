//! Go's `text/template` as a language. Knows no Helm: functions come in a table, facts through [`World`].

pub mod error;
pub mod func;
pub mod gate;
