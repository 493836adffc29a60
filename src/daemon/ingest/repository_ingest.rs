//! Ingest of a git repository of a mailing list: the messages that commits add, in their order.
//!
//! The state keeps the last commit that was read. It only saves work: a branch that was rewritten
//! is read from its start, and known messages are recognised. With tombstones a repository is read
//! from its start whenever it changes, as a new holder of the messages that no commit deletes; the
//! messages that only the holder before it has are gone, as those of a file that was rewritten.

use super::FileOutcome;
use super::file_ingest::{IngestContext, ingest_members};
use super::identity::{FileVersion, place_key};
use crate::daemon::DaemonError;
use crate::daemon::store::StateDb;
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::hash::hash_pieces;
use crate::pipeline::MessageSource;
use crate::read::{Repository, Selection};
use crate::walk::WalkedFile;

impl FileVersion {
    /// The version of a repository in a folder with this version: that of its last commit.
    pub(crate) fn of_repository(self, tip: &str) -> FileVersion {
        FileVersion {
            id: self.id,
            size: 1,
            mtime: hash_pieces(&[tip.as_bytes()]) as i64,
            ctime: 0,
        }
    }
}

impl IngestContext<'_> {
    /// Ingests what is new in a repository, whose version this is.
    pub(crate) fn ingest_repository(
        &mut self,
        file: &WalkedFile,
        repository: &Repository,
        version: FileVersion,
    ) -> Result<FileOutcome, DaemonError> {
        let path = self.identity.path_of(&file.source.path);
        let place = place_key(&path, self.session.hash_key());
        let position = self.session.read(|state| position(state, place))?;
        // Commits may have come between the start, when the mail was noted that is there, and now.
        let noted = self.existing.tip(version).map(str::to_owned);
        if let (None, Some(noted)) = (&position, noted)
            && noted != repository.tip()
            && matches!(repository.contains(&noted), Ok(true))
        {
            let before = repository.clone().at(noted);
            let earlier = version.of_repository(before.tip());
            let outcome = self.ingest_commits(file, &before, earlier, None)?;
            if !matches!(outcome, FileOutcome::Complete) {
                return Ok(outcome);
            }
            let position = Some(before.tip().to_owned());
            return self.ingest_commits(file, repository, version, position);
        }
        self.ingest_commits(file, repository, version, position)
    }

    /// Ingests the commits after `position`, and makes the last one the new position.
    fn ingest_commits(
        &mut self,
        file: &WalkedFile,
        repository: &Repository,
        version: FileVersion,
        position: Option<String>,
    ) -> Result<FileOutcome, DaemonError> {
        let path = self.identity.path_of(&file.source.path);
        let place = place_key(&path, self.session.hash_key());
        let mut selection = Selection::All;
        if let Some(commit) = position {
            match repository.contains(&commit) {
                Ok(true) => selection = Selection::Since(commit),
                Ok(false) => {
                    let text = "its branch was rewritten: it is read from its start";
                    let diagnostic = Diagnostic::new(DiagnosticKind::Ambiguous, text);
                    self.events.push(diagnostic.of(&file.source));
                }
                Err(error) => return Ok(FileOutcome::Failed(error)),
            }
        }
        if self.session.read(|state| Ok(state.tracks_holders()))? {
            selection = Selection::Live;
        }
        let messages = MessageSource::of_commits(
            repository,
            &selection,
            file.source.clone(),
            self.configured_format(),
            self.extractor.limits(),
        );
        let messages = match messages {
            Ok(messages) => messages,
            Err(error) => return Ok(FileOutcome::Failed(error)),
        };
        let outcome = ingest_members(self, file, version, messages)?;
        if matches!(outcome, FileOutcome::Complete) {
            let tip = repository.tip();
            self.session
                .update(|state| set_position(state, place, tip))?;
        }
        Ok(outcome)
    }
}

/// Number of values in which the state keeps an object id of 32 bytes; one of 20 ends with zeros.
const POSITION_VALUES: usize = 4;

/// Digits of an object id of 20 bytes.
const SHA1_DIGITS: usize = 40;

/// The last commit of the repository at `place` that was read.
fn position(state: &StateDb, place: u64) -> Result<Option<String>, DaemonError> {
    let mut oid = String::new();
    for index in 0..POSITION_VALUES {
        match state.meta_value(&position_name(place, index))? {
            Some(value) => oid += &format!("{value:016x}"),
            None => return Ok(None),
        }
    }
    if oid[SHA1_DIGITS..].bytes().all(|digit| digit == b'0') {
        oid.truncate(SHA1_DIGITS);
    }
    Ok(Some(oid))
}

fn set_position(state: &StateDb, place: u64, oid: &str) -> Result<(), DaemonError> {
    let digits = format!("{oid:0<64}");
    for index in 0..POSITION_VALUES {
        let value = u64::from_str_radix(&digits[16 * index..][..16], 16).unwrap_or(0);
        state.set_meta_value(&position_name(place, index), value)?;
    }
    Ok(())
}

fn position_name(place: u64, index: usize) -> String {
    format!("git {place:016x} {index}")
}
