//! Lines other than records: rejects, events, removed messages, the line of `urlspool parse` with
//! the results of all grammars, and the sidecars of segments.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::RecordOrigin;
use super::json::{JsonSink, ObjectWriter, exact_string, string};
use super::parts::PartValue::{Assignments, Char, Flag, Name, Port, Text, Texts};
use super::parts::{PartValue, Parts, for_each_of_form};
use super::value::{Scalar, ValueSink, put_base64, put_member, put_member_base64};
use urlspool_text::diagnostic::Event;
use urlspool_text::grammar::{Reject, SchemeClass, UrlForm, Warning, decode};
use urlspool_text::origin::Source;
use urlspool_text::parse::{Grammar, Hazard, RejectReason, Verdicts, hazards, key};

/// Writes the `source` of a reject or an event.
fn put_source(line: &mut ObjectWriter<'_>, source: &Source, start: Option<u64>, end: Option<u64>) {
    let path = source.path.as_os_str().as_encoded_bytes();
    let mut place = line.object("source");
    place.put("path", Scalar::Text(path));
    put_base64(path, place.member("path_b64"));
    put_member(source.member(), place.member("member"));
    put_member_base64(source.member(), place.member("member_b64"));
    place.put("start", Scalar::integer(start));
    place.put("end", Scalar::integer(end));
    place.end();
}

/// Writes the reason why RFC 1738 rejects a URL or candidate.
pub(super) fn put_error(line: &mut ObjectWriter<'_>, name: &'static str, reject: Option<Reject>) {
    let Some(reject) = reject else {
        return line.put(name, Scalar::Null);
    };
    let mut error = line.object(name);
    error.put("offset", Scalar::Integer(reject.offset as u64));
    error.put("part", Scalar::Name(reject.part.name()));
    error.put("kind", Scalar::Name(reject.kind.name()));
    error.put("message", Scalar::Text(reject.to_string().as_bytes()));
    error.end();
}

/// Appends the rejected candidate with the text `candidate` as one line.
pub fn write_reject(
    candidate: &[u8],
    reason: RejectReason,
    origin: &RecordOrigin<'_>,
    out: &mut Vec<u8>,
) {
    let mut line = ObjectWriter::begin(out);
    line.put("type", Scalar::Name("reject"));
    line.put("text", Scalar::Text(candidate));
    let mut object = line.object("reason");
    object.put("kind", Scalar::Name(reason.name()));
    let error = match reason {
        RejectReason::Grammar(reject) => Some(reject),
        _ => None,
    };
    put_error(&mut object, "error", error);
    object.end();
    put_source(
        &mut line,
        origin.source,
        Some(origin.start),
        Some(origin.end),
    );
    line.end_line();
}

/// Appends an event as one line.
pub fn write_event(event: &Event, out: &mut Vec<u8>) {
    let mut line = ObjectWriter::begin(out);
    line.put("type", Scalar::Name("event"));
    line.put("kind", Scalar::Name(event.diagnostic.kind.name()));
    put_source(&mut line, &event.source, event.diagnostic.offset, None);
    line.put("message", Scalar::Text(event.diagnostic.message.as_bytes()));
    line.end_line();
}

/// Appends a message removed from `mailbox` as one line. `digests` are all digests under which its
/// records were written.
pub fn write_gone(mailbox: &[u8], digests: &[u128], out: &mut Vec<u8>) {
    let mut line = ObjectWriter::begin(out);
    line.put("type", Scalar::Name("gone"));
    line.put("mailbox", Scalar::Text(mailbox));
    put_base64(mailbox, line.member("mailbox_b64"));
    let digests = digests.iter().map(|digest| Scalar::Digest(*digest));
    line.member("digests").list(digests);
    line.end_line();
}

/// Components whose escapes may be decoded.
const DECODED: [&str; 16] = [
    "user",
    "password",
    "segments",
    "search",
    "cwd",
    "name",
    "gtype",
    "selector",
    "gopher_plus",
    "addr",
    "unique",
    "database",
    "wtype",
    "wpath",
    "hsoname",
    "fields",
];

/// Appends a component with its escapes decoded once. Each byte becomes the character with the same
/// code.
fn decoded(part: &[u8], out: &mut Vec<u8>) {
    exact_string(&latin1(&decode(part)), out);
}

/// Passes the value of a component to `sink`. `append` writes its texts.
fn put_part(
    value: PartValue<'_, '_>,
    append: impl Fn(&[u8], &mut Vec<u8>),
    sink: &mut JsonSink<'_>,
) {
    match value {
        Text(Some(text)) => append(text, sink.out()),
        Texts(texts) => sink.items(texts, append),
        Assignments(pairs) => sink.items(pairs, |pair, out| {
            JsonSink::new(out).items(pair.into_iter(), &append);
        }),
        Name(name) => sink.scalar(Scalar::Name(name)),
        Port(port) => sink.scalar(Scalar::integer(port)),
        Flag(flag) => sink.scalar(Scalar::Boolean(flag)),
        Char(Some(byte)) => exact_string(char::from(byte).encode_utf8(&mut [0; 2]), sink.out()),
        Text(None) | Char(None) => sink.scalar(Scalar::Null),
    }
}

/// Converts each byte to the character with the same code.
fn latin1(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if bytes.is_ascii() => text.into(),
        _ => bytes.iter().copied().map(char::from).collect(),
    }
}

/// Appends the result of parsing `input` by RFC 1738 as one line. The first `url_len` bytes of
/// `input` are the URL.
///
/// Returns `true` if RFC 1738 accepts the URL.
pub fn write_parsed(input: &[u8], url_len: usize, out: &mut Vec<u8>) -> bool {
    let verdicts = Verdicts::of(input, url_len);
    let reading = verdicts.rfc1738.as_ref();
    // Rejected text has no scheme, key or hazards.
    let is_accepted = verdicts.conforms().next().is_some();
    let scheme = is_accepted.then_some(verdicts.components.scheme);
    let generic = is_accepted.then_some(Parts::Generic(verdicts.components));
    // If no fragment was split off, the text from the `#` on belongs to no component.
    let url = &input[..memchr::memchr(b'#', input).map_or(url_len, |hash| hash.min(url_len))];
    let mut line = ObjectWriter::begin(out);
    line.put("input", Scalar::Text(input));
    line.put("ok", Scalar::Boolean(reading.is_ok()));
    let lowercase = scheme.map(<[u8]>::to_ascii_lowercase);
    line.put("scheme", Scalar::text(lowercase.as_deref()));
    let class = scheme.map(|scheme| SchemeClass::of(scheme).name());
    line.put("scheme_class", Scalar::name(class));
    let form = reading.ok().map(|url| url.form.name());
    line.put("form", Scalar::name(form));
    if let Some(fragment) = input.get(url_len + 1..) {
        line.put("fragment", Scalar::Text(fragment));
    }
    match reading.ok().map(Parts::Rfc1738).or(generic) {
        Some(parts) => {
            let mut object = line.object("parts");
            parts.for_each(&mut |name, value| put_part(value, string, object.member(name)));
            object.end();
        }
        None => line.put("parts", Scalar::Null),
    }
    match reading {
        Ok(url) => {
            let mut object = line.object("decoded");
            for_each_of_form(url, &mut |name, value| {
                if DECODED.contains(&name) {
                    put_part(value, decoded, object.member(name));
                }
            });
            object.end();
        }
        Err(_) => line.put("decoded", Scalar::Null),
    }
    match reading.map(|url| &url.form) {
        Ok(form @ UrlForm::Ftp { .. }) => {
            let commands = form.commands();
            let commands = commands.iter().map(|it| (it.verb, latin1(&it.argument)));
            line.member("commands")
                .append(&commands.collect::<Vec<_>>());
        }
        Ok(UrlForm::Gopher { path, .. }) => {
            let request = path.unwrap_or_default().request();
            exact_string(&latin1(&request), line.member("request").out());
        }
        _ => {}
    }
    let warnings = reading.iter().flat_map(|url| url.warnings());
    line.member("warnings")
        .list(warnings.map(Warning::name).map(Scalar::Name));
    put_error(&mut line, "error", reading.err().copied());
    let conforms = verdicts.conforms().map(Grammar::name);
    line.member("conforms").list(conforms.map(Scalar::Name));
    line.put("href", Scalar::str(verdicts.href()));
    let key = is_accepted.then(|| key(url));
    line.put("key", Scalar::text(key.as_deref()));
    let hazards = is_accepted.then(|| hazards(url, &verdicts));
    let hazards = hazards.into_iter().flatten().map(Hazard::name);
    line.member("hazards").list(hazards.map(Scalar::Name));
    line.end_line();
    reading.is_ok()
}

/// Sidecar of a segment, one line of JSON with enough data to verify the segment. The daemon
/// appends the changes of its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sidecar {
    /// Version of the record format.
    pub schema: u32,
    /// Identifier of the state that wrote the segment.
    pub instance: String,
    /// Number of the segment.
    pub seq: u64,
    /// Name of the segment's file.
    pub name: String,
    /// Length of the lines in bytes, before compression.
    pub len: u64,
    /// XXH3 (64 bits) of the lines before compression, in hexadecimal digits.
    pub xxh3_64: String,
    /// Number of lines.
    pub records: u64,
    /// Number of messages that the lines come from.
    pub messages: u64,
    /// Number of times that the state was rebuilt.
    pub epoch: u64,
}

impl Sidecar {
    /// Reads a sidecar. `None` if it was not completely written.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Sidecar> {
        serde_json::from_slice(bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{RecordLine, is_written_line, read_record_line};

    #[test]
    fn a_gone_line_is_read_back() {
        let mut line = Vec::new();
        write_gone(b"/m/\"a\"\xFF", &[1, u128::MAX], &mut line);
        assert!(is_written_line(&line));
        let Ok(RecordLine::Gone(gone)) = read_record_line(&line) else {
            panic!("{line:?}")
        };
        assert_eq!(&*gone.mailbox, "/m/\"a\"\u{FFFD}");
        assert_eq!(gone.mailbox_b64.as_deref(), Some("L20vImEi/w=="));
        assert_eq!(
            gone.digests.iter().map(|text| &**text).collect::<Vec<_>>(),
            [&format!("{:032x}", 1)[..], &"f".repeat(32)]
        );
    }
}
