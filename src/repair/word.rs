//! A URL without a wrapper: the run of characters it stands in, and the lines that a mailer broke it over.

use super::Line;
use crate::scan::Rules;

/// Lays the run of characters from `from` on out in `line`.
pub fn word(text: &[u8], from: usize, rules: Rules, line: &mut Line) {
    line.clear();
    let end = run_end(text, from, rules);
    line.push(text, from, end);
}

/// Where the run of characters that can belong to a bare URL ends.
fn run_end(text: &[u8], from: usize, rules: Rules) -> usize {
    let mut at = from;
    while at < text.len() {
        let len = ends_word(&text[at..], rules);
        if len > 0 {
            break;
        }
        at += 1;
    }
    at
}

/// Octets of the character at the start of `text`, if it cannot belong to a bare URL; 0 if it can.
///
/// White space, `<`, `>` and `"` (`spec/appendix-rules.md` 12); by the wide rules also controls, the backtick,
/// Unicode's white space, and the quotes, brackets and stops of East Asian and typographic writing.
#[must_use]
pub fn ends_word(text: &[u8], rules: Rules) -> usize {
    match (text, rules) {
        ([b' ' | b'\t' | b'\n' | b'\r' | b'\x0B' | b'\x0C' | b'<' | b'>' | b'"', ..], _) => 1,
        ([..=0x20 | 0x7F | b'`', ..], Rules::Wide) => 1,
        ([0xC2, 0x80..=0xA0 | 0xAB | 0xBB, ..], Rules::Wide) => 2,
        ([0xE2, 0x80, 0x80..=0x8A | 0x98..=0x9F | 0xA6 | 0xA8 | 0xA9 | 0xAF | 0xB9 | 0xBA, ..], Rules::Wide) => 3,
        ([0xE3, 0x80, 0x80..=0x82 | 0x88..=0x91 | 0x94..=0x9B, ..], Rules::Wide) => 3,
        ([0xEF, 0xBC, 0x81 | 0x88 | 0x89 | 0x8C | 0x9A | 0x9B | 0x9E | 0x9C | 0x9F, ..], Rules::Wide) => 3,
        ([0xEF, 0xBD, 0x9B | 0x9D | 0xA1..=0xA4, ..], Rules::Wide) => 3,
        _ => 0,
    }
}
