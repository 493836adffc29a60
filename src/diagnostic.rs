//! Diagnostics: problems met in the input, as values that can be written as events.

mod printable;
mod skip;

#[cfg(any(
    feature = "audit",
    feature = "browse",
    feature = "cli",
    feature = "daemon"
))]
pub(crate) use printable::counted;
#[cfg(any(
    feature = "audit",
    feature = "browse",
    all(feature = "cli", any(feature = "daemon", feature = "load"))
))]
pub(crate) use printable::grouped;
pub use printable::{EscapeForm, printable, printable_lines, shortened, shortened_inside};
pub use skip::{SkipReason, UrlFilter};

use crate::origin::Source;

named_enum! {
    /// The kind of a diagnostic. A new variant is a new version of the event format.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum DiagnosticKind {
        /// A limit was reached; the input beyond it was scanned as text, without its structure.
        Limit = "limit",
        /// The input is damaged or cut short; the readable part was read.
        Damage = "damage",
        /// An input was skipped on purpose.
        Skip = "skip",
        /// The input breaks the rules of its format, or can be interpreted in two ways; all of it
        /// was read.
        Ambiguous = "ambiguous",
        /// An input could not be read: permissions, an I/O error.
        Unreadable = "unreadable",
        /// A file disappeared while it was read, or between two scans.
        Vanished = "vanished",
        /// The program or a library panicked; only one message is affected.
        Panic = "panic",
    }
}

impl DiagnosticKind {
    /// Returns `true` if an input failed, so that the run ends with exit status 1.
    #[must_use]
    pub fn is_failure(self) -> bool {
        matches!(
            self,
            DiagnosticKind::Damage | DiagnosticKind::Unreadable | DiagnosticKind::Panic
        )
    }
}

/// A problem met in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind.
    pub kind: DiagnosticKind,
    /// The offset in raw bytes from the start of the source; `None` if the problem concerns the
    /// whole source.
    pub offset: Option<u64>,
    /// The message, without source and offset.
    pub message: String,
}

impl Diagnostic {
    /// Returns a diagnostic about a whole source.
    #[must_use]
    pub fn new(kind: DiagnosticKind, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            kind,
            offset: None,
            message: message.into(),
        }
    }

    /// Returns a diagnostic about a byte offset in a source.
    #[must_use]
    pub fn at(kind: DiagnosticKind, offset: u64, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            kind,
            offset: Some(offset),
            message: message.into(),
        }
    }

    /// Returns an event: the diagnostic and its source.
    #[must_use]
    pub fn of(self, source: &Source) -> Event {
        Event {
            source: source.clone(),
            diagnostic: self,
        }
    }
}

/// A diagnostic and the source that it concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The source.
    pub source: Source,
    /// The diagnostic.
    pub diagnostic: Diagnostic,
}
