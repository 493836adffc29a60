//! Binary files that were pasted into text before MIME: uuencode, yEnc, `BinHex`. Their noise is not searched.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::span::Span;

/// LineLayout of a block that must look like its encoding before it is believed.
const PROOF_LINES: usize = 2;

/// The blocks of encoded binary files in a text, from their first line to their last. Linear.
#[must_use]
pub(super) fn blocks(text: &[u8]) -> Vec<Span> {
    let mut blocks: Vec<Span> = Vec::new();
    let mut open_ended = false;
    for (start, encoding) in starts(text) {
        let inside = blocks.last().is_some_and(|block| start < block.end);
        // Where one block had no end line, a later one of the kind that needs it has none either.
        if inside || (open_ended && encoding.needs_end()) {
            continue;
        }
        match encoding.end(text, line_end(text, start)) {
            Some(end) => blocks.push(Span::new(start, end)),
            None => open_ended |= encoding.needs_end(),
        }
    }
    blocks
}

/// Finds what stands in the first line of a uuencoded or yEnc block.
static BEGIN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"begin "));

/// Finds the line above a `BinHex` block.
static BINHEX: LazyLock<Finder<'static>> =
    LazyLock::new(|| Finder::new(b"(This file must be converted"));

/// The lines that can begin a block, in order.
fn starts(text: &[u8]) -> Vec<(usize, Encoding)> {
    let at_line = |at: usize| at == 0 || text[at - 1] == b'\n';
    let mut starts = Vec::new();
    for at in BEGIN.find_iter(text) {
        let yenc = at
            .checked_sub(2)
            .filter(|&at| text[at..].starts_with(b"=y"));
        let (at, encoding) = yenc.map_or((at, Encoding::Uuencode), |at| (at, Encoding::Yenc));
        if at_line(at) && encoding.begins(&text[at..]) {
            starts.push((at, encoding));
        }
    }
    let binhex = BINHEX.find_iter(text).filter(|&at| at_line(at));
    starts.extend(binhex.map(|at| (at, Encoding::BinHex)));
    starts.sort_unstable_by_key(|(at, _)| *at);
    starts
}

#[derive(Clone, Copy)]
enum Encoding {
    Uuencode,
    Yenc,
    BinHex,
}

fn line_end(text: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end + 1)
}

impl Encoding {
    /// Whether nothing but its last line tells where a block ends.
    fn needs_end(self) -> bool {
        !matches!(self, Encoding::Uuencode)
    }

    /// Whether a line is the first of a block.
    fn begins(self, line: &[u8]) -> bool {
        match self {
            // `begin 644 name`
            Encoding::Uuencode => {
                line.len() > 10
                    && line[6..9].iter().all(|byte| (b'0'..=b'7').contains(byte))
                    && (line[9] == b' ' || (line[9].is_ascii_digit() && line[10] == b' '))
            }
            Encoding::Yenc => memchr::memmem::find(&line[..line_end(line, 0)], b" name=").is_some(),
            Encoding::BinHex => true,
        }
    }

    /// Where the block whose first line ends at `at` ends, if it is one.
    fn end(self, text: &[u8], at: usize) -> Option<usize> {
        let mut at = at;
        let mut lines = 0;
        while at < text.len() {
            let end = line_end(text, at);
            let line = text[at..end].trim_ascii_end();
            match self {
                Encoding::Uuencode if line == b"end" => return (lines >= 1).then_some(end),
                Encoding::Uuencode if !(is_uu(line) || line.is_empty() || line == b"`") => break,
                Encoding::Yenc if line.starts_with(b"=yend ") => return Some(end),
                Encoding::BinHex if line.is_empty() => {}
                Encoding::BinHex if lines == 0 && !line.starts_with(b":") || !is_binhex(line) => {
                    break;
                }
                Encoding::BinHex if line.ends_with(b":") && line.len() > 1 => return Some(end),
                // What a person writes has blanks.
                Encoding::Yenc
                    if line.iter().take(128).filter(|byte| **byte == b' ').count() > 8 =>
                {
                    break;
                }
                _ => {}
            }
            lines += usize::from(!line.is_empty());
            at = end;
        }
        // A block that was cut off is one still, as far as its lines look like it.
        (lines >= PROOF_LINES && matches!(self, Encoding::Uuencode)).then_some(at)
    }
}

/// Whether a line holds nothing but `BinHex` 4.0's characters, at most 64 of them.
fn is_binhex(line: &[u8]) -> bool {
    line.len() <= 64
        && line.iter().all(|byte| {
            b"!\"#$%&'()*+,-012345689@ABCDEFGHIJKLMNPQRSTUVXYZ[`abcdefhijklmpqr:".contains(byte)
        })
}

/// Whether a line is uuencoded: its first character says how many bytes follow, four characters for three of them.
fn is_uu(line: &[u8]) -> bool {
    let Some(&first) = line.first() else {
        return false;
    };
    if !(b' '..=b'`').contains(&first) || !line.iter().all(|byte| (b' '..=b'`').contains(byte)) {
        return false;
    }
    let octets = usize::from((first - b' ') & 0x3F);
    let expected = 1 + octets.div_ceil(3) * 4;
    // Blanks at the end may have been lost, and some writers add a checksum.
    octets > 0 && line.len() <= expected + 1 && line.len() + 4 >= expected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuencoded_files_are_passed_over() {
        let text = b"see http://a.example/\nbegin 644 x\n#0V%T\n#0V%T\n`\nend\nafter\n";
        let found = blocks(text);
        assert_eq!(found.len(), 1);
        assert_eq!(&text[found[0].end..], b"after\n");
    }

    #[test]
    fn a_file_that_was_cut_off_ends_where_text_begins() {
        let text = b"begin 644 x\n#0V%T\n#0V%T\nhttp://a.example/ is text\n";
        let found = blocks(text);
        assert_eq!(found.len(), 1);
        assert!(text[found[0].end..].starts_with(b"http"));
    }

    #[test]
    fn prose_that_begins_so_is_text() {
        assert_eq!(blocks(b"(This file must be converted with care)\nSee http://a.example/ ok\nand reply to:\n"), []);
        assert_eq!(blocks(b"begin 644 times\nand http://a.example/ more\n"), []);
        assert_eq!(blocks(b"begin here\nx\nend\n"), []);
        assert_eq!(blocks(b"=ybegin is a word\n"), []);
    }

    #[test]
    fn yenc_goes_to_its_end_line() {
        let text = b"=ybegin line=128 size=3 name=x\n\x93\x9a://x\n=yend size=3\nafter";
        assert_eq!(&text[blocks(text)[0].end..], b"after");
    }
}
