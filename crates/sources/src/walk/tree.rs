//! The walk over a root and its content in a fixed order, the folders of a tree, and the listing of
//! one folder.
//!
//! Each folder is opened once by its path from the root, and closed before a folder in it is
//! opened. As a result, deep trees need no additional open files, and a folder that is replaced by
//! a link cannot be opened.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{io, vec};

use rustix::fs::FileType;

use super::path_filter::{PathFilter, is_maildir_tmp};
use super::repository_folders::{is_repository, repository_of, sort_epochs};
use super::rooted_path::{DeviceInode, FolderEntry, Listing, RootedPath, joined};
use super::{SymlinkPolicy, WalkStep, failed, skipped};
use urlspool_text::diagnostic::SkipReason;
use urlspool_text::origin::Source;

/// An entry of a tree other than a folder: a file, or a step that is final.
type TreeEntry = Result<FoundFile, WalkStep>;

pub(super) struct FoundFile {
    pub(super) path: PathBuf,
    /// Path in the root by which the file is opened. `None` for the root itself, which is opened by
    /// its name.
    pub(super) place: Option<RootedPath>,
    /// The folder that contains the file, if it is open.
    pub(super) folder: Option<Arc<OwnedFd>>,
}

/// Iterator over a root and its content.
pub(super) struct TreeWalk<'t> {
    root: &'t Path,
    /// Filter whose excluded folders are not entered.
    filter: &'t PathFilter,
    /// The root with links resolved, if links are followed.
    real_root: Option<PathBuf>,
    /// Path of the root, shared by all paths in it, which are opened relative to a single
    /// descriptor.
    place: RootedPath,
    /// The folders on the path to the current one, starting with the root.
    levels: Vec<TreeLevel>,
    begun: bool,
}

/// A folder that is being walked.
struct TreeLevel {
    path: PathBuf,
    place: RootedPath,
    /// Device and inode of the folder.
    inode: DeviceInode,
    /// Remaining entries, ordered by name.
    entries: vec::IntoIter<FolderEntry>,
    /// The open folder, until a folder in it is entered. Files are examined fastest through it.
    folder: Option<Arc<OwnedFd>>,
}

impl<'t> TreeWalk<'t> {
    pub(super) fn new(
        root: &'t Path,
        filter: &'t PathFilter,
        links: SymlinkPolicy,
    ) -> TreeWalk<'t> {
        let real_root = (links == SymlinkPolicy::Follow)
            .then(|| root.canonicalize().ok())
            .flatten();
        let place = RootedPath::root(real_root.as_deref().unwrap_or(root));
        TreeWalk {
            root,
            filter,
            real_root,
            place,
            levels: Vec::new(),
            begun: false,
        }
    }

    /// Enters the root. Returns an entry if the root is not a folder or cannot be listed.
    fn begin(&mut self) -> Option<TreeEntry> {
        let path = self.root.to_owned();
        if path.as_os_str() == Source::STDIN {
            return Some(Err(WalkStep::Stdin));
        }
        match self.root.metadata() {
            Err(error) => Some(Err(failed(path, &error, true))),
            Ok(metadata) if metadata.is_dir() => self.enter(path, self.place.clone()),
            Ok(metadata) if is_stream(&metadata) || is_stdin_socket(&path, &metadata) => {
                Some(Err(WalkStep::Stream(Source::at(path))))
            }
            Ok(metadata) if metadata.is_file() => Some(Ok(FoundFile::new(path, None))),
            Ok(_) => {
                let message = "it is a socket or a block device, which cannot be read";
                let error = io::Error::other(message);
                Some(Err(failed(path, &error, true)))
            }
        }
    }

    /// Enters a folder. Returns an entry if it cannot be listed.
    fn enter(&mut self, path: PathBuf, place: RootedPath) -> Option<TreeEntry> {
        if let Some(above) = self.levels.last_mut() {
            above.folder = None;
        }
        let mut listing = match Listing::of(&place, |_| true) {
            Ok(listing) => listing,
            Err(error) => return Some(Err(failed(path, &error, self.levels.is_empty()))),
        };
        let mut levels = self.levels.iter();
        if let Some(above) = levels.find(|level| level.inode == listing.inode) {
            let error = io::Error::other(format!("leads back to {}", above.path.display()));
            return Some(Err(failed(path, &error, false)));
        }
        if let Some(repository) = repository_of(&path, &listing.entries) {
            let step = if self.filter.wants(self.root, &repository) {
                WalkStep::Repository(Source::at(repository))
            } else {
                skipped(repository, SkipReason::Filtered)
            };
            return Some(Err(step));
        }
        sort_epochs(&path, &mut listing.entries);
        self.levels.push(TreeLevel {
            path,
            place,
            inode: listing.inode,
            entries: listing.entries.into_iter(),
            folder: Some(Arc::new(listing.folder)),
        });
        None
    }

    /// Visits an entry of the innermost folder. Returns `None` if it is a folder that was entered,
    /// or skipped without a step.
    fn visit(&mut self, name: &OsStr, file_type: FileType) -> Option<TreeEntry> {
        let level = self.levels.last()?;
        let path = joined(&level.path, name);
        let place = level.place.join(name);
        if file_type.is_dir() {
            let is_excluded = self.filter.excludes_folder(self.root, &path);
            return if is_excluded || is_maildir_tmp(&level.path, name) {
                None
            } else {
                self.enter(path, place)
            };
        }
        if file_type.is_symlink() {
            return self.link(path);
        }
        if !file_type.is_file() {
            return Some(Err(skipped(path, SkipReason::NotRegular)));
        }
        Some(Ok(FoundFile {
            path,
            place: Some(place),
            folder: level.folder.clone(),
        }))
    }

    /// Visits a link. Follows it if links are followed and its target is in the root.
    fn link(&mut self, path: PathBuf) -> Option<TreeEntry> {
        let target = self.real_root.as_ref().and_then(|root| {
            let real = path.canonicalize().ok()?;
            let relative = real.strip_prefix(root).ok()?;
            Some((real.metadata().ok()?, self.place.join(relative.as_os_str())))
        });
        match target {
            None => Some(Err(skipped(path, SkipReason::Symlink))),
            Some((metadata, _))
                if metadata.is_dir() && self.filter.excludes_folder(self.root, &path) =>
            {
                None
            }
            Some((metadata, place)) if metadata.is_dir() => self.enter(path, place),
            Some((metadata, place)) if metadata.is_file() => {
                Some(Ok(FoundFile::new(path, Some(place))))
            }
            Some(_) => Some(Err(skipped(path, SkipReason::NotRegular))),
        }
    }
}

/// Returns `true` for a file that can only be read once, in order.
fn is_stream(metadata: &Metadata) -> bool {
    let file_type = metadata.file_type();
    file_type.is_fifo() || file_type.is_char_device()
}

/// Returns `true` for a socket that is standard input. Other sockets cannot be opened by name.
fn is_stdin_socket(path: &Path, metadata: &Metadata) -> bool {
    metadata.file_type().is_socket() && Source::is_stdin_path(path)
}

impl FoundFile {
    fn new(path: PathBuf, place: Option<RootedPath>) -> FoundFile {
        FoundFile {
            path,
            place,
            folder: None,
        }
    }
}

impl Iterator for TreeWalk<'_> {
    type Item = TreeEntry;

    fn next(&mut self) -> Option<TreeEntry> {
        if !std::mem::replace(&mut self.begun, true)
            && let Some(found) = self.begin()
        {
            return Some(found);
        }
        loop {
            let Some(FolderEntry { name, file_type }) = self.levels.last_mut()?.entries.next()
            else {
                self.levels.pop();
                continue;
            };
            if let Some(found) = self.visit(&name, file_type) {
                return Some(found);
            }
        }
    }
}

/// Iterator over a folder and the folders in it, each after its parent. A folder that cannot be
/// listed is returned without the folders in it.
///
/// A folder is listed only when the next folder is requested. A caller that watches each folder
/// before requesting the next one misses no change.
pub(super) struct Folders {
    root: PathBuf,
    /// The root in the form in which it is opened.
    place: RootedPath,
    /// The folder returned last.
    last: Option<PathBuf>,
    pending: Vec<PathBuf>,
    /// Devices and inodes of the folders listed so far.
    seen: HashSet<DeviceInode>,
}

impl Folders {
    /// Creates an iterator over `folder`, which is in `root`.
    pub(super) fn new(root: &Path, folder: &Path) -> Folders {
        Folders {
            root: root.to_owned(),
            place: RootedPath::root(root),
            last: None,
            pending: vec![folder.to_owned()],
            seen: HashSet::new(),
        }
    }

    fn list(&mut self, folder: &Path) {
        let inside = folder.strip_prefix(&self.root).unwrap_or(Path::new(""));
        let place = self.place.join(inside.as_os_str());
        let Ok(Listing { inode, entries, .. }) =
            Listing::of(&place, |file_type| file_type == FileType::Directory)
        else {
            return;
        };
        // A folder that is mounted inside itself was already listed.
        if !self.seen.insert(inode) {
            return;
        }
        let is_repository =
            entries.iter().any(|entry| entry.name == "objects") && is_repository(folder);
        for FolderEntry { name, .. } in entries {
            // New objects of a repository are irrelevant until a reference points to them.
            if is_repository && name != "refs" {
                continue;
            }
            if !is_maildir_tmp(folder, &name) {
                self.pending.push(folder.join(&name));
            }
        }
    }
}

impl Iterator for Folders {
    type Item = PathBuf;

    fn next(&mut self) -> Option<PathBuf> {
        if let Some(last) = self.last.take() {
            self.list(&last);
        }
        self.last = self.pending.pop();
        self.last.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::create_dir_all;

    use super::*;

    #[test]
    fn a_folder_is_listed_when_the_next_is_requested() {
        let root = std::env::temp_dir().join(format!("urlspool-folders-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        create_dir_all(root.join("a/b")).unwrap();
        let mut folders = Folders::new(&root, &root);
        assert_eq!(folders.next(), Some(root.clone()));
        create_dir_all(root.join("a/c")).unwrap();
        assert_eq!(folders.next(), Some(root.join("a")));
        create_dir_all(root.join("a/d")).unwrap();
        let mut rest: Vec<PathBuf> = folders.collect();
        rest.sort();
        assert_eq!(rest, ["a/b", "a/c", "a/d"].map(|name| root.join(name)));
        let inner: Vec<PathBuf> = Folders::new(&root, &root.join("a/d")).collect();
        assert_eq!(inner, [root.join("a/d")]);
        std::fs::remove_dir_all(&root).unwrap();
    }
}
