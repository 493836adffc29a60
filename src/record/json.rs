//! Records as JSON: chosen fields, or all of them, as one object, and its values.
//!
//! The fields are resolved once for a run, to the bytes between their values and to those that are
//! encoded once for several records.

use std::borrow::Cow;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use serde::Serialize;

use super::cache::UrlCache;
use super::fields::{Field, FieldId, FieldScope, RECORD_FIELDS};
use super::json_text::{quoted, string, text};
use super::parts::Parts;
use super::value::{RecordValues, ValueSink, rounded};
use crate::decode::NamedField;
use crate::parse::Alternate;

/// Chosen fields of a record as JSON, in the order and the shape that they have in the whole
/// record. The default is all fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonFields {
    chosen: Arc<[FieldId]>,
    steps: Arc<[Step]>,
}

/// Encoded fields that later records may share.
#[derive(Debug, Default)]
pub(super) struct Caches {
    urls: UrlCache<Vec<u8>>,
    /// One buffer for each run of fields; empty before the first record of a message.
    message: Vec<Vec<u8>>,
}

impl Caches {
    /// Forgets the fields of the message before.
    pub(super) fn begin_message(&mut self) {
        self.message.iter_mut().for_each(Vec::clear);
    }
}

/// A step of writing an object.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// A field, with the bytes before its value: comma, name and colon.
    Value { key: Vec<u8>, field: FieldId },
    /// An object, with the bytes before it. Outside of other steps it has members of several kinds.
    Object {
        key: Vec<u8>,
        name: &'static str,
        steps: Vec<Step>,
    },
    /// Fields that depend on the record, one after the other.
    OfRecord(Vec<Step>),
    /// Fields that depend on the URL, and on whether its link shows another host.
    OfUrl(Vec<Step>),
    /// Fields that depend on the message, and the number of the buffer that keeps them.
    OfMessage { buffer: usize, steps: Vec<Step> },
}

impl JsonFields {
    /// Resolves fields, in any order.
    #[must_use]
    pub fn new(fields: &[FieldId]) -> JsonFields {
        let all = FieldId::ALL.iter().copied();
        let chosen: Vec<FieldId> = all.filter(|field| fields.contains(field)).collect();
        let steps = steps(&chosen, None, &mut 0);
        JsonFields {
            chosen: chosen.into(),
            steps: steps.into(),
        }
    }

    /// The fields, in the order of the record.
    #[must_use]
    pub fn chosen(&self) -> &[FieldId] {
        &self.chosen
    }

    /// Returns `true` if the lines are whole records.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.chosen.len() == FieldId::ALL.len()
    }

    /// Appends the line of a record.
    pub(super) fn write(
        &self,
        values: &RecordValues<'_, '_>,
        caches: &mut Caches,
        sink: &mut JsonSink<'_>,
    ) {
        write_shared(&self.steps, values, caches, sink);
        sink.push(b"\n");
    }
}

impl Default for JsonFields {
    fn default() -> JsonFields {
        JsonFields::new(FieldId::ALL)
    }
}

/// Minimum number of fields of a URL that are cached. To look fewer up takes longer than to write
/// them.
const CACHED_URL_FIELDS: usize = 4;

/// Returns the steps for the chosen fields of the object `parent`; `None` stands for the record.
/// `buffers` counts the buffers for fields of a message. Recurses to the depth of the table.
fn steps(chosen: &[FieldId], parent: Option<&str>, buffers: &mut usize) -> Vec<Step> {
    let mut single = Vec::new();
    for field in RECORD_FIELDS
        .iter()
        .filter(|field| field.parent() == parent)
    {
        let key = key(field, single.is_empty());
        if let Some(id) = chosen.iter().find(|id| id.name() == field.name) {
            single.push((field.scope, Step::Value { key, field: *id }));
        } else if let Some(scope) = scope_of_members(chosen, field.name) {
            let steps = steps(chosen, Some(field.name), buffers);
            let name = field.name;
            single.push((scope, Step::Object { key, name, steps }));
        }
    }
    let mut runs = Vec::new();
    let mut single = single.into_iter().peekable();
    while let Some((scope, first)) = single.next() {
        let mut run = vec![first];
        while let Some((_, step)) = single.next_if(|(next, _)| *next == scope) {
            run.push(step);
        }
        match scope {
            FieldScope::Url if CACHED_URL_FIELDS <= run.len() => runs.push(Step::OfUrl(run)),
            FieldScope::Message => {
                let (buffer, steps) = (*buffers, run);
                runs.push(Step::OfMessage { buffer, steps });
                *buffers += 1;
            }
            FieldScope::Url | FieldScope::Record => put_plain(run, &mut runs),
        }
    }
    runs
}

/// Adds the steps of fields that no later record shares; objects of which it shares a part stay
/// apart.
fn put_plain(run: Vec<Step>, steps: &mut Vec<Step>) {
    let is_shared = |step: &Step| matches!(step, Step::OfUrl(_) | Step::OfMessage { .. });
    let mut plain = Vec::new();
    for step in run {
        match &step {
            Step::Object { steps: members, .. } if members.iter().any(is_shared) => {
                steps.push(Step::OfRecord(std::mem::take(&mut plain)));
                steps.push(step);
            }
            _ => plain.push(step),
        }
    }
    steps.push(Step::OfRecord(plain));
}

/// Returns the scope of the chosen members of an object; `None` if none is chosen.
fn scope_of_members(chosen: &[FieldId], object: &str) -> Option<FieldScope> {
    let members = chosen.iter().map(|id| id.field());
    let members = members.filter(|member| member.parent() == Some(object));
    let mut scopes = members.map(|member| member.scope);
    let first = scopes.next()?;
    let is_one = scopes.all(|scope| scope == first);
    Some(if is_one { first } else { FieldScope::Record })
}

/// Returns the bytes before the value of a field.
fn key(field: &Field, is_first: bool) -> Vec<u8> {
    let comma = if is_first { "" } else { "," };
    format!("{comma}\"{}\":", field.key()).into_bytes()
}

/// Writes an object. Fields that were encoded for an earlier record are copied.
fn write_shared(
    steps: &[Step],
    values: &RecordValues<'_, '_>,
    caches: &mut Caches,
    sink: &mut JsonSink<'_>,
) {
    sink.push(b"{");
    for step in steps {
        match step {
            Step::Object { key, name, .. } if values.is_null_object(name) => {
                sink.push(key);
                sink.push(b"null");
            }
            Step::Object { key, steps, .. } => {
                sink.push(key);
                write_shared(steps, values, caches, sink);
            }
            Step::OfRecord(steps) => write_members(steps, values, sink),
            Step::OfUrl(steps) => match values.url_cache_key() {
                Some(key) => caches.urls.append(key, sink.out(), |out| {
                    write_members(steps, values, &mut JsonSink::new(out));
                }),
                None => write_members(steps, values, sink),
            },
            Step::OfMessage { buffer, steps } => {
                if caches.message.len() <= *buffer {
                    caches.message.resize_with(buffer + 1, Vec::new);
                }
                let encoded = &mut caches.message[*buffer];
                if encoded.is_empty() {
                    write_members(steps, values, &mut JsonSink::new(encoded));
                }
                sink.push(encoded);
            }
            Step::Value { .. } => write_members(std::slice::from_ref(step), values, sink),
        }
    }
    sink.push(b"}");
}

/// Writes members of an object, all of them from their values. Recurses to the depth of the table.
fn write_members(steps: &[Step], values: &RecordValues<'_, '_>, sink: &mut JsonSink<'_>) {
    for step in steps {
        match step {
            Step::Value { key, field } => {
                sink.push(key);
                values.put(*field, sink);
            }
            Step::Object { key, name, .. } if values.is_null_object(name) => {
                sink.push(key);
                sink.push(b"null");
            }
            Step::Object { key, steps, .. } => {
                sink.push(key);
                sink.push(b"{");
                write_members(steps, values, sink);
                sink.push(b"}");
            }
            Step::OfRecord(steps) | Step::OfUrl(steps) | Step::OfMessage { steps, .. } => {
                write_members(steps, values, sink);
            }
        }
    }
}

/// A sink that appends values as JSON.
pub(super) struct JsonSink<'o> {
    out: &'o mut Vec<u8>,
    count: Count,
}

/// The number of occurrences of a URL.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Count {
    /// It is written as null.
    Null,
    /// It is inserted later, at the offset where its value is to stand.
    Open(Option<usize>),
}

impl<'o> JsonSink<'o> {
    /// A sink for which each URL stands once: its number of occurrences is null.
    pub(super) fn new(out: &'o mut Vec<u8>) -> JsonSink<'o> {
        let count = Count::Null;
        JsonSink { out, count }
    }

    /// A sink that leaves the number of occurrences out, and remembers its place.
    pub(super) fn open(out: &'o mut Vec<u8>) -> JsonSink<'o> {
        let count = Count::Open(None);
        JsonSink { out, count }
    }

    /// Returns the offset at which the number of occurrences is to be inserted, if it was left out.
    pub(super) fn count_at(&self) -> Option<usize> {
        match self.count {
            Count::Null => None,
            Count::Open(at) => at,
        }
    }

    /// Appends bytes that are JSON already.
    pub(super) fn push(&mut self, json: &[u8]) {
        self.out.extend_from_slice(json);
    }

    /// The buffer that values are appended to.
    pub(super) fn out(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// Appends a value of types of this crate.
    pub(super) fn append(&mut self, value: &impl Serialize) {
        serde_json::to_writer(&mut *self.out, value)
            .expect("types of this crate serialize, and a Vec takes all bytes");
    }

    /// Appends a list, whose items `append` writes.
    pub(super) fn list<T>(
        &mut self,
        items: impl Iterator<Item = T>,
        append: impl Fn(T, &mut Vec<u8>),
    ) {
        self.out.push(b'[');
        for (index, item) in items.enumerate() {
            if 0 < index {
                self.out.push(b',');
            }
            append(item, self.out);
        }
        self.out.push(b']');
    }
}

impl ValueSink for JsonSink<'_> {
    fn null(&mut self) {
        self.push(b"null");
    }

    fn boolean(&mut self, value: bool) {
        self.push(if value { b"true" } else { b"false" });
    }

    fn integer(&mut self, value: u64) {
        self.append(&value);
    }

    fn number(&mut self, value: f64) {
        // The confidence of most records.
        if value.to_bits() == 1.0_f64.to_bits() {
            self.push(b"1.0");
        } else {
            self.append(&value);
        }
    }

    fn name(&mut self, name: &'static str) {
        quoted(name.as_bytes(), self.out);
    }

    fn text(&mut self, text: &[u8]) {
        string(text, self.out);
    }

    fn digest(&mut self, hash: u128) {
        let mut digits = [0; 32];
        HEXLOWER.encode_mut(&hash.to_be_bytes(), &mut digits);
        quoted(&digits, self.out);
    }

    fn names(&mut self, names: impl Iterator<Item = &'static str>) {
        self.list(names, |name, out| quoted(name.as_bytes(), out));
    }

    fn texts<'t>(&mut self, texts: impl Iterator<Item = &'t [u8]>) {
        self.list(texts, string);
    }

    fn parts(&mut self, parts: Option<Parts<'_>>) {
        self.out.push(b'[');
        let mut separator = &b""[..];
        if let Some(parts) = parts {
            parts.for_each_text(&mut |name, part| {
                self.out.extend_from_slice(separator);
                self.out.extend_from_slice(b"{\"name\":");
                quoted(name.as_bytes(), self.out);
                self.out.extend_from_slice(b",\"value\":");
                string(part, self.out);
                self.out.push(b'}');
                separator = b",";
            });
        }
        self.out.push(b']');
    }

    fn named_fields(&mut self, fields: &[NamedField]) {
        self.out.push(b'[');
        for (index, NamedField { name, value }) in fields.iter().enumerate() {
            if 0 < index {
                self.out.push(b',');
            }
            self.out.extend_from_slice(b"{\"name\":");
            string(name.as_bytes(), self.out);
            self.out.extend_from_slice(b",\"value\":");
            string(value.as_bytes(), self.out);
            self.out.push(b'}');
        }
        self.out.push(b']');
    }

    fn alternates(&mut self, alternates: &[Alternate]) {
        match alternates {
            [] => self.push(b"[]"),
            alternates => {
                let list: Vec<_> = alternates.iter().map(AlternateJson::from).collect();
                self.append(&list);
            }
        }
    }

    fn count(&mut self) {
        match self.count {
            Count::Null => self.null(),
            Count::Open(_) => self.count = Count::Open(Some(self.out.len())),
        }
    }
}

/// An element of `alternates`.
#[derive(Serialize)]
pub(super) struct AlternateJson<'r> {
    url: Cow<'r, str>,
    fragment: Option<Cow<'r, str>>,
    why: &'static str,
    confidence: f64,
}

impl<'r> From<&'r Alternate> for AlternateJson<'r> {
    fn from(alternate: &'r Alternate) -> AlternateJson<'r> {
        AlternateJson {
            url: text(&alternate.full[..alternate.url_len]),
            fragment: alternate.full.get(alternate.url_len + 1..).map(text),
            why: alternate.why.name(),
            confidence: rounded(alternate.confidence),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_serde_json_writes_them() {
        let mut out = Vec::new();
        let mut sink = JsonSink::new(&mut out);
        sink.text(b"\xC3\x89\"\xFF");
        sink.digest(0xAB);
        sink.names(["x", "y"].into_iter());
        sink.texts([&b"\""[..], b"z"].into_iter());
        sink.texts([].into_iter());
        sink.number(1.0);
        sink.number(0.25);
        sink.integer(7);
        sink.boolean(false);
        sink.count();
        let want = concat!(
            r#""É\"\u{FFFD}""000000000000000000000000000000ab"["x","y"]["\"","z"][]"#,
            "1.00.257falsenull"
        );
        assert_eq!(
            String::from_utf8(out).unwrap(),
            want.replace("\\u{FFFD}", "\u{FFFD}")
        );
    }

    #[test]
    fn the_place_of_a_count_is_remembered() {
        let mut out = b"{".to_vec();
        let mut sink = JsonSink::open(&mut out);
        assert_eq!(sink.count_at(), None);
        sink.count();
        sink.push(b"}");
        assert_eq!(sink.count_at(), Some(1));
        assert_eq!(out, b"{}");
    }
}
