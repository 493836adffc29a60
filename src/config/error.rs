//! Errors of configurations.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::syntax_error::SyntaxError;
use crate::diagnostic::printable;

/// The reason why a configuration cannot be used. Each is one line without control characters.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(#[source] io::Error),
    /// The text is not TOML, or has an unknown key or value.
    #[error("{0}")]
    Syntax(#[from] SyntaxError),
    /// The values of keys cannot be used. It names them, and the way out.
    #[error("{0}")]
    Unusable(String),
}

impl ConfigError {
    /// The error, as one of the configuration file at `path`.
    #[must_use]
    pub fn in_file(self, path: &Path) -> ConfigFileError {
        ConfigFileError {
            path: path.to_owned(),
            error: self,
        }
    }

    /// The message with the name of the file.
    fn named(&self, path: &Path) -> String {
        let path = shown(path);
        match self {
            ConfigError::Unreadable(error) => format!("cannot read {path}: {error}"),
            ConfigError::Syntax(error) => format!("{path}, {error}"),
            ConfigError::Unusable(message) => format!("{path}: {message}"),
        }
    }
}

/// A path, as messages show it.
pub(super) fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}

/// A configuration file that cannot be used.
#[derive(Debug, Error)]
#[error("{}", .error.named(.path))]
pub struct ConfigFileError {
    /// The path of the file.
    pub path: PathBuf,
    /// The reason.
    #[source]
    pub error: ConfigError,
}

impl ConfigFileError {
    /// The lines at fault, to print after the message; empty if the error is not about a line.
    #[must_use]
    pub fn excerpt(&self) -> Vec<String> {
        match &self.error {
            ConfigError::Syntax(error) => error.excerpt(),
            _ => Vec::new(),
        }
    }
}
