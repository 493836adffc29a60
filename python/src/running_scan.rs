//! A scan on its own thread, of paths or of a Python file object, with its exceptions and warnings.
//! The caller receives batches with the interpreter lock released.

use std::io;
use std::process;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::{PyException, PyOSError, PyRuntimeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::{create_exception, intern};

use urlspool_files::evidence::{EvidenceSource, add_evidence};
use urlspool_files::pipeline::{self, Job, Report, Summary};
use urlspool_record::record::Record;
use urlspool_sources::read::{Input, ReadAt};
use urlspool_text::diagnostic::Event;
use urlspool_text::limits::{SCANNED_BATCHES, SCANNED_EVENTS};
use urlspool_text::origin::FileRange;

use crate::options::Request;

/// A running scan.
pub(crate) struct RunningScan {
    batches: Mutex<Receiver<Result<Vec<Record>, Failure>>>,
    outcome: SharedOutcome,
    raised: RaisedException,
    /// The process that started the scan: the scan's thread does not exist in a fork.
    process: u32,
    /// `true` if any event is an error.
    strict: bool,
    /// Number of events that were examined for warnings.
    warned: usize,
}

/// The reason why a scan ends early.
pub(crate) enum Failure {
    /// An event, if any event is an error.
    Event(Event),
    /// A system error, as text.
    System(String),
}

/// The events and the counts of a scan so far.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) events: Vec<Event>,
    pub(crate) more_events: u64,
    /// The counts of the whole run, once it has ended.
    pub(crate) summary: Option<Summary>,
}

pub(crate) type SharedOutcome = Arc<Mutex<Outcome>>;

/// Time between two checks for a signal.
pub(crate) const SIGNAL_INTERVAL: Duration = Duration::from_millis(100);

impl RunningScan {
    /// Starts the job of a request, or the scan of a part of a file object if there is one.
    pub(crate) fn start(
        request: &Request,
        job: Job,
        file: Option<(FileObject, FileRange)>,
        raised: RaisedException,
    ) -> PyResult<RunningScan> {
        let (sender, batches) = mpsc::sync_channel(SCANNED_BATCHES);
        let outcome = SharedOutcome::default();
        let strict = request.strict;
        let mut report = BatchSender {
            sender,
            outcome: Arc::clone(&outcome),
            strict,
        };
        let extractor = request.extractor();
        let evidence = request.options.evidence.clone();
        if file.is_some() && evidence.as_ref().is_some_and(EvidenceSource::is_own) {
            let message = "evidence='self' reads the input twice; name a file of records or URLs";
            return Err(PyValueError::new_err(message));
        }
        let worker = move || {
            let added = add_evidence(evidence.as_ref(), &job, extractor, &mut report);
            let summary = added.and_then(|extractor| match file {
                Some((object, part)) => {
                    let input = Input::object(object);
                    pipeline::run_input(input, &part, &job, &extractor, &mut report)
                }
                None => pipeline::run(&job, &extractor, &mut report),
            });
            report.finish(summary);
        };
        thread::Builder::new()
            .name("urlspool-scan".to_owned())
            .spawn(worker)
            .map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(RunningScan {
            batches: Mutex::new(batches),
            outcome,
            raised,
            process: process::id(),
            strict,
            warned: 0,
        })
    }

    pub(crate) fn outcome(&self) -> SharedOutcome {
        Arc::clone(&self.outcome)
    }

    /// Waits for the next batch of records; `None` at the end. The interpreter lock is released
    /// during the wait, and signals are handled.
    pub(crate) fn next_batch(&mut self, py: Python<'_>) -> PyResult<Option<Vec<Record>>> {
        if process::id() != self.process {
            let message =
                "this scan was started before the process was forked; start it in the worker";
            return Err(PyRuntimeError::new_err(message));
        }
        loop {
            let batches = &self.batches;
            let received = py.detach(|| lock(batches).recv_timeout(SIGNAL_INTERVAL));
            self.warn(py)?;
            match received {
                Ok(Ok(batch)) => {
                    // A consumer that takes all batches, such as pyarrow, does not check for
                    // signals.
                    py.check_signals()?;
                    return Ok(Some(batch));
                }
                Ok(Err(failure)) => return Err(self.exception(py, failure)),
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return match lock(&self.raised).take() {
                        Some(error) => Err(error),
                        None => Ok(None),
                    };
                }
            }
        }
    }

    /// Warns of unreadable input, once per event.
    fn warn(&mut self, py: Python<'_>) -> PyResult<()> {
        let texts: Vec<String> = {
            let outcome = lock(&self.outcome);
            let new = &outcome.events[self.warned..];
            self.warned = outcome.events.len();
            let failures = new
                .iter()
                .filter(|event| event.diagnostic.kind.is_failure());
            failures.map(text_of).collect()
        };
        // An exception is raised instead.
        if self.strict || lock(&self.raised).is_some() {
            return Ok(());
        }
        let category = py.get_type::<ScanWarning>();
        for text in texts {
            let text = text.replace('\0', "\u{FFFD}");
            let text = std::ffi::CString::new(text).unwrap_or_default();
            PyErr::warn(py, &category, &text, 1)?;
        }
        Ok(())
    }

    fn exception(&self, py: Python<'_>, failure: Failure) -> PyErr {
        if let Some(error) = lock(&self.raised).take() {
            return error;
        }
        match failure {
            Failure::Event(event) => of_event(py, &event),
            Failure::System(message) => PyOSError::new_err(message),
        }
    }
}

/// A report that sends batches to the thread that takes the records.
struct BatchSender {
    sender: SyncSender<Result<Vec<Record>, Failure>>,
    outcome: SharedOutcome,
    strict: bool,
}

impl BatchSender {
    fn finish(self, summary: io::Result<Summary>) {
        match summary {
            Ok(summary) => lock(&self.outcome).summary = Some(summary),
            // Errors are irrelevant once the reader is gone.
            Err(error) => drop(self.sender.send(Err(Failure::System(error.to_string())))),
        }
    }
}

impl Report for BatchSender {
    fn records(&mut self, records: Vec<Record>) -> io::Result<bool> {
        Ok(self.sender.send(Ok(records)).is_ok())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        {
            let mut outcome = lock(&self.outcome);
            if outcome.events.len() < SCANNED_EVENTS {
                outcome.events.push(event.clone());
            } else {
                outcome.more_events += 1;
            }
        }
        if self.strict {
            let _ = self.sender.send(Err(Failure::Event(event.clone())));
            return Err(io::Error::other("an event ends the scan"));
        }
        Ok(())
    }
}

/// Locks a mutex. A panicking thread leaves its value valid.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The first exception that a file object raised, for the thread that receives the records.
pub(crate) type RaisedException = Arc<Mutex<Option<PyErr>>>;

/// A seekable file object, used by only one thread.
pub(crate) struct FileObject {
    file: Py<PyAny>,
    size: u64,
    /// The bytes that were read last.
    chunk: Mutex<Chunk>,
    raised: RaisedException,
}

#[derive(Default)]
struct Chunk {
    offset: u64,
    bytes: Vec<u8>,
}

/// Minimum size of a request in bytes. Formats are detected by small reads, and a request to an
/// object store takes long.
const CHUNK_BYTES: usize = 64 << 10;

impl FileObject {
    /// Asks the file for its size.
    pub(crate) fn new(
        py: Python<'_>,
        file: Py<PyAny>,
        raised: RaisedException,
    ) -> PyResult<FileObject> {
        const END: u8 = 2;
        let size = file.call_method1(py, intern!(py, "seek"), (0, END))?;
        // The `seek` of some file objects returns `None`.
        let size = match size.extract(py) {
            Ok(size) => size,
            Err(_) => file.call_method0(py, intern!(py, "tell"))?.extract(py)?,
        };
        Ok(FileObject {
            file,
            size,
            chunk: Mutex::default(),
            raised,
        })
    }

    /// Reads at most `max` bytes at `offset`.
    fn request(&self, max: usize, offset: u64) -> io::Result<Vec<u8>> {
        let read = Python::try_attach(|py| {
            self.file.call_method1(py, intern!(py, "seek"), (offset,))?;
            let bytes = self.file.call_method1(py, intern!(py, "read"), (max,))?;
            bytes.bind(py).extract::<Vec<u8>>()
        });
        match read {
            Some(Ok(bytes)) => Ok(bytes),
            Some(Err(error)) => {
                let message = error.to_string();
                let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
                raised.get_or_insert(error);
                Err(io::Error::other(message))
            }
            None => Err(io::Error::other("the interpreter has ended")),
        }
    }
}

impl ReadAt for FileObject {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(self.size.saturating_sub(offset)).unwrap_or(usize::MAX);
        let max = buffer.len().min(rest);
        if max == 0 {
            return Ok(0);
        }
        let mut chunk = self.chunk.lock().unwrap_or_else(PoisonError::into_inner);
        let from = offset.checked_sub(chunk.offset);
        let from = from.and_then(|from| usize::try_from(from).ok());
        let from = if let Some(from) = from.filter(|from| *from < chunk.bytes.len()) {
            from
        } else {
            let bytes = self.request(max.max(CHUNK_BYTES.min(rest)), offset)?;
            *chunk = Chunk { offset, bytes };
            0
        };
        let bytes = &chunk.bytes[from..];
        let len = bytes.len().min(max);
        buffer[..len].copy_from_slice(&bytes[..len]);
        if CHUNK_BYTES < chunk.bytes.len() && len == bytes.len() {
            *chunk = Chunk::default();
        }
        Ok(len)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.size)
    }
}

create_exception!(
    urlspool,
    ScanError,
    PyException,
    "An input could not be read as a whole."
);
create_exception!(
    urlspool,
    ScanWarning,
    PyUserWarning,
    "An input could not be read as a whole."
);

/// Creates the `ScanError` about an event, with the attributes `path`, `offset` and `kind`.
fn of_event(py: Python<'_>, event: &Event) -> PyErr {
    let error = ScanError::new_err(text_of(event));
    let value = error.value(py);
    let path = event.source.path.as_os_str();
    let set = value
        .setattr(intern!(py, "path"), path)
        .and_then(|()| value.setattr(intern!(py, "offset"), event.diagnostic.offset))
        .and_then(|()| value.setattr(intern!(py, "kind"), event.diagnostic.kind.name()));
    match set {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// Formats an event as `PATH!MEMBER:OFFSET: KIND: MESSAGE`.
fn text_of(event: &Event) -> String {
    let mut place = event.source.path.to_string_lossy().into_owned();
    for name in event.source.member() {
        place += "!";
        place += &String::from_utf8_lossy(name);
    }
    if let Some(offset) = event.diagnostic.offset {
        place += &format!(":{offset}");
    }
    let (kind, message) = (event.diagnostic.kind.name(), &event.diagnostic.message);
    format!("{place}: {kind}: {message}")
}
