//! Chosen fields of a record, or all of them, as one object of JSON.
//!
//! The fields are resolved once for a run, to the bytes between their values and to those that are
//! encoded once for several records.

use std::sync::Arc;

use super::cache::UrlCache;
use super::fields::{Field, FieldId, FieldScope, RECORD_FIELDS};
use super::json_value::JsonSink;
use super::value::RecordValues;

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
