//! Files encoded within text, as was usual before MIME: uuencode, base64 between marker lines, and
//! yEnc. `BinHex` stays text, because no URL can occur in its alphabet.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::MappedBytes;
use super::transfer::TransferEncoding;
use crate::lines::{first_line, is_line_start, line_end};
use urlspool_text::span::Span;

/// Minimum number of uuencoded lines for a block without an end line.
const MIN_LINES: usize = 2;

/// A file within a text.
pub(super) struct BinaryBlock {
    /// Range from the first line to the last.
    pub(super) span: Span,
    /// Encoding, if the file may hold text.
    pub(super) encoding: Option<TransferEncoding>,
}

/// Finds part of the first line of a uuencoded, base64 or yEnc block.
static BEGIN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"begin"));

/// Start of the first line of a block in base64 (POSIX `uuencode -m`).
const BASE64: &[u8] = b"begin-base64 ";

/// Returns the encoded files in a text. Linear.
#[must_use]
pub(super) fn blocks(text: &[u8]) -> Vec<BinaryBlock> {
    let mut blocks: Vec<BinaryBlock> = Vec::new();
    let mut open_ended = false;
    for begin in BEGIN.find_iter(text) {
        let (start, encoding) = match &text[begin..] {
            _ if text[..begin].ends_with(b"=y") => (begin - 2, None),
            rest if rest.starts_with(BASE64) => (begin, Some(TransferEncoding::Base64)),
            _ => (begin, Some(TransferEncoding::Uuencode)),
        };
        let inside = blocks.last().is_some_and(|block| start < block.span.end);
        // If one block has no end line, no later block that needs an end line can have one.
        // Skipping those keeps the time linear.
        let is_yenc = encoding.is_none();
        if inside
            || open_ended && is_yenc
            || !(is_line_start(text, start) && begins(encoding, &text[start..]))
        {
            continue;
        }
        match block_end(encoding, text, line_end(text, start)) {
            Some(end) => blocks.push(BinaryBlock {
                span: Span::new(start, end),
                encoding,
            }),
            None => open_ended |= is_yenc,
        }
    }
    blocks
}

/// Returns `true` if a line is the first of a block: of uuencode, of base64, or else of yEnc.
fn begins(encoding: Option<TransferEncoding>, line: &[u8]) -> bool {
    match encoding {
        // `begin 644 name`
        Some(TransferEncoding::Uuencode) => {
            line.len() > 10
                && line[5] == b' '
                && line[6..9].iter().all(|byte| (b'0'..=b'7').contains(byte))
                && (line[9] == b' ' || (line[9].is_ascii_digit() && line[10] == b' '))
        }
        Some(_) => true,
        None => memchr::memmem::find(&line[..line_end(line, 0)], b" name=").is_some(),
    }
}

/// Returns the end of the block whose first line ends at `at`, or `None` if it is not a block.
fn block_end(encoding: Option<TransferEncoding>, text: &[u8], mut at: usize) -> Option<usize> {
    use TransferEncoding::{Base64, Uuencode};
    let mut lines = 0;
    while at < text.len() {
        let end = line_end(text, at);
        let line = text[at..end].trim_ascii_end();
        match encoding {
            Some(Uuencode) if line == b"end" => return (lines >= 1).then_some(end),
            Some(Uuencode) if !(is_uu(line) || line.is_empty() || line == b"`") => break,
            Some(Base64) if line == b"====" => return Some(end),
            Some(Base64) if !is_base64(line) => break,
            None if line.starts_with(b"=yend ") => return Some(end),
            // A person wrote a line with many blanks.
            None if line.iter().take(128).filter(|byte| **byte == b' ').count() > 8 => break,
            _ => {}
        }
        lines += usize::from(!line.is_empty());
        at = end;
    }
    // A truncated block ends after the last line in its format.
    (lines >= MIN_LINES && encoding == Some(Uuencode)).then_some(at)
}

/// Returns `true` if a line consists of base64 digits.
pub(super) fn is_base64(line: &[u8]) -> bool {
    line.iter()
        .all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte))
}

/// Decodes uuencode (POSIX): the lines after the first one that starts with `begin `, up to `end`.
/// Decodes all lines if there is no `begin `.
#[must_use]
pub(super) fn uudecode(raw: &[u8]) -> MappedBytes {
    let mut text = MappedBytes::with_capacity(raw.len() / 4 * 3);
    let first = first_line(raw).starts_with(b"begin ").then_some(0);
    let begin = first.or_else(|| memchr::memmem::find(raw, b"\nbegin ").map(|end| end + 1));
    let mut at = begin.map_or(0, |begin| line_end(raw, begin));
    while at < raw.len() {
        let end = line_end(raw, at);
        let line = raw[at..end].trim_ascii_end();
        if line == b"end" {
            break;
        }
        if is_uu(line) {
            let mut left = usize::from((line[0] - b' ') & 0x3F);
            for (group, from) in line[1..].chunks(4).zip((at + 1..).step_by(4)) {
                let six = |index: usize| group.get(index).map_or(0, |byte| (byte - b' ') & 0x3F);
                let bytes = [
                    six(0) << 2 | six(1) >> 4,
                    six(1) << 4 | six(2) >> 2,
                    six(2) << 6 | six(3),
                ];
                let len = left.min(bytes.len());
                left -= len;
                if len > 0 {
                    text.push(&bytes[..len], from..from + group.len());
                }
            }
        }
        at = end;
    }
    text.ended(raw)
}

/// Returns `true` if a line is uuencoded: the first character is the number of bytes, and each
/// group of three bytes takes four characters.
fn is_uu(line: &[u8]) -> bool {
    let Some(&first) = line.first() else {
        return false;
    };
    if !line.iter().all(|byte| (b' '..=b'`').contains(byte)) {
        return false;
    }
    let bytes = usize::from((first - b' ') & 0x3F);
    let expected = 1 + bytes.div_ceil(3) * 4;
    // Trailing blanks may be lost, and some writers add a checksum.
    bytes > 0 && line.len() <= expected + 1 && line.len() + 4 >= expected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuencoded_files_are_found() {
        let text = b"see http://a.example/\nbegin 644 x\n#0V%T\n#0V%T\n`\nend\nafter\n";
        let found = blocks(text);
        assert_eq!(found.len(), 1);
        assert_eq!(&text[found[0].span.end..], b"after\n");
        assert_eq!(uudecode(found[0].span.of(text)).bytes, b"CatCat");
    }

    #[test]
    fn a_truncated_file_ends_before_the_text() {
        let text = b"begin 644 x\n#0V%T\n#0V%T\nhttp://a.example/ is text\n";
        let found = blocks(text);
        assert_eq!(found.len(), 1);
        assert!(text[found[0].span.end..].starts_with(b"http"));
    }

    #[test]
    fn prose_that_looks_like_a_block_is_text() {
        assert!(blocks(b"begin 644 times\nand http://a.example/ more\n").is_empty());
        assert!(blocks(b"begin here\nx\nend\n").is_empty());
        assert!(blocks(b"=ybegin is a word\n").is_empty());
        let text = b"begin-base64 644 x\nhttp://a.example/\n====\nbegin-base64 644 y\nQUJD\n====\n";
        let found = blocks(text);
        assert!(found.len() == 1 && found[0].span.of(text).starts_with(b"begin-base64 644 y"));
    }

    #[test]
    fn yenc_ends_at_its_end_line() {
        let text = b"=ybegin line=128 size=3 name=x\n\x93\x9a://x\n=yend size=3\nafter";
        assert_eq!(&text[blocks(text)[0].span.end..], b"after");
    }
}
