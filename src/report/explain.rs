//! One release in words: each finding with its chain, from the object back to the fact and to who makes it.

use std::fmt::Write;

use super::contract::{Finding, Producer, Release, Report};
use super::silent::Silent;
use super::table::fact;

/// Explains a release, or one object of it (`Kind/name` or a name); `None` if there is no such release.
pub fn explain(report: &Report, namespace: &str, name: &str, object: Option<&str>) -> Option<String> {
    let release = report.releases.iter().find(|r| r.release.namespace == namespace && r.release.name == name)?;
    let mut out = String::new();
    let _ = writeln!(out, "{}  {}", release.release, release.verdict);
    let _ = writeln!(
        out,
        "Flux: {} ({}), next action: {}",
        release.decision.state, release.decision.reason, release.decision.action
    );
    for check in &release.decision.trace {
        let _ = writeln!(out, "  {}  {}", check.rule, check.text);
    }
    for line in release.silent.iter().flat_map(Silent::lines) {
        let _ = writeln!(out, "{line}");
    }
    for note in &release.notes {
        let _ = writeln!(out, "note: {note}");
    }
    let wanted = |finding: &&Finding| {
        object.is_none_or(|want| {
            finding.object.as_ref().is_some_and(|o| {
                o.name == want
                    || format!("{}/{}", o.kind, o.name) == want
                    || format!("{}/{}/{}", o.kind, o.namespace, o.name) == want
            })
        })
    };
    let mut any = false;
    for finding in release.findings.iter().filter(wanted) {
        any = true;
        finding_text(&mut out, release, finding);
    }
    for latent in release.latent.iter().filter(|_| object.is_none()) {
        let _ = writeln!(out, "\nWOULD FAIL if {} were {}", latent.key, latent.supposed);
        let _ = writeln!(out, "  {}", latent.error.replace('\n', "\n  "));
    }
    if !any {
        let _ = writeln!(out, "no finding{}", object.map(|o| format!(" for {o}")).unwrap_or_default());
    }
    Some(out)
}

fn finding_text(out: &mut String, release: &Release, finding: &Finding) {
    let _ = write!(out, "\n{}", finding.class.word());
    if let Some(object) = &finding.object {
        let _ = write!(out, " {object}");
    }
    let _ = writeln!(out);
    for field in &finding.fields {
        let _ = writeln!(out, "  field {field}");
    }
    if let Some(error) = &finding.error {
        let _ = writeln!(out, "  {}", error.replace('\n', "\n  "));
    }
    for chain in &finding.chains {
        let _ = writeln!(out, "  {}  {}", chain.place, chain.condition);
        for helper in &chain.helpers {
            let _ = writeln!(out, "    → {helper}");
        }
        let _ = match chain.lookup.as_str() {
            "" => writeln!(out, "    → {}", fact(&chain.key, &chain.field)),
            place => writeln!(out, "    → {place}  lookup {}", fact(&chain.key, &chain.field)),
        };
        if let Some(key) = release.keys.iter().find(|k| k.key == chain.key) {
            let _ = writeln!(out, "    → {}; {}", key.exists, producer(&key.producer));
        }
    }
}

/// `made by release a/b (2 objects deep in its own closure), the field by controller x: evidence`
pub(super) fn producer(producer: &Producer) -> String {
    let mut text = match (&producer.release, producer.kind) {
        (Some(release), "release") => format!("made by release {release}"),
        (Some(release), kind) => format!("made by a {kind} that acts for release {release}"),
        (None, "unknown") => "nobody in this snapshot makes it".to_owned(),
        (None, kind) => format!("made by a {kind}"),
    };
    if let Some(depth) = producer.self_produced {
        let _ = write!(text, ", self-produced({depth})");
    }
    if let Some(writer) = &producer.field_writer {
        let _ = write!(text, ", the field is written by {writer}");
    }
    if !producer.evidence.is_empty() {
        let _ = write!(text, " [{}]", producer.evidence.join("; "));
    }
    text
}
