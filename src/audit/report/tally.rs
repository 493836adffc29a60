//! The numbers of a group of links: a year, a host, all of them.

use crate::audit::state::LinkState;
use crate::audit::statistics::{Share, Trials};

/// The archive's answer for a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArchiveAnswer {
    /// It holds a capture with a 2xx status.
    Captured,
    /// It holds none.
    None,
    /// It was not asked, or did not answer.
    Unknown,
}

/// The numbers of a group of links that were planned.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Links by state, in the order of [`LinkState::ALL`].
    counts: [u64; LinkState::ALL.len()],
    /// The weights of these links.
    weights: [f64; LinkState::ALL.len()],
    /// The links whose state is known.
    known: Trials,
    /// Links of any state of which the archive holds a capture.
    pub(super) archived: u64,
    /// Dead links of which it holds one.
    pub(super) dead_archived: u64,
    /// Dead links of which it holds none.
    pub(super) lost: u64,
    /// The dead links for which the archive answered.
    answered: Trials,
    /// The weight of the lost ones.
    lost_weight: f64,
}

impl Tally {
    /// Counts a link.
    pub(super) fn add(&mut self, state: LinkState, archive: ArchiveAnswer, weight: f64) {
        let index = index_of(state);
        self.counts[index] += 1;
        self.weights[index] += weight;
        if state != LinkState::Unknown {
            self.known.add(weight);
        }
        if archive == ArchiveAnswer::Captured {
            self.archived += 1;
        }
        if is_dead(state) {
            self.add_dead(archive, weight);
        }
    }

    fn add_dead(&mut self, archive: ArchiveAnswer, weight: f64) {
        match archive {
            ArchiveAnswer::Captured => self.dead_archived += 1,
            ArchiveAnswer::None => {
                self.lost += 1;
                self.lost_weight += weight;
            }
            ArchiveAnswer::Unknown => return,
        }
        self.answered.add(weight);
    }

    /// Number of links in a state.
    pub(super) fn count(&self, state: LinkState) -> u64 {
        self.counts[index_of(state)]
    }

    /// Number of links.
    pub(super) fn links(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Number of links whose state is known.
    pub(super) fn known(&self) -> u64 {
        self.links() - self.count(LinkState::Unknown)
    }

    /// Number of dead links.
    pub(super) fn dead(&self) -> u64 {
        self.count(LinkState::DeadPage) + self.count(LinkState::DeadHost)
    }

    /// Number of dead links for which the archive did not answer.
    pub(super) fn unanswered(&self) -> u64 {
        self.dead() - self.dead_archived - self.lost
    }

    /// The share of a state among the links whose state is known.
    pub(super) fn share(&self, state: LinkState) -> Option<Share> {
        self.known.share(self.weights[index_of(state)])
    }

    /// The share of dead links among those whose state is known.
    pub(super) fn dead_share(&self) -> Option<Share> {
        let weight = |state| self.weights[index_of(state)];
        self.known
            .share(weight(LinkState::DeadPage) + weight(LinkState::DeadHost))
    }

    /// The share of living links, redirected ones among them, among those whose state is known.
    pub(super) fn surviving_share(&self) -> Option<Share> {
        let weight = |state| self.weights[index_of(state)];
        self.known
            .share(weight(LinkState::Alive) + weight(LinkState::Redirected))
    }

    /// The archive's answers among the dead links, which are at least one.
    pub(super) fn archive_shares(&self) -> ArchiveShares {
        let weight = |state| self.weights[index_of(state)];
        let dead = weight(LinkState::DeadPage) + weight(LinkState::DeadHost);
        ArchiveShares {
            archived: (self.answered.weight - self.lost_weight) / dead,
            unanswered: (dead - self.answered.weight) / dead,
            lost: self.lost_weight / dead,
        }
    }

    /// The share of lost links among the dead ones for which the archive answered.
    pub(super) fn lost_share(&self) -> Option<Share> {
        self.answered.share(self.lost_weight)
    }
}

/// Shares of dead links by the answer of the archive; their sum is 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArchiveShares {
    pub(super) archived: f64,
    pub(super) unanswered: f64,
    pub(super) lost: f64,
}

/// Returns `true` if the page or its host is gone.
pub(super) fn is_dead(state: LinkState) -> bool {
    matches!(state, LinkState::DeadPage | LinkState::DeadHost)
}

fn index_of(state: LinkState) -> usize {
    match state {
        LinkState::Alive => 0,
        LinkState::Redirected => 1,
        LinkState::DeadPage => 2,
        LinkState::DeadHost => 3,
        LinkState::Unknown => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_links_are_counted_and_change_no_share() {
        let mut tally = Tally::default();
        for (state, archive) in [
            (LinkState::Alive, ArchiveAnswer::Captured),
            (LinkState::Redirected, ArchiveAnswer::Unknown),
            (LinkState::DeadPage, ArchiveAnswer::Captured),
            (LinkState::DeadHost, ArchiveAnswer::None),
            (LinkState::DeadHost, ArchiveAnswer::Unknown),
            (LinkState::Unknown, ArchiveAnswer::Captured),
        ] {
            tally.add(state, archive, 2.0);
        }
        assert_eq!((tally.links(), tally.known(), tally.dead()), (6, 5, 3));
        assert_eq!((tally.archived, tally.dead_archived), (3, 1));
        assert_eq!((tally.lost, tally.unanswered()), (1, 1));
        let share = |share: Option<Share>| share.unwrap().share;
        assert!((share(tally.dead_share()) - 0.6).abs() < 1e-12);
        assert!((share(tally.surviving_share()) - 0.4).abs() < 1e-12);
        assert!((share(tally.lost_share()) - 0.5).abs() < 1e-12);
        let shares = tally.archive_shares();
        for share in [shares.archived, shares.unanswered, shares.lost] {
            assert!((share - 1.0 / 3.0).abs() < 1e-12, "{shares:?}");
        }
        assert!((share(tally.share(LinkState::DeadHost)) - 0.4).abs() < 1e-12);
        for (index, state) in LinkState::ALL.into_iter().enumerate() {
            assert_eq!(index_of(state), index);
        }
    }
}
