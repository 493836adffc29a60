//! The wire format, written: one JSON object on one line, its fields in this order.

use std::borrow::Cow;

use serde::Serialize;

use super::cache::RecordCache;
use super::error::ErrorLine;
use super::location::member;
use super::object::{Object, field, fixed};
use super::part_cache::PartWritten;
use super::parts::{Parts, text};
use super::{Record, SCHEMA};
use crate::decode::{MessageInfo, Zone};
use crate::grammar;
use crate::parse::{Grammar, Hazard, Verdicts, components, hazards, key_of_components};

/// The first fields of a record.
const HEAD: &[u8] = b"{\"schema\":1,\"type\":\"url\"";
const _: () = assert!(SCHEMA == 1, "another stands in `HEAD`");

/// Writes records. What they share is encoded once: with those of their message where it stands, with others what is
/// said of a URL alone, and of their part.
#[derive(Debug, Default)]
pub struct RecordWriter {
    /// The beginning of `source`, up to its kind.
    source: Vec<u8>,
    /// The whole of `message`; nothing before a message's first record.
    message: Vec<u8>,
    tail: MessageTail,
    readings: RecordCache,
    part: PartWritten,
}

/// State of a message's end when the message was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MessageTail {
    /// The message ended at a line end.
    #[default]
    Complete,
    /// The message ended within a line, and may grow: its records have `truncated_tail`.
    Truncated,
}

impl RecordWriter {
    /// Begins a message: the records that follow are of it.
    pub fn begin(&mut self, tail: MessageTail) {
        self.source.clear();
        self.message.clear();
        self.tail = tail;
    }

    /// Appends `record` as one line.
    ///
    /// Linear in the line's length.
    pub fn write(&mut self, record: &Record<'_>, out: &mut Vec<u8>) {
        self.write_open(record, out);
        close_line(None, out);
    }

    /// Appends `record` up to where the field stands that is known only at the end of the message.
    /// [`close_line`] must follow it.
    ///
    /// Linear in the line's length.
    pub fn write_open(&mut self, record: &Record<'_>, out: &mut Vec<u8>) {
        if self.message.is_empty() {
            self.fill(record);
        }
        out.extend_from_slice(HEAD);
        let mut line = Object::more(out);
        line.hex(field!("id"), record.id);
        match record.found.truncated {
            // What is said of a URL that was cut depends on what was cut off.
            Some(_) => reading(&mut line, record),
            None => {
                let (full, mismatch) = (record.found.full, record.mismatch == Some(true));
                line.fields(|out| {
                    self.readings.append(full, mismatch, out, |out| {
                        reading(&mut Object::more(out), record)
                    });
                });
            }
        }
        finding(&mut line, record);
        self.origin(&mut line, record);
        if self.tail == MessageTail::Truncated {
            line.fixed(fixed!("truncated_tail", "true"));
        }
    }
}

/// Ends a line that [`RecordWriter::write_open`] began, with the number of times that its URL occurs in the message, if
/// that is more than once and known.
pub fn close_line(count: Option<u64>, out: &mut Vec<u8>) {
    let mut line = Object::more(out);
    if let Some(count) = count {
        line.number(field!("count"), count);
    }
    line.close();
    out.push(b'\n');
}

/// The URL and what its grammars say of it.
fn reading(line: &mut Object<'_>, record: &Record<'_>) {
    let found = record.found;
    let url = found.url();
    let verdicts = found.verdicts;
    let parts = verdicts.map_or_else(|| components(url), |verdicts| verdicts.components);
    let rfc1738 = verdicts.and_then(|verdicts| verdicts.rfc1738.as_ref().ok());
    line.text(field!("url"), url);
    line.maybe(field!("fragment"), found.fragment());
    line.lower(field!("scheme"), parts.scheme);
    line.maybe_name(field!("form"), rfc1738.map(|url| url.form.name()));
    line.names(
        field!("conforms"),
        verdicts
            .iter()
            .flat_map(|verdicts| verdicts.conforms())
            .map(Grammar::name),
    );
    line.names(
        field!("warnings"),
        rfc1738
            .iter()
            .flat_map(|url| url.warnings())
            .map(grammar::Warning::name),
    );
    let refused = verdicts.and_then(|verdicts| verdicts.rfc1738.as_ref().err().copied());
    match refused {
        None => line.null(field!("error")),
        Some(reject) => line.value(field!("error"), &ErrorLine::from(reject)),
    }
    let own = verdicts
        .iter()
        .flat_map(|verdicts| hazards(url, verdicts))
        .map(Hazard::name);
    line.names(
        field!("hazards"),
        own.chain((record.mismatch == Some(true)).then_some("mismatch")),
    );
    match found.truncated {
        Some(_) => line.name(field!("key"), ""),
        None => line.text(field!("key"), &key_of_components(&parts)),
    }
    match verdicts.map(|_| rfc1738.map_or_else(|| Parts::Generic(parts), Parts::Rfc1738)) {
        Some(parts) => line.cut_from(url, |line| {
            line.object(field!("parts"), |line| parts.write(line))
        }),
        None => line.null(field!("parts")),
    }
    line.maybe(
        field!("href"),
        verdicts.and_then(Verdicts::href).map(str::as_bytes),
    );
}

/// How it was found, and what was done to it.
fn finding(line: &mut Object<'_>, record: &Record<'_>) {
    let found = record.found;
    line.name(field!("wrapper"), found.wrapper.name());
    line.text_and_octets(field!("raw"), field!("raw_b64"), record.raw);
    line.names(
        field!("repairs"),
        found.repairs.iter().map(crate::repair::Repair::name),
    );
    match found.alternates {
        [] => line.fixed(fixed!("alternates", "[]")),
        _ => line.value(field!("alternates"), &alternates(record)),
    }
    match rounded(found.confidence) {
        1.0 => line.fixed(fixed!("confidence", "1.0")),
        other => line.value(field!("confidence"), &other),
    }
    if let Some(truncated) = found.truncated {
        line.value(field!("truncated"), &true);
        line.number(field!("full_length"), truncated.full_length as u64);
        line.hex(field!("full_hash"), truncated.full_hash);
    }
    line.text(field!("region"), record.region.as_bytes());
    match record.quote_depth {
        0 => line.fixed(fixed!("quote_depth", "0")),
        depth => line.number(field!("quote_depth"), depth as u64),
    }
    if let Some(anchor) = record.anchor {
        line.text(field!("anchor"), anchor);
    }
    if let Some(mismatch) = record.mismatch {
        line.value(field!("mismatch"), &mismatch);
    }
    if let Some(from) = record.redirected_from {
        line.hex(field!("unwrapped_from"), from.record_id);
        line.name(field!("unwrapped_by"), from.redirector);
    }
}

impl RecordWriter {
    /// Where it came from.
    fn origin(&mut self, line: &mut Object<'_>, record: &Record<'_>) {
        let place = &record.origin;
        line.begun(field!("source"), &self.source, |source| {
            source.number(field!("start"), place.start);
            source.number(field!("end"), place.end);
            source.number(field!("line"), place.line);
            source.value(field!("exact"), &place.exact);
        });
        line.encoded(field!("message"), &self.message);
        match record.part {
            None => line.null(field!("part")),
            Some(part) => line.encoded(field!("part"), self.part.of(part)),
        }
        if let Some(context) = record.context {
            line.object(field!("context"), |line| {
                line.text(field!("before"), context.before);
                line.text(field!("after"), context.after);
            });
        }
    }

    /// Encodes it as it stands in `record`.
    fn fill(&mut self, record: &Record<'_>) {
        let place = &record.origin;
        let mut source = Object::open(&mut self.source);
        source.text_and_octets(
            field!("path"),
            field!("path_b64"),
            place.source.path.as_os_str().as_encoded_bytes(),
        );
        let (member, member_b64) = member(place.source);
        source.value(field!("member"), &member);
        if let Some(octets) = member_b64 {
            source.value(field!("member_b64"), &octets);
        }
        source.name(field!("kind"), place.kind.name());
        let mut message = Object::open(&mut self.message);
        message.number(field!("start"), place.message_start);
        message.number(field!("end"), place.message_end);
        info(
            &mut message,
            record.message.unwrap_or(&MessageInfo::default()),
        );
        message.close();
    }
}

/// What is known of the message.
fn info(line: &mut Object<'_>, info: &MessageInfo) {
    let date = info.date.as_ref();
    line.maybe(field!("id"), info.id.as_deref().map(str::as_bytes));
    line.maybe(
        field!("date"),
        date.and_then(|date| date.utc.as_deref()).map(str::as_bytes),
    );
    // The field as written, where it is no date, or its zone is unknown.
    if let Some(date) = date.filter(|date| date.utc.is_none() || date.zone == Zone::Unknown) {
        line.text(field!("date_raw"), date.raw.as_bytes());
    }
    line.maybe(field!("from"), info.from.as_deref().map(str::as_bytes));
    line.maybe(
        field!("subject"),
        info.subject.as_deref().map(str::as_bytes),
    );
    line.texts(
        field!("newsgroups"),
        info.newsgroups.iter().map(String::as_bytes),
    );
    line.maybe(
        field!("list_id"),
        info.list_id.as_deref().map(str::as_bytes),
    );
    line.texts(
        field!("references"),
        info.references.iter().map(String::as_bytes),
    );
}

/// A confidence with three digits, so that it reads the same everywhere.
fn rounded(confidence: f32) -> f64 {
    (f64::from(confidence) * 1000.0).round() / 1000.0
}

#[derive(Serialize)]
struct AlternateLine<'r> {
    url: Cow<'r, str>,
    fragment: Option<Cow<'r, str>>,
    why: &'static str,
    confidence: f64,
}

fn alternates<'r>(record: &Record<'r>) -> Vec<AlternateLine<'r>> {
    let line = |other: &'r crate::parse::Alternate| AlternateLine {
        url: text(&other.full[..other.url_len]),
        fragment: other.full.get(other.url_len + 1..).map(text),
        why: other.why.name(),
        confidence: rounded(other.confidence),
    };
    record.found.alternates.iter().map(line).collect()
}
