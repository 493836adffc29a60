//! Folders of a tree.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use super::format_hint::is_maildir_tmp;
use super::listing::{FolderEntry, Listing};
use super::rooted_path::RootedPath;

/// Iterator over a folder and the folders in it, each after the folder that contains it. A folder that cannot be listed is returned,
/// but none in it.
///
/// A folder is listed when the next one is requested: a caller who watches each folder before that misses nothing.
pub(super) struct Folders {
    /// The folder that was returned last.
    last: Option<FolderPlace>,
    /// Folders to return.
    pending: Vec<FolderPlace>,
    /// Devices and inodes of the folders listed so far.
    seen: HashSet<(u64, u64)>,
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
        for FolderEntry { name, .. } in entries {
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
