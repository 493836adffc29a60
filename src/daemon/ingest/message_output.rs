//! Extraction of one message: its records, encoded for the segment, and its events.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::outcome::EndCertainty;
use crate::daemon::store::GrowingMessage;
use crate::diagnostic::{Diagnostic, DiagnosticKind, Event};
use crate::extract::{Extractor, Finding, extract};
use crate::origin::Source;
use crate::record::{self, MessageTail, RecordWriter};
use crate::split::Message;

/// Encoded records of a message, and its events.
#[derive(Default)]
pub(super) struct MessageOutput {
    /// Lines of JSON.
    pub(super) lines: Vec<u8>,
    /// Number of lines.
    pub(super) records: u64,
    /// Identifiers of all URLs of a message that may grow or has grown, with those recorded before. Empty for others.
    pub(super) url_ids: Vec<u128>,
    /// Events of the message.
    pub(super) events: Vec<Event>,
}

impl MessageOutput {
    /// Extracts the URLs of a message. URLs that are in one of `earlier`, the versions of the message before it grew,
    /// are not recorded again. A panic becomes an event.
    pub(super) fn of(
        message: &Message<'_>,
        end: EndCertainty,
        earlier: &[GrowingMessage],
        source: &Source,
        extractor: &Extractor,
        writer: &mut RecordWriter,
    ) -> MessageOutput {
        let recorded: HashSet<u128> = earlier
            .iter()
            .flat_map(|version| version.ids.iter().copied())
            .collect();
        let has_ids = end != EndCertainty::Certain || !recorded.is_empty();
        let mut output = MessageOutput::default();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut counts = HashMap::new();
            writer.begin(match end {
                EndCertainty::MidLine => MessageTail::Truncated,
                EndCertainty::Certain | EndCertainty::EndOfFile => MessageTail::Complete,
            });
            extract(message, source, extractor, &mut |finding| match finding {
                Finding::Url(record) | Finding::Unwrapped(record) => {
                    if has_ids {
                        let id = url_id(record.found.full, &mut counts);
                        output.url_ids.push(id);
                        if recorded.contains(&id) {
                            return;
                        }
                    }
                    output.records += 1;
                    writer.write(record, &mut output.lines);
                }
                Finding::Diagnostic(diagnostic) => output.events.push(diagnostic.of(source)),
                _ => {}
            });
        }));
        match outcome {
            Ok(()) => output,
            Err(_) => MessageOutput::panicked(message, source),
        }
    }

    fn panicked(message: &Message<'_>, source: &Source) -> MessageOutput {
        let text = "urlspool failed on this message and skipped it; please report this as a bug";
        let event = Diagnostic::at(DiagnosticKind::Panic, message.start, text).of(source);
        MessageOutput {
            events: vec![event],
            ..MessageOutput::default()
        }
    }
}

/// Returns the identifier of a URL within its message: a hash of the URL and of the number of its earlier occurrences.
fn url_id(url: &[u8], counts: &mut HashMap<u128, u64>) -> u128 {
    let earlier = counts.entry(record::record_id(0, "", url, 0)).or_default();
    let id = record::record_id(0, "", url, *earlier);
    *earlier += 1;
    id
}
