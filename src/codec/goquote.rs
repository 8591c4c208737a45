//! Go's quoted form of a string, as error texts carry it (`%q`).

use std::fmt::Write;

use unicode_general_category::{GeneralCategory as Category, get_general_category};

/// Whether Go shows the character as it is: letters, marks, numbers, punctuation, symbols and the ASCII space.
pub fn is_print(c: char) -> bool {
    if c.is_ascii() {
        return (' '..='~').contains(&c);
    }
    !matches!(
        get_general_category(c),
        Category::Control
            | Category::Format
            | Category::Surrogate
            | Category::PrivateUse
            | Category::Unassigned
            | Category::SpaceSeparator
            | Category::LineSeparator
            | Category::ParagraphSeparator
    )
}

/// The bytes between double quotes, with Go's escapes; bytes that are no UTF-8 become `\xNN`.
pub fn quote(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            escape(c, &mut out);
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('"');
    out
}

/// One character between single quotes (`%q` of a rune).
pub fn quote_char(c: char) -> String {
    let mut out = String::from("'");
    match c {
        '\'' => out.push_str("\\'"),
        '"' => out.push('"'),
        c => escape(c, &mut out),
    }
    out.push('\'');
    out
}

/// A quoted text with escapes for all that is not ASCII (`%+q`).
pub fn ascii(quoted: &str) -> String {
    let mut out = String::with_capacity(quoted.len());
    for c in quoted.chars() {
        let _ = match u32::from(c) {
            ..=0x7f => write!(out, "{c}"),
            code @ ..=0xffff => write!(out, "\\u{code:04x}"),
            code => write!(out, "\\U{code:08x}"),
        };
    }
    out
}

/// Writes one character as it stands between double quotes.
pub fn escape(c: char, out: &mut String) {
    let short = match c {
        '"' => "\\\"",
        '\\' => "\\\\",
        '\x07' => "\\a",
        '\x08' => "\\b",
        '\x0c' => "\\f",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        '\x0b' => "\\v",
        _ => "",
    };
    let _ = match (short, u32::from(c)) {
        ("", _) if is_print(c) => write!(out, "{c}"),
        ("", code @ ..=0x1f | code @ 0x7f) => write!(out, "\\x{code:02x}"),
        ("", code @ ..=0xffff) => write!(out, "\\u{code:04x}"),
        ("", code) => write!(out, "\\U{code:08x}"),
        (short, _) => write!(out, "{short}"),
    };
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn strings_are_quoted_as_go_does() {
        for (bytes, quoted) in [
            (&b"a\"\\\n\x01\x7f"[..], r#""a\"\\\n\x01\x7f""#),
            (b"\xff\xc3\xa9", "\"\\xff\u{e9}\""),
            ("\u{a0}\u{200b}\u{1f600}\u{e0001}".as_bytes(), "\"\\u00a0\\u200b\u{1f600}\\U000e0001\""),
        ] {
            assert_eq!(quote(bytes), quoted);
        }
    }
}
