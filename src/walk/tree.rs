//! A root and everything beneath it, in a fixed order.
//!
//! Each folder is opened once, by the way that leads to it from the root, and closed before any folder in it is opened: the
//! depth of a tree costs no open files, and a folder that is swapped for a link meanwhile leads nowhere.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::vec;

use rustix::fs::{AtFlags, Dir, FileType, OFlags, fstat, statat};
use rustix::io::Errno;

use super::rooted_path::{RootedPath, joined};
use super::{SymlinkPolicy, is_maildir};

/// What is come upon that is no folder.
pub(super) enum Found {
    /// A regular file, and the folder that it lies in, if that is open. One that was named by the user is opened by its
    /// name.
    File(PathBuf, Option<RootedPath>, Option<Arc<OwnedFd>>),
    /// A symbolic link that is not followed.
    Link(PathBuf),
    /// A device or the like.
    Other(PathBuf),
    /// A folder, or the root, that cannot be looked into.
    Failed(PathBuf, Trouble),
}

/// Why something cannot be looked into.
pub(super) enum Trouble {
    /// The root, and what the system says.
    Root(io::Error),
    /// Something beneath it.
    Inside(io::Error),
    /// It is one of the folders that it lies in.
    LeadsBackTo(PathBuf),
}

/// Goes through a root.
pub(super) struct Tree<'t> {
    root: &'t Path,
    /// The root without links, where they are followed.
    real_root: Option<PathBuf>,
    /// The same place for all that is found in it: it is opened once.
    place: RootedPath,
    /// The folders on the way to where it is, from the root.
    levels: Vec<Level>,
    begun: bool,
}

/// A folder that is gone through.
struct Level {
    path: PathBuf,
    place: RootedPath,
    /// Its device and inode.
    identity: (u64, u64),
    /// The names in it that are left, in order.
    names: vec::IntoIter<(OsString, FileType)>,
    /// The folder itself, while nothing in it was gone into: the files in it are soonest looked at from there.
    folder: Option<Arc<OwnedFd>>,
}

impl<'t> Tree<'t> {
    pub(super) fn new(root: &'t Path, links: SymlinkPolicy) -> Tree<'t> {
        let real_root = (links == SymlinkPolicy::Follow)
            .then(|| root.canonicalize().ok())
            .flatten();
        let place = RootedPath::root(real_root.as_deref().unwrap_or(root));
        Tree {
            root,
            real_root,
            place,
            levels: Vec::new(),
            begun: false,
        }
    }

    /// The root itself, if that is all there is.
    fn begin(&mut self) -> Option<Found> {
        let path = self.root.to_owned();
        match self.root.metadata() {
            Err(error) => Some(Found::Failed(path, Trouble::Root(error))),
            Ok(metadata) if metadata.is_dir() => {
                self.enter(path, self.place.clone())
                    .map(|found| match found {
                        Found::Failed(path, Trouble::Inside(error)) => {
                            Found::Failed(path, Trouble::Root(error))
                        }
                        found => found,
                    })
            }
            Ok(metadata) => Some(plain(path, &metadata, None)),
        }
    }

    /// Goes into a folder. Something is found if that cannot be done.
    fn enter(&mut self, path: PathBuf, place: RootedPath) -> Option<Found> {
        if let Some(above) = self.levels.last_mut() {
            above.folder = None;
        }
        match Listing::of(&place, |_| true) {
            Ok(Listing {
                folder,
                identity,
                names,
            }) => {
                if let Some(above) = self.levels.iter().find(|level| level.identity == identity) {
                    let above = above.path.clone();
                    return Some(Found::Failed(path, Trouble::LeadsBackTo(above)));
                }
                self.levels.push(Level {
                    path,
                    place,
                    identity,
                    names: names.into_iter(),
                    folder: Some(Arc::new(folder)),
                });
                None
            }
            Err(error) => Some(Found::Failed(path, Trouble::Inside(error))),
        }
    }

    /// What a name in the innermost folder is; nothing if it is a folder that is gone into, or left without a word.
    fn look(&mut self, name: &OsStr, kind: FileType) -> Option<Found> {
        let level = self.levels.last()?;
        let path = joined(&level.path, name);
        let place = level.place.join(name);
        if kind.is_dir() {
            return if is_left(&level.path, name) {
                None
            } else {
                self.enter(path, place)
            };
        }
        if kind.is_symlink() {
            return self.link(path);
        }
        if !kind.is_file() {
            return Some(Found::Other(path));
        }
        Some(Found::File(path, Some(place), level.folder.clone()))
    }

    /// What a link leads to, if it is followed and that lies beneath the root.
    fn link(&mut self, path: PathBuf) -> Option<Found> {
        let target = self.real_root.as_ref().and_then(|root| {
            let real = path.canonicalize().ok()?;
            let way = real.strip_prefix(root).ok()?;
            Some((real.metadata().ok()?, self.place.join(way.as_os_str())))
        });
        match target {
            None => Some(Found::Link(path)),
            Some((metadata, place)) if metadata.is_dir() => self.enter(path, place),
            Some((metadata, place)) => Some(plain(path, &metadata, Some(place))),
        }
    }
}

/// What a folder holds.
struct Listing {
    folder: OwnedFd,
    /// Its device and inode.
    identity: (u64, u64),
    /// The names in it, in order.
    names: Vec<(OsString, FileType)>,
}

impl Listing {
    /// What is listed is what was opened, and nothing in it is opened to be listed: walkdir would open each folder in it by
    /// its name, which may be a link's by then.
    fn of(place: &RootedPath, is_wanted: impl Fn(FileType) -> bool) -> io::Result<Listing> {
        let folder = place.open(OFlags::DIRECTORY)?;
        let stat = fstat(&folder)?;
        let mut names = Vec::new();
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not tell. What has gone meanwhile is no longer there.
                FileType::Unknown => {
                    match statat(&folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
                        Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                        Err(Errno::NOENT) => continue,
                        Err(error) => return Err(error.into()),
                    }
                }
                kind => kind,
            };
            if is_wanted(kind) {
                names.push((OsString::from_vec(name.to_vec()), kind));
            }
        }
        names.sort_by(|one, other| one.0.as_bytes().cmp(other.0.as_bytes()));
        Ok(Listing {
            folder,
            identity: (stat.st_dev, stat.st_ino),
            names,
        })
    }
}

/// A folder and the folders in it, each behind the one it lies in. What cannot be looked into is given, and nothing in it.
///
/// Each is listed when the next is asked for: who watches what is given hears of all that is not listed.
pub(super) struct Folders {
    /// What was given last.
    given: Option<(PathBuf, RootedPath)>,
    left: Vec<(PathBuf, RootedPath)>,
    seen: HashSet<(u64, u64)>,
}

impl Folders {
    /// Those in `folder`, which lies in `root`.
    pub(super) fn new(root: &Path, folder: &Path) -> Folders {
        let place = RootedPath::root(root).join(
            folder
                .strip_prefix(root)
                .unwrap_or(Path::new(""))
                .as_os_str(),
        );
        Folders {
            given: None,
            left: vec![(folder.to_owned(), place)],
            seen: HashSet::new(),
        }
    }

    fn list(&mut self, path: &Path, place: &RootedPath) {
        let Ok(Listing {
            identity, names, ..
        }) = Listing::of(place, |kind| kind == FileType::Directory)
        else {
            return;
        };
        // One that is mounted in itself is the same again.
        if self.seen.insert(identity) {
            let names = names.into_iter().filter(|(name, _)| !is_left(path, name));
            self.left
                .extend(names.map(|(name, _)| (path.join(&name), place.join(&name))));
        }
    }
}

impl Iterator for Folders {
    type Item = PathBuf;

    fn next(&mut self) -> Option<PathBuf> {
        if let Some((path, place)) = self.given.take() {
            self.list(&path, &place);
        }
        self.given = self.left.pop();
        self.given.as_ref().map(|(path, _)| path.clone())
    }
}

/// Whether a folder is gone by: messages in `tmp` are not complete (maildir(5)).
fn is_left(above: &Path, name: &OsStr) -> bool {
    name == "tmp" && is_maildir(Some(above))
}

/// Something that is no folder.
fn plain(path: PathBuf, metadata: &Metadata, place: Option<RootedPath>) -> Found {
    if metadata.is_file() {
        Found::File(path, place, None)
    } else {
        Found::Other(path)
    }
}

impl Iterator for Tree<'_> {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        if !std::mem::replace(&mut self.begun, true)
            && let Some(found) = self.begin()
        {
            return Some(found);
        }
        loop {
            let Some((name, kind)) = self.levels.last_mut()?.names.next() else {
                self.levels.pop();
                continue;
            };
            if let Some(found) = self.look(&name, kind) {
                return Some(found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::create_dir_all;

    use super::*;

    #[test]
    fn a_folder_is_listed_when_the_next_is_asked_for() {
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
