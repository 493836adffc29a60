//! One message, one thread, no I/O: the loop from a message to its records.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_128;

use crate::decode::{Decoded, Facts, Fields, Headers, Region, Text, digest, texts};
use crate::limits::Limits;
use crate::origin::Source;
use crate::parse::{Found, Laid, Outcome, Reason, key, read, split};
use crate::problem::{Kind, Problem};
use crate::record::{Origin, Record, context_border, id};
use crate::repair::{Line, Wrapped, quote_depth, word, wrapped};
use crate::scan::{Opening, Rules, Scanner, Schemeless, Start};
use crate::span::Span;
use crate::split::{Header, Message};

/// What is found, and what is held back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// By which rules.
    pub rules: Rules,
    /// Whether hosts without a scheme are found.
    pub schemeless: Schemeless,
    /// Further schemes that need no `//`.
    pub extra_schemes: Vec<String>,
    /// Whether header fields are searched.
    pub headers: Headers,
    /// Names of grammars, one of which must accept; empty for all.
    pub accept: Vec<&'static str>,
    /// Schemes that are wanted, in lower case; empty for all.
    pub schemes: Vec<String>,
    /// Whether a URL is given once a message.
    pub once_a_message: bool,
    /// Octets of context.
    pub context_bytes: usize,
    /// The limits.
    pub limits: Limits,
}

/// The options, made ready. Shared by all threads.
#[derive(Debug)]
pub struct Extractor {
    options: Options,
    scanner: Scanner,
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
    /// A URL that stood in this message before.
    Folded,
    /// A candidate that is none, and its text.
    Reject(Reason, &'f [u8], Origin<'f>),
    /// Something wrong.
    Problem(Problem),
    /// The end: how many parts were searched, and how many left.
    Parts(usize, usize),
}

/// Gives everything that is found in `message`, which lies in `source`, to `sink`.
///
/// Allocates little for a message without URLs. Linear in the message's length.
pub fn extract(message: &Message<'_>, source: &Source, extractor: &Extractor, sink: &mut dyn FnMut(Finding<'_>)) {
    let limits = &extractor.options.limits;
    let fields = match message.header {
        Header::Present => Fields::of(message.raw, limits.header_bytes),
        Header::Absent => Fields::default(),
    };
    let mut state = State {
        message,
        source,
        extractor,
        fields: &fields,
        facts: None,
        digest: None,
        seen: HashMap::new(),
        once: HashSet::new(),
        urls: 0,
        lines: (0, 1),
        line: Line::default(),
        sink,
    };
    let Decoded { text_parts, other_parts, problems } =
        texts(message, &fields, limits, extractor.options.headers, &mut |text| state.text(&text));
    if state.urls > limits.message_urls as u64 {
        let many = format!("{} URLs in one message", state.urls);
        (state.sink)(Finding::Problem(Problem::at(Kind::Limit, message.start, many)));
    }
    for problem in problems {
        (state.sink)(Finding::Problem(problem));
    }
    (state.sink)(Finding::Parts(text_parts, other_parts));
}

/// What is known while a message is gone through. The costly facts are read when the first URL asks for them.
struct State<'s, 'm> {
    message: &'s Message<'m>,
    source: &'s Source,
    extractor: &'s Extractor,
    fields: &'s Fields,
    facts: Option<Facts>,
    digest: Option<u128>,
    /// How many times a URL stood in a part so far.
    seen: HashMap<u128, u64>,
    /// Keys that were given already, where each is given once.
    once: HashSet<u128>,
    urls: u64,
    /// An offset in the raw octets, and the number of its line.
    lines: (usize, u64),
    line: Line,
    sink: &'s mut dyn FnMut(Finding<'_>),
}

impl<'s> State<'s, '_> {
    fn text(&mut self, text: &Text<'_>) {
        let Extractor { scanner, .. } = self.extractor;
        let mut starts = scanner.starts(&text.bytes);
        let mut signature = None;
        let mut from = 0;
        while let Some(start) = starts.next(from) {
            let outcome = self.start(text, &start, &mut signature);
            if let Some(reason) = outcome.refused {
                let span = Span::new(start.at, outcome.resume.max(start.retry));
                let place = self.origin(text, span);
                (self.sink)(Finding::Reject(reason, span.of(&text.bytes), place));
            }
            from = outcome.resume.max(start.at + 1);
        }
    }

    /// Lays a start out, reads it, and gives what it holds.
    fn start(&mut self, text: &Text<'_>, start: &Start, signature: &mut Option<usize>) -> Outcome {
        let Extractor { scanner, options: Options { limits, .. } } = self.extractor;
        let mut line = std::mem::take(&mut self.line);
        let close = match start.opening {
            Opening::UrlBracket | Opening::Angle => {
                match wrapped(&text.bytes, start, scanner.rules(), limits.wrapper_bytes, &mut line) {
                    Wrapped::Closed(close) => Some(close),
                    Wrapped::Void(close) => {
                        self.line = line;
                        return Outcome { resume: close + 1, refused: Some(Reason::TwoUrls) };
                    }
                    Wrapped::Unclosed => {
                        self.line = line;
                        return Outcome { resume: start.retry, refused: Some(Reason::Unclosed) };
                    }
                }
            }
            Opening::UrlPrefix | Opening::Bare | Opening::Schemeless(_) => {
                word(&text.bytes, start.content, scanner.rules(), &mut line);
                None
            }
        };
        let before = start.at.checked_sub(1).map(|at| text.bytes[at]);
        let laid = Laid { start, before, line: &line, close };
        let outcome = read(&laid, scanner, limits.url_bytes, &mut |found| self.found(text, found, signature));
        self.line = line;
        outcome
    }

    fn found(&mut self, text: &Text<'_>, found: &Found<'_>, signature: &mut Option<usize>) {
        let options = &self.extractor.options;
        let accepted =
            |name: &&str| found.verdicts.is_some_and(|verdicts| verdicts.conforms().any(|other| other == *name));
        let scheme = split(found.url()).scheme;
        let wanted = |name: &String| name.as_bytes().eq_ignore_ascii_case(scheme);
        if !(options.accept.is_empty() || options.accept.iter().any(accepted))
            || !(options.schemes.is_empty() || options.schemes.iter().any(wanted))
        {
            (self.sink)(Finding::Filtered);
            return;
        }
        if options.once_a_message && !self.once.insert(xxh3_128(&key(found.url()))) {
            (self.sink)(Finding::Folded);
            return;
        }
        self.give(text, found, signature);
    }

    fn give(&mut self, text: &Text<'_>, found: &Found<'_>, signature: &mut Option<usize>) {
        self.urls += 1;
        let digest = *self.digest.get_or_insert_with(|| digest(self.message, self.fields));
        let path = text.part.map_or("", |part| part.path.as_str());
        let before = self.seen.entry(id(digest, path, found.full, 0)).or_default();
        let id = id(digest, path, found.full, *before);
        *before += 1;
        let place = self.origin(text, found.raw);
        let field_bytes = self.extractor.options.limits.field_bytes;
        if self.facts.is_none() && self.message.header == Header::Present {
            self.facts = Some(Facts::of(self.message.raw, self.fields, field_bytes));
        }
        let name;
        let region = match text.region {
            Region::Header(field) => {
                name = format!("header:{}", String::from_utf8_lossy(field));
                name.as_str()
            }
            Region::Body => {
                let begins = *signature.get_or_insert_with(|| signature_start(&text.bytes));
                if found.raw.start >= begins { "signature" } else { "body" }
            }
        };
        let context = self.extractor.options.context_bytes;
        (self.sink)(Finding::Url(&Record {
            found,
            id,
            raw: found.raw.of(&text.bytes),
            region,
            quote_depth: if text.region == Region::Body { quote_depth(&text.bytes, found.raw.start) } else { 0 },
            place,
            facts: self.facts.as_ref(),
            part: text.part,
            context: (context > 0).then(|| around(&text.bytes, found.raw, context)),
        }));
    }

    /// Where `span` of a text came from.
    fn origin(&mut self, text: &Text<'_>, span: Span) -> Origin<'s> {
        let (raw, exact) = text.trail.raw(span);
        let base = self.message.raw_start();
        let line = self.line_of(raw.start) + u64::from(self.message.envelope > 0);
        Origin {
            source: self.source,
            kind: self.message.kind,
            start: base + raw.start as u64,
            end: base + raw.end as u64,
            exact,
            line,
            message_start: self.message.start,
            message_end: self.message.end(),
        }
    }

    /// The number of the line of the message's raw octets that holds `at`. Counts from where it counted last.
    fn line_of(&mut self, at: usize) -> u64 {
        let (known, number) = self.lines;
        let between = |from: usize, to: usize| memchr::memchr_iter(b'\n', &self.message.raw[from..to]).count() as u64;
        let number = if known <= at { number + between(known, at) } else { number - between(at, known) };
        self.lines = (at, number);
        number
    }
}

/// Where the signature begins: behind the last line that is `-- ` and nothing else. The text's end if there is none.
fn signature_start(text: &[u8]) -> usize {
    let ends_line = |at: &usize| matches!(text[*at..], [b'\n', ..] | [b'\r', b'\n', ..]);
    let separators = memchr::memmem::rfind_iter(text, b"\n-- ").map(|at| at + 4);
    let first = text.starts_with(b"-- ").then_some(3);
    separators.chain(first).find(ends_line).unwrap_or(text.len())
}

/// Up to `most` octets before and after `span`, cut between characters.
fn around(text: &[u8], span: Span, most: usize) -> (&[u8], &[u8]) {
    let from = context_border(text, span.start.saturating_sub(most));
    let to = context_border(text, text.len().min(span.end + most));
    (&text[from..span.start], &text[span.end..to.max(span.end)])
}
