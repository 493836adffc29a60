//! The end of a command: its exit code, which scripts rely on, and its error.

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use urlspool_files::config::ConfigError;
use urlspool_files::sink::OutputError;
use urlspool_text::diagnostic::printable as escaped;

/// The result of a command: its exit code, or an error to report.
pub(super) type CommandResult = Result<Exit, CommandError>;

/// An error that ends a command: the message for standard error, and the exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommandError {
    /// The exit code.
    pub(super) exit: Exit,
    message: String,
    /// Lines to print after the message.
    excerpt: Vec<String>,
}

impl CommandError {
    pub(super) fn new(exit: Exit, message: impl Into<String>) -> CommandError {
        CommandError {
            exit,
            message: message.into(),
            excerpt: Vec::new(),
        }
    }

    /// The error for unusable arguments, configuration or input.
    pub(super) fn usage(message: impl fmt::Display) -> CommandError {
        CommandError::new(Exit::Usage, format!("{message}"))
    }

    /// The error for an unusable configuration file.
    pub(super) fn config(error: &ConfigError) -> CommandError {
        CommandError {
            excerpt: error.excerpt.clone(),
            ..CommandError::usage(error)
        }
    }

    /// Appends a note to the message.
    pub(super) fn with_note(mut self, note: &str) -> CommandError {
        self.message += &format!(" ({note})");
        self
    }

    /// The error for unreadable input at `path`.
    pub(super) fn unreadable(path: &Path, reason: impl fmt::Display) -> CommandError {
        CommandError::new(
            Exit::SomeFailed,
            format!("cannot read {}: {reason}", path.display()),
        )
    }

    /// The error for the unwritable output `name`.
    pub(super) fn output(name: &str, error: impl fmt::Display) -> CommandError {
        CommandError::new(Exit::Output, format!("cannot write {name}: {error}"))
    }
}

impl fmt::Display for CommandError {
    /// Writes the message and the excerpt, which has separate lines. Each is escaped for a
    /// terminal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escaped(&self.message))?;
        let mut lines = self.excerpt.iter();
        lines.try_for_each(|line| write!(f, "\n{}", escaped(line)))
    }
}

impl std::error::Error for CommandError {}

/// The exit code of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    /// Done, but some input failed; or, with `parse --check`, some URL was rejected.
    SomeFailed,
    /// The arguments or the configuration are unusable.
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
    /// Returns the number that the shell sees.
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

impl From<OutputError> for CommandError {
    fn from(error: OutputError) -> CommandError {
        let exit = match error {
            OutputError::Refused(_) => Exit::Usage,
            OutputError::Failed { .. } => Exit::Output,
        };
        CommandError::new(exit, error.to_string())
    }
}
