//! Characters as Go sees them: runes of bytes that need not be UTF-8, and case mappings of single runes.

use unicode_general_category::{GeneralCategory as Category, get_general_category};

use crate::value::{OriginSet, Text, TextBuilder};

/// What stands for a byte that is no UTF-8.
pub const ERROR: char = char::REPLACEMENT_CHARACTER;

/// The first rune of `bytes` and its length; a byte that starts no valid rune counts alone, as [`ERROR`].
///
/// An empty input gives length 0.
pub fn first(bytes: &[u8]) -> (char, usize) {
    let Some(&lead) = bytes.first() else { return (ERROR, 0) };
    let len = match lead {
        0..=0x7f => return (char::from(lead), 1),
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return (ERROR, 1),
    };
    match bytes.get(..len).and_then(|b| std::str::from_utf8(b).ok()).and_then(|s| s.chars().next()) {
        Some(rune) => (rune, len),
        None => (ERROR, 1),
    }
}

/// The last rune of `bytes` and its length.
pub fn last(bytes: &[u8]) -> (char, usize) {
    let end = bytes.len();
    for len in 1..=end.min(4) {
        let (rune, size) = first(&bytes[end - len..]);
        if size == len && (rune != ERROR || len > 1) {
            return (rune, len);
        }
    }
    (ERROR, end.min(1))
}

/// Walks the runes of a text: offset, rune, length.
pub fn iter(bytes: &[u8]) -> impl Iterator<Item = (usize, char, usize)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (rune, len) = first(&bytes[at..]);
        if len == 0 {
            return None;
        }
        at += len;
        Some((at - len, rune, len))
    })
}

/// Runs over a text and gives the origins of its bytes; positions must not go down.
pub struct Marks<'t> {
    rest: &'t [crate::value::text::Mark],
}

impl<'t> Marks<'t> {
    /// From the start of `text`.
    pub fn new(text: &'t Text) -> Self {
        Marks { rest: text.marks() }
    }

    /// Origins of the byte at `at`.
    pub fn at(&mut self, at: usize) -> OriginSet {
        while let [first, rest @ ..] = self.rest {
            if first.end as usize > at {
                return if first.start as usize <= at { first.origins } else { OriginSet::EMPTY };
            }
            self.rest = rest;
        }
        OriginSet::EMPTY
    }
}

/// Replaces every rune; each result has the origins of the rune it came from. `None` drops the rune.
pub fn map(text: &Text, mut change: impl FnMut(char) -> Option<char>) -> Text {
    let mut marks = Marks::new(text);
    let mut out = TextBuilder::default();
    for (at, rune, _) in iter(text.bytes()) {
        if let Some(rune) = change(rune) {
            out.push(rune.encode_utf8(&mut [0; 4]).as_bytes(), marks.at(at));
        }
    }
    out.finish()
}

fn category(rune: char) -> Category {
    get_general_category(rune)
}

/// Go's `unicode.IsUpper`: category Lu.
pub fn is_upper(rune: char) -> bool {
    if rune.is_ascii() { rune.is_ascii_uppercase() } else { category(rune) == Category::UppercaseLetter }
}

/// Go's `unicode.IsLower`: category Ll.
pub fn is_lower(rune: char) -> bool {
    if rune.is_ascii() { rune.is_ascii_lowercase() } else { category(rune) == Category::LowercaseLetter }
}

/// Go's `unicode.IsTitle`: category Lt.
pub fn is_title(rune: char) -> bool {
    !rune.is_ascii() && category(rune) == Category::TitlecaseLetter
}

/// Go's `unicode.IsLetter`: categories L*.
pub fn is_letter(rune: char) -> bool {
    if rune.is_ascii() {
        return rune.is_ascii_alphabetic();
    }
    matches!(
        category(rune),
        Category::UppercaseLetter
            | Category::LowercaseLetter
            | Category::TitlecaseLetter
            | Category::ModifierLetter
            | Category::OtherLetter
    )
}

/// Go's `unicode.IsDigit`: category Nd.
pub fn is_digit(rune: char) -> bool {
    if rune.is_ascii() { rune.is_ascii_digit() } else { category(rune) == Category::DecimalNumber }
}

/// Go's `unicode.IsNumber`: categories N*.
pub fn is_number(rune: char) -> bool {
    if rune.is_ascii() {
        return rune.is_ascii_digit();
    }
    matches!(category(rune), Category::DecimalNumber | Category::LetterNumber | Category::OtherNumber)
}

/// Go's `unicode.IsPunct`: categories P* (ASCII symbols such as `$` and `+` are none).
pub fn is_punct(rune: char) -> bool {
    matches!(
        category(rune),
        Category::ConnectorPunctuation
            | Category::DashPunctuation
            | Category::OpenPunctuation
            | Category::ClosePunctuation
            | Category::InitialPunctuation
            | Category::FinalPunctuation
            | Category::OtherPunctuation
    )
}

/// Upper case of one rune; runes whose upper case is several stay, as Go knows simple mappings only.
pub fn to_upper(rune: char) -> char {
    let mut mapped = rune.to_uppercase();
    match (mapped.next(), mapped.next()) {
        (Some(upper), None) => upper,
        // Greek with iota: the simple mapping is the rune with the iota beside it.
        _ => match rune as u32 {
            code @ (0x1f80..=0x1f87 | 0x1f90..=0x1f97 | 0x1fa0..=0x1fa7) => char::from_u32(code + 8).unwrap_or(rune),
            0x1fb3 => '\u{1fbc}',
            0x1fc3 => '\u{1fcc}',
            0x1ff3 => '\u{1ffc}',
            _ => rune,
        },
    }
}

/// Lower case of one rune.
pub fn to_lower(rune: char) -> char {
    rune.to_lowercase().next().unwrap_or(rune)
}

/// Title case of one rune: the upper case but for digraphs and Georgian.
pub fn to_title(rune: char) -> char {
    match rune {
        '\u{1c4}'..='\u{1c6}' => '\u{1c5}',
        '\u{1c7}'..='\u{1c9}' => '\u{1c8}',
        '\u{1ca}'..='\u{1cc}' => '\u{1cb}',
        '\u{1f1}'..='\u{1f3}' => '\u{1f2}',
        '\u{10d0}'..='\u{10fa}' | '\u{10fd}'..='\u{10ff}' => rune,
        _ => to_upper(rune),
    }
}

/// What `%q` prints for a string: double quotes, Go escapes; the bytes between the quotes keep their marks.
pub fn quote(out: &mut TextBuilder, text: &Text) {
    let mut marks = Marks::new(text);
    out.push(b"\"", OriginSet::EMPTY);
    let mut escaped = String::new();
    for (at, rune, len) in iter(text.bytes()) {
        escaped.clear();
        if rune == ERROR && len == 1 {
            escaped = format!("\\x{:02x}", text.bytes()[at]);
        } else {
            crate::codec::goquote::escape(rune, &mut escaped);
        }
        out.push(escaped.as_bytes(), marks.at(at));
    }
    out.push(b"\"", OriginSet::EMPTY);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_that_is_no_utf8_is_one_rune() {
        let runes: Vec<_> = iter(b"a\xc3\xa9\xe2\x82z").collect();
        assert_eq!(runes, [(0, 'a', 1), (1, 'é', 2), (3, ERROR, 1), (4, ERROR, 1), (5, 'z', 1)]);
        assert_eq!(last(b"a\xc3\xa9"), ('é', 2));
        assert_eq!(last(b"a\xa9"), (ERROR, 1));
        assert_eq!(last(b""), (ERROR, 0));
    }

    #[test]
    fn quoting_escapes_what_does_not_print() {
        let mut out = TextBuilder::default();
        quote(&mut out, &Text::new(*b"a\"b\\\n\t\x00\xc3\xa9\xff\xc2\xad\xc2\xa0\x7f"));
        assert_eq!(out.finish().lossy(), r#""a\"b\\\n\t\x00é\xff\u00ad\u00a0\x7f""#);
    }

    #[test]
    fn case_mappings_are_of_one_rune() {
        assert_eq!(['ß', 'ŉ', 'ᾀ', 'ǆ', 'é'].map(to_upper), ['ß', 'ŉ', 'ᾈ', 'Ǆ', 'É']);
        assert_eq!(['ǆ', 'Ǆ', 'a', 'ა'].map(to_title), ['ǅ', 'ǅ', 'A', 'ა']);
        assert_eq!(['İ', 'É'].map(to_lower), ['i', 'é']);
    }
}
