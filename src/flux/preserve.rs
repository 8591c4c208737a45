//! `spec.upgrade.preserveValues`: an upgrade goes on from the values of the revision that it replaces (`F-29`).

use serde_json::{Map as JsonMap, Value as Json, json};

use super::model::HelmRelease;
use crate::cluster::storage::StoredRelease;

/// The revision that an upgrade replaces, and writes too: the newest deployed one, else the newest (`F-159`, `F-172`).
pub fn predecessor(stored: &[StoredRelease]) -> Option<i64> {
    stored.iter().find(|r| r.status == "deployed").or(stored.first()).map(|r| r.version)
}

/// The values that an upgrade of `current` renders and stores: the new ones, over those of `current` if they are
/// preserved.
pub fn preserved(hr: &HelmRelease, values: &Json, current: &StoredRelease) -> Json {
    if !hr.flag("/spec/upgrade/preserveValues") {
        return values.clone();
    }
    let mut merged = current.config().cloned().unwrap_or_else(|| json!({}));
    lay_over(&mut merged, values, 0);
    merged
}

/// What stands in for the values.yaml of the new chart where values are preserved: values.yaml of the chart in
/// `current`, with its values laid over.
pub fn defaults(hr: &HelmRelease, current: &StoredRelease) -> Option<JsonMap<String, Json>> {
    if !hr.flag("/spec/upgrade/preserveValues") {
        return None;
    }
    let own = current.chart().and_then(|chart| chart.get("values")).cloned().filter(Json::is_object);
    let mut values = own.unwrap_or_else(|| json!({}));
    lay_over(&mut values, current.config().unwrap_or(&json!({})), 0);
    values.as_object().cloned()
}

/// Lays maps over maps; anything else is replaced.
fn lay_over(into: &mut Json, new: &Json, depth: usize) {
    match (into, new) {
        (Json::Object(into), Json::Object(new)) if depth < crate::value::MAX_DEPTH => {
            for (key, value) in new {
                lay_over(into.entry(key.clone()).or_insert(Json::Null), value, depth + 1);
            }
        }
        (into, new) => *into = new.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::storage;
    use super::*;
    use crate::cluster::snapshot::Snapshot;

    fn stored(entries: &[(i64, &str)]) -> Vec<StoredRelease> {
        let mut cluster = Snapshot::default();
        let hr = HelmRelease::new(std::rc::Rc::new(json!({"metadata": {"name": "a", "namespace": "n"}})));
        for (version, status) in entries {
            let payload = json!({"name": "a", "namespace": "n", "version": version, "info": {"status": status}});
            storage::write(&mut cluster, &hr, &payload);
        }
        storage::revisions(&cluster, &hr)
    }

    #[test]
    fn f_159_an_upgrade_rewrites_the_revision_that_it_replaces() {
        for (entries, want) in [
            (vec![(1, "deployed")], Some(1)),
            (vec![(1, "deployed"), (2, "failed")], Some(1)),
            (vec![(1, "superseded"), (2, "failed"), (3, "failed")], Some(3)),
            (vec![], None),
        ] {
            assert_eq!(predecessor(&stored(&entries)), want, "{entries:?}");
        }
    }

    #[test]
    fn f_29_preserved_values_are_those_of_the_revision_before_below_the_new_ones() {
        let hr = |preserve: bool| {
            HelmRelease::new(std::rc::Rc::new(json!({"metadata": {"name": "a", "namespace": "n"},
                "spec": {"upgrade": {"preserveValues": preserve}}})))
        };
        let mut cluster = Snapshot::default();
        let payload = json!({"name": "a", "namespace": "n", "version": 1, "info": {"status": "deployed"},
            "config": {"a": {"b": 1, "c": 1}, "d": 1}, "chart": {"values": {"a": {"b": 0}, "d": 0, "e": 0, "f": 0}}});
        storage::write(&mut cluster, &hr(true), &payload);
        let current = &storage::revisions(&cluster, &hr(true))[0];
        let new = json!({"a": {"b": 2}, "x": 1});
        assert_eq!(preserved(&hr(false), &new, current), new);
        assert_eq!(preserved(&hr(true), &new, current), json!({"a": {"b": 2, "c": 1}, "d": 1, "x": 1}));
        assert_eq!(defaults(&hr(false), current), None);
        let kept = json!({"a": {"b": 1, "c": 1}, "d": 1, "e": 0, "f": 0});
        assert_eq!(defaults(&hr(true), current).map(Json::Object), Some(kept));
    }
}
