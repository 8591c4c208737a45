//! What `offline` prints.

use std::fmt::Write;

use super::contract::Offline;
use super::table::fact;

/// The text of `offline`.
pub fn text(releases: &[Offline]) -> String {
    let mut out = String::new();
    for release in releases {
        let _ = writeln!(out, "{}  {}", release.release, release.verdict);
        if let Some(error) = &release.error_inside {
            let _ = writeln!(out, "  on the cluster it does not render: {error}");
        }
        if !release.asked.is_empty() {
            let _ = writeln!(out, "  asks in vain: {}", release.asked.join(", "));
        }
        for finding in &release.findings {
            let object = finding.object.as_ref().map(|object| format!("  {object}")).unwrap_or_default();
            let fields =
                if finding.fields.is_empty() { String::new() } else { format!("  {}", finding.fields.join(", ")) };
            let _ = writeln!(out, "  {}{object}{fields}", finding.class.word());
            for chain in &finding.chains {
                let _ = writeln!(out, "    {}  {}", fact(&chain.key, &chain.field), chain.place);
            }
            if let Some(error) = &finding.error {
                let _ = writeln!(out, "    {}", error.replace('\n', "\n    "));
            }
        }
    }
    if releases.is_empty() {
        out.push_str("no release to render\n");
    }
    out
}

/// The report as JSON.
pub fn json(releases: &[Offline]) -> String {
    serde_json::to_string_pretty(releases).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}
