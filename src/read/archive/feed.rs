//! Bytes of an archive that is read as a stream, shared by its reader and the reader of its current member.
//!
//! The archive and the member own them together, because a member may be an archive itself: archives in archives are on a stack, and
//! each reads from the current member of the one below.

use std::cell::RefCell;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use crate::diagnostic::DiagnosticKind;
use crate::read::error;

/// Stream of an archive's bytes, and of the bytes of its current member.
#[derive(Clone)]
pub(in crate::read) struct ArchiveFeed(Rc<RefCell<FeedState>>);

struct FeedState {
    input: BufReader<Box<dyn Read>>,
    member: MemberExtent,
    /// Kind of the error that the reader of a member returned.
    member_failure: Option<DiagnosticKind>,
}

/// Extent of the current member.
enum MemberExtent {
    /// The next so many bytes.
    Bytes(u64),
    /// The bytes up to the end mark of its deflated data.
    Deflate(Box<flate2::Decompress>),
}

/// Bytes of an archive that are read at once.
const INPUT_BYTES: usize = 64 << 10;

impl ArchiveFeed {
    pub(in crate::read) fn new(stream: Box<dyn Read>) -> ArchiveFeed {
        let input = BufReader::with_capacity(INPUT_BYTES, stream);
        ArchiveFeed(Rc::new(RefCell::new(FeedState {
            input,
            member: MemberExtent::Bytes(0),
            member_failure: None,
        })))
    }

    /// Makes the next `bytes` bytes the current member.
    pub(super) fn begin_member(&self, bytes: u64) -> Box<dyn Read> {
        self.0.borrow_mut().member = MemberExtent::Bytes(bytes);
        Box::new(MemberReader(self.clone()))
    }

    /// Makes the next bytes the current member, up to the end mark of their deflated data.
    pub(super) fn begin_deflated_member(&self) -> Box<dyn Read> {
        let codec = Box::new(flate2::Decompress::new(false));
        self.0.borrow_mut().member = MemberExtent::Deflate(codec);
        Box::new(MemberReader(self.clone()))
    }

    /// Skips the rest of the current member.
    pub(super) fn finish_member(&self) -> io::Result<()> {
        let mut scratch = [0; 8 << 10];
        let state = &mut *self.0.borrow_mut();
        while state.read_member(&mut scratch)? > 0 {}
        Ok(())
    }

    /// Reads bytes of the archive until the buffer is full or the archive ends. Returns the number of bytes.
    pub(super) fn fill(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let state = &mut *self.0.borrow_mut();
        let mut filled = 0;
        while filled < buffer.len() {
            match state.input.read(&mut buffer[filled..])? {
                0 => break,
                read => filled += read,
            }
        }
        Ok(filled)
    }

    /// Reads the next `N` bytes of the archive, or fails.
    pub(super) fn read_array<const N: usize>(&self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        if self.fill(&mut bytes)? < N {
            Err(truncated_member())
        } else {
            Ok(bytes)
        }
    }

    /// Reads the next `len` bytes of the archive, or fails. The caller limits `len`.
    pub(super) fn read_vec(&self, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        if self.fill(&mut bytes)? < len {
            Err(truncated_member())
        } else {
            Ok(bytes)
        }
    }

    /// Reads the next line with its line end, or its first `max` bytes. Empty at the end of the archive.
    pub(super) fn read_line(&self, max: usize) -> io::Result<Vec<u8>> {
        let state = &mut *self.0.borrow_mut();
        let mut line = Vec::new();
        (&mut state.input)
            .take(max as u64)
            .read_until(b'\n', &mut line)?;
        Ok(line)
    }

    /// Returns the kind of the error that the reader of a member returned.
    pub(in crate::read) fn member_failure(&self) -> Option<DiagnosticKind> {
        self.0.borrow().member_failure
    }
}

impl FeedState {
    fn read_member(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.member {
            MemberExtent::Bytes(0) => Ok(0),
            MemberExtent::Bytes(left) => {
                let max = usize::try_from(*left)
                    .unwrap_or(usize::MAX)
                    .min(buffer.len());
                let read = self.input.read(&mut buffer[..max])?;
                if read == 0 && max > 0 {
                    return Err(truncated_member());
                }
                *left -= read as u64;
                Ok(read)
            }
            MemberExtent::Deflate(codec) => {
                let read = inflate(&mut self.input, codec, buffer)?;
                if read == 0 && !buffer.is_empty() {
                    self.member = MemberExtent::Bytes(0);
                }
                Ok(read)
            }
        }
    }
}

/// Inflates into `buffer`. Consumes no byte of `input` after the end of the deflated data.
fn inflate(
    input: &mut impl BufRead,
    codec: &mut flate2::Decompress,
    buffer: &mut [u8],
) -> io::Result<usize> {
    loop {
        let available = input.fill_buf()?;
        let is_end = available.is_empty();
        let (consumed_before, produced_before) = (codec.total_in(), codec.total_out());
        let status = codec.decompress(available, buffer, flate2::FlushDecompress::None);
        let produced = (codec.total_out() - produced_before) as usize;
        input.consume((codec.total_in() - consumed_before) as usize);
        match status {
            Ok(_) | Err(_) if produced > 0 => return Ok(produced),
            Ok(flate2::Status::StreamEnd) => return Ok(0),
            Ok(_) if is_end => return Err(truncated_member()),
            Ok(_) => {}
            Err(cause) => {
                return Err(error::damage(format!(
                    "its compressed data is damaged: {cause}"
                )));
            }
        }
    }
}

/// Creates the error of an archive that ends within a member or its header.
pub(super) fn truncated_member() -> io::Error {
    error::damage("ends within a member")
}

/// Reader of the current member of an archive.
struct MemberReader(ArchiveFeed);

impl Read for MemberReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let state = &mut *self.0.0.borrow_mut();
        if state.member_failure.is_some() {
            return Ok(0);
        }
        let read = state.read_member(buffer);
        if let Err(error) = &read {
            state.member_failure = Some(error::error_diagnostic(error, None).kind);
        }
        read
    }
}
