//! Reads times by a layout, with Go's complaints.

use std::fmt::Write;

use super::civil::{Time, Zone, days_in};
use super::layout::{Chunk, MONTHS, WEEKDAYS, next_chunk};

/// Go's `time` package quotes on its own: everything but printable ASCII as bytes.
pub(in crate::funcs) fn quote(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for byte in bytes {
        match byte {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(char::from(*byte));
            }
            b' '..=b'~' | 0x7f => out.push(char::from(*byte)),
            _ => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
    out.push('"');
    out
}

/// Why one element could not be read.
enum Fault {
    /// It does not look like it.
    Shape,
    /// A number in it is too large or small.
    Range(&'static str),
}

/// What has been read so far.
struct Read {
    year: i64,
    month: Option<i64>,
    day: Option<i64>,
    year_day: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    nanos: u32,
    pm: bool,
    am: bool,
    utc: bool,
    offset: Option<i32>,
    zone: Vec<u8>,
}

fn digit(value: &[u8], at: usize) -> Option<i64> {
    value.get(at).filter(|b| b.is_ascii_digit()).map(|b| i64::from(b - b'0'))
}

/// A number of `width` digits.
fn exact(value: &mut &[u8], width: usize) -> Result<i64, Fault> {
    let mut number = 0;
    for at in 0..width {
        number = number * 10 + digit(value, at).ok_or(Fault::Shape)?;
    }
    *value = value.get(width..).unwrap_or_default();
    Ok(number)
}

/// A number of one or two digits; two if `padded`.
fn short(value: &mut &[u8], padded: bool) -> Result<i64, Fault> {
    let two = digit(value, 1).is_some();
    if padded && !two {
        return Err(Fault::Shape);
    }
    exact(value, if two { 2 } else { 1 })
}

fn within(number: i64, below: i64, what: &'static str) -> Result<i64, Fault> {
    if number < below { Ok(number) } else { Err(Fault::Range(what)) }
}

/// The index of the name that the value starts with, without regard to case.
fn lookup(names: &[&str], length: Option<usize>, value: &mut &[u8]) -> Result<i64, Fault> {
    for (index, name) in names.iter().enumerate() {
        let name = name.as_bytes();
        let name = name.get(..length.unwrap_or(name.len())).unwrap_or(name);
        if let Some((head, tail)) = value.split_at_checked(name.len())
            && head.eq_ignore_ascii_case(name)
        {
            *value = tail;
            return Ok(index as i64);
        }
    }
    Err(Fault::Shape)
}

/// Digits behind a separator as nanoseconds.
fn fraction(value: &mut &[u8], digits: usize) -> Result<u32, Fault> {
    if !matches!(value.first(), Some(b'.' | b',')) {
        return Err(Fault::Shape);
    }
    let mut nanos = 0;
    for at in 0..9 {
        let next = if at < digits { digit(value, 1 + at).ok_or(Fault::Shape)? } else { 0 };
        nanos = nanos * 10 + next as u32;
    }
    *value = value.get(1 + digits..).ok_or(Fault::Shape)?;
    Ok(nanos)
}

/// Length of a zone abbreviation.
fn zone_name(value: &[u8]) -> Option<usize> {
    if value.len() < 3 {
        return None;
    }
    if value.starts_with(b"ChST") || value.starts_with(b"MeST") {
        return Some(4);
    }
    let signed = |rest: &[u8]| {
        let digits = rest.iter().skip(1).take_while(|b| b.is_ascii_digit()).count();
        let sign = matches!(rest.first(), Some(b'+' | b'-'));
        let number =
            rest.get(1..1 + digits).and_then(|d| std::str::from_utf8(d).ok()).and_then(|d| d.parse::<u32>().ok());
        if sign && digits > 0 && number.is_some_and(|n| n < 24) { 1 + digits } else { 0 }
    };
    if value.starts_with(b"GMT") {
        return Some(3 + signed(value.get(3..).unwrap_or_default()));
    }
    if matches!(value.first(), Some(b'+' | b'-')) {
        return Some(signed(value)).filter(|n| *n > 0);
    }
    let upper = value.iter().take(6).take_while(|b| b.is_ascii_uppercase()).count();
    let good = match upper {
        3 => true,
        4 => value.get(3) == Some(&b'T') || value.starts_with(b"WITA"),
        5 => value.get(4) == Some(&b'T'),
        _ => false,
    };
    good.then_some(upper)
}

impl Read {
    fn chunk(&mut self, chunk: Chunk, value: &mut &[u8], next: Option<Chunk>) -> Result<(), Fault> {
        match chunk {
            Chunk::LongYear => self.year = exact(value, 4)?,
            Chunk::ShortYear => {
                let year = exact(value, 2)?;
                self.year = year + if year >= 69 { 1900 } else { 2000 };
            }
            Chunk::LongMonth => self.month = Some(lookup(&MONTHS, None, value)? + 1),
            Chunk::ShortMonth => self.month = Some(lookup(&MONTHS, Some(3), value)? + 1),
            Chunk::Month { padded } => match short(value, padded)? {
                month @ 1..=12 => self.month = Some(month),
                _ => return Err(Fault::Range("month")),
            },
            Chunk::LongWeekday => drop(lookup(&WEEKDAYS, None, value)?),
            Chunk::ShortWeekday => drop(lookup(&WEEKDAYS, Some(3), value)?),
            Chunk::Day { pad } => {
                if pad == Some(b' ') && value.first() == Some(&b' ') {
                    *value = value.get(1..).unwrap_or_default();
                }
                self.day = Some(short(value, pad == Some(b'0'))?);
            }
            Chunk::YearDay { pad } => {
                let spaces = if pad == b' ' { value.iter().take(2).take_while(|b| **b == b' ').count() } else { 0 };
                *value = value.get(spaces..).unwrap_or_default();
                let digits = value.iter().take(3).take_while(|b| b.is_ascii_digit()).count();
                if digits == 0 || (pad == b'0' && digits != 3) {
                    return Err(Fault::Shape);
                }
                self.year_day = Some(exact(value, digits)?);
            }
            Chunk::Hour24 => self.hour = within(short(value, false)?, 24, "hour")?,
            Chunk::Hour12 { padded } => self.hour = within(short(value, padded)?, 13, "hour")?,
            Chunk::Minute { padded } => self.minute = within(short(value, padded)?, 60, "minute")?,
            Chunk::Second { padded } => {
                self.second = within(short(value, padded)?, 60, "second")?;
                // A fraction may follow the seconds even where the layout has none.
                let fractional = matches!(value.first(), Some(b'.' | b',')) && digit(value, 1).is_some();
                if fractional && !matches!(next, Some(Chunk::Fraction { .. })) {
                    let digits = value.iter().skip(1).take_while(|b| b.is_ascii_digit()).count();
                    self.nanos = fraction(value, digits)?;
                }
            }
            Chunk::Half { lower } => {
                let (half, rest) = value.split_at_checked(2).ok_or(Fault::Shape)?;
                match (half, lower) {
                    (b"PM", false) | (b"pm", true) => self.pm = true,
                    (b"AM", false) | (b"am", true) => self.am = true,
                    _ => return Err(Fault::Shape),
                }
                *value = rest;
            }
            Chunk::Offset { zulu, colon, minutes, seconds } => self.offset(value, [zulu, colon, minutes, seconds])?,
            Chunk::ZoneName => {
                if let Some(rest) = value.strip_prefix(b"UTC") {
                    self.utc = true;
                    *value = rest;
                } else {
                    let length = zone_name(value).ok_or(Fault::Shape)?;
                    let (name, rest) = value.split_at_checked(length).ok_or(Fault::Shape)?;
                    self.zone = name.to_vec();
                    *value = rest;
                }
            }
            Chunk::Fraction { digits, trimmed: false, .. } => self.nanos = fraction(value, digits)?,
            Chunk::Fraction { .. } => {
                if matches!(value.first(), Some(b'.' | b',')) && digit(value, 1).is_some() {
                    let digits = value.iter().skip(1).take_while(|b| b.is_ascii_digit()).count();
                    self.nanos = fraction(value, digits)?;
                }
            }
        }
        Ok(())
    }

    fn offset(&mut self, value: &mut &[u8], [zulu, colon, minutes, seconds]: [bool; 4]) -> Result<(), Fault> {
        if zulu && let Some(rest) = value.strip_prefix(b"Z") {
            *value = rest;
            self.utc = true;
            return Ok(());
        }
        let sign = match value.first() {
            Some(b'+') => Some(1),
            Some(b'-') => Some(-1),
            _ => None,
        };
        let mut rest = value.get(1..).unwrap_or_default();
        let hour = exact(&mut rest, 2)?;
        let mut more = |wanted: bool| -> Result<i64, Fault> {
            if !wanted {
                return Ok(0);
            }
            if colon {
                rest = rest.strip_prefix(b":").ok_or(Fault::Shape)?;
            }
            exact(&mut rest, 2)
        };
        let minute = more(minutes)?;
        let second = more(seconds)?;
        if hour > 24 {
            return Err(Fault::Range("time zone offset hour"));
        }
        if minute > 60 {
            return Err(Fault::Range("time zone offset minute"));
        }
        if second > 60 {
            return Err(Fault::Range("time zone offset second"));
        }
        // Go looks at the sign last, and complains about the numbers first.
        let sign = sign.ok_or(Fault::Shape)?;
        *value = rest;
        self.offset = Some(sign * (hour * 3600 + minute * 60 + second) as i32);
        Ok(())
    }
}

/// Compares what stands between elements; runs of spaces fit each other.
fn skip<'a>(value: &'a [u8], prefix: &[u8]) -> Result<&'a [u8], &'a [u8]> {
    let cut = |mut text: &'a [u8]| {
        while let Some(rest) = text.strip_prefix(b" ") {
            text = rest;
        }
        text
    };
    let mut value = value;
    let mut after_space = false;
    for byte in prefix {
        if *byte == b' ' {
            if !after_space && value.first().is_some_and(|b| *b != b' ') {
                return Err(value);
            }
            value = cut(value);
            after_space = true;
            continue;
        }
        after_space = false;
        value = value.strip_prefix(&[*byte]).ok_or(value)?;
    }
    Ok(value)
}

/// Reads a time in the form of the layout; without a zone it is local. The error is Go's text.
pub fn parse(layout: &[u8], text: &[u8]) -> Result<Time, String> {
    let shape = |value: &[u8], element: &[u8]| {
        format!(
            "parsing time {} as {}: cannot parse {} as {}",
            quote(text),
            quote(layout),
            quote(value),
            quote(element)
        )
    };
    let said = |what: &str| format!("parsing time {}: {what}", quote(text));
    let mut read = Read {
        year: 0,
        month: None,
        day: None,
        year_day: None,
        hour: 0,
        minute: 0,
        second: 0,
        nanos: 0,
        pm: false,
        am: false,
        utc: false,
        offset: None,
        zone: Vec::new(),
    };
    let mut value = text;
    let mut rest = layout;
    loop {
        let (prefix, chunk, after) = next_chunk(rest);
        value = skip(value, prefix).map_err(|at| shape(at, prefix))?;
        let Some((chunk, spelling)) = chunk else {
            if !value.is_empty() {
                return Err(said(&format!("extra text: {}", quote(value))));
            }
            break;
        };
        rest = after;
        let hold = value;
        let next = next_chunk(rest).1.map(|(chunk, _)| chunk);
        read.chunk(chunk, &mut value, next).map_err(|fault| match fault {
            Fault::Shape => shape(hold, spelling),
            Fault::Range(what) => said(&format!("{what} out of range")),
        })?;
    }
    finish(read).map_err(said)
}

fn finish(mut read: Read) -> Result<Time, &'static str> {
    if read.pm && read.hour < 12 {
        read.hour += 12;
    } else if read.am && read.hour == 12 {
        read.hour = 0;
    }
    let mut month = read.month.unwrap_or(1);
    let mut day = read.day.unwrap_or(1);
    if let Some(year_day) = read.year_day {
        let whole = if days_in(read.year, 2) == 29 { 366 } else { 365 };
        if !(1..=whole).contains(&year_day) {
            return Err("day-of-year out of range");
        }
        let at = Time::from_parts([read.year, 1, year_day], [0; 3], 0, Zone::Utc).parts();
        if read.month.is_some_and(|month| month != at.month) {
            return Err("day-of-year does not match month");
        }
        if read.day.is_some_and(|day| day != at.day) {
            return Err("day-of-year does not match day");
        }
        (month, day) = (at.month, at.day);
    }
    if day < 1 || day > days_in(read.year, month) {
        return Err("day out of range");
    }
    let zone = match read.offset {
        _ if read.utc => Zone::Utc,
        Some(0) if read.zone.is_empty() => Zone::Local,
        Some(offset) => Zone::Fixed(offset, String::from_utf8_lossy(&read.zone).into()),
        None if read.zone.is_empty() => Zone::Local,
        None => {
            let hours = read.zone.strip_prefix(b"GMT").and_then(|h| std::str::from_utf8(h).ok()?.parse::<i32>().ok());
            Zone::Fixed(hours.unwrap_or(0) * 3600, String::from_utf8_lossy(&read.zone).into())
        }
    };
    let date = [read.year, month, day];
    Ok(Time::from_parts(date, [read.hour, read.minute, read.second], read.nanos, zone))
}
