//! Go's decoder of padded standard base64: line breaks are skipped, unused bits are not checked.

/// Decodes; `None` if it is malformed.
pub fn decode_lenient(text: &[u8]) -> Option<Vec<u8>> {
    decode(text).ok()
}

/// Decodes; the error is the offset that Go reports.
pub fn decode(input: &[u8]) -> Result<Vec<u8>, usize> {
    let mut out = Vec::with_capacity(input.len() / 4 * 3);
    let skip_breaks = |at: usize| input[at..].iter().position(|b| !is_break(*b)).map_or(input.len(), |n| at + n);
    let mut at = 0;
    let mut group = 0u32;
    let mut digits = 0;
    while let Some(byte) = input.get(at).copied() {
        at += 1;
        if let Some(digit) = digit(byte) {
            group = group << 6 | digit;
            digits += 1;
            if digits == 4 {
                out.extend_from_slice(&group.to_be_bytes()[1..]);
                (group, digits) = (0, 0);
            }
        } else if !is_break(byte) {
            if byte != b'=' || digits < 2 {
                return Err(at - 1);
            }
            if digits == 2 {
                at = skip_breaks(at);
                match input.get(at) {
                    None => return Err(input.len()),
                    Some(b'=') => at += 1,
                    Some(_) => return Err(at - 1),
                }
            }
            at = skip_breaks(at);
            if at < input.len() {
                return Err(at);
            }
            out.extend_from_slice(&(group << (6 * (4 - digits))).to_be_bytes()[1..digits]);
            return Ok(out);
        }
    }
    if digits > 0 { Err(at - digits) } else { Ok(out) }
}

fn is_break(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

fn digit(byte: u8) -> Option<u32> {
    Some(
        match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        }
        .into(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_base_64_is_reported_where_go_reports_it() {
        for (input, want) in [
            ("aGVsbG8=", Ok("hello")),
            ("!!!", Err(0)),
            ("aGVsbG8", Err(4)),
            ("aGVs\nbG8=", Ok("hello")),
            ("a", Err(0)),
            ("aGVsbG9=", Ok("hello")),
            ("aGVsbG8==", Err(8)),
            ("aGVsb===", Err(5)),
            ("=", Err(0)),
            ("aGVsbG8=x", Err(8)),
            ("aGVsbG8=\n", Ok("hello")),
            ("aGVs bG8=", Err(4)),
            ("YQ=", Err(3)),
            ("YQ", Err(0)),
            ("Y===", Err(1)),
            ("aGVsbG8-", Err(7)),
            ("YQ=\n=", Ok("a")),
            ("YQ==YQ==", Err(4)),
            ("YR==", Ok("a")),
            ("", Ok("")),
        ] {
            assert_eq!(decode(input.as_bytes()), want.map(|t| t.as_bytes().to_vec()), "{input:?}");
        }
    }
}
