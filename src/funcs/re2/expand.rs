//! Replacement templates: `$1`, `$name`, `${name}`, `$$`.

use super::Groups;
use crate::value::{OriginSet, Text, TextBuilder};

/// Appends the template with its variables replaced by the groups of a match in `source`.
pub(super) fn expand(out: &mut TextBuilder, source: &Text, template: &Text, groups: &Groups, names: &[Option<String>]) {
    let bytes = template.bytes();
    let mut from = 0;
    while let Some(dollar) = bytes.get(from..).and_then(|rest| rest.iter().position(|b| *b == b'$')) {
        let at = from + dollar;
        out.push_slice(template, from, at);
        if bytes.get(at + 1) == Some(&b'$') {
            out.push(b"$", OriginSet::EMPTY);
            from = at + 2;
            continue;
        }
        let Some((name, length)) = variable(bytes.get(at + 1..).unwrap_or_default()) else {
            out.push_slice(template, at, at + 1);
            from = at + 1;
            continue;
        };
        from = at + 1 + length;
        let group = match number(name) {
            Some(index) => groups.get(index).copied().flatten(),
            None => names
                .iter()
                .zip(groups)
                .find(|(known, group)| known.as_deref() == Some(name) && group.is_some())
                .and_then(|(_, group)| *group),
        };
        if let Some((start, end)) = group {
            out.push_slice(source, start, end);
        }
    }
    out.push_slice(template, from, bytes.len());
}

/// The variable behind a `$`: its name and the bytes it takes.
fn variable(bytes: &[u8]) -> Option<(&str, usize)> {
    let brace = bytes.first() == Some(&b'{');
    let body = bytes.get(usize::from(brace)..)?;
    let valid = match std::str::from_utf8(body) {
        Ok(text) => text,
        Err(e) => std::str::from_utf8(body.get(..e.valid_up_to())?).ok()?,
    };
    let length = valid.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(valid.len());
    let name = valid.get(..length).filter(|name| !name.is_empty())?;
    if !brace {
        return Some((name, length));
    }
    (body.get(length) == Some(&b'}')).then_some((name, length + 2))
}

/// The name as the number of a group.
fn number(name: &str) -> Option<usize> {
    let digits = name.bytes().all(|b| b.is_ascii_digit()) && !(name.len() > 1 && name.starts_with('0'));
    if digits { name.parse().ok().filter(|n| *n < 1_000_000_000) } else { None }
}
