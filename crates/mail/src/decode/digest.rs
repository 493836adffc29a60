//! Canonical form of a message, and its digest. Both are equal in every storage format.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use twox_hash::XxHash3_128;

use super::header::HeaderFields;
use crate::lines::{end_run_len, is_line_end, is_line_start};
use crate::split::{Extent, HeaderForm, Message};
use urlspool_text::byte_scan::ByteOffsets;
use urlspool_text::origin::SourceKind;
use urlspool_text::span::Span;

/// Number of body bytes covered by a digest that does not cover the whole body.
const START_BYTES: usize = 64 << 10;

/// Returns the XXH3 hash (128 bits) of a message's canonical form. The form consists of the header
/// without its changing fields, and the body. Line ends are LF, dot-stuffing is removed, `>From `
/// is unquoted in an mbox, and the `From ` line and the final line ends are left out. If
/// [`covers_all`] is false, only the first 64 KiB of the body count.
///
/// A message has the same digest in a Maildir, a news spool or an mbox. Anybody can make two
/// messages with one digest, so no decision relies on it. Linear.
#[must_use]
pub fn digest(message: &Message<'_>, fields: &HeaderFields) -> u128 {
    let mut hash = XxHash3_128::new();
    digested(message, fields, &mut |bytes| hash.write(bytes));
    hash.finish_128()
}

/// Passes the bytes hashed by [`digest`] to `put`, in pieces.
pub fn digested(message: &Message<'_>, fields: &HeaderFields, put: &mut dyn FnMut(&[u8])) {
    let body_bytes = if covers_all(message) {
        usize::MAX
    } else {
        START_BYTES
    };
    canonical(message, fields, body_bytes, put);
}

/// Returns `true` if the digest covers the whole message: two versions then have two digests.
///
/// A message read in fragments has records before its end is known. A text without a header can be
/// a log that grows line by line: the state keeps each digest that it had.
#[must_use]
pub fn covers_all(message: &Message<'_>) -> bool {
    message.extent == Extent::Whole && message.header != HeaderForm::Absent
}

/// Returns the length of the prefix of `raw` that the digest covers at least.
#[must_use]
pub fn digested_bytes(message: &Message<'_>) -> usize {
    match message.extent {
        Extent::LaterFragment(_) => 0,
        _ if covers_all(message) => message.raw.len(),
        _ => message.raw.len().min(START_BYTES),
    }
}

/// Passes the canonical form of a message to `put`, in pieces: the header, and the first
/// `body_bytes` of the body.
pub fn canonical(
    message: &Message<'_>,
    fields: &HeaderFields,
    body_bytes: usize,
    put: &mut dyn FnMut(&[u8]),
) {
    if matches!(
        message.header,
        HeaderForm::Absent | HeaderForm::Page | HeaderForm::Document(_) | HeaderForm::ANews
    ) {
        body(message, message.raw, body_bytes, put);
        return;
    }
    header(message.raw, fields, put);
    put(b"\n");
    body(message, &message.raw[fields.body..], body_bytes, put);
}

/// Passes the lines of unchanging fields to `put`, adjacent fields as one piece.
fn header(raw: &[u8], fields: &HeaderFields, put: &mut dyn FnMut(&[u8])) {
    let mut run = Span::default();
    for field in fields.all.iter().filter(|field| !field.roles.is_changing) {
        if !run.is_empty() && raw[run.end..field.name.start] == *b"\n" {
            run.end = field.value.end;
            continue;
        }
        lines(run.of(raw), put);
        run = Span::new(field.name.start, field.value.end.max(field.name.end));
    }
    lines(run.of(raw), put);
}

/// Finds quoted `From ` lines.
static QUOTED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b">From "));

/// Finds stuffed dots.
static STUFFED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\n.."));

/// Passes the first `max_bytes` of a body to `put`, without bytes added by storage.
fn body(message: &Message<'_>, raw: &[u8], max_bytes: usize, put: &mut dyn FnMut(&[u8])) {
    let end = raw.len() - end_run_len(raw, is_line_end);
    // At least half of each line is kept, so three times as many bytes are enough.
    let raw = &raw[..end.min(max_bytes.saturating_mul(3))];
    let first_dot = (message.wire && raw.starts_with(b"..")).then_some(0);
    let has_quotes = message.kind == SourceKind::Mbox;
    let dots = STUFFED.find_iter(if message.wire { raw } else { b"" });
    let quotes = QUOTED.find_iter(if has_quotes { raw } else { b"" });
    let mut quotes = quotes.filter_map(|at| quoted_line(raw, at)).peekable();
    let dots = first_dot.into_iter().chain(dots.map(|at| at + 1));
    let mut dots = dots.peekable();
    let (mut from, mut room) = (0, max_bytes);
    while room > 0 && from < raw.len() {
        let omitted = [dots.peek(), quotes.peek()];
        let omitted = omitted.into_iter().flatten().min().copied();
        room -= lf_lines(&raw[from..omitted.unwrap_or(raw.len())], room, put);
        from = omitted.map_or(raw.len(), |at| at + 1);
        let _ = dots.next_if(|at| *at < from);
        let _ = quotes.next_if(|at| *at < from);
    }
}

/// Passes the first `max_bytes` of a text with LF line ends to `put`. Returns their number.
fn lf_lines(text: &[u8], max_bytes: usize, put: &mut dyn FnMut(&[u8])) -> usize {
    let mut room = max_bytes;
    // Most texts have no CR.
    let first = memchr::memchr(b'\r', text).unwrap_or(text.len());
    let returns = ByteOffsets::new(&text[first..], b'\r').map(|at| first + at);
    let line_ends = returns.filter(|&at| text.get(at + 1) == Some(&b'\n'));
    put_without(text, line_ends, &mut |bytes| {
        let bytes = &bytes[..bytes.len().min(room)];
        room -= bytes.len();
        put(bytes);
    });
    max_bytes - room
}

/// Passes a text without the bytes at `removed` to `put`. Joins short pieces, because a call of
/// `put` takes longer than a copy.
fn put_without(text: &[u8], removed: impl Iterator<Item = usize>, put: &mut dyn FnMut(&[u8])) {
    const JOINED_BYTES: usize = 1 << 10;
    let (mut joined, mut len, mut from) = ([0; JOINED_BYTES], 0, 0);
    removed.chain([text.len()]).for_each(|end| {
        let piece = &text[from..end];
        from = end + 1;
        if let Some(room) = joined[len..].get_mut(..piece.len()) {
            room.copy_from_slice(piece);
            len += piece.len();
        } else {
            put(&joined[..len]);
            put(piece);
            len = 0;
        }
    });
    put(&joined[..len]);
}

/// Returns the start of the line with `>From ` at `at`, or `None` if bytes other than `>` precede
/// it.
fn quoted_line(raw: &[u8], at: usize) -> Option<usize> {
    let start = at - end_run_len(&raw[..at], |byte| byte == b'>');
    is_line_start(raw, start).then_some(start)
}

/// Passes whole lines with LF line ends to `put`, and ends the last line if needed. Passes no bytes
/// if `text` is empty.
fn lines(text: &[u8], put: &mut dyn FnMut(&[u8])) {
    if text.is_empty() {
        return;
    }
    let mut rest = text;
    while let Some(cr) = memchr::memchr(b'\r', rest) {
        put(&rest[..cr]);
        rest = &rest[cr + 1..];
    }
    put(rest);
    put(b"\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::{Format, FragmentHead};
    use std::sync::Arc;

    /// Digests must be equal on every processor, but the hash has one implementation per
    /// instruction set. The expected values come from the reference implementation, xxHash 0.8.4.
    #[test]
    fn the_hash_agrees_with_the_reference() {
        let answers = "
            0 2d06800538d394c2 99aa06d3014798d86001c324468d497f
            17 6331a7347274566f eb9ec83d311dd7b9f93b0dc5a4c7b5ca
            129 619dc1115e4d15ad f733a22c53d6dc891fe4dc1117a27928
            240 880604936179a23b 56ff1d158ba3c8736c008b716a0a3e3e
            241 f6eccceb68535f08 606fcedabb00503df6eccceb68535f08
            1024 df9de2ebc1670ac5 001103a186177873df9de2ebc1670ac5
            100000 76cc51f13275c3eb 4a7c78033dbfcf0776cc51f13275c3eb";
        for row in answers.lines().skip(1) {
            let mut numbers = row.split_whitespace();
            let len: u64 = numbers.next().unwrap().parse().unwrap();
            let mut hash = || u128::from_str_radix(numbers.next().unwrap(), 16).unwrap();
            let (short, long) = (hash() as u64, hash());
            let text: Vec<u8> = (0..len)
                .map(|at| ((at * at * 31 + at * 7 + len) & 255) as u8)
                .collect();
            assert_eq!(twox_hash::XxHash3_64::oneshot(&text), short, "{len}");
            assert_eq!(XxHash3_128::oneshot(&text), long, "{len}");
        }
    }

    fn of(raw: &str, kind: SourceKind, wire: bool) -> u128 {
        let message = Message {
            raw: raw.as_bytes(),
            start: 0,
            envelope: 0,
            kind,
            header: HeaderForm::Present,
            wire,
            extent: Extent::Whole,
            unpacked_times: 0,
            page: None,
        };
        digest(&message, &HeaderFields::of(message.raw, usize::MAX))
    }

    #[test]
    fn a_message_has_the_same_digest_in_each_storage_format() {
        let maildir = of("A: b\n c\n\n.x\nFrom y\n", SourceKind::Maildir, false);
        assert_eq!(
            of(
                "A: b\r\n c\r\n\r\n.x\r\nFrom y\r\n",
                SourceKind::Maildir,
                false
            ),
            maildir
        );
        assert_eq!(
            of(
                "A: b\n c\nStatus: RO\nX-IMAPbase: 1\n\n.x\n>From y\n\n",
                SourceKind::Mbox,
                false
            ),
            maildir
        );
        assert_eq!(
            of(
                "Path: z!y\r\nA: b\r\n c\r\n\r\n..x\r\nFrom y\r\n",
                SourceKind::News,
                true
            ),
            maildir
        );
        assert_ne!(
            of("A: b\n c\n\n.x\nFrom z\n", SourceKind::Maildir, false),
            maildir
        );
    }

    #[test]
    fn a_large_body_has_one_digest_with_lf_and_crlf_and_counts_to_its_end() {
        let start = format!("A: b\n\n{}", "0123456789\n".repeat(10_000));
        let of_whole = |text: &str| of(text, SourceKind::Message, false);
        let crlf = start.replace('\n', "\r\n");
        assert_eq!(of_whole(&start), of_whole(&crlf));
        assert_ne!(of_whole(&start), of_whole(&format!("{start}x")));
        let of_text = |raw: &str| digest(&Message::text(raw.as_bytes()), &HeaderFields::default());
        assert_eq!(of_text(&start), of_text(&crlf));
        assert_eq!(of_text(&start), of_text(&format!("{start}x")));
        assert_ne!(of_text(&start), of_text(&start[1..]));
    }

    #[test]
    fn the_fragments_of_a_message_have_the_digest_of_its_start() {
        let start = format!("A: b\n\n{}", "0123456789\n".repeat(10_000));
        let first = Message {
            extent: Extent::FirstFragment,
            ..Message::parse(start.as_bytes())
        };
        let head = FragmentHead {
            start: 0,
            line_ends: 0,
            head: Arc::new(start.as_bytes()[..80_000].to_vec()),
            format: Format::Single(first.kind),
        };
        let fields = HeaderFields::of(first.raw, usize::MAX);
        let of_head = digest(&head.message(), &fields);
        assert_eq!(digest(&first, &fields), of_head);
    }

    /// Simple twin of `body`: line by line.
    fn line_by_line(raw: &str, kind: SourceKind, wire: bool) -> Vec<u8> {
        let mut text = String::new();
        for line in raw.split_inclusive('\n') {
            let line = if wire && line.starts_with("..") {
                &line[1..]
            } else {
                line
            };
            let is_quoted = kind == SourceKind::Mbox
                && line.starts_with('>')
                && line.trim_start_matches('>').starts_with("From ");
            let line = if is_quoted { &line[1..] } else { line };
            text.push_str(&line.replace("\r\n", "\n"));
        }
        text.into_bytes()
    }

    proptest::proptest! {
        #[test]
        fn bytes_that_storage_added_are_omitted(
            pieces in proptest::collection::vec(proptest::sample::select(vec![
                "\r", "\n", "\r\n", ">", ">From ", "From ", ".", "..", "a",
            ]), 0..30),
            wire: bool,
            max_bytes in 0..60usize,
        ) {
            let text = pieces.concat();
            let kind = if wire { SourceKind::News } else { SourceKind::Mbox };
            let raw = text.as_bytes();
            let (header, extent) = (HeaderForm::Absent, Extent::Whole);
            let message = Message {
                raw, start: 0, envelope: 0, kind, header, wire, extent, unpacked_times: 0,
                page: None,
            };
            let put = |max_bytes| {
                let mut kept = Vec::new();
                body(&message, raw, max_bytes, &mut |bytes| kept.extend_from_slice(bytes));
                kept
            };
            let counted = text.trim_end_matches(['\n', '\r']);
            proptest::prop_assert_eq!(put(usize::MAX), line_by_line(counted, kind, wire));
            let mut first = line_by_line(&counted[..counted.len().min(max_bytes * 3)], kind, wire);
            first.truncate(max_bytes);
            proptest::prop_assert_eq!(put(max_bytes), first);
        }
    }
}
