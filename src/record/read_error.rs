//! Errors of reading lines of JSON.

use std::error::Error;
use std::fmt;

/// Reason why a line of JSON cannot be read as a record or a work item.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordReadError {
    /// The line is not JSON.
    Json(serde_json::Error),
    /// A field is missing.
    Missing {
        /// The field, as `source.path`.
        field: &'static str,
    },
    /// A field has a value of the wrong form.
    Invalid {
        /// The field, as `source.path`.
        field: &'static str,
        /// The required form, as a noun phrase.
        expected: &'static str,
    },
    /// A field has a name that is not known.
    Unknown {
        /// The field, as `kind`.
        field: &'static str,
        /// The name.
        name: String,
    },
}

impl fmt::Display for RecordReadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordReadError::Json(error) if error.is_data() => {
                write!(out, "not as expected: {error}")
            }
            RecordReadError::Json(error) => {
                write!(out, "not JSON at character {}", error.column())
            }
            RecordReadError::Missing { field } => write!(out, "{field} is missing"),
            RecordReadError::Invalid { field, expected } => {
                write!(out, "{field} is not {expected}")
            }
            RecordReadError::Unknown { field, name } => {
                write!(out, "{field} {name:?} is not known")
            }
        }
    }
}

impl Error for RecordReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            RecordReadError::Json(error) => Some(error),
            _ => None,
        }
    }
}

impl From<serde_json::Error> for RecordReadError {
    fn from(error: serde_json::Error) -> RecordReadError {
        RecordReadError::Json(error)
    }
}
