//! Decides whether a line break belongs to a bare URL: whether the next line continues it.
//!
//! Each [`Feature`] of the line break has a weight in points, and the sum gives the confidence.
//! The end of the URL, and the trimming of the continuation, are left to `parse`.

mod features;
mod line_break;
mod line_layout;
mod token;
mod url_head;

pub use features::{Feature, Features};
pub use token::is_frequent_word;

#[cfg(test)]
mod tests;

use super::LineBreakPolicy;
use super::elsewhere::Elsewhere;
use crate::limits::{CONTINUATION_BYTES, CONTINUATION_LINES};
use crate::scan::guessed_scheme;
use crate::span::Span;

use line_break::LineBreak;
use token::ContinuationToken;

/// A possible continuation of a bare URL over one line break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Continuation {
    /// The range of the text to append to the URL: the token of the next line, not trimmed. Never
    /// empty.
    pub(super) token: Span,
    /// Number of bytes to remove from the end of the URL first: 1 for a `=` or `\` left over from
    /// another encoding, 2 for a soft hyphen, else 0.
    pub(super) dropped: usize,
    /// `true` if a hyphen stood between the URL and the token, which a program removed.
    pub(super) lost_hyphen: bool,
    /// `true` if quote marks were skipped before the token.
    pub(super) quoted: bool,
    /// `true` if only blanks follow the token on its line. If not, this is the last continuation.
    pub(super) whole_line: bool,
    /// The features for and against the continuation.
    pub(super) features: Features,
}

impl Continuation {
    /// The sum of the features' weights. At [`LIKELY_POINTS`] or above, the continuation is part of
    /// the URL.
    pub(super) fn points(&self) -> f32 {
        self.features.points()
    }

    /// The probability, from 0 to 1, that the URL continues over this line break, given that it
    /// does over those before.
    pub(super) fn confidence(&self) -> f32 {
        self.features.confidence()
    }
}

/// A line break after a bare URL, and the evidence about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineBreakEvidence {
    /// The range of the text that the next line would add to the URL.
    pub token: Span,
    /// Number of bytes to remove from the end of the URL first.
    pub dropped: usize,
    /// The features for and against the continuation.
    pub features: Features,
}

/// Minimum confidence at which a bare URL is joined over a line end: of all joins from it on, more
/// than 19 in 20 are right on archives on which the confidence was not fitted (`docs/evidence/joins.md`).
pub const JOIN_CONFIDENCE: f32 = 0.7;

/// Minimum number of points of a likely continuation, after which further lines are read: the
/// fewest points whose confidence is at least [`JOIN_CONFIDENCE`]. They are 0.73; a test compares
/// both. Points are multiples of a quarter.
const LIKELY_POINTS: f32 = 1.0;

/// Number of points from which a continuation is reported as an alternate, a confidence of 0.05.
const POSSIBLE_POINTS: f32 = -3.0;

/// Returns the possible continuations of the bare URL `head` in `text`, line by line.
///
/// `head` is the first run of characters of the URL, from its scheme or host on. All continuations except
/// the last are likely; the last may be merely possible, with fewer than [`LIKELY_POINTS`] points.
/// There are none if text other than blanks follows `head` on its line, or if it has a scheme that
/// no `//` follows. With [`LineBreakPolicy::JoinWhole`] there are only those of URLs that occur whole
/// elsewhere.
///
/// Reads about twenty lines on each side of each line break, and a bounded number of bytes in
/// total.
pub(super) fn continuations(
    text: &[u8],
    head: Span,
    breaks: LineBreakPolicy,
    elsewhere: Option<&dyn Elsewhere>,
) -> Vec<Continuation> {
    let mut found = Vec::new();
    let mut next = LineBreak::after(text, head);
    let mut url = if next.is_some() {
        with_scheme(head.of(text))
    } else {
        Vec::new()
    };
    while let Some(line_break) = next
        && let Some(continuation) =
            features::evaluate(&line_break, &url, elsewhere, POSSIBLE_POINTS)
        && (breaks == LineBreakPolicy::Join || continuation.features.has_whole())
    {
        found.push(continuation);
        url.truncate(url.len() - continuation.dropped);
        if continuation.lost_hyphen {
            url.push(b'-');
        }
        url.extend_from_slice(continuation.token.of(text));
        let may_continue = continuation.points() >= LIKELY_POINTS && continuation.whole_line;
        let has_room = found.len() < CONTINUATION_LINES && url.len() <= CONTINUATION_BYTES;
        next = if may_continue && has_room {
            line_break.next()
        } else {
            None
        };
    }
    found
}

/// Returns `true` if a word begins another URL or host, also a defanged one, or the property of a
/// calendar.
pub(super) fn begins_other_url(word: &[u8]) -> bool {
    ContinuationToken::new(word).is_some_and(|token| {
        token.begins_url() || token.defanged_delimiter().is_some() || token.is_property()
    })
}

/// The beginning of a URL, with the scheme that is guessed for it if it has none.
fn with_scheme(head: &[u8]) -> Vec<u8> {
    match guessed_scheme(head) {
        Some(scheme) => [scheme.as_bytes(), b"://", head].concat(),
        None => head.to_vec(),
    }
}

/// Returns the evidence for each line break after the bare URL `head`, however weak it is: up to
/// the first line break over which no URL can go, or after which other text follows the token.
///
/// Labelled line breaks are turned into weights and tables with it (`docs/evidence/joins.md`); extraction
/// does not use it. Cost and bounds are those of extraction.
#[must_use]
pub fn line_break_evidence(text: &[u8], head: Span) -> Vec<LineBreakEvidence> {
    let mut found = Vec::new();
    let mut next = LineBreak::after(text, head);
    let mut url = with_scheme(head.of(text));
    while let Some(line_break) = next
        && let Some(step) = features::evaluate(&line_break, &url, None, f32::NEG_INFINITY)
    {
        found.push(LineBreakEvidence {
            token: step.token,
            dropped: step.dropped,
            features: step.features,
        });
        url.truncate(url.len() - step.dropped);
        url.extend_from_slice(step.token.of(text));
        let has_room = found.len() < CONTINUATION_LINES && url.len() <= CONTINUATION_BYTES;
        next = line_break.next().filter(|_| step.whole_line && has_room);
    }
    found
}
