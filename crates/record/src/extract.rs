//! Finds the URLs of one message, on one thread and without I/O.
//!
//! [`Extractor::extract`] passes everything it finds to a closure, in message order; [`urls`],
//! [`message_urls`] and [`Extractor::urls`] collect the URLs as owned values. `scan` finds the
//! start of a URL, `repair` its continuation and `parse` its end. The loop in
//! `extract/text_scan.rs` then resumes after it.

mod elsewhere;
mod message_pass;
mod text_scan;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::iter;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, OnceLock};

pub use message_pass::key_hash;
use message_pass::{ExtractLimit, MessagePass};

use crate::record::{Demand, FoundRecord, MISMATCH, RecordOrigin};
use urlspool_mail::decode::{
    AttachmentPolicy, HeaderFields, InfoFields, SkippedPart, TextForm, TextPolicy, form_of_name,
    texts,
};
use urlspool_mail::split::{Extent, FragmentHead, HeaderForm, Message};
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind, UrlFilter};
use urlspool_text::hash::hash_pieces;
use urlspool_text::limits::Limits;
use urlspool_text::origin::Source;
use urlspool_text::parse::{
    Alternate, FoundUrl, Grammar, Hazard, RejectReason, Site, Verdicts, Wrapper, components,
    found_hazards,
};
use urlspool_text::repair::{Join, RepairSet, UrlEvidence};
use urlspool_text::scan::{Rules, Scanner, SchemelessPolicy};

/// Extraction options: which URLs to find and which to report.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option, named where it is set"
)]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Rules for finding URLs.
    pub rules: Rules,
    /// Treatment of hosts without a scheme (`www.`, `ftp.`, and hosts with a path).
    pub schemeless: SchemelessPolicy,
    /// Additional schemes, which need no `//`.
    pub extra_schemes: Vec<String>,
    /// Skips header fields. Otherwise all are searched, except trace and threading fields.
    pub skip_headers: bool,
    /// Skips HTML parts.
    pub skip_html: bool,
    /// Treatment of attachments.
    pub attachments: AttachmentPolicy,
    /// Grammars, at least one of which must accept a URL; empty for no filter.
    pub accept: Vec<Grammar>,
    /// Schemes to report; empty for all.
    pub schemes: Vec<String>,
    /// Hosts to report, in the form of the record field `host`: lower case, with A-labels. Empty
    /// for all.
    pub hosts: Vec<String>,
    /// Domains to report along with their subdomains, in the same form; empty for all. A URL passes
    /// if either list matches it.
    pub domains: Vec<String>,
    /// Domains not to report, nor their subdomains. In the same form.
    pub excluded_domains: HashSet<String>,
    /// Regions to report, in the form of the record field `region`; empty for all. `header` and
    /// `html` match every region that starts with them.
    pub region_names: Vec<String>,
    /// `true` to report only links whose text names a different host.
    pub mismatch: bool,
    /// Hazards, at least one of which a reported URL must have, in the form of the record field
    /// `hazards`; empty for no filter.
    pub hazards: Vec<String>,
    /// Duplicates to drop.
    pub unique: Unique,
    /// Maximum number of bytes of context on each side of a URL, at most 4096; 0 for none.
    pub context_bytes: usize,
    /// `true` to remove the recipient's address from the URLs of redirectors.
    pub strip_recipient: bool,
    /// Header fields that records repeat in `message.fields`; empty for none. Case is ignored.
    pub header_fields: Vec<String>,
    /// Demand for record identifiers. If unneeded, they are 0 and a scan is faster.
    pub ids: Demand,
    /// Demand for line numbers. If unneeded, they are 0 and a scan is faster.
    pub line_numbers: Demand,
    /// Demand for regions. If unneeded and not filtered on, they are empty and a scan is faster.
    pub regions: Demand,
    /// Message header data that records need. The fewer fields, the faster a scan.
    pub info: InfoFields,
    /// Limits of extraction.
    pub limits: Limits,
}

/// Duplicates to drop. Two URLs are duplicates if their keys and fragments are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unique {
    /// Keep all duplicates.
    #[default]
    None,
    /// Drop duplicates within a message. The record holds their number.
    Message,
    /// Drop duplicates within a run of `pipeline`. [`Extractor::extract`] sees a single message and
    /// treats this as [`Unique::None`].
    Run,
}

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

impl Options {
    /// Returns the first filter that excludes a URL. `mismatch` returns `true` for a link whose
    /// text names a different host.
    fn filter_of(
        &self,
        found: &FoundUrl<'_>,
        region: &str,
        mismatch: impl Fn() -> bool,
    ) -> Option<UrlFilter> {
        let mut filters = UrlFilter::ALL.into_iter();
        filters.find(|filter| !self.passes(*filter, found, region, &mismatch))
    }

    /// Returns `true` if a URL passes a filter or the filter is not set.
    fn passes(
        &self,
        filter: UrlFilter,
        found: &FoundUrl<'_>,
        region: &str,
        mismatch: &impl Fn() -> bool,
    ) -> bool {
        match (filter, found.verdicts) {
            (UrlFilter::Accept, _) if self.accept.is_empty() => true,
            (UrlFilter::Accept, verdicts) => verdicts.is_some_and(|verdicts| {
                let mut grammars = verdicts.conforms();
                grammars.any(|grammar| self.accept.contains(&grammar))
            }),
            (UrlFilter::Schemes, _) if self.schemes.is_empty() => true,
            (UrlFilter::Schemes, _) => {
                let scheme = components(found.url()).scheme;
                let mut names = self.schemes.iter();
                names.any(|name| name.as_bytes().eq_ignore_ascii_case(scheme))
            }
            (UrlFilter::Host, _) if self.hosts.is_empty() => true,
            (UrlFilter::Domain, _) if self.domains.is_empty() || !self.hosts.is_empty() => true,
            (UrlFilter::Host | UrlFilter::Domain, _) => {
                let site = Site::of(&components(found.url()));
                site.is_some_and(|site| self.wants_host(&site.host))
            }
            (UrlFilter::Excluded, _) if self.excluded_domains.is_empty() => true,
            (UrlFilter::Excluded, _) => {
                let site = Site::of(&components(found.url()));
                site.is_none_or(|site| !self.excludes_host(&site.host))
            }
            (UrlFilter::Region, _) => self.region_names.is_empty() || self.wants_region(region),
            (UrlFilter::Mismatch, _) => !self.mismatch || mismatch(),
            (UrlFilter::Hazard, _) if self.hazards.is_empty() => true,
            (UrlFilter::Hazard, _) => {
                let mut of_url = found_hazards(found).into_iter().map(Hazard::name);
                of_url.any(|name| self.wants_hazard(name))
                    || self.wants_hazard(MISMATCH) && mismatch()
            }
        }
    }

    /// Returns `true` if a region is wanted.
    fn wants_region(&self, region: &str) -> bool {
        self.region_names.iter().any(|wanted| {
            let Some((start, rest)) = region.split_at_checked(wanted.len()) else {
                return false;
            };
            // `header` and `html` include the regions that start with them and a colon.
            start.eq_ignore_ascii_case(wanted) && (rest.is_empty() || rest.starts_with(':'))
        })
    }

    fn wants_hazard(&self, name: &str) -> bool {
        self.hazards.iter().any(|wanted| wanted == name)
    }

    /// Returns `true` if a host is an excluded domain or a subdomain of one.
    fn excludes_host(&self, host: &str) -> bool {
        let parents = host.match_indices('.').map(|(dot, _)| &host[dot + 1..]);
        let mut domains = iter::once(host).chain(parents);
        domains.any(|domain| self.excluded_domains.contains(domain))
    }

    /// Returns `true` if a host is wanted.
    fn wants_host(&self, host: &str) -> bool {
        let mut domains = self.domains.iter();
        self.hosts.iter().any(|wanted| wanted == host)
            || domains.any(|domain| {
                let rest = host.strip_suffix(domain.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            })
    }
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

/// Finds the URLs in a text, with the wide rules and the default limits.
///
/// Wrappers are removed, and URLs broken across lines are joined. Linear in the text's length.
///
/// # Examples
///
/// ```
/// let text = "see <URL:http://a.example/x\n  y> now, or www.b.example.";
/// let urls = urlspool_record::extract::urls(text);
/// let found: Vec<String> = urls.iter().map(|url| url.to_string()).collect();
/// assert_eq!(found, ["http://a.example/xy", "http://www.b.example"]);
/// ```
#[must_use]
pub fn urls(text: &str) -> Vec<ExtractedUrl> {
    DEFAULT.urls(&Message::text(text.as_bytes()))
}

/// Finds the URLs of a message, in its header fields and in every text part, with the default
/// options. Linear in its length.
///
/// # Examples
///
/// ```
/// let mail = b"Subject: a note\n\nIt is under <URL:ftp://ds.in\n   ternic.net/rfc>.\n";
/// let urls = urlspool_record::extract::message_urls(mail);
/// let url = &urls[0];
/// assert_eq!(url.as_str(), "ftp://ds.internic.net/rfc");
/// assert_eq!(url.host().as_deref(), Some("ds.internic.net"));
/// assert_eq!(&mail[url.range()], b"ftp://ds.in\n   ternic.net/rfc");
/// assert!(url.verdicts().rfc1738.is_ok());
/// ```
#[must_use]
pub fn message_urls(message: &[u8]) -> Vec<ExtractedUrl> {
    DEFAULT.urls(&Message::parse(message))
}

static DEFAULT: LazyLock<Extractor> = LazyLock::new(Extractor::default);

impl Default for Extractor {
    /// Creates an extractor with the default options.
    fn default() -> Extractor {
        Extractor::new(Options::default())
    }
}

impl Extractor {
    /// Finds the URLs of a message, in message order.
    ///
    /// Linear in the message's length. Holds all URLs in memory; for messages with millions of
    /// URLs, use [`Extractor::extract`].
    #[must_use]
    pub fn urls(&self, message: &Message<'_>) -> Vec<ExtractedUrl> {
        let source = Source::at(PathBuf::new());
        let mut urls = Vec::new();
        self.extract(message, &source, &mut |finding| {
            if let Finding::Url(record) = finding {
                urls.push(ExtractedUrl::new(record, message.start));
            }
        });
        urls
    }
}

/// A URL found in a text or message.
///
/// `Display` prints the URL without its fragment, which is kept separately, as in records.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExtractedUrl {
    /// The URL without its fragment, as text.
    text: String,
    /// Bytes of the URL, including `#` and the fragment.
    full: Vec<u8>,
    url_len: usize,
    range: Range<usize>,
    /// `true` if the range is exact to the byte, and not rounded out to an encoded unit.
    pub is_exact: bool,
    /// Wrapper around the URL.
    pub wrapper: Wrapper,
    /// Repairs made to the URL.
    pub repairs: RepairSet,
    /// Joins of the URL's logical line, each with its reasons and confidence. Doubtful joins and
    /// joins after the URL's end are included.
    pub joins: Vec<Join>,
    /// Other readings of the same place, most likely first.
    pub alternates: Vec<Alternate>,
    /// Probability (0 to 1) that this reading is right.
    pub confidence: f32,
    /// Region of the message: `header:NAME`, `body`, `signature`, `html:a.href` and so on.
    pub region: String,
    /// Quote depth of the line on which the URL starts.
    pub quote_depth: usize,
}

impl ExtractedUrl {
    /// Copies the URL from a record. Offsets are relative to `start`, the source offset of the
    /// message.
    fn new(record: &FoundRecord<'_>, start: u64) -> ExtractedUrl {
        let found = record.found;
        let [from, to] = [record.origin.start, record.origin.end]
            .map(|at| usize::try_from(at - start).unwrap_or(usize::MAX));
        ExtractedUrl {
            text: String::from_utf8_lossy(found.url()).into_owned(),
            full: found.full.to_owned(),
            url_len: found.url_len,
            range: from..to,
            is_exact: record.origin.exact,
            wrapper: found.wrapper,
            repairs: found.repairs,
            joins: record.joins.to_owned(),
            alternates: found.alternates.to_owned(),
            confidence: found.confidence,
            region: record.region.to_owned(),
            quote_depth: record.quote_depth,
        }
    }

    /// Returns the URL without its fragment, as text. Bytes that are not UTF-8 become U+FFFD.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the bytes of the URL without its fragment.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.full[..self.url_len]
    }

    /// Returns the fragment without its `#`. `None` if there is no `#`; empty if the URL ends with
    /// it.
    #[must_use]
    pub fn fragment(&self) -> Option<Cow<'_, str>> {
        Some(String::from_utf8_lossy(self.full.get(self.url_len + 1..)?))
    }

    /// Returns the scheme in lower case.
    #[must_use]
    pub fn scheme(&self) -> String {
        String::from_utf8_lossy(components(self.as_bytes()).scheme).to_ascii_lowercase()
    }

    /// Returns the host in lower case; a non-ASCII name is converted to A-labels. `None` if the URL
    /// has no authority.
    #[must_use]
    pub fn host(&self) -> Option<String> {
        let site = Site::of(&components(self.as_bytes()))?;
        Some(site.host.into_owned())
    }

    /// Returns the byte range of the URL in the text or raw message, including line breaks inside
    /// it. The range refers to the input's bytes even for quoted-printable, base64 and HTML
    /// entities.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Returns the verdicts of RFC 1738, RFC 3986 and WHATWG. Computed on each call, linear in the
    /// URL's length.
    #[must_use]
    pub fn verdicts(&self) -> Verdicts<'_> {
        Verdicts::of(&self.full, self.url_len)
    }
}

impl fmt::Display for ExtractedUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
