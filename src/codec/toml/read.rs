//! The TOML reader: the text in one pass, with what Helm's library checks where it checks it, so that of several
//! mistakes the same one is told, in its words (H-29).

mod scan;
mod tables;

use crate::base::version::{HelmVersion, Quirk};
use crate::codec::goquote::{quote, quote_char};
use crate::value::{MAX_DEPTH, Text, Value};
use scan::{Scanner, Token};
use tables::{Node, Tables};

/// Makes the value of a time, from its RFC 3339 text and the name of the zone of one that names none.
pub type Moment<'a> = &'a dyn Fn(&str, Option<&'static str>) -> Value;

/// Reads a document as `fromToml` does: integers are `int64`; times are what `moment` makes of them.
///
/// # Errors
/// The library's text, e.g. `toml: line 1 (last key "a"): …` (H-29).
pub fn parse(bytes: &[u8], helm: HelmVersion, moment: Moment<'_>) -> Result<Value, String> {
    let bytes = match bytes {
        [0xff, 0xfe, rest @ ..] | [0xfe, 0xff, rest @ ..] | [0xef, 0xbb, 0xbf, rest @ ..] => rest,
        _ => bytes,
    };
    if bytes.iter().take(6).any(|b| *b == 0) {
        let text = "files cannot contain NULL bytes; probably using UTF-16; TOML files must be UTF-8";
        return Err(format!("toml: line 1: {text}"));
    }
    let old = !helm.has(Quirk::TomlExponents);
    let mut reader =
        Reader { scanner: Scanner::new(bytes, old), tables: Tables::new(old), moment, key_at: 0, depth: 0 };
    match reader.document() {
        Ok(()) => Ok(reader.tables.into_value()),
        Err(wrong) => Err(reader.told(&wrong)),
    }
}

/// A mistake: the line it is told for, and the text.
struct Wrong {
    line: usize,
    text: String,
}

type Read<T> = Result<T, Wrong>;

struct Reader<'a> {
    scanner: Scanner<'a>,
    tables: Tables,
    moment: Moment<'a>,
    /// Where the first part of the last key ends.
    key_at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn told(&self, wrong: &Wrong) -> String {
        let key = self.tables.last_key();
        let place = if key.is_empty() { String::new() } else { format!(" (last key {})", quote(key.as_bytes())) };
        format!("toml: line {}{place}: {}", wrong.line, wrong.text)
    }

    /// A mistake of the value that was just read.
    fn here<T>(&self, text: impl Into<String>) -> Read<T> {
        Err(Wrong { line: self.scanner.line(self.scanner.at()), text: text.into() })
    }

    /// What the tables say of a key is told for the line of the key.
    fn at_key<T>(&self, result: Result<T, String>) -> Read<T> {
        result.map_err(|text| Wrong { line: self.scanner.line(self.key_at), text })
    }

    fn document(&mut self) -> Read<()> {
        loop {
            match self.scanner.next_word()? {
                Some('[') => self.header()?,
                None => return Ok(()),
                Some(_) => {
                    self.scanner.back();
                    self.pair(true)?;
                }
            }
            self.line_end()?;
        }
    }

    fn line_end(&mut self) -> Read<()> {
        loop {
            match self.scanner.next()? {
                Some(' ' | '\t') => {}
                Some('#') => return self.scanner.comment(),
                None | Some('\n' | '\r') => return Ok(()),
                Some(c) => {
                    let text = "expected a top-level item to end with a newline, comment, or EOF, but got";
                    return self.scanner.fail(format!("{text} {} instead", quote_char(c)));
                }
            }
        }
    }

    /// `[a.b]` or `[[a.b]]`, behind the first bracket.
    fn header(&mut self) -> Read<()> {
        let array = self.scanner.peek()? == Some('[');
        if array {
            self.scanner.next()?;
        }
        let mut path = Vec::new();
        loop {
            self.scanner.blanks()?;
            match self.scanner.peek()? {
                Some(']') | None => {
                    return self.scanner.fail("unexpected end of table name (table names cannot be empty)");
                }
                Some('.') => return self.scanner.fail("unexpected table separator (table names cannot be empty)"),
                _ => path.push(self.name(path.is_empty())?),
            }
            self.limit(path.len())?;
            self.scanner.blanks()?;
            match self.scanner.next()? {
                Some('.') => {}
                Some(']') => break,
                c => {
                    let shown = quote_char(c.unwrap_or('\0'));
                    return self
                        .scanner
                        .fail(format!("expected '.' or ']' to end table name, but got {shown} instead"));
                }
            }
        }
        if array {
            let c = self.scanner.next()?;
            if c != Some(']') {
                let shown = quote_char(c.unwrap_or('\0'));
                let text = format!("expected end of table array name delimiter ']', but got {shown} instead");
                return self.scanner.fail(text);
            }
        }
        let done = self.tables.enter(&path, array);
        self.at_key(done)?;
        self.tables.note(&Text::default(), false);
        Ok(())
    }

    fn limit(&self, parts: usize) -> Read<()> {
        if parts > MAX_DEPTH { self.here("key too long") } else { Ok(()) }
    }

    /// One part of a key.
    fn name(&mut self, first: bool) -> Read<Text> {
        let name = match self.scanner.peek()? {
            Some('"') => {
                self.scanner.next()?;
                self.scanner.string()?
            }
            Some('\'') => {
                self.scanner.next()?;
                self.scanner.raw_string()?
            }
            _ => self.scanner.bare()?,
        };
        if first {
            self.key_at = self.scanner.at();
        }
        Ok(Text::from(name.as_str()))
    }

    /// `a.b`, up to the equals sign.
    fn key(&mut self) -> Read<Vec<Text>> {
        self.scanner.blanks()?;
        match self.scanner.peek()? {
            Some('=') | None => return self.scanner.fail("unexpected '=': key name appears blank"),
            Some('.') => return self.scanner.fail("unexpected '.': keys cannot start with a '.'"),
            _ => {}
        }
        let mut key = Vec::new();
        loop {
            self.scanner.blanks()?;
            match self.scanner.peek()? {
                Some('=') | None => return self.scanner.fail("unexpected '='"),
                Some('.') => return self.scanner.fail("unexpected '.'"),
                _ => key.push(self.name(key.is_empty())?),
            }
            self.limit(key.len())?;
            self.scanner.blanks()?;
            match self.scanner.next()? {
                None => return self.scanner.fail("unexpected EOF; expected key separator '='"),
                Some('.') => {}
                Some('=') => return Ok(key),
                Some(c) => {
                    let text = format!("expected '.' or '=', but got {} instead", quote_char(c));
                    return self.scanner.fail_at_break(c, text);
                }
            }
        }
    }

    /// `a.b = value`; what comes before is known to be no blank and no line end.
    fn pair(&mut self, top: bool) -> Read<()> {
        let key = self.key()?;
        let outer = self.tables.context().to_vec();
        let Some((last, parents)) = key.split_last() else { return Ok(()) };
        self.tables.key = last.clone();
        for part in parents {
            let done = self.tables.pass(part);
            self.at_key(done)?;
        }
        let (value, is_array) = self.value(false)?;
        let done = self.tables.set(last, value.clone());
        self.at_key(done)?;
        self.tables.note_key(is_array);
        if top {
            self.tables.key = Text::default();
        } else {
            let done = self.tables.set_inside(parents, last, value);
            self.at_key(done)?;
        }
        self.tables.leave_to(outer);
        Ok(())
    }

    /// A value, and whether it is an array.
    fn value(&mut self, in_array: bool) -> Read<(Node, bool)> {
        let leaf = match self.scanner.value()? {
            Token::Array => return Ok((self.nested(Self::array)?, true)),
            Token::Table => return Ok((self.nested(|reader| reader.inline_table(in_array))?, false)),
            Token::Text(text) => Value::text(text),
            Token::Bool(value) => Value::bool(value),
            Token::Integer(word) => self.integer(&word)?,
            Token::Float(word) => self.float(&word)?,
            Token::Time(word) => {
                let word = word.replace('z', "Z").replace(['t', ' '], "T");
                match time(&word, !self.tables.old) {
                    Some((text, local)) => (self.moment)(&text, local),
                    None => return self.here(format!("invalid datetime: {}", quote(word.as_bytes()))),
                }
            }
        };
        Ok((Node::Leaf(leaf), false))
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Read<Node>) -> Read<Node> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.here("nesting too deep");
        }
        let node = read(self)?;
        self.depth -= 1;
        Ok(node)
    }

    fn array(&mut self) -> Read<Node> {
        self.tables.note_key(true);
        let mut items = Vec::new();
        loop {
            match self.scanner.next_word()? {
                Some(',') => return self.scanner.fail("unexpected comma"),
                Some(']') => return Ok(Node::List(items)),
                _ => self.scanner.back(),
            }
            items.push(self.value(true)?.0);
            match self.scanner.next_word()? {
                Some(',') => {}
                Some(']') => return Ok(Node::List(items)),
                c => {
                    let text = "expected a comma (',') or array terminator (']'), but got";
                    return self.scanner.fail(format!("{text} {}", shown(c)));
                }
            }
        }
    }

    fn inline_table(&mut self, in_array: bool) -> Read<Node> {
        let outer = (self.tables.context().to_vec(), self.tables.key.clone());
        let done = self.tables.begin_inline(in_array);
        self.at_key(done)?;
        loop {
            match self.scanner.next()? {
                Some(' ' | '\t') => continue,
                Some('\n' | '\r') => {
                    self.inline_break()?;
                    continue;
                }
                Some('#') => {
                    self.scanner.comment()?;
                    continue;
                }
                Some(',') => return self.scanner.fail("unexpected comma"),
                Some('}') => break,
                _ => self.scanner.back(),
            }
            self.pair(false)?;
            if self.inline_end()? {
                break;
            }
        }
        let node = self.tables.end_inline();
        self.tables.leave_to(outer.0);
        self.tables.key = outer.1;
        Ok(node)
    }

    /// A line break inside of an inline table.
    fn inline_break(&self) -> Read<()> {
        if self.tables.old { self.scanner.fail_before("newlines not allowed within inline tables") } else { Ok(()) }
    }

    /// What stands behind a pair of an inline table; whether it ends the table.
    fn inline_end(&mut self) -> Read<bool> {
        loop {
            match self.scanner.next()? {
                Some(' ' | '\t') => {}
                Some('\n' | '\r') => self.inline_break()?,
                Some('#') => self.scanner.comment()?,
                Some(',') => {
                    self.scanner.blanks()?;
                    if self.scanner.peek()? != Some('}') {
                        return Ok(false);
                    }
                    if self.tables.old {
                        return self.scanner.fail("trailing comma not allowed in inline tables");
                    }
                }
                Some('}') => return Ok(true),
                c => {
                    let text = "expected a comma or an inline table terminator '}', but got";
                    return self.scanner.fail(format!("{text} {} instead", shown(c)));
                }
            }
        }
    }

    fn integer(&self, word: &str) -> Read<Value> {
        if !underscores_fit(word) {
            return self.here(format!("Invalid integer {word:?}: underscores must be surrounded by digits"));
        }
        if leading_zero(word) {
            return self.here(format!("Invalid integer {word:?}: cannot have leading zeroes"));
        }
        let plain = word.replace('_', "");
        let parsed = match plain.get(..2) {
            Some("0x") => i64::from_str_radix(&plain[2..], 16),
            Some("0o") => i64::from_str_radix(&plain[2..], 8),
            Some("0b") => i64::from_str_radix(&plain[2..], 2),
            _ => plain.parse::<i64>(),
        };
        match parsed {
            Ok(number) => Ok(Value::int64(number)),
            Err(_) => self.here(format!("{word} is out of range for int64")),
        }
    }

    fn float(&self, word: &str) -> Read<Value> {
        let parts: Vec<&str> = word.split(['.', 'e', 'E']).filter(|part| !part.is_empty()).collect();
        if !parts.iter().all(|part| underscores_fit(part)) {
            return self.here(format!("Invalid float {word:?}: underscores must be surrounded by digits"));
        }
        if parts.first().is_some_and(|part| leading_zero(part)) {
            return self.here(format!("Invalid float {word:?}: cannot have leading zeroes"));
        }
        if !word.split('.').skip(1).all(|part| part.starts_with(|c: char| c.is_ascii_digit())) {
            return self.here(format!("Invalid float {word:?}: '.' must be followed by one or more digits"));
        }
        let plain = word.replace('_', "");
        let number = match plain.trim_start_matches(['+', '-']) {
            "inf" if plain.starts_with('-') => Ok(f64::NEG_INFINITY),
            "inf" => Ok(f64::INFINITY),
            "nan" => Ok(f64::NAN),
            digits if digits.starts_with(|c: char| c.is_ascii_digit()) => plain.parse::<f64>(),
            _ => "".parse(),
        };
        match number {
            Ok(number) if number.is_infinite() && !plain.ends_with("inf") => {
                self.here(format!("{word} is out of range for float64"))
            }
            Ok(number) => Ok(Value::float(number)),
            Err(_) => self.here(format!("Invalid float value: {word:?}")),
        }
    }
}

/// A character as arrays and inline tables show it.
fn shown(c: Option<char>) -> String {
    c.map_or_else(|| "end of file".into(), |c| format!("'{c}'"))
}

/// Whether every underscore stands behind a digit, and the end is one.
fn underscores_fit(word: &str) -> bool {
    if matches!(word, "nan" | "+nan" | "-nan" | "inf" | "+inf" | "-inf") {
        return true;
    }
    let mut digit = false;
    for c in word.chars() {
        if c == '_' && !digit {
            return false;
        }
        digit = c.is_ascii_hexdigit();
    }
    digit
}

fn leading_zero(word: &str) -> bool {
    match word.as_bytes() {
        [b'0', b'b' | b'o' | b'x', ..] => false,
        [b'0', _, ..] | [b'+' | b'-', b'0', _, ..] => true,
        _ => false,
    }
}

/// A date or time as RFC 3339 text, and the name of the zone of one that names none: it counts as UTC, a time alone as in
/// the year 0. With `short`, a clock may end with the minutes.
fn time(word: &str, short: bool) -> Option<(String, Option<&'static str>)> {
    if word.as_bytes().get(2) == Some(&b':') {
        return clock(word, short).map(|c| (format!("0000-01-01T{c}Z"), Some("time-local")));
    }
    let date = word.get(..10)?;
    crate::codec::yaml::scalar::timestamp(date)?;
    let Some(rest) = word.get(10..)?.strip_prefix('T') else {
        return (word.len() == 10).then(|| (format!("{date}T00:00:00Z"), Some("date-local")));
    };
    let zone_at = rest.find(['Z', '+', '-']).unwrap_or(rest.len());
    let (clock_text, zone) = rest.split_at_checked(zone_at)?;
    let zone = match zone {
        "" | "Z" => "Z",
        zone => {
            let (hours, minutes) = zone[1..].split_once(':')?;
            let fits = |text: &str, limit: u8| text.len() == 2 && text.parse::<u8>().is_ok_and(|n| n < limit);
            (fits(hours, 25) && fits(minutes, 60)).then_some(zone)?
        }
    };
    let local = (zone_at == rest.len()).then_some("datetime-local");
    clock(clock_text, short).map(|c| (format!("{date}T{c}{zone}"), local))
}

/// `15:04:05.999`, and if it may be short, `15:04`.
fn clock(text: &str, short: bool) -> Option<String> {
    let part = |text: &str, limit: u8| {
        (text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit()))
            .then(|| text.parse::<u8>().ok())?
            .filter(|n| *n < limit)
    };
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (text, None),
    };
    let mut parts = clock.split(':');
    part(parts.next()?, 24)?;
    part(parts.next()?, 60)?;
    let seconds = match parts.next() {
        Some(seconds) => {
            part(seconds, 60)?;
            ""
        }
        None if short && fraction.is_none() => ":00",
        None => return None,
    };
    let digits = fraction.is_none_or(|f| !f.is_empty() && f.bytes().all(|b| b.is_ascii_digit()));
    if parts.next().is_some() || !digits {
        return None;
    }
    let fraction = fraction.unwrap_or_default();
    let fraction = fraction.get(..9).unwrap_or(fraction).trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    Some(format!("{clock}{seconds}{point}{fraction}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::json;
    use crate::value::Origins;

    fn read(text: &str, helm: HelmVersion) -> String {
        match parse(text.as_bytes(), helm, &|text, _| Value::text(text)) {
            Ok(value) => json::emit(&value, &Origins::new(false)).map_or_else(|e| e, |t| t.lossy().into_owned()),
            Err(error) => error,
        }
    }

    #[test]
    fn documents_and_mistakes_read_as_helm_reads_them() {
        for (text, result) in [
            ("a = 1\n[b]\nc = [1,2]", r#"{"a":1,"b":{"c":[1,2]}}"#),
            ("a.b.c = 1\na.b.d = 2", r#"{"a":{"b":{"c":1,"d":2}}}"#),
            ("[[x]]\na = 1\n[[x]]\nb=2\n[x.y]\nz=1", r#"{"x":[{"a":1},{"b":2,"y":{"z":1}}]}"#),
            ("a = \"\"\"\nx\\\n  y\"\"\"", r#"{"a":"xy"}"#),
            ("a = '''x\ny'''", r#"{"a":"x\ny"}"#),
            ("a = {b = 1, c = \"x\"}", r#"{"a":{"b":1,"c":"x"}}"#),
            (
                "a = 2024-01-02T03:04:05Z\nb = 2024-01-02\nc = 03:04:05",
                r#"{"a":"2024-01-02T03:04:05Z","b":"2024-01-02T00:00:00Z","c":"0000-01-01T03:04:05Z"}"#,
            ),
            ("a = 0x1F\nb = 1_000\nc = 1e3\nd = -1.5", r#"{"a":31,"b":1000,"c":1000,"d":-1.5}"#),
            ("= 1", "toml: line 1: unexpected '=': key name appears blank"),
            ("a = 1\na = 2", "toml: line 2 (last key \"a\"): Key 'a' has already been defined."),
            ("[a]\n[a]", "toml: line 2: Key 'a' has already been defined."),
            ("[a]\nb = 1\n[a.b]\nc = 1", "toml: line 3 (last key \"a\"): Key 'a.b' has already been defined."),
            ("a = tru", "toml: line 1 (last key \"a\"): expected value but found \"tru\" instead"),
            ("a = @", "toml: line 1 (last key \"a\"): expected value but found '@' instead"),
            ("a = 01", "toml: line 1 (last key \"a\"): Invalid integer \"01\": cannot have leading zeroes"),
            (
                "a = 1.",
                "toml: line 1 (last key \"a\"): Invalid float \"1.\": '.' must be followed by one or more digits",
            ),
            ("a = \"\\q\"", "toml: line 1 (last key \"a\"): invalid escape in string '\\q'"),
            ("a = 1\n\n\n b c = 2", "toml: line 4: expected '.' or '=', but got 'c' instead"),
            (
                "a = 1 2",
                "toml: line 1: expected a top-level item to end with a newline, comment, or EOF, but got '2' instead",
            ),
            (
                "a = 99999999999999999999",
                "toml: line 1 (last key \"a\"): 99999999999999999999 is out of range for int64",
            ),
        ] {
            assert_eq!(read(text, HelmVersion::cli(4, 2, 2)), result, "{text:?}");
        }
    }

    #[test]
    fn the_end_of_the_text_is_a_line_lower_before_helm_3_20() {
        let text = "a = ";
        let after = "toml: line 1 (last key \"a\"): unexpected EOF; expected value";
        assert_eq!(read(text, HelmVersion::cli(4, 2, 2)), after);
        assert_eq!(read(text, HelmVersion::cli(3, 17, 3)), after.replace("line 1", "line 0"));
    }
}
