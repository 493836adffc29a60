//! The scan of files and folders as an iterator: the library's interface for programs that process
//! archives.

use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};
use std::{io, vec};

use crate::evidence::add_evidence;
pub use crate::options::{DatePeriod, ScanOptions};
pub use crate::pipeline::{NamedCounts, SchemeCounts, Summary};
use crate::pipeline::{Report, run};
use urlspool_record::extract::Extractor;
use urlspool_record::record::{Demand, FieldId, LineFormat, Record};
use urlspool_text::diagnostic::Event;
use urlspool_text::limits::{SCANNED_BATCHES, SCANNED_EVENTS};

/// Prepares a scan of files and folders with the default options. No file is opened before
/// [`Scan::run`].
///
/// # Examples
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// # std::env::set_current_dir("../..")?;
/// for record in urlspool_files::scan::scan(["corpus/text/appendix.txt"]).run()? {
///     println!("{} at byte {} of {}", record.url(), record.range().start, record.path());
/// }
/// # Ok(())
/// # }
/// ```
pub fn scan<P: Into<PathBuf>>(paths: impl IntoIterator<Item = P>) -> Scan {
    Scan {
        roots: paths.into_iter().map(Into::into).collect(),
        options: ScanOptions::default(),
    }
}

/// A scan that has not been started.
#[derive(Debug)]
#[must_use = "a scan does nothing before `run`"]
pub struct Scan {
    roots: Vec<PathBuf>,
    options: ScanOptions,
}

impl Scan {
    /// Sets the options: the messages to read, and the URLs to find.
    pub fn options(self, options: ScanOptions) -> Scan {
        Scan { options, ..self }
    }

    /// Starts the scan on its own threads.
    ///
    /// Unreadable input is not an error: it is counted in the summary of [`Records::finish`], and
    /// listed in its events.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for an invalid glob, and for evidence from an input that can be read only
    /// once; the system's error if no thread can be started.
    pub fn run(self) -> io::Result<Records> {
        let (sender, batches) = mpsc::sync_channel(SCANNED_BATCHES);
        let options = self.options;
        let job = options.job(self.roots, None, LineFormat::Values(FieldId::ALL.to_vec()));
        let job = job.map_err(|message| io::Error::new(io::ErrorKind::InvalidInput, message))?;
        let worker = thread::Builder::new()
            .name("urlspool-scan".to_owned())
            .spawn(move || {
                let finished = Finished::default();
                let mut report = BatchSender { sender, finished };
                let extraction = options.extraction(&job.line_format, Demand::Unneeded);
                let (source, extractor) = (options.evidence.as_ref(), Extractor::new(extraction));
                let extractor = add_evidence(source, &job, extractor, &mut report)?;
                report.finished.summary = run(&job, &extractor, &mut report)?;
                Ok(report.finished)
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
#[derive(Clone, Debug, Default)]
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
    finished: Finished,
}

impl Report for BatchSender {
    fn records(&mut self, records: Vec<Record>) -> io::Result<bool> {
        Ok(self.sender.send(records).is_ok())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        if self.finished.events.len() < SCANNED_EVENTS {
            self.finished.events.push(event.clone());
        } else {
            self.finished.more_events += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::date_period;

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
    fn options_choose_files_and_messages() {
        let counts = |folder: &str, options: ScanOptions| {
            let finished = scan([folder]).options(options).run().unwrap().finish();
            finished.unwrap().summary
        };
        let filtered = |include: &str, exclude: &[&str]| {
            let options = ScanOptions {
                include: vec![include.to_owned()],
                exclude: exclude.iter().map(|&glob| glob.to_owned()).collect(),
                ..ScanOptions::default()
            };
            counts("../../corpus/text", options).files_read
        };
        assert_eq!(filtered("appendix.txt", &[]), 1);
        let others = filtered("*.txt", &["appendix.txt"]);
        assert_eq!(others + 1, filtered("*.txt", &[]));
        let since = ScanOptions {
            since: Some(date_period("2038").unwrap()),
            ..ScanOptions::default()
        };
        let [all, since] = [ScanOptions::default(), since]
            .map(|options| counts("../../corpus/mail", options).messages_scanned);
        assert!(since < all);
        let broken = ScanOptions {
            include: vec!["[".to_owned()],
            ..ScanOptions::default()
        };
        let refused = scan(["../../corpus/text"]).options(broken).run();
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    fn on_one_thread() -> ScanOptions {
        ScanOptions {
            threads: Some(1),
            ..ScanOptions::default()
        }
    }

    #[test]
    fn a_missing_path_is_an_event() {
        let finished = scan(["../../corpus/none"])
            .options(on_one_thread())
            .run()
            .unwrap()
            .finish()
            .unwrap();
        assert_eq!((finished.events.len(), finished.more_events), (1, 0));
    }

    #[test]
    fn events_beyond_the_limit_are_counted() {
        let missing = (0..SCANNED_EVENTS + 2).map(|number| format!("../../corpus/none/{number}"));
        let finished = scan(missing)
            .options(on_one_thread())
            .run()
            .unwrap()
            .finish()
            .unwrap();
        assert_eq!(
            (finished.events.len(), finished.more_events),
            (SCANNED_EVENTS, 2)
        );
        assert!(finished.events[1].source.path.ends_with("corpus/none/1"));
    }
}
