//! Opens sources. The only place that does, and nothing but regular files and standard input.
//!
//! Reads, never maps: a mapping of a file that shrinks kills the process.

mod archive;
mod capped;
mod container;
mod fault;
mod input;
mod lzw;
mod sparse;
mod streams;

pub use capped::Ratio;
pub use container::{Allowed, Compression, packed_batch, unpacked};
pub use fault::problem;
pub use input::{Input, Random};
pub use sparse::{Sparse, hole};
pub use streams::{Step, Streams, is_container};

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;

use rustix::fs::OFlags;

use crate::walk;

/// Opens a regular file. One that was walked upon lies beneath its root, or is not opened.
///
/// # Errors
///
/// What the system says, or that it is no regular file any more.
pub fn open(file: &walk::File) -> io::Result<File> {
    // Without waiting, should it have become a FIFO since it was walked upon.
    let opened = match &file.place {
        Some(place) => File::from(place.open(OFlags::NONBLOCK)?),
        None => {
            OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).open(&file.source.path)?
        }
    };
    if opened.metadata()?.is_file() { Ok(opened) } else { Err(io::Error::other("no longer a regular file")) }
}
