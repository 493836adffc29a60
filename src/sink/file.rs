//! A file that holds whole lines only, whatever happens.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use super::Sink;

/// Writes to a file that it creates or empties.
#[derive(Debug)]
pub struct FileSink {
    file: File,
    /// Bytes of the batches that were written whole.
    whole: u64,
}

impl FileSink {
    /// Creates the file, or empties it.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn create(path: &Path) -> io::Result<FileSink> {
        Ok(FileSink {
            file: File::create(path)?,
            whole: 0,
        })
    }
}

impl Sink for FileSink {
    /// On a failed write, cuts the file back to the last whole batch (as far as the system lets it).
    fn put(&mut self, batch: &[u8]) -> io::Result<bool> {
        match self.file.write_all(batch) {
            Ok(()) => {
                self.whole += batch.len() as u64;
                Ok(true)
            }
            Err(error) => {
                // The first error is the one to tell; a file that cannot be cut either is not made worse.
                let _ = self.file.set_len(self.whole);
                Err(error)
            }
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
