//! Constants: what strings, characters and numbers mean as Go writes them.

use super::ast::Number;
use super::complex::Complex;
use super::lex::{Kind, quote, rune};

/// The bytes of a quoted or raw string; `None` if an escape is invalid.
pub fn unquote(text: &[u8]) -> Option<Vec<u8>> {
    let quote = *text.first()?;
    let inner = text.get(1..text.len().checked_sub(1)?)?;
    if quote == b'`' {
        return Some(inner.iter().copied().filter(|b| *b != b'\r').collect());
    }
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(&b) = rest.first() {
        if b == b'\n' {
            return None;
        }
        if b == b'\\' {
            let (bytes, after) = escape(rest, quote)?;
            out.extend(bytes);
            rest = after;
        } else {
            out.push(b);
            rest = &rest[1..];
        }
    }
    Some(out)
}

/// One escape: its bytes, and what follows.
fn escape(text: &[u8], quote: u8) -> Option<(Vec<u8>, &[u8])> {
    let after = &text[2.min(text.len())..];
    let simple = |b: u8| Some((vec![b], after));
    match *text.get(1)? {
        b'a' => simple(7),
        b'b' => simple(8),
        b'f' => simple(12),
        b'n' => simple(b'\n'),
        b'r' => simple(b'\r'),
        b't' => simple(b'\t'),
        b'v' => simple(11),
        b'\\' => simple(b'\\'),
        b if b == quote && (b == b'"' || b == b'\'') => simple(b),
        b'x' => hex(after, 2).map(|v| (vec![v as u8], &after[2..])),
        b'u' => unicode(after, 4),
        b'U' => unicode(after, 8),
        b'0'..=b'7' => {
            let digits = text.get(1..4)?;
            let mut value = 0u32;
            for d in digits {
                value = value * 8 + (*d as char).to_digit(8)?;
            }
            (value <= 255).then(|| (vec![value as u8], &text[4..]))
        }
        _ => None,
    }
}

fn hex(text: &[u8], digits: usize) -> Option<u32> {
    let text = std::str::from_utf8(text.get(..digits)?).ok()?;
    text.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(text, 16).ok())?
}

fn unicode(text: &[u8], digits: usize) -> Option<(Vec<u8>, &[u8])> {
    let c = char::from_u32(hex(text, digits)?)?;
    Some((c.to_string().into_bytes(), &text[digits..]))
}

/// A numeric or character constant; the error is Go's text.
pub fn number(text: &str, kind: Kind) -> Result<Number, String> {
    let mut number = Number { text: text.into(), int: None, uint: None, float: None, complex: None };
    if kind == Kind::CharConstant {
        let c = character(text)?;
        number.int = Some(i64::from(c));
        number.uint = Some(u64::from(c));
        number.float = Some(f64::from(c));
        return Ok(number);
    }
    if kind == Kind::Complex || text.ends_with('i') {
        let complex = Complex::read(text, parse_float).ok_or_else(|| match kind {
            Kind::Complex => "syntax error scanning complex number".to_owned(),
            _ => format!("illegal number syntax: {}", quote(text)),
        })?;
        number.complex = Some(complex);
        if complex.1 == 0.0 {
            number.float = Some(complex.0);
            number.whole();
        }
        return Ok(number);
    }
    number.uint = unsigned(text);
    number.int = signed(text);
    if number.int == Some(0) {
        number.uint = Some(0); // "-0" is an unsigned zero too
    }
    if let Some(int) = number.int {
        number.float = Some(int as f64);
    } else if let Some(uint) = number.uint {
        number.float = Some(uint as f64);
    } else if let Some(float) = parse_float(text) {
        if !text.contains(['.', 'e', 'E', 'p', 'P']) {
            return Err(format!("integer overflow: {}", quote(text)));
        }
        number.float = Some(float);
        number.whole();
    }
    if number.int.is_none() && number.uint.is_none() && number.float.is_none() {
        return Err(format!("illegal number syntax: {}", quote(text)));
    }
    Ok(number)
}

impl Number {
    /// A float with a whole value counts as an integer too.
    fn whole(&mut self) {
        if let Some(float) = self.float.filter(|float| float.fract() == 0.0 && float.abs() < 9.2e18) {
            self.int = Some(float as i64);
            self.uint = (float >= 0.0).then_some(float as u64);
        }
    }
}

/// The code point of a character constant, as far as its closing quote.
fn character(text: &str) -> Result<u32, String> {
    let invalid = || "invalid syntax".to_owned();
    let inner = text.as_bytes().get(1..).filter(|inner| !inner.starts_with(b"'")).ok_or_else(invalid)?;
    let (code, rest) = if inner.starts_with(b"\\") {
        let (bytes, rest) = escape(inner, b'\'').ok_or_else(invalid)?;
        // A byte escape is that code point, not a byte of UTF-8.
        let byte = matches!(inner.get(1), Some(b'x' | b'0'..=b'7'));
        let code = if byte { bytes.first().map(|b| u32::from(*b)) } else { rune(&bytes).map(|(c, _)| c as u32) };
        (code.ok_or_else(invalid)?, rest)
    } else {
        let (c, size) = rune(inner).ok_or_else(invalid)?;
        (c as u32, &inner[size..])
    };
    if rest == b"'" { Ok(code) } else { Err(format!("malformed character constant: {text}")) }
}

/// Underscores may stand only between digits, or between a base prefix and a digit.
fn without_underscores(text: &str) -> Option<String> {
    if !text.contains('_') {
        return Some(text.to_owned());
    }
    let body = text.trim_start_matches(['+', '-']);
    let prefixed = body.len() > 1 && body.starts_with('0') && body.as_bytes()[1].is_ascii_alphabetic();
    let hex = prefixed && matches!(body.as_bytes()[1], b'x' | b'X');
    let digits = if prefixed { &body[2..] } else { body };
    let mut before = if prefixed { '0' } else { ' ' };
    for c in digits.chars().chain(['.']) {
        let is_digit = |c: char| c.is_ascii_digit() || (hex && c.is_ascii_hexdigit());
        if c == '_' && !is_digit(before) || before == '_' && !is_digit(c) {
            return None;
        }
        before = c;
    }
    Some(text.replace('_', ""))
}

fn magnitude(text: &str) -> Option<u64> {
    let text = without_underscores(text)?;
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16),
        [b'0', b'b', ..] => (&lower[2..], 2),
        [b'0', b'o', ..] => (&lower[2..], 8),
        [b'0', _, ..] => (&lower[1..], 8),
        _ => (&lower[..], 10),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}

fn unsigned(text: &str) -> Option<u64> {
    if text.starts_with(['+', '-']) { None } else { magnitude(text) }
}

fn signed(text: &str) -> Option<i64> {
    match text.strip_prefix('-') {
        Some(rest) => {
            let value = magnitude(rest)?;
            if value == 1 << 63 { Some(i64::MIN) } else { i64::try_from(value).ok().map(|v| -v) }
        }
        None => i64::try_from(magnitude(text.strip_prefix('+').unwrap_or(text))?).ok(),
    }
}

fn parse_float(text: &str) -> Option<f64> {
    let text = without_underscores(text)?;
    let (negative, body) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(&text)),
    };
    let lower = body.to_ascii_lowercase();
    let value = match lower.strip_prefix("0x") {
        Some(hex) => hex_float(hex)?,
        None if lower.bytes().all(|b| b.is_ascii_digit() || b".e+-".contains(&b)) => lower.parse().ok()?,
        None => return None,
    };
    (value.is_finite()).then_some(if negative { -value } else { value })
}

fn hex_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once('p')?;
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = 0.0f64;
    for d in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(d.to_digit(16)?);
    }
    Some(value * 2f64.powi(exponent.saturating_sub(4 * fraction.len() as i32)))
}
