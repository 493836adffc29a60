//! Daily survey of a spool, made along with a scan: the state of files missing for [`TOMBSTONE_DAYS`] days is purged.

use std::fmt;
use std::io;
use std::sync::Arc;

use super::reader::{ReaderHost, SpoolReader};
use crate::daemon::error::DaemonError;
use crate::daemon::host::LogRecord;
use crate::daemon::ingest::FileVersion;
use crate::daemon::store::{Committer, Hash128, SeenFiles, SpoolIdentity};
use crate::limits::{SURVEYED_FILES, TOMBSTONE_DAYS};
use crate::walk::WalkedFile;

/// The files that exist in a spool, collected during a scan of it.
#[derive(Debug)]
pub(super) struct SpoolSurvey {
    day: u64,
    identity: Arc<SpoolIdentity>,
    /// Number of files.
    files: usize,
    seen: SeenFiles,
    /// Reason for which a file that was not seen may exist; `None` if all were seen.
    gap: Option<SurveyGap>,
}

/// Reason for which a survey is incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SurveyGap {
    /// A folder could not be read.
    UnreadableFolder,
    /// The metadata of a file could not be read.
    UnknownMetadata,
    /// A file could not be read.
    UnreadableFile,
    /// The spool has more files than [`SURVEYED_FILES`].
    TooManyFiles,
}

impl fmt::Display for SurveyGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SurveyGap::UnreadableFolder => f.write_str("some folders cannot be read"),
            SurveyGap::UnknownMetadata => f.write_str("the metadata of some files cannot be read"),
            SurveyGap::UnreadableFile => f.write_str("some files cannot be read"),
            SurveyGap::TooManyFiles => write!(f, "it has more than {SURVEYED_FILES} files"),
        }
    }
}

impl SpoolSurvey {
    /// Adds a file that exists.
    pub(super) fn add(&mut self, file: &WalkedFile) {
        match file.source.path.symlink_metadata() {
            Ok(metadata) => {
                let version = FileVersion::of(&metadata);
                self.seen.devs.insert(version.id.dev);
                let path = &file.source.path;
                let keys = version.presence(path, file.hint, &self.identity);
                self.seen.files.extend(keys);
                self.files += 1;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => self.mark_incomplete(SurveyGap::UnknownMetadata),
        }
        if SURVEYED_FILES < self.files {
            self.mark_incomplete(SurveyGap::TooManyFiles);
            self.seen.files = Vec::new();
        }
    }

    /// Records that files may exist that were not seen, so that nothing is purged.
    pub(super) fn mark_incomplete(&mut self, gap: SurveyGap) {
        self.gap = Some(gap);
    }
}

impl SpoolReader {
    /// Begins the survey that the next scan makes, if one is due today.
    pub(super) fn begin_survey(&self, spool: usize) -> Result<Option<SpoolSurvey>, DaemonError> {
        let committer = &self.shared.committer;
        let (Some(day), Some(session)) =
            (committer.watch_day(), committer.session(&self.heartbeat))
        else {
            return Ok(None);
        };
        let root = &self.spools[spool].spool.path;
        let identity = session.with(|committer| Ok(committer.spool_identity(root)))?;
        let name = survey_day_name(identity.key);
        let last = session.with(|committer| committer.db.meta_value(&name))?;
        if last == Some(day) {
            return Ok(None);
        }
        let mut seen = SeenFiles::default();
        seen.devs.extend(
            root.metadata()
                .map(|metadata| FileVersion::of(&metadata).id.dev),
        );
        Ok(Some(SpoolSurvey {
            day,
            identity,
            files: 0,
            seen,
            gap: None,
        }))
    }

    /// Marks the files that are missing, and purges the state of those that were missing for long.
    pub(super) fn finish_survey(
        &mut self,
        spool: usize,
        mut survey: SpoolSurvey,
        host: &mut dyn ReaderHost,
    ) -> Result<(), DaemonError> {
        let root = self.spools[spool].spool.path.clone();
        if self.failures.has_any_in(spool) {
            survey.mark_incomplete(SurveyGap::UnreadableFile);
        }
        if let Some(gap) = survey.gap {
            host.log(&LogRecord::Warn(format!(
                "{}: no state is purged today: {gap}",
                root.display()
            )));
        }
        survey.seen.files.sort_unstable();
        let stats = self.shared.committer.between_batches(|committer| {
            let stats = match survey.gap {
                None => Some(
                    committer
                        .db
                        .survey(survey.identity.key, &survey.seen, survey.day)?,
                ),
                Some(_) => None,
            };
            committer
                .db
                .set_meta_value(&survey_day_name(survey.identity.key), survey.day)?;
            Ok(stats)
        })?;
        let Some(stats) = stats.flatten() else {
            return Ok(());
        };
        self.spools[spool].absent = stats.frozen;
        self.counters.forgotten += stats.purged;
        if 0 < stats.purged {
            let line = format!(
                "{}: purged {} state entries of files missing for {TOMBSTONE_DAYS} days",
                root.display(),
                stats.purged
            );
            host.log(&LogRecord::Info(line));
        }
        Ok(())
    }

    /// Returns `true` if a spool looks like the mount point of a file system that is not mounted: it does not exist, or it
    /// is empty although there is state of its files. Then none of its files counts as missing.
    pub(super) fn is_absent(&self, spool: usize) -> Result<bool, DaemonError> {
        let root = &self.spools[spool].spool.path;
        let is_empty = std::fs::read_dir(root).is_ok_and(|mut entries| entries.next().is_none());
        let Some(session) = self.shared.committer.session(&self.heartbeat) else {
            return Ok(false);
        };
        // A root that cannot be examined is unreadable, not absent.
        if matches!(root.try_exists(), Ok(false)) {
            return Ok(true);
        }
        let has_state = |committer: &mut Committer| {
            let key = committer.spool_identity(root).key;
            committer.db.has_spool(key)
        };
        Ok(is_empty && session.with(has_state)?)
    }
}

/// The name in the state of the day of a spool's last survey.
fn survey_day_name(spool: Hash128) -> String {
    format!("surveyed {spool:032x}")
}
