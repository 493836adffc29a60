//! The scan of files and folders as an iterator: the library's interface for programs that process
//! archives.

use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};
use std::{io, vec};

use super::{Job, Report, Summary, run};
use urlspool_mail::split::Format;
use urlspool_record::extract::{Extractor, Options};
use urlspool_record::record::{FieldId, LineFormat, Record};
use urlspool_sources::walk::{PathFilter, SymlinkPolicy};
use urlspool_text::diagnostic::Event;
use urlspool_text::limits::{SCANNED_BATCHES, SCANNED_EVENTS};
use urlspool_text::origin::SourceKind;

/// Prepares a scan of files and folders with the default options. No file is opened before
/// [`Scan::run`].
///
/// # Examples
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// # std::env::set_current_dir("../..")?;
/// for record in urlspool_files::pipeline::scan(["corpus/text/appendix.txt"]).run()? {
///     println!("{} at byte {} of {}", record.url(), record.range().start, record.path());
/// }
/// # Ok(())
/// # }
/// ```
pub fn scan<P: Into<PathBuf>>(paths: impl IntoIterator<Item = P>) -> Scan {
    let job = Job {
        roots: paths.into_iter().map(Into::into).collect(),
        threads: thread::available_parallelism().map_or(1, usize::from),
        line_format: LineFormat::Values(FieldId::ALL.to_vec()),
        ..Job::default()
    };
    Scan {
        job,
        options: Options::default(),
        include: Vec::new(),
        exclude: Vec::new(),
    }
}

/// A scan that has not been started.
#[derive(Debug)]
#[must_use = "a scan does nothing before `run`"]
pub struct Scan {
    job: Job,
    options: Options,
    include: Vec<String>,
    exclude: Vec<String>,
}

impl Scan {
    /// Sets the extraction options.
    pub fn options(mut self, options: Options) -> Scan {
        self.options = options;
        self
    }

    /// Sets the number of threads; at least one. The default is the number of processors. The
    /// records are the same for any number.
    pub fn threads(mut self, threads: usize) -> Scan {
        self.job.threads = threads.max(1);
        self
    }

    /// Reads only files that match `glob` or another included glob, or are in a folder that does.
    ///
    /// A glob without a slash is matched against the names of files and folders. A glob with a
    /// slash is matched against paths below the scanned path, and against whole paths.
    pub fn include(mut self, glob: impl Into<String>) -> Scan {
        self.include.push(glob.into());
        self
    }

    /// Skips files and folders that match `glob`, also if they match one of
    /// [`include`](Self::include).
    pub fn exclude(mut self, glob: impl Into<String>) -> Scan {
        self.exclude.push(glob.into());
        self
    }

    /// Follows symbolic links that stay below the scanned path. By default they are skipped.
    pub fn follow_links(mut self) -> Scan {
        self.job.links = SymlinkPolicy::Follow;
        self
    }

    /// Sets the kind of all sources. By default it is detected.
    pub fn kind(mut self, kind: SourceKind) -> Scan {
        self.job.format = Some(Format::of(kind));
        self
    }

    /// Skips messages dated before `seconds` since 1970.
    pub fn since(mut self, seconds: i64) -> Scan {
        self.job.since = Some(seconds);
        self
    }

    /// Skips messages dated at `seconds` since 1970 or later.
    pub fn until(mut self, seconds: i64) -> Scan {
        self.job.until = Some(seconds);
        self
    }

    /// Starts the scan on its own threads.
    ///
    /// Unreadable input is not an error: it is counted in the summary of [`Records::finish`], and
    /// listed in its events.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for an invalid glob; the system's error if no thread can be started.
    pub fn run(self) -> io::Result<Records> {
        let (sender, batches) = mpsc::sync_channel(SCANNED_BATCHES);
        let (mut job, options) = (self.job, self.options);
        job.filter = PathFilter::new(&self.include, &self.exclude)
            .map_err(|message| io::Error::new(io::ErrorKind::InvalidInput, message))?;
        let worker = thread::Builder::new()
            .name("urlspool-scan".to_owned())
            .spawn(move || {
                let mut report = BatchSender {
                    sender,
                    events: Vec::new(),
                    more_events: 0,
                };
                let summary = run(&job, &Extractor::new(options), &mut report)?;
                Ok(Finished {
                    summary,
                    events: report.events,
                    more_events: report.more_events,
                })
            })?;
        Ok(Records {
            batches,
            batch: Vec::new().into_iter(),
            worker,
        })
    }
}

/// The records of a running scan, in the order of the input. Dropping it ends the scan.
#[derive(Debug)]
pub struct Records {
    batches: Receiver<Vec<Record>>,
    /// The rest of the batch that was received last.
    batch: vec::IntoIter<Record>,
    worker: JoinHandle<io::Result<Finished>>,
}

/// The result of a finished scan.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The counts of files, messages and URLs that were read, skipped or failed.
    pub summary: Summary,
    /// Limits, damage and failures, in the order of the input: at most ten thousand.
    pub events: Vec<Event>,
    /// Number of further events.
    pub more_events: u64,
}

impl Records {
    /// Waits for the end of the scan and returns its counts. Skips the remaining records.
    ///
    /// # Errors
    ///
    /// The system's error if worker threads could not be started.
    ///
    /// # Panics
    ///
    /// If the scan panicked, which is a bug in this crate.
    pub fn finish(self) -> io::Result<Finished> {
        self.batches.iter().for_each(drop);
        self.worker.join().expect("the scan does not panic")
    }
}

impl Iterator for Records {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        loop {
            if let Some(record) = self.batch.next() {
                return Some(record);
            }
            self.batch = self.batches.recv().ok()?.into_iter();
        }
    }
}

/// A report that sends batches of records to another thread.
struct BatchSender {
    sender: SyncSender<Vec<Record>>,
    /// At most [`SCANNED_EVENTS`].
    events: Vec<Event>,
    more_events: u64,
}

impl Report for BatchSender {
    fn records(&mut self, records: Vec<Record>) -> io::Result<bool> {
        Ok(self.sender.send(records).is_ok())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        if self.events.len() < SCANNED_EVENTS {
            self.events.push(event.clone());
        } else {
            self.more_events += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scan_yields_its_records_and_then_its_counts() {
        let mut records = scan(["../../corpus/text/appendix.txt"]).run().unwrap();
        let first = records.next().unwrap();
        assert_eq!(first.url(), "ftp://info.cern.ch/pub/www/doc;type=d");
        let finished = records.finish().unwrap();
        assert_eq!(finished.summary.files, 1);
        assert!(finished.summary.records > 1 && finished.events.is_empty());
    }

    #[test]
    fn filters_choose_files_and_messages() {
        let files = |scan: Scan| {
            let finished = scan.run().unwrap().finish().unwrap();
            finished.summary.files_read
        };
        assert_eq!(
            files(scan(["../../corpus/text"]).include("appendix.txt")),
            1
        );
        let others = scan(["../../corpus/text"]).include("*.txt");
        assert_eq!(
            files(others.exclude("appendix.txt")) + 1,
            files(scan(["../../corpus/text"]).include("*.txt"))
        );
        let dated = |scan: Scan| {
            let finished = scan.run().unwrap().finish().unwrap();
            finished.summary.messages_scanned
        };
        assert!(
            dated(scan(["../../corpus/mail"])) > dated(scan(["../../corpus/mail"]).since(i64::MAX))
        );
        let refused = scan(["../../corpus/text"]).include("[").run().unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn a_missing_path_is_an_event() {
        let finished = scan(["../../corpus/none"])
            .threads(1)
            .run()
            .unwrap()
            .finish()
            .unwrap();
        assert_eq!((finished.events.len(), finished.more_events), (1, 0));
    }

    #[test]
    fn events_beyond_the_limit_are_counted() {
        let missing = (0..SCANNED_EVENTS + 2).map(|number| format!("../../corpus/none/{number}"));
        let finished = scan(missing).threads(1).run().unwrap().finish().unwrap();
        assert_eq!(
            (finished.events.len(), finished.more_events),
            (SCANNED_EVENTS, 2)
        );
        assert!(finished.events[1].source.path.ends_with("corpus/none/1"));
    }
}
