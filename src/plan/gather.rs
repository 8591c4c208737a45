//! The releases of a snapshot: HelmReleases with their storage, and releases that no HelmRelease owns.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::Value as Json;

use super::render::Doc;
use crate::cluster::storage::StoredRelease;
use crate::report::contract::{Decision, ReleaseRef};

/// Whether Flux moves a release by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moves {
    /// It is in sync: only a force renders it.
    Only,
    /// It will be rendered at its next reconcile, and why.
    ByItself(String),
    /// It failed and is retried.
    Retries,
    /// A force would be lost, and why.
    Blocked(String),
    /// The snapshot does not tell, and what is missing.
    Unknown(Vec<String>),
}

/// One release with everything that a prediction starts from.
pub struct Subject {
    /// Namespace and name of the HelmRelease; of the Helm release where there is none.
    pub release: ReleaseRef,
    /// Namespace into which objects without one are put.
    pub namespace: String,
    /// The HelmRelease.
    pub helm_release: Option<Rc<Json>>,
    /// What Flux would do with it.
    pub decision: Decision,
    /// Whether it moves by itself.
    pub moves: Moves,
    /// Releases it depends on.
    pub depends_on: BTreeSet<ReleaseRef>,
    /// Stored revisions, newest first.
    pub stored: Vec<StoredRelease>,
    /// Objects of the newest stored manifest.
    pub stored_docs: Vec<Doc>,
    /// What would have to be collected before it can be rendered.
    pub missing: Vec<String>,
}

impl Subject {
    /// Whether everything that a render needs is there.
    pub fn can_render(&self) -> bool {
        self.missing.is_empty()
    }
}
