//! Ingest of the new messages of an mbox, one chunk at a time, read under the lock that its writers
//! honour.
//!
//! A message is complete when the next one follows it, or when its file has settled. Before a chunk
//! is read, the last ingested message is read again and compared, which detects a rewritten
//! mailbox. A mailbox that was rewritten with an equal size is detected by its time. A rewritten
//! mailbox is read from its start, and recorded messages are recognised by their content. The start
//! is the first byte that is not NUL: a writer that kept its offset after a truncation leaves a
//! hole before it.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;

use memchr::memmem;
use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::process::{Flock, FlockType, fcntl_getlk};

use super::identity::{FileVersion, guard_hash};
use super::message_ingest::MessageIngest;
use super::{EndCertainty, Incomplete, SettleState};
use crate::Result;
use crate::store::{FileLook, HolderKey, LookChange, MboxCursor};
use urlspool_files::keyed_hash::HashKey;
use urlspool_mail::split::{Block, BlockReader, BlockRole, Format, Message};
use urlspool_sources::read;
use urlspool_sources::walk::WalkedFile;
use urlspool_text::planted_faults::{PlantedFault, is_planted};

/// Bytes of an mbox read at once.
const CHUNK_BYTES: usize = 4 << 20;

/// Bytes at the start of an mbox that must not change. Covered by the head hash of its cursor.
const HEAD_BYTES: u64 = 1 << 10;

/// Maximum length of a line of text that was not wrapped, and that no base64 line has.
const UNWRAPPED_BYTES: usize = 70;

/// Bytes in which a separator must follow a message that was ingested in pieces.
const NEXT_SEPARATOR_BYTES: u64 = 64;

/// An mbox being read.
pub(super) struct MboxFile<'f, 'm, 'i> {
    pub(super) ingest: &'f mut MessageIngest<'m, 'i>,
    pub(super) file: &'f File,
    pub(super) format: Format,
    /// Offset of the first byte that is not NUL.
    pub(super) start: u64,
    pub(super) settle_state: SettleState,
}

/// A range of the file, read under the lock.
struct MboxChunk {
    /// The position up to which the file was ingested.
    cursor: MboxCursor,
    /// The first bytes after the start of the file.
    head: Vec<u8>,
    /// The bytes after the start of the last ingested message.
    bytes: Vec<u8>,
    /// `true` if the file ended with these bytes.
    at_end: bool,
    version: FileVersion,
}

impl MboxFile<'_, '_, '_> {
    /// Ingests the new messages of one chunk.
    pub(super) fn ingest_chunk(&mut self) -> Result<(), Incomplete> {
        let (version, key) = (self.version(), self.key());
        let path = &self.ingest.context.file.source.path;
        let max_message_bytes = self.ingest.context.extractor.limits().message_bytes;
        // Data appended during the read is new.
        self.ingest.existing_end = self.ingest.existing_end.min(version.size);
        let (known, next_pass) = self.known_cursor()?;
        let mut chunk_bytes = CHUNK_BYTES.min(max_message_bytes);
        loop {
            let chunk = with_lock(self.file, path, || {
                self.read_chunk(known, next_pass, chunk_bytes)
            })?;
            let block = Block {
                bytes: chunk.bytes,
                offset: chunk.cursor.first,
                role: BlockRole::Whole,
                unpacked_times: 0,
            };
            self.ingest.open_holder(chunk.cursor.pass)?;
            let messages = self.ingest.split(&block, self.format);
            // Reading takes time: a settled file must not have changed during it.
            let is_ended = match self.settle_state {
                SettleState::Settled => true,
                SettleState::Changing => false,
                SettleState::Closed => messages.last().is_some_and(|last| looks_complete(last.raw)),
            };
            let is_settled = chunk.at_end && is_ended && chunk.version == version;
            let complete = if is_settled {
                &messages[..]
            } else {
                terminated_messages(&messages)
            };
            let last = chunk.cursor.last;
            let has_new = complete.last().is_some_and(|message| last < message.end());
            if !has_new && !chunk.at_end {
                if max_message_bytes <= chunk_bytes {
                    let from = MboxCursor {
                        // A message that is alone in such a large chunk was not read completely.
                        first: if messages.len() == 1 {
                            block.offset
                        } else {
                            last
                        },
                        guard: guard_hash(&[], key),
                        ..chunk.cursor
                    };
                    if self.ingest_oversized(from, &chunk.head)? {
                        return Ok(());
                    }
                }
                chunk_bytes *= 2;
                continue;
            }
            let end = match (is_settled, block.bytes.ends_with(b"\n")) {
                (false, _) => EndCertainty::Certain,
                (true, true) => EndCertainty::EndOfFile,
                (true, false) => EndCertainty::MidLine,
            };
            let after = |message: &Message<'_>| cursor_after(message, &block, chunk.cursor, key);
            if self.ingest.holder.is_some() {
                let file = version.id.hash_in(self.ingest.mailbox.key);
                let position = |message| (file, self.position(after(message), &chunk.head));
                self.ingest.positions = complete.iter().map(position).collect();
            }
            self.ingest.ingested_end = last;
            self.ingest.ingest_messages(complete, None, end)?;
            let is_complete = is_settled || messages.is_empty() && chunk.at_end;
            let cursor = complete.last().map_or(chunk.cursor, after);
            self.save(cursor, &chunk.head, is_complete.then_some(chunk.version))?;
            return match (is_complete, chunk.at_end) {
                (true, _) => Ok(()),
                (false, true) => Err(Incomplete::Waiting),
                (false, false) => Err(Incomplete::Partial),
            };
        }
    }

    /// Ingests a message that is too large to be held in memory, piece by piece, each read under
    /// the lock. Returns `false` if the message fits in memory.
    fn ingest_oversized(&mut self, cursor: MboxCursor, head: &[u8]) -> Result<bool, Incomplete> {
        let (version, key, start) = (self.version(), self.key(), cursor.first);
        let path = &self.ingest.context.file.source.path;
        let max_message_bytes = self.ingest.context.extractor.limits().message_bytes;
        let mut from_start = Box::new(self.file);
        from_start.seek(SeekFrom::Start(start))?;
        let mut reader = BlockReader::new(from_start, self.format, max_message_bytes);
        let mut end = start;
        let mut begin = None;
        while let Some(mut block) = with_lock(self.file, path, || {
            next_block(self.file, &mut reader, start, &mut begin)
        })? {
            block.offset += start;
            if let BlockRole::LaterFragment(head) = &mut block.role {
                head.start += start;
            }
            if block.role == BlockRole::Whole && end == start {
                return Ok(false);
            }
            if block.role == BlockRole::Whole {
                break;
            }
            end = block.offset + block.bytes.len() as u64;
            let at_end = version.size <= end;
            if at_end && self.settle_state != SettleState::Settled {
                return Err(Incomplete::Waiting);
            }
            let is_later = block.role != BlockRole::FirstFragment;
            let offset = is_later.then_some(block.offset - start);
            let message_end = if at_end {
                EndCertainty::EndOfFile
            } else {
                EndCertainty::Certain
            };
            let pieces = self.ingest.split(&block, self.format);
            if offset.is_none() && self.ingest.holder.is_some() {
                // An interrupted message is read again from its start, if its first bytes are
                // unchanged.
                let resumable = MboxCursor {
                    first: start,
                    last: end,
                    guard: guard_hash(&block.bytes, key),
                    ..cursor
                };
                let file = version.id.hash_in(self.ingest.mailbox.key);
                self.ingest.positions = [(file, self.position(resumable, head))].into();
            }
            self.ingest.ingest_messages(&pieces, offset, message_end)?;
        }
        // An empty last message, because such a large message is not read again.
        let cursor = MboxCursor {
            first: end,
            last: end,
            guard: guard_hash(&[], key),
            ..cursor
        };
        let is_complete = version.size <= end;
        self.save(cursor, head, is_complete.then_some(version))?;
        if is_complete {
            Ok(true)
        } else {
            Err(Incomplete::Partial)
        }
    }

    fn version(&self) -> FileVersion {
        self.ingest.context.version
    }

    /// The key of the state.
    fn key(&self) -> HashKey {
        self.ingest.context.session.hash_key
    }

    /// Returns the position up to which the file was read, or `None` if it must be read from its
    /// start. If its pass is not a holder, messages may have been read that no holder holds. Also
    /// returns the pass that a read from the start would have; 0 if holders are not tracked.
    fn known_cursor(&self) -> Result<(Option<MboxCursor>, HolderKey)> {
        let (id, mailbox) = (self.version().id, self.ingest.mailbox.key);
        let writer = self.ingest.context.session.lock()?;
        let state = writer.db()?;
        let known = state.cursor(id.hash_in(mailbox))?;
        if !state.tracks_holders() {
            return Ok((known, 0));
        }
        let last = known.map_or(0, |cursor| cursor.pass);
        let is_held = state.is_holder(last)?;
        Ok((known.filter(|_| is_held), id.next_pass(mailbox, last)))
    }

    /// Saves in the state how far the file was ingested. `complete` is the file's version if it was
    /// ingested completely.
    fn save(&self, cursor: MboxCursor, head: &[u8], complete: Option<FileVersion>) -> Result<()> {
        let mut cursor = self.position(cursor, head);
        if let Some(version) = complete {
            (cursor.size, cursor.mtime) = (version.size, version.mtime);
            cursor.look = version.look(self.ingest.context.place());
        }
        let mailbox = &self.ingest.mailbox;
        let file = self.version().id.hash_in(mailbox.key);
        let writer = self.ingest.context.session.lock()?;
        writer.db()?.put_cursor(file, mailbox.id, &cursor)
    }

    /// Creates the position for a partly read file. `cursor` lacks the hash of `head`, the first
    /// bytes after the start of the file.
    fn position(&self, cursor: MboxCursor, head: &[u8]) -> MboxCursor {
        let head_bytes = head_bytes(self.start, &cursor).min(head.len() as u64);
        MboxCursor {
            head: guard_hash(&head[..head_bytes as usize], self.key()),
            size: 0,
            mtime: 0,
            look: FileLook::default(),
            ..cursor
        }
    }

    /// Reads up to `bytes` bytes from the start of the last ingested message, or from the start of
    /// the file if that message has changed. The rest waits if the file was truncated since it was
    /// opened, or that message has changed since it was compared.
    fn read_chunk(
        &self,
        known: Option<MboxCursor>,
        next_pass: HolderKey,
        bytes: usize,
    ) -> Result<MboxChunk, Incomplete> {
        if !self.starts_after_nuls()? {
            return Err(Incomplete::Waiting);
        }
        let version = FileVersion::of(&self.file.metadata()?);
        let cursor = match known {
            Some(cursor) if self.is_valid(&cursor, version)? => cursor,
            _ => MboxCursor {
                first: self.start,
                last: self.start,
                pass: next_pass,
                guard: guard_hash(&[], self.key()),
                ..MboxCursor::default()
            },
        };
        let head = read_at(self.file, self.start, HEAD_BYTES)?;
        let bytes = read_at(self.file, cursor.first, bytes as u64)?;
        // A writer may have locked the file since that message was compared.
        let last = bytes.get(..(cursor.last - cursor.first) as usize);
        if last.is_some_and(|last| guard_hash(last, self.key()) != cursor.guard) {
            return Err(Incomplete::Waiting);
        }
        // A writer that locks the file only now does not wait for this process.
        let version = FileVersion::of(&self.file.metadata()?);
        let at_end = version.size <= cursor.first + bytes.len() as u64;
        Ok(MboxChunk {
            cursor,
            head,
            bytes,
            at_end,
            version,
        })
    }

    /// Returns `true` if the byte at the file's start is not NUL, and the byte before it, if any,
    /// is NUL. An empty file has no NUL byte.
    fn starts_after_nuls(&self) -> io::Result<bool> {
        let before = self.start.saturating_sub(1);
        let bytes = read_at(self.file, before, 1 + self.start - before)?;
        Ok(match (self.start, &bytes[..]) {
            (0, bytes) => bytes != [0],
            (_, [before, first]) => *before == 0 && *first != 0,
            _ => false,
        })
    }

    /// Returns `true` if the file is unchanged up to the cursor, so it was appended to at most. A
    /// file that was rewritten with an equal size may have changed anywhere. A file that has grown
    /// is compared at its start and at the last message.
    fn is_valid(&self, cursor: &MboxCursor, version: FileVersion) -> io::Result<bool> {
        let change = cursor
            .look
            .change(version.look(self.ingest.context.place()));
        let is_overwritten = cursor.size == version.size
            && (cursor.mtime != version.mtime || change == LookChange::Content);
        if is_overwritten || version.size < cursor.last || cursor.first < self.start {
            return Ok(false);
        }
        let last = read_at(self.file, cursor.first, cursor.last - cursor.first)?;
        let head = head_hash(self.file, self.start, cursor, self.key())?;
        if head != cursor.head || guard_hash(&last, self.key()) != cursor.guard {
            return Ok(false);
        }
        // After a message that was too large to be read again, only a new message may follow.
        let next = read_at(self.file, cursor.first, NEXT_SEPARATOR_BYTES)?;
        let text = next.trim_ascii_start();
        Ok(cursor.first < cursor.last || next.is_empty() || text.starts_with(b"From "))
    }
}

/// Reads the next piece of the message at `start` of an mbox; `None` if no piece is left. Called
/// under the lock, which is released between two pieces, so a writer may change the message between
/// them. `begin` keeps the first bytes of the message, which reveal such a change.
fn next_block(
    file: &File,
    reader: &mut BlockReader<'_>,
    start: u64,
    begin: &mut Option<Vec<u8>>,
) -> Result<Option<Block>, Incomplete> {
    let now = read_at(file, start, HEAD_BYTES)?;
    if *begin.get_or_insert_with(|| now.clone()) != now {
        return Err(Incomplete::Waiting);
    }
    Ok(reader.next_block()?)
}

/// Returns the hash of the first bytes of a file that starts at `start`, at most up to the cursor.
pub(super) fn head_hash(
    file: &File,
    start: u64,
    cursor: &MboxCursor,
    key: HashKey,
) -> io::Result<u64> {
    let head = read_at(file, start, head_bytes(start, cursor))?;
    Ok(guard_hash(&head, key))
}

/// Returns the number of bytes that the head hash of a cursor covers, in a file that starts at
/// `start`.
fn head_bytes(start: u64, cursor: &MboxCursor) -> u64 {
    cursor.last.saturating_sub(start).min(HEAD_BYTES)
}

/// Reads `len` bytes at an offset, or fewer at the end of the file.
pub(super) fn read_at(file: &File, offset: u64, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; len as usize];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// Returns `true` if a message that its writer closed looks complete. A writer that opens the file
/// again within a message rarely stops at such a place, and then the message grows.
///
/// The message has a body whose last line is ended. No part is open, and the line is neither one of
/// base64, nor one that continues as quoted-printable text, nor the separator of a next message.
pub(super) fn looks_complete(raw: &[u8]) -> bool {
    let text = raw.trim_ascii_end();
    let header = memmem::find(text, b"\n\n").or_else(|| memmem::find(text, b"\n\r\n"));
    let last = &text[memchr::memrchr(b'\n', text).map_or(0, |at| at + 1)..];
    let is_closed = match header {
        None => false,
        Some(end) if memmem::find(&text[..end], b"boundary=").is_some() => {
            last.starts_with(b"--") && last.ends_with(b"--")
        }
        Some(_) => !last.ends_with(b"=") && (last.len() < UNWRAPPED_BYTES || last.contains(&b' ')),
    };
    is_closed && raw.ends_with(b"\n") && !last.starts_with(b"From ")
}

/// Returns the messages that are followed by another one: they are complete even if the file is
/// still written.
fn terminated_messages<'f, 'b>(messages: &'f [Message<'b>]) -> &'f [Message<'b>] {
    // An unterminated line `http:` may become a header field or text. Only in the first case is the
    // line before it a separator.
    let is_undecided = messages
        .last()
        .is_some_and(|last| memchr::memchr(b'\n', last.raw).is_none());
    let incomplete = if is_undecided { 2 } else { 1 };
    &messages[..messages.len().saturating_sub(incomplete)]
}

/// Returns the cursor after a message of a block, with the pass and file of `cursor`.
fn cursor_after(
    message: &Message<'_>,
    block: &Block,
    cursor: MboxCursor,
    key: HashKey,
) -> MboxCursor {
    let start = (message.start - block.offset) as usize;
    let end = (message.end() - block.offset) as usize;
    MboxCursor {
        first: message.start,
        last: message.end(),
        guard: guard_hash(&block.bytes[start..end], key),
        ..cursor
    }
}

/// Calls `work` while no writer holds a lock of an mbox. Returns the outcome if a writer holds one,
/// or if `work` fails.
pub(super) fn with_lock<T>(
    file: &File,
    path: &Path,
    work: impl FnOnce() -> Result<T, Incomplete>,
) -> Result<T, Incomplete> {
    if is_planted(PlantedFault::NoLock) {
        return work();
    }
    let lock_file = path.with_added_extension("lock");
    if lock_file.symlink_metadata().is_ok() {
        return Err(Incomplete::Locked(format!(
            "by the lock file {}; remove that file if no program is writing the mailbox",
            lock_file.display()
        )));
    }
    // Other errors are ignored: writers honour no locks on file systems without them.
    if let Err(rustix::io::Errno::AGAIN | rustix::io::Errno::ACCESS) =
        fcntl_lock(file, FlockOperation::NonBlockingLockShared)
    {
        // `None` if the lock was released by now, or the holder is on another machine or in another
        // PID namespace.
        let holder = fcntl_getlk(file, &Flock::from(FlockType::ReadLock));
        let holder = match holder.ok().flatten().and_then(|lock| lock.pid) {
            Some(process) => format!("process {}", process.as_raw_nonzero()),
            None => "an unknown process".to_owned(),
        };
        return Err(Incomplete::Locked(format!("by {holder} (fcntl)")));
    }
    let done = work();
    // If this fails, closing the file releases the lock.
    let _ = fcntl_lock(file, FlockOperation::NonBlockingUnlock);
    done
}

/// Returns the reason to assume that a writer is about to write a file: a writer holds a lock, or
/// the lock cannot be examined. `None` if the file is not locked, or missing.
pub(crate) fn why_locked(file: &WalkedFile) -> Option<String> {
    match read::open(file) {
        Ok(opened) => match with_lock(&opened, &file.source.path, || Ok(())) {
            Err(Incomplete::Locked(lock)) => Some(format!("locked {lock}")),
            _ => None,
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => Some(format!("perhaps locked: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::ingest::message_ingest::tests::Needs;
    use crate::store::{SharedWriter, StoreFixture};
    use std::fs;
    use std::path::PathBuf;
    use std::sync::Arc;
    use urlspool_files::config::Config;

    /// An mbox and the daemon's state of it.
    struct Scene {
        store: StoreFixture,
        path: PathBuf,
        settle_state: SettleState,
        max_message_bytes: usize,
    }

    impl Scene {
        fn new(name: &str) -> Scene {
            let store = StoreFixture::new(name);
            let path = store.folder.join("inbox");
            Scene {
                store,
                path,
                settle_state: SettleState::Settled,
                max_message_bytes: Config::default().options().limits.message_bytes,
            }
        }

        /// Writes `text` to the mbox and ingests it. `opened` is called once the state is open.
        /// Then releases the holders of all passes but the last one. Returns the number of gone
        /// messages.
        fn ingest(&mut self, text: &str, opened: impl FnOnce()) -> Result<usize, Incomplete> {
            fs::write(&self.path, text).unwrap();
            let mut config = self.store.config();
            config.output.tombstones = true;
            let shared = SharedWriter::open(&config, &mut self.store)?;
            opened();
            let session = &shared.session(&Arc::default()).unwrap();
            let mut needs = Needs::new(&self.store.folder, &self.path);
            needs.limit_messages(self.max_message_bytes);
            let file = File::open(&self.path).unwrap();
            let version = FileVersion::of(&file.metadata().unwrap());
            let key = 2;
            let id = session.lock()?.db()?.mailbox(key, 2, version.id.dev)?;
            let mut context = needs.context(session);
            context.version = version;
            let spool = &self.store.folder;
            let mut mbox = MboxFile {
                ingest: &mut MessageIngest::of_test(&mut context, (id, key)),
                file: &file,
                format: Format::Mbox,
                start: 0,
                settle_state: self.settle_state,
            };
            let mut outcome = Err(Incomplete::Partial);
            let mut chunks = 0;
            while matches!(outcome, Err(Incomplete::Partial)) {
                outcome = mbox.ingest_chunk();
                chunks += 1;
                assert!(chunks < 20, "no end");
            }
            if let Err(Incomplete::Ended(_)) = outcome {
                return outcome.map(|()| 0);
            }
            let writer = session.lock()?;
            let state = writer.db()?;
            let cursor = state.cursor(version.id.hash_in(key))?.unwrap();
            let mut gone = 0;
            let mut holders = state.holders_after(spool, None)?;
            holders.retain(|holder| holder.key != cursor.pass);
            for holder in holders {
                while let Some(released) = state.release_holder(holder.key)? {
                    gone += released.len();
                }
            }
            drop(writer);
            shared.lock().close()?;
            outcome.map(|()| gone)
        }
    }

    #[test]
    fn a_message_looks_complete_unless_its_end_may_continue() {
        let complete = |text: &str| looks_complete(text.as_bytes());
        assert!(complete("A: b\n\nsee http://a.example/\n\n"));
        assert!(complete("A: b\r\n\r\nsee\r\n"));
        assert!(complete("A: boundary=c\n\n--c\nB: d\n\ne\n--c--\n\n"));
        for text in [
            "",
            "A: b\n",
            "A: b\n\n",
            "A: b\n\nsee http://a.ex",
            "A: b\n\nsee=\n",
            "A: b\n\nsee\n\nFrom a@b Mon Jan  1 00:00:00 1996\n",
        ] {
            assert!(!complete(text), "{text:?}");
        }
        assert!(!complete("A: boundary=c\n\n--c\nB: d\n\ne\n"));
        assert!(!complete(&format!("A: b\n\n{}\n", "YWJj".repeat(19))));
    }

    fn letters(numbers: std::ops::Range<u32>) -> String {
        let urls = "http://a.example/\n".repeat(1_000);
        numbers
            .map(|n| format!("From a@b Mon Jan  1 00:00:00 1996\nSubject: {n}\n\n{urls}\n"))
            .collect()
    }

    #[test]
    fn a_message_removed_after_an_interruption_is_gone() {
        let mut scene = Scene::new("interrupted");
        // The first segment cannot be published, so the chunk is interrupted after a commit.
        let segment = scene.store.config().output.dir.join("0000000001.jsonl");
        let block = || fs::create_dir_all(segment.join("x")).unwrap();
        let interrupted = scene.ingest(&letters(0..12), block);
        assert!(
            matches!(&interrupted, Err(Incomplete::Ended(error)) if error.kind == ErrorKind::Io),
            "{interrupted:?}"
        );
        fs::remove_dir_all(&segment).unwrap();
        let mut next = |numbers| scene.ingest(&letters(numbers), || ()).unwrap();
        assert_eq!((next(1..12), next(3..12)), (1, 2));
    }

    #[test]
    fn a_message_removed_after_a_partial_read_is_gone() {
        for before in [0..0, 0..3] {
            let mut scene = Scene::new("large");
            scene.max_message_bytes = CHUNK_BYTES;
            let first = letters(before);
            let large = letters(7..8) + &"and so on\n".repeat(3 * CHUNK_BYTES / 10);
            scene.settle_state = SettleState::Changing;
            let partial = scene.ingest(&(first.clone() + &large), || ());
            assert!(matches!(partial, Err(Incomplete::Waiting)), "{partial:?}");
            scene.settle_state = SettleState::Settled;
            let next = first + &letters(8..9);
            assert_eq!(scene.ingest(&next, || ()).unwrap(), 1);
        }
    }

    #[test]
    fn a_large_message_that_is_read_in_two_checks_is_not_gone() {
        let mut scene = Scene::new("continued");
        scene.max_message_bytes = CHUNK_BYTES;
        let large = letters(0..2) + &"and so on\n".repeat(3 * CHUNK_BYTES / 10);
        scene.settle_state = SettleState::Changing;
        scene.ingest(&large, || ()).unwrap_err();
        scene.settle_state = SettleState::Settled;
        let more = large + "the end\n";
        assert_eq!(scene.ingest(&more, || ()).unwrap(), 0);
    }

    #[test]
    fn a_message_larger_than_a_chunk_follows_a_small_one() {
        let sizes = [CHUNK_BYTES / 2, CHUNK_BYTES + 1, 3 * CHUNK_BYTES];
        for large_bytes in sizes {
            let large =
                letters(1..2) + &("and so on ".repeat(20) + "\n").repeat(large_bytes / 200) + "\n";
            let text = letters(0..1) + &large + &letters(2..3);
            // Maximum size of a held message: smaller than all of them, smaller than one, larger
            // than all.
            for max_message_bytes in [CHUNK_BYTES, 2 * CHUNK_BYTES, 8 * CHUNK_BYTES] {
                let mut scene = Scene::new(&format!("larger-{large_bytes}-{max_message_bytes}"));
                scene.max_message_bytes = max_message_bytes;
                assert_eq!(scene.ingest(&text, || ()).unwrap(), 0);
                let gone = scene.ingest(&letters(0..1), || ()).unwrap();
                assert_eq!(gone, 2, "{large_bytes} {max_message_bytes}");
            }
        }
    }

    #[test]
    fn a_message_that_changes_between_its_pieces_is_detected() {
        let scene = Scene::new("pieces");
        let line = "http://a.example/\n";
        let text = format!("From a\nSubject: s\n\n{}", line.repeat(1_000_000));
        fs::write(&scene.path, &text).unwrap();
        let file = File::open(&scene.path).unwrap();
        let (mut begin, mut pieces) = (None, Vec::new());
        let mut reader = BlockReader::new(Box::new(&file), Format::Mbox, 1 << 20);
        for change in [text.clone() + line, text.replacen("From a", "From b", 1)] {
            match next_block(&file, &mut reader, 0, &mut begin).unwrap() {
                Some(block) => pieces.push(block.role),
                None => panic!("no piece"),
            }
            fs::write(&scene.path, change).unwrap();
        }
        assert_eq!(pieces[0], BlockRole::FirstFragment);
        assert!(matches!(pieces[1], BlockRole::LaterFragment(_)));
        let next = next_block(&file, &mut reader, 0, &mut begin);
        assert!(matches!(next, Err(Incomplete::Waiting)), "{next:?}");
    }
}
