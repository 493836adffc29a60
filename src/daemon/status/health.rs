//! The health of the daemon: the conditions that need the operator, as `status` lists them and `/healthz` answers.

use std::fmt;

use super::{DaemonState, SpoolState, Status};
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
        state.into_iter().chain(stalled).chain(unreadable).collect()
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
