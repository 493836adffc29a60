//! Entries of archives.

use std::io::{self, Read};

use crate::diagnostic::SkipReason;
use crate::read::compression::{Compression, UnpackLimits, decompress};
use crate::read::error;

/// Entry of an archive.
pub(in crate::read) struct ArchiveEntry {
    /// Its name, as written in the archive.
    pub(in crate::read) name: Vec<u8>,
    /// Its content.
    pub(in crate::read) content: EntryContent,
}

/// Content of an entry.
pub(in crate::read) enum EntryContent {
    /// A folder, which has no bytes, or a commit, tree or tag of git, whose bytes are no mail.
    Folder,
    /// Bytes.
    Data(EntryData),
    /// Something that is not read.
    Skipped(SkipReason),
    /// Something that cannot be read.
    Broken(io::Error),
}

/// Bytes of a member.
pub(in crate::read) struct EntryData {
    pub(super) packed: Box<dyn Read>,
    pub(super) compression: Option<Compression>,
    /// Checksum that the unpacked bytes must agree with, if the archive states it.
    pub(super) checksum: Option<ZipChecksum>,
}

/// Checksum and number of the unpacked bytes of a member, as a zip states them.
#[derive(Clone, Copy)]
pub(super) struct ZipChecksum {
    pub(super) crc: u32,
    pub(super) bytes: u64,
}

impl EntryData {
    /// Returns a reader of the unpacked bytes.
    pub(in crate::read) fn stream(self, limits: UnpackLimits) -> Box<dyn Read> {
        let stream = match self.compression {
            Some(compression) => decompress(self.packed, compression, limits),
            None => self.packed,
        };
        match self.checksum {
            Some(checksum) => Box::new(ChecksumReader {
                stream,
                crc: flate2::Crc::new(),
                bytes: 0,
                checksum,
                ended: false,
            }),
            None => stream,
        }
    }
}

/// Reader that compares what it reads with a checksum.
struct ChecksumReader {
    stream: Box<dyn Read>,
    crc: flate2::Crc,
    /// Bytes read so far.
    bytes: u64,
    checksum: ZipChecksum,
    ended: bool,
}

impl Read for ChecksumReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended || buffer.is_empty() {
            return Ok(0);
        }
        let read = self.stream.read(buffer)?;
        self.crc.update(&buffer[..read]);
        self.bytes += read as u64;
        self.ended = read == 0;
        let ZipChecksum { crc, bytes } = self.checksum;
        if self.ended && (self.bytes, self.crc.sum()) != (bytes, crc) {
            return Err(error::damage(
                "a member does not agree with its checksum or its size",
            ));
        }
        Ok(read)
    }
}
