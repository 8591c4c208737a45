//! Status of HelmReleases: recorded against predicted.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use helm_render_predictor::cluster::object::Object;
use helm_render_predictor::cluster::snapshot::{Facts, Snapshot};
use helm_render_predictor::flux::Outcome;
use helm_render_predictor::flux::cycle::Requeue;
use helm_render_predictor::plan::settle::Settled;
use helm_render_predictor::report::contract::ReleaseRef;
use libtest_mimic::Failed;
use serde_json::Value as Json;

use crate::tally::TALLY;
use crate::timing::ran;

/// Compares the status of every release after a step, and the events of the step.
pub struct Judge<'a> {
    pub step: &'a Json,
    pub settled: &'a Settled,
    /// Releases that were being tried again when the step began.
    pub retrying: &'a BTreeSet<ReleaseRef>,
    /// The cluster with the writes of the step, before the controller has seen them.
    pub begin: &'a Snapshot,
}

impl Judge<'_> {
    pub fn judge(&self, predicted: &Snapshot, recorded: &Snapshot) -> Result<(), Failed> {
        let mut wrong = Vec::new();
        let unsettled = self.step["settled"] == false;
        let of =
            |object: &&Rc<Object>| object.key.group == "helm.toolkit.fluxcd.io" && object.key.kind == "HelmRelease";
        for object in recorded.objects().filter(of) {
            let release = ReleaseRef { namespace: object.key.namespace.clone(), name: object.key.name.clone() };
            let runs = self.settled.runs.iter().filter(|(r, _)| *r == release);
            let unknown = runs.clone().any(|(_, cycle)| matches!(cycle.decision.outcome, Outcome::Unknown { .. }));
            if unknown {
                TALLY.open(format!("unknown is a right answer: {release}"));
                continue;
            }
            let Some(mine) = predicted.get(&object.key).present() else {
                wrong.push(format!("{release} is not there"));
                continue;
            };
            let told = told(self.step, &release, &object.json);
            // What is tried again and again is seen after any of the attempts.
            let again = [Requeue::Backoff, Requeue::Immediate, Requeue::Retry];
            let restless = unsettled || runs.clone().any(|(_, cycle)| again.contains(&cycle.requeue));
            let lenient = restless || self.retrying.contains(&release);
            let first = differences(&told, &mine.json, lenient);
            if first.is_empty() || differences(&object.json, &mine.json, lenient).is_empty() {
                continue;
            }
            // A queue that is busy with retries may not have come to it.
            let unseen = restless && ran(self.step, &release.name) == Some(0);
            let begin = self.begin.get(&object.key).present().filter(|_| unseen);
            if begin.is_some_and(|begin| differences(&told, &begin.json, true).is_empty()) {
                continue;
            }
            // The step may end within a run: with what the controller wrote while it went on.
            let within = restless || condition(&told, "Reconciling") == ("True", "Progressing");
            let zipped = self.settled.runs.iter().zip(&self.settled.states).zip(&self.settled.writes);
            let mine = zipped.filter(|(((r, _), _), _)| *r == release).map(|((_, state), writes)| (state, writes));
            let ends = mine.clone().filter(|_| restless).filter_map(|(state, _)| Some(&*state.as_ref()?.json));
            let inside = mine.filter(|_| within).flat_map(|(_, writes)| writes.iter().map(|json| &**json));
            if !ends.chain(inside).any(|state| differences(&told, state, true).is_empty()) {
                wrong.push(format!("{}: {}", release.name, first.join("; ")));
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ").into()) }
    }
}

/// The status at the end of a step as its outcome tells it, which may be later than the snapshot.
pub fn told(step: &Json, release: &ReleaseRef, snapshot: &Json) -> Json {
    let mut json = snapshot.clone();
    let Some(told) = step["outcome"]["helmreleases"][&release.name].as_object() else { return json };
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
            "generation" | "suspend" | "reconciled_times" | "requestedAt" | "forceAt" | "resetAt" => continue,
            _ => value.clone(),
        };
        json["status"][field] = value;
    }
    // The controller writes conditions first: the last of the tokens may have come after the outcome was taken.
    let moves = step["outcome"]["moves"].as_array().into_iter().flatten();
    for (field, value) in moves.filter(|m| m["release"] == release.name.as_str()).filter_map(Json::as_object).flatten()
    {
        if field.starts_with("lastHandled") {
            json["status"][field] = value.clone();
        }
    }
    json
}

/// The message of each condition.
pub fn messages(hr: &Json) -> BTreeMap<String, String> {
    let text = |condition: &Json, field: &str| condition[field].as_str().unwrap_or_default().to_owned();
    let conditions = hr["status"]["conditions"].as_array();
    conditions.into_iter().flatten().map(|c| (text(c, "type"), text(c, "message"))).collect()
}

/// A message without durations, addresses and the way in which lines are broken.
fn masked(message: &str) -> String {
    let word = |word: &str| match word {
        _ if word.contains("127.0.0.1:") => "ADDRESS".to_owned(),
        _ if word.starts_with(|c: char| c.is_ascii_digit()) && word.ends_with('s') => "DURATION".to_owned(),
        _ => word.to_owned(),
    };
    // The words of the parser of expressions, and what differs in a drifted object, are not foretold.
    let cut = ["ERROR: ", " changed (", " changed at "].into_iter().find_map(|words| message.find(words));
    let message = &message[..cut.unwrap_or(message.len())];
    message.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// Status and reason of a condition.
fn condition<'a>(hr: &'a Json, kind: &str) -> (&'a str, &'a str) {
    let conditions = hr["status"]["conditions"].as_array();
    let entry = conditions.into_iter().flatten().find(|c| c["type"] == kind);
    let text = |field: &str| entry.and_then(|c| c[field].as_str()).unwrap_or_default();
    (text("status"), text("reason"))
}

/// The status fields that differ. `restless`: it is tried again and again, so the time decides how often that was, and in
/// which part of an attempt the snapshot lies.
pub fn differences(recorded: &Json, predicted: &Json, restless: bool) -> Vec<String> {
    let (want, got) = (status(recorded), status(predicted));
    let failed = |text: &str| !matches!(text, "" | "0");
    let differs = want.iter().filter(|(field, want)| {
        let got = got.get(*field).map(String::as_str).unwrap_or_default();
        **want != got
            && !(restless && **field == "failures" && failed(want) == failed(got))
            && !(restless && **field == "conditions" && begun(want, got))
            && !(restless && **field == "messages")
    });
    differs.map(|(field, want)| format!("{field} recorded {want}, predicted {}", got[field])).collect()
}

/// Whether conditions are those of the next attempt, at its beginning.
pub fn begun(recorded: &str, predicted: &str) -> bool {
    let others = |all: &str| -> Vec<String> {
        let each = all.split(", ").filter(|c| !c.starts_with("Ready=") && !c.starts_with("Reconciling="));
        each.map(str::to_owned).collect()
    };
    recorded.contains("Ready=Unknown Progressing") && others(recorded) == others(predicted)
}

pub fn status(hr: &Json) -> BTreeMap<&'static str, String> {
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
    let told: Vec<String> = messages(hr).into_iter().map(|(kind, text)| format!("{kind}: {}", masked(&text))).collect();
    all.insert("messages", told.join("; "));
    let mut history: Vec<&Json> = hr["status"]["history"].as_array().into_iter().flatten().collect();
    history.sort_by_key(|h| std::cmp::Reverse(h["version"].as_i64()));
    let shown: Vec<String> = history
        .iter()
        .map(|h| {
            let chart = format!("{}@{}", h["chartName"], h["chartVersion"]);
            format!("{} {}/{} {chart} {}", h["version"], h["status"], h["action"], h["configDigest"])
        })
        .collect();
    all.insert("history", shown.join(", ").replace('"', ""));
    all
}
