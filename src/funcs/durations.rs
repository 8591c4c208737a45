//! Durations: Go's texts for them, and the functions on them.

use std::any::Any;
use std::rc::Rc;

use super::pure;
use crate::base::version::{HelmVersion, Quirk};
use crate::codec::goquote;
use crate::template::func::{Call, Effect, Flow, FuncDef, FuncError, Param};
use crate::value::{Method, Native, Origins, Repr, Value};

const SECOND: i64 = 1_000_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

const fn newer(
    name: &'static str,
    params: &'static [Param],
    run: fn(&mut Call<'_>, &[Value]) -> Result<Value, FuncError>,
    doc: &'static str,
) -> FuncDef {
    let since = |helm: HelmVersion| helm.has(Quirk::DurationFunctions);
    FuncDef { name, params, variadic: None, flow: Flow::Deep, effect: Effect::Pure, since, run, doc }
}

/// This file's part of the function table.
pub const FUNCS: &[FuncDef] = &[
    pure("duration", &[Param::Any], Flow::Deep, duration, "A number of seconds as a duration text."),
    pure("durationRound", &[Param::Any], Flow::Deep, duration_round, "A duration in its largest unit."),
    newer("mustToDuration", &[Param::Any], must_to_duration, "Reads a duration, or fails."),
    newer("durationSeconds", &[Param::Any], |_, a| float(a, SECOND), "A duration in seconds."),
    newer("durationMinutes", &[Param::Any], |_, a| float(a, MINUTE), "A duration in minutes."),
    newer("durationHours", &[Param::Any], |_, a| float(a, HOUR), "A duration in hours."),
    newer("durationDays", &[Param::Any], |_, a| Ok(Value::float(days(a))), "A duration in days."),
    newer("durationWeeks", &[Param::Any], |_, a| Ok(Value::float(days(a) / 7.0)), "A duration in weeks."),
    newer("durationMilliseconds", &[Param::Any], |_, a| int(a, 1_000_000), "A duration in milliseconds."),
    newer("durationMicroseconds", &[Param::Any], |_, a| int(a, 1000), "A duration in microseconds."),
    newer("durationNanoseconds", &[Param::Any], |_, a| int(a, 1), "A duration in nanoseconds."),
    newer("durationRoundTo", &[Param::Any, Param::Any], |_, a| multiple(a, round), "A duration rounded to a multiple."),
    newer(
        "durationTruncateTo",
        &[Param::Any, Param::Any],
        |_, a| multiple(a, truncate),
        "A duration cut to a multiple.",
    ),
];

/// The duration of so many nanoseconds as templates hold it: Go's `time.Duration`.
pub fn value(nanos: i64) -> Value {
    Value::new(Repr::Native(Rc::new(Duration(nanos))))
}

/// Go's `time.Duration`, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub struct Duration(pub i64);

/// Methods and the types of their parameters.
const METHODS: &[Method] = &[
    ("String", &[]),
    ("Seconds", &[]),
    ("Minutes", &[]),
    ("Hours", &[]),
    ("Milliseconds", &[]),
    ("Microseconds", &[]),
    ("Nanoseconds", &[]),
    ("Abs", &[]),
    ("Round", &["time.Duration"]),
    ("Truncate", &["time.Duration"]),
];

impl Native for Duration {
    fn type_name(&self, _: HelmVersion) -> String {
        "time.Duration".into()
    }
    fn kind(&self) -> &'static str {
        "int64"
    }
    fn methods(&self) -> &'static [Method] {
        METHODS
    }
    fn call(&self, name: &str, args: &[Value], _: &Origins) -> Result<Value, String> {
        let other = || {
            args.first()
                .and_then(|v| v.as_int().or_else(|| known(v)))
                .ok_or_else(|| "wrong type for value; expected time.Duration".to_owned())
        };
        Ok(match name {
            "Seconds" => Value::float(units(self.0, SECOND)),
            "Minutes" => Value::float(units(self.0, MINUTE)),
            "Hours" => Value::float(units(self.0, HOUR)),
            "Milliseconds" => Value::int64(self.0 / 1_000_000),
            "Microseconds" => Value::int64(self.0 / 1000),
            "Nanoseconds" => Value::int64(self.0),
            "Abs" => value(self.0.saturating_abs()),
            "Round" => value(round(self.0, other()?)),
            "Truncate" => value(truncate(self.0, other()?)),
            _ => Value::text(text(self.0)),
        })
    }
    fn print(&self, _: bool, sharp: bool) -> String {
        if sharp { self.0.to_string() } else { text(self.0) }
    }
    fn data(&self) -> Option<Value> {
        Some(Value::int64(self.0))
    }
    fn truth(&self) -> bool {
        self.0 != 0
    }
    fn spelled(&self) -> Option<String> {
        Some(text(self.0))
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The nanoseconds, if the value is a duration.
pub(super) fn known(value: &Value) -> Option<i64> {
    match value.repr() {
        Repr::Native(native) => native.as_any().downcast_ref::<Duration>().map(|d| d.0),
        _ => None,
    }
}

/// Whole units and the rest are divided apart, as Go does it.
fn units(nanos: i64, unit: i64) -> f64 {
    (nanos / unit) as f64 + (nanos % unit) as f64 / unit as f64
}

fn truncate(nanos: i64, multiple: i64) -> i64 {
    if multiple <= 0 { nanos } else { nanos - nanos % multiple }
}

/// To the nearest multiple, halves away from zero; at the ends of the range it stays there.
fn round(nanos: i64, multiple: i64) -> i64 {
    if multiple <= 0 {
        return nanos;
    }
    let rest = i128::from(nanos % multiple);
    let base = i128::from(nanos) - rest;
    let up = if rest.abs() * 2 < i128::from(multiple) { 0 } else { i128::from(multiple) * rest.signum() };
    i64::try_from(base + up).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX })
}

/// Go's text of a duration: `1h2m3.5s`, `1.5ms`, `0s`.
pub fn text(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let total = nanos.unsigned_abs();
    let fraction = |whole: u64, rest: u64, width: usize| {
        let digits = format!("{rest:0width$}");
        let digits = digits.trim_end_matches('0');
        if digits.is_empty() || rest == 0 { whole.to_string() } else { format!("{whole}.{digits}") }
    };
    match total {
        0 => "0s".into(),
        1..1000 => format!("{sign}{total}ns"),
        1000..1_000_000 => format!("{sign}{}µs", fraction(total / 1000, total % 1000, 3)),
        1_000_000..1_000_000_000 => format!("{sign}{}ms", fraction(total / 1_000_000, total % 1_000_000, 6)),
        _ => {
            let seconds = total / 1_000_000_000;
            let last = fraction(seconds % 60, total % 1_000_000_000, 9);
            match (seconds / 3600, seconds / 60 % 60) {
                (0, 0) => format!("{sign}{last}s"),
                (0, minutes) => format!("{sign}{minutes}m{last}s"),
                (hours, minutes) => format!("{sign}{hours}h{minutes}m{last}s"),
            }
        }
    }
}

/// Reads Go's text of a duration into nanoseconds. The error is Go's text.
pub fn parse(source: &[u8]) -> Result<i64, String> {
    let quoted = || super::dates::quote(source);
    let invalid = || format!("time: invalid duration {}", quoted());
    let (negative, mut rest) = match source {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    if rest == b"0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let whole_digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let mut whole: u64 = 0;
        for byte in rest.iter().take(whole_digits) {
            whole = whole.checked_mul(10).and_then(|w| w.checked_add(u64::from(byte - b'0'))).ok_or_else(invalid)?;
            if whole > 1 << 63 {
                return Err(invalid());
            }
        }
        rest = rest.get(whole_digits..).unwrap_or_default();
        let (mut part, mut scale, mut part_digits) = (0u64, 1f64, 0);
        if let Some(after) = rest.strip_prefix(b".") {
            part_digits = after.iter().take_while(|b| b.is_ascii_digit()).count();
            let mut full = false;
            for byte in after.iter().take(part_digits) {
                let next = part.checked_mul(10).and_then(|p| p.checked_add(u64::from(byte - b'0')));
                match next.filter(|n| !full && *n <= 1 << 63) {
                    Some(next) => {
                        part = next;
                        scale *= 10.0;
                    }
                    None => full = true,
                }
            }
            rest = after.get(part_digits..).unwrap_or_default();
        }
        if whole_digits + part_digits == 0 {
            return Err(invalid());
        }
        let length = rest.iter().take_while(|b| **b != b'.' && !b.is_ascii_digit()).count();
        let (unit, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        rest = after;
        let nanos: u64 = match unit {
            b"" => return Err(format!("time: missing unit in duration {}", quoted())),
            b"ns" => 1,
            b"us" | b"\xc2\xb5s" | b"\xce\xbcs" => 1000,
            b"ms" => 1_000_000,
            b"s" => SECOND as u64,
            b"m" => MINUTE as u64,
            b"h" => HOUR as u64,
            unit => {
                let unit = super::dates::quote(unit);
                return Err(format!("time: unknown unit {unit} in duration {}", quoted()));
            }
        };
        let mut amount = whole.checked_mul(nanos).filter(|n| *n <= 1 << 63).ok_or_else(invalid)?;
        if part > 0 {
            amount = amount.saturating_add((part as f64 * (nanos as f64 / scale)) as u64);
        }
        total = total.checked_add(amount).filter(|n| *n <= 1 << 63).ok_or_else(invalid)?;
    }
    match (negative, i64::try_from(total)) {
        (true, _) => Ok((total as i64).wrapping_neg()),
        (false, Ok(total)) => Ok(total),
        (false, Err(_)) => Err(invalid()),
    }
}

fn first(args: &[Value]) -> Value {
    args.first().cloned().unwrap_or_default()
}

fn duration(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    let seconds = match first(args).repr() {
        // Only `int64` counts; an `int` is 0 seconds.
        Repr::Int(seconds, crate::value::IntType::Int64) => *seconds,
        Repr::Str(text) => seconds_of(text.bytes()),
        _ => 0,
    };
    Ok(Value::text(text(seconds.wrapping_mul(SECOND))))
}

/// A decimal number, at the ends of the range where it is too large; anything else is 0.
fn seconds_of(text: &[u8]) -> i64 {
    let digits = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return 0;
    }
    let end = if text.starts_with(b"-") { i64::MIN } else { i64::MAX };
    std::str::from_utf8(text).ok().and_then(|t| t.parse().ok()).unwrap_or(end)
}

fn duration_round(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    let value = first(args);
    let mut clock = crate::value::OriginSet::EMPTY;
    let nanos = match value.repr() {
        Repr::Str(text) => parse(text.bytes()).unwrap_or(0),
        Repr::Int(nanos, crate::value::IntType::Int64) => *nanos,
        _ => match super::dates::known(&value) {
            Some(time) => {
                clock = super::dates::clock(call, "durationRound");
                super::dates::civil::Time::unix_nanos(call.world.now()).since(&time)
            }
            None => 0,
        },
    };
    let total = nanos.unsigned_abs();
    let hour = HOUR as u64;
    let units = [
        (hour * 24 * 365, "y"),
        (hour * 24 * 30, "mo"),
        (hour * 24, "d"),
        (hour, "h"),
        (MINUTE as u64, "m"),
        (SECOND as u64, "s"),
    ];
    let shown = units.into_iter().find(|(unit, _)| total > *unit);
    let shown = shown.map_or_else(|| "0s".into(), |(unit, name)| format!("{}{name}", total / unit));
    Ok(Value::text(shown).under(clock, call.origins))
}

fn overflow(kind: &str, shown: impl std::fmt::Display) -> String {
    format!("duration {kind} overflow: {shown}")
}

fn of_float(seconds: f64) -> Result<i64, String> {
    let shown = crate::codec::float::g;
    if !seconds.is_finite() {
        let name =
            if seconds.is_nan() { "NaN".into() } else { format!("{}Inf", if seconds > 0.0 { "+" } else { "-" }) };
        return Err(format!("invalid duration seconds: {name}"));
    }
    if seconds.abs() > i64::MAX as f64 / SECOND as f64 {
        return Err(overflow("seconds", shown(seconds)));
    }
    let nanos = seconds * SECOND as f64;
    if nanos.abs() >= i64::MAX as f64 {
        return Err(overflow("nanoseconds", shown(nanos)));
    }
    Ok(nanos as i64)
}

/// Reads what the newer functions take: a duration, its text, or seconds.
fn read(value: &Value) -> Result<i64, String> {
    if let Some(nanos) = known(value) {
        return Ok(nanos);
    }
    match value.repr() {
        Repr::Str(text) => {
            let trimmed = text.lossy();
            let trimmed = trimmed.trim();
            if trimmed.is_empty() {
                return Err("empty duration".into());
            }
            if let Ok(nanos) = parse(trimmed.as_bytes()) {
                return Ok(nanos);
            }
            match trimmed.parse::<f64>() {
                Ok(seconds) => of_float(seconds),
                Err(_) => Err(format!("could not parse duration {}", goquote::quote(text.bytes()))),
            }
        }
        Repr::Nil => Err("invalid duration".into()),
        Repr::Int(seconds, ty) if ty.is_unsigned() => match (*seconds as u64).checked_mul(SECOND as u64) {
            Some(nanos) if nanos <= i64::MAX as u64 => Ok(nanos as i64),
            _ => Err(overflow("seconds", *seconds as u64)),
        },
        Repr::Int(seconds, _) => seconds.checked_mul(SECOND).ok_or_else(|| overflow("seconds", seconds)),
        Repr::Float(seconds) => of_float(*seconds),
        Repr::Native(native) if matches!(native.kind(), "int" | "int64") => {
            let number = native.data().and_then(|v| v.as_int()).unwrap_or(0);
            number.checked_mul(SECOND).ok_or_else(|| overflow("seconds", number))
        }
        _ => Err(format!("unsupported duration type {}", value.type_name(HelmVersion::cli(4, 3, 2)))),
    }
}

fn must_to_duration(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    read(&first(args)).map(value).map_err(FuncError::Panic)
}

fn float(args: &[Value], unit: i64) -> Result<Value, FuncError> {
    Ok(Value::float(read(&first(args)).map_or(0.0, |nanos| units(nanos, unit))))
}

fn days(args: &[Value]) -> f64 {
    read(&first(args)).map_or(0.0, |nanos| units(nanos, HOUR) / 24.0)
}

fn int(args: &[Value], unit: i64) -> Result<Value, FuncError> {
    Ok(Value::int64(read(&first(args)).unwrap_or(0) / unit))
}

fn multiple(args: &[Value], to: fn(i64, i64) -> i64) -> Result<Value, FuncError> {
    let nanos = match read(&first(args)) {
        Ok(nanos) => nanos,
        Err(_) => return Ok(value(0)),
    };
    Ok(value(args.get(1).map_or(nanos, |unit| read(unit).map_or(nanos, |unit| to(nanos, unit)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_printed_and_read_as_go_does() {
        for (nanos, shown) in [
            (0, "0s"),
            (1, "1ns"),
            (1500, "1.5µs"),
            (2_000_000, "2ms"),
            (90 * SECOND, "1m30s"),
            (HOUR, "1h0m0s"),
            (-HOUR - 500_000_000, "-1h0m0.5s"),
            (i64::MIN, "-2562047h47m16.854775808s"),
        ] {
            assert_eq!(text(nanos), shown);
            assert_eq!(parse(shown.as_bytes()), Ok(nanos), "{shown}");
        }
        for (text, nanos) in [("-1.5h", -5400 * SECOND), (".5s", 500_000_000), ("1.s", SECOND), ("+5m", 5 * MINUTE)] {
            assert_eq!(parse(text.as_bytes()), Ok(nanos), "{text}");
        }
    }

    #[test]
    fn bad_durations_are_refused_in_gos_words() {
        for (text, fault) in [
            ("", "time: invalid duration \"\""),
            ("x", "time: invalid duration \"x\""),
            ("3", "time: missing unit in duration \"3\""),
            ("3d", "time: unknown unit \"d\" in duration \"3d\""),
            ("99999999999h", "time: invalid duration \"99999999999h\""),
        ] {
            assert_eq!(parse(text.as_bytes()), Err(fault.into()));
        }
    }

    #[test]
    fn rounding_takes_halves_away_from_zero() {
        assert_eq!(round(91 * MINUTE, HOUR), 2 * HOUR);
        assert_eq!(round(-90 * MINUTE, HOUR), -2 * HOUR);
        assert_eq!(round(i64::MAX, HOUR), i64::MAX);
        assert_eq!(truncate(91 * MINUTE, HOUR), HOUR);
        assert_eq!(round(7, 0), 7);
    }
}
