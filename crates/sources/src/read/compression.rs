//! Compression formats, detected by magic and unpacked in process as streams.
//!
//! A stream may consist of several consecutive compressed members, all of which are read. Damage
//! ends a stream with an error after all preceding bytes that can be unpacked.

mod lzw;

use std::io::{self, BufRead, BufReader, Read};

use super::error;
use super::input::{ByteCount, Input};
use crate::packed_news_batch::batch_line_bytes;
use lzw::LzwReader;
use urlspool_text::limits::{BZIP2_STREAM_BYTES, STREAM_BYTES};
use urlspool_text::planted_faults::{PlantedFault, panic_at_mark};
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

/// Reader of one or more consecutive compressed members.
struct ConcatenatedReader<R> {
    input: R,
    compression: Compression,
    limits: UnpackLimits,
    /// Decoder of the current member.
    codec: Option<Codec>,
    /// Decoder of the last member, if it can be reused. Creating one takes longer than decoding an
    /// empty frame.
    spare: Option<Codec>,
    /// Error to return after the output produced before it.
    error: Option<io::Error>,
    ended: bool,
}

impl<R: BufRead> ConcatenatedReader<R> {
    fn new(input: R, compression: Compression, limits: UnpackLimits) -> ConcatenatedReader<R> {
        let codec = (compression == Compression::Deflate)
            .then(|| Codec::Gzip(flate2::Decompress::new(false)));
        ConcatenatedReader {
            input,
            compression,
            limits,
            codec,
            spare: None,
            error: None,
            ended: false,
        }
    }

    /// Returns the decoder of the next member, or `None` at the end.
    fn begin(&mut self) -> io::Result<Option<Codec>> {
        if !next_member_starts(&mut self.input, self.compression, &self.limits.balance)? {
            return Ok(None);
        }
        match self.spare.take() {
            Some(codec) => Ok(Some(codec)),
            None => Codec::new(self.compression, self.limits.window_bytes).map(Some),
        }
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
        let step = codec.step(input, buffer);
        let produced = step.produced;
        panic_at_mark(PlantedFault::PanicInDecompressor, &buffer[..produced]);
        self.input.consume(step.consumed);
        match step.has_ended {
            Ok(true) => {
                let last = self.codec.take();
                self.spare = last.filter(|codec| matches!(codec, Codec::Zstd(_)));
                self.ended = self.compression == Compression::Deflate;
            }
            Ok(false) if produced == 0 && is_end => return Err(truncated()),
            Ok(false) if produced == 0 && step.consumed == 0 => {
                return Err(error::damage("its compressed data stalls"));
            }
            Ok(false) => {}
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

/// Memory that liblzma needs in addition to the dictionary (its manual: "a little more").
const XZ_OVERHEAD_BYTES: u64 = 1 << 20;

/// Maximum number of bytes requested from zstd per call. The output of a failed call is lost, so
/// this bounds the loss.
const ZSTD_STEP_BYTES: usize = 4 << 10;

/// Decoder of one compressed member.
enum Codec {
    /// gzip, and deflate without a header.
    Gzip(flate2::Decompress),
    Bzip2(bzip2::Decompress),
    Xz(liblzma::stream::Stream),
    Zstd(zstd::stream::raw::Decoder<'static>),
}

/// Result of one decoding step.
struct CodecStep {
    /// Number of input bytes consumed.
    consumed: usize,
    /// Number of output bytes produced, including by a failed step.
    produced: usize,
    /// `true` if the member has ended.
    has_ended: io::Result<bool>,
}

impl Codec {
    fn new(compression: Compression, window_bytes: u64) -> io::Result<Codec> {
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

    /// Returns the number of bytes consumed and produced so far. Zstandard does not count them.
    fn totals(&self) -> [u64; 2] {
        match self {
            Codec::Gzip(codec) => [codec.total_in(), codec.total_out()],
            Codec::Bzip2(codec) => [codec.total_in(), codec.total_out()],
            Codec::Xz(codec) => [codec.total_in(), codec.total_out()],
            Codec::Zstd(_) => [0; 2],
        }
    }

    fn step(&mut self, input: &[u8], buffer: &mut [u8]) -> CodecStep {
        let before = self.totals();
        let has_ended = match self {
            Codec::Gzip(codec) => codec
                .decompress(input, buffer, flate2::FlushDecompress::None)
                .map(|status| status == flate2::Status::StreamEnd)
                .map_err(damaged),
            Codec::Bzip2(codec) => codec
                .decompress(input, buffer)
                .map(|status| status == bzip2::Status::StreamEnd)
                .map_err(damaged),
            Codec::Xz(codec) => codec
                .process(input, buffer, liblzma::stream::Action::Run)
                .map(|status| status == liblzma::stream::Status::StreamEnd)
                .map_err(|error| match error {
                    liblzma::stream::Error::MemLimit => window_too_large(),
                    error => damaged(error),
                }),
            Codec::Zstd(codec) => return zstd_step(codec, input, buffer),
        };
        let after = self.totals();
        CodecStep {
            consumed: (after[0] - before[0]) as usize,
            produced: (after[1] - before[1]) as usize,
            has_ended,
        }
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
    let has_ended = hint.map(|hint| hint == 0).map_err(|error| {
        // The library returns errors as text. This one is
        // `ZSTD_error_frameParameter_windowTooLarge`.
        if error.to_string().contains("too much memory") {
            window_too_large()
        } else {
            damaged(error)
        }
    });
    CodecStep {
        consumed: input.pos(),
        produced: output.pos(),
        has_ended,
    }
}

/// Reader of consecutive LZ4 frames.
///
/// The library accepts a file that ends between two blocks as complete. This reader requires the
/// end mark of the frame.
struct Lz4Reader<R: BufRead> {
    frames: lz4_flex::frame::FrameDecoder<EofTracker<R>>,
    balance: UnpackBalance,
    /// `true` once the first frame has started.
    begun: bool,
    /// `true` if the current frame is a legacy frame, which has no end mark.
    legacy: bool,
    ended: bool,
}

/// Reader that records whether its input has ended.
struct EofTracker<R> {
    input: R,
    at_eof: bool,
}

impl<R: BufRead> Read for EofTracker<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.at_eof |= read == 0 && !buffer.is_empty();
        Ok(read)
    }
}

impl<R: BufRead> Lz4Reader<R> {
    fn new(input: R, balance: UnpackBalance) -> Lz4Reader<R> {
        let frames = lz4_flex::frame::FrameDecoder::new(EofTracker {
            input,
            at_eof: false,
        });
        Lz4Reader {
            frames,
            balance,
            begun: false,
            legacy: false,
            ended: false,
        }
    }

    /// Starts the next frame. Returns `false` if there is no further frame.
    fn begin(&mut self) -> io::Result<bool> {
        let EofTracker { input, at_eof } = self.frames.get_mut();
        if *at_eof && self.begun {
            return if self.legacy {
                Ok(false)
            } else {
                Err(truncated())
            };
        }
        if !next_member_starts(input, Compression::Lz4, &self.balance)? {
            return Ok(false);
        }
        self.legacy = input.fill_buf()?.starts_with(b"\x02\x21");
        self.begun = true;
        Ok(true)
    }

    fn next(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.begun {
            self.ended = !self.begin()?;
        }
        while !self.ended {
            let read = self
                .frames
                .read(buffer)
                .map_err(|error| match error.kind() {
                    io::ErrorKind::UnexpectedEof => truncated(),
                    _ if error
                        .get_ref()
                        .and_then(|inner| inner.downcast_ref::<lz4_flex::frame::Error>())
                        .is_some() =>
                    {
                        damaged(error)
                    }
                    _ => error,
                })?;
            if read > 0 {
                return Ok(read);
            }
            self.ended = !self.begin()?;
        }
        Ok(0)
    }
}

impl<R: BufRead> Read for Lz4Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended || buffer.is_empty() {
            return Ok(0);
        }
        let read = self.next(buffer);
        self.ended |= read.is_err();
        read
    }
}
