//! PEM: stand-ins, and reading what a chart gives.

use data_encoding::BASE64;

use crate::funcs::random::fill;
use crate::template::func::Call;

/// One PEM block.
pub(super) struct Block {
    pub label: String,
    pub bytes: Vec<u8>,
}

/// Encodes a block, 64 characters to the line.
pub(super) fn encode(label: &str, bytes: &[u8]) -> String {
    let body = BASE64.encode(bytes);
    let mut out = format!("-----BEGIN {label}-----\n");
    let mut rest = body.as_str();
    while !rest.is_empty() {
        let (line, tail) = rest.split_at(rest.len().min(64));
        out.push_str(line);
        out.push('\n');
        rest = tail;
    }
    out.push_str(&format!("-----END {label}-----\n"));
    out
}

/// A block of that label and size: the head of a DER sequence, then noise.
pub(super) fn stand_in(call: &Call<'_>, function: &str, label: &str, size: usize) -> String {
    // One site makes more than one block: certificate and key must not share their noise.
    let mut bytes = fill(call, &format!("{function} {label}"), size);
    let content = size.saturating_sub(4);
    let head: Vec<u8> = match size.saturating_sub(2) {
        short @ 0..=127 => vec![0x30, short as u8],
        _ => [&[0x30, 0x82][..], &(content as u16).to_be_bytes()].concat(),
    };
    bytes.splice(..head.len().min(bytes.len()), head);
    encode(label, &bytes)
}

/// The first block in a text.
pub(super) fn decode(text: &[u8]) -> Option<Block> {
    let text = String::from_utf8_lossy(text);
    let mut rest: &str = &text;
    loop {
        let at = rest.find("-----BEGIN ")?;
        let at_line_start = at == 0 || rest.get(..at).is_some_and(|before| before.ends_with('\n'));
        rest = rest.get(at + 11..)?;
        if let Some(block) = at_line_start.then(|| block(rest)).flatten() {
            return Some(block);
        }
    }
}

fn block(text: &str) -> Option<Block> {
    let (label, body) = text.split_once('\n')?;
    let label = label.trim_end().strip_suffix("-----")?;
    let (body, _) = body.split_once(&format!("-----END {label}-----"))?;
    // Headers end at an empty line.
    let body = match body.split_once("\n\n") {
        Some((headers, body)) if headers.contains(':') => body,
        _ => body,
    };
    let compact: Vec<u8> = body.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    Some(Block { label: label.into(), bytes: BASE64.decode(&compact).ok()? })
}

/// Whether the bytes look like one DER sequence; the contents are not read.
pub(super) fn is_sequence(bytes: &[u8]) -> bool {
    let (head, size) = match bytes {
        [0x30, short @ 0..=127, ..] => (2, usize::from(*short)),
        [0x30, 0x81, size, ..] => (3, usize::from(*size)),
        [0x30, 0x82, high, low, ..] => (4, usize::from(u16::from_be_bytes([*high, *low]))),
        _ => return false,
    };
    bytes.len() == head + size
}
