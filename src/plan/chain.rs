//! Chains: from an object back, through gates and helpers, to the fact that decides it.

use std::collections::BTreeSet;

use super::fact::Fact;
use super::render::Rendered;
use crate::report::contract::Chain;
use crate::template::gate::{Frame, Gate, LookupUse, Place};
use crate::value::origin::{Origin, OriginSet, Origins};

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

/// The chain from whatever has these origins (something of the template file `source`) to a field of a fact.
///
/// It starts at the gate nearest to the object whose condition goes back to the fact, or, where no gate does, at the place
/// that put the value there.
pub fn chain(set: OriginSet, fact: &Fact, field: &str, rendered: &Rendered, source: &str) -> Chain {
    let Rendered { origins, gates, lookups, .. } = rendered;
    let of_fact = |o: &Origin| Fact::of(o).is_some_and(|(other, _)| other == *fact);
    let decides = |gate: &&Gate| flatten(gate.reads, origins, gates).iter().any(of_fact);
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
    let lookup = fact.lookup().and_then(|key| lookups.iter().filter(|l| l.key == *key).min_by_key(near));
    let stack = lookup.map(|l| &l.stack).or(gate.map(|g| &g.stack));
    let start = gate.map(|g| place(&g.place)).or_else(|| lookup.map(|l| entry(&l.stack, &l.place)));
    Chain {
        place: start.unwrap_or_else(|| source.to_owned()),
        condition: gate.map(|g| g.condition.to_string()).unwrap_or_default(),
        helpers: stack.map(|stack| helpers(stack)).unwrap_or_default(),
        lookup: lookup.map(|l| place(&l.place)).unwrap_or_default(),
        key: fact.to_string(),
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
    use std::rc::Rc;

    use super::*;
    use crate::value::origin::GateId;

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
