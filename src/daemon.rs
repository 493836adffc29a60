//! New mail's URLs, exactly once: which files are scanned and when, and which records are committed.
//!
//! The `service` starts reader threads. Each runs one [`SpoolReader`]: a loop over [`DaemonEvent`], in which events only mark
//! work. Time and events come from a [`ReaderHost`], so that a test can be one. Every scan of a file takes the same way
//! (`ingest`), whatever its reason, and everything is written by one committer, which the readers share (`store`).
//!
//! **The promise.** For every message that is complete while the daemon scans its file, or still there at the next scan, its
//! records appear exactly once in the sealed segments and the committed part of the open one. Not promised: mail that came and
//! went between two scans; writers that neither lock nor finish within the settle time; storage that reports a sync that did
//! not happen; consumers that read hidden files.
//!
//! **Order of the rooms.** Each uses only those above it:
//!
//! | room | subject |
//! |---|---|
//! | `error` `status` `host` | nouns that all rooms use |
//! | `store` | state and output: what is known of mail, which records are committed |
//! | `ingest` | one file: known or new, complete or growing; its messages |
//! | `schedule` | which files are scanned, and when: events, rescans, retries |
//! | `service` | the process: supervisor, reader threads, signals, status, log, sandbox |

mod error;

mod host;

mod status;

mod store;

mod ingest;

mod schedule;

mod service;

pub use error::DaemonError;
pub use host::{DaemonHost, LogRecord, MonotonicTime};
pub use schedule::{DaemonEvent, ReaderHost, SpoolReader};
pub use service::{RunEnd, RunMode, StateSource, ask, run};
pub use status::UnixTime;
pub use status::{
    DaemonState, FailedFile, LastError, LastSealed, LockedFile, SealedSegment, SpoolState,
    SpoolStatus, Status, WithheldBy,
};
pub use store::rebuild_state;
