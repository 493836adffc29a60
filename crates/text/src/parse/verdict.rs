//! The verdicts of three grammars: RFC 1738 by our own grammar, RFC 3986 and WHATWG by crates.
//!
//! Most URLs are canonical: a lowercase scheme, a host of letters, digits and hyphens, and after
//! it no byte that is escaped or removed. RFC 3986 accepts them, and WHATWG serializes them
//! unchanged, except that it adds the slash of an empty path. One fast pass recognizes them. All
//! others go to the crates `iri-string` and `url`; a test compares the answers.

use std::borrow::Cow;

use iri_string::spec::UriSpec;

use super::components::{UrlComponents, components, key_of_components};
use crate::grammar::{Reject, Url, escaped_byte};

named_enum! {
    /// A grammar that every URL is checked against.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Grammar {
        /// RFC 1738 section 5.
        Rfc1738 = "rfc1738",
        /// RFC 3986.
        Rfc3986 = "rfc3986",
        /// The WHATWG URL standard.
        Whatwg = "whatwg",
    }
}

/// The verdicts of the three grammars on one text.
#[derive(Clone, Debug)]
pub struct Verdicts<'u> {
    /// The components of the text without its fragment, split without a check by any grammar.
    pub components: UrlComponents<'u>,
    /// The verdict of RFC 1738 on the text without its fragment.
    pub rfc1738: Result<Url<'u>, Reject>,
    /// `true` if RFC 3986 accepts the whole text as a `URI`.
    pub rfc3986: bool,
    /// WHATWG's reading of the whole text; `None` if WHATWG rejects it.
    pub whatwg: Option<WhatwgReading<'u>>,
}

impl<'u> Verdicts<'u> {
    /// Returns the verdicts on `full`. Its first `url_len` bytes are the URL without its fragment.
    ///
    /// Linear in the length of the text. RFC 3986 rejects bytes that are not UTF-8; WHATWG reads
    /// them as U+FFFD.
    #[must_use]
    pub fn of(full: &'u [u8], url_len: usize) -> Verdicts<'u> {
        // A `#` within `url_len` is an error by RFC 1738. In no grammar is it part of a host, path
        // or query.
        let end = memchr::memchr(b'#', full).map_or(url_len, |hash| hash.min(url_len));
        Verdicts::of_components(full, url_len, components(&full[..end]))
    }

    /// Like [`Verdicts::of`], given the components of the URL.
    pub(super) fn of_components(
        full: &'u [u8],
        url_len: usize,
        components: UrlComponents<'u>,
    ) -> Verdicts<'u> {
        let rfc1738 = Url::parse(&full[..url_len]);
        let canonical = canonical(full);
        Verdicts {
            components,
            rfc1738,
            rfc3986: canonical.is_some() || rfc3986(full),
            whatwg: canonical.or_else(|| whatwg(full)),
        }
    }

    /// Returns `true` if `grammar` accepts the text.
    #[must_use]
    pub fn conforms_to(&self, grammar: Grammar) -> bool {
        match grammar {
            Grammar::Rfc1738 => self.rfc1738.is_ok(),
            Grammar::Rfc3986 => self.rfc3986,
            Grammar::Whatwg => self.whatwg.is_some(),
        }
    }

    /// Returns the grammars that accept the text, in the order of [`Grammar::ALL`].
    pub fn conforms(&self) -> impl Iterator<Item = Grammar> {
        Grammar::ALL
            .into_iter()
            .filter(|grammar| self.conforms_to(*grammar))
    }

    /// Like [`key`], for `url`, the URL without its fragment.
    #[must_use]
    pub fn key(&self, url: &[u8]) -> Vec<u8> {
        match &self.whatwg {
            Some(WhatwgReading {
                href: Cow::Borrowed(_),
                ..
            }) => key_of_components(&self.components),
            // Without a fragment, the serialization of `url` equals the whole text's.
            Some(reading) if !reading.href.contains('#') => {
                key_of_components(&components(reading.href.as_bytes()))
            }
            _ => key(url),
        }
    }

    /// Returns WHATWG's serialization: the URL that a browser fetches.
    #[must_use]
    pub fn href(&self) -> Option<&str> {
        self.whatwg.as_ref().map(|whatwg| whatwg.href.as_ref())
    }
}

/// Returns a URL without its fragment in the form for comparison: all spellings that browsers
/// fetch as one URL have the same key. Scheme and host are in lower case, the default port is
/// omitted, escapes of unreserved characters are decoded, and other escapes are in upper-case
/// hexadecimal.
#[must_use]
pub fn key(url: &[u8]) -> Vec<u8> {
    let reading = canonical(url).or_else(|| whatwg(url));
    match reading.filter(|_| !url.contains(&b'#')) {
        Some(reading) => key_of_components(&components(reading.href.as_bytes())),
        None => key_of_components(&components(url)),
    }
}

/// Returns `true` if RFC 3986 accepts a text as a `URI`.
pub(super) fn rfc3986(full: &[u8]) -> bool {
    std::str::from_utf8(full).is_ok_and(|text| iri_string::validate::iri::<UriSpec>(text).is_ok())
}

/// WHATWG's reading of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhatwgReading<'u> {
    /// The serialization: the URL that a browser fetches.
    pub href: Cow<'u, str>,
    /// `true` if its scheme is special. Browsers fetch these schemes.
    pub is_special: bool,
    /// `true` if its host is an IP address.
    pub is_address: bool,
}

impl From<url::Url> for WhatwgReading<'_> {
    fn from(url: url::Url) -> Self {
        WhatwgReading {
            is_special: url.is_special(),
            is_address: matches!(url.host(), Some(url::Host::Ipv4(_) | url::Host::Ipv6(_))),
            href: Cow::Owned(url.into()),
        }
    }
}

/// Returns WHATWG's reading of a text; `None` if WHATWG rejects it.
pub(super) fn whatwg(full: &[u8]) -> Option<WhatwgReading<'static>> {
    url::Url::parse(&String::from_utf8_lossy(full))
        .ok()
        .map(WhatwgReading::from)
}

/// Returns WHATWG's reading of `full`, if `full` is canonical. RFC 3986 accepts it as well.
/// Linear.
fn canonical(full: &[u8]) -> Option<WhatwgReading<'_>> {
    let colon = full
        .iter()
        .position(|&byte| !is_lower_scheme_char(byte))
        .filter(|&at| full[at] == b':')?;
    let (scheme, rest) = (&full[..colon], &full[colon + 1..]);
    let (is_special, is_canonical) = match scheme {
        b"http" | b"https" | b"ftp" => (true, is_site(rest)),
        // Special schemes with their own rules.
        b"file" | b"ws" | b"wss" => return None,
        _ => (false, is_opaque(rest)),
    };
    if !is_canonical {
        return None;
    }
    scheme.first().filter(|byte| byte.is_ascii_lowercase())?;
    let mut href = Cow::Borrowed(std::str::from_utf8(full).ok()?);
    if is_special && !rest[2..].contains(&b'/') {
        href.to_mut().push('/');
    }
    Some(WhatwgReading {
        href,
        is_special,
        is_address: false,
    })
}

fn is_lower_scheme_char(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.')
}

/// Returns `true` for `//`, a name, and a path that is empty or starts with a slash.
fn is_site(rest: &[u8]) -> bool {
    let Some(site) = rest.strip_prefix(b"//") else {
        return false;
    };
    let (host, path) = site.split_at(memchr::memchr(b'/', site).unwrap_or(site.len()));
    is_name(host) && is_inert_text(path, DotSegments::Reject)
}

/// Returns `true` for a text that needs neither a host nor a slash, such as the text after
/// `mailto:`, `news:` or `urn:`.
fn is_opaque(rest: &[u8]) -> bool {
    let begins_opaque = rest
        .first()
        .is_some_and(|first| !matches!(first, b'/' | b'?' | b'#'));
    begins_opaque && is_inert_text(rest, DotSegments::Accept)
}

/// Returns `true` for a name of at least two lowercase labels. Its last label has only letters, so
/// it is not an IP address.
fn is_name(host: &[u8]) -> bool {
    let mut labels = host.rsplit(|&byte| byte == b'.');
    let last = labels.next().unwrap_or_default();
    host.len() <= 253
        && last.len() < host.len()
        && is_label(last)
        && last.iter().all(u8::is_ascii_lowercase)
        && labels.all(is_label)
}

/// Returns `true` for a lowercase label without two hyphens in a row, so it is not Punycode.
fn is_label(label: &[u8]) -> bool {
    (1..=63).contains(&label.len())
        && label
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-')
        && !label.starts_with(b"-")
        && !label.ends_with(b"-")
        && !label.windows(2).any(|pair| pair == b"--")
}

/// Treatment of a dot at the start of a segment and of an escaped dot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DotSegments {
    /// A dot is an ordinary byte.
    Accept,
    /// The segment may be `.` or `..`, which WHATWG removes.
    Reject,
}

/// Returns `true` if `text` consists of escapes, at most one `#`, and bytes that are serialized
/// unchanged in path, query and fragment.
fn is_inert_text(text: &[u8], dots: DotSegments) -> bool {
    let mut at = 0;
    let mut hashes = 0;
    while let Some(run) = text[at..]
        .iter()
        .position(|&byte| !INERT[usize::from(byte)])
    {
        at += run;
        let is_inert = match text[at] {
            b'%' => escaped_byte(&text[at..])
                .is_some_and(|byte| byte != b'.' || dots == DotSegments::Accept),
            b'/' => text.get(at + 1) != Some(&b'.') || dots == DotSegments::Accept,
            b'#' => {
                hashes += 1;
                hashes == 1
            }
            _ => false,
        };
        if !is_inert {
            return false;
        }
        at += 1;
    }
    true
}

/// Bytes that are inert everywhere: unreserved ones and most delimiters.
const INERT: [bool; 256] = byte_table!(|byte| byte.is_ascii_alphanumeric()
    || matches!(
        byte,
        b'-' | b'.' | b'_' | b'~' | b'!' | b'$' | b'&' | b'('
            ..=b',' | b';' | b'=' | b':' | b'@' | b'?'
    ));

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns `true` if a text is canonical. If so, asserts that the crates return the same
    /// answers.
    fn check(text: &str) -> bool {
        let Some(found) = canonical(text.as_bytes()) else {
            return false;
        };
        assert!(rfc3986(text.as_bytes()), "{text}");
        assert_eq!(Some(found), whatwg(text.as_bytes()), "{text}");
        true
    }

    #[test]
    fn equivalent_urls_have_one_key() {
        let same = |a: &str, b: &str| assert_eq!(key(a.as_bytes()), key(b.as_bytes()), "{a} {b}");
        same("HTTP://EXAMPLE.org:80/%7euser", "http://example.org/~user");
        same("ftp://u%40@h:021/a%2fb", "ftp://u%40@h/a%2Fb");
        same("News:Comp.X", "news:Comp.X");
        // Spellings that browsers fetch as one URL.
        same(
            "http://B\u{FC}cher.example/\u{E9}",
            "http://xn--bcher-kva.example/%C3%A9",
        );
        same("http://h.example/a/../b/./c", "http://h.example/b/c");
        same("http://0x7f.1/", "http://127.0.0.1");
        same("http://[0:0::1]/", "http://[::1]/");
        same("http:\\\\h.example\\a", "http://h.example/a");
        same("http://h", "HTTP://H:80/");
        same("ftp://h?q", "ftp://h/?q");
        same(
            "mailto:a@h.example?subject=x y",
            "mailto:a@h.example?subject=x%20y",
        );
        assert_eq!(key(b"gopher://h"), b"gopher://h");
        assert_eq!(key(b"http://h/A?b#c"), b"http://h/A?b#c");
        assert_ne!(key(b"http://h:8080/"), key(b"http://h/"));
    }

    #[test]
    fn most_urls_are_canonical() {
        let cases = "http://www.example.org/a/b.html https://a-b.example.co.uk/~x/?q=1&r=%7e#top \
            ftp://ftp.example.org/pub/x;type=a mailto:joe@example.org \
            news:comp.infosystems.www.misc urn:isbn:0-395-36341-1 http://example.org \
            ftp://ftp.example.org";
        for text in cases.split(' ') {
            assert!(check(text), "{text}");
        }
    }

    #[test]
    fn urls_that_browsers_change_are_not_canonical() {
        let cases = "http://Example.org/ http://example.org?x http://example.org:80/ \
            http://u@example.org/ http://1.2.3.4/ http://a.0x1/ http://xn--a.example/ \
            http://example.org/a/../b http://example.org/%2E%2e/ http://example.org/it's?it's \
            http://example.org/#a#b http://example.org/%zz HTTP://example.org/ mailto:/a/../b \
            file:x 1a:b";
        for text in cases.split(' ') {
            assert!(canonical(text.as_bytes()).is_none(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_fast_pass_agrees_with_the_crates(
            scheme in "(http|https|ftp|mailto|news|[a-z0-9+.-]{1,4})",
            middle in "(://|:|:/)[a-z0-9.-]{0,9}(\\.[a-z0-9.-]{1,5})?(:[0-9]{1,3})?",
            rest in "(/[A-Za-z0-9._~!$&'()*+,;=:@/?%#|^{}-]{0,12}){0,3}",
        ) {
            check(&format!("{scheme}{middle}{rest}"));
        }

        #[test]
        fn the_fast_pass_agrees_with_the_crates_on_escapes_and_dots(rest in "(/|\\.|%2e|%2E|%41|a|\
            \\?|#|;|:){0,9}") {
            check(&format!("http://a.example/{rest}"));
            check(&format!("mailto:{rest}"));
        }
    }
}
