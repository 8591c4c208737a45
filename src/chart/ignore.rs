//! `.helmignore`: which files of a folder do not belong to the chart.

/// Patterns in order; the last word is the first that matches.
pub struct Rules(Vec<Rule>);

struct Rule {
    pattern: String,
    negated: bool,
    folder_only: bool,
    /// The pattern has a slash in it, and so is matched against the whole path.
    anchored: bool,
}

/// What is left out of every chart.
const DEFAULT: &str = "templates/.?*";

impl Rules {
    /// Reads a `.helmignore`. Dot files in `templates` are left out in any case.
    ///
    /// # Errors
    /// Helm's text.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let text = String::from_utf8_lossy(text);
        let mut rules = Vec::new();
        for line in text.trim_start_matches('\u{feff}').lines().chain([DEFAULT]).map(str::trim) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if line.contains("**") {
                return Err("double-star (**) syntax is not supported".into());
            }
            let (negated, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
            let (folder_only, line) = line.strip_suffix('/').map_or((false, line), |rest| (true, rest));
            let anchored = line.contains('/');
            if !readable(line.as_bytes()) {
                return Err("syntax error in pattern".into());
            }
            let pattern = line.strip_prefix('/').unwrap_or(line).to_owned();
            rules.push(Rule { pattern, negated, folder_only, anchored });
        }
        Ok(Rules(rules))
    }

    /// Whether a file, or a folder above it, is left out.
    pub fn ignores(&self, path: &str) -> bool {
        let parts: Vec<&str> = path.split('/').collect();
        (1..=parts.len()).any(|n| self.leaves_out(&parts[..n].join("/"), n < parts.len()))
    }

    fn leaves_out(&self, path: &str, is_folder: bool) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        for rule in &self.0 {
            let subject = if rule.anchored { path } else { name };
            let hit = matches(rule.pattern.as_bytes(), subject.as_bytes());
            if rule.negated {
                if rule.folder_only && !is_folder {
                    return true;
                }
                if !hit {
                    return true;
                }
                continue;
            }
            if rule.folder_only && !is_folder {
                continue;
            }
            if hit {
                return true;
            }
        }
        false
    }
}

/// `[a-z]`, `[^a]`.
struct Class {
    negated: bool,
    ranges: Vec<(u8, u8)>,
}

/// The class that a pattern begins with, and what stands behind it.
fn class(pattern: &[u8]) -> Option<(Class, &[u8])> {
    let inner = pattern.get(1..)?;
    let (negated, mut inner) = inner.strip_prefix(b"^").map_or((false, inner), |rest| (true, rest));
    let mut ranges = Vec::new();
    loop {
        if let (Some(rest), false) = (inner.strip_prefix(b"]"), ranges.is_empty()) {
            return Some((Class { negated, ranges }, rest));
        }
        let low = member(&mut inner)?;
        let high = match inner.strip_prefix(b"-") {
            Some(rest) => {
                inner = rest;
                member(&mut inner)?
            }
            None => low,
        };
        ranges.push((low, high));
    }
}

/// The next byte of a class, which a backslash may quote.
fn member(inner: &mut &[u8]) -> Option<u8> {
    let (byte, rest) = match inner {
        [b'\\', byte, rest @ ..] => (byte, rest),
        [b'-' | b']' | b'\\', ..] | [] => return None,
        [byte, rest @ ..] => (byte, rest),
    };
    *inner = rest;
    (!rest.is_empty()).then_some(*byte)
}

/// Whether a pattern can be read.
fn readable(mut pattern: &[u8]) -> bool {
    while let Some(byte) = pattern.first() {
        pattern = match byte {
            b'[' => match class(pattern) {
                Some((_, rest)) => rest,
                None => return false,
            },
            b'\\' => match pattern.get(2..) {
                Some(rest) => rest,
                None => return false,
            },
            _ => &pattern[1..],
        };
    }
    true
}

/// Shell patterns: `*` and `?` stop at slashes, `[a-z]` are classes, `\` quotes.
pub fn matches(pattern: &[u8], text: &[u8]) -> bool {
    match pattern.first() {
        None => text.is_empty(),
        Some(b'*') => {
            let rest = &pattern[1..];
            (0..=text.len()).take_while(|n| *n == 0 || text[n - 1] != b'/').any(|n| matches(rest, &text[n..]))
        }
        Some(b'?') => text.first().is_some_and(|b| *b != b'/') && matches(&pattern[1..], &text[1..]),
        Some(b'[') => {
            let (Some((class, rest)), Some(&b)) = (class(pattern), text.first()) else { return false };
            let hit = class.ranges.iter().any(|(low, high)| (*low..=*high).contains(&b));
            hit != class.negated && matches(rest, &text[1..])
        }
        Some(b'\\') if pattern.len() > 1 => text.first() == pattern.get(1) && matches(&pattern[2..], &text[1..]),
        Some(b) => text.first() == Some(b) && matches(&pattern[1..], &text[1..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_leave_files_and_folders_out() {
        let rules = Rules::parse(b"# comment\n*.bak\n.git/\n/docs\na/b?\n").unwrap();
        for yes in ["x.bak", "sub/x.bak", ".git/config", "docs/x", "a/bc", "templates/.x"] {
            assert!(rules.ignores(yes), "{yes}");
        }
        for no in ["x.yaml", "sub/docs/x", "a/b", "git/x"] {
            assert!(!rules.ignores(no), "{no}");
        }
        assert!(Rules::parse(b"a/**").is_err());
    }
}
