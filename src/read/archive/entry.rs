//! Entries.

use std::io::{self, Read};

use crate::diagnostic::SkipReason;
use crate::read::compression::{Allowed, Compression, unpacked};
use crate::read::error as fault;

/// Something in an archive.
pub(in crate::read) struct Entry {
    /// Its name, as written there.
    pub(in crate::read) name: Vec<u8>,
    pub(in crate::read) what: What,
}

/// What an entry is.
pub(in crate::read) enum What {
    /// A folder, which is nothing to read.
    Folder,
    /// Bytes.
    Octets(Body),
    /// Something that is not read.
    Skipped(SkipReason),
    /// It cannot be read.
    Broken(io::Error),
}

/// A member's bytes.
pub(in crate::read) struct Body {
    pub(super) packed: Box<dyn Read>,
    pub(super) compression: Option<Compression>,
    /// The checksum and the number of bytes that the archive gives.
    pub(super) sum: Option<Sum>,
}

/// What a zip says of a member's bytes.
#[derive(Clone, Copy)]
pub(in crate::read) struct Sum {
    pub(super) crc: u32,
    pub(super) bytes: u64,
}

impl Body {
    /// The bytes, unpacked within what is allowed.
    pub(in crate::read) fn stream(self, allowed: Allowed) -> Box<dyn Read> {
        let stream = match self.compression {
            Some(compression) => unpacked(self.packed, compression, allowed),
            None => self.packed,
        };
        match self.sum {
            Some(sum) => Box::new(Checked {
                stream,
                crc: flate2::Crc::new(),
                given: 0,
                sum,
                ended: false,
            }),
            None => stream,
        }
    }
}

/// Checks bytes against what the archive says of them.
struct Checked {
    stream: Box<dyn Read>,
    pub(super) crc: flate2::Crc,
    given: u64,
    pub(super) sum: Sum,
    ended: bool,
}

impl Read for Checked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended || buffer.is_empty() {
            return Ok(0);
        }
        let read = self.stream.read(buffer)?;
        self.crc.update(&buffer[..read]);
        self.given += read as u64;
        self.ended = read == 0;
        if self.ended && (self.given, self.crc.sum()) != (self.sum.bytes, self.sum.crc) {
            return Err(fault::damage(
                "a member is not what its checksum or its size says",
            ));
        }
        Ok(read)
    }
}
