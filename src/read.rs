//! Opens sources: nothing but regular files and standard input. Small files may have been opened where they were walked
//! upon (`walk::ahead`).
//!
//! Reads, never maps: a mapping of a file that shrinks kills the process.

mod archive;
mod compression;
mod error;
mod input;
mod ratio_limit;
mod sparse_read;
mod streams;

pub use compression::{Allowed, Compression, packed_news_batch, unpacked};
pub use error::diagnostic;
pub use input::{Input, Random};
pub use ratio_limit::Ratio;
pub use sparse_read::{SparseRead, UnreadRange, hole_len};
pub use streams::{StreamStep, Streams, is_container};

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;

use rustix::fs::OFlags;

use crate::walk;

/// Opens a regular file. One that was walked upon lies beneath its root, or is not opened.
///
/// # Errors
///
/// What the system says, or that it is no regular file any more.
pub fn open(file: &walk::WalkedFile) -> io::Result<File> {
    open_sized(file).map(|(opened, _)| opened)
}

/// Appends what a file holds, up to `most`, and gives how many bytes it had when it was opened.
///
/// # Errors
///
/// As [`open`], and what the system says.
pub(crate) fn read_small(
    file: &walk::WalkedFile,
    most: u64,
    bytes: &mut Vec<u8>,
) -> io::Result<u64> {
    let (opened, size);
    let (from, size) = match &file.ahead {
        Some(ahead) => (ahead.file(), file.size),
        None => {
            (opened, size) = open_sized(file)?;
            (&opened, size)
        }
    };
    read_sized(from, size, most, bytes)?;
    Ok(size)
}

/// Reads once where the file is as long as it was.
fn read_sized(mut opened: &File, size: u64, most: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    let start = bytes.len();
    let expected = usize::try_from(size.min(most)).unwrap_or(usize::MAX);
    // One more, so that a file that has grown shows.
    bytes.resize(start + expected + 1, 0);
    let read = opened.read(&mut bytes[start..])?;
    bytes.truncate(start + read);
    if read != expected {
        opened
            .take(most.saturating_sub(read as u64))
            .read_to_end(bytes)?;
    }
    Ok(())
}

/// The same as [`open`], and how many bytes it has now.
///
/// # Errors
///
/// As [`open`].
fn open_sized(file: &walk::WalkedFile) -> io::Result<(File, u64)> {
    // Without waiting, should it have become a FIFO since it was walked upon.
    let opened = match &file.place {
        Some(place) => File::from(place.open(OFlags::NONBLOCK)?),
        None => OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open(&file.source.path)?,
    };
    let metadata = opened.metadata()?;
    if metadata.is_file() {
        Ok((opened, metadata.len()))
    } else {
        Err(io::Error::other("no longer a regular file"))
    }
}
