//! Stored files whose rows a load removes, because the file no longer contains them or no longer
//! exists.
//!
//! A missing file in a Maildir may only have been renamed: a mail program moves it from `new` to
//! `cur` when the message is seen, and appends flags to its name.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::LoadError;
use super::target::{ReplacedFiles, StoredFile};
use urlspool_sources::walk::{PathFilter, SymlinkPolicy, WalkStep, path_hint, walk};
use urlspool_text::diagnostic::counted;
use urlspool_text::hash::hash_pieces;
use urlspool_text::origin::{FormatHint, Source, maildir_base_name};

/// Files read by a scan, for a load that removes the rows of other files.
#[derive(Debug, Default)]
pub struct ScannedFiles {
    roots: HashSet<PathBuf>,
    /// Hashes of the paths that were read.
    read: HashSet<u128>,
    /// Files that could not be read to the end.
    broken: BTreeSet<PathBuf>,
}

impl ScannedFiles {
    /// Creates an empty set for a scan of these roots.
    #[must_use]
    pub fn beneath(roots: &[PathBuf]) -> ScannedFiles {
        ScannedFiles {
            roots: roots.iter().cloned().collect(),
            ..ScannedFiles::default()
        }
    }

    /// Adds a file that was read.
    pub fn add_read(&mut self, path: &Path) {
        self.read.insert(path_hash(path));
    }

    /// Adds a file that was not read to the end.
    pub fn add_broken(&mut self, path: &Path) {
        self.broken.insert(path.to_owned());
    }

    /// Returns `true` if the rows of a stored file without records in this scan are to be removed.
    /// This is so if the file was read and no longer contains a URL, or if it is gone. A file that
    /// the scan did not read to the end keeps its rows.
    fn is_without_urls(&self, path: &Path) -> bool {
        !self.broken.contains(path) && (self.read.contains(&path_hash(path)) || is_missing(path))
    }

    /// Returns the files whose rows are to be removed. `stored` are the files without a row in the
    /// scan. `omitted` receives a sentence with the reason whenever rows are kept.
    pub(super) fn replaced(
        &self,
        stored: Vec<StoredFile>,
        mut omitted: impl FnMut(&str),
    ) -> ReplacedFiles {
        let mut by_root: BTreeMap<PathBuf, Vec<StoredFile>> = BTreeMap::new();
        for file in stored {
            let Some(path) = file.path() else { continue };
            if let Some(root) = root_of(&path, |folder| self.roots.contains(folder))
                && self.is_without_urls(&path)
            {
                by_root.entry(root.to_owned()).or_default().push(file);
            }
        }
        let broken = self.broken.iter();
        let mut replaced = ReplacedFiles {
            incomplete: broken.map(|path| StoredFile::at(path)).collect(),
            ..ReplacedFiles::default()
        };
        for (root, files) in by_root {
            // Checked after looking for the files; otherwise the file system could be unmounted in
            // between.
            if holds_files(&root) {
                replaced.without_rows.extend(files);
            } else {
                omitted(&format!(
                    "{} is missing or empty, so its rows were kept; is its file system mounted? If \
                     its mail was deleted, scan the folder above it",
                    root.display()
                ));
            }
        }
        replaced
    }
}

/// Returns the stored files in the roots that no longer exist. [`check_roots`] must have accepted
/// the roots. `omitted` receives a sentence with the reason whenever rows are kept.
///
/// # Errors
///
/// A root has disappeared or contains no file.
pub(super) fn missing_files(
    stored: Vec<StoredFile>,
    roots: &[PathBuf],
    mut omitted: impl FnMut(&str),
) -> Result<ReplacedFiles, LoadError> {
    let mut gone = ReplacedFiles::default();
    let mut renamed = RenamedMessages::default();
    let mut known: BTreeSet<PathBuf> = BTreeSet::new();
    for file in stored {
        let Some(path) = file.path() else { continue };
        let Some(root) = root_of(&path, |folder| roots.iter().any(|root| root == folder)) else {
            continue;
        };
        known.insert(root.to_owned());
        if is_missing(&path) {
            gone.without_rows.push(file);
        } else if let Some(maildir) = maildir_of(&path) {
            renamed.stored.insert(name_hash(maildir, &path));
        }
    }
    let count = gone.without_rows.len();
    gone.without_rows
        .retain(|file| file.path().is_some_and(|path| !renamed.hold(&path)));
    let kept = count - gone.without_rows.len();
    if 0 < kept {
        let (one, many) = ("message of a Maildir was", "messages of Maildirs were");
        let kept = counted(kept as u64, one, many);
        omitted(&format!(
            "{kept} renamed, and the rows of the old name were kept; scan the folder with \
             `urlspool scan --into`, and prune again"
        ));
    }
    // Checked after looking for the files; otherwise the file system could be unmounted in between.
    check_roots(roots)?;
    for root in roots {
        if !known.iter().any(|known| known.starts_with(root)) {
            omitted(&format!(
                "the database has no rows of files below {}; write the path as in the scan",
                root.display()
            ));
        }
    }
    Ok(gone)
}

/// Checks that each root exists and contains a file.
pub(super) fn check_roots(roots: &[PathBuf]) -> Result<(), LoadError> {
    for root in roots {
        if root.as_os_str() == Source::STDIN || !holds_files(root) {
            return Err(LoadError::unusable(format!(
                "{} is missing, empty or cannot be read, so no rows were removed; is its file \
                 system mounted? If its files were deleted, name the folder above it",
                root.display()
            )));
        }
    }
    Ok(())
}

/// Returns the innermost root that contains a path.
fn root_of(path: &Path, is_root: impl Fn(&Path) -> bool) -> Option<&Path> {
    path.ancestors().find(|folder| is_root(folder))
}

/// Returns `true` if a root is standard input, a file that is not empty, or a folder with a file in
/// it. The root of an unmounted file system is none of these.
fn holds_files(root: &Path) -> bool {
    use WalkStep::{File, Repository, Skipped};
    match root.metadata() {
        Ok(found) if found.is_dir() => {
            let (roots, all) = ([root.to_owned()], PathFilter::default());
            let mut steps = walk(&roots, &all, SymlinkPolicy::default());
            steps.any(|step| matches!(step, File(_) | Repository(_) | Skipped { .. }))
        }
        Ok(found) => !found.is_file() || 0 < found.len(),
        Err(_) => root.as_os_str() == Source::STDIN,
    }
}

fn path_hash(path: &Path) -> u128 {
    hash_pieces(&[path.as_os_str().as_encoded_bytes()])
}

/// Returns `true` if the path certainly does not exist. A folder that cannot be read may contain
/// it.
fn is_missing(path: &Path) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    path.symlink_metadata()
        .is_err_and(|error| matches!(error.kind(), NotFound | NotADirectory))
}

/// Messages in the Maildirs of missing files. Each Maildir is listed once.
#[derive(Debug, Default)]
struct RenamedMessages {
    /// Hashes of message names whose rows name an existing file.
    stored: HashSet<u128>,
    /// Hashes of the message names in each listed Maildir; `None` if it cannot be listed.
    listed: HashMap<PathBuf, Option<HashSet<u128>>>,
}

impl RenamedMessages {
    /// Returns `true` if the message of a missing file may be in its Maildir under another name
    /// that has no rows. All existing files must have been added before.
    fn hold(&mut self, path: &Path) -> bool {
        let Some(maildir) = maildir_of(path) else {
            return false;
        };
        let name = name_hash(maildir, path);
        if self.stored.contains(&name) {
            return false;
        }
        let listed = self.listed.entry(maildir.to_owned());
        let names = listed.or_insert_with(|| names_in(maildir).ok());
        names.as_ref().is_none_or(|names| names.contains(&name))
    }
}

/// Returns the Maildir that contains a file, if any.
fn maildir_of(path: &Path) -> Option<&Path> {
    (path_hint(path) == FormatHint::Maildir).then(|| path.ancestors().nth(2))?
}

/// Returns the hash of a message's name without its flags.
fn name_hash(maildir: &Path, path: &Path) -> u128 {
    let folder = maildir.as_os_str().as_bytes();
    hash_pieces(&[folder, b"/", maildir_base_name(path)])
}

/// Returns the names of the messages in a Maildir.
fn names_in(maildir: &Path) -> io::Result<HashSet<u128>> {
    let mut names = HashSet::new();
    for folder in ["new", "cur"] {
        for entry in fs::read_dir(maildir.join(folder))? {
            names.insert(name_hash(maildir, &entry?.path()));
        }
    }
    Ok(names)
}
