//! IP addresses as Go's `net/netip` reads them.

use crate::codec::goquote::quote;

/// Whether a text is an address. The error is Go's.
pub(crate) fn check(text: &str) -> Result<(), String> {
    let result = match text.find(['.', ':', '%']).and_then(|at| text.as_bytes().get(at)) {
        Some(b'.') => fields(text),
        Some(b':') => groups(text),
        Some(_) => Err(("missing IPv6 address", "")),
        None => Err(("unable to parse IP", "")),
    };
    result.map_err(|(what, at)| {
        let at = if at.is_empty() { String::new() } else { format!(" (at {})", quote(at.as_bytes())) };
        format!("ParseAddr({}): {what}{at}", quote(text.as_bytes()))
    })
}

/// What is wrong, and from where on.
type Fault<'t> = (&'static str, &'t str);

/// Four decimals, as Go reads them.
fn fields(text: &str) -> Result<(), Fault<'_>> {
    let (mut dots, mut value, mut digits) = (0, 0, 0);
    for (at, byte) in text.bytes().enumerate() {
        let rest = text.get(at..).unwrap_or_default();
        match byte {
            b'0'..=b'9' => {
                if digits == 1 && value == 0 {
                    return Err(("IPv4 field has octet with leading zero", ""));
                }
                value = value * 10 + u32::from(byte - b'0');
                digits += 1;
                if value > 255 {
                    return Err(("IPv4 field has value >255", ""));
                }
            }
            b'.' if digits == 0 || at + 1 == text.len() => {
                return Err(("IPv4 field must have at least one digit", rest));
            }
            b'.' if dots == 3 => return Err(("IPv4 address too long", "")),
            b'.' => {
                dots += 1;
                (value, digits) = (0, 0);
            }
            _ => return Err(("unexpected character", rest)),
        }
    }
    if dots < 3 { Err(("IPv4 address too short", "")) } else { Ok(()) }
}

/// Groups of hexadecimal digits, as Go reads them.
fn groups(text: &str) -> Result<(), Fault<'_>> {
    let (mut rest, zone) = text.split_once('%').map_or((text, None), |(address, zone)| (address, Some(zone)));
    if zone == Some("") {
        return Err(("zone must be a non-empty string", ""));
    }
    let (mut bytes, mut gap) = (0, false);
    if let Some(after) = rest.strip_prefix("::") {
        gap = true;
        rest = after;
        if rest.is_empty() {
            return Ok(());
        }
    }
    while bytes < 16 {
        let after = rest.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        match rest.len() - after.len() {
            0 => return Err(("each colon-separated field must have at least one digit", rest)),
            5.. => return Err(("each group must have 4 or less digits", rest)),
            _ => {}
        }
        if after.starts_with('.') {
            if !gap && bytes != 12 {
                return Err(("embedded IPv4 address must replace the final 2 fields of the address", rest));
            }
            if bytes + 4 > 16 {
                return Err(("too many hex fields to fit an embedded IPv4 at the end of the address", rest));
            }
            fields(rest)?;
            (bytes, rest) = (bytes + 4, "");
            break;
        }
        (bytes, rest) = (bytes + 2, after);
        if rest.is_empty() {
            break;
        }
        let Some(next) = rest.strip_prefix(':') else { return Err(("unexpected character, want colon", rest)) };
        if next.is_empty() {
            return Err(("colon must be followed by more characters", rest));
        }
        rest = next;
        if let Some(next) = rest.strip_prefix(':') {
            if gap {
                return Err(("multiple :: in address", rest));
            }
            (gap, rest) = (true, next);
            if rest.is_empty() {
                break;
            }
        }
    }
    match (rest.is_empty(), bytes < 16, gap) {
        (false, ..) => Err(("trailing garbage after address", rest)),
        (_, true, false) => Err(("address string too short", "")),
        (_, false, true) => Err(("the :: must expand to at least one field of zeros", "")),
        _ => Ok(()),
    }
}
