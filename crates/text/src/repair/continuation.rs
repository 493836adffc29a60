//! Decides whether the line after a bare URL continues it.
//!
//! Each [`Feature`] of the line break has a weight in points, and the sum determines the
//! confidence. `parse` finds the end of the URL and trims the continuation.

mod features;
mod line_break;
mod line_layout;
mod token;
mod url_head;

pub use features::{Feature, Features};

#[cfg(test)]
mod tests;

use super::LineBreakPolicy;
use super::elsewhere::Elsewhere;
use crate::byte_scan::prefix_len;
use crate::limits::{CONTINUATION_BYTES, CONTINUATION_LINES};
use crate::scan::guessed_scheme;
use crate::span::Span;

use line_break::LineBreak;
use token::ContinuationToken;

/// A possible continuation of a bare URL over one line break, and the evidence about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Continuation {
    /// The range of the text to append to the URL: the untrimmed token of the next line. Never
    /// empty.
    pub token: Span,
    /// Number of bytes to remove from the end of the URL first: 1 for a `=` or `\` left over from
    /// another encoding, 2 for a soft hyphen, otherwise 0.
    pub dropped: usize,
    /// `true` if a program removed a hyphen between the URL and the token.
    pub(super) lost_hyphen: bool,
    /// `true` if quote marks were skipped before the token.
    pub(super) quoted: bool,
    /// `true` if only blanks follow the token on the line. Otherwise, this is the last
    /// continuation.
    pub(super) whole_line: bool,
    /// The features for and against the continuation. One with at least `LIKELY_POINTS` is part
    /// of the URL.
    pub features: Features,
}

/// Minimum confidence for joining a bare URL over a line end. Of all joins at this confidence or
/// above, more than 19 in 20 are right in archives that were not used to fit the confidence
/// (`docs/evidence/joins.md`).
pub const JOIN_CONFIDENCE: f32 = 0.7;

/// Minimum number of points of a likely continuation, after which further lines are read. The value
/// is the smallest multiple of a quarter whose confidence (here 0.73) is at least
/// [`JOIN_CONFIDENCE`]; a test compares both.
const LIKELY_POINTS: f32 = 1.0;

/// Minimum number of points to report a continuation as an alternate: a confidence of 0.05.
const POSSIBLE_POINTS: f32 = -3.0;

/// Returns the possible continuations of the bare URL `head` in `text`, line by line.
///
/// `head` is the first run of characters of the URL, starting at the scheme or host. All
/// continuations except the last are likely. The last one may be merely possible, with fewer than
/// `LIKELY_POINTS` points. The result is empty if text other than blanks follows `head` on its
/// line, or if `head` has a scheme without `//`. [`LineBreakPolicy::JoinWhole`] keeps only
/// continuations whose URL occurs whole elsewhere.
///
/// Reads about twenty lines on each side of each line break. The total number of bytes is bounded.
pub(super) fn continuations(
    text: &[u8],
    head: Span,
    breaks: LineBreakPolicy,
    elsewhere: Option<&dyn Elsewhere>,
) -> Vec<Continuation> {
    let is_likely = |step: &Continuation| LIKELY_POINTS <= step.features.points();
    let mut found = follow(text, head, elsewhere, POSSIBLE_POINTS, is_likely);
    if breaks == LineBreakPolicy::JoinWhole {
        found.truncate(prefix_len(&found, |step| step.features.has_whole()));
    }
    found
}

/// Returns the continuations with at least `least_points`, up to the first one at which
/// the URL ends by `goes_on`.
fn follow(
    text: &[u8],
    head: Span,
    elsewhere: Option<&dyn Elsewhere>,
    least_points: f32,
    goes_on: impl Fn(&Continuation) -> bool,
) -> Vec<Continuation> {
    let mut found = Vec::new();
    let Some(first) = LineBreak::after(text, head) else {
        return found;
    };
    let mut url = with_scheme(head.of(text));
    let mut next = Some(first);
    while let Some(line_break) = next
        && let Some(step) = features::evaluate(&line_break, &url, elsewhere, least_points)
    {
        url.truncate(url.len() - step.dropped);
        if step.lost_hyphen {
            url.push(b'-');
        }
        url.extend_from_slice(step.token.of(text));
        found.push(step);
        let has_room = found.len() < CONTINUATION_LINES && url.len() <= CONTINUATION_BYTES;
        let goes_on = has_room && step.whole_line && goes_on(&step);
        next = if goes_on { line_break.next() } else { None };
    }
    found
}

/// Returns `true` if `word` starts another URL.
pub(super) fn starts_other_url(word: &[u8]) -> bool {
    ContinuationToken::new(word).is_some_and(|token| token.starts_url())
}

/// The start of a URL, with a guessed scheme if it has none.
fn with_scheme(head: &[u8]) -> Vec<u8> {
    match guessed_scheme(head) {
        Some(scheme) => [scheme.as_bytes(), b"://", head].concat(),
        None => head.to_vec(),
    }
}

/// Returns the evidence for each line break after the bare URL `head`, however weak. Stops at the
/// first line break that no URL can cross, or after a token that other text follows.
///
/// The weights and tables are computed from labelled line breaks with this function
/// (`docs/evidence/joins.md`); extraction does not use it. It has the cost and bounds of
/// extraction.
#[must_use]
pub fn line_break_evidence(text: &[u8], head: Span) -> Vec<Continuation> {
    follow(text, head, None, f32::NEG_INFINITY, |_| true)
}
