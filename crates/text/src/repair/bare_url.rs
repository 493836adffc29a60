//! A URL without a wrapper: a check of the start of its word, the run of characters that contains
//! it, and the lines over which a mailer broke it.
//!
//! A word without blanks can be long and contain many URL starts. The prefilter reads only up to
//! the bytes that decide. It has no false negatives within the first [`PREFILTER_BYTES`] bytes of a
//! word: it may accept a word that the parser rejects, but it never rejects a URL.
//!
//! Also restores addresses in which an archive wrote ` at ` for the `@`. Pipermail does this to
//! hide addresses from spammers: in its published pages and mailboxes it replaces every `@` between
//! two words.

use memchr::{memchr, memchr2, memchr3, memmem, memrchr};

use super::continuation::{Continuation, continuations};
use super::elsewhere::Elsewhere;
use super::notation::{bracketed_identifier, pieces_with_marks};
use super::quote_marks::{QuoteMarks, QuoteStyle};
use super::quoted_printable::{Residue, ResidueText, holds_residue, push_over_soft_breaks};
use super::rewritten_link::push_to_end;
use super::url_run::{BareWord, LineBreakPolicy, after_slashes, ends_with_page, url_run_end};
use super::{LogicalLine, Repair, is_blank, is_line_end, rest_of_line, whitespace_len};
use crate::byte_scan::prefix_len;
use crate::grammar::{BareRequirement, Scheme};
use crate::limits::{CONTINUATION_BYTES, PREFILTER_BYTES, SCHEME_CHARS};
use crate::scan::{
    HostAndPort, Rules, Scanner, cut, host_before_refused, is_cut_short, likely_host,
    plausible_host,
};
use crate::span::Span;

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
    // Trimming punctuation from the end makes the host shorter. A slash or fragment is not trimmed,
    // unless it follows a bracket that stays open.
    let is_whole = closed.is_some_and(|end| matches!(prefix.bytes[end], b'/' | b'#'))
        && memchr2(b'(', b'[', authority).is_none();
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

/// Unfolds `word` into `line`. The strict rules copy the run of characters. The wide rules also
/// append the runs at the start of the next lines that may continue it, each after a join with its
/// confidence. They decode residue of quoted-printable and restore a hidden `@`, after which no
/// other lines are joined. Last, they decode other notations.
pub fn unfold_bare_word(
    text: &[u8],
    word: &BareWord,
    elsewhere: Option<&dyn Elsewhere>,
    line: &mut LogicalLine,
) {
    unfold(text, word, Residue::Decode, elsewhere, line);
    if line.is_decoded() {
        unfold(
            text,
            word,
            Residue::Keep,
            elsewhere,
            line.written.insert(Box::default()),
        );
    }
}

/// Unfolds a word and decodes or keeps residue of quoted-printable.
fn unfold(
    text: &[u8],
    word: &BareWord,
    residue: Residue,
    elsewhere: Option<&dyn Elsewhere>,
    line: &mut LogicalLine,
) {
    line.clear();
    if word.rules == Rules::Wide
        && let Some(identifier) = bracketed_identifier(text, word.from)
    {
        line.push(text, word.from, identifier.start - 1);
        line.push(text, identifier.start, identifier.end);
        line.repairs.add(Repair::Brackets);
        return;
    }
    unfold_word(text, word, residue, elsewhere, line);
    if word.rules == Rules::Wide {
        line.undo_notations();
        line.remove_break_marks(text, word.from);
    }
}

/// Unfolds a word that is not a bracketed identifier, without decoding other notations.
fn unfold_word(
    text: &[u8],
    word: &BareWord,
    residue: Residue,
    elsewhere: Option<&dyn Elsewhere>,
    line: &mut LogicalLine,
) {
    let end = url_run_end(text, word.from, word.before, word.rules, word.max_bytes);
    let marked = Some(Span::new(word.from, end)).filter(|_| word.rules == Rules::Wide);
    if let Some(pieces) = marked.and_then(|head| pieces_with_marks(text, head)) {
        for (number, piece) in pieces.iter().enumerate() {
            let before = number
                .checked_sub(1)
                .map_or(piece.start, |at| pieces[at].end);
            if text[before..piece.start]
                .iter()
                .any(|&byte| is_line_end(byte))
            {
                line.repairs.add(Repair::BareContinuation);
            }
            line.push(text, piece.start, piece.end);
        }
        line.repairs.add(Repair::Escape);
        return;
    }
    let is_encoded = residue == Residue::Decode && holds_residue(text, word, end);
    let is_joined = is_encoded && push_over_soft_breaks(text, word, end, line);
    if !is_encoded {
        line.push(text, word.from, end);
    }
    if word.rules == Rules::Wide && append_hidden_host(text, end, line) {
        return;
    }
    let head = Span::new(word.from, end);
    let may_join = !is_joined && word.rules == Rules::Wide && word.breaks != LineBreakPolicy::Keep;
    let is_written = word.breaks == LineBreakPolicy::Join && !is_encoded;
    if may_join && !(is_written && push_to_end(text, head, line)) {
        let found = continuations(text, head, word.breaks, elsewhere);
        append_continuations(text, &found, residue, line);
    }
    if is_encoded {
        line.decode_escapes(ResidueText::Word);
    }
}

fn append_continuations(
    text: &[u8],
    found: &[Continuation],
    residue: Residue,
    line: &mut LogicalLine,
) {
    for next in found {
        let hyphen = next.lost_hyphen || line.text().last() == Some(&b'-');
        let is_soft = 0 < next.dropped && line.text().last() == Some(&b'=');
        if !is_soft || residue == Residue::Decode {
            line.drop_last(next.dropped);
        }
        let repairs = [
            Some(Repair::BareContinuation),
            hyphen.then_some(Repair::Hyphen),
            next.quoted.then_some(Repair::QuotePrefix),
            (is_soft && residue == Residue::Decode).then_some(Repair::QuotedPrintable),
        ];
        line.join(
            repairs.into_iter().flatten().collect(),
            next.features.confidence(),
            next.features,
        );
        if next.lost_hyphen {
            line.push_decoded(b'-', next.token.start - 1);
        }
        line.push(text, next.token.start, next.token.end);
    }
}

/// Confidence in an address whose `@` was written as ` at `.
pub const AT_SIGN_CONFIDENCE: f32 = 0.95;

/// The text that an archive writes for the `@`.
const HIDDEN: &[u8] = b" at ";

/// Returns the range of the host name at `start`, if there is one.
fn host_at(text: &[u8], start: usize) -> Option<Span> {
    let rest = text.get(start..)?;
    let len = prefix_len(rest, |byte| {
        byte.is_ascii_alphanumeric() || matches!(*byte, b'-' | b'.')
    });
    let begins = rest.first().is_some_and(u8::is_ascii_alphanumeric);
    begins.then_some(Span::new(start, start + len))
}

/// Returns `true` if `url` is the start of an address without an `@`: an address scheme and a local
/// part.
pub(super) fn is_local_part(url: &[u8]) -> bool {
    let colon = memchr(b':', url);
    colon.is_some_and(|colon| {
        let local = &url[colon + 1..];
        Scheme::named(&url[..colon]).is_some_and(|row| {
            matches!(
                row.bare,
                BareRequirement::Mailbox(_) | BareRequirement::News
            )
        }) && !local.is_empty()
            && memchr3(b'@', b'?', b'/', local).is_none()
            && local
                .last()
                .is_some_and(|&last| last.is_ascii_alphanumeric() || last == b'_')
    })
}

/// Appends the `@` and the host after the local part in `line`, which ends at `end` in the text, if
/// ` at ` and a host with a dot follow there. The line may be broken at the blanks, or after a
/// hyphen or dot of the host. After an address in a path, the rest of the path is appended too.
pub(super) fn append_hidden_host(text: &[u8], end: usize, line: &mut LogicalLine) -> bool {
    let Some(host) = hidden_host(text, end) else {
        return false;
    };
    let is_address = is_local_part(line.text());
    if !is_address && !ends_with_name(line.text()) {
        return false;
    }
    let rest = host_rest(text, host);
    let has_dot = [Some(host), rest]
        .into_iter()
        .flatten()
        .any(|part| part.of(text).contains(&b'.'));
    let after = rest.unwrap_or(host).end;
    if !has_dot || !is_address && text.get(after) != Some(&b'/') {
        return false;
    }
    line.push_decoded(b'@', host.start - 2);
    line.push(text, host.start, host.end);
    line.repairs.add(Repair::AtSign);
    if let Some(rest) = rest {
        line.repairs.add(Repair::LineBreak);
        line.push(text, rest.start, rest.end);
    }
    if !is_address {
        let end = url_run_end(text, after, None, Rules::Wide, CONTINUATION_BYTES);
        line.push(text, after, end);
    }
    true
}

/// Returns the range of the host, or of the start of the host, after ` at ` at `end`.
pub(super) fn hidden_host(text: &[u8], end: usize) -> Option<Span> {
    let word = after_blanks(text, end).filter(|&word| text[word..].starts_with(b"at"))?;
    host_at(text, after_blanks(text, word + 2)?)
}

/// Returns the rest of a host on the next line, if the host is broken after a hyphen or dot.
fn host_rest(text: &[u8], host: Span) -> Option<Span> {
    let is_open = matches!(host.of(text).last(), Some(b'-' | b'.'));
    let is_broken = is_open && text.get(host.end).is_some_and(|&byte| is_line_end(byte));
    host_at(text, after_blanks(text, host.end).filter(|_| is_broken)?)
}

/// Returns the offset after the white space at `at`, including at most one line end and the quote
/// marks after it; `None` if there is no white space.
fn after_blanks(text: &[u8], at: usize) -> Option<usize> {
    let blanks = |at: usize| at + prefix_len(&text[at..], |&byte| is_blank(byte));
    let mut end = blanks(at);
    if text.get(end).is_some_and(|&byte| is_line_end(byte)) {
        let next = rest_of_line(text, end).next;
        // No quote mark crosses a line end.
        end = blanks(next + QuoteMarks::of(&text[next..], QuoteStyle::Wide).len);
    }
    (at < end).then_some(end)
}

/// Returns `true` if `url` has a host and ends with a name. The name can be the local part of an
/// address in the path, or the user name before the actual host.
fn ends_with_name(url: &[u8]) -> bool {
    after_slashes(url).is_some_and(|from| {
        let name = url[from..].rsplit(|&byte| byte == b'/').next();
        memchr::memchr2(b'?', b'#', url).is_none()
            && name.is_some_and(|name| {
                name.last().is_some_and(u8::is_ascii_alphanumeric)
                    && !ends_with_page(name)
                    && name.iter().all(|byte| {
                        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'+')
                    })
            })
    })
}

/// Returns `url`, an attribute's value, with an `@` for ` at ` if an archive hid the address.
#[must_use]
pub fn restore_at_sign(url: &[u8]) -> Option<Vec<u8>> {
    let at = memmem::find(url, HIDDEN).filter(|&at| is_local_part(&url[..at]))?;
    let host = host_at(url, at + HIDDEN.len())?;
    Some([&url[..at], b"@", &url[host.start..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The logical line of the word at the start of a text.
    fn unfolded(text: &str) -> String {
        let word = BareWord {
            from: 0,
            before: None,
            rules: Rules::Wide,
            breaks: LineBreakPolicy::Join,
            max_bytes: usize::MAX,
        };
        let mut line = LogicalLine::default();
        unfold_bare_word(text.as_bytes(), &word, None, &mut line);
        String::from_utf8(line.text().to_vec()).unwrap()
    }

    #[test]
    fn the_at_sign_and_the_hyphen_of_an_address_are_restored() {
        for (text, meant) in [
            ("mailto:joe at a.example]", "mailto:joe@a.example"),
            ("mailto:joe at\n> a.example]", "mailto:joe@a.example"),
            (
                "mailto:list-bounces at a-\n> b.example]",
                "mailto:list-bounces@a-b.example",
            ),
            (
                "http://a.example/list at b.example/1.html x",
                "http://a.example/list@b.example/1.html",
            ),
            (
                "http://a.example/list at b.example x",
                "http://a.example/list",
            ),
            (
                "http://a.example/b.html at c.example/d",
                "http://a.example/b.html",
            ),
            ("http://a.example/ at b.example/", "http://a.example/"),
            ("mailto:joe at home", "mailto:joe"),
            (
                "http://a.example/20260102030405.678-2\njoe@b.example/\n",
                "http://a.example/20260102030405.678-2-joe@b.example/",
            ),
        ] {
            assert_eq!(unfolded(text), meant);
        }
    }

    #[test]
    fn an_address_in_an_attribute_gets_its_at_sign() {
        assert_eq!(
            restore_at_sign(b"mailto:joe at foo.example?subject=x").as_deref(),
            Some(&b"mailto:joe@foo.example?subject=x"[..])
        );
        for url in [
            "mailto:a@b.example at c.example",
            "http://a at b.example",
            "mailto:joe at ",
            "mailto: at b.example",
        ] {
            assert_eq!(restore_at_sign(url.as_bytes()), None, "{url}");
        }
    }
}
