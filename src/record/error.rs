//! A reject of RFC 1738 as a record's `error`.

use serde::Serialize;

use crate::grammar::Reject;

/// The `error` of a record: the reason why RFC 1738 rejects its URL.
#[derive(Serialize)]
pub(super) struct GrammarErrorJson {
    offset: usize,
    part: &'static str,
    kind: &'static str,
    message: String,
}

impl From<Reject> for GrammarErrorJson {
    fn from(reject: Reject) -> GrammarErrorJson {
        GrammarErrorJson {
            offset: reject.offset,
            part: reject.part.name(),
            kind: reject.kind.name(),
            message: reject.to_string(),
        }
    }
}
