//! Characters and tokens of TOML.

use super::{Read, Wrong};
use crate::codec::goquote::{quote, quote_char};
use crate::codec::json::utf8_width;

/// What a value begins with, or is.
pub(super) enum Token {
    /// `[`
    Array,
    /// `{`
    Table,
    Text(String),
    Bool(bool),
    Integer(String),
    Float(String),
    Time(String),
}

/// The text, and how far it was read.
pub(super) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Bytes of the character read last; 0 at the end of the text.
    width: usize,
    /// As the library before H-29 has it.
    old: bool,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(bytes: &'a [u8], old: bool) -> Self {
        Scanner { bytes, at: 0, width: 1, old }
    }

    /// How far the text was read.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The line of a place, from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        self.bytes[..at.min(self.bytes.len())].iter().filter(|b| **b == b'\n').count() + 1
    }

    /// The next character; none at the end of the text.
    pub(super) fn next(&mut self) -> Read<Option<char>> {
        let rest = &self.bytes[self.at..];
        let Some(&first) = rest.first() else {
            self.width = 0;
            return Ok(None);
        };
        let text = utf8_width(rest).and_then(|width| std::str::from_utf8(&rest[..width]).ok());
        let wrong = |text| Err(Wrong { line: self.line(self.at), text });
        let Some(c) = text.and_then(|text| text.chars().next()) else {
            return wrong(format!("invalid UTF-8 byte: 0x{first:02x}"));
        };
        let alone = c == '\r' && rest.get(1) != Some(&b'\n');
        if alone || (c.is_ascii_control() && !matches!(c, '\t' | '\r' | '\n')) {
            return wrong(format!("TOML files cannot contain control characters: '0x{:02x}'", c as u32));
        }
        self.width = c.len_utf8();
        self.at += self.width;
        Ok(Some(c))
    }

    /// Unreads the character read last.
    pub(super) fn back(&mut self) {
        self.at -= self.width;
        self.width = 1;
    }

    /// The next character, unread.
    pub(super) fn peek(&mut self) -> Read<Option<char>> {
        let c = self.next()?;
        self.back();
        Ok(c)
    }

    fn accept(&mut self, wanted: char) -> Read<bool> {
        let found = self.next()? == Some(wanted);
        if !found {
            self.back();
        }
        Ok(found)
    }

    pub(super) fn blanks(&mut self) -> Read<()> {
        while matches!(self.next()?, Some(' ' | '\t')) {}
        self.back();
        Ok(())
    }

    /// The next character that is neither white space nor in a comment.
    pub(super) fn next_word(&mut self) -> Read<Option<char>> {
        loop {
            match self.next()? {
                Some(' ' | '\t' | '\n' | '\r') => {}
                Some('#') => self.comment()?,
                other => return Ok(other),
            }
        }
    }

    /// A mistake at the character read last. At the end of the text it is told for the line before.
    pub(super) fn fail<T>(&self, text: impl Into<String>) -> Read<T> {
        let mut line = self.line(self.at);
        let after_break = self.at > 0 && self.bytes.get(self.at - 1) == Some(&b'\n');
        if self.width == 0 && (self.old || after_break) {
            line -= 1;
        }
        Err(Wrong { line, text: text.into() })
    }

    /// A mistake that is told for the line before.
    pub(super) fn fail_before<T>(&self, text: impl Into<String>) -> Read<T> {
        Err(Wrong { line: self.line(self.at) - 1, text: text.into() })
    }

    /// A mistake at a character; a line break is told for the line that it ends, from H-29.
    pub(super) fn fail_at_break<T>(&self, c: char, text: String) -> Read<T> {
        if c == '\n' && !self.old { self.fail_before(text) } else { self.fail(text) }
    }

    /// The rest of a comment.
    pub(super) fn comment(&mut self) -> Read<()> {
        while !matches!(self.next()?, None | Some('\n' | '\r')) {}
        self.back();
        Ok(())
    }

    /// The characters that a key may have without quotes, as many as there are.
    pub(super) fn bare(&mut self) -> Read<String> {
        let start = self.at;
        while matches!(self.next()?, Some(c) if c.is_ascii_alphanumeric() || c == '_' || c == '-') {}
        self.back();
        Ok(self.since(start))
    }

    fn since(&self, start: usize) -> String {
        String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned()
    }

    /// A string behind its quote.
    pub(super) fn string(&mut self) -> Read<String> {
        let start = self.at;
        let mut out = String::new();
        let mut wrong = None;
        loop {
            match self.next()? {
                None => return self.fail("unexpected EOF; expected '\"'"),
                Some('\n' | '\r') => return self.fail_before("strings cannot contain newlines"),
                Some('"') => return self.whole(out, wrong),
                Some('\\') => self.escape(start, &mut out, &mut wrong)?,
                Some(c) => out.push(c),
            }
        }
    }

    fn whole(&self, out: String, wrong: Option<String>) -> Read<String> {
        match wrong {
            Some(text) => Err(Wrong { line: self.line(self.at), text }),
            None => Ok(out),
        }
    }

    /// What stands behind a backslash. What is wrong with the character it means is told when the string is whole.
    fn escape(&mut self, start: usize, out: &mut String, wrong: &mut Option<String>) -> Read<()> {
        let meant = match self.next()? {
            Some('b') => '\u{8}',
            Some('t') => '\t',
            Some('n') => '\n',
            Some('f') => '\u{c}',
            Some('r') => '\r',
            Some(c @ ('"' | '\\')) => c,
            Some('e') if !self.old => '\u{1b}',
            Some(c @ (' ' | '\t')) => {
                wrong.get_or_insert_with(|| format!("invalid escape: '\\{c}'"));
                return Ok(());
            }
            Some('x') if !self.old => return self.code(start, (2, 'x', "two"), out, wrong),
            Some('u') => return self.code(start, (4, 'u', "four"), out, wrong),
            Some('U') => return self.code(start, (8, 'U', "eight"), out, wrong),
            Some(c) => return self.fail(format!("invalid escape in string '\\{c}'")),
            None => return self.fail_before("invalid escape in string '\\\0'"),
        };
        out.push(meant);
        Ok(())
    }

    /// The digits of a character's code.
    fn code(
        &mut self,
        start: usize,
        (digits, letter, count): (usize, char, &str),
        out: &mut String,
        wrong: &mut Option<String>,
    ) -> Read<()> {
        let from = self.at;
        for _ in 0..digits {
            if !self.next()?.is_some_and(|c| c.is_ascii_hexdigit()) {
                let shown = quote(self.since(start).as_bytes());
                let text = format!("expected {count} hexadecimal digits after '\\{letter}', but got {shown} instead");
                return self.fail(text);
            }
        }
        let hex = self.since(from);
        match u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32) {
            Some(c) => out.push(c),
            None => {
                wrong.get_or_insert_with(|| format!("Escaped character '\\u{hex}' is not valid UTF-8."));
            }
        }
        Ok(())
    }

    /// A string in single quotes, behind the first.
    pub(super) fn raw_string(&mut self) -> Read<String> {
        let start = self.at;
        loop {
            match self.next()? {
                None => return self.fail("unexpected EOF; expected \"'\""),
                Some('\n' | '\r') => return self.fail_before("strings cannot contain newlines"),
                Some('\'') => return Ok(String::from_utf8_lossy(&self.bytes[start..self.at - 1]).into_owned()),
                Some(_) => {}
            }
        }
    }

    /// A string between three quotes each, behind the first three.
    fn long_string(&mut self) -> Read<String> {
        let start = self.at;
        let mut out = String::new();
        let mut wrong = None;
        self.first_break()?;
        loop {
            match self.next()? {
                None => return self.fail("unexpected EOF; expected '\"\"\"'"),
                Some('"') => {
                    if self.closes(start, '"', &mut out)? {
                        return self.whole(out, wrong);
                    }
                }
                Some('\\') => {
                    if !self.line_escape()? {
                        self.escape(start, &mut out, &mut wrong)?;
                    }
                }
                Some(c) => out.push(c),
            }
        }
    }

    /// Whether a backslash stands before white space with a line break in it: that is skipped then.
    fn line_escape(&mut self) -> Read<bool> {
        let rest = &self.bytes[self.at..];
        let blank = rest.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n')).count();
        let skips = rest[..blank].contains(&b'\n');
        if skips {
            let end = self.at + blank;
            while self.at < end {
                self.next()?;
            }
        }
        Ok(skips)
    }

    fn long_raw_string(&mut self) -> Read<String> {
        let start = self.at;
        let mut out = String::new();
        self.first_break()?;
        loop {
            match self.next()? {
                None => return self.fail("unexpected EOF; expected \"'''\""),
                Some('\'') => {
                    if self.closes(start, '\'', &mut out)? {
                        return Ok(out);
                    }
                }
                Some(c) => out.push(c),
            }
        }
    }

    /// A line break right behind the quotes is not part of the string.
    fn first_break(&mut self) -> Read<()> {
        let skips = match &self.bytes[self.at..] {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => 0,
        };
        self.skip(skips)?;
        Ok(())
    }

    /// Whether the quotes from the one read last on close the string: the last three of up to five do.
    fn closes(&mut self, start: usize, quote: char, out: &mut String) -> Read<bool> {
        let more = self.bytes[self.at..].iter().take_while(|b| **b == quote as u8).count();
        if more < 2 {
            out.push(quote);
            return Ok(false);
        }
        let escaped = quote == '"' && self.at >= start + 2 && self.bytes[self.at - 2] == b'\\';
        if more >= 5 && !escaped {
            self.skip(5)?;
            let around = if quote == '"' { '\'' } else { '"' };
            return self.fail(format!("unexpected {around}{}{around}", quote.to_string().repeat(6)));
        }
        self.skip(more.min(4))?;
        out.extend(std::iter::repeat_n(quote, more.min(4) - 2));
        Ok(true)
    }

    /// A value, or what it begins with.
    pub(super) fn value(&mut self) -> Read<Token> {
        self.blanks()?;
        let start = self.at;
        match self.next()? {
            Some(c) if c.is_ascii_digit() => self.number_or_time(start, c),
            Some('[') => Ok(Token::Array),
            Some('{') => Ok(Token::Table),
            Some('"') => {
                let long = self.bytes[self.at..].starts_with(b"\"\"");
                Ok(Token::Text(if long { self.skip(2)?.long_string()? } else { self.string()? }))
            }
            Some('\'') => {
                let long = self.bytes[self.at..].starts_with(b"''");
                Ok(Token::Text(if long { self.skip(2)?.long_raw_string()? } else { self.raw_string()? }))
            }
            Some('.') => self.fail("floats must start with a digit, not '.'"),
            Some('-' | '+') => self.signed(start),
            Some('i' | 'n') => {
                if self.accept('n')? && self.accept('f')? || self.accept('a')? && self.accept('n')? {
                    return Ok(Token::Float(self.since(start)));
                }
                // What was taken for the beginning stays taken, but for its last letter.
                self.at -= 1;
                self.word()
            }
            Some(c) if c.is_alphabetic() => {
                self.back();
                self.word()
            }
            None => self.fail("unexpected EOF; expected value"),
            Some(c) => self.fail_at_break(c, format!("expected value but found {} instead", quote_char(c))),
        }
    }

    fn skip(&mut self, count: usize) -> Read<&mut Self> {
        for _ in 0..count {
            self.next()?;
        }
        Ok(self)
    }

    fn word(&mut self) -> Read<Token> {
        let start = self.at;
        while self.next()?.is_some_and(char::is_alphabetic) {}
        self.back();
        match self.since(start).as_str() {
            "true" => Ok(Token::Bool(true)),
            "false" => Ok(Token::Bool(false)),
            word => self.fail(format!("expected value but found {} instead", quote(word.as_bytes()))),
        }
    }

    /// A number behind its sign.
    fn signed(&mut self, start: usize) -> Read<Token> {
        let c = self.next()?;
        match c {
            Some('i' | 'n') => {
                let [second, third] = if c == Some('i') { ['n', 'f'] } else { ['a', 'n'] };
                if self.accept(second)? && self.accept(third)? {
                    return Ok(Token::Float(self.since(start)));
                }
                self.fail(format!("invalid float: '{}'", self.since(start)))
            }
            Some('0') if matches!(self.peek()?, Some('b' | 'o' | 'x')) => {
                let base = self.peek()?.unwrap_or_default();
                self.fail(format!("cannot use sign with non-decimal numbers: '{}{base}'", self.since(start)))
            }
            Some('.') => self.fail("floats must start with a digit, not '.'"),
            Some(c) if c.is_ascii_digit() => self.decimal(start),
            c => self.fail(format!("expected a digit but got {}", quote_char(c.unwrap_or('\0')))),
        }
    }

    fn number_or_time(&mut self, start: usize, first: char) -> Read<Token> {
        if first == '0' {
            match self.next()? {
                Some(c) if c.is_ascii_digit() => {}
                Some('_') => return self.decimal(start),
                Some('.' | 'e' | 'E') => return self.float(start),
                Some(base @ ('b' | 'o' | 'x')) => return self.based(start, base),
                _ => return self.integer(start),
            }
        }
        loop {
            match self.next()? {
                Some(c) if c.is_ascii_digit() => {}
                Some('-' | ':') => {
                    let part = |c: char| c.is_ascii_digit() || "-:Tt .Zz+".contains(c);
                    while self.next()?.is_some_and(part) {}
                    self.back();
                    return Ok(Token::Time(self.since(start).trim().to_owned()));
                }
                Some('_') => return self.decimal(start),
                Some('.' | 'e' | 'E') => return self.float(start),
                _ => return self.integer(start),
            }
        }
    }

    /// The character read last does not belong to the number.
    fn integer(&mut self, start: usize) -> Read<Token> {
        self.back();
        Ok(Token::Integer(self.since(start)))
    }

    fn based(&mut self, start: usize, base: char) -> Read<Token> {
        let (radix, name) = match base {
            'b' => (2, "a binary"),
            'o' => (8, "an octal"),
            // As the library spelled it then.
            _ if self.old => (16, "a hexidecimal"),
            _ => (16, "a hexadecimal"),
        };
        let next = self.peek()?;
        if !next.is_some_and(|c| c.is_digit(radix)) {
            let shown = next.unwrap_or('\0');
            return self.fail(format!("not {name} number: '{}{shown}'", self.since(start)));
        }
        while self.next()?.is_some_and(|c| c.is_digit(radix) || c == '_') {}
        self.integer(start)
    }

    fn decimal(&mut self, start: usize) -> Read<Token> {
        loop {
            match self.next()? {
                Some(c) if c.is_ascii_digit() || c == '_' => {}
                Some('.' | 'e' | 'E') => return self.float(start),
                _ => return self.integer(start),
            }
        }
    }

    fn float(&mut self, start: usize) -> Read<Token> {
        while self.next()?.is_some_and(|c| c.is_ascii_digit() || "_.-+eE".contains(c)) {}
        self.back();
        Ok(Token::Float(self.since(start)))
    }
}
