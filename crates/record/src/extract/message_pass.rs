//! State of one pass over a message: the header data that its records need, and the limits that
//! were reached. Each limit is reported once per message, with a count.

use std::collections::{BTreeMap, HashSet};

use super::elsewhere::MessageEvidence;
use super::{Extractor, Finding, Options, ParsedHeader};
use crate::record::{Demand, RecordOrigin};
use urlspool_mail::decode::{MessageInfo, OffsetMap, RawRange, digest};
use urlspool_mail::split::Message;
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind};
use urlspool_text::hash::hash_pieces;
use urlspool_text::limits::{
    COARSE_RUN_BYTES, HOST_LOOKUPS, Limits, MAP_BYTES, MESSAGE_EVIDENCE_URLS, MESSAGE_STEPS,
    NESTED_TARGETS, PREFILTER_BYTES, QUERY_TARGETS, TEXT_BYTES,
};
use urlspool_text::origin::Source;
use urlspool_text::parse::RejectReason;
use urlspool_text::repair::LogicalLine;
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
pub(super) struct Digests {
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
    pub(super) fn digests(&mut self) -> Digests {
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
    pub(super) fn read_info(&mut self) {
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
