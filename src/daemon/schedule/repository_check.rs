//! Check of a git repository, which is followed as a whole: its last commit is its version.

use std::path::Path;
use std::sync::Arc;

use super::file_check::CheckedFile;
use super::reader::{InodeVersion, ReaderHost, SpoolReader};
use crate::daemon::DaemonError;
use crate::daemon::ingest::{FileStanding, FileVersion};
use crate::diagnostic::{Diagnostic, DiagnosticKind, SkipReason};
use crate::origin::{FormatHint, Source};
use crate::read::{GitHost, Repository, RepositoryContent};
use crate::walk::WalkedFile;

/// Result of a check of a repository.
pub(super) struct CheckedRepository {
    pub(super) file: WalkedFile,
    /// The version of the repository, or of its folder if it could not be read.
    pub(super) version: FileVersion,
    pub(super) standing: FileStanding,
}

impl SpoolReader {
    /// Ingests the messages of new commits. Returns `None` if it is not the repository of a mailing
    /// list, or has disappeared.
    pub(super) fn check_repository(
        &mut self,
        spool: usize,
        path: &Path,
        host: &mut dyn ReaderHost,
    ) -> Result<Option<CheckedRepository>, DaemonError> {
        let source = Source::at(path.to_owned());
        let Ok(metadata) = path.metadata() else {
            self.check_missing(spool, path, host);
            return Ok(None);
        };
        let (folder, inode_version) = (FileVersion::of(&metadata), InodeVersion::of(&metadata));
        let file = WalkedFile {
            source: source.clone(),
            size: 1,
            hint: FormatHint::None,
            place: None,
            preopened: None,
        };
        let unread = |file| {
            Ok(Some(CheckedRepository {
                file,
                version: folder,
                standing: FileStanding::Unread(None),
            }))
        };
        if !self.failures.may_read(path, inode_version, host.now()) {
            return unread(file);
        }
        let repository = match Repository::open(path, &self.git_host()) {
            Ok(RepositoryContent::Mail(repository)) => repository,
            Ok(RepositoryContent::Skipped(reason)) => {
                self.report_skipped(&source, reason, host);
                return Ok(None);
            }
            Err(error) => {
                self.record_failure(spool, &source, inode_version, &error, host);
                return unread(file);
            }
        };
        let checked = CheckedFile {
            file: &file,
            spool,
            version: folder.of_repository(repository.tip()),
            inode_version,
            repository: Some(&repository),
        };
        let version = checked.version;
        let standing = self.check_opened(&checked, host)?;
        Ok(Some(CheckedRepository {
            file,
            version,
            standing,
        }))
    }

    /// The last commit of the repository at `path`, and the version of the repository.
    pub(super) fn repository_version(&self, path: &Path) -> Option<(FileVersion, String)> {
        let folder = FileVersion::of(&path.metadata().ok()?);
        match Repository::open(path, &self.git_host()) {
            Ok(RepositoryContent::Mail(repository)) => {
                let tip = repository.tip().to_owned();
                Some((folder.of_repository(&tip), tip))
            }
            _ => None,
        }
    }

    fn git_host(&self) -> GitHost {
        let heartbeat = self.heartbeat();
        let git = self.shared.git.clone();
        git.with_beat(Arc::new(move || heartbeat.beat()))
    }

    /// Reports a repository that is not read, once.
    fn report_skipped(&mut self, source: &Source, reason: SkipReason, host: &mut dyn ReaderHost) {
        if reason == SkipReason::Empty || self.is_noted_output(&source.path.join("HEAD")) {
            return;
        }
        let text = format!("skipped: {}", reason.name());
        let diagnostic = Diagnostic::new(DiagnosticKind::Skip, text);
        self.report(&diagnostic.of(source), host);
    }
}
