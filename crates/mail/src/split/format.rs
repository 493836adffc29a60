//! Detects the format of a source from its first bytes, the dialect of an mbox, and HTML pages.

use memchr::memmem;
use urlspool_text::named_enum;

use super::content_length::{content_length, header_end};
use super::mbox::{blank_lines, envelope, is_decided, is_field, next_message, separator};
use super::{AtEof, babyl, emlx_line, mmdf, news};
use crate::decode::is_utf16;
use crate::documents::DocumentKind;
use crate::lines::{begins_with, is_listed, run_len};
use urlspool_sources::packed_news_batch::packed_news_batch;
use urlspool_text::diagnostic::SkipReason;
use urlspool_text::limits::SNIFF_BYTES;
use urlspool_text::origin::{FormatHint, SourceKind};

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
    pub(super) fn holds_several(self) -> bool {
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
pub(super) fn sniff(start: &[u8], hint: FormatHint) -> Result<Format, SkipReason> {
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
pub(super) fn begins_several(start: &[u8]) -> bool {
    let text = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    let text = &text[blank_lines(text)..];
    magic(start).is_none()
        && (separator(text, 0) && is_decided(text, 0, AtEof::No)
            || marked_format(start).is_some_and(Format::holds_several))
}

/// Returns the format of an mbox whose first bytes are `start`: with or without Content-Length
/// fields.
pub(super) fn mbox_format(start: &[u8]) -> Format {
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
        let message = &start[emlx_line(start)?.bytes..];
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
    pub(super) fn of(start: &[u8]) -> LineEnds {
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
pub(super) fn cr_to_lf(bytes: &mut [u8]) {
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
