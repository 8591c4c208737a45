//! Sets of characters: ranges, Go's named classes, Unicode tables and case folding.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir};
use unicode_general_category::{GeneralCategory as G, get_general_category};
use unicode_script::{Script, UnicodeScript};

/// Inclusive ranges of code points.
pub(super) type Ranges = Vec<(u32, u32)>;

const MAX: u32 = 0x10ffff;

/// Sorts and joins the ranges.
pub(super) fn clean(mut ranges: Ranges) -> Ranges {
    ranges.sort_unstable();
    let mut out: Ranges = Vec::with_capacity(ranges.len());
    for (lo, hi) in ranges {
        match out.last_mut() {
            Some(last) if lo <= last.1.saturating_add(1) => last.1 = last.1.max(hi),
            _ => out.push((lo, hi)),
        }
    }
    out
}

/// Everything else.
pub(super) fn negate(ranges: Ranges) -> Ranges {
    let mut out = Vec::new();
    let mut next = 0;
    for (lo, hi) in clean(ranges) {
        if lo > next {
            out.push((next, lo - 1));
        }
        next = hi + 1;
    }
    if next <= MAX {
        out.push((next, MAX));
    }
    out
}

/// The set as an expression; surrogates, which no text holds, are left out.
pub(super) fn hir(ranges: Ranges) -> Hir {
    let mut parts = Vec::new();
    let mut push = |lo: u32, hi: u32| {
        if let (Some(lo), Some(hi)) = (char::from_u32(lo), char::from_u32(hi)) {
            parts.push(ClassUnicodeRange::new(lo, hi));
        }
    };
    for (lo, hi) in clean(ranges) {
        if hi < 0xd800 || lo > 0xdfff {
            push(lo, hi);
        } else {
            if lo < 0xd800 {
                push(lo, 0xd7ff);
            }
            if hi > 0xdfff {
                push(0xe000, hi);
            }
        }
    }
    if parts.is_empty() { Hir::fail() } else { Hir::class(Class::Unicode(ClassUnicode::new(parts))) }
}

/// The class behind `\d`, `\s`, `\w` (ASCII, as in Go).
pub(super) fn perl(letter: u8) -> Option<(Ranges, bool)> {
    let ranges: &[(u32, u32)] = match letter.to_ascii_lowercase() {
        b'd' => &[(0x30, 0x39)],
        b's' => &[(9, 10), (12, 13), (32, 32)],
        b'w' => &[(0x30, 0x39), (0x41, 0x5a), (0x5f, 0x5f), (0x61, 0x7a)],
        _ => return None,
    };
    Some((ranges.to_vec(), letter.is_ascii_uppercase()))
}

/// The class of that name between `[:` and `:]`.
pub(super) fn posix(name: &str) -> Option<(Ranges, bool)> {
    let (name, negated) = name.strip_prefix('^').map_or((name, false), |rest| (rest, true));
    let ranges: &[(u32, u32)] = match name {
        "alnum" => &[(0x30, 0x39), (0x41, 0x5a), (0x61, 0x7a)],
        "alpha" => &[(0x41, 0x5a), (0x61, 0x7a)],
        "ascii" => &[(0, 0x7f)],
        "blank" => &[(9, 9), (32, 32)],
        "cntrl" => &[(0, 0x1f), (0x7f, 0x7f)],
        "digit" => &[(0x30, 0x39)],
        "graph" => &[(0x21, 0x7e)],
        "lower" => &[(0x61, 0x7a)],
        "print" => &[(0x20, 0x7e)],
        "punct" => &[(0x21, 0x2f), (0x3a, 0x40), (0x5b, 0x60), (0x7b, 0x7e)],
        "space" => &[(9, 13), (32, 32)],
        "upper" => &[(0x41, 0x5a)],
        "word" => &[(0x30, 0x39), (0x41, 0x5a), (0x5f, 0x5f), (0x61, 0x7a)],
        "xdigit" => &[(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)],
        _ => return None,
    };
    Some((ranges.to_vec(), negated))
}

fn abbreviation(category: G) -> &'static str {
    match category {
        G::UppercaseLetter => "Lu",
        G::LowercaseLetter => "Ll",
        G::TitlecaseLetter => "Lt",
        G::ModifierLetter => "Lm",
        G::OtherLetter => "Lo",
        G::NonspacingMark => "Mn",
        G::SpacingMark => "Mc",
        G::EnclosingMark => "Me",
        G::DecimalNumber => "Nd",
        G::LetterNumber => "Nl",
        G::OtherNumber => "No",
        G::ConnectorPunctuation => "Pc",
        G::DashPunctuation => "Pd",
        G::OpenPunctuation => "Ps",
        G::ClosePunctuation => "Pe",
        G::InitialPunctuation => "Pi",
        G::FinalPunctuation => "Pf",
        G::OtherPunctuation => "Po",
        G::MathSymbol => "Sm",
        G::CurrencySymbol => "Sc",
        G::ModifierSymbol => "Sk",
        G::OtherSymbol => "So",
        G::SpaceSeparator => "Zs",
        G::LineSeparator => "Zl",
        G::ParagraphSeparator => "Zp",
        G::Control => "Cc",
        G::Format => "Cf",
        G::Surrogate => "Cs",
        G::PrivateUse => "Co",
        _ => "Cn",
    }
}

const CATEGORIES: &[&str] = &[
    "C", "L", "M", "N", "P", "S", "Z", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd",
    "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co",
];

thread_local! {
    /// Tables that were asked for: building one means looking at every character.
    static TABLES: RefCell<HashMap<String, Option<Rc<Ranges>>>> = RefCell::default();
    static ORBITS: RefCell<Option<Rc<Orbits>>> = const { RefCell::new(None) };
}

/// The planes that have characters one by one; above them are tags, then private use throughout.
fn collect(holds: impl Fn(char) -> bool) -> Ranges {
    let mut out: Ranges = Vec::new();
    for code in (0..0x40000).chain(0xe0000..0xe1000) {
        let Some(c) = char::from_u32(code) else { continue };
        if holds(c) {
            match out.last_mut() {
                Some(last) if last.1 + 1 == code => last.1 = code,
                _ => out.push((code, code)),
            }
        }
    }
    if holds('\u{f0000}') {
        out.extend([(0xf0000, 0xffffd), (0x100000, 0x10fffd)]);
    }
    out
}

/// The characters of a category (`L`, `Lu`), a script (`Greek`) or `Any`.
pub(super) fn unicode(name: &str) -> Option<Rc<Ranges>> {
    if name == "Any" {
        return Some(Rc::new(vec![(0, MAX)]));
    }
    if let Some(known) = TABLES.with_borrow(|tables| tables.get(name).cloned()) {
        return known;
    }
    let table = if CATEGORIES.contains(&name) {
        Some(collect(|c| {
            let short = abbreviation(get_general_category(c));
            short != "Cn" && short.starts_with(name)
        }))
    } else {
        match Script::from_full_name(name) {
            Some(Script::Unknown) | None => None,
            Some(script) => Some(collect(|c| c.script() == script)),
        }
    };
    let table = table.map(Rc::new);
    TABLES.with_borrow_mut(|tables| {
        if tables.len() > 64 {
            tables.clear();
        }
        tables.insert(name.to_owned(), table.clone());
    });
    table
}

fn one(mut mapped: impl Iterator<Item = char>, c: char) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(only), None) => only,
        _ => c,
    }
}

/// Members by member.
type Orbits = BTreeMap<u32, Vec<u32>>;

/// Every group of characters that are equal without regard to case, by member.
fn orbits() -> Rc<Orbits> {
    ORBITS.with_borrow_mut(|slot| {
        slot.get_or_insert_with(|| {
            let mut groups: BTreeMap<char, Vec<u32>> = BTreeMap::new();
            for c in (0..0x1ffffu32).filter_map(char::from_u32) {
                let upper = one(c.to_uppercase(), c);
                let key = one(upper.to_lowercase(), upper);
                if key != c || upper != c {
                    groups.entry(key).or_default().push(c.into());
                }
            }
            let mut by_member = BTreeMap::new();
            for (key, mut members) in groups {
                if !members.contains(&key.into()) {
                    members.push(key.into());
                }
                for member in &members {
                    by_member.insert(*member, members.clone());
                }
            }
            Rc::new(by_member)
        })
        .clone()
    })
}

/// The set with every character's other cases.
pub(super) fn fold(ranges: &[(u32, u32)]) -> Ranges {
    let mut out = ranges.to_vec();
    let orbits = orbits();
    for (lo, hi) in ranges {
        for members in orbits.range(lo..=hi).map(|(_, members)| members) {
            out.extend(members.iter().map(|m| (*m, *m)));
        }
    }
    clean(out)
}
