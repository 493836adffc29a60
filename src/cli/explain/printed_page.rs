//! The page of `urlspool explain`: the message, its header and its parts, the candidates in them,
//! and the words for all of it.

use std::fmt::Write;

use super::super::terminal::escaped;
use crate::decode::{
    DecodedText, HeaderFields, HeaderPolicy, InfoFields, MessageInfo, MimePart, Region,
    SkippedPart, TextPolicy, texts,
};
use crate::diagnostic::Diagnostic;
use crate::explain::{alternate_text, reject_text, repair_text, wrapper_text};
use crate::extract::{Extractor, Finding, Options};
use crate::origin::Source;
use crate::parse::Grammar;
use crate::record::{FoundRecord, RecordOrigin};
use crate::repair::Join;
use crate::split::{HeaderForm, Message};

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
