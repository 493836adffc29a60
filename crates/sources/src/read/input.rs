//! Inputs: files and bytes in memory, which can be read in any order, and streams. Opens files,
//! reads small ones, and counts the bytes that are read. Streams can skip holes in sparse files and
//! hand off ranges to the threads that process them.
//!
//! `streams` handles the content of an input and its unpacking.

use std::cell::Cell;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufRead, Cursor, Read, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::process::poll_for;
use crate::walk;
use urlspool_text::limits::{STREAM_NUL_BYTES, STREAM_PAUSE_MS};
use urlspool_text::origin::Source;

/// An input to read.
pub enum Input {
    /// Bytes that can be read in any order.
    Seekable(SeekableInput),
    /// Bytes that can only be read once, in order.
    Stream(Reader),
}

/// An object whose bytes can be read in any order, such as one in an object store.
pub trait ReadAt {
    /// Reads bytes that start at `offset` and returns their number, which is 0 at the end of the
    /// object.
    ///
    /// # Errors
    ///
    /// The error of the store.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Returns the number of bytes.
    ///
    /// # Errors
    ///
    /// The error of the store.
    fn size(&self) -> io::Result<u64>;
}

/// Bytes that can be read in any order. Counts the bytes read.
#[derive(Clone)]
pub struct SeekableInput {
    storage: Storage,
    count: ByteCount,
    /// Number of bytes at the start that are known to be NUL.
    nuls: u64,
}

/// Storage of bytes that can be read in any order.
#[derive(Clone)]
enum Storage {
    File(Arc<File>),
    Memory(Arc<Vec<u8>>),
    Object(Rc<dyn ReadAt>),
}

impl SeekableInput {
    /// Creates an input from bytes in memory.
    #[must_use]
    pub fn memory(bytes: Vec<u8>) -> SeekableInput {
        SeekableInput::new(Storage::Memory(Arc::new(bytes)))
    }

    /// Creates an input from an open file.
    #[must_use]
    pub fn file(file: File) -> SeekableInput {
        SeekableInput::new(Storage::File(Arc::new(file)))
    }

    fn new(storage: Storage) -> SeekableInput {
        SeekableInput {
            storage,
            count: ByteCount::default(),
            nuls: 0,
        }
    }

    /// Returns the same input without counting reads.
    pub(super) fn uncounted(&self) -> SeekableInput {
        SeekableInput {
            count: ByteCount::default(),
            ..self.clone()
        }
    }

    /// Returns the number of bytes.
    pub(super) fn len(&self) -> io::Result<u64> {
        match &self.storage {
            Storage::File(file) => file.metadata().map(|metadata| metadata.len()),
            Storage::Memory(bytes) => Ok(bytes.len() as u64),
            Storage::Object(object) => object.size(),
        }
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let read = match &self.storage {
            Storage::File(file) => file.read_at(buffer, offset)?,
            Storage::Memory(bytes) => bytes
                .get(offset as usize..)
                .unwrap_or_default()
                .read(buffer)?,
            Storage::Object(object) => object.read_at(buffer, offset)?,
        };
        self.count.set(self.count.get() + read as u64);
        Ok(read)
    }

    /// Returns the file, if the bytes are in one.
    pub(super) fn open_file(&self) -> Option<io::Result<File>> {
        match &self.storage {
            Storage::File(file) => Some(file.try_clone()),
            Storage::Memory(_) | Storage::Object(_) => None,
        }
    }

    /// Returns the same input, whose first `nuls` bytes are known to be NUL. They are skipped like
    /// a hole.
    #[must_use]
    pub fn after_nuls(&self, nuls: u64) -> SeekableInput {
        SeekableInput {
            nuls,
            ..self.clone()
        }
    }

    /// Returns the bytes from `start` as a stream.
    #[must_use]
    pub fn stream_at(&self, start: u64) -> impl SparseRead + 'static {
        self.range(start, u64::MAX)
    }

    /// Reads `len` bytes at `start`, or fewer at the end.
    pub(super) fn bytes_at(&self, start: u64, len: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.range(start, start.saturating_add(len))
            .read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Returns the bytes from `start` to `end` as a stream.
    pub(super) fn range(&self, start: u64, end: u64) -> InputRange {
        InputRange {
            input: self.clone(),
            offset: start,
            end,
        }
    }
}

/// A range of bytes, read as a stream.
pub(super) struct InputRange {
    input: SeekableInput,
    offset: u64,
    end: u64,
}

impl Read for InputRange {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let max = usize::try_from(self.end.saturating_sub(self.offset))
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        let read = self.input.read_at(&mut buffer[..max], self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}

impl InputRange {
    fn append_object(&mut self, max: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let before = bytes.len();
        bytes.resize(before + max, 0);
        let mut filled = 0;
        let result = loop {
            match self.read(&mut bytes[before + filled..]) {
                Ok(0) => break Ok(filled),
                Ok(read) => filled += read,
                Err(error) => break Err(error),
            }
        };
        bytes.truncate(before + filled);
        result
    }
}

impl SparseRead for InputRange {
    fn skip_hole(&mut self, step: u64) -> u64 {
        let skipped = match &self.input.storage {
            _ if step == 1 && self.offset < self.input.nuls => self.input.nuls - self.offset,
            Storage::File(file) => hole_len(file, self.offset, step),
            Storage::Memory(_) | Storage::Object(_) => 0,
        };
        self.offset += skipped;
        skipped
    }

    fn max_leading_nuls(&self) -> u64 {
        u64::MAX
    }

    /// Reads a file from its own position into memory that need not be cleared first. Reads an
    /// object in as few requests as possible.
    fn append(&mut self, max: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let max = self.end.saturating_sub(self.offset).min(max as u64);
        let file = match &self.input.storage {
            Storage::File(file) => file,
            Storage::Memory(_) => return self.take(max).read_to_end(bytes),
            Storage::Object(_) => return self.append_object(max as usize, bytes),
        };
        let (mut file, before) = (&**file, bytes.len());
        file.seek(SeekFrom::Start(self.offset))?;
        let read = file.take(max).read_to_end(bytes);
        let appended = (bytes.len() - before) as u64;
        self.offset += appended;
        self.input.count.set(self.input.count.get() + appended);
        read
    }

    fn peek_ahead(&self, ahead: u64, buffer: &mut [u8]) -> bool {
        let Storage::File(file) = &self.input.storage else {
            return false;
        };
        let at = self.offset + ahead;
        if at + buffer.len() as u64 > self.end {
            return false;
        }
        read_cached(file, buffer, at)
    }

    fn hand_off(&mut self, overlap: u64, len: u64) -> Option<UnreadRange> {
        let Storage::File(file) = &self.input.storage else {
            return None;
        };
        let offset = self.offset - overlap;
        self.offset = offset + len;
        Some(UnreadRange {
            file: Arc::clone(file),
            offset,
            len,
            overlap,
        })
    }
}

impl Input {
    /// Returns the number of bytes if it is known in advance.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        match self {
            Input::Seekable(input) => input.len().ok(),
            Input::Stream(_) => None,
        }
    }

    /// Creates an input from an open file.
    #[must_use]
    pub fn file(file: File) -> Input {
        Input::Seekable(SeekableInput::file(file))
    }

    /// Creates an input from a stream. It is never read again after its end, because a terminal
    /// would wait for more input.
    pub fn stream(stream: impl Read + 'static) -> Input {
        Input::Stream(Reader::new(ReaderBody::Stream(Box::new(stream))))
    }

    /// Creates an input from standard input, including the bytes that [`peek_stdin`] returned. More
    /// bytes may follow after a pause.
    pub fn stdin() -> Input {
        let Ok(stdin) = io::stdin().as_fd().try_clone_to_owned() else {
            return Input::stream(io::stdin());
        };
        let mut start = vec![0; BUFFERED_STDIN.swap(0, Ordering::Relaxed)];
        // The bytes are buffered, so this neither waits nor fails.
        if io::stdin().read_exact(&mut start).is_err() {
            start.clear();
        }
        keep(&start);
        Input::Stream(Reader {
            start: Cursor::new(start),
            is_stdin: true,
            ..Reader::live(File::from(stdin))
        })
    }

    /// Creates an input from bytes in memory.
    #[must_use]
    pub fn memory(bytes: Vec<u8>) -> Input {
        Input::Seekable(SeekableInput::memory(bytes))
    }

    /// Creates an input from an object.
    pub fn object(object: impl ReadAt + 'static) -> Input {
        Input::Seekable(SeekableInput::new(Storage::Object(Rc::new(object))))
    }

    /// Makes the input count the bytes read from it in `count`.
    pub(super) fn counted(self, count: &ByteCount) -> Input {
        match self {
            Input::Seekable(input) => Input::Seekable(SeekableInput {
                count: ByteCount::clone(count),
                ..input
            }),
            Input::Stream(reader) => {
                count.set(count.get() + reader.start.get_ref().len() as u64);
                let count = ByteCount::clone(count);
                Input::Stream(Reader { count, ..reader })
            }
        }
    }

    /// Returns the bytes as a stream.
    pub(super) fn into_stream(self) -> Box<dyn SparseRead> {
        match self {
            Input::Seekable(input) => Box::new(input.range(0, u64::MAX)),
            Input::Stream(reader) => Box::new(reader),
        }
    }
}

/// Number of bytes that [`peek_stdin`] left in the process-wide buffer of standard input.
static BUFFERED_STDIN: AtomicUsize = AtomicUsize::new(0);

/// Returns the bytes at the start of standard input that are available at once. They stay in the
/// buffer for later reads.
///
/// # Errors
///
/// The error of the system.
pub fn peek_stdin() -> io::Result<Vec<u8>> {
    let mut stdin = io::stdin().lock();
    let start = stdin.fill_buf()?.to_vec();
    BUFFERED_STDIN.store(start.len(), Ordering::Relaxed);
    Ok(start)
}

/// Returns the bytes at the start of standard input that were read so far.
pub fn start_of_stdin() -> Vec<u8> {
    let start = STDIN_START.lock();
    start.unwrap_or_else(PoisonError::into_inner).clone()
}

/// Up to [`KEPT_BYTES`] bytes at the start of the process's standard input.
static STDIN_START: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Number of bytes sufficient to recognize the first line of a text.
const KEPT_BYTES: usize = 4 << 10;

/// Adds the next bytes to [`STDIN_START`].
fn keep(bytes: &[u8]) {
    let mut start = STDIN_START.lock().unwrap_or_else(PoisonError::into_inner);
    let missing = KEPT_BYTES - start.len();
    start.extend_from_slice(&bytes[..bytes.len().min(missing)]);
}

/// A stream that is read once and not after its end. Counts the bytes read.
pub struct Reader {
    /// Bytes at the start, which were read before.
    start: Cursor<Vec<u8>>,
    /// The error that followed these bytes.
    error: Option<io::Error>,
    body: ReaderBody,
    has_ended: bool,
    /// `true` if the last `append` ended in a pause.
    is_paused: bool,
    /// `true` for standard input, whose start is kept in [`STDIN_START`].
    is_stdin: bool,
    count: ByteCount,
}

enum ReaderBody {
    Stream(Box<dyn Read>),
    /// A stream whose writer may pause, such as a pipe from a program that follows a file.
    Live(File),
}

impl Reader {
    fn new(body: ReaderBody) -> Reader {
        Reader {
            start: Cursor::default(),
            error: None,
            body,
            has_ended: false,
            is_paused: false,
            is_stdin: false,
            count: ByteCount::default(),
        }
    }

    fn live(file: File) -> Reader {
        let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
        Reader::new(if is_file {
            ReaderBody::Stream(Box::new(file))
        } else {
            ReaderBody::Live(file)
        })
    }

    /// Puts back bytes that were read, to be read once more. After an error the stream ends.
    pub(super) fn read_again(&mut self, mut bytes: Vec<u8>, error: Option<io::Error>) {
        self.start.read_to_end(&mut bytes).ok();
        self.start = Cursor::new(bytes);
        self.has_ended |= error.is_some();
        self.error = error;
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let again = self.start.read(buffer)?;
        if 0 < again {
            return Ok(again);
        }
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if self.has_ended || buffer.is_empty() {
            return Ok(0);
        }
        let read = match &mut self.body {
            ReaderBody::Stream(stream) => stream.read(buffer)?,
            ReaderBody::Live(file) => file.read(buffer)?,
        };
        self.has_ended = read == 0;
        self.count.set(self.count.get() + read as u64);
        if self.is_stdin {
            keep(&buffer[..read]);
        }
        Ok(read)
    }
}

impl SparseRead for Reader {
    fn append(&mut self, max: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let again = Read::take(&mut self.start, max as u64).read_to_end(bytes)?;
        // A pause after these bytes was already reported, so return them without waiting.
        if max == again || 0 < again && self.is_paused {
            return Ok(again);
        }
        // The more bytes have arrived, the longer it takes to search them.
        let patience = PATIENT_READS + bytes.len() / PIECE_BYTES;
        let mut pieces = Pieces {
            may_wait: std::mem::take(&mut self.is_paused),
            reader: self,
            patience,
        };
        let read = Read::take(&mut pieces, (max - again) as u64).read_to_end(bytes)?;
        Ok(again + read)
    }

    fn is_paused(&self) -> bool {
        self.is_paused
    }
}

/// Number of small pieces for which the reader waits [`STREAM_PAUSE_MS`]. Afterwards a stream
/// counts as paused as soon as it is empty.
const PATIENT_READS: usize = 16;

/// Maximum size of a small piece. A program that writes to a pipe at full speed produces larger
/// pieces.
const SMALL_PIECE_BYTES: usize = 4 << 10;

/// Number of bytes read that allows another small piece.
const PIECE_BYTES: usize = 64 << 10;

/// Reader of a stream that ends in a pause, if it is a live stream.
struct Pieces<'r> {
    reader: &'r mut Reader,
    /// `true` if the next read waits without limit, because a pause was reported and more bytes are
    /// requested.
    may_wait: bool,
    /// Number of small pieces after which a pause is reported at once.
    patience: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let is_patient = self.patience > 0;
        let pause_ms = if is_patient { STREAM_PAUSE_MS } else { 0 };
        if !std::mem::take(&mut self.may_wait)
            && let ReaderBody::Live(file) = &self.reader.body
            && !has_input(file, pause_ms)
        {
            self.reader.is_paused = true;
            return Ok(0);
        }
        let read = self.reader.read(buffer)?;
        if read <= SMALL_PIECE_BYTES {
            self.patience = self.patience.saturating_sub(1);
        }
        Ok(read)
    }
}

/// Returns `true` if a read of `file` would block for at most `max_ms` milliseconds.
fn has_input(file: &File, max_ms: i64) -> bool {
    // After an error, the read itself reports the reason.
    poll_for(&mut [PollFd::new(file, PollFlags::IN)], max_ms) != Ok(0)
}

/// Fills `buffer` with the bytes at an offset if they are cached; a disk is fastest when it is read
/// in order.
#[cfg(target_os = "linux")]
fn read_cached(file: &File, buffer: &mut [u8], at: u64) -> bool {
    use rustix::io::{ReadWriteFlags, preadv2};

    let buffers = &mut [std::io::IoSliceMut::new(buffer)];
    match preadv2(file, buffers, at, ReadWriteFlags::NOWAIT) {
        Ok(read) => read == buffer.len(),
        // tmpfs does not support the flag, but is always in memory.
        Err(Errno::OPNOTSUPP) if is_memory(file) => file.read_exact_at(buffer, at).is_ok(),
        Err(_) => false,
    }
}

/// Fills `buffer` with the bytes at an offset, since this system does not report whether they are
/// cached.
#[cfg(not(target_os = "linux"))]
fn read_cached(file: &File, buffer: &mut [u8], at: u64) -> bool {
    file.read_exact_at(buffer, at).is_ok()
}

/// Returns `true` if a file is on tmpfs, which is always in memory.
#[cfg(target_os = "linux")]
fn is_memory(file: &File) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|stat| stat.f_type == libc::TMPFS_MAGIC)
}

/// Opens a regular file. A file from a walk is opened in its root, or not at all.
///
/// # Errors
///
/// The error of the system, or a separate error if the file is no longer a regular file.
pub fn open(file: &walk::WalkedFile) -> io::Result<File> {
    open_examined(file).map(|(opened, _)| opened)
}

/// Opens a pipe or a device by its name. Waits for the writer of a named pipe.
///
/// # Errors
///
/// The error of the system.
pub fn open_stream(path: &Path) -> io::Result<Input> {
    match File::open(path) {
        // Linux cannot open a socket by name, not even as `/dev/stdin`.
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) && Source::is_stdin_path(path) => {
            Ok(Input::stdin())
        }
        opened => opened.map(|file| Input::Stream(Reader::live(file))),
    }
}

/// Appends the content of a file, at most `max` bytes, and returns the size of the file when it was
/// opened.
///
/// # Errors
///
/// As [`open`], and the error of reading.
pub fn read_small(file: &walk::WalkedFile, max: u64, bytes: &mut Vec<u8>) -> io::Result<u64> {
    if let Some(preopened) = &file.preopened {
        read_sized(preopened, file.size, max, bytes)?;
        return Ok(file.size);
    }
    let (opened, metadata) = open_examined(file)?;
    read_sized(&opened, metadata.len(), max, bytes)?;
    Ok(metadata.len())
}

/// Appends the content of a file, with a single call if the file still has `size` bytes.
fn read_sized(opened: &File, size: u64, max: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    let expected = usize::try_from(size.min(max)).unwrap_or(usize::MAX);
    // The additional byte is filled if the file has grown. Memory is not cleared first, which would
    // take time.
    bytes.reserve(expected.saturating_add(1));
    let read = rustix::io::read(opened, rustix::buffer::spare_capacity(bytes))?;
    if read != expected {
        opened
            .take(max.saturating_sub(read as u64))
            .read_to_end(bytes)?;
    }
    Ok(())
}

/// Opens a regular file like [`open`], and also returns its metadata.
///
/// # Errors
///
/// As [`open`].
pub fn open_examined(file: &walk::WalkedFile) -> io::Result<(File, Metadata)> {
    // Do not block if the file has become a FIFO since the walk.
    let opened = match &file.place {
        Some(place) => File::from(place.open(OFlags::NONBLOCK)?),
        None => OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open(&file.source.path)?,
    };
    let metadata = opened.metadata()?;
    if metadata.is_file() {
        Ok((opened, metadata))
    } else {
        Err(io::Error::other("no longer a regular file"))
    }
}

/// Shared count of bytes read.
pub(super) type ByteCount = Rc<Cell<u64>>;

/// A stream that may skip holes and hand off ranges.
pub trait SparseRead: Read {
    /// Skips the hole at the current position in whole multiples of `step` bytes, which is not
    /// zero. Returns the number of NUL bytes skipped, which is 0 where data is stored or if the
    /// stream does not know.
    fn skip_hole(&mut self, step: u64) -> u64 {
        let _ = step;
        0
    }

    /// Returns the maximum number of NUL bytes to skip at the start: [`STREAM_NUL_BYTES`], or no
    /// limit for a file, which has an end.
    fn max_leading_nuls(&self) -> u64 {
        STREAM_NUL_BYTES
    }

    /// Appends the next `max` bytes, or fewer at the end of the stream, and returns their number.
    ///
    /// # Errors
    ///
    /// The error of the stream. The bytes before it are appended.
    fn append(&mut self, max: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        Read::take(self, max as u64).read_to_end(bytes)
    }

    /// Returns `true` if the last [`SparseRead::append`] ended early because no more bytes are
    /// available yet. The next call waits for more.
    fn is_paused(&self) -> bool {
        false
    }

    /// Fills `buffer` with the bytes `ahead` bytes after the current position, without changing it.
    /// Returns `false` if there are fewer bytes, or if the stream does not support this.
    fn peek_ahead(&self, ahead: u64, buffer: &mut [u8]) -> bool {
        let _ = (ahead, buffer);
        false
    }

    /// Hands off `len` bytes, starting `overlap` bytes before the current position, to be read by
    /// another thread, and advances past them. `overlap` is less than `len`. Returns `None` if
    /// other threads cannot read the stream; it then cannot peek ahead either.
    fn hand_off(&mut self, overlap: u64, len: u64) -> Option<UnreadRange> {
        let _ = (overlap, len);
        None
    }
}

impl SparseRead for &[u8] {}

impl SparseRead for &File {
    fn skip_hole(&mut self, step: u64) -> u64 {
        let Ok(at) = self.stream_position() else {
            return 0;
        };
        let skipped = hole_len(self, at, step);
        // `hole_len` has moved the position.
        self.seek(SeekFrom::Start(at + skipped))
            .map_or(0, |to| to - at)
    }
}

/// Returns the length of the hole at `offset`, in whole multiples of `step` bytes. A hole ends
/// where data is stored, or at the end of the file. May move the position of the file.
#[must_use]
pub fn hole_len(file: &File, offset: u64, step: u64) -> u64 {
    let end = match rustix::fs::seek(file, rustix::fs::SeekFrom::Data(offset)) {
        Ok(at) => at,
        Err(Errno::NXIO) => file.metadata().map_or(offset, |metadata| metadata.len()),
        // The file system does not support holes, so everything is read.
        Err(_) => offset,
    };
    end.saturating_sub(offset) / step * step
}

/// A range of a file that was handed off without being read.
#[derive(Debug)]
pub struct UnreadRange {
    file: Arc<File>,
    offset: u64,
    len: u64,
    /// Number of bytes at the start that were already read.
    overlap: u64,
}

impl UnreadRange {
    /// Returns the number of bytes at the start of the range that were read and counted before it
    /// was handed off.
    #[must_use]
    pub fn overlap(&self) -> u64 {
        self.overlap
    }

    /// Returns the length of the range when it was handed off.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no range is empty")]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Reads the range and replaces the content of `bytes` with it. Reads fewer bytes if the file
    /// ends early.
    ///
    /// # Errors
    ///
    /// The error of the file. `bytes` then contains the bytes before it.
    pub fn read(&self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let len = usize::try_from(self.len).unwrap_or(usize::MAX);
        bytes.clear();
        bytes.reserve_exact(len);
        while bytes.len() < len {
            let at = self.offset + bytes.len() as u64;
            // Reads into uninitialized memory, because clearing it would take time. May read past
            // the end of the range.
            match rustix::io::pread(&self.file, rustix::buffer::spare_capacity(bytes), at) {
                Ok(0) => break,
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        bytes.truncate(len);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A terminal, which reports the end of input for each Ctrl-D and then continues.
    struct Terminal(Vec<&'static [u8]>);

    impl Read for Terminal {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let line = self.0.pop().unwrap_or_default();
            buffer[..line.len()].copy_from_slice(line);
            Ok(line.len())
        }
    }

    /// Ctrl-D had to be pressed two or three times.
    #[test]
    fn a_stream_is_not_read_after_its_end() {
        let terminal = Terminal(vec![b"more\n", b"", b"line\n"]);
        let (start, input) = Input::stream(terminal).peek();
        assert_eq!(start, b"line\n");
        let mut all = Vec::new();
        input.into_stream().read_to_end(&mut all).unwrap();
        assert_eq!(all, b"line\n");
    }
}
