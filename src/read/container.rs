//! Compression: told by magic, undone in process, as a stream.
//!
//! What is compressed in several pieces, one behind the other, is read to the end of the last. Damage ends the
//! stream with an error; all that can be known of the bytes before it comes out first.

use std::io::{self, BufRead, BufReader, Read};

use super::capped::{Capped, Count, Counted, Ratio};
use super::fault;
use super::lzw::Lzw;

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

/// What liblzma needs beside the dictionary (its manual: "a little more").
const XZ_OVERHEAD_BYTES: u64 = 1 << 20;

/// Bytes that zstd is asked for at once. What a failing call gave is lost, and this is how much that can be.
const ZSTD_STEP_BYTES: usize = 4 << 10;

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

/// What is compressed in one or several pieces, one behind the other.
struct Pieces<R> {
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
    fn new(input: R, compression: Compression, window_bytes: u64) -> Pieces<R> {
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

/// Passes over zeros, which tapes and disks pad with. Whether anything is left.
fn beyond_zeros(input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let available = input.fill_buf()?;
        if available.is_empty() {
            return Ok(false);
        }
        let zeros = available.iter().take_while(|&&byte| byte == 0).count();
        let is_done = zeros < available.len();
        input.consume(zeros);
        if is_done {
            return Ok(true);
        }
    }
}

fn behind_the_end() -> io::Error {
    fault::damage("octets that are no compressed data stand behind its end")
}

fn cut_off() -> io::Error {
    fault::damage("ends before its compressed data does")
}

/// The libraries, each at work on one piece.
enum Codec {
    /// And deflate.
    Gzip(flate2::Decompress),
    Bzip2(bzip2::Decompress),
    Xz(liblzma::stream::Stream),
    Zstd(zstd::stream::raw::Decoder<'static>),
}

/// What became of a step.
struct Step {
    /// Bytes of input used up.
    taken: usize,
    /// Bytes put out, also by a step that failed.
    given: usize,
    outcome: io::Result<Piece>,
}

/// How a piece stands.
enum Piece {
    GoesOn,
    Ends,
}

impl Codec {
    fn new(compression: Compression, window_bytes: u64) -> io::Result<Codec> {
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

    fn step(&mut self, input: &[u8], buffer: &mut [u8]) -> Step {
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

fn damaged(error: impl std::fmt::Display) -> io::Error {
    fault::damage(format!("its compressed data is damaged: {error}"))
}

fn too_large_a_window() -> io::Error {
    fault::limit("asks for a larger window than is allowed to unpack it")
}

/// LZ4 frames, one behind the other.
///
/// The library takes a file that ends between two blocks for whole; the frame's own end mark says whether it is.
struct Lz4<R: BufRead> {
    frames: lz4_flex::frame::FrameDecoder<EndSeen<R>>,
    begun: bool,
    /// The frames of LZ4's first years have no end mark.
    legacy: bool,
    ended: bool,
}

/// Remembers that its reader came to the end.
struct EndSeen<R> {
    input: R,
    seen: bool,
}

impl<R: BufRead> Read for EndSeen<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.seen |= read == 0 && !buffer.is_empty();
        Ok(read)
    }
}

impl<R: BufRead> Lz4<R> {
    fn new(input: R) -> Lz4<R> {
        let frames = lz4_flex::frame::FrameDecoder::new(EndSeen { input, seen: false });
        Lz4 {
            frames,
            begun: false,
            legacy: false,
            ended: false,
        }
    }

    /// Looks at what stands behind a frame. Whether there is another.
    fn begin(&mut self) -> io::Result<bool> {
        let EndSeen { input, seen } = self.frames.get_mut();
        if *seen && self.begun {
            return if self.legacy {
                Ok(false)
            } else {
                Err(cut_off())
            };
        }
        if !beyond_zeros(input)? {
            return Ok(false);
        }
        let start = input.fill_buf()?;
        if start.len() > 1 && !Compression::Lz4.begins(start) {
            return Err(behind_the_end());
        }
        self.legacy = start.starts_with(b"\x02\x21");
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
                    io::ErrorKind::UnexpectedEof => cut_off(),
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

impl<R: BufRead> Read for Lz4<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended || buffer.is_empty() {
            return Ok(0);
        }
        let read = self.next(buffer);
        self.ended |= read.is_err();
        read
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const FREE: Allowed = Allowed {
        ratio: None,
        window_bytes: 128 << 20,
    };

    fn packed(compression: Compression, text: &[u8]) -> Vec<u8> {
        match compression {
            Compression::Gzip => {
                let mut writer =
                    flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
                writer.write_all(text).unwrap();
                writer.finish().unwrap()
            }
            Compression::Bzip2 => {
                let mut writer =
                    bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
                writer.write_all(text).unwrap();
                writer.finish().unwrap()
            }
            Compression::Xz => {
                let mut writer = liblzma::write::XzEncoder::new(Vec::new(), 1);
                writer.write_all(text).unwrap();
                writer.finish().unwrap()
            }
            Compression::Zstd => {
                let mut writer = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
                writer.include_checksum(true).unwrap();
                writer.write_all(text).unwrap();
                writer.finish().unwrap()
            }
            Compression::Lz4 => {
                let mut writer = lz4_flex::frame::FrameEncoder::new(Vec::new());
                writer.write_all(text).unwrap();
                writer.finish().unwrap()
            }
            Compression::Compress => crate::read::lzw::tests::packed(text, 16),
            Compression::Deflate => unreachable!("it has no magic"),
        }
    }

    /// What comes out, and the sentence of the error behind it.
    fn read_back(octets: &[u8], allowed: Allowed) -> (Vec<u8>, Option<String>) {
        let compression = Compression::of(octets).unwrap();
        let mut stream = unpacked(
            Box::new(io::Cursor::new(octets.to_vec())),
            compression,
            allowed,
        );
        let mut out = Vec::new();
        let error = stream
            .read_to_end(&mut out)
            .err()
            .map(|error| error.to_string());
        assert_eq!(
            stream.read(&mut [0; 8]).unwrap(),
            0,
            "an error is said once"
        );
        (out, error)
    }

    fn text() -> Vec<u8> {
        let line = |number: u32| {
            format!(
                "{number} http://a.example/{}\n",
                number.wrapping_mul(2_654_435_761)
            )
        };
        (0..10_000)
            .flat_map(|number| line(number).into_bytes())
            .collect()
    }

    #[test]
    fn every_compression_is_told_and_undone() {
        for compression in Compression::ALL {
            let octets = packed(compression, &text());
            assert_eq!(Compression::of(&octets), Some(compression));
            assert_eq!(read_back(&octets, FREE), (text(), None), "{compression:?}");
        }
    }

    #[test]
    fn pieces_one_behind_the_other_are_read_to_the_last() {
        for compression in Compression::ALL
            .into_iter()
            .filter(|&one| one != Compression::Compress)
        {
            let mut octets = packed(compression, b"one ");
            octets.extend(packed(compression, b""));
            octets.extend(packed(compression, b"two"));
            assert_eq!(
                read_back(&octets, FREE),
                (b"one two".to_vec(), None),
                "{compression:?}"
            );
            octets.extend([0; 1_000]);
            assert_eq!(
                read_back(&octets, FREE),
                (b"one two".to_vec(), None),
                "{compression:?} and zeros"
            );
            octets.extend(b"garbage");
            let (out, error) = read_back(&octets, FREE);
            assert_eq!(out, b"one two", "{compression:?} and garbage");
            assert!(error.unwrap().contains("behind its end"));
        }
    }

    #[test]
    fn the_more_there_is_the_more_comes_out_and_what_is_cut_off_is_said_to_be() {
        for compression in Compression::ALL
            .into_iter()
            .filter(|&one| one != Compression::Compress)
        {
            let (octets, whole) = (packed(compression, &text()), text());
            let mut longest = 0;
            for end in (2..octets.len())
                .step_by(octets.len() / 25)
                .chain(octets.len() - 9..octets.len())
            {
                let (out, error) = read_back(&octets[..end], FREE);
                assert!(
                    whole.starts_with(&out) && out.len() >= longest,
                    "{compression:?} at {end}"
                );
                assert!(
                    error.is_some(),
                    "{compression:?} at {end} of {}",
                    octets.len()
                );
                longest = out.len();
            }
            assert!(longest > whole.len() / 2, "{compression:?}");
        }
    }

    #[test]
    fn damage_takes_nothing_of_what_stands_before_it() {
        let whole = text();
        for compression in [Compression::Gzip, Compression::Zstd, Compression::Xz] {
            let mut octets = packed(compression, &whole);
            let middle = octets.len() / 2;
            octets[middle..middle + 64].fill(0xFF);
            let (out, error) = read_back(&octets, FREE);
            assert!(error.is_some(), "{compression:?}");
            let common = out
                .iter()
                .zip(&whole)
                .take_while(|(one, other)| one == other)
                .count();
            // xz and zstd look at whole blocks.
            let expected = if compression == Compression::Gzip {
                whole.len() / 3
            } else {
                0
            };
            assert!(common >= expected, "{compression:?}: {common}");
        }
    }

    #[test]
    fn a_wrong_checksum_is_damage() {
        for compression in [Compression::Gzip, Compression::Bzip2, Compression::Xz] {
            let mut octets = packed(compression, b"http://a.example/");
            let at = octets.len()
                - if compression == Compression::Xz {
                    12
                } else {
                    6
                };
            octets[at] ^= 0x55;
            assert!(read_back(&octets, FREE).1.is_some(), "{compression:?}");
        }
    }

    #[test]
    fn windows_beyond_the_limit_are_refused() {
        let narrow = Allowed {
            ratio: None,
            window_bytes: 64 << 10,
        };
        let text = text();
        let mut zstd = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        zstd.window_log(20).unwrap();
        zstd.write_all(&text).unwrap();
        for octets in [zstd.finish().unwrap(), packed(Compression::Xz, &text)] {
            let (_, error) = read_back(
                &octets,
                if octets[0] == 0xFD {
                    Allowed {
                        window_bytes: 0,
                        ..narrow
                    }
                } else {
                    narrow
                },
            );
            assert!(
                error
                    .as_deref()
                    .is_some_and(|error| error.contains("larger window")),
                "{error:?}"
            );
        }
    }

    #[test]
    fn bombs_stop_at_the_ratio() {
        let ratio = Ratio {
            most: 100,
            from_bytes: 1 << 20,
        };
        let allowed = Allowed {
            ratio: Some(ratio),
            ..FREE
        };
        for compression in Compression::ALL
            .into_iter()
            .filter(|&one| one != Compression::Lz4)
        {
            let octets = packed(compression, &vec![0; 16 << 20]);
            let (out, error) = read_back(&octets, allowed);
            let most = (octets.len() * 100 + (2 << 20)).min(15 << 20);
            assert!(
                out.len() < most,
                "{compression:?}: {} of {}",
                out.len(),
                octets.len()
            );
            assert!(error.unwrap().contains("100 times"));
        }
    }

    #[test]
    fn packed_batches_are_named() {
        assert_eq!(
            packed_news_batch(b"#! cunbatch\n\x1F\x9D"),
            Some(("cunbatch", 12))
        );
        assert_eq!(
            packed_news_batch(b"#! gunbatch \r\n"),
            Some(("gunbatch", 14))
        );
        assert_eq!(packed_news_batch(b"#! rnews 12\n"), None);
        assert_eq!(packed_news_batch(b"#! /bin/sh\n"), None);
    }

    #[test]
    fn a_packed_batch_is_told_by_what_stands_behind_its_line() {
        let batch = [b"#! cunbatch\n".to_vec(), packed(Compression::Gzip, b"x")].concat();
        assert_eq!(
            (Compression::of(&batch), batch_line(&batch)),
            (Some(Compression::Gzip), 12)
        );
        assert_eq!(Compression::of(b"#! rnews 12\nPath: a\n"), None);
    }

    #[test]
    fn text_is_not_taken_for_compressed() {
        for text in ["", "B", "BZh is a bzip2 magic", "PK", "Path: a!b", "\u{1f}"] {
            assert_eq!(Compression::of(text.as_bytes()), None, "{text:?}");
        }
    }
}
