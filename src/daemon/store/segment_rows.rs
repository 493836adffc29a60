//! The segment that is not sealed, as the state describes it.

use rusqlite::params;

use super::state_db::StateDb;
use crate::daemon::error::{DaemonError, DatabaseDamage};

/// Stage of a segment on its way to be published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SegmentPhase {
    /// Lines are appended to it.
    Open,
    /// It is being published under its name.
    Sealing,
}

/// A segment that is not sealed yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnsealedSegment {
    pub(super) seq: u64,
    pub(super) phase: SegmentPhase,
    /// File name under which it will be published; empty while it is open.
    pub(super) name: String,
    /// Committed bytes.
    pub(super) len: u64,
    /// XXH3 (64 bits) of these.
    pub(super) hash: u64,
    /// Lines in them.
    pub(super) records: u64,
}

impl StateDb {
    /// The segment that is not sealed. There is always one.
    pub(super) fn unsealed_segment(&self) -> Result<UnsealedSegment, DaemonError> {
        let found = self.connection.find(
            "SELECT seq, phase, name, len, hash, records FROM segment ORDER BY seq DESC LIMIT 1",
            [],
            |row| {
                let number = |index| row.get::<_, i64>(index).map(i64::cast_unsigned);
                Ok(UnsealedSegment {
                    seq: number(0)?,
                    phase: match row.get::<_, i64>(1)? {
                        0 => SegmentPhase::Open,
                        _ => SegmentPhase::Sealing,
                    },
                    name: row.get(2)?,
                    len: number(3)?,
                    hash: number(4)?,
                    records: number(5)?,
                })
            },
        )?;
        found.ok_or_else(|| self.connection.damaged(DatabaseDamage::NoOpenSegment))
    }

    /// Stores the committed length of the open segment, its hash and its records.
    pub(super) fn update_segment(&self, segment: &UnsealedSegment) -> Result<(), DaemonError> {
        let [seq, len, hash, records] =
            [segment.seq, segment.len, segment.hash, segment.records].map(u64::cast_signed);
        self.connection.run(
            "UPDATE segment SET len=?2, hash=?3, records=?4 WHERE seq=?1",
            params![seq, len, hash, records],
        )?;
        Ok(())
    }

    /// Number of messages whose records are in the segment that is not sealed.
    pub(super) fn messages_of_open_segment(&self) -> Result<u64, DaemonError> {
        let count: Option<i64> = self
            .connection
            .find("SELECT count(*) FROM fresh", [], |row| row.get(0))?;
        Ok(count.map_or(0, i64::cast_unsigned))
    }

    /// Stores the intent to publish a segment as `name`.
    pub(super) fn mark_sealing(&self, seq: u64, name: &str) -> Result<(), DaemonError> {
        self.connection.run(
            "UPDATE segment SET phase=1, name=?2 WHERE seq=?1",
            params![seq.cast_signed(), name],
        )?;
        Ok(())
    }

    /// Replaces the published segment `seq` by the next one, in a transaction of its own.
    pub(super) fn start_next_segment(&self, seq: u64) -> Result<(), DaemonError> {
        self.begin()?;
        self.connection.run(
            "DELETE FROM segment WHERE seq=?1",
            params![seq.cast_signed()],
        )?;
        self.connection.batch(
            "DELETE FROM fresh; DELETE FROM fresh_known; DELETE FROM fresh_file; DELETE FROM fresh_mailbox;
             DELETE FROM fresh_given; DELETE FROM fresh_gone; DELETE FROM fresh_unread;
             DELETE FROM fresh_seen",
        )?;
        self.connection.run(
            "INSERT INTO segment VALUES(?1,0,'',0,0,0)",
            params![(seq + 1).cast_signed()],
        )?;
        self.commit()
    }

    /// In a new state: makes `seq` the first segment.
    pub(super) fn set_first_segment(&self, seq: u64) -> Result<(), DaemonError> {
        self.connection
            .run("UPDATE segment SET seq=?1", params![seq.cast_signed()])?;
        Ok(())
    }
}
