//! The error with which a command ends.

use std::fmt;
use std::io;

use super::exit::Exit;

/// The result of a command: its exit code, or an error to report.
pub(super) type CommandResult = Result<Exit, CommandError>;

/// An error that ends a command: the message for standard error, and the exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommandError {
    /// The exit code.
    pub(super) exit: Exit,
    message: String,
}

impl CommandError {
    pub(super) fn new(exit: Exit, message: impl Into<String>) -> CommandError {
        CommandError {
            exit,
            message: message.into(),
        }
    }

    /// The arguments or the configuration cannot be used.
    pub(super) fn usage(error: &dyn std::error::Error) -> CommandError {
        CommandError::new(Exit::Usage, error.to_string())
    }

    /// The output `name` cannot be written.
    pub(super) fn output(name: &str, error: &io::Error) -> CommandError {
        CommandError::new(Exit::Output, format!("cannot write {name}: {error}"))
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CommandError {}
