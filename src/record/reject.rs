//! A record of type `reject`.

use std::borrow::Cow;

use serde::Serialize;

use super::error::ErrorLine;
use super::line::line_to;
use super::location::PlaceLine;
use super::parts::text;
use crate::parse::RejectReason;

/// A record of type `reject`.
#[derive(Serialize)]
struct RejectLine<'r> {
    r#type: &'static str,
    text: Cow<'r, str>,
    reason: ReasonLine,
    source: PlaceLine<'r>,
}

#[derive(Serialize)]
struct ReasonLine {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorLine>,
}

/// Appends a refused candidate and a line end.
pub fn write_reject(
    octets: &[u8],
    reason: RejectReason,
    place: &super::RecordOrigin<'_>,
    out: &mut Vec<u8>,
) {
    let error = match reason {
        RejectReason::Grammar(reject) => Some(ErrorLine::from(reject)),
        _ => None,
    };
    let place = PlaceLine::new(place.source, Some(place.start), Some(place.end));
    let reason = ReasonLine {
        kind: reason.name(),
        error,
    };
    line_to(
        out,
        &RejectLine {
            r#type: "reject",
            text: text(octets),
            reason,
            source: place,
        },
    );
}
