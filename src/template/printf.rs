//! Go's `fmt.Sprintf` over template values.

use crate::base::version::HelmVersion;
use crate::value::{OriginSet, Origins, Repr, Text, TextBuilder, Value};

use super::format::{Flags, MAX_WIDTH, format_one};
use super::print::{go_v, go_v_text};

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
                _ => out.push(b"%!(BADWIDTH)", OriginSet::EMPTY),
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
                    _ => out.push(b"%!(BADPREC)", OriginSet::EMPTY),
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
            out.push(b"%!(NOVERB)", OriginSet::EMPTY);
            break;
        };
        i += size;
        match () {
            () if verb == '%' => out.push(b"%", OriginSet::EMPTY),
            () if !good => out.push(format!("%!{verb}(BADINDEX)").as_bytes(), OriginSet::EMPTY),
            () => match args.get(next) {
                None => out.push(format!("%!{verb}(MISSING)").as_bytes(), OriginSet::EMPTY),
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
        out.push(format!("%!(EXTRA {})", extra.join(", ")).as_bytes(), OriginSet::EMPTY);
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
    let plain = !flags.any();
    if plain && (verb == 'v' || (verb == 's' && matches!(arg.repr(), Repr::Str(_) | Repr::Hole(_)))) {
        return out.push_text(&go_v_text(arg, helm, origins));
    }
    let formatted = format_one(verb, flags.of_verb(verb), arg, helm, 0);
    out.push(&formatted, arg.deep_origins(origins));
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
            out.push(b" ", OriginSet::EMPTY);
        }
        out.push_text(&go_v_text(arg, helm, origins));
    }
    if line {
        out.push(b"\n", OriginSet::EMPTY);
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
