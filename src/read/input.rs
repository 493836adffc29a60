//! What is read from: a file or bytes in memory, in any order; or a stream, as it comes.

use std::fs::File;
use std::io::{self, Cursor, IoSliceMut, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use rustix::io::{Errno, ReadWriteFlags};

use super::ratio_limit::{Count, Counted};
use super::sparse_read::{SparseRead, UnreadRange, hole_len};
use crate::limits::MAGIC_BYTES;

/// Bytes to be read.
pub enum Input {
    /// In any order.
    Random(Random),
    /// As they come.
    Stream(Box<dyn Read>),
}

/// Bytes that can be read in any order. Counts what is read of them.
#[derive(Clone)]
pub struct Random {
    octets: Octets,
    count: Count,
}

#[derive(Clone)]
enum Octets {
    File(Arc<File>),
    Memory(Arc<Vec<u8>>),
}

impl Random {
    /// How many bytes there are.
    pub(super) fn len(&self) -> io::Result<u64> {
        match &self.octets {
            Octets::File(file) => file.metadata().map(|metadata| metadata.len()),
            Octets::Memory(octets) => Ok(octets.len() as u64),
        }
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let read = match &self.octets {
            Octets::File(file) => file.read_at(buffer, offset)?,
            Octets::Memory(octets) => octets
                .get(offset as usize..)
                .unwrap_or_default()
                .read(buffer)?,
        };
        self.count.set(self.count.get() + read as u64);
        Ok(read)
    }

    /// The bytes from `start` to `end`, as a stream.
    pub(super) fn range(&self, start: u64, end: u64) -> Range {
        Range {
            random: self.clone(),
            offset: start,
            end,
        }
    }
}

/// A range of bytes, read as a stream.
pub(super) struct Range {
    random: Random,
    offset: u64,
    end: u64,
}

impl Read for Range {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.end.saturating_sub(self.offset))
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        let read = self.random.read_at(&mut buffer[..most], self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}

impl SparseRead for Range {
    fn skip_hole(&mut self, step: u64) -> u64 {
        let Octets::File(file) = &self.random.octets else {
            return 0;
        };
        let passed = hole_len(file, self.offset, step);
        self.offset += passed;
        passed
    }

    /// A file is read from its own place: into memory that nobody has to clear first.
    fn append(&mut self, most: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let most = self.end.saturating_sub(self.offset).min(most as u64);
        let Octets::File(file) = &self.random.octets else {
            return self.take(most).read_to_end(bytes);
        };
        let (mut file, before) = (&**file, bytes.len());
        file.seek(SeekFrom::Start(self.offset))?;
        let read = file.take(most).read_to_end(bytes);
        let appended = (bytes.len() - before) as u64;
        self.offset += appended;
        self.random.count.set(self.random.count.get() + appended);
        read
    }

    fn peek_ahead(&self, ahead: u64, room: &mut [u8]) -> bool {
        let Octets::File(file) = &self.random.octets else {
            return false;
        };
        let at = self.offset + ahead;
        if at + room.len() as u64 > self.end {
            return false;
        }
        // What is not in memory comes fastest from a disk when one reads it in order.
        match rustix::io::preadv2(
            file,
            &mut [IoSliceMut::new(room)],
            at,
            ReadWriteFlags::NOWAIT,
        ) {
            Ok(read) => read == room.len(),
            // That file system does not know the flag, and is all memory.
            Err(Errno::OPNOTSUPP) if is_memory(file) => file.read_exact_at(room, at).is_ok(),
            Err(_) => false,
        }
    }

    fn hand_off(&mut self, back: u64, len: u64) -> Option<UnreadRange> {
        let Octets::File(file) = &self.random.octets else {
            return None;
        };
        let start = self.offset - back;
        self.offset = start + len;
        Some(UnreadRange::new(file, start, len, back))
    }
}

impl Input {
    /// How many bytes there are, where that is known before they are read.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        match self {
            Input::Random(random) => random.len().ok(),
            Input::Stream(_) => None,
        }
    }

    /// An open file.
    #[must_use]
    pub fn file(file: File) -> Input {
        Input::Random(Random {
            octets: Octets::File(Arc::new(file)),
            count: Count::default(),
        })
    }

    /// Bytes that were read already.
    #[must_use]
    pub fn memory(octets: Vec<u8>) -> Input {
        Input::Random(Random {
            octets: Octets::Memory(Arc::new(octets)),
            count: Count::default(),
        })
    }

    /// The same, with its bytes counted as they are read.
    pub(super) fn counted(self, count: &Count) -> Input {
        match self {
            Input::Random(random) => Input::Random(Random {
                count: Count::clone(count),
                ..random
            }),
            Input::Stream(stream) => Input::Stream(Box::new(Counted::new(stream, count))),
        }
    }

    /// The first bytes. A stream that fails among them fails again behind them.
    pub(super) fn start(self) -> (Vec<u8>, Input) {
        let mut start = Vec::with_capacity(MAGIC_BYTES);
        match self {
            Input::Random(random) => {
                // What cannot be read here cannot be read later either, and is said then.
                let uncounted = Random {
                    count: Count::default(),
                    ..random.clone()
                };
                let _ = uncounted
                    .range(0, MAGIC_BYTES as u64)
                    .read_to_end(&mut start);
                (start, Input::Random(random))
            }
            Input::Stream(mut stream) => {
                let failed = (&mut stream)
                    .take(MAGIC_BYTES as u64)
                    .read_to_end(&mut start)
                    .err();
                let again = Cursor::new(start.clone());
                let rest: Box<dyn Read> = match failed {
                    Some(error) => Box::new(Failing(Some(error))),
                    None => stream,
                };
                (start, Input::Stream(Box::new(again.chain(rest))))
            }
        }
    }

    pub(super) fn into_stream(self) -> Box<dyn SparseRead> {
        match self {
            Input::Random(random) => Box::new(random.range(0, u64::MAX)),
            Input::Stream(stream) => Box::new(stream),
        }
    }
}

/// Whether a file lies on a file system that is all memory.
fn is_memory(file: &File) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|stat| stat.f_type == libc::TMPFS_MAGIC)
}

/// Fails once.
struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}
