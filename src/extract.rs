//! One message, one thread, no I/O: the loop from a message to its records.

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

use twox_hash::{XxHash3_64, XxHash3_128};

use crate::decode::{
    DecodeReport, DecodedText, HeaderFields, HeaderPolicy, HtmlLink, LineLayout, MessageInfo,
    MimePart, OffsetMap, RawRange, Region, Regions, digest, texts,
};
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::grammar::escaped_byte;
use crate::limits::{Limits, PREFILTER_BYTES, REJECTED_WORDS_BYTES, REJECTED_WORDS_RATIO};
use crate::origin::Source;
use crate::parse::{
    AttributeValue, Candidate, FoundUrl, Grammar, ParseOutcome, RedirectTarget, RejectReason,
    components, key, mismatch, parse_attribute, parse_candidate, parse_nested, parse_replacement,
    redirect_target, redirect_target_of, without_recipient,
};
use crate::record::{
    Record, RecordOrigin, RedirectSource, UrlContext, context_border, hash_pieces, record_id,
};
use crate::repair::{
    BareWord, Join, LineBreakPolicy, LogicalLine, WrappedText, prefilter, quote_depth, word,
    wrapped,
};
use crate::scan::{Opening, Rules, Scanner, SchemelessPolicy, UrlStart};
use crate::span::Span;
use crate::split::{HeaderForm, Message};

/// What is found, and what is held back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// By which rules.
    pub rules: Rules,
    /// Whether hosts without a scheme are found.
    pub schemeless: SchemelessPolicy,
    /// Further schemes that need no `//`.
    pub extra_schemes: Vec<String>,
    /// Whether header fields are searched.
    pub headers: HeaderPolicy,
    /// Grammars of which one must accept the URL; empty to write all URLs.
    pub accept: Vec<Grammar>,
    /// Schemes that are wanted, in lower case; empty for all.
    pub schemes: Vec<String>,
    /// Whether a URL is given once a message.
    pub once_a_message: bool,
    /// Bytes of context.
    pub context_bytes: usize,
    /// Whether the recipient's address is taken out of redirectors' URLs.
    pub strip_recipient: bool,
    /// The limits.
    pub limits: Limits,
}

/// The options, made ready. Shared by all threads.
#[derive(Debug)]
pub struct Extractor {
    options: Options,
    scanner: Scanner,
}

impl Options {
    /// Whether a URL passes the filters.
    fn wants(&self, found: &FoundUrl<'_>) -> bool {
        if self.accept.is_empty() && self.schemes.is_empty() {
            return true;
        }
        let accepts = |grammar: &Grammar| {
            found
                .verdicts
                .is_some_and(|verdicts| verdicts.conforms().any(|other| other == *grammar))
        };
        let scheme = components(found.url()).scheme;
        let named = |name: &String| name.as_bytes().eq_ignore_ascii_case(scheme);
        (self.accept.is_empty() || self.accept.iter().any(accepts))
            && (self.schemes.is_empty() || self.schemes.iter().any(named))
    }
}

impl Extractor {
    /// Makes the options ready.
    #[must_use]
    pub fn new(options: Options) -> Extractor {
        let scanner = Scanner::new(options.rules, options.schemeless, &options.extra_schemes);
        Extractor { options, scanner }
    }

    /// The limits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.options.limits
    }
}

/// What the extraction of a message comes upon, one after the other.
#[derive(Debug)]
pub enum Finding<'f> {
    /// A URL.
    Url(&'f Record<'f>),
    /// A URL that a filter holds back.
    Filtered,
    /// A URL that stood in this message before, by the hash of its key.
    Folded(u128),
    /// A URL that stood inside a redirector's. It is no candidate of its own.
    Unwrapped(&'f Record<'f>),
    /// A candidate that is none, and its text.
    Reject(RejectReason, &'f [u8], RecordOrigin<'f>),
    /// Something wrong.
    Diagnostic(Diagnostic),
    /// The end: how many parts were searched, and how many left.
    Parts(usize, usize),
}

/// Gives everything that is found in `message`, which lies in `source`, to `sink`.
///
/// Allocates little for a message without URLs. Linear in the message's length.
pub fn extract(
    message: &Message<'_>,
    source: &Source,
    extractor: &Extractor,
    sink: &mut dyn FnMut(Finding<'_>),
) {
    let fields = HeaderFields::in_message(message, extractor.options.limits.header_bytes);
    extract_known(
        message,
        &Known {
            fields,
            digest: None,
        },
        source,
        extractor,
        sink,
    );
}

/// What was read of a message before it is extracted.
#[derive(Debug)]
pub(crate) struct Known {
    /// The fields of its header.
    pub(crate) fields: HeaderFields,
    /// Its digest, if somebody asked for it.
    pub(crate) digest: Option<u128>,
}

/// The same as [`extract`], for a message of which something is known.
pub(crate) fn extract_known(
    message: &Message<'_>,
    known: &Known,
    source: &Source,
    extractor: &Extractor,
    sink: &mut dyn FnMut(Finding<'_>),
) {
    let (fields, limits) = (&known.fields, &extractor.options.limits);
    let mut state = State {
        message,
        source,
        extractor,
        fields,
        info: None,
        digest: known.digest.filter(|_| message.fragment_of.is_none()),
        seen: HashMap::new(),
        once: HashSet::new(),
        given: HashSet::new(),
        urls: 0,
        lines: (0, 1),
        line: LogicalLine::default(),
        ill_at: 0,
        refused_bytes: 0,
        sink,
    };
    let DecodeReport {
        text_parts,
        skipped_parts,
        diagnostics,
    } = texts(
        message,
        fields,
        limits,
        extractor.options.headers,
        &mut |text| state.text(&text),
    );
    if state.urls > limits.message_urls as u64 {
        let many = format!("{} URLs in one message", state.urls);
        (state.sink)(Finding::Diagnostic(Diagnostic::at(
            DiagnosticKind::Limit,
            message.start,
            many,
        )));
    }
    for diagnostic in diagnostics {
        (state.sink)(Finding::Diagnostic(diagnostic));
    }
    (state.sink)(Finding::Parts(text_parts, skipped_parts.len()));
}

/// What is known while a message is gone through. Its `info` is costly to read, and is read when the first URL asks for them.
struct State<'s, 'm> {
    message: &'s Message<'m>,
    source: &'s Source,
    extractor: &'s Extractor,
    fields: &'s HeaderFields,
    info: Option<MessageInfo>,
    digest: Option<u128>,
    /// How many times a URL stood in a part so far, by a hash of both: small, because there may be millions.
    seen: HashMap<u64, u32>,
    /// Keys that were given already, where each is given once.
    once: HashSet<u128>,
    /// Raw ranges and URLs that were given already, of bytes that have several readings: one record each. By 128 bits,
    /// so that no URL can be made to look like another and hide behind it.
    given: HashSet<u128>,
    urls: u64,
    /// An offset in the raw bytes, and the number of its line.
    lines: (usize, u64),
    line: LogicalLine,
    /// In the text that is read: an byte that RFC 3986 refuses, in a word that was refused for it.
    ill_at: usize,
    /// Bytes of long words that were read and refused.
    refused_bytes: usize,
    sink: &'s mut dyn FnMut(Finding<'_>),
}

impl<'s> State<'s, '_> {
    /// Goes through a text, and on a page through the links between, in the order in which they lie there.
    fn text(&mut self, text: &DecodedText<'_>) {
        let Extractor { scanner, .. } = self.extractor;
        let mut regions = None;
        let mut links = text
            .page
            .as_ref()
            .map_or(&[][..], |page| page.links.as_slice())
            .iter()
            .peekable();
        // Most texts have no start, and are not asked for these.
        let binary = LazyCell::new(|| text.binary());
        let mut passed = 0;
        let mut from = 0;
        self.ill_at = 0;
        let mut starts = scanner.starts(&text.bytes);
        while let Some(start) = starts.next_from(from) {
            passed += binary[passed..]
                .iter()
                .take_while(|block| block.end <= start.at)
                .count();
            if let Some(block) = binary.get(passed).filter(|block| block.start <= start.at) {
                from = block.end;
                continue;
            }
            while let Some(link) = links.next_if(|link| link.at <= start.at) {
                self.link(text, link);
            }
            let outcome = self.start(text, &start, &mut regions);
            if let Some(reason) = outcome.reject {
                let span = Span::new(start.at, outcome.resume.max(start.resume));
                let place = self.origin(&text.offset_map, span);
                (self.sink)(Finding::Reject(reason, span.of(&text.bytes), place));
            }
            from = outcome.resume.max(start.at + 1);
        }
        links.for_each(|link| self.link(text, link));
    }

    /// Lays a start out, reads it, and gives what it holds.
    fn start(
        &mut self,
        text: &DecodedText<'_>,
        start: &UrlStart,
        regions: &mut Option<Regions>,
    ) -> ParseOutcome {
        let Extractor {
            scanner,
            options: Options { limits, .. },
        } = self.extractor;
        let before = start.at.checked_sub(1).map(|at| text.bytes[at]);
        let mut line = std::mem::take(&mut self.line);
        let close = match start.opening {
            Opening::UrlBracket | Opening::Angle => {
                match wrapped(
                    &text.bytes,
                    start,
                    scanner.rules(),
                    limits.wrapper_bytes,
                    &mut line,
                ) {
                    WrappedText::Closed(close) => Some(close),
                    WrappedText::SeveralUrls(close) => {
                        self.line = line;
                        return ParseOutcome {
                            resume: close + 1,
                            reject: Some(RejectReason::TwoUrls),
                        };
                    }
                    WrappedText::Unclosed => {
                        self.line = line;
                        return ParseOutcome {
                            resume: start.resume,
                            reject: Some(RejectReason::Unclosed),
                        };
                    }
                }
            }
            Opening::UrlPrefix | Opening::Bare | Opening::Schemeless(_) => {
                let breaks = if text.lines == LineLayout::Written {
                    LineBreakPolicy::Join
                } else {
                    LineBreakPolicy::Keep
                };
                let most = if self.may_refuse() {
                    usize::MAX
                } else {
                    PREFILTER_BYTES
                };
                let found = BareWord {
                    from: start.content,
                    before,
                    rules: scanner.rules(),
                    breaks,
                    most,
                };
                if let Err(reason) = self.prefiltered(&text.bytes, start, &found) {
                    self.line = line;
                    return ParseOutcome {
                        resume: start.resume,
                        reject: Some(reason),
                    };
                }
                word(&text.bytes, &found, &mut line);
                None
            }
        };
        let laid = Candidate {
            start,
            before,
            line: &line,
            close,
        };
        let outcome = parse_candidate(&laid, scanner, limits.url_bytes, &mut |found| {
            let name;
            let region = match text.region {
                Region::Header(field) => {
                    name = format!("header:{}", String::from_utf8_lossy(field));
                    name.as_str()
                }
                Region::Body if text.page.is_some() => "html:text",
                Region::Body => {
                    let regions = regions.get_or_insert_with(|| Regions::of(&text.bytes));
                    regions.at(found.raw.start).name()
                }
            };
            let cited = text.region == Region::Body && text.lines == LineLayout::Written;
            let quote_depth = if cited {
                quote_depth(&text.bytes, found.raw.start)
            } else {
                0
            };
            let part = text.part;
            self.found(
                &Spot {
                    bytes: &text.bytes,
                    offset_map: &text.offset_map,
                    region,
                    quote_depth,
                    part,
                    anchor: None,
                    exact: true,
                    joins: line.joins(),
                    has_other_readings: text.has_other_readings,
                },
                found,
            );
        });
        if let Some(RejectReason::Grammar(_)) = outcome.reject
            && close.is_none()
        {
            self.ill_at = start.content + ill_at(line.text());
        }
        if outcome.reject.is_some() && close.is_none() {
            self.refused(text, start, line.text().len());
        }
        self.line = line;
        outcome
    }

    /// Whether words are read to their ends. Each may be refused and read again from a start inside it, so that without
    /// a bound a message of `n` bytes could cost `n * n`.
    fn may_refuse(&self) -> bool {
        self.refused_bytes <= REJECTED_WORDS_BYTES + REJECTED_WORDS_RATIO * self.message.raw.len()
    }

    /// Notes that a word of so many bytes was read and refused.
    fn refused(&mut self, text: &DecodedText<'_>, start: &UrlStart, octets: usize) {
        if octets > PREFILTER_BYTES && self.may_refuse() {
            self.refused_bytes += octets;
            if !self.may_refuse() {
                let at = self
                    .origin(&text.offset_map, Span::new(start.at, start.content))
                    .start;
                let most = format!(
                    "long words full of URLs that are none: words are read up to {PREFILTER_BYTES} octets from here"
                );
                (self.sink)(Finding::Diagnostic(Diagnostic::at(
                    DiagnosticKind::Limit,
                    at,
                    most,
                )));
            }
        }
    }

    /// Whether a bare start is worth reading its word.
    fn prefiltered(
        &self,
        text: &[u8],
        start: &UrlStart,
        word: &BareWord,
    ) -> Result<(), RejectReason> {
        let guessed = match start.opening {
            Opening::Schemeless(scheme) => Some(scheme),
            _ => None,
        };
        prefilter(text, word, guessed, &self.extractor.scanner)?;
        // What no grammar takes in this word was met before, and browsers' schemes alone can do with it.
        let begin = &text[word.from..];
        let special = [&b"http:"[..], b"https:", b"ftp:", b"file:", b"ws:", b"wss:"];
        let browsers = guessed.is_some()
            || special.iter().any(|name| {
                begin.len() >= name.len() && begin[..name.len()].eq_ignore_ascii_case(name)
            });
        if word.from < self.ill_at && !browsers {
            Err(RejectReason::Implausible)
        } else {
            Ok(())
        }
    }

    /// Reads the URL of an attribute, and gives it.
    fn link(&mut self, text: &DecodedText<'_>, link: &HtmlLink) {
        let Some(page) = &text.page else { return };
        let Extractor {
            scanner,
            options: Options { limits, .. },
        } = self.extractor;
        let region = format!("html:{}.{}", link.element, link.attribute);
        let anchor = link
            .anchor
            .map(|anchor| anchor.of(&text.bytes).trim_ascii());
        let spot = Spot {
            bytes: &page.source,
            offset_map: &page.offset_map,
            region: &region,
            quote_depth: 0,
            part: text.part,
            anchor,
            exact: link.exact,
            joins: &[],
            has_other_readings: text.has_other_readings,
        };
        let base = page
            .base
            .as_deref()
            .filter(|base| base.len() <= limits.url_bytes);
        let value = AttributeValue {
            text: &link.value,
            span: link.span,
            base,
        };
        if let Err(reason) = parse_attribute(&value, scanner, limits.url_bytes, &mut |found| {
            self.found(&spot, found)
        }) {
            let place = self.origin(&page.offset_map, link.span);
            (self.sink)(Finding::Reject(reason, &link.value, place));
        }
    }

    /// Holds a URL back or gives it.
    fn found(&mut self, spot: &Spot<'_>, found: &FoundUrl<'_>) {
        let options = &self.extractor.options;
        if spot.has_other_readings && !self.is_new(spot, found) {
            let place = self.origin(spot.offset_map, found.raw);
            (self.sink)(Finding::Reject(RejectReason::Reread, found.full, place));
            return;
        }
        if !options.wants(found) {
            (self.sink)(Finding::Filtered);
            return;
        }
        if options.once_a_message {
            let key = key_hash(found.url());
            if !self.once.insert(key) {
                (self.sink)(Finding::Folded(key));
                return;
            }
        }
        self.urls += 1;
        let id = self.give(spot, found, None);
        self.unwrapped(spot, found, id);
    }

    /// Whether no other reading of these bytes gave this URL.
    fn is_new(&mut self, spot: &Spot<'_>, found: &FoundUrl<'_>) -> bool {
        let raw = spot.offset_map.raw(found.raw).span;
        self.given.insert(XxHash3_128::oneshot_with_seed(
            (raw.start as u64) << 24 ^ raw.len() as u64,
            found.full,
        ))
    }

    /// Gives a URL and what is known of it, and its id.
    fn give(
        &mut self,
        spot: &Spot<'_>,
        found: &FoundUrl<'_>,
        parent: Option<RedirectSource>,
    ) -> u128 {
        let Options {
            context_bytes,
            strip_recipient,
            limits,
            ..
        } = &self.extractor.options;
        let digest = self.digest();
        let path = spot.part.map_or("", |part| part.path.as_str());
        let before = self
            .seen
            .entry(XxHash3_64::oneshot_with_seed(
                XxHash3_64::oneshot(path.as_bytes()),
                found.full,
            ))
            .or_default();
        let id = record_id(digest, path, found.full, u64::from(*before));
        *before = before.saturating_add(1);
        let mut place = self.origin(spot.offset_map, found.raw);
        place.exact &= spot.exact;
        if self.info.is_none() {
            self.info = self.info();
        }
        let anchor = spot
            .anchor
            .map(|anchor| &anchor[..anchor.len().min(limits.field_bytes)]);
        let record = Record {
            found,
            id,
            raw: found.raw.of(spot.bytes),
            region: spot.region,
            quote_depth: spot.quote_depth,
            origin: place,
            message: self.info.as_ref(),
            part: spot.part,
            context: (*context_bytes > 0).then(|| around(spot.bytes, found.raw, *context_bytes)),
            anchor: anchor.filter(|anchor| !anchor.is_empty()),
            mismatch: anchor.map(|anchor| mismatch(anchor, found.url())),
            redirected_from: parent,
            joins: spot.joins,
        };
        match strip_recipient
            .then(|| without_recipient(found.full))
            .flatten()
        {
            None => (self.sink)(sorted(&record)),
            Some(text) => parse_replacement(found, &text, limits.url_bytes, &mut |stripped| {
                let stripped = Record {
                    found: stripped,
                    raw: stripped.full,
                    context: None,
                    ..record
                };
                (self.sink)(sorted(&stripped));
            }),
        }
        id
    }

    /// The message's digest. A further piece of a message has one of its own, made of the beginning's and its place.
    fn digest(&mut self) -> u128 {
        if let Some(digest) = self.digest {
            return digest;
        }
        let digest = match self.message.fragment_of {
            None => digest(self.message, self.fields),
            Some(rest) => {
                let begun = rest.message(self.message.kind);
                let fields = HeaderFields::in_message(&begun, self.extractor.limits().header_bytes);
                let whole = digest(&begun, &fields);
                let offset = self.message.start - rest.start;
                hash_pieces(&[&whole.to_le_bytes()[..], &offset.to_le_bytes()])
            }
        };
        *self.digest.insert(digest)
    }

    /// What is known of the message from its header, if it has one.
    fn info(&self) -> Option<MessageInfo> {
        let Limits {
            header_bytes,
            field_bytes,
            ..
        } = *self.extractor.limits();
        let of = |message: &Message<'_>, fields: &HeaderFields| match message.header {
            HeaderForm::Present | HeaderForm::Copied { .. } => {
                Some(MessageInfo::of(message.raw, fields, field_bytes))
            }
            HeaderForm::ANews => Some(MessageInfo::of_a_news(message.raw)),
            HeaderForm::Absent => None,
        };
        match self
            .message
            .fragment_of
            .map(|rest| rest.message(self.message.kind))
        {
            None => of(self.message, self.fields),
            Some(begun) => of(&begun, &HeaderFields::in_message(&begun, header_bytes)),
        }
    }

    /// The URLs inside a redirector's, each as a child of the one around it.
    fn unwrapped(&mut self, spot: &Spot<'_>, found: &FoundUrl<'_>, id: u128) {
        let Extractor { scanner, options } = self.extractor;
        if found.truncated.is_some() || options.rules == Rules::Rfc1738 {
            return;
        }
        let mut parent = id;
        let mut target = match found.verdicts {
            Some(verdicts) => redirect_target_of(found.full, &verdicts.components),
            None => redirect_target(found.full),
        };
        for _ in 0..options.limits.unwrap_depth {
            let Some(RedirectTarget { url, redirector }) = target else {
                return;
            };
            let mut child = None;
            parse_nested(
                found,
                &url,
                scanner,
                options.limits.url_bytes,
                &mut |inside| {
                    if options.wants(inside) {
                        child = Some(self.give(
                            spot,
                            inside,
                            Some(RedirectSource {
                                record_id: parent,
                                redirector,
                            }),
                        ));
                    }
                },
            );
            let Some(id) = child else { return };
            (parent, target) = (id, redirect_target(&url));
        }
    }

    /// Where `span` of a text came from.
    fn origin(&mut self, offset_map: &OffsetMap, span: Span) -> RecordOrigin<'s> {
        let RawRange { span: raw, exact } = offset_map.raw(span);
        let base = self.message.raw_start();
        let before = self
            .message
            .fragment_of
            .map_or(u64::from(self.message.envelope > 0), |head| head.line_ends);
        let line = before + self.line_of(raw.start);
        RecordOrigin {
            source: self.source,
            kind: self.message.kind,
            start: base + raw.start as u64,
            end: base + raw.end as u64,
            exact,
            line,
            message_start: self
                .message
                .fragment_of
                .map_or(self.message.start, |rest| rest.start),
            message_end: self.message.end(),
        }
    }

    /// The number of the line of the message's raw bytes that holds `at`. Counts from where it counted last.
    fn line_of(&mut self, at: usize) -> u64 {
        let (known, number) = self.lines;
        let between = |from: usize, to: usize| {
            memchr::memchr_iter(b'\n', &self.message.raw[from..to]).count() as u64
        };
        let number = if known <= at {
            number + between(known, at)
        } else {
            number - between(at, known)
        };
        self.lines = (at, number);
        number
    }
}

/// Where a URL was found, and in which text.
struct Spot<'t> {
    /// The text that the URL's `raw` is a range of.
    bytes: &'t [u8],
    offset_map: &'t OffsetMap,
    region: &'t str,
    quote_depth: usize,
    part: Option<&'t MimePart>,
    /// What a page shows for it.
    anchor: Option<&'t [u8]>,
    /// Whether the URL's range in `bytes` is to the byte.
    exact: bool,
    /// What was joined to read it.
    joins: &'t [Join],
    /// Whether its bytes have other readings.
    has_other_readings: bool,
}

/// Where the first octet of a word stands that no URI of RFC 3986 holds, or the first `%` that begins no escape.
fn ill_at(word: &[u8]) -> usize {
    let allowed =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
    let ill =
        |&at: &usize| !allowed(word[at]) || word[at] == b'%' && escaped_byte(&word[at..]).is_none();
    (0..word.len()).find(ill).unwrap_or(0)
}

/// A record as what it is: found, or taken out of another.
fn sorted<'r>(record: &'r Record<'r>) -> Finding<'r> {
    if record.redirected_from.is_some() {
        Finding::Unwrapped(record)
    } else {
        Finding::Url(record)
    }
}

/// What URLs that mean the same have in common.
pub(crate) fn key_hash(url: &[u8]) -> u128 {
    XxHash3_128::oneshot(&key(url))
}

/// Up to `most` bytes before and after `span`, cut between characters.
fn around(text: &[u8], span: Span, most: usize) -> UrlContext<'_> {
    let from = context_border(text, span.start.saturating_sub(most));
    let to = context_border(text, text.len().min(span.end + most));
    UrlContext {
        before: &text[from..span.start],
        after: &text[span.end..to.max(span.end)],
    }
}
