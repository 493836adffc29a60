//! tar: the header of old (V7), POSIX (ustar, pax) and GNU tar, read member by member.
//!
//! Headers as in POSIX.1-2017 pax(1), "ustar Interchange Format" and "pax Header Block"; GNU's as in its manual,
//! "Basic Tar Format". A pax `size` stands above the header's: readers that disagree on that read different members.

use std::io;

use super::entry::{Body, Entry, What};
use super::feed::{Feed, cut_off};
use crate::diagnostic::SkipReason;
use crate::limits::TAR_EXTENSION_BYTES;
use crate::read::error as fault;

/// Bytes of a header, and the unit in which members are padded.
const BLOCK: usize = 512;

/// Whether a tar begins so: its first header has a name, and its checksum holds.
pub(super) fn begins(start: &[u8]) -> bool {
    start
        .first_chunk()
        .is_some_and(|block| block[0] != 0 && Header(block).is_sound())
}

/// A tar that is being read.
pub(in crate::read) struct Tar {
    feed: Feed,
    /// Bytes that fill up the current member's last block.
    padding: usize,
    /// Whether a block of zeros was seen behind the last member, as there should be.
    is_marked: bool,
}

impl Tar {
    pub(super) fn new(feed: Feed) -> Tar {
        Tar {
            feed,
            padding: 0,
            is_marked: false,
        }
    }

    pub(super) fn feed(&self) -> &Feed {
        &self.feed
    }

    pub(super) fn remark(&self) -> Option<&'static str> {
        (!self.is_marked).then_some("a tar without the mark of its end: it may have been cut off")
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Entry>> {
        self.feed.finish()?;
        self.feed.octets(std::mem::take(&mut self.padding))?;
        let mut extension = Extension::default();
        loop {
            let Some(block) = self.block()? else {
                return Ok(None);
            };
            let header = Header(&block);
            if !header.is_sound() {
                return Err(fault::damage(
                    "what stands behind a member is no header of another",
                ));
            }
            match header.kind() {
                b'L' => extension.name = Some(until_nul(&self.extension(&header)?).to_owned()),
                b'x' => extension.read(&self.extension(&header)?),
                // The targets of links, which are not followed, and what holds for all members, which is nothing to us.
                b'K' | b'g' | b'X' => {
                    self.extension(&header)?;
                }
                _ => return self.entry(&header, extension).map(Some),
            }
        }
    }

    /// The next block that is not all zeros. Zeros mark the end, but some put one tar behind another.
    fn block(&mut self) -> io::Result<Option<[u8; BLOCK]>> {
        loop {
            let mut block = [0; BLOCK];
            match self.feed.fill(&mut block)? {
                0 => return Ok(None),
                BLOCK => {}
                filled if self.is_marked && block[..filled].iter().all(|&byte| byte == 0) => {
                    return Ok(None);
                }
                _ => return Err(cut_off()),
            }
            if block.iter().any(|&byte| byte != 0) {
                self.is_marked = false;
                return Ok(Some(block));
            }
            self.is_marked = true;
        }
    }

    /// What stands behind a header that tells of the next one.
    fn extension(&mut self, header: &Header<'_>) -> io::Result<Vec<u8>> {
        let size = header.size()?;
        if size > TAR_EXTENSION_BYTES {
            return Err(fault::limit(format!(
                "a tar's header of more than {TAR_EXTENSION_BYTES} octets"
            )));
        }
        let octets = self.feed.octets(size as usize)?;
        self.feed.octets(padding(size))?;
        Ok(octets)
    }

    fn entry(&mut self, header: &Header<'_>, extension: Extension) -> io::Result<Entry> {
        let name = extension.name.unwrap_or_else(|| header.name());
        let is_folder = name.ends_with(b"/");
        let what = match header.kind() {
            b'5' => What::Folder,
            b'1' => What::Skipped(SkipReason::HardLink),
            b'2' => What::Skipped(SkipReason::Symlink),
            b'3' | b'4' => What::Skipped(SkipReason::Device),
            b'6' => What::Skipped(SkipReason::Fifo),
            kind => {
                // Members of these kinds have bytes behind them, whether or not they are read.
                let size = extension.size.map_or_else(|| header.size(), Ok)?;
                self.padding = padding(size);
                let packed = self.feed.begin(size);
                match kind {
                    // Before POSIX, a folder was a file whose name ended so.
                    0 | b'0' | b'7' if is_folder => What::Folder,
                    b'D' | b'V' => What::Folder,
                    b'S' => What::Skipped(SkipReason::Sparse),
                    _ if extension.is_sparse => What::Skipped(SkipReason::Sparse),
                    0 | b'0' | b'7' => What::Octets(Body {
                        packed,
                        compression: None,
                        sum: None,
                    }),
                    _ => What::Skipped(SkipReason::NotRegular),
                }
            }
        };
        Ok(Entry { name, what })
    }
}

/// Bytes from the end of so many to the end of a block.
fn padding(size: u64) -> usize {
    (size.wrapping_neg() % BLOCK as u64) as usize
}

fn until_nul(field: &[u8]) -> &[u8] {
    &field[..memchr::memchr(0, field).unwrap_or(field.len())]
}

/// A header block.
struct Header<'h>(&'h [u8; BLOCK]);

impl Header<'_> {
    /// Whether the checksum holds. Some old tars summed signed bytes.
    fn is_sound(&self) -> bool {
        let Some(told) = octal(&self.0[148..156]) else {
            return false;
        };
        let others = || self.0[..148].iter().chain(&self.0[156..]);
        let blanks = 8 * u64::from(b' ');
        let sum = others().map(|&byte| u64::from(byte)).sum::<u64>() + blanks;
        let signed = others()
            .map(|&byte| i64::from(byte.cast_signed()))
            .sum::<i64>()
            + blanks.cast_signed();
        told == sum || told.cast_signed() == signed
    }

    fn kind(&self) -> u8 {
        self.0[156]
    }

    /// The bytes behind the header: octal digits, or where they do not suffice, GNU's binary number.
    fn size(&self) -> io::Result<u64> {
        let field = &self.0[124..136];
        let size = if field[0] & 0x80 == 0 {
            octal(field)
        } else {
            let high = field[..4]
                .iter()
                .enumerate()
                .all(|(at, &byte)| byte == if at == 0 { 0x80 } else { 0 });
            high.then(|| {
                field[4..]
                    .iter()
                    .fold(0, |number, &byte| number << 8 | u64::from(byte))
            })
        };
        size.ok_or_else(|| fault::damage("a tar's header without a size"))
    }

    fn name(&self) -> Vec<u8> {
        let name = until_nul(&self.0[..100]);
        // GNU's header has other things where POSIX has the name's beginning.
        let prefix = if &self.0[257..263] == b"ustar\0" {
            until_nul(&self.0[345..500])
        } else {
            &[]
        };
        if prefix.is_empty() {
            name.to_owned()
        } else {
            [prefix, b"/", name].concat()
        }
    }
}

/// A number in octal digits, with blanks before and a blank or NUL behind it. A field of blanks is zero.
fn octal(field: &[u8]) -> Option<u64> {
    let field = field.trim_ascii_start();
    let digits = field
        .iter()
        .take_while(|byte| matches!(byte, b'0'..=b'7'))
        .count();
    let rest = &field[digits..];
    if !rest.iter().all(|byte| matches!(byte, 0 | b' ')) {
        return None;
    }
    field[..digits].iter().try_fold(0_u64, |number, digit| {
        number.checked_mul(8)?.checked_add(u64::from(digit - b'0'))
    })
}

/// What headers before a member's own say of it.
#[derive(Default)]
struct Extension {
    name: Option<Vec<u8>>,
    size: Option<u64>,
    /// Its bytes are pieces of a larger file, with a list of where they belong.
    is_sparse: bool,
}

impl Extension {
    /// Reads records `LENGTH KEY=VALUE\n`, LENGTH being that of the whole record. What is none ends the reading.
    fn read(&mut self, mut records: &[u8]) {
        while let Some(blank) = memchr::memchr(b' ', records) {
            let length = std::str::from_utf8(&records[..blank])
                .ok()
                .and_then(|digits| digits.parse::<usize>().ok());
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
            b"size" => {
                self.size = std::str::from_utf8(value)
                    .ok()
                    .and_then(|digits| digits.parse().ok())
            }
            _ => self.is_sparse |= key.starts_with(b"GNU.sparse."),
        }
    }
}
