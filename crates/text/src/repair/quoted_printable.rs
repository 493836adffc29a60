//! Residue of quoted-printable in a text that is not labelled as such: `href=3D"http://a.example=`,
//! and `/"` on the next line.
//!
//! In such a text, each equals sign of the author is encoded as `=3D`. Every other equals sign
//! starts an escape or ends a soft-broken line (RFC 2045, section 6.7). Forwarding, archiving or
//! bouncing a mail without its header leaves such residue.

use std::iter;

use memchr::{memchr, memchr_iter};

use super::continuation::starts_other_url;
use super::notation::Respelling;
use super::quote_marks::{QuoteMarks, QuoteStyle};
use super::url_run::{BareWord, url_run_end, word_terminator_len};
use super::{LogicalLine, Repair, is_blank, is_line_end, line_start, rest_of_line};
use crate::byte_scan::{prefix_len, starts_with_caseless, suffix_len};
use crate::grammar::escaped_byte;
use crate::limits::{
    CONTINUATION_LINES, PREFILTER_BYTES, RESIDUE_SEARCH_BYTES, RESIDUE_WORD_BYTES,
};
use crate::scan::{Rules, spelled_head};
use crate::span::Span;

/// An equals sign, classified by the bytes after it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EqualsSign {
    /// `=3D`, an encoded equals sign.
    Sign,
    /// The escape of a blank, a line end, or a byte outside ASCII. Programs write its digits in
    /// upper case.
    Escape,
    /// The escape of punctuation, which few programs encode, or a number.
    Punctuation,
    /// `=` at the end of a line.
    SoftBreak,
    /// An equals sign that is not encoded.
    Plain,
}

impl EqualsSign {
    fn of(text: &[u8], at: usize) -> EqualsSign {
        match (escaped(&text[at..]), &text[at + 1..]) {
            (Some(b'='), _) => EqualsSign::Sign,
            (Some(b' ' | b'\t' | b'\r' | b'\n' | 0x80..), _) => EqualsSign::Escape,
            (Some(byte), _) if byte.is_ascii_punctuation() => EqualsSign::Punctuation,
            // No program escapes letters and digits, and no text contains other control characters.
            (Some(_), _) => EqualsSign::Plain,
            (None, rest) => {
                let blanks = prefix_len(rest, |&byte| is_blank(byte));
                let ends_line = rest.get(blanks).is_none_or(|&byte| is_line_end(byte));
                // A row of equals signs is a rule.
                if ends_line && text[..at].last() != Some(&b'=') {
                    EqualsSign::SoftBreak
                } else {
                    EqualsSign::Plain
                }
            }
        }
    }
}

/// Returns `true` if the URL at `url` contains residue. Each of its equals signs must be encoded,
/// start an escape or end a line. Two encoded signs or line ends in the URL, or other residue
/// around it, must rule out chance.
pub(super) fn is_residue(text: &[u8], url: Span) -> bool {
    let (mut traces, mut escapes, mut soft_breaks) = (0, 0, 0);
    for at in memchr_iter(b'=', url.of(text)) {
        match EqualsSign::of(text, url.start + at) {
            // The value of a field is `3D` or empty.
            EqualsSign::Sign if matches!(url.of(text).get(at + 3), None | Some(b'&')) => {
                escapes += 1;
            }
            EqualsSign::Sign => traces += 1,
            EqualsSign::SoftBreak => soft_breaks += 1,
            EqualsSign::Escape | EqualsSign::Punctuation => escapes += 1,
            EqualsSign::Plain => return false,
        }
    }
    let is_many = 2 <= traces + soft_breaks;
    is_many && (0 < soft_breaks || around(text, url).of(text).is_ascii())
        || 0 < traces + escapes + soft_breaks && has_residue_around(text, url)
}

/// Minimum number of encoded equals signs around a URL that rule out chance if all equals signs are
/// encoded.
const MANY_SIGNS: usize = 3;

/// Returns `true` if the text around `url` contains residue: `=3D` next to a blank or quote, only
/// encoded equals signs, or two traces including another escape or the soft break of a long line. A
/// byte outside ASCII, or a majority of unencoded equals signs, is evidence against residue.
fn has_residue_around(text: &[u8], url: Span) -> bool {
    let Span {
        start: first,
        end: last,
    } = around(text, url);
    let (mut signs, mut others, mut plain) = (0, 0, 0);
    for (from, to) in [(first, url.start), (url.end, last)] {
        for at in memchr_iter(b'=', &text[from..to]).map(|at| from + at) {
            match EqualsSign::of(text, at) {
                EqualsSign::Sign if is_beside_blank_or_quote(text, at) => return true,
                EqualsSign::Sign => signs += 1,
                EqualsSign::SoftBreak => others += usize::from(!is_short(text, at)),
                EqualsSign::Escape if may_be_number(text, at) => {}
                EqualsSign::Escape => others += 1,
                EqualsSign::Punctuation => {}
                EqualsSign::Plain => plain += 1,
            }
        }
    }
    let traces = signs + others;
    let is_seen = 0 < others && 2 <= traces || MANY_SIGNS <= signs && plain == 0;
    is_seen && plain <= traces && text[first..last].is_ascii() || is_named(&text[first..url.start])
}

/// Returns `true` if the escape at `at` may be a number in a query: `?page=20`.
fn may_be_number(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(FIELD_NAME)..at];
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.[]".contains(&byte);
    let name = suffix_len(before, |&byte| is_name(byte));
    0 < name
        && text[at + 1..at + 3].iter().all(u8::is_ascii_digit)
        && matches!(
            before[..before.len() - name].last(),
            Some(b'?' | b'&' | b';')
        )
}

/// Maximum length of the names of fields in queries.
const FIELD_NAME: usize = 64;

/// Returns `true` if the last transfer encoding in a text that quotes headers is quoted-printable.
fn is_named(text: &[u8]) -> bool {
    const NAME: &[u8] = b"ransfer-Encoding: ";
    memchr::memmem::rfind(text, NAME)
        .is_some_and(|at| starts_with_caseless(&text[at + NAME.len()..], b"quoted-printable"))
}

/// The text around `url` to search for residue.
fn around(text: &[u8], url: Span) -> Span {
    let first = url.start.saturating_sub(RESIDUE_SEARCH_BYTES);
    let last = url.end.saturating_add(RESIDUE_SEARCH_BYTES);
    Span::new(first, text.len().min(last))
}

/// Returns `true` if the `=3D` at `at` precedes a quote or is next to a blank. In a query this
/// occurs only if the value of the last field is `3D`.
fn is_beside_blank_or_quote(text: &[u8], at: usize) -> bool {
    let before = text[..at].last().is_some_and(|&byte| is_blank(byte));
    let after = match text.get(at + 3) {
        Some(b'"' | b'\'') => true,
        Some(&byte) => is_blank(byte) && !is_in_query(&text[..at]),
        None => false,
    };
    before || after
}

/// Returns `true` if `text` ends in the query of a URL.
fn is_in_query(text: &[u8]) -> bool {
    let start = &text[text.len().saturating_sub(PREFILTER_BYTES)..];
    let word = suffix_len(start, |byte| !byte.is_ascii_whitespace());
    memchr(b'?', &start[start.len() - word..]).is_some()
}

fn is_at_line_end(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|&byte| is_line_end(byte))
}

/// Returns `true` if the run of `word`, which ends at `end`, contains residue.
///
/// A word is kept unchanged if its end has not been read, which bounds the cost of a message with
/// many such words. A run longer than [`RESIDUE_WORD_BYTES`] is kept unchanged too.
pub(super) fn holds_residue(text: &[u8], word: &BareWord, end: usize) -> bool {
    let run = Span::new(word.from, end);
    word.rules == Rules::Wide
        && PREFILTER_BYTES < word.max_bytes
        && run.len() <= RESIDUE_WORD_BYTES
        && may_be_residue(text, run)
        && is_residue(text, run)
}

/// Appends the run of `word`, which ends at `end`, and the runs of the next lines after soft line
/// breaks to `line`, without the breaks. Returns `false` if the run does not end with a soft line
/// break; the whole run is then appended.
pub(super) fn push_over_soft_breaks(
    text: &[u8],
    word: &BareWord,
    end: usize,
    line: &mut LogicalLine,
) -> bool {
    let first = line_start(text, word.from).unwrap_or(word.from);
    let first = QuoteMarks::of(&text[first..word.from], QuoteStyle::Wide);
    let mut run = Span::new(word.from, end);
    for lines in 0..CONTINUATION_LINES {
        let next = next_run(text, word, run, &first);
        let Some(next) = next.filter(|next| !is_before_url(text, run.end, *next)) else {
            line.push(text, run.start, run.end);
            return lines > 0;
        };
        line.push(text, run.start, run.end - 1);
        if is_rewrapped(text, run.end, next) {
            return true;
        }
        run = next;
    }
    true
}

/// Returns the run of the next line if `run` ends with a soft line break.
fn next_run(text: &[u8], word: &BareWord, run: Span, first: &QuoteMarks<'_>) -> Option<Span> {
    let is_broken = run.of(text).last() == Some(&b'=')
        && EqualsSign::of(text, run.end - 1) == EqualsSign::SoftBreak;
    is_broken.then(|| {
        let next = after_soft_break(text, run.end, first);
        let end = url_run_end(text, next, word.before, word.rules, word.max_bytes);
        Span::new(next, end)
    })
}

/// Returns `true` if the `=` before the line end at `end` belongs to the URL: the line is much
/// shorter than an encoded line, and another URL follows; or a defanged URL follows. Joining would
/// hide that URL.
fn is_before_url(text: &[u8], end: usize, next: Span) -> bool {
    is_short(text, end) && !text[..end].ends_with(b"://=") && starts_other_url(next.of(text))
        || spelled_head(next.of(text)).is_some()
}

/// Returns `true` if another program wrapped the line that ends at `end` after the mail was
/// encoded: the line is much shorter than the 76 characters of an encoded line, and a plain word
/// follows.
fn is_rewrapped(text: &[u8], end: usize, next: Span) -> bool {
    let is_prose = text.get(next.end).is_none_or(u8::is_ascii_whitespace);
    is_short(text, end) && is_prose && next.of(text).iter().all(u8::is_ascii_alphabetic)
}

fn is_short(text: &[u8], end: usize) -> bool {
    line_start(text, end).is_some_and(|start| end - start < SHORT_LINE)
}

/// Minimum number of characters after which an encoder of quoted-printable breaks a line between
/// words.
const SHORT_LINE: usize = 60;

/// Returns `true` if a run contains `=3D`, or ends with a soft line break or an escaped blank.
fn may_be_residue(text: &[u8], run: Span) -> bool {
    let bytes = run.of(text);
    memchr(b'=', bytes).is_some_and(|first| {
        memchr::memmem::find(&bytes[first..], b"=3D").is_some()
            || is_at_line_end(text, run.end) && (bytes.ends_with(b"=") || bytes.ends_with(b"=20"))
    })
}

/// Returns the offset in the next line after the quote marks that it shares with the first line.
fn after_soft_break(text: &[u8], at: usize, first: &QuoteMarks<'_>) -> usize {
    let next = rest_of_line(text, at).next;
    let common = first.common(rest_of_line(text, next).span.of(text));
    let end = next + common.len;
    // The reply added a blank after its marks.
    end + usize::from(0 < common.len && text.get(end) == Some(&b' '))
}

/// Treatment of residue.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Residue {
    Decode,
    Keep,
}

/// The text whose escapes are decoded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ResidueText {
    /// A word of running text, which ends at an escaped blank or quote.
    Word,
    /// The content of a wrapper.
    Wrapped,
}

impl LogicalLine {
    /// Returns `true` if an escape was decoded or a soft line end removed.
    pub(super) fn is_decoded(&self) -> bool {
        let of_joins = self.joins.iter().map(|join| join.repairs);
        iter::once(self.repairs)
            .chain(of_joins)
            .any(|repairs| repairs.has(Repair::QuotedPrintable))
    }

    /// Decodes the escapes of quoted-printable in the line.
    pub(super) fn decode_escapes(&mut self, kind: ResidueText) {
        self.repairs.add(Repair::QuotedPrintable);
        let mut escapes = Vec::new();
        let mut at = 0;
        while let Some(len) = memchr(b'=', &self.text[at..]) {
            at += len;
            let Some(byte) = escaped(&self.text[at..]) else {
                at += 1;
                continue;
            };
            let ends = word_terminator_len(&[byte], Rules::Wide) > 0;
            if ends && kind == ResidueText::Word {
                self.text.truncate(at);
                self.joins.retain(|join| join.at <= at);
                break;
            }
            let span = Span::new(at, at + 3);
            escapes.push(Respelling::of_byte(span, Some(byte).filter(|_| !ends)));
            at = span.end;
        }
        self.respell(&escapes);
    }

    pub(super) fn append_part(&mut self, other: &LogicalLine, part: Span) {
        let mut at = part.start;
        while at < part.end {
            let next = other.pieces.partition_point(|piece| piece.logical <= at);
            let piece_end = other
                .pieces
                .get(next)
                .map_or(part.end, |piece| piece.logical);
            let end = piece_end.min(part.end);
            self.append(&other.text[at..end], other.text_offset(at));
            at = end;
        }
    }
}

/// Returns the decoded byte of the escape at the start of `text`.
fn escaped(text: &[u8]) -> Option<u8> {
    match *text {
        [b'=', high, low, ..] if !high.is_ascii_lowercase() && !low.is_ascii_lowercase() => {
            escaped_byte(&[b'%', high, low])
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repair::{Features, LineBreakPolicy, RepairSet, unfold_bare_word};

    /// The logical line of the word at `http`, and the text that it was copied from.
    fn unfolded(text: &str) -> (String, String) {
        let from = text.find("http").unwrap();
        let word = BareWord {
            from,
            before: text[..from].bytes().last(),
            rules: Rules::Wide,
            breaks: LineBreakPolicy::Keep,
            max_bytes: usize::MAX,
        };
        let mut line = LogicalLine::default();
        unfold_bare_word(text.as_bytes(), &word, None, &mut line);
        let range = line.text_range(Span::new(0, line.text().len()));
        (
            String::from_utf8(line.text().to_vec()).unwrap(),
            String::from_utf8(range.of(text.as_bytes()).to_vec()).unwrap(),
        )
    }

    #[track_caller]
    fn check(text: &str, url: &str, raw: &str) {
        assert_eq!(unfolded(text), (url.to_owned(), raw.to_owned()));
    }

    #[test]
    fn soft_breaks_and_escapes_are_decoded_near_other_residue() {
        check(
            "<a href=3D\"http://a.com=\n/\" class=3D\"x\">",
            "http://a.com/",
            "http://a.com=\n/",
        );
        check(
            "see http://a.com/?b=3Dc&d=3De here",
            "http://a.com/?b=c&d=e",
            "http://a.com/?b=3Dc&d=3De",
        );
        check(
            "> <a href=3D\"http://a.com/b=\n> c\">",
            "http://a.com/bc",
            "http://a.com/b=\n> c",
        );
        for other in [
            "http://b.com/",
            "hxxp://b.com/",
            "http[:]//b.com/",
            "www.b.com",
        ] {
            check(
                &format!("x =3D 1\nhttp://a.com/?b=3Dc&d=\n{other}\n"),
                "http://a.com/?b=c&d=",
                "http://a.com/?b=3Dc&d=",
            );
        }
        check(
            "x =3D 1\nhttp://a.com/b=20\n",
            "http://a.com/b",
            "http://a.com/b",
        );
        check(
            "so?=20\nyes;=20\nhttp://a.com/?b=3Dc",
            "http://a.com/?b=c",
            "http://a.com/?b=3Dc",
        );
        let numbers = "http://a.com/?b=20\nhttp://a.com/?b=90\nhttp://a.com/?c=1&b=20\n";
        check(numbers, "http://a.com/?b=20", "http://a.com/?b=20");
        check(
            "x =3D 1 http://a.com/b=3D\n",
            "http://a.com/b=",
            "http://a.com/b=3D",
        );
    }

    /// A line of pieces. One byte of the text was skipped after each piece, and a join follows
    /// every second piece.
    fn in_pieces(pieces: &[&str]) -> LogicalLine {
        let mut line = LogicalLine::default();
        for (number, piece) in pieces.iter().enumerate() {
            let from = line.text.len() + number;
            line.append(piece.as_bytes(), from);
            if number % 2 == 1 {
                line.join(RepairSet::default(), 0.5, Features::default());
            }
        }
        line
    }

    /// The simple twin of [`LogicalLine::decode_escapes`]: the bytes and their offsets in the text,
    /// one by one.
    fn decoded_simply(raw: &LogicalLine, kind: ResidueText) -> Vec<(u8, usize)> {
        let mut decoded = Vec::new();
        let mut at = 0;
        while at < raw.text.len() {
            let (byte, len) = match escaped(&raw.text[at..]) {
                Some(byte) if word_terminator_len(&[byte], Rules::Wide) > 0 => match kind {
                    ResidueText::Word => break,
                    ResidueText::Wrapped => (None, 3),
                },
                Some(byte) => (Some(byte), 3),
                None => (Some(raw.text[at]), 1),
            };
            // A line starts at the start of its text.
            let last = if at == 0 { 0 } else { at + len - 1 };
            decoded.extend(byte.map(|byte| (byte, raw.text_offset(last))));
            at += len;
        }
        decoded
    }

    proptest::proptest! {
        #[test]
        fn escapes_are_decoded_as_byte_by_byte(
            pieces in proptest::collection::vec("[a=3D20C]{1,9}", 0..6),
            is_word: bool,
        ) {
            let kind = if is_word { ResidueText::Word } else { ResidueText::Wrapped };
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let raw = in_pieces(&pieces);
            let mut line = raw.clone();
            line.decode_escapes(kind);
            let offsets = (0..).map(|at| line.text_offset(at));
            let decoded: Vec<(u8, usize)> = line.text.iter().copied().zip(offsets).collect();
            proptest::prop_assert_eq!(decoded, decoded_simply(&raw, kind));
            let joins = line.joins.iter().all(|join| join.at <= line.text.len());
            proptest::prop_assert!(joins && line.joins.len() <= raw.joins.len());
        }
    }

    #[test]
    fn long_words_and_partly_read_words_stay() {
        let text = format!("http://a.com/{}", "=3D".repeat(RESIDUE_WORD_BYTES / 3));
        check(&text, &text, &text);
        let word = BareWord {
            from: 0,
            before: None,
            rules: Rules::Wide,
            breaks: LineBreakPolicy::Keep,
            max_bytes: PREFILTER_BYTES,
        };
        let text = b"http://a.com/?b=3Dc&d=3De";
        assert!(!holds_residue(text, &word, text.len()));
        let whole = BareWord {
            max_bytes: usize::MAX,
            ..word
        };
        assert!(holds_residue(text, &whole, text.len()));
    }

    #[test]
    fn equals_signs_of_urls_stay() {
        check(
            "=C3=A9 http://a.com/?q=3Dprinter",
            "http://a.com/?q=printer",
            "http://a.com/?q=3Dprinter",
        );
        for text in [
            "http://a.com/?q=3Dprinter",
            "http://a.com/?a=1&b=3D2&c=3D4",
            "http://a.com/?id=20\nx",
            "http://a.com/?ref=\nsr_1_4",
            "evt=47093 http://a.com/evt=47093",
            "=C3=A9 http://a.com/?q=3Dprinter \u{e9}",
            "=C3=A9 a=b c=d e=f http://a.com/?q=3Dprinter",
            "http://a.com/?q=3Dprinter x=3Dy",
            "http://a.com/?q=3Dprinter&view=3D x http://a.com/?view=3D x",
            "\u{e9} http://a.com/?q=3Dprinter&type=3D-model",
            "http://a.com/b=====\nx",
        ] {
            let url = text
                .split_whitespace()
                .find(|word| word.contains("://"))
                .unwrap();
            check(text, url, url);
        }
    }
}
