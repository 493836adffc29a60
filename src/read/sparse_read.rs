//! Streams that may know where nothing but zeros comes that nobody stored, and may be read by others.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use rustix::io::Errno;

/// A stream that may have holes, and of which others may read a stretch themselves.
pub trait SparseRead: Read {
    /// Passes over as many whole steps as lie in the hole that the stream stands in: so many zeros, which need not be
    /// read. None where something is stored, or where nobody knows. `step` is not zero.
    fn skip_hole(&mut self, step: u64) -> u64 {
        let _ = step;
        0
    }

    /// Appends the next bytes, `most` of them if the stream does not end before, and tells how many they are.
    ///
    /// # Errors
    ///
    /// What reading gives; the bytes before that are appended.
    fn append(&mut self, most: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        Read::take(self, most as u64).read_to_end(bytes)
    }

    /// Fills `room` with what comes `ahead` bytes behind the next one, and stays where it is. `false` where it does not
    /// come, or cannot be told.
    fn peek_ahead(&self, ahead: u64, room: &mut [u8]) -> bool {
        let _ = (ahead, room);
        false
    }

    /// Leaves a stretch of `len` bytes to others, and goes on behind it. It begins with the last `back` bytes that were
    /// read, which are fewer. Nothing where others cannot read, which is where nobody can look ahead.
    fn hand_off(&mut self, back: u64, len: u64) -> Option<UnreadRange> {
        let _ = (back, len);
        None
    }
}

/// A stretch of a file that whoever works on it reads.
#[derive(Debug)]
pub struct UnreadRange {
    file: Arc<File>,
    offset: u64,
    len: u64,
    again: u64,
}

impl UnreadRange {
    /// So many bytes of a file from `offset` on, the first of which were read before.
    pub(super) fn new(file: &Arc<File>, offset: u64, len: u64, again: u64) -> UnreadRange {
        UnreadRange {
            file: Arc::clone(file),
            offset,
            len,
            again,
        }
    }

    /// How many bytes at its start were read before, and counted.
    #[must_use]
    pub fn overlap(&self) -> u64 {
        self.again
    }

    /// How many bytes there were when it was left.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Reads it in the place of what `bytes` hold. Fewer bytes if the file ends before.
    ///
    /// # Errors
    ///
    /// What reading gives; `bytes` hold the bytes before that.
    pub fn read(&self, bytes: &mut Vec<u8>) -> io::Result<()> {
        // What is there already need not be cleared.
        bytes.resize(self.len as usize, 0);
        let mut done = 0;
        while done < bytes.len() {
            match self
                .file
                .read_at(&mut bytes[done..], self.offset + done as u64)
            {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    bytes.truncate(done);
                    return Err(error);
                }
            }
        }
        bytes.truncate(done);
        Ok(())
    }
}

impl SparseRead for &[u8] {}

impl<T: AsRef<[u8]>> SparseRead for Cursor<T> {}

impl SparseRead for Box<dyn Read> {}

impl<S: SparseRead + ?Sized> SparseRead for Box<S> {
    fn skip_hole(&mut self, step: u64) -> u64 {
        (**self).skip_hole(step)
    }

    fn append(&mut self, most: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        (**self).append(most, bytes)
    }

    fn peek_ahead(&self, ahead: u64, room: &mut [u8]) -> bool {
        (**self).peek_ahead(ahead, room)
    }

    fn hand_off(&mut self, back: u64, len: u64) -> Option<UnreadRange> {
        (**self).hand_off(back, len)
    }
}

impl<S: SparseRead + ?Sized> SparseRead for &mut S {
    fn skip_hole(&mut self, step: u64) -> u64 {
        (**self).skip_hole(step)
    }

    fn append(&mut self, most: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        (**self).append(most, bytes)
    }

    fn peek_ahead(&self, ahead: u64, room: &mut [u8]) -> bool {
        (**self).peek_ahead(ahead, room)
    }

    fn hand_off(&mut self, back: u64, len: u64) -> Option<UnreadRange> {
        (**self).hand_off(back, len)
    }
}

impl SparseRead for &File {
    fn skip_hole(&mut self, step: u64) -> u64 {
        let Ok(at) = self.stream_position() else {
            return 0;
        };
        let passed = hole_len(self, at, step);
        // The look has moved the place.
        self.seek(SeekFrom::Start(at + passed))
            .map_or(0, |to| to - at)
    }
}

impl SparseRead for File {
    fn skip_hole(&mut self, step: u64) -> u64 {
        (&*self).skip_hole(step)
    }
}

/// Bytes of the whole steps that lie between `offset` and what is stored behind it, or the file's end. May move the
/// file's place.
#[must_use]
pub fn hole_len(file: &File, offset: u64, step: u64) -> u64 {
    let stored = match rustix::fs::seek(file, rustix::fs::SeekFrom::Data(offset)) {
        Ok(at) => at,
        Err(Errno::NXIO) => file.metadata().map_or(offset, |metadata| metadata.len()),
        // The file system cannot tell: everything is read.
        Err(_) => offset,
    };
    stored.saturating_sub(offset) / step * step
}
