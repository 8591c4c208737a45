//! What the writers of the post-render chain do to block scalars (`F-356`, `F-357`).

use serde_json::Value as Json;

use crate::codec::yaml::{Kind, Node, Style};

/// Most nesting that is followed.
const MAX_DEPTH: usize = 400;

/// Changes the folded scalars of an object as that many passes of reading and writing do.
pub fn refold(object: &mut Json, root: Node<'_>, passes: usize) {
    if passes > 0 {
        walk(object, root, passes, 0);
    }
}

fn walk(json: &mut Json, node: Node<'_>, passes: usize, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    let node = node.target();
    match (json, node.kind()) {
        (Json::String(text), Kind::Scalar(_, Style::Folded)) => {
            for _ in 0..passes {
                *text = pass(text);
            }
        }
        (Json::Array(items), Kind::Seq) => {
            for (item, node) in items.iter_mut().zip(node.items()) {
                walk(item, node, passes, depth + 1);
            }
        }
        (Json::Object(map), Kind::Map) => {
            for (key, value) in node.entries() {
                if let Some(json) = key.target().text().and_then(|key| map.get_mut(key)) {
                    walk(json, value, passes, depth + 1);
                }
            }
        }
        _ => {}
    }
}

fn is_blank(c: u8) -> bool {
    matches!(c, b' ' | b'\t')
}

/// A folded scalar written and read once.
fn pass(text: &str) -> String {
    let bytes = text.as_bytes();
    let first = text.trim_start_matches('\n').as_bytes().first().copied();
    let starts_blank = first.is_some_and(is_blank);
    let mut out = Vec::with_capacity(bytes.len() + 8);
    let mut at = 0;
    // First byte of the line in front of a run of line feeds.
    let mut line = None;
    while at < bytes.len() {
        if bytes[at] != b'\n' {
            line = line.or(Some(bytes[at]));
            out.push(bytes[at]);
            at += 1;
            continue;
        }
        let n = bytes[at..].iter().take_while(|b| **b == b'\n').count();
        let next = bytes.get(at + n).copied();
        match (line.take(), next) {
            (Some(before), _) if is_blank(before) => out.extend(std::iter::repeat_n(b'\n', n)),
            (None, _) => out.extend(std::iter::repeat_n(b'\n', n)),
            (Some(_), next) if starts_blank => match next {
                Some(c) if !is_blank(c) && n == 1 => out.push(b' '),
                Some(c) if !is_blank(c) => out.extend(std::iter::repeat_n(b'\n', n - 1)),
                _ => out.extend(std::iter::repeat_n(b'\n', n)),
            },
            (Some(_), next) => {
                let more = next.map_or(n >= 2, is_blank);
                out.extend(std::iter::repeat_n(b'\n', n + usize::from(more)));
            }
        }
        at += n;
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// The last text of an object when it is written with sorted keys.
pub fn last_text(object: &mut Json) -> Option<&mut String> {
    match object {
        Json::String(text) => Some(text),
        Json::Array(items) => last_text(items.last_mut()?),
        Json::Object(map) => last_text(map.values_mut().next_back()?),
        _ => None,
    }
}

/// Whether the writer puts a text that ends in several line feeds into a literal block, which keeps what follows it.
pub fn is_kept_block(text: &str) -> bool {
    text.ends_with("\n\n") || text.chars().all(|c| c == '\n') && !text.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f_356_a_pass_over_folded_text() {
        for (before, after) in [
            ("a\n  b\n", "a\n\n  b\n"),
            ("a\n\n  b\n", "a\n\n\n  b\n"),
            ("a\nb\n", "a\nb\n"),
            ("a\n\n", "a\n\n\n"),
            ("  a\nb\nc\n", "  a\nb c\n"),
        ] {
            assert_eq!(pass(before), after, "{before:?}");
        }
    }
}
