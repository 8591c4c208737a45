//! Silent states of a release: signs of the simulator, circles, and changes that no revision carries, by the table of states.

use super::cycles;
use super::findings::reference;
use super::gather::Subject;
use super::render::{Doc, Mode};
use super::render::{Rendered, Renderer};
use crate::cluster::object::ObjectKey;
use crate::cluster::snapshot::Facts;
use crate::cluster::storage::StoredRelease;
use crate::diff;
use crate::flux::settings::Settings;
use crate::flux::settled::release_key;
use crate::flux::silent::{Sign, signs};
use crate::flux::{Check, Composed, Decision, HelmRelease};
use crate::report::silent::{Silent, SilentState, state_of};

/// What the objects of the snapshot show; `next` is the release's next run and the values that it composes.
pub(super) fn silent(
    hr: &HelmRelease,
    facts: &dyn Facts,
    stored: &[StoredRelease],
    settings: &Settings,
    next: (&Decision, &Composed),
) -> Vec<Silent> {
    let mut found: Vec<Silent> = signs(hr, facts, stored, settings, next).into_iter().filter_map(told).collect();
    found.extend(dormant(&release_key(hr), facts).and_then(told));
    found.sort();
    found
}

/// A sign by the table of states.
fn told(sign: Sign) -> Option<Silent> {
    let row = state_of(sign.check.rule)?;
    Some(Silent {
        state: row.state,
        rule: row.rule.to_owned(),
        text: sign.check.text,
        objects: sign.objects.iter().map(reference).collect(),
        meaning: row.meaning,
        remedy: row.remedy,
    })
}

/// A circle of dependencies all of whose members count as ready (`F-263`).
fn dormant(key: &ObjectKey, facts: &dyn Facts) -> Option<Sign> {
    let circle = cycles::circle(key, facts);
    let ready = |key: &ObjectKey| {
        let object = facts.get(key).present();
        object.is_some_and(|object| HelmRelease::new(object.json.clone()).counts_as_ready())
    };
    if circle.is_empty() || !circle.iter().all(ready) {
        return None;
    }
    let names: Vec<String> = circle.iter().chain([key]).map(|k| format!("{}/{}", k.namespace, k.name)).collect();
    let others = circle.into_iter().filter(|member| member != key).collect();
    Some(Sign { check: Check { rule: "F-263", text: names.join(" → ") }, objects: others })
}

/// Post-renderers and common metadata that the stored manifest is without, although the controller takes them for done
/// (`F-148a`). `now` is the render of today.
pub(super) fn lost(renderer: &Renderer, subject: &Subject, facts: &dyn Facts, now: &Rendered) -> Option<Silent> {
    let known = subject.silent.iter().any(|silent| silent.state == SilentState::ChangeLost);
    let hr = subject.helm_release.as_deref()?;
    let set = ["/spec/postRenderers", "/spec/commonMetadata"];
    let any = set.iter().any(|pointer| hr.pointer(pointer).is_some_and(|v| !v.is_null()));
    let quiet = HelmRelease::new(subject.helm_release.clone()?).condition("Ready") == Some("True");
    if known || !any || !quiet || subject.stored_docs.is_empty() || subject.decision.action != "none" {
        return None;
    }
    if !matches!(subject.decision.state.as_str(), "InSync" | "Drifted" | "Untested") {
        return None;
    }
    let as_now = |stored: &Doc| now.doc(&stored.key).is_some_and(|doc| diff::equal(&doc.object, &stored.object));
    if now.error.is_none() && subject.stored_docs.iter().all(as_now) {
        return None;
    }
    let bare = renderer.bare(subject, facts, &Mode::Now);
    if bare.error.is_some() {
        return None;
    }
    let without: Vec<ObjectKey> = subject
        .stored_docs
        .iter()
        .filter_map(|stored| {
            let plain = bare.doc(&stored.key)?;
            let lacks = match now.doc(&stored.key) {
                Some(doc) => lacks(stored, plain, doc),
                None if now.error.is_some() => diff::equal(&stored.object, &plain.object),
                // The post-renderers take it away.
                None => true,
            };
            lacks.then(|| stored.key.clone())
        })
        .collect();
    let all = without.len() == subject.stored_docs.len();
    if without.is_empty() || (now.error.is_some() && !all) {
        return None;
    }
    // They may have had nothing to do when the revision was made, and fail at what has come since.
    let stored: Vec<&Doc> = subject.stored_docs.iter().collect();
    if now.error.is_some() && renderer.leaves(subject, &stored, facts) {
        return None;
    }
    let revision = subject.stored.first().map_or(0, |r| r.version);
    let text = format!("revision {revision} is without what spec.postRenderers and spec.commonMetadata make");
    told(Sign { check: Check { rule: "F-148a", text }, objects: without })
}

/// Whether a stored object shows, where post-renderers and metadata change something, what the chart alone makes.
fn lacks(stored: &Doc, plain: &Doc, now: &Doc) -> bool {
    diff::changes(&plain.object, &now.object).iter().any(|change| {
        let of =
            |doc: &Doc, path: &Option<String>| path.as_deref().and_then(|path| diff::at(&doc.object, path)).cloned();
        let (made, before) = (of(now, &change.new), of(plain, &change.old));
        let is = of(stored, if change.old.is_some() { &change.old } else { &change.new });
        is == before && is != made
    })
}
