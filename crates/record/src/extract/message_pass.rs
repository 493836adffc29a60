//! One pass over a message: its state, and what it reports. Applies filters, drops duplicates,
//! builds the record of a URL, and follows redirector targets. Each limit is reported once per
//! message, with a count.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::vec;

use twox_hash::XxHash3_64;

use super::elsewhere::MessageEvidence;
use super::{Extractor, Finding, Options, ParsedHeader, Unique};
use crate::record::{
    Demand, FoundRecord, RecordOrigin, RedirectSource, UrlContext, context_border, record_id,
};
use urlspool_mail::decode::{
    Author, DecodedText, EXTERNAL_BODY_REGION, MessageInfo, MimePart, OffsetMap, RawRange, digest,
};
use urlspool_mail::split::Message;
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind, UrlFilter};
use urlspool_text::hash::hash_pieces;
use urlspool_text::limits::{
    COARSE_RUN_BYTES, CONTEXT_BYTES, COUNTED_URLS, HOST_LOOKUPS, Limits, MAP_BYTES,
    MESSAGE_EVIDENCE_URLS, MESSAGE_STEPS, NESTED_TARGETS, PREFILTER_BYTES, QUERY_TARGETS,
    TEXT_BYTES,
};
use urlspool_text::origin::Source;
use urlspool_text::parse::{
    FoundUrl, QUERY_TARGET, RedirectTarget, RejectReason, key, mismatch, parse_nested,
    parse_replacement, redirect_targets, redirect_targets_of, without_recipient,
};
use urlspool_text::repair::{Join, LogicalLine};
use urlspool_text::scan::Rules;
use urlspool_text::span::Span;

/// State of one pass over a message.
pub(super) struct MessagePass<'s, 'm> {
    pub(super) message: &'s Message<'m>,
    pub(super) extractor: &'s Extractor,
    source: &'s Source,
    header: &'s ParsedHeader<'m>,
    /// Evidence for joins; `None` in a pass that collects evidence.
    pub(super) evidence: Option<MessageEvidence<'s, 'm>>,
    /// Header data for the records. Costly to read, so `None` until the first URL needs it.
    pub(super) info: Option<MessageInfo>,
    digests: Option<Digests>,
    /// Occurrences of each URL in each part so far, keyed by a 64-bit hash of both. A tree, because
    /// a hash table costs more for the one or two URLs of most messages.
    pub(super) occurrences: BTreeMap<u64, u32>,
    /// Occurrences of all URLs that did not fit into `occurrences`.
    pub(super) uncounted: u32,
    /// Keys reported so far. Used only if each key is reported once per message.
    pub(super) reported_keys: HashSet<u128>,
    /// Hashes of the raw ranges and URLs reported from bytes with several readings, for one record
    /// each. With 128 bits, nobody can hide a URL by making it collide with another.
    pub(super) reported_readings: HashSet<u128>,
    /// Number of records so far, without those of URLs inside other URLs.
    pub(super) urls: u64,
    /// Raw offset up to which lines were counted. `counted_line` is the line number there.
    counted_to: usize,
    counted_line: u64,
    /// Buffer of the logical line, reused for each start.
    pub(super) line: LogicalLine,
    /// Offset, in the current text, of a byte that RFC 3986 does not allow and that got its word
    /// rejected.
    pub(super) first_invalid: usize,
    /// Total length of long words read and rejected.
    pub(super) rejected_bytes: usize,
    /// Steps taken so far, as counted for [`Limits::steps_per_byte`].
    steps: u64,
    /// Limits reached so far, except the ones that are reported immediately.
    pub(super) reached: BTreeMap<ExtractLimit, Places>,
    pub(super) sink: &'s mut dyn FnMut(Finding<'_>),
}

/// Digests of a message.
#[derive(Clone, Copy)]
struct Digests {
    /// Digest of the message, or of its first fragment if it is read in fragments.
    pub(super) message: u128,
    /// Digest for record identifiers. Each later fragment has a separate one, computed from the
    /// message's digest and the fragment's offset.
    pub(super) fragment: u128,
}

impl<'s, 'm> MessagePass<'s, 'm> {
    pub(super) fn new(
        message: &'s Message<'m>,
        header: &'s ParsedHeader<'m>,
        source: &'s Source,
        extractor: &'s Extractor,
        sink: &'s mut dyn FnMut(Finding<'_>),
    ) -> MessagePass<'s, 'm> {
        MessagePass {
            message,
            extractor,
            source,
            header,
            evidence: extractor
                .collector
                .is_some()
                .then(|| MessageEvidence::new(message, header, source, extractor)),
            info: None,
            digests: header.digest.map(|message| Digests {
                message,
                fragment: message,
            }),
            occurrences: BTreeMap::new(),
            uncounted: 0,
            reported_keys: HashSet::new(),
            reported_readings: HashSet::new(),
            urls: 0,
            counted_to: 0,
            counted_line: 1,
            line: LogicalLine::default(),
            first_invalid: 0,
            rejected_bytes: 0,
            steps: 0,
            reached: BTreeMap::new(),
            sink,
        }
    }

    /// Returns the digests of the message.
    fn digests(&mut self) -> Digests {
        if let Some(digests) = self.digests {
            return digests;
        }
        let (start, fields) = self.header.start(self.message);
        let message = digest(start, fields);
        let fragment = self.message.head().map_or(message, |head| {
            let offset = self.message.start - head.start;
            hash_pieces(&[&message.to_le_bytes()[..], &offset.to_le_bytes()])
        });
        *self.digests.insert(Digests { message, fragment })
    }

    /// Returns `true` if the message may take more steps.
    pub(super) fn may_take_steps(&self) -> bool {
        let per_byte = self.extractor.limits().steps_per_byte as u64;
        self.steps
            <= MESSAGE_STEPS.saturating_add(per_byte.saturating_mul(self.message.raw.len() as u64))
    }

    /// Counts the steps for `bytes` bytes of the candidate or URL at `span` of a text. Reports the
    /// limit the first time it is exceeded.
    pub(super) fn count_steps(&mut self, bytes: usize, offset_map: &OffsetMap, span: Span) {
        let steps = bytes.saturating_sub(PREFILTER_BYTES) as u64;
        if steps == 0 {
            return;
        }
        let had_more = self.may_take_steps();
        self.steps = self.steps.saturating_add(steps);
        if had_more && !self.may_take_steps() {
            let per_byte = self.extractor.limits().steps_per_byte;
            let text = format!(
                "more than {per_byte} steps for each byte of this message (steps_per_byte): from \
                 here on only the starts of bare words are read, and relative links and \
                 redirectors are left as they are"
            );
            self.report_limit(text, offset_map, span);
        }
    }

    /// Reports a limit immediately, at `span` of a text.
    pub(super) fn report_limit(&mut self, text: String, offset_map: &OffsetMap, span: Span) {
        let at = self.origin(offset_map, span).start;
        let diagnostic = Diagnostic::at(DiagnosticKind::Limit, at, text);
        (self.sink)(Finding::Diagnostic(diagnostic));
    }

    /// Reports the candidate at `span` of a text as a reject.
    pub(super) fn reject(
        &mut self,
        reason: RejectReason,
        text: &[u8],
        offset_map: &OffsetMap,
        span: Span,
    ) {
        let origin = self.origin(offset_map, span);
        (self.sink)(Finding::Reject {
            reason,
            text,
            origin,
        });
    }

    /// Records that a limit was reached at `span` of a text.
    pub(super) fn note_in(&mut self, limit: ExtractLimit, offset_map: &OffsetMap, span: Span) {
        let at = self.origin(offset_map, span).start;
        self.note(limit, at);
    }

    /// Records that a limit was reached at source offset `at`.
    pub(super) fn note(&mut self, limit: ExtractLimit, at: u64) {
        let places = self.reached.entry(limit);
        let places = places.or_insert(Places {
            first: at,
            count: 0,
        });
        places.count += 1;
    }

    /// Reads the header data for the records on the first call; none if the message has no header.
    /// Notes the limit if a field is cut.
    fn read_info(&mut self) {
        if self.info.is_some() {
            return;
        }
        let (start, fields) = self.header.start(self.message);
        let Options {
            limits,
            info,
            header_fields,
            ..
        } = &self.extractor.options;
        self.info =
            MessageInfo::of_message(start, fields, limits.field_bytes, *info, header_fields);
        if self.info.as_ref().is_some_and(|info| info.is_cut) {
            self.note(ExtractLimit::Field, self.message.raw_start());
        }
    }

    /// Maps `span` of a decoded text to its origin in the source.
    pub(super) fn origin(&mut self, offset_map: &OffsetMap, span: Span) -> RecordOrigin<'s> {
        let RawRange { span: raw, exact } = offset_map.raw(span);
        let (base, head) = (self.message.raw_start(), self.message.head());
        let line = match self.extractor.options.line_numbers {
            Demand::Needed => self.line_of(raw.start),
            Demand::Unneeded => 0,
        };
        RecordOrigin {
            source: self.source,
            kind: self.message.kind,
            start: base + raw.start as u64,
            end: base + raw.end as u64,
            exact,
            line,
            message_start: head.map_or(self.message.start, |fragment| fragment.start),
            message_end: self.message.end(),
        }
    }

    /// Returns the number, from 1, of the line that contains raw offset `at`. Counting resumes at
    /// the previous call's offset.
    fn line_of(&mut self, at: usize) -> u64 {
        let between = &self.message.raw[at.min(self.counted_to)..at.max(self.counted_to)];
        let line_ends = memchr::memchr_iter(b'\n', between).count() as u64;
        if self.counted_to <= at {
            self.counted_line += line_ends;
        } else {
            self.counted_line -= line_ends;
        }
        self.counted_to = at;
        let envelope = u64::from(self.message.envelope > 0);
        let before = self.message.head().map_or(envelope, |head| head.line_ends);
        before + self.counted_line
    }
}

/// Extraction limit that cuts a value or leaves text unprocessed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ExtractLimit {
    /// `url_bytes`: a record holds only the start of its URL.
    Url,
    /// `url_bytes`: a page's `<base>` is too long to resolve links.
    Base,
    /// `field_bytes`: records hold only the start of a header field or link text.
    Field,
    /// `wrapper_bytes`, or its fixed value under the strict rules: a `<` is an ordinary character.
    Wrapper,
    /// `unwrap_depth`: a redirector inside other redirectors is not unwrapped.
    Unwrap,
    /// [`HOST_LOOKUPS`]: later hosts without a scheme are not looked up in the message.
    Hosts,
    /// [`QUERY_TARGETS`] or [`NESTED_TARGETS`]: later URLs inside a URL get no records.
    Targets,
    /// [`TEXT_BYTES`]: a text is read in pieces.
    Text,
    /// [`MAP_BYTES`]: the ranges of URLs are not exact.
    Map,
    /// [`MESSAGE_EVIDENCE_URLS`]: later URLs of the message are not used as evidence for joins.
    Evidence,
}

impl ExtractLimit {
    /// Returns the event, at the first place.
    pub(super) fn event(self, Places { first, count }: Places, limits: &Limits) -> Diagnostic {
        let mut text = self.text(limits);
        if count > 1 {
            text += &format!("; {} more in this message", count - 1);
        }
        Diagnostic::at(DiagnosticKind::Limit, first, text)
    }

    /// Returns the event's text.
    fn text(self, limits: &Limits) -> String {
        let Limits {
            url_bytes,
            field_bytes,
            wrapper_bytes,
            unwrap_depth,
            ..
        } = limits;
        match self {
            ExtractLimit::Url => format!(
                "a URL of more than {url_bytes} bytes (url_bytes): its record has the start, the \
                 length and the hash"
            ),
            ExtractLimit::Base => format!(
                "a <base> of more than {url_bytes} bytes (url_bytes): relative links are not \
                 resolved"
            ),
            ExtractLimit::Field => format!(
                "a header field or the text of a link has more than {field_bytes} bytes \
                 (field_bytes) or too many names: records have only the start"
            ),
            ExtractLimit::Wrapper => format!(
                "no `>` within {wrapper_bytes} bytes after a `<` (wrapper_bytes): the text after \
                 it is read as bare text"
            ),
            ExtractLimit::Unwrap => format!(
                "more than {unwrap_depth} redirectors, one inside the other (unwrap_depth): the \
                 innermost URL gets no record"
            ),
            ExtractLimit::Hosts => format!(
                "{HOST_LOOKUPS} or more hosts without a scheme in one message: the rest are not \
                 looked up in it"
            ),
            ExtractLimit::Targets => format!(
                "more than {QUERY_TARGETS} URLs in the query of a URL, or {NESTED_TARGETS} in all \
                 of it: the others are not records of their own"
            ),
            ExtractLimit::Text => format!(
                "a text of more than {TEXT_BYTES} bytes is read in pieces: regions restart in each"
            ),
            ExtractLimit::Map => format!(
                "the encoded characters of a text need a map of more than {MAP_BYTES} bytes: from \
                 there on ranges of URLs are inexact, with up to {COARSE_RUN_BYTES} more bytes of \
                 text"
            ),
            ExtractLimit::Evidence => format!(
                "more than {MESSAGE_EVIDENCE_URLS} URLs in a message with a URL that may be \
                 broken: the rest is no evidence for its joins"
            ),
        }
    }
}

/// Places at which a limit was reached.
#[derive(Clone, Copy)]
pub(super) struct Places {
    /// Source offset of the first place.
    first: u64,
    count: u64,
}

/// Location of a URL: the text that holds it, and its position there.
pub(super) struct Location<'t> {
    /// The text that [`FoundUrl::raw`] is a range of.
    pub(super) bytes: &'t [u8],
    pub(super) offset_map: &'t OffsetMap,
    pub(super) region: &'t str,
    pub(super) quote_depth: usize,
    pub(super) part: Option<&'t MimePart>,
    /// The innermost message that holds the URL; `None` in the outermost one.
    pub(super) author: Option<&'t Arc<Author>>,
    /// Link text on an HTML page.
    pub(super) anchor: Option<&'t [u8]>,
    /// `true` if the URL's range in `bytes` is exact to the byte.
    pub(super) exact: bool,
    /// Joins in the URL's logical line.
    pub(super) joins: &'t [Join],
    /// `true` if the same raw bytes can be read in other ways (broken MIME).
    pub(super) has_other_readings: bool,
}

impl<'t> Location<'t> {
    /// Location in a text that is a single URL, built from content-type parameters.
    pub(super) fn of(text: &'t DecodedText<'_>) -> Location<'t> {
        Location {
            bytes: &text.bytes,
            offset_map: &text.offset_map,
            region: EXTERNAL_BODY_REGION,
            quote_depth: 0,
            part: text.part,
            author: text.author,
            anchor: None,
            exact: false,
            joins: &[],
            has_other_readings: text.has_other_readings,
        }
    }

    /// Returns up to `max_bytes` bytes of the link text.
    fn shown_text(&self, max_bytes: usize) -> Option<&'t [u8]> {
        self.anchor
            .map(|anchor| &anchor[..anchor.len().min(max_bytes)])
    }

    /// Returns `true` if the link text names a different host than the URL, or `None` if there is
    /// no link text.
    fn mismatch(&self, found: &FoundUrl<'_>, max_bytes: usize) -> Option<bool> {
        let shown = self.shown_text(max_bytes)?;
        Some(mismatch(shown, found.url()))
    }
}

impl MessagePass<'_, '_> {
    /// Emits a URL and the URLs inside it, each unless a filter excludes it or it is a duplicate.
    pub(super) fn report(&mut self, location: &Location<'_>, found: &FoundUrl<'_>) {
        if location.has_other_readings && !self.is_new(location, found) {
            self.reject(
                RejectReason::Reread,
                found.full,
                location.offset_map,
                found.raw,
            );
            return;
        }
        let id = self.emit_wanted(location, found, None);
        self.emit_targets(location, found, id);
    }

    /// Returns `true` if no other reading of these bytes produced this URL. Only the first
    /// [`COUNTED_URLS`] readings are remembered.
    fn is_new(&mut self, location: &Location<'_>, found: &FoundUrl<'_>) -> bool {
        let raw = location.offset_map.raw(found.raw).span;
        let [start, len] = [raw.start, raw.len()].map(usize::to_le_bytes);
        let hash = hash_pieces(&[&start, &len, found.full]);
        if self.reported_readings.len() < COUNTED_URLS {
            self.reported_readings.insert(hash)
        } else {
            !self.reported_readings.contains(&hash)
        }
    }

    /// Emits the record of a URL, or the reason why it has none. Returns the record's id, which the
    /// records of the URLs inside it refer to even if this one has no record; 0 if neither it nor a
    /// URL inside it has a record.
    fn emit_wanted(
        &mut self,
        location: &Location<'_>,
        found: &FoundUrl<'_>,
        parent: Option<RedirectSource>,
    ) -> u128 {
        let is_unwrapped = parent.is_some();
        let is_unique = self.extractor.options.unique == Unique::Message;
        if let Some(filter) = self.filter_of(location, found) {
            (self.sink)(Finding::Filtered {
                filter,
                is_unwrapped,
            });
        } else if let Some(key) = is_unique.then(|| key_hash(found))
            && !self.reported_keys.insert(key)
        {
            (self.sink)(Finding::Duplicate { key, is_unwrapped });
        } else {
            return self.emit(location, found, parent);
        }
        self.count_steps(written_bytes(found), location.offset_map, found.raw);
        if is_unwrapped || !self.targets_in(found).is_empty() {
            return self.next_id(location, found);
        }
        // Without its id, which takes the message's digest. Other records stay the same as if this
        // one was written.
        if self.extractor.options.ids == Demand::Needed {
            self.next_occurrence(location, found);
        }
        0
    }

    /// Emits the record of a URL and returns the record's id.
    fn emit(
        &mut self,
        location: &Location<'_>,
        found: &FoundUrl<'_>,
        parent: Option<RedirectSource>,
    ) -> u128 {
        let options = &self.extractor.options;
        let (context_bytes, limits) = (options.context_bytes.min(CONTEXT_BYTES), &options.limits);
        self.urls += u64::from(parent.is_none());
        let id = self.next_id(location, found);
        let digest = match options.ids {
            Demand::Needed => self.digests().message,
            Demand::Unneeded => 0,
        };
        self.count_steps(written_bytes(found), location.offset_map, found.raw);
        let mut origin = self.origin(location.offset_map, found.raw);
        origin.exact &= location.exact;
        self.read_info();
        if found.truncated.is_some() {
            self.note(ExtractLimit::Url, origin.start);
        }
        let anchor_bytes = location.anchor.map_or(0, <[u8]>::len);
        let is_cut = location.author.is_some_and(|author| author.info.is_cut);
        if limits.field_bytes < anchor_bytes || is_cut {
            self.note(ExtractLimit::Field, origin.start);
        }
        let anchor = location.shown_text(limits.field_bytes);
        let mismatch = location.mismatch(found, limits.field_bytes);
        let record = FoundRecord {
            found,
            id,
            digest,
            raw: found.raw.of(location.bytes),
            region: location.region,
            quote_depth: location.quote_depth,
            origin,
            message: self.info.as_ref(),
            author: location.author,
            part: location.part,
            context: (context_bytes > 0).then(|| context(location.bytes, found.raw, context_bytes)),
            anchor: anchor.filter(|anchor| !anchor.is_empty()),
            mismatch,
            redirected_from: parent,
            joins: location.joins,
        };
        let strips = options.strip_recipient;
        match strips.then(|| without_recipient(found.full)).flatten() {
            None => (self.sink)(finding(&record)),
            Some(text) => parse_replacement(found, &text, limits.url_bytes, &mut |stripped| {
                let stripped = FoundRecord {
                    found: stripped,
                    raw: stripped.full,
                    context: None,
                    ..record
                };
                (self.sink)(finding(&stripped));
            }),
        }
        id
    }

    /// Returns the first filter that excludes a URL.
    fn filter_of(&self, location: &Location<'_>, found: &FoundUrl<'_>) -> Option<UrlFilter> {
        let options = &self.extractor.options;
        options.filter_of(found, location.region, || {
            location.mismatch(found, options.limits.field_bytes) == Some(true)
        })
    }

    /// Returns the number of earlier records of this URL in its part, and counts one more.
    fn next_occurrence(&mut self, location: &Location<'_>, found: &FoundUrl<'_>) -> u32 {
        let path = location.part.map_or("", |part| part.path.as_str());
        let is_full = COUNTED_URLS <= self.occurrences.len();
        let seed = XxHash3_64::oneshot(path.as_bytes());
        let key = XxHash3_64::oneshot_with_seed(seed, found.full);
        let before = match self.occurrences.entry(key) {
            Entry::Vacant(_) if is_full => &mut self.uncounted,
            entry => entry.or_default(),
        };
        let number = *before;
        *before = before.saturating_add(1);
        number
    }

    /// Returns the identifier of the next record of this URL in its part, or 0 if it is not needed.
    fn next_id(&mut self, location: &Location<'_>, found: &FoundUrl<'_>) -> u128 {
        if self.extractor.options.ids == Demand::Unneeded {
            return 0;
        }
        let digest = self.digests().fragment;
        let path = location.part.map_or("", |part| part.path.as_str());
        let before = self.next_occurrence(location, found);
        record_id(digest, path, found.full, before)
    }

    /// Returns the URLs directly inside a URL. Empty if the options or limits prevent a search.
    fn targets_in(&self, found: &FoundUrl<'_>) -> Vec<RedirectTarget> {
        let is_searched = found.truncated.is_none()
            && self.extractor.options.rules != Rules::Rfc1738
            && self.may_take_steps();
        match found.verdicts {
            _ if !is_searched => Vec::new(),
            Some(verdicts) => redirect_targets_of(found.full, &verdicts.components),
            None => redirect_targets(found.full),
        }
    }

    /// Emits the URLs inside a URL. Each is a child of the URL around it.
    fn emit_targets(&mut self, location: &Location<'_>, found: &FoundUrl<'_>, id: u128) {
        let Extractor {
            scanner, options, ..
        } = self.extractor;
        let (max_bytes, max_depth) = (options.limits.url_bytes, options.limits.unwrap_depth);
        let targets = self.targets_in(found);
        // A depth of 0 turns the search off, so this is not a limit to report.
        if targets.is_empty() || max_depth == 0 {
            return;
        }
        let mut open = vec![OpenUrl::new(id, 1.0, targets)];
        let mut emitted = 0;
        while let Some(around) = open.last_mut() {
            let Some(RedirectTarget { url, redirector }) = around.targets.next() else {
                open.pop();
                continue;
            };
            if NESTED_TARGETS <= emitted || QUERY_TARGETS <= around.emitted {
                self.note_in(ExtractLimit::Targets, location.offset_map, found.raw);
                open.pop();
                continue;
            }
            around.emitted += 1;
            emitted += 1;
            let outer = RedirectSource {
                record_id: around.id,
                redirector,
            };
            let mut confidence = around.confidence;
            if redirector == QUERY_TARGET {
                confidence *= QUERY_CONFIDENCE;
            }
            let mut child = None;
            parse_nested(found, &url, confidence, scanner, max_bytes, &mut |inside| {
                child = Some(self.emit_wanted(location, inside, Some(outer)));
            });
            let inner = child.map(|id| (id, redirect_targets(&url)));
            match inner.filter(|(_, targets)| !targets.is_empty()) {
                None => {}
                Some(_) if max_depth <= open.len() => {
                    self.note_in(ExtractLimit::Unwrap, location.offset_map, found.raw);
                }
                Some((id, targets)) => open.push(OpenUrl::new(id, confidence, targets)),
            }
        }
    }
}

/// A URL whose inner URLs are being emitted.
struct OpenUrl {
    /// Identifier of its record.
    id: u128,
    /// Confidence in its reading, relative to the outermost URL.
    confidence: f32,
    targets: vec::IntoIter<RedirectTarget>,
    /// Number of targets emitted so far.
    emitted: usize,
}

impl OpenUrl {
    fn new(id: u128, confidence: f32, targets: Vec<RedirectTarget>) -> OpenUrl {
        OpenUrl {
            id,
            confidence,
            targets: targets.into_iter(),
            emitted: 0,
        }
    }
}

/// Confidence in a URL inside another URL's query. Its last parameters may belong to the outer URL.
const QUERY_CONFIDENCE: f32 = 0.95;

/// Returns the total length of the URLs in a record.
fn written_bytes(found: &FoundUrl<'_>) -> usize {
    let alternates = found
        .alternates
        .iter()
        .map(|alternate| alternate.full.len());
    found.full.len() + alternates.sum::<usize>()
}

/// Returns the finding for a record: a URL of the message, or one unwrapped from another URL.
fn finding<'r>(record: &'r FoundRecord<'r>) -> Finding<'r> {
    if record.redirected_from.is_some() {
        Finding::Unwrapped(record)
    } else {
        Finding::Url(record)
    }
}

/// Hashes a URL's key and fragment. Equivalent URLs with the same fragment have the same hash. For
/// a truncated URL, the hash covers all of its bytes.
#[must_use]
pub fn key_hash(found: &FoundUrl<'_>) -> u128 {
    let mut text = key(found.url());
    if let Some(fragment) = found.fragment() {
        text.push(b'#');
        text.extend_from_slice(fragment);
    }
    if let Some(truncated) = found.truncated {
        text.extend_from_slice(&truncated.full_hash.to_le_bytes());
    }
    hash_pieces(&[&text])
}

/// Returns up to `max_bytes` bytes before and after `span`, cut between words. A word next to the
/// URL that is longer than this is cut between characters: scripts without blanks have such words.
fn context(text: &[u8], span: Span, max_bytes: usize) -> UrlContext<'_> {
    let (text_before, text_after) = (&text[..span.start], &text[span.end..]);
    let lowest = span.start.saturating_sub(max_bytes);
    let from = (lowest..span.start).find(|&at| context_border(text, at) == at);
    let from = from.unwrap_or(span.start);
    let to = text.len().min(span.end.saturating_add(max_bytes));
    let to = context_border(text, to).max(span.end);
    let (before, after) = (&text[from..span.start], &text[span.end..to]);
    let first_blank = before.iter().position(u8::is_ascii_whitespace);
    let last_blank = after.iter().rposition(u8::is_ascii_whitespace);
    UrlContext {
        before: match first_blank.map(|blank| &before[blank + 1..]) {
            Some(whole)
                if is_within_word(text, from)
                    && is_kept(whole, text_before.iter().rev(), max_bytes) =>
            {
                whole
            }
            _ => before,
        },
        after: match last_blank.map(|blank| &after[..blank]) {
            Some(whole)
                if is_within_word(text, to) && is_kept(whole, text_after.iter(), max_bytes) =>
            {
                whole
            }
            _ => after,
        },
    }
}

/// Returns `true` if an offset is inside a word.
fn is_within_word(text: &[u8], at: usize) -> bool {
    let around = at.checked_sub(1).and_then(|from| text.get(from..=at));
    around.is_some_and(|around| !around.iter().any(u8::is_ascii_whitespace))
}

/// Returns `true` if a context keeps only whole words. This needs a whole word in it, or a word
/// next to the URL, at the start of `bytes`, that is no longer than the context.
fn is_kept<'t>(whole: &[u8], bytes: impl Iterator<Item = &'t u8>, max_bytes: usize) -> bool {
    let mut word = bytes
        .skip_while(|byte| !is_letter(**byte))
        .take_while(|byte| !byte.is_ascii_whitespace());
    whole.iter().any(|byte| is_letter(*byte)) || word.nth(max_bytes).is_none()
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_context_is_at_most_as_long_as_asked() {
        let text = "\u{E9}\u{4E2D}\u{1F600} http://a.example/ \u{1F600}\u{4E2D}\u{E9}";
        let start = text.find("http").unwrap();
        let span = Span::new(start, start + "http://a.example/".len());
        for max_bytes in 0..12 {
            let found = context(text.as_bytes(), span, max_bytes);
            for side in [found.before, found.after] {
                assert!(side.len() <= max_bytes, "{max_bytes}");
                assert!(std::str::from_utf8(side).is_ok(), "{max_bytes}");
            }
        }
    }
}
