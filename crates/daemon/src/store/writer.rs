//! The writer that all readers share. It decides when a batch is committed, when a segment is
//! sealed, when work pauses for lack of space and when it resumes. Its committer keeps the order
//! of writes that makes records appear exactly once: lines to the segment, sync, one transaction.
//!
//! A batch holds everything read since the last commit: lines, and their keys and cursors in the
//! open transaction. After any error the whole committer is dropped: its transaction is rolled
//! back, its descriptors are never synced again, and the batch is read again from its sources.
//!
//! This code never accesses a spool, so a file system that does not answer blocks only its own
//! reader. No thread waits for a source while it holds the lock of the writer.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use rusqlite::params;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::gone::GoneMessage;
use super::purge::WatchTime;
use super::recovery::{self, StateSidecar};
use super::spools::{KnownSpools, SpoolIdentity, check_scopes};
use super::state_db::{StateDb, unsigned};
use crate::own_files::{
    self, InstanceLock, Segment, SegmentDir, StatePaths, has_space, highest_in, meta_name,
    release_reserve, remove_if_exists,
};
use crate::status::{Counters, DaemonState, LastError, SealedSegment, Status, timestamp};
use crate::{
    AtPath, DaemonError, DaemonHost, ErrorKind, Heartbeat, LogRecord, MonotonicTime, REBUILD,
    Result,
};
use urlspool_files::config::{Config, SegmentCompression, Spool};
use urlspool_files::keyed_hash::HashKey;
use urlspool_record::record::{Sidecar, json_line, write_gone};
use urlspool_text::diagnostic::{EscapeForm, printable_lines};
use urlspool_text::limits::{
    COMMIT_BATCH_BYTES, COMMIT_BATCH_MESSAGES, REPORTED_FAILURES, SIDECAR_COPIES,
    SMALL_COMMIT_BATCH_BYTES,
};
use urlspool_text::planted_faults::{PlantedFault, is_planted};

/// The writer, used by one thread at a time.
#[derive(Clone)]
pub struct SharedWriter(Arc<Mutex<Writer>>);

/// The right of one reader to write to one committer. It ends when that committer fails; messages
/// read under it must then be read again.
#[derive(Clone)]
pub struct Session {
    writer: SharedWriter,
    pub heartbeat: Arc<Heartbeat>,
    term: u64,
    /// The secret key of the state.
    pub hash_key: HashKey,
    /// Folder for the records of messages that have many.
    pub records_dir: PathBuf,
}

impl SharedWriter {
    /// Locks and opens state and output, and recovers them after a crash. Starts paused if there is
    /// no space for that.
    ///
    /// # Errors
    ///
    /// Another instance holds the state, state and output contradict each other, or an I/O error.
    pub fn open(config: &Config, host: &mut dyn DaemonHost) -> Result<SharedWriter> {
        let lock = InstanceLock::acquire(&config.state.dir)?;
        let mut writer = Writer {
            config: config.clone(),
            spools: KnownSpools::default(),
            open: None,
            ended: None,
            retry: None,
            term: 0,
            batch_bytes: COMMIT_BATCH_BYTES,
            counters: Counters::default(),
            last_sealed: None,
            last_error: LastError::default(),
            _lock: lock,
        };
        match writer.open_committer(host) {
            Err(error) if error.kind == ErrorKind::OutOfSpace => writer.ended = Some(error),
            opened => opened?,
        }
        Ok(SharedWriter(Arc::new(Mutex::new(writer))))
    }

    /// Waits for exclusive use of the writer. If its last user met an error, the committer is
    /// ended: its work must not be synced or committed any more.
    pub fn lock(&self) -> MutexGuard<'_, Writer> {
        let mut writer = self.0.lock().unwrap_or_else(|poisoned| {
            // The batch may hold half a message.
            self.0.clear_poison();
            let mut writer = poisoned.into_inner();
            writer.end(&DaemonError::out_of_space(
                "a reader failed while writing to the batch",
            ));
            writer
        });
        if let Some(error) = writer.open.as_ref().and_then(|open| open.db.take_failure()) {
            writer.end(&error);
        }
        writer
    }

    /// Opens a session for the reader with this heartbeat.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfSpace`] during a pause, or the error that ended the committer.
    pub fn session(&self, heartbeat: &Arc<Heartbeat>) -> Result<Session> {
        let writer = self.lock();
        let committer = writer.committer()?;
        Ok(Session {
            writer: self.clone(),
            heartbeat: Arc::clone(heartbeat),
            term: writer.term,
            hash_key: committer.hash_key,
            records_dir: committer.dir.open.clone(),
        })
    }
}

impl Session {
    /// Waits for exclusive use of the writer.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfSpace`] if uncommitted work was lost since the session was opened, or the
    /// reader was replaced.
    pub fn lock(&self) -> Result<MutexGuard<'_, Writer>> {
        self.heartbeat.beat();
        let writer = self.writer.lock();
        if writer.term != self.term || self.heartbeat.is_retired() {
            return Err(DaemonError::out_of_space("work was paused in the meantime"));
        }
        Ok(writer)
    }
}

/// Milliseconds between two attempts to resume after a pause. Freed space is used within a few
/// seconds.
const RETRY_MS: u64 = 2_000;

/// A committer with its state and its clocks.
pub struct Writer {
    config: Config,
    /// The spools that the state knows; empty until the state was opened once.
    spools: KnownSpools,
    /// `None` during a pause, and once the writer was closed.
    open: Option<Committer>,
    /// The error that ended the committer. Lack of space causes a pause; after any other error the
    /// writer accepts no more work.
    ended: Option<DaemonError>,
    /// Time of the next attempt to resume; `None` if the pause was not reported yet.
    retry: Option<MonotonicTime>,
    /// Number of times that a committer or a pause has ended. Work of an earlier term is void, so
    /// everything must be scanned again.
    term: u64,
    batch_bytes: usize,
    counters: Counters,
    last_sealed: Option<SealedSegment>,
    last_error: LastError,
    /// Held for the lifetime of the writer, even during a pause. Fields are dropped in order, so
    /// this one is last: the database closes before another instance may open it.
    _lock: InstanceLock,
}

/// Methods for readers.
impl Writer {
    /// The state. The next commit stores its changes.
    pub fn db(&self) -> Result<&StateDb> {
        Ok(&self.committer()?.db)
    }

    /// The spool with this path in the configuration, as the state knows it. For a reader of a
    /// replaced configuration, whose results are never written, the spool is kept under that path.
    pub fn spool_identity(&self, configured: &Path) -> Arc<SpoolIdentity> {
        let known = self.spools.configured.get(configured).cloned();
        known.unwrap_or_else(|| Arc::new(SpoolIdentity::kept(configured, configured)))
    }

    /// Adds a message's lines to the batch.
    pub fn put(&mut self, lines: &mut impl Read, records: u64) -> Result<()> {
        self.run(|committer| committer.put(lines, records))
    }

    /// Adds a line for each gone message to the batch.
    pub fn put_gone(&mut self, gone: &[GoneMessage]) -> Result<()> {
        let batch = &mut self.committer_mut()?.batch;
        for GoneMessage { mailbox, digests } in gone {
            write_gone(mailbox, digests, &mut batch.lines);
        }
        batch.counts.gone += gone.len() as u64;
        Ok(())
    }

    /// Commits if the batch is full, and seals if the segment is large. One file can exceed either
    /// limit.
    pub fn commit_if_full(&mut self) -> Result<()> {
        if self.committer()?.pending_bytes() < self.batch_bytes {
            return Ok(());
        }
        self.commit()?;
        if self.is_segment_large() {
            self.seal()?;
        }
        Ok(())
    }

    /// Number of the day, counted from the first on which the spools were watched.
    pub fn watch_day(&self, now: MonotonicTime) -> Result<u64> {
        Ok(self.committer()?.watch_time.day(now))
    }

    /// Saves the watch time with the current batch, if it is due.
    pub fn save_watch_time(&mut self, host: &mut dyn DaemonHost) -> Result<()> {
        let committer = self.committer_mut()?;
        committer.watch_time.save(&committer.db, host)
    }

    /// Ends the committer. Its transaction is rolled back, and its messages are read again.
    pub fn end(&mut self, error: &DaemonError) {
        if self.open.take().is_some() {
            self.term += 1;
            self.ended = Some(error.clone());
        }
    }
}

/// Methods for the loops of readers and supervisor.
impl Writer {
    /// Resumes after a pause if there is space. Returns the time of the next attempt if there is
    /// none, or `None` if work continues.
    ///
    /// # Errors
    ///
    /// Errors that end the daemon.
    pub fn ready(&mut self, host: &mut dyn DaemonHost) -> Result<Option<MonotonicTime>> {
        self.report_sealed(host);
        match (&self.ended, self.retry) {
            (None, _) => Ok(None),
            (Some(error), _) if error.kind != ErrorKind::OutOfSpace => Err(error.clone()),
            (Some(error), None) => Ok(Some(self.pause(error.to_string(), host))),
            (Some(_), Some(retry)) if host.now() < retry => Ok(Some(retry)),
            (Some(_), Some(_)) => self.resume(host),
        }
    }

    /// Checks that the state accepts the spools of a new configuration, even during a pause.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Refused`].
    pub fn check_spools(&self, spools: &[Spool]) -> Result<()> {
        check_scopes(spools, &self.spools.rows)
    }

    /// Applies a new configuration with the same folders. Messages read under the old one are
    /// committed first. During a pause, the remaining changes apply when the pause ends.
    ///
    /// # Errors
    ///
    /// Errors of the commit and of the state, which end the committer.
    pub fn reconfigure(&mut self, config: &Config) -> Result<()> {
        self.config = config.clone();
        self.commit()?;
        if self.open.is_some() {
            self.spools = self.run(|committer| {
                committer.compress = config.output.compress;
                committer.db.adopt_spools(&config.spool)
            })?;
        }
        Ok(())
    }

    /// Commits a batch that is full or old enough, or any batch if `stopping`. Seals a segment that
    /// is large or old enough.
    pub fn commit_if_due(&mut self, stopping: bool, host: &mut dyn DaemonHost) -> Result<()> {
        if stopping || self.is_commit_due(host.now()) {
            self.commit()?;
        }
        self.seal_if_due(host)
    }

    /// Checks that the output folder is still where it was opened.
    pub fn check_output(&mut self) -> Result<()> {
        self.open
            .as_ref()
            .map_or(Ok(()), Committer::check_output)
            .inspect_err(|error| self.end(error))
    }

    /// Time of the next commit or seal; `None` if neither is pending.
    pub fn next_deadline(&self) -> Option<MonotonicTime> {
        let open = self.open.as_ref()?;
        let (commit, seal) = (open.batch_since, open.segment_since);
        let commit = commit.map(|since| since.plus(self.config.state.commit_interval));
        let seal = seal.map(|since| since.plus(self.config.output.seal_interval));
        commit.into_iter().chain(seal).min()
    }

    /// Returns `true` if work is paused for lack of space.
    pub fn is_paused(&self) -> bool {
        matches!(&self.ended, Some(error) if error.kind == ErrorKind::OutOfSpace)
    }

    /// Returns `true` if no batch is pending.
    pub fn is_idle(&self) -> bool {
        self.open.as_ref().is_some_and(|open| !open.is_dirty())
    }

    /// Commits and seals pending work, counts it, and logs the segment.
    ///
    /// # Errors
    ///
    /// An I/O error, which ends the committer.
    pub fn finish(&mut self, host: &mut dyn DaemonHost) -> Result<()> {
        self.commit()?;
        if self.open.is_some() {
            self.seal()?;
        }
        self.report_sealed(host);
        Ok(())
    }

    /// Commits and seals pending work, and ends all sessions. Earlier commits stay committed.
    ///
    /// # Errors
    ///
    /// An I/O error, or the error that ended the committer before.
    pub fn close(&mut self) -> Result<()> {
        self.term += 1;
        match (self.open.take(), self.ended.take()) {
            (Some(committer), _) => committer.close(),
            (None, Some(error)) if error.kind != ErrorKind::OutOfSpace => Err(error),
            _ => Ok(()),
        }
    }

    /// Adds the state of the committer to a status. A pause takes precedence over the state of
    /// readers.
    pub fn add_status(&self, status: &mut Status) {
        if self.is_paused() {
            status.state = DaemonState::Paused;
            status.why = self.ended.as_ref().map(ToString::to_string);
        }
        if let Some(committer) = &self.open {
            status.segment = committer.unsealed.seq;
            status.committed_bytes = committer.unsealed.len;
            // The state keeps an error, and the next user of the writer reports it.
            if let Ok(files) = committer.db.set_aside_status() {
                status.quarantined += files.len();
                status.failures.splice(0..0, files);
                status.failures.truncate(REPORTED_FAILURES);
            }
        }
        status.last_sealed.clone_from(&self.last_sealed);
        status.last_error.merge(self.last_error.clone());
        status.counts.add(&self.counters);
    }

    fn committer(&self) -> Result<&Committer> {
        let open = self.open.as_ref();
        open.ok_or_else(|| refusal(self.ended.as_ref()))
    }

    fn committer_mut(&mut self) -> Result<&mut Committer> {
        let open = self.open.as_mut();
        open.ok_or_else(|| refusal(self.ended.as_ref()))
    }

    /// Runs `work` with the committer, which an error ends.
    fn run<T>(&mut self, work: impl FnOnce(&mut Committer) -> Result<T>) -> Result<T> {
        let done = work(self.committer_mut()?);
        done.inspect_err(|error| self.end(error))
    }

    /// Opens state and output, as on start.
    fn open_committer(&mut self, host: &mut dyn DaemonHost) -> Result<()> {
        let committer = recovery::open(&self.config, host)?;
        if self.last_sealed.is_none() {
            self.last_sealed = last_sidecar(&self.config);
        }
        self.spools = committer.db.adopt_spools(&self.config.spool)?;
        (self.open, self.ended, self.retry) = (Some(committer), None, None);
        Ok(())
    }

    /// Logs the segments that were sealed since the last call.
    fn report_sealed(&mut self, host: &mut dyn DaemonHost) {
        let open = self.open.as_mut();
        for mut segment in open.map_or(Vec::new(), |open| std::mem::take(&mut open.sealed)) {
            segment.time = host.unix_time().map(timestamp);
            host.log(&LogRecord::Sealed(&segment));
            self.last_sealed = Some(segment);
        }
    }

    /// Reports the pause and frees the reserved space. Returns the time of the first attempt to
    /// resume.
    fn pause(&mut self, reason: String, host: &mut dyn DaemonHost) -> MonotonicTime {
        let retry = host.now().after(RETRY_MS);
        host.warn(format!("paused for lack of space: {reason}"));
        release_reserve(&self.config);
        // If the reason is a limit on file sizes, a smaller batch may fit into the next segment.
        self.batch_bytes = (self.batch_bytes / 4).max(SMALL_COMMIT_BATCH_BYTES);
        self.counters.pauses += 1;
        self.last_error = LastError::new(reason, host.unix_time());
        self.retry = Some(retry);
        retry
    }

    /// Reopens state and output if there is space. Otherwise returns the time of the next attempt.
    fn resume(&mut self, host: &mut dyn DaemonHost) -> Result<Option<MonotonicTime>> {
        let opened = if has_space(&self.config) {
            self.open_committer(host)
        } else {
            Err(DaemonError::out_of_space("still no space"))
        };
        match opened {
            Ok(()) => {
                host.info("space is available again: work resumes".into());
                // Files that were scanned during the pause are scanned again.
                self.term += 1;
                Ok(None)
            }
            Err(error) if error.kind == ErrorKind::OutOfSpace => {
                release_reserve(&self.config);
                self.retry = Some(host.now().after(RETRY_MS));
                Ok(self.retry)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns `true` if the batch is full or old enough.
    fn is_commit_due(&mut self, now: MonotonicTime) -> bool {
        let (interval, batch_bytes) = (self.config.state.commit_interval, self.batch_bytes);
        let Some(committer) = self.open.as_mut().filter(|open| open.is_dirty()) else {
            return false;
        };
        let since = *committer.batch_since.get_or_insert(now);
        since.plus(interval) <= now
            || batch_bytes <= committer.pending_bytes()
            || COMMIT_BATCH_MESSAGES
                <= committer.batch.counts.messages + committer.batch.counts.gone
    }

    /// Commits the batch. No effect during a pause.
    pub fn commit(&mut self) -> Result<()> {
        if self.open.is_some()
            && let Some(batch) = self.run(Committer::commit)?
        {
            self.counters.add(&batch.counts);
            self.counters.commits += 1;
        }
        Ok(())
    }

    /// Seals the segment if it is large or old enough, compacts the sidecars afterwards, and
    /// reports sealed segments.
    fn seal_if_due(&mut self, host: &mut dyn DaemonHost) -> Result<()> {
        let (now, interval) = (host.now(), self.config.output.seal_interval);
        let is_large = self.is_segment_large();
        if let Some(committer) = &mut self.open
            && 0 < committer.unsealed.len
        {
            let since = *committer.segment_since.get_or_insert(now);
            let is_old = since.plus(interval) <= now;
            if (is_old || is_large) && self.seal()? {
                self.compact_sidecars(host)?;
            }
        }
        self.report_sealed(host);
        Ok(())
    }

    fn is_segment_large(&self) -> bool {
        let seal_bytes = self.config.output.seal_bytes as u64;
        let open = self.open.as_ref();
        open.is_some_and(|committer| seal_bytes <= committer.unsealed.len)
    }

    /// Seals the segment unless a batch is pending. Returns `true` if it did.
    fn seal(&mut self) -> Result<bool> {
        if self.committer()?.is_dirty() || !self.run(Committer::seal)? {
            return Ok(false);
        }
        self.counters.segments += 1;
        self.batch_bytes = (self.batch_bytes * 2).min(COMMIT_BATCH_BYTES);
        Ok(true)
    }

    fn compact_sidecars(&mut self, host: &mut dyn DaemonHost) -> Result<()> {
        match self.committer()?.compact_sidecars(SIDECAR_COPIES) {
            Ok(false) => {}
            Ok(true) => host.info("replaced old sidecars by a snapshot of the state".into()),
            // The sidecars hold the same state, so work continues with the remaining space.
            Err(error) if error.kind == ErrorKind::OutOfSpace => {
                host.warn(format!("cannot write a snapshot of the state: {error}"))
            }
            Err(error) => return Err(error).inspect_err(|error| self.end(error)),
        }
        Ok(())
    }
}

/// The error for work that is not accepted. `ended` is the error that ended the committer.
fn refusal(ended: Option<&DaemonError>) -> DaemonError {
    let ended = ended.cloned();
    ended.unwrap_or_else(|| DaemonError::out_of_space("work is paused"))
}

/// The segment of the newest remaining sidecar, sealed by an earlier run.
fn last_sidecar(config: &Config) -> Option<SealedSegment> {
    let paths = StatePaths::new(config);
    let path = paths.sidecar(highest_in(&paths.sidecars).ok()?);
    let sidecar = Sidecar::read(&std::fs::read(&path).ok()?)?;
    let written = path.metadata().ok()?.mtime();
    Some(SealedSegment {
        name: sidecar.name,
        bytes: sidecar.len,
        records: sidecar.records,
        messages: sidecar.messages,
        time: u64::try_from(written).ok().map(timestamp),
    })
}

/// Size of the pieces in which lines are copied to the segment.
const PIECE_BYTES: u64 = 256 << 10;

/// Writes batches and seals segments.
pub(super) struct Committer {
    pub(super) db: StateDb,
    pub(super) dir: SegmentDir,
    pub(super) paths: StatePaths,
    pub(super) compress: SegmentCompression,
    /// The secret key of the state.
    pub(super) hash_key: HashKey,
    /// `true` if lines go to standard output. They are printed before they are committed, so each
    /// is printed at least once. Segments contain each line exactly once.
    pub(super) prints_lines: bool,
    /// The open segment as the state describes it.
    pub(super) unsealed: UnsealedSegment,
    /// The file of the open segment; `None` before the first write.
    pub(super) segment: Option<Segment>,
    pub(super) batch: PendingBatch,
    /// Sealed segments that were not reported yet.
    pub(super) sealed: Vec<SealedSegment>,
    pub(super) watch_time: WatchTime,
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
    /// Its messages and their records, and the gone messages; each of these has one line.
    counts: Counters,
}

impl Committer {
    /// Adds a message's lines to the batch. Whole pieces go to the segment at once, so that memory
    /// holds one of them. All lines count with the message at the next commit.
    pub(super) fn put(&mut self, lines: &mut impl Read, records: u64) -> Result<()> {
        let mut piece = lines.take(PIECE_BYTES);
        while PIECE_BYTES as usize <= piece.read_to_end(&mut self.batch.lines).at(&self.dir.out)? {
            self.write_lines()?;
            piece.set_limit(PIECE_BYTES);
        }
        self.batch.counts.records += records;
        self.batch.counts.messages += 1;
        Ok(())
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
            self.db.set_unsealed_segment(&UnsealedSegment {
                len: self.unsealed.len + self.pending_bytes() as u64,
                hash: 0,
                ..self.unsealed.clone()
            })?;
            self.db.commit()?;
        }
        self.write_lines()?;
        let batch = std::mem::take(&mut self.batch);
        if self.prints_lines {
            // No sidecar will list them.
            self.db.clear_new_rows()?;
        } else if let Some(segment) = self.segment.take_if(|_| 0 < batch.appended) {
            let segment = segment.sync().at(self.dir.part(self.unsealed.seq))?;
            self.unsealed.len += batch.appended as u64;
            self.unsealed.hash = segment.hash();
            self.segment = Some(segment);
            self.unsealed.records += batch.counts.records + batch.counts.gone;
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
        self.dir.remember(seq)?;
        publish_if_hidden(&self.dir, &self.dir.hidden(&meta), &meta)?;
        publish_if_hidden(&self.dir, &hidden, &name)?;
        self.sync()?;
        remove_if_exists(&part).at(&part)?;
        self.sealed.push(SealedSegment {
            name,
            bytes: self.unsealed.len,
            records: self.unsealed.records,
            messages: self.db.messages_of_open_segment()?,
            time: None,
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
        let mut copies = own_files::entries(folder).at(folder)?;
        copies.retain(|copy| own_files::number(copy).is_some_and(|seq| seq < self.unsealed.seq));
        if copies.len() < max {
            return Ok(false);
        }
        let next = folder.join("snapshot.next");
        // A crash may have left an incomplete one.
        let _ = std::fs::remove_file(&next);
        self.db.copy_to(&next).inspect_err(|_| {
            let _ = std::fs::remove_file(&next);
        })?;
        own_files::replace_with(&next, &folder.join("snapshot.db")).at(folder)?;
        for copy in copies {
            std::fs::remove_file(copy).at(folder)?;
        }
        Ok(true)
    }

    /// Commits, seals and closes.
    pub(super) fn close(mut self) -> Result<()> {
        self.commit()?;
        self.seal()?;
        self.db.close()
    }

    /// Checks that the output folder is still where it was opened: data written to a removed folder
    /// is lost. If lines go to standard output, checks that it is still read.
    pub(super) fn check_output(&self) -> Result<()> {
        if self.prints_lines {
            return check_stdout();
        }
        let folder = self.dir.out.display();
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
            own_files::compress(&self.dir.part(seq), &to).at(&to)?;
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
                epoch: self.db.meta("epoch")?.unwrap_or(0),
            },
            age: self.db.meta("age")?.unwrap_or(0),
            spools: self.db.spool_rows()?,
            mailboxes: self.db.changed_mailboxes()?,
        };
        let (bytes, meta) = (json_line(&sidecar), meta_name(seq));
        self.dir
            .write_hidden(&meta, &bytes)
            .at(self.dir.hidden(&meta))?;
        let copy = self.paths.sidecar(seq);
        own_files::replace(&copy, &bytes, own_files::SHARED).at(&copy)
    }

    fn sync(&self) -> Result<()> {
        if is_planted(PlantedFault::NoDirectorySync) {
            return Ok(());
        }
        self.dir.sync().at(&self.dir.out)
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
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).at(dir.out.join(name)),
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
        let count = self.find("SELECT count(*) FROM fresh", [], |row| unsigned(row, 0))?;
        Ok(count.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::StoreFixture;

    /// Puts a line into the batch.
    fn put(session: &Session) -> Result<()> {
        let mut writer = session.lock()?;
        writer.db()?.mark_seen(1, 2)?;
        writer.put(&mut &b"{}\n"[..], 1)
    }

    /// Pauses work, as lack of space does.
    fn fill_disk(writer: &SharedWriter) {
        writer
            .lock()
            .end(&DaemonError::out_of_space("still no space"));
    }

    #[test]
    fn data_read_before_a_pause_cannot_be_written_after_it() {
        let mut fixture = StoreFixture::new("pause");
        let writer = fixture.writer();
        let (one, other) = (Arc::default(), Arc::<Heartbeat>::default());
        let (before, beside) = (
            writer.session(&one).unwrap(),
            writer.session(&other).unwrap(),
        );
        put(&before).unwrap();
        fill_disk(&writer);
        assert!(put(&before).is_err() && writer.session(&one).is_err());
        // The pause is reported once, and lasts until there is space.
        let retry = writer.lock().ready(&mut fixture).unwrap().unwrap();
        assert_eq!(
            (
                writer.lock().ready(&mut fixture).unwrap(),
                fixture.log_lines
            ),
            (Some(retry), 1)
        );
        fixture.now = retry;
        assert_eq!(writer.lock().ready(&mut fixture).unwrap(), None);
        assert!(
            put(&before).is_err() && put(&beside).is_err(),
            "the committer is another"
        );
        put(&writer.session(&one).unwrap()).unwrap();
        writer.lock().close().unwrap();
        let lines = std::fs::read(fixture.folder.join("out/0000000001.jsonl")).unwrap();
        assert_eq!((fixture.segments().len(), lines), (1, b"{}\n".to_vec()));
    }

    #[test]
    fn a_reader_that_was_replaced_writes_nothing() {
        let mut fixture = StoreFixture::new("replaced");
        let writer = fixture.writer();
        let (old, new) = (Arc::default(), Arc::<Heartbeat>::default());
        let session = writer.session(&old).unwrap();
        old.retire();
        assert!(put(&session).is_err() && put(&writer.session(&old).unwrap()).is_err());
        assert!(!writer.lock().is_paused());
        let session = writer.session(&new).unwrap();
        put(&session).unwrap();
        writer.lock().close().unwrap();
        assert!(put(&session).is_err() && !writer.lock().is_paused());
        assert_eq!(fixture.segments().len(), 1);
    }

    #[test]
    fn no_commit_follows_an_error_of_the_state() {
        for (name, sql) in [("rollback", "ROLLBACK"), ("failure", "SELECT nothing")] {
            let mut fixture = StoreFixture::new(name);
            let writer = fixture.writer();
            put(&writer.session(&Arc::default()).unwrap()).unwrap();
            let part = writer.lock().committer().unwrap().dir.part(1);
            let error = {
                let mut writer = writer.lock();
                let _ = writer.db().unwrap().batch(sql);
                writer.commit_if_due(true, &mut fixture).unwrap_err()
            };
            assert!(!part.exists(), "{sql}");
            // The next user of the writer meets the error too.
            let session = writer.session(&Arc::default()).err().unwrap();
            let ready = writer.lock().ready(&mut fixture).unwrap_err();
            let closed = writer.lock().close().unwrap_err();
            for other in [session, ready, closed] {
                assert_eq!(other.to_string(), error.to_string());
            }
        }
    }

    #[test]
    fn a_failed_status_query_closes_the_committer() {
        let mut fixture = StoreFixture::new("status");
        let writer = fixture.writer();
        put(&writer.session(&Arc::default()).unwrap()).unwrap();
        let removed = writer.lock().db().unwrap().batch("DROP TABLE set_aside");
        removed.unwrap();
        writer.lock().add_status(&mut Status::default());
        assert!(writer.session(&Arc::default()).is_err());
    }

    #[test]
    fn half_a_message_is_not_committed() {
        let mut fixture = StoreFixture::new("half");
        let writer = fixture.writer();
        let pulse = Arc::default();
        let session = writer.session(&pulse).unwrap();
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let writer = session.lock().unwrap();
            writer.db().unwrap().mark_seen(1, 2).unwrap();
            panic!("between two steps");
        }));
        assert!(failed.is_err() && put(&session).is_err());
        writer.lock().ready(&mut fixture).unwrap();
        fixture.now = fixture.now.after(RETRY_MS);
        assert_eq!(writer.lock().ready(&mut fixture).unwrap(), None);
        let session = writer.session(&pulse).unwrap();
        let seen = session.lock().unwrap().db().unwrap().is_seen(1, 2);
        assert!(!seen.unwrap());
    }
}
