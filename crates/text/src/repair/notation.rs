//! Other notations of a URL: mistyped and defanged URLs, escapes of the surrounding language (roff,
//! Markdown, JSON), markup inside a URL (HTML character references, TeX commands, zero-width
//! characters), and angle brackets around a Message-ID.
//!
//! The notation is decoded in the logical line, and `parse` reads the intended URL. The strict
//! rules decode no notation.

use memchr::memchr;

use super::url_run::{BareWord, after_slashes};
use super::{LogicalLine, Repair, RepairSet};
use crate::byte_scan::prefix_len;
use crate::grammar::{BareRequirement, Scheme, is_scheme_char};
use crate::limits::{COPY_SEARCH_BYTES, PREFILTER_BYTES, SCHEME_CHARS, SEARCHED_COPIES};
use crate::scan::{Rules, Spelling, defanged_mark, spelled_head};
use crate::span::Span;

/// Confidence in a URL whose scheme or slashes were corrected.
pub const CORRECTED_CONFIDENCE: f32 = 0.95;

/// Confidence in a URL that was defanged.
pub const DEFANGED_CONFIDENCE: f32 = 0.95;

/// Confidence in a URL in which escapes of another language were decoded.
pub const UNESCAPED_CONFIDENCE: f32 = 0.95;

/// Maximum length in bytes of a Message-ID in angle brackets: one line (RFC 5536, section 3.1.3,
/// allows 250).
const IDENTIFIER_BYTES: usize = 250;

/// Returns `true` if the scheme or authority of the word is in another notation. A check of the raw
/// bytes then cannot decide whether the word is a URL.
///
/// Reads up to the end of the authority, and at most [`PREFILTER_BYTES`].
#[must_use]
pub fn has_other_notation(text: &[u8], word: &BareWord) -> bool {
    if word.rules == Rules::Rfc1738 {
        return false;
    }
    let begin = &text[word.from..text.len().min(word.from + PREFILTER_BYTES)];
    let is_other = |byte: u8| matches!(byte, b'\\' | b'[' | b'(' | b'{' | b'%' | b'*');
    let authority = authority_start(begin);
    let mut end = begin
        .iter()
        .skip(authority)
        .position(|&byte| byte <= b' ' || matches!(byte, b'/' | b'?' | b'#' | b'<' | b'>' | b'"'))
        .map_or(begin.len(), |len| authority + len);
    // The delimiters of `[://]` and `[/]`.
    end = begin.len().min(end + 1);
    begin[..end].iter().any(|&byte| is_other(byte))
        || spelled_head(begin).is_some()
        || bracketed_identifier(text, word.from).is_some()
}

/// Returns the offset after the scheme's colon and its two slashes, or 0.
fn authority_start(text: &[u8]) -> usize {
    let name = scheme_len(text);
    if text[name..].starts_with(b"://") {
        name + 3
    } else {
        0
    }
}

/// Returns the length of the prefix of `text` that can belong to a scheme.
fn scheme_len(text: &[u8]) -> usize {
    prefix_len(&text[..text.len().min(SCHEME_CHARS)], |&byte| {
        is_scheme_char(byte)
    })
}

/// Returns the intended URL and the repair if the scheme of `url`, an attribute's value, is
/// mistyped or `url` is defanged. The page's own escapes stay.
#[must_use]
pub fn restore_spelling(url: &[u8]) -> Option<(Vec<u8>, Repair)> {
    let begin = &url[..url.len().min(PREFILTER_BYTES)];
    if spelled_head(begin).is_none() && !begin.contains(&b'[') {
        return None;
    }
    let (respellings, repairs) = respellings(url);
    let repair = repairs
        .iter()
        .find(|repair| matches!(repair, Repair::SchemeCorrected | Repair::Defang))?;
    let mut meant = Vec::with_capacity(url.len());
    let mut at = 0;
    for respelling in respellings {
        meant.extend_from_slice(&url[at..respelling.span.start]);
        meant.extend_from_slice(respelling.meant);
        at = respelling.span.end;
    }
    meant.extend_from_slice(&url[at..]);
    Some((meant, repair))
}

/// Returns the range of the Message-ID in angle brackets after the scheme for articles or messages
/// at `from`: `news:<id@host>`, `mid:<id@host>`.
pub(super) fn bracketed_identifier(text: &[u8], from: usize) -> Option<Span> {
    let rest = &text[from..];
    let name = scheme_len(rest);
    let names_message = |name: &[u8]| {
        name.eq_ignore_ascii_case(b"mid")
            || Scheme::named(name).is_some_and(|row| row.bare == BareRequirement::News)
    };
    if !rest[name..].starts_with(b":<") || !names_message(&rest[..name]) {
        return None;
    }
    let content = &rest[name + 2..rest.len().min(name + 2 + IDENTIFIER_BYTES)];
    let len = memchr(b'>', content)?;
    let identifier = &content[..len];
    let is_identifier = memchr(b'@', identifier).is_some_and(|at| 0 < at && at + 1 < len)
        && identifier
            .iter()
            .all(|&byte| byte.is_ascii_graphic() && byte != b'<');
    let start = from + name + 2;
    is_identifier.then(|| Span::new(start, start + len))
}

/// Marks that Google Groups and Thunderbird write at the soft breaks (`<wbr>`) of a link.
const BREAK_MARKS: [[u8; 2]; 2] = [*b"**", *b"__"];

/// Returns the break mark in `url`.
fn break_mark(url: &[u8]) -> Option<[u8; 2]> {
    let at = memchr::memchr2_iter(b'*', b'_', url).find(|&at| url.get(at + 1) == Some(&url[at]))?;
    BREAK_MARKS.into_iter().find(|mark| mark[0] == url[at])
}

/// Returns the pieces of the URL that starts with the run `head` and has marks at the soft breaks.
/// Its clean copy must follow in angle brackets.
pub(super) fn pieces_with_marks(text: &[u8], head: Span) -> Option<Vec<Span>> {
    let mark = break_mark(head.of(text))?;
    let window = &text[head.end..text.len().min(head.end + COPY_SEARCH_BYTES)];
    let open = head.end + memchr(b'<', window)?;
    pieces_before_copy(text, open, mark).filter(|pieces| pieces[0].start == head.start)
}

/// Returns the pieces of the URL before the `<` at `open` if it has this mark and equals the URL in
/// the brackets. The comparison ignores marks, white space, quote marks and the scheme. It skips
/// single characters, because each reply may have inserted a mark into an earlier one.
fn pieces_before_copy(text: &[u8], open: usize, mark: [u8; 2]) -> Option<Vec<Span>> {
    let content = &text[open + 1..text.len().min(open + 1 + COPY_SEARCH_BYTES)];
    let clean = content_on_one_line(content)?;
    let host = after_slashes(&clean)?;
    let lowest = open.saturating_sub(COPY_SEARCH_BYTES);
    let mut pieces: Vec<Span> = Vec::new();
    let (mut at, mut left) = (open, clean.len());
    while 0 < left {
        let last = text[lowest..at].last();
        if last == Some(&clean[left - 1]) {
            (at, left) = (at - 1, left - 1);
            match pieces.last_mut() {
                Some(piece) if piece.start == at + 1 => piece.start = at,
                _ => pieces.push(Span::new(at, at + 1)),
            }
        } else if left == host {
            break;
        } else if last.is_some_and(|&byte| is_layout(byte) || matches!(byte, b'*' | b'_')) {
            at -= 1;
        } else {
            return None;
        }
    }
    pieces.reverse();
    let gaps = pieces
        .windows(2)
        .map(|pair| &text[pair[0].end..pair[1].start]);
    let is_marked = gaps
        .clone()
        .any(|gap| gap.windows(2).any(|pair| pair == mark));
    is_marked.then_some(pieces)
}

/// Returns `true` for white space and the most common quote marks.
fn is_layout(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'>' | b'|')
}

/// Returns `text` up to the `>` that closes the brackets, without white space and without the quote
/// marks at the start of each line.
fn content_on_one_line(text: &[u8]) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    let mut starts_line = false;
    for &byte in text {
        match byte {
            b'\n' | b'\r' => starts_line = true,
            _ if byte.is_ascii_whitespace() || starts_line && is_layout(byte) => {}
            b'>' => return Some(content),
            _ => {
                starts_line = false;
                content.push(byte);
            }
        }
    }
    None
}

/// Returns `true` if a link with this mark and its clean copy are near the URL at `at`.
fn are_marks_shown(text: &[u8], at: usize, mark: [u8; 2]) -> bool {
    let from = at.saturating_sub(COPY_SEARCH_BYTES);
    let window = &text[from..text.len().min(at + COPY_SEARCH_BYTES)];
    memchr::memmem::find_iter(window, b"<http")
        .take(SEARCHED_COPIES)
        .any(|open| pieces_before_copy(text, from + open, mark).is_some())
}

/// A piece of a logical line and its meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Respelling {
    span: Span,
    meant: &'static [u8],
}

/// All byte values: the meanings of escapes.
const BYTES: &[u8; 256] = &{
    let mut bytes = [0; 256];
    let mut at = 0;
    while at < bytes.len() {
        bytes[at] = at as u8;
        at += 1;
    }
    bytes
};

impl Respelling {
    /// An escape for `byte`, or one without meaning.
    pub(super) fn of_byte(span: Span, byte: Option<u8>) -> Respelling {
        let meant = byte.map_or(&[][..], |byte| &BYTES[usize::from(byte)..][..1]);
        Respelling { span, meant }
    }
}

/// The bytes that can start a notation, including those of other languages. Most URLs contain none.
const STARTS_NOTATION: [bool; 256] = byte_table!(|byte| matches!(
    byte,
    b'\\' | b'[' | b'(' | b'{' | b'&' | b'$' | b'^' | 0x80..
));

impl LogicalLine {
    /// Decodes the notations in the line, which starts with the URL or its host.
    pub(super) fn undo_notations(&mut self) {
        let is_plain = |&byte: &u8| !STARTS_NOTATION[usize::from(byte)];
        if self.text.iter().all(is_plain) && spelled_head(&self.text).is_none() {
            return;
        }
        let (respellings, repairs) = respellings(&self.text);
        if !respellings.is_empty() {
            let raw = self.respell(&respellings);
            if repairs.has(Repair::Reference) || repairs.has(Repair::Invisible) {
                self.written.get_or_insert_with(|| Box::new(raw));
            }
        }
        self.repairs.add_all(repairs);
    }

    /// Removes the asterisks at soft breaks from the line, which was copied from `at` in the text,
    /// if another link nearby shows that they are marks. Underscores stay, because names contain
    /// them too (`__init__`).
    pub(super) fn remove_break_marks(&mut self, text: &[u8], at: usize) {
        let mark = b"**";
        if memchr(b'*', &self.text).is_none() {
            return;
        }
        let marks: Vec<Respelling> = memchr::memmem::find_iter(&self.text, mark)
            .map(|at| Respelling::of_byte(Span::new(at, at + mark.len()), None))
            .collect();
        if !marks.is_empty() && are_marks_shown(text, at, *mark) {
            let raw = self.respell(&marks);
            self.written.get_or_insert_with(|| Box::new(raw));
            self.repairs.add(Repair::Escape);
        }
    }

    /// Replaces each piece by its meaning. The pieces are in ascending order. Returns the old line;
    /// its written line stays with the new one.
    pub(super) fn respell(&mut self, respellings: &[Respelling]) -> LogicalLine {
        let mut raw = std::mem::take(self);
        self.repairs = raw.repairs;
        self.written = raw.written.take();
        let mut joins = raw.joins.iter().peekable();
        let mut at = 0;
        for Respelling { span, meant } in respellings {
            while let Some(join) = joins.next_if(|join| join.at <= span.start) {
                // A join inside the preceding piece moves behind that piece's meaning.
                self.append_part(&raw, Span::new(at.min(join.at), join.at));
                at = at.max(join.at);
                self.push_join(join);
            }
            self.append_part(&raw, Span::new(at, span.start));
            // The first byte keeps its offset, and the text still starts there.
            let (first, last) = (raw.text_offset(span.start), raw.text_offset(span.end - 1));
            for (number, &byte) in meant.iter().enumerate() {
                let is_first = number == 0 && (span.start == 0 || 1 < meant.len());
                self.push_decoded(byte, if is_first { first } else { last });
            }
            at = span.end;
        }
        for join in joins {
            let from = at.min(join.at);
            self.append_part(&raw, Span::new(from, join.at));
            at = at.max(join.at);
            self.push_join(join);
        }
        self.append_part(&raw, Span::new(at, raw.text.len()));
        raw
    }

    fn push_join(&mut self, join: &super::Join) {
        let at = self.text.len();
        self.joins.push(super::Join { at, ..*join });
    }
}

/// Returns the pieces of `text` that are in another notation, and the repairs that decode them.
fn respellings(text: &[u8]) -> (Vec<Respelling>, RepairSet) {
    let mut repairs = RepairSet::default();
    let mut found = Vec::new();
    let head = spelled_head(text);
    let mut at = 0;
    let mut is_defanged = false;
    if let Some(head) = head {
        is_defanged = head.spelling == Spelling::Defanged;
        repairs.add(if is_defanged {
            Repair::Defang
        } else {
            Repair::SchemeCorrected
        });
        found.push(Respelling {
            span: Span::new(0, head.len),
            meant: meant_by(head.scheme),
        });
        at = head.len;
    }
    let escapes = match head {
        Some(head) if head.has_backslashes => Backslash::Slash,
        _ if text[..scheme_len(text)].eq_ignore_ascii_case(b"file") => Backslash::Plain,
        _ => Backslash::Escape,
    };
    let mut authority = Authority::before(text, at);
    let is_referenced = is_referenced(text);
    while let Some(&byte) = text.get(at) {
        let notation = foreign(text, at, is_referenced).or_else(|| match byte {
            b'\\' => backslash(text, at, escapes, authority),
            b'[' | b'(' | b'{' if is_defanged || authority != Authority::Passed => {
                defanged_mark(&text[at..]).map(|mark| {
                    let meant = &BYTES[usize::from(mark.byte)..][..1];
                    Notation::new(mark.len, meant, Repair::Defang)
                })
            }
            // A URL inside the URL.
            b'h' | b'f' if is_defanged && authority == Authority::Passed => {
                let inner = spelled_head(&text[at..]).filter(|head| {
                    head.spelling == Spelling::Defanged && !text[at - 1].is_ascii_alphanumeric()
                });
                inner.map(|head| Notation::new(head.len, meant_by(head.scheme), Repair::Defang))
            }
            _ => None,
        });
        let Some(Notation { len, meant, repair }) = notation else {
            authority = authority.after(text, at, byte);
            at += 1;
            continue;
        };
        is_defanged |= repair == Repair::Defang;
        repairs.add(repair);
        if let Some(&byte) = meant.last() {
            authority = authority.after(text, at, byte);
        }
        found.push(Respelling {
            span: Span::new(at, at + len),
            meant,
        });
        at += len;
    }
    (found, repairs)
}

/// Returns a scheme as written before a host.
fn meant_by(scheme: &str) -> &'static [u8] {
    match scheme {
        "https" => b"https://",
        "ftp" => b"ftp://",
        _ => b"http://",
    }
}

/// The part of the URL that a byte is in: hosts have dots in brackets, and names have no escapes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Authority {
    /// Before or among the slashes after the scheme.
    Before,
    /// In the host, or in the address after a scheme without slashes.
    Inside,
    /// In the path, query or fragment.
    Passed,
}

impl Authority {
    /// The part at `at`, the start of the text or the end of a spelled head.
    fn before(text: &[u8], at: usize) -> Authority {
        let name = scheme_len(text);
        let has_slashes = matches!(text[name..], [b':', b'/' | b'\\' | b'[', ..]);
        if at == 0 && has_slashes {
            Authority::Before
        } else {
            Authority::Inside
        }
    }

    /// The part after `byte`, which is at `at`.
    fn after(self, text: &[u8], at: usize, byte: u8) -> Authority {
        match (self, byte) {
            (Authority::Before, b'/' | b':' | b'\\') => self,
            (Authority::Before, _) if at < scheme_len(text) => self,
            (Authority::Before, _) => Authority::Inside,
            (Authority::Inside, b'/' | b'?' | b'#') => Authority::Passed,
            _ => self,
        }
    }
}

/// Meaning of a backslash in a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Backslash {
    /// A slash, as after the scheme.
    Slash,
    /// The start of an escape of another language.
    Escape,
    /// A literal backslash in a file name.
    Plain,
}

/// A notation at an offset of a line.
pub(super) struct Notation {
    pub(super) len: usize,
    pub(super) meant: &'static [u8],
    pub(super) repair: Repair,
}

impl Notation {
    pub(super) fn new(len: usize, meant: &'static [u8], repair: Repair) -> Notation {
        Notation { len, meant, repair }
    }
}

/// Returns the notation that the backslash at `at` starts.
fn backslash(text: &[u8], at: usize, meaning: Backslash, authority: Authority) -> Option<Notation> {
    match meaning {
        Backslash::Plain => None,
        Backslash::Slash => Some(Notation::new(1, b"/", Repair::SchemeCorrected)),
        Backslash::Escape => roff_escape(&text[at + 1..])
            .or_else(|| other_escape(&text[at + 1..], &text[..at], authority)),
    }
}

/// Escapes of roff that manual pages use in URLs (groff(7), `groff_char(7)`), without the
/// backslash: possible line breaks, and characters that would be printed as others.
const ROFF: [(&[u8], &[u8]); 14] = [
    (b":", b""),
    (b"%", b""),
    (b"&.", b"."),
    (b"-", b"-"),
    (b".", b"."),
    (b"(ti", b"~"),
    (b"[ti]", b"~"),
    (b"(ha", b"^"),
    (b"[ha]", b"^"),
    (b"(hy", b"-"),
    (b"[hy]", b"-"),
    (b"(ul", b"_"),
    (b"[ul]", b"_"),
    (b"[at]", b"@"),
];

/// Returns the escape of roff whose backslash precedes `rest`.
fn roff_escape(rest: &[u8]) -> Option<Notation> {
    ROFF.iter()
        .find(|(escape, _)| rest.starts_with(escape))
        .map(|&(escape, meant)| Notation::new(1 + escape.len(), meant, Repair::Roff))
}

/// Returns the escape of Markdown, a shell or JSON whose backslash is between `before` and `rest`.
/// Markdown escapes punctuation in paths (`CommonMark`, section 2.4), and shells escape it in
/// queries.
fn other_escape(rest: &[u8], before: &[u8], authority: Authority) -> Option<Notation> {
    let is_passed = authority == Authority::Passed;
    let has_query = || memchr(b'?', before).is_some();
    let (len, meant): (usize, &'static [u8]) = match *rest {
        [b'/', ..] => (2, b"/"),
        [byte @ (b'_' | b'~' | b'*' | b'#' | b'+' | b'?'), ..] if is_passed => {
            (2, &BYTES[usize::from(byte)..][..1])
        }
        [b'=', ..] if has_query() => (2, b"="),
        [b'&', next, ..] if has_query() && next.is_ascii_alphanumeric() => (2, b"&"),
        [b'u', b'0', b'0', b'2', b'6', ..] if is_passed => (6, b"&"),
        [b'u', b'0', b'0', b'3', b'd' | b'D', ..] if is_passed => (6, b"="),
        _ => return None,
    };
    Some(Notation::new(len, meant, Repair::Escape))
}

/// HTML character references for an ampersand.
const AMPERSANDS: [&[u8]; 5] = [b"&amp;", b"&AMP;", b"&#38;", b"&#038;", b"&#x26;"];

/// TeX commands and the characters that they print.
const TEX: [(&[u8], &[u8]); 9] = [
    (b"{\\textasciitilde}", b"~"),
    (b"\\textasciitilde{}", b"~"),
    (b"\\textasciitilde ", b"~"),
    (b"{\\~{}}", b"~"),
    (b"\\~{}", b"~"),
    (b"$\\sim$", b"~"),
    (b"{\\_}", b"_"),
    (b"{\\#}", b"#"),
    (b"{\\%}", b"%"),
];

/// Zero-width characters in UTF-8: soft hyphen, zero-width space, word joiner, byte order mark.
const INVISIBLE: [&str; 4] = ["\u{AD}", "\u{200B}", "\u{2060}", "\u{FEFF}"];

/// Joiners of letters, which are significant in Arabic and Indic scripts.
const JOINERS: [&str; 2] = ["\u{200C}", "\u{200D}"];

/// Start of the target in a link of URL Defense (Proofpoint), version 3. The gateway copies the
/// target as it stands, with its references: 12 links of one list.
const COPIED_TARGET: &[u8] = b"https://urldefense.com/v3/__";

/// Returns `true` if each ampersand of the URL `text` starts a character reference and one
/// ampersand is in the query. Such a URL was copied from a page.
fn is_referenced(text: &[u8]) -> bool {
    let Some(query) = memchr::memchr(b'?', text) else {
        return false;
    };
    let mut ampersands = memchr::memchr_iter(b'&', text);
    memchr::memrchr(b'&', text).is_some_and(|last| query < last)
        && ampersands.all(|at| ampersand_len(&text[at..]).is_some())
        && !text.starts_with(COPIED_TARGET)
}

/// Length of the reference to an ampersand at the start of `text`.
fn ampersand_len(text: &[u8]) -> Option<usize> {
    let name = AMPERSANDS.iter().find(|name| text.starts_with(name))?;
    Some(name.len())
}

/// Returns the foreign markup at `at` in a URL. `is_referenced` is the result of [`is_referenced`].
fn foreign(text: &[u8], at: usize, is_referenced: bool) -> Option<Notation> {
    let rest = &text[at..];
    match rest[0] {
        b'&' if is_referenced => Some(Notation::new(ampersand_len(rest)?, b"&", Repair::Reference)),
        b'\\' | b'{' | b'$' => tex_command(rest),
        b'^' => colour(rest),
        0x80.. => invisible(text, at),
        _ => None,
    }
}

/// A terminal colour whose escape character was made visible: `^[[24m`.
fn colour(rest: &[u8]) -> Option<Notation> {
    /// Maximum length of the numbers in it.
    const NUMBERS: usize = 20;
    let numbers = rest.strip_prefix(b"^[[")?;
    let len = prefix_len(&numbers[..numbers.len().min(NUMBERS)], |byte| {
        byte.is_ascii_digit() || b";:".contains(byte)
    });
    matches!(numbers.get(len)?, b'm' | b'K').then_some(Notation::new(len + 4, b"", Repair::Escape))
}

fn tex_command(rest: &[u8]) -> Option<Notation> {
    if let [b'\\', b'%', b'2'..=b'7', low, ..] = rest
        && low.is_ascii_hexdigit()
    {
        return Some(Notation::new(2, b"%", Repair::Escape));
    }
    let (command, meant) = TEX.iter().find(|row| rest.starts_with(row.0))?;
    Some(Notation::new(command.len(), meant, Repair::Escape))
}

fn invisible(text: &[u8], at: usize) -> Option<Notation> {
    let rest = &text[at..];
    let first_of = |names: &[&str]| {
        let mut names = names.iter().map(|name| name.as_bytes());
        names.find(|name| rest.starts_with(name)).map(<[u8]>::len)
    };
    let is_between_letters = |len: &usize| {
        at.checked_sub(1)
            .is_some_and(|before| text[before].is_ascii_alphanumeric())
            && rest.get(*len).is_some_and(u8::is_ascii_alphanumeric)
    };
    let len = first_of(&INVISIBLE).or_else(|| first_of(&JOINERS).filter(is_between_letters))?;
    Some(Notation::new(len, b"", Repair::Invisible))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the decoded text of `written` and the names of the repairs.
    #[track_caller]
    fn check(written: &str, meant: &str, names: &[&str]) {
        let mut line = LogicalLine::default();
        line.push(written.as_bytes(), 0, written.len());
        line.undo_notations();
        let got: Vec<_> = line.repairs().iter().map(Repair::name).collect();
        assert_eq!(String::from_utf8_lossy(line.text()), meant, "{written}");
        assert_eq!(got, names, "{written}");
        if !line.text().is_empty() && !written.ends_with("\\:") {
            let range = line.text_range(Span::new(0, line.text().len()));
            assert_eq!(range, Span::new(0, written.len()), "{written}");
        }
    }

    #[test]
    fn schemes_and_slashes_are_corrected() {
        let corrected = &["scheme-corrected"];
        check("http//a.example/b", "http://a.example/b", corrected);
        check(
            "http:\\\\a.example\\b\\_c",
            "http://a.example/b/_c",
            corrected,
        );
        check("TTPS://a.example/b", "https://a.example/b", corrected);
        check("http:///a.example/b", "http://a.example/b", corrected);
    }

    #[test]
    fn defanged_urls_are_restored() {
        let defang = &["defang"];
        check("hxxp://a[.]example/b", "http://a.example/b", defang);
        check(
            "hxxps[:]//a(.)b[dot]example/c[.]d",
            "https://a.b.example/c.d",
            defang,
        );
        check("http://a{.}example[:]80/", "http://a.example:80/", defang);
        check("www[.]a[.]example/x", "www.a.example/x", defang);
        check("mailto:joe[at]a[.]example", "mailto:joe@a.example", defang);
        check("hxxp://a.example", "http://a.example", defang);
        check(
            "hxxps://a[.]example/?q=hxxp://b[.]example/c&d=xhxxp://e",
            "https://a.example/?q=http://b.example/c&d=xhxxp://e",
            defang,
        );
    }

    #[test]
    fn escapes_of_other_languages_are_undone() {
        let roff = &["roff"];
        check(
            "https://\\:www.a.example\\:/b\\:/c",
            "https://www.a.example/b/c",
            roff,
        );
        check(
            "http://a.example/\\(tijoe/\\[ti]x\\-y",
            "http://a.example/~joe/~x-y",
            roff,
        );
        check("http://www\\&.a\\&.example/", "http://www.a.example/", roff);
        let escape = &["escape"];
        check(
            "http://a.example/b\\_c\\~d",
            "http://a.example/b_c~d",
            escape,
        );
        check("http:\\/\\/a.example\\/b", "http://a.example/b", escape);
        check(
            "http://a.example/?b=c\\&d\\=e",
            "http://a.example/?b=c&d=e",
            escape,
        );
        check(
            "http://a.example/?b\\u003dc\\u0026d",
            "http://a.example/?b=c&d",
            escape,
        );
    }

    #[test]
    fn brackets_and_backslashes_of_paths_stay() {
        for text in [
            "http://a.example/b[.]c",
            "http://a.example/b(dot)",
            "http://[::1]/b",
            "http://a.example/dir\\name",
            "http://a.example\\_vti",
            "http://a.example/b\\n",
            "http://a.example/b\\&c",
            "file://c:\\_x\\-y",
            "http://a.example/x[1]",
            "www.[name].example",
            "http://a.example/b\\",
        ] {
            check(text, text, &[]);
        }
    }

    #[test]
    fn joins_keep_their_offsets() {
        let mut line = LogicalLine::default();
        line.push(b"http://a\\:.example/\\:", 0, 21);
        line.join(RepairSet::default(), 0.5, super::super::Features::default());
        line.push(b"....b\\_c", 4, 8);
        line.undo_notations();
        assert_eq!(line.text(), b"http://a.example/b_c");
        assert_eq!(line.joins()[0].at, b"http://a.example/".len());
    }

    #[test]
    fn a_join_inside_an_escape_moves_behind_it() {
        let mut line = LogicalLine::default();
        line.push(b"http://a.example/\\(t", 0, 20);
        line.join(RepairSet::default(), 0.5, super::super::Features::default());
        line.push(b"....ijoe/\\[ti]x", 4, 15);
        line.undo_notations();
        assert_eq!(line.text(), b"http://a.example/~joe/~x");
        assert_eq!(line.joins()[0].at, b"http://a.example/~".len());
    }

    #[test]
    fn the_clean_copy_of_a_link_shows_its_pieces() {
        let text = |text: &str, len: usize| {
            let at = text.find('h').unwrap();
            pieces_with_marks(text.as_bytes(), Span::new(at, at + len)).map(|pieces| {
                let pieces = pieces.iter().map(|piece| &text[piece.start..piece.end]);
                pieces.collect::<Vec<_>>().join("+")
            })
        };
        let joined = Some("http://a.example/b-+c-+d".to_owned());
        let broken = "> http://a.example/b-**c-**\n> d<http://a.example/b-c-\n> d>";
        assert_eq!(text(broken, 24), joined);
        assert_eq!(
            text("http://a.__example/b__\n\n  <http://a.example/b>", 22).as_deref(),
            Some("http://a.+example/b")
        );
        assert_eq!(text("http://a.example/**b <http://a.example/c>", 20), None);
        assert_eq!(
            text("http://a.example/b__c <http://a.example/b__c>", 21),
            None
        );
    }

    #[test]
    fn asterisks_are_removed_where_another_link_shows_them() {
        let asterisks = "http://b.example/**c<http://b.example/c>\n";
        let underscores = "http://b.example/__c<http://b.example/c>\n";
        let host = "http://a.example/";
        for (before, url, meant, is_kept) in [
            (asterisks, "**b", "b", true),
            ("", "**b", "**b", false),
            (underscores, "__init__.html", "__init__.html", false),
            (asterisks, "**b?c&amp;d", "b?c&d", true),
        ] {
            let (url, meant) = (format!("{host}{url}"), format!("{host}{meant}"));
            let text = format!("{before}{url}");
            let mut line = LogicalLine::default();
            line.push(text.as_bytes(), before.len(), text.len());
            line.undo_notations();
            line.remove_break_marks(text.as_bytes(), before.len());
            assert_eq!(line.text(), meant.as_bytes());
            let kept = line.written().map(LogicalLine::text);
            assert_eq!(kept, is_kept.then_some(url.as_bytes()), "{url}");
        }
    }

    #[test]
    fn identifiers_in_brackets_are_messages() {
        let identifier = |text: &'static str| {
            bracketed_identifier(text.as_bytes(), 0).map(|span| span.of(text.as_bytes()))
        };
        assert_eq!(
            identifier("news:<a$1@b.example>"),
            Some(&b"a$1@b.example"[..])
        );
        assert_eq!(identifier("mid:<a@b>x"), Some(&b"a@b"[..]));
        for text in [
            "news:<group>",
            "news:<message-id>",
            "news:<a @b.example>",
            "http:<a@b.example>",
            "news:<a@b.example",
            "news:<@b.example>",
            "news:a@b.example",
        ] {
            assert_eq!(identifier(text), None, "{text}");
        }
    }

    #[test]
    fn foreign_markup_is_decoded() {
        for (written, meant, repairs) in [
            ("http://a/?b&amp;c&#38;d", "http://a/?b&c&d", "reference"),
            ("http://a/?b&amp;c&d", "http://a/?b&amp;c&d", ""),
            ("http://a/b&amp;c", "http://a/b&amp;c", ""),
            (
                "http://a/v3/__b?c&amp;d",
                "http://a/v3/__b?c&d",
                "reference",
            ),
            (
                "https://urldefense.com/v3/__http://b/?c&amp;d__;!",
                "https://urldefense.com/v3/__http://b/?c&amp;d__;!",
                "",
            ),
            (
                "http://a/b\u{AD}c\u{200B}d\u{2060}e\u{FEFF}f",
                "http://a/bcdef",
                "invisible",
            ),
            ("http://a/b\u{200C}c", "http://a/bc", "invisible"),
            (
                "http://a/\u{6CC}\u{200C}\u{6CC}",
                "http://a/\u{6CC}\u{200C}\u{6CC}",
                "",
            ),
            (
                "http://a/{\\textasciitilde}b/$\\sim$c\\%20d",
                "http://a/~b/~c%20d",
                "escape",
            ),
            ("http://a/b^[[01;31mc^[[K", "http://a/bc", "escape"),
            ("http://a/b^[c", "http://a/b^[c", ""),
        ] {
            let mut line = LogicalLine::default();
            line.push(written.as_bytes(), 0, written.len());
            line.undo_notations();
            assert_eq!(String::from_utf8_lossy(line.text()), meant);
            let names: Vec<_> = line.repairs().iter().map(Repair::name).collect();
            assert_eq!(names.join(" "), repairs, "{written}");
            let is_kept = matches!(repairs, "reference" | "invisible");
            assert_eq!(line.written().is_some(), is_kept, "{written}");
        }
    }
}
