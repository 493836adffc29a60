//! Byte ranges in files. Ranges of records are read back from JSON for `urlspool show`. Work items
//! of `urlspool splits` are written and read as `{"path","start","end","kind"}`, one per line.

use std::path::PathBuf;

use data_encoding::BASE64;
use serde_json::Value;

use super::json::ObjectWriter;
use super::value::{Scalar, is_lossless, put_base64};
use urlspool_text::origin::{FileRange, Source, SourceKind};

/// A byte range of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRange {
    /// Path of the file.
    pub path: PathBuf,
    /// Names of the archive members, outermost first.
    pub member: Vec<Vec<u8>>,
    /// Offset of the first byte.
    pub start: u64,
    /// Offset after the last byte; `None` for the end of the line.
    pub end: Option<u64>,
    /// Text of the record's URL as written, if the file holds it without an encoding.
    pub raw: Option<String>,
}

/// Reads the range of a record's URL from its line.
///
/// # Errors
///
/// Describes the reason: the line is not JSON, or a field of its `source` is missing or malformed.
pub fn read_source_range(line: &str) -> Result<SourceRange, String> {
    let record = read_json(line)?;
    let source = &record["source"];
    let [start, end] = ["start", "end"].map(|name| {
        let offset = source[name].as_u64();
        offset.ok_or_else(|| format!("source.{name} is missing"))
    });
    let encoding = record["part"]["encoding"].as_str().unwrap_or("7bit");
    let is_plain = source["exact"] == true
        && ["7bit", "8bit", "binary"].contains(&encoding)
        && record["part"]["type"] != "text/html"
        && !record["region"].to_string().starts_with("\"header:");
    let raw = record["raw"]
        .as_str()
        .filter(|raw| is_plain && raw.is_ascii());
    Ok(SourceRange {
        path: read_path(source, "source.")?,
        member: read_member(source)?,
        start: start?,
        end: Some(end?),
        raw: raw.map(str::to_owned),
    })
}

fn read_json(line: &str) -> Result<Value, String> {
    serde_json::from_str(line).map_err(|error| format!("not JSON at character {}", error.column()))
}

/// Reads the names in `member_b64`, or in `member` if that is null. Empty if both are null.
fn read_member(source: &Value) -> Result<Vec<Vec<u8>>, String> {
    let is_encoded = !source["member_b64"].is_null();
    let field = if is_encoded { "member_b64" } else { "member" };
    if source[field].is_null() {
        return Ok(Vec::new());
    }
    let read = |name: &Value| match name.as_str()? {
        encoded if is_encoded => BASE64.decode(encoded.as_bytes()).ok(),
        name => Some(name.as_bytes().to_owned()),
    };
    let names = source[field].as_array();
    names
        .and_then(|names| names.iter().map(read).collect())
        .ok_or_else(|| format!("source.{field} is not a list of names"))
}

/// Value of `kind` for a file whose kind is recognized when it is read.
const AUTO: &str = "auto";

/// Appends a work item as one line.
pub fn write_item(item: &FileRange, line: &mut Vec<u8>) {
    let path = item.source.path.as_os_str().as_encoded_bytes();
    let mut json = ObjectWriter::begin(line);
    json.put("path", Scalar::Text(path));
    if !is_lossless(path) {
        put_base64(path, json.member("path_b64"));
    }
    json.put("start", Scalar::Integer(item.start));
    json.put("end", Scalar::Integer(item.end));
    let kind = item.kind.map_or(AUTO, SourceKind::name);
    json.put("kind", Scalar::Name(kind));
    if 0 < item.nuls {
        json.put("nuls", Scalar::Integer(item.nuls));
    }
    json.end_line();
}

/// Reads a work item. Without `kind`, the kind is recognized when the file is read. Without `start`
/// and `end`, the item is the whole file.
///
/// # Errors
///
/// Describes the reason: the line is not JSON, `path` is missing, or a field is malformed.
pub fn read_item(line: &str) -> Result<FileRange, String> {
    let value = read_json(line)?;
    let kind = read_kind(&value)?;
    let source = Source::at(read_path(&value, "")?);
    let start = read_offset(&value, "start")?.unwrap_or(0);
    let end = read_offset(&value, "end")?.unwrap_or(u64::MAX);
    if end < start {
        return Err("end is not an offset after `start`".to_owned());
    }
    Ok(FileRange {
        source,
        start,
        end,
        kind,
        nuls: read_offset(&value, "nuls")?.unwrap_or(0),
    })
}

fn read_kind(value: &Value) -> Result<Option<SourceKind>, String> {
    let name = value["kind"].as_str().filter(|name| *name != AUTO);
    name.map(|name| SourceKind::named(name).ok_or_else(|| format!("kind {name:?} is not known")))
        .transpose()
}

fn read_offset(value: &Value, name: &str) -> Result<Option<u64>, String> {
    match &value[name] {
        Value::Null => Ok(None),
        number => match number.as_u64() {
            None => Err(format!("{name} is not a number of bytes")),
            offset => Ok(offset),
        },
    }
}

/// Reads the path from `path_b64`, which is set if the path is not UTF-8, or from `path`. Errors
/// put `prefix` before the field name.
fn read_path(object: &Value, prefix: &str) -> Result<PathBuf, String> {
    let Some(encoded) = object["path_b64"].as_str() else {
        let path = object["path"].as_str().map(PathBuf::from);
        return path.ok_or_else(|| format!("{prefix}path is missing"));
    };
    let bytes = BASE64
        .decode(encoded.as_bytes())
        .map_err(|_| format!("{prefix}path_b64 is not base64"))?;
    path_of_bytes(bytes).ok_or_else(|| format!("{prefix}path_b64 is not a path of this system"))
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
                end: Some(9),
                raw: None
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
            read_source_range("{}").unwrap_err(),
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
        let error = |line| read_item(line).unwrap_err();
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
