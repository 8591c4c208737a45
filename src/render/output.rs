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

/// A file that `--output-dir` writes, or goes on writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Path below the folder: `chart/templates/x.yaml`.
    pub path: String,
    /// What is written.
    pub text: Vec<u8>,
    /// It lies in the folder of the release, if there is to be one; definitions do not.
    pub of_release: bool,
    /// It is a hook: what is there already stays before it.
    pub hook: bool,
}

/// What `--output-dir` writes, in order.
///
/// # Errors
/// Helm's text.
pub fn parts(rendered: &Rendered, wanted: &Wanted, helm: HelmVersion) -> Result<Vec<Part>, Failure> {
    let failed = |message: &String| Failure { message: message.clone(), output: Vec::new(), begun: rendered.begun };
    if let Some(error) = &rendered.error {
        return Err(failed(error));
    }
    let documents = documents(&rendered.files, helm).map_err(|error| failed(&error))?;
    let mut parts = Vec::new();
    if wanted.include_crds
        && let Some(chart) = &rendered.chart
    {
        each_crd(chart, chart.name(), &mut |path, bytes| {
            let mut text = Vec::new();
            write(&mut text, &path, bytes);
            parts.push(Part { path, text, of_release: false, hook: false });
        });
    }
    let hooks = documents.iter().filter(|d| d.hook && !wanted.no_hooks && !(d.test && wanted.skip_tests));
    for document in documents.iter().filter(|d| !d.hook).chain(hooks) {
        let mut text = Vec::new();
        put(&mut text, document);
        parts.push(Part { path: document.path.clone(), text, of_release: true, hook: document.hook });
    }
    Ok(parts)
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
    write(out, &document.path, document.text.bytes());
}

fn write(out: &mut Vec<u8>, path: &str, bytes: &[u8]) {
    out.extend_from_slice(format!("---\n# Source: {path}\n").as_bytes());
    out.extend_from_slice(bytes);
    out.push(b'\n');
}

fn crds(chart: &crate::chart::Chart, path: &str, out: &mut Vec<u8>) {
    each_crd(chart, path, &mut |path, bytes| write(out, &path, bytes));
}

/// The definitions of a chart and those below it.
fn each_crd(chart: &crate::chart::Chart, path: &str, take: &mut dyn FnMut(String, &[u8])) {
    let is_crd = |name: &str| name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json");
    for (name, bytes) in chart.crds.iter().filter(|(name, _)| is_crd(name)) {
        take(format!("{path}/{name}"), bytes);
    }
    for dep in &chart.deps {
        each_crd(dep, &format!("{path}/charts/{}", dep.name()), take);
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
