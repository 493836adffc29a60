//! Opens sources. The only place that does, and nothing but regular files and standard input.
//!
//! Reads, never maps: a mapping of a file that shrinks kills the process.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;

use crate::limits::SNIFF_BYTES;
use crate::split::{Format, Hint, Roller, Sniffed, sniff};
use crate::walk;

/// What a source turned out to be.
pub enum Opened {
    /// A stream of blocks.
    Stream(Format, Roller<Box<dyn Read>>),
    /// Nothing that is read, and why in a word.
    Left(&'static str),
}

/// Opens a regular file.
///
/// # Errors
///
/// What the system says, or that it is no regular file any more.
pub fn open(file: &walk::File) -> io::Result<File> {
    // Without waiting, should it have become a FIFO since it was walked upon.
    let opened =
        OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).open(&file.source.path)?;
    if opened.metadata()?.is_file() { Ok(opened) } else { Err(io::Error::other("no longer a regular file")) }
}

/// Recognises a stream by its first octets, unless its format is given.
///
/// # Errors
///
/// What the stream gives.
pub fn stream(mut stream: Box<dyn Read>, given: Option<Format>, hint: Hint, most: usize) -> io::Result<Opened> {
    let mut start = Vec::with_capacity(SNIFF_BYTES);
    (&mut stream).take(SNIFF_BYTES as u64).read_to_end(&mut start)?;
    match recognised(&start, given, hint) {
        Ok(format) => Ok(Opened::Stream(format, Roller::new(stream, start, format, most))),
        Err(why) => Ok(Opened::Left(why)),
    }
}

/// The format of a source that begins so, or why it is left, in a word.
pub fn recognised(start: &[u8], given: Option<Format>, hint: Hint) -> Result<Format, &'static str> {
    match (sniff(start, hint), given) {
        (Sniffed::Empty, _) => Err("empty"),
        (_, Some(format)) => Ok(format),
        (Sniffed::Known(format), None) => Ok(format),
        (Sniffed::Binary(name), None) => Err(name),
    }
}
