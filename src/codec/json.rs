//! JSON as Go's `encoding/json` writes and reads it (F-140).

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::float;
use super::marks::{MarkAt, Sink};
use crate::base::version::HelmVersion;
use crate::value::{IntType, ListType, MAX_DEPTH, Native, OriginSet, Origins, Repr, Text, TextBuilder, Value};

pub mod read;
pub(crate) use read::cannot_unmarshal;
pub use read::{parse, parse_array, parse_map, parse_prefix};

/// How [`write`] lays out its text.
#[derive(Debug, Clone, Copy, Default)]
struct Layout {
    /// Two spaces per level and a line per element.
    pretty: bool,
    /// `<`, `>` and `&` as they are.
    raw_html: bool,
}

/// `toJson`: compact, keys sorted, HTML characters escaped. Marks and origins are kept.
///
/// # Errors
/// Go's text: `json: unsupported value: +Inf`, or that of a cycle.
pub fn emit(value: &Value, origins: &Origins) -> Result<Text, String> {
    write(value, origins, Layout::default())
}

/// `toPrettyJson`: indented by two spaces.
pub fn emit_pretty(value: &Value, origins: &Origins) -> Result<Text, String> {
    write(value, origins, Layout { pretty: true, ..Layout::default() })
}

/// `toRawJson`: compact, without HTML escapes.
pub fn emit_raw(value: &Value, origins: &Origins) -> Result<Text, String> {
    write(value, origins, Layout { raw_html: true, ..Layout::default() })
}

fn write(value: &Value, origins: &Origins, layout: Layout) -> Result<Text, String> {
    let mut writer = Writer { sink: Sink::new(origins), layout, depth: 0, natives: 0 };
    writer.value(value, OriginSet::EMPTY)?;
    Ok(writer.sink.finish())
}

struct Writer<'o> {
    sink: Sink<'o>,
    layout: Layout,
    depth: usize,
    /// Natives that what is being written lies in.
    natives: usize,
}

const CYCLE: &str = "json: unsupported value: encountered a cycle via map[string]interface {}";

impl Writer<'_> {
    fn value(&mut self, value: &Value, context: OriginSet) -> Result<(), String> {
        match value.repr() {
            Repr::Str(text) => {
                let context = self.sink.scalar(value, context);
                self.string(text, context);
            }
            Repr::List(list) if list.ty == ListType::Byte => {
                let bytes: Vec<u8> = list.items.iter().map(|v| v.as_int().unwrap_or(0) as u8).collect();
                let text = data_encoding::BASE64.encode(&bytes);
                let own = self.sink.origins().union(context, value.deep_origins(self.sink.origins()));
                self.sink.raw(format!("\"{text}\"").as_bytes(), own);
            }
            _ if value.is_typed_nil() => {
                let own = self.sink.origins().union(context, value.origins);
                self.sink.raw(b"null", own);
            }
            Repr::List(list) => {
                let (own, inside) = self.sink.container(value, context);
                self.open(b"[", own)?;
                for (index, item) in list.items.iter().enumerate() {
                    self.separate(index, own);
                    self.value(item, inside)?;
                }
                self.close(b"]", list.items.is_empty(), own);
            }
            Repr::Map(map) => {
                let (own, inside) = self.sink.container(value, context);
                self.open(b"{", own)?;
                for (index, (key, item)) in map.entries().iter().enumerate() {
                    self.separate(index, own);
                    self.string(key, own);
                    self.sink.raw(if self.layout.pretty { b": " } else { b":" }, own);
                    self.value(item, inside)?;
                }
                self.close(b"}", map.is_empty(), own);
            }
            Repr::Native(native) if native.json_fields().is_some() => {
                let own = self.sink.origins().union(context, value.origins);
                let fields = native.json_fields().unwrap_or_default();
                self.open(b"{", own)?;
                for (index, (key, item)) in fields.iter().enumerate() {
                    self.separate(index, own);
                    self.string(&Text::from(*key), own);
                    self.sink.raw(if self.layout.pretty { b": " } else { b":" }, own);
                    self.value(item, own)?;
                }
                self.close(b"}", fields.is_empty(), own);
            }
            Repr::Native(native) => match native.data() {
                Some(data) => {
                    let own = self.sink.origins().union(context, value.origins);
                    self.natives += 1;
                    if self.natives > MAX_DEPTH {
                        return Err(CYCLE.into());
                    }
                    self.value(&data, own)?;
                    self.natives -= 1;
                }
                None => return Err(unsupported(&**native)),
            },
            Repr::Hole(hole) => {
                let context = self.sink.scalar(value, context);
                self.string(&Text::from(&*hole.label), context);
            }
            Repr::Nil | Repr::Bool(_) | Repr::Int(..) | Repr::Float(_) => {
                let context = self.sink.scalar(value, context);
                self.sink.raw(scalar_text(value)?.as_bytes(), context);
            }
        }
        Ok(())
    }

    fn enter(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(CYCLE.into());
        }
        Ok(())
    }

    fn open(&mut self, bracket: &[u8], context: OriginSet) -> Result<(), String> {
        self.sink.raw(bracket, context);
        self.enter()
    }

    fn separate(&mut self, index: usize, context: OriginSet) {
        if index > 0 {
            self.sink.raw(b",", context);
        }
        self.line(context);
    }

    fn close(&mut self, bracket: &[u8], empty: bool, context: OriginSet) {
        self.depth -= 1;
        if !empty {
            self.line(context);
        }
        self.sink.raw(bracket, context);
    }

    fn line(&mut self, context: OriginSet) {
        if self.layout.pretty {
            self.sink.raw(b"\n", context);
            for _ in 0..self.depth {
                self.sink.raw(b"  ", context);
            }
        }
    }

    fn string(&mut self, text: &Text, context: OriginSet) {
        self.sink.raw(b"\"", context);
        let bytes = text.bytes();
        if text.marks().is_empty() {
            let mut escaped = Vec::with_capacity(bytes.len());
            escape(bytes, self.layout.raw_html, |_, piece| escaped.extend_from_slice(piece));
            self.sink.raw(&escaped, context);
        } else {
            let mut marks = MarkAt::new(text);
            let mut piecewise = TextBuilder::default();
            escape(bytes, self.layout.raw_html, |range, piece| {
                if piece == &bytes[range.clone()] {
                    piecewise.push_slice(text, range.start, range.end);
                } else {
                    piecewise.push(piece, marks.at(range.start));
                }
            });
            self.sink.text(&piecewise.finish(), context);
        }
        self.sink.raw(b"\"", context);
    }
}

/// Go's error for what has no form in JSON.
pub(super) fn unsupported(native: &dyn Native) -> String {
    // The types that have none are called alike in every version.
    format!("json: unsupported type: {}", native.type_name(HelmVersion::cli(4, 2, 2)))
}

/// The JSON text of a nil, bool or number.
pub(super) fn scalar_text(value: &Value) -> Result<String, String> {
    Ok(match value.repr() {
        Repr::Bool(b) => b.to_string(),
        Repr::Int(int, IntType::Uint | IntType::Uint64) => (*int as u64).to_string(),
        Repr::Int(int, _) => int.to_string(),
        Repr::Float(number) => {
            float::json(*number).ok_or_else(|| format!("json: unsupported value: {}", float::g(*number)))?
        }
        _ => "null".into(),
    })
}

/// Calls `piece` with each stretch of the input and what stands for it inside a JSON string.
fn escape(bytes: &[u8], raw_html: bool, mut piece: impl FnMut(std::ops::Range<usize>, &[u8])) {
    let mut clean = 0;
    let mut at = 0;
    while at < bytes.len() {
        let (width, escaped): (usize, Cow<'static, [u8]>) = match bytes[at] {
            b'"' => (1, b"\\\"".into()),
            b'\\' => (1, b"\\\\".into()),
            b'\n' => (1, b"\\n".into()),
            b'\r' => (1, b"\\r".into()),
            b'\t' => (1, b"\\t".into()),
            0x08 => (1, b"\\b".into()),
            0x0C => (1, b"\\f".into()),
            b @ (b'<' | b'>' | b'&') if !raw_html => (1, format!("\\u{b:04x}").into_bytes().into()),
            b @ 0..0x20 => (1, format!("\\u{b:04x}").into_bytes().into()),
            0x20..0x80 => {
                at += 1;
                continue;
            }
            _ => match utf8_width(&bytes[at..]) {
                None => (1, b"\\ufffd".into()),
                Some(3) if bytes[at..].starts_with(b"\xE2\x80\xA8") => (3, b"\\u2028".into()),
                Some(3) if bytes[at..].starts_with(b"\xE2\x80\xA9") => (3, b"\\u2029".into()),
                Some(width) => {
                    at += width;
                    continue;
                }
            },
        };
        if clean < at {
            piece(clean..at, &bytes[clean..at]);
        }
        piece(at..at + width, &escaped);
        at += width;
        clean = at;
    }
    if clean < at {
        piece(clean..at, &bytes[clean..at]);
    }
}

/// Characters of the JSON text of a string, quotes included.
pub(super) fn string_length(text: &str) -> usize {
    let mut count = 2;
    escape(text.as_bytes(), false, |_, piece| count += go_lossy(piece).chars().count());
    count
}

/// Length of the valid UTF-8 character that starts here.
pub(super) fn utf8_width(bytes: &[u8]) -> Option<usize> {
    let width = match bytes.first()? {
        0..0x80 => 1,
        0xC2..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0..0xF5 => 4,
        _ => return None,
    };
    let char = bytes.get(..width)?;
    std::str::from_utf8(char).is_ok().then_some(width)
}

/// The text with every byte that is no UTF-8 replaced by U+FFFD, one each, as Go does.
pub fn go_lossy(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.into();
    }
    let mut out = String::with_capacity(bytes.len() + 8);
    let mut rest = bytes;
    while !rest.is_empty() {
        match std::str::from_utf8(rest) {
            Ok(text) => {
                out.push_str(text);
                break;
            }
            Err(error) => {
                let (valid, broken) = rest.split_at(error.valid_up_to());
                out.push_str(std::str::from_utf8(valid).unwrap_or_default());
                out.push('\u{FFFD}');
                rest = &broken[1..];
            }
        }
    }
    out.into()
}

/// Compact JSON text of plain data (F-140).
pub fn go_compact(value: &Json) -> String {
    let mut out = Vec::new();
    compact(value, &mut out, 0);
    String::from_utf8_lossy(&out).into_owned()
}

fn compact(value: &Json, out: &mut Vec<u8>, depth: usize) {
    let string = |text: &str, out: &mut Vec<u8>| {
        out.push(b'"');
        escape(text.as_bytes(), false, |_, piece| out.extend_from_slice(piece));
        out.push(b'"');
    };
    match value {
        _ if depth > MAX_DEPTH => out.extend_from_slice(b"null"),
        Json::Null => out.extend_from_slice(b"null"),
        Json::Bool(b) => out.extend_from_slice(b.to_string().as_bytes()),
        Json::Number(number) => out.extend_from_slice(number_text(number).as_bytes()),
        Json::String(text) => string(text, out),
        Json::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                compact(item, out, depth + 1);
            }
            out.push(b']');
        }
        Json::Object(entries) => {
            out.push(b'{');
            for (index, (key, item)) in entries.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                string(key, out);
                out.push(b':');
                compact(item, out, depth + 1);
            }
            out.push(b'}');
        }
    }
}

/// Go's JSON spelling of a number.
pub fn number_text(number: &serde_json::Number) -> String {
    if number.is_i64() || number.is_u64() {
        return number.to_string();
    }
    number.as_f64().and_then(float::json).unwrap_or_else(|| number.to_string())
}

/// Plain data as a template value: integers are `int64`, other numbers `float64`, as in what a lookup answers.
pub fn value_from_json(json: &Json) -> Value {
    from_json(json, &|number| match number.as_i64() {
        Some(int) => Value::int64(int),
        None => Value::float(number.as_f64().unwrap_or_default()),
    })
}

/// Plain data as a template value with every number a `float64`, as in values.
pub fn value_from_json_floats(json: &Json) -> Value {
    from_json(json, &|number| Value::float(number.as_f64().unwrap_or_default()))
}

fn from_json(json: &Json, number: &impl Fn(&serde_json::Number) -> Value) -> Value {
    match json {
        Json::Null => Value::NIL,
        Json::Bool(b) => Value::bool(*b),
        Json::Number(n) => number(n),
        Json::String(text) => Value::text(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(|item| from_json(item, number)).collect()),
        Json::Object(entries) => {
            let entries: BTreeMap<Text, Value> =
                entries.iter().map(|(k, v)| (Text::from(k.as_str()), from_json(v, number))).collect();
            Value::map(entries)
        }
    }
}

/// A template value as plain data. Doubles that are integers stay doubles; what JSON cannot hold (infinities, natives
/// without data, knots) is null; bytes that are no UTF-8 become U+FFFD.
pub fn value_to_json(value: &Value) -> Json {
    to_json(value, 0)
}

fn to_json(value: &Value, depth: usize) -> Json {
    if depth > MAX_DEPTH {
        return Json::Null;
    }
    match value.repr() {
        Repr::Nil => Json::Null,
        Repr::Bool(b) => Json::Bool(*b),
        Repr::Int(int, IntType::Uint | IntType::Uint64) => Json::from(*int as u64),
        Repr::Int(int, _) => Json::from(*int),
        Repr::Float(number) => Json::from(*number),
        Repr::Str(text) => Json::String(go_lossy(text.bytes()).into_owned()),
        Repr::List(list) => Json::Array(list.items.iter().map(|item| to_json(item, depth + 1)).collect()),
        Repr::Map(map) => Json::Object(
            map.entries().iter().map(|(k, v)| (go_lossy(k.bytes()).into_owned(), to_json(v, depth + 1))).collect(),
        ),
        Repr::Native(native) => native.data().map_or(Json::Null, |data| to_json(&data, depth + 1)),
        Repr::Hole(hole) => Json::String(hole.label.to_string()),
    }
}
