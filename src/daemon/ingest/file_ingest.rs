//! Ingest of one file: whether it has something new, whether that is complete, and which reader it
//! needs. Mboxes are read by `mbox.rs`; other files, compressed files and archives once from start
//! to end, here.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::identity::{FileVersion, PiecePosition, mailbox_key, mailbox_scopes, place_key};
use super::mbox::{MboxFile, head_hash};
use super::message_ingest::ParserPool;
use super::message_ingest::{MailboxProgress, MessageIngest};
use super::{EndCertainty, FileOutcome, FileStanding, SettleState};
use crate::config::Spool;
use crate::daemon::DaemonError;
use crate::daemon::status::Counters;
use crate::daemon::store::{
    FileId, GrowingMessage, HolderKey, LookChange, MailboxId, MboxCursor, ReadFile, Session,
    SpoolIdentity, StateDb,
};
use crate::diagnostic::{Diagnostic, DiagnosticKind, Event, SkipReason};
use crate::extract::Extractor;
use crate::origin::{FormatHint, Source};
use crate::pipeline::{InputStep, MessageSource};
use crate::read::{self, Input, SparseRead};
use crate::record::is_written_file;
use crate::split::{Block, BlockReader, BlockRole, Format, SourceStart};
use crate::walk::WalkedFile;

/// The files that were there when their spool was watched for the first time, each with its version
/// at that time.
#[derive(Debug, Default)]
pub(crate) struct ExistingFiles {
    files: HashMap<FileId, ExistingFile>,
    /// The last commits of repositories.
    tips: HashMap<FileId, String>,
}

/// Size and modification time of such a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ExistingFile {
    size: u64,
    mtime: i64,
}

impl ExistingFiles {
    /// Adds a file. Returns the number of files.
    pub(crate) fn insert(&mut self, version: FileVersion) -> usize {
        let FileVersion {
            id, size, mtime, ..
        } = version;
        self.files.insert(id, ExistingFile { size, mtime });
        self.files.len()
    }

    /// Adds a repository with its last commit. Returns the number of files.
    pub(crate) fn insert_repository(&mut self, version: FileVersion, tip: String) -> usize {
        self.tips.insert(version.id, tip);
        self.insert(version)
    }

    /// The last commit that a repository had.
    pub(super) fn tip(&self, version: FileVersion) -> Option<&str> {
        self.tips.get(&version.id).map(String::as_str)
    }

    /// Returns `true` if the file with this version has not changed since.
    pub(crate) fn is_unchanged(&self, version: FileVersion) -> bool {
        self.end_in(version) == u64::MAX
    }

    /// Returns the offset up to which this version of a file was there: 0 if the file is new, or
    /// shorter than it was.
    fn end_in(&self, version: FileVersion) -> u64 {
        match self.files.get(&version.id) {
            // Offsets in a compressed file are those of its content.
            Some(known) if (known.size, known.mtime) == (version.size, version.mtime) => u64::MAX,
            Some(known) if known.size <= version.size => known.size,
            _ => 0,
        }
    }
}

/// Context of the ingest of a file of one spool.
pub(crate) struct IngestContext<'i> {
    pub(crate) session: &'i Session,
    pub(crate) parsers: &'i ParserPool,
    pub(crate) extractor: &'i Extractor,
    pub(crate) counters: &'i mut Counters,
    /// Events of the file and its messages.
    pub(crate) events: &'i mut Vec<Event>,
    pub(crate) spool: &'i Spool,
    /// The spool as the state knows it.
    pub(crate) identity: &'i SpoolIdentity,
    /// The files that were there when the spool was watched for the first time, if their URLs are
    /// not written.
    pub(crate) existing: &'i ExistingFiles,
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
        let identity = self.identity;
        let key = mailbox_key(path, format.kind(), identity, self.spool.dedupe);
        let id = self
            .session
            .update(|state| state.mailbox(key, identity.key, version.id.dev))?;
        Ok(MailboxProgress::new(id, key))
    }

    /// Returns the mailbox of files without messages: the spool.
    pub(super) fn spool_mailbox(
        &mut self,
        version: FileVersion,
    ) -> Result<MailboxProgress, DaemonError> {
        let key = self.identity.key;
        let id = self
            .session
            .update(|state| state.mailbox(key, key, version.id.dev))?;
        Ok(MailboxProgress::new(id, key))
    }

    /// The ingest of the messages of a source, which is this version of a file or in it.
    pub(super) fn messages(
        &mut self,
        source: Source,
        version: FileVersion,
        mailbox: MailboxProgress,
        growing: Vec<GrowingMessage>,
    ) -> MessageIngest<'_> {
        MessageIngest {
            existing_end: self.existing.end_in(version),
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
        let hash_key = self.session.hash_key();
        let key = version.key(&file.source.path, file.hint, self.identity, hash_key);
        let look = version.look(place_key(
            &self.identity.path_of(&file.source.path),
            hash_key,
        ));
        let message = mailbox.only_link();
        let length = message
            .and(mailbox.place)
            .map(|place| (place, mailbox.last_len));
        let read = ReadFile {
            key,
            message,
            length,
        };
        let spool = &self.identity.path;
        self.session.update(|state| {
            if mailbox.messages > 1 {
                state.mark_multi_message(mailbox.id)?;
            }
            state.open_holder(key, spool, version.id.dev)?;
            state.mark_file_read(mailbox.id, &read, look)
        })
    }
}

impl IngestContext<'_> {
    /// Reports an mbox that was truncated while no daemon watched it, and resets its cursor:
    /// messages that were written after the last scan and removed by the truncation are lost. A
    /// file whose first bytes are unchanged is not reported: a mail program removed messages from
    /// it.
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
            .read(|state| state.cursors(version.id, &mailboxes))?;
        let mut cursors = cursors.into_iter();
        let Some(cursor) = cursors.find(|cursor| version.size < cursor.last) else {
            return Ok(());
        };
        if version.size > 0 && has_same_head(file, &cursor, self.session) {
            return Ok(());
        }
        self.session
            .update(|state| state.reset_cursor(version.id))?;
        let (size, last) = (version.size, cursor.last);
        let text = format!(
            "truncated to {size} bytes while the daemon was not watching; messages written after \
             byte {last}, up to which the file had been read, may be lost"
        );
        self.events
            .push(Diagnostic::at(DiagnosticKind::Vanished, last, text).of(&file.source));
        Ok(())
    }

    /// Ingests what is new in a file: of an mbox at most one chunk. `nuls` is the number of its
    /// leading NUL bytes as far as it is known from the chunk before, so that they are not read for
    /// each chunk again.
    pub(crate) fn ingest_file(
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
        let hash_key = self.session.hash_key();
        let key = opened
            .version
            .key(&file.source.path, file.hint, self.identity, hash_key);
        self.session.with(|committer| {
            if committer.db.tracks_holders() {
                committer.transaction()?.restart_holder(key)?;
            }
            Ok(())
        })?;
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
            Ok(format) => self.ingest_plain_file(file, opened, format, settle_state),
            Err(reason) => self.skip(file, opened.version, reason),
        }
    }

    /// Ingests a file that is not a container.
    fn ingest_plain_file(
        &mut self,
        file: &WalkedFile,
        opened: SniffedFile,
        format: Format,
        settle_state: SettleState,
    ) -> Result<FileOutcome, DaemonError> {
        let (identity, configured) = (self.identity, self.configured_format());
        let (spool, hash_key) = (&identity.path, self.session.hash_key());
        let max_message_bytes = self.extractor.limits().message_bytes;
        let SniffedFile {
            file: opened,
            version,
            start,
        } = opened;
        let mailbox = self.mailbox(&file.source.path, format, version)?;
        let growing = self.growing(format, &mailbox)?;
        let mailbox_id = mailbox.id;
        let mut ingest = self.messages(file.source.clone(), version, mailbox, growing);
        if let Some(format) = start.splittable_format(configured, file.hint) {
            ingest
                .session
                .update(|state| state.mark_multi_message(mailbox_id))?;
            let mbox = MboxFile {
                file: &opened,
                path: &file.source.path,
                place: place_key(&identity.path_of(&file.source.path), hash_key),
                spool,
                format,
                start: start.offset,
                version,
                settle_state,
                max_message_bytes,
                key: hash_key,
            };
            return mbox.ingest_chunk(&mut ingest);
        }
        // A message that is delivered into a Maildir is complete from the first moment
        // (maildir(5)).
        if settle_state == SettleState::Changing && file.hint != FormatHint::Maildir {
            return Ok(FileOutcome::Waiting);
        }
        let holder = version.key(&file.source.path, file.hint, identity, hash_key);
        ingest.open_holder(holder, spool, version)?;
        // A message in a Maildir never grows.
        if matches!(format, Format::Single(_)) && file.hint != FormatHint::Maildir {
            let place = place_key(&identity.path_of(&file.source.path), hash_key);
            ingest.mailbox.place = Some(place);
            ingest.earlier_lengths = ingest.session.read(|state| state.earlier_lengths(place))?;
        }
        let outcome = ingest_whole_file(
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
        }
        Ok(outcome)
    }

    /// Returns the messages of a mailbox that may still grow. Only these formats can have any.
    fn growing(
        &mut self,
        format: Format,
        mailbox: &MailboxProgress,
    ) -> Result<Vec<GrowingMessage>, DaemonError> {
        match format {
            Format::Mbox | Format::Mboxcl | Format::Text | Format::Html => self
                .session
                .read(|state| state.growing_messages(mailbox.id)),
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

/// Returns what is known of this version of the file. Opens no file.
pub(crate) fn file_standing(
    session: &Session,
    identity: &SpoolIdentity,
    file: &WalkedFile,
    version: FileVersion,
) -> Result<FileStanding, DaemonError> {
    let mailboxes = mailbox_scopes(&file.source.path, file.hint, identity);
    let hash_key = session.hash_key();
    session.with(|committer| {
        let state = &committer.db;
        if version.size == 0 {
            let cursors = state.cursors(version.id, &mailboxes)?;
            return Ok(FileStanding::Empty(held_pass(state, &cursors)?));
        }
        let key = version.key(&file.source.path, file.hint, identity, hash_key);
        let look = version.look(place_key(&identity.path_of(&file.source.path), hash_key));
        if let Some(known) = state.file_look(key)? {
            return match known.change(look) {
                LookChange::None => read_standing(state, key),
                LookChange::Renamed => {
                    let state = committer.transaction()?;
                    state.set_file_look(key, look)?;
                    read_standing(state, key)
                }
                LookChange::Content => {
                    Ok(FileStanding::Unread(state.is_holder(key)?.then_some(key)))
                }
            };
        }
        if file.hint == FormatHint::Maildir {
            return Ok(FileStanding::Unread(None));
        }
        let is_current = |cursor: &&MboxCursor| {
            (cursor.size, cursor.mtime) == (version.size, version.mtime)
                && cursor.look.change(look) != LookChange::Content
        };
        let cursors = state.cursors(version.id, &mailboxes)?;
        let is_renamed = |cursor: &MboxCursor| cursor.look.change(look) == LookChange::Renamed;
        if cursors.iter().filter(is_current).any(is_renamed) {
            let state = committer.transaction()?;
            state.set_mbox_look(version.id, &mailboxes, look)?;
        }
        let state = &committer.db;
        // One that was stored for another spool may name no holder.
        for cursor in cursors.iter().filter(is_current) {
            if let read @ FileStanding::Read(_) = read_standing(state, cursor.pass)? {
                return Ok(read);
            }
        }
        Ok(FileStanding::Unread(held_pass(state, &cursors)?))
    })
}

/// The pass that holds what was read of an mbox; `None` if holders are not tracked.
fn held_pass(state: &StateDb, cursors: &[MboxCursor]) -> Result<Option<HolderKey>, DaemonError> {
    for cursor in cursors {
        if state.is_holder(cursor.pass)? {
            return Ok(Some(cursor.pass));
        }
    }
    Ok(None)
}

/// The standing of a file that was read. If holders are tracked, it must be one, or its messages
/// are not known.
fn read_standing(state: &StateDb, holder: HolderKey) -> Result<FileStanding, DaemonError> {
    if state.tracks_holders() && !state.is_holder(holder)? {
        return Ok(FileStanding::Unread(None));
    }
    Ok(FileStanding::Read(holder))
}

/// An open file, its version and its start, by which its format is detected.
struct SniffedFile {
    file: File,
    version: FileVersion,
    start: SourceStart,
}

impl SniffedFile {
    /// Opens a file of whose leading NUL bytes `nuls` are known.
    fn open(file: &WalkedFile, nuls: u64, session: &Session) -> io::Result<SniffedFile> {
        let (file, metadata) = read::open_examined(file)?;
        let version = FileVersion::of(&metadata);
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
    session: &'f Session,
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

    fn max_leading_nuls(&self) -> u64 {
        u64::MAX
    }
}

impl Read for StartReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.session.beat();
        self.file.read(buffer)
    }
}

/// Returns `true` if a file can be read and its first bytes are those that the cursor covers.
fn has_same_head(file: &WalkedFile, cursor: &MboxCursor, session: &Session) -> bool {
    let head = SniffedFile::open(file, 0, session).and_then(|opened| {
        head_hash(
            &opened.file,
            opened.start.offset,
            cursor,
            session.hash_key(),
        )
    });
    head.is_ok_and(|head| head == cursor.head)
}

/// Ingests a file that is read as a whole. It is positioned after `start`.
pub(super) fn ingest_whole_file(
    file: &File,
    start: SourceStart,
    version: FileVersion,
    format: Format,
    max_message_bytes: usize,
    ingest: &mut MessageIngest<'_>,
) -> Result<FileOutcome, DaemonError> {
    let end = match format {
        // An mbox that is read as a whole has CR line ends.
        Format::Text | Format::Html | Format::Mbox | Format::Mboxcl => EndCertainty::EndOfFile,
        _ => EndCertainty::Certain,
    };
    let is_whole = version.size.saturating_sub(start.offset) <= max_message_bytes as u64;
    let mut reader = BlockReader::after_start(file, start, format, max_message_bytes);
    if !is_whole {
        let next = || Ok(reader.next_block()?.map(|block| (block, reader.format())));
        return ingest_blocks(next, version.size, end, ingest);
    }
    // The whole file is read before any message is ingested, so that a change in the meantime is
    // noticed.
    let mut blocks = Vec::new();
    loop {
        match reader.next_block() {
            Ok(None) => break,
            Ok(Some(block)) => blocks.push((block, reader.format())),
            Err(error) => return Ok(FileOutcome::Failed(error)),
        }
        if version.size < reader.position() {
            return Ok(FileOutcome::Waiting);
        }
    }
    match file.metadata() {
        Ok(metadata) if FileVersion::of(&metadata) != version => return Ok(FileOutcome::Waiting),
        Ok(_) => {}
        Err(error) => return Ok(FileOutcome::Failed(error)),
    }
    let mut blocks = blocks.into_iter();
    ingest_blocks(|| Ok(blocks.next()), version.size, end, ingest)
}

/// Ingests all messages of a stream. `end` is the end of the message that ends at `size`, the size
/// of the stream.
fn ingest_blocks(
    mut next: impl FnMut() -> io::Result<Option<(Block, Format)>>,
    size: u64,
    end: EndCertainty,
    ingest: &mut MessageIngest<'_>,
) -> Result<FileOutcome, DaemonError> {
    let mut blocks = BlockIngest::default();
    loop {
        let (mut block, format) = match next() {
            Ok(Some(read)) => read,
            Ok(None) => return Ok(FileOutcome::Complete),
            Err(error) => return Ok(FileOutcome::Failed(error)),
        };
        let block_end = if size <= block.offset + block.bytes.len() as u64 {
            end
        } else {
            EndCertainty::Certain
        };
        blocks.ingest_block(&mut block, format, block_end, ingest)?;
    }
}

/// Ingest of a stream, block after block.
#[derive(Debug, Default)]
pub(super) struct BlockIngest {
    /// Digest of the first fragment of the message that is read in fragments.
    first_digest: u128,
}

impl BlockIngest {
    /// Ingests the messages of the next block. `end` is the end of the last of them.
    pub(super) fn ingest_block(
        &mut self,
        block: &mut Block,
        format: Format,
        end: EndCertainty,
        ingest: &mut MessageIngest<'_>,
    ) -> Result<(), DaemonError> {
        let position = match &block.role {
            BlockRole::LaterFragment(begun) => Some(PiecePosition {
                first_digest: self.first_digest,
                offset: block.offset - begun.start,
            }),
            BlockRole::Whole | BlockRole::FirstFragment => None,
        };
        if block.role == BlockRole::Whole {
            ingest.find_earlier(block, format)?;
        }
        let messages = ingest.split(block, format);
        let digest = ingest.ingest_messages(&messages, position, end)?;
        if position.is_none() {
            self.first_digest = digest;
        }
        Ok(())
    }
}

/// Ingests everything in a compressed file or an archive. Damage in it is reported once and does
/// not make it fail, because it is permanent.
pub(super) fn ingest_container(
    context: &mut IngestContext<'_>,
    file: &WalkedFile,
    opened: File,
    version: FileVersion,
) -> Result<FileOutcome, DaemonError> {
    let messages = MessageSource::new(
        Input::file(opened),
        file.source.clone(),
        file.hint,
        context.configured_format(),
        context.extractor.limits(),
    );
    ingest_members(context, file, version, messages)
}

/// Ingests all members of a container, which `messages` has.
pub(super) fn ingest_members(
    context: &mut IngestContext<'_>,
    file: &WalkedFile,
    version: FileVersion,
    mut messages: MessageSource,
) -> Result<FileOutcome, DaemonError> {
    let mut members = Members {
        context,
        file,
        version,
        mailboxes: BTreeMap::new(),
        events: Vec::new(),
        error: None,
    };
    while let Some(step) = messages.next() {
        match step {
            InputStep::Opened { source, format } => {
                members.ingest_member(&source, format, &mut messages)?
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
    fn ingest_member(
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
        let mailbox = self.context.mailbox(path, format, self.version)?;
        let version = self.version;
        let mut ingest = self
            .context
            .messages(source.clone(), version, mailbox, Vec::new());
        let holder = self
            .version
            .key(path, hint, identity, ingest.session.hash_key());
        ingest.open_holder(holder, &identity.path, self.version)?;
        let mut blocks = BlockIngest::default();
        let mut error = None;
        for step in first.into_iter().chain(messages) {
            match step {
                InputStep::Block(mut block) => {
                    blocks.ingest_block(
                        &mut block.block,
                        format,
                        EndCertainty::Certain,
                        &mut ingest,
                    )?;
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

    /// Marks the container as read, unless the device or the server failed: then another try may
    /// succeed.
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
                    .update(|state| state.mark_mixed_archive(*mailbox))?;
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
