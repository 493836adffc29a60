//! The line of `urlspool parse`: the components of a URL, and the readings of all grammars.

use std::borrow::Cow;

use super::json::JsonSink;
use super::json_text::{exact_string, string};
use super::other_lines::GrammarErrorJson;
use super::parts::PartValue::{Assignments, Char, Flag, Name, Port, Text, Texts};
use super::parts::{PartValue, Parts, for_each_of_form};
use super::value::{ValueSink, put_integer, put_name, put_str, put_text};
use crate::grammar::{SchemeClass, Url, UrlForm, Warning, decode};
use crate::parse::{Grammar, Hazard, Verdicts, hazards, key};

/// Components in which escapes may stand for other characters.
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

/// A JSON object that is being written.
struct ObjectWriter<'o> {
    sink: JsonSink<'o>,
    has_members: bool,
}

impl<'o> ObjectWriter<'o> {
    fn begin(out: &'o mut Vec<u8>) -> ObjectWriter<'o> {
        let mut sink = JsonSink::new(out);
        sink.push(b"{");
        ObjectWriter {
            sink,
            has_members: false,
        }
    }

    /// Begins a member, and returns the sink that takes its value.
    fn member(&mut self, name: &'static str) -> &mut JsonSink<'o> {
        if std::mem::replace(&mut self.has_members, true) {
            self.sink.push(b",");
        }
        self.sink.name(name);
        self.sink.push(b":");
        &mut self.sink
    }

    fn end(mut self) {
        self.sink.push(b"}");
    }
}

/// Writes the components as an object: absent ones are null.
fn write_parts(parts: &Parts<'_>, out: &mut Vec<u8>) {
    let mut object = ObjectWriter::begin(out);
    parts.for_each(&mut |name, value| put_part(value, string, object.member(name)));
    object.end();
}

/// Writes the components in [`DECODED`] with their escapes decoded once, each byte as the character
/// of the same number.
fn write_decoded(url: &Url<'_>, out: &mut Vec<u8>) {
    let decoded = |part: &[u8], out: &mut Vec<u8>| exact_string(&latin1(&decode(part)), out);
    let mut object = ObjectWriter::begin(out);
    for_each_of_form(url, &mut |name, value| {
        if DECODED.contains(&name) {
            put_part(value, decoded, object.member(name));
        }
    });
    object.end();
}

/// Hands over the value of a component, its texts as `append` writes them.
fn put_part(
    value: PartValue<'_, '_>,
    append: impl Fn(&[u8], &mut Vec<u8>),
    sink: &mut JsonSink<'_>,
) {
    match value {
        Text(Some(text)) => append(text, sink.out()),
        Text(None) => sink.null(),
        Texts(texts) => sink.list(texts, append),
        Assignments(pairs) => sink.list(pairs, |pair, out| {
            JsonSink::new(out).list(pair.into_iter(), &append);
        }),
        Name(name) => sink.name(name),
        Port(port) => put_integer(port, sink),
        Flag(flag) => sink.boolean(flag),
        Char(Some(byte)) => exact_string(char::from(byte).encode_utf8(&mut [0; 2]), sink.out()),
        Char(None) => sink.null(),
    }
}

/// Returns each byte as the character of the same number.
fn latin1(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if bytes.is_ascii() => text.into(),
        _ => bytes.iter().copied().map(char::from).collect(),
    }
}

/// Appends RFC 1738's reading of `input`, of which the first `url_len` bytes are the URL, as one line.
///
/// Returns `true` if RFC 1738 accepts it.
pub fn write_parsed(input: &[u8], url_len: usize, out: &mut Vec<u8>) -> bool {
    let verdicts = Verdicts::of(input, url_len);
    let reading = verdicts.rfc1738.as_ref();
    // No other text has a scheme, a key or hazards.
    let is_accepted = verdicts.conforms().next().is_some();
    let scheme = is_accepted.then_some(verdicts.components.scheme);
    let generic = is_accepted.then_some(Parts::Generic(verdicts.components));
    // Without a fragment split off, a `#` and what follows it are part of nothing.
    let url = &input[..memchr::memchr(b'#', input).map_or(url_len, |hash| hash.min(url_len))];
    let mut line = ObjectWriter::begin(out);
    line.member("input").text(input);
    line.member("ok").boolean(reading.is_ok());
    let lowercase = scheme.map(<[u8]>::to_ascii_lowercase);
    put_text(lowercase.as_deref(), line.member("scheme"));
    let class = scheme.map(|scheme| SchemeClass::of(scheme).name());
    put_name(class, line.member("scheme_class"));
    put_name(reading.ok().map(|url| url.form.name()), line.member("form"));
    if let Some(fragment) = input.get(url_len + 1..) {
        line.member("fragment").text(fragment);
    }
    let sink = line.member("parts");
    match reading.ok().map(Parts::Rfc1738).or(generic) {
        Some(parts) => write_parts(&parts, sink.out()),
        None => sink.null(),
    }
    let sink = line.member("decoded");
    match reading {
        Ok(url) => write_decoded(url, sink.out()),
        Err(_) => sink.null(),
    }
    match reading.map(|url| &url.form) {
        Ok(UrlForm::Ftp(ftp)) => {
            let commands = ftp.commands();
            let argument = |argument: &Vec<u8>| latin1(argument).into_owned();
            let commands = commands.iter().map(|it| (it.verb, argument(&it.argument)));
            line.member("commands")
                .append(&commands.collect::<Vec<_>>());
        }
        Ok(UrlForm::Gopher(gopher)) => {
            exact_string(&latin1(&gopher.request()), line.member("request").out());
        }
        _ => {}
    }
    let warnings = reading.iter().flat_map(|url| url.warnings());
    line.member("warnings").names(warnings.map(Warning::name));
    let sink = line.member("error");
    match reading {
        Ok(_) => sink.null(),
        Err(reject) => sink.append(&GrammarErrorJson::from(*reject)),
    }
    let conforms = verdicts.conforms().map(Grammar::name);
    line.member("conforms").names(conforms);
    put_str(verdicts.href(), line.member("href"));
    let key = is_accepted.then(|| key(url));
    put_text(key.as_deref(), line.member("key"));
    let hazards = is_accepted.then(|| hazards(url, &verdicts));
    line.member("hazards")
        .names(hazards.into_iter().flatten().map(Hazard::name));
    line.end();
    out.push(b'\n');
    reading.is_ok()
}
