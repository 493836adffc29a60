//! `format=flowed` (RFC 3676): paragraphs that were broken for the journey are made whole.

use crate::span::ByteMap;

/// What becomes of the blank at the end of a line that flows on (RFC 3676 section 4.1, `DelSp`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blank {
    /// It stays: it divides words.
    Kept,
    /// It goes: it was put there for the journey.
    Deleted,
}

/// Undoes soft line breaks and space-stuffing.
///
/// A line that ends in a blank flows into the next of the same quote depth (section 4.5); `-- ` does not (section
/// 4.3). The quote marks of a paragraph's first line stay, so that its depth can be told.
pub(super) fn unflow(text: &[u8], blank: Blank) -> (Vec<u8>, ByteMap) {
    let mut out = Vec::with_capacity(text.len());
    let mut map = ByteMap::new();
    let mut flowing: Option<usize> = None;
    let mut at = 0;
    while at < text.len() {
        let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end + 1);
        let line = Line::of(&text[at..end]);
        let goes_on = flowing == Some(line.depth) && !line.is_signature();
        if !goes_on && flowing.is_some() && out.last() != Some(&b'\n') {
            // The paragraph ended in a line that meant to flow.
            out.push(b'\n');
        }
        if !goes_on {
            map.push_same(out.len(), at);
            out.extend_from_slice(&text[at..at + line.depth]);
            if line.depth > 0 && line.content.first().is_some_and(|&first| first != b' ') {
                map.push_same(out.len(), at + line.depth.saturating_sub(1));
                out.push(b' ');
            }
        }
        let flows = line.flows();
        let drop = usize::from(flows && blank == Blank::Deleted);
        let kept = line.content.len() - drop;
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
    (out, map)
}

/// A line of flowed text.
struct Line<'t> {
    /// Number of `>` at its start.
    depth: usize,
    /// Where its content begins behind the marks and the stuffed blank.
    start: usize,
    /// Its content, without its line end.
    content: &'t [u8],
}

impl<'t> Line<'t> {
    fn of(line: &'t [u8]) -> Line<'t> {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let depth = text.iter().take_while(|&&byte| byte == b'>').count();
        let start = depth + usize::from(text.get(depth) == Some(&b' '));
        Line {
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

    fn shown(text: &str, blank: Blank) -> String {
        let (out, map) = unflow(text.as_bytes(), blank);
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
        assert_eq!(shown("one \ntwo\nthree\n", Blank::Kept), "one two\nthree\n");
        assert_eq!(
            shown("> one \n> two\n>> three \nfour\n", Blank::Kept),
            "> one two\n>> three \nfour\n"
        );
    }

    #[test]
    fn deleted_blanks_make_long_words_whole() {
        // RFC 3676 section 4.1: DelSp=yes.
        assert_eq!(
            shown("http://a.ex \nample/\n", Blank::Deleted),
            "http://a.example/\n"
        );
        assert_eq!(
            shown("> http://a.ex \r\n> ample/\r\n", Blank::Deleted),
            "> http://a.example/\r\n"
        );
    }

    #[test]
    fn stuffed_blanks_are_undone() {
        // RFC 3676 section 4.4.
        assert_eq!(
            shown("  two\n From x\n > no quote\n", Blank::Kept),
            " two\nFrom x\n> no quote\n"
        );
    }

    #[test]
    fn the_signature_line_neither_flows_nor_is_flowed_into() {
        // RFC 3676 section 4.3.
        assert_eq!(shown("end \n-- \nname\n", Blank::Kept), "end \n-- \nname\n");
    }
}
