//! Facts: the ambient inputs of a render, each of which can be supposed to be otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Bound;
use std::rc::Rc;

use super::chain::flatten;
use super::render::Rendered;
use crate::flux::layers::INLINE;
use crate::value::origin::{Layer, LookupKey, Origin, OriginSet};

/// One ambient input that can be supposed otherwise: emptied, flipped, put back.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fact {
    /// What a lookup finds; without it, nothing.
    Lookup(Rc<LookupKey>),
    /// Whether an API version or resource is served; without it, it is not.
    ApiVersion(Rc<str>),
    /// The version of Kubernetes; without it, one that is older than every constraint.
    KubeVersion,
    /// Whether the render installs or upgrades; without it, the other.
    Install,
    /// The number of the revision; without it, that of the stored one.
    Revision,
    /// The time; without it, that of the stored revision.
    Clock,
    /// What an object of `spec.valuesFrom` gives to the values, by its label; without it, nothing.
    Values(Rc<str>),
}

impl Fact {
    /// The fact behind an origin, with the field of it; `None` for origins that cannot be supposed otherwise.
    pub fn of(origin: &Origin) -> Option<(Fact, Rc<str>)> {
        Some(match origin {
            Origin::Lookup { key, path } => (Fact::Lookup(key.clone()), path.clone()),
            // The whole list can be printed, but not be asked for one thing less.
            Origin::ApiVersion(version) if &**version != "*" => (Fact::ApiVersion(version.clone()), "".into()),
            Origin::KubeVersion => (Fact::KubeVersion, "".into()),
            Origin::Release("IsInstall" | "IsUpgrade") => (Fact::Install, "".into()),
            Origin::Release("Revision") => (Fact::Revision, "".into()),
            Origin::Clock(_) => (Fact::Clock, "".into()),
            Origin::Value { layer: Layer::User(label), path } if &**label != INLINE => {
                (Fact::Values(label.clone()), path.clone())
            }
            _ => return None,
        })
    }

    /// Whether the state of the cluster decides it, and not the release's own history.
    pub fn is_of_cluster(&self) -> bool {
        matches!(self, Fact::Lookup(_) | Fact::ApiVersion(_) | Fact::KubeVersion)
    }

    /// The lookup, if it is one.
    pub fn lookup(&self) -> Option<&Rc<LookupKey>> {
        if let Fact::Lookup(key) = self { Some(key) } else { None }
    }
}

impl fmt::Display for Fact {
    /// `BucketClaim tenant-root/bucket`, `Capabilities.APIVersions v1.edp.epam.com/v1`, `Release.IsUpgrade`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fact::Lookup(key) => key.fmt(f),
            Fact::ApiVersion(version) => write!(f, "Capabilities.APIVersions {version}"),
            Fact::KubeVersion => f.write_str("Capabilities.KubeVersion"),
            Fact::Install => f.write_str("Release.IsUpgrade"),
            Fact::Revision => f.write_str("Release.Revision"),
            Fact::Clock => f.write_str("the time"),
            Fact::Values(label) => write!(f, "values of {label}"),
        }
    }
}

/// Facts and the fields of each.
pub type Reads = BTreeMap<Fact, BTreeSet<Rc<str>>>;

/// The facts that a set of origins goes back to, through any gates in it.
///
/// Of the fields of one object only the innermost are kept: who reads `.status.name` has read `.status` on the way.
pub fn facts_of(set: OriginSet, rendered: &Rendered) -> Reads {
    let mut found = Reads::new();
    for (fact, field) in flatten(set, &rendered.origins, &rendered.gates).iter().filter_map(Fact::of) {
        found.entry(fact).or_default().insert(field);
    }
    for paths in found.values_mut() {
        let all = paths.clone();
        paths.retain(|path| !has_below(&all, path));
    }
    found
}

/// Whether one of the paths lies below `above` (`.status.name` below `.status`): asked of the order of the set, which may
/// hold every element of a long list.
fn has_below(paths: &BTreeSet<Rc<str>>, above: &str) -> bool {
    ['.', '['].into_iter().any(|step| {
        let first = format!("{above}{step}");
        paths
            .range::<str, _>((Bound::Included(&*first), Bound::Unbounded))
            .next()
            .is_some_and(|path| path.starts_with(&first))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Origins;

    #[test]
    fn only_the_innermost_field_that_was_read_is_named() {
        let mut rendered = Rendered::failed(Origins::new(true), String::new());
        let key = Rc::new(LookupKey {
            api_version: "v1".into(),
            kind: "Secret".into(),
            namespace: "a".into(),
            name: "b".into(),
        });
        let at = |path: &str| rendered.origins.only(Origin::Lookup { key: key.clone(), path: path.into() });
        let set = rendered.origins.union_all([at(""), at(".data"), at(".data.x"), at(".database")]);
        let fields: Vec<_> = facts_of(set, &rendered)[&Fact::Lookup(key)].iter().map(ToString::to_string).collect();
        assert_eq!(fields, [".data.x", ".database"]);
        rendered.gates.clear();
    }

    #[test]
    fn every_fact_has_a_name() {
        let facts = [Fact::ApiVersion("a.io/v1".into()), Fact::KubeVersion, Fact::Install, Fact::Revision, Fact::Clock];
        let names = facts.map(|fact| fact.to_string());
        assert_eq!(
            names,
            [
                "Capabilities.APIVersions a.io/v1",
                "Capabilities.KubeVersion",
                "Release.IsUpgrade",
                "Release.Revision",
                "the time"
            ]
        );
    }
}
