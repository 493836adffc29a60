//! Walks roots and returns their files in a fixed order. Opens folders, and small files for callers
//! that read all of them. Follows no symbolic link unless asked.
//!
//! The crate `walkdir` is not used here: it opens each folder by path, and by then a component of
//! the path may have become a link. Here each folder is opened by descriptor, relative to its root
//! (`walk/rooted_path.rs`). Folders that only this program writes are listed with `walkdir`.

mod path_filter;
mod repository_folders;
mod rooted_path;
mod tree;

pub use path_filter::{PathFilter, member_hint, path_hint};
pub use rooted_path::{DeviceInode, max_roots_per_batch, reserve_descriptors};

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Stat, stat, statat};

use path_filter::{is_hidden_in_maildir, is_maildir_tmp};
pub use repository_folders::{
    RepositoryPath, is_fan_out, is_message_name, is_repository, repository_path,
};
use rooted_path::{RootedPath, descriptor_limit, open_small};
use tree::{FoundFile, TreeWalk};
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind, Event, SkipReason};
use urlspool_text::limits::SMALL_FILE_BYTES;
use urlspool_text::origin::{FileRange, FormatHint, Source};

/// A regular file to read.
#[derive(Clone, Debug)]
pub struct WalkedFile {
    /// Source of the file.
    pub source: Source,
    /// Size in bytes during the walk.
    pub size: u64,
    /// Hint about the format, from the path.
    pub hint: FormatHint,
    /// Path in the root by which the file is opened. `None` for a file that the user named, which
    /// is opened by its name.
    pub place: Option<RootedPath>,
    /// The open file, if it is small and the walk has opened it.
    pub preopened: Option<Arc<File>>,
}

impl WalkedFile {
    /// Creates a file from a name only. It is opened by its name, and links in it are followed.
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

    /// Creates a file from a name only, if it resolves to a path in `root`, possibly through links.
    /// Returns `None` otherwise. The file is opened in `root` by the path to which the links
    /// resolve now.
    #[must_use]
    pub fn below(root: &Path, path: &Path) -> Option<WalkedFile> {
        let root = root.canonicalize().ok()?;
        let found = path.canonicalize().ok()?;
        let place = RootedPath::root(&root).join(found.strip_prefix(&root).ok()?.as_os_str());
        Some(WalkedFile {
            place: Some(place),
            ..WalkedFile::named(path.to_owned())
        })
    }

    /// Returns `true` if the file was found in a root, which stays open while the file is pending.
    #[must_use]
    pub fn is_in_root(&self) -> bool {
        self.place.is_some()
    }

    /// Returns `true` if the file was found in a different root than `other`.
    #[must_use]
    pub fn is_in_another_root(&self, other: &WalkedFile) -> bool {
        self.place
            .as_ref()
            .zip(other.place.as_ref())
            .is_some_and(|(one, other)| !one.shares_root(other))
    }
}

/// A step of a walk.
#[derive(Clone, Debug)]
pub enum WalkStep {
    /// A file to read.
    File(WalkedFile),
    /// Part of a file: read the messages that start in it.
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
    /// A pipe or a character device that the user named. Read as a stream.
    Stream(Source),
    /// An entry that is not read.
    Skipped {
        /// Its source.
        source: Source,
        /// Reason for skipping it.
        reason: SkipReason,
    },
    /// A file or folder that could not be opened or listed.
    Failed(Event),
}

/// Handling of symbolic links inside the roots. A root itself may always be a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SymlinkPolicy {
    /// Skips links.
    #[default]
    Skip,
    /// Follows links whose target is in the same root, but never one folder twice on one path.
    Follow,
}

/// Walks the roots, one after another.
///
/// In a root, names are ordered byte by byte, component by component. Holds the names in the
/// folders on the path to the current file.
pub fn walk<'w>(
    roots: &'w [PathBuf],
    filter: &'w PathFilter,
    links: SymlinkPolicy,
) -> impl Iterator<Item = WalkStep> + 'w {
    walk_roots(roots, filter, links, 0)
}

/// Walks like [`walk`], for a caller that reads all files. Opens small files, as many as the limit
/// on descriptors allows.
pub fn walk_and_open<'w>(
    roots: &'w [PathBuf],
    filter: &'w PathFilter,
    links: SymlinkPolicy,
) -> impl Iterator<Item = WalkStep> + 'w {
    walk_roots(roots, filter, links, descriptor_limit())
}

fn walk_roots<'w>(
    roots: &'w [PathBuf],
    filter: &'w PathFilter,
    links: SymlinkPolicy,
    descriptor_limit: RawFd,
) -> impl Iterator<Item = WalkStep> + 'w {
    let mut walk = RootWalk {
        filter,
        descriptor_limit,
        seen: HashSet::new(),
    };
    roots
        .iter()
        .flat_map(move |root| {
            TreeWalk::new(root, filter, links).map(move |entry| (root.as_path(), entry))
        })
        .map(move |(root, entry)| match entry {
            Ok(found) => walk.file_step(root, found),
            Err(step) => step,
        })
}

/// Returns the steps for work items, in order. An item that covers its whole file becomes a step
/// for the file.
///
/// Skips only files that `filter` knows as outputs of the run.
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
    let source = item.source.clone();
    if metadata.is_dir() && is_repository(path) {
        return WalkStep::Repository(source);
    }
    let reason = if metadata.is_file() {
        let is_own = filter.is_own_output(|| DeviceInode::of(&metadata));
        is_own.then_some(SkipReason::OwnOutput)
    } else {
        Some(SkipReason::NotRegular)
    };
    if let Some(reason) = reason {
        return WalkStep::Skipped { source, reason };
    }
    let file = WalkedFile {
        source,
        size: metadata.len(),
        hint: path_hint(path),
        place: None,
        preopened: None,
    };
    if item.start == 0 && file.size <= item.end {
        WalkStep::File(file)
    } else {
        let item = item.clone();
        WalkStep::Part { file, item }
    }
}

/// Returns `folder`, which is in `root`, and all folders in it that a walk without links enters.
/// Each folder comes after its parent, and before it is listed. Files are not examined, so this
/// takes no longer than listing the folders.
pub fn list_folders(root: &Path, folder: &Path) -> impl Iterator<Item = PathBuf> {
    tree::Folders::new(root, folder)
}

/// Returns `true` if `path`, which is in `root`, is a folder that can be reached without links.
#[must_use]
pub fn is_folder(root: &Path, path: &Path) -> bool {
    let relative = path.strip_prefix(root).unwrap_or(Path::new(""));
    // The root itself may be a link, since the user named it.
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
        size: metadata.len(),
        hint: path_hint(path),
        place,
        ..WalkedFile::named(path.to_owned())
    })
}

/// A walk over roots that selects and opens files.
struct RootWalk<'w> {
    filter: &'w PathFilter,
    /// Highest descriptor for files that the walk opens; 0 opens none.
    descriptor_limit: RawFd,
    /// News articles with several names. Each is read under its first name.
    seen: HashSet<DeviceInode>,
}

impl RootWalk<'_> {
    fn file_step(&mut self, root: &Path, found: FoundFile) -> WalkStep {
        let path = found.path;
        let is_root = found.place.is_none();
        if !is_root && path.file_name().is_some_and(path_filter::is_control_file) {
            return skipped(path, SkipReason::ControlFile);
        }
        if !is_root && is_hidden_in_maildir(&path) {
            return skipped(path, SkipReason::MaildirTmp);
        }
        if !self.filter.wants_all() && !self.filter.wants(root, &path) {
            return skipped(path, SkipReason::Filtered);
        }
        let examined = self.examine(found.folder.as_deref(), &path);
        let (stat, preopened) =
            match examined.map_or_else(|| stat(&path).map(|stat| (stat, None)), Ok) {
                Ok(examined) => examined,
                Err(error) => return failed(path, &io::Error::from(error), is_root),
            };
        let id = DeviceInode::of_stat(&stat);
        if self.filter.is_own_output(|| id) {
            return skipped(path, SkipReason::OwnOutput);
        }
        let (size, hint) = (stat.st_size.unsigned_abs(), path_hint(&path));
        if hint == FormatHint::Numbered && stat.st_nlink > 1 && !self.seen.insert(id) {
            return skipped(path, SkipReason::HardLink);
        }
        WalkStep::File(WalkedFile {
            source: Source::at(path),
            size,
            hint,
            place: found.place,
            preopened: preopened.filter(|_| size < SMALL_FILE_BYTES).map(Arc::new),
        })
    }

    /// Examines a file by its name in the open folder, which is fastest, and opens it if the limit
    /// allows. If this fails, the caller tries the whole path and reports that error.
    fn examine(&self, folder: Option<&OwnedFd>, path: &Path) -> Option<(Stat, Option<File>)> {
        let (folder, name) = folder.zip(path.file_name())?;
        open_small(folder, name, self.descriptor_limit).or_else(|| {
            let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            Some((stat, None))
        })
    }
}

fn skipped(path: PathBuf, reason: SkipReason) -> WalkStep {
    WalkStep::Skipped {
        source: Source::at(path),
        reason,
    }
}

fn failed(path: PathBuf, error: &io::Error, is_root: bool) -> WalkStep {
    // A named path must exist, but a path found by the walk may disappear.
    let kind = if !is_root && error.kind() == io::ErrorKind::NotFound {
        DiagnosticKind::Vanished
    } else {
        DiagnosticKind::Unreadable
    };
    WalkStep::Failed(Diagnostic::new(kind, error.to_string()).of(&Source::at(path)))
}
