//! Destinations of encoded records. A sink receives batches of encoded lines in order.

mod file;
#[cfg(any(feature = "audit", all(feature = "cli", feature = "load")))]
mod output_file;
#[cfg(feature = "parquet")]
pub mod parquet;
mod place;
mod random;
mod replacement;
#[cfg(feature = "daemon")]
pub mod segment;
#[cfg(any(feature = "audit", all(feature = "cli", feature = "stats")))]
mod table_files;

pub use file::{FileSink, discardable_path, partial_path, resolve};
#[cfg(any(feature = "audit", all(feature = "cli", feature = "load")))]
pub use output_file::{OutputError, OutputFile, ReportOutputs, TableFolder};
pub use place::{FileIdentity, OutputPlace, open_device, way_out};
pub(crate) use random::random_bytes;
pub use replacement::{PAGE_MARK, Replacement, check_replacement};
#[cfg(any(feature = "audit", all(feature = "cli", feature = "stats")))]
pub use table_files::{TableFiles, TableText};

use std::io::{self, ErrorKind, Write};

/// Receives encoded records.
pub trait Sink {
    /// Appends a batch of whole lines. Returns `Ok(false)` if the sink wants no more, because its
    /// reader has gone; that is not an error.
    ///
    /// # Errors
    ///
    /// The error of the system. Earlier batches remain valid.
    fn put(&mut self, batch: &[u8]) -> io::Result<bool>;

    /// Returns once all batches have left the process.
    ///
    /// # Errors
    ///
    /// The error of the system.
    fn finish(&mut self) -> io::Result<()>;
}

/// Sink for tests and library users.
impl Sink for Vec<u8> {
    fn put(&mut self, batch: &[u8]) -> io::Result<bool> {
        self.extend_from_slice(batch);
        Ok(true)
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sink for a pipe or a terminal, such as standard output.
#[derive(Debug)]
pub struct PipeSink<W>(pub W);

impl<W: Write> Sink for PipeSink<W> {
    fn put(&mut self, batch: &[u8]) -> io::Result<bool> {
        unless_closed(self.0.write_all(batch))
    }

    fn finish(&mut self) -> io::Result<()> {
        unless_closed(self.0.flush()).map(|_| ())
    }
}

/// Returns `Ok(false)` for a closed pipe, which is a normal end.
fn unless_closed(result: io::Result<()>) -> io::Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error),
    }
}
