//! An accepted URL on its way to the sink.

use twox_hash::XxHash3_128;

use super::found::{Alternate, FoundUrl, UrlTruncation, Wrapper};
use super::verdict::Verdicts;
use crate::repair::RepairSet;
use crate::span::Span;

/// An accepted URL with everything that does not depend on the choice among readings.
pub(super) struct AcceptedUrl<'l> {
    /// The URL with its fragment.
    pub(super) full: &'l [u8],
    pub(super) wrapper: Wrapper,
    /// The bytes of the text that it was read from.
    pub(super) raw: Span,
    /// Maximum number of bytes that are kept.
    pub(super) url_bytes: usize,
    /// The verdicts on `full`; `None` if it is longer than `url_bytes`.
    pub(super) verdicts: Option<Verdicts<'l>>,
}

/// The result of the choice among the readings of a candidate.
pub(super) struct ReadingChoice<'a> {
    pub(super) repairs: RepairSet,
    pub(super) alternates: &'a [Alternate],
    pub(super) confidence: f32,
}

impl AcceptedUrl<'_> {
    /// Truncates the URL at the limit and passes it to `sink`.
    pub(super) fn emit(&self, choice: &ReadingChoice<'_>, sink: &mut dyn FnMut(&FoundUrl<'_>)) {
        let url_len = memchr::memchr(b'#', self.full).unwrap_or(self.full.len());
        let kept = self.full.len().min(self.url_bytes);
        let truncated = (kept < self.full.len()).then(|| UrlTruncation {
            full_length: self.full.len(),
            full_hash: XxHash3_128::oneshot(self.full),
        });
        sink(&FoundUrl {
            wrapper: self.wrapper,
            full: &self.full[..kept],
            url_len: url_len.min(kept),
            raw: self.raw,
            repairs: choice.repairs,
            alternates: choice.alternates,
            confidence: choice.confidence,
            verdicts: self.verdicts.as_ref(),
            truncated,
        });
    }
}
