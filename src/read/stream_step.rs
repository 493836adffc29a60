//! Steps through a source.

use super::sparse_read::SparseRead;
use crate::diagnostic::{DiagnosticKind, Event, SkipReason};
use crate::origin::{FormatHint, Source};

/// Step through a source.
pub enum StreamStep {
    /// Bytes that are no container. The caller reads them before it asks for the next step.
    Stream {
        /// Their source.
        source: Source,
        /// Hint that their path gives on their format.
        hint: FormatHint,
        /// The bytes.
        stream: Box<dyn SparseRead>,
    },
    /// A member that is not read.
    Skipped {
        /// The member.
        source: Source,
        /// Why it is not read.
        reason: SkipReason,
    },
    /// An archive that was read to its end.
    ArchiveRead(Source),
    /// A file or a member that could not be read, or not to its end.
    Failed(Event),
    /// An archive that could not be read to its end, after an event about its last member that said
    /// so.
    ArchiveBroken {
        /// The archive.
        source: Source,
        /// The kind of that event.
        kind: DiagnosticKind,
    },
    /// An irregularity that changes nothing in what is read.
    Warning(Event),
}
