//! Explains each stage's work on an input. An [`Explanation`] holds the format, the header and
//! parts of each message, and every candidate with its repairs, its verdicts and the reason for its
//! outcome. `urlspool explain` prints it; Python and web pages read it as JSON.

use std::borrow::Cow;

use serde::Serialize;

use crate::extract::{Extractor, Finding};
use crate::record::{
    FieldId, FoundRecord, LineFormat, MessageTail, Record, RecordOrigin, RecordWriter,
};
use urlspool_mail::decode::{
    DecodedText, HeaderFields, InfoFields, MessageInfo, MimePart, Region, SkippedPart, TextPolicy,
    texts,
};
use urlspool_mail::documents::DocumentKind;
use urlspool_mail::split::{
    Block, Format, HeaderForm, MboxDialect, Message, SplitOutput, detect_format, mbox_dialect,
    messages, normalize_line_ends, remove_leading_nuls,
};
use urlspool_text::diagnostic::{Diagnostic, SkipReason, shortened};
use urlspool_text::limits::SNIFF_BYTES;
use urlspool_text::origin::{FormatHint, Source};
use urlspool_text::parse::{AlternateReason, RejectReason, Wrapper};
use urlspool_text::repair::{Join, Repair};

/// Explanation of an input: its format and the candidates in its messages.
///
/// # Examples
///
/// ```
/// use urlspool_record::explain::CandidateOutcome;
/// use urlspool_record::extract::Extractor;
///
/// let text = b"see <URL:http://a.example/x\n  y> and http://www.exam..\n";
/// let explained = Extractor::default().explain(text);
/// let candidates = &explained.messages[0].candidates;
/// let CandidateOutcome::Accepted(url) = &candidates[0].outcome else { panic!() };
/// assert_eq!(url.repairs[0].name, "line-break");
/// let CandidateOutcome::Rejected(reason) = &candidates[1].outcome else { panic!() };
/// assert_eq!(reason.name, "shortened");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Explanation {
    /// Format and how it was recognized; `None` if the input is skipped.
    pub format: Option<NamedReason>,
    /// Name of the skip reason, as in events.
    pub skipped: Option<&'static str>,
    /// Messages in input order. A text without a header is one message.
    pub messages: Vec<ExplainedMessage>,
}

/// A value of a closed set and its meaning in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NamedReason {
    /// Name in records, rejects and events.
    pub name: &'static str,
    /// Meaning in words.
    pub text: Cow<'static, str>,
}

/// Explanation of a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedMessage {
    /// Offset of the first byte in the input, which may be a `From ` line's.
    pub start: u64,
    /// Offset after the last byte.
    pub end: u64,
    /// Length in bytes of the `From ` line, or of its equivalent in other formats.
    pub envelope: usize,
    /// `true` if the lines are in wire format: doubled dots at line starts, and a final `.`.
    pub wire: bool,
    /// Problems at the message's start or end.
    pub border_notes: Vec<Note>,
    /// Form of the header, in words.
    pub header: Cow<'static, str>,
    /// Header data that records repeat.
    pub fields: Vec<ExplainedField>,
    /// Leaves of the MIME tree, sorted by number.
    pub parts: Vec<ExplainedPart>,
    /// Problems in the parts.
    pub part_notes: Vec<Note>,
    /// Candidates in message order.
    pub candidates: Vec<ExplainedCandidate>,
}

/// A problem in the input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// Kind of the diagnostic.
    pub kind: &'static str,
    /// Offset in the input; `None` if the problem concerns the whole input.
    pub offset: Option<u64>,
    /// Message of the diagnostic.
    pub text: String,
}

/// A header field that records repeat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedField {
    /// Name of the field.
    pub name: &'static str,
    /// Decoded value.
    pub value: String,
}

/// A leaf of the MIME tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedPart {
    /// Number, preceded by the enclosing parts' numbers: `1.2`.
    pub path: String,
    /// Media type in lower case.
    pub media_type: String,
    /// Declared charset.
    pub charset: Option<String>,
    /// Transfer encoding in lower case.
    pub encoding: String,
    /// Result of reading the part, in words.
    pub outcome: String,
}

/// A place where a URL may start.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedCandidate {
    /// Offset of the first byte in the input.
    pub start: u64,
    /// Offset after the last byte.
    pub end: u64,
    /// Line number within the message, from 1.
    pub line: u64,
    /// `true` if the offsets are exact. Otherwise the range contains the candidate and perhaps
    /// more.
    pub exact: bool,
    /// The URL with its fragment, or the first characters of the rejected text.
    pub text: String,
    /// Result of parsing.
    pub outcome: CandidateOutcome,
}

/// The result of parsing a candidate.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CandidateOutcome {
    /// The candidate is a URL.
    Accepted(Box<ExplainedUrl>),
    /// The candidate is not a URL, for this reason.
    Rejected(NamedReason),
}

/// Explanation of a URL.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedUrl {
    /// Record that a scan writes for the URL.
    pub record: Record,
    /// Delimiters around the URL.
    pub wrapper: NamedReason,
    /// Repairs that were needed to read the URL.
    pub repairs: Vec<NamedReason>,
    /// Line breaks after which a bare URL continues or might continue.
    pub joins: Vec<ExplainedJoin>,
    /// Other readings, most likely first.
    pub alternates: Vec<ExplainedAlternate>,
    /// URLs inside a redirector's URL, outermost first.
    pub targets: Vec<ExplainedTarget>,
}

/// A line break in a bare URL, and the evidence for its continuation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedJoin {
    /// Offset in the joined line of the first byte after the break.
    pub at: usize,
    /// Names and weights of the features.
    pub features: Vec<(&'static str, f32)>,
    /// Sum of the weights.
    pub points: f32,
    /// Probability (0 to 1) that both sides belong together.
    pub confidence: f32,
}

/// Another reading of the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedAlternate {
    /// Difference from the chosen reading.
    pub why: NamedReason,
    /// Probability (0 to 1) that this reading is right.
    pub confidence: f32,
    /// The URL with its fragment.
    pub text: String,
}

/// A URL extracted from a redirector's URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedTarget {
    /// Name of the redirector.
    pub redirector: &'static str,
    /// The URL with its fragment.
    pub text: String,
}

/// Maximum number of characters of a rejected text.
const REJECT_CHARS: usize = 300;

impl Explanation {
    /// Returns the explanation as a JSON object, keyed by field name.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Strings, numbers and lists always serialize.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl NamedReason {
    fn new(name: &'static str, text: impl Into<Cow<'static, str>>) -> NamedReason {
        NamedReason {
            name,
            text: text.into(),
        }
    }

    /// Explains the format of an input whose first bytes are `start`.
    #[must_use]
    pub fn of_format(format: Format, start: &[u8]) -> NamedReason {
        let name = format.kind().name();
        let how = match format {
            Format::Mbox | Format::Mboxcl => {
                let dialect = mbox_dialect(&start[..start.len().min(SNIFF_BYTES)]);
                let (dialect, how) = (dialect.name(), dialect_text(dialect));
                return NamedReason::new(name, format!("in the dialect {dialect}, {how}"));
            }
            Format::Rnews => "a line before each article has its length",
            Format::Mmdf => "lines of four control-A divide it",
            Format::Babyl => "it starts with the options of Rmail",
            Format::Emlx => "its first line is the length of one message of Apple Mail",
            Format::Single(_) => "it starts with a header and is one message",
            Format::Html => "it starts as an HTML page",
            Format::Document(kind) => match kind {
                DocumentKind::Office => {
                    "it is a zip that starts as a document of an office program"
                }
                DocumentKind::Pdf => "it starts as a PDF",
                DocumentKind::Rtf => "it starts as an RTF",
                DocumentKind::Utf16 => "it starts as a message in UTF-16",
                DocumentKind::Tnef => "it starts as a `winmail.dat`",
                DocumentKind::Signed => "it starts as a signed message",
                DocumentKind::Compound => {
                    "it starts as a message of Outlook or a document of Office"
                }
            },
            Format::Text => "it does not start with a header",
        };
        NamedReason::new(name, how)
    }
}

impl Extractor {
    /// Explains an input in memory: a message, a mailbox or a text. The format is recognized as a
    /// file's would be. Compressed files and archives are skipped.
    ///
    /// Time and the explanation's size are linear in the length of the input.
    #[must_use]
    pub fn explain(&self, input: &[u8]) -> Explanation {
        let mut bytes = input.to_vec();
        let offset = remove_leading_nuls(&mut bytes);
        normalize_line_ends(&mut bytes);
        let format = match detect_format(&bytes, None, FormatHint::None) {
            Ok(format) => format,
            Err(reason) => {
                let is_nul = reason == SkipReason::Empty && 0 < offset;
                let reason = if is_nul { SkipReason::Binary } else { reason };
                return Explanation {
                    skipped: Some(reason.name()),
                    ..Explanation::default()
                };
            }
        };
        let source = Source::at(Source::STDIN.into());
        let block = Block {
            bytes,
            offset,
            ..Block::default()
        };
        let mut explained = Explanation {
            format: Some(NamedReason::of_format(format, &block.bytes)),
            ..Explanation::default()
        };
        let mut notes = Vec::new();
        messages(&block, format, &mut |output| match output {
            SplitOutput::Diagnostic(diagnostic) => notes.push(diagnostic),
            SplitOutput::Message(message) => {
                let message = self.explain_message(&message, &source, &notes);
                explained.messages.push(message);
                notes.clear();
            }
        });
        explained
    }

    /// Explains a message of `source`. `notes` are the diagnostics of splitting it from the
    /// messages around it.
    pub fn explain_message(
        &self,
        message: &Message<'_>,
        source: &Source,
        notes: &[Diagnostic],
    ) -> ExplainedMessage {
        let fields = HeaderFields::in_message(message, self.limits().header_bytes);
        let info = MessageInfo::of_message(
            message,
            &fields,
            self.limits().field_bytes,
            InfoFields::ALL,
            &[],
        );
        let (parts, part_notes) = self.explain_parts(message, source, &fields);
        ExplainedMessage {
            start: message.start,
            end: message.end(),
            envelope: message.envelope,
            wire: message.wire,
            border_notes: notes.iter().map(Note::from).collect(),
            header: header_text(message.header, &fields),
            fields: info.map(info_fields).unwrap_or_default(),
            parts,
            part_notes,
            candidates: self.explain_candidates(message, source),
        }
    }

    /// Explains the leaves of the MIME tree and returns the problems found in them.
    fn explain_parts(
        &self,
        message: &Message<'_>,
        source: &Source,
        fields: &HeaderFields,
    ) -> (Vec<ExplainedPart>, Vec<Note>) {
        let mut parts = Vec::new();
        let policy = TextPolicy {
            skip_headers: true,
            ..self.text_policy(message, source)
        };
        let decoded = texts(
            message,
            fields,
            self.limits(),
            policy,
            &mut |text| parts.extend(read_part(&text)),
            &mut || {},
        );
        let base = message.raw_start();
        let skipped = decoded.skipped_parts.into_iter();
        parts.extend(skipped.map(|part| skipped_part(part, base)));
        // Components are compared as numbers: part 10 follows part 9.
        parts.sort_by_cached_key(|part| {
            let numbers = part
                .path
                .split('.')
                .map(|digits| digits.parse().unwrap_or(0));
            numbers.collect::<Vec<u64>>()
        });
        (parts, decoded.diagnostics.iter().map(Note::from).collect())
    }

    fn explain_candidates(
        &self,
        message: &Message<'_>,
        source: &Source,
    ) -> Vec<ExplainedCandidate> {
        let mut candidates: Vec<ExplainedCandidate> = Vec::new();
        let mut writer = RecordWriter::new(&LineFormat::Values(FieldId::ALL.to_vec()));
        writer.begin(MessageTail::Complete);
        // A filter may exclude the redirector's URL but pass the URLs inside it.
        let mut has_outer = false;
        self.extract(message, source, &mut |finding| match finding {
            Finding::Unwrapped(record) if has_outer => {
                let outer = candidates.last_mut().map(|last| &mut last.outcome);
                if let Some(CandidateOutcome::Accepted(url)) = outer {
                    url.targets.push(ExplainedTarget {
                        redirector: record.redirected_from.map_or("", |from| from.redirector),
                        text: text_of(record.found.full),
                    });
                }
            }
            Finding::Url(record) | Finding::Unwrapped(record) => {
                has_outer = true;
                let url = ExplainedUrl::new(record, writer.record(record));
                let outcome = CandidateOutcome::Accepted(Box::new(url));
                let text = text_of(record.found.full);
                candidates.push(ExplainedCandidate::new(&record.origin, text, outcome));
            }
            Finding::Reject {
                reason,
                text,
                origin,
            } => {
                let outcome = CandidateOutcome::Rejected(reject_text(reason));
                let text = shortened(&text_of(text), REJECT_CHARS).into_owned();
                candidates.push(ExplainedCandidate::new(&origin, text, outcome));
            }
            Finding::Filtered { is_unwrapped, .. } | Finding::Duplicate { is_unwrapped, .. } => {
                has_outer &= is_unwrapped;
            }
            Finding::Diagnostic(_) | Finding::Large | Finding::Parts { .. } => {}
        });
        candidates
    }
}

/// Converts bytes to text. Bytes that are not UTF-8 become U+FFFD.
fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the header data that records repeat, without absent fields.
fn info_fields(info: MessageInfo) -> Vec<ExplainedField> {
    let date = info.date.map(|date| match date.utc {
        Some(utc) => format!("{utc}, written {}", date.raw),
        None => format!("{}, which cannot be parsed", date.raw),
    });
    let groups = (!info.newsgroups.is_empty()).then(|| info.newsgroups.join(", "));
    let fields = [
        ("Message-ID", info.id),
        ("From", info.from),
        ("Date", date),
        ("Subject", info.subject),
        ("Newsgroups", groups),
        ("List-Id", info.list_id),
    ];
    let present = fields
        .into_iter()
        .filter_map(|(name, value)| value.map(|value| ExplainedField { name, value }));
    present.collect()
}

/// Explains a leaf that has text. `None` for the text of a header field.
fn read_part(text: &DecodedText<'_>) -> Option<ExplainedPart> {
    let (Region::Body, Some(part)) = (text.region, text.part) else {
        return None;
    };
    let links = text.page.as_ref().map_or(String::new(), |page| {
        format!(", {} links", page.links.len())
    });
    let outcome = format!("read: {} bytes of text{links}", text.bytes.len());
    Some(ExplainedPart::new(part.clone(), outcome))
}

/// Explains a leaf without text, in a message that starts at byte `base` of its source.
fn skipped_part(SkippedPart { part, raw, .. }: SkippedPart, base: u64) -> ExplainedPart {
    let (start, end) = (base + raw.start as u64, base + raw.end as u64);
    let outcome = format!("skipped; {} bytes, {start} to {end}", raw.len());
    ExplainedPart::new(part, outcome)
}

impl ExplainedPart {
    fn new(part: MimePart, outcome: String) -> ExplainedPart {
        ExplainedPart {
            path: part.path,
            media_type: part.media_type,
            charset: part.charset,
            encoding: part.encoding,
            outcome,
        }
    }
}

impl From<&Diagnostic> for Note {
    fn from(diagnostic: &Diagnostic) -> Note {
        Note {
            kind: diagnostic.kind.name(),
            offset: diagnostic.offset,
            text: diagnostic.message.clone(),
        }
    }
}

impl ExplainedCandidate {
    fn new(origin: &RecordOrigin<'_>, text: String, outcome: CandidateOutcome) -> Self {
        ExplainedCandidate {
            start: origin.start,
            end: origin.end,
            line: origin.line,
            exact: origin.exact,
            text,
            outcome,
        }
    }
}

impl ExplainedUrl {
    fn new(found: &FoundRecord<'_>, record: Record) -> ExplainedUrl {
        let url = found.found;
        let alternates = url.alternates.iter();
        ExplainedUrl {
            record,
            wrapper: wrapper_text(url.wrapper),
            repairs: url.repairs.iter().map(repair_text).collect(),
            // Joins inside a wrapper have no features.
            joins: found.joins.iter().filter_map(ExplainedJoin::of).collect(),
            alternates: alternates
                .map(|other| ExplainedAlternate {
                    why: alternate_text(other.why),
                    confidence: other.confidence,
                    text: text_of(&other.full),
                })
                .collect(),
            targets: Vec::new(),
        }
    }
}

impl ExplainedJoin {
    /// Explains the evidence for a join. `None` if there was no evidence to weigh.
    fn of(join: &Join) -> Option<ExplainedJoin> {
        let features = join.features.iter();
        let features: Vec<_> = features
            .map(|feature| (feature.name, feature.points))
            .collect();
        (!features.is_empty()).then(|| ExplainedJoin {
            at: join.at,
            features,
            points: join.features.points(),
            confidence: join.confidence,
        })
    }
}

/// Describes a header and its fields.
fn header_text(header: HeaderForm, fields: &HeaderFields) -> Cow<'static, str> {
    let text = match header {
        HeaderForm::Absent => "It has no header: all of it is text.",
        HeaderForm::Page => "It has no header: all of it is an HTML page.",
        HeaderForm::Document(_) => {
            "It has no header: it is a document, of which all links have the same range."
        }
        HeaderForm::ANews => "Its header is in the A news format: five lines without names.",
        HeaderForm::Copied { .. } => "After its header is a copy of some fields, which is skipped.",
        HeaderForm::Present => {
            let trace = fields.all.iter().filter(|field| field.roles.is_trace);
            let (all, trace) = (fields.all.len(), trace.count());
            let kind = "trace fields, which are not searched (such as Received)";
            return format!("Its header has {all} fields, {trace} of them {kind}.").into();
        }
    };
    text.into()
}

fn dialect_text(dialect: MboxDialect) -> &'static str {
    match dialect {
        MboxDialect::Mboxo => "`From ` lines divide it",
        MboxDialect::Mboxrd => "`From ` lines divide it; quoted ones in bodies are quoted again",
        MboxDialect::Mboxcl | MboxDialect::Mboxcl2 => {
            "`From ` lines divide it, and Content-Length fields where they are correct"
        }
    }
}

/// Explains why a candidate is not a URL.
fn reject_text(reason: RejectReason) -> NamedReason {
    let text = match reason {
        RejectReason::Grammar(reject) => {
            let text = format!("RFC 1738 rejects it, and no other grammar may accept it: {reject}");
            return NamedReason::new(reason.name(), text);
        }
        RejectReason::Host => "its scheme has a host, and the text there cannot be a host",
        RejectReason::Implausible => {
            "the text after the scheme is untypical of bare URLs with this scheme"
        }
        RejectReason::Shortened => "its host or address was cut short, so the location is unknown",
        RejectReason::Machine => {
            "the host is named as a machine, in a trace field or a certificate, and not cited"
        }
        RejectReason::TwoUrls => "two URLs start in one wrapper; each is read alone",
        RejectReason::Unclosed => "the wrapper does not close; its text is read without it",
        RejectReason::Relative => "relative to a page whose address is unknown",
        RejectReason::NoLocation => "data or a program, not a location",
        RejectReason::Reread => "the same bytes gave this URL in another reading of the message",
    };
    NamedReason::new(reason.name(), text)
}

/// Describes the delimiters around a URL.
fn wrapper_text(wrapper: Wrapper) -> NamedReason {
    let text = match wrapper {
        Wrapper::UrlBracket => "`<URL:` and `>`",
        Wrapper::Angle => "`<` and `>`",
        Wrapper::UrlPrefix => "`URL:` before it",
        Wrapper::Bare => "its scheme, and by white space or punctuation after it",
        Wrapper::Attr => "the quotes of an attribute",
        Wrapper::Schemeless => {
            "a host that starts with `www.` or `ftp.`, or has a path; its scheme is a guess"
        }
    };
    NamedReason::new(wrapper.name(), text)
}

/// Describes the change that a repair made.
fn repair_text(repair: Repair) -> NamedReason {
    let text = match repair {
        Repair::Whitespace => "white space in a line was removed",
        Repair::LineBreak => "a line break and the white space around it were removed",
        Repair::Hyphen => "a hyphen before a line break was kept",
        Repair::HyphenDropped => "a hyphen before a line break was removed",
        Repair::QuotePrefix => "quote marks at the start of a line were removed",
        Repair::PageBreak => "the text between two printed pages was removed",
        Repair::BareContinuation => "the next line was joined",
        Repair::AtSign => "`at`, which an archive wrote for `@`, was replaced",
        Repair::QuotedPrintable => "quoted-printable in a text without that label was decoded",
        Repair::Slashes => "the slashes after the scheme were corrected",
        Repair::SchemeGuessed => "the missing scheme was guessed",
        Repair::SchemeCorrected => "the mistyped scheme or slashes were corrected",
        Repair::Defang => "it was defanged, and that was undone",
        Repair::Roff => "escapes of roff were undone",
        Repair::Escape => "backslashes or marks of another program were removed",
        Repair::Brackets => "the angle brackets around a Message-ID were removed",
        Repair::Reference => "references of HTML for the ampersands of a query were decoded",
        Repair::Invisible => "characters without width were removed",
    };
    NamedReason::new(repair.name(), text)
}

/// Describes the difference between an alternate and the URL.
fn alternate_text(why: AlternateReason) -> NamedReason {
    let text = match why {
        AlternateReason::HyphenDropped => "without the hyphens before line breaks",
        AlternateReason::TrimmedTail => "with the punctuation at the end",
        AlternateReason::BareContinuation => "joined with the next line",
        AlternateReason::HeadOnly => "without the next line",
        AlternateReason::OtherEnd => "with another end",
        AlternateReason::Tilde => "with a tilde for an overline",
        AlternateReason::Undecoded => "as it is written",
        AlternateReason::Decoded => "without `=3D` or `**` of another program",
    };
    NamedReason::new(why.name(), text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::Options;

    #[test]
    fn every_message_of_a_mailbox_is_explained() {
        let mbox = b"From a Mon Jan  1 00:00:00 1996\nSubject: a\n\nhttp://a.example/\n\n\
                     From b Mon Jan  1 00:00:00 1996\nSubject: b\n\nhttp://b.example/\n";
        let explained = Extractor::default().explain(mbox);
        assert_eq!(explained.format.unwrap().name, "mbox");
        let texts: Vec<_> = explained
            .messages
            .iter()
            .map(|message| {
                let [candidate] = &message.candidates[..] else {
                    panic!("{message:?}")
                };
                assert_eq!(
                    &mbox[candidate.start as usize..candidate.end as usize],
                    candidate.text.as_bytes()
                );
                (
                    message.start,
                    candidate.text.as_str(),
                    message.fields[0].value.as_str(),
                )
            })
            .collect();
        assert_eq!(
            texts,
            [
                (0, "http://a.example/", "a"),
                (63, "http://b.example/", "b")
            ]
        );
    }

    #[test]
    fn input_that_is_not_text_is_skipped_with_a_reason() {
        for (input, reason) in [
            (&b""[..], "empty"),
            (b"\0\0\0", "binary"),
            (b"\x1f\x8b\x08\0\0\0\0\0", "gzip"),
        ] {
            let explained = Extractor::default().explain(input);
            assert_eq!(explained.skipped, Some(reason), "{input:?}");
            assert!(explained.messages.is_empty());
        }
    }

    #[test]
    fn the_url_inside_a_redirector_belongs_to_it() {
        let text = b"http://web.archive.org/web/1999/http://a.example/ http://b.example/\n";
        let explained = Extractor::default().explain(text);
        let targets: Vec<Vec<_>> = explained.messages[0]
            .candidates
            .iter()
            .map(|candidate| match &candidate.outcome {
                CandidateOutcome::Accepted(url) => url
                    .targets
                    .iter()
                    .map(|target| (target.redirector, target.text.as_str()))
                    .collect(),
                CandidateOutcome::Rejected(_) => Vec::new(),
            })
            .collect();
        assert_eq!(targets, [vec![("wayback", "http://a.example/")], vec![]]);
    }

    #[test]
    fn a_url_inside_a_filtered_redirector_is_a_separate_candidate() {
        let options = Options {
            hosts: vec!["a.example".into()],
            ..Options::default()
        };
        let text = b"http://a.example/1 http://web.archive.org/web/1999/http://a.example/2\n";
        let explained = Extractor::new(options).explain(text);
        let texts = explained.messages[0]
            .candidates
            .iter()
            .map(|found| found.text.as_str());
        assert_eq!(
            texts.collect::<Vec<_>>(),
            ["http://a.example/1", "http://a.example/2"]
        );
    }

    /// Web pages and Python depend on these names.
    #[test]
    fn the_json_has_the_names_of_the_fields() {
        let json = Extractor::default()
            .explain(b"http://a.example/~b <http://x \"\n")
            .to_json();
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        let candidates = &value["messages"][0]["candidates"];
        let url = &candidates[0]["outcome"]["accepted"];
        assert_eq!(url["record"]["error"]["part"], "path");
        assert_eq!(url["wrapper"]["name"], "bare");
        assert_eq!(
            candidates[1]["outcome"]["rejected"]["name"], "unclosed",
            "{json}"
        );
        assert_eq!(value["skipped"], serde_json::Value::Null);
    }
}
