//! The records of a scan in the same process as rows: no line is written by the one, or read by the
//! other.
//!
//! The scan runs on a thread of its own and waits if the rows before are not written yet, so that
//! memory is bounded.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use super::lines::ParsedLine;
use super::target::LineTexts;
use crate::hash::hash_pieces;
use crate::limits::{LOAD_BATCH_SECONDS, LOAD_PARSED_BATCHES};
use crate::origin::Source;
use crate::record::{LoadedRecord, Record, RecordLine, json_line};
use crate::walk::{PathFilter, SymlinkPolicy, WalkStep, walk};

/// The way of a scan's records to the load beside it.
#[derive(Debug)]
pub struct RecordFeed {
    sender: SyncSender<ScanMessage>,
    /// Rows that were loaded. They are freed where they were allocated, as in `lines.rs`.
    used: Receiver<Vec<ParsedLine>>,
    texts: LineTexts,
    /// Number of the records that were sent.
    number: u64,
}

/// The load's end of a feed.
pub(super) struct FedRecords {
    receiver: Receiver<ScanMessage>,
    used: Sender<Vec<ParsedLine>>,
}

#[derive(Debug)]
enum ScanMessage {
    Records(Vec<ParsedLine>),
    /// The scan has come to its end.
    End(ScannedFiles),
}

/// The next step of the load.
pub(super) enum FedStep {
    Records(Vec<ParsedLine>),
    /// No record came for [`LOAD_BATCH_SECONDS`].
    Idle,
    End(ScannedFiles),
    /// The scan has failed: there are no more records, and those that came are not all.
    Failed,
}

/// Makes a feed for a target that needs the lines of the records, or not.
pub(super) fn record_feed(texts: LineTexts) -> (RecordFeed, FedRecords) {
    let (sender, receiver) = sync_channel(LOAD_PARSED_BATCHES);
    let (used_sender, used) = channel();
    let feed = RecordFeed {
        sender,
        used,
        texts,
        number: 0,
    };
    let fed = FedRecords {
        receiver,
        used: used_sender,
    };
    (feed, fed)
}

impl RecordFeed {
    /// Sends records, which have at least the fields that are loaded. Returns `false` if the load
    /// has failed: the scan need not go on.
    pub fn put(&mut self, records: &[Record]) -> bool {
        self.used.try_iter().for_each(drop);
        let rows = records.iter().map(|record| self.row(record)).collect();
        self.sender.send(ScanMessage::Records(rows)).is_ok()
    }

    fn row(&mut self, record: &Record) -> ParsedLine {
        self.number += 1;
        ParsedLine {
            number: self.number,
            content: Ok(RecordLine::Url(Box::new(LoadedRecord::from(record)))),
            json: match self.texts {
                LineTexts::Keep => without_end(json_line(record)),
                LineTexts::Drop => Vec::new(),
            },
        }
    }

    /// Ends the feed of a scan that has read everything. Without it nothing more is committed.
    pub fn end(self, files: ScannedFiles) {
        // If the load has failed, nobody waits for the end.
        let _ = self.sender.send(ScanMessage::End(files));
    }
}

fn without_end(mut line: Vec<u8>) -> Vec<u8> {
    line.pop();
    line
}

impl FedRecords {
    pub(super) fn next(&self) -> FedStep {
        let wait = Duration::from_secs(LOAD_BATCH_SECONDS);
        match self.receiver.recv_timeout(wait) {
            Ok(ScanMessage::Records(rows)) => FedStep::Records(rows),
            Ok(ScanMessage::End(files)) => FedStep::End(files),
            Err(RecvTimeoutError::Timeout) => FedStep::Idle,
            Err(RecvTimeoutError::Disconnected) => FedStep::Failed,
        }
    }

    /// Gives rows back to the thread of the scan.
    pub(super) fn put_back(&self, rows: Vec<ParsedLine>) {
        // After its end it takes none back.
        let _ = self.used.send(rows);
    }
}

/// The files that a scan has read, for a load that removes the rows of the others.
#[derive(Debug, Default)]
pub struct ScannedFiles {
    roots: HashSet<PathBuf>,
    /// Hashes of the paths of files that were read.
    read: HashSet<u128>,
    /// Files that were not read to their end.
    broken: BTreeSet<PathBuf>,
}

impl ScannedFiles {
    /// Creates the files of a scan of these roots.
    #[must_use]
    pub fn beneath(roots: &[PathBuf]) -> ScannedFiles {
        ScannedFiles {
            roots: roots.iter().cloned().collect(),
            ..ScannedFiles::default()
        }
    }

    /// Adds a file that was read.
    pub fn add_read(&mut self, path: &Path) {
        self.read.insert(path_hash(path));
    }

    /// Adds a file that was not read to its end.
    pub fn add_broken(&mut self, path: &Path) {
        if !self.broken.contains(path) {
            self.broken.insert(path.to_owned());
        }
    }

    /// The files that were not read to their end.
    pub(super) fn broken(&self) -> impl Iterator<Item = &PathBuf> {
        self.broken.iter()
    }

    /// The innermost root that holds a path.
    pub(super) fn root_of<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        path.ancestors().find(|folder| self.roots.contains(*folder))
    }

    /// Returns `true` if the rows of a stored file, of which there is no record, are to be removed:
    /// it was read and holds no URL any more, or it is gone. A file that the scan did not read, or
    /// not to its end, keeps its rows.
    pub(super) fn is_without_urls(&self, path: &Path) -> bool {
        let was_read = || self.read.contains(&path_hash(path)) || is_missing(path);
        !self.broken.contains(path) && was_read()
    }

    /// Returns `true` if a root is standard input, a file that is not empty, or a folder with a
    /// file in it. That of a file system that is not mounted is none of these.
    pub(super) fn holds_files(root: &Path) -> bool {
        match root.metadata() {
            Ok(found) if found.is_dir() => {
                let (roots, all) = ([root.to_owned()], PathFilter::default());
                let mut steps = walk(&roots, &all, SymlinkPolicy::default());
                steps.any(|step| {
                    matches!(
                        step,
                        WalkStep::File(_) | WalkStep::Repository(_) | WalkStep::Skipped { .. }
                    )
                })
            }
            Ok(found) => !found.is_file() || 0 < found.len(),
            Err(_) => root.as_os_str() == Source::STDIN,
        }
    }
}

fn path_hash(path: &Path) -> u128 {
    hash_pieces(&[path.as_os_str().as_encoded_bytes()])
}

/// Returns `true` if there is certainly nothing at a path. A folder that cannot be read may hold
/// it.
pub(super) fn is_missing(path: &Path) -> bool {
    let is_missing = |error: io::Error| {
        matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
        )
    };
    path.symlink_metadata().is_err_and(is_missing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::scan;
    use crate::record::read_record_line;

    #[test]
    fn the_values_of_a_record_are_those_of_its_line() {
        let folders = ["corpus/mail", "corpus/news", "corpus/containers"];
        let mut compared = 0;
        for record in scan(folders).run().unwrap() {
            let line = without_end(json_line(&record));
            let RecordLine::Url(read) = read_record_line(&line).unwrap() else {
                panic!("a record is a URL");
            };
            assert_eq!(LoadedRecord::from(&record), *read);
            compared += 1;
        }
        assert!(500 < compared, "{compared} records");
    }
}
