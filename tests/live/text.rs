//! The YAML of an episode, as its writer meant it.

use helm_render_predictor::codec::yaml::{Kind, Node, Style};
use libtest_mimic::Failed;
use serde_json::Value as Json;

/// An episode as its writer meant it: to PyYAML, `y`, `n`, `1e3` and `0o10` without quotes are texts, and it writes a
/// next-line character (U+0085) into a block text as it is, where it reads as a line break.
pub fn yaml(bytes: &[u8]) -> Result<Json, Failed> {
    let text = String::from_utf8_lossy(bytes);
    // Line and paragraph separators break lines too, but are kept by readers.
    let bytes = text.replace('\u{85}', NEXT_LINE).into_bytes();
    let document = helm_render_predictor::codec::yaml::parse_first(&bytes)?.ok_or("empty file")?;
    let mut json = meant(document.root())?;
    restore(&mut json);
    Ok(json)
}

/// Stands for a next-line character.
const NEXT_LINE: &str = "\u{2028}\u{2029}\u{2029}\u{2028}";

fn restore(json: &mut Json) {
    match json {
        Json::String(text) => *text = text.replace(NEXT_LINE, "\u{85}"),
        Json::Array(items) => items.iter_mut().for_each(restore),
        Json::Object(map) => {
            let entries = std::mem::take(map).into_iter();
            let mended = entries.map(|(key, mut value)| {
                restore(&mut value);
                (key.replace(NEXT_LINE, "\u{85}"), value)
            });
            *map = mended.collect();
        }
        _ => {}
    }
}

fn meant(node: Node<'_>) -> Result<Json, Failed> {
    match node.kind() {
        Kind::Map => {
            let pairs = node.entries().map(|(k, v)| Ok((key(k)?, meant(v)?))).collect::<Result<Vec<_>, Failed>>()?;
            Ok(Json::Object(pairs.into_iter().collect()))
        }
        Kind::Seq => Ok(Json::Array(node.items().map(meant).collect::<Result<_, _>>()?)),
        Kind::Scalar(text, Style::Plain) if is_text(text) => Ok(text.into()),
        Kind::Alias => meant(node.target()),
        Kind::Scalar(..) => Ok(helm_render_predictor::codec::yaml::to_json(node)?),
    }
}

fn key(node: Node<'_>) -> Result<String, Failed> {
    match node.kind() {
        Kind::Scalar(text, Style::Plain) if is_text(text) => Ok(text.to_owned()),
        _ => Ok(helm_render_predictor::codec::yaml::key_text(node)?),
    }
}

/// Whether PyYAML wrote a text without quotes that others read as a number or a boolean.
fn is_text(plain: &str) -> bool {
    let digits = plain.trim_start_matches(['+', '-']);
    let all = |text: &str, allowed: &str| !text.is_empty() && text.chars().all(|c| allowed.contains(c));
    let decimal = all(digits, "0123456789_") && (digits == "0" || !digits.starts_with(['0', '_']));
    let based = digits.strip_prefix("0x").is_some_and(|d| d.bytes().all(|b| b.is_ascii_hexdigit() || b == b'_'))
        || digits.strip_prefix("0b").is_some_and(|d| all(d, "01_"))
        || digits.strip_prefix('0').is_some_and(|d| all(d, "01234567_"));
    let (mantissa, exponent) = digits.split_once(['e', 'E']).map_or((digits, None), |(m, e)| (m, Some(e)));
    let signed = exponent.is_none_or(|e| e.starts_with(['+', '-']) && all(&e[1..], "0123456789"));
    let float = mantissa.contains('.') && all(mantissa, "0123456789_.") && signed;
    let numeric = digits.starts_with(|c: char| c.is_ascii_digit());
    matches!(plain, "y" | "Y" | "n" | "N") || numeric && !(decimal || based || float)
}
