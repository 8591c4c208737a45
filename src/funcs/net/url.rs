//! One URL: parsing and printing by Go's rules.

use super::address;
use crate::codec::goquote::quote;

/// Part of a URL, which decides what must be escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Path,
    User,
    Host,
    Zone,
    Fragment,
}

/// A URL in parts, each unescaped.
#[derive(Debug, Clone, Default)]
pub(crate) struct Url {
    pub scheme: Vec<u8>,
    pub opaque: Vec<u8>,
    pub user: Option<User>,
    pub host: Vec<u8>,
    pub path: Vec<u8>,
    pub query: Vec<u8>,
    pub fragment: Vec<u8>,
}

/// Name and, if there was a colon, password.
#[derive(Debug, Clone)]
pub(crate) struct User {
    name: Vec<u8>,
    password: Option<Vec<u8>>,
}

impl User {
    /// The escaped form.
    pub(crate) fn print(&self) -> Vec<u8> {
        let mut out = escape(&self.name, Part::User);
        if let Some(password) = &self.password {
            out.push(b':');
            out.extend(escape(password, Part::User));
        }
        out
    }
}

fn must_escape(byte: u8, part: Part) -> bool {
    let kept: &[u8] = match part {
        Part::Path => b"$&+,/:;=@",
        Part::User => b"$&+,;=",
        Part::Host | Part::Zone => b"!\"$&'()*+,:;<=>[]",
        Part::Fragment => b"!$&()*+,/:;=?@",
    };
    !(byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) || kept.contains(&byte))
}

fn escape(bytes: &[u8], part: Part) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for byte in bytes {
        if must_escape(*byte, part) {
            out.extend_from_slice(format!("%{byte:02X}").as_bytes());
        } else {
            out.push(*byte);
        }
    }
    out
}

fn hex(byte: Option<&u8>) -> Option<u8> {
    byte.and_then(|b| char::from(*b).to_digit(16)).map(|d| d as u8)
}

fn unescape(bytes: &[u8], part: Part) -> Result<Vec<u8>, String> {
    let host = matches!(part, Part::Host | Part::Zone);
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [byte, tail @ ..] = rest {
        if *byte == b'%' {
            let shown = rest.get(..rest.len().min(3)).unwrap_or_default();
            let refused = || format!("invalid URL escape {}", quote(shown));
            let (Some(high), Some(low)) = (hex(tail.first()), hex(tail.get(1))) else { return Err(refused()) };
            let value = high << 4 | low;
            let percent = shown == b"%25";
            if part == Part::Host && high < 8 && !percent {
                return Err(refused());
            }
            if part == Part::Zone && !percent && value != b' ' && must_escape(value, Part::Host) {
                return Err(refused());
            }
            out.push(value);
            rest = tail.get(2..).unwrap_or_default();
            continue;
        }
        if host && byte.is_ascii() && must_escape(*byte, part) {
            return Err(format!("invalid character {} in host name", quote(&[*byte])));
        }
        out.push(*byte);
        rest = tail;
    }
    Ok(out)
}

/// A fragment without escapes. The error is Go's.
pub(crate) fn unescape_fragment(text: &str) -> Result<String, String> {
    Ok(String::from_utf8_lossy(&unescape(text.as_bytes(), Part::Fragment)?).into_owned())
}

/// A fragment with escapes.
pub(crate) fn escape_fragment(text: &str) -> String {
    String::from_utf8_lossy(&escape(text.as_bytes(), Part::Fragment)).into_owned()
}

fn cut(bytes: &[u8], at: u8) -> (&[u8], Option<&[u8]>) {
    match bytes.iter().position(|b| *b == at) {
        Some(index) => (bytes.get(..index).unwrap_or_default(), bytes.get(index + 1..)),
        None => (bytes, None),
    }
}

fn last(bytes: &[u8], wanted: u8) -> Option<usize> {
    bytes.iter().rposition(|b| *b == wanted)
}

fn from(bytes: &[u8], at: usize) -> &[u8] {
    bytes.get(at..).unwrap_or_default()
}

fn upto(bytes: &[u8], at: usize) -> &[u8] {
    bytes.get(..at).unwrap_or_default()
}

fn optional_port(text: &[u8]) -> bool {
    match text {
        [] => true,
        [b':', digits @ ..] => digits.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// Splits off the scheme, if the text starts with one.
fn scheme(text: &[u8]) -> Result<(&[u8], &[u8]), String> {
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".into()),
            b':' => return Ok((upto(text, at), from(text, at + 1))),
            _ => break,
        }
    }
    Ok((&[], text))
}

fn parse_host(scheme: &[u8], host: &[u8]) -> Result<Vec<u8>, String> {
    let bad_port = |port: &[u8]| format!("invalid port {} after host", quote(port));
    match last(host, b'[') {
        Some(0) => {
            let close = last(host, b']').ok_or("missing ']' in host")?;
            let port = from(host, close + 1);
            if !optional_port(port) {
                return Err(bad_port(port));
            }
            let name = host.get(1..close).unwrap_or_default();
            let zone = name.windows(3).position(|w| w == b"%25").unwrap_or(name.len());
            let mut plain = unescape(upto(name, zone), Part::Host)?;
            let address = String::from_utf8_lossy(&plain).into_owned();
            plain.extend(unescape(from(name, zone), Part::Zone)?);
            if address.parse::<std::net::Ipv4Addr>().is_ok() {
                return Err("invalid IP-literal".into());
            }
            address::check(&String::from_utf8_lossy(&plain)).map_err(|error| format!("invalid host: {error}"))?;
            let port = unescape(port, Part::Host)?;
            return Ok([b"[", &plain[..], b"]", &port[..]].concat());
        }
        Some(_) => return Err("invalid IP-literal".into()),
        None => {}
    }
    if let Some(first) = host.iter().position(|b| *b == b':') {
        let strict = matches!(scheme, b"http" | b"https");
        let at = if strict { first } else { last(host, b':').unwrap_or(first) };
        let port = from(host, at);
        if !optional_port(port) {
            return Err(bad_port(port));
        }
    }
    unescape(host, Part::Host)
}

fn parse_user(text: &[u8]) -> Result<User, String> {
    let good = |b: &u8| b.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(b);
    if !text.iter().all(good) {
        return Err("net/url: invalid userinfo".into());
    }
    let (name, password) = cut(text, b':');
    Ok(User {
        name: unescape(name, Part::User)?,
        password: password.map(|password| unescape(password, Part::User)).transpose()?,
    })
}

impl Url {
    /// Takes a URL apart. The error is Go's text, the URL included.
    pub(crate) fn parse(text: &[u8]) -> Result<Url, String> {
        let (body, fragment) = cut(text, b'#');
        let mut url = Self::parse_body(body).map_err(|e| format!("parse {}: {e}", quote(body)))?;
        if let Some(fragment) = fragment {
            url.fragment = unescape(fragment, Part::Fragment).map_err(|e| format!("parse {}: {e}", quote(text)))?;
        }
        Ok(url)
    }

    fn parse_body(text: &[u8]) -> Result<Url, String> {
        if text.iter().any(|b| *b < b' ' || *b == 0x7f) {
            return Err("net/url: invalid control character in URL".into());
        }
        let mut url = Url::default();
        if text == b"*" {
            url.path = text.to_vec();
            return Ok(url);
        }
        let (scheme, rest) = scheme(text)?;
        url.scheme = scheme.to_ascii_lowercase();
        let (mut rest, query) = cut(rest, b'?');
        url.query = query.unwrap_or_default().to_vec();
        if !rest.starts_with(b"/") {
            if !url.scheme.is_empty() {
                url.opaque = rest.to_vec();
                return Ok(url);
            }
            if cut(rest, b'/').0.contains(&b':') {
                return Err("first path segment in URL cannot contain colon".into());
            }
        }
        if rest.starts_with(b"//") && (!url.scheme.is_empty() || !rest.starts_with(b"///")) {
            let authority = from(rest, 2);
            let end = authority.iter().position(|b| *b == b'/').unwrap_or(authority.len());
            rest = from(authority, end);
            let authority = upto(authority, end);
            let at = last(authority, b'@');
            url.host = parse_host(&url.scheme, at.map_or(authority, |at| from(authority, at + 1)))?;
            url.user = at.map(|at| parse_user(upto(authority, at))).transpose()?;
        }
        url.path = unescape(rest, Part::Path)?;
        Ok(url)
    }

    /// The host without port and brackets.
    pub(crate) fn hostname(&self) -> &[u8] {
        let host = match last(&self.host, b':') {
            Some(colon) if optional_port(from(&self.host, colon)) => upto(&self.host, colon),
            _ => &self.host[..],
        };
        host.strip_prefix(b"[").and_then(|h| h.strip_suffix(b"]")).unwrap_or(host)
    }

    /// Puts the URL together.
    pub(crate) fn print(&self) -> Vec<u8> {
        let mut out = self.scheme.clone();
        if !out.is_empty() {
            out.push(b':');
        }
        if self.opaque.is_empty() {
            if !self.host.is_empty() || self.user.is_some() || (!self.scheme.is_empty() && !self.path.is_empty()) {
                out.extend_from_slice(b"//");
            }
            if let Some(user) = &self.user {
                out.extend(user.print());
                out.push(b'@');
            }
            out.extend(escape(&self.host, Part::Host));
            let path = if self.path == b"*" { self.path.clone() } else { escape(&self.path, Part::Path) };
            if !path.is_empty() && !path.starts_with(b"/") && !self.host.is_empty() {
                out.push(b'/');
            }
            if out.is_empty() && cut(&path, b'/').0.contains(&b':') {
                out.extend_from_slice(b"./");
            }
            out.extend(path);
        } else {
            out.extend_from_slice(&self.opaque);
        }
        if !self.query.is_empty() {
            out.push(b'?');
            out.extend_from_slice(&self.query);
        }
        if !self.fragment.is_empty() {
            out.push(b'#');
            out.extend(escape(&self.fragment, Part::Fragment));
        }
        out
    }

    /// What a reference means that stands in a document with this URL.
    pub(crate) fn join(&self, reference: &Url) -> Url {
        let mut url = reference.clone();
        if !url.scheme.is_empty() || !url.host.is_empty() || url.user.is_some() {
            url.path = clean(&url.path);
            if url.scheme.is_empty() {
                url.scheme.clone_from(&self.scheme);
            }
            return url;
        }
        url.scheme.clone_from(&self.scheme);
        if url.path.is_empty() {
            if url.query.is_empty() {
                url.query.clone_from(&self.query);
            }
            url.opaque.clone_from(&self.opaque);
        }
        if url.opaque.is_empty() {
            url.host.clone_from(&self.host);
            url.user.clone_from(&self.user);
            let folder = last(&self.path, b'/').map_or(0, |slash| slash + 1);
            url.path = match &reference.path[..] {
                [] => clean(&self.path),
                [b'/', ..] => clean(&reference.path),
                relative => clean(&[upto(&self.path, folder), relative].concat()),
            };
        }
        url
    }
}

/// A path from the root, without `.` and `..` in it.
fn clean(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    let mut parts = path.strip_prefix(b"/").unwrap_or(path).split(|b| *b == b'/').peekable();
    while let Some(part) = parts.next() {
        let dots = matches!(part, b"." | b"..");
        if part == b".." {
            kept.pop();
        } else if !dots {
            kept.push(part);
        }
        if dots && parts.peek().is_none() {
            kept.push(b"");
        }
    }
    if path.is_empty() { Vec::new() } else { [b"/", &kept.join(&b'/')[..]].concat() }
}
