//! Chart archives: gzip and tar, with limits.

use std::io::Read;

use super::load::Files;

/// Largest archive, unpacked.
const MAX_TOTAL: u64 = 100 << 20;
/// Largest file in it.
const MAX_FILE: u64 = 5 << 20;

const CUT: &str = "unexpected EOF";

/// Go's words for what is wrong with an archive, where there is a single one.
fn broken(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => CUT.into(),
        _ => format!("the chart archive is broken: {error}"),
    }
}

/// The files of an archive, without its top folder.
///
/// # Errors
/// What is wrong with it, or the limit it exceeds.
pub fn unpack(bytes: &[u8]) -> Result<Files, String> {
    let mut files = Files::new();
    match bytes {
        [] => return Err("EOF".into()),
        [..] if bytes.len() < 10 => return Err(CUT.into()),
        [0x1f, 0x8b, 8, ..] => {}
        _ => return Err("gzip: invalid header".into()),
    }
    let unpacked = flate2::read::GzDecoder::new(bytes).take(MAX_TOTAL + 1);
    let mut total = 0;
    let mut archive = tar::Archive::new(unpacked);
    for entry in archive.entries().map_err(|e| e.to_string())? {
        let mut entry = entry.map_err(|e| broken(&e))?;
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
        entry.read_to_end(&mut content).map_err(|e| broken(&e))?;
        files.insert(inner.to_owned(), content);
    }
    if files.is_empty() {
        return Err("no files in chart archive".into());
    }
    Ok(files)
}
