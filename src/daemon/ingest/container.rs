//! Ingest of compressed files and archives.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;

use super::blocks::ingest_blocks;
use super::context::IngestContext;
use super::identity::FileVersion;
use super::message_ingest::MailboxProgress;
use super::outcome::{FileOutcome, MessageEnd};
use crate::daemon::error::DaemonError;
use crate::daemon::store::MailboxId;
use crate::diagnostic::{DiagnosticKind, Event};
use crate::origin::{FormatHint, Source};
use crate::read::{self, Input, SparseRead, StreamStep, Streams};
use crate::split::{self, OpenedStream};
use crate::walk::WalkedFile;

/// Ingests everything in a compressed file or an archive. Damage in it is reported once and does not make it fail,
/// because it is permanent.
pub(super) fn ingest_container(
    context: &mut IngestContext<'_>,
    file: &WalkedFile,
    opened: File,
    version: FileVersion,
) -> Result<FileOutcome, DaemonError> {
    let mut members = Members {
        context,
        file,
        version,
        mailboxes: BTreeMap::new(),
        events: Vec::new(),
        error: None,
    };
    let limits = *members.context.extractor.limits();
    for step in Streams::new(Input::file(opened), file.source.clone(), file.hint, &limits) {
        match step {
            StreamStep::Stream {
                source,
                hint,
                stream,
            } => members.ingest(source, hint, stream)?,
            StreamStep::Failed(event) | StreamStep::Warning(event) => members.events.push(event),
            StreamStep::Skipped { .. }
            | StreamStep::ArchiveRead(_)
            | StreamStep::ArchiveBroken { .. } => {}
        }
    }
    members.finish()
}

/// Progress of the ingest of a container.
struct Members<'m, 'i> {
    context: &'m mut IngestContext<'i>,
    file: &'m WalkedFile,
    version: FileVersion,
    /// The mailboxes of the members.
    mailboxes: BTreeMap<MailboxId, MailboxProgress>,
    /// Events of the container and its members.
    events: Vec<Event>,
    /// The last error of reading a member.
    error: Option<io::Error>,
}

impl Members<'_, '_> {
    /// Ingests the messages of one member.
    fn ingest(
        &mut self,
        source: Source,
        hint: FormatHint,
        stream: Box<dyn SparseRead>,
    ) -> Result<(), DaemonError> {
        let max_message_bytes = self.context.extractor.limits().message_bytes;
        let configured = self.context.configured_format();
        let outcome = match split::open(stream, configured, hint, max_message_bytes) {
            Ok(OpenedStream::Skipped(_)) => FileOutcome::Complete,
            Ok(OpenedStream::Blocks(reader)) => {
                let (path, format) = (&self.file.source.path, reader.format());
                let mailbox = self.context.mailbox(path, format, self.version)?;
                let mut ingest = self.context.messages(source.clone(), mailbox, Vec::new());
                let end = MessageEnd::Certain;
                let outcome = ingest_blocks(reader, format, u64::MAX, end, &mut ingest)?;
                let progress = ingest.mailbox;
                self.mailboxes
                    .entry(progress.id)
                    .and_modify(|all| all.add(progress))
                    .or_insert(progress);
                outcome
            }
            Err(error) => FileOutcome::Failed(error),
        };
        if let FileOutcome::Failed(error) = outcome {
            self.events.push(read::diagnostic(&error, None).of(&source));
            self.error = Some(error);
        }
        Ok(())
    }

    /// Marks the container as read, unless the device or the server failed: then another try may succeed.
    fn finish(self) -> Result<FileOutcome, DaemonError> {
        if let Some(event) = self
            .events
            .iter()
            .find(|event| event.diagnostic.kind == DiagnosticKind::Unreadable)
        {
            let message = || io::Error::other(event.diagnostic.message.clone());
            return Ok(FileOutcome::Failed(self.error.unwrap_or_else(message)));
        }
        self.context.events.extend(self.events);
        if self.mailboxes.len() > 1 {
            for mailbox in self.mailboxes.keys() {
                self.context
                    .session
                    .with(|committer| committer.transaction()?.mark_mixed_archive(*mailbox))?;
            }
        }
        let mailbox = match self.mailboxes.into_values().next() {
            Some(mailbox) => mailbox,
            None => self.context.spool_mailbox(self.version)?,
        };
        self.context.mark_read(self.file, self.version, mailbox)?;
        Ok(FileOutcome::Complete)
    }
}
