//! Extraction from texts and messages in memory.

use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::{panic, thread};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use urlspool_mail::split::Message;
use urlspool_record::extract::{self, ExtractedUrl, Finding, Unique};
use urlspool_record::record::{FieldId, LineFormat, MessageTail, Record, RecordWriter};
use urlspool_text::origin::Source;
use urlspool_text::repair::Repair;

use crate::dictionaries::DictMaker;
use crate::options::{Keywords, Request};
use crate::running_scan::{SIGNAL_INTERVAL, lock};

/// Prepared options, for many texts and messages.
#[pyclass(frozen, module = "urlspool._urlspool")]
pub(crate) struct Extractor {
    inner: Arc<extract::Extractor>,
    format: LineFormat,
    fields: Option<Vec<FieldId>>,
    /// Unused caches for the records of one message, at most one pair for each thread. They are
    /// worth more than a message.
    makers: Mutex<Vec<(RecordWriter, DictMaker)>>,
}

#[pymethods]
impl Extractor {
    #[new]
    fn new(options: Keywords) -> PyResult<Extractor> {
        let request = Request::of(&options)?;
        if request.options.config.extract.unique != Unique::None {
            let message = "unique is an option of scan and scan_stream";
            return Err(PyValueError::new_err(message));
        }
        Ok(Extractor {
            inner: Arc::new(request.extractor()),
            format: request.format(),
            fields: request.fields,
            makers: Mutex::default(),
        })
    }

    /// Returns the URLs of a text, with offsets in code points.
    fn urls_of_str<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyList>> {
        let mut points = CodePoints::of(text);
        let found = self.urls(py, text.as_bytes())?;
        let list = PyList::empty(py);
        for (number, url) in found.into_iter().enumerate() {
            check_signals(py, number)?;
            let range = url.range();
            list.append(url_dict(
                py,
                &url,
                points.before(range.start),
                points.before(range.end),
            )?)?;
        }
        Ok(list)
    }

    /// Returns the URLs of a text, with offsets in bytes.
    fn urls_of_bytes<'py>(&self, py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyList>> {
        let found = self.urls(py, text)?;
        let list = PyList::empty(py);
        for (number, url) in found.into_iter().enumerate() {
            check_signals(py, number)?;
            let range = url.range();
            list.append(url_dict(py, &url, range.start, range.end)?)?;
        }
        Ok(list)
    }

    /// Returns the explanation of an input, as JSON.
    fn explain(&self, py: Python<'_>, input: &[u8]) -> PyResult<String> {
        if input.len() < LONG_BYTES {
            return Ok(py.detach(|| self.inner.explain(input).to_json()));
        }
        let (extractor, input) = (Arc::clone(&self.inner), input.to_vec());
        interruptible(py, move || extractor.explain(&input).to_json())
    }

    /// Returns the records of a message.
    fn extract<'py>(
        &self,
        py: Python<'py>,
        message: &[u8],
        path: PathBuf,
    ) -> PyResult<Bound<'py, PyList>> {
        let kept = lock(&self.makers).pop();
        let (mut writer, mut maker) = match kept {
            Some(maker) => maker,
            None => (
                RecordWriter::new(&self.format),
                DictMaker::new(py, self.fields.as_deref())?,
            ),
        };
        let records = if message.len() < LONG_BYTES {
            py.detach(|| records(&self.inner, message, path, &mut writer))
        } else {
            let (extractor, message) = (Arc::clone(&self.inner), message.to_vec());
            let mut writer = RecordWriter::new(&self.format);
            interruptible(py, move || records(&extractor, &message, path, &mut writer))?
        };
        let dicts = maker.dicts(py, &records);
        lock(&self.makers).push((writer, maker));
        dicts
    }
}

impl Extractor {
    /// Finds the URLs of a text, on another thread if the text is long.
    fn urls(&self, py: Python<'_>, text: &[u8]) -> PyResult<Vec<ExtractedUrl>> {
        if text.len() < LONG_BYTES {
            return Ok(py.detach(|| self.inner.urls(&Message::text(text))));
        }
        let (extractor, text) = (Arc::clone(&self.inner), text.to_vec());
        interruptible(py, move || extractor.urls(&Message::text(&text)))
    }
}

/// Returns the records of a message.
fn records(
    extractor: &extract::Extractor,
    message: &[u8],
    path: PathBuf,
    writer: &mut RecordWriter,
) -> Vec<Record> {
    let mut records = Vec::new();
    let source = Source::at(path);
    writer.begin(MessageTail::Complete);
    let message = Message::parse(message);
    extractor.extract(&message, &source, &mut |finding| {
        if let Finding::Url(record) | Finding::Unwrapped(record) = finding {
            records.push(writer.record(record));
        }
    });
    records
}

/// Minimum length of texts that are read on a separate thread while the caller's thread checks for
/// signals. Shorter ones take a tenth of a second at most.
const LONG_BYTES: usize = 4 << 20;

/// Number of objects created between two checks for signals.
const SIGNAL_OBJECTS: usize = 10_000;

/// Checks for signals before some of the objects of a list are created.
///
/// # Errors
///
/// The exception of the signal's handler.
fn check_signals(py: Python<'_>, number: usize) -> PyResult<()> {
    if number % SIGNAL_OBJECTS == SIGNAL_OBJECTS - 1 {
        py.check_signals()?;
    }
    Ok(())
}

/// Runs `work` on a thread, and returns its result.
///
/// # Errors
///
/// The exception of a signal's handler. The thread then ends after finishing the text, and its
/// result is dropped.
fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let receiver = Mutex::new(receiver);
    let worker = thread::spawn(move || drop(sender.send(work())));
    loop {
        match py.detach(|| lock(&receiver).recv_timeout(SIGNAL_INTERVAL)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                let panicked = worker.join().err().unwrap_or_else(|| Box::new("no result"));
                panic::resume_unwind(panicked)
            }
        }
    }
}

fn url_dict<'py>(
    py: Python<'py>,
    url: &ExtractedUrl,
    start: usize,
    end: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("url", url.as_str())?;
    dict.set_item("fragment", url.fragment())?;
    dict.set_item("start", start)?;
    dict.set_item("end", end)?;
    dict.set_item("wrapper", url.wrapper.name())?;
    let repairs: Vec<_> = url.repairs.iter().map(Repair::name).collect();
    dict.set_item("repairs", repairs)?;
    dict.set_item("confidence", round(url.confidence))?;
    Ok(dict)
}

/// Rounds a confidence to three digits, as in records.
fn round(confidence: f32) -> f64 {
    (f64::from(confidence) * 1000.0).round() / 1000.0
}

/// Counter of code points for offsets in roughly ascending order.
struct CodePoints<'t> {
    text: &'t str,
    offset: usize,
    points: usize,
}

impl<'t> CodePoints<'t> {
    fn of(text: &'t str) -> CodePoints<'t> {
        CodePoints {
            text,
            offset: 0,
            points: 0,
        }
    }

    /// Returns the number of code points before a byte offset.
    fn before(&mut self, offset: usize) -> usize {
        if offset < self.offset {
            (self.offset, self.points) = (0, 0);
        }
        let bytes = &self.text.as_bytes()[self.offset..offset];
        // Every UTF-8 byte except continuation bytes starts a code point.
        self.points += bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        self.offset = offset;
        self.points
    }
}
