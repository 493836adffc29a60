//! Errors as the body of an answer states them.

use serde::Deserialize;

use crate::load::error::ServerError;

/// An error as the body of an answer states it.
#[derive(Debug, Deserialize)]
pub(super) struct StatedError {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    reason: String,
}

impl From<StatedError> for ServerError {
    fn from(StatedError { kind, reason }: StatedError) -> ServerError {
        ServerError::Stated { kind, reason }
    }
}
