//! Differences as a person reads them: old and new line by line, each with the facts it goes back to.

use std::fmt::Write;

use serde::Serialize;

use super::contract::{Difference, WhatIf};

/// The differences as JSON.
pub fn json(differences: &[Difference]) -> String {
    pretty(differences)
}

/// What would be otherwise, as JSON.
pub fn what_if_json(releases: &[WhatIf]) -> String {
    pretty(releases)
}

fn pretty<T: Serialize>(items: &[T]) -> String {
    serde_json::to_string_pretty(items).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}

/// The text of `diff`.
pub fn text(differences: &[Difference]) -> String {
    let mut out = String::new();
    objects(&mut out, differences);
    if differences.is_empty() {
        out.push_str("no difference\n");
    }
    out
}

/// The text of `whatif`.
pub fn what_if_text(releases: &[WhatIf]) -> String {
    let mut out = String::new();
    for release in releases {
        let causes = because(&release.error_causes);
        let _ = writeln!(out, "{}", release.release);
        let _ = match (&release.error_before, &release.error_after) {
            (None, Some(error)) => writeln!(out, "would not render any more{causes}: {error}"),
            (Some(error), None) => writeln!(out, "would render{causes}; today: {error}"),
            (Some(old), Some(new)) if old != new => writeln!(out, "would fail otherwise{causes}: {new}"),
            _ => Ok(()),
        };
        objects(&mut out, &release.objects);
        out.push('\n');
    }
    if releases.is_empty() {
        out.push_str("no release would render otherwise\n");
    }
    out
}

fn because(causes: &[String]) -> String {
    if causes.is_empty() { String::new() } else { format!(" because of {}", causes.join(" and ")) }
}

fn objects(out: &mut String, differences: &[Difference]) {
    for difference in differences {
        let classes: Vec<&str> = difference.classes.iter().map(|class| class.word()).collect();
        let classes = if classes.is_empty() { String::new() } else { format!("  {}", classes.join(", ")) };
        let causes = because(&difference.causes);
        let _ = writeln!(out, "{} {}{classes}{causes}", difference.does, difference.object);
        for field in &difference.fields {
            let from = if field.from.is_empty() { String::new() } else { format!("   ← {}", field.from.join(", ")) };
            let _ = match (&field.old, &field.new) {
                (Some(old), Some(new)) => {
                    writeln!(out, "  - {}: {old}\n  + {}: {new}{from}", field.path, field.path)
                }
                (Some(old), None) => writeln!(out, "  - {}: {old}{from}", field.path),
                (None, Some(new)) => writeln!(out, "  + {}: {new}{from}", field.path),
                (None, None) => writeln!(out, "    {}{from}", field.path),
            };
        }
    }
}
