//! Range of a file that is read by the thread that processes it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

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
        // The old content is overwritten: clearing it first would cost time.
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
