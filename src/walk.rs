//! Roots in, files out, in a fixed order. Opens folders, and small files for those who read them all; follows no symbolic
//! link unless asked.

mod path_filter;
mod preopened;
mod rooted_path;
mod tree;

pub use path_filter::{BadGlob, PathFilter};
pub(crate) use preopened::{max_roots_per_batch, reserve_descriptors};

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Stat, stat, statat};

use crate::diagnostic::{Diagnostic, DiagnosticKind, Event, SkipReason};
use crate::limits::SMALL_FILE_BYTES;
use crate::origin::{FileRange, FormatHint, Source};
use preopened::{Ahead, Room};
use rooted_path::RootedPath;
use tree::{Found, Tree, Trouble};

/// A regular file that is to be read.
#[derive(Clone, Debug)]
pub struct WalkedFile {
    /// Where it is.
    pub source: Source,
    /// Its bytes, when it was walked upon.
    pub size: u64,
    /// What its place tells.
    pub hint: FormatHint,
    /// How it is opened, if it was not named itself but walked upon.
    pub(crate) place: Option<RootedPath>,
    /// The file itself, if it is small and was opened already.
    pub(crate) preopened: Option<Arc<Ahead>>,
}

impl WalkedFile {
    /// The file of this name, of which nothing is known. It is opened by its name, through links or not.
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
}

/// What the walk came upon.
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
    /// Standard input.
    Stdin,
    /// Something that is not read.
    Skipped {
        /// What it is.
        source: Source,
        /// Why it is not read.
        reason: SkipReason,
    },
    /// A file or folder that could not be opened or listed.
    Failed(Event),
}

/// Whether symbolic links inside the roots are followed. A root itself always is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SymlinkPolicy {
    /// They are left (the default).
    #[default]
    Skip,
    /// Those that lead to something beneath their root are followed, none twice on one path.
    Follow,
}

/// Walks over the roots, one after the other.
///
/// Below a root, names are compared byte by byte, component by component. Holds the names of the folders on the
/// path to the current file.
pub fn walk<'w>(
    roots: &'w [PathBuf],
    filter: &'w PathFilter,
    links: SymlinkPolicy,
) -> impl Iterator<Item = WalkStep> + 'w {
    walked(roots, filter, links, Then::Told)
}

/// The same for one who reads them all: small ones are open already, as many as may be.
pub(crate) fn walk_and_open<'w>(
    roots: &'w [PathBuf],
    filter: &'w PathFilter,
    links: SymlinkPolicy,
) -> impl Iterator<Item = WalkStep> + 'w {
    walked(roots, filter, links, Then::Read(Room::new()))
}

/// What becomes of the files that are come upon.
#[derive(Clone, Copy)]
enum Then {
    Told,
    Read(Room),
}

fn walked<'w>(
    roots: &'w [PathBuf],
    filter: &'w PathFilter,
    links: SymlinkPolicy,
    then: Then,
) -> impl Iterator<Item = WalkStep> + 'w {
    let mut seen = HashSet::new();
    let below = move |root| Below { root, filter, then }.walked(links);
    roots
        .iter()
        .map(PathBuf::as_path)
        .flat_map(below)
        .map(move |step| match step {
            Walked::Step(step) => step,
            Walked::Linked(file, identity) if seen.insert(identity) => WalkStep::File(file),
            Walked::Linked(file, _) => WalkStep::Skipped {
                source: file.source,
                reason: SkipReason::HardLink,
            },
        })
}

/// The steps that items ask for, in their order. An item that is all of its file is the file.
pub fn walk_items(items: &[FileRange]) -> impl Iterator<Item = WalkStep> + '_ {
    items.iter().map(|item| {
        let path = &item.source.path;
        match path.metadata() {
            Err(error) => WalkStep::Failed(
                Diagnostic::new(DiagnosticKind::Unreadable, error.to_string()).of(&item.source),
            ),
            Ok(metadata) if !metadata.is_file() => WalkStep::Skipped {
                source: item.source.clone(),
                reason: SkipReason::NotRegular,
            },
            Ok(metadata) => {
                let (size, hint) = (metadata.len(), hint(path));
                let file = WalkedFile {
                    source: item.source.clone(),
                    size,
                    hint,
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
        }
    })
}

/// A folder, which lies in `root`, and all folders in it that a walk without links would look into, each behind the one
/// it lies in and before it is listed. Looks at no file, so that it takes no longer than listing does.
pub fn list_folders(root: &Path, folder: &Path) -> impl Iterator<Item = PathBuf> {
    tree::Folders::new(root, folder)
}

/// Whether there is a folder at `path`, which lies in `root`, that is reached without links.
#[must_use]
pub fn is_folder(root: &Path, path: &Path) -> bool {
    let way = path.strip_prefix(root).unwrap_or(Path::new(""));
    // The root itself may be a link: the user has named it.
    let mut inside = path.ancestors().take(way.components().count());
    path.is_dir()
        && inside.all(|up| {
            up.symlink_metadata()
                .is_ok_and(|metadata| metadata.is_dir())
        })
}

/// The file at `path`, if a walk of `root` that follows no links would come upon it. `path` lies beneath `root`.
#[must_use]
pub fn find_beneath(root: &Path, path: &Path) -> Option<WalkedFile> {
    let metadata = path
        .symlink_metadata()
        .ok()
        .filter(std::fs::Metadata::is_file)?;
    let inside = path.ancestors().take_while(|up| *up != root);
    let in_tmp = inside
        .skip(1)
        .any(|up| up.file_name() == Some("tmp".as_ref()) && is_maildir(up.parent()));
    let kept_back = path != root && path.file_name().is_none_or(path_filter::is_control_file);
    let place = path
        .strip_prefix(root)
        .ok()
        .filter(|way| !way.as_os_str().is_empty());
    let place = place.map(|way| RootedPath::root(root).join(way.as_os_str()));
    let (source, size) = (Source::at(path.to_owned()), metadata.len());
    let file = || WalkedFile {
        source,
        size,
        hint: hint(path),
        place,
        preopened: None,
    };
    (!in_tmp && !kept_back).then(file)
}

impl WalkedFile {
    /// Whether it was walked upon, and its root is open while it waits.
    pub(crate) fn is_in_root(&self) -> bool {
        self.place.is_some()
    }

    /// Whether it was walked upon in another root than `other` was.
    pub(crate) fn is_in_another_root(&self, other: &WalkedFile) -> bool {
        self.place
            .as_ref()
            .zip(other.place.as_ref())
            .is_some_and(|(one, other)| !one.shares_root(other))
    }
}

/// A step, or a file of a news spool that has several names: it is read under the first.
enum Walked {
    Step(WalkStep),
    Linked(WalkedFile, (u64, u64)),
}

/// A root that is walked, and what is wanted beneath it.
#[derive(Clone, Copy)]
struct Below<'w> {
    root: &'w Path,
    filter: &'w PathFilter,
    then: Then,
}

impl<'w> Below<'w> {
    fn walked(self, links: SymlinkPolicy) -> Box<dyn Iterator<Item = Walked> + 'w> {
        if self.root.as_os_str() == Source::STDIN {
            return Box::new(std::iter::once(Walked::Step(WalkStep::Stdin)));
        }
        Box::new(Tree::new(self.root, links).map(move |found| self.step(found)))
    }

    fn step(self, found: Found) -> Walked {
        let skip = |path, reason| {
            Walked::Step(WalkStep::Skipped {
                source: Source::at(path),
                reason,
            })
        };
        match found {
            Found::File(path, place, folder) => self.file(path, place, folder.as_deref()),
            Found::Link(path) => skip(path, SkipReason::Symlink),
            Found::Other(path) => skip(path, SkipReason::NotRegular),
            Found::Failed(path, trouble) => Walked::Step(WalkStep::Failed(failed(path, &trouble))),
        }
    }

    fn file(self, path: PathBuf, place: Option<RootedPath>, folder: Option<&OwnedFd>) -> Walked {
        let skip = |path, reason| {
            Walked::Step(WalkStep::Skipped {
                source: Source::at(path),
                reason,
            })
        };
        let named = place.is_none();
        if !named && path.file_name().is_some_and(path_filter::is_control_file) {
            return skip(path, SkipReason::ControlFile);
        }
        let relative = || path.strip_prefix(self.root).unwrap_or(&path);
        if !self.filter.wants_all() && !self.filter.wants(if named { &path } else { relative() }) {
            return skip(path, SkipReason::Filtered);
        }
        let (ahead, near) = self.near(folder, &path);
        let stat = match near.map_or_else(|| stat(&path), Ok) {
            Ok(stat) => stat,
            Err(error) if named => {
                return Walked::Step(WalkStep::Failed(failed(path, &Trouble::Root(error.into()))));
            }
            Err(error) => {
                return Walked::Step(WalkStep::Failed(failed(
                    path,
                    &Trouble::Inside(error.into()),
                )));
            }
        };
        let (size, hint) = (stat.st_size.unsigned_abs(), hint(&path));
        let ahead = ahead.filter(|_| size < SMALL_FILE_BYTES).map(Arc::new);
        let file = WalkedFile {
            source: Source::at(path),
            size,
            hint,
            place,
            preopened: ahead,
        };
        if hint == FormatHint::Numbered && stat.st_nlink > 1 {
            return Walked::Linked(file, (stat.st_dev, stat.st_ino));
        }
        Walked::Step(WalkStep::File(file))
    }

    /// What is there, opened if it is to be read. By its name in the folder is soonest; what fails there fails again by
    /// the whole path, and is said then.
    fn near(self, folder: Option<&OwnedFd>, path: &Path) -> (Option<Ahead>, Option<Stat>) {
        let Some((folder, name)) = folder.zip(path.file_name()) else {
            return (None, None);
        };
        let opened = match self.then {
            Then::Read(room) => room.open(folder, name),
            Then::Told => None,
        };
        match opened {
            Some((ahead, stat)) => (ahead, Some(stat)),
            None => (None, statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()),
        }
    }
}

/// What a file's name and folder tell of it.
fn hint(path: &Path) -> FormatHint {
    // Names are taken out of paths slowly, and there are many files.
    let may_be_maildir = |folder: &&Path| {
        [b"cur", b"new"]
            .iter()
            .any(|end| folder.as_os_str().as_bytes().ends_with(*end))
    };
    let folder = path
        .parent()
        .filter(may_be_maildir)
        .and_then(Path::file_name);
    let is_numbered = path
        .file_name()
        .is_some_and(|name| name.as_encoded_bytes().iter().all(u8::is_ascii_digit));
    match folder {
        Some(folder)
            if (folder == "cur" || folder == "new")
                && is_maildir(path.parent().and_then(Path::parent)) =>
        {
            FormatHint::Maildir
        }
        _ if is_numbered => FormatHint::Numbered,
        _ if is_timehash(path) => FormatHint::Timehash,
        _ => FormatHint::None,
    }
}

/// What a member's name in an archive tells of it, or why it is skipped. Of the folders around it nothing is
/// known, so that a Maildir shows by the shape of its files' names as well (maildir(5): moment, process and host).
pub(crate) fn member_hint(name: &[u8]) -> Result<FormatHint, SkipReason> {
    let mut components = name.rsplit(|&byte| byte == b'/');
    let file = components.next().unwrap_or_default();
    let folder = components.next().unwrap_or_default();
    let is_unique = file.first().is_some_and(u8::is_ascii_digit)
        && file.split(|&byte| byte == b'.').count() > 2;
    if path_filter::is_control_file(OsStr::from_bytes(file)) {
        return Err(SkipReason::ControlFile);
    }
    match folder {
        b"tmp" if is_unique => Err(SkipReason::MaildirTmp),
        b"cur" | b"new" if is_unique => Ok(FormatHint::Maildir),
        _ if !file.is_empty() && file.iter().all(u8::is_ascii_digit) => Ok(FormatHint::Numbered),
        _ if is_timehash(Path::new(OsStr::from_bytes(name))) => Ok(FormatHint::Timehash),
        _ => Ok(FormatHint::None),
    }
}

/// Whether a path ends as INN's timehash method names articles: `time-01/00/86/0000-6be1`, all in hexadecimal digits.
fn is_timehash(path: &Path) -> bool {
    let mut names = path.iter().rev().map(OsStr::as_encoded_bytes);
    let mut is = |pattern: &[u8]| {
        names.next().is_some_and(|name| {
            let same = |(&octet, &mark): (&u8, &u8)| {
                if mark == b'?' {
                    octet.is_ascii_hexdigit()
                } else {
                    octet == mark
                }
            };
            name.len() == pattern.len() && name.iter().zip(pattern).all(same)
        })
    };
    is(b"????-????") && is(b"??") && is(b"??") && is(b"time-??")
}

fn is_maildir(folder: Option<&Path>) -> bool {
    folder.is_some_and(|folder| folder.join("cur").is_dir() && folder.join("new").is_dir())
}

fn failed(path: PathBuf, trouble: &Trouble) -> Event {
    let (kind, message) = match trouble {
        Trouble::LeadsBackTo(above) => (
            DiagnosticKind::Unreadable,
            format!("leads back to {}", above.display()),
        ),
        // A path that was named must be there; one that was walked upon may go away.
        Trouble::Inside(error) if error.kind() == std::io::ErrorKind::NotFound => {
            (DiagnosticKind::Vanished, error.to_string())
        }
        Trouble::Root(error) | Trouble::Inside(error) => {
            (DiagnosticKind::Unreadable, error.to_string())
        }
    };
    Diagnostic::new(kind, message).of(&Source::at(path))
}
