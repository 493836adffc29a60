//! Lines of JSON, read back as far as a loader needs them: records of URLs, and messages that are
//! gone.
//!
//! The table of the fields says which are read, and which values they can have.

use std::fmt;
use std::sync::LazyLock;

use data_encoding::BASE64;
use memchr::memmem;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::SCHEMA;
#[cfg(feature = "load")]
use super::fields::fields_of;
use super::fields::{Field, FieldId, FieldType, FieldValues, GONE_FIELDS, Nullable, RECORD_FIELDS};
#[cfg(feature = "load")]
use super::json_text::push_escaped;
#[cfg(feature = "load")]
use super::owned::{Record, RecordItems, RecordValue};
use crate::diagnostic::shortened;
use crate::hash::hash_pieces;
use crate::limits::MESSAGE_VALUE_CHARS;

/// A line that a loader reads.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordLine {
    /// The record of a URL.
    Url(Box<LoadedRecord>),
    /// Messages that are gone from their mailbox.
    Gone(GoneLine),
    /// A line of another type, such as an event.
    Other,
}

/// The record of a URL, as far as it is loaded.
#[derive(Debug, PartialEq)]
pub struct LoadedRecord {
    /// One for each field; null for those that are not loaded.
    values: [LoadedValue; FieldId::ALL.len()],
    /// The hash that names the file or member: of its path and the names of its members, as bytes.
    pub source_key: u128,
    /// The hash that names the record: of `id` and of the file or member. It is the same for each
    /// copy of the record.
    pub record_key: u128,
}

/// The value of a field that is loaded.
#[derive(Debug, PartialEq)]
pub enum LoadedValue {
    /// The field does not apply.
    Null,
    /// True or false.
    Boolean(bool),
    /// A number without a fraction, which is not negative.
    Integer(i64),
    /// A number with a fraction.
    Number(f64),
    /// A text without a NUL.
    Text(String),
    /// A list of texts, as the text of its JSON.
    Texts(Box<str>),
}

/// Returns the texts of a list of texts, given its JSON; none if it is another value.
#[must_use]
pub fn list_texts(json: &str) -> Vec<String> {
    if json == "[]" {
        return Vec::new();
    }
    serde_json::from_str(json).unwrap_or_default()
}

/// Messages that are gone from their mailbox for good.
#[derive(Debug, Deserialize)]
#[non_exhaustive]
pub struct GoneLine {
    /// The mailbox, as `source.mailbox` has it.
    pub mailbox: String,
    /// Its bytes if they are not UTF-8, as `source.mailbox_b64` has them.
    pub mailbox_b64: Option<String>,
    /// The digests of the messages, as `message.digest` has them.
    pub digests: Vec<String>,
}

/// The reason why a line cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineError {
    /// It is no line that urlspool wrote. The others can be loaded.
    NoRecord(String),
    /// It is a record of a URL, but of another version, or without a field that is needed. Others
    /// will be like it.
    Unsuitable(String),
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LineError::NoRecord(reason) => write!(f, "no record: {reason}"),
            LineError::Unsuitable(reason) => write!(f, "a record that cannot be loaded: {reason}"),
        }
    }
}

impl std::error::Error for LineError {}

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

/// Maximum length of a digest, in bytes: no index of a database takes long texts. Ours have 32.
const DIGEST_BYTES: usize = 128;

/// Reads a line of JSON.
///
/// # Errors
///
/// The line is not JSON or no line of urlspool, or a record that cannot be loaded.
pub fn read_record_line(line: &[u8]) -> Result<RecordLine, LineError> {
    // Checked once, and not again for each text.
    let line = std::str::from_utf8(line).map_err(|error| {
        LineError::NoRecord(format!("byte {} is not UTF-8", error.valid_up_to() + 1))
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
        None => Err(no_field("type")),
    }
}

fn read_head(line: &str) -> Result<LineHead, LineError> {
    serde_json::from_str(line).map_err(|error| {
        let is_of_head = |field: &&Field| HEAD_FIELDS.contains(&field.name);
        let fields = RECORD_FIELDS.iter().filter(is_of_head);
        diagnose(line, fields, &error, |_| no_field("type"))
    })
}

fn read_gone(line: &str) -> Result<RecordLine, LineError> {
    let gone: GoneLine = serde_json::from_str(line)
        .map_err(|error| diagnose(line, GONE_FIELDS, &error, no_field))?;
    for (name, text) in [
        ("mailbox", Some(&gone.mailbox)),
        ("mailbox_b64", gone.mailbox_b64.as_ref()),
    ] {
        if text.is_some_and(|text| text.contains('\0')) {
            return Err(invalid(name, "a text without a NUL"));
        }
    }
    let is_right = |digest: &String| is_digest(digest) && !digest.contains('\0');
    let are_right = !gone.digests.is_empty() && gone.digests.iter().all(is_right);
    if !are_right {
        return Err(invalid_digests());
    }
    Ok(RecordLine::Gone(gone))
}

fn read_url(line: &str) -> Result<RecordLine, LineError> {
    let mut record = Box::new(LoadedRecord::without_values());
    let mut json = serde_json::Deserializer::from_str(line);
    let object = ObjectReader {
        members: &MEMBERS,
        record: &mut record,
    };
    let read = object.deserialize(&mut json).and_then(|()| json.end());
    read.map_err(|error| {
        match read_head(line).map(|head| head.schema) {
            Err(error) => return error,
            Ok(Some(schema)) if schema != u64::from(SCHEMA) => return other_schema(schema),
            Ok(_) => {}
        }
        diagnose(line, RECORD_FIELDS, &error, |field| {
            LineError::Unsuitable(format!(
                "the field `{field}` is missing; whole records are needed, as `urlspool scan` writes them without --fields and --slim"
            ))
        })
    })?;
    if let LoadedValue::Integer(schema) = record.value(FieldId::Schema)
        && *schema != i64::from(SCHEMA)
    {
        return Err(other_schema(schema.cast_unsigned()));
    }
    // Only an escape of four digits can give a NUL.
    record.check_texts(memmem::find(line.as_bytes(), b"\\u").is_some())?;
    record.set_keys(record.hash_of_names()?);
    Ok(RecordLine::Url(record))
}

fn other_schema(schema: u64) -> LineError {
    let advice = if u64::from(SCHEMA) < schema {
        "load it with a newer urlspool, or scan again with this one"
    } else {
        "scan again with this urlspool"
    };
    LineError::Unsuitable(format!(
        "its schema is {schema}, and this program knows schema {SCHEMA}; {advice}"
    ))
}

/// The members of an object, as they are looked up for each name in a line.
struct Members {
    /// The members, in the order in which they are written.
    list: Vec<Member>,
    /// The bits of those that a record must have.
    needed: u64,
}

/// A row of the table of the fields.
struct Member {
    field: &'static Field,
    key: &'static str,
    id: Option<FieldId>,
    /// A bit of its own within its object; 0 if its value is not read.
    bit: u64,
    /// The members of its value, if that is an object.
    members: Option<Members>,
}

/// The members of a record.
static MEMBERS: LazyLock<Members> = LazyLock::new(|| members_of(None));

/// Returns the members of the object of this name, or of the record itself. Recurses to the depth
/// of the table.
fn members_of(object: Option<&str>) -> Members {
    let fields = RECORD_FIELDS
        .iter()
        .filter(|field| field.parent() == object);
    let member = |(place, field): (usize, &'static Field)| Member {
        field,
        key: field.key(),
        id: field.id(),
        bit: if is_read(field) { 1 << place } else { 0 },
        members: (field.json_type == FieldType::Object).then(|| members_of(Some(field.name))),
    };
    let list: Vec<Member> = fields.enumerate().map(member).collect();
    let needed = list
        .iter()
        .filter(|member| member.field.nullable == Nullable::No);
    let needed = needed.fold(0, |bits, member| bits | member.bit);
    Members { list, needed }
}

/// Returns `true` if the value of a field is loaded, and is not the same in each record.
fn is_read(field: &Field) -> bool {
    field.is_loaded && !matches!(field.values, FieldValues::Constant(_))
}

/// Reads an object with these members into a record.
struct ObjectReader<'r> {
    members: &'static Members,
    record: &'r mut LoadedRecord,
}

impl<'de> DeserializeSeed<'de> for ObjectReader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ObjectReader<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Members { list, needed } = self.members;
        let mut has_read = 0;
        // Lines that we wrote have the order of the table.
        let mut next = 0;
        while let Some(found) = map.next_key_seed(MemberName { list, next })? {
            next = found.map_or(next, |place| place + 1);
            let member = found.map(|place| &list[place]);
            let Some(member) = member.filter(|member| member.bit != 0) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if has_read & member.bit != 0 {
                return Err(A::Error::duplicate_field(member.key));
            }
            has_read |= member.bit;
            match (member.id, &member.members) {
                (Some(id), _) => {
                    self.record.values[id as usize] = read_value(member.field, &mut map)?;
                }
                (None, Some(members)) => {
                    let object = ObjectReader {
                        members,
                        record: self.record,
                    };
                    match member.field.nullable {
                        Nullable::No => map.next_value_seed(object)?,
                        Nullable::Yes => map.next_value_seed(NullableObject(object))?,
                    }
                }
                (None, None) => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let missing = needed & !has_read;
        if missing == 0 {
            return Ok(());
        }
        let first = &list[missing.trailing_zeros() as usize];
        Err(A::Error::missing_field(first.key))
    }
}

/// Reads an object, or null, which leaves the record as it is.
struct NullableObject<'r>(ObjectReader<'r>);

impl<'de> DeserializeSeed<'de> for NullableObject<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for NullableObject<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object or null")
    }

    fn visit_none<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        self.0.deserialize(json)
    }
}

/// Finds the place of a name among the members of an object, and looks at `next` first.
struct MemberName {
    list: &'static [Member],
    next: usize,
}

impl<'de> DeserializeSeed<'de> for MemberName {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Option<usize>, D::Error> {
        json.deserialize_identifier(self)
    }
}

impl Visitor<'_> for MemberName {
    type Value = Option<usize>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Option<usize>, E> {
        let is_it = |member: &Member| member.key == name;
        Ok(match self.list.get(self.next) {
            Some(member) if is_it(member) => Some(self.next),
            _ => self.list.iter().position(is_it),
        })
    }
}

/// Reads the value of a field. Of texts only the type is checked.
fn read_value<'de, A: MapAccess<'de>>(field: &Field, map: &mut A) -> Result<LoadedValue, A::Error> {
    fn of<'de, A: MapAccess<'de>, T: Deserialize<'de>>(
        field: &Field,
        map: &mut A,
        value: impl FnOnce(T) -> Option<LoadedValue>,
    ) -> Result<LoadedValue, A::Error> {
        let found = match field.nullable {
            Nullable::No => Some(map.next_value()?),
            Nullable::Yes => map.next_value()?,
        };
        match found {
            None => Ok(LoadedValue::Null),
            Some(found) => value(found).ok_or_else(|| A::Error::custom(expected(field))),
        }
    }
    match field.json_type {
        FieldType::Text => of(field, map, |text| Some(LoadedValue::Text(text))),
        FieldType::Integer => of(field, map, |number| {
            let is_right = (0..=max_integer(field)).contains(&number);
            is_right.then_some(LoadedValue::Integer(number))
        }),
        FieldType::Number => of(field, map, |number| {
            let is_right = (0.0..=1.0).contains(&number);
            is_right.then_some(LoadedValue::Number(number))
        }),
        FieldType::Boolean => of(field, map, |value| Some(LoadedValue::Boolean(value))),
        FieldType::Texts | FieldType::Object | FieldType::List => {
            of(field, map, |list: Box<RawValue>| {
                let is_list = list.get().starts_with('[');
                is_list.then(|| LoadedValue::Texts(list.into()))
            })
        }
    }
}

impl LoadedRecord {
    fn without_values() -> LoadedRecord {
        LoadedRecord {
            values: [const { LoadedValue::Null }; FieldId::ALL.len()],
            source_key: 0,
            record_key: 0,
        }
    }

    /// Returns the value of a field; null if it is not loaded.
    #[must_use]
    pub fn value(&self, field: FieldId) -> &LoadedValue {
        &self.values[field as usize]
    }

    /// Returns the text of a field; `None` if it is null, or has another type. Of a list it is the
    /// JSON.
    #[must_use]
    pub fn text(&self, field: FieldId) -> Option<&str> {
        match self.value(field) {
            LoadedValue::Text(text) => Some(text),
            LoadedValue::Texts(list) => Some(list),
            _ => None,
        }
    }

    /// Returns the mailbox of the message.
    #[must_use]
    pub fn mailbox(&self) -> &str {
        self.text(FieldId::SourceMailbox).unwrap_or_default()
    }

    /// Returns the bytes of the mailbox in base64, if they are not UTF-8.
    #[must_use]
    pub fn mailbox_b64(&self) -> Option<&str> {
        self.text(FieldId::SourceMailboxBase64)
    }

    /// Returns a hash of the mailbox's bytes.
    #[must_use]
    pub fn mailbox_key(&self) -> u128 {
        mailbox_key(self.mailbox(), self.mailbox_b64())
    }

    /// Returns the digest of the message.
    #[must_use]
    pub fn digest(&self) -> &str {
        self.text(FieldId::MessageDigest).unwrap_or_default()
    }

    /// Returns the hash of the path and of the names of the members. A list of names may have
    /// another form than texts.
    fn hash_of_names(&self) -> Result<u128, LineError> {
        let path = match self.text(FieldId::SourcePathBase64) {
            Some(encoded) => from_base64(encoded, FieldId::SourcePathBase64)?,
            None => self
                .text(FieldId::SourcePath)
                .unwrap_or_default()
                .as_bytes()
                .to_owned(),
        };
        Ok(hash_of_names(&path, self.member_bytes()?))
    }

    fn set_keys(&mut self, source_key: u128) {
        self.source_key = source_key;
        let id = self.text(FieldId::Id).unwrap_or_default();
        self.record_key = hash_pieces(&[id.as_bytes(), &source_key.to_le_bytes()]);
    }

    fn member_bytes(&self) -> Result<Vec<Vec<u8>>, LineError> {
        let encoded = FieldId::SourceMemberBase64;
        if self.text(encoded).is_some() {
            let names = self.names(encoded)?;
            return names
                .iter()
                .map(|name| from_base64(name, encoded))
                .collect();
        }
        let names = self.names(FieldId::SourceMember)?;
        Ok(names.into_iter().map(String::into_bytes).collect())
    }

    /// The texts of a list; none if it is null.
    fn names(&self, field: FieldId) -> Result<Vec<String>, LineError> {
        let Some(list) = self.text(field) else {
            return Ok(Vec::new());
        };
        serde_json::from_str(list).map_err(|_| invalid(field.name(), expected(field.field())))
    }

    /// Returns a hash of `key`, for indexes that cannot hold long texts.
    #[must_use]
    pub fn key_hash(&self) -> Option<u128> {
        let key = self.text(FieldId::Key)?;
        Some(hash_pieces(&[key.as_bytes()]))
    }

    /// Checks the texts that name the record, and that no text has a NUL if the line may have one.
    fn check_texts(&self, may_have_nul: bool) -> Result<(), LineError> {
        for id in [FieldId::Id, FieldId::Url] {
            if self.text(id) == Some("") {
                return Err(invalid(id.name(), "a text that is not empty"));
            }
        }
        if !is_digest(self.digest()) {
            let expected = format!("a text of 1 to {DIGEST_BYTES} bytes");
            return Err(invalid(FieldId::MessageDigest.name(), &expected));
        }
        if !may_have_nul {
            return Ok(());
        }
        for (id, value) in FieldId::ALL.iter().zip(&self.values) {
            match value {
                LoadedValue::Text(text) if text.contains('\0') => {
                    return Err(invalid(id.name(), "a text without a NUL"));
                }
                LoadedValue::Texts(list) if !is_clean_list(list) => {
                    return Err(invalid(id.name(), expected(id.field())));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Takes the loaded values of a record of this process, which are those that its line would give.
#[cfg(feature = "load")]
impl From<&Record> for LoadedRecord {
    fn from(record: &Record) -> LoadedRecord {
        let mut loaded = LoadedRecord::without_values();
        for id in FieldId::ALL.iter().filter(|id| is_read(id.field())) {
            loaded.values[*id as usize] = match record.value(*id) {
                RecordValue::Null => LoadedValue::Null,
                RecordValue::Boolean(value) => LoadedValue::Boolean(value),
                // Offsets are below 2^63.
                RecordValue::Integer(number) => LoadedValue::Integer(number.cast_signed()),
                RecordValue::Number(number) => LoadedValue::Number(number),
                RecordValue::Text(text) => LoadedValue::Text(text.to_owned()),
                RecordValue::List(items) if id.field().json_type == FieldType::List => {
                    LoadedValue::Texts(json_objects(*id, items))
                }
                RecordValue::List(_) => LoadedValue::Texts(json_list(record.texts(*id))),
            };
        }
        let decoded = |text: &str| BASE64.decode(text.as_bytes()).unwrap_or_default();
        let path = match record.text(FieldId::SourcePathBase64) {
            Some(encoded) => decoded(encoded),
            None => record.path().as_bytes().to_owned(),
        };
        let members: Vec<_> = if record.value(FieldId::SourceMemberBase64) == RecordValue::Null {
            let names = record.texts(FieldId::SourceMember);
            names.map(|name| name.as_bytes().to_owned()).collect()
        } else {
            record
                .texts(FieldId::SourceMemberBase64)
                .map(decoded)
                .collect()
        };
        loaded.set_keys(hash_of_names(&path, members));
        loaded
    }
}

/// Returns a list of texts as JSON.
#[cfg(feature = "load")]
pub(crate) fn json_list<'t>(texts: impl Iterator<Item = &'t str>) -> Box<str> {
    let mut json = "[".to_owned();
    for (index, text) in texts.enumerate() {
        if 0 < index {
            json.push(',');
        }
        push_escaped(text, &mut json);
    }
    json.push(']');
    json.into()
}

/// Returns a list of objects, whose fields are texts, as JSON.
#[cfg(feature = "load")]
fn json_objects(list: FieldId, mut items: RecordItems<'_>) -> Box<str> {
    let keys: Vec<_> = fields_of(RECORD_FIELDS, Some(list.name()))
        .map(Field::key)
        .collect();
    let mut json = "[".to_owned();
    while let Some(first) = items.next() {
        let values = std::iter::once(first).chain(items.by_ref());
        for (index, (key, value)) in keys.iter().zip(values).enumerate() {
            let before = match (index, json.len()) {
                (0, 1) => "{",
                (0, _) => ",{",
                _ => ",",
            };
            json.push_str(before);
            push_escaped(key, &mut json);
            json.push(':');
            match value {
                RecordValue::Text(text) => push_escaped(text, &mut json),
                _ => json.push_str("null"),
            }
        }
        json.push('}');
    }
    json.push(']');
    json.into()
}

/// Returns the hash that names a file or member.
fn hash_of_names(path: &[u8], members: Vec<Vec<u8>>) -> u128 {
    let mut joined = Vec::new();
    add_name(&mut joined, path);
    for name in members {
        add_name(&mut joined, &name);
    }
    hash_pieces(&[&joined])
}

/// Returns a hash that differs between mailboxes whose names look alike: `base64` has the bytes of one that is not UTF-8.
pub(crate) fn mailbox_key(mailbox: &str, base64: Option<&str>) -> u128 {
    hash_pieces(&[
        mailbox.as_bytes(),
        b"\0",
        base64.unwrap_or_default().as_bytes(),
    ])
}

/// Appends a name after its length, so that no two lists of names are the same bytes.
fn add_name(joined: &mut Vec<u8>, name: &[u8]) {
    joined.extend_from_slice(&(name.len() as u64).to_le_bytes());
    joined.extend_from_slice(name);
}

fn from_base64(text: &str, field: FieldId) -> Result<Vec<u8>, LineError> {
    let decoded = BASE64.decode(text.as_bytes());
    decoded.map_err(|_| invalid(field.name(), "a text in base64"))
}

/// Returns `true` if the texts of a list are texts without a NUL. An escape may give a NUL, or half
/// a pair of surrogates.
fn is_clean_list(json: &str) -> bool {
    let is_nul = |value: &Value| value.as_str().is_some_and(|text| text.contains('\0'));
    let has_nul = |value: &Value| match value {
        Value::Object(members) => members.values().any(is_nul),
        value => is_nul(value),
    };
    serde_json::from_str::<Vec<Value>>(json).is_ok_and(|values| !values.iter().any(has_nul))
}

fn is_digest(text: &str) -> bool {
    (1..=DIGEST_BYTES).contains(&text.len())
}

/// The error of a field whose value is not as expected.
fn invalid(field: &str, expected: &str) -> LineError {
    LineError::NoRecord(format!("the field `{field}` must be {expected}"))
}

fn invalid_digests() -> LineError {
    let expected =
        format!("a list of at least one text, each of 1 to {DIGEST_BYTES} bytes without a NUL");
    invalid("digests", &expected)
}

fn no_field(field: &str) -> LineError {
    LineError::NoRecord(format!("the field `{field}` is missing"))
}

/// The reason why `line` was refused with `error`, as a line that has these fields.
fn diagnose<'t>(
    line: &str,
    fields: impl IntoIterator<Item = &'t Field, IntoIter: Clone>,
    error: &serde_json::Error,
    missing: impl Fn(&str) -> LineError,
) -> LineError {
    let value: Option<Value> = serde_json::from_str(line).ok();
    if value.as_ref().is_some_and(|value| !value.is_object()) {
        return LineError::NoRecord("it is no JSON object".to_owned());
    }
    let loaded = fields.into_iter().filter(|field| field.is_loaded);
    if let Some(value) = &value {
        if let Some(field) = loaded.clone().find(|field| is_invalid(value, field)) {
            return match field.name {
                "digests" => invalid_digests(),
                name => invalid(name, expected(field)),
            };
        }
        if let Some(field) = loaded.clone().find(|field| is_missing(value, field)) {
            return missing(field.name);
        }
        if let Some(name) = duplicate(error) {
            let name = shortened(&name, MESSAGE_VALUE_CHARS);
            return LineError::NoRecord(format!("the field `{name}` stands in it twice"));
        }
    }
    LineError::NoRecord(format!(
        "byte {} is not JSON; records are lines as `urlspool scan` writes them",
        error.column()
    ))
}

/// The value of a field; `None` if the field or the object that holds it is missing.
fn value_of<'v>(line: &'v Value, field: &Field) -> Option<&'v Value> {
    field
        .name
        .split('.')
        .try_fold(line, |value, key| value.get(key))
}

/// Returns `true` if a field that a record must have is missing. Those of an object that may be null
/// are needed only if the object is there.
fn is_missing(line: &Value, field: &Field) -> bool {
    let is_needed = || {
        let id = field.id();
        let holder = field.parent().and_then(|parent| line.get(parent));
        id.is_none_or(|id| !id.is_optional()) || holder.is_some_and(Value::is_object)
    };
    field.nullable == Nullable::No && value_of(line, field).is_none() && is_needed()
}

fn is_invalid(line: &Value, field: &Field) -> bool {
    match value_of(line, field) {
        None => false,
        Some(Value::Null) => field.nullable == Nullable::No,
        Some(value) => !is_expected(value, field),
    }
}

/// The values that a field can have, as far as its type goes, in words.
fn expected(field: &Field) -> &'static str {
    match field.json_type {
        FieldType::Text => "a text",
        FieldType::Integer if is_port(field) => "a whole number from 0 to 65535",
        FieldType::Integer => "a whole number that is not negative",
        FieldType::Number => "a number from 0 to 1",
        FieldType::Boolean => "true or false",
        FieldType::Texts => "a list of texts without a NUL",
        FieldType::Object => "an object",
        FieldType::List => "a list",
    }
}

fn is_expected(value: &Value, field: &Field) -> bool {
    match field.json_type {
        FieldType::Text => value.is_string(),
        FieldType::Integer => value
            .as_i64()
            .is_some_and(|number| (0..=max_integer(field)).contains(&number)),
        FieldType::Number => value
            .as_f64()
            .is_some_and(|number| (0.0..=1.0).contains(&number)),
        FieldType::Boolean => value.is_boolean(),
        FieldType::Texts => value
            .as_array()
            .is_some_and(|items| items.iter().all(Value::is_string)),
        FieldType::Object => value.is_object(),
        FieldType::List => value.is_array(),
    }
}

/// The largest value of a field of whole numbers.
fn max_integer(field: &Field) -> i64 {
    if is_port(field) {
        u16::MAX.into()
    } else {
        i64::MAX
    }
}

fn is_port(field: &Field) -> bool {
    field.name == FieldId::Port.name()
}

/// The name of a field that stands twice in an object. The library has no kind of its own for it.
fn duplicate(error: &serde_json::Error) -> Option<String> {
    let text = error.to_string();
    let name = text.strip_prefix("duplicate field `")?;
    name.split_once('`').map(|(name, _)| name.to_owned())
}

#[cfg(test)]
mod tests;
