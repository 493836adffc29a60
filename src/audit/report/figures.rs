//! All numbers of a report but those of single links, from one pass over the links: numbers of
//! groups, lifetimes, and the survival that is estimated from them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::links::{ArchiveAnswer, AuditedLink, StoredCheck, unix_seconds};
use crate::audit::state::LinkState;
use crate::audit::statistics::{Lifetime, LifetimeCounts, Share, SurvivalCurve, Trials, turnbull};

/// Number of months in a year of age.
const YEAR_MONTHS: u32 = 12;

/// Protocols whose links no checker can check any more, in the order of their columns.
pub(super) const DEAD_PROTOCOLS: [&str; 4] = ["gopher", "wais", "prospero", "telnet"];

/// The numbers of a report.
#[derive(Debug, Default)]
pub(super) struct Figures {
    /// Links of the database.
    pub(super) links: u64,
    /// Links that may be checked, by year: the population of a sample.
    pub(super) populations: BTreeMap<String, u64>,
    /// Links that may not be checked, by reason.
    pub(super) excluded: BTreeMap<String, u64>,
    /// Links that are planned.
    pub(super) total: Tally,
    pub(super) years: BTreeMap<String, Tally>,
    pub(super) groups: Groups,
    /// Links of [`DEAD_PROTOCOLS`] by year, planned or not.
    pub(super) protocols: BTreeMap<String, [u64; DEAD_PROTOCOLS.len()]>,
    pub(super) ages: Ages,
    pub(super) sources: Sources,
}

/// Planned links by properties of theirs.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub(super) hosts: TallyMap,
    pub(super) domains: TallyMap,
    pub(super) lists: TallyMap,
    pub(super) schemes: TallyMap,
    pub(super) tlds: TallyMap,
}

#[derive(Debug, Default)]
pub(super) struct TallyMap(HashMap<String, Tally>);

impl TallyMap {
    fn tally(&mut self, name: &str) -> &mut Tally {
        self.0.entry(name.to_owned()).or_default()
    }

    /// The tallies in the order of their numbers of links, the largest first; equal ones by name.
    pub(super) fn sorted(&self) -> Vec<(&str, &Tally)> {
        let mut sorted: Vec<_> = self
            .0
            .iter()
            .map(|(name, tally)| (name.as_str(), tally))
            .collect();
        sorted.sort_unstable_by(|a, b| b.1.links().cmp(&a.1.links()).then(a.0.cmp(b.0)));
        sorted
    }
}

/// The ages of links, from the first citation to checks.
#[derive(Debug, Default)]
pub(super) struct Ages {
    /// Lifetimes that end with death.
    pub(super) lifetimes: LifetimeCounts,
    /// Lifetimes that end with death or with a redirect elsewhere.
    pub(super) strict_lifetimes: LifetimeCounts,
    /// Planned links by their age in years at the newest check.
    pub(super) by_year: BTreeMap<u32, Tally>,
    /// Links that have a lifetime.
    pub(super) links: u64,
    /// Links with a result and no lifetime, because the date of the first citation is not known or
    /// is after the checks.
    pub(super) without_age: u64,
    /// Links that were checked more than once.
    pub(super) checked_again: u64,
}

/// The origins of the results.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// Number of checks of planned links.
    pub(super) checks: u64,
    /// Checks in which a server replied: with a status, or with something that is no TLS.
    pub(super) replies: u64,
    /// Names and versions of the checkers.
    pub(super) checkers: BTreeSet<String>,
    pub(super) checked: Period,
    /// Addresses of the archives' servers.
    pub(super) servers: BTreeSet<String>,
    pub(super) asked: Period,
    /// Captures that were found under the URL without tracking parameters.
    pub(super) clean_captures: u64,
}

/// The first and the last of some times.
#[derive(Debug, Default)]
pub(super) struct Period(Option<(String, String)>);

impl Period {
    fn add(&mut self, time: &str) {
        match &mut self.0 {
            None => self.0 = Some((time.to_owned(), time.to_owned())),
            Some((first, _)) if time < first.as_str() => time.clone_into(first),
            Some((_, last)) if last.as_str() < time => time.clone_into(last),
            Some(_) => {}
        }
    }

    /// The first and the last time; `None` without any.
    pub(super) fn ends(&self) -> Option<(&str, &str)> {
        let (first, last) = self.0.as_ref()?;
        Some((first, last))
    }
}

impl Figures {
    /// Counts a link, which stands for `weight` links of the population.
    pub(super) fn add(&mut self, link: &AuditedLink<'_>, weight: f64) {
        self.links += 1;
        if let Some(index) = DEAD_PROTOCOLS.iter().position(|name| *name == link.scheme) {
            entry(&mut self.protocols, link.year)[index] += 1;
        }
        match link.excluded {
            Some(reason) => *entry(&mut self.excluded, reason) += 1,
            None => *entry(&mut self.populations, link.year) += 1,
        }
        if link.is_planned {
            self.add_planned(link, weight);
        }
    }

    fn add_planned(&mut self, link: &AuditedLink<'_>, weight: f64) {
        let (state, archive) = (link.state(), link.archive());
        let groups = &mut self.groups;
        for tally in [
            &mut self.total,
            entry(&mut self.years, link.year),
            groups.hosts.tally(link.host.unwrap_or_default()),
            groups.domains.tally(link.domain.unwrap_or_default()),
            groups.lists.tally(link.list),
            groups.schemes.tally(link.scheme),
            groups.tlds.tally(link.tld.unwrap_or_default()),
        ] {
            tally.add(state, archive, weight);
            if link.is_confirmed {
                tally.add_confirmed(weight);
            }
        }
        self.sources.add(link);
        self.ages.add(link, weight);
    }
}

impl Sources {
    fn add(&mut self, link: &AuditedLink<'_>) {
        self.checks += link.checks.len() as u64;
        for check in link.checks {
            self.replies += u64::from(check.has_reply());
            self.checked.add(&check.checked_at);
            add_name(&mut self.checkers, &check.checker);
        }
        if let Some(capture) = link.capture {
            self.asked.add(&capture.asked_at);
            self.clean_captures += u64::from(capture.is_of_clean_form());
            add_name(&mut self.servers, &capture.server);
        }
    }
}

impl Ages {
    fn add(&mut self, link: &AuditedLink<'_>, weight: f64) {
        let has_result = |check: &&StoredCheck| check.state != LinkState::Unknown;
        let results = link.checks.iter().filter(has_result).count();
        if results == 0 {
            return;
        }
        if results > 1 {
            self.checked_again += 1;
        }
        let checks = checks_at_ages(link);
        let dead = lifetime(&checks, LinkState::is_dead);
        let strict = lifetime(&checks, is_dead_or_redirected);
        let (Some(dead), Some(strict)) = (dead, strict) else {
            self.without_age += 1;
            return;
        };
        self.links += 1;
        self.lifetimes.add(dead, weight);
        self.strict_lifetimes.add(strict, weight);
        if let Some(newest) = checks.last()
            && 0 <= newest.age_seconds
        {
            let years = whole_months(newest.age_seconds) / YEAR_MONTHS;
            let tally = self.by_year.entry(years).or_default();
            tally.add(link.state(), link.archive(), weight);
        }
    }
}

/// The checks of a link with its age at each; none if the date of its first citation is not known.
fn checks_at_ages(link: &AuditedLink<'_>) -> Vec<StateAtAge> {
    let Some(cited) = link.first_cited.and_then(unix_seconds) else {
        return Vec::new();
    };
    link.checks
        .iter()
        .filter_map(|check| {
            Some(StateAtAge {
                age_seconds: unix_seconds(&check.checked_at)? - cited,
                state: check.state,
            })
        })
        .collect()
}

fn entry<'m, T: Default>(map: &'m mut BTreeMap<String, T>, name: &str) -> &'m mut T {
    map.entry(name.to_owned()).or_default()
}

fn add_name(names: &mut BTreeSet<String>, name: &str) {
    if !names.contains(name) {
        names.insert(name.to_owned());
    }
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
    /// Links of any state with a capture in the archive.
    pub(super) archived: u64,
    /// Dead links with a capture.
    pub(super) dead_archived: u64,
    /// Dead links without a capture in an archive that was asked.
    pub(super) lost: u64,
    /// The dead links for which the archive answered.
    answered: Trials,
    /// The weight of the lost ones.
    lost_weight: f64,
    /// Dead links whose death is confirmed.
    pub(super) confirmed: u64,
    /// The weight of these.
    confirmed_weight: f64,
}

impl Tally {
    pub(super) fn add(&mut self, state: LinkState, archive: ArchiveAnswer, weight: f64) {
        let index = state as usize;
        self.counts[index] += 1;
        self.weights[index] += weight;
        if state != LinkState::Unknown {
            self.known.add(weight);
        }
        if archive == ArchiveAnswer::Captured {
            self.archived += 1;
        }
        if state.is_dead() {
            self.add_dead(archive, weight);
        }
    }

    /// Adds a dead link, which was added, to those whose death is confirmed.
    pub(super) fn add_confirmed(&mut self, weight: f64) {
        self.confirmed += 1;
        self.confirmed_weight += weight;
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
        self.counts[state as usize]
    }

    pub(super) fn links(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Number of links whose state is known.
    pub(super) fn known(&self) -> u64 {
        self.links() - self.count(LinkState::Unknown)
    }

    pub(super) fn dead(&self) -> u64 {
        self.count(LinkState::DeadPage) + self.count(LinkState::DeadHost)
    }

    /// The weight of the links that are dead.
    fn dead_weight(&self) -> f64 {
        self.weights[LinkState::DeadPage as usize] + self.weights[LinkState::DeadHost as usize]
    }

    /// Number of dead links for which the archive did not answer.
    pub(super) fn unanswered(&self) -> u64 {
        self.dead() - self.dead_archived - self.lost
    }

    /// The share of a state among the links whose state is known.
    pub(super) fn share(&self, state: LinkState) -> Option<Share> {
        self.known.share(self.weights[state as usize])
    }

    /// The share of dead links among those whose state is known.
    pub(super) fn dead_share(&self) -> Option<Share> {
        self.known.share(self.dead_weight())
    }

    /// The share of links whose death is confirmed among those whose state is known.
    pub(super) fn confirmed_share(&self) -> Option<Share> {
        self.known.share(self.confirmed_weight)
    }

    /// The part of confirmed deaths among the dead links, which are at least one.
    pub(super) fn confirmed_part(&self) -> f64 {
        self.confirmed_weight / self.dead_weight()
    }

    /// The share of living links, redirected ones among them, among those whose state is known.
    pub(super) fn surviving_share(&self) -> Option<Share> {
        let weight = |state| self.weights[state as usize];
        self.known
            .share(weight(LinkState::Alive) + weight(LinkState::Redirected))
    }

    /// The archive's answers among the dead links, which are at least one.
    pub(super) fn archive_shares(&self) -> ArchiveShares {
        let dead = self.dead_weight();
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

/// Length of a month in seconds: a twelfth of 365.25 days.
const MONTH_SECONDS: i64 = 2_629_800;

/// Returns `true` for the end of a link if one that redirects to another domain or a front page has
/// ended.
fn is_dead_or_redirected(state: LinkState) -> bool {
    state.is_dead() || state == LinkState::Redirected
}

/// A result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StateAtAge {
    /// Seconds from the first citation to the check.
    age_seconds: i64,
    state: LinkState,
}

/// Returns the lifetime that checks show, which are in the order of their time: it ended between
/// the last check that found the link living and the first after it that found it dead. Checks
/// without a result, and those before the first citation, show nothing.
fn lifetime(checks: &[StateAtAge], is_end: fn(LinkState) -> bool) -> Option<Lifetime> {
    let mut found = None;
    let known = checks
        .iter()
        .filter(|check| check.state != LinkState::Unknown && 0 <= check.age_seconds);
    for check in known {
        found = Some(match (found, is_end(check.state)) {
            (_, false) => Lifetime {
                after: whole_months(check.age_seconds),
                until: None,
            },
            (None, true) => Lifetime {
                after: 0,
                until: Some(begun_months(check.age_seconds)),
            },
            (Some(Lifetime { after, until: None }), true) => Lifetime {
                after,
                until: Some(begun_months(check.age_seconds)),
            },
            (Some(earlier), true) => earlier,
        });
    }
    found
}

/// Months that have passed.
fn whole_months(seconds: i64) -> u32 {
    u32::try_from(seconds / MONTH_SECONDS).unwrap_or_default()
}

/// Months that have begun, so that the end of a life is after its `after`.
fn begun_months(seconds: i64) -> u32 {
    whole_months(seconds) + 1
}

/// Estimated survival from the first citation.
#[derive(Clone, Debug)]
pub(super) struct Survival {
    /// To the death of the page or its host.
    pub(super) dead: SurvivalCurve,
    /// To its death or a redirect elsewhere.
    pub(super) strict: SurvivalCurve,
}

impl Survival {
    /// Estimates survival; `None` if no link has a lifetime.
    pub(super) fn of(ages: &Ages) -> Option<Survival> {
        Some(Survival {
            dead: turnbull(&ages.lifetimes)?,
            strict: turnbull(&ages.strict_lifetimes)?,
        })
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
        tally.add_confirmed(2.0);
        assert!((tally.confirmed_share().unwrap().share - 0.2).abs() < 1e-12);
        assert!((tally.confirmed_part() - 1.0 / 3.0).abs() < 1e-12);
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
            assert_eq!(state as usize, index);
        }
    }

    #[track_caller]
    fn check(states: &[(i64, LinkState)], expected: Option<(u32, Option<u32>)>) {
        let checks: Vec<_> = states
            .iter()
            .map(|&(months, state)| StateAtAge {
                age_seconds: months * MONTH_SECONDS + 1,
                state,
            })
            .collect();
        let found = lifetime(&checks, LinkState::is_dead).map(|life| (life.after, life.until));
        assert_eq!(found, expected, "{states:?}");
    }

    #[test]
    fn a_lifetime_ends_between_the_last_living_and_the_first_dead_check() {
        use LinkState::{Alive, DeadHost, DeadPage, Redirected, Unknown};
        check(&[], None);
        check(&[(5, Unknown)], None);
        check(&[(-2, Alive)], None);
        check(&[(5, Alive)], Some((5, None)));
        check(&[(5, DeadPage)], Some((0, Some(6))));
        check(&[(5, Alive), (7, DeadHost)], Some((5, Some(8))));
        check(&[(5, Alive), (5, DeadHost)], Some((5, Some(6))));
        check(
            &[(5, Redirected), (7, DeadHost), (9, DeadPage)],
            Some((5, Some(8))),
        );
        check(
            &[(5, Alive), (6, Unknown), (7, DeadHost)],
            Some((5, Some(8))),
        );
        // It came back.
        check(&[(5, DeadHost), (7, Alive)], Some((7, None)));
        check(
            &[(5, DeadHost), (7, Alive), (9, DeadPage)],
            Some((7, Some(10))),
        );
    }

    #[test]
    fn redirected_links_may_count_as_ended() {
        let checks = [StateAtAge {
            age_seconds: 0,
            state: LinkState::Redirected,
        }];
        let strict = lifetime(&checks, is_dead_or_redirected).unwrap();
        assert_eq!((strict.after, strict.until), (0, Some(1)));
    }
}
