//! Archives: tar and zip, read member by member as streams. Nothing is ever unpacked to disk.

mod tar;
mod zip;

use std::cell::RefCell;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use super::container::{Allowed, Compression, unpacked};
use super::fault;
use super::input::Input;
use crate::diagnostic::{DiagnosticKind, SkipReason};
use tar::Tar;
use zip::{Directory, Locals};

/// Whether an archive begins so (in its first 512 bytes).
pub(super) fn is_archive(start: &[u8]) -> bool {
    tar::begins(start) || zip::begins(start)
}

/// An archive that is being read.
pub(super) enum Archive {
    Tar(Tar),
    /// A zip by its central directory.
    Directory(Directory),
    /// A zip as it comes, by what stands before each member.
    Locals(Locals),
}

/// Something in an archive.
pub(super) struct Entry {
    /// Its name, as written there.
    pub(super) name: Vec<u8>,
    pub(super) what: What,
}

/// What an entry is.
pub(super) enum What {
    /// A folder, which is nothing to read.
    Folder,
    /// Bytes.
    Octets(Body),
    /// Something that is not read.
    Skipped(SkipReason),
    /// It cannot be read.
    Broken(io::Error),
}

/// A member's bytes.
pub(super) struct Body {
    packed: Box<dyn Read>,
    compression: Option<Compression>,
    /// The checksum and the number of bytes that the archive gives.
    sum: Option<Sum>,
}

/// What a zip says of a member's bytes.
#[derive(Clone, Copy)]
pub(super) struct Sum {
    crc: u32,
    bytes: u64,
}

impl Body {
    /// The bytes, unpacked within what is allowed.
    pub(super) fn stream(self, allowed: Allowed) -> Box<dyn Read> {
        let stream = match self.compression {
            Some(compression) => unpacked(self.packed, compression, allowed),
            None => self.packed,
        };
        match self.sum {
            Some(sum) => Box::new(Checked {
                stream,
                crc: flate2::Crc::new(),
                given: 0,
                sum,
                ended: false,
            }),
            None => stream,
        }
    }
}

/// Checks bytes against what the archive says of them.
struct Checked {
    stream: Box<dyn Read>,
    crc: flate2::Crc,
    given: u64,
    sum: Sum,
    ended: bool,
}

impl Read for Checked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended || buffer.is_empty() {
            return Ok(0);
        }
        let read = self.stream.read(buffer)?;
        self.crc.update(&buffer[..read]);
        self.given += read as u64;
        self.ended = read == 0;
        if self.ended && (self.given, self.crc.sum()) != (self.sum.bytes, self.sum.crc) {
            return Err(fault::damage(
                "a member is not what its checksum or its size says",
            ));
        }
        Ok(read)
    }
}

impl Archive {
    /// The archive that begins with `start`.
    pub(super) fn new(start: &[u8], input: Input) -> Archive {
        match input {
            input if tar::begins(start) => Archive::Tar(Tar::new(Feed::new(input.into_stream()))),
            Input::Stream(stream) => Archive::Locals(Locals::new(Feed::new(stream))),
            Input::Random(random) => match Directory::find(&random) {
                Ok(Some(directory)) => Archive::Directory(directory),
                // One that was cut off has lost its directory; its members can be read all the same.
                Ok(None) | Err(_) => {
                    Archive::Locals(Locals::new(Feed::new(Input::Random(random).into_stream())))
                }
            },
        }
    }

    /// The next entry, or nothing at the end. What is left of the current member is passed over.
    pub(super) fn next(&mut self) -> io::Result<Option<Entry>> {
        match self {
            Archive::Tar(tar) => tar.next(),
            Archive::Directory(directory) => directory.next(),
            Archive::Locals(locals) => locals.next(),
        }
    }

    /// What is odd about an archive that came to its end.
    pub(super) fn remark(&self) -> Option<&'static str> {
        match self {
            Archive::Tar(tar) => tar.remark(),
            Archive::Directory(_) | Archive::Locals(_) => None,
        }
    }

    /// Whether the current member failed with what the archive fails with now.
    pub(super) fn said(&self) -> Option<DiagnosticKind> {
        match self {
            Archive::Tar(tar) => tar.feed().failed(),
            Archive::Locals(locals) => locals.feed().failed(),
            Archive::Directory(_) => None,
        }
    }
}

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
    fn new(stream: Box<dyn Read>) -> Feed {
        let input = BufReader::with_capacity(INPUT_BYTES, stream);
        Feed(Rc::new(RefCell::new(Shared {
            input,
            part: Part::Counted(0),
            failed: None,
        })))
    }

    /// Makes the next `bytes` bytes the current member.
    fn begin(&self, bytes: u64) -> Box<dyn Read> {
        self.0.borrow_mut().part = Part::Counted(bytes);
        Box::new(Member(self.clone()))
    }

    /// Makes the next bytes the current member, as far as they can be inflated.
    fn begin_deflate(&self) -> Box<dyn Read> {
        self.0.borrow_mut().part = Part::Deflate(Box::new(flate2::Decompress::new(false)));
        Box::new(Member(self.clone()))
    }

    /// Passes over what is left of the current member.
    fn finish(&self) -> io::Result<()> {
        let mut scratch = [0; 8 << 10];
        let shared = &mut *self.0.borrow_mut();
        while shared.member(&mut scratch)? > 0 {}
        Ok(())
    }

    /// Bytes of the archive itself, until the buffer is full or nothing is left.
    fn fill(&self, buffer: &mut [u8]) -> io::Result<usize> {
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
    fn exact<const N: usize>(&self) -> io::Result<[u8; N]> {
        let mut octets = [0; N];
        if self.fill(&mut octets)? < N {
            Err(cut_off())
        } else {
            Ok(octets)
        }
    }

    /// So many bytes of the archive itself; `bytes` is within a limit.
    fn octets(&self, bytes: usize) -> io::Result<Vec<u8>> {
        let mut octets = vec![0; bytes];
        if self.fill(&mut octets)? < bytes {
            Err(cut_off())
        } else {
            Ok(octets)
        }
    }

    fn failed(&self) -> Option<DiagnosticKind> {
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

fn cut_off() -> io::Error {
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
