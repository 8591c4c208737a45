//! Go's `fmt.Sprintf` over template values.

use crate::base::version::HelmVersion;
use crate::codec::{float, goquote};
use crate::value::{IntType, ListType, Origins, Repr, Text, TextBuilder, Value};

use super::complex::Complex;
use super::print::{go_plus_v, go_sharp_v, go_v, go_v_text};

/// Widest field that is written; Go's own limit is a million.
const MAX_WIDTH: usize = 1_000_000;

#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    plus: bool,
    minus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

/// `Sprintf(format, arguments…)`. The text keeps the marks of the format and of arguments shown by `%s` and `%v`.
pub fn sprintf(format: &Text, args: &[Value], helm: HelmVersion, origins: &Origins) -> Text {
    let bytes = format.bytes();
    let mut out = TextBuilder::default();
    let mut next = 0usize;
    let mut reordered = false;
    let mut i = 0;
    while i < bytes.len() {
        let start = i;
        while i < bytes.len() && bytes[i] != b'%' {
            i += 1;
        }
        out.push_slice(format, start, i);
        if i >= bytes.len() {
            break;
        }
        i += 1;
        let mut flags = Flags::default();
        while let Some(&b) = bytes.get(i) {
            match b {
                b'+' => flags.plus = true,
                b'-' => {
                    flags.minus = true;
                    flags.zero = false;
                }
                b'#' => flags.sharp = true,
                b' ' => flags.space = true,
                b'0' => flags.zero = true,
                _ => break,
            }
            i += 1;
        }
        let mut good = true;
        argument_index(bytes, &mut i, &mut next, args.len(), &mut reordered, &mut good);
        let mut after_index = false;
        if bytes.get(i) == Some(&b'*') {
            i += 1;
            match args.get(next).and_then(Value::as_int) {
                Some(width) if width.unsigned_abs() as usize <= MAX_WIDTH => {
                    flags.minus |= width < 0;
                    flags.width = Some(width.unsigned_abs() as usize);
                    if width < 0 {
                        flags.zero = false;
                    }
                }
                _ => out.push(b"%!(BADWIDTH)", crate::value::OriginSet::EMPTY),
            }
            next += 1;
        } else if let Some(width) = digits(bytes, &mut i) {
            flags.width = Some(width);
            after_index = reordered;
        }
        if bytes.get(i) == Some(&b'.') {
            i += 1;
            argument_index(bytes, &mut i, &mut next, args.len(), &mut reordered, &mut good);
            if bytes.get(i) == Some(&b'*') {
                i += 1;
                match args.get(next).and_then(Value::as_int) {
                    Some(precision) if (0..=MAX_WIDTH as i64).contains(&precision) => {
                        flags.precision = Some(precision as usize);
                    }
                    _ => out.push(b"%!(BADPREC)", crate::value::OriginSet::EMPTY),
                }
                next += 1;
            } else {
                flags.precision = Some(digits(bytes, &mut i).unwrap_or(0));
            }
        }
        if !after_index {
            argument_index(bytes, &mut i, &mut next, args.len(), &mut reordered, &mut good);
        }
        let Some((verb, size)) = super::lex::rune(&bytes[i.min(bytes.len())..]) else {
            out.push(b"%!(NOVERB)", crate::value::OriginSet::EMPTY);
            break;
        };
        i += size;
        match () {
            () if verb == '%' => out.push(b"%", crate::value::OriginSet::EMPTY),
            () if !good => out.push(format!("%!{verb}(BADINDEX)").as_bytes(), crate::value::OriginSet::EMPTY),
            () => match args.get(next) {
                None => out.push(format!("%!{verb}(MISSING)").as_bytes(), crate::value::OriginSet::EMPTY),
                Some(arg) => {
                    next += 1;
                    one(&mut out, verb, flags, arg, helm, origins);
                }
            },
        }
    }
    if !reordered && next < args.len() {
        let extra: Vec<String> = args[next..]
            .iter()
            .map(|arg| match arg.repr() {
                Repr::Nil => "<nil>".to_owned(),
                _ => format!("{}={}", arg.type_name(helm), String::from_utf8_lossy(&go_v(arg, helm))),
            })
            .collect();
        out.push(format!("%!(EXTRA {})", extra.join(", ")).as_bytes(), crate::value::OriginSet::EMPTY);
    }
    out.finish()
}

fn digits(bytes: &[u8], i: &mut usize) -> Option<usize> {
    let start = *i;
    let mut value = 0usize;
    while let Some(d) = bytes.get(*i).filter(|b| b.is_ascii_digit()) {
        if value > MAX_WIDTH {
            *i = bytes.len();
            return None;
        }
        value = value * 10 + usize::from(d - b'0');
        *i += 1;
    }
    (*i > start).then_some(value)
}

/// `[n]`: the next argument is the nth.
fn argument_index(bytes: &[u8], i: &mut usize, next: &mut usize, count: usize, reordered: &mut bool, good: &mut bool) {
    if bytes.get(*i) != Some(&b'[') {
        return;
    }
    *reordered = true;
    let Some(end) = bytes[*i..].iter().position(|b| *b == b']') else {
        *good = false;
        *i += 1;
        return;
    };
    let mut at = *i + 1;
    let index = digits(bytes, &mut at).filter(|_| at == *i + end);
    *i += end + 1;
    match index {
        Some(index) if index >= 1 && index <= count => *next = index - 1,
        _ => *good = false,
    }
}

fn one(out: &mut TextBuilder, verb: char, flags: Flags, arg: &Value, helm: HelmVersion, origins: &Origins) {
    // The common cases keep their marks.
    let plain = flags.width.is_none() && flags.precision.is_none() && !flags.sharp && !flags.plus;
    if plain && (verb == 'v' || (verb == 's' && matches!(arg.repr(), Repr::Str(_) | Repr::Hole(_)))) {
        return out.push_text(&go_v_text(arg, helm, origins));
    }
    let formatted = format_one(verb, flags, arg, helm, 0);
    out.push(&formatted, arg.deep_origins(origins));
}

fn format_one(verb: char, flags: Flags, arg: &Value, helm: HelmVersion, depth: usize) -> Vec<u8> {
    if depth > crate::value::MAX_DEPTH {
        return b"...".to_vec();
    }
    // `%+v` shows the names of fields; it is no sign.
    let names = verb == 'v' && flags.plus;
    let flags = if names && !matches!(arg.repr(), Repr::Native(_) | Repr::List(_) | Repr::Map(_)) {
        Flags { plus: false, ..flags }
    } else {
        flags
    };
    if verb == 'T' {
        return pad(arg.type_name(helm).into_bytes(), flags, false);
    }
    if verb == 'p' {
        return bad(verb, flags, arg, helm, depth);
    }
    match arg.repr() {
        // Inside of lists and maps nothing is said of the verb.
        Repr::Nil if depth > 0 => b"<nil>".to_vec(),
        Repr::Nil if verb == 'v' => pad(b"<nil>".to_vec(), flags, false),
        Repr::Nil => format!("%!{verb}(<nil>)").into_bytes(),
        _ if verb == 'v' && flags.sharp => pad(go_sharp_v(arg, helm).into_bytes(), flags, false),
        Repr::Bool(value) => match verb {
            't' | 'v' => pad(value.to_string().into_bytes(), flags, flags.zero && !flags.minus),
            _ => bad(verb, flags, arg, helm, depth),
        },
        Repr::Int(value, ty) => integer(verb, flags, *value, *ty).unwrap_or_else(|| bad(verb, flags, arg, helm, depth)),
        Repr::Float(value) => floating(verb, flags, *value).unwrap_or_else(|| bad(verb, flags, arg, helm, depth)),
        Repr::Str(text) => string(verb, flags, text.bytes()).unwrap_or_else(|| bad(verb, flags, arg, helm, depth)),
        Repr::Hole(hole) => {
            string(verb, flags, hole.label.as_bytes()).unwrap_or_else(|| bad(verb, flags, arg, helm, depth))
        }
        Repr::List(list) if list.ty == ListType::Byte && matches!(verb, 's' | 'q' | 'x' | 'X') => {
            let bytes: Vec<u8> = list.items.iter().map(|item| item.as_int().unwrap_or(0) as u8).collect();
            string(verb, flags, &bytes).unwrap_or_default()
        }
        Repr::List(list) => {
            let mut out = b"[".to_vec();
            for (i, item) in list.items.iter().enumerate() {
                if i > 0 {
                    out.push(b' ');
                }
                out.extend(format_one(verb, flags, item, helm, depth + 1));
            }
            out.push(b']');
            out
        }
        Repr::Map(map) => {
            let mut out = b"map[".to_vec();
            for (i, (key, item)) in map.entries().iter().enumerate() {
                if i > 0 {
                    out.push(b' ');
                }
                out.extend(format_one(verb, flags, &Value::text(key.clone()), helm, depth + 1));
                out.push(b':');
                out.extend(format_one(verb, flags, item, helm, depth + 1));
            }
            out.push(b']');
            out
        }
        Repr::Native(native) if native.as_any().is::<Complex>() => native
            .as_any()
            .downcast_ref()
            .and_then(|complex| complex_parts(verb, flags, complex))
            .unwrap_or_else(|| bad(verb, flags, arg, helm, depth)),
        Repr::Native(native) => match verb {
            'v' => pad(if flags.plus { go_plus_v(arg, helm) } else { go_v(arg, helm) }, flags, false),
            's' => pad(go_v(arg, helm), flags, false),
            'q' => pad(goquote::quote(native.print(false, false).as_bytes()).into_bytes(), flags, false),
            'd' => match native.data().map(|data| (data.as_int(), data)) {
                Some((Some(_), data)) => format_one(verb, flags, &data, helm, depth + 1),
                _ => bad(verb, flags, arg, helm, depth),
            },
            _ => bad(verb, flags, arg, helm, depth),
        },
    }
}

/// `%!d(string=x)`: the value is formatted with the flags of the verb that does not fit.
fn bad(verb: char, flags: Flags, arg: &Value, helm: HelmVersion, depth: usize) -> Vec<u8> {
    let mut out = format!("%!{verb}({}=", arg.type_name(helm)).into_bytes();
    out.extend(format_one('v', flags, arg, helm, depth + 1));
    out.push(b')');
    out
}

/// Fills up to the width, counted in characters.
fn pad(text: Vec<u8>, flags: Flags, zero: bool) -> Vec<u8> {
    let Some(width) = flags.width else { return text };
    let count = String::from_utf8_lossy(&text).chars().count();
    if count >= width {
        return text;
    }
    let fill = width - count;
    let mut out = Vec::with_capacity(text.len() + fill);
    if flags.minus {
        out.extend(text);
        out.extend(std::iter::repeat_n(b' ', fill));
    } else if zero {
        let sign = usize::from(matches!(text.first(), Some(b'+' | b'-' | b' ')));
        out.extend(&text[..sign]);
        out.extend(std::iter::repeat_n(b'0', fill));
        out.extend(&text[sign..]);
    } else {
        out.extend(std::iter::repeat_n(b' ', fill));
        out.extend(text);
    }
    out
}

fn integer(verb: char, flags: Flags, value: i64, ty: IntType) -> Option<Vec<u8>> {
    let (negative, magnitude) =
        if ty.is_unsigned() { (false, value as u64) } else { (value < 0, value.unsigned_abs()) };
    let (mut digits, prefix) = match verb {
        'd' | 'v' => (magnitude.to_string(), ""),
        'b' => (format!("{magnitude:b}"), if flags.sharp { "0b" } else { "" }),
        'o' => (format!("{magnitude:o}"), if flags.sharp { "0" } else { "" }),
        'O' => (format!("{magnitude:o}"), "0o"),
        'x' => (format!("{magnitude:x}"), if flags.sharp { "0x" } else { "" }),
        'X' => (format!("{magnitude:X}"), if flags.sharp { "0X" } else { "" }),
        'c' | 'q' | 'U' => return Some(character(verb, flags, value)),
        'e' | 'f' | 'g' | 'E' | 'F' | 'G' | 's' | 't' => return None,
        _ => return None,
    };
    if let Some(precision) = flags.precision {
        if precision == 0 && magnitude == 0 {
            return Some(pad(Vec::new(), Flags { zero: false, ..flags }, false));
        }
        digits.insert_str(0, &"0".repeat(precision.saturating_sub(digits.len())));
    } else if flags.zero
        && !flags.minus
        && let Some(width) = flags.width
    {
        let sign = usize::from(negative || flags.plus || flags.space);
        digits.insert_str(0, &"0".repeat(width.saturating_sub(digits.len() + sign)));
    }
    let sign = if negative {
        "-"
    } else if flags.plus {
        "+"
    } else if flags.space {
        " "
    } else {
        ""
    };
    Some(pad(format!("{sign}{prefix}{digits}").into_bytes(), flags, false))
}

fn character(verb: char, flags: Flags, value: i64) -> Vec<u8> {
    let c = u32::try_from(value).ok().and_then(char::from_u32).unwrap_or('\u{FFFD}');
    let text = match verb {
        'c' => c.to_string(),
        'U' => {
            let shown = if flags.sharp { format!(" '{c}'") } else { String::new() };
            format!("U+{:04X}{shown}", value)
        }
        _ => goquote::quote_char(c),
    };
    let text = if verb == 'q' && flags.plus { goquote::ascii(&text) } else { text };
    pad(text.into_bytes(), flags, false)
}

fn string(verb: char, flags: Flags, bytes: &[u8]) -> Option<Vec<u8>> {
    let cut = |bytes: &[u8]| -> Vec<u8> {
        match flags.precision {
            Some(n) if matches!(verb, 's' | 'v' | 'q') => {
                String::from_utf8_lossy(bytes).chars().take(n).collect::<String>().into_bytes()
            }
            Some(n) => bytes[..n.min(bytes.len())].to_vec(),
            None => bytes.to_vec(),
        }
    };
    let bytes = cut(bytes);
    Some(match verb {
        's' | 'v' => pad(bytes, flags, flags.zero && !flags.minus),
        'q' => {
            let raw = flags.sharp
                && !bytes.contains(&b'`')
                && bytes.iter().all(|b| *b == b'\t' || (*b >= 0x20 && *b != 0x7f));
            let quoted = match raw {
                true => [b"`".as_slice(), &bytes, b"`"].concat(),
                false if flags.plus => goquote::ascii(&goquote::quote(&bytes)).into_bytes(),
                false => goquote::quote(&bytes).into_bytes(),
            };
            pad(quoted, flags, flags.zero && !flags.minus)
        }
        'x' | 'X' => {
            let mut out = String::new();
            for (i, b) in bytes.iter().enumerate() {
                if flags.space && i > 0 {
                    out.push(' ');
                }
                if flags.sharp && (i == 0 || flags.space) {
                    out.push_str(if verb == 'x' { "0x" } else { "0X" });
                }
                out.push_str(&if verb == 'x' { format!("{b:02x}") } else { format!("{b:02X}") });
            }
            pad(out.into_bytes(), flags, flags.zero && !flags.minus)
        }
        _ => return None,
    })
}

fn floating(verb: char, flags: Flags, value: f64) -> Option<Vec<u8>> {
    let mut text = match verb {
        'v' if flags.precision.is_none() => float::g(value),
        'g' | 'G' if flags.precision.is_none() => float::g(value),
        'v' | 'g' | 'G' => general(value, flags.precision.unwrap_or(6), flags.sharp),
        'f' | 'F' => fixed(value, flags.precision.unwrap_or(6)),
        'e' | 'E' => scientific(value, flags.precision.unwrap_or(6)),
        'b' => binary(value),
        'x' | 'X' => hexadecimal(value, flags.precision),
        _ => return None,
    };
    if value.is_nan() {
        text = "NaN".into();
    } else if value.is_infinite() {
        text = if value > 0.0 { "+Inf".into() } else { "-Inf".into() };
    }
    if matches!(verb, 'E' | 'G' | 'X') {
        text = text.to_uppercase();
    }
    if !text.starts_with(['+', '-']) {
        if flags.plus {
            text.insert(0, '+');
        } else if flags.space {
            text.insert(0, ' ');
        }
    } else if text.starts_with('+') && !flags.plus {
        text.remove(0);
        if value.is_infinite() {
            text.insert(0, '+');
        }
    }
    Some(pad(text.into_bytes(), flags, flags.zero && !flags.minus && value.is_finite()))
}

/// Both parts take the verb and its flags; the second always has a sign.
fn complex_parts(verb: char, flags: Flags, value: &Complex) -> Option<Vec<u8>> {
    let real = floating(verb, flags, value.0)?;
    let imaginary = floating(verb, Flags { plus: true, ..flags }, value.1)?;
    Some([b"(".as_slice(), &real, &imaginary, b"i)"].concat())
}

/// A float has at most this many digits behind its point; all others are zeros.
const MOST_DIGITS: usize = 1100;

fn fixed(value: f64, precision: usize) -> String {
    let zeros = "0".repeat(precision.saturating_sub(MOST_DIGITS));
    format!("{value:.*}{zeros}", precision.min(MOST_DIGITS))
}

/// `d.ddde±NN`
fn scientific(value: f64, precision: usize) -> String {
    let zeros = "0".repeat(precision.saturating_sub(MOST_DIGITS));
    let text = format!("{:.*e}", precision.min(MOST_DIGITS), value);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{mantissa}{zeros}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.unsigned_abs())
}

/// Mantissa and exponent of the base 2, so that the value is their product but for the sign.
fn parts(value: f64) -> (u64, i64) {
    let bits = value.to_bits();
    let (mantissa, exponent) = (bits & ((1 << 52) - 1), ((bits >> 52) & 0x7ff) as i64);
    if exponent == 0 { (mantissa, -1074) } else { (mantissa | 1 << 52, exponent - 1075) }
}

fn minus(value: f64) -> &'static str {
    if value.is_sign_negative() { "-" } else { "" }
}

/// `mantissap±exponent`
fn binary(value: f64) -> String {
    let (mantissa, exponent) = parts(value);
    format!("{}{mantissa}p{exponent:+}", minus(value))
}

/// `0x1.hhhp±NN`
fn hexadecimal(value: f64, precision: Option<usize>) -> String {
    let (mut mantissa, mut exponent) = parts(value);
    if mantissa == 0 {
        exponent = 0;
    } else {
        // One digit in front of the point, 15 behind it.
        let shift = mantissa.leading_zeros() - 3;
        mantissa <<= shift;
        exponent += 60 - i64::from(shift);
    }
    if let Some(digits) = precision.filter(|digits| *digits < 15) {
        let (cut, half) = (60 - 4 * digits as u32, 1u64 << (59 - 4 * digits as u32));
        let (kept, rest) = (mantissa >> cut, mantissa & ((1 << cut) - 1));
        mantissa = (kept + u64::from(rest > half || (rest == half && kept % 2 == 1))) << cut;
        if mantissa >> 61 > 0 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    let all = format!("{:015x}", mantissa & ((1 << 60) - 1));
    let fraction = match precision {
        Some(digits) => all.chars().chain(std::iter::repeat('0')).take(digits).collect(),
        None => all.trim_end_matches('0').to_owned(),
    };
    let point = if fraction.is_empty() { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}0x{}{point}{fraction}p{sign}{:02}", minus(value), mantissa >> 60, exponent.unsigned_abs())
}

fn general(value: f64, precision: usize, keep_zeros: bool) -> String {
    let precision = precision.clamp(1, 1000);
    let rounded = scientific(value, precision - 1);
    let exponent: i32 = rounded.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    if exponent < -4 || exponent >= precision as i32 {
        let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "+00"));
        let mantissa = if keep_zeros || !mantissa.contains('.') {
            mantissa
        } else {
            mantissa.trim_end_matches('0').trim_end_matches('.')
        };
        return format!("{mantissa}e{exponent}");
    }
    let text = format!("{:.*}", (precision as i32 - 1 - exponent).max(0) as usize, value);
    if keep_zeros || !text.contains('.') { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

/// `Sprint`: arguments side by side, with a space where neither neighbour is a string.
pub fn sprint(args: &[Value], helm: HelmVersion, origins: &Origins) -> Text {
    join(args, helm, origins, false)
}

/// `Sprintln`: arguments with spaces between, and a line break.
pub fn sprintln(args: &[Value], helm: HelmVersion, origins: &Origins) -> Text {
    join(args, helm, origins, true)
}

fn join(args: &[Value], helm: HelmVersion, origins: &Origins, line: bool) -> Text {
    let mut out = TextBuilder::default();
    for (i, arg) in args.iter().enumerate() {
        let is_string = |v: &Value| matches!(v.repr(), Repr::Str(_) | Repr::Hole(_));
        if i > 0 && (line || (!is_string(arg) && !is_string(&args[i - 1]))) {
            out.push(b" ", crate::value::OriginSet::EMPTY);
        }
        out.push_text(&go_v_text(arg, helm, origins));
    }
    if line {
        out.push(b"\n", crate::value::OriginSet::EMPTY);
    }
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(format: &str, args: &[Value]) -> String {
        let origins = Origins::new(false);
        sprintf(&format.into(), args, HelmVersion::cli(4, 2, 2), &origins).lossy().into_owned()
    }

    #[test]
    fn verbs_and_flags_as_go_prints_them() {
        let cases: &[(&str, &[Value], &str)] = &[
            (
                "%d|%5d|%-5d|%05d|%+d",
                &[Value::int(7), Value::int(7), Value::int(7), Value::int(-7), Value::int(7)],
                "7|    7|7    |-0007|+7",
            ),
            ("%s %q %x", &[Value::text("a"), Value::text("b\"c"), Value::text("hi")], "a \"b\\\"c\" 6869"),
            (
                "%v %T %.2f %e %g",
                &[Value::NIL, Value::int64(1), Value::float(2.345), Value::float(12345.678), Value::float(1e21)],
                "<nil> int64 2.35 1.234568e+04 1e+21",
            ),
            ("%d %s", &[Value::text("x")], "%!d(string=x) %!s(MISSING)"),
            ("%s", &[Value::int(5), Value::bool(true)], "%!s(int=5)%!(EXTRA bool=true)"),
            ("100%% %", &[], "100% %!(NOVERB)"),
            ("%[2]d %[1]d", &[Value::int(1), Value::int(2)], "2 1"),
            (
                "%t %5t %v",
                &[Value::bool(true), Value::bool(false), Value::list(vec![Value::int(1), Value::text("a")])],
                "true false [1 a]",
            ),
            ("%z", &[Value::int(1)], "%!z(int=1)"),
            ("%5s %s", &[Value::NIL, Value::list(vec![Value::NIL])], "%!s(<nil>) [<nil>]"),
            (
                "%x %X %.1x %x %b",
                &[Value::float(1.5), Value::float(-0.1), Value::float(1.97), Value::float(0.0), Value::float(1.0)],
                "0x1.8p+00 -0X1.999999999999AP-04 0x1.0p+01 0x0p+00 4503599627370496p-52",
            ),
            (
                "%6.2f|%-8s|%08.3f",
                &[Value::float(3.25125), Value::text("ab"), Value::float(-3.25125)],
                "  3.25|ab      |-003.251",
            ),
        ];
        for (format, args, want) in cases {
            assert_eq!(printed(format, args), *want, "{format}");
        }
    }

    #[test]
    fn shown_strings_keep_their_marks() {
        let origins = Origins::new(true);
        let fact = origins.only(crate::value::origin::Origin::KubeVersion);
        let arg = Value::text_in(Text::marked(*b"1.30", fact), &origins);
        let text = sprintf(&"v%s!".into(), &[arg], HelmVersion::cli(4, 2, 2), &origins);
        assert_eq!((text.marks()[0].start, text.marks()[0].end), (1, 5));
    }
}
