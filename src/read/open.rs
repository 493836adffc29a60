//! Opens files, and reads small ones.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use crate::origin::Source;
use crate::walk;

/// Opens a regular file. A file from a walk is opened beneath its root, or not at all.
///
/// # Errors
///
/// The error of the system, or an error of its own if the file is no longer a regular file.
pub fn open(file: &walk::WalkedFile) -> io::Result<File> {
    open_sized(file).map(|opened| opened.file)
}

/// Opens a pipe or a device by its name. Waits for the writer of a named pipe.
///
/// # Errors
///
/// The error of the system.
pub(crate) fn open_stream(path: &Path) -> io::Result<Box<dyn Read>> {
    match File::open(path) {
        // Linux opens no socket by a name, also not by `/dev/stdin`.
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) && Source::is_stdin_path(path) => {
            Ok(Box::new(io::stdin()))
        }
        opened => Ok(Box::new(opened?)),
    }
}

/// Appends the content of a file, at most `max` bytes, and returns the size of the file when it was opened.
///
/// # Errors
///
/// As [`open`], and the error of reading.
pub(crate) fn read_small(
    file: &walk::WalkedFile,
    max: u64,
    bytes: &mut Vec<u8>,
) -> io::Result<u64> {
    if let Some(preopened) = &file.preopened {
        read_sized(preopened.file(), file.size, max, bytes)?;
        return Ok(file.size);
    }
    let opened = open_sized(file)?;
    read_sized(&opened.file, opened.size, max, bytes)?;
    Ok(opened.size)
}

/// Appends the content of a file, with one call if the file still has `size` bytes.
fn read_sized(opened: &File, size: u64, max: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    let expected = usize::try_from(size.min(max)).unwrap_or(usize::MAX);
    // One byte more, which is filled if the file has grown. Memory is not cleared first, which would cost time.
    bytes.reserve(expected.saturating_add(1));
    let read = rustix::io::read(opened, rustix::buffer::spare_capacity(bytes))?;
    if read != expected {
        opened
            .take(max.saturating_sub(read as u64))
            .read_to_end(bytes)?;
    }
    Ok(())
}

/// Open file and its size.
struct OpenedFile {
    file: File,
    size: u64,
}

fn open_sized(file: &walk::WalkedFile) -> io::Result<OpenedFile> {
    // Without blocking, in case it has become a FIFO since the walk.
    let opened = match &file.place {
        Some(place) => File::from(place.open(OFlags::NONBLOCK)?),
        None => OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open(&file.source.path)?,
    };
    let metadata = opened.metadata()?;
    if metadata.is_file() {
        Ok(OpenedFile {
            file: opened,
            size: metadata.len(),
        })
    } else {
        Err(io::Error::other("no longer a regular file"))
    }
}
