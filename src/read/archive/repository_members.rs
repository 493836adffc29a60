//! A git repository as an archive: each message is a member, named by the object id of its blob, as
//! in a stream of `git cat-file --batch`.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use super::git::GitReader;
use super::{ArchiveEntry, ArchiveFeed, EntryContent};
use crate::diagnostic::SkipReason;
use crate::read::error;
use crate::read::repository::{Expected, RepositoryObjects, SharedObjects};

/// Reader of the messages of a repository.
pub(in crate::read) struct RepositoryReader {
    objects: Rc<RefCell<RepositoryObjects>>,
    /// Reads the objects as a stream.
    stream: GitReader,
}

impl RepositoryReader {
    pub(super) fn new(objects: SharedObjects, stream: GitReader) -> RepositoryReader {
        RepositoryReader {
            objects: objects.0,
            stream,
        }
    }

    pub(super) fn feed(&self) -> &ArchiveFeed {
        self.stream.feed()
    }

    /// Returns the next message, or `None` at the end.
    pub(super) fn next_entry(&mut self) -> io::Result<Option<ArchiveEntry>> {
        let Some(expected) = self.objects.borrow_mut().next_expected()? else {
            // What git may have printed after the last object is damage.
            return match self.stream.next_entry()? {
                Some(entry) => Ok(Some(entry)),
                None => self.objects.borrow_mut().finish().map(|()| None),
            };
        };
        let skipped = |name, reason| ArchiveEntry {
            name,
            content: EntryContent::Skipped(reason),
        };
        match expected {
            Expected::Unresolved(name) => {
                return Ok(Some(skipped(name, SkipReason::MissingObject)));
            }
            Expected::TooLarge { oid, bytes } => {
                let text = format!(
                    "a blob of {bytes} bytes is not read; `git_blob_bytes` sets this limit"
                );
                let content = EntryContent::Broken(error::limit(text));
                return Ok(Some(ArchiveEntry { name: oid, content }));
            }
            Expected::Message | Expected::Deleted | Expected::PerhapsDeleted(_) => {}
        }
        let Some(entry) = self.stream.next_entry()? else {
            self.objects.borrow_mut().finish()?;
            return Err(error::damage("git has ended before the last message"));
        };
        Ok(Some(match (expected, &entry.content) {
            (Expected::Deleted | Expected::PerhapsDeleted(_), EntryContent::Data(_)) => {
                skipped(entry.name, SkipReason::Deleted)
            }
            // The name of the message, not of the deleted one that is not there either.
            (Expected::PerhapsDeleted(name), EntryContent::Skipped(reason)) => {
                skipped(name, *reason)
            }
            _ => entry,
        }))
    }
}
