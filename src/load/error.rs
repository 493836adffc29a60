//! The error that ends a load or a search.

use std::error::Error as StdError;

use thiserror::Error;

/// The error that ends a load or a search, or that a load reports and survives.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct LoadError {
    kind: LoadErrorKind,
    /// It names the file or the server, the reason and the way out.
    message: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The kind of an error. Each but [`LoadErrorKind::Busy`] has an exit code of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadErrorKind {
    /// The target or the input cannot be used as it is.
    Unusable,
    /// The server cannot be reached. It may be reached later.
    Unreachable,
    /// The server can be reached, and is too busy. Else it is as [`LoadErrorKind::Unreachable`].
    Busy,
    /// The target or an input cannot be read or written.
    Io,
    /// Another program holds the target.
    Locked,
    /// The input contradicts itself or the target.
    Inconsistent,
}

impl LoadError {
    pub(super) fn new(kind: LoadErrorKind, message: impl Into<String>) -> LoadError {
        LoadError {
            kind,
            message: message.into(),
            source: None,
        }
    }

    pub(super) fn unusable(message: impl Into<String>) -> LoadError {
        LoadError::new(LoadErrorKind::Unusable, message)
    }

    pub(super) fn io(message: impl Into<String>) -> LoadError {
        LoadError::new(LoadErrorKind::Io, message)
    }

    pub(super) fn locked(message: impl Into<String>) -> LoadError {
        LoadError::new(LoadErrorKind::Locked, message)
    }

    pub(super) fn inconsistent(message: impl Into<String>) -> LoadError {
        LoadError::new(LoadErrorKind::Inconsistent, message)
    }

    /// Creates the error of a target whose name leads to another database or index than when it was opened, or to none.
    pub(super) fn replaced(target: &str) -> LoadError {
        LoadError::io(format!(
            "{target} was removed, renamed or replaced while it was being loaded; no segment was removed since. Put it back and \
             repeat the load, or repeat it to load the segments that are left into what has this name now"
        ))
    }

    /// Adds the error beneath.
    pub(super) fn caused_by(
        mut self,
        source: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> LoadError {
        self.source = Some(source.into());
        self
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> LoadErrorKind {
        self.kind
    }

    /// Returns `true` if the load may succeed later without any change to the target or the input.
    pub(super) fn is_temporary(&self) -> bool {
        matches!(
            self.kind,
            LoadErrorKind::Unreachable | LoadErrorKind::Busy | LoadErrorKind::Locked
        )
    }
}
