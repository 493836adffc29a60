//! Codecs of libraries behind one interface, each decoding one compressed member.

use std::io;

use super::Compression;
use super::errors::{damaged, window_too_large};
use crate::planted_faults::{PlantedFault, panic_at_mark};
use crate::read::error;

/// Memory that liblzma needs besides the dictionary (its manual: "a little more").
const XZ_OVERHEAD_BYTES: u64 = 1 << 20;

/// Bytes requested from zstd at once. The output of a call that fails is lost, so that this is the maximum loss.
const ZSTD_STEP_BYTES: usize = 4 << 10;

/// Decoder of one compressed member.
pub(super) enum Codec {
    /// gzip, and deflate without a header.
    Gzip(flate2::Decompress),
    Bzip2(bzip2::Decompress),
    Xz(liblzma::stream::Stream),
    Zstd(zstd::stream::raw::Decoder<'static>),
}

/// Result of one decoding step.
pub(super) struct CodecStep {
    /// Bytes of input consumed.
    pub(super) consumed: usize,
    /// Bytes of output produced, also by a step that failed.
    pub(super) produced: usize,
    /// State of the member after the step.
    pub(super) outcome: io::Result<CodecStatus>,
}

/// State of a compressed member after a decoding step.
pub(super) enum CodecStatus {
    /// More of it follows.
    Continues,
    /// It has ended.
    Ended,
}

impl Codec {
    pub(super) fn new(compression: Compression, window_bytes: u64) -> io::Result<Codec> {
        Ok(match compression {
            Compression::Gzip => Codec::Gzip(flate2::Decompress::new_gzip(15)),
            Compression::Bzip2 => Codec::Bzip2(bzip2::Decompress::new(false)),
            Compression::Xz => {
                let max_bytes = window_bytes.saturating_add(XZ_OVERHEAD_BYTES);
                Codec::Xz(
                    liblzma::stream::Stream::new_stream_decoder(max_bytes, 0)
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
                return Err(error::damage("is not compressed in members"));
            }
        })
    }

    pub(super) fn step(&mut self, input: &[u8], buffer: &mut [u8]) -> CodecStep {
        let step = match self {
            Codec::Gzip(codec) => {
                let before = Totals::of(codec.total_in(), codec.total_out());
                let result = codec.decompress(input, buffer, flate2::FlushDecompress::None);
                let outcome = result
                    .map(|result| status(result == flate2::Status::StreamEnd))
                    .map_err(damaged);
                before.step_to(&Totals::of(codec.total_in(), codec.total_out()), outcome)
            }
            Codec::Bzip2(codec) => {
                let before = Totals::of(codec.total_in(), codec.total_out());
                let result = codec.decompress(input, buffer);
                let outcome = result
                    .map(|result| status(result == bzip2::Status::StreamEnd))
                    .map_err(damaged);
                before.step_to(&Totals::of(codec.total_in(), codec.total_out()), outcome)
            }
            Codec::Xz(codec) => {
                let before = Totals::of(codec.total_in(), codec.total_out());
                let result = codec.process(input, buffer, liblzma::stream::Action::Run);
                let outcome = result
                    .map(|result| status(result == liblzma::stream::Status::StreamEnd))
                    .map_err(|error| match error {
                        liblzma::stream::Error::MemLimit => window_too_large(),
                        error => damaged(error),
                    });
                before.step_to(&Totals::of(codec.total_in(), codec.total_out()), outcome)
            }
            Codec::Zstd(codec) => zstd_step(codec, input, buffer),
        };
        panic_at_mark(PlantedFault::PanicInDecompressor, &buffer[..step.produced]);
        step
    }
}

fn zstd_step(
    codec: &mut zstd::stream::raw::Decoder<'static>,
    input: &[u8],
    buffer: &mut [u8],
) -> CodecStep {
    use zstd::stream::raw::{InBuffer, Operation, OutBuffer};
    let max_bytes = buffer.len().min(ZSTD_STEP_BYTES);
    let mut input = InBuffer::around(input);
    let mut output = OutBuffer::around(&mut buffer[..max_bytes]);
    let hint = codec.run(&mut input, &mut output);
    let outcome = hint.map(|hint| status(hint == 0)).map_err(|error| {
        // The library returns errors as text; this one is `ZSTD_error_frameParameter_windowTooLarge`.
        if error.to_string().contains("too much memory") {
            window_too_large()
        } else {
            damaged(error)
        }
    });
    CodecStep {
        consumed: input.pos(),
        produced: output.pos(),
        outcome,
    }
}

fn status(ended: bool) -> CodecStatus {
    if ended {
        CodecStatus::Ended
    } else {
        CodecStatus::Continues
    }
}

/// Bytes that a codec has consumed and produced so far.
struct Totals {
    consumed: u64,
    produced: u64,
}

impl Totals {
    fn of(consumed: u64, produced: u64) -> Totals {
        Totals { consumed, produced }
    }

    /// Returns the step from these totals to `after`.
    fn step_to(&self, after: &Totals, outcome: io::Result<CodecStatus>) -> CodecStep {
        CodecStep {
            consumed: (after.consumed - self.consumed) as usize,
            produced: (after.produced - self.produced) as usize,
            outcome,
        }
    }
}
