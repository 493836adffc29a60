//! The URL as far as it was read: what its end says about whether it goes on.

use super::line_width::columns;
use super::token::{Token, bare, has_extension, is_top_domain};

/// Letters of a country's top-level domain.
const COUNTRY_LETTERS: usize = 2;

/// A URL with a `//`, or the beginning of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head<'u> {
    /// All of it. Not empty.
    pub(super) url: &'u [u8],
    /// What stands between the `//` and the path or query.
    host: &'u [u8],
    /// The path, and what follows it.
    path: &'u [u8],
}

impl<'u> Head<'u> {
    /// Takes `url` apart; none if no `//` follows its scheme.
    pub(super) fn new(url: &'u [u8]) -> Option<Head<'u>> {
        let in_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+.-".contains(byte);
        let scheme = url.iter().take_while(|byte| in_scheme(byte)).count();
        let rest = url[scheme..].strip_prefix(b"://")?;
        let host = rest
            .iter()
            .position(|byte| b"/?#".contains(byte))
            .unwrap_or(rest.len());
        let (host, path) = rest.split_at(host);
        Some(Head { url, host, path })
    }

    /// Whether it ends with one of `bytes`.
    pub(super) fn ends_with(&self, octets: &[u8]) -> bool {
        self.url.last().is_some_and(|last| octets.contains(last))
    }

    /// Whether it ends with a letter or digit. What is not UTF-8 counts as a letter, a soft hyphen does not.
    pub(super) fn ends_with_alnum(&self) -> bool {
        let character =
            |len: usize| str::from_utf8(&self.url[self.url.len().saturating_sub(len)..]).ok();
        let last = (1..=4)
            .find_map(character)
            .and_then(|last| last.chars().next());
        last.is_none_or(char::is_alphanumeric)
    }

    /// Whether it ends with a `%` or a `%` and one digit.
    pub(super) fn ends_within_escape(&self) -> bool {
        matches!(self.url, [.., b'%'])
            || matches!(self.url, [.., b'%', digit] if digit.is_ascii_hexdigit())
    }

    /// Whether its path ends with a file's extension, sentence punctuation aside.
    pub(super) fn ends_with_file(&self) -> bool {
        !self.path.is_empty() && has_extension(bare(self.url))
    }

    /// Whether it is a scheme and a whole host, and nothing more.
    pub(super) fn ends_with_host(&self) -> bool {
        self.path.is_empty() && !self.host_is_cut()
    }

    /// Whether nothing follows its `//`.
    pub(super) fn is_scheme(&self) -> bool {
        self.host.is_empty() && self.path.is_empty()
    }

    /// Whether it ends within its host, where `token` can go on: behind a dot, colon or hyphen, or before all of it.
    pub(super) fn host_goes_on(&self, token: &Token<'_>) -> bool {
        let joint = self.host.last().is_none_or(|last| b".:-".contains(last));
        self.host_is_cut()
            && joint
            && (token.first().is_ascii_lowercase() || token.first().is_ascii_digit())
    }

    /// Whether it ends within its host, as far as the last label tells: in no domain that we know.
    pub(super) fn host_is_cut(&self) -> bool {
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

/// Whether a host is one of digits and dots.
fn is_number(host: &[u8]) -> bool {
    !host.is_empty() && host.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(url: &str) -> Head<'_> {
        Head::new(url.as_bytes()).unwrap()
    }

    #[test]
    fn a_host_is_whole_in_a_domain_that_is_known() {
        for host in [
            "a.com",
            "a.COM.",
            "a.b.de",
            "a.com:80",
            "192.0.2.1",
            "192.",
            "joe@a.org",
        ] {
            assert!(!head(&format!("http://{host}")).host_is_cut(), "{host}");
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
            assert!(head(&format!("http://{host}")).host_is_cut(), "{host}");
        }
        assert!(!head("http://www/").host_is_cut());
    }

    #[test]
    fn what_follows_the_scheme_is_taken_apart() {
        assert!(head("http://").is_scheme() && !head("http:///").is_scheme());
        assert!(
            head("http://a.com/x.html).").ends_with_file() && !head("http://a.pl").ends_with_file()
        );
        assert!(head("x://y%").ends_within_escape() && head("x://y%4").ends_within_escape());
        assert!(!head("x://y%4F").ends_within_escape());
        assert!(Head::new(b"mailto:joe@a.example").is_none());
    }

    #[test]
    fn letters_are_unicodes_and_a_soft_hyphen_is_none() {
        assert!(head("http://a").ends_with_alnum() && head("http://ä").ends_with_alnum());
        assert!(!head("http://a\u{AD}").ends_with_alnum() && !head("http://a_").ends_with_alnum());
        assert!(Head::new(b"http://\xFF").unwrap().ends_with_alnum());
    }
}
