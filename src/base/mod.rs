//! What every layer stands on: versions, diagnostics, budgets, and the three answers a fact can have.

pub mod budget;
pub mod diag;
pub mod version;

/// The answer to "what does the cluster hold there?".
///
/// *Absent* means that somebody looked and found nothing; *Uncollected* means that nobody looked. A verdict must never
/// treat the second as the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Known<T> {
    /// It was collected and is there.
    Present(T),
    /// It was collected and is not there.
    Absent,
    /// It was not collected: neither presence nor absence may be concluded.
    Uncollected,
}

impl<T> Known<T> {
    /// The value, if there is one.
    pub fn present(self) -> Option<T> {
        match self {
            Known::Present(value) => Some(value),
            Known::Absent | Known::Uncollected => None,
        }
    }

    /// Applies `f` to a present value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Known<U> {
        match self {
            Known::Present(value) => Known::Present(f(value)),
            Known::Absent => Known::Absent,
            Known::Uncollected => Known::Uncollected,
        }
    }
}
