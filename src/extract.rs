//! One message, one thread, no I/O: the loop from a message to its records.

mod emission;
mod message_pass;
mod text_scan;

pub(crate) use emission::key_hash;
use message_pass::State;

use std::collections::{HashMap, HashSet};

use crate::decode::{DecodeReport, HeaderFields, HeaderPolicy, texts};
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::limits::Limits;
use crate::origin::Source;
use crate::parse::{FoundUrl, Grammar, RejectReason, components};
use crate::record::{Record, RecordOrigin};
use crate::repair::LogicalLine;
use crate::scan::{Rules, Scanner, SchemelessPolicy};
use crate::split::Message;

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
