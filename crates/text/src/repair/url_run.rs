//! A word that may contain a bare URL: the run of characters that can belong to the URL, up to the
//! first that cannot.
//!
//! `continuation` decides which line ends the URL crosses, and `parse` trims punctuation from the
//! end of the run.

use crate::byte_scan::{
    ends_with_caseless, first_char, is_one_of, starts_with_caseless, suffix_len,
};
use crate::grammar::is_scheme_char;
use crate::limits::SCHEME_CHARS;
use crate::scan::Rules;
use crate::span::Span;

/// Policy for line breaks in a bare URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineBreakPolicy {
    /// A mailer may have inserted them. They are removed if the features of the line break favour
    /// it.
    Join,
    /// They come from a layout that may break a long word. They are removed if the joined URL was
    /// found whole elsewhere.
    JoinWhole,
    /// No mailer inserted them, and each one ends the word.
    Keep,
}

/// A word that may contain a bare URL, before it is unfolded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BareWord {
    /// The offset of the word.
    pub from: usize,
    /// The byte before the word; `None` at the start of the text.
    pub before: Option<u8>,
    /// The rules for finding the end of the word.
    pub rules: Rules,
    /// The policy for line breaks after it.
    pub breaks: LineBreakPolicy,
    /// Maximum number of bytes to read from the first line of the word.
    pub max_bytes: usize,
}

/// Returns the end of the run of characters that can belong to the bare URL at `from`. `before` is
/// the byte before the URL. Reads at most `max_bytes` bytes.
///
/// By the wide rules, the run also ends before another URL of a list, before an HTML entity for
/// `<`, `>` or `"`, and before the partner of a bracket or quote in `before`.
#[must_use]
pub fn url_run_end(
    text: &[u8],
    from: usize,
    before: Option<u8>,
    rules: Rules,
    max_bytes: usize,
) -> usize {
    let mut partner = EnclosingPair::new(before.filter(|_| rules == Rules::Wide));
    let inert = if partner.depth == 0 {
        &INERT
    } else {
        &INERT_EXCEPT_BRACKETS
    };
    let limit = text.len().min(from.saturating_add(max_bytes));
    let mut at = from;
    while let Some(run) = text[at..limit]
        .iter()
        .position(|&byte| !inert[usize::from(byte)])
    {
        at += run;
        match text[at] {
            b':' | b'&' if rules == Rules::Rfc1738 => {}
            b':' => {
                if let Some(separator) = list_separator(text, from, at) {
                    return separator;
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

/// The bytes that never end a run and never start a sequence that can, in any context.
///
/// Nearly all bytes of a URL are inert, and one table lookup skips them. Tests compare the search
/// with one that checks every byte.
///
/// They are printable ASCII except the characters that may end a run or start a sequence that does.
pub(super) const INERT: [bool; 256] = byte_table!(
    |byte| byte.is_ascii_graphic() && !matches!(byte, b'<' | b'>' | b'"' | b'`' | b':' | b'&')
);

/// The inert bytes of a URL after a bracket or quote. The partner of that bracket or quote ends the
/// URL.
const INERT_EXCEPT_BRACKETS: [bool; 256] =
    byte_table!(|byte| INERT[byte as usize]
        && !matches!(byte, b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'\''));

/// Returns the end of this URL if the colon at `colon` belongs to the `scheme://` of a second URL.
/// This is the offset of the comma, semicolon or bar before that scheme, or of the scheme itself if
/// it is glued to a word or to the slash after a whole URL. Text in another script between the URLs
/// may end this one too.
///
/// A second URL starts only after one of these separators. After another slash or an equals sign it
/// is part of this URL.
fn list_separator(text: &[u8], from: usize, colon: usize) -> Option<usize> {
    // For most URLs, this is the first scheme, and no separator can precede it.
    let is_own_scheme = matches!(&text[from..colon], b"http" | b"https");
    if is_own_scheme || !text[colon + 1..].starts_with(b"//") {
        return None;
    }
    let lowest = from.max(colon.saturating_sub(SCHEME_CHARS));
    let name = suffix_len(&text[lowest..colon], |&byte| is_scheme_char(byte));
    if let Some(len) = glued_scheme_len(&text[lowest..colon]) {
        return Some(colon - len);
    }
    let begin = colon - name;
    let at = begin.checked_sub(1).filter(|&at| at > from)?;
    match text[at] {
        _ if name == 0 => None,
        b',' | b';' | b'|' => Some(at),
        b'/' => slash_separator(text, Span::new(from, at), Span::new(begin, colon)),
        0x80.. => script_separator(text, from, Span::new(begin, colon)),
        _ => None,
    }
}

/// Returns the offset after the first two slashes of `url`.
#[must_use]
pub fn after_slashes(url: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'/', url)
        .find(|&at| url.get(at + 1) == Some(&b'/'))
        .map(|at| at + 2)
}

/// Returns the offset in `url` after its name and password, or after its scheme. A bar in the name
/// starts no label, because browsers go to the host after the `@`.
#[must_use]
pub fn after_userinfo(url: &[u8]) -> usize {
    let Some(site) = after_slashes(url) else {
        let colon = memchr::memchr(b':', url).map_or(0, |colon| colon + 1);
        return memchr::memchr(b'@', url).map_or(colon, |at| at + 1);
    };
    let end = memchr::memchr3(b'/', b'?', b'#', &url[site..]).map_or(url.len(), |len| site + len);
    memchr::memrchr(b'@', &url[site..end]).map_or(site, |at| site + at + 1)
}

/// Returns the end of the URL at `from` if non-ASCII text and then `scheme:` follow without a
/// blank, as in sentences of East Asian languages. The URL ends before that text if the text
/// touches a letter or digit, otherwise before the scheme. The value of a field may contain both
/// (`?q=...http://`).
fn script_separator(text: &[u8], from: usize, scheme: Span) -> Option<usize> {
    if !is_one_of(scheme.of(text), &["http", "https", "ftp"]) {
        return None;
    }
    let lowest = from.max(scheme.start.saturating_sub(COMPARED_BYTES));
    let before = &text[lowest..scheme.start];
    let script = before.iter().rev().take_while(|byte| !byte.is_ascii());
    let script = scheme.start - script.count();
    match text[lowest..script].last()? {
        last if last.is_ascii_alphanumeric() => Some(script),
        b'/' | b'.' | b'-' | b'_' | b')' => Some(scheme.start),
        _ => None,
    }
}

/// Maximum number of bytes to compare between a URL and the one after it, and of the name before a
/// slash.
const COMPARED_BYTES: usize = 256;

/// Minimum number of hyphenated words in a page name. Programs that serve other sites have shorter
/// names (`nph-proxy`).
const PAGE_WORDS: usize = 3;

/// Returns the end of the URL `first` before a slash and `scheme:` if the second URL does not
/// belong to it: the second URL repeats the first, the first ends with a page name or an
/// identifier, or both are on the same host.
///
/// In a query or fragment, and after other names, the second URL is an argument of a page archive,
/// a proxy or a script.
fn slash_separator(text: &[u8], first: Span, scheme: Span) -> Option<usize> {
    if !is_one_of(scheme.of(text), &["http", "https"]) {
        return None;
    }
    let url = first.of(text);
    let authority = after_slashes(&url[..url.len().min(COMPARED_BYTES)])?;
    // If two bare hosts are equal, the second is an argument of the first.
    let is_repeated = memchr::memchr(b'/', url.get(authority..)?).is_some()
        && url.len() <= COMPARED_BYTES
        && text[scheme.start..].starts_with(url)
        && ends_before(text, first.start, scheme.start + url.len());
    let from = url.len().saturating_sub(COMPARED_BYTES).max(authority);
    let tail = url.get(from..)?;
    if memchr::memchr2(b'?', b'#', tail).is_some() {
        return None;
    }
    let last = memchr::memrchr(b'/', tail).map(|slash| &tail[slash + 1..]);
    match last {
        _ if is_repeated => Some(scheme.start),
        Some(last) if is_identifier(last) => Some(scheme.start),
        Some(last) if !is_time(last) && is_same_host(text, first, scheme) => Some(scheme.start),
        Some(last) if ends_with_page(last) => Some(first.end),
        Some(last) if is_title(last) => Some(scheme.start),
        _ => None,
    }
}

/// Returns `true` if the URL that starts at or after `from` ends before `at`: the byte at `at` is
/// not a letter or digit, or it starts a scheme glued to the URL. The end of the text also counts
/// as the end of the URL.
fn ends_before(text: &[u8], from: usize, at: usize) -> bool {
    let starts_scheme = |scheme: &&[u8]| {
        let colon = at + scheme.len();
        let lowest = from.max(colon.saturating_sub(SCHEME_CHARS));
        text[colon.min(text.len())..].starts_with(b"://")
            && glued_scheme_len(&text[lowest..colon]) == Some(scheme.len())
    };
    !text.get(at).is_some_and(u8::is_ascii_alphanumeric)
        || [&b"https"[..], b"http"].iter().any(starts_scheme)
}

/// Extensions of pages, texts, pictures and archives, which a URL practically never continues
/// except with a query or fragment. Extensions of scripts are not included.
const PAGE_EXTENSIONS: [&str; 28] = [
    "html", "htm", "shtml", "xhtml", "txt", "pdf", "doc", "docx", "xlsx", "pptx", "csv", "json",
    "ts", "zip", "tgz", "gz", "bz2", "xz", "7z", "gif", "jpg", "jpeg", "png", "bmp", "svg", "tif",
    "webp", "ps",
];

/// Returns `true` if `text` ends with a dot and one of `PAGE_EXTENSIONS`.
#[must_use]
pub fn ends_with_page(text: &[u8]) -> bool {
    PAGE_EXTENSIONS.iter().any(|extension| {
        ends_with_caseless(text, extension.as_bytes())
            && text[..text.len() - extension.len()].ends_with(b".")
    })
}

/// Maximum number of bytes of a host to compare (RFC 1035, section 2.3.4).
const HOST_BYTES: usize = 255;

/// Number of hexadecimal digits in a commit hash.
const COMMIT_DIGITS: usize = 40;

/// Returns `true` if `name` is a Message-ID or a commit hash.
fn is_identifier(name: &[u8]) -> bool {
    let commit = name.len() == COMMIT_DIGITS && name.iter().all(u8::is_ascii_hexdigit);
    let at = memchr::memchr(b'@', name);
    commit || at.is_some_and(|at| 0 < at && name[at..].contains(&b'.') && !name.contains(&b':'))
}

/// Returns `true` if `name` is a timestamp or its wildcard, as page archives put before a URL:
/// `20010203`, `2001*`, `20010203im_`.
fn is_time(name: &[u8]) -> bool {
    let is_year = matches!(name, [b'1', b'9', a, b, ..] | [b'2', b'0', a, b, ..]
        if a.is_ascii_digit() && b.is_ascii_digit());
    is_year || name.starts_with(b"*")
}

/// Returns `true` if `first`, which has a path, and the URL at `scheme` have the same host.
fn is_same_host(text: &[u8], first: Span, scheme: Span) -> bool {
    let host = |url: &'_ [u8]| -> Option<(usize, usize)> {
        let start = after_slashes(&url[..url.len().min(SCHEME_CHARS)])?;
        let rest = &url[start..url.len().min(start + HOST_BYTES + 1)];
        memchr::memchr(b'/', rest).map(|len| (start, start + len))
    };
    let second = &text[scheme.start..];
    let first = first.of(text);
    match (host(first), host(second)) {
        (Some((from, to)), Some((start, end))) => {
            from < to && first[from..to].eq_ignore_ascii_case(&second[start..end])
        }
        _ => false,
    }
}

/// Returns `true` if `name` is the title of a page: words joined by hyphens.
fn is_title(name: &[u8]) -> bool {
    let mut words = name.split(|&byte| byte == b'-');
    PAGE_WORDS <= words.clone().count()
        && words.all(|word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_alphabetic))
}

/// Returns the length of the scheme at the end of `text` if a letter or digit precedes it: two URLs
/// without a blank between them (`HTTP://A.EXAMPLEHTTP://B.EXAMPLE`). An escape (`%3D`) before the
/// scheme means that the URL is in a query.
fn glued_scheme_len(text: &[u8]) -> Option<usize> {
    let scheme = [&b"https"[..], b"http"]
        .into_iter()
        .find(|scheme| ends_with_caseless(text, scheme))?;
    let before = &text[..text.len() - scheme.len()];
    let is_escape = matches!(before, [.., b'%', high, low]
        if high.is_ascii_hexdigit() && low.is_ascii_hexdigit());
    let is_word = before.last().is_some_and(u8::is_ascii_alphanumeric);
    let is_protocol = [&b"s"[..], b"u"].iter().any(|letter| {
        ends_with_caseless(before, letter)
            && !before[..before.len() - 1]
                .last()
                .is_some_and(u8::is_ascii_alphanumeric)
    });
    (is_word && !is_escape && !is_protocol).then_some(scheme.len())
}

/// Returns `true` for references to `<`, `>` and quotes in any case. They come from text that was
/// escaped as HTML once too often. Some programs drop the semicolon at the end of a word.
fn is_entity(rest: &[u8]) -> bool {
    const NAMES: [&[u8]; 9] = [
        b"&gt;", b"&lt;", b"&quot;", b"&apos;", b"&#39;", b"&#039;", b"&#x27;", b"&#34;", b"&nbsp;",
    ];
    let begins = |name: &[u8]| starts_with_caseless(rest, name);
    let continues = |byte: &u8| byte.is_ascii_alphanumeric() || b"=_-%;".contains(byte);
    let is_cut = (begins(b"&gt") || begins(b"&lt")) && !rest.get(3).is_some_and(continues);
    is_cut || NAMES.into_iter().any(begins)
}

/// Returns `true` for the punctuation that ends sentences and clauses. It also follows URLs.
#[must_use]
pub const fn is_sentence_mark(byte: u8) -> bool {
    matches!(byte, b'.' | b',' | b';' | b':' | b'!' | b'?' | b'\'')
}

/// Returns `text` without sentence punctuation and unopened closing brackets at its end. RFC 1738
/// leaves this to the reader (appendix).
#[must_use]
pub fn without_punctuation(text: &[u8]) -> &[u8] {
    let mut surplus = BracketSurplus::default();
    let mut rest = text;
    while let [before @ .., last] = rest
        && (is_sentence_mark(*last) || surplus.ends(rest))
    {
        rest = before;
    }
    rest
}

/// Number of closing brackets that a text does not open: round, square and curly. Counted at the
/// first bracket, because most texts do not end with one.
#[derive(Default)]
pub struct BracketSurplus(Option<[usize; 3]>);

impl BracketSurplus {
    /// Returns `true` if `text` ends with a closing bracket that it does not open. The next text
    /// must be a shorter prefix of this one.
    pub fn ends(&mut self, text: &[u8]) -> bool {
        let last = text.last().copied().unwrap_or_default();
        let Some(kind) = b")]}".iter().position(|&close| close == last) else {
            return false;
        };
        let surplus = self.0.get_or_insert_with(|| {
            let count = |byte: u8| memchr::memchr_iter(byte, text).count();
            [b"()", b"[]", b"{}"].map(|[open, close]| count(*close).saturating_sub(count(*open)))
        });
        let is_surplus = 0 < surplus[kind];
        surplus[kind] -= usize::from(is_surplus);
        is_surplus
    }
}

/// The pair of brackets or quotes opened before a URL.
struct EnclosingPair {
    open: u8,
    close: u8,
    /// The number of open pairs. 0 if there was no bracket or quote, or it has been closed.
    depth: usize,
}

impl EnclosingPair {
    fn new(before: Option<u8>) -> EnclosingPair {
        let (open, close, depth) = match before {
            Some(b'(') => (b'(', b')', 1),
            Some(b'[') => (b'[', b']', 1),
            Some(b'{') => (b'{', b'}', 1),
            // A quote is its own partner and cannot be nested.
            Some(b'\'') => (0, b'\'', 1),
            _ => (0, 0, 0),
        };
        EnclosingPair { open, close, depth }
    }

    /// Counts `byte`. Returns `true` if it closes the pair opened before the URL.
    fn closed_by(&mut self, byte: u8) -> bool {
        if self.depth == 0 {
            return false;
        }
        self.depth = self.depth + usize::from(byte == self.open) - usize::from(byte == self.close);
        self.depth == 0
    }
}

/// Returns the length of the character at the start of `text` if it cannot belong to a bare URL;
/// otherwise 0.
///
/// These are white space, `<`, `>` and `"` (RFC 1738, section 2.2 and appendix). The wide rules add
/// control characters, the backtick, and the characters that `ends_word` accepts.
#[must_use]
pub fn word_terminator_len(text: &[u8], rules: Rules) -> usize {
    match (text, rules) {
        ([b' ' | b'\t'..=b'\r' | b'<' | b'>' | b'"', ..], _) => 1,
        ([..=0x20 | 0x7F | b'`', ..], Rules::Wide) => 1,
        ([0xC2..=0xFF, ..], Rules::Wide) => first_char(text)
            .filter(|&first| ends_word(first))
            .map_or(0, char::len_utf8),
        _ => 0,
    }
}

/// Returns `true` for control characters, Unicode white space, and East Asian and typographic
/// quotes, brackets and stops. Includes the angle brackets of mathematics and of manual pages.
fn ends_word(first: char) -> bool {
    matches!(first,
        '\u{80}'..='\u{A0}' | '\u{AB}' | '\u{BB}' | '\u{2000}'..='\u{200A}'
            | '\u{2018}'..='\u{201F}' | '\u{2026}' | '\u{2028}' | '\u{2029}' | '\u{202F}'
            | '\u{2039}' | '\u{203A}' | '\u{2329}' | '\u{232A}' | '\u{27E8}'..='\u{27EB}'
            | '\u{3000}'..='\u{3002}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301B}'
            | '\u{FF01}' | '\u{FF08}' | '\u{FF09}' | '\u{FF0C}' | '\u{FF1A}'..='\u{FF1C}'
            | '\u{FF1E}' | '\u{FF1F}' | '\u{FF5B}' | '\u{FF5D}' | '\u{FF61}'..='\u{FF64}')
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    /// The simple twin of [`url_run_end`]: checks every byte, without a table.
    fn url_run_end_simple(
        text: &[u8],
        from: usize,
        before: Option<u8>,
        rules: Rules,
        max_bytes: usize,
    ) -> usize {
        let limit = text.len().min(from.saturating_add(max_bytes));
        let is_wide = rules == Rules::Wide;
        let mut pair = EnclosingPair::new(before.filter(|_| is_wide));
        for at in from..limit {
            let byte = text[at];
            let separator = (is_wide && byte == b':').then(|| list_separator(text, from, at));
            if let Some(Some(separator)) = separator {
                return separator;
            }
            let is_end = word_terminator_len(&text[at..], rules) > 0
                || is_wide && (is_entity(&text[at..]) || pair.closed_by(byte));
            if is_end {
                return at;
            }
        }
        limit
    }

    #[test]
    fn a_repeated_url_ends_before_a_glued_one() {
        let repeated = b"http://a.example/x/http://a.example/x";
        for after in [&b""[..], b".", b"http://b.example/", b"HTTPS://b.example/"] {
            let text = [repeated, after].concat();
            let end = url_run_end(&text, 0, None, Rules::Wide, usize::MAX);
            assert_eq!(end, b"http://a.example/x/".len(), "{}", text.escape_ascii());
        }
        let other = b"http://a.example/2001/http://a.example/2001minutes";
        let end = url_run_end(other, 0, None, Rules::Wide, usize::MAX);
        assert_eq!(end, other.len());
    }

    /// Checks that the URL at the start of `marked` ends at the `|`, or else at the end.
    #[track_caller]
    fn check(marked: &str) {
        let text = marked.replace('|', "");
        let end = url_run_end(text.as_bytes(), 0, None, Rules::Wide, usize::MAX);
        assert_eq!(end, marked.find('|').unwrap_or(text.len()), "{marked}");
    }

    #[test]
    fn a_slash_separates_urls_after_an_identifier_or_on_one_host() {
        check("https://a.example/all/1.2@b.example/|https://c.example/x");
        check("https://a.example/all/1.2@b.example/|HTTPS://A.example/all/3@b.example/");
        check("https://a.example/c/0123456789abcdef0123456789abcdef01234567/|http://b.example/");
        check("https://a.example/x/|https://A.EXAMPLE/y");
        // An argument of a page archive, of a proxy, of a script.
        check("http://a.example/web/2001*/http://a.example/x");
        check("http://a.example/web/*/http://a.example/x");
        check("http://a.example/x/http://aa.example/x");
        check("http://a.example/x/http://a.example:80/x");
        check("http://a.example/photos/17@N00/http://b.example/x");
        check("http://a.example/x?u=1.2@b.example/http://a.example/x");
        check("http://joe@a.example/http://b.example/x");
        check("http://a.example/http://a.example/x");
    }

    proptest! {
        #[test]
        fn a_run_that_is_cut_off_at_its_end_is_itself(
            pieces in vec(select(vec![
                "http://a.b/x", "HTTPS://a.b/x", "1@b.c/", "http", "://", "a.b/x", "x.html",
                "a-b-c", "/", ",", "&gt;", "%3D", "s", "\u{8acb}", "(", ")", "?", " ",
            ]), 0..12),
            before in select(vec![None, Some(b'('), Some(b'x')]),
            rules in select(vec![Rules::Wide, Rules::Rfc1738]),
        ) {
            let text = pieces.concat().into_bytes();
            let end = url_run_end(&text, 0, before, rules, usize::MAX);
            prop_assert_eq!(url_run_end(&text[..end], 0, before, rules, usize::MAX), end);
        }

        #[test]
        fn the_table_and_its_simple_twin_agree(
            pieces in vec(select(vec![
                "http", "HTTPS", "%3D", "s", "x.html", "a-b-c", "://", ":", ",", ";", "|", "&",
                "&gt;", "&LT;", "&quot;", "(", ")", "[", "]", "{", "}", "'",
                "\"", "<", ">", "`", " ", "\n", "\u{1}", "\u{7f}", "\u{a0}", "\u{2019}", "\u{3002}",
                "\u{e9}", "\u{8acb}", "x", "/", "=",
            ]), 0..24),
            before in select([None].into_iter().chain(b"([{'x".map(Some)).collect::<Vec<_>>()),
            rules in select(vec![Rules::Wide, Rules::Rfc1738]),
            max_bytes in select(vec![usize::MAX, 5]),
        ) {
            let text = pieces.concat().into_bytes();
            let from = text.len().min(1);
            prop_assert_eq!(
                url_run_end(&text, from, before, rules, max_bytes),
                url_run_end_simple(&text, from, before, rules, max_bytes)
            );
        }
    }

    /// The simple twin of [`without_punctuation`]: counts all brackets again before each removal.
    fn without_punctuation_simple(mut text: &[u8]) -> &[u8] {
        let count = |text: &[u8], bracket: u8| text.split(|&byte| byte == bracket).count();
        while let [before @ .., last] = text {
            let off = match last {
                b')' => count(text, b')') > count(text, b'('),
                b']' => count(text, b']') > count(text, b'['),
                b'}' => count(text, b'}') > count(text, b'{'),
                _ => b".,;:!?'".contains(last),
            };
            if !off {
                break;
            }
            text = before;
        }
        text
    }

    #[test]
    fn punctuation_and_unopened_brackets_are_removed() {
        assert_eq!(without_punctuation(b"(x)).]"), b"(x)");
        let bytes = b"()[]{}.,x'";
        for number in 0..100_000_usize {
            let text: Vec<u8> = (0..5)
                .map(|place| bytes[number / 10_usize.pow(place) % 10])
                .collect();
            assert_eq!(
                without_punctuation(&text),
                without_punctuation_simple(&text)
            );
        }
    }
}
