//! The report, version 1: the only form in which answers leave the core.
//!
//! Field names and meanings are an interface: they change only together with [`VERSION`]. No field holds a secret value:
//! objects are named, fields are pathed, contents are left out.

use serde::Serialize;

use super::silent::Silent;
use crate::base::diag::Diagnostic;

/// Name and version of the contract.
pub const VERSION: &str = "reconcile-planner/report/v1";

/// Everything one run found out.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// [`VERSION`].
    pub contract: &'static str,
    /// What the answers rest on.
    pub snapshot: SnapshotInfo,
    /// What was assumed because the snapshot does not say it.
    pub assumptions: Vec<String>,
    /// Problems of the input, by file and line.
    pub diagnostics: Vec<Diagnostic>,
    /// One entry per release, by namespace and name.
    pub releases: Vec<Release>,
    /// What to do, in order.
    pub plan: Plan,
}

/// What the answers rest on.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct SnapshotInfo {
    /// When the snapshot was taken (RFC 3339), if it says so.
    pub taken_at: Option<String>,
    /// Version of Kubernetes.
    pub kubernetes: String,
    /// Version of helm-controller.
    pub helm_controller: String,
    /// Version of the Helm inside it.
    pub helm: String,
    /// Number of objects.
    pub objects: usize,
}

/// Namespace and name of a release (of its HelmRelease, if it has one).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct ReleaseRef {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl std::fmt::Display for ReleaseRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// Identity of an object: group, kind, namespace, name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct ObjectRef {
    /// API group; "" for the core group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace; "" for cluster-scoped objects.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl std::fmt::Display for ObjectRef {
    /// `Deployment cozy-system/controller`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ", self.kind)?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(if self.name.is_empty() { "*" } else { &self.name })
    }
}

/// One release: what Flux will do with it, what its render hides, what a force would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Release {
    /// Which.
    pub release: ReleaseRef,
    /// Whether a HelmRelease manages it; otherwise it was installed with plain Helm.
    pub flux_managed: bool,
    /// `spec.suspend`.
    pub suspended: bool,
    /// Chart name and version of the newest stored revision.
    pub chart: Option<String>,
    /// Number of the newest stored revision.
    pub revision: Option<i64>,
    /// What helm-controller would do at its next reconcile.
    pub decision: Decision,
    /// The answer in one word, with its arguments.
    pub verdict: Verdict,
    /// What a forced render would do on this snapshot; empty where it would fail, and where the render is not known.
    pub force: Expected,
    /// What a forced render would break or restart.
    pub dangers: Vec<Danger>,
    /// What the render hides or would change, by object.
    pub findings: Vec<Finding>,
    /// What the snapshot gives away and no condition tells.
    pub silent: Vec<Silent>,
    /// The facts the findings depend on.
    pub keys: Vec<Key>,
    /// Single changes of looked-up objects that would make the next upgrade fail; only where they were asked for.
    pub latent: Vec<Latent>,
    /// Remarks that go with the verdict.
    pub notes: Vec<String>,
}

/// What helm-controller would do, by its rules.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// State of the release (`InSync`, `OutOfSync`, …), or the step that ends the run early (`Suspended`, …).
    pub state: String,
    /// Why.
    pub reason: String,
    /// `none`, `install`, `upgrade`, `rollback`, …
    pub action: String,
    /// The checks in order, each with its rule.
    pub trace: Vec<Check>,
}

/// One check of the controller.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Check {
    /// Rule (`F-97`).
    pub rule: String,
    /// What was compared and with which result.
    pub text: String,
}

/// The answer for a release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(tag = "verdict", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
pub enum Verdict {
    /// Nothing is hidden and nothing is to do.
    InSync,
    /// Force it now: Flux will not render it by itself.
    ForceNow,
    /// Force it after these releases.
    ForceAfter {
        /// Which.
        releases: Vec<ReleaseRef>,
    },
    /// Wait: these fields do not exist yet; a force now would change nothing that matters.
    Wait {
        /// Object and field, as in chains.
        fields: Vec<String>,
    },
    /// A failed release that Flux retries; each retry looks again.
    HealsByRetry {
        /// Why it failed, or would.
        error: String,
    },
    /// Something else will make Flux render it.
    HealsOnChange {
        /// What makes Flux render it.
        what: String,
        /// What keeps that from happening.
        blocked_by: Option<String>,
    },
    /// No force can help as long as the values stay.
    ForceFutile {
        /// Why.
        reason: String,
    },
    /// A forced render would fail; Flux would swallow the failure.
    ForceFails {
        /// The text that Flux would show.
        error: String,
    },
    /// A force is needed but would be lost.
    ForceBlocked {
        /// `suspended`, `dependency: …`, `source: …`, `values: …`, `drifted`, `state …`.
        by: String,
    },
    /// It waits for what only itself would make.
    Deadlock {
        /// Who waits for whom.
        cycle: Vec<String>,
    },
    /// Not managed by Flux: nothing reads an annotation.
    NotFluxManaged,
    /// The snapshot does not hold what the answer needs.
    Unknown {
        /// What to collect.
        missing: Vec<String>,
    },
}

impl Verdict {
    /// The word for the verdict, as scenarios and people use it.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::InSync => "IN_SYNC",
            Verdict::ForceNow => "FORCE_NOW",
            Verdict::ForceAfter { .. } => "FORCE_AFTER",
            Verdict::Wait { .. } => "WAIT",
            Verdict::HealsByRetry { .. } => "HEALS_BY_RETRY",
            Verdict::HealsOnChange { .. } => "HEALS_ON_CHANGE",
            Verdict::ForceFutile { .. } => "FORCE_FUTILE",
            Verdict::ForceFails { .. } => "FORCE_FAILS",
            Verdict::ForceBlocked { .. } => "FORCE_BLOCKED",
            Verdict::Deadlock { .. } => "DEADLOCK",
            Verdict::NotFluxManaged => "NOT_FLUX_MANAGED",
            Verdict::Unknown { .. } => "UNKNOWN",
        }
    }
}

impl std::fmt::Display for Verdict {
    /// `FORCE_AFTER(tenant-root/bucket-system)`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())?;
        let join = |names: &[ReleaseRef]| names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        match self {
            Verdict::InSync | Verdict::ForceNow | Verdict::NotFluxManaged => Ok(()),
            Verdict::ForceAfter { releases } => write!(f, "({})", join(releases)),
            Verdict::Wait { fields } => write!(f, "({})", fields.join(", ")),
            Verdict::HealsByRetry { error } | Verdict::ForceFails { error } => write!(f, "({error})"),
            Verdict::HealsOnChange { what, blocked_by: None } => write!(f, "({what})"),
            Verdict::HealsOnChange { what, blocked_by: Some(by) } => write!(f, "({what}, blocked by {by})"),
            Verdict::ForceFutile { reason } => write!(f, "({reason})"),
            Verdict::ForceBlocked { by } => write!(f, "({by})"),
            Verdict::Deadlock { cycle } => write!(f, "({})", cycle.join(" → ")),
            Verdict::Unknown { missing } => write!(f, "({})", missing.join(", ")),
        }
    }
}

/// What a forced render would break or restart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Danger {
    /// `restarts`, `deletes`, `rotates`, `waits` (the force waits for it, and it is not ready).
    pub kind: String,
    /// The object concerned.
    pub object: ObjectRef,
    /// Who uses it: for `rotates`, what goes on with the old value until it restarts.
    pub consumers: Vec<ObjectRef>,
}

/// A change of one looked-up object that would make the next upgrade fail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Latent {
    /// The fact, as in [`Key::key`].
    pub key: String,
    /// `absent`, `without .data`, `without .data.password`.
    pub supposed: String,
    /// The text of the failure.
    pub error: String,
}

/// A release that Flux moves by itself because another one was forced.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Follow {
    /// Which.
    pub release: ReleaseRef,
    /// `installs`, `upgrades`, `uninstalls`.
    pub does: &'static str,
    /// Why.
    pub because: String,
}

/// An object that a force creates, changes or deletes, field by field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Difference {
    /// Which.
    pub object: ObjectRef,
    /// `created`, `changed`, `deleted`.
    pub does: &'static str,
    /// What the findings say of it.
    pub classes: Vec<Class>,
    /// What makes the difference: rules of the table of versions (`H-27`), capabilities; of `whatif` only.
    pub causes: Vec<String>,
    /// Its fields that differ; none for what is deleted.
    pub fields: Vec<FieldDifference>,
}

/// What a chart does that depends on the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Lint {
    /// Why it does not render at all, even if everything it asks for exists.
    pub error: Option<String>,
    /// By hazard and place.
    pub items: Vec<LintItem>,
}

/// One hazard of a chart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct LintItem {
    /// What it is.
    pub hazard: Hazard,
    /// The rule of the controller behind it (`F-353`), where one is.
    pub rule: Option<&'static str>,
    /// Where in the templates: `templates/x.yaml:3`; nothing where the gate's place or the text tells.
    pub place: Option<String>,
    /// The gate and the fact, where there is one.
    pub chain: Option<Chain>,
    /// The objects concerned.
    pub objects: Vec<ObjectRef>,
    /// More about it.
    pub text: Option<String>,
}

/// What may go wrong with a chart on a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Hazard {
    /// The render fails for want of what it would make itself.
    Deadlock,
    /// The render of the whole release fails until a fact exists.
    ErrorGate,
    /// An object is left out, silently, until a fact exists.
    Gate,
    /// A field takes a fallback until a fact exists.
    Fallback,
    /// An object is left out that no fact brings.
    Never,
    /// An object is made only while a fact is absent: the next upgrade deletes it.
    CreatedOnce,
    /// A random value in a Secret is drawn anew by every render.
    Rotates,
    /// It looks up what it makes itself: a first install never finds it.
    SelfProduced,
    /// It looks up a kind that its group does not have: that never finds anything.
    WrongKind,
    /// An argument of a lookup is a text that looks like a template.
    BadArgument,
    /// Helm takes the document, Flux's post-rendering refuses it.
    Refused,
    /// Flux stores something else than Helm alone would.
    Altered,
}

impl Hazard {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Hazard::Deadlock => "DEADLOCK",
            Hazard::ErrorGate => "ERROR_GATE",
            Hazard::Gate => "GATE",
            Hazard::Fallback => "FALLBACK",
            Hazard::Never => "NEVER",
            Hazard::CreatedOnce => "CREATED_ONCE",
            Hazard::Rotates => "ROTATES",
            Hazard::SelfProduced => "SELF_PRODUCED",
            Hazard::Refused => "REFUSED",
            Hazard::Altered => "ALTERED",
            Hazard::WrongKind => "WRONG_KIND",
            Hazard::BadArgument => "BAD_ARGUMENT",
        }
    }

    /// What it means, in a sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Hazard::Deadlock => "the render fails for want of what it would make itself: no retry helps",
            Hazard::ErrorGate => "all of these objects wait for the fact: the whole render fails without it",
            Hazard::Gate => "left out without a word until the fact exists, and then until somebody forces the release",
            Hazard::Fallback => "a fallback is taken until the fact exists, and kept until somebody forces the release",
            Hazard::Never => "left out with these values, whatever the cluster holds",
            Hazard::CreatedOnce => "made only while the fact is absent: the next upgrade deletes it",
            Hazard::Rotates => "a value in a Secret that nothing guards: every upgrade replaces it",
            Hazard::SelfProduced => "it looks up what it makes itself: a first install never finds it",
            Hazard::Refused => "Helm prints it, and Flux's post-rendering refuses it: nothing of the release is stored",
            Hazard::Altered => "Flux's post-rendering makes something else of it than Helm alone does",
            Hazard::WrongKind => "no such kind: the answer is the same on every cluster",
            Hazard::BadArgument => "braces inside a text: the answer is the same for all values",
        }
    }
}

/// How the render of a release would be otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct WhatIf {
    /// Which.
    pub release: ReleaseRef,
    /// Why it does not render today.
    pub error_before: Option<String>,
    /// Why it would not render then.
    pub error_after: Option<String>,
    /// What makes the errors differ, as in [`Difference::causes`].
    pub error_causes: Vec<String>,
    /// Objects that differ.
    pub objects: Vec<Difference>,
}

/// What a renderer without a cluster (Argo CD, `helm template`, a dry run of the client) makes of a release, against what
/// its next render on the cluster gives.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Offline {
    /// Which.
    pub release: ReleaseRef,
    /// `NOT_SAFE_CLIENT_SIDE` with findings, `SAFE_CLIENT_SIDE` without.
    pub verdict: &'static str,
    /// Lookups that it asks in vain, as in [`Key::key`].
    pub asked: Vec<String>,
    /// Why it does not render on the cluster, if it does not.
    pub error_inside: Option<String>,
    /// `SKIPPED_NEVER` (on the cluster only), `WOULD_CREATE` (without a cluster only), `HOLLOW` (without what a lookup would
    /// find), `WOULD_ROTATE` and `NOISE` (drawn anew by each render), `WOULD_CHANGE`, `RENDER_ERROR`.
    pub findings: Vec<Finding>,
}

/// One field that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct FieldDifference {
    /// Where.
    pub path: String,
    /// The stored value as JSON; data of Secrets as its length.
    pub old: Option<String>,
    /// The predicted value.
    pub new: Option<String>,
    /// The facts that the predicted value goes back to.
    pub from: Vec<String>,
}

/// What is the matter with one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Class {
    /// Not in the stored manifest, rendered now.
    Skipped,
    /// Not in the stored manifest; its gate is still closed.
    SkippedWaiting,
    /// Not in the stored manifest; no state of the cluster opens its gate.
    SkippedNever,
    /// Stored with a fallback or blank that was taken because a lookup was empty; the fact exists by now, or an earlier
    /// wave makes it.
    Hollow,
    /// As `Hollow`, but the fact does not exist and nothing in the plan makes it.
    HollowWaiting,
    /// Stored with another value than the cluster holds now.
    Stale,
    /// Not stored, rendered now, and no lookup decides it.
    WouldCreate,
    /// Stored with other content, and no lookup decides it.
    WouldChange,
    /// Stored, not rendered now: an upgrade deletes it.
    WouldDelete,
    /// Stored, not rendered now, but kept by its live annotation.
    Orphaned,
    /// A random value would replace a live one.
    WouldRotate,
    /// Differs between two renders of one snapshot without being a credential.
    Noise,
    /// Stored and rendered, gone from the cluster.
    DeletedLive,
    /// A hook that an upgrade would run, left out because a fact is missing, or because it was when the release was made.
    HookSkipped,
    /// A lookup by an empty name: it asks for the list of all objects instead (L2).
    KeyEmpty,
    /// The condition asks for another API version than what stands behind it needs.
    GuardMismatch,
    /// One half of a pair of values is kept while the other is drawn anew.
    Mismatch,
    /// The render of the whole release fails.
    RenderError,
    /// What is rendered cannot be applied.
    ApplyError,
}

impl Class {
    /// The word for the class, as scenarios and people use it.
    pub fn word(self) -> &'static str {
        match self {
            Class::Skipped => "SKIPPED",
            Class::SkippedWaiting => "SKIPPED_WAITING",
            Class::SkippedNever => "SKIPPED_NEVER",
            Class::Hollow => "HOLLOW",
            Class::HollowWaiting => "HOLLOW_WAITING",
            Class::Stale => "STALE",
            Class::WouldCreate => "WOULD_CREATE",
            Class::WouldChange => "WOULD_CHANGE",
            Class::WouldDelete => "WOULD_DELETE",
            Class::Orphaned => "ORPHANED",
            Class::WouldRotate => "WOULD_ROTATE",
            Class::Noise => "NOISE",
            Class::DeletedLive => "DELETED_LIVE",
            Class::HookSkipped => "HOOK_SKIPPED",
            Class::KeyEmpty => "KEY_EMPTY",
            Class::GuardMismatch => "GUARD_MISMATCH",
            Class::Mismatch => "MISMATCH",
            Class::RenderError => "RENDER_ERROR",
            Class::ApplyError => "APPLY_ERROR",
        }
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// What is the matter.
    pub class: Class,
    /// With which object; none for an error of the whole release.
    pub object: Option<ObjectRef>,
    /// Fields concerned, as paths; empty when it is the whole object.
    pub fields: Vec<String>,
    /// Error text, for errors.
    pub error: Option<String>,
    /// How it came about: the outermost place first. One chain per deciding fact.
    pub chains: Vec<Chain>,
}

/// From an object back to the fact that decides it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Chain {
    /// Where in the chart the decision falls: `templates/x.yaml:3`.
    pub place: String,
    /// The condition there, as written.
    pub condition: String,
    /// Named templates on the way to the lookup, outermost first.
    pub helpers: Vec<String>,
    /// Where the lookup stands.
    pub lookup: String,
    /// The fact, as in [`Key::key`].
    pub key: String,
    /// The field of it that is read; "" for existence.
    pub field: String,
}

/// A fact that findings depend on.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Key {
    /// `BucketClaim tenant-root/bucket`, `Capabilities.APIVersions a.io/v1`, `Capabilities.KubeVersion`, `Release.IsUpgrade`,
    /// `Release.Revision`, `the time`, `values of Secret tenant-root/settings`.
    pub key: String,
    /// The object asked for; an empty name is a list, or what is served. Empty for facts that are no objects.
    pub object: ObjectRef,
    /// API version that the chart asks with, or for.
    pub api_version: String,
    /// Fields that decide something.
    pub fields: Vec<String>,
    /// What the name was built from, where it is not written out: values with the part that gives them, other lookups.
    pub named_by: Vec<String>,
    /// How often the render asks for it.
    pub evaluations: usize,
    /// `present`, `absent`, `uncollected`, or `predicted` when an earlier wave makes it.
    pub exists: &'static str,
    /// Who makes it.
    pub producer: Producer,
}

/// Who makes a fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Producer {
    /// `release`, `controller`, `owner`, `administrator`, `flux`, `unknown`.
    pub kind: &'static str,
    /// The release, where one makes it.
    pub release: Option<ReleaseRef>,
    /// Who writes the field, where it is not the release itself.
    pub field_writer: Option<String>,
    /// If the producer lies in the reading release's own render closure: over how many objects.
    pub self_produced: Option<usize>,
    /// Why this is said.
    pub evidence: Vec<String>,
}

impl Producer {
    /// One that is no release, with what is known of it.
    pub fn named(kind: &'static str, evidence: impl Into<String>) -> Producer {
        Producer { kind, release: None, field_writer: None, self_produced: None, evidence: vec![evidence.into()] }
    }
}

/// What to do, in order.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// Waves; the steps of one may run at the same time.
    pub waves: Vec<Wave>,
    /// Releases that need a force but cannot be forced now.
    pub blocked: Vec<Blocked>,
    /// Least seconds between two forces of *one* release; releases are throttled independently.
    pub throttle_seconds: u32,
}

/// One wave.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Wave {
    /// From 1.
    pub number: usize,
    /// Steps, by release.
    pub steps: Vec<Step>,
}

/// Forcing one release.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Which release.
    pub release: ReleaseRef,
    /// Releases whose steps must be through first.
    pub after: Vec<ReleaseRef>,
    /// Commands to paste, in order; `$T1` stands for a fresh token of wave 1.
    pub commands: Vec<String>,
    /// What must hold before the next wave begins.
    pub gate: Vec<String>,
    /// What the render will do.
    pub expected: Expected,
    /// Releases that Flux moves by itself afterwards: no step of their own.
    pub then: Vec<Follow>,
}

/// What a forced render does to the cluster.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Expected {
    /// Objects that appear.
    pub created: Vec<ObjectRef>,
    /// Objects that change, with the fields.
    pub changed: Vec<Changed>,
    /// Objects that go away.
    pub deleted: Vec<ObjectRef>,
    /// Objects whose random values are replaced.
    pub rotated: Vec<ObjectRef>,
}

/// One object that changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Changed {
    /// Which.
    pub object: ObjectRef,
    /// The fields that change.
    pub fields: Vec<String>,
}

/// A release that needs a force but cannot be forced now.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Blocked {
    /// Which.
    pub release: ReleaseRef,
    /// Why.
    pub by: String,
    /// What to do about it, in order.
    pub commands: Vec<String>,
}
