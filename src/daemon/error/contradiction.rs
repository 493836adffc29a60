//! Contradictions between state and output, and within the state.

use std::fmt;
use std::path::PathBuf;

use super::failure::DatabaseFailure;

/// The way out of most contradictions.
const REBUILD: &str = "run `urlspool watch --rebuild-state`";

/// A contradiction between state and output, or within the state.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Contradiction {
    /// There is no database, although there is output that it must describe.
    DatabaseMissing {
        /// The database.
        path: PathBuf,
    },
    /// The database was written after the last clean shutdown, by another program.
    ChangedAfterShutdown {
        /// The database.
        path: PathBuf,
    },
    /// The database cannot be read as one.
    Unreadable(DatabaseFailure),
    /// The content of the database contradicts itself.
    Damaged {
        /// The database.
        path: PathBuf,
        /// The contradiction.
        damage: DatabaseDamage,
    },
    /// The tables are those of another version of the program.
    SchemaVersion {
        /// The database.
        path: PathBuf,
        /// The version of its tables, if they state one.
        found: Option<i64>,
        /// The version that this program reads.
        needed: i64,
    },
    /// A snapshot of the state is damaged.
    SnapshotDamaged {
        /// The snapshot.
        path: PathBuf,
    },
    /// A sidecar holds a text where a hash belongs.
    NotAHash {
        /// The text.
        text: String,
    },
    /// The state was written for another output.
    ForeignState {
        /// The file with the name of the state.
        instance: PathBuf,
        /// The database.
        path: PathBuf,
    },
    /// The state is older than the output: it was restored from a backup.
    StateOlderThanOutput {
        /// The database.
        path: PathBuf,
        /// The segment that the state expects.
        expected: u64,
        /// The highest segment that was written, even if it was removed since.
        found: u64,
    },
    /// A segment is shorter than what was committed.
    BytesMissing {
        /// The segment.
        segment: PathBuf,
        /// Number of missing bytes.
        bytes: u64,
    },
    /// A segment differs from what was committed.
    BytesChanged {
        /// The segment.
        segment: PathBuf,
    },
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Contradiction::DatabaseMissing { path } => write!(
                f,
                "state database {} is missing although its segments exist; {REBUILD}",
                path.display()
            ),
            Contradiction::ChangedAfterShutdown { path } => write!(
                f,
                "state database {} was changed after the last shutdown; {REBUILD}",
                path.display()
            ),
            Contradiction::Unreadable(failure) => write!(f, "{failure}; {REBUILD}"),
            Contradiction::Damaged { path, damage } => {
                write!(f, "state database {} {damage}; {REBUILD}", path.display())
            }
            Contradiction::SchemaVersion {
                path,
                found,
                needed,
            } => {
                let found = found.map_or("unknown".to_owned(), |version| version.to_string());
                write!(
                    f,
                    "state database {} has schema version {found}; this program needs version {needed}",
                    path.display()
                )
            }
            Contradiction::SnapshotDamaged { path } => write!(
                f,
                "snapshot {} is damaged; restore it from a backup, or remove it: then messages that no sidecar lists are read \
                 again, and their records appear twice",
                path.display()
            ),
            Contradiction::NotAHash { text } => {
                write!(f, "a sidecar holds {text:?}, which is not a hash")
            }
            Contradiction::ForeignState { instance, path } => write!(
                f,
                "{} belongs to another state than {}; {REBUILD}",
                instance.display(),
                path.display()
            ),
            Contradiction::StateOlderThanOutput {
                path,
                expected,
                found,
            } => write!(
                f,
                "state database {} is older than the output: it expects segment {expected}, but segment {found} was written; {REBUILD}",
                path.display()
            ),
            Contradiction::BytesMissing { segment, bytes } => write!(
                f,
                "{bytes} committed bytes are missing at the end of {}; {REBUILD}",
                segment.display()
            ),
            Contradiction::BytesChanged { segment } => write!(
                f,
                "{} differs from what was committed; {REBUILD}",
                segment.display()
            ),
        }
    }
}

/// A contradiction within the database of the state.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum DatabaseDamage {
    /// It has no tables.
    NoTables,
    /// It has no name of the state.
    NoInstance,
    /// It has no checksum of its rows.
    NoChecksum,
    /// The checksum of its rows is another.
    WrongChecksum,
    /// It has no row for the open segment.
    NoOpenSegment,
    /// A row refers to a mailbox that it lacks.
    NoMailbox,
    /// `SQLite` found damage, and reports it in these words.
    Structure(String),
}

impl fmt::Display for DatabaseDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatabaseDamage::NoTables => f.write_str("has no tables"),
            DatabaseDamage::NoInstance => f.write_str("has no instance name"),
            DatabaseDamage::NoChecksum => f.write_str("has no checksum"),
            DatabaseDamage::WrongChecksum => {
                f.write_str("was changed: the checksum of mailboxes and messages is wrong")
            }
            DatabaseDamage::NoOpenSegment => f.write_str("has no open segment"),
            DatabaseDamage::NoMailbox => f.write_str("lacks a mailbox"),
            DatabaseDamage::Structure(report) => write!(f, "is damaged: {report}"),
        }
    }
}
