//! Compression: told by magic, undone in process, as a stream.
//!
//! What is compressed in several pieces, one behind the other, is read to the end of the last. Damage ends the
//! stream with an error; all that can be known of the bytes before it comes out first.

mod codec;
mod concatenated;
mod errors;
mod lz4;
mod lzw;
mod padding;
#[cfg(test)]
mod tests;

use std::io::{BufReader, Read};

use super::ratio_limit::{Capped, Count, Counted, Ratio};
use concatenated::Pieces;
use lz4::Lz4;
use lzw::Lzw;

/// How bytes are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compression {
    /// gzip (RFC 1952).
    Gzip,
    /// bzip2.
    Bzip2,
    /// xz.
    Xz,
    /// Zstandard (RFC 8878).
    Zstd,
    /// LZ4 frames, those of its first years among them.
    Lz4,
    /// compress(1): `.Z`.
    Compress,
    /// Deflate (RFC 1951), which stands in a zip, and has no magic.
    Deflate,
}

/// Bytes of compressed data that are read at once.
const INPUT_BYTES: usize = 64 << 10;

impl Compression {
    /// All that have a magic.
    pub const ALL: [Compression; 6] = [
        Compression::Gzip,
        Compression::Bzip2,
        Compression::Xz,
        Compression::Zstd,
        Compression::Lz4,
        Compression::Compress,
    ];

    /// The compression of bytes that begin so, behind the line of a packed batch if they are one.
    #[must_use]
    pub fn of(start: &[u8]) -> Option<Compression> {
        let packed = &start[batch_line(start)..];
        Compression::ALL
            .into_iter()
            .find(|compression| compression.begins(packed))
    }

    /// Whether what is compressed so begins so. Of fewer bytes than the magic has, all must agree.
    fn begins(self, start: &[u8]) -> bool {
        let agrees = |magic: &[u8]| {
            let known = magic.len().min(start.len());
            known > 1 && start[..known] == magic[..known]
        };
        match self {
            // RFC 1952 section 2.3.1: two bytes, and the only method there is.
            Compression::Gzip => agrees(b"\x1F\x8B\x08"),
            // A level, and the mark of a block or of the end: `BZh` alone may begin a text.
            Compression::Bzip2 => {
                agrees(b"BZh")
                    && start
                        .get(3)
                        .is_none_or(|level| matches!(level, b'1'..=b'9'))
                    && start.get(4).is_none_or(|mark| matches!(mark, 0x31 | 0x17))
            }
            Compression::Xz => agrees(b"\xFD7zXZ\0"),
            // RFC 8878 section 3.1: frames, and skippable frames, which pzstd puts first.
            Compression::Zstd => {
                agrees(b"\x28\xB5\x2F\xFD")
                    || start.first().is_some_and(|first| first & 0xF0 == 0x50)
                        && agrees(&[start[0], 0x2A, 0x4D, 0x18])
            }
            Compression::Lz4 => agrees(b"\x04\x22\x4D\x18") || agrees(b"\x02\x21\x4C\x18"),
            Compression::Compress => agrees(b"\x1F\x9D"),
            Compression::Deflate => false,
        }
    }
}

/// What is allowed to those who unpack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// How much may come out; anything, if there is none.
    pub ratio: Option<Ratio>,
    /// Bytes of the window or dictionary that a stream may ask for.
    pub window_bytes: u64,
}

/// If a packed batch begins so: the name of what unpacks it (`cunbatch` for compress, `gunbatch` for gzip, `bunbatch`
/// for bzip2, ...), and the bytes of the line before what is packed.
#[must_use]
pub fn packed_news_batch(start: &[u8]) -> Option<(&str, usize)> {
    const LONGEST_NAME: usize = 16;
    let rest = start.strip_prefix(b"#! ")?;
    let end = rest
        .iter()
        .take(LONGEST_NAME)
        .position(|&byte| byte == b'\n')?;
    let name = str::from_utf8(rest[..end].trim_ascii_end()).ok()?;
    let is_name =
        name.ends_with("unbatch") && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_name.then_some((name, 3 + end + 1))
}

/// Bytes of the line before what is packed in a batch; 0 for anything else.
pub(super) fn batch_line(start: &[u8]) -> usize {
    packed_news_batch(start).map_or(0, |(_, octets)| octets)
}

/// The bytes of `stream`, which is compressed so.
///
/// Holds a buffer of input and what the format needs: up to its window.
#[must_use]
pub fn unpacked(
    stream: Box<dyn Read>,
    compression: Compression,
    allowed: Allowed,
) -> Box<dyn Read> {
    let taken = Count::default();
    let input = BufReader::with_capacity(INPUT_BYTES, Counted::new(stream, &taken));
    let unpacked: Box<dyn Read> = match compression {
        Compression::Lz4 => Box::new(Lz4::new(input)),
        Compression::Compress => Box::new(Lzw::new(input)),
        _ => Box::new(Pieces::new(input, compression, allowed.window_bytes)),
    };
    match allowed.ratio {
        Some(ratio) => Box::new(Capped::new(unpacked, &taken, ratio)),
        None => unpacked,
    }
}
