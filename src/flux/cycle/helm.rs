//! The side of Helm, as the controller sees it: what it asks for and what it is told.

use serde_json::Value as Json;

use super::super::decide::{Action, Unloadable};
use super::super::drift::Drift;
use super::super::model::HelmRelease;
use crate::cluster::snapshot::Snapshot;
use crate::cluster::storage::StoredRelease;

/// An install or upgrade to be rendered and applied.
pub struct Request<'a> {
    /// The HelmRelease.
    pub hr: &'a HelmRelease,
    /// Install or upgrade.
    pub action: &'a Action,
    /// Number of the new revision.
    pub version: i64,
    /// Composed values.
    pub values: &'a Json,
}

/// What Helm made of an install or upgrade.
pub enum Applied {
    /// It stored a revision: `chart`, `manifest`, `hooks` of its payload; with a text, the revision is failed.
    Stored {
        /// Parts of the payload; `config` too, if it is not the composed values.
        payload: Json,
        /// Why it failed after all.
        failed: Option<String>,
    },
    /// It failed before anything was stored.
    Refused(String),
}

/// The side of Helm: renders, applies and tests.
pub trait Helm {
    /// Renders and applies. The objects are written to the cluster by this call, the revision is not.
    fn release(&mut self, cluster: &mut Snapshot, request: &Request<'_>) -> Applied;
    /// Runs the tests of the newest revision: why each hook failed, if it did, by name.
    fn test(
        &mut self,
        cluster: &mut Snapshot,
        hr: &HelmRelease,
        revision: &StoredRelease,
    ) -> Vec<(String, Option<String>)> {
        let _ = cluster;
        test_hooks(hr, revision).into_iter().map(|name| (name, None)).collect()
    }
    /// Applies the objects of a stored revision again.
    fn restore(&mut self, cluster: &mut Snapshot, hr: &HelmRelease, revision: &StoredRelease) -> Result<(), String> {
        let _ = (cluster, hr, revision);
        Ok(())
    }
    /// Why a deletion hook or the API server refuses the uninstall of a deleted HelmRelease, if it does.
    fn refuses_removal(&mut self, hr: &HelmRelease, revision: &StoredRelease) -> Option<String> {
        let _ = (hr, revision);
        None
    }
    /// What drift detection finds, where that is given (`F-105`); `None` to compare with the cluster.
    fn drift(&mut self, hr: &HelmRelease) -> Option<Drift> {
        let _ = hr;
        None
    }
    /// Why the archive of the chart cannot be loaded, where that is given (`F-79`).
    fn unloadable(&mut self, hr: &HelmRelease) -> Option<Unloadable> {
        let _ = hr;
        None
    }
    /// The controller has written the status of a HelmRelease: at the end of a run, or while it goes on.
    fn wrote(&mut self, hr: &HelmRelease) {
        let _ = hr;
    }
    /// Deletes the objects of a stored revision.
    fn remove(&mut self, cluster: &mut Snapshot, hr: &HelmRelease, revision: &StoredRelease) {
        let _ = (cluster, hr, revision);
    }
}

/// Names of the test hooks of a stored revision that the filters let run (`F-39`).
pub fn test_hooks(hr: &HelmRelease, revision: &StoredRelease) -> Vec<String> {
    let filters = hr.json.pointer("/spec/test/filters").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    let excludes = |filter: &&Json| filter.get("exclude").and_then(Json::as_bool).unwrap_or(false);
    let (out, only): (Vec<&Json>, Vec<&Json>) = filters.iter().partition(excludes);
    let names = |list: &[&Json], name: &str| list.iter().any(|f| f.get("name").and_then(Json::as_str) == Some(name));
    let hooks = revision.json.get("hooks").and_then(Json::as_array);
    let is_test = |hook: &&Json| {
        let events = hook.get("events").and_then(Json::as_array);
        events.into_iter().flatten().any(|e| e.as_str() == Some("test"))
    };
    let name = |hook: &Json| hook.get("name").and_then(Json::as_str).map(str::to_owned);
    let all = hooks.into_iter().flatten().filter(is_test).filter_map(name);
    all.filter(|name| (only.is_empty() || names(&only, name)) && !names(&out, name)).collect()
}
