//! Exit codes, which scripts rely on.

use std::process::ExitCode;

/// The exit code of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(any(feature = "daemon", feature = "load")),
    expect(
        dead_code,
        reason = "only `load` and the commands of the daemon end so"
    )
)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// Done, but some input failed; or, with `parse --check`, some URL was rejected.
    SomeFailed,
    /// The arguments or the configuration cannot be used.
    Usage,
    /// No daemon answers, or the server of a load cannot be reached.
    Unreachable,
    /// The output or the state cannot be written.
    Output,
    /// Another instance is running with the same state.
    Locked,
    /// The state and the output contradict each other.
    Inconsistent,
    /// A signal interrupted the command.
    Interrupted,
}

impl Exit {
    /// The number that the shell sees.
    pub(super) fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::SomeFailed => 1,
            Exit::Usage => 2,
            Exit::Unreachable => 69,
            Exit::Output => 74,
            Exit::Locked => 75,
            Exit::Inconsistent => 78,
            Exit::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
