//! Decides whether a colon or dot starts a URL, and finds the start of the scheme or wrapper, which
//! may be in the middle of a word.
//!
//! `host_check` decides whether a host follows; `spelling` searches for `www.` and `ftp.`.

use memchr::memchr;

use super::host_check::{host_len_before, may_end_with_host, names_site};
use super::spelling::{self, HostPrefix, spelled_head};
use super::{Opening, Rules, Scanner, UrlStart};
use crate::byte_scan::{
    ends_with_caseless, is_one_of, last_char, prefix_len, starts_with_caseless, suffix_len,
};
use crate::grammar::{BareRequirement, Scheme, SchemeClass, SchemeRule, is_scheme_char};
use crate::limits::SCHEME_CHARS;

/// The URL starts of a text, found on demand.
///
/// Three searches run ahead of the caller, each only to the next trigger. Each search therefore
/// reads every byte once. Checking a trigger reads at most [`SCHEME_CHARS`] bytes before it.
#[derive(Debug)]
pub struct UrlStarts<'t> {
    scanner: &'t Scanner,
    text: &'t [u8],
    /// The first unchecked colon, or the length of the text.
    colon: usize,
    /// The first unchecked end of a word that needs no colon (see `spelling`), or the length of the
    /// text.
    word_end: usize,
    /// The first unchecked slash that may follow a host, or the length of the text.
    slash: usize,
}

impl<'t> UrlStarts<'t> {
    pub(super) fn new(scanner: &'t Scanner, text: &'t [u8], has_paths: bool) -> UrlStarts<'t> {
        let mut starts = UrlStarts {
            scanner,
            text,
            colon: 0,
            word_end: 0,
            slash: text.len(),
        };
        if has_paths {
            starts.slash = starts.next_slash(0);
        }
        starts.colon = starts.next_colon(0);
        starts.word_end = starts.next_word_end(0);
        starts
    }

    /// Returns the first start whose wrapper and URL are at `from` or later. `from` must not
    /// decrease between calls.
    pub fn next_from(&mut self, from: usize) -> Option<UrlStart> {
        if self.colon < from {
            self.colon = self.next_colon(from);
        }
        if self.word_end < from {
            self.word_end = self.next_word_end(from);
        }
        if self.slash < from {
            self.slash = self.next_slash(from);
        }
        while self.colon.min(self.word_end).min(self.slash) < self.text.len() {
            // A trigger with a start is kept: after a skipped bracket, its colon is checked again.
            let is_slash = self.slash < self.colon.min(self.word_end);
            let is_colon = self.colon < self.word_end;
            let start = if is_slash {
                start_at_slash(self.text, from, self.slash)
            } else if is_colon {
                start_at_colon(self.scanner, self.text, from, self.colon)
            } else {
                start_at_word_end(self.scanner, self.text, from, self.word_end)
            };
            if start.is_some() {
                return start;
            }
            if is_slash {
                self.slash = self.next_slash(self.slash + 1);
            } else if is_colon {
                self.colon = self.next_colon(self.colon + 1);
            } else {
                self.word_end = self.next_word_end(self.word_end + 1);
            }
        }
        None
    }

    /// Skips the host with a path that [`UrlStarts::next_from`] returned last. Starts inside it or
    /// around it remain: `web.archive.org/web/2001/http://a.example/` is found at its scheme.
    pub fn skip_host(&mut self) {
        self.slash = self.next_slash(self.slash + 1);
    }

    fn next_colon(&self, from: usize) -> usize {
        let rest = self.text.get(from..).unwrap_or_default();
        memchr(b':', rest).map_or(self.text.len(), |at| from + at)
    }

    fn next_slash(&self, from: usize) -> usize {
        let mut at = from;
        while let Some(len) = self.text.get(at..).and_then(|rest| memchr(b'/', rest)) {
            at += len;
            if may_end_with_host(&self.text[..at]) {
                return at;
            }
            // No host starts in the rest of the path.
            at += prefix_len(&self.text[at..], |byte| !PRECEDES_HOST[usize::from(*byte)]);
        }
        self.text.len()
    }

    fn next_word_end(&self, from: usize) -> usize {
        if self.scanner.rules == Rules::Rfc1738 {
            return self.text.len();
        }
        spelling::find_prefix_end(self.text, from).unwrap_or(self.text.len())
    }
}

/// Returns the start for the colon at `colon` if the opening is at `floor` or later.
fn start_at_colon(scanner: &Scanner, text: &[u8], floor: usize, colon: usize) -> Option<UrlStart> {
    let before = &text[floor..colon];
    let last = *before.last()?;
    if !is_scheme_char(last) {
        return match last {
            b'[' | b'(' => start_of_spelling(scanner, text, floor, colon - 1),
            b' ' if scanner.rules == Rules::Wide => start_with_blanks(text, floor, colon),
            _ => None,
        };
    }
    if !text[colon + 1..].starts_with(b"//") {
        if let Some(b'/' | b'\\' | b':') = text.get(colon + 1)
            && let Some(start) = start_of_spelling(scanner, text, floor, colon)
        {
            return Some(start);
        }
        if !scanner.suffixes.may_end(before) {
            return None;
        }
    }
    start_of_name(scanner, text, floor, colon)
}

/// Returns the start at the scheme that ends at `end` if the scheme or its delimiter is misspelled,
/// or if the delimiter has the escaped slashes of JSON.
///
/// No word and no path may precede the scheme: in `/http:/` it is a folder of a page archive.
fn start_of_spelling(scanner: &Scanner, text: &[u8], floor: usize, end: usize) -> Option<UrlStart> {
    if scanner.rules == Rules::Rfc1738 {
        return None;
    }
    let lowest = floor.max(end.saturating_sub(spelling::MAX_BYTES));
    let letters = suffix_len(&text[lowest..end], u8::is_ascii_alphabetic);
    let begin = end - letters;
    let before = begin.checked_sub(1).map(|at| text[at]);
    let is_inside =
        before.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"/\\%=&?@_-.+".contains(&byte));
    if letters == 0 || is_inside {
        return None;
    }
    if spelled_head(&text[begin..]).is_none() {
        let row = Scheme::named(&text[begin..end])?;
        let is_escaped = text[end..].starts_with(b":\\/\\/") && row.bare == BareRequirement::Host;
        if !is_escaped && !text[end..].starts_with(b"[:]") {
            return None;
        }
    }
    Some(match before {
        Some(b'<') if floor < begin => UrlStart::in_wrapper(begin - 1, begin, Opening::Angle),
        _ => UrlStart::new(begin, Opening::Bare, end + 1),
    })
}

/// Returns the start at a scheme with blanks between its letters or slashes, inserted to keep it
/// from being a link: `h t t p : / / a.example`, `http [ : ] // a.example`.
fn start_with_blanks(text: &[u8], floor: usize, colon: usize) -> Option<UrlStart> {
    /// Maximum number of bytes of a scheme or its slashes, including blanks.
    const SPACED_BYTES: usize = 16;
    let after = &text[colon + 1..text.len().min(colon + 1 + SPACED_BYTES)];
    after.first().filter(|byte| b" /]".contains(byte))?;
    let bracket = after_blanks(after, b']').unwrap_or(0);
    let slash = bracket + after_blanks(&after[bracket..], b'/')?;
    let slashes = slash + after_blanks(&after[slash..], b'/')?;
    let host = slashes + prefix_len(&after[slashes..], |&byte| byte == b' ');
    let lowest = floor.max(colon.saturating_sub(SPACED_BYTES));
    let before = text[lowest..colon].trim_ascii_end();
    let before = match bracket {
        0 => before,
        _ => before.strip_suffix(b"[")?,
    };
    let schemes = ["https", "http", "ftp"];
    let (scheme, at) = schemes
        .into_iter()
        .find_map(|name| Some((name, spaced_start(before, name)?)))?;
    let is_whole = !before[..at].last().is_some_and(|&byte| is_word(byte));
    (is_whole && names_site(&text[colon + 1 + host..])).then_some(UrlStart {
        at: lowest + at,
        content: colon + 1 + host,
        opening: Opening::Schemeless(scheme),
        resume: colon + 1,
    })
}

/// Returns the length of the blanks at the start of `text` and of `byte` after them.
fn after_blanks(text: &[u8], byte: u8) -> Option<usize> {
    let blanks = prefix_len(text, |&byte| byte == b' ');
    (text.get(blanks) == Some(&byte)).then_some(blanks + 1)
}

/// Returns the offset of `scheme`, possibly with blanks between the letters, at the end of `text`.
fn spaced_start(text: &[u8], scheme: &str) -> Option<usize> {
    scheme.bytes().rev().try_fold(text.len(), |end, letter| {
        let at = text[..end].trim_ascii_end().len().checked_sub(1)?;
        text[at].eq_ignore_ascii_case(&letter).then_some(at)
    })
}

/// Returns the start at the name before the colon, if there is one.
fn start_of_name(scanner: &Scanner, text: &[u8], floor: usize, colon: usize) -> Option<UrlStart> {
    let after = &text[colon + 1..];
    let lowest = floor.max(colon.saturating_sub(SCHEME_CHARS));
    let len = suffix_len(&text[lowest..colon], |&byte| is_scheme_char(byte));
    let begin = colon - len;
    let name = &text[begin..colon];
    let bracket = begin
        .checked_sub(1)
        .filter(|&at| at >= floor && text[at] == b'<');
    // Most colons precede a blank: in header fields and at the ends of phrases. White space may
    // follow only in a wrapper.
    let next = after.first().copied().unwrap_or(b' ');
    if next.is_ascii_whitespace() && bracket.is_none() {
        return None;
    }
    let is_whole = begin
        .checked_sub(1)
        .is_none_or(|at| !is_scheme_char(text[at]));

    if name.eq_ignore_ascii_case(b"url") && (is_whole || bracket.is_some()) {
        return Some(url_prefix(begin, colon, bracket));
    }
    let at = match scanner.rules {
        Rules::Rfc1738 => strict_scheme(name, after, bracket.is_some(), is_whole)?,
        Rules::Wide => wide_scheme(scanner, name, after)?,
    };
    if scanner.schemeless
        && let Some(archive) = archive_before(&text[floor..begin + at])
        && may_precede_host(&text[..floor + archive])
    {
        let opening = Opening::Schemeless("http");
        return Some(UrlStart::new(floor + archive, opening, colon + 1));
    }
    Some(match bracket.filter(|_| at == 0) {
        Some(bracket) => UrlStart::in_wrapper(bracket, begin, Opening::Angle),
        None => UrlStart::new(begin + at, Opening::Bare, colon + 1),
    })
}

/// Host and folder of the Wayback Machine, which identify its addresses without a scheme.
const ARCHIVE: &[u8] = b"web.archive.org/web/";

/// Maximum number of digits of a Wayback Machine timestamp: to the second.
const TIME_DIGITS: usize = 14;

/// Number of bytes of the suffix of a timestamp (`id_`), which selects the form of the page.
const KIND_BYTES: usize = 3;

/// Returns the offset in `text` of a Wayback Machine address at the end, up to the slash after the
/// timestamp: `web.archive.org/web/20010203/`. The archived page follows, with a scheme that does
/// not start a separate URL.
fn archive_before(text: &[u8]) -> Option<usize> {
    let before = text.strip_suffix(b"/")?;
    let kind = suffix_len(
        &before[before.len().saturating_sub(KIND_BYTES + 1)..],
        |byte| byte.is_ascii_lowercase() || *byte == b'_',
    );
    let before = &before[..before.len() - kind];
    let digits = suffix_len(
        &before[before.len().saturating_sub(TIME_DIGITS + 1)..],
        u8::is_ascii_digit,
    );
    let at = (before.len() - digits).checked_sub(ARCHIVE.len())?;
    let is_archive = starts_with_caseless(&before[at..], ARCHIVE);
    let is_time = matches!(digits, 1..=TIME_DIGITS) && matches!(kind, 0 | KIND_BYTES);
    (is_time && is_archive).then_some(at)
}

/// The start at `URL:`, or at `<URL:` if there is a bracket.
fn url_prefix(begin: usize, colon: usize, bracket: Option<usize>) -> UrlStart {
    match bracket {
        Some(bracket) => UrlStart::in_wrapper(bracket, colon + 1, Opening::UrlBracket),
        None => UrlStart {
            at: begin,
            content: colon + 1,
            opening: Opening::UrlPrefix,
            resume: colon + 1,
        },
    }
}

/// Returns the offset in `name` where a scheme starts by the strict rules; it is always 0.
///
/// In brackets, any of the ten predefined schemes counts. A bare scheme must not follow a character
/// that could belong to it (`is_whole`), and all except `mailto:` and `news:` need `//`.
fn strict_scheme(name: &[u8], after: &[u8], in_brackets: bool, is_whole: bool) -> Option<usize> {
    let row = Scheme::named(name).filter(|row| row.class == SchemeClass::Predefined)?;
    let needs_slashes = !matches!(row.rule, SchemeRule::Mailto | SchemeRule::News);
    (in_brackets || (is_whole && (!needs_slashes || after.starts_with(b"//")))).then_some(0)
}

/// Returns the offset in `name` where a scheme starts by the wide rules.
///
/// A scheme starts with a letter that no letter precedes. Before `//`, any name counts, but the
/// longest known scheme is preferred to a longer unknown one, even after letters
/// ([`glued_scheme`]). In `git+https`, the longer name is right. Without `//`, the scheme must be
/// known and need no slashes.
fn wide_scheme(scanner: &Scanner, name: &[u8], after: &[u8]) -> Option<usize> {
    let begins = |at: usize| {
        name[at].is_ascii_alphabetic() && (at == 0 || !name[at - 1].is_ascii_alphabetic())
    };
    let known = (0..name.len()).find(|&at| begins(at) && scanner.knows(&name[at..]));
    if after.starts_with(b"//") {
        return match known {
            Some(scheme) if is_compound(name, scheme) => Some(0),
            Some(scheme) => Some(scheme),
            // A single letter is a drive in a file path (`C://Tina`).
            None => glued_scheme(name, after).or_else(|| {
                (0..name.len())
                    .find(|&at| begins(at))
                    .filter(|at| at + 1 < name.len())
            }),
        };
    }
    let Some(known) = known else {
        return glued_scheme(name, after);
    };
    let needs_slashes = matches!(
        scanner.bare_requirement(&name[known..]),
        BareRequirement::Host | BareRequirement::Slashes | BareRequirement::Never
    );
    (!needs_slashes && !is_repeated(&name[known..], after)).then_some(known)
}

/// Returns `true` if `mailto:` follows itself. The second one starts the URL.
fn is_repeated(scheme: &[u8], after: &[u8]) -> bool {
    scheme.eq_ignore_ascii_case(b"mailto") && starts_with_caseless(after, b"mailto:")
}

/// Returns the start at the host prefix, such as `www` or `ftp5`, that ends with the dot at `end`,
/// or at the scheme without a colon that ends with the slashes there.
///
/// `None` if no word starts there at `floor` or later, or if no label follows the dot.
fn start_at_word_end(scanner: &Scanner, text: &[u8], floor: usize, end: usize) -> Option<UrlStart> {
    if text[end] == b'/' {
        return start_of_spelling(scanner, text, floor, end);
    }
    let prefix = spelling::prefix_before_dot(text, end).filter(|prefix| prefix.at >= floor);
    let prefix = match prefix {
        None if text[end] == b'[' => spelling::defanged_host(text, floor, end),
        prefix => prefix,
    };
    let HostPrefix { at, scheme } = prefix?;
    let next = end + spelling::dot_len(&text[end..])?;
    let label_follows = text
        .get(next)
        .is_some_and(|&next| next.is_ascii_alphanumeric() || next >= 0x80);
    if !label_follows {
        return None;
    }
    if let Some(start) = start_before_site(scanner, text, floor, at) {
        return Some(start);
    }
    let opening = Opening::Schemeless(scheme);
    (scanner.schemeless && may_precede_host(&text[..at])).then_some(UrlStart::new(
        at,
        opening,
        end + 1,
    ))
}

/// The bytes before a host without a scheme.
const PRECEDES_HOST: [bool; 256] = byte_table!(|byte| matches!(
    byte,
    b' ' | b'\t' | b'\r' | b'\n' | b'(' | b'<' | b'>' | b'|'
));

/// Returns the start at the host before the slash at `slash`, if a path follows. `None` if the host
/// does not begin a word, or begins before `floor`. Quote marks may precede it without a blank.
fn start_at_slash(text: &[u8], floor: usize, slash: usize) -> Option<UrlStart> {
    let next = *text.get(slash + 1)?;
    if !next.is_ascii_alphanumeric() && !b"~_@%".contains(&next) {
        return None;
    }
    let at = slash - host_len_before(&text[floor..slash])?;
    let before = text[..at].last();
    let is_start = before.is_none_or(|last| PRECEDES_HOST[usize::from(*last)]);
    is_start.then_some(UrlStart::new(at, Opening::HostPath("http"), slash + 1))
}

/// Returns the start at the mistyped scheme before the host at `site`, such as `http;//www`.
fn start_before_site(
    scanner: &Scanner,
    text: &[u8],
    floor: usize,
    site: usize,
) -> Option<UrlStart> {
    let lowest = floor.max(site.saturating_sub(spelling::MAX_BYTES));
    let before = &text[lowest..site];
    if !matches!(before.last(), Some(b'/' | b'\\' | b':')) {
        return None;
    }
    let delimiters = suffix_len(before, |byte| {
        matches!(byte, b'/' | b'\\' | b':' | b';' | b'.')
    });
    start_of_spelling(scanner, text, floor, site - delimiters).map(|start| UrlStart {
        resume: site,
        ..start
    })
}

/// Returns `true` if a host without a scheme can start after this text: not inside a word, a path
/// or a mailbox.
fn may_precede_host(before: &[u8]) -> bool {
    let Some((&last, rest)) = before.split_last() else {
        return true;
    };
    match last {
        // Dashes and an ellipsis (`news--www.a.example`). One hyphen or dot inside a word belongs
        // to a longer host, and `xn--` starts a label in another script (RFC 5890).
        b'-' | b'.' => rest.last().is_none_or(|&byte| {
            byte == last && !rest.ends_with(b"xn-")
                || !is_word(byte) && !matches!(byte, b'-' | b'.' | b'/' | b'@' | b'%' | b'*' | b'_')
        }),
        // The mark of an added line in a patch. In form-encoded text, a word precedes the `+`.
        b'+' => rest.last().is_none_or(u8::is_ascii_whitespace),
        // "at": in a mailbox or a path of hosts, a name precedes the `@`.
        b'@' => rest
            .last()
            .is_none_or(|&byte| matches!(byte, b' ' | b'\t' | b'\n' | b'(')),
        // A name with underscores. A single underscore opens italic type.
        b'_' => !rest.last().is_some_and(|&byte| is_word(byte)),
        b']' | b')' | b'}' => !ends_with_defanged_mark(before),
        // A reference without a scheme (`//www.a.example/x`). One slash belongs to a path, and so
        // do two slashes after other text.
        b'/' => rest.split_last().is_some_and(|(&slash, outside)| {
            slash == b'/'
                && outside.last().is_none_or(|&byte| {
                    byte.is_ascii_whitespace() || matches!(byte, b'(' | b'<' | b'[' | b'"' | b'\'')
                })
        }),
        0x80.. => ends_with_separator(before),
        _ => !(is_word(last) || matches!(last, b'%' | b'&' | b'?' | b'\\' | b'$')),
    }
}

/// Returns `true` if `text` ends with a word and a delimiter in brackets. The host then continues
/// (`a[.]www.b.example`).
fn ends_with_defanged_mark(text: &[u8]) -> bool {
    let longest = text.len().saturating_sub(spelling::MARK_BYTES);
    (longest..text.len()).any(|at| {
        spelling::defanged_mark(&text[at..]).is_some_and(|mark| at + mark.len == text.len())
            && text[..at].last().is_some_and(|&byte| is_word(byte))
    })
}

/// Returns `true` if a host without a scheme may follow the non-ASCII character at the end of
/// `text`. Such characters are white space, East Asian punctuation, full-width ASCII punctuation,
/// and letters of scripts without blanks between words or before such a host (kana, Han, Hangul).
fn ends_with_separator(text: &[u8]) -> bool {
    last_char(text).is_some_and(|last| {
        matches!(last,
            '\u{A0}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{3000}'..='\u{3002}'
                | '\u{3008}'..='\u{3011}' | '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}'
                | '\u{AC00}'..='\u{D7FF}' | '\u{FF01}'..='\u{FF0F}' | '\u{FF1A}'..='\u{FF20}')
    })
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

/// Prefilter for colons, without false negatives: the last two letters of the schemes that need no
/// `//`.
///
/// Nearly all colons in mail follow other words. Two lookups reject most colons before the name is
/// read backwards.
#[derive(Debug, Default)]
pub(super) struct SchemeSuffixes {
    /// For each last letter, as a [`letter_code`], a bit for each letter that can precede it.
    preceding: [u32; 32],
}

impl SchemeSuffixes {
    /// Returns the pairs of last letters of `names`.
    pub(super) fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> SchemeSuffixes {
        let mut suffixes = SchemeSuffixes::default();
        names
            .into_iter()
            .for_each(|name| suffixes.add(name.as_bytes()));
        suffixes
    }

    /// Returns `true` if one of the names may be at the end of `text`, in any case. Never returns
    /// `false` if one is there.
    fn may_end(&self, text: &[u8]) -> bool {
        match text {
            [.., before, last] => {
                self.preceding[letter_code(*last)] >> letter_code(*before) & 1 == 1
            }
            [last] => self.preceding[letter_code(*last)] == u32::MAX,
            [] => false,
        }
    }

    fn add(&mut self, name: &[u8]) {
        match name {
            [.., before, last] => self.preceding[letter_code(*last)] |= 1 << letter_code(*before),
            // Any byte may precede a name of one letter.
            [last] => self.preceding[letter_code(*last)] = u32::MAX,
            [] => {}
        }
    }
}

/// Five bits that distinguish letters, the same in either case. Other bytes share the codes of
/// letters.
fn letter_code(byte: u8) -> usize {
    usize::from(byte & 0x1F)
}

/// Schemes that no English word ends with. Letters before them belong to the text. `news`, `file`,
/// `data` and similar names end words and unknown schemes: `hnews`, `profile`, `metadata`.
const GLUED: [&[u8]; 8] = [
    b"https", b"http", b"ftp", b"gopher", b"telnet", b"nntp", b"wais", b"mailto",
];

/// Separate protocols whose names end with one of [`GLUED`]. `shttp` (RFC 2660), `tftp` (RFC 3617),
/// `sftp` and `xftp` are registered at IANA; `uhttp` was an Internet-Draft, `gsiftp` belongs to
/// Globus, and the others are programs with their own URLs.
const PROTOCOLS: [&str; 10] = [
    "shttp", "tftp", "sftp", "xftp", "uhttp", "gsiftp", "lftp", "ncftp", "aftp", "bbftp",
];

/// Returns the offset of the known scheme at the end of `name` if a letter precedes it. `after` is
/// the text after the colon.
///
/// Writers forget the blank before a URL (`Go tohttp://a.example`), and converters from HTML drop
/// the line break before it (`a.examplehttp://b.example`). The letters before the scheme then look
/// like part of its name.
fn glued_scheme(name: &[u8], after: &[u8]) -> Option<usize> {
    let word = name.len() - suffix_len(name, u8::is_ascii_alphabetic);
    if is_one_of(&name[word..], &PROTOCOLS) {
        return None;
    }
    let scheme = GLUED
        .iter()
        .find(|scheme| ends_with_caseless(name, scheme))?;
    let needs_slashes = *scheme != b"mailto";
    (!needs_slashes || after.starts_with(b"//")).then_some(name.len() - scheme.len())
}

/// Returns `true` if `name` is one word, `+` and the known scheme at `scheme`. Programs write this
/// for one protocol over another (`git+https`, `svn+http`). Form-encoded text has several `+` or
/// capital letters.
fn is_compound(name: &[u8], scheme: usize) -> bool {
    let Some((b'+', word)) = name[..scheme].split_last() else {
        return false;
    };
    word.len() >= 2
        && word[0].is_ascii_lowercase()
        && word
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::super::SchemelessPolicy;
    use super::*;

    /// The simple twin of [`UrlStarts::next_from`]: checks every colon, dot, bracket and slash,
    /// without prefilter and search.
    fn next_from_simple(scanner: &Scanner, text: &[u8], from: usize) -> Option<UrlStart> {
        (from..text.len()).find_map(|at| match text[at] {
            b':' if at > from && matches!(text[at - 1], b'[' | b'(') => {
                start_of_spelling(scanner, text, from, at - 1)
            }
            b':' if at > from && text[at - 1] == b' ' && scanner.rules == Rules::Wide => {
                start_with_blanks(text, from, at)
            }
            b':' if at > from && is_scheme_char(text[at - 1]) => {
                let is_spelled = !text[at + 1..].starts_with(b"//")
                    && matches!(text.get(at + 1), Some(b'/' | b'\\' | b':'));
                let spelled = if is_spelled {
                    start_of_spelling(scanner, text, from, at)
                } else {
                    None
                };
                spelled.or_else(|| start_of_name(scanner, text, from, at))
            }
            b'/' if scanner.rules == Rules::Wide
                && text[at..].starts_with(b"//")
                && text[..at]
                    .last()
                    .is_some_and(|last| matches!(last | 0x20, b'p' | b's')) =>
            {
                start_at_word_end(scanner, text, from, at)
            }
            b'/' if scanner.schemeless && may_end_with_host(&text[..at]) => {
                start_at_slash(text, from, at)
            }
            byte if scanner.rules == Rules::Wide && byte != b'/' && spelling::ends_prefix(byte) => {
                start_at_word_end(scanner, text, from, at)
            }
            _ => None,
        })
    }

    fn scanner() -> impl Strategy<Value = Scanner> {
        let rules = select(vec![Rules::Wide, Rules::Rfc1738]);
        let policy = select(vec![SchemelessPolicy::Find, SchemelessPolicy::Skip]);
        let extra = select(vec![vec![], vec!["q".to_owned(), "Foo9".to_owned()]]);
        (rules, policy, extra)
            .prop_map(|(rules, policy, extra)| Scanner::new(rules, policy, &extra))
    }

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let pieces = "http HTTPS news mailto urn url URL foo9 q ftp. www. WwW. ftp www w p5. \
            tohttp git+ http// http:/ hxxp [:] [.] \\ ; a.b :// : : // / < > x . @ - + 9 12 é";
        let mut pieces: Vec<&str> = pieces.split(' ').collect();
        pieces.extend([" ", "\n"]);
        vec(select(pieces), 0..40).prop_map(|pieces| pieces.concat().into_bytes())
    }

    proptest! {
        #[test]
        fn the_search_and_its_simple_twin_agree((scanner, text) in (scanner(), text())) {
            let mut starts = scanner.starts(&text);
            let mut from = 0;
            loop {
                let start = starts.next_from(from);
                prop_assert_eq!(start, next_from_simple(&scanner, &text, from));
                match start {
                    Some(start) => from = start.resume,
                    None => break,
                }
            }
        }
    }

    fn scheme(name: &str) -> Option<&str> {
        glued_scheme(name.as_bytes(), b"//a.example").map(|at| &name[at..])
    }

    #[test]
    fn letters_before_a_scheme_belong_to_the_text() {
        assert_eq!(scheme("tohttp"), Some("http"));
        assert_eq!(scheme("a.examplehttpS"), Some("httpS"));
        assert_eq!(scheme("3DHTTP"), Some("HTTP"));
        assert_eq!(scheme("viaftp"), Some("ftp"));
        assert_eq!(scheme("httphttp"), Some("http"));
    }

    #[test]
    fn other_protocols_and_words_stay_whole() {
        for name in [
            "shttp", "TFTP", "x.sftp", "profile", "hnews", "turn", "lamp",
        ] {
            assert_eq!(scheme(name), None, "{name}");
        }
    }

    #[test]
    fn an_address_of_the_archive_has_a_time() {
        let begins = |text: &str| archive_before(text.as_bytes());
        assert_eq!(begins("x web.archive.org/web/20010203/"), Some(2));
        assert_eq!(begins("Web.Archive.org/web/2001id_/"), Some(0));
        assert_eq!(begins("web.archive.org/web/20010203040506id_/"), Some(0));
        let cases = "web.archive.org/web/ web.archive.org/web/x/ archive.org/web/2001/ \
            web.archive.org/web/200102030405060/ web.archive.org/web/2001idx_/ \
            web.archive.org/web/2001";
        for text in cases.split(' ') {
            assert_eq!(begins(text), None, "{text}");
        }
    }

    #[test]
    fn only_mailto_needs_no_slashes() {
        assert_eq!(glued_scheme(b"tomailto", b"a@b.example"), Some(2));
        assert_eq!(glued_scheme(b"tohttp", b"a.example"), None);
    }

    #[test]
    fn a_word_and_a_plus_make_a_compound() {
        for (name, compound) in [
            ("git+https", true),
            ("p4+http", true),
            ("+https", false),
            ("See+https", false),
            ("a+b+https", false),
            ("x-https", false),
        ] {
            let scheme = name.len() - name.rsplit(['+', '-']).next().unwrap().len();
            assert_eq!(is_compound(name.as_bytes(), scheme), compound, "{name}");
        }
    }
}
