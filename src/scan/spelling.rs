//! Schemes and slashes as people spell them: mistyped (`http//`, `http:\\`, `htp://`, `ttp://` at a
//! cut), and defanged, so that nobody clicks the URL (`hxxp://`, `http[:]//`, `a[.]example`).
//!
//! Only says how such a spelling is read. Triggers for it are in `trigger`, and `repair` undoes it.

use super::host_check::names_site;

/// The way in which a scheme or a delimiter was spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// Its writer made a mistake, or a cut took its first letter.
    Mistyped,
    /// Its writer changed it on purpose, so that it is no link.
    Defanged,
}

/// A scheme and the slashes after it that are not written as in a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpelledHead {
    /// Length in bytes of scheme, colon and slashes as they are written.
    pub(crate) len: usize,
    /// The scheme that is meant.
    pub(crate) scheme: &'static str,
    pub(crate) spelling: Spelling,
    /// `true` if backslashes stand for the slashes, here and in the path.
    pub(crate) has_backslashes: bool,
}

/// Spellings of the schemes, in lower case, and what is meant. Spellings that end with a scheme, as
/// `hhttp`, are that scheme after a letter of the text (see `trigger`).
const SPELLINGS: [(&[u8], &str, Option<Spelling>); 25] = [
    (b"http", "http", None),
    (b"https", "https", None),
    (b"ftp", "ftp", None),
    (b"htp", "http", Some(Spelling::Mistyped)),
    (b"ttp", "http", Some(Spelling::Mistyped)),
    (b"htpp", "http", Some(Spelling::Mistyped)),
    (b"httpp", "http", Some(Spelling::Mistyped)),
    (b"htttp", "http", Some(Spelling::Mistyped)),
    (b"hhtp", "http", Some(Spelling::Mistyped)),
    (b"thtp", "http", Some(Spelling::Mistyped)),
    (b"hptt", "http", Some(Spelling::Mistyped)),
    (b"htps", "https", Some(Spelling::Mistyped)),
    (b"ttps", "https", Some(Spelling::Mistyped)),
    (b"htpps", "https", Some(Spelling::Mistyped)),
    (b"httpss", "https", Some(Spelling::Mistyped)),
    (b"htttps", "https", Some(Spelling::Mistyped)),
    (b"hhtps", "https", Some(Spelling::Mistyped)),
    (b"httsp", "https", Some(Spelling::Mistyped)),
    (b"hxxp", "http", Some(Spelling::Defanged)),
    (b"hxtp", "http", Some(Spelling::Defanged)),
    (b"htxp", "http", Some(Spelling::Defanged)),
    (b"hxxps", "https", Some(Spelling::Defanged)),
    (b"hxtps", "https", Some(Spelling::Defanged)),
    (b"htxps", "https", Some(Spelling::Defanged)),
    (b"fxp", "ftp", Some(Spelling::Defanged)),
];

/// Maximum number of bytes of a spelled head: a scheme, a delimiter in brackets, and slashes.
pub(super) const MAX_BYTES: usize = 6 + 5 + SLASHES;

/// Maximum number of slashes after a scheme.
const SLASHES: usize = 4;

/// Returns the scheme and slashes at the start of `text` if they are not written as in a URL, but
/// everybody reads them as such. After a mistake a domain or an IPv4 address must follow.
#[must_use]
pub(crate) fn spelled_head(text: &[u8]) -> Option<SpelledHead> {
    if is_common(text) || !text.first().is_some_and(|&first| begins_spelling(first)) {
        return None;
    }
    let letters = text
        .iter()
        .take(7)
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let name = &text[..letters];
    let &(_, scheme, of_name) = SPELLINGS
        .iter()
        .find(|(spelled, ..)| spelled.eq_ignore_ascii_case(name))?;
    let Delimiter { len, spelling } = delimiter(&text[letters..])?;
    let end = letters + len;
    if spelling != Some(Spelling::Defanged)
        && let Some((len, scheme)) = second_head(&text[end..])
    {
        return names_site(&text[end + len..]).then_some(SpelledHead {
            len: end + len,
            scheme,
            spelling: Spelling::Mistyped,
            has_backslashes: false,
        });
    }
    // An identical spelling is a URL as it should be.
    let spelling = match (of_name, spelling) {
        (Some(Spelling::Defanged), _) | (_, Some(Spelling::Defanged)) => Spelling::Defanged,
        (of_name, of_delimiter) => of_name.or(of_delimiter)?,
    };
    let has_backslashes = text[letters..end].contains(&b'\\');
    (spelling == Spelling::Defanged || names_site(&text[end..])).then_some(SpelledHead {
        len: end,
        scheme,
        spelling,
        has_backslashes,
    })
}

/// Returns `true` for the first letters of [`SPELLINGS`], in either case.
fn begins_spelling(first: u8) -> bool {
    matches!(first.to_ascii_lowercase(), b'f' | b'h' | b't')
}

/// Returns the length of a second scheme with its colon and slashes at the start of `text`, and the
/// scheme: `http://http://a.example/` is a URL that was pasted after a scheme.
fn second_head(text: &[u8]) -> Option<(usize, &'static str)> {
    let scheme = ["https", "http", "ftp"].into_iter().find(|scheme| {
        text.get(..scheme.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(scheme.as_bytes()))
    })?;
    let rest = &text[scheme.len()..];
    let colon = usize::from(rest.starts_with(b":"));
    rest[colon..]
        .starts_with(b"//")
        .then_some((scheme.len() + colon + 2, scheme))
}

/// Returns `true` for the beginning that nearly all URLs have: `http://` or `https://`, and then no
/// further slash and no second scheme.
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

/// Returns the colon and slashes at the start of `text`, perhaps mistyped: too few or too many
/// slashes, backslashes, the colon missing, after the slashes, or another sign in its place.
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
        [b':' | b';' | b'.', ..] => (1, false),
        _ => (0, false),
    };
    let slashes = text[colon..]
        .iter()
        .take_while(|byte| matches!(byte, b'/' | b'\\'))
        .count();
    // The escaped slashes of a string in JSON.
    if text[colon..].starts_with(b"\\/\\/") || slashes == 0 || SLASHES < slashes {
        return None;
    }
    let is_pair = matches!(&text[colon..colon + slashes], b"//" | b"\\\\");
    let written = &text[..colon];
    let after = usize::from(written.is_empty() && text.get(slashes) == Some(&b':'));
    let spelling = match written {
        _ if is_defanged => Some(Spelling::Defanged),
        b":" if text[colon..].starts_with(b"//") && slashes == 2 => None,
        b":" => Some(Spelling::Mistyped),
        _ if is_pair => Some(Spelling::Mistyped),
        _ => return None,
    };
    Some(Delimiter {
        len: colon + slashes + after,
        spelling,
    })
}

/// Maximum number of bytes of a delimiter in brackets.
pub(super) const MARK_BYTES: usize = 5;

/// A delimiter in brackets, so that the text is no link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DefangedMark {
    /// The delimiter that is meant.
    pub(crate) byte: u8,
    /// Length in bytes of the delimiter with its brackets.
    pub(crate) len: usize,
}

/// Returns the delimiter in brackets at the start of `text`: `[.]`, `(.)`, `[dot]`, `[:]`, `[at]` and
/// the like.
#[must_use]
pub(crate) fn defanged_mark(text: &[u8]) -> Option<DefangedMark> {
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
        .map(|len| &text[1..=len])?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_begins_with_a_letter_that_is_looked_at() {
        assert!(
            SPELLINGS
                .iter()
                .all(|(spelled, ..)| begins_spelling(spelled[0]))
        );
    }

    #[track_caller]
    fn check(text: &str, head: Option<(&str, &str)>) {
        let got = spelled_head(text.as_bytes()).map(|head| (&text[..head.len], head.scheme));
        assert_eq!(got, head, "{text}");
    }

    #[test]
    fn mistyped_schemes_and_slashes_are_read_as_meant() {
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
        ] {
            check(text, Some((written, scheme)));
        }
    }

    #[test]
    fn correct_schemes_and_what_names_no_site_stay() {
        for text in [
            "http://a.example/",
            "http:a.example",
            "http/a.example",
            "http:/x",
            "http//",
            "http:/1.1",
            "htp://localhost/",
            "gopher:/a.example/",
            "http:\\/\\/a.example",
            "http://///a.example",
            "ftp.a.example",
            "http.a.example",
            "http://http.a.example/",
            "http://http/",
            "http://http:8080/",
            "http://https/a.example",
            "http://ftp://x",
        ] {
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
}
