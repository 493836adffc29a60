//! Byte ranges in files: of a record, read back from its JSON for `urlspool show`, and work items of
//! `urlspool splits`, written and read: `{"path","start","end","kind"}`, one per line.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::path::PathBuf;

use data_encoding::BASE64;
use serde::Serialize;
use serde_json::Value;

use super::json::append_json_line;
use super::other_lines::base64_unless_utf8;
use crate::origin::{FileRange, Source, SourceKind};

/// A range of bytes of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRange {
    /// The file.
    pub path: PathBuf,
    /// The names of the members, from the outermost archive inwards.
    pub member: Vec<Vec<u8>>,
    /// The offset of the first byte.
    pub start: u64,
    /// The offset after the last byte.
    pub end: u64,
}

const PATH: PathFields = PathFields {
    path: "source.path",
    path_b64: "source.path_b64",
};

/// Reads the range of a record's URL from its line.
///
/// # Errors
///
/// The line is not JSON, or a field of its `source` is missing or has another form.
pub fn read_source_range(line: &str) -> Result<SourceRange, RecordReadError> {
    let record: Value = serde_json::from_str(line)?;
    let source = &record["source"];
    let offset = |name: &str, field| {
        source[name]
            .as_u64()
            .ok_or(RecordReadError::Missing { field })
    };
    Ok(SourceRange {
        path: read_path(source, &PATH)?,
        member: read_member(source)?,
        start: offset("start", "source.start")?,
        end: offset("end", "source.end")?,
    })
}

/// Reads the names in `member_b64`, or else in `member`; without either there are none.
fn read_member(source: &Value) -> Result<Vec<Vec<u8>>, RecordReadError> {
    let from_base64 = |name: &Value| BASE64.decode(name.as_str()?.as_bytes()).ok();
    let from_text = |name: &Value| name.as_str().map(|name| name.as_bytes().to_owned());
    if !source["member_b64"].is_null() {
        read_names(&source["member_b64"], "source.member_b64", from_base64)
    } else if !source["member"].is_null() {
        read_names(&source["member"], "source.member", from_text)
    } else {
        Ok(Vec::new())
    }
}

fn read_names(
    list: &Value,
    field: &'static str,
    read: impl Fn(&Value) -> Option<Vec<u8>>,
) -> Result<Vec<Vec<u8>>, RecordReadError> {
    list.as_array()
        .and_then(|names| names.iter().map(read).collect())
        .ok_or(RecordReadError::Invalid {
            field,
            expected: "a list of names",
        })
}

/// A work item as it is written.
#[derive(Serialize)]
struct SplitItemJson<'i> {
    path: Cow<'i, str>,
    /// The bytes of the path, if they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    start: u64,
    end: u64,
    /// [`AUTO`], or a kind as in a record's `source`.
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    nuls: Option<u64>,
}

/// The `kind` of a file whose kind is recognized when it is read.
const AUTO: &str = "auto";

const ITEM_PATH: PathFields = PathFields {
    path: "path",
    path_b64: "path_b64",
};

/// Appends a work item as one line.
pub fn write_item(item: &FileRange, line: &mut Vec<u8>) {
    let path = item.source.path.as_os_str().as_encoded_bytes();
    let json = SplitItemJson {
        path: String::from_utf8_lossy(path),
        path_b64: base64_unless_utf8(path),
        start: item.start,
        end: item.end,
        kind: item.kind.map_or(AUTO, SourceKind::name),
        nuls: Some(item.nuls).filter(|&nuls| 0 < nuls),
    };
    append_json_line(line, &json);
}

/// Reads a work item. Without `kind` the file is recognized when it is read; without `start` and `end` the item is the whole
/// file.
///
/// # Errors
///
/// The line is not JSON, `path` is missing, or a field has another form.
pub fn read_item(line: &str) -> Result<FileRange, RecordReadError> {
    let value: Value = serde_json::from_str(line)?;
    let kind = read_kind(&value)?;
    let source = Source::at(read_path(&value, &ITEM_PATH)?);
    let start = read_offset(&value, "start")?.unwrap_or(0);
    let end = read_offset(&value, "end")?.unwrap_or(u64::MAX);
    if end < start {
        return Err(RecordReadError::Invalid {
            field: "end",
            expected: "an offset after `start`",
        });
    }
    Ok(FileRange {
        source,
        start,
        end,
        kind,
        nuls: read_offset(&value, "nuls")?.unwrap_or(0),
    })
}

fn read_kind(value: &Value) -> Result<Option<SourceKind>, RecordReadError> {
    match value["kind"].as_str() {
        None | Some(AUTO) => Ok(None),
        Some(name) => match SourceKind::named(name) {
            None => Err(RecordReadError::Unknown {
                field: "kind",
                name: name.to_owned(),
            }),
            kind => Ok(kind),
        },
    }
}

fn read_offset(value: &Value, name: &'static str) -> Result<Option<u64>, RecordReadError> {
    match &value[name] {
        Value::Null => Ok(None),
        number => number.as_u64().map(Some).ok_or(RecordReadError::Invalid {
            field: name,
            expected: "a number of bytes",
        }),
    }
}

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

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn the_range_of_a_record_is_read_back() {
        let line = r#"{"source":{"path":"a/b","start":3,"end":9}}"#;
        assert_eq!(
            read_source_range(line).unwrap(),
            SourceRange {
                path: "a/b".into(),
                member: Vec::new(),
                start: 3,
                end: 9
            }
        );
        let line = r#"{"source":{"path":"?","path_b64":"/w==","start":0,"end":0}}"#;
        assert_eq!(
            read_source_range(line)
                .unwrap()
                .path
                .as_os_str()
                .as_encoded_bytes(),
            b"\xFF"
        );
        let line = r#"{"source":{"path":"?","member":["a","b/c"],"start":0,"end":0}}"#;
        assert_eq!(
            read_source_range(line).unwrap().member,
            [b"a".to_vec(), b"b/c".to_vec()]
        );
        let line =
            r#"{"source":{"path":"?","member":["?"],"member_b64":["/w=="],"start":0,"end":0}}"#;
        assert_eq!(read_source_range(line).unwrap().member, [b"\xFF".to_vec()]);
        assert_eq!(
            read_source_range("{}").unwrap_err().to_string(),
            "source.path is missing"
        );
    }

    #[test]
    fn a_written_item_is_read_back() {
        for bytes in [&b"a/b c"[..], b"\xFF\n"] {
            let path = std::ffi::OsString::from_vec(bytes.to_vec());
            for kind in [None, Some(SourceKind::Mbox)] {
                let written = FileRange {
                    source: Source::at(path.clone().into()),
                    start: 3,
                    end: 9,
                    kind,
                    nuls: bytes.len() as u64 - 2,
                };
                let mut line = Vec::new();
                write_item(&written, &mut line);
                assert_eq!(read_item(str::from_utf8(&line).unwrap()).unwrap(), written);
            }
        }
    }

    #[test]
    fn an_error_names_the_field() {
        let error = |line| read_item(line).unwrap_err().to_string();
        assert_eq!(
            error("{\"path\":\"a\",\"start\":-1}"),
            "start is not a number of bytes"
        );
        assert_eq!(
            error("{\"path\":\"a\",\"kind\":\"x\"}"),
            "kind \"x\" is not known"
        );
        assert_eq!(error("{}"), "path is missing");
        assert_eq!(
            error("{\"path\":\"a\",\"start\":5,\"end\":1}"),
            "end is not an offset after `start`"
        );
        assert_eq!(error("nonsense"), "not JSON at character 2");
    }
}
