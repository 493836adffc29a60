//! Members of an attached archive or compressed file, each held in memory as a whole.
//!
//! `read` unpacks them within the limits for archives on disk, with the message as one container.
//! `mime_walk` reads messages and mailboxes among the members.

use std::path::PathBuf;
use std::sync::Arc;

use super::{AttachedBytes, DocumentPlace, Layer, LayerReader, OffsetMap, SkippedPart, WalkState};
use crate::decode::form::TextForm;
use crate::decode::part::{MimePart, PartBody, PartPlace};
use crate::decode::part_kind::{PartReader, by_content, kind_of_name};
use urlspool_sources::read::{Input, SparseRead, StreamStep, Streams, error_diagnostic};
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind, Event, printable};
use urlspool_text::limits::{LARGE_MESSAGE_BYTES, SNIFF_BYTES};
use urlspool_text::origin::Source;
use urlspool_text::span::Span;

/// An attached archive and its remaining members.
pub(super) struct ArchiveLayer {
    streams: Streams,
    /// Damage of the last member, or a limit that it reached. Reported after the bytes read before
    /// it.
    problem: Option<Event>,
    /// Media type of the attachment.
    media_type: String,
    /// Range of the attachment in the message.
    raw: Span,
    /// Map from each byte of a member to the attachment as a whole.
    outer: Arc<OffsetMap>,
    place: PartPlace,
    /// Number of members read so far.
    read: usize,
}

impl ArchiveLayer {
    pub(super) fn open(
        attached: AttachedBytes,
        part: &MimePart,
        state: &mut WalkState<'_>,
    ) -> Layer<'static> {
        let held_bytes = attached.held_bytes();
        let all = Span::new(0, attached.bytes.len());
        let raw = attached.outer.raw(all).span;
        let source = Source::at(PathBuf::new());
        let (depth, limits) = (attached.place.containers + 1, state.limits);
        let input = Input::memory(attached.bytes);
        let layer = ArchiveLayer {
            streams: Streams::in_containers(depth, input, source, limits, state.balance()),
            problem: None,
            media_type: part.media_type.clone(),
            raw,
            outer: Arc::new(OffsetMap::whole(raw)),
            place: attached.place,
            read: 0,
        };
        Layer::new(layer, held_bytes)
    }

    /// Reads the bytes of a member, up to damage or the memory limit.
    fn unpack(
        &mut self,
        source: &Source,
        mut stream: Box<dyn SparseRead>,
        state: &mut WalkState<'_>,
    ) -> Vec<u8> {
        let mut bytes = Vec::new();
        let max = state.limits.message_bytes;
        let mut read = stream.append(max.min(LARGE_MESSAGE_BYTES), &mut bytes);
        if read.is_ok() && bytes.len() == LARGE_MESSAGE_BYTES {
            (state.on_large)();
            read = stream.append(max - LARGE_MESSAGE_BYTES, &mut bytes);
        }
        let problem = match read {
            Err(error) => Some(error_diagnostic(&error, None)),
            // The next byte may be refused as part of a decompression bomb.
            Ok(_) if bytes.len() == max && !matches!(stream.append(1, &mut Vec::new()), Ok(0)) => {
                let message = format!("a member of more than {max} bytes: its rest is not read");
                Some(Diagnostic::new(DiagnosticKind::Limit, message))
            }
            Ok(_) => None,
        };
        self.problem = problem.map(|problem| problem.of(source));
        bytes
    }

    /// Reports an event, with the names of the member in its message. The only other location in
    /// the event is an offset in the message.
    fn report(&self, event: Event, state: &mut WalkState<'_>) {
        let Diagnostic { kind, message, .. } = event.diagnostic;
        let message = format!("{}: {message}", member_place(event.source.member()));
        state.report(kind, self.offset(state), message);
    }

    /// Returns the offset of the attachment in the source.
    fn offset(&self, state: &WalkState<'_>) -> u64 {
        state.message.raw_start() + self.raw.start as u64
    }

    /// Reads a member. Returns the layer of a message or mailbox.
    fn member(
        &self,
        names: &[Vec<u8>],
        bytes: Vec<u8>,
        state: &mut WalkState<'_>,
    ) -> Option<Layer<'static>> {
        // A single compressed file is the part itself.
        let place = match names {
            [] => self.place.clone(),
            _ => self.place.part(self.read),
        };
        let place = around_member(place, names);
        let name = names.last().map(Vec::as_slice).unwrap_or_default();
        let reader = member_reader(name, &bytes[..bytes.len().min(SNIFF_BYTES)]);
        let is_unwanted_html = reader == PartReader::Text(TextForm::Html) && state.policy.skip_html;
        let attached = AttachedBytes {
            bytes,
            outer: Arc::clone(&self.outer),
            place,
        };
        match reader {
            PartReader::Text(form) if !is_unwanted_html => {
                state.report.text_parts += 1;
                let body = PartBody {
                    raw: &attached.bytes,
                    offset_map: OffsetMap::within(Some(&attached.outer), 0),
                    part: &self.part(form, &attached.place),
                    is_dot_stuffed: false,
                };
                let open = body.decode(state.sink);
                state.report_open(open);
                None
            }
            PartReader::Text(_) | PartReader::Archive | PartReader::Unread => {
                self.skip(&attached.place, state);
                None
            }
            reader => {
                let part = self.part(TextForm::Other, &attached.place);
                let place = DocumentPlace {
                    raw: self.raw,
                    offset: self.offset(state),
                    member: format!("{}: ", member_place(names)),
                };
                attached.layer(reader, part, &place, state)
            }
        }
    }

    /// Counts a skipped member. Lists at most as many members as a message may have parts.
    fn skip(&self, place: &PartPlace, state: &mut WalkState<'_>) {
        let listed = &mut state.report.skipped_parts;
        if state.limits.mime_parts <= listed.len()
            && let Some(last) = listed.last_mut()
        {
            last.unlisted += 1;
            return;
        }
        let part = MimePart {
            path: self.place.path.clone(),
            ..self.part(TextForm::Other, place)
        };
        listed.push(SkippedPart::new(part, self.raw));
    }

    /// Returns the part of a member at this place.
    fn part(&self, form: TextForm, place: &PartPlace) -> MimePart {
        MimePart {
            media_type: self.media_type.clone(),
            encoding: "binary".to_owned(),
            form,
            ..MimePart::within(place)
        }
    }
}

impl LayerReader for ArchiveLayer {
    /// Reads up to the next member that is a message or a mailbox, which is returned, or to the
    /// end.
    fn advance(&mut self, state: &mut WalkState<'_>) -> Option<Layer<'static>> {
        loop {
            if let Some(problem) = self.problem.take() {
                self.report(problem, state);
            }
            match self.streams.next()? {
                StreamStep::Stream { source, stream, .. } => {
                    let bytes = self.unpack(&source, stream, state);
                    self.read += 1;
                    if let Some(layer) = self.member(source.member(), bytes, state) {
                        return Some(layer);
                    }
                }
                StreamStep::Skipped { .. } => self.skip(&self.place, state),
                StreamStep::Failed(event) | StreamStep::Warning(event) => self.report(event, state),
                // An event about the last member was reported before.
                StreamStep::ArchiveRead(_) | StreamStep::ArchiveBroken { .. } => {}
            }
        }
    }
}

/// Returns the place of the member `names` of an archive at `place`.
fn around_member(place: PartPlace, names: &[Vec<u8>]) -> PartPlace {
    let before = place.member.iter().flat_map(|names| names.iter());
    let all: Vec<_> = before.chain(names.iter()).cloned().collect();
    PartPlace {
        member: (!all.is_empty()).then(|| all.into()),
        containers: place.containers + names.len().max(1),
        ..place
    }
}

/// Returns the reader of an archive member by its name and its first bytes, `start`.
fn member_reader(name: &[u8], start: &[u8]) -> PartReader {
    // An archive inside the archive is entered earlier. Other bytes that look like an archive are
    // text.
    let named = kind_of_name(&String::from_utf8_lossy(name));
    by_content(named.filter(|named| *named != PartReader::Archive), start)
}

/// Describes a member in the message of an event.
fn member_place(names: &[Vec<u8>]) -> String {
    if names.is_empty() {
        return "an attached archive".to_owned();
    }
    let names = names.join(&b'!');
    let names = String::from_utf8_lossy(&names);
    format!("{} in an attached archive", printable(&names))
}

#[cfg(test)]
mod tests {
    use crate::decode::header::HeaderFields;
    use crate::decode::mime_walk::WalkState;
    use crate::decode::{DecodedText, TextPolicy};
    use crate::split::Message;
    use urlspool_text::limits::Limits;

    fn tar(name: &str, bytes: &[u8]) -> Vec<u8> {
        let mut header = [0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..107].copy_from_slice(b"0000644");
        header[124..135].copy_from_slice(format!("{:011o}", bytes.len()).as_bytes());
        header[156] = b'0';
        header[257..263].copy_from_slice(b"ustar\0");
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        let mut all = header.to_vec();
        all.extend_from_slice(bytes);
        all.resize(all.len().next_multiple_of(512), 0);
        all
    }

    /// Returns the texts of an attached archive, each with the names of its member, and the
    /// diagnostics.
    fn shown(archive: &[u8], limits: &Limits) -> Vec<String> {
        let raw = [b"Content-Type: application/x-tar\n\n", archive].concat();
        shown_in(&raw, limits)
    }

    /// Returns the same for a message. The author of a message inside a part follows each text.
    fn shown_in(raw: &[u8], limits: &Limits) -> Vec<String> {
        let message = Message::parse(raw);
        let fields = HeaderFields::of(raw, usize::MAX);
        let mut seen = Vec::new();
        let mut sink = |text: DecodedText<'_>| {
            let author = text.part.and_then(|part| part.author.as_ref());
            let from = author.and_then(|author| author.info.from.as_deref());
            let from = from.map_or(String::new(), |from| format!(" by {from}"));
            let names = text.part.and_then(|part| part.member.as_deref());
            let names = names.unwrap_or_default().join(&b'!');
            let names = String::from_utf8_lossy(&names).into_owned();
            let text = String::from_utf8_lossy(&text.bytes);
            seen.push(format!("{names}: {text}{from}"));
        };
        let policy = TextPolicy::default();
        let on_large = &mut || {};
        let walk = WalkState::new(&message, limits, policy, &mut sink, on_large);
        let report = walk.message_texts(&fields);
        let diagnostics = report.diagnostics.iter();
        seen.extend(diagnostics.map(|event| format!("{}: {}", event.kind.name(), event.message)));
        seen
    }

    #[test]
    fn nested_archives_are_read() {
        let inner = [tar("b", b"two"), vec![0; 1024]].concat();
        let outer = [tar("a", b"one"), tar("c.tar", &inner), vec![0; 1024]].concat();
        let found = shown(&outer, &Limits::default());
        assert_eq!(found, ["a: one", "c.tar!b: two"]);
    }

    /// Regression: a text of a member had the identifier of its message, but not its author.
    #[test]
    fn members_belong_to_the_message_that_holds_the_archive() {
        let archive = [tar("a", b"one"), vec![0; 1024]].concat();
        let header = b"Content-Type: message/rfc822\n\nFrom: b@b.example\n\
                       Content-Type: application/x-tar\n\n";
        let found = shown_in(&[&header[..], &archive].concat(), &Limits::default());
        assert_eq!(found.last().unwrap(), "a: one by b@b.example");
    }

    #[test]
    fn members_are_cut_and_archives_nested_too_deeply_skipped() {
        let inner = [tar("b", b"two"), vec![0; 1024]].concat();
        let long = tar("a", "one ".repeat(1536).as_bytes());
        let outer = [long, tar("c.tar", &inner), vec![0; 1024]].concat();
        let limits = Limits {
            message_bytes: 6_000,
            container_depth: 2,
            ..Limits::default()
        };
        assert_eq!(
            shown(&outer, &limits),
            [
                &format!("a: {}", "one ".repeat(1500)),
                "limit: a in an attached archive: a member of more than 6000 bytes: its rest is \
                 not read",
                "limit: c.tar in an attached archive: a container inside 2 others is not read"
            ]
        );
    }
}
