//! Reads files and folders into memory.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

/// A file's name, as messages show it, and its bytes.
pub type File = (String, Vec<u8>);

/// Largest file that is read.
const MAX_FILE: u64 = 2 << 30;

/// What could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {error}")]
pub struct ReadError {
    path: String,
    error: io::Error,
}

/// Snapshot files: a file, a folder with everything below it that ends in yaml, yml or json, or `-` for standard input.
pub fn snapshot(inputs: &[String]) -> Result<Vec<File>, ReadError> {
    let mut files = Vec::new();
    for input in inputs {
        if input == "-" {
            let bytes = standard_input().map_err(|error| ReadError { path: "standard input".into(), error })?;
            files.push(("-".to_owned(), bytes));
        } else {
            collect(Path::new(input), input, &|name| has_ending(name, &["yaml", "yml", "json"]), &mut files)?;
        }
    }
    Ok(files)
}

/// A chart folder or archive, or a folder of them: every file, under its path.
pub fn charts(inputs: &[String]) -> Result<Vec<File>, ReadError> {
    let mut files = Vec::new();
    for input in inputs {
        collect(Path::new(input), input, &|_| true, &mut files)?;
    }
    Ok(files)
}

/// One file, or standard input for `-`; an error is told as Go tells it.
pub fn one(path: &str) -> Result<Vec<u8>, String> {
    if path.trim() == "-" {
        return standard_input().map_err(|error| format!("read /dev/stdin: {error}"));
    }
    if path.starts_with("http://") || path.starts_with("https://") {
        return Err(format!("{path} is not fetched: download it, and give the file"));
    }
    fs::read(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("open {path}: no such file or directory"),
        io::ErrorKind::PermissionDenied => format!("open {path}: permission denied"),
        io::ErrorKind::IsADirectory => format!("read {path}: is a directory"),
        _ => format!("open {path}: {error}"),
    })
}

/// Writes a file, or goes on writing it, with the folders above it.
pub fn put(path: &Path, bytes: &[u8], go_on: bool) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: {error}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).append(go_on).truncate(!go_on);
    options.open(path).and_then(|mut file| file.write_all(bytes)).map_err(failed)
}

fn standard_input() -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// One chart: the files of its folder under paths relative to it, or an archive under its own name.
pub fn chart(path: &str) -> Result<Vec<File>, ReadError> {
    let mut files = Vec::new();
    collect(Path::new(path), path, &|_| true, &mut files)?;
    if Path::new(path).is_dir() {
        let prefix = format!("{}/", path.trim_end_matches('/'));
        for (name, _) in &mut files {
            if let Some(inner) = name.strip_prefix(&prefix) {
                *name = inner.to_owned();
            }
        }
    }
    Ok(files)
}

fn has_ending(name: &str, endings: &[&str]) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| endings.iter().any(|e| ending.eq_ignore_ascii_case(e)))
}

fn collect(path: &Path, name: &str, wanted: &dyn Fn(&str) -> bool, files: &mut Vec<File>) -> Result<(), ReadError> {
    let failed = |error| ReadError { path: name.to_owned(), error };
    let data = fs::metadata(path).map_err(failed)?;
    if !data.is_dir() {
        if data.len() > MAX_FILE {
            return Err(failed(io::Error::other(format!("larger than {MAX_FILE} bytes; split it"))));
        }
        files.push((name.to_owned(), fs::read(path).map_err(failed)?));
        return Ok(());
    }
    let mut entries: Vec<_> = fs::read_dir(path).map_err(failed)?.collect::<Result<_, _>>().map_err(failed)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let file = entry.file_name().to_string_lossy().into_owned();
        let below = format!("{}/{file}", name.trim_end_matches('/'));
        if let Some(missing) = dangling(&entry.path()) {
            let link = std::path::absolute(entry.path()).unwrap_or_else(|_| entry.path());
            let error = io::Error::other(format!("lstat {}: no such file or directory", missing.display()));
            return Err(ReadError { path: format!("error evaluating symlink {}", link.display()), error });
        }
        let is_dir = entry.path().is_dir();
        if (is_dir && file != ".git") || (!is_dir && wanted(&file)) {
            collect(&entry.path(), &below, wanted, files)?;
        }
    }
    Ok(())
}

/// If a path is a symbolic link to nothing: the first part of where it leads that is not there.
fn dangling(path: &Path) -> Option<PathBuf> {
    let target = fs::read_link(path).ok()?;
    if fs::metadata(path).map_or_else(|e| e.kind() != io::ErrorKind::NotFound, |_| true) {
        return None;
    }
    let mut at = std::path::absolute(path).ok()?.parent()?.to_owned();
    for part in target.components() {
        match part {
            Component::ParentDir => {
                at.pop();
            }
            Component::CurDir => {}
            part => at.push(part),
        }
        if fs::symlink_metadata(&at).is_err() {
            return Some(at);
        }
    }
    // It leads to another link.
    dangling(&at)
}
