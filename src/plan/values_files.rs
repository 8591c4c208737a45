//! `spec.valuesFiles` of a HelmChart: source-controller packages the chart with them laid over each other as its
//! values.yaml (`F-220`).

use std::rc::Rc;

use serde_json::{Map as JsonMap, Value as Json};

use crate::chart::{Chart, values};
use crate::cluster::object::Object;
use crate::codec::yaml;
use crate::value::Repr;

/// The values files of a HelmChart, those that count.
#[derive(Debug, Default)]
pub struct ValuesFiles {
    /// Paths as the HelmChart gives them.
    paths: Vec<String>,
    /// Folder of the chart in its source; "" for one that comes from a Helm repository.
    folder: String,
    /// A file that is not there is left out.
    ignores_missing: bool,
}

impl ValuesFiles {
    /// Those of a source; other sources than HelmCharts have none. A single `values.yaml` counts as none (`F-220`).
    pub fn of(source: &Object) -> ValuesFiles {
        let list = source.json.pointer("/spec/valuesFiles").and_then(Json::as_array);
        let paths: Vec<String> = list.into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect();
        if source.key.kind != "HelmChart" || paths == ["values.yaml"] {
            return ValuesFiles::default();
        }
        let ignores = source.json.pointer("/spec/ignoreMissingValuesFiles").and_then(Json::as_bool);
        let folder = match source.text("/spec/sourceRef/kind") {
            "HelmRepository" => String::new(),
            _ => format!("{}/", clean(source.text("/spec/chart"))),
        };
        ValuesFiles { paths, folder, ignores_missing: ignores == Some(true) }
    }

    /// The chart with its values made of these files.
    ///
    /// # Errors
    /// What is missing, or cannot be read.
    pub fn applied(&self, chart: &Chart) -> Result<Chart, String> {
        let mut chart = chart.clone();
        if self.paths.is_empty() {
            return Ok(chart);
        }
        let mut values = JsonMap::new();
        for path in &self.paths {
            let path = clean(path);
            let inside = path.strip_prefix(&self.folder).unwrap_or(&path);
            let layer = match (inside, chart.files.get(inside)) {
                ("values.yaml", _) => (*chart.values).clone(),
                (_, Some(bytes)) => read(bytes).map_err(|e| format!("values file {path} of the HelmChart: {e}"))?,
                (_, None) if self.ignores_missing => continue,
                (_, None) => return Err(format!("values file {path} of the HelmChart (it is not in the chart given)")),
            };
            lay_over(&mut values, layer, 0);
        }
        chart.values = Rc::new(values);
        Ok(chart)
    }
}

/// A path without `.` and empty steps.
fn clean(path: &str) -> String {
    path.split('/').filter(|step| !matches!(*step, "" | ".")).collect::<Vec<_>>().join("/")
}

/// A values file as source-controller reads it: its first document, numbers as floats.
fn read(bytes: &[u8]) -> Result<JsonMap<String, Json>, String> {
    match yaml::helm_unmarshal(bytes)?.repr() {
        Repr::Map(map) => Ok(values::to_json(map)),
        _ => Ok(JsonMap::new()),
    }
}

/// Maps are laid over maps; anything else is replaced.
fn lay_over(into: &mut JsonMap<String, Json>, layer: JsonMap<String, Json>, depth: usize) {
    for (key, value) in layer {
        match (into.get_mut(&key), value) {
            (Some(Json::Object(below)), Json::Object(above)) if depth < crate::value::MAX_DEPTH => {
                lay_over(below, above, depth + 1);
            }
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn chart() -> Chart {
        let files = [
            ("Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\n"),
            ("values.yaml", "a: {b: 1, c: 1}\nd: 1\n"),
            ("values-prod.yaml", "a: {b: 2}\nd: {e: 1}\n"),
            ("list.yaml", "[1]"),
        ];
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()));
        Chart::from_folder(files.collect()).unwrap()
    }

    fn of(spec: Json) -> ValuesFiles {
        let json = json!({"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmChart",
            "metadata": {"name": "c", "namespace": "n"}, "spec": spec});
        ValuesFiles::of(&Object::new(json, Default::default()).unwrap())
    }

    #[test]
    fn f_220_values_files_are_laid_over_each_other() {
        let repository = json!({"kind": "HelmRepository"});
        let git = json!({"kind": "GitRepository"});
        for (spec, expected) in [
            (json!({"sourceRef": repository}), json!({"a": {"b": 1.0, "c": 1.0}, "d": 1.0})),
            (
                json!({"sourceRef": repository, "valuesFiles": ["values.yaml"]}),
                json!({"a": {"b": 1.0, "c": 1.0}, "d": 1.0}),
            ),
            (
                json!({"sourceRef": repository, "valuesFiles": ["values.yaml", "values-prod.yaml"]}),
                json!({"a": {"b": 2.0, "c": 1.0}, "d": {"e": 1.0}}),
            ),
            (
                json!({"sourceRef": repository, "valuesFiles": ["values-prod.yaml"]}),
                json!({"a": {"b": 2.0}, "d": {"e": 1.0}}),
            ),
            (
                json!({"sourceRef": git, "chart": "./charts/a", "valuesFiles": ["charts/a/values-prod.yaml"]}),
                json!({"a": {"b": 2.0}, "d": {"e": 1.0}}),
            ),
            (
                json!({"sourceRef": repository, "valuesFiles": ["none.yaml", "values-prod.yaml"],
                    "ignoreMissingValuesFiles": true}),
                json!({"a": {"b": 2.0}, "d": {"e": 1.0}}),
            ),
        ] {
            let values = of(spec.clone()).applied(&chart()).unwrap().values;
            assert_eq!(Json::Object((*values).clone()), expected, "{spec}");
        }
    }

    #[test]
    fn f_220_a_values_file_that_is_missing_or_no_map_is_told() {
        for (file, told) in [
            ("none.yaml", "none.yaml"),
            ("list.yaml", "cannot unmarshal array into Go value of type map[string]interface {}"),
        ] {
            let layers = of(json!({"sourceRef": {"kind": "HelmRepository"}, "valuesFiles": [file]}));
            let error = layers.applied(&chart()).err().unwrap();
            assert!(error.contains(told), "{file}");
        }
    }
}
