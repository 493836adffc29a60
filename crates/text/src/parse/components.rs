//! The components of any URL, split as in RFC 3986 (section 3) without a check by any grammar; and
//! values made from them: host, domain and port, by which URLs are grouped, the form for
//! comparison, and the URL meant by a text without a scheme.

use crate::byte_scan::{is_one_of, prefix_len};
use crate::grammar::{Scheme, decode, is_scheme_char, normalize};
use crate::scan::{CutText, HostAndPort, cut, public_suffix};
use psl::Type;
use std::borrow::Cow;

/// A URL split at its delimiters. Its components are neither checked nor decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UrlComponents<'a> {
    /// The scheme, without its colon.
    pub scheme: &'a [u8],
    /// The bytes before the last `@` of the authority.
    pub userinfo: Option<&'a [u8]>,
    /// The host, with its brackets if it has any; `None` if the URL has no `//`.
    pub host: Option<&'a [u8]>,
    /// The bytes after the first colon after the host; may be empty.
    pub port: Option<&'a [u8]>,
    /// The path, with its leading slash.
    pub path: &'a [u8],
    /// The bytes after the first `?`.
    pub query: Option<&'a [u8]>,
}

/// Splits `text`, a URL without a fragment. Without a colon, all of it is the path.
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

/// Returns the length of `full` without its fragment, which starts at the first `#`.
///
/// Articles and messages have no fragment, but some of their identifiers contain a `#` before the
/// `@` (RFC 5322, section 3.2.3).
pub(super) fn url_len(full: &[u8]) -> usize {
    let Some(hash) = memchr::memchr(b'#', full) else {
        return full.len();
    };
    let is_identifier = names_message(scheme(full))
        && memchr::memchr(b'@', &full[..hash]).is_none()
        && memchr::memchr(b'@', &full[hash..]).is_some();
    if is_identifier { full.len() } else { hash }
}

/// Returns `true` for the schemes whose URLs are message identifiers: `news:`, `snews:` and
/// `mid:`.
pub(super) fn names_message(scheme: &[u8]) -> bool {
    is_one_of(scheme, &["news", "snews", "mid"])
}

/// Returns `true` for the special schemes with hosts (WHATWG URL, section 3.1). Browsers accept any
/// character in their paths, and identify their URLs by the serialization.
pub(super) fn is_special_scheme(scheme: &[u8]) -> bool {
    is_one_of(scheme, &["http", "https", "ftp", "ws", "wss"])
}

/// Returns the scheme of `text` as [`components`] does: the bytes before the first colon. Empty
/// without a colon.
#[must_use]
pub fn scheme(text: &[u8]) -> &[u8] {
    &text[..memchr::memchr(b':', text).unwrap_or(0)]
}

/// Returns the scheme of `text` if its characters are those of a scheme, so that the URL is
/// absolute.
pub(super) fn scheme_of_absolute(text: &[u8]) -> Option<&[u8]> {
    let name = scheme(text);
    let is_scheme = name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(|&byte| is_scheme_char(byte));
    is_scheme.then_some(name)
}

/// Host and port of an authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site<'u> {
    /// The host in lower case, with non-ASCII names as A-labels, without a final dot. An IPv6
    /// address has its brackets. Empty if the authority is empty.
    pub host: Cow<'u, str>,
    /// The port, or the default port of the scheme. `None` above 65535, or if there is neither.
    pub port: Option<u16>,
}

impl<'u> Site<'u> {
    /// Returns the site of a URL; `None` if the URL has no authority.
    #[must_use]
    pub fn of(url: &UrlComponents<'u>) -> Option<Site<'u>> {
        Some(Site {
            host: normalized_host(url.host?),
            port: port(url),
        })
    }

    /// Returns the registrable domain by the public suffix list: the public suffix and the label
    /// before it. `None` for addresses, single labels and public suffixes.
    ///
    /// A last label that the list does not contain is a public suffix (by the list's own rules).
    #[must_use]
    pub fn domain(&self) -> Option<&str> {
        let (_, last) = self.host.rsplit_once('.')?;
        if self.host.starts_with('[') || is_number(last) {
            return None;
        }
        registrable_domain(&self.host)
    }
}

/// Returns a host in the form of [`Site::host`]. `None` if the text is empty, has a port, or is a
/// URL.
#[must_use]
pub fn host_name(text: &str) -> Option<String> {
    let is_address = text.starts_with('[') && text.ends_with(']');
    if text.contains(|c: char| c.is_whitespace() || c.is_control() || "/\\@?#".contains(c))
        || (text.contains(':') && !is_address)
    {
        return None;
    }
    let host = normalized_host(text.as_bytes());
    (!host.is_empty()).then(|| host.into_owned())
}

fn normalized_host(host: &[u8]) -> Cow<'_, str> {
    let host = String::from_utf8_lossy(host);
    if memchr::memchr(b'%', host.as_bytes()).is_some() && !host.starts_with('[') {
        // Browsers decode the escapes of a host (WHATWG URL, section 3.5).
        let decoded = String::from_utf8_lossy(&decode(host.as_bytes())).into_owned();
        return ascii_host(decoded.into());
    }
    ascii_host(host)
}

/// Returns a host in lower case and without a final dot, with A-labels for a non-ASCII name.
fn ascii_host(host: Cow<'_, str>) -> Cow<'_, str> {
    if !host.is_ascii() {
        // A name that IDNA rejects has no A-labels. IDNA also knows other dots (UTS 46 section
        // 2.3).
        let host = idna::domain_to_ascii(&host).unwrap_or_else(|_| host.to_lowercase());
        return host.trim_end_matches('.').to_owned().into();
    }
    let host = match host {
        Cow::Borrowed(host) => Cow::Borrowed(host.trim_end_matches('.')),
        Cow::Owned(host) => Cow::Owned(host.trim_end_matches('.').to_owned()),
    };
    if host.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return host.to_ascii_lowercase().into();
    }
    host
}

/// Returns `true` if this last label makes the host an IPv4 address (WHATWG URL, "ends in a
/// number").
fn is_number(label: &str) -> bool {
    let hexadecimal = label.strip_prefix("0x");
    hexadecimal.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
        || label.bytes().all(|byte| byte.is_ascii_digit())
}

fn port(url: &UrlComponents<'_>) -> Option<u16> {
    match url.port {
        None | Some(b"") => Scheme::named(url.scheme)?.port,
        Some(digits) if digits.iter().all(u8::is_ascii_digit) => {
            std::str::from_utf8(digits).ok()?.parse().ok()
        }
        Some(_) => None,
    }
}

/// Returns the public suffix of `host` and the label before it, without a final dot; `None` if
/// there is no such label.
///
/// `host` is in lower case, has A-labels and is not an address. A last label that the list does
/// not contain is a public suffix (by the list's own rules).
fn registrable_domain(host: &str) -> Option<&str> {
    let host = host.strip_suffix('.').unwrap_or(host);
    let suffix = suffix(host)?;
    let Some(rest) = host.len().checked_sub(suffix.len + 1) else {
        return (suffix.typ == Some(Type::Private))
            .then(|| below_icann_suffix(host))
            .flatten();
    };
    let label = host.get(..rest)?.rsplit('.').next()?;
    (!label.is_empty()).then(|| &host[rest - label.len()..])
}

/// Returns the domain of a host that is itself a private suffix, such as `s3.amazonaws.com`: the
/// suffix from the list's other section and the label before it.
fn below_icann_suffix(host: &str) -> Option<&str> {
    let rests = std::iter::successors(Some(host), |rest| Some(rest.split_once('.')?.1));
    let mut pairs = rests.clone().zip(rests.skip(1));
    pairs
        .find(|(_, parent)| {
            suffix(parent).is_some_and(|it| it.len == parent.len() && it.typ != Some(Type::Private))
        })
        .map(|(domain, _)| domain)
}

/// Returns `true` if the list has a rule for the public suffix of `host`.
pub(super) fn has_known_suffix(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    suffix(host).is_some_and(|suffix| suffix.typ.is_some())
}

fn suffix(host: &str) -> Option<psl::Info> {
    public_suffix(&mut host.as_bytes().rsplit(|byte| *byte == b'.'))
}

/// Number of bytes of a key for scheme, user, port and delimiters, without a second allocation.
const KEY_BYTES: usize = 32;

/// Returns a URL in the form for comparison: scheme and host in lower case, no default port,
/// escapes of unreserved characters decoded, other escapes in upper-case hexadecimal. An empty
/// path of http, https and ftp is `/`.
#[must_use]
pub(super) fn key_of_components(url: &UrlComponents<'_>) -> Vec<u8> {
    let [host, query] = [url.host, url.query].map(|part| part.map_or(0, <[u8]>::len));
    let mut key = Vec::with_capacity(KEY_BYTES + host + url.path.len() + query);
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
    is_one_of(scheme, &["http", "https", "ftp"])
}

/// Returns `true` if `port` is empty or the default port of the scheme.
pub(super) fn is_default_port(scheme: &[u8], port: &[u8]) -> bool {
    let number = std::str::from_utf8(port)
        .ok()
        .and_then(|port| port.parse::<u16>().ok());
    port.is_empty() || number.is_some() && number == Scheme::named(scheme).and_then(|row| row.port)
}

/// Returns `scheme://` followed by `text`. An FTP location like `host:path` becomes a
/// host and its path.
pub(super) fn with_guessed_scheme(scheme: &str, text: &[u8]) -> Vec<u8> {
    let mut full = [scheme.as_bytes(), b"://"].concat();
    match FtpLocation::of(text).filter(|_| scheme == "ftp") {
        Some(FtpLocation { host, path }) => {
            full.extend(host);
            if path.first() != Some(&b'/') {
                // Relative to the login folder, as a URL's path is (RFC 1738, section 3.2.2).
                full.push(b'/');
            }
            full.extend(path);
        }
        None => full.extend(text),
    }
    full
}

/// An FTP location as written before URLs: a host, optionally its address in parentheses, a colon
/// and a path, as in `ftp.a.example:/pub/x`, `ftp.a.example:~joe/x` and
/// `ftp.a.example(192.0.2.1):pub/x`.
struct FtpLocation<'t> {
    host: &'t [u8],
    path: &'t [u8],
}

impl FtpLocation<'_> {
    fn of(text: &[u8]) -> Option<FtpLocation<'_>> {
        let (host, rest) = text.split_at(prefix_len(text, |byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') || *byte >= 0x80
        }));
        let path = without_address(rest).strip_prefix(b":")?;
        is_path(path).then_some(FtpLocation { host, path })
    }
}

/// Returns `text` without an IPv4 address in parentheses at its start.
fn without_address(text: &[u8]) -> &[u8] {
    let Some(inner) = text.strip_prefix(b"(") else {
        return text;
    };
    let len = prefix_len(inner, |byte| byte.is_ascii_digit() || *byte == b'.');
    match &inner[len..] {
        [b')', rest @ ..] if len > 0 => rest,
        _ => text,
    }
}

/// Returns `true` if `text` can be the start of a path. Digits up to the end or to a slash are a
/// port.
fn is_path(text: &[u8]) -> bool {
    let digits = prefix_len(text, u8::is_ascii_digit);
    let is_port = digits > 0 && matches!(text.get(digits), None | Some(b'/' | b'?' | b'#'));
    let begins = text.first().is_some_and(|&byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'~' | b'.' | b'_' | b'%')
    });
    begins && !is_port
}

#[cfg(test)]
mod tests {
    use super::super::components::components;
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

    /// Returns host, domain and port of a URL, separated by spaces, with `-` for each missing one.
    fn shown(url: &str) -> String {
        let components = components(url.as_bytes());
        let Some(site) = Site::of(&components) else {
            return "-".to_owned();
        };
        let port = site.port.map_or("-".to_owned(), |port| port.to_string());
        format!("{} {} {port}", site.host, site.domain().unwrap_or("-"))
    }

    #[test]
    fn the_site_is_parsed_the_same_for_all_schemes() {
        let cases = [
            (
                "http://DS.Internic.NET/x",
                "ds.internic.net internic.net 80",
            ),
            ("gopher://a.b.co.uk.:70/", "a.b.co.uk b.co.uk 70"),
            ("x-y://u:p@h.example:8080/", "h.example h.example 8080"),
            ("http://h.example:/", "h.example h.example 80"),
            ("http://h.example:65536/", "h.example h.example -"),
            ("http://h.example:8o/", "h.example h.example -"),
            ("x-y://h.example", "h.example h.example -"),
            ("https://co.uk/", "co.uk - 443"),
            ("http://localhost/", "localhost - 80"),
            ("http://192.0.2.1/", "192.0.2.1 - 80"),
            ("http://0x7f.0x1/", "0x7f.0x1 - 80"),
            ("http://[::1]:8/", "[::1] - 8"),
            ("http://a..com/", "a..com - 80"),
            ("file:///etc/motd", " - -"),
            ("mailto:a@b.example", "-"),
            (
                "http://www.B\u{FC}cher.example/",
                "www.xn--bcher-kva.example xn--bcher-kva.example 80",
            ),
            (
                "http://www.\u{98DF}\u{72EE}.\u{516C}\u{53F8}.cn/",
                "www.xn--85x722f.xn--55qx5d.cn xn--85x722f.xn--55qx5d.cn 80",
            ),
        ];
        for (url, site) in cases {
            assert_eq!(shown(url), site, "{url}");
        }
    }

    #[test]
    fn a_host_that_idna_refuses_is_lowercased() {
        assert_eq!(shown("http://\u{C4}\u{FFFD}./"), "\u{E4}\u{FFFD} - 80");
    }

    #[test]
    fn the_domain_is_the_suffix_and_one_label() {
        for (host, domain) in [
            ("www.a.co.uk", Some("a.co.uk")),
            ("a.co.uk", Some("a.co.uk")),
            ("co.uk", None),
            ("uk", None),
            ("www.a.example", Some("a.example")),
            // The list has a rule `*.ck` and its exception `!www.ck`.
            ("b.a.x.ck", Some("a.x.ck")),
            ("x.ck", None),
            ("a.www.ck", Some("www.ck")),
            ("user.github.io", Some("user.github.io")),
            ("github.io", Some("github.io")),
            ("s3.amazonaws.com", Some("amazonaws.com")),
            ("a.xn--p1ai", Some("a.xn--p1ai")),
            ("a.com.", Some("a.com")),
            (".com", None),
            ("a..com", None),
            ("a.com..", None),
            (".", None),
            ("", None),
        ] {
            assert_eq!(registrable_domain(host), domain, "{host}");
        }
    }

    #[test]
    fn a_suffix_is_known_if_the_list_has_a_rule() {
        assert!(has_known_suffix("a.com"));
        assert!(has_known_suffix("a.com."));
        assert!(has_known_suffix("a.x.ck"));
        assert!(!has_known_suffix("a.example"));
        assert!(!has_known_suffix(""));
    }

    #[track_caller]
    fn check(scheme: &str, text: &str, full: &str) {
        let got = with_guessed_scheme(scheme, text.as_bytes());
        assert_eq!(String::from_utf8_lossy(&got), full);
    }

    #[test]
    fn ftp_locations_have_a_colon_before_their_path() {
        check("ftp", "ftp.a.example:/pub/x", "ftp://ftp.a.example/pub/x");
        check("ftp", "ftp.a.example:pub/x", "ftp://ftp.a.example/pub/x");
        check("ftp", "ftp.a.example:~joe/x", "ftp://ftp.a.example/~joe/x");
        check("ftp", "ftp.a.example:README", "ftp://ftp.a.example/README");
        check("ftp", "ftp.a.example:2.0/x", "ftp://ftp.a.example/2.0/x");
        check(
            "ftp",
            "ftp.a.example(192.0.2.1):src/",
            "ftp://ftp.a.example/src/",
        );
    }

    #[test]
    fn other_texts_are_unchanged() {
        let cases = "ftp.a.example ftp.a.example/pub:x/y ftp.a.example:21 ftp.a.example:21/pub \
            ftp.a.example:-) ftp.a.example: ftp.a.example::pub ftp.a.example(x):pub \
            ftp.a.example(192.0.2.1)";
        for text in cases.split(' ') {
            check("ftp", text, &format!("ftp://{text}"));
        }
        check("http", "www.a.example:x", "http://www.a.example:x");
    }
}
