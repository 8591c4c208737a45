//! What several test programs share.
#![allow(dead_code)] // each program uses a part of it

pub mod case;
pub mod exemptions;
pub mod expect;
pub mod gauge;
pub mod helm;
pub mod installed;
pub mod markdown;

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of cases: from the environment variable, else the shipped one.
pub fn folder(variable: &str, shipped: &str) -> PathBuf {
    std::env::var_os(variable).map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(shipped), PathBuf::from)
}

/// The folders directly below, by name.
pub fn folders(root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(root)
        .unwrap_or_else(|e| panic!("{}: {e}", root.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found
}

/// The YAML files of a folder: name and bytes.
pub fn yaml_files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<(String, Vec<u8>)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "yaml"))
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()))
        .collect();
    found.sort();
    found
}

/// All files below a folder, with paths relative to it.
pub fn all_files(root: &Path, below: &str, found: &mut Vec<(String, Vec<u8>)>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(root.join(below)).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let inner = if below.is_empty() { name } else { format!("{below}/{name}") };
        if path.is_dir() {
            all_files(root, &inner, found);
        } else {
            found.push((inner, fs::read(&path).unwrap()));
        }
    }
}

/// The chart in a folder as an archive: a published chart has no .helmignore applied to it any more.
pub fn packed(folder: &Path) -> std::io::Result<Vec<u8>> {
    let mut files = Vec::new();
    all_files(folder, "", &mut files);
    let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut archive = tar::Builder::new(gzip);
    for (path, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, format!("chart/{path}"), bytes.as_slice())?;
    }
    archive.into_inner()?.finish()
}
