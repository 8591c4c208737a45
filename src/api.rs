//! The facade: feed inputs, ask questions. The binary and the wasm module both call this, and nothing else.

use serde::Deserialize;

use crate::report::Report;

/// What the answers may be steered by.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Options {
    /// Version of helm-controller (`1.6.2`), where the snapshot does not tell.
    pub controller: Option<String>,
    /// Treat what the snapshot does not hold as absent from the cluster.
    pub assume_complete: bool,
}

/// Files and options of one run.
#[derive(Default)]
pub struct Inputs {
    /// Snapshot files: name and bytes. Their order does not matter.
    pub snapshot: Vec<(String, Vec<u8>)>,
    /// Chart folders' files and chart archives: path and bytes. Their order does not matter.
    pub charts: Vec<(String, Vec<u8>)>,
    /// Options.
    pub options: Options,
}

impl Inputs {
    /// Predicts every release of the snapshot and plans what to force.
    pub fn plan(&self) -> Report {
        crate::plan::run(&self.snapshot, &self.charts, &self.options)
    }
}

impl Report {
    /// The report as JSON: the same bytes on every platform.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
    }
}
