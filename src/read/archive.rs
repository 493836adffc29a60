//! Archives: tar and zip, read member by member as streams. Nothing is ever unpacked to disk.

mod entry;
mod feed;
mod tar;
mod zip;

pub(super) use entry::{Entry, What};

use std::io;

use super::input::Input;
use crate::diagnostic::DiagnosticKind;
use feed::Feed;
use tar::Tar;
use zip::{Directory, Locals};

/// Whether an archive begins so (in its first 512 bytes).
pub(super) fn is_archive(start: &[u8]) -> bool {
    tar::begins(start) || zip::begins(start)
}

/// An archive that is being read.
pub(super) enum Archive {
    Tar(Tar),
    /// A zip by its central directory.
    Directory(Directory),
    /// A zip as it comes, by what stands before each member.
    Locals(Locals),
}

impl Archive {
    /// The archive that begins with `start`.
    pub(super) fn new(start: &[u8], input: Input) -> Archive {
        match input {
            input if tar::begins(start) => Archive::Tar(Tar::new(Feed::new(input.into_stream()))),
            Input::Stream(stream) => Archive::Locals(Locals::new(Feed::new(stream))),
            Input::Random(random) => match Directory::find(&random) {
                Ok(Some(directory)) => Archive::Directory(directory),
                // One that was cut off has lost its directory; its members can be read all the same.
                Ok(None) | Err(_) => {
                    Archive::Locals(Locals::new(Feed::new(Input::Random(random).into_stream())))
                }
            },
        }
    }

    /// The next entry, or nothing at the end. What is left of the current member is passed over.
    pub(super) fn next(&mut self) -> io::Result<Option<Entry>> {
        match self {
            Archive::Tar(tar) => tar.next(),
            Archive::Directory(directory) => directory.next(),
            Archive::Locals(locals) => locals.next(),
        }
    }

    /// What is odd about an archive that came to its end.
    pub(super) fn remark(&self) -> Option<&'static str> {
        match self {
            Archive::Tar(tar) => tar.remark(),
            Archive::Directory(_) | Archive::Locals(_) => None,
        }
    }

    /// Whether the current member failed with what the archive fails with now.
    pub(super) fn said(&self) -> Option<DiagnosticKind> {
        match self {
            Archive::Tar(tar) => tar.feed().failed(),
            Archive::Locals(locals) => locals.feed().failed(),
            Archive::Directory(_) => None,
        }
    }
}
