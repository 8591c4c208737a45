//! From files to a chart.

use std::collections::BTreeMap;
use std::rc::Rc;

use data_encoding::BASE64;
use serde_json::{Map as JsonMap, Value as Json};

use super::{archive, ignore};
use crate::codec::yaml;

/// Files by path, with `/` between folders.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A chart and the charts it depends on.
#[derive(Clone, Default)]
pub struct Chart {
    /// Chart.yaml, with the dependencies of requirements.yaml in it for version 1 charts.
    pub meta: JsonMap<String, Json>,
    /// values.yaml.
    pub values: Rc<JsonMap<String, Json>>,
    /// values.yaml as text.
    pub values_text: Vec<u8>,
    /// values.schema.json.
    pub schema: Option<Vec<u8>>,
    /// Path (`templates/x.yaml`) and content, in loading order.
    pub templates: Rc<Vec<(String, Vec<u8>)>>,
    /// Path (`crds/x.yaml`) and content.
    pub crds: Rc<Vec<(String, Vec<u8>)>>,
    /// Whatever else lies in the folder.
    pub files: Rc<Files>,
    /// Sub-charts.
    pub deps: Vec<Chart>,
}

/// Most levels of sub-charts.
const MAX_DEPTH: usize = 32;

impl Chart {
    /// Name of the chart (of an alias, once dependencies are processed).
    pub fn name(&self) -> &str {
        self.text("name")
    }

    /// Version of the chart.
    pub fn version(&self) -> &str {
        self.text("version")
    }

    /// A text of Chart.yaml.
    pub fn text(&self, field: &str) -> &str {
        self.meta.get(field).and_then(Json::as_str).unwrap_or_default()
    }

    /// Whether it is a library chart, whose templates are only included.
    pub fn is_library(&self) -> bool {
        self.text("type") == "library"
    }

    /// The dependencies that Chart.yaml declares.
    pub fn declared(&self) -> Vec<JsonMap<String, Json>> {
        let list = self.meta.get("dependencies").and_then(Json::as_array);
        list.into_iter().flatten().filter_map(|d| d.as_object().cloned()).collect()
    }

    /// Loads a chart from the files of its folder (paths relative to it).
    ///
    /// # Errors
    /// Helm's text.
    pub fn from_folder(files: Files) -> Result<Chart, String> {
        let rules = files.get(".helmignore").map(|text| ignore::Rules::parse(&String::from_utf8_lossy(text)));
        let rules = rules.unwrap_or_else(ignore::Rules::none);
        let kept = files.into_iter().filter(|(path, _)| !rules.ignores(path)).collect();
        Chart::from_files(kept, 0)
    }

    /// Loads a chart from an archive.
    ///
    /// # Errors
    /// Helm's text, or the limit that was reached.
    pub fn from_archive(bytes: &[u8]) -> Result<Chart, String> {
        Chart::from_files(archive::unpack(bytes)?, 0)
    }

    fn from_files(files: Files, depth: usize) -> Result<Chart, String> {
        if depth > MAX_DEPTH {
            return Err(format!("sub-charts are nested deeper than {MAX_DEPTH} levels"));
        }
        let mut chart = Chart::default();
        let mut templates = Vec::new();
        let mut crds = Vec::new();
        let mut others = Files::new();
        let mut below: BTreeMap<String, Files> = BTreeMap::new();
        let mut has_meta = false;
        let mut requirements = None;
        for (path, bytes) in files {
            let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").map(<[u8]>::to_vec).unwrap_or(bytes);
            match path.as_str() {
                "Chart.yaml" => {
                    chart.meta = object(&bytes).map_err(|e| format!("cannot load Chart.yaml: {e}"))?;
                    has_meta = true;
                }
                "Chart.lock" => {}
                "values.yaml" => {
                    chart.values = Rc::new(object(&bytes).map_err(|e| format!("cannot load values.yaml: {e}"))?);
                    chart.values_text = bytes;
                }
                "values.schema.json" => chart.schema = Some(bytes),
                "requirements.yaml" => {
                    requirements = Some(object(&bytes).map_err(|e| format!("cannot load requirements.yaml: {e}"))?);
                    others.insert(path, bytes);
                }
                _ if path.starts_with("templates/") => templates.push((path, bytes)),
                _ if path.starts_with("charts/") => {
                    let rest = &path["charts/".len()..];
                    let (name, inner) = rest.split_once('/').unwrap_or((rest, ""));
                    if name.starts_with(['_', '.']) {
                        continue;
                    }
                    if inner.is_empty() {
                        if name.ends_with(".tgz") {
                            let dep = archive::unpack(&bytes).and_then(|files| Chart::from_files(files, depth + 1));
                            chart.deps.push(
                                dep.map_err(|e| format!("error unpacking subchart tar in {}: {e}", chart.name()))?,
                            );
                        }
                        others.insert(path, bytes);
                    } else {
                        below.entry(name.to_owned()).or_default().insert(inner.to_owned(), bytes.clone());
                        others.insert(path, bytes);
                    }
                }
                _ => {
                    if path.starts_with("crds/") {
                        crds.push((path.clone(), bytes.clone()));
                    }
                    others.insert(path, bytes);
                }
            }
        }
        if !has_meta {
            return Err("Chart.yaml file is missing".into());
        }
        if let Some(list) = requirements.and_then(|mut r| r.remove("dependencies"))
            && !chart.meta.contains_key("dependencies")
        {
            chart.meta.insert("dependencies".into(), list);
        }
        for (name, files) in below {
            if files.contains_key("Chart.yaml") {
                let dep = Chart::from_files(files, depth + 1);
                chart.deps.push(dep.map_err(|e| format!("error unpacking subchart {name} in {}: {e}", chart.name()))?);
            }
        }
        chart.templates = Rc::new(templates);
        chart.crds = Rc::new(crds);
        chart.files = Rc::new(others);
        if chart.text("apiVersion").is_empty() {
            chart.meta.insert("apiVersion".into(), "v1".into());
        }
        chart.check()?;
        Ok(chart)
    }

    /// What Helm checks of Chart.yaml after loading.
    fn check(&self) -> Result<(), String> {
        let fail = |text: &str| Err(format!("validation: {text}"));
        if self.name().is_empty() {
            return fail("chart.metadata.name is required");
        }
        if self.name().contains('/') {
            return fail(&format!("chart.metadata.name {:?} is invalid", self.name()));
        }
        if self.version().is_empty() {
            return fail("chart.metadata.version is required");
        }
        if crate::funcs::semver::Version::parse(self.version(), crate::base::version::HelmVersion::cli(4, 1, 4))
            .is_err()
        {
            return fail(&format!("chart.metadata.version {:?} is invalid", self.version()));
        }
        if !matches!(self.text("type"), "" | "application" | "library") {
            return fail("chart.metadata.type must be application or library");
        }
        Ok(())
    }

    /// The chart that is stored in a release (`F-170`): without its sub-charts.
    ///
    /// # Errors
    /// What of the payload cannot be used.
    pub fn from_release(chart: &Json) -> Result<Chart, String> {
        let contents = |field: &str| -> Result<Vec<(String, Vec<u8>)>, String> {
            let list = chart.get(field).and_then(Json::as_array);
            list.into_iter()
                .flatten()
                .map(|file| {
                    let name = file.get("name").and_then(Json::as_str).unwrap_or_default().to_owned();
                    let data = file.get("data").and_then(Json::as_str).unwrap_or_default();
                    let bytes = BASE64
                        .decode(data.as_bytes())
                        .map_err(|_| format!("{name} in the stored chart is no base64"))?;
                    Ok((name, bytes))
                })
                .collect()
        };
        let map = |field: &str| chart.get(field).and_then(Json::as_object).cloned().unwrap_or_default();
        let files: Files = contents("files")?.into_iter().collect();
        Ok(Chart {
            meta: map("metadata"),
            values: Rc::new(map("values")),
            schema: chart.get("schema").and_then(Json::as_str).and_then(|s| BASE64.decode(s.as_bytes()).ok()),
            templates: Rc::new(contents("templates")?),
            crds: Rc::new(
                files.iter().filter(|(p, _)| p.starts_with("crds/")).map(|(p, b)| (p.clone(), b.clone())).collect(),
            ),
            files: Rc::new(files),
            ..Chart::default()
        })
    }

    /// Names of declared dependencies that are not there: a stored chart cannot be rendered without them.
    ///
    /// A dependency whose `enabled` is stored as false was switched off.
    pub fn missing_dependencies(&self) -> Vec<String> {
        self.declared()
            .iter()
            .filter(|d| d.get("enabled").and_then(Json::as_bool) != Some(false))
            .filter_map(|d| d.get("name").and_then(Json::as_str).map(str::to_owned))
            .filter(|name| !self.deps.iter().any(|dep| dep.name() == name))
            .collect()
    }
}

/// A YAML mapping; nothing is the empty one.
fn object(bytes: &[u8]) -> Result<JsonMap<String, Json>, String> {
    let value = yaml::helm_unmarshal(bytes)?;
    match crate::codec::json::value_to_json(&value) {
        Json::Object(map) => Ok(map),
        _ => Ok(JsonMap::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> Result<Chart, String> {
        Chart::from_folder(files.iter().map(|(p, t)| ((*p).to_owned(), t.as_bytes().to_vec())).collect())
    }

    #[test]
    fn files_go_where_helm_puts_them() {
        let chart = folder(&[
            ("Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\n"),
            ("values.yaml", "x: 1\n"),
            ("templates/t.yaml", "a: b"),
            ("crds/c.yaml", "k: v"),
            ("notes/readme.md", "hi"),
            ("charts/b/Chart.yaml", "apiVersion: v2\nname: b\nversion: 1.0.0\n"),
            (".helmignore", "notes/\n"),
        ])
        .unwrap();
        assert_eq!((chart.name(), chart.templates.len(), chart.crds.len(), chart.deps[0].name()), ("a", 1, 1, "b"));
        assert!(!chart.files.contains_key("notes/readme.md"));
    }

    #[test]
    fn a_folder_without_chart_yaml_is_no_chart() {
        assert_eq!(folder(&[("values.yaml", "")]).err().unwrap(), "Chart.yaml file is missing");
    }
}
