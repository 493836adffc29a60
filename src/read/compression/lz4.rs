//! LZ4 frames.

use std::io::{self, BufRead, Read};

use super::Compression;
use super::errors::{damaged, trailing_data, truncated};
use super::padding::skip_nuls;

/// Reader of LZ4 frames, one after the other.
///
/// The library accepts a file that ends between two blocks as complete; this reader requires the end mark of the frame.
pub(super) struct Lz4Reader<R: BufRead> {
    frames: lz4_flex::frame::FrameDecoder<EofTracker<R>>,
    /// `true` once the first frame has begun.
    begun: bool,
    /// `true` if the current frame is a legacy frame, which has no end mark.
    legacy: bool,
    ended: bool,
}

/// Reader that records that its input has ended.
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
    pub(super) fn new(input: R) -> Lz4Reader<R> {
        let frames = lz4_flex::frame::FrameDecoder::new(EofTracker {
            input,
            at_eof: false,
        });
        Lz4Reader {
            frames,
            begun: false,
            legacy: false,
            ended: false,
        }
    }

    /// Begins the next frame. Returns `false` if there is none.
    fn begin(&mut self) -> io::Result<bool> {
        let EofTracker { input, at_eof } = self.frames.get_mut();
        if *at_eof && self.begun {
            return if self.legacy {
                Ok(false)
            } else {
                Err(truncated())
            };
        }
        if !skip_nuls(input)? {
            return Ok(false);
        }
        let start = input.fill_buf()?;
        if start.len() > 1 && !Compression::Lz4.begins(start) {
            return Err(trailing_data());
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
