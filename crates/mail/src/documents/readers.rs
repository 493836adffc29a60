//! The document readers, one per kind, and their shared code: limits and problems, the page of
//! text, line breaks and links, and field instructions in Word and RTF (ECMA-376 part 1, section
//! 17.16.5.25).

mod mapi;
mod office;
mod outlook;
mod pdf;
mod rtf;
mod signed;
mod tnef;

use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{DocumentContent, DocumentKind, DocumentReading};
use crate::decode::{is_utf16, page_in_utf8};
use crate::split::begins_message;
use urlspool_sources::read::is_office_document;
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind};
use urlspool_text::limits::{DOCUMENT_PROBLEMS, FIELD_INSTRUCTION_BYTES, Limits};
use urlspool_text::planted_faults::{PlantedFault, panic_at_mark};

/// Returns the kind of a source whose first bytes are `start`.
pub(super) fn kind_of(start: &[u8]) -> Option<DocumentKind> {
    const MARKS: [(&[u8], DocumentKind); 4] = [
        (b"%PDF-", DocumentKind::Pdf),
        (b"{\\rtf", DocumentKind::Rtf),
        (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", DocumentKind::Compound),
        (tnef::SIGNATURE, DocumentKind::Tnef),
    ];
    let marked = MARKS.iter().find(|(mark, _)| start.starts_with(mark));
    match marked {
        Some((_, kind)) => Some(*kind),
        None if is_message_in_utf16(start) => Some(DocumentKind::Utf16),
        None if signed::is_signed(start) => Some(DocumentKind::Signed),
        None => is_office_document(start).then_some(DocumentKind::Office),
    }
}

/// Returns `true` if a source is in UTF-16 and starts with a message header.
fn is_message_in_utf16(start: &[u8]) -> bool {
    /// Number of bytes that contain the first lines of a header.
    const HEADER_BYTES: usize = 2 << 10;
    let start = &start[..start.len().min(HEADER_BYTES)];
    let is_wide = matches!(start, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]) || is_utf16(start);
    is_wide && begins_message(&page_in_utf8(start, None))
}

/// Reads a document of this kind within these limits, as [`super::read_document`] does.
pub(super) fn read(kind: DocumentKind, bytes: &[u8], limits: &Limits) -> DocumentReading {
    let read = || {
        panic_at_mark(PlantedFault::PanicInDocument, bytes);
        match kind {
            DocumentKind::Office => office::read(bytes, limits),
            DocumentKind::Pdf => pdf::read(bytes, limits),
            DocumentKind::Rtf => rtf::read(bytes, limits),
            DocumentKind::Compound => outlook::read(bytes, limits),
            DocumentKind::Tnef => tnef::read(bytes, limits),
            DocumentKind::Signed => signed::read(bytes, limits),
            DocumentKind::Utf16 => DocumentReading {
                content: DocumentContent::Message(page_in_utf8(bytes, None).into_owned()),
                ..DocumentReading::default()
            },
        }
    };
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| DocumentReading {
        problems: vec![Diagnostic::new(
            DiagnosticKind::Panic,
            "the program failed on this document and skipped it; please report this",
        )],
        ..DocumentReading::default()
    })
}

/// Limits for the current document, and its problems so far.
struct Unpacking<'l> {
    limits: &'l Limits,
    /// Number of bytes that may still be unpacked.
    left: usize,
    problems: Vec<Diagnostic>,
}

impl<'l> Unpacking<'l> {
    fn new(limits: &'l Limits) -> Unpacking<'l> {
        Unpacking {
            limits,
            left: limits.message_bytes,
            problems: Vec::new(),
        }
    }

    fn problem(&mut self, kind: DiagnosticKind, message: impl Into<String>) {
        self.add(Diagnostic::new(kind, message));
    }

    /// Adds a problem, unless there are too many or one with the same message.
    fn add(&mut self, problem: Diagnostic) {
        if self.problems.len() < DOCUMENT_PROBLEMS && !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Unpacks a stream of the document up to the limit or the damage. `what` names the stream in
    /// messages, and `damage` describes the damage.
    fn unpack(
        &mut self,
        what: &str,
        mut stream: impl Read,
        damage: impl FnOnce(&io::Error) -> Diagnostic,
    ) -> Vec<u8> {
        let mut bytes = Vec::new();
        let result = (&mut stream).take(self.left as u64).read_to_end(&mut bytes);
        self.left -= bytes.len();
        if let Err(error) = result {
            self.add(damage(&error));
        } else if self.left == 0 && !matches!(stream.read(&mut [0]), Ok(0)) {
            // The bomb check may also refuse the next byte.
            self.report_limit(what);
        }
        bytes
    }

    /// Returns bytes of the document up to the limit. `what` names them in messages.
    fn limited<'b>(&mut self, what: &str, bytes: &'b [u8]) -> &'b [u8] {
        if self.left < bytes.len() {
            self.report_limit(what);
        }
        let bytes = &bytes[..bytes.len().min(self.left)];
        self.left -= bytes.len();
        bytes
    }

    fn report_limit(&mut self, what: &str) {
        let max = self.limits.message_bytes;
        let message = format!(
            "{what} unpacks to more than {max} bytes (message_bytes): the rest is not read"
        );
        self.problem(DiagnosticKind::Limit, message);
    }

    /// Returns the reading of a document that became `page`.
    fn page(mut self, page: PageBuilder) -> DocumentReading {
        if page.is_full {
            let max = self.limits.message_bytes;
            let message = format!(
                "a document of more than {max} bytes of text and links (message_bytes): the rest \
                 is not read"
            );
            self.problem(DiagnosticKind::Limit, message);
        }
        self.reading(DocumentContent::Page(page.finish()))
    }

    fn reading(self, content: DocumentContent) -> DocumentReading {
        DocumentReading {
            content,
            media_type: None,
            unpacked_bytes: self.limits.message_bytes - self.left,
            problems: self.problems,
        }
    }
}

/// Bytes of a document that were not read yet.
struct Unread<'b>(&'b [u8]);

impl<'b> Unread<'b> {
    /// Takes the next `len` bytes, or nothing if there are fewer.
    fn take(&mut self, len: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }
}

/// Returns the target of a `HYPERLINK` instruction, or `None` for other fields and for links within
/// the document.
fn hyperlink_target(instruction: &str) -> Option<String> {
    let mut words = Words(instruction);
    if !words.next()?.0.eq_ignore_ascii_case("HYPERLINK") {
        return None;
    }
    let (mut target, mut bookmark) = (None, None);
    while let Some((word, is_quoted)) = words.next() {
        match word {
            "\\l" | "\\L" if !is_quoted => bookmark = words.next().map(|(word, _)| word),
            // Title and frame.
            "\\o" | "\\O" | "\\t" | "\\T" if !is_quoted => drop(words.next()),
            _ if !is_quoted && word.starts_with('\\') => {}
            _ => target = target.or(Some(word)),
        }
    }
    let target = target.filter(|target| !target.is_empty())?;
    Some(match bookmark {
        Some(bookmark) => format!("{target}#{bookmark}"),
        None => target.to_owned(),
    })
}

/// Words of an instruction, each with a flag for quotation marks.
struct Words<'i>(&'i str);

impl<'i> Iterator for Words<'i> {
    type Item = (&'i str, bool);

    fn next(&mut self) -> Option<(&'i str, bool)> {
        let rest = self.0.trim_start();
        let quoted = rest.strip_prefix('"');
        let (word, after) = match quoted {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        self.0 = after;
        (!rest.is_empty()).then_some((word, quoted.is_some()))
    }
}

/// Appends a piece to an instruction, up to [`FIELD_INSTRUCTION_BYTES`].
fn add_to_instruction(instruction: &mut String, piece: &str) {
    let room = FIELD_INSTRUCTION_BYTES.saturating_sub(instruction.len());
    instruction.push_str(&piece[..piece.floor_char_boundary(room)]);
}

#[cfg(test)]
mod field_tests {
    use super::*;

    #[test]
    fn the_target_is_the_first_word_that_is_no_switch() {
        for (instruction, expected) in [
            (
                " HYPERLINK \"http://a.example/\" ",
                Some("http://a.example/"),
            ),
            ("hyperlink http://a.example/b", Some("http://a.example/b")),
            (
                "HYPERLINK \"http://a.example/\" \\l \"top\" \\o \"a title\" \\t \"_blank\"",
                Some("http://a.example/#top"),
            ),
            (
                "HYPERLINK \\o \"a title\" \"http://a.example/\"",
                Some("http://a.example/"),
            ),
            (
                "HYPERLINK \\n \"http://a.example/",
                Some("http://a.example/"),
            ),
            ("HYPERLINK \\l \"top\"", None),
            ("HYPERLINK", None),
            ("PAGEREF x \\h", None),
            ("", None),
        ] {
            assert_eq!(
                hyperlink_target(instruction).as_deref(),
                expected,
                "{instruction}"
            );
        }
    }

    #[test]
    fn an_instruction_ends_at_the_limit_within_no_character() {
        let mut instruction = "a".repeat(FIELD_INSTRUCTION_BYTES - 3);
        for piece in ["é", "é", "b", "c"] {
            add_to_instruction(&mut instruction, piece);
        }
        assert!(instruction.ends_with("aéb"));
        assert_eq!(instruction.len(), FIELD_INSTRUCTION_BYTES);
    }
}

/// Builder of a page. Drops content beyond the limit.
struct PageBuilder {
    html: Vec<u8>,
    max_bytes: usize,
    /// `true` if content was dropped.
    is_full: bool,
    is_link_open: bool,
}

impl PageBuilder {
    /// Creates an empty page of at most `max_bytes` bytes.
    fn new(max_bytes: usize) -> PageBuilder {
        PageBuilder {
            html: Vec::new(),
            max_bytes,
            is_full: false,
            is_link_open: false,
        }
    }

    /// Ends the line, unless it is empty.
    fn line_break(&mut self) {
        const BREAK: &[u8] = b"<br>\n";
        if !self.html.is_empty() && !self.html.ends_with(BREAK) {
            self.html(BREAK);
        }
    }

    /// Opens a link after closing the open one.
    fn open_link(&mut self, target: &str) {
        self.close_link();
        self.attribute("a", "href", target);
        self.is_link_open = true;
    }

    /// Closes the open link, if any.
    fn close_link(&mut self) {
        if std::mem::take(&mut self.is_link_open) {
            self.html(b"</a>");
        }
    }

    /// Appends a link without text.
    fn link(&mut self, target: &str) {
        self.open_link(target);
        self.close_link();
    }

    /// Appends the source of an image.
    fn image(&mut self, target: &str) {
        self.attribute("img", "src", target);
    }

    /// Appends the target of an object that is neither a visible link nor an image.
    fn linked_object(&mut self, target: &str) {
        self.attribute("link", "href", target);
    }

    /// Returns the page.
    fn finish(mut self) -> Vec<u8> {
        self.close_link();
        self.html
    }

    fn attribute(&mut self, element: &str, name: &str, value: &str) {
        let room = self.max_bytes.saturating_sub(self.html.len());
        if room < value.len() {
            self.is_full = true;
            return;
        }
        self.html
            .extend_from_slice(format!("<{element} {name}=\"").as_bytes());
        self.text(value);
        self.html.extend_from_slice(b"\">");
    }

    /// Appends HTML unchanged.
    fn html(&mut self, html: &[u8]) {
        if self.html.len() < self.max_bytes {
            self.html.extend_from_slice(html);
        } else {
            self.is_full = true;
        }
    }

    /// Appends visible text.
    fn text(&mut self, text: &str) {
        let mut rest = text;
        while let Some(at) = rest.find(['<', '>', '&', '"', '\0']) {
            self.html(&rest.as_bytes()[..at]);
            self.html(match rest.as_bytes()[at] {
                b'<' => b"&lt;",
                b'>' => b"&gt;",
                b'&' => b"&amp;",
                b'"' => b"&quot;",
                _ => b" ",
            });
            rest = &rest[at + 1..];
        }
        self.html(rest.as_bytes());
    }
}

#[cfg(test)]
mod page_builder_tests {
    use super::*;

    #[test]
    fn text_and_targets_are_escaped_and_lines_end_once() {
        let mut page = PageBuilder::new(1_000);
        page.line_break();
        page.text("a<b");
        page.line_break();
        page.line_break();
        page.open_link("http://a.example/?x=\"&y");
        page.text("c");
        page.link("http://b.example/");
        assert!(!page.is_full);
        let html = String::from_utf8(page.finish()).unwrap();
        assert_eq!(
            html,
            "a&lt;b<br>\n<a href=\"http://a.example/?x=&quot;&amp;y\">c</a><a \
             href=\"http://b.example/\"></a>"
        );
    }

    #[test]
    fn a_full_page_drops_whole_targets() {
        let mut page = PageBuilder::new(40);
        page.text("some text that is not cut");
        page.link("http://a.example/too-long-for-the-rest");
        assert!(page.is_full);
        assert_eq!(page.finish(), b"some text that is not cut</a>");
    }
}
