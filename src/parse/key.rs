//! The form of a URL that is used for comparison (RFC 1738 sections 2.1 and 2.2).

use super::components::{UrlComponents, components};
use crate::grammar::{Scheme, normalize};

/// Returns `url` with scheme and host in lower case, without the default port of its scheme, with
/// the escapes of unreserved characters decoded and the others in upper-case hexadecimal. An empty
/// path of http, https and ftp is `/`.
#[must_use]
pub fn key(url: &[u8]) -> Vec<u8> {
    key_of_components(&components(url))
}

/// Does the same as [`key`], given the components of the URL.
#[must_use]
pub fn key_of_components(url: &UrlComponents<'_>) -> Vec<u8> {
    /// Bytes of the delimiters and a port.
    const DELIMITER_BYTES: usize = 16;
    let [host, query] = [url.host, url.query].map(Option::unwrap_or_default);
    let userinfo = url.userinfo.unwrap_or_default().len();
    let mut key = Vec::with_capacity(
        url.scheme.len() + userinfo + host.len() + url.path.len() + query.len() + DELIMITER_BYTES,
    );
    key.extend_from_slice(url.scheme);
    key.make_ascii_lowercase();
    if !url.scheme.is_empty() {
        key.push(b':');
    }
    if let Some(host) = url.host {
        key.extend(b"//");
        if let Some(userinfo) = url.userinfo {
            normalize(userinfo, &mut key);
            key.push(b'@');
        }
        let start = key.len();
        key.extend_from_slice(host);
        key[start..].make_ascii_lowercase();
        if let Some(port) = url.port.filter(|port| !is_default_port(url.scheme, port)) {
            key.push(b':');
            key.extend_from_slice(port);
        }
    }
    normalize(url.path, &mut key);
    if url.path.is_empty() && url.host.is_some() && has_root(url.scheme) {
        key.push(b'/');
    }
    if let Some(query) = url.query {
        key.push(b'?');
        normalize(query, &mut key);
    }
    key
}

/// Returns `true` if an empty path of the scheme means the root (RFC 1738 section 3.3, RFC 9110
/// section 4.2.3).
fn has_root(scheme: &[u8]) -> bool {
    [&b"http"[..], b"https", b"ftp"]
        .iter()
        .any(|name| scheme.eq_ignore_ascii_case(name))
}

/// Returns `true` if `port` is empty or the default port of the scheme.
pub(super) fn is_default_port(scheme: &[u8], port: &[u8]) -> bool {
    let number = std::str::from_utf8(port)
        .ok()
        .and_then(|port| port.parse::<u16>().ok());
    port.is_empty() || number.is_some() && number == Scheme::named(scheme).and_then(|row| row.port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equivalent_urls_have_one_key() {
        let same = |a: &str, b: &str| assert_eq!(key(a.as_bytes()), key(b.as_bytes()), "{a} {b}");
        same("HTTP://EXAMPLE.org:80/%7euser", "http://example.org/~user");
        same("ftp://u%40@h:021/a%2fb", "ftp://u%40@h/a%2Fb");
        same("News:Comp.X", "news:Comp.X");
        same("http://h", "HTTP://H:80/");
        same("ftp://h?q", "ftp://h/?q");
        assert_eq!(key(b"gopher://h"), b"gopher://h");
        assert_eq!(key(b"http://h/A?b#c"), b"http://h/A?b#c");
        assert_ne!(key(b"http://h:8080/"), key(b"http://h/"));
    }
}
