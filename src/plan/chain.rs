//! Chains: from an object back, through gates and helpers, to the lookup that decides it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::report::contract::Chain;
use crate::template::gate::{Frame, Gate, LookupUse, Place};
use crate::value::origin::{LookupKey, Origin, OriginSet, Origins};

/// The fields of lookups that a set of origins goes back to, through any gates in it.
///
/// Of the fields of one object only the innermost are kept: who reads `.status.name` has read `.status` on the way.
pub fn lookups_of(set: OriginSet, origins: &Origins, gates: &[Gate]) -> BTreeMap<Rc<LookupKey>, BTreeSet<Rc<str>>> {
    let mut found: BTreeMap<Rc<LookupKey>, BTreeSet<Rc<str>>> = BTreeMap::new();
    for origin in flatten(set, origins, gates) {
        if let Origin::Lookup { key, path } = origin {
            found.entry(key).or_default().insert(path);
        }
    }
    for paths in found.values_mut() {
        let all: Vec<Rc<str>> = paths.iter().cloned().collect();
        paths.retain(|p| !all.iter().any(|q| is_below(q, p)));
    }
    found
}

/// Whether `path` lies below `above` (`.status.name` below `.status`).
fn is_below(path: &str, above: &str) -> bool {
    path.len() > above.len() && path.starts_with(above) && path[above.len()..].starts_with(['.', '['])
}

/// Every origin of a set, with the gates in it replaced by what they read and stand in.
pub fn flatten(set: OriginSet, origins: &Origins, gates: &[Gate]) -> BTreeSet<Origin> {
    let mut seen_sets = BTreeSet::new();
    let mut queue = vec![set];
    let mut found = BTreeSet::new();
    while let Some(set) = queue.pop() {
        if set.is_empty() || !seen_sets.insert(set) {
            continue;
        }
        for origin in origins.members(set) {
            if let Origin::Gate(id) = origin
                && let Some(gate) = gates.get(id.0 as usize)
            {
                queue.push(gate.reads);
                queue.push(gate.context);
            }
            found.insert(origin);
        }
    }
    found
}

/// The chain from whatever has these origins to a field of a looked-up object.
///
/// It starts at the gate nearest to the object whose condition goes back to the key, or, where no gate does, at the place
/// that put the value there.
pub fn chain(
    set: OriginSet,
    key: &Rc<LookupKey>,
    field: &str,
    origins: &Origins,
    gates: &[Gate],
    lookups: &[LookupUse],
) -> Chain {
    let decides = |gate: &&Gate| {
        flatten(gate.reads, origins, gates).iter().any(|o| matches!(o, Origin::Lookup { key: k, .. } if k == key))
    };
    // The gates of the document itself come before those inside helpers: they were entered from the file.
    let gate = gate_ids(set, origins)
        .into_iter()
        .filter_map(|id| gates.get(id as usize))
        .filter(decides)
        .min_by_key(|gate| (gate.stack.len(), gate.id.0));
    let near = |lookup: &&LookupUse| {
        let same_file = gate.is_none_or(|gate| outermost(&lookup.stack) == outermost(&gate.stack));
        (!same_file, gate.map_or(0, |gate| distance(&gate.place, &lookup.stack)), lookup.place.clone())
    };
    let lookup = lookups.iter().filter(|l| &l.key == key).min_by_key(near);
    Chain {
        place: gate.map(|g| place(&g.place)).or_else(|| lookup.map(|l| entry(&l.stack, &l.place))).unwrap_or_default(),
        condition: gate.map(|g| g.condition.to_string()).unwrap_or_default(),
        helpers: lookup.map(|l| helpers(&l.stack)).unwrap_or_default(),
        lookup: lookup.map(|l| place(&l.place)).unwrap_or_default(),
        key: key.to_string(),
        field: field.to_owned(),
    }
}

fn gate_ids(set: OriginSet, origins: &Origins) -> Vec<u32> {
    origins.members(set).into_iter().filter_map(|o| if let Origin::Gate(id) = o { Some(id.0) } else { None }).collect()
}

fn outermost(stack: &[Frame]) -> Option<&str> {
    stack.first().map(|frame| &*frame.template)
}

/// How far the call that led to a lookup stands from a gate, in lines of the same file.
fn distance(gate: &Place, stack: &[Frame]) -> u32 {
    stack
        .iter()
        .filter_map(|frame| frame.called_at.as_ref())
        .filter(|place| place.file == gate.file)
        .map(|place| place.line.abs_diff(gate.line))
        .min()
        .unwrap_or(u32::MAX)
}

/// Where the file itself calls into the helpers.
fn entry(stack: &[Frame], own: &Place) -> String {
    stack.iter().find_map(|frame| frame.called_at.as_ref()).map_or_else(|| place(own), place)
}

fn helpers(stack: &[Frame]) -> Vec<String> {
    stack
        .iter()
        .filter_map(|frame| frame.called_at.as_ref().map(|at| format!("{} (called at {})", frame.template, place(at))))
        .collect()
}

fn place(place: &Place) -> String {
    format!("{}:{}", place.file, place.line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::origin::GateId;

    #[test]
    fn only_the_innermost_field_that_was_read_is_named() {
        let origins = Origins::new(true);
        let key = Rc::new(LookupKey {
            api_version: "v1".into(),
            kind: "Secret".into(),
            namespace: "a".into(),
            name: "b".into(),
        });
        let at = |path: &str| origins.only(Origin::Lookup { key: key.clone(), path: path.into() });
        let set = origins.union_all([at(""), at(".data"), at(".data.x"), at(".database")]);
        let fields: Vec<_> = lookups_of(set, &origins, &[])[&key].iter().map(ToString::to_string).collect();
        assert_eq!(fields, [".data.x", ".database"]);
    }

    #[test]
    fn a_gate_stands_for_what_its_condition_read() {
        let origins = Origins::new(true);
        let reads = origins.only(Origin::KubeVersion);
        let place = Place { file: "f".into(), line: 1, column: 0 };
        let gate = Gate {
            id: GateId(0),
            kind: crate::template::gate::GateKind::If,
            place,
            condition: "x".into(),
            stack: Rc::from([]),
            reads,
            context: OriginSet::EMPTY,
            open: true,
            hidden: None,
        };
        let set = origins.only(Origin::Gate(GateId(0)));
        assert!(flatten(set, &origins, &[gate]).contains(&Origin::KubeVersion));
    }
}
