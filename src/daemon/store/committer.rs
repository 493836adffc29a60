//! The order that keeps the promise: lines to the segment, sync, one transaction, done.
//!
//! A batch is what was read since the last commit: lines, and in the open transaction the keys and cursors that belong
//! to them. On any error the committer is dropped whole: its transaction is rolled back, its descriptors are never
//! synced again, and the batch is read anew from its sources.

use std::path::{Path, PathBuf};

use super::state::{SegmentPhase, StateDb, UnsealedSegment};
use crate::config::SegmentCompression;
use crate::daemon::error::DaemonError;
use crate::daemon::planted_faults::{PlantedFault, is_planted};
use crate::record::Sidecar;
use crate::sink::segment::{self, Segment, SegmentDir};

/// Writes batches and seals segments.
#[derive(Debug)]
pub(crate) struct Committer {
    pub(crate) db: StateDb,
    pub(crate) dir: SegmentDir,
    /// Where copies of the sidecars stay.
    pub(crate) sidecars: PathBuf,
    pub(crate) compress: SegmentCompression,
    row: UnsealedSegment,
    segment: Option<Segment>,
    batch: Batch,
}

/// What waits for the next commit.
#[derive(Debug, Default)]
struct Batch {
    open: bool,
    lines: Vec<u8>,
    records: u64,
    messages: u64,
}

impl Committer {
    /// A committer over a state and an output that are known to agree.
    pub(crate) fn new(
        db: StateDb,
        dir: SegmentDir,
        sidecars: PathBuf,
        compress: SegmentCompression,
    ) -> Result<Self, DaemonError> {
        let row = db.segment()?;
        Ok(Committer {
            db,
            dir,
            sidecars,
            compress,
            row,
            segment: None,
            batch: Batch::default(),
        })
    }

    /// The state, with a transaction open for what belongs to the batch.
    pub(crate) fn transaction(&mut self) -> Result<&StateDb, DaemonError> {
        if !self.batch.open {
            self.db.begin()?;
            self.batch.open = true;
        }
        Ok(&self.db)
    }

    /// Adds a message's lines to the batch.
    pub(crate) fn put(&mut self, lines: &[u8], records: u64) {
        self.batch.lines.extend_from_slice(lines);
        self.batch.records += records;
        self.batch.messages += 1;
    }

    /// Bytes and messages that wait for a commit.
    pub(crate) fn waiting(&self) -> (usize, u64) {
        (self.batch.lines.len(), self.batch.messages)
    }

    /// Whether anything waits for a commit.
    pub(crate) fn is_dirty(&self) -> bool {
        self.batch.open || !self.batch.lines.is_empty()
    }

    /// Bytes in the open segment that are committed.
    pub(crate) fn committed(&self) -> u64 {
        self.row.len
    }

    /// The number of the open segment.
    pub(crate) fn seq(&self) -> u64 {
        self.row.seq
    }

    /// Commits the batch: when this returns, it would survive a power cut. Gives its messages and records.
    pub(crate) fn commit(&mut self) -> Result<(u64, u64), DaemonError> {
        if !self.is_dirty() {
            return Ok((0, 0));
        }
        self.transaction()?;
        let batch = std::mem::take(&mut self.batch);
        if is_planted(PlantedFault::StateBeforeData) {
            self.db.put_len(
                self.row.seq,
                self.row.len + batch.lines.len() as u64,
                0,
                self.row.records,
            )?;
            self.db.commit()?;
            self.db.begin()?;
        }
        if !batch.lines.is_empty() {
            self.write(&batch.lines)?;
            self.row.records += batch.records;
            self.db
                .put_len(self.row.seq, self.row.len, self.row.hash, self.row.records)?;
        }
        self.db.commit()?;
        Ok((batch.messages, batch.records))
    }

    /// Appends lines to the segment and syncs it.
    fn write(&mut self, lines: &[u8]) -> Result<(), DaemonError> {
        let path = self.dir.part(self.row.seq);
        let fault = |error| DaemonError::from_io(&path, &error);
        let mut segment = match self.segment.take() {
            Some(segment) => segment,
            None => self.dir.begin(self.row.seq).map_err(fault)?,
        };
        segment.append(lines).map_err(fault)?;
        let segment = segment.sync().map_err(fault)?;
        (self.row.len, self.row.hash) = (segment.len(), segment.hash());
        self.segment = Some(segment);
        Ok(())
    }

    /// Publishes the open segment, if it holds anything, and begins the next. Nothing may wait for a commit.
    pub(crate) fn seal(&mut self) -> Result<bool, DaemonError> {
        if self.row.len == 0 {
            return Ok(false);
        }
        self.segment = None;
        self.prepare()?;
        self.finish()?;
        Ok(true)
    }

    /// Everything before the segment's name changes: the sidecar and its copy, compression, the intent.
    fn prepare(&mut self) -> Result<(), DaemonError> {
        let seq = self.row.seq;
        let (meta, copy) = (
            format!("{seq:010}.meta"),
            self.sidecars.join(format!("{seq:010}.meta")),
        );
        let name = match self.compress {
            SegmentCompression::None => format!("{seq:010}.jsonl"),
            SegmentCompression::Zstd => format!("{seq:010}.jsonl.zst"),
        };
        let sidecar = Sidecar {
            schema: crate::record::SCHEMA,
            instance: self.db.instance().to_owned(),
            seq,
            name: name.clone(),
            len: self.row.len,
            hash: format!("{:016x}", self.row.hash),
            records: self.row.records,
            epoch: self.db.meta_value("epoch")?.unwrap_or(0),
            age: self.db.meta_value("age")?.unwrap_or(0),
            mailboxes: self.db.fresh()?,
        };
        let bytes = sidecar.line();
        self.dir
            .write_hidden(&meta, &bytes)
            .map_err(|error| DaemonError::from_io(&self.dir.hidden(&meta), &error))?;
        segment::replace(&copy, &bytes).map_err(|error| DaemonError::from_io(&copy, &error))?;
        if self.compress == SegmentCompression::Zstd {
            let to = self.dir.hidden(&name);
            segment::compress(&self.dir.part(seq), &to)
                .map_err(|error| DaemonError::from_io(&to, &error))?;
        }
        self.sync()?;
        self.db.sealing(seq, &name)?;
        (self.row.name, self.row.phase) = (name, SegmentPhase::Sealing);
        Ok(())
    }

    /// From the intent to the published segment. Does again what a crash left undone.
    pub(crate) fn finish(&mut self) -> Result<(), DaemonError> {
        let (seq, name) = (self.row.seq, self.row.name.clone());
        let meta = format!("{seq:010}.meta");
        let part = self.dir.part(seq);
        let is_compressed = Path::new(&name).extension() == Some("zst".as_ref());
        let hidden = if is_compressed {
            self.dir.hidden(&name)
        } else {
            part.clone()
        };
        for (from, to) in [(self.dir.hidden(&meta), &meta), (hidden, &name)] {
            match self.dir.publish(&from, to) {
                Ok(()) => {}
                // Only we take names out of the hidden folder, so it was published before the crash. That a consumer
                // has removed it since is his right.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(DaemonError::from_io(&self.dir.published(to), &error)),
            }
        }
        self.sync()?;
        match std::fs::remove_file(&part) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(DaemonError::from_io(&part, &error));
            }
            _ => {}
        }
        self.db.sealed(seq)?;
        self.row = self.db.segment()?;
        Ok(())
    }

    /// Puts a snapshot of the state in the place of the sidecars' copies, when there are many.
    ///
    /// Both are for [`super::recovery::rebuild`]. Nothing may wait for a commit.
    pub(crate) fn compact(&self, most: usize) -> Result<bool, DaemonError> {
        let fault = |error| DaemonError::from_io(&self.sidecars, &error);
        let copies: Vec<PathBuf> = std::fs::read_dir(&self.sidecars)
            .map_err(fault)?
            .flatten()
            .filter(|entry| {
                segment::number(&entry.file_name()).is_some_and(|seq| seq < self.row.seq)
            })
            .map(|entry| entry.path())
            .collect();
        if copies.len() < most {
            return Ok(false);
        }
        let (next, snapshot) = (
            self.sidecars.join("snapshot.next"),
            self.sidecars.join("snapshot.db"),
        );
        // What a crash left of an earlier one.
        let _ = std::fs::remove_file(&next);
        self.db.copy_to(&next).inspect_err(|_| {
            let _ = std::fs::remove_file(&next);
        })?;
        segment::take_place(&next, &snapshot).map_err(fault)?;
        for copy in copies {
            std::fs::remove_file(copy).map_err(fault)?;
        }
        Ok(true)
    }

    fn sync(&self) -> Result<(), DaemonError> {
        if is_planted(PlantedFault::NoDirectorySync) {
            return Ok(());
        }
        self.dir
            .sync()
            .map_err(|error| DaemonError::from_io(self.dir.path(), &error))
    }

    /// Commits, seals and closes.
    pub(crate) fn close(mut self) -> Result<(), DaemonError> {
        self.commit()?;
        self.seal()?;
        self.db.close()
    }
}
