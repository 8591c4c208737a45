//! The architecture as a test: layers point one way, files stay small enough to hold in mind.
#![allow(clippy::disallowed_methods)]

use std::fs;
use std::path::{Path, PathBuf};

/// Layers from the bottom up; modules on one line do not import each other.
const LAYERS: &[&[&str]] = &[
    &["base"],
    &["value"],
    &["codec", "diff"],
    &["template"],
    &["funcs"],
    &["chart", "cluster"],
    &["render", "flux"],
    &["report"],
    &["plan"],
    &["api"],
    &["wasm"],
];

/// Most lines of a source file. Who needs more splits the file or gives the reason here.
const MAX_LINES: usize = 800;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

fn all() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    sources(&root, &mut found);
    found.sort();
    found.into_iter().map(|p| (p.strip_prefix(&root).unwrap().to_owned(), fs::read_to_string(&p).unwrap())).collect()
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|names| names.contains(&module))
}

#[test]
fn modules_import_only_from_layers_below() {
    let mut wrong = Vec::new();
    for (path, text) in all() {
        let own = path.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned();
        if own == "lib" || own == "bin" {
            continue;
        }
        let at = layer(&own).unwrap_or_else(|| panic!("{own} has no layer: add it to LAYERS"));
        for (number, line) in text.lines().enumerate() {
            let mut rest = line.split("//").next().unwrap();
            while let Some(start) = rest.find("crate::") {
                rest = &rest[start + 7..];
                let other: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if other != own && layer(&other).is_none_or(|l| l >= at) {
                    wrong.push(format!("{}:{}: {own} imports {other}", path.display(), number + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "imports against the layers:\n{}", wrong.join("\n"));
}

#[test]
fn every_module_of_the_library_has_a_layer() {
    let lib = all().into_iter().find(|(p, _)| p == Path::new("lib.rs")).unwrap().1;
    for line in lib.lines().filter_map(|l| l.strip_prefix("pub mod ")) {
        assert!(layer(line.trim_end_matches(';')).is_some(), "{line} has no layer");
    }
}

#[test]
fn files_are_small_enough_to_hold_in_mind() {
    let large: Vec<_> =
        all().into_iter().filter(|(_, text)| text.lines().count() > MAX_LINES).map(|(p, _)| p).collect();
    assert!(large.is_empty(), "more than {MAX_LINES} lines: {large:?}");
}
