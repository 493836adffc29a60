//! Feed.

use std::cell::RefCell;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use crate::diagnostic::DiagnosticKind;
use crate::read::error as fault;

/// The bytes of an archive that is read as it comes. It and the reader of its current member share them.
#[derive(Clone)]
pub(super) struct Feed(Rc<RefCell<Shared>>);

struct Shared {
    input: BufReader<Box<dyn Read>>,
    part: Part,
    /// What the reader of a member was told.
    failed: Option<DiagnosticKind>,
}

/// How far the current member goes.
enum Part {
    /// So many bytes more.
    Counted(u64),
    /// To the end that its compressed bytes tell themselves.
    Deflate(Box<flate2::Decompress>),
}

/// Bytes that are read of an archive at once.
const INPUT_BYTES: usize = 64 << 10;

impl Feed {
    pub(super) fn new(stream: Box<dyn Read>) -> Feed {
        let input = BufReader::with_capacity(INPUT_BYTES, stream);
        Feed(Rc::new(RefCell::new(Shared {
            input,
            part: Part::Counted(0),
            failed: None,
        })))
    }

    /// Makes the next `bytes` bytes the current member.
    pub(super) fn begin(&self, bytes: u64) -> Box<dyn Read> {
        self.0.borrow_mut().part = Part::Counted(bytes);
        Box::new(Member(self.clone()))
    }

    /// Makes the next bytes the current member, as far as they can be inflated.
    pub(super) fn begin_deflate(&self) -> Box<dyn Read> {
        self.0.borrow_mut().part = Part::Deflate(Box::new(flate2::Decompress::new(false)));
        Box::new(Member(self.clone()))
    }

    /// Passes over what is left of the current member.
    pub(super) fn finish(&self) -> io::Result<()> {
        let mut scratch = [0; 8 << 10];
        let shared = &mut *self.0.borrow_mut();
        while shared.member(&mut scratch)? > 0 {}
        Ok(())
    }

    /// Bytes of the archive itself, until the buffer is full or nothing is left.
    pub(super) fn fill(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let shared = &mut *self.0.borrow_mut();
        let mut filled = 0;
        while filled < buffer.len() {
            match shared.input.read(&mut buffer[filled..])? {
                0 => break,
                read => filled += read,
            }
        }
        Ok(filled)
    }

    /// So many bytes of the archive itself, and no fewer.
    pub(super) fn exact<const N: usize>(&self) -> io::Result<[u8; N]> {
        let mut octets = [0; N];
        if self.fill(&mut octets)? < N {
            Err(cut_off())
        } else {
            Ok(octets)
        }
    }

    /// So many bytes of the archive itself; `bytes` is within a limit.
    pub(super) fn octets(&self, bytes: usize) -> io::Result<Vec<u8>> {
        let mut octets = vec![0; bytes];
        if self.fill(&mut octets)? < bytes {
            Err(cut_off())
        } else {
            Ok(octets)
        }
    }

    pub(super) fn failed(&self) -> Option<DiagnosticKind> {
        self.0.borrow().failed
    }
}

impl Shared {
    fn member(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.part {
            Part::Counted(0) => Ok(0),
            Part::Counted(left) => {
                let most = usize::try_from(*left)
                    .unwrap_or(usize::MAX)
                    .min(buffer.len());
                let read = self.input.read(&mut buffer[..most])?;
                if read == 0 && most > 0 {
                    return Err(cut_off());
                }
                *left -= read as u64;
                Ok(read)
            }
            Part::Deflate(codec) => {
                let read = inflate(&mut self.input, codec, buffer)?;
                if read == 0 && !buffer.is_empty() {
                    self.part = Part::Counted(0);
                }
                Ok(read)
            }
        }
    }
}

/// Inflates into `buffer`, and leaves the input behind the last byte that belongs to it.
fn inflate(
    input: &mut impl BufRead,
    codec: &mut flate2::Decompress,
    buffer: &mut [u8],
) -> io::Result<usize> {
    loop {
        let available = input.fill_buf()?;
        let is_end = available.is_empty();
        let before = (codec.total_in(), codec.total_out());
        let status = codec.decompress(available, buffer, flate2::FlushDecompress::None);
        let given = (codec.total_out() - before.1) as usize;
        input.consume((codec.total_in() - before.0) as usize);
        match status {
            Ok(_) | Err(_) if given > 0 => return Ok(given),
            Ok(flate2::Status::StreamEnd) => return Ok(0),
            Ok(_) if is_end => return Err(cut_off()),
            Ok(_) => {}
            Err(error) => {
                return Err(fault::damage(format!(
                    "its compressed data is damaged: {error}"
                )));
            }
        }
    }
}

pub(super) fn cut_off() -> io::Error {
    fault::damage("ends within a member")
}

/// Reads the current member of an archive.
struct Member(Feed);

impl Read for Member {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let shared = &mut *self.0.0.borrow_mut();
        if shared.failed.is_some() {
            return Ok(0);
        }
        let read = shared.member(buffer);
        if let Err(error) = &read {
            shared.failed = Some(fault::diagnostic(error, None).kind);
        }
        read
    }
}
