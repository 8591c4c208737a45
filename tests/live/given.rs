//! What no rule foretells, taken from the recording: whether the API server and the hooks accept what is applied, and what
//! becomes of sources.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use helm_render_predictor::cluster::object::{Object, ObjectKey};
use helm_render_predictor::cluster::snapshot::{Facts, Snapshot};
use helm_render_predictor::cluster::storage::{self, StoredRelease};
use helm_render_predictor::flux::settings::Settings;
use helm_render_predictor::flux::{Action, Drift, HelmRelease, Unloadable};
use helm_render_predictor::plan::settle::{Fate, Verdict, woken_by_source};
use helm_render_predictor::report::contract::ReleaseRef;
use serde_json::Value as Json;

use crate::tally::TALLY;
use crate::write::{helm_release, releases};

/// The fate of what the controller does in one step of an episode.
pub struct Recorded<'a> {
    /// `EPISODE step N`
    pub place: String,
    pub step: &'a Json,
    pub after: &'a Snapshot,
    /// Revisions that were being written when the step began.
    pub begun: BTreeMap<ReleaseRef, StoredRelease>,
    /// Whether what runs now began before the events of the step.
    pub early: bool,
    /// Whether the controller is stopped in the step.
    pub stopped: bool,
    /// How often the chart of a release could not be loaded.
    pub unloaded: BTreeMap<String, usize>,
}

impl Recorded<'_> {
    /// Notes a fact that no rule can know.
    pub fn given(&self, kind: &'static str, what: String) {
        TALLY.given(kind, format!("{}: {what}", self.place));
    }

    fn recorded_verdict(&self, hr: &HelmRelease, action: &Action, version: i64) -> Verdict {
        let secret = format!("sh.helm.release.v1.{}.v{version}", hr.release_name());
        let outcome = &self.step["outcome"];
        let entries = outcome["stored_releases_written"].as_array();
        if let Some(entry) = entries.into_iter().flatten().find(|e| e["secret"] == secret.as_str()) {
            let description = entry["description"].as_str().unwrap_or_default();
            let removed = matches!(entry["status"].as_str(), Some("uninstalled" | "uninstalling"));
            let failed = entry["status"] == "failed" || description.contains("\" failed: ");
            if !removed {
                return if failed { Verdict::Fails(error_of(description).to_owned()) } else { Verdict::Succeeds };
            }
        }
        let now = self.after.objects().find(|o| storage::is_storage(o) && o.key.name == secret).cloned();
        let stored = now.and_then(|object| storage::decode(&object).ok()).filter(|r| r.status == "failed");
        if let Some(stored) = stored {
            let description = stored.json.pointer("/info/description").and_then(Json::as_str).unwrap_or_default();
            return Verdict::Fails(error_of(description).to_owned());
        }
        // Not there any more, or never stored: the events tell.
        let has = |reason: &str| self.event(&hr.name, reason).is_some();
        let failed = if *action == Action::Install { "InstallFailed" } else { "UpgradeFailed" };
        match (has(failed), has("UninstallSucceeded")) {
            (true, true) => Verdict::Fails(self.error(&hr.name, failed).unwrap_or_default()),
            (true, false) => Verdict::Refused(self.error(&hr.name, failed).unwrap_or_default()),
            _ => Verdict::Succeeds,
        }
    }

    fn event(&self, release: &str, reason: &str) -> Option<&Json> {
        let object = format!("HelmRelease/{release}");
        let mut events = self.step["outcome"]["events"].as_array().into_iter().flatten();
        events.find(|e| e["object"] == object.as_str() && e["reason"] == reason)
    }

    /// The error that an event tells, behind the names of release and chart.
    fn error(&self, release: &str, reason: &str) -> Option<String> {
        let message = self.event(release, reason)?["message"].as_str()?;
        let behind = message.split_once(" with chart ")?.1;
        let (_, error) = behind.split_once(": ")?;
        // Older controllers append the log of Helm.
        Some(error.split("\n\nLast Helm logs:").next().unwrap_or(error).to_owned())
    }
}

/// The error behind Helm's own words in the description of a revision.
fn error_of(description: &str) -> &str {
    description.split_once("\" failed: ").map_or(description, |(_, error)| error)
}

impl Fate for Recorded<'_> {
    fn verdict(&mut self, hr: &HelmRelease, action: &Action, version: i64) -> Verdict {
        if self.stopped {
            return Verdict::Fails("context canceled".into());
        }
        let verdict = self.recorded_verdict(hr, action, version);
        let release = &hr.name;
        match verdict {
            Verdict::Succeeds => {}
            Verdict::Fails(_) => self.given(
                "a revision is refused by the API server or by a hook",
                format!("revision {version} of {release} fails"),
            ),
            Verdict::Refused(_) => self.given(
                "a revision is refused before it is stored",
                format!("revision {version} of {release} is refused"),
            ),
        }
        verdict
    }

    fn begun(&mut self, hr: &HelmRelease, version: i64) -> Option<StoredRelease> {
        let release = ReleaseRef { namespace: hr.namespace.clone(), name: hr.name.clone() };
        let begun = self.begun.get(&release).filter(|r| r.version == version)?.clone();
        self.given("a wait ends", format!("the wait of revision {version} of {} ends", hr.name));
        Some(begun)
    }

    fn fails(&mut self, hr: &HelmRelease, version: i64, hook: &str) -> Option<String> {
        let history = self.step["outcome"]["helmreleases"][&hr.name]["history"].as_array();
        let entry = history.into_iter().flatten().find(|h| h["version"] == version);
        let fails = entry.is_some_and(|e| e["testHooks"][hook]["phase"] == "Failed");
        fails.then(|| {
            self.given("a test fails", format!("test {hook} of revision {version} of {} fails", hr.name));
            self.error(&hr.name, "TestFailed").unwrap_or_else(|| "a test failed".to_owned())
        })
    }

    fn unloadable(&mut self, hr: &HelmRelease) -> Option<Unloadable> {
        let moves = self.step["outcome"]["moves"].as_array().into_iter().flatten();
        let mine = moves.filter(|m| m["release"] == hr.name.as_str()).map(|m| &m["conditions"]["Ready"]);
        let told: Vec<&Json> = mine.filter(|ready| ready["reason"].is_string()).collect();
        let message = |ready: &Json| ready["message"].as_str().unwrap_or_default().to_owned();
        let failed = |ready: &Json| {
            let load =
                message(ready).starts_with("Could not load chart") || message(ready).contains("artifact not found");
            ready["reason"] == "ArtifactFailed" && load
        };
        let last = told.iter().rfind(|ready| failed(ready))?;
        // Where the step goes on, the chart was loaded in the end.
        let count = self.unloaded.entry(hr.name.clone()).or_default();
        if !told.last().is_some_and(|ready| failed(ready)) && *count > 0 || self.early {
            return None;
        }
        *count += 1;
        let why = message(last).strip_prefix("Could not load chart: ").map(str::to_owned);
        self.given("an archive cannot be loaded", format!("the chart of {} cannot be loaded", hr.name));
        Some(why.map_or(Unloadable::Gone, Unloadable::Broken))
    }

    fn refuses_removal(&mut self, hr: &HelmRelease) -> Option<String> {
        let refused = self.event(&hr.name, "UninstallFailed")?["message"].as_str().unwrap_or_default().to_owned();
        self.given("a removal is refused", format!("the removal of {} is refused", hr.name));
        Some(refused)
    }

    fn drift(&mut self, hr: &HelmRelease) -> Option<Drift> {
        let conditions = &self.step["outcome"]["helmreleases"][&hr.name]["conditions"];
        let message = conditions["Ready"]["message"].as_str().unwrap_or_default();
        let refused = !self.early && message.contains("unable to determine cluster state");
        refused.then(|| {
            self.given("a dry run is refused", format!("the API server refuses the dry run of {}", hr.name));
            Drift::Refused("the API server refuses the dry run".into())
        })
    }

    fn packaged(&mut self, chart: &ObjectKey) -> Option<Rc<Object>> {
        let recorded = self.after.get(chart).present()?;
        // What is packaged follows from the charts that are published; what goes wrong does not.
        if ready(&recorded) {
            return None;
        }
        self.given("a source changes", format!("HelmChart {} does not get ready", chart.name));
        Some(recorded)
    }
}

fn ready(object: &Object) -> bool {
    let conditions = object.json.pointer("/status/conditions").and_then(Json::as_array);
    conditions.into_iter().flatten().any(|c| c["type"] == "Ready" && c["status"] == "True")
}

/// Where a step touches sources, their state afterwards is given.
pub fn given_sources(
    cluster: &mut Snapshot,
    recorded: &Recorded<'_>,
    settings: &Settings,
    triggered: &mut BTreeSet<ReleaseRef>,
) {
    let (step, after) = (recorded.step, recorded.after);
    let source = |o: &Object| o.key.group == "source.toolkit.fluxcd.io";
    let now: Vec<Rc<Object>> = after.objects().filter(|o| source(o)).cloned().collect();
    let events = step["event"].as_array();
    let touched = events.into_iter().flatten().any(|e| {
        let api = |kind: &str| e[kind]["apiVersion"].as_str().is_some_and(|a| a.starts_with("source.toolkit"));
        ["publish", "other", "git commit", "push", "storage"].iter().any(|k| e.get(*k).is_some())
            || api("apply")
            || api("patch")
    });
    for object in now {
        let old = cluster.get(&object.key).present();
        let given = old.as_ref().map_or(object.key.kind != "HelmChart", |old| {
            let generation = |o: &Object| o.json.pointer("/metadata/generation").cloned();
            touched && (object.key.kind != "HelmChart" || generation(old) == generation(&object))
        });
        if given {
            let revision = |o: &Object| o.text("/status/artifact/revision").to_owned();
            let moved =
                old.as_ref().is_none_or(|old| revision(old) != revision(&object) || (!ready(old) && ready(&object)));
            cluster.apply([(object.key.clone(), Some(object.clone()))]);
            let same =
                old.as_ref().is_some_and(|old| revision(old) == revision(&object) && ready(old) == ready(&object));
            if !same {
                let state = if ready(&object) { revision(&object) } else { "not ready".to_owned() };
                recorded.given("a source changes", format!("{} {} is {state}", object.key.kind, object.key.name));
            }
            if moved {
                triggered.extend(woken_by_source(cluster, settings, &object.key));
            }
        }
    }
}

/// A number spelled anew makes a new generation although the objects are equal (F-112): the API server decides.
pub fn spelled_anew(cluster: &mut Snapshot, recorded: &Recorded<'_>, triggered: &mut BTreeSet<ReleaseRef>) {
    let step = recorded.step;
    for release in releases(cluster) {
        let Some(object) = cluster.get(&helm_release(&release)).present() else { continue };
        let generation = object.json.pointer("/metadata/generation").and_then(Json::as_i64).unwrap_or(0);
        let patched = step["event"].as_array().into_iter().flatten().any(|e| {
            e["patch"]["metadata"]["name"] == release.name.as_str() && e["patch"]["patch"]["spec"].is_object()
        });
        if patched && step["outcome"]["helmreleases"][&release.name]["generation"].as_i64() == Some(generation + 1) {
            let mut json = (*object.json).clone();
            json["metadata"]["generation"] = (generation + 1).into();
            recorded.given("a generation is counted", format!("{} gets generation {}", release.name, generation + 1));
            cluster.apply([(object.key.clone(), Object::new(json, Default::default()).map(Rc::new))]);
            triggered.insert(release);
        }
    }
}

/// The spec of a generation as the API server holds it: the text of an episode keeps no next-line character of a block.
pub fn as_stored(cluster: &mut Snapshot, after: &Snapshot) {
    for release in releases(cluster) {
        let key = helm_release(&release);
        let (Some(mine), Some(stored)) = (cluster.get(&key).present(), after.get(&key).present()) else { continue };
        let generation = |object: &Object| object.json.pointer("/metadata/generation").and_then(Json::as_i64);
        if generation(&mine) == generation(&stored) && mine.json["spec"] != stored.json["spec"] {
            let mut json = (*mine.json).clone();
            json["spec"] = stored.json["spec"].clone();
            cluster.apply([(key, Object::new(json, Default::default()).map(Rc::new))]);
        }
    }
}
