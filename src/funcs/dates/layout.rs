//! Go's time layouts: the reference time `Mon Jan 2 15:04:05 MST 2006` written in the wanted form.

use super::civil::Time;

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(super) const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// One element of the reference time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chunk {
    LongMonth,
    ShortMonth,
    /// `1`, `01`
    Month {
        padded: bool,
    },
    LongWeekday,
    ShortWeekday,
    /// `2`, `02`, `_2`
    Day {
        pad: Option<u8>,
    },
    /// `002`, `__2`
    YearDay {
        pad: u8,
    },
    Hour24,
    /// `3`, `03`
    Hour12 {
        padded: bool,
    },
    Minute {
        padded: bool,
    },
    Second {
        padded: bool,
    },
    LongYear,
    ShortYear,
    /// `PM`, `pm`
    Half {
        lower: bool,
    },
    ZoneName,
    /// An offset: `Z` for UTC or not, with colons or not, with minutes and seconds or not.
    Offset {
        zulu: bool,
        colon: bool,
        minutes: bool,
        seconds: bool,
    },
    /// `.000` (zeros kept) or `.999` (trimmed), with that many digits, behind `.` or `,`.
    Fraction {
        digits: usize,
        trimmed: bool,
        comma: bool,
    },
}

const fn offset(zulu: bool, colon: bool, minutes: bool, seconds: bool) -> Chunk {
    Chunk::Offset { zulu, colon, minutes, seconds }
}

/// Elements by their spelling; of two that fit, the first counts.
const SPELLINGS: &[(&str, Chunk)] = &[
    ("January", Chunk::LongMonth),
    ("Monday", Chunk::LongWeekday),
    ("MST", Chunk::ZoneName),
    ("002", Chunk::YearDay { pad: b'0' }),
    ("01", Chunk::Month { padded: true }),
    ("02", Chunk::Day { pad: Some(b'0') }),
    ("03", Chunk::Hour12 { padded: true }),
    ("04", Chunk::Minute { padded: true }),
    ("05", Chunk::Second { padded: true }),
    ("06", Chunk::ShortYear),
    ("15", Chunk::Hour24),
    ("1", Chunk::Month { padded: false }),
    ("2006", Chunk::LongYear),
    ("2", Chunk::Day { pad: None }),
    ("__2", Chunk::YearDay { pad: b' ' }),
    ("_2", Chunk::Day { pad: Some(b' ') }),
    ("3", Chunk::Hour12 { padded: false }),
    ("4", Chunk::Minute { padded: false }),
    ("5", Chunk::Second { padded: false }),
    ("PM", Chunk::Half { lower: false }),
    ("pm", Chunk::Half { lower: true }),
    ("-070000", offset(false, false, true, true)),
    ("-07:00:00", offset(false, true, true, true)),
    ("-0700", offset(false, false, true, false)),
    ("-07:00", offset(false, true, true, false)),
    ("-07", offset(false, false, false, false)),
    ("Z070000", offset(true, false, true, true)),
    ("Z07:00:00", offset(true, true, true, true)),
    ("Z0700", offset(true, false, true, false)),
    ("Z07:00", offset(true, true, true, false)),
    ("Z07", offset(true, false, false, false)),
];

fn chunk_at(rest: &[u8]) -> Option<(usize, Chunk)> {
    let lower_after = |n: usize| rest.get(n).is_some_and(u8::is_ascii_lowercase);
    match rest {
        // A word that merely starts like the abbreviation is a word.
        [b'J', b'a', b'n', ..] if !rest.starts_with(b"January") && !lower_after(3) => {
            return Some((3, Chunk::ShortMonth));
        }
        [b'M', b'o', b'n', ..] if !rest.starts_with(b"Monday") && !lower_after(3) => {
            return Some((3, Chunk::ShortWeekday));
        }
        // An underscore before a year is just that.
        [b'_', b'2', b'0', b'0', b'6', ..] => return None,
        [separator @ (b'.' | b','), digit @ (b'0' | b'9'), ..] => {
            let digits = rest.iter().skip(1).take_while(|b| *b == digit).count();
            if rest.get(1 + digits).is_some_and(u8::is_ascii_digit) {
                return None;
            }
            let chunk = Chunk::Fraction { digits, trimmed: *digit == b'9', comma: *separator == b',' };
            return Some((1 + digits, chunk));
        }
        _ => {}
    }
    SPELLINGS.iter().find(|(text, _)| rest.starts_with(text.as_bytes())).map(|(text, chunk)| (text.len(), *chunk))
}

/// What stands before the first element, the element with its spelling, and the rest.
pub(super) type Split<'a> = (&'a [u8], Option<(Chunk, &'a [u8])>, &'a [u8]);

/// Splits a layout at its first element: what stands before it, the element with its spelling, and the rest.
pub(super) fn next_chunk(layout: &[u8]) -> Split<'_> {
    for at in 0..layout.len() {
        let (before, rest) = layout.split_at(at);
        if let Some((length, chunk)) = chunk_at(rest) {
            let (spelling, rest) = rest.split_at(length.min(rest.len()));
            return (before, Some((chunk, spelling)), rest);
        }
    }
    (layout, None, &[])
}

fn number(out: &mut Vec<u8>, value: i64, width: usize, pad: u8) {
    if value < 0 {
        out.push(b'-');
    }
    let digits = value.unsigned_abs().to_string();
    out.extend(std::iter::repeat_n(pad, width.saturating_sub(digits.len())));
    out.extend_from_slice(digits.as_bytes());
}

fn write_offset(out: &mut Vec<u8>, seconds: i32, colon: bool, minutes: bool, with_seconds: bool) {
    out.push(if seconds < 0 { b'-' } else { b'+' });
    let total = i64::from(seconds).abs();
    number(out, total / 3600, 2, b'0');
    let mut more = |value: i64| {
        if colon {
            out.push(b':');
        }
        number(out, value, 2, b'0');
    };
    if minutes {
        more(total / 60 % 60);
    }
    if with_seconds {
        more(total % 60);
    }
}

/// The time in the form of the layout.
pub fn format(time: &Time, layout: &[u8]) -> Vec<u8> {
    let parts = time.parts();
    let name = |names: &[&'static str], index: i64| usize::try_from(index).ok().and_then(|i| names.get(i).copied());
    let month = name(&MONTHS, parts.month - 1).unwrap_or("");
    let weekday = name(&WEEKDAYS, parts.weekday).unwrap_or("");
    let short = |name: &'static str| name.get(..3).unwrap_or(name).as_bytes();
    let mut out = Vec::with_capacity(layout.len() + 10);
    let mut rest = layout;
    loop {
        let (before, chunk, after) = next_chunk(rest);
        out.extend_from_slice(before);
        let Some((chunk, _)) = chunk else { return out };
        rest = after;
        let width = |padded: bool| if padded { 2 } else { 0 };
        let twelve = if parts.hour % 12 == 0 { 12 } else { parts.hour % 12 };
        match chunk {
            Chunk::LongMonth => out.extend_from_slice(month.as_bytes()),
            Chunk::ShortMonth => out.extend_from_slice(short(month)),
            Chunk::LongWeekday => out.extend_from_slice(weekday.as_bytes()),
            Chunk::ShortWeekday => out.extend_from_slice(short(weekday)),
            Chunk::Month { padded } => number(&mut out, parts.month, width(padded), b'0'),
            Chunk::Day { pad } => number(&mut out, parts.day, width(pad.is_some()), pad.unwrap_or(b'0')),
            Chunk::YearDay { pad } => number(&mut out, parts.year_day, 3, pad),
            Chunk::Hour24 => number(&mut out, parts.hour, 2, b'0'),
            Chunk::Hour12 { padded } => number(&mut out, twelve, width(padded), b'0'),
            Chunk::Minute { padded } => number(&mut out, parts.minute, width(padded), b'0'),
            Chunk::Second { padded } => number(&mut out, parts.second, width(padded), b'0'),
            Chunk::LongYear => number(&mut out, parts.year, 4, b'0'),
            Chunk::ShortYear => number(&mut out, parts.year.rem_euclid(100), 2, b'0'),
            Chunk::Half { lower } => out.extend_from_slice(match (parts.hour >= 12, lower) {
                (true, false) => b"PM",
                (true, true) => b"pm",
                (false, false) => b"AM",
                (false, true) => b"am",
            }),
            Chunk::ZoneName => match time.zone.abbreviation() {
                "" => write_offset(&mut out, time.zone.offset(), false, true, false),
                name => out.extend_from_slice(name.as_bytes()),
            },
            Chunk::Offset { zulu: true, .. } if time.zone.offset() == 0 => out.push(b'Z'),
            Chunk::Offset { colon, minutes, seconds, .. } => {
                write_offset(&mut out, time.zone.offset(), colon, minutes, seconds);
            }
            Chunk::Fraction { digits, trimmed, comma } => {
                let all = format!("{:09}", time.nanos);
                let mut shown = all.get(..digits.min(9)).unwrap_or(&all).to_owned();
                shown.extend(std::iter::repeat_n('0', digits.saturating_sub(9)));
                let shown = if trimmed { shown.trim_end_matches('0') } else { &shown };
                if !shown.is_empty() {
                    out.push(if comma { b',' } else { b'.' });
                    out.extend_from_slice(shown.as_bytes());
                }
            }
        }
    }
}
