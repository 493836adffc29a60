//! The walk over a root and everything beneath it, in a fixed order; the folders of a tree, and the
//! list of one folder.
//!
//! Each folder is opened once, by its path from the root, and closed before any folder in it is
//! opened: the depth of a tree costs no open files, and a folder that is replaced by a link
//! meanwhile cannot be opened.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{io, vec};

use rustix::fs::FileType;

use super::SymlinkPolicy;
use super::format_hint::is_maildir_tmp;
use super::listing::{FolderEntry, Listing};
use super::path_filter::PathFilter;
use super::repository_folders::{is_repository, repository_of, sort_epochs};
use super::rooted_path::{DeviceInode, RootedPath, joined};
use crate::origin::Source;

/// Entry of a tree that is no folder, or an error.
pub(super) enum TreeEntry {
    File {
        path: PathBuf,
        /// The path beneath the root by which it is opened. `None` for the root itself, which is
        /// opened by its name.
        place: Option<RootedPath>,
        /// The folder that contains it, if that is open.
        folder: Option<Arc<OwnedFd>>,
    },
    /// A folder that is a git repository, and is not entered.
    Repository(PathBuf),
    /// A symbolic link that is not followed.
    Link(PathBuf),
    /// A root that is a pipe or a character device.
    Stream(PathBuf),
    /// A device or the like.
    Other(PathBuf),
    /// A folder, or the root, that cannot be listed.
    Failed { path: PathBuf, error: TreeError },
}

/// Reason why a folder cannot be listed.
pub(super) enum TreeError {
    /// The error of the system for the root.
    Root(io::Error),
    /// The error of the system for a folder beneath the root.
    Inside(io::Error),
    /// The folder is one of those that contain it.
    Cycle {
        /// The path of that folder.
        ancestor: PathBuf,
    },
}

/// Iterator over a root and everything beneath it.
pub(super) struct TreeWalk<'t> {
    root: &'t Path,
    /// Filter whose excluded folders are not entered.
    filter: &'t PathFilter,
    /// The root with links resolved, if links are followed.
    real_root: Option<PathBuf>,
    /// The path of the root, shared by all paths beneath it: the root is opened once.
    place: RootedPath,
    /// The folders on the path to the current one, from the root on.
    levels: Vec<TreeLevel>,
    begun: bool,
}

/// Folder that is being walked.
struct TreeLevel {
    path: PathBuf,
    place: RootedPath,
    /// Its device and inode.
    inode: DeviceInode,
    /// Entries that are still to be visited, ordered by name.
    entries: vec::IntoIter<FolderEntry>,
    /// The open folder, until a folder in it is entered: from there files are examined fastest.
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

    /// Enters the root. Returns an entry if the root is no folder or cannot be listed.
    fn begin(&mut self) -> Option<TreeEntry> {
        let path = self.root.to_owned();
        match self.root.metadata() {
            Err(error) => Some(TreeEntry::Failed {
                path,
                error: TreeError::Root(error),
            }),
            Ok(metadata) if metadata.is_dir() => {
                self.enter(path, self.place.clone())
                    .map(|found| match found {
                        TreeEntry::Failed {
                            path,
                            error: TreeError::Inside(error),
                        } => TreeEntry::Failed {
                            path,
                            error: TreeError::Root(error),
                        },
                        found => found,
                    })
            }
            Ok(metadata) if is_stream(&metadata) || is_stdin_socket(&path, &metadata) => {
                Some(TreeEntry::Stream(path))
            }
            Ok(metadata) if metadata.is_file() => Some(plain_entry(path, &metadata, None)),
            Ok(_) => {
                let message = "it is a socket or a block device, which is not read";
                Some(TreeEntry::Failed {
                    path,
                    error: TreeError::Root(io::Error::other(message)),
                })
            }
        }
    }

    /// Enters a folder. Returns an entry if it cannot be listed.
    fn enter(&mut self, path: PathBuf, place: RootedPath) -> Option<TreeEntry> {
        if let Some(above) = self.levels.last_mut() {
            above.folder = None;
        }
        match Listing::of(&place, |_| true) {
            Ok(Listing {
                folder,
                inode,
                mut entries,
            }) => {
                if let Some(above) = self.levels.iter().find(|level| level.inode == inode) {
                    let ancestor = above.path.clone();
                    return Some(TreeEntry::Failed {
                        path,
                        error: TreeError::Cycle { ancestor },
                    });
                }
                if let Some(repository) = repository_of(&path, &entries) {
                    return Some(TreeEntry::Repository(repository));
                }
                sort_epochs(&path, &mut entries);
                self.levels.push(TreeLevel {
                    path,
                    place,
                    inode,
                    entries: entries.into_iter(),
                    folder: Some(Arc::new(folder)),
                });
                None
            }
            Err(error) => Some(TreeEntry::Failed {
                path,
                error: TreeError::Inside(error),
            }),
        }
    }

    /// Visits an entry of the innermost folder. Returns `None` if it is a folder that is entered,
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
            return Some(TreeEntry::Other(path));
        }
        Some(TreeEntry::File {
            path,
            place: Some(place),
            folder: level.folder.clone(),
        })
    }

    /// Visits a link: follows it if links are followed and its target is beneath the root.
    fn link(&mut self, path: PathBuf) -> Option<TreeEntry> {
        let target = self.real_root.as_ref().and_then(|root| {
            let real = path.canonicalize().ok()?;
            let relative = real.strip_prefix(root).ok()?;
            Some((real.metadata().ok()?, self.place.join(relative.as_os_str())))
        });
        match target {
            None => Some(TreeEntry::Link(path)),
            Some((metadata, _))
                if metadata.is_dir() && self.filter.excludes_folder(self.root, &path) =>
            {
                None
            }
            Some((metadata, place)) if metadata.is_dir() => self.enter(path, place),
            Some((metadata, place)) => Some(plain_entry(path, &metadata, Some(place))),
        }
    }
}

/// Returns `true` for a file that can be read once, in its order.
fn is_stream(metadata: &Metadata) -> bool {
    let file_type = metadata.file_type();
    file_type.is_fifo() || file_type.is_char_device()
}

/// Returns `true` for a socket that is standard input. Others cannot be opened by a name.
fn is_stdin_socket(path: &Path, metadata: &Metadata) -> bool {
    metadata.file_type().is_socket() && Source::is_stdin_path(path)
}

/// Returns the entry for something that is no folder.
fn plain_entry(path: PathBuf, metadata: &Metadata, place: Option<RootedPath>) -> TreeEntry {
    if metadata.is_file() {
        TreeEntry::File {
            path,
            place,
            folder: None,
        }
    } else {
        TreeEntry::Other(path)
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

/// Iterator over a folder and the folders in it, each after the folder that contains it. A folder
/// that cannot be listed is returned, but none in it.
///
/// A folder is listed when the next one is requested: a caller who watches each folder before that
/// misses nothing.
pub(super) struct Folders {
    /// The folder that was returned last.
    last: Option<FolderPlace>,
    pending: Vec<FolderPlace>,
    /// Devices and inodes of the folders listed so far.
    seen: HashSet<DeviceInode>,
}

impl Folders {
    /// Creates an iterator over `folder`, which is in `root`.
    pub(super) fn new(root: &Path, folder: &Path) -> Folders {
        let place = RootedPath::root(root).join(
            folder
                .strip_prefix(root)
                .unwrap_or(Path::new(""))
                .as_os_str(),
        );
        Folders {
            last: None,
            pending: vec![FolderPlace {
                path: folder.to_owned(),
                place,
            }],
            seen: HashSet::new(),
        }
    }

    fn list(&mut self, folder: &FolderPlace) {
        let Ok(Listing { inode, entries, .. }) =
            Listing::of(&folder.place, |file_type| file_type == FileType::Directory)
        else {
            return;
        };
        // A folder that is mounted in itself has been listed.
        if !self.seen.insert(inode) {
            return;
        }
        let is_repository =
            entries.iter().any(|entry| entry.name == "objects") && is_repository(&folder.path);
        for FolderEntry { name, .. } in entries {
            // New objects of a repository mean nothing before a reference leads to them.
            if is_repository && name != "refs" {
                continue;
            }
            if !is_maildir_tmp(&folder.path, &name) {
                self.pending.push(FolderPlace {
                    path: folder.path.join(&name),
                    place: folder.place.join(&name),
                });
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
        self.last.as_ref().map(|folder| folder.path.clone())
    }
}

/// Folder and the path by which it is opened.
struct FolderPlace {
    path: PathBuf,
    place: RootedPath,
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
