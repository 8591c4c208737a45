//! Formats of addresses: hosts, mail, URIs.

use super::format::{atoi, quoted};
use crate::funcs::net::address;
use crate::funcs::net::url::Url;

pub(super) fn ipv4(text: &str) -> Result<(), String> {
    let parts: Vec<&str> = text.split('.').collect();
    if parts.len() != 4 {
        return Err("expected four decimals".into());
    }
    for part in parts {
        if part.len() > 1 && part.starts_with('0') {
            return Err("leading zeros".into());
        }
        if !(0..=255).contains(&atoi(part)?) {
            return Err("decimal must be between 0 and 255".into());
        }
    }
    Ok(())
}

pub(super) fn ipv6(text: &str) -> Result<(), String> {
    if !text.contains(':') {
        return Err("missing colon".into());
    }
    address::check(text)?;
    if text.contains('%') { Err("zone id is not a part of ipv6 address".into()) } else { Ok(()) }
}

pub(super) fn hostname(text: &str) -> Result<(), String> {
    let name = text.strip_suffix('.').unwrap_or(text);
    if name.len() > 253 {
        return Err("more than 253 characters long".into());
    }
    for label in name.split('.') {
        if !(1..=63).contains(&label.len()) {
            return Err("label must be 1 to 63 characters long".into());
        }
        if label.starts_with('-') {
            return Err("label starts with hyphen".into());
        }
        if label.ends_with('-') {
            return Err("label ends with hyphen".into());
        }
        if let Some(bad) = label.chars().find(|c| !c.is_ascii_alphanumeric() && *c != '-') {
            return Err(format!("invalid character {}", quoted(bad)));
        }
    }
    Ok(())
}

pub(super) fn email(text: &str) -> Result<(), String> {
    if text.len() > 255 {
        return Err("more than 255 characters long".into());
    }
    let Some((local, domain)) = text.rsplit_once('@') else { return Err("missing @".into()) };
    if local.len() > 64 {
        return Err("local part more than 64 characters long".into());
    }
    match local.strip_prefix('"').filter(|inner| !inner.is_empty()) {
        Some(inner) if inner.strip_suffix('"').unwrap_or(inner).contains(['\\', '"']) => {
            return Err("backslash and quote are not allowed within quoted local part".into());
        }
        Some(_) => {}
        None => atoms(local)?,
    }
    match domain.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
        Some(inner) => match inner.strip_prefix("IPv6:") {
            Some(address) => ipv6(address).map_err(|error| format!("invalid ipv6 address: {error}")),
            None => ipv4(inner).map_err(|error| format!("invalid ipv4 address: {error}")),
        },
        None => hostname(domain).map_err(|error| format!("invalid domain: {error}")),
    }
}

/// The local part of a mail address, without quotes.
fn atoms(local: &str) -> Result<(), String> {
    if local.starts_with('.') {
        return Err("starts with dot".into());
    }
    if local.ends_with('.') {
        return Err("ends with dot".into());
    }
    if local.contains("..") {
        return Err("consecutive dots".into());
    }
    let good = |c: &char| c.is_ascii_alphanumeric() || ".!#$%&'*+-/=?^_`{|}~".contains(*c);
    match local.chars().find(|c| !good(c)) {
        Some(bad) => Err(format!("invalid character {}", quoted(bad))),
        None => Ok(()),
    }
}

fn parsed(text: &str) -> Result<Url, String> {
    let url = Url::parse(text.as_bytes())?;
    let host = String::from_utf8_lossy(url.hostname()).into_owned();
    if host.contains(':') {
        if !url.host.contains(&b'[') {
            return Err("ipv6 address not enclosed in brackets".into());
        }
        ipv6(&host).map_err(|error| format!("invalid ipv6 address: {error}"))?;
    }
    Ok(url)
}

pub(super) fn uri(text: &str) -> Result<(), String> {
    if parsed(text)?.scheme.is_empty() { Err("relative url".into()) } else { Ok(()) }
}

pub(super) fn uri_reference(text: &str) -> Result<(), String> {
    if text.contains('\\') {
        return Err("contains \\".into());
    }
    parsed(text).map(|_| ())
}

pub(super) fn template(text: &str) -> Result<(), String> {
    let url = parsed(text)?;
    // Braces count where one of them is written as it is.
    let path = text.split(['?', '#']).next().unwrap_or_default();
    if url.path.is_empty() || !path.contains(['{', '}']) {
        return Ok(());
    }
    for part in url.path.split(|b| *b == b'/') {
        let mut open = false;
        for brace in part.iter().filter(|b| matches!(b, b'{' | b'}')) {
            if open == (*brace == b'{') {
                return Err("nested curly braces".into());
            }
            open = !open;
        }
        if open {
            return Err("no matching closing brace".into());
        }
    }
    Ok(())
}
