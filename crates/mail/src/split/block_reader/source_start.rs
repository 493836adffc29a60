//! Start of a source: skips leading NUL bytes, then detects line ends and format from the next
//! bytes.
//!
//! All code that reads mail opens it here. A file, its compressed copy and a pipe therefore have
//! the same messages in every command.

use std::io;

use crate::split::format::{
    Format, LineEnds, begins_several, detect_format, normalize_line_ends, remove_leading_nuls,
    sniff,
};
use urlspool_sources::read::{SparseRead, is_container};
use urlspool_text::diagnostic::SkipReason;
use urlspool_text::limits::{MAGIC_BYTES, SNIFF_BYTES};
use urlspool_text::origin::FormatHint;

/// Start of a source, used to detect its format and line ends.
///
/// Leading NUL bytes are not part of it, however many there are. A writer that kept its offset
/// after a truncation leaves a hole there, which becomes written NUL bytes in copies of the file.
#[derive(Debug)]
pub struct SourceStart {
    /// Number of leading NUL bytes, which is the offset of `bytes`.
    pub offset: u64,
    /// First bytes after the NUL bytes, with LF or CRLF line ends. Empty if the source has no other
    /// bytes.
    pub bytes: Vec<u8>,
    pub(super) line_ends: LineEnds,
    /// Error that ended the bytes early.
    pub(super) error: Option<io::Error>,
    /// `true` if the source is compressed or an archive. The very first bytes decide, NUL or not.
    pub is_container: bool,
    /// `true` if more bytes within [`SNIFF_BYTES`] may follow but had not arrived.
    pub(super) is_paused: bool,
}

impl SourceStart {
    /// Reads the first [`SNIFF_BYTES`] bytes after the leading NUL bytes, and leaves the stream
    /// positioned after them. Skips holes and holds no more than that in memory.
    ///
    /// # Errors
    ///
    /// Returns the stream's error if only NUL bytes came before it.
    ///
    /// Accepts fewer bytes from a paused stream if they start a file of several messages.
    ///
    /// A stream other than a file counts as binary after
    /// [`STREAM_NUL_BYTES`](urlspool_text::limits::STREAM_NUL_BYTES) NUL bytes.
    pub fn read<S: SparseRead + ?Sized>(stream: &mut S) -> io::Result<SourceStart> {
        let mut bytes = Vec::with_capacity(SNIFF_BYTES);
        let mut error = fill(stream, &mut bytes);
        let is_container = is_container(&bytes[..bytes.len().min(MAGIC_BYTES)]);
        let mut offset = 0;
        while bytes.len() == SNIFF_BYTES && is_zero(&bytes) {
            offset += SNIFF_BYTES as u64;
            offset += stream.skip_hole(1);
            bytes.clear();
            if stream.max_leading_nuls() <= offset {
                return Ok(SourceStart::of_text(offset, bytes, is_container));
            }
            error = fill(stream, &mut bytes);
        }
        let nuls = remove_leading_nuls(&mut bytes);
        if 0 < nuls && error.is_none() {
            error = fill(stream, &mut bytes);
        }
        match error {
            Some(error) if bytes.is_empty() => Err(error),
            error => Ok(SourceStart {
                is_paused: error.is_none() && stream.is_paused(),
                error,
                ..SourceStart::of_text(offset + nuls, bytes, is_container)
            }),
        }
    }

    /// Creates a start from the whole content of a source, or from its first bytes.
    #[must_use]
    pub fn of_bytes(mut bytes: Vec<u8>) -> SourceStart {
        let is_container = is_container(&bytes[..bytes.len().min(MAGIC_BYTES)]);
        let nuls = remove_leading_nuls(&mut bytes);
        SourceStart::of_text(nuls, bytes, is_container)
    }

    fn of_text(offset: u64, mut bytes: Vec<u8>, is_container: bool) -> SourceStart {
        let line_ends = normalize_line_ends(&mut bytes);
        SourceStart {
            offset,
            bytes,
            line_ends,
            error: None,
            is_container,
            is_paused: false,
        }
    }

    /// Returns the format of the source. A format named by the user is trusted; the content selects
    /// its variant.
    ///
    /// # Errors
    ///
    /// Returns the reason to skip the source. A source of NUL bytes only is binary, even if the
    /// user named a format.
    pub fn format(&self, given: Option<Format>, hint: FormatHint) -> Result<Format, SkipReason> {
        if self.bytes.is_empty() && 0 < self.offset {
            return Err(SkipReason::Binary);
        }
        detect_format(&self.bytes, given, hint)
    }

    /// Returns the format of the source if its message borders can be found from any offset.
    #[must_use]
    pub fn splittable_format(&self, given: Option<Format>, hint: FormatHint) -> Option<Format> {
        // Compressed bytes can be an mbox only after unpacking, even if the user named the format.
        sniff(&self.bytes, hint).ok()?;
        let format = self.format(given, hint).ok()?;
        (matches!(format, Format::Mbox | Format::Mboxcl) && self.line_ends == LineEnds::Lf)
            .then_some(format)
    }
}

/// Returns `true` if all bytes are NUL.
pub(super) fn is_zero(bytes: &[u8]) -> bool {
    // Slice comparisons are fast even in unoptimised builds.
    static NULS: [u8; SNIFF_BYTES] = [0; SNIFF_BYTES];
    bytes
        .chunks(SNIFF_BYTES)
        .all(|chunk| chunk == &NULS[..chunk.len()])
}

/// Returns `true` if `start`, with LF or CRLF line ends, is enough to recognise a file of several
/// messages.
fn has_marked_start(start: &[u8]) -> bool {
    memchr::memchr(b'\n', start).is_some()
        && memchr::memchr(0, start).is_none()
        && LineEnds::of(start) == LineEnds::Lf
        && begins_several(start)
}

/// Reads until there are [`SNIFF_BYTES`] bytes, or the stream ends, fails, or pauses after the
/// start of several messages. Returns the stream's error.
fn fill<S: SparseRead + ?Sized>(stream: &mut S, bytes: &mut Vec<u8>) -> Option<io::Error> {
    loop {
        let error = stream.append(SNIFF_BYTES - bytes.len(), bytes).err();
        if error.is_some() || !stream.is_paused() || has_marked_start(bytes) {
            return error;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::split::format::cr_to_lf;
    use urlspool_text::origin::SourceKind;

    /// A stream that returns a few bytes at a time and may fail at the end.
    struct Pipe<'p> {
        bytes: &'p [u8],
        fails: bool,
    }

    impl SparseRead for Pipe<'_> {}

    impl Read for Pipe<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.fails && self.bytes.is_empty() {
                return Err(io::Error::other("broken"));
            }
            let len = buffer.len().min(10_007);
            self.bytes.read(&mut buffer[..len])
        }
    }

    #[test]
    fn a_source_starts_after_its_nul_bytes() {
        let mail = [
            b"From: a@b.example\r\rhttp://a.example/".as_slice(),
            &vec![b'x'; SNIFF_BYTES],
        ]
        .concat();
        let message = Ok(Format::Single(SourceKind::Message));
        for nuls in [
            0,
            1,
            SNIFF_BYTES - 1,
            SNIFF_BYTES,
            SNIFF_BYTES + 1,
            5 * SNIFF_BYTES / 2,
        ] {
            let all = [vec![0; nuls], mail.clone()].concat();
            let mut pipe = Pipe {
                bytes: &all,
                fails: false,
            };
            let read = SourceStart::read(&mut pipe).unwrap();
            let whole = SourceStart::of_bytes(all.clone());
            for start in [&read, &whole] {
                assert_eq!(start.offset, nuls as u64);
                assert_eq!(start.line_ends, LineEnds::Cr);
                assert_eq!(start.format(None, FormatHint::None), message);
                assert_eq!(start.bytes[..20], *b"From: a@b.example\n\nh");
            }
            assert_eq!(read.bytes, whole.bytes[..SNIFF_BYTES]);
        }
    }

    #[test]
    fn nul_bytes_alone_are_binary_in_any_named_format() {
        for nuls in [1, SNIFF_BYTES, 3 * SNIFF_BYTES] {
            let start = SourceStart::of_bytes(vec![0; nuls]);
            for given in [None, Some(Format::Mbox), Some(Format::Text)] {
                assert_eq!(
                    start.format(given, FormatHint::None),
                    Err(SkipReason::Binary)
                );
                assert_eq!(start.splittable_format(given, FormatHint::None), None);
            }
            let mut failing = Pipe {
                bytes: &vec![0; nuls],
                fails: true,
            };
            assert!(SourceStart::read(&mut failing).is_err());
        }
        let empty = SourceStart::of_bytes(Vec::new());
        assert_eq!(empty.format(None, FormatHint::None), Err(SkipReason::Empty));
    }

    #[test]
    fn carriage_returns_alone_become_line_feeds() {
        let mut text = b"a\rb\r\nc\r\rd\r".to_vec();
        cr_to_lf(&mut text);
        assert_eq!(text, b"a\nb\r\nc\n\nd\r");
        assert_eq!(LineEnds::of(b"a\rb"), LineEnds::Cr);
        for text in [&b"a\r\nb"[..], b"a\r\r\nb", b"a\nb\r", b"a\r", b"a", b""] {
            assert_eq!(LineEnds::of(text), LineEnds::Lf, "{text:?}");
        }
    }
}
