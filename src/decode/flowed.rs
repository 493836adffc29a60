//! Undoes `format=flowed` (RFC 3676): stuffed blanks, and soft line breaks that delete their blank.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::MappedBytes;
use crate::span::ByteMap;

/// The parameter `DelSp` (RFC 3676 section 4.1): handling of the blank before a soft line break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DelSp {
    /// The blank stays: it separates words.
    No,
    /// The blank is deleted: it was added together with the line break.
    Yes,
}

/// Removes space-stuffing and, with `DelSp=yes`, soft line breaks.
///
/// A line that ends in a blank flows into the next line if that has the same quote depth (section
/// 4.5); `-- ` does not flow (section 4.3). The quote marks of a paragraph's first line stay, as
/// the sign of its depth.
///
/// With `DelSp=no` the blank before a soft line break stays, so that no URL written by the rules
/// goes over it. The line breaks are kept: they tell which URLs a program broke nevertheless.
///
/// `None` if the text stays as it is.
pub(super) fn unflow(text: &[u8], delsp: DelSp) -> Option<MappedBytes> {
    match delsp {
        DelSp::Yes => Some(joined(text)),
        DelSp::No => {
            let is_stuffed = text.starts_with(b" ") || STUFFED.find(text).is_some();
            is_stuffed.then(|| unstuffed(text))
        }
    }
}

/// Finds the line end before each stuffed line.
static STUFFED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\n "));

/// Removes the blank that stuffs a line (section 4.4), if no quote marks stand before it.
fn unstuffed(text: &[u8]) -> MappedBytes {
    let mut out = Vec::with_capacity(text.len());
    let mut map = ByteMap::new();
    let mut at = 0;
    while at < text.len() {
        let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end + 1);
        let start = at + usize::from(text[at] == b' ');
        map.push_same(out.len(), start);
        out.extend_from_slice(&text[start..end]);
        at = end;
    }
    map.push_same(out.len(), text.len());
    MappedBytes { bytes: out, map }
}

/// Removes soft line breaks with the blanks before them, and space-stuffing.
fn joined(text: &[u8]) -> MappedBytes {
    let mut out = Vec::with_capacity(text.len());
    let mut map = ByteMap::new();
    let mut flowing: Option<usize> = None;
    let mut at = 0;
    while at < text.len() {
        let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end + 1);
        let line = FlowedLine::of(&text[at..end]);
        let continues = flowing == Some(line.depth) && !line.is_signature();
        if !continues && flowing.is_some() && out.last() != Some(&b'\n') {
            // The last line of the paragraph had a soft break, but no line of its depth follows.
            out.push(b'\n');
        }
        if !continues {
            map.push_same(out.len(), at);
            out.extend_from_slice(&text[at..at + line.depth]);
            if line.depth > 0 && line.content.first().is_some_and(|&first| first != b' ') {
                map.push_same(out.len(), at + line.depth.saturating_sub(1));
                out.push(b' ');
            }
        }
        let flows = line.flows();
        let kept = line.content.len() - usize::from(flows);
        map.push_same(out.len(), at + line.start);
        out.extend_from_slice(&line.content[..kept]);
        flowing = flows.then_some(line.depth);
        if !flows {
            let line_end = at + line.start + line.content.len();
            map.push_same(out.len(), line_end);
            out.extend_from_slice(&text[line_end..end]);
        }
        at = end;
    }
    map.push_same(out.len(), text.len());
    MappedBytes { bytes: out, map }
}

/// A line of flowed text.
struct FlowedLine<'t> {
    /// Number of `>` at its start.
    depth: usize,
    /// Offset of its content: after the quote marks and the stuffed blank.
    start: usize,
    /// Its content, without its line end.
    content: &'t [u8],
}

impl<'t> FlowedLine<'t> {
    fn of(line: &'t [u8]) -> FlowedLine<'t> {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let depth = text.iter().take_while(|&&byte| byte == b'>').count();
        let start = depth + usize::from(text.get(depth) == Some(&b' '));
        FlowedLine {
            depth,
            start,
            content: &text[start..],
        }
    }

    fn is_signature(&self) -> bool {
        self.content == b"-- "
    }

    fn flows(&self) -> bool {
        self.content.ends_with(b" ") && !self.is_signature()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::Span;

    fn shown(text: &str, delsp: DelSp) -> String {
        let Some(MappedBytes { bytes: out, map }) = unflow(text.as_bytes(), delsp) else {
            return text.to_owned();
        };
        for at in 0..out.len() {
            let raw = map.raw(Span::new(at, at + 1));
            let same = raw.of(text.as_bytes()) == &out[at..=at];
            assert!(
                same || matches!(out[at], b' ' | b'\n'),
                "{at} of {:?}",
                String::from_utf8_lossy(&out)
            );
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn soft_breaks_join_lines_of_one_depth() {
        // RFC 3676 sections 4.1 and 4.5.
        assert_eq!(shown("one  \ntwo\nthree\n", DelSp::Yes), "one two\nthree\n");
        assert_eq!(
            shown("> one  \n> two\n>> three \nfour\n", DelSp::Yes),
            "> one two\n>> three\nfour\n"
        );
    }

    #[test]
    fn soft_breaks_that_keep_their_blank_stay() {
        assert_eq!(
            shown("one \ntwo\n> a \n> b\n", DelSp::No),
            "one \ntwo\n> a \n> b\n"
        );
    }

    #[test]
    fn deleted_blanks_join_long_words() {
        // RFC 3676 section 4.1: DelSp=yes.
        assert_eq!(
            shown("http://a.ex \nample/\n", DelSp::Yes),
            "http://a.example/\n"
        );
        assert_eq!(
            shown("> http://a.ex \r\n> ample/\r\n", DelSp::Yes),
            "> http://a.example/\r\n"
        );
    }

    #[test]
    fn stuffed_blanks_are_removed() {
        // RFC 3676 section 4.4.
        assert_eq!(
            shown("  two\n From x\n > no quote\n", DelSp::No),
            " two\nFrom x\n> no quote\n"
        );
    }

    #[test]
    fn the_signature_line_does_not_join_its_neighbours() {
        // RFC 3676 section 4.3.
        assert_eq!(shown("end \n-- \nname\n", DelSp::Yes), "end\n-- \nname\n");
    }
}
