//! Ingest of one file: whether it has something new, whether that is complete, and which reader it needs.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::blocks::ingest_file;
use super::container::ingest_container;
use super::context::IngestContext;
use super::identity::{FileVersion, mailbox_scopes};
use super::mailbox_progress::MailboxProgress;
use super::mbox::{MboxFile, head_hash};
use super::outcome::{FileOutcome, FileStanding, SettleState};
use crate::daemon::error::DaemonError;
use crate::daemon::store::{Committer, GrowingMessage, HolderKey, HolderSpool, MboxCursor};
use crate::diagnostic::{Diagnostic, DiagnosticKind, SkipReason};
use crate::limits::SNIFF_BYTES;
use crate::origin::FormatHint;
use crate::read::{self, is_container};
use crate::split::{Format, detect_format, splittable_format};
use crate::walk::WalkedFile;

impl IngestContext<'_> {
    /// Returns what is known of this version of the file. Opens no file.
    pub(crate) fn standing(
        &mut self,
        file: &WalkedFile,
        version: FileVersion,
    ) -> Result<FileStanding, DaemonError> {
        if version.size == 0 {
            return Ok(FileStanding::Empty);
        }
        let spool = &self.spool.path;
        let mailboxes = mailbox_scopes(&file.source.path, file.hint, spool);
        self.session.with(|committer| {
            let key = version.key(&file.source.path, file.hint);
            if committer.db.is_file_read(key)? {
                return read_standing(committer, key, spool);
            }
            if file.hint == FormatHint::Maildir {
                return Ok(FileStanding::Unread);
            }
            match committer.db.cursor(version.id, &mailboxes)? {
                Some(cursor) if cursor.size == version.size && cursor.mtime == version.mtime => {
                    read_standing(committer, cursor.pass, spool)
                }
                _ => Ok(FileStanding::Unread),
            }
        })
    }

    /// Reports an mbox that was truncated while no daemon watched it, and resets its cursor: messages that were written
    /// after the last scan and removed by the truncation are lost. A file whose first bytes are unchanged is not
    /// reported: a mail program removed messages from it.
    pub(crate) fn report_truncation(
        &mut self,
        file: &WalkedFile,
        version: FileVersion,
    ) -> Result<(), DaemonError> {
        if file.hint == FormatHint::Maildir {
            return Ok(());
        }
        let mailboxes = mailbox_scopes(&file.source.path, file.hint, &self.spool.path);
        let cursor = self
            .session
            .with(|committer| committer.db.cursor(version.id, &mailboxes))?;
        let Some(cursor) = cursor.filter(|cursor| version.size < cursor.last) else {
            return Ok(());
        };
        if version.size > 0 && has_same_head(file, &cursor) {
            return Ok(());
        }
        self.session
            .with(|committer| committer.transaction()?.reset_cursor(version.id))?;
        let (size, last) = (version.size, cursor.last);
        let text = format!(
            "truncated to {size} bytes while the daemon was not watching; messages written after byte {last}, up to \
             which the file had been read, may be lost"
        );
        self.events
            .push(Diagnostic::at(DiagnosticKind::Vanished, last, text).of(&file.source));
        Ok(())
    }

    /// Ingests what is new in a file: of an mbox at most one chunk.
    pub(crate) fn ingest(
        &mut self,
        file: &WalkedFile,
        settle_state: SettleState,
    ) -> Result<FileOutcome, DaemonError> {
        let opened = match SniffedFile::open(file) {
            Ok(opened) => opened,
            Err(error) => return Ok(FileOutcome::Failed(error)),
        };
        if is_container(&opened.start) {
            // Nobody appends to a container: it is read as a whole when it has settled.
            return match settle_state {
                SettleState::Changing => Ok(FileOutcome::Waiting),
                SettleState::Settled => ingest_container(self, file, opened.file, opened.version),
            };
        }
        match detect_format(&opened.start, self.configured_format(), file.hint) {
            Ok(format) => self.ingest_messages(file, opened, format, settle_state),
            Err(reason) => self.skip(file, opened.version, reason),
        }
    }

    /// Ingests a file that is not a container.
    fn ingest_messages(
        &mut self,
        file: &WalkedFile,
        opened: SniffedFile,
        format: Format,
        settle_state: SettleState,
    ) -> Result<FileOutcome, DaemonError> {
        let (spool, configured) = (&self.spool.path, self.configured_format());
        let max_message_bytes = self.extractor.limits().message_bytes;
        let SniffedFile {
            file: opened,
            version,
            start,
        } = opened;
        let mailbox = self.mailbox(&file.source.path, format, version)?;
        let growing = self.growing(format, mailbox)?;
        let mut ingest = self.messages(file.source.clone(), mailbox, growing);
        if let Some(format) = splittable_format(&start, configured, file.hint) {
            ingest
                .session
                .with(|committer| committer.transaction()?.mark_multi_message(mailbox.id))?;
            let mbox = MboxFile {
                file: &opened,
                path: &file.source.path,
                spool,
                format,
                version,
                settle_state,
                max_message_bytes,
            };
            return mbox.ingest(&mut ingest);
        }
        // A message that is delivered into a Maildir is complete from the first moment (maildir(5)).
        if settle_state == SettleState::Changing && file.hint != FormatHint::Maildir {
            return Ok(FileOutcome::Waiting);
        }
        let holder = version.key(&file.source.path, file.hint);
        ingest.open_holder(holder, spool, version)?;
        let outcome = ingest_file(
            &opened,
            start,
            version,
            format,
            max_message_bytes,
            &mut ingest,
        )?;
        let mailbox = ingest.mailbox;
        if matches!(outcome, FileOutcome::Complete) {
            self.mark_read(file, version, mailbox)?;
        }
        Ok(outcome)
    }

    /// Returns the messages of a mailbox that may still grow. Only these formats can have any.
    fn growing(
        &mut self,
        format: Format,
        mailbox: MailboxProgress,
    ) -> Result<Vec<GrowingMessage>, DaemonError> {
        match format {
            Format::Mbox | Format::Mboxcl | Format::Text | Format::Html => self
                .session
                .with(|committer| committer.transaction()?.growing_messages(mailbox.id)),
            _ => Ok(Vec::new()),
        }
    }

    /// Marks a file that is not read, so that it is not opened again until it changes.
    fn skip(
        &mut self,
        file: &WalkedFile,
        version: FileVersion,
        reason: SkipReason,
    ) -> Result<FileOutcome, DaemonError> {
        let mailbox = self.spool_mailbox(version)?;
        self.mark_read(file, version, mailbox)?;
        Ok(FileOutcome::Skipped(reason))
    }
}

/// The standing of a file that was read. If holders are tracked, it must be one, or its messages are not known.
fn read_standing(
    committer: &mut Committer,
    holder: HolderKey,
    spool: &Path,
) -> Result<FileStanding, DaemonError> {
    if !committer.db.tracks_holders() {
        return Ok(FileStanding::Read(holder));
    }
    match committer.db.is_holder_of(holder, spool)? {
        HolderSpool::NoHolder => Ok(FileStanding::Unread),
        HolderSpool::Same => Ok(FileStanding::Read(holder)),
        HolderSpool::Other => {
            committer.transaction()?.adopt_holder(holder, spool)?;
            Ok(FileStanding::Read(holder))
        }
    }
}

/// An open file, its version and its first bytes, by which its format is detected.
struct SniffedFile {
    file: File,
    version: FileVersion,
    start: Vec<u8>,
}

impl SniffedFile {
    fn open(file: &WalkedFile) -> io::Result<SniffedFile> {
        let file = read::open(file)?;
        let version = FileVersion::of(&file.metadata()?);
        let mut start = Vec::with_capacity(4 << 10);
        (&file).take(SNIFF_BYTES as u64).read_to_end(&mut start)?;
        Ok(SniffedFile {
            file,
            version,
            start,
        })
    }
}

/// Returns `true` if a file can be read and its first bytes are those that the cursor covers.
fn has_same_head(file: &WalkedFile, cursor: &MboxCursor) -> bool {
    read::open(file)
        .is_ok_and(|opened| head_hash(&opened, cursor).is_ok_and(|head| head == cursor.head))
}
