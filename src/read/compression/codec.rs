//! Codecs.

use std::io;

use super::Compression;
use super::errors::{damaged, too_large_a_window};
use crate::read::error as fault;

/// What liblzma needs beside the dictionary (its manual: "a little more").
const XZ_OVERHEAD_BYTES: u64 = 1 << 20;

/// Bytes that zstd is asked for at once. What a failing call gave is lost, and this is how much that can be.
const ZSTD_STEP_BYTES: usize = 4 << 10;

/// The libraries, each at work on one piece.
pub(super) enum Codec {
    /// And deflate.
    Gzip(flate2::Decompress),
    Bzip2(bzip2::Decompress),
    Xz(liblzma::stream::Stream),
    Zstd(zstd::stream::raw::Decoder<'static>),
}

/// What became of a step.
pub(super) struct Step {
    /// Bytes of input used up.
    pub(super) taken: usize,
    /// Bytes put out, also by a step that failed.
    pub(super) given: usize,
    pub(super) outcome: io::Result<Piece>,
}

/// How a piece stands.
pub(super) enum Piece {
    GoesOn,
    Ends,
}

impl Codec {
    pub(super) fn new(compression: Compression, window_bytes: u64) -> io::Result<Codec> {
        Ok(match compression {
            Compression::Gzip => Codec::Gzip(flate2::Decompress::new_gzip(15)),
            Compression::Bzip2 => Codec::Bzip2(bzip2::Decompress::new(false)),
            Compression::Xz => {
                let most = window_bytes.saturating_add(XZ_OVERHEAD_BYTES);
                Codec::Xz(
                    liblzma::stream::Stream::new_stream_decoder(most, 0)
                        .map_err(io::Error::other)?,
                )
            }
            Compression::Zstd => {
                let mut decoder = zstd::stream::raw::Decoder::new()?;
                let window_log = window_bytes.max(1).ilog2().clamp(10, 31);
                decoder.set_parameter(zstd::stream::raw::DParameter::WindowLogMax(window_log))?;
                Codec::Zstd(decoder)
            }
            Compression::Deflate | Compression::Lz4 | Compression::Compress => {
                return Err(fault::damage("is not compressed in pieces"));
            }
        })
    }

    pub(super) fn step(&mut self, input: &[u8], buffer: &mut [u8]) -> Step {
        match self {
            Codec::Gzip(codec) => {
                let before = (codec.total_in(), codec.total_out());
                let status = codec.decompress(input, buffer, flate2::FlushDecompress::None);
                let outcome = status
                    .map(|status| ended(status == flate2::Status::StreamEnd))
                    .map_err(damaged);
                step(before, (codec.total_in(), codec.total_out()), outcome)
            }
            Codec::Bzip2(codec) => {
                let before = (codec.total_in(), codec.total_out());
                let status = codec.decompress(input, buffer);
                let outcome = status
                    .map(|status| ended(status == bzip2::Status::StreamEnd))
                    .map_err(damaged);
                step(before, (codec.total_in(), codec.total_out()), outcome)
            }
            Codec::Xz(codec) => {
                let before = (codec.total_in(), codec.total_out());
                let status = codec.process(input, buffer, liblzma::stream::Action::Run);
                let outcome = status
                    .map(|status| ended(status == liblzma::stream::Status::StreamEnd))
                    .map_err(|error| match error {
                        liblzma::stream::Error::MemLimit => too_large_a_window(),
                        error => damaged(error),
                    });
                step(before, (codec.total_in(), codec.total_out()), outcome)
            }
            Codec::Zstd(codec) => zstd_step(codec, input, buffer),
        }
    }
}

fn zstd_step(
    codec: &mut zstd::stream::raw::Decoder<'static>,
    input: &[u8],
    buffer: &mut [u8],
) -> Step {
    use zstd::stream::raw::{InBuffer, Operation, OutBuffer};
    let most = buffer.len().min(ZSTD_STEP_BYTES);
    let mut input = InBuffer::around(input);
    let mut output = OutBuffer::around(&mut buffer[..most]);
    let hint = codec.run(&mut input, &mut output);
    let outcome = hint.map(|hint| ended(hint == 0)).map_err(|error| {
        // The library's errors are texts; this one is `ZSTD_error_frameParameter_windowTooLarge`.
        if error.to_string().contains("too much memory") {
            too_large_a_window()
        } else {
            damaged(error)
        }
    });
    Step {
        taken: input.pos(),
        given: output.pos(),
        outcome,
    }
}

fn ended(ends: bool) -> Piece {
    if ends { Piece::Ends } else { Piece::GoesOn }
}

fn step(before: (u64, u64), after: (u64, u64), outcome: io::Result<Piece>) -> Step {
    Step {
        taken: (after.0 - before.0) as usize,
        given: (after.1 - before.1) as usize,
        outcome,
    }
}
