//! The components of any URL, as RFC 3986 divides one: what no grammar of ours has read.

use crate::scan::{cut, site_parts};

/// A URL divided at its delimiters. Nothing is checked and nothing is decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UrlComponents<'a> {
    /// The scheme, without its colon.
    pub scheme: &'a [u8],
    /// What stands before the `@` of the authority.
    pub userinfo: Option<&'a [u8]>,
    /// The host, in brackets if it was; absent without `//`.
    pub host: Option<&'a [u8]>,
    /// What stands behind the authority's last colon; it may be empty.
    pub port: Option<&'a [u8]>,
    /// The path, with its leading slash.
    pub path: &'a [u8],
    /// What stands between `?` and `#`.
    pub query: Option<&'a [u8]>,
}

/// Divides `text`, which has no fragment. Without a colon all of it is the path.
#[must_use]
pub fn components(text: &[u8]) -> UrlComponents<'_> {
    let scheme = scheme(text);
    let rest = text[scheme.len()..].strip_prefix(b":").unwrap_or(text);
    let (hierarchy, query) = cut(rest, b'?');
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
    let (host, port) = site_parts(site);
    UrlComponents {
        scheme,
        userinfo,
        host: Some(host),
        port,
        path,
        query,
    }
}

/// The scheme of `text` as [`components`] finds it.
#[must_use]
pub fn scheme(text: &[u8]) -> &[u8] {
    &text[..memchr::memchr(b':', text).unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_at_sign_divides_the_authority() {
        let parts = components(b"http://a@b:c@h:80/p?q?r");
        assert_eq!(
            (parts.userinfo, parts.host, parts.port),
            (Some(&b"a@b:c"[..]), Some(&b"h"[..]), Some(&b"80"[..]))
        );
        assert_eq!((parts.path, parts.query), (&b"/p"[..], Some(&b"q?r"[..])));
        assert_eq!(components(b"http://[::1]:8/").host, Some(&b"[::1]"[..]));
        assert_eq!(components(b"mailto:a@b").path, b"a@b");
    }
}
