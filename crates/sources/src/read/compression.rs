//! Compression formats, detected by magic and unpacked in process as streams.
//!
//! A stream may consist of several consecutive compressed members, all of which are read. Damage
//! ends a stream with an error after all preceding bytes that can be unpacked.

mod codec;
mod lzw;

use std::io::{self, BufRead, BufReader, Read};

use super::error;
use super::input::{ByteCount, Input};
use crate::packed_news_batch::batch_line_bytes;
use codec::{ConcatenatedReader, Lz4Reader};
use lzw::LzwReader;
use urlspool_text::limits::{BZIP2_STREAM_BYTES, STREAM_BYTES};
use urlspool_text::unpack_balance::{UnpackBalance, UnpackRatio};

#[cfg(test)]
mod tests;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Compression {
    /// gzip (RFC 1952).
    Gzip,
    Bzip2,
    Xz,
    /// Zstandard (RFC 8878).
    Zstd,
    /// LZ4 frames, including legacy frames.
    Lz4,
    /// compress(1): `.Z`.
    Compress,
    /// Deflate (RFC 1951), as in zip archives. Has no magic.
    Deflate,
}

/// Size of the input buffer, in bytes.
const INPUT_BYTES: usize = 64 << 10;

impl Compression {
    /// All formats with a magic.
    const ALL: [Compression; 6] = [
        Compression::Gzip,
        Compression::Bzip2,
        Compression::Xz,
        Compression::Zstd,
        Compression::Lz4,
        Compression::Compress,
    ];

    /// Detects the format of bytes that start with `start`, possibly in a packed news batch.
    #[must_use]
    pub(super) fn of(start: &[u8]) -> Option<Compression> {
        let packed = &start[batch_line_bytes(start)..];
        Compression::ALL
            .into_iter()
            .find(|compression| compression.may_start(packed))
    }

    /// Returns `true` if `start` is the start of data in this format. If `start` is shorter than
    /// the magic, it must be a prefix of it.
    fn may_start(self, start: &[u8]) -> bool {
        match self {
            // RFC 1952 section 2.3.1: two bytes, and the only method there is.
            Compression::Gzip => agrees(start, b"\x1F\x8B\x08"),
            // A level, and the mark of a block or of the end: `BZh` alone may start a text.
            Compression::Bzip2 => {
                agrees(start, b"BZh")
                    && start
                        .get(3)
                        .is_none_or(|level| matches!(level, b'1'..=b'9'))
                    && start.get(4).is_none_or(|mark| matches!(mark, 0x31 | 0x17))
            }
            Compression::Xz => agrees(start, b"\xFD7zXZ\0"),
            // RFC 8878 section 3.1: frames, and skippable frames, which pzstd writes first.
            Compression::Zstd => {
                agrees(start, b"\x28\xB5\x2F\xFD")
                    || start.first().is_some_and(|first| first & 0xF0 == 0x50)
                        && agrees(start, &[start[0], 0x2A, 0x4D, 0x18])
            }
            Compression::Lz4 => {
                agrees(start, b"\x04\x22\x4D\x18") || agrees(start, b"\x02\x21\x4C\x18")
            }
            Compression::Compress => agrees(start, b"\x1F\x9D"),
            Compression::Deflate => false,
        }
    }

    /// Returns the number of bytes that starting a stream or frame counts for.
    fn stream_bytes(self) -> u64 {
        match self {
            Compression::Bzip2 => BZIP2_STREAM_BYTES,
            _ => STREAM_BYTES,
        }
    }
}

/// Limits on unpacking one stream.
#[derive(Clone)]
pub(super) struct UnpackLimits {
    /// Maximum ratio of unpacked to packed bytes.
    pub(super) ratio: UnpackRatio,
    /// Maximum size of the window or dictionary that the stream may request, in bytes.
    pub(super) window_bytes: u64,
    /// Balance of the outermost source.
    pub(super) balance: UnpackBalance,
}

/// Returns a reader of the unpacked bytes of `stream`.
///
/// The reader holds an input buffer and the state of the format, which is at most its window.
#[must_use]
pub(super) fn decompress(
    stream: Box<dyn Read>,
    compression: Compression,
    limits: UnpackLimits,
) -> Box<dyn Read> {
    let packed = ByteCount::default();
    let counted = Input::stream(stream).counted(&packed).into_stream();
    let input = BufReader::with_capacity(INPUT_BYTES, counted);
    let unpacked: Box<dyn Read> = match compression {
        Compression::Lz4 => Box::new(Lz4Reader::new(input, limits.balance.clone())),
        Compression::Compress => Box::new(LzwReader::new(input)),
        _ => Box::new(ConcatenatedReader::new(input, compression, limits.clone())),
    };
    Box::new(RatioLimitReader {
        inner: unpacked,
        packed,
        unpacked: 0,
        limits,
        ended: false,
    })
}

/// Returns `true` if `start` and `magic` agree. `start` may be shorter than the magic.
fn agrees(start: &[u8], magic: &[u8]) -> bool {
    let known = magic.len().min(start.len());
    known > 1 && start[..known] == magic[..known]
}

/// Reader that stops decompression bombs. It returns unpacked bytes up to its ratio limit or the
/// balance of the outermost source.
struct RatioLimitReader {
    inner: Box<dyn Read>,
    /// Number of bytes that `inner` has read.
    packed: ByteCount,
    unpacked: u64,
    limits: UnpackLimits,
    ended: bool,
}

impl Read for RatioLimitReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let UnpackRatio { max, from_bytes } = self.limits.ratio;
        if self.ended {
            return Ok(0);
        }
        if let Err(message) = self.limits.balance.check() {
            self.ended = true;
            return Err(error::limit(message));
        }
        if self.unpacked > from_bytes && self.unpacked / max > self.packed.get() {
            self.ended = true;
            return Err(error::limit(format!(
                "unpacks to more than {max} times its size: the rest is not read"
            )));
        }
        // Read no more than what is left, even into a larger buffer.
        let left = self.limits.balance.left();
        let read = (&mut self.inner).take(left).read(buffer)?;
        self.unpacked += read as u64;
        self.limits.balance.add(read as u64);
        Ok(read)
    }
}

/// Creates the error of a codec that rejects its input.
pub(super) fn damaged(cause: impl std::fmt::Display) -> io::Error {
    error::damage(format!("its compressed data is damaged: {cause}"))
}

/// Creates the error of a stream that ends inside its compressed data.
fn truncated() -> io::Error {
    error::damage("ends before its compressed data does")
}

/// Creates the error of a stream that requests too large a window.
fn window_too_large() -> io::Error {
    error::limit("asks for a larger window than is allowed to unpack it")
}

/// Looks for the next member or frame and counts it. Returns `false` at the end.
fn next_member_starts(
    input: &mut impl BufRead,
    compression: Compression,
    balance: &UnpackBalance,
) -> io::Result<bool> {
    if !skip_nuls(input)? {
        return Ok(false);
    }
    let start = input.fill_buf()?;
    // A single byte is not sufficient; the codec will decide.
    if start.len() > 1 && !compression.may_start(start) {
        return Err(error::damage(
            "has bytes after its end that are not compressed data",
        ));
    }
    balance.add(compression.stream_bytes());
    balance.check().map_err(error::limit)?;
    Ok(true)
}

/// Skips NUL bytes, with which tapes and disks are padded. Returns `true` if another byte follows.
fn skip_nuls(input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let available = input.fill_buf()?;
        let nuls = available.iter().take_while(|&&byte| byte == 0).count();
        let (is_end, has_other) = (available.is_empty(), nuls < available.len());
        input.consume(nuls);
        if is_end || has_other {
            return Ok(has_other);
        }
    }
}
