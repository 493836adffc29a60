//! The record as a value of its own, which iterators, columns and dictionaries are made from.
//!
//! Nothing in it is encoded. The fields are those of `fields.rs`, and their values come from
//! `value.rs`, as those of lines do.

use std::ops::Range;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use serde::{Serialize, Serializer};

use super::cache::UrlCache;
use super::fields::{Field, FieldId, FieldScope, FieldType, RECORD_FIELDS, fields_of};
use super::json_text::text;
use super::parts::Parts;
use super::value::{RecordValues, ValueSink, rounded};
use crate::decode::NamedField;
use crate::parse::Alternate;

/// A URL that was found, with its place and its message.
///
/// It has the fields that `docs/record.md` describes. Those that most programs use have a method of
/// their own; [`Record::value`] returns the value of any field. It serializes as the line of JSON
/// that `urlspool scan` writes.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    own: Values,
    /// Values that depend on the URL alone, shared with other records of the URL.
    url: Arc<Values>,
    /// Values that depend on the message, shared with its other records.
    message: Arc<Values>,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RecordValue<'r> {
    /// The field does not apply, or was not chosen.
    Null,
    /// True or false.
    Boolean(bool),
    /// A number without a fraction.
    Integer(u64),
    /// A number with a fraction.
    Number(f64),
    /// A text.
    Text(&'r str),
    /// The items of a list. Of a list of objects, the values of the first item's fields, in the
    /// order of the table, then those of the second, and so on.
    List(RecordItems<'r>),
}

/// Iterator over the values in a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordItems<'r> {
    stored: &'r [Stored],
    text: &'r str,
}

impl Record {
    /// Returns the value of a field.
    #[must_use]
    pub fn value(&self, field: FieldId) -> RecordValue<'_> {
        let Place { scope, index } = PLACES[field as usize];
        let values = match scope {
            FieldScope::Record => &self.own,
            FieldScope::Url => &*self.url,
            FieldScope::Message => &*self.message,
        };
        values.stored[index].value(&values.items, &values.text)
    }

    /// Returns the text of a field; `None` if it is null, or has another type.
    #[must_use]
    pub fn text(&self, field: FieldId) -> Option<&str> {
        match self.value(field) {
            RecordValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the number in a field; `None` if it is null, or has another type.
    #[must_use]
    pub fn integer(&self, field: FieldId) -> Option<u64> {
        match self.value(field) {
            RecordValue::Integer(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the texts in a list of texts; none for a field of another type.
    pub fn texts(&self, field: FieldId) -> impl Iterator<Item = &str> {
        let items = match self.value(field) {
            RecordValue::List(items) => items,
            _ => RecordItems::default(),
        };
        items.filter_map(|item| match item {
            RecordValue::Text(text) => Some(text),
            _ => None,
        })
    }

    /// The name of the URL in its message: 32 hexadecimal digits, the same on every run and machine.
    #[must_use]
    pub fn id(&self) -> &str {
        self.text(FieldId::Id).unwrap_or_default()
    }

    /// The URL without its fragment, as its author meant it.
    #[must_use]
    pub fn url(&self) -> &str {
        self.text(FieldId::Url).unwrap_or_default()
    }

    /// The fragment without its `#`.
    #[must_use]
    pub fn fragment(&self) -> Option<&str> {
        self.text(FieldId::Fragment)
    }

    /// The scheme in lower case.
    #[must_use]
    pub fn scheme(&self) -> &str {
        self.text(FieldId::Scheme).unwrap_or_default()
    }

    /// The host in lower case, non-ASCII names as A-labels; `None` without an authority.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        self.text(FieldId::Host)
    }

    /// The form for comparing (RFC 1738 sections 2.1 and 2.2); `None` if the URL is truncated.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.text(FieldId::Key)
    }

    /// The address that a browser would fetch.
    #[must_use]
    pub fn href(&self) -> Option<&str> {
        self.text(FieldId::Href)
    }

    /// The probability that this reading is right, from 0 to 1.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        match self.value(FieldId::Confidence) {
            RecordValue::Number(confidence) => confidence,
            _ => 0.0,
        }
    }

    /// The place in the message: `header:NAME`, `body`, `html:a.href` and so on.
    #[must_use]
    pub fn region(&self) -> &str {
        self.text(FieldId::Region).unwrap_or_default()
    }

    /// The path of the file, as it was given and walked. Bytes that are not UTF-8 are U+FFFD.
    #[must_use]
    pub fn path(&self) -> &str {
        self.text(FieldId::SourcePath).unwrap_or_default()
    }

    /// The bytes that hold the URL, in the decompressed file or member.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        let offset = |field| self.integer(field).unwrap_or_default();
        offset(FieldId::SourceStart)..offset(FieldId::SourceEnd)
    }

    /// The Message-ID of the message with its brackets.
    #[must_use]
    pub fn message_id(&self) -> Option<&str> {
        self.text(FieldId::MessageId)
    }

    /// The date of the message in UTC (RFC 3339).
    #[must_use]
    pub fn message_date(&self) -> Option<&str> {
        self.text(FieldId::MessageDate)
    }

    /// Returns `true` if an object is null, whose null mark is `mark`.
    #[must_use]
    pub fn is_null_object(&self, mark: Option<FieldId>) -> bool {
        mark.is_some_and(|mark| self.value(mark) == RecordValue::Null)
    }

    /// Returns `true` if both records were made while the same message was read.
    #[cfg_attr(
        not(feature = "stats"),
        expect(dead_code, reason = "statistics count each message once")
    )]
    pub(crate) fn shares_message(&self, other: &Record) -> bool {
        Arc::ptr_eq(&self.message, &other.message)
    }

    /// Sets the number of occurrences of the URL.
    pub(crate) fn set_count(&mut self, count: Option<u64>) {
        let Place { index, .. } = PLACES[FieldId::Count as usize];
        self.own.stored[index] = count.map_or(Stored::Null, Stored::Integer);
    }

    /// About the number of bytes that the record takes in memory, if nothing is shared.
    pub(crate) fn bytes(&self) -> usize {
        self.own.bytes() + self.url.bytes() + self.message.bytes()
    }
}

impl<'r> Iterator for RecordItems<'r> {
    type Item = RecordValue<'r>;

    fn next(&mut self) -> Option<RecordValue<'r>> {
        let (first, rest) = self.stored.split_first()?;
        self.stored = rest;
        // A list holds no other lists.
        Some(first.value(&[], self.text))
    }
}

/// Place of a field's value in a record.
#[derive(Clone, Copy)]
struct Place {
    scope: FieldScope,
    index: usize,
}

const PLACES: [Place; FieldId::ALL.len()] = {
    let first = Place {
        scope: FieldScope::Record,
        index: 0,
    };
    let mut places = [first; FieldId::ALL.len()];
    let mut counts = [0; 3];
    let mut field = 0;
    while field < places.len() {
        let scope = FieldId::ALL[field].field().scope;
        let index = counts[scope as usize];
        places[field] = Place { scope, index };
        counts[scope as usize] += 1;
        field += 1;
    }
    places
};

/// Values of the fields of one scope.
#[derive(Clone, Debug, Default, PartialEq)]
struct Values {
    /// One for each field, in the order of the table.
    stored: Vec<Stored>,
    /// The items of all lists.
    items: Vec<Stored>,
    /// All texts, one after the other.
    text: String,
}

/// A value, whose text and items are kept beside it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stored {
    Null,
    Boolean(bool),
    Integer(u64),
    Number(f64),
    Text { start: u32, end: u32 },
    List { start: u32, end: u32 },
}

impl Stored {
    fn value<'r>(self, items: &'r [Stored], text: &'r str) -> RecordValue<'r> {
        match self {
            Stored::Null => RecordValue::Null,
            Stored::Boolean(value) => RecordValue::Boolean(value),
            Stored::Integer(number) => RecordValue::Integer(number),
            Stored::Number(number) => RecordValue::Number(number),
            Stored::Text { start, end } => RecordValue::Text(&text[start as usize..end as usize]),
            Stored::List { start, end } => RecordValue::List(RecordItems {
                stored: &items[start as usize..end as usize],
                text,
            }),
        }
    }
}

impl Values {
    fn bytes(&self) -> usize {
        (self.stored.len() + self.items.len()) * size_of::<Stored>() + self.text.len()
    }
}

/// Maker of the records of a run, which have the same fields. Values that records share are made
/// once: those of a message until the next begins, those of a URL as long as they are cached.
#[derive(Debug)]
pub(super) struct RecordBuilder {
    own: Vec<FieldChoice>,
    of_url: Vec<FieldChoice>,
    of_message: Vec<FieldChoice>,
    urls: UrlCache<Arc<Values>>,
    message: Option<Arc<Values>>,
}

#[derive(Clone, Copy, Debug)]
struct FieldChoice {
    field: FieldId,
    is_chosen: bool,
}

impl RecordBuilder {
    /// A builder of records with these fields; all others are null.
    pub(super) fn new(chosen: &[FieldId]) -> RecordBuilder {
        let fields_of = |scope| {
            let fields = FieldId::ALL.iter().copied();
            let fields = fields.filter(|field| field.field().scope == scope);
            let choice = |field| FieldChoice {
                field,
                is_chosen: is_chosen(field, chosen),
            };
            fields.map(choice).collect()
        };
        RecordBuilder {
            own: fields_of(FieldScope::Record),
            of_url: fields_of(FieldScope::Url),
            of_message: fields_of(FieldScope::Message),
            urls: UrlCache::default(),
            message: None,
        }
    }

    /// Forgets the values of the message before.
    pub(super) fn begin_message(&mut self) {
        self.message = None;
    }

    /// Makes the record of these values.
    pub(super) fn record(&mut self, values: &RecordValues<'_, '_>) -> Record {
        let of_url = &self.of_url;
        let url = || Arc::new(filled(of_url, values));
        let message = self
            .message
            .get_or_insert_with(|| Arc::new(filled(&self.of_message, values)));
        Record {
            own: filled(&self.own, values),
            message: Arc::clone(message),
            url: match values.url_cache_key() {
                Some(key) => self.urls.get_or_make(key, url),
                None => url(),
            },
        }
    }
}

/// Returns `true` if a field is chosen, or another field of an object that may be null: the first
/// field of the object tells whether it is.
fn is_chosen(field: FieldId, chosen: &[FieldId]) -> bool {
    let is_sibling = |other: &FieldId| {
        let parent = field.field().parent();
        parent.is_some() && other.field().parent() == parent
    };
    chosen.contains(&field) || chosen.iter().any(is_sibling)
}

fn filled(fields: &[FieldChoice], from: &RecordValues<'_, '_>) -> Values {
    let mut values = Values {
        stored: Vec::with_capacity(fields.len()),
        items: Vec::new(),
        text: String::with_capacity(USUAL_TEXT_BYTES),
    };
    let mut sink = RecordSink(&mut values);
    for FieldChoice { field, is_chosen } in fields {
        if *is_chosen {
            from.put(*field, &mut sink);
        } else {
            sink.null();
        }
    }
    values
}

/// Bytes of the texts of most records in one scope.
const USUAL_TEXT_BYTES: usize = 480;

/// A sink that keeps values.
struct RecordSink<'v>(&'v mut Values);

impl RecordSink<'_> {
    fn stored_text(&mut self, text: &str) -> Stored {
        let kept = &mut self.0.text;
        let start = kept.len() as u32;
        kept.push_str(text);
        let end = kept.len() as u32;
        Stored::Text { start, end }
    }

    /// Keeps a list, whose items `fill` adds.
    fn list(&mut self, fill: impl FnOnce(&mut RecordSink<'_>)) {
        let start = self.0.items.len() as u32;
        fill(self);
        let end = self.0.items.len() as u32;
        self.0.stored.push(Stored::List { start, end });
    }

    fn text_item(&mut self, text: &str) {
        let item = self.stored_text(text);
        self.0.items.push(item);
    }
}

impl ValueSink for RecordSink<'_> {
    fn null(&mut self) {
        self.0.stored.push(Stored::Null);
    }

    fn boolean(&mut self, value: bool) {
        self.0.stored.push(Stored::Boolean(value));
    }

    fn integer(&mut self, value: u64) {
        self.0.stored.push(Stored::Integer(value));
    }

    fn number(&mut self, value: f64) {
        self.0.stored.push(Stored::Number(value));
    }

    fn name(&mut self, name: &'static str) {
        let stored = self.stored_text(name);
        self.0.stored.push(stored);
    }

    fn text(&mut self, bytes: &[u8]) {
        let stored = self.stored_text(&text(bytes));
        self.0.stored.push(stored);
    }

    fn digest(&mut self, hash: u128) {
        let start = self.0.text.len() as u32;
        HEXLOWER.encode_append(&hash.to_be_bytes(), &mut self.0.text);
        let end = self.0.text.len() as u32;
        self.0.stored.push(Stored::Text { start, end });
    }

    fn names(&mut self, names: impl Iterator<Item = &'static str>) {
        self.list(|list| names.for_each(|name| list.text_item(name)));
    }

    fn texts<'t>(&mut self, texts: impl Iterator<Item = &'t [u8]>) {
        self.list(|list| texts.for_each(|item| list.text_item(&text(item))));
    }

    fn parts(&mut self, parts: Option<Parts<'_>>) {
        self.list(|list| {
            if let Some(parts) = parts {
                parts.for_each_text(&mut |name, part| {
                    list.text_item(name);
                    list.text_item(&text(part));
                });
            }
        });
    }

    fn named_fields(&mut self, fields: &[NamedField]) {
        self.list(|list| {
            for NamedField { name, value } in fields {
                list.text_item(&text(name.as_bytes()));
                list.text_item(&text(value.as_bytes()));
            }
        });
    }

    fn alternates(&mut self, alternates: &[Alternate]) {
        self.list(|list| {
            for alternate in alternates {
                let Alternate { full, url_len, .. } = alternate;
                list.text_item(&text(&full[..*url_len]));
                match full.get(url_len + 1..) {
                    Some(fragment) => list.text_item(&text(fragment)),
                    None => list.0.items.push(Stored::Null),
                }
                list.text_item(alternate.why.name());
                let confidence = Stored::Number(rounded(alternate.confidence));
                list.0.items.push(confidence);
            }
        });
    }

    fn count(&mut self) {
        self.null();
    }
}

/// The line of JSON, without its line feed.
impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = fields_of(RECORD_FIELDS, None).map(|field| FieldJson::entry(self, field));
        serializer.collect_map(fields)
    }
}

/// A field of a record.
struct FieldJson<'r> {
    record: &'r Record,
    field: &'static Field,
}

impl<'r> FieldJson<'r> {
    fn entry(record: &'r Record, field: &'static Field) -> (&'static str, FieldJson<'r>) {
        (field.key(), FieldJson { record, field })
    }
}

impl Serialize for FieldJson<'_> {
    /// Recurses to the depth of the table.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let FieldJson { record, field } = *self;
        let Some(id) = field.id() else {
            if record.is_null_object(field.null_mark()) {
                return serializer.serialize_unit();
            }
            let members = fields_of(RECORD_FIELDS, Some(field.name));
            return serializer.collect_map(members.map(|field| FieldJson::entry(record, field)));
        };
        match record.value(id) {
            RecordValue::List(items) if field.json_type == FieldType::List => {
                let members: Vec<_> = fields_of(RECORD_FIELDS, Some(field.name)).collect();
                let values: Vec<_> = items.collect();
                let items = values.chunks(members.len());
                serializer.collect_seq(items.map(|values| ItemJson(&members, values)))
            }
            value => value.serialize(serializer),
        }
    }
}

/// An object in a list: its fields and their values.
struct ItemJson<'r>(&'r [&'static Field], &'r [RecordValue<'r>]);

impl Serialize for ItemJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ItemJson(members, values) = *self;
        serializer.collect_map(members.iter().map(|field| field.key()).zip(values))
    }
}

impl Serialize for RecordValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            RecordValue::Null => serializer.serialize_unit(),
            RecordValue::Boolean(value) => serializer.serialize_bool(*value),
            RecordValue::Integer(number) => serializer.serialize_u64(*number),
            RecordValue::Number(number) => serializer.serialize_f64(*number),
            RecordValue::Text(text) => serializer.serialize_str(text),
            RecordValue::List(items) => serializer.collect_seq(items.clone()),
        }
    }
}
