//! Git repositories among the folders of a walk, recognized by the names in them, as git does.
//! `read` reads their content.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use super::rooted_path::FolderEntry;

/// Returns `true` if the folder at `path` is a git repository: a bare repository, or the `.git`
/// folder of one with a working tree.
#[must_use]
pub fn is_repository(path: &Path) -> bool {
    path.join("HEAD")
        .symlink_metadata()
        .is_ok_and(|head| !head.is_dir())
        && path.join("objects").is_dir()
        && path.join("refs").is_dir()
}

/// A path in a git repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryPath {
    /// Folder of the repository.
    pub repository: PathBuf,
    /// `true` for the repository itself and for files that name commits; `false` for anything else,
    /// such as objects.
    pub names_commits: bool,
}

/// Returns the repository in `root` that `path` is in, or is itself. Examines the folders on the
/// path.
#[must_use]
pub fn repository_path(root: &Path, path: &Path) -> Option<RepositoryPath> {
    let inside = path.ancestors().take_while(|above| above.starts_with(root));
    let repository = inside.filter(|above| is_repository(above)).last()?;
    let inside = path.strip_prefix(repository).ok()?;
    let first = inside.iter().next().unwrap_or_default();
    let is_reference = ["", "HEAD", "packed-refs", "refs", "reftable"]
        .iter()
        .any(|name| first == *name);
    let is_lock = inside.extension().is_some_and(|end| end == "lock");
    Some(RepositoryPath {
        repository: repository.to_owned(),
        names_commits: is_reference && !is_lock,
    })
}

/// Returns the repository that the folder at `path` is, or has checked out. `entries` are the
/// folder's entries, ordered by name. The working tree of a mailing list contains only its
/// messages, which are also in the repository.
pub(super) fn repository_of(path: &Path, entries: &[FolderEntry]) -> Option<PathBuf> {
    // Few folders have an entry of this name, so few are examined further.
    if has(entries, "HEAD", |found| !found.is_dir()) && is_repository(path) {
        return Some(path.to_owned());
    }
    let git = path.join(".git");
    (has(entries, ".git", FileType::is_dir) && is_checked_out_mail(entries) && is_repository(&git))
        .then_some(git)
}

/// Returns `true` if a folder has an entry with this name and type.
fn has(entries: &[FolderEntry], name: &str, is_type: fn(FileType) -> bool) -> bool {
    let found = entries.binary_search_by(|entry| entry.name.as_bytes().cmp(name.as_bytes()));
    found.is_ok_and(|at| is_type(entries[at].file_type))
}

/// Returns `true` if a working tree contains only names of a mailing list: `m` or `d`, or the first
/// two digits of hashes.
fn is_checked_out_mail(entries: &[FolderEntry]) -> bool {
    let mut files = entries.iter().filter(|entry| entry.name != ".git");
    let mut folders = files.clone();
    files.clone().next().is_some()
        && (folders.all(|entry| is_fan_out(entry.name.as_bytes()) && entry.file_type.is_dir())
            || files.all(|entry| is_message_name(entry.name.as_bytes())))
}

/// Returns `true` for the name of a message folder in public-inbox version 1: the first two digits
/// of hashes.
#[must_use]
pub fn is_fan_out(name: &[u8]) -> bool {
    name.len() == 2
        && name
            .iter()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns `true` for the name of a message, or of a deleted message, in public-inbox version 2.
#[must_use]
pub fn is_message_name(name: &[u8]) -> bool {
    matches!(name, b"m" | b"d")
}

/// Sorts the epochs of a public-inbox mailing list (`0.git`, `1.git` and so on) by number instead
/// of name.
pub(super) fn sort_epochs(path: &Path, entries: &mut [FolderEntry]) {
    if path.file_name().is_some_and(|name| name == "git") {
        // Other names keep their order after the epochs.
        entries.sort_by_key(|entry| epoch(entry).unwrap_or(u64::MAX));
    }
}

fn epoch(entry: &FolderEntry) -> Option<u64> {
    let digits = entry.name.to_str()?.strip_suffix(".git")?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok())?
}
