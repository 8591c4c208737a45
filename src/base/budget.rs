//! Limits that every run obeys, so that hostile input ends in an error and not in a hang.

use std::cell::Cell;

/// How much work one render may do. Counters only go down; whoever finds one empty reports [`Exhausted`].
#[derive(Debug)]
pub struct Budget {
    steps: Cell<u64>,
    output: Cell<u64>,
}

/// A limit was reached: which one, and its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("limit reached: {what} (at most {limit})")]
pub struct Exhausted {
    /// What ran out, in words.
    pub what: &'static str,
    /// The limit in its own unit (steps or bytes).
    pub limit: u64,
}

/// Most evaluation steps (actions, calls, loop turns) one render takes.
pub const MAX_STEPS: u64 = 20_000_000;
/// Most bytes one render writes, intermediate texts included.
pub const MAX_OUTPUT: u64 = 128 << 20;

impl Default for Budget {
    fn default() -> Self {
        Budget { steps: Cell::new(MAX_STEPS), output: Cell::new(MAX_OUTPUT) }
    }
}

impl Budget {
    /// Takes one evaluation step.
    #[inline]
    pub fn step(&self) -> Result<(), Exhausted> {
        let left = self.steps.get();
        if left == 0 {
            return Err(Exhausted { what: "evaluation steps", limit: MAX_STEPS });
        }
        self.steps.set(left - 1);
        Ok(())
    }

    /// Takes `bytes` of output.
    #[inline]
    pub fn write(&self, bytes: usize) -> Result<(), Exhausted> {
        let left = self.output.get();
        let want = bytes as u64;
        if left < want {
            return Err(Exhausted { what: "bytes of output", limit: MAX_OUTPUT });
        }
        self.output.set(left - want);
        Ok(())
    }
}
