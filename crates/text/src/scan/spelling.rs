//! Schemes and slashes as people spell them: mistyped (`http//`, `http:\\`, `htp://`, `ttp://`
//! after a cut), or defanged to prevent clicks (`hxxp://`, `http[:]//`, `a[.]example`).
//!
//! This module only interprets such a spelling. `trigger` finds it, and `repair` corrects it.
//!
//! It also searches for URL starts without a colon: hosts whose first label names their service
//! (`www.`, `ftp.`, also numbered, such as `www2.` and `ftp5.`, in any case), and schemes without a
//! colon (`http//`).

use std::sync::LazyLock;

use super::host_check::names_site;
use crate::byte_scan::{WordSearcher, is_one_of, prefix_len, starts_with_caseless};
use crate::grammar::{Scheme, is_scheme_char};
use crate::limits::SCHEME_CHARS;

/// The kind of a scheme's or delimiter's spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// The writer made a mistake, or a cut removed the first letter.
    Mistyped,
    /// The writer changed it on purpose to keep it from being a link.
    Defanged,
}

use Spelling::{Defanged, Mistyped};

/// A scheme and slashes that are not written as in a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpelledHead {
    /// Length in bytes of scheme, colon and slashes as written.
    pub len: usize,
    /// The intended scheme.
    pub scheme: &'static str,
    pub spelling: Spelling,
    /// `true` if backslashes replace the slashes, here and in the path.
    pub has_backslashes: bool,
}

/// Spellings in lower case, with the intended schemes. A spelling that ends with a scheme, such as
/// `hhttp`, is that scheme after a letter of the text (see `trigger`).
const SPELLINGS: [(&[&str], &str, Option<Spelling>); 10] = [
    (&["http"], "http", None),
    (&["https"], "https", None),
    (&["ftp"], "ftp", None),
    (&["htp", "ttp", "htpp", "httpp"], "http", Some(Mistyped)),
    (&["htttp", "hhtp", "thtp", "hptt"], "http", Some(Mistyped)),
    (
        &["htps", "ttps", "htpps", "httpss"],
        "https",
        Some(Mistyped),
    ),
    (&["htttps", "hhtps", "httsp"], "https", Some(Mistyped)),
    (&["hxxp", "hxtp", "htxp", "h00p"], "http", Some(Defanged)),
    (
        &["hxxps", "hxtps", "htxps", "h00ps"],
        "https",
        Some(Defanged),
    ),
    (&["fxp"], "ftp", Some(Defanged)),
];

/// Maximum number of bytes of a spelled head: a scheme, a delimiter in brackets, and slashes.
pub(super) const MAX_BYTES: usize = 6 + 5 + SLASHES;

/// Maximum number of slashes after a scheme.
const SLASHES: usize = 4;

/// Returns the scheme and slashes at the start of `text` if they are misspelled but recognizable.
/// After a mistake, a domain or an IPv4 address must follow.
#[must_use]
pub fn spelled_head(text: &[u8]) -> Option<SpelledHead> {
    if is_common(text) {
        return None;
    }
    let mistyped = |len, scheme| SpelledHead {
        len,
        scheme,
        spelling: Mistyped,
        has_backslashes: false,
    };
    if let Some(len) = overwritten_head_len(text) {
        return Some(mistyped(len, "http"));
    }
    if !text.first().is_some_and(|&first| starts_spelling(first)) {
        return None;
    }
    let letters = prefix_len(&text[..text.len().min(7)], u8::is_ascii_alphanumeric);
    let name = &text[..letters];
    let mut rows = SPELLINGS.iter();
    let &(_, scheme, of_name) = rows.find(|(spelled, ..)| is_one_of(name, spelled))?;
    let Delimiter { len, spelling } = delimiter(&text[letters..])?;
    let end = letters + len;
    if spelling != Some(Defanged)
        && let Some((len, scheme)) = second_head(&text[end..])
    {
        return names_site(&text[end + len..]).then(|| mistyped(end + len, scheme));
    }
    // A correct name and a correct delimiter need no repair.
    let spelling = match (of_name, spelling) {
        (Some(Defanged), _) | (_, Some(Defanged)) => Defanged,
        (of_name, of_delimiter) => of_name.or(of_delimiter)?,
    };
    let has_backslashes = text[letters..end].contains(&b'\\');
    (spelling == Defanged || names_site(&text[end..])).then_some(SpelledHead {
        len: end,
        scheme,
        spelling,
        has_backslashes,
    })
}

/// Minimum length in bytes of a host label that a name before the URL must contain to be
/// recognized.
const OWN_NAME_BYTES: usize = 4;

/// Returns the length of `://` and the name before it at the start of `text` if the name replaced
/// the scheme of a site. Such a name is the site's mailing list
/// (`listerlang-questions://erlang.org`), or it was cut short
/// (`erlang-questi...://www.erlang.org`).
fn overwritten_head_len(text: &[u8]) -> Option<usize> {
    let name = prefix_len(&text[..text.len().min(SCHEME_CHARS)], |&byte| {
        is_scheme_char(byte)
    });
    let (name, rest) = text.split_at(name);
    let site = rest.strip_prefix(b"://")?;
    let host = &site[..prefix_len(site, |byte| {
        byte.is_ascii_alphanumeric() || b"-.".contains(byte)
    })];
    let mut labels = host.rsplit(|&byte| byte == b'.').skip(1);
    let is_own =
        |label: &[u8]| OWN_NAME_BYTES <= label.len() && memchr::memmem::find(name, label).is_some();
    let is_overwritten =
        name.ends_with(b"..") || name.contains(&b'-') && labels.next().is_some_and(is_own);
    (is_overwritten && Scheme::named(name).is_none() && names_site(site)).then(|| name.len() + 3)
}

/// Returns `true` for the first letters of [`SPELLINGS`], in either case.
fn starts_spelling(first: u8) -> bool {
    matches!(first.to_ascii_lowercase(), b'f' | b'h' | b't')
}

/// Returns a second scheme at the start of `text`, and its length with colon and slashes: in
/// `http://http://a.example/`, a URL was pasted after a scheme.
fn second_head(text: &[u8]) -> Option<(usize, &'static str)> {
    let mut schemes = ["https", "http", "ftp"].into_iter();
    let scheme = schemes.find(|scheme| starts_with_caseless(text, scheme.as_bytes()))?;
    let rest = &text[scheme.len()..];
    let colon = usize::from(rest.starts_with(b":"));
    rest[colon..]
        .starts_with(b"//")
        .then_some((scheme.len() + colon + 2, scheme))
}

/// Returns `true` if `text` starts like nearly all URLs: `http://` or `https://`, without a further
/// slash or a second scheme.
fn is_common(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"http") else {
        return false;
    };
    let rest = rest.strip_prefix(b"s").unwrap_or(rest);
    matches!(rest, [b':', b'/', b'/', next, ..] if !matches!(next, b'/' | b'\\'))
        && second_head(&rest[3..]).is_none()
}

/// The colon and slashes between a scheme and an authority.
struct Delimiter {
    len: usize,
    /// `None` for `://`.
    spelling: Option<Spelling>,
}

/// Returns the colon and slashes at the start of `text`, even if mistyped: too few or too many
/// slashes, backslashes, or a colon that is missing, after the slashes, or replaced.
fn delimiter(text: &[u8]) -> Option<Delimiter> {
    for mark in [&b"[://]"[..], b"(://)"] {
        if text.starts_with(mark) {
            return Some(Delimiter {
                len: mark.len(),
                spelling: Some(Spelling::Defanged),
            });
        }
    }
    let (colon, is_defanged) = match text {
        [b'[', b':', b']', ..] | [b'(', b':', b')', ..] => (3, true),
        [b':', b':', b'/', ..] => (2, false),
        [b':' | b';' | b'.', ..] => (1, false),
        _ => (0, false),
    };
    let slashes = prefix_len(&text[colon..], |byte| matches!(byte, b'/' | b'\\'));
    // The escaped slashes of a JSON string.
    if text[colon..].starts_with(b"\\/\\/") || slashes == 0 || SLASHES < slashes {
        return None;
    }
    let is_pair = matches!(&text[colon..colon + slashes], b"//" | b"\\\\");
    let written = &text[..colon];
    let after = usize::from(written.is_empty() && text.get(slashes) == Some(&b':'));
    let spelling = match written {
        _ if is_defanged => Some(Defanged),
        b":" if text[colon..].starts_with(b"//") && slashes == 2 => None,
        b":" | b"::" => Some(Mistyped),
        _ if is_pair => Some(Mistyped),
        _ => return None,
    };
    Some(Delimiter {
        len: colon + slashes + after,
        spelling,
    })
}

/// Maximum number of bytes of a delimiter in brackets.
pub(super) const MARK_BYTES: usize = 5;

/// A delimiter put in brackets to keep the text from being a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefangedMark {
    /// The intended delimiter.
    pub byte: u8,
    /// Length in bytes of the delimiter with its brackets.
    pub len: usize,
}

/// Returns the delimiter in brackets at the start of `text`: `[.]`, `(.)`, `[dot]`, `[:]`, `[at]`
/// and similar forms.
#[must_use]
pub fn defanged_mark(text: &[u8]) -> Option<DefangedMark> {
    let close = match text.first()? {
        b'[' => b']',
        b'(' => b')',
        b'{' => b'}',
        _ => return None,
    };
    let content = text[1..]
        .iter()
        .take(4)
        .position(|&byte| byte == close)
        .map(|len| &text[1..=len]);
    let Some(content) = content else {
        // `a[.example`: one bracket is enough.
        return match text {
            [b'[', b'.', next, ..] if next.is_ascii_alphanumeric() => {
                Some(DefangedMark { byte: b'.', len: 2 })
            }
            _ => None,
        };
    };
    let byte = match content {
        [byte @ (b'.' | b':' | b'@' | b'/')] => *byte,
        word if word.eq_ignore_ascii_case(b"dot") => b'.',
        word if word.eq_ignore_ascii_case(b"at") => b'@',
        _ => return None,
    };
    Some(DefangedMark {
        byte,
        len: content.len() + 2,
    })
}

/// Maximum number of digits of a host prefix: large sites had some hundreds of mirrors.
const PREFIX_DIGITS: usize = 3;

/// Maximum number of bytes before the dot.
pub(super) const PREFIX_BYTES: usize = 3 + PREFIX_DIGITS;

/// The first label of a host, which names its service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HostPrefix {
    /// The offset of the label.
    pub(super) at: usize,
    /// The scheme for that service.
    pub(super) scheme: &'static str,
}

/// Returns the offset, `from` or later, of the first byte that ends a host prefix or a scheme
/// without a colon: a dot, possibly in brackets, or the first of two slashes.
pub(super) fn find_prefix_end(text: &[u8], from: usize) -> Option<usize> {
    let mut begin = from.saturating_sub(PREFIX_BYTES).min(text.len());
    while let Some(word) = WORDS.find(text, begin) {
        let end = if text[word] == b'[' {
            word
        } else if text[word + 1] == b'/' {
            word + 1
        } else {
            word + 3 + digits(text[word + 3..].iter())
        };
        if from <= end && text.get(end).is_some_and(|&byte| ends_prefix(byte)) {
            return Some(end);
        }
        begin = word + 1;
    }
    None
}

/// Returns `true` for a byte at which [`find_prefix_end`] stops: a dot, the bracket before a dot,
/// or a slash.
pub(super) fn ends_prefix(byte: u8) -> bool {
    matches!(byte, b'.' | b'[' | b'(' | b'{' | b'/')
}

/// Returns the length of the dot at the start of `text`, including the brackets of a defanged dot.
pub(super) fn dot_len(text: &[u8]) -> Option<usize> {
    match text.first()? {
        b'.' => Some(1),
        _ => defanged_mark(text)
            .filter(|mark| mark.byte == b'.')
            .map(|mark| mark.len),
    }
}

/// Returns the host prefix that ends before the dot at `dot`.
pub(super) fn prefix_before_dot(text: &[u8], dot: usize) -> Option<HostPrefix> {
    let word = dot - digits(text[..dot].iter().rev());
    let at = word.checked_sub(3)?;
    let scheme = match [text[at] | 0x20, text[at + 1] | 0x20, text[at + 2] | 0x20] {
        [b'w', b'w', b'w'] => "http",
        [b'f', b't', b'p'] => "ftp",
        _ => return None,
    };
    Some(HostPrefix { at, scheme })
}

/// Returns the scheme for a text without one if the text starts with a host prefix.
#[must_use]
pub fn guessed_scheme(text: &[u8]) -> Option<&'static str> {
    let dot = text
        .iter()
        .take(PREFIX_BYTES + 1)
        .position(|&byte| byte == b'.')?;
    prefix_before_dot(text, dot)
        .filter(|prefix| prefix.at == 0)
        .map(|prefix| prefix.scheme)
}

/// Returns the number of digits at the start of `bytes`, at most [`PREFIX_DIGITS`].
fn digits<'b>(bytes: impl Iterator<Item = &'b u8>) -> usize {
    bytes
        .take(PREFIX_DIGITS)
        .take_while(|byte| byte.is_ascii_digit())
        .count()
}

/// Maximum length of a host (RFC 1035, section 2.3.4).
const HOST_BYTES: usize = 255;

/// Returns the offset of the host without a scheme whose bracketed dot is at `dot` if it is a
/// domain or an IPv4 address: `evil[.]example[.]com`.
pub(super) fn defanged_host(text: &[u8], floor: usize, dot: usize) -> Option<HostPrefix> {
    const MARK: &[u8] = b"[.]";
    let is_label = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let lowest = floor.max(dot.saturating_sub(HOST_BYTES));
    let mut at = dot;
    let mut host = Vec::new();
    while lowest < at {
        if text[lowest..at].ends_with(MARK) {
            at -= MARK.len();
        } else if is_label(text[at - 1]) || text[at - 1] == b'.' {
            at -= 1;
        } else {
            break;
        }
    }
    let mut rest = &text[at..text.len().min(dot + HOST_BYTES)];
    while let Some(&byte) = rest.first() {
        if rest.starts_with(MARK) {
            host.push(b'.');
            rest = &rest[MARK.len()..];
        } else if is_label(byte) || byte == b'.' {
            host.push(byte);
            rest = &rest[1..];
        } else {
            break;
        }
    }
    // A name before `[.]www.` is not a label of the host after it.
    let is_whole = !matches!(rest.first(), Some(b'@' | b'_'))
        && !text[dot + MARK.len()..].starts_with(b"www.");
    let scheme = "http";
    (at < dot && is_whole && names_site(&host)).then_some(HostPrefix { at, scheme })
}

/// The sixteen spellings of `www` and `ftp`, the ends of schemes without a colon (`p//` and `s//`),
/// and a dot in brackets.
///
/// The packed search is case-sensitive, and the list therefore contains all spellings. The search
/// puts every eighth word, and words that differ from it only in case, into one of eight classes.
/// It also stops at a mix of bytes from the words of one class. In this order, each word shares a
/// class only with variants in case.
static WORDS: LazyLock<WordSearcher> = LazyLock::new(|| {
    WordSearcher::new(&[
        "www", "ftp", "p//", "s//", "[.]", "Www", "wWw", "WWw", "wwW", "WwW", "wWW", "WWW", "Ftp",
        "fTp", "FTp", "ftP", "FtP", "fTP", "FTP", "P//", "S//",
    ])
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_starts_with_a_checked_letter() {
        assert!(
            SPELLINGS
                .iter()
                .flat_map(|(spelled, ..)| *spelled)
                .all(|spelled| starts_spelling(spelled.as_bytes()[0]))
        );
    }

    #[track_caller]
    fn check(text: &str, head: Option<(&str, &str)>) {
        let got = spelled_head(text.as_bytes()).map(|head| (&text[..head.len], head.scheme));
        assert_eq!(got, head, "{text}");
    }

    #[test]
    fn mistyped_schemes_and_slashes_are_corrected() {
        for (text, written, scheme) in [
            ("http//www.a.example/", "http//", "http"),
            ("http:/a.example/x", "http:/", "http"),
            ("http:\\\\www.a.example\\x", "http:\\\\", "http"),
            ("https:///www.a.example/", "https:///", "https"),
            ("http//:www.a.example", "http//:", "http"),
            ("http;//www.a.example", "http;//", "http"),
            ("http.//www.a.example", "http.//", "http"),
            ("HTP://a.example/", "HTP://", "http"),
            ("ttps://a.example/", "ttps://", "https"),
            ("ftp:/192.0.2.1/x", "ftp:/", "ftp"),
            ("http://http://a.example/", "http://http://", "http"),
            ("http://HTTPS://a.example/", "http://HTTPS://", "https"),
            ("https://http//a.example/", "https://http//", "http"),
            ("http://ftp://ftp.a.example/", "http://ftp://", "ftp"),
            ("http::/a.example/", "http::/", "http"),
            ("http:://a.example/", "http:://", "http"),
            ("listlamps-talk://lamps.org/x", "listlamps-talk://", "http"),
            ("lamps-ta...://www.a.example/", "lamps-ta...://", "http"),
        ] {
            check(text, Some((written, scheme)));
        }
    }

    #[test]
    fn correct_schemes_and_names_without_a_site_stay() {
        let cases = "http://a.example/ http:a.example http/a.example http:/x http// http:/1.1 \
            htp://localhost/ gopher:/a.example/ http:\\/\\/a.example http://///a.example \
            ftp.a.example http.a.example http://http.a.example/ http://http/ http://http:8080/ \
            http://https/a.example http://ftp://x x-lamp://a.example/ git+ssh://git.example/";
        for text in cases.split(' ') {
            check(text, None);
        }
    }

    #[test]
    fn defanged_schemes_need_no_site() {
        for (text, written, scheme) in [
            ("hxxp://a[.]example", "hxxp://", "http"),
            ("hXXps://a", "hXXps://", "https"),
            ("hxxps[:]//a", "hxxps[:]//", "https"),
            ("http[:]//a", "http[:]//", "http"),
            ("hxxp[://]a", "hxxp[://]", "http"),
            ("fxp://a", "fxp://", "ftp"),
        ] {
            check(text, Some((written, scheme)));
        }
    }

    #[test]
    fn delimiters_in_brackets_are_marks() {
        for (text, byte, len) in [
            ("[.]x", b'.', 3),
            ("(.)", b'.', 3),
            ("{.}", b'.', 3),
            ("[DOT]", b'.', 5),
            ("(dot)", b'.', 5),
            ("[at]", b'@', 4),
            ("[@]", b'@', 3),
            ("[:]", b':', 3),
        ] {
            let mark = DefangedMark { byte, len };
            assert_eq!(defanged_mark(text.as_bytes()), Some(mark), "{text}");
        }
        for text in ["[1]", "[.", "[.)", "[dots]", "(a)", ".", "", "[]"] {
            assert_eq!(defanged_mark(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn labels_may_have_a_number() {
        for (text, dots) in [
            ("www. WWW2. Ftp15.", &[3, 9, 16][..]),
            ("www1234. ww.x wwww. xftp9.", &[18, 25]),
            ("www", &[]),
            ("www12", &[]),
            ("www[.]a http//b ftp(dot)c x://d", &[3, 12, 19]),
        ] {
            let mut found = Vec::new();
            while let Some(dot) =
                find_prefix_end(text.as_bytes(), found.last().map_or(0, |dot| dot + 1))
            {
                found.push(dot);
            }
            assert_eq!(found, dots, "{text}");
        }
    }

    #[test]
    fn a_host_prefix_implies_a_scheme() {
        for (text, scheme) in [
            ("www.a", Some("http")),
            ("FTP12.a", Some("ftp")),
            ("awww.a", None),
            ("www1234.a", None),
            ("x", None),
        ] {
            assert_eq!(guessed_scheme(text.as_bytes()), scheme, "{text}");
        }
    }
}
