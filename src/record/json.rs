//! The wire format, written: one JSON object on one line, its fields in this order.

use std::borrow::Cow;

use data_encoding::BASE64;
use serde::Serialize;

use super::object::{Object, field, fixed};
use super::parts::{Decoded, Parts, text};
use super::readings::RecordCache;
use super::{Record, SCHEMA};
use crate::decode::{MessageInfo, MimePart, Zone};
use crate::diagnostic::Event;
use crate::grammar::{self, Reject, SchemeClass, UrlForm};
use crate::origin::Source;
use crate::parse::{
    Grammar, Hazard, RejectReason, Verdicts, components, hazards, key, key_of_components,
};

/// Why RFC 1738 refuses a URL.
#[derive(Serialize)]
struct ErrorLine {
    offset: usize,
    part: &'static str,
    kind: &'static str,
    message: String,
}

#[derive(Serialize)]
struct AlternateLine<'r> {
    url: Cow<'r, str>,
    fragment: Option<Cow<'r, str>>,
    why: &'static str,
    confidence: f64,
}

impl From<Reject> for ErrorLine {
    fn from(reject: Reject) -> ErrorLine {
        ErrorLine {
            offset: reject.offset,
            part: reject.part.name(),
            kind: reject.kind.name(),
            message: reject.to_string(),
        }
    }
}

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

/// The part that was written last, and the whole of `part` for it: parts are alike from one message to the next.
#[derive(Debug, Default)]
struct PartWritten {
    path: String,
    media_type: String,
    charset: Option<String>,
    encoding: String,
    message_id: Option<String>,
    /// Nothing before the first.
    json: Vec<u8>,
}

impl PartWritten {
    /// What is written of a part.
    fn of(&mut self, part: &MimePart) -> &[u8] {
        // Whatever `write` writes is compared here.
        let is_same = self.path == part.path
            && self.media_type == part.media_type
            && self.charset == part.charset
            && self.encoding == part.encoding
            && self.message_id == part.message_id
            && !self.json.is_empty();
        if !is_same {
            self.path.clone_from(&part.path);
            self.media_type.clone_from(&part.media_type);
            self.charset.clone_from(&part.charset);
            self.encoding.clone_from(&part.encoding);
            self.message_id.clone_from(&part.message_id);
            self.write();
        }
        &self.json
    }

    fn write(&mut self) {
        self.json.clear();
        let mut line = Object::open(&mut self.json);
        line.text(field!("path"), self.path.as_bytes());
        line.text(field!("type"), self.media_type.as_bytes());
        line.maybe(
            field!("charset"),
            self.charset.as_deref().map(str::as_bytes),
        );
        line.text(field!("encoding"), self.encoding.as_bytes());
        if let Some(id) = &self.message_id {
            line.text(field!("message_id"), id.as_bytes());
        }
        line.close();
    }
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

fn alternates<'r>(record: &Record<'r>) -> Vec<AlternateLine<'r>> {
    let line = |other: &'r crate::parse::Alternate| AlternateLine {
        url: text(&other.full[..other.url_len]),
        fragment: other.full.get(other.url_len + 1..).map(text),
        why: other.why.name(),
        confidence: rounded(other.confidence),
    };
    record.found.alternates.iter().map(line).collect()
}

fn path(source: &Source) -> (Cow<'_, str>, Option<String>) {
    let octets = source.path.as_os_str().as_encoded_bytes();
    (text(octets), b64_unless_utf8(octets))
}

fn member(source: &Source) -> (Option<Vec<Cow<'_, str>>>, Option<Vec<String>>) {
    let names = source.member();
    let is_lossy = names.iter().any(|name| std::str::from_utf8(name).is_err());
    let texts = (!names.is_empty()).then(|| names.iter().map(|name| text(name)).collect());
    (
        texts,
        is_lossy.then(|| names.iter().map(|name| BASE64.encode(name)).collect()),
    )
}

fn b64_unless_utf8(octets: &[u8]) -> Option<String> {
    std::str::from_utf8(octets)
        .is_err()
        .then(|| BASE64.encode(octets))
}

/// A confidence with three digits, so that it reads the same everywhere.
fn rounded(confidence: f32) -> f64 {
    (f64::from(confidence) * 1000.0).round() / 1000.0
}

/// Appends a value and a line end.
pub(super) fn line_to(out: &mut Vec<u8>, line: &impl Serialize) {
    serde_json::to_writer(&mut *out, line)
        .expect("our own types serialize, and a Vec takes all octets");
    out.push(b'\n');
}

/// How many bytes at the start of `bytes` (or, from the end, `back` ones) can go without dividing a character.
#[must_use]
pub fn context_border(octets: &[u8], at: usize) -> usize {
    (at.saturating_sub(3)..=at)
        .rev()
        .find(|&at| octets.get(at).is_none_or(|byte| byte & 0xC0 != 0x80))
        .unwrap_or(at)
}

/// A record of type `reject`.
#[derive(Serialize)]
struct RejectLine<'r> {
    r#type: &'static str,
    text: Cow<'r, str>,
    reason: ReasonLine,
    source: PlaceLine<'r>,
}

#[derive(Serialize)]
struct ReasonLine {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorLine>,
}

#[derive(Serialize)]
struct PlaceLine<'r> {
    path: Cow<'r, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<Vec<Cow<'r, str>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    member_b64: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<u64>,
}

impl PlaceLine<'_> {
    fn new(source: &Source, start: Option<u64>, end: Option<u64>) -> PlaceLine<'_> {
        let (path, path_b64) = path(source);
        let (member, member_b64) = member(source);
        PlaceLine {
            path,
            path_b64,
            member,
            member_b64,
            start,
            end,
        }
    }
}

/// Appends a refused candidate and a line end.
pub fn write_reject(
    octets: &[u8],
    reason: RejectReason,
    place: &super::RecordOrigin<'_>,
    out: &mut Vec<u8>,
) {
    let error = match reason {
        RejectReason::Grammar(reject) => Some(ErrorLine::from(reject)),
        _ => None,
    };
    let place = PlaceLine::new(place.source, Some(place.start), Some(place.end));
    let reason = ReasonLine {
        kind: reason.name(),
        error,
    };
    line_to(
        out,
        &RejectLine {
            r#type: "reject",
            text: text(octets),
            reason,
            source: place,
        },
    );
}

/// A record of type `event`.
#[derive(Serialize)]
struct EventLine<'r> {
    r#type: &'static str,
    kind: &'static str,
    source: PlaceLine<'r>,
    message: &'r str,
}

/// Appends an event and a line end.
pub fn write_event(event: &Event, out: &mut Vec<u8>) {
    let place = PlaceLine::new(&event.source, event.diagnostic.offset, None);
    let message = &event.diagnostic.message;
    line_to(
        out,
        &EventLine {
            r#type: "event",
            kind: event.diagnostic.kind.name(),
            source: place,
            message,
        },
    );
}

/// Appends RFC 1738's reading of `input`, the first `url_len` octets of which are the URL, and a line end.
/// Whether RFC 1738 accepts it is given back.
pub fn write_parsed(input: &[u8], url_len: usize, out: &mut Vec<u8>) -> bool {
    let url = &input[..url_len];
    let verdicts = Verdicts::of(input, url_len);
    let read = verdicts.rfc1738.as_ref().ok();
    let accepted = verdicts.conforms().next().is_some();
    let latin1 = |octets: Vec<u8>| octets.into_iter().map(char::from).collect::<String>();
    let scheme_of = Some(components(url).scheme).filter(|_| accepted);
    let mut line = Object::open(out);
    line.text(field!("input"), input);
    line.value(field!("ok"), &read.is_some());
    match scheme_of {
        Some(scheme) => line.lower(field!("scheme"), scheme),
        None => line.null(field!("scheme")),
    }
    line.maybe_name(
        field!("scheme_class"),
        scheme_of.map(|scheme| SchemeClass::of(scheme).name()),
    );
    line.maybe_name(field!("form"), read.map(|url| url.form.name()));
    if let Some(fragment) = input.get(url_len + 1..) {
        line.text(field!("fragment"), fragment);
    }
    match read
        .map(Parts::Rfc1738)
        .or_else(|| accepted.then(|| Parts::Generic(components(url))))
    {
        Some(parts) => line.cut_from(url, |line| {
            line.object(field!("parts"), |line| parts.write(line))
        }),
        None => line.null(field!("parts")),
    }
    line.value(field!("decoded"), &read.map(Decoded));
    match read.map(|url| &url.form) {
        Some(UrlForm::Ftp(ftp)) => {
            let commands = ftp
                .commands()
                .into_iter()
                .map(|c| [c.verb.to_owned(), latin1(c.argument)]);
            line.value(field!("commands"), &commands.collect::<Vec<_>>());
        }
        Some(UrlForm::Gopher(gopher)) => line.value(field!("request"), &latin1(gopher.request())),
        _ => {}
    }
    line.names(
        field!("warnings"),
        read.iter()
            .flat_map(|url| url.warnings())
            .map(grammar::Warning::name),
    );
    line.value(
        field!("error"),
        &verdicts
            .rfc1738
            .as_ref()
            .err()
            .copied()
            .map(ErrorLine::from),
    );
    line.names(field!("conforms"), verdicts.conforms().map(Grammar::name));
    line.maybe(field!("href"), verdicts.href().map(str::as_bytes));
    line.maybe(field!("key"), accepted.then(|| key(url)).as_deref());
    let hazards = if accepted {
        hazards(url, &verdicts)
    } else {
        Vec::new()
    };
    line.names(field!("hazards"), hazards.into_iter().map(Hazard::name));
    line.close();
    out.push(b'\n');
    read.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts that differ in one thing each are told apart, and what comes again is the same.
    #[test]
    fn what_is_written_of_a_part_is_its_own() {
        let with = |change: fn(&mut MimePart)| {
            let mut part = MimePart::default();
            change(&mut part);
            part
        };
        let parts = [
            with(|_| {}),
            with(|part| part.path.push('b')),
            with(|part| part.media_type.push('b')),
            with(|part| part.charset = Some("b".to_owned())),
            with(|part| part.charset = Some(String::new())),
            with(|part| part.encoding.push('b')),
            with(|part| part.message_id = Some("b".to_owned())),
        ];
        let mut written = PartWritten::default();
        for one in &parts {
            for other in &parts {
                let alone = |part| PartWritten::default().of(part).to_vec();
                assert_eq!(written.of(one), alone(one));
                assert_eq!(written.of(other), alone(other));
                assert_eq!(alone(one) == alone(other), one == other);
            }
        }
    }
}
