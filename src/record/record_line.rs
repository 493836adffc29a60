//! Lines of JSON, read back as far as a loader needs them: records of URLs, and messages that are gone.

use std::fmt;

use data_encoding::BASE64;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{SCHEMA, hash_pieces};

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
    schema: u32,
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

    /// Checks that it is a list, whose texts are texts. Only escapes can give a NUL, or half a pair of surrogates.
    fn check(&self) -> Result<(), LineError> {
        let json = self.json();
        if !json.starts_with('[') {
            return Err(LineError::NoRecord(format!("{json} is not a list")));
        }
        if !json.contains("\\u") {
            return Ok(());
        }
        let values: Vec<Value> = serde_json::from_str(json).map_err(|error| no_record(&error))?;
        let has_nul = |value: &Value| value.as_str().is_some_and(|text| text.contains('\0'));
        if values.iter().any(has_nul) {
            return Err(LineError::NoRecord(format!("{json} has a NUL")));
        }
        Ok(())
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

/// The reason why a line cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineError {
    /// It is no line that urlspool wrote. The others can be loaded.
    NoRecord(String),
    /// It is a record of a URL, but of another version, or without a field that is needed. Others will be like it.
    Unsuitable(String),
}

impl fmt::Display for LineError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LineError::NoRecord(reason) => write!(out, "no record: {reason}"),
            LineError::Unsuitable(reason) => write!(
                out,
                "a record that cannot be loaded: {reason}; whole records of schema {SCHEMA} are needed, as `urlspool scan` \
                 writes them without --fields and --slim"
            ),
        }
    }
}

impl std::error::Error for LineError {}

/// The fields by which the type of a line is recognized.
#[derive(Deserialize)]
struct LineHead {
    schema: Option<u32>,
    #[serde(rename = "type")]
    line_type: Option<String>,
    id: Option<IgnoredAny>,
    url: Option<IgnoredAny>,
}

/// The start of a record as it is written: the version and the type.
const RECORD_START: &str = "{\"schema\":1,\"type\":\"url\",";

/// Reads a line of JSON.
///
/// # Errors
///
/// The line is not JSON or no line of urlspool, or a record that cannot be loaded.
pub fn read_record_line(line: &[u8]) -> Result<RecordLine, LineError> {
    // Checked once, and not again for each text.
    let line = std::str::from_utf8(line)
        .map_err(|error| LineError::NoRecord(format!("it is not UTF-8: {error}")))?;
    if line.starts_with(RECORD_START) {
        return read_url(line);
    }
    let head: LineHead = serde_json::from_str(line).map_err(|error| no_record(&error))?;
    match head.line_type.as_deref() {
        Some("url") => read_url(line),
        Some("gone") => read_gone(line),
        Some(_) => Ok(RecordLine::Other),
        None if head.id.is_some() || head.url.is_some() || head.schema.is_some() => read_url(line),
        None => Err(LineError::NoRecord("it has no `type`".to_owned())),
    }
}

fn read_gone(line: &str) -> Result<RecordLine, LineError> {
    let gone: GoneLine = serde_json::from_str(line).map_err(|error| no_record(&error))?;
    let has_nul = |text: &String| text.contains('\0');
    if has_nul(&gone.mailbox) || gone.digests.iter().any(has_nul) {
        return Err(nul());
    }
    Ok(RecordLine::Gone(gone))
}

fn read_url(line: &str) -> Result<RecordLine, LineError> {
    let record: UrlLine = serde_json::from_str(line).map_err(|error| {
        match serde_json::from_str::<LineHead>(line).map(|head| head.schema) {
            Ok(Some(schema)) if schema != SCHEMA => other_schema(schema),
            // The library has no kind of its own for it.
            _ if error.to_string().starts_with("missing field `") => {
                LineError::Unsuitable(plain(&error))
            }
            _ => no_record(&error),
        }
    })?;
    if record.schema != SCHEMA {
        return Err(other_schema(record.schema));
    }
    record.check()?;
    // Only an escape can give one.
    if line.contains("\\u0000") {
        record.check_texts()?;
    }
    Ok(RecordLine::Url(Box::new(record)))
}

fn other_schema(schema: u32) -> LineError {
    LineError::Unsuitable(format!("its schema is {schema}"))
}

/// The error of a text with a NUL, which `PostgreSQL` refuses.
fn nul() -> LineError {
    LineError::NoRecord("a text has a NUL".to_owned())
}

fn no_record(error: &serde_json::Error) -> LineError {
    LineError::NoRecord(plain(error))
}

/// The text of an error, without the line number, which is always 1.
fn plain(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at byte ")
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
            Some(encoded) => from_base64(encoded),
            None => Ok(self.path.as_bytes().to_owned()),
        }
    }

    fn member_bytes(&self) -> Result<Vec<Vec<u8>>, LineError> {
        match (&self.member_b64, &self.member) {
            (Some(encoded), _) => names(encoded)?
                .iter()
                .map(|name| from_base64(name))
                .collect(),
            (None, Some(list)) => Ok(names(list)?.into_iter().map(String::into_bytes).collect()),
            (None, None) => Ok(Vec::new()),
        }
    }
}

/// Appends a name after its length, so that no two lists of names are the same bytes.
fn add_name(joined: &mut Vec<u8>, name: &[u8]) {
    joined.extend_from_slice(&(name.len() as u64).to_le_bytes());
    joined.extend_from_slice(name);
}

fn names(list: &JsonList) -> Result<Vec<String>, LineError> {
    serde_json::from_str(list.json()).map_err(|error| no_record(&error))
}

fn from_base64(text: &str) -> Result<Vec<u8>, LineError> {
    let decoded = BASE64.decode(text.as_bytes());
    decoded.map_err(|_| LineError::NoRecord(format!("{text:?} is not base64")))
}

/// Maximum length of a digest, in bytes: no index of a database takes long texts. Ours have 32.
const DIGEST_BYTES: usize = 128;

impl UrlLine {
    /// Checks what the types of the fields do not say, and databases refuse.
    fn check(&self) -> Result<(), LineError> {
        let len = self.message.digest.len();
        if DIGEST_BYTES < len {
            return Err(LineError::NoRecord(format!("its digest has {len} bytes")));
        }
        let lists = [
            &self.conforms,
            &self.warnings,
            &self.hazards,
            &self.repairs,
            &self.message.newsgroups,
            &self.message.references,
        ];
        let members = [&self.source.member, &self.source.member_b64];
        let members = members.into_iter().filter_map(Option::as_ref);
        lists
            .into_iter()
            .chain(members)
            .try_for_each(JsonList::check)
    }

    /// Checks that no text has a NUL.
    fn check_texts(&self) -> Result<(), LineError> {
        let mut texts = self.texts().into_iter().flatten();
        if texts.any(|text| text.contains('\0')) {
            return Err(nul());
        }
        Ok(())
    }

    /// The fields that are texts.
    fn texts(&self) -> [Option<&str>; 25] {
        let (source, message) = (&self.source, &self.message);
        [
            Some(&*self.id),
            Some(&*self.url),
            Some(&*self.scheme),
            Some(&*self.wrapper),
            Some(&*self.region),
            Some(&*source.path),
            Some(&*source.mailbox),
            Some(&*source.kind),
            Some(&*message.digest),
            self.fragment.as_deref(),
            self.host.as_deref(),
            self.domain.as_deref(),
            self.key.as_deref(),
            self.href.as_deref(),
            self.form.as_deref(),
            self.anchor.as_deref(),
            self.unwrapped_from.as_deref(),
            self.unwrapped_by.as_deref(),
            source.path_b64.as_deref(),
            message.id.as_deref(),
            message.date.as_deref(),
            message.date_raw.as_deref(),
            message.from.as_deref(),
            message.subject.as_deref(),
            message.list_id.as_deref(),
        ]
    }

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
