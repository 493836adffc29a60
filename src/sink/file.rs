//! Output file that contains only whole lines, even after a failed write.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use super::Sink;

/// Sink that writes to a new or truncated file.
#[derive(Debug)]
pub struct FileSink {
    file: File,
    /// Bytes of the batches that were written completely.
    committed_bytes: u64,
}

impl FileSink {
    /// Creates the file, or truncates it.
    ///
    /// # Errors
    ///
    /// The error of the system.
    pub fn create(path: &Path) -> io::Result<FileSink> {
        Ok(FileSink {
            file: File::create(path)?,
            committed_bytes: 0,
        })
    }
}

impl Sink for FileSink {
    /// Appends a batch. After a failed write it truncates the file to the last complete batch, if the system allows that.
    fn put(&mut self, batch: &[u8]) -> io::Result<bool> {
        match self.file.write_all(batch) {
            Ok(()) => {
                self.committed_bytes += batch.len() as u64;
                Ok(true)
            }
            Err(error) => {
                // The first error is the one to report; if truncating fails as well, the file is no worse.
                let _ = self.file.set_len(self.committed_bytes);
                Err(error)
            }
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
