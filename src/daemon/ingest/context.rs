//! Everything that the ingest of a file needs besides the file.

use std::collections::VecDeque;
use std::path::Path;

use super::identity::{FileVersion, mailbox_key, path_key};
use super::mailbox_progress::MailboxProgress;
use super::message_ingest::MessageIngest;
use super::parser_pool::ParserPool;
use crate::config::Spool;
use crate::daemon::counters::Counters;
use crate::daemon::error::DaemonError;
use crate::daemon::store::{GrowingMessage, Session};
use crate::diagnostic::Event;
use crate::extract::Extractor;
use crate::origin::Source;
use crate::split::Format;
use crate::walk::WalkedFile;

/// Context of the ingest of a file of one spool.
pub(crate) struct IngestContext<'i> {
    pub(crate) session: Session<'i>,
    pub(crate) parsers: &'i ParserPool,
    pub(crate) extractor: &'i Extractor,
    pub(crate) counters: &'i mut Counters,
    /// Events of the file and its messages.
    pub(crate) events: &'i mut Vec<Event>,
    pub(crate) spool: &'i Spool,
}

impl IngestContext<'_> {
    /// The format that the configuration sets for the spool, if any.
    pub(super) fn configured_format(&self) -> Option<Format> {
        self.spool.kind.map(Format::of)
    }

    /// Returns the mailbox of a file's messages.
    pub(super) fn mailbox(
        &mut self,
        path: &Path,
        format: Format,
        version: FileVersion,
    ) -> Result<MailboxProgress, DaemonError> {
        let spool = &self.spool.path;
        let key = mailbox_key(path, format.kind(), spool, self.spool.dedupe);
        self.mailbox_with(key, version)
    }

    /// Returns the mailbox of files without messages: the spool.
    pub(super) fn spool_mailbox(
        &mut self,
        version: FileVersion,
    ) -> Result<MailboxProgress, DaemonError> {
        self.mailbox_with(path_key(&self.spool.path), version)
    }

    fn mailbox_with(
        &mut self,
        key: u128,
        version: FileVersion,
    ) -> Result<MailboxProgress, DaemonError> {
        let spool = path_key(&self.spool.path);
        let id = self
            .session
            .with(|committer| committer.transaction()?.mailbox(key, spool, version.id.dev))?;
        Ok(MailboxProgress::new(id, key))
    }

    /// The ingest of the messages of a source.
    pub(super) fn messages(
        &mut self,
        source: Source,
        mailbox: MailboxProgress,
        growing: Vec<GrowingMessage>,
    ) -> MessageIngest<'_> {
        MessageIngest {
            session: self.session,
            parsers: self.parsers,
            extractor: self.extractor,
            counters: &mut *self.counters,
            events: &mut *self.events,
            source,
            mailbox,
            growing,
            holder: None,
            positions: VecDeque::new(),
        }
    }

    /// Records in the state that a file was read completely.
    pub(super) fn mark_read(
        &mut self,
        file: &WalkedFile,
        version: FileVersion,
        mailbox: MailboxProgress,
    ) -> Result<(), DaemonError> {
        let key = version.key(&file.source.path, file.hint);
        let spool = &self.spool.path;
        self.session.with(|committer| {
            let state = committer.transaction()?;
            if mailbox.messages > 1 {
                state.mark_multi_message(mailbox.id)?;
            }
            state.open_holder(key, spool, version.id.dev)?;
            state.mark_file_read(key, mailbox.id, mailbox.only_link())
        })
    }
}
