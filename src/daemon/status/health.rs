//! The health of the daemon: the conditions that need the operator, as `status` lists them and `/healthz` answers.

use std::fmt;

use super::{DaemonState, LockedFile, SpoolState, Status, WithheldBy};
use crate::daemon::error::PauseReason;

/// A condition in which mail is not read as it should be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HealthIssue<'s> {
    /// Work is paused for lack of space.
    Paused { reason: Option<&'s PauseReason> },
    /// The daemon is stopping.
    Stopping,
    /// No spool's file system answers.
    AllStalled,
    /// A mailbox has been locked for longer than `watch.lock_timeout`.
    Locked(&'s LockedFile),
    /// Messages that are gone are not reported because of a file.
    Withheld(&'s WithheldBy),
    /// Some folders of a spool cannot be read.
    Unreadable {
        spool: &'s str,
        unreadable: u64,
        error: &'s str,
    },
}

impl fmt::Display for HealthIssue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HealthIssue::Paused {
                reason: Some(reason),
            } => write!(f, "paused for lack of space: {reason}"),
            HealthIssue::Paused { reason: None } => {
                f.write_str("paused for lack of space: unknown")
            }
            HealthIssue::Stopping => f.write_str("the daemon is stopping"),
            HealthIssue::AllStalled => f.write_str("the file system of no spool answers"),
            HealthIssue::Locked(LockedFile {
                path,
                lock,
                locked_ms,
            }) => write!(
                f,
                "{path} is not read: locked for {} s {lock}",
                locked_ms / 1_000
            ),
            HealthIssue::Withheld(WithheldBy { path, why }) => write!(
                f,
                "messages that are gone are not reported, because {path} may hold them: {why}"
            ),
            HealthIssue::Unreadable {
                spool,
                unreadable: 1,
                error,
            } => write!(f, "spool {spool} is not read completely: {error}"),
            HealthIssue::Unreadable {
                spool,
                unreadable,
                error,
            } => write!(
                f,
                "spool {spool} is not read completely: {error}, and {} more",
                unreadable - 1
            ),
        }
    }
}

impl Status {
    /// The conditions that need the operator; empty for a healthy daemon.
    pub(crate) fn health_issues(&self) -> Vec<HealthIssue<'_>> {
        let state = match self.state {
            DaemonState::Running => None,
            DaemonState::Paused => Some(HealthIssue::Paused {
                reason: self.why.as_ref(),
            }),
            DaemonState::Stopping => Some(HealthIssue::Stopping),
        };
        let stalled = self.is_stalled().then_some(HealthIssue::AllStalled);
        let unreadable = self
            .spools
            .iter()
            .filter(|spool| spool.state == SpoolState::Unreadable)
            .map(|spool| HealthIssue::Unreadable {
                spool: &spool.path,
                unreadable: spool.unreadable,
                error: spool.error.as_deref().unwrap_or("unknown"),
            });
        let locked = self.locks.iter().map(HealthIssue::Locked);
        let withheld = self.spools.iter().flat_map(|spool| &spool.withheld);
        let spools = stalled.into_iter().chain(unreadable);
        let spools = spools.chain(withheld.map(HealthIssue::Withheld));
        state.into_iter().chain(spools).chain(locked).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::SpoolStatus;
    use super::*;

    #[test]
    fn an_unreadable_spool_is_an_issue_and_a_missing_one_is_none() {
        let spool = |state, unreadable| SpoolStatus {
            path: "/s".to_owned(),
            state,
            unreadable,
            error: Some("/s/a: denied".to_owned()),
            ..SpoolStatus::default()
        };
        let texts = |spools| {
            let status = Status {
                spools,
                ..Status::default()
            };
            let texts: Vec<_> = status
                .health_issues()
                .iter()
                .map(HealthIssue::to_string)
                .collect();
            texts
        };
        assert_eq!(
            texts(vec![
                spool(SpoolState::Unreadable, 1),
                spool(SpoolState::Unreadable, 3),
                spool(SpoolState::Missing, 0),
                spool(SpoolState::Ok, 0),
            ]),
            [
                "spool /s is not read completely: /s/a: denied",
                "spool /s is not read completely: /s/a: denied, and 2 more"
            ]
        );
    }
}
