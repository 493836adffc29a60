//! Ingest of compressed files and archives.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;

use super::blocks::BlockIngest;
use super::context::IngestContext;
use super::identity::FileVersion;
use super::mailbox_progress::MailboxProgress;
use super::outcome::{EndCertainty, FileOutcome};
use crate::daemon::error::DaemonError;
use crate::daemon::store::MailboxId;
use crate::diagnostic::{Diagnostic, DiagnosticKind, Event, SkipReason};
use crate::origin::Source;
use crate::pipeline::{InputStep, MessageSource};
use crate::read::{self, Input};
use crate::record::is_written_file;
use crate::split::Format;
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
    let mut messages = MessageSource::new(
        Input::file(opened),
        file.source.clone(),
        file.hint,
        members.context.configured_format(),
        members.context.extractor.limits(),
    );
    while let Some(step) = messages.next() {
        match step {
            InputStep::Opened { source, format } => {
                members.ingest(&source, format, &mut messages)?
            }
            InputStep::Failed(failure) => {
                members.events.push(failure.event);
                members.error = failure.error.or(members.error);
            }
            InputStep::Warning(event) => members.events.push(event),
            _ => {}
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
    /// Ingests the messages of the member that was opened last.
    fn ingest(
        &mut self,
        source: &Source,
        format: Format,
        messages: &mut MessageSource,
    ) -> Result<(), DaemonError> {
        let first = messages.next();
        if let Some(InputStep::Block(block)) = &first
            && is_written_file(&block.block.bytes)
        {
            self.skip_own_output(source, messages);
            return Ok(());
        }
        let path = &self.file.source.path;
        let (hint, identity) = (self.file.hint, self.context.identity);
        let mailbox = self.context.mailbox(path, hint, format, self.version)?;
        let mut ingest = self.context.messages(source.clone(), mailbox, Vec::new());
        let holder = self.version.key(path, hint, identity);
        ingest.open_holder(holder, &identity.path, self.version)?;
        let mut blocks = BlockIngest::default();
        let mut error = None;
        for step in first.into_iter().chain(messages) {
            match step {
                InputStep::Block(block) => {
                    blocks.ingest(&block.block, format, EndCertainty::Certain, &mut ingest)?;
                }
                InputStep::Ended(end) => {
                    error = end.error;
                    break;
                }
                _ => {}
            }
        }
        let progress = ingest.mailbox;
        self.mailboxes
            .entry(progress.id)
            .and_modify(|all| all.add(&progress))
            .or_insert(progress);
        if let Some(error) = error {
            self.events
                .push(read::error_diagnostic(&error, None).of(source));
            self.error = Some(error);
        }
        Ok(())
    }

    /// Skips the rest of a member that urlspool wrote.
    fn skip_own_output(&mut self, source: &Source, messages: &mut MessageSource) {
        messages.find(|step| matches!(step, InputStep::Ended(_)));
        let text = format!("skipped: {}", SkipReason::OwnOutput.name());
        let diagnostic = Diagnostic::new(DiagnosticKind::Skip, text);
        self.events.push(diagnostic.of(source));
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
        self.context.mark_read(self.file, self.version, &mailbox)?;
        Ok(FileOutcome::Complete)
    }
}
