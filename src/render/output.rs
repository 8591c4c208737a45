//! What `helm template` prints.

use super::Rendered;
use super::manifest::{Document, documents, is_printed};
use crate::base::version::{HelmVersion, Quirk};
use crate::chart::documents::split;
use crate::chart::ignore::matches;
use crate::value::Text;

/// What of the output is wanted.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The chart's `crds/` too.
    pub include_crds: bool,
    /// Only these templates, by path (or pattern) below the chart.
    pub show_only: Vec<String>,
    /// No hooks.
    pub no_hooks: bool,
    /// No test hooks.
    pub skip_tests: bool,
    /// What was rendered, even where it is no YAML.
    pub debug: bool,
}

/// Why there is no output, or not all of it.
pub struct Failure {
    /// Helm's text behind `Error: `.
    pub message: String,
    /// What it prints all the same.
    pub output: Vec<u8>,
    /// The release had been made before.
    pub begun: bool,
}

/// Standard output of `helm template`.
///
/// # Errors
/// Helm's text, and with `--debug` what had been rendered.
pub fn print(rendered: &Rendered, wanted: &Wanted, helm: HelmVersion) -> Result<Vec<u8>, Failure> {
    let (error, manifest, documents) = match (&rendered.error, documents(&rendered.files, helm)) {
        (Some(error), _) => (Some(error.clone()), Vec::new(), Vec::new()),
        (None, Err(error)) => (Some(error), unsorted(rendered), Vec::new()),
        (None, Ok(documents)) => (None, sorted(rendered, wanted, &documents), documents),
    };
    if let Some(message) = &error
        && !(wanted.debug && rendered.begun)
    {
        return Err(Failure { message: message.clone(), output: Vec::new(), begun: rendered.begun });
    }
    let mut out = trimmed(&manifest).to_vec();
    out.push(b'\n');
    for hook in documents.iter().filter(|d| d.hook && !wanted.no_hooks && !(d.test && wanted.skip_tests)) {
        put(&mut out, hook);
    }
    let printed = if wanted.show_only.is_empty() { Ok(out) } else { show_only(out, wanted, helm) };
    let failed = |message, output| Err(Failure { message, output, begun: rendered.begun });
    match (printed, error) {
        (Ok(out), None) => Ok(out),
        (Ok(out), Some(message)) => failed(message, out),
        (Err(_), Some(message)) if helm.has(Quirk::FirstError) => failed(message, Vec::new()),
        (Err(message), _) => failed(message, Vec::new()),
    }
}

fn sorted(rendered: &Rendered, wanted: &Wanted, documents: &[Document]) -> Vec<u8> {
    let mut manifest = Vec::new();
    if wanted.include_crds
        && let Some(chart) = &rendered.chart
    {
        crds(chart, chart.name(), &mut manifest);
    }
    for document in documents.iter().filter(|d| !d.hook) {
        put(&mut manifest, document);
    }
    manifest
}

/// Whole files, when their documents cannot be sorted. Helm prints them in any order, these come by path.
fn unsorted(rendered: &Rendered) -> Vec<u8> {
    let mut out = Vec::new();
    for file in rendered.files.iter().filter(|f| is_printed(f)) {
        out.extend_from_slice(format!("---\n# Source: {}\n", file.path).as_bytes());
        out.extend_from_slice(file.text.bytes());
        out.push(b'\n');
    }
    out
}

/// Without white space at both ends, Unicode's included.
fn trimmed(bytes: &[u8]) -> &[u8] {
    std::str::from_utf8(bytes).map_or_else(|_| bytes.trim_ascii(), |text| text.trim().as_bytes())
}

fn put(out: &mut Vec<u8>, document: &Document) {
    out.extend_from_slice(format!("---\n# Source: {}\n", document.path).as_bytes());
    out.extend_from_slice(document.text.bytes());
    out.push(b'\n');
}

fn crds(chart: &crate::chart::Chart, path: &str, out: &mut Vec<u8>) {
    for (name, bytes) in
        chart.crds.iter().filter(|(n, _)| n.ends_with(".yaml") || n.ends_with(".yml") || n.ends_with(".json"))
    {
        out.extend_from_slice(format!("---\n# Source: {path}/{name}\n").as_bytes());
        out.extend_from_slice(bytes);
        out.push(b'\n');
    }
    for dep in &chart.deps {
        crds(dep, &format!("{path}/charts/{}", dep.name()), out);
    }
}

/// Helm cuts what it would print at the separators again, and picks by the source line of each part.
fn show_only(printed: Vec<u8>, wanted: &Wanted, helm: HelmVersion) -> Result<Vec<u8>, String> {
    let parts = split(&Text::new(&printed[..]), helm);
    let source = |part: &Text| -> Option<String> {
        let text = part.lossy();
        let line = text.lines().find_map(|line| Some(line.split_once("# Source: ")?.1.split_once('/')?.1.to_owned()));
        line.filter(|path| !path.is_empty())
    };
    let mut out = Vec::new();
    for pattern in &wanted.show_only {
        let chosen = |part: &&Text| source(part).is_some_and(|path| matches(pattern.as_bytes(), path.as_bytes()));
        let found: Vec<&Text> = parts.iter().filter(chosen).collect();
        if found.is_empty() {
            return Err(format!("could not find template {pattern} in chart"));
        }
        for part in found {
            out.extend_from_slice(b"---\n");
            out.extend_from_slice(part.bytes());
            out.push(b'\n');
        }
    }
    Ok(out)
}
