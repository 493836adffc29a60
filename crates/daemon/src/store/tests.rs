//! State and output in a temporary folder, with a clock that does not advance.

use std::fs;
use std::path::PathBuf;

use super::state_db::StateDb;
use super::writer::SharedWriter;
use crate::{DaemonHost, LogRecord, MonotonicTime};
use urlspool_files::config::Config;
use urlspool_text::limits::COMMIT_BATCH_BYTES;

/// A temporary folder, its clock and its log.
pub(crate) struct StoreFixture {
    pub folder: PathBuf,
    pub now: MonotonicTime,
    /// Number of log lines.
    pub log_lines: usize,
}

impl StoreFixture {
    pub(crate) fn new(name: &str) -> StoreFixture {
        let folder =
            std::env::temp_dir().join(format!("urlspool-store-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        StoreFixture {
            folder,
            now: MonotonicTime::default(),
            log_lines: 0,
        }
    }

    pub(crate) fn config(&self) -> Config {
        let mut config = Config::default();
        (config.output.dir, config.state.dir) =
            (self.folder.join("out"), self.folder.join("state"));
        config.output.seal_bytes = COMMIT_BATCH_BYTES;
        config
    }

    pub(crate) fn writer(&mut self) -> SharedWriter {
        SharedWriter::open(&self.config(), self).unwrap()
    }

    /// The state alone, with holders tracked.
    pub(super) fn state(&self) -> StateDb {
        let path = self.folder.join("state.db");
        let state = StateDb::open(&path).unwrap();
        state.set_tracking(true).unwrap();
        state
    }

    /// Number of lines in all sealed segments.
    pub(crate) fn lines(&self) -> usize {
        let lines = |path: PathBuf| memchr::memchr_iter(b'\n', &fs::read(path).unwrap()).count();
        self.segments().into_iter().map(lines).sum()
    }

    pub(crate) fn segments(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder.join("out")).unwrap().flatten();
        let paths = entries.map(|entry| entry.path());
        paths
            .filter(|path| path.extension() == Some("jsonl".as_ref()))
            .collect()
    }
}

impl Drop for StoreFixture {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl DaemonHost for StoreFixture {
    fn now(&mut self) -> MonotonicTime {
        self.now
    }

    fn log(&mut self, _: &LogRecord<'_>) {
        self.log_lines += 1;
    }
}

/// A host without a log.
pub(super) struct NoHost;

impl DaemonHost for NoHost {
    fn now(&mut self) -> MonotonicTime {
        MonotonicTime::default()
    }

    fn log(&mut self, _: &LogRecord<'_>) {}
}
