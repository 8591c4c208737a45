//! Problems with the input, as data. Prose and colour are added where they are shown.

use serde::Serialize;

/// How bad a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Part of the input could not be used; the exit status says so.
    Error,
    /// Something was assumed or left out.
    Warning,
}

/// One problem: where, what, and what to do about it. Never holds a secret value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, thiserror::Error)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[error("{}{}{}{message}{}", file.as_deref().unwrap_or(""), line.map(|l| format!(":{l}")).unwrap_or_default(), if file.is_some() { ": " } else { "" }, remedy.as_deref().map(|r| format!(" ({r})")).unwrap_or_default())]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The input file, as its provider named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line in that file, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What is wrong: a lower-case fragment without a final stop.
    pub message: String,
    /// What the reader can do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Diagnostic {
    /// An error without a place.
    pub fn error(message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Error, file: None, line: None, message: message.into(), remedy: None }
    }

    /// A warning without a place.
    pub fn warning(message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Self::error(message) }
    }

    /// Adds the file and, where known, the line (from 1).
    pub fn at(mut self, file: impl Into<String>, line: impl Into<Option<u32>>) -> Self {
        self.file = Some(file.into());
        self.line = line.into();
        self
    }

    /// Adds what the reader can do.
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}
