//! Compressed members one after the other, as `cat` and tools that append write them.

use std::io::{self, BufRead, Read};

use super::Compression;
use super::codec::{Codec, CodecStatus, CodecStep};
use super::errors::{trailing_data, truncated};
use super::padding::skip_nuls;
use crate::read::error;

/// Reader of one or several compressed members, one after the other.
pub(super) struct ConcatenatedReader<R> {
    input: R,
    compression: Compression,
    window_bytes: u64,
    /// Decoder of the current member.
    codec: Option<Codec>,
    /// Error to return after the output that was produced before it.
    error: Option<io::Error>,
    ended: bool,
}

impl<R: BufRead> ConcatenatedReader<R> {
    pub(super) fn new(
        input: R,
        compression: Compression,
        window_bytes: u64,
    ) -> ConcatenatedReader<R> {
        let codec = (compression == Compression::Deflate)
            .then(|| Codec::Gzip(flate2::Decompress::new(false)));
        ConcatenatedReader {
            input,
            compression,
            window_bytes,
            codec,
            error: None,
            ended: false,
        }
    }

    /// Returns the decoder of the next member, or `None` at the end.
    fn begin(&mut self) -> io::Result<Option<Codec>> {
        if !skip_nuls(&mut self.input)? {
            return Ok(None);
        }
        let start = self.input.fill_buf()?;
        // A single byte is not enough to decide; the codec will.
        if start.len() > 1 && !self.compression.begins(start) {
            return Err(trailing_data());
        }
        Codec::new(self.compression, self.window_bytes).map(Some)
    }

    /// Runs one step of the codec. Returns the number of bytes produced.
    fn step(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(codec) = &mut self.codec else {
            self.codec = self.begin()?;
            self.ended = self.codec.is_none();
            return Ok(0);
        };
        let input = self.input.fill_buf()?;
        let is_end = input.is_empty();
        let CodecStep {
            consumed,
            produced,
            outcome,
        } = codec.step(input, buffer);
        self.input.consume(consumed);
        match outcome {
            Ok(CodecStatus::Ended) => {
                self.codec = None;
                self.ended = self.compression == Compression::Deflate;
            }
            Ok(CodecStatus::Continues) if produced == 0 && is_end => return Err(truncated()),
            Ok(CodecStatus::Continues) if produced == 0 && consumed == 0 => {
                return Err(error::damage("its compressed data stalls"));
            }
            Ok(CodecStatus::Continues) => {}
            Err(error) if produced == 0 => return Err(error),
            Err(error) => {
                self.ended = true;
                self.error = Some(error);
            }
        }
        Ok(produced)
    }
}

impl<R: BufRead> Read for ConcatenatedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.ended && !buffer.is_empty() {
            match self.step(buffer) {
                Ok(0) => {}
                Ok(produced) => return Ok(produced),
                Err(error) => {
                    self.ended = true;
                    return Err(error);
                }
            }
        }
        self.error.take().map_or(Ok(0), Err)
    }
}
