//! The wire format, read back: as much of a record as `urlspool show` needs.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use data_encoding::BASE64;
use serde_json::Value;

/// The bytes that a record names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRange {
    /// The file.
    pub path: PathBuf,
    /// The names of the members, from the outermost archive inwards.
    pub member: Vec<Vec<u8>>,
    /// The first byte.
    pub start: u64,
    /// One past the last.
    pub end: u64,
}

/// The place of a record's URL.
///
/// # Errors
///
/// What the line lacks, in a sentence.
pub fn read_source_range(line: &str) -> Result<SourceRange, String> {
    let record: Value = serde_json::from_str(line).map_err(|error| format!("no JSON: {error}"))?;
    let source = &record["source"];
    let number = |name: &str| {
        source[name]
            .as_u64()
            .ok_or_else(|| format!("no source.{name}"))
    };
    Ok(SourceRange {
        path: path(source)?,
        member: member(source)?,
        start: number("start")?,
        end: number("end")?,
    })
}

fn member(source: &Value) -> Result<Vec<Vec<u8>>, String> {
    let unclear = |name: &str| format!("source.{name} is no list of names");
    let names = |name: &str| source[name].as_array().ok_or_else(|| unclear(name));
    if !source["member_b64"].is_null() {
        let bytes = |name: &Value| BASE64.decode(name.as_str()?.as_bytes()).ok();
        return names("member_b64")?
            .iter()
            .map(bytes)
            .collect::<Option<_>>()
            .ok_or_else(|| unclear("member_b64"));
    }
    if source["member"].is_null() {
        return Ok(Vec::new());
    }
    let bytes = |name: &Value| name.as_str().map(|name| name.as_bytes().to_owned());
    names("member")?
        .iter()
        .map(bytes)
        .collect::<Option<_>>()
        .ok_or_else(|| unclear("member"))
}

pub(super) fn path(source: &Value) -> Result<PathBuf, String> {
    if let Some(encoded) = source["path_b64"].as_str() {
        let bytes = BASE64
            .decode(encoded.as_bytes())
            .map_err(|error| format!("source.path_b64: {error}"))?;
        return Ok(PathBuf::from(OsString::from_vec(bytes)));
    }
    source["path"]
        .as_str()
        .map(PathBuf::from)
        .ok_or_else(|| "no source.path".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_record_is_read_back() {
        let line = r#"{"source":{"path":"a/b","start":3,"end":9}}"#;
        assert_eq!(
            read_source_range(line),
            Ok(SourceRange {
                path: "a/b".into(),
                member: Vec::new(),
                start: 3,
                end: 9
            })
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
        assert_eq!(read_source_range("{}"), Err("no source.path".to_owned()));
    }
}
