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
    /// No daemon answers.
    NoDaemon,
    /// Our own output or state cannot be written.
    Output,
    /// Another instance holds the state.
    Held,
    /// The state is inconsistent with the output.
    Inconsistent,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Done => 0,
            Exit::SomeFailed => 1,
            Exit::Usage => 2,
            Exit::NoDaemon => 69,
            Exit::Output => 74,
            Exit::Held => 75,
            Exit::Inconsistent => 78,
        })
    }
}
