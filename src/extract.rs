//! Finds the URLs of one message, on one thread and without I/O.
//!
//! [`Extractor::extract`] pushes everything it finds to a closure, in the order of the message;
//! [`urls`], [`Message::urls`] and [`Extractor::urls`] collect the URLs as owned values. The start
//! of a URL is found by `scan`, its continuation by `repair`, its end by `parse`; the loop in
//! `extract/text_scan.rs` resumes after it.

mod emission;
mod extracted_url;
mod message_pass;
mod text_scan;

use std::cell::RefCell;

pub use extracted_url::{ExtractedUrl, urls};

#[cfg(feature = "files")]
pub(crate) use emission::key_hash;
use message_pass::MessagePass;

use crate::decode::{
    AttachmentPolicy, DecodeReport, HeaderFields, HeaderPolicy, HtmlPolicy, InfoFields,
    SkippedPart, TextPolicy, texts,
};
use crate::diagnostic::{Diagnostic, DiagnosticKind, UrlFilter};
#[cfg(feature = "files")]
use crate::hash::hash_pieces;
use crate::limits::Limits;
use crate::origin::Source;
use crate::parse::{FoundUrl, Grammar, Hazard, RejectReason, Site, components, hazards};
use crate::record::{Demand, FoundRecord, MISMATCH, RecordOrigin};
use crate::scan::{Rules, Scanner, SchemelessPolicy};
use crate::split::Message;
#[cfg(feature = "files")]
use crate::split::{Extent, HeaderForm};

/// Options of extraction: which URLs are found, and which of them are reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The rules by which URLs are found.
    pub rules: Rules,
    /// The treatment of hosts without a scheme (`www.` and `ftp.`).
    pub schemeless: SchemelessPolicy,
    /// Further schemes that need no `//`.
    pub extra_schemes: Vec<String>,
    /// The treatment of header fields.
    pub headers: HeaderPolicy,
    /// The treatment of HTML parts.
    pub html: HtmlPolicy,
    /// The treatment of attachments.
    pub attachments: AttachmentPolicy,
    /// Grammars, one of which must accept a URL; empty for no such filter.
    pub accept: Vec<Grammar>,
    /// Schemes to report, in lower case; empty for all.
    pub schemes: Vec<String>,
    /// Hosts to report, as the field `host` of records has them: in lower case, with A-labels;
    /// empty for all.
    pub hosts: Vec<String>,
    /// Domains to report with the hosts beneath them, in the same form; empty for all. A URL passes
    /// if either list has it.
    pub domains: Vec<String>,
    /// Regions to report, as the field `region` of records has them; `header` and `html` stand for all that begin so. Empty for all.
    pub region_names: Vec<String>,
    /// `true` to report only links whose text names another host.
    pub mismatch: bool,
    /// Hazards of which a reported URL has one, as the field `hazards` of records has them; empty for no such filter.
    pub hazards: Vec<String>,
    /// The repetitions of a URL that are left out.
    pub unique: Unique,
    /// Maximum number of bytes of context on each side of a URL, at most 4096; 0 for none.
    pub context_bytes: usize,
    /// `true` to remove the recipient's address from the URLs of redirectors.
    pub strip_recipient: bool,
    /// Names of header fields that records repeat in `message.fields`; empty for none. Case does not
    /// count.
    pub header_fields: Vec<String>,
    /// The use of the identifiers of records. Without it they are 0, and a scan is faster.
    pub ids: Demand,
    /// The use of the numbers of lines. Without it they are 0, and a scan is faster.
    pub line_numbers: Demand,
    /// The use of regions. Without it and without a filter for them they are empty, and a scan is faster.
    pub regions: Demand,
    /// The header data of messages that records need. Without the others a scan is faster.
    pub info: InfoFields,
    /// The limits.
    pub limits: Limits,
}

/// Repetitions of a URL that are left out. Two URLs are the same if their keys and their fragments
/// are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unique {
    /// No repetition is left out.
    #[default]
    None,
    /// Repetitions within a message; the record holds their number.
    Message,
    /// Repetitions within a run of `pipeline`. In [`Extractor::extract`], which sees one message
    /// alone, this is [`Unique::None`].
    Run,
}

/// Prepared options. Made once and shared by all threads.
#[derive(Debug)]
pub struct Extractor {
    options: Options,
    scanner: Scanner,
}

impl Options {
    /// Returns the first filter that holds a URL back. `mismatch` is `true` if it is a link whose text names another host.
    fn filter_of(
        &self,
        found: &FoundUrl<'_>,
        region: &str,
        mismatch: impl Fn() -> bool,
    ) -> Option<UrlFilter> {
        let has_hosts = !self.hosts.is_empty() || !self.domains.is_empty();
        let has_lists = !self.accept.is_empty()
            || !self.schemes.is_empty()
            || !self.region_names.is_empty()
            || !self.hazards.is_empty();
        // Nearly all scans.
        if !has_hosts && !has_lists && !self.mismatch {
            return None;
        }
        let passes = |filter: &UrlFilter| match filter {
            UrlFilter::Accept => self.accept.is_empty() || self.accepts(found),
            UrlFilter::Schemes => self.schemes.is_empty() || self.wants_scheme(found),
            UrlFilter::Host => !has_hosts || self.wants_host(Site::of(&components(found.url()))),
            UrlFilter::Region => self.region_names.is_empty() || self.wants_region(region),
            UrlFilter::Mismatch => !self.mismatch || mismatch(),
            UrlFilter::Hazard => self.hazards.is_empty() || self.wants_hazard(found, &mismatch),
        };
        UrlFilter::ALL.into_iter().find(|filter| !passes(filter))
    }

    /// Returns `true` if a grammar that is wanted accepts a URL.
    fn accepts(&self, found: &FoundUrl<'_>) -> bool {
        let accepts = |grammar: &Grammar| {
            found
                .verdicts
                .is_some_and(|verdicts| verdicts.conforms().any(|other| other == *grammar))
        };
        self.accept.iter().any(accepts)
    }

    /// Returns `true` if the scheme of a URL is among those that are wanted.
    fn wants_scheme(&self, found: &FoundUrl<'_>) -> bool {
        let scheme = components(found.url()).scheme;
        let named = |name: &String| name.as_bytes().eq_ignore_ascii_case(scheme);
        self.schemes.iter().any(named)
    }

    /// Returns `true` if a region is among those that are wanted.
    fn wants_region(&self, region: &str) -> bool {
        let is_in = |wanted: &String| match region.split_at_checked(wanted.len()) {
            Some((start, "")) => start.eq_ignore_ascii_case(wanted),
            // `header` and `html` hold others.
            Some((start, rest)) => rest.starts_with(':') && start.eq_ignore_ascii_case(wanted),
            None => false,
        };
        self.region_names.iter().any(is_in)
    }

    /// Returns `true` if a URL has one of the hazards that are wanted.
    fn wants_hazard(&self, found: &FoundUrl<'_>, mismatch: impl Fn() -> bool) -> bool {
        let wants = |name: &str| self.hazards.iter().any(|wanted| wanted == name);
        let of_url = |hazard: &Hazard| wants(hazard.name());
        let has_hazard = found
            .verdicts
            .is_some_and(|verdicts| hazards(found.url(), verdicts).iter().any(of_url));
        has_hazard || wants(MISMATCH) && mismatch()
    }

    /// Returns `true` if the host of a URL is among those that are wanted.
    fn wants_host(&self, site: Option<Site<'_>>) -> bool {
        let Some(Site { host, .. }) = site else {
            return false;
        };
        let is_beneath = |domain: &String| {
            let rest = host.strip_suffix(domain.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        self.hosts.iter().any(|wanted| *wanted == host) || self.domains.iter().any(is_beneath)
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
        Extractor { options, scanner }
    }

    /// Passes everything that is found in `message`, a message of `source`, to `sink`.
    ///
    /// Allocates little for a message without URLs. Linear in the message's length.
    ///
    /// # Examples
    ///
    /// ```
    /// use urlspool::{Extractor, Finding, Message, Source};
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
        let fields = HeaderFields::in_message(message, self.options.limits.header_bytes);
        let header = ParsedHeader {
            fields,
            digest: None,
        };
        extract_parsed(message, &header, source, self, sink);
    }

    /// The limits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// The texts of a message that are scanned.
    pub(crate) fn text_policy(&self) -> TextPolicy {
        TextPolicy {
            headers: self.options.headers,
            html: self.options.html,
            attachments: self.options.attachments,
        }
    }

    /// The repetitions of a URL that are left out.
    #[cfg(feature = "files")]
    pub(crate) fn unique(&self) -> Unique {
        self.options.unique
    }
}

/// One result of [`Extractor::extract`]. Results come in the order of the message's texts.
#[derive(Debug)]
#[non_exhaustive]
pub enum Finding<'f> {
    /// A URL.
    Url(&'f FoundRecord<'f>),
    /// A URL that a filter of the options holds back. The URLs inside it pass the filters by themselves.
    Filtered(UrlFilter),
    /// A URL whose key occurred in this message before. Only with [`Unique::Message`].
    Duplicate {
        /// The hash of its key.
        key: u128,
    },
    /// A URL inside a redirector's URL. It is no candidate of its own.
    Unwrapped(&'f FoundRecord<'f>),
    /// A candidate that is no URL.
    Reject {
        /// The reason.
        reason: RejectReason,
        /// Its text.
        text: &'f [u8],
        /// Its place.
        origin: RecordOrigin<'f>,
    },
    /// A limit that was reached, or damage.
    Diagnostic(Diagnostic),
    /// The next attachment unpacks to much: a caller with several threads reads one such message at a time.
    Large,
    /// The last finding: the counts of the message's parts.
    Parts {
        /// Parts that hold text and were scanned.
        text: usize,
        /// Parts that were skipped.
        skipped: &'f [SkippedPart],
    },
}

/// [`Extractor::extract`] as a function with the arguments of [`extract_flat`].
#[cfg(feature = "daemon")]
pub(crate) fn extract(
    message: &Message<'_>,
    source: &Source,
    extractor: &Extractor,
    sink: &mut dyn FnMut(Finding<'_>),
) {
    extractor.extract(message, source, sink);
}

/// Does the work of [`Extractor::extract`] for a message on whose structure the program panicked:
/// its raw bytes are one text, and the identifiers of its records are made of them.
#[cfg(feature = "files")]
pub(crate) fn extract_flat(
    message: &Message<'_>,
    source: &Source,
    extractor: &Extractor,
    sink: &mut dyn FnMut(Finding<'_>),
) {
    let flat = Message {
        header: HeaderForm::Absent,
        wire: false,
        extent: Extent::Whole,
        ..*message
    };
    let header = ParsedHeader {
        fields: HeaderFields::default(),
        digest: Some(hash_pieces(&[flat.raw])),
    };
    extract_parsed(&flat, &header, source, extractor, sink);
}

/// The header of a message, as far as it was read before the extraction.
#[derive(Debug)]
pub(crate) struct ParsedHeader {
    pub(crate) fields: HeaderFields,
    /// The message's digest, if it was computed.
    pub(crate) digest: Option<u128>,
}

/// Does the work of [`Extractor::extract`] for a message whose header was read.
pub(crate) fn extract_parsed(
    message: &Message<'_>,
    header: &ParsedHeader,
    source: &Source,
    extractor: &Extractor,
    sink: &mut dyn FnMut(Finding<'_>),
) {
    let limits = &extractor.options.limits;
    let pass = RefCell::new(MessagePass::new(message, header, source, extractor, sink));
    let DecodeReport {
        text_parts,
        skipped_parts,
        diagnostics,
    } = texts(
        message,
        &header.fields,
        limits,
        extractor.text_policy(),
        &mut |text| pass.borrow_mut().text(&text),
        &mut || (pass.borrow_mut().sink)(Finding::Large),
    );
    let mut pass = pass.into_inner();
    if pass.urls > limits.message_urls as u64 {
        let many = format!("{} URLs in one message", pass.urls);
        let diagnostic = Diagnostic::at(DiagnosticKind::Limit, message.start, many);
        (pass.sink)(Finding::Diagnostic(diagnostic));
    }
    let reached = std::mem::take(&mut pass.reached);
    for diagnostic in reached.diagnostics(limits).chain(diagnostics) {
        (pass.sink)(Finding::Diagnostic(diagnostic));
    }
    (pass.sink)(Finding::Parts {
        text: text_parts,
        skipped: &skipped_parts,
    });
}
