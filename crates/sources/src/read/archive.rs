//! Archives: tar, zip, git repositories and streams of git objects, read member by member as
//! streams without unpacking to disk.
//!
//! The archive and the reader of its current member share ownership of the archive's bytes, because
//! a member may be an archive itself. Nested archives are on a stack (`streams`), and each reads
//! from the current member of the one below it.

mod git;
mod outlook;
mod tar;
mod warc;
mod zip;

use std::cell::{Cell, RefCell};
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;
use std::str::FromStr;

use super::compression::{Compression, UnpackLimits, damaged, decompress};
use super::error::{self, error_diagnostic};
use super::input::{ByteCount, Input, SeekableInput};
use super::repository::{RepositoryObjects, SharedObjects};
use crate::walk;
use git::{GitReader, RepositoryReader};
pub(super) use outlook::OutlookReader;
pub use outlook::{has_readpst, is_outlook, leave_private_folders, remove_abandoned_folders};
use tar::TarReader;
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind, SkipReason};
use urlspool_text::limits::Limits;
use urlspool_text::origin::{FormatHint, WebPage};
use urlspool_text::planted_faults::{PlantedFault, panic_at_mark};
use urlspool_text::unpack_balance::{UnpackBalance, UnpackRatio};
use warc::WarcReader;
pub use zip::is_office_document;
use zip::{StatedMember, ZipDirectory, ZipStream};

/// Returns `true` if a source that starts with `start`, its first 512 bytes, is an archive. An
/// office document does not count, although it is a zip.
pub(super) fn is_archive(start: &[u8]) -> bool {
    if is_office_document(start) {
        return false;
    }
    tar::is_tar(start) || zip::is_zip(start) || git::is_git_stream(start) || warc::is_warc(start)
}

/// An archive that is being read.
pub(super) enum Archive {
    Tar(TarReader),
    /// A zip that is read through its central directory.
    ZipDirectory(ZipDirectory),
    /// A zip that is read as a stream, by the header before each member.
    ZipStream(ZipStream),
    /// Output of `git cat-file --batch`.
    Git(GitReader),
    /// A git repository.
    Repository(RepositoryReader),
    /// An Outlook folder.
    Outlook(OutlookReader),
    /// An archive of Web pages.
    Warc(WarcReader),
}

impl Archive {
    /// Creates the reader of the archive that starts with `start`.
    pub(super) fn new(start: &[u8], input: Input, balance: &UnpackBalance) -> Archive {
        let feed = |input: Input| ArchiveFeed::new(input.into_stream(), balance);
        match input {
            input if tar::is_tar(start) => Archive::Tar(TarReader::new(feed(input))),
            input if git::is_git_stream(start) => Archive::Git(GitReader::new(feed(input))),
            input if warc::is_warc(start) => Archive::Warc(WarcReader::new(input.into_stream())),
            Input::Stream(_) => Archive::ZipStream(ZipStream::new(feed(input))),
            Input::Seekable(input) => Archive::zip(input, balance),
        }
    }

    /// Creates the reader of a zip.
    fn zip(input: SeekableInput, balance: &UnpackBalance) -> Archive {
        match ZipDirectory::find(&input) {
            Ok(Some(directory)) => Archive::ZipDirectory(directory),
            // A truncated zip has lost its directory, but its members can still be read.
            Ok(None) | Err(_) => {
                let stream = Input::Seekable(input).into_stream();
                Archive::ZipStream(ZipStream::new(ArchiveFeed::new(stream, balance)))
            }
        }
    }

    /// Creates the reader of a git repository. The bytes of its objects are counted in `count`.
    pub(super) fn of_repository(
        objects: RepositoryObjects,
        count: &ByteCount,
        balance: &UnpackBalance,
    ) -> Archive {
        let objects = SharedObjects(Rc::new(RefCell::new(objects)));
        let counted = Input::stream(objects.clone()).counted(count);
        let stream = GitReader::new(ArchiveFeed::new(counted.into_stream(), balance));
        Archive::Repository(RepositoryReader { objects, stream })
    }

    /// Returns the next entry, or `None` at the end. Skips the rest of the current member.
    pub(super) fn next_entry(&mut self) -> io::Result<Option<ArchiveEntry>> {
        let entry = match self {
            Archive::Tar(tar) => tar.next_entry(),
            Archive::ZipDirectory(directory) => directory.next_entry(),
            Archive::ZipStream(stream) => stream.next_entry(),
            Archive::Git(git) => git.next_entry(),
            Archive::Repository(repository) => repository.next_entry(),
            Archive::Outlook(outlook) => outlook.next_entry(),
            Archive::Warc(warc) => warc.next_entry(),
        };
        if let Ok(Some(entry)) = &entry {
            panic_at_mark(PlantedFault::PanicInArchive, &entry.name);
        }
        entry
    }

    /// Returns `true` if the number of entries is limited. An entry is cheap to create but
    /// expensive to read. Git streams and WARCs are exempt: each object has its own bytes, and
    /// mirrors of mailing lists have millions.
    pub(super) fn limits_entries(&self) -> bool {
        !matches!(
            self,
            Archive::Git(_) | Archive::Repository(_) | Archive::Warc(_)
        )
    }

    /// Returns the offset of the last entry, if it is part of the name.
    pub(super) fn entry_start(&self) -> Option<u64> {
        match self {
            Archive::Warc(warc) => Some(warc.record_start()),
            _ => None,
        }
    }

    /// Returns the hint about the format of a member.
    ///
    /// # Errors
    ///
    /// The reason to skip the member.
    pub(super) fn member_hint(&self, name: &[u8]) -> Result<FormatHint, SkipReason> {
        match self {
            Archive::Warc(_) | Archive::Outlook(_) => Ok(FormatHint::None),
            _ => walk::member_hint(name),
        }
    }

    /// Returns the warning about an archive that was read completely.
    pub(super) fn warning(&self) -> Option<String> {
        match self {
            Archive::Tar(tar) => tar.warning().map(str::to_owned),
            Archive::Outlook(outlook) => outlook.warning(),
            _ => None,
        }
    }

    /// Returns the kind of the error with which reading the current member failed. The archive
    /// fails with the same error.
    pub(super) fn member_failure(&self) -> Option<DiagnosticKind> {
        match self {
            Archive::Tar(tar) => tar.feed.member_failure(),
            Archive::ZipStream(stream) => stream.feed.member_failure(),
            Archive::Git(git) => git.feed.member_failure(),
            Archive::Warc(warc) => warc.member_failure(),
            Archive::Repository(repository) => repository.stream.feed.member_failure(),
            Archive::ZipDirectory(_) | Archive::Outlook(_) => None,
        }
    }
}

pub(super) struct ArchiveEntry {
    /// Name as written in the archive.
    pub(super) name: Vec<u8>,
    pub(super) content: EntryContent,
}

pub(super) enum EntryContent {
    /// A folder, which has no bytes; or a git commit, tree or tag, whose bytes are not mail.
    Folder,
    /// Bytes.
    Data(EntryData),
    /// An entry that is not read.
    Skipped(SkipReason),
    /// An entry that cannot be read.
    Broken(io::Error),
}

impl EntryContent {
    /// Returns content that is neither compressed nor checked.
    fn plain(packed: Box<dyn Read>) -> EntryContent {
        EntryContent::Data(EntryData::plain(packed))
    }
}

/// Bytes of a member.
pub(super) struct EntryData {
    packed: Box<dyn Read>,
    compression: Option<Compression>,
    /// Properties of the unpacked bytes that the archive states, to be checked.
    stated: Option<StatedMember>,
    /// Content type and URL of the bytes, if they come from a Web server.
    pub(super) page: Option<WebPage>,
}

impl EntryData {
    fn plain(packed: Box<dyn Read>) -> EntryData {
        EntryData {
            packed,
            compression: None,
            stated: None,
            page: None,
        }
    }

    /// Returns a reader of the unpacked bytes.
    pub(super) fn stream(self, limits: UnpackLimits) -> Box<dyn Read> {
        let stream = match self.compression {
            Some(compression) => decompress(self.packed, compression, limits),
            None => self.packed,
        };
        match self.stated {
            Some(stated) => Box::new(ChecksumReader {
                stream,
                crc: flate2::Crc::new(),
                bytes: 0,
                stated,
                ended: false,
            }),
            None => stream,
        }
    }
}

/// Reader that verifies a checksum.
struct ChecksumReader {
    stream: Box<dyn Read>,
    crc: flate2::Crc,
    /// Number of bytes read so far.
    bytes: u64,
    stated: StatedMember,
    ended: bool,
}

impl Read for ChecksumReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended || buffer.is_empty() {
            return Ok(0);
        }
        let read = self.stream.read(buffer)?;
        self.crc.update(&buffer[..read]);
        self.bytes += read as u64;
        self.ended = read == 0;
        let stated = (self.stated.unpacked, self.stated.crc);
        if self.ended && (self.bytes, self.crc.sum()) != stated {
            return Err(error::damage(
                "a member does not match its checksum or size",
            ));
        }
        Ok(read)
    }
}

/// The byte stream of an archive and of its current member.
#[derive(Clone)]
struct ArchiveFeed(Rc<RefCell<FeedState>>);

struct FeedState {
    input: BufReader<Box<dyn Read>>,
    balance: UnpackBalance,
    member: MemberExtent,
    /// Kind of the error that the reader of a member returned.
    member_failure: Option<DiagnosticKind>,
}

/// Extent of the current member.
enum MemberExtent {
    /// The remaining number of bytes.
    Bytes(u64),
    /// The bytes up to the end mark of the deflated data.
    Deflate(Box<flate2::Decompress>),
}

/// Size of the input buffer, in bytes.
const INPUT_BYTES: usize = 64 << 10;

impl ArchiveFeed {
    fn new(stream: Box<dyn Read>, balance: &UnpackBalance) -> ArchiveFeed {
        let input = BufReader::with_capacity(INPUT_BYTES, stream);
        ArchiveFeed(Rc::new(RefCell::new(FeedState {
            input,
            balance: balance.clone(),
            member: MemberExtent::Bytes(0),
            member_failure: None,
        })))
    }

    /// Makes the next bytes of the archive the current member.
    fn begin_member(&self, extent: MemberExtent) -> Box<dyn Read> {
        self.0.borrow_mut().member = extent;
        Box::new(self.clone())
    }

    /// Skips the rest of the current member.
    fn finish_member(&self) -> io::Result<()> {
        let mut scratch = [0; 8 << 10];
        let state = &mut *self.0.borrow_mut();
        while state.read_member(&mut scratch)? > 0 {}
        Ok(())
    }

    /// Reads the next `len` bytes of the archive, or fewer at its end. The caller must limit `len`.
    fn read_up_to(&self, len: usize) -> io::Result<Vec<u8>> {
        read_up_to(&mut self.0.borrow_mut().input, len)
    }

    /// Reads the next `len` bytes of the archive, or fails. The caller must limit `len`.
    fn read_vec(&self, len: usize) -> io::Result<Vec<u8>> {
        let bytes = self.read_up_to(len)?;
        if bytes.len() < len {
            return Err(truncated_member());
        }
        Ok(bytes)
    }

    /// Reads the next line with its terminator, or its first `max` bytes. The result is empty at
    /// the end of the archive.
    fn read_line(&self, max: usize) -> io::Result<Vec<u8>> {
        let state = &mut *self.0.borrow_mut();
        let mut line = Vec::new();
        (&mut state.input)
            .take(max as u64)
            .read_until(b'\n', &mut line)?;
        Ok(line)
    }

    /// Returns the kind of the error that the reader of a member returned.
    pub(super) fn member_failure(&self) -> Option<DiagnosticKind> {
        self.0.borrow().member_failure
    }
}

impl FeedState {
    fn read_member(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.member {
            MemberExtent::Bytes(0) => Ok(0),
            MemberExtent::Bytes(left) => {
                let read = (&mut self.input).take(*left).read(buffer)?;
                if read == 0 && !buffer.is_empty() {
                    return Err(truncated_member());
                }
                *left -= read as u64;
                Ok(read)
            }
            MemberExtent::Deflate(codec) => {
                self.balance.check().map_err(error::limit)?;
                let read = inflate(&mut self.input, codec, buffer)?;
                self.balance.add(read as u64);
                if read == 0 && !buffer.is_empty() {
                    self.member = MemberExtent::Bytes(0);
                }
                Ok(read)
            }
        }
    }
}

/// Reads the next `len` bytes of a stream, or fewer at its end.
fn read_up_to(stream: &mut impl Read, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(len);
    stream.take(len as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Parses a decimal number.
fn number<N: FromStr>(digits: &[u8]) -> Option<N> {
    str::from_utf8(digits).ok()?.parse().ok()
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
            Err(cause) => return Err(damaged(cause)),
        }
    }
}

/// Creates the error of an archive that ends inside a member or its header.
fn truncated_member() -> io::Error {
    error::damage("ends within a member")
}

/// Reads the current member of the archive.
impl Read for ArchiveFeed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let state = &mut *self.0.borrow_mut();
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

/// A member of a zip.
pub struct ZipMember {
    /// Name of the member.
    pub name: Vec<u8>,
    /// Unpacked bytes; `None` if the member is encrypted or compressed with an unknown method.
    pub stream: Option<Box<dyn Read>>,
}

/// Iterator over the members of a zip, without folders.
pub struct ZipMembers {
    /// `None` after the end.
    archive: Option<Archive>,
    unpack: UnpackLimits,
    max_entries: usize,
    entries: usize,
}

impl ZipMembers {
    /// Creates an iterator over the members of `zip`.
    #[must_use]
    pub fn new(zip: &SeekableInput, limits: &Limits) -> ZipMembers {
        let ratio = UnpackRatio::new(limits.nested_ratio, limits.nested_ratio_from_bytes);
        let packed = Rc::new(Cell::new(zip.len().unwrap_or_default()));
        let balance = UnpackBalance::new("a document", &packed, ratio);
        ZipMembers {
            archive: Some(Archive::zip(zip.clone(), &balance)),
            unpack: UnpackLimits {
                ratio,
                window_bytes: limits.window_bytes as u64,
                balance,
            },
            max_entries: limits.archive_entries,
            entries: 0,
        }
    }
}

impl Iterator for ZipMembers {
    type Item = Result<ZipMember, Diagnostic>;

    /// Returns the next member, or the reason why it cannot be read. Ends after damage of the zip
    /// itself.
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let next = self.archive.as_mut()?.next_entry();
            self.entries += 1;
            let entry = match next {
                Ok(Some(entry)) if self.entries <= self.max_entries => entry,
                end => {
                    self.archive = None;
                    let max = self.max_entries;
                    let message = format!("more than {max} parts: the rest is not read");
                    return match end {
                        Ok(None) => None,
                        Ok(Some(_)) => Some(Err(Diagnostic::new(DiagnosticKind::Limit, message))),
                        Err(error) => Some(Err(error_diagnostic(&error, None))),
                    };
                }
            };
            let stream = match entry.content {
                EntryContent::Folder => continue,
                EntryContent::Skipped(_) => None,
                EntryContent::Data(data) => Some(data.stream(self.unpack.clone())),
                EntryContent::Broken(error) => return Some(Err(error_diagnostic(&error, None))),
            };
            let name = entry.name;
            return Some(Ok(ZipMember { name, stream }));
        }
    }
}
