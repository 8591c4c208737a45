//! The order of forces: each wave renders on the cluster that the waves before it leave behind.

use std::collections::{BTreeMap, BTreeSet};

use super::findings::{Analysis, analyse};
use super::gather::{HELM_GROUP, Moves, Subject};
use super::render::{Mode, Rendered, Renderer, live_writes};
use crate::cluster::object::{ObjectKey, group_of};
use crate::cluster::overlay::Overlay;
use crate::cluster::snapshot::Facts;
use crate::report::contract::{Class, ObjectRef, ReleaseRef};
use crate::value::origin::Origin;

/// What is known about every release once the order stands.
pub struct Ordered {
    /// By position of the subject: the analysis on the snapshot as it is; none without a chart to render.
    pub first: Vec<Option<Analysis>>,
    /// By position: the analysis on the state in which the release is forced, where that differs.
    pub later: BTreeMap<usize, Analysis>,
    /// By position: the wave in which it is forced, from 1.
    pub wave: BTreeMap<usize, usize>,
    /// By position: those that must be through before it.
    pub after: BTreeMap<usize, BTreeSet<usize>>,
    /// Circles of releases that wait for each other.
    pub cycles: Vec<BTreeSet<usize>>,
}

impl Ordered {
    /// The analysis that the force of this release rests on.
    pub fn final_analysis(&self, subject: usize) -> Option<&Analysis> {
        self.later.get(&subject).or(self.first.get(subject)?.as_ref())
    }
}

/// Whether a finding asks for a forced render (and not merely for patience, or for other values).
pub fn asks_for_force(class: Class) -> bool {
    matches!(class, Class::Skipped | Class::Hollow | Class::Stale | Class::DeletedLive)
}

fn wants_force(analysis: &Analysis) -> bool {
    let fails = analysis.findings.iter().any(|f| matches!(f.class, Class::RenderError | Class::ApplyError));
    // A force that leaves gated objects out would have to be repeated: it waits for them, and blanks with it, unless it
    // brings others back or sets right what is wrong by now.
    let urgent = |class: Class| matches!(class, Class::Skipped | Class::Stale | Class::DeletedLive);
    let urgent = analysis.findings.iter().any(|f| urgent(f.class));
    let waits = analysis.findings.iter().any(|f| matches!(f.class, Class::SkippedWaiting | Class::SkippedNever));
    // What a force would do is not known: nobody is told to type it.
    let blind = analysis.unknown.is_blind();
    !fails && !blind && analysis.findings.iter().any(|f| asks_for_force(f.class)) && (urgent || !waits)
}

/// Orders the forces of all releases.
pub fn order(renderer: &Renderer, subjects: &[Subject], facts: &dyn Facts) -> Ordered {
    let first: Vec<Option<Analysis>> =
        subjects.iter().map(|s| s.can_render().then(|| analyse(renderer, s, facts))).collect();
    let mut ordered =
        Ordered { first, later: BTreeMap::new(), wave: BTreeMap::new(), after: BTreeMap::new(), cycles: Vec::new() };
    let mut world = Overlay::new(facts);
    // What moves by itself is rendered without us, and before anybody has typed a command.
    let mut through: BTreeSet<usize> = BTreeSet::new();
    for (i, subject) in subjects.iter().enumerate() {
        if matches!(subject.moves, Moves::ByItself(_)) {
            if let Some(analysis) = ordered.final_analysis(i).filter(|a| a.now.error.is_none()) {
                live_writes(subject, &analysis.now, &mut world);
            }
            through.insert(i);
        }
    }
    let moved: Vec<usize> = through.iter().copied().collect();
    refresh(renderer, subjects, &world, &mut ordered, &moved, &through);

    for wave in 1..=subjects.len() {
        let candidates: BTreeSet<usize> = (0..subjects.len())
            .filter(|i| !through.contains(i))
            .filter(|i| !matches!(subjects[*i].moves, Moves::Later { .. }))
            .filter(|i| ordered.final_analysis(*i).is_some_and(wants_force))
            .collect();
        if candidates.is_empty() {
            break;
        }
        let before = predecessors(renderer, subjects, &world, &ordered, &candidates);
        let mut members: BTreeSet<usize> =
            candidates.iter().copied().filter(|i| before.get(i).is_none_or(BTreeSet::is_empty)).collect();
        if members.is_empty() {
            ordered.cycles.push(candidates.clone());
            members = candidates.clone();
        }
        for (i, preds) in before {
            ordered.after.entry(i).or_default().extend(preds);
        }
        for &i in &members {
            ordered.wave.insert(i, wave);
            through.insert(i);
            if let Some(analysis) = ordered.final_analysis(i) {
                live_writes(&subjects[i], &analysis.now, &mut world);
            }
        }
        let members: Vec<usize> = members.into_iter().collect();
        refresh(renderer, subjects, &world, &mut ordered, &members, &through);
    }
    ordered
}

/// Analyses again whoever reads what the members wrote; who then renders otherwise comes after them.
fn refresh(
    renderer: &Renderer,
    subjects: &[Subject],
    world: &Overlay<'_>,
    ordered: &mut Ordered,
    members: &[usize],
    through: &BTreeSet<usize>,
) {
    for i in (0..subjects.len()).filter(|i| !through.contains(i)) {
        let Some(known) = ordered.final_analysis(i) else { continue };
        let readers: Vec<usize> =
            members.iter().copied().filter(|m| reads_writes_of(ordered, known, subjects, *m)).collect();
        if readers.is_empty() {
            continue;
        }
        let analysis = analyse(renderer, &subjects[i], world);
        if differs(&known.now, &analysis.now) {
            let flux_or_hand: BTreeSet<usize> = readers.into_iter().filter(|m| ordered.wave.contains_key(m)).collect();
            ordered.after.entry(i).or_default().extend(flux_or_hand);
            ordered.later.insert(i, analysis);
        }
    }
}

/// For each candidate, the candidates whose writes would change its render, or that it depends on.
fn predecessors(
    renderer: &Renderer,
    subjects: &[Subject],
    world: &Overlay<'_>,
    ordered: &Ordered,
    candidates: &BTreeSet<usize>,
) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut before: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for &b in candidates {
        let Some(maker) = ordered.final_analysis(b) else { continue };
        let mut after_b = Overlay::new(world);
        live_writes(&subjects[b], &maker.now, &mut after_b);
        for &a in candidates.iter().filter(|a| **a != b) {
            let Some(reader) = ordered.final_analysis(a) else { continue };
            let depends = subjects[a].depends_on.contains(&subjects[b].release) || rendered_by(&subjects[a], maker);
            let changes = || {
                reads_writes_of(ordered, reader, subjects, b)
                    && differs(&reader.now, &renderer.render(&subjects[a], &after_b, &Mode::Now))
            };
            if depends || changes() {
                before.entry(a).or_default().insert(b);
            }
        }
    }
    before
}

/// Whether a render holds the HelmRelease of that release: the parent comes before its children, for its upgrade waits for
/// them (`F-9`), and may change what they are told.
pub fn rendered_by(child: &Subject, parent: &Analysis) -> bool {
    let is_child = |key: &ObjectKey| {
        key.group == HELM_GROUP
            && key.kind == "HelmRelease"
            && key.name == child.release.name
            && key.namespace == child.release.namespace
    };
    child.helm_release.is_some() && parent.now.docs.iter().any(|doc| is_child(&doc.key))
}

fn differs(a: &Rendered, b: &Rendered) -> bool {
    a.error != b.error
        || a.docs.len() != b.docs.len()
        || a.docs.iter().zip(&b.docs).any(|(x, y)| x.key != y.key || x.object != y.object)
}

/// Whether a render asked for an object (or a list of a kind) that the maker's force creates, changes or deletes, or for
/// an API that it defines.
fn reads_writes_of(ordered: &Ordered, reader: &Analysis, subjects: &[Subject], maker: usize) -> bool {
    let Some(writes) = ordered.final_analysis(maker) else { return false };
    let namespace = &subjects[maker].namespace;
    let expected = &writes.expected;
    let objects = expected.created.iter().chain(expected.changed.iter().map(|c| &c.object)).chain(&expected.deleted);
    let written: Vec<&ObjectRef> = objects.collect();
    let defines = |api: &str| {
        let group = api.split_once('/').map_or("", |(group, _)| group);
        let definition =
            |o: &&&ObjectRef| o.kind == "CustomResourceDefinition" && o.name.ends_with(&format!(".{group}"));
        !group.is_empty() && written.iter().any(|o| definition(&o))
    };
    if reader.now.origins.all().iter().any(|o| matches!(o, Origin::ApiVersion(api) if defines(api))) {
        return true;
    }
    reader.now.lookups.iter().any(|l| {
        written.iter().any(|object| {
            let ns = if object.namespace.is_empty() { namespace } else { &object.namespace };
            *l.key.kind == *object.kind
                && group_of(&l.key.api_version) == object.group
                && (l.key.name.is_empty() || *l.key.name == *object.name)
                && (l.key.namespace.is_empty() || *l.key.namespace == **ns)
        })
    })
}

/// Objects that forced renders would add or change, and that first installs would make if they did not fail, by release:
/// future producers.
pub fn predicted(ordered: &Ordered, subjects: &[Subject]) -> BTreeMap<ReleaseRef, Vec<(ObjectKey, serde_json::Value)>> {
    let mut found = BTreeMap::new();
    for (i, subject) in subjects.iter().enumerate() {
        if let Some(analysis) = ordered.final_analysis(i) {
            let rendered = analysis.hoped.as_deref().unwrap_or(&analysis.now);
            let objects = rendered.docs.iter().map(|d| (d.key.clone(), d.object.clone())).collect();
            found.insert(subject.release.clone(), objects);
        }
    }
    found
}
