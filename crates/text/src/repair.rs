//! Unfolds the text after a URL start into one logical line and records a reason for every join.
//!
//! Mailers, editors and printers insert bytes into URLs: white space and line breaks inside a
//! wrapper, quote marks, page breaks, and the line break of a bare URL. This module removes them.
//! `parse` decides whether the line is a URL and where the URL ends.

mod bare_url;
mod continuation;
mod elsewhere;
mod notation;
mod quote_marks;
mod quoted_printable;
mod rewritten_link;
mod url_run;
mod wrapper;

pub use bare_url::{
    AT_SIGN_CONFIDENCE, PrefilterReject, prefilter, restore_at_sign, unfold_bare_word,
};
pub use continuation::JOIN_CONFIDENCE;
pub use continuation::{Continuation, Feature, Features, line_break_evidence};
pub use elsewhere::{Elsewhere, JoinedReading, UrlEvidence};
pub use notation::{CORRECTED_CONFIDENCE, DEFANGED_CONFIDENCE, UNESCAPED_CONFIDENCE};
pub use notation::{has_other_notation, restore_spelling};
pub use quote_marks::quote_depth;
pub use rewritten_link::{REWRITTEN_LINK_CONFIDENCE, rewritten_link_len};
pub use url_run::{BareWord, BracketSurplus, LineBreakPolicy, url_run_end};
pub use url_run::{after_slashes, after_userinfo, ends_with_page, word_terminator_len};
pub use url_run::{is_sentence_mark, without_punctuation};
pub use wrapper::{WrappedText, unfold_wrapper};

use std::iter;

use memchr::memrchr2;

use crate::limits::LINE_LOOKBACK_BYTES;
use crate::span::Span;

named_enum! {
    /// A kind of repair. A record lists its `repairs` in the order of the variants.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Repair {
        /// Blanks within a line were removed.
        Whitespace = "whitespace",
        /// A line break and the blanks around it were removed.
        LineBreak = "line-break",
        /// A line break after a hyphen was removed. The hyphen was kept, or restored where a
        /// program had removed it.
        Hyphen = "hyphen",
        /// A line break and the hyphen before it were removed.
        HyphenDropped = "hyphen-dropped",
        /// Quote marks at the start of a line were removed.
        QuotePrefix = "quote-prefix",
        /// The footer and header between two printed pages were removed.
        PageBreak = "page-break",
        /// A URL without a wrapper was continued on the next line.
        BareContinuation = "bare-continuation",
        /// The word `at`, with which an archive replaced the `@` of an address, was changed back.
        AtSign = "at-sign",
        /// Escapes and soft line breaks of quoted-printable were decoded, though the text is not
        /// labelled as quoted-printable.
        QuotedPrintable = "quoted-printable",
        /// The slashes after the scheme were missing, too many, or backslashes.
        Slashes = "slashes",
        /// An attribute had no scheme, and one was guessed.
        SchemeGuessed = "scheme-guessed",
        /// The scheme or its slashes were mistyped, or the first letter was cut off: `http//`,
        /// `ttp://`.
        SchemeCorrected = "scheme-corrected",
        /// The URL had been changed on purpose to keep it from being a link: `hxxp://a[.]example`.
        Defang = "defang",
        /// Escapes of roff, the language of manual pages, were decoded.
        Roff = "roff",
        /// Marks that another program added to the URL were removed: backslashes with which
        /// Markdown, shells and JSON escape punctuation, and the `**` and `__` that Google Groups
        /// puts at soft breaks.
        Escape = "escape",
        /// The angle brackets around a Message-ID were removed: `news:<id@host>`.
        Brackets = "brackets",
        /// HTML character references for the ampersands of a query were decoded.
        Reference = "reference",
        /// Zero-width characters were removed.
        Invisible = "invisible",
    }
}

impl Repair {
    /// Returns `true` if this repair joins pieces of a URL.
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

/// The positions of the set bits of `bits`, in ascending order.
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
    /// The offset of the first byte after the join in the logical line.
    pub at: usize,
    /// The repairs made at this place.
    pub repairs: RepairSet,
    /// The probability, from 0 to 1, that both sides belong together, provided that the earlier
    /// joins are right. Inside a wrapper it is below 1 only at blanks within a line.
    pub confidence: f32,
    /// The features of the line break in a bare URL. Empty inside a wrapper.
    pub features: Features,
}

/// A text without the removed bytes, and the map back to it. The buffer is reused for each URL
/// start.
#[derive(Clone, Debug, Default)]
pub struct LogicalLine {
    text: Vec<u8>,
    /// The pieces of the text that form the line, in ascending order.
    pieces: Vec<LinePiece>,
    joins: Vec<Join>,
    /// The repairs that were made outside the joins.
    repairs: RepairSet,
    /// The line before decoding, if references, zero-width characters, or escapes and soft line
    /// breaks of quoted-printable were decoded.
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

    /// Returns the repairs made outside the joins: [`Repair::AtSign`] in a bare address,
    /// [`Repair::QuotedPrintable`], the lines of a gateway's link, and other notations.
    #[must_use]
    pub fn repairs(&self) -> RepairSet {
        self.repairs
    }

    /// Returns the line with its references, zero-width characters and quoted-printable still
    /// encoded; `None` if there were none to decode.
    #[must_use]
    pub fn written(&self) -> Option<&LogicalLine> {
        self.written.as_deref()
    }

    /// Returns the range of the text from which `span` of the logical line was copied, including
    /// the bytes removed in between.
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

    /// Appends `byte`, which was decoded from the bytes of the text up to and including `last`.
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

    /// Appends `bytes`, which start at `from` in the text.
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

    /// Records that bytes were removed after the last byte. If a join exists at this offset, the
    /// repairs are added to it.
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

/// A line of a text, or its start.
#[derive(Clone, Copy, Debug)]
struct TextLine {
    /// The range of the line without its line end, up to the limit.
    span: Span,
    /// The offset of the next line, or the end of the text.
    next: usize,
    /// `true` if the line is longer than the limit and `span` and `next` end inside it.
    cut: bool,
}

/// Returns the rest of the line that contains `at`. LF, CR, CRLF and CR CR LF end lines.
fn rest_of_line(text: &[u8], at: usize) -> TextLine {
    start_of_line(text, at, text.len())
}

/// Returns the rest of the line that contains `at`, at most `max_bytes` of it.
fn start_of_line(text: &[u8], at: usize, max_bytes: usize) -> TextLine {
    let limit = text.len().min(at.saturating_add(max_bytes));
    let len = memchr::memchr2(b'\n', b'\r', &text[at..limit]);
    let end = len.map_or(limit, |len| at + len);
    TextLine {
        span: Span::new(at, end),
        next: len.map_or(limit, |_| end + line_end_len(&text[end..])),
        cut: len.is_none() && limit < text.len(),
    }
}

/// The length of the line end at the start of `text`, which starts with a CR or LF. CR CR LF comes
/// from writing a file in text mode twice.
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

/// The length of the character at the start of `text` if it is Unicode white space and does not end
/// a line; otherwise 0.
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
