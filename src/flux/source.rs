//! Which chart a source makes the controller load (`F-3`, `F-230` to `F-233`).

use serde_json::Value as Json;

use super::model::HelmRelease;
use super::settings::Settings;
use crate::base::Known;
use crate::cluster::object::ObjectKey;
use crate::cluster::snapshot::{ArtifactChart, Facts};
use crate::funcs::semver::Version;

/// Name and version of the chart that the controller would load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChartIdentity {
    /// Name.
    pub name: String,
    /// Version, with what the controller appends to it (`F-231`).
    pub version: String,
    /// Digest of the artifact as the history records it; "" for a HelmChart (`F-230`, `F-231`).
    pub oci_digest: String,
}

/// What the controller loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loads {
    /// This chart.
    Chart(ChartIdentity),
    /// None: the revision does not fit (`F-80`).
    Refused(String),
    /// Neither the source nor the history tells.
    Unknown,
}

impl Loads {
    /// The chart, if it is known.
    pub fn chart(self) -> Option<ChartIdentity> {
        match self {
            Loads::Chart(chart) => Some(chart),
            Loads::Refused(_) | Loads::Unknown => None,
        }
    }
}

/// The chart that the controller would load. Where the source was not collected, the chart of the history is assumed.
pub fn chart_identity(hr: &HelmRelease, facts: &dyn Facts, settings: &Settings) -> Loads {
    let (kind, namespace, name) = hr.source();
    let key = ObjectKey { group: "source.toolkit.fluxcd.io".into(), kind: kind.clone(), namespace, name };
    let last = hr.history().into_iter().next();
    let Known::Present(source) = facts.get(&key) else {
        return last.map_or(Loads::Unknown, |last| {
            Loads::Chart(ChartIdentity {
                name: last.text("chartName").to_owned(),
                version: last.text("chartVersion").to_owned(),
                oci_digest: last.text("ociDigest").to_owned(),
            })
        });
    };
    let revision = source.text("/status/artifact/revision");
    // F-3: the artifact itself tells best.
    let artifact = facts.artifact(source.text("/status/artifact/digest"));
    let known_name = || last.as_ref().map(|l| l.text("chartName").to_owned());
    if kind == "HelmChart" {
        if revision.is_empty() {
            return Loads::Unknown;
        }
        if let Some(ArtifactChart { name, version }) = artifact.cloned() {
            return Loads::Chart(ChartIdentity { name, version, oci_digest: String::new() });
        }
        let name = match source.text("/status/observedChartName") {
            "" => known_name().unwrap_or_else(|| source.text("/spec/chart").to_owned()),
            name => name.to_owned(),
        };
        return Loads::Chart(ChartIdentity { name, version: revision.to_owned(), oci_digest: String::new() });
    }
    let metadata = source.json.pointer("/status/artifact/metadata");
    let title = metadata.and_then(|m| m.get("org.opencontainers.image.title")).and_then(Json::as_str);
    let name = artifact.map(|a| a.name.clone()).or_else(|| title.map(str::to_owned)).or_else(known_name);
    let Some(name) = name else { return Loads::Unknown };
    // Without the artifact, the version of Chart.yaml is that of the history without metadata, or what the tag demands.
    let tag = revision.split('@').next().unwrap_or_default().replace('_', "+");
    let own = if let Some(artifact) = artifact {
        artifact.version.clone()
    } else if lenient(&tag).is_some() {
        tag
    } else {
        let known = last.as_ref().map(|l| l.text("chartVersion").split('+').next().unwrap_or_default().to_owned());
        match known {
            Some(version) if !version.is_empty() => version,
            _ => return Loads::Unknown,
        }
    };
    if kind == "ExternalArtifact" && !revision.contains(':') {
        return Loads::Chart(ChartIdentity { name, version: own, oci_digest: String::new() });
    }
    match with_digest(&own, revision) {
        Ok((mutated, digest)) => {
            let version = if settings.no_digest_tracking { own } else { mutated };
            Loads::Chart(ChartIdentity { name, version, oci_digest: digest })
        }
        Err(error) => Loads::Refused(error),
    }
}

/// A version as Helm's library reads it leniently.
fn lenient(text: &str) -> Option<Version> {
    Version::parse(text, crate::base::version::HelmVersion::cli(3, 17, 3)).ok()
}

/// Chart version with the digest of an artifact's revision as its metadata, and that digest (`F-231`).
///
/// # Errors
/// The revision is no digest, or names another version.
pub fn with_digest(chart_version: &str, revision: &str) -> Result<(String, String), String> {
    let (tag, rest) = revision.split_once('@').unwrap_or((revision, ""));
    let plain = |text: &str| text.trim_start_matches('v').split('+').next().unwrap_or_default().to_owned();
    let chart = lenient(chart_version).ok_or_else(|| format!("chart version {chart_version:?} is no version"))?;
    let digest = match lenient(&tag.replace('_', "+")) {
        Some(tagged) if plain(&tagged.to_string()) != plain(&chart.to_string()) => {
            return Err(format!("artifact revision {tag} does not match chart version {chart_version}"));
        }
        Some(_) => rest,
        None => revision,
    };
    let parts: Vec<&str> = digest.split(':').collect();
    let hex = match parts[..] {
        [_, hex] if hex.len() >= 12 && hex.is_char_boundary(12) => &hex[..12],
        _ => return Err(format!("invalid artifact revision {revision}")),
    };
    Ok((format!("{}+{hex}", plain(&chart.to_string())), digest.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f_232_the_digest_becomes_the_metadata_of_the_version() {
        let digest = "sha256:9933f58f8bf459eb199d59ebc8a05683f3944e1242d9f5467d99aa2cf08a5370";
        for (chart, revision, version, kept) in [
            ("1.2.3", format!("1.2.3@{digest}"), "1.2.3+9933f58f8bf4", digest.to_owned()),
            ("1.2.3", digest.to_owned(), "1.2.3+9933f58f8bf4", digest.to_owned()),
            ("0.1.0", format!("0.1.0_20241101123015@{digest}"), "0.1.0+9933f58f8bf4", digest.to_owned()),
            ("0.1.0", format!("v0.1.0@{digest}"), "0.1.0+9933f58f8bf4", digest.to_owned()),
            ("v0.1.0", format!("0.1.0@{digest}"), "0.1.0+9933f58f8bf4", digest.to_owned()),
            ("1.2.3", format!("latest@{digest}"), "1.2.3+9933f58f8bf4", format!("latest@{digest}")),
        ] {
            assert_eq!(with_digest(chart, &revision), Ok((version.to_owned(), kept)), "{chart} {revision}");
        }
        for (chart, revision) in [("1.2.3", format!("1.2.4@{digest}")), ("1.2.3", "sha:123456".to_owned())] {
            assert!(with_digest(chart, &revision).is_err(), "{chart} {revision}");
        }
    }
}
