//! The form of a URL that is used for comparing (RFC 1738 sections 2.1 and 2.2).

use super::components::{UrlComponents, components};
use crate::grammar::{Scheme, normalize};

/// `url` with scheme and host in lower case, its scheme's default port dropped, escapes of unreserved characters
/// undone and the others in upper-case hexadecimal.
#[must_use]
pub fn key(url: &[u8]) -> Vec<u8> {
    key_of_components(&components(url))
}

/// The same of a URL's components.
#[must_use]
pub fn key_of_components(parts: &UrlComponents<'_>) -> Vec<u8> {
    // Delimiters and a port.
    const BESIDE: usize = 16;
    let [host, query] = [parts.host, parts.query].map(Option::unwrap_or_default);
    let userinfo = parts.userinfo.unwrap_or_default().len();
    let mut key = Vec::with_capacity(
        parts.scheme.len() + userinfo + host.len() + parts.path.len() + query.len() + BESIDE,
    );
    key.extend_from_slice(parts.scheme);
    key.make_ascii_lowercase();
    if !parts.scheme.is_empty() {
        key.push(b':');
    }
    if let Some(host) = parts.host {
        key.extend(b"//");
        if let Some(userinfo) = parts.userinfo {
            normalize(userinfo, &mut key);
            key.push(b'@');
        }
        let start = key.len();
        key.extend_from_slice(host);
        key[start..].make_ascii_lowercase();
        if let Some(port) = parts.port.filter(|port| !is_default(parts.scheme, port)) {
            key.push(b':');
            key.extend_from_slice(port);
        }
    }
    normalize(parts.path, &mut key);
    if let Some(query) = parts.query {
        key.push(b'?');
        normalize(query, &mut key);
    }
    key
}

/// Whether `port` is what the scheme would use without it. An empty port is.
pub(super) fn is_default(scheme: &[u8], port: &[u8]) -> bool {
    let number = std::str::from_utf8(port)
        .ok()
        .and_then(|port| port.parse::<u16>().ok());
    port.is_empty() || number.is_some() && number == Scheme::named(scheme).and_then(|row| row.port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_the_same_has_the_same_key() {
        let same = |a: &str, b: &str| assert_eq!(key(a.as_bytes()), key(b.as_bytes()), "{a} {b}");
        same("HTTP://EXAMPLE.org:80/%7euser", "http://example.org/~user");
        same("ftp://u%40@h:021/a%2fb", "ftp://u%40@h/a%2Fb");
        same("News:Comp.X", "news:Comp.X");
        assert_eq!(key(b"http://h/A?b#c"), b"http://h/A?b#c");
        assert_ne!(key(b"http://h:8080/"), key(b"http://h/"));
    }
}
