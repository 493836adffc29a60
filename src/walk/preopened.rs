//! Small files that the walk opens while their folder is open, so that their reader need not
//! resolve their path again.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, openat};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Resource, getrlimit};
use rustix::stdio::stderr;

use crate::limits::{BATCH_ROOTS, PREOPENED_FILES, RESERVED_DESCRIPTORS};

/// Open file that was not read yet.
#[derive(Debug)]
pub(crate) struct PreopenedFile(File);

impl PreopenedFile {
    pub(crate) fn file(&self) -> &File {
        &self.0
    }
}

/// Metadata of a file, and the file itself if it was opened.
#[derive(Default)]
pub(super) struct ExaminedFile {
    pub(super) preopened: Option<PreopenedFile>,
    pub(super) stat: Option<Stat>,
}

/// Limit on the files that are open before they are read: those with descriptors below `end`. The
/// system assigns the lowest free descriptor, so that all other open files count as well.
#[derive(Clone, Copy, Debug)]
pub(super) struct DescriptorBudget {
    end: RawFd,
}

impl DescriptorBudget {
    /// No file is opened.
    pub(super) const NONE: DescriptorBudget = DescriptorBudget { end: 0 };

    /// Returns half of the descriptors that the process may have and does not need otherwise.
    pub(super) fn of_process() -> DescriptorBudget {
        let allowed = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let half = allowed.saturating_sub(RESERVED_DESCRIPTORS) / 2;
        DescriptorBudget {
            end: RawFd::try_from(half)
                .unwrap_or(RawFd::MAX)
                .min(PREOPENED_FILES),
        }
    }

    /// Examines the regular file `name` in a folder, and keeps it open if the budget allows. `None`
    /// if that fails, or if it is no regular file; the caller then uses its whole path, and reports
    /// the error of that.
    pub(super) fn open(self, folder: &OwnedFd, name: &OsStr) -> Option<ExaminedFile> {
        if self.end == 0 {
            return None;
        }
        // Without blocking, in case it has become a FIFO since the folder was listed.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(folder, name, flags, Mode::empty()).ok()?;
        let stat = fstat(&opened).ok()?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return None;
        }
        let preopened = (opened.as_raw_fd() < self.end).then(|| PreopenedFile(File::from(opened)));
        Some(ExaminedFile {
            preopened,
            stat: Some(stat),
        })
    }
}

/// Returns the maximum number of distinct roots per batch, with `batches` in flight. Each root
/// holds one directory descriptor open.
pub(crate) fn max_roots_per_batch(batches: usize) -> usize {
    let descriptors = usize::try_from(DescriptorBudget::of_process().end).unwrap_or(0);
    (descriptors / batches.max(1)).clamp(1, BATCH_ROOTS)
}

/// Makes the system enlarge its table of open files for `files` more at once, before there are
/// threads: with threads it waits for all processors each time that the table grows.
pub(crate) fn reserve_descriptors(files: usize) {
    let files = RawFd::try_from(files)
        .unwrap_or(RawFd::MAX)
        .min(DescriptorBudget::of_process().end);
    // The descriptor is closed again at once.
    let _ = fcntl_dupfd_cloexec(stderr(), files);
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, mkfifoat, open};

    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let folder = std::env::temp_dir().join(format!("urlspool-ahead-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("folder")).unwrap();
        fs::write(folder.join("file"), "five.").unwrap();
        symlink("file", folder.join("link")).unwrap();
        mkfifoat(CWD, folder.join("fifo"), Mode::from(0o600)).unwrap();
        let opened = open(&folder, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
        let budget = DescriptorBudget { end: RawFd::MAX };
        let examined = budget.open(&opened, OsStr::new("file")).expect("it exists");
        assert_eq!(
            (
                examined.preopened.unwrap().file().metadata().unwrap().len(),
                examined.stat.unwrap().st_size
            ),
            (5, 5)
        );
        for name in ["folder", "link", "fifo", "none"] {
            assert!(budget.open(&opened, OsStr::new(name)).is_none(), "{name}");
        }
        // Standard input, output and error have the descriptors 0 to 2.
        let examined = DescriptorBudget { end: 3 }
            .open(&opened, OsStr::new("file"))
            .expect("it exists");
        assert!(examined.preopened.is_none() && examined.stat.unwrap().st_size == 5);
        assert!(
            DescriptorBudget::NONE
                .open(&opened, OsStr::new("file"))
                .is_none()
        );
        fs::remove_dir_all(&folder).unwrap();
    }
}
