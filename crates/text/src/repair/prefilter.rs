//! A prefilter for bare URLs: checks the start of a word before the whole word is read.
//!
//! A word without blanks can be long and contain many URL starts. The prefilter reads only up to
//! the bytes that decide. It has no false negatives within the first [`PREFILTER_BYTES`] bytes of a
//! word: it may accept a word that the parser rejects, but it never rejects a URL.

use memchr::{memchr, memchr3, memmem, memrchr};

use super::url_run::{BareWord, LineBreakPolicy, url_run_end};
use super::whitespace_len;
use crate::grammar::BareRequirement;
use crate::limits::{PREFILTER_BYTES, SCHEME_CHARS};
use crate::scan::{
    HostAndPort, Rules, Scanner, cut, host_before_refused, is_cut_short, likely_host,
    plausible_host,
};

/// The reason a word cannot be a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrefilterReject {
    /// No plausible host follows the scheme.
    Host,
    /// The author shortened the host with dots.
    Shortened,
    /// The text after the scheme does not meet the scheme's requirement for bare URLs.
    Implausible,
}

/// Checks whether a word of `text` can be a URL, by its scheme and its host or mailbox. Reads at
/// most the first [`PREFILTER_BYTES`] bytes of the word. `guessed` is the scheme guessed for a word
/// without one.
///
/// # Errors
///
/// Returns the reason if the word cannot be a URL.
pub fn prefilter(
    text: &[u8],
    word: &BareWord,
    guessed: Option<&str>,
    scanner: &Scanner,
) -> Result<(), PrefilterReject> {
    if word.rules == Rules::Rfc1738 {
        return Ok(());
    }
    let prefix = WordPrefix {
        bytes: &text[word.from..text.len().min(word.from + PREFILTER_BYTES)],
        text,
        word,
    };
    let scheme_len = match guessed {
        Some(_) => 0,
        None => memchr(b':', prefix.bytes)
            .map(|colon| colon + 1)
            .filter(|&len| {
                // No list ends before the scheme of nearly all URLs.
                matches!(&prefix.bytes[..len - 1], b"http" | b"https") || prefix.reaches(len)
            })
            .unwrap_or(0),
    };
    let scheme = guessed.map_or_else(
        || &prefix.bytes[..scheme_len.saturating_sub(1)],
        str::as_bytes,
    );
    let rest = &prefix.bytes[scheme_len..];
    let bare = scanner.bare_requirement(scheme);
    let authority = if guessed.is_some() {
        Some(0)
    } else {
        rest.starts_with(b"//").then_some(scheme_len + 2)
    };
    if let Some(from) = authority.filter(|_| !matches!(bare, BareRequirement::Slashes)) {
        return check_authority(&prefix, from, guessed);
    }
    // The word must contain one of several bytes; `found` is the first one after the scheme.
    let holds = |found: Option<usize>| found.is_some_and(|at| prefix.reaches(scheme_len + at + 1));
    let can_be = match bare {
        // An address may be broken before its `@`.
        BareRequirement::Mailbox(_) => {
            holds(memchr(b'@', rest))
                || prefix.precedes_hidden_at_sign()
                || prefix.ends_line(prefix.end(PREFILTER_BYTES))
        }
        BareRequirement::News => holds(memchr3(b'.', b'@', b'*', rest)),
        BareRequirement::Host | BareRequirement::Never => false,
        BareRequirement::Slashes => rest.starts_with(b"//"),
        BareRequirement::Starts(start) => rest.starts_with(start.as_bytes()),
        BareRequirement::Urn => true,
    };
    if can_be {
        Ok(())
    } else {
        Err(PrefilterReject::Implausible)
    }
}

/// The first [`PREFILTER_BYTES`] bytes from the start of a word whose end is not known yet.
struct WordPrefix<'t> {
    bytes: &'t [u8],
    text: &'t [u8],
    word: &'t BareWord,
}

impl WordPrefix<'_> {
    /// Returns `true` if the first `len` bytes belong to the word.
    fn reaches(&self, len: usize) -> bool {
        // A URL separator ends the word only if a scheme and its colon follow.
        let listed = memchr3(b',', b';', b'|', &self.bytes[..len]).is_some();
        self.end(if listed { len + SCHEME_CHARS + 1 } else { len }) >= len
    }

    /// Returns `true` if only blanks separate the word's end from a line end that a mailer may have
    /// inserted. Also returns `true` if there are too many blanks to decide.
    fn ends_line(&self, end: usize) -> bool {
        /// Maximum number of blanks to skip.
        const BLANKS: usize = 8;
        let mut rest = &self.text[self.word.from + end..];
        for _ in 0..BLANKS {
            match whitespace_len(rest) {
                0 => {
                    return self.word.breaks == LineBreakPolicy::Join
                        && matches!(rest, [b'\n' | b'\r', ..]);
                }
                len => rest = &rest[len..],
            }
        }
        self.word.breaks == LineBreakPolicy::Join
    }

    /// Returns `true` if ` at `, a possible `@`, follows the word.
    fn precedes_hidden_at_sign(&self) -> bool {
        self.text[self.word.from + self.end(usize::MAX)..].starts_with(b" at ")
    }

    /// The length of the word. Reads at most `max_bytes`, and never more than [`PREFILTER_BYTES`].
    fn end(&self, max_bytes: usize) -> usize {
        let BareWord {
            from,
            before,
            rules,
            ..
        } = *self.word;
        url_run_end(
            self.text,
            from,
            before,
            rules,
            max_bytes.min(PREFILTER_BYTES),
        ) - from
    }
}

/// Checks that the authority at `from` can contain a host.
fn check_authority(
    prefix: &WordPrefix<'_>,
    from: usize,
    guessed: Option<&str>,
) -> Result<(), PrefilterReject> {
    let rest = &prefix.bytes[from..];
    let slash = memchr3(b'/', b'?', b'#', rest);
    let backslash = memchr(b'\\', &rest[..slash.unwrap_or(rest.len())]);
    let closed = backslash.or(slash).map(|len| from + len);
    // A backslash before a line end may be a continuation character, which is removed.
    let is_continuation = |end: usize| prefix.bytes[end] == b'\\' && prefix.ends_line(end + 1);
    let closed = closed.filter(|&end| prefix.reaches(end + 1) && !is_continuation(end));
    let end = closed.unwrap_or_else(|| prefix.end(usize::MAX));
    let authority = &prefix.bytes[from..end];
    // Trimming punctuation from the end makes the host shorter. A slash or fragment is not trimmed.
    let is_whole = closed.is_some_and(|end| matches!(prefix.bytes[end], b'/' | b'#'));
    let holds = match closed {
        Some(_) if is_whole => has_host(authority, guessed),
        // This may be a user name whose host is on the next line.
        None if prefix.ends_line(end) => true,
        _ => may_have_host(authority),
    };
    // The path of an FTP location, as in `ftp.a.example:x@y`, may contain an `@`.
    let location = cut(cut(authority, b':').before, b'(').before;
    let is_location = guessed.is_some() && likely_host(location);
    if holds || is_location {
        Ok(())
    } else if is_cut_short(host_of(authority, guessed)) {
        Err(PrefilterReject::Shortened)
    } else {
        Err(PrefilterReject::Host)
    }
}

/// Returns `true` if a complete authority has a plausible host.
fn has_host(authority: &[u8], guessed: Option<&str>) -> bool {
    let host = host_of(authority, guessed);
    let is_whole_host = plausible_host(host) && (guessed.is_none() || likely_host(host));
    let site = memrchr(b'@', authority).map_or(authority, |at| &authority[at + 1..]);
    is_whole_host || host_before_refused(site).is_some()
}

/// Returns the host of a complete authority.
fn host_of<'t>(authority: &'t [u8], guessed: Option<&str>) -> &'t [u8] {
    let site = memrchr(b'@', authority).map_or(authority, |at| &authority[at + 1..]);
    // The address in parentheses after the host of an FTP location.
    let site = guessed.map_or(site, |_| cut(site, b'(').before);
    HostAndPort::of(site).host
}

/// Returns `true` if an authority, perhaps followed by other text, can contain a host. An empty
/// authority can: the host may be on the next line.
fn may_have_host(authority: &[u8]) -> bool {
    let site = memrchr(b'@', authority).map_or(authority, |at| &authority[at + 1..]);
    // A bracket after the colon of a port may be trimmed.
    let host = if site.first() == Some(&b'[') {
        HostAndPort::of(site).host
    } else {
        cut(site, b':').before
    };
    let gap = memmem::find(host, b"..")
        .is_some_and(|at| host[at..].iter().any(u8::is_ascii_alphanumeric))
        && host_before_refused(site).is_none();
    match site.first() {
        None => authority.is_empty(),
        Some(b'[') => site.contains(&b']'),
        Some(&first) => {
            (first.is_ascii_alphanumeric() || matches!(first, b'-' | b'_') || first >= 0x80) && !gap
        }
    }
}
