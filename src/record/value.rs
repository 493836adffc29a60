//! The values of a record's fields: what each is computed from.
//!
//! A value is handed to a [`ValueSink`], which writes it as JSON, as text, or into a column.
//! `fields.rs` has the names, types and meanings.

use std::cell::OnceCell;

use data_encoding::BASE64;

use super::cache::CacheKey;
use super::fields::{FieldId, MISMATCH};
use super::json_text::is_lossless;
use super::parts::Parts;
use super::{FoundRecord, SCHEMA};
use crate::byte_scan::is_plain_json;
use crate::decode::{Date, MessageInfo, MimePart, NamedField, Zone};
use crate::grammar::{Reject, Url, Warning};
use crate::origin::mailbox;
use crate::parse::{
    Alternate, Grammar, Hazard, Site, UrlComponents, UrlTruncation, Verdicts, components, hazards,
    key_of_components,
};
use crate::repair::Repair;

/// Receiver of the value of a field.
pub(super) trait ValueSink {
    /// Receives null.
    fn null(&mut self);

    /// Receives true or false.
    fn boolean(&mut self, value: bool);

    /// Receives a number without a fraction.
    fn integer(&mut self, value: u64);

    /// Receives a number with a fraction.
    fn number(&mut self, value: f64);

    /// Receives a name of this crate, which needs no escapes.
    fn name(&mut self, name: &'static str);

    /// Receives a text of somebody else, which may hold bytes that are not UTF-8.
    fn text(&mut self, text: &[u8]);

    /// Receives a hash, which stands for its 32 hexadecimal digits.
    fn digest(&mut self, hash: u128);

    /// Receives a list of names of this crate.
    fn names(&mut self, names: impl Iterator<Item = &'static str>);

    /// Receives a list of texts of somebody else.
    fn texts<'t>(&mut self, texts: impl Iterator<Item = &'t [u8]>);

    /// Receives the list of a URL's components; `None` if there are none.
    fn parts(&mut self, parts: Option<Parts<'_>>);

    /// Receives a list of header fields.
    fn named_fields(&mut self, fields: &[NamedField]);

    /// Receives the list of other readings.
    fn alternates(&mut self, alternates: &[Alternate]);

    /// Receives the place of the number of occurrences, which is known when the message ends.
    fn count(&mut self);
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

/// A record, with the values that several of its fields are computed from.
pub(super) struct RecordValues<'v, 'r> {
    record: &'v FoundRecord<'r>,
    tail: MessageTail,
    components: OnceCell<UrlComponents<'r>>,
    site: OnceCell<Option<Site<'r>>>,
}

impl<'v, 'r> RecordValues<'v, 'r> {
    pub(super) fn new(record: &'v FoundRecord<'r>, tail: MessageTail) -> RecordValues<'v, 'r> {
        RecordValues {
            record,
            tail,
            components: OnceCell::new(),
            site: OnceCell::new(),
        }
    }

    /// Returns `true` if the object of this name is null.
    pub(super) fn is_null_object(&self, name: &str) -> bool {
        match name {
            "error" => self.reject().is_none(),
            "part" => self.record.part.is_none(),
            "context" => self.record.context.is_none(),
            _ => false,
        }
    }

    /// Returns what the fields of the scope `Url` depend on; `None` for a truncated URL, whose
    /// fields depend on the bytes that were cut off.
    pub(super) fn url_cache_key(&self) -> Option<CacheKey<'_>> {
        let found = self.record.found;
        found.truncated.is_none().then_some(CacheKey {
            full: found.full,
            mismatch: self.record.mismatch == Some(true),
        })
    }

    /// Returns the record.
    pub(super) fn record(&self) -> &'v FoundRecord<'r> {
        self.record
    }

    /// Hands the value of a field to `sink`.
    ///
    /// Linear in the length of the value, and of the URL for what is computed from it.
    #[expect(clippy::too_many_lines, reason = "a line for each field")]
    pub(super) fn put<S: ValueSink>(&self, field: FieldId, sink: &mut S) {
        use FieldId as F;
        let record = self.record;
        let found = record.found;
        let origin = &record.origin;
        let path = || origin.source.path.as_os_str().as_encoded_bytes();
        let info = |text: fn(&MessageInfo) -> Option<&str>| record.message.and_then(text);
        match field {
            F::Schema => sink.integer(u64::from(SCHEMA)),
            F::Type => sink.name("url"),
            F::Id => sink.digest(record.id),
            F::Url => sink.text(found.url()),
            F::Fragment => put_text(found.fragment(), sink),
            F::Scheme => put_lowercase(self.components().scheme, sink),
            F::Host => put_str(self.site().map(|site| &*site.host), sink),
            F::Domain => put_str(self.site().and_then(Site::domain), sink),
            F::Port => put_integer(self.site().and_then(|site| site.port), sink),
            F::Path => put_text(self.site().map(|_| self.components().path), sink),
            F::Query => put_text(self.site().and_then(|_| self.components().query), sink),
            F::Key if found.truncated.is_some() => sink.null(),
            F::Key => sink.text(&key_of_components(self.components())),
            F::Href => put_str(found.verdicts.and_then(Verdicts::href), sink),
            F::Conforms => {
                let verdicts = found.verdicts.into_iter();
                sink.names(verdicts.flat_map(Verdicts::conforms).map(Grammar::name));
            }
            F::ErrorOffset => put_integer(self.reject().map(|reject| reject.offset as u64), sink),
            F::ErrorPart => put_name(self.reject().map(|reject| reject.part.name()), sink),
            F::ErrorKind => put_name(self.reject().map(|reject| reject.kind.name()), sink),
            F::ErrorMessage => {
                let message = self.reject().map(|reject| reject.to_string());
                put_str(message.as_deref(), sink);
            }
            F::Warnings => {
                sink.names(
                    self.rfc1738()
                        .into_iter()
                        .flat_map(Url::warnings)
                        .map(Warning::name),
                );
            }
            F::Hazards => self.put_hazards(sink),
            F::Form => put_name(self.rfc1738().map(|url| url.form.name()), sink),
            F::Parts => {
                let generic = || Parts::Generic(*self.components());
                let parts = || self.rfc1738().map_or_else(generic, Parts::Rfc1738);
                sink.parts(found.verdicts.map(|_| parts()));
            }
            F::Wrapper => sink.name(found.wrapper.name()),
            F::Raw => sink.text(record.raw),
            F::RawBase64 => put_base64(record.raw, sink),
            F::Repairs => sink.names(found.repairs.iter().map(Repair::name)),
            F::Alternates => sink.alternates(found.alternates),
            F::Confidence => sink.number(rounded(found.confidence)),
            F::Truncated => sink.boolean(found.truncated.is_some()),
            F::FullLength => {
                let length = |truncated: UrlTruncation| truncated.full_length as u64;
                put_integer(found.truncated.map(length), sink);
            }
            F::FullHash => put_digest(found.truncated.map(|truncated| truncated.full_hash), sink),
            F::Region => sink.text(record.region.as_bytes()),
            F::QuoteDepth => sink.integer(record.quote_depth as u64),
            F::Anchor => put_text(record.anchor, sink),
            F::Mismatch => match record.mismatch {
                Some(mismatch) => sink.boolean(mismatch),
                None => sink.null(),
            },
            F::UnwrappedFrom => {
                put_digest(record.redirected_from.map(|from| from.record_id), sink);
            }
            F::UnwrappedBy => put_name(record.redirected_from.map(|from| from.redirector), sink),
            F::SourcePath => sink.text(path()),
            F::SourcePathBase64 => put_base64(path(), sink),
            F::SourceMailbox => {
                let mailbox = mailbox(&origin.source.path, origin.kind);
                sink.text(mailbox.as_os_str().as_encoded_bytes());
            }
            F::SourceMailboxBase64 => {
                let mailbox = mailbox(&origin.source.path, origin.kind);
                put_base64(mailbox.as_os_str().as_encoded_bytes(), sink);
            }
            F::SourceMember => match origin.source.member() {
                [] => sink.null(),
                names => sink.texts(names.iter().map(Vec::as_slice)),
            },
            F::SourceMemberBase64 => match origin.source.member() {
                names if names.iter().all(|name| is_lossless(name)) => sink.null(),
                names => {
                    let encoded: Vec<_> = names.iter().map(|name| BASE64.encode(name)).collect();
                    sink.texts(encoded.iter().map(String::as_bytes));
                }
            },
            F::SourceKind => sink.name(origin.kind.name()),
            F::SourceStart => sink.integer(origin.start),
            F::SourceEnd => sink.integer(origin.end),
            F::SourceLine => sink.integer(origin.line),
            F::SourceExact => sink.boolean(origin.exact),
            F::MessageStart => sink.integer(origin.message_start),
            F::MessageEnd => sink.integer(origin.message_end),
            F::MessageId => put_str(info(|info| info.id.as_deref()), sink),
            F::MessageDigest => sink.digest(record.digest),
            F::MessageDate => put_str(info(|info| info.date.as_ref()?.utc.as_deref()), sink),
            F::MessageYear => {
                let date = record.message.and_then(|info| info.date.as_ref());
                put_integer(date.and_then(Date::year), sink);
            }
            F::MessageDateRaw => put_str(info(raw_date), sink),
            F::MessageFrom => put_str(info(|info| info.from.as_deref()), sink),
            F::MessageSubject => put_str(info(|info| info.subject.as_deref()), sink),
            F::MessageNewsgroups => self.put_list(|info| &info.newsgroups, sink),
            F::MessageListId => put_str(info(|info| info.list_id.as_deref()), sink),
            F::MessageReferences => self.put_list(|info| &info.references, sink),
            F::MessageFields => match record.message.and_then(|info| info.named_fields.as_ref()) {
                Some(fields) => sink.named_fields(fields),
                None => sink.null(),
            },
            F::PartPath => put_str(record.part.map(|part| &*part.path), sink),
            F::PartType => put_str(record.part.map(|part| &*part.media_type), sink),
            F::PartCharset => put_str(record.part.and_then(|part| part.charset.as_deref()), sink),
            F::PartEncoding => put_str(record.part.map(MimePart::source_encoding), sink),
            F::PartMessageId => {
                put_str(
                    record.part.and_then(|part| part.message_id.as_deref()),
                    sink,
                );
            }
            F::PartMember => match record.part.and_then(|part| part.member.as_deref()) {
                None => sink.null(),
                Some(names) => sink.texts(names.iter().map(Vec::as_slice)),
            },
            F::ContextBefore => put_text(record.context.map(|context| context.before), sink),
            F::ContextAfter => put_text(record.context.map(|context| context.after), sink),
            F::TruncatedTail => sink.boolean(self.tail == MessageTail::Truncated),
            F::Count => sink.count(),
        }
    }

    fn put_hazards<S: ValueSink>(&self, sink: &mut S) {
        let found = self.record.found;
        let verdicts = found.verdicts.into_iter();
        let of_url = verdicts.flat_map(|verdicts| hazards(found.url(), verdicts));
        let of_link = (self.record.mismatch == Some(true)).then_some(MISMATCH);
        sink.names(of_url.map(Hazard::name).chain(of_link));
    }

    fn put_list<S: ValueSink>(&self, list: fn(&MessageInfo) -> &[String], sink: &mut S) {
        let texts = self.record.message.map(list).unwrap_or_default();
        sink.texts(texts.iter().map(String::as_bytes));
    }

    /// The components of the URL, without a check by any grammar.
    fn components(&self) -> &UrlComponents<'r> {
        let found = self.record.found;
        match found.verdicts {
            Some(verdicts) => &verdicts.components,
            None => self.components.get_or_init(|| components(found.url())),
        }
    }

    /// Host, port and domain of a URL with an authority.
    fn site(&self) -> Option<&Site<'r>> {
        let site = self.site.get_or_init(|| Site::of(self.components()));
        site.as_ref()
    }

    /// The URL as RFC 1738 reads it, if it accepts it.
    fn rfc1738(&self) -> Option<&'r Url<'r>> {
        self.record.found.verdicts?.rfc1738.as_ref().ok()
    }

    /// The reason for which RFC 1738 refuses the URL.
    fn reject(&self) -> Option<Reject> {
        let verdicts = self.record.found.verdicts?;
        verdicts.rfc1738.as_ref().err().copied()
    }
}

pub(super) fn put_text(text: Option<&[u8]>, sink: &mut impl ValueSink) {
    match text {
        Some(text) => sink.text(text),
        None => sink.null(),
    }
}

pub(super) fn put_str(text: Option<&str>, sink: &mut impl ValueSink) {
    put_text(text.map(str::as_bytes), sink);
}

pub(super) fn put_name(name: Option<&'static str>, sink: &mut impl ValueSink) {
    match name {
        Some(name) => sink.name(name),
        None => sink.null(),
    }
}

pub(super) fn put_integer(number: Option<impl Into<u64>>, sink: &mut impl ValueSink) {
    match number {
        Some(number) => sink.integer(number.into()),
        None => sink.null(),
    }
}

fn put_digest(hash: Option<u128>, sink: &mut impl ValueSink) {
    match hash {
        Some(hash) => sink.digest(hash),
        None => sink.null(),
    }
}

/// Hands over a scheme in lower case, which most schemes are in.
fn put_lowercase(scheme: &[u8], sink: &mut impl ValueSink) {
    if scheme.iter().any(u8::is_ascii_uppercase) {
        sink.text(&scheme.to_ascii_lowercase());
    } else {
        sink.text(scheme);
    }
}

/// Rounds a confidence to three digits, so that it is written alike on all machines.
pub(super) fn rounded(confidence: f32) -> f64 {
    (f64::from(confidence) * 1000.0).round() / 1000.0
}

/// Hands over bytes in base64, if their text does not hold them all.
fn put_base64(bytes: &[u8], sink: &mut impl ValueSink) {
    if is_plain_json(bytes) || is_lossless(bytes) {
        sink.null();
    } else {
        sink.text(BASE64.encode(bytes).as_bytes());
    }
}

/// The Date field as written, if it is no date or its zone is unknown.
fn raw_date(info: &MessageInfo) -> Option<&str> {
    let date = info.date.as_ref()?;
    (date.utc.is_none() || date.zone == Zone::Unknown).then_some(date.raw.as_str())
}
