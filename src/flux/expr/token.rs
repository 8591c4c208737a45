//! Words of an expression.

use super::value::Value;

/// A word.
#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    /// A number, a text, true, false, null.
    Literal(Value<'static>),
    /// A name; `in` is one too.
    Name(String),
    /// An operator or a bracket.
    Sign(&'static str),
}

/// Longer ones first.
const SIGNS: &[&str] = &[
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "+", "-", "*", "/", "%", "?", ":", ".", ",", "(", ")", "[", "]",
    "{", "}",
];

/// Longest expression.
const MAX_BYTES: usize = 64 << 10;

/// Splits a text into words.
pub fn words(text: &str) -> Result<Vec<Token>, String> {
    if text.len() > MAX_BYTES {
        return Err("the expression is too long".into());
    }
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}']);
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.find('\n').map_or("", |end| &comment[end..]);
            continue;
        }
        let Some(first) = rest.chars().next() else { return Ok(found) };
        let (token, length) = if let Some(quoted) = quoted(rest)? {
            quoted
        } else if first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
            number(rest)?
        } else if first == '_' || first.is_ascii_alphabetic() {
            let end = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
            let token = match &rest[..end] {
                "true" => Token::Literal(Value::Bool(true)),
                "false" => Token::Literal(Value::Bool(false)),
                "null" => Token::Literal(Value::Null),
                name => Token::Name(name.to_owned()),
            };
            (token, end)
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign = sign.ok_or_else(|| format!("Syntax error: token recognition error at: '{first}'"))?;
            (Token::Sign(sign), sign.len())
        };
        found.push(token);
        rest = &rest[length..];
    }
}

fn number(text: &str) -> Result<(Token, usize), String> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let count = hex.bytes().take_while(u8::is_ascii_hexdigit).count();
        return whole(&hex[..count], 16, &hex[count..]).map(|(token, more)| (token, 2 + count + more));
    }
    let before = digits(text);
    let mut end = before;
    let mut float = false;
    if let Some(after) = text[end..].strip_prefix('.').filter(|after| after.starts_with(|c: char| c.is_ascii_digit())) {
        float = true;
        end += 1 + digits(after);
    }
    if let Some(after) = text[end..].strip_prefix(['e', 'E']) {
        let sign = usize::from(after.starts_with(['+', '-']));
        let count = digits(&after[sign..]);
        if count > 0 {
            float = true;
            end += 1 + sign + count;
        }
    }
    if float {
        let value = text[..end].parse().map_err(|_| format!("Syntax error: {} is no number", &text[..end]))?;
        return Ok((Token::Literal(Value::Double(value)), end));
    }
    whole(&text[..before], 10, &text[before..]).map(|(token, more)| (token, before + more))
}

/// A whole number; its sign is an operator, so the smallest one is told by what follows the minus.
fn whole(digits: &str, base: u32, after: &str) -> Result<(Token, usize), String> {
    let value = u64::from_str_radix(digits, base).map_err(|_| "Syntax error: invalid int literal".to_owned())?;
    if after.starts_with(['u', 'U']) {
        return Ok((Token::Literal(Value::Uint(value)), 1));
    }
    match i64::try_from(value) {
        Ok(value) => Ok((Token::Literal(Value::Int(value)), 0)),
        Err(_) if value == 1 << 63 => Ok((Token::Literal(Value::Int(i64::MIN)), 0)),
        Err(_) => Err("Syntax error: invalid int literal".into()),
    }
}

/// A text in quotes, with its prefix.
fn quoted(text: &str) -> Result<Option<(Token, usize)>, String> {
    let prefix = text.len() - text.trim_start_matches(['r', 'R', 'b', 'B']).len();
    let (marks, body) = text.split_at(prefix.min(2));
    let marks = marks.to_ascii_lowercase();
    if !matches!(marks.as_str(), "" | "r" | "b" | "rb" | "br") {
        return Ok(None);
    }
    let Some(end) = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| body.starts_with(*quote)) else {
        return Ok(None);
    };
    let raw = marks.contains('r');
    let mut value = String::new();
    let mut at = end.len();
    loop {
        let rest = &body[at..];
        if rest.starts_with(end) {
            break;
        }
        let Some(next) = rest.chars().next().filter(|c| end.len() == 3 || *c != '\n') else {
            return Err("Syntax error: a text has no end".into());
        };
        if next == '\\' && !raw {
            let (meant, length) = escape(&rest[1..])?;
            value.push(meant);
            at += 1 + length;
        } else {
            value.push(next);
            at += next.len_utf8();
            // A quote behind a backslash does not end a raw text.
            if next == '\\'
                && let Some(after) = body[at..].chars().next()
            {
                value.push(after);
                at += after.len_utf8();
            }
        }
    }
    let length = marks.len() + at + end.len();
    let value = match marks.contains('b') {
        true => Value::Bytes(value.into_bytes().into()),
        false => Value::Text(value.into()),
    };
    Ok(Some((Token::Literal(value), length)))
}

/// What stands behind a backslash, and how long it is.
fn escape(text: &str) -> Result<(char, usize), String> {
    let wrong = || "Syntax error: an escape that there is not".to_owned();
    let coded = |from: usize, length: usize, base: u32| {
        let digits = text.get(from..from + length).ok_or_else(wrong)?;
        let code = u32::from_str_radix(digits, base).map_err(|_| wrong())?;
        Ok((char::from_u32(code).ok_or_else(wrong)?, from + length))
    };
    let first = text.chars().next().ok_or_else(wrong)?;
    let plain = |c: char| Ok((c, 1));
    match first {
        'a' => plain('\u{7}'),
        'b' => plain('\u{8}'),
        'f' => plain('\u{c}'),
        'n' => plain('\n'),
        'r' => plain('\r'),
        't' => plain('\t'),
        'v' => plain('\u{b}'),
        '\\' | '?' | '"' | '\'' | '`' => plain(first),
        'x' | 'X' => coded(1, 2, 16),
        'u' => coded(1, 4, 16),
        'U' => coded(1, 8, 16),
        '0'..='3' => coded(0, 3, 8),
        _ => Err(wrong()),
    }
}
