//! Writes all or chosen fields of records as one JSON object.
//!
//! The fields are resolved once per run: to the bytes between their values, and to groups that are
//! encoded once for several records.

use std::borrow::Cow;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use serde::Serialize;

use super::fields::{Field, FieldId, FieldScope, RECORD_FIELDS};
use super::value::{RecordValues, Scalar, UrlCache, ValueSink, raw_date};
use urlspool_text::byte_scan::is_plain_json;
use urlspool_text::origin::{Source, SourceKind};
use urlspool_text::parse::Grammar;

/// Chosen fields of a record as JSON, in the same order and shape as in the whole record. The
/// default is all fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonFields {
    chosen: Arc<[FieldId]>,
    steps: Arc<[Step]>,
}

/// Encoded fields that later records can reuse.
#[derive(Debug, Default)]
pub(super) struct Caches {
    urls: UrlCache<Vec<u8>>,
    /// One buffer per run of fields. Empty before the first record of a message.
    message: Vec<Vec<u8>>,
    /// One buffer per run of fields of `of_source`. Empty before its first record.
    source: Vec<Vec<u8>>,
    /// Source and kind of the previous record.
    of_source: Option<(Source, SourceKind)>,
}

impl Caches {
    /// Forgets the fields of the previous message.
    pub(super) fn begin_message(&mut self) {
        self.message.iter_mut().for_each(Vec::clear);
    }

    /// Forgets the fields of the previous source, unless the next message has the same.
    fn begin_source(&mut self, source: &Source, kind: SourceKind) {
        let is_same = |(other, other_kind): &(Source, SourceKind)| {
            Arc::ptr_eq(&other.path, &source.path)
                && other.member() == source.member()
                && *other_kind == kind
        };
        if !self.of_source.as_ref().is_some_and(is_same) {
            self.source.iter_mut().for_each(Vec::clear);
            self.of_source = Some((source.clone(), kind));
        }
    }
}

/// Returns the buffer at `index`, which is created if needed.
fn buffer(buffers: &mut Vec<Vec<u8>>, index: usize) -> &mut Vec<u8> {
    if buffers.len() <= index {
        buffers.resize_with(index + 1, Vec::new);
    }
    &mut buffers[index]
}

/// A step in writing an object.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// A field. `key` holds the bytes before its value: comma, name and colon.
    Value { key: Vec<u8>, field: FieldId },
    /// A field in the row `pair` of [`REPEATED`].
    Repeated {
        key: Vec<u8>,
        field: FieldId,
        pair: usize,
    },
    /// An object. `key` holds the bytes before it.
    Object {
        key: Vec<u8>,
        /// Index of null in [`USUAL_VALUES`], if the object can be null.
        null: Option<usize>,
        steps: Vec<Step>,
    },
    /// Fields that have the usual values with these indexes in most records. `json` holds them with
    /// their names.
    Usual {
        usual: Vec<usize>,
        json: Vec<u8>,
        steps: Vec<Step>,
    },
    /// Fields that depend on the URL and on whether its link text names a different host.
    OfUrl(Vec<Step>),
    /// Fields that depend on the message, and the index of the buffer that caches them.
    OfMessage { index: usize, steps: Vec<Step> },
    /// Fields that depend on the file or member, and the index of the buffer that caches them.
    OfSource { index: usize, steps: Vec<Step> },
}

impl JsonFields {
    /// Resolves fields given in any order.
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

    /// Returns the fields in record order.
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
        let origin = &values.record.origin;
        caches.begin_source(origin.source, origin.kind);
        sink.push(b"{");
        write_steps(&self.steps, values, Some(caches), sink);
        sink.push(b"}\n");
    }
}

impl Default for JsonFields {
    fn default() -> JsonFields {
        JsonFields::new(FieldId::ALL)
    }
}

/// Fields of the message and of the author that are equal if the author is the outermost message's.
const REPEATED: [[FieldId; 2]; 4] = [
    [FieldId::MessageId, FieldId::AuthorMessageId],
    [FieldId::MessageDate, FieldId::AuthorDate],
    [FieldId::MessageFrom, FieldId::AuthorFrom],
    [FieldId::MessageSubject, FieldId::AuthorSubject],
];

/// Minimum number of URL fields to cache. Looking up fewer takes longer than writing them.
const CACHED_URL_FIELDS: usize = 4;

/// Returns the steps for the chosen fields of the object `parent`, or of the record if `None`.
/// `buffers` counts the buffers for fields of messages and sources. Recurses to the depth of the
/// table.
fn steps(chosen: &[FieldId], parent: Option<&str>, buffers: &mut usize) -> Vec<Step> {
    let mut single = Vec::new();
    for field in RECORD_FIELDS
        .iter()
        .filter(|field| field.parent() == parent)
    {
        let key = key(field, single.is_empty());
        let usual = usual_index(field.name);
        if let Some(id) = chosen.iter().find(|id| id.name() == field.name) {
            let pair = REPEATED.iter().position(|pair| pair.contains(id));
            let (scope, field) = (field.scope, *id);
            let step = match pair {
                Some(pair) => Step::Repeated { key, field, pair },
                None => Step::Value { key, field },
            };
            single.push((scope, usual, step));
        } else if let Some(scope) = scope_of_members(chosen, field.name) {
            let (null, steps) = (usual, steps(chosen, Some(field.name), buffers));
            single.push((scope, usual, Step::Object { key, null, steps }));
        }
    }
    let mut runs = Vec::new();
    for run in single.chunk_by(|before, next| before.0 == next.0) {
        let scope = run[0].0;
        let steps = with_usual_values(run);
        match scope {
            FieldScope::Url if CACHED_URL_FIELDS <= run.len() => runs.push(Step::OfUrl(steps)),
            FieldScope::Url | FieldScope::Record => runs.extend(steps),
            FieldScope::Message => {
                let index = *buffers;
                *buffers += 1;
                runs.push(match parent {
                    Some("source") => Step::OfSource { index, steps },
                    _ => Step::OfMessage { index, steps },
                });
            }
        }
    }
    runs
}

/// The value that a field has in most records.
struct UsualValue {
    /// Name of the field or object.
    field: &'static str,
    /// The value as JSON.
    json: &'static str,
    /// Returns `true` if the record has this value. `false` proves nothing.
    holds: fn(&RecordValues<'_, '_>) -> bool,
}

const fn usual(
    field: &'static str,
    json: &'static str,
    holds: fn(&RecordValues<'_, '_>) -> bool,
) -> UsualValue {
    UsualValue { field, json, holds }
}

/// Table of the usual values. An object that can be null must have a row.
const USUAL_VALUES: &[UsualValue] = &[
    usual("schema", "1", |_| true),
    usual("type", "\"url\"", |_| true),
    usual("fragment", "null", |of| {
        of.record.found.fragment().is_none()
    }),
    usual("query", "null", |of| {
        of.site().is_none() || of.components().query.is_none()
    }),
    usual("conforms", r#"["rfc1738","rfc3986","whatwg"]"#, |of| {
        let verdicts = of.record.found.verdicts;
        verdicts.is_some_and(|it| Grammar::ALL.iter().all(|grammar| it.conforms_to(*grammar)))
    }),
    usual("error", "null", |of| {
        of.record.found.verdicts.is_none_or(|it| it.rfc1738.is_ok())
    }),
    usual("warnings", "[]", |of| {
        of.rfc1738().is_none_or(|url| url.warnings().is_empty())
    }),
    usual("hazards", "[]", |of| of.record.hazards().next().is_none()),
    usual("raw_b64", "null", |of| is_plain_json(of.record.raw)),
    usual("repairs", "[]", |of| {
        of.record.found.repairs.iter().next().is_none()
    }),
    usual("alternates", "[]", |of| {
        of.record.found.alternates.is_empty()
    }),
    usual("confidence", "1.0", |of| of.record.found.confidence >= 1.0),
    usual("truncated", "false", |of| {
        of.record.found.truncated.is_none()
    }),
    usual("full_length", "null", |of| {
        of.record.found.truncated.is_none()
    }),
    usual("full_hash", "null", |of| {
        of.record.found.truncated.is_none()
    }),
    usual("quote_depth", "0", |of| of.record.quote_depth == 0),
    usual("anchor", "null", |of| of.record.anchor.is_none()),
    usual("mismatch", "null", |of| of.record.mismatch.is_none()),
    usual("unwrapped_from", "null", |of| {
        of.record.redirected_from.is_none()
    }),
    usual("unwrapped_by", "null", |of| {
        of.record.redirected_from.is_none()
    }),
    usual("source.exact", "true", |of| of.record.origin.exact),
    usual("message.date_raw", "null", |of| {
        of.record
            .message
            .is_none_or(|info| raw_date(info).is_none())
    }),
    usual("message.newsgroups", "[]", |of| {
        of.record
            .message
            .is_none_or(|info| info.newsgroups.is_empty())
    }),
    usual("message.fields", "null", |of| {
        of.record
            .message
            .is_none_or(|info| info.named_fields.is_none())
    }),
    usual("part", "null", |of| of.record.part.is_none()),
    usual("context", "null", |of| of.record.context.is_none()),
];

fn usual_index(name: &str) -> Option<usize> {
    USUAL_VALUES.iter().position(|usual| usual.field == name)
}

/// Joins adjacent steps of fields that have a usual value.
fn with_usual_values(steps: &[(FieldScope, Option<usize>, Step)]) -> Vec<Step> {
    let mut joined = Vec::new();
    for group in steps.chunk_by(|before, next| before.1.is_some() && next.1.is_some()) {
        let usual: Vec<usize> = group.iter().filter_map(|(_, usual, _)| *usual).collect();
        let steps = group.iter().map(|(_, _, step)| step.clone());
        if usual.is_empty() {
            joined.extend(steps);
            continue;
        }
        let json = group.iter().zip(&usual).flat_map(|((_, _, step), usual)| {
            [step.key(), USUAL_VALUES[*usual].json.as_bytes()].concat()
        });
        joined.push(Step::Usual {
            json: json.collect(),
            steps: steps.collect(),
            usual,
        });
    }
    joined
}

/// Returns the scope of an object's chosen members. `None` if no member is chosen.
fn scope_of_members(chosen: &[FieldId], object: &str) -> Option<FieldScope> {
    let members = chosen.iter().map(|id| id.field());
    let members = members.filter(|member| member.parent() == Some(object));
    let mut scopes = members.map(|member| member.scope);
    let first = scopes.next()?;
    let is_one = scopes.all(|scope| scope == first);
    Some(if is_one { first } else { FieldScope::Record })
}

impl Step {
    /// Returns the bytes before the value of a field or object.
    fn key(&self) -> &[u8] {
        match self {
            Step::Value { key, .. } | Step::Repeated { key, .. } | Step::Object { key, .. } => key,
            _ => b"",
        }
    }
}

/// Returns the bytes before the value of a field.
fn key(field: &Field, is_first: bool) -> Vec<u8> {
    let comma = if is_first { "" } else { "," };
    format!("{comma}\"{}\":", field.key()).into_bytes()
}

/// Writes members of an object. Fields encoded for an earlier record are copied from the caches.
/// Without caches, all fields are written from their values. Recurses to the depth of the table.
fn write_steps(
    steps: &[Step],
    values: &RecordValues<'_, '_>,
    mut caches: Option<&mut Caches>,
    sink: &mut JsonSink<'_>,
) {
    for step in steps {
        match (step, caches.as_deref_mut()) {
            (Step::Value { key, field }, _) => {
                sink.push(key);
                values.put(*field, sink);
            }
            (Step::Repeated { key, field, pair }, _) => {
                sink.push(key);
                match sink.pairs[*pair].filter(|_| values.has_outer_author()) {
                    Some((start, end)) => sink.out.extend_from_within(start..end),
                    None => {
                        let start = sink.out.len();
                        values.put(*field, sink);
                        sink.pairs[*pair] = Some((start, sink.out.len()));
                    }
                }
            }
            (Step::Usual { usual, json, steps }, _) if are_usual(usual, values) => {
                debug_assert_eq!(*json, written(steps, values), "the table of usual values");
                sink.push(json);
            }
            (Step::Usual { steps, .. }, caches) => write_steps(steps, values, caches, sink),
            (Step::Object { key, null, .. }, _) if are_usual(null.as_slice(), values) => {
                sink.push(key);
                sink.push(b"null");
            }
            (Step::Object { key, steps, .. }, caches) => {
                sink.push(key);
                sink.push(b"{");
                write_steps(steps, values, caches, sink);
                sink.push(b"}");
            }
            (Step::OfUrl(steps), Some(caches)) => {
                let encoded = values.url_cache_key().and_then(|key| {
                    caches.urls.get_or_make(key, |json| {
                        json.clear();
                        write_steps(steps, values, None, &mut JsonSink::new(json));
                    })
                });
                match encoded {
                    Some(json) => sink.push(json),
                    None => write_steps(steps, values, None, sink),
                }
            }
            (Step::OfMessage { index, steps }, Some(caches)) => {
                write_once(steps, values, buffer(&mut caches.message, *index), sink);
            }
            (Step::OfSource { index, steps }, Some(caches)) => {
                write_once(steps, values, buffer(&mut caches.source, *index), sink);
            }
            (
                Step::OfUrl(steps) | Step::OfMessage { steps, .. } | Step::OfSource { steps, .. },
                None,
            ) => {
                write_steps(steps, values, None, sink);
            }
        }
    }
}

/// Returns the fields without use of caches.
fn written(steps: &[Step], values: &RecordValues<'_, '_>) -> Vec<u8> {
    let mut json = Vec::new();
    write_steps(steps, values, None, &mut JsonSink::new(&mut json));
    json
}

/// Writes fields from `encoded`, where they are encoded if it is empty.
fn write_once(
    steps: &[Step],
    values: &RecordValues<'_, '_>,
    encoded: &mut Vec<u8>,
    sink: &mut JsonSink<'_>,
) {
    if encoded.is_empty() {
        write_steps(steps, values, None, &mut JsonSink::new(encoded));
    }
    sink.push(encoded);
}

/// Returns `true` if there are fields, and each has its usual value.
fn are_usual(usual: &[usize], values: &RecordValues<'_, '_>) -> bool {
    let mut usual = usual.iter();
    !usual.as_slice().is_empty() && usual.all(|index| (USUAL_VALUES[*index].holds)(values))
}

/// A sink that appends values as JSON.
pub(super) struct JsonSink<'o> {
    out: &'o mut Vec<u8>,
    /// Offset of the number of occurrences, which is null.
    count_at: Option<usize>,
    /// Ranges of the [`REPEATED`] values written so far.
    pairs: [Option<(usize, usize)>; REPEATED.len()],
}

impl<'o> JsonSink<'o> {
    pub(super) fn new(out: &'o mut Vec<u8>) -> JsonSink<'o> {
        JsonSink {
            out,
            count_at: None,
            pairs: [None; REPEATED.len()],
        }
    }

    /// Returns the offset of the number of occurrences, if it was written.
    pub(super) fn count_at(&self) -> Option<usize> {
        self.count_at
    }

    /// Appends bytes that are already JSON.
    pub(super) fn push(&mut self, json: &[u8]) {
        self.out.extend_from_slice(json);
    }

    /// Returns the buffer that values are appended to.
    pub(super) fn out(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// Appends a value of this crate's types.
    pub(super) fn append(&mut self, value: &impl Serialize) {
        serde_json::to_writer(&mut *self.out, value)
            .expect("types of this crate serialize, and a Vec takes all bytes");
    }

    /// Appends a list. `append` writes each item.
    pub(super) fn items<T>(
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
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "each caller knows the kind of its value"
    )]
    fn scalar(&mut self, value: Scalar<'_>) {
        match value {
            Scalar::Null => self.push(b"null"),
            Scalar::Boolean(value) => self.push(if value { b"true" } else { b"false" }),
            Scalar::Integer(number) => self.append(&number),
            // Confidence of most records.
            Scalar::Number(1.0) => self.push(b"1.0"),
            Scalar::Number(number) => self.append(&number),
            Scalar::Name(name) => quoted(name.as_bytes(), self.out),
            Scalar::Text(text) => string(text, self.out),
            Scalar::Digest(hash) => {
                let mut digits = [0; 32];
                HEXLOWER.encode_mut(&hash.to_be_bytes(), &mut digits);
                quoted(&digits, self.out);
            }
        }
    }

    fn list<'t>(&mut self, items: impl Iterator<Item = Scalar<'t>>) {
        self.items(items, |item, out| JsonSink::new(out).scalar(item));
    }

    fn objects(&mut self, keys: &[&str], each: impl FnOnce(&mut dyn FnMut(&[Scalar<'_>]))) {
        self.push(b"[");
        let mut separator = &b""[..];
        each(&mut |values| {
            self.push(std::mem::replace(&mut separator, b","));
            for (key, value) in keys.iter().zip(values) {
                self.push(key.as_bytes());
                self.scalar(*value);
            }
            self.push(b"}");
        });
        self.push(b"]");
    }

    fn count(&mut self) {
        self.count_at = Some(self.out.len());
        self.push(b"null");
    }
}

/// A JSON object that is being written.
pub(super) struct ObjectWriter<'o> {
    sink: JsonSink<'o>,
    has_members: bool,
}

impl<'o> ObjectWriter<'o> {
    pub(super) fn begin(out: &'o mut Vec<u8>) -> ObjectWriter<'o> {
        let mut sink = JsonSink::new(out);
        sink.push(b"{");
        ObjectWriter {
            sink,
            has_members: false,
        }
    }

    /// Starts a member and returns the sink for its value.
    pub(super) fn member(&mut self, name: &'static str) -> &mut JsonSink<'o> {
        if std::mem::replace(&mut self.has_members, true) {
            self.sink.push(b",");
        }
        self.sink.scalar(Scalar::Name(name));
        self.sink.push(b":");
        &mut self.sink
    }

    pub(super) fn put(&mut self, name: &'static str, value: Scalar<'_>) {
        self.member(name).scalar(value);
    }

    /// Starts a member that is an object.
    pub(super) fn object(&mut self, name: &'static str) -> ObjectWriter<'_> {
        ObjectWriter::begin(self.member(name).out)
    }

    pub(super) fn end(mut self) {
        self.sink.push(b"}");
    }

    /// Ends an object and its line.
    pub(super) fn end_line(mut self) {
        self.sink.push(b"}\n");
    }
}

/// Converts bytes to text for JSON. Bytes that are not UTF-8 become U+FFFD. NUL does too, because
/// databases reject it.
pub(super) fn text(bytes: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(bytes);
    match memchr::memchr(0, bytes) {
        None => text,
        Some(_) => text.replace('\0', "\u{FFFD}").into(),
    }
}

/// Appends bytes that need no escapes, inside quotation marks.
pub(super) fn quoted(plain: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(plain);
    out.push(b'"');
}

/// Appends bytes as a JSON string (RFC 8259 section 7). NUL and bytes that are not UTF-8 become
/// U+FFFD.
pub(super) fn string(bytes: &[u8], out: &mut Vec<u8>) {
    if is_plain_json(bytes) {
        return quoted(bytes, out);
    }
    serde_json::to_writer(out, &text(bytes)).expect("a Vec takes all bytes");
}

/// Appends text as a JSON string. NUL is escaped.
pub(super) fn exact_string(text: &str, out: &mut Vec<u8>) {
    if is_plain_json(text.as_bytes()) {
        return quoted(text.as_bytes(), out);
    }
    serde_json::to_writer(out, text).expect("a Vec takes all bytes");
}

/// Serializes a value of numbers, texts and lists as one JSON line.
#[must_use]
pub fn json_line(value: &impl Serialize) -> Vec<u8> {
    (json(value) + "\n").into_bytes()
}

/// Serializes a value of numbers, texts and lists as JSON.
pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("types of this crate serialize")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_match_serde_json() {
        let mut texts: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![b'a', byte]).collect();
        texts.extend((0..40).map(|len| [vec![b'x'; len], b"\"".to_vec(), vec![b'y'; 20]].concat()));
        texts.extend((0..40).map(|len| vec![b'~'; len]));
        texts.extend([b"\xE2\x80\xA8\xFF".to_vec(), vec![0x7F; 17], Vec::new()]);
        for bytes in texts {
            let mut out = Vec::new();
            string(&bytes, &mut out);
            assert_eq!(out, serde_json::to_vec(&text(&bytes)).unwrap(), "{bytes:?}");
        }
    }

    #[test]
    fn text_has_no_nul() {
        assert_eq!(text(b"a\0b\xFF"), "a\u{FFFD}b\u{FFFD}");
    }

    #[test]
    fn values_match_serde_json() {
        let mut out = Vec::new();
        let mut sink = JsonSink::new(&mut out);
        sink.scalar(Scalar::Text(b"\xC3\x89\"\xFF"));
        sink.scalar(Scalar::Digest(0xAB));
        sink.list(["x", "y"].map(Scalar::Name).into_iter());
        sink.list([&b"\""[..], b"z"].map(Scalar::Text).into_iter());
        sink.list([].into_iter());
        sink.scalar(Scalar::Number(1.0));
        sink.scalar(Scalar::Number(0.25));
        sink.scalar(Scalar::Integer(7));
        sink.scalar(Scalar::Boolean(false));
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
    fn the_offset_of_a_count_is_remembered() {
        let mut out = b"{".to_vec();
        let mut sink = JsonSink::new(&mut out);
        assert_eq!(sink.count_at(), None);
        sink.count();
        sink.push(b"}");
        assert_eq!(sink.count_at(), Some(1));
        assert_eq!(out, b"{null}");
    }
}
