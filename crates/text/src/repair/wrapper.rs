//! The content of a wrapper (RFC 1738, appendix).
//!
//! White space in it is ignored. The appendix does not say what a blank line, a `<`, or a second
//! URL means. Here, a wrapper with a blank line or `<` counts as unclosed, and a wrapper with two
//! URLs is not used.
//!
//! Page breaks are removed: the footer, form feed and header between two printed pages of an RFC.
//! RFC 1738 itself has them.

use super::bare_url::{AT_SIGN_CONFIDENCE, hidden_host, is_local_part};
use super::quote_marks::{QuoteMarks, QuoteStyle};
use super::quoted_printable::{Residue, ResidueText, is_residue};
use super::{
    Features, LogicalLine, Repair, RepairSet, TextLine, after_slashes, after_userinfo, is_blank,
    is_line_end, line_start, rest_of_line, whitespace_len,
};
use crate::byte_scan::{prefix_len, starts_with_caseless};
use crate::grammar::{BareRequirement, Scheme, SchemeClass};
use crate::limits::RFC1738_WRAPPER_BYTES;
use crate::scan::{Rules, UrlStart};
use crate::span::Span;

/// The result of reading a wrapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrappedText {
    /// The `>` at this offset closes the wrapper; the logical line has its content.
    Closed(usize),
    /// The `>` at this offset closes the wrapper, but the wrapper contains the starts of two URLs
    /// and is not used.
    SeveralUrls(usize),
    /// The wrapper is not closed: its `<` is an ordinary character.
    Unclosed,
    /// The wrapper is not closed within the limit: its `<` is an ordinary character.
    TooLong,
}

/// Unfolds the content of the wrapper at `start` into `line`.
///
/// Reads at most `max_bytes` after the `<` ([`RFC1738_WRAPPER_BYTES`] by the strict rules) and
/// stops at the next `<`. The wrappers of a text are therefore read once in total.
pub fn unfold_wrapper(
    text: &[u8],
    start: &UrlStart,
    rules: Rules,
    max_bytes: usize,
    line: &mut LogicalLine,
) -> WrappedText {
    let wrapped = unfold(text, start, rules, max_bytes, Residue::Decode, line);
    if matches!(wrapped, WrappedText::Closed(_)) && line.is_decoded() {
        let written = line.written.insert(Box::default());
        unfold(text, start, rules, max_bytes, Residue::Keep, written);
    }
    wrapped
}

/// Unfolds the content of a wrapper. Residue of quoted-printable is decoded or kept.
fn unfold(
    text: &[u8],
    start: &UrlStart,
    rules: Rules,
    max_bytes: usize,
    residue: Residue,
    line: &mut LogicalLine,
) -> WrappedText {
    line.clear();
    let max_bytes = if rules == Rules::Rfc1738 {
        RFC1738_WRAPPER_BYTES
    } else {
        max_bytes
    };
    // The `<`, the content and the `>`.
    let limit = text
        .len()
        .min(start.at.saturating_add(max_bytes).saturating_add(2));
    let content = WrapperContent::new(text, start, rules, limit);
    let mut at = start.content;
    let mut several_urls = false;
    let mut gaps = 0;
    while at < limit {
        match text[at] {
            b'>' => {
                if several_urls {
                    return WrappedText::SeveralUrls(at);
                }
                if rules == Rules::Wide && has_label(line.text(), &text[start.content..at]) {
                    return WrappedText::Unclosed;
                }
                if residue == Residue::Decode {
                    content.decode(Span::new(start.content, at), line);
                }
                if rules == Rules::Wide {
                    line.undo_notations();
                }
                return WrappedText::Closed(at);
            }
            b'<' => return WrappedText::Unclosed,
            byte if is_line_end(byte) || whitespace_len(&text[at..limit]) > 0 => {
                let Some(gap) = content.gap(at, line) else {
                    return WrappedText::Unclosed;
                };
                if rules == Rules::Wide {
                    if let Some(end) = content.restore_at_sign(at, line) {
                        at = end;
                        continue;
                    }
                    if residue == Residue::Decode && content.is_soft_break(start.content, at, line)
                    {
                        line.drop_last(1);
                        line.repairs.add(Repair::QuotedPrintable);
                        at = gap.end;
                        continue;
                    }
                    if gap.repairs.has(Repair::Whitespace)
                        && text.get(gap.end) != Some(&b'>')
                        && is_prose_after_address(line.text(), text.get(gap.end))
                    {
                        return WrappedText::Unclosed;
                    }
                }
                if rules == Rules::Wide && gap.repairs.has(Repair::LineBreak) {
                    content.drop_continuation_mark(at, line);
                }
                // Several words on one line are prose after a missing `>`.
                let is_last = text.get(gap.end) == Some(&b'>');
                gaps = usize::from(!gap.repairs.has(Repair::LineBreak)) * (gaps + 1);
                if rules == Rules::Wide && gaps > PROSE_GAPS && !is_last {
                    return WrappedText::Unclosed;
                }
                several_urls |= !line.text().is_empty() && starts_url(&text[gap.end..limit], rules);
                let confidence = content.confidence(&gap, line);
                line.join(gap.repairs, confidence, Features::default());
                at = gap.end;
            }
            _ => {
                let rest = &text[at + 1..limit];
                let end = at + 1 + prefix_len(rest, |&byte| PLAIN[usize::from(byte)]);
                line.push(text, at, end);
                at = end;
            }
        }
    }
    if limit < text.len() {
        WrappedText::TooLong
    } else {
        WrappedText::Unclosed
    }
}

/// Maximum number of gaps between words on one line of a wrapper. Content with more gaps is prose.
///
/// People write `<http://a.example/ drafts/ x>`; wrappers with a label have at most two gaps.
const PROSE_GAPS: usize = 2;

/// Confidence in a URL with a blank next to a delimiter. All 9 such URLs in the test archives were
/// right.
const BLANK_AT_DELIMITER_CONFIDENCE: f32 = 0.9;

/// Confidence in a URL with a blank between two words. One of 5 such URLs was right.
const BLANK_BETWEEN_WORDS_CONFIDENCE: f32 = 0.3;

/// Returns `true` if prose or a name follows the address `url` after a blank. No mailer breaks an
/// address within a line, and a URL without slashes is one word. `next` is the byte after the
/// blank: a number may be written in groups of digits, as in `tel:`.
fn is_prose_after_address(url: &[u8], next: Option<&u8>) -> bool {
    let Some(colon) = memchr::memchr(b':', url) else {
        return false;
    };
    let rest = &url[colon + 1..];
    let is_number =
        rest.last().is_some_and(u8::is_ascii_digit) && next.is_some_and(u8::is_ascii_digit);
    !rest.is_empty() && !rest.starts_with(b"//") && !is_number
}

/// Returns `true` if a bar in the content `url` precedes the label of a link, as in Slack's
/// `<url|label>`. A bar in a path does, unless a digit follows, or a slash as after the drive in
/// `<file:///C|/x>`. A bar in a query does if the label, as `written`, has a blank or if it repeats
/// the URL or its host. The text is then no wrapper.
fn has_label(url: &[u8], written: &[u8]) -> bool {
    let Some(bar) = memchr::memchr(b'|', url) else {
        return false;
    };
    if bar < after_userinfo(url) {
        return false;
    }
    let (url, label) = (&url[..bar], &url[bar + 1..]);
    let site = &url[after_slashes(url).unwrap_or(0)..];
    let Some(query) = memchr::memchr2(b'?', b'#', site) else {
        return 1 < label.len() && !matches!(label[0], b'/' | b'0'..=b'9');
    };
    let (before, after) = written.split_at(memchr::memchr(b'|', written).unwrap_or(0));
    after.contains(&b' ') && !before.contains(&b' ')
        || url.starts_with(label)
        || !label.is_empty() && site[..query].starts_with(label)
        || memchr::memmem::find(label, b"://").is_some()
}

/// White space inside a wrapper, with the quote marks and page break after it.
struct Gap {
    repairs: RepairSet,
    /// The offset after the gap.
    end: usize,
}

/// The content of a wrapper while it is read.
struct WrapperContent<'t> {
    text: &'t [u8],
    /// The offset at which reading stops.
    limit: usize,
    rules: Rules,
    /// The quote marks of the line on which the wrapper starts.
    first: QuoteMarks<'t>,
    /// `true` if the `+` of a diff follows these marks.
    has_plus: bool,
}

impl<'t> WrapperContent<'t> {
    fn new(text: &'t [u8], start: &UrlStart, rules: Rules, limit: usize) -> WrapperContent<'t> {
        let style = if rules == Rules::Wide {
            QuoteStyle::Wide
        } else {
            QuoteStyle::Strict
        };
        let line = line_start(text, start.at).unwrap_or(start.at);
        let mut first = QuoteMarks::of(&text[line..start.at], style);
        // In a diff, `<` and a blank start each line of the first text.
        if rules == Rules::Wide
            && first.marks.is_empty()
            && line < start.at
            && text[line..].starts_with(b"< ")
        {
            first.marks.push(&text[line..=line]);
            first.len = 1;
        }
        let has_plus = rules == Rules::Wide
            && text[line + first.len..start.at].trim_ascii_start().first() == Some(&b'+');
        WrapperContent {
            text,
            limit,
            rules,
            first,
            has_plus,
        }
    }

    /// Returns the gap that starts with the white space at `at`; `None` if a blank line follows,
    /// which means that the wrapper was never closed.
    fn gap(&self, at: usize, line: &LogicalLine) -> Option<Gap> {
        let mut repairs = RepairSet::default();
        let mut end = self.skip_blanks(at);
        if !self.at_line_end(end) {
            repairs.add(Repair::Whitespace);
            return Some(Gap { repairs, end });
        }
        repairs.add(Repair::LineBreak);
        if line.text().last() == Some(&b'-') {
            repairs.add(Repair::Hyphen);
        }
        end = rest_of_line(self.text, end).next;
        if let Some(next) = page_break(self.text, end, self.limit) {
            repairs.add(Repair::PageBreak);
            end = next;
        }
        loop {
            let begin = end.min(self.limit);
            if let Some(next) = self.marks_only_line(begin) {
                repairs.add(Repair::QuotePrefix);
                end = next;
                continue;
            }
            end = self
                .skip_added_marks(begin)
                .unwrap_or_else(|| self.skip_marks(begin));
            if end > begin {
                repairs.add(Repair::QuotePrefix);
            }
            end = self.skip_blanks(end);
            return (!self.at_line_end(end)).then_some(Gap { repairs, end });
        }
    }

    /// Returns the confidence that the URL continues after a gap.
    ///
    /// Line breaks, and blanks at the start and end of the content, are not part of the URL. A
    /// blank next to a delimiter within a line was probably left by a mailer's line break
    /// (`twisted- web`, `gopher/ gopher_protocol`). A blank between two words may also belong to a
    /// file name or precede prose.
    fn confidence(&self, gap: &Gap, line: &LogicalLine) -> f32 {
        let (before, after) = (line.text().last(), self.text.get(gap.end));
        let is_outside = before.is_none_or(|&byte| byte == b':') || after == Some(&b'>');
        if self.rules == Rules::Rfc1738 || !gap.repairs.has(Repair::Whitespace) || is_outside {
            return 1.0;
        }
        let is_delimiter =
            |byte: Option<&u8>| byte.is_some_and(|byte| b"-/._=&?%:,;#".contains(byte));
        if is_delimiter(before) || is_delimiter(after) {
            BLANK_AT_DELIMITER_CONFIDENCE
        } else {
            BLANK_BETWEEN_WORDS_CONFIDENCE
        }
    }

    /// Appends the `@` and the host if the word `at` and a host follow the white space at `at`, and
    /// the content so far is the start of an address. Returns the offset after the host.
    fn restore_at_sign(&self, at: usize, line: &mut LogicalLine) -> Option<usize> {
        let host =
            hidden_host(&self.text[..self.limit], at).filter(|_| is_local_part(line.text()))?;
        matches!(self.text.get(host.end), Some(b'>' | b'?')).then(|| {
            let repairs = [Repair::AtSign].into_iter().collect();
            line.join(repairs, AT_SIGN_CONFIDENCE, Features::default());
            line.push_decoded(b'@', host.start - 2);
            line.push(self.text, host.start, host.end);
            host.end
        })
    }

    /// Returns `true` if the line end at `at` is a soft line break of quoted-printable in the
    /// content that starts at `begin`.
    fn is_soft_break(&self, begin: usize, at: usize, line: &LogicalLine) -> bool {
        begin < at
            && self.text[at - 1] == b'='
            && is_line_end(self.text[at])
            && (line.repairs().has(Repair::QuotedPrintable)
                || is_residue(self.text, Span::new(begin, at)))
    }

    /// Removes the backslash before the line end at `at`, with which a shell or source code
    /// continues a line.
    fn drop_continuation_mark(&self, at: usize, line: &mut LogicalLine) {
        if 0 < at && self.text[at - 1] == b'\\' && line.text().ends_with(b"\\") {
            line.drop_last(1);
            line.repairs.add(Repair::Escape);
        }
    }

    /// Decodes residue of quoted-printable in the content at `content`.
    fn decode(&self, content: Span, line: &mut LogicalLine) {
        let is_wide = self.rules == Rules::Wide;
        if is_wide && memchr::memchr(b'=', line.text()).is_some() && is_residue(self.text, content)
        {
            line.decode_escapes(ResidueText::Wrapped);
        }
    }

    /// Returns the offset after the quote marks that the line at `begin` shares with the first
    /// line.
    ///
    /// The strict rules require all marks of the first line; the wide rules allow any number.
    /// Further marks are not skipped, because a `>` closes the wrapper.
    fn skip_marks(&self, begin: usize) -> usize {
        let common = self.first.common(&self.text[begin..self.limit.max(begin)]);
        let count = common.marks.len();
        if count == 0 || (self.rules == Rules::Rfc1738 && count < self.first.marks.len()) {
            return begin;
        }
        let end = begin + common.len;
        let rest = self.skip_blanks(end);
        if self.has_plus && self.text.get(rest) == Some(&b'+') {
            rest + 1
        } else {
            end
        }
    }

    /// Returns the offset after a line of only quote marks, at least two more than the first line
    /// has. A mailer leaves such a line between the pieces of a broken line. Any other blank line
    /// ends the wrapper.
    fn marks_only_line(&self, begin: usize) -> Option<usize> {
        let TextLine { span, next, .. } = rest_of_line(self.text, begin);
        if self.rules == Rules::Rfc1738 || self.first.marks.is_empty() || next > self.limit {
            return None;
        }
        let line = span.of(self.text);
        let count = self.first.common(line).marks.len();
        let all = QuoteMarks::of(line, QuoteStyle::Wide);
        let only_marks = line[all.len..].trim_ascii().is_empty();
        (only_marks && count == self.first.marks.len() && all.marks.len() >= count + 2)
            .then_some(next)
    }

    fn skip_blanks(&self, at: usize) -> usize {
        let mut end = at;
        while end < self.limit {
            match whitespace_len(&self.text[end..self.limit]) {
                0 => break,
                len => end += len,
            }
        }
        end
    }

    /// Returns the offset after the quote marks of the line at `start` if it has more marks than
    /// the first line. Only the rest of the URL, one word, and the closing `>` may follow.
    fn skip_added_marks(&self, start: usize) -> Option<usize> {
        let end = rest_of_line(self.text, start).span.end.min(self.limit);
        let line = &self.text[start..end];
        let added = QuoteMarks::of(line, QuoteStyle::Wide);
        let rest = line[added.len..].trim_ascii_start();
        let word = prefix_len(rest, |&byte| PLAIN[usize::from(byte)]);
        let is_deeper = self.first.marks.len() < added.marks.len();
        if self.rules == Rules::Wide && is_deeper && 0 < word && rest.get(word) == Some(&b'>') {
            Some(start + added.len)
        } else {
            None
        }
    }

    fn at_line_end(&self, at: usize) -> bool {
        at < self.limit && is_line_end(self.text[at])
    }
}

/// Returns `true` if another URL starts here: `URL:`, one of the eight predefined schemes with
/// `//`, `mailto:` or `news:`. The wide rules also accept any other known scheme with `//` and a
/// host.
fn starts_url(text: &[u8], rules: Rules) -> bool {
    let Some(colon) = text
        .iter()
        .take(crate::limits::SCHEME_CHARS)
        .position(|&byte| byte == b':')
    else {
        return false;
    };
    let (name, rest) = (&text[..colon], &text[colon + 1..]);
    if name.eq_ignore_ascii_case(b"url") {
        return true;
    }
    Scheme::named(name).is_some_and(|row| match (row.class, row.bare) {
        (SchemeClass::Predefined, BareRequirement::Host | BareRequirement::Slashes) => {
            rest.starts_with(b"//")
        }
        (SchemeClass::Predefined, _) => true,
        _ => rules == Rules::Wide && row.bare == BareRequirement::Host && rest.starts_with(b"//"),
    })
}

/// The bytes that neither end a wrapper's content nor start a gap. Most bytes of a wrapper are in
/// this table.
const PLAIN: [bool; 256] = byte_table!(|byte| {
    // 0xC2 starts a no-break space.
    !(is_blank(byte) || is_line_end(byte) || matches!(byte, b'<' | b'>' | 0xC2))
});

/// The kind of a line at a page break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageLine {
    Blank,
    /// A footer, or a form feed, alone or before a header.
    Break,
    Header,
    /// Any other line.
    Text,
}

/// Returns the offset of the line after the page break that starts at `from`, the start of a line;
/// `None` if there is no page break.
///
/// A page break is a sequence of blank lines, footers, form feeds and headers with at least one
/// footer or form feed. A header counts only after a footer or form feed. Lines that start at
/// `limit` or later are not read.
pub(super) fn page_break(text: &[u8], from: usize, limit: usize) -> Option<usize> {
    let mut at = from;
    let mut broken = false;
    while at < limit.min(text.len()) {
        let TextLine { span, next, .. } = rest_of_line(text, at);
        match page_line(span.of(text)) {
            PageLine::Blank => {}
            PageLine::Break => broken = true,
            PageLine::Header if broken => {}
            PageLine::Header | PageLine::Text => break,
        }
        at = next;
    }
    broken.then_some(at)
}

fn page_line(line: &[u8]) -> PageLine {
    let trimmed = line.trim_ascii();
    let feed = trimmed.len() < line.len() && line.contains(&b'\x0C');
    match (trimmed.is_empty(), feed) {
        (true, true) => PageLine::Break,
        (true, false) => PageLine::Blank,
        (false, true) if is_header(trimmed) => PageLine::Break,
        (false, _) if is_footer(trimmed) => PageLine::Break,
        (false, _) if is_header(trimmed) => PageLine::Header,
        (false, _) => PageLine::Text,
    }
}

/// Returns `true` for a line without angle brackets that ends with `[Page n]` or is just `Page n`.
fn is_footer(line: &[u8]) -> bool {
    if line.iter().any(|byte| matches!(byte, b'<' | b'>')) {
        return false;
    }
    let numbered = |text: &[u8]| {
        let digits = text.trim_ascii();
        text.first() == Some(&b' ') && !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    };
    if let Some(number) = line.strip_prefix(b"Page") {
        return numbered(number);
    }
    let Some(inside) = line.strip_suffix(b"]") else {
        return false;
    };
    let open = inside.iter().rposition(|&byte| byte == b'[');
    open.is_some_and(|open| inside[open..].strip_prefix(b"[Page").is_some_and(numbered))
}

/// Returns `true` for `RFC n ... 19xx` or `20xx`, and for `INTERNET-DRAFT ...`.
fn is_header(line: &[u8]) -> bool {
    if starts_with_caseless(line, b"INTERNET-DRAFT") {
        return true;
    }
    let numbered = line.strip_prefix(b"RFC ").is_some_and(|rest| {
        rest.trim_ascii_start()
            .first()
            .is_some_and(u8::is_ascii_digit)
    });
    let year = line.last_chunk::<4>().is_some_and(|year| {
        (year.starts_with(b"19") || year.starts_with(b"20")) && year.iter().all(u8::is_ascii_digit)
    });
    numbered && year
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapper_with_a_label_is_unclosed() {
        let is_label =
            |content: &str| has_label(content.replace(' ', "").as_bytes(), content.as_bytes());
        let labelled = "http://a.example/b|cd;http://a.example/?b|c \
            d;http://a.example/?b|a.example;http://a.example/?b|http://a.example/;mailto:a@b.exampl\
            e|a@b.example";
        assert!(labelled.split(';').all(is_label));
        let whole = "http://a.example/b|12;http://a.example/b|c;http://a.example/?b=0:|c|d;http://a\
            .example/b;http://a.example|@b.example/c;http://a.example/?b=c d|e f";
        assert!(!whole.split(';').any(is_label));
    }

    #[test]
    fn a_header_counts_only_after_a_footer_or_a_form_feed() {
        let text = b"\n\nBerners-Lee   [Page 3]\n\x0C\nRFC 1738   URL   December 1994\n\n  rest";
        assert_eq!(page_break(text, 0, 999), Some(text.len() - 6));
        assert_eq!(
            page_break(b"\nRFC 1738   URL   December 1994\n\nrest", 0, 999),
            None
        );
        assert_eq!(
            page_break(b"\x0CRFC 1738   URL   December 1994\nrest", 0, 999),
            Some(32)
        );
    }

    #[test]
    fn blank_lines_alone_are_not_a_page_break() {
        assert_eq!(page_break(b"\n\nrest", 0, 999), None);
    }
}
