//! Go's standard base64 decoder where data comes from YAML: line breaks are skipped, unused bits are not checked.

/// Decodes padded standard base64; `None` if it is malformed.
pub fn decode_lenient(text: &[u8]) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.iter().copied().filter(|b| !matches!(b, b'\r' | b'\n')).collect();
    if !digits.len().is_multiple_of(4) {
        return None;
    }
    let mut out = Vec::with_capacity(digits.len() / 4 * 3);
    let groups = digits.len() / 4;
    for (index, group) in digits.chunks_exact(4).enumerate() {
        let padding = group.iter().rev().take_while(|b| **b == b'=').count();
        if padding > 2 || (padding > 0 && index + 1 != groups) {
            return None;
        }
        let mut bits = 0u32;
        for digit in &group[..4 - padding] {
            let value = match digit {
                b'A'..=b'Z' => digit - b'A',
                b'a'..=b'z' => digit - b'a' + 26,
                b'0'..=b'9' => digit - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        bits <<= 6 * padding;
        out.extend_from_slice(&bits.to_be_bytes()[1..4 - padding]);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    #[test]
    fn breaks_and_loose_bits_are_accepted_and_the_rest_is_not() {
        assert_eq!(super::decode_lenient(b"aGVs\nbG8=").as_deref(), Some(&b"hello"[..]));
        assert_eq!(super::decode_lenient(b"aGk=").as_deref(), Some(&b"hi"[..]));
        assert_eq!(super::decode_lenient(b"aGl=").as_deref(), Some(&b"hi"[..]));
        assert_eq!(super::decode_lenient(b"aG=k"), None);
        assert_eq!(super::decode_lenient(b"%%"), None);
    }
}
