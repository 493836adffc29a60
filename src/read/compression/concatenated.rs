//! Concatenated.

use std::io::{self, BufRead, Read};

use super::Compression;
use super::codec::{Codec, Piece, Step};
use super::errors::{behind_the_end, cut_off};
use super::padding::beyond_zeros;
use crate::read::error as fault;

/// What is compressed in one or several pieces, one behind the other.
pub(super) struct Pieces<R> {
    input: R,
    compression: Compression,
    window_bytes: u64,
    /// The piece that is being read.
    codec: Option<Codec>,
    /// Said once all that came out before it is given.
    failed: Option<io::Error>,
    ended: bool,
}

impl<R: BufRead> Pieces<R> {
    pub(super) fn new(input: R, compression: Compression, window_bytes: u64) -> Pieces<R> {
        let codec = (compression == Compression::Deflate)
            .then(|| Codec::Gzip(flate2::Decompress::new(false)));
        Pieces {
            input,
            compression,
            window_bytes,
            codec,
            failed: None,
            ended: false,
        }
    }

    /// The next piece, or nothing at the end.
    fn begin(&mut self) -> io::Result<Option<Codec>> {
        if !beyond_zeros(&mut self.input)? {
            return Ok(None);
        }
        let start = self.input.fill_buf()?;
        // Of a single byte nobody knows; the codec will tell.
        if start.len() > 1 && !self.compression.begins(start) {
            return Err(behind_the_end());
        }
        Codec::new(self.compression, self.window_bytes).map(Some)
    }

    /// One step: how many bytes were given.
    fn step(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(codec) = &mut self.codec else {
            self.codec = self.begin()?;
            self.ended = self.codec.is_none();
            return Ok(0);
        };
        let input = self.input.fill_buf()?;
        let is_end = input.is_empty();
        let Step {
            taken,
            given,
            outcome,
        } = codec.step(input, buffer);
        self.input.consume(taken);
        match outcome {
            Ok(Piece::Ends) => {
                self.codec = None;
                self.ended = self.compression == Compression::Deflate;
            }
            Ok(Piece::GoesOn) if given == 0 && is_end => return Err(cut_off()),
            Ok(Piece::GoesOn) if given == 0 && taken == 0 => {
                return Err(fault::damage("its compressed data stalls"));
            }
            Ok(Piece::GoesOn) => {}
            Err(error) if given == 0 => return Err(error),
            Err(error) => {
                self.ended = true;
                self.failed = Some(error);
            }
        }
        Ok(given)
    }
}

impl<R: BufRead> Read for Pieces<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.ended && !buffer.is_empty() {
            match self.step(buffer) {
                Ok(0) => {}
                Ok(given) => return Ok(given),
                Err(error) => {
                    self.ended = true;
                    return Err(error);
                }
            }
        }
        self.failed.take().map_or(Ok(0), Err)
    }
}
