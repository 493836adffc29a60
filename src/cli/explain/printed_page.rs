//! The page of `urlspool explain`: the message, its header and its parts, the candidates in them,
//! and the words for all of it.

use std::fmt::Write;

use super::super::terminal::escaped;
use crate::decode::{
    DecodedText, HeaderFields, HeaderPolicy, InfoFields, MessageInfo, MimePart, Region,
    SkippedPart, TextPolicy, texts,
};
use crate::diagnostic::Diagnostic;
use crate::documents::DocumentKind;
use crate::extract::{Extractor, Finding, Options};
use crate::origin::Source;
use crate::parse::{AlternateReason, Grammar, RejectReason, Wrapper};
use crate::record::{FoundRecord, RecordOrigin};
use crate::repair::{Join, Repair};
use crate::split::{Format, HeaderForm, MboxDialect, Message, mbox_dialect};

/// The text that explains one message, and the options by which it is read.
pub(super) struct Page {
    pub(super) options: Options,
    style: PageStyle,
    text: String,
}

/// The use of colours on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageStyle {
    Plain,
    /// Sentences about the whole message are bold, accepted candidates green, rejected ones red.
    Colored,
}

/// The verdict on a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CandidateVerdict {
    Accepted,
    Rejected,
}

const BOLD: &str = "\u{1b}[1m";
const RED: &str = "\u{1b}[31m";
const GREEN: &str = "\u{1b}[32m";
const END: &str = "\u{1b}[0m";

/// One leaf of the tree of parts.
struct PartRow {
    part: MimePart,
    outcome: String,
}

impl Page {
    /// An empty page.
    pub(super) fn new(options: Options, style: PageStyle) -> Page {
        Page {
            options,
            style,
            text: String::new(),
        }
    }

    /// The text so far.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Appends a line of text, indented by `depth` levels, without control characters.
    pub(super) fn line(&mut self, depth: usize, text: &str) {
        self.indent(depth);
        self.colored(if depth == 0 { BOLD } else { "" }, text);
        self.text.push('\n');
    }

    /// Appends the first line of a candidate: its place, the verdict and the URL or word.
    pub(super) fn candidate(&mut self, place: &str, verdict: CandidateVerdict, url: &str) {
        let (color, verdict) = match verdict {
            CandidateVerdict::Accepted => (GREEN, "accepted"),
            CandidateVerdict::Rejected => (RED, "rejected"),
        };
        self.indent(1);
        self.text += &escaped(place);
        self.text += ": ";
        self.colored(color, verdict);
        self.text += ": ";
        self.colored(BOLD, url);
        self.text.push('\n');
    }

    fn indent(&mut self, depth: usize) {
        self.text.extend(std::iter::repeat_n("  ", depth));
    }

    /// Appends text without control characters, in a colour if the page has colours.
    fn colored(&mut self, color: &str, text: &str) {
        let (start, end) = match self.style {
            PageStyle::Colored if !color.is_empty() => (color, END),
            _ => ("", ""),
        };
        self.text += start;
        self.text += &escaped(text);
        self.text += end;
    }

    /// Explains a message of `source`. `diagnostics` are those of its split from the messages
    /// around it.
    pub(super) fn message(
        &mut self,
        message: &Message<'_>,
        source: &Source,
        diagnostics: &[Diagnostic],
    ) {
        let Message {
            start, envelope, ..
        } = *message;
        let end = message.end();
        self.line(0, &format!("The message is in bytes {start} to {end}."));
        if envelope > 0 {
            let text =
                format!("Its first {envelope} bytes are the envelope, not the message's own.");
            self.line(1, &text);
        }
        if message.wire {
            let text = "It is in wire format: dots at line starts are doubled, and its last line \
                        is a dot.";
            self.line(1, text);
        }
        self.diagnostics(diagnostics);
        let fields = HeaderFields::in_message(message, self.options.limits.header_bytes);
        self.header(message, &fields);
        self.parts(message, &fields);
        self.candidates(message, source);
    }

    fn diagnostics(&mut self, diagnostics: &[Diagnostic]) {
        for Diagnostic {
            kind,
            offset,
            message,
        } in diagnostics
        {
            let place = offset.map_or(String::new(), |offset| format!(" at byte {offset}"));
            self.line(1, &format!("{}{place}: {message}.", kind.name()));
        }
    }

    fn header(&mut self, message: &Message<'_>, fields: &HeaderFields) {
        let text = match message.header {
            HeaderForm::Absent => "It has no header: it is text from its first byte on.",
            HeaderForm::Page => "It has no header: it is an HTML page from its first byte on.",
            HeaderForm::Document(_) => {
                "It has no header: it is a document, of which all links have the same range."
            }
            HeaderForm::ANews => "Its header is in the A news format: five lines without names.",
            HeaderForm::Copied { .. } => {
                "After its header is a copy of some fields, which is skipped."
            }
            HeaderForm::Present => &format!("Its header has {} fields.", fields.all.len()),
        };
        self.line(0, text);
        let max_bytes = self.options.limits.field_bytes;
        let info = MessageInfo::of_message(message, fields, max_bytes, InfoFields::ALL, &[]);
        if let Some(info) = info {
            self.info(info);
        }
    }

    fn info(&mut self, info: MessageInfo) {
        let date = info.date.map(|date| match date.utc {
            Some(utc) => format!("{utc}, written {}", date.raw),
            None => format!("{}, which cannot be parsed", date.raw),
        });
        let groups = (!info.newsgroups.is_empty()).then(|| info.newsgroups.join(", "));
        let rows = [
            ("Message-ID", info.id),
            ("From", info.from),
            ("Date", date),
            ("Subject", info.subject),
            ("Newsgroups", groups),
            ("List-Id", info.list_id),
        ];
        for (name, value) in rows {
            if let Some(value) = value {
                self.line(1, &format!("{name}: {value}"));
            }
        }
    }

    /// Explains the leaves of the tree of parts; the path of each says where it is in the tree.
    fn parts(&mut self, message: &Message<'_>, fields: &HeaderFields) {
        let mut rows = Vec::new();
        let limits = &self.options.limits;
        let policy = TextPolicy {
            headers: HeaderPolicy::Skip,
            html: self.options.html,
            attachments: self.options.attachments,
        };
        let decoded = texts(message, fields, limits, policy, &mut |text| {
            rows.extend(text_row(&text));
        });
        let base = message.raw_start();
        let skipped = decoded.skipped_parts.into_iter();
        rows.extend(skipped.map(|part| skipped_row(part, base)));
        // Components are compared as numbers: part 10 follows part 9.
        rows.sort_by_key(|row| {
            let components = row.part.path.split('.');
            components
                .map(|digits| digits.parse().unwrap_or(0))
                .collect::<Vec<u64>>()
        });
        self.line(0, "Its parts:");
        for PartRow { part, outcome } in rows {
            let charset = part
                .charset
                .map_or(String::new(), |charset| format!(", charset {charset}"));
            let (path, media_type, encoding) = (part.path, part.media_type, part.encoding);
            self.line(
                1,
                &format!("{path} {media_type}{charset}, {encoding}; {outcome}"),
            );
        }
        self.diagnostics(&decoded.diagnostics);
    }
}

/// The row of a part with text; `None` for the text of a header field.
fn text_row(text: &DecodedText<'_>) -> Option<PartRow> {
    let (Region::Body, Some(part)) = (text.region, text.part) else {
        return None;
    };
    let links = text.page.as_ref().map_or(String::new(), |page| {
        format!(", {} links", page.links.len())
    });
    Some(PartRow {
        part: part.clone(),
        outcome: format!("read: {} bytes of text{links}", text.bytes.len()),
    })
}

/// The row of a part without text, in a message that starts at byte `base` of its source.
fn skipped_row(SkippedPart { part, raw }: SkippedPart, base: u64) -> PartRow {
    let (start, end) = (base + raw.start as u64, base + raw.end as u64);
    let bytes = raw.len();
    PartRow {
        part,
        outcome: format!("skipped; {bytes} bytes, {start} to {end}"),
    }
}

impl Page {
    /// Explains the candidates of a message.
    pub(super) fn candidates(&mut self, message: &Message<'_>, source: &Source) {
        self.line(0, "Its candidates, in their order:");
        let extractor = Extractor::new(self.options.clone());
        let mut count = 0;
        extractor.extract(message, source, &mut |finding| match finding {
            Finding::Url(record) => {
                count += 1;
                self.url(record);
            }
            Finding::Unwrapped(record) => {
                let by = record
                    .redirected_from
                    .map_or("a redirector", |from| from.redirector);
                let url = shortened(record.found.full);
                self.line(2, &format!("inside it, redirected by {by}: {url}"));
            }
            Finding::Reject {
                reason,
                text,
                origin: place,
            } => {
                count += 1;
                let text = shortened(text);
                self.candidate(&range(&place), CandidateVerdict::Rejected, &text);
                self.line(2, &reject_text(reason));
            }
            Finding::Filtered(_)
            | Finding::Duplicate { .. }
            | Finding::Diagnostic(_)
            | Finding::Parts { .. } => {}
        });
        if count == 0 {
            self.line(1, "none: no text looks like the start of a URL");
        }
    }

    fn url(&mut self, record: &FoundRecord<'_>) {
        let found = record.found;
        let quoted = match record.quote_depth {
            0 => String::new(),
            depth => format!(", quoted {depth} deep"),
        };
        let (range, region, url) = (range(&record.origin), record.region, shortened(found.full));
        let place = format!("{range}, {region}{quoted}");
        self.candidate(&place, CandidateVerdict::Accepted, &url);
        let wrapper = wrapper_text(found.wrapper);
        let confidence = found.confidence;
        self.line(
            2,
            &format!("set off by {wrapper}; confidence {confidence:.2}"),
        );
        for repair in found.repairs.iter() {
            self.line(2, &format!("{}: {}", repair.name(), repair_text(repair)));
        }
        self.verdicts(record);
        for join in record.joins {
            self.join(join);
        }
        for other in found.alternates {
            let (why, url) = (alternate_text(other.why), shortened(&other.full));
            let confidence = other.confidence;
            self.line(2, &format!("or, {why}, confidence {confidence:.2}: {url}"));
        }
    }

    fn verdicts(&mut self, record: &FoundRecord<'_>) {
        let Some(verdicts) = record.found.verdicts else {
            let text = "longer than the limit on URLs: not checked by the grammars";
            return self.line(2, text);
        };
        let names: Vec<&str> = verdicts.conforms().map(Grammar::name).collect();
        let names = if names.is_empty() {
            "no grammar".to_owned()
        } else {
            names.join(", ")
        };
        self.line(2, &format!("accepted by {names}"));
        if let Err(reject) = &verdicts.rfc1738 {
            self.line(2, &format!("rejected by rfc1738: {reject}"));
        }
    }

    /// Explains why a bare URL goes on in the next line, or does not. Joins of other kinds have no
    /// features.
    fn join(&mut self, join: &Join) {
        let mut list = String::new();
        for feature in join.features.iter() {
            let _ = write!(list, " {} {:+},", feature.name(), feature.points());
        }
        if list.is_empty() {
            return;
        }
        let sum = join.features.points();
        let (at, confidence) = (join.at, join.confidence);
        let list = list.trim_end_matches(',');
        self.line(
            2,
            &format!(
                "the next line, after byte {at}:{list}; {sum:+} points, confidence {confidence:.2}"
            ),
        );
    }
}

/// The bytes and the line of a candidate.
fn range(place: &RecordOrigin<'_>) -> String {
    let about = if place.exact { "" } else { "about " };
    let (start, end, line) = (place.start, place.end, place.line);
    format!("{about}bytes {start} to {end}, line {line}")
}

/// Bytes as text, cut after 300 characters.
fn shortened(bytes: &[u8]) -> String {
    const MAX_CHARS: usize = 300;
    let text = String::from_utf8_lossy(bytes);
    let kept: String = text.chars().take(MAX_CHARS).collect();
    if kept.len() < text.len() {
        format!("{kept} ... ({} bytes)", bytes.len())
    } else {
        kept
    }
}

/// The format of a file, and how it was recognized from its first bytes.
pub(super) fn format_text(format: Format, start: &[u8]) -> String {
    let name = format.kind().name();
    let how = match format {
        Format::Mbox | Format::Mboxcl => {
            let dialect = mbox_dialect(start);
            let (name_of_dialect, how) = (dialect.name(), dialect_text(dialect));
            return format!("{name} ({name_of_dialect}): {how}");
        }
        Format::Rnews => "a line before each article has its length",
        Format::Mmdf => "lines of four control-A divide it",
        Format::Babyl => "it starts with the options of Rmail",
        Format::Emlx => "its first line is the length of one message of Apple Mail",
        Format::Single(_) => "it starts with a header and is one message",
        Format::Html => "it starts as an HTML page",
        Format::Document(kind) => match kind {
            DocumentKind::Office => "it is a zip that starts as a document of an office program",
            DocumentKind::Pdf => "it starts as a PDF",
            DocumentKind::Rtf => "it starts as an RTF",
            DocumentKind::Compound => "it starts as a message of Outlook or a document of Office",
        },
        Format::Text => "it does not start with a header",
    };
    format!("{name}: {how}")
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

/// The reason why a candidate is not a URL.
pub(super) fn reject_text(reason: RejectReason) -> String {
    let text = match reason {
        RejectReason::Grammar(reject) => {
            return format!("RFC 1738 rejects it, and no other grammar may accept it: {reject}");
        }
        RejectReason::Host => "its scheme has a host, and the text there cannot be a host",
        RejectReason::Implausible => {
            "the text after the scheme is not like that of bare URLs of that scheme"
        }
        RejectReason::Shortened => {
            "its author cut the host short, so that nobody knows the location"
        }
        RejectReason::Machine => {
            "the host is named as a machine, in a trace field or a certificate, and not cited"
        }
        RejectReason::TwoUrls => "two URLs start in one wrapper; each is read alone",
        RejectReason::Unclosed => "the wrapper does not close; its text is read without it",
        RejectReason::Relative => "relative to a page whose address is unknown",
        RejectReason::NoLocation => "data or a program, not a location",
        RejectReason::Reread => "the same bytes gave this URL in another reading of the message",
    };
    text.to_owned()
}

/// The text that sets a URL off.
pub(super) fn wrapper_text(wrapper: Wrapper) -> &'static str {
    match wrapper {
        Wrapper::UrlBracket => "`<URL:` and `>`",
        Wrapper::Angle => "`<` and `>`",
        Wrapper::UrlPrefix => "`URL:` before it",
        Wrapper::Bare => "its scheme, and by white space or punctuation after it",
        Wrapper::Attr => "the quotes of an attribute",
        Wrapper::Schemeless => "a host that starts with `www.` or `ftp.`; its scheme is a guess",
    }
}

/// The change that a repair made.
pub(super) fn repair_text(repair: Repair) -> &'static str {
    match repair {
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
        Repair::Defang => "it was defanged, so that it was no link, and that was undone",
        Repair::Roff => "escapes of roff were undone",
        Repair::Escape => "backslashes of another language were removed",
        Repair::Brackets => "the angle brackets around a Message-ID were removed",
    }
}

/// The difference between an alternate and the URL.
pub(super) fn alternate_text(why: AlternateReason) -> &'static str {
    match why {
        AlternateReason::HyphenDropped => "without the hyphens before line breaks",
        AlternateReason::TrimmedTail => "with the punctuation that was cut off its end",
        AlternateReason::BareContinuation => "joined with the next line",
        AlternateReason::HeadOnly => "without the next line",
        AlternateReason::Tilde => "with a tilde for an overline",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(message: &Message<'_>) -> String {
        let mut page = Page::new(Options::default(), PageStyle::Plain);
        page.message(message, &Source::at("x".into()), &[]);
        page.text
    }

    #[test]
    fn a_message_is_explained_stage_by_stage() {
        let raw =
            b"From: a\nMessage-ID: <i@x>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\n\
                    see <URL:http://a.\n  example/> and std::x and <http://unclosed.example/\n\n--b\n\
                    Content-Type: image/png\nContent-Transfer-Encoding: base64\n\nAAAA\n--b--\n";
        let mut message = Message::parse(raw);
        message.start = 1000;
        let page = page(&message);
        for line in [
            "The message is in bytes 1000 to",
            "Message-ID: <i@x>",
            "1 text/plain, 7bit; read:",
            "2 image/png, base64; skipped",
            "accepted: http://a.example/",
            "line-break: a line break and the white space around it were removed",
            "accepted by rfc1738, rfc3986, whatwg",
            "rejected:",
            "the wrapper does not close",
        ] {
            assert!(page.contains(line), "{line} in\n{page}");
        }
    }

    #[test]
    fn the_features_of_a_join_are_explained() {
        let raw = b"From: a\n\nIt is described in detail at http://www.host.example/path/to/some/documents/\n\
                    and-more/of-them/index.html\n\n";
        let page = page(&Message::parse(raw));
        assert!(
            page.contains("base ") && page.contains("points, confidence"),
            "{page}"
        );
    }

    #[test]
    fn control_characters_are_escaped() {
        let raw = b"From: a\nSubject: \x1b[31mred\n\n\x1b]0;x\x07 http://a.example/\n";
        let page = page(&Message::parse(raw));
        assert!(!page.contains('\u{1b}') && page.contains("red"), "{page}");
    }
}
