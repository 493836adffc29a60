//! Reads what is new in an mbox: a piece at a time, under the lock that its writers honour.
//!
//! A message is complete when the next one stands behind it, or when its file has settled. What was read last is read
//! again and compared, so that a mailbox that was rewritten is noticed; then it is read from its start, and messages
//! that were given are passed over by their content.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, fcntl_lock};

use super::identity::{FileVersion, guard};
use super::message_ingest::{End, Taker, divided};
use super::outcome::{Look, Rest};
use crate::daemon::error::DaemonError;
use crate::daemon::planted_faults::{PlantedFault, is_planted};
use crate::daemon::store::MboxCursor;
use crate::read::{SparseRead, hole_len};
use crate::split::{Block, BlockReader, BlockRole, Format, Message};

/// Bytes of an mbox that are read at once.
const PIECE_BYTES: usize = 4 << 20;

/// Bytes at an mbox's start that must not change.
const HEAD_BYTES: u64 = 1 << 10;

/// An mbox and what is known of it.
pub(crate) struct Mbox<'m> {
    pub(crate) file: &'m File,
    pub(crate) path: &'m Path,
    pub(crate) format: Format,
    pub(crate) stamp: FileVersion,
    /// Whether it has not changed for as long as it takes.
    pub(crate) rest: Rest,
    /// Bytes of a message that are held.
    pub(crate) most: usize,
}

/// A stretch of the file, read under the lock.
struct Piece {
    cursor: MboxCursor,
    bytes: Vec<u8>,
    /// Whether the file ended behind it.
    at_end: bool,
    stamp: FileVersion,
}

impl Mbox<'_> {
    /// Takes what is new, up to one piece.
    pub(crate) fn look(&self, taker: &mut Taker<'_>) -> Result<Look, DaemonError> {
        let known = taker
            .session
            .with(|committer| committer.transaction()?.cursor(self.stamp.id))?;
        let mut want = PIECE_BYTES.min(self.most);
        loop {
            let piece = match self.locked(|| self.piece(known, want)) {
                Ok(Some(piece)) => piece,
                Ok(None) => return Ok(Look::Wait),
                Err(error) => return Ok(Look::Failed(error)),
            };
            let block = Block {
                bytes: piece.bytes,
                offset: piece.cursor.first,
                role: BlockRole::Whole,
            };
            let found = divided(&block, self.format, taker);
            // Reading took its time; what settled must not have moved meanwhile.
            let settled = piece.at_end && self.rest == Rest::Settled && piece.stamp == self.stamp;
            let complete = complete(&found, settled);
            if complete == 0 && !piece.at_end {
                if want >= self.most {
                    return self.giant(piece.cursor, taker);
                }
                want = (want * 2).min(self.most);
                continue;
            }
            let end = match (settled, block.bytes.ends_with(b"\n")) {
                (false, _) => End::Sure,
                (true, true) => End::File,
                (true, false) => End::Torn,
            };
            taker.take(&found[..complete], None, end)?;
            let all = settled || found.is_empty() && piece.at_end;
            let last = found[..complete].last().copied();
            return self.advance(
                taker,
                &piece.cursor,
                last.as_ref(),
                all.then_some(piece.stamp),
                piece.at_end,
            );
        }
    }

    /// Notes how far it was read.
    fn advance(
        &self,
        taker: &mut Taker<'_>,
        before: &MboxCursor,
        last: Option<&Message<'_>>,
        all: Option<FileVersion>,
        at_end: bool,
    ) -> Result<Look, DaemonError> {
        let mut cursor = *before;
        if let Some(last) = last {
            (cursor.first, cursor.last) = (last.start, last.end());
        }
        let mailbox = taker.mailbox.id;
        let written = self.guards(&cursor).map(|(head, guard)| MboxCursor {
            head,
            guard,
            size: all.map_or(0, |stamp| stamp.size),
            mtime: all.map_or(0, |stamp| stamp.mtime),
            ..cursor
        });
        match written {
            Ok(cursor) => {
                taker.session.with(|committer| {
                    committer
                        .transaction()?
                        .put_cursor(self.stamp.id, mailbox, &cursor)
                })?;
            }
            Err(error) => return Ok(Look::Failed(error)),
        }
        Ok(match (all, at_end) {
            (Some(_), _) => Look::Done,
            (None, true) => Look::Wait,
            (None, false) => Look::More,
        })
    }

    /// Does `work` while no writer holds a lock; nothing if one does.
    fn locked<T>(&self, work: impl FnOnce() -> io::Result<T>) -> io::Result<Option<T>> {
        if is_planted(PlantedFault::NoLock) {
            return work().map(Some);
        }
        let mut dot = self.path.as_os_str().to_owned();
        dot.push(".lock");
        if PathBuf::from(dot).symlink_metadata().is_ok() {
            return Ok(None);
        }
        // Of other errors: file systems without locks have no writers that honour them.
        if let Err(rustix::io::Errno::AGAIN | rustix::io::Errno::ACCESS) =
            fcntl_lock(self.file, FlockOperation::NonBlockingLockShared)
        {
            return Ok(None);
        }
        let done = work();
        // Closing the file gives the lock up, should this fail.
        let _ = fcntl_lock(self.file, FlockOperation::NonBlockingUnlock);
        done.map(Some)
    }

    /// Reads up to `want` bytes from the last message on, or from the start if it is not there any more.
    fn piece(&self, known: Option<MboxCursor>, want: usize) -> io::Result<Piece> {
        let stamp = FileVersion::of(&self.file.metadata()?);
        let cursor = match known {
            Some(cursor) if self.holds(&cursor, stamp.size)? => cursor,
            _ => MboxCursor::default(),
        };
        let bytes = self.read(cursor.first, want as u64)?;
        let at_end = cursor.first + bytes.len() as u64 >= stamp.size;
        Ok(Piece {
            cursor,
            bytes,
            at_end,
            stamp,
        })
    }

    /// Whether the file still is what a cursor says, so that something was appended at the most.
    fn holds(&self, cursor: &MboxCursor, size: u64) -> io::Result<bool> {
        if size < cursor.last || self.guards(cursor)? != (cursor.head, cursor.guard) {
            return Ok(false);
        }
        // Behind a message that was too large to be read again only a new one may follow.
        let next = self.read(cursor.first, 64)?;
        let text = next.trim_ascii_start();
        Ok(cursor.first < cursor.last || next.is_empty() || text.starts_with(b"From "))
    }

    /// The hashes of the file's first bytes and of the last message consumed.
    fn guards(&self, cursor: &MboxCursor) -> io::Result<(u64, u64)> {
        let last = self.read(cursor.first, cursor.last - cursor.first)?;
        Ok((head(self.file, cursor)?, guard(&last)))
    }

    fn read(&self, at: u64, want: u64) -> io::Result<Vec<u8>> {
        read(self.file, at, want)
    }

    /// Takes a message that is too large to be held, piece by piece, as a scan does.
    fn giant(&self, cursor: MboxCursor, taker: &mut Taker<'_>) -> Result<Look, DaemonError> {
        let start = cursor.first;
        let mut roller = BlockReader::new(
            At {
                file: self.file,
                at: start,
            },
            Vec::new(),
            self.format,
            self.most,
        );
        let mut first = 0;
        let mut end = start;
        loop {
            let mut block = match roller.next_block() {
                Ok(Some(block)) => block,
                Ok(None) => break,
                Err(error) => return Ok(Look::Failed(error)),
            };
            block.offset += start;
            if let BlockRole::LaterFragment(begun) = &mut block.role {
                begun.start += start;
            }
            if block.role == BlockRole::Whole {
                break;
            }
            end = block.offset + block.bytes.len() as u64;
            let at_end = end >= self.stamp.size;
            if at_end && self.rest != Rest::Settled {
                return Ok(Look::Wait);
            }
            let within =
                (block.role != BlockRole::FirstFragment).then_some((first, block.offset - start));
            let pieces = divided(&block, self.format, taker);
            let digest = taker.take(&pieces, within, if at_end { End::File } else { End::Sure })?;
            if within.is_none() {
                first = digest;
            }
        }
        let cursor = MboxCursor {
            first: end,
            last: end,
            ..cursor
        };
        let all = (end >= self.stamp.size).then_some(self.stamp);
        self.advance(taker, &cursor, None, all, false)
    }
}

/// The hash of a file's first bytes, as far as the messages before the cursor go.
pub(crate) fn head(file: &File, cursor: &MboxCursor) -> io::Result<u64> {
    Ok(guard(&read(file, 0, cursor.last.min(HEAD_BYTES))?))
}

/// The `want` bytes at an offset, or those that there are.
fn read(file: &File, at: u64, want: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; want as usize];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], at + filled as u64) {
            Ok(0) => break,
            Ok(octets) => filled += octets,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// How many of the messages at the start of `found` are complete.
fn complete(found: &[Message<'_>], settled: bool) -> usize {
    if settled {
        return found.len();
    }
    // Of a line that is not ended nobody knows whether it is a field: `http:`. Then the line before is no separator.
    let vague = found
        .last()
        .is_some_and(|last| memchr::memchr(b'\n', last.raw).is_none());
    found.len().saturating_sub(if vague { 2 } else { 1 })
}

/// A file, read from an offset on without moving anybody's place in it.
struct At<'a> {
    file: &'a File,
    at: u64,
}

impl SparseRead for At<'_> {
    fn skip_hole(&mut self, step: u64) -> u64 {
        let passed = hole_len(self.file, self.at, step);
        self.at += passed;
        passed
    }
}

impl io::Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let octets = self.file.read_at(buffer, self.at)?;
        self.at += octets as u64;
        Ok(octets)
    }
}
