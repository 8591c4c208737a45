//! Upper, lower, title, camel, snake and kebab case.

use super::args::{made, text};
use super::{pure, runes};
use crate::template::func::{Call, Flow, FuncDef, FuncError, Param as P};
use crate::value::{Text, TextBuilder, Value};

/// This file's part of the function table.
pub const FUNCS: &[FuncDef] = &[
    pure("camelcase", &[P::Str], Flow::Deep, camelcase, "Joins words to PascalCase."),
    pure("initials", &[P::Str], Flow::Deep, initials, "The first byte of every word."),
    pure("kebabcase", &[P::Str], Flow::Deep, kebabcase, "Words in lower case, joined by hyphens."),
    pure("lower", &[P::Str], Flow::Deep, lower, "Lower case."),
    pure("nospace", &[P::Str], Flow::Deep, nospace, "Removes white space."),
    pure("snakecase", &[P::Str], Flow::Deep, snakecase, "Words in lower case, joined by underscores."),
    pure("swapcase", &[P::Str], Flow::Deep, swapcase, "Turns the case of every letter around."),
    pure("title", &[P::Str], Flow::Deep, title, "The first letter of every word in title case."),
    pure("untitle", &[P::Str], Flow::Deep, untitle, "The first letter of every word in lower case."),
    pure("upper", &[P::Str], Flow::Deep, upper, "Upper case."),
];

fn upper(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    made(call, runes::map(&text(args, 0), |rune| Some(runes::to_upper(rune))))
}

fn lower(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    made(call, runes::map(&text(args, 0), |rune| Some(runes::to_lower(rune))))
}

fn title(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    let mut before = ' ';
    let titled = runes::map(&text(args, 0), |rune| {
        let starts = match before {
            '_' => false,
            c if c.is_ascii() => !c.is_ascii_alphanumeric(),
            c => !runes::is_letter(c) && !runes::is_digit(c) && c.is_whitespace(),
        };
        before = rune;
        Some(if starts { runes::to_title(rune) } else { rune })
    });
    made(call, titled)
}

fn untitle(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    let mut starts = true;
    let untitled = runes::map(&text(args, 0), |rune| {
        if rune.is_whitespace() {
            starts = true;
            return Some(rune);
        }
        Some(if std::mem::take(&mut starts) { runes::to_lower(rune) } else { rune })
    });
    made(call, untitled)
}

fn swapcase(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    let mut starts = true;
    let swapped = runes::map(&text(args, 0), |rune| {
        Some(if runes::is_upper(rune) || runes::is_title(rune) {
            starts = false;
            runes::to_lower(rune)
        } else if runes::is_lower(rune) {
            if std::mem::take(&mut starts) { runes::to_title(rune) } else { runes::to_upper(rune) }
        } else {
            starts = rune.is_whitespace();
            rune
        })
    });
    made(call, swapped)
}

/// Runs over the bytes of a text as if they were Latin-1, as two functions of the library do.
fn latin1(text: &Text, mut keep: impl FnMut(char) -> bool) -> Text {
    let mut marks = runes::Marks::new(text);
    let mut out = TextBuilder::default();
    for (at, byte) in text.bytes().iter().enumerate() {
        let rune = char::from(*byte);
        if keep(rune) {
            out.push(rune.encode_utf8(&mut [0; 2]).as_bytes(), marks.at(at));
        }
    }
    out.finish()
}

fn nospace(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    let text = text(args, 0);
    if !text.bytes().iter().any(|byte| char::from(*byte).is_whitespace()) {
        return made(call, text);
    }
    made(call, latin1(&text, |rune| !rune.is_whitespace()))
}

fn initials(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    let mut gap = true;
    let picked = latin1(&text(args, 0), |rune| {
        let space = rune.is_whitespace();
        let first = gap && !space;
        gap = space;
        first
    });
    made(call, picked)
}

/// What separates words: hyphen, underscore, white space.
fn is_connector(rune: char) -> bool {
    rune == '-' || rune == '_' || rune.is_whitespace()
}

/// Connectors at the start stay, each further run of `n` loses one (none at the end). The first letter of a word goes
/// up; in a word that starts with a capital the capitals right behind it go down.
fn camelcase(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    let source = text(args, 0);
    let runes: Vec<(usize, char, usize)> = runes::iter(source.bytes()).collect();
    let mut marks = runes::Marks::new(&source);
    let mut out = TextBuilder::default();
    let mut emit = |at: usize, rune: char| out.push(rune.encode_utf8(&mut [0; 4]).as_bytes(), marks.at(at));
    let run_end = |from: usize| runes[from..].iter().position(|r| !is_connector(r.1)).map(|len| from + len);
    let Some(start) = run_end(0) else {
        // Nothing but connectors: the last one comes twice.
        runes.iter().chain(runes.last()).for_each(|(at, rune, _)| emit(*at, *rune));
        return made(call, out.finish());
    };
    runes[..start].iter().for_each(|(at, rune, _)| emit(*at, *rune));
    let mut next = start;
    let mut capitals = false;
    let mut starts = true;
    while let Some(&(at, rune, _)) = runes.get(next) {
        if starts {
            starts = false;
            capitals = runes::is_upper(rune);
            emit(at, runes::to_upper(rune));
            next += 1;
        } else if is_connector(rune) {
            let end = run_end(next);
            let keep = end.map_or(runes.len(), |end| end - 1);
            runes[next..keep].iter().for_each(|(at, rune, _)| emit(*at, *rune));
            starts = true;
            next = end.unwrap_or(runes.len());
        } else {
            capitals = capitals && runes::is_upper(rune);
            emit(at, if capitals { runes::to_lower(rune) } else { rune });
            next += 1;
        }
    }
    made(call, out.finish())
}

fn snakecase(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    made(call, join_words(&text(args, 0), '_'))
}

fn kebabcase(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FuncError> {
    made(call, join_words(&text(args, 0), '-'))
}

/// What a run of characters is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    Number,
    /// Starts with a capital: `Word`, or `HTTP`.
    Capital,
    /// Letters without capitals.
    Small,
    Connector,
    Punct,
    Other,
}

/// A letter of a script that has words; Chinese characters are `Other`.
fn is_alphabet(rune: char) -> bool {
    runes::is_letter(rune)
        && !matches!(rune, '\u{4e00}'..='\u{9fcc}' | '\u{3400}'..='\u{4d85}' | '\u{20000}'..='\u{2b81d}')
}

fn class(rune: char) -> Class {
    if is_connector(rune) {
        Class::Connector
    } else if runes::is_punct(rune) {
        Class::Punct
    } else if runes::is_upper(rune) {
        Class::Capital
    } else if is_alphabet(rune) {
        Class::Small
    } else if runes::is_number(rune) {
        Class::Number
    } else {
        Class::Other
    }
}

/// A character and the invalid bytes before it (behind it at the end of the text), as one unit.
struct Unit {
    start: usize,
    end: usize,
    rune: char,
}

fn units(bytes: &[u8]) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut start = 0;
    for (at, rune, len) in runes::iter(bytes) {
        if rune != runes::ERROR {
            units.push(Unit { start, end: at + len, rune });
            start = at + len;
        }
    }
    match units.last_mut() {
        Some(last) => last.end = bytes.len(),
        None if !bytes.is_empty() => units.push(Unit { start: 0, end: bytes.len(), rune: runes::ERROR }),
        None => {}
    }
    units
}

/// Splits into runs of one class. A capital takes the small letters behind it, or the capitals behind it but for one
/// that starts a word of its own (`HTTP|Server`).
fn words(units: &[Unit]) -> Vec<(Class, std::ops::Range<usize>)> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(first) = units.get(at) {
        let class_at = |index: usize| units.get(index).map(|u| class(u.rune));
        let run = |from: usize, keep: &dyn Fn(char) -> bool| {
            units[from..].iter().position(|u| !keep(u.rune)).map_or(units.len(), |len| from + len)
        };
        let kind = class(first.rune);
        let end = match kind {
            Class::Capital if class_at(at + 1) == Some(Class::Capital) => {
                let end = run(at + 1, &runes::is_upper);
                let word_follows = units.get(end).is_some_and(|u| is_alphabet(u.rune));
                end - usize::from(word_follows)
            }
            Class::Capital if class_at(at + 1) != Some(Class::Small) => at + 1,
            Class::Capital | Class::Small => run(at + 1, &|r| is_alphabet(r) && !runes::is_upper(r)),
            Class::Connector => run(at + 1, &is_connector),
            Class::Punct => run(at + 1, &runes::is_punct),
            Class::Number => run(at + 1, &runes::is_number),
            Class::Other => {
                run(at + 1, &|r| !is_connector(r) && !is_alphabet(r) && !runes::is_number(r) && !runes::is_punct(r))
            }
        };
        words.push((kind, at..end));
        at = end;
    }
    words
}

/// Lower-cases words and puts `connector` between them. Numbers stick to the word before them, unless small letters
/// follow: then they start a word (`http_2xx`, but `bld4_floor`).
fn join_words(source: &Text, connector: char) -> Text {
    let units = units(source.bytes());
    let words = words(&units);
    let mut marks = runes::Marks::new(source);
    let mut out = TextBuilder::default();
    // Whether the run before belongs to a word that starts with a number.
    let mut numeric = false;
    for (index, (kind, range)) in words.iter().enumerate() {
        let after = words.get(index + 1).map(|w| w.0);
        let is_break = |kind: Class| matches!(kind, Class::Connector | Class::Punct);
        let glued = match index.checked_sub(1).map(|i| words[i].0) {
            None => true,
            Some(before) if is_break(before) || is_break(*kind) => true,
            Some(_) if numeric => matches!(kind, Class::Small | Class::Number),
            Some(_) => *kind == Class::Number && after != Some(Class::Small),
        };
        numeric = match kind {
            Class::Number => true,
            Class::Small => numeric && glued,
            _ => false,
        };
        let start = units[range.start].start;
        if !glued {
            out.push(connector.encode_utf8(&mut [0; 4]).as_bytes(), marks.at(start));
        }
        let end = units[range.end - 1].end;
        if matches!(kind, Class::Capital | Class::Connector) {
            for (at, rune, _) in runes::iter(&source.bytes()[start..end]) {
                let rune = match rune {
                    r if is_connector(r) => connector,
                    r if runes::is_upper(r) => runes::to_lower(r),
                    r => r,
                };
                out.push(rune.encode_utf8(&mut [0; 4]).as_bytes(), marks.at(start + at));
            }
        } else {
            for (at, byte) in source.bytes()[start..end].iter().enumerate() {
                out.push(&[*byte], marks.at(start + at));
            }
        }
    }
    out.finish()
}
