//! Binary files encoded within text, as before MIME: uuencode, yEnc, `BinHex`. They are not
//! searched for URLs.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::span::Span;

/// Minimum number of lines in the form of uuencode for a block without an end line.
const MIN_LINES: usize = 2;

/// The ranges of encoded binary files in a text, from first line to last. Linear.
#[must_use]
pub(super) fn blocks(text: &[u8]) -> Vec<Span> {
    let mut blocks: Vec<Span> = Vec::new();
    let mut open_ended = false;
    for BlockStart { at: start, format } in starts(text) {
        let inside = blocks.last().is_some_and(|block| start < block.end);
        // If one block has no end line, no later block of a format that needs one has it. This
        // keeps the time linear.
        if inside || (open_ended && format.needs_end()) {
            continue;
        }
        match format.end(text, line_end(text, start)) {
            Some(end) => blocks.push(Span::new(start, end)),
            None => open_ended |= format.needs_end(),
        }
    }
    blocks
}

/// Finds part of the first line of a uuencoded or yEnc block.
static BEGIN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"begin "));

/// Finds the line before a `BinHex` block.
static BINHEX: LazyLock<Finder<'static>> =
    LazyLock::new(|| Finder::new(b"(This file must be converted"));

/// A line that may begin a block.
struct BlockStart {
    /// Offset of the line.
    at: usize,
    format: BinaryFormat,
}

/// The lines that may begin a block, in order.
fn starts(text: &[u8]) -> Vec<BlockStart> {
    let at_line = |at: usize| at == 0 || text[at - 1] == b'\n';
    let mut starts = Vec::new();
    for at in BEGIN.find_iter(text) {
        let yenc = at
            .checked_sub(2)
            .filter(|&at| text[at..].starts_with(b"=y"));
        let (at, format) = yenc.map_or((at, BinaryFormat::Uuencode), |at| (at, BinaryFormat::Yenc));
        if at_line(at) && format.begins(&text[at..]) {
            starts.push(BlockStart { at, format });
        }
    }
    let binhex = BINHEX.find_iter(text).filter(|&at| at_line(at));
    starts.extend(binhex.map(|at| BlockStart {
        at,
        format: BinaryFormat::BinHex,
    }));
    starts.sort_unstable_by_key(|start| start.at);
    starts
}

/// An encoding of binary files as text.
#[derive(Clone, Copy)]
enum BinaryFormat {
    Uuencode,
    Yenc,
    BinHex,
}

fn line_end(text: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end + 1)
}

impl BinaryFormat {
    /// Returns `true` if a block of this format ends at an end line only.
    fn needs_end(self) -> bool {
        !matches!(self, BinaryFormat::Uuencode)
    }

    /// Returns `true` if a line is the first of a block.
    fn begins(self, line: &[u8]) -> bool {
        match self {
            // `begin 644 name`
            BinaryFormat::Uuencode => {
                line.len() > 10
                    && line[6..9].iter().all(|byte| (b'0'..=b'7').contains(byte))
                    && (line[9] == b' ' || (line[9].is_ascii_digit() && line[10] == b' '))
            }
            BinaryFormat::Yenc => {
                memchr::memmem::find(&line[..line_end(line, 0)], b" name=").is_some()
            }
            BinaryFormat::BinHex => true,
        }
    }

    /// The end of the block whose first line ends at `at`; `None` if it is no block.
    fn end(self, text: &[u8], at: usize) -> Option<usize> {
        let mut at = at;
        let mut lines = 0;
        while at < text.len() {
            let end = line_end(text, at);
            let line = text[at..end].trim_ascii_end();
            match self {
                BinaryFormat::Uuencode if line == b"end" => return (lines >= 1).then_some(end),
                BinaryFormat::Uuencode if !(is_uu(line) || line.is_empty() || line == b"`") => {
                    break;
                }
                BinaryFormat::Yenc if line.starts_with(b"=yend ") => return Some(end),
                BinaryFormat::BinHex if line.is_empty() => {}
                BinaryFormat::BinHex
                    if lines == 0 && !line.starts_with(b":") || !is_binhex(line) =>
                {
                    break;
                }
                BinaryFormat::BinHex if line.ends_with(b":") && line.len() > 1 => return Some(end),
                // A line with many blanks was written by a person.
                BinaryFormat::Yenc
                    if line.iter().take(128).filter(|byte| **byte == b' ').count() > 8 =>
                {
                    break;
                }
                _ => {}
            }
            lines += usize::from(!line.is_empty());
            at = end;
        }
        // A truncated block ends after the last line in its format.
        (lines >= MIN_LINES && matches!(self, BinaryFormat::Uuencode)).then_some(at)
    }
}

/// Returns `true` if a line consists of at most 64 characters of `BinHex` 4.0.
fn is_binhex(line: &[u8]) -> bool {
    line.len() <= 64
        && line.iter().all(|byte| {
            b"!\"#$%&'()*+,-012345689@ABCDEFGHIJKLMNPQRSTUVXYZ[`abcdefhijklmpqr:".contains(byte)
        })
}

/// Returns `true` if a line is uuencoded: its first character is the number of bytes, and each
/// three of them are four characters.
fn is_uu(line: &[u8]) -> bool {
    let Some(&first) = line.first() else {
        return false;
    };
    if !(b' '..=b'`').contains(&first) || !line.iter().all(|byte| (b' '..=b'`').contains(byte)) {
        return false;
    }
    let bytes = usize::from((first - b' ') & 0x3F);
    let expected = 1 + bytes.div_ceil(3) * 4;
    // Blanks at the end may be lost, and some writers add a checksum.
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
        assert_eq!(&text[found[0].end..], b"after\n");
    }

    #[test]
    fn a_truncated_file_ends_where_text_begins() {
        let text = b"begin 644 x\n#0V%T\n#0V%T\nhttp://a.example/ is text\n";
        let found = blocks(text);
        assert_eq!(found.len(), 1);
        assert!(text[found[0].end..].starts_with(b"http"));
    }

    #[test]
    fn prose_that_begins_like_a_block_is_text() {
        assert_eq!(blocks(b"(This file must be converted with care)\nSee http://a.example/ ok\nand reply to:\n"), []);
        assert_eq!(blocks(b"begin 644 times\nand http://a.example/ more\n"), []);
        assert_eq!(blocks(b"begin here\nx\nend\n"), []);
        assert_eq!(blocks(b"=ybegin is a word\n"), []);
    }

    #[test]
    fn yenc_ends_at_its_end_line() {
        let text = b"=ybegin line=128 size=3 name=x\n\x93\x9a://x\n=yend size=3\nafter";
        assert_eq!(&text[blocks(text)[0].end..], b"after");
    }
}
