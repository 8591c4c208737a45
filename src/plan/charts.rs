//! Charts given beside the snapshot: for releases whose stored chart is not whole.

use std::collections::BTreeMap;

use crate::base::diag::Diagnostic;
use crate::base::version::HelmVersion;
use crate::chart::deps::in_range;
use crate::chart::{Chart, Files};
use crate::cluster::snapshot::ArtifactChart;
use crate::flux::digest::Algorithm;

/// Charts by name and version.
#[derive(Default)]
pub struct Charts {
    by_name: BTreeMap<(String, String), Chart>,
    /// By digest of the archive, as sources report it.
    by_digest: BTreeMap<String, Chart>,
}

impl Charts {
    /// Reads chart folders and archives out of a heap of files: a chart is where a Chart.yaml lies that is not inside
    /// another chart. They are read as that Helm reads them.
    pub fn read(files: &[(String, Vec<u8>)], helm: HelmVersion) -> (Charts, Vec<Diagnostic>) {
        let mut charts = Charts::default();
        let mut problems = Vec::new();
        let roots = roots(files);
        let mut folders: BTreeMap<&str, Files> = BTreeMap::new();
        for (path, bytes) in files {
            if let Some(root) = roots.iter().find(|root| path.starts_with(**root)) {
                folders.entry(root).or_default().insert(path[root.len()..].to_owned(), bytes.clone());
            } else if path.ends_with(".tgz") {
                let chart = Chart::from_archive_as(bytes, helm);
                if let Ok(chart) = &chart {
                    charts.by_digest.insert(Algorithm::Sha256.digest(bytes), chart.clone());
                }
                charts.add(path, chart, &mut problems);
            }
        }
        for (root, files) in folders {
            charts.add(root.trim_end_matches('/'), Chart::from_folder_as(files, helm), &mut problems);
        }
        (charts, problems)
    }

    fn add(&mut self, path: &str, chart: Result<Chart, String>, problems: &mut Vec<Diagnostic>) {
        match chart {
            Ok(chart) => {
                self.by_name.insert((chart.name().to_owned(), chart.version().to_owned()), chart);
            }
            Err(error) => {
                problems.push(
                    Diagnostic::error(error).at(path, None).remedy("give a chart folder or archive that Helm can load"),
                );
            }
        }
    }

    /// The chart whose archive has that digest (`sha256:…`): what a source says it holds.
    pub fn archive(&self, digest: &str) -> Option<&Chart> {
        self.by_digest.get(digest)
    }

    /// What the archives hold, by digest.
    pub fn artifacts(&self) -> impl Iterator<Item = (String, ArtifactChart)> {
        self.by_digest.iter().map(|(digest, chart)| {
            let (name, version) = (chart.name().to_owned(), chart.version().to_owned());
            (digest.clone(), ArtifactChart { name, version })
        })
    }

    /// Says that the only chart of `alone` is what an archive with that digest holds.
    pub fn add_archive(&mut self, digest: String, alone: &Charts) {
        if let Some(chart) = alone.by_name.values().next() {
            self.by_digest.insert(digest, chart.clone());
        }
    }

    /// The chart of that name with the highest version in a range.
    pub fn newest(&self, name: &str, range: &str) -> Option<&Chart> {
        let helm = HelmVersion::cli(4, 2, 2);
        let parsed = |chart: &Chart| crate::funcs::semver::Version::parse(chart.version(), helm).ok();
        let all =
            self.by_name.iter().filter(|((n, v), _)| n == name && in_range(range, v, helm)).map(|(_, chart)| chart);
        all.max_by(|a, b| match (parsed(a), parsed(b)) {
            (Some(a), Some(b)) => a.compare(&b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        })
    }

    /// The chart of that name and version; build metadata that Flux adds to a version is left out of account.
    pub fn get(&self, name: &str, version: &str) -> Option<&Chart> {
        let exact = self.by_name.get(&(name.to_owned(), version.to_owned()));
        exact.or_else(|| {
            let plain = version.split('+').next()?;
            self.by_name.get(&(name.to_owned(), plain.to_owned()))
        })
    }
}

/// Folders that hold a Chart.yaml and lie in no other such folder, with a slash at the end.
fn roots(files: &[(String, Vec<u8>)]) -> Vec<&str> {
    let mut all: Vec<&str> = files
        .iter()
        .filter_map(|(path, _)| path.strip_suffix("Chart.yaml"))
        .filter(|root| root.is_empty() || root.ends_with('/'))
        .collect();
    all.sort_unstable();
    let mut kept: Vec<&str> = Vec::new();
    for root in all {
        if !kept.iter().any(|outer| root.starts_with(outer)) {
            kept.push(root);
        }
    }
    kept
}
