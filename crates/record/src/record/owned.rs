//! The record as an owned value, for iterators, columns and dictionaries.
//!
//! Its values are not encoded. As for lines, `fields.rs` defines the fields and `value.rs` computes
//! their values.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use serde::{Serialize, Serializer};

use super::fields::{Field, FieldId, FieldScope, FieldType, RECORD_FIELDS, fields_of};
use super::json::{self, text};
use super::value::{RecordValues, Scalar, UrlCache, ValueSink};

/// A found URL with its position and message.
///
/// `docs/record.md` describes the fields. Common fields have a method; [`Record::value`] returns
/// the value of any field. A record serializes as the JSON line that `urlspool scan` writes.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    own: Values,
    /// Values that depend only on the URL, shared with other records of the URL.
    url: Arc<Values>,
    /// Values that depend on the message, shared with other records of the message.
    message: Arc<Values>,
}

/// Values of all fields of one scope, in table order.
type Values = Vec<RecordValue>;

/// Value of a field.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RecordValue {
    /// The field does not apply or was not chosen.
    Null,
    /// True or false.
    Boolean(bool),
    /// A number without a fraction.
    Integer(u64),
    /// A number with a fraction.
    Number(f64),
    /// A text.
    Text(Cow<'static, str>),
    /// The items of a list. A list of objects is flattened: the values of the first object's fields
    /// in table order, then the second object's, and so on.
    List(Vec<RecordValue>),
}

impl RecordValue {
    /// Returns the text; `None` for another type.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            RecordValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the number without a fraction; `None` for another type.
    #[must_use]
    pub fn integer(&self) -> Option<u64> {
        match self {
            RecordValue::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the number with a fraction; `None` for another type.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            RecordValue::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the items of a list. Empty for another type.
    #[must_use]
    pub fn items(&self) -> &[RecordValue] {
        match self {
            RecordValue::List(items) => items,
            _ => &[],
        }
    }

    fn bytes(&self) -> usize {
        let content: usize = match self {
            RecordValue::Text(text) => text.len(),
            _ => self.items().iter().map(RecordValue::bytes).sum(),
        };
        size_of::<RecordValue>() + content
    }
}

impl From<Scalar<'_>> for RecordValue {
    fn from(value: Scalar<'_>) -> RecordValue {
        match value {
            Scalar::Null => RecordValue::Null,
            Scalar::Boolean(value) => RecordValue::Boolean(value),
            Scalar::Integer(number) => RecordValue::Integer(number),
            Scalar::Number(number) => RecordValue::Number(number),
            Scalar::Name(name) => RecordValue::Text(name.into()),
            Scalar::Text(bytes) => RecordValue::Text(text(bytes).into_owned().into()),
            Scalar::Digest(hash) => RecordValue::Text(HEXLOWER.encode(&hash.to_be_bytes()).into()),
        }
    }
}

impl Record {
    /// Returns the value of a field.
    #[must_use]
    pub fn value(&self, field: FieldId) -> &RecordValue {
        let Place { scope, index } = PLACES[field as usize];
        let values = match scope {
            FieldScope::Record => &self.own,
            FieldScope::Url => &*self.url,
            FieldScope::Message => &*self.message,
        };
        &values[index]
    }

    /// Returns the text of a field; `None` if it is null or has another type.
    #[must_use]
    pub fn text(&self, field: FieldId) -> Option<&str> {
        self.value(field).text()
    }

    /// Returns the number in a field; `None` if it is null or has another type.
    #[must_use]
    pub fn integer(&self, field: FieldId) -> Option<u64> {
        self.value(field).integer()
    }

    /// Returns the texts in a list of texts. Empty for a field of another type.
    pub fn texts(&self, field: FieldId) -> impl Iterator<Item = &str> {
        self.value(field)
            .items()
            .iter()
            .filter_map(RecordValue::text)
    }

    /// Returns the identifier of the URL in its message: 32 hexadecimal digits, the same on every
    /// run and machine.
    #[must_use]
    pub fn id(&self) -> &str {
        self.text(FieldId::Id).unwrap_or_default()
    }

    /// Returns the URL without its fragment, as its author meant it.
    #[must_use]
    pub fn url(&self) -> &str {
        self.text(FieldId::Url).unwrap_or_default()
    }

    /// Returns the fragment without its `#`.
    #[must_use]
    pub fn fragment(&self) -> Option<&str> {
        self.text(FieldId::Fragment)
    }

    /// Returns the scheme in lower case.
    #[must_use]
    pub fn scheme(&self) -> &str {
        self.text(FieldId::Scheme).unwrap_or_default()
    }

    /// Returns the host in lower case, with non-ASCII names as A-labels. `None` without an
    /// authority.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        self.text(FieldId::Host)
    }

    /// Returns the form for comparisons (RFC 1738 sections 2.1 and 2.2). `None` if the URL is
    /// truncated.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.text(FieldId::Key)
    }

    /// Returns the address that a browser would fetch.
    #[must_use]
    pub fn href(&self) -> Option<&str> {
        self.text(FieldId::Href)
    }

    /// Returns the probability (0 to 1) that this reading is right.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        self.value(FieldId::Confidence).number().unwrap_or(0.0)
    }

    /// Returns the region of the message: `header:NAME`, `body`, `html:a.href` and so on.
    #[must_use]
    pub fn region(&self) -> &str {
        self.text(FieldId::Region).unwrap_or_default()
    }

    /// Returns the path of the file, as given and walked. Bytes that are not UTF-8 become U+FFFD.
    #[must_use]
    pub fn path(&self) -> &str {
        self.text(FieldId::SourcePath).unwrap_or_default()
    }

    /// Returns the byte range of the URL in the decompressed file or member.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        let [start, end] = [FieldId::SourceStart, FieldId::SourceEnd]
            .map(|offset| self.integer(offset).unwrap_or_default());
        start..end
    }

    /// Returns the Message-ID of the message with its brackets.
    #[must_use]
    pub fn message_id(&self) -> Option<&str> {
        self.text(FieldId::MessageId)
    }

    /// Returns the date of the message in UTC (RFC 3339).
    #[must_use]
    pub fn message_date(&self) -> Option<&str> {
        self.text(FieldId::MessageDate)
    }

    /// Returns the JSON of a field, as in the line.
    pub(super) fn json(&self, field: FieldId) -> String {
        json::json(&FieldJson::entry(self, field.field()).1)
    }

    /// Returns `true` if the object with the null mark `mark` is null.
    #[must_use]
    pub fn is_null_object(&self, mark: Option<FieldId>) -> bool {
        mark.is_some_and(|mark| *self.value(mark) == RecordValue::Null)
    }

    /// Sets the number of occurrences of the URL.
    pub fn set_count(&mut self, count: u64) {
        let Place { index, .. } = PLACES[FieldId::Count as usize];
        self.own[index] = RecordValue::Integer(count);
    }

    /// Returns the approximate size of the record in memory, as if nothing were shared.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let values = [&self.own, &*self.url, &*self.message];
        values.into_iter().flatten().map(RecordValue::bytes).sum()
    }
}

/// Location of a field's value in a record.
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

/// Builds the records of a run, which all have the same fields. Shared values are built once: a
/// message's until the next message starts, a URL's as long as they are cached.
#[derive(Debug)]
pub(super) struct RecordBuilder {
    /// Fields of each scope. `None` marks a field that stays null.
    fields: [Vec<Option<FieldId>>; 3],
    urls: UrlCache<Arc<Values>>,
    message: Option<Arc<Values>>,
}

impl RecordBuilder {
    /// Creates a builder of records with the chosen fields. All other fields are null.
    pub(super) fn new(chosen: &[FieldId]) -> RecordBuilder {
        let mut fields = [const { Vec::new() }; 3];
        for &field in FieldId::ALL {
            let kept = is_chosen(field, chosen).then_some(field);
            fields[field.field().scope as usize].push(kept);
        }
        RecordBuilder {
            fields,
            urls: UrlCache::default(),
            message: None,
        }
    }

    /// Forgets the values of the previous message.
    pub(super) fn begin_message(&mut self) {
        self.message = None;
    }

    /// Builds a record from these values.
    pub(super) fn record(&mut self, values: &RecordValues<'_, '_>) -> Record {
        let [own, of_url, of_message] = &self.fields;
        let message = self
            .message
            .get_or_insert_with(|| Arc::new(filled(of_message, values)));
        let url = values.url_cache_key().and_then(|key| {
            let urls = &mut self.urls;
            urls.get_or_make(key, |url| *url = Arc::new(filled(of_url, values)))
                .cloned()
        });
        Record {
            own: filled(own, values),
            message: Arc::clone(message),
            url: url.unwrap_or_else(|| Arc::new(filled(of_url, values))),
        }
    }
}

/// Returns `true` if a field, or another field of the same object, is chosen. The object's first
/// field shows whether the object is null.
fn is_chosen(field: FieldId, chosen: &[FieldId]) -> bool {
    let parent = field.field().parent();
    chosen.contains(&field)
        || parent.is_some() && chosen.iter().any(|other| other.field().parent() == parent)
}

fn filled(fields: &[Option<FieldId>], from: &RecordValues<'_, '_>) -> Values {
    let mut values = Vec::with_capacity(fields.len());
    for field in fields {
        match field {
            Some(field) => from.put(*field, &mut values),
            None => values.push(RecordValue::Null),
        }
    }
    values
}

/// A sink that stores values.
impl ValueSink for Values {
    fn scalar(&mut self, value: Scalar<'_>) {
        self.push(value.into());
    }

    fn list<'t>(&mut self, items: impl Iterator<Item = Scalar<'t>>) {
        self.push(RecordValue::List(items.map(RecordValue::from).collect()));
    }

    fn objects(&mut self, _: &[&str], each: impl FnOnce(&mut dyn FnMut(&[Scalar<'_>]))) {
        let mut items = Vec::new();
        each(&mut |values| items.extend(values.iter().copied().map(RecordValue::from)));
        self.push(RecordValue::List(items));
    }

    fn count(&mut self) {
        self.push(RecordValue::Null);
    }
}

/// Serializes the record as its JSON line, without the line feed.
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
                let items = items.chunks(members.len());
                serializer.collect_seq(items.map(|values| ItemJson(&members, values)))
            }
            value => value.serialize(serializer),
        }
    }
}

/// An object in a list, as fields and values.
struct ItemJson<'r>(&'r [&'static Field], &'r [RecordValue]);

impl Serialize for ItemJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ItemJson(members, values) = *self;
        serializer.collect_map(members.iter().map(|field| field.key()).zip(values))
    }
}
