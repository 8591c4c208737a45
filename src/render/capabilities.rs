//! What templates are told of the cluster: asked from a server, or Helm's defaults and flags (`H-19` to `H-24`).

use std::rc::Rc;

use super::scope::{Capabilities, KubeVersion};
use crate::base::version::{HelmVersion, Quirk};
use crate::cluster::discovery::Discovery;
use crate::funcs::semver::Version;

/// Minor version of the Kubernetes client a Helm is built with (`H-22`).
fn client_minor(helm: HelmVersion) -> u16 {
    let (major, minor, _) = helm.number;
    if major >= 4 { 34 + minor } else { 15 + minor }
}

/// `v1.36`: the Kubernetes client a Helm is built with.
pub fn client_version(helm: HelmVersion) -> String {
    format!("v1.{}", client_minor(helm))
}

/// As a server tells it.
pub fn from_server(discovery: &Discovery) -> Capabilities {
    let version = &discovery.version;
    Capabilities {
        kube: KubeVersion {
            version: version.git.clone(),
            normalized: String::new(),
            major: version.major.clone(),
            minor: version.minor.clone(),
        },
        api_versions: Rc::new(discovery.api_versions()),
        api_order: Rc::default(),
    }
}

/// Without a server: Helm's defaults, `--kube-version` and `--api-versions`.
///
/// # Errors
/// Helm's text about a version that it cannot read.
pub fn from_flags(
    kube_version: Option<&str>,
    api_versions: &[String],
    helm: HelmVersion,
) -> Result<Capabilities, String> {
    let default = format!("v1.{}.0", client_minor(helm));
    let kube = flag(kube_version.unwrap_or(&default), helm)
        .map_err(|e| format!("invalid kube version '{}': {e}", kube_version.unwrap_or(&default)))?;
    let mut all = super::apis::compiled_in(helm);
    all.extend(api_versions.iter().cloned());
    Ok(Capabilities { kube, api_versions: Rc::new(all.iter().cloned().collect()), api_order: Rc::new(all) })
}

fn flag(text: &str, helm: HelmVersion) -> Result<KubeVersion, String> {
    if !helm.has(Quirk::ShortKubeVersion) {
        let parsed = Version::parse(text, helm).map_err(|e| e.to_string())?;
        let (major, minor) = (parsed.major.to_string(), parsed.minor.to_string());
        return Ok(KubeVersion { version: format!("v{parsed}"), normalized: String::new(), major, minor });
    }
    let plain = text.trim_start().strip_prefix('v').unwrap_or(text.trim_start());
    let end = plain.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(plain.len());
    let numbers = plain[..end].trim_end_matches('.');
    let mut parts = numbers.split('.');
    let (Some(major), minor) = (parts.next().filter(|m| !m.is_empty()), parts.next()) else {
        return Err(format!("could not parse {text:?} as version"));
    };
    let Some(minor) = minor else { return Err(format!("illegal version string {text:?}")) };
    let short = format!("v{numbers}");
    let (version, normalized) = if helm.has(Quirk::KubeVersionNormalized) {
        (format!("v{}", text.trim_start_matches('v')), short)
    } else {
        (short, String::new())
    };
    Ok(KubeVersion { version, normalized, major: major.to_owned(), minor: minor.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h_19_to_h_21_the_version_flag() {
        for (helm, text, version, compared) in [
            ("3.17", "v1.29", "v1.29.0", "v1.29.0"),
            ("3.22", "v1.29", "v1.29", "v1.29"),
            ("3.17", "1.29.4-gke.1", "v1.29.4-gke.1", "v1.29.4-gke.1"),
            ("3.22", "1.29.4-gke.1", "v1.29.4", "v1.29.4"),
            ("4.2", "1.29.4-gke.1", "v1.29.4-gke.1", "v1.29.4"),
        ] {
            let kube = from_flags(Some(text), &[], helm.parse().unwrap()).unwrap().kube;
            assert_eq!((kube.version.as_str(), kube.compared()), (version, compared), "{helm} {text}");
        }
        for (helm, reason) in [("3.17", "Invalid Semantic Version"), ("4.2", "could not parse \"nonsense\" as version")]
        {
            let error = from_flags(Some("nonsense"), &[], helm.parse().unwrap()).unwrap_err();
            assert_eq!(error, format!("invalid kube version 'nonsense': {reason}"));
        }
    }

    #[test]
    fn h_22_defaults_follow_the_kubernetes_client() {
        for (helm, version, has) in [("3.17", "v1.32.0", true), ("4.1", "v1.35.0", true), ("4.2", "v1.36.0", false)] {
            let all = from_flags(None, &[], helm.parse().unwrap()).unwrap();
            assert_eq!((all.kube.version.as_str(), all.api_versions.contains("autoscaling/v2beta2")), (version, has));
        }
    }
}
