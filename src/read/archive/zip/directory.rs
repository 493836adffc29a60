//! A zip read by its central directory.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read};

use super::{
    ChecksumUse, DIRECTORY_ENTRY, END_RECORD, LOCAL_HEADER, StatedMember, ZIP64_END_RECORD, fill,
    read_zip64, u16_at, u32_at, u64_at,
};
use crate::diagnostic::SkipReason;
use crate::read::archive::entry::{ArchiveEntry, EntryContent};
use crate::read::error;
use crate::read::input::{InputRange, SeekableInput};

/// Signature of the zip64 end of central directory locator (4.3.15).
const ZIP64_LOCATOR: &[u8; 4] = b"PK\x06\x07";
/// Bytes of the fixed part of a local file header.
const LOCAL_HEADER_BYTES: u64 = 30;
/// Bytes of the fixed part of the end record.
const END_RECORD_BYTES: u64 = 22;
/// Bytes of the zip64 locator.
const ZIP64_LOCATOR_BYTES: u64 = 20;

/// Reader of a zip by its central directory.
pub(in crate::read) struct ZipDirectory {
    input: SeekableInput,
    entries: BufReader<InputRange>,
    /// Bytes before the zip, which its offsets do not count.
    base: u64,
    /// The start of the directory. All members are before it.
    start: u64,
    /// Ranges of the members so far, from start to end. Adjacent ranges are merged, so that a million members need no more memory
    /// than two.
    ranges: BTreeMap<u64, u64>,
}

impl ZipDirectory {
    /// Finds the directory of a zip. `None` if there is none.
    pub(in crate::read::archive) fn find(
        input: &SeekableInput,
    ) -> io::Result<Option<ZipDirectory>> {
        const MAX_COMMENT_BYTES: u64 = u16::MAX as u64;
        let len = input.len()?;
        let from = len.saturating_sub(END_RECORD_BYTES + MAX_COMMENT_BYTES);
        let mut tail = Vec::new();
        input.range(from, len).read_to_end(&mut tail)?;
        let Some(at) = memchr::memmem::rfind_iter(&tail, END_RECORD)
            .find(|&at| tail.len() - at >= END_RECORD_BYTES as usize)
        else {
            return Ok(None);
        };
        let end = from + at as u64;
        let mut size = u64::from(u32_at(&tail[at..], 12));
        let mut offset = u64::from(u32_at(&tail[at..], 16));
        let mut directory_end = end;
        if let Some(record) = zip64_end_record(input, end)? {
            directory_end = record.at;
            size = record.size;
            offset = record.offset;
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
    pub(in crate::read::archive) fn next_entry(&mut self) -> io::Result<Option<ArchiveEntry>> {
        let mut fixed = [0; 46];
        match fill(&mut self.entries, &mut fixed)? {
            0 => return Ok(None),
            46 if fixed.starts_with(DIRECTORY_ENTRY) => {}
            // A digital signature (4.3.13) may follow the last entry.
            _ if fixed.starts_with(b"PK\x05\x05") => return Ok(None),
            _ => return Err(error::damage("a zip's directory is damaged")),
        }
        let name = self.field(u16_at(&fixed, 28))?;
        let extra = self.field(u16_at(&fixed, 30))?;
        self.field(u16_at(&fixed, 32))?;
        let mut stated = StatedMember {
            flags: u16_at(&fixed, 8),
            method: u16_at(&fixed, 10),
            crc: u32_at(&fixed, 16),
            packed: u64::from(u32_at(&fixed, 20)),
            unpacked: u64::from(u32_at(&fixed, 24)),
        };
        let mut offset = u64::from(u32_at(&fixed, 42));
        read_zip64(
            &extra,
            &mut [&mut stated.unpacked, &mut stated.packed, &mut offset],
        );
        // 4.4.2 and 4.4.15: of a member made on Unix the upper half is its mode.
        let mode = if fixed[5] == 3 {
            u32_at(&fixed, 38) >> 16
        } else {
            0
        };
        let content = match mode & 0o170_000 {
            _ if name.ends_with(b"/") => EntryContent::Folder,
            0o120_000 => EntryContent::Skipped(SkipReason::Symlink),
            0o020_000 | 0o060_000 => EntryContent::Skipped(SkipReason::Device),
            0o010_000 => EntryContent::Skipped(SkipReason::Fifo),
            _ => self.member(offset, &stated)?,
        };
        Ok(Some(ArchiveEntry { name, content }))
    }

    /// Reads a field of variable length of the current entry.
    fn field(&mut self, bytes: u16) -> io::Result<Vec<u8>> {
        let mut field = vec![0; usize::from(bytes)];
        match fill(&mut self.entries, &mut field)? {
            read if read == field.len() => Ok(field),
            _ => Err(error::damage("a zip's directory is cut off")),
        }
    }

    /// Returns the content of the member whose local header is at `offset`.
    fn member(&mut self, offset: u64, stated: &StatedMember) -> io::Result<EntryContent> {
        let start = self.base.saturating_add(offset);
        let mut local = [0; LOCAL_HEADER_BYTES as usize];
        if fill(
            &mut self
                .input
                .range(start, start.saturating_add(LOCAL_HEADER_BYTES)),
            &mut local,
        )? < local.len()
            || !local.starts_with(LOCAL_HEADER)
        {
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
                "members of a zip overlap: nothing is read from here on",
            ));
        }
        match before {
            // No member fits between them, but a data descriptor does.
            Some(before) if start - *before < LOCAL_HEADER_BYTES => *before = end,
            _ => drop(self.ranges.insert(start, end)),
        }
        let packed = Box::new(self.input.range(data, end));
        Ok(stated.content(packed, ChecksumUse::Compared))
    }
}

/// Content of the zip64 end of central directory record.
struct Zip64EndRecord {
    /// The offset of the record itself.
    at: u64,
    /// Bytes of the directory.
    size: u64,
    /// The offset of the directory in the zip.
    offset: u64,
}

/// Reads the zip64 end record before the end record at `end`, if there is one.
fn zip64_end_record(input: &SeekableInput, end: u64) -> io::Result<Option<Zip64EndRecord>> {
    let mut locator = [0; ZIP64_LOCATOR_BYTES as usize];
    let Some(at) = end.checked_sub(ZIP64_LOCATOR_BYTES) else {
        return Ok(None);
    };
    if fill(&mut input.range(at, end), &mut locator)? < locator.len()
        || !locator.starts_with(ZIP64_LOCATOR)
    {
        return Ok(None);
    }
    let stated = u64_at(&locator, 8);
    let mut record = [0; 56];
    // Bytes before the zip shift it; without an extension it is right before its locator.
    for at in [stated, at.saturating_sub(56)] {
        if fill(&mut input.range(at, at.saturating_add(56)), &mut record)? == 56
            && record.starts_with(ZIP64_END_RECORD)
        {
            return Ok(Some(Zip64EndRecord {
                at,
                size: u64_at(&record, 40),
                offset: u64_at(&record, 48),
            }));
        }
    }
    Ok(None)
}
