//! Where a value came from: facts, and the gates whose outcome it depends on.
//!
//! Sets of origins are interned: a [`OriginSet`] is a number, the union of two is looked up in a table, and a value that
//! came from nowhere but the chart costs nothing.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::rc::Rc;

/// One origin in an [`Origins`] table; 0 is "none".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct OriginId(pub u32);

/// A set of origins in an [`Origins`] table; 0 is the empty set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct OriginSet(pub u32);

/// A gate (a branch taken on a value with origins) in a recorder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GateId(pub u32);

impl OriginId {
    /// No origin.
    pub const NONE: OriginId = OriginId(0);
}

impl OriginSet {
    /// The set of a constant.
    pub const EMPTY: OriginSet = OriginSet(0);

    /// Whether the set is empty.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// What a template asked the cluster for, after evaluation of its arguments.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LookupKey {
    /// `group/version`, or `v1`, as the template gave it.
    pub api_version: Rc<str>,
    /// Kind as the template gave it.
    pub kind: Rc<str>,
    /// Namespace as the template gave it; "" for none.
    pub namespace: Rc<str>,
    /// Name; "" asks for a list (L2).
    pub name: Rc<str>,
}

impl fmt::Display for LookupKey {
    /// `BucketClaim tenant-root/bucket`; a list shows `*` for the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.kind)?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(if self.name.is_empty() { "*" } else { &self.name })
    }
}

/// Which layer of values a leaf came from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// values.yaml of the chart with this path (`app`, `app/charts/db`).
    Chart(Rc<str>),
    /// A values file, reference or flag given by the user, by its name.
    User(Rc<str>),
}

/// One ambient fact that a render can depend on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// A field (`.status.bucketName`; "" is the whole object) of what a lookup answered.
    Lookup {
        /// What was asked.
        key: Rc<LookupKey>,
        /// The field.
        path: Rc<str>,
    },
    /// An API version or resource that was asked for (`apps/v1`, `apps/v1/Deployment`); `*` is the whole list.
    ApiVersion(Rc<str>),
    /// The version of Kubernetes.
    KubeVersion,
    /// The version of Helm.
    HelmVersion,
    /// A leaf of the values with its layer and path (`.image.tag`).
    Value {
        /// Whose values.
        layer: Layer,
        /// The leaf.
        path: Rc<str>,
    },
    /// A field of `.Release` (`Name`, `IsInstall`, `Revision`, …).
    Release(&'static str),
    /// A random function, by call site (`template:line:column function`).
    Random(Rc<str>),
    /// The clock, by call site.
    Clock(Rc<str>),
    /// A host name that was resolved.
    Dns(Rc<str>),
    /// A line of a template that prints it, by file; only where places are asked for.
    Written(Rc<str>, u32),
    /// The outcome of a gate; the gate's own origins are in its record.
    Gate(GateId),
}

#[derive(Debug, Default)]
struct Table {
    origins: Vec<Origin>,
    origin_ids: HashMap<Origin, OriginId>,
    sets: Vec<Set>,
    set_ids: HashMap<Rc<[OriginId]>, OriginSet>,
    unions: HashMap<(OriginSet, OriginSet), OriginSet>,
}

/// What a set is. Small sets are lists, one per content. A larger one is the two that it was joined from, so that a value
/// that gathers origins in a loop costs as much as the loop has turns; two of them may have the same members.
#[derive(Debug)]
enum Set {
    /// Its members, ascending.
    Listed(Rc<[OriginId]>),
    /// The union of two.
    Joined(OriginSet, OriginSet),
}

/// Most members of a set that is a list.
const LISTED: usize = 64;

/// The interning table of one render. With tracking off it hands out only empty sets; the engine is the same.
#[derive(Debug)]
pub struct Origins {
    tracking: bool,
    table: RefCell<Table>,
}

impl Origins {
    /// A new table; `tracking: false` makes every set empty.
    pub fn new(tracking: bool) -> Self {
        let mut table = Table::default();
        table.origins.push(Origin::KubeVersion); // index 0 is "none" and never read
        let empty: Rc<[OriginId]> = Rc::from([]);
        table.sets.push(Set::Listed(empty.clone()));
        table.set_ids.insert(empty, OriginSet::EMPTY);
        Origins { tracking, table: RefCell::new(table) }
    }

    /// Whether origins are recorded at all.
    pub fn tracking(&self) -> bool {
        self.tracking
    }

    /// The number of an origin.
    pub fn intern(&self, origin: Origin) -> OriginId {
        if !self.tracking {
            return OriginId::NONE;
        }
        let table = &mut *self.table.borrow_mut();
        if let Some(id) = table.origin_ids.get(&origin) {
            return *id;
        }
        let id = OriginId(table.origins.len() as u32);
        table.origins.push(origin.clone());
        table.origin_ids.insert(origin, id);
        id
    }

    /// The set with one element; the empty set for [`OriginId::NONE`].
    pub fn single(&self, id: OriginId) -> OriginSet {
        if id == OriginId::NONE { OriginSet::EMPTY } else { self.table.borrow_mut().set(&[id]) }
    }

    /// Interns an origin and returns the set that holds just it.
    pub fn only(&self, origin: Origin) -> OriginSet {
        let id = self.intern(origin);
        self.single(id)
    }

    /// The union of two sets.
    #[inline]
    pub fn union(&self, a: OriginSet, b: OriginSet) -> OriginSet {
        if a == b || b.is_empty() {
            return a;
        }
        if a.is_empty() {
            return b;
        }
        self.table.borrow_mut().union(a, b)
    }

    /// The union of many sets.
    pub fn union_all(&self, sets: impl IntoIterator<Item = OriginSet>) -> OriginSet {
        let mut sets = sets.into_iter().filter(|set| !set.is_empty());
        let Some(first) = sets.next() else { return OriginSet::EMPTY };
        let Some(other) = sets.find(|set| *set != first) else { return first };
        let mut level = vec![first, other];
        level.extend(sets);
        level.sort_unstable();
        level.dedup();
        let table = &mut *self.table.borrow_mut();
        if level.len() > 2
            && let Some(union) = table.listed_union(&level)
        {
            return union;
        }
        // Halved level by level: no set is looked at more often than there are levels.
        while level.len() > 1 {
            level = level.chunks(2).filter_map(|pair| pair.iter().copied().reduce(|a, b| table.union(a, b))).collect();
        }
        level.first().copied().unwrap_or_default()
    }

    /// The origins in a set, in the order they were first met.
    pub fn members(&self, set: OriginSet) -> Vec<Origin> {
        let table = self.table.borrow();
        table.ids(set).iter().map(|id| table.origins[id.0 as usize].clone()).collect()
    }

    /// Every origin that was met, also those that nothing depends on.
    pub fn all(&self) -> Vec<Origin> {
        self.table.borrow().origins.iter().skip(1).cloned().collect()
    }

    /// The numbers of the origins in a set, ascending.
    pub fn ids(&self, set: OriginSet) -> Rc<[OriginId]> {
        self.table.borrow().ids(set)
    }

    /// The origin of that number, if it is one.
    pub fn get(&self, id: OriginId) -> Option<Origin> {
        if id == OriginId::NONE { None } else { self.table.borrow().origins.get(id.0 as usize).cloned() }
    }

    /// The place one field (`name`) or index (`[3]`) below the place `at`: a longer lookup or values path.
    pub fn descend(&self, at: OriginId, step: &str) -> OriginId {
        let extend = |path: &str| -> Rc<str> {
            if step.starts_with('[') { format!("{path}{step}").into() } else { format!("{path}.{step}").into() }
        };
        match self.get(at) {
            Some(Origin::Lookup { key, path }) => self.intern(Origin::Lookup { key, path: extend(&path) }),
            Some(Origin::Value { layer, path }) => self.intern(Origin::Value { layer, path: extend(&path) }),
            _ => OriginId::NONE,
        }
    }
}

impl Table {
    fn set(&mut self, ids: &[OriginId]) -> OriginSet {
        if let Some(set) = self.set_ids.get(ids) {
            return *set;
        }
        let ids: Rc<[OriginId]> = ids.into();
        let set = self.add(Set::Listed(ids.clone()));
        self.set_ids.insert(ids, set);
        set
    }

    fn add(&mut self, set: Set) -> OriginSet {
        self.sets.push(set);
        OriginSet(self.sets.len() as u32 - 1)
    }

    fn union(&mut self, a: OriginSet, b: OriginSet) -> OriginSet {
        let pair = (a.min(b), a.max(b));
        if a == b || pair.0.is_empty() {
            return pair.1;
        }
        let holds = |set: OriginSet, other| match &self.sets[set.0 as usize] {
            Set::Joined(one, two) => *one == other || *two == other,
            Set::Listed(_) => false,
        };
        if holds(a, b) {
            return a;
        }
        if holds(b, a) {
            return b;
        }
        if let Some(set) = self.unions.get(&pair) {
            return *set;
        }
        let set = self.listed_union(&[a, b]).unwrap_or_else(|| self.add(Set::Joined(pair.0, pair.1)));
        self.unions.insert(pair, set);
        set
    }

    /// The union as a list, if all are lists and it is small enough.
    fn listed_union(&mut self, sets: &[OriginSet]) -> Option<OriginSet> {
        let mut ids = Vec::new();
        for set in sets {
            match &self.sets[set.0 as usize] {
                Set::Listed(listed) if ids.len() <= LISTED * 2 => ids.extend_from_slice(listed),
                _ => return None,
            }
        }
        ids.sort_unstable();
        ids.dedup();
        (ids.len() <= LISTED).then(|| self.set(&ids))
    }

    fn ids(&self, set: OriginSet) -> Rc<[OriginId]> {
        if let Set::Listed(ids) = &self.sets[set.0 as usize] {
            return ids.clone();
        }
        let mut ids = Vec::new();
        let mut seen = HashSet::from([set]);
        let mut todo = vec![set];
        while let Some(set) = todo.pop() {
            match &self.sets[set.0 as usize] {
                Set::Listed(listed) => ids.extend_from_slice(listed),
                Set::Joined(one, two) => todo.extend([*one, *two].into_iter().filter(|set| seen.insert(*set))),
            }
        }
        ids.sort_unstable();
        ids.dedup();
        ids.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unions_are_interned_and_order_free() {
        let origins = Origins::new(true);
        let a = origins.only(Origin::Release("Name"));
        let b = origins.only(Origin::KubeVersion);
        assert_eq!(origins.union(a, b), origins.union(b, a));
        assert_eq!(origins.union(a, OriginSet::EMPTY), a);
        assert_eq!(origins.union_all([a, b, a]), origins.union(a, b));
    }

    #[test]
    fn large_sets_know_their_members_whatever_way_they_were_joined() {
        let origins = Origins::new(true);
        let ids: Vec<OriginId> = (0..1000).map(|i| origins.intern(Origin::Dns(format!("h{i}").into()))).collect();
        let singles: Vec<OriginSet> = ids.iter().map(|id| origins.single(*id)).collect();
        let one_by_one = singles.iter().fold(OriginSet::EMPTY, |all, one| origins.union(all, *one));
        let backwards = origins.union_all(singles.iter().rev().copied());
        assert_eq!(*origins.ids(one_by_one), ids);
        assert_eq!(*origins.ids(backwards), ids);
        assert_eq!(origins.union(one_by_one, singles[999]), one_by_one);
        assert_eq!(origins.members(origins.union(one_by_one, backwards)).len(), 1000);
    }

    #[test]
    fn without_tracking_every_set_is_empty() {
        let origins = Origins::new(false);
        assert!(origins.only(Origin::KubeVersion).is_empty());
    }
}
