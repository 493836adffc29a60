//! Lines of JSON, read back as far as a loader needs them: records of URLs, and messages that are gone.

mod check;
mod diagnosis;

use data_encoding::BASE64;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::fields::{Field, GONE_FIELDS, RECORD_FIELDS};
use super::line_error::{ExpectedValue, LineError, LineFault, UnsuitableRecord};
use super::{SCHEMA, hash_pieces};
use diagnosis::{diagnose, invalid};

/// A line that a loader reads.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordLine {
    /// The record of a URL.
    Url(Box<UrlLine>),
    /// Messages that are gone from their mailbox.
    Gone(GoneLine),
    /// A line of another type, such as an event.
    Other,
}

/// The fields of a URL's record that are loaded, as [`super::RECORD_FIELDS`] describes them.
#[derive(Debug, Deserialize)]
#[non_exhaustive]
#[expect(
    missing_docs,
    reason = "the table of the fields is their documentation"
)]
pub struct UrlLine {
    schema: u64,
    pub id: String,
    pub url: String,
    pub fragment: Option<String>,
    pub scheme: String,
    pub host: Option<String>,
    pub domain: Option<String>,
    pub port: Option<u16>,
    pub key: Option<String>,
    pub href: Option<String>,
    pub conforms: JsonList,
    pub warnings: JsonList,
    pub hazards: JsonList,
    pub form: Option<String>,
    pub wrapper: String,
    pub repairs: JsonList,
    pub confidence: f64,
    pub truncated: bool,
    pub region: String,
    pub quote_depth: i64,
    pub anchor: Option<String>,
    pub mismatch: Option<bool>,
    pub unwrapped_from: Option<String>,
    pub unwrapped_by: Option<String>,
    pub source: SourceLine,
    pub message: MessageLine,
    pub count: Option<i64>,
}

/// The fields of `source`.
#[derive(Debug, Deserialize)]
#[non_exhaustive]
#[expect(
    missing_docs,
    reason = "the table of the fields is their documentation"
)]
pub struct SourceLine {
    pub path: String,
    pub path_b64: Option<String>,
    pub mailbox: String,
    pub member: Option<JsonList>,
    pub member_b64: Option<JsonList>,
    pub kind: String,
    pub start: i64,
    pub end: i64,
    pub line: i64,
    pub exact: bool,
}

/// The fields of `message`.
#[derive(Debug, Deserialize)]
#[non_exhaustive]
#[expect(
    missing_docs,
    reason = "the table of the fields is their documentation"
)]
pub struct MessageLine {
    pub start: i64,
    pub end: i64,
    pub id: Option<String>,
    pub digest: String,
    pub date: Option<String>,
    pub date_raw: Option<String>,
    pub from: Option<String>,
    pub subject: Option<String>,
    pub newsgroups: JsonList,
    pub list_id: Option<String>,
    pub references: JsonList,
}

/// A list, as the text of its JSON.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct JsonList(Box<RawValue>);

impl JsonList {
    /// Returns the text of the list.
    #[must_use]
    pub fn json(&self) -> &str {
        self.0.get()
    }
}

/// Messages that are gone from their mailbox for good.
#[derive(Debug, Deserialize)]
#[non_exhaustive]
pub struct GoneLine {
    /// The mailbox, as `source.mailbox` has it.
    pub mailbox: String,
    /// The digests of the messages, as `message.digest` has them.
    pub digests: Vec<String>,
}

/// The fields by which the type of a line is recognized.
#[derive(Deserialize)]
struct LineHead {
    schema: Option<u64>,
    #[serde(rename = "type")]
    line_type: Option<String>,
    id: Option<IgnoredAny>,
    url: Option<IgnoredAny>,
}

/// The start of a record as it is written: the version and the type.
const RECORD_START: &str = "{\"schema\":1,\"type\":\"url\",";

/// The fields of [`LineHead`] whose types matter.
const HEAD_FIELDS: &[&str] = &["schema", "type"];

/// Reads a line of JSON.
///
/// # Errors
///
/// The line is not JSON or no line of urlspool, or a record that cannot be loaded.
pub fn read_record_line(line: &[u8]) -> Result<RecordLine, LineError> {
    // Checked once, and not again for each text.
    let line = std::str::from_utf8(line).map_err(|error| {
        LineError::NoRecord(LineFault::NotUtf8 {
            byte: error.valid_up_to() + 1,
        })
    })?;
    if line.starts_with(RECORD_START) {
        return read_url(line);
    }
    let head = read_head(line)?;
    match head.line_type.as_deref() {
        Some("url") => read_url(line),
        Some("gone") => read_gone(line),
        Some(_) => Ok(RecordLine::Other),
        None if head.id.is_some() || head.url.is_some() || head.schema.is_some() => read_url(line),
        None => Err(LineError::NoRecord(LineFault::NoType)),
    }
}

fn read_head(line: &str) -> Result<LineHead, LineError> {
    serde_json::from_str(line).map_err(|error| {
        let is_of_head = |field: &&Field| HEAD_FIELDS.contains(&field.name);
        match diagnose(line, RECORD_FIELDS.iter().filter(is_of_head), &error) {
            LineFault::Missing(_) => LineError::NoRecord(LineFault::NoType),
            fault => LineError::NoRecord(fault),
        }
    })
}

fn read_gone(line: &str) -> Result<RecordLine, LineError> {
    let gone: GoneLine = serde_json::from_str(line)
        .map_err(|error| LineError::NoRecord(diagnose(line, GONE_FIELDS, &error)))?;
    gone.check()?;
    Ok(RecordLine::Gone(gone))
}

fn read_url(line: &str) -> Result<RecordLine, LineError> {
    let record: UrlLine = serde_json::from_str(line).map_err(|error| {
        match read_head(line).map(|head| head.schema) {
            Err(error) => return error,
            Ok(Some(schema)) if schema != u64::from(SCHEMA) => return other_schema(schema),
            Ok(_) => {}
        }
        match diagnose(line, RECORD_FIELDS, &error) {
            LineFault::Missing(field) => LineError::Unsuitable(UnsuitableRecord::Missing(field)),
            fault => LineError::NoRecord(fault),
        }
    })?;
    if record.schema != u64::from(SCHEMA) {
        return Err(other_schema(record.schema));
    }
    record.check()?;
    // Only an escape can give one.
    if line.contains("\\u0000") {
        record.check_texts()?;
    }
    Ok(RecordLine::Url(Box::new(record)))
}

fn other_schema(schema: u64) -> LineError {
    LineError::Unsuitable(UnsuitableRecord::Schema(schema))
}

impl SourceLine {
    /// Returns the hash that names the file or member: of its path and the names of its members, as bytes.
    ///
    /// # Errors
    ///
    /// A list of names has another form.
    pub fn source_key(&self) -> Result<u128, LineError> {
        let mut joined = Vec::new();
        add_name(&mut joined, &self.path_bytes()?);
        for name in self.member_bytes()? {
            add_name(&mut joined, &name);
        }
        Ok(hash_pieces(&[&joined]))
    }

    fn path_bytes(&self) -> Result<Vec<u8>, LineError> {
        match self.path_b64.as_deref() {
            Some(encoded) => from_base64(encoded, "source.path_b64"),
            None => Ok(self.path.as_bytes().to_owned()),
        }
    }

    fn member_bytes(&self) -> Result<Vec<Vec<u8>>, LineError> {
        match (&self.member_b64, &self.member) {
            (Some(encoded), _) => names(encoded, "source.member_b64")?
                .iter()
                .map(|name| from_base64(name, "source.member_b64"))
                .collect(),
            (None, Some(list)) => Ok(names(list, "source.member")?
                .into_iter()
                .map(String::into_bytes)
                .collect()),
            (None, None) => Ok(Vec::new()),
        }
    }
}

/// Appends a name after its length, so that no two lists of names are the same bytes.
fn add_name(joined: &mut Vec<u8>, name: &[u8]) {
    joined.extend_from_slice(&(name.len() as u64).to_le_bytes());
    joined.extend_from_slice(name);
}

fn names(list: &JsonList, field: &'static str) -> Result<Vec<String>, LineError> {
    serde_json::from_str(list.json()).map_err(|_| invalid(field, ExpectedValue::Texts))
}

fn from_base64(text: &str, field: &'static str) -> Result<Vec<u8>, LineError> {
    let decoded = BASE64.decode(text.as_bytes());
    decoded.map_err(|_| invalid(field, ExpectedValue::Base64))
}

impl UrlLine {
    /// Returns the key of the record: a hash of `id` and of the file or member ([`SourceLine::source_key`]). It is the same for
    /// each copy of the record.
    #[must_use]
    pub fn record_key(&self, source_key: u128) -> u128 {
        hash_pieces(&[self.id.as_bytes(), &source_key.to_le_bytes()])
    }

    /// Returns a hash of `key`, for indexes that cannot hold long texts.
    #[must_use]
    pub fn key_hash(&self) -> Option<u128> {
        let key = self.key.as_deref()?;
        Some(hash_pieces(&[key.as_bytes()]))
    }
}

#[cfg(test)]
mod tests;
