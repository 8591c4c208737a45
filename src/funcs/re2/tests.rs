//! What Go answers, recorded: faults, matches, replacements and splits.

use super::*;

#[test]
fn bad_patterns_are_refused_in_gos_words() {
    for (pattern, fault) in BAD {
        let said = Regex::new(pattern).err().map(|e| e.to_string()).unwrap_or_default();
        let said = said.strip_prefix("error parsing regexp: ").unwrap_or(&said);
        assert_eq!(said, *fault, "{}", String::from_utf8_lossy(pattern));
    }
}

#[test]
fn matches_are_those_of_go() {
    for (pattern, text, found) in FIND {
        let regex = Regex::new(pattern.as_bytes()).unwrap();
        let got: Vec<&[u8]> = regex.find_all(text, -1).into_iter().map(|(s, e)| &text[s..e]).collect();
        assert_eq!(got, *found, "{pattern}");
        assert_eq!(regex.is_match(text), !found.is_empty(), "{pattern}");
    }
}

#[test]
fn replacements_are_those_of_go() {
    for (pattern, text, template, result) in REPLACE {
        let regex = Regex::new(pattern.as_bytes()).unwrap();
        let got = regex.replace_all(&Text::new(*text), &Text::from(*template));
        assert_eq!(got.bytes(), *result, "{pattern} {template}");
    }
}

#[test]
fn splits_are_those_of_go() {
    for (pattern, text, limit, pieces) in SPLIT {
        let regex = Regex::new(pattern.as_bytes()).unwrap();
        let got = regex.split(&Text::new(*text), *limit).unwrap_or_default();
        assert_eq!(got.iter().map(Text::bytes).collect::<Vec<_>>(), *pieces, "{pattern} {limit}");
    }
}

#[test]
fn long_texts_match_as_short_ones_do() {
    let long = "ab ".repeat(SHORT);
    let regex = Regex::new(b"\\bb*a(b)\\b").unwrap();
    assert_eq!(regex.find_all(long.as_bytes(), -1).len(), SHORT);
}

#[test]
fn groups_keep_where_their_bytes_came_from() {
    let origins = crate::value::Origins::new(true);
    let fact = origins.only(crate::value::origin::Origin::KubeVersion);
    let text = Text::marked(*b"v1.30", fact);
    let got = Regex::new(b"^v(\\d+).*").unwrap().replace_all(&text, &Text::from("major $1"));
    assert_eq!(got.bytes(), b"major 1");
    assert_eq!(got.marks(), [crate::value::text::Mark { start: 6, end: 7, origins: fact }]);
}

#[test]
fn a_quoted_text_matches_itself() {
    assert_eq!(quote_meta(&Text::from("a.b*[c]$1-é/#")).lossy(), "a\\.b\\*\\[c\\]\\$1-é/#");
}

const BAD: &[(&[u8], &str)] = &[
    (b"[", "missing closing ]: `[`"),
    (b"[a", "missing closing ]: `[a`"),
    (b"a)", "unexpected ): `a)`"),
    (b"(a", "missing closing ): `(a`"),
    (b"(?P<n", "invalid named capture: `(?P<n`"),
    (b"(?P<n-x>a)", "invalid named capture: `(?P<n-x>`"),
    (b"(?<n>a", "missing closing ): `(?<n>a`"),
    (b"(?<>a)", "invalid named capture: `(?<>`"),
    (b"(?x)a", "invalid or unsupported Perl syntax: `(?x`"),
    (b"(?i-)a", "invalid or unsupported Perl syntax: `(?i-)`"),
    (b"(?", "invalid or unsupported Perl syntax: `(?`"),
    (b"a**", "invalid nested repetition operator: `**`"),
    (b"a++", "invalid nested repetition operator: `++`"),
    (b"a*?*", "invalid nested repetition operator: `*?*`"),
    (b"a{2}{3}", "invalid nested repetition operator: `{2}{3}`"),
    (b"*", "missing argument to repetition operator: `*`"),
    (b"a|*", "missing argument to repetition operator: `*`"),
    (b"(*)", "missing argument to repetition operator: `*`"),
    (b"(?:*)", "missing argument to repetition operator: `*`"),
    (b"x{1001}", "invalid repeat count: `{1001}`"),
    (b"x{2,1}", "invalid repeat count: `{2,1}`"),
    (b"x{1,1001}", "invalid repeat count: `{1,1001}`"),
    (b"(x{100}){11}", "invalid repeat count: `{11}`"),
    (b"(?:x{100}){10}", ""),
    (b"((a{0}){1000}){2}", "invalid repeat count: `{2}`"),
    (b"\\u0041", "invalid escape sequence: `\\u`"),
    (b"\\", "trailing backslash at end of expression: ``"),
    (b"[\\", "trailing backslash at end of expression: ``"),
    (b"[[:foo:]]", "invalid character class range: `[:foo:]`"),
    (b"[a--b]", "invalid character class range: `a--`"),
    (b"[b-a]", "invalid character class range: `b-a`"),
    (b"[z-\\d]", "invalid escape sequence: `\\d`"),
    (b"\\8", "invalid escape sequence: `\\8`"),
    (b"\\1", "invalid escape sequence: `\\1`"),
    (b"\\x{110000}", "invalid escape sequence: `\\x{110000`"),
    (b"\\xG0", "invalid escape sequence: `\\xG0`"),
    (b"\\x1", "invalid escape sequence: `\\x1`"),
    (b"\\x{}", "invalid escape sequence: `\\x{}`"),
    (b"\\pX", "invalid character class range: `\\pX`"),
    (b"\\p{Foo}", "invalid character class range: `\\p{Foo}`"),
    (b"\\p{L", "invalid character class range: `\\p{L`"),
    (b"\\C", "invalid escape sequence: `\\C`"),
    (b"\\Z", "invalid escape sequence: `\\Z`"),
    (b"\\G", "invalid escape sequence: `\\G`"),
    (b"\\h", "invalid escape sequence: `\\h`"),
    (b"(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
    (b"(?!a)", "invalid or unsupported Perl syntax: `(?!`"),
    (b"(?<=a)", "invalid named capture: `(?<=a)`"),
    (b"(?<!a)", "invalid named capture: `(?<!a)`"),
    (b"(?>a)", "invalid or unsupported Perl syntax: `(?>`"),
    (b"a\xffb", "invalid UTF-8: `�b`"),
    (b"(?i-i-s)a", "invalid or unsupported Perl syntax: `(?i-i-`"),
    (b"[^", "missing closing ]: `[^`"),
    (b"[]", "missing closing ]: `[]`"),
    (b"[]a", "missing closing ]: `[]a`"),
    (b"x{99999999999}", "invalid repeat count: `{99999999999}`"),
    (b"\\Qa", ""),
    (b"(?-)", "invalid or unsupported Perl syntax: `(?-)`"),
    (b"a{,5}*", ""),
    (b"^*", ""),
    (b"$+", ""),
    (b"\\b*", ""),
    (b"x**?", "invalid nested repetition operator: `**?`"),
    (b"x*?+", "invalid nested repetition operator: `*?+`"),
    (b"(?P=n)", "invalid or unsupported Perl syntax: `(?P`"),
    (b"(?P<a>b", "missing closing ): `(?P<a>b`"),
    (b"[a-\\", "trailing backslash at end of expression: ``"),
    (b"(?i", "invalid or unsupported Perl syntax: `(?i`"),
    (b"\\p", "invalid character class range: `\\p`"),
    (b"\\x", "invalid escape sequence: `\\x`"),
];
#[allow(clippy::type_complexity)] // a table
const FIND: &[(&str, &[u8], &[&[u8]])] = &[
    ("a*", b"baaac", &[b"", b"aaa", b""]),
    ("", b"abc", &[b"", b"", b"", b""]),
    ("", b"\xc3\xa9", &[b"", b""]),
    ("a|ab", b"abab", &[b"a", b"a"]),
    ("(a|ab)(c|bcd)(d*)", b"abcd", &[b"abcd"]),
    ("\\d+", b"a12b\xd9\xa34", &[b"12", b"4"]),
    ("\\w+", b"h\xc3\xa9llo w\xc3\xb6rld", &[b"h", b"llo", b"w", b"rld"]),
    ("\\bfoo\\b", b"foo foobar \xc3\xa9foo", &[b"foo", b"foo"]),
    ("(?i)k", b"kK\xe2\x84\xaa", &[b"k", b"K", b"\xe2\x84\xaa"]),
    ("(?i)[k-s]+", b"K\xc5\xbfS", &[b"K\xc5\xbfS"]),
    ("(?i)straße", b"STRASSE STRA\xc3\x9fE STRA\xe1\xba\x9eE", &[b"STRA\xc3\x9fE", b"STRA\xe1\xba\x9eE"]),
    ("(?i)ς", b"\xcf\x83\xce\xa3\xcf\x82", &[b"\xcf\x83", b"\xce\xa3", b"\xcf\x82"]),
    ("(?s)a.b", b"a\x0ab", &[b"a\x0ab"]),
    ("a.b", b"a\x0ab", &[]),
    ("(?m)^b$", b"a\x0ab\x0ac", &[b"b"]),
    ("^b$", b"a\x0ab", &[]),
    ("a$", b"a\x0a", &[]),
    ("(?U)a+", b"aaa", &[b"a", b"a", b"a"]),
    ("(?U)a+?", b"aaa", &[b"aaa"]),
    ("a{2,3}", b"aaaaaa", &[b"aaa", b"aaa"]),
    ("a{2,3}?", b"aaaaaa", &[b"aa", b"aa", b"aa"]),
    ("a{,2}", b"aa{,2}", &[b"a{,2}"]),
    ("a{", b"a{", &[b"a{"]),
    ("{(v[0-9])*[^}]*}}$", b"x{v1}}", &[b"{v1}}"]),
    ("[[:alpha:]_]+", b"a_1b", &[b"a_", b"b"]),
    ("[[:^digit:]]+", b"12ab3", &[b"ab"]),
    ("\\pL+", b"a\xc3\xa91\xd0\x96", &[b"a\xc3\xa9", b"\xd0\x96"]),
    ("\\p{Greek}+", b"ab\xce\xb3\xce\xb4", &[b"\xce\xb3\xce\xb4"]),
    ("\\P{Greek}+", b"ab\xce\xb3\xce\xb4", &[b"ab"]),
    ("\\p{^L}", b"a1", &[b"1"]),
    ("[\\pN\\s]+", b"a1 2b", &[b"1 2"]),
    ("\\Qa.b\\E+", b"a.bbb", &[b"a.bbb"]),
    ("\\Qa.b", b"a.b", &[b"a.b"]),
    ("\\101\\x42\\x{43}", b"ABC", &[b"ABC"]),
    ("\\07", b"\x07", &[b"\x07"]),
    ("[a&&b]+", b"&a&b", &[b"&a&b"]),
    ("[~~a]", b"~", &[b"~"]),
    ("\\<", b"<", &[b"<"]),
    ("\\/", b"/", &[b"/"]),
    ("[\\]]", b"]", &[b"]"]),
    ("[]a]+", b"]a", &[b"]a"]),
    ("[a-]+", b"a-", &[b"a-"]),
    ("[^a]", b"a\xffb", &[b"\xff", b"b"]),
    (".", b"\xff\xc3x", &[b"\xff", b"\xc3", b"x"]),
    ("�", b"a\xff\xfe", &[b"\xff", b"\xfe"]),
    ("[^\\n]*", b"a\x0ab", &[b"a", b"b"]),
    ("(|a)*", b"aa", &[b"", b"", b""]),
    ("(|a)+", b"aa", &[b"", b"", b""]),
    ("(a*)*", b"b", &[b"", b""]),
    ("(a*)+", b"aab", &[b"aa", b""]),
    ("(?:(a)|b)*", b"ab", &[b"ab"]),
    ("x*", b"\xc3\xa9x\xc3\xa9", &[b"", b"x", b""]),
    ("\\B", b"ab", &[b""]),
    ("\\b", b"ab cd", &[b"", b"", b"", b""]),
    ("\\A\\w", b"ab ab", &[b"a"]),
    ("\\w\\z", b"ab", &[b"b"]),
    ("(?i:a)b", b"AbAB", &[b"Ab"]),
    ("(?i)\\w+", b"\xc5\xbfK\xe2\x84\xaa", &[b"\xc5\xbfK\xe2\x84\xaa"]),
    ("(?i)[^x]", b"xXy", &[b"y"]),
    ("(?P<n>a)(?P<n>b)", b"ab", &[b"ab"]),
    ("(?<n>a)", b"a", &[b"a"]),
    ("[\\d-z]+", b"1-z", &[b"1-z"]),
    ("\\pLa", b"\xc3\xa9a", &[b"\xc3\xa9a"]),
    ("[[:word:]]+", b"a_b-c", &[b"a_b", b"c"]),
    ("[[.a.]]", b"[.]a]", &[b".]", b"a]"]),
    ("[[:a]", b"[:a", &[b"[", b":", b"a"]),
    ("\\s+", b"a\x0b \x09\xc2\xa0b", &[b" \x09"]),
    ("(?-s).", b"\x0a", &[]),
    ("a{0}b", b"ab", &[b"b"]),
    ("(?i)É", b"\xc3\xa9\xc3\x89", &[b"\xc3\xa9", b"\xc3\x89"]),
    ("\\p{Lu}", b"aB\xc3\x89", &[b"B", b"\xc3\x89"]),
    ("\\p{Any}", b"\xc3\xa9", &[b"\xc3\xa9"]),
    ("(?i)\\p{Lu}+", b"aB\xc3\xa91", &[b"aB\xc3\xa9"]),
];
const REPLACE: &[(&str, &[u8], &str, &[u8])] = &[
    ("a(x*)b", b"-ab-axxb-", "T", b"-T-T-"),
    ("a(x*)b", b"-ab-axxb-", "$1", b"--xx-"),
    ("a(x*)b", b"-ab-axxb-", "$1W", b"---"),
    ("a(x*)b", b"-ab-axxb-", "${1}W", b"-W-xxW-"),
    ("a(?P<y>x*)b", b"-axb-", "${y}$y$$$", b"-xx$$-"),
    ("", b"abc", "-", b"-a-b-c-"),
    ("x*", b"-abc-", "y", b"y-yaybycy-y"),
    ("b", b"abc", "${", b"a${c"),
    ("b", b"abc", "${1", b"a${1c"),
    ("b", b"abc", "$2", b"ac"),
    ("b", b"abc", "$01", b"ac"),
    ("(b)", b"abc", "$é$_", b"ac"),
    ("a*", b"baaac", "X", b"XbXcX"),
    ("^", b"a", "b", b"ba"),
    ("$", b"a", "b", b"ab"),
    ("", b"\xc3\xa9", "-", b"-\xc3\xa9-"),
    ("b", b"\xffb\xfe", "$0$0", b"\xffbb\xfe"),
    ("", b"\xff\xfe", ".", b".\xff.\xfe."),
    ("(?P<n>x)|(?P<n>y)", b"xy", "[$n]", b"[x][y]"),
    ("\\b", b"ab cd", "|", b"|ab| |cd|"),
];
#[allow(clippy::type_complexity)] // a table
const SPLIT: &[(&str, &[u8], i64, &[&[u8]])] = &[
    ("a*", b"baaac", -1, &[b"b", b"c"]),
    ("a", b"banana", -1, &[b"b", b"n", b"n", b""]),
    ("a", b"banana", 0, &[]),
    ("a", b"banana", 1, &[b"banana"]),
    ("a", b"banana", 2, &[b"b", b"nana"]),
    ("z+", b"pizza", 2, &[b"pi", b"a"]),
    ("", b"abc", -1, &[b"a", b"b", b"c"]),
    ("", b"", -1, &[]),
    ("a", b"", -1, &[b""]),
    (",", b"a,b,", -1, &[b"a", b"b", b""]),
    (",", b",a", -1, &[b"", b"a"]),
    ("", b"\xc3\xa91", 2, &[b"\xc3\xa9", b"1"]),
    ("x", b"abc", -1, &[b"abc"]),
    ("a", b"a", -1, &[b"", b""]),
];
