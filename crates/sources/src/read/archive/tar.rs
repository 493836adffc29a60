//! tar: V7, POSIX (ustar, pax) and GNU archives, read member by member.
//!
//! Headers are described in POSIX.1-2017 pax(1), "ustar Interchange Format" and "pax Header Block",
//! and in the GNU manual, "Basic Tar Format". A pax `size` overrides the size in the header:
//! programs that disagree on that read different members.
//!
//! The crate `tar` (0.4) is not used. Its entries borrow their archive, which rules out a stack of
//! nested archives. It also reads extension headers of any size into memory, rejects the signed
//! checksums of old programs, and does not report a missing end-of-archive mark.

use std::io;

use super::{ArchiveEntry, ArchiveFeed, EntryContent, MemberExtent, number, truncated_member};
use crate::read::error;
use urlspool_text::byte_scan::prefix_len;
use urlspool_text::diagnostic::SkipReason;
use urlspool_text::limits::TAR_EXTENSION_BYTES;

/// Size of a header, and the unit to which members are padded.
const TAR_BLOCK_BYTES: usize = 512;

/// Returns `true` if a source that starts with `start` is a tar: its first header has a name and a
/// valid checksum.
pub(super) fn is_tar(start: &[u8]) -> bool {
    start
        .get(..TAR_BLOCK_BYTES)
        .is_some_and(|block| block[0] != 0 && TarHeader(block).has_valid_checksum())
}

pub(in crate::read) struct TarReader {
    pub(super) feed: ArchiveFeed,
    /// Number of padding bytes after the current member.
    padding: usize,
    /// `true` if the last block was all NUL, as at the end of a tar.
    has_end_mark: bool,
}

impl TarReader {
    pub(super) fn new(feed: ArchiveFeed) -> TarReader {
        TarReader {
            feed,
            padding: 0,
            has_end_mark: false,
        }
    }

    /// Returns the warning about a tar that was read completely.
    pub(super) fn warning(&self) -> Option<&'static str> {
        (!self.has_end_mark).then_some("a tar without an end marker: it may have been cut off")
    }

    /// Returns the next entry, or `None` at the end.
    pub(super) fn next_entry(&mut self) -> io::Result<Option<ArchiveEntry>> {
        self.feed.finish_member()?;
        self.feed.read_vec(std::mem::take(&mut self.padding))?;
        let mut extensions = TarExtensions::default();
        loop {
            let Some(block) = self.next_header_block()? else {
                return Ok(None);
            };
            let header = TarHeader(&block);
            if !header.has_valid_checksum() {
                return Err(error::damage(
                    "the bytes after a member are not the header of another",
                ));
            }
            match header.type_flag() {
                b'L' => {
                    extensions.name = Some(until_nul(&self.extension_data(&header)?).to_owned())
                }
                b'x' => extensions.read(&self.extension_data(&header)?),
                // Link targets, which are not followed, and global headers, which contain nothing
                // relevant.
                b'K' | b'g' | b'X' => {
                    self.extension_data(&header)?;
                }
                _ => return self.entry(&header, extensions).map(Some),
            }
        }
    }

    /// Returns the next block that is not all NUL. NUL blocks mark the end, but tars may be
    /// concatenated.
    fn next_header_block(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let block = self.feed.read_up_to(TAR_BLOCK_BYTES)?;
            let is_zero = block.iter().all(|&byte| byte == 0);
            match block.len() {
                0 => return Ok(None),
                TAR_BLOCK_BYTES => {}
                _ if self.has_end_mark && is_zero => return Ok(None),
                _ => return Err(truncated_member()),
            }
            self.has_end_mark = is_zero;
            if !is_zero {
                return Ok(Some(block));
            }
        }
    }

    /// Reads the data of an extension header, which applies to the next header.
    fn extension_data(&mut self, header: &TarHeader<'_>) -> io::Result<Vec<u8>> {
        let size = header.size()?;
        if size > TAR_EXTENSION_BYTES {
            return Err(error::limit(format!(
                "a tar's extension header of more than {TAR_EXTENSION_BYTES} bytes"
            )));
        }
        let data = self.feed.read_vec(size as usize)?;
        self.feed.read_vec(padding(size))?;
        Ok(data)
    }

    fn entry(
        &mut self,
        header: &TarHeader<'_>,
        extensions: TarExtensions,
    ) -> io::Result<ArchiveEntry> {
        let name = extensions.name.unwrap_or_else(|| header.name());
        let is_folder = name.ends_with(b"/");
        let content = match header.type_flag() {
            b'5' => EntryContent::Folder,
            b'1' => EntryContent::Skipped(SkipReason::HardLink),
            b'2' => EntryContent::Skipped(SkipReason::Symlink),
            b'3' | b'4' => EntryContent::Skipped(SkipReason::Device),
            b'6' => EntryContent::Skipped(SkipReason::Fifo),
            type_flag => {
                // Members of these types have bytes, even if they are not read.
                let size = extensions.size.map_or_else(|| header.size(), Ok)?;
                self.padding = padding(size);
                let packed = self.feed.begin_member(MemberExtent::Bytes(size));
                match type_flag {
                    // Before POSIX, a folder was a file whose name ended with a slash.
                    0 | b'0' | b'7' if is_folder => EntryContent::Folder,
                    b'D' | b'V' => EntryContent::Folder,
                    b'S' => EntryContent::Skipped(SkipReason::Sparse),
                    _ if extensions.is_sparse => EntryContent::Skipped(SkipReason::Sparse),
                    0 | b'0' | b'7' => EntryContent::plain(packed),
                    _ => EntryContent::Skipped(SkipReason::NotRegular),
                }
            }
        };
        Ok(ArchiveEntry { name, content })
    }
}

/// Returns the number of padding bytes after `size` bytes.
fn padding(size: u64) -> usize {
    (size.wrapping_neg() % TAR_BLOCK_BYTES as u64) as usize
}

fn until_nul(field: &[u8]) -> &[u8] {
    &field[..memchr::memchr(0, field).unwrap_or(field.len())]
}

/// Header of [`TAR_BLOCK_BYTES`] bytes.
struct TarHeader<'h>(&'h [u8]);

impl TarHeader<'_> {
    /// Returns `true` if the checksum is valid. Some old programs summed signed bytes.
    fn has_valid_checksum(&self) -> bool {
        let Some(stated) = octal(&self.0[148..156]) else {
            return false;
        };
        let mut block = self.0.to_vec();
        block[148..156].fill(b' ');
        let sum: u64 = block.iter().map(|&byte| u64::from(byte)).sum();
        let signed = block.iter().map(|&byte| i64::from(byte.cast_signed()));
        let signed: i64 = signed.sum();
        stated == sum || stated.cast_signed() == signed
    }

    fn type_flag(&self) -> u8 {
        self.0[156]
    }

    /// Returns the number of bytes after the header, written as octal digits, or in GNU's binary
    /// form if it is large.
    fn size(&self) -> io::Result<u64> {
        let field = &self.0[124..136];
        let size = if field[0] & 0x80 == 0 {
            octal(field)
        } else {
            let number = field[4..]
                .iter()
                .fold(0, |number, &byte| number << 8 | u64::from(byte));
            field.starts_with(&[0x80, 0, 0, 0]).then_some(number)
        };
        size.ok_or_else(|| error::damage("a tar's header without a size"))
    }

    fn name(&self) -> Vec<u8> {
        let (name, prefix) = (until_nul(&self.0[..100]), until_nul(&self.0[345..500]));
        // GNU's header has other fields at the position of POSIX's name prefix.
        if &self.0[257..263] == b"ustar\0" && !prefix.is_empty() {
            [prefix, b"/", name].concat()
        } else {
            name.to_owned()
        }
    }
}

/// Parses octal digits surrounded by spaces, or followed by NUL bytes. A field of spaces is zero.
fn octal(field: &[u8]) -> Option<u64> {
    let field = field.trim_ascii_start();
    let digits = prefix_len(field, |byte| matches!(byte, b'0'..=b'7'));
    let rest = &field[digits..];
    if !rest.iter().all(|byte| matches!(byte, 0 | b' ')) {
        return None;
    }
    field[..digits].iter().try_fold(0_u64, |number, digit| {
        number.checked_mul(8)?.checked_add(u64::from(digit - b'0'))
    })
}

/// Fields of a member from the extension headers before its own header.
#[derive(Default)]
struct TarExtensions {
    name: Option<Vec<u8>>,
    size: Option<u64>,
    /// `true` if its bytes are fragments of a sparse file, with a list of their positions.
    is_sparse: bool,
}

impl TarExtensions {
    /// Parses pax records `LENGTH KEY=VALUE\n`, where LENGTH is the length of the whole record.
    /// Stops at the first malformed record.
    fn read(&mut self, mut records: &[u8]) {
        while let Some(blank) = memchr::memchr(b' ', records) {
            let length = number::<usize>(&records[..blank]);
            let Some(length) =
                length.filter(|&length| blank + 2 <= length && length <= records.len())
            else {
                return;
            };
            let (record, rest) = records.split_at(length);
            let pair = &record[blank + 1..length - 1];
            if let Some(equals) = memchr::memchr(b'=', pair) {
                self.set(&pair[..equals], &pair[equals + 1..]);
            }
            records = rest;
        }
    }

    fn set(&mut self, key: &[u8], value: &[u8]) {
        match key {
            b"path" | b"GNU.sparse.name" => self.name = Some(value.to_owned()),
            b"size" => self.size = number(value),
            _ => self.is_sparse |= key.starts_with(b"GNU.sparse."),
        }
    }
}
