//! Finds the URLs of one message, on one thread and without I/O.
//!
//! [`Extractor::extract`] passes everything it finds to a closure, in message order; [`urls`],
//! [`message_urls`] and [`Extractor::urls`] collect the URLs as owned values. `scan` finds the
//! start of a URL, `repair` its continuation and `parse` its end. The loop over a text then resumes
//! after it. `extract/message_pass.rs` makes the records.

mod elsewhere;
mod extracted_url;
mod message_pass;
mod options;

use std::cell::RefCell;
use std::sync::{Arc, OnceLock};

pub use extracted_url::{ExtractedUrl, message_urls, urls};
pub use message_pass::key_hash;
pub use options::{Options, Unique};

use crate::record::{Demand, FoundRecord, RecordOrigin};
use elsewhere::TextEvidence;
use message_pass::{ExtractLimit, Location, MessagePass};
use urlspool_mail::decode::{
    AttachmentPolicy, Author, DecodedText, EXTERNAL_BODY_REGION, HeaderFields, HtmlLink,
    InfoFields, LineLayout, Region, Regions, SkippedPart, TextForm, TextPolicy, form_of_name,
    texts,
};
use urlspool_mail::split::{Extent, FragmentHead, HeaderForm, Message};
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind, UrlFilter};
use urlspool_text::grammar::escaped_byte;
use urlspool_text::hash::hash_pieces;
use urlspool_text::limits::{Limits, PREFILTER_BYTES, REJECTED_WORDS_BYTES, REJECTED_WORDS_RATIO};
use urlspool_text::origin::Source;
use urlspool_text::parse::{
    AttributeValue, Candidate, FoundUrl, ParseOutcome, RejectReason, parse_attribute,
    parse_candidate,
};
use urlspool_text::repair::{
    BareWord, Elsewhere, Join, LineBreakPolicy, LogicalLine, UrlEvidence, WrappedText,
    has_other_notation, prefilter, quote_depth, unfold_bare_word, unfold_wrapper,
};
use urlspool_text::scan::{Opening, Scanner, UrlStart, is_registered, names_machine, names_page};
use urlspool_text::span::Span;

/// Prepared options. Created once and shared by all threads.
#[derive(Debug)]
pub struct Extractor {
    options: Options,
    scanner: Scanner,
    /// Evidence of the run.
    evidence: Option<Arc<UrlEvidence>>,
    /// Extractor that collects evidence, created on first use. `None` in the collector itself,
    /// which uses no evidence.
    collector: Option<OnceLock<Box<Extractor>>>,
}

impl Extractor {
    /// Prepares the options.
    #[must_use]
    pub fn new(mut options: Options) -> Extractor {
        if !options.region_names.is_empty() {
            options.regions = Demand::Needed;
        }
        let scanner = Scanner::new(options.rules, options.schemeless, &options.extra_schemes);
        Extractor {
            options,
            scanner,
            evidence: None,
            collector: Some(OnceLock::new()),
        }
    }

    /// Uses the evidence of a run for joins.
    #[must_use]
    pub fn with_evidence(mut self, evidence: Arc<UrlEvidence>) -> Extractor {
        self.evidence = Some(evidence);
        self
    }

    /// Returns the extractor that collects URLs as evidence for joins. It uses the same rules, but
    /// no filters and no evidence, and skips archives and documents.
    #[must_use]
    pub fn collector(&self) -> &Extractor {
        let Some(collector) = &self.collector else {
            return self;
        };
        collector.get_or_init(|| {
            let options = &self.options;
            let attachments = match options.attachments {
                AttachmentPolicy::None => AttachmentPolicy::None,
                AttachmentPolicy::Text | AttachmentPolicy::All => AttachmentPolicy::Text,
            };
            let options = Options {
                rules: options.rules,
                schemeless: options.schemeless,
                extra_schemes: options.extra_schemes.clone(),
                skip_headers: options.skip_headers,
                skip_html: options.skip_html,
                attachments,
                limits: options.limits,
                ids: Demand::Unneeded,
                line_numbers: Demand::Unneeded,
                regions: Demand::Unneeded,
                info: InfoFields::NONE,
                ..Options::default()
            };
            Box::new(Extractor {
                collector: None,
                ..Extractor::new(options)
            })
        })
    }

    /// Passes everything found in `message`, a message of `source`, to `sink`.
    ///
    /// Allocates little for a message without URLs. Linear in the message's length.
    ///
    /// # Examples
    ///
    /// ```
    /// use urlspool_mail::split::Message;
    /// use urlspool_record::extract::{Extractor, Finding};
    /// use urlspool_text::origin::Source;
    ///
    /// let mail = b"Subject: a note\n\nIt is under <URL:ftp://ds.in\n   ternic.net/rfc>.\n";
    /// let mut found = Vec::new();
    /// let source = Source::at("note.eml".into());
    /// Extractor::default().extract(&Message::parse(mail), &source, &mut |finding| {
    ///     if let Finding::Url(record) = finding {
    ///         found.push((record.found.url().to_owned(), record.origin.start, record.origin.end));
    ///     }
    /// });
    /// assert_eq!(found, [(b"ftp://ds.internic.net/rfc".to_vec(), 34, 63)]);
    /// ```
    pub fn extract(
        &self,
        message: &Message<'_>,
        source: &Source,
        sink: &mut dyn FnMut(Finding<'_>),
    ) {
        let header = ParsedHeader::of(message, self.options.limits.header_bytes);
        self.extract_parsed(message, &header, source, sink);
    }

    /// Extracts URLs from a message whose structure made the program panic. The raw bytes are
    /// treated as one text and determine the identifiers of the records.
    pub fn extract_flat(
        &self,
        message: &Message<'_>,
        source: &Source,
        sink: &mut dyn FnMut(Finding<'_>),
    ) {
        let flat = Message {
            header: HeaderForm::Absent,
            wire: false,
            extent: Extent::Whole,
            ..*message
        };
        let header = ParsedHeader {
            digest: Some(hash_pieces(&[flat.raw])),
            ..ParsedHeader::default()
        };
        self.extract_parsed(&flat, &header, source, sink);
    }

    /// Runs [`Extractor::extract`] on a message whose header was already read.
    pub fn extract_parsed(
        &self,
        message: &Message<'_>,
        header: &ParsedHeader<'_>,
        source: &Source,
        sink: &mut dyn FnMut(Finding<'_>),
    ) {
        let limits = &self.options.limits;
        let mut pass = MessagePass::new(message, header, source, self, sink);
        let shared = RefCell::new(&mut pass);
        let decoded = texts(
            message,
            &header.fields,
            limits,
            self.text_policy(message, source),
            &mut |text| shared.borrow_mut().text(&text),
            &mut || (shared.borrow_mut().sink)(Finding::Large),
        );
        if pass.urls > limits.message_urls as u64 {
            let many = format!("{} URLs in one message", pass.urls);
            let diagnostic = Diagnostic::at(DiagnosticKind::Limit, message.start, many);
            (pass.sink)(Finding::Diagnostic(diagnostic));
        }
        let (is_full, has_all_hosts) = pass.evidence.as_ref().map_or((false, false), |evidence| {
            (evidence.is_full(), evidence.has_all_hosts())
        });
        if is_full {
            pass.note(ExtractLimit::Evidence, message.start);
        }
        if has_all_hosts {
            pass.note(ExtractLimit::Hosts, message.start);
        }
        let reached = std::mem::take(&mut pass.reached);
        let reached = reached
            .into_iter()
            .map(|(limit, places)| limit.event(places, limits));
        for diagnostic in reached.chain(decoded.diagnostics) {
            (pass.sink)(Finding::Diagnostic(diagnostic));
        }
        (pass.sink)(Finding::Parts {
            text: decoded.text_parts,
            skipped: &decoded.skipped_parts,
        });
    }

    /// Returns the limits of extraction.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// Returns the policy that selects which texts of a message in `source` to scan.
    #[must_use]
    pub fn text_policy(&self, message: &Message<'_>, source: &Source) -> TextPolicy {
        let name = || {
            let member = source.member().last().map(Vec::as_slice);
            member.unwrap_or(source.path.as_os_str().as_encoded_bytes())
        };
        TextPolicy {
            file_form: match message.header {
                HeaderForm::Absent => form_of_name(&String::from_utf8_lossy(name())),
                _ => TextForm::Plain,
            },
            skip_headers: self.options.skip_headers,
            skip_html: self.options.skip_html,
            attachments: self.options.attachments,
        }
    }

    /// Returns which duplicates are dropped.
    #[must_use]
    pub fn unique(&self) -> Unique {
        self.options.unique
    }
}

impl Default for Extractor {
    /// Creates an extractor with the default options.
    fn default() -> Extractor {
        Extractor::new(Options::default())
    }
}

/// Result of [`Extractor::extract`]. Results come in the order of the message's texts.
#[derive(Debug)]
pub enum Finding<'f> {
    /// A URL.
    Url(&'f FoundRecord<'f>),
    /// A URL that a filter excludes. The URLs inside it are filtered separately.
    Filtered {
        /// The first filter that excludes it.
        filter: UrlFilter,
        /// `true` for a URL inside a redirector's URL. It is not a separate candidate.
        is_unwrapped: bool,
    },
    /// A URL whose key occurred earlier in this message. Only with [`Unique::Message`].
    Duplicate {
        /// Hash of the URL's key.
        key: u128,
        /// `true` for a URL inside a redirector's URL. It is not a separate candidate.
        is_unwrapped: bool,
    },
    /// A URL inside a redirector's URL. It is not a separate candidate.
    Unwrapped(&'f FoundRecord<'f>),
    /// A candidate that is not a URL.
    Reject {
        /// Reason for the rejection.
        reason: RejectReason,
        /// Text of the candidate.
        text: &'f [u8],
        /// Position of the candidate.
        origin: RecordOrigin<'f>,
    },
    /// A limit that was reached, or damage.
    Diagnostic(Diagnostic),
    /// The next attachment unpacks to a large size. A caller with several threads reads one such
    /// message at a time.
    Large,
    /// Counts of the message's parts. Always the last finding.
    Parts {
        /// Parts with text that were scanned.
        text: usize,
        /// Parts that were skipped.
        skipped: &'f [SkippedPart],
    },
}

/// Header of a message, as far as it was read before extraction.
#[derive(Debug, Default)]
pub struct ParsedHeader<'m> {
    /// Header fields.
    fields: HeaderFields,
    /// Start of the message and its header fields, if the message is a later fragment.
    head: Option<Box<(Message<'m>, HeaderFields)>>,
    /// Digest of a message that is read as one text.
    digest: Option<u128>,
}

impl<'m> ParsedHeader<'m> {
    /// Reads at most `header_bytes` bytes of a message's header.
    #[must_use]
    pub fn of(message: &Message<'m>, header_bytes: usize) -> ParsedHeader<'m> {
        let head = message.head().map(FragmentHead::message);
        ParsedHeader {
            fields: HeaderFields::in_message(message, header_bytes),
            head: head.map(|head| Box::new((head, HeaderFields::in_message(&head, header_bytes)))),
            digest: None,
        }
    }

    /// Returns the start of the message with its header fields.
    #[must_use]
    pub fn start<'h>(&'h self, message: &'h Message<'m>) -> (&'h Message<'m>, &'h HeaderFields) {
        match &self.head {
            Some(head) => (&head.0, &head.1),
            None => (message, &self.fields),
        }
    }
}

/// Regions and inner messages of a text, computed when a URL first needs them.
#[derive(Default)]
struct TextParts {
    regions: Option<Regions>,
    /// Index and author of the inner message that contains the previous URL.
    author: Option<(usize, Arc<Author>)>,
}

impl TextParts {
    fn regions(&mut self, text: &DecodedText<'_>) -> &Regions {
        self.regions.get_or_insert_with(|| Regions::of(&text.bytes))
    }
}

impl MessagePass<'_, '_> {
    /// Scans a text. On an HTML page, attribute links are interleaved in page order.
    fn text(&mut self, text: &DecodedText<'_>) {
        if text.region == Region::ExternalBody {
            return self.external_body(text);
        }
        if text.is_piece {
            self.note_in(ExtractLimit::Text, &text.offset_map, Span::default());
        }
        if text.offset_map.is_coarse() {
            self.note_in(ExtractLimit::Map, &text.offset_map, Span::default());
        }
        if let Some(page) = &text.page
            && page.is_incomplete
        {
            let mut parts = TextParts::default();
            let links = page.links.iter();
            return links.for_each(|link| self.link(text, link, &mut parts));
        }
        let Extractor { scanner, .. } = self.extractor;
        let mut parts = TextParts::default();
        self.note_long_base(text);
        let links = text.page.as_ref().map_or(&[][..], |page| &page.links);
        let mut links = links.iter().peekable();
        let encoded = &text.encoded;
        let mut passed = 0;
        let mut from = 0;
        self.first_invalid = 0;
        if let Some(evidence) = &mut self.evidence {
            evidence.begin_text();
        }
        let mut starts = match text.region {
            Region::Body => scanner.starts(&text.bytes),
            _ => scanner.field_starts(&text.bytes),
        };
        while let Some(start) = starts.next_from(from) {
            passed += encoded[passed..]
                .iter()
                .take_while(|block| block.end <= start.at)
                .count();
            if let Some(block) = encoded.get(passed).filter(|block| block.start <= start.at) {
                from = block.end;
                continue;
            }
            while let Some(link) = links.next_if(|link| link.at <= start.at) {
                self.link(text, link, &mut parts);
            }
            let Some(start) = self.with_known_host(text, start) else {
                starts.skip_host();
                continue;
            };
            let outcome = self.start(text, &start, &mut parts);
            if let Some(reason) = outcome.reject {
                let span = Span::new(start.at, outcome.resume.max(start.resume));
                self.reject(reason, span.of(&text.bytes), &text.offset_map, span);
            }
            from = outcome.resume.max(start.at + 1);
        }
        links.for_each(|link| self.link(text, link, &mut parts));
    }

    /// Notes the limit if the page's `<base>` is too long to use.
    fn note_long_base(&mut self, text: &DecodedText<'_>) {
        let max = self.extractor.limits().url_bytes;
        let base = text.page.as_ref().and_then(|page| page.base.as_ref());
        if base.is_some_and(|base| max < base.len()) {
            self.note_in(ExtractLimit::Base, &text.offset_map, Span::default());
        }
    }

    /// Sets the scheme of a host with a path to the one that the host has elsewhere. Returns `None`
    /// if it is probably no page, and for an unknown host, unless the scanner finds all hosts with
    /// a path. Returns any other start unchanged.
    fn with_known_host(&self, text: &DecodedText<'_>, start: UrlStart) -> Option<UrlStart> {
        let Opening::HostPath(guessed) = start.opening else {
            return Some(start);
        };
        // A slash follows the host.
        let host = &text.bytes[start.at..start.resume - 1];
        let scanner = &self.extractor.scanner;
        let guessed = (scanner.finds_all_paths() && is_registered(host)).then_some(guessed);
        if !names_page(&text.bytes, start.at) {
            return None;
        }
        let known = self.evidence.as_ref();
        let known = known.and_then(|evidence| evidence.scheme_of(text, host));
        Some(UrlStart {
            opening: Opening::HostPath(known.or(guessed)?),
            ..start
        })
    }

    /// Repairs and parses the candidate at a start, then reports its URL.
    fn start(
        &mut self,
        text: &DecodedText<'_>,
        start: &UrlStart,
        parts: &mut TextParts,
    ) -> ParseOutcome {
        let before = start.at.checked_sub(1).map(|at| text.bytes[at]);
        // The buffer is put back below, even if the start is rejected.
        let mut line = std::mem::take(&mut self.line);
        let unfolded = match start.opening {
            Opening::UrlBracket | Opening::Angle => self.unfold_wrapped(text, start, &mut line),
            Opening::UrlPrefix | Opening::Bare | Opening::Schemeless(_) | Opening::HostPath(_) => {
                self.unfold_bare(text, start, before, &mut line)
            }
        };
        let outcome = match unfolded {
            Ok(close) => {
                let end = line.text_range(Span::new(0, line.text().len())).end;
                let candidate = Candidate {
                    start,
                    prior: &text.bytes[..start.at],
                    line: &line,
                    after: &text.bytes[end..],
                    close,
                };
                self.parse(text, &candidate, parts)
            }
            Err(rejected) => rejected,
        };
        self.line = line;
        outcome
    }

    /// Unfolds a wrapper's content into `line` and returns the offset of the closing bracket.
    fn unfold_wrapped(
        &mut self,
        text: &DecodedText<'_>,
        start: &UrlStart,
        line: &mut LogicalLine,
    ) -> Result<Option<usize>, ParseOutcome> {
        let Extractor {
            scanner, options, ..
        } = self.extractor;
        if !self.may_take_steps() {
            return Err(rejected(start.resume, RejectReason::Unclosed));
        }
        let max_bytes = options.limits.wrapper_bytes;
        match unfold_wrapper(&text.bytes, start, scanner.rules(), max_bytes, line) {
            WrappedText::Closed(close) => Ok(Some(close)),
            WrappedText::SeveralUrls(close) => Err(rejected(close + 1, RejectReason::TwoUrls)),
            unclosed @ (WrappedText::Unclosed | WrappedText::TooLong) => {
                if unclosed == WrappedText::TooLong {
                    let opening = Span::new(start.at, start.content);
                    self.note_in(ExtractLimit::Wrapper, &text.offset_map, opening);
                }
                Err(rejected(start.resume, RejectReason::Unclosed))
            }
        }
    }

    /// Unfolds a bare word into `line` if it may contain a URL. A bare word has no closing bracket.
    fn unfold_bare(
        &self,
        text: &DecodedText<'_>,
        start: &UrlStart,
        before: Option<u8>,
        line: &mut LogicalLine,
    ) -> Result<Option<usize>, ParseOutcome> {
        let bare = BareWord {
            from: start.content,
            before,
            rules: self.extractor.scanner.rules(),
            breaks: match text.lines {
                LineLayout::Written if self.may_take_steps() => LineBreakPolicy::Join,
                LineLayout::LaidOut if self.may_take_steps() => LineBreakPolicy::JoinWhole,
                _ => LineBreakPolicy::Keep,
            },
            max_bytes: if self.may_read_whole() && self.may_take_steps() {
                usize::MAX
            } else {
                PREFILTER_BYTES
            },
        };
        if let Err(reason) = self.prefilter(&text.bytes, start, &bare)
            && !has_other_notation(&text.bytes, &bare)
            && !start.is_spaced()
        {
            return Err(rejected(start.resume, reason));
        }
        let evidence = self.evidence.as_ref();
        let evidence = evidence.map(|message| TextEvidence { message, text });
        let elsewhere = evidence.as_ref().map(|evidence| evidence as &dyn Elsewhere);
        unfold_bare_word(&text.bytes, &bare, elsewhere, line);
        Ok(None)
    }

    /// Parses a candidate and reports its URL. Counts the bytes of a rejected bare word, or the
    /// bytes after the URL in an accepted one.
    fn parse(
        &mut self,
        text: &DecodedText<'_>,
        candidate: &Candidate<'_>,
        parts: &mut TextParts,
    ) -> ParseOutcome {
        let Extractor {
            scanner, options, ..
        } = self.extractor;
        let (line, start) = (candidate.line, candidate.start);
        let opening = Span::new(start.at, start.content);
        self.count_steps(line.text().len(), &text.offset_map, opening);
        let outcome = parse_candidate(candidate, scanner, options.limits.url_bytes, &mut |found| {
            self.report_in_text(text, line.joins(), parts, found)
        });
        if outcome.reject.is_some() && candidate.close.is_none() {
            if let Some(RejectReason::Grammar(_)) = outcome.reject {
                self.first_invalid = start.content + first_invalid(line.text());
            }
            self.count_rejected(text, start, line.text().len());
        } else if candidate.close.is_none() {
            // The rest of the word is read again from its next start.
            let word_end = start.content + line.text().len();
            self.count_rejected(text, start, word_end.saturating_sub(outcome.resume));
        }
        outcome
    }

    /// Reports a URL with its region and quote depth.
    fn report_in_text(
        &mut self,
        text: &DecodedText<'_>,
        joins: &[Join],
        parts: &mut TextParts,
        found: &FoundUrl<'_>,
    ) {
        let name;
        let region = match text.region {
            _ if self.extractor.options.regions == Demand::Unneeded => "",
            Region::ExternalBody => EXTERNAL_BODY_REGION,
            Region::Header(field) => {
                name = ["header:", &String::from_utf8_lossy(field)].concat();
                name.as_str()
            }
            Region::Body if text.page.is_some() => "html:text",
            Region::Body => parts.regions(text).at(found.raw.start).name(),
        };
        let author = self.author(text, found.raw.start, parts);
        let may_be_quoted = text.region == Region::Body && text.lines == LineLayout::Written;
        let quote_depth = if may_be_quoted {
            quote_depth(&text.bytes, found.raw.start)
        } else {
            0
        };
        let location = Location {
            region,
            quote_depth,
            exact: true,
            joins,
            author: author.as_ref(),
            ..Location::of(text)
        };
        self.report(&location, found);
    }

    /// Returns the innermost message that contains byte `at` of a text. `None` for the outermost
    /// message, or if no record needs the author.
    fn author(
        &self,
        text: &DecodedText<'_>,
        at: usize,
        parts: &mut TextParts,
    ) -> Option<Arc<Author>> {
        let around = text.author.cloned();
        let is_needed = self.extractor.options.info.contains(InfoFields::AUTHOR);
        if !is_needed || text.region != Region::Body || text.lines == LineLayout::Folded {
            return around;
        }
        let Some(message) = parts.regions(text).message_at(&text.bytes, at) else {
            return around;
        };
        if parts
            .author
            .as_ref()
            .is_none_or(|(last, _)| *last != message)
        {
            let max_bytes = self.extractor.options.limits.field_bytes;
            let author = parts.regions(text).author(text, message, max_bytes)?;
            parts.author = Some((message, Arc::new(author)));
        }
        parts.author.as_ref().map(|(_, author)| Arc::clone(author))
    }

    /// Returns `true` if words may be read to the end. A rejected word is read again from each
    /// start inside it, so without this bound a message of `n` bytes could take `n * n` steps.
    fn may_read_whole(&self) -> bool {
        self.rejected_bytes <= REJECTED_WORDS_BYTES + REJECTED_WORDS_RATIO * self.message.raw.len()
    }

    /// Counts `len` bytes of a word that were read but belong to no URL. Reports the limit the
    /// first time it is exceeded.
    fn count_rejected(&mut self, text: &DecodedText<'_>, start: &UrlStart, len: usize) {
        if len > PREFILTER_BYTES && self.may_read_whole() {
            self.rejected_bytes += len;
            if !self.may_read_whole() {
                let most = format!(
                    "too many long words whose possible starts yield no URL or a short one: from \
                     here on only the first {PREFILTER_BYTES} bytes of a word are read"
                );
                let opening = Span::new(start.at, start.content);
                self.report_limit(most, &text.offset_map, opening);
            }
        }
    }

    /// Rejects the word at a bare start if it cannot be a URL.
    fn prefilter(
        &self,
        text: &[u8],
        start: &UrlStart,
        word: &BareWord,
    ) -> Result<(), RejectReason> {
        let guessed = start.opening.guessed();
        // A host before a path was already checked.
        if !matches!(start.opening, Opening::HostPath(_)) {
            prefilter(text, word, guessed, &self.extractor.scanner)?;
        }
        if guessed.is_some() && names_machine(text, start.at) {
            return Err(RejectReason::Machine);
        }
        // Later in this word is a byte that no grammar accepts. Only the schemes of browsers
        // tolerate it.
        let begin = &text[word.from..];
        let special = [&b"http:"[..], b"https:", b"ftp:", b"file:", b"ws:", b"wss:"];
        let browsers = guessed.is_some()
            || special.iter().any(|name| {
                begin.len() >= name.len() && begin[..name.len()].eq_ignore_ascii_case(name)
            });
        if word.from < self.first_invalid && !browsers {
            Err(RejectReason::Implausible)
        } else {
            Ok(())
        }
    }

    /// Parses and reports the URL of an HTML attribute.
    fn link(&mut self, text: &DecodedText<'_>, link: &HtmlLink, parts: &mut TextParts) {
        let Some(page) = &text.page else { return };
        let limits = &self.extractor.options.limits;
        let (region, confidence) = match link.attribute {
            "" => (format!("html:{}", link.element), UNSHOWN_CONFIDENCE),
            attribute => (format!("html:{}.{attribute}", link.element), 1.0),
        };
        let anchor = link
            .anchor
            .map(|anchor| anchor.of(&text.bytes).trim_ascii());
        let author = self.author(text, link.at, parts);
        let location = Location {
            bytes: &page.source,
            offset_map: &page.offset_map,
            region: &region,
            anchor,
            exact: link.exact,
            author: author.as_ref(),
            ..Location::of(text)
        };
        let base = page
            .base
            .as_deref()
            .filter(|base| base.len() <= limits.url_bytes && self.may_take_steps());
        let value = AttributeValue {
            text: &link.value,
            span: link.span,
            base,
            confidence,
        };
        self.value(&location, &value);
    }

    /// Parses and reports a text that is a single URL, built from content-type parameters.
    fn external_body(&mut self, text: &DecodedText<'_>) {
        let location = Location::of(text);
        let value = AttributeValue {
            text: &text.bytes,
            span: Span::new(0, text.bytes.len()),
            base: None,
            confidence: 1.0,
        };
        self.value(&location, &value);
    }

    /// Parses and reports a value that is a single URL.
    fn value(&mut self, location: &Location<'_>, value: &AttributeValue<'_>) {
        let Extractor {
            scanner, options, ..
        } = self.extractor;
        let url_bytes = options.limits.url_bytes;
        if let Err(reason) = parse_attribute(value, scanner, url_bytes, &mut |found| {
            self.report(location, found)
        }) {
            self.reject(reason, value.text, location.offset_map, value.span);
        }
    }
}

/// Confidence in a URL in a script or an element's data. The page may never show it.
const UNSHOWN_CONFIDENCE: f32 = 0.9;

fn rejected(resume: usize, reason: RejectReason) -> ParseOutcome {
    let reject = Some(reason);
    ParseOutcome { resume, reject }
}

/// Returns the offset of the first byte that RFC 3986 does not allow, or of the first `%` without
/// an escape.
fn first_invalid(word: &[u8]) -> usize {
    let invalid = word.iter().enumerate().position(|(at, byte)| {
        let is_allowed = byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(byte);
        !is_allowed || *byte == b'%' && escaped_byte(&word[at..]).is_none()
    });
    invalid.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages and their expected authors. `|` is a line end and `~` a line of 30 hyphens. `MULTI`
    /// and `REPORT` start a multipart. `INNER` is a message in a part, and `HEAD` is three header
    /// lines. A blank line before the last fields of a header does not start a message.
    const CASES: &str = "\
MULTI/mixed; boundary=b||--b|INNER|--b||URL => rfc822 Joe, outer
MULTI/digest; boundary=b||--b||HEAD|URL|--b||Date: x||URL => digest Joe, digest
REPORT|Content-Type: message/feedback-report||Reported-URI: URL|--b|INNER => reporter outer, arf Joe
REPORT|Content-Type: message/feedback-report||Reported-URI: URL|--b-- => reporter outer
MULTI/ARF|Subject: URL||--b||URL|--b|Content-Type: message/feedback-report||URL|--b|INNER => \
reporter outer, reporter outer, reporter outer, arf Joe
MULTI/mixed; boundary=c||--c|MULTI/ARF||--b||URL => reporter outer
MULTI/ARF||--b|Content-Type: message/feedback-report||--b|Content-Type: message/rfc822||From: Joe|\
MULTI/report; report-type=feedback-report; boundary=c||--c||URL => arf Joe
Content-Type: message/rfc822||From: Joe|MULTI/ARF||--b||URL => reporter Joe
REPORT|Content-Type: text/rfc822-headers||HEAD|List-Post: URL| => rfc822 Joe
|MIME-Version: 1.0||URL => outer
|URL|-----Original Message-----|HEAD|URL => outer, text Joe
|-------- Weitergeleitete Nachricht --------|HEAD|URL => text Joe
|Begin forwarded message:||> From: Joe|> Date: x|> |> URL||URL => text Joe, outer in forwarded
|---------- Forwarded message ----------|From: Joe <|j@a.example>||URL => text Joe <j@a.example>
|---------- Forwarded message ----------|From: Joe <| j@a.example>||URL => text Joe <j@a.example>
|Von: Joe|Gesendet: Montag|An: x|Betreff: x||URL => text Joe
|--- Forwarded Message||HEAD|URL|--- End of Forwarded Message|URL => text Joe, outer in forwarded
|--- Below this line is a copy of the message.||From: j@a||URL => text j@a
|~||HEAD|URL|~||HEAD|URL|~||End of x Digest|URL => digest Joe, digest Joe, outer
|-- begin forwarded text|||To: a|HEAD|URL|-- end forwarded text|URL => text Joe, outer in forwarded
|<- Begin Forwarded Message ->|HEAD|-- |URL|<-- End Forwarded Message -->|URL => text Joe, outer
|-- Forwarded message|HEAD|=====begin fwd|HEAD|URL|=====end fwd|URL => text Joe, outer in forwarded
|---------- Forwarded message ----------|Date: x|>From: Joe|Subject: x||URL => text Joe
|----- Forwarded message from Joe -----||>>From j@a Sun Sep 29 21:27:09 1996|HEAD|URL => text Joe
|==BEGIN FORWARDED MESSAGE==|>From: Joe|>Date: x||URL => outer in forwarded
|~||HEAD|URL||~~~||URL|~||End of x Digest|URL => digest Joe, outer, outer
|~||HEAD|~~~|URL|~||End of x Digest => digest Joe
|--- original/a|From: Joe||URL => outer
|-----Original Message-----|URL => outer in forwarded
|~||URL => outer
|> -----Original Message-----|> From: Joe|>|> URL => outer
Content-Type: text/html||<p>-----Original Message-----<br>From: j@a<br><br>URL => text j@a
Content-Type: text/html||<p>-----Original Message-----<br>|From: j@a<br>|<br>|URL => text j@a
Content-Type: text/html||<hr><b>From:</b> Joe<br>|<b>Sent:</b> Monday<br>|<b>To:</b> a<br>\
|<b>Subject:</b> b</div>|URL => text Joe
Content-Type: text/html||<b>From:</b> Jim &lt;|<a>j@a</a>&gt;<br>|Sent: Monday, 5 January|2026 \
3:04 PM<br>|To: a|b<br>|Subject: c|d<br>|<br>|e URL => text Jim <j@a>: c d
Content-Type: text/html||<pre>-----Original Message-----|From: Jim|Date: x|Subject: c|d|To: e|\
|URL</pre> => text Jim: c d";

    #[test]
    fn defanged_urls_that_end_in_an_equals_sign_stay_apart() {
        let text = format!("hxxps://a[.]example/{}=\n", "x".repeat(60)).repeat(3);
        assert_eq!(crate::extract::urls(&text).len(), 3);
    }

    #[test]
    fn the_innermost_message_names_the_author() {
        for case in CASES.lines() {
            let (mail, expected) = case.split_once(" => ").unwrap();
            let mail = mail.replace("REPORT", "MULTI/report; boundary=b||--b");
            let mail = mail.replace("ARF", "report; report-type=Feedback-Report; boundary=b");
            let mail = mail.replace("INNER", "Content-Type: message/rfc822||HEAD|URL");
            let mail = mail.replace("MULTI", "Content-Type: multipart");
            let mail = mail.replace("HEAD", "From: Joe|Date: Mon, 1 May 2006|Subject: x|");
            let mail = mail.replace('~', &"-".repeat(30)).replace('|', "\n");
            let mail = mail.replace("URL", "http://a.example/");
            let mail = format!("From: outer\nMIME-Version: 1.0\n{mail}");
            let message = Message::parse(mail.as_bytes());
            let (source, mut found) = (Source::at("a".into()), Vec::new());
            Extractor::default().extract(&message, &source, &mut |finding| {
                if let Finding::Url(FoundRecord { author, region, .. }) = finding {
                    let kind = author.map_or("outer", |author| author.kind.name());
                    let from = author.and_then(|author| author.info.from.as_deref());
                    let subject = author.and_then(|author| author.info.subject.as_deref());
                    let subject = subject.filter(|subject| subject.contains(' '));
                    let subject = subject.map_or(String::new(), |subject| format!(": {subject}"));
                    let shown = format!("{kind} {}{subject}", from.unwrap_or_default());
                    let odd = if kind == "text" { "body" } else { "forwarded" };
                    let odd = (*region == odd).then(|| format!(" in {odd}"));
                    found.push(shown.trim().to_owned() + &odd.unwrap_or_default());
                }
            });
            assert_eq!(found.join(", "), expected, "{mail}");
        }
    }
}
