//! Pages of small cases with what the real Helms printed for them: below `fixtures/conformance` (or below
//! `CONFORMANCE_CASES`), one test per case and version, named `conformance/page/case/v4.2`.
//!
//! Standard output must be the same byte for byte; a failure must have Helm's error text. `fixtures/exemptions.toml`
//! lists known differences: an exempted test must fail.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use helm_render_predictor::api::{RenderArgs, template};
use helm_render_predictor::base::version::HelmVersion;
use libtest_mimic::{Arguments, Trial};
use support::exemptions::Exemptions;
use support::helm::{DEFAULT_KUBE_VERSION, core, core_group, difference, flags, profile, same_error};
use support::markdown::{Block, read};

/// Stands for the folder that has the chart and the values files.
const FOLDER: &str = "@DIR@";

const CHART: &str = "apiVersion: v2\nname: demo\nversion: 1.2.3\nappVersion: \"4.5\"\n";

fn main() {
    let root = support::folder("CONFORMANCE_CASES", "fixtures/conformance");
    let mut exemptions = Exemptions::load(|pattern| pattern.starts_with("conformance/"));
    let arguments = Arguments::from_args();
    let mut files = Vec::new();
    support::all_files(&root, "", &mut files);
    let mut trials = Vec::new();
    for (path, bytes) in files.iter().filter(|(path, _)| Path::new(path).file_name().is_some_and(|n| n != "README.md"))
    {
        let Some(page) = path.strip_suffix(".md") else { continue };
        let text = std::str::from_utf8(bytes).unwrap_or_else(|e| panic!("{path}: {e}"));
        let mut names = BTreeMap::new();
        let content = read(text).unwrap_or_else(|e| panic!("{path}: {e}"));
        for (name, blocks) in content.cases {
            *names.entry(name.clone()).or_insert(0) += 1;
            let case = Arc::new(Case { blocks: content.common.iter().cloned().chain(blocks).collect() });
            for version in &content.versions {
                let (line, _) =
                    version.rsplit_once('.').unwrap_or_else(|| panic!("{path}: no exact version: {version}"));
                let (case, version, label) = (case.clone(), version.clone(), line.to_owned());
                let name = format!("conformance/{page}/{name}/v{line}");
                trials.push(exemptions.trial(name, move || case.check(&version, &label)));
            }
        }
        let twice: Vec<String> = names.into_iter().filter(|(_, n)| *n > 1).map(|(name, _)| name).collect();
        if !twice.is_empty() || content.versions.is_empty() {
            panic!("{path}: a page has `Recorded with Helm …` and names each case once; twice: {twice:?}");
        }
    }
    if trials.is_empty() {
        trials.push(Trial::test("the folder has cases", || Err("no page has a case".into())));
    }
    if std::env::var_os("CONFORMANCE_CASES").is_none() {
        trials.extend(exemptions.unused());
    }
    libtest_mimic::run(&arguments, trials).exit();
}

struct Case {
    blocks: Vec<Block>,
}

impl Case {
    fn check(&self, version: &str, label: &str) -> Result<(), String> {
        let helm: HelmVersion = version.parse().map_err(|e| format!("{e}"))?;
        let wanted = |role: &str| {
            let applies =
                |b: &&Block| b.role == role && (b.arguments.is_empty() || b.arguments.iter().any(|v| v == label));
            self.blocks.iter().find(applies).map(|block| String::from_utf8_lossy(&block.content).into_owned())
        };
        let header = "---\n# Source: demo/templates/t.yaml\n";
        let output = wanted("stdout").or_else(|| wanted("output").map(|text| format!("{header}{text}")));
        let (got, message) = match template(&self.args(), helm) {
            Ok(out) => (out, None),
            Err(e) => (e.output, Some(core(&format!("Error: {}", e.message)))),
        };
        match (wanted("error"), message) {
            (None, None) if output.is_none() => return Err("nothing is recorded for this version".into()),
            (Some(error), None) => return Err(format!("this renders; Helm fails: {error}")),
            (None, Some(mine)) => return Err(format!("Helm renders; this fails: {mine}")),
            (Some(error), Some(mine)) => same_error(&[error.trim_end_matches('\n').to_owned()], &mine)?,
            (None, None) => {}
        }
        let (output, got) = (output.unwrap_or_default(), String::from_utf8_lossy(&got));
        if output == got { Ok(()) } else { Err(difference(&output, &got)) }
    }

    fn args(&self) -> RenderArgs {
        let mut args = RenderArgs {
            name: "rel".to_owned(),
            namespace: "demo".to_owned(),
            chart_path: format!("{FOLDER}/demo"),
            kube_version: Some(DEFAULT_KUBE_VERSION.to_owned()),
            client: true,
            ..RenderArgs::default()
        };
        let mut chart = BTreeMap::from([("Chart.yaml".to_owned(), CHART.as_bytes().to_vec())]);
        let mut beside = BTreeMap::new();
        let mut lines = String::new();
        for block in &self.blocks {
            let path = |default: &str| block.arguments.first().map_or(default, String::as_str).to_owned();
            let content = block.content.clone();
            match block.role.as_str() {
                "template" => drop(chart.insert(path("templates/t.yaml"), content)),
                "values" => drop(chart.insert("values.yaml".to_owned(), content)),
                "file" => drop(chart.insert(path("values.yaml"), content)),
                "override" => args.values.push((format!("{FOLDER}/{}", path("user.yaml")), Ok(content))),
                "beside" => drop(beside.insert(format!("{FOLDER}/{}", path("file")), content)),
                "snapshot" => {
                    args.client = false;
                    args.snapshot.push(("snapshot.yaml".to_owned(), content));
                }
                "flags" => lines = String::from_utf8_lossy(&content).into_owned(),
                _ => {}
            }
        }
        args.chart = Some(chart.into_iter().collect());
        let words = lines.lines().flat_map(|line| match line.split_once(' ') {
            Some((flag, value)) => vec![flag.to_owned(), value.to_owned()],
            None => vec![line.to_owned()],
        });
        flags(&mut args, words, |path| beside.get(path).cloned());
        args.snapshot.push(profile(args.kube_version.as_deref().unwrap_or(DEFAULT_KUBE_VERSION)));
        args.snapshot.push(core_group());
        args
    }
}
