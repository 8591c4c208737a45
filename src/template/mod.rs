//! Go's `text/template` as a language. Knows no Helm: functions come in a table, facts through [`World`].

pub mod ast;
pub mod builtin;
pub mod call;
pub mod complex;
pub mod constant;
pub mod error;
pub mod eval;
mod fields;
mod format;
pub mod func;
pub mod gate;
pub mod lex;
mod methods;
pub mod parse;
pub mod print;
pub mod printf;
pub mod set;
