//! Unfolds the text after a URL start into one logical line, in which every join has its reason.
//!
//! Removes what mailers, editors and printers inserted into a URL: white space and line breaks
//! inside a wrapper, quote marks, page breaks, and the line break of a bare URL. Whether the line
//! is a URL, and where it ends, is left to `parse`.

mod bare_url;
mod continuation;
mod elsewhere;
mod foreign;
mod notation;
mod prefilter;
mod quote_marks;
mod quoted_printable;
mod rewritten_link;
mod url_run;
mod wrapper;

pub use bare_url::{AT_SIGN_CONFIDENCE, restore_at_sign, unfold_bare_word};
pub use continuation::{Feature, Features, LineBreakEvidence, line_break_evidence};
pub use continuation::{JOIN_CONFIDENCE, is_frequent_word};
pub use elsewhere::{Elsewhere, JoinedReading, UrlEvidence};
pub use notation::{CORRECTED_CONFIDENCE, DEFANGED_CONFIDENCE, UNESCAPED_CONFIDENCE};
pub use notation::{has_other_notation, restore_spelling};
pub use prefilter::{PrefilterReject, prefilter};
pub use quote_marks::quote_depth;
pub use rewritten_link::{REWRITTEN_LINK_CONFIDENCE, rewritten_link_len};
pub use url_run::{BareWord, LineBreakPolicy, url_run_end};
pub use url_run::{after_slashes, ends_with_page, word_terminator_len};
pub use wrapper::{WrappedText, unfold_wrapper};

use std::iter;

use memchr::memrchr2;

use crate::limits::LINE_LOOKBACK_BYTES;
use crate::span::Span;

named_enum! {
    /// A kind of repair. A record's `repairs` has them in the order of the variants.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Repair {
        /// Blanks within a line were removed.
        Whitespace = "whitespace",
        /// A line break was removed, with the blanks around it.
        LineBreak = "line-break",
        /// The line break came after a hyphen, which was kept, or put back where it had been lost.
        Hyphen = "hyphen",
        /// The line break came after a hyphen, which was removed.
        HyphenDropped = "hyphen-dropped",
        /// Quote marks at the start of a line were removed.
        QuotePrefix = "quote-prefix",
        /// The footer and header between two printed pages were removed.
        PageBreak = "page-break",
        /// A URL without a wrapper was continued on the next line.
        BareContinuation = "bare-continuation",
        /// The word `at`, which an archive wrote for the `@` of an address, was replaced.
        AtSign = "at-sign",
        /// Escapes and soft line breaks of quoted-printable, in a text that was not labelled so, were
        /// decoded.
        QuotedPrintable = "quoted-printable",
        /// The slashes after the scheme were missing, too many, or backslashes.
        Slashes = "slashes",
        /// There was no scheme in an attribute, and one was guessed.
        SchemeGuessed = "scheme-guessed",
        /// The scheme or the slashes after it were mistyped, or cut off at the start: `http//`, `ttp://`.
        SchemeCorrected = "scheme-corrected",
        /// The URL was changed on purpose so that it was no link: `hxxp://a[.]example`.
        Defang = "defang",
        /// Escapes of roff, the language of manual pages, were undone.
        Roff = "roff",
        /// Marks that another program put into the URL were removed: the backslashes with which Markdown, a
        /// shell and JSON escape punctuation, and the `**` and `__` at the soft breaks of Google Groups.
        Escape = "escape",
        /// The angle brackets around the identifier of a message were removed: `news:<id@host>`.
        Brackets = "brackets",
        /// References of HTML for the ampersands of a query were decoded.
        Reference = "reference",
        /// Characters without width were removed.
        Invisible = "invisible",
    }
}

impl Repair {
    /// Returns `true` if it joins pieces of a URL.
    #[must_use]
    pub fn joins(self) -> bool {
        matches!(
            self,
            Repair::Whitespace
                | Repair::LineBreak
                | Repair::HyphenDropped
                | Repair::PageBreak
                | Repair::BareContinuation
        )
    }
}

/// A set of repairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RepairSet(u32);

impl RepairSet {
    /// Adds a repair.
    pub fn add(&mut self, repair: Repair) {
        self.0 |= 1 << repair as u8;
    }

    /// Adds all repairs of another set.
    pub fn add_all(&mut self, others: RepairSet) {
        self.0 |= others.0;
    }

    /// Returns `true` if the set contains `repair`.
    #[must_use]
    pub fn has(self, repair: Repair) -> bool {
        self.0 & 1 << repair as u8 != 0
    }

    /// The repairs in the set, in the order of declaration.
    pub fn iter(self) -> impl Iterator<Item = Repair> {
        set_bits(self.0.into()).map(|bit| Repair::ALL[bit])
    }
}

impl FromIterator<Repair> for RepairSet {
    fn from_iter<I: IntoIterator<Item = Repair>>(all: I) -> RepairSet {
        let mut set = RepairSet::default();
        all.into_iter().for_each(|repair| set.add(repair));
        set
    }
}

/// The numbers of the bits of `bits` that are set, in ascending order.
fn set_bits(mut bits: u128) -> impl Iterator<Item = usize> {
    iter::from_fn(move || {
        let lowest = bits.trailing_zeros();
        bits &= bits.checked_sub(1)?;
        Some(lowest as usize)
    })
}

/// A place in a logical line where bytes of the text were removed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Join {
    /// The offset in the logical line of the first byte after the join.
    pub at: usize,
    /// The repairs made at this place.
    pub repairs: RepairSet,
    /// The probability, from 0 to 1, that both sides belong together, given that the sides of the
    /// joins before do. Inside a wrapper below 1 only at blanks within a line.
    pub confidence: f32,
    /// The features of the line break in a bare URL. Empty inside a wrapper.
    pub features: Features,
}

/// A text without the removed bytes, and the map back to it. A buffer: it is reused for each URL
/// start.
#[derive(Clone, Debug, Default)]
pub struct LogicalLine {
    text: Vec<u8>,
    /// The pieces of the text that the line consists of, in ascending order.
    pieces: Vec<LinePiece>,
    joins: Vec<Join>,
    /// The repairs that were made outside the joins.
    repairs: RepairSet,
    /// The line with its references, its characters without width, and its escapes and soft line ends
    /// of quoted-printable, if any were undone.
    written: Option<Box<LogicalLine>>,
}

/// The start of a piece of text that was copied without a gap.
#[derive(Clone, Copy, Debug)]
struct LinePiece {
    /// The offset in the logical line.
    logical: usize,
    /// The offset in the text.
    text: usize,
}

impl LogicalLine {
    /// The bytes of the logical line.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The joins, from left to right. The last join may be at the end of the line.
    #[must_use]
    pub fn joins(&self) -> &[Join] {
        &self.joins
    }

    /// Returns the repairs that were made outside the joins: [`Repair::AtSign`] in a bare address,
    /// [`Repair::QuotedPrintable`], the lines of a gateway's link, and other notations.
    #[must_use]
    pub fn repairs(&self) -> RepairSet {
        self.repairs
    }

    /// Returns the line as it is if no reference, no character without width and nothing of
    /// quoted-printable is undone; `None` if nothing was.
    #[must_use]
    pub fn written(&self) -> Option<&LogicalLine> {
        self.written.as_deref()
    }

    /// Returns the range of the text that `span` of the logical line comes from, including the
    /// bytes removed in between.
    #[must_use]
    pub fn text_range(&self, span: Span) -> Span {
        let start = self.text_offset(span.start);
        let end = if span.is_empty() {
            start
        } else {
            self.text_offset(span.end - 1) + 1
        };
        Span::new(start, end)
    }

    /// The offset in the text of the byte at `at` in the logical line.
    fn text_offset(&self, at: usize) -> usize {
        let index = self.pieces.partition_point(|piece| piece.logical <= at);
        index.checked_sub(1).map_or(0, |index| {
            let piece = self.pieces[index];
            piece.text + (at - piece.logical)
        })
    }

    fn clear(&mut self) {
        self.text.clear();
        self.pieces.clear();
        self.joins.clear();
        self.repairs = RepairSet::default();
        self.written = None;
    }

    /// Appends `byte`, which the bytes of the text up to and including the one at `last` stand for.
    fn push_decoded(&mut self, byte: u8, last: usize) {
        self.pieces.push(LinePiece {
            logical: self.text.len(),
            text: last,
        });
        self.text.push(byte);
    }

    /// Appends the bytes of `text` from `from` up to `to`.
    fn push(&mut self, text: &[u8], from: usize, to: usize) {
        if from < to {
            self.append(&text[from..to], from);
        }
    }

    /// Appends `bytes`, which begin at `from` in the text.
    fn append(&mut self, bytes: &[u8], from: usize) {
        let continues = self
            .pieces
            .last()
            .is_some_and(|piece| piece.text + (self.text.len() - piece.logical) == from);
        if !continues {
            self.pieces.push(LinePiece {
                logical: self.text.len(),
                text: from,
            });
        }
        self.text.extend_from_slice(bytes);
    }

    /// Removes `bytes` from the end.
    fn drop_last(&mut self, bytes: usize) {
        self.text.truncate(self.text.len().saturating_sub(bytes));
    }

    /// Records that bytes were removed after the last byte. A join at the same place gets the
    /// repairs in addition.
    fn join(&mut self, repairs: RepairSet, confidence: f32, features: Features) {
        let at = self.text.len();
        match self.joins.last_mut() {
            Some(last) if last.at == at => last.repairs.add_all(repairs),
            _ => self.joins.push(Join {
                at,
                repairs,
                confidence,
                features,
            }),
        }
    }
}

/// Returns the start of the line that contains `at`; `None` if it is more than
/// [`LINE_LOOKBACK_BYTES`] before `at`.
fn line_start(text: &[u8], at: usize) -> Option<usize> {
    let lowest = at.saturating_sub(LINE_LOOKBACK_BYTES);
    match memrchr2(b'\n', b'\r', &text[lowest..at]) {
        Some(end) => Some(lowest + end + 1),
        None if lowest == 0 => Some(0),
        None => None,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LineEnd {
    /// The offset of the line end, or the length of the text.
    end: usize,
    /// The offset of the next line, or the length of the text.
    next: usize,
}

/// Returns the end of the line that contains `at`. LF, CR, CRLF and CR CR LF end lines.
fn line_end(text: &[u8], at: usize) -> LineEnd {
    match memchr::memchr2(b'\n', b'\r', &text[at..]).map(|end| at + end) {
        None => LineEnd {
            end: text.len(),
            next: text.len(),
        },
        Some(end) => LineEnd {
            end,
            next: end + line_end_len(&text[end..]),
        },
    }
}

/// The length of the line end at the start of `text`, which begins with a CR or LF. A file that was
/// written in text mode twice has CR CR LF.
fn line_end_len(text: &[u8]) -> usize {
    match text {
        [b'\r', b'\r', b'\n', ..] => 3,
        [b'\r', b'\n', ..] => 2,
        _ => 1,
    }
}

/// The length of the line end at the end of `text`, which ends with a CR or LF.
fn last_line_end_len(text: &[u8]) -> usize {
    match text {
        [.., b'\r', b'\r', b'\n'] => 3,
        [.., b'\r', b'\n'] => 2,
        _ => 1,
    }
}

/// Returns `true` for ASCII white space that does not end a line: space, tab, form feed, vertical
/// tab.
const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\x0C' | b'\x0B')
}

/// Returns `true` for CR and LF.
const fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// The length of the character at the start of `text` if it is white space by Unicode and does not
/// end a line; otherwise 0.
fn whitespace_len(text: &[u8]) -> usize {
    match text {
        [b'\t' | 0x0B | 0x0C | 0x1C..=0x1F | b' ', ..] => 1,
        [0xC2, 0x85 | 0xA0, ..] => 2,
        [0xE1, 0x9A, 0x80, ..]
        | [0xE2, 0x80, 0x80..=0x8A | 0xA8 | 0xA9 | 0xAF, ..]
        | [0xE2, 0x81, 0x9F, ..]
        | [0xE3, 0x80, 0x80, ..] => 3,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_bits_are_in_ascending_order() {
        assert_eq!(set_bits(0).count(), 0);
        assert_eq!(set_bits(1 << 63 | 0b101).collect::<Vec<_>>(), [0, 2, 63]);
    }
}
