//! Recorded episodes of a real helm-controller, step by step: below `fixtures/live` (or below `LIVE_EPISODES`), one test
//! per episode.
//!
//! For each step the snapshot before and the event are the inputs; the predicted revisions (which release, which action,
//! which number) and, for each, the objects of the stored manifest in order, must be what was recorded. A step in which
//! the controller wrote nothing must be predicted to write nothing. What no rule can know is given in `GIVEN`.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use helm_render_predictor::cluster::import::import;
use helm_render_predictor::cluster::object::{Object, ObjectKey};
use helm_render_predictor::cluster::snapshot::{Facts, Snapshot};
use helm_render_predictor::cluster::storage;
use helm_render_predictor::codec::yaml::{Kind, Node, Style};
use helm_render_predictor::diff;
use helm_render_predictor::flux::cycle::{Cycle, Requeue};
use helm_render_predictor::flux::digest::release_matches;
use helm_render_predictor::flux::postrender::parse_manifest;
use helm_render_predictor::flux::settings::Settings;
use helm_render_predictor::flux::{Action, Drift, HelmRelease, Outcome};
use helm_render_predictor::plan::charts::Charts;
use helm_render_predictor::plan::settle::{Fate, Settled, Verdict, Written, retried, settle, woken, woken_by_source};
use helm_render_predictor::report::contract::ReleaseRef;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value as Json;

fn main() {
    let root = support::folder("LIVE_EPISODES", "fixtures/live");
    let discovery = std::fs::read(root.join("discovery.json")).ok();
    let mut trials = Vec::new();
    for family in support::folders(&root) {
        for episode in support::folders(&family).into_iter().filter(|e| e.join("episode.yaml").exists()) {
            let name = episode.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
            let discovery = discovery.clone();
            let (folder, known) = (episode.clone(), discovery.clone());
            trials.push(Trial::test(name.clone(), move || Episode::read(&episode, discovery)?.check(What::Revisions)));
            if std::env::var_os("LIVE_STATUS").is_some() {
                let status = move || Episode::read(&folder, known)?.check(What::Status);
                trials.push(Trial::test(format!("{name}:status"), status));
            }
        }
    }
    let conclusion = libtest_mimic::run(&Arguments::from_args(), trials);
    let skipped = SKIPPED.lock().unwrap();
    println!("{} release digests computed again", DIGESTS.load(Ordering::Relaxed));
    println!("{} steps not judged", skipped.len());
    for step in skipped.iter() {
        println!("    {step}");
    }
    conclusion.exit();
}

/// An episode as its writer meant it: to PyYAML, `y`, `n`, `1e3` and `0o10` without quotes are texts, and it writes a
/// next-line character (U+0085) into a block text as it is, where it reads as a line break.
fn yaml(bytes: &[u8]) -> Result<Json, Failed> {
    let text = String::from_utf8_lossy(bytes);
    // Line and paragraph separators break lines too, but are kept by readers.
    let bytes = text.replace('\u{85}', NEXT_LINE).into_bytes();
    let document = helm_render_predictor::codec::yaml::parse_first(&bytes)?.ok_or("empty file")?;
    let mut json = meant(document.root())?;
    restore(&mut json);
    Ok(json)
}

/// Stands for a next-line character.
const NEXT_LINE: &str = "\u{2028}\u{2029}\u{2029}\u{2028}";

fn restore(json: &mut Json) {
    match json {
        Json::String(text) => *text = text.replace(NEXT_LINE, "\u{85}"),
        Json::Array(items) => items.iter_mut().for_each(restore),
        Json::Object(map) => {
            let entries = std::mem::take(map).into_iter();
            let mended = entries.map(|(key, mut value)| {
                restore(&mut value);
                (key.replace(NEXT_LINE, "\u{85}"), value)
            });
            *map = mended.collect();
        }
        _ => {}
    }
}

fn meant(node: Node<'_>) -> Result<Json, Failed> {
    match node.kind() {
        Kind::Map => {
            let pairs = node.entries().map(|(k, v)| Ok((key(k)?, meant(v)?))).collect::<Result<Vec<_>, Failed>>()?;
            Ok(Json::Object(pairs.into_iter().collect()))
        }
        Kind::Seq => Ok(Json::Array(node.items().map(meant).collect::<Result<_, _>>()?)),
        Kind::Scalar(text, Style::Plain) if is_text(text) => Ok(text.into()),
        Kind::Alias => meant(node.target()),
        Kind::Scalar(..) => Ok(helm_render_predictor::codec::yaml::to_json(node)?),
    }
}

fn key(node: Node<'_>) -> Result<String, Failed> {
    match node.kind() {
        Kind::Scalar(text, Style::Plain) if is_text(text) => Ok(text.to_owned()),
        _ => Ok(helm_render_predictor::codec::yaml::key_text(node)?),
    }
}

/// Whether PyYAML wrote a text without quotes that others read as a number or a boolean.
fn is_text(plain: &str) -> bool {
    let digits = plain.trim_start_matches(['+', '-']);
    let all = |text: &str, allowed: &str| !text.is_empty() && text.chars().all(|c| allowed.contains(c));
    let decimal = all(digits, "0123456789_") && (digits == "0" || !digits.starts_with(['0', '_']));
    let based = digits.strip_prefix("0x").is_some_and(|d| d.bytes().all(|b| b.is_ascii_hexdigit() || b == b'_'))
        || digits.strip_prefix("0b").is_some_and(|d| all(d, "01_"))
        || digits.strip_prefix('0').is_some_and(|d| all(d, "01234567_"));
    let (mantissa, exponent) = digits.split_once(['e', 'E']).map_or((digits, None), |(m, e)| (m, Some(e)));
    let signed = exponent.is_none_or(|e| e.starts_with(['+', '-']) && all(&e[1..], "0123456789"));
    let float = mantissa.contains('.') && all(mantissa, "0123456789_.") && signed;
    let numeric = digits.starts_with(|c: char| c.is_ascii_digit());
    matches!(plain, "y" | "Y" | "n" | "N") || numeric && !(decimal || based || float)
}

struct Episode {
    folder: PathBuf,
    json: Json,
    discovery: Option<Vec<u8>>,
}

impl Episode {
    fn read(folder: &Path, discovery: Option<Vec<u8>>) -> Result<Episode, Failed> {
        let json = yaml(&std::fs::read(folder.join("episode.yaml"))?)?;
        Ok(Episode { folder: folder.to_owned(), json, discovery })
    }

    /// Whether somebody else than the controller wrote to Helm's storage in this step or before.
    fn edits_storage(&self, step: u64) -> bool {
        let steps = self.json["steps"].as_array();
        let earlier = steps.into_iter().flatten().filter(|s| s["step"].as_u64().is_some_and(|n| n <= step));
        earlier.flat_map(|s| s["event"].as_array().into_iter().flatten()).any(|event| {
            let by_hand = event.get("command").is_some();
            let stops = event["other"].as_str().is_some_and(|o| o.contains("stopped"));
            let mut bodies = event.as_object().into_iter().flat_map(|e| e.values());
            by_hand
                || stops
                || bodies.any(|b| {
                    let name = b["metadata"]["name"].as_str().unwrap_or_default();
                    name.starts_with("sh.helm.release") || b["patch"]["status"].is_object()
                })
        })
    }

    fn namespaces(&self, snapshot: &Snapshot) -> BTreeSet<String> {
        let mut all: BTreeSet<String> = snapshot.objects().map(|o| o.key.namespace.clone()).collect();
        all.extend(self.json["namespace"].as_str().map(str::to_owned));
        let steps = self.json["steps"].as_array();
        for event in steps.into_iter().flatten().flat_map(|s| s["event"].as_array().into_iter().flatten()) {
            for body in event.as_object().into_iter().flat_map(|e| e.values()) {
                for pointer in ["/metadata/namespace", "/spec/targetNamespace", "/spec/storageNamespace"] {
                    all.extend(body.pointer(pointer).and_then(Json::as_str).map(str::to_owned));
                }
                for pointer in ["/patch/spec/targetNamespace", "/patch/spec/storageNamespace"] {
                    all.extend(body.pointer(pointer).and_then(Json::as_str).map(str::to_owned));
                }
            }
        }
        all.remove("");
        all
    }

    /// What the steps before applied, object by object.
    fn applied_before(&self, step: u64) -> BTreeMap<ObjectKey, Json> {
        let steps = self.json["steps"].as_array();
        let earlier = steps.into_iter().flatten().filter(|s| s["step"].as_u64().is_some_and(|n| n < step));
        let events = earlier.flat_map(|s| s["event"].as_array().into_iter().flatten());
        let bodies = events.filter_map(|e| e.get("apply"));
        bodies.filter_map(|b| Some((Object::new(b.clone(), Default::default())?.key, b.clone()))).collect()
    }

    /// The controller's settings at a step: a restart may have changed its flags.
    fn settings_at(&self, step: u64) -> Result<Settings, Failed> {
        let mut flags: Vec<&str> =
            self.json["controller_flags"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        let steps = self.json["steps"].as_array();
        let events = steps.into_iter().flatten().flat_map(|s| s["event"].as_array().into_iter().flatten());
        if events.filter_map(|e| e["other"].as_str()).any(|o| o.starts_with("helm-controller started with")) {
            // The flags of the episode are those of the restart.
            flags.clear();
        }
        let earlier = steps.into_iter().flatten().filter(|s| s["step"].as_u64().is_some_and(|n| n <= step));
        for event in earlier.flat_map(|s| s["event"].as_array().into_iter().flatten()) {
            if let Some(started) = event["other"].as_str().and_then(|o| o.strip_prefix("helm-controller started")) {
                flags = started.split_whitespace().filter(|w| w.starts_with("--")).collect();
            }
        }
        Ok(Settings::with_args(self.json["controller"].as_str().unwrap_or_default().parse()?, &flags))
    }

    /// Charts published before the end of a step: later content of a version replaces earlier one; the Git tree is the
    /// newest.
    fn charts(&self, step: u64) -> Result<Charts, Failed> {
        let helm = self.settings_at(step)?.controller.helm();
        let mut files = Vec::new();
        let mut published: Vec<(u64, String)> = Vec::new();
        for (folder, about) in self.json["charts"].as_object().into_iter().flatten() {
            let at = about["published_at_step"].as_u64().unwrap_or(0);
            if at <= step {
                published.push((at, folder.clone()));
            }
        }
        published.sort();
        let mut archives = Vec::new();
        for (order, (_, name)) in published.iter().enumerate() {
            let folder = self.folder.join("charts").join(name);
            if folder.exists() {
                // The number keeps the order: of two with the same version, the later one counts.
                let packed = vec![(format!("{order:04}-{name}.tgz"), support::packed(&folder)?)];
                if let Some(digest) = self.json["charts"][name]["digest"].as_str() {
                    let (alone, _) = Charts::read(&packed, helm);
                    archives.push((format!("sha256:{}", digest.trim_start_matches("sha256:")), alone));
                }
                files.extend(packed);
            }
        }
        let mut tree: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        for commit in (0..=step).map(|s| self.folder.join("git").join(s.to_string())).filter(|t| t.exists()) {
            let mut inside = Vec::new();
            support::all_files(&commit, "", &mut inside);
            tree.extend(inside);
        }
        files.extend(tree);
        let (mut charts, problems) = Charts::read(&files, helm);
        for (digest, alone) in archives {
            charts.add_archive(digest, &alone);
        }
        match problems.first() {
            Some(problem) => Err(problem.to_string().into()),
            None => Ok(charts),
        }
    }

    /// The cluster after a step: the namespace is whole; what the episode's kinds are is told by discovery.
    fn snapshot(&self, step: u64) -> Result<Snapshot, Failed> {
        let mut files = Vec::new();
        files.extend(self.discovery.clone().map(|bytes| ("discovery.json".to_owned(), bytes)));
        for name in [format!("snapshot-{step}.yaml"), format!("discovery-{step}.json")] {
            if let Ok(bytes) = std::fs::read(self.folder.join(&name)) {
                files.push((name, bytes));
            }
        }
        if step == 0 && !self.folder.join("discovery-0.json").exists() {
            // What is served before the first step is what is served after it, as far as CRDs do not tell.
            if let Ok(bytes) = std::fs::read(self.folder.join("discovery-1.json")) {
                files.push(("discovery-1.json".into(), bytes));
            }
        }
        let (mut snapshot, problems) = import(&files);
        // Everything in the namespaces concerned; of what has no namespace, only what the episode is about.
        snapshot.coverage.namespaces = self.namespaces(&snapshot);
        match problems.first() {
            Some(problem) => Err(problem.to_string().into()),
            None => Ok(snapshot),
        }
    }

    fn check(&self, what: What) -> Result<(), Failed> {
        let mut wrong = Vec::new();
        let steps = self.json["steps"].as_array().ok_or("no steps")?;
        for step in steps {
            let number = step["step"].as_u64().ok_or("a step without number")?;
            let title = step["title"].as_str().unwrap_or_default();
            if let Some(why) = unjudged(step) {
                skipped(format!("{why}: {} step {number}", self.json["name"].as_str().unwrap_or_default()));
                continue;
            }
            let digests = same_digests(&self.snapshot(number)?, &self.settings_at(number)?);
            // Nothing binds the digests of payloads that somebody edited.
            if let (Err(problem), false) = (digests, self.edits_storage(number)) {
                wrong.push(format!("step {number} ({title}): {}", problem.message().unwrap_or_default()));
            }
            if let Err(problem) = self.step(step, number, what) {
                wrong.push(format!("step {number} ({title}): {}", problem.message().unwrap_or_default()));
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
    }

    fn step(&self, step: &Json, number: u64, what: What) -> Result<(), Failed> {
        let mut cluster = self.snapshot(number - 1)?;
        let after = self.snapshot(number)?;
        cluster.coverage.namespaces.extend(after.coverage.namespaces.clone());
        let mut triggered = BTreeSet::new();
        let mut applied = self.applied_before(number);
        let settings = self.settings_at(number)?;
        let stamps = |event: &Json| {
            let patch = &event["patch"];
            let stamp = &patch["patch"]["metadata"]["annotations"]["reconcile.fluxcd.io/requestedAt"];
            (patch["kind"] == "HelmRelease" && stamp.is_string()).then(|| patch["metadata"]["name"].clone())
        };
        let mut fate = Recorded { step, after: &after };
        let mut settled = Settled::default();
        let events = step["event"].as_array().ok_or("a step without event")?;
        let early = runs_before_event(step, &cluster);
        if !early.is_empty() {
            settled.extend(settle(&mut cluster, &self.charts(number - 1)?, &settings, &early, &mut fate));
        }
        let retrying: BTreeSet<ReleaseRef> = retried(&cluster).into_iter().collect();
        for (at, event) in events.iter().enumerate() {
            let interrupts = interrupts(&cluster, step, event);
            if interrupts {
                let mut now: BTreeSet<ReleaseRef> = std::mem::take(&mut triggered);
                now.extend(retried(&cluster));
                let now: Vec<ReleaseRef> = now.into_iter().collect();
                settled.extend(settle(&mut cluster, &self.charts(number)?, &settings, &now, &mut fate));
            }
            if patches_nothing(&cluster, event) {
                // What is patched comes from a run that the events before started.
                let now: Vec<ReleaseRef> = std::mem::take(&mut triggered).into_iter().collect();
                settled.extend(settle(&mut cluster, &self.charts(number)?, &settings, &now, &mut fate));
                if patches_nothing(&cluster, event) {
                    continue;
                }
            }
            apply_event(&mut cluster, event, &settings, &mut triggered, &mut applied)?;
            if interrupts {
                stamp_conditions(&mut cluster, event);
            }
            // Another token for the same release is not seen before the run that this one starts has ended.
            let stamp = stamps(event);
            if stamp.is_some() && events[at + 1..].iter().any(|later| stamps(later) == stamp) {
                let now: Vec<ReleaseRef> = std::mem::take(&mut triggered).into_iter().collect();
                settled.extend(settle(&mut cluster, &self.charts(number)?, &settings, &now, &mut fate));
            }
        }
        as_stored(&mut cluster, &after);
        let before = cluster.clone();
        given_sources(&mut cluster, step, &after, &settings, &mut triggered);
        triggered.extend(retried(&cluster));
        spelled_anew(&mut cluster, step, &mut triggered);
        // Time passes in a step that waits for an interval: who ran in it is told by the recording.
        let title = step["title"].as_str().unwrap_or_default();
        if ["interval", "later", "tick"].iter().any(|word| title.contains(word)) {
            triggered.extend(releases(&cluster).into_iter().filter(|r| ran(step, &r.name) != Some(0)));
        }
        let triggered: Vec<ReleaseRef> = triggered.into_iter().collect();
        settled.extend(settle(&mut cluster, &self.charts(number)?, &settings, &triggered, &mut fate));
        match what {
            What::Revisions => self.compare(step, &settled.written, &settled.runs, &cluster, &before, &after),
            What::Status => Judge { step, settled: &settled, retrying: &retrying }.judge(&cluster, &after),
        }
        .map_err(|problem| {
            let run = |(release, cycle): &(ReleaseRef, Cycle)| {
                let done: Vec<String> = cycle.done.iter().map(|d| format!("{} {:?}", d.action, d.error)).collect();
                format!("    {release}: {:?} {done:?} {:?}", cycle.decision.outcome, cycle.requeue)
            };
            let runs: Vec<String> = settled.runs.iter().map(run).collect();
            format!("{}\n{}", problem.message().unwrap_or_default(), runs.join("\n")).into()
        })
    }

    fn compare(
        &self,
        step: &Json,
        written: &[Written],
        runs: &[(ReleaseRef, Cycle)],
        cluster: &Snapshot,
        before: &Snapshot,
        after: &Snapshot,
    ) -> Result<(), Failed> {
        // Recorded: each revision that is new or made anew; older ones that were only rewritten are not.
        let made = |object: &Object| {
            let release = storage::decode(&Rc::new(object.clone())).ok()?;
            let field = |field: &str| release.json.pointer(field).cloned();
            Some([field("/info/first_deployed"), field("/info/last_deployed"), field("/manifest")])
        };
        let mut recorded: BTreeSet<String> = BTreeSet::new();
        for object in after.objects().filter(|o| storage::is_storage(o)) {
            let was = before.get(&object.key).present();
            if was.is_none_or(|was| made(&was) != made(object)) {
                recorded.insert(object.key.name.clone());
            }
        }
        // Those that were gone again at the end of the step.
        for entry in step["outcome"]["stored_releases_written"].as_array().into_iter().flatten() {
            let secret = entry["secret"].as_str().unwrap_or_default();
            let there = |cluster: &Snapshot| cluster.objects().any(|o| storage::is_storage(o) && o.key.name == secret);
            let whole = matches!(entry["status"].as_str(), Some("deployed" | "failed"));
            if !there(after) && (!there(before) || whole) {
                recorded.insert(secret.to_owned());
            }
        }
        let mut predicted = BTreeMap::new();
        // A render that fails, or a kind that is not served, writes nothing (F-172).
        for w in written.iter().filter(|w| w.error.is_none()) {
            let key = helm_release(&w.release);
            let hr = after.get(&key).present().or_else(|| before.get(&key).present());
            let name = hr.map_or(w.release.name.clone(), |o| HelmRelease::new(o.json.clone()).release_name());
            predicted.insert(format!("sh.helm.release.v1.{name}.v{}", w.version), w);
        }
        // What was written and removed again within the step leaves no trace in the snapshot.
        predicted.retain(|secret, _| {
            recorded.contains(secret) || cluster.objects().any(|o| storage::is_storage(o) && o.key.name == *secret)
        });
        // What is drawn at random has "unknown" as the right answer (F-44b, F-374).
        let mut unknown: BTreeSet<String> = BTreeSet::new();
        for (release, cycle) in runs {
            if let Outcome::Unknown { missing } = &cycle.decision.outcome
                && missing.iter().any(|m| m.contains("random"))
            {
                skipped(format!("drawn at random, unknown is right: {release}"));
                unknown.insert(release.name.clone());
            }
        }
        predicted.retain(|secret, _| !unknown.contains(helm_name(secret)));
        recorded.retain(|secret| !unknown.contains(helm_name(secret)));
        // Releases that never come to rest: how many revisions a step sees is a matter of time.
        let endless = |name: &str| {
            let of = |all: &mut dyn Iterator<Item = &String>| all.filter(|s| helm_name(s) == name).count();
            of(&mut predicted.keys()) > 3 && of(&mut recorded.iter()) > 0
        };
        let restless: BTreeSet<String> =
            recorded.iter().map(|s| helm_name(s).to_owned()).filter(|name| endless(name)).collect();
        predicted.retain(|secret, _| !restless.contains(helm_name(secret)));
        recorded.retain(|secret| !restless.contains(helm_name(secret)));
        let (want, got): (Vec<_>, Vec<_>) = (recorded.iter().collect(), predicted.keys().collect());
        if want != got {
            let errors: Vec<String> = written.iter().filter_map(|w| w.error.clone()).collect();
            return Err(format!("recorded {want:?}, predicted {got:?}; refused {errors:?}").into());
        }
        for (secret, w) in predicted {
            let object = after.objects().find(|o| o.key.kind == "Secret" && o.key.name == secret).cloned();
            // A later revision within the same step may have pushed it out.
            let Some(object) = object else { continue };
            let Ok(stored) = storage::decode(&object) else { continue };
            same_manifest(w, stored.manifest())?;
        }
        Ok(())
    }
}

/// Every digest in a history is that of the stored revision it tells of (F-121), where that is still as it was recorded.
fn same_digests(snapshot: &Snapshot, settings: &Settings) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    for object in snapshot.objects().filter(|o| o.key.kind == "HelmRelease") {
        let hr = HelmRelease::new(object.json.clone());
        let (stored, _) = storage::stored(snapshot, &hr.storage_namespace(), &hr.release_name());
        for entry in hr.history() {
            let Some(revision) = stored.iter().find(|r| r.version == entry.version) else { continue };
            let same = revision.status == entry.text("status");
            DIGESTS.fetch_add(usize::from(same), Ordering::Relaxed);
            if same && !release_matches(entry.text("digest"), revision, entry.text("ociDigest"), settings.controller) {
                wrong.push(format!("{} v{}", hr.name, entry.version));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("digests of {wrong:?} do not match").into()) }
}

/// Name of the Helm release that a storage Secret belongs to.
fn helm_name(secret: &str) -> &str {
    let name = secret.strip_prefix("sh.helm.release.v1.").unwrap_or(secret);
    name.rsplit_once(".v").map_or(name, |(name, _)| name)
}

fn helm_release(release: &ReleaseRef) -> ObjectKey {
    ObjectKey {
        group: "helm.toolkit.fluxcd.io".into(),
        kind: "HelmRelease".into(),
        namespace: release.namespace.clone(),
        name: release.name.clone(),
    }
}

/// Steps that this harness cannot judge, with the reason.
fn unjudged(step: &Json) -> Option<&'static str> {
    let events = step["event"].as_array()?;
    let has = |what: &str| events.iter().any(|e| e.get(what).is_some());
    if has("command") {
        return Some("somebody runs helm: what it writes is recorded only together with the reaction");
    }
    let other =
        |what: &[&str]| events.iter().any(|e| e["other"].as_str().is_some_and(|o| what.iter().any(|w| o.contains(w))));
    if other(&["stopped"]) && !other(&["started"]) {
        return Some("the controller is stopped and does not come back");
    }
    if has("storage") || other(&["damaged", "vanishes", "cannot be downloaded", "file is"]) {
        return Some("archives in source-controller's storage are no part of a snapshot");
    }
    if step["settled"] == false {
        return Some("the snapshot lies inside a retry loop");
    }
    if step["note"].as_str().is_some_and(|n| n.contains("race")) {
        return Some("a race of milliseconds");
    }
    None
}

fn skipped(what: String) {
    SKIPPED.lock().unwrap().insert(what);
}

/// Release digests that were computed again.
static DIGESTS: AtomicUsize = AtomicUsize::new(0);

static SKIPPED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// What is compared.
#[derive(Clone, Copy)]
enum What {
    /// Revisions written and their manifests.
    Revisions,
    /// Status of every HelmRelease.
    Status,
}

/// What no rule foretells, taken from the recording: whether the API server and the hooks accept what is applied, and
/// what source-controller makes of a HelmChart.
struct Recorded<'a> {
    step: &'a Json,
    after: &'a Snapshot,
}

impl Recorded<'_> {
    fn event(&self, release: &str, reason: &str) -> Option<&Json> {
        let object = format!("HelmRelease/{release}");
        let mut events = self.step["outcome"]["events"].as_array().into_iter().flatten();
        events.find(|e| e["object"] == object.as_str() && e["reason"] == reason)
    }
}

impl Fate for Recorded<'_> {
    fn verdict(&mut self, hr: &HelmRelease, action: &Action, version: i64) -> Verdict {
        let secret = format!("sh.helm.release.v1.{}.v{version}", hr.release_name());
        let outcome = &self.step["outcome"];
        let entries = outcome["stored_releases_written"].as_array();
        if let Some(entry) = entries.into_iter().flatten().find(|e| e["secret"] == secret.as_str()) {
            let description = entry["description"].as_str().unwrap_or_default();
            let removed = matches!(entry["status"].as_str(), Some("uninstalled" | "uninstalling"));
            let failed = entry["status"] == "failed" || description.contains("\" failed: ");
            if !removed {
                return if failed { Verdict::Fails(description.to_owned()) } else { Verdict::Succeeds };
            }
        }
        let now = self.after.objects().find(|o| storage::is_storage(o) && o.key.name == secret).cloned();
        if now.is_some_and(|object| storage::decode(&object).is_ok_and(|r| r.status == "failed")) {
            return Verdict::Fails("it is stored as failed".into());
        }
        // Not there any more, or never stored: the events tell.
        let has = |reason: &str| self.event(&hr.name, reason).is_some();
        let failed = if *action == Action::Install { "InstallFailed" } else { "UpgradeFailed" };
        match (has(failed), has("UninstallSucceeded")) {
            (true, true) => Verdict::Fails("it failed, and was uninstalled".into()),
            (true, false) => Verdict::Refused("it failed before it was stored".into()),
            _ => Verdict::Succeeds,
        }
    }

    fn passes(&mut self, hr: &HelmRelease, version: i64, hook: &str) -> bool {
        let history = self.step["outcome"]["helmreleases"][&hr.name]["history"].as_array();
        let entry = history.into_iter().flatten().find(|h| h["version"] == version);
        entry.is_none_or(|e| e["testHooks"][hook]["phase"] != "Failed")
    }

    fn refuses_removal(&mut self, hr: &HelmRelease) -> Option<String> {
        self.event(&hr.name, "UninstallFailed").map(|e| e["message"].as_str().unwrap_or_default().to_owned())
    }

    fn drift(&mut self, hr: &HelmRelease) -> Option<Drift> {
        let conditions = &self.step["outcome"]["helmreleases"][&hr.name]["conditions"];
        let message = conditions["Ready"]["message"].as_str().unwrap_or_default();
        let refused = message.contains("unable to determine cluster state");
        refused.then(|| Drift::Refused("the API server refuses the dry run".into()))
    }

    fn packaged(&mut self, chart: &ObjectKey) -> Option<Rc<Object>> {
        self.after.get(chart).present()
    }
}

/// Where a step touches sources, their state afterwards is given.
fn given_sources(
    cluster: &mut Snapshot,
    step: &Json,
    after: &Snapshot,
    settings: &Settings,
    triggered: &mut BTreeSet<ReleaseRef>,
) {
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
            let ready = |o: &Object| {
                let conditions = o.json.pointer("/status/conditions").and_then(Json::as_array).cloned();
                conditions.into_iter().flatten().any(|c| c["type"] == "Ready" && c["status"] == "True")
            };
            let moved =
                old.as_ref().is_none_or(|old| revision(old) != revision(&object) || (!ready(old) && ready(&object)));
            cluster.apply([(object.key.clone(), Some(object.clone()))]);
            if moved {
                triggered.extend(woken_by_source(cluster, settings, &object.key));
            }
        }
    }
}

/// How often the controller ran a release in a step.
fn ran(step: &Json, release: &str) -> Option<u64> {
    step["outcome"]["helmreleases"][release]["reconciled_times"].as_u64()
}

/// Releases that ran before the event of the step took hold: the snapshot before lies inside a run, or before one that
/// was due (the first moves show a run, not yet the event).
fn runs_before_event(step: &Json, cluster: &Snapshot) -> Vec<ReleaseRef> {
    let restarts = step["event"].as_array().into_iter().flatten().any(|e| e["other"].is_string());
    if restarts {
        return Vec::new();
    }
    let moves = step["outcome"]["moves"].as_array();
    let mut early = BTreeSet::new();
    let mut seen: BTreeMap<&str, i64> = BTreeMap::new();
    for entry in moves.into_iter().flatten() {
        let Some(name) = entry["release"].as_str() else { continue };
        let event =
            ["generation", "requestedAt", "forceAt", "resetAt", "suspend"].iter().any(|k| entry.get(*k).is_some());
        if event {
            seen.entry(name).or_insert_with(|| entry["generation"].as_i64().unwrap_or(0));
        } else if entry["conditions"].is_object() {
            match seen.get(name) {
                None => {
                    early.insert(name.to_owned());
                }
                // A Ready of the generation before that the snapshot does not have yet.
                Some(generation) if *generation > 1 && !early.contains(name) => {
                    let ready = &entry["conditions"]["Ready"];
                    let older = ready["observedGeneration"].as_i64().is_some_and(|g| g < *generation);
                    if older && ready["status"] != "Unknown" && Some(&ready["reason"]) != reason(cluster, name).as_ref()
                    {
                        early.insert(name.to_owned());
                    }
                }
                Some(_) => {}
            }
        }
    }
    // Where the event never shows, what runs follows from it.
    early.retain(|name| seen.contains_key(name.as_str()));
    let waits = retried(cluster);
    waits.into_iter().filter(|r| early.contains(&r.name) || runs_now(cluster, r)).collect()
}

/// The reason of the condition Ready of a release.
fn reason(cluster: &Snapshot, name: &str) -> Option<Json> {
    let release = releases(cluster).into_iter().find(|r| r.name == name)?;
    let object = cluster.get(&helm_release(&release)).present()?;
    HelmRelease::new(object.json.clone()).condition_reason("Ready").map(Json::from)
}

/// Whether the snapshot lies inside a run of a release that has loaded its chart and its values.
fn runs_now(cluster: &Snapshot, release: &ReleaseRef) -> bool {
    let Some(object) = cluster.get(&helm_release(release)).present() else { return false };
    let hr = HelmRelease::new(object.json.clone());
    let message = hr.condition_entry("Reconciling").and_then(|c| c.get("message")?.as_str());
    // A run that failed leaves the message behind.
    hr.condition("Ready") == Some("Unknown") && message.is_some_and(|message| message.starts_with("Running '"))
}

/// Whether a run began between two changes of a release's spec: the moves show it between the two generations.
fn ran_between(step: &Json, release: &str, generation: i64) -> bool {
    let moves = step["outcome"]["moves"].as_array().into_iter().flatten();
    let mine = moves.filter(|m| m["release"] == release);
    let mut begun = None;
    for entry in mine {
        if let Some(now) = entry["generation"].as_i64() {
            if begun == Some(true) && now > generation {
                return true;
            }
            begun = (now == generation).then_some(false);
        }
        let message = entry["conditions"]["Reconciling"]["message"].as_str();
        if begun.is_some() && message.is_some_and(|m| m.starts_with("Running '")) {
            begun = Some(true);
        }
    }
    false
}

/// A number spelled anew makes a new generation although the objects are equal (F-112): the API server decides.
fn spelled_anew(cluster: &mut Snapshot, step: &Json, triggered: &mut BTreeSet<ReleaseRef>) {
    for release in releases(cluster) {
        let Some(object) = cluster.get(&helm_release(&release)).present() else { continue };
        let generation = object.json.pointer("/metadata/generation").and_then(Json::as_i64).unwrap_or(0);
        let patched = step["event"].as_array().into_iter().flatten().any(|e| {
            e["patch"]["metadata"]["name"] == release.name.as_str() && e["patch"]["patch"]["spec"].is_object()
        });
        if patched && step["outcome"]["helmreleases"][&release.name]["generation"].as_i64() == Some(generation + 1) {
            let mut json = (*object.json).clone();
            json["metadata"]["generation"] = (generation + 1).into();
            cluster.apply([(object.key.clone(), Object::new(json, Default::default()).map(Rc::new))]);
            triggered.insert(release);
        }
    }
}

/// The spec of a generation as the API server holds it: the text of an episode keeps no next-line character of a block.
fn as_stored(cluster: &mut Snapshot, after: &Snapshot) {
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

/// Whether an event changes the spec of a release while a run of the spec before is under way.
fn interrupts(cluster: &Snapshot, step: &Json, event: &Json) -> bool {
    let body = &event["patch"];
    if body["kind"] != "HelmRelease" || !body["patch"]["spec"].is_object() {
        return false;
    }
    let object = Object::new(body.clone(), Default::default()).and_then(|o| cluster.get(&o.key).present());
    let generation = object.and_then(|o| o.json.pointer("/metadata/generation").and_then(Json::as_i64));
    let name = body["metadata"]["name"].as_str().unwrap_or_default();
    generation.is_some_and(|g| ran_between(step, name, g) || ends_suspended(step, name, g + 1))
}

/// Whether a release that was suspended at a generation still writes the end of a run.
fn ends_suspended(step: &Json, release: &str, generation: i64) -> bool {
    let moves = step["outcome"]["moves"].as_array().into_iter().flatten().filter(|m| m["release"] == release);
    let later = moves.skip_while(|m| m["generation"] != generation || m["suspend"] != true);
    let messages = later.filter_map(|m| m["conditions"]["Ready"]["message"].as_str());
    messages.skip_while(|m| !m.starts_with("Running '")).nth(1).is_some()
}

/// The end of a run stamps the generation that it finds on its conditions (F-247).
fn stamp_conditions(cluster: &mut Snapshot, event: &Json) {
    let Some(named) = Object::new(event["patch"].clone(), Default::default()) else { return };
    let Some(object) = cluster.get(&named.key).present() else { return };
    let mut json = (*object.json).clone();
    let generation = json["metadata"]["generation"].clone();
    for condition in json["status"]["conditions"].as_array_mut().into_iter().flatten() {
        if condition["type"] == "Ready" {
            condition["observedGeneration"] = generation.clone();
        }
    }
    cluster.apply([(named.key, Object::new(json, Default::default()).map(Rc::new))]);
}

fn patches_nothing(cluster: &Snapshot, event: &Json) -> bool {
    let patched = event.get("patch").and_then(|body| Object::new(body.clone(), Default::default()));
    patched.is_some_and(|object| cluster.get(&object.key).present().is_none())
}

/// Compares the status of every release after a step, and the events of the step.
struct Judge<'a> {
    step: &'a Json,
    settled: &'a Settled,
    /// Releases that were being tried again when the step began.
    retrying: &'a BTreeSet<ReleaseRef>,
}

impl Judge<'_> {
    fn judge(&self, predicted: &Snapshot, recorded: &Snapshot) -> Result<(), Failed> {
        let mut wrong = Vec::new();
        let of =
            |object: &&Rc<Object>| object.key.group == "helm.toolkit.fluxcd.io" && object.key.kind == "HelmRelease";
        for object in recorded.objects().filter(of) {
            let release = ReleaseRef { namespace: object.key.namespace.clone(), name: object.key.name.clone() };
            let runs = self.settled.runs.iter().filter(|(r, _)| *r == release);
            let unknown = runs.clone().any(|(_, cycle)| matches!(cycle.decision.outcome, Outcome::Unknown { .. }));
            if unknown {
                skipped(format!("unknown is a right answer: {release}"));
                continue;
            }
            let Some(mine) = predicted.get(&object.key).present() else {
                wrong.push(format!("{release} is not there"));
                continue;
            };
            let told = self.told(&release, &object.json);
            // What is tried again and again is seen after any of the attempts.
            let again = [Requeue::Backoff, Requeue::Immediate, Requeue::Retry];
            let restless = runs.clone().any(|(_, cycle)| again.contains(&cycle.requeue));
            let retried = restless || self.retrying.contains(&release);
            let first = differences(&told, &mine.json, retried);
            if first.is_empty() || differences(&object.json, &mine.json, retried).is_empty() {
                continue;
            }
            let states = self.settled.runs.iter().zip(&self.settled.states).filter(|((r, _), _)| *r == release);
            let mut states = states.filter_map(|(_, state)| state.clone());
            if !(restless && states.any(|state| differences(&told, &state.json, true).is_empty())) {
                wrong.push(format!("{}: {}", release.name, first.join("; ")));
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ").into()) }
    }

    /// The status at the end of the step as the outcome tells it, which may be later than the snapshot.
    fn told(&self, release: &ReleaseRef, snapshot: &Json) -> Json {
        let mut json = snapshot.clone();
        let Some(told) = self.step["outcome"]["helmreleases"][&release.name].as_object() else { return json };
        for (field, value) in told {
            let value = match field.as_str() {
                "conditions" => {
                    let each = value.as_object().into_iter().flatten().map(|(kind, c)| {
                        let mut c = c.clone();
                        c["type"] = kind.as_str().into();
                        c
                    });
                    Json::Array(each.collect())
                }
                "generation" | "suspend" | "reconciled_times" => continue,
                _ => value.clone(),
            };
            json["status"][field] = value;
        }
        json
    }
}

/// The status fields that differ. `restless`: it is tried again and again, so the time decides how often that was, and in
/// which part of an attempt the snapshot lies.
fn differences(recorded: &Json, predicted: &Json, restless: bool) -> Vec<String> {
    let (want, got) = (status(recorded), status(predicted));
    let failed = |text: &str| !matches!(text, "" | "0");
    let differs = want.iter().filter(|(field, want)| {
        let got = got.get(*field).map(String::as_str).unwrap_or_default();
        **want != got
            && !(restless && **field == "failures" && failed(want) == failed(got))
            && !(restless && **field == "conditions" && begun(want, got))
    });
    differs.map(|(field, want)| format!("{field} recorded {want}, predicted {}", got[field])).collect()
}

/// Whether conditions are those of the next attempt, at its beginning.
fn begun(recorded: &str, predicted: &str) -> bool {
    let others = |all: &str| -> Vec<String> {
        let each = all.split(", ").filter(|c| !c.starts_with("Ready=") && !c.starts_with("Reconciling="));
        each.map(str::to_owned).collect()
    };
    recorded.contains("Ready=Unknown Progressing") && others(recorded) == others(predicted)
}

fn status(hr: &Json) -> BTreeMap<&'static str, String> {
    let mut all = BTreeMap::new();
    for field in [
        "failures",
        "helmChart",
        "installFailures",
        "lastAttemptedConfigDigest",
        "lastAttemptedGeneration",
        "lastAttemptedReleaseAction",
        "lastAttemptedRevision",
        "lastAttemptedRevisionDigest",
        "lastHandledForceAt",
        "lastHandledReconcileAt",
        "lastHandledResetAt",
        "observedCommonMetadataDigest",
        "observedGeneration",
        "observedPostRenderersDigest",
        "storageNamespace",
        "upgradeFailures",
    ] {
        // The API server's default, and fields that are written empty.
        let value = hr["status"].get(field).filter(|v| **v != "" && **v != -1).map(|v| v.to_string());
        all.insert(field, value.unwrap_or_default());
    }
    let conditions = hr["status"]["conditions"].as_array();
    let mut shown: Vec<String> = conditions
        .into_iter()
        .flatten()
        .map(|c| format!("{}={} {} g{}", c["type"], c["status"], c["reason"], c["observedGeneration"]))
        .collect();
    shown.sort();
    all.insert("conditions", shown.join(", ").replace('"', ""));
    let mut history: Vec<&Json> = hr["status"]["history"].as_array().into_iter().flatten().collect();
    history.sort_by_key(|h| std::cmp::Reverse(h["version"].as_i64()));
    let shown: Vec<String> = history
        .iter()
        .map(|h| {
            format!("{} {}/{} {} {}", h["version"], h["status"], h["action"], h["chartVersion"], h["configDigest"])
        })
        .collect();
    all.insert("history", shown.join(", ").replace('"', ""));
    all
}

/// The same documents in the same order with the same source, each equal as an object.
fn same_manifest(written: &Written, manifest: &str) -> Result<(), Failed> {
    let recorded = parse_manifest(manifest)?;
    let name = |object: &Json| {
        format!(
            "{}/{}",
            object["kind"].as_str().unwrap_or_default(),
            object["metadata"]["name"].as_str().unwrap_or_default()
        )
    };
    let want: Vec<(String, String)> = recorded.iter().map(|d| (d.source.clone(), name(&d.object))).collect();
    let got: Vec<(String, String)> = written.manifest.iter().map(|d| (d.source.clone(), name(&d.object))).collect();
    if want != got {
        return Err(format!("{} v{}: recorded {want:?}, predicted {got:?}", written.release, written.version).into());
    }
    for (recorded, predicted) in recorded.iter().zip(&written.manifest) {
        let mut changes = diff::changes(&recorded.object, &predicted.object);
        // Masked: what the predictor itself knows to be volatile.
        changes.retain(|c| {
            !c.new.as_ref().is_some_and(|path| written.volatile.contains(&(predicted.key.clone(), path.clone())))
        });
        if !changes.is_empty() {
            let data = |o: &Json| o["data"].to_string().chars().take(1500).collect::<String>();
            let shown = format!("recorded {}, predicted {}", data(&recorded.object), data(&predicted.object));
            let paths: Vec<&str> = changes.iter().map(|c| c.path.as_str()).collect();
            return Err(format!(
                "{} v{}: {} differs at {paths:?}: {shown}",
                written.release,
                written.version,
                name(&recorded.object)
            )
            .into());
        }
    }
    Ok(())
}

/// Applies a write as the API server does, and notes which HelmReleases it makes the controller look at (`F-56`).
///
/// `applied` holds what was applied last, object by object: what a later apply lacks of it goes away.
fn apply_event(
    cluster: &mut Snapshot,
    event: &Json,
    settings: &Settings,
    triggered: &mut BTreeSet<ReleaseRef>,
    applied: &mut BTreeMap<ObjectKey, Json>,
) -> Result<(), Failed> {
    let event = event.as_object().ok_or("an event that is no map")?;
    for (kind, body) in event {
        match kind.as_str() {
            "apply" => {
                let object = Object::new(body.clone(), Default::default()).ok_or("an object without identity")?;
                let old = cluster.get(&object.key).present();
                let mut json = old.as_ref().map_or_else(|| serde_json::json!({}), |o| (*o.json).clone());
                if let Some(previous) = applied.insert(object.key.clone(), body.clone()) {
                    prune(&mut json, &previous, body);
                }
                merge(&mut json, body, false);
                write(cluster, &object.key, old, json, settings, triggered);
            }
            "patch" => {
                let object = Object::new(body.clone(), Default::default()).ok_or("a patch without identity")?;
                let old = cluster.get(&object.key).present().ok_or("a patch of nothing")?;
                let mut json = (*old.json).clone();
                merge(&mut json, &body["patch"], true);
                write(cluster, &object.key, Some(old), json, settings, triggered);
            }
            "delete" => {
                let object = Object::new(body.clone(), Default::default()).ok_or("a deletion without identity")?;
                let old = cluster.get(&object.key).present();
                // The deletion of a watched values object wakes who takes values from it (F-61).
                triggered.extend(woken(cluster, settings, &object.key));
                match old.filter(|_| object.key.kind == "HelmRelease") {
                    Some(old) => {
                        let mut json = (*old.json).clone();
                        json["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
                        let generation = json["metadata"]["generation"].as_i64().unwrap_or(0) + 1;
                        json["metadata"]["generation"] = generation.into();
                        let release = ReleaseRef { namespace: old.key.namespace.clone(), name: old.key.name.clone() };
                        triggered.insert(release);
                        cluster.apply([(old.key.clone(), Object::new(json, Default::default()).map(Rc::new))]);
                    }
                    None => {
                        cluster.apply([(object.key, None)]);
                    }
                }
            }
            "publish" | "git commit" | "files" | "push" | "exit" | "storage" => {}
            "other" if body.as_str().is_some_and(|o| o.starts_with("helm-controller started")) => {
                triggered.extend(releases(cluster));
            }
            "other" => {}
            other => return Err(format!("event {other:?} is not known to this harness").into()),
        }
    }
    Ok(())
}

fn write(
    cluster: &mut Snapshot,
    key: &ObjectKey,
    old: Option<Rc<Object>>,
    mut json: Json,
    settings: &Settings,
    triggered: &mut BTreeSet<ReleaseRef>,
) {
    let requested = |json: &Json| json.pointer("/metadata/annotations/reconcile.fluxcd.io~1requestedAt").cloned();
    let spec_changed = old.as_ref().is_none_or(|o| o.json.get("spec") != json.get("spec"));
    if spec_changed {
        let generation = old.as_ref().and_then(|o| o.json.pointer("/metadata/generation")?.as_i64()).unwrap_or(0) + 1;
        json["metadata"]["generation"] = generation.into();
    }
    let asked = requested(&json).is_some() && old.as_ref().is_none_or(|o| requested(&o.json) != requested(&json));
    if key.kind == "HelmRelease" && (spec_changed || asked) {
        triggered.insert(ReleaseRef { namespace: key.namespace.clone(), name: key.name.clone() });
    }
    cluster.apply([(key.clone(), Object::new(json, Default::default()).map(Rc::new))]);
    if key.kind != "HelmRelease" {
        triggered.extend(woken(cluster, settings, key));
    }
}

/// Takes away what was applied before and is not any more.
fn prune(live: &mut Json, previous: &Json, new: &Json) {
    let (Some(live), Some(previous)) = (live.as_object_mut(), previous.as_object()) else { return };
    for (key, old) in previous {
        match (new.get(key), live.get_mut(key)) {
            (None, _) => {
                live.remove(key);
            }
            (Some(new), Some(live)) => prune(live, old, new),
            _ => {}
        }
    }
}

/// JSON merge patch; `deletes` says whether null takes a key away.
fn merge(into: &mut Json, patch: &Json, deletes: bool) {
    let Json::Object(patch) = patch else {
        *into = patch.clone();
        return;
    };
    if !into.is_object() {
        *into = serde_json::json!({});
    }
    let Json::Object(map) = into else { return };
    for (key, value) in patch {
        if deletes && value.is_null() {
            map.remove(key);
        } else {
            merge(map.entry(key.clone()).or_insert(Json::Null), value, deletes);
        }
    }
}

fn releases(cluster: &Snapshot) -> Vec<ReleaseRef> {
    let all = cluster.objects().filter(|o| o.key.kind == "HelmRelease");
    all.map(|o| ReleaseRef { namespace: o.key.namespace.clone(), name: o.key.name.clone() }).collect()
}
