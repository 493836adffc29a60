//! A Python file object as an input with random access.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::intern;
use pyo3::prelude::*;

use urlspool_sources::read::ReadAt;

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
