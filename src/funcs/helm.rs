//! Not written yet.

use crate::template::func::FuncDef;

/// This file's part of the function table.
pub const FUNCS: &[FuncDef] = &[];
