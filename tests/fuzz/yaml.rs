//! Texts in YAML, JSON and TOML: well-formed ones, and ones with a few characters changed.

use helm_render_predictor::base::version::HelmVersion;

use super::case::{Case, Unit};
use super::literal;
use super::source::Source;
use super::table::Kind;
use super::values;

#[rustfmt::skip]
const PLAIN: &[&str] = &[
    "x", "1", "two words", "true", "~", "", "-1.5", "0x1F", "0o7", "1_0", "a:b", "a #b", "a#b", "- x", "é", "12:30", "2001-01-01", "no", "null", ".inf",
    "x: y", "'s'", "\"d\"", "'it''s'", "\"\\n\\x41\\u00e9\\U0001F600\\\n  x\"", "\"a\n  b\n\n  c\"", "'a\n\n  b'", "plain\n  continued", "a,b", "[", "{", "*x",
    "&x", "!t", "|", ">", "%x", "@x", "`x", "?x", ":x", "-x", "? x", "=", "<<", "x\ty", "\u{85}", "\u{2028}", "\u{feff}", "\\", "\"\\q\"", "\"\\/\"", "#x",
    "1e3", "123456789012345678901", "0.1", "+.inf", "1.", "08", "017", "0b1", "y", "Yes", "NULL", "!!str 1", "!!int x", "!!float 1", "!!bool yes",
    "!!null ''", "!!binary aGk=", "!!timestamp 2001-01-01", "! x", "!!map {}", "!!seq []", "!!set {a}", "!!str", "!<tag:yaml.org,2002:str> 1", "!!merge x",
    "2001-12-15 2:59:43.10", "190:20:30.15", "-0", "-0.0", "00", "1e", "0x", "-.5", ".", "..", "...", "---x", "--- x",
];
const KEYS: &[&str] = &[
    "a", "b", "c", "<<", "1", "\"q\"", "'s'", "k e y", "true", "null", "1.5", "? x", "é", "", "*x", "&k k", "!!str k",
    "{a: 1}", "[l]", "-", "~",
];
const NOISE: &[&str] = &[
    " ",
    "\n",
    "-",
    "- ",
    ":",
    ": ",
    "?",
    "|",
    ">",
    "&a ",
    "*a",
    "!",
    "!!str ",
    "%",
    "@",
    "`",
    "{",
    "}",
    "[",
    "]",
    ",",
    "#",
    " #",
    "'",
    "\"",
    "\\",
    "\t",
    "\r\n",
    "~",
    "=",
    "<<: ",
    "---\n",
    "...\n",
    "0",
    "e",
    "é",
    "\u{feff}",
    "\u{0}",
    "\u{7}",
    "\u{85}",
    "\u{2028}",
    "  ",
    "|-\n",
    ">+\n",
    "|2\n",
    "%YAML 1.1\n",
    "%TAG ! x\n",
    "\u{a0}",
    "\u{10ffff}",
    "\u{fffe}",
    "\u{d7ff}",
    ".",
    "+",
    "null",
];

/// A block: what follows a key or a dash, from the blank or line break on.
fn block(source: &mut Source, indent: usize, depth: usize) -> String {
    let pad = "  ".repeat(indent);
    let properties =
        if source.chance(15) { source.pick(&[" &x", " !!map", " !!seq", " &y !!str", " !t", " &x"]) } else { "" };
    let comment = if source.chance(8) { " # c" } else { "" };
    match source.below(if depth > 3 { 4 } else { 9 }) {
        4 | 5 => {
            let dashes = if indent > 0 && source.chance(30) { "  ".repeat(indent - 1) } else { pad };
            let items: String = (0..1 + source.below(3))
                .map(|_| format!("{dashes}-{}", block(source, indent + 1, depth + 1)))
                .collect();
            format!("{properties}{comment}\n{items}")
        }
        6..=8 => format!("{properties}{comment}\n{}", mapping(source, indent, depth)),
        2 => format!("{properties} {}{comment}\n", flow(source, depth)),
        3 => {
            let head = source.pick(&["|", ">", "|-", ">-", "|+", ">+", "|2", ">1-", "|+3", "|0", "| # c"]);
            let lines = source.some(4, |s| {
                format!(
                    "{}{}\n",
                    "  ".repeat(indent),
                    s.pick(&["text", "", "  more", "# no comment", "- x", "a: b", "\ttab", "trailing  ", "---"])
                )
            });
            format!("{properties} {head}\n{lines}")
        }
        _ => format!("{properties} {}{comment}\n", source.pick(PLAIN)),
    }
}

fn mapping(source: &mut Source, indent: usize, depth: usize) -> String {
    let pad = "  ".repeat(indent);
    let entry = |source: &mut Source| {
        let key = if source.chance(60) { source.pick(&KEYS[..4]) } else { source.pick(KEYS) };
        format!("{pad}{key}:{}", block(source, indent + 1, depth + 1))
    };
    (0..1 + source.below(3)).map(|_| entry(source)).collect()
}

fn flow(source: &mut Source, depth: usize) -> String {
    let part = |source: &mut Source| if depth > 2 { source.pick(PLAIN).to_owned() } else { flow(source, depth + 1) };
    match source.below(5) {
        2 => {
            let items = source.some(3, |s| format!("{}, ", part(s)));
            format!("[{items}]")
        }
        3 => {
            let pairs = source.some(3, |s| {
                let key = s.pick(KEYS);
                format!("{key}{}{}, ", s.pick(&[": ", ":", " ", " : "]), part(s))
            });
            format!("{{{pairs}}}")
        }
        4 => values::value(source, Kind::Any, 0),
        _ => source.pick(PLAIN).to_owned(),
    }
}

/// A YAML text, mostly of mappings.
pub fn text(source: &mut Source) -> String {
    let mut text = match source.below(10) {
        8 => block(source, 0, 0).trim_start().to_owned(),
        9 => format!("---{}...\n{}", block(source, 0, 1), mapping(source, 0, 1)),
        7 => literal::text(source, Kind::Yaml),
        _ => mapping(source, 0, 0),
    };
    if source.chance(35) {
        text = damaged(source, text);
    }
    if source.chance(5) {
        text = text.replace('\n', "\r\n");
    }
    text
}

/// The text with a few characters more or less.
pub fn damaged(source: &mut Source, text: String) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..1 + source.below(3) {
        let at = source.below(chars.len() + 1);
        if source.chance(40) && at < chars.len() {
            let end = (at + 1 + source.below(3)).min(chars.len());
            chars.drain(at..end);
        } else {
            chars.splice(at..at, source.pick(NOISE).chars());
        }
    }
    chars.into_iter().collect()
}

fn read(data: String, shown: &str) -> Case {
    let body = format!("{{{{ $t := .Files.Get \"data/c@\" }}}}{shown}");
    Case::Unit(Unit { body, data: Some(data), ..Unit::default() })
}

/// YAML texts as templates read them.
pub fn yaml(source: &mut Source, _: HelmVersion) -> Case {
    let shown = "{{ fromYaml $t | toJson }}|{{ fromYamlArray $t | toJson }}|{{ fromYaml $t | toYaml }}|{{ fromYamlArray $t | toYamlPretty }}";
    read(text(source), shown)
}

/// JSON and TOML texts as templates read them.
pub fn formats(source: &mut Source, _: HelmVersion) -> Case {
    let kind = source.pick(&[Kind::Json, Kind::Toml]);
    let mut data = if source.chance(50) {
        format!("k = {}", literal::text(source, Kind::Json))
    } else {
        literal::text(source, kind)
    };
    if source.chance(60) {
        data = damaged(source, data);
    }
    let shown = if kind == Kind::Json {
        "{{ fromJson $t | toJson }}|{{ fromJsonArray $t | toRawJson }}|{{ fromJson $t | toYaml }}|{{ fromJson $t | toToml }}"
    } else {
        "{{ fromToml $t | toJson }}|{{ fromToml $t | toToml }}|{{ fromToml $t | printf \"%#v\" }}|{{ fromToml $t | toYaml }}"
    };
    read(data, shown)
}

/// YAML texts as the values of a chart.
pub fn values_file(source: &mut Source, _: HelmVersion) -> Case {
    Case::Values(text(source))
}
