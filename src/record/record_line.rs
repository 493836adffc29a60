//! Lines of JSON, read back as far as a loader needs them: records of URLs, and messages that are gone.

use std::error::Error;
use std::fmt;

use data_encoding::BASE64;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::fields::{Field, FieldType, FieldValues, GONE_FIELDS, Nullable, RECORD_FIELDS};
use super::{SCHEMA, hash_pieces};
use crate::diagnostic::shortened;
use crate::limits::MESSAGE_VALUE_CHARS;

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

impl JsonList {
    /// Checks that it is a list, whose texts are texts. Only escapes can give a NUL, or half a pair of surrogates.
    fn check(&self, field: &'static str) -> Result<(), LineError> {
        let json = self.json();
        let has_nul = |value: &Value| value.as_str().is_some_and(|text| text.contains('\0'));
        let is_list = json.starts_with('[');
        let is_clean = !json.contains("\\u")
            || serde_json::from_str::<Vec<Value>>(json)
                .is_ok_and(|values| !values.iter().any(has_nul));
        require(is_list && is_clean, field, ExpectedValue::Texts)
    }
}

impl GoneLine {
    /// Checks that the messages are named, by texts without a NUL.
    fn check(&self) -> Result<(), LineError> {
        let is_clean = !self.mailbox.contains('\0');
        require(is_clean, "mailbox", ExpectedValue::TextWithoutNul)?;
        let is_right = |digest: &String| is_digest(digest) && !digest.contains('\0');
        let are_right = !self.digests.is_empty() && self.digests.iter().all(is_right);
        require(are_right, "digests", ExpectedValue::Digests)
    }
}

impl UrlLine {
    /// Checks numbers, names and lists.
    fn check(&self) -> Result<(), LineError> {
        let (source, message) = (&self.source, &self.message);
        for (field, text) in [("id", &self.id), ("url", &self.url)] {
            require(!text.is_empty(), field, ExpectedValue::NonEmptyText)?;
        }
        let has_digest = is_digest(&message.digest);
        require(has_digest, "message.digest", ExpectedValue::Digest)?;
        for (field, number) in [
            ("quote_depth", self.quote_depth),
            ("count", self.count.unwrap_or_default()),
            ("source.start", source.start),
            ("source.end", source.end),
            ("source.line", source.line),
            ("message.start", message.start),
            ("message.end", message.end),
        ] {
            require(0 <= number, field, ExpectedValue::Count)?;
        }
        let is_probability = (0.0..=1.0).contains(&self.confidence);
        require(is_probability, "confidence", ExpectedValue::Probability)?;
        for (field, list) in [
            ("conforms", Some(&self.conforms)),
            ("warnings", Some(&self.warnings)),
            ("hazards", Some(&self.hazards)),
            ("repairs", Some(&self.repairs)),
            ("message.newsgroups", Some(&message.newsgroups)),
            ("message.references", Some(&message.references)),
            ("source.member", source.member.as_ref()),
            ("source.member_b64", source.member_b64.as_ref()),
        ] {
            list.map_or(Ok(()), |list| list.check(field))?;
        }
        Ok(())
    }

    /// Checks that no text has a NUL.
    pub(super) fn check_texts(&self) -> Result<(), LineError> {
        for (field, text) in self.texts() {
            let is_clean = text.is_none_or(|text| !text.contains('\0'));
            require(is_clean, field, ExpectedValue::TextWithoutNul)?;
        }
        Ok(())
    }

    /// The fields that are texts, with their names.
    fn texts(&self) -> [(&'static str, Option<&str>); 25] {
        let (source, message) = (&self.source, &self.message);
        [
            ("id", Some(&*self.id)),
            ("url", Some(&*self.url)),
            ("scheme", Some(&*self.scheme)),
            ("wrapper", Some(&*self.wrapper)),
            ("region", Some(&*self.region)),
            ("source.path", Some(&*source.path)),
            ("source.mailbox", Some(&*source.mailbox)),
            ("source.kind", Some(&*source.kind)),
            ("message.digest", Some(&*message.digest)),
            ("fragment", self.fragment.as_deref()),
            ("host", self.host.as_deref()),
            ("domain", self.domain.as_deref()),
            ("key", self.key.as_deref()),
            ("href", self.href.as_deref()),
            ("form", self.form.as_deref()),
            ("anchor", self.anchor.as_deref()),
            ("unwrapped_from", self.unwrapped_from.as_deref()),
            ("unwrapped_by", self.unwrapped_by.as_deref()),
            ("source.path_b64", source.path_b64.as_deref()),
            ("message.id", message.id.as_deref()),
            ("message.date", message.date.as_deref()),
            ("message.date_raw", message.date_raw.as_deref()),
            ("message.from", message.from.as_deref()),
            ("message.subject", message.subject.as_deref()),
            ("message.list_id", message.list_id.as_deref()),
        ]
    }
}

fn is_digest(text: &str) -> bool {
    (1..=ExpectedValue::DIGEST_BYTES).contains(&text.len())
}

fn require(is_right: bool, field: &'static str, expected: ExpectedValue) -> Result<(), LineError> {
    if is_right {
        Ok(())
    } else {
        Err(invalid(field, expected))
    }
}

/// The reason why `line` was refused with `error`, as a line that has these fields.
fn diagnose<'t>(
    line: &str,
    fields: impl IntoIterator<Item = &'t Field, IntoIter: Clone>,
    error: &serde_json::Error,
) -> LineFault {
    let not_json = LineFault::NotJson {
        byte: error.column(),
    };
    let Ok(value) = serde_json::from_str::<Value>(line) else {
        return not_json;
    };
    if !value.is_object() {
        return LineFault::NotObject;
    }
    let loaded = fields.into_iter().filter(|field| field.is_loaded);
    if let Some(field) = loaded.clone().find(|field| is_invalid(&value, field)) {
        let (field, expected) = (field.name, expected(field));
        return LineFault::Invalid { field, expected };
    }
    let missing = loaded.clone().find(|field| is_missing(&value, field));
    if let Some(field) = missing {
        return LineFault::Missing(field.name);
    }
    duplicate(error).map_or(not_json, LineFault::Duplicate)
}

/// The error of a field whose value is not as expected.
fn invalid(field: &'static str, expected: ExpectedValue) -> LineError {
    LineError::NoRecord(LineFault::Invalid { field, expected })
}

/// The value of a field; `None` if the field or the object that holds it is missing.
fn value_of<'v>(line: &'v Value, field: &Field) -> Option<&'v Value> {
    field
        .name
        .split('.')
        .try_fold(line, |value, key| value.get(key))
}

fn is_missing(line: &Value, field: &Field) -> bool {
    field.nullable == Nullable::No && value_of(line, field).is_none()
}

fn is_invalid(line: &Value, field: &Field) -> bool {
    match value_of(line, field) {
        None => false,
        Some(Value::Null) => field.nullable == Nullable::No,
        Some(value) => !is_expected(value, expected(field)),
    }
}

/// The values that a field can have, as far as its type goes.
fn expected(field: &Field) -> ExpectedValue {
    match field.json_type {
        FieldType::Text => ExpectedValue::Text,
        FieldType::Integer if field.name == "port" => ExpectedValue::Port,
        FieldType::Integer => ExpectedValue::Count,
        FieldType::Number => ExpectedValue::Probability,
        FieldType::Boolean => ExpectedValue::Boolean,
        FieldType::Texts if field.values == FieldValues::Digest => ExpectedValue::Digests,
        FieldType::Texts => ExpectedValue::Texts,
        FieldType::Object => ExpectedValue::Object,
        FieldType::List => ExpectedValue::List,
    }
}

fn is_expected(value: &Value, expected: ExpectedValue) -> bool {
    match expected {
        ExpectedValue::Count => value.as_i64().is_some_and(|number| 0 <= number),
        ExpectedValue::Port => value
            .as_u64()
            .is_some_and(|number| u16::try_from(number).is_ok()),
        ExpectedValue::Probability => value
            .as_f64()
            .is_some_and(|number| (0.0..=1.0).contains(&number)),
        ExpectedValue::Boolean => value.is_boolean(),
        ExpectedValue::Object => value.is_object(),
        ExpectedValue::List => value.is_array(),
        ExpectedValue::Texts | ExpectedValue::Digests => value
            .as_array()
            .is_some_and(|items| items.iter().all(Value::is_string)),
        _ => value.is_string(),
    }
}

/// The name of a field that stands twice in an object. The library has no kind of its own for it.
fn duplicate(error: &serde_json::Error) -> Option<String> {
    let text = error.to_string();
    let name = text.strip_prefix("duplicate field `")?;
    name.split_once('`').map(|(name, _)| name.to_owned())
}

/// The reason why a line cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineError {
    /// It is no line that urlspool wrote. The others can be loaded.
    NoRecord(LineFault),
    /// It is a record of a URL, but of another version, or without a field that is needed. Others will be like it.
    Unsuitable(UnsuitableRecord),
}

/// The fault of a line that urlspool did not write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineFault {
    /// It is not UTF-8.
    NotUtf8 {
        /// The number of the first wrong byte, from 1.
        byte: usize,
    },
    /// It is not JSON.
    NotJson {
        /// The number of the byte at which it is not, from 1.
        byte: usize,
    },
    /// It is JSON, but no object.
    NotObject,
    /// It has no field `type`.
    NoType,
    /// It is longer than a line may be.
    TooLong {
        /// Maximum length in bytes.
        max_bytes: usize,
    },
    /// A message that is gone lacks this field.
    Missing(&'static str),
    /// It has a field of this name twice.
    Duplicate(String),
    /// A field has a value that it cannot have.
    Invalid {
        /// The name of the field, as `source.path`.
        field: &'static str,
        /// The values that it can have.
        expected: ExpectedValue,
    },
}

/// The values that a field can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExpectedValue {
    /// A text.
    Text,
    /// A text without a NUL, which `PostgreSQL` refuses.
    TextWithoutNul,
    /// A text that is not empty.
    NonEmptyText,
    /// A text of 1 to [`ExpectedValue::DIGEST_BYTES`] bytes.
    Digest,
    /// The text of bytes in base64.
    Base64,
    /// A list of texts without a NUL.
    Texts,
    /// A list of digests, at least one.
    Digests,
    /// A number without a fraction that is not negative.
    Count,
    /// A number from 0 to 65535.
    Port,
    /// A number from 0 to 1.
    Probability,
    /// True or false.
    Boolean,
    /// An object.
    Object,
    /// A list.
    List,
}

impl ExpectedValue {
    /// Maximum length of a digest, in bytes: no index of a database takes long texts. Ours have 32.
    pub const DIGEST_BYTES: usize = 128;
}

/// The reason why a record of a URL cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnsuitableRecord {
    /// It is of this other version.
    Schema(u64),
    /// It lacks this field.
    Missing(&'static str),
}

impl fmt::Display for LineError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LineError::NoRecord(fault) => write!(out, "no record: {fault}"),
            LineError::Unsuitable(reason) => {
                write!(out, "a record that cannot be loaded: {reason}")
            }
        }
    }
}

impl Error for LineError {}

impl fmt::Display for LineFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LineFault::NotUtf8 { byte } => write!(out, "byte {byte} is not UTF-8"),
            LineFault::NotJson { byte } => write!(
                out,
                "byte {byte} is not JSON; records are lines as `urlspool scan` writes them"
            ),
            LineFault::NotObject => out.write_str("it is no JSON object"),
            LineFault::NoType => out.write_str("the field `type` is missing"),
            LineFault::TooLong { max_bytes } => write!(out, "it is longer than {max_bytes} bytes"),
            LineFault::Missing(field) => write!(out, "the field `{field}` is missing"),
            LineFault::Duplicate(field) => write!(
                out,
                "the field `{}` stands in it twice",
                shortened(field, MESSAGE_VALUE_CHARS)
            ),
            LineFault::Invalid { field, expected } => {
                write!(out, "the field `{field}` must be {expected}")
            }
        }
    }
}

impl fmt::Display for ExpectedValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            ExpectedValue::Text => "a text",
            ExpectedValue::TextWithoutNul => "a text without a NUL",
            ExpectedValue::NonEmptyText => "a text that is not empty",
            ExpectedValue::Digest => {
                let max = ExpectedValue::DIGEST_BYTES;
                return write!(out, "a text of 1 to {max} bytes");
            }
            ExpectedValue::Base64 => "a text in base64",
            ExpectedValue::Texts => "a list of texts without a NUL",
            ExpectedValue::Digests => {
                let max = ExpectedValue::DIGEST_BYTES;
                return write!(
                    out,
                    "a list of at least one text, each of 1 to {max} bytes without a NUL"
                );
            }
            ExpectedValue::Count => "a whole number that is not negative",
            ExpectedValue::Port => "a whole number from 0 to 65535",
            ExpectedValue::Probability => "a number from 0 to 1",
            ExpectedValue::Boolean => "true or false",
            ExpectedValue::Object => "an object",
            ExpectedValue::List => "a list",
        })
    }
}

impl fmt::Display for UnsuitableRecord {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnsuitableRecord::Schema(newer) if u64::from(SCHEMA) < *newer => write!(
                out,
                "its schema is {newer}, and this program knows schema {SCHEMA}; load it with a newer urlspool, or scan again with this one"
            ),
            UnsuitableRecord::Schema(older) => write!(
                out,
                "its schema is {older}, and this program knows schema {SCHEMA}; scan again with this urlspool"
            ),
            UnsuitableRecord::Missing(field) => write!(
                out,
                "the field `{field}` is missing; whole records are needed, as `urlspool scan` writes them without --fields and --slim"
            ),
        }
    }
}

#[cfg(test)]
mod tests;
