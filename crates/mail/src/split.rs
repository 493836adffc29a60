//! Divides a source into whole messages. The format is detected once, from the first bytes of the
//! content. Also detects the dialect of an mbox, and HTML pages.
//!
//! The work has two steps, which can run on different threads: a [`BlockReader`] cuts a stream into
//! blocks at message borders, and [`messages`] divides a block into messages.

mod babyl;
#[cfg(feature = "files")]
mod block_reader;
mod content_length;
mod emlx;
mod mbox;
mod mmdf;
mod news;

use std::sync::Arc;

use memchr::memmem;
use urlspool_text::named_enum;

#[cfg(feature = "files")]
pub use block_reader::{BlockReader, SourceStart, StreamBlocks, UnreadBlock, open, open_range};
pub(crate) use mbox::is_field;

use crate::decode::is_utf16;
use crate::documents::DocumentKind;
use crate::lines::{begins_with, is_listed, line_end, run_len};
use content_length::{content_length, header_end};
use mbox::{blank_lines, envelope, is_decided, next_message, separator};
use urlspool_sources::packed_news_batch::packed_news_batch;
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind, SkipReason};
use urlspool_text::limits::SNIFF_BYTES;
use urlspool_text::origin::{FormatHint, SourceKind, WebPage};
use urlspool_text::planted_faults::{PlantedFault, panic_at_mark};

/// One message in its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'b> {
    /// Raw bytes, without the preceding `From ` line.
    pub raw: &'b [u8],
    /// Offset in the source of the first byte, `From ` line included.
    pub start: u64,
    /// Length in bytes of the `From ` line, or of its equivalent in other formats.
    pub envelope: usize,
    /// Kind of the source.
    pub kind: SourceKind,
    /// Form of the header. A text has no header, nor has a later fragment of a message beyond the
    /// limit.
    pub header: HeaderForm,
    /// `true` if the lines are in wire format: CRLF, dots doubled at line starts, a final `.` (RFC
    /// 3977 section 3.1.1).
    pub wire: bool,
    /// Part of the message that `raw` holds.
    pub extent: Extent<'b>,
    /// Ratio of the file's unpacked size to its packed size; 0 if the file is not a container.
    pub unpacked_times: u64,
    /// Content type and URL of the source, if it comes from a Web server.
    pub page: Option<&'b WebPage>,
}

/// Part of a message that is available.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent<'b> {
    /// The whole message, or the start of a text.
    #[default]
    Whole,
    /// The first fragment of a message beyond the limit, or the start of such a message.
    FirstFragment,
    /// A later fragment of a message or text, with the head of that message or text.
    LaterFragment(&'b FragmentHead),
}

/// Form of the header block at the start of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderForm {
    /// Header fields, a blank line, and the body.
    Present,
    /// Header fields, a blank line, a copy of some fields, and the body (Babyl).
    Copied {
        /// Offset of the body in the message's raw bytes.
        body: usize,
    },
    /// Five lines without field names, as in A news: `A` and the article's name, newsgroups, path,
    /// date, title.
    ANews,
    /// No header: text from the first byte.
    Absent,
    /// No header: an HTML page from the first byte.
    Page,
    /// No header: a document, or a fragment of one.
    Document(DocumentKind),
}

impl<'b> Message<'b> {
    /// Reads a mail message or news article that is a source by itself: `raw` starts with its
    /// header.
    ///
    /// Never fails: broken mail is read as far as possible.
    #[must_use]
    pub fn parse(raw: &'b [u8]) -> Message<'b> {
        Message {
            header: HeaderForm::Present,
            kind: SourceKind::Message,
            ..Message::text(raw)
        }
    }

    /// Treats `raw` as a text without a header.
    #[must_use]
    pub fn text(raw: &'b [u8]) -> Message<'b> {
        Message {
            raw,
            start: 0,
            envelope: 0,
            kind: SourceKind::Text,
            header: HeaderForm::Absent,
            wire: false,
            extent: Extent::Whole,
            unpacked_times: 0,
            page: None,
        }
    }

    /// Returns the head of the message if this is a later fragment.
    #[must_use]
    pub fn head(&self) -> Option<&'b FragmentHead> {
        match self.extent {
            Extent::LaterFragment(head) => Some(head),
            Extent::Whole | Extent::FirstFragment => None,
        }
    }

    /// Returns the offset in the source of the first byte of `raw`.
    #[must_use]
    pub fn raw_start(&self) -> u64 {
        self.start + self.envelope as u64
    }

    /// Returns the offset in the source after the last byte.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.raw_start() + self.raw.len() as u64
    }
}

/// Item of a divided block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SplitOutput<'b> {
    /// A message.
    Message(Message<'b>),
    /// A border that is damaged or ambiguous.
    Diagnostic(Diagnostic),
}

/// Position of a buffer's end relative to the end of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AtEof {
    /// More bytes follow, which may belong to the last message of the buffer.
    No,
    /// The buffer ends at the end of the source, or of the source's last message.
    Yes,
}

/// Divides `block` into messages and passes them to `sink` in order. The diagnostics about a
/// message's borders and size precede it.
pub fn messages<'b>(block: &'b Block, format: Format, sink: &mut dyn FnMut(SplitOutput<'b>)) {
    let (bytes, offset) = (block.bytes.as_slice(), block.offset);
    panic_at_mark(PlantedFault::PanicInSplit, bytes);
    let is_first_fragment = block.role == BlockRole::FirstFragment;
    let sink: &mut dyn FnMut(SplitOutput<'b>) = &mut |mut output| {
        if let SplitOutput::Message(message) = &mut output {
            message.unpacked_times = block.unpacked_times;
            if is_first_fragment {
                message.extent = Extent::FirstFragment;
            }
        }
        sink(output);
    };
    let mut at_eof = AtEof::Yes;
    if is_first_fragment {
        sink(SplitOutput::Diagnostic(too_large(block, format)));
        at_eof = AtEof::No;
    }
    let header = match (&block.role, format) {
        (_, Format::Document(kind)) => HeaderForm::Document(kind),
        (BlockRole::Whole | BlockRole::FirstFragment, Format::Html) => HeaderForm::Page,
        _ => HeaderForm::Absent,
    };
    match (&block.role, format) {
        (BlockRole::LaterFragment(fragment), _) => {
            sink(SplitOutput::Message(Message {
                extent: Extent::LaterFragment(fragment),
                ..sole_message(block, format, header)
            }));
        }
        (_, Format::Document(_) | Format::Text | Format::Html) => {
            sink(SplitOutput::Message(sole_message(block, format, header)));
        }
        (_, Format::Mbox) => mbox::messages(bytes, offset, sink),
        // The Content-Length of a message beyond the limit is ignored.
        (BlockRole::FirstFragment, Format::Mboxcl) => sink(SplitOutput::Message(mbox::message(
            bytes,
            0,
            bytes.len(),
            offset,
        ))),
        (_, Format::Mboxcl) => content_length::messages(bytes, offset, sink),
        (_, Format::Rnews) => news::batch_messages(bytes, offset, at_eof, sink),
        (_, Format::Mmdf) => mmdf::messages(bytes, offset, sink),
        (_, Format::Babyl) => babyl::messages(bytes, offset, sink),
        (BlockRole::Whole, Format::Emlx) => emlx::messages(bytes, offset, sink),
        (_, Format::Emlx | Format::Single(_)) => {
            let wire = news::is_wire(bytes);
            let raw = if wire {
                news::without_terminator(bytes)
            } else {
                bytes
            };
            sink(SplitOutput::Message(Message {
                raw,
                wire,
                ..sole_message(block, format, single_header(bytes))
            }));
        }
    }
}

/// Returns the diagnostic about a message beyond the limit whose first fragment is `block`.
fn too_large(block: &Block, format: Format) -> Diagnostic {
    let bytes = block.bytes.len();
    let text = match format {
        Format::Document(_) => {
            format!("a document larger than message_bytes, of more than {bytes} bytes, is not read")
        }
        _ => format!(
            "a message larger than message_bytes: after its first {bytes} bytes it is read as text"
        ),
    };
    Diagnostic::at(DiagnosticKind::Limit, block.offset, text)
}

/// Returns a block that consists of one message or text as that message.
fn sole_message(block: &Block, format: Format, header: HeaderForm) -> Message<'_> {
    Message {
        start: block.offset,
        kind: format.kind(),
        header,
        ..Message::text(&block.bytes)
    }
}

/// Returns the form of the header of a message that is a whole file.
fn single_header(bytes: &[u8]) -> HeaderForm {
    if news::is_a_news(bytes) {
        HeaderForm::ANews
    } else {
        HeaderForm::Present
    }
}

/// Whole messages, or a fragment of one.
#[derive(Debug, Default)]
pub struct Block {
    /// Raw bytes of the block.
    pub bytes: Vec<u8>,
    /// Offset in the source of the first byte.
    pub offset: u64,
    /// Content of the bytes.
    pub role: BlockRole,
    /// Ratio of the file's unpacked size to its packed size; 0 if the file is not a container.
    pub unpacked_times: u64,
}

/// Content of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BlockRole {
    /// Whole messages, or the first fragment of a text. No URL crosses the end of the block.
    #[default]
    Whole,
    /// The first fragment of a message larger than the limit.
    FirstFragment,
    /// A later fragment of a message or text.
    LaterFragment(FragmentHead),
}

/// Start of a message or text that is read in fragments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentHead {
    /// Offset of the first byte in the source.
    pub start: u64,
    /// Number of line ends between `start` and the fragment.
    pub line_ends: u64,
    /// First bytes, at most [`MESSAGE_PREFIX_BYTES`](urlspool_text::limits::MESSAGE_PREFIX_BYTES).
    pub head: Arc<Vec<u8>>,
    /// Format of the source.
    pub format: Format,
}

impl FragmentHead {
    /// Returns the first bytes as a message, with the whole header unless it is too large.
    #[must_use]
    pub fn message(&self) -> Message<'_> {
        let bytes = self.head.as_slice();
        let (envelope, header) = match self.format {
            Format::Text => (0, HeaderForm::Absent),
            Format::Html => (0, HeaderForm::Page),
            Format::Document(kind) => (0, HeaderForm::Document(kind)),
            Format::Mbox | Format::Mboxcl => (mbox::envelope(bytes), HeaderForm::Present),
            // The separator line.
            Format::Rnews | Format::Mmdf | Format::Babyl | Format::Emlx => {
                (line_end(bytes, 0), HeaderForm::Present)
            }
            Format::Single(_) => (0, single_header(bytes)),
        };
        let raw = &bytes[envelope..];
        Message {
            start: self.start,
            kind: self.format.kind(),
            header,
            wire: news::is_wire(raw) && envelope == 0,
            extent: Extent::FirstFragment,
            ..Message::text(raw)
        }
    }
}

/// Parses a decimal number between optional blanks. Returns `None` for any other text and for too
/// many digits.
fn decimal(text: &[u8]) -> Option<usize> {
    /// Fewer than 10^15 bytes fit in any file.
    const MAX_DIGITS: usize = 15;
    let digits = text.trim_ascii();
    if digits.len() > MAX_DIGITS || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Format of a source. It decides how messages are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Messages, each after a `From ` line.
    Mbox,
    /// Messages, each after a `From ` line, with Content-Length fields.
    Mboxcl,
    /// News articles, each after a line with its length.
    Rnews,
    /// Messages between lines of control characters.
    Mmdf,
    /// A mail folder of Emacs' Rmail.
    Babyl,
    /// One message of Apple Mail, after a line with its length.
    Emlx,
    /// One message of this kind.
    Single(SourceKind),
    /// An HTML page without a header.
    Html,
    /// A document that must be unpacked or parsed to become text.
    Document(DocumentKind),
    /// Text without a header.
    Text,
}

impl Format {
    /// Returns the kind stated in records from this format.
    #[must_use]
    pub fn kind(self) -> SourceKind {
        match self {
            Format::Mbox | Format::Mboxcl => SourceKind::Mbox,
            Format::Rnews => SourceKind::Rnews,
            Format::Mmdf => SourceKind::Mmdf,
            Format::Babyl => SourceKind::Babyl,
            Format::Emlx => SourceKind::Message,
            Format::Single(kind) => kind,
            Format::Html | Format::Document(_) | Format::Text => SourceKind::Text,
        }
    }

    /// Returns `true` if a file in this format holds a sequence of messages.
    fn holds_several(self) -> bool {
        matches!(
            self,
            Format::Mbox | Format::Mboxcl | Format::Rnews | Format::Mmdf | Format::Babyl
        )
    }

    /// Returns the format of a kind named by the user.
    #[must_use]
    pub fn of(kind: SourceKind) -> Format {
        match kind {
            SourceKind::Mbox => Format::Mbox,
            SourceKind::Rnews => Format::Rnews,
            SourceKind::Mmdf => Format::Mmdf,
            SourceKind::Babyl => Format::Babyl,
            SourceKind::Text => Format::Text,
            kind => Format::Single(kind),
        }
    }
}

/// Detects the format of a source from its first bytes (at most [`SNIFF_BYTES`]).
///
/// # Errors
///
/// Returns the reason to skip a source without text.
fn sniff(start: &[u8], hint: FormatHint) -> Result<Format, SkipReason> {
    let start = &start[..start.len().min(SNIFF_BYTES)];
    if start.is_empty() {
        return Err(SkipReason::Empty);
    }
    if let Some(kind) = DocumentKind::of(start) {
        return Ok(Format::Document(kind));
    }
    if let Some(reason) = magic(start) {
        return Err(reason);
    }
    let text = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    let text = &text[blank_lines(text)..];
    if separator(text, 0) {
        return Ok(mbox_format(start));
    }
    if let Some(format) = marked_format(start) {
        return Ok(format);
    }
    if news::is_a_news(text) {
        return Ok(Format::Single(SourceKind::News));
    }
    if let Some(header) = header_kind(text) {
        return Ok(Format::Single(match (hint, header) {
            (FormatHint::Maildir, _) => SourceKind::Maildir,
            (FormatHint::Timehash, _) | (FormatHint::Numbered, SourceKind::News) => {
                SourceKind::News
            }
            (FormatHint::Numbered, _) => SourceKind::Mh,
            (FormatHint::None | FormatHint::Page, _) => SourceKind::Message,
        }));
    }
    if hint == FormatHint::Maildir {
        return Ok(Format::Single(SourceKind::Maildir));
    }
    if is_page(text) {
        return Ok(Format::Html);
    }
    if is_binary(start) {
        Err(SkipReason::Binary)
    } else if hint == FormatHint::Page {
        Ok(Format::Html)
    } else {
        Ok(Format::Text)
    }
}

/// Returns `true` if `start` is enough to recognise a file of several messages, in any format.
fn begins_several(start: &[u8]) -> bool {
    let text = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    let text = &text[blank_lines(text)..];
    magic(start).is_none()
        && (separator(text, 0) && is_decided(text, 0, AtEof::No)
            || marked_format(start).is_some_and(Format::holds_several))
}

/// Returns the format of an mbox whose first bytes are `start`: with or without Content-Length
/// fields.
fn mbox_format(start: &[u8]) -> Format {
    match mbox_dialect(start) {
        MboxDialect::Mboxcl | MboxDialect::Mboxcl2 => Format::Mboxcl,
        MboxDialect::Mboxo | MboxDialect::Mboxrd => Format::Mbox,
    }
}

/// Returns the format identified by a signature at the start.
fn marked_format(start: &[u8]) -> Option<Format> {
    if news::is_batch(start) {
        Some(Format::Rnews)
    } else if mmdf::is_folder(start) {
        Some(Format::Mmdf)
    } else if babyl::is_folder(start) {
        Some(Format::Babyl)
    } else {
        let message = &start[emlx::first_line(start)?.bytes..];
        header_kind(message).map(|_| Format::Emlx)
    }
}

/// Returns the format of a source whose first bytes are `start`. A format named by the user is
/// trusted; the content selects its variant.
///
/// # Errors
///
/// Returns the reason to skip the source.
pub fn detect_format(
    start: &[u8],
    given: Option<Format>,
    hint: FormatHint,
) -> Result<Format, SkipReason> {
    match (sniff(start, hint), given) {
        (Err(SkipReason::Empty), _) => Err(SkipReason::Empty),
        (_, Some(Format::Mbox)) => Ok(mbox_format(&start[..start.len().min(SNIFF_BYTES)])),
        (Ok(Format::Emlx), Some(Format::Single(SourceKind::Message))) => Ok(Format::Emlx),
        (Ok(format @ (Format::Html | Format::Document(_))), Some(Format::Text)) => Ok(format),
        (_, Some(format)) | (Ok(format), None) => Ok(format),
        (Err(reason), None) => Err(reason),
    }
}

/// Returns the kind of the header at the start of the text: `News`, or `Message` for mail. Returns
/// `None` if the text is not a header: the lines are not fields, or no field has a known name.
fn header_kind(text: &[u8]) -> Option<SourceKind> {
    const KNOWN: &str = "from to cc subject date message-id received return-path path sender \
        reply-to mime-version content-type content-transfer-encoding organization references \
        in-reply-to delivered-to posted relay-version x-mailer bcc resent-from resent-to \
        list-id approved lines xref status x-status disposition-notification-to";
    /// Maximum number of lines that are examined.
    const MAX_LINES: usize = 200;
    const NEWS: &str = "newsgroups article-i.d.";
    let mut known = false;
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', text).chain([text.len()]);
    for (index, end) in ends.enumerate().take(MAX_LINES) {
        let line = &text[std::mem::replace(&mut start, end + 1)..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match line.first() {
            None => break,
            Some(b' ' | b'\t') if index > 0 => continue,
            // Only the name of a news field can still change the result.
            Some(first) if known && !matches!(first.to_ascii_lowercase(), b'n' | b'a') => continue,
            _ => {}
        }
        if !is_field(line) {
            // Some gateways insert a stray line, and some mailers insert a quoted `From ` line.
            if known || line.starts_with(b">From ") {
                continue;
            }
            return None;
        }
        let colon = memchr::memchr(b':', line).unwrap_or(0);
        let name = line[..colon].trim_ascii_end();
        // Further fields cannot change the result.
        if is_listed(NEWS, name) {
            return Some(SourceKind::News);
        }
        known = known || is_listed(KNOWN, name);
    }
    known.then_some(SourceKind::Message)
}

/// Returns `true` if a text starts with the header of a message, or with a `From ` line and a
/// header.
pub(crate) fn begins_message(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    separator(text, 0) || header_kind(text).is_some()
}

/// Returns the reason to skip a source whose first bytes identify a format without text.
fn magic(start: &[u8]) -> Option<SkipReason> {
    const MAGIC: &[(&[u8], SkipReason)] = &[
        (b"\x1F\x8B", SkipReason::Gzip),
        (b"BZh", SkipReason::Bzip2),
        (b"\xFD7zXZ\0", SkipReason::Xz),
        (b"\x28\xB5\x2F\xFD", SkipReason::Zstd),
        (b"\x04\x22\x4D\x18", SkipReason::Lz4),
        (b"\x1F\x9D", SkipReason::Compress),
        (b"PK\x03\x04", SkipReason::Zip),
        (b"Rar!", SkipReason::Rar),
        (b"7z\xBC\xAF\x27\x1C", SkipReason::SevenZip),
        (b"\x7FELF", SkipReason::Elf),
        (b"\x89PNG", SkipReason::Png),
        (b"\xFF\xD8\xFF", SkipReason::Jpeg),
        (b"GIF8", SkipReason::Gif),
        (b"%PDF-", SkipReason::Pdf),
        (b"SQLite format 3\0", SkipReason::Sqlite),
    ];
    if let Some((unpacker, _)) = packed_news_batch(start) {
        return Some(match unpacker {
            "cunbatch" => SkipReason::Cunbatch,
            "gunbatch" => SkipReason::Gunbatch,
            "bunbatch" => SkipReason::Bunbatch,
            _ => SkipReason::PackedBatch,
        });
    }
    if start.get(257..262) == Some(b"ustar") {
        return Some(SkipReason::Tar);
    }
    let mut known = MAGIC.iter().filter(|(magic, _)| start.starts_with(magic));
    known.next().map(|(_, reason)| *reason)
}

/// Returns `true` if more than one byte in ten is a control character that does not occur in text.
/// UTF-16 counts as text.
fn is_binary(start: &[u8]) -> bool {
    const SAMPLE_BYTES: usize = 8 << 10;
    if start.starts_with(b"\xFF\xFE") || start.starts_with(b"\xFE\xFF") || is_utf16(start) {
        return false;
    }
    let start = &start[..start.len().min(SAMPLE_BYTES)];
    // A hole after the text does not make a source binary.
    let Some(last) = start.iter().rposition(|&byte| byte != 0) else {
        return true;
    };
    let start = &start[..=last];
    let control = start.iter().filter(|byte| **byte < 0x20);
    let odd = control.filter(|byte| !b"\t\n\r\x0C\x1B\x08".contains(byte));
    odd.count() * 10 > start.len()
}

/// Elements that mark the start of a page: the frame of a page and the content of its head.
/// Browsers also accept text elements such as `<a>` and `<p>` (WHATWG MIME Sniffing, section 7.1),
/// but plain text quotes those.
const FIRST_ELEMENTS: &str = "html head body title meta base link style script";

/// Text elements that can start a fragment of a page.
const TEXT_ELEMENTS: &str = "a b blockquote center div dl em font form h1 h2 h3 h4 i li ol p pre \
    section span strong table tt u ul x-html";

/// Returns `true` if a text looks like an HTML page: after white space, an XML declaration and
/// comments it has a document type or a first element.
pub(crate) fn is_page(text: &[u8]) -> bool {
    after_prolog(text).is_some_and(|text| {
        first_element(text).is_some_and(|name| is_listed(FIRST_ELEMENTS, name)) || is_doctype(text)
    })
}

/// Returns `true` if a text is a page: it starts with a document type, with `<html>`, or with an
/// element that is closed at the end of the text. Plain text may start with any other element.
pub(crate) fn begins_whole_page(text: &[u8]) -> bool {
    let Some(text) = after_prolog(text) else {
        return false;
    };
    let Some(first) = first_element(text) else {
        return false;
    };
    let end = text.trim_ascii_end().strip_suffix(b">").unwrap_or_default();
    let last = memchr::memrchr(b'<', end).map_or(&b""[..], |at| &end[at + 1..]);
    let name = last.strip_prefix(b"/").unwrap_or_default().trim_ascii_end();
    let is_closed = first.eq_ignore_ascii_case(name)
        && [TEXT_ELEMENTS, FIRST_ELEMENTS]
            .iter()
            .any(|list| is_listed(list, name));
    is_doctype(text) || is_listed("html x-html", first) || is_closed
}

/// Returns the text after white space, comments and an XML declaration, or `None` if one of these
/// is not closed.
fn after_prolog(text: &[u8]) -> Option<&[u8]> {
    let mut rest = text.trim_ascii_start();
    loop {
        let end: &[u8] = match rest {
            [b'<', b'!', b'-', b'-', ..] => b"-->",
            [b'<', b'?', b'x', b'm', b'l', b' ', ..] => b"?>",
            _ => return Some(rest),
        };
        let at = memchr::memmem::find(rest, end)?;
        rest = rest[at + end.len()..].trim_ascii_start();
    }
}

/// Returns `true` if a text starts with the HTML document type.
fn is_doctype(text: &[u8]) -> bool {
    const DOCTYPE: &[u8] = b"<!doctype html";
    begins_with(text, DOCTYPE) && text.get(DOCTYPE.len()).is_some_and(|&byte| ends_name(byte))
}

/// Returns the element name if a text starts with a start tag.
fn first_element(text: &[u8]) -> Option<&[u8]> {
    let name = text.strip_prefix(b"<")?;
    Some(&name[..name.iter().position(|&byte| ends_name(byte))?])
}

/// Returns `true` for a byte that can follow an element name.
fn ends_name(byte: u8) -> bool {
    matches!(byte, b' ' | b'>' | b'\t' | b'\n' | b'\r')
}

named_enum! {
    /// Dialect of an mbox. Mboxo and mboxrd are read in the same way, and so are mboxcl and
    /// mboxcl2.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MboxDialect {
        /// `From ` lines in bodies are quoted with `>`, or do not occur.
        Mboxo = "mboxo",
        /// Quoted `From ` lines are quoted once more.
        Mboxrd = "mboxrd",
        /// Messages have a Content-Length field, and `From ` lines are quoted.
        Mboxcl = "mboxcl",
        /// Messages have a Content-Length field, and `From ` lines are not quoted.
        Mboxcl2 = "mboxcl2",
    }
}

/// Detects the dialect of an mbox whose first bytes are `start`.
///
/// One Content-Length field is enough for mboxcl or mboxcl2: a wrong length is ignored when
/// messages are divided. The `From ` lines in bodies decide between the two dialects of each pair.
#[must_use]
pub fn mbox_dialect(start: &[u8]) -> MboxDialect {
    let mut lengths = false;
    let mut at = 0;
    while !lengths && at < start.len() {
        let header = at + envelope(&start[at..]);
        let body = header_end(&start[header..]).map_or(start.len(), |end| header + end);
        lengths = content_length(&start[header..body]).is_some();
        at = next_message(start, at, AtEof::Yes).unwrap_or(start.len());
    }
    let quoted = memmem::find(start, b"\n>From ").is_some();
    let twice = memmem::find(start, b"\n>>From ").is_some();
    match (lengths, quoted, twice) {
        (true, true, _) => MboxDialect::Mboxcl,
        (true, false, _) => MboxDialect::Mboxcl2,
        (false, _, true) => MboxDialect::Mboxrd,
        (false, _, false) => MboxDialect::Mboxo,
    }
}

/// Removes leading NUL bytes and returns their number.
pub fn remove_leading_nuls(bytes: &mut Vec<u8>) -> u64 {
    let nuls = run_len(bytes, |byte| byte == 0);
    bytes.drain(..nuls);
    nuls as u64
}

/// Detects the line ends of a source from its first `bytes`, and replaces CR line ends with LF in
/// place.
pub fn normalize_line_ends(bytes: &mut [u8]) -> LineEnds {
    // A stream shows no more than these bytes.
    let line_ends = match DocumentKind::of(bytes) {
        Some(_) => LineEnds::Lf,
        None => LineEnds::of(&bytes[..bytes.len().min(SNIFF_BYTES)]),
    };
    if line_ends == LineEnds::Cr {
        cr_to_lf(bytes);
    }
    line_ends
}

/// Line ends of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnds {
    /// LF, CRLF, or CR CR LF.
    Lf,
    /// CR, replaced with LF when the source is read.
    Cr,
}

impl LineEnds {
    /// Returns `Cr` if the first line of a source ends in a CR without LF.
    fn of(start: &[u8]) -> LineEnds {
        let first = memchr::memchr2(b'\r', b'\n', start).map_or(&[][..], |at| &start[at..]);
        match first {
            // The file was written in text mode twice.
            [b'\r', b'\r', b'\n', ..] => LineEnds::Lf,
            [b'\r', next, ..] if *next != b'\n' => LineEnds::Cr,
            _ => LineEnds::Lf,
        }
    }
}

/// Replaces every CR that is not followed by LF with LF, in place. Offsets do not change.
///
/// Leaves a CR at the very end, because the next byte is unknown.
fn cr_to_lf(bytes: &mut [u8]) {
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\r', &bytes[at..]).map(|found| at + found) {
        if bytes.get(found + 1).is_some_and(|&next| next != b'\n') {
            bytes[found] = b'\n';
        }
        at = found + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides_the_format_and_the_path_the_kind() {
        const MAIL: &str = "From: a@b.example\nSubject: x\n\nbody";
        const NEWS: &str = "Path: a!b\nFrom: c\nNewsgroups: d.e\n\nbody";
        let single = |kind| Ok(Format::Single(kind));
        for (text, hint, format) in [
            (MAIL, FormatHint::None, single(SourceKind::Message)),
            (MAIL, FormatHint::Numbered, single(SourceKind::Mh)),
            (NEWS, FormatHint::Numbered, single(SourceKind::News)),
            (MAIL, FormatHint::Maildir, single(SourceKind::Maildir)),
            (MAIL, FormatHint::Timehash, single(SourceKind::News)),
            (
                "From a@b Mon\nFrom: a\n\nx",
                FormatHint::Numbered,
                Ok(Format::Mbox),
            ),
            (
                "From here on\nit is text: really\n",
                FormatHint::None,
                Ok(Format::Text),
            ),
            (
                "Network Working Group\nRequest: x",
                FormatHint::None,
                Ok(Format::Text),
            ),
            ("", FormatHint::None, Err(SkipReason::Empty)),
            (
                "\u{1}\u{2}\u{3}\0\0",
                FormatHint::None,
                Err(SkipReason::Binary),
            ),
            ("\0\0\0", FormatHint::None, Err(SkipReason::Binary)),
            ("a text\0\0\0", FormatHint::None, Ok(Format::Text)),
            (
                "#! c7unbatch\n:::",
                FormatHint::None,
                Err(SkipReason::PackedBatch),
            ),
        ] {
            assert_eq!(sniff(text.as_bytes(), hint), format, "{text:?}");
        }
    }

    #[test]
    fn marks_at_the_start_identify_a_format() {
        for (text, format) in [
            ("#! rnews 5\nA: b\n", Format::Rnews),
            (
                "\u{1}\u{1}\u{1}\u{1}\nFrom: a\n\nx\n\u{1}\u{1}\u{1}\u{1}\n",
                Format::Mmdf,
            ),
            (
                "BABYL OPTIONS: -*- rmail -*-\nVersion: 5\n\u{1f}",
                Format::Babyl,
            ),
            ("10        \nFrom: a\n\nx", Format::Emlx),
            ("From a\nContent-Length: 2\nFrom: a\n\nx\n", Format::Mboxcl),
            (
                "Asite.1\nnet.x\na!b\nMon Jan 1 10:30:00 1982\nx\n",
                Format::Single(SourceKind::News),
            ),
            ("10\n\nx", Format::Text),
            ("#! /bin/sh\necho\n", Format::Text),
        ] {
            for text in [text.to_owned(), text.replace('\n', "\r\n")] {
                assert_eq!(
                    sniff(text.as_bytes(), FormatHint::None),
                    Ok(format),
                    "{text:?}"
                );
            }
        }
        let packed = sniff(b"#! cunbatch\n\x1F\x9D\0\0\0", FormatHint::None);
        assert_eq!(packed, Err(SkipReason::Cunbatch));
    }

    #[test]
    fn pages_begin_with_a_document_type_or_an_element() {
        for text in [
            "<!DOCTYPE html>",
            "<!doctype HTML PUBLIC \"-//W3C//DTD HTML 3.2//EN\">",
            "\r\n  <HTML>\n",
            "<html lang=de>",
            "<!-- MHonArc v2.4.4 -->\n<!--X-Subject: a - b -->\n<!DOCTYPE HTML\n PUBLIC>",
            "<?xml version=\"1.0\"?>\n<html xmlns=\"x\">",
            "<title>x",
            "<body bgcolor=white>",
        ] {
            assert!(is_page(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "see <html>",
            "<URL:http://a/>",
            "<http://a/>",
            "<a@b.example>",
            "<!-- not closed <html>",
            "<?xml version=\"1.0\"?><rss>",
            "<htmlx>",
            "<a href=\"http://a/\">http://b/</a>",
            "<!doctype rfc SYSTEM>",
            "<",
            "<p",
        ] {
            assert!(!is_page(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn dialects_are_detected_by_the_start_of_the_file() {
        for (field, body, dialect) in [
            ("", "x", MboxDialect::Mboxo),
            ("", ">From x", MboxDialect::Mboxo),
            ("", "x\n>>From x", MboxDialect::Mboxrd),
            ("content-length:  10\n", "x\n>From y", MboxDialect::Mboxcl),
            ("content-length:  9\n", "x\nFrom y", MboxDialect::Mboxcl2),
        ] {
            let text = format!("From a\nA: b\n{field}\n{body}\n");
            assert_eq!(mbox_dialect(text.as_bytes()), dialect, "{text}");
        }
    }
}
