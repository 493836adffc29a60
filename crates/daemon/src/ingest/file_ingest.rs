//! Ingest of one file: whether it has new content, whether that content is complete, and which
//! reader it needs. `mbox.rs` reads mboxes. Other files, compressed files and archives are read
//! here, once, from start to end.
//!
//! In the git repository of a mailing list, the messages that commits add are read in order. The
//! state keeps the last commit that was read. That only saves work: a rewritten branch is read from
//! its start, and known messages are recognised. With tombstones, a repository is read from its
//! start whenever it changes. It then becomes a new holder of the messages that no commit deletes.
//! Messages held only by the previous holder are gone, as in a rewritten file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use super::identity::{FileVersion, mailbox_key, place_key};
use super::mbox::{MboxFile, head_hash, looks_complete, read_at};
use super::message_ingest::{IngestContext, MailboxProgress, MessageIngest};
use super::{EndCertainty, FileReadState, Incomplete, SettleState};
use crate::Result;
use crate::store::{
    Hash128, HolderKey, LookChange, MANY, MIXED, MailboxId, MboxCursor, ReadFile, Session,
    SpoolIdentity, StateDb,
};
use urlspool_files::pipeline::{InputStep, MessageSource};
use urlspool_mail::split::{Block, BlockReader, BlockRole, Format, SourceStart};
use urlspool_record::record::is_written_file;
use urlspool_sources::read::{self, Input, Repository, Selection, SparseRead};
use urlspool_sources::walk::WalkedFile;
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind, Event, SkipReason};
use urlspool_text::hash::hash_pieces;
use urlspool_text::origin::{FormatHint, Source};

impl IngestContext<'_> {
    /// The format that the configuration sets for the spool, if any.
    fn configured_format(&self) -> Option<Format> {
        self.spool.kind.map(Format::of)
    }

    fn mailbox(&self, key: Hash128) -> Result<MailboxProgress> {
        let (spool, dev) = (self.identity.key, self.version.id.dev);
        let id = self.session.lock()?.db()?.mailbox(key, spool, dev)?;
        Ok(MailboxProgress::new(id, key))
    }

    /// Returns the mailbox of the file's messages.
    fn mailbox_of(&self, format: Format) -> Result<MailboxProgress> {
        let (path, dedupe) = (&self.file.source.path, self.spool.dedupe);
        self.mailbox(mailbox_key(path, format.kind(), self.identity, dedupe))
    }

    /// The key in the state of this version of the file, if it is read completely.
    fn key(&self) -> u64 {
        let hash_key = self.session.hash_key;
        self.version.key(self.file, self.identity, hash_key)
    }

    /// The [`place_key`] of the file.
    pub(super) fn place(&self) -> u64 {
        let path = self.identity.path_of(&self.file.source.path);
        place_key(&path, self.session.hash_key)
    }

    /// Records in the state that the file was read completely.
    fn mark_read(&self, mailbox: &MailboxProgress) -> Result<()> {
        let (key, look) = (self.key(), self.version.look(self.place()));
        let is_one = mailbox.messages == 1 && mailbox.pieces == 0;
        let message = is_one.then_some(mailbox.last_link);
        let place = message.and(mailbox.place);
        let read = ReadFile {
            key,
            message,
            length: place.map(|place| (place, mailbox.last_len)),
            position: None,
        };
        let spool = &self.identity.path;
        let writer = self.session.lock()?;
        let state = writer.db()?;
        if mailbox.messages > 1 {
            state.raise_many(mailbox.id, MANY)?;
        }
        state.open_holder(key, spool, self.version.id.dev)?;
        state.mark_file_read(mailbox.id, &read, look)
    }

    /// Reports an mbox that was truncated while no daemon watched it, and resets its cursor.
    /// Messages that were written after the last scan and removed by the truncation are lost. A
    /// file whose first bytes are unchanged is not reported: a mail program removed messages from
    /// it.
    pub(crate) fn report_truncation(&mut self) -> Result<()> {
        let (file, version) = (self.file, self.version);
        if file.hint == FormatHint::Maildir {
            return Ok(());
        }
        let keys = version.mbox_keys(file, self.identity);
        let cursors = cursors(self.session.lock()?.db()?, &keys)?;
        let Some(cursor) = cursors.iter().find(|cursor| version.size < cursor.last) else {
            return Ok(());
        };
        if version.size > 0 && has_same_head(file, cursor, self.session) {
            return Ok(());
        }
        for key in keys {
            self.session.lock()?.db()?.reset_cursor(key)?;
        }
        let (size, last) = (version.size, cursor.last);
        let text = format!(
            "truncated to {size} bytes while the daemon was not watching; messages written after \
             byte {last}, the end of the last reading, may be lost"
        );
        self.events
            .push(Diagnostic::at(DiagnosticKind::Vanished, last, text).of(&file.source));
        Ok(())
    }

    /// Ingests the new content of the file; of an mbox, at most one chunk. `settle_state` is that
    /// of its version. `nuls` is the number of leading NUL bytes known from the previous chunk,
    /// which need not be read again.
    pub(crate) fn ingest_file(
        &mut self,
        settle_state: SettleState,
        nuls: &mut u64,
    ) -> Result<(), Incomplete> {
        let (file, checked) = (self.file, self.version);
        let opened = SniffedFile::open(file, *nuls, self.session)?;
        *nuls = opened.start.offset;
        // Only the times count: some file systems report another inode for an open file.
        self.version = opened.version;
        let is_same = (self.version.size, self.version.ctime) == (checked.size, checked.ctime);
        let changing = SettleState::Changing;
        let settle_state = if is_same { settle_state } else { changing };
        self.session.lock()?.db()?.restart_holder(self.key())?;
        let is_container = opened.start.is_container;
        let is_own_output = !is_container && is_written_file(&opened.start.bytes);
        // Containers are not appended to, so they are read as a whole once they have settled.
        if (is_container || is_own_output) && settle_state != SettleState::Settled {
            return Err(Incomplete::Waiting);
        }
        if is_container {
            let messages = MessageSource::new(
                Input::file(opened.file),
                file.source.clone(),
                file.hint,
                self.configured_format(),
                self.extractor.limits(),
            );
            return self.ingest_members(messages);
        }
        if is_own_output {
            // Otherwise its URLs would be written again, and then those records too, without end.
            return self.skip(SkipReason::OwnOutput);
        }
        match opened.start.format(self.configured_format(), file.hint) {
            Ok(format) => self.ingest_plain_file(&opened.file, opened.start, format, settle_state),
            Err(reason) => self.skip(reason),
        }
    }

    /// Ingests a file that is not a container.
    fn ingest_plain_file(
        &mut self,
        opened: &File,
        start: SourceStart,
        format: Format,
        settle_state: SettleState,
    ) -> Result<(), Incomplete> {
        let (file, version) = (self.file, self.version);
        let max_message_bytes = self.extractor.limits().message_bytes;
        let (holder, place) = (self.key(), self.place());
        let mailbox = self.mailbox_of(format)?;
        let mailbox_id = mailbox.id;
        let (configured, session) = (self.configured_format(), self.session);
        let mut ingest = MessageIngest::new(self, file.source.clone(), mailbox);
        if may_grow(format) {
            ingest.growing = session.lock()?.db()?.growing_messages(mailbox_id)?;
        }
        // A file in a Maildir never grows, even if its first line starts an mbox.
        if file.hint != FormatHint::Maildir
            && let Some(format) = start.splittable_format(configured, file.hint)
        {
            session.lock()?.db()?.raise_many(mailbox_id, MANY)?;
            let mut mbox = MboxFile {
                ingest: &mut ingest,
                file: opened,
                format,
                start: start.offset,
                settle_state,
            };
            return mbox.ingest_chunk();
        }
        let is_complete = match settle_state {
            // A message delivered into a Maildir is complete from the start (maildir(5)).
            _ if file.hint == FormatHint::Maildir => true,
            SettleState::Settled => true,
            SettleState::Closed if matches!(format, Format::Single(_)) => {
                let raw = read_at(opened, 0, version.size.min(max_message_bytes as u64));
                raw.is_ok_and(|raw| looks_complete(&raw))
            }
            SettleState::Closed | SettleState::Changing => false,
        };
        if !is_complete {
            return Err(Incomplete::Waiting);
        }
        ingest.open_holder(holder)?;
        // A message in a Maildir never grows.
        if matches!(format, Format::Single(_)) && file.hint != FormatHint::Maildir {
            ingest.mailbox.place = Some(place);
            ingest.earlier_lengths = session.lock()?.db()?.earlier_lengths(place)?;
        }
        ingest.ingest_whole(opened, start, format)?;
        let mailbox = ingest.mailbox;
        Ok(self.mark_read(&mailbox)?)
    }

    /// Marks an unsupported file, so it is not opened again until it changes.
    fn skip(&self, reason: SkipReason) -> Result<(), Incomplete> {
        // Files without messages belong to the spool's own mailbox.
        let mailbox = self.mailbox(self.identity.key)?;
        self.mark_read(&mailbox)?;
        Err(Incomplete::Skipped(reason))
    }
}

/// Returns the recorded progress for this version of the file. Opens no file.
pub(crate) fn file_read_state(
    session: &Session,
    identity: &SpoolIdentity,
    file: &WalkedFile,
    version: FileVersion,
) -> Result<FileReadState> {
    let mboxes = version.mbox_keys(file, identity);
    let hash_key = session.hash_key;
    let writer = session.lock()?;
    let state = writer.db()?;
    if version.size == 0 {
        let cursors = cursors(state, &mboxes)?;
        return Ok(FileReadState::Empty(held_pass(state, &cursors)?));
    }
    let key = version.key(file, identity, hash_key);
    let look = version.look(place_key(&identity.path_of(&file.source.path), hash_key));
    if let Some(known) = state.file_look(key)? {
        match known.change(look) {
            LookChange::None => {}
            LookChange::Renamed => state.set_file_look(key, look)?,
            LookChange::Content => {
                return Ok(FileReadState::Unread(state.is_holder(key)?.then_some(key)));
            }
        }
        return holder_read_state(state, key);
    }
    if file.hint == FormatHint::Maildir {
        return Ok(FileReadState::Unread(None));
    }
    let cursors = cursors(state, &mboxes)?;
    for cursor in &cursors {
        let change = cursor.look.change(look);
        if (cursor.size, cursor.mtime) != (version.size, version.mtime)
            || change == LookChange::Content
        {
            continue;
        }
        if change == LookChange::Renamed {
            for mbox in &mboxes {
                state.set_file_look(*mbox, look)?;
            }
        }
        // A cursor stored for another spool may name no holder.
        if let read @ FileReadState::Read(_) = holder_read_state(state, cursor.pass)? {
            return Ok(read);
        }
    }
    Ok(FileReadState::Unread(held_pass(state, &cursors)?))
}

/// The positions up to which the mboxes with these keys were read.
fn cursors(state: &StateDb, keys: &[u64]) -> Result<Vec<MboxCursor>> {
    let found = keys.iter().map(|key| state.cursor(*key));
    found.filter_map(Result::transpose).collect()
}

/// The pass that holds the messages read of an mbox; `None` if holders are not tracked.
fn held_pass(state: &StateDb, cursors: &[MboxCursor]) -> Result<Option<HolderKey>> {
    for cursor in cursors {
        if state.is_holder(cursor.pass)? {
            return Ok(Some(cursor.pass));
        }
    }
    Ok(None)
}

/// Returns the recorded progress for a file that was read. If holders are tracked, the file must be
/// one; otherwise its messages are unknown.
fn holder_read_state(state: &StateDb, holder: HolderKey) -> Result<FileReadState> {
    if state.tracks_holders() && !state.is_holder(holder)? {
        return Ok(FileReadState::Unread(None));
    }
    Ok(FileReadState::Read(holder))
}

/// An open file with its version and its first bytes, which determine its format.
struct SniffedFile {
    file: File,
    version: FileVersion,
    start: SourceStart,
}

impl SniffedFile {
    /// Opens a file with `nuls` known leading NUL bytes.
    fn open(file: &WalkedFile, nuls: u64, session: &Session) -> io::Result<SniffedFile> {
        let (file, metadata) = read::open_examined(file)?;
        let version = FileVersion::of(&metadata);
        (&file).seek(SeekFrom::Start(nuls))?;
        let mut start = SourceStart::read(&mut StartReader {
            file: &file,
            session,
        })?;
        start.offset += nuls;
        Ok(SniffedFile {
            file,
            version,
            start,
        })
    }
}

/// Reads the start of a file. Reports progress, because there may be many NUL bytes.
struct StartReader<'f> {
    file: &'f File,
    session: &'f Session,
}

impl SparseRead for StartReader<'_> {
    fn skip_hole(&mut self, step: u64) -> u64 {
        self.file.skip_hole(step)
    }

    fn max_leading_nuls(&self) -> u64 {
        u64::MAX
    }
}

impl Read for StartReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.session.heartbeat.beat();
        self.file.read(buffer)
    }
}

/// Returns `true` if a file can be read and its first bytes match the cursor.
fn has_same_head(file: &WalkedFile, cursor: &MboxCursor, session: &Session) -> bool {
    let opened = SniffedFile::open(file, 0, session);
    let head = opened.and_then(|SniffedFile { file, start, .. }| {
        head_hash(&file, start.offset, cursor, session.hash_key)
    });
    head.is_ok_and(|head| head == cursor.head)
}

impl MessageIngest<'_, '_> {
    /// Ingests a file that is read as a whole. `file` is positioned after `start`.
    fn ingest_whole(
        &mut self,
        file: &File,
        start: SourceStart,
        format: Format,
    ) -> Result<(), Incomplete> {
        let version = self.context.version;
        let max_message_bytes = self.context.extractor.limits().message_bytes;
        // An mbox that is read as a whole has CR line ends.
        let end = if may_grow(format) {
            EndCertainty::EndOfFile
        } else {
            EndCertainty::Certain
        };
        let is_whole = version.size.saturating_sub(start.offset) <= max_message_bytes as u64;
        let mut reader = BlockReader::after_start(Box::new(file), start, format, max_message_bytes);
        // The whole file is read before any message is ingested, so a change during the read is
        // noticed. Files too large to be held in memory are the exception.
        let mut held = Vec::new();
        while let Some(mut block) = reader.next_block()? {
            let is_last = version.size <= block.offset + block.bytes.len() as u64;
            let block_end = if is_last { end } else { EndCertainty::Certain };
            let format = reader.format();
            if !is_whole {
                self.ingest_block(&mut block, format, block_end)?;
            } else if version.size < reader.position() {
                return Err(Incomplete::Waiting);
            } else {
                held.push((block, format, block_end));
            }
        }
        if is_whole && FileVersion::of(&file.metadata()?) != version {
            return Err(Incomplete::Waiting);
        }
        for (mut block, format, end) in held {
            self.ingest_block(&mut block, format, end)?;
        }
        Ok(())
    }

    /// Ingests the messages of the next block of a stream. `end` applies to the last of them.
    fn ingest_block(&mut self, block: &mut Block, format: Format, end: EndCertainty) -> Result<()> {
        let offset = match &block.role {
            BlockRole::LaterFragment(head) => Some(block.offset - head.start),
            BlockRole::Whole | BlockRole::FirstFragment => None,
        };
        if block.role == BlockRole::Whole {
            self.find_earlier(block, format)?;
        }
        let messages = self.split(block, format);
        self.ingest_messages(&messages, offset, end)
    }
}

/// Returns `true` if the last message of a file in this format may grow.
fn may_grow(format: Format) -> bool {
    matches!(
        format,
        Format::Mbox | Format::Mboxcl | Format::Text | Format::Html
    )
}

impl IngestContext<'_> {
    /// Ingests all members of a compressed file, an archive or a repository, which `messages`
    /// reads. Damage is permanent, so it is reported once and does not count as a failure.
    fn ingest_members(&mut self, mut messages: MessageSource) -> Result<(), Incomplete> {
        let mut members = Members {
            context: self,
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
}

/// Progress of the ingest of a container.
struct Members<'m, 'i> {
    context: &'m mut IngestContext<'i>,
    /// The mailboxes of the members.
    mailboxes: BTreeMap<MailboxId, MailboxProgress>,
    /// Events of the container and its members.
    events: Vec<Event>,
    /// The last error from reading a member.
    error: Option<io::Error>,
}

impl Members<'_, '_> {
    /// Ingests the messages of the member that was opened last.
    fn ingest_member(
        &mut self,
        source: &Source,
        format: Format,
        messages: &mut MessageSource,
    ) -> Result<()> {
        let first = messages.next();
        if let Some(InputStep::Block(block)) = &first
            && is_written_file(&block.block.bytes)
        {
            // Otherwise its URLs would be written again.
            messages.find(|step| matches!(step, InputStep::Ended(_)));
            let text = format!("skipped: {}", SkipReason::OwnOutput.name());
            let diagnostic = Diagnostic::new(DiagnosticKind::Skip, text);
            self.events.push(diagnostic.of(source));
            return Ok(());
        }
        let mailbox = self.context.mailbox_of(format)?;
        let holder = self.context.key();
        let mut ingest = MessageIngest::new(self.context, source.clone(), mailbox);
        ingest.open_holder(holder)?;
        let mut error = None;
        for step in first.into_iter().chain(messages) {
            match step {
                InputStep::Block(mut block) => {
                    ingest.ingest_block(&mut block.block, format, EndCertainty::Certain)?;
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

    /// Marks the container as read, unless the device or the server failed: another attempt may
    /// then succeed.
    fn finish(self) -> Result<(), Incomplete> {
        for Event { diagnostic, .. } in &self.events {
            if diagnostic.kind == DiagnosticKind::Unreadable {
                let error = io::Error::other(diagnostic.message.clone());
                return Err(self.error.unwrap_or(error).into());
            }
        }
        self.context.events.extend(self.events);
        if self.mailboxes.len() > 1 {
            let writer = self.context.session.lock()?;
            for mailbox in self.mailboxes.keys() {
                writer.db()?.raise_many(*mailbox, MIXED)?;
            }
        }
        let mailbox = match self.mailboxes.into_values().next() {
            Some(mailbox) => mailbox,
            None => self.context.mailbox(self.context.identity.key)?,
        };
        Ok(self.context.mark_read(&mailbox)?)
    }
}

impl FileVersion {
    /// Converts the version of a folder into the version of the repository in it, which depends on
    /// the last commit.
    pub(crate) fn of_repository(self, tip: &str) -> FileVersion {
        FileVersion {
            id: self.id,
            size: 1,
            mtime: hash_pieces(&[tip.as_bytes()]) as i64,
            ctime: 0,
        }
    }
}

impl IngestContext<'_> {
    /// Ingests the new messages of a repository.
    pub(crate) fn ingest_repository(&mut self, repository: &Repository) -> Result<(), Incomplete> {
        let name = position_name(self.place());
        let mut position: Option<String> = self.session.lock()?.db()?.meta(&name)?;
        // Commits may have been added between the start, when existing mail was noted, and now.
        let noted = self.existing.tip(self.version).map(str::to_owned);
        if let (None, Some(noted)) = (&position, noted)
            && noted != repository.tip()
            && matches!(repository.contains(&noted), Ok(true))
        {
            let before = repository.clone().at(noted);
            let version = self.version;
            self.version = version.of_repository(before.tip());
            self.ingest_commits(&before, None)?;
            self.version = version;
            position = Some(before.tip().to_owned());
        }
        self.ingest_commits(repository, position)
    }

    /// Ingests the commits after `position`, and makes the last one the new position.
    fn ingest_commits(
        &mut self,
        repository: &Repository,
        position: Option<String>,
    ) -> Result<(), Incomplete> {
        let source = &self.file.source;
        let mut selection = Selection::All;
        if let Some(commit) = position {
            if repository.contains(&commit)? {
                selection = Selection::Since(commit);
            } else {
                let text = "its branch was rewritten, so it is read from the start";
                let diagnostic = Diagnostic::new(DiagnosticKind::Ambiguous, text);
                self.events.push(diagnostic.of(source));
            }
        }
        if self.session.lock()?.db()?.tracks_holders() {
            selection = Selection::Live;
        }
        let (format, limits) = (self.configured_format(), self.extractor.limits());
        let source = source.clone();
        let messages = MessageSource::of_commits(repository, &selection, source, format, limits)?;
        self.ingest_members(messages)?;
        let name = position_name(self.place());
        let writer = self.session.lock()?;
        Ok(writer.db()?.set_meta(&name, repository.tip())?)
    }
}

/// Name in the state of the last commit read of the repository at `place`.
fn position_name(place: u64) -> String {
    format!("git {place:016x}")
}
