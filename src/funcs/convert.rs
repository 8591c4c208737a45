//! Conversions between strings and numbers; what cannot be converted is zero.

use super::args::{any, made, show, strval, text};
use super::{pure, strings};
use crate::template::func::{Call, Flow, FuncDef, FuncError, Param as P};
use crate::value::{Repr, Value};

/// This file's part of the function table.
pub const FUNCS: &[FuncDef] = &[
    pure("atoi", &[P::Str], Flow::Deep, atoi, "A decimal string as int."),
    pure("float64", &[P::Any], Flow::Deep, float64, "As float64."),
    pure("int", &[P::Any], Flow::Deep, int, "As int."),
    pure("int64", &[P::Any], Flow::Deep, int64, "As int64."),
    pure("toDecimal", &[P::Any], Flow::Deep, to_decimal, "An octal number as int64."),
    pure("toString", &[P::Any], Flow::Deep, to_string, "As string."),
    pure("toStrings", &[P::Any], Flow::Deep, to_strings, "A list of strings, without nil."),
];

type Out = Result<Value, FuncError>;

fn int(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::int(to_int(any(args, 0))))
}

fn int64(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::int64(to_int(any(args, 0))))
}

fn float64(_: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::float(to_float(any(args, 0))))
}

fn atoi(_: &mut Call<'_>, args: &[Value]) -> Out {
    let text = text(args, 0);
    let value = match parse_int(text.bytes(), 10) {
        Ok(value) | Err(NotInt::Range(value)) => value,
        Err(NotInt::Syntax) => 0,
    };
    Ok(Value::int(value))
}

fn to_decimal(call: &mut Call<'_>, args: &[Value]) -> Out {
    Ok(Value::int64(parse_int(show(call, any(args, 0))?.bytes(), 8).unwrap_or(0)))
}

fn to_string(call: &mut Call<'_>, args: &[Value]) -> Out {
    let text = strval(call, any(args, 0))?;
    made(call, text)
}

fn to_strings(call: &mut Call<'_>, args: &[Value]) -> Out {
    let texts = strings::each_as_text(call, any(args, 0))?;
    Ok(strings::strings(call, texts))
}

/// Any value as an integer: numbers are cut, strings read as Go literals, the rest is 0.
pub(super) fn to_int(value: &Value) -> i64 {
    match value.repr() {
        Repr::Int(value, _) => *value,
        Repr::Float(value) => cut(*value),
        Repr::Bool(value) => i64::from(*value),
        Repr::Str(text) => parse_int(without_zero_decimals(text.bytes()), 0).unwrap_or(0),
        // Months and weekdays.
        Repr::Native(native) if native.kind() == "int" => native.data().and_then(|n| n.as_int()).unwrap_or(0),
        _ => 0,
    }
}

/// Any value as a float.
pub(super) fn to_float(value: &Value) -> f64 {
    match value.repr() {
        Repr::Int(value, ty) if ty.is_unsigned() => *value as u64 as f64,
        Repr::Int(value, _) => *value as f64,
        Repr::Float(value) => *value,
        Repr::Bool(value) => f64::from(u8::from(*value)),
        Repr::Str(text) => parse_float(text.bytes()).unwrap_or(0.0),
        Repr::Native(native) if native.kind() == "int" => to_int(value) as f64,
        _ => 0.0,
    }
}

/// A float without its fraction; what does not fit becomes the smallest integer, as amd64 does it.
pub(super) fn cut(value: f64) -> i64 {
    let limit = 2f64.powi(63);
    if value >= -limit && value < limit { value as i64 } else { i64::MIN }
}

/// `5.00` counts as `5`; `5.50` stays.
fn without_zero_decimals(text: &[u8]) -> &[u8] {
    let zeros = text.iter().rev().take_while(|b| **b == b'0').count();
    match text.len().checked_sub(zeros + 1) {
        Some(dot) if zeros > 0 && text[dot] == b'.' => &text[..dot],
        _ => text,
    }
}

/// Why a text is no integer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NotInt {
    /// It does not look like one.
    Syntax,
    /// It does not fit; the nearest that does.
    Range(i64),
}

/// Whether underscores stand only between digits (or behind a base prefix).
fn underscores_fit(digits: &[u8], after_prefix: bool, is_digit: impl Fn(u8) -> bool) -> bool {
    let mut before = if after_prefix { b'0' } else { b'^' };
    for byte in digits {
        let now = match *byte {
            b'_' if before != b'0' => return false,
            b'_' => b'_',
            byte if is_digit(byte) => b'0',
            _ if before == b'_' => return false,
            _ => b'!',
        };
        before = now;
    }
    before != b'_'
}

/// Go's `strconv.ParseInt(text, base, 64)`; base 0 goes by the prefix (`0x`, `0b`, `0o`, `0`) and allows underscores.
pub(super) fn parse_int(text: &[u8], base: u32) -> Result<i64, NotInt> {
    let (negative, unsigned) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    if unsigned.is_empty() {
        return Err(NotInt::Syntax);
    }
    let (radix, digits, prefixed) = match unsigned {
        _ if base != 0 => (base, unsigned, false),
        [b'0', b'x' | b'X', rest @ ..] if !rest.is_empty() => (16, rest, true),
        [b'0', b'o' | b'O', rest @ ..] if !rest.is_empty() => (8, rest, true),
        [b'0', b'b' | b'B', rest @ ..] if !rest.is_empty() => (2, rest, true),
        [b'0', rest @ ..] => (8, rest, true),
        rest => (10, rest, false),
    };
    let limit: u128 = if negative { 1 << 63 } else { (1 << 63) - 1 };
    let mut size: u128 = 0;
    let mut underscores = false;
    for byte in digits {
        if *byte == b'_' && base == 0 {
            underscores = true;
            continue;
        }
        let digit = char::from(*byte).to_digit(radix).ok_or(NotInt::Syntax)?;
        // Far beyond the limit the exact size does not matter, but later characters must still be digits.
        size = (size * u128::from(radix) + u128::from(digit)).min(u128::from(u64::MAX) + 1);
    }
    if underscores && !underscores_fit(digits, prefixed, |b| b.is_ascii_hexdigit()) {
        return Err(NotInt::Syntax);
    }
    if size > limit {
        return Err(NotInt::Range(if negative { i64::MIN } else { i64::MAX }));
    }
    Ok(if negative { (size as u64).wrapping_neg() as i64 } else { size as i64 })
}

/// Go's `strconv.ParseFloat(text, 64)`: decimal or hexadecimal, underscores between digits, infinities and NaN; `None`
/// if it is none of these or too large.
pub(super) fn parse_float(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    let lower = unsigned.to_ascii_lowercase();
    match lower.as_str() {
        "inf" | "infinity" => return Some(sign * f64::INFINITY),
        "nan" => return (unsigned.len() == text.len()).then_some(f64::NAN),
        _ => {}
    }
    let hex = lower.strip_prefix("0x");
    let number = hex.unwrap_or(&lower);
    if number.contains('_')
        && !underscores_fit(number.as_bytes(), hex.is_some(), |b| {
            b.is_ascii_digit() || hex.is_some() && b.is_ascii_hexdigit()
        })
    {
        return None;
    }
    let number = number.replace('_', "");
    let value = match hex {
        Some(_) => parse_hex(&number)?,
        _ if number.starts_with(['+', '-']) => return None,
        None if number.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'+' | b'-')) => {
            number.parse().ok()?
        }
        None => return None,
    };
    value.is_finite().then_some(sign * value)
}

/// `1.8p4` as it stands behind `0x`: the exponent is needed.
fn parse_hex(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() || exponent.trim_start_matches(['+', '-']).is_empty() {
        return None;
    }
    let mut exponent: i64 = exponent.parse().ok()?;
    exponent = exponent.clamp(-100_000, 100_000) - 4 * fraction.len() as i64;
    let mut bits: u64 = 0;
    for digit in whole.chars().chain(fraction.chars()) {
        let digit = u64::from(digit.to_digit(16)?);
        if bits >> 60 == 0 {
            bits = bits << 4 | digit;
        } else {
            // No room: the digit only shows in the last bit, for rounding.
            bits |= u64::from(digit != 0);
            exponent += 4;
        }
    }
    let mut value = bits as f64;
    while exponent != 0 && value != 0.0 && value.is_finite() {
        let step = exponent.clamp(-1000, 1000);
        value *= 2f64.powi(step as i32);
        exponent -= step;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_as_go_literals() {
        for (text, want) in [
            ("08", Err(NotInt::Syntax)),
            ("0x1F", Ok(31)),
            ("1_000", Ok(1000)),
            ("1__0", Err(NotInt::Syntax)),
            ("_1", Err(NotInt::Syntax)),
            ("0_7", Ok(7)),
            ("-0b11", Ok(-3)),
            ("0o17", Ok(15)),
            ("017", Ok(15)),
            ("0", Ok(0)),
            ("+", Err(NotInt::Syntax)),
            (" 5", Err(NotInt::Syntax)),
            ("99999999999999999999", Err(NotInt::Range(i64::MAX))),
            ("-9223372036854775808", Ok(i64::MIN)),
        ] {
            assert_eq!(parse_int(text.as_bytes(), 0), want, "{text}");
        }
    }

    #[test]
    fn floats_are_read_as_go_literals() {
        for (text, want) in [
            ("1e3", Some(1000.0)),
            ("0x1p4", Some(16.0)),
            ("0x1.8p1", Some(3.0)),
            ("0x1", None),
            ("-Inf", Some(f64::NEG_INFINITY)),
            ("1_0.5", Some(10.5)),
            ("1e400", None),
            (".5", Some(0.5)),
            ("5.", Some(5.0)),
            ("e5", None),
            ("1e", None),
            ("", None),
            ("--1", None),
            ("+-1", None),
        ] {
            assert_eq!(parse_float(text.as_bytes()), want, "{text}");
        }
        assert!(parse_float(b"NaN").is_some_and(f64::is_nan));
        assert_eq!(parse_float(b"+nan"), None);
    }
}
