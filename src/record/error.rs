//! A reject of RFC 1738 as a record has it.

use serde::Serialize;

use crate::grammar::Reject;

/// Why RFC 1738 refuses a URL.
#[derive(Serialize)]
pub(super) struct ErrorLine {
    offset: usize,
    part: &'static str,
    kind: &'static str,
    message: String,
}

impl From<Reject> for ErrorLine {
    fn from(reject: Reject) -> ErrorLine {
        ErrorLine {
            offset: reject.offset,
            part: reject.part.name(),
            kind: reject.kind.name(),
            message: reject.to_string(),
        }
    }
}
