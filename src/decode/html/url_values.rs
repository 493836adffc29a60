//! Elements and attributes of HTML that matter here, and the positions of URLs in values of
//! attributes and in style sheets.

use crate::span::Span;

/// The URLs that a style sheet names with `url(...)`, without quotes.
pub(super) fn css_urls(css: &[u8]) -> impl Iterator<Item = Span> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let open = at + after_url_parenthesis(&css[at..])?;
        let close = memchr::memchr(b')', &css[open..]).map_or(css.len(), |close| open + close);
        at = close;
        Some(unquoted(css, Span::new(open, close)))
    })
}

/// The URL of `<meta http-equiv=refresh content="5; url=...">`.
pub(super) fn refresh_url(content: &[u8]) -> Option<Span> {
    let at = content
        .windows(4)
        .position(|window| window.eq_ignore_ascii_case(b"url="))?
        + 4;
    let start = at + blanks(&content[at..]);
    let quote = content
        .get(start)
        .copied()
        .filter(|quote| matches!(quote, b'"' | b'\''));
    let Some(quote) = quote else {
        return Some(Span::new(start, content.len()));
    };
    let inner = &content[start + 1..];
    let len = memchr::memchr(quote, inner).unwrap_or(inner.len());
    Some(Span::new(start + 1, start + 1 + len))
}

/// The URLs of a `srcset`. White space and a descriptor, or a comma, follow each of them.
pub(super) fn srcset_urls(value: &[u8]) -> impl Iterator<Item = Span> {
    let without_comma = |word: Span| {
        let comma = usize::from(value[word.end - 1] == b',');
        Span::new(word.start, word.end - comma)
    };
    words(value)
        .map(without_comma)
        .filter(|word| !is_descriptor(word.of(value)))
}

/// The words of a value, which white space separates.
pub(super) fn words(value: &[u8]) -> impl Iterator<Item = Span> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += blanks(&value[at..]);
        let len = value[at..]
            .iter()
            .take_while(|byte| !byte.is_ascii_whitespace())
            .count();
        let word = Span::new(at, at + len);
        at += len;
        (len > 0).then_some(word)
    })
}

/// The range `url` of a value without the white space around it.
pub(super) fn trimmed(value: &[u8], url: Span) -> Span {
    let text = url.of(value);
    let start = url.start + blanks(text);
    Span::new(start, start + text.trim_ascii().len())
}

/// The range `url` of a value without the white space and the quotes around it.
fn unquoted(value: &[u8], url: Span) -> Span {
    let inner = trimmed(value, url);
    match inner.of(value) {
        [b'"', .., b'"'] | [b'\'', .., b'\''] => Span::new(inner.start + 1, inner.end - 1),
        _ => inner,
    }
}

/// The offset after the first `url(` of a style sheet.
fn after_url_parenthesis(css: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'(', css)
        .find(|&at| at >= 3 && css[at - 3..at].eq_ignore_ascii_case(b"url"))
        .map(|at| at + 1)
}

/// Returns `true` for a descriptor of a `srcset`: `2x`, `100w`.
fn is_descriptor(word: &[u8]) -> bool {
    let digits = word
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
        .count();
    digits > 0 && matches!(word[digits..], [b'x' | b'w' | b'h'] | [])
}

/// Number of white-space bytes at the start of a text.
fn blanks(text: &[u8]) -> usize {
    text.iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count()
}

/// Attributes whose value is one URL.
pub(super) const URL_ATTRIBUTES: [&str; 22] = [
    "action",
    "archive",
    "background",
    "cite",
    "classid",
    "codebase",
    "data",
    "dynsrc",
    "formaction",
    "href",
    "icon",
    "longdesc",
    "lowsrc",
    "manifest",
    "ping",
    "poster",
    "profile",
    "src",
    "xlink:href",
    "data-src",
    "data-href",
    "original-src",
];

/// Returns the name of an attribute whose value is one URL. `None` for other attributes.
pub(super) fn url_attribute(name: &[u8]) -> Option<&'static str> {
    URL_ATTRIBUTES
        .iter()
        .find(|known| known.as_bytes() == name)
        .copied()
}

/// Returns `true` for elements before and after which the visible text has a line break, so that
/// the text of neighbours is not joined.
pub(super) fn breaks_lines(name: &[u8]) -> bool {
    matches!(
        name,
        b"a" | b"address"
            | b"article"
            | b"aside"
            | b"blockquote"
            | b"body"
            | b"br"
            | b"button"
            | b"caption"
            | b"center"
            | b"dd"
            | b"div"
            | b"dl"
            | b"dt"
            | b"fieldset"
            | b"figure"
            | b"footer"
            | b"form"
            | b"h1"
            | b"h2"
            | b"h3"
            | b"h4"
            | b"h5"
            | b"h6"
            | b"header"
            | b"hr"
            | b"html"
            | b"img"
            | b"li"
            | b"main"
            | b"nav"
            | b"ol"
            | b"option"
            | b"p"
            | b"pre"
            | b"section"
            | b"select"
            | b"table"
            | b"td"
            | b"th"
            | b"title"
            | b"tr"
            | b"ul"
    )
}
