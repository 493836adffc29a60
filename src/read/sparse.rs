//! Streams that know where nothing but zeros comes that nobody stored.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};

use rustix::io::Errno;

/// A stream that may have holes.
pub trait Sparse: Read {
    /// Passes over as many whole steps as lie in the hole that the stream stands in: so many zeros, which need not be
    /// read. None where something is stored, or where nobody knows. `step` is not zero.
    fn pass_hole(&mut self, step: u64) -> u64 {
        let _ = step;
        0
    }

    /// Appends the next octets, `most` of them if the stream does not end before, and tells how many they are.
    ///
    /// # Errors
    ///
    /// What reading gives; the octets before that are appended.
    fn append(&mut self, most: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        Read::take(self, most as u64).read_to_end(bytes)
    }
}

impl Sparse for &[u8] {}

impl<T: AsRef<[u8]>> Sparse for Cursor<T> {}

impl Sparse for Box<dyn Read> {}

impl<S: Sparse + ?Sized> Sparse for Box<S> {
    fn pass_hole(&mut self, step: u64) -> u64 {
        (**self).pass_hole(step)
    }

    fn append(&mut self, most: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        (**self).append(most, bytes)
    }
}

impl<S: Sparse + ?Sized> Sparse for &mut S {
    fn pass_hole(&mut self, step: u64) -> u64 {
        (**self).pass_hole(step)
    }

    fn append(&mut self, most: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        (**self).append(most, bytes)
    }
}

impl Sparse for &File {
    fn pass_hole(&mut self, step: u64) -> u64 {
        let Ok(at) = self.stream_position() else { return 0 };
        let passed = hole(self, at, step);
        // The look has moved the place.
        self.seek(SeekFrom::Start(at + passed)).map_or(0, |to| to - at)
    }
}

impl Sparse for File {
    fn pass_hole(&mut self, step: u64) -> u64 {
        (&*self).pass_hole(step)
    }
}

/// Octets of the whole steps that lie between `offset` and what is stored behind it, or the file's end. May move the
/// file's place.
#[must_use]
pub fn hole(file: &File, offset: u64, step: u64) -> u64 {
    let stored = match rustix::fs::seek(file, rustix::fs::SeekFrom::Data(offset)) {
        Ok(at) => at,
        Err(Errno::NXIO) => file.metadata().map_or(offset, |metadata| metadata.len()),
        // The file system cannot tell: everything is read.
        Err(_) => offset,
    };
    stored.saturating_sub(offset) / step * step
}
