//! What was wrong somewhere, as a value that can be printed as an event.

mod skip;

pub use skip::SkipReason;

use crate::origin::Source;

/// What sort of diagnostic it was. A closed set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// A limit was reached; what lies behind it was scanned flat.
    Limit,
    /// Something was damaged; what could be read was.
    Damage,
    /// Something was not read, and need not have been.
    Skip,
    /// Something can be understood in two ways.
    Ambiguous,
    /// Something could not be read: permissions, I/O errors, a missing path.
    Unreadable,
    /// Something went away while it was looked at, or while nobody looked.
    Vanished,
    /// A fault of the program or of a library, contained to one message.
    Panic,
}

impl DiagnosticKind {
    /// The name that stands in an event's `kind`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            DiagnosticKind::Limit => "limit",
            DiagnosticKind::Damage => "damage",
            DiagnosticKind::Skip => "skip",
            DiagnosticKind::Ambiguous => "ambiguous",
            DiagnosticKind::Unreadable => "unreadable",
            DiagnosticKind::Vanished => "vanished",
            DiagnosticKind::Panic => "panic",
        }
    }

    /// Whether some input failed because of it, so that the run ends with status 1.
    #[must_use]
    pub fn is_failure(self) -> bool {
        matches!(
            self,
            DiagnosticKind::Damage | DiagnosticKind::Unreadable | DiagnosticKind::Panic
        )
    }

    /// All kinds, for the schema.
    pub const ALL: [DiagnosticKind; 7] = [
        DiagnosticKind::Limit,
        DiagnosticKind::Damage,
        DiagnosticKind::Skip,
        DiagnosticKind::Ambiguous,
        DiagnosticKind::Unreadable,
        DiagnosticKind::Vanished,
        DiagnosticKind::Panic,
    ];
}

/// One thing that was wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What sort.
    pub kind: DiagnosticKind,
    /// Where, if the place has an offset: raw bytes from the source's start.
    pub offset: Option<u64>,
    /// What, in a sentence without the place.
    pub message: String,
}

impl Diagnostic {
    /// A diagnostic with a whole source.
    #[must_use]
    pub fn new(kind: DiagnosticKind, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            kind,
            offset: None,
            message: message.into(),
        }
    }

    /// A diagnostic at an byte of a source.
    #[must_use]
    pub fn at(kind: DiagnosticKind, offset: u64, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            kind,
            offset: Some(offset),
            message: message.into(),
        }
    }

    /// The diagnostic and the source it is about.
    #[must_use]
    pub fn of(self, source: &Source) -> Event {
        Event {
            source: source.clone(),
            diagnostic: self,
        }
    }
}

/// A diagnostic together with the source it was met in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The source.
    pub source: Source,
    /// The diagnostic.
    pub diagnostic: Diagnostic,
}
