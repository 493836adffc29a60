//! Limits that a message reached while its URLs were extracted: one event for each of them, whatever their number.

use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::limits::Limits;

/// Limit of the extraction that cuts a value or leaves a text as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExtractLimit {
    /// `url_bytes`: a record holds the beginning of its URL.
    Url,
    /// `url_bytes`: a page's `<base>` is too long to resolve links.
    Base,
    /// `field_bytes`: records hold the beginning of a header field, or of the text of a link.
    Field,
    /// `wrapper_bytes`, or its fixed value by the strict rules: a `<` is an ordinary character.
    Wrapper,
    /// `unwrap_depth`: a redirector inside others is not undone.
    Unwrap,
}

impl ExtractLimit {
    const ALL: [ExtractLimit; 5] = [
        ExtractLimit::Url,
        ExtractLimit::Base,
        ExtractLimit::Field,
        ExtractLimit::Wrapper,
        ExtractLimit::Unwrap,
    ];

    /// Returns the event's text.
    fn text(self, limits: &Limits) -> String {
        let Limits {
            url_bytes,
            field_bytes,
            wrapper_bytes,
            unwrap_depth,
            ..
        } = limits;
        match self {
            ExtractLimit::Url => format!(
                "a URL of more than {url_bytes} bytes (url_bytes): its record has its beginning, its length and its hash"
            ),
            ExtractLimit::Base => format!(
                "a <base> of more than {url_bytes} bytes (url_bytes): relative links are not resolved"
            ),
            ExtractLimit::Field => format!(
                "a header field or the text of a link has more than {field_bytes} bytes (field_bytes) or too many names: \
                 records have its beginning"
            ),
            ExtractLimit::Wrapper => format!(
                "no `>` within {wrapper_bytes} bytes after a `<` (wrapper_bytes): what follows is read as bare text"
            ),
            ExtractLimit::Unwrap => format!(
                "more than {unwrap_depth} redirectors, one inside the other (unwrap_depth): the URL inside the last one is \
                 not a record of its own"
            ),
        }
    }
}

/// The limits that a message reached so far.
#[derive(Debug, Default)]
pub(super) struct ReachedLimits {
    /// By the position of the limit in [`ExtractLimit::ALL`].
    places: [Option<Places>; ExtractLimit::ALL.len()],
}

/// The places at which one limit was reached.
#[derive(Clone, Copy, Debug)]
struct Places {
    /// Offset of the first in the source.
    first: u64,
    count: u64,
}

impl ReachedLimits {
    /// Notes that `limit` was reached at the offset `at` of the source.
    pub(super) fn note(&mut self, limit: ExtractLimit, at: u64) {
        self.places[limit as usize]
            .get_or_insert(Places {
                first: at,
                count: 0,
            })
            .count += 1;
    }

    /// Returns the events, one for each limit that was reached, at its first place.
    pub(super) fn diagnostics(&self, limits: &Limits) -> impl Iterator<Item = Diagnostic> {
        ExtractLimit::ALL
            .into_iter()
            .zip(self.places)
            .filter_map(|(limit, places)| {
                let Places { first, count } = places?;
                let mut text = limit.text(limits);
                if count > 1 {
                    text += &format!("; {} more in this message", count - 1);
                }
                Some(Diagnostic::at(DiagnosticKind::Limit, first, text))
            })
    }
}
