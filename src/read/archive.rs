//! Archives: tar, zip and streams of git objects, read member by member as streams. Nothing is unpacked to disk.

mod entry;
mod feed;
mod git;
mod tar;
mod zip;

pub(super) use entry::{ArchiveEntry, EntryContent};

use std::io;

use super::input::Input;
use crate::diagnostic::DiagnosticKind;
use crate::planted_faults::{PlantedFault, panic_at_mark};
use feed::ArchiveFeed;
use git::GitReader;
use tar::TarReader;
use zip::{ZipDirectory, ZipStream};

/// Returns `true` if a source that begins with `start`, its first 512 bytes, is an archive.
pub(super) fn is_archive(start: &[u8]) -> bool {
    tar::is_tar(start) || zip::is_zip(start) || git::is_git_stream(start)
}

/// Archive that is being read.
pub(super) enum Archive {
    /// A tar.
    Tar(TarReader),
    /// A zip that is read by its central directory.
    ZipDirectory(ZipDirectory),
    /// A zip that is read as a stream, by the header before each member.
    ZipStream(ZipStream),
    /// The output of `git cat-file --batch`.
    Git(GitReader),
}

impl Archive {
    /// Creates the reader of the archive that begins with `start`.
    pub(super) fn new(start: &[u8], input: Input) -> Archive {
        match input {
            input if tar::is_tar(start) => {
                Archive::Tar(TarReader::new(ArchiveFeed::new(input.into_stream())))
            }
            input if git::is_git_stream(start) => {
                Archive::Git(GitReader::new(ArchiveFeed::new(input.into_stream())))
            }
            Input::Stream(stream) => Archive::ZipStream(ZipStream::new(ArchiveFeed::new(stream))),
            Input::Seekable(input) => match ZipDirectory::find(&input) {
                Ok(Some(directory)) => Archive::ZipDirectory(directory),
                // A truncated zip has lost its directory; its members can be read all the same.
                Ok(None) | Err(_) => {
                    let stream = Input::Seekable(input).into_stream();
                    Archive::ZipStream(ZipStream::new(ArchiveFeed::new(stream)))
                }
            },
        }
    }

    /// Returns the next entry, or `None` at the end. Skips the rest of the current member.
    pub(super) fn next_entry(&mut self) -> io::Result<Option<ArchiveEntry>> {
        let entry = match self {
            Archive::Tar(tar) => tar.next_entry(),
            Archive::ZipDirectory(directory) => directory.next_entry(),
            Archive::ZipStream(stream) => stream.next_entry(),
            Archive::Git(git) => git.next_entry(),
        };
        if let Ok(Some(entry)) = &entry {
            panic_at_mark(PlantedFault::PanicInArchive, &entry.name);
        }
        entry
    }

    /// Returns `true` if the number of its entries is limited: each costs little to make, and much to read. Each object of a git
    /// stream has its own bytes, and mirrors of mailing lists have millions.
    pub(super) fn limits_entries(&self) -> bool {
        !matches!(self, Archive::Git(_))
    }

    /// Returns the warning about an archive that was read to its end.
    pub(super) fn warning(&self) -> Option<&'static str> {
        match self {
            Archive::Tar(tar) => tar.warning(),
            Archive::ZipDirectory(_) | Archive::ZipStream(_) | Archive::Git(_) => None,
        }
    }

    /// Returns the kind of the error that the reader of the current member returned, which the archive fails with, too.
    pub(super) fn member_failure(&self) -> Option<DiagnosticKind> {
        match self {
            Archive::Tar(tar) => tar.feed().member_failure(),
            Archive::ZipStream(stream) => stream.feed().member_failure(),
            Archive::Git(git) => git.feed().member_failure(),
            Archive::ZipDirectory(_) => None,
        }
    }
}
