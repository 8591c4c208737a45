//! Which Helm is imitated. A version is an input of every render, never a constant.
//!
//! Helm's versions differ in small, listable ways; each is one [`Quirk`], named after the rule of the version
//! specification (`H-n`) it implements, with the versions that have it in one table ([`Quirk::holds`]).

use std::fmt;
use std::str::FromStr;

/// An exact version of Helm, and how it was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HelmVersion {
    /// Major, minor and patch number.
    pub number: (u16, u16, u16),
    /// Minor number of the Go 1.x it was built with: decides `H-32` and `H-33`.
    pub go: u16,
    /// It is the library inside a helm-controller, which calls itself `v4.2` without a patch number (`F-362`).
    pub embedded: bool,
    /// One quirk that is not as in that version: to find out which of them makes a difference.
    pub flipped: Option<Quirk>,
}

/// The releases that a line such as `4.2`, or a major such as `3`, stands for: number and the Go they are built with.
const RELEASES: &[((u16, u16, u16), u16)] =
    &[((3, 17, 3), 23), ((3, 22, 0), 26), ((4, 1, 4), 25), ((4, 2, 2), 26), ((4, 3, 2), 26)];

/// What the published program of a release says of its build: Git commit and Go version (`H-24`). The others are built from
/// source, without a commit.
const BUILDS: &[((u16, u16, u16), &str, &str)] = &[
    ((3, 17, 3), "e4da49785aa6e6ee2b86efd5dd9e43400318262b", "go1.23.7"),
    ((4, 1, 4), "05fa37973dc9e42b76e1d2883494c87174b6074f", "go1.25.9"),
];

impl HelmVersion {
    /// The command-line Helm of that number, built with the Go its release line uses.
    pub fn cli(major: u16, minor: u16, patch: u16) -> Self {
        let number = (major, minor, patch);
        let go = RELEASES.iter().rev().find(|(n, _)| *n <= number).map_or(23, |(_, go)| *go);
        HelmVersion { number, go, embedded: false, flipped: None }
    }

    /// The library of that number inside a helm-controller built with Go 1.`go`.
    pub fn library(major: u16, minor: u16, patch: u16, go: u16) -> Self {
        HelmVersion { number: (major, minor, patch), go, embedded: true, flipped: None }
    }

    /// 3 or 4.
    pub fn major(self) -> u16 {
        self.number.0
    }

    /// What `.Capabilities.HelmVersion.Version` prints (`H-24`, `F-362`).
    pub fn label(self) -> String {
        let (major, minor, patch) = self.number;
        if self.embedded { format!("v{major}.{minor}") } else { format!("v{major}.{minor}.{patch}") }
    }

    /// What `.Capabilities.HelmVersion` says of the build: Git commit and state of its tree, empty if it has none, and Go.
    pub fn build(self) -> (&'static str, &'static str, String) {
        let published = BUILDS.iter().find(|(number, ..)| *number == self.number && !self.embedded);
        match (published, self.go) {
            (Some((_, commit, go)), _) => (commit, "clean", (*go).to_owned()),
            // The patch number that the programs built from source were seen with (F-362).
            (None, 26) => ("", "", "go1.26.8".to_owned()),
            (None, go) => ("", "", format!("go1.{go}")),
        }
    }

    /// Whether this version behaves as the quirk says.
    pub fn has(self, quirk: Quirk) -> bool {
        quirk.holds(self) != (self.flipped == Some(quirk))
    }

    /// The same version, but for one quirk.
    pub fn flipped(self, quirk: Quirk) -> Self {
        HelmVersion { flipped: Some(quirk), ..self }
    }
}

impl fmt::Display for HelmVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor, patch) = self.number;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// The text is no version of Helm that this program knows how to imitate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown Helm version {0:?}: give an exact version such as 4.2.2, a line such as 4.2, or 3 or 4")]
pub struct UnknownVersion(pub String);

impl FromStr for HelmVersion {
    type Err = UnknownVersion;

    /// Reads `4.2.2` (exact), `4.2` (the newest known release of the line) or `3`/`4` (of the major); a `v` may stand
    /// in front.
    fn from_str(text: &str) -> Result<Self, UnknownVersion> {
        let unknown = || UnknownVersion(text.to_owned());
        let numbers: Vec<u16> = text
            .strip_prefix('v')
            .unwrap_or(text)
            .split('.')
            .map(|part| part.parse().map_err(|_| unknown()))
            .collect::<Result<_, _>>()?;
        let known = |major, minor| (major == 3 && minor >= 17) || (major == 4 && minor <= 9);
        let newest = |keep: &dyn Fn(&(u16, u16, u16)) -> bool| {
            RELEASES.iter().rev().find(|(n, _)| keep(n)).map(|(n, _)| HelmVersion::cli(n.0, n.1, n.2))
        };
        match numbers[..] {
            [major] => newest(&|n| n.0 == major).ok_or_else(unknown),
            [major, minor] if known(major, minor) => {
                Ok(newest(&|n| n.0 == major && n.1 == minor).unwrap_or(HelmVersion::cli(major, minor, 0)))
            }
            [major, minor, patch] if known(major, minor) => Ok(HelmVersion::cli(major, minor, patch)),
            _ => Err(unknown()),
        }
    }
}

/// Declares the quirks, and lists them with the rules that their doc lines begin with.
macro_rules! quirks {
    ($($(#[doc = $doc:literal])+ $name:ident,)*) => {
        /// One way in which versions of Helm differ. The name says what the *newer* side does; the doc line cites the rule.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Quirk {
            $($(#[doc = $doc])+ $name,)*
        }

        impl Quirk {
            /// Every quirk.
            pub const ALL: &[Quirk] = &[$(Quirk::$name),*];

            /// The rule and what it says: `H-27`: `.Chart` is a map.
            pub fn rule(self) -> &'static str {
                match self {
                    $(Quirk::$name => concat!($($doc),+).trim_ascii(),)*
                }
            }
        }
    };
}

quirks! {
    /// `H-1`, `H-2`, `H-5`–`H-11`: nulls of a chart's own values are dropped before merging.
    DropsDefaultNulls,
    /// `H-4`, `H-7`: a user null over a null default inside a map stays.
    KeepsNullOverNestedNull,
    /// `H-12`: white space at the end of a file's last document is kept.
    KeepsTrailingSpace,
    /// `H-13`, `H-16`: only lines that start with `---` separate documents, nothing before them is eaten.
    LineSeparators,
    /// `H-17`, `H-18`: the post-renderer's stream is split, parsed and printed document by document.
    PostRendersDocuments,
    /// `H-19`: `--kube-version` is stripped of its suffix.
    StripsKubeVersionFlag,
    /// `H-20`, `H-24`: the Kubernetes version has the additional normalized field.
    KubeVersionNormalized,
    /// `H-21`: a short `--kube-version` is left as it is.
    ShortKubeVersion,
    /// `H-23`, `H-45`: `template --dry-run=server` asks the server for capabilities and maps every object.
    ServerCapabilities,
    /// `H-25`: a prerelease in one part of an AND admits prereleases for the whole group.
    GroupPrereleases,
    /// `H-26`: semver 3.4 wording (`invalid semantic version`).
    Semver34,
    /// `H-26`: semver 3.5 wording (quoted constraints) and length limit.
    Semver35,
    /// `H-27`: `.Chart` is a map.
    ChartIsMap,
    /// `H-28`: `mustToYaml` exists.
    MustToYaml,
    /// `H-28`: `mustToToml` exists.
    MustToToml,
    /// `H-28`: the duration functions exist.
    DurationFunctions,
    /// `H-29`: `toToml` prints floats with an exponent.
    TomlExponents,
    /// `H-30`: `.Files.Lines` of an empty file is an empty list.
    EmptyLines,
    /// `H-31`: types are called `common.…`.
    CommonTypeNames,
    /// `H-32`: `range` over integers.
    RangesIntegers,
    /// `H-32`, `H-33`: with the newer Go, the lines of comments count in errors of parsing.
    CountsCommentLines,
    /// `H-33`: comparison errors name the types.
    NamesComparedTypes,
    /// `H-34`: all documents of a values file are merged.
    MultiDocumentValues,
    /// `H-35`: a values file's last line is lost at multiples of 4096 bytes.
    LosesLastLine,
    /// `H-36`: errors of values files carry `cannot unmarshal yaml document: `.
    UnmarshalPrefix,
    /// `H-37`: UTF-16 values files are refused.
    RefusesUtf16,
    /// `H-38`: the chart names `.` and `..` are refused.
    RefusesDotNames,
    /// `H-38`: Chart.yaml `apiVersion: v3` is refused.
    RefusesApiV3,
    /// `H-39`: numbers in import-values are taken as text.
    ImportValuesNumbers,
    /// `H-40`: `--set-json` takes a whole object.
    SetJsonObject,
    /// `H-41`–`H-43`: the 2020-12 schema validator.
    Schema2020,
    /// `H-43`: faults of schemas name the place of items behind a list, and of property names (seen in 3.22.0 and 4.3.2, not in
    /// 4.2.2).
    PlacesSchemaFaults,
    /// `H-44`: `$ref: urn:` is ignored with a warning.
    IgnoresUrnRefs,
    /// `H-46`: webhook configurations have a place in the install order.
    OrdersWebhooks,
    /// `H-47`: template errors over several lines.
    MultiLineErrors,
    /// `H-48`: warnings as structured log lines.
    LogWarnings,
    /// `H-49`: an index that is cut off ends a `--set` text: its error wraps the end of the text (seen in 4.1.4, 4.2.2, 4.3.2).
    CutIndexEnds,
    /// `H-49`: wording changes of Helm 4.
    Wording4,
    /// `H-49`: with `--debug`, an error of rendering is told rather than that a template is not there.
    FirstError,
    /// `H-49`: wording changes of Helm 4.2 (quotes instead of backticks).
    Wording42,
}

impl Quirk {
    /// The table: which versions have the quirk.
    fn holds(self, helm: HelmVersion) -> bool {
        use Quirk::*;
        let n = helm.number;
        let from = |three: Option<(u16, u16)>, four: (u16, u16, u16)| match n.0 {
            3 => three.is_some_and(|(minor, patch)| (n.1, n.2) >= (minor, patch)),
            _ => n >= four,
        };
        match self {
            DropsDefaultNulls => from(None, (4, 2, 0)),
            KeepsNullOverNestedNull => from(Some((20, 2)), (4, 1, 4)),
            KeepsTrailingSpace => from(None, (4, 2, 0)),
            LineSeparators => from(None, (4, 2, 4)),
            PostRendersDocuments => from(None, (4, 0, 0)),
            StripsKubeVersionFlag | ShortKubeVersion => from(Some((19, 0)), (4, 0, 0)),
            KubeVersionNormalized => from(None, (4, 1, 0)),
            ServerCapabilities => from(None, (4, 0, 0)),
            GroupPrereleases | Semver34 => from(Some((19, 0)), (4, 0, 0)),
            Semver35 => from(Some((22, 0)), (4, 2, 0)),
            ChartIsMap | MustToYaml | CommonTypeNames | MultiDocumentValues => from(None, (4, 0, 0)),
            MustToToml => from(None, (4, 2, 0)),
            DurationFunctions => from(None, (4, 3, 0)),
            TomlExponents => from(Some((20, 0)), (4, 0, 0)),
            EmptyLines => from(Some((22, 0)), (4, 3, 0)),
            RangesIntegers | CountsCommentLines => helm.go >= 24,
            NamesComparedTypes => helm.go >= 24,
            LosesLastLine => ((4, 0, 0)..(4, 3, 0)).contains(&n),
            UnmarshalPrefix | RefusesUtf16 | RefusesApiV3 | SetJsonObject => from(None, (4, 0, 0)),
            RefusesDotNames => from(Some((20, 2)), (4, 1, 4)),
            ImportValuesNumbers => from(Some((18, 6)), (4, 0, 0)),
            Schema2020 => from(Some((18, 6)), (4, 0, 0)),
            PlacesSchemaFaults => from(Some((22, 0)), (4, 3, 0)),
            IgnoresUrnRefs => from(Some((20, 0)), (4, 1, 0)),
            OrdersWebhooks | CutIndexEnds | MultiLineErrors | LogWarnings | Wording4 => from(None, (4, 0, 0)),
            FirstError => from(None, (4, 3, 0)),
            Wording42 => from(None, (4, 2, 0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_programs_tell_their_commit_and_libraries_do_not() {
        assert_eq!(HelmVersion::cli(4, 1, 4).build().1, "clean");
        assert_eq!(HelmVersion::cli(3, 17, 3).build().2, "go1.23.7");
        assert_eq!(HelmVersion::library(4, 1, 4, 26).build(), ("", "", "go1.26.8".into()));
    }

    #[test]
    fn a_line_and_a_major_stand_for_their_newest_release() {
        for (text, number) in
            [("3", (3, 22, 0)), ("4", (4, 3, 2)), ("4.2", (4, 2, 2)), ("v3.17", (3, 17, 3)), ("4.2.4", (4, 2, 4))]
        {
            assert_eq!(text.parse::<HelmVersion>().unwrap().number, number, "{text}");
        }
    }

    #[test]
    fn one_quirk_can_be_otherwise() {
        let helm: HelmVersion = "4.2".parse().unwrap();
        let other = helm.flipped(Quirk::ChartIsMap);
        assert!(helm.has(Quirk::ChartIsMap) && !other.has(Quirk::ChartIsMap) && other.has(Quirk::MustToYaml));
        assert!(Quirk::ALL.iter().all(|quirk| quirk.rule().starts_with("`H-")));
    }

    #[test]
    fn what_is_no_version_is_refused_with_the_forms_that_work() {
        for text in ["", "5", "latest", "4.2.2.1", "2.17.0"] {
            assert!(text.parse::<HelmVersion>().unwrap_err().to_string().contains("4.2.2"), "{text}");
        }
    }
}
