//! The byte range of a record, read back from its JSON, as `urlspool show` needs it.

use std::path::PathBuf;

use data_encoding::BASE64;
use serde_json::Value;

use super::json_path::{PathFields, read_path};
use super::read_error::RecordReadError;

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

#[cfg(test)]
mod tests {
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
}
