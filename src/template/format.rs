//! One argument of `printf`, formatted by a verb and its flags as Go's `fmt` does it.

use crate::base::version::HelmVersion;
use crate::codec::{float, goquote};
use crate::value::{IntType, ListType, MAX_DEPTH, Native, Repr, Value};

use super::complex::Complex;
use super::lex::rune;

/// Widest field that is written, and the largest precision: Go's own limit.
pub(super) const MAX_WIDTH: usize = 1_000_000;

/// What a print shows where Go shows the address that a pointer holds; any address does.
pub(super) const ADDRESS: &str = "0xc000000000";

/// What stands between the percent sign and the verb.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Flags {
    pub(super) plus: bool,
    pub(super) minus: bool,
    pub(super) sharp: bool,
    pub(super) space: bool,
    pub(super) zero: bool,
    pub(super) width: Option<usize>,
    pub(super) precision: Option<usize>,
    /// `%+v`: structs show the names of their fields.
    names: bool,
    /// `%#v`: Go syntax.
    syntax: bool,
}

impl Flags {
    /// Whether anything at all was asked for.
    pub(super) fn any(&self) -> bool {
        let Flags { plus, minus, sharp, space, zero, width, precision, names, syntax } = *self;
        plus || minus || sharp || space || zero || names || syntax || width.is_some() || precision.is_some()
    }

    /// The flags as they hold for the verb: `v` takes two of them for itself.
    pub(super) fn of_verb(self, verb: char) -> Self {
        match verb {
            'v' => Flags { plus: false, sharp: false, names: self.plus, syntax: self.sharp, ..self },
            _ => self,
        }
    }

    /// Zeros fill only from the left.
    fn fills_zeros(&self) -> bool {
        self.zero && !self.minus
    }
}

/// An argument as the verb shows it. `depth` is 0 for an argument itself, and more inside of it.
pub(super) fn format_one(verb: char, flags: Flags, arg: &Value, helm: HelmVersion, depth: usize) -> Vec<u8> {
    if depth > MAX_DEPTH {
        return b"...".to_vec();
    }
    if depth == 0 {
        match (verb, arg.repr()) {
            ('v' | 'T', Repr::Nil) => return pad(b"<nil>".to_vec(), flags),
            (_, Repr::Nil) => return format!("%!{verb}(<nil>)").into_bytes(),
            ('T', _) => return pad(truncated(arg.type_name(helm).as_bytes(), flags), flags),
            ('p', _) if matches!(arg.kind(), "map" | "slice" | "ptr" | "func") => return address(flags),
            _ => {}
        }
    }
    let shown = match arg.repr() {
        // Inside of lists and maps nothing is said of the verb.
        Repr::Nil if flags.syntax => Some(b"interface {}(nil)".to_vec()),
        Repr::Nil => Some(b"<nil>".to_vec()),
        Repr::Bool(value) => matches!(verb, 't' | 'v').then(|| pad(value.to_string().into_bytes(), flags)),
        Repr::Int(value, ty) => integer(verb, flags, *value, *ty),
        Repr::Float(value) => floating(verb, flags, *value),
        Repr::Str(text) => string(verb, flags, text.bytes()),
        Repr::Hole(hole) => string(verb, flags, hole.label.as_bytes()),
        Repr::List(list) => {
            let bytes = || -> Vec<u8> { list.items.iter().map(|item| item.as_int().unwrap_or(0) as u8).collect() };
            match list.ty {
                ListType::Byte if matches!(verb, 's' | 'q' | 'x' | 'X') => string(verb, flags, &bytes()),
                // An argument of bytes is called as Go's source calls it, bytes inside of something by their type.
                ListType::Byte if depth == 0 => Some(container(verb, flags, arg, "[]byte", helm, depth)),
                _ => Some(container(verb, flags, arg, &arg.type_name(helm), helm, depth)),
            }
        }
        Repr::Map(_) => Some(container(verb, flags, arg, &arg.type_name(helm), helm, depth)),
        Repr::Native(native) => self::native(verb, flags, (arg, &**native), helm, depth),
    };
    shown.unwrap_or_else(|| bad(verb, flags, arg, helm))
}

fn native(
    verb: char,
    flags: Flags,
    (arg, native): (&Value, &dyn Native),
    helm: HelmVersion,
    depth: usize,
) -> Option<Vec<u8>> {
    if let Some(complex) = native.as_any().downcast_ref() {
        return complex_parts(verb, flags, complex);
    }
    let name = arg.type_name(helm);
    if let Some(members) = native.members() {
        if native.kind() == "ptr" && depth > 0 {
            return matches!(verb, 'v' | 'p' | 'b' | 'o' | 'd' | 'x' | 'X').then(|| address(flags));
        }
        let mut out = Vec::new();
        out.extend((native.kind() == "ptr").then_some(b'&'));
        if flags.syntax {
            out.extend(name.trim_start_matches('*').as_bytes());
        }
        out.push(b'{');
        for (i, (field, value)) in members.iter().enumerate() {
            out.extend(separator(flags, i));
            if flags.names || flags.syntax {
                out.extend(format!("{field}:").into_bytes());
            }
            out.extend(format_one(verb, flags, value, helm, depth + 1));
        }
        out.push(b'}');
        return Some(out);
    }
    if let Some(elements) = native.elements().filter(|_| matches!(native.kind(), "slice" | "map")) {
        return Some(container(verb, flags, &elements, &name, helm, depth));
    }
    let number = || native.data().and_then(|data| data.as_int());
    match verb {
        'v' if flags.syntax => match number() {
            Some(number) => integer('d', flags, number, IntType::Int64),
            None => Some(native.print(false, true).into_bytes()),
        },
        // What has a text of its own shows it, whatever it is.
        'v' | 's' | 'x' | 'X' | 'q' => string(verb, flags, native.print(false, false).as_bytes()),
        _ => number().and_then(|number| integer(verb, flags, number, IntType::Int64)),
    }
}

/// What stands before the element of that number.
fn separator(flags: Flags, index: usize) -> &'static [u8] {
    match (index, flags.syntax) {
        (0, _) => b"",
        (_, true) => b", ",
        (_, false) => b" ",
    }
}

/// A list or map of that type: each element takes the verb.
fn container(verb: char, flags: Flags, value: &Value, name: &str, helm: HelmVersion, depth: usize) -> Vec<u8> {
    let mut out = Vec::new();
    if flags.syntax {
        out.extend(name.as_bytes());
        if value.is_typed_nil() {
            out.extend(b"(nil)");
            return out;
        }
    }
    match value.repr() {
        Repr::Map(map) => {
            out.extend(if flags.syntax { &b"{"[..] } else { b"map[" });
            for (i, (key, item)) in map.entries().iter().enumerate() {
                out.extend(separator(flags, i));
                out.extend(format_one(verb, flags, &Value::text(key.clone()), helm, depth + 1));
                out.push(b':');
                out.extend(format_one(verb, flags, item, helm, depth + 1));
            }
        }
        Repr::List(list) => {
            out.push(if flags.syntax { b'{' } else { b'[' });
            for (i, item) in list.items.iter().enumerate() {
                out.extend(separator(flags, i));
                out.extend(format_one(verb, flags, item, helm, depth + 1));
            }
        }
        _ => {}
    }
    out.push(if flags.syntax { b'}' } else { b']' });
    out
}

fn address(flags: Flags) -> Vec<u8> {
    pad(ADDRESS.as_bytes()[if flags.sharp { 2 } else { 0 }..].to_vec(), flags)
}

/// `%!d(string=x)`: the value is shown with the flags of the verb that does not fit.
fn bad(verb: char, flags: Flags, arg: &Value, helm: HelmVersion) -> Vec<u8> {
    let mut out = format!("%!{verb}({}=", arg.type_name(helm)).into_bytes();
    let number = match arg.repr() {
        Repr::Native(native) => native.data().filter(|data| data.as_int().is_some()),
        _ => None,
    };
    out.extend(format_one('v', flags, number.as_ref().unwrap_or(arg), helm, 0));
    out.push(b')');
    out
}

/// How many characters there are; each byte that is none counts as one.
fn runes(mut text: &[u8]) -> usize {
    let mut count = 0;
    while let Some((_, size)) = rune(text) {
        count += 1;
        text = &text[size..];
    }
    count
}

/// The first characters, as many as the precision says.
fn truncated(text: &[u8], flags: Flags) -> Vec<u8> {
    let Some(precision) = flags.precision else { return text.to_vec() };
    let mut end = 0;
    for _ in 0..precision {
        match rune(&text[end..]) {
            Some((_, size)) => end += size,
            None => break,
        }
    }
    text[..end].to_vec()
}

/// Fills up to the width, counted in characters.
fn pad(text: Vec<u8>, flags: Flags) -> Vec<u8> {
    let Some(width) = flags.width else { return text };
    let fill = width.saturating_sub(runes(&text));
    if flags.minus {
        return text.into_iter().chain(std::iter::repeat_n(b' ', fill)).collect();
    }
    let filler = if flags.fills_zeros() { b'0' } else { b' ' };
    std::iter::repeat_n(filler, fill).chain(text).collect()
}

fn integer(verb: char, flags: Flags, value: i64, ty: IntType) -> Option<Vec<u8>> {
    let (negative, magnitude) =
        if ty.is_unsigned() { (false, value as u64) } else { (value < 0, value.unsigned_abs()) };
    let unsigned_syntax = verb == 'v' && flags.syntax && ty.is_unsigned();
    let sharp = flags.sharp || unsigned_syntax;
    let (mut digits, prefix) = match verb {
        'v' if unsigned_syntax => (format!("{magnitude:x}"), "0x"),
        'd' | 'v' => (magnitude.to_string(), ""),
        'b' => (format!("{magnitude:b}"), "0b"),
        'o' | 'O' => (format!("{magnitude:o}"), ""),
        'x' => (format!("{magnitude:x}"), "0x"),
        'X' => (format!("{magnitude:X}"), "0X"),
        'c' | 'q' | 'U' => return Some(character(verb, flags, value)),
        _ => return None,
    };
    let no_zeros = Flags { zero: false, ..flags };
    if let Some(precision) = flags.precision {
        if precision == 0 && magnitude == 0 {
            return Some(pad(Vec::new(), no_zeros));
        }
        digits.insert_str(0, &"0".repeat(precision.saturating_sub(digits.len())));
    } else if let Some(width) = flags.width.filter(|_| flags.fills_zeros()) {
        let sign = usize::from(negative || flags.plus || flags.space);
        digits.insert_str(0, &"0".repeat(width.saturating_sub(digits.len() + sign)));
    }
    match verb {
        'o' | 'O' if sharp && !digits.starts_with('0') => digits.insert(0, '0'),
        _ if sharp => digits.insert_str(0, prefix),
        _ => {}
    }
    if verb == 'O' {
        digits.insert_str(0, "0o");
    }
    let sign = match () {
        () if negative => "-",
        () if flags.plus => "+",
        () if flags.space => " ",
        () => "",
    };
    Some(pad(format!("{sign}{digits}").into_bytes(), no_zeros))
}

fn character(verb: char, flags: Flags, value: i64) -> Vec<u8> {
    let c = u32::try_from(value).ok().and_then(char::from_u32);
    let shown = c.unwrap_or(char::REPLACEMENT_CHARACTER);
    match verb {
        'c' => pad(shown.to_string().into_bytes(), flags),
        'U' => {
            let digits = flags.precision.unwrap_or(0).max(4);
            let mut text = format!("U+{:0>digits$}", format!("{value:X}"));
            if let Some(c) = c.filter(|c| flags.sharp && goquote::is_print(*c)) {
                text.push_str(&format!(" '{c}'"));
            }
            pad(text.into_bytes(), Flags { zero: false, ..flags })
        }
        _ => {
            let text = goquote::quote_char(shown);
            pad(if flags.plus { goquote::ascii(&text) } else { text }.into_bytes(), flags)
        }
    }
}

/// Whether the text can stand between backquotes.
fn can_backquote(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes)
        .is_ok_and(|text| text.chars().all(|c| c == '\t' || !(c < ' ' || c == '`' || c == '\x7f' || c == '\u{feff}')))
}

fn string(verb: char, flags: Flags, bytes: &[u8]) -> Option<Vec<u8>> {
    Some(match verb {
        's' => pad(truncated(bytes, flags), flags),
        'v' if !flags.syntax => pad(truncated(bytes, flags), flags),
        'q' | 'v' => {
            let bytes = truncated(bytes, flags);
            let quoted = match () {
                () if flags.sharp && can_backquote(&bytes) => [b"`".as_slice(), &bytes, b"`"].concat(),
                () if flags.plus => goquote::ascii(&goquote::quote(&bytes)).into_bytes(),
                () => goquote::quote(&bytes).into_bytes(),
            };
            pad(quoted, flags)
        }
        'x' | 'X' => {
            let mut out = String::new();
            for (i, b) in bytes.iter().take(flags.precision.unwrap_or(usize::MAX)).enumerate() {
                if flags.space && i > 0 {
                    out.push(' ');
                }
                if flags.sharp && (i == 0 || flags.space) {
                    out.push_str(if verb == 'x' { "0x" } else { "0X" });
                }
                out.push_str(&if verb == 'x' { format!("{b:02x}") } else { format!("{b:02X}") });
            }
            pad(out.into_bytes(), flags)
        }
        _ => return None,
    })
}

fn floating(verb: char, flags: Flags, value: f64) -> Option<Vec<u8>> {
    let precision = flags.precision;
    let mut text = match verb {
        'v' | 'g' | 'G' => precision.map_or_else(|| float::g(value), |precision| general(value, precision)),
        'f' | 'F' => fixed(value, precision.unwrap_or(6)),
        'e' | 'E' => scientific(value, precision.unwrap_or(6)),
        'b' => binary(value),
        'x' | 'X' => hexadecimal(value, precision),
        _ => return None,
    };
    if matches!(verb, 'E' | 'G' | 'X') {
        text = text.to_uppercase();
    }
    let negative = text.starts_with('-');
    if !value.is_finite() {
        text = if value.is_nan() { "NaN".into() } else { "Inf".into() };
    } else {
        text = text.trim_start_matches(['+', '-']).to_owned();
        if flags.sharp && verb != 'b' {
            text = with_point(&text, verb, precision);
        }
    }
    let sign = match () {
        () if negative && !value.is_nan() => "-",
        () if flags.plus => "+",
        () if flags.space => " ",
        () if value.is_infinite() => "+",
        () => "",
    };
    if !value.is_finite() {
        return Some(pad(format!("{sign}{text}").into_bytes(), Flags { zero: false, ..flags }));
    }
    let zeros = match flags.width.filter(|_| flags.fills_zeros()) {
        Some(width) => width.saturating_sub(sign.len() + text.len()),
        None => 0,
    };
    Some(pad(format!("{sign}{}{text}", "0".repeat(zeros)).into_bytes(), flags))
}

/// The alternate form of a number without sign: always a point, and zeros up to the precision.
fn with_point(text: &str, verb: char, precision: Option<usize>) -> String {
    let is_hex = matches!(verb, 'x' | 'X');
    let mut missing = if matches!(verb, 'v' | 'g' | 'G' | 'x') { precision.map_or(6, |p| p as i64) } else { 0 };
    let exponent: &[char] = if is_hex { &['p', 'P'] } else { &['e', 'E', 'p', 'P'] };
    let (mantissa, tail) = text.split_at(text.find(exponent).unwrap_or(text.len()));
    // Digits count from the first that is not zero; the letter of a base counts as one.
    let digits = mantissa.bytes().filter(|b| *b != b'.').skip_while(|b| *b == b'0').count();
    missing -= digits as i64;
    let mut out = mantissa.to_owned();
    if !mantissa.contains('.') {
        missing -= i64::from(mantissa == "0");
        out.push('.');
    }
    out.extend(std::iter::repeat_n('0', missing.max(0) as usize));
    out + tail
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

fn general(value: f64, precision: usize) -> String {
    let precision = precision.clamp(1, 1000);
    let rounded = scientific(value, precision - 1);
    let exponent: i32 = rounded.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    if exponent < -4 || exponent >= precision as i32 {
        let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "+00"));
        let mantissa =
            if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
        return format!("{mantissa}e{exponent}");
    }
    let text = format!("{:.*}", (precision as i32 - 1 - exponent).max(0) as usize, value);
    if !text.contains('.') { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}
