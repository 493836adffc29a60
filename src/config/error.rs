//! Errors of configurations.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::syntax_error::SyntaxError;
use crate::diagnostic::printable;

/// The reason why a configuration cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    Unreadable(io::Error),
    /// The text is not UTF-8.
    NotUtf8 {
        /// The offset of the first byte that is not.
        offset: usize,
    },
    /// The text is not TOML, or has an unknown key or value.
    Syntax(SyntaxError),
    /// A path begins with `~` and cannot be expanded.
    Home {
        /// The table and the key.
        key: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// The value of a key is zero and must not be.
    Zero {
        /// The table and the key.
        key: &'static str,
    },
    /// A text cannot be the name of a scheme.
    SchemeName {
        /// The text.
        name: String,
    },
    /// Metrics would be served to other machines.
    RemoteListen {
        /// The value of `metrics.listen`.
        address: String,
    },
    /// No spool is given for `urlspool watch`.
    NoSpool,
    /// `extract.unique` is `run` for `urlspool watch`, which has no end.
    UniqueRun,
    /// A path is empty.
    EmptyPath {
        /// The table and the key.
        key: &'static str,
    },
    /// Output and state have the same folder.
    OneFolder {
        /// The folder.
        dir: PathBuf,
    },
    /// Two spools are the same folder.
    SpoolTwice {
        /// The path of the second.
        path: PathBuf,
    },
    /// A folder that the daemon writes is in a spool that it reads.
    DirInSpool {
        /// The table and the key of the folder.
        key: &'static str,
        /// The folder.
        dir: PathBuf,
        /// The path of the spool.
        spool: PathBuf,
    },
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
}

impl fmt::Display for ConfigError {
    /// Writes one line without control characters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::Unreadable(error) => error.fmt(f),
            ConfigError::Syntax(error) => error.fmt(f),
            ConfigError::NotUtf8 { offset } => write!(
                f,
                "the text is not UTF-8 at byte {offset}; save it as UTF-8"
            ),
            ConfigError::Home { key, path } => write!(
                f,
                "{key} {}: only `~/` stands for a home folder, and only if HOME is set; write the whole path",
                shown(path)
            ),
            ConfigError::Zero { key } => write!(f, "{key} must be more than 0"),
            ConfigError::SchemeName { name } => write!(
                f,
                "{name:?} is not the name of a scheme: letters, digits, '+', '-' and '.' only, without the colon"
            ),
            ConfigError::RemoteListen { address } => write!(
                f,
                "metrics.listen {address:?} is neither \"unix:\" with a full path, a loopback address with a port (\"127.0.0.1:9464\") nor \"\""
            ),
            ConfigError::NoSpool => f.write_str("there is no [[spool]] to watch; add one"),
            ConfigError::UniqueRun => f.write_str(
                "extract.unique = \"run\" is for `urlspool scan` only; use \"message\" or \"none\"",
            ),
            ConfigError::EmptyPath { key } => {
                write!(f, "{key} is empty; write the path of a folder")
            }
            ConfigError::OneFolder { dir } => write!(
                f,
                "output.dir and state.dir are both {}; choose two folders",
                shown(dir)
            ),
            ConfigError::SpoolTwice { path } => write!(
                f,
                "the spool {} is given twice; remove one [[spool]]",
                shown(path)
            ),
            ConfigError::DirInSpool { key, dir, spool } => write!(
                f,
                "{key} {} is in the spool {}, which would be read again; choose a folder outside it",
                shown(dir),
                shown(spool)
            ),
        }
    }
}

/// A path, as messages show it.
fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}

impl std::error::Error for ConfigError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ConfigError::Unreadable(error) => Some(error),
            ConfigError::Syntax(error) => Some(error),
            _ => None,
        }
    }
}

/// A configuration file that cannot be used.
#[derive(Debug)]
pub struct ConfigFileError {
    /// The path of the file.
    pub path: PathBuf,
    /// The reason.
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

impl fmt::Display for ConfigFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = shown(&self.path);
        match &self.error {
            ConfigError::Unreadable(error) => write!(f, "cannot read {path}: {error}"),
            ConfigError::Syntax(error) => write!(f, "{path}, {error}"),
            error => write!(f, "{path}: {error}"),
        }
    }
}

impl std::error::Error for ConfigFileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}
