//! Tokens of Go's template language.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Error,
    Eof,
    Text,
    LeftDelim,
    RightDelim,
    Space,
    Assign,
    Declare,
    Pipe,
    LeftParen,
    RightParen,
    Char,
    CharConstant,
    Number,
    Complex,
    Str,
    RawStr,
    Bool,
    Field,
    Variable,
    Identifier,
    Dot,
    Nil,
    Block,
    Break,
    Continue,
    Define,
    Else,
    End,
    If,
    Range,
    Template,
    With,
}

impl Kind {
    /// Whether errors show it as `<word>`.
    fn is_keyword(self) -> bool {
        use Kind::*;
        matches!(self, Dot | Nil | Block | Break | Continue | Define | Else | End | If | Range | Template | With)
    }
}

/// A token with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where it starts.
    pub pos: u32,
    /// Line on which it starts, from 1.
    pub line: u32,
    /// Its text; the message of an error.
    pub text: Vec<u8>,
}

impl Token {
    /// The text as a string; invalid UTF-8 is replaced.
    pub fn str(&self) -> String {
        String::from_utf8_lossy(&self.text).into_owned()
    }

    /// As Go's parser names a token in errors.
    pub fn describe(&self) -> String {
        let text = self.str();
        match self.kind {
            Kind::Eof => "EOF".into(),
            Kind::Error => text,
            kind if kind.is_keyword() => format!("<{text}>"),
            _ if text.len() > 10 => {
                let cut: String = text.chars().take(10).collect();
                format!("{}...", quote(&cut))
            }
            _ => quote(&text),
        }
    }
}

/// `%q` for what error texts hold.
pub(super) fn quote(text: &str) -> String {
    crate::codec::goquote::quote(text.as_bytes())
}

/// Turns a source into tokens, one at a time.
pub struct Lexer<'a> {
    input: &'a [u8],
    pos: usize,
    line: u32,
    parens: u32,
    state: State,
    comment_lines: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Text,
    Left,
    Inside,
    Done,
}

const SPACES: &[u8] = b" \t\r\n";

impl<'a> Lexer<'a> {
    /// A lexer at the start of the source; `comment_lines` tells whether lines inside of comments count.
    pub fn new(input: &'a [u8], comment_lines: bool) -> Self {
        Lexer { input, pos: 0, line: 1, parens: 0, state: State::Text, comment_lines }
    }

    /// The next token; after the end or an error, `Eof` for ever.
    pub fn token(&mut self) -> Token {
        loop {
            let found = match self.state {
                State::Text => self.text(),
                State::Left => self.left(),
                State::Inside => Some(self.inside()),
                State::Done => Some(self.make(Kind::Eof, self.pos)),
            };
            if let Some(token) = found {
                return token;
            }
        }
    }

    fn rest(&self) -> &'a [u8] {
        self.input.get(self.pos..).unwrap_or_default()
    }

    /// The token from `start` to the current position; counts its lines.
    fn make(&mut self, kind: Kind, start: usize) -> Token {
        let text = self.input.get(start..self.pos).unwrap_or_default().to_vec();
        let line = self.line;
        self.line += newlines(&text);
        Token { kind, pos: start as u32, line, text }
    }

    fn error(&mut self, start: usize, message: String) -> Token {
        // Go reports the line on which the token it was reading starts.
        self.state = State::Done;
        let line = self.line;
        Token { kind: Kind::Error, pos: start as u32, line, text: message.into_bytes() }
    }

    fn text(&mut self) -> Option<Token> {
        let rest = self.rest();
        let Some(at) = find(rest, b"{{") else {
            let start = self.pos;
            self.pos = self.input.len();
            self.state = State::Done;
            return (start < self.pos).then(|| self.make(Kind::Text, start));
        };
        self.state = State::Left;
        let start = self.pos;
        let trims = rest.get(at + 2) == Some(&b'-') && rest.get(at + 3).is_some_and(|b| SPACES.contains(b));
        let kept = if trims { rest[..at].iter().rposition(|b| !SPACES.contains(b)).map_or(0, |i| i + 1) } else { at };
        self.pos = start + kept;
        let token = (kept > 0).then(|| self.make(Kind::Text, start));
        self.line += newlines(&rest[kept..at]);
        self.pos = start + at;
        token
    }

    fn left(&mut self) -> Option<Token> {
        let start = self.pos;
        let rest = self.rest();
        let trims = rest.get(2) == Some(&b'-') && rest.get(3).is_some_and(|b| SPACES.contains(b));
        let after = 2 + if trims { 2 } else { 0 };
        if rest[after.min(rest.len())..].starts_with(b"/*") {
            return self.comment(start + after);
        }
        self.pos += 2;
        let token = self.make(Kind::LeftDelim, start);
        if trims {
            self.line += newlines(&self.input[self.pos..self.pos + 2]);
            self.pos += 2;
        }
        self.state = State::Inside;
        self.parens = 0;
        Some(token)
    }

    fn comment(&mut self, start: usize) -> Option<Token> {
        self.pos = start;
        let Some(end) = find(self.rest(), b"*/") else {
            return Some(self.error(start, "unclosed comment".into()));
        };
        self.pos = start + end + 2;
        let (closes, trims) = self.at_right_delim();
        if !closes {
            return Some(self.error(start, "comment ends before closing delimiter".into()));
        }
        if self.comment_lines {
            self.line += newlines(&self.input[start..self.pos]);
        }
        if trims {
            self.line += newlines(&self.input[self.pos..self.pos + 2]);
            self.pos += 2;
        }
        self.pos += 2;
        if trims {
            self.trim_left();
        }
        self.state = State::Text;
        None
    }

    fn trim_left(&mut self) {
        let rest = self.rest();
        let n = rest.iter().position(|b| !SPACES.contains(b)).unwrap_or(rest.len());
        self.line += newlines(&rest[..n]);
        self.pos += n;
    }

    /// Whether the action ends here, and whether it trims what follows.
    fn at_right_delim(&self) -> (bool, bool) {
        let rest = self.rest();
        if rest.first().is_some_and(|b| SPACES.contains(b)) && rest[1..].starts_with(b"-}}") {
            return (true, true);
        }
        (rest.starts_with(b"}}"), false)
    }

    fn right(&mut self, trims: bool) -> Token {
        if trims {
            self.line += newlines(&self.input[self.pos..self.pos + 2]);
            self.pos += 2;
        }
        let start = self.pos;
        self.pos += 2;
        let token = self.make(Kind::RightDelim, start);
        if trims {
            self.trim_left();
        }
        self.state = State::Text;
        token
    }

    fn inside(&mut self) -> Token {
        let (closes, trims) = self.at_right_delim();
        if closes {
            if self.parens > 0 {
                return self.error(self.pos, "unclosed left paren".into());
            }
            return self.right(trims);
        }
        let start = self.pos;
        let Some((c, size)) = rune(self.rest()) else {
            return self.error(start, "unclosed action".into());
        };
        self.pos += size;
        match c {
            ' ' | '\t' | '\r' | '\n' => {
                while self.rest().first().is_some_and(|b| SPACES.contains(b)) && !self.at_right_delim().1 {
                    self.pos += 1;
                }
                self.make(Kind::Space, start)
            }
            '=' => self.make(Kind::Assign, start),
            ':' => {
                if self.rest().first() != Some(&b'=') {
                    return self.error(start, "expected :=".into());
                }
                self.pos += 1;
                self.make(Kind::Declare, start)
            }
            '|' => self.make(Kind::Pipe, start),
            '"' => self.quoted(start, b'"', Kind::Str, "unterminated quoted string"),
            '\'' => self.quoted(start, b'\'', Kind::CharConstant, "unterminated character constant"),
            '`' => match self.rest().iter().position(|b| *b == b'`') {
                Some(n) => {
                    self.pos += n + 1;
                    self.make(Kind::RawStr, start)
                }
                None => self.error(start, "unterminated raw quoted string".into()),
            },
            '$' => self.name(start, Kind::Variable),
            '.' if !self.rest().first().is_some_and(u8::is_ascii_digit) => self.name(start, Kind::Field),
            '.' | '+' | '-' | '0'..='9' => {
                self.pos = start;
                self.number()
            }
            '(' => {
                self.parens += 1;
                self.make(Kind::LeftParen, start)
            }
            ')' => {
                if self.parens == 0 {
                    return self.error(start, "unexpected right paren".into());
                }
                self.parens -= 1;
                self.make(Kind::RightParen, start)
            }
            c if is_alphanumeric(c) => self.identifier(start),
            c if c.is_ascii() && !c.is_ascii_control() => self.make(Kind::Char, start),
            c => self.error(start, format!("unrecognized character in action: {}", code_point(c))),
        }
    }

    fn quoted(&mut self, start: usize, end: u8, kind: Kind, message: &str) -> Token {
        loop {
            let Some(&b) = self.rest().first() else { return self.error(start, message.into()) };
            self.pos += 1;
            match b {
                b'\\' if self.rest().first().is_some_and(|b| *b != b'\n') => self.pos += 1,
                b'\\' | b'\n' => return self.error(start, message.into()),
                b if b == end => return self.make(kind, start),
                _ => {}
            }
        }
    }

    /// `.name` or `$name`; alone they are the dot and the root variable.
    fn name(&mut self, start: usize, kind: Kind) -> Token {
        if self.at_terminator() {
            return self.make(if kind == Kind::Variable { kind } else { Kind::Dot }, start);
        }
        while let Some((c, size)) = rune(self.rest()).filter(|(c, _)| is_alphanumeric(*c)) {
            let _ = c;
            self.pos += size;
        }
        if !self.at_terminator() {
            return self.bad_character(start);
        }
        self.make(kind, start)
    }

    fn bad_character(&mut self, start: usize) -> Token {
        let c = rune(self.rest()).map_or('\u{FFFD}', |(c, _)| c);
        self.error(start, format!("bad character {}", code_point(c)))
    }

    fn identifier(&mut self, start: usize) -> Token {
        while let Some((_, size)) = rune(self.rest()).filter(|(c, _)| is_alphanumeric(*c)) {
            self.pos += size;
        }
        if !self.at_terminator() {
            return self.bad_character(start);
        }
        let kind = match &self.input[start..self.pos] {
            b"block" => Kind::Block,
            b"break" => Kind::Break,
            b"continue" => Kind::Continue,
            b"define" => Kind::Define,
            b"else" => Kind::Else,
            b"end" => Kind::End,
            b"if" => Kind::If,
            b"range" => Kind::Range,
            b"nil" => Kind::Nil,
            b"template" => Kind::Template,
            b"with" => Kind::With,
            b"true" | b"false" => Kind::Bool,
            _ => Kind::Identifier,
        };
        self.make(kind, start)
    }

    fn at_terminator(&self) -> bool {
        match self.rest().first() {
            None => true,
            Some(b) if SPACES.contains(b) || b".,|:()".contains(b) => true,
            _ => self.rest().starts_with(b"}}"),
        }
    }

    fn number(&mut self) -> Token {
        let start = self.pos;
        if !self.scan_number() {
            return self.error(
                start,
                format!("bad number syntax: {}", quote(&String::from_utf8_lossy(&self.input[start..self.pos]))),
            );
        }
        if self.rest().first().is_some_and(|b| b"+-".contains(b)) {
            if !self.scan_number() || self.input.get(self.pos - 1) != Some(&b'i') {
                let text = String::from_utf8_lossy(&self.input[start..self.pos]).into_owned();
                return self.error(start, format!("bad number syntax: {}", quote(&text)));
            }
            return self.make(Kind::Complex, start);
        }
        self.make(Kind::Number, start)
    }

    fn accept(&mut self, set: &[u8]) -> bool {
        let yes = self.rest().first().is_some_and(|b| set.contains(b));
        self.pos += usize::from(yes);
        yes
    }

    fn scan_number(&mut self) -> bool {
        self.accept(b"+-");
        let mut digits: &[u8] = b"0123456789_";
        if self.accept(b"0") {
            if self.accept(b"xX") {
                digits = b"0123456789abcdefABCDEF_";
            } else if self.accept(b"oO") {
                digits = b"01234567_";
            } else if self.accept(b"bB") {
                digits = b"01_";
            }
        }
        while self.accept(digits) {}
        if self.accept(b".") {
            while self.accept(digits) {}
        }
        let exponent: &[u8] = if digits.len() == 11 {
            b"eE"
        } else if digits.len() == 23 {
            b"pP"
        } else {
            b""
        };
        if self.accept(exponent) {
            self.accept(b"+-");
            while self.accept(b"0123456789_") {}
        }
        self.accept(b"i");
        if let Some((c, size)) = rune(self.rest()).filter(|(c, _)| is_alphanumeric(*c)) {
            let _ = c;
            self.pos += size;
            return false;
        }
        true
    }
}

fn newlines(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|b| **b == b'\n').count() as u32
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|w| w == needle)
}

fn is_alphanumeric(c: char) -> bool {
    c == '_' || c.is_alphabetic() || c.is_numeric()
}

/// The first character and its length; an invalid byte is U+FFFD of length 1.
pub(super) fn rune(bytes: &[u8]) -> Option<(char, usize)> {
    let first = *bytes.first()?;
    if first < 0x80 {
        return Some((char::from(first), 1));
    }
    let window = &bytes[..bytes.len().min(4)];
    let valid = match std::str::from_utf8(window) {
        Ok(text) => text,
        Err(e) => std::str::from_utf8(&window[..e.valid_up_to()]).unwrap_or_default(),
    };
    Some(valid.chars().next().map_or(('\u{FFFD}', 1), |c| (c, c.len_utf8())))
}

/// `U+0040 '@'`
fn code_point(c: char) -> String {
    let shown = if c.is_control() { String::new() } else { format!(" '{c}'") };
    format!("U+{:04X}{shown}", c as u32)
}
