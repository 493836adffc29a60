//! The page of `urlspool explain`: what is known of the message and its parts.

use super::super::terminal::harmless;
use crate::decode::{
    DecodedText, HeaderFields, HeaderPolicy, MessageInfo, Region, SkippedPart, texts,
};
use crate::diagnostic::Diagnostic;
use crate::extract::Options;
use crate::origin::Source;
use crate::split::{HeaderForm, Message};

/// What is written for a reader.
pub(super) struct Page {
    pub(super) options: Options,
    pub(super) out: String,
}

impl Page {
    /// A line of text, indented. Nothing that a terminal obeys gets into it.
    pub(super) fn line(&mut self, depth: usize, text: &str) {
        self.out.extend(std::iter::repeat_n("  ", depth));
        self.out += &harmless(text);
        self.out.push('\n');
    }

    pub(super) fn message(
        &mut self,
        message: &Message<'_>,
        source: &Source,
        doubts: &[Diagnostic],
    ) {
        let Message {
            start, envelope, ..
        } = *message;
        self.line(
            0,
            &format!("The message lies in octets {start} to {}.", message.end()),
        );
        if envelope > 0 {
            self.line(
                1,
                &format!("Its first {envelope} octets are the envelope, not the message's own."),
            );
        }
        if message.wire {
            self.line(1, "It is in wire format: dots at line starts are doubled, and its last line is a dot.");
        }
        self.diagnostics(doubts);
        let fields = match message.header {
            HeaderForm::Present => HeaderFields::of(message.raw, self.options.limits.header_bytes),
            HeaderForm::Copied { body } => HeaderFields {
                body,
                ..HeaderFields::of(message.raw, self.options.limits.header_bytes)
            },
            HeaderForm::Absent | HeaderForm::ANews => HeaderFields::default(),
        };
        self.info(message, &fields);
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
            let place = offset.map_or(String::new(), |offset| format!(" at octet {offset}"));
            self.line(1, &format!("{}{place}: {message}.", kind.name()));
        }
    }

    fn info(&mut self, message: &Message<'_>, fields: &HeaderFields) {
        let info = match message.header {
            HeaderForm::Absent => {
                return self.line(0, "It has no header: it is text from its first octet on.");
            }
            HeaderForm::ANews => MessageInfo::of_a_news(message.raw),
            HeaderForm::Present | HeaderForm::Copied { .. } => {
                MessageInfo::of(message.raw, fields, self.options.limits.field_bytes)
            }
        };
        match message.header {
            HeaderForm::ANews => self.line(0, "Its header is A news': five lines without names."),
            HeaderForm::Copied { .. } => self.line(
                0,
                "A copy of some fields stands behind its header, and is left.",
            ),
            _ => self.line(0, &format!("Its header has {} fields.", fields.all.len())),
        }
        let date = info.date.map(|date| match date.utc {
            Some(utc) => format!("{utc}, written {}", date.raw),
            None => format!("{}, which cannot be read", date.raw),
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

    /// The leaves of the tree of parts; the path of each tells where in it.
    fn parts(&mut self, message: &Message<'_>, fields: &HeaderFields) {
        let base = message.raw_start();
        let mut rows = Vec::new();
        let mut note = |text: &DecodedText<'_>| {
            let (Region::Body, Some(part)) = (text.region, text.part) else {
                return;
            };
            let page = text.page.as_ref().map_or(String::new(), |page| {
                format!(", {} links", page.links.len())
            });
            rows.push((
                part.clone(),
                format!("read: {} octets of text{page}", text.bytes.len()),
            ));
        };
        let decoded = texts(
            message,
            fields,
            &self.options.limits,
            HeaderPolicy::Skip,
            &mut |text| note(&text),
        );
        for SkippedPart { part, raw: span } in decoded.skipped_parts {
            let place = format!(
                "octets {} to {}",
                base + span.start as u64,
                base + span.end as u64
            );
            rows.push((
                part,
                format!("left: no text; {} octets, {place}", span.len()),
            ));
        }
        // Components are compared as numbers: part 10 comes behind part 9.
        rows.sort_by_key(|(part, _)| {
            part.path
                .split('.')
                .map(|digits| digits.parse().unwrap_or(0))
                .collect::<Vec<u64>>()
        });
        self.line(0, "Its parts:");
        for (part, what) in rows {
            let charset = part
                .charset
                .map_or(String::new(), |charset| format!(", charset {charset}"));
            self.line(
                1,
                &format!(
                    "{} {}{charset}, {}; {what}",
                    part.path, part.media_type, part.encoding
                ),
            );
        }
        self.diagnostics(&decoded.diagnostics);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_explained_stage_by_stage() {
        let raw =
            b"From: a\nMessage-ID: <i@x>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\n\
                    see <URL:http://a.\n  example/> and std::x and <http://unclosed.example/\n\n--b\n\
                    Content-Type: image/png\nContent-Transfer-Encoding: base64\n\nAAAA\n--b--\n";
        let mut page = Page {
            options: Options::default(),
            out: String::new(),
        };
        let mut message = Message::alone(raw);
        message.start = 1000;
        page.message(&message, &Source::at("x".into()), &[]);
        for line in [
            "The message lies in octets 1000 to",
            "Message-ID: <i@x>",
            "1 text/plain, 7bit; read:",
            "2 image/png, base64; left: no text",
            "taken: http://a.example/",
            "line-break: a line break and the blanks around it were taken out",
            "accepted by rfc1738, rfc3986, whatwg",
            "refused:",
            "the wrapper does not close",
        ] {
            assert!(page.out.contains(line), "{line} in\n{}", page.out);
        }
    }

    #[test]
    fn the_evidence_for_a_join_is_told() {
        let raw = b"From: a\n\nIt is described in detail at http://www.host.example/path/to/some/documents/\n\
                    and-more/of-them/index.html\n\n";
        let mut page = Page {
            options: Options::default(),
            out: String::new(),
        };
        page.message(&Message::alone(raw), &Source::at("x".into()), &[]);
        assert!(
            page.out.contains("base -3.5,") && page.out.contains("points, confidence"),
            "{}",
            page.out
        );
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_shown() {
        let raw = b"From: a\nSubject: \x1b[31mred\n\n\x1b]0;x\x07 http://a.example/\n";
        let mut page = Page {
            options: Options::default(),
            out: String::new(),
        };
        page.message(&Message::alone(raw), &Source::at("x".into()), &[]);
        assert!(
            !page.out.contains('\u{1b}') && page.out.contains("red"),
            "{}",
            page.out
        );
    }
}
