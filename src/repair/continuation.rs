//! Whether a bare URL goes on in the next line: the evidence for and against, added up.
//!
//! Each piece of evidence has a weight in points, and their sum gives the confidence. The weights were fitted on 310
//! labelled windows and about 500 labelled breaks of real archives; held out by host, 97 % of the joins were right.
//! Where the URL ends, and what its continuation is trimmed of, is left to `parse`.

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

/// A line break over which a bare URL may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Continuation {
    /// The bytes of the text that are appended to the URL: the next line's token, not trimmed. Never empty.
    pub(super) token: Span,
    /// Bytes that come off the URL's end before that: 1 where a `=` or `\` was left over from another encoding.
    pub(super) dropped: usize,
    /// Whether quote marks were undone before the token.
    pub(super) quoted: bool,
    /// Whether the token reaches the end of its line, blanks aside. If not, no step follows.
    pub(super) whole_line: bool,
    /// Why the URL may go on, and why not.
    pub(super) features: Features,
}

impl Continuation {
    /// The sum of the evidence. From [`LIKELY`] on the break is more likely to be undone rightly than not.
    pub(super) fn points(&self) -> f32 {
        self.features.points()
    }

    /// How likely it is that the URL goes on over this break, given that it does over those before: from 0 to 1.
    pub(super) fn confidence(&self) -> f32 {
        1.0 / (1.0 + (-STEEPNESS * self.points()).exp())
    }
}

/// Points from which a continuation is taken: it is likelier than not.
pub(super) const LIKELY: f32 = 0.0;

/// Points from which a continuation is shown as another reading. Of those at this mark one in seven or eight is one.
const POSSIBLE: f32 = -1.5;

/// How fast confidence grows with points. Fitted, like the weights, on the labelled breaks.
const STEEPNESS: f32 = 1.25;

/// The line breaks over which the bare URL `head` of `text` may go on.
///
/// `head`, which lies within `text`, is the URL's first run of characters, from its scheme on. The steps are those
/// from its line on, as far as each before is likelier than not; the last one may be merely possible, less than
/// [`LIKELY`]. None is given for a head that does not reach the end of its line, blanks aside, or that has no `//`
/// behind its scheme.
///
/// Looks at no more than some twenty lines around each break, and at a bounded number of bytes in all.
pub(super) fn continuations(text: &[u8], head: Span) -> Vec<Continuation> {
    let mut steps = Vec::new();
    let mut next = LineBreak::behind(text, head);
    let mut url = if next.is_some() {
        head.of(text).to_vec()
    } else {
        Vec::new()
    };
    while let Some(seam) = next
        && let Some(step) = feature_extraction::weigh(&seam, &url)
    {
        steps.push(step);
        url.truncate(url.len() - step.dropped);
        url.extend_from_slice(step.token.of(text));
        let goes_on = step.points() >= LIKELY && step.whole_line;
        let room = steps.len() < CONTINUATION_LINES && url.len() <= CONTINUATION_BYTES;
        next = if goes_on && room { seam.next() } else { None };
    }
    steps
}
