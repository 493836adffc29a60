//! The wire format, written: one JSON object on one line, its fields in this order.

use std::borrow::Cow;

use data_encoding::BASE64;
use serde::Serialize;

use super::parts::{Decoded, Parts, text};
use super::{Record, SCHEMA};
use crate::grammar::{self, Class, Form, Reject};
use crate::origin::Source;
use crate::parse::{Hazard, Reason, Verdicts, hazards, key, split};
use crate::problem::Event;

/// A record of type `url`.
#[derive(Serialize)]
struct UrlLine<'r> {
    schema: u32,
    r#type: &'static str,
    id: String,
    url: Cow<'r, str>,
    fragment: Option<Cow<'r, str>>,
    scheme: String,
    form: Option<&'static str>,
    conforms: Vec<&'static str>,
    warnings: Vec<&'static str>,
    error: Option<ErrorLine>,
    hazards: Vec<&'static str>,
    key: Cow<'r, str>,
    parts: Option<Parts<'r>>,
    href: Option<&'r str>,
    wrapper: &'static str,
    raw: Cow<'r, str>,
    /// The octets of `raw`, where they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_b64: Option<String>,
    repairs: Vec<&'static str>,
    alternates: Vec<AlternateLine<'r>>,
    confidence: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    full_length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    full_hash: Option<String>,
    region: &'r str,
    quote_depth: usize,
    /// What a page shows for the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor: Option<Cow<'r, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mismatch: Option<bool>,
    /// The id of the redirector's record that it was taken out of, and whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    unwrapped_from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unwrapped_by: Option<&'static str>,
    source: SourceLine<'r>,
    message: MessageLine<'r>,
    part: Option<PartLine<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<ContextLine<'r>>,
}

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

#[derive(Serialize)]
struct SourceLine<'r> {
    path: Cow<'r, str>,
    /// The octets of `path`, where they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    member: Option<Vec<Cow<'r, str>>>,
    /// The octets of `member`, where one of the names is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    member_b64: Option<Vec<String>>,
    kind: &'static str,
    start: u64,
    end: u64,
    line: u64,
    exact: bool,
}

#[derive(Serialize)]
struct MessageLine<'r> {
    start: u64,
    end: u64,
    id: Option<&'r str>,
    date: Option<&'r str>,
    /// The field as written, where it is no date, or its zone is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    date_raw: Option<&'r str>,
    from: Option<&'r str>,
    subject: Option<&'r str>,
    newsgroups: &'r [String],
    list_id: Option<&'r str>,
    references: &'r [String],
}

#[derive(Serialize)]
struct PartLine<'r> {
    path: &'r str,
    r#type: &'r str,
    charset: Option<&'r str>,
    encoding: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<&'r str>,
}

#[derive(Serialize)]
struct ContextLine<'r> {
    before: Cow<'r, str>,
    after: Cow<'r, str>,
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

/// Appends `record` and a line end.
pub fn write(record: &Record<'_>, out: &mut Vec<u8>) {
    let found = record.found;
    let url = found.url();
    let verdicts = found.verdicts;
    let rfc1738 = verdicts.and_then(|verdicts| verdicts.rfc1738.as_ref().ok());
    let key = if found.truncated.is_some() { Vec::new() } else { key(url) };
    let line = UrlLine {
        schema: SCHEMA,
        r#type: "url",
        id: format!("{:032x}", record.id),
        url: text(url),
        fragment: found.fragment().map(text),
        scheme: scheme(url),
        form: rfc1738.map(|url| url.form.name()),
        conforms: verdicts.map_or(Vec::new(), |verdicts| verdicts.conforms().collect()),
        warnings: rfc1738.map_or(Vec::new(), |url| url.warnings().into_iter().map(grammar::Warning::name).collect()),
        error: verdicts.and_then(|verdicts| verdicts.rfc1738.as_ref().err().copied()).map(ErrorLine::from),
        hazards: all_hazards(record),
        key: text(&key),
        parts: verdicts.map(|_| rfc1738.map_or_else(|| Parts::Generic(split(url)), Parts::Rfc1738)),
        href: verdicts.and_then(Verdicts::href),
        wrapper: found.wrapper.name(),
        raw: text(record.raw),
        raw_b64: b64_unless_utf8(record.raw),
        repairs: found.repairs.iter().map(crate::repair::Repair::name).collect(),
        alternates: alternates(record),
        confidence: rounded(found.confidence),
        truncated: found.truncated.map(|_| true),
        full_length: found.truncated.map(|truncated| truncated.full_length),
        full_hash: found.truncated.map(|truncated| format!("{:032x}", truncated.full_hash)),
        region: record.region,
        quote_depth: record.quote_depth,
        anchor: record.anchor.map(text),
        mismatch: record.mismatch,
        unwrapped_from: record.unwrapped.map(|(id, _)| format!("{id:032x}")),
        unwrapped_by: record.unwrapped.map(|(_, by)| by),
        source: source(record),
        message: message(record),
        part: record.part.map(|part| PartLine {
            path: &part.path,
            r#type: &part.media_type,
            charset: part.charset.as_deref(),
            encoding: &part.encoding,
            message_id: part.message_id.as_deref(),
        }),
        context: record.context.map(|(before, after)| ContextLine { before: text(before), after: text(after) }),
    };
    line_to(out, &line);
}

/// The URL's own hazards, and that of what is shown for it.
fn all_hazards(record: &Record<'_>) -> Vec<&'static str> {
    let own = record.found.verdicts.map_or(Vec::new(), |verdicts| hazards(record.found.url(), verdicts));
    let shown = record.mismatch.filter(|mismatch| *mismatch).map(|_| "mismatch");
    own.into_iter().map(Hazard::name).chain(shown).collect()
}

/// Says of the last line of `out`, which is a record, that its message ended within a line when it was taken.
pub fn mark_truncated_tail(out: &mut Vec<u8>) {
    if out.ends_with(b"}\n") {
        out.truncate(out.len() - 2);
        out.extend_from_slice(b",\"truncated_tail\":true}\n");
    }
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

fn source<'r>(record: &Record<'r>) -> SourceLine<'r> {
    let place = &record.place;
    let (path, path_b64) = path(place.source);
    let (member, member_b64) = member(place.source);
    SourceLine {
        path,
        path_b64,
        member,
        member_b64,
        kind: place.kind.name(),
        start: place.start,
        end: place.end,
        line: place.line,
        exact: place.exact,
    }
}

fn message<'r>(record: &Record<'r>) -> MessageLine<'r> {
    let facts = record.facts;
    let date = facts.and_then(|facts| facts.date.as_ref());
    let doubtful = date.filter(|date| date.utc.is_none() || date.zone == crate::decode::Zone::Unknown);
    MessageLine {
        start: record.place.message_start,
        end: record.place.message_end,
        id: facts.and_then(|facts| facts.id.as_deref()),
        date: date.and_then(|date| date.utc.as_deref()),
        date_raw: doubtful.map(|date| date.raw.as_str()),
        from: facts.and_then(|facts| facts.from.as_deref()),
        subject: facts.and_then(|facts| facts.subject.as_deref()),
        newsgroups: facts.map_or(&[], |facts| &facts.newsgroups),
        list_id: facts.and_then(|facts| facts.list_id.as_deref()),
        references: facts.map_or(&[], |facts| &facts.references),
    }
}

fn path(source: &Source) -> (Cow<'_, str>, Option<String>) {
    let octets = source.path.as_os_str().as_encoded_bytes();
    (text(octets), b64_unless_utf8(octets))
}

fn member(source: &Source) -> (Option<Vec<Cow<'_, str>>>, Option<Vec<String>>) {
    let names = source.member();
    let is_lossy = names.iter().any(|name| std::str::from_utf8(name).is_err());
    let texts = (!names.is_empty()).then(|| names.iter().map(|name| text(name)).collect());
    (texts, is_lossy.then(|| names.iter().map(|name| BASE64.encode(name)).collect()))
}

fn b64_unless_utf8(octets: &[u8]) -> Option<String> {
    std::str::from_utf8(octets).is_err().then(|| BASE64.encode(octets))
}

/// A confidence with three digits, so that it reads the same everywhere.
fn rounded(confidence: f32) -> f64 {
    (f64::from(confidence) * 1000.0).round() / 1000.0
}

fn scheme(url: &[u8]) -> String {
    text(split(url).scheme).to_ascii_lowercase()
}

/// Appends a value and a line end.
pub(super) fn line_to(out: &mut Vec<u8>, line: &impl Serialize) {
    serde_json::to_writer(&mut *out, line).expect("our own types serialize, and a Vec takes all octets");
    out.push(b'\n');
}

/// How many octets at the start of `octets` (or, from the end, `back` ones) can go without dividing a character.
#[must_use]
pub fn context_border(octets: &[u8], at: usize) -> usize {
    (at.saturating_sub(3)..=at).rev().find(|&at| octets.get(at).is_none_or(|byte| byte & 0xC0 != 0x80)).unwrap_or(at)
}

/// Appends a record's line, with the number of times that its URL stood in the message.
///
/// # Panics
///
/// Never: a line of ours ends in a closing brace and a line end.
pub fn with_count(line: &[u8], count: u64, out: &mut Vec<u8>) {
    let open = line.strip_suffix(b"}\n").expect("a line of ours");
    out.extend_from_slice(open);
    out.extend_from_slice(format!(",\"count\":{count}}}\n").as_bytes());
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
        PlaceLine { path, path_b64, member, member_b64, start, end }
    }
}

/// Appends a refused candidate and a line end.
pub fn reject(octets: &[u8], reason: Reason, place: &super::Origin<'_>, out: &mut Vec<u8>) {
    let error = match reason {
        Reason::Grammar(reject) => Some(ErrorLine::from(reject)),
        _ => None,
    };
    let place = PlaceLine::new(place.source, Some(place.start), Some(place.end));
    let reason = ReasonLine { kind: reason.name(), error };
    line_to(out, &RejectLine { r#type: "reject", text: text(octets), reason, source: place });
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
pub fn event(event: &Event, out: &mut Vec<u8>) {
    let place = PlaceLine::new(&event.source, event.problem.offset, None);
    let message = &event.problem.message;
    line_to(out, &EventLine { r#type: "event", kind: event.problem.kind.name(), source: place, message });
}

/// What `urlspool parse` prints.
#[derive(Serialize)]
struct ParseLine<'r> {
    input: Cow<'r, str>,
    ok: bool,
    scheme: Option<String>,
    scheme_class: Option<&'static str>,
    form: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fragment: Option<Cow<'r, str>>,
    parts: Option<Parts<'r>>,
    decoded: Option<Decoded<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    commands: Option<Vec<[String; 2]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<String>,
    warnings: Vec<&'static str>,
    error: Option<ErrorLine>,
    conforms: Vec<&'static str>,
    href: Option<&'r str>,
    key: Option<Cow<'r, str>>,
    hazards: Vec<&'static str>,
}

/// Appends RFC 1738's reading of `input`, the first `url_len` octets of which are the URL, and a line end.
/// Whether RFC 1738 accepts it is given back.
pub fn parsed(input: &[u8], url_len: usize, out: &mut Vec<u8>) -> bool {
    let url = &input[..url_len];
    let verdicts = Verdicts::of(input, url_len);
    let read = verdicts.rfc1738.as_ref().ok();
    let accepted = verdicts.conforms().next().is_some();
    let latin1 = |octets: Vec<u8>| octets.into_iter().map(char::from).collect::<String>();
    let key = key(url);
    let line = ParseLine {
        input: text(input),
        ok: read.is_some(),
        scheme: accepted.then(|| scheme(url)),
        scheme_class: accepted.then(|| Class::of(split(url).scheme).name()),
        form: read.map(|url| url.form.name()),
        fragment: input.get(url_len + 1..).map(text),
        parts: match read {
            Some(url) => Some(Parts::Rfc1738(url)),
            None => accepted.then(|| Parts::Generic(split(url))),
        },
        decoded: read.map(Decoded),
        commands: read.and_then(|url| match &url.form {
            Form::Ftp(ftp) => {
                Some(ftp.commands().into_iter().map(|c| [c.verb.to_owned(), latin1(c.argument)]).collect())
            }
            _ => None,
        }),
        request: read.and_then(|url| match &url.form {
            Form::Gopher(gopher) => Some(latin1(gopher.request())),
            _ => None,
        }),
        warnings: read.map_or(Vec::new(), |url| url.warnings().into_iter().map(grammar::Warning::name).collect()),
        error: verdicts.rfc1738.as_ref().err().copied().map(ErrorLine::from),
        conforms: verdicts.conforms().collect(),
        href: verdicts.href(),
        key: accepted.then(|| text(&key)),
        hazards: if accepted { hazards(url, &verdicts).into_iter().map(Hazard::name).collect() } else { Vec::new() },
    };
    line_to(out, &line);
    read.is_some()
}
