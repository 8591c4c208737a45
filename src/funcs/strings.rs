//! Text functions. Lengths and positions count bytes; marks follow their bytes.

use std::collections::BTreeMap;

use super::args::{any, int, items, made, owned, panic, room, room_for, show, stamp, strval, text};
use super::{always, many, pure, runes};
use crate::template::func::{Call, Effect, Flow, FuncDef, FuncError, Param as P};
use crate::value::{ListType, Map, MapType, OriginSet, Repr, Text, TextBuilder, Value};

/// This file's part of the function table.
pub const FUNCS: &[FuncDef] = &[
    pure("abbrev", &[P::Int, P::Str], Flow::Deep, abbrev, "Cuts to a width with an ellipsis."),
    pure("abbrevboth", &[P::Int, P::Int, P::Str], Flow::Deep, abbrevboth, "Cuts at both ends with ellipses."),
    many("cat", &[], P::Any, Flow::Open, cat, "Joins with spaces, leaving out nil."),
    pure("contains", &[P::Str, P::Str], Flow::Deep, contains, "Whether the first is inside the second."),
    pure("hasPrefix", &[P::Str, P::Str], Flow::Deep, has_prefix, "Whether the second starts with the first."),
    pure("hasSuffix", &[P::Str, P::Str], Flow::Deep, has_suffix, "Whether the second ends with the first."),
    pure("hello", &[], Flow::Deep, hello, "A greeting."),
    pure("indent", &[P::Int, P::Str], Flow::Open, indent, "Spaces in front of every line."),
    pure("join", &[P::Str, P::Any], Flow::Deep, join, "Joins a list to one string."),
    pure("nindent", &[P::Int, P::Str], Flow::Open, nindent, "A line break, then as `indent`."),
    pure("plural", &[P::Str, P::Str, P::Int], Flow::Deep, plural, "The first for 1, else the second."),
    many("quote", &[], P::Any, Flow::Open, quote, "Each in double quotes, leaving out nil."),
    pure("repeat", &[P::Int, P::Str], Flow::Deep, repeat, "The string that many times."),
    pure("replace", &[P::Str, P::Str, P::Str], Flow::Deep, replace, "Replaces every occurrence."),
    FuncDef {
        name: "shuffle",
        params: &[P::Str],
        variadic: None,
        flow: Flow::Deep,
        effect: Effect::Entropy,
        since: always,
        run: shuffle,
        doc: "The characters in random order.",
    },
    pure("sortAlpha", &[P::Any], Flow::Deep, sort_alpha, "A list as sorted strings."),
    pure("split", &[P::Str, P::Str], Flow::Deep, split, "Parts as a map `_0`, `_1`, …"),
    pure("splitList", &[P::Str, P::Str], Flow::Deep, split_list, "Parts as a list."),
    pure("splitn", &[P::Str, P::Int, P::Str], Flow::Deep, splitn, "At most that many parts as a map."),
    many("squote", &[], P::Any, Flow::Open, squote, "Each in single quotes, leaving out nil."),
    pure("substr", &[P::Int, P::Int, P::Str], Flow::Deep, substr, "The bytes from start to end."),
    pure("trim", &[P::Str], Flow::Deep, trim, "Without white space at the ends."),
    pure("trimAll", &[P::Str, P::Str], Flow::Deep, trim_all, "Without those characters at the ends."),
    pure("trimPrefix", &[P::Str, P::Str], Flow::Deep, trim_prefix, "Without that beginning."),
    pure("trimSuffix", &[P::Str, P::Str], Flow::Deep, trim_suffix, "Without that end."),
    pure("trimall", &[P::Str, P::Str], Flow::Deep, trim_all, "Older name of `trimAll`."),
    pure("trunc", &[P::Int, P::Str], Flow::Deep, trunc, "The first bytes; for a negative count, the last."),
    pure("wrap", &[P::Int, P::Str], Flow::Deep, wrap, "Breaks lines between words."),
    pure("wrapWith", &[P::Int, P::Str, P::Str], Flow::Deep, wrap_with, "As `wrap`, long words too."),
];

type Out = Result<Value, FuncError>;

const NEGATIVE_COUNT: &str = "strings: negative Repeat count";

fn hello(_: &mut Call<'_>, _: &[Value]) -> Out {
    Ok(Value::text("Hello!"))
}

fn contains(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::bool(find(text(args, 1).bytes(), text(args, 0).bytes(), 0).is_some()))
}

fn has_prefix(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::bool(text(args, 1).bytes().starts_with(text(args, 0).bytes())))
}

fn has_suffix(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::bool(text(args, 1).bytes().ends_with(text(args, 0).bytes())))
}

/// Where `needle` is in `haystack` at or behind `from`.
fn find(haystack: &[u8], needle: &[u8], from: usize) -> Option<usize> {
    memchr::memmem::find(haystack.get(from..)?, needle).map(|at| from + at)
}

/// Everything inside the arguments, for functions that are `Open` and print whole structures.
fn inside(call: &Call<'_>, args: &[Value]) -> OriginSet {
    call.origins.union_all(args.iter().map(|arg| arg.deep_origins(call.origins)))
}

/// Prints every argument but nil with `print`, and spaces between.
fn spaced(
    args: &[Value],
    mut print: impl FnMut(&mut TextBuilder, &Value) -> Result<(), FuncError>,
) -> Result<Text, FuncError> {
    let mut out = TextBuilder::default();
    for (index, value) in args.iter().filter(|v| !v.is_nil()).enumerate() {
        if index > 0 {
            out.push(b" ", OriginSet::EMPTY);
        }
        print(&mut out, value)?;
        room(out.len())?;
    }
    Ok(out.finish())
}

fn quote(call: &mut Call<'_>, args: &[Value]) -> Out {
    let made = spaced(args, |out, value| {
        runes::quote(out, &strval(call, value)?);
        Ok(())
    })?;
    Ok(Value::text(made).under(inside(call, args), call.origins))
}

fn squote(call: &mut Call<'_>, args: &[Value]) -> Out {
    let made = spaced(args, |out, value| {
        out.push(b"'", OriginSet::EMPTY);
        out.push_text(&show(call, value)?);
        out.push(b"'", OriginSet::EMPTY);
        Ok(())
    })?;
    Ok(Value::text(made).under(inside(call, args), call.origins))
}

fn cat(call: &mut Call<'_>, args: &[Value]) -> Out {
    let made = spaced(args, |out, value| {
        out.push_text(&show(call, value)?);
        Ok(())
    })?;
    Ok(Value::text(made).under(inside(call, args), call.origins))
}

/// Pads every line; the pad belongs to nobody.
fn indented(spaces: i64, text: &Text, out: &mut TextBuilder) -> Result<(), FuncError> {
    let Ok(spaces) = usize::try_from(spaces) else { return panic(NEGATIVE_COUNT) };
    let lines = text.bytes().iter().filter(|b| **b == b'\n').count() + 1;
    room(spaces.saturating_mul(lines).saturating_add(text.len()))?;
    let pad = vec![b' '; spaces];
    out.push(&pad, OriginSet::EMPTY);
    let mut from = 0;
    for (at, _) in text.bytes().iter().enumerate().filter(|(_, b)| **b == b'\n') {
        out.push_slice(text, from, at + 1);
        out.push(&pad, OriginSet::EMPTY);
        from = at + 1;
    }
    out.push_slice(text, from, text.len());
    Ok(())
}

fn indent(call: &mut Call<'_>, args: &[Value]) -> Out {
    let mut out = TextBuilder::default();
    indented(int(args, 0), &text(args, 1), &mut out)?;
    made(call, out.finish())
}

fn nindent(call: &mut Call<'_>, args: &[Value]) -> Out {
    let mut out = TextBuilder::default();
    out.push(b"\n", OriginSet::EMPTY);
    indented(int(args, 0), &text(args, 1), &mut out)?;
    made(call, out.finish())
}

fn repeat(call: &mut Call<'_>, args: &[Value]) -> Out {
    let text = text(args, 1);
    let Ok(count) = usize::try_from(int(args, 0)) else { return panic(NEGATIVE_COUNT) };
    match text.len().checked_mul(count) {
        Some(bytes) if i64::try_from(bytes).is_ok() => room(bytes)?,
        _ => return panic("strings: Repeat output length overflow"),
    }
    if text.marks().is_empty() {
        return made(call, Text::new(text.bytes().repeat(count)));
    }
    let mut out = TextBuilder::default();
    (0..count).for_each(|_| out.push_text(&text));
    made(call, out.finish())
}

fn replace(call: &mut Call<'_>, args: &[Value]) -> Out {
    let (old, new, source) = (text(args, 0), text(args, 1), text(args, 2));
    let mut out = TextBuilder::default();
    if old.is_empty() {
        for (at, _, len) in runes::iter(source.bytes()) {
            out.push_text(&new);
            out.push_slice(&source, at, at + len);
            room(out.len())?;
        }
        out.push_text(&new);
    } else {
        let mut from = 0;
        while let Some(at) = find(source.bytes(), old.bytes(), from) {
            out.push_slice(&source, from, at);
            out.push_text(&new);
            room(out.len())?;
            from = at + old.len();
        }
        out.push_slice(&source, from, source.len());
    }
    made(call, out.finish())
}

fn plural(call: &mut Call<'_>, args: &[Value]) -> Out {
    made(call, text(args, usize::from(int(args, 2) != 1)))
}

/// The text without the runes at its ends for which `cut` is true.
fn trimmed(text: &Text, cut: impl Fn(char) -> bool) -> Text {
    let bytes = text.bytes();
    let start = runes::iter(bytes).find(|(_, rune, _)| !cut(*rune)).map_or(bytes.len(), |(at, ..)| at);
    let mut end = bytes.len();
    while end > start {
        let (rune, len) = runes::last(&bytes[start..end]);
        if !cut(rune) {
            break;
        }
        end -= len;
    }
    text.slice(start, end)
}

fn trim(call: &mut Call<'_>, args: &[Value]) -> Out {
    made(call, trimmed(&text(args, 0), char::is_whitespace))
}

fn trim_all(call: &mut Call<'_>, args: &[Value]) -> Out {
    let set = text(args, 0);
    let set: Vec<char> = runes::iter(set.bytes()).map(|(_, rune, _)| rune).collect();
    made(call, trimmed(&text(args, 1), |rune| set.contains(&rune)))
}

fn trim_prefix(call: &mut Call<'_>, args: &[Value]) -> Out {
    let (prefix, text) = (text(args, 0), text(args, 1));
    let start = if text.bytes().starts_with(prefix.bytes()) { prefix.len() } else { 0 };
    made(call, text.slice(start, text.len()))
}

fn trim_suffix(call: &mut Call<'_>, args: &[Value]) -> Out {
    let (suffix, text) = (text(args, 0), text(args, 1));
    let cut = if text.bytes().ends_with(suffix.bytes()) { suffix.len() } else { 0 };
    made(call, text.slice(0, text.len() - cut))
}

fn trunc(call: &mut Call<'_>, args: &[Value]) -> Out {
    let (count, text) = (int(args, 0), text(args, 1));
    let len = text.len() as i64;
    let (start, end) = match count {
        0.. => (0, count.min(len)),
        _ => ((len.saturating_add(count)).max(0), len),
    };
    made(call, text.slice(start as usize, end as usize))
}

fn substr(call: &mut Call<'_>, args: &[Value]) -> Out {
    let (start, end, text) = (int(args, 0), int(args, 1), text(args, 2));
    let len = text.len() as i64;
    let out_of_range = |range: String| panic(format!("runtime error: slice bounds out of range {range}"));
    let (start, end) = match (start, end) {
        (..0, ..0) => return out_of_range(format!("[:{end}]")),
        (..0, _) if end > len => return out_of_range(format!("[:{end}] with length {len}")),
        (..0, _) => (0, end),
        (_, ..0) => (start, len),
        _ => (start, end.min(len)),
    };
    if start > end {
        return out_of_range(format!("[{start}:{end}]"));
    }
    made(call, text.slice(start as usize, end as usize))
}

/// `...` in place of what was cut.
const ELLIPSIS: &[u8] = b"...";

fn abbrev(call: &mut Call<'_>, args: &[Value]) -> Out {
    let (width, text) = (int(args, 0), text(args, 1));
    made(call, if width < 4 { text } else { abbreviated(&text, 0, width) })
}

fn abbrevboth(call: &mut Call<'_>, args: &[Value]) -> Out {
    let (left, right, text) = (int(args, 0), int(args, 1), text(args, 2));
    let untouched = right < 4 || left > 0 && right < 7;
    made(call, if untouched { text } else { abbreviated(&text, left, right) })
}

/// At most `width` bytes (4 or more, or 7 behind an offset) of the text from about `offset` on.
fn abbreviated(text: &Text, offset: i64, width: i64) -> Text {
    let len = text.len() as i64;
    if len <= width {
        return text.clone();
    }
    let shown = width - 3;
    let offset = if len.wrapping_sub(offset.min(len)) < shown { len - shown } else { offset.min(len) };
    let mut out = TextBuilder::default();
    if offset <= 4 {
        out.push_slice(text, 0, shown as usize);
        out.push(ELLIPSIS, OriginSet::EMPTY);
    } else if width >= 7 {
        out.push(ELLIPSIS, OriginSet::EMPTY);
        if offset + shown < len {
            out.push_text(&abbreviated(&text.slice(offset as usize, text.len()), 0, shown));
        } else {
            out.push_slice(text, (len - shown) as usize, text.len());
        }
    }
    out.finish()
}

fn wrap(call: &mut Call<'_>, args: &[Value]) -> Out {
    let lines = wrapped(&text(args, 1), int(args, 0), &Text::from("\n"), false)?;
    made(call, lines)
}

fn wrap_with(call: &mut Call<'_>, args: &[Value]) -> Out {
    let mut newline = text(args, 1);
    if newline.is_empty() {
        newline = "\n".into();
    }
    let lines = wrapped(&text(args, 2), int(args, 0), &newline, true)?;
    made(call, lines)
}

/// Breaks at the last space that leaves at most `width` bytes on a line. A longer word is cut if `cut` says so, else it
/// sticks out.
fn wrapped(text: &Text, width: i64, newline: &Text, cut: bool) -> Result<Text, FuncError> {
    let bytes = text.bytes();
    let width = usize::try_from(width).unwrap_or(0).max(1);
    let mut out = TextBuilder::default();
    let mut from = 0;
    while bytes.len() - from > width {
        if bytes[from] == b' ' {
            from += 1;
            continue;
        }
        let space = |range: &[u8]| range.iter().rposition(|b| *b == b' ');
        let (end, next) = match space(&bytes[from..=from + width]) {
            Some(at) => (from + at, from + at + 1),
            None if cut => (from + width, from + width),
            None => match bytes[from + width..].iter().position(|b| *b == b' ') {
                Some(at) => (from + width + at, from + width + at + 1),
                None => break,
            },
        };
        out.push_slice(text, from, end);
        out.push_text(newline);
        room(out.len())?;
        from = next;
    }
    out.push_slice(text, from, bytes.len());
    Ok(out.finish())
}

/// The parts between separators, at most `limit` of them (the last keeps the rest); an empty separator parts runes.
fn parts(text: &Text, separator: &[u8], limit: Option<usize>) -> Result<Vec<Text>, FuncError> {
    let limit = limit.unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    if limit == 0 || separator.is_empty() && text.is_empty() {
        return Ok(parts);
    }
    let mut from = 0;
    while parts.len() + 1 < limit {
        let (end, next) = if separator.is_empty() {
            let (_, len) = runes::first(&text.bytes()[from..]);
            if from + len >= text.len() {
                break;
            }
            (from + len, from + len)
        } else {
            match find(text.bytes(), separator, from) {
                Some(at) => (at, at + separator.len()),
                None => break,
            }
        };
        parts.push(text.slice(from, end));
        room_for(parts.len())?;
        from = next;
    }
    parts.push(text.slice(from, text.len()));
    Ok(parts)
}

fn as_map(call: &Call<'_>, parts: Vec<Text>) -> Value {
    let entries: BTreeMap<Text, Value> = parts
        .into_iter()
        .enumerate()
        .map(|(index, part)| (Text::from(format!("_{index}")), Value::text_in(part, call.origins)))
        .collect();
    Value::new(Repr::Map(Map::new(entries, MapType::Str)))
}

fn split(call: &mut Call<'_>, args: &[Value]) -> Out {
    let parts = parts(&text(args, 1), text(args, 0).bytes(), None)?;
    Ok(stamp(call, as_map(call, parts), any(args, 1).origins))
}

fn splitn(call: &mut Call<'_>, args: &[Value]) -> Out {
    let limit = usize::try_from(int(args, 1)).ok();
    let parts = parts(&text(args, 2), text(args, 0).bytes(), limit)?;
    Ok(stamp(call, as_map(call, parts), any(args, 2).origins))
}

/// A `[]string`.
pub(super) fn strings(call: &Call<'_>, texts: Vec<Text>) -> Value {
    let items = texts.into_iter().map(|text| Value::text_in(text, call.origins)).collect();
    Value::typed_list(items, ListType::Str)
}

fn split_list(call: &mut Call<'_>, args: &[Value]) -> Out {
    let parts = parts(&text(args, 1), text(args, 0).bytes(), None)?;
    Ok(strings(call, parts))
}

/// The elements of a list as strings, nil left out; anything else as one string, nil as none.
pub(super) fn each_as_text(call: &mut Call<'_>, value: &Value) -> Result<Vec<Text>, FuncError> {
    match items(value) {
        Some(_) if matches!(value.repr(), Repr::List(list) if list.ty == ListType::Byte) => {
            let Some(list) = value.as_list() else { return Ok(Vec::new()) };
            list.items.iter().map(|item| show(call, item)).collect()
        }
        Some(items) => items.iter().filter(|item| !item.is_nil()).map(|item| strval(call, item)).collect(),
        None if value.is_nil() => Ok(Vec::new()),
        None => Ok(vec![strval(call, value)?]),
    }
}

fn join(call: &mut Call<'_>, args: &[Value]) -> Out {
    let separator = text(args, 0);
    let mut out = TextBuilder::default();
    for (index, part) in each_as_text(call, any(args, 1))?.iter().enumerate() {
        if index > 0 {
            out.push_text(&separator);
        }
        out.push_text(part);
        room(out.len())?;
    }
    made(call, out.finish())
}

fn sort_alpha(call: &mut Call<'_>, args: &[Value]) -> Out {
    let value = any(args, 0);
    let mut texts = match items(value) {
        Some(_) => each_as_text(call, value)?,
        None => vec![strval(call, value)?],
    };
    texts.sort();
    Ok(strings(call, texts))
}

fn shuffle(call: &mut Call<'_>, args: &[Value]) -> Out {
    let text = owned(&text(args, 0), any(args, 0).origins, call.origins);
    let mut runes: Vec<char> = runes::iter(text.bytes()).map(|(_, rune, _)| rune).collect();
    let mut seed = super::seed(call, "shuffle");
    for last in (1..runes.len()).rev() {
        let pick = super::next_random(&mut seed) % (last as u64 + 1);
        runes.swap(last, pick as usize);
    }
    let shuffled: String = runes.into_iter().collect();
    made(call, Text::marked(shuffled.into_bytes(), text.mark_union(call.origins)))
}
