//! Go's spellings of floating-point numbers. All use the shortest digits that read back as the same number.

/// Sign, digits `d1d2…` and exponent of the first digit, so that the value is `±d1.d2… × 10^exponent`.
fn digits(exponential: &str) -> (bool, String, i32) {
    let (negative, rest) = match exponential.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, exponential),
    };
    let (mantissa, exponent) = rest.split_once('e').unwrap_or((rest, "0"));
    (negative, mantissa.replace('.', ""), exponent.parse().unwrap_or(0))
}

fn plain(out: &mut String, digits: &str, exponent: i32) {
    if exponent < 0 {
        out.push_str("0.");
        out.extend(std::iter::repeat_n('0', (-exponent - 1) as usize));
        out.push_str(digits);
    } else {
        let whole = exponent as usize + 1;
        if digits.len() <= whole {
            out.push_str(digits);
            out.extend(std::iter::repeat_n('0', whole - digits.len()));
        } else {
            out.push_str(&digits[..whole]);
            out.push('.');
            out.push_str(&digits[whole..]);
        }
    }
}

fn scientific(out: &mut String, digits: &str, exponent: i32, min_width: usize) {
    out.push_str(&digits[..1]);
    if digits.len() > 1 {
        out.push('.');
        out.push_str(&digits[1..]);
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    out.push_str(&format!("e{sign}{:0min_width$}", exponent.unsigned_abs()));
}

/// The shortest digits that read back as the number, as `d.ddde±x`. Where two such decimals are equally near, Go takes
/// the one with the even last digit, and Rust the upper one.
pub fn shortest(value: f64) -> String {
    let shown = format!("{value:e}");
    let (mantissa, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
    let places = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    // Decimals of up to 15 digits are numbers of their own each.
    if places < 15 || !mantissa.ends_with(['1', '3', '5', '7', '9']) {
        return shown;
    }
    let mut even = mantissa.as_bytes().to_vec();
    if let Some(last) = even.last_mut() {
        *last -= 1;
    }
    let exact = format!("{value:.*e}", places + 60);
    let tie = exact
        .as_bytes()
        .strip_prefix(&even[..])
        .and_then(|rest| rest.strip_prefix(b"5"))
        .is_some_and(|rest| rest.iter().take_while(|b| **b != b'e').all(|b| *b == b'0'));
    match String::from_utf8(even) {
        Ok(even) if tie => format!("{even}e{exponent}"),
        _ => shown,
    }
}

fn special(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some("NaN")
    } else if value.is_infinite() {
        Some(if value > 0.0 { "+Inf" } else { "-Inf" })
    } else {
        None
    }
}

/// A number given as `d.ddde±x`: plain from 1e-4 up to below 10^`limit`, else with an exponent.
pub fn general(exponential: &str, limit: i32) -> String {
    let (negative, digits, exponent) = digits(exponential);
    let mut out = String::with_capacity(24);
    if negative {
        out.push('-');
    }
    if exponent < -4 || exponent >= limit {
        scientific(&mut out, &digits, exponent, 2);
    } else {
        plain(&mut out, &digits, exponent);
    }
    out
}

/// Go's `%v` and `strconv.FormatFloat(v, 'g', -1, 64)`: plain from 1e-4 up to below 1e6 (F-118), e.g. `1.5e+06`.
pub fn g(value: f64) -> String {
    special(value).map_or_else(|| general(&shortest(value), 6), str::to_owned)
}

/// The same in single precision, as float keys are spelled (F-44b).
pub fn g32(value: f64) -> String {
    let narrow = value as f32;
    special(narrow.into()).map_or_else(|| general(&format!("{narrow:e}"), 6), str::to_owned)
}

/// Go's `strconv.FormatFloat(v, 'f', -1, 64)`: never with an exponent.
pub fn f(value: f64) -> String {
    if let Some(word) = special(value) {
        return word.to_owned();
    }
    let (negative, digits, exponent) = digits(&shortest(value));
    let mut out = if negative { "-".to_owned() } else { String::new() };
    plain(&mut out, &digits, exponent);
    out
}

/// The number in JSON text (F-140); `None` for infinities and NaN, which JSON cannot hold.
pub fn json(value: f64) -> Option<String> {
    if !value.is_finite() {
        return None;
    }
    let (negative, digits, exponent) = digits(&shortest(value));
    let mut out = String::with_capacity(24);
    if negative {
        out.push('-');
    }
    let size = value.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        scientific(&mut out, &digits, exponent, 1);
    } else {
        plain(&mut out, &digits, exponent);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spelled_as_go_spells_them() {
        for (value, general, json_text) in [
            (0.0001, "0.0001", "0.0001"),
            (1e-5, "1e-05", "0.00001"),
            (123456.5, "123456.5", "123456.5"),
            (1234567.5, "1.2345675e+06", "1234567.5"),
            (1e20, "1e+20", "100000000000000000000"),
            (730_231_477_294_808.0 + 0.25, "7.302314772948082e+14", "730231477294808.2"),
            (730_231_477_294_808.0 + 0.75, "7.302314772948088e+14", "730231477294808.8"),
            (219_249_792_550_880.0 + 0.625, "2.1924979255088062e+14", "219249792550880.62"),
            (1e21, "1e+21", "1e+21"),
            (1e-7, "1e-07", "1e-7"),
            (-0.0, "-0", "-0"),
            (9007199254740992.0, "9.007199254740992e+15", "9007199254740992"),
            (1e100, "1e+100", "1e+100"),
        ] {
            assert_eq!(g(value), general);
            assert_eq!(json(value).as_deref(), Some(json_text));
        }
        assert_eq!(g32(123456789012345678901234567890.0), "1.2345679e+29");
        assert_eq!((f(1e21), f(-1e-7)), ("1000000000000000000000".into(), "-0.0000001".into()));
        assert_eq!(json(f64::NAN), None);
    }
}
