//! Lays a start and what follows it out as one logical line, with every join marked by its reason.
//!
//! Undoes what mailers, editors and printers did to a URL: white space and line breaks inside a wrapper, quote
//! marks, page breaks, the break of a bare URL. Says nothing about whether the line is a URL, or where it ends:
//! that is `parse`'s.

mod bare_url;
mod continuation;
mod line;
mod page_break;
mod prefilter;
mod quote_marks;
mod url_run;
mod wrapper;

pub use bare_url::{BareWord, LineBreakPolicy, word};
pub use continuation::{Feature, Features};
pub use prefilter::{PrefilterReject, prefilter};
pub use quote_marks::quote_depth;
pub use url_run::url_run_end;
pub use wrapper::{WrappedText, wrapped};

use crate::span::Span;

/// What was undone. The order is that of a record's `repairs` (`spec/appendix-rules.md` 14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Repair {
    /// Blanks within a line.
    Whitespace,
    /// A line break and the blanks around it.
    LineBreak,
    /// A line break behind a hyphen, which was kept.
    Hyphen,
    /// The same, and the hyphen was dropped.
    HyphenDropped,
    /// Quote marks at the start of a line.
    QuotePrefix,
    /// The furniture between two printed pages.
    PageBreak,
    /// A line break in a URL without a wrapper.
    BareContinuation,
}

impl Repair {
    /// All repairs, in their order.
    pub const ALL: [Repair; 7] = [
        Repair::Whitespace,
        Repair::LineBreak,
        Repair::Hyphen,
        Repair::HyphenDropped,
        Repair::QuotePrefix,
        Repair::PageBreak,
        Repair::BareContinuation,
    ];

    /// The name that stands in a record's `repairs`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Repair::Whitespace => "whitespace",
            Repair::LineBreak => "line-break",
            Repair::Hyphen => "hyphen",
            Repair::HyphenDropped => "hyphen-dropped",
            Repair::QuotePrefix => "quote-prefix",
            Repair::PageBreak => "page-break",
            Repair::BareContinuation => "bare-continuation",
        }
    }
}

/// A set of repairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RepairSet(u8);

impl RepairSet {
    /// Adds one.
    pub fn add(&mut self, repair: Repair) {
        self.0 |= 1 << repair as u8;
    }

    /// Adds all of another set.
    pub fn add_all(&mut self, others: RepairSet) {
        self.0 |= others.0;
    }

    /// Whether it holds `repair`.
    #[must_use]
    pub fn has(self, repair: Repair) -> bool {
        self.0 & 1 << repair as u8 != 0
    }

    /// Its members, in their order.
    pub fn iter(self) -> impl Iterator<Item = Repair> {
        Repair::ALL
            .into_iter()
            .filter(move |&repair| self.has(repair))
    }
}

impl FromIterator<Repair> for RepairSet {
    fn from_iter<I: IntoIterator<Item = Repair>>(all: I) -> RepairSet {
        let mut set = RepairSet::default();
        all.into_iter().for_each(|repair| set.add(repair));
        set
    }
}

/// A place in a logical line where something was taken out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Join {
    /// The offset in the logical line of the first byte behind it.
    pub at: usize,
    /// Why.
    pub repairs: RepairSet,
    /// How sure it is that the two sides belong together, from 0 to 1. Inside a wrapper it is certain.
    pub confidence: f32,
    /// For a bare URL: the evidence. Inside a wrapper there is none.
    pub features: Features,
}

/// A text without its breaks, and the way back to it. Made once and used again for each start.
#[derive(Clone, Debug, Default)]
pub struct LogicalLine {
    text: Vec<u8>,
    /// Where each unbroken stretch begins: in the logical line, in the text it was laid out from.
    stretches: Vec<(usize, usize)>,
    joins: Vec<Join>,
}

impl LogicalLine {
    /// The logical line's bytes.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Its joins, from left to right. A line's last join may stand at its end.
    #[must_use]
    pub fn joins(&self) -> &[Join] {
        &self.joins
    }

    /// The bytes that `span` of the logical line was laid out from, what was taken out between them included.
    #[must_use]
    pub fn origin(&self, span: Span) -> Span {
        let start = self.place(span.start);
        let end = if span.is_empty() {
            start
        } else {
            self.place(span.end - 1) + 1
        };
        Span::new(start, end)
    }

    fn place(&self, at: usize) -> usize {
        let index = self
            .stretches
            .partition_point(|&(logical, _)| logical <= at);
        index.checked_sub(1).map_or(0, |index| {
            self.stretches[index].1 + (at - self.stretches[index].0)
        })
    }

    fn clear(&mut self) {
        self.text.clear();
        self.stretches.clear();
        self.joins.clear();
    }

    /// Appends the bytes of `text` from `from` up to `to`.
    fn push(&mut self, text: &[u8], from: usize, to: usize) {
        if from == to {
            return;
        }
        let continues = self
            .stretches
            .last()
            .is_some_and(|&(logical, place)| place + (self.text.len() - logical) == from);
        if !continues {
            self.stretches.push((self.text.len(), from));
        }
        self.text.extend_from_slice(&text[from..to]);
    }

    /// Takes bytes off the end again.
    fn drop_last(&mut self, bytes: usize) {
        self.text.truncate(self.text.len().saturating_sub(bytes));
    }

    /// Marks that something was taken out behind the last byte.
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
