//! Evidence for the joins of a run: URLs from the run's own input, which is then read twice, or
//! from a file.
//!
//! The records of the first reading show which URLs are whole and which joins are doubtful.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use crate::pipeline::{Job, Report, run};
use urlspool_record::extract::Extractor;
use urlspool_record::record::{FieldId, LineFormat, Record, RecordValue};
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind};
use urlspool_text::grammar::is_scheme_char;
use urlspool_text::hash::hash_pieces;
use urlspool_text::limits::EVIDENCE_LINE_BYTES;
use urlspool_text::origin::Source;
use urlspool_text::parse::{AlternateReason, scheme};
use urlspool_text::repair::{Elsewhere, Repair, UrlEvidence};

/// Source of the evidence for joins.
#[derive(Clone, Debug)]
pub enum EvidenceSource {
    /// The input of the scan, which is read twice.
    Own,
    /// A file that was read.
    Read(Arc<UrlEvidence>),
}

impl EvidenceSource {
    /// Returns the source with a name: `self` is the input, and any other name is the path of a
    /// file, which is read.
    ///
    /// # Errors
    ///
    /// The errors of [`read_evidence`], with the name.
    pub fn named(name: &Path, max_urls: usize) -> io::Result<EvidenceSource> {
        if name.as_os_str() == "self" {
            return Ok(EvidenceSource::Own);
        }
        let read = File::open(name).and_then(|file| read_evidence(BufReader::new(file), max_urls));
        read.map(EvidenceSource::Read).map_err(|error| {
            let message = format!("cannot read {} as evidence: {error}", name.display());
            io::Error::new(error.kind(), message)
        })
    }

    /// Returns `true` for the input of the scan.
    #[must_use]
    pub fn is_own(&self) -> bool {
        matches!(self, EvidenceSource::Own)
    }
}

/// Returns the extractor with the evidence of a source, if there is one. Reports if the evidence
/// reached its limit.
///
/// # Errors
///
/// Errors of reading the input, and of `report`.
pub fn add_evidence(
    source: Option<&EvidenceSource>,
    job: &Job,
    extractor: Extractor,
    report: &mut dyn Report,
) -> io::Result<Extractor> {
    let max_urls = extractor.limits().evidence_urls;
    let evidence = match source {
        None => return Ok(extractor),
        Some(EvidenceSource::Own) => own_evidence(job, &extractor)?,
        Some(EvidenceSource::Read(evidence)) => evidence.clone(),
    };
    if evidence.is_full() {
        let message = format!(
            "more than {max_urls} URLs as evidence for joins (evidence_urls): the rest is ignored"
        );
        let event = Diagnostic::new(DiagnosticKind::Limit, message);
        report.event(&event.of(&Source::at("--evidence".into())))?;
    }
    Ok(extractor.with_evidence(evidence))
}

/// Reads the input of a job for its evidence. Read failures are left to the run itself.
///
/// # Errors
///
/// Errors of starting threads, and of the source of random numbers.
fn own_evidence(job: &Job, extractor: &Extractor) -> io::Result<Arc<UrlEvidence>> {
    let mut report = Collector::new(extractor.limits().evidence_urls);
    let mut job = job.clone();
    job.line_format = LineFormat::Values(COLLECTED.to_vec());
    job.rejects = false;
    // Messages that are not written are evidence as well: a filter changes no record.
    (job.since, job.until) = (None, None);
    job.lists.clear();
    run(&job, extractor.collector(), &mut report)?;
    Ok(Arc::new(report.urls))
}

/// The record fields that evidence is made from.
const COLLECTED: [FieldId; 9] = [
    FieldId::Url,
    FieldId::Fragment,
    FieldId::Repairs,
    FieldId::Alternates,
    FieldId::Confidence,
    FieldId::QuoteDepth,
    FieldId::SourcePath,
    FieldId::SourceMember,
    FieldId::MessageStart,
];

/// Minimum confidence of a URL to count as whole. A URL before a doubtful line break may be
/// incomplete.
pub const WHOLE_CONFIDENCE: f64 = 0.9;

/// Collects evidence from records.
struct Collector {
    urls: UrlEvidence,
    /// Hash of the place of the last message with a doubtful join.
    message: u128,
}

/// The parts of a record that serve as evidence. Only the URL is required.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FoundUrl<'r> {
    #[serde(borrow)]
    url: Cow<'r, str>,
    fragment: Option<Cow<'r, str>>,
    repairs: Vec<Cow<'r, str>>,
    alternates: Vec<AlternateUrl<'r>>,
    confidence: Option<f64>,
    quote_depth: u64,
    source: Place<'r>,
    message: Place<'r>,
}

/// Another reading of the same place.
#[derive(Debug, Deserialize)]
struct AlternateUrl<'r> {
    #[serde(borrow)]
    url: Cow<'r, str>,
    fragment: Option<Cow<'r, str>>,
    why: Cow<'r, str>,
}

/// A part of a record: `source` has all fields, `message` only the start.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Place<'r> {
    #[serde(borrow)]
    path: Cow<'r, str>,
    member: Option<Vec<Cow<'r, str>>>,
    start: u64,
}

impl FoundUrl<'_> {
    fn of(record: &Record) -> FoundUrl<'_> {
        let alternates = record.value(FieldId::Alternates).items();
        FoundUrl {
            url: record.url().into(),
            fragment: record.fragment().map(Cow::from),
            repairs: record.texts(FieldId::Repairs).map(Cow::from).collect(),
            alternates: alternates.chunks(4).filter_map(AlternateUrl::of).collect(),
            confidence: record.value(FieldId::Confidence).number(),
            quote_depth: record.integer(FieldId::QuoteDepth).unwrap_or(0),
            source: Place {
                path: record.path().into(),
                member: Some(record.texts(FieldId::SourceMember).map(Cow::from).collect()),
                start: 0,
            },
            message: Place {
                start: record.integer(FieldId::MessageStart).unwrap_or(0),
                ..Place::default()
            },
        }
    }

    /// Returns `true` if the URL was joined from several pieces.
    fn is_joined(&self) -> bool {
        let joins = |name: &str| Repair::ALL.iter().any(|it| it.joins() && it.name() == name);
        self.repairs.iter().any(|name| joins(name))
    }

    /// Returns a hash of the place of the message, which distinguishes it from others.
    fn place(&self) -> u128 {
        let member = self.source.member.iter().flatten();
        let mut pieces: Vec<&[u8]> = member.flat_map(|name| [name.as_bytes(), b"\0"]).collect();
        let start = self.message.start.to_le_bytes();
        pieces.extend([&start, self.source.path.as_bytes()]);
        hash_pieces(&pieces)
    }
}

impl<'r> AlternateUrl<'r> {
    /// Creates an alternate of a record from the values of its fields.
    fn of(values: &'r [RecordValue]) -> Option<AlternateUrl<'r>> {
        let [url, fragment, why, _] = values else {
            return None;
        };
        Some(AlternateUrl {
            url: url.text()?.into(),
            fragment: fragment.text().map(Cow::from),
            why: why.text()?.into(),
        })
    }

    /// Returns `true` if it spans more or fewer line breaks than the URL.
    fn is_other_join(&self) -> bool {
        [AlternateReason::BareContinuation, AlternateReason::HeadOnly]
            .iter()
            .any(|reason| reason.name() == self.why)
    }
}

impl Collector {
    fn new(max_urls: usize) -> Collector {
        Collector {
            urls: UrlEvidence::new(max_urls),
            message: 0,
        }
    }

    /// Adds a line that contains a record or a URL.
    ///
    /// # Errors
    ///
    /// The predicate of an error for any other line.
    fn add_line(&mut self, line: &[u8]) -> Result<(), String> {
        if let Some((_, reason)) = REFUSED.iter().find(|(start, _)| line.starts_with(start)) {
            return Err((*reason).to_owned());
        }
        if EVIDENCE_LINE_BYTES < line.len() as u64 && !line.ends_with(b"\n") {
            let limit = EVIDENCE_LINE_BYTES;
            return Err(format!("has more than {limit} bytes (EVIDENCE_LINE_BYTES)"));
        }
        match line.trim_ascii() {
            [] => {}
            record @ [b'{', ..] => match serde_json::from_slice::<FoundUrl<'_>>(record) {
                Ok(found) if found.url.is_empty() => return Err("has no `url`".to_owned()),
                Ok(found) => self.add(&found),
                Err(error) => return Err(format!("is not a record: {error}")),
            },
            url if is_url(url) => self.urls.add_whole(url),
            _ => return Err("is neither a record nor a URL".to_owned()),
        }
        Ok(())
    }

    fn add(&mut self, found: &FoundUrl<'_>) {
        let url = whole(&found.url, found.fragment.as_deref());
        let is_doubtful = found.alternates.iter().any(AlternateUrl::is_other_join);
        let is_certain = found.confidence.is_none_or(|it| WHOLE_CONFIDENCE <= it);
        if !found.is_joined() && is_certain {
            self.urls.add_whole(url.as_bytes());
        }
        if is_doubtful && found.quote_depth == 0 {
            let place = found.place();
            if place != self.message {
                self.urls.begin_message();
                self.message = place;
            }
            self.urls.add_doubtful(url.as_bytes());
            for other in found.alternates.iter().filter(|it| it.is_other_join()) {
                let other = whole(&other.url, other.fragment.as_deref());
                self.urls.add_doubtful(other.as_bytes());
            }
        }
    }
}

/// Returns `true` for a text without white space that starts with a scheme.
fn is_url(text: &[u8]) -> bool {
    let scheme = scheme(text);
    scheme.first().is_some_and(u8::is_ascii_alphabetic)
        && scheme.iter().all(|&byte| is_scheme_char(byte))
        && !text.iter().any(u8::is_ascii_whitespace)
}

/// Returns a URL with its fragment.
fn whole<'u>(url: &'u str, fragment: Option<&str>) -> Cow<'u, str> {
    match fragment {
        Some(fragment) => [url, "#", fragment].concat().into(),
        None => url.into(),
    }
}

impl Report for Collector {
    fn records(&mut self, records: Vec<Record>) -> io::Result<bool> {
        for record in &records {
            self.add(&FoundUrl::of(record));
        }
        Ok(true)
    }
}

/// Reads evidence until the limit is reached: records as JSON lines, or a list of URLs, one per
/// line. A record needs only `url`; without `repairs` it counts as whole.
///
/// # Errors
///
/// Read errors, and `InvalidData` for any other line, for a line that is too long, and if there are
/// no URLs.
pub fn read_evidence(mut content: impl BufRead, max_urls: usize) -> io::Result<Arc<UrlEvidence>> {
    let invalid = |reason: String| io::Error::new(io::ErrorKind::InvalidData, reason);
    let mut collector = Collector::new(max_urls);
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let mut start = content.by_ref().take(EVIDENCE_LINE_BYTES + 1);
        if start.read_until(b'\n', &mut line)? == 0 || collector.urls.is_full() {
            break;
        }
        let added = collector.add_line(&line);
        added.map_err(|reason| invalid(format!("line {number} {reason}")))?;
    }
    if collector.urls.is_full() || collector.urls.may_be_whole(b"", b"") {
        Ok(Arc::new(collector.urls))
    } else {
        Err(invalid("it has no URLs to use as evidence".to_owned()))
    }
}

/// First bytes of files that contain neither records nor a list of URLs, and the predicates of
/// errors.
const REFUSED: [(&[u8], &str); 3] = [
    (
        b"\x1F\x8B",
        "starts a gzip file; pass its content: <(zcat FILE)",
    ),
    (
        b"\x28\xB5\x2F\xFD",
        "starts a zstd file; pass its content: <(zstdcat FILE)",
    ),
    (
        b"SQLite format 3\0",
        "starts a database, which only the program takes as evidence",
    ),
];
