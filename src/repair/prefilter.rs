//! A cheap look at a bare start before its word is read: words without blanks can be long, and full of starts.
//!
//! It reads no further than to what decides. What it lets pass may be refused later, but nothing that it refuses would
//! pass, words aside in which what decides stands behind the first [`PREFILTER_BYTES`] bytes.

use memchr::{memchr, memchr3, memmem, memrchr};

use super::bare_url::{BareWord, LineBreakPolicy};
use super::line::whitespace_len;
use super::url_run::url_run_end;
use crate::grammar::BareRequirement;
use crate::limits::{PREFILTER_BYTES, SCHEME_CHARS};
use crate::scan::{Rules, Scanner, cut, likely_host, plausible_host, site_parts};

/// Why a word cannot be a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrefilterReject {
    /// No plausible host follows the scheme.
    Host,
    /// What follows the scheme is not what bare URLs of that scheme look like.
    Implausible,
}

/// Whether a word of `text` can be a URL at all, told from its first [`PREFILTER_BYTES`] bytes: its scheme and host or
/// mailbox. `guessed` is the scheme of one that has none of its own.
///
/// # Errors
///
/// AlternateReason it cannot.
pub fn prefilter(
    text: &[u8],
    word: &BareWord,
    guessed: Option<&str>,
    scanner: &Scanner,
) -> Result<(), PrefilterReject> {
    if word.rules == Rules::Rfc1738 {
        return Ok(());
    }
    let ahead = Ahead {
        octets: &text[word.from..text.len().min(word.from + PREFILTER_BYTES)],
        text,
        word,
    };
    let scheme_len = match guessed {
        Some(_) => 0,
        None => memchr(b':', ahead.octets)
            .map(|colon| colon + 1)
            .filter(|&len| ahead.reaches(len))
            .unwrap_or(0),
    };
    let scheme = guessed.map_or_else(
        || &ahead.octets[..scheme_len.saturating_sub(1)],
        str::as_bytes,
    );
    let rest = &ahead.octets[scheme_len..];
    let bare = scanner.bare(scheme);
    let authority = if guessed.is_some() {
        Some(0)
    } else {
        rest.starts_with(b"//").then_some(scheme_len + 2)
    };
    if let Some(from) = authority.filter(|_| !matches!(bare, BareRequirement::Slashes)) {
        return site(&ahead, from, guessed.is_some());
    }
    // Whether the word reaches to the first of the bytes that it must hold one of.
    let holds = |found: Option<usize>| found.is_some_and(|at| ahead.reaches(scheme_len + at + 1));
    let can_be = match bare {
        BareRequirement::Mailbox => holds(memchr(b'@', rest)),
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

/// The bytes from a word's start on, of which it is not known where the word ends.
struct Ahead<'t> {
    octets: &'t [u8],
    text: &'t [u8],
    word: &'t BareWord,
}

impl Ahead<'_> {
    /// Whether the first `len` bytes are the word's.
    fn reaches(&self, len: usize) -> bool {
        // What lists URLs ends a word if a scheme and its colon stand behind it.
        let listed = memchr3(b',', b';', b'|', &self.octets[..len]).is_some();
        self.end(if listed { len + SCHEME_CHARS + 1 } else { len }) >= len
    }

    /// Whether nothing but blanks stands between the word's end and a line end that may be a mailer's.
    fn ends_line(&self, end: usize) -> bool {
        /// Blanks that are looked at. Behind more of them anything may stand.
        const BLANKS: usize = 8;
        let mut behind = &self.text[self.word.from + end..];
        for _ in 0..BLANKS {
            match whitespace_len(behind) {
                0 => {
                    return self.word.breaks == LineBreakPolicy::Join
                        && matches!(behind, [b'\n' | b'\r', ..]);
                }
                len => behind = &behind[len..],
            }
        }
        self.word.breaks == LineBreakPolicy::Join
    }

    /// Bytes of the word, of which `most` are looked at, and [`PREFILTER_BYTES`] in any case.
    fn end(&self, most: usize) -> usize {
        let BareWord {
            from,
            before,
            rules,
            ..
        } = *self.word;
        url_run_end(self.text, from, before, rules, most.min(PREFILTER_BYTES)) - from
    }
}

/// Whether the authority at `from` can name a host.
fn site(ahead: &Ahead<'_>, from: usize, guessed: bool) -> Result<(), PrefilterReject> {
    let delimiter = |&byte: &u8| matches!(byte, b'/' | b'?' | b'#' | b'\\');
    let closed = ahead.octets[from..]
        .iter()
        .position(delimiter)
        .map(|len| from + len);
    // A backslash before a line end may be what a program broke the line with.
    let breaks = |end: usize| ahead.octets[end] == b'\\' && ahead.ends_line(end + 1);
    let closed = closed.filter(|&end| ahead.reaches(end + 1) && !breaks(end));
    let end = closed.unwrap_or_else(|| ahead.end(usize::MAX));
    let authority = &ahead.octets[from..end];
    // Punctuation may come off the end, so that less is the host; but a slash or a fragment stays.
    let whole = closed.is_some_and(|end| matches!(ahead.octets[end], b'/' | b'#'));
    let holds = match closed {
        Some(_) if whole => is_site(authority, guessed),
        // What stands here may be a user's name, and the host on the next line.
        None if ahead.ends_line(end) => true,
        _ => can_be_site(authority),
    };
    if holds {
        Ok(())
    } else {
        Err(PrefilterReject::Host)
    }
}

/// Whether an authority names a host that is plausible.
fn is_site(authority: &[u8], guessed: bool) -> bool {
    let site = memrchr(b'@', authority).map_or(authority, |at| &authority[at + 1..]);
    let (host, _) = site_parts(site);
    plausible_host(host) && (!guessed || likely_host(host))
}

/// Whether an authority, with whatever clings to its end, can hold a host. An empty one can: the next line may have it.
fn can_be_site(authority: &[u8]) -> bool {
    let site = memrchr(b'@', authority).map_or(authority, |at| &authority[at + 1..]);
    // Behind a port's colon a bracket may come off the end.
    let host = if site.first() == Some(&b'[') {
        site_parts(site).0
    } else {
        cut(site, b':').0
    };
    let gap = memmem::find(host, b"..")
        .is_some_and(|at| host[at..].iter().any(u8::is_ascii_alphanumeric));
    match site.first() {
        None => authority.is_empty(),
        Some(b'[') => site.contains(&b']'),
        Some(&first) => {
            (first.is_ascii_alphanumeric() || matches!(first, b'-' | b'_') || first >= 0x80) && !gap
        }
    }
}
