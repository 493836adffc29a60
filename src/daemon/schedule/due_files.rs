//! Files that are due for a check: changed, settled, or to be retried after a failure.

use std::path::{Path, PathBuf};

use super::reader::{ReaderHost, SpoolReader, UnsettledFile};
use super::retries::SpoolFile;
use crate::daemon::error::DaemonError;
use crate::walk;

impl SpoolReader {
    /// Checks the files of which a change was reported.
    pub(super) fn check_changed_files(
        &mut self,
        host: &mut dyn ReaderHost,
    ) -> Result<(), DaemonError> {
        while let Some(path) = self.changed.pop_first() {
            let Some(spool) = self.spool_of(&path) else {
                continue;
            };
            self.check_changed(spool, &path, host)?;
            self.between_files(host)?;
            if self.stopping {
                break;
            }
        }
        Ok(())
    }

    /// Checks the files that have not changed for the settle time.
    pub(super) fn check_settled_files(
        &mut self,
        host: &mut dyn ReaderHost,
    ) -> Result<(), DaemonError> {
        let now = host.now();
        let due = |(path, file): (&PathBuf, &UnsettledFile)| {
            (file.due <= now).then(|| SpoolFile {
                path: path.clone(),
                spool: file.spool,
            })
        };
        let mut settled: Vec<SpoolFile> = self.unsettled.iter().filter_map(due).collect();
        // In the order of a walk, so that the same files give the same segments.
        settled.sort_unstable();
        self.check_files(settled, host)
    }

    /// Retries the files that could not be read and whose wait is over.
    pub(super) fn retry_failed_files(
        &mut self,
        host: &mut dyn ReaderHost,
    ) -> Result<(), DaemonError> {
        let failed = self.failures.due(host.now());
        self.check_files(failed, host)
    }

    fn check_changed(
        &mut self,
        spool: usize,
        path: &Path,
        host: &mut dyn ReaderHost,
    ) -> Result<(), DaemonError> {
        let root = self.spools[spool].spool.path.clone();
        if let Some(file) = walk::find_beneath(&root, path) {
            self.check_file(spool, &file, host)?;
            return Ok(());
        }
        if walk::is_folder(&root, path) {
            // A folder is new, or an entry of it is gone. The scan finds out which.
            host.folder_appeared(&root, path);
            let watched = &mut self.spools[spool];
            watched.mark(host.now());
            watched.unstable_scans = watched.unstable_scans.max(1);
        } else {
            self.check_missing(spool, path, host);
        }
        Ok(())
    }

    fn check_files(
        &mut self,
        files: Vec<SpoolFile>,
        host: &mut dyn ReaderHost,
    ) -> Result<(), DaemonError> {
        for SpoolFile { path, spool } in files {
            if self.stopping {
                return Ok(());
            }
            let root = self.spools[spool].spool.path.clone();
            match walk::find_beneath(&root, &path) {
                Some(file) => {
                    self.check_file(spool, &file, host)?;
                }
                None => self.check_missing(spool, &path, host),
            }
            self.between_files(host)?;
        }
        Ok(())
    }

    /// Returns the spool that contains a path; of several the innermost.
    fn spool_of(&self, path: &Path) -> Option<usize> {
        let contains = |(index, root): (usize, &Path)| {
            path.starts_with(root)
                .then_some((root.components().count(), index))
        };
        let roots = self
            .spools
            .iter()
            .map(|watched| watched.spool.path.as_path());
        roots
            .enumerate()
            .filter_map(contains)
            .max()
            .map(|(_, index)| index)
    }
}
