//! Where URLs stand in the values of attributes and in style sheets.

use crate::span::Span;

/// Where the first `url(` of a style sheet opens: the offset behind the parenthesis.
pub(super) fn find_url(css: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'(', css)
        .find(|&at| at >= 3 && css[at - 3..at].eq_ignore_ascii_case(b"url"))
        .map(|at| at + 1)
}

/// Where in a value a URL stands without the blanks around it.
pub(super) fn trimmed(value: &[u8], url: Span) -> Span {
    let text = url.of(value);
    let start = url.start
        + text
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
    Span::new(start, start + text.trim_ascii().len())
}

/// The same without the quotes around it.
pub(super) fn unquoted(value: &[u8], url: Span) -> Span {
    let inner = trimmed(value, url);
    match inner.of(value) {
        [b'"', .., b'"'] | [b'\'', .., b'\''] => Span::new(inner.start + 1, inner.end - 1),
        _ => inner,
    }
}

/// Where the URL of `<meta http-equiv=refresh content="5; url=...">` stands.
pub(super) fn refreshed(content: &[u8]) -> Option<Span> {
    let at = content
        .windows(4)
        .position(|window| window.eq_ignore_ascii_case(b"url="))?
        + 4;
    let start = at
        + content[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
    let quote = content
        .get(start)
        .copied()
        .filter(|quote| matches!(quote, b'"' | b'\''));
    let Some(quote) = quote else {
        return Some(Span::new(start, content.len()));
    };
    let inner = &content[start + 1..];
    Some(Span::new(
        start + 1,
        start + 1 + memchr::memchr(quote, inner).unwrap_or(inner.len()),
    ))
}

/// The words of a value.
pub(super) fn words(value: &[u8]) -> impl Iterator<Item = Span> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += value[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        let len = value[at..]
            .iter()
            .take_while(|byte| !byte.is_ascii_whitespace())
            .count();
        let word = Span::new(at, at + len);
        at += len;
        (len > 0).then_some(word)
    })
}

/// The URLs of a `srcset`: each is followed by blanks and a width, or by a comma.
pub(super) fn candidates(value: &[u8]) -> impl Iterator<Item = Span> {
    let without_comma = |word: Span| {
        Span::new(
            word.start,
            word.end - usize::from(value[word.end - 1] == b','),
        )
    };
    // A word with a descriptor's shape (`2x`, `100w,`) is none.
    words(value).map(without_comma).filter(|word| {
        let word = word.of(value);
        let digits = word
            .iter()
            .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
            .count();
        !(digits > 0 && matches!(word[digits..], [b'x' | b'w' | b'h'] | []))
    })
}
