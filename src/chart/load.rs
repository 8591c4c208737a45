//! From files to a chart.

use std::collections::BTreeMap;
use std::rc::Rc;

use data_encoding::BASE64;
use serde_json::{Map as JsonMap, Value as Json};

use super::{archive, ignore, metadata, values};
use crate::base::version::{HelmVersion, Quirk};

/// Files by path, with `/` between folders.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A chart and the charts it depends on.
#[derive(Clone, Default)]
pub struct Chart {
    /// Chart.yaml, with the dependencies of requirements.yaml in it for version 1 charts.
    pub meta: JsonMap<String, Json>,
    /// values.yaml.
    pub values: Rc<JsonMap<String, Json>>,
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

    /// Loads a chart from the files of its folder (paths relative to it), as the newest Helm does.
    ///
    /// # Errors
    /// Helm's text.
    pub fn from_folder(files: Files) -> Result<Chart, String> {
        Chart::from_folder_as(files, HelmVersion::cli(4, 2, 2))
    }

    /// Loads a chart from an archive, as the newest Helm does.
    ///
    /// # Errors
    /// Helm's text, or the limit that was reached.
    pub fn from_archive(bytes: &[u8]) -> Result<Chart, String> {
        Chart::from_archive_as(bytes, HelmVersion::cli(4, 2, 2))
    }

    /// Loads a chart from the files of its folder as that Helm does (`H-34` to `H-38`).
    ///
    /// # Errors
    /// Helm's text.
    pub fn from_folder_as(files: Files, helm: HelmVersion) -> Result<Chart, String> {
        let rules = ignore::Rules::parse(files.get(".helmignore").map_or(&[][..], |text| text))?;
        let kept = files.into_iter().filter(|(path, _)| !rules.ignores(path)).collect();
        Chart::from_files(kept, helm, 0)
    }

    /// Loads a chart from an archive as that Helm does.
    ///
    /// # Errors
    /// Helm's text, or the limit that was reached.
    pub fn from_archive_as(bytes: &[u8], helm: HelmVersion) -> Result<Chart, String> {
        Chart::from_files(archive::unpack(bytes)?, helm, 0)
    }

    fn from_files(files: Files, helm: HelmVersion, depth: usize) -> Result<Chart, String> {
        if depth > MAX_DEPTH {
            return Err(format!("sub-charts are nested deeper than {MAX_DEPTH} levels"));
        }
        let mut files: Vec<(String, Vec<u8>)> =
            files.into_iter().map(|(path, bytes)| (path, without_bom(bytes))).collect();
        // As a walk through folders meets them.
        files.sort_by(|a, b| a.0.split('/').cmp(b.0.split('/')));
        let mut chart = Chart::default();
        match files.iter().find(|(path, _)| path == "Chart.yaml") {
            Some((_, bytes)) => {
                metadata::read(bytes, &mut chart.meta, helm).map_err(|e| format!("cannot load Chart.yaml: {e}"))?;
            }
            None => return Err("Chart.yaml file is missing".into()),
        }
        match chart.text("apiVersion") {
            "" => {
                chart.meta.insert("apiVersion".into(), "v1".into());
            }
            "v1" | "v2" => {}
            "v3" if helm.has(Quirk::RefusesApiV3) => return Err("invalid chart apiVersion".into()),
            _ if helm.has(Quirk::RefusesApiV3) && depth == 0 => return Err("unsupported chart version".into()),
            _ => {}
        }
        let below = chart.sort_files(files, helm)?;
        metadata::sanitize(&mut chart.meta);
        metadata::validate(&chart.meta, helm)?;
        for (name, files) in below {
            let archived = name.ends_with(".tgz").then(|| files.get("").cloned()).flatten();
            let dep = match archived {
                Some(bytes) => archive::unpack(&bytes).and_then(|files| Chart::from_files(files, helm, depth + 1)),
                None => {
                    let inner = files.into_iter().filter(|(path, _)| !path.is_empty()).collect();
                    Chart::from_files(inner, helm, depth + 1)
                }
            };
            chart.deps.push(dep.map_err(|e| format!("error unpacking subchart {name} in {}: {e}", chart.name()))?);
        }
        Ok(chart)
    }

    /// Puts each file where it belongs, and returns what lies in `charts/`, by name and path below it.
    fn sort_files(
        &mut self,
        files: Vec<(String, Vec<u8>)>,
        helm: HelmVersion,
    ) -> Result<BTreeMap<String, Files>, String> {
        let mut templates = Vec::new();
        let mut crds = Vec::new();
        let mut others = Files::new();
        let mut below: BTreeMap<String, Files> = BTreeMap::new();
        let is_v1 = self.text("apiVersion") == "v1";
        for (path, bytes) in files {
            match path.as_str() {
                "Chart.yaml" => {}
                "Chart.lock" => metadata::lock(&bytes, helm).map_err(|e| format!("cannot load Chart.lock: {e}"))?,
                "values.yaml" => {
                    let values =
                        values::read_file(&bytes, helm).map_err(|e| format!("cannot load values.yaml: {e}"))?;
                    self.values = Rc::new(values::to_json(&values));
                }
                "values.schema.json" => self.schema = Some(bytes),
                "requirements.yaml" => {
                    metadata::requirements(&bytes, &mut self.meta, helm)
                        .map_err(|e| format!("cannot load requirements.yaml: {e}"))?;
                    if is_v1 {
                        others.insert(path, bytes);
                    }
                }
                "requirements.lock" => {
                    metadata::lock(&bytes, helm).map_err(|e| format!("cannot load requirements.lock: {e}"))?;
                    if is_v1 {
                        others.insert(path, bytes);
                    }
                }
                _ if path.starts_with("templates/") => templates.push((path, bytes)),
                _ if path.starts_with("charts/") => {
                    let rest = &path["charts/".len()..];
                    if rest.ends_with(".prov") {
                        others.insert(path, bytes);
                        continue;
                    }
                    let (name, inner) = rest.split_once('/').unwrap_or((rest, ""));
                    if !name.starts_with(['_', '.']) {
                        below.entry(name.to_owned()).or_default().insert(inner.to_owned(), bytes);
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
        self.templates = Rc::new(templates);
        self.crds = Rc::new(crds);
        self.files = Rc::new(others);
        Ok(below)
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

fn without_bom(bytes: Vec<u8>) -> Vec<u8> {
    bytes.strip_prefix(b"\xef\xbb\xbf").map(<[u8]>::to_vec).unwrap_or(bytes)
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
