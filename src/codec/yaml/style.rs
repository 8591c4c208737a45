//! Which style a string is written in (F-120).

use super::scalar::{self, Scalar};

/// The two generations of Go's YAML writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Generation {
    /// Behind `toYaml`, `kubectl` and the values digest.
    Two,
    /// Behind `toYamlPretty`.
    Three,
}

/// How a scalar is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    Plain,
    Single,
    Double,
    Literal,
}

/// What a look at all characters of a string tells.
#[derive(Debug, Clone, Copy, Default)]
struct Looks {
    /// Holds LF, U+2028 or U+2029 (or another break, which is also not printable).
    breaks: bool,
    /// Holds something that only double quotes can write.
    special: bool,
    tabs: bool,
    leading_space: bool,
    leading_break: bool,
    trailing_space: bool,
    trailing_break: bool,
    /// A space right after a break.
    break_space: bool,
    /// A space right before a break.
    space_break: bool,
    /// Something that would be taken for syntax if written plain.
    indicators: bool,
}

/// Whether a text counts as more than one line, which makes it an explicit key.
pub(super) fn is_multiline(text: &str) -> bool {
    text.chars().any(is_break)
}

pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether the writer shows the character as it is. Tab is not, and nothing above U+FFFF.
pub(super) fn is_printable(c: char) -> bool {
    match c {
        '\n' | ' '..='~' => true,
        '\u{FEFF}' => false,
        '\u{A0}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' => true,
        _ => false,
    }
}

/// Whether the plain text would be read back as a string.
pub(super) fn reads_as_string(text: &str) -> bool {
    scalar::resolve(text) == Scalar::Str && !scalar::is_base60(text)
}

/// The style of a string value or key. `simple_key` is a key on one line with its colon.
pub(super) fn choose(text: &str, simple_key: bool, generation: Generation) -> Written {
    let looks = look(text, generation);
    let edges = looks.leading_space || looks.leading_break || looks.trailing_space || looks.trailing_break;
    let spoils_block = looks.space_break || looks.special;
    let spoils_quotes = spoils_block || looks.tabs;
    let wanted = if text.contains('\n') {
        Written::Literal
    } else if reads_as_string(text) {
        Written::Plain
    } else {
        Written::Double
    };
    match wanted {
        _ if simple_key && looks.breaks => Written::Double,
        Written::Literal if spoils_block || looks.trailing_space || simple_key => Written::Double,
        Written::Plain if !(edges || looks.break_space || spoils_quotes || looks.breaks || looks.indicators) => {
            Written::Plain
        }
        Written::Plain if !(looks.break_space || spoils_quotes) => Written::Single,
        Written::Plain => Written::Double,
        other => other,
    }
}

fn look(text: &str, generation: Generation) -> Looks {
    let mut looks = Looks { indicators: text.starts_with("---") || text.starts_with("..."), ..Looks::default() };
    let blank = |c: Option<char>| c.is_none_or(|c| c == ' ' || c == '\t' || is_break(c));
    let mut chars = text.chars().peekable();
    let mut first = true;
    let mut after_blank = true;
    let mut before: Option<char> = None;
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        let last = next.is_none();
        let before_blank = blank(next);
        looks.indicators |= match c {
            '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' if first => {
                true
            }
            '?' | '-' if first => before_blank,
            ':' => before_blank,
            '#' => after_blank,
            _ => false,
        };
        if c == '\t' && generation == Generation::Three {
            looks.tabs = true;
        } else if !is_printable(c) {
            looks.special = true;
        }
        if c == ' ' {
            looks.leading_space |= first;
            looks.trailing_space |= last;
            looks.break_space |= before.is_some_and(is_break);
        } else if is_break(c) {
            looks.breaks = true;
            looks.leading_break |= first;
            looks.trailing_break |= last;
            looks.space_break |= before == Some(' ');
        }
        after_blank = blank(Some(c));
        before = Some(c);
        first = false;
    }
    looks
}

/// The header behind the `|` of a literal block (F-120.7).
pub(super) fn literal_header(text: &str) -> String {
    let mut header = String::new();
    if text.starts_with(|c| c == ' ' || is_break(c)) {
        header.push('2');
    }
    let mut back = text.chars().rev();
    match (back.next(), back.next()) {
        (Some(last), _) if !is_break(last) => header.push('-'),
        (Some(_), None) => header.push('+'),
        (Some(_), Some(before)) if is_break(before) => header.push('+'),
        _ => {}
    }
    header
}
