//! `format`, with the complaints of the modern validator (`H-42`).

use super::hosts::{email, hostname, ipv4, ipv6, template, uri, uri_reference};
use crate::chart::schema::node::{Node, untoken};
use crate::codec::goquote;
use crate::funcs::{dates, re2};

/// What is wrong with a text.
type Check = fn(&str) -> Result<(), String>;

/// A format that is checked.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    name: &'static str,
    check: Check,
}

impl Format {
    /// Name of the format and what is wrong with the value; only strings can be wrong.
    pub fn fault(&self, value: &Node) -> Option<(&'static str, String)> {
        (self.check)(value.as_text()?).err().map(|error| (self.name, error))
    }
}

const FORMATS: &[(&str, Check)] = &[
    ("regex", regex),
    ("json-pointer", json_pointer),
    ("relative-json-pointer", relative_json_pointer),
    ("uuid", uuid),
    ("duration", duration),
    ("period", period),
    ("ipv4", ipv4),
    ("ipv6", ipv6),
    ("hostname", hostname),
    ("email", email),
    ("date", date),
    ("time", time),
    ("date-time", date_time),
    ("uri", uri),
    ("iri", uri),
    ("uri-reference", uri_reference),
    ("iri-reference", uri_reference),
    ("uri-template", template),
    ("semver", semver),
];

/// The format of that name, if it is checked.
pub fn known(name: &str) -> Option<Format> {
    FORMATS.iter().find(|(known, _)| *known == name).map(|(name, check)| Format { name, check: *check })
}

/// Go's `strconv.Atoi`, as far as numbers of a few digits go.
pub(super) fn atoi(text: &str) -> Result<i64, String> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let failed = |what: &str| Err(format!("strconv.Atoi: parsing {}: {what}", goquote::quote(text.as_bytes())));
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return failed("invalid syntax");
    }
    text.parse().or_else(|_| failed("value out of range"))
}

/// A character in single quotes.
pub(super) fn quoted(c: char) -> String {
    let mut out = String::new();
    match c {
        '\'' => out.push_str("\\'"),
        '"' => out.push('"'),
        _ => goquote::escape(c, &mut out),
    }
    format!("'{out}'")
}

fn refuse<T>(what: impl Into<String>) -> Result<T, String> {
    Err(what.into())
}

fn regex(text: &str) -> Result<(), String> {
    re2::compile(text.as_bytes()).map(|_| ()).map_err(|error| error.to_string())
}

fn json_pointer(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Ok(());
    }
    if !text.starts_with('/') {
        return refuse("not starting with /");
    }
    if text.split('/').any(|part| untoken(part).is_none()) {
        return refuse("~ must be followed by 0 or 1");
    }
    Ok(())
}

fn relative_json_pointer(text: &str) -> Result<(), String> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.len() - rest.len();
    if digits == 0 {
        return refuse("must start with non-negative integer");
    }
    if digits > 1 && text.starts_with('0') {
        return refuse("starts with zero");
    }
    if rest == "#" { Ok(()) } else { json_pointer(rest) }
}

fn uuid(text: &str) -> Result<(), String> {
    const LENGTHS: [usize; 5] = [8, 4, 4, 4, 12];
    let parts: Vec<&str> = text.split('-').collect();
    if parts.len() != LENGTHS.len() {
        return refuse("must have 5 elements");
    }
    for (number, (part, length)) in parts.iter().zip(LENGTHS).enumerate() {
        if part.len() != length {
            return refuse(format!("element {} must be {length} characters long", number + 1));
        }
        if let Some(bad) = part.chars().find(|c| !c.is_ascii_hexdigit()) {
            return refuse(format!("non-hex character {}", quoted(bad)));
        }
    }
    Ok(())
}

/// Numbers with units, each unit at most once and in order.
fn units(text: &str, units: &str) -> Result<(), String> {
    let (mut rest, mut left) = (text, units);
    while !rest.is_empty() {
        let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        if after.len() == rest.len() {
            return refuse("missing number");
        }
        let Some(unit) = after.bytes().next().map(char::from) else { return refuse("missing unit") };
        match left.find(unit) {
            Some(at) => left = &left[at + 1..],
            None if units.contains(unit) => return refuse(format!("unit {} out of order", quoted(unit))),
            None => return refuse(format!("invalid unit {}", quoted(unit))),
        }
        rest = &after[1..];
    }
    Ok(())
}

fn duration(text: &str) -> Result<(), String> {
    let Some(body) = text.strip_prefix('P') else { return refuse("must start with P") };
    if body.is_empty() {
        return refuse("nothing after P");
    }
    if let Some(weeks) = body.strip_suffix('W') {
        if weeks.is_empty() {
            return refuse("no number in week");
        }
        return if weeks.bytes().all(|b| b.is_ascii_digit()) { Ok(()) } else { refuse("invalid week") };
    }
    let (days, time) = body.split_once('T').map_or((body, None), |(days, time)| (days, Some(time)));
    units(days, "YMD")?;
    match time {
        Some("") => refuse("no time elements"),
        Some(time) => units(time, "HMS"),
        None => Ok(()),
    }
}

fn period(text: &str) -> Result<(), String> {
    let Some((start, end)) = text.split_once('/') else { return refuse("missing slash") };
    let part = |which: &str, text: &str, is_duration: bool| {
        let (kind, result) = if is_duration { ("duration", duration(text)) } else { ("date-time", date_time(text)) };
        result.map_err(|error| format!("invalid {which} {kind}: {error}"))
    };
    let from_end = start.starts_with('P');
    part("start", start, from_end)?;
    part("end", end, !from_end && end.starts_with('P'))
}

fn date(text: &str) -> Result<(), String> {
    dates::parse::parse(b"2006-01-02", text.as_bytes()).map(|_| ())
}

fn date_time(text: &str) -> Result<(), String> {
    if text.len() < 20 {
        return refuse("less than 20 characters long");
    }
    if !matches!(text.as_bytes().get(10), Some(b't' | b'T')) {
        return refuse("11th character must be t or T");
    }
    date(&text[..10]).map_err(|error| format!("invalid date element: {error}"))?;
    time(&text[11..]).map_err(|error| format!("invalid time element: {error}"))
}

fn time(text: &str) -> Result<(), String> {
    if text.len() < 9 {
        return refuse("less than 9 characters long");
    }
    if text.as_bytes().get(2) != Some(&b':') || text.as_bytes().get(5) != Some(&b':') {
        return refuse("missing colon in correct place");
    }
    let numbers = [0..2, 3..5, 6..8].map(|range| text.get(range).and_then(|part| atoi(part).ok()));
    let [Some(hour), Some(minute), Some(second)] = numbers else { return refuse("invalid hour/min/sec") };
    if hour < 0 || minute < 0 || second < 0 {
        return refuse("non-positive hour/min/sec");
    }
    if hour > 23 || minute > 59 || second > 60 {
        return refuse("hour/min/sec out of range");
    }
    let mut rest = text.get(8..).unwrap_or_default();
    if let Some(fraction) = rest.strip_prefix('.') {
        rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
        if rest.len() == fraction.len() {
            return refuse("no digits in second fraction");
        }
    }
    let utc = hour * 60 + minute - offset(rest)?;
    if second == 60 && utc.rem_euclid(24 * 60) != 23 * 60 + 59 {
        return refuse("invalid leap second");
    }
    Ok(())
}

/// Minutes east of Greenwich.
fn offset(text: &str) -> Result<i64, String> {
    if matches!(text, "z" | "Z") {
        return Ok(0);
    }
    if text.len() != 6 {
        return refuse("offset must be 6 characters long");
    }
    let sign = match text.as_bytes().first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return refuse("offset must begin with plus/minus"),
    };
    if text.as_bytes().get(3) != Some(&b':') {
        return refuse("missing colon in offset in correct place");
    }
    let numbers = [1..3, 4..6].map(|range| text.get(range).and_then(|part| atoi(part).ok()));
    let [Some(hour), Some(minute)] = numbers else { return refuse("invalid hour/min in offset") };
    if hour < 0 || minute < 0 {
        return refuse("non-positive hour/min in offset");
    }
    if hour > 23 || minute > 59 {
        return refuse("hour/min in offset out of range");
    }
    Ok(sign * (hour * 60 + minute))
}

fn semver(text: &str) -> Result<(), String> {
    let (text, build) = text.split_once('+').map_or((text, None), |(text, build)| (text, Some(build)));
    let (core, release) = text.split_once('-').map_or((text, None), |(core, release)| (core, Some(release)));
    let numbers: Vec<&str> = core.split('.').collect();
    if numbers.len() != 3 {
        return refuse("versionCore must have 3 numbers separated by dot");
    }
    for (name, number) in ["major", "minor", "patch"].iter().zip(numbers) {
        if number.is_empty() {
            return refuse(format!("{name} is empty"));
        }
        if number.len() > 1 && number.starts_with('0') {
            return refuse(format!("{name} starts with zero"));
        }
        if !number.bytes().all(|b| b.is_ascii_digit()) {
            return refuse(format!("{name} contains non-digit"));
        }
    }
    if let Some(release) = release {
        identifiers(release, "pre-release")?;
        let numeric = |part: &str| part.len() > 1 && part.starts_with('0') && part.bytes().all(|b| b.is_ascii_digit());
        if release.split('.').any(numeric) {
            return refuse("pre-release numeric identifier starts with zero");
        }
    }
    match build {
        Some("") => refuse("build is empty"),
        Some(build) => identifiers(build, "build"),
        None => Ok(()),
    }
}

fn identifiers(text: &str, kind: &str) -> Result<(), String> {
    for part in text.split('.') {
        if part.is_empty() {
            return refuse(format!("{kind} identifier is empty"));
        }
        if let Some(bad) = part.chars().find(|c| !c.is_ascii_alphanumeric() && *c != '-') {
            return refuse(format!("invalid character {} in {kind} identifier", quoted(bad)));
        }
    }
    Ok(())
}
