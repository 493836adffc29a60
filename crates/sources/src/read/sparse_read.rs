//! Streams that may skip holes of sparse files, and hand off ranges, which are read by the threads
//! that process them.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;

use rustix::io::Errno;

use urlspool_text::limits::STREAM_NUL_BYTES;

/// Stream that may skip holes, and may hand off ranges to be read by others.
pub trait SparseRead: Read {
    /// Skips the hole at the current position, in whole steps of `step` bytes, which is not zero.
    /// Returns the number of NUL bytes skipped: 0 where data is stored, and where the stream does
    /// not know.
    fn skip_hole(&mut self, step: u64) -> u64 {
        let _ = step;
        0
    }

    /// Returns the maximum number of NUL bytes that are skipped at the start: [`STREAM_NUL_BYTES`], or no limit for a file,
    /// which has an end.
    fn max_leading_nuls(&self) -> u64 {
        STREAM_NUL_BYTES
    }

    /// Appends the next `max` bytes, or fewer if the stream ends before, and returns their number.
    ///
    /// # Errors
    ///
    /// The error of the stream; the bytes before it are appended.
    fn append(&mut self, max: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        Read::take(self, max as u64).read_to_end(bytes)
    }

    /// Returns `true` if the last [`SparseRead::append`] ended early because no more bytes have come
    /// yet. The next one waits for some.
    fn is_paused(&self) -> bool {
        false
    }

    /// Fills `buffer` with the bytes that start `ahead` bytes after the current position, which
    /// does not change. Returns `false` where there are fewer bytes, and where the stream cannot do
    /// this.
    fn peek_ahead(&self, ahead: u64, buffer: &mut [u8]) -> bool {
        let _ = (ahead, buffer);
        false
    }

    /// Hands off `len` bytes, starting `overlap` bytes before the current position, to be read by
    /// another thread, and advances past them. `overlap` is less than `len`. `None` where others
    /// cannot read the stream, which is where it cannot peek ahead either.
    fn hand_off(&mut self, overlap: u64, len: u64) -> Option<UnreadRange> {
        let _ = (overlap, len);
        None
    }
}

impl SparseRead for &[u8] {}

impl<T: AsRef<[u8]>> SparseRead for Cursor<T> {}

impl SparseRead for Box<dyn Read> {}

impl<S: SparseRead + ?Sized> SparseRead for Box<S> {
    fn skip_hole(&mut self, step: u64) -> u64 {
        (**self).skip_hole(step)
    }

    fn max_leading_nuls(&self) -> u64 {
        (**self).max_leading_nuls()
    }

    fn append(&mut self, max: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        (**self).append(max, bytes)
    }

    fn is_paused(&self) -> bool {
        (**self).is_paused()
    }

    fn peek_ahead(&self, ahead: u64, buffer: &mut [u8]) -> bool {
        (**self).peek_ahead(ahead, buffer)
    }

    fn hand_off(&mut self, overlap: u64, len: u64) -> Option<UnreadRange> {
        (**self).hand_off(overlap, len)
    }
}

impl<S: SparseRead + ?Sized> SparseRead for &mut S {
    fn skip_hole(&mut self, step: u64) -> u64 {
        (**self).skip_hole(step)
    }

    fn max_leading_nuls(&self) -> u64 {
        (**self).max_leading_nuls()
    }

    fn append(&mut self, max: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        (**self).append(max, bytes)
    }

    fn is_paused(&self) -> bool {
        (**self).is_paused()
    }

    fn peek_ahead(&self, ahead: u64, buffer: &mut [u8]) -> bool {
        (**self).peek_ahead(ahead, buffer)
    }

    fn hand_off(&mut self, overlap: u64, len: u64) -> Option<UnreadRange> {
        (**self).hand_off(overlap, len)
    }
}

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

    fn max_leading_nuls(&self) -> u64 {
        let is_file = self.metadata().is_ok_and(|metadata| metadata.is_file());
        if is_file { u64::MAX } else { STREAM_NUL_BYTES }
    }
}

impl SparseRead for File {
    fn skip_hole(&mut self, step: u64) -> u64 {
        (&*self).skip_hole(step)
    }

    fn max_leading_nuls(&self) -> u64 {
        (&self).max_leading_nuls()
    }
}

/// Returns the number of bytes of the hole at `offset`, in whole steps of `step` bytes. A hole ends
/// where data is stored, or with the file. May move the position of the file.
#[must_use]
pub fn hole_len(file: &File, offset: u64, step: u64) -> u64 {
    let end = match rustix::fs::seek(file, rustix::fs::SeekFrom::Data(offset)) {
        Ok(at) => at,
        Err(Errno::NXIO) => file.metadata().map_or(offset, |metadata| metadata.len()),
        // The file system does not know holes: everything is read.
        Err(_) => offset,
    };
    end.saturating_sub(offset) / step * step
}

/// Range of a file that was handed off without being read.
#[derive(Debug)]
pub struct UnreadRange {
    file: Arc<File>,
    offset: u64,
    len: u64,
    overlap: u64,
}

impl UnreadRange {
    /// Creates the range of `len` bytes from `offset` on, whose first `overlap` bytes were read
    /// before.
    pub(super) fn new(file: &Arc<File>, offset: u64, len: u64, overlap: u64) -> UnreadRange {
        UnreadRange {
            file: Arc::clone(file),
            offset,
            len,
            overlap,
        }
    }

    /// Returns the number of bytes at its start that were read, and counted, before it was handed
    /// off.
    #[must_use]
    pub fn overlap(&self) -> u64 {
        self.overlap
    }

    /// Returns the number of bytes that it had when it was handed off.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no range is empty")]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Reads the range and replaces the content of `bytes` with it. Reads fewer bytes if the file
    /// ends before.
    ///
    /// # Errors
    ///
    /// The error of the file; `bytes` then holds the bytes before it.
    pub fn read(&self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let len = usize::try_from(self.len).unwrap_or(usize::MAX);
        bytes.clear();
        bytes.reserve_exact(len);
        while bytes.len() < len {
            let at = self.offset + bytes.len() as u64;
            // Into memory that is not cleared first, which would cost time. May read more than the
            // range.
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
