//! Opens paths in a root and never anything outside it, even if folders on the path are replaced at
//! the same time. Two names with the same identity refer to one file.
//!
//! Lists folders, ordered by name. Opens small files while their folder is open, which saves their
//! reader from resolving the path again.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, open, openat, statat};
#[cfg(target_os = "linux")]
use rustix::fs::{ResolveFlags, openat2};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::process::{Resource, getrlimit};
use rustix::stdio::stderr;

use urlspool_text::limits::{BATCH_ROOTS, PREOPENED_FILES, RESERVED_DESCRIPTORS};

/// Flags for opening a folder in order to open an entry of it. Except on Linux, this requires read
/// permission for the folder.
#[cfg(target_os = "linux")]
const FOLDER_FLAGS: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FOLDER_FLAGS: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// A path in a root, opened without following symbolic links.
#[derive(Clone, Debug)]
pub struct RootedPath {
    root: Arc<Root>,
    relative: PathBuf,
}

/// A root folder. It is opened once, with the first path in it.
#[derive(Debug)]
struct Root {
    path: PathBuf,
    opened: OnceLock<OwnedFd>,
}

impl Root {
    fn open(&self) -> io::Result<&OwnedFd> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let opened = open(&*self.path, FOLDER_FLAGS, Mode::empty())?;
        // If another thread was faster, its descriptor is used.
        Ok(self.opened.get_or_init(|| opened))
    }
}

/// Joins a folder path and a name with one allocation; `Path::join` makes two.
pub(super) fn joined(folder: &Path, name: &OsStr) -> PathBuf {
    let mut path = PathBuf::with_capacity(folder.as_os_str().len() + 1 + name.len());
    path.push(folder);
    path.push(name);
    path
}

impl RootedPath {
    /// Creates the path of the root itself.
    pub(super) fn root(root: &Path) -> RootedPath {
        let root = Root {
            path: root.to_owned(),
            opened: OnceLock::new(),
        };
        RootedPath {
            root: Arc::new(root),
            relative: PathBuf::from("."),
        }
    }

    /// Returns the path of `name` in this folder.
    pub(super) fn join(&self, name: &OsStr) -> RootedPath {
        RootedPath {
            root: Arc::clone(&self.root),
            relative: joined(&self.relative, name),
        }
    }

    /// Returns `true` if both share one root, which is opened only once.
    pub(super) fn shares_root(&self, other: &RootedPath) -> bool {
        Arc::ptr_eq(&self.root, &other.root)
    }

    /// Opens the path for reading.
    ///
    /// # Errors
    ///
    /// The error of the system; `ELOOP` if a component of the path has become a link.
    pub fn open(&self, flags: OFlags) -> io::Result<OwnedFd> {
        let flags = flags | OFlags::RDONLY | OFlags::CLOEXEC;
        Ok(self.open_beneath(self.root.open()?, flags)?)
    }

    #[cfg(target_os = "linux")]
    fn open_beneath(&self, root: &OwnedFd, flags: OFlags) -> Result<OwnedFd, Errno> {
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match openat2(root, &self.relative, flags, Mode::empty(), resolve) {
            // Linux before 5.6, and seccomp filters that do not know the call.
            Err(Errno::NOSYS | Errno::PERM) => self.step_by_step(root, flags),
            opened => opened,
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn open_beneath(&self, root: &OwnedFd, flags: OFlags) -> Result<OwnedFd, Errno> {
        self.step_by_step(root, flags)
    }

    /// Opens the path component by component and refuses links. Equivalent to `openat2`, with one
    /// call per component.
    fn step_by_step(&self, root: &OwnedFd, flags: OFlags) -> Result<OwnedFd, Errno> {
        let mut names = self.relative.iter().peekable();
        let mut folder = None;
        while let Some(name) = names.next() {
            if name == ".." {
                return Err(Errno::XDEV);
            }
            let is_last = names.peek().is_none();
            let flags = if is_last { flags } else { FOLDER_FLAGS };
            let opened = openat(
                folder.as_ref().unwrap_or(root),
                name,
                flags | OFlags::NOFOLLOW,
                Mode::empty(),
            )?;
            if is_last {
                return Ok(opened);
            }
            folder = Some(opened);
        }
        Err(Errno::NOENT)
    }
}

/// Device and inode of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceInode {
    device: u64,
    inode: u64,
}

impl DeviceInode {
    /// Returns the identity of the file with this metadata.
    #[must_use]
    pub fn of(metadata: &Metadata) -> DeviceInode {
        DeviceInode {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }

    /// Returns the identity of the file with this status.
    #[must_use]
    pub fn of_stat(stat: &Stat) -> DeviceInode {
        DeviceInode {
            #[cfg(target_os = "linux")]
            device: stat.st_dev,
            // Converted as in std.
            #[cfg(not(target_os = "linux"))]
            device: stat.st_dev as u64,
            inode: stat.st_ino,
        }
    }
}

pub(super) struct FolderEntry {
    pub(super) name: OsString,
    /// Type of the entry; links are not followed.
    pub(super) file_type: FileType,
}

/// Content of a folder.
pub(super) struct Listing {
    pub(super) folder: OwnedFd,
    /// Device and inode of the folder.
    pub(super) inode: DeviceInode,
    /// Entries, ordered by name.
    pub(super) entries: Vec<FolderEntry>,
}

impl Listing {
    /// Lists the entries of the folder at `place` whose type is wanted. The folder is opened
    /// relative to its root.
    pub(super) fn of(
        place: &RootedPath,
        is_wanted: impl Fn(FileType) -> bool,
    ) -> io::Result<Listing> {
        let folder = place.open(OFlags::DIRECTORY)?;
        let stat = fstat(&folder)?;
        let mut entries = Vec::new();
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let file_type = match entry.file_type() {
                // Some file systems do not return the type. An entry that has vanished since is
                // omitted.
                FileType::Unknown => {
                    match statat(&folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
                        Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                        Err(Errno::NOENT) => continue,
                        Err(error) => return Err(error.into()),
                    }
                }
                file_type => file_type,
            };
            if is_wanted(file_type) {
                entries.push(FolderEntry {
                    name: OsString::from_vec(name.to_vec()),
                    file_type,
                });
            }
        }
        entries.sort_by(|one, other| one.name.as_bytes().cmp(other.name.as_bytes()));
        Ok(Listing {
            folder,
            inode: DeviceInode::of_stat(&stat),
            entries,
        })
    }
}

/// Returns the limit on files that are opened before they are read. It limits their descriptors to
/// half of those that the process may have and does not need otherwise. The system assigns the
/// lowest free descriptor, so all other open files count too.
pub(super) fn descriptor_limit() -> RawFd {
    let allowed = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let half = allowed.saturating_sub(RESERVED_DESCRIPTORS) / 2;
    let half = RawFd::try_from(half).unwrap_or(RawFd::MAX);
    half.min(PREOPENED_FILES)
}

/// Examines the regular file `name` in a folder, and also returns it open if its descriptor is
/// below `limit`. Returns `None` if that fails, if it is not a regular file, or if `limit` is 0. In
/// these cases the caller uses the whole path and reports errors of that.
pub(super) fn open_small(
    folder: &OwnedFd,
    name: &OsStr,
    limit: RawFd,
) -> Option<(Stat, Option<File>)> {
    if limit == 0 {
        return None;
    }
    // Do not block if the file has become a FIFO since the folder was listed.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = openat(folder, name, flags, Mode::empty()).ok()?;
    let stat = fstat(&opened).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let preopened = (opened.as_raw_fd() < limit).then(|| File::from(opened));
    Some((stat, preopened))
}

/// Returns the maximum number of distinct roots per batch, with `batches` in flight. Each root
/// holds one directory descriptor open.
#[must_use]
pub fn max_roots_per_batch(batches: usize) -> usize {
    let descriptors = usize::try_from(descriptor_limit()).unwrap_or(0);
    (descriptors / batches.max(1)).clamp(1, BATCH_ROOTS)
}

/// Makes the system grow its table of open files for `files` more in one step. This must happen
/// before threads are started: with threads, each growth waits for all processors.
pub fn reserve_descriptors(files: usize) {
    let files = RawFd::try_from(files)
        .unwrap_or(RawFd::MAX)
        .min(descriptor_limit());
    // The descriptor is closed again immediately.
    let _ = fcntl_dupfd_cloexec(stderr(), files);
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, mkfifoat};

    use super::*;

    #[test]
    fn step_by_step_opens_the_same_files_as_openat2() {
        let folder = std::env::temp_dir().join(format!("urlspool-beneath-{}", std::process::id()));
        fs::create_dir_all(folder.join("root/a/b")).unwrap();
        fs::create_dir_all(folder.join("outside")).unwrap();
        for file in ["root/file", "root/a/b/file", "outside/file"] {
            fs::write(folder.join(file), file).unwrap();
        }
        for (target, link) in [
            ("a", "inside"),
            ("../outside", "out"),
            ("file", "link"),
            ("a/b/file", "far"),
        ] {
            symlink(target, folder.join("root").join(link)).unwrap();
        }
        let root = RootedPath::root(&folder.join("root"));
        let paths = [
            ("", true),
            ("file", true),
            ("a", true),
            ("a/b", true),
            ("a/b/file", true),
            ("none", false),
            ("file/file", false),
            ("inside/b/file", false),
            ("out", false),
            ("out/file", false),
            ("link", false),
            ("far", false),
            ("../outside/file", false),
            ("a/../../outside/file", false),
        ];
        for (path, exists) in paths {
            let place = root.join(OsStr::new(path));
            let inode = |opened| fstat(opened).unwrap().st_ino;
            let one_call = place.open(OFlags::empty()).map(inode);
            let steps = place
                .step_by_step(root.root.open().unwrap(), OFlags::RDONLY | OFlags::CLOEXEC)
                .map(inode);
            assert_eq!(
                (one_call.is_ok(), steps.is_ok()),
                (exists, exists),
                "{path}"
            );
            assert_eq!(one_call.ok(), steps.ok(), "{path}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn only_regular_files_are_opened() {
        let folder = std::env::temp_dir().join(format!("urlspool-ahead-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("folder")).unwrap();
        fs::write(folder.join("file"), "five.").unwrap();
        symlink("file", folder.join("link")).unwrap();
        mkfifoat(CWD, folder.join("fifo"), Mode::from(0o600)).unwrap();
        let opened = open(&folder, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
        let open = |name, limit| open_small(&opened, OsStr::new(name), limit);
        let (stat, file) = open("file", RawFd::MAX).expect("it exists");
        assert_eq!(
            (file.unwrap().metadata().unwrap().len(), stat.st_size),
            (5, 5)
        );
        for name in ["folder", "link", "fifo", "none"] {
            assert!(open(name, RawFd::MAX).is_none(), "{name}");
        }
        // Standard input, output and error have the descriptors 0 to 2.
        let (stat, file) = open("file", 3).expect("it exists");
        assert!(file.is_none() && stat.st_size == 5);
        assert!(open("file", 0).is_none());
        fs::remove_dir_all(&folder).unwrap();
    }
}
