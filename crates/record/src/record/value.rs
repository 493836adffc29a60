//! Computes the values of a record's fields, and caches the fields that depend only on the URL.
//!
//! Values are passed to a [`ValueSink`], which writes them as JSON or text or stores them in an
//! owned record. `fields.rs` has the names, types and meanings.

use std::cell::OnceCell;

use data_encoding::BASE64;
use twox_hash::XxHash3_64;

use super::fields::FieldId;
use super::parts::Parts;
use super::{FoundRecord, SCHEMA};
use urlspool_mail::decode::{AuthorKind, Date, MessageInfo, MimePart, NamedField, Zone};
use urlspool_text::byte_scan::is_plain_json;
use urlspool_text::grammar::{Reject, Url, Warning};
use urlspool_text::limits::{RECORD_CACHE_ENTRIES, RECORD_CACHE_ENTRY_BYTES};
use urlspool_text::origin::mailbox;
use urlspool_text::parse::{Grammar, Site, UrlComponents, Verdicts, components, key};

/// A value that is not a list.
#[derive(Clone, Copy)]
pub(super) enum Scalar<'t> {
    Null,
    Boolean(bool),
    Integer(u64),
    Number(f64),
    /// A name defined in this crate. It needs no escapes.
    Name(&'static str),
    /// Text from the input, which may contain bytes that are not UTF-8.
    Text(&'t [u8]),
    /// A hash, written as 32 hexadecimal digits.
    Digest(u128),
}

impl<'t> Scalar<'t> {
    pub(super) fn text(text: Option<&'t [u8]>) -> Scalar<'t> {
        text.map_or(Scalar::Null, Scalar::Text)
    }

    pub(super) fn str(text: Option<&'t str>) -> Scalar<'t> {
        Scalar::text(text.map(str::as_bytes))
    }

    pub(super) fn name(name: Option<&'static str>) -> Scalar<'t> {
        name.map_or(Scalar::Null, Scalar::Name)
    }

    pub(super) fn integer(number: Option<impl Into<u64>>) -> Scalar<'t> {
        number.map_or(Scalar::Null, |number| Scalar::Integer(number.into()))
    }
}

/// Receives the value of a field.
pub(super) trait ValueSink {
    /// Receives a value that is not a list.
    fn scalar(&mut self, value: Scalar<'_>);

    /// Receives a list of values.
    fn list<'t>(&mut self, items: impl Iterator<Item = Scalar<'t>>);

    /// Receives a list of objects. `each` passes the values of one object at a time, in the order
    /// of `keys`. `keys` holds the JSON before each value.
    fn objects(&mut self, keys: &[&str], each: impl FnOnce(&mut dyn FnMut(&[Scalar<'_>])));

    /// Marks the position of the number of occurrences, which is known only at the end of the
    /// message.
    fn count(&mut self);
}

/// Keys of URL parts and of header fields.
const NAME_AND_VALUE: &[&str] = &["{\"name\":", ",\"value\":"];

/// Keys of alternate readings.
const ALTERNATE: &[&str] = &[
    "{\"url\":",
    ",\"fragment\":",
    ",\"why\":",
    ",\"confidence\":",
];

/// State of the message's end at the time when it was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MessageTail {
    /// The message ended at a line end.
    #[default]
    Complete,
    /// The message ended within a line and may still grow. Its records have `truncated_tail`.
    Truncated,
}

/// A record and the intermediate values that several of its fields need.
pub(super) struct RecordValues<'v, 'r> {
    pub(super) record: &'v FoundRecord<'r>,
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

    /// Returns the key for the cached fields of the scope `Url`. `None` for a truncated URL, whose
    /// fields depend on the bytes that were cut off.
    pub(super) fn url_cache_key(&self) -> Option<CacheKey<'_>> {
        let found = self.record.found;
        found.truncated.is_none().then_some(CacheKey {
            full: found.full,
            mismatch: self.record.mismatch == Some(true),
        })
    }

    /// Passes the value of a field to `sink`.
    ///
    /// Linear in the length of the value, and of the URL for values computed from it.
    #[expect(clippy::too_many_lines, reason = "a line for each field")]
    pub(super) fn put<S: ValueSink>(&self, field: FieldId, sink: &mut S) {
        use FieldId as F;
        use Scalar::{Boolean, Digest, Integer, Name, Null, Number, Text};
        let record = self.record;
        let found = record.found;
        let origin = &record.origin;
        let scalar = match field {
            F::Schema => Integer(u64::from(SCHEMA)),
            F::Type => Name("url"),
            F::Id => Digest(record.id),
            F::Url => Text(found.url()),
            F::Fragment => Scalar::text(found.fragment()),
            F::Scheme => {
                let scheme = self.components().scheme;
                // Most schemes are in lower case, and are not copied.
                if scheme.iter().any(u8::is_ascii_uppercase) {
                    return sink.scalar(Text(&scheme.to_ascii_lowercase()));
                }
                Text(scheme)
            }
            F::Host => Scalar::str(self.site().map(|site| &*site.host)),
            F::Domain => Scalar::str(self.site().and_then(Site::domain)),
            F::Port => Scalar::integer(self.site().and_then(|site| site.port)),
            F::Path => Scalar::text(self.site().map(|_| self.components().path)),
            F::Query => Scalar::text(self.site().and_then(|_| self.components().query)),
            F::Key if found.truncated.is_some() => Null,
            F::Key => {
                let found = self.record.found;
                let key = found
                    .verdicts
                    .map_or_else(|| key(found.url()), |verdicts| verdicts.key(found.url()));
                return sink.scalar(Text(&key));
            }
            F::Href => Scalar::str(found.verdicts.and_then(Verdicts::href)),
            F::Conforms => {
                let grammars = found.verdicts.into_iter().flat_map(Verdicts::conforms);
                return sink.list(grammars.map(Grammar::name).map(Name));
            }
            F::ErrorOffset => Scalar::integer(self.reject().map(|reject| reject.offset as u64)),
            F::ErrorPart => Scalar::name(self.reject().map(|reject| reject.part.name())),
            F::ErrorKind => Scalar::name(self.reject().map(|reject| reject.kind.name())),
            F::ErrorMessage => {
                let message = self.reject().map(|reject| reject.to_string());
                return sink.scalar(Scalar::str(message.as_deref()));
            }
            F::Warnings => {
                let warnings = self.rfc1738().into_iter().flat_map(Url::warnings);
                return sink.list(warnings.map(Warning::name).map(Name));
            }
            F::Hazards => return sink.list(record.hazards().map(Name)),
            F::Form => Scalar::name(self.rfc1738().map(|url| url.form.name())),
            F::Parts => {
                return sink.objects(NAME_AND_VALUE, |put| {
                    let parts = match self.rfc1738() {
                        Some(url) => Parts::Rfc1738(url),
                        None if found.verdicts.is_some() => Parts::Generic(*self.components()),
                        None => return,
                    };
                    parts.for_each_text(&mut |name, part| put(&[Name(name), Text(part)]));
                });
            }
            F::Wrapper => Name(found.wrapper.name()),
            F::Raw => Text(record.raw),
            F::RawBase64 => return put_base64(record.raw, sink),
            F::Repairs => return sink.list(found.repairs.iter().map(|it| Name(it.name()))),
            F::Alternates => {
                return sink.objects(ALTERNATE, |put| {
                    for other in found.alternates {
                        put(&[
                            Text(&other.full[..other.url_len]),
                            Scalar::text(other.full.get(other.url_len + 1..)),
                            Name(other.why.name()),
                            Number(rounded(other.confidence)),
                        ]);
                    }
                });
            }
            F::Confidence => Number(rounded(found.confidence)),
            F::Truncated => Boolean(found.truncated.is_some()),
            F::FullLength => Scalar::integer(found.truncated.map(|it| it.full_length as u64)),
            F::FullHash => found.truncated.map_or(Null, |it| Digest(it.full_hash)),
            F::Region => Text(record.region.as_bytes()),
            F::QuoteDepth => Integer(record.quote_depth as u64),
            F::Anchor => Scalar::text(record.anchor),
            F::Mismatch => record.mismatch.map_or(Null, Boolean),
            F::UnwrappedFrom => record
                .redirected_from
                .map_or(Null, |from| Digest(from.record_id)),
            F::UnwrappedBy => Scalar::name(record.redirected_from.map(|from| from.redirector)),
            F::SourcePath => Text(self.path()),
            F::SourcePathBase64 => return put_base64(self.path(), sink),
            F::SourceMailbox | F::SourceMailboxBase64 => {
                let mailbox = mailbox(&origin.source.path, origin.kind);
                let mailbox = mailbox.as_os_str().as_encoded_bytes();
                return match field {
                    F::SourceMailbox => sink.scalar(Text(mailbox)),
                    _ => put_base64(mailbox, sink),
                };
            }
            F::SourceMember => return put_member(origin.source.member(), sink),
            F::SourceMemberBase64 => return put_member_base64(origin.source.member(), sink),
            F::SourceKind => Name(origin.kind.name()),
            F::SourceStart => Integer(origin.start),
            F::SourceEnd => Integer(origin.end),
            F::SourceLine => Integer(origin.line),
            F::SourceExact => Boolean(origin.exact),
            F::MessageStart => Integer(origin.message_start),
            F::MessageEnd => Integer(origin.message_end),
            F::MessageId => self.info(|info| info.id.as_deref()),
            F::MessageDigest => Digest(record.digest),
            F::MessageDate => self.info(|info| info.date.as_ref()?.utc.as_deref()),
            F::MessageYear => {
                let date = record.message.and_then(|info| info.date.as_ref());
                Scalar::integer(date.and_then(Date::year))
            }
            F::MessageDateRaw => self.info(raw_date),
            F::MessageFrom => self.info(|info| info.from.as_deref()),
            F::MessageSubject => self.info(|info| info.subject.as_deref()),
            F::MessageNewsgroups => return self.put_list(|info| &info.newsgroups, sink),
            F::MessageListId => self.info(|info| info.list_id.as_deref()),
            F::MessageReferences => return self.put_list(|info| &info.references, sink),
            F::MessageFields => match record.message.and_then(|info| info.named_fields.as_ref()) {
                Some(fields) => {
                    return sink.objects(NAME_AND_VALUE, |put| {
                        for NamedField { name, value } in fields {
                            put(&[Text(name.as_bytes()), Text(value.as_bytes())]);
                        }
                    });
                }
                None => Null,
            },
            F::AuthorFrom => self.author(|info| info.from.as_deref()),
            F::AuthorSubject => self.author(|info| info.subject.as_deref()),
            F::AuthorDate => self.author(|info| info.date.as_ref()?.utc.as_deref()),
            F::AuthorMessageId => self.author(|info| info.id.as_deref()),
            F::AuthorBy => {
                let kind = record.author.map(|author| author.kind);
                Name(kind.unwrap_or(AuthorKind::Outer).name())
            }
            F::PartPath => Scalar::str(record.part.map(|part| &*part.path)),
            F::PartType => Scalar::str(record.part.map(|part| &*part.media_type)),
            F::PartCharset => Scalar::str(record.part.and_then(|part| part.charset.as_deref())),
            F::PartEncoding => Scalar::str(record.part.map(MimePart::source_encoding)),
            F::PartMessageId => Scalar::str(record.part.and_then(|it| it.message_id.as_deref())),
            F::PartMember => match record.part.and_then(|part| part.member.as_deref()) {
                None => Null,
                Some(names) => return sink.list(names.iter().map(|name| Text(name))),
            },
            F::ContextBefore => Scalar::text(record.context.map(|context| context.before)),
            F::ContextAfter => Scalar::text(record.context.map(|context| context.after)),
            F::TruncatedTail => Boolean(self.tail == MessageTail::Truncated),
            F::Count => return sink.count(),
        };
        sink.scalar(scalar);
    }

    fn path(&self) -> &'r [u8] {
        self.record
            .origin
            .source
            .path
            .as_os_str()
            .as_encoded_bytes()
    }

    /// Returns a text from the header of the message.
    fn info(&self, text: fn(&MessageInfo) -> Option<&str>) -> Scalar<'_> {
        Scalar::str(self.record.message.and_then(text))
    }

    /// Returns `true` if the author is the outermost message's.
    pub(super) fn has_outer_author(&self) -> bool {
        self.record.author.is_none()
    }

    /// Returns a text from the header of the innermost message.
    fn author(&self, text: fn(&MessageInfo) -> Option<&str>) -> Scalar<'_> {
        let inner = self.record.author.map(|author| &author.info);
        Scalar::str(inner.or(self.record.message).and_then(text))
    }

    fn put_list<S: ValueSink>(&self, list: fn(&MessageInfo) -> &[String], sink: &mut S) {
        let texts = self.record.message.map(list).unwrap_or_default();
        sink.list(texts.iter().map(|text| Scalar::Text(text.as_bytes())));
    }

    /// Returns the components of the URL, not checked by any grammar.
    pub(super) fn components(&self) -> &UrlComponents<'r> {
        let found = self.record.found;
        match found.verdicts {
            Some(verdicts) => &verdicts.components,
            None => self.components.get_or_init(|| components(found.url())),
        }
    }

    /// Returns host, port and domain of a URL with an authority.
    pub(super) fn site(&self) -> Option<&Site<'r>> {
        let site = self.site.get_or_init(|| Site::of(self.components()));
        site.as_ref()
    }

    /// Returns the URL as parsed by RFC 1738, if that accepts it.
    pub(super) fn rfc1738(&self) -> Option<&'r Url<'r>> {
        self.record.found.verdicts?.rfc1738.as_ref().ok()
    }

    /// Returns the reason why RFC 1738 rejects the URL.
    fn reject(&self) -> Option<Reject> {
        self.record.found.verdicts?.rfc1738.as_ref().err().copied()
    }
}

/// Rounds a confidence to three digits, to write it identically on all machines.
pub(super) fn rounded(confidence: f32) -> f64 {
    (f64::from(confidence) * 1000.0).round() / 1000.0
}

/// Passes the names of a source's archive members; null outside archives.
pub(super) fn put_member(names: &[Vec<u8>], sink: &mut impl ValueSink) {
    if names.is_empty() {
        sink.scalar(Scalar::Null);
    } else {
        sink.list(names.iter().map(|name| Scalar::Text(name)));
    }
}

/// Passes the names in base64 if any of them is not lossless as text; otherwise null.
pub(super) fn put_member_base64(names: &[Vec<u8>], sink: &mut impl ValueSink) {
    if names.iter().all(|name| is_lossless(name)) {
        return sink.scalar(Scalar::Null);
    }
    let encoded: Vec<_> = names.iter().map(|name| BASE64.encode(name)).collect();
    sink.list(encoded.iter().map(|name| Scalar::Text(name.as_bytes())));
}

/// Returns `true` if converting the bytes to text keeps every byte.
pub(super) fn is_lossless(bytes: &[u8]) -> bool {
    memchr::memchr(0, bytes).is_none() && std::str::from_utf8(bytes).is_ok()
}

/// Passes bytes in base64 if they are not lossless as text; otherwise null.
pub(super) fn put_base64(bytes: &[u8], sink: &mut impl ValueSink) {
    if is_plain_json(bytes) || is_lossless(bytes) {
        sink.scalar(Scalar::Null);
    } else {
        sink.scalar(Scalar::Text(BASE64.encode(bytes).as_bytes()));
    }
}

/// Returns the Date field as written, if it is not a date or its zone is unknown.
pub(super) fn raw_date(info: &MessageInfo) -> Option<&str> {
    let date = info.date.as_ref()?;
    (date.utc.is_none() || date.zone == Zone::Unknown).then_some(date.raw.as_str())
}

/// Cache of record fields that depend only on the URL, encoded or as values. It pays off because
/// mailing lists and people repeat their own URLs in each message.
///
/// Holds at most [`RECORD_CACHE_ENTRIES`] URLs of up to [`RECORD_CACHE_ENTRY_BYTES`] bytes. The
/// hash of a URL selects its entry. A later URL replaces an earlier one.
#[derive(Debug)]
pub(super) struct UrlCache<T> {
    entries: Vec<CacheEntry<T>>,
}

/// All inputs of the cached fields.
#[derive(Clone, Copy)]
pub(super) struct CacheKey<'u> {
    /// The URL with its fragment.
    pub(super) full: &'u [u8],
    /// `true` if the link text names a different host.
    pub(super) mismatch: bool,
}

#[derive(Clone, Debug, Default)]
struct CacheEntry<T> {
    /// The URL with its fragment; empty if the entry is free.
    full: Vec<u8>,
    mismatch: bool,
    fields: T,
}

impl<T> Default for UrlCache<T> {
    fn default() -> UrlCache<T> {
        let entries = Vec::new();
        UrlCache { entries }
    }
}

impl<T: Clone + Default> UrlCache<T> {
    /// Returns the fields for `key`, or `None` if the URL is too long for the cache. If they are
    /// not cached, calls `make` to replace the fields in the entry. The new fields must depend only
    /// on `key`.
    pub(super) fn get_or_make(
        &mut self,
        key: CacheKey<'_>,
        make: impl FnOnce(&mut T),
    ) -> Option<&T> {
        let CacheKey { full, mismatch } = key;
        if full.is_empty() || RECORD_CACHE_ENTRY_BYTES < full.len() {
            return None;
        }
        if self.entries.is_empty() {
            self.entries
                .resize(RECORD_CACHE_ENTRIES, CacheEntry::default());
        }
        let entry = &mut self.entries[XxHash3_64::oneshot(full) as usize % RECORD_CACHE_ENTRIES];
        if entry.full != full || entry.mismatch != mismatch {
            // The entry stays free if `make` panics.
            entry.full.clear();
            make(&mut entry.fields);
            entry.full.extend_from_slice(full);
            entry.mismatch = mismatch;
        }
        Some(&entry.fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes URLs through a cache. Returns the output and the number of cache misses.
    fn appended(urls: &[(&[u8], bool)]) -> (Vec<u8>, usize) {
        let mut cache: UrlCache<Vec<u8>> = UrlCache::default();
        let (mut out, mut written) = (Vec::new(), 0);
        for (url, mismatch) in urls {
            let key = CacheKey {
                full: url,
                mismatch: *mismatch,
            };
            let mark = if *mismatch { b"!" } else { b";" };
            let made = [*url, mark].concat();
            let cached = cache.get_or_make(key, |fields| {
                written += 1;
                fields.clone_from(&made);
            });
            match cached {
                Some(fields) => out.extend_from_slice(fields),
                None => {
                    written += 1;
                    out.extend_from_slice(&made);
                }
            }
        }
        (out, written)
    }

    #[test]
    fn nul_and_invalid_utf8_are_lossy() {
        assert!(is_lossless("\u{E9}".as_bytes()) && !is_lossless(b"\0") && !is_lossless(b"\xFF"));
    }

    #[test]
    fn a_cached_url_is_written_once() {
        assert_eq!(
            appended(&[(b"a", false), (b"b", false), (b"a", false)]),
            (b"a;b;a;".to_vec(), 2)
        );
        assert_eq!(
            appended(&[(b"a", false), (b"a", true), (b"a", true)]),
            (b"a;a!a!".to_vec(), 2)
        );
        assert_eq!(appended(&[(b"", false), (b"", false)]), (b";;".to_vec(), 2));
    }

    #[test]
    fn long_urls_are_not_cached() {
        let long = vec![b'a'; RECORD_CACHE_ENTRY_BYTES + 1];
        assert_eq!(appended(&[(&long, false), (&long, false)]).1, 2);
        let longest = &long[1..];
        assert_eq!(appended(&[(longest, false), (longest, false)]).1, 1);
    }

    #[test]
    fn urls_that_share_an_entry_are_distinguished() {
        let urls: Vec<Vec<u8>> = (0..RECORD_CACHE_ENTRIES * 20)
            .map(|number| format!("u{}", number % 999).into_bytes())
            .collect();
        let keys: Vec<(&[u8], bool)> = urls.iter().map(|url| (url.as_slice(), false)).collect();
        let want: Vec<u8> = urls
            .iter()
            .flat_map(|url| [url.as_slice(), b";"].concat())
            .collect();
        assert_eq!(appended(&keys).0, want);
    }
}
