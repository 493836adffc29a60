//! Extraction of one message: its records, encoded for the segment, and its events.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::outcome::EndCertainty;
use crate::daemon::store::GrowingMessage;
use crate::diagnostic::{Diagnostic, DiagnosticKind, Event};
use crate::extract::{Extractor, Finding, extract, extract_flat};
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
    /// are not recorded again. After a panic, which becomes an event, the message is read as one text; so it is if its header panicked.
    pub(super) fn of(
        request: &OutputRequest<'_>,
        extractor: &Extractor,
        writer: &mut RecordWriter,
    ) -> MessageOutput {
        let attempt = |writer: &mut RecordWriter, extract: ExtractFn| {
            let read = || MessageOutput::extracted(request, extractor, writer, extract);
            catch_unwind(AssertUnwindSafe(read)).ok()
        };
        let structured = match request.header {
            HeaderState::Readable => attempt(writer, extract),
            HeaderState::Panicked => None,
        };
        structured.unwrap_or_else(|| {
            let flat = attempt(writer, extract_flat);
            let outcome = match flat {
                Some(_) => "read it as text",
                None => "skipped it",
            };
            let mut output = flat.unwrap_or_default();
            let text = format!(
                "urlspool failed on this message and {outcome}; please report this as a bug"
            );
            let event = Diagnostic::at(DiagnosticKind::Panic, request.message.start, text);
            output.events.push(event.of(request.source));
            output
        })
    }

    fn extracted(
        request: &OutputRequest<'_>,
        extractor: &Extractor,
        writer: &mut RecordWriter,
        extract: ExtractFn,
    ) -> MessageOutput {
        let OutputRequest {
            message,
            end,
            earlier,
            source,
            ..
        } = *request;
        let recorded: HashSet<u128> = earlier
            .iter()
            .flat_map(|version| version.ids.iter().copied())
            .collect();
        let has_ids = end != EndCertainty::Certain || !recorded.is_empty();
        let mut output = MessageOutput::default();
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
        output
    }
}

/// [`extract`], or [`extract_flat`].
type ExtractFn = fn(&Message<'_>, &Source, &Extractor, &mut dyn FnMut(Finding<'_>));

/// A message whose URLs are asked for.
pub(super) struct OutputRequest<'r> {
    pub(super) message: &'r Message<'r>,
    pub(super) header: HeaderState,
    pub(super) end: EndCertainty,
    /// The versions of the message before it grew.
    pub(super) earlier: &'r [GrowingMessage],
    pub(super) source: &'r Source,
}

/// The outcome of reading a message's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeaderState {
    Readable,
    /// The program panicked on it.
    Panicked,
}

/// Returns the identifier of a URL within its message: a hash of the URL and of the number of its earlier occurrences.
fn url_id(url: &[u8], counts: &mut HashMap<u128, u64>) -> u128 {
    let earlier = counts.entry(record::record_id(0, "", url, 0)).or_default();
    let id = record::record_id(0, "", url, *earlier);
    *earlier += 1;
    id
}
