//! Exit statuses: part of the interface.

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Everything was read and there is nothing to do.
    Clean = 0,
    /// Some of the input could not be used, or a chart does not render; the rest was still answered.
    Problems = 1,
    /// There are findings.
    Findings = 2,
    /// `settled`: not yet; controllers are at it, or will be.
    Wait = 3,
    /// `settled`: not, and not without somebody's doing.
    Blocked = 4,
    /// `settled`: the snapshot does not tell.
    Unknown = 5,
    /// The command line is wrong (as clap says), or nothing could be read at all.
    Usage = 64,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        (exit as u8).into()
    }
}
