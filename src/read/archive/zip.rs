//! zip: read by the central directory where the input can be read in any order, else by the header before each member.
//!
//! Sections are those of PKWARE's APPNOTE.TXT, 6.3.10. Sizes are not trusted: unpacked bytes are counted, and overlapping members
//! (Fifield, "A better zip bomb", 2019) end the reading.
//!
//! The crates `zip` (9.4) and `rc-zip` (5.4) are not used. Both hold all entries of the directory in memory, which a million entries
//! make large; here an entry is read when it is due. As a stream, `zip` reads no member whose sizes are in a descriptor after its data;
//! here such a member ends where its deflated data does. Both bring decoders of their own; here the limits on ratio and
//! window are those of all other compressed streams.

mod directory;
mod stream;

use std::io::{self, Read};

use super::entry::{EntryContent, EntryData, ZipChecksum};
use crate::diagnostic::SkipReason;
use crate::read::compression::Compression;

pub(in crate::read) use directory::ZipDirectory;
pub(in crate::read) use stream::ZipStream;

/// Signature of a local file header (4.3.7).
const LOCAL_HEADER: &[u8; 4] = b"PK\x03\x04";
/// Signature of an entry of the central directory (4.3.12).
const DIRECTORY_ENTRY: &[u8; 4] = b"PK\x01\x02";
/// Signature of the end of central directory record (4.3.16).
const END_RECORD: &[u8; 4] = b"PK\x05\x06";
/// Signature of the zip64 end of central directory record (4.3.14).
const ZIP64_END_RECORD: &[u8; 4] = b"PK\x06\x06";

/// Flag of an encrypted member (4.4.4).
const ENCRYPTED: u16 = 1;

/// Value of a size or an offset that is in the zip64 extra field instead (4.5.3).
const IN_ZIP64: u32 = u32::MAX;

/// Returns `true` if a source that begins with `start` is a zip: it begins with a member, or has none.
pub(super) fn is_zip(start: &[u8]) -> bool {
    start.starts_with(LOCAL_HEADER) || start.starts_with(END_RECORD)
}

/// Properties of a member as its header states them.
struct StatedMember {
    flags: u16,
    method: u16,
    crc: u32,
    packed: u64,
    unpacked: u64,
}

/// Use of the checksum of a member.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChecksumUse {
    /// The unpacked bytes must agree with it.
    Compared,
    /// It is ignored.
    Ignored,
}

impl StatedMember {
    /// Returns the content of the member, whose packed bytes are `packed`.
    fn content(&self, packed: Box<dyn Read>, checksum_use: ChecksumUse) -> EntryContent {
        // 4.4.5
        let compression = match self.method {
            _ if self.flags & ENCRYPTED != 0 => {
                return EntryContent::Skipped(SkipReason::Encrypted);
            }
            0 => None,
            8 => Some(Compression::Deflate),
            12 => Some(Compression::Bzip2),
            20 | 93 => Some(Compression::Zstd),
            95 => Some(Compression::Xz),
            _ => return EntryContent::Skipped(SkipReason::UnknownCompression),
        };
        let checksum = (checksum_use == ChecksumUse::Compared).then_some(ZipChecksum {
            crc: self.crc,
            bytes: self.unpacked,
        });
        EntryContent::Data(EntryData {
            packed,
            compression,
            checksum,
        })
    }
}

/// Replaces those `values` that are in the zip64 extra field, which has them in the same order (4.5.3).
fn read_zip64(mut extra: &[u8], values: &mut [&mut u64]) {
    while extra.len() >= 4 {
        let length = usize::from(u16_at(extra, 2)).min(extra.len() - 4);
        let (mut field, rest) = extra[4..].split_at(length);
        if u16_at(extra, 0) == 1 {
            for value in values
                .iter_mut()
                .filter(|value| ***value == u64::from(IN_ZIP64))
            {
                let Some((number, rest)) = field.split_first_chunk() else {
                    return;
                };
                **value = u64::from_le_bytes(*number);
                field = rest;
            }
            return;
        }
        extra = rest;
    }
}

/// Reads until the buffer is full or the stream ends. Returns the number of bytes.
fn fill(stream: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match stream.read(&mut buffer[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
