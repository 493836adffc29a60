//! The order of writes that makes records appear exactly once: lines to the segment, sync, one
//! transaction.
//!
//! A batch holds everything read since the last commit: lines, and their keys and cursors in the
//! open transaction. After any error the whole committer is dropped: its transaction is rolled
//! back, its descriptors are never synced again, and the batch is read again from its sources.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;

use rusqlite::params;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::sidecar_rows::StateSidecar;
use super::spools::SpoolIdentity;
use super::state_db::{StateDb, unsigned};
use super::state_paths::{StatePaths, meta_name};
use crate::environment::MonotonicTime;
use crate::segment::{self, Segment, SegmentDir, remove_if_exists};
use crate::status::SealedSegment;
use crate::{AtPath, DaemonError, ErrorKind, REBUILD, Result};
use urlspool_files::config::{Config, SegmentCompression, Spool};
use urlspool_files::keyed_hash::HashKey;
use urlspool_record::record::{Sidecar, json_line};
use urlspool_text::diagnostic::{EscapeForm, printable_lines};
use urlspool_text::planted_faults::{PlantedFault, is_planted};

/// Size of the pieces in which lines are copied to the segment.
const PIECE_BYTES: u64 = 256 << 10;

/// Writes batches and seals segments.
#[derive(Debug)]
pub(super) struct Committer {
    pub(super) db: StateDb,
    pub(super) dir: SegmentDir,
    paths: StatePaths,
    pub(super) compress: SegmentCompression,
    /// The secret key of the state.
    pub(super) hash_key: HashKey,
    /// `true` if lines go to standard output. They are printed before they are committed, so each
    /// is printed at least once. Segments contain each line exactly once.
    prints_lines: bool,
    /// The open segment as the state describes it.
    pub(super) unsealed: UnsealedSegment,
    /// The file of the open segment; `None` before the first write.
    segment: Option<Segment>,
    pub(super) batch: PendingBatch,
    /// Sealed segments that were not reported yet.
    pub(super) sealed: Vec<SealedSegment>,
    /// The configured spools as the state knows them.
    pub(super) spools: Vec<Arc<SpoolIdentity>>,
    /// Time at which the batch was first seen to be non-empty; `None` while it is empty.
    pub(super) batch_since: Option<MonotonicTime>,
    /// Time at which the segment was first seen to contain committed bytes; `None` while it is
    /// empty.
    pub(super) segment_since: Option<MonotonicTime>,
}

/// The batch for the next commit.
#[derive(Debug, Default)]
pub(super) struct PendingBatch {
    /// Lines that are not in the segment yet.
    pub(super) lines: Vec<u8>,
    /// Number of bytes already in the segment, which the commit syncs.
    appended: usize,
    pub(super) records: u64,
    pub(super) messages: u64,
    /// Number of gone messages; each has one line.
    pub(super) gone: u64,
}

impl Committer {
    /// Creates a committer for a state and an output that are known to agree.
    pub(super) fn new(
        db: StateDb,
        dir: SegmentDir,
        config: &Config,
        hash_key: HashKey,
    ) -> Result<Self> {
        let unsealed = db.unsealed_segment()?;
        Ok(Committer {
            db,
            dir,
            paths: StatePaths::new(config),
            compress: config.output.compress,
            hash_key,
            prints_lines: config.output.stdout.is_some(),
            unsealed,
            segment: None,
            batch: PendingBatch::default(),
            sealed: Vec::new(),
            spools: Vec::new(),
            batch_since: None,
            segment_since: None,
        })
    }

    /// Adopts the spools of a configuration: see [`StateDb::adopt_spools`]. The batch must be
    /// empty.
    pub(super) fn adopt_spools(&mut self, spools: &[Spool]) -> Result<()> {
        let spools = self.db.adopt_spools(spools)?;
        self.spools = spools.into_iter().map(Arc::new).collect();
        Ok(())
    }

    /// Adds a message's lines to the batch. The file `first` contains the first of them.
    pub(super) fn put(&mut self, first: Option<&File>, lines: &[u8], records: u64) -> Result<()> {
        if let Some(first) = first {
            self.put_file(first)?;
        }
        self.batch.lines.extend_from_slice(lines);
        self.batch.records += records;
        self.batch.messages += 1;
        Ok(())
    }

    /// Adds lines of the next message, which its reader has written to a file, to the batch. The
    /// lines go to the segment at once, in pieces. They count with the message at the next commit.
    pub(super) fn put_file(&mut self, mut lines: &File) -> Result<()> {
        lines.rewind().at(self.dir.path())?;
        loop {
            let piece = lines.take(PIECE_BYTES);
            let read = { piece }
                .read_to_end(&mut self.batch.lines)
                .at(self.dir.path())?;
            self.write_lines()?;
            if read == 0 {
                return Ok(());
            }
        }
    }

    /// Number of bytes that wait for a commit.
    pub(super) fn pending_bytes(&self) -> usize {
        self.batch.lines.len() + self.batch.appended
    }

    /// Returns `true` if any change waits for a commit.
    pub(super) fn is_dirty(&self) -> bool {
        0 < self.pending_bytes() || self.db.has_changes()
    }

    /// Commits the batch, which survives a power cut once this function returns. Returns the
    /// committed batch, or `None` if it was empty.
    pub(super) fn commit(&mut self) -> Result<Option<PendingBatch>> {
        self.batch_since = None;
        self.db.check_open()?;
        if !self.is_dirty() {
            return Ok(None);
        }
        if is_planted(PlantedFault::StateBeforeData) {
            self.commit_state_first()?;
        }
        self.write_lines()?;
        let batch = std::mem::take(&mut self.batch);
        if self.prints_lines {
            // No sidecar will list them.
            self.db.clear_new_rows()?;
        } else if let Some(segment) = self.segment.take_if(|_| 0 < batch.appended) {
            let segment = segment.sync().at(self.dir.part(self.unsealed.seq))?;
            (self.unsealed.len, self.unsealed.hash) = (segment.len(), segment.hash());
            self.segment = Some(segment);
            self.unsealed.records += batch.records + batch.gone;
            self.db.set_unsealed_segment(&self.unsealed)?;
        }
        self.db.commit()?;
        Ok(Some(batch))
    }

    /// Publishes the open segment unless it is empty, and starts the next one. The batch must be
    /// empty.
    pub(super) fn seal(&mut self) -> Result<bool> {
        if self.unsealed.len == 0 {
            return Ok(false);
        }
        (self.segment, self.segment_since) = (None, None);
        self.prepare_seal()?;
        self.finish_seal()?;
        Ok(true)
    }

    /// The second half of sealing, from the recorded intent to the published segment. Repeats the
    /// steps that a crash interrupted.
    pub(super) fn finish_seal(&mut self) -> Result<()> {
        let (seq, name) = (self.unsealed.seq, self.unsealed.name.clone());
        let (meta, part) = (meta_name(seq), self.dir.part(seq));
        let is_compressed = Path::new(&name).extension() == Some("zst".as_ref());
        let hidden = if is_compressed {
            self.dir.hidden(&name)
        } else {
            part.clone()
        };
        // Must precede publication: a consumer may remove the segment as soon as it is visible.
        self.dir.remember(seq).at(self.dir.path())?;
        publish_if_hidden(&self.dir, &self.dir.hidden(&meta), &meta)?;
        publish_if_hidden(&self.dir, &hidden, &name)?;
        self.sync()?;
        remove_if_exists(&part).at(&part)?;
        self.sealed.push(SealedSegment {
            name,
            bytes: self.unsealed.len,
            records: self.unsealed.records,
            messages: self.db.messages_of_open_segment()?,
        });
        self.unsealed = UnsealedSegment {
            seq: seq + 1,
            ..UnsealedSegment::default()
        };
        self.db.set_unsealed_segment(&self.unsealed)?;
        self.db.clear_new_rows()?;
        self.db.commit()
    }

    /// Replaces the copies of sidecars by a snapshot of the state if there are at least `max`
    /// copies. Returns `true` if it did.
    ///
    /// Copies and snapshot serve [`super::recovery::rebuild_state`]. The batch must be empty.
    pub(super) fn compact_sidecars(&self, max: usize) -> Result<bool> {
        let folder = &self.paths.sidecars;
        let mut copies = Vec::new();
        for entry in std::fs::read_dir(folder).at(folder)?.flatten() {
            if segment::number(&entry.file_name()).is_some_and(|seq| seq < self.unsealed.seq) {
                copies.push(entry.path());
            }
        }
        if copies.len() < max {
            return Ok(false);
        }
        let next = folder.join("snapshot.next");
        // A crash may have left an incomplete one.
        let _ = std::fs::remove_file(&next);
        self.db.copy_to(&next).inspect_err(|_| {
            let _ = std::fs::remove_file(&next);
        })?;
        segment::replace_with(&next, &folder.join("snapshot.db")).at(folder)?;
        for copy in copies {
            std::fs::remove_file(copy).at(folder)?;
        }
        Ok(true)
    }

    /// Commits, seals and closes. Returns the sealed segments that were not reported yet.
    pub(super) fn close(mut self) -> Result<Vec<SealedSegment>> {
        self.commit()?;
        self.seal()?;
        self.db.close()?;
        Ok(self.sealed)
    }

    /// The planted fault [`PlantedFault::StateBeforeData`].
    fn commit_state_first(&self) -> Result<()> {
        self.db.set_unsealed_segment(&UnsealedSegment {
            len: self.unsealed.len + self.pending_bytes() as u64,
            hash: 0,
            ..self.unsealed.clone()
        })?;
        self.db.commit()
    }

    /// Checks that the output folder is still where it was opened: data written to a removed folder
    /// is lost. If lines go to standard output, checks that it is still read.
    pub(super) fn check_output(&self) -> Result<()> {
        if self.prints_lines {
            return check_stdout();
        }
        let folder = self.dir.path().display();
        match &self.segment {
            Some(segment) if !self.dir.holds(self.unsealed.seq, segment) => {
                Err(DaemonError::inconsistent(format!(
                    "{folder}: the unfinished segment {} was removed or replaced; {REBUILD} to \
                     restore the folder and the segment's records",
                    self.unsealed.seq
                )))
            }
            None if !self.dir.exists() => Err(DaemonError::io(format!(
                "{folder} was removed while the daemon ran; a restart creates it again, and no \
                 data was lost"
            ))),
            _ => Ok(()),
        }
    }

    /// Appends the complete lines of the batch to the segment, or prints them.
    fn write_lines(&mut self) -> Result<()> {
        let whole = memchr::memrchr(b'\n', &self.batch.lines).map_or(0, |last| last + 1);
        if self.prints_lines {
            print(&self.batch.lines[..whole])?;
        } else if 0 < whole {
            let path = self.dir.part(self.unsealed.seq);
            let mut segment = match self.segment.take() {
                Some(segment) => segment,
                None => self.dir.begin(self.unsealed.seq).at(&path)?,
            };
            segment.append(&self.batch.lines[..whole]).at(&path)?;
            self.segment = Some(segment);
            self.batch.appended += whole;
        }
        self.batch.lines.drain(..whole);
        Ok(())
    }

    /// The first half of sealing, before any name changes: the sidecar and its copy, compression,
    /// the recorded intent.
    pub(super) fn prepare_seal(&mut self) -> Result<()> {
        let seq = self.unsealed.seq;
        let name = match self.compress {
            SegmentCompression::None => format!("{seq:010}.jsonl"),
            SegmentCompression::Zstd => format!("{seq:010}.jsonl.zst"),
        };
        self.write_sidecar(&name)?;
        if self.compress == SegmentCompression::Zstd {
            let to = self.dir.hidden(&name);
            segment::compress(&self.dir.part(seq), &to).at(&to)?;
        }
        self.sync()?;
        (self.unsealed.name, self.unsealed.is_sealing) = (name, true);
        self.db.set_unsealed_segment(&self.unsealed)?;
        self.db.commit()
    }

    /// Writes the sidecar of the segment that will be published as `name`, and its copy in the
    /// state folder.
    fn write_sidecar(&self, name: &str) -> Result<()> {
        let seq = self.unsealed.seq;
        let sidecar = StateSidecar {
            segment: Sidecar {
                schema: urlspool_record::record::SCHEMA,
                instance: self.db.instance()?,
                seq,
                name: name.to_owned(),
                len: self.unsealed.len,
                xxh3_64: format!("{:016x}", self.unsealed.hash),
                records: self.unsealed.records,
                messages: self.db.messages_of_open_segment()?,
                epoch: self.db.meta_value("epoch")?.unwrap_or(0),
            },
            age: self.db.meta_value("age")?.unwrap_or(0),
            spools: self.db.spool_rows()?,
            mailboxes: self.db.changed_mailboxes()?,
        };
        let (bytes, meta) = (json_line(&sidecar), meta_name(seq));
        self.dir
            .write_hidden(&meta, &bytes)
            .at(self.dir.hidden(&meta))?;
        let copy = self.paths.sidecar(seq);
        segment::replace(&copy, &bytes, segment::SHARED).at(&copy)
    }

    fn sync(&self) -> Result<()> {
        if is_planted(PlantedFault::NoDirectorySync) {
            return Ok(());
        }
        self.dir.sync().at(self.dir.path())
    }
}

/// Prints lines and flushes them. Control characters are escaped on a terminal.
fn print(lines: &[u8]) -> Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let mut stdout = io::stdout().lock();
    let is_json = lines.starts_with(b"{");
    let lines = if stdout.is_terminal() && is_json {
        printable_lines(lines, EscapeForm::Json)
    } else {
        // Lines for people are already escaped, and may contain colours.
        Cow::Borrowed(lines)
    };
    let printed = stdout.write_all(&lines).and_then(|()| stdout.flush());
    printed.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => output_closed(),
        // Even without space: standard output is no folder to wait for, and what it names may never
        // have space, such as `/dev/full`.
        _ => DaemonError::io(format!("cannot write standard output: {error}")).caused_by(error),
    })
}

/// Checks that the reader of standard output has not closed it.
fn check_stdout() -> Result<()> {
    let stdout = io::stdout();
    let mut polled = [PollFd::new(&stdout, PollFlags::empty())];
    let is_closed = poll(&mut polled, Some(&Timespec::default())).is_ok()
        && polled[0].revents().contains(PollFlags::ERR);
    (!is_closed).then_some(()).ok_or_else(output_closed)
}

fn output_closed() -> DaemonError {
    DaemonError::new(ErrorKind::OutputClosed, "standard output was closed")
}

/// Publishes a hidden file if it still exists.
///
/// Only the daemon removes names from the hidden folder, so a missing file was published before a
/// crash. A consumer may have removed it since.
pub(super) fn publish_if_hidden(dir: &SegmentDir, hidden: &Path, name: &str) -> Result<()> {
    match dir.publish(hidden, name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).at(dir.published(name)),
        _ => Ok(()),
    }
}

/// A segment that is not sealed yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UnsealedSegment {
    pub(super) seq: u64,
    /// `true` while it is being published.
    pub(super) is_sealing: bool,
    /// File name under which it will be published; empty until that is decided.
    pub(super) name: String,
    /// Number of committed bytes.
    pub(super) len: u64,
    /// XXH3 (64 bits) of the committed bytes.
    pub(super) hash: u64,
    /// Number of committed lines.
    pub(super) records: u64,
}

impl StateDb {
    /// The segment that is not sealed. There is always exactly one.
    pub(super) fn unsealed_segment(&self) -> Result<UnsealedSegment> {
        let found = self.find(
            "SELECT seq, phase, name, len, hash, records FROM segment ORDER BY seq DESC LIMIT 1",
            [],
            |row| {
                Ok(UnsealedSegment {
                    seq: unsigned(row, 0)?,
                    is_sealing: unsigned(row, 1)? != 0,
                    name: row.get(2)?,
                    len: unsigned(row, 3)?,
                    hash: unsigned(row, 4)?,
                    records: unsigned(row, 5)?,
                })
            },
        )?;
        found.ok_or_else(|| self.damaged("has no open segment"))
    }

    /// Replaces the row of the segment that is not sealed.
    pub(super) fn set_unsealed_segment(&self, segment: &UnsealedSegment) -> Result<()> {
        let [seq, len, hash, records] =
            [segment.seq, segment.len, segment.hash, segment.records].map(u64::cast_signed);
        self.run(
            "UPDATE segment SET seq=?1, phase=?2, name=?3, len=?4, hash=?5, records=?6",
            params![seq, segment.is_sealing, segment.name, len, hash, records],
        )
    }

    /// Number of messages whose records are in the unsealed segment.
    pub(super) fn messages_of_open_segment(&self) -> Result<u64> {
        let count: Option<i64> = self.find("SELECT count(*) FROM fresh", [], |row| row.get(0))?;
        Ok(count.map_or(0, i64::cast_unsigned))
    }
}
