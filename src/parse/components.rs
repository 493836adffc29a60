//! The components of any URL, divided as RFC 3986 divides them (section 3), without a check by any
//! grammar.

use crate::grammar::is_scheme_char;
use crate::scan::{CutText, HostAndPort, cut};

/// A URL divided at its delimiters. Nothing is checked or decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UrlComponents<'a> {
    /// The scheme, without its colon.
    pub scheme: &'a [u8],
    /// The bytes before the last `@` of the authority.
    pub userinfo: Option<&'a [u8]>,
    /// The host, with its brackets if it has any; `None` without `//`.
    pub host: Option<&'a [u8]>,
    /// The bytes after the first colon that follows the host; perhaps empty.
    pub port: Option<&'a [u8]>,
    /// The path, with its leading slash.
    pub path: &'a [u8],
    /// The bytes after the first `?`.
    pub query: Option<&'a [u8]>,
}

/// Divides `text`, a URL without a fragment. Without a colon all of it is the path.
#[must_use]
pub fn components(text: &[u8]) -> UrlComponents<'_> {
    let scheme = scheme(text);
    let rest = text[scheme.len()..].strip_prefix(b":").unwrap_or(text);
    let CutText {
        before: hierarchy,
        after: query,
    } = cut(rest, b'?');
    let Some(after) = hierarchy.strip_prefix(b"//") else {
        return UrlComponents {
            scheme,
            path: hierarchy,
            query,
            ..UrlComponents::default()
        };
    };
    let slash = memchr::memchr2(b'/', b'\\', after).unwrap_or(after.len());
    let (authority, path) = after.split_at(slash);
    let (userinfo, site) = match memchr::memrchr(b'@', authority) {
        Some(at) => (Some(&authority[..at]), &authority[at + 1..]),
        None => (None, authority),
    };
    let HostAndPort { host, port } = HostAndPort::of(site);
    UrlComponents {
        scheme,
        userinfo,
        host: Some(host),
        port,
        path,
        query,
    }
}

/// Returns the scheme of `text` as [`components`] divides it: the bytes before the first colon, or
/// none.
#[must_use]
pub fn scheme(text: &[u8]) -> &[u8] {
    &text[..memchr::memchr(b':', text).unwrap_or(0)]
}

/// Returns the scheme of `text` if it is one by its characters, that is, if the URL is absolute.
pub(super) fn scheme_of_absolute(text: &[u8]) -> Option<&[u8]> {
    let name = scheme(text);
    let is_scheme = name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(|&byte| is_scheme_char(byte));
    is_scheme.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_at_sign_divides_the_authority() {
        let url = components(b"http://a@b:c@h:80/p?q?r");
        assert_eq!(
            (url.userinfo, url.host, url.port),
            (Some(&b"a@b:c"[..]), Some(&b"h"[..]), Some(&b"80"[..]))
        );
        assert_eq!((url.path, url.query), (&b"/p"[..], Some(&b"q?r"[..])));
        assert_eq!(components(b"http://[::1]:8/").host, Some(&b"[::1]"[..]));
        assert_eq!(components(b"mailto:a@b").path, b"a@b");
    }
}
