//! What was wrong somewhere, as a value that can be printed as an event.

use crate::origin::Source;

/// What sort of problem it was. A closed set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
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

impl Kind {
    /// The name that stands in an event's `kind`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Limit => "limit",
            Kind::Damage => "damage",
            Kind::Skip => "skip",
            Kind::Ambiguous => "ambiguous",
            Kind::Unreadable => "unreadable",
            Kind::Vanished => "vanished",
            Kind::Panic => "panic",
        }
    }

    /// Whether some input failed because of it, so that the run ends with status 1.
    #[must_use]
    pub fn is_failure(self) -> bool {
        matches!(self, Kind::Damage | Kind::Unreadable | Kind::Panic)
    }

    /// All kinds, for the schema.
    pub const ALL: [Kind; 7] = [
        Kind::Limit,
        Kind::Damage,
        Kind::Skip,
        Kind::Ambiguous,
        Kind::Unreadable,
        Kind::Vanished,
        Kind::Panic,
    ];
}

/// One thing that was wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What sort.
    pub kind: Kind,
    /// Where, if the place has an offset: raw octets from the source's start.
    pub offset: Option<u64>,
    /// What, in a sentence without the place.
    pub message: String,
}

impl Problem {
    /// A problem with a whole source.
    #[must_use]
    pub fn new(kind: Kind, message: impl Into<String>) -> Problem {
        Problem {
            kind,
            offset: None,
            message: message.into(),
        }
    }

    /// A problem at an octet of a source.
    #[must_use]
    pub fn at(kind: Kind, offset: u64, message: impl Into<String>) -> Problem {
        Problem {
            kind,
            offset: Some(offset),
            message: message.into(),
        }
    }

    /// The problem and the source it is about.
    #[must_use]
    pub fn of(self, source: &Source) -> Event {
        Event {
            source: source.clone(),
            problem: self,
        }
    }
}

/// A problem together with the source it was met in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The source.
    pub source: Source,
    /// The problem.
    pub problem: Problem,
}
