//! A URL that was found, and other readings of its bytes.

use super::verdict::Verdicts;
use crate::repair::RepairSet;
use crate::scan::Opening;
use crate::span::Span;

/// A URL that was found.
#[derive(Debug)]
pub struct FoundUrl<'l> {
    /// The delimiters around it.
    pub wrapper: Wrapper,
    /// The URL and, after `url_len` bytes, its fragment with the `#`.
    pub full: &'l [u8],
    /// Length in bytes of the URL without its fragment.
    pub url_len: usize,
    /// The bytes of the text from its first to its last character, before repair.
    pub raw: Span,
    /// The repairs that were needed to read it.
    pub repairs: RepairSet,
    /// Other readings, all different from this and from one another, the likeliest first.
    pub alternates: &'l [Alternate],
    /// Probability that this reading is the intended one, from 0 to 1.
    pub confidence: f32,
    /// The verdicts of the three grammars; `None` if it was truncated.
    pub verdicts: Option<&'l Verdicts<'l>>,
    /// Length and hash of the whole URL, if `full` was truncated.
    pub truncated: Option<UrlTruncation>,
}

impl<'l> FoundUrl<'l> {
    /// Returns the URL without its fragment.
    #[must_use]
    pub fn url(&self) -> &'l [u8] {
        &self.full[..self.url_len]
    }

    /// Returns the fragment without its `#`: `None` without a `#`, empty if nothing follows it.
    #[must_use]
    pub fn fragment(&self) -> Option<&'l [u8]> {
        self.full.get(self.url_len + 1..)
    }
}

/// Delimiters that set a URL off from the text around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrapper {
    /// `<URL:...>`
    UrlBracket,
    /// `<...>`
    Angle,
    /// `URL:...`
    UrlPrefix,
    /// No delimiters.
    Bare,
    /// An HTML attribute.
    Attr,
    /// No delimiters and no scheme.
    Schemeless,
}

impl Wrapper {
    /// All wrappers, in the order of their declaration.
    pub const ALL: [Wrapper; 6] = [
        Wrapper::UrlBracket,
        Wrapper::Angle,
        Wrapper::UrlPrefix,
        Wrapper::Bare,
        Wrapper::Attr,
        Wrapper::Schemeless,
    ];

    /// Returns the name that a record's `wrapper` has.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Wrapper::UrlBracket => "<URL:>",
            Wrapper::Angle => "<>",
            Wrapper::UrlPrefix => "URL:",
            Wrapper::Bare => "bare",
            Wrapper::Attr => "attr",
            Wrapper::Schemeless => "schemeless",
        }
    }
}

impl From<Opening> for Wrapper {
    fn from(opening: Opening) -> Wrapper {
        match opening {
            Opening::UrlBracket => Wrapper::UrlBracket,
            Opening::Angle => Wrapper::Angle,
            Opening::UrlPrefix => Wrapper::UrlPrefix,
            Opening::Bare => Wrapper::Bare,
            Opening::Schemeless(_) => Wrapper::Schemeless,
        }
    }
}

/// Another reading of the same bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternate {
    /// The URL and, after `url_len` bytes, its fragment with the `#`.
    pub full: Vec<u8>,
    /// Length in bytes of the URL without its fragment.
    pub url_len: usize,
    /// The difference from the chosen reading.
    pub why: AlternateReason,
    /// Probability that this reading is the intended one, from 0 to 1.
    pub confidence: f32,
}

/// Difference between an alternate and the chosen reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AlternateReason {
    /// Hyphens before line breaks are dropped.
    HyphenDropped,
    /// Punctuation that was trimmed off the end is kept.
    TrimmedTail,
    /// The next line is joined.
    BareContinuation,
    /// The next line is not joined.
    HeadOnly,
}

impl AlternateReason {
    /// All reasons, in the order of their declaration.
    pub const ALL: [AlternateReason; 4] = [
        AlternateReason::HyphenDropped,
        AlternateReason::TrimmedTail,
        AlternateReason::BareContinuation,
        AlternateReason::HeadOnly,
    ];

    /// Returns the name that an alternate's `why` has.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            AlternateReason::HyphenDropped => "hyphen-dropped",
            AlternateReason::TrimmedTail => "trimmed-tail",
            AlternateReason::BareContinuation => "bare-continuation",
            AlternateReason::HeadOnly => "head-only",
        }
    }
}

/// Length and hash of a URL that was longer than the limit, before truncation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlTruncation {
    /// Length in bytes, fragment included.
    pub full_length: usize,
    /// XXH3 (128 bits) of these bytes.
    pub full_hash: u128,
}
