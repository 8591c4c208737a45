//! The TOML reader. Its error texts are those of Helm's library for the mistakes people make; others are told in the
//! same manner.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::version::{HelmVersion, Quirk};
use crate::codec::goquote::quote;
use crate::codec::json::utf8_width;
use crate::value::{MAX_DEPTH, Map, Repr, Text, Value};

/// Makes the value of a time, from its RFC 3339 text and the name of the zone of one that names none.
pub type Moment<'a> = &'a dyn Fn(&str, Option<&'static str>) -> Value;

/// Reads a document as `fromToml` does: integers are `int64`; times are what `moment` makes of them.
///
/// # Errors
/// The library's text, e.g. `toml: line 1 (last key "a"): …` (H-29).
pub fn parse(bytes: &[u8], helm: HelmVersion, moment: Moment<'_>) -> Result<Value, String> {
    let root = Value::map(BTreeMap::new());
    let mut reader = Reader {
        bytes,
        moment,
        at: 0,
        end_line: u32::from(!helm.has(Quirk::TomlExponents)),
        last_key: String::new(),
        prefix: Vec::new(),
        defined: BTreeSet::new(),
        depth: 0,
    };
    if let Some((at, byte)) = invalid_utf8(bytes) {
        reader.at = at;
        return Err(reader.error(&format!("invalid UTF-8 byte: 0x{byte:02x}")));
    }
    match root.as_map() {
        Some(map) => reader.document(map)?,
        None => return Ok(root),
    }
    Ok(root)
}

fn invalid_utf8(bytes: &[u8]) -> Option<(usize, u8)> {
    let at = std::str::from_utf8(bytes).err()?.valid_up_to();
    bytes.get(at).map(|b| (at, *b))
}

struct Reader<'a> {
    bytes: &'a [u8],
    moment: Moment<'a>,
    at: usize,
    /// How many lines too low an error at the end of the text is (1 before H-29).
    end_line: u32,
    /// The last key met, dotted, as errors name it.
    last_key: String,
    /// Path of the value being read, for keys inside inline tables.
    prefix: Vec<Text>,
    /// Tables defined by a header, by path.
    defined: BTreeSet<Vec<Text>>,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn starts(&self, text: &[u8]) -> bool {
        self.bytes[self.at..].starts_with(text)
    }

    /// The character here, as errors show it.
    fn shown(&self) -> String {
        let rest = &self.bytes[self.at..];
        let width = utf8_width(rest).unwrap_or(0);
        match std::str::from_utf8(&rest[..width]) {
            Ok(c) if !c.is_empty() => c.replace('\n', "\\n").replace('\t', "\\t").replace('\r', "\\r"),
            _ => "\\x00".into(),
        }
    }

    fn error(&self, message: &str) -> String {
        let before = &self.bytes[..self.at.min(self.bytes.len())];
        let mut line = before.iter().filter(|b| **b == b'\n').count() as u32 + 1;
        if self.at >= self.bytes.len() && !message.contains("already") {
            line -= self.end_line;
        }
        if self.last_key.is_empty() {
            format!("toml: line {line}: {message}")
        } else {
            format!("toml: line {line} (last key {}): {message}", quote(self.last_key.as_bytes()))
        }
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Blanks, line breaks and comments.
    fn filler(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                b'#' => {
                    while self.peek().is_some_and(|b| b != b'\n') {
                        self.at += 1;
                    }
                }
                _ => break,
            }
        }
    }

    fn document(&mut self, root: &Map) -> Result<(), String> {
        let mut table = root.clone();
        let mut path: Vec<Text> = Vec::new();
        loop {
            self.filler();
            let Some(byte) = self.peek() else { return Ok(()) };
            if byte == b'[' {
                (table, path) = self.header(root)?;
            } else {
                self.assignment(&table, &path)?;
            }
            self.blanks();
            match self.peek() {
                None | Some(b'\n' | b'#') => {}
                Some(b'\r') if self.starts(b"\r\n") => {}
                Some(_) => {
                    self.last_key.clear();
                    return Err(self.error(&format!(
                        "expected a top-level item to end with a newline, comment, or EOF, but got '{}' instead",
                        self.shown()
                    )));
                }
            }
        }
    }

    /// `[a.b]` or `[[a.b]]`: the table that what follows belongs to.
    fn header(&mut self, root: &Map) -> Result<(Map, Vec<Text>), String> {
        self.last_key.clear();
        self.at += 1;
        let array = self.peek() == Some(b'[');
        self.at += usize::from(array);
        let path = self.key(b']', "expected '.' or ']' to end table name")?;
        self.at += 1;
        if array {
            if self.peek() != Some(b']') {
                let shown = self.shown();
                return Err(
                    self.error(&format!("expected end of table array name delimiter ']', but got '{shown}' instead"))
                );
            }
            self.at += 1;
        }
        let Some((last, parents)) = path.split_last() else { return Err(self.error("empty table name")) };
        self.last_key = dotted(parents);
        let parent = self.descend(root, parents)?;
        let table = if array {
            let fresh = Value::map(BTreeMap::new());
            let items = match parent.get(last.bytes()) {
                None => vec![fresh.clone()],
                Some(old) => match old.repr() {
                    Repr::List(list) if self.defined.contains(&path) => {
                        list.items.iter().cloned().chain([fresh.clone()]).collect()
                    }
                    _ => {
                        let key = dotted(&path);
                        return Err(
                            self.error(&format!("Key '{key}' was already created and cannot be used as an array."))
                        );
                    }
                },
            };
            // What was defined below the previous element may be defined again below this one.
            self.defined.retain(|p| !(p.len() > path.len() && p.starts_with(&path)));
            self.defined.insert(path.clone());
            parent.insert(last.clone(), Value::list(items));
            fresh
        } else {
            if !self.defined.insert(path.clone()) {
                return Err(self.defined_already(&path));
            }
            match parent.get(last.bytes()) {
                None => {
                    let fresh = Value::map(BTreeMap::new());
                    parent.insert(last.clone(), fresh.clone());
                    fresh
                }
                Some(old) if old.as_map().is_some() => old,
                Some(_) => return Err(self.defined_already(&path)),
            }
        };
        match table.as_map() {
            Some(map) => {
                self.last_key = dotted(&path);
                Ok((map.clone(), path))
            }
            None => Err(self.defined_already(&path)),
        }
    }

    fn defined_already(&self, path: &[Text]) -> String {
        self.error(&format!("Key '{}' has already been defined.", dotted(path)))
    }

    /// Goes down from a table, making tables on the way; into the last element of lists of tables.
    fn descend(&mut self, from: &Map, path: &[Text]) -> Result<Map, String> {
        let mut table = from.clone();
        for (index, key) in path.iter().enumerate() {
            let next = match table.get(key.bytes()) {
                None => {
                    let fresh = Value::map(BTreeMap::new());
                    table.insert(key.clone(), fresh.clone());
                    Some(fresh)
                }
                Some(old) => match old.repr() {
                    Repr::List(list) => list.items.last().cloned(),
                    _ => Some(old),
                },
            };
            table = match next.as_ref().and_then(Value::as_map) {
                Some(map) => map.clone(),
                None => return Err(self.defined_already(&path[..=index])),
            };
        }
        Ok(table)
    }

    fn assignment(&mut self, table: &Map, path: &[Text]) -> Result<(), String> {
        let before = std::mem::take(&mut self.last_key);
        let key = self.key(b'=', "expected '.' or '='")?;
        self.last_key = before;
        self.at += 1;
        self.blanks();
        let full: Vec<Text> = path.iter().chain(&key).cloned().collect();
        self.last_key = dotted(&full);
        let at = self.at;
        self.prefix.clone_from(&full);
        let value = self.value()?;
        let Some((last, parents)) = key.split_last() else { return Ok(()) };
        let parent = self.descend(table, parents)?;
        if parent.get(last.bytes()).is_some() {
            self.at = at;
            return Err(self.defined_already(&full));
        }
        parent.insert(last.clone(), value);
        Ok(())
    }

    /// A dotted key up to, not including, `end`.
    fn key(&mut self, end: u8, expected: &str) -> Result<Vec<Text>, String> {
        let mut path = Vec::new();
        loop {
            self.blanks();
            let part = match self.peek() {
                Some(b'"') => self.basic_string()?,
                Some(b'\'') => self.literal_string()?,
                Some(b) if is_bare(b) => {
                    let start = self.at;
                    while self.peek().is_some_and(is_bare) {
                        self.at += 1;
                    }
                    Text::new(&self.bytes[start..self.at])
                }
                Some(b'=' | b'.' | b']') => {
                    let shown = self.shown();
                    return Err(self.error(&format!("unexpected '{shown}': key name appears blank")));
                }
                Some(_) => {
                    let shown = self.shown();
                    return Err(self.error(&format!("bare keys cannot contain '{shown}'")));
                }
                None => return Err(self.error("unexpected EOF; expected key name")),
            };
            path.push(part);
            if path.len() > MAX_DEPTH {
                return Err(self.error("key too long"));
            }
            self.blanks();
            match self.peek() {
                Some(b'.') => self.at += 1,
                Some(b) if b == end => return Ok(path),
                None if end == b'=' => return Err(self.error("unexpected EOF; expected key separator '='")),
                _ => {
                    let shown = self.shown();
                    return Err(self.error(&format!("{expected}, but got '{shown}' instead")));
                }
            }
        }
    }

    fn value(&mut self) -> Result<Value, String> {
        match self.peek() {
            None => Err(self.error("unexpected EOF; expected value")),
            Some(b'"') => Ok(Value::text(self.basic_string()?)),
            Some(b'\'') => Ok(Value::text(self.literal_string()?)),
            Some(b'[') => self.nested(Self::array),
            Some(b'{') => self.nested(Self::inline_table),
            Some(_) => self.word(),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, String>) -> Result<Value, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("nesting too deep"));
        }
        self.at += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn array(&mut self) -> Result<Value, String> {
        let mut items = Vec::new();
        loop {
            self.filler();
            if self.peek() == Some(b']') {
                self.at += 1;
                return Ok(Value::list(items));
            }
            items.push(self.value()?);
            self.filler();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {}
                found => {
                    let found = if found.is_none() { "end of file".into() } else { format!("'{}'", self.shown()) };
                    return Err(
                        self.error(&format!("expected a comma (',') or array terminator (']'), but got {found}"))
                    );
                }
            }
        }
    }

    fn inline_table(&mut self) -> Result<Value, String> {
        let value = Value::map(BTreeMap::new());
        let Some(table) = value.as_map().cloned() else { return Ok(value) };
        let path = self.prefix.clone();
        self.filler();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(value);
        }
        loop {
            self.filler();
            self.assignment(&table, &path)?;
            self.filler();
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    self.filler();
                    if self.peek() == Some(b'}') {
                        if self.end_line > 0 {
                            return Err(self.error("trailing comma not allowed in inline tables"));
                        }
                        self.at += 1;
                        return Ok(value);
                    }
                }
                Some(b'}') => {
                    self.at += 1;
                    return Ok(value);
                }
                found => {
                    let found = if found.is_none() { "end of file".into() } else { format!("'{}'", self.shown()) };
                    return Err(self.error(&format!(
                        "expected a comma or an inline table terminator '}}', but got {found} instead"
                    )));
                }
            }
        }
    }

    fn literal_string(&mut self) -> Result<Text, String> {
        let (quote, multiline): (&[u8], bool) = if self.starts(b"'''") { (b"'''", true) } else { (b"'", false) };
        self.at += quote.len();
        self.skip_first_break(multiline);
        let start = self.at;
        while self.at < self.bytes.len() {
            if self.starts(quote) {
                let text = Text::new(&self.bytes[start..self.at]);
                self.at += quote.len();
                return Ok(text);
            }
            if !multiline && self.peek() == Some(b'\n') {
                return Err(self.error("strings cannot contain newlines"));
            }
            self.at += 1;
        }
        let quote = String::from_utf8_lossy(quote);
        Err(self.error(&format!("unexpected EOF; expected \"{quote}\"")))
    }

    fn basic_string(&mut self) -> Result<Text, String> {
        let (quote, multiline): (&[u8], bool) = if self.starts(b"\"\"\"") { (b"\"\"\"", true) } else { (b"\"", false) };
        self.at += quote.len();
        self.skip_first_break(multiline);
        let mut out = Vec::new();
        loop {
            if self.starts(quote) {
                self.at += quote.len();
                while multiline && self.peek() == Some(b'"') && out.len() < self.bytes.len() {
                    out.push(b'"');
                    self.at += 1;
                }
                return Ok(Text::new(out));
            }
            match self.peek() {
                None => {
                    let quote = String::from_utf8_lossy(quote);
                    return Err(self.error(&format!("unexpected EOF; expected '{quote}'")));
                }
                Some(b'\\') => self.escape(&mut out, multiline)?,
                Some(b'\n') if !multiline => return Err(self.error("strings cannot contain newlines")),
                Some(byte) => {
                    out.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    fn skip_first_break(&mut self, multiline: bool) {
        if multiline {
            if self.starts(b"\r\n") {
                self.at += 2;
            } else if self.starts(b"\n") {
                self.at += 1;
            }
        }
    }

    fn escape(&mut self, out: &mut Vec<u8>, multiline: bool) -> Result<(), String> {
        self.at += 1;
        let byte = self.peek();
        if multiline && matches!(byte, Some(b' ' | b'\t' | b'\r' | b'\n')) {
            // A backslash at the end of a line eats the white space up to the next character.
            while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
                self.at += 1;
            }
            return Ok(());
        }
        let digits = match byte {
            Some(b'b') => return self.escaped(out, 8),
            Some(b't') => return self.escaped(out, b'\t'),
            Some(b'n') => return self.escaped(out, b'\n'),
            Some(b'f') => return self.escaped(out, 12),
            Some(b'r') => return self.escaped(out, b'\r'),
            Some(b'"') => return self.escaped(out, b'"'),
            Some(b'\\') => return self.escaped(out, b'\\'),
            Some(b'u') => 4,
            Some(b'U') => 8,
            _ => {
                let shown = self.shown();
                return Err(self.error(&format!("invalid escape in string '\\{shown}'")));
            }
        };
        self.at += 1;
        let hex = self.bytes.get(self.at..self.at + digits).and_then(|h| std::str::from_utf8(h).ok());
        let code =
            hex.filter(|h| h.bytes().all(|b| b.is_ascii_hexdigit())).and_then(|h| u32::from_str_radix(h, 16).ok());
        let Some(code) = code else {
            let shown = hex.unwrap_or_default().to_owned();
            return Err(self.error(&format!("expected {digits} hexadecimal digits after '\\u', but got {shown:?}")));
        };
        let Some(char) = char::from_u32(code) else {
            return Err(self.error(&format!("Escaped character '\\u{code:04x}' is not valid UTF-8.")));
        };
        out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        self.at += digits;
        Ok(())
    }

    fn escaped(&mut self, out: &mut Vec<u8>, byte: u8) -> Result<(), String> {
        out.push(byte);
        self.at += 1;
        Ok(())
    }

    /// A truth value, number or time.
    fn word(&mut self) -> Result<Value, String> {
        let start = self.at;
        let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+' | b'.' | b':');
        while self.peek().is_some_and(part) {
            self.at += 1;
        }
        // A date and a time may have one space between them.
        let date = self.at - start == 10 && self.bytes.get(start + 4) == Some(&b'-');
        if date && self.peek() == Some(b' ') && self.bytes.get(self.at + 1).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
            while self.peek().is_some_and(part) {
                self.at += 1;
            }
        }
        let end = self.at;
        let word = String::from_utf8_lossy(&self.bytes[start..end]).into_owned();
        self.at = start;
        let value = match word.as_str() {
            "true" => Value::bool(true),
            "false" => Value::bool(false),
            "inf" | "+inf" => Value::float(f64::INFINITY),
            "-inf" => Value::float(f64::NEG_INFINITY),
            "nan" | "+nan" | "-nan" => Value::float(f64::NAN),
            "" => {
                let shown = self.shown();
                return Err(self.error(&format!("expected value but found '{shown}' instead")));
            }
            _ if word.starts_with(|c: char| c.is_ascii_digit() || c == '+' || c == '-') => match time(&word) {
                Some((text, local)) => (self.moment)(&text, local),
                None => self.number(&word)?,
            },
            _ => return Err(self.error(&format!("expected value but found {} instead", quote(word.as_bytes())))),
        };
        self.at = end;
        Ok(value)
    }

    fn number(&self, word: &str) -> Result<Value, String> {
        let based = word.starts_with("0x") || word.starts_with("0o") || word.starts_with("0b");
        let is_float = !based && word.contains(['.', 'e', 'E']);
        let kind = if is_float { "float" } else { "integer" };
        let digit = |b: Option<&u8>| b.is_some_and(u8::is_ascii_hexdigit);
        let bytes = word.as_bytes();
        let loose = |at: usize| bytes[at] == b'_' && !(at > 0 && digit(bytes.get(at - 1)) && digit(bytes.get(at + 1)));
        if (0..bytes.len()).any(loose) {
            return Err(self.error(&format!("Invalid {kind} {word:?}: underscores must be surrounded by digits")));
        }
        let plain = word.replace('_', "");
        let unsigned = plain.trim_start_matches(['+', '-']);
        let zeros = unsigned.len() > 1 && unsigned.starts_with('0') && unsigned.as_bytes()[1].is_ascii_digit();
        if zeros {
            return Err(self.error(&format!("Invalid {kind} {word:?}: cannot have leading zeroes")));
        }
        if is_float {
            let dotted = unsigned
                .split_once('.')
                .is_none_or(|(whole, rest)| !whole.is_empty() && rest.starts_with(|c: char| c.is_ascii_digit()));
            if !dotted {
                return Err(self.error(&format!("Invalid float {word:?}: '.' must be followed by one or more digits")));
            }
            return match plain.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(Value::float(number)),
                Ok(_) => Err(self.error(&format!("{word} is out of range for float64"))),
                Err(_) => Err(self.error(&format!("Invalid float value: {word:?}"))),
            };
        }
        let parsed = match unsigned.get(..2) {
            Some("0x") if based => i64::from_str_radix(&unsigned[2..], 16),
            Some("0o") if based => i64::from_str_radix(&unsigned[2..], 8),
            Some("0b") if based => i64::from_str_radix(&unsigned[2..], 2),
            _ => plain.parse::<i64>(),
        };
        parsed.map(Value::int64).map_err(|error| {
            use std::num::IntErrorKind::{NegOverflow, PosOverflow};
            match error.kind() {
                PosOverflow | NegOverflow => self.error(&format!("{word} is out of range for int64")),
                _ => self.error(&format!("expected value but found {} instead", quote(word.as_bytes()))),
            }
        })
    }
}

fn is_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn dotted(path: &[Text]) -> String {
    path.iter().map(|key| key.lossy().into_owned()).collect::<Vec<_>>().join(".")
}

/// A date or time as RFC 3339 text, and the name of the zone of one that names none: it counts as UTC, a time alone as in
/// the year 0.
fn time(word: &str) -> Option<(String, Option<&'static str>)> {
    let clock = |text: &str| -> Option<String> {
        let (hms, rest) = (text.get(..8)?, text.get(8..)?);
        let shape = hms.bytes().enumerate().all(|(i, b)| if i % 3 == 2 { b == b':' } else { b.is_ascii_digit() });
        let fraction = rest
            .strip_prefix('.')
            .map_or(Some(""), |d| (!d.is_empty() && d.bytes().all(|b| b.is_ascii_digit())).then_some(d))?;
        if !shape || !(rest.is_empty() || rest.starts_with('.')) {
            return None;
        }
        let fraction = fraction.get(..9).unwrap_or(fraction).trim_end_matches('0');
        Some(if fraction.is_empty() { hms.to_owned() } else { format!("{hms}.{fraction}") })
    };
    if word.as_bytes().get(2) == Some(&b':') {
        return clock(word).map(|c| (format!("0000-01-01T{c}Z"), Some("time-local")));
    }
    let date = word.get(..10)?;
    crate::codec::yaml::scalar::timestamp(date)?;
    let Some(rest) = word.get(11..) else {
        return (word.len() == 10).then(|| (format!("{date}T00:00:00Z"), Some("date-local")));
    };
    let zone_at = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let zone = match &rest[zone_at..] {
        "" | "Z" | "z" | "+00:00" => "Z",
        zone if zone.len() == 6 => zone,
        _ => return None,
    };
    let local = (zone_at == rest.len()).then_some("datetime-local");
    clock(&rest[..zone_at]).map(|c| (format!("{date}T{c}{zone}"), local))
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
