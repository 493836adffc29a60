//! The writer of URL records: one JSON object on one line, its fields in the order of this file.

use super::alternate::{AlternateJson, rounded};
use super::cache::{CacheKey, RecordCache};
use super::closed_sets::MISMATCH;
use super::error::GrammarErrorJson;
use super::location::MemberJson;
use super::object::{Object, field, fixed};
use super::part_cache::PartCache;
use super::parts::Parts;
use super::{Record, SCHEMA};
use crate::decode::{MessageInfo, Zone};
use crate::grammar;
use crate::origin::mailbox;
use crate::parse::{
    Grammar, Hazard, Site, UrlComponents, Verdicts, components, hazards, key_of_components,
};
use crate::repair::Repair;

/// The first fields of a record.
const HEAD: &[u8] = b"{\"schema\":1,\"type\":\"url\"";
const _: () = assert!(SCHEMA == 1, "`HEAD` has another version");

/// Writes records. Fields that records share are encoded once: those of a message until the next begins, those of a URL and
/// a part as long as they are cached.
#[derive(Debug, Default)]
pub struct RecordWriter {
    /// The beginning of `source`, up to its kind.
    source: Vec<u8>,
    /// The whole of `message`; empty before the first record of a message.
    message: Vec<u8>,
    tail: MessageTail,
    urls: RecordCache,
    part: PartCache,
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
    /// Begins a message, which the next records belong to.
    pub fn begin(&mut self, tail: MessageTail) {
        self.source.clear();
        self.message.clear();
        self.tail = tail;
    }

    /// Appends `record` as one line.
    ///
    /// Linear in the length of the line.
    pub fn write(&mut self, record: &Record<'_>, out: &mut Vec<u8>) {
        self.write_open(record, out);
        close_line(None, out);
    }

    /// Appends `record` without its end: [`close_line`] must follow, when the number of occurrences is known.
    ///
    /// Linear in the length of the line.
    pub fn write_open(&mut self, record: &Record<'_>, out: &mut Vec<u8>) {
        if self.message.is_empty() {
            self.encode_message(record);
        }
        out.extend_from_slice(HEAD);
        let mut line = Object::resume(out);
        line.hex(field!("id"), record.id);
        self.write_url(&mut line, record);
        write_wrapping(&mut line, record);
        write_region(&mut line, record);
        self.write_origin(&mut line, record);
        line.fixed(match self.tail {
            MessageTail::Complete => fixed!("truncated_tail", "false"),
            MessageTail::Truncated => fixed!("truncated_tail", "true"),
        });
    }

    /// Writes the fields that depend on the URL alone, from the cache if they are in it.
    fn write_url(&mut self, line: &mut Object<'_>, record: &Record<'_>) {
        // The fields of a truncated URL depend on the bytes that were cut off.
        if record.found.truncated.is_some() {
            return write_reading(line, record);
        }
        let key = CacheKey {
            full: record.found.full,
            mismatch: record.mismatch == Some(true),
        };
        line.fields(|out| {
            self.urls.append(key, out, |out| {
                write_reading(&mut Object::resume(out), record)
            });
        });
    }

    /// Writes the fields on the position in source and message.
    fn write_origin(&mut self, line: &mut Object<'_>, record: &Record<'_>) {
        let origin = &record.origin;
        line.object_after(field!("source"), &self.source, |source| {
            source.number(field!("start"), origin.start);
            source.number(field!("end"), origin.end);
            source.number(field!("line"), origin.line);
            source.value(field!("exact"), &origin.exact);
        });
        line.encoded(field!("message"), &self.message);
        match record.part {
            None => line.null(field!("part")),
            Some(part) => line.encoded(field!("part"), self.part.json(part)),
        }
        match record.context {
            None => line.null(field!("context")),
            Some(context) => line.object(field!("context"), |line| {
                line.text(field!("before"), context.before);
                line.text(field!("after"), context.after);
            }),
        }
    }

    /// Encodes the fields that all records of a message share.
    fn encode_message(&mut self, record: &Record<'_>) {
        let origin = &record.origin;
        let mut source = Object::open(&mut self.source);
        source.text_and_base64(
            field!("path"),
            field!("path_b64"),
            origin.source.path.as_os_str().as_encoded_bytes(),
        );
        source.text(
            field!("mailbox"),
            mailbox(&origin.source.path, origin.kind)
                .as_os_str()
                .as_encoded_bytes(),
        );
        let member = MemberJson::of(origin.source);
        source.value(field!("member"), &member.names);
        source.value(field!("member_b64"), &member.base64);
        source.name(field!("kind"), origin.kind.name());
        let mut message = Object::open(&mut self.message);
        message.number(field!("start"), origin.message_start);
        message.number(field!("end"), origin.message_end);
        let none = MessageInfo::default();
        write_message_info(&mut message, record.digest, record.message.unwrap_or(&none));
        message.close();
    }
}

/// Ends a line that [`RecordWriter::write_open`] began, with the number of times that its URL occurs in the message, where
/// that is counted.
pub fn close_line(count: Option<u64>, out: &mut Vec<u8>) {
    let mut line = Object::resume(out);
    line.optional_number(field!("count"), count);
    line.close();
    out.push(b'\n');
}

/// Writes the URL, its place on the network, and the verdicts of the grammars.
fn write_reading(line: &mut Object<'_>, record: &Record<'_>) {
    let found = record.found;
    let url = found.url();
    let verdicts = found.verdicts;
    let components = verdicts.map_or_else(|| components(url), |verdicts| verdicts.components);
    line.text(field!("url"), url);
    line.optional_text(field!("fragment"), found.fragment());
    line.lowercase_text(field!("scheme"), components.scheme);
    write_site(line, &components);
    let key = match found.truncated {
        Some(_) => None,
        None => Some(key_of_components(&components)),
    };
    line.optional_text(field!("key"), key.as_deref());
    line.optional_text(
        field!("href"),
        verdicts.and_then(Verdicts::href).map(str::as_bytes),
    );
    write_verdicts(line, verdicts);
    line.names(field!("hazards"), hazard_names(record));
    let rfc1738 = verdicts.and_then(|verdicts| verdicts.rfc1738.as_ref().ok());
    line.optional_name(field!("form"), rfc1738.map(|url| url.form.name()));
    let generic = || Parts::Generic(components);
    match verdicts.map(|_| rfc1738.map_or_else(generic, Parts::Rfc1738)) {
        Some(parts) => line.cut_from(url, |line| {
            line.part_list(field!("parts"), |list| parts.write_entries(list));
        }),
        None => line.fixed(fixed!("parts", "[]")),
    }
}

/// Writes host, port, path and query of a URL with an authority.
fn write_site(line: &mut Object<'_>, components: &UrlComponents<'_>) {
    let Some(site) = Site::of(components) else {
        return line.fixed(concat!(
            fixed!("host", "null"),
            fixed!("domain", "null"),
            fixed!("port", "null"),
            fixed!("path", "null"),
            fixed!("query", "null"),
        ));
    };
    line.text(field!("host"), site.host.as_bytes());
    line.optional_text(field!("domain"), site.domain().map(str::as_bytes));
    line.optional_number(field!("port"), site.port);
    line.text(field!("path"), components.path);
    line.optional_text(field!("query"), components.query);
}

/// Writes the grammars that accept the URL, and the error or the warnings of RFC 1738's reading.
fn write_verdicts(line: &mut Object<'_>, verdicts: Option<&Verdicts<'_>>) {
    let rfc1738 = verdicts.map(|verdicts| &verdicts.rfc1738);
    line.names(
        field!("conforms"),
        verdicts
            .iter()
            .flat_map(|verdicts| verdicts.conforms())
            .map(Grammar::name),
    );
    match rfc1738 {
        Some(Err(reject)) => line.value(field!("error"), &GrammarErrorJson::from(*reject)),
        _ => line.null(field!("error")),
    }
    line.names(
        field!("warnings"),
        rfc1738
            .iter()
            .filter_map(|result| result.as_ref().ok())
            .flat_map(grammar::Url::warnings)
            .map(grammar::Warning::name),
    );
}

/// The names in `hazards`.
pub(super) fn hazard_names(record: &Record<'_>) -> impl Iterator<Item = &'static str> {
    let of_url = record
        .found
        .verdicts
        .into_iter()
        .flat_map(|verdicts| hazards(record.found.url(), verdicts))
        .map(Hazard::name);
    let of_link = (record.mismatch == Some(true)).then_some(MISMATCH);
    of_url.chain(of_link)
}

/// Writes the delimiters around the URL, the repairs and the other readings.
fn write_wrapping(line: &mut Object<'_>, record: &Record<'_>) {
    let found = record.found;
    line.name(field!("wrapper"), found.wrapper.name());
    line.text_and_base64(field!("raw"), field!("raw_b64"), record.raw);
    line.names(field!("repairs"), found.repairs.iter().map(Repair::name));
    match found.alternates {
        [] => line.fixed(fixed!("alternates", "[]")),
        alternates => {
            let alternates: Vec<_> = alternates.iter().map(AlternateJson::from).collect();
            line.value(field!("alternates"), &alternates);
        }
    }
    match rounded(found.confidence) {
        1.0 => line.fixed(fixed!("confidence", "1.0")),
        other => line.value(field!("confidence"), &other),
    }
    match found.truncated {
        None => line.fixed(concat!(
            fixed!("truncated", "false"),
            fixed!("full_length", "null"),
            fixed!("full_hash", "null"),
        )),
        Some(truncated) => {
            line.fixed(fixed!("truncated", "true"));
            line.number(field!("full_length"), truncated.full_length as u64);
            line.hex(field!("full_hash"), truncated.full_hash);
        }
    }
}

/// Writes the region of the message, and the link or the redirector's URL that the URL was read from.
fn write_region(line: &mut Object<'_>, record: &Record<'_>) {
    line.text(field!("region"), record.region.as_bytes());
    match record.quote_depth {
        0 => line.fixed(fixed!("quote_depth", "0")),
        depth => line.number(field!("quote_depth"), depth as u64),
    }
    line.optional_text(field!("anchor"), record.anchor);
    match record.mismatch {
        None => line.null(field!("mismatch")),
        Some(mismatch) => line.value(field!("mismatch"), &mismatch),
    }
    match record.redirected_from {
        None => line.fixed(concat!(
            fixed!("unwrapped_from", "null"),
            fixed!("unwrapped_by", "null"),
        )),
        Some(from) => {
            line.hex(field!("unwrapped_from"), from.record_id);
            line.name(field!("unwrapped_by"), from.redirector);
        }
    }
}

/// Writes the header data of the message.
fn write_message_info(line: &mut Object<'_>, digest: u128, info: &MessageInfo) {
    let date = info.date.as_ref();
    line.optional_text(field!("id"), bytes_of(info.id.as_deref()));
    line.hex(field!("digest"), digest);
    line.optional_text(
        field!("date"),
        bytes_of(date.and_then(|date| date.utc.as_deref())),
    );
    line.optional_text(field!("date_raw"), bytes_of(raw_date(info)));
    line.optional_text(field!("from"), bytes_of(info.from.as_deref()));
    line.optional_text(field!("subject"), bytes_of(info.subject.as_deref()));
    line.texts(
        field!("newsgroups"),
        info.newsgroups.iter().map(String::as_bytes),
    );
    line.optional_text(field!("list_id"), bytes_of(info.list_id.as_deref()));
    line.texts(
        field!("references"),
        info.references.iter().map(String::as_bytes),
    );
}

/// The Date field as written, if it is no date or its zone is unknown.
pub(super) fn raw_date(info: &MessageInfo) -> Option<&str> {
    let date = info.date.as_ref()?;
    (date.utc.is_none() || date.zone == Zone::Unknown).then_some(date.raw.as_str())
}

fn bytes_of(text: Option<&str>) -> Option<&[u8]> {
    text.map(str::as_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_the_last_field_of_a_line() {
        let mut out = b"{\"a\":1".to_vec();
        close_line(Some(2), &mut out);
        assert_eq!(out, b"{\"a\":1,\"count\":2}\n");
        let mut out = b"{\"a\":1".to_vec();
        close_line(None, &mut out);
        assert_eq!(out, b"{\"a\":1,\"count\":null}\n");
    }
}
