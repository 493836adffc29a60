//! Exit codes, which scripts rely on.

use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// Done, but some input failed; or, with `parse --check`, some URL was refused.
    SomeFailed,
    /// The arguments or the configuration cannot be used.
    Usage,
    /// Our own output cannot be written.
    Output,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Done => 0,
            Exit::SomeFailed => 1,
            Exit::Usage => 2,
            Exit::Output => 74,
        })
    }
}
