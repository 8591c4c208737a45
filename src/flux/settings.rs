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
    /// Gate `ExternalArtifact` (`F-75`).
    pub external_artifact: bool,
    /// Flag `--no-cross-namespace-refs` (`F-9`).
    pub no_cross_namespace: bool,
    /// Flag `--default-service-account`: as whom releases act that name nobody (`F-24`); "" for the controller itself.
    pub default_account: String,
    /// Flag `--watch-label-selector`: HelmReleases that do not match are never reconciled (`F-9`).
    pub watch_selector: String,
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
            external_artifact: false,
            no_cross_namespace: false,
            default_account: String::new(),
            watch_selector: String::new(),
            digest: Algorithm::Sha256,
        }
    }
}

impl Settings {
    /// Reads version, flags and gates off the Deployment that runs helm-controller, if the snapshot holds it. A version
    /// that this program does not know is an error.
    pub fn detect(facts: &dyn Facts) -> Option<Result<Settings, UnknownController>> {
        let all = facts.list("apps", "Deployment", None).present()?;
        let mut found: Vec<(bool, Result<Settings, UnknownController>)> = Vec::new();
        for object in &all {
            let containers = object.json.pointer("/spec/template/spec/containers").and_then(Json::as_array);
            for container in containers.into_iter().flatten() {
                let image = container.get("image").and_then(Json::as_str).unwrap_or_default();
                let image = image.split('@').next().unwrap_or_default();
                let Some((_, tag)) = image.rsplit('/').next().and_then(|name| name.split_once(':')) else { continue };
                if !image.contains("helm-controller") {
                    continue;
                }
                let words = |field: &str| {
                    let list = container.get(field).and_then(Json::as_array).into_iter().flatten();
                    list.filter_map(Json::as_str).map(str::to_owned).collect::<Vec<_>>()
                };
                let args = [words("command"), words("args")].concat();
                let settings = tag.parse().map(|controller| Settings::with_args(controller, &args));
                found.push((object.key.name == "helm-controller", settings));
            }
        }
        let own = found.iter().position(|(own, _)| *own).unwrap_or(0);
        (own < found.len()).then(|| found.swap_remove(own).1)
    }

    /// Of a controller that was started with these arguments (`F-8`, `F-9`); later ones win.
    pub fn with_args<A: AsRef<str>>(controller: ControllerVersion, args: &[A]) -> Settings {
        let args: Vec<&str> = args.iter().map(AsRef::as_ref).collect();
        let values = |flag: &str| values(&args, flag);
        let last = |flag: &str| values(flag).pop();
        let gates: Vec<&str> = values("feature-gates").into_iter().flat_map(|list| list.split(',')).collect();
        let on = |gate: &str| {
            let set = gates.iter().rev().find_map(|g| g.split_once('=').filter(|(name, _)| name.trim() == gate));
            set.is_some_and(|(_, value)| matches!(value.trim(), "true" | "True" | "TRUE" | "t" | "T" | "1"))
        };
        Settings {
            controller,
            default_to_retry: on("DefaultToRetryOnFailure"),
            helm3_defaults: on("UseHelm3Defaults"),
            no_config_watch: on("DisableConfigWatchers"),
            no_digest_tracking: on("DisableChartDigestTracking"),
            additive_ready_expr: on("AdditiveCELDependencyCheck"),
            external_artifact: on("ExternalArtifact"),
            no_cross_namespace: last("no-cross-namespace-refs").is_some_and(|value| value != "false"),
            default_account: last("default-service-account").unwrap_or_default().to_owned(),
            watch_selector: last("watch-label-selector").unwrap_or_default().to_owned(),
            digest: last("snapshot-digest-algo").and_then(Algorithm::named).unwrap_or_default(),
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

/// Values of a flag, in order. Without `=` it takes the next word, unless that is a flag: then it is a switch.
fn values<'a>(args: &[&'a str], flag: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    for (at, arg) in args.iter().enumerate() {
        let (name, value) = arg.split_once('=').map_or((*arg, None), |(name, value)| (name, Some(value)));
        if name.starts_with('-') && name.trim_start_matches('-') == flag {
            let next = args.get(at + 1).copied().filter(|next| !next.starts_with('-'));
            found.push(value.or(next).unwrap_or("true"));
        }
    }
    found
}
