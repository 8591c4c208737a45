//! The HelmChart that the controller writes for a HelmRelease with a chart template (`F-11` to `F-13`).

use std::collections::BTreeMap;

use serde_json::{Map as JsonMap, Value as Json, json};

use super::model::{HelmRelease, origin_labels};
use crate::base::Known;
use crate::cluster::object::{Object, ObjectKey};
use crate::cluster::snapshot::Facts;
use crate::funcs::durations;

/// Identity of the generated HelmChart; `None` if the HelmRelease refers to a source itself.
pub fn generated(hr: &HelmRelease) -> Option<ObjectKey> {
    hr.json.pointer("/spec/chart/spec")?;
    if hr.json.pointer("/spec/chartRef").is_some_and(|r| !r.is_null()) {
        return None;
    }
    let (kind, namespace, name) = hr.source();
    Some(ObjectKey { group: "source.toolkit.fluxcd.io".into(), kind, namespace, name })
}

/// Fields of the spec that the template sets, with their defaults.
fn wanted(hr: &HelmRelease) -> JsonMap<String, Json> {
    let mut spec = JsonMap::new();
    let empty = json!({});
    let template = hr.json.pointer("/spec/chart/spec").unwrap_or(&empty);
    let text = |field: &str| template.get(field).and_then(Json::as_str).unwrap_or_default();
    let or = |text: &str, default: &str| if text.is_empty() { default.to_owned() } else { text.to_owned() };
    spec.insert("chart".into(), text("chart").into());
    spec.insert("version".into(), or(text("version"), "*").into());
    spec.insert("interval".into(), or(text("interval"), hr.text("/spec/interval")).into());
    spec.insert("reconcileStrategy".into(), or(text("reconcileStrategy"), "ChartVersion").into());
    let reference = |field: &str| template.get("sourceRef").and_then(|r| r.get(field)).cloned().unwrap_or(Json::Null);
    spec.insert("sourceRef".into(), json!({"kind": reference("kind"), "name": reference("name")}));
    for field in ["valuesFiles", "ignoreMissingValuesFiles", "verify"] {
        if let Some(value) = template.get(field).filter(|v| !v.is_null()) {
            spec.insert(field.into(), value.clone());
        }
    }
    spec
}

/// Why a HelmChart can never be written.
pub(super) const UNNAMEABLE: &str = "the name of the HelmRelease is longer than 63 bytes, which no label may be";

/// The HR's name is a label of the HelmChart; longer ones are refused by the API server (`F-73`).
pub fn nameable(hr: &HelmRelease) -> bool {
    hr.name.len() <= 63
}

/// Why the API server refuses the HelmChart: its namespace does not exist. That is told only by a snapshot that holds the
/// HelmRelease's own namespace, and no HelmChart in the other.
pub fn no_namespace(hr: &HelmRelease, chart: &ObjectKey, facts: &dyn Facts) -> Option<String> {
    let namespace = |name: &str| {
        let (group, kind, name) = (String::new(), "Namespace".to_owned(), name.to_owned());
        facts.get(&ObjectKey { group, kind, namespace: String::new(), name })
    };
    let told = matches!(namespace(&hr.namespace), Known::Present(_)) && !matches!(facts.get(chart), Known::Present(_));
    let absent = told && matches!(namespace(&chart.namespace), Known::Absent);
    absent.then(|| format!("HelmChart/{}/{} not found: namespaces {0:?} not found", chart.namespace, chart.name))
}

/// Whether the template differs from the HelmChart: it is written, and gets a new generation, before it is read.
pub fn outdated(hr: &HelmRelease, chart: &Object) -> bool {
    let wanted = wanted(hr);
    let fields = [
        "chart",
        "version",
        "interval",
        "reconcileStrategy",
        "sourceRef",
        "valuesFiles",
        "ignoreMissingValuesFiles",
        "verify",
    ];
    fields.iter().any(|field| {
        let live = chart.json.get("spec").and_then(|s| s.get(*field));
        let default = match *field {
            "version" => Some(json!("*")),
            "reconcileStrategy" => Some(json!("ChartVersion")),
            _ => None,
        };
        match (wanted.get(*field), live.or(default.as_ref())) {
            // Durations come back in another notation.
            (Some(Json::String(wanted)), Some(Json::String(live))) if *field == "interval" => {
                let nanos = |text: &str| durations::parse(text.as_bytes()).ok();
                nanos(wanted) != nanos(live)
            }
            (Some(Json::Bool(false)), None) => false,
            (Some(Json::Object(wanted)), Some(live)) => wanted.iter().any(|(k, v)| live.get(k) != Some(v)),
            (Some(wanted), Some(live)) => wanted != live,
            // A list that the template lacks was the template's own.
            (None, None) => false,
            _ => true,
        }
    })
}

/// The HelmChart as it is after the controller wrote it; `None` if nothing changes.
pub(super) fn written(hr: &HelmRelease, live: Option<&Object>) -> Option<Json> {
    let key = generated(hr)?;
    let wanted = wanted(hr);
    let Some(live) = live else {
        return Some(json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmChart",
            "metadata": {
                "name": key.name, "namespace": key.namespace, "generation": 1,
                "labels": BTreeMap::from(origin_labels(&hr.name, &hr.namespace)),
            },
            "spec": wanted, "status": {"observedGeneration": -1},
        }));
    };
    if !outdated(hr, live) {
        return None;
    }
    let mut json = (*live.json).clone();
    let generation = json.pointer("/metadata/generation").and_then(Json::as_i64).unwrap_or(0) + 1;
    if let Some(spec) = json.get_mut("spec").and_then(Json::as_object_mut) {
        for field in ["valuesFiles", "ignoreMissingValuesFiles", "verify"] {
            if !wanted.contains_key(field) {
                spec.remove(field);
            }
        }
        for (field, value) in wanted {
            spec.insert(field, value);
        }
    }
    if let Some(metadata) = json.get_mut("metadata").and_then(Json::as_object_mut) {
        metadata.insert("generation".into(), generation.into());
    }
    Some(json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    fn release(spec: Json) -> HelmRelease {
        let json =
            json!({"metadata": {"name": "a", "namespace": "n"}, "spec": {"interval": "5m", "chart": {"spec": spec}}});
        HelmRelease::new(Rc::new(json))
    }

    #[test]
    fn f_12_a_chart_is_written_when_its_template_asks_for_another_artifact() {
        let template = json!({"chart": "c", "sourceRef": {"kind": "HelmRepository", "name": "r", "namespace": "n"}});
        let chart = Object::new(written(&release(template.clone()), None).unwrap(), Default::default()).unwrap();
        assert_eq!(
            (chart.key.name.as_str(), chart.text("/spec/version"), chart.text("/spec/interval")),
            ("n-a", "*", "5m")
        );
        assert!(written(&release(template.clone()), Some(&chart)).is_none());
        for (field, value) in
            [("version", json!("2.x")), ("valuesFiles", json!(["v.yaml"])), ("reconcileStrategy", json!("Revision"))]
        {
            let mut changed = template.clone();
            changed[field] = value;
            let new = written(&release(changed), Some(&chart)).unwrap();
            assert_eq!(new["metadata"]["generation"], json!(2), "{field}");
        }
        let mut same = template;
        same["interval"] = json!("1m");
        assert!(outdated(&release(same.clone()), &chart), "another interval is another generation");
        same["interval"] = json!("300s");
        assert!(!outdated(&release(same), &chart), "the same duration");
    }
}
