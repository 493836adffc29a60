//! The records of a scan, as an iterator of dictionaries or as an Arrow stream: record batches that
//! other libraries accept through the `PyCapsule` interface without copying.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyDict, PyIterator, PyList};

use urlspool_record::record::{self, Columns, FieldId, Record, arrow_schema};
use urlspool_text::origin::{FileRange, Source};

use crate::dictionaries::DictMaker;
use crate::options::Request;
use crate::running_scan::{FileObject, RaisedException, RunningScan, SharedOutcome, lock};

/// The records of a scan, which can be taken once.
#[pyclass(frozen, module = "urlspool")]
pub(crate) struct Records {
    scan: Mutex<Option<RunningScan>>,
    /// The rest of the batch received last.
    current: Mutex<Option<Py<PyIterator>>>,
    dicts: Mutex<DictMaker>,
    fields: Option<Vec<FieldId>>,
    outcome: SharedOutcome,
}

impl Records {
    /// Starts a scan of files and folders.
    pub(crate) fn of_paths(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        request: &Request,
    ) -> PyResult<Records> {
        Records::start(py, request, paths, None, RaisedException::default())
    }

    /// Starts a scan of the messages that start in a range of a file object.
    pub(crate) fn of_file(
        py: Python<'_>,
        file: Py<PyAny>,
        path: PathBuf,
        range: Range<u64>,
        request: &Request,
    ) -> PyResult<Records> {
        let raised = RaisedException::default();
        let object = FileObject::new(py, file, Arc::clone(&raised))?;
        let part = FileRange {
            source: Source::at(path),
            start: range.start,
            end: range.end,
            kind: None,
            nuls: 0,
        };
        Records::start(py, request, Vec::new(), Some((object, part)), raised)
    }

    fn start(
        py: Python<'_>,
        request: &Request,
        paths: Vec<PathBuf>,
        file: Option<(FileObject, FileRange)>,
        raised: RaisedException,
    ) -> PyResult<Records> {
        let fields = request.fields.clone();
        let scan = RunningScan::start(request, request.job(paths)?, file, raised)?;
        Ok(Records {
            outcome: scan.outcome(),
            scan: Mutex::new(Some(scan)),
            current: Mutex::new(None),
            dicts: Mutex::new(DictMaker::new(py, fields.as_deref())?),
            fields,
        })
    }

    /// Returns the scan, unless another thread is waiting for its records: waiting for that thread
    /// with the interpreter lock held would block both.
    fn scan(&self) -> PyResult<MutexGuard<'_, Option<RunningScan>>> {
        match self.scan.try_lock() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::Poisoned(guard)) => Ok(guard.into_inner()),
            Err(TryLockError::WouldBlock) => {
                let message = "another thread is taking the records of this scan";
                Err(PyRuntimeError::new_err(message))
            }
        }
    }

    /// Returns the records of the next batch; `None` at the end.
    fn next_dicts<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyIterator>>> {
        let mut guard = self.scan()?;
        let Some(scan) = guard.as_mut() else {
            return Ok(None);
        };
        let received = scan.next_batch(py);
        if !matches!(received, Ok(Some(_))) {
            *guard = None;
        }
        let Some(records) = received? else {
            return Ok(None);
        };
        let dicts = lock(&self.dicts).dicts(py, &records)?;
        Ok(Some(dicts.try_iter()?))
    }
}

#[pymethods]
impl Records {
    fn __iter__(records: PyRef<'_, Self>) -> PyRef<'_, Self> {
        records
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        loop {
            let current = lock(&self.current)
                .as_ref()
                .map(|batch| batch.clone_ref(py));
            if let Some(batch) = current
                && let Some(record) = batch.into_bound(py).next()
            {
                return record.map(Some);
            }
            match self.next_dicts(py)? {
                Some(batch) => *lock(&self.current) = Some(batch.unbind()),
                None => return Ok(None),
            }
        }
    }

    /// Returns the rest of the records as an Arrow stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface permits a producer with one schema to ignore a request for another.
        drop(requested_schema);
        if lock(&self.current).is_some() {
            let message = "records were taken as dictionaries before; start another scan for Arrow";
            return Err(PyRuntimeError::new_err(message));
        }
        let scan = self.scan()?.take();
        match scan {
            Some(scan) => stream_capsule(py, scan, Columns::new(self.fields.as_deref())),
            None => Err(PyRuntimeError::new_err(
                "the records of this scan were taken; start another scan",
            )),
        }
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &arrow_schema(self.fields.as_deref()))
    }

    fn __enter__(records: PyRef<'_, Self>) -> PyRef<'_, Self> {
        records
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, pyo3::types::PyTuple>) -> PyResult<()> {
        self.close()
    }

    /// Ends the scan.
    fn close(&self) -> PyResult<()> {
        let ended = self.scan()?.take();
        drop(ended);
        drop(lock(&self.current).take());
        Ok(())
    }

    /// The events so far.
    #[getter]
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut lines = Vec::new();
        for event in &lock(&self.outcome).events {
            record::write_event(event, &mut lines);
        }
        json_list(py, &lines)
    }

    /// The number of events beyond the limit of `events`.
    #[getter]
    fn more_events(&self) -> u64 {
        lock(&self.outcome).more_events
    }

    /// The counts of the whole scan, once it has ended.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let mut line = Vec::new();
        match &lock(&self.outcome).summary {
            Some(summary) => summary.write(&mut line),
            None => return Ok(None),
        }
        let list = json_list(py, &line)?;
        Ok(Some(list.get_item(0)?.cast_into()?))
    }
}

/// Parses lines of JSON as one list.
fn json_list<'py>(py: Python<'py>, lines: &[u8]) -> PyResult<Bound<'py, PyList>> {
    static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let loads = LOADS.get_or_try_init(py, || {
        let json = py.import(intern!(py, "json"))?;
        json.getattr(intern!(py, "loads")).map(Bound::unbind)
    })?;
    // A line contains no line feed except at the end.
    let mut text = Vec::with_capacity(lines.len() + 2);
    text.push(b'[');
    let items = lines.strip_suffix(b"\n").unwrap_or(lines);
    text.extend(
        items
            .iter()
            .map(|byte| if *byte == b'\n' { b',' } else { *byte }),
    );
    text.push(b']');
    let text = String::from_utf8_lossy(&text);
    Ok(loads.bind(py).call1((text,))?.cast_into()?)
}

/// The Arrow schema of records.
#[pyclass(frozen, module = "urlspool")]
pub(crate) struct ArrowSchema(SchemaRef);

#[pymethods]
impl ArrowSchema {
    #[new]
    fn new(fields: Option<Vec<String>>) -> PyResult<ArrowSchema> {
        let Some(names) = fields else {
            return Ok(ArrowSchema(arrow_schema(None)));
        };
        let mut chosen = Vec::new();
        for name in names {
            let before = chosen.len();
            chosen.extend(FieldId::named(&name));
            if chosen.len() == before {
                return Err(PyValueError::new_err(format!("unknown field: {name}")));
            }
        }
        Ok(ArrowSchema(arrow_schema(Some(&chosen))))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.0)
    }
}

fn schema_capsule<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyCapsule>> {
    let exported = FFI_ArrowSchema::try_from(&**schema);
    let exported = exported.map_err(|error| PyValueError::new_err(error.to_string()))?;
    PyCapsule::new_with_value(py, exported, c"arrow_schema")
}

/// Creates the capsule of a stream of a scan's records.
fn stream_capsule(
    py: Python<'_>,
    scan: RunningScan,
    columns: Columns,
) -> PyResult<Bound<'_, PyCapsule>> {
    let reader = BatchReader {
        scan,
        columns,
        records: Vec::new(),
        read: 0,
        has_ended: false,
    };
    let stream = FFI_ArrowArrayStream::new(Box::new(reader));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

/// Record batches of a scan.
struct BatchReader {
    scan: RunningScan,
    columns: Columns,
    /// The records received last. Those before `read` are in the columns.
    records: Vec<Record>,
    read: usize,
    has_ended: bool,
}

impl BatchReader {
    /// Fills the columns, and returns the next batch; `None` at the end.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        while !self.columns.is_full() {
            if self.read == self.records.len() && !self.receive()? {
                break;
            }
            let rest = self.columns.append(&self.records[self.read..]);
            self.read = self.records.len() - rest.len();
        }
        self.columns.take_batch()
    }

    /// Waits for more records. Returns `false` if there are none.
    fn receive(&mut self) -> Result<bool, ArrowError> {
        if self.has_ended {
            return Ok(false);
        }
        // The caller may or may not hold the interpreter lock.
        let received = Python::attach(|py| {
            self.scan.next_batch(py).map_err(|error| {
                // Must come first: the interpreter raises a pending interrupt when it creates
                // texts.
                let text = error.to_string();
                if error.is_instance_of::<PyKeyboardInterrupt>(py) {
                    interrupt_again(py);
                }
                ArrowError::ExternalError(text.into())
            })
        });
        let records = received.inspect_err(|_| self.has_ended = true)?;
        self.has_ended = records.is_none();
        self.records = records.unwrap_or_default();
        self.read = 0;
        Ok(!self.has_ended)
    }
}

/// Raises the interrupt again once the consumer of the stream returns to the interpreter, since the
/// consumer replaces the error by its own. A signal would be raised too early, while that error is
/// printed, and would disturb the output.
fn interrupt_again(py: Python<'_>) {
    let raised = py.import("ctypes").and_then(|ctypes| {
        let thread = py.import("_thread")?.call_method0("get_ident")?;
        let thread = ctypes.call_method1("c_ulong", (thread,))?;
        let interrupt = py.get_type::<PyKeyboardInterrupt>();
        let interrupt = ctypes.call_method1("py_object", (interrupt,))?;
        let functions = ctypes.getattr("pythonapi")?;
        functions.call_method1("PyThreadState_SetAsyncExc", (thread, interrupt))
    });
    // Without it, the consumer's own error ends the program.
    drop(raised);
}

impl Iterator for BatchReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}

impl RecordBatchReader for BatchReader {
    fn schema(&self) -> SchemaRef {
        self.columns.schema()
    }
}
