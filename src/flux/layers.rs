//! Which part of a HelmRelease gives which of its values: referenced objects, and what stands inline.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::model::HelmRelease;
use super::values::{Reference, parse, write};
use crate::base::version::HelmVersion;
use crate::cluster::snapshot::Facts;
use crate::codec::json::value_to_json;
use crate::value::{Map, MapType, Repr, Value};

/// What inline values are called.
pub const INLINE: &str = "HelmRelease";

/// What each part of the values gives by itself, in the order in which they are laid over each other (`F-42`). A part that
/// cannot be read gives nothing.
pub fn layers(hr: &HelmRelease, facts: &dyn Facts, helm: HelmVersion) -> Vec<(String, Json)> {
    let mut found = Vec::new();
    for reference in references(hr) {
        let Ok(source) = Reference::read(reference, hr) else { continue };
        let Ok(Some(data)) = source.data(facts) else { continue };
        let map = if source.target.is_empty() {
            parse(&data)
        } else {
            let map = Map::new(BTreeMap::new(), MapType::Any);
            write(&map, &source.target, &data, source.literal, helm).map(|()| map)
        };
        if let Ok(map) = map {
            found.push((source.label(), value_to_json(&Value::new(Repr::Map(map)))));
        }
    }
    if let Some(inline) = hr.json.pointer("/spec/values") {
        found.push((INLINE.to_owned(), inline.clone()));
    }
    found
}

/// The same HelmRelease without the reference of that label.
pub fn without(hr: &HelmRelease, label: &str) -> HelmRelease {
    let mut json = (*hr.json).clone();
    if let Some(list) = json.pointer_mut("/spec/valuesFrom").and_then(Json::as_array_mut) {
        list.retain(|reference| Reference::read(reference, hr).map_or(true, |source| source.label() != label));
    }
    HelmRelease::new(json.into())
}

fn references(hr: &HelmRelease) -> impl Iterator<Item = &Json> {
    hr.json.pointer("/spec/valuesFrom").and_then(Json::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cluster::object::Object;
    use crate::cluster::snapshot::Snapshot;

    #[test]
    fn each_part_tells_what_it_gives() {
        let mut facts = Snapshot::default();
        facts.coverage.complete = true;
        for (name, data) in [("a", "x: {y: 1}"), ("b", "deep")] {
            let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "n"}, "data": {"values.yaml": data}});
            facts.insert(Object::new(object, Default::default()).unwrap());
        }
        let from = json!([
            {"kind": "ConfigMap", "name": "a"},
            {"kind": "ConfigMap", "name": "b", "targetPath": "z.t"},
            {"kind": "ConfigMap", "name": "gone", "optional": true},
        ]);
        let hr =
            json!({"metadata": {"name": "r", "namespace": "n"}, "spec": {"values": {"i": true}, "valuesFrom": from}});
        let hr = HelmRelease::new(hr.into());
        let helm = HelmVersion::cli(4, 2, 2);
        let found = layers(&hr, &facts, helm);
        let labels: Vec<&str> = found.iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(labels, ["ConfigMap n/a", "ConfigMap n/b", INLINE]);
        assert_eq!(found[1].1, json!({"z": {"t": "deep"}}));
        assert_eq!(layers(&without(&hr, "ConfigMap n/b"), &facts, helm).len(), 2);
    }
}
