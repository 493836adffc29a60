//! The URL read so far: the properties of its end.

use super::line_width::columns;
use super::token::{ContinuationToken, bare, has_extension, is_top_domain};

/// Number of letters of a country's top-level domain.
const COUNTRY_LETTERS: usize = 2;

/// A URL with a `//`, or the beginning of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct UrlHead<'u> {
    /// The whole text. Not empty.
    pub(super) url: &'u [u8],
    /// The text between the `//` and the path or query.
    host: &'u [u8],
    /// The path and all that follows it.
    path: &'u [u8],
}

impl<'u> UrlHead<'u> {
    /// Divides `url`. `None` if no `//` follows its scheme.
    pub(super) fn new(url: &'u [u8]) -> Option<UrlHead<'u>> {
        let in_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+.-".contains(byte);
        let scheme = url.iter().take_while(|byte| in_scheme(byte)).count();
        let rest = url[scheme..].strip_prefix(b"://")?;
        let host = rest
            .iter()
            .position(|byte| b"/?#".contains(byte))
            .unwrap_or(rest.len());
        let (host, path) = rest.split_at(host);
        Some(UrlHead { url, host, path })
    }

    /// Returns `true` if the URL ends with one of `bytes`.
    pub(super) fn ends_with(&self, bytes: &[u8]) -> bool {
        self.url.last().is_some_and(|last| bytes.contains(last))
    }

    /// Returns `true` if the URL ends with a letter or digit. Bytes that are not UTF-8 count as letters, a soft hyphen does
    /// not.
    pub(super) fn ends_with_alnum(&self) -> bool {
        let character =
            |len: usize| str::from_utf8(&self.url[self.url.len().saturating_sub(len)..]).ok();
        let last = (1..=4)
            .find_map(character)
            .and_then(|last| last.chars().next());
        last.is_none_or(char::is_alphanumeric)
    }

    /// Returns `true` if the URL ends with a `%`, or a `%` and one hexadecimal digit.
    pub(super) fn ends_inside_escape(&self) -> bool {
        matches!(self.url, [.., b'%'])
            || matches!(self.url, [.., b'%', digit] if digit.is_ascii_hexdigit())
    }

    /// Returns `true` if the path ends with the extension of a file, before any sentence punctuation.
    pub(super) fn ends_with_file(&self) -> bool {
        !self.path.is_empty() && has_extension(bare(self.url))
    }

    /// Returns `true` if the URL is a scheme and a complete host without path.
    pub(super) fn ends_with_host(&self) -> bool {
        self.path.is_empty() && !self.is_host_incomplete()
    }

    /// Returns `true` if nothing follows the `//`.
    pub(super) fn is_scheme(&self) -> bool {
        self.host.is_empty() && self.path.is_empty()
    }

    /// Returns `true` if the URL ends inside its host, after a dot, colon or hyphen or before all of it, and `token` can
    /// continue the host.
    pub(super) fn host_continues(&self, token: &ContinuationToken<'_>) -> bool {
        let joint = self.host.last().is_none_or(|last| b".:-".contains(last));
        self.is_host_incomplete()
            && joint
            && (token.first().is_ascii_lowercase() || token.first().is_ascii_digit())
    }

    /// Returns `true` if the URL ends inside its host: the last label is not a known top-level domain.
    pub(super) fn is_host_incomplete(&self) -> bool {
        if !self.path.is_empty() || is_number(self.host) {
            return false;
        }
        let end = self
            .host
            .iter()
            .rposition(|&byte| byte != b'.')
            .map_or(0, |at| at + 1);
        let name = self.host[..end]
            .split(|&byte| byte == b':')
            .next()
            .unwrap_or_default();
        let mut labels = name.rsplit(|&byte| byte == b'.');
        let last = labels.next().unwrap_or_default();
        labels.next().is_none()
            || !is_top_domain(last) && columns(last) != COUNTRY_LETTERS
            || self.host.ends_with(b"-")
    }
}

/// Returns `true` if a host consists of digits and dots.
fn is_number(host: &[u8]) -> bool {
    !host.is_empty() && host.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(url: &str) -> UrlHead<'_> {
        UrlHead::new(url.as_bytes()).unwrap()
    }

    #[test]
    fn a_host_in_a_known_domain_is_complete() {
        for host in [
            "a.com",
            "a.COM.",
            "a.b.de",
            "a.com:80",
            "192.0.2.1",
            "192.",
            "joe@a.org",
        ] {
            assert!(
                !head(&format!("http://{host}")).is_host_incomplete(),
                "{host}"
            );
        }
        for host in [
            "",
            "a",
            "www.a",
            "www.",
            "a.co-",
            "a.com-",
            "localhost:80",
            "a.example",
        ] {
            assert!(
                head(&format!("http://{host}")).is_host_incomplete(),
                "{host}"
            );
        }
        assert!(!head("http://www/").is_host_incomplete());
    }

    #[test]
    fn host_path_and_escape_are_recognized() {
        assert!(head("http://").is_scheme() && !head("http:///").is_scheme());
        assert!(
            head("http://a.com/x.html).").ends_with_file() && !head("http://a.pl").ends_with_file()
        );
        assert!(head("x://y%").ends_inside_escape() && head("x://y%4").ends_inside_escape());
        assert!(!head("x://y%4F").ends_inside_escape());
        assert!(UrlHead::new(b"mailto:joe@a.example").is_none());
    }

    #[test]
    fn letters_are_those_of_unicode_and_exclude_the_soft_hyphen() {
        assert!(head("http://a").ends_with_alnum() && head("http://ä").ends_with_alnum());
        assert!(!head("http://a\u{AD}").ends_with_alnum() && !head("http://a_").ends_with_alnum());
        assert!(UrlHead::new(b"http://\xFF").unwrap().ends_with_alnum());
    }
}
