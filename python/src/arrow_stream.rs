//! The Arrow `PyCapsule` interface: record batches that other libraries accept without copying.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use urlspool_record::record::{Columns, FieldId, Record, arrow_schema};

use crate::running_scan::RunningScan;

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

pub(crate) fn schema_capsule<'py>(
    py: Python<'py>,
    schema: &SchemaRef,
) -> PyResult<Bound<'py, PyCapsule>> {
    let exported = FFI_ArrowSchema::try_from(&**schema);
    let exported = exported.map_err(|error| PyValueError::new_err(error.to_string()))?;
    PyCapsule::new_with_value(py, exported, c"arrow_schema")
}

/// Creates the capsule of a stream of a scan's records.
pub(crate) fn stream_capsule(
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
