//! Small charts with what the real Helms printed for them: below `fixtures/micro` (or below `MICRO_CASES`), one test per
//! case and version, named `topic/id/v4.2`.
//!
//! Standard output must be the same byte for byte, but for lines that Helm itself prints differently each time; a
//! failure must have Helm's error text. `fixtures/exemptions.toml` lists known differences: an exempted test must fail.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use helm_render_predictor::api::{RenderArgs, template};
use helm_render_predictor::base::version::HelmVersion;
use libtest_mimic::Arguments;
use serde_json::Value as Json;
use support::exemptions::{Exemptions, matches};
use support::helm::{DEFAULT_KUBE_VERSION, core, core_group, difference, flags, profile, same_error};

fn main() {
    let root = support::folder("MICRO_CASES", "fixtures/micro");
    let mut exemptions = Exemptions::load(|pattern| !pattern.starts_with("conformance/"));
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for topic in support::folders(&root) {
        let cases = json(&topic.join("cases.json"));
        let index = json(&topic.join("expected/index.json"));
        for case in cases.as_array().into_iter().flatten() {
            let id = text(&case["id"]).to_owned();
            for (label, entry) in index[&id].as_object().into_iter().flatten() {
                let files = entry["same_as"].as_str().unwrap_or(label).to_owned();
                let name = format!("{}/{id}/{label}", topic.file_name().unwrap().to_string_lossy());
                let run = Case {
                    folder: topic.to_string_lossy().into_owned(),
                    json: case.clone(),
                    entry: index[&id][&files].clone(),
                    expected: format!("{}/expected/{id}.{files}", topic.display()),
                    label: label.clone(),
                };
                trials.push(exemptions.trial(name, move || run.compare()));
            }
        }
    }
    if std::env::var_os("MICRO_CASES").is_none() {
        trials.extend(exemptions.unused());
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn json(path: &Path) -> Json {
    serde_json::from_slice(&fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))).unwrap()
}

fn text(json: &Json) -> &str {
    json.as_str().unwrap_or_default()
}

fn texts(json: &Json) -> Vec<String> {
    json.as_array().into_iter().flatten().map(|t| text(t).to_owned()).collect()
}

struct Case {
    folder: String,
    json: Json,
    entry: Json,
    expected: String,
    label: String,
}

impl Case {
    fn compare(&self) -> Result<(), String> {
        let helm: HelmVersion = self.label.parse().map_err(|e| format!("{e}"))?;
        let result = template(&self.args(), helm);
        let failed = self.entry["rc"] != 0;
        let error = |e: &str| {
            core(&if e.starts_with("panic: ") { e.to_owned() } else { format!("Error: {e}") })
                .replace(&self.folder, "@CASEDIR@")
        };
        if let Some(other) = self.entry["volatile_rc"].as_i64() {
            let _ = other;
            return Ok(());
        }
        match result {
            Err(e) if !failed => Err(format!("Helm renders; this fails: {}", error(&e.message))),
            Ok(_) if failed => Err(format!("this renders; Helm fails: {}", self.errors().join(" | "))),
            Ok(out) => self.compare_output(&out),
            Err(e) => {
                same_error(&self.errors(), &error(&e.message))?;
                self.compare_output(&e.output)
            }
        }
    }

    fn errors(&self) -> Vec<String> {
        let stderr = fs::read(format!("{}.err", self.expected)).unwrap_or_default();
        let mut all = vec![core(&String::from_utf8_lossy(&stderr))];
        all.extend(self.entry["error_b"].as_str().map(str::to_owned));
        all
    }

    fn compare_output(&self, got: &[u8]) -> Result<(), String> {
        let wanted = fs::read(format!("{}.out", self.expected)).unwrap_or_default();
        let (wanted, got) = (String::from_utf8_lossy(&wanted), String::from_utf8_lossy(got));
        if masked_equal(&wanted, &got, &self.entry["volatile"]) {
            return Ok(());
        }
        Err(difference(&wanted, &got))
    }

    fn args(&self) -> RenderArgs {
        let case = &self.json;
        let inner = |name: &str| format!("{}/{name}", self.folder);
        let read = |name: &str| fs::read(inner(name)).unwrap_or_default();
        let mut args = RenderArgs {
            name: case["release"].as_str().unwrap_or("rel").to_owned(),
            namespace: case["namespace"].as_str().unwrap_or("demo").to_owned(),
            set: texts(&case["set"]),
            set_string: texts(&case["set-string"]),
            set_json: texts(&case["set-json"]),
            is_upgrade: case["is_upgrade"] == true,
            include_crds: case["include_crds"] == true,
            client: case["client"] == true,
            validate: case["validate"] == true,
            post_renderer: case["post_renderer"].is_string(),
            ..RenderArgs::default()
        };
        let chart = case["chart"].as_str().unwrap_or("chart");
        args.chart_path = inner(chart);
        let path = Path::new(&self.folder).join(chart);
        if path.is_dir() {
            let mut files = Vec::new();
            support::all_files(&path, "", &mut files);
            args.chart = Some(files);
        } else if path.exists() {
            args.chart = Some(vec![(chart.to_owned(), read(chart))]);
        }
        let version = case["kube_version"].as_str();
        if let Some(name) = case["snapshot"].as_str() {
            args.snapshot.push((name.to_owned(), read(name)));
        }
        if version.is_some() || args.snapshot.is_empty() {
            args.snapshot.push(profile(version.unwrap_or(DEFAULT_KUBE_VERSION)));
        }
        args.snapshot.push(core_group());
        args.kube_version = Some(version.unwrap_or(DEFAULT_KUBE_VERSION).to_owned());
        if let Some(flag) = case["kube_version_flag"].as_str() {
            args.kube_version = Some(flag.to_owned());
        }
        let extra = texts(&case["extra"]).into_iter().map(|flag| flag.replace("@CASEDIR@", &self.folder));
        let values = texts(&case["values"]).into_iter().flat_map(|name| ["-f".to_owned(), inner(&name)]);
        flags(&mut args, values.chain(extra), |path| fs::read(path).ok());
        args
    }
}

/// Whether `got` is what was expected, but for what another run of Helm rendered differently.
fn masked_equal(expected: &str, got: &str, volatile: &Json) -> bool {
    let Some(marks) = volatile.as_array().filter(|marks| !marks.is_empty()) else { return expected == got };
    let (wanted, got): (Vec<&str>, Vec<&str>) = (expected.split('\n').collect(), got.split('\n').collect());
    if wanted == got {
        return true;
    }
    let at = |mark: &Json, key: &str| mark[key].as_u64().unwrap_or_default() as usize;
    if marks.iter().all(|mark| mark["re"].is_string()) {
        let by_line: BTreeMap<usize, &str> = marks.iter().map(|m| (at(m, "start"), text(&m["re"]))).collect();
        return wanted.len() == got.len()
            && wanted
                .iter()
                .zip(&got)
                .enumerate()
                .all(|(i, (x, y))| x == y || by_line.get(&i).is_some_and(|pattern| matches(pattern, y.as_bytes())));
    }
    // Blocks that may be anything: what stands between them has to come in that order.
    let mut stable = Vec::new();
    let mut position = 0;
    for mark in marks {
        stable.push(&wanted[position..at(mark, "start")]);
        position = at(mark, "end");
    }
    let last = &wanted[position..];
    let Some(rest) = stable.first().and_then(|first| got.strip_prefix(*first)) else { return false };
    let Some(mut rest) = rest.strip_suffix(last) else { return false };
    for block in stable.iter().skip(1).filter(|b| !b.is_empty()) {
        match rest.windows(block.len()).position(|w| w == *block) {
            Some(found) => rest = &rest[found + block.len()..],
            None => return false,
        }
    }
    true
}
