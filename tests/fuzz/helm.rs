//! The two that are compared: the real Helm as a program, and ours.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use helm_render_predictor::api::{RenderArgs, template};
use helm_render_predictor::base::version::HelmVersion;

use super::case::Files;
use super::support::helm::core;

const KUBE_VERSION: &str = "v1.33.1";

/// What a render gave.
#[derive(Debug, PartialEq, Eq, Clone)]
pub struct Outcome {
    pub out: Vec<u8>,
    /// Helm's text behind `Error: `.
    pub error: Option<String>,
}

/// Our render.
pub fn ours(chart: &Files, helm: HelmVersion, untracked: bool) -> Outcome {
    let args = RenderArgs {
        chart: Some(chart.clone()),
        name: "rel".into(),
        namespace: "default".into(),
        kube_version: Some(KUBE_VERSION.into()),
        client: true,
        chart_path: "c".into(),
        untracked,
        ..RenderArgs::default()
    };
    match template(&args, helm) {
        Ok(out) => Outcome { out, error: None },
        Err(e) => Outcome { out: e.output, error: Some(core(&format!("Error: {}", e.message))) },
    }
}

/// A real Helm.
pub struct RealHelm {
    program: PathBuf,
    folder: PathBuf,
    pub version: HelmVersion,
    /// How often it ran.
    pub runs: usize,
}

impl RealHelm {
    /// The program of that path; charts are written below the folder.
    pub fn new(program: &str, version: Option<String>, folder: &Path) -> Self {
        let asked = || {
            let output = Command::new(program).args(["version", "--template", "{{.Version}}"]).output().unwrap();
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let version = version.unwrap_or_else(asked);
        let version = version.trim_start_matches('v').parse().unwrap_or_else(|e| panic!("{version:?}: {e}"));
        let program = fs::canonicalize(program).unwrap_or_else(|_| program.into());
        RealHelm { program, folder: folder.join(format!("fuzz-{}", std::process::id())), version, runs: 0 }
    }

    /// What it prints for the chart.
    pub fn render(&mut self, chart: &Files) -> Outcome {
        self.runs += 1;
        let root = self.folder.join("c");
        let _ = fs::remove_dir_all(&root);
        for (path, bytes) in chart {
            let file = root.join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, bytes).unwrap();
        }
        let output = Command::new(&self.program)
            .args(["template", "rel", "c", "--kube-version", KUBE_VERSION])
            .current_dir(&self.folder)
            .env("TZ", "UTC")
            .env("KUBECONFIG", "/dev/null")
            .output()
            .unwrap();
        let error = (!output.status.success()).then(|| core(&String::from_utf8_lossy(&output.stderr)));
        Outcome { out: output.stdout, error }
    }
}

impl Drop for RealHelm {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
