//! Tokens of an HTML text from `html5gum`, with the original bytes of each token byte.
//!
//! The tokeniser passes the text of a token in pieces, one for each character reference. The end of
//! each piece in the original text is enough to map all bytes.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{
    Emitter, ForwardingEmitter, Readable, Reader, Span as HtmlSpan, State, StringReader, Tokenizer,
};

use urlspool_text::span::{ByteMap, Span};

/// Parsing of text in elements whose content is not markup in browsers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementContent {
    /// As in browsers: the content of `script`, `style`, `title` and similar elements has no tags.
    AsBrowsers,
    /// All content is markup, because one of those elements is not closed.
    Markup,
    /// All content is markup, and CDATA sections are text.
    Xml,
}

/// A token of a text whose ranges are not needed. Names are in lower case.
pub enum Markup<'t> {
    /// A start tag. An empty-element tag is followed by an end.
    Start(&'t Tag),
    /// The name of an end tag or an empty-element tag.
    End(&'t str),
    /// Character data.
    Text(&'t str),
}

/// A start tag.
#[derive(Default)]
pub struct Tag {
    /// Name with prefix.
    pub name: String,
    /// Names with prefixes, and values that are not empty. At most 65,536.
    pub attributes: Vec<(String, String)>,
}

/// Maximum number of attributes of a tag to hold. Bounds the memory for a tag of nothing but
/// attributes.
const MAX_ATTRIBUTES: usize = 1 << 16;

impl Tag {
    /// Returns the first value of an attribute by its name without prefix.
    #[must_use]
    pub fn attribute(&self, local: &str) -> Option<&str> {
        let mut all = self.attributes.iter();
        let found = all.find(|(name, _)| name.rsplit(':').next() == Some(local));
        found.map(|(_, value)| value.as_str())
    }
}

/// Passes the tags and the text of an HTML or XML text to `sink`. Linear.
pub fn markup(text: &[u8], content: ElementContent, sink: &mut dyn FnMut(Markup<'_>)) {
    let string = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (mut tag, mut attribute) = (Tag::default(), String::new());
    tokenize(text, 0, content, &mut |event, _| match event {
        CallbackEvent::OpenStartTag { name } => {
            tag.name = string(name);
            tag.attributes.clear();
        }
        CallbackEvent::AttributeName { name } => attribute = string(name),
        CallbackEvent::AttributeValue { value } => {
            if tag.attributes.len() < MAX_ATTRIBUTES {
                let name = std::mem::take(&mut attribute);
                tag.attributes.push((name, string(value)));
            }
        }
        CallbackEvent::CloseStartTag { self_closing } => {
            sink(Markup::Start(&tag));
            if self_closing {
                sink(Markup::End(&tag.name));
            }
        }
        CallbackEvent::EndTag { name } => sink(Markup::End(&string(name))),
        CallbackEvent::String { value } => sink(Markup::Text(&String::from_utf8_lossy(value))),
        CallbackEvent::Comment { .. } | CallbackEvent::Doctype { .. } | CallbackEvent::Error(_) => {
        }
    });
}

/// Origin of a token.
#[derive(Clone, Copy)]
pub(super) struct TokenSource<'t> {
    /// Range of the token.
    pub(super) span: Span,
    html: &'t [u8],
    /// Pieces of the text of a string or an attribute's value.
    pieces: &'t [Piece],
    /// Difference between offsets in the whole text and offsets in `html`.
    base: usize,
}

/// A piece of a token's text.
#[derive(Clone, Copy)]
struct Piece {
    /// Number of bytes of decoded text.
    len: usize,
    /// Offset after the piece.
    end: usize,
    /// `true` if the piece is known to be copied unchanged.
    is_copy: bool,
}

/// Maximum number of pieces of one token. The rest of the token is mapped as a whole, so its ranges
/// still enclose their bytes. Bounds the memory for a text of nothing but references.
const MAX_PIECES: usize = 1 << 19;

impl TokenSource<'_> {
    /// Maps the bytes of `decoded`, the text of the token, which will be at the offset `text`.
    ///
    /// It differs from the original text in line ends, references and NUL bytes.
    pub(super) fn align(&self, decoded: &[u8], text: usize, map: &mut ByteMap) {
        let (mut raw, mut at) = (self.span.start - self.base, 0);
        for piece in self.pieces {
            let bytes = &decoded[at..at + piece.len];
            let rest = &self.html[raw..];
            let raw_len = piece.end.saturating_sub(raw);
            let replaced = match rest {
                [b'\r', b'\n', ..] if bytes == b"\n" => Some(2),
                [b'\r', ..] if bytes == b"\n" => Some(1),
                [b'&', ..] if raw_len != piece.len => Some(raw_len),
                _ => (!rest.starts_with(bytes)).then_some(raw_len),
            };
            let start = raw + self.base;
            match replaced {
                Some(len) => map.push_whole(text + at, Span::new(start, start + len)),
                None => map.push_same(text + at, start),
            }
            raw += replaced.unwrap_or(piece.len);
            at += piece.len;
        }
    }
}

/// Passes the tokens of an HTML text to `sink`, each with its origin. The text starts at `base` in
/// the whole text. Returns the offset after the last token. Any bytes after that are the start of
/// an unclosed tag.
pub(super) fn tokenize(
    html: &[u8],
    base: usize,
    content: ElementContent,
    sink: &mut dyn FnMut(CallbackEvent<'_>, TokenSource<'_>),
) -> usize {
    let is_inserted = Cell::new(false);
    let is_fallback = Cell::new(false);
    let pieces = RefCell::new(Vec::new());
    let mut reached = base;
    let callback = |event: CallbackEvent<'_>, positions: HtmlSpan<usize>| -> Option<Infallible> {
        let end = positions.end.min(html.len());
        let span = Span::new(base + positions.start.min(end), base + end);
        if let CallbackEvent::OpenStartTag { name } = event {
            is_fallback.set(name == b"noscript" || name == b"noembed");
        }
        reached = span.end;
        let has_text = matches!(
            event,
            CallbackEvent::String { .. } | CallbackEvent::AttributeValue { .. }
        );
        let mut pieces = pieces.borrow_mut();
        let source = TokenSource {
            span,
            html,
            pieces: &pieces,
            base,
        };
        sink(event, source);
        if has_text {
            pieces.clear();
        }
        None
    };
    let mut emitter = CallbackEmitter::new(callback);
    emitter.naively_switch_states(content == ElementContent::AsBrowsers);
    let emitter = MailEmitter {
        inner: emitter,
        content,
        is_fallback: &is_fallback,
        is_inserted: &is_inserted,
        position: 0,
        pieces: &pieces,
    };
    let reader = ShallowReader {
        inner: html.to_reader(),
        waiting: None,
        assignments: 0,
        is_inserted: &is_inserted,
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
struct MailEmitter<'t, E> {
    inner: E,
    content: ElementContent,
    /// `true` if the current start tag is `noscript` or `noembed`.
    is_fallback: &'t Cell<bool>,
    /// `true` if the next byte is an inserted blank, which has no position.
    is_inserted: &'t Cell<bool>,
    /// Offset after the bytes read so far.
    position: usize,
    /// Pieces of the text of the next token.
    pieces: &'t RefCell<Vec<Piece>>,
}

impl<E> MailEmitter<'_, E> {
    /// Notes a piece of text that ends at the position. Adjacent copies become one piece.
    fn add_piece(&mut self, text: &[u8]) {
        let mut pieces = self.pieces.borrow_mut();
        let is_full = MAX_PIECES <= pieces.len();
        let mut piece = Piece {
            len: text.len(),
            end: self.position,
            is_copy: false,
        };
        if let Some(last) = pieces.last_mut() {
            piece.is_copy = last.end + piece.len == piece.end && text != b"\n";
            if is_full || piece.is_copy && last.is_copy {
                last.len += piece.len;
                last.end = piece.end;
                return;
            }
        }
        pieces.push(piece);
    }
}

impl<E: Emitter> ForwardingEmitter for MailEmitter<'_, E> {
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

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.content == ElementContent::Xml
    }

    fn move_position(&mut self, offset: isize) {
        if self.is_inserted.take() {
            return;
        }
        self.position = self.position.wrapping_add_signed(offset);
        self.inner.move_position(offset);
    }

    fn emit_string(&mut self, text: &[u8]) {
        self.add_piece(text);
        self.inner.emit_string(text);
    }

    fn push_attribute_value(&mut self, text: &[u8]) {
        self.add_piece(text);
        self.inner.push_attribute_value(text);
    }
}

/// Reader that bounds the stack depth of the tokeniser. The tokeniser's functions for
/// `name="value"` call each other from attribute to attribute and return only at certain
/// characters. One of these is a blank between a name and its `=`, where it has no meaning. The
/// reader inserts such a blank now and then.
struct ShallowReader<'h> {
    inner: StringReader<'h>,
    /// The `=` after an inserted blank.
    waiting: Option<u8>,
    /// Number of `=` after attribute names of the current tag, since the last inserted blank.
    assignments: usize,
    /// Set to `true` for an inserted blank.
    is_inserted: &'h Cell<bool>,
}

/// Maximum number of attributes between inserted blanks. Few tags have more.
const MAX_ASSIGNMENTS: usize = 16;

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
        if needle.contains(&b'=') && !needle.contains(&b'&') && read == Some(b"=") {
            self.assignments += 1;
            if self.assignments == MAX_ASSIGNMENTS {
                self.assignments = 0;
                self.waiting = Some(b'=');
                self.is_inserted.set(true);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserted_blanks_have_no_offsets() {
        for attribute in ["a=\"b\" ", "a='b'", "a = b ", "a=b\n", "a==\"b\" "] {
            let html = format!("<p {}>x</p><!--y-->", attribute.repeat(3 * MAX_ASSIGNMENTS));
            let mut texts = Vec::new();
            tokenize(
                html.as_bytes(),
                0,
                ElementContent::AsBrowsers,
                &mut |event, source| {
                    let shown =
                        String::from_utf8_lossy(source.span.of(html.as_bytes())).into_owned();
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

    /// Returns the decoded text of a page that is one string, and its map.
    fn decoded(raw: &str) -> (String, ByteMap) {
        let (mut text, mut map) = (Vec::new(), ByteMap::new());
        tokenize(
            raw.as_bytes(),
            0,
            ElementContent::AsBrowsers,
            &mut |event, source| {
                if let CallbackEvent::String { value } = event {
                    source.align(value, text.len(), &mut map);
                    text.extend_from_slice(value);
                }
            },
        );
        map.push_same(text.len(), raw.len());
        (String::from_utf8(text).unwrap(), map)
    }

    #[track_caller]
    fn check(raw: &str, decoded: &str, part: &str, want: &str) {
        let (text, map) = self::decoded(raw);
        assert_eq!(text, decoded);
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
        check("a\rb\0c", "a\nb\0c", "\nb", "\rb");
        check("<p>&acE;x", "\u{223e}\u{333}x", "x", "x");
        check("a&", "a&", "&", "&");
        check("<title>a\0b</title>", "a\u{fffd}b", "b", "b");
        check("<script>a</b</script>", "a</b", "b", "b");
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

    #[test]
    fn the_map_of_too_many_references_encloses_their_bytes() {
        let raw = "&lt;".repeat(MAX_PIECES + 2) + "x&amp;y";
        let (text, map) = decoded(&raw);
        let (at, end) = (text.len() - 3, raw.len());
        assert_eq!(map.raw(Span::new(1, 2)), Span::new(4, 8));
        assert!(map.raw(Span::new(at, at + 1)).start < end - 7);
        assert_eq!(map.raw(Span::new(at, at + 3)).end, end);
        assert!(!map.exact(Span::new(at, at + 1)));
    }

    proptest::proptest! {
        #[test]
        fn adjacent_references_keep_their_places(
            pieces in proptest::collection::vec(proptest::sample::select(&[
                ("&#1087;", "\u{43f}"), ("&eacute;", "\u{e9}"), ("&amp;", "&"), ("&lt;", "<"),
                ("&#x1F600;", "\u{1f600}"), ("&nbsp;", "\u{a0}"), ("\u{43f}", "\u{43f}"),
                ("x", "x"), ("/", "/"), ("\r\n", "\n"),
            ][..]), 1..40)
        ) {
            let raw: String = pieces.iter().map(|(raw, _)| *raw).collect();
            let decoded: String = pieces.iter().map(|(_, decoded)| *decoded).collect();
            let (text, map) = self::decoded(&raw);
            proptest::prop_assert_eq!(text, decoded);
            let (mut r, mut d) = (0, 0);
            for (raw_piece, decoded_piece) in pieces {
                let text = Span::new(d, d + decoded_piece.len());
                let expected = Span::new(r, r + raw_piece.len());
                proptest::prop_assert_eq!(map.raw(text), expected, "{}", raw);
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
