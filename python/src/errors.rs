//! Exceptions and warnings.

use pyo3::exceptions::{PyException, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::{create_exception, intern};

use urlspool::internals::cli::OptionError;
use urlspool::internals::diagnostic::Event;

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

/// The exception for options that cannot be used.
pub(crate) fn of_option(error: OptionError) -> PyErr {
    PyValueError::new_err(python_names(&error.to_string()))
}

/// Names options as Python's keywords: `no_html` for `--no-html`, also for `'--fields <LIST>'`. Commands to type, such as
/// `urlspool scan --help`, stay as they are.
fn python_names(message: &str) -> String {
    let mut named = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find("--") {
        let (before, flag) = rest.split_at(at);
        let name = &flag[2..];
        let len = name
            .find(|sign: char| !sign.is_ascii_lowercase() && sign != '-')
            .unwrap_or(name.len());
        let is_flag = name.starts_with(|sign: char| sign.is_ascii_lowercase())
            && !before.ends_with(|sign: char| sign.is_alphanumeric() || sign == '-')
            && !is_in_command(&message[..message.len() - flag.len()]);
        if !is_flag {
            named += before;
            named += &flag[..2 + len];
            rest = &name[len..];
            continue;
        }
        named += before;
        named += &name[..len].replace('-', "_");
        rest = &name[len..];
        // The name of the value, which the keyword's type says.
        if let Some(value) = rest.strip_prefix(" <")
            && let Some(end) = value.find('>')
        {
            rest = &value[end + 1..];
        }
    }
    named + rest
}

/// Returns `true` if the text after `before` is within a command in backquotes.
fn is_in_command(before: &str) -> bool {
    let last = before.rsplit('`').next().unwrap_or_default();
    before.matches('`').count() % 2 == 1 && last.starts_with("urlspool ")
}

/// The `ScanError` about an event, with the attributes `path`, `offset` and `kind`.
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

/// The event in words: `PATH!MEMBER:OFFSET: KIND: MESSAGE`.
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
