//! Literals of templates, and the texts that stand in them.

use super::source::Source;
use super::table::Kind;

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "a", "b", "", "foo", "Bar", "hello world", "fooBar baz_qux-Quux", "ABC def", "  padded ", "x-1", "café", "日本語", "ß ŉ ǆ", "a,b,,c", "true", "null", "~", "123", "-1.5", "0x1F", "1e3", "0o17", "1_000", "012", "08", ".5", "NaN", "Inf", "line one\nline two\n", "\ttab\r\n", "key: value", "- item", "# comment", "'q'", "\"dq\"", "back\\slash", "<a href=\"x\">&amp;</a>", "{{ .x }}", "$1 ${2}", "%s %d", "\u{1f600}", "e\u{301}", "\u{2028}", "\u{feff}bom", "\u{0}", "\u{7f}", "\u{85}", "\u{a0}nbsp", "İıſK", "a b c d e f g h", "The quick brown fox jumps over the lazy dog", "yes", "off", "2001-01-01", "12:30:45", "0b101", "+1", "=", "<<", "*x", "&x", "!x", "@x", "`", "|", ">", "%", "?", "? x", ": x", "x:", "x #y", "[a]", "{a: 1}", "...", "---", "x\n", "\nx", "x\n\n", " x\ny", "\u{fffd}",
];
#[rustfmt::skip]
const KEYS: &[&str] = &["a", "b", "c", "Major", "nested", "_0", "odd key", "", "1", "true", "é", "a.b"];
#[rustfmt::skip]
const COUNTS: &[&str] = &["0", "1", "2", "3", "5", "10", "7", "-1", "4", "20"];
#[rustfmt::skip]
const ODD_INTS: &[&str] = &["9223372036854775808", "0x_1", "1__0", "0xffffffffffffffff"];
#[rustfmt::skip]
const INTS: &[&str] = &[
    "0", "1", "2", "-1", "42", "255", "0x1F", "0b101", "0o17", "017", "1_000", "'a'", "'\\n'", "'é'", "9223372036854775807", "-9223372036854775808", "4294967296", "1e3", "100000000", "'\\u00e9'",
];
#[rustfmt::skip]
const ODD_FLOATS: &[&str] = &["1e400", "1_0.5"];
#[rustfmt::skip]
const FLOATS: &[&str] = &[
    "0.0", "1.5", "-0.0", "3.14159", "1e21", "1e20", "1e-7", "123456789.0", "2.5", "0.1", ".5", "5.", "1e308", "1e-320", "0x1p4", "1e6", "12345678.9", "-2.5", "0.30000000000000004", "3.0",
];
#[rustfmt::skip]
const DATES: &[(&str, &str)] = &[
    ("2006-01-02", "2024-02-29"),
    ("2006-01-02T15:04:05Z07:00", "2023-12-31T23:59:59+02:00"),
    ("Mon Jan _2 15:04:05 2006", "Tue Mar  5 01:02:03 2019"),
    ("2006-01-02 15:04:05.000", "1999-12-31 23:59:59.123"),
    ("02/01/06 3:04PM", "31/12/99 11:59AM"),
    ("2006 002", "2020 366"),
    ("15:04:05,000000 -0700", "08:09:10,123456 -0330"),
    ("January 2, 2006", "July 4, 1776"),
    ("2006-01-02", "2023-02-30"),
    ("2006-1-2", "0001-1-1"),
];
#[rustfmt::skip]
const ZONES: &[&str] = &["UTC", "", "Local", "Nowhere/None"];
#[rustfmt::skip]
const ODD_DURATIONS: &[&str] = &["1d", "", "1h 2m", "1", "2562047h48m", "9223372036s"];
#[rustfmt::skip]
const DURATIONS: &[&str] =
    &["1h", "90m", "1.5h", "-2s", "100ms", "1h2m3.5s", "24h", "1us", "3ns", "1µs", "0", "720h", "+5m", "10000h", ".5s"];
#[rustfmt::skip]
const ODD_VERSIONS: &[&str] = &["1.2.3.4", "01.2.3", "1.2.3-", "1.2.3-01", "99999999999999999999.0.0", "x", ""];
#[rustfmt::skip]
const VERSIONS: &[&str] = &[
    "1.2.3", "v1.2.3", "1.2", "1", "1.2.3-beta.1+build.5", "0.0.0", "1.30.0-gke.100", "2.0.0-rc.1", "v1", "1.2.3+a.b-c", "v1.29.4+k3s1",
];
#[rustfmt::skip]
const ODD_CONSTRAINTS: &[&str] = &[">>1", "", "=>1.2", "x.1"];
#[rustfmt::skip]
const CONSTRAINTS: &[&str] = &[
    "1.2.3", ">=1.2.0", "^1.2", "~1.2.3", "~1", "1.x", "*", ">1.0.0 <2.0.0", ">=1.21-0", "1.0.0 - 2.0.0", "!=1.2.3", "=1.2", "<2 || >=3", ">= 1.0, < 1.5", "^0.2.3", "^0.0.3", "~0", ">=1.2.x", "1.2.3-beta.1", "^1.2.3-alpha", ">1.2.3-a <1.2.3", "<=1.2", ">1.2", "!=1.x",
];
#[rustfmt::skip]
const YAMLS: &[&str] = &[
    "a: 1\nb: two\n", "a: {b: [1, 2.5, null, true]}\n", "- 1\n- x\n", "a: &x {k: v}\nb: *x\nc: {<<: *x, d: 1}\n", "a: |\n  text\n   more\n", "a: >-\n  folded\n  text\n", "a: 0x1F\nb: 0o17\nc: 017\nd: 1_000\n", "y: yes\nn: off\nt: ~\n", "a: 2001-01-01\nb: 12:30:45\n", "1: a\n2.5: b\ntrue: c\n", "a: 1\na: 2\n", "a: 'it''s'\nb: \"\\u00e9\\n\"\n", "", "# only\n", "a: b: c\n", "---\na: 1\n---\nb: 2\n", "a: .inf\nb: .nan\n", "a: 12345678901234567890\nb: 1e3\nc: 1e400\n", "? k\n: v\n", "a: !!binary aGVsbG8=\nb: !!str 1\n", "a:\n\t- b\n", "a: [1,\n", "a: !!float 1\nb: !!int \"3\"\n", "null: x\n", "\"a\\\"b\": \"\\x41\"\n", "a: |2\n    x\n", "k: \"a\n\n  b\"\n", "hello\n", "5\n", "{a, b: , \"c\":1}\n",
];
#[rustfmt::skip]
const JSONS: &[&str] = &[
    "{\"a\": 1, \"b\": [true, null, \"x\"]}", "[1, 2.50, \"\\u00e9\", {}]", "{\"n\": 12345678901234567890, \"e\": 1e3}", "\"text\"", "1", "", "{\"a\": 1, \"a\": 2}", "{a: 1}", "[1,]", "{\"a\":\"\\ud800\"}", "{\"a\":\"<&>\\u2028\"}", " {\"k\" : -0.0 } ", "{} {}", "[1e400]", "null", "tru", "{\"a\":1e21,\"b\":1e-7}", "[\"\\x\"]", "{\"A\":1,\"a\":{\"B\":[[]]}}",
];
#[rustfmt::skip]
const TOMLS: &[&str] = &[
    "a = 1\nb = \"x\"\n", "[t]\nk = 1.5\n[t.u]\nz = true\n", "a = [1, 2]\nb = {c = 3}\n", "[[p]]\nn = 1\n[[p]]\nn = 2\n", "d = 1979-05-27T07:32:00Z\n", "s = '''\nraw\n'''\n", "a = 0xff\nb = 1_000\nc = inf\n", "a = \n", "a = 1\na = 2\n", "\"odd key\" = 1\na.b.c = 2\n", "", "x = 1e10\ny = -0.0\n", "t = 07:32:00\n", "l = 1979-05-27\nm = 1979-05-27T07:32:00\n",
];
#[rustfmt::skip]
const PATHS: &[&str] = &["a/b/c.txt", "/", "", "../x", "/a/./b/../c/", "a//b", ".hidden", "x.tar.gz", "./.", "a/b/"];
#[rustfmt::skip]
const URLS: &[&str] = &[
    "https://user:pa%20ss@host.test:8080/a/b?q=1&r=x#frag", "http://h", "/only/path", "mailto:a@b.test", "host:80", "", "http://[::1]:80/x", "a b", "https://h/%zz", "?q", "//h/p", "http://h:x/", "HTTP://H/%41%2f?a=b c#d e", "http://a@b@c/", "x:y:z",
];
#[rustfmt::skip]
const ODD_PATTERNS: &[&str] = &["[", "(?=x)", "a**"];
#[rustfmt::skip]
const PATTERNS: &[&str] = &[
    "a", "[a-z]+", "(\\w+)\\s(\\w+)", "^\\d*$", ".*", "x*", "(?i)FOO|bar", "a{1,3}?", "[^[:alpha:]]", "\\bfoo\\b", "(?P<n>o+)", "\\pL+", "(?s).+", "(?m)^l", "(a|b)*c", "\\x41", "é|日", "$", "", "\\z", "(?U)a+", "(?:)",
];
#[rustfmt::skip]
const REPLACEMENTS: &[&str] = &["X", "$1", "${1}_$2", "$$", "$n", "${n}", "$1x", "", "\\1", "$0-$0", "${", "$"];
#[rustfmt::skip]
const KINDS: &[&str] = &[
    "string", "int", "float64", "map", "slice", "bool", "invalid", "int64", "map[string]interface {}", "[]interface {}", "ptr", "struct",
];

/// A text as a Go string literal: interpreted, or raw where that is possible.
pub fn quoted(source: &mut Source, text: &str) -> String {
    if !text.contains('`')
        && !text.contains('\r')
        && !text.contains('\0')
        && !text.contains('\u{feff}')
        && source.chance(15)
    {
        return format!("`{text}`");
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f || c == '\u{feff}' => {
                out.push_str(&format!("\\u{:04x}", c as u32))
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A text of that kind.
pub fn text(source: &mut Source, kind: Kind) -> String {
    let pool = match kind {
        Kind::Key => KEYS,
        Kind::Zone => ZONES,
        Kind::Duration => DURATIONS,
        Kind::Version => VERSIONS,
        Kind::Constraint => CONSTRAINTS,
        Kind::Yaml => YAMLS,
        Kind::Json => JSONS,
        Kind::Toml => TOMLS,
        Kind::Path => PATHS,
        Kind::Url => URLS,
        Kind::Pattern => PATTERNS,
        Kind::Replacement => REPLACEMENTS,
        Kind::TypeName => KINDS,
        Kind::Layout => return source.pick(DATES).0.to_owned(),
        Kind::Date => return source.pick(DATES).1.to_owned(),
        Kind::Format => return format(source),
        Kind::Base64 => &["aGVsbG8=", "", "YQ==", "YWI", "_-8=", "////", "NBSWY3DP", "a=b", "aGVs\nbG8="],
        _ => WORDS,
    };
    let odd = match kind {
        Kind::Duration => ODD_DURATIONS,
        Kind::Version => ODD_VERSIONS,
        Kind::Constraint => ODD_CONSTRAINTS,
        Kind::Pattern => ODD_PATTERNS,
        _ => pool,
    };
    let word = source.mostly(pool, odd);
    match source.below(40) {
        38 | 39 => format!("{word}{}", source.pick(WORDS)),
        36 | 37 => word.to_uppercase(),
        _ => word.to_owned(),
    }
}

/// A format for `printf`: verbs with flags, widths, precisions and argument numbers.
pub fn format(source: &mut Source) -> String {
    source.some(3, |source| {
        let literal = source.pick(&["", "x", " ", "%%", "é"]);
        let flags = source.some(2, |s| (s.pick(&["-", "+", "#", "0", " "])).to_owned());
        let index = source.pick(&["", "", "", "", "[1]", "[2]", "[0]", "[9]", "[x]"]);
        let width = source.pick(&["", "", "", "5", "12", "*", "1"]);
        let precision = source.pick(&["", "", "", ".2", ".0", ".", ".*", ".10"]);
        let verb = source.pick(&[
            "v", "s", "d", "q", "t", "f", "g", "e", "x", "X", "T", "c", "U", "o", "O", "b", "G", "E", "F", "w", "z",
            "é", "!", "",
        ]);
        format!("{literal}%{flags}{width}{precision}{index}{verb}")
    })
}

/// A literal of that kind.
pub fn literal(source: &mut Source, kind: Kind) -> String {
    match kind {
        Kind::Count => (source.pick(COUNTS)).to_owned(),
        Kind::Int => source.mostly(INTS, ODD_INTS).to_owned(),
        Kind::Float => source.mostly(FLOATS, ODD_FLOATS).to_owned(),
        Kind::Number if source.chance(50) => literal(source, Kind::Float),
        Kind::Number => literal(source, Kind::Int),
        Kind::Bool => (source.pick(&["true", "false"])).to_owned(),
        Kind::Any => match source.below(8) {
            0..=2 => literal(source, Kind::Str),
            3 => literal(source, Kind::Int),
            4 => literal(source, Kind::Float),
            5 => literal(source, Kind::Bool),
            6 => "nil".to_owned(),
            _ => literal(source, Kind::Count),
        },
        kind => {
            let text = text(source, kind);
            if source.chance(2) { "\"\\xff\\u00e9\\101\\U0001F600\"".to_owned() } else { quoted(source, &text) }
        }
    }
}
