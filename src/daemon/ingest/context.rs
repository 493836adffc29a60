//! Everything that the ingest of a file needs besides the file.

use std::collections::VecDeque;
use std::path::Path;

use super::identity::{FileVersion, mailbox_key, mailbox_scopes};
use super::mailbox_progress::MailboxProgress;
use super::message_ingest::MessageIngest;
use super::parser_pool::ParserPool;
use crate::config::Spool;
use crate::daemon::counters::Counters;
use crate::daemon::error::DaemonError;
use crate::daemon::store::{GrowingMessage, Session, SpoolIdentity};
use crate::diagnostic::Event;
use crate::extract::Extractor;
use crate::origin::{FormatHint, Source};
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
    /// The spool as the state knows it.
    pub(crate) identity: &'i SpoolIdentity,
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
        hint: FormatHint,
        format: Format,
        version: FileVersion,
    ) -> Result<MailboxProgress, DaemonError> {
        let identity = self.identity;
        let key = mailbox_key(path, format.kind(), identity, self.spool.dedupe);
        let id = self.session.with(|committer| {
            let state = committer.transaction()?;
            state.mailbox(key, identity.key, version.id.dev)
        })?;
        let mut mailbox = MailboxProgress::new(id, key);
        let candidates = mailbox_scopes(path, hint, identity);
        mailbox.older = self
            .session
            .with(|committer| committer.db.older_scopes(key, identity, &candidates))?
            .into();
        Ok(mailbox)
    }

    /// Returns the mailbox of files without messages: the spool.
    pub(super) fn spool_mailbox(
        &mut self,
        version: FileVersion,
    ) -> Result<MailboxProgress, DaemonError> {
        let key = self.identity.key;
        let id = self.session.with(|committer| {
            let state = committer.transaction()?;
            state.mailbox_without_messages(key, version.id.dev)
        })?;
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
            earlier_lengths: Vec::new(),
            holder: None,
            positions: VecDeque::new(),
        }
    }

    /// Records in the state that a file was read completely.
    pub(super) fn mark_read(
        &mut self,
        file: &WalkedFile,
        version: FileVersion,
        mailbox: &MailboxProgress,
    ) -> Result<(), DaemonError> {
        let key = version.key(&file.source.path, file.hint, self.identity);
        let spool = &self.identity.path;
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
