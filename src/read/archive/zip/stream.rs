//! A zip read as a stream, by the header before each member.

use std::io;

use super::{
    ChecksumUse, DIRECTORY_ENTRY, ENCRYPTED, END_RECORD, LOCAL_HEADER, StatedMember,
    ZIP64_END_RECORD, read_zip64, u16_at, u32_at,
};
use crate::read::archive::entry::{ArchiveEntry, EntryContent, EntryData};
use crate::read::archive::feed::ArchiveFeed;
use crate::read::error;

/// Signature of the archive extra data record, which may be between the last member and the directory (4.3.11).
const EXTRA_DATA: &[u8; 4] = b"PK\x06\x08";

/// Flag of a member whose sizes are in a data descriptor after it (4.4.4).
const HAS_DATA_DESCRIPTOR: u16 = 1 << 3;

/// Reader of a zip as a stream, by the header before each member.
pub(in crate::read) struct ZipStream {
    feed: ArchiveFeed,
    /// `true` if a data descriptor follows the current member (4.3.9).
    has_data_descriptor: bool,
}

impl ZipStream {
    pub(in crate::read::archive) fn new(feed: ArchiveFeed) -> ZipStream {
        ZipStream {
            feed,
            has_data_descriptor: false,
        }
    }

    pub(in crate::read::archive) fn feed(&self) -> &ArchiveFeed {
        &self.feed
    }

    /// Returns the next entry, or `None` at the end.
    pub(in crate::read::archive) fn next_entry(&mut self) -> io::Result<Option<ArchiveEntry>> {
        self.feed.finish_member()?;
        let signature = self.next_signature()?;
        if &signature != LOCAL_HEADER {
            // The directory is not needed any more.
            return if [DIRECTORY_ENTRY, END_RECORD, ZIP64_END_RECORD, EXTRA_DATA]
                .contains(&&signature)
            {
                let mut scratch = [0; 8 << 10];
                while self.feed.fill(&mut scratch)? > 0 {}
                Ok(None)
            } else {
                Err(error::damage(
                    "the bytes after a member of a zip are not another member",
                ))
            };
        }
        // Offsets are those of 4.3.7, less the four bytes of the signature.
        let fixed = self.feed.read_array::<26>()?;
        let mut stated = StatedMember {
            flags: u16_at(&fixed, 2),
            method: u16_at(&fixed, 4),
            crc: u32_at(&fixed, 10),
            packed: u64::from(u32_at(&fixed, 14)),
            unpacked: u64::from(u32_at(&fixed, 18)),
        };
        let name = self.feed.read_vec(usize::from(u16_at(&fixed, 22)))?;
        let extra = self.feed.read_vec(usize::from(u16_at(&fixed, 24)))?;
        read_zip64(&extra, &mut [&mut stated.unpacked, &mut stated.packed]);
        self.has_data_descriptor = stated.flags & HAS_DATA_DESCRIPTOR != 0;
        let content = if !self.has_data_descriptor {
            stated.content(
                self.feed.begin_member(stated.packed),
                if name.ends_with(b"/") {
                    ChecksumUse::Ignored
                } else {
                    ChecksumUse::Compared
                },
            )
        } else if stated.method == 8 && stated.flags & ENCRYPTED == 0 {
            EntryContent::Data(EntryData {
                packed: self.feed.begin_deflated_member(),
                compression: None,
                checksum: None,
            })
        } else {
            return Err(error::damage(
                "the size of a zip's member is only in the zip's directory, which comes last",
            ));
        };
        let content = if name.ends_with(b"/") {
            EntryContent::Folder
        } else {
            content
        };
        Ok(Some(ArchiveEntry { name, content }))
    }

    /// Reads the next signature. Skips a data descriptor before it, in any of its four forms (4.3.9.3).
    fn next_signature(&mut self) -> io::Result<[u8; 4]> {
        const MAX_DESCRIPTOR_BYTES: usize = 24;
        let mut signature = self.feed.read_array::<4>()?;
        if !std::mem::take(&mut self.has_data_descriptor) {
            return Ok(signature);
        }
        for _ in 0..=MAX_DESCRIPTOR_BYTES {
            if [LOCAL_HEADER, DIRECTORY_ENTRY, ZIP64_END_RECORD, EXTRA_DATA].contains(&&signature) {
                break;
            }
            let [next] = self.feed.read_array::<1>()?;
            signature = [signature[1], signature[2], signature[3], next];
        }
        Ok(signature)
    }
}
