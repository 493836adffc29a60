//! Input and output of parsing: a candidate, and the URL found in it with its other readings, or
//! the reason why there is none. `choice` decides how a reading is chosen.

use super::components::{scheme, url_len};
use super::verdict::{RejectReason, Verdicts};
use crate::hash::hash_pieces;
use crate::repair::{LogicalLine, RepairSet};
use crate::scan::{Opening, UrlStart};
use crate::span::Span;

/// The start of a possible URL, and the logical line that follows it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'l> {
    /// The start.
    pub start: &'l UrlStart,
    /// The text before the start.
    pub prior: &'l [u8],
    /// The logical line, from `start.content`.
    pub line: &'l LogicalLine,
    /// The text after the logical line.
    pub after: &'l [u8],
    /// The offset in the text of the `>` that closes the wrapper; `None` for a word without a
    /// wrapper.
    pub close: Option<usize>,
}

/// The result of parsing a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseOutcome {
    /// The offset in the text at which scanning resumes.
    pub resume: usize,
    /// The reason why the candidate is not a URL; `None` if a URL was found.
    pub reject: Option<RejectReason>,
}

/// A URL that was found.
#[derive(Debug)]
pub struct FoundUrl<'l> {
    /// The delimiters around the URL.
    pub wrapper: Wrapper,
    /// The URL, followed by its fragment with the `#` after `url_len` bytes.
    pub full: &'l [u8],
    /// Length in bytes of the URL without its fragment.
    pub url_len: usize,
    /// The range of the URL in the text, from its first to its last character, before repair.
    pub raw: Span,
    /// The repairs that were needed to read the URL.
    pub repairs: RepairSet,
    /// Other readings, the likeliest first. They differ from this reading and from each other.
    pub alternates: &'l [Alternate],
    /// Probability that this reading is the intended one, from 0 to 1.
    pub confidence: f32,
    /// The verdicts of the three grammars; `None` if the URL was truncated.
    pub verdicts: Option<&'l Verdicts<'l>>,
    /// Length and hash of the whole URL; `None` unless `full` was truncated.
    pub truncated: Option<UrlTruncation>,
}

impl<'l> FoundUrl<'l> {
    /// Returns the URL without its fragment.
    #[must_use]
    pub fn url(&self) -> &'l [u8] {
        &self.full[..self.url_len]
    }

    /// Returns the fragment without its `#`; `None` without a `#`, empty if the URL ends with it.
    #[must_use]
    pub fn fragment(&self) -> Option<&'l [u8]> {
        self.full.get(self.url_len + 1..)
    }
}

named_enum! {
    /// Delimiters that separate a URL from the surrounding text.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Wrapper {
        /// `<URL:...>`
        UrlBracket = "<URL:>",
        /// `<...>`
        Angle = "<>",
        /// `URL:...`
        UrlPrefix = "URL:",
        /// No delimiters.
        Bare = "bare",
        /// An HTML attribute.
        Attr = "attr",
        /// No delimiters and no scheme.
        Schemeless = "schemeless",
    }
}

impl From<Opening> for Wrapper {
    fn from(opening: Opening) -> Wrapper {
        match opening {
            Opening::UrlBracket => Wrapper::UrlBracket,
            Opening::Angle => Wrapper::Angle,
            Opening::UrlPrefix => Wrapper::UrlPrefix,
            Opening::Bare => Wrapper::Bare,
            Opening::Schemeless(_) | Opening::HostPath(_) => Wrapper::Schemeless,
        }
    }
}

/// Another reading of the same bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternate {
    /// The URL, followed by its fragment with the `#` after `url_len` bytes.
    pub full: Vec<u8>,
    /// Length in bytes of the URL without its fragment.
    pub url_len: usize,
    /// The difference from the chosen reading.
    pub why: AlternateReason,
    /// Probability that this reading is the intended one, from 0 to 1.
    pub confidence: f32,
}

named_enum! {
    /// Difference between an alternate and the chosen reading.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum AlternateReason {
        /// Hyphens before line breaks are dropped.
        HyphenDropped = "hyphen-dropped",
        /// Punctuation that was trimmed off the end is kept.
        TrimmedTail = "trimmed-tail",
        /// The next line is joined.
        BareContinuation = "bare-continuation",
        /// The next line is not joined.
        HeadOnly = "head-only",
        /// The URL ends elsewhere; neither white space nor a wrapper shows which end is right.
        OtherEnd = "other-end",
        /// Each overline is replaced by the tilde that other character sets have at its position.
        Tilde = "tilde",
        /// Escapes and soft line ends of quoted-printable, character references and invisible
        /// characters are kept.
        Undecoded = "undecoded",
        /// `=3D` is read as an equals sign, or `**` as another program's mark, although no other
        /// evidence shows it.
        Decoded = "decoded",
    }
}

/// Length and hash of a URL that exceeded the limit, before truncation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlTruncation {
    /// Length in bytes, including the fragment.
    pub full_length: usize,
    /// The first 128 bits of the BLAKE3 hash of these bytes.
    pub full_hash: u128,
}

/// An accepted URL, before it is truncated at the limit.
pub(super) struct AcceptedUrl<'l> {
    /// The URL with its fragment.
    pub(super) full: &'l [u8],
    pub(super) wrapper: Wrapper,
    /// The range of the text that it was read from.
    pub(super) raw: Span,
    /// Maximum number of bytes to keep.
    pub(super) url_bytes: usize,
    /// The verdicts on `full`; `None` if it is longer than `url_bytes`.
    pub(super) verdicts: Option<Verdicts<'l>>,
    pub(super) repairs: RepairSet,
    pub(super) alternates: &'l [Alternate],
    pub(super) confidence: f32,
}

impl AcceptedUrl<'_> {
    /// Truncates the URL at the limit and passes it to `sink`.
    pub(super) fn emit(&self, sink: &mut dyn FnMut(&FoundUrl<'_>)) {
        let url_len = url_len(self.full);
        let kept = self.full.len().min(self.url_bytes);
        let confidence = if lacks_mailbox(self.full) {
            self.confidence.min(NO_MAILBOX_CONFIDENCE)
        } else {
            self.confidence
        };
        let truncated = (kept < self.full.len()).then(|| UrlTruncation {
            full_length: self.full.len(),
            full_hash: hash_pieces(&[self.full]),
        });
        sink(&FoundUrl {
            wrapper: self.wrapper,
            full: &self.full[..kept],
            url_len: url_len.min(kept),
            raw: self.raw,
            repairs: self.repairs,
            alternates: self.alternates,
            confidence,
            verdicts: self.verdicts.as_ref(),
            truncated,
        });
    }
}

/// Confidence in a `mailto` URL whose address has no host.
const NO_MAILBOX_CONFIDENCE: f32 = 0.5;

/// Returns `true` for a `mailto` URL whose address has no host. A mail form (`mailto:?`) has no
/// address and does not count.
fn lacks_mailbox(full: &[u8]) -> bool {
    let scheme = scheme(full);
    scheme.eq_ignore_ascii_case(b"mailto")
        && memchr::memchr(b'@', full).is_none()
        && memchr::memmem::find(full, b"%40").is_none()
        && full
            .get(scheme.len() + 1)
            .is_some_and(|&first| first != b'?')
}

/// The readings other than the chosen one, without duplicates.
pub(super) struct Alternates<'l> {
    chosen: &'l [u8],
    pub(super) list: Vec<Alternate>,
    /// Sum of the confidence of added readings that equal the chosen one.
    pub(super) of_chosen: f32,
}

impl<'l> Alternates<'l> {
    /// Creates an empty set of alternates to `chosen`.
    pub(super) fn of(chosen: &'l [u8]) -> Alternates<'l> {
        Alternates {
            chosen,
            list: Vec::new(),
            of_chosen: 0.0,
        }
    }

    /// Returns the probability that one of these readings is right.
    pub(super) fn confidence(&self) -> f32 {
        self.list.iter().map(|other| other.confidence).sum()
    }

    /// Adds a reading. If it equals the chosen reading or an earlier one, only adds its confidence
    /// to that reading's.
    pub(super) fn add(&mut self, full: &[u8], why: AlternateReason, confidence: f32) {
        if full == self.chosen {
            self.of_chosen += confidence;
            return;
        }
        if let Some(known) = self.list.iter_mut().find(|known| known.full == full) {
            known.confidence += confidence;
            return;
        }
        let url_len = url_len(full);
        self.list.push(Alternate {
            full: full.to_vec(),
            url_len,
            why,
            confidence,
        });
    }
}
