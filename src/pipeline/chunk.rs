//! What a thread yields.

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, DiagnosticKind, Event, SkipReason};
use crate::origin::Source;
use crate::read;
use crate::record::Summary;
use crate::walk::WalkedFile;

/// What a piece of work gave, encoded and ready to be written.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// The records of all pieces, one a line.
    pub(super) records: Vec<u8>,
    /// The pieces, in the order of the input.
    pub(super) pieces: Vec<Chunk>,
}

/// The yield of one message, or of many that need not be told apart.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    /// For a news article: what tells copies of it from other articles.
    pub(super) article: Option<u128>,
    /// Whether it holds more of the same message as the piece before it.
    pub(super) goes_on: bool,
    /// How many bytes of the batch's records are its own, behind those of the pieces before it. Known once it is full.
    pub(super) record_bytes: usize,
    /// For folding: the hash of each record's key, and where its line ends among its piece's.
    pub(super) keys: Vec<Keyed>,
    /// For folding: how often a URL stood in the message, where that is more than once.
    pub(super) repeated: HashMap<u128, u64>,
    /// The refused candidates, one a line, if they are wanted.
    pub(super) rejects: Vec<u8>,
    /// What was wrong.
    pub(super) events: Vec<Event>,
    /// What was counted.
    pub(super) balance: Summary,
    /// What a stretch of the file that is being read failed with: the file is not read to its end then.
    pub(super) broken: Option<DiagnosticKind>,
    /// A file that is to be read now, in blocks: what it yields may be more than a piece should hold.
    pub(super) deferred: Option<WalkedFile>,
}

/// A record of a piece, as folding over a run sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keyed {
    /// The hash of its key.
    pub(super) key: u128,
    /// Where its line ends.
    pub(super) end: usize,
    /// Whether it was taken out of another, and is counted apart.
    pub(super) unwrapped: bool,
}

/// Notes that a source was read to its end.
pub(super) fn read_whole(piece: &mut Chunk, source: &Source) {
    if source.member().is_empty() {
        piece.balance.read_file();
    } else {
        piece.balance.read_member();
    }
}

/// Notes that bytes of a source were gone when they were to be read.
pub(super) fn shrunk(piece: &mut Chunk, source: &Source, end: u64) {
    remarked(
        piece,
        Diagnostic::at(
            DiagnosticKind::Vanished,
            end,
            "it ends here, and was longer when it was opened",
        )
        .of(source),
    );
}

/// The same, where others have read before: it may end before `end`.
pub(super) fn shrunk_before(piece: &mut Chunk, source: &Source, end: u64) {
    let message = "it ends here or before, and was longer when it was opened";
    remarked(
        piece,
        Diagnostic::at(DiagnosticKind::Vanished, end, message).of(source),
    );
}

/// Notes that a source could not be read.
pub(super) fn failed(piece: &mut Chunk, source: &Source, error: &std::io::Error) {
    lost(piece, read::diagnostic(error, None).of(source));
}

/// Notes that a source went away or could not be read, as the event says.
pub(super) fn lost(piece: &mut Chunk, event: Event) {
    broken(piece, &event.source, event.diagnostic.kind);
    remarked(piece, event);
}

/// Counts a source that could not be read, of which an event has told.
pub(super) fn broken(piece: &mut Chunk, source: &Source, kind: DiagnosticKind) {
    match (kind, source.member().is_empty()) {
        (DiagnosticKind::Vanished, true) => piece.balance.skip_file(SkipReason::Vanished),
        (kind, true) => piece.balance.fail_file(kind.name()),
        (kind, false) => piece.balance.fail_member(kind.name()),
    }
}

/// Notes something that changes nothing in what is read.
pub(super) fn remarked(piece: &mut Chunk, event: Event) {
    piece.balance.count_event(event.diagnostic.kind.name());
    piece.events.push(event);
}

/// Notes that a source was left, with an event unless that is no news to anybody.
pub(super) fn skipped(piece: &mut Chunk, source: &Source, reason: SkipReason) {
    let is_file = source.member().is_empty();
    if is_file {
        piece.balance.skip_file(reason);
    } else {
        piece.balance.skip_member(reason);
    }
    // A link in an archive may have led to something that is not there.
    let expected = match reason {
        SkipReason::Empty
        | SkipReason::Filtered
        | SkipReason::HardLink
        | SkipReason::ControlFile => true,
        SkipReason::Symlink => is_file,
        _ => false,
    };
    if !expected {
        remarked(
            piece,
            Diagnostic::new(DiagnosticKind::Skip, format!("not read: {}", reason.name()))
                .of(source),
        );
    }
}
