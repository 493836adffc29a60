//! The messages that are not read because the process died of them.

use rusqlite::params;

use super::state_db::{Hash128, MailboxId, StateDb, hash128};
use crate::daemon::DaemonError;
use crate::daemon::status::FailedFile;
use crate::limits::REPORTED_FAILURES;

/// Number of times that the process died of a message that is set aside.
const DEATHS: u64 = 3;

impl StateDb {
    /// Records that a message is set aside by this version of the program. `place` is for the
    /// operator.
    pub(crate) fn set_aside(
        &self,
        mailbox: MailboxId,
        key: Hash128,
        place: &str,
    ) -> Result<(), DaemonError> {
        self.run(
            "INSERT OR REPLACE INTO set_aside VALUES(?1,?2,?3,?4)",
            params![key.to_be_bytes(), mailbox, place, env!("CARGO_PKG_VERSION")],
        )
    }

    /// The messages that are set aside. Those of another version of the program are forgotten, and
    /// the files of their mailboxes count as unread: this version may be able to read them.
    pub(super) fn open_set_aside(&self) -> Result<Vec<Hash128>, DaemonError> {
        let version = params![env!("CARGO_PKG_VERSION")];
        let of_others = "mailbox IN (SELECT mailbox FROM set_aside WHERE version<>?1)";
        self.run(&format!("DELETE FROM known WHERE {of_others}"), version)?;
        self.run(
            &format!("UPDATE file SET first=0, last=0, guard=0, head=0, size=0, mtime=0 WHERE {of_others}"),
            version,
        )?;
        let all = self.all("SELECT key FROM set_aside", [], |row| hash128(row, 0))?;
        self.run("DELETE FROM set_aside WHERE version<>?1", version)?;
        Ok(all)
    }

    /// Forgets that messages were set aside: they are read.
    pub(crate) fn forget_set_aside(&self, keys: &[Hash128]) -> Result<(), DaemonError> {
        for key in keys {
            self.run(
                "DELETE FROM set_aside WHERE key=?1",
                params![key.to_be_bytes()],
            )?;
        }
        Ok(())
    }

    /// The number of messages that are set aside, and the first of them for the status.
    pub(super) fn set_aside_status(&self) -> Result<(usize, Vec<FailedFile>), DaemonError> {
        let places: Vec<String> =
            self.all("SELECT place FROM set_aside ORDER BY place", [], |row| {
                row.get(0)
            })?;
        let files = places
            .iter()
            .take(REPORTED_FAILURES)
            .map(|place| FailedFile {
                path: place.clone(),
                why: format!("the program died of this message {DEATHS} times"),
                tries: DEATHS,
                quarantined: true,
            });
        Ok((places.len(), files.collect()))
    }
}

#[cfg(test)]
mod tests {
    use crate::daemon::store::{FileLook, ReadFile, StoreFixture};

    #[test]
    fn another_version_tries_messages_again_that_were_set_aside() {
        let fixture = StoreFixture::new("set-aside");
        let state = fixture.state();
        let mailboxes = [7, 8].map(|key| state.mailbox(key, 7, 1).unwrap());
        for (mailbox, key) in mailboxes.into_iter().zip([5, 6]) {
            let place = "/var/mail/a: message at byte 9";
            state.set_aside(mailbox, key, place).unwrap();
            let file = ReadFile {
                key: key as u64,
                message: None,
                length: None,
            };
            let look = FileLook::default();
            state.mark_file_read(mailbox, &file, look).unwrap();
        }
        let (number, files) = state.set_aside_status().unwrap();
        assert_eq!((number, files[0].tries, files[0].quarantined), (2, 3, true));
        let older = "UPDATE set_aside SET version='0' WHERE mailbox=1";
        state.batch(older).unwrap();
        assert_eq!(state.open_set_aside().unwrap(), [5, 6]);
        let is_read = [5, 6].map(|key| state.file_look(key).unwrap().is_some());
        assert_eq!(is_read, [false, true]);
        assert_eq!(state.open_set_aside().unwrap(), [6]);
        state.forget_set_aside(&[6]).unwrap();
        assert_eq!(state.set_aside_status().unwrap().0, 0);
    }
}
