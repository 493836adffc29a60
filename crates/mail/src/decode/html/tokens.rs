//! Tokens of an HTML text from `html5gum`, with the original bytes of each token byte.
//!
//! The tokeniser decodes character references without their offsets. A comparison with the original
//! text finds the offsets.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::rc::Rc;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{
    Emitter, ForwardingEmitter, Readable, Reader, Span as HtmlSpan, State, StringReader, Tokenizer,
};

use crate::lines::run_len;
use urlspool_text::span::{ByteMap, Span};

/// Parsing of text in elements whose content is not markup in browsers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementContent {
    /// As in browsers: the content of `script`, `style`, `title` and similar elements has no tags.
    AsBrowsers,
    /// All content is markup, because one of those elements is not closed.
    Markup,
}

/// Passes the tokens of an HTML text to `sink`, each with its range. Returns the offset after the
/// last token. Any bytes after that are the start of an unclosed tag.
pub fn tokenize(
    html: &[u8],
    content: ElementContent,
    sink: &mut dyn FnMut(CallbackEvent<'_>, Span),
) -> usize {
    let inserted = Rc::new(RefCell::new(Vec::new()));
    // Nearly all texts have no inserted blanks, and each token checks this.
    let has_blanks = Rc::new(Cell::new(false));
    let is_fallback = Rc::new(Cell::new(false));
    let mut reached = 0;
    let callback = |event: CallbackEvent<'_>, positions: HtmlSpan<usize>| -> Option<Infallible> {
        let end = positions.end.min(html.len());
        let mut span = Span::new(positions.start.min(end), end);
        if has_blanks.get() {
            span = original(&inserted.borrow(), positions, html.len());
        }
        if let CallbackEvent::OpenStartTag { name } = event {
            is_fallback.set(name == b"noscript" || name == b"noembed");
        }
        reached = span.end;
        sink(event, span);
        None
    };
    let mut emitter = CallbackEmitter::new(callback);
    emitter.naively_switch_states(content == ElementContent::AsBrowsers);
    let emitter = MailEmitter {
        inner: emitter,
        is_fallback: Rc::clone(&is_fallback),
    };
    let reader = ShallowReader {
        html,
        inner: html.to_reader(),
        waiting: None,
        assignments: 0,
        inserted: Rc::clone(&inserted),
        has_blanks: Rc::clone(&has_blanks),
    };
    let mut tokenizer = Tokenizer::new_with_emitter(reader, emitter);
    tokenizer.set_state(State::Data);
    // The error type of reading from memory has no values.
    let Ok(()) = tokenizer.finish();
    reached
}

/// Emitter for mail readers. It reports no parse errors, which saves the time to detect them.
///
/// The content of `noscript` and `noembed` is markup: mail readers run no scripts, and show this
/// content (WHATWG HTML, section 4.12.2).
struct MailEmitter<E> {
    inner: E,
    /// `true` if the current start tag is `noscript` or `noembed`.
    is_fallback: Rc<Cell<bool>>,
}

impl<E: Emitter> ForwardingEmitter for MailEmitter<E> {
    type Token = E::Token;

    fn inner(&mut self) -> &mut impl Emitter<Token = Self::Token> {
        &mut self.inner
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        let state = self.inner.emit_current_tag();
        state.filter(|_| !self.is_fallback.take())
    }
}

/// Reader that bounds the stack depth of the tokeniser. The tokeniser's functions for
/// `name="value"` call each other from attribute to attribute and return only at certain
/// characters. One of these is a blank between a name and its `=`, where it has no meaning. The
/// reader inserts such a blank now and then.
struct ShallowReader<'h> {
    html: &'h [u8],
    inner: StringReader<'h>,
    /// The `=` after an inserted blank.
    waiting: Option<u8>,
    /// Number of `=` after attribute names of the current tag, since the last inserted blank.
    assignments: usize,
    /// Positions of the inserted blanks. Each position counts the blanks inserted before it.
    inserted: Rc<RefCell<Vec<usize>>>,
    /// `true` once a blank was inserted.
    has_blanks: Rc<Cell<bool>>,
}

/// Maximum number of attributes between inserted blanks. Few tags have more.
const MAX_ASSIGNMENTS: usize = 16;

/// Converts a range that counts the blanks inserted at `inserted` to a range in the HTML text of
/// `len` bytes. Rarely needed, and not inlined into the path of each token.
#[cold]
#[inline(never)]
fn original(inserted: &[usize], span: HtmlSpan<usize>, len: usize) -> Span {
    let offset = |position: usize| {
        let before = inserted.partition_point(|&at| at < position);
        (position - before).min(len)
    };
    Span::new(offset(span.start), offset(span.end))
}

#[expect(
    clippy::inline_always,
    reason = "without it the needles are no constants, and reading takes twice as many instructions"
)]
impl Reader for ShallowReader<'_> {
    type Error = Infallible;

    #[inline(always)]
    fn read_byte(&mut self) -> Result<Option<u8>, Infallible> {
        match self.waiting {
            None => self.inner.read_byte(),
            Some(_) => Ok(self.waiting.take()),
        }
    }

    /// Reads up to one of the bytes of `needle`. Only the needles that end an attribute name have
    /// `=` and no `&`. Only the needles that end a text have `<` and no `=`.
    #[inline(always)]
    fn read_until<'b>(
        &'b mut self,
        needle: &[u8],
        buffer: &'b mut [u8; 4],
    ) -> Result<Option<&'b [u8]>, Infallible> {
        let is_text = needle.contains(&b'<') && !needle.contains(&b'=');
        if is_text {
            self.assignments = 0;
        }
        let read = self.inner.read_until(needle, buffer)?;
        if needle.contains(&b'=')
            && !needle.contains(&b'&')
            && let Some(equals @ b"=") = read
        {
            self.assignments += 1;
            if self.assignments == MAX_ASSIGNMENTS {
                self.assignments = 0;
                self.waiting = Some(b'=');
                let at = equals.as_ptr().addr() - self.html.as_ptr().addr();
                let mut inserted = self.inserted.borrow_mut();
                let before = inserted.len();
                inserted.push(at + before);
                self.has_blanks.set(true);
                return Ok(Some(b" "));
            }
        }
        Ok(read)
    }

    #[inline(always)]
    fn try_read_string(&mut self, text: &[u8], case_sensitive: bool) -> Result<bool, Infallible> {
        self.inner.try_read_string(text, case_sensitive)
    }
}

/// Number of bytes compared after a reference to find the end of its decoded text.
const COMPARED_BYTES: usize = 16;

/// Maximum length of a reference: `&CounterClockwiseContourIntegral;`.
const MAX_REFERENCE_BYTES: usize = 34;

/// Names of references that are decoded even without a semicolon (HTML, section 13.5).
const NAMES_WITHOUT_SEMICOLON: [&str; 106] = [
    "AElig", "AMP", "Aacute", "Acirc", "Agrave", "Aring", "Atilde", "Auml", "COPY", "Ccedil",
    "ETH", "Eacute", "Ecirc", "Egrave", "Euml", "GT", "Iacute", "Icirc", "Igrave", "Iuml", "LT",
    "Ntilde", "Oacute", "Ocirc", "Ograve", "Oslash", "Otilde", "Ouml", "QUOT", "REG", "THORN",
    "Uacute", "Ucirc", "Ugrave", "Uuml", "Yacute", "aacute", "acirc", "acute", "aelig", "agrave",
    "amp", "aring", "atilde", "auml", "brvbar", "ccedil", "cedil", "cent", "copy", "curren", "deg",
    "divide", "eacute", "ecirc", "egrave", "eth", "euml", "frac12", "frac14", "frac34", "gt",
    "iacute", "icirc", "iexcl", "igrave", "iquest", "iuml", "laquo", "lt", "macr", "micro",
    "middot", "nbsp", "not", "ntilde", "oacute", "ocirc", "ograve", "ordf", "ordm", "oslash",
    "otilde", "ouml", "para", "plusmn", "pound", "quot", "raquo", "reg", "sect", "shy", "sup1",
    "sup2", "sup3", "szlig", "thorn", "times", "uacute", "ucirc", "ugrave", "uml", "uuml",
    "yacute", "yen", "yuml",
];

/// Maps the bytes of `decoded`, which will be at the offset `text`, to `raw`, which starts at the
/// offset `start`.
///
/// The two differ only in line ends and references. If no reference explains a difference, the rest
/// is mapped as a whole.
pub(super) fn align(raw: &[u8], start: usize, decoded: &[u8], text: usize, map: &mut ByteMap) {
    let (mut r, mut d) = (0, 0);
    while r < raw.len() && d < decoded.len() {
        let equal = equal_bytes(&raw[r..], &decoded[d..]);
        if equal > 0 {
            map.push_same(text + d, start + r);
            (r, d) = (r + equal, d + equal);
            continue;
        }
        let Some(difference) = difference(&raw[r..], &decoded[d..]) else {
            break;
        };
        let end = start + r + difference.raw_len;
        map.push_whole(text + d, Span::new(start + r, end));
        (r, d) = (r + difference.raw_len, d + difference.decoded_len);
    }
    if d < decoded.len() {
        let rest = Span::new(start + r.min(raw.len()), start + raw.len());
        map.push_whole(text + d, rest);
    }
}

/// Returns the length of the common prefix of `raw` and `decoded`, up to the next `&`.
fn equal_bytes(raw: &[u8], decoded: &[u8]) -> usize {
    let len = raw.len().min(decoded.len());
    // Most texts differ only at references and line ends, so their bytes need not be compared one
    // by one.
    let usual = memchr::memchr2(b'&', b'\r', &raw[..len]).unwrap_or(len);
    let skipped = if raw[..usual] == decoded[..usual] {
        usual
    } else {
        0
    };
    let rest = raw[skipped..].iter().zip(&decoded[skipped..]);
    skipped + rest.take_while(|(a, b)| a == b && **a != b'&').count()
}

/// Bytes that the tokeniser replaced.
struct Replacement {
    raw_len: usize,
    decoded_len: usize,
}

/// Returns the replacement of a line end or a reference at the start of `raw` and `decoded`.
fn difference(raw: &[u8], decoded: &[u8]) -> Option<Replacement> {
    match raw {
        // The tokeniser replaces CRLF and CR with LF.
        [b'\r', b'\n', ..] if decoded[0] == b'\n' => Some(Replacement {
            raw_len: 2,
            decoded_len: 1,
        }),
        [b'\r', ..] if decoded[0] == b'\n' => Some(Replacement {
            raw_len: 1,
            decoded_len: 1,
        }),
        [b'&', ..] => reference(raw, decoded),
        _ => None,
    }
}

/// Returns the replacement of the reference, or of the literal `&`, at the start of `raw`.
///
/// Tries all possible lengths of the reference, with one or two characters of decoded text. A
/// length fits if the bytes after both are equal. The best evidence is the first length that fits
/// and has bytes to compare. Without one, the first length that fits is used.
fn reference(raw: &[u8], decoded: &[u8]) -> Option<Replacement> {
    let as_reference = reference_lengths(raw).map(|(raw_len, characters)| Replacement {
        raw_len,
        decoded_len: (0..characters).fold(0, |len, _| len + character_len(&decoded[len..])),
    });
    // A literal `&` is the most likely case if the bytes after it are unchanged.
    let literal = (decoded.first() == Some(&b'&')).then_some(Replacement {
        raw_len: 1,
        decoded_len: 1,
    });
    let mut alike = literal
        .into_iter()
        .chain(as_reference)
        .filter_map(|it| Some((compared(raw, decoded, &it)?, it)));
    let (len, replacement) = alike.next()?;
    if len > 0 {
        return Some(replacement);
    }
    let with_text = alike.find(|(len, _)| *len > 0);
    Some(with_text.map_or(replacement, |(_, it)| it))
}

/// Returns the number of equal bytes after a replacement, or `None` if the bytes differ.
fn compared(raw: &[u8], decoded: &[u8], replacement: &Replacement) -> Option<usize> {
    let rest = &raw[replacement.raw_len..];
    let near = &rest[..rest.len().min(COMPARED_BYTES)];
    let len = run_len(near, |byte| !matches!(byte, b'&' | b'\r'));
    let decoded = decoded.get(replacement.decoded_len..)?;
    let is_alike = decoded.starts_with(&rest[..len]) && rest.is_empty() == decoded.is_empty();
    is_alike.then_some(len)
}

/// Returns the length in UTF-8 of the character at the start of `text`.
fn character_len(text: &[u8]) -> usize {
    let rest = text.get(1..text.len().min(4)).unwrap_or_default();
    text.len().min(1) + run_len(rest, |byte| (0x80..0xC0).contains(&byte))
}

/// Returns the possible lengths of the reference at the start of `raw`, with and without its
/// semicolon, each with the number of characters it represents. A semicolon after digits, or after
/// a name that needs none, is always part of the reference.
fn reference_lengths(raw: &[u8]) -> impl Iterator<Item = (usize, usize)> + use<> {
    let end = match raw {
        [_, b'#', b'x' | b'X', rest @ ..] => 3 + run_len(rest, |byte| byte.is_ascii_hexdigit()),
        [_, b'#', rest @ ..] => 2 + run_len(rest, |byte| byte.is_ascii_digit()),
        _ => {
            let name = &raw[1..raw.len().min(1 + MAX_REFERENCE_BYTES)];
            1 + run_len(name, |byte| byte.is_ascii_alphanumeric())
        }
    };
    let short = match raw {
        [_, b'#', ..] => Some(end),
        _ => {
            let names = NAMES_WITHOUT_SEMICOLON.iter();
            let longest = names
                .filter(|known| raw[1..].starts_with(known.as_bytes()))
                .map(|known| 1 + known.len());
            longest.max()
        }
    };
    let has_semicolon = raw.get(end) == Some(&b';');
    let is_whole = short == Some(end);
    // Only names with a semicolon represent two characters.
    let complete = has_semicolon.then_some((end + 1, 1));
    let of_two = (has_semicolon && !is_whole).then_some((end + 1, 2));
    let short = short.filter(|_| !(has_semicolon && is_whole));
    complete
        .into_iter()
        .chain(of_two)
        .chain(short.map(|len| (len, 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_do_not_count_inserted_blanks() {
        for attribute in ["a=\"b\" ", "a='b'", "a = b ", "a=b\n", "a==\"b\" "] {
            let html = format!("<p {}>x</p><!--y-->", attribute.repeat(3 * MAX_ASSIGNMENTS));
            let mut texts = Vec::new();
            tokenize(
                html.as_bytes(),
                ElementContent::AsBrowsers,
                &mut |event, span| {
                    let shown = String::from_utf8_lossy(span.of(html.as_bytes())).into_owned();
                    match event {
                        CallbackEvent::AttributeValue { value } => {
                            assert!(shown.contains('b') && value.contains(&b'b'), "{shown}");
                        }
                        CallbackEvent::OpenStartTag { .. } => assert!(shown.starts_with("<p")),
                        CallbackEvent::AttributeName { .. } => assert_eq!(shown, "a"),
                        _ => texts.push(shown),
                    }
                },
            );
            assert_eq!(texts, [">", "x", "</p>", "<!--y-->"], "{attribute}");
        }
    }

    #[track_caller]
    fn check(raw: &str, decoded: &str, part: &str, want: &str) {
        let mut map = ByteMap::new();
        align(raw.as_bytes(), 0, decoded.as_bytes(), 0, &mut map);
        map.push_same(decoded.len(), raw.len());
        let at = decoded.find(part).unwrap();
        assert_eq!(
            String::from_utf8_lossy(map.raw(Span::new(at, at + part.len())).of(raw.as_bytes())),
            want
        );
    }

    #[test]
    fn each_reference_is_mapped_as_a_whole() {
        check("a&amp;b", "a&b", "&", "&amp;");
        check("a&amp;b&lt;c", "a&b<c", "b<", "b&lt;");
        check("a&b=1&amp;c=2", "a&b=1&c=2", "b=1&c", "b=1&amp;c");
        check("&#104;&#x74;tp", "http", "ht", "&#104;&#x74;");
        check(
            "&copy 2&eacute;x",
            "\u{a9} 2\u{e9}x",
            "\u{e9}x",
            "&eacute;x",
        );
        check("&amp;amp;x", "&amp;x", "x", "x");
        check("a\r\nb", "a\nb", "\nb", "\r\nb");
        check("&reg&ial;", "\u{ae}&ial;", "&ial;", "&ial;");
        check("&shyed;", "\u{ad}ed;", "d;", "d;");
        check("&shyed;&amp;x", "\u{ad}ed;&x", "d;", "d;");
        let negated = "\u{2242}\u{338}";
        check(
            "x&NotEqualTilde;",
            &format!("x{negated}"),
            negated,
            "&NotEqualTilde;",
        );
    }

    proptest::proptest! {
        #[test]
        fn adjacent_references_keep_their_places(
            pieces in proptest::collection::vec(proptest::sample::select(&[
                ("&#1087;", "\u{43f}"), ("&eacute;", "\u{e9}"), ("&amp;", "&"), ("&#x1F600;", "\u{1f600}"),
                ("&lt;", "<"), ("&nbsp;", "\u{a0}"), ("\u{43f}", "\u{43f}"), ("x", "x"), ("/", "/"), ("\r\n", "\n"),
            ][..]), 1..40)
        ) {
            let raw: String = pieces.iter().map(|(raw, _)| *raw).collect();
            let decoded: String = pieces.iter().map(|(_, decoded)| *decoded).collect();
            let mut map = ByteMap::new();
            align(raw.as_bytes(), 0, decoded.as_bytes(), 0, &mut map);
            let (mut r, mut d) = (0, 0);
            for (raw_piece, decoded_piece) in pieces {
                let text = Span::new(d, d + decoded_piece.len());
                proptest::prop_assert_eq!(map.raw(text), Span::new(r, r + raw_piece.len()), "{}", raw);
                (r, d) = (r + raw_piece.len(), d + decoded_piece.len());
            }
        }
    }

    #[test]
    fn a_reference_ends_where_its_syntax_ends() {
        let letters = "t".repeat(40);
        for (reference, text) in [
            ("&#10", "\n"),
            ("&#x3c", "<"),
            ("&lt", "<"),
            ("&not", "\u{ac}"),
            ("&middot", "\u{b7}"),
            ("&amp", "&"),
        ] {
            let decoded = format!("{text}{letters}");
            check(
                &format!("{reference}{letters}"),
                &decoded,
                &letters,
                &letters,
            );
        }
    }
}
