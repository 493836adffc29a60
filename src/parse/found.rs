//! A URL that was found, and other readings of its bytes.

use super::verdict::Verdicts;
use crate::repair::RepairSet;
use crate::scan::Opening;
use crate::span::Span;

/// How a record's URL was set off from the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrapper {
    /// `<URL:...>`
    UrlBracket,
    /// `<...>`
    Angle,
    /// `URL:...`
    UrlPrefix,
    /// Nothing.
    Bare,
    /// An HTML attribute.
    Attr,
    /// Nothing, and no scheme either.
    Schemeless,
}

impl Wrapper {
    /// The name that stands in a record's `wrapper`.
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

    /// All wrappers, for the schema and the balance sheet.
    pub const ALL: [Wrapper; 6] = [
        Wrapper::UrlBracket,
        Wrapper::Angle,
        Wrapper::UrlPrefix,
        Wrapper::Bare,
        Wrapper::Attr,
        Wrapper::Schemeless,
    ];
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

/// AlternateReason there is another reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AlternateReason {
    /// Hyphens before line breaks are left out.
    HyphenDropped,
    /// Punctuation that came off the end is left on.
    TrimmedTail,
    /// The next line is joined.
    BareContinuation,
    /// The next line is not joined.
    HeadOnly,
}

impl AlternateReason {
    /// The name that stands in an alternate's `why`.
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

/// Another reading of the same place.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternate {
    /// The URL and, behind `url_len` bytes, its fragment with the `#`.
    pub full: Vec<u8>,
    /// Bytes of the URL without its fragment.
    pub url_len: usize,
    /// AlternateReason.
    pub why: AlternateReason,
    /// How likely this reading is, from 0 to 1.
    pub confidence: f32,
}

/// What a URL beyond the limit was before it was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlTruncation {
    /// Its bytes, fragment included.
    pub full_length: usize,
    /// XXH3 (128 bits) of them.
    pub full_hash: u128,
}

/// A URL that was found.
#[derive(Debug)]
pub struct FoundUrl<'l> {
    /// How it was set off.
    pub wrapper: Wrapper,
    /// The URL and, behind `url_len` bytes, its fragment with the `#`.
    pub full: &'l [u8],
    /// Bytes of the URL without its fragment.
    pub url_len: usize,
    /// The bytes of the text from its first to its last character, before repair.
    pub raw: Span,
    /// What was undone.
    pub repairs: RepairSet,
    /// Other readings, all different from this and from one another, the likeliest first.
    pub alternates: &'l [Alternate],
    /// How likely this reading is, from 0 to 1.
    pub confidence: f32,
    /// What the three grammars say; nothing where it was truncated.
    pub verdicts: Option<&'l Verdicts<'l>>,
    /// What it was before it was cut.
    pub truncated: Option<UrlTruncation>,
}

impl<'l> FoundUrl<'l> {
    /// The URL without its fragment.
    #[must_use]
    pub fn url(&self) -> &'l [u8] {
        &self.full[..self.url_len]
    }

    /// The fragment without its `#`; empty if nothing follows that, absent without it.
    #[must_use]
    pub fn fragment(&self) -> Option<&'l [u8]> {
        self.full.get(self.url_len + 1..)
    }
}
