//! Takes what is in compressed files and archives.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;

use super::blocks::blocks;
use super::file_ingest::Looker;
use super::identity::FileVersion;
use super::message_ingest::{End, Mailbox};
use super::outcome::Look;
use crate::daemon::error::DaemonError;
use crate::diagnostic::DiagnosticKind;
use crate::read::{self, Input, StreamStep, Streams};
use crate::split::{self, Format, OpenedStream};
use crate::walk;

impl Looker<'_> {
    /// Takes everything in a compressed file or an archive. What is damaged in it stays so, and is told once.
    pub(super) fn container(
        &mut self,
        file: &walk::WalkedFile,
        opened: File,
        stamp: FileVersion,
    ) -> Result<Look, DaemonError> {
        let limits = *self.extractor.limits();
        let given = self.spool.kind.map(Format::of);
        let (mut said, mut failed, mut held) = (Vec::new(), None, BTreeMap::new());
        for step in Streams::new(Input::file(opened), file.source.clone(), file.hint, &limits) {
            match step {
                StreamStep::Stream {
                    source,
                    hint,
                    stream,
                } => {
                    let taken = match split::open(stream, given, hint, limits.message_bytes) {
                        Ok(OpenedStream::Skipped(_)) => Look::Done,
                        Ok(OpenedStream::Blocks(roller)) => {
                            let format = roller.format();
                            let mailbox = self.mailbox(&file.source.path, format, stamp)?;
                            let mut taker = self.taker(source.clone(), mailbox, Vec::new());
                            let look = blocks(roller, format, u64::MAX, End::Sure, &mut taker)?;
                            let part = taker.mailbox;
                            held.entry(part.id)
                                .and_modify(|all: &mut Mailbox| all.add(part))
                                .or_insert(part);
                            look
                        }
                        Err(error) => Look::Failed(error),
                    };
                    if let Look::Failed(error) = taken {
                        said.push(read::diagnostic(&error, None).of(&source));
                        failed = Some(error);
                    }
                }
                StreamStep::Failed(event) | StreamStep::Warning(event) => said.push(event),
                StreamStep::Skipped { .. }
                | StreamStep::ArchiveRead(_)
                | StreamStep::ArchiveBroken { .. } => {}
            }
        }
        // What is damaged stays so; what the device or the server did not give, it may give another time.
        if let Some(event) = said
            .iter()
            .find(|event| event.diagnostic.kind == DiagnosticKind::Unreadable)
        {
            return Ok(Look::Failed(failed.unwrap_or_else(|| {
                io::Error::other(event.diagnostic.message.clone())
            })));
        }
        self.events.append(&mut said);
        if held.len() > 1 {
            for mailbox in held.keys() {
                self.session
                    .with(|committer| committer.transaction()?.mark_mixed_archive(*mailbox))?;
            }
        }
        let mailbox = held
            .into_values()
            .next()
            .map_or_else(|| self.no_mailbox(stamp), Ok)?;
        self.know(file, stamp, mailbox)?;
        Ok(Look::Done)
    }
}
