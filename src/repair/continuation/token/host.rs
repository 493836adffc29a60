//! Hosts, ports and addresses at the start of a token.

use super::super::line_prefix::is_word;
use super::extension::has_extension;
use super::{ContinuationToken, IDENTIFIER_DIGITS, all};

/// Top-level domains other than country codes that are frequent in archives.
const TOP_DOMAINS: [&str; 10] = [
    "com", "org", "net", "edu", "gov", "mil", "int", "info", "biz", "name",
];

/// First labels of hosts, by which a host in the domain of a country is told from other names with dots.
const HOST_LABELS: [&[u8]; 8] = [
    b"ftp", b"gopher", b"web", b"lists", b"mail", b"news", b"git", b"archive",
];

/// Domains of countries that are frequent in archives and are neither extensions of files nor endings of versions.
const COUNTRIES: [&[u8]; 18] = [
    b"uk", b"de", b"fr", b"nl", b"se", b"ch", b"at", b"it", b"fi", b"dk", b"be", b"ru", b"jp",
    b"au", b"nz", b"es", b"cz", b"eu",
];

/// Number of letters of a country's top-level domain.
const COUNTRY_LETTERS: usize = 2;

/// Minimum number of digits and punctuation characters of a telephone number.
const TELEPHONE_DIGITS: usize = 9;

impl ContinuationToken<'_> {
    /// Returns `true` if the token is a `:`, a number and a slash or nothing: the port after a host.
    pub(in crate::repair::continuation) fn begins_port(&self) -> bool {
        let Some(rest) = self.all.strip_prefix(b":") else {
            return false;
        };
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (2..=5).contains(&digits) && matches!(rest[digits..], [] | [b'/', ..])
    }

    /// Returns `true` if the token is an `@` and the rest of a mail address or Message-ID: a host with at least two labels.
    pub(in crate::repair::continuation) fn begins_address_host(&self) -> bool {
        let Some(host) = self.bare.strip_prefix(b"@") else {
            return false;
        };
        let end = host
            .iter()
            .position(|byte| b"/?#".contains(byte))
            .unwrap_or(host.len());
        is_host(&host[..end])
    }

    /// Returns `true` if the token begins with a top-level domain and a path or port: `uk/x`, `com:80/`.
    pub(in crate::repair::continuation) fn begins_top_domain(&self) -> bool {
        let letters = self
            .all
            .iter()
            .take_while(|byte| byte.is_ascii_lowercase())
            .count();
        let (label, rest) = self.all.split_at(letters);
        (is_top_domain(label) || COUNTRIES.contains(&label)) && matches!(rest, [b'/' | b':', ..])
    }

    /// Returns `true` if the token can be the rest of a host: labels with a dot between them, or a label alone.
    pub(in crate::repair::continuation) fn begins_host_rest(&self) -> bool {
        self.bare.split(|&byte| byte == b'.').all(|label| {
            !label.is_empty() && all(label, |byte| byte.is_ascii_alphanumeric() || *byte == b'-')
        })
    }

    /// Returns `true` if the token is a mail address or a telephone number.
    pub(in crate::repair::continuation) fn is_address(&self) -> bool {
        let number = self.bare.strip_prefix(b"+").unwrap_or(self.bare);
        let telephone = number.len() >= TELEPHONE_DIGITS
            && all(number, |byte| b"0123456789().-".contains(byte));
        telephone || self.is_mail_address()
    }

    /// Returns `true` for `joe@a.example` and `joe[at]a.example`.
    fn is_mail_address(&self) -> bool {
        let name = self
            .bare
            .iter()
            .take_while(|&&byte| is_word(byte) || b".+-".contains(&byte))
            .count();
        // A Message-ID has many digits before its `@`.
        let digits = self.bare[..name]
            .iter()
            .filter(|byte| byte.is_ascii_digit())
            .count();
        if IDENTIFIER_DIGITS <= digits || !is_word(self.bare[0]) {
            return false;
        }
        let rest = &self.bare[name..];
        let Some(host) = rest
            .strip_prefix(b"@")
            .or_else(|| rest.strip_prefix(b"[at]"))
        else {
            return false;
        };
        let label =
            |label: &[u8]| !label.is_empty() && all(label, |&byte| is_word(byte) || byte == b'-');
        name > 0 && host.contains(&b'.') && host.split(|&byte| byte == b'.').all(label)
    }

    /// Returns `true` if the token begins with a host in one of [`TOP_DOMAINS`], with or without a port.
    pub(in crate::repair::continuation) fn begins_host(&self) -> bool {
        let len = self
            .bare
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || b".-".contains(byte))
            .count();
        let (host, rest) = self.bare.split_at(len);
        let rest = match rest {
            [b':', digit, ..] if digit.is_ascii_digit() => {
                &rest[1 + rest[1..]
                    .iter()
                    .take_while(|byte| byte.is_ascii_digit())
                    .count()..]
            }
            _ => rest,
        };
        let last = host.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
        let first = host.split(|&byte| byte == b'.').next().unwrap_or_default();
        let country = last.len() == COUNTRY_LETTERS
            && all(last, u8::is_ascii_lowercase)
            && !has_extension(host)
            && (HOST_LABELS.contains(&first) || COUNTRIES.contains(&last));
        (is_top_domain(last) || country) && is_host(host) && matches!(rest, [] | [b'/', ..])
    }
}

/// Returns `true` if `label` is one of [`TOP_DOMAINS`].
pub(in crate::repair::continuation) fn is_top_domain(label: &[u8]) -> bool {
    TOP_DOMAINS
        .iter()
        .any(|domain| domain.as_bytes().eq_ignore_ascii_case(label))
}

/// Returns `true` if `text` is a host with at least two labels.
fn is_host(text: &[u8]) -> bool {
    let label = |label: &[u8]| {
        !label.is_empty() && all(label, |byte| byte.is_ascii_alphanumeric() || *byte == b'-')
    };
    text.contains(&b'.') && text.split(|&byte| byte == b'.').all(label)
}
