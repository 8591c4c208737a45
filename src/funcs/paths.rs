//! Slash-separated paths. The `os…` functions do the same, as Helm runs on Linux here.

use super::args::{made, text};
use super::pure;
use crate::template::func::{Call, Flow, FuncDef, FuncError, Param as P};
use crate::value::{Text, Value};

/// This file's part of the function table.
pub const FUNCS: &[FuncDef] = &[
    pure("base", &[P::Str], Flow::Deep, base, "The last element."),
    pure("clean", &[P::Str], Flow::Deep, clean, "The shortest equal path."),
    pure("dir", &[P::Str], Flow::Deep, dir, "All but the last element."),
    pure("ext", &[P::Str], Flow::Deep, ext, "The extension, with its dot."),
    pure("isAbs", &[P::Str], Flow::Deep, is_abs, "Whether it starts at the root."),
    pure("osBase", &[P::Str], Flow::Deep, base, "As `base`."),
    pure("osClean", &[P::Str], Flow::Deep, clean, "As `clean`."),
    pure("osDir", &[P::Str], Flow::Deep, dir, "As `dir`."),
    pure("osExt", &[P::Str], Flow::Deep, ext, "As `ext`."),
    pure("osIsAbs", &[P::Str], Flow::Deep, is_abs, "As `isAbs`."),
];

type Out = Result<Value, FuncError>;

fn base(call: &mut Call<'_>, args: &[Value]) -> Out {
    let path = text(args, 0);
    let bytes = path.bytes();
    if bytes.is_empty() {
        return Ok(Value::text("."));
    }
    let Some(end) = bytes.iter().rposition(|b| *b != b'/').map(|last| last + 1) else {
        return Ok(Value::text("/"));
    };
    made(call, path.slice(after_slash(&bytes[..end]), end))
}

/// Where the last element starts.
fn after_slash(path: &[u8]) -> usize {
    path.iter().rposition(|b| *b == b'/').map_or(0, |slash| slash + 1)
}

fn ext(call: &mut Call<'_>, args: &[Value]) -> Out {
    let path = text(args, 0);
    let start = after_slash(path.bytes());
    let dot = path.bytes()[start..].iter().rposition(|b| *b == b'.').map_or(path.len(), |dot| start + dot);
    made(call, path.slice(dot, path.len()))
}

fn is_abs(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::bool(text(args, 0).bytes().starts_with(b"/")))
}

fn dir(call: &mut Call<'_>, args: &[Value]) -> Out {
    let path = text(args, 0);
    let parent = path.slice(0, after_slash(path.bytes()));
    made(call, cleaned(&parent, call))
}

fn clean(call: &mut Call<'_>, args: &[Value]) -> Out {
    let cleaned = cleaned(&text(args, 0), call);
    made(call, cleaned)
}

/// Without empty elements, `.`, and elements that a `..` behind them undoes.
fn cleaned(path: &Text, call: &Call<'_>) -> Text {
    let bytes = path.bytes();
    let rooted = bytes.starts_with(b"/");
    let mut kept: Vec<&[u8]> = Vec::new();
    for element in bytes.split(|b| *b == b'/') {
        match element {
            b"" | b"." => {}
            b".." if kept.last().is_some_and(|last| *last != b"..") => {
                kept.pop();
            }
            b".." if rooted => {}
            _ => kept.push(element),
        }
    }
    let mut out: Vec<u8> = if rooted { vec![b'/'] } else { Vec::new() };
    out.extend(kept.join(&b'/'));
    if out.is_empty() {
        out.push(b'.');
    }
    if bytes.starts_with(&out) { path.slice(0, out.len()) } else { Text::marked(out, path.mark_union(call.origins)) }
}
