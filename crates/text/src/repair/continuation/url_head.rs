//! Properties of the end of the URL read so far.

use super::line_layout::is_word;
use super::token::{ContinuationToken, has_extension, is_top_domain};
use crate::byte_scan::{last_char, prefix_len, suffix_len};
use crate::repair::without_punctuation;

/// Numbers of digits of a git commit hash: SHA-1 and SHA-256.
const COMMIT_DIGITS: [usize; 2] = [40, 64];

/// Minimum number of digits at the start of a commit hash whose middle follows.
const BEGUN_DIGITS: usize = 12;

/// Number of digits of an MD5 digest, which many sites use to name pages and files.
const MD5_DIGITS: usize = 32;

/// Number of digits of the timestamp at the start of a Message-ID by `git send-email`.
const SENT_DIGITS: usize = 14;

/// A URL with a `//`, or the start of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct UrlHead<'u> {
    /// The whole text. Not empty.
    pub(super) url: &'u [u8],
    /// The text between the `//` and the path or query.
    host: &'u [u8],
    /// The path and all text after it; for `mailto:` the address.
    path: &'u [u8],
    /// `true` for a `mailto:` URL.
    pub(super) is_mailbox: bool,
}

impl<'u> UrlHead<'u> {
    /// Splits `url`. Returns `None` if no `//` follows a scheme other than `mailto`.
    pub(super) fn new(url: &'u [u8]) -> Option<UrlHead<'u>> {
        let in_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+.-".contains(byte);
        let scheme = prefix_len(url, |byte| in_scheme(byte));
        if url[..scheme].eq_ignore_ascii_case(b"mailto") {
            let path = url[scheme..].strip_prefix(b":")?;
            return Some(UrlHead {
                url,
                host: &[],
                path,
                is_mailbox: true,
            });
        }
        let rest = url[scheme..].strip_prefix(b"://")?;
        let host = prefix_len(rest, |byte| !b"/?#".contains(byte));
        let (host, path) = rest.split_at(host);
        Some(UrlHead {
            url,
            host,
            path,
            is_mailbox: false,
        })
    }

    /// Returns `true` for a `mailto:` URL with an incomplete address that `token` completes.
    pub(super) fn address_continues(&self, token: &ContinuationToken<'_>) -> bool {
        if !self.is_mailbox || self.path.is_empty() || self.path.contains(&b'?') {
            return false;
        }
        match self.path.iter().position(|&byte| byte == b'@') {
            None => token.bare.contains(&b'@') && is_word(token.first()),
            Some(_) => self.ends_with(b"@.-") && token.starts_host_rest(),
        }
    }

    /// Returns `true` if the URL ends with one of `bytes`.
    pub(super) fn ends_with(&self, bytes: &[u8]) -> bool {
        self.url.last().is_some_and(|last| bytes.contains(last))
    }

    /// Returns `true` if the URL ends with one hyphen. Two are a dash.
    pub(super) fn ends_with_hyphen(&self) -> bool {
        self.url.ends_with(b"-") && !self.url.ends_with(b"--")
    }

    /// Returns `true` if the URL ends with a letter or digit. Bytes that are not UTF-8 count as
    /// letters; a soft hyphen does not.
    pub(super) fn ends_with_alnum(&self) -> bool {
        last_char(self.url).is_none_or(char::is_alphanumeric)
    }

    /// Returns `true` if the URL ends with an ASCII letter or digit.
    pub(super) fn ends_with_ascii_alnum(&self) -> bool {
        self.url.last().is_some_and(u8::is_ascii_alphanumeric)
    }

    /// Returns `true` if the URL ends with a `%`, or a `%` and one hexadecimal digit.
    pub(super) fn ends_inside_escape(&self) -> bool {
        matches!(self.url, [.., b'%'])
            || matches!(self.url, [.., b'%', digit] if digit.is_ascii_hexdigit())
    }

    /// Returns `true` if the path ends with a file extension, not counting sentence punctuation.
    pub(super) fn ends_with_file(&self) -> bool {
        !self.path.is_empty() && has_extension(without_punctuation(self.url))
    }

    /// Returns `true` if the URL cannot be whole without `token`, and `token` can complete it.
    pub(super) fn is_open_before(&self, token: &ContinuationToken<'_>) -> bool {
        self.ends_inside_query(token)
            || self.ends_inside_escape() && token.first().is_ascii_hexdigit()
            || self.host_continues(token)
            || self.commit_continues(token)
            || self.message_id_continues(token)
            || self.ends_inside_address(token)
            || !self.path.is_empty()
                && self.ends_with_alnum()
                && (token.starts_address_host() || token.starts_message_id_rest())
            || self.path.ends_with(b"#L") && token.first().is_ascii_digit()
            || self.ends_with_host()
                && (token.starts_port() || token.all.starts_with(b"/") && token.starts_path())
    }

    /// Returns `true` if the final part of the path has an `@` without the dot after it that a
    /// Message-ID or address needs, and `token` has the dot.
    fn ends_inside_address(&self, token: &ContinuationToken<'_>) -> bool {
        let last = self
            .path
            .rsplit(|&byte| byte == b'/')
            .next()
            .unwrap_or_default();
        let host = memchr::memchr(b'@', last)
            .map(|at| &last[at + 1..])
            .or_else(|| memchr::memmem::find(last, b"%40").map(|at| &last[at + 3..]));
        !self.is_mailbox
            && host.is_some_and(|host| {
                host.iter().all(|&byte| is_word(byte) || byte == b'-')
                    && token.bare.contains(&b'.')
                    && token.starts_host_rest_or_path()
            })
    }

    /// Returns `true` if a query ends with `&` or `=`, or with `?` before a parameter in `token`.
    pub(super) fn ends_inside_query(&self, token: &ContinuationToken<'_>) -> bool {
        let parameter = token
            .assigned_value()
            .is_some_and(|value| !value.is_empty());
        self.path.contains(&b'?') && self.ends_with(b"&=") || self.path.ends_with(b"?") && parameter
    }

    /// Returns `true` if the URL ends inside a commit hash or an MD5 digest, and `token` has the
    /// missing digits.
    pub(super) fn commit_continues(&self, token: &ContinuationToken<'_>) -> bool {
        let begun = hexadecimal_end(self.path);
        let more = prefix_len(token.all, |byte| is_commit_digit(*byte));
        let whole = begun + more;
        let completes = COMMIT_DIGITS.contains(&whole) || whole == MD5_DIGITS;
        // The middle of a commit hash or digest may fill a line. Numbers in queries have other
        // lengths.
        let goes_on = !self.has_query()
            && BEGUN_DIGITS <= begun
            && more == token.all.len()
            && token.all.iter().any(u8::is_ascii_digit)
            && whole < COMMIT_DIGITS[1];
        0 < begun && 0 < more && (completes || goes_on)
    }

    /// Returns `true` if the URL ends inside a Message-ID by `git send-email`, before the sender's
    /// address, and `token` starts with an address. Such a Message-ID consists of a timestamp, a
    /// process number, a message number and the address: `20260102030405.678-9-joe@a.example`.
    pub(super) fn message_id_continues(&self, token: &ContinuationToken<'_>) -> bool {
        let stamp = self.path.strip_suffix(b"-").unwrap_or(self.path);
        let mut numbers = stamp.rsplit(|byte| b".-/".contains(byte));
        let is_number = |number: Option<&[u8]>| {
            number.is_some_and(|one| !one.is_empty() && one.iter().all(u8::is_ascii_digit))
        };
        let is_stamp = is_number(numbers.next())
            && is_number(numbers.next())
            && numbers
                .next()
                .is_some_and(|time| time.len() == SENT_DIGITS && is_number(Some(time)));
        let has_hyphen = stamp.len() < self.path.len();
        is_stamp
            && (has_hyphen || token.first().is_ascii_alphabetic())
            && token.starts_with_address()
    }

    /// Returns `true` if a program removed the hyphen at the end of the URL, before the address of
    /// such a Message-ID.
    pub(super) fn lost_hyphen(&self, token: &ContinuationToken<'_>) -> bool {
        self.ends_with_alnum() && self.message_id_continues(token)
    }

    /// Returns `true` if the URL ends with a whole identifier: a commit hash, a line number of a
    /// source file, or a Message-ID.
    pub(super) fn ends_with_identifier(&self) -> bool {
        let path = without_punctuation(self.path);
        let path = path.strip_suffix(b"/").unwrap_or(path);
        let last = path
            .rsplit(|byte| b"/=#".contains(byte))
            .next()
            .unwrap_or_default();
        let message = last
            .iter()
            .position(|&byte| byte == b'@')
            .is_some_and(|at| {
                let domain = last.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
                0 < at && last[at..].contains(&b'.') && is_top_domain(domain)
            });
        self.ends_with_line_number() || message || COMMIT_DIGITS.contains(&hexadecimal_end(last))
    }

    /// Returns `true` if the URL ends with a line number of a source file: `#L12`.
    pub(super) fn ends_with_line_number(&self) -> bool {
        let path = without_punctuation(self.path);
        let digits = suffix_len(path, u8::is_ascii_digit);
        let before = &path[..path.len() - digits];
        0 < digits
            && [&b"#L"[..], b"#n", b"#l"]
                .iter()
                .any(|mark| before.ends_with(mark))
    }

    /// Returns `true` if the URL ends with the name of a git repository, with or without a slash.
    ///
    /// `git request-pull` writes the URL of a repository, a blank, and the name of a branch or tag.
    /// Mailers break the line at the blank.
    pub(super) fn ends_with_repository(&self) -> bool {
        let path = self.path.strip_suffix(b"/").unwrap_or(self.path);
        path.ends_with(b".git") && path.len() > ".git".len()
    }

    /// Returns `true` if the URL ends with the name of a query field that has no value yet.
    pub(super) fn ends_with_field_name(&self) -> bool {
        let is_name = |&byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        let before = self.path.iter().rposition(|byte| !is_name(byte));
        self.ends_with_alnum() && before.is_some_and(|at| b"?&;".contains(&self.path[at]))
    }

    /// Returns `true` if the URL has a query.
    pub(super) fn has_query(&self) -> bool {
        self.path.contains(&b'?')
    }

    /// Returns `true` if the URL ends with a port or the colon before a port.
    pub(super) fn has_port(&self) -> bool {
        self.host.contains(&b':')
    }

    /// Returns `true` if the URL is a scheme and a host, complete or not, without a path.
    pub(super) fn is_host(&self) -> bool {
        self.path.is_empty() && !self.host.is_empty()
    }

    /// Returns `true` if the URL is a scheme and a complete host without a path.
    pub(super) fn ends_with_host(&self) -> bool {
        self.path.is_empty() && !self.is_host_incomplete()
    }

    /// Returns `true` if the URL ends after the `//`.
    pub(super) fn is_scheme(&self) -> bool {
        self.host.is_empty() && self.path.is_empty() && !self.is_mailbox
    }

    /// Returns `true` if the URL ends before its host, or after punctuation inside it.
    pub(super) fn is_cut_in_host(&self) -> bool {
        self.path.is_empty() && !self.ends_with_alnum()
    }

    /// Returns `true` if the URL ends inside its host (after a dot, colon or hyphen, or before any
    /// of it) and `token` can continue the host. Also returns `true` if the URL ends with a
    /// single-label host and `token` is the port.
    pub(super) fn host_continues(&self, token: &ContinuationToken<'_>) -> bool {
        if self.is_mailbox {
            return self.address_continues(token);
        }
        let joint = self.host.last().is_none_or(|last| b".:-".contains(last));
        let port = self.is_host() && token.starts_port();
        let label = joint && (token.first().is_ascii_lowercase() || token.first().is_ascii_digit());
        self.is_host_incomplete() && (port || label)
    }

    /// Returns `true` if the URL ends inside its host: the final label is not a known top-level
    /// domain.
    pub(super) fn is_host_incomplete(&self) -> bool {
        if !self.path.is_empty() || is_number(self.host) || self.is_mailbox {
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
        labels.next().is_none() || !is_top_domain(last) || self.host.ends_with(b"-")
    }
}

/// The number of lower-case hexadecimal digits at the end of `path`.
fn hexadecimal_end(path: &[u8]) -> usize {
    let after = path
        .iter()
        .rposition(|byte| !is_commit_digit(*byte))
        .map_or(0, |at| at + 1);
    path.len() - after
}

fn is_commit_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
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
        assert!(UrlHead::new(b"news:joe@a.example").is_none());
        assert!(head("mailto:joe").is_mailbox && !head("http://joe").is_mailbox);
    }

    #[test]
    fn unicode_letters_count_but_the_soft_hyphen_does_not() {
        assert!(head("http://a").ends_with_alnum() && head("http://ä").ends_with_alnum());
        assert!(!head("http://a\u{AD}").ends_with_alnum() && !head("http://a_").ends_with_alnum());
        assert!(UrlHead::new(b"http://\xFF").unwrap().ends_with_alnum());
    }
}
