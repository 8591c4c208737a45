//! One semantic version: parsing (lenient and strict), printing, order, and the small edits that Helm and Flux make.

use std::cmp::Ordering;
use std::fmt;

use crate::base::version::{HelmVersion, Quirk};

/// Longest version text that the newer library takes, in bytes (`H-26`).
const MAX_LENGTH: usize = 256;

/// Why a text is no version or constraint, in the words of the library that the Helm version uses (`H-26`).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct VersionError(pub String);

/// The complaints of the library; their capitals depend on the version.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fault {
    Invalid,
    Empty,
    Characters,
    LeadingZero,
    Metadata,
    Prerelease,
    TooLong,
}

impl Fault {
    pub(super) fn said_by(self, helm: HelmVersion) -> VersionError {
        let (old, new) = match self {
            Fault::Invalid => ("Invalid Semantic Version", "invalid semantic version"),
            Fault::Empty => ("Version string empty", "version string empty"),
            Fault::Characters => ("Invalid characters in version", "invalid characters in version"),
            Fault::LeadingZero => ("Version segment starts with 0", "version segment starts with 0"),
            Fault::Metadata => ("Invalid Metadata string", "invalid metadata string"),
            Fault::Prerelease => ("Invalid Prerelease string", "invalid prerelease string"),
            Fault::TooLong => ("", "version string is too long (max 256 bytes)"),
        };
        VersionError(if helm.has(Quirk::Semver34) { new } else { old }.into())
    }
}

/// A semantic version. Equality of the struct is equality of its parts and its source text; use
/// [`Version::compare`] for precedence, which ignores build metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// First number.
    pub major: u64,
    /// Second number; 0 if left out.
    pub minor: u64,
    /// Third number; 0 if left out.
    pub patch: u64,
    /// Prerelease without the `-`; empty for a release.
    pub pre: String,
    /// Build metadata without the `+`; empty for none.
    pub metadata: String,
    original: String,
}

/// What the loose grammar finds at the start of a text.
struct Loose<'a> {
    numbers: [Option<&'a str>; 3],
    pre: &'a str,
    metadata: &'a str,
}

/// Length of a dotted list of identifiers at the start of the bytes; empty items end it.
pub(super) fn dotted(bytes: &[u8]) -> usize {
    let item = |from: usize| {
        bytes.get(from..).unwrap_or_default().iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'-').count()
    };
    let mut end = item(0);
    if end == 0 {
        return 0;
    }
    while bytes.get(end) == Some(&b'.') {
        match item(end + 1) {
            0 => break,
            more => end += 1 + more,
        }
    }
    end
}

/// Splits off a suffix that starts with `lead` and goes on with identifiers.
fn suffix<'a>(rest: &mut &'a str, lead: u8) -> &'a str {
    if rest.as_bytes().first() != Some(&lead) {
        return "";
    }
    match dotted(rest.as_bytes().get(1..).unwrap_or_default()) {
        0 => "",
        length => {
            let (head, tail) = rest.split_at(1 + length);
            *rest = tail;
            head.get(1..).unwrap_or_default()
        }
    }
}

fn loose(text: &str) -> Option<Loose<'_>> {
    let mut rest = text.strip_prefix('v').unwrap_or(text);
    let mut numbers = [None; 3];
    for (index, slot) in numbers.iter_mut().enumerate() {
        let after = if index == 0 { Some(rest) } else { rest.strip_prefix('.') };
        let Some(after) = after else { break };
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            break;
        }
        let (number, tail) = after.split_at(digits);
        *slot = Some(number);
        rest = tail;
    }
    numbers[0]?;
    let pre = suffix(&mut rest, b'-');
    let metadata = suffix(&mut rest, b'+');
    rest.is_empty().then_some(Loose { numbers, pre, metadata })
}

fn number(digits: &str, helm: HelmVersion) -> Result<u64, VersionError> {
    digits.parse().map_err(|_| {
        let lead = if helm.has(Quirk::Semver34) { "error" } else { "Error" };
        VersionError(format!(
            "{lead} parsing version segment: strconv.ParseUint: parsing \"{digits}\": value out of range"
        ))
    })
}

fn check_prerelease(pre: &str, helm: HelmVersion) -> Result<(), VersionError> {
    for part in pre.split('.') {
        if part.is_empty() {
            if helm.has(Quirk::Semver35) {
                return Err(Fault::Prerelease.said_by(helm));
            }
        } else if part.bytes().all(|b| b.is_ascii_digit()) {
            if part.len() > 1 && part.starts_with('0') {
                return Err(Fault::LeadingZero.said_by(helm));
            }
        } else if !part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            return Err(Fault::Prerelease.said_by(helm));
        }
    }
    Ok(())
}

fn check_metadata(metadata: &str, helm: HelmVersion) -> Result<(), VersionError> {
    for part in metadata.split('.') {
        let known = part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if !known || (part.is_empty() && helm.has(Quirk::Semver35)) {
            return Err(Fault::Metadata.said_by(helm));
        }
    }
    Ok(())
}

impl Version {
    /// Reads a version leniently: a `v` may stand in front, minor and patch may be missing, numbers may have leading
    /// zeros (`F-231`, `H-26`).
    pub fn parse(text: &str, helm: HelmVersion) -> Result<Version, VersionError> {
        if helm.has(Quirk::Semver35) && text.len() > MAX_LENGTH {
            return Err(Fault::TooLong.said_by(helm));
        }
        let parts = loose(text).ok_or_else(|| Fault::Invalid.said_by(helm))?;
        let mut numbers = [0; 3];
        for (slot, digits) in numbers.iter_mut().zip(parts.numbers) {
            if let Some(digits) = digits {
                *slot = number(digits, helm)?;
            }
        }
        if !parts.pre.is_empty() {
            check_prerelease(parts.pre, helm)?;
        }
        let [major, minor, patch] = numbers;
        Ok(Version {
            major,
            minor,
            patch,
            pre: parts.pre.into(),
            metadata: parts.metadata.into(),
            original: text.into(),
        })
    }

    /// Reads a version that obeys the specification: three numbers, no `v`, no leading zeros.
    pub fn parse_strict(text: &str, helm: HelmVersion) -> Result<Version, VersionError> {
        let fault = |fault: Fault| fault.said_by(helm);
        if text.is_empty() {
            return Err(fault(Fault::Empty));
        }
        if helm.has(Quirk::Semver35) && text.len() > MAX_LENGTH {
            return Err(fault(Fault::TooLong));
        }
        let parts: Vec<&str> = text.splitn(3, '.').collect();
        let [major, minor, rest] = parts[..] else { return Err(fault(Fault::Invalid)) };
        let (rest, metadata) = match rest.split_once('+') {
            Some((rest, metadata)) => {
                check_metadata(metadata, helm)?;
                (rest, metadata)
            }
            None => (rest, ""),
        };
        let (patch, pre) = match rest.split_once('-') {
            Some((patch, pre)) => {
                check_prerelease(pre, helm)?;
                (patch, pre)
            }
            None => (rest, ""),
        };
        let mut numbers = [0; 3];
        for part in [major, minor, patch] {
            if !part.bytes().all(|b| b.is_ascii_digit()) {
                return Err(fault(Fault::Characters));
            }
            if part.len() > 1 && part.starts_with('0') {
                return Err(fault(Fault::LeadingZero));
            }
        }
        for (slot, part) in numbers.iter_mut().zip([major, minor, patch]) {
            *slot = part.parse().map_err(|_| {
                let why = if part.is_empty() { "invalid syntax" } else { "value out of range" };
                VersionError(format!("strconv.ParseUint: parsing \"{part}\": {why}"))
            })?;
        }
        let [major, minor, patch] = numbers;
        Ok(Version { major, minor, patch, pre: pre.into(), metadata: metadata.into(), original: text.into() })
    }

    /// The text it was read from.
    pub fn original(&self) -> &str {
        &self.original
    }

    fn edited(&self, edit: impl FnOnce(&mut Version)) -> Version {
        let mut next = self.clone();
        edit(&mut next);
        let lead = if self.original.starts_with('v') { "v" } else { "" };
        next.original = format!("{lead}{next}");
        next
    }

    /// The next patch release; of a prerelease, the release itself.
    pub fn inc_patch(&self) -> Version {
        self.edited(|v| {
            if v.pre.is_empty() {
                v.patch = v.patch.wrapping_add(1);
            }
            v.pre.clear();
            v.metadata.clear();
        })
    }

    /// The next minor release.
    pub fn inc_minor(&self) -> Version {
        self.edited(|v| {
            v.minor = v.minor.wrapping_add(1);
            v.patch = 0;
            v.pre.clear();
            v.metadata.clear();
        })
    }

    /// The next major release.
    pub fn inc_major(&self) -> Version {
        self.edited(|v| {
            v.major = v.major.wrapping_add(1);
            v.minor = 0;
            v.patch = 0;
            v.pre.clear();
            v.metadata.clear();
        })
    }

    /// The same version with that prerelease ("" takes it away).
    pub fn set_prerelease(&self, pre: &str, helm: HelmVersion) -> Result<Version, VersionError> {
        if !pre.is_empty() {
            check_prerelease(pre, helm)?;
        }
        Ok(self.edited(|v| v.pre = pre.into()))
    }

    /// The same version with that build metadata ("" takes it away), as `F-220` and `F-231` change chart versions.
    pub fn set_metadata(&self, metadata: &str, helm: HelmVersion) -> Result<Version, VersionError> {
        if !metadata.is_empty() {
            check_metadata(metadata, helm)?;
        }
        Ok(self.edited(|v| v.metadata = metadata.into()))
    }

    /// Precedence; build metadata does not count.
    pub fn compare(&self, other: &Version) -> Ordering {
        (self.major, self.minor, self.patch)
            .cmp(&(other.major, other.minor, other.patch))
            .then_with(|| compare_prerelease(&self.pre, &other.pre))
    }
}

/// Precedence of prereleases; none is above any.
pub(super) fn compare_prerelease(a: &str, b: &str) -> Ordering {
    match (a.is_empty(), b.is_empty()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let mut left = a.split('.');
    let mut right = b.split('.');
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(x), Some(y)) => compare_part(x, y),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

fn compare_part(x: &str, y: &str) -> Ordering {
    if x == y {
        return Ordering::Equal;
    }
    match (x.parse::<u64>(), y.parse::<u64>()) {
        (Ok(a), Ok(b)) => a.cmp(&b),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => x.cmp(y),
    }
}

impl fmt::Display for Version {
    /// The canonical form: three numbers, no `v`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.pre.is_empty() {
            write!(f, "-{}", self.pre)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn old() -> HelmVersion {
        HelmVersion::cli(3, 17, 3)
    }
    fn new() -> HelmVersion {
        HelmVersion::cli(4, 2, 2)
    }

    #[test]
    fn versions_are_read_leniently_and_printed_in_full() {
        for (text, printed) in [
            ("1.2.3", "1.2.3"),
            ("v1.2.3-beta.1+build.5", "1.2.3-beta.1+build.5"),
            ("1", "1.0.0"),
            ("v1.2", "1.2.0"),
            ("01.2.3", "1.2.3"),
            ("1-rc.1", "1.0.0-rc.1"),
            ("1.2+5", "1.2.0+5"),
            ("1.2.3--", "1.2.3--"),
        ] {
            assert_eq!(Version::parse(text, new()).unwrap().to_string(), printed, "{text}");
        }
    }

    #[test]
    fn what_is_no_version_is_refused_in_the_words_of_its_time() {
        let long = format!("1.2.3-{}", "a".repeat(300));
        for (text, before, after) in [
            ("", "Invalid Semantic Version", "invalid semantic version"),
            (" 1.5.0 ", "Invalid Semantic Version", "invalid semantic version"),
            ("1.2.3.4", "Invalid Semantic Version", "invalid semantic version"),
            ("1.2.3-be?ta", "Invalid Semantic Version", "invalid semantic version"),
            ("1.2.3-01", "Version segment starts with 0", "version segment starts with 0"),
            (
                "99999999999999999999.0.0",
                "Error parsing version segment: strconv.ParseUint: parsing \"99999999999999999999\": value out of range",
                "error parsing version segment: strconv.ParseUint: parsing \"99999999999999999999\": value out of range",
            ),
            (&long, "", "version string is too long (max 256 bytes)"),
        ] {
            let said = |helm| Version::parse(text, helm).err().map(|e| e.0).unwrap_or_default();
            assert_eq!((said(old()).as_str(), said(new()).as_str()), (before, after), "{text}");
        }
    }

    #[test]
    fn strict_reading_wants_three_clean_numbers() {
        for (text, fault) in [
            ("", "version string empty"),
            ("1.2", "invalid semantic version"),
            ("v1.2.3", "invalid characters in version"),
            ("1.02.3", "version segment starts with 0"),
            ("1.2.3-a b", "invalid prerelease string"),
            ("1.2.3+a_b", "invalid metadata string"),
            ("1..3", "strconv.ParseUint: parsing \"\": invalid syntax"),
        ] {
            assert_eq!(Version::parse_strict(text, new()).unwrap_err().0, fault, "{text}");
        }
        assert_eq!(Version::parse_strict("1.2.3-a.1+b", new()).unwrap().to_string(), "1.2.3-a.1+b");
    }

    #[test]
    fn precedence_is_numeric_first_and_ignores_metadata() {
        let ascending = ["1.0.0-1", "1.0.0-2", "1.0.0-10", "1.0.0-a", "1.0.0-a.1", "1.0.0-b", "1.0.0", "1.0.1", "2"];
        for pair in ascending.windows(2) {
            let [a, b] = [pair[0], pair[1]].map(|t| Version::parse(t, new()).unwrap());
            assert_eq!(a.compare(&b), Ordering::Less, "{a} {b}");
        }
        let [a, b] = ["1.0.0+a", "1+b"].map(|t| Version::parse(t, new()).unwrap());
        assert_eq!(a.compare(&b), Ordering::Equal);
    }

    #[test]
    fn edits_keep_the_leading_v_of_the_source_only() {
        let v = Version::parse("v1.2.3-rc.1+x", new()).unwrap();
        assert_eq!((v.inc_patch().to_string(), v.inc_patch().original()), ("1.2.3".into(), "v1.2.3"));
        assert_eq!(v.inc_minor().original(), "v1.3.0");
        assert_eq!(v.inc_major().original(), "v2.0.0");
        assert_eq!(v.set_metadata("0123456789ab", new()).unwrap().to_string(), "1.2.3-rc.1+0123456789ab");
        assert_eq!(v.set_metadata("a b", new()).unwrap_err().0, "invalid metadata string");
    }
}
