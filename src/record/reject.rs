//! A record of type `reject`: a candidate that is no URL.

use std::borrow::Cow;

use serde::Serialize;

use super::RecordOrigin;
use super::error::GrammarErrorJson;
use super::json_text::text;
use super::line::append_json_line;
use super::location::LocationJson;
use crate::parse::RejectReason;

/// A record of type `reject`.
#[derive(Serialize)]
struct RejectJson<'r> {
    r#type: &'static str,
    text: Cow<'r, str>,
    reason: ReasonJson,
    source: LocationJson<'r>,
}

#[derive(Serialize)]
struct ReasonJson {
    kind: &'static str,
    error: Option<GrammarErrorJson>,
}

impl From<RejectReason> for ReasonJson {
    fn from(reason: RejectReason) -> ReasonJson {
        let error = match reason {
            RejectReason::Grammar(reject) => Some(reject.into()),
            _ => None,
        };
        ReasonJson {
            kind: reason.name(),
            error,
        }
    }
}

/// Appends a rejected candidate, whose text is `candidate`, as one line.
pub fn write_reject(
    candidate: &[u8],
    reason: RejectReason,
    origin: &RecordOrigin<'_>,
    out: &mut Vec<u8>,
) {
    let record = RejectJson {
        r#type: "reject",
        text: text(candidate),
        reason: reason.into(),
        source: LocationJson::of(origin.source, Some(origin.start), Some(origin.end)),
    };
    append_json_line(out, &record);
}
