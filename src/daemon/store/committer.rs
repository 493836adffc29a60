//! The order of writes that makes records appear exactly once: lines to the segment, sync, one
//! transaction.
//!
//! A batch is what was read since the last commit: lines, and in the open transaction the keys and
//! cursors that belong to them. After any error the whole committer is dropped: its transaction is
//! rolled back, its descriptors are never synced again, and the batch is read again from its
//! sources.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::params;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::gone::GoneMessage;
use super::mail_rows::MboxCursor;
use super::spools::SpoolIdentity;
use super::state_db::{FileId, Hash128, MailboxId};
use super::state_db::{StateDb, unsigned};
use super::state_paths::meta_name;
use crate::config::{SegmentCompression, Spool};
use crate::daemon::environment::MonotonicTime;
use crate::daemon::status::SealedSegment;
use crate::daemon::{AtPath, DaemonError, REBUILD};
use crate::diagnostic::{EscapeForm, printable_lines};
use crate::keyed_hash::HashKey;
use crate::planted_faults::{PlantedFault, is_planted};
use crate::record::{Sidecar, json_line, write_gone};
use crate::sink::segment::{self, Segment, SegmentDir};

/// Bytes of lines that are copied to the segment at once.
const PIECE_BYTES: u64 = 256 << 10;

/// Writes batches and seals segments.
#[derive(Debug)]
pub(crate) struct Committer {
    pub(crate) db: StateDb,
    pub(super) dir: SegmentDir,
    /// Folder of the sidecars' copies.
    pub(super) sidecars: PathBuf,
    pub(super) compress: SegmentCompression,
    /// The secret key of the state.
    pub(super) hash_key: HashKey,
    /// The place of the lines.
    lines_to: LinesTo,
    /// The open segment as the state describes it.
    unsealed: UnsealedSegment,
    /// Its file; `None` until something is written to it.
    segment: Option<Segment>,
    batch: PendingBatch,
    /// Messages that were set aside when the state was opened.
    pub(super) set_aside: Vec<Hash128>,
    /// Segments that were sealed and not yet reported.
    sealed: Vec<SealedSegment>,
    /// The configured spools as the state knows them.
    spools: Vec<(PathBuf, Arc<SpoolIdentity>)>,
    /// Time at which the batch was first seen to hold something; `None` while it is empty.
    pub(super) batch_since: Option<MonotonicTime>,
    /// Time at which the segment was first seen to hold committed bytes; `None` while it is empty.
    pub(super) segment_since: Option<MonotonicTime>,
}

/// The batch that waits for the next commit.
#[derive(Debug, Default)]
pub(super) struct PendingBatch {
    /// `true` if a transaction is open.
    in_transaction: bool,
    /// Number of rows that the connection had changed when the transaction began.
    changes_before: u64,
    /// Lines that are not in the segment yet.
    lines: Vec<u8>,
    /// Bytes of the lines that are in the segment, which the commit syncs.
    appended: usize,
    pub(super) records: u64,
    pub(super) messages: u64,
    /// Number of messages that are gone; each has a line.
    pub(super) gone: u64,
    /// The positions after the last messages of mboxes that are being read, which the commit
    /// stores.
    cursors: HashMap<(FileId, MailboxId), MboxCursor>,
}

impl Committer {
    /// A committer for a state and an output that are known to agree.
    pub(super) fn new(
        db: StateDb,
        dir: SegmentDir,
        sidecars: PathBuf,
        compress: SegmentCompression,
        hash_key: HashKey,
        lines_to: LinesTo,
    ) -> Result<Self, DaemonError> {
        let unsealed = db.unsealed_segment()?;
        Ok(Committer {
            db,
            dir,
            sidecars,
            compress,
            hash_key,
            lines_to,
            unsealed,
            segment: None,
            batch: PendingBatch::default(),
            set_aside: Vec::new(),
            sealed: Vec::new(),
            spools: Vec::new(),
            batch_since: None,
            segment_since: None,
        })
    }

    /// Adopts the spools of a configuration: see [`StateDb::adopt_spools`]. The batch must be
    /// empty.
    pub(super) fn adopt_spools(&mut self, spools: &[Spool]) -> Result<(), DaemonError> {
        let identities = self.db.adopt_spools(spools)?.into_iter().map(Arc::new);
        let paths = spools.iter().map(|spool| spool.path.clone());
        self.spools = paths.zip(identities).collect();
        Ok(())
    }

    /// The spool with this path in the configuration, as the state knows it.
    pub(crate) fn spool_identity(&self, configured: &Path) -> Arc<SpoolIdentity> {
        let same = |(path, _): &&(PathBuf, _)| path.as_os_str() == configured.as_os_str();
        match self.spools.iter().find(same) {
            Some((_, identity)) => Arc::clone(identity),
            // Readers of a configuration that was replaced: what they read is not written.
            None => Arc::new(SpoolIdentity::named(configured)),
        }
    }

    /// The state, with the batch's transaction open.
    pub(crate) fn transaction(&mut self) -> Result<&StateDb, DaemonError> {
        if !self.batch.in_transaction {
            self.db.begin()?;
            self.batch.in_transaction = true;
            self.batch.changes_before = self.db.changed_rows();
        }
        Ok(&self.db)
    }

    /// Adds a message's lines to the batch.
    pub(crate) fn put(&mut self, lines: &[u8], records: u64) {
        self.batch.lines.extend_from_slice(lines);
        self.batch.records += records;
        self.batch.messages += 1;
    }

    /// Adds lines of the next message to the batch that its reader has written to a file. They go
    /// to the segment at once, in pieces, and count with the message at the next commit.
    pub(crate) fn put_file(&mut self, mut lines: &File) -> Result<(), DaemonError> {
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

    /// Creates a file for lines of a message.
    pub(crate) fn lines_file(&self) -> Result<File, DaemonError> {
        self.dir.unnamed().at(self.dir.path())
    }

    /// Adds a line for each message that is gone to the batch.
    pub(crate) fn put_gone(&mut self, gone: &[GoneMessage]) {
        for GoneMessage { mailbox, digests } in gone {
            write_gone(mailbox, digests, &mut self.batch.lines);
        }
        self.batch.gone += gone.len() as u64;
    }

    /// Sets the position in an mbox that the next commit stores: after the last message that was
    /// added, so that no commit holds messages after its position. Takes the place of the one
    /// before; costs no statement.
    pub(crate) fn move_cursor(&mut self, file: FileId, mailbox: MailboxId, cursor: MboxCursor) {
        self.batch.cursors.insert((file, mailbox), cursor);
    }

    /// Stores the position in an mbox that waits for the next commit, if one does.
    pub(crate) fn store_cursor(&mut self, file: FileId) -> Result<(), DaemonError> {
        let pending = self.batch.cursors.extract_if(|(of, _), _| *of == file);
        let stored: Vec<_> = pending.collect();
        self.store_cursors(stored)
    }

    fn store_cursors(
        &mut self,
        cursors: impl IntoIterator<Item = ((FileId, MailboxId), MboxCursor)>,
    ) -> Result<(), DaemonError> {
        for ((file, mailbox), cursor) in cursors {
            self.transaction()?.put_cursor(file, mailbox, &cursor)?;
        }
        Ok(())
    }

    /// Bytes of the lines that wait for a commit.
    pub(crate) fn pending_bytes(&self) -> usize {
        self.batch.lines.len() + self.batch.appended
    }

    /// Number of messages, new and gone, that wait for a commit.
    pub(super) fn pending_messages(&self) -> u64 {
        self.batch.messages + self.batch.gone
    }

    /// Returns `true` if anything waits for a commit.
    pub(crate) fn is_dirty(&self) -> bool {
        let has_changes =
            || self.batch.in_transaction && self.batch.changes_before < self.db.changed_rows();
        0 < self.pending_bytes() || !self.batch.cursors.is_empty() || has_changes()
    }

    /// Committed bytes of the open segment.
    pub(super) fn committed(&self) -> u64 {
        self.unsealed.len
    }

    /// Number of the open segment.
    pub(super) fn seq(&self) -> u64 {
        self.unsealed.seq
    }

    /// Commits the batch: when this returns, it survives a power cut. A transaction without changes
    /// ends without a sync. Returns what was committed; `None` if there was nothing.
    pub(super) fn commit(&mut self) -> Result<Option<PendingBatch>, DaemonError> {
        self.batch_since = None;
        if !self.is_dirty() {
            if std::mem::take(&mut self.batch.in_transaction) {
                self.db.commit()?;
            }
            return Ok(None);
        }
        self.transaction()?;
        let cursors = std::mem::take(&mut self.batch.cursors);
        self.store_cursors(cursors)?;
        if is_planted(PlantedFault::StateBeforeData) {
            self.commit_state_first()?;
        }
        self.write_lines()?;
        let batch = std::mem::take(&mut self.batch);
        match self.lines_to {
            LinesTo::Segments if batch.appended == 0 => {}
            LinesTo::Segments => {
                self.sync_segment()?;
                self.unsealed.records += batch.records + batch.gone;
                self.db.update_segment(&self.unsealed)?;
            }
            // No sidecar will list them.
            LinesTo::Stdout => self.db.clear_new_rows()?,
        }
        self.db.commit()?;
        Ok(Some(batch))
    }

    /// Publishes the open segment if it holds anything, and begins the next. The batch must be
    /// empty.
    pub(super) fn seal(&mut self) -> Result<bool, DaemonError> {
        if self.unsealed.len == 0 {
            return Ok(false);
        }
        self.segment = None;
        self.prepare_seal()?;
        self.finish_seal()?;
        Ok(true)
    }

    /// Takes the segments that were sealed since the last call.
    pub(super) fn take_sealed(&mut self) -> Vec<SealedSegment> {
        std::mem::take(&mut self.sealed)
    }

    /// The second part of sealing, from the recorded intent to the published segment. Repeats what
    /// a crash interrupted.
    pub(super) fn finish_seal(&mut self) -> Result<(), DaemonError> {
        let (seq, name) = (self.unsealed.seq, self.unsealed.name.clone());
        let (meta, part) = (meta_name(seq), self.dir.part(seq));
        let is_compressed = Path::new(&name).extension() == Some("zst".as_ref());
        let hidden = if is_compressed {
            self.dir.hidden(&name)
        } else {
            part.clone()
        };
        // Before a consumer can see the segment, and remove it.
        self.remember(seq)?;
        publish_if_hidden(&self.dir, &self.dir.hidden(&meta), &meta)?;
        publish_if_hidden(&self.dir, &hidden, &name)?;
        self.sync()?;
        match std::fs::remove_file(&part) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).at(&part);
            }
            _ => {}
        }
        self.sealed.push(SealedSegment {
            name,
            bytes: self.unsealed.len,
            records: self.unsealed.records,
            messages: self.db.messages_of_open_segment()?,
        });
        self.db.start_next_segment(seq)?;
        self.unsealed = self.db.unsealed_segment()?;
        Ok(())
    }

    /// Replaces the sidecars' copies by a snapshot of the state if there are at least `max` copies.
    /// Returns `true` if it did.
    ///
    /// Both serve [`super::recovery::rebuild_state`]. The batch must be empty.
    pub(super) fn compact_sidecars(&self, max: usize) -> Result<bool, DaemonError> {
        let copies = self.old_sidecars()?;
        if copies.len() < max {
            return Ok(false);
        }
        let next = self.sidecars.join("snapshot.next");
        // A crash may have left an incomplete one.
        let _ = std::fs::remove_file(&next);
        self.db.copy_to(&next).inspect_err(|_| {
            let _ = std::fs::remove_file(&next);
        })?;
        segment::take_place(&next, &self.sidecars.join("snapshot.db")).at(&self.sidecars)?;
        for copy in copies {
            std::fs::remove_file(copy).at(&self.sidecars)?;
        }
        Ok(true)
    }

    /// Commits, seals and closes. Returns the segments that were sealed and not yet reported.
    pub(super) fn close(mut self) -> Result<Vec<SealedSegment>, DaemonError> {
        self.commit()?;
        self.seal()?;
        self.db.close()?;
        Ok(self.sealed)
    }

    /// The planted fault [`PlantedFault::StateBeforeData`].
    fn commit_state_first(&self) -> Result<(), DaemonError> {
        self.db.update_segment(&UnsealedSegment {
            len: self.unsealed.len + self.pending_bytes() as u64,
            hash: 0,
            ..self.unsealed.clone()
        })?;
        self.db.commit()?;
        self.db.begin()
    }

    /// Checks that the output folder is where it was opened: what is written into one that was
    /// removed is lost. Of standard output, that somebody reads it.
    pub(super) fn check_output(&self) -> Result<(), DaemonError> {
        if self.lines_to == LinesTo::Stdout {
            return check_stdout();
        }
        let folder = self.dir.path().display();
        match &self.segment {
            Some(segment) if !self.dir.holds(self.unsealed.seq, segment) => {
                Err(DaemonError::inconsistent(format!(
                    "{folder}: the unfinished segment {} was removed or replaced while it was \
                     written; {REBUILD}, which makes the folder again and reads again what that \
                     segment held",
                    self.unsealed.seq
                )))
            }
            None if !self.dir.exists() => Err(DaemonError::io(format!(
                "{folder} was removed while the daemon ran; a restart makes it again, and nothing \
                 was lost"
            ))),
            _ => Ok(()),
        }
    }

    /// Appends the whole lines of the batch to the segment, or prints them.
    fn write_lines(&mut self) -> Result<(), DaemonError> {
        let whole = memchr::memrchr(b'\n', &self.batch.lines).map_or(0, |last| last + 1);
        if self.lines_to == LinesTo::Stdout {
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

    /// Syncs the segment, which has lines.
    fn sync_segment(&mut self) -> Result<(), DaemonError> {
        if let Some(segment) = self.segment.take() {
            let segment = segment.sync().at(self.dir.part(self.unsealed.seq))?;
            (self.unsealed.len, self.unsealed.hash) = (segment.len(), segment.hash());
            self.segment = Some(segment);
        }
        Ok(())
    }

    /// The first part of sealing, before any name changes: the sidecar and its copy, compression,
    /// the recorded intent.
    pub(super) fn prepare_seal(&mut self) -> Result<(), DaemonError> {
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
        self.db.mark_sealing(seq, &name)?;
        (self.unsealed.name, self.unsealed.is_sealing) = (name, true);
        Ok(())
    }

    /// Writes the sidecar of the segment that will be published as `name`, and its copy in the
    /// state folder.
    fn write_sidecar(&self, name: &str) -> Result<(), DaemonError> {
        let seq = self.unsealed.seq;
        let sidecar = self.db.new_sidecar(Sidecar {
            schema: crate::record::SCHEMA,
            instance: self.db.instance().to_owned(),
            seq,
            name: name.to_owned(),
            len: self.unsealed.len,
            xxh3_64: format!("{:016x}", self.unsealed.hash),
            records: self.unsealed.records,
            messages: self.db.messages_of_open_segment()?,
            epoch: self.db.meta_value("epoch")?.unwrap_or(0),
        })?;
        let (bytes, meta) = (json_line(&sidecar), meta_name(seq));
        self.dir
            .write_hidden(&meta, &bytes)
            .at(self.dir.hidden(&meta))?;
        let copy = self.sidecars.join(&meta);
        segment::replace(&copy, &bytes).at(&copy)
    }

    /// Copies of the sidecars of sealed segments.
    fn old_sidecars(&self) -> Result<Vec<PathBuf>, DaemonError> {
        let entries = std::fs::read_dir(&self.sidecars).at(&self.sidecars)?;
        let is_old = |entry: &std::fs::DirEntry| {
            segment::number(&entry.file_name()).is_some_and(|seq| seq < self.unsealed.seq)
        };
        Ok(entries
            .flatten()
            .filter(is_old)
            .map(|entry| entry.path())
            .collect())
    }

    /// Makes the output folder remember that segment `seq` may have been published.
    pub(super) fn remember(&self, seq: u64) -> Result<(), DaemonError> {
        self.dir.remember(seq).at(self.dir.path())
    }

    fn sync(&self) -> Result<(), DaemonError> {
        if is_planted(PlantedFault::NoDirectorySync) {
            return Ok(());
        }
        self.dir.sync().at(self.dir.path())
    }
}

/// The place of a committer's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinesTo {
    /// Segments in the output folder, each line exactly once.
    Segments,
    /// Standard output. Lines are printed before they are committed, so that each is printed at
    /// least once.
    Stdout,
}

/// Prints lines, and flushes them. On a terminal nothing is printed that it would obey.
fn print(lines: &[u8]) -> Result<(), DaemonError> {
    if lines.is_empty() {
        return Ok(());
    }
    let mut stdout = io::stdout().lock();
    let is_json = lines.starts_with(b"{");
    let lines = if stdout.is_terminal() && is_json {
        printable_lines(lines, EscapeForm::Json)
    } else {
        // Lines for people are escaped already, and may have colours.
        Cow::Borrowed(lines)
    };
    match stdout.write_all(&lines).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(DaemonError::OutputClosed),
        printed => printed.at("standard output"),
    }
}

/// Checks that the reader of standard output has not closed it.
fn check_stdout() -> Result<(), DaemonError> {
    let stdout = io::stdout();
    let mut polled = [PollFd::new(&stdout, PollFlags::empty())];
    let is_closed = poll(&mut polled, Some(&Timespec::default())).is_ok()
        && polled[0].revents().contains(PollFlags::ERR);
    if is_closed {
        return Err(DaemonError::OutputClosed);
    }
    Ok(())
}

/// Publishes a hidden file, if it is still there.
///
/// Only the daemon removes names from the hidden folder, so a missing one was published before a
/// crash. A consumer may have removed it since.
pub(super) fn publish_if_hidden(
    dir: &SegmentDir,
    hidden: &Path,
    name: &str,
) -> Result<(), DaemonError> {
    match dir.publish(hidden, name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).at(dir.published(name)),
        _ => Ok(()),
    }
}

/// A segment that is not sealed yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnsealedSegment {
    pub(super) seq: u64,
    /// `true` if it is being published.
    pub(super) is_sealing: bool,
    /// File name under which it will be published; empty before that.
    pub(super) name: String,
    /// Number of committed bytes.
    pub(super) len: u64,
    /// XXH3 (64 bits) of these.
    pub(super) hash: u64,
    /// Lines in them.
    pub(super) records: u64,
}

impl StateDb {
    /// The segment that is not sealed. There is always one.
    pub(super) fn unsealed_segment(&self) -> Result<UnsealedSegment, DaemonError> {
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

    /// Stores the committed length of the open segment, its hash and its records.
    pub(super) fn update_segment(&self, segment: &UnsealedSegment) -> Result<(), DaemonError> {
        let [seq, len, hash, records] =
            [segment.seq, segment.len, segment.hash, segment.records].map(u64::cast_signed);
        self.run(
            "UPDATE segment SET len=?2, hash=?3, records=?4 WHERE seq=?1",
            params![seq, len, hash, records],
        )
    }

    /// Number of messages whose records are in the segment that is not sealed.
    pub(super) fn messages_of_open_segment(&self) -> Result<u64, DaemonError> {
        let count: Option<i64> = self.find("SELECT count(*) FROM fresh", [], |row| row.get(0))?;
        Ok(count.map_or(0, i64::cast_unsigned))
    }

    /// Stores the intent to publish a segment as `name`.
    pub(super) fn mark_sealing(&self, seq: u64, name: &str) -> Result<(), DaemonError> {
        self.run(
            "UPDATE segment SET phase=1, name=?2 WHERE seq=?1",
            params![seq.cast_signed(), name],
        )
    }

    /// Replaces the published segment `seq` by the next one, in a transaction of its own.
    pub(super) fn start_next_segment(&self, seq: u64) -> Result<(), DaemonError> {
        self.begin()?;
        self.run(
            "DELETE FROM segment WHERE seq=?1",
            params![seq.cast_signed()],
        )?;
        self.clear_new_rows()?;
        self.run(
            "INSERT INTO segment VALUES(?1,0,'',0,0,0)",
            params![(seq + 1).cast_signed()],
        )?;
        self.commit()
    }

    /// In a new state: makes `seq` the first segment.
    pub(super) fn set_first_segment(&self, seq: u64) -> Result<(), DaemonError> {
        self.run("UPDATE segment SET seq=?1", params![seq.cast_signed()])
    }
}
