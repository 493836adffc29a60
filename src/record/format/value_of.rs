//! Reads the value of a field out of a record, and computes nothing else.

use data_encoding::BASE64;
use serde::Serialize;

use super::field_id::FieldId;
use super::field_value::FieldValue::{
    self, Boolean, Count, Digest, Integer, Json, Name, Null, Number, OwnedText, Text, Texts,
};
use crate::decode::{MessageInfo, MimePart};
use crate::grammar::{self, Reject, Url};
use crate::origin::{Source, mailbox};
use crate::parse::{Grammar, Site, UrlComponents, Verdicts, components, key};
use crate::record::alternate::{AlternateJson, rounded};
use crate::record::json_text::is_lossless;
use crate::record::location::MemberJson;
use crate::record::part_list::PartList;
use crate::record::parts::Parts;
use crate::record::writer::{hazard_names, raw_date};
use crate::record::{Record, SCHEMA};
use crate::repair::Repair;

/// Returns `true` if the object that holds the field is null in the record.
pub(super) fn is_in_null(field: FieldId, record: &Record<'_>) -> bool {
    match field.parent() {
        Some("error") => reject(record).is_none(),
        Some("part") => record.part.is_none(),
        Some("context") => record.context.is_none(),
        _ => false,
    }
}

/// Returns the value of a field: the one that the whole record has.
pub(super) fn value_of<'r>(field: FieldId, record: &Record<'r>) -> FieldValue<'r> {
    use FieldId as F;
    let found = record.found;
    let origin = &record.origin;
    match field {
        F::Schema => Integer(u64::from(SCHEMA)),
        F::Type => Name("url"),
        F::Id => Digest(record.id),
        F::Url => Text(found.url()),
        F::Fragment => optional(found.fragment()),
        F::Scheme => OwnedText(split(record).scheme.to_ascii_lowercase()),
        F::Host => site(record).map_or(Null, |site| OwnedText(site.host.into_owned().into())),
        F::Domain => domain(record),
        F::Port => site(record)
            .and_then(|site| site.port)
            .map_or(Null, |port| Integer(port.into())),
        F::Path => optional(split(record).host.map(|_| split(record).path)),
        F::Query => optional(split(record).host.and(split(record).query)),
        F::Key if found.truncated.is_some() => Null,
        F::Key => OwnedText(key(found.url())),
        F::Href => optional(verdicts(record).and_then(Verdicts::href).map(str::as_bytes)),
        F::Conforms => names(
            verdicts(record)
                .iter()
                .flat_map(|verdicts| verdicts.conforms().map(Grammar::name)),
        ),
        F::ErrorOffset => reject(record).map_or(Null, |reject| Integer(reject.offset as u64)),
        F::ErrorPart => reject(record).map_or(Null, |reject| Name(reject.part.name())),
        F::ErrorKind => reject(record).map_or(Null, |reject| Name(reject.kind.name())),
        F::ErrorMessage => {
            reject(record).map_or(Null, |reject| OwnedText(reject.to_string().into()))
        }
        F::Warnings => names(
            rfc1738(record)
                .iter()
                .flat_map(|url| url.warnings().into_iter().map(grammar::Warning::name)),
        ),
        F::Hazards => names(hazard_names(record)),
        F::Form => rfc1738(record).map_or(Null, |url| Name(url.form.name())),
        F::Parts => parts(record),
        F::Wrapper => Name(found.wrapper.name()),
        F::Raw => Text(record.raw),
        F::RawBase64 => base64(record.raw),
        F::Repairs => names(found.repairs.iter().map(Repair::name)),
        F::Alternates => alternates(record),
        F::Confidence => Number(rounded(found.confidence)),
        F::Truncated => Boolean(found.truncated.is_some()),
        F::FullLength => found
            .truncated
            .map_or(Null, |truncated| Integer(truncated.full_length as u64)),
        F::FullHash => found
            .truncated
            .map_or(Null, |truncated| Digest(truncated.full_hash)),
        F::Region => Text(record.region.as_bytes()),
        F::QuoteDepth => Integer(record.quote_depth as u64),
        F::Anchor => optional(record.anchor),
        F::Mismatch => record.mismatch.map_or(Null, Boolean),
        F::UnwrappedFrom => record
            .redirected_from
            .map_or(Null, |from| Digest(from.record_id)),
        F::UnwrappedBy => record
            .redirected_from
            .map_or(Null, |from| Name(from.redirector)),
        F::SourcePath => Text(origin.source.path.as_os_str().as_encoded_bytes()),
        F::SourcePathBase64 => base64(origin.source.path.as_os_str().as_encoded_bytes()),
        F::SourceMailbox => OwnedText(
            mailbox(&origin.source.path, origin.kind)
                .into_os_string()
                .into_encoded_bytes(),
        ),
        F::SourceMember => member(origin.source),
        F::SourceMemberBase64 => member_base64(origin.source),
        F::SourceKind => Name(origin.kind.name()),
        F::SourceStart => Integer(origin.start),
        F::SourceEnd => Integer(origin.end),
        F::SourceLine => Integer(origin.line),
        F::SourceExact => Boolean(origin.exact),
        F::MessageStart => Integer(origin.message_start),
        F::MessageEnd => Integer(origin.message_end),
        F::MessageId => header(record, |info| info.id.as_deref()),
        F::MessageDigest => Digest(record.digest),
        F::MessageDate => header(record, |info| info.date.as_ref()?.utc.as_deref()),
        F::MessageDateRaw => header(record, raw_date),
        F::MessageFrom => header(record, |info| info.from.as_deref()),
        F::MessageSubject => header(record, |info| info.subject.as_deref()),
        F::MessageNewsgroups => header_list(record, |info| &info.newsgroups),
        F::MessageListId => header(record, |info| info.list_id.as_deref()),
        F::MessageReferences => header_list(record, |info| &info.references),
        F::PartPath => of_part(record, |part| Some(&part.path)),
        F::PartType => of_part(record, |part| Some(&part.media_type)),
        F::PartCharset => of_part(record, |part| part.charset.as_deref()),
        F::PartEncoding => of_part(record, |part| Some(&part.encoding)),
        F::PartMessageId => of_part(record, |part| part.message_id.as_deref()),
        F::ContextBefore => optional(record.context.map(|context| context.before)),
        F::ContextAfter => optional(record.context.map(|context| context.after)),
        // Only `watch` takes messages that may grow.
        F::TruncatedTail => Boolean(false),
        F::Count => Count,
    }
}

fn optional(bytes: Option<&[u8]>) -> FieldValue<'_> {
    bytes.map_or(Null, Text)
}

fn names<'r>(names: impl Iterator<Item = &'static str>) -> FieldValue<'r> {
    Texts(names.map(str::as_bytes).collect())
}

fn verdicts<'r>(record: &Record<'r>) -> Option<&'r Verdicts<'r>> {
    record.found.verdicts
}

fn rfc1738<'r>(record: &Record<'r>) -> Option<&'r Url<'r>> {
    verdicts(record)?.rfc1738.as_ref().ok()
}

/// The reason why RFC 1738 rejects the URL.
fn reject(record: &Record<'_>) -> Option<Reject> {
    verdicts(record)?.rfc1738.as_ref().err().copied()
}

/// The components of the URL, without a check by any grammar.
fn split<'r>(record: &Record<'r>) -> UrlComponents<'r> {
    let found = record.found;
    found
        .verdicts
        .map_or_else(|| components(found.url()), |verdicts| verdicts.components)
}

fn site<'r>(record: &Record<'r>) -> Option<Site<'r>> {
    Site::of(&split(record))
}

fn domain<'r>(record: &Record<'r>) -> FieldValue<'r> {
    let site = site(record);
    let domain = site.as_ref().and_then(Site::domain);
    domain.map_or(Null, |domain| OwnedText(domain.into()))
}

fn parts<'r>(record: &Record<'r>) -> FieldValue<'r> {
    let mut json = b"[".to_vec();
    if record.found.verdicts.is_some() {
        let generic = || Parts::Generic(split(record));
        let parts = rfc1738(record).map_or_else(generic, Parts::Rfc1738);
        parts.write_entries(&mut PartList::new(&mut json, false));
    }
    json.push(b']');
    Json(json)
}

fn alternates<'r>(record: &Record<'r>) -> FieldValue<'r> {
    let alternates = record.found.alternates.iter();
    Json(json(
        &alternates.map(AlternateJson::from).collect::<Vec<_>>(),
    ))
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("types of this crate serialize")
}

/// Bytes in base64, if the text does not hold them all.
fn base64(bytes: &[u8]) -> FieldValue<'_> {
    if is_lossless(bytes) {
        return Null;
    }
    OwnedText(BASE64.encode(bytes).into())
}

fn member(source: &Source) -> FieldValue<'_> {
    match source.member() {
        [] => Null,
        names => Texts(names.iter().map(Vec::as_slice).collect()),
    }
}

fn member_base64<'r>(source: &Source) -> FieldValue<'r> {
    MemberJson::of(source)
        .base64
        .map_or(Null, |names| Json(json(&names)))
}

/// A text of the message's header.
fn header<'r>(
    record: &Record<'r>,
    text: impl Fn(&'r MessageInfo) -> Option<&'r str>,
) -> FieldValue<'r> {
    optional(record.message.and_then(text).map(str::as_bytes))
}

/// A list of texts of the message's header.
fn header_list<'r>(
    record: &Record<'r>,
    list: impl Fn(&'r MessageInfo) -> &'r [String],
) -> FieldValue<'r> {
    let texts = record.message.map(list).unwrap_or_default();
    Texts(texts.iter().map(String::as_bytes).collect())
}

fn of_part<'r>(
    record: &Record<'r>,
    text: impl Fn(&'r MimePart) -> Option<&'r str>,
) -> FieldValue<'r> {
    optional(record.part.and_then(text).map(str::as_bytes))
}
