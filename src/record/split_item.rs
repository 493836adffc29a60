//! Work items, written and read: `{"path","start","end","kind"}`, one per line.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::json_path::{PathFields, read_path};
use super::line::append_json_line;
use super::location::base64_unless_utf8;
use super::read_error::RecordReadError;
use crate::origin::{FileRange, Source, SourceKind};

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
}

/// The `kind` of a file whose kind is recognized when it is read.
const AUTO: &str = "auto";

const PATH: PathFields = PathFields {
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
    let source = Source::at(read_path(&value, &PATH)?);
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

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
