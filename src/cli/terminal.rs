//! Terminals: text that they do not obey, and the choice of what is written to them.

use std::io::IsTerminal;

use super::args::When;
pub(crate) use crate::diagnostic::printable as escaped;

impl When {
    /// Returns `true` if the thing is to be done on standard error.
    pub(crate) fn on_stderr(self) -> bool {
        match self {
            When::Auto => std::io::stderr().is_terminal(),
            When::Always => true,
            When::Never => false,
        }
    }
}
