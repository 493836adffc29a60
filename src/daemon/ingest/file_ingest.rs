//! Ingest of one file: whether it has something new, whether that is complete, and which reader it needs.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::blocks::ingest_file;
use super::container::ingest_container;
use super::context::IngestContext;
use super::identity::{FileVersion, mailbox_scopes, place_key};
use super::mailbox_progress::MailboxProgress;
use super::mbox::{MboxFile, head_hash};
use super::outcome::{FileOutcome, FileStanding, SettleState};
use crate::daemon::error::DaemonError;
use crate::daemon::store::{
    Committer, GrowingMessage, HolderKey, HolderSpool, MboxCursor, Session,
};
use crate::diagnostic::{Diagnostic, DiagnosticKind, SkipReason};
use crate::origin::FormatHint;
use crate::read::{self, SparseRead};
use crate::record::is_written_file;
use crate::split::{Format, SourceStart};
use crate::walk::WalkedFile;

impl IngestContext<'_> {
    /// Returns what is known of this version of the file. Opens no file.
    pub(crate) fn standing(
        &mut self,
        file: &WalkedFile,
        version: FileVersion,
    ) -> Result<FileStanding, DaemonError> {
        let identity = self.identity;
        let spool = &identity.path;
        let mailboxes = mailbox_scopes(&file.source.path, file.hint, identity);
        self.session.with(|committer| {
            if version.size == 0 {
                let cursors = committer.db.cursors(version.id, &mailboxes)?;
                return Ok(FileStanding::Empty(held_pass(committer, &cursors)?));
            }
            let key = version.key(&file.source.path, file.hint, identity);
            if committer.db.is_file_read(key)? {
                return read_standing(committer, key, spool);
            }
            if file.hint == FormatHint::Maildir {
                return Ok(FileStanding::Unread(None));
            }
            let is_current =
                |cursor: &&MboxCursor| cursor.size == version.size && cursor.mtime == version.mtime;
            let cursors = committer.db.cursors(version.id, &mailboxes)?;
            // A position of an older scope may name no holder; one of the present scope then does.
            let mut standing = None;
            for cursor in cursors.iter().filter(is_current) {
                match read_standing(committer, cursor.pass, spool)? {
                    FileStanding::Read(holder) => return Ok(FileStanding::Read(holder)),
                    other => standing = Some(other),
                }
            }
            match standing {
                Some(standing) => Ok(standing),
                None => Ok(FileStanding::Unread(held_pass(committer, &cursors)?)),
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
        let mailboxes = mailbox_scopes(&file.source.path, file.hint, self.identity);
        let cursors = self
            .session
            .with(|committer| committer.db.cursors(version.id, &mailboxes))?;
        let mut cursors = cursors.into_iter();
        let Some(cursor) = cursors.find(|cursor| version.size < cursor.last) else {
            return Ok(());
        };
        if version.size > 0 && has_same_head(file, &cursor, self.session) {
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

    /// Ingests what is new in a file: of an mbox at most one chunk. `nuls` is the number of its leading NUL bytes as far as it is
    /// known from the chunk before, so that they are not read for each chunk again.
    pub(crate) fn ingest(
        &mut self,
        file: &WalkedFile,
        settle_state: SettleState,
        nuls: &mut u64,
    ) -> Result<FileOutcome, DaemonError> {
        let opened = match SniffedFile::open(file, *nuls, self.session) {
            Ok(opened) => opened,
            Err(error) => return Ok(FileOutcome::Failed(error)),
        };
        *nuls = opened.start.offset;
        if opened.start.is_container() {
            // Nobody appends to a container: it is read as a whole when it has settled.
            return match settle_state {
                SettleState::Changing => Ok(FileOutcome::Waiting),
                SettleState::Settled => ingest_container(self, file, opened.file, opened.version),
            };
        }
        if is_written_file(&opened.start.bytes) {
            // Its URLs would be written again, and these again.
            return match settle_state {
                SettleState::Changing => Ok(FileOutcome::Waiting),
                SettleState::Settled => self.skip(file, opened.version, SkipReason::OwnOutput),
            };
        }
        match opened.start.format(self.configured_format(), file.hint) {
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
        let (identity, configured) = (self.identity, self.configured_format());
        let spool = &identity.path;
        let max_message_bytes = self.extractor.limits().message_bytes;
        let SniffedFile {
            file: opened,
            version,
            start,
        } = opened;
        let mailbox = self.mailbox(&file.source.path, file.hint, format, version)?;
        let growing = self.growing(format, &mailbox)?;
        let mailbox_id = mailbox.id;
        let mut ingest = self.messages(file.source.clone(), mailbox, growing);
        if let Some(format) = start.splittable_format(configured, file.hint) {
            ingest
                .session
                .with(|committer| committer.transaction()?.mark_multi_message(mailbox_id))?;
            let mbox = MboxFile {
                file: &opened,
                path: &file.source.path,
                spool,
                format,
                start: start.offset,
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
        let holder = version.key(&file.source.path, file.hint, identity);
        ingest.open_holder(holder, spool, version)?;
        // A message in a Maildir never grows.
        let place = (matches!(format, Format::Single(_)) && file.hint != FormatHint::Maildir)
            .then(|| place_key(&identity.path_of(&file.source.path)));
        if let Some(place) = place {
            ingest.earlier_lengths = ingest
                .session
                .with(|committer| committer.db.earlier_lengths(place, version.size))?;
        }
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
            self.mark_read(file, version, &mailbox)?;
            if let Some(place) = place.filter(|_| mailbox.only_link().is_some()) {
                self.session.with(|committer| {
                    let state = committer.transaction()?;
                    state.mark_file_length(holder, place, version.size)
                })?;
            }
        }
        Ok(outcome)
    }

    /// Returns the messages of a mailbox that may still grow, those of its older scopes too. Only these formats can have any.
    fn growing(
        &mut self,
        format: Format,
        mailbox: &MailboxProgress,
    ) -> Result<Vec<GrowingMessage>, DaemonError> {
        match format {
            Format::Mbox | Format::Mboxcl | Format::Text | Format::Html => {
                self.session.with(|committer| {
                    let state = committer.transaction()?;
                    let mut growing = state.growing_messages(mailbox.id)?;
                    for older in &*mailbox.older {
                        growing.append(&mut state.growing_messages(older.id)?);
                    }
                    Ok(growing)
                })
            }
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
        self.mark_read(file, version, &mailbox)?;
        Ok(FileOutcome::Skipped(reason))
    }
}

/// The pass that holds what was read of an mbox; `None` if holders are not tracked.
fn held_pass(
    committer: &Committer,
    cursors: &[MboxCursor],
) -> Result<Option<HolderKey>, DaemonError> {
    let Some(cursor) = cursors.first().filter(|_| committer.db.tracks_holders()) else {
        return Ok(None);
    };
    let is_holder = committer.db.is_holder(cursor.pass)?;
    Ok(is_holder.then_some(cursor.pass))
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
        HolderSpool::NoHolder => Ok(FileStanding::Unread(None)),
        HolderSpool::Same => Ok(FileStanding::Read(holder)),
        HolderSpool::Other => {
            committer.transaction()?.adopt_holder(holder, spool)?;
            Ok(FileStanding::Read(holder))
        }
    }
}

/// An open file, its version and its start, by which its format is detected.
struct SniffedFile {
    file: File,
    version: FileVersion,
    start: SourceStart,
}

impl SniffedFile {
    /// Opens a file of whose leading NUL bytes `nuls` are known.
    fn open(file: &WalkedFile, nuls: u64, session: Session<'_>) -> io::Result<SniffedFile> {
        let file = read::open(file)?;
        let version = FileVersion::of(&file.metadata()?);
        let start = SourceStart::read(&mut StartReader {
            file: &file,
            nuls,
            session,
        })?;
        Ok(SniffedFile {
            file,
            version,
            start,
        })
    }
}

/// Reader of the start of a file. Reports progress, because there may be many NUL bytes.
struct StartReader<'f> {
    file: &'f File,
    /// Number of leading NUL bytes that are known. They are skipped as if they were a hole.
    nuls: u64,
    session: Session<'f>,
}

impl SparseRead for StartReader<'_> {
    fn skip_hole(&mut self, step: u64) -> u64 {
        match self.file.stream_position() {
            Ok(at) if step == 1 && at < self.nuls => self
                .file
                .seek(SeekFrom::Start(self.nuls))
                .map_or(0, |to| to - at),
            _ => self.file.skip_hole(step),
        }
    }
}

impl Read for StartReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.session.beat();
        self.file.read(buffer)
    }
}

/// Returns `true` if a file can be read and its first bytes are those that the cursor covers.
fn has_same_head(file: &WalkedFile, cursor: &MboxCursor, session: Session<'_>) -> bool {
    let head = SniffedFile::open(file, 0, session)
        .and_then(|opened| head_hash(&opened.file, opened.start.offset, cursor));
    head.is_ok_and(|head| head == cursor.head)
}
