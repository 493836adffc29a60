//! Git repositories among the folders of a walk, recognised by the names in them, as git does.
//! Their content is left to `read`.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use super::listing::FolderEntry;

/// Returns `true` if the folder at `path` is a git repository: one without a working tree, or the
/// folder `.git` of one that has it.
#[must_use]
pub fn is_repository(path: &Path) -> bool {
    path.join("HEAD")
        .symlink_metadata()
        .is_ok_and(|head| !head.is_dir())
        && path.join("objects").is_dir()
        && path.join("refs").is_dir()
}

/// A path in a git repository.
#[cfg(feature = "daemon")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepositoryPath {
    pub(crate) repository: PathBuf,
    pub(crate) role: RepositoryRole,
}

/// Role of a path in a git repository.
#[cfg(feature = "daemon")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RepositoryRole {
    /// The repository itself, or something that names commits.
    Reference,
    /// Anything else, such as objects.
    Other,
}

/// Returns the role of `path` in the repository in `root` that it is in.
#[cfg(feature = "daemon")]
#[must_use]
pub(crate) fn repository_path(root: &Path, path: &Path) -> Option<RepositoryPath> {
    let repository = repository_above(root, path)?;
    let inside = path.strip_prefix(&repository).ok()?;
    let first = inside.iter().next().unwrap_or_default();
    let names_commits = ["", "HEAD", "packed-refs", "refs", "reftable"]
        .iter()
        .any(|name| first == *name);
    let is_lock = inside.extension().is_some_and(|end| end == "lock");
    let role = if names_commits && !is_lock {
        RepositoryRole::Reference
    } else {
        RepositoryRole::Other
    };
    Some(RepositoryPath { repository, role })
}

/// Returns the repository in `root` that `path` is, or is in. Examines the folders on the way.
#[cfg(feature = "daemon")]
fn repository_above(root: &Path, path: &Path) -> Option<PathBuf> {
    let inside = path.ancestors().take_while(|above| above.starts_with(root));
    let found = inside.filter(|above| is_repository(above)).last();
    found.map(Path::to_owned)
}

/// Returns the repository that the folder at `path` with these entries, ordered by name, is or has
/// checked out. The working tree of a mailing list has nothing but its messages, which are in the
/// repository.
pub(super) fn repository_of(path: &Path, entries: &[FolderEntry]) -> Option<PathBuf> {
    let has = |name: &str, is_type: fn(FileType) -> bool| {
        let found = entries.binary_search_by(|entry| entry.name.as_bytes().cmp(name.as_bytes()));
        found.is_ok_and(|at| is_type(entries[at].file_type))
    };
    let is_folder = |found: FileType| found.is_dir() || found.is_symlink();
    if has("HEAD", |found| !found.is_dir()) && has("objects", is_folder) && has("refs", is_folder) {
        return Some(path.to_owned());
    }
    let git = path.join(".git");
    (has(".git", FileType::is_dir) && is_checked_out_mail(entries) && is_repository(&git))
        .then_some(git)
}

/// Returns `true` if a working tree has the names of a mailing list: `m` or `d`, or the first two
/// digits of hashes.
fn is_checked_out_mail(entries: &[FolderEntry]) -> bool {
    let files = || entries.iter().filter(|entry| entry.name != ".git");
    let is_fan_out =
        |entry: &FolderEntry| is_fan_out(entry.name.as_bytes()) && entry.file_type.is_dir();
    let is_message = |entry: &FolderEntry| is_message_name(entry.name.as_bytes());
    files().next().is_some() && (files().all(is_fan_out) || files().all(is_message))
}

/// Returns `true` for the name of a folder of messages in version 1 of public-inbox: the first two
/// digits of hashes.
#[must_use]
pub(crate) fn is_fan_out(name: &[u8]) -> bool {
    let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    name.len() == 2 && name.iter().all(is_hex)
}

/// Returns `true` for the name of a message in version 2 of public-inbox, or of a deleted one.
#[must_use]
pub(crate) fn is_message_name(name: &[u8]) -> bool {
    matches!(name, b"m" | b"d")
}

/// Orders the epochs of a mailing list of public-inbox, `0.git`, `1.git` and so on, by their
/// numbers, which the order of names is not.
pub(super) fn sort_epochs(path: &Path, entries: &mut [FolderEntry]) {
    let number = |entry: &FolderEntry| {
        let name = entry.name.to_str()?.strip_suffix(".git")?;
        name.bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| name.parse::<u64>().ok())?
    };
    if path.file_name().is_some_and(|name| name == "git") {
        // Other names keep their order, after the epochs.
        entries.sort_by_key(|entry| number(entry).unwrap_or(u64::MAX));
    }
}
