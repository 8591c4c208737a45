//! Values as YAML on one line.

use super::source::Source;
use super::table::Kind;

#[rustfmt::skip]
const SCALARS: &[&str] = &[
    "1", "0", "-1", "1.5", "true", "false", "null", "~", "yes", "No", "on", "0x1F", "0o17", "017", "08", "1_000", "1e3", "-0.0", "12345678901234567890", "9223372036854775807", "9007199254740993", "1e21", "123456789.123", "0.000001", "1e-7", "0b11", "2001-01-01", "2001-12-14t21:59:43.10-05:00", "12:30:45", "190:20:30", "plain text", "a#b", "a:b", "é", "日本", "=", "y", "n", "Y", "1.", ".5", "+1", "-", "''", "\"\"", "\"\\u2028\"", "\"tab\\t\"", "'it''s'", "\"line\\nline\\n\"", "!!str 1", "!!int '3'", "!!float 2", "!!binary aGk=", "100000", "1000000", "10000000", "1e6", "0xffffffffffffffffff", "1__0", "0.1e1", "-9223372036854775808", "18446744073709551615",
];
#[rustfmt::skip]
const ODD: &[&str] = &[".inf", "-.INF", ".nan", "1E400", "!custom x", "{null: 1}", "{~: 1}", "{[a]: 1}", "{{a: 1}: 1}"];
#[rustfmt::skip]
const TEXTS: &[&str] = &[
    "foo", "\"\"", "hello world", "'quoted'", "\"esc\\\"aped\\\\ \\n\"", "café", "\"- x\"", "\"a: b\"", "\"{{ .Release.Name }}\"", "'<&>'", "\"1.5\"", "'true'", "\"null\"", "\"  lead\"", "\"multi\\nline\\ntext\\n\"", "\"\\U0001F600\"", "a-very-long-word-that-goes-on-and-on-and-on", "FooBar", "\"\\x00\"", "\"\\xe9\"", "\"#c\"", "1.2.3", "https://host.test/p",
];
#[rustfmt::skip]
const KEYS: &[&str] = &[
    "a", "b", "c", "nested", "odd key", "\"\"", "1", "true", "1.5", "null", "é", "a.b", "'on'", "\"x\\ny\"", "~", "-1", "0x10", "yes",
];

/// A value of that kind, if values can be of that kind; else any.
pub fn value(source: &mut Source, kind: Kind, depth: usize) -> String {
    match kind {
        Kind::Count => (source.pick(&["1", "0", "2", "5", "-1", "1.5"])).to_owned(),
        Kind::Int | Kind::Number | Kind::Float => (source.pick(&SCALARS[..26])).to_owned(),
        Kind::Bool => (source.pick(&["true", "false", "null", "yes"])).to_owned(),
        Kind::List | Kind::Strs => list(source, kind, depth),
        Kind::Map => map(source, depth),
        Kind::Any | Kind::Time | Kind::UrlParts => match source.below(6) {
            0 | 1 => source.mostly(SCALARS, ODD).to_owned(),
            2 => (source.pick(TEXTS)).to_owned(),
            3 => list(source, Kind::List, depth),
            4 => map(source, depth),
            _ => (source.pick(SCALARS)).to_owned(),
        },
        _ => (source.pick(TEXTS)).to_owned(),
    }
}

fn list(source: &mut Source, kind: Kind, depth: usize) -> String {
    let count = if depth > 2 { 0 } else { source.below(4) };
    let of = if kind == Kind::Strs { Kind::Str } else { Kind::Any };
    let items: Vec<String> = (0..count).map(|_| value(source, of, depth + 1)).collect();
    format!("[{}]", items.join(", "))
}

fn map(source: &mut Source, depth: usize) -> String {
    let count = if depth > 2 { 0 } else { source.below(4) };
    let mut keys: Vec<&str> = Vec::new();
    let mut pairs = Vec::new();
    for _ in 0..count {
        let key = source.pick(KEYS);
        if !keys.contains(&key) {
            keys.push(key);
            pairs.push(format!("{key}: {}", value(source, Kind::Any, depth + 1)));
        }
    }
    format!("{{{}}}", pairs.join(", "))
}
