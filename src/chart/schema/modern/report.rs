//! What does not fit, as a tree, and how it is told (`H-43`).

use crate::chart::schema::node::Node;
use crate::chart::schema::number::Number;
use crate::codec::{float, goquote};

/// Something that does not fit, with the reasons below it.
#[derive(Debug)]
pub struct Fault {
    /// JSON pointer into the values.
    pub at: String,
    /// What it is.
    pub kind: Kind,
    /// Reasons.
    pub causes: Vec<Fault>,
}

/// Kinds of faults, as far as telling them differs.
#[derive(Debug, PartialEq, Eq)]
pub enum Kind {
    /// Several faults of one schema.
    Group,
    /// What a referenced schema finds.
    Reference,
    /// Anything else, in words.
    Words(String),
}

impl Fault {
    /// The faults as siblings: those of a group, or the fault alone.
    pub fn ungrouped(self) -> Vec<Fault> {
        if self.kind == Kind::Group { self.causes } else { vec![self] }
    }

    /// Lines with a dash, nested ones indented by two spaces per level.
    pub fn tell(&self, indent: usize, out: &mut String) {
        let mut fault = self;
        while let (Kind::Reference, [only]) = (&fault.kind, &fault.causes[..]) {
            fault = only;
        }
        let words = match &fault.kind {
            Kind::Group | Kind::Reference => "validation failed",
            Kind::Words(words) => words,
        };
        out.push_str(&format!("{:indent$}- at {}: {words}\n", "", quoted(&fault.at)));
        for cause in &fault.causes {
            cause.tell(indent + 2, out);
        }
    }
}

/// A text in single quotes.
pub fn quoted(text: &str) -> String {
    // A backslash at the end goes with the closing quote.
    let double = goquote::quote(text.as_bytes()).replace("\\\"", "\"").replace('\'', "\\'");
    format!("'{}'", double.get(1..double.len().saturating_sub(1)).unwrap_or_default())
}

/// Texts in single quotes, with commas between them.
pub fn all_quoted<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    texts.into_iter().map(quoted).collect::<Vec<_>>().join(", ")
}

/// A scalar in words; `None` for what has parts.
pub fn shown(node: &Node) -> Option<String> {
    Some(match node {
        Node::Null => "<nil>".into(),
        Node::Bool(value) => value.to_string(),
        Node::Number(number) => number.text().into(),
        Node::Text(text) => quoted(text),
        Node::List(_) | Node::Map(_) => return None,
    })
}

/// A count with commas between thousands.
pub fn count(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", grouped(&number.unsigned_abs().to_string()))
}

fn grouped(digits: &str) -> String {
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Sizes from here on, and below 0.0001, are told with a power of ten.
const MAX_PLAIN: i64 = 6;

/// A number as it is told in English: `12,345.678`, `1.5×10⁰⁷`.
pub fn amount(number: &Number) -> String {
    let double = number.double();
    let sign = if double < 0.0 { "-" } else { "" };
    if double.is_infinite() {
        return format!("{sign}∞");
    }
    let short = Number::new(&float::shortest(double.abs()));
    let Some((digits, power)) = short.scientific() else { return "0".into() };
    if (-4..MAX_PLAIN).contains(&power) {
        let zeros = |n: i64| "0".repeat(n.max(0) as usize);
        let all = format!("{}{digits}{}", zeros(-power), zeros(power + 1 - digits.len() as i64));
        let (whole, fraction) = all.split_at((power.max(0) + 1) as usize);
        let point = if fraction.is_empty() { "" } else { "." };
        return format!("{sign}{}{point}{fraction}", grouped(whole));
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let minus = if power < 0 { "-" } else { "" };
    let power: String = format!("{minus}{:02}", power.abs()).chars().map(raised).collect();
    format!("{sign}{first}{point}{rest}×10{power}")
}

fn raised(digit: char) -> char {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    digit.to_digit(10).and_then(|d| RAISED.get(d as usize)).copied().unwrap_or('⁻')
}
