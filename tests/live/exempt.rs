//! Differences that are right, or that nobody can foretell: `exempt.txt` beside the shipped episodes, one to a line.
//!
//! `EPISODE step N: PART: REASON`. In the name of the episode `*` stands for anything. PART is a part of the message of
//! the difference that is left out.

/// One line of the list.
pub struct Exemption {
    episode: String,
    step: u64,
    part: String,
    reason: String,
}

/// Reads the list.
pub fn read(text: &str) -> Vec<Exemption> {
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let entry = |line: &str| {
        let (place, rest) = line.split_once(": ")?;
        let (episode, step) = place.split_once(" step ")?;
        let (part, reason) = rest.split_once(": ")?;
        let text = str::to_owned;
        Some(Exemption { episode: text(episode), step: step.parse().ok()?, part: text(part), reason: text(reason) })
    };
    lines.map(|line| entry(line).unwrap_or_else(|| panic!("exempt.txt: {line}"))).collect()
}

/// The reason why a difference counts for nothing.
pub fn reason<'a>(list: &'a [Exemption], episode: &str, step: u64, difference: &str) -> Option<&'a str> {
    let mine = |e: &&Exemption| e.step == step && matches(&e.episode, episode) && difference.contains(&e.part);
    list.iter().find(mine).map(|e| e.reason.as_str())
}

/// Whether a name fits a pattern with stars.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let mut rest = rest;
    let mut open = false;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        open = part.is_empty();
    }
    rest.is_empty() || open
}
