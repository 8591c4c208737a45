//! What `helm template` prints.

use super::Rendered;
use super::manifest::{Document, documents};
use crate::base::version::HelmVersion;
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
}

/// Standard output of `helm template`.
///
/// # Errors
/// Helm's text behind `Error: `, and what it prints all the same.
pub fn print(rendered: &Rendered, wanted: &Wanted, helm: HelmVersion) -> Result<Vec<u8>, (String, Vec<u8>)> {
    if let Some(error) = &rendered.error {
        return Err((error.clone(), Vec::new()));
    }
    let documents = documents(&rendered.files, helm).map_err(|error| (error, Vec::new()))?;
    let mut manifest = Vec::new();
    if wanted.include_crds
        && let Some(chart) = &rendered.chart
    {
        crds(chart, chart.name(), &mut manifest);
    }
    for document in documents.iter().filter(|d| !d.hook) {
        put(&mut manifest, document);
    }
    let mut out = trimmed(&manifest).to_vec();
    out.push(b'\n');
    for hook in documents.iter().filter(|d| d.hook && !wanted.no_hooks && !(d.test && wanted.skip_tests)) {
        put(&mut out, hook);
    }
    if wanted.show_only.is_empty() { Ok(out) } else { show_only(out, wanted, helm) }
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
fn show_only(printed: Vec<u8>, wanted: &Wanted, helm: HelmVersion) -> Result<Vec<u8>, (String, Vec<u8>)> {
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
            return Err((format!("could not find template {pattern} in chart"), Vec::new()));
        }
        for part in found {
            out.extend_from_slice(b"---\n");
            out.extend_from_slice(part.bytes());
            out.push(b'\n');
        }
    }
    Ok(out)
}
