//! Decides whether a line break belongs to a bare URL: whether the next line continues it.
//!
//! Each [`Feature`] of the line break has a weight in points, and the sum gives the confidence. Where the URL ends, and
//! what is trimmed from the continuation, is left to `parse`.

mod feature_extraction;
mod features;
mod line_break;
mod line_prefix;
mod line_width;
mod token;
mod url_head;

pub use features::{Feature, Features};

#[cfg(test)]
mod tests;

use crate::limits::{CONTINUATION_BYTES, CONTINUATION_LINES};
use crate::span::Span;

use line_break::LineBreak;

/// A possible continuation of a bare URL over one line break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Continuation {
    /// The range of the text to append to the URL: the token of the next line, not trimmed. Never empty.
    pub(super) token: Span,
    /// Number of bytes to remove from the end of the URL first: 1 for a `=` or `\` left over from another encoding, else 0.
    pub(super) dropped: usize,
    /// `true` if quote marks were skipped before the token.
    pub(super) quoted: bool,
    /// `true` if only blanks follow the token on its line. If not, this is the last continuation.
    pub(super) whole_line: bool,
    /// The features for and against the continuation.
    pub(super) features: Features,
}

impl Continuation {
    /// The sum of the features' weights. At [`LIKELY`] or above, the continuation is more likely right than wrong.
    pub(super) fn points(&self) -> f32 {
        self.features.points()
    }

    /// The probability, from 0 to 1, that the URL continues over this line break, given that it does over those before.
    pub(super) fn confidence(&self) -> f32 {
        1.0 / (1.0 + (-STEEPNESS * self.points()).exp())
    }
}

/// Number of points from which a continuation is accepted: it is more likely right than wrong.
pub(super) const LIKELY: f32 = 0.0;

/// Number of points from which a continuation is reported as an alternate. At this value, one in seven or eight is right.
const POSSIBLE: f32 = -1.5;

/// Slope of the logistic function from points to confidence. Fitted, like the weights, on the labelled line breaks.
const STEEPNESS: f32 = 1.25;

/// Returns the possible continuations of the bare URL `head` in `text`, line by line.
///
/// `head` is the first run of characters of the URL, from its scheme on. All continuations except the last are likely; the
/// last may be merely possible, with fewer than [`LIKELY`] points. There are none if text other than blanks follows `head`
/// on its line, or if no `//` follows its scheme.
///
/// Reads about twenty lines on each side of each line break, and a bounded number of bytes in total.
pub(super) fn continuations(text: &[u8], head: Span) -> Vec<Continuation> {
    let mut found = Vec::new();
    let mut next = LineBreak::after(text, head);
    let mut url = if next.is_some() {
        head.of(text).to_vec()
    } else {
        Vec::new()
    };
    while let Some(line_break) = next
        && let Some(continuation) = feature_extraction::evaluate(&line_break, &url)
    {
        found.push(continuation);
        url.truncate(url.len() - continuation.dropped);
        url.extend_from_slice(continuation.token.of(text));
        let may_continue = continuation.points() >= LIKELY && continuation.whole_line;
        let has_room = found.len() < CONTINUATION_LINES && url.len() <= CONTINUATION_BYTES;
        next = if may_continue && has_room {
            line_break.next()
        } else {
            None
        };
    }
    found
}
