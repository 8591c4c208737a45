//! Gates: branches taken on values that have origins, and the facts that were read.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::value::OriginSet;
use crate::value::origin::{GateId, LookupKey};

/// A place in a template.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Template file (`app/templates/x.yaml`).
    pub file: Rc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Byte column, from 0, as Go counts.
    pub column: u32,
}

/// What kind of branch a gate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GateKind {
    /// `if`
    If,
    /// `with`
    With,
    /// `range`: open when there was an element.
    Range,
}

/// One evaluation of a branch whose condition had origins.
#[derive(Debug, Clone)]
pub struct Gate {
    /// Its number in the recorder.
    pub id: GateId,
    /// What kind of branch.
    pub kind: GateKind,
    /// Where the condition stands.
    pub place: Place,
    /// Source text of the condition, as Go prints it.
    pub condition: Rc<str>,
    /// Named templates being executed, outermost first, each with the place of its `include` or `template`.
    pub stack: Rc<[Frame]>,
    /// Where the condition came from.
    pub reads: OriginSet,
    /// Gates around this one.
    pub context: OriginSet,
    /// Whether the first branch was taken.
    pub open: bool,
    /// Where the branch that was not taken starts, and the line after its end; `None` if there is none.
    pub hidden: Option<(u32, u32)>,
}

/// One template being executed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Frame {
    /// Name of the template (`app.bucketName`, or the file for the outermost).
    pub template: Rc<str>,
    /// Where it was called from; the outermost has none.
    pub called_at: Option<Place>,
}

/// One evaluation of a lookup.
#[derive(Debug, Clone)]
pub struct LookupUse {
    /// What was asked, with evaluated arguments.
    pub key: Rc<LookupKey>,
    /// Where.
    pub place: Place,
    /// Named templates being executed.
    pub stack: Rc<[Frame]>,
    /// Whether the answer held an object, or a list with at least one item.
    pub found: bool,
    /// What the name was built from; empty for one that the chart writes out.
    pub name: OriginSet,
    /// Gates around the call.
    pub context: OriginSet,
}

/// Everything a render recorded on the side.
#[derive(Debug, Default, Clone)]
pub struct Recorder {
    /// Gates in the order they were met.
    pub gates: Vec<Gate>,
    /// Lookups in the order they were evaluated.
    pub lookups: Vec<LookupUse>,
    known: HashMap<GateKey, GateId>,
    stacks: HashSet<Rc<[Frame]>>,
}

/// What tells gates apart: kind, line and column, condition, stack (each is kept once), reads, context, outcome. The
/// stack's last template says the file.
type GateKey = (GateKind, u32, u32, Rc<str>, *const Frame, OriginSet, OriginSet, bool);

impl Recorder {
    /// The number of a gate: a new one, or that of an evaluation that was the same in everything, as in turns of a loop.
    pub(super) fn gate(&mut self, gate: Gate) -> GateId {
        let (line, column, condition) = (gate.place.line, gate.place.column, gate.condition.clone());
        let key = (gate.kind, line, column, condition, gate.stack.as_ptr(), gate.reads, gate.context, gate.open);
        let next = GateId(self.gates.len() as u32);
        let id = *self.known.entry(key).or_insert(next);
        if id == next {
            self.gates.push(Gate { id, ..gate });
        }
        id
    }

    /// The one copy of a stack.
    pub(super) fn stack(&mut self, frames: &[Frame]) -> Rc<[Frame]> {
        if let Some(known) = self.stacks.get(frames) {
            return known.clone();
        }
        let stack: Rc<[Frame]> = frames.into();
        self.stacks.insert(stack.clone());
        stack
    }
}
