//! The members of a zip in memory, for documents: without names of sources, and without archives inside archives.

use std::cell::Cell;
use std::io::Read;
use std::rc::Rc;

use super::{Archive, EntryContent};
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::limits::Limits;
use crate::read::compression::UnpackLimits;
use crate::read::error::error_diagnostic;
use crate::read::input::SeekableInput;
use crate::read::unpack_balance::{UnpackBalance, UnpackRatio};

/// Member of a zip.
pub struct ZipMember {
    /// Its name.
    pub name: Vec<u8>,
    /// Its unpacked bytes; `None` if it is encrypted or packed by an unknown method.
    pub stream: Option<Box<dyn Read>>,
}

/// Iterator over the members of a zip. Folders are left out.
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

    /// Returns the next member, or why it cannot be read. Nothing follows damage of the zip itself.
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let entry = match self.archive.as_mut()?.next_entry() {
                Ok(Some(entry)) => entry,
                Ok(None) => {
                    self.archive = None;
                    return None;
                }
                Err(error) => {
                    self.archive = None;
                    return Some(Err(error_diagnostic(&error, None)));
                }
            };
            self.entries += 1;
            if self.max_entries < self.entries {
                self.archive = None;
                let message = format!("more than {} parts: the rest is not read", self.max_entries);
                return Some(Err(Diagnostic::new(DiagnosticKind::Limit, message)));
            }
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
