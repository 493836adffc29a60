//! Streams that can skip holes in sparse files and hand off ranges to the threads that process
//! them.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use rustix::io::Errno;

use urlspool_text::limits::STREAM_NUL_BYTES;

/// A stream that may skip holes and hand off ranges.
pub trait SparseRead: Read {
    /// Skips the hole at the current position in whole multiples of `step` bytes, which is not
    /// zero. Returns the number of NUL bytes skipped, which is 0 where data is stored or if the
    /// stream does not know.
    fn skip_hole(&mut self, step: u64) -> u64 {
        let _ = step;
        0
    }

    /// Returns the maximum number of NUL bytes to skip at the start: [`STREAM_NUL_BYTES`], or no
    /// limit for a file, which has an end.
    fn max_leading_nuls(&self) -> u64 {
        STREAM_NUL_BYTES
    }

    /// Appends the next `max` bytes, or fewer at the end of the stream, and returns their number.
    ///
    /// # Errors
    ///
    /// The error of the stream. The bytes before it are appended.
    fn append(&mut self, max: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        Read::take(self, max as u64).read_to_end(bytes)
    }

    /// Returns `true` if the last [`SparseRead::append`] ended early because no more bytes are
    /// available yet. The next call waits for more.
    fn is_paused(&self) -> bool {
        false
    }

    /// Fills `buffer` with the bytes `ahead` bytes after the current position, without changing it.
    /// Returns `false` if there are fewer bytes, or if the stream does not support this.
    fn peek_ahead(&self, ahead: u64, buffer: &mut [u8]) -> bool {
        let _ = (ahead, buffer);
        false
    }

    /// Hands off `len` bytes, starting `overlap` bytes before the current position, to be read by
    /// another thread, and advances past them. `overlap` is less than `len`. Returns `None` if
    /// other threads cannot read the stream; it then cannot peek ahead either.
    fn hand_off(&mut self, overlap: u64, len: u64) -> Option<UnreadRange> {
        let _ = (overlap, len);
        None
    }
}

impl SparseRead for &[u8] {}

impl SparseRead for &File {
    fn skip_hole(&mut self, step: u64) -> u64 {
        let Ok(at) = self.stream_position() else {
            return 0;
        };
        let skipped = hole_len(self, at, step);
        // `hole_len` has moved the position.
        self.seek(SeekFrom::Start(at + skipped))
            .map_or(0, |to| to - at)
    }
}

/// Returns the length of the hole at `offset`, in whole multiples of `step` bytes. A hole ends
/// where data is stored, or at the end of the file. May move the position of the file.
#[must_use]
pub fn hole_len(file: &File, offset: u64, step: u64) -> u64 {
    let end = match rustix::fs::seek(file, rustix::fs::SeekFrom::Data(offset)) {
        Ok(at) => at,
        Err(Errno::NXIO) => file.metadata().map_or(offset, |metadata| metadata.len()),
        // The file system does not support holes, so everything is read.
        Err(_) => offset,
    };
    end.saturating_sub(offset) / step * step
}

/// A range of a file that was handed off without being read.
#[derive(Debug)]
pub struct UnreadRange {
    pub(super) file: Arc<File>,
    pub(super) offset: u64,
    pub(super) len: u64,
    /// Number of bytes at the start that were already read.
    pub(super) overlap: u64,
}

impl UnreadRange {
    /// Returns the number of bytes at the start of the range that were read and counted before it
    /// was handed off.
    #[must_use]
    pub fn overlap(&self) -> u64 {
        self.overlap
    }

    /// Returns the length of the range when it was handed off.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no range is empty")]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Reads the range and replaces the content of `bytes` with it. Reads fewer bytes if the file
    /// ends early.
    ///
    /// # Errors
    ///
    /// The error of the file. `bytes` then contains the bytes before it.
    pub fn read(&self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let len = usize::try_from(self.len).unwrap_or(usize::MAX);
        bytes.clear();
        bytes.reserve_exact(len);
        while bytes.len() < len {
            let at = self.offset + bytes.len() as u64;
            // Reads into uninitialized memory, because clearing it would take time. May read past
            // the end of the range.
            match rustix::io::pread(&self.file, rustix::buffer::spare_capacity(bytes), at) {
                Ok(0) => break,
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        bytes.truncate(len);
        Ok(())
    }
}
