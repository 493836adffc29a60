//! Exceptions and warnings.

use pyo3::exceptions::{PyException, PyUserWarning};
use pyo3::prelude::*;
use pyo3::{create_exception, intern};

use urlspool_text::diagnostic::Event;

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
pub(crate) fn of_event(py: Python<'_>, event: &Event) -> PyErr {
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
pub(crate) fn text_of(event: &Event) -> String {
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
