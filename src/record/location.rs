//! A location in a source, as the `source` of rejects and events.

use std::borrow::Cow;

use data_encoding::BASE64;
use serde::Serialize;

use super::json_text::{is_lossless, text};
use crate::origin::Source;

/// The `source` of a reject or an event.
#[derive(Serialize)]
pub(super) struct LocationJson<'r> {
    path: Cow<'r, str>,
    path_b64: Option<String>,
    member: Option<Vec<Cow<'r, str>>>,
    member_b64: Option<Vec<String>>,
    start: Option<u64>,
    end: Option<u64>,
}

impl LocationJson<'_> {
    pub(super) fn of(source: &Source, start: Option<u64>, end: Option<u64>) -> LocationJson<'_> {
        let path = source.path.as_os_str().as_encoded_bytes();
        let member = MemberJson::of(source);
        LocationJson {
            path: text(path),
            path_b64: base64_unless_utf8(path),
            member: member.names,
            member_b64: member.base64,
            start,
            end,
        }
    }
}

/// The names of the members that a source lies in, from the outermost archive inwards.
pub(super) struct MemberJson<'r> {
    /// The names as text; `None` outside archives.
    pub(super) names: Option<Vec<Cow<'r, str>>>,
    /// The names in base64, if one of them is not UTF-8 or holds a NUL.
    pub(super) base64: Option<Vec<String>>,
}

impl MemberJson<'_> {
    pub(super) fn of(source: &Source) -> MemberJson<'_> {
        let names = source.member();
        let is_lossy = !names.iter().all(|name| is_lossless(name));
        MemberJson {
            names: (!names.is_empty()).then(|| names.iter().map(|name| text(name)).collect()),
            base64: is_lossy.then(|| names.iter().map(|name| BASE64.encode(name)).collect()),
        }
    }
}

/// Returns the bytes in base64, if they are not UTF-8.
pub(super) fn base64_unless_utf8(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes)
        .is_err()
        .then(|| BASE64.encode(bytes))
}
