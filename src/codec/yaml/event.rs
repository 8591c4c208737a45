//! The event parser: the one place with unsafe code, around `unsafe-libyaml`.
//!
//! Events are copied out at once, so nothing of the C-style parser leaves this file. Where libyaml is newer than the
//! parser inside Helm, the differences are put right here: `%YAML 1.2` and `"\/"` are refused, `{x:}` is a key, `"\'"` a quote, `!a,b` a tag.

use std::ffi::CStr;
use std::mem::MaybeUninit;

use unsafe_libyaml as unsafe_sys;

use super::node::{Pos, Span, Style};

/// Why a text is no YAML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct YamlError {
    /// Go's text: `yaml: line 2: did not find expected key`. Its line number is Go's, which is off by one in places.
    pub text: String,
    /// The line where the problem is, from 1, if it has one.
    pub line: Option<u32>,
    /// Byte offset of a character that Go would take for something else: see `as_go_reads`.
    pub(super) odd: Option<usize>,
}

impl YamlError {
    /// An error without a line in its text.
    pub(super) fn plain(problem: impl std::fmt::Display, line: Option<u32>) -> Self {
        YamlError { text: format!("yaml: {problem}"), line, odd: None }
    }

    pub(super) fn in_line(problem: &str, go_line: u64, line: u32) -> Self {
        let text = if go_line == 0 { format!("yaml: {problem}") } else { format!("yaml: line {go_line}: {problem}") };
        YamlError { text, line: Some(line), odd: None }
    }
}

/// One event of a YAML stream.
#[derive(Debug)]
pub(super) enum Event {
    StreamStart,
    StreamEnd,
    DocumentStart { explicit: bool },
    DocumentEnd,
    Alias(String),
    Scalar { anchor: Option<String>, tag: Option<String>, text: String, style: Style },
    SeqStart { anchor: Option<String>, tag: Option<String>, flow: bool },
    SeqEnd,
    MapStart { anchor: Option<String>, tag: Option<String>, flow: bool },
    MapEnd,
}

/// Characters put in place of others, so that libyaml reads them as Go does; undone in the scalars.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StandIns {
    /// For colons in plain scalars.
    pub(super) colon: Option<u8>,
    /// For byte order marks.
    pub(super) bom: Option<char>,
    /// For the backslashes of `\'` in double quotes.
    pub(super) backslash: Option<u8>,
}

/// Pulls events out of one text.
pub(super) struct Events<'a> {
    parser: Box<MaybeUninit<unsafe_sys::yaml_parser_t>>,
    input: &'a [u8],
    stand_ins: StandIns,
}

impl<'a> Events<'a> {
    pub(super) fn new(input: &'a [u8], stand_ins: StandIns) -> Self {
        let mut parser = Box::new(MaybeUninit::<unsafe_sys::yaml_parser_t>::uninit());
        // SAFETY: `initialize` fills the whole struct before anything reads it and cannot fail except by aborting on
        // allocation. The struct is boxed and never moved, since the parser keeps a pointer to itself as its read
        // handler's data. `input` outlives `self`, which the lifetime enforces; a slice's pointer is never null.
        unsafe {
            let _ = unsafe_sys::yaml_parser_initialize(parser.as_mut_ptr());
            unsafe_sys::yaml_parser_set_input_string(parser.as_mut_ptr(), input.as_ptr(), input.len() as u64);
        }
        Events { parser, input, stand_ins }
    }

    /// The next event and where it stands. Must not be called again after an error or the end of the stream.
    pub(super) fn next(&mut self) -> Result<(Event, Span), YamlError> {
        let mut raw = MaybeUninit::<unsafe_sys::yaml_event_t>::uninit();
        // SAFETY: the parser was initialized in `new` and is dropped only with `self`. `parse` writes the event on
        // success; on failure it is not read. Every union field read below is the one that belongs to `type_`. The
        // event is freed exactly once, after everything in it was copied.
        unsafe {
            if unsafe_sys::yaml_parser_parse(self.parser.as_mut_ptr(), raw.as_mut_ptr()).fail {
                return Err(self.error());
            }
            let raw = raw.assume_init_mut();
            let span = Span { start: self.pos(&raw.start_mark), end: self.pos(&raw.end_mark) };
            let result = copy_event(raw, self.input, self.stand_ins, span).map(|event| (event, span));
            unsafe_sys::yaml_event_delete(raw);
            result
        }
    }

    /// A mark's place. Its index counts bytes behind the byte order mark of the stream.
    fn pos(&self, mark: &unsafe_sys::yaml_mark_t) -> Pos {
        let bom = if self.input.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        let offset = (mark.index as usize).saturating_add(bom).min(self.input.len());
        Pos { offset, line: (mark.line as u32).saturating_add(1), column: (mark.column as u32).saturating_add(1) }
    }

    /// What stopped the parser, in Go's words (its rule: scanner errors count lines from 1, parser errors from 0, and
    /// a zero is left out).
    fn error(&self) -> YamlError {
        // SAFETY: the parser was initialized in `new`; `problem` is null or a static C string.
        unsafe {
            let parser = &*self.parser.as_ptr();
            let problem = if parser.problem.is_null() {
                "unknown problem parsing YAML content".into()
            } else {
                CStr::from_ptr(parser.problem.cast()).to_string_lossy()
            };
            let scanner = parser.error == unsafe_sys::yaml_error_type_t::YAML_SCANNER_ERROR;
            if parser.error == unsafe_sys::yaml_error_type_t::YAML_READER_ERROR {
                let offset = (parser.problem_offset as usize).min(self.input.len());
                let line = self.input[..offset].iter().filter(|b| **b == b'\n').count() as u32 + 1;
                return YamlError::plain(problem, Some(line));
            }
            let (at, context) = (parser.problem_mark.line, parser.context_mark.line);
            let go_line = if at != 0 { at + u64::from(scanner) } else { context };
            let line = (at.max(context) as u32).saturating_add(1);
            match &*problem {
                // Go's own spelling.
                "did not find expected hexadecimal number" => {
                    YamlError::in_line("did not find expected hexdecimal number", go_line, line)
                }
                "found unexpected ':'"
                | "found unknown escape character"
                | "did not find expected whitespace or line break"
                | "did not find expected tag URI" => {
                    let odd = self.pos(&parser.problem_mark).offset;
                    YamlError { odd: Some(odd), ..YamlError::in_line(&problem, go_line, line) }
                }
                _ => YamlError::in_line(&problem, go_line, line),
            }
        }
    }
}

impl Drop for Events<'_> {
    fn drop(&mut self) {
        // SAFETY: initialized in `new`, deleted only here.
        unsafe { unsafe_sys::yaml_parser_delete(self.parser.as_mut_ptr()) }
    }
}

/// Copies an event out and applies the checks of Go's parser.
///
/// # Safety
/// `raw` must be an event that `yaml_parser_parse` wrote and nobody deleted.
unsafe fn copy_event(
    raw: &unsafe_sys::yaml_event_t,
    input: &[u8],
    stand_ins: StandIns,
    span: Span,
) -> Result<Event, YamlError> {
    use unsafe_sys::yaml_event_type_t as ty;
    // SAFETY: see above; the union fields follow `type_`, their pointers are null or C strings, a scalar's value has
    // `length` bytes.
    unsafe {
        let owned =
            |text: *mut u8| (!text.is_null()).then(|| CStr::from_ptr(text.cast()).to_string_lossy().into_owned());
        Ok(match raw.type_ {
            ty::YAML_STREAM_START_EVENT => Event::StreamStart,
            ty::YAML_STREAM_END_EVENT => Event::StreamEnd,
            ty::YAML_DOCUMENT_START_EVENT => {
                let start = &raw.data.document_start;
                if !start.version_directive.is_null() {
                    let version = &*start.version_directive;
                    if version.major != 1 || version.minor != 1 {
                        let line = span.start.line - 1;
                        return Err(YamlError::in_line("found incompatible YAML document", line.into(), line + 1));
                    }
                }
                Event::DocumentStart { explicit: !start.implicit }
            }
            ty::YAML_DOCUMENT_END_EVENT => Event::DocumentEnd,
            ty::YAML_ALIAS_EVENT => Event::Alias(owned(raw.data.alias.anchor).unwrap_or_default()),
            ty::YAML_SCALAR_EVENT => {
                let scalar = &raw.data.scalar;
                let bytes = std::slice::from_raw_parts(scalar.value, scalar.length as usize);
                let style = match scalar.style {
                    unsafe_sys::yaml_scalar_style_t::YAML_SINGLE_QUOTED_SCALAR_STYLE => Style::Single,
                    unsafe_sys::yaml_scalar_style_t::YAML_DOUBLE_QUOTED_SCALAR_STYLE => Style::Double,
                    unsafe_sys::yaml_scalar_style_t::YAML_LITERAL_SCALAR_STYLE => Style::Literal,
                    unsafe_sys::yaml_scalar_style_t::YAML_FOLDED_SCALAR_STYLE => Style::Folded,
                    _ => Style::Plain,
                };
                let raw_text = input.get(span.start.offset..span.end.offset).unwrap_or_default();
                if style == Style::Double {
                    refuse_escaped_slash(raw_text, span)?;
                }
                let mut tag = owned(scalar.tag);
                if tag.is_none() && style == Style::Plain && has_bare_tag(raw_text) {
                    tag = Some("!".into());
                }
                let mut text = String::from_utf8_lossy(bytes).into_owned();
                if let (Style::Plain, Some(colon)) = (style, stand_ins.colon) {
                    text = text.replace(char::from(colon), ":");
                }
                if let (Style::Double, Some(backslash)) = (style, stand_ins.backslash) {
                    text = text.replace(char::from(backslash), "");
                }
                if let Some(bom) = stand_ins.bom {
                    text = text.replace(bom, "\u{FEFF}");
                }
                Event::Scalar { anchor: owned(scalar.anchor), tag, text, style }
            }
            ty::YAML_SEQUENCE_START_EVENT => {
                let seq = &raw.data.sequence_start;
                let flow = seq.style == unsafe_sys::yaml_sequence_style_t::YAML_FLOW_SEQUENCE_STYLE;
                Event::SeqStart { anchor: owned(seq.anchor), tag: owned(seq.tag), flow }
            }
            ty::YAML_SEQUENCE_END_EVENT => Event::SeqEnd,
            ty::YAML_MAPPING_START_EVENT => {
                let map = &raw.data.mapping_start;
                let flow = map.style == unsafe_sys::yaml_mapping_style_t::YAML_FLOW_MAPPING_STYLE;
                Event::MapStart { anchor: owned(map.anchor), tag: owned(map.tag), flow }
            }
            ty::YAML_MAPPING_END_EVENT => Event::MapEnd,
            _ => return Err(YamlError::plain("unknown event", None)),
        })
    }
}

/// Go refuses `%YAML 1.2` as soon as it meets it, before any mistake behind it that libyaml would tell.
pub(super) fn incompatible_version(input: &[u8]) -> Option<YamlError> {
    for (line, text) in (0u32..).zip(input.split(|b| *b == b'\n')) {
        let text = text.trim_ascii();
        if let Some(version) = text.strip_prefix(b"%YAML ") {
            let digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
            let mut parts = version.splitn(2, |b| *b == b'.');
            let numbers = parts.next().is_some_and(digits) && parts.next().is_some_and(digits);
            let other = version != b"1.1" && numbers;
            return other.then(|| YamlError::in_line("found incompatible YAML document", line.into(), line + 1));
        }
        if !(text.is_empty() || text.starts_with(b"#") || text.starts_with(b"%")) {
            return None;
        }
    }
    None
}

/// Go's scanner knows no `\/`: the error it gives, at the line of the escape.
fn refuse_escaped_slash(raw: &[u8], span: Span) -> Result<(), YamlError> {
    let mut at = 0;
    let mut line = u64::from(span.start.line) - 1;
    while let Some(byte) = raw.get(at) {
        match (byte, raw.get(at + 1)) {
            (b'\\', Some(b'/')) => {
                let go_line = if line == 0 { 0 } else { line + 1 };
                return Err(YamlError::in_line("found unknown escape character", go_line, line as u32 + 1));
            }
            (b'\\', Some(b'\n')) => (at, line) = (at + 2, line + 1),
            (b'\\', Some(_)) => at += 2,
            (b'\n', _) => (at, line) = (at + 1, line + 1),
            _ => at += 1,
        }
    }
    Ok(())
}

/// The error of a plain scalar with a question mark inside `[]` or `{}`: to Go's parser the mark begins a key, which
/// cannot stand there. `raw` is the scalar with its properties.
pub(super) fn question_mark(raw: &[u8], span: Span, in_map: bool) -> YamlError {
    let end = raw.iter().rposition(|b| *b == b'?').unwrap_or(raw.len());
    let line = span.start.line - 1 + raw[..end].iter().filter(|b| **b == b'\n').count() as u32;
    let close = if in_map { '}' } else { ']' };
    YamlError::in_line(&format!("did not find expected ',' or '{close}'"), line.into(), line + 1)
}

/// Whether the properties before a plain scalar hold the tag `!`, which makes it a string; libyaml does not report it.
fn has_bare_tag(mut raw: &[u8]) -> bool {
    while let Some(first) = raw.first() {
        let word = raw.iter().position(|b| b.is_ascii_whitespace()).unwrap_or(raw.len());
        match first {
            b'!' => return word == 1,
            b'&' => raw = raw.get(word..).unwrap_or_default().trim_ascii_start(),
            _ => return false,
        }
    }
    false
}
