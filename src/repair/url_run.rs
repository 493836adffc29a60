//! The run of characters that can belong to a bare URL, and where it ends.

use crate::grammar::is_scheme_char;
use crate::limits::SCHEME_CHARS;
use crate::scan::Rules;

/// Where the run of characters that can belong to the bare URL at `from` ends, `before` being the byte before it. Reads
/// at most `most` bytes.
///
/// By the wide rules something else may begin inside: another URL of a list, an entity of broken HTML, or the partner
/// of the bracket or quote that stands before.
#[must_use]
pub fn url_run_end(
    text: &[u8],
    from: usize,
    before: Option<u8>,
    rules: Rules,
    most: usize,
) -> usize {
    let mut partner = Partner::of(before.filter(|_| rules == Rules::Wide));
    let calm = if partner.depth == 0 {
        &CALM
    } else {
        &CALM_BUT_BRACKETS
    };
    let limit = text.len().min(from.saturating_add(most));
    let mut at = from;
    while let Some(run) = text[at..limit]
        .iter()
        .position(|&byte| !calm[usize::from(byte)])
    {
        at += run;
        match text[at] {
            b':' | b'&' if rules == Rules::Rfc1738 => {}
            b':' => {
                if let Some(comma) = listed(text, from, at) {
                    return comma;
                }
            }
            b'&' => {
                if is_entity(&text[at..]) {
                    return at;
                }
            }
            byte => {
                if word_terminator_len(&text[at..], rules) > 0 || partner.closed_by(byte) {
                    return at;
                }
            }
        }
        at += 1;
    }
    limit
}

/// The bytes that neither end a word nor begin what may, whatever stands around them.
pub(super) const CALM: [bool; 256] = calm(b"");

/// The same where a bracket or a quote stands before the word, whose partner ends it.
const CALM_BUT_BRACKETS: [bool; 256] = calm(b"()[]{}'");

/// Printable ASCII without what may end a word or begin what does, and without `but`.
const fn calm(but: &[u8]) -> [bool; 256] {
    let mut calm = [false; 256];
    let mut octet = b'!';
    while octet <= b'~' {
        calm[octet as usize] = !matches!(octet, b'<' | b'>' | b'"' | b'`' | b':' | b'&');
        octet += 1;
    }
    let mut at = 0;
    while at < but.len() {
        calm[but[at] as usize] = false;
        at += 1;
    }
    calm
}

/// The comma, semicolon or bar behind which the `scheme://` stands whose colon is at `colon`.
///
/// Only there another URL begins: behind a slash or an equals sign it is part of this one.
fn listed(text: &[u8], from: usize, colon: usize) -> Option<usize> {
    if !text[colon + 1..].starts_with(b"//") {
        return None;
    }
    let lowest = from.max(colon.saturating_sub(SCHEME_CHARS));
    let name = text[lowest..colon]
        .iter()
        .rev()
        .take_while(|&&byte| is_scheme_char(byte))
        .count();
    let at = (colon - name).checked_sub(1).filter(|&at| at > from)?;
    (name > 0 && matches!(text[at], b',' | b';' | b'|')).then_some(at)
}

/// `&gt;`, `&lt;` or `&quot;`: angle brackets and quotes of a text that was made HTML once too often.
fn is_entity(rest: &[u8]) -> bool {
    let starts = |entity: &&[u8]| {
        rest.len() >= entity.len() && rest[..entity.len()].eq_ignore_ascii_case(entity)
    };
    [&b"&gt;"[..], b"&lt;", b"&quot;"].iter().any(starts)
}

/// The bracket or quote that was opened before a word, and how often it is open now.
struct Partner {
    open: u8,
    close: u8,
    depth: usize,
}

impl Partner {
    fn of(before: Option<u8>) -> Partner {
        let (open, close) = match before {
            Some(b'(') => (b'(', b')'),
            Some(b'[') => (b'[', b']'),
            Some(b'{') => (b'{', b'}'),
            // A quote is its own partner, and is not opened again inside.
            Some(b'\'') => (0, b'\''),
            _ => {
                return Partner {
                    open: 0,
                    close: 0,
                    depth: 0,
                };
            }
        };
        Partner {
            open,
            close,
            depth: 1,
        }
    }

    /// Whether this byte closes what was open before the word.
    fn closed_by(&mut self, byte: u8) -> bool {
        if self.depth == 0 {
            return false;
        }
        self.depth = self.depth + usize::from(byte == self.open) - usize::from(byte == self.close);
        self.depth == 0
    }
}

/// Bytes of the character at the start of `text`, if it cannot belong to a bare URL; 0 if it can.
///
/// White space, `<`, `>` and `"` (`spec/appendix-rules.md` 12); by the wide rules also controls, the backtick,
/// Unicode's white space, and the quotes, brackets and stops of East Asian and typographic writing.
#[must_use]
pub(super) fn word_terminator_len(text: &[u8], rules: Rules) -> usize {
    match (text, rules) {
        (
            [
                b' ' | b'\t' | b'\n' | b'\r' | b'\x0B' | b'\x0C' | b'<' | b'>' | b'"',
                ..,
            ],
            _,
        ) => 1,
        ([..=0x20 | 0x7F | b'`', ..], Rules::Wide) => 1,
        ([0xC2, 0x80..=0xA0 | 0xAB | 0xBB, ..], Rules::Wide) => 2,
        (
            [
                0xE2,
                0x80,
                0x80..=0x8A | 0x98..=0x9F | 0xA6 | 0xA8 | 0xA9 | 0xAF | 0xB9 | 0xBA,
                ..,
            ],
            Rules::Wide,
        ) => 3,
        ([0xE3, 0x80, 0x80..=0x82 | 0x88..=0x91 | 0x94..=0x9B, ..], Rules::Wide) => 3,
        (
            [
                0xEF,
                0xBC,
                0x81 | 0x88 | 0x89 | 0x8C | 0x9A | 0x9B | 0x9E | 0x9C | 0x9F,
                ..,
            ],
            Rules::Wide,
        ) => 3,
        ([0xEF, 0xBD, 0x9B | 0x9D | 0xA1..=0xA4, ..], Rules::Wide) => 3,
        _ => 0,
    }
}
