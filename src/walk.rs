//! Walks over roots and returns the files in them, in a fixed order. Opens folders, and small files
//! for callers who read them all; follows no symbolic link unless asked.
//!
//! The crate `walkdir` is not used here: it opens each folder by its path, which may lead through a
//! link by then. Here each folder is opened by descriptor, beneath its root
//! (`walk/rooted_path.rs`). The crate's own folders, which nobody else writes, are listed with
//! `walkdir`.

mod format_hint;
mod listing;
mod path_filter;
mod preopened;
mod repository_folders;
mod rooted_path;
mod tree;

#[cfg(feature = "archives")]
pub(crate) use format_hint::member_hint;
pub(crate) use format_hint::path_hint;
pub use path_filter::{BadGlob, PathFilter};
pub(crate) use preopened::{max_roots_per_batch, reserve_descriptors};
pub use rooted_path::DeviceInode;

use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, stat, statat};

use crate::diagnostic::{Diagnostic, DiagnosticKind, Event, SkipReason};
use crate::limits::SMALL_FILE_BYTES;
use crate::origin::{FileRange, FormatHint, Source};
use format_hint::{is_hidden_in_maildir, is_maildir_tmp};
use preopened::{DescriptorBudget, ExaminedFile, PreopenedFile};
pub use repository_folders::is_repository;
#[cfg(feature = "daemon")]
pub(crate) use repository_folders::{RepositoryPath, RepositoryRole, repository_path};
#[cfg(feature = "archives")]
pub(crate) use repository_folders::{is_fan_out, is_message_name};
use rooted_path::RootedPath;
use tree::{TreeEntry, TreeError, TreeWalk};

/// Regular file that is to be read.
#[derive(Clone, Debug)]
pub struct WalkedFile {
    /// Its source.
    pub source: Source,
    /// Its size in bytes during the walk.
    pub size: u64,
    /// Hint that its path gives on its format.
    pub hint: FormatHint,
    /// The path beneath its root by which it is opened. `None` for a file that the user named: it
    /// is opened by its name.
    pub(crate) place: Option<RootedPath>,
    /// The open file, if it is small and the walk has opened it.
    pub(crate) preopened: Option<Arc<PreopenedFile>>,
}

impl WalkedFile {
    /// Creates a file from a name alone. It is opened by its name, through links or not.
    #[must_use]
    pub fn named(path: PathBuf) -> WalkedFile {
        WalkedFile {
            source: Source::at(path),
            size: 0,
            hint: FormatHint::None,
            place: None,
            preopened: None,
        }
    }

    /// Creates a file from a name alone, which leads to something below `root`, through links or not. `None` if it does not. It is
    /// opened below `root` in the place to which the links led now.
    #[cfg(feature = "browse")]
    pub(crate) fn below(root: &Path, path: &Path) -> Option<WalkedFile> {
        let root = root.canonicalize().ok()?;
        let found = path.canonicalize().ok()?;
        let place = RootedPath::root(&root).join(found.strip_prefix(&root).ok()?.as_os_str());
        Some(WalkedFile {
            place: Some(place),
            ..WalkedFile::named(path.to_owned())
        })
    }

    /// Returns `true` if it was found in a root, which stays open while the file waits.
    pub(crate) fn is_in_root(&self) -> bool {
        self.place.is_some()
    }

    /// Returns `true` if it was found in another root than `other` was.
    pub(crate) fn is_in_another_root(&self, other: &WalkedFile) -> bool {
        self.place
            .as_ref()
            .zip(other.place.as_ref())
            .is_some_and(|(one, other)| !one.shares_root(other))
    }
}

/// Step of a walk.
#[derive(Clone, Debug)]
pub enum WalkStep {
    /// A file to be read.
    File(WalkedFile),
    /// Part of a file: the messages that begin in it are to be read.
    Part {
        /// The file.
        file: WalkedFile,
        /// The range.
        item: FileRange,
    },
    /// A git repository, which is read as a whole.
    Repository(Source),
    /// Standard input.
    Stdin,
    /// A pipe or a character device that the user named. It is read as a stream.
    Stream(Source),
    /// Something that is not read.
    Skipped {
        /// Its source.
        source: Source,
        /// Why it is not read.
        reason: SkipReason,
    },
    /// A file or folder that could not be opened or listed.
    Failed(Event),
}

/// Treatment of symbolic links inside the roots. A root itself may always be a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SymlinkPolicy {
    /// Links are skipped.
    #[default]
    Skip,
    /// Links to something beneath their root are followed, none twice on one path.
    Follow,
}

/// Walks over the roots, one after the other.
///
/// Beneath a root, names are ordered byte by byte, component by component. Holds the names in the
/// folders on the path to the current file.
pub fn walk<'w>(
    roots: &'w [PathBuf],
    filter: &'w PathFilter,
    links: SymlinkPolicy,
) -> impl Iterator<Item = WalkStep> + 'w {
    walk_roots(roots, filter, links, DescriptorBudget::NONE)
}

/// Walks as [`walk`] does, for a caller who reads all files: opens small files, as many as the
/// limit on descriptors allows.
pub(crate) fn walk_and_open<'w>(
    roots: &'w [PathBuf],
    filter: &'w PathFilter,
    links: SymlinkPolicy,
) -> impl Iterator<Item = WalkStep> + 'w {
    walk_roots(roots, filter, links, DescriptorBudget::of_process())
}

fn walk_roots<'w>(
    roots: &'w [PathBuf],
    filter: &'w PathFilter,
    links: SymlinkPolicy,
    budget: DescriptorBudget,
) -> impl Iterator<Item = WalkStep> + 'w {
    let mut seen = HashSet::new();
    let walk_root = move |root| {
        RootWalk {
            root,
            filter,
            budget,
        }
        .steps(links)
    };
    roots
        .iter()
        .map(PathBuf::as_path)
        .flat_map(walk_root)
        .map(move |step| match step {
            RootStep::Step(step) => step,
            RootStep::HardLinked { file, id } if seen.insert(id) => WalkStep::File(file),
            RootStep::HardLinked { file, .. } => WalkStep::Skipped {
                source: file.source,
                reason: SkipReason::HardLink,
            },
        })
}

/// Returns the steps for work items, in their order. An item that covers all of its file becomes a
/// step for the file.
///
/// Only the files that `filter` knows as outputs of the run are skipped.
pub fn walk_items<'w>(
    items: &'w [FileRange],
    filter: &'w PathFilter,
) -> impl Iterator<Item = WalkStep> + 'w {
    items.iter().map(|item| item_step(item, filter))
}

fn item_step(item: &FileRange, filter: &PathFilter) -> WalkStep {
    let path = &item.source.path;
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) => {
            let diagnostic = Diagnostic::new(DiagnosticKind::Unreadable, error.to_string());
            return WalkStep::Failed(diagnostic.of(&item.source));
        }
    };
    if metadata.is_dir() && is_repository(path) {
        return WalkStep::Repository(item.source.clone());
    }
    let skip_reason = if !metadata.is_file() {
        Some(SkipReason::NotRegular)
    } else if filter.is_own_output(|| DeviceInode::of(&metadata)) {
        Some(SkipReason::OwnOutput)
    } else {
        None
    };
    if let Some(reason) = skip_reason {
        return WalkStep::Skipped {
            source: item.source.clone(),
            reason,
        };
    }
    let file = WalkedFile {
        source: item.source.clone(),
        size: metadata.len(),
        hint: path_hint(path),
        place: None,
        preopened: None,
    };
    if item.start == 0 && file.size <= item.end {
        WalkStep::File(file)
    } else {
        WalkStep::Part {
            file,
            item: item.clone(),
        }
    }
}

/// Returns `folder`, which is in `root`, and all folders in it that a walk without links enters.
/// Each comes after the folder that contains it, and before it is listed. Files are not examined,
/// so that this takes no longer than listing the folders.
pub fn list_folders(root: &Path, folder: &Path) -> impl Iterator<Item = PathBuf> {
    tree::Folders::new(root, folder)
}

/// Returns `true` if `path`, which is in `root`, is a folder that is reached without links.
#[must_use]
pub fn is_folder(root: &Path, path: &Path) -> bool {
    let relative = path.strip_prefix(root).unwrap_or(Path::new(""));
    // The root itself may be a link: the user has named it.
    let mut inside = path.ancestors().take(relative.components().count());
    path.is_dir()
        && inside.all(|up| {
            up.symlink_metadata()
                .is_ok_and(|metadata| metadata.is_dir())
        })
}

/// Returns the file at `path`, which is in `root`, if a walk of `root` without links would find it.
#[must_use]
pub fn find_beneath(root: &Path, path: &Path) -> Option<WalkedFile> {
    let metadata = path
        .symlink_metadata()
        .ok()
        .filter(std::fs::Metadata::is_file)?;
    let inside = path.ancestors().take_while(|up| *up != root);
    let in_tmp = inside.skip(1).any(|up| {
        up.file_name()
            .zip(up.parent())
            .is_some_and(|(name, parent)| is_maildir_tmp(parent, name))
    });
    let is_skipped = path != root
        && (path.file_name().is_none_or(path_filter::is_control_file)
            || is_hidden_in_maildir(path));
    if in_tmp || is_skipped {
        return None;
    }
    let place = path
        .strip_prefix(root)
        .ok()
        .filter(|relative| !relative.as_os_str().is_empty())
        .map(|relative| RootedPath::root(root).join(relative.as_os_str()));
    Some(WalkedFile {
        source: Source::at(path.to_owned()),
        size: metadata.len(),
        hint: path_hint(path),
        place,
        preopened: None,
    })
}

/// Step of the walk of one root.
enum RootStep {
    /// A step that is final.
    Step(WalkStep),
    /// An article of a news spool that has several names. It is read under the first.
    HardLinked { file: WalkedFile, id: DeviceInode },
}

/// Root that is walked, with the files that are wanted and opened.
#[derive(Clone, Copy)]
struct RootWalk<'w> {
    root: &'w Path,
    filter: &'w PathFilter,
    budget: DescriptorBudget,
}

impl<'w> RootWalk<'w> {
    fn steps(self, links: SymlinkPolicy) -> Box<dyn Iterator<Item = RootStep> + 'w> {
        if self.root.as_os_str() == Source::STDIN {
            return Box::new(std::iter::once(RootStep::Step(WalkStep::Stdin)));
        }
        Box::new(TreeWalk::new(self.root, self.filter, links).map(move |entry| self.step(entry)))
    }

    fn step(self, entry: TreeEntry) -> RootStep {
        match entry {
            TreeEntry::File {
                path,
                place,
                folder,
            } => self.file_step(path, place, folder.as_deref()),
            TreeEntry::Repository(path) if self.filter.wants(self.root, &path) => {
                RootStep::Step(WalkStep::Repository(Source::at(path)))
            }
            TreeEntry::Repository(path) => skipped(path, SkipReason::Filtered),
            TreeEntry::Link(path) => skipped(path, SkipReason::Symlink),
            TreeEntry::Stream(path) => RootStep::Step(WalkStep::Stream(Source::at(path))),
            TreeEntry::Other(path) => skipped(path, SkipReason::NotRegular),
            TreeEntry::Failed { path, error } => failed(path, &error),
        }
    }

    fn file_step(
        self,
        path: PathBuf,
        place: Option<RootedPath>,
        folder: Option<&OwnedFd>,
    ) -> RootStep {
        let is_root = place.is_none();
        if !is_root && path.file_name().is_some_and(path_filter::is_control_file) {
            return skipped(path, SkipReason::ControlFile);
        }
        if !is_root && is_hidden_in_maildir(&path) {
            return skipped(path, SkipReason::MaildirTmp);
        }
        if !self.filter.wants_all() && !self.filter.wants(self.root, &path) {
            return skipped(path, SkipReason::Filtered);
        }
        let ExaminedFile {
            preopened,
            stat: examined,
        } = self.examine(folder, &path);
        let stat = match examined.map_or_else(|| stat(&path), Ok) {
            Ok(stat) => stat,
            Err(error) if is_root => return failed(path, &TreeError::Root(error.into())),
            Err(error) => return failed(path, &TreeError::Inside(error.into())),
        };
        if self.filter.is_own_output(|| DeviceInode::of_stat(&stat)) {
            return skipped(path, SkipReason::OwnOutput);
        }
        let (size, hint) = (stat.st_size.unsigned_abs(), path_hint(&path));
        let file = WalkedFile {
            source: Source::at(path),
            size,
            hint,
            place,
            preopened: preopened.filter(|_| size < SMALL_FILE_BYTES).map(Arc::new),
        };
        if hint == FormatHint::Numbered && stat.st_nlink > 1 {
            return RootStep::HardLinked {
                file,
                id: DeviceInode::of_stat(&stat),
            };
        }
        RootStep::Step(WalkStep::File(file))
    }

    /// Examines a file by its name in the open folder, which is fastest, and opens it within the
    /// budget. A failure here is repeated, and reported, with the whole path.
    fn examine(self, folder: Option<&OwnedFd>, path: &Path) -> ExaminedFile {
        let Some((folder, name)) = folder.zip(path.file_name()) else {
            return ExaminedFile::default();
        };
        self.budget
            .open(folder, name)
            .unwrap_or_else(|| ExaminedFile {
                preopened: None,
                stat: statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok(),
            })
    }
}

fn skipped(path: PathBuf, reason: SkipReason) -> RootStep {
    RootStep::Step(WalkStep::Skipped {
        source: Source::at(path),
        reason,
    })
}

fn failed(path: PathBuf, error: &TreeError) -> RootStep {
    let (kind, message) = match error {
        TreeError::Cycle { ancestor } => (
            DiagnosticKind::Unreadable,
            format!("leads back to {}", ancestor.display()),
        ),
        // A path that was named must exist; one that was found may disappear.
        TreeError::Inside(error) if error.kind() == std::io::ErrorKind::NotFound => {
            (DiagnosticKind::Vanished, error.to_string())
        }
        TreeError::Root(error) | TreeError::Inside(error) => {
            (DiagnosticKind::Unreadable, error.to_string())
        }
    };
    RootStep::Step(WalkStep::Failed(
        Diagnostic::new(kind, message).of(&Source::at(path)),
    ))
}
