//! The boundary to JavaScript: bytes in, JSON out, no logic.

use wasm_bindgen::prelude::*;

use crate::api::{Inputs, Options, RenderArgs};
use crate::report::contract::ReleaseRef;

/// Collects input files and answers questions about them.
#[wasm_bindgen]
pub struct Planner {
    inputs: Inputs,
}

#[wasm_bindgen]
impl Planner {
    /// A planner without files; `options` is JSON.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str) -> Result<Planner, JsError> {
        let options: Options = serde_json::from_str(options).map_err(|e| JsError::new(&format!("options: {e}")))?;
        Ok(Planner { inputs: Inputs { options, ..Inputs::default() } })
    }

    /// Adds a snapshot file.
    #[wasm_bindgen(js_name = addSnapshot)]
    pub fn add_snapshot(&mut self, name: String, bytes: Vec<u8>) {
        self.inputs.snapshot.push((name, bytes));
    }

    /// Adds a file of a chart folder, or a chart archive.
    #[wasm_bindgen(js_name = addChart)]
    pub fn add_chart(&mut self, name: String, bytes: Vec<u8>) {
        self.inputs.charts.push((name, bytes));
    }

    /// The report as JSON.
    pub fn plan(&self) -> String {
        self.inputs.plan().to_json()
    }

    /// The report as a table.
    #[wasm_bindgen(js_name = planText)]
    pub fn plan_text(&self) -> String {
        crate::report::table::plan(&self.inputs.plan())
    }

    /// What a force of one release would change, as JSON; nothing if the snapshot holds no such release.
    pub fn diff(&self, namespace: &str, name: &str, show_secrets: bool) -> Result<Option<String>, JsError> {
        let Some(found) = self.inputs.diff(namespace, name, show_secrets) else { return Ok(None) };
        let found = found.map_err(|error| JsError::new(&error))?;
        Ok(Some(crate::report::difference::json(&found)))
    }

    /// Which releases another Helm, another Kubernetes, or API versions (separated by commas) served besides would render
    /// otherwise, as JSON.
    #[wasm_bindgen(js_name = whatIf)]
    pub fn what_if(
        &self,
        helm: Option<String>,
        kubernetes: Option<String>,
        served: Option<String>,
    ) -> Result<String, JsError> {
        let served = served.unwrap_or_default();
        let served: Vec<String> = served.split(',').filter(|api| !api.is_empty()).map(str::to_owned).collect();
        let found = self.inputs.what_if(helm.as_deref(), kubernetes.as_deref(), &served)?;
        Ok(crate::report::difference::what_if_json(&found))
    }

    /// What a renderer without a cluster makes of each release, as JSON: with the snapshot's capabilities, or with those of
    /// a version of Kubernetes and of API versions (separated by commas) served besides.
    pub fn offline(&self, kubernetes: Option<String>, served: Option<String>) -> String {
        let served = served.unwrap_or_default();
        let served: Vec<String> = served.split(',').filter(|api| !api.is_empty()).map(str::to_owned).collect();
        let flags = kubernetes.as_deref().map(|version| (version, &*served));
        crate::report::offline::json(&self.inputs.offline(flags))
    }

    /// The hazards of the chart whose files were added, without a cluster, as JSON.
    pub fn lint(&self, name: &str, namespace: &str, helm: &str, values: Option<String>) -> Result<String, JsError> {
        let args = RenderArgs {
            chart: Some(within(&self.inputs.charts)),
            name: name.to_owned(),
            namespace: namespace.to_owned(),
            values: values.map(|text| ("values".to_owned(), Ok(text.into_bytes()))).into_iter().collect(),
            ..RenderArgs::default()
        };
        let found = crate::api::lint(&args, helm.parse()?).map_err(|error| JsError::new(&error.message))?;
        Ok(crate::report::lint::json(&found))
    }

    /// One release in words.
    pub fn explain(&self, namespace: &str, name: &str, object: Option<String>) -> Option<String> {
        crate::report::explain::explain(&self.inputs.plan(), namespace, name, object.as_deref())
    }

    /// Whether a release has settled, as JSON or in words; `kind` is `HelmRelease` if there is none.
    pub fn settled(
        &self,
        namespace: &str,
        name: &str,
        revision: Option<String>,
        kind: Option<String>,
        words: bool,
    ) -> Option<String> {
        let kind = kind.as_deref().unwrap_or("HelmRelease");
        let answer = self.inputs.settled(kind, &release(namespace, name), revision.as_deref())?;
        Some(if words { answer.to_text() } else { answer.to_json() })
    }

    /// What the controller does next and why, as JSON or in words; with `stamp`, also if both annotations were stamped now.
    pub fn why(&self, namespace: &str, name: &str, stamp: bool, words: bool) -> Option<String> {
        let answer = self.inputs.why(&release(namespace, name), stamp)?;
        Some(if words { answer.to_text() } else { answer.to_json() })
    }
}

/// Files relative to the folder that they all lie in.
fn within(files: &[(String, Vec<u8>)]) -> Vec<(String, Vec<u8>)> {
    let top = files.first().and_then(|(name, _)| name.split_once('/')).map(|(top, _)| format!("{top}/"));
    let top = top.filter(|top| files.iter().all(|(name, _)| name.starts_with(top.as_str()))).unwrap_or_default();
    files.iter().map(|(name, bytes)| (name[top.len()..].to_owned(), bytes.clone())).collect()
}

fn release(namespace: &str, name: &str) -> ReleaseRef {
    ReleaseRef { namespace: namespace.to_owned(), name: name.to_owned() }
}
