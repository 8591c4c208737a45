//! One chart and its values to documents.

pub mod apis;
pub mod capabilities;
pub mod chart_value;
pub mod manifest;
pub mod output;
pub mod parsed;
pub mod scope;
pub mod server;

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::base::budget::Budget;
use crate::base::version::{HelmVersion, Quirk};
use crate::chart::deps::{in_range, process};
use crate::chart::schema::{self, Refusal};
use crate::chart::values::{Merging, coalesce};
use crate::chart::{Chart, values};
use crate::funcs;
use crate::template::eval::{Options, Run, strip_no_value};
use crate::template::func::World;
use crate::template::gate::Recorder;
use crate::template::parse::ParseError;
use crate::template::set::{FuncTable, TemplateSet};
use crate::value::{Map, MapType, Origins, Repr, Text, Value};
use parsed::Parsed;
use scope::{Capabilities, Release};

/// What is rendered, and how.
pub struct Request<'a> {
    /// The chart, as loaded.
    pub chart: &'a Chart,
    /// The user's values, composed.
    pub values: Map,
    /// The release.
    pub release: Release,
    /// What the cluster can do.
    pub capabilities: Capabilities,
    /// The Helm that is imitated.
    pub helm: HelmVersion,
    /// How the render differs from Helm's.
    pub options: Options,
    /// Templates parsed for earlier renders.
    pub parsed: &'a Parsed,
    /// Whether `values.schema.json` counts.
    pub schemas: Schemas,
}

/// What to do about the schemas of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schemas {
    /// Nothing, as with `--skip-schema-validation`.
    Skipped,
    /// Check them.
    Checked,
    /// Check them, and let pass what cannot be told here (a schema that Helm would fetch).
    WhereKnown,
}

/// The text of one template file.
pub struct Output {
    /// Path: `chart/templates/x.yaml`.
    pub path: String,
    /// What it rendered to, `<no value>` stripped.
    pub text: Text,
}

/// What a render gave.
#[derive(Default)]
pub struct Rendered {
    /// Files by path, partials left out.
    pub files: Vec<Output>,
    /// Gates and lookups, also of a render that failed.
    pub recorder: Recorder,
    /// Helm's text, if it failed.
    pub error: Option<String>,
    /// The chart with its dependencies processed.
    pub chart: Option<Chart>,
    /// The chart and its values were in order: whatever failed, failed in rendering.
    pub begun: bool,
}

/// Renders all templates of a chart.
pub fn render(request: Request<'_>, world: &dyn World, origins: &Origins) -> Rendered {
    let mut rendered = Rendered::default();
    if let Err(error) = render_into(request, world, origins, &mut rendered) {
        rendered.error = Some(error);
    }
    rendered
}

fn render_into(request: Request<'_>, world: &dyn World, origins: &Origins, out: &mut Rendered) -> Result<(), String> {
    let helm = request.helm;
    let merging = Merging { helm, origins };
    let mut chart = request.chart.clone();
    process(&mut chart, &request.values, merging).map_err(|e| match helm.has(Quirk::Wording4) {
        true => format!("chart dependencies processing failed: {e}"),
        false => e,
    })?;
    let merged = coalesce(&chart, &request.values, false, merging)?;
    match request.schemas {
        Schemas::Skipped => {}
        Schemas::Checked => schema::validate(&chart, &merged, helm).map_err(Refusal::text)?,
        Schemas::WhereKnown => {
            if let Err(Refusal::Invalid(error)) = schema::validate(&chart, &merged, helm) {
                return Err(error);
            }
        }
    }
    out.begun = true;
    let constraint = chart.text("kubeVersion");
    let compared = request.capabilities.kube.compared();
    if !constraint.is_empty() && !in_range(constraint, compared, helm) {
        return Err(format!(
            "chart requires kubeVersion: {constraint} which is incompatible with Kubernetes {compared}"
        ));
    }
    let top = Values {
        release: scope::release(&request.release, origins),
        capabilities: scope::capabilities(&request.capabilities, helm, origins),
        helm,
    };
    let mut templates = BTreeMap::new();
    let values = Map::new(merged.entries().clone(), MapType::Values);
    top.collect(&chart, chart.name(), true, Value::new(Repr::Map(values)), &mut templates);
    let set = request.parsed.set(&chart, helm, || parse(&templates, helm)).map_err(|e| e.for_chart(helm))?;
    execute(set, &templates, &request.options, world, origins, out)?;
    out.chart = Some(chart);
    Ok(())
}

/// One template file before it is executed.
struct Source<'c> {
    text: &'c [u8],
    dot: Value,
    base: String,
}

struct Values {
    release: Value,
    capabilities: Value,
    helm: HelmVersion,
}

impl Values {
    /// Collects the templates of a chart and of those below it, and returns the chart's scope.
    fn collect<'c>(
        &self,
        chart: &'c Chart,
        path: &str,
        is_root: bool,
        values: Value,
        templates: &mut BTreeMap<String, Source<'c>>,
    ) -> Value {
        let subcharts = Map::new(BTreeMap::new(), MapType::Any);
        let dot = scope::scope(
            chart_value::chart(chart, is_root, self.helm),
            scope::files(chart, self.helm),
            self.release.clone(),
            self.capabilities.clone(),
            values.clone(),
            Value::new(Repr::Map(subcharts.clone())),
        );
        for dep in &chart.deps {
            let below = values.as_map().and_then(|v| v.get(dep.name().as_bytes())).filter(|v| v.as_map().is_some());
            let below = below.unwrap_or_else(|| Value::map(BTreeMap::new()));
            // A sub-chart's values have the type of the top ones.
            let typed = below.as_map().map_or(below.clone(), |map| {
                let mut typed = Value::new(Repr::Map(map.as_values()));
                typed.origins = below.origins;
                typed.at = below.at;
                typed
            });
            let scope = self.collect(dep, &format!("{path}/charts/{}", dep.name()), false, typed, templates);
            subcharts.insert(dep.name(), scope);
        }
        for (name, text) in chart.templates.iter() {
            let file = name.rsplit('/').next().unwrap_or(name);
            if chart.is_library() && !file.starts_with('_') {
                continue;
            }
            let source = Source { text, dot: dot.clone(), base: joined(&format!("{path}/templates")) };
            templates.insert(joined(&format!("{path}/{name}")), source);
        }
        dot
    }
}

/// A path without `.` and `..` in it (`H-38`: charts may have such names).
fn joined(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Helm's order: deeper paths first, and backwards by name.
fn order<'t>(templates: &'t BTreeMap<String, Source<'_>>) -> Vec<&'t String> {
    let mut paths: Vec<&String> = templates.keys().collect();
    paths.sort_by(|a, b| (b.matches('/').count(), b).cmp(&(a.matches('/').count(), a)));
    paths
}

fn parse(templates: &BTreeMap<String, Source<'_>>, helm: HelmVersion) -> Result<TemplateSet, ParseError> {
    let mut set = TemplateSet::new(Rc::new(FuncTable::new(funcs::all(), helm)));
    for path in order(templates) {
        if let Some(source) = templates.get(path) {
            set.parse(path, source.text)?;
        }
    }
    Ok(set)
}

fn execute(
    set: Rc<TemplateSet>,
    templates: &BTreeMap<String, Source<'_>>,
    options: &Options,
    world: &dyn World,
    origins: &Origins,
    out: &mut Rendered,
) -> Result<(), String> {
    let helm = set.functions().helm();
    let budget = Budget::default();
    let mut run = Run::new(set, world, origins, &budget, options);
    let mut failure = None;
    for path in order(templates) {
        let name = path.rsplit('/').next().unwrap_or(path);
        let Some(source) = templates.get(path).filter(|_| !name.starts_with('_')) else { continue };
        if let Some(dot) = source.dot.as_map() {
            let template = BTreeMap::from([
                (Text::from("Name"), Value::text(path.as_str())),
                (Text::from("BasePath"), Value::text(source.base.as_str())),
            ]);
            dot.insert("Template", scope::values_map(template));
        }
        match run.render(path, &source.dot) {
            Ok(value) => {
                let text = value.as_text().map(strip_no_value).unwrap_or_default();
                out.files.push(Output { path: path.clone(), text });
            }
            Err(error) => {
                failure = Some(error.render(helm));
                break;
            }
        }
    }
    out.recorder = std::mem::take(&mut run.recorder);
    out.files.sort_by(|a, b| a.path.cmp(&b.path));
    match failure {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// The user's values as a tree whose leaves know which of `layers` gives them (`rest`, if none does).
pub fn user_values(
    json: &serde_json::Value,
    layers: &[(Rc<str>, serde_json::Value)],
    rest: &str,
    origins: &Origins,
) -> Map {
    let value = values::layered_from(json, layers, rest, origins);
    value.as_map().cloned().unwrap_or_else(|| Map::new(BTreeMap::new(), MapType::Any))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Files;
    use crate::cluster::world::Offline;

    #[test]
    fn values_of_sub_charts_have_the_type_of_the_top_ones() {
        let files = [
            ("Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\n"),
            ("charts/b/Chart.yaml", "apiVersion: v2\nname: b\nversion: 1.0.0\n"),
            ("charts/b/templates/t.yaml", "{{ typeOf .Values }} {{ typeOf .Values.AsMap }}"),
        ];
        let files: Files = files.iter().map(|(p, t)| ((*p).to_owned(), t.as_bytes().to_vec())).collect();
        let chart = Chart::from_folder(files).unwrap();
        let origins = Origins::new(true);
        let kube = scope::KubeVersion {
            version: "v1.35.0".into(),
            normalized: String::new(),
            major: "1".into(),
            minor: "35".into(),
        };
        let request = Request {
            chart: &chart,
            values: Map::new(BTreeMap::new(), MapType::Any),
            release: Release { name: "r".into(), namespace: "n".into(), revision: 1, is_upgrade: false },
            capabilities: Capabilities { kube, api_versions: Default::default(), api_order: Default::default() },
            helm: "4.1".parse().unwrap(),
            options: Options::default(),
            parsed: &Parsed::default(),
            schemas: Schemas::Checked,
        };
        let rendered = render(request, &Offline, &origins);
        assert_eq!(rendered.error, None);
        assert_eq!(rendered.files[0].text.lossy(), "common.Values map[string]interface {}");
    }
}
