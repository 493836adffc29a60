//! The native module of the Python package `urlspool`. The package's own files name and document what users call; this module
//! takes options as the command line has them.

mod arrow_stream;
mod dictionaries;
mod errors;
mod extractor;
mod file_object;
mod records;
mod running_scan;

use std::ffi::OsString;

use pyo3::prelude::*;

use urlspool::internals::origin::FormatHint;
use urlspool::internals::split::{Format, SourceStart};
use urlspool::internals::{cli, record};

use crate::arrow_stream::ArrowSchema;
use crate::extractor::Extractor;
use crate::records::Records;

/// Reads a URL by RFC 1738. Returns one line of JSON.
#[pyfunction]
fn parse(url: &str, fragment: bool) -> String {
    let hash = fragment.then(|| url.find('#')).flatten();
    let mut line = Vec::new();
    record::write_parsed(url.as_bytes(), hash.unwrap_or(url.len()), &mut line);
    String::from_utf8_lossy(&line).into_owned()
}

/// Starts a scan of files and folders.
#[pyfunction]
fn scan(py: Python<'_>, paths: Vec<OsString>, options: Vec<OsString>) -> PyResult<Records> {
    let request = cli::scan_request(options, paths).map_err(errors::of_option)?;
    Records::of_paths(py, request)
}

/// Starts a scan of the messages that begin between two offsets of a file object.
#[pyfunction]
fn scan_stream(
    py: Python<'_>,
    file: Py<PyAny>,
    path: OsString,
    start: u64,
    end: Option<u64>,
    options: Vec<OsString>,
) -> PyResult<Records> {
    let request = cli::scan_request(options, ["-".into()]).map_err(errors::of_option)?;
    Records::of_file(py, file, path, start..end.unwrap_or(u64::MAX), request)
}

/// Returns `True` if a file that begins with `start` can be read in ranges at no cost. A range of an mbox with Content-Length
/// fields can be read too, but only by reading everything before it.
#[pyfunction]
fn is_splittable(start: &[u8]) -> bool {
    let start = SourceStart::of_bytes(start.to_vec());
    start.splittable_format(None, FormatHint::None) == Some(Format::Mbox)
}

/// Runs the command line, and returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| cli::run_with(&arguments))
}

#[pymodule]
fn _urlspool(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("ScanError", module.py().get_type::<errors::ScanError>())?;
    module.add("ScanWarning", module.py().get_type::<errors::ScanWarning>())?;
    module.add_class::<ArrowSchema>()?;
    module.add_class::<Extractor>()?;
    module.add_class::<Records>()?;
    module.add_function(wrap_pyfunction!(parse, module)?)?;
    module.add_function(wrap_pyfunction!(scan, module)?)?;
    module.add_function(wrap_pyfunction!(scan_stream, module)?)?;
    module.add_function(wrap_pyfunction!(is_splittable, module)?)?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    Ok(())
}
