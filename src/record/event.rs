//! A record of type `event`: a diagnostic and its source.

use std::borrow::Cow;

use serde::Serialize;

use super::json_text::text;
use super::line::append_json_line;
use super::location::LocationJson;
use crate::diagnostic::Event;

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
