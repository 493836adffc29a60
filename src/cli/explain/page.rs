//! The page of `urlspool explain`: the message, its header and its parts.

use super::super::terminal::escaped;
use crate::decode::{
    DecodedText, HeaderFields, HeaderPolicy, MessageInfo, MimePart, Region, SkippedPart,
    TextPolicy, texts,
};
use crate::diagnostic::Diagnostic;
use crate::extract::Options;
use crate::origin::Source;
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

    /// Explains a message of `source`. `diagnostics` are those of its split from the messages around it.
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
            let text = "It is in wire format: dots at line starts are doubled, and its last line is a dot.";
            self.line(1, text);
        }
        self.diagnostics(diagnostics);
        let fields = self.fields(message);
        self.header(message, &fields);
        self.parts(message, &fields);
        self.candidates(message, source);
    }

    fn fields(&self, message: &Message<'_>) -> HeaderFields {
        let header_bytes = self.options.limits.header_bytes;
        match message.header {
            HeaderForm::Present => HeaderFields::of(message.raw, header_bytes),
            HeaderForm::Copied { body } => HeaderFields {
                body,
                ..HeaderFields::of(message.raw, header_bytes)
            },
            HeaderForm::Absent | HeaderForm::Page | HeaderForm::ANews => HeaderFields::default(),
        }
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
        let info = match message.header {
            HeaderForm::Absent => {
                return self.line(0, "It has no header: it is text from its first byte on.");
            }
            HeaderForm::Page => {
                return self.line(
                    0,
                    "It has no header: it is an HTML page from its first byte on.",
                );
            }
            HeaderForm::ANews => {
                MessageInfo::of_a_news(message.raw, self.options.limits.field_bytes)
            }
            HeaderForm::Present | HeaderForm::Copied { .. } => {
                MessageInfo::of(message.raw, fields, self.options.limits.field_bytes)
            }
        };
        let text = match message.header {
            HeaderForm::ANews => {
                "Its header is in the A news format: five lines without names.".to_owned()
            }
            HeaderForm::Copied { .. } => {
                "After its header is a copy of some fields, which is skipped.".to_owned()
            }
            _ => format!("Its header has {} fields.", fields.all.len()),
        };
        self.line(0, &text);
        self.info(info);
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
            ..TextPolicy::default()
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
        outcome: format!("skipped: no text; {bytes} bytes, {start} to {end}"),
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
            "2 image/png, base64; skipped: no text",
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
