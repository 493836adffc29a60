//! Reads back the JSON lines that a loader needs: records of URLs, and removed messages.
//!
//! The field table defines which fields are read and which values they can have.

use std::fmt;
use std::sync::LazyLock;

use data_encoding::BASE64;
use memchr::memmem;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Unexpected, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::SCHEMA;
use super::fields::{Field, FieldId, FieldType, FieldValues, RECORD_FIELDS};
use super::owned::{Record, RecordValue};
use urlspool_text::hash::hash_pieces;

/// A line that a loader reads.
#[derive(Debug)]
pub enum RecordLine {
    /// The record of a URL.
    Url(Box<LoadedRecord>),
    /// Messages removed from their mailbox.
    Gone(GoneLine),
    /// A line of another type, such as an event.
    Other,
}

/// The loaded fields of a URL's record.
#[derive(Debug, PartialEq)]
pub struct LoadedRecord {
    /// One value per field; null for fields that are not loaded.
    values: [LoadedValue; FieldId::ALL.len()],
    /// Hash that identifies the file or member: of the bytes of its path and of the names of its
    /// members.
    pub source_key: u128,
    /// Hash that identifies the record: of `id` and `source_key`. Equal for all copies of the
    /// record.
    pub record_key: u128,
}

/// Value of a loaded field.
#[derive(Debug, PartialEq)]
pub enum LoadedValue {
    /// The field does not apply.
    Null,
    /// True or false.
    Boolean(bool),
    /// A non-negative number without a fraction.
    Integer(i64),
    /// A number with a fraction.
    Number(f64),
    /// A text without a NUL.
    Text(String),
    /// A list of texts, as JSON.
    Texts(Box<str>),
}

/// Parses a JSON list of texts. Empty if `json` is any other value.
#[must_use]
pub fn list_texts(json: &str) -> Vec<String> {
    serde_json::from_str(json).unwrap_or_default()
}

/// Messages permanently removed from their mailbox.
#[derive(Debug)]
pub struct GoneLine {
    /// Mailbox, as in `source.mailbox`.
    pub mailbox: String,
    /// Bytes of the mailbox if they are not UTF-8, as in `source.mailbox_b64`.
    pub mailbox_b64: Option<String>,
    /// Digests of the messages, as in `message.digest`.
    pub digests: Vec<String>,
}

/// Reason why a line cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineError {
    /// The line was not written by urlspool. Other lines can still be loaded.
    NoRecord(String),
    /// The line is a URL's record, but of another version or without a required field. Other lines
    /// will have the same problem.
    Unsuitable(String),
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LineError::NoRecord(reason) => write!(f, "not a record: {reason}"),
            LineError::Unsuitable(reason) => write!(f, "a record that cannot be loaded: {reason}"),
        }
    }
}

impl std::error::Error for LineError {}

/// Start of a written record: version and type.
const RECORD_START: &str = "{\"schema\":1,\"type\":\"url\",";

/// Maximum length of a digest in bytes, because database indexes cannot hold long texts. Our
/// digests have 32 bytes.
const DIGEST_BYTES: usize = 128;

/// Reads a line of JSON.
///
/// # Errors
///
/// Returns an error if the line is not JSON, was not written by urlspool, or is a record that
/// cannot be loaded.
pub fn read_record_line(line: &[u8]) -> Result<RecordLine, LineError> {
    // Checked once here rather than for each text.
    let line = std::str::from_utf8(line).map_err(|error| {
        LineError::NoRecord(format!("byte {} is not UTF-8", error.valid_up_to() + 1))
    })?;
    if line.starts_with(RECORD_START) {
        return read_url(line);
    }
    let object: Map<String, Value> =
        serde_json::from_str(line).map_err(|error| no_object(&error))?;
    match object.get("type") {
        Some(Value::String(line_type)) => match &**line_type {
            "url" => read_url(line),
            "gone" => read_gone(&object).map(RecordLine::Gone),
            _ => Ok(RecordLine::Other),
        },
        Some(value) if !value.is_null() => Err(invalid("type", "a text")),
        _ if ["id", "url", "schema"]
            .iter()
            .any(|name| object.contains_key(*name)) =>
        {
            read_url(line)
        }
        _ => Err(no_field("type")),
    }
}

fn read_gone(line: &Map<String, Value>) -> Result<GoneLine, LineError> {
    let mailbox = line.get("mailbox").ok_or_else(|| no_field("mailbox"))?;
    let digests = line.get("digests").ok_or_else(|| no_field("digests"))?;
    let texts = digests.as_array().filter(|digests| !digests.is_empty());
    let texts = texts.and_then(|digests| digests.iter().map(Value::as_str).collect());
    let texts =
        texts.filter(|texts: &Vec<_>| texts.iter().all(|it| is_digest(it) && !it.contains('\0')));
    let Some(digests) = texts else {
        let expected =
            format!("a list of at least one text, each of 1 to {DIGEST_BYTES} bytes without a NUL");
        return Err(invalid("digests", &expected));
    };
    Ok(GoneLine {
        mailbox: clean_text("mailbox", mailbox)?,
        mailbox_b64: match line.get("mailbox_b64") {
            None | Some(Value::Null) => None,
            Some(value) => Some(clean_text("mailbox_b64", value)?),
        },
        digests: digests.into_iter().map(str::to_owned).collect(),
    })
}

/// Reads a text without a NUL.
fn clean_text(field: &str, value: &Value) -> Result<String, LineError> {
    match value.as_str() {
        Some(text) if !text.contains('\0') => Ok(text.to_owned()),
        _ => Err(invalid(field, "a text without a NUL")),
    }
}

fn read_url(line: &str) -> Result<RecordLine, LineError> {
    let mut reading = Reading {
        record: Box::new(LoadedRecord::without_values()),
        needed: 0,
        has_read: 0,
        last: None,
        is_repeated: false,
    };
    let mut json = serde_json::Deserializer::from_str(line);
    let object = ObjectReader {
        members: &MEMBERS,
        may_be_null: false,
        reading: &mut reading,
    };
    let read = object.deserialize(&mut json).and_then(|()| json.end());
    let fault = match (read, reading.last) {
        (Ok(()), _) => None,
        (Err(error), None) => return Err(no_object(&error)),
        (Err(error), _) if !error.is_data() => return Err(no_object(&error)),
        (Err(_), Some(field)) if reading.is_repeated => {
            let name = field.key();
            Some(LineError::NoRecord(format!(
                "the field `{name}` is repeated"
            )))
        }
        (Err(_), Some(field)) => Some(invalid(field.name, expected(field))),
    };
    let mut record = reading.record;
    if let LoadedValue::Integer(schema) = record.value(FieldId::Schema)
        && *schema != i64::from(SCHEMA)
    {
        return Err(other_schema(*schema));
    }
    let missing = reading.needed & !reading.has_read;
    if let Some(fault) = fault {
        return Err(fault);
    } else if missing != 0 {
        let Field { name, .. } = &RECORD_FIELDS[missing.trailing_zeros() as usize];
        return Err(LineError::Unsuitable(format!(
            "the field `{name}` is missing; whole records are needed, as `urlspool scan` writes \
             them without --fields"
        )));
    }
    // Only a `\u` escape can produce a NUL.
    record.check_texts(memmem::find(line.as_bytes(), b"\\u").is_some())?;
    let list = record.text(record.member_field());
    let members = list.map_or(Ok(Vec::new()), serde_json::from_str::<Vec<String>>);
    let members = members.map_err(|_| {
        let field = record.member_field().field();
        invalid(field.name, expected(field))
    })?;
    record.set_keys(members.iter().map(String::as_str))?;
    Ok(RecordLine::Url(record))
}

fn other_schema(schema: i64) -> LineError {
    let advice = if i64::from(SCHEMA) < schema {
        "load it with a newer urlspool, or scan again with this one"
    } else {
        "scan again with this urlspool"
    };
    LineError::Unsuitable(format!(
        "its schema is {schema}, and this program knows schema {SCHEMA}; {advice}"
    ))
}

/// Members of an object, for looking up each name in a line.
struct Members {
    /// Members in written order.
    list: Vec<Member>,
    /// Bits of the required members.
    needed: u128,
}

/// A row of the field table.
struct Member {
    field: &'static Field,
    key: &'static str,
    id: Option<FieldId>,
    /// Bit at the row's index; 0 if the value is not read.
    bit: u128,
    /// Members of the value, if it is an object.
    members: Option<Members>,
}

/// Members of a record.
static MEMBERS: LazyLock<Members> = LazyLock::new(|| members_of(None));

/// Returns the members of the object with this name, or of the record if `None`. Recurses to the
/// depth of the table.
fn members_of(object: Option<&str>) -> Members {
    let mut members = Members {
        list: Vec::new(),
        needed: 0,
    };
    for (row, field) in RECORD_FIELDS.iter().enumerate() {
        if field.parent() != object {
            continue;
        }
        let bit = if is_read(field) { 1 << row } else { 0 };
        if !field.is_nullable {
            members.needed |= bit;
        }
        let is_object = field.json_type == FieldType::Object;
        members.list.push(Member {
            field,
            key: field.key(),
            id: field.id(),
            bit,
            members: is_object.then(|| members_of(Some(field.name))),
        });
    }
    members
}

/// Returns `true` if a field is loaded and its value is not constant.
fn is_read(field: &Field) -> bool {
    field.is_loaded && !matches!(field.values, FieldValues::Constant(_))
}

/// State of reading a record.
struct Reading {
    record: Box<LoadedRecord>,
    /// Bits of the required fields.
    needed: u128,
    has_read: u128,
    /// Last field encountered, among the fields that are read.
    last: Option<&'static Field>,
    /// `true` if `last` was already read before.
    is_repeated: bool,
}

/// Reads an object with these members into a record. Null, if allowed, leaves the record unchanged.
struct ObjectReader<'r> {
    members: &'static Members,
    may_be_null: bool,
    reading: &'r mut Reading,
}

impl<'de> DeserializeSeed<'de> for ObjectReader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ObjectReader<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        if self.may_be_null {
            Ok(())
        } else {
            Err(E::invalid_type(Unexpected::Unit, &self))
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let ObjectReader {
            members, reading, ..
        } = self;
        let list = &members.list;
        reading.needed |= members.needed;
        // Lines written by urlspool follow the order of the table.
        let mut next = 0;
        while let Some(found) = map.next_key_seed(MemberName { list, next })? {
            next = found.map_or(next, |place| place + 1);
            let member = found.map(|place| &list[place]);
            let Some(member) = member.filter(|member| member.bit != 0) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            reading.last = Some(member.field);
            if reading.has_read & member.bit != 0 {
                reading.is_repeated = true;
                return Err(A::Error::duplicate_field(member.key));
            }
            reading.has_read |= member.bit;
            match (member.id, &member.members) {
                (Some(id), _) => {
                    reading.record.values[id as usize] = read_value(member.field, &mut map)?;
                }
                (None, Some(members)) => map.next_value_seed(ObjectReader {
                    members,
                    may_be_null: member.field.is_nullable,
                    reading,
                })?,
                (None, None) => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Finds the index of a name among the members of an object. `next` is tried first.
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
        match self.list.get(self.next) {
            Some(member) if member.key == name => Ok(Some(self.next)),
            _ => Ok(self.list.iter().position(|member| member.key == name)),
        }
    }
}

/// Reads the value of a field. For texts, only the type is checked.
fn read_value<'de, A: MapAccess<'de>>(field: &Field, map: &mut A) -> Result<LoadedValue, A::Error> {
    fn of<'de, A: MapAccess<'de>, T: Deserialize<'de>>(
        field: &Field,
        map: &mut A,
        value: impl FnOnce(T) -> Option<LoadedValue>,
    ) -> Result<LoadedValue, A::Error> {
        let found = if field.is_nullable {
            map.next_value()?
        } else {
            Some(map.next_value()?)
        };
        match found {
            None => Ok(LoadedValue::Null),
            Some(found) => value(found).ok_or_else(|| A::Error::custom(expected(field))),
        }
    }
    match field.json_type {
        FieldType::Text => of(field, map, |text| Some(LoadedValue::Text(text))),
        FieldType::Integer => of(field, map, |number| {
            let max = if is_port(field) {
                u16::MAX.into()
            } else {
                i64::MAX
            };
            (0..=max)
                .contains(&number)
                .then_some(LoadedValue::Integer(number))
        }),
        FieldType::Number => of(field, map, |number| {
            (0.0..=1.0)
                .contains(&number)
                .then_some(LoadedValue::Number(number))
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

    /// Returns the text of a field, or the JSON of a list. `None` if it is null or has another
    /// type.
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

    /// Returns the bytes of the mailbox in base64 if they are not UTF-8.
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

    /// Returns the field that holds the member names without loss.
    fn member_field(&self) -> FieldId {
        match self.value(FieldId::SourceMemberBase64) {
            LoadedValue::Null => FieldId::SourceMember,
            _ => FieldId::SourceMemberBase64,
        }
    }

    /// Computes the hashes that identify the file or member and the record. `members` are the names
    /// in [`LoadedRecord::member_field`].
    fn set_keys<'m>(&mut self, members: impl Iterator<Item = &'m str>) -> Result<(), LineError> {
        let mut joined = Vec::new();
        match self.text(FieldId::SourcePathBase64) {
            Some(encoded) => {
                add_name(
                    &mut joined,
                    &from_base64(encoded, FieldId::SourcePathBase64)?,
                );
            }
            None => {
                let path = self.text(FieldId::SourcePath).unwrap_or_default();
                add_name(&mut joined, path.as_bytes());
            }
        }
        for name in members {
            match self.member_field() {
                FieldId::SourceMember => add_name(&mut joined, name.as_bytes()),
                encoded => add_name(&mut joined, &from_base64(name, encoded)?),
            }
        }
        self.source_key = hash_pieces(&[&joined]);
        let id = self.text(FieldId::Id).unwrap_or_default();
        self.record_key = hash_pieces(&[id.as_bytes(), &self.source_key.to_le_bytes()]);
        Ok(())
    }

    /// Returns a hash of `key`, for indexes that cannot hold long texts.
    #[must_use]
    pub fn key_hash(&self) -> Option<u128> {
        Some(hash_pieces(&[self.text(FieldId::Key)?.as_bytes()]))
    }

    /// Checks the texts that identify the record. If the line may have a NUL, also checks that no
    /// text contains one.
    fn check_texts(&self, may_have_nul: bool) -> Result<(), LineError> {
        for id in [FieldId::Id, FieldId::Url] {
            if self.text(id) == Some("") {
                return Err(invalid(id.name(), "a non-empty text"));
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

/// Loads the values of a record without going through its line. The result is the same.
impl From<&Record> for LoadedRecord {
    fn from(record: &Record) -> LoadedRecord {
        let mut loaded = LoadedRecord::without_values();
        for id in FieldId::ALL.iter().filter(|id| is_read(id.field())) {
            loaded.values[*id as usize] = match record.value(*id) {
                RecordValue::Null => LoadedValue::Null,
                RecordValue::Boolean(value) => LoadedValue::Boolean(*value),
                // Offsets are below 2^63.
                RecordValue::Integer(number) => LoadedValue::Integer(number.cast_signed()),
                RecordValue::Number(number) => LoadedValue::Number(*number),
                RecordValue::Text(text) => LoadedValue::Text(text.clone().into_owned()),
                RecordValue::List(_) => LoadedValue::Texts(record.json(*id).into()),
            };
        }
        let members = record.texts(loaded.member_field());
        loaded
            .set_keys(members)
            .expect("this crate wrote the base64");
        loaded
    }
}

/// Hashes a mailbox. `base64` holds its bytes if they are not UTF-8, to distinguish mailboxes whose
/// names look the same as text.
#[must_use]
pub fn mailbox_key(mailbox: &str, base64: Option<&str>) -> u128 {
    hash_pieces(&[
        mailbox.as_bytes(),
        b"\0",
        base64.unwrap_or_default().as_bytes(),
    ])
}

/// Appends a name, preceded by its length. Different lists of names then never produce the same
/// bytes.
fn add_name(joined: &mut Vec<u8>, name: &[u8]) {
    joined.extend_from_slice(&(name.len() as u64).to_le_bytes());
    joined.extend_from_slice(name);
}

fn from_base64(text: &str, field: FieldId) -> Result<Vec<u8>, LineError> {
    let decoded = BASE64.decode(text.as_bytes());
    decoded.map_err(|_| invalid(field.name(), "a text in base64"))
}

/// Returns `true` if the texts of a list are valid and contain no NUL. An escape may produce a NUL
/// or a lone surrogate.
fn is_clean_list(json: &str) -> bool {
    fn has_nul(value: &Value) -> bool {
        match value {
            Value::Object(members) => members.values().any(has_nul),
            value => value.as_str().is_some_and(|text| text.contains('\0')),
        }
    }
    serde_json::from_str::<Vec<Value>>(json).is_ok_and(|values| !values.iter().any(has_nul))
}

fn is_digest(text: &str) -> bool {
    (1..=DIGEST_BYTES).contains(&text.len())
}

/// Returns the error for a field with an unexpected value.
fn invalid(field: &str, expected: &str) -> LineError {
    LineError::NoRecord(format!("the field `{field}` must be {expected}"))
}

fn no_field(field: &str) -> LineError {
    LineError::NoRecord(format!("the field `{field}` is missing"))
}

/// Returns the error for a line that is not a JSON object.
fn no_object(error: &serde_json::Error) -> LineError {
    LineError::NoRecord(if error.is_data() {
        "it is not a JSON object".to_owned()
    } else {
        format!(
            "byte {} is not JSON; records are lines as `urlspool scan` writes them",
            error.column()
        )
    })
}

/// Describes the values that a field of this type can have.
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

fn is_port(field: &Field) -> bool {
    field.name == FieldId::Port.name()
}

#[cfg(test)]
mod tests;
