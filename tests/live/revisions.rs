//! Revisions and manifests: recorded against predicted.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use helm_render_predictor::cluster::object::Object;
use helm_render_predictor::cluster::snapshot::{Facts, Snapshot};
use helm_render_predictor::cluster::storage;
use helm_render_predictor::diff;
use helm_render_predictor::flux::cycle::Cycle;
use helm_render_predictor::flux::digest::release_matches;
use helm_render_predictor::flux::postrender::parse_manifest;
use helm_render_predictor::flux::settings::Settings;
use helm_render_predictor::flux::{HelmRelease, Outcome};
use helm_render_predictor::plan::settle::Written;
use helm_render_predictor::report::contract::ReleaseRef;
use libtest_mimic::Failed;
use serde_json::Value as Json;

use crate::episode::Episode;
use crate::tally::TALLY;
use crate::write::helm_release;

impl Episode {
    pub fn compare(
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
                TALLY.open(format!("drawn at random, unknown is right: {release}"));
                unknown.insert(release.name.clone());
            }
        }
        predicted.retain(|secret, _| !unknown.contains(helm_name(secret)));
        recorded.retain(|secret| !unknown.contains(helm_name(secret)));
        // A release that never comes to rest (F-29, F-143): how many revisions a step sees is a matter of time.
        let endless = |secret: &str| predicted.keys().filter(|s| helm_name(s) == helm_name(secret)).count() > 3;
        let unsettled = step["settled"] == false;
        // Nor has a step that ends before all is quiet seen all that was to come.
        let to_come = |secret: &&String| !recorded.contains(*secret) && (unsettled || endless(secret));
        let got: Vec<_> = predicted.keys().filter(|secret| !to_come(secret)).collect();
        let want: Vec<_> = recorded.iter().collect();
        if want != got {
            let errors: Vec<String> = written.iter().filter_map(|w| w.error.clone()).collect();
            return Err(format!("recorded {want:?}, predicted {got:?}; refused {errors:?}").into());
        }
        let mine = |secret: &str| cluster.objects().find(|o| storage::is_storage(o) && o.key.name == secret).cloned();
        for (secret, w) in &predicted {
            if !recorded.contains(secret) {
                continue;
            }
            let object = after.objects().find(|o| o.key.kind == "Secret" && o.key.name == *secret).cloned();
            // A later revision within the same step may have pushed it out.
            let Some(object) = object else { continue };
            let Ok(stored) = storage::decode(&object) else { continue };
            // How it ended; a later revision may have superseded it, or a removal begun.
            if let Some(mine) = mine(secret).and_then(|o| storage::decode(&o).ok())
                && !(unsettled || endless(secret) || stored.status.starts_with("pending-"))
            {
                let told = |release: &storage::StoredRelease| {
                    let description = release.json.pointer("/info/description").and_then(Json::as_str);
                    let empty = release.config().is_none_or(|c| c.as_object().is_some_and(serde_json::Map::is_empty));
                    (release.status.clone(), description.unwrap_or_default().to_owned(), empty)
                };
                if told(&mine) != told(&stored) {
                    return Err(format!("{secret}: recorded {:?}, predicted {:?}", told(&stored), told(&mine)).into());
                }
            }
            same_manifest(w, stored.manifest())?;
        }
        Ok(())
    }
}

/// Every digest in a history is that of the stored revision it tells of (F-121), where that is still as it was recorded.
pub fn same_digests(snapshot: &Snapshot, settings: &Settings) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    for object in snapshot.objects().filter(|o| o.key.kind == "HelmRelease") {
        let hr = HelmRelease::new(object.json.clone());
        let (stored, _) = storage::stored(snapshot, &hr.storage_namespace(), &hr.release_name());
        for entry in hr.history() {
            let Some(revision) = stored.iter().find(|r| r.version == entry.version) else { continue };
            let same = revision.status == entry.text("status");
            TALLY.digests(usize::from(same));
            if same && !release_matches(entry.text("digest"), revision, entry.text("ociDigest"), settings.controller) {
                wrong.push(format!("{} v{}", hr.name, entry.version));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("digests of {wrong:?} do not match").into()) }
}

/// Name of the Helm release that a storage Secret belongs to.
pub fn helm_name(secret: &str) -> &str {
    let name = secret.strip_prefix("sh.helm.release.v1.").unwrap_or(secret);
    name.rsplit_once(".v").map_or(name, |(name, _)| name)
}

/// The same documents in the same order with the same source, each equal as an object.
pub fn same_manifest(written: &Written, manifest: &str) -> Result<(), Failed> {
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
