//! The members of an archive or a compressed file in an attachment, each held in memory as a whole.
//!
//! They are unpacked by `read`, within the limits of archives on disk; the message counts as one
//! container. What is done with a member is left to `mime_walk`.

use std::path::PathBuf;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, DiagnosticKind, Event, printable};
use crate::limits::{LARGE_MESSAGE_BYTES, Limits};
use crate::origin::Source;
use crate::read::{Input, SparseRead, StreamStep, Streams, UnpackBalance, error_diagnostic};

/// The names of a member, from the outermost archive inwards; empty for what a compressed file
/// without a name holds.
pub(super) type MemberNames = Arc<[Vec<u8>]>;

/// Step through an archive.
pub(super) enum ArchiveStep {
    /// A member that is no container itself.
    Member { names: MemberNames, bytes: Vec<u8> },
    /// A member that is not read.
    Skipped,
    /// Damage, or a limit that was reached.
    Event(Diagnostic),
}

/// The steps through an archive.
pub(super) struct AttachedArchive {
    streams: Streams,
    /// Maximum size of a member.
    member_bytes: usize,
    /// A step to return before the next one.
    ready: Option<ArchiveStep>,
}

impl AttachedArchive {
    /// The members of `bytes`, which are a container inside `depth` others. `balance` is the
    /// message's.
    pub(super) fn new(
        bytes: Vec<u8>,
        depth: usize,
        limits: &Limits,
        balance: &UnpackBalance,
    ) -> AttachedArchive {
        let source = Source::at(PathBuf::new());
        let input = Input::memory(bytes);
        AttachedArchive {
            streams: Streams::in_containers(depth + 1, input, source, limits, balance),
            member_bytes: limits.message_bytes,
            ready: None,
        }
    }

    /// Returns the next step. Calls `on_large` before the rest of a large member is unpacked.
    pub(super) fn next(&mut self, on_large: &mut dyn FnMut()) -> Option<ArchiveStep> {
        if let Some(step) = self.ready.take() {
            return Some(step);
        }
        loop {
            return Some(match self.streams.next()? {
                StreamStep::Stream { source, stream, .. } => self.member(&source, stream, on_large),
                StreamStep::Skipped { .. } => ArchiveStep::Skipped,
                StreamStep::Failed(failed) => event(failed),
                StreamStep::Warning(warning) => event(warning),
                // An event about its last member was returned before.
                StreamStep::ArchiveRead(_) | StreamStep::ArchiveBroken { .. } => continue,
            });
        }
    }

    /// Reads a member, as far as it can be read and held.
    fn member(
        &mut self,
        source: &Source,
        mut stream: Box<dyn SparseRead>,
        on_large: &mut dyn FnMut(),
    ) -> ArchiveStep {
        let mut bytes = Vec::new();
        let max = self.member_bytes;
        let mut read = stream.append(max.min(LARGE_MESSAGE_BYTES), &mut bytes);
        if read.is_ok() && bytes.len() == LARGE_MESSAGE_BYTES {
            on_large();
            read = stream.append(max - LARGE_MESSAGE_BYTES, &mut bytes);
        }
        let diagnostic = match read {
            Err(error) => Some(error_diagnostic(&error, None)),
            Ok(_) if bytes.len() == max && has_more(&mut *stream) => {
                let message = format!("a member of more than {max} bytes: its rest is not read");
                Some(Diagnostic::new(DiagnosticKind::Limit, message))
            }
            Ok(_) => None,
        };
        self.ready = diagnostic.map(|diagnostic| event(diagnostic.of(source)));
        ArchiveStep::Member {
            names: source.member().into(),
            bytes,
        }
    }
}

/// Returns `true` if a stream does not end here. Its next byte may be refused, as part of a bomb.
fn has_more(stream: &mut dyn SparseRead) -> bool {
    let next = stream.append(1, &mut Vec::new());
    !next.is_ok_and(|more| more == 0)
}

/// The event, with the names of the member in its message: an offset in the message is all else
/// that says where it is.
fn event(event: Event) -> ArchiveStep {
    let Event { source, diagnostic } = event;
    let Diagnostic { kind, message, .. } = diagnostic;
    let place = member_place(source.member());
    ArchiveStep::Event(Diagnostic::new(kind, format!("{place}: {message}")))
}

/// The words for a member in the message of an event.
pub(super) fn member_place(names: &[Vec<u8>]) -> String {
    if names.is_empty() {
        return "an attached archive".to_owned();
    }
    let names = names.join(&b'!');
    let names = String::from_utf8_lossy(&names);
    format!("{} in an attached archive", printable(&names))
}

#[cfg(test)]
mod tests {
    use super::*;

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

    fn shown(bytes: Vec<u8>, limits: &Limits) -> Vec<String> {
        let balance = UnpackBalance::of_message(bytes.len(), 0, limits);
        let mut archive = AttachedArchive::new(bytes, 0, limits, &balance);
        let steps = std::iter::from_fn(|| archive.next(&mut || {})).map(|step| match step {
            ArchiveStep::Member { names, bytes } => {
                let names: Vec<_> = names
                    .iter()
                    .map(|name| String::from_utf8_lossy(name))
                    .collect();
                format!("{}: {}", names.join("!"), String::from_utf8_lossy(&bytes))
            }
            ArchiveStep::Skipped => "skipped".to_owned(),
            ArchiveStep::Event(event) => format!("{}: {}", event.kind.name(), event.message),
        });
        steps.collect()
    }

    #[test]
    fn archives_in_archives_are_entered() {
        let inner = [tar("b", b"two"), vec![0; 1024]].concat();
        let outer = [tar("a", b"one"), tar("c.tar", &inner), vec![0; 1024]].concat();
        assert_eq!(shown(outer, &Limits::default()), ["a: one", "c.tar!b: two"]);
    }

    #[test]
    fn members_are_cut_and_archives_in_too_many_others_left_alone() {
        let inner = [tar("b", b"two"), vec![0; 1024]].concat();
        let outer = [
            tar("a", b"one and more"),
            tar("c.tar", &inner),
            vec![0; 1024],
        ]
        .concat();
        let limits = Limits {
            message_bytes: 3,
            container_depth: 2,
            ..Limits::default()
        };
        assert_eq!(
            shown(outer, &limits),
            [
                "a: one",
                "limit: a in an attached archive: a member of more than 3 bytes: its rest is not \
                 read",
                "limit: c.tar in an attached archive: a container inside 2 others is not read"
            ]
        );
    }
}
