//! Chart archives: gzip and tar, with limits.

use std::io::Read;

use super::load::Files;

/// Largest archive, unpacked.
const MAX_TOTAL: u64 = 100 << 20;
/// Largest file in it.
const MAX_FILE: u64 = 5 << 20;

/// The files of an archive, without its top folder.
///
/// # Errors
/// What is wrong with it, or the limit it exceeds.
pub fn unpack(bytes: &[u8]) -> Result<Files, String> {
    let mut files = Files::new();
    let unpacked = flate2::read::GzDecoder::new(bytes).take(MAX_TOTAL + 1);
    let mut total = 0;
    let mut archive = tar::Archive::new(unpacked);
    for entry in archive.entries().map_err(|e| e.to_string())? {
        let mut entry = entry.map_err(|e| format!("the chart archive is broken: {e}"))?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let path = String::from_utf8_lossy(&entry.path_bytes()).replace('\\', "/");
        let Some((_, inner)) = path.split_once('/') else {
            return Err("chart illegally contains content outside the base directory".into());
        };
        if inner.split('/').any(|part| part == "..") {
            return Err("chart illegally references parent directory".into());
        }
        total += entry.size();
        if entry.size() > MAX_FILE || total > MAX_TOTAL {
            return Err(format!("decompressed chart file {path:?} is larger than the maximum file size {MAX_FILE}"));
        }
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(|e| format!("the chart archive is broken: {e}"))?;
        files.insert(inner.to_owned(), content);
    }
    if files.is_empty() {
        return Err("no files in chart archive".into());
    }
    Ok(files)
}
