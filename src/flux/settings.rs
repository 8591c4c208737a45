//! Which controller decides: version and flags.

use std::fmt;
use std::str::FromStr;

use serde_json::Value as Json;

use super::digest::Algorithm;
use super::postrender::Strategy;
use crate::base::version::HelmVersion;
use crate::cluster::snapshot::Facts;

/// A version of helm-controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ControllerVersion(pub u16, pub u16, pub u16);

/// Version of helm-controller from which on a row holds: the Helm inside it, and the Go it is built with.
const HELMS: &[(ControllerVersion, (u16, u16, u16), u16)] = &[
    (ControllerVersion(1, 2, 0), (3, 17, 1), 26),
    (ControllerVersion(1, 3, 0), (3, 17, 3), 24),
    (ControllerVersion(1, 4, 0), (3, 19, 0), 25),
    (ControllerVersion(1, 4, 4), (3, 19, 2), 25),
    (ControllerVersion(1, 5, 0), (4, 1, 1), 26),
    (ControllerVersion(1, 5, 2), (4, 1, 3), 26),
    (ControllerVersion(1, 5, 3), (4, 1, 4), 26),
    (ControllerVersion(1, 5, 5), (4, 2, 0), 26),
    (ControllerVersion(1, 6, 0), (4, 2, 1), 26),
    (ControllerVersion(1, 6, 1), (4, 2, 2), 26),
    (ControllerVersion(1, 6, 3), (4, 2, 4), 26),
];

impl ControllerVersion {
    /// The Helm library inside it.
    pub fn helm(self) -> HelmVersion {
        let row = HELMS.iter().rev().find(|(from, _, _)| *from <= self).or(HELMS.first());
        let ((major, minor, patch), go) = row.map_or(((4, 2, 4), 26), |(_, helm, go)| (*helm, *go));
        HelmVersion::library(major, minor, patch, go)
    }
}

impl fmt::Display for ControllerVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// The text is no version of helm-controller that this program knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown version of helm-controller: {0:?}")]
pub struct UnknownController(String);

impl FromStr for ControllerVersion {
    type Err = UnknownController;

    fn from_str(text: &str) -> Result<Self, UnknownController> {
        let numbers: Option<Vec<u16>> = text.trim_start_matches('v').split('.').map(|n| n.parse().ok()).collect();
        match numbers.as_deref() {
            Some([1, minor @ 2..=6, patch]) => Ok(ControllerVersion(1, *minor, *patch)),
            Some([1, minor @ 2..=6]) => {
                let newest = HELMS.iter().rev().find(|(v, _, _)| v.1 == *minor).map(|(v, _, _)| *v);
                Ok(newest.unwrap_or(ControllerVersion(1, *minor, 0)))
            }
            _ => Err(UnknownController(text.to_owned())),
        }
    }
}

/// What the decision depends on besides the cluster (`F-8`, `F-9`).
#[derive(Debug, Clone)]
pub struct Settings {
    /// Version of helm-controller.
    pub controller: ControllerVersion,
    /// Gate `DefaultToRetryOnFailure`.
    pub default_to_retry: bool,
    /// Gate `UseHelm3Defaults`.
    pub helm3_defaults: bool,
    /// Gate `DisableConfigWatchers`.
    pub no_config_watch: bool,
    /// Gate `DisableChartDigestTracking`.
    pub no_digest_tracking: bool,
    /// Gate `AdditiveCELDependencyCheck`.
    pub additive_ready_expr: bool,
    /// Algorithm of new digests.
    pub digest: Algorithm,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            controller: ControllerVersion(1, 6, 2),
            default_to_retry: false,
            helm3_defaults: false,
            no_config_watch: false,
            no_digest_tracking: false,
            additive_ready_expr: false,
            digest: Algorithm::Sha256,
        }
    }
}

impl Settings {
    /// Reads version and gates off helm-controller's Deployment, if the snapshot holds it.
    pub fn detect(facts: &dyn Facts) -> Option<Settings> {
        let all = facts.list("apps", "Deployment", None).present()?;
        for object in all.iter().filter(|o| o.key.name == "helm-controller") {
            let containers = object.json.pointer("/spec/template/spec/containers").and_then(Json::as_array);
            for container in containers.into_iter().flatten() {
                let image = container.get("image").and_then(Json::as_str).unwrap_or_default();
                if !image.contains("helm-controller") {
                    continue;
                }
                let tag = image.split('@').next().unwrap_or_default().rsplit(':').next().unwrap_or_default();
                let Ok(controller) = tag.parse() else { continue };
                let args = container.get("args").and_then(Json::as_array);
                let args: Vec<&str> = args.into_iter().flatten().filter_map(Json::as_str).collect();
                return Some(Settings::with_args(controller, &args));
            }
        }
        None
    }

    /// Of a controller that was started with these arguments (`F-8`).
    pub fn with_args(controller: ControllerVersion, args: &[&str]) -> Settings {
        let gates = args.iter().filter_map(|a| a.strip_prefix("--feature-gates"));
        let gates: Vec<&str> = gates.flat_map(|list| list.trim_start_matches('=').split(',')).collect();
        let on = |gate: &str| gates.iter().any(|g| g.trim() == format!("{gate}=true"));
        Settings {
            controller,
            default_to_retry: on("DefaultToRetryOnFailure"),
            helm3_defaults: on("UseHelm3Defaults"),
            no_config_watch: on("DisableConfigWatchers"),
            no_digest_tracking: on("DisableChartDigestTracking"),
            additive_ready_expr: on("AdditiveCELDependencyCheck"),
            digest: args
                .iter()
                .filter_map(|a| a.strip_prefix("--snapshot-digest-algo="))
                .filter_map(Algorithm::named)
                .next_back()
                .unwrap_or_default(),
        }
    }

    /// Whether changes of labelled values objects wake their releases (`F-61`, `F-296`, `F-377`).
    pub fn watches_values(&self) -> bool {
        self.controller >= ControllerVersion(1, 4, 0) && !self.no_config_watch
    }

    /// What takes part in post-rendering, by version and by `spec.postRenderStrategy` (`F-305`, `F-346`).
    pub fn strategy(&self, hr: &Json) -> Strategy {
        let c = self.controller;
        if c < ControllerVersion(1, 5, 0) || (c >= ControllerVersion(1, 5, 4) && c < ControllerVersion(1, 6, 0)) {
            return Strategy::NoHooks;
        }
        if c < ControllerVersion(1, 6, 0) {
            return Strategy::Combined;
        }
        match hr.pointer("/spec/postRenderStrategy").and_then(Json::as_str) {
            Some("nohooks") => Strategy::NoHooks,
            Some("separate") => Strategy::Separate,
            Some("combined") => Strategy::Combined,
            _ if self.helm3_defaults => Strategy::NoHooks,
            _ => Strategy::Combined,
        }
    }
}
