//! Host, registrable domain and port of a URL, in the form by which URLs are grouped, and the
//! public suffix list.
//!
//! Read the same way for all schemes, from the components of the URL. Nothing is checked: RFC
//! 1738's reading is [`crate::grammar`]'s.

use std::borrow::Cow;

use psl::{List, Psl};

use super::components::UrlComponents;
use crate::grammar::{Scheme, decode};

/// Host and port of an authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site<'u> {
    /// The host in lower case, non-ASCII names as A-labels, without a final dot; an IPv6 address
    /// with its brackets. Empty if the authority is.
    pub host: Cow<'u, str>,
    /// The port, or the default port of the scheme; `None` above 65535 or if there is neither.
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
    /// By that list's rules, a last label that it does not know is a public suffix.
    #[must_use]
    pub fn domain(&self) -> Option<&str> {
        let (_, last) = self.host.rsplit_once('.')?;
        if self.host.starts_with('[') || is_number(last) {
            return None;
        }
        registrable_domain(&self.host)
    }
}

/// Returns a host in the form of [`Site::host`]; `None` if the text is not a host alone, but a URL,
/// has a port, or is empty.
#[must_use]
pub fn host_name(text: &str) -> Option<String> {
    let is_address = text.starts_with('[') && text.ends_with(']');
    let is_other = |c: char| c.is_whitespace() || c.is_control() || "/\\@?#".contains(c);
    if text.contains(is_other) || (text.contains(':') && !is_address) {
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
        // A name that IDNA refuses has no A-labels. IDNA knows other dots, too (UTS 46 section 2.3).
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

/// Returns `true` if the last label of a host makes it an IPv4 address (WHATWG URL, "ends in a
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
/// `host` is in lower case, with A-labels, and no address. By the list's rules, a last label that
/// it does not know is a public suffix.
fn registrable_domain(host: &str) -> Option<&str> {
    let host = host.strip_suffix('.').unwrap_or(host);
    let rest = host.len().checked_sub(suffix(host)?.len + 1)?;
    let label = host.get(..rest)?.rsplit('.').next()?;
    (!label.is_empty()).then(|| &host[rest - label.len()..])
}

/// Returns `true` if the list has a rule for the public suffix of `host`.
pub(super) fn has_known_suffix(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    suffix(host).is_some_and(|suffix| suffix.typ.is_some())
}

/// Returns the length of the public suffix of `host`, and the section of the list that has its
/// rule; `None` if the last label is empty.
///
/// `psl` has a function for each label of the list, generic in the iterator over labels. The
/// iterator is a trait object so that its code is not repeated in all of them: a tenth of the time
/// in which this crate is compiled is saved.
fn suffix(host: &str) -> Option<psl::Info> {
    let mut labels = host.as_bytes().rsplit(|byte| *byte == b'.');
    let labels: &mut dyn Iterator<Item = &[u8]> = &mut labels;
    Some(List.find(labels)).filter(|suffix| 0 < suffix.len)
}

#[cfg(test)]
mod tests {
    use super::super::components::components;
    use super::*;

    /// Returns host, domain and port of a URL, separated by blanks; `-` where there is none.
    fn shown(url: &str) -> String {
        let components = components(url.as_bytes());
        let Some(site) = Site::of(&components) else {
            return "-".to_owned();
        };
        let port = site.port.map_or("-".to_owned(), |port| port.to_string());
        format!("{} {} {port}", site.host, site.domain().unwrap_or("-"))
    }

    #[test]
    fn the_site_is_read_alike_for_all_schemes() {
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
    fn a_host_that_idna_refuses_is_in_lower_case() {
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
            // A rule `*.ck` and its exception `!www.ck`.
            ("b.a.x.ck", Some("a.x.ck")),
            ("x.ck", None),
            ("a.www.ck", Some("www.ck")),
            ("user.github.io", Some("user.github.io")),
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
}
