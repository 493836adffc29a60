//! Other readings of a URL as a record's `alternates`.

use std::borrow::Cow;

use serde::Serialize;

use super::json_text::text;
use crate::parse::Alternate;

/// An element of `alternates`.
#[derive(Serialize)]
pub(super) struct AlternateJson<'r> {
    url: Cow<'r, str>,
    fragment: Option<Cow<'r, str>>,
    why: &'static str,
    confidence: f64,
}

impl<'r> From<&'r Alternate> for AlternateJson<'r> {
    fn from(alternate: &'r Alternate) -> AlternateJson<'r> {
        AlternateJson {
            url: text(&alternate.full[..alternate.url_len]),
            fragment: alternate.full.get(alternate.url_len + 1..).map(text),
            why: alternate.why.name(),
            confidence: rounded(alternate.confidence),
        }
    }
}

/// Rounds a confidence to three digits, so that it is written alike on all machines.
pub(super) fn rounded(confidence: f32) -> f64 {
    (f64::from(confidence) * 1000.0).round() / 1000.0
}
