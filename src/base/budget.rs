//! Limits that every run obeys, so that hostile input ends in an error and not in a hang.

use std::cell::Cell;

/// How much work one render may do. Counters only go down; whoever finds one empty reports [`Exhausted`].
#[derive(Debug)]
pub struct Budget {
    steps: Cell<u64>,
    output: Cell<u64>,
    made: Cell<u64>,
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
/// Most bytes of texts and lists that functions make in one render.
pub const MAX_MADE: u64 = 192 << 20;
/// Bytes that are looked at for one step.
const BYTES_A_STEP: u64 = 64;

impl Default for Budget {
    fn default() -> Self {
        Budget { steps: Cell::new(MAX_STEPS), output: Cell::new(MAX_OUTPUT), made: Cell::new(MAX_MADE) }
    }
}

impl Budget {
    /// Takes one evaluation step.
    #[inline]
    pub fn step(&self) -> Result<(), Exhausted> {
        take(&self.steps, 1, "evaluation steps", MAX_STEPS)
    }

    /// Takes the steps that reading `bytes` bytes counts for.
    #[inline]
    pub fn work(&self, bytes: usize) -> Result<(), Exhausted> {
        take(&self.steps, bytes as u64 / BYTES_A_STEP, "evaluation steps", MAX_STEPS)
    }

    /// Takes `bytes` of what functions may make.
    #[inline]
    pub fn make(&self, bytes: usize) -> Result<(), Exhausted> {
        take(&self.made, bytes as u64, "bytes made by functions", MAX_MADE)
    }

    /// Takes `bytes` of output.
    #[inline]
    pub fn write(&self, bytes: usize) -> Result<(), Exhausted> {
        take(&self.output, bytes as u64, "bytes of output", MAX_OUTPUT)
    }
}

#[inline]
fn take(from: &Cell<u64>, want: u64, what: &'static str, limit: u64) -> Result<(), Exhausted> {
    let left = from.get().checked_sub(want).ok_or(Exhausted { what, limit })?;
    from.set(left);
    Ok(())
}
