//! zip: by its central directory where it can be read in any order, else by the header before each member.
//!
//! Sections are those of PKWARE's APPNOTE.TXT, 6.3.10. Sizes are taken as claims: what comes out is counted, and
//! members that lie over each other (Fifield, "A better zip bomb", 2019) end the reading.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read};

use super::entry::{Body, Entry, Sum, What};
use super::feed::Feed;
use crate::diagnostic::SkipReason;
use crate::read::compression::Compression;
use crate::read::error as fault;
use crate::read::input::{Random, Range};

/// 4.3.7
const LOCAL: &[u8; 4] = b"PK\x03\x04";
/// 4.3.12
const CENTRAL: &[u8; 4] = b"PK\x01\x02";
/// 4.3.16
const END: &[u8; 4] = b"PK\x05\x06";
/// 4.3.14
const END_64: &[u8; 4] = b"PK\x06\x06";
/// 4.3.15
const LOCATOR_64: &[u8; 4] = b"PK\x06\x07";
/// 4.3.11: what may stand between the last member and the directory.
const EXTRA_DATA: &[u8; 4] = b"PK\x06\x08";

/// Bytes of the fixed part of these.
const LOCAL_BYTES: u64 = 30;
const END_BYTES: u64 = 22;
const LOCATOR_64_BYTES: u64 = 20;

/// Bits of the flags (4.4.4).
const ENCRYPTED: u16 = 1;
const DESCRIBED_BEHIND: u16 = 1 << 3;

/// A size or an offset of this value stands in the zip64 field (4.5.3).
const IN_ZIP64: u32 = u32::MAX;

/// Whether a zip begins so: with a member, or empty.
pub(super) fn begins(start: &[u8]) -> bool {
    start.starts_with(LOCAL) || start.starts_with(END)
}

/// A zip that is read by its central directory.
pub(in crate::read) struct Directory {
    random: Random,
    entries: BufReader<Range>,
    /// Bytes that stand before the zip; its offsets do not count them.
    base: u64,
    /// Where the directory begins: members lie before it.
    begins: u64,
    /// The ranges of the members so far, from start to end. Those that follow each other are one, so that a million take
    /// no more room than two.
    ranges: BTreeMap<u64, u64>,
}

impl Directory {
    /// The directory of a zip; nothing if there is none.
    pub(super) fn find(random: &Random) -> io::Result<Option<Directory>> {
        const LONGEST_COMMENT: u64 = u16::MAX as u64;
        let len = random.len()?;
        let from = len.saturating_sub(END_BYTES + LONGEST_COMMENT);
        let mut tail = Vec::new();
        random.range(from, len).read_to_end(&mut tail)?;
        let Some(at) = memchr::memmem::rfind_iter(&tail, END)
            .find(|&at| tail.len() - at >= END_BYTES as usize)
        else {
            return Ok(None);
        };
        let end = from + at as u64;
        let mut size = u64::from(u32_at(&tail[at..], 12));
        let mut offset = u64::from(u32_at(&tail[at..], 16));
        let mut behind = end;
        if let Some((at, size_64, offset_64)) = end_64(random, end)? {
            (behind, size, offset) = (at, size_64, offset_64);
        }
        let Some(begins) = behind.checked_sub(size).filter(|&begins| offset <= begins) else {
            return Ok(None);
        };
        let entries = BufReader::new(random.range(begins, behind));
        Ok(Some(Directory {
            random: random.clone(),
            entries,
            base: begins - offset,
            begins,
            ranges: BTreeMap::new(),
        }))
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Entry>> {
        let mut fixed = [0; 46];
        match fill(&mut self.entries, &mut fixed)? {
            0 => return Ok(None),
            46 if fixed.starts_with(CENTRAL) => {}
            // A digital signature (4.3.13) may stand behind the last.
            _ if fixed.starts_with(b"PK\x05\x05") => return Ok(None),
            _ => return Err(fault::damage("a zip's directory is damaged")),
        }
        let name = self.field(u16_at(&fixed, 28))?;
        let extra = self.field(u16_at(&fixed, 30))?;
        self.field(u16_at(&fixed, 32))?;
        let mut claims = Claims {
            flags: u16_at(&fixed, 8),
            method: u16_at(&fixed, 10),
            crc: u32_at(&fixed, 16),
            packed: u64::from(u32_at(&fixed, 20)),
            unpacked: u64::from(u32_at(&fixed, 24)),
        };
        let mut offset = u64::from(u32_at(&fixed, 42));
        read_zip64(
            &extra,
            &mut [&mut claims.unpacked, &mut claims.packed, &mut offset],
        );
        // 4.4.2 and 4.4.15: where a member was made on Unix, its mode stands in the upper half.
        let mode = if fixed[5] == 3 {
            u32_at(&fixed, 38) >> 16
        } else {
            0
        };
        let what = match mode & 0o170_000 {
            _ if name.ends_with(b"/") => What::Folder,
            0o120_000 => What::Skipped(SkipReason::Symlink),
            0o020_000 | 0o060_000 => What::Skipped(SkipReason::Device),
            0o010_000 => What::Skipped(SkipReason::Fifo),
            _ => self.octets(offset, &claims)?,
        };
        Ok(Some(Entry { name, what }))
    }

    fn field(&mut self, bytes: u16) -> io::Result<Vec<u8>> {
        let mut field = vec![0; usize::from(bytes)];
        match fill(&mut self.entries, &mut field)? {
            read if read == field.len() => Ok(field),
            _ => Err(fault::damage("a zip's directory is cut off")),
        }
    }

    fn octets(&mut self, offset: u64, claims: &Claims) -> io::Result<What> {
        let start = self.base.saturating_add(offset);
        let mut local = [0; LOCAL_BYTES as usize];
        if fill(
            &mut self.random.range(start, start.saturating_add(LOCAL_BYTES)),
            &mut local,
        )? < local.len()
            || !local.starts_with(LOCAL)
        {
            return Ok(What::Broken(fault::damage(
                "is not where the zip's directory says",
            )));
        }
        let head = LOCAL_BYTES + u64::from(u16_at(&local, 26)) + u64::from(u16_at(&local, 28));
        let data = start + head;
        let end = data.saturating_add(claims.packed);
        let before = self.ranges.range_mut(..end).next_back().map(|(_, end)| end);
        if before.as_ref().is_some_and(|before| **before > start) || end > self.begins {
            return Err(fault::damage(
                "members of a zip lie over each other: from here on nothing is read",
            ));
        }
        match before {
            // No member fits between them, but the sizes behind the first may.
            Some(before) if start - *before < LOCAL_BYTES => *before = end,
            _ => drop(self.ranges.insert(start, end)),
        }
        let packed = Box::new(self.random.range(data, end));
        Ok(claims.what(packed, true))
    }
}

/// The zip64 end record before the end record at `end`: where it stands, and the directory's size and offset.
fn end_64(random: &Random, end: u64) -> io::Result<Option<(u64, u64, u64)>> {
    let mut locator = [0; LOCATOR_64_BYTES as usize];
    let Some(at) = end.checked_sub(LOCATOR_64_BYTES) else {
        return Ok(None);
    };
    if fill(&mut random.range(at, end), &mut locator)? < locator.len()
        || !locator.starts_with(LOCATOR_64)
    {
        return Ok(None);
    }
    let told = u64_at(&locator, 8);
    let mut record = [0; 56];
    // Bytes before the zip shift it; without an extension it stands right before its locator.
    for at in [told, at.saturating_sub(56)] {
        if fill(&mut random.range(at, at.saturating_add(56)), &mut record)? == 56
            && record.starts_with(END_64)
        {
            return Ok(Some((at, u64_at(&record, 40), u64_at(&record, 48))));
        }
    }
    Ok(None)
}

/// A zip that is read as it comes.
pub(in crate::read) struct Locals {
    feed: Feed,
    /// Whether a descriptor stands behind the current member (4.3.9).
    is_described_behind: bool,
}

impl Locals {
    pub(super) fn new(feed: Feed) -> Locals {
        Locals {
            feed,
            is_described_behind: false,
        }
    }

    pub(super) fn feed(&self) -> &Feed {
        &self.feed
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Entry>> {
        self.feed.finish()?;
        let signature = self.signature()?;
        if &signature != LOCAL {
            // The directory, of which nothing is needed any more, is passed over.
            return if [CENTRAL, END, END_64, EXTRA_DATA].contains(&&signature) {
                let mut scratch = [0; 8 << 10];
                while self.feed.fill(&mut scratch)? > 0 {}
                Ok(None)
            } else {
                Err(fault::damage(
                    "what stands behind a member of a zip is no other",
                ))
            };
        }
        // Offsets are those of 4.3.7, less the signature's four.
        let fixed = self.feed.exact::<26>()?;
        let mut claims = Claims {
            flags: u16_at(&fixed, 2),
            method: u16_at(&fixed, 4),
            crc: u32_at(&fixed, 10),
            packed: u64::from(u32_at(&fixed, 14)),
            unpacked: u64::from(u32_at(&fixed, 18)),
        };
        let name = self.feed.octets(usize::from(u16_at(&fixed, 22)))?;
        let extra = self.feed.octets(usize::from(u16_at(&fixed, 24)))?;
        read_zip64(&extra, &mut [&mut claims.unpacked, &mut claims.packed]);
        self.is_described_behind = claims.flags & DESCRIBED_BEHIND != 0;
        let what = if !self.is_described_behind {
            claims.what(self.feed.begin(claims.packed), !name.ends_with(b"/"))
        } else if claims.method == 8 && claims.flags & ENCRYPTED == 0 {
            What::Octets(Body {
                packed: self.feed.begin_deflate(),
                compression: None,
                sum: None,
            })
        } else {
            return Err(fault::damage(
                "the end of a zip's member stands in the zip's directory, which comes last",
            ));
        };
        let what = if name.ends_with(b"/") {
            What::Folder
        } else {
            what
        };
        Ok(Some(Entry { name, what }))
    }

    /// The next signature. Before it a descriptor may stand, in one of four forms (4.3.9.3), which is passed over.
    fn signature(&mut self) -> io::Result<[u8; 4]> {
        const LONGEST_DESCRIPTOR: usize = 24;
        let mut signature = self.feed.exact::<4>()?;
        if !std::mem::take(&mut self.is_described_behind) {
            return Ok(signature);
        }
        for _ in 0..=LONGEST_DESCRIPTOR {
            if [LOCAL, CENTRAL, END_64, EXTRA_DATA].contains(&&signature) {
                break;
            }
            let [next] = self.feed.exact::<1>()?;
            signature = [signature[1], signature[2], signature[3], next];
        }
        Ok(signature)
    }
}

/// What a header says of a member.
struct Claims {
    flags: u16,
    method: u16,
    crc: u32,
    packed: u64,
    unpacked: u64,
}

impl Claims {
    fn what(&self, packed: Box<dyn Read>, is_checked: bool) -> What {
        // 4.4.5
        let compression = match self.method {
            _ if self.flags & ENCRYPTED != 0 => return What::Skipped(SkipReason::Encrypted),
            0 => None,
            8 => Some(Compression::Deflate),
            12 => Some(Compression::Bzip2),
            20 | 93 => Some(Compression::Zstd),
            95 => Some(Compression::Xz),
            _ => return What::Skipped(SkipReason::UnknownCompression),
        };
        let sum = is_checked.then_some(Sum {
            crc: self.crc,
            bytes: self.unpacked,
        });
        What::Octets(Body {
            packed,
            compression,
            sum,
        })
    }
}

/// Takes from the zip64 field those values that stand there, in its order (4.5.3).
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

/// Reads until the buffer is full or nothing is left.
fn fill(stream: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match stream.read(&mut buffer[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

fn u16_at(octets: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([octets[at], octets[at + 1]])
}

fn u32_at(octets: &[u8], at: usize) -> u32 {
    u32::from(u16_at(octets, at)) | u32::from(u16_at(octets, at + 2)) << 16
}

fn u64_at(octets: &[u8], at: usize) -> u64 {
    u64::from(u32_at(octets, at)) | u64::from(u32_at(octets, at + 4)) << 32
}
