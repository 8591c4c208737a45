//! Go's JSON decoder, with its error texts.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use crate::codec::json::{go_lossy, utf8_width};
use crate::value::{MAX_DEPTH, Repr, Text, Value};

/// What JSON is read into.
pub trait Tree: Sized {
    /// `null`
    fn null() -> Self;
    /// `true` or `false`
    fn bool(value: bool) -> Self;
    /// A number as it is written, and as a double (infinite if it does not fit).
    fn number(text: &str, double: f64) -> Self;
    /// A string.
    fn text(text: Text) -> Self;
    /// An array.
    fn list(items: Vec<Self>) -> Self;
    /// An object; of equal keys the last one counts.
    fn map(entries: BTreeMap<Text, Self>) -> Self;
}

impl Tree for Value {
    fn null() -> Self {
        Value::NIL
    }
    fn bool(value: bool) -> Self {
        Value::bool(value)
    }
    fn number(_: &str, double: f64) -> Self {
        Value::float(double)
    }
    fn text(text: Text) -> Self {
        Value::text(text)
    }
    fn list(items: Vec<Self>) -> Self {
        Value::list(items)
    }
    fn map(entries: BTreeMap<Text, Self>) -> Self {
        Value::map(entries)
    }
}

/// Reads the first value of a stream and returns what follows it. Numbers may be as large as they like.
///
/// # Errors
/// Go's text; `EOF` if there is only white space, `unexpected EOF` if the value does not end.
pub fn decode<T: Tree>(bytes: &[u8]) -> Result<(T, &[u8]), String> {
    let mut reader = Reader::new(bytes);
    reader.space();
    if reader.peek().is_none() {
        return Err("EOF".into());
    }
    match reader.value("looking for beginning of value") {
        Ok(value) => Ok((value, &bytes[reader.at..])),
        Err(_) if reader.at >= bytes.len() => Err("unexpected EOF".into()),
        Err(error) => Err(error),
    }
}

/// Reads one JSON value; every number is a `float64`.
///
/// # Errors
/// Go's text, e.g. `invalid character 'x' looking for beginning of value`.
pub fn parse(bytes: &[u8]) -> Result<Value, String> {
    match parse_all(bytes)? {
        (_, Some(error)) => Err(error),
        (value, None) => Ok(value),
    }
}

/// Reads one JSON value, and tells apart that a number in it is too large.
fn parse_all(bytes: &[u8]) -> Result<(Value, Option<String>), String> {
    let mut reader = Reader::new(bytes);
    let value = reader.value("looking for beginning of value")?;
    reader.space();
    if let Some(byte) = reader.peek() {
        return Err(invalid(byte, "after top-level value"));
    }
    Ok((value, reader.range_error))
}

/// Reads the value that the text starts with, and how many bytes it takes.
///
/// # Errors
/// As [`parse`].
pub fn parse_prefix(bytes: &[u8]) -> Result<(Value, usize), String> {
    let mut reader = Reader::new(bytes);
    let value = reader.value("looking for beginning of value")?;
    match reader.range_error {
        Some(error) => Err(error),
        None => Ok((value, reader.at)),
    }
}

/// Reads an object, as `fromJson` does; null is the empty map. What else an object with too large a number in it holds
/// comes with the error.
///
/// # Errors
/// Go's text, and what was read all the same.
pub fn parse_map(bytes: &[u8]) -> Result<Value, (String, Option<Value>)> {
    let (value, range_error) = parse_all(bytes).map_err(|error| (error, None))?;
    match (value.repr(), range_error) {
        (Repr::Map(_), Some(error)) => Err((error, Some(without_infinities(&value)))),
        (Repr::Map(_), None) => Ok(value),
        (Repr::Nil, _) => Ok(Value::map(BTreeMap::new())),
        _ => Err((cannot_unmarshal(&value, "map[string]interface {}"), None)),
    }
}

/// With nil for numbers that were too large.
fn without_infinities(value: &Value) -> Value {
    match value.repr() {
        Repr::Float(number) if number.is_infinite() => Value::NIL,
        Repr::List(list) => Value::list(list.items.iter().map(without_infinities).collect()),
        Repr::Map(map) => {
            Value::map(map.entries().iter().map(|(key, item)| (key.clone(), without_infinities(item))).collect())
        }
        _ => value.clone(),
    }
}

/// Reads an array, as `fromJsonArray` does; null is the empty list.
pub fn parse_array(bytes: &[u8]) -> Result<Value, String> {
    let (value, range_error) = parse_all(bytes)?;
    match (value.repr(), range_error) {
        (Repr::List(_), Some(error)) => Err(error),
        (Repr::List(_), None) => Ok(value),
        (Repr::Nil, _) => Ok(Value::list(Vec::new())),
        _ => Err(cannot_unmarshal(&value, "[]interface {}")),
    }
}

/// The error of a value of the wrong kind.
pub(crate) fn cannot_unmarshal(value: &Value, go_type: &str) -> String {
    let what = match value.repr() {
        Repr::Bool(_) => "bool",
        Repr::Int(..) | Repr::Float(_) => "number",
        Repr::List(_) => "array",
        Repr::Map(_) => "object",
        _ => "string",
    };
    format!("json: cannot unmarshal {what} into Go value of type {go_type}")
}

const END: &str = "unexpected end of JSON input";

struct Reader<'a, T> {
    tree: PhantomData<T>,
    bytes: &'a [u8],
    at: usize,
    depth: usize,
    /// The first number that does not fit: told only when the syntax is right.
    range_error: Option<String>,
}

impl<'a, T: Tree> Reader<'a, T> {
    fn new(bytes: &'a [u8]) -> Self {
        Reader { tree: PhantomData, bytes, at: 0, depth: 0, range_error: None }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The next byte inside a literal: at the end Go's scanner sees a space there.
    fn literal_byte(&self) -> u8 {
        self.peek().unwrap_or(b' ')
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn value(&mut self, place: &str) -> Result<T, String> {
        self.space();
        match self.peek().ok_or(END)? {
            b'{' => self.nested(Self::object),
            b'[' => self.nested(Self::array),
            b'"' => self.string().map(T::text),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.literal("true").map(|()| T::bool(true)),
            b'f' => self.literal("false").map(|()| T::bool(false)),
            b'n' => self.literal("null").map(|()| T::null()),
            other => Err(invalid(other, place)),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<T, String>) -> Result<T, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("exceeded max depth".into());
        }
        self.at += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn object(&mut self) -> Result<T, String> {
        let mut entries = BTreeMap::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(T::map(entries));
        }
        loop {
            self.space();
            match self.peek().ok_or(END)? {
                b'"' => {}
                other => return Err(invalid(other, "looking for beginning of object key string")),
            }
            let key = self.string()?;
            self.space();
            match self.peek().ok_or(END)? {
                b':' => self.at += 1,
                other => return Err(invalid(other, "after object key")),
            }
            let value = self.value("looking for beginning of value")?;
            entries.insert(key, value);
            self.space();
            match self.peek().ok_or(END)? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Ok(T::map(entries));
                }
                other => return Err(invalid(other, "after object key:value pair")),
            }
        }
    }

    fn array(&mut self) -> Result<T, String> {
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(T::list(items));
        }
        loop {
            items.push(self.value("looking for beginning of value")?);
            self.space();
            match self.peek().ok_or(END)? {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Ok(T::list(items));
                }
                other => return Err(invalid(other, "after array element")),
            }
        }
    }

    fn literal(&mut self, word: &str) -> Result<(), String> {
        for expected in word.bytes() {
            let byte = self.literal_byte();
            if byte != expected {
                return Err(invalid(byte, &format!("in literal {word} (expecting {})", quote(expected))));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<T, String> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.literal_byte() {
            b'0' => self.at += 1,
            b'1'..=b'9' => self.digits(),
            other => return Err(invalid(other, "in numeric literal")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            match self.literal_byte() {
                b'0'..=b'9' => self.digits(),
                other => return Err(invalid(other, "after decimal point in numeric literal")),
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            match self.literal_byte() {
                b'0'..=b'9' => self.digits(),
                other => return Err(invalid(other, "in exponent of numeric literal")),
            }
        }
        let text = std::str::from_utf8(&self.bytes[start..self.at]).unwrap_or_default();
        let number = text.parse::<f64>().unwrap_or(f64::INFINITY);
        if number.is_infinite() {
            self.range_error
                .get_or_insert_with(|| format!("json: cannot unmarshal number {text} into Go value of type float64"));
        }
        Ok(T::number(text, number))
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn string(&mut self) -> Result<Text, String> {
        self.at += 1;
        let start = self.at;
        while matches!(self.peek(), Some(b) if b >= 0x20 && b != b'"' && b != b'\\') {
            self.at += 1;
        }
        if self.peek() == Some(b'"') {
            let text = Text::new(go_lossy(&self.bytes[start..self.at]).as_bytes());
            self.at += 1;
            return Ok(text);
        }
        let mut out = go_lossy(&self.bytes[start..self.at]).into_owned();
        loop {
            match self.peek().ok_or(END)? {
                b'"' => {
                    self.at += 1;
                    return Ok(Text::from(out));
                }
                b'\\' => {
                    self.at += 1;
                    self.escape(&mut out)?;
                }
                control @ 0..0x20 => return Err(invalid(control, "in string literal")),
                _ => {
                    let rest = &self.bytes[self.at..];
                    let width = utf8_width(rest);
                    let char = width.and_then(|w| rest.get(..w)).and_then(|c| std::str::from_utf8(c).ok());
                    out.push_str(char.unwrap_or("\u{FFFD}"));
                    self.at += width.unwrap_or(1);
                }
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), String> {
        let char = match self.literal_byte() {
            same @ (b'"' | b'\\' | b'/') => same.into(),
            b'b' => '\u{8}',
            b'f' => '\u{C}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                let first = self.hex()?;
                if (0xD800..0xDC00).contains(&first) && self.bytes[self.at..].starts_with(b"\\u") {
                    let back = self.at;
                    self.at += 2;
                    let second = self.hex()?;
                    if (0xDC00..0xE000).contains(&second) {
                        let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                        out.push(char::from_u32(code).unwrap_or('\u{FFFD}'));
                        return Ok(());
                    }
                    self.at = back;
                }
                out.push(char::from_u32(first).unwrap_or('\u{FFFD}'));
                return Ok(());
            }
            other => return Err(invalid(other, "in string escape code")),
        };
        out.push(char);
        self.at += 1;
        Ok(())
    }

    fn hex(&mut self) -> Result<u32, String> {
        let mut code = 0;
        for _ in 0..4 {
            let byte = self.literal_byte();
            let Some(digit) = char::from(byte).to_digit(16) else {
                return Err(invalid(byte, "in \\u hexadecimal character escape"));
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }
}

fn invalid(byte: u8, place: &str) -> String {
    format!("invalid character {} {place}", quote(byte))
}

/// A byte as Go's JSON errors show it: a character of Latin-1 in single quotes.
fn quote(byte: u8) -> String {
    match byte {
        b'\'' => r"'\''".into(),
        b'"' => "'\"'".into(),
        b'\\' => r"'\\'".into(),
        0x07 => r"'\a'".into(),
        0x08 => r"'\b'".into(),
        0x0C => r"'\f'".into(),
        b'\n' => r"'\n'".into(),
        b'\r' => r"'\r'".into(),
        b'\t' => r"'\t'".into(),
        0x0B => r"'\v'".into(),
        0..0x20 | 0x7F => format!("'\\x{byte:02x}'"),
        0x80..0xA0 | 0xAD | 0xA0 => format!("'\\u{byte:04x}'"),
        other => format!("'{}'", char::from(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_read_as_go_prints_them() {
        for (text, error) in [
            (&b"x"[..], "invalid character 'x' looking for beginning of value"),
            (b"", "unexpected end of JSON input"),
            (b"{", "unexpected end of JSON input"),
            (b"{}x", "invalid character 'x' after top-level value"),
            (b"{a:1}", "invalid character 'a' looking for beginning of object key string"),
            (b"{\"a\" 1}", "invalid character '1' after object key"),
            (b"{\"a\":1 2}", "invalid character '2' after object key:value pair"),
            (b"[1 2]", "invalid character '2' after array element"),
            (b"[1,]", "invalid character ']' looking for beginning of value"),
            (b"tru", "invalid character ' ' in literal true (expecting 'e')"),
            (b"nul0", "invalid character '0' in literal null (expecting 'l')"),
            (b"-", "invalid character ' ' in numeric literal"),
            (b"1.x", "invalid character 'x' after decimal point in numeric literal"),
            (b"1e+", "invalid character ' ' in exponent of numeric literal"),
            (b"01", "invalid character '1' after top-level value"),
            (b"\"a", "unexpected end of JSON input"),
            (b"\"a\n\"", "invalid character '\\n' in string literal"),
            (b"\"\\q\"", "invalid character 'q' in string escape code"),
            (b"\"\\u12x\"", "invalid character 'x' in \\u hexadecimal character escape"),
            (b"'a'", "invalid character '\\'' looking for beginning of value"),
            (b"\xff", "invalid character '\u{ff}' looking for beginning of value"),
            (b"1e999", "json: cannot unmarshal number 1e999 into Go value of type float64"),
        ] {
            assert_eq!(parse(text).err().as_deref(), Some(error), "{:?}", String::from_utf8_lossy(text));
        }
        let array = "json: cannot unmarshal array into Go value of type map[string]interface {}";
        assert_eq!(parse_map(b"[1]").err().map(|(error, _)| error).as_deref(), Some(array));
        let object = "json: cannot unmarshal object into Go value of type []interface {}";
        assert_eq!(parse_array(b"{}").err().as_deref(), Some(object));
    }

    #[test]
    fn strings_are_repaired_and_numbers_are_doubles() {
        for (text, value) in [
            (&b"\"\\ud83d\\ude00\""[..], "\u{1F600}"),
            (b"\"\\ud83dx\"", "\u{FFFD}x"),
            (b"\"\xff\xfe\"", "\u{FFFD}\u{FFFD}"),
            (b"\"\\/\"", "/"),
        ] {
            assert_eq!(
                parse(text).ok().and_then(|v| v.as_text().map(|t| t.lossy().into_owned())).as_deref(),
                Some(value)
            );
        }
        let number = parse(b"9007199254740993").expect("a number");
        assert!(matches!(number.repr(), Repr::Float(n) if *n == 9_007_199_254_740_992.0));
    }
}
