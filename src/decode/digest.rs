//! What makes a message itself, wherever it is kept.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use twox_hash::XxHash3_128;

use super::header::HeaderFields;
use crate::origin::SourceKind;
use crate::span::Span;
use crate::split::{HeaderForm, Message};

/// Bytes of the body that count.
const BODY_BYTES: usize = 64 << 10;

/// XXH3 (128 bits) of a message: its header fields except the changing ones, and the first 64 KiB of its body, with
/// LF line ends, dots un-stuffed, `>From ` un-quoted in an mbox, and without the `From ` line or line ends at the end.
///
/// The same message in a Maildir, a spool and an mbox has the same digest. Linear, allocates only where bytes differ
/// from what is hashed.
#[must_use]
pub fn digest(message: &Message<'_>, fields: &HeaderFields) -> u128 {
    let mut hash = XxHash3_128::new();
    canonical(message, fields, BODY_BYTES, &mut |octets| {
        hash.write(octets)
    });
    hash.finish_128()
}

/// Gives what makes a message itself to `put`, piece by piece: what [`digest`] hashes, with the first `body_bytes` of
/// the body.
pub fn canonical(
    message: &Message<'_>,
    fields: &HeaderFields,
    body_bytes: usize,
    put: &mut dyn FnMut(&[u8]),
) {
    if matches!(message.header, HeaderForm::Absent | HeaderForm::ANews) {
        body(message, message.raw, body_bytes, put);
        return;
    }
    header(message.raw, fields, put);
    put(b"\n");
    body(message, &message.raw[fields.body..], body_bytes, put);
}

/// Gives the lines of the fields that stay, neighbours at once where their bytes are what is given.
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

/// Finds quoted separators.
static QUOTED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b">From "));

/// Finds stuffed dots.
static STUFFED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\n.."));

/// Gives the first `most` bytes of a body, but for those that only its storage put there.
fn body(message: &Message<'_>, octets: &[u8], most: usize, put: &mut dyn FnMut(&[u8])) {
    let end = octets.len()
        - octets
            .iter()
            .rev()
            .take_while(|&&byte| matches!(byte, b'\n' | b'\r'))
            .count();
    // A line gives half of its bytes or more, so that three times as many hold all that count.
    let octets = &octets[..end.min(most.saturating_mul(3))];
    let first_dot = (message.wire && octets.starts_with(b"..")).then_some(0);
    let dots = message
        .wire
        .then(|| STUFFED.find_iter(octets))
        .into_iter()
        .flatten()
        .map(|at| at + 1);
    let quotes = (message.kind == SourceKind::Mbox)
        .then(|| QUOTED.find_iter(octets))
        .into_iter()
        .flatten();
    let mut quotes = quotes.filter_map(|at| quote(octets, at)).peekable();
    let mut dots = first_dot.into_iter().chain(dots).peekable();
    let (mut from, mut room) = (0, most);
    while room > 0 && from < octets.len() {
        let left_out = [dots.peek(), quotes.peek()]
            .into_iter()
            .flatten()
            .min()
            .copied();
        room -= lf_lines(&octets[from..left_out.unwrap_or(octets.len())], room, put);
        from = left_out.map_or(octets.len(), |at| at + 1);
        let is_passed = |at: &usize| *at < from;
        let _ = (dots.next_if(is_passed), quotes.next_if(is_passed));
    }
}

/// Gives the first `most` bytes of a text with LF line ends, and tells how many there were.
fn lf_lines(text: &[u8], most: usize, put: &mut dyn FnMut(&[u8])) -> usize {
    let carriages = memchr::memchr_iter(b'\r', text).filter(|&at| text.get(at + 1) == Some(&b'\n'));
    let (mut from, mut room) = (0, most);
    for end in carriages.chain([text.len()]) {
        let stays = &text[from..end];
        let stays = &stays[..stays.len().min(room)];
        put(stays);
        room -= stays.len();
        from = end + 1;
        if room == 0 {
            break;
        }
    }
    most - room
}

/// Where the line begins that holds `>From ` at `at`, if nothing but quotation marks stands before that.
fn quote(octets: &[u8], at: usize) -> Option<usize> {
    let start = at
        - octets[..at]
            .iter()
            .rev()
            .take_while(|&&byte| byte == b'>')
            .count();
    (start == 0 || octets[start - 1] == b'\n').then_some(start)
}

/// Gives whole lines with LF line ends, and one at the end. Nothing for no bytes.
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

    fn of(raw: &str, kind: SourceKind, wire: bool) -> u128 {
        let message = Message {
            raw: raw.as_bytes(),
            start: 0,
            envelope: 0,
            kind,
            header: HeaderForm::Present,
            wire,
            fragment_of: None,
        };
        digest(&message, &HeaderFields::of(message.raw, usize::MAX))
    }

    #[test]
    fn the_same_message_has_the_same_digest_wherever_it_is_kept() {
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
    fn line_ends_do_not_decide_where_the_first_64_kib_end() {
        let body = "0123456789\n".repeat(10_000);
        let lf = of(&format!("A: b\n\n{body}"), SourceKind::Message, false);
        let crlf = of(
            &format!("A: b\n\n{body}").replace('\n', "\r\n"),
            SourceKind::Message,
            false,
        );
        assert_eq!(lf, crlf);
    }

    /// Line by line, and far slower.
    fn line_by_line(octets: &str, kind: SourceKind, wire: bool) -> Vec<u8> {
        let mut text = String::new();
        for line in octets.split_inclusive('\n') {
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
        fn what_storage_put_there_is_left_out(
            pieces in proptest::collection::vec(proptest::sample::select(vec!["\r", "\n", "\r\n", ">", ">From ", "From ", ".", "..", "a"]), 0..30),
            wire: bool,
            most in 0..60usize,
        ) {
            let octets = pieces.concat();
            let kind = if wire { SourceKind::News } else { SourceKind::Mbox };
            let raw = octets.as_bytes();
            let message = Message { raw, start: 0, envelope: 0, kind, header: HeaderForm::Absent, wire, fragment_of: None };
            let put = |most| {
                let mut text = Vec::new();
                body(&message, raw, most, &mut |octets| text.extend_from_slice(octets));
                text
            };
            let counted = octets.trim_end_matches(['\n', '\r']);
            proptest::prop_assert_eq!(put(usize::MAX), line_by_line(counted, kind, wire));
            let mut first = line_by_line(&counted[..counted.len().min(most * 3)], kind, wire);
            first.truncate(most);
            proptest::prop_assert_eq!(put(most), first);
        }
    }
}
