//! Stops decompression bombs: ends a stream that unpacks to too many times its size.

use std::io::{self, Read};

use super::counting_reader::ByteCount;
use super::error;

/// Limit on the bytes unpacked per packed byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UnpackRatio {
    /// Maximum number of bytes unpacked per packed byte.
    pub(super) max: u64,
    /// Number of bytes unpacked before the ratio is checked: short runs compress to almost nothing.
    pub(super) from_bytes: u64,
}

/// Reader that passes on what `inner` unpacks, up to a ratio.
pub(super) struct RatioLimitReader<R> {
    inner: R,
    packed: ByteCount,
    unpacked: u64,
    ratio: UnpackRatio,
    ended: bool,
}

impl<R> RatioLimitReader<R> {
    /// Creates a reader; `packed` counts the bytes that `inner` reads.
    pub(super) fn new(inner: R, packed: &ByteCount, ratio: UnpackRatio) -> RatioLimitReader<R> {
        RatioLimitReader {
            inner,
            packed: ByteCount::clone(packed),
            unpacked: 0,
            ratio,
            ended: false,
        }
    }
}

impl<R: Read> Read for RatioLimitReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let UnpackRatio { max, from_bytes } = self.ratio;
        if self.ended {
            return Ok(0);
        }
        if self.unpacked > from_bytes && self.unpacked / max > self.packed.get() {
            self.ended = true;
            return Err(error::limit(format!(
                "unpacks to more than {max} times its size: the rest is not read"
            )));
        }
        let read = self.inner.read(buffer)?;
        self.unpacked += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_beyond_its_ratio_ends_with_an_error() {
        let packed = ByteCount::default();
        packed.set(10);
        let ratio = UnpackRatio {
            max: 100,
            from_bytes: 500,
        };
        let mut reader = RatioLimitReader::new(io::repeat(0).take(10_000), &packed, ratio);
        let mut seen = Vec::new();
        let mut buffer = [0; 10];
        let error = loop {
            match reader.read(&mut buffer) {
                Ok(read) => seen.extend_from_slice(&buffer[..read]),
                Err(error) => break error,
            }
        };
        assert!(seen.len() >= 1_000 && seen.len() <= 1_130, "{}", seen.len());
        assert!(error.to_string().contains("100 times"));
    }
}
