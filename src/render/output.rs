//! What `helm template` prints.

use super::Rendered;
use super::manifest::{Document, documents};
use crate::base::version::HelmVersion;

/// What of the output is wanted.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The chart's `crds/` too.
    pub include_crds: bool,
    /// Only these templates, by path below the chart.
    pub show_only: Vec<String>,
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
    let mut out = manifest.trim_ascii().to_vec();
    out.push(b'\n');
    for hook in documents.iter().filter(|d| d.hook) {
        put(&mut out, hook);
    }
    if wanted.show_only.is_empty() {
        return Ok(out);
    }
    show_only(&documents, rendered, wanted)
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

fn show_only(documents: &[Document], rendered: &Rendered, wanted: &Wanted) -> Result<Vec<u8>, (String, Vec<u8>)> {
    let name = rendered.chart.as_ref().map(|c| c.name().to_owned()).unwrap_or_default();
    let mut out = Vec::new();
    for template in &wanted.show_only {
        let path = format!("{name}/{template}");
        let found: Vec<&Document> = documents.iter().filter(|d| d.path == path).collect();
        if found.is_empty() {
            return Err((format!("could not find template {template} in chart"), Vec::new()));
        }
        for document in found {
            out.extend_from_slice(format!("---\n# Source: {}\n", document.path).as_bytes());
            out.extend_from_slice(document.text.bytes().trim_ascii());
            if out.last() != Some(&b'\n') {
                out.push(b'\n');
            }
        }
    }
    Ok(out)
}
