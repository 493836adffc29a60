//! The native module of the Python package `urlspool`. The package's own files name and document
//! the public interface.

mod dictionaries;
mod extractor;
mod options;
mod records;
mod running_scan;

use std::path::PathBuf;

use pyo3::prelude::*;

use urlspool_mail::split::{Format, SourceStart};
use urlspool_record::record;
use urlspool_text::origin::FormatHint;

use crate::extractor::Extractor;
use crate::options::{Evidence, Keywords, Request};
use crate::records::{ArrowSchema, Records};
use crate::running_scan::{ScanError, ScanWarning};

/// Parses a URL by RFC 1738. Returns one line of JSON.
#[pyfunction]
fn parse(url: &str, fragment: bool) -> String {
    let hash = fragment.then(|| url.find('#')).flatten();
    let mut line = Vec::new();
    record::write_parsed(url.as_bytes(), hash.unwrap_or(url.len()), &mut line);
    String::from_utf8_lossy(&line).into_owned()
}

/// Starts a scan of files and folders.
#[pyfunction]
fn scan(py: Python<'_>, paths: Vec<PathBuf>, options: Keywords) -> PyResult<Records> {
    Records::of_paths(py, paths, &Request::of(&options)?)
}

/// Starts a scan of the messages that start between two offsets of a file object.
#[pyfunction]
#[pyo3(signature = (file, path, start, end, options, evidence=None))]
fn scan_stream(
    py: Python<'_>,
    file: Py<PyAny>,
    path: PathBuf,
    start: u64,
    end: Option<u64>,
    options: Keywords,
    evidence: Option<&Bound<'_, Evidence>>,
) -> PyResult<Records> {
    let range = start..end.unwrap_or(u64::MAX);
    let mut request = Request::of(&options)?;
    if let Some(evidence) = evidence {
        request.options.evidence = Some(evidence.get().0.clone());
    }
    Records::of_file(py, file, path, range, &request)
}

/// Returns `True` if a file that starts with `start` can be read in ranges without extra cost. A
/// range of an mbox with Content-Length fields can be read too, but only after reading everything
/// before it.
#[pyfunction]
fn is_splittable(start: &[u8]) -> bool {
    let start = SourceStart::of_bytes(start.to_vec());
    start.splittable_format(None, FormatHint::None) == Some(Format::Mbox)
}

#[pymodule]
fn _urlspool(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("ScanError", module.py().get_type::<ScanError>())?;
    module.add("ScanWarning", module.py().get_type::<ScanWarning>())?;
    module.add_class::<ArrowSchema>()?;
    module.add_class::<Evidence>()?;
    module.add_class::<Extractor>()?;
    module.add_class::<Records>()?;
    module.add_function(wrap_pyfunction!(parse, module)?)?;
    module.add_function(wrap_pyfunction!(scan, module)?)?;
    module.add_function(wrap_pyfunction!(scan_stream, module)?)?;
    module.add_function(wrap_pyfunction!(is_splittable, module)?)?;
    Ok(())
}
