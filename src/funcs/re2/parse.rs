//! Reads Go's syntax of regular expressions, with Go's complaints.

use regex_syntax::hir::{Capture, Hir, Look, Repetition};

use super::class::{self, Ranges};

/// Groups inside groups that are read; Go reads 1000, but the compiler behind us is recursive.
const MAX_NESTING: usize = 250;
/// Most repetitions, also of nested ones together.
const MAX_REPEAT: u32 = 1000;

/// What is wrong with a pattern, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("error parsing regexp: {code}: `{expr}`")]
pub struct ParseError {
    /// Go's name for the fault.
    pub code: &'static str,
    /// The part of the pattern that has it.
    pub expr: String,
}

fn fault<T>(code: &'static str, expr: &str) -> Result<T, ParseError> {
    Err(ParseError { code, expr: expr.into() })
}

pub(super) const TOO_LARGE: &str = "expression too large";
const BAD_RANGE: &str = "invalid character class range";
const BAD_ESCAPE: &str = "invalid escape sequence";
const BAD_NAME: &str = "invalid named capture";
const BAD_PERL: &str = "invalid or unsupported Perl syntax";
const BAD_REPEAT: &str = "invalid repeat count";
const BAD_NESTED: &str = "invalid nested repetition operator";
const NO_ARGUMENT: &str = "missing argument to repetition operator";

#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    fold: bool,
    multi_line: bool,
    dot_newline: bool,
    lazy: bool,
}

/// A parsed piece, and how often its innermost part may repeat at most.
struct Piece {
    hir: Hir,
    repeats: u32,
}

/// An open group.
#[derive(Default)]
struct Frame {
    /// Flags to return to after the group.
    outer: Flags,
    /// Number of the capture, if it is one.
    capture: Option<u32>,
    branches: Vec<Hir>,
    pieces: Vec<Piece>,
    repeats: u32,
}

impl Frame {
    fn close_branch(&mut self) {
        let pieces = std::mem::take(&mut self.pieces);
        self.repeats = pieces.iter().map(|p| p.repeats).fold(self.repeats, u32::max);
        self.branches.push(Hir::concat(pieces.into_iter().map(|p| p.hir).collect()));
    }

    fn close(mut self) -> Piece {
        self.close_branch();
        let hir = Hir::alternation(self.branches);
        let hir = match self.capture {
            Some(index) => Hir::capture(Capture { index, name: None, sub: Box::new(hir) }),
            None => hir,
        };
        Piece { hir, repeats: self.repeats.max(1) }
    }
}

/// A parsed pattern.
pub(super) struct Parsed {
    pub hir: Hir,
    /// Names of the groups; the first is the whole match.
    pub names: Vec<Option<String>>,
}

struct Parser<'a> {
    whole: &'a str,
    flags: Flags,
    stack: Vec<Frame>,
    top: Frame,
    names: Vec<Option<String>>,
}

pub(super) fn parse(pattern: &[u8]) -> Result<Parsed, ParseError> {
    let text = std::str::from_utf8(pattern).map_err(|e| ParseError {
        code: "invalid UTF-8",
        expr: String::from_utf8_lossy(pattern.get(e.valid_up_to()..).unwrap_or_default()).into_owned(),
    })?;
    let parser =
        Parser { whole: text, flags: Flags::default(), stack: Vec::new(), top: Frame::default(), names: vec![None] };
    parser.run()
}

/// The part of `from` that comes before its tail `rest`.
fn upto<'a>(from: &'a str, rest: &str) -> &'a str {
    from.get(..from.len().saturating_sub(rest.len())).unwrap_or(from)
}

fn after(text: &str, bytes: usize) -> &str {
    text.get(bytes..).unwrap_or_default()
}

impl<'a> Parser<'a> {
    fn run(mut self) -> Result<Parsed, ParseError> {
        let mut rest = self.whole;
        let mut last_repeat = "";
        while let Some(c) = rest.chars().next() {
            let mut repeat = "";
            match c {
                '(' if rest.starts_with("(?") => rest = self.open_special(rest)?,
                '(' => {
                    let capture = self.capture(None);
                    self.open(Some(capture), self.flags)?;
                    rest = after(rest, 1);
                }
                '|' => {
                    self.top.close_branch();
                    rest = after(rest, 1);
                }
                ')' => {
                    let Some(outer) = self.stack.pop() else { return fault("unexpected )", self.whole) };
                    let group = std::mem::replace(&mut self.top, outer);
                    self.flags = group.outer;
                    self.top.pieces.push(group.close());
                    rest = after(rest, 1);
                }
                '^' => {
                    self.look(if self.flags.multi_line { Look::StartLF } else { Look::Start });
                    rest = after(rest, 1);
                }
                '$' => {
                    self.look(if self.flags.multi_line { Look::EndLF } else { Look::End });
                    rest = after(rest, 1);
                }
                '.' => {
                    let any: Ranges =
                        if self.flags.dot_newline { vec![(0, 0x10ffff)] } else { class::negate(vec![(10, 10)]) };
                    self.push(class::hir(any));
                    rest = after(rest, 1);
                }
                '[' => rest = self.class(rest)?,
                '*' | '+' | '?' => {
                    let (min, max) = match c {
                        '*' => (0, None),
                        '+' => (1, None),
                        _ => (0, Some(1)),
                    };
                    repeat = rest;
                    rest = self.repeat(min, max, false, rest, after(rest, 1), last_repeat)?;
                }
                '{' => match counts(rest) {
                    None => {
                        self.literal('{');
                        rest = after(rest, 1);
                    }
                    Some((min, max, tail)) => {
                        let bad = min > MAX_REPEAT || max.is_some_and(|max| max > MAX_REPEAT || min > max);
                        if bad {
                            return fault(BAD_REPEAT, upto(rest, tail));
                        }
                        repeat = rest;
                        rest = self.repeat(min, max, true, rest, tail, last_repeat)?;
                    }
                },
                '\\' => rest = self.backslash(rest)?,
                c => {
                    self.literal(c);
                    rest = after(rest, c.len_utf8());
                }
            }
            last_repeat = repeat;
        }
        if !self.stack.is_empty() {
            return fault("missing closing )", self.whole);
        }
        Ok(Parsed { hir: self.top.close().hir, names: self.names })
    }

    fn capture(&mut self, name: Option<String>) -> u32 {
        self.names.push(name);
        (self.names.len() - 1) as u32
    }

    fn open(&mut self, capture: Option<u32>, outer: Flags) -> Result<(), ParseError> {
        if self.stack.len() >= MAX_NESTING {
            return fault("expression nests too deeply", self.whole);
        }
        let frame = Frame { outer, capture, ..Frame::default() };
        self.stack.push(std::mem::replace(&mut self.top, frame));
        Ok(())
    }

    fn push(&mut self, hir: Hir) {
        self.top.pieces.push(Piece { hir, repeats: 1 });
    }

    fn look(&mut self, look: Look) {
        self.push(Hir::look(look));
    }

    fn literal(&mut self, c: char) {
        let code = u32::from(c);
        if self.flags.fold {
            let folded = class::fold(&[(code, code)]);
            if folded != [(code, code)] {
                return self.push(class::hir(folded));
            }
        }
        self.push(Hir::literal(c.encode_utf8(&mut [0; 4]).as_bytes()));
    }

    /// Applies a repetition to the last piece; `from` starts at the operator, `tail` behind it.
    fn repeat(
        &mut self,
        min: u32,
        max: Option<u32>,
        counted: bool,
        from: &'a str,
        tail: &'a str,
        last_repeat: &str,
    ) -> Result<&'a str, ParseError> {
        let lazy = tail.starts_with('?');
        let tail = after(tail, usize::from(lazy));
        if !last_repeat.is_empty() {
            return fault(BAD_NESTED, upto(last_repeat, tail));
        }
        let Some(piece) = self.top.pieces.pop() else { return fault(NO_ARGUMENT, upto(from, tail)) };
        let repeats = match (counted, max.unwrap_or(min)) {
            (true, times) if times > 0 => piece.repeats.saturating_mul(times),
            (true, _) if max == Some(0) => 1,
            _ => piece.repeats,
        };
        if counted && (min >= 2 || max.is_some_and(|m| m >= 2)) && repeats > MAX_REPEAT {
            return fault(BAD_REPEAT, upto(from, tail));
        }
        // A nesting of unary operators costs stack below us as groups do; without groups it cannot grow.
        let greedy = lazy == self.flags.lazy;
        let hir = Hir::repetition(Repetition { min, max, greedy, sub: Box::new(piece.hir) });
        self.top.pieces.push(Piece { hir, repeats });
        Ok(tail)
    }

    /// What starts with `(?`: a named group, flags, or a group with flags.
    fn open_special(&mut self, from: &'a str) -> Result<&'a str, ParseError> {
        let named = [("(?P<", 4), ("(?<", 3)].into_iter().find(|(lead, n)| from.starts_with(lead) && from.len() > *n);
        if let Some((_, start)) = named {
            let Some(end) = from.find('>') else { return fault(BAD_NAME, from) };
            let name = from.get(start..end).unwrap_or_default();
            if name.is_empty() || !name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()) {
                return fault(BAD_NAME, from.get(..=end).unwrap_or(from));
            }
            let capture = self.capture(Some(name.into()));
            self.open(Some(capture), self.flags)?;
            return Ok(after(from, end + 1));
        }
        let mut flags = self.flags;
        let mut on = true;
        let mut seen = false;
        let mut rest = after(from, 2);
        while let Some(c) = rest.chars().next() {
            rest = after(rest, c.len_utf8());
            match c {
                'i' => flags.fold = on,
                'm' => flags.multi_line = on,
                's' => flags.dot_newline = on,
                'U' => flags.lazy = on,
                '-' if on => {
                    on = false;
                    seen = false;
                    continue;
                }
                ':' | ')' if on || seen => {
                    if c == ':' {
                        self.open(None, self.flags)?;
                    }
                    self.flags = flags;
                    return Ok(rest);
                }
                _ => break,
            }
            seen = true;
        }
        fault(BAD_PERL, upto(from, rest))
    }

    fn backslash(&mut self, from: &'a str) -> Result<&'a str, ParseError> {
        let bytes = from.as_bytes();
        let look = match bytes.get(1) {
            Some(b'A') => Some(Look::Start),
            Some(b'z') => Some(Look::End),
            Some(b'b') => Some(Look::WordAscii),
            Some(b'B') => Some(Look::WordAsciiNegate),
            Some(b'C') => return fault(BAD_ESCAPE, from.get(..2).unwrap_or(from)),
            Some(b'Q') => {
                let body = after(from, 2);
                let (quoted, rest) = body.split_once("\\E").unwrap_or((body, ""));
                quoted.chars().for_each(|c| self.literal(c));
                return Ok(rest);
            }
            _ => None,
        };
        if let Some(look) = look {
            self.look(look);
            return Ok(after(from, 2));
        }
        if let Some((ranges, rest)) = self.named_set(from)? {
            self.push(class::hir(ranges));
            return Ok(rest);
        }
        let (code, rest) = escape(from)?;
        match char::from_u32(code) {
            Some(c) => self.literal(c),
            None => self.push(Hir::fail()),
        }
        Ok(rest)
    }

    fn signed(&self, ranges: &[(u32, u32)], negated: bool) -> Ranges {
        let ranges = if self.flags.fold { class::fold(ranges) } else { ranges.to_vec() };
        if negated { class::negate(ranges) } else { ranges }
    }

    /// `\d`, `\pL`, `\P{Greek}` and their like at the start of the text.
    fn named_set(&self, from: &'a str) -> Result<Option<(Ranges, &'a str)>, ParseError> {
        let bytes = from.as_bytes();
        if bytes.first() != Some(&b'\\') {
            return Ok(None);
        }
        let Some(letter) = bytes.get(1) else { return Ok(None) };
        if let Some((ranges, negated)) = class::perl(*letter) {
            return Ok(Some((self.signed(&ranges, negated), after(from, 2))));
        }
        if !matches!(letter, b'p' | b'P') {
            return Ok(None);
        }
        let mut negated = *letter == b'P';
        let (name, seen) = match after(from, 2).chars().next() {
            None => ("", 2),
            Some('{') => match from.find('}') {
                None => return fault(BAD_RANGE, from),
                Some(end) => (from.get(3..end).unwrap_or_default(), end + 1),
            },
            Some(c) => (from.get(2..2 + c.len_utf8()).unwrap_or_default(), 2 + c.len_utf8()),
        };
        let name = match name.strip_prefix('^') {
            Some(name) => {
                negated = !negated;
                name
            }
            None => name,
        };
        let Some(table) = class::unicode(name) else { return fault(BAD_RANGE, from.get(..seen).unwrap_or(from)) };
        Ok(Some((self.signed(&table, negated), after(from, seen))))
    }

    fn class(&mut self, from: &'a str) -> Result<&'a str, ParseError> {
        let mut rest = after(from, 1);
        let negated = rest.starts_with('^');
        rest = after(rest, usize::from(negated));
        let mut ranges: Ranges = Vec::new();
        let mut first = true;
        while first || !rest.starts_with(']') {
            first = false;
            if rest.len() > 2
                && rest.starts_with("[:")
                && let Some(end) = after(rest, 2).find(":]")
            {
                let name = after(rest, 2).get(..end).unwrap_or_default();
                let seen = end + 4;
                let Some((set, not)) = class::posix(name) else {
                    return fault(BAD_RANGE, rest.get(..seen).unwrap_or(rest));
                };
                ranges.extend(self.signed(&set, not));
                rest = after(rest, seen);
                continue;
            }
            if let Some((set, tail)) = self.named_set(rest)? {
                ranges.extend(set);
                rest = tail;
                continue;
            }
            let start = rest;
            let (lo, tail) = class_char(rest, from)?;
            rest = tail;
            let mut hi = lo;
            if rest.len() >= 2 && rest.starts_with('-') && !rest.starts_with("-]") {
                (hi, rest) = class_char(after(rest, 1), from)?;
                if hi < lo {
                    return fault(BAD_RANGE, upto(start, rest));
                }
            }
            if self.flags.fold {
                ranges.extend(class::fold(&[(lo, hi)]));
            } else {
                ranges.push((lo, hi));
            }
        }
        self.push(class::hir(if negated { class::negate(ranges) } else { ranges }));
        Ok(after(rest, 1))
    }
}

fn class_char<'a>(text: &'a str, whole: &str) -> Result<(u32, &'a str), ParseError> {
    match text.chars().next() {
        None => fault("missing closing ]", whole),
        Some('\\') => escape(text),
        Some(c) => Ok((c.into(), after(text, c.len_utf8()))),
    }
}

/// Reads an escape that stands for one character.
fn escape(from: &str) -> Result<(u32, &str), ParseError> {
    let mut rest = after(from, 1);
    let mut next = || {
        let c = rest.chars().next();
        if let Some(c) = c {
            rest = after(rest, c.len_utf8());
        }
        c
    };
    let Some(c) = next() else { return fault("trailing backslash at end of expression", "") };
    let code = match c {
        'a' => Some(7),
        'f' => Some(12),
        'n' => Some(10),
        'r' => Some(13),
        't' => Some(9),
        'v' => Some(11),
        '0'..='7' => {
            let digits = rest.bytes().take(2).take_while(|b| (b'0'..=b'7').contains(b)).count();
            // `\1` to `\7` alone would be back references.
            if c != '0' && digits == 0 {
                None
            } else {
                let more = rest.bytes().take(digits).fold(c as u32 - 48, |n, b| n * 8 + u32::from(b - b'0'));
                rest = after(rest, digits);
                Some(more)
            }
        }
        'x' => match next() {
            None => None,
            Some('{') => {
                let mut code = 0;
                let mut digits = 0;
                loop {
                    match next() {
                        Some('}') => break (digits > 0).then_some(code),
                        Some(c) => match c.to_digit(16) {
                            Some(digit) => {
                                code = code * 16 + digit;
                                digits += 1;
                                if code > 0x10ffff {
                                    break None;
                                }
                            }
                            None => break None,
                        },
                        None => break None,
                    }
                }
            }
            Some(high) => match next() {
                None => None,
                Some(low) => high.to_digit(16).zip(low.to_digit(16)).map(|(h, l)| h * 16 + l),
            },
        },
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => Some(c.into()),
        _ => None,
    };
    match code {
        Some(code) => Ok((code, rest)),
        None => fault(BAD_ESCAPE, upto(from, rest)),
    }
}

/// Reads `{n}`, `{n,}` or `{n,m}`; anything else is a literal brace. Numbers too long are above every limit.
fn counts(text: &str) -> Option<(u32, Option<u32>, &str)> {
    let (min, rest) = integer(after(text, 1))?;
    if let Some(rest) = rest.strip_prefix('}') {
        return Some((min, Some(min), rest));
    }
    let rest = rest.strip_prefix(',')?;
    if let Some(rest) = rest.strip_prefix('}') {
        return Some((min, None, rest));
    }
    let (max, rest) = integer(rest)?;
    Some((min, Some(max), rest.strip_prefix('}')?))
}

fn integer(text: &str) -> Option<(u32, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number = text.get(..digits)?;
    if number.is_empty() || (number.len() > 1 && number.starts_with('0')) {
        return None;
    }
    Some((number.parse().unwrap_or(u32::MAX), after(text, digits)))
}
