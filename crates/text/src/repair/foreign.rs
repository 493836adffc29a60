//! Markup inside a URL in plain text: HTML character references, TeX commands, and zero-width
//! characters, with which programs mark possible line breaks.

use super::Repair;
use super::notation::Notation;
use crate::byte_scan::prefix_len;

/// HTML character references for an ampersand.
const AMPERSANDS: [&[u8]; 5] = [b"&amp;", b"&AMP;", b"&#38;", b"&#038;", b"&#x26;"];

/// TeX commands and the characters that they print.
const TEX: [(&[u8], &[u8]); 9] = [
    (b"{\\textasciitilde}", b"~"),
    (b"\\textasciitilde{}", b"~"),
    (b"\\textasciitilde ", b"~"),
    (b"{\\~{}}", b"~"),
    (b"\\~{}", b"~"),
    (b"$\\sim$", b"~"),
    (b"{\\_}", b"_"),
    (b"{\\#}", b"#"),
    (b"{\\%}", b"%"),
];

/// Zero-width characters in UTF-8: soft hyphen, zero-width space, word joiner, byte order mark.
const INVISIBLE: [&str; 4] = ["\u{AD}", "\u{200B}", "\u{2060}", "\u{FEFF}"];

/// Joiners of letters, which are significant in Arabic and Indic scripts.
const JOINERS: [&str; 2] = ["\u{200C}", "\u{200D}"];

/// Start of the target in a link of URL Defense (Proofpoint), version 3. The gateway copies the
/// target as it stands, with its references: 12 links of one list.
const COPIED_TARGET: &[u8] = b"https://urldefense.com/v3/__";

/// Returns `true` if each ampersand of the URL `text` starts a character reference and one
/// ampersand is in the query. Such a URL was copied from a page.
pub(super) fn is_referenced(text: &[u8]) -> bool {
    let Some(query) = memchr::memchr(b'?', text) else {
        return false;
    };
    let mut ampersands = memchr::memchr_iter(b'&', text);
    memchr::memrchr(b'&', text).is_some_and(|last| query < last)
        && ampersands.all(|at| ampersand_len(&text[at..]).is_some())
        && !text.starts_with(COPIED_TARGET)
}

/// Length of the reference to an ampersand at the start of `text`.
fn ampersand_len(text: &[u8]) -> Option<usize> {
    let name = AMPERSANDS.iter().find(|name| text.starts_with(name))?;
    Some(name.len())
}

/// Returns the foreign markup at `at` in a URL. `is_referenced` is the result of [`is_referenced`].
pub(super) fn foreign(text: &[u8], at: usize, is_referenced: bool) -> Option<Notation> {
    let rest = &text[at..];
    match rest[0] {
        b'&' if is_referenced => Some(Notation::new(ampersand_len(rest)?, b"&", Repair::Reference)),
        b'\\' | b'{' | b'$' => tex_command(rest),
        b'^' => colour(rest),
        0x80.. => invisible(text, at),
        _ => None,
    }
}

/// A terminal colour whose escape character was made visible: `^[[24m`.
fn colour(rest: &[u8]) -> Option<Notation> {
    /// Maximum length of the numbers in it.
    const NUMBERS: usize = 20;
    let numbers = rest.strip_prefix(b"^[[")?;
    let len = prefix_len(&numbers[..numbers.len().min(NUMBERS)], |byte| {
        byte.is_ascii_digit() || b";:".contains(byte)
    });
    matches!(numbers.get(len)?, b'm' | b'K').then_some(Notation::new(len + 4, b"", Repair::Escape))
}

fn tex_command(rest: &[u8]) -> Option<Notation> {
    if let [b'\\', b'%', b'2'..=b'7', low, ..] = rest
        && low.is_ascii_hexdigit()
    {
        return Some(Notation::new(2, b"%", Repair::Escape));
    }
    let (command, meant) = TEX.iter().find(|row| rest.starts_with(row.0))?;
    Some(Notation::new(command.len(), meant, Repair::Escape))
}

fn invisible(text: &[u8], at: usize) -> Option<Notation> {
    let rest = &text[at..];
    let first_of = |names: &[&str]| {
        let mut names = names.iter().map(|name| name.as_bytes());
        names.find(|name| rest.starts_with(name)).map(<[u8]>::len)
    };
    let is_between_letters = |len: &usize| {
        at.checked_sub(1)
            .is_some_and(|before| text[before].is_ascii_alphanumeric())
            && rest.get(*len).is_some_and(u8::is_ascii_alphanumeric)
    };
    let len = first_of(&INVISIBLE).or_else(|| first_of(&JOINERS).filter(is_between_letters))?;
    Some(Notation::new(len, b"", Repair::Invisible))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repair::LogicalLine;

    #[test]
    fn foreign_markup_is_decoded() {
        for (written, meant, repairs) in [
            ("http://a/?b&amp;c&#38;d", "http://a/?b&c&d", "reference"),
            ("http://a/?b&amp;c&d", "http://a/?b&amp;c&d", ""),
            ("http://a/b&amp;c", "http://a/b&amp;c", ""),
            (
                "http://a/v3/__b?c&amp;d",
                "http://a/v3/__b?c&d",
                "reference",
            ),
            (
                "https://urldefense.com/v3/__http://b/?c&amp;d__;!",
                "https://urldefense.com/v3/__http://b/?c&amp;d__;!",
                "",
            ),
            (
                "http://a/b\u{AD}c\u{200B}d\u{2060}e\u{FEFF}f",
                "http://a/bcdef",
                "invisible",
            ),
            ("http://a/b\u{200C}c", "http://a/bc", "invisible"),
            (
                "http://a/\u{6CC}\u{200C}\u{6CC}",
                "http://a/\u{6CC}\u{200C}\u{6CC}",
                "",
            ),
            (
                "http://a/{\\textasciitilde}b/$\\sim$c\\%20d",
                "http://a/~b/~c%20d",
                "escape",
            ),
            ("http://a/b^[[01;31mc^[[K", "http://a/bc", "escape"),
            ("http://a/b^[c", "http://a/b^[c", ""),
        ] {
            let mut line = LogicalLine::default();
            line.push(written.as_bytes(), 0, written.len());
            line.undo_notations();
            assert_eq!(String::from_utf8_lossy(line.text()), meant);
            let names: Vec<_> = line.repairs().iter().map(Repair::name).collect();
            assert_eq!(names.join(" "), repairs, "{written}");
            let is_kept = matches!(repairs, "reference" | "invisible");
            assert_eq!(line.written().is_some(), is_kept, "{written}");
        }
    }
}
