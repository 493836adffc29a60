//! LZ4.

use std::io::{self, BufRead, Read};

use super::Compression;
use super::errors::{behind_the_end, cut_off, damaged};
use super::padding::beyond_zeros;

/// LZ4 frames, one behind the other.
///
/// The library takes a file that ends between two blocks for whole; the frame's own end mark says whether it is.
pub(super) struct Lz4<R: BufRead> {
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
    pub(super) fn new(input: R) -> Lz4<R> {
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
