//! Lines beside records: rejects, events, and messages that are gone.

use std::borrow::Cow;

use data_encoding::BASE64;
use serde::Serialize;

use super::RecordOrigin;
use super::json_text::{append_json_line, is_lossless, text};
use crate::diagnostic::Event;
use crate::grammar::Reject;
use crate::origin::Source;
use crate::parse::RejectReason;

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

/// A record of type `event`.
#[derive(Serialize)]
struct EventJson<'r> {
    r#type: &'static str,
    kind: &'static str,
    source: LocationJson<'r>,
    message: Cow<'r, str>,
}

/// Appends an event as one line.
pub fn write_event(event: &Event, out: &mut Vec<u8>) {
    let record = EventJson {
        r#type: "event",
        kind: event.diagnostic.kind.name(),
        source: LocationJson::of(&event.source, event.diagnostic.offset, None),
        message: text(event.diagnostic.message.as_bytes()),
    };
    append_json_line(out, &record);
}

/// A record of type `gone`.
#[derive(Serialize)]
struct GoneJson<'r> {
    r#type: &'static str,
    mailbox: Cow<'r, str>,
    mailbox_b64: Option<String>,
    digests: Vec<String>,
}

/// Appends a message that is gone from `mailbox` as one line. `digests` are all digests under which its records were written.
pub fn write_gone(mailbox: &[u8], digests: &[u128], out: &mut Vec<u8>) {
    let hex = |digest: &u128| data_encoding::HEXLOWER.encode(&digest.to_be_bytes());
    let record = GoneJson {
        r#type: "gone",
        mailbox: text(mailbox),
        mailbox_b64: base64_unless_utf8(mailbox),
        digests: digests.iter().map(hex).collect(),
    };
    append_json_line(out, &record);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{RecordLine, is_written_line, read_record_line};

    #[test]
    fn a_gone_line_is_read_back() {
        let mut line = Vec::new();
        write_gone(b"/m/\"a\"\xFF", &[1, u128::MAX], &mut line);
        assert!(is_written_line(&line));
        let Ok(RecordLine::Gone(gone)) = read_record_line(&line) else {
            panic!("{line:?}")
        };
        assert_eq!(&*gone.mailbox, "/m/\"a\"\u{FFFD}");
        assert_eq!(gone.mailbox_b64.as_deref(), Some("L20vImEi/w=="));
        assert_eq!(
            gone.digests.iter().map(|text| &**text).collect::<Vec<_>>(),
            [&format!("{:032x}", 1)[..], &"f".repeat(32)]
        );
    }
}
