//! Paths of files in JSON: text, and base64 beside it if the path is not UTF-8.

use std::path::PathBuf;

use data_encoding::BASE64;
use serde_json::Value;

use super::read_error::RecordReadError;

/// Names of the two fields of a path, for errors.
pub(super) struct PathFields {
    pub(super) path: &'static str,
    pub(super) path_b64: &'static str,
}

/// Reads the path that `object` has in `path` or, if it is not UTF-8, in `path_b64`.
///
/// # Errors
///
/// Neither field is there, or one has another form.
pub(super) fn read_path(object: &Value, fields: &PathFields) -> Result<PathBuf, RecordReadError> {
    if let Some(encoded) = object["path_b64"].as_str() {
        let bytes = BASE64
            .decode(encoded.as_bytes())
            .map_err(|_| RecordReadError::Invalid {
                field: fields.path_b64,
                expected: "base64",
            })?;
        return path_of_bytes(bytes).ok_or(RecordReadError::Invalid {
            field: fields.path_b64,
            expected: "a path of this system",
        });
    }
    object["path"]
        .as_str()
        .map(PathBuf::from)
        .ok_or(RecordReadError::Missing { field: fields.path })
}

/// Returns the path that consists of `bytes`.
#[cfg(unix)]
#[expect(
    clippy::unnecessary_wraps,
    reason = "the twin for other systems can fail"
)]
fn path_of_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    Some(PathBuf::from(OsString::from_vec(bytes)))
}

/// Returns the path that consists of `bytes`; `None` if they are not UTF-8.
#[cfg(not(unix))]
fn path_of_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    String::from_utf8(bytes).ok().map(PathBuf::from)
}
