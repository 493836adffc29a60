//! Destinations of encoded records. A sink receives batches of encoded lines in order.

mod file;
mod output_file;
#[cfg(feature = "parquet")]
mod parquet;
mod place;

pub use file::{FileSink, discardable_path, partial_path, resolve};
pub use output_file::{LeftOutput, OutputError, OutputFile, ReportOutputs, TableFolder};
pub use place::{
    FileIdentity, OutputPlace, PAGE_MARK, Replacement, check_replacement, open_device, way_out,
};

use std::io::{self, ErrorKind, Write};

use crate::config::named_values;
use urlspool_record::record::Record;
use urlspool_sources::walk::DeviceInode;

/// Receives encoded records.
pub trait Sink {
    /// Appends a batch of whole lines. Returns `Ok(false)` if the sink wants no more because its
    /// reader is gone, which is not an error.
    ///
    /// # Errors
    ///
    /// The system's error. Earlier batches remain valid.
    fn put(&mut self, batch: &[u8]) -> io::Result<bool>;

    /// Returns once all batches have left the process.
    ///
    /// # Errors
    ///
    /// The system's error.
    fn finish(&mut self) -> io::Result<()>;
}

/// Receives records as values, and writes them as columns, to one file or a folder of files.
trait RecordSink: Send {
    /// Appends records.
    fn put(&mut self, records: Vec<Record>) -> io::Result<()>;

    /// Completes the output and gives it its name.
    fn finish(&mut self) -> io::Result<()>;

    /// Completes the partial output and leaves it for the user; `None` if there are no records.
    fn leave(&mut self) -> io::Result<Option<LeftOutput>>;

    /// Removes the partial output.
    fn discard(&mut self);

    /// Returns the identity of the file; `None` for a folder.
    fn id(&self) -> Option<DeviceInode>;
}

/// `true` if Parquet output is supported.
pub const HAS_PARQUET: bool = cfg!(feature = "parquet");

#[cfg(not(feature = "parquet"))]
mod parquet {
    use std::io;
    use std::path::Path;

    use super::{Partition, RecordSink};
    use urlspool_record::record::FieldId;

    /// Returns an error: this program is built without the feature.
    pub(super) fn create(
        _: &Path,
        _: &[FieldId],
        _: Option<Partition>,
    ) -> io::Result<Box<dyn RecordSink>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// The value that divides a columnar output into folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partition {
    /// The year of the message; `undated` without a date.
    Year,
}

named_values! {
    Partition {
        Year = "year": "Year of the message: `year=1996/part-00000.parquet`, or `year=undated`",
    }
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

/// Returns random bytes for unique names, tokens and secret keys.
///
/// # Errors
///
/// The system's error.
#[cfg(target_os = "linux")]
pub fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(bytes)
}

/// Returns random bytes.
///
/// # Errors
///
/// The system's error.
#[cfg(not(target_os = "linux"))]
pub fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    use std::io::Read;

    let mut bytes = [0; N];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}
