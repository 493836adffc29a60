//! Destinations of encoded records. A sink receives batches of encoded lines in order.

mod file;
mod output_file;
#[cfg(feature = "parquet")]
mod parquet;
mod place;

pub use file::{ASIDE, FileSink, PARTIAL, resolve, with_end};
pub use output_file::{LeftOutput, OutputError, OutputFile, ReportOutputs, TableFolder};
pub use place::{
    FileIdentity, OutputPlace, PAGE_MARK, Replacement, check_replacement, open_device, way_out,
};

use std::io::{self, ErrorKind, Write};

use crate::config::named_values;
use urlspool_record::record::Record;
use urlspool_sources::walk::DeviceInode;

/// Output of records: lines, or columns that are made from values.
pub trait Sink: Send {
    /// Appends a batch of whole lines. Returns `Ok(false)` if the sink wants no more because its
    /// reader is gone, which is not an error.
    ///
    /// # Errors
    ///
    /// The system's error, after which earlier batches remain valid. An output of columns refuses
    /// lines.
    fn put(&mut self, _lines: &[u8]) -> io::Result<bool> {
        Err(io::Error::other("columns are made of records"))
    }

    /// Appends records to the columns.
    ///
    /// # Errors
    ///
    /// The system's error. An output of lines refuses records.
    fn put_records(&mut self, _records: Vec<Record>) -> io::Result<()> {
        Err(io::Error::other("this output takes lines"))
    }

    /// Completes the output and gives a file its name. No effect after the first call.
    ///
    /// # Errors
    ///
    /// The system's error.
    fn finish(&mut self) -> io::Result<()>;

    /// Completes a partial file or folder and leaves it for the user; `None` if there is none, or
    /// it is empty.
    ///
    /// # Errors
    ///
    /// The system's error.
    fn leave(&mut self) -> io::Result<Option<LeftOutput>> {
        Ok(None)
    }

    /// Removes a partial file or folder. An existing file is unchanged.
    fn discard(&mut self) {}

    /// Returns the identity of a file while it has its temporary name.
    fn id(&self) -> Option<DeviceInode> {
        None
    }
}

/// `true` if Parquet output is supported.
pub const HAS_PARQUET: bool = cfg!(feature = "parquet");

named_values! {
    /// The value that divides a columnar output into folders.
    pub enum Partition {
        /// The year of the message; `undated` without a date.
        Year = "year": "Year of the message: `year=1996/part-00000.parquet`, or `year=undated`",
    }
}

/// Sink for a pipe or a terminal, such as standard output.
#[derive(Debug)]
pub struct PipeSink<W>(pub W);

impl<W: Write + Send> Sink for PipeSink<W> {
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
