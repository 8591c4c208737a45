//! Silent states: what each rule of the simulator means for the owner of a release, and what to do about it.

use serde::Serialize;

use super::contract::ObjectRef;

/// A state that no condition and no event tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SilentState {
    /// All inline values count as empty.
    ValuesSwallowed,
    /// The values come out by chance.
    ValuesDrawn,
    /// A write at a target path is overridden by inline values.
    WriteOverridden,
    /// Every run upgrades.
    EndlessUpgrades,
    /// Other post-renderers or common metadata never took effect.
    ChangeLost,
    /// A force failed, and Ready is True all the same.
    ForceFailed,
    /// A token was handled, and nothing followed.
    TokenBurnt,
    /// `Drifted=True` is left over.
    DriftedLeft,
    /// A change of target is about to orphan objects, or to delete those of others.
    TargetChange,
    /// Its HelmChart can never be written.
    ChartNotWritten,
    /// The chart, or its version, has gone from the index.
    ChartGone,
    /// A circle of dependencies that holds as long as nobody changes two of its members at a time.
    DormantCycle,
}

/// One silent state of one release.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Silent {
    /// Which.
    pub state: SilentState,
    /// The rule that makes it (`F-40`; `F5` is one of the scenarios' ground rules).
    pub rule: String,
    /// What shows it here.
    pub text: String,
    /// Objects concerned besides the HelmRelease.
    pub objects: Vec<ObjectRef>,
    /// What the state means.
    pub meaning: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

/// A rule, the state that it makes, what that means, and what to do about it.
pub struct Row {
    /// The rule.
    pub rule: &'static str,
    /// The state.
    pub state: SilentState,
    /// What it means.
    pub meaning: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

const fn row(rule: &'static str, state: SilentState, meaning: &'static str, remedy: &'static str) -> Row {
    Row { rule, state, meaning, remedy }
}

const LOST: &str = "a token was handled and nothing followed: it counts as done and is never honoured later";
const AGAIN: &str = "remove what stood in its way, then stamp a fresh token on both annotations";

/// All silent states, by rule.
pub const TABLE: &[Row] = &[
    row(
        "F-40",
        SilentState::ValuesSwallowed,
        "the release is made as if spec.values were empty; Ready stays True and no event tells",
        "take the character or the key out of spec.values, or move them to a ConfigMap under valuesFrom",
    ),
    row(
        "F-44b",
        SilentState::ValuesDrawn,
        "the values are drawn anew at every run, so the release upgrades by chance",
        "write the key once, or in one type only",
    ),
    row(
        "F-53",
        SilentState::WriteOverridden,
        "inline values are merged last: the value at the targetPath is not the referenced one",
        "take the inline value out, or merge the reference without targetPath",
    ),
    row(
        "F-29",
        SilentState::EndlessUpgrades,
        "every run finds other values than it stored and upgrades again",
        "set spec.upgrade.preserveValues to false, or write the kept values into spec.values",
    ),
    row(
        "F-143",
        SilentState::EndlessUpgrades,
        "every run finds its own release changed, forgets the history and upgrades again at once",
        "quote the number, or give it in a reference without targetPath",
    ),
    row(
        "F-148a",
        SilentState::ChangeLost,
        "the new post-renderers or common metadata are recorded as observed, but no revision was made with them; no run \
         tries again",
        "repair what fails, then force the release",
    ),
    row(
        "F5",
        SilentState::ForceFailed,
        "a failed force is not repeated, and the next run puts Ready back to True for the old revision",
        "repair what fails (the finding of the render, or the Warning event, tells), then stamp a fresh token",
    ),
    row("F-60", SilentState::TokenBurnt, LOST, AGAIN),
    row("F-62", SilentState::TokenBurnt, LOST, AGAIN),
    row(
        "F-106",
        SilentState::DriftedLeft,
        "the condition is of a time when drift detection was on; no run takes it back or renews it",
        "turn drift detection on for one run, or do not alert on it while it is off",
    ),
    row(
        "F-89",
        SilentState::TargetChange,
        "the next run uninstalls the release with the new namespace in mind before it installs it there",
        "suspend it first; then move or delete the objects by hand, or set the old targetNamespace back",
    ),
    row(
        "F-73",
        SilentState::ChartNotWritten,
        "its HelmChart cannot be written, so no run gets further; no condition and no event tells",
        "give it a name of at most 63 bytes (spec.releaseName keeps the Helm release), or a source it may refer to",
    ),
    row(
        "F-225",
        SilentState::ChartGone,
        "the HelmChart is stalled for want of its chart: every run stops there, the deployed release notwithstanding, and \
         burns the tokens it sees",
        "publish the version again, or ask for one that the index has; stamp tokens only then",
    ),
    row(
        "F-263",
        SilentState::DormantCycle,
        "each passes while the others are Ready; when two get a new generation at a time, or fail, all wait for ever",
        "take one of the edges out of dependsOn",
    ),
];

/// The state that a rule makes, if it is a silent one.
pub fn state_of(rule: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.rule == rule)
}

impl SilentState {
    /// The word for the state.
    pub fn word(self) -> &'static str {
        match self {
            SilentState::ValuesSwallowed => "VALUES_SWALLOWED",
            SilentState::ValuesDrawn => "VALUES_DRAWN",
            SilentState::WriteOverridden => "WRITE_OVERRIDDEN",
            SilentState::EndlessUpgrades => "ENDLESS_UPGRADES",
            SilentState::ChangeLost => "CHANGE_LOST",
            SilentState::ForceFailed => "FORCE_FAILED",
            SilentState::TokenBurnt => "TOKEN_BURNT",
            SilentState::DriftedLeft => "DRIFTED_LEFT",
            SilentState::TargetChange => "TARGET_CHANGE",
            SilentState::ChartNotWritten => "CHART_NOT_WRITTEN",
            SilentState::ChartGone => "CHART_GONE",
            SilentState::DormantCycle => "DORMANT_CYCLE",
        }
    }
}

impl Silent {
    /// The lines that a person reads.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            format!("SILENT {} ({})  {}", self.state.word(), self.rule, self.text),
            format!("  {}", self.meaning),
            format!("  do: {}", self.remedy),
        ];
        lines.extend(self.objects.iter().map(|object| format!("    {object}")));
        lines
    }
}
