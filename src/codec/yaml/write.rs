//! The block writer: lays out a tree whose scalars are ready (F-117–F-120).

use super::style::{self, Generation, Written};
use crate::codec::marks::{MarkAt, Sink};
use crate::value::{OriginSet, Text};

/// What is to be written, with the origins that go on its bytes.
pub(super) enum Item {
    /// A null, a truth value or a number, as spelled.
    Word(String, OriginSet),
    /// A string and the context of its bytes.
    Str(Text, OriginSet),
    /// A sequence and the context of its dashes.
    Seq(Vec<Item>, OriginSet),
    /// A mapping, keys in order, and the context of keys and colons.
    Map(Vec<(Text, Item)>, OriginSet),
}

/// How lines are laid out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) generation: Generation,
    /// Column beyond which a space may become a line break; none for no folding.
    pub(super) width: Option<usize>,
    /// Whether a list below a key is indented.
    pub(super) indent_lists: bool,
}

/// The writer behind `toYaml` and the values digest.
pub(super) const HELM: Layout = Layout { generation: Generation::Two, width: Some(80), indent_lists: false };
/// The writer behind `toYamlPretty`.
pub(super) const PRETTY: Layout = Layout { generation: Generation::Three, width: None, indent_lists: true };

const STEP: usize = 2;
/// Longest key, in bytes, that stands on one line with its colon.
const SIMPLE_KEY: usize = 128;

/// Where a node starts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    /// Behind `key:`
    Value,
    /// Behind `-`, `?` or the `:` of an explicit key: a collection starts on this line.
    Inline,
}

/// Writes one document, final newline included.
pub(super) fn write(item: &Item, layout: Layout, sink: &mut Sink<'_>) {
    let mut writer = Writer { sink, layout, column: 0 };
    writer.node(item, 0, Place::Root);
    writer.newline(OriginSet::EMPTY);
}

struct Writer<'s, 'o> {
    sink: &'s mut Sink<'o>,
    layout: Layout,
    column: usize,
}

impl Writer<'_, '_> {
    fn put(&mut self, text: &str, context: OriginSet) {
        self.column += text.chars().count();
        self.sink.raw(text.as_bytes(), context);
    }

    /// Goes to a fresh line, unless a block scalar's own last line break did.
    fn newline(&mut self, context: OriginSet) {
        if self.column > 0 {
            self.sink.raw(b"\n", context);
            self.column = 0;
        }
    }

    fn pad(&mut self, indent: usize, context: OriginSet) {
        while self.column < indent {
            self.put(" ", context);
        }
    }

    fn space(&mut self, place: Place, context: OriginSet) {
        if place != Place::Root {
            self.put(" ", context);
        }
    }

    /// Writes a node inside a block of that indent.
    fn node(&mut self, item: &Item, indent: usize, place: Place) {
        match item {
            Item::Word(word, context) => {
                self.space(place, *context);
                self.put(word, *context);
            }
            Item::Str(text, context) => {
                self.space(place, *context);
                self.scalar(text, indent + STEP, false, *context);
            }
            Item::Seq(items, context) if items.is_empty() => {
                self.space(place, *context);
                self.put("[]", *context);
            }
            Item::Map(pairs, context) if pairs.is_empty() => {
                self.space(place, *context);
                self.put("{}", *context);
            }
            Item::Seq(items, context) => {
                let inner = match place {
                    Place::Root => indent,
                    Place::Value if !self.layout.indent_lists => indent,
                    Place::Value | Place::Inline => indent + STEP,
                };
                for (index, item) in items.iter().enumerate() {
                    self.line(index, inner, place, *context);
                    self.put("-", *context);
                    self.node(item, inner, Place::Inline);
                }
            }
            Item::Map(pairs, context) => {
                let inner = if place == Place::Root { indent } else { indent + STEP };
                for (index, (key, value)) in pairs.iter().enumerate() {
                    self.line(index, inner, place, *context);
                    self.entry(key, value, inner, *context);
                }
            }
        }
    }

    /// Goes to where the entry of a block collection starts.
    fn line(&mut self, index: usize, indent: usize, place: Place, context: OriginSet) {
        if index > 0 || place == Place::Value {
            self.newline(context);
        }
        self.pad(indent, context);
    }

    fn entry(&mut self, key: &Text, value: &Item, indent: usize, context: OriginSet) {
        let text = key.lossy();
        if text.len() <= SIMPLE_KEY && !style::is_multiline(&text) {
            self.scalar(key, indent + STEP, true, context);
            self.put(":", context);
            self.node(value, indent, Place::Value);
        } else {
            self.put("? ", context);
            self.scalar(key, indent + STEP, false, context);
            self.newline(context);
            self.pad(indent, context);
            self.put(":", context);
            self.node(value, indent, Place::Inline);
        }
    }

    /// Writes a string; `indent` is where its further lines start.
    fn scalar(&mut self, text: &Text, indent: usize, simple_key: bool, context: OriginSet) {
        let repaired;
        let text = if text.as_str().is_some() {
            text
        } else {
            repaired = Text::marked(text.lossy().into_owned().into_bytes(), text.mark_union(self.sink.origins()));
            &repaired
        };
        let chars = text.as_str().unwrap_or_default();
        let chosen = style::choose(chars, simple_key, self.layout.generation);
        // Whether and how a string is quoted depends on all of it.
        let whole = match text.marks() {
            [] => context,
            _ => self.sink.origins().union(context, text.mark_union(self.sink.origins())),
        };
        let width = if simple_key { None } else { self.layout.width };
        let mut scalar = Scalar { text, chars, indent, width, context, clean: 0, marks: MarkAt::new(text) };
        match chosen {
            Written::Plain => self.plain(&mut scalar),
            Written::Single => {
                self.put("'", whole);
                self.single(&mut scalar);
                self.put("'", whole);
            }
            Written::Double => {
                self.put("\"", whole);
                self.double(&mut scalar);
                self.put("\"", whole);
            }
            Written::Literal => {
                self.put(&format!("|{}", style::literal_header(chars)), whole);
                self.newline(whole);
                self.literal(&mut scalar);
            }
        }
    }

    fn plain(&mut self, scalar: &mut Scalar<'_>) {
        let mut after_space = false;
        for (at, c) in scalar.chars.char_indices() {
            if c == ' ' {
                let folds = scalar.width.is_some_and(|w| self.column > w)
                    && !after_space
                    && !scalar.chars[at + 1..].starts_with(' ');
                if folds {
                    self.fold(scalar, at);
                } else {
                    self.column += 1;
                }
                after_space = true;
            } else {
                self.column += 1;
                after_space = false;
            }
        }
        self.flush(scalar, scalar.chars.len());
    }

    fn single(&mut self, scalar: &mut Scalar<'_>) {
        let mut after_space = false;
        let mut after_break = false;
        let end = scalar.chars.len();
        for (at, c) in scalar.chars.char_indices() {
            if c == ' ' {
                let inner = at > 0 && at + 1 < end;
                let folds = scalar.width.is_some_and(|w| self.column > w)
                    && !after_space
                    && inner
                    && !scalar.chars[at + 1..].starts_with(' ');
                if folds {
                    self.fold(scalar, at);
                } else {
                    self.column += 1;
                }
                after_space = true;
            } else if style::is_break(c) {
                // U+2028 or U+2029: anything else is double-quoted.
                self.flush(scalar, at + c.len_utf8());
                self.column = 0;
                after_break = true;
            } else {
                if after_break {
                    let origins = self.origins_at(scalar, at);
                    self.pad(scalar.indent, origins);
                }
                if c == '\'' {
                    self.flush(scalar, at);
                    let origins = self.origins_at(scalar, at);
                    self.put("'", origins);
                }
                self.column += 1;
                (after_space, after_break) = (false, false);
            }
        }
        self.flush(scalar, end);
    }

    fn double(&mut self, scalar: &mut Scalar<'_>) {
        // Go asks whether the *text* starts with a byte order mark at every character.
        let escape_all = scalar.chars.starts_with('\u{FEFF}');
        let end = scalar.chars.len();
        let mut after_space = false;
        for (at, c) in scalar.chars.char_indices() {
            let raw = style::is_printable(c) && !style::is_break(c) && !matches!(c, '"' | '\\');
            if escape_all || !raw {
                self.flush(scalar, at);
                let origins = self.origins_at(scalar, at);
                self.put(&escape(c), origins);
                scalar.clean = at + c.len_utf8();
                after_space = false;
            } else if c == ' ' {
                let folds = scalar.width.is_some_and(|w| self.column > w) && !after_space && at > 0 && at + 1 < end;
                if folds {
                    self.fold(scalar, at);
                    if scalar.chars[at + 1..].starts_with(' ') {
                        let origins = self.origins_at(scalar, at);
                        self.put("\\", origins);
                    }
                } else {
                    self.column += 1;
                }
                after_space = true;
            } else {
                self.column += 1;
                after_space = false;
            }
        }
        self.flush(scalar, end);
    }

    fn literal(&mut self, scalar: &mut Scalar<'_>) {
        let mut after_break = true;
        for (at, c) in scalar.chars.char_indices() {
            if style::is_break(c) {
                self.flush(scalar, at + c.len_utf8());
                self.column = 0;
                after_break = true;
            } else {
                if after_break {
                    self.flush(scalar, at);
                    let origins = self.origins_at(scalar, at);
                    self.pad(scalar.indent, origins);
                    after_break = false;
                }
                self.column += 1;
            }
        }
        self.flush(scalar, scalar.chars.len());
    }

    /// Replaces the space at `at` by a line break and the indent.
    fn fold(&mut self, scalar: &mut Scalar<'_>, at: usize) {
        self.flush(scalar, at);
        let origins = self.origins_at(scalar, at);
        self.newline(origins);
        self.pad(scalar.indent, origins);
        scalar.clean = at + 1;
    }

    /// Writes what was passed over since the last flush, up to `end`, as it is.
    fn flush(&mut self, scalar: &mut Scalar<'_>, end: usize) {
        if scalar.clean < end {
            if scalar.text.marks().is_empty() {
                self.sink.raw(&scalar.chars.as_bytes()[scalar.clean..end], scalar.context);
            } else {
                self.sink.text(&scalar.text.slice(scalar.clean, end), scalar.context);
            }
            scalar.clean = end;
        }
    }

    fn origins_at(&mut self, scalar: &mut Scalar<'_>, at: usize) -> OriginSet {
        self.sink.origins().union(scalar.context, scalar.marks.at(at))
    }
}

/// A string on its way out.
struct Scalar<'t> {
    text: &'t Text,
    chars: &'t str,
    indent: usize,
    width: Option<usize>,
    context: OriginSet,
    /// Everything before this byte is written.
    clean: usize,
    marks: MarkAt<'t>,
}

fn escape(c: char) -> String {
    match c {
        '\0' => "\\0".into(),
        '\u{7}' => "\\a".into(),
        '\u{8}' => "\\b".into(),
        '\t' => "\\t".into(),
        '\n' => "\\n".into(),
        '\u{B}' => "\\v".into(),
        '\u{C}' => "\\f".into(),
        '\r' => "\\r".into(),
        '\u{1B}' => "\\e".into(),
        '"' => "\\\"".into(),
        '\\' => "\\\\".into(),
        '\u{85}' => "\\N".into(),
        '\u{A0}' => "\\_".into(),
        '\u{2028}' => "\\L".into(),
        '\u{2029}' => "\\P".into(),
        c @ ..='\u{FF}' => format!("\\x{:02X}", u32::from(c)),
        c @ ..='\u{FFFF}' => format!("\\u{:04X}", u32::from(c)),
        c => format!("\\U{:08X}", u32::from(c)),
    }
}
