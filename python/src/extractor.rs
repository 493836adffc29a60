//! Extraction from texts and messages in memory.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use urlspool::internals::cli;
use urlspool::internals::extract::Unique;
use urlspool::internals::record::{FieldId, LineFormat, MessageTail, RecordWriter};
use urlspool::{ExtractedUrl, Finding, Message, Record, Source};

use crate::dictionaries::DictMaker;
use crate::errors;
use crate::running_scan::lock;

/// Prepared options, for many texts and messages.
#[pyclass(frozen, module = "urlspool._urlspool")]
pub(crate) struct Extractor {
    extractor: urlspool::Extractor,
    format: LineFormat,
    fields: Option<Vec<FieldId>>,
    /// Makers that are not in use: at most one for each thread. What they cached is worth more than a message.
    makers: Mutex<Vec<RecordMaker>>,
}

/// Caches for the records of one message.
struct RecordMaker {
    writer: RecordWriter,
    dicts: DictMaker,
}

#[pymethods]
impl Extractor {
    #[new]
    fn new(options: Vec<OsString>) -> PyResult<Extractor> {
        let request = cli::scan_request(options, ["-".into()]).map_err(errors::of_option)?;
        if request.options.unique != Unique::None {
            let message = "unique is an option of scan and scan_stream";
            return Err(PyValueError::new_err(message));
        }
        Ok(Extractor {
            extractor: urlspool::Extractor::new(request.options),
            format: request.job.line_format,
            fields: request.fields,
            makers: Mutex::default(),
        })
    }

    /// The URLs of a text, with offsets in code points.
    fn urls_of_str<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyList>> {
        let mut points = CodePoints::of(text);
        let found = py.detach(|| self.extractor.urls(&Message::text(text.as_bytes())));
        let list = PyList::empty(py);
        for url in found {
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

    /// The URLs of a text, with offsets in bytes.
    fn urls_of_bytes<'py>(&self, py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyList>> {
        let found = py.detach(|| self.extractor.urls(&Message::text(text)));
        let list = PyList::empty(py);
        for url in found {
            let range = url.range();
            list.append(url_dict(py, &url, range.start, range.end)?)?;
        }
        Ok(list)
    }

    /// The records of a message.
    fn extract<'py>(
        &self,
        py: Python<'py>,
        message: &[u8],
        path: OsString,
    ) -> PyResult<Bound<'py, PyList>> {
        let kept = lock(&self.makers).pop();
        let mut maker = match kept {
            Some(maker) => maker,
            None => RecordMaker {
                writer: RecordWriter::new(&self.format),
                dicts: DictMaker::new(py, self.fields.as_deref())?,
            },
        };
        let records = py.detach(|| self.records(message, path, &mut maker.writer));
        let dicts = maker.dicts.dicts(py, &records);
        lock(&self.makers).push(maker);
        dicts
    }
}

impl Extractor {
    /// Returns the records of a message.
    fn records(&self, message: &[u8], path: OsString, writer: &mut RecordWriter) -> Vec<Record> {
        let mut records = Vec::new();
        let source = Source::at(PathBuf::from(path));
        writer.begin(MessageTail::Complete);
        let message = Message::parse(message);
        self.extractor.extract(&message, &source, &mut |finding| {
            if let Finding::Url(record) | Finding::Unwrapped(record) = finding {
                records.push(writer.record(record));
            }
        });
        records
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
    dict.set_item("wrapper", url.wrapper().name())?;
    let repairs: Vec<_> = url.repairs().iter().map(urlspool::Repair::name).collect();
    dict.set_item("repairs", repairs)?;
    dict.set_item("confidence", round(url.confidence()))?;
    Ok(dict)
}

/// The confidence with three digits, as records have it.
fn round(confidence: f32) -> f64 {
    (f64::from(confidence) * 1000.0).round() / 1000.0
}

/// Counter of code points, for offsets in about ascending order.
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

    /// The number of code points before a byte offset.
    fn before(&mut self, offset: usize) -> usize {
        if offset < self.offset {
            (self.offset, self.points) = (0, 0);
        }
        let bytes = &self.text.as_bytes()[self.offset..offset];
        // Every byte of UTF-8 but a continuation begins a code point.
        self.points += bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        self.offset = offset;
        self.points
    }
}
