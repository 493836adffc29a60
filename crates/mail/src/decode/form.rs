//! Forms of text: the language that surrounds the URLs in a part, a file or a stretch of text.
//!
//! A media type, a name or the content determines the form. The form defines the decoding of
//! escapes, with offsets, and the end of a value: each border becomes a line end, which no URL
//! crosses. HTML has a separate reader (`html.rs`).

use super::transfer::{DelSp, push_quoted_printable, unflow};
use super::{LineLayout, MappedBytes};
use crate::lines::{begins_with, first_line, hex_pair, line_end, run_len};
use crate::split::{begins_whole_page, is_page};

/// Form of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextForm {
    /// Lines as sent.
    #[default]
    Plain,
    /// `format=flowed` (RFC 3676).
    Flowed(DelSp),
    /// A page.
    Html,
    /// A calendar or vCard (RFC 5545, RFC 6350).
    Calendar,
    /// XML or SGML.
    Xml,
    /// Strings of JSON.
    Json,
    /// Cells between separators: CSV.
    Cells,
    /// Not text.
    Other,
}

impl TextForm {
    /// Returns the form of a text whose first bytes are `text` if they are conclusive: a page, an
    /// element that is closed at the end of the text, a calendar, or an XML declaration.
    pub(super) fn of_content(text: &[u8]) -> Option<TextForm> {
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        let text = text.trim_ascii_start();
        match text.first()? {
            b'<' if begins_whole_page(text) => Some(TextForm::Html),
            b'<' if !begins_with(text, b"<?xml ") => None,
            b'<' if is_page(text) => Some(TextForm::Html),
            b'<' => Some(TextForm::Xml),
            b'B' | b'b' if CARDS.iter().any(|card| begins_with(text, card)) => {
                Some(TextForm::Calendar)
            }
            _ => None,
        }
    }

    /// Decodes the escapes of the form. Returns `None` if the text does not change. Linear.
    pub(super) fn undo(self, text: &[u8]) -> Option<MappedBytes> {
        match self {
            TextForm::Html | TextForm::Other => None,
            TextForm::Plain => without_terminal_marks(text),
            TextForm::Flowed(delsp) => unflow(text, delsp),
            TextForm::Calendar => Some(properties(text)),
            TextForm::Xml => memchr::memchr(b'&', text).map(|_| references(text)),
            TextForm::Json => Some(strings(text)),
            TextForm::Cells => Some(cells(text)),
        }
    }

    /// Returns `true` if escapes are decoded in a copy of the text.
    pub(super) fn has_escapes(self) -> bool {
        !matches!(
            self,
            TextForm::Plain | TextForm::Flowed(_) | TextForm::Other
        )
    }

    /// Returns the meaning of the line ends.
    pub(super) fn lines(self) -> LineLayout {
        match self {
            TextForm::Html | TextForm::Calendar | TextForm::Xml => LineLayout::LaidOut,
            _ => LineLayout::Written,
        }
    }
}

/// Removes terminal colours and overstrikes. Returns `None` if there are none.
fn without_terminal_marks(text: &[u8]) -> Option<MappedBytes> {
    const ESC: u8 = 0x1B;
    const BACKSPACE: u8 = 8;
    memchr::memchr2(ESC, BACKSPACE, text)?;
    let mut out = MappedBytes::default();
    let (mut at, mut searched) = (0, 0);
    while let Some(len) = memchr::memchr2(ESC, BACKSPACE, &text[searched..]) {
        let mark = searched + len;
        searched = mark + 1;
        let removed = match &text[mark..] {
            [ESC, b'[', rest @ ..] => colour_len(rest).map(|len| mark..mark + 2 + len),
            [BACKSPACE, b'_', ..] if at < mark && text[mark - 1] != b'_' => Some(mark..mark + 2),
            [BACKSPACE, next, ..] if at < mark => {
                let before = text[mark - 1];
                (before == b'_' || before == *next).then(|| mark - 1..mark + 1)
            }
            _ => None,
        };
        if let Some(removed) = removed {
            out.copy(text, at..removed.start);
            at = removed.end;
            searched = at.max(searched);
        }
    }
    if at == 0 {
        return None;
    }
    out.copy(text, at..text.len());
    Some(out.ended(text))
}

/// Returns the length of a colour sequence after its `[`: numbers, and `m`, or the `K` that clears
/// the line.
fn colour_len(rest: &[u8]) -> Option<usize> {
    /// Maximum length of the numbers.
    const NUMBERS: usize = 20;
    let numbers = &rest[..rest.len().min(NUMBERS)];
    let len = run_len(numbers, |byte| b"0123456789;:".contains(&byte));
    matches!(rest.get(len)?, b'm' | b'K').then_some(len + 1)
}

/// First lines of calendars and vCards.
const CARDS: [&[u8]; 2] = [b"BEGIN:VCALENDAR", b"BEGIN:VCARD"];

/// Decodes the escapes in the properties of a calendar or vCard, which are unfolded.
///
/// Text values escape backslashes, separators and line ends (RFC 5545, section 3.3.11; RFC 6350,
/// section 3.4). An HTML value has references, and a vCard 2.1 value may be quoted-printable.
fn properties(text: &[u8]) -> MappedBytes {
    let mut out = MappedBytes::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let colon = memchr::memchr(b':', first_line(&text[at..])).map_or(at, |len| at + len);
        let name = text[at..colon].to_ascii_uppercase();
        let holds = |word: &[u8]| memchr::memmem::find(&name, word).is_some();
        let mut end = line_end(text, at);
        out.copy(text, at..colon);
        if holds(b"QUOTED-PRINTABLE") {
            while end < text.len() && text[colon..end].trim_ascii_end().ends_with(b"=") {
                end = line_end(text, end);
            }
            push_quoted_printable(&text[..end], colon, &mut out);
        } else {
            let is_page = name.starts_with(b"X-ALT-DESC") || holds(b"TEXT/HTML");
            undo_each(&text[..end], colon, &mut out, |rest| match rest {
                [b'\\', b'n' | b'N', ..] => Some((2, '\n')),
                [b'\\', byte @ (b'\\' | b',' | b';' | b':'), ..] => Some((2, char::from(*byte))),
                [b'&', ..] if is_page => nested_reference(rest),
                _ => None,
            });
        }
        at = end;
    }
    out.ended(text)
}

/// Decodes XML references. Feeds contain pages whose references were escaped again.
fn references(text: &[u8]) -> MappedBytes {
    let mut out = MappedBytes::with_capacity(text.len());
    undo_each(text, 0, &mut out, |rest| match rest {
        [b'&', ..] => nested_reference(rest),
        _ => None,
    });
    out.ended(text)
}

/// Decodes the reference at the start of `text`, together with references for its `&`:
/// `&amp;amp;lt;`.
fn nested_reference(text: &[u8]) -> Option<(usize, char)> {
    const AMP: &[u8] = b"amp;";
    let mut name = 1;
    while text[name..].starts_with(AMP) {
        name += AMP.len();
    }
    match reference(&text[name..]) {
        Some((len, character)) => Some((name + len, character)),
        None => (1 < name).then_some((name, '&')),
    }
}

/// Decodes the escapes in JSON strings (RFC 8259, section 7) and puts each string on separate
/// lines.
pub(super) fn strings(text: &[u8]) -> MappedBytes {
    let mut out = MappedBytes::with_capacity(text.len());
    undo_each(text, 0, &mut out, |rest| match rest {
        [b'"', ..] => Some((1, '\n')),
        [b'\\', b'n', ..] => Some((2, '\n')),
        [b'\\', b'r' | b'b' | b'f', ..] => Some((2, '\r')),
        [b'\\', b't', ..] => Some((2, '\t')),
        [b'\\', byte @ (b'"' | b'/' | b'\\'), ..] => Some((2, char::from(*byte))),
        [b'\\', b'u', rest @ ..] => {
            let code = u32::from(code_unit(rest)?);
            match char::from_u32(code) {
                Some(character) => Some((6, character)),
                None => surrogates(code, rest.get(4..)?).map(|character| (12, character)),
            }
        }
        _ => None,
    });
    out.ended(text)
}

/// Returns the value of four hexadecimal digits.
fn code_unit(digits: &[u8]) -> Option<u16> {
    let (high, low) = (hex_pair(digits)?, hex_pair(digits.get(2..)?)?);
    Some(u16::from_be_bytes([high, low]))
}

/// Returns the character of a surrogate pair that starts with `high`.
fn surrogates(high: u32, rest: &[u8]) -> Option<char> {
    let low = code_unit(rest.strip_prefix(b"\\u")?)?;
    let units = [u16::try_from(high).ok()?, low];
    char::decode_utf16(units).next()?.ok()
}

/// Appends `text` from `at` to `out`, with each escape replaced by the character from `meant`.
/// `meant` receives the rest of the text and returns the length and character of the escape at its
/// start.
fn undo_each(
    text: &[u8],
    mut at: usize,
    out: &mut MappedBytes,
    meant: impl Fn(&[u8]) -> Option<(usize, char)>,
) {
    let mut searched = at;
    while let Some(len) = memchr::memchr3(b'\\', b'&', b'"', &text[searched..]) {
        let found = searched + len;
        searched = found + 1;
        if let Some((len, character)) = meant(&text[found..]) {
            out.copy(text, at..found);
            at = found + len;
            out.push(character.encode_utf8(&mut [0; 4]).as_bytes(), found..at);
            searched = at;
        }
    }
    out.copy(text, at..text.len());
}

/// Puts each CSV cell on separate lines (RFC 4180). The separator is the most frequent one in the
/// first line.
fn cells(text: &[u8]) -> MappedBytes {
    const BORDER: &[u8] = b"\n\n";
    let first = first_line(text);
    let count = |separator: &u8| memchr::memchr_iter(*separator, first).count();
    // The last of equal counts is the maximum.
    let separators = b"|\t;,".iter().copied();
    let separator = separators.max_by_key(count).unwrap_or(b',');
    let mut out = MappedBytes::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        if text[at] == b'"' {
            at = quoted_cell(text, at, separator, &mut out).unwrap_or(at);
        }
        let len = memchr::memchr2(separator, b'\n', &text[at..]);
        let end = len.map_or(text.len(), |len| at + len);
        out.copy(text, at..end);
        if end < text.len() {
            out.push(BORDER, end..end + 1);
        }
        at = end + 1;
    }
    out.ended(text)
}

/// Appends the quoted cell at `at`, with doubled quotes made single, and returns the offset after
/// it. Returns `None` if the cell has a lone `"` inside or no closing one: the quotes are then
/// text.
fn quoted_cell(text: &[u8], at: usize, separator: u8, out: &mut MappedBytes) -> Option<usize> {
    /// Maximum length of a quoted cell.
    const MAX_BYTES: usize = 1 << 20;
    let start = at + 1;
    let searched = &text[..text.len().min(start + MAX_BYTES)];
    let mut doubles = Vec::new();
    let mut next = start;
    let end = loop {
        let quote = next + memchr::memchr(b'"', searched.get(next..)?)?;
        match text.get(quote + 1) {
            None | Some(b'\n' | b'\r') => break quote,
            Some(&after) if after == separator => break quote,
            Some(b'"') => doubles.push(quote),
            _ => return None,
        }
        next = quote + 2;
    };
    let mut start = start;
    for quote in doubles {
        out.copy(text, start..quote + 1);
        start = quote + 2;
    }
    out.copy(text, start..end);
    Some(end + 1)
}

/// Decodes numeric character references and the five named entities of XML. Linear.
pub(super) fn decode_references(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        decoded.push_str(&rest[..at]);
        let (len, character) = reference(&rest.as_bytes()[at + 1..]).unwrap_or((0, '&'));
        decoded.push(character);
        rest = &rest[at + 1 + len..];
    }
    decoded + rest
}

/// Returns the length and the character of the reference whose `&` precedes `text`. The length
/// covers the name and the semicolon.
fn reference(text: &[u8]) -> Option<(usize, char)> {
    /// Maximum length of a reference's name: `#` and eight characters.
    const NAME_BYTES: usize = 9;
    let mut start = text.iter().take(NAME_BYTES + 1);
    let len = start.position(|&byte| byte == b';')?;
    let name = std::str::from_utf8(&text[..len]).ok()?;
    Some((len + 1, character(name)?))
}

/// Returns the character of a reference, given without its `&` and `;`.
fn character(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some('\u{A0}'),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use urlspool_text::span::Span;

    #[test]
    fn escapes_are_undone_with_their_offsets() {
        use TextForm::{Calendar, Cells, Json, Xml};
        for (form, written, meant) in [
            (
                Calendar,
                "A:http://a/\\,b\\;c\\nd\n",
                "A:http://a/,b;c\nd\n",
            ),
            (Calendar, "A:C\\:\\\\x\n", "A:C:\\x\n"),
            (
                Calendar,
                "URL;ENCODING=QUOTED-PRINTABLE:http://a/=\nb?c=3Dd\nN:x=3D\n",
                "URL;ENCODING=QUOTED-PRINTABLE:http://a/b?c=d\nN:x=3D\n",
            ),
            (
                Calendar,
                "X-ALT-DESC:a?b&amp\\;c&amp;d\nB:e&amp;f",
                "X-ALT-DESC:a?b&amp;c&d\nB:e&amp;f",
            ),
            (Xml, "<a>b&amp;c&lt;&#x41;&d;</a>", "<a>b&c<A&d;</a>"),
            (Xml, "b&amp;amp;c&amp;lt;&amp", "b&c<&amp"),
            (Json, r#"["a\/b\u0026c\nd\"\\"]"#, "[\na/b&c\nd\"\\\n]"),
            (Json, r"\ud83d\ude00\ud83dx\q", "\u{1F600}\\ud83dx\\q"),
            (
                Cells,
                "a,b;c\nd,\"e,\"\"f\n\",g\n",
                "a\n\nb;c\n\nd\n\ne,\"f\n\n\ng\n\n",
            ),
            (Cells, "a;b;c,d\n\"x\" y;z", "a\n\nb\n\nc,d\n\n\"x\" y\n\nz"),
            (Cells, "a,b\n\"c\"\" d,e\n", "a\n\nb\n\n\"c\"\" d\n\ne\n\n"),
        ] {
            let MappedBytes { bytes, map } = form.undo(written.as_bytes()).unwrap();
            assert_eq!(String::from_utf8_lossy(&bytes), meant);
            // Copied bytes map to themselves.
            for (at, byte) in bytes.iter().enumerate() {
                let raw = map.raw(Span::new(at, at + 1)).of(written.as_bytes());
                assert!(
                    raw.len() != 1 || raw[0] == *byte || *byte == b'\n',
                    "{written}"
                );
            }
        }
    }

    #[test]
    fn a_form_is_recognised_by_the_start_of_a_text() {
        for (text, form) in [
            ("\u{FEFF}<!doctype html>\n", Some(TextForm::Html)),
            ("<html lang=en>x", Some(TextForm::Html)),
            ("<!-- c --><p>a</p>\n", Some(TextForm::Html)),
            ("<DIV class=x>a</DIV >", Some(TextForm::Html)),
            ("<?xml version=\"1.0\"?>\n<rss>", Some(TextForm::Xml)),
            ("<?xml version=\"1.0\"?>\n<html>", Some(TextForm::Html)),
            ("\nbegin:vcard\n", Some(TextForm::Calendar)),
            // Mail about markup.
            ("<p>a</p>\nis markup", None),
            ("<script> is an element", None),
            ("<joe@a.example> wrote", None),
            ("<quote>a</quote>", None),
            ("a <html>", None),
            ("", None),
        ] {
            assert_eq!(TextForm::of_content(text.as_bytes()), form, "{text}");
        }
    }
}
