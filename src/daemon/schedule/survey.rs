//! RunMode a day: what of the files that are known is still there? What has been gone for long is forgotten.

use std::io;
use std::path::Path;

use super::reader::{ReaderHost, SpoolReader};
use crate::daemon::error::DaemonError;
use crate::daemon::host::LogRecord;
use crate::daemon::ingest::{FileVersion, path_key};
use crate::daemon::store::SeenFiles;
use crate::limits::{SURVEYED_FILES, TOMBSTONE_DAYS};
use crate::walk;

/// A survey of a spool, made along with a sweep of it.
#[derive(Debug)]
pub(crate) struct Survey {
    day: u64,
    met: SeenFiles,
    /// Why it says nothing of what was not met, if so.
    blind: Option<&'static str>,
}

impl Survey {
    /// Notes a file that is there.
    pub(crate) fn meet(&mut self, file: &walk::WalkedFile) {
        match file.source.path.symlink_metadata() {
            Ok(metadata) => {
                let stamp = FileVersion::of(&metadata);
                self.met.devs.insert(stamp.id.dev);
                self.met
                    .files
                    .extend([stamp.key(&file.source.path, file.hint), stamp.id.hash()]);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => self.fail("there are files of which the system tells nothing"),
        }
        if self.met.files.len() > 2 * SURVEYED_FILES {
            self.fail("it has more files than a survey holds");
            self.met.files = Vec::new();
        }
    }

    /// Notes that something could not be looked at, so that what was not met need not be gone.
    pub(crate) fn fail(&mut self, why: &'static str) {
        self.blind = Some(why);
    }
}

impl SpoolReader {
    /// The survey that a sweep is to make, if one is due.
    pub(crate) fn begin_survey(&self, index: usize) -> Result<Option<Survey>, DaemonError> {
        let (Some(day), Some(session)) = (
            self.shared.committer.watch_day(),
            self.shared.committer.session(&self.heartbeat),
        ) else {
            return Ok(None);
        };
        let root = &self.spools[index].spool.path;
        let before = session.with(|committer| committer.db.meta_value(&surveyed(root)))?;
        let mut met = SeenFiles::default();
        met.devs.extend(
            root.metadata()
                .map(|metadata| FileVersion::of(&metadata).id.dev),
        );
        Ok((before != Some(day)).then_some(Survey {
            day,
            met,
            blind: None,
        }))
    }

    /// Marks what is gone, and forgets what has been for long.
    pub(crate) fn end_survey(
        &mut self,
        index: usize,
        mut survey: Survey,
        host: &mut dyn ReaderHost,
    ) -> Result<(), DaemonError> {
        let root = self.spools[index].spool.path.clone();
        if self.failures.has_any_in(index) {
            survey.fail("there are files that cannot be read");
        }
        if let Some(why) = survey.blind {
            host.log(&LogRecord::Warn(format!(
                "{}: {why}: nothing of it is forgotten today",
                root.display()
            )));
        }
        survey.met.files.sort_unstable();
        let tally = self.shared.committer.between_batches(|committer| {
            let tally = match survey.blind {
                None => Some(
                    committer
                        .db
                        .survey(path_key(&root), &survey.met, survey.day)?,
                ),
                Some(_) => None,
            };
            committer.db.set_meta_value(&surveyed(&root), survey.day)?;
            Ok(tally)
        })?;
        let Some(tally) = tally.flatten() else {
            return Ok(());
        };
        self.spools[index].absent = tally.frozen;
        self.counters.forgotten += tally.purged;
        if tally.purged > 0 {
            let forgotten = tally.purged;
            let line = format!(
                "{}: {forgotten} entries of what was gone for {TOMBSTONE_DAYS} days",
                root.display()
            );
            host.log(&LogRecord::Info(line));
        }
        Ok(())
    }

    /// Whether a spool looks like the place of a mount that is not there: then nothing in it is gone.
    pub(crate) fn is_absent(&self, index: usize) -> Result<bool, DaemonError> {
        let root = &self.spools[index].spool.path;
        let is_empty = std::fs::read_dir(root).is_ok_and(|mut entries| entries.next().is_none());
        let Some(session) = self.shared.committer.session(&self.heartbeat) else {
            return Ok(false);
        };
        Ok(!root.exists()
            || is_empty && session.with(|committer| committer.db.has_spool(path_key(root)))?)
    }
}

/// The name under which the day of a spool's last survey is kept.
fn surveyed(root: &Path) -> String {
    format!("surveyed {:032x}", path_key(root))
}
