//! Compression formats: detected by magic and unpacked in process, as streams.
//!
//! A stream may consist of several compressed members, one after the other; all are read. Damage ends a stream with an error, after all
//! bytes before it that can be unpacked.

mod codec;
mod concatenated;
mod errors;
mod lz4;
mod lzw;
mod padding;
#[cfg(test)]
mod tests;

use std::io::{BufReader, Read};

use super::counting_reader::{ByteCount, CountingReader};
use super::packed_news_batch::batch_line_bytes;
use super::ratio_limit::{RatioLimitReader, UnpackRatio};
use concatenated::ConcatenatedReader;
use lz4::Lz4Reader;
use lzw::LzwReader;

/// Compression format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Compression {
    /// gzip (RFC 1952).
    Gzip,
    /// bzip2.
    Bzip2,
    /// xz.
    Xz,
    /// Zstandard (RFC 8878).
    Zstd,
    /// LZ4 frames, legacy frames included.
    Lz4,
    /// compress(1): `.Z`.
    Compress,
    /// Deflate (RFC 1951), as in zip archives. It has no magic.
    Deflate,
}

/// Bytes of compressed data that are read at once.
const INPUT_BYTES: usize = 64 << 10;

impl Compression {
    /// All formats that have a magic.
    pub(super) const ALL: [Compression; 6] = [
        Compression::Gzip,
        Compression::Bzip2,
        Compression::Xz,
        Compression::Zstd,
        Compression::Lz4,
        Compression::Compress,
    ];

    /// Detects the format of bytes that begin with `start`, or of a packed news batch.
    #[must_use]
    pub(super) fn of(start: &[u8]) -> Option<Compression> {
        let packed = &start[batch_line_bytes(start)..];
        Compression::ALL
            .into_iter()
            .find(|compression| compression.begins(packed))
    }

    /// Returns `true` if data in this format begins with `start`. Where `start` is shorter than the magic, all of it must agree.
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

/// Limits on unpacking one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UnpackLimits {
    /// Maximum ratio of unpacked to packed bytes. `None` for no limit.
    pub(super) ratio: Option<UnpackRatio>,
    /// Maximum number of bytes of the window or dictionary that the stream may request.
    pub(super) window_bytes: u64,
}

/// Returns a reader of the unpacked bytes of `stream`.
///
/// It holds an input buffer and what the format needs: at most its window.
#[must_use]
pub(super) fn decompress(
    stream: Box<dyn Read>,
    compression: Compression,
    limits: UnpackLimits,
) -> Box<dyn Read> {
    let packed = ByteCount::default();
    let input = BufReader::with_capacity(INPUT_BYTES, CountingReader::new(stream, &packed));
    let unpacked: Box<dyn Read> = match compression {
        Compression::Lz4 => Box::new(Lz4Reader::new(input)),
        Compression::Compress => Box::new(LzwReader::new(input)),
        _ => Box::new(ConcatenatedReader::new(
            input,
            compression,
            limits.window_bytes,
        )),
    };
    match limits.ratio {
        Some(ratio) => Box::new(RatioLimitReader::new(unpacked, &packed, ratio)),
        None => unpacked,
    }
}
