//! Differences as a person reads them: old and new line by line, each with the facts it goes back to.

use std::fmt::Write;

use super::contract::Difference;

/// The differences as JSON.
pub fn json(differences: &[Difference]) -> String {
    serde_json::to_string_pretty(differences).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}

/// The text of `diff`.
pub fn text(differences: &[Difference]) -> String {
    let mut out = String::new();
    for difference in differences {
        let classes: Vec<&str> = difference.classes.iter().map(|class| class.word()).collect();
        let _ = writeln!(out, "{} {}  {}", difference.does, difference.object, classes.join(", "));
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
    if differences.is_empty() {
        out.push_str("no difference\n");
    }
    out
}
