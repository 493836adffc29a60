//! The daemon's host in tests that run the daemon in their own process.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use urlspool_daemon::{
    DaemonError, DaemonEvent, DaemonHost, ErrorKind, LogRecord, MonotonicTime, ReaderHost,
    SpoolReader,
};

/// Opens a state, and retries for a minute while it is locked. When another test starts a program,
/// its child holds all locks of this process until it executes the program.
pub(crate) fn when_unlocked<T>(
    mut open: impl FnMut() -> Result<T, DaemonError>,
) -> Result<T, DaemonError> {
    let begun = Instant::now();
    loop {
        match open() {
            Err(error)
                if error.kind == ErrorKind::Locked && begun.elapsed() < Duration::from_mins(1) =>
            {
                thread::sleep(Duration::from_millis(1));
            }
            result => return result,
        }
    }
}

/// A host with a clock set by the test. It keeps the daemon's reports.
#[derive(Default)]
pub(crate) struct TestHost {
    /// The clock, in milliseconds.
    pub(crate) ms: u64,
    /// Seconds from 1970 to the start of the clock, or `None` for a machine without a date.
    pub(crate) unix_time: Option<u64>,
    /// The log records in their `Debug` form.
    pub(crate) log: Vec<String>,
    /// The folders that were reported as new.
    pub(crate) new_folders: Vec<PathBuf>,
}

impl TestHost {
    /// Returns the time of the clock.
    pub(crate) fn time(&self) -> MonotonicTime {
        MonotonicTime { ms: self.ms }
    }

    /// Returns the number of log records that contain `words`.
    pub(crate) fn logged(&self, words: &str) -> usize {
        self.log
            .iter()
            .filter(|record| record.contains(words))
            .count()
    }
}

impl DaemonHost for TestHost {
    fn now(&mut self) -> MonotonicTime {
        self.time()
    }

    fn unix_ms(&mut self) -> Option<u64> {
        self.unix_time.map(|seconds| seconds * 1_000 + self.ms)
    }

    fn log(&mut self, record: &LogRecord<'_>) {
        self.log.push(format!("{record:?}"));
    }
}

impl ReaderHost for TestHost {
    fn event(&mut self) -> Option<DaemonEvent> {
        None
    }

    fn folder_appeared(&mut self, _: &Path, folder: &Path) -> bool {
        self.new_folders.push(folder.to_owned());
        true
    }

    fn progress(&mut self, _: &SpoolReader) {}
}
