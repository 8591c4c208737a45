//! Version constraints: `>=1.2, <2 || ~3.1`, wildcards, hyphen ranges, and the rules for prereleases.

use std::cmp::Ordering;

use super::version::{Version, VersionError, compare_prerelease, dotted};
use crate::base::version::{HelmVersion, Quirk};

/// Longest constraint text that the newer library takes, in bytes (`H-26`).
const MAX_LENGTH: usize = 512;
/// Longest constraint text that this program takes where the library has no limit: the search for ranges is quadratic.
const LONGEST: usize = 16 << 10;
/// Most alternatives that the newer library takes (`H-26`).
const MAX_GROUPS: usize = 32;

/// Alternatives of conjunctions of comparisons.
#[derive(Debug, Clone)]
pub struct Constraints {
    groups: Vec<Group>,
    /// `H-25`: one prerelease in a conjunction admits prereleases for all of it.
    grouped: bool,
}

#[derive(Debug, Clone)]
struct Group {
    comparisons: Vec<Comparison>,
    has_pre: bool,
}

/// One comparison. "Open" parts were left out or are wildcards.
#[derive(Debug, Clone)]
struct Comparison {
    operator: Operator,
    version: Version,
    open: Open,
}

/// The first part of the version that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    Major,
    Minor,
    Patch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterEqual,
    LessEqual,
    Tilde,
    Caret,
}

const OPERATORS: &[(&str, Operator)] = &[
    ("!=", Operator::NotEqual),
    (">=", Operator::GreaterEqual),
    ("=>", Operator::GreaterEqual),
    ("<=", Operator::LessEqual),
    ("=<", Operator::LessEqual),
    ("~>", Operator::Tilde),
    ("=", Operator::Equal),
    (">", Operator::Greater),
    ("<", Operator::Less),
    ("~", Operator::Tilde),
    ("^", Operator::Caret),
    ("", Operator::Equal),
];

/// A version with wildcards, as it stands in a constraint.
struct Pattern<'a> {
    whole: &'a str,
    /// Up to three numbers or wildcards.
    numbers: [&'a str; 3],
    /// Prerelease with its `-`, or nothing.
    pre: &'a str,
    length: usize,
}

fn white(text: &str) -> usize {
    text.bytes().take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)).count()
}

/// The longest version pattern at the start of the text.
fn pattern(text: &str) -> Option<Pattern<'_>> {
    let bytes = text.as_bytes();
    let wild = |from: usize| {
        let body = bytes.get(from..).unwrap_or_default();
        body.iter().take_while(|b| b.is_ascii_digit() || matches!(b, b'x' | b'X' | b'*' | b'|')).count()
    };
    let mut at = usize::from(bytes.first() == Some(&b'v'));
    let mut numbers = [""; 3];
    for (index, slot) in numbers.iter_mut().enumerate() {
        let start = if index == 0 {
            at
        } else if bytes.get(at) == Some(&b'.') {
            at + 1
        } else {
            break;
        };
        let length = wild(start);
        if length == 0 {
            break;
        }
        *slot = text.get(start..start + length)?;
        at = start + length;
    }
    if numbers[0].is_empty() {
        return None;
    }
    let tail = |lead: u8, at: usize| {
        if bytes.get(at) != Some(&lead) {
            return at;
        }
        match dotted(bytes.get(at + 1..).unwrap_or_default()) {
            0 => at,
            more => at + 1 + more,
        }
    };
    let end = tail(b'-', at);
    let pre = text.get(at..end)?;
    let length = tail(b'+', end);
    Some(Pattern { whole: text.get(..length)?, numbers, pre, length })
}

/// Rewrites hyphen ranges `a - b` into `>= a, <= b `.
fn rewrite_ranges(text: &str) -> String {
    let mut out = text.to_owned();
    let mut from = 0;
    while let Some((start, end, low, high)) = next_range(text, from) {
        if let Some(found) = text.get(start..end)
            && let Some(at) = out.find(found)
        {
            out.replace_range(at..at + found.len(), &format!(">= {low}, <= {high} "));
        }
        from = end;
    }
    out
}

fn next_range(text: &str, from: usize) -> Option<(usize, usize, &str, &str)> {
    let mut start = from;
    while start < text.len() {
        if let Some(rest) = text.get(start..)
            && let Some((length, low, high)) = range_at(rest)
        {
            return Some((start, start + length, low, high));
        }
        start += 1;
    }
    None
}

fn range_at(text: &str) -> Option<(usize, &str, &str)> {
    let mut at = white(text);
    let low = pattern(text.get(at..)?)?;
    at += low.length;
    let gap = white(text.get(at..)?);
    at += gap;
    let after = text.get(at..)?.strip_prefix('-')?;
    at += 1;
    let second = white(after);
    at += second;
    if gap == 0 || second == 0 {
        return None;
    }
    let high = pattern(text.get(at..)?)?;
    at += high.length;
    at += white(text.get(at..)?);
    Some((at, low.whole, high.whole))
}

fn is_wild(number: &str) -> bool {
    matches!(number, "" | "x" | "X" | "*")
}

impl Constraints {
    /// Reads a constraint; the error is in the words of the Helm version's library (`H-26`).
    pub fn parse(text: &str, helm: HelmVersion) -> Result<Constraints, VersionError> {
        let strict = helm.has(Quirk::Semver35);
        if strict && text.len() > MAX_LENGTH {
            return Err(VersionError(format!("constraint string is too long (max {MAX_LENGTH} bytes)")));
        }
        if text.len() > LONGEST {
            return Err(VersionError(format!("constraint string is too long (max {LONGEST} bytes)")));
        }
        let text = rewrite_ranges(text);
        let parts: Vec<&str> = text.split("||").collect();
        if strict && parts.len() > MAX_GROUPS {
            return Err(VersionError(format!("too many constraint groups (max {MAX_GROUPS})")));
        }
        let improper = |part: &str| {
            let shown = if strict { crate::codec::goquote::quote(part.as_bytes()) } else { part.to_owned() };
            VersionError(format!("improper constraint: {shown}"))
        };
        let mut groups = Vec::new();
        for part in parts {
            let found = split_group(part).ok_or_else(|| improper(part))?;
            let comparisons =
                found.iter().map(|(op, pattern)| comparison(*op, pattern, helm)).collect::<Result<Vec<_>, _>>()?;
            let has_pre = comparisons.iter().any(|c| !c.version.pre.is_empty());
            groups.push(Group { comparisons, has_pre });
        }
        Ok(Constraints { groups, grouped: helm.has(Quirk::GroupPrereleases) })
    }

    /// Whether the version satisfies the constraint.
    pub fn check(&self, version: &Version) -> bool {
        self.groups.iter().any(|group| {
            group.comparisons.iter().all(|c| {
                let admits_pre = if self.grouped { group.has_pre } else { !c.version.pre.is_empty() };
                (version.pre.is_empty() || admits_pre) && c.holds(version)
            })
        })
    }
}

/// Splits a conjunction into its comparisons; `None` if it is malformed.
fn split_group(part: &str) -> Option<Vec<(Operator, Pattern<'_>)>> {
    let mut found = Vec::new();
    let mut at = white(part);
    loop {
        let rest = part.get(at..)?;
        let (sign, operator) = OPERATORS.iter().find(|(sign, _)| rest.starts_with(sign))?;
        at += sign.len();
        at += white(part.get(at..)?);
        let pattern = pattern(part.get(at..)?)?;
        at += pattern.length;
        found.push((*operator, pattern));
        let gap = white(part.get(at..)?);
        at += gap;
        let rest = part.get(at..)?;
        if rest.is_empty() {
            return Some(found);
        }
        if let Some(after) = rest.strip_prefix(',') {
            at += 1 + white(after);
        } else if gap == 0 {
            return None;
        }
    }
}

fn comparison(operator: Operator, pattern: &Pattern<'_>, helm: HelmVersion) -> Result<Comparison, VersionError> {
    let [major, minor, patch] = pattern.numbers;
    let pre = pattern.pre;
    let (open, text) = if is_wild(major) {
        (Open::Major, format!("0.0.0{pre}"))
    } else if is_wild(minor) {
        (Open::Minor, format!("{major}.0.0{pre}"))
    } else if is_wild(patch) {
        (Open::Patch, format!("{major}.{minor}.0{pre}"))
    } else {
        (Open::Nothing, pattern.whole.to_owned())
    };
    let version = Version::parse(&text, helm).map_err(|_| VersionError("constraint parser error".into()))?;
    Ok(Comparison { operator, version, open })
}

impl Comparison {
    fn holds(&self, v: &Version) -> bool {
        let c = &self.version;
        let order = v.compare(c);
        match self.operator {
            Operator::Equal if self.open == Open::Nothing => order == Ordering::Equal,
            Operator::Equal | Operator::Tilde => self.tilde(v),
            Operator::NotEqual => self.not_equal(v),
            Operator::Greater => match self.open {
                Open::Minor => v.major > c.major,
                Open::Patch => (v.major, v.minor) > (c.major, c.minor),
                Open::Major => v.major > c.major || order == Ordering::Greater,
                Open::Nothing => order == Ordering::Greater,
            },
            Operator::Less => order == Ordering::Less,
            Operator::GreaterEqual => order != Ordering::Less,
            Operator::LessEqual => match self.open {
                Open::Nothing => order != Ordering::Greater,
                Open::Minor => v.major <= c.major,
                Open::Major | Open::Patch => (v.major, v.minor) <= (c.major, c.minor),
            },
            Operator::Caret => self.caret(v),
        }
    }

    fn tilde(&self, v: &Version) -> bool {
        let c = &self.version;
        if v.compare(c) == Ordering::Less {
            return false;
        }
        // `~0.0.0` and `*` take everything.
        let zero = (c.major, c.minor, c.patch) == (0, 0, 0);
        if zero && !matches!(self.open, Open::Minor | Open::Patch) {
            return true;
        }
        v.major == c.major && (v.minor == c.minor || self.open == Open::Minor)
    }

    fn not_equal(&self, v: &Version) -> bool {
        let c = &self.version;
        let differs = v.compare(c) != Ordering::Equal;
        match self.open {
            Open::Nothing => differs,
            Open::Minor => v.major != c.major,
            Open::Patch if (v.major, v.minor) != (c.major, c.minor) => true,
            Open::Patch => compare_prerelease(&v.pre, &c.pre) != Ordering::Equal,
            Open::Major => differs,
        }
    }

    fn caret(&self, v: &Version) -> bool {
        let c = &self.version;
        if v.compare(c) == Ordering::Less || v.major != c.major {
            return false;
        }
        if c.major > 0 || self.open == Open::Minor {
            return true;
        }
        if c.minor > 0 || self.open == Open::Patch {
            return v.minor == c.minor;
        }
        v.minor == 0 && v.patch == c.patch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(constraint: &str, version: &str, helm: HelmVersion) -> Result<bool, String> {
        let constraints = Constraints::parse(constraint, helm).map_err(|e| e.0)?;
        Ok(constraints.check(&Version::parse(version, helm).map_err(|e| e.0)?))
    }

    /// Versions that the matrix checks, in the order of the columns.
    const VERSIONS: [&str; 8] =
        ["1.29.4", "v1.29.4-gke.1", "1.29.4+k3s1", "1.2.3", "1.2.3-beta.2", "v1.2", "1.3.0-rc.1", "2.0.0-0"];

    #[test]
    fn constraints_answer_as_recorded_from_helm() {
        for line in MATRIX.lines() {
            let (answers, constraint) = line.split_at(17);
            for (index, version) in VERSIONS.iter().enumerate() {
                for (helm, row) in [(HelmVersion::cli(3, 17, 3), 0), (HelmVersion::cli(4, 2, 2), 9)] {
                    let want = answers.as_bytes()[row + index] == b'y';
                    assert_eq!(
                        check(constraint.trim_start(), version, helm),
                        Ok(want),
                        "{constraint} {version} {helm}"
                    );
                }
            }
        }
    }

    #[test]
    fn malformed_constraints_are_refused_in_the_words_of_their_time() {
        for (constraint, before, after) in [
            (">>1", "improper constraint: >>1", "improper constraint: \">>1\""),
            ("", "improper constraint: ", "improper constraint: \"\""),
            (">=1.2, ", "improper constraint: >=1.2, ", "improper constraint: \">=1.2, \""),
            (">=1 || ", "improper constraint:  ", "improper constraint: \" \""),
            ("1|2", "constraint parser error", "constraint parser error"),
            ("1.2.3.4", "improper constraint: 1.2.3.4", "improper constraint: \"1.2.3.4\""),
        ] {
            let said = |helm| check(constraint, "1.0.0", helm).unwrap_err();
            assert_eq!(said(HelmVersion::cli(3, 17, 3)), before);
            assert_eq!(said(HelmVersion::cli(4, 2, 2)), after);
        }
        let many = ["1"; 33].join("||");
        assert_eq!(check(&many, "1.0.0", HelmVersion::cli(4, 2, 2)), Err("too many constraint groups (max 32)".into()));
        assert_eq!(check(&many, "1.0.0", HelmVersion::cli(4, 1, 4)), Ok(true));
    }

    include!("matrix.rs");
}
