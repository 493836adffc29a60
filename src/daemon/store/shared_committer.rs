//! What the readers of all spools share: the committer, whether work is paused, and how long the spools were watched.
//!
//! When a batch is committed and a segment sealed; when work pauses for want of room and when it goes on. Nothing here
//! touches a spool, so that one whose file system does not answer holds up only its own reader.

use std::sync::{Arc, Mutex, MutexGuard};

use super::committer::Committer;
use super::instance_lock::InstanceLock;
use super::recovery;
use super::watch_time::WatchTime;
use crate::config::Config;
use crate::daemon::error::DaemonError;
use crate::daemon::heartbeat::Heartbeat;
use crate::daemon::host::{DaemonHost, LogRecord, MonotonicTime};
use crate::daemon::status::{Counters, Status};
use crate::limits::SIDECAR_COPIES;

/// The time between two tries to go on after a pause. Space is there again within a few seconds of being made.
const RETRY_MS: u64 = 2_000;

/// Bytes of a batch.
pub(crate) const BATCH_BYTES: usize = 4 << 20;

/// Bytes of a batch at the least, after it did not fit several times.
const SMALL_BATCH_BYTES: usize = 64 << 10;

/// Messages of a batch.
const BATCH_MESSAGES: u64 = 5_000;

/// The committer and its pace, for one reader at a time.
#[derive(Debug)]
pub(crate) struct SharedCommitter {
    shared: Mutex<Shared>,
    /// Held as long as anybody may commit, also during a pause.
    _lock: InstanceLock,
}

#[derive(Debug)]
struct Shared {
    config: Config,
    /// None during a pause, and when it is over.
    committer: Option<Committer>,
    /// Rises with each pause and with its end. What was read in an earlier one is void.
    epoch: u64,
    paused: Option<Pause>,
    /// None until the state was open once.
    age: Option<WatchTime>,
    batch_bytes: usize,
    batch_since: Option<MonotonicTime>,
    segment_since: Option<MonotonicTime>,
    counts: Counters,
    last_error: Option<String>,
}

#[derive(Debug)]
struct Pause {
    why: String,
    /// None until somebody was told.
    retry: Option<MonotonicTime>,
}

/// The right to write to one committer. It ends when that fails, and then what was read for it must be read again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session<'d> {
    committer: &'d SharedCommitter,
    heartbeat: &'d Heartbeat,
    epoch: u64,
}

impl Session<'_> {
    /// Does `work` with the committer, while nobody else does. It must not wait for a source.
    ///
    /// # Errors
    ///
    /// Those of `work`, which end the session and the committer; [`DaemonError::OutOfSpace`] if that has ended meanwhile.
    pub(crate) fn with<T>(
        &self,
        work: impl FnOnce(&mut Committer) -> Result<T, DaemonError>,
    ) -> Result<T, DaemonError> {
        self.heartbeat.beat();
        let mut shared = self.committer.lock();
        if shared.epoch != self.epoch || self.heartbeat.is_over() {
            return Err(DaemonError::OutOfSpace(
                "work was paused meanwhile".to_owned(),
            ));
        }
        shared.with(|shared| match &mut shared.committer {
            Some(committer) => work(committer),
            None => Err(DaemonError::OutOfSpace("work is paused".to_owned())),
        })
    }

    /// Commits, if a batch is full, and seals, if the segment is large: one file can hold more than any of them.
    pub(crate) fn commit_if_full(&self) -> Result<(), DaemonError> {
        let mut shared = self.committer.lock();
        let most = shared.batch_bytes;
        let full = |committer: &Committer| committer.waiting().0 >= most;
        if shared.epoch == self.epoch && shared.committer.as_ref().is_some_and(full) {
            return shared.with(|shared| {
                shared
                    .commit()
                    .and_then(|()| shared.seal(false))
                    .map(|_| ())
            });
        }
        Ok(())
    }
}

impl SharedCommitter {
    /// Takes hold of state and output, and finishes what was left undone; without room for that it is paused.
    ///
    /// # Errors
    ///
    /// That another instance holds the state, that state and output contradict each other, or what the system says.
    pub(crate) fn open(
        config: &Config,
        host: &mut dyn DaemonHost,
    ) -> Result<Arc<SharedCommitter>, DaemonError> {
        let lock = InstanceLock::take(&config.state.dir)?;
        let mut shared = Shared {
            config: config.clone(),
            committer: None,
            epoch: 0,
            paused: None,
            age: None,
            batch_bytes: BATCH_BYTES,
            batch_since: None,
            segment_since: None,
            counts: Counters::default(),
            last_error: None,
        };
        match shared.take_hold(host) {
            Err(DaemonError::OutOfSpace(why)) => shared.paused = Some(Pause { why, retry: None }),
            held => held?,
        }
        Ok(Arc::new(SharedCommitter {
            shared: Mutex::new(shared),
            _lock: lock,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(|poisoned| {
            // What is in the batch may be half a message.
            self.shared.clear_poison();
            let mut shared = poisoned.into_inner();
            shared.end(&DaemonError::OutOfSpace(
                "the program failed while it wrote".to_owned(),
            ));
            shared
        })
    }

    /// The right to write for the reader with this pulse; nothing during a pause.
    pub(crate) fn session<'d>(&'d self, pulse: &'d Heartbeat) -> Option<Session<'d>> {
        let shared = self.lock();
        shared.committer.as_ref().map(|_| Session {
            committer: self,
            heartbeat: pulse,
            epoch: shared.epoch,
        })
    }

    /// Rises when everything must be looked at again, because what was read and not committed is lost.
    pub(crate) fn epoch(&self) -> u64 {
        self.lock().epoch
    }

    /// Lets the time pass, and goes on after a pause, if there is room again. Gives when to try next, if there is none.
    ///
    /// # Errors
    ///
    /// What ends the daemon.
    pub(crate) fn ready(
        &self,
        host: &mut dyn DaemonHost,
    ) -> Result<Option<MonotonicTime>, DaemonError> {
        let mut shared = self.lock();
        if let Some(age) = &mut shared.age {
            age.pass(host);
        }
        shared.ready(host)
    }

    /// Takes over a new configuration with the same folders.
    pub(crate) fn take_over(&self, config: &Config) {
        let mut shared = self.lock();
        shared.config = config.clone();
        if let Some(committer) = &mut shared.committer {
            committer.compress = config.output.compress;
        }
    }

    /// Does `work` with the committer while nothing waits for a commit; nothing during a pause.
    ///
    /// # Errors
    ///
    /// Those of the commit and of `work`, which end the committer.
    pub(crate) fn alone<T>(
        &self,
        work: impl FnOnce(&mut Committer) -> Result<T, DaemonError>,
    ) -> Result<Option<T>, DaemonError> {
        self.lock().with(|shared| {
            shared.commit()?;
            shared.committer.as_mut().map(work).transpose()
        })
    }

    /// Commits when enough waits or has waited long enough, or `at_once`; seals likewise.
    pub(crate) fn commit_if_due(
        &self,
        at_once: bool,
        host: &mut dyn DaemonHost,
    ) -> Result<(), DaemonError> {
        self.lock()
            .with(|shared| shared.commit_if_due(at_once, host))
    }

    /// When there is something to be committed or sealed.
    pub(crate) fn next(&self) -> Option<MonotonicTime> {
        let shared = self.lock();
        let commit = shared
            .batch_since
            .map(|since| since.after(shared.config.state.commit_interval.as_millis() as u64));
        let seal = shared
            .segment_since
            .map(|since| since.after(shared.config.output.seal_interval.as_millis() as u64));
        commit.into_iter().chain(seal).min()
    }

    /// Whether work is paused for want of room.
    pub(crate) fn is_paused(&self) -> bool {
        self.lock().paused.is_some()
    }

    /// Whether nothing waits to be committed, nor for room, and nothing was lost since it was this epoch.
    pub(crate) fn is_at_rest(&self, epoch: u64) -> bool {
        let shared = self.lock();
        shared.epoch == epoch
            && shared.paused.is_none()
            && !shared.committer.as_ref().is_some_and(Committer::is_dirty)
    }

    /// The day, counted from the first on which the spools were watched.
    pub(crate) fn day(&self) -> Option<u64> {
        self.lock().age.map(|age| age.day())
    }

    /// Writes down how long the spools have been watched, from time to time.
    pub(crate) fn keep_age(&self) -> Result<(), DaemonError> {
        self.lock()
            .with(|shared| match (&mut shared.age, &mut shared.committer) {
                (Some(age), Some(committer)) if age.is_due() => age.keep(committer.transaction()?),
                _ => Ok(()),
            })
    }

    /// Commits and seals what was read, and ends all sessions. What was committed before stays so.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub(crate) fn close(&self) -> Result<(), DaemonError> {
        let mut shared = self.lock();
        shared.epoch += 1;
        let Some(mut committer) = shared.committer.take() else {
            return Ok(());
        };
        if let Some(age) = &mut shared.age {
            age.keep(committer.transaction()?)?;
        }
        committer.close()
    }

    /// Adds how the desk stands.
    pub(crate) fn tell(&self, status: &mut Status) {
        let shared = self.lock();
        if let Some(pause) = &shared.paused {
            (status.state, status.why) = ("paused", Some(pause.why.clone()));
        }
        status.segment = shared.committer.as_ref().map_or(0, Committer::seq);
        status.committed_bytes = shared.committer.as_ref().map_or(0, Committer::committed);
        if status.last_error.is_none() {
            status.last_error.clone_from(&shared.last_error);
        }
        status.counts.add(&shared.counts);
    }
}

impl Shared {
    /// Does `work` that ends the committer if it fails: nothing of it may be synced or committed again.
    fn with<T>(
        &mut self,
        work: impl FnOnce(&mut Shared) -> Result<T, DaemonError>,
    ) -> Result<T, DaemonError> {
        let done = work(self);
        if let Err(fault) = &done {
            self.end(fault);
        }
        done
    }

    /// Ends the committer. Its transaction is rolled back; what it held is read again.
    fn end(&mut self, fault: &DaemonError) {
        if self.committer.take().is_none() {
            return;
        }
        self.epoch += 1;
        (self.batch_since, self.segment_since) = (None, None);
        if let DaemonError::OutOfSpace(why) = fault {
            self.paused = Some(Pause {
                why: why.clone(),
                retry: None,
            });
        }
    }

    /// Takes hold of state and output, as after a start.
    fn take_hold(&mut self, host: &mut dyn DaemonHost) -> Result<(), DaemonError> {
        let mut remarks = Vec::new();
        let opened = recovery::open(&self.config, &mut |remark| remarks.push(remark));
        for remark in remarks {
            host.log(&LogRecord::Warn(remark));
        }
        let committer = opened?;
        if self.age.is_none() {
            self.age = Some(WatchTime::open(&committer.db, host)?);
        }
        self.committer = Some(committer);
        Ok(())
    }

    fn ready(&mut self, host: &mut dyn DaemonHost) -> Result<Option<MonotonicTime>, DaemonError> {
        let now = host.now();
        let Some(pause) = &mut self.paused else {
            return Ok(None);
        };
        let Some(retry) = pause.retry else {
            pause.retry = Some(now.after(RETRY_MS));
            host.log(&LogRecord::Warn(format!(
                "paused for want of room: {}",
                pause.why
            )));
            self.last_error = Some(pause.why.clone());
            recovery::release(&self.config);
            // Where a limit of file size is the reason, a smaller one may fit into the next segment.
            self.batch_bytes = (self.batch_bytes / 4).max(SMALL_BATCH_BYTES);
            self.counts.pauses += 1;
            return Ok(pause.retry);
        };
        if now < retry {
            return Ok(Some(retry));
        }
        let held = if recovery::has_room(&self.config) {
            self.take_hold(host)
        } else {
            Err(DaemonError::OutOfSpace("no room yet".to_owned()))
        };
        match held {
            Ok(()) => {
                host.log(&LogRecord::Info("there is room again: going on".to_owned()));
                self.paused = None;
                // Whoever looked at something during the pause looks again.
                self.epoch += 1;
                Ok(None)
            }
            Err(DaemonError::OutOfSpace(_)) => {
                recovery::release(&self.config);
                let retry = host.now().after(RETRY_MS);
                if let Some(pause) = &mut self.paused {
                    pause.retry = Some(retry);
                }
                Ok(Some(retry))
            }
            Err(fault) => Err(fault),
        }
    }

    fn commit(&mut self) -> Result<(), DaemonError> {
        let Some(committer) = self
            .committer
            .as_mut()
            .filter(|committer| committer.is_dirty())
        else {
            return Ok(());
        };
        let (messages, records) = committer.commit()?;
        self.counts.messages += messages;
        self.counts.records += records;
        self.counts.commits += 1;
        self.batch_since = None;
        Ok(())
    }

    fn commit_if_due(
        &mut self,
        at_once: bool,
        host: &mut dyn DaemonHost,
    ) -> Result<(), DaemonError> {
        let now = host.now();
        let Some(committer) = &mut self.committer else {
            return Ok(());
        };
        let (bytes, messages) = committer.waiting();
        let since = committer
            .is_dirty()
            .then(|| *self.batch_since.get_or_insert(now));
        let long = since.is_some_and(|since| {
            since.after(self.config.state.commit_interval.as_millis() as u64) <= now
        });
        if long || bytes >= self.batch_bytes || messages >= BATCH_MESSAGES || at_once {
            self.commit()?;
        }
        let Some(committer) = &mut self.committer else {
            return Ok(());
        };
        if committer.committed() > 0 {
            let since = *self.segment_since.get_or_insert(now);
            let old = since.after(self.config.output.seal_interval.as_millis() as u64) <= now;
            if self.seal(old)?
                && let Some(committer) = &self.committer
            {
                match committer.compact(SIDECAR_COPIES) {
                    Ok(false) => {}
                    Ok(true) => host.log(&LogRecord::Info(
                        "a snapshot of the state replaces old sidecars".to_owned(),
                    )),
                    // The sidecars do as well, and work goes on with the room there is.
                    Err(DaemonError::OutOfSpace(why)) => {
                        host.log(&LogRecord::Warn(format!("no snapshot of the state: {why}")))
                    }
                    Err(fault) => return Err(fault),
                }
            }
        }
        Ok(())
    }

    /// Seals the segment if it is `old` or large. Gives whether it did.
    fn seal(&mut self, old: bool) -> Result<bool, DaemonError> {
        let Some(committer) = &mut self.committer else {
            return Ok(false);
        };
        let large = committer.committed() >= self.config.output.seal_bytes as u64;
        let sealed = (old || large) && !committer.is_dirty() && committer.seal()?;
        if sealed {
            self.counts.segments += 1;
            self.segment_since = None;
            self.batch_bytes = (self.batch_bytes * 2).min(BATCH_BYTES);
        }
        Ok(sealed)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;
    use crate::config::{DedupeScope, Spool};
    use crate::daemon::{DaemonEvent, SpoolReader};

    /// A folder and a clock of its own.
    pub(crate) struct World {
        folder: PathBuf,
        now: MonotonicTime,
        remarks: usize,
    }

    impl World {
        pub(crate) fn new(name: &str) -> World {
            let folder =
                std::env::temp_dir().join(format!("urlspool-desk-{}-{name}", std::process::id()));
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::create_dir_all(&folder).unwrap();
            World {
                folder,
                now: MonotonicTime::default(),
                remarks: 0,
            }
        }

        fn config(&self) -> Config {
            let mut config = Config::default();
            (config.output.dir, config.state.dir) =
                (self.folder.join("out"), self.folder.join("state"));
            config.output.seal_bytes = BATCH_BYTES;
            config
        }

        pub(crate) fn desk(&mut self) -> Arc<SharedCommitter> {
            SharedCommitter::open(&self.config(), self).unwrap()
        }

        /// Lines in all segments.
        pub(crate) fn lines(&self) -> usize {
            let lines =
                |path: PathBuf| memchr::memchr_iter(b'\n', &std::fs::read(path).unwrap()).count();
            self.segments().into_iter().map(lines).sum()
        }

        pub(crate) fn segments(&self) -> Vec<PathBuf> {
            let entries = std::fs::read_dir(self.folder.join("out"))
                .unwrap()
                .flatten();
            let paths = entries.map(|entry| entry.path());
            paths
                .filter(|path| path.extension() == Some("jsonl".as_ref()))
                .collect()
        }
    }

    impl Drop for World {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }

    impl DaemonHost for World {
        fn now(&mut self) -> MonotonicTime {
            self.now
        }

        fn event(&mut self) -> Option<DaemonEvent> {
            None
        }

        fn log(&mut self, _: &LogRecord<'_>) {
            self.remarks += 1;
        }

        fn progress(&mut self, _: &SpoolReader) {}
    }

    /// A world in which work is paused and goes on again while somebody is between two files.
    struct Paused {
        world: World,
        /// Files that are looked at before.
        left: usize,
    }

    impl DaemonHost for Paused {
        fn now(&mut self) -> MonotonicTime {
            self.world.now
        }

        fn event(&mut self) -> Option<DaemonEvent> {
            None
        }

        fn log(&mut self, _: &LogRecord<'_>) {}

        fn progress(&mut self, daemon: &SpoolReader) {
            self.left = self.left.wrapping_sub(1);
            if self.left == 0 {
                let pulse = Heartbeat::default();
                let full = daemon
                    .committer
                    .session(&pulse)
                    .unwrap()
                    .with(|_| Err::<(), _>(DaemonError::OutOfSpace("no room".to_owned())));
                assert!(full.is_err());
                while let Some(retry) = daemon.committer.ready(self).unwrap() {
                    self.world.now = retry;
                }
            }
        }
    }

    /// Puts a line into the batch.
    fn put(session: Session<'_>) -> Result<(), DaemonError> {
        session.with(|committer| {
            committer.transaction()?.mark_seen(1, 2)?;
            committer.put(b"{}\n", 1);
            Ok(())
        })
    }

    #[test]
    fn what_was_read_before_a_pause_cannot_be_written_after_it() {
        let mut world = World::new("pause");
        let desk = world.desk();
        let (one, other) = (Heartbeat::default(), Heartbeat::default());
        let (before, beside) = (desk.session(&one).unwrap(), desk.session(&other).unwrap());
        put(before).unwrap();
        let full = beside.with(|_| Err::<(), _>(DaemonError::OutOfSpace("no room".to_owned())));
        assert!(full.is_err() && put(before).is_err() && desk.session(&one).is_none());
        // The pause is told once, and lasts until there is room.
        let retry = desk.ready(&mut world).unwrap().unwrap();
        assert_eq!(
            (desk.ready(&mut world).unwrap(), world.remarks),
            (Some(retry), 1)
        );
        world.now = retry;
        assert_eq!(desk.ready(&mut world).unwrap(), None);
        assert!(
            put(before).is_err() && put(beside).is_err(),
            "the committer is another"
        );
        put(desk.session(&one).unwrap()).unwrap();
        desk.close().unwrap();
        let lines = std::fs::read(world.folder.join("out/0000000001.jsonl")).unwrap();
        assert_eq!((world.segments().len(), lines), (1, b"{}\n".to_vec()));
    }

    #[test]
    fn nobody_is_done_with_what_a_pause_has_undone() {
        let world = World::new("done");
        let mut config = world.config();
        (config.state.commit_interval, config.watch.settle) = (Duration::ZERO, Duration::ZERO);
        let path = world.folder.join("spool");
        std::fs::create_dir(&path).unwrap();
        for n in 1..=4 {
            let text = format!("From: a@b.example\nSubject: x\n\nsee http://h.example/{n} now\n");
            std::fs::write(path.join(format!("{n}.eml")), text).unwrap();
        }
        config.spool = vec![Spool {
            path,
            kind: None,
            dedupe: DedupeScope::Mailbox,
        }];
        // Four looks at files that have not rested, then the second that takes one.
        let mut paused = Paused { world, left: 6 };
        let mut daemon = SpoolReader::open(config, &mut paused).unwrap();
        loop {
            let next = daemon.work(&mut paused).unwrap();
            if daemon.is_done(paused.world.now) {
                break;
            }
            paused.world.now = next.max(paused.world.now.after(1));
        }
        daemon.close().unwrap();
        assert_eq!(paused.world.lines(), 4);
    }

    #[test]
    fn a_reader_that_was_replaced_writes_nothing() {
        let mut world = World::new("replaced");
        let desk = world.desk();
        let (old, new) = (Heartbeat::default(), Heartbeat::default());
        let session = desk.session(&old).unwrap();
        old.end();
        assert!(put(session).is_err() && put(desk.session(&old).unwrap()).is_err());
        assert!(!desk.is_paused());
        let session = desk.session(&new).unwrap();
        put(session).unwrap();
        desk.close().unwrap();
        assert!(put(session).is_err() && !desk.is_paused());
        assert_eq!(world.segments().len(), 1);
    }

    #[test]
    fn half_a_message_is_not_committed() {
        let mut world = World::new("half");
        let desk = world.desk();
        let pulse = Heartbeat::default();
        let session = desk.session(&pulse).unwrap();
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            session.with(|committer| -> Result<(), DaemonError> {
                committer.transaction()?.mark_seen(1, 2)?;
                panic!("between two steps");
            })
        }));
        assert!(failed.is_err() && put(session).is_err());
        desk.ready(&mut world).unwrap();
        world.now = world.now.after(RETRY_MS);
        assert_eq!(desk.ready(&mut world).unwrap(), None);
        let seen = desk
            .session(&pulse)
            .unwrap()
            .with(|committer| committer.transaction()?.is_seen(1, 2))
            .unwrap();
        assert!(!seen);
    }
}
