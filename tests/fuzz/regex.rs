//! Patterns, and texts to match them with.

use helm_render_predictor::base::version::HelmVersion;

use super::case::{Case, Unit};
use super::literal::quoted;
use super::source::Source;

#[rustfmt::skip]
const ATOMS: &[&str] = &[
    "a", "b", "ab", ".", "[a-c]", "[^a]", "\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "\\pL", "\\p{Greek}", "\\PN", "\\p{^Lu}", "[[:alpha:]]", "[[:^digit:]]", "[a\\d]",
    "é", "日", "k", "\\x41", "\\x{1F600}", "\\n", "\\t", "\\.", "\\Q.*\\E", "[]a]", "[a-]", "[\\]]", "\\101", "\\C", "[\\pL1]", "[^\\x00-\\x{10FFFF}]", "ſ", "K", "[k-s]",
    "", "\\07", "\\v", "\\f", "\\a", "[\\s\\S]", "[[:word:]_]", "\\pZ", "\\p{Lu}", "\\p{L}", "\\p{Any}", "\\pC", "[^\\n]", "[[:^space:]x]",
];
#[rustfmt::skip]
const ODD: &[&str] = &[
    "[", "]", "(", ")", "{", "}", "[b-a]", "\\", "\\p{Nope}", "(?=a)", "(?<n>a)", "(?P<n>a)", "(?P<1>a)", "(?P=n)", "[[:nope:]]", "\\8", "\\x{110000}", "(?z)", "a{1001}",
    "a{2,1}", "*", "+", "?", "{1}", "{,2}", "a{1,", "\\Z", "(?-)", "(?i", "(?P<", "[a", "\\pX", "\\x{", "\\xg", "\\c", "(?#c)", "[[.a.]]", "[a-\\d]", "(?<n", "(?P<n>a)(?P<n>b)",
];
const ANCHORS: &[&str] = &["^", "$", "\\b", "\\B", "\\A", "\\z"];
const REPEATS: &[&str] = &["*", "+", "?", "*?", "+?", "??", "{2}", "{1,}", "{0,2}", "{1,3}?", "{0}", "{10}"];
const GROUPS: &[&str] = &["(", "(?:", "(?i:", "(?s:", "(?m:", "(?U:", "(?P<n>", "(?<m>", "(?i-s:", "(?ims:"];
const FLAGS: &[&str] = &["(?i)", "(?s)", "(?m)", "(?U)", "(?i-m)", "(?-i)"];
const PIECES: &[&str] = &[
    "a", "b", "ab", "c", " ", "A", "B", "1", "\n", "é", "日", "_", "k", "s", "ſ", "\u{212a}", "xyz", ".", "\t", "ba",
    "aa", "α", "😀", "\u{a0}", "-", "É",
];

fn pattern(source: &mut Source, depth: usize) -> String {
    (0..1 + source.below(4)).map(|_| piece(source, depth)).collect()
}

fn piece(source: &mut Source, depth: usize) -> String {
    let mut text = match source.below(12) {
        8 if depth < 3 => {
            let group = source.pick(GROUPS);
            format!("{group}{})", pattern(source, depth + 1))
        }
        9 if depth < 3 => {
            let (left, right) = (pattern(source, depth + 1), pattern(source, depth + 1));
            format!("({left}|{right})")
        }
        10 => source.pick(ANCHORS).to_owned(),
        11 if source.chance(30) => source.pick(FLAGS).to_owned(),
        _ => source.mostly(ATOMS, ODD).to_owned(),
    };
    if source.chance(30) {
        text.push_str(source.pick(REPEATS));
    }
    text
}

/// All functions on one pattern and text.
pub fn regex(source: &mut Source, _: HelmVersion) -> Case {
    let pattern = pattern(source, 0);
    let subject = source.some(8, |s| s.pick(PIECES).to_owned());
    let replacement = source.some(3, |s| {
        s.pick(&["X", "$1", "${1}", "$0", "$n", "${n}", "$m", "$$", "$1x", "-", "$", "${", "$9", "é"]).to_owned()
    });
    let count = source.pick(&["-1", "0", "1", "2"]);
    let (p, s, r) = (quoted(source, &pattern), quoted(source, &subject), quoted(source, &replacement));
    let body = format!(
        "{{{{ $p := {p} }}}}{{{{ $s := {s} }}}}{{{{ $r := {r} }}}}{{{{ regexMatch $p $s }}}} {{{{ regexFind $p $s | quote }}}} \
         {{{{ regexFindAll $p $s {count} | toJson }}}} {{{{ mustRegexReplaceAll $p $s $r | quote }}}} \
         {{{{ regexReplaceAllLiteral $p $s $r | quote }}}} {{{{ mustRegexSplit $p $s {count} | toJson }}}}"
    );
    Case::Unit(Unit { body, ..Unit::default() })
}
