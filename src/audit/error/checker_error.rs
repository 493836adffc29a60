//! Reasons why the link checker gives no results.

use std::fmt;
use std::path::PathBuf;

use crate::diagnostic::shortened;
use crate::limits::MESSAGE_VALUE_CHARS;

/// The reason why the link checker gives no results. Its path is as the user named it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckerError {
    /// The program cannot be run.
    NotRun {
        /// The program.
        checker: PathBuf,
        /// The error of the system.
        reason: String,
    },
    /// It does not print its version as lychee does.
    NoVersion {
        /// The program.
        checker: PathBuf,
    },
    /// It ended with an error, or with output that is not lychee's.
    Ended {
        /// The program.
        checker: PathBuf,
        /// Its exit code; `None` after a signal.
        code: Option<i32>,
        /// Its first message, or the reason why its output cannot be read; `None` if it gave neither.
        reason: Option<String>,
    },
}

impl fmt::Display for CheckerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckerError::NotRun { checker, reason } => write!(
                f,
                "cannot run {}: {reason}; install lychee (`cargo install lychee`), or name it with `--checker PATH`",
                checker.display()
            ),
            CheckerError::NoVersion { checker } => write!(
                f,
                "{} does not print its version as lychee does; name lychee with `--checker PATH`",
                checker.display()
            ),
            CheckerError::Ended {
                checker,
                code,
                reason,
            } => {
                let checker = checker.display();
                match code {
                    Some(code) => write!(f, "{checker} ended with exit code {code}: ")?,
                    None => write!(f, "{checker} was ended by a signal: ")?,
                }
                let reason = reason.as_deref().unwrap_or("it printed no message");
                f.write_str(&shortened(reason, MESSAGE_VALUE_CHARS))
            }
        }
    }
}

impl std::error::Error for CheckerError {}
