//! What `lint` prints.

use std::fmt::Write;

use super::contract::{Lint, LintItem};
use super::table::fact;

/// The text of `lint`.
pub fn text(lint: &Lint) -> String {
    let mut out = String::new();
    if let Some(error) = &lint.error {
        let _ = writeln!(out, "the chart does not render with these values: {error}");
    }
    for item in &lint.items {
        let _ = write!(out, "{}", item.hazard.word());
        if let Some(place) = &item.place {
            let _ = write!(out, "  {place}");
        }
        let _ = match &item.chain {
            Some(chain) if chain.condition.is_empty() => write!(out, "  {}", chain.place),
            Some(chain) => write!(out, "  {}  {}", chain.place, chain.condition),
            None => Ok(()),
        };
        out.push('\n');
        details(&mut out, item);
    }
    if lint.items.is_empty() && lint.error.is_none() {
        out.push_str("nothing in this chart depends on the cluster\n");
    }
    out
}

fn details(out: &mut String, item: &LintItem) {
    let rule = item.rule.map_or_else(String::new, |rule| format!(" ({rule})"));
    let _ = writeln!(out, "  {}{rule}", item.hazard.meaning());
    if let Some(chain) = item.chain.as_ref().filter(|chain| !chain.key.is_empty()) {
        let at = if chain.lookup.is_empty() { String::new() } else { format!(" (lookup at {})", chain.lookup) };
        let _ = writeln!(out, "  fact: {}{at}", fact(&chain.key, &chain.field));
    }
    if let Some(text) = &item.text {
        let _ = writeln!(out, "  {}", text.replace('\n', "\n  "));
    }
    for object in &item.objects {
        let _ = writeln!(out, "    {object}");
    }
}

/// The report as JSON.
pub fn json(lint: &Lint) -> String {
    serde_json::to_string_pretty(lint).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}
