//! `format`, as the classic validator checks it: always (`H-42`).

use std::net::{Ipv4Addr, Ipv6Addr};

use super::mail;
use crate::funcs::net::url::Url;
use crate::funcs::{dates, re2};

/// Whether a string has a format; `None` is a number, which has none of those known.
pub fn fits(format: &str, text: Option<&str>) -> bool {
    let Some(check) = FORMATS.iter().find(|(name, _)| *name == format).map(|(_, check)| check) else { return true };
    text.is_some_and(check)
}

type Check = fn(&str) -> bool;

const FORMATS: &[(&str, Check)] = &[
    ("date", date),
    ("time", time),
    ("date-time", date_time),
    ("hostname", hostname),
    ("email", mail::is_address),
    ("idn-email", mail::is_address),
    ("ipv4", |text| text.parse::<Ipv4Addr>().is_ok() || is_ipv6(text) && text.contains('.')),
    ("ipv6", |text| is_ipv6(text)),
    ("uri", uri),
    ("uri-reference", uri_reference),
    ("iri", uri),
    ("iri-reference", uri_reference),
    ("uri-template", template),
    ("uuid", uuid),
    ("regex", |text| re2::compile(text.as_bytes()).is_ok()),
    ("json-pointer", |text| text.is_empty() || text.starts_with('/') && escaped(text)),
    ("relative-json-pointer", relative),
];

fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

fn reads(layouts: &[&str], text: &str) -> bool {
    layouts.iter().any(|layout| dates::parse::parse(layout.as_bytes(), text.as_bytes()).is_ok())
}

fn date(text: &str) -> bool {
    reads(&["2006-01-02"], text)
}

fn time(text: &str) -> bool {
    reads(&["15:04:05", "15:04:05Z07:00"], text)
}

fn date_time(text: &str) -> bool {
    let layouts = ["15:04:05", "15:04:05Z07:00", "2006-01-02", "2006-01-02T15:04:05Z07:00"];
    reads(&layouts, text)
}

fn hostname(text: &str) -> bool {
    let label = |label: &str| {
        let plain = label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        plain && (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
    };
    text.len() < 256 && text.split('.').all(label)
}

fn uri(text: &str) -> bool {
    !text.contains('\\') && Url::parse(text.as_bytes()).is_ok_and(|url| !url.scheme.is_empty())
}

fn uri_reference(text: &str) -> bool {
    !text.contains('\\') && Url::parse(text.as_bytes()).is_ok()
}

fn template(text: &str) -> bool {
    let Some(url) = Url::parse(text.as_bytes()).ok().filter(|_| !text.contains('\\')) else { return false };
    let path = &url.path[..];
    path.iter().rposition(|b| *b == b'{').is_none_or(|open| path[open..].contains(&b'}'))
}

fn uuid(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let hex = |part: &&str| part.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]) && parts.iter().all(hex)
}

/// Every `~` is followed by 0 or 1.
fn escaped(text: &str) -> bool {
    text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']))
}

fn relative(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.len() - rest.len();
    let whole = digits == 1 || digits > 1 && !text.starts_with('0');
    whole && (rest.is_empty() || rest == "#" || rest.starts_with('/') && escaped(rest))
}
