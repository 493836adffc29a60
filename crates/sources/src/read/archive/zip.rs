//! zip: read through the central directory if the input is seekable, otherwise by the header before
//! each member.
//!
//! Section numbers refer to PKWARE's APPNOTE.TXT, 6.3.10. Sizes are not trusted: unpacked bytes are
//! counted, and overlapping members (Fifield, "A better zip bomb", 2019) stop the reading.
//!
//! The crates `zip` (9.4) and `rc-zip` (5.4) are not used. Both hold all directory entries in
//! memory, which is large for a million entries; here each entry is read when needed. In streams,
//! `zip` cannot read a member whose sizes are in a descriptor after its data; here such a member
//! ends at the end of its deflated data. Both crates also use separate decoders; here all
//! compressed streams share the limits on ratio and window.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read};

use super::{ArchiveEntry, ArchiveFeed, EntryContent, EntryData, MemberExtent, read_up_to};
use crate::read::compression::Compression;
use crate::read::error;
use crate::read::input::{InputRange, SeekableInput};
use urlspool_text::diagnostic::SkipReason;

/// Signature of a local file header (4.3.7).
const LOCAL_HEADER: &[u8; 4] = b"PK\x03\x04";
/// Signature of an entry in the central directory (4.3.12).
const DIRECTORY_ENTRY: &[u8; 4] = b"PK\x01\x02";
/// Signature of the end of central directory record (4.3.16).
const END_RECORD: &[u8; 4] = b"PK\x05\x06";
/// Signature of the zip64 end of central directory record (4.3.14).
const ZIP64_END_RECORD: &[u8; 4] = b"PK\x06\x06";

/// Flag of an encrypted member (4.4.4).
const ENCRYPTED: u16 = 1;

/// Placeholder for a size or an offset that is in the zip64 extra field (4.5.3).
const IN_ZIP64: u32 = u32::MAX;

/// Returns `true` if a source that starts with `start` is a zip: it starts with a member, or is an
/// empty zip.
pub(super) fn is_zip(start: &[u8]) -> bool {
    start.starts_with(LOCAL_HEADER) || start.starts_with(END_RECORD)
}

/// Returns `true` if a zip that starts with `start` is an Office Open XML or ODF document, by the
/// name and content of its first member.
#[must_use]
pub fn is_office_document(start: &[u8]) -> bool {
    /// First members that programs write; ECMA-376 prescribes names, not their order.
    const OFFICE_OPEN_XML: [&[u8]; 6] = [
        b"[Content_Types].xml",
        b"_rels/.rels",
        b"docProps/",
        b"word/",
        b"xl/",
        b"ppt/",
    ];
    /// ISO/IEC 26300 part 2, section 3.3.
    const OPEN_DOCUMENT: &[u8] = b"mimetypeapplication/vnd.oasis.opendocument";
    let name = start.get(LOCAL_HEADER_BYTES as usize..).unwrap_or_default();
    start.starts_with(LOCAL_HEADER)
        && (OFFICE_OPEN_XML.iter().any(|mark| name.starts_with(mark))
            || name.starts_with(OPEN_DOCUMENT))
}

/// Properties of a member as stated in its header.
pub(super) struct StatedMember {
    flags: u16,
    method: u16,
    pub(super) crc: u32,
    packed: u64,
    pub(super) unpacked: u64,
}

impl StatedMember {
    /// Reads the fields that a local file header and an entry of the directory have in the same
    /// order (4.3.7), starting with the flags.
    fn read(fields: &[u8]) -> StatedMember {
        StatedMember {
            flags: u16_at(fields, 0),
            method: u16_at(fields, 2),
            crc: u32_at(fields, 8),
            packed: u64::from(u32_at(fields, 12)),
            unpacked: u64::from(u32_at(fields, 16)),
        }
    }

    /// Returns the content of the member, where `packed` are its packed bytes.
    fn content(self, packed: Box<dyn Read>) -> EntryContent {
        // 4.4.5
        let compression = match self.method {
            _ if self.flags & ENCRYPTED != 0 => {
                return EntryContent::Skipped(SkipReason::Encrypted);
            }
            0 => None,
            8 => Some(Compression::Deflate),
            12 => Some(Compression::Bzip2),
            20 | 93 => Some(Compression::Zstd),
            95 => Some(Compression::Xz),
            _ => return EntryContent::Skipped(SkipReason::UnknownCompression),
        };
        EntryContent::Data(EntryData {
            compression,
            stated: Some(self),
            ..EntryData::plain(packed)
        })
    }
}

/// Replaces the `values` that are stored in the zip64 extra field, which has them in the same order
/// (4.5.3).
fn read_zip64(mut extra: &[u8], values: &mut [&mut u64]) {
    while extra.len() >= 4 {
        let length = usize::from(u16_at(extra, 2)).min(extra.len() - 4);
        let (mut field, rest) = extra[4..].split_at(length);
        if u16_at(extra, 0) == 1 {
            for value in values
                .iter_mut()
                .filter(|value| ***value == u64::from(IN_ZIP64))
            {
                let Some((number, rest)) = field.split_first_chunk() else {
                    return;
                };
                **value = u64::from_le_bytes(*number);
                field = rest;
            }
            return;
        }
        extra = rest;
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// Signature of the zip64 end of central directory locator (4.3.15).
const ZIP64_LOCATOR: &[u8; 4] = b"PK\x06\x07";
/// Size of the fixed part of a local file header.
const LOCAL_HEADER_BYTES: u64 = 30;
/// Size of the fixed part of the end record.
const END_RECORD_BYTES: u64 = 22;
const ZIP64_LOCATOR_BYTES: u64 = 20;

/// Reader of a zip through its central directory.
pub(in crate::read) struct ZipDirectory {
    input: SeekableInput,
    entries: BufReader<InputRange>,
    /// Number of bytes before the zip, which its offsets exclude.
    base: u64,
    /// Start of the directory. All members precede it.
    start: u64,
    /// Ranges of the members so far, by start offset. Adjacent ranges are merged; a million members
    /// need no more memory than two.
    ranges: BTreeMap<u64, u64>,
}

impl ZipDirectory {
    /// Finds the directory of a zip. Returns `None` if there is no directory.
    pub(super) fn find(input: &SeekableInput) -> io::Result<Option<ZipDirectory>> {
        const MAX_COMMENT_BYTES: u64 = u16::MAX as u64;
        let len = input.len()?;
        let from = len.saturating_sub(END_RECORD_BYTES + MAX_COMMENT_BYTES);
        let tail = input.bytes_at(from, len - from)?;
        let Some(at) = memchr::memmem::rfind_iter(&tail, END_RECORD)
            .find(|&at| tail.len() - at >= END_RECORD_BYTES as usize)
        else {
            return Ok(None);
        };
        let end = from + at as u64;
        let mut size = u64::from(u32_at(&tail[at..], 12));
        let mut offset = u64::from(u32_at(&tail[at..], 16));
        let mut directory_end = end;
        if let Some((at, record)) = zip64_end_record(input, end)? {
            directory_end = at;
            size = u64_at(&record, 40);
            offset = u64_at(&record, 48);
        }
        let Some(start) = directory_end
            .checked_sub(size)
            .filter(|&start| offset <= start)
        else {
            return Ok(None);
        };
        let entries = BufReader::new(input.range(start, directory_end));
        Ok(Some(ZipDirectory {
            input: input.clone(),
            entries,
            base: start - offset,
            start,
            ranges: BTreeMap::new(),
        }))
    }

    /// Returns the next entry, or `None` at the end.
    pub(super) fn next_entry(&mut self) -> io::Result<Option<ArchiveEntry>> {
        let fixed = read_up_to(&mut self.entries, 46)?;
        match fixed.len() {
            0 => return Ok(None),
            46 if fixed.starts_with(DIRECTORY_ENTRY) => {}
            // A digital signature (4.3.13) may follow the last entry.
            _ if fixed.starts_with(b"PK\x05\x05") => return Ok(None),
            _ => return Err(error::damage("the directory of a zip is damaged")),
        }
        let name = self.field(u16_at(&fixed, 28))?;
        let extra = self.field(u16_at(&fixed, 30))?;
        self.field(u16_at(&fixed, 32))?;
        let mut stated = StatedMember::read(&fixed[8..]);
        let mut offset = u64::from(u32_at(&fixed, 42));
        read_zip64(
            &extra,
            &mut [&mut stated.unpacked, &mut stated.packed, &mut offset],
        );
        // 4.4.2 and 4.4.15: for a member made on Unix, the upper half is the file mode.
        let mode = (fixed[5] == 3).then(|| u32_at(&fixed, 38) >> 16);
        let content = match mode.map(|mode| mode & 0o170_000) {
            _ if name.ends_with(b"/") => EntryContent::Folder,
            Some(0o120_000) => EntryContent::Skipped(SkipReason::Symlink),
            Some(0o020_000 | 0o060_000) => EntryContent::Skipped(SkipReason::Device),
            Some(0o010_000) => EntryContent::Skipped(SkipReason::Fifo),
            _ => self.member(offset, stated)?,
        };
        Ok(Some(ArchiveEntry { name, content }))
    }

    /// Reads a field of variable length of the current entry.
    fn field(&mut self, bytes: u16) -> io::Result<Vec<u8>> {
        let field = read_up_to(&mut self.entries, bytes.into())?;
        if field.len() < usize::from(bytes) {
            return Err(error::damage("the directory of a zip is cut off"));
        }
        Ok(field)
    }

    /// Returns the content of the member whose local header is at `offset`.
    fn member(&mut self, offset: u64, stated: StatedMember) -> io::Result<EntryContent> {
        let start = self.base.saturating_add(offset);
        let local = self.input.bytes_at(start, LOCAL_HEADER_BYTES)?;
        if local.len() < LOCAL_HEADER_BYTES as usize || !local.starts_with(LOCAL_HEADER) {
            return Ok(EntryContent::Broken(error::damage(
                "is not at the offset that the zip's directory states",
            )));
        }
        let header_bytes =
            LOCAL_HEADER_BYTES + u64::from(u16_at(&local, 26)) + u64::from(u16_at(&local, 28));
        let data = start + header_bytes;
        let end = data.saturating_add(stated.packed);
        let before = self.ranges.range_mut(..end).next_back().map(|(_, end)| end);
        if before.as_ref().is_some_and(|before| **before > start) || end > self.start {
            return Err(error::damage(
                "members of a zip overlap: the rest is not read",
            ));
        }
        match before {
            // The gap is too small for a member, but may contain a data descriptor.
            Some(before) if start - *before < LOCAL_HEADER_BYTES => *before = end,
            _ => drop(self.ranges.insert(start, end)),
        }
        let packed = Box::new(self.input.range(data, end));
        Ok(stated.content(packed))
    }
}

/// Reads the zip64 end record before the end record at `end`, if there is one. Returns its offset
/// and its bytes.
fn zip64_end_record(input: &SeekableInput, end: u64) -> io::Result<Option<(u64, Vec<u8>)>> {
    const RECORD_BYTES: u64 = 56;
    let Some(at) = end.checked_sub(ZIP64_LOCATOR_BYTES) else {
        return Ok(None);
    };
    let locator = input.bytes_at(at, ZIP64_LOCATOR_BYTES)?;
    if locator.len() < ZIP64_LOCATOR_BYTES as usize || !locator.starts_with(ZIP64_LOCATOR) {
        return Ok(None);
    }
    let stated = u64_at(&locator, 8);
    // Bytes before the zip shift the record. If it has no extension, it is directly before its
    // locator.
    for at in [stated, at.saturating_sub(RECORD_BYTES)] {
        let record = input.bytes_at(at, RECORD_BYTES)?;
        if record.len() == RECORD_BYTES as usize && record.starts_with(ZIP64_END_RECORD) {
            return Ok(Some((at, record)));
        }
    }
    Ok(None)
}

/// Signature of the archive extra data record, which may be between the last member and the
/// directory (4.3.11).
const EXTRA_DATA: &[u8; 4] = b"PK\x06\x08";

/// Flag of a member whose sizes are in a data descriptor after it (4.4.4).
const HAS_DATA_DESCRIPTOR: u16 = 1 << 3;

/// Reader of a zip as a stream, by the header before each member.
pub(in crate::read) struct ZipStream {
    pub(super) feed: ArchiveFeed,
    /// `true` if a data descriptor follows the current member (4.3.9).
    has_data_descriptor: bool,
}

impl ZipStream {
    pub(super) fn new(feed: ArchiveFeed) -> ZipStream {
        ZipStream {
            feed,
            has_data_descriptor: false,
        }
    }

    /// Returns the next entry, or `None` at the end.
    pub(super) fn next_entry(&mut self) -> io::Result<Option<ArchiveEntry>> {
        self.feed.finish_member()?;
        let signature = self.next_signature()?;
        if signature != LOCAL_HEADER {
            // The directory is not needed.
            let known = [DIRECTORY_ENTRY, END_RECORD, ZIP64_END_RECORD, EXTRA_DATA];
            return if known.iter().any(|known| signature == *known) {
                while !self.feed.read_up_to(8 << 10)?.is_empty() {}
                Ok(None)
            } else {
                Err(error::damage(
                    "the bytes after a member of a zip are not another member",
                ))
            };
        }
        // Offsets as in 4.3.7, minus the four bytes of the signature.
        let fixed = self.feed.read_vec(26)?;
        let mut stated = StatedMember::read(&fixed[2..]);
        let name = self.feed.read_vec(usize::from(u16_at(&fixed, 22)))?;
        let extra = self.feed.read_vec(usize::from(u16_at(&fixed, 24)))?;
        read_zip64(&extra, &mut [&mut stated.unpacked, &mut stated.packed]);
        self.has_data_descriptor = stated.flags & HAS_DATA_DESCRIPTOR != 0;
        let content = if !self.has_data_descriptor {
            let packed = self.feed.begin_member(MemberExtent::Bytes(stated.packed));
            stated.content(packed)
        } else if stated.method == 8 && stated.flags & ENCRYPTED == 0 {
            let codec = Box::new(flate2::Decompress::new(false));
            EntryContent::plain(self.feed.begin_member(MemberExtent::Deflate(codec)))
        } else {
            return Err(error::damage(
                "the size of this zip member is only in the directory at the end",
            ));
        };
        let is_folder = name.ends_with(b"/");
        let content = if is_folder {
            EntryContent::Folder
        } else {
            content
        };
        Ok(Some(ArchiveEntry { name, content }))
    }

    /// Reads the next signature. Skips a data descriptor before it, in any of its four forms
    /// (4.3.9.3).
    fn next_signature(&mut self) -> io::Result<Vec<u8>> {
        const MAX_DESCRIPTOR_BYTES: usize = 24;
        let mut signature = self.feed.read_vec(4)?;
        if !std::mem::take(&mut self.has_data_descriptor) {
            return Ok(signature);
        }
        let ends = [LOCAL_HEADER, DIRECTORY_ENTRY, ZIP64_END_RECORD, EXTRA_DATA];
        for _ in 0..=MAX_DESCRIPTOR_BYTES {
            if ends.iter().any(|end| signature == *end) {
                break;
            }
            signature.remove(0);
            signature.append(&mut self.feed.read_vec(1)?);
        }
        Ok(signature)
    }
}
