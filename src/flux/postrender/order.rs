//! The order of a stored manifest: by kind, then by file (`F-330`).

use serde_json::Value as Json;

use super::StoredDocument;
use crate::base::version::HelmVersion;
use crate::chart::documents::rank;

/// Sorts documents, which stand in the order of their files, by kind.
pub fn by_kind(documents: &mut [StoredDocument], helm: HelmVersion) {
    documents.sort_by_cached_key(|document| {
        rank(document.object.get("kind").and_then(Json::as_str).unwrap_or_default(), helm)
    });
}
