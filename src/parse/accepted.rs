//! A URL on its way to the sink.

use twox_hash::XxHash3_128;

use super::found::{Alternate, FoundUrl, UrlTruncation, Wrapper};
use super::verdict::Verdicts;
use crate::repair::RepairSet;
use crate::span::Span;

/// A URL on its way to the sink.
pub(super) struct AcceptedUrl<'l> {
    /// With its fragment.
    pub(super) full: &'l [u8],
    pub(super) wrapper: Wrapper,
    pub(super) raw: Span,
    /// Bytes that are kept.
    pub(super) url_bytes: usize,
    /// What the grammars say of `full`; nothing where it is beyond the limit.
    pub(super) verdicts: Option<Verdicts<'l>>,
}

impl AcceptedUrl<'_> {
    /// Cuts it at the limit and gives it.
    pub(super) fn give(
        &self,
        repairs: RepairSet,
        alternates: &[Alternate],
        confidence: f32,
        sink: &mut dyn FnMut(&FoundUrl<'_>),
    ) {
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
            repairs,
            alternates,
            confidence,
            verdicts: self.verdicts.as_ref(),
            truncated,
        });
    }
}
