//! What a plain scalar means in YAML 1.1 as Go reads it (F-44a, F-120).

/// The meaning of an untagged plain scalar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar {
    /// Nothing, `~`, `null`.
    Null,
    /// The truth words of YAML 1.1.
    Bool(bool),
    /// A signed 64-bit integer.
    Int(i64),
    /// An integer above that range.
    Uint(u64),
    /// A floating-point number, infinities and NaN included.
    Float(f64),
    /// A date or time; its value is its text all the same.
    Timestamp,
    /// A string.
    Str,
}

impl Scalar {
    /// The tag in short form, as error texts name it.
    pub fn short_tag(self) -> &'static str {
        match self {
            Scalar::Null => "!!null",
            Scalar::Bool(_) => "!!bool",
            Scalar::Int(_) | Scalar::Uint(_) => "!!int",
            Scalar::Float(_) => "!!float",
            Scalar::Timestamp => "!!timestamp",
            Scalar::Str => "!!str",
        }
    }
}

/// Whether later versions of YAML read the word as a truth value too.
pub fn is_truth_word(text: &str) -> bool {
    matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE")
}

/// Resolves an untagged plain scalar.
pub fn resolve(text: &str) -> Scalar {
    resolve_with(text, true)
}

/// Resolves a plain scalar; `timestamps: false` when a tag other than `!!timestamp` was given.
pub fn resolve_with(text: &str, timestamps: bool) -> Scalar {
    if let Some(word) = word(text) {
        return word;
    }
    match text.as_bytes().first() {
        Some(b'.') => go_float(text).map_or(Scalar::Str, Scalar::Float),
        Some(b'+' | b'-' | b'0'..=b'9') => {
            if timestamps && is_timestamp(text) {
                Scalar::Timestamp
            } else {
                number(text)
            }
        }
        _ => Scalar::Str,
    }
}

fn word(text: &str) -> Option<Scalar> {
    Some(match text {
        "" | "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "true" | "True" | "TRUE" => Scalar::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "false" | "False" | "FALSE" => Scalar::Bool(false),
        ".nan" | ".NaN" | ".NAN" => Scalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Scalar::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Scalar::Float(f64::NEG_INFINITY),
        _ => return None,
    })
}

fn number(text: &str) -> Scalar {
    let cleaned;
    let plain = if text.contains('_') {
        cleaned = text.replace('_', "");
        &cleaned
    } else {
        text
    };
    if let Some(int) = signed(plain) {
        return Scalar::Int(int);
    }
    if let Some(uint) = magnitude(plain) {
        return Scalar::Uint(uint);
    }
    if is_float_shape(plain)
        && let Some(float) = finite(plain)
    {
        return Scalar::Float(float);
    }
    // `-0b1` and the like are caught above already, as `0b` is a base prefix of Go's integers too.
    Scalar::Str
}

/// A signed integer in Go's base-0 notation.
fn signed(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let size = magnitude(digits)?;
    if negative { (size <= 1 << 63).then(|| (size as i64).wrapping_neg()) } else { i64::try_from(size).ok() }
}

/// An unsigned integer in Go's base-0 notation, without sign.
fn magnitude(text: &str) -> Option<u64> {
    let lower = |prefix: char| {
        let rest = text.strip_prefix('0')?;
        rest.strip_prefix(prefix).or_else(|| rest.strip_prefix(prefix.to_ascii_uppercase()))
    };
    let (digits, base) = if let Some(rest) = lower('x') {
        (rest, 16)
    } else if let Some(rest) = lower('b') {
        (rest, 2)
    } else if let Some(rest) = lower('o') {
        (rest, 8)
    } else if text.len() > 1 && text.starts_with('0') {
        (&text[1..], 8)
    } else {
        (text, 10)
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    u64::from_str_radix(digits, base).ok()
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
pub(super) fn is_float_shape(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |at: usize| bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut at = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let whole = digits(at);
    at += whole;
    if bytes.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if whole == 0 && fraction == 0 {
            return false;
        }
        at += 1 + fraction;
    } else if whole == 0 {
        return false;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        at += usize::from(matches!(bytes.get(at), Some(b'-' | b'+')));
        let exponent = digits(at);
        if exponent == 0 {
            return false;
        }
        at += exponent;
    }
    at == bytes.len()
}

fn finite(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|f| f.is_finite())
}

/// A float that starts with a dot, as Go's `ParseFloat` reads it: underscores may stand between digits.
fn go_float(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let misplaced = |at: usize| bytes[at] == b'_' && !(digit(at.checked_sub(1)) && digit(Some(at + 1)));
    if (0..bytes.len()).any(misplaced) {
        return None;
    }
    let plain = text.replace('_', "");
    is_float_shape(&plain).then(|| finite(&plain)).flatten()
}

/// Whether the text is one of YAML 1.1's dates or times, as Go reads them (F-120.2).
pub fn is_timestamp(text: &str) -> bool {
    timestamp(text).is_some()
}

/// A date or time that was recognized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timestamp<'t> {
    /// Year, month (from 1), day (from 1).
    pub date: (u32, u32, u32),
    /// Hour, minute, second.
    pub time: (u32, u32, u32),
    /// Digits of the fraction, as written; may be empty.
    pub fraction: &'t str,
    /// Offset from UTC in minutes.
    pub offset: i32,
}

/// Reads a date (`2024-1-2`) or time (`2024-1-2T3:4:5.6Z`, `2024-01-02 03:04:05`).
pub fn timestamp(text: &str) -> Option<Timestamp<'_>> {
    let mut scan = Scan { rest: text };
    let year = scan.number(4, 4)?;
    scan.byte(b'-')?;
    let month = scan.number(1, 2)?;
    scan.byte(b'-')?;
    let day = scan.number(1, 2)?;
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=days).contains(&day) {
        return None;
    }
    let mut found = Timestamp { date: (year, month, day), time: (0, 0, 0), fraction: "", offset: 0 };
    if scan.rest.is_empty() {
        return Some(found);
    }
    let zoned = match scan.rest.as_bytes()[0] {
        b'T' | b't' => true,
        b' ' => false,
        _ => return None,
    };
    scan.rest = &scan.rest[1..];
    let hour = scan.number(1, 2)?;
    scan.byte(b':')?;
    let minute = scan.number(1, 2)?;
    scan.byte(b':')?;
    let second = scan.number(1, 2)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    found.time = (hour, minute, second);
    let bytes = scan.rest.as_bytes();
    if matches!(bytes.first(), Some(b'.' | b',')) && bytes.get(1).is_some_and(u8::is_ascii_digit) {
        let end = 1 + bytes[1..].iter().take_while(|b| b.is_ascii_digit()).count();
        found.fraction = &scan.rest[1..end];
        scan.rest = &scan.rest[end..];
    }
    if zoned {
        let bytes = scan.rest.as_bytes();
        match bytes.first()? {
            b'Z' => scan.rest = &scan.rest[1..],
            sign @ (b'+' | b'-') => {
                scan.rest = &scan.rest[1..];
                let hours = scan.number(2, 2)?;
                scan.byte(b':')?;
                let minutes = scan.number(2, 2)?;
                if hours > 24 || minutes > 60 {
                    return None;
                }
                let total = (hours * 60 + minutes) as i32;
                found.offset = if *sign == b'-' { -total } else { total };
            }
            _ => return None,
        }
    }
    scan.rest.is_empty().then_some(found)
}

struct Scan<'t> {
    rest: &'t str,
}

impl Scan<'_> {
    fn number(&mut self, least: usize, most: usize) -> Option<u32> {
        let count = self.rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
        if count < least {
            return None;
        }
        let value = self.rest[..count].parse().ok()?;
        self.rest = &self.rest[count..];
        Some(value)
    }

    fn byte(&mut self, byte: u8) -> Option<()> {
        if self.rest.as_bytes().first() != Some(&byte) {
            return None;
        }
        self.rest = &self.rest[1..];
        Some(())
    }
}

/// Whether the text looks like a base-60 number (`1:30`); such strings are quoted when written (F-120.2).
pub fn is_base60(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    if !bytes.get(at).is_some_and(u8::is_ascii_digit) {
        return false;
    }
    at += bytes[at..].iter().take_while(|b| b.is_ascii_digit() || **b == b'_').count();
    let mut groups = 0;
    while bytes.get(at) == Some(&b':') {
        let digits = bytes[at + 1..].iter().take(2).take_while(|b| b.is_ascii_digit()).count();
        match digits {
            2 if bytes[at + 1] <= b'5' => at += 3,
            1 | 2 => at += 2,
            _ => return false,
        }
        groups += 1;
    }
    if bytes.get(at) == Some(&b'.') {
        at += 1 + bytes[at + 1..].iter().take_while(|b| b.is_ascii_digit() || **b == b'_').count();
    }
    groups > 0 && at == bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_mean_what_go_reads() {
        for (text, meaning) in [
            ("yes", Scalar::Bool(true)),
            ("N", Scalar::Bool(false)),
            ("yEs", Scalar::Str),
            ("", Scalar::Null),
            ("~", Scalar::Null),
            ("010", Scalar::Int(8)),
            ("0o17", Scalar::Int(15)),
            ("08", Scalar::Float(8.0)),
            ("0x1F", Scalar::Int(31)),
            ("-0b101", Scalar::Int(-5)),
            ("1_000", Scalar::Int(1000)),
            ("0x_ff", Scalar::Int(255)),
            ("+5", Scalar::Int(5)),
            ("18446744073709551615", Scalar::Uint(u64::MAX)),
            ("-9223372036854775808", Scalar::Int(i64::MIN)),
            ("1e3", Scalar::Float(1000.0)),
            ("5.", Scalar::Float(5.0)),
            (".5", Scalar::Float(0.5)),
            (".1_0", Scalar::Float(0.1)),
            (".1__0", Scalar::Str),
            ("1e400", Scalar::Str),
            ("_1", Scalar::Str),
            ("0x", Scalar::Str),
            ("0b2", Scalar::Str),
            ("1:30", Scalar::Str),
            ("2024-01-02", Scalar::Timestamp),
            ("2024-1-2T3:4:5.6Z", Scalar::Timestamp),
            ("2024-01-02T03:04:05", Scalar::Str),
            ("2024-01-02 03:04:05", Scalar::Timestamp),
            ("2024-13-01", Scalar::Str),
            ("2024-02-30", Scalar::Str),
            ("--5", Scalar::Str),
            ("<<", Scalar::Str),
        ] {
            assert_eq!(resolve(text), meaning, "{text:?}");
        }
    }

    #[test]
    fn base_60_needs_minutes_below_sixty() {
        assert!(is_base60("1:30") && is_base60("-12:30:45.5") && is_base60("190:20:30"));
        assert!(!is_base60("1:60") && !is_base60("1:") && !is_base60("12") && !is_base60(":30"));
    }
}
