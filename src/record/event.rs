//! A record of type `event`.

use serde::Serialize;

use super::line::line_to;
use super::location::PlaceLine;
use crate::diagnostic::Event;

/// A record of type `event`.
#[derive(Serialize)]
struct EventLine<'r> {
    r#type: &'static str,
    kind: &'static str,
    source: PlaceLine<'r>,
    message: &'r str,
}

/// Appends an event and a line end.
pub fn write_event(event: &Event, out: &mut Vec<u8>) {
    let place = PlaceLine::new(&event.source, event.diagnostic.offset, None);
    let message = &event.diagnostic.message;
    line_to(
        out,
        &EventLine {
            r#type: "event",
            kind: event.diagnostic.kind.name(),
            source: place,
            message,
        },
    );
}
