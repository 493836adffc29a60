//! Items of work, written and read: `{"path","start","end","kind"}`, one a line.

use data_encoding::BASE64;
use serde::Serialize;
use serde_json::Value;

use super::source_range::path;
use crate::origin::{FileRange, Source, SourceKind};

/// An item as it is written.
#[derive(Serialize)]
struct ItemLine<'i> {
    path: std::borrow::Cow<'i, str>,
    /// The path's bytes, where they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    start: u64,
    end: u64,
    /// `auto`, or a kind as in a record's `source`.
    kind: &'static str,
}

/// The word for a kind that is not known.
const AUTO: &str = "auto";

/// Appends an item as one line.
///
/// # Panics
///
/// Never: it has nothing that JSON cannot hold.
pub fn write_item(item: &FileRange, line: &mut Vec<u8>) {
    let bytes = item.source.path.as_os_str().as_encoded_bytes();
    let written = ItemLine {
        path: String::from_utf8_lossy(bytes),
        path_b64: str::from_utf8(bytes).is_err().then(|| BASE64.encode(bytes)),
        start: item.start,
        end: item.end,
        kind: item.kind.map_or(AUTO, SourceKind::name),
    };
    serde_json::to_writer(&mut *line, &written).expect("text and numbers");
    line.push(b'\n');
}

/// Reads an item. Without `kind` the file is recognised; without a range it is the whole file.
///
/// # Errors
///
/// What the line lacks, in a sentence.
pub fn read_item(line: &str) -> Result<FileRange, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| format!("no JSON: {error}"))?;
    let number = |name: &str, default: u64| match &value[name] {
        Value::Null => Ok(default),
        number => number
            .as_u64()
            .ok_or_else(|| format!("{name} is no number of bytes")),
    };
    let kind = match value["kind"].as_str() {
        None | Some(AUTO) => None,
        Some(name) => {
            Some(SourceKind::named(name).ok_or_else(|| format!("there is no kind {name:?}"))?)
        }
    };
    if value["path"].is_null() && value["path_b64"].is_null() {
        return Err("no path".to_owned());
    }
    let (start, end) = (number("start", 0)?, number("end", u64::MAX)?);
    Ok(FileRange {
        source: Source::at(path(&value)?),
        start,
        end,
        kind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn what_is_written_is_read_back() {
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
                assert_eq!(read_item(str::from_utf8(&line).unwrap()), Ok(written));
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        assert_eq!(
            read_item("{\"path\":\"a\",\"start\":-1}"),
            Err("start is no number of bytes".to_owned())
        );
        assert_eq!(
            read_item("{\"path\":\"a\",\"kind\":\"x\"}"),
            Err("there is no kind \"x\"".to_owned())
        );
        assert_eq!(read_item("{}"), Err("no path".to_owned()));
    }
}
