//! Parts of a URL in a token: scheme, path, query, extension.

use super::super::line_prefix::is_word;
use super::super::line_width::columns;
use super::extension::{EXTENSIONS, completes_extension, has_extension};
use super::trimming::bare;
use super::{ContinuationToken, all};

/// Minimum number of columns of a token that is longer than words of prose.
pub(in crate::repair::continuation) const LONG_TOKEN: usize = 20;

/// Bytes that separate the parts of a URL.
const DELIMITERS: &[u8] = b"/_%=&?#~";

impl ContinuationToken<'_> {
    /// Returns `true` if the token begins another URL: with a scheme, `www.` or `URL:`. One `?` before it does not count: it
    /// stands for a bullet or blank that a charset conversion lost.
    pub(in crate::repair::continuation) fn begins_url(&self) -> bool {
        let all = self.all.strip_prefix(b"?").unwrap_or(self.all);
        let end = all
            .iter()
            .position(|byte| b"/?=&".contains(byte))
            .unwrap_or(all.len());
        let scheme = all[..end].ends_with(b":") && all[end..].starts_with(b"//");
        scheme
            || ["www.", "mailto:", "news:", "url:"]
                .iter()
                .any(|prefix| begins_with(self.all, prefix))
    }

    /// Returns `true` if the token is a `;` and an assignment, as between the parameters of a query.
    pub(in crate::repair::continuation) fn begins_parameter(&self) -> bool {
        self.all
            .strip_prefix(b";")
            .and_then(|all| ContinuationToken::new(all)?.assigned_value())
            .is_some_and(|value| !value.is_empty())
    }

    /// Returns `true` if the token is an `@`, a name and a slash, as in the paths of some sites.
    pub(in crate::repair::continuation) fn begins_name_in_path(&self) -> bool {
        self.all.strip_prefix(b"@").is_some_and(|rest| {
            let name = rest
                .iter()
                .take_while(|&&byte| is_word(byte) || byte == b'-' || byte == b'.')
                .count();
            name > 0 && rest[name..].starts_with(b"/")
        })
    }

    /// Returns `true` if the token begins with a query, fragment, escape or extension, which only continue a URL.
    pub(in crate::repair::continuation) fn begins_query(&self) -> bool {
        match self.all {
            [b'?' | b'&' | b'=', next, ..] => is_word(*next) || b"%~.=&-".contains(next),
            [b'%', one, two, ..] => one.is_ascii_hexdigit() && two.is_ascii_hexdigit(),
            [b'#', name @ ..] => {
                let fragment = |&byte: &u8| is_word(byte) || b".-=+:&".contains(&byte);
                !name.is_empty() && all(bare(name), fragment) && !self.is_issue()
            }
            _ => self.begins_extension(),
        }
    }

    /// Returns `true` if the token begins with a dot and an extension: `.html`, `..html`.
    fn begins_extension(&self) -> bool {
        let Some(rest) = self.all.strip_prefix(b".") else {
            return false;
        };
        let rest = rest.strip_prefix(b".").unwrap_or(rest);
        let word = rest.iter().take_while(|&&byte| is_word(byte)).count();
        EXTENSIONS
            .iter()
            .any(|extension| extension.as_bytes() == &rest[..word])
    }

    /// Returns `true` if the token begins like a piece of a path, or begins with a hyphen and contains such a piece.
    pub(in crate::repair::continuation) fn begins_path(&self) -> bool {
        match self.all {
            [b'/' | b'_' | b'~', next, ..] => is_word(*next) || b"%~.-".contains(next),
            [b'.', next, ..] => is_word(*next),
            [b'@', ..] => self.begins_address_host() || self.begins_name_in_path(),
            [b'-', next, rest @ ..] => {
                is_word(*next)
                    && rest
                        .windows(2)
                        .any(|pair| b"/_%=&?#.".contains(&pair[0]) && is_word(pair[1]))
            }
            _ => false,
        }
    }

    /// Returns `true` if the token begins with a path, query or fragment, or with another label of a host.
    pub(in crate::repair::continuation) fn follows_host(&self) -> bool {
        matches!(self.all, [b'/' | b'?' | b'#' | b'.', next, ..] if is_word(*next) || b"~%".contains(next))
            || self.begins_port()
    }

    /// Returns `true` if the token ends with the extension of a file, before any query, or completes one that `url` begins.
    pub(in crate::repair::continuation) fn has_extension(&self, url: &[u8]) -> bool {
        let path = self
            .bare
            .iter()
            .position(|byte| b"?#".contains(byte))
            .unwrap_or(self.bare.len());
        let whole = has_extension(&self.bare[..path]) && !self.bare.contains(&b'@');
        whole || completes_extension(url, self.bare)
    }

    /// Returns `true` if the token completes an extension that `url` begins.
    pub(in crate::repair::continuation) fn completes_extension(&self, url: &[u8]) -> bool {
        completes_extension(url, self.bare)
    }

    /// Returns `true` if the token ends with the extension of a file (`extension`), or has two marks of a URL: letters and digits,
    /// URL punctuation, two separators, two hyphens, a length of [`LONG_TOKEN`].
    pub(in crate::repair::continuation) fn is_compound(&self, extension: bool) -> bool {
        let marks = [
            self.is_mixed(),
            self.has_delimiter_inside(),
            self.delimiters() >= 2,
            self.is_hyphenated(),
            LONG_TOKEN <= columns(self.all),
        ];
        extension || 2 <= marks.iter().filter(|mark| **mark).count()
    }

    /// The number of bytes that separate the parts of a URL.
    pub(in crate::repair::continuation) fn delimiters(&self) -> usize {
        self.bare
            .iter()
            .filter(|byte| DELIMITERS.contains(byte))
            .count()
    }

    /// Returns `true` if one of these bytes, or a `+`, follows the first byte.
    pub(in crate::repair::continuation) fn has_delimiter_inside(&self) -> bool {
        self.bare[1..]
            .iter()
            .any(|byte| *byte == b'+' || DELIMITERS.contains(byte))
    }
}

fn begins_with(text: &[u8], prefix: &str) -> bool {
    text.len() >= prefix.len() && text[..prefix.len()].eq_ignore_ascii_case(prefix.as_bytes())
}
