//! Range of a file that is read by the thread that processes it.

use std::fs::File;
use std::io;
use std::sync::Arc;

use rustix::io::Errno;

/// Range of a file that was handed off without being read.
#[derive(Debug)]
pub struct UnreadRange {
    file: Arc<File>,
    offset: u64,
    len: u64,
    overlap: u64,
}

impl UnreadRange {
    /// Creates the range of `len` bytes from `offset` on, the first `overlap` of which were read before.
    pub(super) fn new(file: &Arc<File>, offset: u64, len: u64, overlap: u64) -> UnreadRange {
        UnreadRange {
            file: Arc::clone(file),
            offset,
            len,
            overlap,
        }
    }

    /// Returns the number of bytes at its start that were read, and counted, before it was handed off.
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

    /// Reads the range and replaces the content of `bytes` with it. Reads fewer bytes if the file ends before.
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
            // Into memory that is not cleared first, which would cost time. May read more than the range.
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
